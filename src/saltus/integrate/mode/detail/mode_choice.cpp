// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/integrate/mode/detail/mode_change.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/solvers/friction/holding.hpp"
#include "saltus/solvers/friction/modes.hpp"

namespace saltus::integrate {

using trajectory::ElementKind;

// The next mode follows from the contact problem of the accelerations, [Leine] (52)–(57): with the forces of everything
// that slips already in F,
//     γ̇ = D λ + q,   D = A M⁻¹ F,   q = A M⁻¹ h + ζ,
// under the contact laws one level up: 0 <= γ̇_N ⊥ λ_N >= 0, and γ̇_T = 0 or λ_T = −μ λ_N γ̇_T/|γ̇_T|.
const Choice& ModeChange::choose(double t, const double* x, const Candidates& candidates, const SystemMode& before) {
    choice_.solved = choice_.impulsive = false;
    choice_.solutions = 1;
    choice_.residual = 0.0;
    choice_.note.clear();
    choice_.mode = before;
    d_.evaluate_velocities(t, x);
    d_.shape_friction();
    if (!d_.factorise_mass()) {
        choice_.note = "the mass matrix is singular";
        return choice_;
    }
    decide_by_velocities(x, candidates);

    closed_ = candidates.closed;
    for (std::size_t i = 0; i < closed_.size(); ++i)
        if (candidates.released[i] != 0) closed_[i] = 0;
    // In free flight no force is needed.
    const auto takes_part = [&](std::size_t i) {
        const ElementKind kind = d_.elements()[i].rows.kind;
        return closed_[i] != 0 || kind == ElementKind::constraint || kind == ElementKind::slider;
    };
    bool any = false;
    for (std::size_t i = 0; i < closed_.size() && !any; ++i) any = takes_part(i);
    if (any) d_.evaluate_terms(t, x);
    free_.assign(d_.terms().h.begin(), d_.terms().h.end());
    hold_.collect(d_, choice_.mode, closed_, undecided_, free_);
    if (hold_.rows() > 0) d_.mass().solve(free_);

    solve_accelerations();
    choice_.residual = solution_.residual;
    if (candidates.hold) prefer_holding();
    if (may_be_ambiguous() && !resolve_ambiguity()) return choice_;
    read_mode(candidates);
    choice_.solved = true;
    return choice_;
}

/// Changes the friction parts that the velocities decide, and notes which parts they do not decide.
void ModeChange::decide_by_velocities(const double* x, const Candidates& candidates) {
    const std::span<const double> u(x + d_.size(), ix(d_.size()));
    auto& parts = choice_.mode.parts;
    undecided_.assign(parts.size(), 0);
    for (std::size_t k = 0; k < parts.size(); ++k) {
        const VelocityDecision decision =
            decide_by_velocity(d_, static_cast<int>(k), u, candidates.friction[k], parts[k]);
        parts[k] = decision.mode;
        undecided_[k] = decision.decided ? 0 : 1;
    }
}

/// Solves for accelerations and forces. A constraint with slipping friction must have the sign of its reaction that was
/// assumed: if it has the other one, then the sign in the mode is turned and the problem is solved again.
void ModeChange::solve_accelerations() {
    solution_.residual = 0.0;
    solution_.r.clear();
    solution_.v.clear();
    for (int attempt = 0; attempt < Thresholds::max_sign_attempts; ++attempt) {
        hold_.assemble(d_, choice_.mode, free_);
        solvers::Automatic method;
        method.tolerance = tolerance_;
        ++solves;
        if (hold_.rows() > 0)
            solvers::solve(hold_.problem, method, workspace_, solution_);
        else
            solution_.status = solvers::Status::converged;
        if (!turn_signs()) break;
    }
}

/// Gives the constraints the signs of their reactions. True if a sign changed that the problem depends on.
bool ModeChange::turn_signs() {
    SystemMode& mode = choice_.mode;
    bool turned = false;
    for (std::size_t b = 0; b < hold_.blocks.size(); ++b) {
        const int element = hold_.blocks[b].element;
        const ElementLayout& e = d_.elements()[ix(element)];
        if (e.rows.kind != ElementKind::constraint || !hold_.blocks[b].normal) continue;
        const bool slips = any_part_slips(e, mode);
        double& sign = mode.elements[ix(element)].reaction_sign;
        const double nu = solution_.r[ix(hold_.first_row(b))];
        if (slips && nu * sign < 0.0) {
            sign = -sign;
            turned = true;
        } else if (!slips && nu != 0.0) {
            sign = nu > 0.0 ? 1.0 : -1.0;
        }
    }
    return turned;
}

/// Replaces a solution that moves by reactions that hold everything, if there are any.
void ModeChange::prefer_holding() {
    if (hold_.rows() == 0 || solvers::holding_reactions(hold_.problem, solution_.r, Thresholds::hold_acceleration,
                                                        holding_) != solvers::Holding::found)
        return;
    solution_.r = holding_;
    solution_.v.assign(solution_.r.size(), 0.0);
    solution_.status = solvers::Status::converged;
}

/// Whether the solution need not exist or need not be unique: the solver failed, or friction is so large that sliding
/// could cancel what holds a contact. With D_NN and D_NT of the contact alone, λ_N decides γ̇_N by
///     γ̇_N = (D_NN − μ D_NT·d) λ_N + q_N,
/// whose factor can vanish or become negative if D_NN <= μ |D_NT|: Painlevé's paradox.
bool ModeChange::may_be_ambiguous() const {
    const solvers::FrictionProblem& problem = hold_.problem;
    bool ambiguous = !solvers::usable(solution_.status);
    for (std::size_t b = 0; b < hold_.blocks.size(); ++b) {
        const HoldProblem::Block& block = hold_.blocks[b];
        if (d_.elements()[ix(block.element)].rows.kind != ElementKind::contact || block.parts.size() > 1 ||
            !block.normal)
            continue;
        const int own = static_cast<int>(b), entry = problem.W.find(own, own);
        const double* const D = problem.W.values.data() + problem.W.offset[ix(entry)];
        double coupling = 0.0;
        for (std::size_t k = 1; k < block.rows.size(); ++k) coupling = std::hypot(coupling, D[k]);
        ambiguous = ambiguous || D[0] - problem.laws[b].mu * coupling <= 0.0;
    }
    return ambiguous;
}

/// Enumerates all solutions. Of several, takes the one that continues the motion: it keeps most contacts closed or open
/// as they were. False if there is none; the choice then says why.
bool ModeChange::resolve_ambiguity() {
    const solvers::FrictionProblem& problem = hold_.problem;
    const solvers::AllSolutions all = solvers::all_solutions(problem);
    if (all.modes > 0 && all.r.empty() && all.complete) {
        choice_.impulsive = true;
        choice_.solutions = 0;
        choice_.note = "no contact force exists";
        return false;
    }
    if (all.r.size() > 1) {
        choice_.solutions = static_cast<int>(all.r.size());
        std::size_t best = 0;
        int best_kept = -1;
        for (std::size_t k = 0; k < all.r.size(); ++k) {
            int kept = 0;
            for (std::size_t b = 0; b < hold_.blocks.size(); ++b) {
                const bool was_active = choice_.mode.elements[ix(hold_.blocks[b].element)].active;
                kept += (all.r[k][ix(hold_.first_row(b))] > 0.0) == was_active ? 1 : 0;
            }
            if (kept > best_kept) best_kept = kept, best = k;
        }
        solution_.r = all.r[best];
        solution_.v.resize(solution_.r.size());
        problem.W.multiply(solution_.r, solution_.v);
        for (std::size_t k = 0; k < solution_.v.size(); ++k) solution_.v[k] += problem.q[k];
        solution_.status = solvers::Status::converged;
    } else if (!solvers::usable(solution_.status) && !(solution_.residual < Thresholds::usable_residual)) {
        choice_.note = "the contact problem of the accelerations could not be solved (" +
                       std::string(solvers::to_string(solution_.status)) + ")";
        return false;
    }
    return true;
}

/// The largest D_kk of some rows of a block. √D_kk says how fast the row moves under an impulse of its own.
double ModeChange::largest_diagonal(std::size_t block, std::size_t first, std::size_t count) const {
    const auto& W = hold_.problem.W;
    const int own = static_cast<int>(block), entry = W.find(own, own);
    const double* const D = W.values.data() + W.offset[ix(entry)];
    double most = 0.0;
    for (std::size_t k = first; k < first + count; ++k)
        most = std::max(most, D[k * hold_.blocks[block].rows.size() + k]);
    return most;
}

/// Reads the mode out of the solution: contacts and clutches with a force or without separation hold, undecided
/// friction sticks or slips.
void ModeChange::read_mode(const Candidates& candidates) {
    SystemMode& mode = choice_.mode;
    const double still = d_.coarse() ? d_.redundancy() : Thresholds::stick_acceleration;
    double largest = 0.0;  // free relative acceleration
    for (const double q : hold_.problem.q) largest = std::max(largest, std::abs(q));
    // Bodies that fall together have no free relative acceleration but rounding errors of their own accelerations.
    double rounding = 0.0;
    for (const double a : free_) rounding = std::max(rounding, Thresholds::acceleration_rounding * std::abs(a));
    // Lower bound of the ratio (movability of a part)/(movability of the fastest row): below it rounding errors decide.
    constexpr double least_share = 1e-3;
    double fastest = 0.0;  // D_kk of the row that moves fastest
    for (std::size_t b = 0; b < hold_.blocks.size(); ++b)
        fastest = std::max(fastest, largest_diagonal(b, 0, hold_.blocks[b].rows.size()));
    for (std::size_t i = 0; i < mode.elements.size(); ++i) {
        const ElementKind kind = d_.elements()[i].rows.kind;
        const bool spring = d_.compliant() && kind == ElementKind::contact && candidates.closed[i] != 0;
        mode.elements[i].active = spring || kind == ElementKind::constraint || kind == ElementKind::slider;
    }
    for (std::size_t b = 0; b < hold_.blocks.size(); ++b) {
        const HoldProblem::Block& block = hold_.blocks[b];
        const std::span<const double> r(solution_.r.data() + hold_.first_row(b), block.rows.size());
        const std::span<const double> v(solution_.v.data() + hold_.first_row(b), block.rows.size());
        if (block.normal && d_.elements()[ix(block.element)].rows.kind != ElementKind::constraint)
            mode.elements[ix(block.element)].active =
                r[0] > 0.0 || v[0] <= std::max(Thresholds::stay_acceleration * largest, rounding);
        std::size_t offset = block.normal ? 1 : 0;
        for (const int k : block.parts) {
            const std::size_t size = ix(d_.parts()[ix(k)].size);
            // Parts that slip along the same line with different factors are judged alike. A row that nothing moves
            // has only rounding errors.
            const double share = fastest > 0.0 ? std::sqrt(largest_diagonal(b, offset, size) / fastest) : 1.0;
            const double scale = std::max(largest, Thresholds::smallest_scale) * std::max(share, least_share);
            mode.parts[ix(k)] = stick_or_slip(mode.parts[ix(k)], v.subspan(offset, size), still * scale);
            offset += size;
        }
    }
}

}  // namespace saltus::integrate
