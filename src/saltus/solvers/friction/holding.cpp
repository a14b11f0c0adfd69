// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction/holding.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

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

/// The sets of all laws as r = map · x + offset with x in a product of cones, and equations between the x alone. With
/// `cap` > 0 the sets are smaller by s = cap − x_0: normal reactions are >= s, and friction has the load minus s.
class Cones {
public:
    Cones(const FrictionProblem& problem, std::span<const double> signs, double cap = 0.0) : signs_(signs), cap_(cap) {
        row_.assign(problem.q.size(), {});
        offset_.assign(problem.q.size(), 0.0);
        if (cap_ > 0.0) cone(1);
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
    Vector offset() const {
        return Eigen::Map<const Vector>(offset_.data(), static_cast<Eigen::Index>(offset_.size()));
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
            if (cap_ > 0.0) {  // r_N = x_n + s
                row_[ix(first)].emplace_back(0, -1.0);
                offset_[ix(first)] = cap_;
            }
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
                disk(first + 1, size - 1, {{n, 1.0}}, 0.0, law.mu, second(law), true);
                return;
            }
            case LawKind::drilling4:
            case LawKind::rolling5:
            case LawKind::rolling6: {
                const Eigen::Index n = normal();
                disk(first + 1, 2, {{n, 1.0}}, 0.0, law.mu, law.mu, true);
                int next = first + 3;
                if (law.kind != LawKind::rolling5)
                    disk(next++, 1, {{n, 1.0}}, 0.0, law.mu_drilling, law.mu_drilling, true);
                if (law.kind != LawKind::drilling4)
                    disk(next, 2, {{n, 1.0}}, 0.0, law.mu_rolling, law.mu_rolling, true);
                return;
            }
            case LawKind::slider:
                // With two coefficients `bound` is the load, otherwise the largest force.
                if (law.mu_second >= 0.0)
                    disk(first, size, {}, law.bound, law.mu, law.mu_second, false);
                else
                    disk(first, size, {}, law.bound, 1.0, 1.0, false);
                return;
            case LawKind::scaled_slider: {
                Terms load = row_[ix(law.row)];
                const double sign = signs_[ix(law.row)] < 0.0 ? -1.0 : 1.0;
                for (auto& [column, factor] : load) factor *= sign;
                disk(first, size, load, 0.0, law.mu, second(law), false);
                return;
            }
            case LawKind::contensou4: known_ = false; return;
        }
    }

    static double second(const Law& law) { return law.mu_second >= 0.0 ? law.mu_second : law.mu; }

    /// The rows first, ... (one or two) with (r₁/μ₁)² + (r₂/μ₂)² <= load², load = Σ factor x + constant. The cone has
    /// the load as its first number, which an equation says. A row with μ = 0 has r = 0. For contacts x_n is already
    /// the normal reaction minus s; from other loads s = cap − x_0 is subtracted.
    void disk(int first, int size, const Terms& load, double constant, double mu, double mu_second, bool inside) {
        const Eigen::Index c = cone(1 + size);
        Equation equation{{{c, 1.0}}, constant};
        for (const auto& [column, factor] : load) equation.terms.emplace_back(column, -factor);
        if (cap_ > 0.0 && !inside) {
            equation.terms.emplace_back(0, -1.0);
            equation.right -= cap_;
        }
        equations_.push_back(equation);
        row_[ix(first)] = {{c + 1, mu}};
        if (size == 2) row_[ix(first + 1)] = {{c + 2, mu_second}};
    }

    std::span<const double> signs_;
    double cap_;
    std::vector<Terms> row_;      // of r, in terms of x
    std::vector<double> offset_;  // of r
    std::vector<Equation> equations_;
    std::vector<int> sizes_;
    Eigen::Index columns_ = 0;
    bool known_ = true;
};

/// W r + q = 0 on the range of W, for r = map · x + offset and x in cones: a cone program without an aim. Unknowns and
/// equations are scaled to the size 1: r = ρ·(reactions of the program).
struct HoldingProgram {
    ConeProgram program;
    Matrix W;
    Vector q;
    double scale = 1.0, rho = 1.0;  ///< max|q|; that divided by ‖W‖
    Matrix map;
    Vector offset;  ///< of r

    Vector reactions(const Vector& x) const { return rho * (map * x) + offset; }
    /// The largest |W r + q|, relative to max|q|.
    double defect(const Vector& r) const { return (W * r + q).cwiseAbs().maxCoeff() / scale; }
};

