# SPDX-License-Identifier: Apache-2.0
"""Models whose certificates have kinds of claims that no shipped model needs: linear systems, damped pendulums."""

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

TEXTS = {
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
    "quartic-spring": PENDULUM.replace("inverted pendulum", "quartic spring").replace("cos(phi)", "phi^4/4 + phi^2/2"),
}
