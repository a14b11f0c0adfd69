# SPDX-License-Identifier: Apache-2.0
"""Reference values for the equations of motion of a set of model files.

Every model below is read from its TOML text by a parser of this file's own; the
quantities are derived with sympy, evaluated with 50 digits and rounded to doubles.

    M(t,q) u' = h(t,q,u),   from   d/dt(dT/du) - dT/dq + dU/dq + dR/du = f
    M = d2T/du2
    h = f - dR/du - dU/dq + dT/dq - [d/dq(dT/du)] u - d/dt(dT/du)|explicit

Rows, in this order: constraints, normals of contacts, slip components of contacts,
slip components of constraints, sliders, clutches. For a position g(t,q):

    gamma = W u + chi,      W = dg/dq,      chi = dg/dt
    gamma' = W u' + zeta,   zeta = u^T g_qq u + 2 g_tq u + g_tt

for a velocity gamma(t,q,u), affine in u:

    W = d gamma/du,  chi = gamma(t,q,0),  zeta = (d gamma/dq) u + d gamma/dt

For given a and lam:  r = h + W^T lam - M a,   s = W a + zeta,   v = W u + chi.
Their Jacobians have the columns [t, q..., u..., p...]; p are the parameters that are
plain numbers, in the order of the file; derived parameters are seen through.

Second way: all quantities are computed again without sympy and without any of the
formulas above, by central differences (150 digits, step 1e-25) of the parsed strings:
d/dt(dT/du) along the curve q(s) = q + u s + a s^2/2, u(s) = u + a s, the velocities
and accelerations of the rows along the same curve, the Jacobians by differences of
those. The script fails when the two ways differ. The parser, which both ways share, is
compared with Python's reading of the same strings.

Usage: lagrange.py [OUTPUT]      (default: lagrange_cases.hpp beside this file)
Needs Python >= 3.11 (tomllib), sympy, mpmath.
"""

import random
import re
import sys
import time
import tomllib
from pathlib import Path

import mpmath
import sympy as sp
from mpmath import mp, mpf

STATES = 3
DIGITS_SYMBOLIC = 50
DIGITS_NUMERIC = 150
STEP = "1e-25"
TOLERANCE = mpf("1e-35")

# --------------------------------------------------------------------------------------
# The models
# --------------------------------------------------------------------------------------

MODELS = []


def model(key, text):
    MODELS.append((key, text.strip("\n") + "\n"))


# (a)
model("double_pendulum", """
[system]
name = "double pendulum"
q = ["th1", "th2"]
T = "(m1 + m2)/2*l1^2*th1'^2 + m2/2*l2^2*th2'^2 + m2*l1*l2*cos(th1 - th2)*th1'*th2'"
U = "-(m1 + m2)*g*l1*cos(th1) - m2*g*l2*cos(th2)"
R = "c1/2*th1'^2 + c2/2*(th2' - th1')^2"
f = { th2 = "F0*cos(w*t)*l2*cos(th2)", th1 = "F0*cos(w*t)*l1*cos(th1)" }

[parameters]
m1 = 1.3
m2 = 0.7
l1 = 0.9
l2 = 0.6
g = 9.81
c1 = 0.05
c2 = 0.02
F0 = 1.7
w = 2.3

[initial]
q = { th1 = 0.4, th2 = -0.2 }
u = { th2 = 1.0 }
""")

# (b)
model("moving_pivot", """
[system]
name = "elastic pendulum with a moving pivot"
q = ["phi", "r"]
T = "m/2*((A*w*cos(w*t) + r'*sin(phi) + r*phi'*cos(phi))^2 + (r*phi'*sin(phi) - r'*cos(phi))^2)"
U = "-m*g*r*cos(phi) + k/2*(r - r0)^2"

[parameters]
w = 3.1
m = 2
A = 0.15
r0 = 0.75
k = 40.0
g = 9.81
e = 0.4
L = 1.25

[[contact]]
name = "rope"
gN = "L - r + A*sin(w*t)/4"
eN = "e"

[initial]
q = { phi = 0.3, r = 0.9 }
u = { phi = -0.5, r = 0.2 }
""")

# (c)
model("rotating_hoop", """
[system]
name = "bead on an eccentric rotating hoop"
q = ["th"]
T = "m/2*((rad*th'*cos(th)*cos(w*t) - (d + rad*sin(th))*w*sin(w*t))^2 + (rad*th'*cos(th)*sin(w*t) + (d + rad*sin(th))*w*cos(w*t))^2 + (rad*th'*sin(th))^2)"
U = "-m*g*rad*cos(th) + k/2*(((d + rad*sin(th))*cos(w*t) - x0)^2 + ((d + rad*sin(th))*sin(w*t))^2 + (z0 - rad*cos(th))^2)"
R = "c/2*rad^2*th'^2"

[parameters]
m = 0.4
rad = 0.8
w = 1.9
d = 0.1
g = 9.81
k = 6.5
z0 = 0.3
x0 = 1.1
c = 0.07
thmax = 2.5

[[contact]]
name = "stop"
gN = "thmax - th"
eN = 0.5

[initial]
q = { th = 0.6 }
u = { th = 0.0 }
""")

