// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/arc/detail/arc_flow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "saltus/base/index.hpp"
#include "saltus/ode/dop853.hpp"

namespace saltus::sensitivity {

namespace {

namespace rk = ode::dop853;

/// start + h Σ weight·k, or without a start; few numbers at a time, for which a loop is all that is needed.
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

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double safety = 0.9;
/// Steps grow by no more than this; and an arc may begin with so many of the motion's first step.
constexpr double longer = 20.0, boldness = 3.0;
/// Recorded steps are taken together as long as they are not shorter than this part of one before; no longer on an arc
/// where that was refused so many times.
constexpr double not_shorter = 0.7;
constexpr int patience = 3;
/// A recorded step on the average.
constexpr std::size_t most_tries = 100000;
/// Three stages of Radau's and five may differ by this part of the solution, where the better ones are off by about its
/// power 10/6.
constexpr double rough_tolerance = 1e-6;
/// Up to so many coordinates five evaluations and a matrix of all nodes are less work than twelve evaluations.
constexpr int few = 12;

}  // namespace

ArcFlow::ArcFlow(Tangent& tangent, double tolerance, double size_q, double size_u)
    : x_(tangent),
      motion_(tangent),
      collocation_(tangent, motion_),
      n_(tangent.n()),
      tolerance_(tolerance),
      floor_{size_q, size_u} {}

bool ArcFlow::collocates(const integrate::RecordedArc& arc) const { return arc.implicit || n_ <= few; }

void ArcFlow::grow_scale() {
    for (int k = 0; k < 2; ++k)
        scale_.col(k) = scale_.col(k).cwiseMax(probe_.rows.middleCols(1 + k * n_, n_).cwiseAbs().rowwise().maxCoeff());
}

/// Positions and velocities each by their largest values so far, or by what the other kind makes of them over the
/// recorded step.
double ArcFlow::measure(const Matrix& error) const {
    double worst = 0.0;
    for (Eigen::Index r = 0; r < error.rows(); ++r) {
        const double whole[2] = {std::max(scale_(r, 0), 0.1 * scale_(r, 1) * stride_),
                                 std::max(scale_(r, 1), 0.1 * scale_(r, 0) / stride_)};
        for (int k = 0; k < 2; ++k) {
            const double e = error.row(r).segment(k * n_, n_).cwiseAbs().maxCoeff();
            if (e == 0.0) continue;
            const double ratio = e / whole[k];
            if (!std::isfinite(ratio)) return ratio;
            worst = std::max(worst, ratio);
        }
    }
    return worst;
}

/// K of a stage, in the equations at hand.
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

bool ArcFlow::explicit_step(double t, double end, double& error) {
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
    if (!possible) return false;
    combine(probe_.k, rk::error5, nullptr, h, probe_.sum);
    const double fifth = measure(probe_.sum);
    combine(probe_.k, rk::error3, nullptr, h, probe_.sum);
    const double third = measure(probe_.sum);
    const double both = std::hypot(fifth, 0.1 * third);
    error = both == 0.0 ? 0.0 : fifth * (fifth / both) / tolerance_;
    return true;
}

bool ArcFlow::straight_step(double t, double end) {
    ++evaluations;
    if (!motion_.prepare(t)) return false;
    for (Bundle* b : {&probe_, &directions_}) {
        if (b->rows.rows() == 0) continue;
        b->from = b->rows.middleCols(1, 2 * n_);
        stage_of(*b, 0, 0.0);
        b->rows.middleCols(1, 2 * n_) = b->from + (end - t) * b->k[0];
    }
    return true;
}

bool ArcFlow::straight_back(const Step& step, Matrix& gradients) {
    ++evaluations;
    if (!motion_.prepare(step.t)) return false;
    const double h = step.end - step.t;
    Vector y, change;
    for (Eigen::Index r = 0; r < gradients.rows(); ++r) {
        y = h * gradients.row(r).segment(n_, n_).transpose();
        x_.linearised.against(y, change);
        gradients.row(r).segment(n_, n_) += h * gradients.row(r).head(n_);
        gradients.row(r) += change.tail(gradients.cols()).transpose();
    }
    return true;
}

bool ArcFlow::collocated_step(double t, double end, const integrate::RecordedArc& arc, double& error) {
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
            return false;
    }
    evaluations += 5;
    if (!collocation_.prepare(t, end, stiff ? radau_five() : gauss_five(), rows) ||
        !collocation_.forwards(from, all_.next))
        return false;
    probe_.next = all_.next.topRows(probes);
    directions_.next = all_.next.bottomRows(directions_.rows.rows());
    if (stiff) {
        rough -= probe_.next;
    } else {
        // Not at the ends of the arc, where a coefficient may be that of another mode.
        const bool inside = end < arc.t_end;
        if (inside) {
            ++evaluations;
            if (!motion_.prepare(end)) return false;
            all_.stage = probe_.rows;
            all_.stage.middleCols(1, 2 * n_) = probe_.next;
            x_.linearised.along(all_.stage, right_);
        }
        collocation_.doubt(probes, left_known_ ? &left_ : nullptr, inside ? &right_ : nullptr, rough);
    }
    error = measure(rough) / (stiff ? rough_tolerance : tolerance_);
    return true;
}

