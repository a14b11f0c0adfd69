// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "saltus/expr/tape.hpp"
#include "saltus/model/system.hpp"

namespace saltus::model {

/// A mechanical system in expressions over one graph. The coordinates may be a part of a larger model's: `index`
/// says which.
struct Formulas {
    expr::Graph graph;
    expr::Expr t;
    std::vector<expr::Expr> q, u, p;
    std::vector<int> index;  ///< of q[i] among the model's coordinates, ascending
    int coordinates = 0;     ///< of the model
    expr::Expr T, U, R;
    std::vector<expr::Expr> f;  ///< one per q
    std::vector<expr::Expr> constraints, gaps;
    std::vector<expr::Expr> slips;  ///< velocities affine in u
    std::vector<expr::Expr> coefficients;
    std::vector<expr::Expr> regions;  ///< of certificates: positive inside
};

/// What follows from the formulas by differentiation.
///     M = ∂²T/∂u²,  h = ∂T/∂q − D(∂T/∂u) − ∂U/∂q − ∂R/∂u + f,  D = u·∂/∂q + ∂/∂t at frozen velocities
///     γ = D g,  W = ∂γ/∂u,  χ = γ at u = 0,  ζ = D γ
struct Derived {
    struct Entry {
        int row, column;  ///< local numbers
        expr::Expr value;
    };
    std::vector<Entry> mass;  ///< lower triangle, structural nonzeros, row by row
    std::vector<expr::Expr> h;
    std::vector<expr::Expr> velocity;  ///< γ of every row
    std::vector<Entry> rows;
    std::vector<expr::Expr> chi, zeta;
    expr::Expr damping, applied;  ///< powers u·∂R/∂u, u·f
};
Derived derive(Formulas& formulas);

class DerivativeStore;

/// A system given by formulas, evaluated on tapes. The tapes are open to those who evaluate many states at once
/// (Lanes) or whole boxes (Interval); their variables are [t, q..., u...] of the formulas' own coordinates.
class ExpressionSystem final : public System {
public:
    enum Term {
        mass_term,
        force_term,
        position_term,
        row_term,
        curvature_term,
        coefficient_term,
        energy_term,
        all_terms
    };
    static constexpr std::size_t term_count = 8;

    explicit ExpressionSystem(Formulas formulas);

    const Layout& layout() const override { return layout_; }
    std::size_t scratch_size() const override { return scratch_size_; }
    void prepare(std::span<const double> p, std::span<double> scratch) const override;
    void mass(const At& at, std::span<double> scratch, std::span<double> M) const override;
    void force(const At& at, std::span<double> scratch, std::span<double> h) const override;
    void positions(const At& at, std::span<double> scratch, std::span<double> g) const override;
    void rows(const At& at, std::span<double> scratch, std::span<double> W, std::span<double> chi) const override;
    void curvature(const At& at, std::span<double> scratch, std::span<double> zeta) const override;
    void coefficients(const At& at, std::span<double> scratch, std::span<double> values) const override;
    void terms(const At& at, std::span<double> scratch, Terms& out) const override;
    Energy energy(const At& at, std::span<double> scratch) const override;
    std::unique_ptr<Jacobians> jacobians() const override;
    std::unique_ptr<Jacobians> jacobians_by(std::span<const int> parameters) const override;

    /// Outputs by term: M; h; positions; W then χ; ζ; coefficients; T, U, damping, applied; and all of the first
    /// five together, M h positions W χ ζ, sharing what they have in common.
    const expr::Tape& tape(Term term) const { return tapes_[static_cast<std::size_t>(term)]; }
    const Formulas& formulas() const { return formulas_; }
    const Derived& derived() const { return derived_; }

private:
    void evaluate(Term term, const At& at, std::span<double> scratch, std::span<double> out) const;

    Formulas formulas_;
    Derived derived_;
    Layout layout_;
    std::array<expr::Tape, term_count> tapes_;
    std::array<std::size_t, term_count> tape_start_{};  // in the scratch
    std::size_t output_start_ = 0, scratch_size_ = 0;
    std::shared_ptr<DerivativeStore> derivatives_;
};

}  // namespace saltus::model
