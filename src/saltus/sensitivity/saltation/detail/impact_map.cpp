// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/saltation/detail/impact_map.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "saltus/base/index.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/sensitivity/saltation/detail/impact_memory.hpp"

namespace saltus::sensitivity {

namespace {

using impact::ImpactLaw;
using integrate::ElementLayout;
using integrate::FrictionPart;
using integrate::RecordedImpact;
using integrate::RowDecision;
using model::Function;
using solvers::LawKind;
using trajectory::ElementKind;
using RowVector = Eigen::RowVectorXd;

/// An impulse counts as zero if |Λ| ≤ this · (largest impulse of the impact).
constexpr double negligible_impulse_ratio = 1e-9;
/// The velocity ξ = γ⁺ + e γ⁻ counts as zero if |ξ| ≤ this · (largest |γ⁻| of the impact).
constexpr double negligible_velocity_ratio = 1e-9;
/// A contact has no force if λ_N ≤ this · (largest generalised force or reaction).
constexpr double negligible_force_ratio = 1e-9;
/// … and will have none if |λ̇_N| ≤ this · (sum of the magnitudes of the terms of λ̇_N).
constexpr double negligible_force_rate_ratio = 1e-6;
/// Lower bound of a divisor, so that 0/0 becomes 0 instead of NaN.
constexpr double smallest_impact_divisor = 1e-300;
/// The equations of an impact are treated as singular if (smallest pivot) < this · (largest pivot).
constexpr double singular_pivot_ratio = 1e-6;
/// Singular values below this part of the largest are zero in least squares.
constexpr double rank_cutoff = 1e-13;
/// Sticking friction is at its bound if |Λ_T| > (1 − this) μ Λ_N.
constexpr double friction_bound_margin = 1e-9;
/// Rows whose angle (sine) is below this are linearly dependent.
constexpr double dependent_row_angle = 1e-9;
/// A linear equation is violated if |defect| > this · (1 + |right-hand side|).
constexpr double solution_defect = 1e-9;
/// A condition whose derivative is nowhere larger than this is always met, and is left out.
constexpr double negligible_impact_condition = 1e-9;
/// A contact takes part in the energy law if γ_N⁻ < −this · (largest |γ⁻|).
constexpr double approach_ratio = 1e-10;
/// The energy law needs |T − ½uᵀMu| ≤ this · ½uᵀMu: no kinetic energy of moving frames.
constexpr double kinetic_energy_ratio = 1e-9;
/// The quadratic equation of the energy law has a double root if its discriminant b² − 4ac ≤ this · b².
constexpr double double_root_ratio = 1e-10;
/// A double root stays one if every entry of the discriminant's derivative is ≤ this · b².
constexpr double double_root_change = 1e-9;

/// Differentiates one recorded impact.
class ImpactDifferentiator {
public:
    ImpactDifferentiator(Tangent& tangent, double t, const double* q, const RecordedImpact& impact)
        : x_(tangent), d_(tangent.dynamics), t_(t), n_(tangent.n()), impact_(impact), memory_(*tangent.impact_memory) {
        state_.assign(ix(2 * n_ + 1), 0.0);
        std::copy_n(q, n_, state_.begin());
        const model::Layout& layout = x_.model().layout();
        before_.u = Eigen::Map<const Vector>(impact.u_minus.data(), n_);
        const double* const state = state_with(before_.u);
        d_.evaluate_terms(t_, state);
        d_.factorise_mass();
        if (layout.coefficients > 0) x_.linearised.gather(Function::coefficient, t_, state, {}, {}, coefficient_);
        before_.du.setZero(n_, x_.columns());
        before_.du.middleCols(1 + n_, n_).setIdentity();
        complete(before_);
        const auto m = static_cast<Eigen::Index>(impact.rows.size());
        rows_.resize(m, n_);
        for (Eigen::Index k = 0; k < m; ++k)
            rows_.row(k) = velocity_.row(impact.rows[ix(k)]).segment(1 + n_, n_);  // ∂γ/∂u
        inverse_rows_ = rows_.transpose();
        for (Eigen::Index k = 0; k < m; ++k) d_.mass().solve({inverse_rows_.col(k).data(), ix(n_)});
        largest_gamma_ = 0.0;
        for (const int row : impact.rows) largest_gamma_ = std::max(largest_gamma_, std::abs(before_.gamma(row)));
    }

    ImpactDerivative run() {
        const auto m = static_cast<Eigen::Index>(impact_.rows.size());
        Vector &e = memory_.e, &Lambda = memory_.Lambda;
        e = Eigen::Map<const Vector>(impact_.e.data(), m);
        Lambda = Eigen::Map<const Vector>(impact_.Lambda.data(), m);
        restitution_derivatives(e, memory_.de);
        const Matrix& de = memory_.de;
        switch (impact_.law) {
            case ImpactLaw::newton:
                phase(before_, Lambda, e, de, {}, memory_.newton);
                out_.velocity = memory_.newton.after.du;
                break;
            case ImpactLaw::poisson: poisson(Lambda, e, de); break;
            case ImpactLaw::energy: energy(e, de); break;
        }
        if (out_.exists && !out_.velocity.allFinite()) fail("its equations are singular");
        return std::move(out_);
    }

private:
    using Phase = ImpactPhase;
    /// Normal impulses that are known: in Poisson's expansion they are e times those of compression.
    struct Prescribed {
        std::vector<char> held;  // one per block: its normal impulse is prescribed
        Matrix change;           // δΛ of the prescribed rows, rows of the impact × columns
    };
    /// One friction part of a block.
    struct FrictionRows {
        int part;             // number of the friction part
        Eigen::Index first;   // first row in the impact
        Eigen::Index normal;  // row of the normal impulse that loads it
        double sign;          // |Λ_N| = sign · Λ_N
        bool edge;            // the normal impulse and the normal velocity are both zero
    };

    void fail(std::string why) {
        out_.exists = false;
        if (out_.why_not.empty()) out_.why_not = std::move(why);
    }

    /// The state (q, u, 0). It is valid until the next call.
    const double* state_with(const Vector& u) {
        std::copy_n(u.data(), n_, state_.begin() + n_);
        return state_.data();
    }

