// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction/holding.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/decompositions.hpp"
#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/solvers/program/cone_program.hpp"

namespace saltus::solvers {

namespace {

/// Beyond this number of rows the dense cone program takes too long for a decision that is made again and again.
constexpr int max_rows = 120;
/// A singular value below this part of the largest one counts as zero: redundant rows are dependent up to rounding.
constexpr double dependent = 1e-11;

/// The sets of all laws as r = map · x with x in a product of cones, and equations between the x alone.
class Cones {
public:
    Cones(const FrictionProblem& problem, std::span<const double> signs) : signs_(signs) {
        row_.assign(problem.q.size(), {});
        for (const bool scaled : {false, true})  // the reaction that scales a slider comes before it
            for (int b = 0; b < problem.W.blocks(); ++b)
                if ((problem.laws[ix(b)].kind == LawKind::scaled_slider) == scaled)
                    add(problem.laws[ix(b)], problem.W.start[ix(b)], problem.W.block_size(b));
    }

    bool known() const { return known_; }
    const std::vector<int>& sizes() const { return sizes_; }

    Matrix map() const {
        Matrix result = Matrix::Zero(static_cast<Eigen::Index>(row_.size()), columns_);
        for (std::size_t i = 0; i < row_.size(); ++i)
            for (const auto& [column, factor] : row_[i]) result(static_cast<Eigen::Index>(i), column) += factor;
        return result;
    }
    Matrix equations() const {
        Matrix result = Matrix::Zero(static_cast<Eigen::Index>(equations_.size()), columns_);
        for (std::size_t i = 0; i < equations_.size(); ++i)
            for (const auto& [column, factor] : equations_[i].terms)
                result(static_cast<Eigen::Index>(i), column) += factor;
        return result;
    }
    Vector right() const {
        Vector result(static_cast<Eigen::Index>(equations_.size()));
        for (std::size_t i = 0; i < equations_.size(); ++i) result(static_cast<Eigen::Index>(i)) = equations_[i].right;
        return result;
    }

private:
    using Terms = std::vector<std::pair<Eigen::Index, double>>;
    struct Equation {
        Terms terms;
        double right;
    };

    Eigen::Index cone(int size) {
        sizes_.push_back(size);
        columns_ += size;
        return columns_ - size;
    }

    void add(const Law& law, int first, int size) {
        const auto normal = [&] {
            const Eigen::Index n = cone(1);
            row_[ix(first)] = {{n, 1.0}};
            return n;
        };
        switch (law.kind) {
            case LawKind::bilateral:
                for (int k = 0; k < size; ++k) {
                    const Eigen::Index positive = cone(1), negative = cone(1);
                    row_[ix(first + k)] = {{positive, 1.0}, {negative, -1.0}};
                }
                return;
            case LawKind::unilateral: normal(); return;
            case LawKind::friction2:
            case LawKind::friction3: {
                const Eigen::Index n = normal();
                disk(first + 1, size - 1, {{n, 1.0}}, 0.0, law.mu, second(law));
                return;
            }
            case LawKind::drilling4:
            case LawKind::rolling5:
            case LawKind::rolling6: {
                const Eigen::Index n = normal();
                disk(first + 1, 2, {{n, 1.0}}, 0.0, law.mu, law.mu);
                int next = first + 3;
                if (law.kind != LawKind::rolling5) disk(next++, 1, {{n, 1.0}}, 0.0, law.mu_drilling, law.mu_drilling);
                if (law.kind != LawKind::drilling4) disk(next, 2, {{n, 1.0}}, 0.0, law.mu_rolling, law.mu_rolling);
                return;
            }
            case LawKind::slider:
                // With two coefficients `bound` is the load, otherwise the largest force.
                if (law.mu_second >= 0.0)
                    disk(first, size, {}, law.bound, law.mu, law.mu_second);
                else
                    disk(first, size, {}, law.bound, 1.0, 1.0);
                return;
            case LawKind::scaled_slider: {
                Terms load = row_[ix(law.row)];
                const double sign = signs_[ix(law.row)] < 0.0 ? -1.0 : 1.0;
                for (auto& [column, factor] : load) factor *= sign;
                disk(first, size, load, 0.0, law.mu, second(law));
                return;
            }
            case LawKind::contensou4: known_ = false; return;
        }
    }

