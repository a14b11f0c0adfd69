// SPDX-License-Identifier: Apache-2.0
// Taylor series of mass points, against the same systems written as formulas and against complex arithmetic.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <random>
#include <string>
#include <vector>

#include "saltus/base/text.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/series.hpp"
#include "saltus/model/systems/detail/point_system.hpp"
#include "saltus/model/systems/detail/volume_series.hpp"

namespace saltus::model::point_series_test {
namespace {

constexpr int order = 22;

Model from_text(const std::string& text) { return build(io::parse_model(text, "test"), {}); }

SeriesNeeds everything(const Layout& layout) {
    return {std::vector<char>(ix(layout.positions()), 1), std::vector<char>(ix(layout.row_count()), 1),
            std::vector<char>(ix(layout.coefficients), 1)};
}

/// Eight corners of a cell, each moved a little, and what is known of them.
struct Body {
    std::vector<std::array<double, 3>> position;
    std::vector<double> mass;
    struct Spring {
        std::size_t i, j;
        double k, c, rest;
        double k_swing = 0.0, rest_swing = 0.0;  ///< of a muscle: k (1 + k_swing sin 2t), rest + rest_swing cos 3t
    };
    std::vector<Spring> springs;
};

constexpr std::array<double, 3> gravity{0.1, 0.0, -9.81};
constexpr double normal[3] = {0.0, 0.6, 0.8};

enum class With { springs, muscles };

Body body(With what = With::springs) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> about(-0.1, 0.1);
    Body b;
    const double corners[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (int section = 0; section < 2; ++section)
        for (const auto& c : corners) {
            b.position.push_back(
                {1.5 * section + about(random), 0.5 * c[0] + about(random), 0.5 * c[1] + about(random)});
            b.mass.push_back(1.0 + about(random));
        }
    for (std::size_t i = 0; i < 8; ++i)
        for (std::size_t j = i + 1; j < 8; j += 2) {
            const bool damper = (i + j) % 3 == 0, spring = (i + j) % 5 != 0;
            b.springs.push_back({i, j, spring ? 30.0 + 5.0 * static_cast<double>(i) : 0.0, damper ? 2.0 : 0.0, 0.8});
            if (what == With::springs || !spring) continue;
            // Muscles of each kind: both change, only the stiffness, only the rest length; some are springs.
            b.springs.back().k_swing = (i + 2 * j) % 4 < 2 ? 0.3 : 0.0;
            b.springs.back().rest_swing = (i + 2 * j) % 3 < 2 ? 0.1 : 0.0;
        }
    return b;
}

std::string text(double x) { return number_text(x); }

std::string stiffness_text(const Body::Spring& s) {
    return text(s.k) + (s.k_swing == 0.0 ? "" : "*(1 + " + text(s.k_swing) + "*sin(2*t))");
}

std::string rest_text(const Body::Spring& s) {
    return text(s.rest) + (s.rest_swing == 0.0 ? "" : " + " + text(s.rest_swing) + "*cos(3*t)");
}

/// The body as mass points.
std::string as_points(const Body& b) {
    std::string out = "[parameters]\nA = 0.2\n[points]\npositions = [";
    for (const auto& x : b.position) out += "[" + text(x[0]) + ", " + text(x[1]) + ", " + text(x[2]) + "], ";
    out += "]\nmass = [";
    for (const double m : b.mass) out += text(m) + ", ";
    out += "]\ngravity = [" + text(gravity[0]) + ", " + text(gravity[1]) + ", " + text(gravity[2]) + "]\n";
    for (const Body::Spring& s : b.springs)
        out += "[[springs]]\npairs = [[" + std::to_string(s.i) + ", " + std::to_string(s.j) + "]]\nk = \"" +
               stiffness_text(s) + "\"\nc = " + text(s.c) + "\nrest = \"" + rest_text(s) + "\"\n";
    return out + R"toml(
[[volume]]
cells = [[0, 1, 2, 3, 4, 5, 6, 7]]
[[obstacle]]
name = "floor"
normal = [0.0, 0.6, 0.8]
offset = "-5 + A*sin(3*t)"
mu = "0.3 + 0.1*cos(t)"
)toml";
}

/// A coordinate of point i in a file with formulas.
std::string x(std::size_t i, std::size_t axis, const std::string& prime = "") {
    return std::string(1, "xyz"[axis]) + std::to_string(i) + prime;
}

std::string difference(std::size_t i, std::size_t j, std::size_t axis, const std::string& prime = "") {
    return "(" + x(j, axis, prime) + " - " + x(i, axis, prime) + ")";
}

/// The volume of the cell: the mean of the two triangulations of each face.
std::string volume_formula() {
    const int faces[6][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
    const int triangles[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 1, 3}, {1, 2, 3}};
    std::string sum = "0";
    for (const auto& f : faces)
        for (const auto& t : triangles) {
            const auto at = [&](int corner, std::size_t axis) { return x(ix(f[t[corner]]), axis); };
            const auto minor = [&](std::size_t p, std::size_t q) {
                return "(" + at(1, p) + "*" + at(2, q) + " - " + at(1, q) + "*" + at(2, p) + ")";
            };
            sum += " + " + at(0, 0) + "*" + minor(1, 2) + " + " + at(0, 1) + "*" + minor(2, 0) + " + " + at(0, 2) +
                   "*" + minor(0, 1);
        }
    return "(" + sum + ")/12";
}

/// The body as formulas, with the tangents of its obstacle.
std::string as_formulas(const Body& b, const PointFormulas::Obstacle& floor, double volume) {
    std::string names, T = "0", U = "0", R = "0";
    for (std::size_t i = 0; i < b.position.size(); ++i)
        for (std::size_t axis = 0; axis < 3; ++axis) {
            names += "\"" + x(i, axis) + "\", ";
            T += " + " + text(b.mass[i] / 2) + "*" + x(i, axis, "'") + "^2";
            U += " - " + text(b.mass[i] * gravity[axis]) + "*" + x(i, axis);
        }
    for (const Body::Spring& s : b.springs) {
        std::string square = "0", rate = "0";
        for (std::size_t axis = 0; axis < 3; ++axis) {
            square += " + " + difference(s.i, s.j, axis) + "^2";
            rate += " + " + difference(s.i, s.j, axis) + "*" + difference(s.i, s.j, axis, "'");
        }
        U += " + (" + stiffness_text(s) + ")/2*(sqrt(" + square + ") - (" + rest_text(s) + "))^2";
        R += " + " + text(s.c / 2) + "*(" + rate + ")^2/(" + square + ")";
    }
    std::string out = "[parameters]\nA = 0.2\n[system]\nq = [" + names + "]\nT = \"" + T + "\"\nU = \"" + U +
                      "\"\nR = \"" + R + "\"\n[[constraint]]\nname = \"v\"\ng = \"" + text(volume) + " - " +
                      volume_formula() + "\"\n";
    for (std::size_t i = 0; i < b.position.size(); ++i) {
        const auto along = [&](const PointFormulas::Triple& d, const std::string& prime) {
            return text(d[0]) + "*" + x(i, 0, prime) + " + " + text(d[1]) + "*" + x(i, 1, prime) + " + " + text(d[2]) +
                   "*" + x(i, 2, prime);
        };
        out += "[[contact]]\nname = \"c" + std::to_string(i) + "\"\ngN = \"" + along(floor.normal, "") +
               " + 5 - A*sin(3*t)\"\ngammaT = [\"" + along(floor.tangent1, "'") + "\", \"" +
               along(floor.tangent2, "'") + "\"]\nmu = \"0.3 + 0.1*cos(t)\"\n";
    }
    out += "[initial]\nq = { ";
    for (std::size_t i = 0; i < b.position.size(); ++i)
        for (std::size_t axis = 0; axis < 3; ++axis)
            out += (i + axis == 0 ? "" : ", ") + x(i, axis) + " = " + text(b.position[i][axis]);
    return out + " }\n";
}

/// A random motion: coefficients of q that decrease like 1/2^k.
std::vector<std::vector<double>> random_motion(const std::vector<double>& q0, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> about(-1.0, 1.0);
    std::vector<std::vector<double>> q;
    for (const double start : q0) {
        q.push_back({start});
        for (int k = 1; k <= order + 1; ++k) q.back().push_back(about(random) * std::ldexp(1.0, -k));
    }
    return q;
}

void expand(SeriesEquations& e, const std::vector<std::vector<double>>& motion, double t0) {
    e.begin(t0);
    for (int k = 0; k <= order; ++k) {
        for (std::size_t i = 0; i < motion.size(); ++i) {
            e.q[i][k] = motion[i][ix(k)];
            e.u[i][k] = (k + 1) * motion[i][ix(k + 1)];
        }
        e.evaluate_order(k);
    }
}

/// The rows of a list as one matrix of coefficients: terms by rows, orders by columns.
using Coefficients = std::vector<std::vector<double>>;
Coefficients copy(const std::vector<SeriesEquations::Row>& rows) {
    Coefficients out;
    for (const SeriesEquations::Row r : rows) out.emplace_back(r, r + order + 1);
    return out;
}

/// Matrix entries of a pattern, in dense form: entry (r, c) at [r·columns + c].
Coefficients spread(const Pattern& pattern, const std::vector<SeriesEquations::Row>& rows) {
    Coefficients out(ix(pattern.rows) * ix(pattern.cols), std::vector<double>(order + 1, 0.0));
    for (int r = 0; r < pattern.rows; ++r)
        for (int e = pattern.start[ix(r)]; e < pattern.start[ix(r) + 1]; ++e)
            out[ix(r) * ix(pattern.cols) + ix(pattern.column[ix(e)])].assign(rows[ix(e)], rows[ix(e)] + order + 1);
    return out;
}

/// Equal to rounding: relative to the largest coefficient of each order.
void expect_equal(const Coefficients& a, const Coefficients& b, const std::string& what) {
    ASSERT_EQ(a.size(), b.size()) << what;
    for (std::size_t k = 0; k <= order; ++k) {
        double scale = 0.0;
        for (const auto& row : b) scale = std::max(scale, std::abs(row[k]));
        for (std::size_t i = 0; i < a.size(); ++i)
            EXPECT_NEAR(a[i][k], b[i][k], 1e-12 * scale + 1e-16) << what << " " << i << ", order " << k;
    }
}

void expect_equal_terms(const Model& a, const Model& b) {
    const auto one = a.system->series(everything(a.layout()), a.p), two = b.system->series(everything(b.layout()), b.p);
    ASSERT_TRUE(one && two);
    const auto motion = random_motion(a.q0, 3);
    expand(*one, motion, 0.4);
    expand(*two, motion, 0.4);
    expect_equal(spread(a.layout().mass, one->M), spread(b.layout().mass, two->M), "M");
    expect_equal(copy(one->h), copy(two->h), "h");
    expect_equal(copy(one->positions), copy(two->positions), "position");
    expect_equal(spread(a.layout().rows, one->W), spread(b.layout().rows, two->W), "W");
    expect_equal(copy(one->chi), copy(two->chi), "chi");
    expect_equal(copy(one->zeta), copy(two->zeta), "zeta");
    expect_equal(copy({one->damping, one->applied}), copy({two->damping, two->applied}), "power");
}

void expect_terms_of_formulas(const Body& b) {
    const Model points = from_text(as_points(b));
    PointFormulas::Obstacle floor;
    floor.normal = {normal[0], normal[1], normal[2]};
    // The tangents of the points, from their rows: the slips follow the volume and eight gaps.
    const auto series = points.system->series(everything(points.layout()), points.p);
    const Pattern& rows = points.layout().rows;
    for (int r = 0; r < 2; ++r)
        for (int e = rows.start[ix(9 + r)]; e < rows.start[ix(10 + r)]; ++e)
            (r == 0 ? floor.tangent1 : floor.tangent2)[ix(rows.column[ix(e)])] = series->W[ix(e)][0];
    std::vector<double> flat;
    for (const auto& p : b.position) flat.insert(flat.end(), p.begin(), p.end());
    const double volume = enclosed_volume(
        std::vector<PointFormulas::Face>{
            {0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}},
        flat);
    expect_equal_terms(points, from_text(as_formulas(b, floor, volume)));
}

TEST(PointSeries, HasTheCoefficientsOfTheSameSystemAsFormulas) { expect_terms_of_formulas(body()); }

TEST(PointSeries, OfMusclesHasTheCoefficientsAndThePowerOfFormulas) { expect_terms_of_formulas(body(With::muscles)); }

/// A bar that turns, held by a spring given as a formula at one of two points, which a damped spring joins.
TEST(PointSeries, OfBodiesAndPointsTogetherHasTheCoefficientsOfFormulas) {
    const Model both = from_text(R"toml(
[system]
q = ["phi"]
T = "(1 + 0.1*phi^2)*phi'^2/2"
U = "50*(p0.x - cos(phi))^2 + 3*p1.z*sin(phi)"
R = "phi'^2/4"
[[contact]]
name = "c"
gN = "p1.z + 4 - sin(phi)"
gammaT = "phi'"
mu = "0.2 + 0.1*sin(p0.x)"
[points]
positions = [[1.0, 0.5, 0.0], [2.0, 0.0, 0.3]]
mass = [1.5, 0.7]
[[springs]]
pairs = [[0, 1]]
k = 40.0
c = 3.0
rest = 0.9
[initial]
q = { phi = 0.3 }
)toml");
    const Model formulas = from_text(R"toml(
[system]
q = ["phi", "a", "b", "c", "d", "e", "f"]
T = "(1 + 0.1*phi^2)*phi'^2/2 + 0.75*(a'^2 + b'^2 + c'^2) + 0.35*(d'^2 + e'^2 + f'^2)"
U = "50*(a - cos(phi))^2 + 3*f*sin(phi) + 20*(sqrt((d - a)^2 + (e - b)^2 + (f - c)^2) - 0.9)^2"
R = "phi'^2/4 + 1.5*((d - a)*(d' - a') + (e - b)*(e' - b') + (f - c)*(f' - c'))^2/((d - a)^2 + (e - b)^2 + (f - c)^2)"
[[contact]]
name = "c"
gN = "f + 4 - sin(phi)"
gammaT = "phi'"
mu = "0.2 + 0.1*sin(a)"
[initial]
q = { phi = 0.3, a = 1.0, b = 0.5, c = 0.0, d = 2.0, e = 0.0, f = 0.3 }
)toml");
    expect_equal_terms(both, formulas);
    const auto one = both.system->series(everything(both.layout()), both.p);
    EXPECT_EQ(one->motion_degree(), SeriesEquations::unlimited_degree);
    EXPECT_FALSE(one->transparent());
}

// --- bounds on a disk ---

using Complex = std::complex<double>;

/// The terms of the body at a complex time, by plain arithmetic.
struct ComplexTerms {
    std::vector<Complex> h, row, gaps;
    Complex volume, curvature, damping, applied;
};

ComplexTerms evaluate(const Body& b, const std::vector<Complex>& q, const std::vector<Complex>& u, Complex t) {
    ComplexTerms out;
    for (std::size_t k = 0; k < q.size(); ++k) out.h.push_back(b.mass[k / 3] * gravity[k % 3]);
    for (const Body::Spring& s : b.springs) {
        Complex square = 0.0, rate = 0.0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const Complex d = q[3 * s.j + axis] - q[3 * s.i + axis];
            square += d * d;
            rate += d * (u[3 * s.j + axis] - u[3 * s.i + axis]);
        }
        const Complex k = s.k * (1.0 + s.k_swing * std::sin(2.0 * t)), rest = s.rest + s.rest_swing * std::cos(3.0 * t);
        const Complex k_rate = s.k * s.k_swing * 2.0 * std::cos(2.0 * t);
        const Complex rest_rate = -3.0 * s.rest_swing * std::sin(3.0 * t);
        const Complex length = std::sqrt(square), pull = (k * (length - rest) + s.c * rate / length) / length;
        out.damping += s.c * rate * rate / square;
        out.applied += 0.5 * k_rate * (length - rest) * (length - rest) - k * (length - rest) * rest_rate;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const Complex force = pull * (q[3 * s.j + axis] - q[3 * s.i + axis]);
            out.h[3 * s.i + axis] += force;
            out.h[3 * s.j + axis] -= force;
        }
    }
    for (std::size_t i = 0; i < b.position.size(); ++i)
        out.gaps.push_back(0.6 * q[3 * i + 1] + 0.8 * q[3 * i + 2] + 5.0 - 0.2 * std::sin(3.0 * t));
    // The row of the volume by differences would lose digits. V is cubic, so that the derivative along an axis is the
    // central difference minus a known multiple of the third derivative, which vanishes: V is linear in each
    // coordinate.
    const int faces[6][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
    const int triangles[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 1, 3}, {1, 2, 3}};
    const auto volume = [&](const std::vector<Complex>& x) {
        Complex sum = 0.0;
        for (const auto& f : faces)
            for (const auto& tr : triangles) {
                const Complex *const p = &x[3 * ix(f[tr[0]])], *const r = &x[3 * ix(f[tr[1]])],
                                     *const s = &x[3 * ix(f[tr[2]])];
                sum += p[0] * (r[1] * s[2] - r[2] * s[1]) + p[1] * (r[2] * s[0] - r[0] * s[2]) +
                       p[2] * (r[0] * s[1] - r[1] * s[0]);
            }
        return sum / 12.0;
    };
    out.volume = -volume(q);
    for (std::size_t k = 0; k < q.size(); ++k) {
        std::vector<Complex> up = q, down = q;
        up[k] += 1.0;
        down[k] -= 1.0;
        out.row.push_back(-(volume(up) - volume(down)) / 2.0);
    }
    // uᵀV''u is the second derivative of V(q + ε u); V is cubic in ε.
    std::vector<Complex> up = q, down = q;
    for (std::size_t k = 0; k < q.size(); ++k) up[k] += u[k], down[k] -= u[k];
    out.curvature = -(volume(up) - 2.0 * volume(q) + volume(down)) + 0.0 * t;
    return out;
}

