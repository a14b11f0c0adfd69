// SPDX-License-Identifier: Apache-2.0
//
// Enclosures over random boxes contain the values at sampled points, which the model itself evaluates; derivatives
// contain the differences of what they are derivatives of. For all shipped models and for random ones.
#include "saltus/proof/enclosure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>

#include "physics/motion.hpp"
#include "proof/sampling.hpp"
#include "saltus/base/factors.hpp"
#include "saltus/model/evaluate.hpp"
#include "support.hpp"

namespace saltus::proof::enclosure_test {
namespace {

using Eigen::Index;
using test::from_text;
using test::inside;
using test::Random;
using test::replaced;

/// The model at one state, evaluated in floating point by its own system.
struct PointValues {
    Matrix M, rows;
    Vector h, positions, chi, zeta, coefficients;
    model::Energy energy;

    PointValues(const model::Mechanics& m, const std::vector<double>& q, const std::vector<double>& u) {
        model::Workspace workspace(m);
        model::Terms terms(m.layout());
        model::evaluate(m, workspace, 0.0, q, u, terms);
        const auto vector = [](std::span<const double> x) {
            return Vector(Eigen::Map<const Vector>(x.data(), static_cast<Index>(x.size())));
        };
        M = model::dense_symmetric(m.layout().mass, terms.M);
        rows = model::dense(m.layout().rows, terms.W);
        h = vector(terms.h);
        positions = vector(terms.positions);
        chi = vector(terms.chi);
        zeta = vector(terms.zeta);
        std::vector<double> values(static_cast<std::size_t>(m.layout().coefficients));
        m.system->coefficients(model::at(m, 0.0, q, u), workspace.scratch(), values);
        coefficients = vector(values);
        energy = m.system->energy(model::at(m, 0.0, q, u), workspace.scratch());
    }
};

/// Counts the values that are outside of their enclosures, and says which function they belong to.
class Check {
public:
    explicit Check(std::string model) : model_(std::move(model)) {}

    void contains(const char* what, const Interval& x, double value, double size = 1.0) {
        ++checked;
        if (!std::isfinite(value) || inside(x, value, 100.0 * size)) return;
        ADD_FAILURE() << model_ << ": " << what << " = " << value << " is not in [" << x.lo << ", " << x.hi << "]";
    }
    void contains(const char* what, const IntervalVector& x, const Vector& value) {
        ASSERT_GE(static_cast<Index>(x.size()), value.size()) << what;
        const double size = value.size() > 0 ? value.cwiseAbs().maxCoeff() : 0.0;
        for (Index k = 0; k < value.size(); ++k) contains(what, x[static_cast<std::size_t>(k)], value(k), 1.0 + size);
    }
    void contains(const char* what, const IntervalMatrix& x, const Matrix& value) {
        ASSERT_EQ(x.rows(), value.rows()) << what;
        ASSERT_EQ(x.cols(), value.cols()) << what;
        const double size = value.size() > 0 ? value.cwiseAbs().maxCoeff() : 0.0;
        for (int i = 0; i < x.rows(); ++i)
            for (int j = 0; j < x.cols(); ++j) contains(what, x(i, j), value(i, j), 1.0 + size);
    }