# (d)
model("rocking_block", """
[system]
name = "rocking block on an oscillating floor"
q = ["x", "y", "phi"]
T = "m/2*(x'^2 + y'^2) + JS/2*phi'^2"
U = "m*g*y + k/2*x^2"

[parameters]
JS = "m*(a^2 + b^2)/3"
m = 1.5
g = 9.81
k = 12.0
a = 0.35
b = 0.8
A = 0.05
w = 7.0
kap = 0.3
v0 = 0.6
mu = 0.3
e = 0.2

[[contact]]
name = "left"
gN = "y - a*sin(phi) - b*cos(phi) - A*sin(w*t)"
gammaT = "x' + (a*sin(phi) + b*cos(phi))*phi'"
mu = "mu"
eN = "e"
eT = "e"

[[contact]]
name = "right"
gN = "y + a*sin(phi) - b*cos(phi) - A*sin(w*t)"
gammaT = "x' + (b*cos(phi) - a*sin(phi))*phi' + kap*x*y' - v0*sin(w*t)*phi"
mu = "mu"
eN = "e"
impact = "poisson"
friction = "coulomb"

[initial]
q = { x = 0.1, y = 1.2, phi = 0.2 }
u = { phi = 1.0 }
""")

# (e)
model("constrained_beam", """
[system]
name = "beam in two grooves"
q = ["x", "y", "theta"]
T = "m/2*(x'^2 + y'^2) + J/2*theta'^2"
U = "m*g*y + k/2*theta^2"
f = { y = "P*cos(theta)" }

[parameters]
m = 2.0
J = "m*(l1 + l2)^2/12"
l2 = 0.75
l1 = 0.5
g = 9.81
k = 3.0
d = 0.1
w = 2.0
P = 0.4

[[constraint]]
name = "horizontal groove"
g = "y - l1*sin(theta)"
gammaT = "x' + l1*theta'*sin(theta)"
mu = 0.3

[[constraint]]
name = "vertical groove"
g = "x + l2*cos(theta) - d*sin(w*t)"
gammaT = "y' + l2*theta'*cos(theta) - d*w*cos(w*t)*theta"
mu = 0.25

[initial]
q = { x = -0.75, y = 0.0, theta = 0.0 }
u = { x = 0.2, y = 0.25, theta = 0.5 }
""")

# (f)
_PX = "(l1*cos(q1) + l2*cos(q1 + q2) - xc - A*sin(w*t))"
_PY = "(l1*sin(q1) + l2*sin(q1 + q2) - yc)"
_VX = "(-l1*sin(q1)*q1' - l2*sin(q1 + q2)*(q1' + q2') - A*w*cos(w*t))"
_VY = "(l1*cos(q1)*q1' + l2*cos(q1 + q2)*(q1' + q2'))"
model("two_link_arm", """
[system]
name = "two-link arm and a moving circle"
q = ["q1", "q2"]
T = "m1/2*s1^2*q1'^2 + J1/2*q1'^2 + m2/2*(l1^2*q1'^2 + s2^2*(q1' + q2')^2 + 2*l1*s2*cos(q2)*q1'*(q1' + q2')) + J2/2*(q1' + q2')^2"
U = "m1*g*s1*sin(q1) + m2*g*(l1*sin(q1) + s2*sin(q1 + q2))"
R = "c/2*q2'^2*(1 + q1^2)"
f = { q1 = "tau*sin(w*t)" }

[parameters]
l1 = 1.0
l2 = 0.8
s1 = "l1/2"
s2 = "l2*0.4"
m1 = 1.1
m2 = 0.9
J1 = "m1*l1^2/12"
J2 = "m2*l2^2/11"
g = 9.81
c = 0.15
tau = 2.2
xc = 1.2
yc = 1.5
rc = 0.3
A = 0.2
w = 1.4
n = 1.7
om = 0.25

[[contact]]
name = "tip"
gN = "hypot(@PX, @PY) - rc"
gammaT = "(@PX*@VY - @PY*@VX)/sqrt(@PX^2 + @PY^2)"
mu = 0.35
eN = 0.6

[[slider]]
gammaT = "q2' - 0.1*sin(w*t)*q1"
mu = 0.2
FN = "5 + 2*q1^2 + 0.3*q2'^2"

[[clutch]]
gamma = "q1' - n*q2' - om*t"

[initial]
q = { q1 = 0.0, q2 = 0.5 }
""".replace("@PX", _PX).replace("@PY", _PY).replace("@VX", _VX).replace("@VY", _VY))

# (g) Cardan angles: rotation = Rx(al) Ry(be) Rz(ga); centre of mass at distance s on the third body axis
_W1 = "(al'*cos(be)*cos(ga) + be'*sin(ga))"
_W2 = "(be'*cos(ga) - al'*cos(be)*sin(ga))"
_W3 = "(al'*sin(be) + ga')"
_OX = "(al' + ga'*sin(be))"
_OY = "(be'*cos(al) - ga'*sin(al)*cos(be))"
model("rolling_ball", """
[system]
name = "unbalanced ball on a turntable"
q = ["x", "y", "z", "al", "be", "ga"]
T = "m/2*((x' + s*be'*cos(be))^2 + (y' - s*(al'*cos(al)*cos(be) - be'*sin(al)*sin(be)))^2 + (z' - s*(al'*sin(al)*cos(be) + be'*cos(al)*sin(be)))^2) + JA/2*@W1^2 + JB/2*@W2^2 + JC/2*@W3^2"
U = "m*g*(z + s*cos(al)*cos(be))"

[parameters]
m = 1.2
rr = 0.25
JA = 0.8
JC = 1.7
JB = 1.1
s = 0.12
g = 9.81
Om = 0.9

[[contact]]
name = "table"
gN = "z - rr"
gammaT = ["x' - rr*@OY + Om*y", "y' + rr*@OX - Om*x"]
mu = 0.4
eN = 0.1

[initial]
q = { x = 0.5, y = -0.2, z = 0.3, al = 0.1, be = 0.2, ga = -0.3 }
u = { x = 0.3, ga = 1.0 }
""".replace("@W1", _W1).replace("@W2", _W2).replace("@W3", _W3).replace("@OX", _OX).replace("@OY", _OY))

