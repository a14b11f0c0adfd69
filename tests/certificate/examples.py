# SPDX-License-Identifier: Apache-2.0
"""Certificates that were written by hand, for tests of tools/check_certificate."""
import copy
import hashlib

INF = float("inf")


def h(x):
    return "inf" if x == INF else "-inf" if x == -INF else float(x).hex()


def box(*sides):
    return [[h(lo), h(hi)] for lo, hi in sides]


def split(axis, point, low, high):
    return ["split", axis, h(point), low, high]


def numbers(*values):
    return [h(v) for v in values]


ASSUMPTION = "limit sets in the level set are positively invariant"


def document(text, theorem, basis, setting, conditions, parameters, overrides=None, verdict="attractive"):
    rows = [{"id": name, "text": "condition " + name, "verdict": "assumed" if name == "9" else "proved", "certified": name != "9", "why": "",
             "claims": claims} for name, claims in conditions.items()]
    return {"format": "saltus certificate", "version": 1, "program": "by hand", "theorem": theorem, "basis": basis,
            "model": {"name": "example", "text": text, "sha256": hashlib.sha256(text.encode()).hexdigest(), "overrides": overrides or {},
                      "parameters": {k: h(v) for k, v in parameters.items()}},
            "statement": "", "verdict": verdict, "grade": "proved", "certified": True,
            "assumptions": [ASSUMPTION] if theorem == "attractivity" else [], "setting": setting,
            "conditions": rows}


FALLING_BLOCK = """
[system]
name = "falling block"
q = ["x", "y"]
T = "m/2*(x'^2 + y'^2)"
U = "k/2*x^2 + m*g*y"

[parameters]
m = 1.0
k = 10.0
g = 9.81
mu = 0.3
eN = 0.5
eT = 0.0

[[contact]]
name = "floor"
gN = "y"
gammaT = "x'"
mu = "mu"
eN = "eN"
eT = "eT"
"""
BLOCK_PARAMETERS = {"m": 1.0, "k": 10.0, "g": 9.81, "mu": 0.3, "eN": 0.5, "eT": 0.0}


def entry(gap, closed, d, beta=0, sigma=0, signs=()):
    return {"gap": gap, "closed": closed, "signs": list(signs), "d": numbers(*d), "beta": h(beta), "sigma": h(sigma)}


def falling_block(level=20.0):
    """A block that falls on a rough floor and is tied to a wall: E is |x| <= 0.2943, y = 0, and attracts below V = level."""
    infinite = level == INF
    setting = {"coordinates": ["x", "y"], "domain": box((-INF, INF), (-INF, INF)) if infinite else box((-4, 4), (-0.25, 5)),
               "reference": h(0), "level": h(level), "I_C": ["floor"]}
    near = box((-1, 1), (-0.25, 0.75))

    def blocked(tree):
        """With unbounded sides the half plane below the floor is left out first."""
        return split(1, -0.25, ["gap", "floor"], tree) if infinite else tree

    faces = [] if infinite else [
        {"coordinate": 0, "side": "low", "tree": ["level"]}, {"coordinate": 0, "side": "high", "tree": ["level"]},
        {"coordinate": 1, "side": "low", "tree": ["gap", "floor"]}, {"coordinate": 1, "side": "high", "tree": ["level"]}]
    sides = [{"coordinate": 0, "side": "low", "at": h(-1), "tree": ["rises"]}, {"coordinate": 0, "side": "high", "at": h(1), "tree": ["rises"]},
             {"coordinate": 1, "side": "low", "at": h(-0.25), "tree": ["gap", "floor"]},
             {"coordinate": 1, "side": "high", "at": h(1), "tree": ["rises"]}]
    stationary = blocked(split(1, 0.5, split(0, 0.5, split(0, -0.5, ["separated", numbers(1, 0.25)], ["local"]), ["separated", numbers(-1, 0.25)]),
                               ["separated", numbers(0, -1)]))
    unbalanced = split(1, 0.5, split(0, 0.5, split(0, -0.5, ["unbalanced", [{"signs": [], "d": numbers(-1, -0.4)}]], ["below"]),
                                     ["unbalanced", [{"signs": [], "d": numbers(1, -0.4)}]]),
                       ["unbalanced", [{"signs": [], "d": numbers(0, 1)}]])
    cases = [{"loaded": ["floor"], "by": "rank", "weights": numbers(1, 1)},
             {"loaded": [], "by": "load", "entries": [entry(None, ["floor"], [1])]}]
    conditions = {
        "1": [{"kind": "form"}, {"kind": "mass", "tree": ["definite"]}],
        "2": [{"kind": "faces", "faces": faces},
              {"kind": "growth", "sides": sides} if infinite else {"kind": "bounded", "tree": ["bounded"]},
              {"kind": "stationary", "N": near, "pivots": [], "tree": stationary},
              {"kind": "unique", "N": near, "pivots": [], "closed": [{"gap": "floor", "direction": numbers(0, -1)}],
               "qualification": numbers(0, 1), "kappa": h(1)},
              {"kind": "point", "box": box((0, 0), (0.25, 0.25))}],
        "3": [{"kind": "no other force"}],
        "4": [{"kind": "closing", "tree": ["accelerations", [entry("floor", [], [1])]]}],
        "5": [{"kind": "losses", "tree": ["loads", cases]}],
        "6": [{"kind": "restitution"}],
        "7": [{"kind": "dissipative impacts", "tree": ["definite"]}],
        "8": [{"kind": "no bound"}] if infinite else [{"kind": "equilibria", "tree": unbalanced}],
        "9": [],
    }
    return document(FALLING_BLOCK, "attractivity", "Corollary 2", setting, conditions, BLOCK_PARAMETERS)