    /// γ and δγ of the rows of the impact from u and δu: γ = Wᵀu + χ and δγ = γ_t δt + γ_q δq + γ_p δp + Wᵀδu. Other
    /// rows are not set.
    void complete(Instant& at) {
        x_.linearised.gather(Function::velocity, t_, state_with(at.u), {}, {}, velocity_);
        const model::Pattern& W = x_.model().layout().rows;
        at.gamma.resize(W.rows);
        at.dgamma.resize(W.rows, x_.columns());
        for (const int r : impact_.rows)
            at.gamma(r) = model::row_dot(W, d_.terms().W, r, {at.u.data(), ix(n_)}) + d_.terms().chi[ix(r)];
        // Plain loops, because the matrices are small. Before the impact δu is the velocity's own column.
        const Eigen::Index columns = at.dgamma.cols();
        std::vector<double>& w = memory_.column;
        w.resize(ix(n_));
        for (const int r : impact_.rows) {
            for (int i = 0; i < n_; ++i) w[ix(i)] = velocity_(r, 1 + n_ + i);
            for (Eigen::Index c = 0; c < columns; ++c) {
                double sum = velocity_(r, c);
                if (&at != &before_) {
                    if (c > n_ && c <= 2 * n_) sum = 0.0;
                    const double* const du = at.du.data() + c * n_;
                    for (int i = 0; i < n_; ++i) sum += w[ix(i)] * du[i];
                }
                at.dgamma(r, c) = sum;
            }
        }
    }

    std::string name_of(int element) const {
        const ElementLayout& e = d_.elements()[ix(element)];
        const model::Mechanics& m = x_.model();
        switch (e.rows.kind) {
            case ElementKind::contact: return m.contacts[ix(e.rows.index)].name;
            case ElementKind::constraint: return m.constraints[ix(e.rows.index)].name;
            case ElementKind::slider: return m.sliders[ix(e.rows.index)].name;
            case ElementKind::clutch: return m.clutches[ix(e.rows.index)].name;
        }
        return {};
    }

    /// δe of all rows. Restitution that depends on the approach velocity v = −γ_N⁻ ([Tornambe] Remark 8) is
    /// e = 1 − c v = 1 + c γ_N⁻, so δe = γ_N⁻ δc + c δγ_N⁻ while e > 0. A contact that does not approach has e = 0 and
    /// δe = 0.
    void restitution_derivatives(const Vector& e, Matrix& de) const {
        de.setZero(e.size(), x_.columns());
        for (std::size_t b = 0; b + 1 < impact_.start.size(); ++b) {
            const ElementLayout& element = d_.elements()[ix(impact_.owner[b])];
            if (element.rows.kind != ElementKind::contact) continue;
            const model::Contact& c = x_.model().contacts[ix(element.rows.index)];
            for (int k = impact_.start[b]; k < impact_.start[b + 1]; ++k) {
                const int row = impact_.rows[ix(k)];
                if (row != element.rows.normal) {
                    if (c.e_t != model::no_coefficient) de.row(k) = coefficient_.row(c.e_t);
                } else if (decided(k) ? *decided(k) == RowDecision::restitutes
                                      : e(k) > 0.0 || before_.gamma(row) < 0.0) {
                    if (c.c != model::no_coefficient) {
                        if (e(k) > 0.0)
                            de.row(k) = before_.gamma(row) * coefficient_.row(c.c) +
                                        d_.coefficients()[ix(c.c)] * before_.dgamma.row(row);
                    } else if (c.e_n != model::no_coefficient) {
                        de.row(k) = coefficient_.row(c.e_n);
                    }
                }
            }
        }
    }

    /// ∂(WΛ − M a) with Λ and a held fixed, n × columns.
    const Matrix& load_derivative(const Vector& a, const Vector& Lambda) {
        const model::Layout& layout = x_.model().layout();
        acceleration_.assign(a.data(), a.data() + n_);
        reactions_.assign(ix(layout.row_count()), 0.0);
        for (Eigen::Index k = 0; k < Lambda.size(); ++k) reactions_[ix(impact_.rows[ix(k)])] += Lambda(k);
        x_.linearised.gather_loads(t_, state_with(before_.u), acceleration_, reactions_, memory_.load);
        return memory_.load;
    }

    /// Replaces each column of a matrix by M⁻¹ times it. Many columns are zero.
    void solve_by_mass(Matrix& right) const {
        for (Eigen::Index c = 0; c < right.cols(); ++c) {
            double* const column = right.data() + c * n_;
            if (std::any_of(column, column + n_, [](double v) { return v != 0.0; })) d_.mass().solve({column, ix(n_)});
        }
    }

    /// x = S⁻¹ right. If contacts depend on each other then the solution is not unique: returns the one of least norm.
    /// For Poisson's law it also stores another one in `alternative_` (of least norm in different units), so that the
    /// caller can test whether its result depends on the choice.
    void solve(const Matrix& S, const Matrix& right, Matrix& x) {
        const auto m = static_cast<int>(S.rows());
        lu_.clear(m);
        for (int i = 0; i < m; ++i)
            for (int k = 0; k < m; ++k) lu_.at(i, k) = S(i, k);
        const bool regular = lu_.factorise();
        double smallest = 0.0, largest = 0.0;
        for (int i = 0; i < m && regular; ++i) {
            const double pivot = std::abs(lu_.at(i, i));
            smallest = i == 0 ? pivot : std::min(smallest, pivot);
            largest = std::max(largest, pivot);
        }
        if (!regular || smallest < singular_pivot_ratio * largest) {
            unique_ = false;
            if (impact_.law == ImpactLaw::poisson) {
                Matrix units = Matrix::Zero(m, m);
                for (int i = 0; i < m; ++i) units(i, i) = 1.0 + i;
                alternative_ = units * least_squares_columns(S * units, right, rank_cutoff);
            }
            x = least_squares_columns(S, right, rank_cutoff);
            return;
        }
        unique_ = true;
        alternative_.resize(0, 0);
        x.setZero(m, right.cols());
        for (Eigen::Index c = 0; c < right.cols(); ++c) {
            const double* const b = right.data() + c * m;
            if (std::any_of(b, b + m, [](double v) { return v != 0.0; }))
                lu_.solve({b, ix(m)}, {x.data() + c * m, ix(m)});
        }
    }

