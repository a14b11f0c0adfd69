# SPDX-License-Identifier: Apache-2.0
"""Nonsmooth mechanics: bodies that touch, stick, slip, collide and lift off.

    import saltus
    m = saltus.load("rocking-bar.toml", mu=0.4)
    r = m.simulate(t_end=3)
    r.t, r["phi"], r["phi'"], r.events
    m.sensitivity(wrt=["mu"]), m.equilibria(), m.certify(), m.basin(phi=(-1.4, 1.4, 20))

Results have the names and values of the program's JSON documents. Bad input is a `saltus.Error` with its place and a
remedy; a numerical failure is a status, and `raise_if_failed()` makes it an exception.
"""

from . import _core
from ._build import System, linear
from ._error import Error, Failure
from ._model import Basin, Model, Sensitivity, Study, load, model
from ._motion import Events, Motion, State
from ._native import NativeModel, native
from ._result import Record, Result
from ._stored import open

__version__ = _core.version
__all__ = ["Basin", "Error", "Events", "Failure", "Model", "Motion", "NativeModel", "Record", "Result", "Sensitivity", "State", "Study",
           "System", "linear", "load", "model", "native", "open"]