PENDULUM = """
[system]
q = ["phi"]
T = "J/2*phi'^2"
U = "-G*cos(phi)"
R = "c/2*phi'^2"

[parameters]
J = 2.0
G = 3.0
c = 0.5
"""


def pendulum():
    """A damped pendulum: phi = 0 attracts below V = 5 between -2.5 and 2.5 (V = 6 at the upper position)."""
    setting = {"coordinates": ["phi"], "domain": box((-2.5, 2.5)), "reference": h(-3), "level": h(5), "I_C": []}
    faces = [{"coordinate": 0, "side": side, "tree": ["level"]} for side in ("low", "high")]
    stationary = split(0, 0.5, split(0, -0.5, ["separated", numbers(1)], ["local"]), ["separated", numbers(-1)])
    conditions = {
        "1": [{"kind": "form"}, {"kind": "mass", "tree": ["definite"]}],
        "2": [{"kind": "faces", "faces": faces}, {"kind": "bounded", "tree": ["bounded"]},
              {"kind": "stationary", "N": box((-1, 1)), "pivots": [], "tree": stationary},
              {"kind": "unique", "N": box((-1, 1)), "pivots": [], "closed": [], "qualification": [], "kappa": h(0)},
              {"kind": "point", "box": box((0, 0))}],
        "3": [{"kind": "linear damping", "tree": ["semidefinite"]}],
        "4": [{"kind": "losses", "tree": ["loads", [{"loaded": [], "by": "rank", "weights": numbers(1)}]]}],
        "8": [{"kind": "equilibria", "tree": split(0, 1, split(0, -1, ["unbalanced", [{"signs": [], "d": numbers(-1)}]], ["below"]),
                                                  ["unbalanced", [{"signs": [], "d": numbers(1)}]])}],
        "9": [],
    }
    return document(PENDULUM, "attractivity", "Corollary 3", setting, conditions, {"J": 2.0, "G": 3.0, "c": 0.5})


def block_equilibria():
    """All equilibria of the falling block with |x| <= 4, -1 <= y <= 5 lie in |x| <= 0.5, |y| <= 0.5."""
    setting = {"coordinates": ["x", "y"], "domain": box((-4, 4), (-1, 5)), "reference": h(0), "level": "inf", "I_C": [],
               "sets": [box((-0.5, 0.5), (-0.5, 0.5))]}
    tree = split(1, 0.5, split(1, -0.5, ["gap", "floor"], split(
        0, 0.5, split(0, -0.5, ["unbalanced", [{"signs": [], "d": numbers(-1, -0.4)}]], ["listed", 0]),
        ["unbalanced", [{"signs": [], "d": numbers(1, -0.4)}]])), ["unbalanced", [{"signs": [], "d": numbers(0, 1)}]])
    return document(FALLING_BLOCK, "equilibria", "", setting, {"form": [{"kind": "form"}], "complete": [{"kind": "equilibria", "tree": tree}]},
                    BLOCK_PARAMETERS, verdict="complete")


ARM = """
[system]
q = ["q"]
T = "I/2*q'^2"

[parameters]
I = 0.05
Kp = 1.0
Kv = 0.1
q0 = 0.5
e = 1.0

[[contact]]
name = "stop"
gN = "q - q0"
eN = "e"
impact = "energy"

[control]
actuated = ["q"]
Kp = "Kp"
Kv = "Kv"
"""


def arm():
    """A controlled arm that wants to reach q = 0 and meets a stop at q = 0.5: it ends there, although it bounces without loss."""
    setting = {"coordinates": ["q"], "domain": box((-INF, INF)), "reference": h(0.125), "level": "inf", "I_C": []}
    sides = [{"coordinate": 0, "side": "low", "at": h(0.25), "tree": ["gap", "stop"]}, {"coordinate": 0, "side": "high", "at": h(1), "tree": ["rises"]}]
    near = box((0.25, 1))
    conditions = {
        "law": [{"kind": "linear damping", "tree": ["semidefinite"]}],
        "1": [{"kind": "form"}, {"kind": "mass", "tree": ["definite"]}],
        "3": [{"kind": "faces", "faces": []}, {"kind": "growth", "sides": sides},
              {"kind": "stationary", "N": near, "pivots": [], "tree": split(0, 0.25, ["gap", "stop"], split(0, 0.75, ["local"], ["separated", numbers(-1)]))},
              {"kind": "unique", "N": near, "pivots": [], "closed": [{"gap": "stop", "direction": numbers(-1)}], "qualification": numbers(1), "kappa": h(0)},
              {"kind": "point", "box": box((0.75, 0.75))}],
        "R8": [{"kind": "passive impacts"}],
        "R6": [{"kind": "losses", "tree": ["loads", [{"loaded": [], "by": "rank", "weights": numbers(1)}]]}],
        "2": [],
    }
    result = document(ARM, "regulation", "Theorem 5", setting, conditions, {"I": 0.05, "Kp": 1.0, "Kv": 0.1, "q0": 0.5, "e": 1.0})
    result["conditions"][-1].update(verdict="assumed", certified=False)
    result["assumptions"] = ["motions exist, are unique, and depend continuously on their start"]
    return result


def changed(certificate, old, new, parameters=None):
    """The certificate with another model: `old` is replaced by `new` in the text, with the right hash."""
    result = copy.deepcopy(certificate)
    model = result["model"]
    assert old in model["text"], old
    model["text"] = model["text"].replace(old, new)
    model["sha256"] = hashlib.sha256(model["text"].encode()).hexdigest()
    model["parameters"].update({k: h(v) for k, v in (parameters or {}).items()})
    return result


def all_examples():
    return [falling_block(), falling_block(INF), pendulum(), block_equilibria(), arm()]