bool ArcFlow::take(const integrate::RecordedArc& arc, double t, double end, double& error) {
    const bool possible = collocates(arc) ? collocated_step(t, end, arc, error) : explicit_step(t, end, error);
    if (!possible || !std::isfinite(error)) {
        error = infinity;
        return false;
    }
    if (error > 1.0) return false;
    steps_.push_back({t, end});
    for (Bundle* b : {&probe_, &directions_})
        if (b->rows.rows() > 0) b->rows.middleCols(1, 2 * n_) = b->next;
    grow_scale();
    left_.swap(right_);
    left_known_ = end < arc.t_end;
    return true;
}

bool ArcFlow::forwards(const integrate::RecordedArc& arc, Matrix& probe, Matrix& directions,
                       const std::function<void(double)>& at) {
    steps_.clear();
    if (arc.steps.empty() || arc.t_end <= arc.t_begin) return true;
    motion_.begin(arc);
    probe_.rows = probe;
    directions_.rows = directions;
    left_known_ = false;
    scale_.resize(probe.rows(), 2);
    for (int k = 0; k < 2; ++k) scale_.col(k).setConstant(floor_[k]);
    grow_scale();

    const double order = arc.implicit ? 6.0 : collocates(arc) ? 10.0 : 8.0;
    const auto factor = [&](double error) {
        return error > 0.0 ? std::clamp(safety * std::pow(error, -1.0 / order), 0.2, longer) : longer;
    };
    const double straight = motion_.turns() ? straight_from(arc) : arc.t_end;
    const auto end_of = [&](std::size_t k) { return std::min(arc.steps[k].t_new(), arc.t_end); };
    const auto length_of = [&](std::size_t k) { return arc.steps[k].t_new() - arc.steps[k].t_old(); };
    double t = std::max(arc.t_begin, arc.steps.front().t_old());
    double h = std::clamp(likely_, length_of(0), boldness * length_of(0));
    // A kink that is not known could lie between the nodes of a long step.
    int refused = 0, refused_together = at || !x_.linearised.all_switches() ? patience : 0;
    bool possible = true;
    std::size_t k = 0;
    const auto tell = [&](double when) {
        if (!at) return;
        directions = directions_.rows;
        at(when);
    };
    const auto move_on = [&] {
        for (; k < arc.steps.size() && end_of(k) <= t; ++k) tell(end_of(k));
    };
    std::size_t tries = 0;
    for (move_on(); possible && k < arc.steps.size(); move_on()) {
        // Where slip in a plane comes to rest, coefficients grow without bound, then turn into noise: δγ across it goes
        // to zero in a straight line.
        if (t >= straight && straight < arc.t_end) {
            possible = straight_step(t, arc.t_end);
            steps_.push_back({t, arc.t_end, true});
            tell(arc.t_end);
            break;
        }
        std::size_t last = k;
        for (double longest = length_of(k); refused_together < patience && last + 1 < arc.steps.size(); ++last) {
            if (end_of(last + 1) - t > h || length_of(last + 1) < not_shorter * longest) break;
            longest = std::max(longest, length_of(last + 1));
        }
        stride_ = end_of(last) - arc.steps[k].t_old();
        const double goal = std::min(end_of(last), straight);
        const double parts = std::ceil((goal - t) / h * (1.0 - 1e-12));
        const double end = parts <= 1.0 ? goal : t + (goal - t) / parts;
        double error = 0.0;
        if (take(arc, t, end, error)) {
            h = (end - t) * factor(error);
            t = end;
            refused = 0;
        } else {
            // Where coefficients have a kink, the order of the method says nothing about the next try.
            h = (end - t) * (std::isfinite(error) ? factor(error) : 0.25) * (refused++ > 0 ? 0.2 : 1.0);
            if (last > k) ++refused_together;
            possible = h >= (collocates(arc) ? 1e-13 : 1e-10) * (end_of(k) - arc.steps[k].t_old());
        }
        possible = possible && ++tries < most_tries * arc.steps.size();
    }
    likely_ = h;
    probe = probe_.rows;
    directions = directions_.rows;
    return possible;
}

/// With K̄_i the derivative by K_i and Z_i that by the state of stage i, from the last stage to the first:
///     K̄_i = h (b_i y + Σ_{j>i} a_ji Z_j),   Z_i = f_xᵀ K̄_i,   y ← y + Σ Z_i,   g ← g + Σ f_pᵀ K̄_i
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

bool ArcFlow::collocated_back(const Step& step, bool stiff, Matrix& gradients) {
    evaluations += 5;
    return collocation_.prepare(step.t, step.end, stiff ? radau_five() : gauss_five()) &&
           collocation_.backwards(gradients);
}

bool ArcFlow::backwards(const integrate::RecordedArc& arc, const std::vector<Step>& steps, Matrix& gradients) {
    if (steps.empty()) return true;
    motion_.begin(arc);
    for (std::size_t k = steps.size(); k-- > 0;) {
        const bool possible = steps[k].straight ? straight_back(steps[k], gradients)
                              : collocates(arc) ? collocated_back(steps[k], arc.implicit, gradients)
                                                : explicit_back(steps[k], gradients);
        if (!possible) return false;
    }
    return true;
}

}  // namespace saltus::sensitivity