    static double second(const Law& law) { return law.mu_second >= 0.0 ? law.mu_second : law.mu; }

    /// The rows first, ... (one or two) with (r₁/μ₁)² + (r₂/μ₂)² <= load², load = Σ factor x + constant. The cone has
    /// the load as its first number, which an equation says. A row with μ = 0 has r = 0.
    void disk(int first, int size, const Terms& load, double constant, double mu, double mu_second) {
        const Eigen::Index c = cone(1 + size);
        Equation equation{{{c, 1.0}}, constant};
        for (const auto& [column, factor] : load) equation.terms.emplace_back(column, -factor);
        equations_.push_back(equation);
        row_[ix(first)] = {{c + 1, mu}};
        if (size == 2) row_[ix(first + 1)] = {{c + 2, mu_second}};
    }

    std::span<const double> signs_;
    std::vector<Terms> row_;  // of r, in terms of x
    std::vector<Equation> equations_;
    std::vector<int> sizes_;
    Eigen::Index columns_ = 0;
    bool known_ = true;
};

}  // namespace

Holding holding_reactions(const FrictionProblem& problem, std::span<const double> signs, double tolerance,
                          std::vector<double>& r) {
    SALTUS_EXPECT(signs.size() == problem.q.size());
    if (problem.q.size() > static_cast<std::size_t>(max_rows)) return Holding::unknown;
    const Cones cones(problem, signs);
    if (!cones.known()) return Holding::unknown;
    const Matrix W = to_dense(problem.W);
    const Eigen::Map<const Vector> q(problem.q.data(), static_cast<Eigen::Index>(problem.q.size()));
    const double size = q.cwiseAbs().maxCoeff();
    if (!W.allFinite() || !std::isfinite(size)) return Holding::unknown;

    // W r = −q on the range of W. Unknowns and equations are scaled to the size 1: r = ρ·(reactions of the program).
    const SingularParts svd = singular_parts(W, SingularBases::thin);
    const Vector& values = svd.values;
    Eigen::Index rank = 0;
    while (rank < values.size() && values(rank) > dependent * values(0)) ++rank;
    if (rank == 0) return Holding::unknown;
    const double scale = size > 0.0 ? size : 1.0, rho = scale / values(0);
    const Matrix map = cones.map(), equations = cones.equations();
    ConeProgram program;
    program.A.resize(rank + equations.rows(), map.cols());
    program.b.resize(program.A.rows());
    for (Eigen::Index k = 0; k < rank; ++k) {
        // Row k: u_k·(W r + q) = 0, divided by its singular value relative to the largest one.
        const double weight = values(0) / values(k);
        program.A.row(k) = weight / values(0) * (svd.U.col(k).transpose() * W * map);
        program.b(k) = -weight * svd.U.col(k).dot(q) / scale;
    }
    program.A.bottomRows(equations.rows()) = equations;
    program.b.tail(equations.rows()) = cones.right() / rho;
    program.c = Vector::Zero(map.cols());
    program.cones = cones.sizes();
    InteriorThenRays method;
    method.interior.tolerance = std::min(method.interior.tolerance, tolerance);
    const ProgramSolution solution = solve(program, method);
    if (solution.x.size() != map.cols() || !solution.x.allFinite()) return Holding::none;
    const Vector reactions = rho * (map * solution.x);
    const double violation = solution.primal_residual;
    if (!usable(solution.status) || violation > tolerance) return Holding::none;
    if ((W * reactions + q).cwiseAbs().maxCoeff() > tolerance * scale) return Holding::none;
    r.assign(reactions.data(), reactions.data() + reactions.size());
    return Holding::found;
}

}  // namespace saltus::solvers
