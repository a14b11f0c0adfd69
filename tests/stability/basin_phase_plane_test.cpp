// SPDX-License-Identifier: Apache-2.0
//
// Figure 10 of Leine & van de Wouw: the phase plane of the beam in two rough grooves. The edges of the bundle of
// motions that end in the unstable set are computed here once more, from the reduced equation alone.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "physics/motion.hpp"
#include "reference/reference.hpp"
#include "saltus/stability/basin/phase_paths.hpp"

namespace saltus::stability::basin_phase_plane_test {
namespace {

constexpr double pi = std::numbers::pi;

struct Beam {
    double mu1 = 0.3, mu2 = 0.3, g = 10.0, l = 1.0;

    double tip() const { return std::atan2(2.0 * mu2, 1.0 - mu1 * mu2); }
    model::Model model() const {
        return test::shipped("constrained-beam", {{"mu1", mu1}, {"mu2", mu2}, {"g", g}, {"l", l}});
    }

    /// θ̈ of the beam with m = 1 that turns with ω > 0, ω² = z: N1, N2, θ̈ from the balances of momentum
    ///     ẍ = N1 + T2,  ÿ = N2 + T1 − g,  J θ̈ = l c N1 − l s N2 + l s T1 − l c T2,
    ///     T1 = −mu1 |N1| sgn s,  T2 = mu2 |N2| sgn c,
    /// by trying the signs of N1, N2. sgn s and sgn c are those of the quarter that θ lies in.
    double acceleration(double theta, double z, int sgn_s, int sgn_c) const {
        const double s = std::sin(theta), c = std::cos(theta), J = l * l / 3.0;
        for (const int n1 : {1, -1})
            for (const int n2 : {1, -1}) {
                const double a = -mu1 * n1 * sgn_s, b = mu2 * n2 * sgn_c;  // T1 = a N1, T2 = b N2
                // N1 + b N2 = −l c θ̈ + l s z,  a N1 + N2 = g + l s θ̈ + l c z
                const double det = 1.0 - a * b;
                const auto forces = [&](double alpha) {
                    const double X = -l * c * alpha + l * s * z, Y = g + l * s * alpha + l * c * z;
                    return std::array{(X - b * Y) / det, (Y - a * X) / det};
                };
                const auto rest = [&](double alpha) {
                    const auto [N1, N2] = forces(alpha);
                    return J * alpha - (l * c * N1 - l * s * N2 + l * s * a * N1 - l * c * b * N2);
                };
                const double r0 = rest(0.0), slope = rest(1.0) - r0, alpha = -r0 / slope;
                const auto [N1, N2] = forces(alpha);
                if (n1 * N1 >= 0.0 && n2 * N2 >= 0.0) return alpha;
            }
        ADD_FAILURE() << "no signs at " << theta;
        return 0.0;
    }