void expect_bounds(With kind) {
    const Body b = body(kind);
    const Model m = from_text(as_points(b));
    const auto series = m.system->series(everything(m.layout()), m.p);
    const auto motion = random_motion(m.q0, 8);
    const double t0 = 0.4;
    expand(*series, motion, t0);
    const auto polynomial = [&](SeriesEquations::Row c, Complex tau) {
        Complex sum = 0.0;
        for (int k = order; k >= 0; --k) sum = sum * tau + c[k];
        return sum;
    };
    const auto at = [&](Complex tau) {
        std::vector<Complex> q, u;
        for (std::size_t i = 0; i < m.q0.size(); ++i) {
            q.push_back(polynomial(series->q[i], tau));
            u.push_back(polynomial(series->u[i], tau));
        }
        return evaluate(b, q, u, t0 + tau);
    };
    const ComplexTerms start = at(0.0);
    for (const double R : {0.001, 0.02, 0.05}) {
        std::vector<double> q_radius, u_radius;
        for (std::size_t i = 0; i < m.q0.size(); ++i) {
            double q = 0.0, u = 0.0;
            for (int k = order; k > 0; --k) {
                q = (q + std::abs(series->q[i][k])) * R;
                u = (u + std::abs(series->u[i][k])) * R;
            }
            q_radius.push_back(q);
            u_radius.push_back(u);
        }
        const SeriesEquations::Radii& radii = series->bounds(R, q_radius, u_radius);
        std::vector<double> h(start.h.size()), row(start.row.size());
        double volume = 0.0, curvature = 0.0, damping = 0.0, applied = 0.0, gap = 0.0;
        for (int angle = 0; angle < 64; ++angle) {
            const ComplexTerms there = at(std::polar(R, 2.0 * 3.14159265358979 * angle / 64));
            for (std::size_t i = 0; i < h.size(); ++i) {
                h[i] = std::max(h[i], std::abs(there.h[i] - start.h[i]));
                row[i] = std::max(row[i], std::abs(there.row[i] - start.row[i]));
            }
            volume = std::max(volume, std::abs(there.volume - start.volume));
            curvature = std::max(curvature, std::abs(there.curvature - start.curvature));
            damping = std::max(damping, std::abs(there.damping - start.damping));
            applied = std::max(applied, std::abs(there.applied - start.applied));
            gap = std::max(gap, std::abs(there.gaps[0] - start.gaps[0]));
        }
        const auto expect = [&](double bound, double truth, const char* what) {
            EXPECT_GE(bound, truth * (1.0 - 1e-9)) << what << " on " << R;
            EXPECT_LE(bound, 200.0 * truth) << what << " on " << R;
        };
        for (std::size_t i = 0; i < h.size(); ++i) {
            expect(radii.h[i], h[i], "force");
            expect(radii.W[i], row[i], "row");
        }
        expect(radii.positions[0], volume, "volume");
        expect(radii.positions[1], gap, "gap");
        expect(radii.zeta[0], curvature, "curvature");
        expect(radii.damping, damping, "damping");
        if (kind == With::muscles) expect(radii.applied, applied, "power of muscles");
        for (const double r : radii.M) EXPECT_EQ(r, 0.0);
    }
}