    // Derivation of one contact problem, with the modes of all contacts fixed.
    //
    // Momentum M(u⁺ − u) = WΛ. Its variation is M(δu⁺ − δu) = W δΛ + ∂(WΛ − M a)|_{Λ, a = u⁺ − u}, so
    //     δu⁺ = known + M⁻¹W δΛ,     known = δu + M⁻¹ ∂(WΛ − M a).
    // The law acts on ξ = γ⁺ + e γ⁻, where γ⁻ belongs to the whole impact ([Leine] (20), (31)):
    //     δξ = dxi + D δΛ,     dxi = (δγ⁺ for δΛ = 0) + e δγ⁻ + γ⁻ δe,     D = WᵀM⁻¹W.
    // One row of equations for each row of the impact:
    //     closing or sticking    ξ = 0                ⇒  D δΛ = −dxi
    //     separating             Λ = 0                ⇒  δΛ = 0
    //     Poisson's expansion    Λ_N = e Λ_N,comp     ⇒  δΛ_N prescribed
    //     slipping               Λ_T = −|Λ_N| ∇σ(ξ)   ⇒  see add_friction
    // The minus sign in −dxi: the impulse has to cancel the change that the variation alone would make.
    void phase(const Instant& from, const Vector& Lambda, const Vector& e, const Matrix& de,
               const Prescribed& prescribed, Phase& p) {
        p.after.u = from.u;
        for (Eigen::Index k = 0; k < Lambda.size(); ++k)  // plain loops, because the matrices are small
            for (int i = 0; i < n_; ++i) p.after.u(i) += inverse_rows_(i, k) * Lambda(k);
        p.after.du = load_derivative(p.after.u - from.u, Lambda);
        solve_by_mass(p.after.du);
        p.after.du += from.du;  // known
        complete(p.after);
        PhaseSystem& s = memory_.system;
        set_up(s, p.after, Lambda, e, de);
        for (std::size_t b = 0; b + 1 < impact_.start.size(); ++b) add_block(b, prescribed, s);
        for (const Eigen::Index k : s.at_bound)
            if (holds_alone(k, s.resting)) fail("friction is at the edge between sticking and slipping");
        if (Lambda.size() > 0) {
            solve(s.S, s.right, p.dLambda);
            add_conditions(s, p.dLambda);
            p.dLambda *= s.unit;
            alternative_ *= s.unit;
            for (Eigen::Index c = 0; c < p.dLambda.cols(); ++c)
                for (Eigen::Index k = 0; k < p.dLambda.rows(); ++k)
                    for (int i = 0; i < n_; ++i) p.after.du(i, c) += inverse_rows_(i, k) * p.dLambda(k, c);
        } else {
            p.dLambda.setZero(0, x_.columns());
        }
    }

    /// A power of two near 1/max D_kk.
    static double impulse_unit(const Matrix& D) {
        const double largest = D.size() > 0 ? D.diagonal().maxCoeff() : 0.0;
        return largest > 0.0 && std::isfinite(largest) ? std::ldexp(1.0, -std::ilogb(largest)) : 1.0;
    }

    /// The parts of the equations that do not depend on the blocks.
    void set_up(PhaseSystem& s, const Instant& after, const Vector& Lambda, const Vector& e, const Matrix& de) const {
        const Eigen::Index m = Lambda.size();
        s.D.setZero(m, m);
        for (Eigen::Index k = 0; k < m; ++k)
            for (Eigen::Index i = 0; i < m; ++i)
                for (int j = 0; j < n_; ++j) s.D(i, k) += rows_(i, j) * inverse_rows_(j, k);
        s.unit = impulse_unit(s.D);
        s.D *= s.unit;
        s.Lambda = Lambda / s.unit;
        s.edges.clear();
        s.resting.clear();
        s.at_bound.clear();
        s.xi.resize(m);
        s.dxi.resize(m, x_.columns());
        s.S.setZero(m, m);
        s.right.setZero(m, x_.columns());
        for (Eigen::Index k = 0; k < m; ++k) {
            const int row = impact_.rows[ix(k)];
            s.xi(k) = after.gamma(row) + e(k) * before_.gamma(row);
            for (Eigen::Index c = 0; c < s.dxi.cols(); ++c)
                s.dxi(k, c) = after.dgamma(row, c) + e(k) * before_.dgamma(row, c) + before_.gamma(row) * de(k, c);
        }
        s.zero_Lambda = negligible_impulse_ratio * std::max(s.Lambda.cwiseAbs().maxCoeff(), smallest_impact_divisor);
        s.zero_xi = negligible_velocity_ratio * std::max(largest_gamma_, smallest_impact_divisor);
    }

    /// What row k of the impact does if that is given; otherwise its impulse and velocity tell.
    std::optional<RowDecision> decided(Eigen::Index k) const {
        if (impact_.decided.empty()) return {};
        return impact_.decided[ix(k)];
    }

    /// The equations of one block: a normal row with its friction, a constraint, or a slider.
    void add_block(std::size_t b, const Prescribed& prescribed, PhaseSystem& s) {
        const Eigen::Index k0 = impact_.start[b];
        const int owner = impact_.owner[b];
        const ElementLayout& element = d_.elements()[ix(owner)];
        const solvers::Law& law = impact_.laws[b];
        if (law.kind == LawKind::bilateral) return s.keep_at_rest(k0);
        if (law.kind == LawKind::scaled_slider) {
            keep_rows_without_friction(b, k0, s);
            for (const int k : element.part_numbers())
                add_friction({k, k0 + d_.parts()[ix(k)].row - element.rows.first_slip, law.row,
                              s.Lambda(law.row) < 0.0 ? -1.0 : 1.0, false},
                             s);
            return;
        }
        const bool held = !prescribed.held.empty() && prescribed.held[b] != 0;
        const bool presses = decided(k0) ? *decided(k0) != RowDecision::separates : s.Lambda(k0) > s.zero_Lambda;
        const bool edge = !decided(k0) && !held && !presses && std::abs(s.xi(k0)) <= s.zero_xi;
        if (held) {
            s.S(k0, k0) = 1.0;
            s.right.row(k0) = prescribed.change.row(k0) / s.unit;
        } else if (presses || edge) {
            s.keep_at_rest(k0);
            if (edge) s.edges.emplace_back(k0, owner);
        } else {
            for (Eigen::Index k = k0; k < impact_.start[b + 1]; ++k) s.keep_without_impulse(k);
            return;
        }
        keep_rows_without_friction(b, k0 + 1, s);
        for (const int k : element.part_numbers())
            add_friction({k, k0 + 1 + d_.parts()[ix(k)].row - element.rows.first_slip, k0, 1.0, edge}, s);
    }

