# SPDX-License-Identifier: Apache-2.0
"""Certificates that were written by hand, for tests of tools/check_certificate."""
import copy
import hashlib
import tomllib

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
    assumed = {"attractivity": "9", "regulation": "2", "instability": "10"}.get(theorem)
    rows = [{"id": name, "text": "condition " + name, "verdict": "assumed" if name == assumed else "proved", "certified": name != assumed, "why": "",
             "claims": claims} for name, claims in conditions.items()]
    return {"format": "saltus certificate", "version": 1, "program": "by hand", "theorem": theorem, "basis": basis,
            "model": {"name": "example", "text": text, "sha256": hashlib.sha256(text.encode()).hexdigest(), "overrides": overrides or {},
                      "parameters": {k: h(v) for k, v in parameters.items()}},
            "statement": "", "verdict": verdict, "grade": "proved", "certified": True,
            "assumptions": [ASSUMPTION] if assumed in conditions else [], "setting": setting,
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


def cubic_pendulum():
    """The pendulum with the damping force -c phi'^3."""
    result = changed(pendulum(), "c/2*phi'^2", "c/4*phi'^4")
    row = next(c for c in result["conditions"] if c["id"] == "3")
    row["claims"] = [{"kind": "separate damping", "tree": split(0, 0.25, ["opposes"], ["opposes"])}]
    return result


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
    return document(ARM, "regulation", "Theorem 5", setting, conditions, {"I": 0.05, "Kp": 1.0, "Kv": 0.1, "q0": 0.5, "e": 1.0})


def whole_space(names, level=INF):
    return {"coordinates": names, "domain": box(*[(-INF, INF)] * len(names)), "reference": h(0), "level": h(level), "I_C": []}


FLEXIBLE_ARM = """
[system]
q = ["q1", "q2"]
T = "m1/2*q1'^2 + m2/2*q2'^2"
U = "k/2*(q1 - q2)^2"

[parameters]
m1 = 1.0
m2 = 1.0
k = 4.0
Kp = 8.0
Kv = 1.5
e = 0.5

[[contact]]
name = "wall"
gN = "q2 - 0.5"
eN = "e"

[control]
actuated = ["q1"]
Kp = "Kp"
Kv = "Kv"
reference = { q1 = 0.0 }
"""


def flexible_arm():
    """Only one of two masses is controlled. The spring between them shows every motion of the other to the damping of the controller."""
    cases = [{"closed": [], "pivots": [], "weights": numbers(1, 1, 1, 1)}, {"closed": ["wall"], "pivots": [1], "weights": numbers(1, 1)}]
    conditions = {
        "law": [{"kind": "linear damping", "tree": ["semidefinite"]}],
        "1": [{"kind": "form"}, {"kind": "mass", "tree": ["definite"]}],
        "3": [{"kind": "convex", "kappa": h(0)}, {"kind": "point", "box": box((1, 1), (1, 1))}],
        "R8": [{"kind": "passive impacts"}],
        "R6": [{"kind": "observable", "cases": cases}],
        "2": []}
    return document(FLEXIBLE_ARM, "regulation", "Theorem 5 with Remark 6", whole_space(["q1", "q2"]), conditions,
                    {"m1": 1.0, "m2": 1.0, "k": 4.0, "Kp": 8.0, "Kv": 1.5, "e": 0.5})


def convex_block():
    """The falling block with a second spring: U is quadratic and convex, so that condition 2 needs no trees."""
    result = changed(falling_block(INF), "m*g*y", "m*g*y + 2*y^2")
    rows = {c["id"]: c for c in result["conditions"]}
    rows["2"]["claims"] = [{"kind": "convex", "kappa": h(0)}, {"kind": "point", "box": box((0, 0), (0.25, 0.25))}]
    for name in "45":
        rows[name]["claims"][0]["tree"] = split(1, -0.25, ["gap", "floor"], rows[name]["claims"][0]["tree"])
    return result


OSCILLATOR = """
[system]
q = ["x"]
T = "m/2*x'^2"
U = "k/2*(x - 1)^2"
R = "c/2*x'^2"

[parameters]
m = 1.0
k = 4.0
c = 0.5
mu = 0.5
FN = 2.0

[[slider]]
name = "ground"
gammaT = "x'"
mu = "mu"
FN = "FN"
"""


def oscillator(k=4.0, c=0.5, level=INF):
    """A mass on a spring, with a damper and dry friction. c < 0: friction takes what the damper supplies, below the level."""
    conditions = {"1": [{"kind": "form"}, {"kind": "mass", "tree": ["definite"]}]}
    damping, rank = [{"kind": "linear damping", "tree": ["semidefinite"]}], {"loaded": [], "by": "rank", "weights": numbers(1, 1)}
    losses = [{"kind": "losses", "tree": ["loads", [rank]]}]
    if k <= 0:
        conditions |= {"3": damping, "4": losses, "5": [{"kind": "linear saddle", "direction": numbers(1)}]}
    else:
        conditions["2"] = [{"kind": "convex", "kappa": h(0)}, {"kind": "point", "box": box((1.0, 1.0))}]
        friction = [{"kind": "friction", "bounds": numbers(1.5)}]
        conditions |= {"3": damping if c >= 0 else friction, "4": losses if c >= 0 else friction}
        away = [["unbalanced", [{"signs": [], "d": numbers(d)}]] for d in (-1, 1)]
        tree = split(0, 0.5, away[0], split(0, 1.5, ["below"], away[1]))
        conditions["8"] = [{"kind": "no bound"} if level == INF else {"kind": "equilibria", "tree": tree}]
    text = OSCILLATOR.replace("k = 4.0", "k = %r" % k).replace("c = 0.5", "c = %r" % c)
    return document(text, "linear" if k <= 0 else "attractivity", "", whole_space(["x"], level), conditions, {"m": 1.0, "k": k, "c": c, "mu": 0.5, "FN": 2.0},
                    verdict="attractive" if k > 0 else "unstable")


PAIR = """
[system]
q = ["x", "y"]
T = "m/2*x'^2 + m/2*y'^2"
U = "k/2*x^2 + s/2*(x - y)^2 + k*y^2"
R = "c/2*x'^2"

[parameters]
m = 1.0
k = 2.0
s = 1.0
c = 0.5
"""


def damped_pair():
    """Two masses and one damper, which sees the motion of both because the masses are coupled by a spring."""
    conditions = {"1": [{"kind": "form"}, {"kind": "mass", "tree": ["definite"]}],
                  "2": [{"kind": "convex", "kappa": h(0)}, {"kind": "point", "box": box((0, 0), (0, 0))}],
                  "3": [{"kind": "linear damping", "tree": ["semidefinite"]}],
                  "4": [{"kind": "observable", "cases": [{"closed": [], "pivots": [], "weights": numbers(1, 1, 1, 1)}]}],
                  "8": [{"kind": "no bound"}]}
    return document(PAIR, "attractivity", "", whole_space(["x", "y"]), conditions, {"m": 1.0, "k": 2.0, "s": 1.0, "c": 0.5})


INVERTED = """
[system]
q = ["x"]
T = "J/2*x'^2"
U = "G*cos(x)"

[parameters]
J = 1.0
G = 1.0
mu = 0.25
FN = 1.0

[[slider]]
name = "joint"
gammaT = "x'"
mu = "mu"
FN = "FN"
"""


def inverted_pendulum():
    """A pendulum that stands upside down with friction in its joint: it can rest where |sin x| <= 1/4, and this set is unstable."""
    setting = {"coordinates": ["x"], "domain": box((-1, 1)), "reference": h(1), "level": h(0.5), "I_C": []}
    falls = [["unbalanced", [{"signs": [], "d": numbers(d)}]] for d in (1, -1)]
    tree = split(0, -0.5, falls[0], split(0, 0.5, ["saddle", 0], ["separated", numbers(1)]))
    conditions = {
        "1": [{"kind": "form"}, {"kind": "mass", "tree": ["definite"]}],
        "2": [{"kind": "stationary point", "box": box((-0.125, 0.125)), "multipliers": [], "preconditioner": [numbers(-1)]}],
        "3": [{"kind": "no other force"}],
        "4": [{"kind": "losses", "tree": ["loads", [{"loaded": [], "by": "rank", "weights": numbers(1)}]]}],
        "5": [{"kind": "descent", "pivots": [], "saddles": [{"N": box((-0.5, 0.5)), "direction": numbers(1)}], "tree": tree}],
        "6": [{"kind": "isolated", "faces": [{"coordinate": 0, "side": side, "tree": leaf} for side, leaf in zip(("low", "high"), falls)]}]}
    return document(INVERTED, "instability", "Theorem 2", setting, conditions, {"J": 1.0, "G": 1.0, "mu": 0.25, "FN": 1.0}, verdict="unstable")


BEAD = """
[system]
q = ["x", "y"]
T = "m/2*(x'^2 + y'^2)"
U = "m*g*y"
R = "c/2*(x'^2 + y'^2)"

[parameters]
m = 1.0
g = 8.0
c = 0.5

[[constraint]]
name = "ring"
g = "(x^2 + y^2 - 1)/2"
"""


def bead():
    """A bead at the top of a ring, with damping: the only equilibrium with y > 1/2 is unstable."""
    setting = {"coordinates": ["x", "y"], "domain": box((-0.5, 0.5), (0.5, 1.5)), "reference": h(8), "level": h(1), "I_C": []}
    near = box((-0.015625, 0.015625), (0.984375, 1.015625))

    def face(k, side, tree):
        return {"coordinate": k, "side": side, "tree": tree}

    def slides(d):
        return ["unbalanced", [{"signs": [], "d": numbers(d), "pivots": [1]}]]
    conditions = {
        "1": [{"kind": "form"}, {"kind": "mass", "tree": ["definite"]}],
        "2": [{"kind": "stationary point", "box": near, "multipliers": box((7.5, 8.5)),
               "preconditioner": [numbers(-0.125, 0, 0), numbers(0, 0, 1), numbers(0, -1, -8)]}],
        "3": [{"kind": "linear damping", "tree": ["semidefinite"]}],
        "4": [{"kind": "losses", "tree": ["loads", [{"loaded": [], "by": "rank", "weights": numbers(1, 1, 1)}]]}],
        "5": [{"kind": "descent", "pivots": [1], "saddles": [{"N": setting["domain"], "direction": numbers(1)}], "tree": ["saddle", 0]}],
        "6": [{"kind": "isolated", "faces": [face(0, "low", slides(1)), face(0, "high", slides(-1)), face(1, "low", ["constraint", "ring"]),
                                             face(1, "high", ["constraint", "ring"])]}]}
    return document(BEAD, "instability", "Theorem 2", setting, conditions, {"m": 1.0, "g": 8.0, "c": 0.5}, verdict="unstable")


def drag_pendulum():
    """The pendulum with quadratic drag -c |phi'| phi'."""
    result = changed(cubic_pendulum(), "c/4*phi'^4", "c/3*abs(phi')^3")
    return changed(result, "R = \"c/3*abs(phi')^3\"", "f = { phi = \"-c*abs(phi')*phi'\" }")


SPRING_IN_F = """
[system]
q = ["x"]
T = "m/2*x'^2"
f = { x = "-k*x - c*x'" }

[parameters]
m = 1.0
k = 4.0
c = 0.5
"""


def own_energy(factor=1.0):
    """A spring that is written as a force. The energy is given as a text, with a factor."""
    setting = {"coordinates": ["x"], "domain": box((-INF, INF)), "reference": h(0), "level": "inf", "I_C": [],
               "V": "%r*T + %r*k/2*x^2" % (factor, factor), "factor": h(factor)}
    conditions = {
        "1": [{"kind": "form"}, {"kind": "mass", "tree": ["definite"]}],
        "2": [{"kind": "convex", "kappa": h(0)}, {"kind": "point", "box": box((0.5, 0.5))}],
        "3": [{"kind": "linear damping", "tree": ["semidefinite"]}],
        "4": [{"kind": "losses", "tree": ["loads", [{"loaded": [], "by": "rank", "weights": numbers(1)}]]}],
        "8": [{"kind": "no bound"}],
        "9": []}
    return document(SPRING_IN_F, "attractivity", "Corollary 3", setting, conditions, {"m": 1.0, "k": 4.0, "c": 0.5})


def one_mode(text, parameters, mode, region, equilibrium, claim, verdict="unstable"):
    """region: box of positions and box of velocities. equilibrium: box, forces, fixed coordinates, preconditioner."""
    domain, velocities = region
    setting = {"coordinates": [], "domain": domain, "velocities": velocities, "mode": mode, "reference": h(0), "level": "inf", "I_C": []}
    place, forces, fixed, Z = equilibrium
    conditions = {
        "1": [{"kind": "form"}, {"kind": "mass", "tree": ["definite"]}],
        "2": [{"kind": "mode equilibrium", "box": place, "forces": forces, "fixed": fixed, "preconditioner": [numbers(*row) for row in Z]}],
        "3": [{"kind": "laws"}],
        "4": [claim]}
    result = document(text, "one mode", "Lyapunov's first method", setting, conditions, parameters, verdict=verdict)
    setting["coordinates"] = tomllib.loads(text)["system"]["q"]
    return result


BELT = """
[system]
q = ["x"]
T = "m/2*x'^2"
U = "k/2*x^2"
R = "c/2*x'^2"

[parameters]
m = 1.0
k = 1.0
c = 0.0
delta = 3.0
v = 0.2

[[slider]]
name = "belt"
gammaT = "x' - v"
mu = 1.0
FN = "1/(1 + delta*abs(x' - v))"
"""


def belt(c=0.0):
    """A block on a belt, friction weakens with the speed: steady sliding at x = 0.625 is unstable if c < 1.171875, else attractive.
    z = (x - 0.625, x') has z' = (x', -x + d x') with d = 1.171875 - c; V = a x^2 + 2 b x x' + e x'^2 is made such that V' = s (x^2 + x'^2)."""
    d = 1.171875 - c
    s = 1 if d > 0 else -1
    b = -s / 2
    e = (s - 2 * b) / (2 * d)
    P = [numbers(e - b * d, b), numbers(b, e)]
    claim = {"kind": "grows", "P": P, "nu": h(0), "kappas": [], "pivots": [], "position": numbers(1), "velocity": numbers(1)} if d > 0 else {"kind": "falls", "P": P, "kappa": h(0)}
    return one_mode(BELT.replace("c = 0.0", "c = %r" % c), {"m": 1.0, "k": 1.0, "c": c, "delta": 3.0, "v": 0.2}, {"belt": "backwards"},
                    (box((0.615, 0.635)), box((-0.01, 0.01))), (box((0.6249, 0.6251)), [], [], [[1.0]]), claim, "unstable" if d > 0 else "attractive")


HILL = """
[system]
q = ["x", "y"]
T = "m/2*(x'^2 + y'^2)"
U = "m*g*y - k/2*x^2"

[parameters]
m = 1.0
g = 8.0
k = 1.0
mu = 0.25

[[contact]]
name = "floor"
gN = "y"
gammaT = "x'"
mu = "mu"
"""
HILL_PARAMETERS = {"m": 1.0, "g": 8.0, "k": 1.0, "mu": 0.25}


def hill():
    """A block on a rough floor that a force kx pushes away: it rests for |x| <= 2, and slips away from the end x = 2, z'' = z.
    With a = (z + z')/2 and b = (z - z')/2 it is V = a^2 - 4 b^2 - y^2 - 4 y'^2 and V' - V = a^2 + 12 b^2 + (y, y')[[1, -1], [-1, 4]](y, y')."""
    P = [numbers(-0.75, 0, 1.25, 0), numbers(0, -1, 0, 0), numbers(1.25, 0, -0.75, 0), numbers(0, 0, 0, -4)]
    claim = {"kind": "grows", "P": P, "nu": h(0.5), "kappas": numbers(4), "pivots": [1], "position": numbers(1), "velocity": numbers(1)}
    return one_mode(HILL, HILL_PARAMETERS, {"floor": "forwards"}, (box((1.5, 2.5), (-0.5, 0.5)), box((-0.5, 0.5), (-0.5, 0.5))),
                    (box((1.75, 2.25), (-0.25, 0.25)), box((7.5, 8.5)), [], [[-1, -0.25, 0], [0, 0, 1], [0, -1, 0]]), claim)


STICKING_ROD = """
[system]
q = ["x", "y", "phi"]
T = "m/2*(x'^2 + y'^2) + J/2*phi'^2"
U = "m*g*y"

[parameters]
m = 1.0
J = 1.0
g = 4.0
l = 1.0
mu = 0.5

[[contact]]
name = "foot"
gN = "y - l*cos(phi)"
gammaT = "x' + l*cos(phi)*phi'"
mu = "mu"
"""
ROD_PARAMETERS = {"m": 1.0, "J": 1.0, "g": 4.0, "l": 1.0, "mu": 0.5}


def sticking_rod():
    """A rod that stands on its foot, which sticks: (J + m l^2) phi'' = m g l sin(phi), so that z = phi grows with the rate sqrt(2) along
    (x, y, phi) = (-1, 0, 1). It is unstable at every x; the certificate takes x = 0."""
    result = one_mode(STICKING_ROD, ROD_PARAMETERS, {"foot": "sticks"},
                      (box(*[(-2.0 ** -8, 2.0 ** -8), (1 - 2.0 ** -8, 1 + 2.0 ** -8), (-2.0 ** -8, 2.0 ** -8)]), box(*[(-2.0 ** -8, 2.0 ** -8)] * 3)),
                      (box((0, 0), (1 - 2.0 ** -12, 1 + 2.0 ** -12), (-2.0 ** -12, 2.0 ** -12)), box((3.99, 4.01), (-0.01, 0.01)), [0],
                       [[0, 0, 0, 1], [0.25, 0, -0.25, 0], [0, -1, 0, 0], [-1, 0, 0, 0]]), rod_claim())
    return result


def rod_claim():
    """The Jacobian has the rows x'' = -2 phi, y'' = 0, phi'' = 2 phi. V = a^2 - b^2/2 - ... with a, b = phi sqrt(2) +- phi'."""
    r = 2 ** 0.5
    P = [[0.0] * 6 for _ in range(6)]

    def add(row, weight):
        for i, x in enumerate(row):
            for j, y in enumerate(row):
                P[i][j] += weight * x * y
    # Modes: phi' + r phi grows with r, phi' - r phi falls with r; x + phi and y move with constant velocities.
    add([0, 0, r, 0, 0, 1], 1.0)
    add([0, 0, r, 0, 0, -1], -1.0)
    add([1, 0, 1, 0, 0, 0], -1.0)
    add([0, 0, 0, 1, 0, 1], -4.0)
    add([0, 1, 0, 0, 0, 0], -1.0)
    add([0, 0, 0, 0, 1, 0], -4.0)
    P = [[(P[i][j] + P[j][i]) / 2 for j in range(6)] for i in range(6)]
    return {"kind": "grows", "P": [numbers(*row) for row in P], "nu": h(0.5), "kappas": [], "pivots": [1, 0], "position": numbers(1), "velocity": numbers(r)}


CONVEYOR = """
[system]
q = ["x", "y"]
T = "m/2*(x'^2 + y'^2)"
U = "k/2*x^2 + m*g*y"
R = "c/2*x'^2"

[parameters]
m = 1.0
k = 4.0
g = 8.0
c = 1.0
mu = 0.25
v = 1.0
eN = 0.5

[[contact]]
name = "belt"
gN = "y"
gammaT = "x' - v"
mu = "mu"
eN = "eN"
"""
CONVEYOR_PARAMETERS = {"m": 1.0, "k": 4.0, "g": 8.0, "c": 1.0, "mu": 0.25, "v": 1.0, "eN": 0.5}


def conveyor():
    """A block on a conveyor is dragged to x = mu m g/k = 0.5 and rests there while the belt slides: z = x - 0.5 has z'' = -4 z - z'. With
    V = 4.5 z^2 + z z' + z'^2 + y^2 + y'^2 it is V' = -4 z^2 - z'^2 while the contact is closed, y = y' = 0."""
    P = [numbers(4.5, 0, 0.5, 0), numbers(0, 1, 0, 0), numbers(0.5, 0, 1, 0), numbers(0, 0, 0, 1)]
    result = one_mode(CONVEYOR, CONVEYOR_PARAMETERS, {"belt": "backwards"}, (box((0, 1), (-0.5, 0.5)), box((-0.5, 0.5), (-0.5, 0.5))),
                      (box((0.4375, 0.5625), (-0.0625, 0.0625)), box((7.5, 8.5)), [], [[0.25, -0.0625, 0], [0, 0, 1], [0, -1, 0]]),
                      {"kind": "falls", "P": P, "kappa": h(4)}, "attractive")
    result["setting"]["level"] = h(0.125)       # z^2 < 0.125/4.25 and z'^2 < 0.125*4.5/4.25 are inside of the region
    return result


def sliding_block(level=0.4, reach=0.75):
    """A block on a belt with constant friction slides for ever while T + 2(x - 0.5)^2 < 0.4 < v^2/2: friction is a part of the potential energy.
    Above this level the slip may turn round, and friction then takes more energy."""
    text, ends = SLIDING_BLOCK, (0.5 - reach, 0.5 + reach)
    setting = {"coordinates": ["x"], "domain": box(ends), "reference": h(-0.5), "level": h(level), "I_C": [], "sliding": {"belt": "backwards"}}
    slides = split(0, 0.5, split(0, 0.4375, ["slides"], ["slides"]), split(0, 0.5625, ["slides"], ["slides"]))
    conditions = {
        "1": [{"kind": "form"}, {"kind": "mass", "tree": ["definite"]}],
        "S": [{"kind": "sliding", "tree": slides if level < 0.5 else ["takes energy"]}],
        "2": [{"kind": "faces", "faces": [{"coordinate": 0, "side": side, "tree": ["level"]} for side in ("low", "high")]},
              {"kind": "bounded", "tree": ["bounded"]},
              {"kind": "stationary", "N": box(ends), "pivots": [], "tree": ["local"]},
              {"kind": "unique", "N": box(ends), "pivots": [], "closed": [], "qualification": [], "kappa": h(0)},
              {"kind": "point", "box": box((0.5, 0.5))}],
        "3": [{"kind": "linear damping", "tree": ["semidefinite"]}],
        "4": [{"kind": "losses", "tree": ["loads", [{"loaded": [], "by": "rank", "weights": numbers(1)}]]}],
        "8": [{"kind": "equilibria", "tree": split(0, 0.25, ["unbalanced", [{"signs": [], "d": numbers(-1)}]], split(0, 0.75, ["below"],
                                                   ["unbalanced", [{"signs": [], "d": numbers(1)}]]))}],
        "9": []}
    return document(text, "attractivity", "Corollary 3, steady sliding", setting, conditions, {"k": 4.0, "c": 0.5, "F": 2.0, "v": 1.0})


SLIDING_BLOCK = """
[system]
q = ["x"]
T = "x'^2/2"
U = "k/2*x^2"
R = "c/2*x'^2"

[parameters]
k = 4.0
c = 0.5
F = 2.0
v = 1.0

[[slider]]
name = "belt"
gammaT = "x' - v"
mu = 1.0
FN = "F"
"""


def belt_equilibria():
    """Sliding friction 2 holds the block on the belt at x = 0.5 alone, although up to 2 could hold it for |x| <= 0.5."""
    setting = {"coordinates": ["x"], "domain": box((-INF, INF)), "reference": h(0), "level": "inf", "I_C": [], "sets": [box((0.25, 0.75))]}
    tree = split(0, 0.25, ["unbalanced", [{"signs": [], "d": numbers(-1)}]], split(0, 0.75, ["listed", 0], ["unbalanced", [{"signs": [], "d": numbers(1)}]]))
    return document(SLIDING_BLOCK, "equilibria", "", setting, {"form": [{"kind": "form"}], "complete": [{"kind": "equilibria", "tree": tree}]},
                    {"k": 4.0, "c": 0.5, "F": 2.0, "v": 1.0}, verdict="complete")


RATCHET = """
[system]
q = ["x"]
T = "x'^2/2"
U = "k/2*x^2"
R = "c/2*x'^2"

[parameters]
k = 4.0
c = 0.5

[[clutch]]
name = "ratchet"
gamma = "x'"
"""


def ratchet():
    """A spring with a ratchet that only lets x grow: all x >= 0 are equilibria, without end, and they attract everything."""
    conditions = {"1": [{"kind": "form"}, {"kind": "mass", "tree": ["definite"]}],
                  "2": [{"kind": "convex", "kappa": h(0)}, {"kind": "point", "box": box((0, 0))}],
                  "3": [{"kind": "linear damping", "tree": ["semidefinite"]}],
                  "4": [{"kind": "losses", "tree": ["loads", [{"loaded": [], "by": "rank", "weights": numbers(1)}]]}],
                  "8": [{"kind": "no bound"}],
                  "9": []}
    return document(RATCHET, "attractivity", "Corollary 3", whole_space(["x"]), conditions, {"k": 4.0, "c": 0.5})


def ratchet_equilibria():
    """The ratchet holds x >= 0 only: a spring that is pressed drives it on."""
    setting = {"coordinates": ["x"], "domain": box((-INF, INF)), "reference": h(0), "level": "inf", "I_C": [], "sets": [box((-0.125, INF))]}
    tree = split(0, -0.125, ["unbalanced", [{"signs": [], "d": numbers(-1)}]], ["listed", 0])
    return document(RATCHET, "equilibria", "", setting, {"form": [{"kind": "form"}], "complete": [{"kind": "equilibria", "tree": tree}]},
                    {"k": 4.0, "c": 0.5}, verdict="complete")


def elastic_block():
    """The falling block with eN = 1 and without friction is stable, although it never rests."""
    result = changed(falling_block(), "eN = 0.5", "eN = 1.0", {"eN": 1.0})
    result = changed(result, "mu = 0.3", "mu = 0.0", {"mu": 0.0})
    rows = {c["id"]: c for c in result["conditions"]}
    rows["7"]["claims"] = [{"kind": "dissipative impacts", "tree": ["definite"]}]
    result.update(verdict="stable", assumptions=[], conditions=[rows[k] for k in "12367"])
    result["setting"]["I_C"] = []
    return result


def slanted_block(eT=-0.75, mu=0.125):
    """The text of a block whose inertia couples x' and y': D = [[1, -0.8], [-0.8, 1]]. With eN = 0 and eT = -0.75, b_N = 1 and b_T = 7, the form of the
    impulses is 2 N^2 - 12.8 N T + 14 T^2, which is negative for T/N between 0.2 and 0.714, and positive in a cone with mu < 0.2."""
    return SLANTED.replace("eT = -0.75", "eT = %r" % eT).replace("mu = 0.125", "mu = %r" % mu)


SLANTED = """
[system]
q = ["x", "y"]
T = "(x'^2 + 1.6*x'*y' + y'^2)/0.72"
U = "m*g*y + k/2*x^2"

[parameters]
m = 1.0
g = 9.81
k = 10.0
mu = 0.125
eT = -0.75

[[contact]]
name = "floor"
gN = "y"
gammaT = "x'"
mu = "mu"
eT = "eT"
"""


def function(text, V, point, conditions, parameters, region=None, level=INF, verdict="attractive"):
    """A certificate with a function V of the state. region: boxes of positions and velocities, or everything."""
    names = tomllib.loads(text)["system"]["q"]
    everything = box(*[(-INF, INF)] * len(names))
    positions, velocities = region or (everything, everything)
    setting = {"coordinates": names, "domain": positions, "velocities": velocities, "reference": h(0), "level": h(level), "I_C": [], "V": V,
               "point": numbers(*point)}
    first = {"1": [{"kind": "form"}, {"kind": "mass", "tree": ["definite"]}]}
    result = document(text, "function", "Lyapunov's method", setting, first | conditions, parameters, verdict=verdict)
    for row in result["conditions"]:
        if row["id"] == "7":
            row.update(verdict="assumed", certified=False)
            result["assumptions"] = [ASSUMPTION]
    return result


SPRING = """
[system]
q = ["x"]
T = "m/2*x'^2"
U = "k/2*x^2"
R = "c/2*x'^2"

[parameters]
m = 1.0
k = 1.0
c = 0.5
"""
SPRING_PARAMETERS = {"m": 1.0, "k": 1.0, "c": 0.5}


def cross_term():
    """V = T + U + x x'/10 falls strictly: V' = -0.4 x'^2 - 0.05 x x' - 0.1 x^2."""
    return function(SPRING, "T + U + x*x'/10", [0], {
        "2": [{"kind": "minimum of V", "support": {}, "kappa": h(0), "tree": ["definite"]}, {"kind": "boundary", "faces": []}],
        "3": [{"kind": "decrease", "along": [0, 1], "tree": ["falls", numbers(1)]}],
        "6": []}, SPRING_PARAMETERS)


def cross_term_in_a_box():
    """The same function in a box, with a level."""
    sides = [{"coordinate": k, "side": side, "tree": ["above"]} for k in range(2) for side in ("low", "high")]
    return function(SPRING, "T + U + x*x'/10", [0], {
        "2": [{"kind": "minimum of V", "support": {}, "kappa": h(0), "tree": split(0, 0.25, ["definite"], ["definite"])},
              {"kind": "boundary", "faces": sides}],
        "3": [{"kind": "decrease", "along": [0, 1], "tree": split(1, 0, ["falls", numbers(1)], ["falls", numbers(1)])}],
        "6": []}, SPRING_PARAMETERS, (box((-1, 1)), box((-1, 1))), 0.375)


def stopped_spring():
    """The function of cross_term with a stop at x = -1/4: its force changes V at the rate force*(x' + x/10), which is not positive where it touches."""
    result = cross_term()
    result = changed(result, SPRING, SPRING + '\n[[contact]]\nname = "stop"\ngN = "x + 0.25"\neN = 0.5\n')
    row = {"id": "4", "text": "", "verdict": "proved", "certified": True, "why": "",
           "claims": [{"kind": "restitution"}, {"kind": "dissipative impacts", "tree": ["definite"]}]}
    result["conditions"].insert(3, row)
    return result


def growing_function():
    """V = x x' grows at a saddle: V' = x'^2 + x^2."""
    text = SPRING.replace("k = 1.0", "k = -1.0").replace("c = 0.5", "c = 0.0")
    return function(text, "x*x'", [0], {
        "2": [{"kind": "saddle of V", "direction": numbers(1, 1)}],
        "3": [{"kind": "decrease", "along": [0, 1], "tree": ["falls", numbers(1)]}],
        "6": []}, {"m": 1.0, "k": -1.0, "c": 0.0}, verdict="unstable")


def driven_spring():
    """Negative damping: T + U grows unless the mass rests, and only x = 0 is an equilibrium."""
    return function(SPRING.replace("c = 0.5", "c = -0.5"), "T + U", [0], {
        "2": [{"kind": "saddle of V", "direction": numbers(1, 0)}],
        "3": [{"kind": "decrease", "along": [1], "tree": ["falls", numbers(1)]}],
        "6": [{"kind": "lone"}]}, SPRING_PARAMETERS | {"c": -0.5}, verdict="unstable")


TWO_BLOCKS = """
[system]
q = ["x", "y", "z"]
T = "m/2*(x'^2 + y'^2) + M/2*z'^2"
U = "k/2*x^2 + m*g*y + k/2*z^2"
R = "c/2*(x'^2 + y'^2 + z'^2)"

[parameters]
m = 1.0
M = 2.0
k = 4.0
g = 8.0
c = 0.5
mu = 0.25
eN = 0.5
eT = 0.0

[[contact]]
name = "floor"
gN = "y"
gammaT = "x'"
mu = "mu"
eN = "eN"
eT = "eT"

[[contact]]
name = "stop"
gN = "z + 1"
eN = "eN"

[[slider]]
name = "ground"
gammaT = "z'"
mu = "mu"
FN = 2.0
"""
TWO_BLOCKS_PARAMETERS = {"m": 1.0, "M": 2.0, "k": 4.0, "g": 8.0, "c": 0.5, "mu": 0.25, "eN": 0.5, "eT": 0.0}


def weighted_energies():
    """The energies of two blocks with factors 1 and 3. One rests on a rough floor, the other rubs and has a stop."""
    V = "m/2*(x'^2 + y'^2) + k/2*x^2 + m*g*y + 3*(M/2*z'^2 + k/2*z^2)"
    return function(TWO_BLOCKS, V, [0, 0, 0], {
        "2": [{"kind": "minimum of V", "support": {"floor": 1}, "kappa": h(1), "tree": ["definite"]}, {"kind": "boundary", "faces": []}],
        "3": [{"kind": "decrease", "along": [3, 4, 5], "tree": split(1, -1, ["gap", "floor"], ["falls", numbers(1, 1, 1, 1)])}],
        "4": [{"kind": "restitution"}, {"kind": "dissipative impacts", "tree": split(1, -1, ["gap", "floor"], ["definite"])}],
        "6": [{"kind": "no bound"}],
        "7": []}, TWO_BLOCKS_PARAMETERS)


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
    return [falling_block(), falling_block(INF), pendulum(), block_equilibria(), arm(), flexible_arm(), convex_block(), oscillator(),
            oscillator(c=-0.5, level=1.0), oscillator(k=-4.0), damped_pair(), inverted_pendulum(), bead(),
            cubic_pendulum(), drag_pendulum(), own_energy(), own_energy(3.0), belt(), belt(1.4), hill(), sticking_rod(), conveyor(), sliding_block(), sliding_block(4.0, 1.75),
            belt_equilibria(), ratchet(), ratchet_equilibria(), elastic_block(), cross_term(), cross_term_in_a_box(), stopped_spring(), growing_function(), driven_spring(),
            weighted_energies()]