# (h)
model("nonsmooth_forces", """
[system]
name = "forces with kinks and all functions"
q = ["x", "y"]
T = "m/2*(x'^2 + y'^2) + m*b*x'*y'*exp(-x^2)"
U = "k/2*max(0, x - x0)^2 + k/3*abs(y)^3 + kl*log(2 + x + y^2) + kc*(cosh(x/2) + sinh(y/3)) + 0.2*min(x*y, y - 0.1)"
R = "c*sqrt(eps^2 + x'^2) + c/3*abs(y')^3 + 0.1*log(cosh(x' - y'))"

[system.f]
x = "-Fc*tanh(x'/vs) + if(x > y, kh*(x - y)^1.5, 0) - c*abs(x')*x' + 0.3*asin(x/4)*acos(y/5) + pow(1 + x^2, p)"
y = "K*atan2(y + 0.2, x) - 0.7*sign(y')*pow(abs(y), p) + if(t*x <= y', exp(-y^2/2), atan(x*y) + tan(y/4)) + 2^(x*y') - max(min(x', y), -x) + hypot(x, 1 + t) + sin(pi*x)/2"

[parameters]
m = 1.4
b = 0.35
k = 2.5
x0 = 0.1
kl = 0.6
kc = 0.9
c = 0.3
eps = 0.2
Fc = 0.8
vs = 0.5
kh = 1.9
p = 1.37
K = 0.45

[initial]
q = { x = 0.3, y = 0.2 }
u = { x = 0.5, y = -0.4 }
""")

# (i)
model("variable_mass", """
[system]
name = "cart and pendulum of variable mass"
q = ["x", "phi"]
T = "(m0 + m1*sin(om*t))/2*x'^2 + (mp*(2 + cos(t)))/2*(x'^2 + 2*l*cos(phi)*x'*phi' + l^2*phi'^2) + J/2*phi'^2 + v0*t*x'*cos(phi)"
U = "-mp*(2 + cos(t))*g*l*cos(phi) + k/2*(x - z0*sin(om*t))^2"
R = "c/2*(x' + t*phi')^2"

[parameters]
J = "mp*l^2/12*(1 + ratio)"
ratio = "m1/mp"
mp = "rho*vol"
vol = "bw*bh*l"
rho = 7.8
l = 0.65
bh = 0.5
bw = 0.3
k = "4*J*om^2"
m0 = 3.0
m1 = 0.8
om = 1.6
g = 9.81
z0 = 0.2
c = 0.35
v0 = 0.27

[initial]
q = { x = 0.1, phi = -0.4 }
u = { x = -0.3, phi = 0.8 }
""")

# (j)
model("knife_edge", """
[system]
name = "skate on a belt"
q = ["x", "y", "z", "theta"]
T = "m/2*((x' - a*theta'*sin(theta))^2 + (y' + a*theta'*cos(theta))^2 + z'^2) + J/2*theta'^2"
U = "m*g*z"
R = "c/2*(theta'^2 + z'^2)"

[parameters]
v0 = 0.7
m = 1.8
J = 0.6
a = 0.15
g = 9.81
c = 0.1
hb = 0.05
w = 2.6
kr = 0.3
sr = 0.25
cy = 0.5
dy = 0.25
n = 0.4
mu = 0.2

[[contact]]
name = "wall"
gN = "3 + 0.2*cos(w*t) - x - a*cos(theta)"

[[contact]]
name = "belt"
gN = "z - hb*sin(w*t)*(1 + 0.1*x^2)"
gammaT = ["-x'*sin(theta) + y'*cos(theta) - (v0 + x*sin(t))", "x'*cos(theta) + y'*sin(theta) + a*y*theta' + v0*t*x"]
mu = "mu"
eN = 0.3

[[constraint]]
name = "rudder"
g = "theta - kr*x*y - sr*t"

[[constraint]]
name = "rail"
g = "y - cy*sin(x) - dy*t"
gammaT = "x' + cy*cos(x)*y' - v0*x*t"
mu = "mu/2"

[[slider]]
gammaT = "theta'*(1 + 0.5*sin(w*t)) - y*x'"
mu = "mu"
FN = "m*g"

[[clutch]]
gamma = "theta' + n*x' - x*z'"

[initial]
q = { x = 0.0, y = 0.0, z = 0.4, theta = 0.0 }
u = { x = 1.0, y = 0.75, theta = 0.25 }
""")

# --------------------------------------------------------------------------------------
# Expressions: text -> tree -> sympy, or tree -> number
# --------------------------------------------------------------------------------------

TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)"
                   r"|([A-Za-z_]\w*'?)|(<=|>=|[-+*/^(),<>]))")


class Parser:
    """sum [comparison sum]; unary minus binds weaker than ^; ^ is right associative."""

    def __init__(self, text):
        self.tokens, pos, text = [], 0, text.rstrip()
        while pos < len(text):
            m = TOKEN.match(text, pos)
            if not m:
                raise ValueError(f"cannot read: {text[pos:]!r}")
            kind = ("number", "name", "op")[m.lastindex - 1]
            self.tokens.append((kind, m.group(m.lastindex)))
            pos = m.end()
        self.tokens.append(("end", ""))
        self.i = 0

    def parse(self):
        tree = self.comparison()
        assert self.tokens[self.i][0] == "end", self.tokens[self.i:]
        return tree

    def accept(self, *ops):
        kind, value = self.tokens[self.i]
        if kind == "op" and value in ops:
            self.i += 1
            return value
        return None

    def expect(self, op):
        if not self.accept(op):
            raise ValueError(f"expected {op}, found {self.tokens[self.i]}")

    def comparison(self):
        left = self.sum()
        op = self.accept("<", ">", "<=", ">=")
        return ("compare", op, left, self.sum()) if op else left

    def sum(self):
        left = self.product()
        while op := self.accept("+", "-"):
            left = ("binary", op, left, self.product())
        return left

    def product(self):
        left = self.unary()
        while op := self.accept("*", "/"):
            left = ("binary", op, left, self.unary())
        return left

    def unary(self):
        if self.accept("-"):
            return ("negate", self.unary())
        if self.accept("+"):
            return self.unary()
        base = self.primary()
        return ("binary", "^", base, self.unary()) if self.accept("^") else base

    def primary(self):
        kind, value = self.tokens[self.i]
        self.i += 1
        if kind == "number":
            return ("number", float(value))
        if kind == "name":
            if not self.accept("("):
                return ("name", value)
            arguments = [self.comparison()]
            while self.accept(","):
                arguments.append(self.comparison())
            self.expect(")")
            return ("call", value, *arguments)
        if kind == "op" and value == "(":
            inner = self.comparison()
            self.expect(")")
            return inner
        raise ValueError(f"unexpected {value!r}")


def tree_of(value):
    return Parser(value).parse() if isinstance(value, str) else ("number", float(value))


def exact(x):
    return sp.Integer(int(x)) if x == int(x) else sp.Rational(*x.as_integer_ratio())


SYMPY_FUNCTIONS = {
    "abs": lambda x: sp.Piecewise((x, x > 0), (-x, True)),
    "min": lambda a, b: sp.Piecewise((a, a < b), (b, True)),
    "max": lambda a, b: sp.Piecewise((a, a > b), (b, True)),
    "sign": lambda x: sp.Piecewise((1, x > 0), (-1, True)),
    "hypot": lambda a, b: sp.sqrt(a**2 + b**2),
    "pow": lambda a, b: a**b,
    "if": lambda c, a, b: sp.Piecewise((a, c), (b, True)),
    **{n: getattr(sp, n) for n in ("sqrt exp log sin cos tan asin acos atan atan2 sinh cosh tanh").split()},
}

MPMATH_FUNCTIONS = {
    "abs": abs,
    "min": min,
    "max": max,
    "sign": mpmath.sign,
    "hypot": mpmath.hypot,
    "pow": mpmath.power,
    **{n: getattr(mpmath, n) for n in ("sqrt exp log sin cos tan asin acos atan atan2 sinh cosh tanh").split()},
}


def to_sympy(tree, env):
    kind = tree[0]
    if kind == "number":
        return exact(tree[1])
    if kind == "name":
        return sp.pi if tree[1] == "pi" else env[tree[1]]
    if kind == "negate":
        return -to_sympy(tree[1], env)
    if kind == "call":
        return SYMPY_FUNCTIONS[tree[1]](*(to_sympy(x, env) for x in tree[2:]))
    a, b = to_sympy(tree[2], env), to_sympy(tree[3], env)
    return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b, "^": lambda: a**b,
            "<": lambda: a < b, ">": lambda: a > b, "<=": lambda: a <= b, ">=": lambda: a >= b}[tree[1]]()


