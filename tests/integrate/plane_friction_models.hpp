// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

/// Models with friction in planes and with Poisson's impact law, for the lanes and the kernels of Moreau's scheme.
namespace saltus::integrate::test {

struct PlaneFrictionModel {
    const char* name;
    std::string text;
    double spread;
};

inline std::vector<PlaneFrictionModel> plane_friction_models() {
    // A plate on three feet, which turns about all axes. Its feet share their friction.
    const auto plate = [](const std::string& law) {
        std::string text = R"toml(
[system]
q = ["x", "y", "z", "a", "b", "c"]
T = "(x'^2 + y'^2 + z'^2)/2 + 0.02*(a'^2 + b'^2) + 0.04*c'^2"
U = "9.81*z + x^2"
f = { y = "3*sin(5*t)", c = "0.3*cos(3*t)" }
[initial]
q = { x = 0.2, z = 0.3 }
u = { x = 1.0, y = -0.5, c = 2.0 }
[simulate]
t_end = 1
)toml";
        const char* const places[][2] = {{"0.3", "0.0"}, {"-0.2", "0.25"}, {"-0.2", "-0.25"}};
        for (int i = 0; i < 3; ++i) {
            const std::string px = places[i][0], py = places[i][1];
            text += "[[contact]]\nname = \"foot" + std::to_string(i) + "\"\ngN = \"z + (" + px + ")*sin(b) + (" + py +
                    ")*sin(a)\"\ngammaT = [\"x' - (" + py + ")*c'\", \"y' + (" + px + ")*c'\"]\n" + law;
        }
        return text;
    };
    const std::string rod = R"toml(
[system]
q = ["x", "y", "phi"]
T = "(x'^2 + y'^2)/2 + 0.05*phi'^2"
U = "9.81*y + 2*x^2"
[[contact]]
name = "left"
gN = "y - 0.4*sin(phi)"
gammaT = "x' + 0.4*phi'*sin(phi)"
mu = 0.3
eN = 0.6
eT = 0.2
impact = "poisson"
[[contact]]
name = "right"
gN = "y + 0.4*sin(phi)"
eN = 0.5
impact = "poisson"
[initial]
q = { x = 0.1, y = 0.5, phi = 0.2 }
[simulate]
t_end = 1
)toml";
    return {
        {"plate", plate("mu = 0.3\neN = 0.4\neT = 0.1\n"), 0.1},
        {"plate by Poisson's law", plate("mu = 0.25\neN = 0.5\nimpact = \"poisson\"\n"), 0.1},
        {"rod by Poisson's law", rod, 0.2},
        {"sliders in a plane", R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + 2*y'^2)/2 + 0.3*x'*y'"
U = "3*x^2 + 2*(y - x)^2"
[[slider]]
name = "table"
gammaT = ["x' - 0.5", "y'"]
mu = 0.4
FN = 2.0
[[slider]]
name = "rail"
gammaT = "x' + y'"
mu = 0.2
FN = "1 + x^2"
[initial]
q = { x = 1.0 }
[simulate]
t_end = 3
)toml",
         0.5},
        {"orthotropic friction", R"toml(
[system]
q = ["x", "y", "z"]
T = "(x'^2 + y'^2 + z'^2)/2"
U = "9.81*z + 4*x^2 + 6*y^2"
[[contact]]
name = "floor"
gN = "z"
gammaT = ["x'", "y'"]
mu = [0.2, 0.5]
eN = 0.3
[[contact]]
name = "wall"
gN = "0.4 - x"
gammaT = ["y'", "z'"]
mu = 0.3
eN = 0.7
[initial]
q = { x = 0.3, y = 0.2, z = 0.2 }
u = { x = 1.0 }
[simulate]
t_end = 2
)toml",
         0.2},
        {"friction of a surface", R"toml(
[system]
q = ["x", "y", "z"]
T = "(x'^2 + y'^2 + z'^2)/2"
U = "9.81*z"
[[constraint]]
name = "bowl"
g = "z - (x^2 + 2*y^2)/2"
gammaT = ["x'", "y'"]
mu = 0.1
[initial]
q = { x = 0.5, y = 0.3, z = 0.215 }
u = { y = 1.0, z = 0.6 }
[simulate]
t_end = 2
)toml",
         0.2},
    };
}

}  // namespace saltus::integrate::test
