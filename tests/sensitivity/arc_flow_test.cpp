// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/arc/detail/arc_flow.hpp"

#include "sensitivity/closed_forms.hpp"
#include "sensitivity/recorded.hpp"

namespace saltus::arc_flow_test {
namespace {

using namespace saltus::test;
using integrate::RecordedArc;
using sensitivity::ArcCollocation;
using sensitivity::ArcFlow;
using sensitivity::ArcMotion;
using sensitivity::Nodes;
using sensitivity::Tangent;

/// x'' = −(a + b) x' − a b x, an oscillator with the rates a and b, and z'' = −c x', which nothing depends on.
template <class S>
struct Oscillator {
    S x, z, vx, vz, a, b, c;

    Eigen::Matrix<S, 4, 1> at(double t) const {
        const S A = (vx + b * x) / (b - a), B = -(vx + a * x) / (b - a);
        const S ea = std::exp(-a * t), eb = std::exp(-b * t), position = A * ea + B * eb;
        const S area = A * (S(1.0) - ea) / a + B * (S(1.0) - eb) / b;  // ∫ x
        Eigen::Matrix<S, 4, 1> state;
        state << position, z + vz * t - c * (area - x * t), -a * A * ea - b * B * eb, vz - c * (position - x);
        return state;
    }
};
constexpr int numbers = 7;
template <class S>
S& number(Oscillator<S>& o, int k) {
    S* const all[numbers] = {&o.x, &o.z, &o.vx, &o.vz, &o.a, &o.b, &o.c};
    return *all[k];
}
const std::vector<std::string> names{"x", "z", "x'", "z'", "a", "b", "c"};

/// ∂(x, z, x', z') at t by all seven numbers, 4 × 7.
Matrix closed_form(Oscillator<double> own, double t) {
    Matrix out(4, numbers);
    for (int k = 0; k < numbers; ++k) {
        Oscillator<std::complex<double>> o;
        for (int i = 0; i < numbers; ++i) number(o, i) = number(own, i);
        out.col(k) = complex_step(
            [&](std::complex<double> value) {
                number(o, k) = value;
                return o.at(t);
            },
            number(own, k));
    }
    return out;
}

std::string text_of(const Oscillator<double>& o) {
    return "[system]\nq = [\"x\", \"z\"]\nT = \"(x'^2 + z'^2)/2\"\nf = { x = \"-(a + b)*x' - a*b*x\", z = \"-c*x'\" "
           "}\n[parameters]\na = " +
           number_text(o.a) + "\nb = " + number_text(o.b) + "\nc = " + number_text(o.c) +
           "\n[initial]\nq = { x = " + number_text(o.x) + ", z = " + number_text(o.z) +
           " }\nu = { x = " + number_text(o.vx) + ", z = " + number_text(o.vz) + " }\n";
}

/// Unit directions of all state and parameter columns, one per row.
Matrix unit_directions(const Tangent& x) {
    Matrix out = Matrix::Zero(x.columns() - 1, x.columns());
    out.rightCols(x.columns() - 1).setIdentity();
    return out;
}

/// Carries all directions forwards and all gradients of the final state backwards; returns ∂x by (x, p) of both.
struct BothWays {
    Matrix forward, backward;  // 2n × (2n + parameters)
};
BothWays both_ways(Tangent& x, const RecordedArc& arc) {
    BothWays out;
    ArcFlow flow(x, 1e-11, 1e-3, 1e-3);
    const Matrix all = unit_directions(x);
    Matrix probe = all.colwise().sum(), directions = all;
    EXPECT_TRUE(flow.forwards(arc, probe, directions));
    const int n = x.n();
    out.forward = directions.middleCols(1, 2 * n).transpose();
    out.backward = Matrix::Zero(2 * n, x.columns() - 1);
    out.backward.leftCols(2 * n).setIdentity();
    EXPECT_TRUE(flow.backwards(arc, flow.steps(), out.backward));
    return out;
}

const Oscillator<double> mild{0.7, -0.2, 0.4, 0.3, 1.5, 0.6, 0.8};
const Oscillator<double> stiff{0.7, -0.2, 0.4, 0.3, 1.5, 900.0, 0.8};

TEST(ArcFlow, OfAnOscillatorIsTheMatrixExponentialAndTheAdjointItsTranspose) {
    const double t = 2.0;
    const Recorded r(text_of(mild), t);
    Tangent x = r.tangent(names);
    ASSERT_TRUE(x.linearised.available());
    ASSERT_FALSE(r.arc().implicit);
    const BothWays found = both_ways(x, r.arc());
    // The linear equations have constant coefficients but for f_p, which contains the recorded motion.
    expect_matrix(found.forward.leftCols(4), closed_form(mild, t).leftCols(4), 1e-10, "by the initial state");
    expect_matrix(found.forward.rightCols(3), closed_form(mild, t).rightCols(3), 1e-7, "by the parameters");
    expect_matrix(found.backward, found.forward, 1e-13, "adjoint");
}

TEST(ArcFlow, OfAStiffArcIsTheMatrixExponentialAndTheAdjointItsTranspose) {
    const double t = 0.5;
    const Recorded r(text_of(stiff), t, EventDriven{.implicit = true});
    Tangent x = r.tangent(names);
    ASSERT_TRUE(x.linearised.available());
    ASSERT_TRUE(r.arc().implicit);
    const BothWays found = both_ways(x, r.arc());
    expect_matrix(found.forward.leftCols(4), closed_form(stiff, t).leftCols(4), 1e-8, "by the initial state");
    expect_matrix(found.forward.rightCols(3), closed_form(stiff, t).rightCols(3), 1e-6, "by the parameters");
    expect_matrix(found.backward, found.forward, 1e-12, "adjoint");
}

TEST(ArcFlow, OfManyCoordinatesIsExplicitAndStillTransposed) {
    // Thirteen independent oscillators x'' = −k i x.
    const int count = 13;
    const double t = 1.0, k = 1.3;
    std::string q, T, f;
    for (int i = 1; i <= count; ++i) {
        const std::string name = "x" + std::to_string(i), comma = i > 1 ? ", " : "";
        q += comma + "\"" + name + "\"";
        T += (i > 1 ? " + " : "") + name + "'^2/2";
        f += comma + name + " = \"-k*" + std::to_string(i) + "*" + name + "\"";
    }
    const Recorded r("[system]\nq = [" + q + "]\nT = \"" + T + "\"\nf = { " + f +
                         " }\n[parameters]\nk = 1.3\n[initial]\nq = { x1 = 1.0, x7 = 0.5 }\n",
                     t);
    Tangent x = r.tangent({"k"});
    ASSERT_TRUE(x.linearised.available());
    const BothWays found = both_ways(x, r.arc());
    Matrix expected = Matrix::Zero(2 * count, 2 * count);
    for (int i = 0; i < count; ++i) {
        const double w = std::sqrt(k * (i + 1));
        expected(i, i) = expected(count + i, count + i) = std::cos(w * t);
        expected(i, count + i) = std::sin(w * t) / w;
        expected(count + i, i) = -w * std::sin(w * t);
    }
    expect_matrix(found.forward.leftCols(2 * count), expected, 1e-9, "by the initial state");
    // x₁ = cos(wt): ∂x₁/∂k = −t sin(wt)/(2w)
    const double w = std::sqrt(k);
    EXPECT_NEAR(found.forward(0, 2 * count), -t * std::sin(w * t) / (2.0 * w), 1e-7);
    expect_matrix(found.backward, found.forward, 1e-13, "adjoint");
}

TEST(ArcFlow, OfAStiffArcOfManyCoordinatesHasFewStepsWithSparseMatrices) {
    // x_i'' = −(a + b) x_i' − a b (x_i − c x_(i−1)²), a chain of stiff oscillators. The derivative of the first two by
    // the initial state of the first and by a is compared with the collocation of these two oscillators alone.
    const auto chain = [](int count) {
        std::string q, T, f, start;
        for (int i = 1; i <= count; ++i) {
            const std::string name = "x" + std::to_string(i), comma = i > 1 ? ", " : "";
            q += comma + "\"" + name + "\"";
            T += (i > 1 ? " + " : "") + name + "'^2/2";
            f += comma + name + " = \"-(a + b)*" + name + "' - a*b*(" + name;
            if (i > 1) f += " - 0.4*x" + std::to_string(i - 1) + "^2";
            f += ")\"";
            start += comma + name + " = " + number_text(1.0 / i);
        }
        return "[system]\nq = [" + q + "]\nT = \"" + T + "\"\nf = { " + f +
               " }\n[parameters]\na = 1.5\nb = 2000.0\n[initial]\nq = { " + start + " }\n";
    };
    const double t = 0.5;
    const EventDriven method{.rtol = 1e-11, .atol = 1e-13, .implicit = true};
    const auto derivative = [&](const Recorded& r, const std::string& name, ArcFlow::Use use, long& evaluations) {
        Tangent x = r.tangent({name});
        EXPECT_TRUE(x.linearised.available());
        EXPECT_TRUE(r.arc().implicit);
        Matrix probe = Matrix::Zero(1, x.columns()), none(0, x.columns());
        probe(0, column(x, r.model, name)) = 1.0;
        ArcFlow flow(x, 1e-11, 1e-3, 1e-3, use);
        EXPECT_TRUE(flow.forwards(r.arc(), probe, none));
        evaluations = flow.evaluations;
        const int n = x.n();
        return Vector(Vector{{probe(0, 1), probe(0, 2), probe(0, 1 + n), probe(0, 2 + n)}});
    };
    const Recorded few(chain(2), t, method), many(chain(160), t, method);
    for (const char* name : {"x1", "x1'", "a"}) {
        long evaluations = 0;
        const Vector expected = derivative(few, name, ArcFlow::Use::both_ways, evaluations);
        const Vector found = derivative(many, name, ArcFlow::Use::forward_only, evaluations);
        EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-8 * expected.cwiseAbs().maxCoeff()) << name;
        // Explicit steps of the length 3/b, with twelve evaluations each, would need 4000.
        EXPECT_LT(evaluations, 2000) << name;
    }
}

TEST(ArcFlow, TellsTheDirectionsAtTheEndsOfAllRecordedSteps) {
    const Recorded r(text_of(mild), 1.0);
    Tangent x = r.tangent(names);
    ASSERT_TRUE(x.linearised.available());
    ArcFlow flow(x, 1e-11, 1e-3, 1e-3);
    Matrix probe = unit_directions(x).topRows(2), directions = unit_directions(x).topRows(4);
    std::size_t told = 0;
    ASSERT_TRUE(flow.forwards(r.arc(), probe, directions, [&](double t) {
        ++told;
        expect_matrix(directions.middleCols(1, 4).transpose(), closed_form(mild, t).leftCols(4), 1e-10, "on the way");
    }));
    EXPECT_EQ(told, r.arc().steps.size());
}

TEST(ArcCollocation, NodesIntegratePolynomialsExactly) {
    for (const Nodes* nodes : {&sensitivity::radau_three(), &sensitivity::radau_five(), &sensitivity::gauss_five()}) {
        const Eigen::Index s = nodes->c.size();
        for (Eigen::Index k = 0; k < s; ++k) {
            const auto power = static_cast<double>(k);
            const Vector values = nodes->c.array().pow(power);
            const Vector once = nodes->c.array().pow(power + 1.0) / (power + 1.0);
            expect_matrix(nodes->A * values, once, 1e-14, "A");
            EXPECT_NEAR(nodes->weights.dot(values), 1.0 / (power + 1.0), 1e-14);
            // ∫₀¹ ∫₀^τ cᵏ = 1/((k + 1)(k + 2)); A integrates c^(k+1) exactly if k + 1 < s
            if (k + 1 < s) {
                EXPECT_NEAR(nodes->position_weights.dot(values), 1.0 / ((power + 1.0) * (power + 2.0)), 1e-14);
            }
            EXPECT_NEAR(nodes->left.dot(values), k == 0 ? 1.0 : 0.0, 1e-12);
            EXPECT_NEAR(nodes->right.dot(values), 1.0, 1e-12);
        }
        expect_matrix(nodes->A_squared, nodes->A * nodes->A, 1e-15, "A²");
        // 2c − 1 is the first Legendre polynomial.
        Vector first = Vector::Zero(s);
        first(1) = 1.0;
        expect_matrix(nodes->legendre * Vector(2.0 * nodes->c.array() - 1.0), first, 1e-13, "Legendre coefficients");
    }
}

TEST(ArcCollocation, OfOneStepHasItsOrderAndAnExactTranspose) {
    const Recorded r(text_of(mild), 2.0, EventDriven{.rtol = 1e-12, .atol = 1e-15});
    Tangent x = r.tangent(names);
    ASSERT_TRUE(x.linearised.available());
    ArcMotion motion(x);
    motion.begin(r.arc());
    ArcCollocation step(x, motion);
    const Matrix all = unit_directions(x);
    const Matrix from = all.middleCols(1, 4);
    const auto error_of = [&](double h) {
        Matrix to;
        EXPECT_TRUE(step.prepare(0.0, h, sensitivity::gauss_five(), all));
        EXPECT_TRUE(step.forwards(from, to));
        Matrix gradients = Matrix::Zero(4, x.columns() - 1);
        gradients.leftCols(4).setIdentity();
        EXPECT_TRUE(step.prepare(0.0, h, sensitivity::gauss_five()));
        EXPECT_TRUE(step.backwards(gradients));
        expect_matrix(gradients, to.transpose(), 1e-14, "transpose");
        return (to.transpose().leftCols(4) - closed_form(mild, h).leftCols(4)).cwiseAbs().maxCoeff();
    };
    // The local error is of order 11 in the limit of short steps; with these steps, which are above rounding,
    // almost 10.
    const double wide = error_of(1.0), narrow = error_of(0.5);
    EXPECT_LT(wide, 1e-8);
    EXPECT_GT(std::log2(wide / narrow), 9.5);
}

TEST(ArcCollocation, EstimatesAnErrorThatIsNotBelowTheTrueOne) {
    const Recorded r(text_of(mild), 2.0, EventDriven{.rtol = 1e-12, .atol = 1e-15});
    Tangent x = r.tangent(names);
    ASSERT_TRUE(x.linearised.available());
    ArcMotion motion(x);
    motion.begin(r.arc());
    ArcCollocation step(x, motion);
    const Matrix all = unit_directions(x).topRows(4);
    for (const double h : {2.0, 1.0, 0.5}) {
        Matrix to, estimate;
        ASSERT_TRUE(step.prepare(0.0, h, sensitivity::gauss_five(), all));
        ASSERT_TRUE(step.forwards(all.middleCols(1, 4), to));
        step.estimate_error(4, nullptr, nullptr, estimate);
        const Matrix error = to - closed_form(mild, h).leftCols(4).transpose();
        for (int row = 0; row < 4; ++row)
            EXPECT_GE(estimate.row(row).maxCoeff() + 1e-15, error.row(row).cwiseAbs().maxCoeff()) << h << ", " << row;
        EXPECT_LT(estimate.maxCoeff(), 1e-3);
    }
}

}  // namespace
}  // namespace saltus::arc_flow_test