def evaluate(tree, env, kinks=None):
    """The number; kinks collects the distance to the place where the expression has its kink."""
    kind = tree[0]
    if kind == "number":
        return mpf(tree[1])
    if kind == "name":
        return mp.pi + 0 if tree[1] == "pi" else env[tree[1]]
    if kind == "negate":
        return -evaluate(tree[1], env, kinks)
    if kind == "call":
        name = tree[1]
        if name == "if":
            return evaluate(tree[3] if evaluate(tree[2], env, kinks) else tree[4], env, kinks)
        arguments = [evaluate(x, env, kinks) for x in tree[2:]]
        if kinks is not None and name in ("abs", "sign", "min", "max"):
            kinks[id(tree)] = arguments[0] - (arguments[1] if len(arguments) > 1 else 0)
        return MPMATH_FUNCTIONS[name](*arguments)
    a, b = evaluate(tree[2], env, kinks), evaluate(tree[3], env, kinks)
    op = tree[1]
    if kind == "compare":
        if kinks is not None:
            kinks[id(tree)] = a - b
        return {"<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b}[op]
    if op == "^":
        return a ** (int(b) if b == int(b) else b)
    return a + b if op == "+" else a - b if op == "-" else a * b if op == "*" else a / b


# --------------------------------------------------------------------------------------
# A model: trees of its expressions, rows in their order
# --------------------------------------------------------------------------------------


def check_reading(text, tree, env):
    """The tree against Python's own reading of the same text (its ** has the precedence wanted for ^)."""
    python = re.sub(r"(?<![\w.])(\d+\.?\d*(?:[eE][+-]?\d+)?)", r"mpf(\1)", text)
    python = re.sub(r"\bif\(", "if_(", python.replace("'", "_dot").replace("^", "**"))
    names = {k.replace("'", "_dot"): v for k, v in env.items()}
    names |= MPMATH_FUNCTIONS | {"mpf": mpf, "pi": mp.pi + 0, "if_": lambda c, a, b: a if c else b}
    value = eval(python, {"__builtins__": {}}, names)
    assert abs(value - evaluate(tree, env)) < TOLERANCE * max(1, abs(value)), text


def as_list(value):
    return value if isinstance(value, list) else [value]


class Model:
    def __init__(self, key, text):
        self.key, self.text = key, text
        data = tomllib.loads(text)
        system = data["system"]
        self.q = system["q"]
        self.n = len(self.q)
        self.T = tree_of(system["T"])
        self.U = tree_of(system.get("U", 0))
        self.R = tree_of(system.get("R", 0))
        forces = system.get("f", {})
        assert set(forces) <= set(self.q)
        self.f = [tree_of(forces.get(c, 0)) for c in self.q]
        parameters = data.get("parameters", {})
        self.p = [k for k, v in parameters.items() if not isinstance(v, str)]
        self.p_values = [float(parameters[k]) for k in self.p]
        self.derived = {k: tree_of(v) for k, v in parameters.items() if isinstance(v, str)}
        contacts, constraints = data.get("contact", []), data.get("constraint", [])
        positions = [c["g"] for c in constraints] + [c["gN"] for c in contacts]
        velocities = [s for c in contacts + constraints for s in as_list(c.get("gammaT", []))]
        velocities += [s["gammaT"] for s in data.get("slider", [])]
        velocities += [c["gamma"] for c in data.get("clutch", [])]
        self.positions = [tree_of(x) for x in positions]
        self.velocities = [tree_of(x) for x in velocities]
        self.rows = len(positions) + len(velocities)
        self.columns = 1 + 2 * self.n + len(self.p)
        self.n_constraints, self.n_contacts = len(constraints), len(contacts)
        self.n_clutches = len(data.get("clutch", []))
        # what is only read: every name must be known
        self.others = [tree_of(s["FN"]) for s in data.get("slider", [])]
        for block in contacts + constraints + data.get("slider", []):
            self.others += [tree_of(x) for k in ("mu", "eN", "eT") for x in as_list(block.get(k, 0))]
        initial = data["initial"]
        assert set(initial.get("q", {})) | set(initial.get("u", {})) <= set(self.q)
        texts = [system["T"], system.get("U"), system.get("R"), *forces.values(), *positions, *velocities]
        self.texts = [x for x in texts if isinstance(x, str)]
        self.q0 = [float(initial.get("q", {}).get(c, 0)) for c in self.q]
        self.u0 = [float(initial.get("u", {}).get(c, 0)) for c in self.q]

    def environment(self, t, q, u, p, convert):
        """Names to values; derived parameters in whatever order they need."""
        env = {"t": t, **dict(zip(self.q, q)), **{c + "'": x for c, x in zip(self.q, u)}}
        parameters = dict(zip(self.p, p))
        open_ = dict(self.derived)
        while open_:
            done = []
            for name, tree in open_.items():
                try:
                    parameters[name] = convert(tree, parameters)
                    done.append(name)
                except KeyError:
                    pass
            assert done, f"{self.key}: cyclic or undefined: {sorted(open_)}"
            for name in done:
                del open_[name]
        assert not set(env) & set(parameters)
        return {**parameters, **env}


# --------------------------------------------------------------------------------------
# First way: sympy
# --------------------------------------------------------------------------------------


class Symbolic:
    PARTS = ("M", "h", "positions", "W", "chi", "zeta", "T", "U",
             "residual_jacobian", "velocity_jacobian", "acceleration_jacobian")

    def __init__(self, m):
        n = m.n
        t = sp.Symbol("t_", real=True)
        make = lambda prefix, count: [sp.Symbol(f"{prefix}{i}_", real=True) for i in range(count)]
        q, u, a, lam, p = make("q", n), make("u", n), make("a", n), make("lam", m.rows), make("p", len(m.p))
        env = m.environment(t, q, u, p, to_sympy)
        T, U, R = (to_sympy(x, env) for x in (m.T, m.U, m.R))
        f = [to_sympy(x, env) for x in m.f]
        pi = [T.diff(x) for x in u]
        M = [[pi[i].diff(u[j]) for j in range(n)] for i in range(n)]
        h = [f[i] - R.diff(u[i]) - U.diff(q[i]) + T.diff(q[i])
             - sum(pi[i].diff(q[j]) * u[j] for j in range(n)) - pi[i].diff(t) for i in range(n)]
        positions = [to_sympy(x, env) for x in m.positions]
        W, chi, zeta = [], [], []
        for g in positions:
            W.append([g.diff(x) for x in q])
            chi.append(g.diff(t))
            zeta.append(sum(g.diff(x).diff(y) * v * w for x, v in zip(q, u) for y, w in zip(q, u))
                        + 2 * sum(g.diff(t).diff(x) * v for x, v in zip(q, u)) + g.diff(t).diff(t))
        at_rest = {x: 0 for x in u}
        for gamma in (to_sympy(x, env) for x in m.velocities):
            W.append([gamma.diff(x) for x in u])
            chi.append(gamma.subs(at_rest))
            zeta.append(sum(gamma.diff(x) * v for x, v in zip(q, u)) + gamma.diff(t))
        r = [h[i] + sum(W[k][i] * lam[k] for k in range(m.rows)) - sum(M[i][j] * a[j] for j in range(n))
             for i in range(n)]
        v = [sum(w * x for w, x in zip(W[k], u)) + chi[k] for k in range(m.rows)]
        s = [sum(w * x for w, x in zip(W[k], a)) + zeta[k] for k in range(m.rows)]
        columns = [t, *q, *u, *p]
        flat = lambda matrix: [x for row in matrix for x in row]
        jacobian = lambda rows: [x.diff(c) for x in rows for c in columns]
        parts = {"M": flat(M), "h": h, "positions": positions, "W": flat(W), "chi": chi, "zeta": zeta,
                 "T": [T], "U": [U], "residual_jacobian": jacobian(r), "velocity_jacobian": jacobian(v),
                 "acceleration_jacobian": jacobian(s)}
        self.lengths = [len(parts[k]) for k in self.PARTS]
        outputs = [sp.sympify(x) for k in self.PARTS for x in parts[k]]
        self.function = sp.lambdify([t, *q, *u, *a, *lam, *p], outputs, modules="mpmath", cse=True)

    def __call__(self, t, q, u, a, lam, p):
        with mp.workdps(DIGITS_SYMBOLIC):
            values = [mpmath.mpmathify(x) for x in self.function(*(mpf(x) for x in [t, *q, *u, *a, *lam, *p]))]
            assert all(isinstance(x, mpf) and mpmath.isfinite(x) for x in values), "not real and finite"
        result, at = {}, 0
        for key, length in zip(self.PARTS, self.lengths):
            result[key] = values[at:at + length]
            at += length
        return result


# --------------------------------------------------------------------------------------
# Second way: central differences of the strings alone
# --------------------------------------------------------------------------------------


def difference(function, step):
    plus, minus = function(step), function(-step)
    if isinstance(plus, list):
        return [(x - y) / (2 * step) for x, y in zip(plus, minus)]
    return (plus - minus) / (2 * step)


def bump(values, i, s):
    return [x + s if j == i else x for j, x in enumerate(values)]


class Numeric:
    def __init__(self, m):
        self.m = m

    def env(self, t, q, u, p):
        return self.m.environment(t, q, u, p, evaluate)

    def value(self, tree, t, q, u, p):
        return evaluate(tree, self.env(t, q, u, p))

    def curve(self, s, t, q, u, a):
        return (t + s, [x + v * s + w * s * s / 2 for x, v, w in zip(q, u, a)], [v + w * s for v, w in zip(u, a)])

    def residual(self, t, q, u, a, lam, p, step):
        """h + W^T lam - M a, as forces minus d/dt(dT/du) along the curve."""
        m = self.m
        r = []
        for i in range(m.n):
            def momentum(s):
                tt, qq, uu = self.curve(s, t, q, u, a)
                return difference(lambda d: self.value(m.T, tt, qq, bump(uu, i, d), p), step)
            x = -difference(momentum, step)
            x += difference(lambda d: (lambda e: evaluate(m.T, e) - evaluate(m.U, e))(self.env(t, bump(q, i, d), u, p)),
                            step)
            if m.R != ("number", 0.0):
                x -= difference(lambda d: self.value(m.R, t, q, bump(u, i, d), p), step)
            x += self.value(m.f[i], t, q, u, p)
            if any(lam):
                def work(d):  # power of the rows' forces under a virtual displacement, or velocity
                    e, v = self.env(t, bump(q, i, d), u, p), self.env(t, q, bump(u, i, d), p)
                    return (sum(y * evaluate(g, e) for y, g in zip(lam, m.positions))
                            + sum(y * evaluate(g, v) for y, g in zip(lam[len(m.positions):], m.velocities)))
                x += difference(work, step)
            r.append(x)
        return r

    def row_velocities(self, t, q, u, p, step):
        m, zero = self.m, [mpf(0)] * self.m.n
        along = lambda s: (lambda e: [evaluate(g, e) for g in m.positions])(self.env(*self.curve(s, t, q, u, zero), p))
        e = self.env(t, q, u, p)
        return difference(along, step) + [evaluate(g, e) for g in m.velocities]

    def row_accelerations(self, t, q, u, a, p, step):
        """Second derivative of the positions, first of the velocities, along the curve."""
        m = self.m

        def at(s):
            e = self.env(*self.curve(s, t, q, u, a), p)
            return [evaluate(g, e) for g in m.positions], [evaluate(g, e) for g in m.velocities]

        minus, middle, plus = at(-step), at(mpf(0)), at(step)
        return ([(x - 2 * y + z) / step**2 for x, y, z in zip(minus[0], middle[0], plus[0])]
                + [(z - x) / (2 * step) for x, z in zip(minus[1], plus[1])])

    def __call__(self, t, q, u, a, lam, p):
        m, n = self.m, self.m.n
        with mp.workdps(DIGITS_NUMERIC):
            step = mpf(STEP)
            t, (q, u, a, lam, p) = mpf(t), ([mpf(x) for x in v] for v in (q, u, a, lam, p))
            zero, no_lam = [mpf(0)] * n, [mpf(0)] * m.rows
            e = self.env(t, q, u, p)
            out = {"T": [evaluate(m.T, e)], "U": [evaluate(m.U, e)], "positions": [evaluate(g, e) for g in m.positions]}
            out["h"] = self.residual(t, q, u, zero, no_lam, p, step)
            # the mass matrix by polarisation of T, which is quadratic in u: exact, no differences
            T = lambda v: self.value(m.T, t, q, v, p)
            unit = [[mpf(int(i == j)) for j in range(n)] for i in range(n)]
            plus = lambda x, y: [v + w for v, w in zip(x, y)]
            T0, T1 = T(u), [T(plus(u, unit[i])) for i in range(n)]
            out["M"] = [T(plus(plus(u, unit[i]), unit[j])) - T1[i] - T1[j] + T0 for i in range(n) for j in range(n)]
            # the rows are affine in u as well
            velocities = lambda v: self.row_velocities(t, q, v, p, step)
            out["chi"] = velocities(zero)
            W = [[x - c for x, c in zip(velocities(unit[j]), out["chi"])] for j in range(n)]
            out["W"] = [W[j][k] for k in range(m.rows) for j in range(n)]
            out["zeta"] = self.row_accelerations(t, q, u, zero, p, step)

            def shifted(c, d):
                if c == 0:
                    return t + d, q, u, p
                if c <= n:
                    return t, bump(q, c - 1, d), u, p
                if c <= 2 * n:
                    return t, q, bump(u, c - 1 - n, d), p
                return t, q, u, bump(p, c - 1 - 2 * n, d)

            def jacobian(function):
                by_column = [difference(lambda d: function(*shifted(c, d)), step) for c in range(m.columns)]
                return [x for row in zip(*by_column) for x in row]

            out["residual_jacobian"] = jacobian(lambda T_, Q, V, P: self.residual(T_, Q, V, a, lam, P, step))
            out["velocity_jacobian"] = jacobian(lambda T_, Q, V, P: self.row_velocities(T_, Q, V, P, step))
            out["acceleration_jacobian"] = jacobian(lambda T_, Q, V, P: self.row_accelerations(T_, Q, V, a, P, step))
        return out


def check_admissible(m):
    """The initial state: gaps >= 0, constraints fulfilled, mass matrix positive definite, all names known."""
    number = Numeric(m)
    t, (q, u, p) = mpf(0), ([mpf(x) for x in v] for v in (m.q0, m.u0, m.p_values))
    with mp.workdps(DIGITS_NUMERIC):
        e = number.env(t, q, u, p)
        for tree in m.others:
            assert evaluate(tree, e) >= 0
        gamma = number.row_velocities(t, q, u, p, mpf(STEP))
        for k, tree in enumerate(m.positions):
            g = evaluate(tree, e)
            if k < m.n_constraints:
                assert abs(g) < 1e-15 and abs(gamma[k]) < 1e-15, (m.key, k, g, gamma[k])
            else:
                assert g > 1e-3, (m.key, k, g)
        assert all(x >= 0 for x in gamma[m.rows - m.n_clutches:])


def positive_definite(n, M):
    return all(mpmath.det(mpmath.matrix([[M[i * n + j] for j in range(k)] for i in range(k)])) > 0
               for k in range(1, n + 1))


# --------------------------------------------------------------------------------------
# States
# --------------------------------------------------------------------------------------


def generic(rng, low=0.2, high=1.3):
    return round(rng.uniform(low, high), 3) * rng.choice((-1, 1))


def kinks_of(m, state):
    t, q, u, _, _ = state
    kinks, e = {}, Numeric(m).env(mpf(t), [mpf(x) for x in q], [mpf(x) for x in u], [mpf(x) for x in m.p_values])
    for tree in (m.T, m.U, m.R, *m.f, *m.positions, *m.velocities):
        evaluate(tree, e, kinks)
    return kinks


def states_of(m):
    """Deterministic; away from every kink, and together on both sides of every kink."""
    rng = random.Random("lagrange " + m.key)
    while True:
        states = [(abs(generic(rng, 0.3, 1.9)), [generic(rng) for _ in range(m.n)], [generic(rng) for _ in range(m.n)],
                   [generic(rng) for _ in range(m.n)], [generic(rng) for _ in range(m.rows)]) for _ in range(STATES)]
        all_kinks = [kinks_of(m, s) for s in states]
        if any(abs(x) < 0.05 for kinks in all_kinks for x in kinks.values()):
            continue
        sides = {}
        for kinks in all_kinks:
            for k, x in kinks.items():
                sides.setdefault(k, set()).add(x > 0)
        if all(len(s) == 2 for s in sides.values()):
            return states


# --------------------------------------------------------------------------------------
# Output
# --------------------------------------------------------------------------------------


def double(x):
    if isinstance(x, float):
        return repr(x)
    with mp.workdps(DIGITS_SYMBOLIC):
        value = 0.0 if abs(x) < mpf("1e-40") else float(mpmath.nstr(x, 40))
    return repr(value)


def braces(values, indent):
    lines, line = [], ""
    for text in values:
        if line and len(indent) + len(line) + len(text) + 3 > 118:
            lines.append(line)
            line = ""
        line += (" " if line else "") + text + ","
    if line:
        lines.append(line)
    return "{" + ("\n" + indent).join(lines).rstrip(",") + "}"


HEAD = """// SPDX-License-Identifier: Apache-2.0
// Generated by lagrange.py, do not edit.
#pragma once

#include <vector>

namespace saltus::test {

// Rows: constraints, normals of contacts, slip components of contacts, slip components of constraints,
// sliders, clutches. Columns of the Jacobians: t, q..., u..., p... with p the parameters listed.
// Residual: h + W^T lam - M a. Velocities: W u + chi. Accelerations: W a + zeta.
struct LagrangeCase {
    const char* name;
    const char* toml;
    double t;
    std::vector<double> q, u, a, lam;
    std::vector<double> M;  // row-major, n x n
    std::vector<double> h;
    std::vector<double> positions;  // constraints, then gaps
    std::vector<double> W;          // row-major, rows x n
    std::vector<double> chi, zeta;
    double T, U;
    std::vector<double> residual_jacobian;      // n x (1 + 2n + np)
    std::vector<double> velocity_jacobian;      // rows x (1 + 2n + np)
    std::vector<double> acceleration_jacobian;  // rows x (1 + 2n + np)
    std::vector<const char*> parameters;        // those given as plain numbers, in file order
};

"""


def emit(m, index, state, values):
    t, q, u, a, lam = state
    pad = " " * 8
    vector = lambda label, xs: f"{pad}/* {label} */ " + braces([double(x) for x in xs], pad + "    ") + ",\n"
    out = "    cases.push_back({\n"
    out += f'{pad}"{m.key}/{index}", toml_{m.key}, {double(t)},\n'
    for label, xs in (("q", q), ("u", u), ("a", a), ("lam", lam)):
        out += vector(label, xs)
    for label in ("M", "h", "positions", "W", "chi", "zeta"):
        out += vector(label, values[label])
    out += f"{pad}/* T, U */ {double(values['T'][0])}, {double(values['U'][0])},\n"
    for label in ("residual_jacobian", "velocity_jacobian", "acceleration_jacobian"):
        out += vector(label, values[label])
    out += f"{pad}/* parameters */ " + braces([f'"{x}"' for x in m.p], pad + "    ") + ",\n"
    return out + "    });\n"


def main():
    started = time.time()
    mp.dps = DIGITS_SYMBOLIC
    texts, blocks, worst, doubles = "", "", {}, 0
    for key, text in MODELS:
        begun = time.time()
        m = Model(key, text)
        check_admissible(m)
        symbolic, numeric = Symbolic(m), Numeric(m)
        initial = symbolic(0.0, m.q0, m.u0, [0.0] * m.n, [0.0] * m.rows, m.p_values)
        assert positive_definite(m.n, initial["M"]), key
        assert ")toml\"" not in text and text.isascii()
        texts += f'inline constexpr const char* toml_{key} = R"toml({text})toml";\n\n'
        here = {}
        for index, state in enumerate(states_of(m)):
            env = numeric.env(mpf(state[0]), *([mpf(x) for x in v] for v in (state[1], state[2], m.p_values)))
            for x in m.texts:
                check_reading(x, tree_of(x), env)
            first, second = symbolic(*state, m.p_values), numeric(*state, m.p_values)
            assert positive_definite(m.n, first["M"]), (key, index)
            for part in Symbolic.PARTS:
                assert len(first[part]) == len(second[part])
                for x, y in zip(first[part], second[part]):
                    error = abs(x - y) / max(1, abs(x))
                    here[part] = max(here.get(part, mpf(0)), error)
                    assert error < TOLERANCE, (key, index, part, x, y)
                    doubles += 1
            blocks += emit(m, index, state, first)
        for part, error in here.items():
            worst[part] = max(worst.get(part, mpf(0)), error)
        print(f"{key:18} n={m.n} rows={m.rows} np={len(m.p):2}  h {mpmath.nstr(here['h'], 2):>8}  "
              f"worst {mpmath.nstr(max(here.values()), 2):>8}  {time.time() - begun:5.1f} s", flush=True)
    header = HEAD + texts + "inline std::vector<LagrangeCase> lagrange_cases() {\n"
    header += f"    std::vector<LagrangeCase> cases;\n    cases.reserve({len(MODELS) * STATES});\n"
    header += blocks + "    return cases;\n}\n\n}  // namespace saltus::test\n"
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().with_name("lagrange_cases.hpp")
    output.write_text(header, encoding="ascii")
    print("largest difference of the two ways, relative to max(1, |value|):")
    for part, error in worst.items():
        print(f"  {part:22} {mpmath.nstr(error, 2)}")
    print(f"{len(MODELS)} systems, {len(MODELS) * STATES} cases, {doubles} numbers, {len(header)} bytes, "
          f"{time.time() - started:.0f} s")


if __name__ == "__main__":
    main()
