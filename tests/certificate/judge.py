# SPDX-License-Identifier: Apache-2.0
"""A second opinion on certificates, by samples in floating point and without any code of tools/check_certificate.

`violation(document)` looks for a false claim: a required part that is missing, or a position in the box of a leaf at which
the leaf's statement is false. It cannot show that a certificate is right, only that it is wrong.
"""
import functools
import hashlib
import itertools
import json
import math
import random
import re
import tomllib

EPS = 1e-9           # a claim counts as false only if it is missed by more than this, relative to the size of its terms


class Jet:
    """Value, gradient and Hessian of a function of several variables."""

    def __init__(self, v, g, h):
        self.v, self.g, self.h = v, g, h

    def apply(self, f, d, dd):
        n = len(self.g)
        return Jet(f, [d * a for a in self.g], [[d * self.h[i][j] + dd * self.g[i] * self.g[j] for j in range(n)] for i in range(n)])

    def __add__(self, o):
        if not isinstance(o, Jet):
            return Jet(self.v + float(o), self.g, self.h)
        n = range(len(self.g))
        return Jet(self.v + o.v, [a + b for a, b in zip(self.g, o.g)], [[self.h[i][j] + o.h[i][j] for j in n] for i in n])

    def __mul__(self, o):
        if not isinstance(o, Jet):
            o = float(o)
            return Jet(self.v * o, [a * o for a in self.g], [[a * o for a in row] for row in self.h])
        n = range(len(self.g))
        return Jet(self.v * o.v, [self.g[i] * o.v + self.v * o.g[i] for i in n],
                   [[self.h[i][j] * o.v + self.g[i] * o.g[j] + self.g[j] * o.g[i] + self.v * o.h[i][j] for j in n] for i in n])

    def lift(self, x):
        n = len(self.g)
        return x if isinstance(x, Jet) else Jet(float(x), [0.0] * n, [[0.0] * n for _ in range(n)])

    def __neg__(self):
        return self * -1.0

    def __sub__(self, o):
        return self + -o

    def __rsub__(self, o):
        return -self + o

    def __truediv__(self, o):
        return self * (o if isinstance(o, Jet) else float(o)) ** -1

    def __rtruediv__(self, o):
        return self.lift(o) * self ** -1

    def __pow__(self, n):
        n = n.v if isinstance(n, Jet) else float(n)
        second = n * (n - 1) * self.v ** (n - 2) if n not in (0, 1) else 0.0
        return self.apply(self.v ** n, n * self.v ** (n - 1) if n else 0.0, second)

    def __rpow__(self, base):
        return exponential(self * math.log(base))

    def __pos__(self):
        return self

    __radd__, __rmul__ = __add__, __mul__


def sine(x):
    return x.apply(math.sin(x.v), math.cos(x.v), -math.sin(x.v)) if isinstance(x, Jet) else math.sin(x)


def cosine(x):
    return x.apply(math.cos(x.v), -math.sin(x.v), -math.cos(x.v)) if isinstance(x, Jet) else math.cos(x)


def square_root(x):
    return x ** 0.5


def exponential(x):
    return x.apply(*[math.exp(x.v)] * 3) if isinstance(x, Jet) else math.exp(x)


def absolute(x):
    return (x if x.v >= 0 else -x) if isinstance(x, Jet) else abs(x)


def maximum(a, b):
    return a if (a.v if isinstance(a, Jet) else a) >= (b.v if isinstance(b, Jet) else b) else b


def minimum(a, b):
    return -maximum(-a, -b)


FUNCTIONS = {"sin": sine, "cos": cosine, "sqrt": square_root, "exp": exponential, "abs": absolute, "max": maximum, "min": minimum, "pi": math.pi, "__builtins__": {}}


