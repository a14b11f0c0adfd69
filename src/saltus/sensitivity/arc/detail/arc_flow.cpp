// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/arc/detail/arc_flow.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/ode/dop853.hpp"

namespace saltus::sensitivity {

namespace {

namespace rk = ode::dop853;

/// sum = start + h Σ weight·k; start may be nullptr. A plain loop, because the matrices are small.
void combine(const std::vector<Matrix>& k, std::span<const rk::Term> terms, const Matrix* start, double h,
             Matrix& sum) {
    sum.resize(k[0].rows(), k[0].cols());
    const Eigen::Index size = sum.size();
    double* const to = sum.data();
    std::fill(to, to + size, 0.0);
    for (const rk::Term& term : terms) {
        const double* const from = k[ix(term.stage)].data();
        for (Eigen::Index i = 0; i < size; ++i) to[i] += term.weight * from[i];
    }
    for (Eigen::Index i = 0; i < size; ++i) to[i] = h * to[i] + (start != nullptr ? start->data()[i] : 0.0);
}

// Step control: h_new = h · clamp(safety · error^(−1/order), shortest, longest) ([Hairer] II.4).
constexpr double safety = 0.9, shortest_factor = 0.2, longest_factor = 20.0;
/// The first step of an arc on which slip in a plane begins at rest may have an error of this many times the tolerance
/// of a step (5e-12 by default): 5e-10 of the derivative.
constexpr double largest_error_from_rest = 100.0;
/// After a second refusal in a row the coefficients probably have a kink, where the order says nothing about the next
/// error: the step is reduced by this factor in addition.
constexpr double repeated_refusal_factor = 0.2;
/// Reduction of a step that could not be evaluated.
constexpr double failed_step_factor = 0.25;
/// The first step of an arc is at most this times the first recorded step.
constexpr double first_step_factor = 3.0;
/// Recorded steps are taken together as long as each is at least this part of the longest before it.
constexpr double merged_step_ratio = 0.7;
/// After this many refusals of merged steps on an arc, recorded steps are no longer merged.
constexpr int max_merged_refusals = 3;
/// The arc fails after this many trial steps per recorded step.
constexpr std::size_t max_tries_per_step = 100000;
/// The arc fails if a step is shorter than this part of its recorded step.
constexpr double shortest_collocated_step = 1e-13, shortest_explicit_step = 1e-10;
/// A recorded step is cut into ⌈length/h⌉ equal parts; this allowance avoids one more part because of rounding.
constexpr double rounding_allowance = 1e-12;
/// Allowed difference of Radau's solutions with three and five nodes, relative to the solution. The orders are 5 and 9,
/// so the error of the better one is about the power 10/6 of the difference: 1e-10.
constexpr double radau_difference = 1e-6;
/// Up to this number of coordinates, collocation (five evaluations and a matrix of all nodes) is cheaper than the
/// explicit method (twelve evaluations).
constexpr int max_collocated_coordinates = 12;
/// On stiff arcs, where the steps of the explicit method are short, it is cheaper up to this number.
constexpr int max_stiff_coordinates = 150;
/// A velocity error counts for positions, and a position error for velocities, as this part of what it makes over a
/// recorded step.
constexpr double cross_scale = 0.1;

double end_of(const integrate::RecordedArc& arc, std::size_t k) { return std::min(arc.steps[k].t_new(), arc.t_end); }

double length_of(const integrate::RecordedArc& arc, std::size_t k) {
    return arc.steps[k].t_new() - arc.steps[k].t_old();
}

/// The last recorded step that a step of the length h from t, in the recorded step `first`, takes together with it.
std::size_t last_merged(const integrate::RecordedArc& arc, std::size_t first, double t, double h) {
    std::size_t last = first;
    for (double longest = length_of(arc, first); last + 1 < arc.steps.size(); ++last) {
        const double length = length_of(arc, last + 1);
        if (end_of(arc, last + 1) - t > h || length < merged_step_ratio * longest) break;
        longest = std::max(longest, length);
    }
    return last;
}

/// The nodes of the solution itself.
const Nodes& fine_nodes(const integrate::RecordedArc& arc) { return arc.implicit ? radau_five() : gauss_five(); }

}  // namespace

namespace {

/// Part of the tolerance that the error of one step may use. The errors of the steps of a motion add up.
constexpr double local_share = 0.5;

}  // namespace

ArcFlow::ArcFlow(Tangent& tangent, double tolerance, double size_q, double size_u, Use use)
    : x_(tangent),
      motion_(tangent),
      collocation_(tangent, motion_),
      series_(tangent),
      use_(use),
      n_(tangent.n()),
      tolerance_(local_share * tolerance),
      floor_{size_q, size_u} {}

void ArcFlow::set_tolerance(double tolerance) {
    constexpr double negligible_part = 0.1;  // of the tolerance: terms of the motion that are left out
    tolerance_ = local_share * tolerance;
    series_.negligible_term = std::max(negligible_term_ratio, negligible_part * tolerance);
}

bool ArcFlow::collocates(const integrate::RecordedArc& arc) const {
    return n_ <= (arc.implicit ? max_stiff_coordinates : max_collocated_coordinates);
}

void ArcFlow::grow_scale() {
    for (int k = 0; k < 2; ++k)
        for (Eigen::Index r = 0; r < scale_.rows(); ++r)
            for (int i = 0; i < n_; ++i)
                scale_(r, k) = std::max(scale_(r, k), std::abs(probe_.rows(r, 1 + k * n_ + i)));
}

/// What errors of row r of the probe are relative to. Positions (kind 0): max(largest position, cross_scale · largest
/// velocity · stride). Velocities (kind 1): max(largest velocity, cross_scale · largest position / stride).
double ArcFlow::whole(Eigen::Index row, int kind) const {
    return kind == 0 ? std::max(scale_(row, 0), cross_scale * scale_(row, 1) * stride_)
                     : std::max(scale_(row, 1), cross_scale * scale_(row, 0) / stride_);
}

/// The largest relative error. Not finite if an error is not.
double ArcFlow::measure(const Matrix& error) const {
    double worst = 0.0;
    for (Eigen::Index r = 0; r < error.rows(); ++r) {
        for (int k = 0; k < 2; ++k) {
            const double e = error.row(r).segment(k * n_, n_).cwiseAbs().maxCoeff();
            if (e == 0.0) continue;
            const double ratio = e / whole(r, k);
            if (!std::isfinite(ratio)) return ratio;
            worst = std::max(worst, ratio);
        }
    }
    return worst;
}

/// K_i = (δu, δu̇) of stage i at x_i = x + h Σ a_ij K_j, with the linearised equations that are prepared.
void ArcFlow::stage_of(Bundle& b, int stage, double h) {
    b.k.resize(ix(rk::stages));
    if (stage > 0)
        combine(b.k, rk::a[stage], &b.from, h, b.stage);
    else
        b.stage = b.from;
    b.rows.middleCols(1, 2 * n_) = b.stage;
    x_.linearised.along(b.rows, b.rates);
    Matrix& k = b.k[ix(stage)];
    k.resize(b.rows.rows(), 2 * n_);
    k.leftCols(n_) = b.stage.rightCols(n_);
    k.rightCols(n_) = b.rates;
}

/// Dormand and Prince's method of order 8 ([Hairer] II.5). Returns the error relative to the tolerance, infinite if the
/// step cannot be evaluated. Its error estimate combines one of order 5 and one of order 3: e₅²/√(e₅² + 0.01 e₃²).
double ArcFlow::explicit_step(double t, double end) {
    const double h = end - t;
    bool possible = true;
    for (Bundle* b : {&probe_, &directions_})
        if (b->rows.rows() > 0) b->from = b->rows.middleCols(1, 2 * n_);
    for (int i = 0; i < rk::stages && possible; ++i) {
        ++evaluations;
        possible = motion_.prepare(node(t, end, rk::c[i]));
        for (Bundle* b : {&probe_, &directions_})
            if (possible && b->rows.rows() > 0) stage_of(*b, i, h);
    }
    for (Bundle* b : {&probe_, &directions_}) {
        if (b->rows.rows() == 0) continue;
        b->rows.middleCols(1, 2 * n_) = b->from;
        if (!possible) continue;
        combine(b->k, rk::b, &b->from, h, b->next);
    }
    if (!possible) return infinity;
    combine(probe_.k, rk::error5, nullptr, h, probe_.sum);
    const double fifth = measure(probe_.sum);
    combine(probe_.k, rk::error3, nullptr, h, probe_.sum);
    const double third = measure(probe_.sum);
    const double both = std::hypot(fifth, 0.1 * third);
    return both == 0.0 ? 0.0 : fifth * (fifth / both) / tolerance_;
}

/// A step with sparse matrices. Returns the error relative to the tolerance, infinite if the step is not possible. All
/// directions are carried with the probe, because they share the factors.
double ArcFlow::sparse_step(double t, double end) {
    const Eigen::Index probes = probe_.rows.rows(), others = directions_.rows.rows();
    Matrix &rows = all_.rows, &error = all_.sum;
    rows.resize(probes + others, x_.columns());
    rows.topRows(probes) = probe_.rows;
    if (others > 0) rows.bottomRows(others) = directions_.rows;
    if (!sparse_->forwards(t, end, rows, tolerance_, all_.next) || !sparse_->estimate_error(probes, error))
        return infinity;
    probe_.next = all_.next.topRows(probes);
    directions_.next = all_.next.bottomRows(others);
    return measure(error) / radau_difference;
}

/// The last part of an arc on which slip in a plane comes to rest.
bool ArcFlow::step_to_rest(const integrate::RecordedArc& arc, const PathToRest& path) {
    if (path.map.size() == 0) return false;
    for (Bundle* b : {&probe_, &directions_})
        if (b->rows.rows() > 0) b->rows.middleCols(1, 2 * n_) = (b->rows.rightCols(path.map.rows()) * path.map).eval();
    steps_.push_back({path.from, arc.t_end, false, path.map});
    return true;
}

/// Returns the error relative to the tolerance, infinite if the step cannot be evaluated.
double ArcFlow::collocated_step(double t, double end, const integrate::RecordedArc& arc) {
    const bool stiff = arc.implicit;
    const Eigen::Index probes = probe_.rows.rows();
    Matrix &rows = all_.rows, &from = all_.from, &rough = all_.sum;
    rows.resize(probes + directions_.rows.rows(), x_.columns());
    rows.topRows(probes) = probe_.rows;
    if (directions_.rows.rows() > 0) rows.bottomRows(directions_.rows.rows()) = directions_.rows;
    from = rows.middleCols(1, 2 * n_);
    if (stiff) {
        evaluations += 3;
        if (!collocation_.prepare(t, end, radau_three(), probe_.rows) ||
            !collocation_.forwards(from.topRows(probes), rough))
            return infinity;
    }
    evaluations += 5;
    if (!collocation_.prepare(t, end, fine_nodes(arc), rows) || !collocation_.forwards(from, all_.next))
        return infinity;
    probe_.next = all_.next.topRows(probes);
    directions_.next = all_.next.bottomRows(directions_.rows.rows());
    if (stiff) {
        rough -= probe_.next;
    } else {
        // At the end of the arc the equations may be those of another mode already.
        const bool inside = end < arc.t_end;
        if (inside) {
            ++evaluations;
            if (!motion_.prepare(end)) return infinity;
            all_.stage = probe_.rows;
            all_.stage.middleCols(1, 2 * n_) = probe_.next;
            x_.linearised.along(all_.stage, right_);
        }
        collocation_.estimate_error(probes, left_known_ ? &left_ : nullptr, inside ? &right_ : nullptr, rough);
    }
    return measure(rough) / (stiff ? radau_difference : tolerance_);
}

/// A step by collocation with two nodes, whose error estimate is the difference from one node. It costs half as much as
/// collocated_step and is accurate enough for very short arcs, such as the rest of an accumulation. Returns the error
/// relative to the tolerance, infinite if the step cannot be evaluated.
double ArcFlow::short_step(double t, double end) {
    const Eigen::Index probes = probe_.rows.rows(), others = directions_.rows.rows();
    Matrix &rows = all_.rows, &from = all_.from, &rough = all_.sum;
    rows.resize(probes + others, x_.columns());
    rows.topRows(probes) = probe_.rows;
    if (others > 0) rows.bottomRows(others) = directions_.rows;
    from = rows.middleCols(1, 2 * n_);
    evaluations += 3;
    if (!collocation_.prepare(t, end, gauss_one(), rows) || !collocation_.forwards(from, rough)) return infinity;
    if (!collocation_.prepare(t, end, gauss_two(), rows) || !collocation_.forwards(from, all_.next)) return infinity;
    probe_.next = all_.next.topRows(probes);
    directions_.next = all_.next.bottomRows(others);
    rough -= all_.next;
    return measure(rough.topRows(probes)) / tolerance_;
}

/// Carries the probe from t to `end` by Taylor series, within one recorded step. If this fails then nothing changes.
bool ArcFlow::carry_series(const integrate::RecordedArc& arc, std::size_t step, double t, double end) {
    stride_ = end_of(arc, step) - arc.steps[step].t_old();
    probe_.next.resize(probe_.rows.rows(), 2 * n_);
    for (Eigen::Index r = 0; r < probe_.rows.rows(); ++r) {
        carried_ = probe_.rows.row(r);
        if (!series_.carry(step, t, end, carried_, {tolerance_ * whole(r, 0), tolerance_ * whole(r, 1)})) return false;
        probe_.next.row(r) = carried_.segment(1, 2 * n_);
    }
    probe_.rows.middleCols(1, 2 * n_) = probe_.next;
    grow_scale();
    left_known_ = false;
    return true;
}

/// Tries one step, and accepts it if its error is at most `allowed` times the tolerance.
ArcFlow::Trial ArcFlow::take(const integrate::RecordedArc& arc, double t, double end, double allowed) {
    const bool whole = arc.steps.size() == 1 && t == arc.t_begin && end == arc.t_end;
    const bool short_arc =
        whole && use_ == Use::forward_only && !arc.implicit && arc.steps.front().form() != ode::Dense::Form::series;
    double error = infinity;
    if (short_arc && !sparse_arc_ && collocates(arc)) error = short_step(t, end);
    if (!(error <= allowed))
        error = sparse_arc_       ? sparse_step(t, end)
                : collocates(arc) ? collocated_step(t, end, arc)
                                  : explicit_step(t, end);
    if (!std::isfinite(error)) return {false, infinity};
    if (error > allowed) return {false, error};
    steps_.push_back({t, end, false, {}});
    for (Bundle* b : {&probe_, &directions_})
        if (b->rows.rows() > 0) b->rows.middleCols(1, 2 * n_) = b->next;
    grow_scale();
    left_.swap(right_);
    left_known_ = end < arc.t_end;
    return {true, error};
}

/// The first step of an arc on which slip in a plane begins at rest. Returns its end, t if the usual steps do, or
/// std::nullopt if no such step is accurate.
///
/// With the speed v = a t the direction d of slip obeys δd = (1 − d dᵀ) δγ/(a t). Friction makes the equation
///     δγ' = −(c/t) (1 − d dᵀ) δγ + g(t)
/// of the slip velocity, whose solutions from δγ(0) ∥ d are smooth: one collocation step solves it. The first recorded
/// steps are so short that rounding errors turn d by an angle θ, and each of them would take the part c θ² of δγ away.
/// If δγ(0) is not quite parallel to d then no length of this step has an error within the tolerance. A larger error is
/// then allowed, for the longer steps first: on them the direction is known best. If this does not help either then the
/// usual steps would lose a part of δγ unnoticed, and there is no derivative.
std::optional<double> ArcFlow::from_rest(const integrate::RecordedArc& arc, double t, double goal) {
    // Ratios are parts of the largest speed. At the first, an error of 1e-12 of a recorded velocity turns the direction
    // by 1e-6. The others are for motions with larger errors, for which the step is refused.
    struct Attempt {
        double ratio, allowed;
    };
    constexpr double more = largest_error_from_rest;
    for (const Attempt& attempt :
         {Attempt{1e-6, 1.0}, Attempt{1e-5, 1.0}, Attempt{1e-4, 1.0}, Attempt{1e-3, 1.0}, Attempt{1e-3, more},
          Attempt{1e-4, more}, Attempt{1e-5, more}, Attempt{1e-6, more}}) {
        const std::size_t count = collocates(arc) ? motion_.slow_steps(attempt.ratio) : 0;
        if (count == 0 || end_of(arc, count - 1) >= goal) return t;
        const double end = end_of(arc, count - 1);
        stride_ = end - t;
        if (take(arc, t, end, attempt.allowed).accepted) return end;
    }
    return std::nullopt;
}

void ArcFlow::begin(const integrate::RecordedArc& arc, const Matrix& probe, const Matrix& directions) {
    motion_.begin(arc);
    probe_.rows = probe;
    directions_.rows = directions;
    left_known_ = false;
    scale_.resize(probe.rows(), 2);
    for (int k = 0; k < 2; ++k) scale_.col(k).setConstant(floor_[k]);
    grow_scale();
    sparse_arc_ = use_ == Use::forward_only && arc.implicit && !collocates(arc);
    if (!sparse_arc_) return;
    if (!sparse_) sparse_.emplace(x_, motion_);
    sparse_arc_ = sparse_->begin_arc();
}

/// Whether the system rests on the whole arc (RecordedArc::rests), and all its variations rest, too. Variations obey
/// A δu + (A u + χ)_q δq + χ_p δp = 0 with u = 0. If the derivatives of the rows A u + χ by q and p are zero then δu =
/// 0, and δq is constant, however long the arc is. (They are not zero if p is the velocity of a belt.)
bool ArcFlow::rests(const integrate::RecordedArc& arc) {
    if (!arc.rests || arc.steps.size() != 1) return false;
    ++evaluations;
    Matrix velocity;
    x_.linearised.gather(model::Function::velocity, arc.t_begin, arc.steps.front().coefficients().data(), {}, {},
                         velocity);
    for (const int row : x_.dynamics.equation_rows())
        if (!velocity.row(row).segment(1, n_).isZero(0.0) || !velocity.row(row).tail(x_.parameters()).isZero(0.0))
            return false;
    return true;
}

bool ArcFlow::forwards(const integrate::RecordedArc& arc, Matrix& probe, Matrix& directions,
                       const std::function<void(double)>& at) {
    steps_.clear();
    if (arc.steps.empty() || arc.t_end <= arc.t_begin) return true;
    begin(arc, probe, directions);
    if (rests(arc)) {
        for (Matrix* rows : {&probe, &directions})
            if (rows->rows() > 0) rows->middleCols(1 + n_, n_).setZero();
        steps_.push_back({arc.t_begin, arc.t_end, true, {}});
        if (at) at(arc.t_end);
        return true;
    }
    // Orders of the error estimates: Radau with three nodes 5 (local error 6), sparse Radau 5 (local error 6), Gauss
    // with five nodes 10, explicit 8.
    const double order = sparse_arc_ ? 6.0 : !collocates(arc) ? 8.0 : arc.implicit ? 6.0 : 10.0;
    const auto factor = [&](double error) {
        return error > 0.0 ? std::clamp(safety * std::pow(error, -1.0 / order), shortest_factor, longest_factor)
                           : longest_factor;
    };
    const PathToRest* path_to_rest = nullptr;
    if (motion_.turns()) {
        const EndInRest& last = end_in_rest(x_, arc);
        if (last.rests && !last.path) return false;
        if (last.path) path_to_rest = &*last.path;
        motion_.begin(arc);
    }
    const double stop = path_to_rest != nullptr ? path_to_rest->from : arc.t_end;
    double t = std::max(arc.t_begin, arc.steps.front().t_old());
    double h = std::clamp(next_step_, length_of(arc, 0), first_step_factor * length_of(arc, 0));
    // Recorded steps are not merged if `at` must be called at their ends, or if an expression may have a kink that is
    // not known: it could lie between the nodes of a long step. Nor where slip in a plane turns in implicit steps: the
    // direction of slow slip is not smooth where they meet, and the difference of two solutions does not show it (an
    // error of 1e-2 near rest).
    const bool single = at || !x_.linearised.all_switches() || (arc.implicit && motion_.turns());
    int refused = 0, merged_refusals = single ? max_merged_refusals : 0;
    bool possible = true;
    std::size_t k = 0;  // recorded step that contains t
    const auto tell = [&](double when) {
        if (!at) return;
        directions = directions_.rows;
        at(when);
    };
    const auto leave_finished_steps = [&] {
        for (; k < arc.steps.size() && end_of(arc, k) <= t; ++k) tell(end_of(arc, k));
    };
    // A separate probe has many directions beside it.
    const bool by_series = use_ == Use::forward_only && directions.rows() == 0 && series_.begin(arc);
    std::size_t tries = 0;
    const std::optional<double> first = from_rest(arc, t, stop);
    if (!first) return false;
    t = *first;
    for (leave_finished_steps(); possible && k < arc.steps.size(); leave_finished_steps()) {
        if (path_to_rest != nullptr && t >= stop) {
            possible = step_to_rest(arc, *path_to_rest);
            tell(arc.t_end);
            break;
        }
        if (by_series && series_.covers(k)) {
            const double goal = std::min(end_of(arc, k), stop);
            if (carry_series(arc, k, t, goal)) {
                t = goal;
                continue;
            }
        }
        const std::size_t last_step = merged_refusals < max_merged_refusals ? last_merged(arc, k, t, h) : k;
        stride_ = end_of(arc, last_step) - arc.steps[k].t_old();
        const double goal = std::min(end_of(arc, last_step), stop);
        const double parts = std::ceil((goal - t) / h * (1.0 - rounding_allowance));
        const double end = parts <= 1.0 ? goal : t + (goal - t) / parts;
        const Trial trial = take(arc, t, end);
        if (trial.accepted) {
            h = (end - t) * factor(trial.error);
            t = end;
            refused = 0;
        } else {
            h = (end - t) * (std::isfinite(trial.error) ? factor(trial.error) : failed_step_factor) *
                (refused++ > 0 ? repeated_refusal_factor : 1.0);
            if (last_step > k) ++merged_refusals;
            const bool implicit = sparse_arc_ || collocates(arc);
            const double shortest = implicit ? shortest_collocated_step : shortest_explicit_step;
            possible = h >= shortest * (end_of(arc, k) - arc.steps[k].t_old());
        }
        possible = possible && ++tries < max_tries_per_step * arc.steps.size();
    }
    next_step_ = h;
    evaluations += std::exchange(series_.evaluations, 0);
    if (sparse_) evaluations += std::exchange(sparse_->evaluations, 0);
    probe = probe_.rows;
    directions = directions_.rows;
    return possible;
}

// The transpose of one explicit step x_i = x + h Σ_{j<i} a_ij K_j, K_i = f_x x_i + f_p p, x⁺ = x + h Σ b_i K_i. Let K̄_i
// be the derivative of y·x⁺ by K_i and Z_i the derivative by x_i. From the last stage to the first
//     K̄_i = h (b_i y + Σ_{j>i} a_ji Z_j),   Z_i = f_xᵀ K̄_i,   y ← y + Σ Z_i,   g ← g + Σ f_pᵀ K̄_i.
// f_xᵀ (k_q, k_u) = (f_qᵀ k_u, f_uᵀ k_u + k_q), because δq̇ = δu.
bool ArcFlow::explicit_back(const Step& step, Matrix& gradients) {
    const Eigen::Index size = 2 * n_, parameters = x_.parameters(), count = gradients.rows();
    const double h = step.end - step.t;
    std::vector<Matrix>& k = directions_.k;
    Matrix &stage = directions_.stage, &sum = directions_.sum;
    k.assign(ix(rk::stages), Matrix::Zero(count, size));
    for (const rk::Term& term : rk::b) k[ix(term.stage)] = term.weight * gradients.leftCols(size);
    Vector y, change;
    for (int i = rk::stages; i-- > 0;) {
        stage = h * k[ix(i)];
        ++evaluations;
        if (!motion_.prepare(node(step.t, step.end, rk::c[i]))) return false;
        sum.resize(count, size);
        for (Eigen::Index r = 0; r < count; ++r) {
            y = stage.row(r).tail(n_).transpose();
            x_.linearised.against(y, change);
            sum.row(r) = change.segment(1, size).transpose();
            gradients.row(r).tail(parameters) += change.tail(parameters).transpose();
        }
        sum.rightCols(n_) += stage.leftCols(n_);
        gradients.leftCols(size) += sum;
        if (i > 0)
            for (const rk::Term& term : rk::a[i]) k[ix(term.stage)] += term.weight * sum;
    }
    return true;
}

bool ArcFlow::collocated_back(const Step& step, const Nodes& nodes, Matrix& gradients) {
    evaluations += 5;
    return collocation_.prepare(step.t, step.end, nodes) && collocation_.backwards(gradients);
}

bool ArcFlow::backwards(const integrate::RecordedArc& arc, const std::vector<Step>& steps, Matrix& gradients) {
    if (steps.empty()) return true;
    motion_.begin(arc);
    for (std::size_t k = steps.size(); k-- > 0;) {
        if (steps[k].rests) {
            gradients.middleCols(n_, n_).setZero();
            continue;
        }
        if (const Matrix& map = steps[k].to_rest; map.size() > 0) {  // y·δx(end) = (δx, δp)·map y
            const Matrix ends = gradients.leftCols(2 * n_);
            gradients.leftCols(2 * n_).setZero();
            gradients += ends * map.transpose();
            continue;
        }
        const bool possible = collocates(arc) ? collocated_back(steps[k], fine_nodes(arc), gradients)
                                              : explicit_back(steps[k], gradients);
        if (!possible) return false;
    }
    return true;
}

}  // namespace saltus::sensitivity