    /// Rows of a block, from `first_slip` on, that belong to no part: orthotropic friction with one zero coefficient
    /// has no impulse across its axis.
    void keep_rows_without_friction(std::size_t b, Eigen::Index first_slip, PhaseSystem& s) const {
        const ElementLayout& element = d_.elements()[ix(impact_.owner[b])];
        for (Eigen::Index k = first_slip; k < impact_.start[b + 1]; ++k) {
            const int row = impact_.rows[ix(k)];
            bool owned = false;
            for (const int p : element.part_numbers()) {
                const FrictionPart& part = d_.parts()[ix(p)];
                owned = owned || (row >= part.row && row < part.row + part.size);
            }
            if (!owned) s.keep_without_impulse(k);
        }
    }

    // Friction that slips has Λ_T = −|Λ_N| ∇σ(ξ_T) with the support function σ of its set for the load 1. Variation:
    //     δΛ_T = −∇σ δ|Λ_N| − |Λ_N| (∇²σ δξ_T + ∂∇σ/∂μ δμ),     δξ_T = dxi_T + D_T δΛ,     δ|Λ_N| = sign δΛ_N,
    // and with all δΛ on the left
    //     δΛ_T + sign ∇σ δΛ_N + |Λ_N| ∇²σ D_T δΛ = −|Λ_N| (∇²σ dxi_T + ∂∇σ/∂μ δμ).
    // Planar friction has ∇σ = ±μ and ∇²σ = 0.
    void add_friction(const FrictionRows& f, PhaseSystem& s) const {
        const FrictionPart& part = d_.parts()[ix(f.part)];
        const int size = part.size;
        const Eigen::Index k0 = f.first;
        const double load = f.sign * s.Lambda(f.normal), speed = s.xi.segment(k0, size).norm();
        if (const std::optional<RowDecision> given = decided(k0)) {
            for (int i = 0; i < size; ++i) {
                if (*given == RowDecision::holds)
                    s.keep_at_rest(k0 + i);
                else if (*given == RowDecision::separates)
                    s.keep_without_impulse(k0 + i);
            }
            if (*given == RowDecision::holds || *given == RowDecision::separates) return;
            return add_slip(f, {*given == RowDecision::slips_up ? 1.0 : -1.0, 0.0, 0.0}, s);
        }
        if (speed <= s.zero_xi && !part.frictionless()) {
            for (int i = 0; i < size; ++i) {
                s.keep_at_rest(k0 + i);
                if (f.edge) s.edges.emplace_back(k0 + i, part.element);
            }
            if (!f.edge && is_at_bound(part, s.Lambda.segment(k0, size), load)) s.at_bound.push_back(k0);
            return;
        }
        if (speed <= s.zero_xi) {
            for (int i = 0; i < size; ++i) s.keep_without_impulse(k0 + i);
            return;
        }
        integrate::SlipDirection direction{};
        for (int i = 0; i < size; ++i) direction[ix(i)] = s.xi(k0 + i) / speed;
        add_slip(f, direction, s);
    }

    /// The rows of friction that slips in a direction.
    void add_slip(const FrictionRows& f, const integrate::SlipDirection& direction, PhaseSystem& s) const {
        const FrictionPart& part = d_.parts()[ix(f.part)];
        const int size = part.size;
        const Eigen::Index k0 = f.first;
        const double load = f.sign * s.Lambda(f.normal);
        const model::Friction& law = *integrate::friction_of(x_.model(), d_.elements()[ix(part.element)].rows);
        const bool rolls = law.law == model::FrictionLaw::rolling && part.row > law.first_row;
        if (size == 1 && part.shape == FrictionPart::Shape::disk && !rolls) {  // ∇σ = ±μ
            const double sign = direction[0] >= 0.0 ? 1.0 : -1.0;
            s.S(k0, k0) += 1.0;
            s.S(k0, f.normal) += f.sign * sign * part.mu;
            if (part.axes[0] == model::no_coefficient) return;
            for (Eigen::Index c = 0; c < s.right.cols(); ++c)
                s.right(k0, c) = -load * sign * coefficient_(part.axes[0], c);
            return;
        }
        // Along a line the direction alone matters. It may be given against the velocity.
        const Vector slip = size == 1 ? Vector::Constant(1, direction[0]) : Vector(s.xi.segment(k0, size));
        double gradient[3];
        d_.slip_gradient(part, direction, slip.data(), gradient);
        const Matrix change =
            d_.slip_gradient_derivative(part, direction, slip.data(), s.dxi.middleRows(k0, size), coefficient_);
        if (size > 1) {
            const Matrix hessian = d_.slip_gradient_derivative(
                part, direction, slip.data(), Matrix::Identity(size, size), Matrix::Zero(coefficient_.rows(), size));
            s.S.middleRows(k0, size) = load * hessian * s.D.middleRows(k0, size);
        }
        for (int i = 0; i < size; ++i) {
            s.S(k0 + i, k0 + i) += 1.0;
            s.S(k0 + i, f.normal) += f.sign * gradient[i];
            s.right.row(k0 + i) = -load * change.row(i);
        }
    }

    /// Whether the impulse of sticking friction uses up its bound μ|Λ_N|. Patches are not tested.
    static bool is_at_bound(const FrictionPart& part, const Vector& impulse, double load) {
        double used = impulse.norm() / std::max(part.mu * load, smallest_impact_divisor);
        if (part.shape == FrictionPart::Shape::ellipse)
            used = std::hypot(impulse(0) / (part.mu * load), impulse(1) / (part.mu_second * load));
        return part.shape != FrictionPart::Shape::patch && used > 1.0 - friction_bound_margin;
    }

    /// Conditions that the solution δΛ leaves: equations of dependent contacts that it cannot fulfil, and contacts at
    /// the edge of their law (Λ = 0 and ξ = 0) whose impulse would change.
    void add_conditions(const PhaseSystem& s, const Matrix& dLambda) {
        Matrix defect;  // of a solution in the sense of least squares; others have none
        if (!unique_) defect = s.S * dLambda - s.right;
        for (Eigen::Index k = 0; k < defect.rows(); ++k)
            if (defect.row(k).cwiseAbs().maxCoeff() > solution_defect * (1.0 + s.right.row(k).cwiseAbs().maxCoeff()))
                out_.conditions.push_back({defect.row(k), "redundant contacts would no longer be consistent"});
        for (const auto& [k, owner] : s.edges)
            if (dLambda.row(k).cwiseAbs().maxCoeff() > negligible_impact_condition)
                out_.conditions.push_back(
                    {dLambda.row(k), "'" + name_of(owner) + "' rests, and takes part in the impact on one side only"});
    }

