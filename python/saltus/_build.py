# SPDX-License-Identifier: Apache-2.0
"""Models that are built in Python: from expressions, and from matrices."""

import json

import numpy as np

from ._error import Error
from ._model import Model, model


def expression(value):
    """The text of an expression: texts, numbers, and expressions of SymPy."""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float, np.floating, np.integer)):
        return repr(float(value)) if isinstance(value, (float, np.floating)) else str(int(value))
    if type(value).__module__.startswith("sympy"):
        return str(value).replace("**", "^")
    raise Error(f"'{value!r}' is not an expression", "", 0, 0, "give a text, a number or an expression of SymPy")


def _toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    return json.dumps(expression(value), ensure_ascii=False)


_repeated = ("contact", "constraint", "slider", "clutch", "springs", "volume", "obstacle")


def System(q, T, U=0, R=None, f=None, name="system", parameters=None, contacts=(), constraints=(), sliders=(),
           clutches=(), initial=None, **blocks) -> Model:
    """A model from its energies. Expressions are texts, numbers, or expressions of SymPy in which the velocity of x is
    the symbol "x'". Contacts, constraints, sliders and clutches are lists of dictionaries with the keys of the model
    file; other blocks are keywords: simulate={"t_end": 3}.

        saltus.System(q=["y"], T="m*y'^2/2", U="m*g*y", parameters={"m": 1, "g": 9.81},
                      contacts=[{"name": "floor", "gN": "y", "eN": 0.5}], initial={"y": 1})
    """
    lines = ["[system]", f"name = {_toml(name)}", f"q = {_toml(list(map(str, q)))}", f"T = {_toml(T)}",
             f"U = {_toml(U)}"]
    if R is not None:
        lines.append(f"R = {_toml(R)}")
    if f:
        lines.append(f"f = {_toml({str(k): v for k, v in f.items()})}")
    tables = {"parameters": parameters, "initial": _initial(initial), **blocks}
    for key, table in tables.items():
        if not table:
            continue
        for entry in table if isinstance(table, (list, tuple)) else [table]:
            lines.append(f"[[{key}]]" if key in _repeated else f"[{key}]")
            lines += [f"{json.dumps(str(k))} = {_number_or_text(v)}" for k, v in entry.items()]
    for key, entries in zip(("contact", "constraint", "slider", "clutch"), (contacts, constraints, sliders, clutches)):
        for entry in entries:
            lines.append(f"[[{key}]]")
            lines += [f"{json.dumps(str(k))} = {_toml(v)}" for k, v in entry.items()]
    return model("\n".join(lines) + "\n")


def _initial(state):
    """The block [initial] of a state: {"x": 1, "x'": 2}."""
    out = {"q": {}, "u": {}}
    for name, value in (state or {}).items():
        name = str(name)
        out["u" if name.endswith("'") else "q"][name.rstrip("'")] = value
    return {key: values for key, values in out.items() if values}


def _number_or_text(value):
    if isinstance(value, bool):
        return _toml(value)
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return _toml(value)


def _matrix(value, rows, columns, name):
    a = np.asarray(value, dtype=float)
    if a.shape != (rows, columns):
        raise Error(f"{name} has the shape {a.shape}, it must be {rows} by {columns}")
    if not np.isfinite(a).all():
        raise Error(f"{name} contains numbers that are not finite")
    return a


def _quadratic(a, names):
    terms = [f"({a[i, j]!r})*{names[i]}*{names[j]}" for i in range(len(names)) for j in range(len(names)) if a[i, j]]
    return "(" + (" + ".join(terms) or "0") + ")/2"


def linear(M, C, K, H, e=0.0, mu=0.0, *, HT=None, f=None, gap=0.0, q0=None, u0=None, names=None,
           name="linear system", **blocks) -> Model:
    """M q'' + C q' + K q = f with contacts H q + gap >= 0, for systems from finite elements. `e` and `mu` are
    restitution and friction of the contacts, one number or one for each; friction acts along the rows of HT. C must be
    symmetric (other velocity forces go into f). `q0` and `u0` are the initial state."""
    M = np.asarray(M, dtype=float)
    n = len(M)
    M, C, K = _matrix(M, n, n, "M"), _matrix(C, n, n, "C"), _matrix(K, n, n, "K")
    for matrix, label in ((M, "M"), (C, "C"), (K, "K")):
        if not np.allclose(matrix, matrix.T, rtol=1e-12, atol=0):
            raise Error(f"{label} is not symmetric", "", 0, 0, "put the skew part into f, as an expression")
    H = _matrix(np.atleast_2d(H) if np.size(H) else np.zeros((0, n)), len(np.atleast_2d(H)) if np.size(H) else 0, n, "H")
    q = list(names or (f"q{k + 1}" for k in range(n)))
    v = [x + "'" for x in q]
    e, mu, gap = (np.broadcast_to(np.asarray(x, dtype=float), len(H)) for x in (e, mu, gap))

    def affine(row, variables, constant=0.0):
        terms = [f"({x!r})*{y}" for x, y in zip(row.tolist(), variables) if x]
        return " + ".join([*terms, repr(float(constant))] if constant or not terms else terms)

    contacts = []
    for k, row in enumerate(H):
        contact = {"name": f"contact{k + 1}", "gN": affine(row, q, gap[k]), "eN": float(e[k])}
        if HT is not None and mu[k] > 0:
            contact.update(gammaT=affine(np.asarray(HT, dtype=float)[k], v), mu=float(mu[k]))
        contacts.append(contact)
    if HT is None and np.any(mu > 0):
        raise Error("friction needs its directions", "", 0, 0, "give HT, one row for each contact")
    initial = {**({a: float(b) for a, b in zip(q, q0)} if q0 is not None else {}),
               **({a: float(b) for a, b in zip(v, u0)} if u0 is not None else {})}
    forces = f if isinstance(f, dict) or f is None else dict(zip(q, f))
    return System(q, _quadratic(M, v), _quadratic(K, q), _quadratic(C, v), forces, name, contacts=contacts,
                  initial=initial, **blocks)
