// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/base/text.hpp"
#include "saltus/integrate/mode/dynamics.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"

/// Models of a few coordinates whose motions have closed forms, and states for them. Masses are 1 kg unless said
/// otherwise, gravity is 10 m/s².
namespace saltus::integrate::test {

inline model::Model model_of(const std::string& text) { return model::build(io::parse_model(text, "test"), {}); }

/// A state (q, u, work) with work 0.
inline std::vector<double> state(std::vector<double> q, const std::vector<double>& u) {
    q.insert(q.end(), u.begin(), u.end());
    q.push_back(0.0);
    return q;
}

/// A block on a floor: x along it, y its height. `force` is what pushes it along x and y.
inline model::Model block_on_floor(double mu, const std::string& force_x = "0", const std::string& force_y = "0",
                                   double e = 0.0) {
    return model_of("[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"10*y\"\nf = { x = \"" + force_x +
                    "\", y = \"" + force_y + "\" }\n[[contact]]\nname = \"floor\"\ngN = \"y\"\ngammaT = \"x'\"\nmu = " +
                    number_text(mu) + "\neN = " + number_text(e) + "\n");
}

/// A block on a floor that slips in a plane: x, y along it, z its height.
inline model::Model block_on_plane(double mu) {
    return model_of(R"toml(
[system]
q = ["x", "y", "z"]
T = "(x'^2 + y'^2 + z'^2)/2"
U = "10*z"
[[contact]]
name = "floor"
gN = "z"
gammaT = ["x'", "y'"]
mu = )toml" + number_text(mu) +
                    "\n");
}

/// A block on a rail, y = 0, with friction; `force_y` pushes it across the rail.
inline model::Model block_on_rail(double mu, const std::string& force_y) {
    return model_of("[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nf = { y = \"" + force_y +
                    "\" }\n[[constraint]]\nname = \"rail\"\ng = \"y\"\ngammaT = \"x'\"\nmu = " + number_text(mu) +
                    "\n");
}

/// Two balls above a floor, y1 and y2.
inline model::Model two_balls(double e = 0.0) {
    return model_of(R"toml(
[system]
q = ["y1", "y2"]
T = "(y1'^2 + y2'^2)/2"
U = "10*(y1 + y2)"
[[contact]]
name = "first"
gN = "y1"
eN = )toml" + number_text(e) +
                    R"toml(
[[contact]]
name = "second"
gN = "y2"
eN = )toml" + number_text(e) +
                    "\n");
}

/// Two rotors with one-way clutches, and no forces.
inline model::Model two_clutches() {
    return model_of(R"toml(
[system]
q = ["a", "b"]
T = "(a'^2 + b'^2)/2"
[[clutch]]
name = "first"
gamma = "a'"
[[clutch]]
name = "second"
gamma = "b'"
)toml");
}

/// The mode in force, with one element active or not.
inline SystemMode with_active(const Dynamics& d, std::size_t element, bool active = true) {
    SystemMode mode = d.mode();
    mode.elements[element].active = active;
    return mode;
}

/// The mode in force, with an element active and its friction part slipping along a direction.
inline SystemMode with_slip(const Dynamics& d, std::size_t element, const SlipDirection& direction) {
    SystemMode mode = with_active(d, element);
    mode.parts[static_cast<std::size_t>(d.elements()[element].first_part)] = {true, direction};
    return mode;
}

}  // namespace saltus::integrate::test