    /// Whether a row at rest is linearly independent of the other rows at rest. If it is not then the others can take
    /// over its impulse.
    bool holds_alone(Eigen::Index row, const std::vector<Eigen::Index>& resting) const {
        Matrix all(static_cast<Eigen::Index>(resting.size()), n_);
        Eigen::Index k = 0;
        for (const Eigen::Index r : resting)
            if (r != row) all.row(k++) = rows_.row(r);
        all.row(k) = rows_.row(row);
        const std::vector<int> independent = row_rank(all, dependent_row_angle).independent;
        return std::find(independent.begin(), independent.end(), static_cast<int>(k)) != independent.end();
    }

    // Poisson's law: compression is an impact with e = 0 and the impulses Λ_C. Expansion starts from its velocities,
    // and its normal impulses are Λ_E = e Λ_C, so δΛ_E = e δΛ_C + Λ_C δe. Only tangential restitution acts on ξ in
    // expansion; the normal rows have e = 0 there.
    void poisson(const Vector& Lambda, const Vector& e, const Matrix& de) {
        const Eigen::Index m = Lambda.size();
        const Vector none = Vector::Zero(m);
        const Vector compression = Eigen::Map<const Vector>(impact_.compression.data(), m);
        Phase first, last;
        phase(before_, compression, none, Matrix::Zero(m, x_.columns()), {}, first);
        out_.velocity = first.after.du;
        if (impact_.held.empty()) return;
        const Matrix alternative = alternative_;
        Prescribed prescribed{{impact_.held.begin(), impact_.held.end()}, Matrix::Zero(m, x_.columns())};
        Vector tangential = e;
        Matrix dtangential = de;
        for (std::size_t b = 0; b + 1 < impact_.start.size(); ++b) {
            const Eigen::Index k = impact_.start[b];
            if (impact_.laws[b].kind == LawKind::bilateral || impact_.laws[b].kind == LawKind::scaled_slider) continue;
            prescribed.change.row(k) = e(k) * first.dLambda.row(k) + compression(k) * de.row(k);
            tangential(k) = 0.0;
            dtangential.row(k).setZero();
        }
        phase(first.after, Lambda - compression, tangential, dtangential, prescribed, last);
        out_.velocity = last.after.du;
        if (alternative.size() == 0) return;
        // The compression impulses are not unique: the velocities must not depend on the choice.
        for (std::size_t b = 0; b + 1 < impact_.start.size(); ++b) {
            const Eigen::Index k = impact_.start[b];
            if (impact_.held[b] != 0) prescribed.change.row(k) += e(k) * (alternative.row(k) - first.dLambda.row(k));
        }
        phase(first.after, Lambda - compression, tangential, dtangential, prescribed, last);
        if ((last.after.du - out_.velocity).cwiseAbs().maxCoeff() >
            solution_defect * (1.0 + out_.velocity.cwiseAbs().maxCoeff()))
            fail("the impulses of compression are not unique, and Poisson's expansion depends on them");
    }

    /// Π e_i over the approaching contacts, and its derivative.
    struct RestitutionProduct {
        double value = 1.0;
        RowVector change;
    };
    RestitutionProduct restitution_product(const Vector& e, const Matrix& de) const {
        RestitutionProduct p{1.0, RowVector::Zero(x_.columns())};
        for (std::size_t block = 0; block + 1 < impact_.start.size(); ++block) {
            const int k = impact_.start[block];
            const LawKind kind = impact_.laws[block].kind;
            if (kind == LawKind::bilateral || kind == LawKind::scaled_slider) continue;
            if (!(before_.gamma(impact_.rows[ix(k)]) < -approach_ratio * largest_gamma_)) continue;
            p.change = p.change * e(k) + p.value * de.row(k);
            p.value *= e(k);
        }
        return p;
    }

    // Energy law, [Tornambe] (46) and Remark 8: T⁺ = (Π e_i²) T⁻. The velocity moves along the jump Δ = u_C − u⁻ of the
    // inelastic collision, u⁺ = u⁻ + sΔ, so T(s) = ½(u⁻ + sΔ)ᵀM(u⁻ + sΔ) = T + b s + a s² with
    //     a = ½ ΔᵀMΔ,   b = u⁻ᵀMΔ,   T = ½ u⁻ᵀMu⁻,   and   a s² + b s + r = 0,   r = (1 − Π e_i²) T.
    // s is the larger root: s = 2 for e = 1, and s = 1 if all the lost energy is that of the inelastic collision.
    // Variation:
    //     (2 a s + b) δs = −(s² δa + s δb + δr),     δu⁺ = δu⁻ + s δΔ + Δ δs.
    // δa, δb and δT contain δM: bᵀ δM a is −bᵀ ∂(−M a), see load_derivative. A double root (2 a s + b = 0) is the
    // largest loss there is. It has s = −b/(2a), and the discriminant must stay zero.
    void energy(const Vector& e, const Matrix& de) {
        const Eigen::Index m = e.size();
        const Vector compression = Eigen::Map<const Vector>(impact_.compression.data(), m);
        Phase inelastic;
        phase(before_, compression, Vector::Zero(m), Matrix::Zero(m, x_.columns()), {}, inelastic);
        const Vector jump = inelastic.after.u - before_.u;
        const Matrix djump = inelastic.after.du - before_.du;
        const Matrix M = model::dense_symmetric(x_.model().layout().mass, d_.terms().M);
        const auto dM = [&](const Vector& a, const Vector& b) -> RowVector {  // bᵀ δM a
            return -b.transpose() * load_derivative(a, Vector::Zero(m));
        };
        const double a = 0.5 * jump.dot(M * jump), b = before_.u.dot(M * jump), T = 0.5 * before_.u.dot(M * before_.u);
        const RowVector da = jump.transpose() * M * djump + 0.5 * dM(jump, jump);
        const RowVector db =
            before_.u.transpose() * M * djump + (M * jump).transpose() * before_.du + dM(jump, before_.u);
        const RowVector dT = (M * before_.u).transpose() * before_.du + 0.5 * dM(before_.u, before_.u);
        const RestitutionProduct product = restitution_product(e, de);
        if (!(a > 0.0)) {
            out_.velocity = inelastic.after.du;
            return;
        }
        if (std::abs(d_.energy(t_, state_with(before_.u)).kinetic - T) > kinetic_energy_ratio * T)
            return fail("its energy law includes kinetic energy that the velocities do not determine");
        const double lost = (1.0 - product.value * product.value) * T;
        const RowVector dlost = (1.0 - product.value * product.value) * dT - 2.0 * product.value * T * product.change;
        const double discriminant = b * b - 4.0 * a * lost;
        double s;
        RowVector ds;
        if (discriminant > double_root_ratio * b * b) {
            s = (-b + std::sqrt(discriminant)) / (2.0 * a);
            ds = -(s * s * da + s * db + dlost) / (2.0 * a * s + b);
        } else {
            s = -b / (2.0 * a);
            ds = -(db + 2.0 * s * da) / (2.0 * a);
            const RowVector change = 2.0 * b * db - 4.0 * lost * da - 4.0 * a * dlost;
            if (change.cwiseAbs().maxCoeff() > double_root_change * b * b)
                out_.conditions.push_back({change, "the energy law requires the largest possible loss"});
        }
        out_.velocity = before_.du + s * djump + jump * ds;
    }