TEST(PointSeries, BoundsHoldOnTheWholeDiskAndAreNotFarFromTheTruth) { expect_bounds(With::springs); }

TEST(PointSeries, BoundsOfMusclesHoldOnTheWholeDiskAndAreNotFarFromTheTruth) { expect_bounds(With::muscles); }

/// Two points that turn about each other: the length of the spring does not change, however long the disk is.
TEST(PointSeries, BoundsOfASpringThatTurnsStayFiniteBeyondAQuarterTurn) {
    const Model m = from_text(
        "[points]\npositions = [[1, 0, 0], [-1, 0, 0]]\nmass = [1, 1]\n[[springs]]\npairs = [[0, 1]]\nk = 5\nc = 1\n");
    const auto series = m.system->series(everything(m.layout()), m.p);
    std::vector<std::vector<double>> motion(6, std::vector<double>(order + 2, 0.0));
    double factorial = 1.0;
    for (int k = 0; k <= order + 1; factorial *= ++k) {
        const double sign = k % 4 < 2 ? 1.0 : -1.0;
        const std::size_t axis = k % 2 == 0 ? 0 : 1;  // cos τ, sin τ
        motion[axis][ix(k)] = sign / factorial;
        motion[3 + axis][ix(k)] = -sign / factorial;
    }
    expand(*series, motion, 0.0);
    const std::vector<double> unused(6, 0.0);
    const double R = 2.0;
    const SeriesEquations::Radii& radii = series->bounds(R, unused, unused);
    EXPECT_LT(radii.h[0], 1e-6);
    EXPECT_LT(radii.damping, 1e-6);
}

