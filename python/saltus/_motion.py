# SPDX-License-Identifier: Apache-2.0
"""Motions and their pictures."""

import json
import os
import tempfile

import numpy as np

from . import _core
from ._result import Record, Result, wrap

_exit_codes = {"completed": 0, "interrupted": 130}  # every other status is a numerical failure: 3


class ElementCourse:
    """A contact, constraint, slider or clutch along a motion, at the times `t` of the motion."""

    def __init__(self, motion, name):
        elements = motion._core.elements
        if name not in elements:
            raise KeyError(f"there is no element '{name}'; there are {', '.join(elements) or 'none'}")
        self._motion, self._index, self.name = motion, elements.index(name), name

    @property
    def N(self):
        """Normal force, in N; NaN where the motion has no forces (time-stepping). A stored motion needs its model."""
        return self._motion._core.forces(self._motion._table, self._index)[0]

    @property
    def T(self):
        """Friction force, one column for each component."""
        return self._motion._core.forces(self._motion._table, self._index)[1]

    @property
    def gap(self):
        """Gap of a contact."""
        return self._motion._core.gaps(self._motion._table, self._index)

    def __repr__(self):
        return f"ElementCourse({self.name!r})"


class Events(list):
    """The events of a motion, in order of time: Records with `t`, `kind`, `contacts`, ..."""

    def to_dataframe(self):
        """A pandas.DataFrame with a row for each event: t, kind, contacts, the velocities before and after it ("x' before",
        "x' after"), and the numbers of its record. Without an event the frame has no row."""
        import pandas

        rows = []
        for event in self:
            row = {}
            for key, value in event.to_dict().items():
                if key in ("u_minus", "u_plus"):
                    side = "before" if key == "u_minus" else "after"
                    row.update({f"{name}' {side}": x for name, x in (value or {}).items()})
                elif key == "contacts":
                    row[key] = ", ".join(value)
                elif not isinstance(value, (dict, list)):
                    row[key] = value
            rows.append(row)
        return pandas.DataFrame(rows)


class State(Record):
    """A state: `s.t`, `s["phi"]`, `s["phi'"]`, `s.q` and `s.u`. With several times each is an array."""

    def __init__(self, t, q, u, coordinates):
        names = {name: q[..., k][()] for k, name in enumerate(coordinates)}  # [()]: a number for a single time
        names.update({name + "'": u[..., k][()] for k, name in enumerate(coordinates)})
        super().__init__({"t": t, "q": q, "u": u, **names})


class Motion(Result):
    """How the model moves. Names and values are those of `saltus simulate --json`, and besides

    `t`, `q`, `u`      times and states, read-only arrays without a copy; an event has two rows, before and after it
    `r["phi"]`         a coordinate at these times; `r["phi'"]` its velocity
    `r.at(0.125)`      the state at any time
    `r.contact("left").N`, `.T`, `.gap`
    `r.balance`        V = T + U and what changed it, as arrays
    """

    def __init__(self, core, model=None, options=None, samples=1001):
        self._core, self._model, self._options, self._samples = core, model, dict(options or {}), samples
        self._table = core.sample(samples)
        document = json.loads(core.json())
        super().__init__(document, _exit_codes.get(document["status"], 3))
        if model is not None:
            from ._model import Words  # here, because that module uses this one

            self._command = Words(model, "simulate", self._options)

    @property
    def t(self):
        return self._table.t

    @property
    def q(self):
        return self._table.q

    @property
    def u(self):
        return self._table.u

    @property
    def coordinates(self):
        return list(self._core.coordinates)

    @property
    def events(self):
        """Events in order of time."""
        return Events(wrap(self._document["events"]))

    @property
    def balance(self):
        """V = T + U and what changed it since the start, in J: a dictionary of arrays."""
        return self._core.balance()

    def __getitem__(self, key):
        names = self._core.coordinates
        if key in names:
            return self._table.q[:, names.index(key)]
        if isinstance(key, str) and key.endswith("'") and key[:-1] in names:
            return self._table.u[:, names.index(key[:-1])]
        if key not in self._document:
            known = [*names, *(name + "'" for name in names), *self._document]
            raise KeyError(f"there is no '{key}'; there are {', '.join(known)}")
        return super().__getitem__(key)

    def __repr__(self):
        d, n = self._document, len(self._document["events"])
        reason = f" ({d['reason']})" if d.get("reason") else ""
        end = f"t = {float(self.t[0]):g} to {float(self.t[-1]):g}"
        return f"<saltus motion of '{d['model']}', {end}, {d['status']}{reason}, {n} event{'s' if n != 1 else ''}>"

    def at(self, t, before=False):
        """The state at the time t, or at an array of times: after the events at t, or `before` them."""
        times = np.atleast_1d(np.asarray(t, dtype=float))
        q, u = self._core.at(times, before)
        if np.ndim(t) == 0:
            times, q, u = float(t), q[0], u[0]
        return State(times, q, u, self._core.coordinates)

    def contact(self, name):
        """A contact along the motion. `element` does the same for constraints, sliders and clutches."""
        return ElementCourse(self, name)

    element = contact

    def sample(self, samples):
        """The same motion with another number of equidistant times in `t`, `q` and `u`."""
        if samples < 2:
            raise ValueError("a motion needs at least 2 samples")
        return Motion(self._core, self._model, self._options, samples)

    def save(self, path):
        """Writes the motion as trajectory.h5 (docs/trajectory-file.md)."""
        self._core.write(os.fspath(path))

    def to_dataframe(self):
        """A pandas.DataFrame of t, coordinates and velocities."""
        import pandas

        columns = {"t": self.t}
        for name in self.coordinates:
            columns[name], columns[name + "'"] = self[name], self[name + "'"]
        return pandas.DataFrame(columns)

    def to_xarray(self):
        """An xarray.Dataset over t. Events have two entries."""
        import xarray

        data = {name: ("t", self[name]) for name in self.coordinates}
        data.update({name + "'": ("t", self[name + "'"]) for name in self.coordinates})
        return xarray.Dataset(data, coords={"t": self.t})

    def plot(self, *names, over="t", ax=None):
        """Draws coordinates and velocities with matplotlib over `t`, or over another one. Returns the axes."""
        import matplotlib.pyplot as plt

        ax = ax or plt.gca()
        for name in names or self.coordinates:
            ax.plot(self.t if over == "t" else self[over], self[name], label=name)
        ax.set_xlabel(over)
        if len(names or self.coordinates) == 1:
            ax.set_ylabel((names or self.coordinates)[0])
        else:
            ax.legend()
        return ax

    def __reduce__(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trajectory.h5")
            self.save(path)
            with open(path, "rb") as file:
                return _restore, (file.read(), self._model, self._options, self._document, self._samples)


def _restore(data, model, options, document, samples):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trajectory.h5")
        with open(path, "wb") as file:
            file.write(data)
        motion = read(path, model, options, samples)
    motion._document = document
    return motion


def read(path, model=None, options=None, samples=1001):
    """The motion in a trajectory.h5. Its model is given, or the file model.toml beside it."""
    return Motion(_core.read_motion(model._core if model else None, os.fspath(path)), model, options, samples)
