// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "reference/reference.hpp"
#include "saltus/base/text.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/sensitivity/pair/pair.hpp"

/// The small cases of the reference with closed forms: a bead on a line that meets or leaves a wall, two masses of
/// which one leaves it. tests/reference/hydrostatic-skeleton.md describes them.
namespace saltus::test {

/// The values of one small case: "C1" the bead collides, "L1" it lifts off, "L2" two masses, "R" the rod.
inline reference::Value analytic(const char* name) { return reference::file("alscher")["analytic"][name]; }

/// "h0 + h1*t + h2/2*t^2"
inline std::string parabola(const std::array<double, 3>& c) {
    return number_text(c[0]) + " + (" + number_text(c[1]) + ")*t + (" + number_text(c[2]) + ")/2*t^2";
}

struct Bump {
    double dx0 = 0.0, du0 = 0.0;
    std::array<double, 2> delta{};
    std::array<double, 3> eta{}, theta{};
};

inline Bump scaled(Bump b, double eps) {
    b.dx0 *= eps, b.du0 *= eps;
    for (double& v : b.delta) v *= eps;
    for (double& v : b.eta) v *= eps;
    for (double& v : b.theta) v *= eps;
    return b;
}

inline const Bump collision_bump{0.02, -0.03, {0.05, -0.04}, {0.01, 0.02, -0.03}, {0.015, -0.02, 0.04}};

/// The same, starting on the obstacle.
inline Bump on_the_wall(Bump b) {
    b.dx0 = b.theta[0], b.du0 = b.theta[1];
    return b;
}

struct Bead {
    std::string force = "-3", x0 = "1", u0 = "-2";
    std::string contact = "gN = \"x\"";
    std::string more;   // further tables
    std::string theta;  // instead of the bump's parabola
};

inline const Bead falling_bead{};
inline const Bead pressed_bead{"-4*(1 - t/0.8)", "0", "0", "gN = \"x\"", "", ""};

inline std::string bead_text(const Bead& bead, const Bump& b) {
    const std::string theta = bead.theta.empty() ? parabola(b.theta) : bead.theta;
    return "[system]\nname = \"bead on a line\"\nq = [\"x\", \"y\"]\nT = \"m/2*(x'^2 + y'^2)\"\nf = { x = \"" +
           bead.force + "\" }\n[parameters]\nm = 1.0\nbeta = 0.5\na = 0.0\nb = 1.0\n" +
           "[[constraint]]\nname = \"line\"\ng = \"y - beta*x\"\n[[contact]]\nname = \"wall\"\n" + bead.contact + "\n" +
           bead.more + "[initial]\nq = { x = \"" + bead.x0 + "\", y = \"beta*(" + bead.x0 + ")\" }\nu = { x = \"" +
           bead.u0 + "\", y = \"beta*(" + bead.u0 + ")\" }\n[perturbation]\ndelta = { x = " + number_text(b.delta[0]) +
           ", y = " + number_text(b.delta[1]) + " }\neta = { line = \"" + parabola(b.eta) +
           "\" }\ntheta = { wall = \"" + theta + "\" }\ninitial = { q = { x = " + number_text(b.dx0) +
           ", y = \"beta*(" + number_text(b.dx0) + ") + " + number_text(b.eta[0]) +
           "\" }, u = { x = " + number_text(b.du0) + ", y = \"beta*(" + number_text(b.du0) + ") + " +
           number_text(b.eta[1]) + "\" } }\n";
}

inline sensitivity::PairOptions tight_pair(double t_end, std::vector<double> times = {}) {
    sensitivity::PairOptions o;
    o.t_end = t_end;
    o.method.rtol = 1e-11;
    o.method.atol = 1e-13;
    o.times = std::move(times);
    o.threads = 1;
    return o;
}

inline sensitivity::Pair pair_of(const std::string& text, const sensitivity::PairOptions& options) {
    return sensitivity::perturbed_pair(io::parse_model(text, "test"), options);
}

}  // namespace saltus::test
