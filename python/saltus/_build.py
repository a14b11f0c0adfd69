# SPDX-License-Identifier: Apache-2.0
"""Models that are built in Python: from expressions, and from matrices."""

import json
import sys

import numpy as np

from ._error import Error
from ._model import Model, model


def expression(value):
    """The text of an expression: texts, numbers, and expressions of SymPy."""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float, np.floating, np.integer)):
        return repr(float(value)) if isinstance(value, (float, np.floating)) else str(int(value))
    if _is_sympy(value):
        return _sympy_text(value)
    raise Error(f"'{value!r}' is not an expression", "", 0, 0, "give a text, a number or an expression of SymPy")


def _is_sympy(value):
    sympy = sys.modules.get("sympy")
    return sympy is not None and isinstance(value, sympy.Basic)


def _sympy_text(value):
    """An expression of SymPy in the words of the model file. Functions of time, x(t), are coordinates, and their
    derivatives velocities."""
    from sympy import true
    from sympy.printing.str import StrPrinter

    class Printer(StrPrinter):
        def _call(self, function, arguments):
            return f"{function}({', '.join(self._print(a) for a in arguments)})"

        def _pairs(self, function, arguments):
            text = self._print(arguments[0])
            for a in arguments[1:]:
                text = f"{function}({text}, {self._print(a)})"
            return text

        def _print_Relational(self, e):
            return f"{self._print(e.lhs)} {e.rel_op} {self._print(e.rhs)}"

        def _print_Abs(self, e):
            return self._call("abs", e.args)

        def _print_Max(self, e):
            return self._pairs("max", e.args)

        def _print_Min(self, e):
            return self._pairs("min", e.args)

        def _print_Exp1(self, _):
            return "exp(1)"

        def _print_Float(self, e):
            return repr(float(e))  # all digits

        def _print_Heaviside(self, e):
            x = self._print(e.args[0])
            return f"if({x} > 0, 1, if({x} < 0, 0, {self._print(e.args[1])}))"

        def _print_Piecewise(self, e):
            if e.args[-1][1] != true:
                raise Error("a Piecewise has no value where no condition holds", "", 0, 0, "end it with (value, True)")
            text = self._print(e.args[-1][0])
            for piece, condition in reversed(e.args[:-1]):
                text = f"if({self._print(condition)}, {self._print(piece)}, {text})"
            return text

        def _print_Function(self, e):
            return e.func.__name__ if _is_time_function(e) else super()._print_Function(e)

        def _print_Derivative(self, e):
            function, *variables = e.args
            if not _is_time_function(function) or tuple(variables) != ((function.args[0], 1),):
                raise Error(f"'{e}' is not the velocity of a coordinate", "", 0, 0, "only first derivatives by time are")
            return function.func.__name__ + "'"

    return Printer().doprint(value).replace("**", "^")


def _is_time_function(value):
    """Whether a value is x(t), a coordinate in the manner of sympy.physics."""
    from sympy.core.function import AppliedUndef

    return isinstance(value, AppliedUndef) and [str(a) for a in value.args] == ["t"]


def _name(value):
    """The name of a coordinate or velocity: a text, a symbol, x(t), or its derivative."""
    return _sympy_text(value) if _is_sympy(value) else str(value)


def _toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    return json.dumps(expression(value), ensure_ascii=False)


_repeated = ("contact", "constraint", "slider", "clutch", "jump", "springs", "volume", "obstacle")


def System(q, T, U=0, R=None, f=None, name="system", parameters=None, contacts=(), constraints=(), sliders=(),
           clutches=(), initial=None, **blocks) -> Model:
    """A model from its energies. Expressions are texts, numbers, or expressions of SymPy in which the velocity of x is
    the symbol "x'", or the derivative of x(t). Contacts, constraints, sliders and clutches are lists of dictionaries with
    the keys of the model file; other blocks are keywords, simulate={"t_end": 3}, and repeated ones lists, jump=[{...}].

        saltus.System(q=["y"], T="m*y'^2/2", U="m*g*y", parameters={"m": 1, "g": 9.81},
                      contacts=[{"name": "floor", "gN": "y", "eN": 0.5}], initial={"y": 1})
    """
    lines = ["[system]", f"name = {_toml(name)}", f"q = {_toml([_name(x) for x in q])}", f"T = {_toml(T)}",
             f"U = {_toml(U)}"]
    if R is not None:
        lines.append(f"R = {_toml(R)}")
    if f:
        lines.append(f"f = {_toml({_name(k): v for k, v in f.items()})}")
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
        name = _name(name)
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


def _each(value, count, name):
    """One number for each of `count` contacts."""
    a = np.asarray(value, dtype=float)
    if a.ndim > 1 or a.ndim == 1 and len(a) != count:
        raise Error(f"{name} has the shape {a.shape}, it must be one number or {count}")
    if not np.isfinite(a).all():
        raise Error(f"{name} contains numbers that are not finite")
    return np.broadcast_to(a, count)


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
    e, mu, gap = _each(e, len(H), "e"), _each(mu, len(H), "mu"), _each(gap, len(H), "gap")
    if HT is not None:
        HT = _matrix(np.atleast_2d(HT), len(H), n, "HT")
    for state, label in ((q0, "q0"), (u0, "u0"), (None if isinstance(f, dict) else f, "f")):
        if state is not None and len(state) != n:
            raise Error(f"{label} has {len(state)} entries, it must have {n}")

    def affine(row, variables, constant=0.0):
        terms = [f"({x!r})*{y}" for x, y in zip(row.tolist(), variables) if x]
        return " + ".join([*terms, repr(float(constant))] if constant or not terms else terms)

    contacts = []
    for k, row in enumerate(H):
        contact = {"name": f"contact{k + 1}", "gN": affine(row, q, gap[k]), "eN": float(e[k])}
        if HT is not None and mu[k] > 0:
            contact.update(gammaT=affine(HT[k], v), mu=float(mu[k]))
        contacts.append(contact)
    if HT is None and np.any(mu > 0):
        raise Error("friction needs its directions", "", 0, 0, "give HT, one row for each contact")
    initial = {**({a: float(b) for a, b in zip(q, q0)} if q0 is not None else {}),
               **({a: float(b) for a, b in zip(v, u0)} if u0 is not None else {})}
    forces = f if isinstance(f, dict) or f is None else dict(zip(q, f))
    return System(q, _quadratic(M, v), _quadratic(K, q), _quadratic(C, v), forces, name, contacts=contacts,
                  initial=initial, **blocks)
