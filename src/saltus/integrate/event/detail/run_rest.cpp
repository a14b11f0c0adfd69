// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <span>

#include "saltus/base/index.hpp"
#include "saltus/base/linalg.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/event/detail/run.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"

// Long runs: a body that rests for ever, and a run that would not end.

namespace saltus::integrate {

namespace {

/// The run fails if more than max_steps steps would follow at the rate of the present arc. A step takes about a
/// microsecond at least, so that this is 100 days. Too small: long runs fail that somebody would wait for. Too large:
/// runs go on that nobody can wait for.
constexpr double max_steps = 1e13;
/// The equations of a mode allow no motion if n of their rows are at an angle > rest_angle, in rad, to those before
/// them (row_rank). Too small: nearly dependent equations, which allow slow motion, count as rest. Too large: a body
/// that rests is integrated, in steps that the errors of nearly dependent equations limit.
constexpr double rest_angle = 1e-3;

// Terms of a series c_k h^k are at most largest_term, or at most largest_growth · |c_0| if that is more. A motion that
// grows without bound is then infinite after a few steps, and not after one step whose events cannot be found. Products
// of three terms do not overflow.
constexpr double largest_term = 1e100, largest_growth = 1e50;
/// Shorter steps, in s, cannot make terms that overflow out of numbers in the valid range.
constexpr double overflow_step = 1e8;
/// A step whose terms are too large is reduced by this factor.
constexpr double overflow_reduction = 1e-4;

}  // namespace

/// The longest step of the present series, at most h, whose terms do not overflow. Terms are products c_k h^k, so that
/// h² must not overflow either: no step is longer than about 1e154 s.
double EventRun::finite_step(double h) {
    while (h > overflow_step && t_ + h > t_) {
        series_.dense(t_ + h, dense_);
        bool small = true;
        const auto width = ix(dense_.size());
        const std::span<const double> c = dense_.coefficients();
        const std::size_t orders = ix(dense_.terms() - 1);  // the last term is the end of the step
        for (std::size_t i = 0; i < width; ++i) {
            const double allowed = std::max(largest_term, largest_growth * std::abs(c[i]));
            for (std::size_t k = 1; k < orders; ++k) small = small && std::abs(c[k * width + i]) <= allowed;
        }
        if (small) break;
        h *= overflow_reduction;
    }
    return h;
}

/// Whether the mode in force keeps the whole system at rest, so that nothing happens up to the end of the run.
///
/// Let A be the rows of the equations of the mode: A u + χ = 0. If A has the rank n and χ = 0, then u = 0 is the only
/// velocity that the mode allows, and q is constant. If in addition nothing in the model depends on the time, then
/// forces, gaps, conditions and reserves of stick are constant, too. The laws are satisfied now, so they are satisfied
/// for ever. The formulas of the model must be known, because otherwise it is not known whether they contain the time.
bool EventRun::stays_at_rest() {
    const int n = d_.size();
    const std::vector<int>& rows = d_.equation_rows();
    if (!model_.autonomous || model_.system->symbolic() == nullptr || std::isfinite(settings_.max_step)) return false;
    if (rows.size() < ix(n)) return false;
    for (std::size_t k = 0; k < d_.parts().size(); ++k)
        if (d_.mode().parts[k].slips && d_.mode().elements[ix(d_.parts()[k].element)].active) return false;
    d_.evaluate_terms(t_, x_.data());
    const model::Pattern& W = model_.layout().rows;
    Matrix A = Matrix::Zero(static_cast<Eigen::Index>(rows.size()), n);
    for (std::size_t k = 0; k < rows.size(); ++k) {
        if (d_.terms().chi[ix(rows[k])] != 0.0) return false;
        for (int e = W.start[ix(rows[k])]; e < W.start[ix(rows[k]) + 1]; ++e)
            A(static_cast<Eigen::Index>(k), W.column[ix(e)]) = d_.terms().W[ix(e)];
    }
    if (row_rank(A, rest_angle).rank < n) return false;
    state_inside_.assign(x_.begin(), x_.end());
    std::fill_n(state_inside_.begin() + n, n, 0.0);
    return watcher_.worst_reaction(t_, state_inside_.data()).excess <= Thresholds::hold_acceleration;
}

/// Makes one step at rest, up to the end of the run. A control that samples depends on the time, so that no sample is
/// due before.
void EventRun::rest_until_end() {
    const int n = d_.size();
    std::fill_n(x_.begin() + n, n, 0.0);
    dense_.reset(t_, options_.t_end, d_.state_size(), 2);
    for (int k = 0; k < 2; ++k) std::copy(x_.begin(), x_.end(), dense_.term(k).begin());
    t_ = options_.t_end;
    keep(dense_, t_);
    if (settings_.record && !recording_.pieces.empty())
        if (auto* const arc = std::get_if<RecordedArc>(&recording_.pieces.back())) arc->rests = true;
    measure_dense(t_);
}

/// Whether the run would take more than max_steps steps, at the rate of the present arc. The run then
/// fails. `steps`: number of steps of the arc so far.
bool EventRun::steps_follow_without_end(int steps) {
    const double advanced = t_ - arc_began_, remaining = options_.t_end - t_;
    if (!(remaining / advanced * steps > max_steps)) return false;
    fail(std::to_string(steps) + " steps have advanced the motion by " + number_text(advanced) + " s" + at_time() +
         ": at this rate, more than " + number_text(max_steps) +
         " steps are left to the end of the run; choose an earlier end (--t-end)");
    return true;
}

}  // namespace saltus::integrate