def solve(a, b):
    """Gaussian elimination with pivoting; None if the matrix is singular."""
    a, n = [list(map(float, row)) + [float(x)] for row, x in zip(a, b)], len(b)
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(a[i][k]))
        if abs(a[p][k]) < 1e-13:
            return None
        a[k], a[p] = a[p], a[k]
        for i in range(n):
            if i != k:
                f = a[i][k] / a[k][k]
                a[i] = [x - f * y for x, y in zip(a[i], a[k])]
    return [a[k][n] / a[k][k] for k in range(n)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def indefinite(a):
    """Whether a symmetric matrix has a direction x with x'ax < 0, clearly."""
    a, n = [list(row) for row in a], len(a)
    scale = max([abs(x) for row in a for x in row] + [1e-300])
    for k in range(n):
        if a[k][k] < -EPS * scale:
            return True
        if a[k][k] < EPS * scale:
            return False
        for i in range(k + 1, n):
            f = a[i][k] / a[k][k]
            a[i] = [x - f * y for x, y in zip(a[i], a[k])]
    return False


@functools.lru_cache(1 << 12)
def code(text):
    """An expression of the model file as code of Python; the velocity q' has the name q_v."""
    return compile(re.sub(r"([A-Za-z_]\w*)'", r"\1_v", text).replace("^", "**").strip(), "model", "eval")


class World:
    """Functions of the model at one state."""

    def __init__(self, document):
        data = tomllib.loads(document["model"]["text"])
        self.q = data["system"]["q"]
        self.n = len(self.q)
        self.system, self.let, self.control = data["system"], data.get("let", {}), data.get("control")
        self.names = dict(FUNCTIONS, **{k: float.fromhex(v) for k, v in document["model"]["parameters"].items()})
        self.contacts, self.constraints, sliders, self.clutches = (data.get(k, []) for k in ("contact", "constraint", "slider", "clutch"))
        for kind, blocks in (("slider", sliders), ("clutch", self.clutches)):
            for i, block in enumerate(blocks, 1):
                block.setdefault("name", kind if len(blocks) == 1 else "%s %d" % (kind, i))
        slides = document["setting"].get("sliding", {})
        self.sliding = [(e, {"forwards": 1, "backwards": -1}[slides[e["name"]]]) for e in sliders if e["name"] in slides]
        self.sliders = [e for e in sliders if e["name"] not in slides]
        need(len(self.sliding) == len(slides), "unknown elements slide")
        self.rough = [c for c in self.constraints if self.has_friction(c)]
        self.V = document["setting"].get("V") if document["theorem"] != "function" else None
        self.factor = number(document["setting"].get("factor", "0x1p+0"))

    def has_friction(self, e):
        mu = e.get("mu", 0)
        return "gammaT" in e and (self.names.get(mu, mu) if isinstance(mu, str) else mu) not in (0, 0.0, "0")

    def state(self, q, u=None):
        values, n = list(q) + list(u or [0.0] * self.n), 2 * self.n
        names = dict(self.names)
        for k, name in enumerate(self.q + [a + "_v" for a in self.q]):
            names[name] = Jet(values[k], [float(i == k) for i in range(n)], [[0.0] * n for _ in range(n)])
        pending = dict(self.let)
        while pending:
            for name, text in list(pending.items()):
                try:
                    names[name] = self.jet(text, names)
                    del pending[name]
                except NameError:
                    pass
        return names

    def jet(self, text, names):
        value = eval(code(text), names) if isinstance(text, str) else text
        return value if isinstance(value, Jet) else next(x for x in names.values() if isinstance(x, Jet)).lift(value)

    def gaps(self, q, names):
        """Gradients and values of these gaps and constraints."""
        state = self.state(q)
        text = {e["name"]: e[key] for kind, key in ((self.contacts, "gN"), (self.constraints, "g")) for e in kind}
        jets = [self.jet(text[a], state) for a in names]
        return [j.g[:self.n] for j in jets], [j.v for j in jets]

    def at(self, q, u=None):
        """Everything that the claims need, as numbers."""
        names, n = self.state(q, u), self.n
        system = self.system
        T, U, R = (self.jet(system.get(k, 0), names) for k in ("T", "U", "R"))
        for a in self.control["actuated"] if self.control else []:       # gains that are one number
            U = U + (names[a] - self.jet(self.control.get("reference", {}).get(a, 0), names)) ** 2 * self.jet(self.control.get("Kp", 0), names) * 0.5
            R = R + names[a + "_v"] ** 2 * self.jet(self.control.get("Kv", 0), names) * 0.5
        if self.control and "shaping" in self.control:
            U = self.jet(self.control["shaping"], names)
        forces = [self.jet(system.get("f", {}).get(a, 0), names) for a in self.q]
        for a, text in (self.control or {}).get("feedforward", {}).items():
            forces[self.q.index(a)] = forces[self.q.index(a)] + self.jet(text, names)
        for e, sign in self.sliding:     # friction is a smooth force; the constant part of all forces has a potential
            force = self.jet(e["FN"], names) * self.jet(e["mu"], names) * -sign
            slope = self.jet(e["gammaT"], names).g[n:]
            forces = [x + force * t for x, t in zip(forces, slope)]
        if self.sliding:
            here, there = self.state(q), self.state([x + 0.37 for x in q])
            for k, a in enumerate(self.q):
                still = [self.rest_force(k, state) for state in (here, there)]
                if abs(still[0] - still[1]) < 1e-9 * (1 + abs(still[0])):
                    U, forces[k] = U - names[a] * still[0], forces[k] - still[0]
        if self.V is not None:           # V = factor*(T + W): W is the potential energy, and the difference is another force
            W = self.jet(self.V, dict(names, T=T, U=U)) * (1 / self.factor) - T
            size = 1 + max(abs(x) for row in T.h for x in row) + max(map(abs, W.g))
            need(max(abs(x) for x in W.g[n:] + [x for row in W.h[n:] for x in row]) < EPS * size, "V is not factor*(T + W)")
            forces = [f + Jet(W.g[a] - U.g[a], (n * 2) * [0.0], [[0.0] * n * 2 for _ in range(n * 2)]) for a, f in enumerate(forces)]
            U = W
        f = [x.v for x in forces]
        v = list(u or [0.0] * n)
        M = [row[n:] for row in T.h[n:]]
        h = [f[a] - R.g[n + a] - U.g[a] + T.g[a] - sum(T.h[n + a][b] * v[b] for b in range(n)) for a in range(n)]
        out = {"M": M, "h": h, "U": U.v, "gradU": U.g[:n], "T": T.v, "nc": [f[a] - R.g[n + a] for a in range(n)],
               "K": [row[:n] for row in U.h[:n]], "C": [[R.h[n + a][n + b] - forces[a].g[n + b] for b in range(n)] for a in range(n)]}
        still = self.state(q)
        for kind, key in ((self.contacts, "gN"), (self.constraints, "g"), (self.sliders, None), (self.clutches, None)):
            for e in kind:
                name = e["name"]
                gap = self.jet(e[key], names) if key else None
                slips = e.get("gammaT", e.get("gamma", []))
                chi = [self.jet(x, still).v for x in (slips if isinstance(slips, list) else [slips])]
                slips = [self.jet(s, names) for s in (slips if isinstance(slips, list) else [slips])]
                mu = e.get("mu", 0)
                mu = [self.jet(m, names).v for m in (mu if isinstance(mu, list) else [mu])]
                mu = mu * len(slips) if len(mu) == 1 else mu
                out[name] = {"gap": gap.v if gap else None, "row": gap.g[:n] if gap else slips[0].g[n:] if "gamma" in e else None, "chi": chi,
                             "t": [s.g[n:] for s in slips],
                             "hess": [r[:n] for r in gap.h[:n]] if gap else None,
                             "bend": sum(gap.h[a][b] * v[a] * v[b] for a in range(n) for b in range(n)) if gap else 0, "mu": mu,
                             "load": self.jet(e["FN"], names).v if "FN" in e else None, "gamma": [s.v for s in slips],
                             "slip_bend": [sum(s.h[n + a][b] * v[a] * v[b] for a in range(n) for b in range(n)) for s in slips],
                             "eN": self.jet(e.get("eN", 0), names).v, "eT": self.jet(e.get("eT", 0), names).v}
        return out

    def rest_force(self, k, names):
        """The force along coordinate k at rest, with the friction of sliders that slide for ever."""
        force = self.jet(self.system.get("f", {}).get(self.q[k], 0), names).v - self.jet(self.system.get("R", 0), names).g[self.n + k]
        for e, sign in self.sliding:
            force -= sign * self.jet(e["FN"], names).v * self.jet(e["mu"], names).v * self.jet(e["gammaT"], names).g[self.n + k]
        return force

    def friction(self, e, v):
        """The largest power of friction along v for the normal force 1; on a surface that moves, friction has one direction."""
        if len(e["t"]) == 1 and abs(e["chi"][0]) > 1e-12:
            return -math.copysign(e["mu"][0], e["chi"][0]) * dot(v, e["t"][0])
        return math.sqrt(sum((m * dot(v, t)) ** 2 for m, t in zip(e["mu"], e["t"])))


class Wrong(Exception):
    pass


def number(text):
    return float(text) if text in ("inf", "-inf") else float.fromhex(text)


def need(condition, text):
    if not condition:
        raise Wrong(text)


class Judge:
    def __init__(self, document, seed=1, samples=12, only=None, leaves=60):
        self.doc, self.rng, self.samples, self.only, self.most_leaves = document, random.Random(seed), samples, only, leaves
        self.world = World(document)
        s = document["setting"]
        self.domain = [(number(a), number(b)) for a, b in s["domain"]]
        self.rho, self.reference, self.closing = number(s["level"]), number(s["reference"]), s["I_C"]
        self.n, self.names = self.world.n, [c["name"] for c in self.world.contacts]
        self.elements = [c["name"] for c in self.world.contacts if c["name"] in self.closing and self.world.has_friction(c)] + \
            [c["name"] for c in self.world.rough]

    # -- sampling ---------------------------------------------------------------------------------------------------------
    def random_point(self, box):
        q = []
        for lo, hi in box:
            if hi - lo == math.inf:
                middle = lo if lo > -math.inf else hi if hi < math.inf else 0.0
                step = self.rng.choice([0.1, 1, 10, 1000]) * self.rng.random()
                q.append(middle + (step if lo > -math.inf else -step if hi < math.inf else step * self.rng.choice([-1, 1])))
            else:
                r = self.rng.random()
                q.append(lo if r < 0.15 else hi if r > 0.85 else lo + (hi - lo) * self.rng.random())
        return q

    def projected(self, q, names):
        """A position near q at which these gaps and constraints vanish, by Gauss-Newton; None if there is none."""
        for _ in range(12):
            rows, r = self.world.gaps(q, names)
            if max(map(abs, r), default=0) < 1e-12:
                return q
            gram = [[dot(a, b) + (1e-14 if i == j else 0) for j, b in enumerate(rows)] for i, a in enumerate(rows)]
            y = solve(gram, r)
            if y is None:
                return None
            q = [x - sum(c * row[k] for c, row in zip(y, rows)) for k, x in enumerate(q)]
        return None

    def positions(self, box, all_closed=()):
        """Positions of P in a box, with the values of the functions and the names of the closed gaps."""
        constraints = [c["name"] for c in self.world.constraints]
        for _ in range(self.samples):
            extra = [n for n in self.names if n in all_closed or self.rng.random() < 0.35]
            q = self.random_point(box)
            for names in ([*constraints, *extra], constraints):
                p = self.projected(q, names) if names else q
                if p is None:
                    continue
                slack = [1e-12 * (1 + abs(x)) for x in p]
                if any(x < lo - d or x > hi + d for x, d, (lo, hi) in zip(p, slack, box)):
                    continue
                s = self.world.at(p)
                gaps = {n: s[n]["gap"] for n in self.names}
                if any(g < -1e-11 for g in gaps.values()) or s["U"] - self.reference > self.rho:
                    continue
                closed = [n for n, g in gaps.items() if abs(g) < 1e-11]
                if set(all_closed) <= set(closed):
                    yield p, s, closed
                break

    # -- trees ------------------------------------------------------------------------------------------------------------
    def leaves(self, tree, box):
        if tree[0] == "split":
            _, k, point, low, high = tree
            x = number(point)
            need(box[k][0] < x < box[k][1], "split outside")
            yield from self.leaves(low, box[:k] + [(box[k][0], x)] + box[k + 1:])
            yield from self.leaves(high, box[:k] + [(x, box[k][1])] + box[k + 1:])
        else:
            yield tree, box

    def each(self, tree, box, check, all_closed=()):
        """check(leaf, q, values, closed) for samples of all leaves; a common leaf must contain no position of P."""
        leaves = list(self.leaves(tree, box))
        for leaf, part in leaves if len(leaves) <= self.most_leaves else self.rng.sample(leaves, self.most_leaves):
            for q, s, closed in self.positions(part, all_closed):
                need(leaf[0] not in ("gap", "constraint", "level"), "a leaf %s contains the position %s" % (leaf, q))
                check(leaf, q, s, closed)

    def tangent(self, e, pivots, names, s):
        e = [number(x) for x in e]
        free = [k for k in range(self.n) if k not in pivots]
        need(len(e) == len(free) and len(pivots) == len(names), "a direction has a wrong size")
        d = [0.0] * self.n
        for k, x in zip(free, e):
            d[k] = x
        rows = [s[a]["row"] for a in names]
        y = solve([[row[k] for k in pivots] for row in rows], [-dot(row, d) for row in rows])
        need(y is not None, "pivots are singular")
        for k, x in zip(pivots, y):
            d[k] = x
        return d

    def scale(self, a, b):
        return EPS * (sum(abs(x * y) for x, y in zip(a, b)) + 1e-30)

    def works(self, v, names, signs, s):
        """Whether contacts and constraints with signs do no positive work on v."""
        for name in [*names, *(c["name"] for c in self.world.clutches)]:
            if dot(v, s[name]["row"]) + (0 if name not in names else self.world.friction(s[name], v)) > self.scale(v, s[name]["row"]):
                return False
        for name, sign in signs.items():
            if sign * dot(v, s[name]["row"]) + self.world.friction(s[name], v) > self.scale(v, s[name]["row"]):
                return False
        return True

    def entry_holds(self, entry, q, s, names, signs):
        d = [number(x) for x in entry["d"]]
        rows = ([entry["gap"]] if entry["gap"] else []) + entry["closed"] + [c["name"] for c in self.world.rough]
        smooth = [c["name"] for c in self.world.constraints if c not in self.world.rough]
        if len(d) != len(rows) or entry["gap"] and d[0] < 0:
            return False
        p = [sum(x * s[r]["row"][k] for x, r in zip(d, rows)) for k in range(self.n)]
        x = solve([s["M"][k] + [-s[c]["row"][k] for c in smooth] for k in range(self.n)] + [s[c]["row"] + [0.0] * len(smooth) for c in smooth], p + [0.0] * len(smooth))
        v, d, rows = x[:self.n], d + x[self.n:], rows + smooth
        if not self.works(v, names, signs, s):
            return False
        tau = self.rho - (s["U"] - self.reference)
        for _ in range(6):
            u = [self.rng.gauss(0, 1) for _ in range(self.n)]
            energy = self.world.at(q, u)["T"]
            size = math.sqrt(min(tau, 100.0) / energy) * self.rng.choice([0, 0.99, 0.5]) if tau > 0 else 0
            moving = self.world.at(q, [size * x for x in u])
            a = dot(v, moving["h"]) + sum(x * moving[r]["bend"] for x, r in zip(d, rows))
            a += sum(moving[e["name"]]["load"] * self.world.friction(moving[e["name"]], v) for e in self.world.sliders)
            if a > EPS * (1 + abs(a)):
                return False
        return True

    def signs(self, names):
        return [dict(zip(names, s)) for s in itertools.product((1, -1), repeat=len(names))]

    # -- claims -----------------------------------------------------------------------------------------------------------
    def mass(self, leaf, q, s, closed):
        need(not indefinite(s["M"]) and min(s["M"][k][k] for k in range(self.n)) > 0, "M at %s" % q)
        for e in self.world.contacts + self.world.constraints + self.world.sliders:
            values = s[e["name"]]
            need(all(m >= 0 for m in values["mu"]) and (values["load"] or 0) >= 0, "negative friction")

    def closing_leaf(self, leaf, q, s, closed):
        rough = [c["name"] for c in self.world.rough]
        for size in range(len(closed) + 1):
            for K in itertools.combinations(closed, size):
                for gap in self.closing:
                    # only the gaps that are really open matter
                    if gap in closed or set(K) != set(closed):
                        continue
                    for signs in self.signs(rough):
                        need(any(e["gap"] == gap and set(e["closed"]) == set(K) and e["signs"] == list(signs.values()) and
                                 self.entry_holds(e, q, s, K, signs) for e in leaf[1]), "acceleration of %s at %s" % (gap, q))

    def loss_leaf(self, leaf, q, s, closed):
        need(leaf[0] == "loads", "an open leaf contains a position with closed gaps: %s" % q)
        for size in range(len(self.elements) + 1):
            for K in itertools.combinations(self.elements, size):
                need(any(self.case_holds(case, K, q, s, closed) for case in leaf[1]), "losses with %s loaded at %s" % (K, q))

    def case_holds(self, case, K, q, s, closed):
        if case["by"] == "rank" and set(case["loaded"]) <= set(K):
            rows = [s[c["name"]]["row"] for c in self.world.constraints] + [s[i]["row"] for i in self.names if i in self.closing]
            for name in [e["name"] for e in self.world.sliders] + list(K):
                if s[name]["load"] is None or s[name]["load"] > 0:
                    rows += [t for t, m in zip(s[name]["t"], s[name]["mu"]) if m > 0]
            if self.doc_damping:
                c = [[-x for x in self.world.at(q, [float(i == k) for i in range(self.n)])["nc"]] for k in range(self.n)]
                rows += [[(c[a][b] + c[b][a]) / 2 for b in range(self.n)] for a in range(self.n)]
            gram = [[sum(r[a] * r[b] for r in rows) for b in range(self.n)] for a in range(self.n)]
            return solve(gram, [1.0] * self.n) is not None and not indefinite(gram)
        if case["by"] == "load" and set(case["loaded"]) == set(K):
            pushing = [n for n in self.names if (n in K if n in self.elements else n in self.closing or n in closed)]
            rough = [c["name"] for c in self.world.rough if c["name"] in K]
            return all(any(e["gap"] is None and set(e["closed"]) == set(self.closing) and e["signs"] == list(signs.values()) and
                           self.entry_holds(e, q, s, pushing, signs) for e in case["entries"]) for signs in self.signs(rough))
        return case["by"] == "passing" and case["element"] in K

    def balance_leaf(self, leaf, q, s, closed):
        if leaf[0] == "below":
            return need(s["U"] - self.reference < self.rho, "Q at %s" % q)
        if leaf[0] == "listed":
            inner = [(number(a), number(b)) for a, b in self.doc["setting"]["sets"][leaf[1]]]
            return need(all(lo - 1e-12 <= x <= hi + 1e-12 for x, (lo, hi) in zip(q, inner)), "a listed box")
        rough, smooth = [c["name"] for c in self.world.rough], [c["name"] for c in self.world.constraints if c not in self.world.rough]
        for signs in self.signs(rough):
            def holds(e):
                if e["signs"] != list(signs.values()):
                    return False
                d = self.tangent(e["d"], e["pivots"], smooth, s) if smooth else [number(x) for x in e["d"]]
                power = dot(s["h"], d) + sum(s[x["name"]]["load"] * self.world.friction(s[x["name"]], d)
                                             for x in self.world.sliders)
                return power < self.scale(s["h"], d) and self.works(d, closed, signs, s)
            need(any(holds(e) for e in leaf[1]), "balance at %s" % q)

    def stationary(self, claim, leaf, q, s, closed):
        if leaf[0] == "local":
            inner = [(number(a), number(b)) for a, b in claim["N"]]
            return need(all(lo - 1e-12 <= x <= hi + 1e-12 for x, (lo, hi) in zip(q, inner)), "a local leaf outside N")
        d = self.tangent(leaf[1], claim["pivots"], [c["name"] for c in self.world.constraints], s)
        need(dot(s["gradU"], d) < self.scale(s["gradU"], d), "U along a direction at %s" % q)
        for name in closed:
            need(dot(s[name]["row"], d) > -self.scale(s[name]["row"], d), "gap %s along a direction at %s" % (name, q))

    def impacts(self, leaf, q, s, closed, factors=None):
        """Impulses in the friction cones of the closed contacts do not make the energy grow. factors: what a function V makes of each row."""
        rows, b, cones = [], [], []
        for c in self.world.contacts:
            if c["name"] in closed:
                x = s[c["name"]]
                cones.append((len(rows), x["mu"] if self.world.has_friction(c) else []))
                for row, e in zip([x["row"]] + (x["t"] if cones[-1][1] else []), [x["eN"]] + [x["eT"]] * 2):
                    rows.append(row)
                    b.append((1 - e) / (1 + e) * (factors(row) if factors else 1))
        if not any(mu for _, mu in cones):
            return need(all(x >= -EPS for x in b), "impacts")
        smooth = [c["name"] for c in self.world.constraints if c not in self.world.rough]
        matrix = [s["M"][k] + [-s[c]["row"][k] for c in smooth] for k in range(self.n)] + [s[c]["row"] + [0.0] * len(smooth) for c in smooth]
        inverse = [solve(matrix, r + [0.0] * len(smooth))[:self.n] for r in rows]
        A = [[dot(r, inverse[j]) * (b[i] + b[j]) for j in range(len(rows))] for i, r in enumerate(rows)]
        for _ in range(40):
            impulse = [0.0] * len(rows)
            for first, mu in cones:
                impulse[first] = self.rng.choice([0.0, 1.0]) * self.rng.random()
                for j, m in enumerate(mu):
                    impulse[first + 1 + j] = impulse[first] * m * self.rng.choice([-1.0, 1.0, self.rng.uniform(-1, 1)]) / math.sqrt(len(mu))
            need(dot(impulse, [dot(row, impulse) for row in A]) >= -EPS * sum(x * x for x in impulse) * max(map(abs, itertools.chain(*A))), "impacts")

    # -- constant matrices: convex potentials, observability, linear systems ------------------------------------------------
    def constants(self):
        """The functions at a random state; Wrong if matrices, rows or friction differ at another one."""
        def matrices():
            q, u = self.random_point([(-3.0, 3.0)] * self.n), [self.rng.gauss(0, 1) for _ in range(self.n)]
            s = self.world.at(q, u)
            parts = [s[k] for k in ("M", "K", "C")] + [[s[e]["row"]] for e in self.names + [c["name"] for c in self.world.constraints]]
            for e in self.world.sliders:
                x = s[e["name"]]
                parts += [x["t"], [x["mu"]], [[x["load"]]]]
            return s, [x for part in parts for row in part for x in row]
        (s, first), (_, second) = matrices(), matrices()
        need(all(abs(a - b) <= 1e-9 * (1 + abs(a)) for a, b in zip(first, second)), "matrices are not constant")
        return s

    def slips(self, s):
        """Slip rows of sliders with the largest friction force and the number of rows."""
        sliders = [s[e["name"]] for e in self.world.sliders]
        return [(t, mu * x["load"], len(x["t"])) for x in sliders for t, mu in zip(x["t"], x["mu"])]

    def symmetric_damping(self, s):
        return [[(s["C"][a][b] + s["C"][b][a]) / 2 for b in range(self.n)] for a in range(self.n)]

    def regular(self, rows, n):
        """Whether the rows, which may have any size, span the space."""
        sizes = [max(map(abs, row)) for row in rows]
        rows = [[x / size for x in row] for row, size in zip(rows, sizes) if size]
        gram = [[sum(r[a] * r[b] for r in rows) for b in range(n)] for a in range(n)]
        return solve(gram, [1.0] * n) is not None

    def convex(self, claim):
        s = self.constants()
        need(all(lo == -math.inf and hi == math.inf for lo, hi in self.domain), "the domain is bounded")
        kappa, rows = number(claim["kappa"]), [s[c["name"]]["row"] for c in self.world.constraints]
        total = [[s["K"][a][b] + kappa * sum(r[a] * r[b] for r in rows) for b in range(self.n)] for a in range(self.n)]
        need(kappa >= 0 and not indefinite(total) and solve(total, [1.0] * self.n) is not None, "U is not convex")

    def observable(self, claim):
        """Velocities that no motion without dissipation can have: by the derivatives of C u = 0 along the free motion on the null space of B."""
        s = self.constants()
        need(not self.world.constraints and not indefinite(s["C"]) and all(s[n]["eN"] < 1 for n in self.names), "observability is not allowed")
        need(not any(map(self.world.has_friction, self.world.contacts)), "contacts have friction")
        given = {frozenset(c["closed"]): c["pivots"] for c in claim["cases"]}
        for size in range(len(self.names) + 1):
            for closed in itertools.combinations(self.names, size):
                need(frozenset(closed) in given, "the case %s is missing" % (closed,))
                pivots = given[frozenset(closed)]
                B = [s[e]["row"] for e in closed] + [t for t, force, _ in self.slips(s) if force > 0]
                free = [k for k in range(self.n) if k not in pivots]
                basis = []
                for e in free:
                    d = [float(k == e) for k in range(self.n)]
                    y = solve([[row[k] for k in pivots] for row in B], [-dot(row, d) for row in B])
                    need(y is not None, "pivots are singular")
                    for k, x in zip(pivots, y):
                        d[k] = x
                    basis.append(d)
                MA, KA = ([[dot(a, [dot(row, b) for row in s[k]]) for b in basis] for a in basis] for k in ("M", "K"))
                rows = current = [[dot(c, d) for d in basis] for c in s["C"]]
                columns = [solve(MA, column) for column in zip(*KA)]
                for _ in range(len(free) - 1):
                    current = [[dot(row, column) for column in columns] for row in current]
                    rows = rows + current
                need(not free or self.regular(rows, len(free)), "a velocity is not observable with %s closed" % (closed,))

    def linear_saddle(self, claim):
        s = self.constants()
        need(not self.names and not self.world.constraints and not self.world.clutches and self.reference == 0 and self.rho == math.inf, "the setting is not linear")
        need(all(lo == -math.inf and hi == math.inf for lo, hi in self.domain), "the domain is bounded")
        d = [number(x) for x in claim["direction"]]
        need(dot(d, [dot(row, d) for row in s["K"]]) < 0 and solve(s["K"], d) is not None, "negative stiffness")

    def friction(self, claim):
        """Friction takes more than the damping supplies, at all speeds of the level set. U is least at the stationary point."""
        s = self.constants()
        need(self.rho < math.inf and not indefinite(s["K"]), "friction bounds need a level")
        zero = self.world.at([0.0] * self.n)
        lowest = zero["U"] - self.reference - dot(zero["gradU"], solve(s["K"], zero["gradU"])) / 2
        for _ in range(200):
            u = [self.rng.gauss(0, 1) for _ in range(self.n)]
            size = math.sqrt(2 * (self.rho - lowest) / dot(u, [dot(row, u) for row in s["M"]])) * self.rng.choice([1, 0.5, 0.01])
            u = [size * x for x in u]
            power = -dot(u, self.world.at([0.0] * self.n, u)["nc"])
            for e in self.world.sliders:
                power += s[e["name"]]["load"] * self.world.friction(s[e["name"]], u)
            need(power > -EPS, "friction takes too little energy")

    # -- instability --------------------------------------------------------------------------------------------------------
    def stationary_point(self, claim):
        """Newton's method from the middle must end in the box."""
        names = [c["name"] for c in self.world.constraints]
        box = [(number(a), number(b)) for a, b in claim["box"] + claim["multipliers"]]
        x, n = [(a + b) / 2 for a, b in box], self.n
        for _ in range(30):
            s = self.world.at(x[:n])
            value = [g - sum(nu * s[c]["row"][k] for nu, c in zip(x[n:], names)) for k, g in enumerate(s["gradU"])] + [s[c]["gap"] for c in names]
            slopes = [[s["K"][a][b] - sum(nu * s[c]["hess"][a][b] for nu, c in zip(x[n:], names)) for b in range(n)] +
                      [-s[c]["row"][a] for c in names] for a in range(n)] + [s[c]["row"] + [0.0] * len(names) for c in names]
            step = solve(slopes, value)
            need(step is not None, "the stationary point is not regular")
            x = [a - b for a, b in zip(x, step)]
        need(all(lo - 1e-9 <= a <= hi + 1e-9 for a, (lo, hi) in zip(x, box)), "no stationary point in the box")
        need(all(lo <= a <= hi for a, (lo, hi) in zip(x, self.domain)) and s["U"] - self.reference < self.rho, "the stationary point is outside")

    def descent_leaf(self, claim, leaf, q, s, closed):
        constraints = [c["name"] for c in self.world.constraints]
        if leaf[0] == "unbalanced":
            return self.balance_leaf(leaf, q, s, closed)
        if leaf[0] == "separated":
            d = self.tangent(leaf[1], claim["pivots"], constraints, s)
            return need(dot(s["gradU"], d) < self.scale(s["gradU"], d), "U along a direction at %s" % q)
        entry, pivots = claim["saddles"][leaf[1]], claim["pivots"]
        inner = [(number(a), number(b)) for a, b in entry["N"]]
        need(all(lo - 1e-12 <= x <= hi + 1e-12 for x, (lo, hi) in zip(q, inner)), "a saddle leaf outside N")
        d = self.tangent(entry["direction"], pivots, constraints, s)
        nu = solve([[s[c]["row"][k] for c in constraints] for k in pivots], [s["gradU"][k] for k in pivots])
        curvature = sum(d[a] * d[b] * (s["K"][a][b] - sum(x * s[c]["hess"][a][b] for x, c in zip(nu, constraints)))
                        for a in range(self.n) for b in range(self.n))
        need(curvature < 0, "curvature of a saddle at %s" % q)

    def instability(self, conditions):
        need(list(conditions) == ["1", "2", "3", "4", "5", "6"] + (["10"] if self.world.rough else []), "conditions")
        need(self.rho < math.inf and all(map(math.isfinite, itertools.chain(*self.domain))), "the setting of instability")
        corners = [list(q) for q in itertools.islice(itertools.product(*self.domain), 64)] if self.names else []
        for q in corners + [self.random_point(self.domain) for _ in range(self.samples if self.names else 0)]:
            s = self.world.at(q)
            need(all(s[n]["gap"] > 0 for n in self.names), "a contact is closed in the domain at %s" % q)
        self.each(conditions["1"]["mass"]["tree"], self.domain, self.mass)
        self.stationary_point(conditions["2"]["stationary point"])
        self.dissipation(conditions["3"])
        self.each(conditions["4"]["losses"]["tree"], self.domain, self.loss_leaf)
        claim = conditions["5"]["descent"]
        self.each(claim["tree"], self.domain, lambda *a: self.descent_leaf(claim, *a))
        faces = conditions["6"]["isolated"]["faces"]
        need({(f["coordinate"], f["side"]) for f in faces} == set(itertools.product(range(self.n), ("low", "high"))), "a face is missing")
        level, self.rho = self.rho, math.inf
        for f in faces:
            k, x = f["coordinate"], self.domain[f["coordinate"]][f["side"] == "high"]
            self.each(f["tree"], self.domain[:k] + [(x, x)] + self.domain[k + 1:], self.face_leaf)
        self.rho = level

    def face_leaf(self, leaf, q, s, closed):
        need(leaf[0] == "unbalanced", "a leaf %s on a face" % leaf[0])
        self.balance_leaf(leaf, q, s, closed)

    # -- one mode ---------------------------------------------------------------------------------------------------------
    def mode_motion(self, x):
        """Accelerations, forces (element, is a normal force, value) and the functions of the model at a state of the mode."""
        s, n, states = self.world.at(x[:self.n], x[self.n:]), self.n, self.doc["setting"]["mode"]
        push, held = list(s["h"]), []
        elements = [(kind, e["name"]) for kind in ("contacts", "constraints", "sliders", "clutches") for e in getattr(self.world, kind)]
        for kind, name in elements:
            e, state = s[name], states.get(name, "free")
            sign = {"forwards": 1, "backwards": -1}.get(state, 0)
            friction = [-sign * e["mu"][0] * t for t in e["t"][0]] if sign and kind != "clutches" else [0.0] * n
            if kind == "sliders":
                push = [p + f * e["load"] for p, f in zip(push, friction)]
            elif kind == "constraints" or kind == "contacts" and state != "free":
                held.append((name, True, e["row"], [w + f for w, f in zip(e["row"], friction)], e["bend"]))
            if state == "sticks":
                held += [(name, False, t, t, bend) for t, bend in zip(e["t"], e["slip_bend"])]
        rows = [s["M"][a] + [-f[a] for *_, f, _ in held] for a in range(n)] + [list(w) + [0.0] * len(held) for _, _, w, _, _ in held]
        y = solve(rows, push + [-bend for *_, bend in held])
        need(y is not None, "the mode has no accelerations")
        return y[:n], [(name, normal, force) for (name, normal, *_), force in zip(held, y[n:])], s, held

    def mode(self, conditions):
        need(list(conditions) == ["1", "2", "3", "4"] and not self.closing, "conditions")
        need(self.rho == math.inf or self.doc["verdict"] == "attractive", "level")
        n, states, verdict = self.n, self.doc["setting"]["mode"], self.doc["verdict"]
        region = self.domain + [(number(a), number(b)) for a, b in self.doc["setting"]["velocities"]]
        need(all(map(math.isfinite, itertools.chain(*region))), "the region is not bounded")
        self.each(conditions["1"]["mass"]["tree"], self.domain, self.mass)
        for e in self.world.sliders:
            need(not self.world.has_friction(e) or e["name"] in states, "a slider has no state")
        need(not self.world.rough and all(c["name"] in states for c in self.world.clutches), "a constraint has friction, or a clutch no state")
        claim = conditions["2"]["mode equilibrium"]
        box = [(number(a), number(b)) for a, b in claim["box"]]
        q = [(a + b) / 2 for a, b in box]

        def residual(q):
            a, forces, s, held = self.mode_motion(q + [0.0] * n)
            return a + [s[name]["gap"] for name, normal, *_ in held if normal]
        free = [k for k in range(n) if k not in claim["fixed"]]
        for _ in range(8):
            r, step = residual(q), 1e-6
            slopes = [[(x - y) / step for x, y in zip(residual([z + step * (i == k) for i, z in enumerate(q)]), r)] for k in free]
            gram = [[dot(a, b) + (1e-13 if i == j else 0) for j, b in enumerate(slopes)] for i, a in enumerate(slopes)]
            y = solve(gram, [-dot(a, r) for a in slopes])
            need(y is not None, "the equilibrium is not regular")
            q = [z + (y[free.index(k)] if k in free else 0) for k, z in enumerate(q)]
        need(max(map(abs, residual(q))) < 1e-7, "there is no equilibrium near the box")
        need(all(lo - 1e-7 <= x <= hi + 1e-7 for x, (lo, hi) in zip(q, box)), "the equilibrium is outside of its box")
        need(all(lo < x < hi for x, (lo, hi) in zip(q + [0.0] * n, region)), "the equilibrium is outside of the region")
        claim = conditions["4"]["falls" if verdict == "attractive" else "grows"]
        P = [[number(x) for x in row] for row in claim["P"]]
        need(P == [list(c) for c in zip(*P)], "P is not symmetric")
        nu = number(claim.get("nu", "0x0p+0"))
        need(nu >= 0, "nu is negative")
        turning = set()
        for point in [q + [0.0] * n] + [self.random_point(region) for _ in range(self.samples)]:
            a, forces, s, held = self.mode_motion(point)
            for name in self.names:
                need(name in [x for x, *_ in forces] or s[name]["gap"] > 0, "an open gap is closed")
            locked = {c["name"] for c in self.world.clutches}
            for name, normal, force in forces:
                need(not (normal and name in self.names or name in locked) or force > 0, "a contact or clutch pulls")
            for name in {x for x, normal, _ in forces if not normal} - locked:
                bound = s[name]["load"] if s[name]["load"] is not None else next(f for x, normal, f in forces if x == name and normal)
                rub = [f for x, normal, f in forces if x == name and not normal]
                need(sum((f / m) ** 2 for f, m in zip(rub, s[name]["mu"])) < bound ** 2, "'%s' slips" % name)
                need(max(map(abs, self.world.at(point[:n])[name]["gamma"])) < EPS, "'%s' sticks to a surface that moves" % name)
            signs = {name: 1 if state == "forwards" else -1 for name, state in states.items() if state in ("forwards", "backwards")}
            turning |= {name for name, sign in signs.items() if sign * s[name]["gamma"][0] <= 0}
            if any(sign * s[name]["gamma"][0] < 0 for name, sign in signs.items()):
                continue
            columns = []
            for k in range(2 * n):
                step = 1e-6 * max(1e-3, region[k][1] - region[k][0])
                low, high = max(point[k] - step, region[k][0]), min(point[k] + step, region[k][1])      # beyond the region there may be a corner
                ends = [self.mode_motion([end if i == k else x for i, x in enumerate(point)])[0] for end in (low, high)]
                columns.append([float(k == n + i) for i in range(n)] + [(y - x) / (high - low) for x, y in zip(*ends)])
            PJ = [[dot(row, c) for c in columns] for row in P]
            S = [[PJ[i][j] + PJ[j][i] - 2 * nu * P[i][j] for j in range(2 * n)] for i in range(2 * n)]
            S = S if verdict == "unstable" else [[-x for x in row] for row in S]
            if verdict == "attractive":       # V falls along the surface of the closed gaps and constraints: make it large across
                size = 1e3 * max(abs(x) for row in S for x in row)
                for _, _, w, _, _ in held:
                    for across in (list(w) + [0.0] * n, [0.0] * n + list(w)):
                        S = [[x + size * across[i] * across[j] for j, x in enumerate(row)] for i, row in enumerate(S)]
            scale = max(abs(x) for row in S for x in row)
            need(not indefinite([[x + 1e-5 * scale * (i == j) for j, x in enumerate(row)] for i, row in enumerate(S)]), "V has the wrong rate")
        a, forces, s, held = self.mode_motion(q + [0.0] * n)
        if verdict == "attractive":
            closed = [name for name, normal, *_ in held if name in self.names]
            need(not turning and not indefinite(P) and len(closed) <= 1 and all(normal for _, normal, *_ in held), "V is not positive, or too much is held")
            for name in closed:
                x = s[name]
                need(0 <= x["eN"] < 1 and -1 < x["eT"] < 1, "restitution")
                across = solve(s["M"], x["row"])
                if not self.world.constraints:
                    need(dot(across, x["row"]) > x["mu"][0] * abs(dot(across, x["t"][0])) if x["t"] else True, "friction opens the contact")
            for k in range(2 * n if self.rho < math.inf else 0):
                z = solve(P, [float(i == k) for i in range(2 * n)])
                reach = math.sqrt(self.rho * z[k])
                lo, hi = (a - b for a, b in zip(region[k], ((q + [0.0] * n)[k],) * 2))
                need(reach <= min(-lo, hi) * (1 + 1e-6), "the level set leaves the region")
            return
        rows = [w for _, _, w, _, _ in held]
        d = []
        for values in (claim["position"], claim["velocity"]):
            v = dict(zip([k for k in range(n) if k not in claim["pivots"]], map(number, values)))
            v = [v.get(k, 0.0) for k in range(n)]
            for k, y in zip(claim["pivots"], solve([[row[k] for k in claim["pivots"]] for row in rows], [-dot(row, v) for row in rows]) or []):
                v[k] = y
            d += v
        need(dot(d, [dot(row, d) for row in P]) > 0, "V is not positive along the direction")
        need(len(claim["kappas"]) >= len(turning), "a slip that may turn has no kappa")
        for name in turning:
            sign = 1 if states[name] == "forwards" else -1
            need(abs(s[name]["gamma"][0]) < EPS, "a slip velocity changes its sign")
            need(sign * dot(s[name]["t"][0], v) > 0, "a contact slips in another direction")
            level = [number(k) for k in claim["kappas"]]
            slope = [0.0] * n + s[name]["t"][0]
            need(any(not indefinite([[k * slope[i] * slope[j] - P[i][j] for j in range(2 * n)] for i in range(2 * n)]) for k in level), "kappa")

    # -- functions of the state -------------------------------------------------------------------------------------------
    def function_at(self, q, u):
        """V (times -1 if it must grow) with its derivatives, and the functions of the model."""
        names = self.world.state(q, u)
        T, U = (self.world.jet(self.world.system.get(k, 0), names) for k in ("T", "U"))
        V = self.world.jet(self.doc["setting"]["V"], dict(names, T=T, U=U))
        return V * (1.0 if self.doc["verdict"] == "attractive" else -1.0), self.world.at(q, u)

    def function(self, conditions):
        n, attracts = self.n, self.doc["verdict"] == "attractive"
        region = self.domain + [(number(a), number(b)) for a, b in self.doc["setting"]["velocities"]]
        point = [number(x) for x in self.doc["setting"]["point"]]
        strict = len(set(conditions["3"]["decrease"]["along"])) == 2 * n
        ids = ["1", "2", "3"] + ["4"] * bool(self.names) + ["6"] + ["7"] * (attracts and not strict)
        need(list(conditions) == ids and self.reference == 0 and not self.closing, "conditions")
        need(all(lo < x < hi for x, (lo, hi) in zip(point + [0.0] * n, region)), "the point is not inside the region")
        level, self.rho = self.rho, math.inf
        self.each(conditions["1"]["mass"]["tree"], self.domain, self.mass)
        V_e, s_e = self.function_at(point, [0.0] * n)
        gradient = list(V_e.g)
        if attracts:
            for name, load in conditions["2"]["minimum of V"]["support"].items():
                row = s_e[name]["row"]
                load = V_e.g[load] / row[load] if isinstance(load, int) else number(load)
                need(load >= 0 and abs(s_e[name]["gap"]) < 1e-12, "a support")
                gradient = [g - load * (row[k] if k < n else 0) for k, g in enumerate(gradient)]
        else:
            d = [number(x) for x in conditions["2"]["saddle of V"]["direction"]]
            need(dot(d, [dot(row, d) for row in V_e.h]) < 0 and all(s_e[name]["gap"] > 0 for name in self.names), "V does not fall along the direction")
            need(max(map(abs, s_e["h"])) < 1e-9 and not self.world.constraints and not self.world.clutches, "the point is no equilibrium")
        need(max(map(abs, gradient)) < 1e-9 * (1 + max(map(abs, V_e.g))), "the gradient at the point")
        for k, side in enumerate(region) if attracts else ():
            for x in side:
                if math.isfinite(x):
                    self.above(region[:k] + [(x, x)] + region[k + 1:], V_e.v + level)
        for q, s, closed in [p for _ in range(3) for p in self.positions(self.domain)]:
            for _ in range(3):
                u = self.random_point(region[n:])
                V, s = self.function_at(q, u)
                size = sum((x - y) ** 2 for x, y in zip(q, point)) + dot(u, u)
                need(not attracts or V.v > V_e.v - EPS * (1 + abs(V_e.v)) or size < 1e-12, "V is not larger than at the point: %s" % q)
                y = solve(s["M"], V.g[n:])
                rate, scale = dot(V.g[:n], u) + dot(y, s["h"]), 1 + abs(dot(V.g[:n], u)) + abs(dot(y, s["h"]))
                need(rate <= 1e-7 * scale, "V grows along smooth motions at %s" % (q + u))
                self.powers(q, u, closed)
        if "4" in conditions:
            need(all(0 <= s_e[e]["eN"] < 1 and -1 < s_e[e]["eT"] < 1 for e in self.names), "restitution")
            self.each(conditions["4"]["dissipative impacts"]["tree"], self.domain,
                      lambda leaf, q, s, closed: self.impacts(leaf, q, s, closed, lambda row: self.factor(q, row)))
        if "equilibria" in conditions["6"]:
            for leaf, part in self.leaves(conditions["6"]["equilibria"]["tree"], self.domain):
                for q, s, closed in self.positions(part):
                    if leaf[0] == "below":
                        need(self.function_at(q, [0.0] * n)[0].v - V_e.v < level, "V at an equilibrium")
                    else:
                        need(leaf[0] == "unbalanced", "a leaf %s" % leaf[0])
                        self.balance_leaf(leaf, q, s, closed)
        else:
            need("no bound" not in conditions["6"] or level == math.inf, "the level")

    def above(self, box, level):
        for q, _, _ in self.positions(box[:self.n]):
            need(self.function_at(q, self.random_point(box[self.n:]))[0].v > level * (1 - EPS) - EPS, "V on the boundary")

    def factor(self, q, row):
        """The slope of row.M^-1 dV/du along row.u."""
        s = self.world.at(q)
        across = solve(s["M"], row)
        u = [x / dot(across, row) for x in across]           # row.u = 1
        values = [dot(row, solve(s["M"], self.function_at(q, v)[0].g[self.n:])) for v in ([0.0] * self.n, u)]
        return values[1] - values[0]

    def powers(self, q, u, closed):
        """Forces of the elements do not make V grow: contacts and clutches push where row.u = 0, friction acts against row.u."""
        def along(row, u):
            return dot(row, solve(self.world.at(q)["M"], self.function_at(q, u)[0].g[self.n:]))

        def kept(row):
            return [x - dot(row, u) * y / dot(row, row) for x, y in zip(u, row)]
        s = self.world.at(q)
        for name in closed + [c["name"] for c in self.world.clutches]:
            need(along(s[name]["row"], kept(s[name]["row"])) <= 1e-7, "'%s' makes V grow" % name)
        for c in self.world.constraints:
            need(abs(along(s[c["name"]]["row"], kept(s[c["name"]]["row"]))) <= 1e-7, "'%s' changes V" % c["name"])
        for e in [c for c in self.world.contacts if c["name"] in closed] + self.world.constraints + self.world.sliders:
            for t in s[e["name"]]["t"] if self.world.has_friction(e) else []:
                need(abs(along(t, kept(t))) <= 1e-7 and along(t, u) * dot(t, u) >= -1e-7, "friction of '%s' makes V grow" % e["name"])

    def dissipation(self, claims):
        if "friction" in claims:
            return self.friction(claims["friction"])
        for q, s, _ in self.positions(self.domain):
            for _ in range(4):
                u = [self.rng.gauss(0, 1) for _ in range(self.n)]
                need(dot(u, self.world.at(q, u)["nc"]) <= EPS, "damping supplies energy")
        need("no other force" not in claims or all(abs(x) < EPS for x in self.world.at([0.1] * self.n, [1.0] * self.n)["nc"]), "other forces")

    def asked(self, name):
        """Whether a condition is to be judged."""
        return self.only is None or name in self.only

    def run(self):
        doc, model = self.doc, self.doc["model"]
        need(hashlib.sha256(model["text"].encode()).hexdigest() == model["sha256"], "hash")
        need(doc["certified"] is True and doc["setting"]["coordinates"] == self.world.q, "setting")
        need(set(model["parameters"]) == set(tomllib.loads(model["text"]).get("parameters", {})), "parameters")
        conditions = {c["id"]: {x["kind"]: x for x in c["claims"]} for c in doc["conditions"]}
        for c in doc["conditions"]:
            assumption = {"attractivity": "9", "regulation": "2", "instability": "10", "function": "7"}.get(doc["theorem"])
            need((c["verdict"], c["certified"]) == (("assumed", False) if c["id"] == assumption else ("proved", True)), "grade of %s" % c["id"])
        self.doc_damping = bool({"linear damping", "separate damping"} & set(conditions.get("3", {})))
        for name, text in (tomllib.loads(model["text"]).get("parameters", {}) | model["overrides"]).items():
            value = eval(code(str(text)), dict(self.world.names))
            need(abs(value - self.world.names[name]) <= 1e-11 * abs(value), "the parameter %s has another value" % name)
        if doc["theorem"] == "equilibria":
            need(list(conditions) == ["form", "complete"] and self.rho == math.inf, "conditions")
            return self.each(conditions["complete"]["equilibria"]["tree"], self.domain, self.balance_leaf)
        need(doc["grade"] == "proved" and len(doc["assumptions"]) == len([c for c in doc["conditions"] if c["verdict"] == "assumed"]), "assumptions")
        if doc["theorem"] == "linear":
            need(doc["verdict"] == "unstable" and list(conditions) == ["1", "3", "4", "5"] and not self.closing, "conditions")
            self.linear_saddle(conditions["5"]["linear saddle"])
            self.each(conditions["1"]["mass"]["tree"], self.domain, self.mass)
            self.dissipation(conditions["3"])
            if "observable" in conditions["4"]:
                return self.observable(conditions["4"]["observable"])
            return self.each(conditions["4"]["losses"]["tree"], self.domain, self.loss_leaf)
        if doc["theorem"] == "function":
            need(doc["verdict"] in ("attractive", "unstable"), "verdict")
            return self.function(conditions)
        if doc["theorem"] == "one mode":
            need(doc["verdict"] in ("attractive", "unstable") and self.reference == 0, "verdict")
            return self.mode(conditions)
        if doc["theorem"] == "instability":
            need(doc["verdict"] == "unstable" and not self.closing, "verdict")
            return self.instability(conditions)
        contacts, regulation = bool(self.names), doc["theorem"] == "regulation"
        need(doc["theorem"] in ("attractivity", "regulation"), "theorem")
        stable = doc["verdict"] == "stable"
        need(stable and not regulation or doc["verdict"] == "attractive", "verdict")
        need(not (contacts and self.world.clutches), "impacts with clutches")
        if regulation:
            need(list(conditions) == ["law", "1", "3", "R8", "R6", "2"] and not self.closing, "conditions")
            self.doc_damping = True
            conditions = {"1": conditions["1"], "2": conditions["3"], "3": conditions["law"], "4": conditions["R6"], "R8": conditions["R8"]}
        else:
            expected = list("12367" if stable and contacts else "123" if stable else "123456789" if contacts else "123489")
            free = not contacts and not self.world.rough and not self.world.clutches
            expected = expected[:-1] if free and not stable and "9" not in conditions else expected
            need([k for k in conditions if k != "S"] == expected and ("S" in conditions) == bool(self.world.sliding), "conditions")
        if self.world.sliding:
            for q, s, _ in self.positions(self.domain):
                for e, sign in self.world.sliding:
                    jet = self.world.jet(e["gammaT"], self.world.state(q))
                    t, tau = jet.g[self.n:], max(0.0, self.rho - s["U"] + self.reference)
                    rubs = [self.world.jet(e[key], self.world.state(q)).v for key in ("mu", "FN")]
                    need(min(rubs) >= 0, "friction is negative")
                    need(sign * jet.v > 0, "a slider does not slide at rest")
                    if 2 * tau * dot(t, solve(s["M"], t)) < jet.v ** 2 * (1 + EPS):
                        continue
                    need(not contacts, "a slider may stop")        # friction that is not negative takes energy then
                    for part in (-1.0, -0.5, 0.0, 0.5, 1.0):
                        state = self.world.state(q, [part * math.sqrt(2 * min(tau, 1e6)) * x for x in solve(s["M"], t)])
                        need(self.world.jet(e["FN"], state).v >= 0 and self.world.jet(e["mu"], state).v >= 0, "friction of a slider is negative")
        self.only = None if regulation else self.only
        if self.asked("1"):
            self.each(conditions["1"]["mass"]["tree"], self.domain, self.mass)
        two = conditions["2"]
        if "convex" in two:
            self.convex(two["convex"])
            two = {"faces": {"faces": []}, "bounded": {"tree": ["level"]}, "stationary": None, "point": two["point"]}
        ends = {(k, s) for k, side in enumerate(self.domain) for s, x in zip(("low", "high"), side) if math.isfinite(x)}
        need({(f["coordinate"], f["side"]) for f in two["faces"]["faces"]} == ends, "a face is missing")
        for f in two["faces"]["faces"] if self.asked("2") else []:
            k, x = f["coordinate"], self.domain[f["coordinate"]][f["side"] == "high"]
            self.each(f["tree"], self.domain[:k] + [(x, x)] + self.domain[k + 1:], lambda *_: need(False, "a face"))
        if "bounded" in two:
            for leaf, box in self.leaves(two["bounded"]["tree"], self.domain):
                need(leaf[0] != "bounded" or all(map(math.isfinite, itertools.chain(*box))), "an unbounded leaf")
        if self.asked("2") and two["stationary"]:
            self.each(two["stationary"]["tree"], self.domain, lambda *a: self.stationary(two["stationary"], *a))
        point = [(number(a), number(b)) for a, b in two["point"]["box"]]
        s = self.world.at([(a + b) / 2 for a, b in point])
        need(s["U"] - self.reference < self.rho and all(s[n]["gap"] >= -1e-9 for n in self.names), "the point")
        need(all(lo <= a and b <= hi for (a, b), (lo, hi) in zip(point, self.domain)), "the point is outside")
        if self.asked("3"):
            self.dissipation(conditions["3"])
        losses = "5" if contacts and not regulation else "4"
        if stable:
            pass
        elif "friction" in conditions[losses]:
            self.friction(conditions[losses]["friction"])
        elif "observable" in conditions[losses]:
            self.observable(conditions[losses]["observable"])
        elif self.asked(losses) or self.asked("3"):
            self.each(conditions[losses]["losses"]["tree"], self.domain, self.loss_leaf, self.closing)
        if regulation:
            return need(all(0 <= s[n]["eN"] <= 1 for n in self.names) and not any(map(self.world.has_friction, self.world.contacts)), "impacts")
        if contacts:
            if self.closing and self.asked("4") and not stable:
                self.each(conditions["4"]["closing"]["tree"], self.domain, self.closing_leaf)
            coefficients = [s[c["name"]]["eN"] for c in self.world.contacts] + [s[c["name"]]["eT"] for c in self.world.contacts if self.world.has_friction(c)]
            need(all(s[n]["eN"] >= 0 for n in self.names) and all(-1 < x < 1 or stable and abs(x) <= 1 for x in coefficients), "restitution")
            if "dissipative impacts" in conditions["7"]:
                if self.asked("7"):
                    self.each(conditions["7"]["dissipative impacts"]["tree"], self.domain, self.impacts)
            elif "equal restitution" in conditions["7"]:
                need(len(set(coefficients)) == 1, "equal restitution")
            else:
                need(not any(self.world.has_friction(c) for c in self.world.contacts), "frictionless")
        if self.rho < math.inf and self.asked("8") and not stable:
            self.each(conditions["8"]["equilibria"]["tree"], self.domain, self.balance_leaf)


def violation(document, seed=1, samples=12, original=None):
    """A false claim in words, or None if none was found. original: a right document; only conditions that differ are judged."""
    try:
        only = None
        if original and original["setting"] == document["setting"] and original["model"] == document["model"]:
            only = {a["id"] for a, b in zip(document["conditions"], original["conditions"]) if a != b}
        Judge(json.loads(json.dumps(document)), seed, samples, only).run()
    except Wrong as e:
        return str(e)
    except (ZeroDivisionError, OverflowError):
        return None      # a term such as 0/x or 0*x^1e6, which the checker leaves out by its form: samples cannot judge it
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, NameError, SyntaxError) as e:
        return "the judge cannot read the document: %r" % e
    return None
