# SPDX-License-Identifier: Apache-2.0
"""Models whose equations are Python code."""

from . import _core
from ._error import Error
from ._model import simulate_command
from ._motion import Motion
from ._progress import bar


class NativeModel:
    """A model from a Python object with these methods, where t is a number and q, u are arrays:

    `mass(t, q)`              the mass matrix M, symmetric and positive definite
    `force(t, q, u)`          all smooth forces h of M u' = h + W lambda
    `gaps(t, q)`              a gap for each contact, >= 0
    `gap_gradients(t, q)`     their derivatives by q, a row for each contact
    `gap_curvatures(t, q, u)` d(gradients u + rates)/dt without the acceleration: u' g_qq u + 2 g_tq u + g_tt
    `gap_rates(t, q)`         optional: derivatives of the gaps by t; 0 without it
    `potential(t, q)`         optional: the potential energy, for the energy balance

    Contacts have no friction. Every evaluation calls Python: the motion of a pendulum takes 55 times longer than with
    expressions (`System`). There are no derivatives, and only `simulate` is offered.
    """

    def __init__(self, system, q, u, contacts, name):
        self.coordinates, self.name = list(q), name
        velocities = dict(u or {})
        for coordinate in velocities:
            if coordinate not in q:
                raise Error(f"unknown coordinate '{coordinate}' in u", remedy=f"known are {', '.join(q)}")
        contacts = dict(contacts or {})
        for contact, e in contacts.items():
            if not 0 <= e <= 1:
                raise Error(f"the restitution of '{contact}' is {e}, it must lie in [0, 1]")
        self._core = _core.native(system, name, self.coordinates, [float(q[c]) for c in q],
                                  [float(velocities.get(c, 0.0)) for c in q], list(contacts),
                                  [float(e) for e in contacts.values()])

    def simulate(self, t_end, *, samples=1001, progress=None, **options):
        """How does it move? As `Model.simulate`."""
        command = simulate_command(self.name, {"t_end": t_end, **options}, samples)
        with bar(progress) as show:
            return Motion(_core.simulate(self._core, command, show), None, {}, samples)

    def __repr__(self):
        return f"<saltus model '{self.name}' of Python code, coordinates {', '.join(self.coordinates)}>"


def native(system, q, u=None, contacts=None, name="system"):
    """A model from a Python object (see `NativeModel`): q and u are the initial values by coordinate, contacts the
    coefficients of restitution by contact."""
    return NativeModel(system, dict(q), u, contacts, name)