TEST(PointSeries, OfFreePointsIsAPolynomialOfTheTime) {
    const auto degree = [](const std::string& offset, char positions, char rows, const std::string& more = "") {
        const Model m = from_text(
            "[points]\npositions = [[0, 0, 1], [1, 0, 2]]\nmass = [1, 2]\ngravity = [0, 0, -9.81]\n[[obstacle]]\n"
            "name = \"floor\"\nnormal = [0, 0, 1]\noffset = \"" +
            offset + "\"\n" + more);
        const Layout& l = m.layout();
        return m.system
            ->series({std::vector<char>(ix(l.positions()), positions), std::vector<char>(ix(l.row_count()), rows),
                      std::vector<char>(ix(l.coefficients), 0)},
                     m.p)
            ->motion_degree();
    };
    EXPECT_EQ(degree("0", 1, 0), 2);
    EXPECT_EQ(degree("-t^3", 1, 0), 3);
    EXPECT_EQ(degree("-t^3", 0, 0), 2);
    EXPECT_EQ(degree("-t^3", 0, 1),
              4);  // the acceleration follows 6 t, the power is its product with a velocity of degree 2
    EXPECT_EQ(degree("-sin(t)", 1, 0), SeriesEquations::unlimited_degree);
    EXPECT_EQ(degree("-sin(t)", 0, 0), 2);
    EXPECT_EQ(degree("0", 1, 0, "[[springs]]\npairs = [[0, 1]]\nk = 1\n"), SeriesEquations::unlimited_degree);
}

TEST(PointSeries, VolumesOfOpenSurfacesAreRecognised) {
    std::vector<PointFormulas::Face> faces{{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                           {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
    EXPECT_TRUE(is_closed(faces));
    std::swap(faces[2][0], faces[2][2]);  // turned inside out
    EXPECT_FALSE(is_closed(faces));
    faces.erase(faces.begin() + 2);
    EXPECT_FALSE(is_closed(faces));
}

}  // namespace
}  // namespace saltus::model::point_series_test
