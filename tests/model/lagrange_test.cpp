// SPDX-License-Identifier: Apache-2.0
// Equations of motion, rows and all Jacobians against values that were derived with sympy at 50 digits from the same
// texts (tests/oracles/lagrange.py), which shares nothing with this code.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "oracles/lagrange_cases.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/jacobians.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/model/symbolic.hpp"

namespace saltus::lagrange_test {
namespace {

using namespace saltus::model;

class Lagrange : public testing::TestWithParam<test::LagrangeCase> {
protected:
    Lagrange() : c(GetParam()), m(build(io::parse_model(c.toml, c.name))), ws(m), terms(m.layout()) {
        evaluate(m, ws, c.t, c.q, c.u, terms);
    }

    /// Entries are compared at the size of the whole: cancelling terms of a sum lose digits together.
    static void expect_near(const Matrix& got, const std::vector<double>& row_major, const std::string& what) {
        ASSERT_EQ(static_cast<std::size_t>(got.size()), row_major.size()) << what;
        double scale = 1.0;
        for (const double v : row_major) scale = std::max(scale, std::abs(v));
        for (Eigen::Index i = 0; i < got.rows(); ++i)
            for (Eigen::Index j = 0; j < got.cols(); ++j)
                EXPECT_NEAR(got(i, j), row_major[static_cast<std::size_t>(i * got.cols() + j)], 256 * 2.2e-16 * scale)
                    << what << " (" << i << ", " << j << ")";
    }
    static Matrix column(std::span<const double> v) {
        return Eigen::Map<const Vector>(v.data(), static_cast<Eigen::Index>(v.size()));
    }

    Matrix jacobian(Function f) {
        const auto jacobians = m.system->jacobians();
        std::vector<double> values(jacobians->pattern(f).size());
        jacobians->evaluate(f, at(m, c.t, c.q, c.u), c.a, c.lam, values);
        return dense(jacobians->pattern(f), values);
    }

    const test::LagrangeCase& c;
    const Model m;
    Workspace ws;
    Terms terms;
};

TEST_P(Lagrange, MassForceAndRowsAgreeWithTheOracle) {
    expect_near(dense_symmetric(m.layout().mass, terms.M), c.M, "M");
    expect_near(column(terms.h), c.h, "h");
    expect_near(column(terms.positions), c.positions, "positions");
    expect_near(dense(m.layout().rows, terms.W), c.W, "W");
    expect_near(column(terms.chi), c.chi, "chi");
    expect_near(column(terms.zeta), c.zeta, "zeta");
}

TEST_P(Lagrange, EnergiesAgreeWithTheOracle) {
    const Energy e = m.system->energy(at(m, c.t, c.q, c.u), ws.scratch());
    // T = T₂ + T₁ + T₀ by degree in u. The energies are T₂ = ½ uᵀMu and U − T₀; T₀ >= 0 is 0 without moving frames.
    double T2 = 0.0;
    for (std::size_t i = 0; i < c.u.size(); ++i)
        for (std::size_t j = 0; j < c.u.size(); ++j) T2 += 0.5 * c.u[i] * c.M[i * c.u.size() + j] * c.u[j];
    const double rounding = 64 * 2.2e-16 * std::max({1.0, std::abs(c.T), std::abs(c.U)});
    EXPECT_NEAR(e.kinetic, T2, rounding);
    if (std::abs(c.T - T2) <= rounding)
        EXPECT_NEAR(e.potential, c.U, rounding);
    else
        EXPECT_LE(e.potential, c.U + rounding);
}

TEST_P(Lagrange, JacobiansAgreeWithTheOracle) {
    std::vector<std::string> names;
    for (const Parameter& p : m.settings->parameters)
        if (p.column >= 0) {
            ASSERT_EQ(p.column, static_cast<int>(names.size())) << "columns go by the order of the file";
            names.push_back(p.name);
        }
    ASSERT_EQ(names, std::vector<std::string>(c.parameters.begin(), c.parameters.end()));
    expect_near(jacobian(Function::residual), c.residual_jacobian, "residual");
    expect_near(jacobian(Function::velocity), c.velocity_jacobian, "velocity");
    expect_near(jacobian(Function::acceleration), c.acceleration_jacobian, "acceleration");
}

TEST_P(Lagrange, PositionJacobianIsTheRowsAndTheirRate) {
    const Matrix J = jacobian(Function::position);
    const Matrix W = dense(m.layout().rows, terms.W);
    const Eigen::Index positions = m.layout().positions();
    ASSERT_EQ(J.rows(), positions);
    for (Eigen::Index i = 0; i < positions; ++i) {
        EXPECT_NEAR(J(i, 0), terms.chi[static_cast<std::size_t>(i)], 1e-13);
        for (Eigen::Index j = 0; j < m.size(); ++j) EXPECT_NEAR(J(i, 1 + j), W(i, j), 1e-13);
    }
}

TEST_P(Lagrange, AllTermsOnOneTapeAreTheTermsOneByOne) {
    ASSERT_NE(m.system->symbolic(), nullptr);
    const expr::Tape& tape = m.system->symbolic()->tape(SymbolicEquations::Part::all);
    std::vector<double> variables{c.t}, scratch(tape.slot_count()), out(tape.output_count()), expected;
    variables.insert(variables.end(), c.q.begin(), c.q.end());
    variables.insert(variables.end(), c.u.begin(), c.u.end());
    tape.prepare<double>(m.p, scratch);
    tape.evaluate<double>(variables, scratch, out);
    for (const auto* part : {&terms.M, &terms.h, &terms.positions, &terms.W, &terms.chi, &terms.zeta})
        expected.insert(expected.end(), part->begin(), part->end());
    EXPECT_EQ(out, expected);
    // Against the tapes of one term each, which `terms` does not use.
    Terms single(m.layout());
    m.system->System::terms(at(m, c.t, c.q, c.u), ws.scratch(), single);
    EXPECT_EQ(out, std::vector<double>(single.all().begin(), single.all().end()));
}

std::string case_name(const testing::TestParamInfo<test::LagrangeCase>& info) {
    std::string name = info.param.name;
    std::replace(name.begin(), name.end(), '/', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Oracle, Lagrange, testing::ValuesIn(test::lagrange_cases()), case_name);

}  // namespace
}  // namespace saltus::lagrange_test