    long checked = 0;

private:
    std::string model_;
};

Vector vector_of(const std::vector<double>& x) {
    return Eigen::Map<const Vector>(x.data(), static_cast<Index>(x.size()));
}

/// derivative · step over the box.
Interval product(const IntervalMatrix& A, int row, const Vector& step) {
    Interval sum;
    for (int j = 0; j < A.cols(); ++j) sum += A(row, j) * Interval(step(j));
    return sum;
}

Interval quadratic(const IntervalMatrix& A, const Vector& u) {
    Interval sum;
    for (int i = 0; i < A.rows(); ++i)
        for (int j = 0; j < A.cols(); ++j) sum += A(i, j) * Interval(u(i)) * Interval(u(j));
    return sum;
}

/// Values of all functions at a sampled state.
void check_values(Check& check, const Enclosure& e, const Box& Q, const Box& V, const std::vector<double>& q,
                  const std::vector<double>& u) {
    const PointValues at(e.model(), q, u), rest(e.model(), q, std::vector<double>(q.size(), 0.0));
    check.contains("U", e.potential(Q), at.energy.potential, std::fabs(at.energy.potential));
    check.contains("positions", e.position_values(Q), at.positions);
    check.contains("M", e.mass(Q), at.M);
    check.contains("rows", e.row_matrix(Q), at.rows);
    check.contains("chi", e.chi(Q), at.chi);
    check.contains("h", e.force(Q, V), at.h);
    check.contains("zeta", e.curvature(Q, V), Vector(at.zeta.head(e.positions())));
    check.contains("coefficients", e.coefficients(Q, V), at.coefficients);
    // −u·f^nc is the power of damping less that of the other forces.
    check.contains("damping power", e.damping_power(Q, V), at.energy.damping - at.energy.applied,
                   std::fabs(at.energy.damping) + std::fabs(at.energy.applied));
    if (e.quadratic_rayleigh)
        check.contains("R", e.dissipation(Q, V), 0.5 * at.energy.damping, std::fabs(at.energy.damping));

    const Vector v = vector_of(u);
    if (e.quadratic_forces) {
        const ForceTerms terms = e.forces(Q);
        check.contains("h at rest", terms.constant, rest.h);
        for (Index k = 0; k < v.size(); ++k) {
            const auto row = static_cast<std::size_t>(k);
            Interval sum = terms.constant[row] + product(terms.linear, static_cast<int>(k), v);
            sum += quadratic(terms.quadratic[row], v);
            check.contains("h by powers", sum, at.h(k), at.h.cwiseAbs().maxCoeff());
        }
    }
    if (e.model().scleronomic) {
        const std::vector<IntervalMatrix> Z = e.curvatures(Q);
        for (int r = 0; r < e.positions(); ++r)
            check.contains("zeta by powers", quadratic(Z[static_cast<std::size_t>(r)], v), at.zeta(r),
                           at.zeta.cwiseAbs().maxCoeff());
    }
    if (e.linear_damping)
        check.contains("damping matrix", quadratic(e.damping(Q), v) - dot(e.forces_at_rest(Q), point_box(u)),
                       at.energy.damping - at.energy.applied, std::fabs(at.energy.damping));
    // T = ½uᵀMu + ∂T/∂u(0)·u + T(0).
    const IntervalVector parts = e.kinetic_rest(Q);
    Interval T = quadratic(e.mass(Q), v) * Interval(0.5) + parts[0];
    for (std::size_t k = 0; k < u.size(); ++k) T += parts[1 + k] * Interval(u[k]);
    check.contains("T", T, at.energy.kinetic, at.energy.kinetic);
}

/// f(q₂) − f(q₁) = f'(between)(q₂ − q₁).
void check_derivatives(Check& check, const Enclosure& e, const Box& Q, const std::vector<double>& q1,
                       const std::vector<double>& q2) {
    const std::vector<double> still(q1.size(), 0.0);
    const PointValues first(e.model(), q1, still), second(e.model(), q2, still);
    const Vector step = vector_of(q2) - vector_of(q1);
    if (e.lipschitz) {
        check.contains("gradient",
                       dot(e.gradient(Q), point_box(std::vector<double>(step.data(), step.data() + step.size()))),
                       second.energy.potential - first.energy.potential,
                       std::fabs(second.energy.potential) + std::fabs(first.energy.potential));
        const IntervalMatrix rows = e.row_matrix(Q);
        for (int r = 0; r < e.positions(); ++r)
            check.contains("rows as gradients", product(rows, r, step), second.positions(r) - first.positions(r),
                           std::fabs(second.positions(r)) + std::fabs(first.positions(r)));
    }
    if (!e.smooth) return;
    const IntervalMatrix H = e.hessian(Q);
    const IntervalVector g1 = e.gradient(point_box(q1)), g2 = e.gradient(point_box(q2));
    const std::vector<IntervalMatrix> curved = e.position_hessians(Q);
    for (int k = 0; k < e.size(); ++k) {
        const double a = expr::midpoint(g1[static_cast<std::size_t>(k)]),
                     b = expr::midpoint(g2[static_cast<std::size_t>(k)]);
        check.contains("hessian", product(H, k, step), b - a, std::fabs(a) + std::fabs(b));
        for (int r = 0; r < e.positions(); ++r)
            check.contains("hessians of positions", product(curved[static_cast<std::size_t>(r)], k, step),
                           second.rows(r, k) - first.rows(r, k), 1.0 + first.rows.cwiseAbs().maxCoeff());
        for (int r = 0; r < e.rows(); ++r)
            if (const std::optional<IntervalMatrix> D = e.row_derivative(Q, r))
                check.contains("derivatives of rows", product(*D, k, step), second.rows(r, k) - first.rows(r, k),
                               1.0 + first.rows.cwiseAbs().maxCoeff());
    }
}

/// Random boxes around the start, from points to wide ones.
long check_model(const std::string& name, const model::Model& m, unsigned seed, int boxes) {
    std::string why;
    const std::unique_ptr<Enclosure> e = Enclosure::of(m, why);
    if (!e) return 0;
    Random random(seed);
    Check check(name);
    for (int k = 0; k < boxes; ++k) {
        const double radius = std::pow(10.0, random.uniform(-6.0, 0.0));
        Box Q, V;
        for (std::size_t j = 0; j < m.q0.size(); ++j) {
            const double c = m.q0[j] + random.uniform(-0.3, 0.3);
            Q.emplace_back(c - random.uniform(0.0, radius), c + random.uniform(0.0, radius));
            V.push_back(random.interval(1.0, radius));
        }
        if (k == 0) Q = point_box(m.q0);
        for (int sample = 0; sample < 4; ++sample) {
            const std::vector<double> q = random.point(Q), u = random.point(V);
            check_values(check, *e, Q, V, q, u);
            check_derivatives(check, *e, Q, q, random.point(Q));
        }
    }
    return check.checked;
}

TEST(Enclosures, ContainTheValuesOfEveryShippedModel) {
    int examined = 0;
    for (const auto& file : std::filesystem::directory_iterator(std::string(SALTUS_SOURCE_DIR) + "/models")) {
        if (file.path().extension() != ".toml") continue;
        const std::string name = file.path().stem().string();
        examined += check_model(name, test::shipped(name), 1, 12) > 0 ? 1 : 0;
    }
    EXPECT_GE(examined, 15);
}

/// A random expression in the given variables: smooth terms, and kinks if they are wanted.
std::string random_expression(Random& random, const std::vector<std::string>& variables, bool kinks) {
    const auto variable = [&] {
        return variables[static_cast<std::size_t>(random.integer(0, static_cast<int>(variables.size()) - 1))];
    };
    const auto factor = [&] { return "(" + number_text(random.uniform(-1.0, 1.0)) + ")"; };
    std::string text = "0";
    const int terms = random.integer(2, 5);
    for (int k = 0; k < terms; ++k) {
        const std::string a = variable(), b = variable();
        text += " + " + factor() + "*";
        switch (random.integer(0, kinks ? 10 : 7)) {
            case 0: text += a; break;
            case 1: text += a + "*" + b; break;
            case 2: text += "sin(" + a + " + " + factor() + ")"; break;
            case 3: text += "cos(" + a + "*" + b + ")"; break;
            case 4: text += a + "^3"; break;
            case 5: text += "exp(" + factor() + "*" + a + ")"; break;
            case 6: text += "sqrt(2 + " + a + "^2)"; break;
            case 7: text += "atan(" + a + " - " + b + ")/(1 + " + b + "^2)"; break;
            case 8: text += "abs(" + a + " - " + factor() + ")"; break;
            case 9: text += "max(" + a + ", " + b + ")"; break;
            default: text += "hypot(" + a + ", " + b + ")"; break;
        }
    }
    return text;
}

/// A model with random functions: coordinates x and y, a contact with friction, a slider, damping, a region.
std::string random_model(Random& random, bool kinks) {
    const std::vector<std::string> q{"x", "y"}, state{"x", "y", "x'", "y'"};
    const auto e = [&](const std::vector<std::string>& v, bool k) { return random_expression(random, v, k); };
    return "[system]\nq = [\"x\", \"y\"]\nT = \"(2 + sin(x*y))/2*x'^2 + 0.3*cos(x)*x'*y' + (1.5 + y^2)/2*y'^2\"\nU = "
           "\"" +
           e(q, kinks) + "\"\nR = \"(0.2 + x^2)/2*x'^2 + 0.1*x'*y' + 0.3*y'^2\"\nf = { x = \"" + e(state, kinks) +
           "\", y = \"-0.2*y' + " + e(q, false) + "\" }\n[[contact]]\nname = \"floor\"\ngN = \"60 + " + e(q, kinks) +
           "\"\ngammaT = \"x'*(" + e(q, false) +
           ") + y'\"\nmu = \"0.3 + 0.1*sin(x')\"\neN = 0.5\n[[slider]]\ngammaT = \"y' - x*x'\"\n"
           "mu = 0.2\nFN = \"1 + x^2\"\n[certify]\nregion = [\"9 + x > x'^2 + x'*y' + y'^2 + x*x'\", \"60 > " +
           e(state, kinks) + "\"]\n[initial]\nq = { x = 0.2, y = -0.1 }\n";
}

TEST(Enclosures, ContainTheValuesOfRandomModels) {
    Random random(2);
    for (unsigned k = 0; k < 40; ++k) {
        const std::string text = random_model(random, k % 2 == 1);
        EXPECT_GT(check_model(text, from_text(text), 100 + k, 6), 100);
        if (HasFailure()) return;
    }
}

TEST(Enclosures, RegionsAreLeftAtMoreThanTheirKineticEnergyOnly) {
    Random random(3);
    int finite = 0;
    for (int k = 0; k < 30; ++k) {
        const model::Model m = from_text(random_model(random, k % 2 == 1));
        std::string why;
        const std::unique_ptr<Enclosure> e = Enclosure::of(m, why);
        ASSERT_TRUE(e) << why;
        EXPECT_TRUE(e->region_of_velocity[0]);
        EXPECT_TRUE(e->quadratic_region[0]);
        Box Q;
        for (const double x : m.q0) Q.emplace_back(x - 0.05, x + 0.05);
        for (int region = 0; region < 2; ++region) {
            if (region == 1 && !e->region_of_velocity[1]) continue;
            const double bound = e->region_kinetic(Q, region);
            EXPECT_GT(bound, 0.0);
            finite += std::isfinite(bound) ? 1 : 0;
            for (int sample = 0; sample < 50; ++sample) {
                const std::vector<double> q = random.point(Q);
                std::vector<double> u{random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0)};
                const PointValues at(m, q, u);
                const double scale = std::sqrt(0.999 * std::min(bound, 1e3) / at.energy.kinetic);
                for (double& x : u) x *= scale;
                EXPECT_GT(e->regions(point_box(q), point_box(u))[static_cast<std::size_t>(region)].hi, 0.0);
            }
        }
    }
    EXPECT_GT(finite, 20);
}

TEST(Enclosures, TheRegionTermsAreThePowersOfTheVelocity) {
    const model::Model m = from_text(
        "[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"x^2 + y^2\"\n"
        "[certify]\nregion = \"7 + x > 2*x' - y' + 3*x'^2 + 4*x'*y' + 5*y'^2\"\n");
    std::string why;
    const std::unique_ptr<Enclosure> e = Enclosure::of(m, why);
    ASSERT_TRUE(e);
    const std::vector<double> expected{7.5, -2.0, 1.0, -3.0, -2.0, -5.0};
    const IntervalVector terms = e->region_terms(point_box(std::vector<double>{0.5, 0.0}), 0);
    ASSERT_EQ(terms.size(), expected.size());
    for (std::size_t k = 0; k < terms.size(); ++k) EXPECT_NEAR(expr::midpoint(terms[k]), expected[k], 1e-14) << k;
}

TEST(Enclosures, VelocitiesBelowAKineticEnergyLieInTheirBox) {
    Random random(4);
    for (int k = 0; k < 200; ++k) {
        const int n = random.integer(1, 4);
        const Matrix A = random.matrix(n, n), M = A * A.transpose() + 0.3 * Matrix::Identity(n, n);
        const double kinetic = random.uniform(0.1, 5.0);
        const Box box = velocities_below(kinetic, IntervalMatrix(M));
        for (int sample = 0; sample < 50; ++sample) {
            Vector u = random.matrix(n, 1);
            u *= std::sqrt(2.0 * kinetic / u.dot(M * u));
            EXPECT_TRUE(contains(box, std::span<const double>(u.data(), static_cast<std::size_t>(n))));
        }
        // The box is tight: the velocity along M⁻¹e_k reaches its side.
        for (int j = 0; j < n; ++j) {
            Vector u = Cholesky(M).solve(Vector::Unit(n, j));
            u *= std::sqrt(2.0 * kinetic / u.dot(M * u));
            EXPECT_NEAR(u(j), box[static_cast<std::size_t>(j)].hi, 1e-10 * (1.0 + u(j)));
        }
    }
    // Uncertain mass matrices.
    for (int k = 0; k < 50; ++k) {
        IntervalMatrix M(2, 2);
        M(0, 0) = Interval(1.0, 1.0 + random.uniform(0.1, 1.0));
        M(1, 1) = Interval(2.0, 2.0 + random.uniform(0.1, 1.0));
        M(0, 1) = M(1, 0) = Interval(-0.1, 0.3);
        const Box box = velocities_below(1.0, M);
        for (int sample = 0; sample < 50; ++sample) {
            const Matrix m = random.symmetric(M);
            Vector u = Cholesky(m).solve(Vector::Unit(2, sample % 2));
            u *= std::sqrt(1.999 / u.dot(m * u));
            EXPECT_TRUE(contains(box, std::span<const double>(u.data(), 2)));
        }
    }
    EXPECT_EQ(velocities_below(0.0, IntervalMatrix::identity(2))[0].hi, 0.0);
    EXPECT_EQ(velocities_below(Interval::infinity, IntervalMatrix::identity(2))[1].hi, Interval::infinity);
    EXPECT_EQ(velocities_below(1.0, IntervalMatrix(Matrix::Zero(1, 1)))[0].hi, Interval::infinity);
}

TEST(Enclosures, TheKineticEnergyToVanishIsTheFirstRoot) {
    Random random(5);
    for (int k = 0; k < 500; ++k) {
        const double c = -random.uniform(0.01, 5.0), l = random.uniform(0.0, 3.0), q = random.uniform(-1.0, 3.0);
        const double tau = kinetic_to_vanish(c, l, q), s = std::sqrt(2.0 * tau);
        if (!std::isfinite(tau)) continue;
        const double curve = std::max(0.0, q);
        EXPECT_NEAR(c + l * s + curve * s * s, 0.0, 1e-12 * (1.0 - c));
        EXPECT_LE(c + l * s + curve * s * s, 1e-15 * (1.0 - c));  // a lower bound
    }
    EXPECT_EQ(kinetic_to_vanish(0.0, 1.0, 1.0), 0.0);
    EXPECT_EQ(kinetic_to_vanish(-1.0, 0.0, 0.0), Interval::infinity);
    EXPECT_EQ(kinetic_to_vanish(-1.0, 0.0, -3.0), Interval::infinity);
    EXPECT_EQ(kinetic_to_vanish(-1.0, Interval::infinity, 0.0), 0.0);
    EXPECT_NEAR(kinetic_to_vanish(-2.0, 0.0, 1.0), 1.0, 1e-15);
    EXPECT_NEAR(kinetic_to_vanish(-2.0, 1.0, 0.0), 2.0, 1e-15);
}

TEST(Enclosures, AFunctionThatDoesNotExistOnTheWholeBoxHasNoBounds) {
    const model::Model m =
        from_text("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"sqrt(x)\"\n[initial]\nq = { x = 1.0 }\n");
    std::string why;
    const std::unique_ptr<Enclosure> e = Enclosure::of(m, why);
    ASSERT_TRUE(e);
    EXPECT_TRUE(e->potential({Interval(1.0, 4.0)}).defined);
    const Interval U = e->potential({Interval(-1.0, 4.0)});
    EXPECT_FALSE(U.defined);
    EXPECT_EQ(U.lo, -Interval::infinity);
    EXPECT_EQ(U.hi, Interval::infinity);
}

TEST(Enclosures, TheFormOfTheExpressionsIsRecognised) {
    const std::string text = "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x^2\"\nR = \"x'^2\"\nf = { x = \"0\" }\n";
    const auto form = [&](const std::string& old, const std::string& by) {
        std::string why;
        const model::Model m = from_text(old.empty() ? text : replaced(text, old, by));
        const std::unique_ptr<Enclosure> e = Enclosure::of(m, why);
        return std::vector<bool>{e->forces_vanish_at_rest, e->quadratic_forces, e->linear_damping,
                                 e->quadratic_rayleigh,    e->smooth,           e->lipschitz};
    };
    EXPECT_EQ(form("", ""), (std::vector<bool>{true, true, true, true, true, true}));
    EXPECT_EQ(form("x = \"0\"", "x = \"1\""), (std::vector<bool>{false, true, true, false, true, true}));
    EXPECT_EQ(form("x = \"0\"", "x = \"-x'^2\""), (std::vector<bool>{true, true, false, false, true, true}));
    EXPECT_EQ(form("x = \"0\"", "x = \"-x'^3\""), (std::vector<bool>{true, false, false, false, true, true}));
    EXPECT_EQ(form("x = \"0\"", "x = \"-abs(x')\""), (std::vector<bool>{true, false, false, false, true, true}));
    EXPECT_EQ(form("U = \"x^2\"", "U = \"abs(x)\""), (std::vector<bool>{true, true, true, true, false, true}));
    EXPECT_EQ(form("U = \"x^2\"", "U = \"x*sign(x)\""), (std::vector<bool>{true, true, true, true, false, false}));
}

TEST(Enclosures, ModelsWithoutExpressionsOrWithManyCoordinatesAreRefusedWithAReason) {
    std::string why, q, T;
    const model::Model points = test::shipped("hydrostatic-skeleton");
    EXPECT_EQ(Enclosure::of(points, why), nullptr);
    EXPECT_NE(why.find("equations that are not expressions"), std::string::npos);
    for (int k = 0; k < 13; ++k) {
        q += (k > 0 ? ", \"x" : "\"x") + std::to_string(k) + "\"";
        T += (k > 0 ? " + x" : "x") + std::to_string(k) + "'^2";
    }
    const model::Model many = from_text("[system]\nq = [" + q + "]\nT = \"" + T + "\"\n");
    EXPECT_EQ(Enclosure::of(many, why), nullptr);
    EXPECT_NE(why.find("13 coordinates"), std::string::npos) << why;
}

}  // namespace
}  // namespace saltus::proof::enclosure_test