/// Empty if the method does not serve. `reserve`: the sets are smaller by s = ρ (1 − x_0).
std::optional<HoldingProgram> holding_program(const FrictionProblem& problem, std::span<const double> signs,
                                              bool reserve) {
    SALTUS_EXPECT(signs.size() == problem.q.size());
    if (problem.q.size() > static_cast<std::size_t>(max_rows)) return {};
    HoldingProgram p;
    p.W = to_dense(problem.W);
    p.q = Eigen::Map<const Vector>(problem.q.data(), static_cast<Eigen::Index>(problem.q.size()));
    const double size = p.q.cwiseAbs().maxCoeff();
    if (!p.W.allFinite() || !std::isfinite(size)) return {};
    const SingularParts svd = singular_parts(p.W, SingularBases::thin);
    const Vector& values = svd.values;
    Eigen::Index rank = 0;
    while (rank < values.size() && values(rank) > dependent * values(0)) ++rank;
    if (rank == 0) return {};
    p.scale = size > 0.0 ? size : 1.0;
    p.rho = p.scale / values(0);
    const Cones cones(problem, signs, reserve ? p.rho : 0.0);
    if (!cones.known()) return {};
    p.map = cones.map();
    p.offset = cones.offset();
    const Matrix equations = cones.equations();
    const Vector known = p.q + p.W * p.offset;
    p.program.A.resize(rank + equations.rows(), p.map.cols());
    p.program.b.resize(p.program.A.rows());
    for (Eigen::Index k = 0; k < rank; ++k) {
        // Row k: u_k·(W r + q) = 0, divided by its singular value relative to the largest one.
        const double weight = values(0) / values(k);
        p.program.A.row(k) = weight / values(0) * (svd.U.col(k).transpose() * p.W * p.map);
        p.program.b(k) = -weight * svd.U.col(k).dot(known) / p.scale;
    }
    p.program.A.bottomRows(equations.rows()) = equations;
    p.program.b.tail(equations.rows()) = cones.right() / p.rho;
    p.program.c = Vector::Zero(p.map.cols());
    p.program.cones = cones.sizes();
    return p;
}

}  // namespace

Holding holding_reactions(const FrictionProblem& problem, std::span<const double> signs, double tolerance,
                          std::vector<double>& r) {
    const std::optional<HoldingProgram> p = holding_program(problem, signs, false);
    if (!p) return Holding::unknown;
    InteriorThenRays method;
    method.interior.tolerance = std::min(method.interior.tolerance, tolerance);
    const ProgramSolution solution = solve(p->program, method);
    if (solution.x.size() != p->map.cols() || !solution.x.allFinite()) return Holding::none;
    if (!usable(solution.status) || solution.primal_residual > tolerance) return Holding::none;
    const Vector reactions = p->reactions(solution.x);
    if (p->defect(reactions) > tolerance) return Holding::none;
    r.assign(reactions.data(), reactions.data() + reactions.size());
    return Holding::found;
}

// With y = r/ρ = map · x + offset/ρ as further unknowns and a further cone (n, y): min n.
Holding least_holding_reactions(const FrictionProblem& problem, std::span<const double> signs, double tolerance,
                                std::vector<double>& r) {
    std::optional<HoldingProgram> p = holding_program(problem, signs, false);
    if (!p) return Holding::unknown;
    const Eigen::Index own = p->map.cols(), rows = p->program.A.rows(), m = p->map.rows();
    Matrix A = Matrix::Zero(rows + m, own + 1 + m);
    A.topLeftCorner(rows, own) = p->program.A;
    A.bottomLeftCorner(m, own) = -p->map;
    A.bottomRightCorner(m, m).setIdentity();
    Vector b(rows + m);
    b << p->program.b, p->offset / p->rho;
    p->program.A = std::move(A);
    p->program.b = std::move(b);
    p->program.c = Vector::Zero(own + 1 + m);
    p->program.c(own) = 1.0;
    p->program.cones.push_back(static_cast<int>(1 + m));
    InteriorPoint method;
    method.tolerance = std::min(method.tolerance, tolerance);
    const ProgramSolution solution = solve(p->program, method);
    if (solution.x.size() != own + 1 + m || !solution.x.allFinite()) return Holding::none;
    if (!usable(solution.status) || solution.primal_residual > tolerance) return Holding::none;
    const Vector reactions = p->reactions(solution.x.head(own));
    if (p->defect(reactions) > tolerance) return Holding::none;
    r.assign(reactions.data(), reactions.data() + reactions.size());
    return Holding::found;
}

std::optional<double> holding_reserve(const FrictionProblem& problem, std::span<const double> signs) {
    constexpr double tolerance = 1e-9;  // of the program, and of |W r + q|: errors of s relative to the reactions
    std::optional<HoldingProgram> p = holding_program(problem, signs, true);
    if (!p) return {};
    p->program.c(0) = 1.0;
    InteriorThenRays method;
    method.interior.tolerance = tolerance;
    const ProgramSolution solution = solve(p->program, method);
    if (solution.x.size() != p->map.cols() || !solution.x.allFinite() || !usable(solution.status)) return {};
    if (p->defect(p->reactions(solution.x)) > tolerance) return {};
    return p->rho * (1.0 - solution.x(0));
}

}  // namespace saltus::solvers