    Tangent& x_;
    integrate::Dynamics& d_;
    const double t_;
    const int n_;
    const RecordedImpact& impact_;
    ImpactMemory& memory_;
    std::vector<double>&state_ = memory_.state, &acceleration_ = memory_.acceleration, &reactions_ = memory_.reactions;
    Matrix &velocity_ = memory_.velocity, &coefficient_ = memory_.coefficient;
    Matrix &rows_ = memory_.rows, &inverse_rows_ = memory_.inverse_rows;
    Instant& before_ = memory_.before;
    double largest_gamma_ = 0.0;  // largest |γ⁻| of the rows of the impact
    solvers::DenseLU& lu_ = memory_.lu;
    bool unique_ = true;  // the solution of the last solved() is
    Matrix alternative_;  // another one, for Poisson's law; empty if the solution is unique
    ImpactDerivative out_;
};

}  // namespace

namespace {

/// Whether one contact strikes under Newton's law and nothing else takes part. Its coefficient e does not depend on the
/// velocity, and it has no friction or friction along a line.
bool strikes_alone(const Tangent& tangent, const RecordedImpact& impact) {
    if (impact.owner.size() != 1 || impact.law != ImpactLaw::newton || impact.jam || impact.repaired) return false;
    const ElementLayout& e = tangent.dynamics.elements()[ix(impact.owner[0])];
    if (e.rows.kind != ElementKind::contact || impact.rows[0] != e.rows.normal ||
        !(impact.decided.empty() ? impact.Lambda[0] > 0.0 : impact.decided[0] == RowDecision::restitutes) ||
        tangent.model().contacts[ix(e.rows.index)].c != model::no_coefficient)
        return false;
    if (impact.rows.size() == 1) return e.parts == 0;
    if (impact.rows.size() != 2 || e.parts != 1) return false;
    const FrictionPart& part = tangent.dynamics.parts()[ix(*e.part_numbers().begin())];
    return part.size == 1 && part.shape == FrictionPart::Shape::disk && part.row == impact.rows[1];
}

/// M⁻¹ times a row of the model.
void solve_row(const Tangent& tangent, int row, std::vector<double>& out) {
    const model::Pattern& W = tangent.model().layout().rows;
    const integrate::Dynamics& d = tangent.dynamics;
    out.assign(ix(tangent.n()), 0.0);
    for (int k = W.start[ix(row)]; k < W.start[ix(row) + 1]; ++k) out[ix(W.column[ix(k)])] += d.terms().W[ix(k)];
    d.mass().solve(out);
}

// The most frequent impact, in closed form: one contact with the row w = ∂γ_N/∂u, and perhaps friction that slips along
// the row w_T. Slip has Λ_T = −sμΛ with the normal impulse Λ and s = sign ξ_T, so δΛ_T = −sμ δΛ − sΛ δμ. With
// f = w − sμ w_T and the notation of ImpactDifferentiator::phase:
//     known = δu⁻ + M⁻¹ ∂(wΛ + w_T Λ_T − M a)|_{Λ, Λ_T, a} − sΛ M⁻¹w_T δμ,
//     δξ    = γ_x⁺ + e γ_x⁻ + w·known + e w·δu⁻ + γ⁻ δe,
//     δΛ    = −δξ/K with K = w·M⁻¹f,     δu⁺ = known + M⁻¹f δΛ.
// Here γ_x are the derivatives of γ_N by t, q and p at u⁺ and at u⁻. They are affine in u, because γ = w·u + χ is. So
//     γ_x⁺ + e γ_x⁻ = (1 + e) γ_x at the velocity (u⁺ + e u⁻)/(1 + e) = u⁻ + a/(1 + e) with a = u⁺ − u⁻.
// False if friction sticks or K is nearly zero or negative: that is left to the general case.
bool differentiate_lone(Tangent& tangent, double t, const double* q, const RecordedImpact& impact, Matrix& du) {
    integrate::Dynamics& d = tangent.dynamics;
    integrate::Linearised& linearised = tangent.linearised;
    ImpactMemory& m = *tangent.impact_memory;
    const model::Mechanics& model = tangent.model();
    const model::Pattern& W = model.layout().rows;
    const int n = tangent.n(), row = impact.rows[0];
    const bool rubs = impact.rows.size() > 1;
    const double e = impact.e[0], Lambda = impact.Lambda[0];
    const ElementLayout& element = d.elements()[ix(impact.owner[0])];
    m.state.assign(ix(2 * n + 1), 0.0);
    std::copy_n(q, n, m.state.begin());
    std::copy_n(impact.u_minus.begin(), n, m.state.begin() + n);
    d.evaluate_terms(t, m.state.data());
    if (!d.factorise_mass()) return false;
    std::vector<double>&column = m.column, &tangential = m.tangential_column;
    solve_row(tangent, row, column);
    const double D = model::row_dot(W, d.terms().W, row, column), gamma = d.row_velocity(row);
    m.acceleration.assign(ix(n), 0.0);
    m.reactions.assign(ix(model.layout().row_count()), 0.0);
    for (std::size_t i = 0; i < ix(n); ++i) m.acceleration[i] = Lambda * column[i];
    m.reactions[ix(row)] = Lambda;
    double sign = 0.0;  // s
    model::Coefficient friction = model::no_coefficient;
    if (rubs) {
        const FrictionPart& part = d.parts()[ix(*element.part_numbers().begin())];
        friction = part.axes[0];
        solve_row(tangent, part.row, tangential);
        for (std::size_t i = 0; i < ix(n); ++i) m.acceleration[i] += impact.Lambda[1] * tangential[i];
        m.reactions[ix(part.row)] = impact.Lambda[1];
        const double slip = d.row_velocity(part.row);
        const double xi = (1.0 + impact.e[1]) * slip + model::row_dot(W, d.terms().W, part.row, m.acceleration);
        const double largest = std::max({std::abs(gamma), std::abs(slip), smallest_impact_divisor});
        if (!impact.decided.empty()) {
            if (impact.decided[1] != RowDecision::slips_up && impact.decided[1] != RowDecision::slips_down)
                return false;
            sign = impact.decided[1] == RowDecision::slips_up ? 1.0 : -1.0;
        } else {
            if (!(std::abs(xi) > negligible_velocity_ratio * largest)) return false;
            sign = xi < 0.0 ? -1.0 : 1.0;
        }
        for (std::size_t i = 0; i < ix(n); ++i) column[i] -= sign * part.mu * tangential[i];  // M⁻¹f
    }
    const double K = model::row_dot(W, d.terms().W, row, column);
    if (!(K > singular_pivot_ratio * D && std::isfinite(K))) return false;

    linearised.gather_loads(t, m.state.data(), m.acceleration, m.reactions, du);
    const model::Coefficient e_n = model.contacts[ix(element.rows.index)].e_n;
    const auto varies = [&](model::Coefficient c) {
        return c != model::no_coefficient && linearised.varies(Function::coefficient, c);
    };
    const bool e_varies = varies(e_n), friction_varies = varies(friction);
    if (e_varies || friction_varies) linearised.gather(Function::coefficient, t, m.state.data(), {}, {}, m.coefficient);
    for (std::size_t i = 0; i < ix(n); ++i) m.state[ix(n) + i] += m.acceleration[i] / (1.0 + e);
    linearised.gather(Function::velocity, t, m.state.data(), {}, {}, m.velocity);
    for (Eigen::Index c = 0; c < du.cols(); ++c) {
        double* const known = du.col(c).data();
        if (std::any_of(known, known + n, [](double v) { return v != 0.0; })) d.mass().solve({known, ix(n)});
        const auto velocity = static_cast<int>(c) - 1 - n;  // the number of the velocity whose column this is
        const bool is_velocity = velocity >= 0 && velocity < n;
        if (is_velocity) known[velocity] += 1.0;
        if (friction_varies && m.coefficient(friction, c) != 0.0)
            for (int i = 0; i < n; ++i) known[i] -= sign * Lambda * m.coefficient(friction, c) * tangential[ix(i)];
        // In the column of a velocity, the entry of m.velocity is the entry of w, and w·known has that of γ⁺ already.
        double dxi = (is_velocity ? e : 1.0 + e) * m.velocity(row, c);
        dxi += model::row_dot(W, d.terms().W, row, {known, ix(n)});
        if (e_varies) dxi += gamma * m.coefficient(e_n, c);
        const double dLambda = -dxi / K;
        for (int i = 0; i < n; ++i) known[i] += column[ix(i)] * dLambda;
    }
    return true;
}

}  // namespace

ImpactDerivative differentiate(Tangent& tangent, double t, const double* q, const RecordedImpact& impact) {
    if (strikes_alone(tangent, impact)) {
        ImpactDerivative lone;
        if (differentiate_lone(tangent, t, q, impact, lone.velocity) && lone.velocity.allFinite()) return lone;
    }
    ImpactDerivative none;
    none.exists = false;
    if (impact.jam) {
        none.why_not = "Painleve: no contact force exists, and the impulse in its place has no derivative";
        return none;
    }
    if (impact.repaired) {
        none.why_not = "the velocities after the impact were repaired so that they create no energy";
        return none;
    }
    return ImpactDifferentiator(tangent, t, q, impact).run();
}

namespace {

/// δγ of one row: γ_t δt + γ_q δq + γ_p δp + Wᵀδu, from ∂γ of all rows and ∂u.
RowVector row_change(const Matrix& velocity, int row, const Matrix& du, int n) {
    RowVector known = velocity.row(row);
    const RowVector W = known.segment(1 + n, n);
    known.segment(1 + n, n).setZero();
    return known + W * du;
}

}  // namespace

// Derivation. The projection is u⁺ = u + a with M a = FΛ and γ⁺ = 0 in the rows A of the mode. F = W − W_T ∇σ(γ_T):
// friction that slips in a row's element follows its impulse, Λ_T = −sign Λ ∇σ. With C = M⁻¹F and K = A C it is Λ =
// −K⁻¹γ. Variation:
//     δu⁺ = known + C δΛ,     known = δu + M⁻¹ ∂(FΛ − M a)|_{Λ, a},
//     0 = δγ⁺ = γ_x + A known + K δΛ   ⇒   δΛ = K⁻¹ (−γ_x − A known).
// ∂(FΛ) contains −sign Λ W_T (∇²σ δγ_T + ∂∇σ/∂μ δμ) of friction that slips (`slip`).
Matrix differentiate_arrest(Tangent& tangent, double t, const double* q, const Vector& u, const Matrix& before) {
    integrate::Dynamics& d = tangent.dynamics;
    if (d.equation_rows().empty()) return before;
    const int n = tangent.n();
    ImpactMemory& memory = *tangent.impact_memory;
    std::vector<double>& x = memory.state;
    x.assign(q, q + n);
    x.insert(x.end(), u.data(), u.data() + n);
    x.push_back(0.0);
    if (!d.evaluate(t, x.data())) return before;
    const std::vector<int>& rows = d.equation_rows();
    const auto m = static_cast<Eigen::Index>(rows.size()), columns = static_cast<Eigen::Index>(tangent.columns());
    const Eigen::Map<const Matrix> C = d.equation_columns();
    const Matrix inverse = d.multiplier_inverse();
    std::vector<double>&jump = memory.acceleration, &lambda = memory.reactions, &Lambda = memory.column;
    // Plain loops, because the matrices are small.
    Lambda.assign(ix(m), 0.0);
    jump.assign(ix(n), 0.0);
    for (Eigen::Index k = 0; k < m; ++k) {
        const double gamma = d.row_velocity(rows[ix(k)]);
        for (Eigen::Index i = 0; i < m; ++i) Lambda[ix(i)] -= inverse(i, k) * gamma;
    }
    for (Eigen::Index k = 0; k < m; ++k)
        for (int i = 0; i < n; ++i) jump[ix(i)] += C(i, k) * Lambda[ix(k)];
    Matrix &velocity = memory.velocity, &coefficient = memory.coefficient, &load = memory.load;
    integrate::Linearised& linearised = tangent.linearised;
    lambda.assign(ix(tangent.model().layout().row_count()), 0.0);
    Matrix slip;  // the part of friction that slips; empty if none does
    for (Eigen::Index k = 0; k < m; ++k) {
        lambda[ix(rows[ix(k)])] += Lambda[ix(k)];
        const int owner = d.equation_owner(static_cast<int>(k));
        if (owner < 0) continue;
        const double sign = d.mode().elements[ix(owner)].reaction_sign;
        for (const int p : d.elements()[ix(owner)].part_numbers()) {
            const FrictionPart& part = d.parts()[ix(p)];
            const integrate::FrictionMode& friction = d.mode().parts[ix(p)];
            if (!friction.slips) continue;
            if (slip.size() == 0) {
                slip.setZero(n, columns);
                linearised.gather(Function::velocity, t, x.data(), {}, {}, velocity);
                if (tangent.model().layout().coefficients > 0)
                    linearised.gather(Function::coefficient, t, x.data(), {}, {}, coefficient);
            }
            double along[3], gradient[3];
            Matrix dgamma(part.size, columns);
            for (int i = 0; i < part.size; ++i) {
                along[i] = d.row_velocity(part.row + i);
                dgamma.row(i) = row_change(velocity, part.row + i, before, n);
            }
            d.slip_gradient(part, friction.direction, along, gradient);
            const Matrix change = d.slip_gradient_derivative(part, friction.direction, along, dgamma, coefficient);
            for (int i = 0; i < part.size; ++i) {
                lambda[ix(part.row + i)] -= sign * gradient[i] * Lambda[ix(k)];
                slip -= sign * Lambda[ix(k)] * velocity.row(part.row + i).segment(1 + n, n).transpose() * change.row(i);
            }
        }
    }
    linearised.gather_loads(t, x.data(), jump, lambda, load);
    if (slip.size() > 0) load += slip;
    Matrix known = before;
    for (Eigen::Index c = 0; c < columns; ++c) {
        double *const column = load.data() + c * n, *const to = known.data() + c * n;
        if (std::none_of(column, column + n, [](double v) { return v != 0.0; })) continue;
        d.mass().solve({column, ix(n)});
        for (int i = 0; i < n; ++i) to[i] += column[i];
    }
    for (int i = 0; i < n; ++i) x[ix(n + i)] += jump[ix(i)];
    linearised.gather(Function::velocity, t, x.data(), {}, {}, velocity);
    Matrix& right = memory.right;
    right.resize(m, columns);
    for (Eigen::Index k = 0; k < m; ++k) {
        const int row = rows[ix(k)];
        for (Eigen::Index c = 0; c < columns; ++c) {
            double sum = c > n && c <= 2 * n ? 0.0 : velocity(row, c);
            for (int i = 0; i < n; ++i) sum += velocity(row, 1 + n + i) * known(i, c);
            right(k, c) = -sum;
        }
    }
    Matrix& multipliers = memory.multipliers;
    multipliers.setZero(m, columns);
    for (Eigen::Index c = 0; c < columns; ++c)
        for (Eigen::Index k = 0; k < m; ++k) {
            for (Eigen::Index i = 0; i < m; ++i) multipliers(k, c) += inverse(k, i) * right(i, c);
            for (int i = 0; i < n; ++i) known(i, c) += C(i, k) * multipliers(k, c);
        }
    return known;
}

std::vector<int> idle_contacts(Tangent& x, double t, const double* state) {
    integrate::Dynamics& d = x.dynamics;
    std::vector<int> list;
    const auto is_closed_contact = [&](std::size_t i) {
        return d.elements()[i].rows.kind == ElementKind::contact && d.mode().elements[i].active;
    };
    bool any = false;
    for (std::size_t i = 0; i < d.elements().size(); ++i) any = any || is_closed_contact(i);
    if (!any || d.compliant() || !d.evaluate(t, state)) return list;
    double largest = 0.0;
    for (const double h : d.terms().h) largest = std::max(largest, std::abs(h));
    for (const double r : d.reactions()) largest = std::max(largest, std::abs(r));
    for (std::size_t i = 0; i < d.elements().size(); ++i) {
        const ElementLayout& e = d.elements()[i];
        if (is_closed_contact(i) && !(d.reactions()[ix(e.rows.normal)] > negligible_force_ratio * largest))
            list.push_back(static_cast<int>(i));
    }
    if (list.empty() || !x.linearised.evaluate(t, state)) return list;
    // A force that grows at once holds its contact: λ̇ = λ_t + λ_q u + λ_u u̇ along the motion.
    std::erase_if(list, [&](int i) {
        const RowVector lambda = x.linearised.reactions().row(d.elements()[ix(i)].rows.normal);
        const Eigen::Map<const RowVector> u(state + x.n(), x.n()), a(d.acceleration().data(), x.n());
        const double terms = std::abs(lambda(0)) + lambda.segment(1, x.n()).cwiseAbs().dot(u.cwiseAbs()) +
                             lambda.segment(1 + x.n(), x.n()).cwiseAbs().dot(a.cwiseAbs());
        const double rate = lambda(0) + lambda.segment(1, x.n()).dot(u) + lambda.segment(1 + x.n(), x.n()).dot(a);
        return std::abs(rate) > negligible_force_rate_ratio * terms;
    });
    return list;
}

std::string idle_text(const Tangent& x, int element) {
    const int contact = x.dynamics.elements()[ix(element)].rows.index;
    return "'" + x.model().contacts[ix(contact)].name +
           "' is closed without a contact force, and the sign of a variation decides whether it opens";
}

}  // namespace saltus::sensitivity
