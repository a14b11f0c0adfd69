// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/sensitivity.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>
#include <variant>

#include "saltus/base/numbers.hpp"
#include "saltus/base/stop.hpp"
#include "saltus/integrate/mode/dynamics.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/support.hpp"
#include "saltus/sensitivity/arc/detail/jumps.hpp"
#include "saltus/sensitivity/detail/adjoint.hpp"
#include "saltus/sensitivity/detail/forward.hpp"

namespace saltus::sensitivity {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Slip in a plane that is slow turns fast, and the linearised equations have coefficients 1/|γ|. Where slip begins,
// comes to rest or nearly so, the errors of the motion may be as large as |γ|, and then the derivatives after it are
// wrong, by any amount. Such a motion is repeated with smaller tolerances, which make other errors: derivatives that do
// not agree are no derivatives.

/// Slip in a plane is slow if its speed is less than this part of the largest on the arc.
constexpr double slow_slip_ratio = 1e-3;
/// Slip in a plane that becomes as slow as this, in m/s, turns within a few steps by half a turn, and velocities are
/// known to about 1e-6 of it. Derivatives after it are given only if it comes to rest, as an event.
constexpr double unresolved_speed = 1e-6;
/// Derivatives of two runs agree if they differ by at most this part of the largest of their kind (positions,
/// velocities, times of one event).
constexpr double agreeing_ratio = 1e-5;
/// A derivative by one variable that is small beside those by others is compared with this part of them at least.
constexpr double least_share = 1e-3;
/// Smaller derivatives than this, in units of the quantity by that of the variable, are compared as if they had this
/// size: rounding errors of derivatives that are zero do not agree.
constexpr double least_derivative = 1e-6;
/// The tolerances of the runs, as parts of the first ones.
constexpr double finer[] = {0.3, 0.1};

/// Where slip in a plane is slow.
struct SlowSlip {
    double t = nan;       ///< the first time; NaN if it is nowhere slow
    double passes = nan;  ///< the first time at which it passes almost through rest without an event; NaN: nowhere
};

/// The least speed of slip on the straight line between two slip velocities, and where.
std::pair<double, double> least_between(const Vector& from, const Vector& to) {
    const Vector way = to - from;
    const double length = way.squaredNorm();
    const double part = length > 0.0 ? std::clamp(-from.dot(way) / length, 0.0, 1.0) : 0.0;
    return {(from + part * way).norm(), part};
}

/// Looks at one friction part on one arc.
void look_for_slow_slip(const integrate::RecordedArc& arc, integrate::Dynamics& d, int part, SlowSlip& out) {
    std::vector<double> state(static_cast<std::size_t>(d.state_size())), times{arc.t_begin};
    std::vector<Vector> slip;
    double largest = 0.0;
    const auto add = [&](const ode::Dense& step, double t) {
        step.evaluate(t, state.data());
        d.evaluate_terms(t, state.data());
        slip.emplace_back(
            Eigen::Map<const Vector>(d.slip_velocity(part), d.parts()[static_cast<std::size_t>(part)].size));
        largest = std::max(largest, slip.back().norm());
    };
    add(arc.steps.front(), arc.t_begin);
    for (const ode::Dense& step : arc.steps) {
        times.push_back(std::min(step.t_new(), arc.t_end));
        add(step, times.back());
    }
    // Slip that begins or ends at rest is slow there in any case.
    const double slow = slow_slip_ratio * largest;
    std::size_t first = 0, last = slip.size() - 1;
    if (slip[first].norm() < integrate::Thresholds::rest_speed)
        while (first < last && slip[first].norm() < slow) ++first;
    if (slip[last].norm() < integrate::Thresholds::rest_speed)
        while (last > first && slip[last].norm() < slow) --last;
    if ((first > 0 || last + 1 < slip.size()) && !(out.t <= times[first > 0 ? 0 : last]))
        out.t = times[first > 0 ? 0 : last];
    for (std::size_t i = first; i < last; ++i) {
        const auto [least, where] = least_between(slip[i], slip[i + 1]);
        const double when = times[i] + where * (times[i + 1] - times[i]);
        if (least <= slow && !(out.t <= when)) out.t = when;
        if (least <= unresolved_speed && !(out.passes <= when)) out.passes = when;
    }
}

/// Leaves the mode of the dynamics.
SlowSlip slow_slip(const integrate::Recording& recording, integrate::Dynamics& d) {
    SlowSlip out;
    for (const integrate::RecordedPiece& piece : recording.pieces) {
        const auto* arc = std::get_if<integrate::RecordedArc>(&piece);
        if (arc == nullptr || arc->steps.empty()) continue;
        for (std::size_t k = 0; k < arc->mode->parts.size(); ++k)
            if (arc->mode->parts[k].slips && d.parts()[k].size > 1)
                look_for_slow_slip(*arc, d, static_cast<int>(k), out);
    }
    return out;
}

/// The largest difference of two columns, relative to the larger of `least` and the first one.
double relative_change(const Vector& a, const Vector& b, double least) {
    const double size = std::max({a.size() > 0 ? a.cwiseAbs().maxCoeff() : 0.0, least, least_derivative});
    const double change = a.size() > 0 ? (a - b).cwiseAbs().maxCoeff() : 0.0;
    return change > 0.0 ? change / size : 0.0;
}

double largest_entry(const Matrix& m) {
    double largest = 0.0;
    for (Eigen::Index i = 0; i < m.size(); ++i)
        if (std::isfinite(m.data()[i])) largest = std::max(largest, std::abs(m.data()[i]));
    return largest;
}

bool agree(double change) { return change <= agreeing_ratio; }

/// Derivatives of `out` that the other run does not confirm become NaN, with a remark. Returns how many did.
int keep_confirmed(Sensitivity& out, const Sensitivity& other, double t) {
    int dropped = 0;
    const auto count = static_cast<Eigen::Index>(out.with_respect_to.size());
    const auto name = [&](Eigen::Index j) { return out.with_respect_to[static_cast<std::size_t>(j)].name; };
    const bool alike = other.available && other.events.size() == out.events.size();
    const auto drop = [&](double when, Eigen::Index j, const std::string& of) {
        ++dropped;
        out.remarks.push_back({when, name(j),
                               "slip in a plane is slow here, and " + of +
                                   " changes with the tolerances of the motion by more than 1e-5 of the largest"});
    };
    const Eigen::Index n = out.final.rows() / 2;
    const Matrix final = out.final;
    double sizes[2] = {1.0, 1.0};
    for (const double q : out.motion.end.q) sizes[0] = std::max(sizes[0], std::abs(q));
    for (const double u : out.motion.end.u) sizes[1] = std::max(sizes[1], std::abs(u));
    for (Eigen::Index j = 0; j < count && final.size() > 0; ++j) {
        if (final.col(j).hasNaN()) continue;
        double worst = alike && !other.final.col(j).hasNaN() ? 0.0 : infinity;
        for (const Eigen::Index from : {Eigen::Index{0}, n})
            if (worst < infinity)
                worst =
                    std::max(worst, relative_change(final.col(j).segment(from, n), other.final.col(j).segment(from, n),
                                                    std::max(least_share * largest_entry(final.middleRows(from, n)),
                                                             least_derivative * sizes[from == 0 ? 0 : 1])));
        if (agree(worst)) continue;
        out.final.col(j).setConstant(nan);
        for (DerivativeSample& sample : out.history)
            if (sample.t >= t) sample.state.col(j).setConstant(nan);
        drop(t, j, "the derivative of the state");
    }
    for (std::size_t e = 0; e < out.events.size(); ++e) {
        std::vector<double>& dt = out.events[e].dt;
        if (out.motion.events[out.events[e].event].t < t) continue;
        double largest = 0.0;
        for (const double x : dt)
            if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
        for (std::size_t j = 0; j < dt.size(); ++j) {
            if (std::isnan(dt[j])) continue;
            const Vector a = Vector::Constant(1, dt[j]), b = Vector::Constant(1, alike ? other.events[e].dt[j] : nan);
            if (agree(b.hasNaN() ? infinity : relative_change(a, b, least_share * largest))) continue;
            dt[j] = nan;
            drop(out.motion.events[out.events[e].event].t, static_cast<Eigen::Index>(j), "the derivative of the time");
        }
    }
    double largest = 0.0;
    for (const double x : out.output_derivative)
        if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
    for (std::size_t j = 0; j < out.output_derivative.size(); ++j) {
        double& x = out.output_derivative[j];
        if (std::isnan(x)) continue;
        const bool known = other.available && j < other.output_derivative.size();
        const Vector a = Vector::Constant(1, x), b = Vector::Constant(1, known ? other.output_derivative[j] : nan);
        if (!b.hasNaN() && agree(relative_change(a, b, least_share * largest))) continue;
        x = nan;
        drop(t, static_cast<Eigen::Index>(j), "the derivative of the output");
    }
    return dropped;
}

/// All derivatives from a time on become NaN, with a remark.
void keep_before(Sensitivity& out, double t) {
    const auto drop = [](double& x) { x = nan; };
    if (out.motion.end.t >= t) {
        out.final.setConstant(nan);
        std::for_each(out.output_derivative.begin(), out.output_derivative.end(), drop);
    }
    for (DerivativeSample& sample : out.history)
        if (sample.t >= t) sample.state.setConstant(nan);
    for (EventSensitivity& event : out.events)
        if (out.motion.events[event.event].t >= t) std::for_each(event.dt.begin(), event.dt.end(), drop);
    out.remarks.push_back(
        {t, "", "slip in a plane passes almost through rest: it turns faster than its velocity is known"});
}

/// The same method with smaller tolerances.
integrate::Method with_tolerances(integrate::Method method, double factor) {
    if (auto* event = std::get_if<integrate::EventDriven>(&method)) event->rtol *= factor, event->atol *= factor;
    if (auto* penalty = std::get_if<integrate::Penalty>(&method)) penalty->rtol *= factor, penalty->atol *= factor;
    return method;
}

/// One motion and its derivatives. `slow` becomes where slip in a plane is slow.
Sensitivity one_run(const model::Model& model, const std::vector<Variable>& with_respect_to, const Options& options,
                    SlowSlip& slow) {
    slow = {};
    Sensitivity out;
    out.with_respect_to = with_respect_to;
    integrate::Options run;
    run.t_end = options.t_end;
    run.start = options.start;
    run.interrupted = options.interrupted;
    run.progress = options.progress;
    const bool time_stepping = std::holds_alternative<integrate::Moreau>(options.method);
    const auto start = std::chrono::steady_clock::now();
    integrate::Recording recording;
    std::shared_ptr<integrate::Dynamics> dynamics;
    if (time_stepping) {
        out.motion = integrate::simulate(model, options.method, run);
    } else {
        integrate::RecordedMotion recorded = integrate::simulate_recorded(model, options.method, run);
        out.motion = std::move(recorded.motion);
        recording = std::move(recorded.recording);
        dynamics = std::move(recorded.dynamics);
    }
    out.simulation_seconds = seconds_since(start);
    const auto refuse = [&](std::string why) {
        out.available = false;
        out.reason = std::move(why);
    };
    if (time_stepping)
        refuse("time-stepping does not resolve its events, and derivatives need them; simulate with method event");
    else if (out.motion.status != trajectory::Status::completed)
        refuse("the motion ended early: " + out.motion.reason);
    else if (std::string why = model::unsupported(model, model::Analysis::sensitivity); !why.empty())
        refuse(std::move(why));
    std::optional<Output> output;
    if (!options.output.empty()) {
        output = output_of(model, options.output, out.motion.end.t, out.motion.end.q, out.motion.end.u);
        out.output = output->value;
        out.output_gradient = output->gradient;
    }
    if (!out.available) return out;
    const auto begun = std::chrono::steady_clock::now();
    if (std::string why = cut_at_jumps(model, with_respect_to, recording); !why.empty()) {
        refuse(std::move(why));
        return out;
    }
    bool has_derivatives = false;
    try {
        const Stoppable here(options.interrupted);
        if (dynamics) slow = slow_slip(recording, *dynamics);
        has_derivatives = output && options.adjoint
                              ? backwards(model, recording, std::move(dynamics), *output, options, out)
                              : forwards(model, recording, std::move(dynamics), options, out);
    } catch (const Stopped&) {
        slow = {};
        out.final = {};
        out.one_sided.clear();
        out.events.clear();
        out.history.clear();
        out.output_derivative.clear();
        out.remarks.clear();
        refuse("the derivatives were interrupted");
        return out;
    }
    if (!has_derivatives) {
        refuse(model::unsupported(model, model::Analysis::sensitivity));
        return out;
    }
    // δo = o_x δx + o_p δp; the end time is fixed, so o_t does not enter.
    if (output && !options.adjoint)
        for (std::size_t j = 0; j < with_respect_to.size(); ++j) {
            const int n = model.size();
            double value = output->gradient.segment(1, 2 * n).dot(out.final.col(static_cast<Eigen::Index>(j)));
            if (with_respect_to[j].kind == Variable::Kind::parameter)
                value += output->gradient(1 + 2 * n + with_respect_to[j].index);
            out.output_derivative.push_back(value);
        }
    out.derivative_seconds = seconds_since(begun);
    return out;
}

}  // namespace

Sensitivity sensitivity(const model::Model& model, const std::vector<Variable>& with_respect_to,
                        const Options& options) {
    SlowSlip slow, ignored;
    Sensitivity out = one_run(model, with_respect_to, options, slow);
    if (!out.available || std::isnan(slow.t)) return out;
    if (!std::isnan(slow.passes)) {
        keep_before(out, slow.passes);
        return out;
    }
    // The second run confirms the first, or the third one the second.
    double simulation = out.simulation_seconds, derivative = out.derivative_seconds;
    for (std::size_t k = 0; k < std::size(finer); ++k) {
        Options again = options;
        again.method = with_tolerances(options.method, finer[k]);
        Sensitivity other = one_run(model, with_respect_to, again, ignored);
        simulation += other.simulation_seconds;
        derivative += other.derivative_seconds;
        if (keep_confirmed(out, other, slow.t) == 0) break;
        if (k + 1 < std::size(finer) && other.available) out = std::move(other);
    }
    out.simulation_seconds = simulation;
    out.derivative_seconds = derivative;
    return out;
}

}  // namespace saltus::sensitivity