    /// ω(θ) of the motion that comes to rest at the end: dω²/dθ = 2θ̈, backwards, quarter by quarter.
    double speed_at(double theta, double end) const {
        double z = 0.0, at = end;
        while (at > theta + 1e-14) {
            const double corner = (std::ceil(at / (0.5 * pi) - 1e-12) - 1.0) * 0.5 * pi;
            const double to = std::max(theta, corner), middle = 0.5 * (at + to);
            const int sgn_s = std::sin(middle) > 0.0 ? 1 : -1, sgn_c = std::cos(middle) > 0.0 ? 1 : -1;
            const auto slope = [&](double t, double value) { return 2.0 * acceleration(t, value, sgn_s, sgn_c); };
            constexpr int steps = 4000;
            const double h = (to - at) / steps;
            for (int k = 0; k < steps; ++k) {
                const double t = at + k * h, k1 = slope(t, z), k2 = slope(t + 0.5 * h, z + 0.5 * h * k1);
                const double k3 = slope(t + 0.5 * h, z + 0.5 * h * k2), k4 = slope(t + h, z + h * k3);
                z += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
            }
            at = to;
        }
        return std::sqrt(z);
    }
};

BasinOptions phase_plane(const model::Model& m, ensemble::Axis theta, ensemble::Axis omega) {
    BasinOptions o;
    o.starts.axes = {theta, omega};
    o.components = {2, 5};
    o.t_max = 20.0;
    o.equilibria = equilibria(m);
    return o;
}

std::string text_of(const Basin& b, int label) { return b.labels[static_cast<std::size_t>(label)].text; }

TEST(PhasePlane, TheReducedEquationHasTheEdgesOfTheReference) {
    const test::reference::Value expected = test::reference::entry("leine_beam_basin_paper_A")["outputs"];
    const test::reference::Value at_zero = expected["thresholds_at_theta0"][0];
    const test::reference::Value manifold = expected["thick_manifold_at_theta_pi_minus_1"];
    const Beam paper;
    EXPECT_NEAR(paper.speed_at(0.0, pi - paper.tip()), at_zero["omega_low"], 1e-8);
    EXPECT_NEAR(paper.speed_at(0.0, pi + paper.tip()), at_zero["omega_high"], 1e-8);
    EXPECT_NEAR(paper.speed_at(pi - 1.0, pi - paper.tip()), manifold["omega_low"], 1e-8);
    EXPECT_NEAR(paper.speed_at(pi - 1.0, pi + paper.tip()), manifold["omega_high"], 1e-8);
}

TEST(PhasePlane, TheBundleIntoTheUnstableSetHasTheWidthOfItsEdgesEverywhere) {
    for (const Beam& beam : {Beam{}, Beam{0.2, 0.5}, Beam{0.6, 0.15, 9.81, 0.7}}) {
        const model::Model m = beam.model();
        const double a = beam.tip();
        for (const double theta : {-0.9, 0.4, 1.3, pi - a - 0.2}) {
            const double low = beam.speed_at(theta, pi - a), high = beam.speed_at(theta, pi + a);
            ASSERT_LT(low, high);
            BasinOptions o = phase_plane(m, {"theta", theta, theta, 1},
                                         {"theta'", low - 0.6 * (high - low), high + 0.6 * (high - low), 6});
            o.method = integrate::EventDriven{};
            o.boundary = 1e-8;
            const Basin b = basin(m, o);
            std::vector<BoundaryPoint> edges;
            for (const BoundaryPoint& p : b.boundary)
                if (text_of(b, p.below) == "E2" || text_of(b, p.above) == "E2") edges.push_back(p);
            ASSERT_EQ(edges.size(), 2U) << beam.mu1 << " " << theta;
            EXPECT_NEAR(edges[0].at[1], low, 1e-7 * (1.0 + low)) << beam.mu1 << " " << theta;
            EXPECT_NEAR(edges[1].at[1], high, 1e-7 * (1.0 + high)) << beam.mu1 << " " << theta;
            EXPECT_EQ(text_of(b, edges[0].below), "E1");
            EXPECT_EQ(text_of(b, edges[1].above), "E1, theta +1*2*pi");
        }
    }
}

// The unstable half-manifolds of E2 begin at its tips and end in E1 or its copy ([Leine] 7.4); motions that leave the
// tips of E1 stay next to it.
TEST(PhasePlane, MotionsFromTheTipsOfTheUnstableSetEndInTheStableOne) {
    const Beam beam;
    const model::Model m = beam.model();
    BasinOptions o = phase_plane(m, {"theta", -3.1, 6.2, 4}, {"theta'", -14.0, 14.0, 4});
    const Basin b = basin(m, o);
    const std::vector<PhasePath> paths = phase_paths(m, o, b, 8);
    const double a = beam.tip(), width = 9.3;
    int edge = 0, unstable = 0, stable = 0;
    for (const PhasePath& p : paths) {
        const std::array<double, 2> first = p.points.front(), last = p.points.back();
        EXPECT_LT(std::abs(last[1]), 1e-3) << "every motion comes to rest";
        if (p.set < 0) {
            ++edge;
            const bool on_edge = first[0] == -3.1 || first[0] == 6.2 || std::abs(first[1]) == 14.0;
            EXPECT_TRUE(on_edge) << first[0] << " " << first[1];
            continue;
        }
        const double centre = b.sets[static_cast<std::size_t>(p.set)].name == "E2" ? pi : 0.0;
        const double turn = 2.0 * pi * std::round((first[0] - centre) / (2.0 * pi));
        EXPECT_NEAR(std::abs(first[0] - centre - turn), a, 2e-4 * width);
        EXPECT_EQ(first[1], 0.0);
        if (centre == 0.0) {
            ++stable;
            EXPECT_NEAR(last[0], first[0], 1e-3 * width);
            continue;
        }
        ++unstable;
        const double from_well = last[0] - 2.0 * pi * std::round(last[0] / (2.0 * pi));
        EXPECT_LE(std::abs(from_well), a + 1e-6) << "ends in E1 or a copy of it";
        EXPECT_GT(std::abs(last[0] - first[0]), 1.0);
    }
    EXPECT_EQ(edge, 8);
    EXPECT_EQ(unstable, 3);  // the lower tip one turn back lies outside the plane
    EXPECT_EQ(stable, 3);
}

TEST(PhasePlane, CurvesNeedAPlane) {
    const Beam beam;
    const model::Model m = beam.model();
    const BasinOptions o = phase_plane(m, {"theta", 0.0, 0.0, 1}, {"theta'", -1.0, 1.0, 3});
    EXPECT_TRUE(phase_paths(m, o, basin(m, o), 8).empty());
}

// Both sets, the level set below the tips of E2 (c* with the sign corrected) and the bundle on one fine grid.
TEST(PhasePlane, HasBothSetsTheLevelSetAndTheBundle) {
    const Beam beam;
    const model::Model m = beam.model();
    BasinOptions o = phase_plane(m, {"theta", -1.0, pi, 40}, {"theta'", 0.0, 16.0, 81});
    const double c_star = 10.0 * (1.0 + std::cos(beam.tip()));
    EXPECT_NEAR(c_star, test::reference::entry("leine_beam_static_paper")["outputs"]["c_star_correct"], 1e-12);
    CaptureSet level;
    level.rho = c_star;
    level.q = {0.0, -1.0, 0.0};
    // Along the circle U = m g l (1 − cos θ) has one well a turn.
    level.in_component = [](std::span<const double> q) { return std::abs(q[2]) < pi; };
    o.level = level;
    const Basin b = basin(m, o);
    ASSERT_EQ(b.sets.size(), 2U);
    const double a = beam.tip();
    EXPECT_NEAR(b.sets[0].lower[2], -a, 1e-9);
    EXPECT_NEAR(b.sets[0].upper[2], a, 1e-9);
    EXPECT_NEAR(b.sets[1].lower[2], pi - a, 1e-9);
    EXPECT_NEAR(b.sets[1].upper[2], pi + a, 1e-9);
    EXPECT_GT(b.sets[1].motions, 0U);
    EXPECT_EQ(b.violations, 0U);
    EXPECT_EQ(b.inside_undecided, 0U);
    std::size_t inside = 0, differ = 0, near = 0;
    for (std::size_t column = 0; column < 40; ++column) {
        const double theta = -1.0 + (pi + 1.0) / 39.0 * static_cast<double>(column);
        const bool left = theta < pi - a;  // above E2 itself the lower edge is rest
        const double low = left ? beam.speed_at(theta, pi - a) : 0.0;
        const double high = beam.speed_at(theta, pi + a);
        for (std::size_t row = 0; row < 81; ++row) {
            const std::size_t k = row * 40 + column;  // the first axis runs fastest
            const double omega = 0.2 * static_cast<double>(row);
            const double V = (0.5 + 1.0 / 6.0) * omega * omega + 10.0 * (1.0 - std::cos(theta));
            EXPECT_NEAR(b.record.motion(k).V, V, 1e-9);
            if (V < c_star) ++inside;
            // Time-stepping moves an edge by about h.
            if ((left && std::abs(omega - low) < 0.05) || std::abs(omega - high) < 0.05)
                ++near;
            else if ((omega >= low && omega < high) != (text_of(b, b.label[k]) == "E2"))
                ++differ;
        }
    }
    EXPECT_EQ(b.inside, inside);
    EXPECT_EQ(differ, 0U);
    EXPECT_LT(near, 60U);
}

}  // namespace
}  // namespace saltus::stability::basin_phase_plane_test
