# SPDX-License-Identifier: Apache-2.0
"""Models whose certificates have kinds of claims that no shipped model needs: linear systems, damped pendulums,
steady sliding, clutches, functions of the state."""
import examples

BLOCK = """[system]
name = "block on a spring"
q = ["x"]
T = "1/2*x'^2"
U = "2*(x - 1)^2"
R = "0*x'^2"
[[slider]]
name = "ground"
gammaT = "x'"
mu = 0.5
FN = 10.0
"""

CHAIN = """[system]
name = "chain"
q = ["x", "y"]
T = "1/2*x'^2 + 1/2*y'^2"
U = "1/2*x^2 + 1/2*(x - y)^2"
R = "1/4*y'^2"
"""

PENDULUM = """[system]
name = "inverted pendulum"
q = ["phi"]
T = "1/2*phi'^2"
U = "cos(phi)"
R = "1/10*phi'^2"
"""

BELT = """[system]
name = "block on a belt"
q = ["x"]
T = "1/2*x'^2"
U = "1/2*x^2"
R = "7/10*x'^2"
[[slider]]
name = "belt"
gammaT = "x' - 0.2"
mu = 1.0
FN = "1/(1 + delta*abs(x' - 0.2))"
[parameters]
delta = 3.0
"""

FORCE = """[system]
name = "spring as a force"
q = ["x"]
T = "1/2*x'^2"
f = { x = "-k*x - x'/5" }
[parameters]
k = 2.0
"""

HOLLOW = """[system]
name = "block in a hollow"
q = ["x", "y"]
T = "x'^2/2 + y'^2/2"
U = "2*x^2 + 9.81*y"
[[contact]]
name = "floor"
gN = "y - x^2/10"
gammaT = "x'"
mu = 0.3
eN = 0.4
"""

# Its gaps close together where a checker with sharper enclosures sees only one of them.
BAR = """[system]
name = "bar on two ends"
q=["x","y","phi"]
T="x'^2/2 + y'^2/2 + 0.203*phi'^2/2"
U="2.158*x^2 + 9.81*y + 2.951*phi^2"
[[contact]]
name="l"
gN="y - 0.5*sin(phi)"
gammaT="x'"
mu=0.212
eN=0.01
eT=0
[[contact]]
name="r"
gN="y + 0.5*sin(phi)"
gammaT="x'"
mu=0.306
eN=0.051
eT=0
"""

TEXTS = {
    "hollow": HOLLOW,
    "hump": HOLLOW.replace("y - x^2/10", "y - sqrt(1+x^2)/3.818").replace("2*x^2", "2.469*x^2").replace("mu = 0.3", "mu = 0.117").replace(
        "[[contact]]", "R = \"0.009*x'^2\"\n[[contact]]"),
    "bar": BAR,
    "linear-rank": BLOCK,
    "linear-friction": BLOCK.replace("0*x'^2", "-1/4*x'^2"),
    "linear-unstable": BLOCK.replace("2*(x - 1)^2", "-2*(x - 1)^2"),
    "linear-observable": CHAIN,
    "inverted-pendulum": PENDULUM,
    "inverted-pendulum-between-stops": PENDULUM + """[[contact]]
name = "stop"
gN = "1 - phi^2"
eN = 0.5
""",
    "cubic-damping": PENDULUM.replace("inverted pendulum", "cubic damping").replace("cos(phi)", "phi^4/4 + phi^2/2").replace(
        "1/10*phi'^2", "phi'^4/10"),
    "drag": PENDULUM.replace("inverted pendulum", "drag").replace("cos(phi)", "phi^4/4 + phi^2/2").replace(
        "R = \"1/10*phi'^2\"", "f = { phi = \"-abs(phi')*phi'/10\" }"),
    "belt-attractive": BELT,
    "belt-unstable": BELT.replace("7/10", "1/2"),
    "quartic-spring": PENDULUM.replace("inverted pendulum", "quartic spring").replace("cos(phi)", "phi^4/4 + phi^2/2"),
    "conveyor": examples.CONVEYOR,
    "sliding-block": examples.SLIDING_BLOCK,
    "ratchet": examples.RATCHET,
    "slanted-block": examples.SLANTED,
}
# Models for a function --V, and the function
FUNCTIONS = {
    "spring-as-force": (FORCE, "T+k/2*x^2"),
    "spring": (examples.SPRING, "T+U+x*x'/10"),
    "saddle": (examples.SPRING.replace("k = 1.0", "k = -1.0").replace("c = 0.5", "c = 0.0"), "x*x'"),
    "two-blocks": (examples.TWO_BLOCKS, "m/2*(x'^2+y'^2)+k/2*x^2+m*g*y+3*(M/2*z'^2+k/2*z^2)"),
}
