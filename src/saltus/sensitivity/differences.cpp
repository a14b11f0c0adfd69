// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/differences.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/ensemble/parallel_for.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"

namespace saltus::sensitivity {

namespace {

using trajectory::Trajectory;

/// The first step h relative to the value of the variable; each refinement divides it by 10.
constexpr double first_step_ratio = 1e-3, step_reduction = 0.1;
constexpr int max_refinements = 6;
/// Refinement ends when the relative uncertainty of the extrapolation is below this.
constexpr double target_uncertainty = 1e-9;
/// Relative accuracy of simulated motions; it adds (this · size)/h to the uncertainty of a difference.
constexpr double motion_rounding = 1e-14;
/// The error of the extrapolation E = D(h/2) + (D(h/2) − D(h))/3 is assumed to be at most this times |E − D(h/2)|: a
/// safety factor, because the error of E is of higher order in h.
constexpr double extrapolation_error_factor = 9.0;
/// Event times are compared if the transversality of the event is at least this. Rounding moves others too much.
constexpr double compared_transversality = 1e-3;
/// Differences with a smaller relative uncertainty need no simulations with tighter tolerances.
constexpr double sufficient_uncertainty = 5e-7;
/// Derivatives smaller than this part of (size of the state)/(value of the variable) are compared by that size.
constexpr double small_derivative_ratio = 1e-3;

/// Tolerances of the simulations. The second pair is tried if the first one leaves too large an uncertainty. Stiff
/// motions do not get more accurate with the tighter pair, because rounding dominates there.
struct Tolerances {
    double rtol, atol;
};
constexpr Tolerances tolerance_levels[] = {{1e-10, 1e-13}, {1e-12, 1e-14}};

/// Why a variable is not compared if the time limit or an interrupt came first.
constexpr const char* stopped_early = "the time limit or an interrupt came before the comparison";

/// The same method with tolerances that are not larger than the given ones.
integrate::Method with_tolerance(integrate::Method method, const Tolerances& tolerances) {
    std::visit(
        [&](auto& m) {
            if constexpr (requires { m.rtol; }) {
                m.rtol = std::min(m.rtol, tolerances.rtol);
                m.atol = std::min(m.atol, tolerances.atol);
            }
            m.keep_arcs = false;
        },
        method);
    return method;
}

bool same_events(const Trajectory& a, const Trajectory& b) {
    if (a.events.size() != b.events.size()) return false;
    for (std::size_t k = 0; k < a.events.size(); ++k)
        if (a.events[k].kind != b.events[k].kind || a.events[k].elements != b.events[k].elements) return false;
    return true;
}

/// One difference quotient: final coordinates, final velocities and event times. Each kind is measured by its own size.
struct Sample {
    Vector q, u, t;
    bool same_events = true;  ///< false: t has no meaning
};

double largest(const Vector& x) { return x.size() == 0 ? 0.0 : x.cwiseAbs().maxCoeff(); }

/// An extrapolation with one step h, the sizes by which its errors are measured, and its rounding error.
struct Level : Differenced {
    double size_q = 0.0, size_u = 0.0, size_t = 0.0, noise = 0.0;
};

/// Finite differences of the motions that belong to one sensitivity.
class MotionDifferences {
public:
    MotionDifferences(const model::Description& description, const model::BuildOptions& build, const Sensitivity& s,
                      const Options& options)
        : description_(description), build_(build), s_(s), options_(options) {}

    /// The derivatives by variable j and their comparison with the exact ones.
    Differenced of(std::size_t j) const {
        Differenced best;
        for (const Tolerances& tolerances : tolerance_levels) {
            const Differenced next = of(j, with_tolerance(options_.method, tolerances));
            if (!best.possible || (next.possible && next.times >= best.times && next.uncertainty < best.uncertainty))
                best = next;
            if (best.possible && best.uncertainty < sufficient_uncertainty) break;
        }
        return best;
    }

private:
    Differenced of(std::size_t j, const integrate::Method& method) const {
        const Variable& v = s_.with_respect_to[j];
        int side = j < s_.one_sided.size() ? s_.one_sided[j] : 0;
        if (side == 0 && v.kind == Variable::Kind::parameter) side = allowed_side(v);
        Differenced best = refined(j, [&](double h, std::string& why) { return at_step(method, v, j, h, side, why); });
        if (best.possible && best.times) return best;
        if (side != 0) return best;
        // If other events happen on one side then terms such as ε|ε| spoil central differences: take both sides apart.
        return refined(j, [&](double h, std::string& why) {
            std::optional<Level> up = at_step(method, v, j, h, 1, why), down = at_step(method, v, j, h, -1, why);
            if (!up || !down) return up ? up : down;
            up->noise = std::max(up->noise, down->noise);
            up->state = 0.5 * (up->state + down->state);
            up->error = std::max(up->error, down->error);
            up->uncertainty = std::max(up->uncertainty, down->uncertainty);
            up->times = false;
            up->dt.clear();
            return up;
        });
    }

    /// Reduces the step and returns the extrapolation that the next one confirms best. Extrapolations with the same
    /// events as the motion (so that event times can be compared) have priority.
    template <class AtStep>
    Differenced refined(std::size_t j, AtStep at_step) const {
        const double value = std::abs(s_.with_respect_to[j].value);
        struct Refinement {
            std::optional<Level> last;
            Differenced best;
        };
        Refinement with_times, of_state;
        std::string why_not;
        for (int k = 0; k < max_refinements; ++k) {
            const double h = first_step_ratio * (value > 0.0 ? value : 1.0) * std::pow(step_reduction, k);
            std::string why;
            std::optional<Level> next;
            try {
                next = at_step(h, why);
            } catch (const Error& e) {
                why = e.message();
            }
            if (options_.interrupted && options_.interrupted()) {
                // The neighbouring motion, if any, ended early for this reason too.
                why_not = stopped_early;
                break;
            }
            if (!next) {
                if (why_not.empty()) why_not = why;
                continue;
            }
            Refinement& own = next->times ? with_times : of_state;
            const std::optional<Level> last = std::exchange(own.last, next);
            if (!last) continue;
            // Two estimates of the error of `last`: its distance to the next extrapolation, which rounding may make
            // inaccurate, and a multiple of what the extrapolation added. The smaller one counts.
            const double uncertainty =
                std::min(distance(*last, *next), extrapolation_error_factor * last->uncertainty) + last->noise;
            if (own.best.possible && !(uncertainty < own.best.uncertainty)) {
                if (next->times) break;
                continue;
            }
            own.best = static_cast<const Differenced&>(*last);
            own.best.uncertainty = uncertainty;
            if (uncertainty < target_uncertainty) break;
        }
        for (Refinement* own : {&with_times, &of_state}) {
            if (!own->best.possible && own->last) {
                own->best = static_cast<const Differenced&>(*own->last);
                own->best.uncertainty += own->last->noise;
            }
            if (own->best.possible) return own->best;
        }
        Differenced none;
        none.why_not = why_not;
        return none;
    }

    /// The largest difference of two levels, each kind relative to its size.
    double distance(const Level& a, const Level& b) const {
        const Eigen::Index n = a.state.size() / 2;
        double worst = std::max(largest(a.state.head(n) - b.state.head(n)) / a.size_q,
                                largest(a.state.tail(n) - b.state.tail(n)) / a.size_u);
        for (const EventSensitivity& e : s_.events)
            if (e.event < a.dt.size() && e.event < b.dt.size() && !(e.transversality < compared_transversality))
                worst = std::max(worst, std::abs(a.dt[e.event] - b.dt[e.event]) / a.size_t);
        return worst;
    }

    /// The side on which the model accepts values of a parameter, 1 or −1; 0 if it accepts both (or none).
    int allowed_side(const Variable& v) const {
        const double h = first_step_ratio * (v.value == 0.0 ? 1.0 : std::abs(v.value));
        bool allowed[2] = {true, true};
        for (const int k : {0, 1}) {
            model::BuildOptions build = build_;
            build.set.emplace_back(v.name, number_text(v.value + (k == 0 ? -h : h)));
            try {
                model::build(description_, build);
            } catch (const Error&) {
                allowed[k] = false;
            }
        }
        return allowed[0] == allowed[1] ? 0 : allowed[1] ? 1 : -1;
    }

    Trajectory motion(const integrate::Method& method, const Variable& v, double value) const {
        model::BuildOptions build = build_;
        if (v.kind == Variable::Kind::parameter) build.set.emplace_back(v.name, number_text(value));
        const model::Model model = model::build(description_, build);
        integrate::Options run;
        run.t_end = options_.t_end;
        run.interrupted = options_.interrupted;
        if (v.kind != Variable::Kind::parameter) {
            run.start = trajectory::State{0.0, model.q0, model.u0};
            (v.kind == Variable::Kind::position ? run.start->q : run.start->u)[static_cast<std::size_t>(v.index)] =
                value;
        }
        return integrate::simulate(model, method, run);
    }

    /// A motion with another value of the variable; nothing if it does not reach the end.
    std::optional<Trajectory> beside(const integrate::Method& method, const Variable& v, double value,
                                     std::string& why) const {
        Trajectory t = motion(method, v, value);
        if (t.status != trajectory::Status::completed) {
            why = "a neighbouring motion ends early";
            return {};
        }
        return t;
    }

    /// The difference quotient Σ weight · motion(value + offset) / width.
    std::optional<Sample> combined(const integrate::Method& method, const Variable& v,
                                   const std::vector<std::pair<double, double>>& weights, double width,
                                   std::string& why) const {
        const auto n = static_cast<Eigen::Index>(s_.motion.end.q.size());
        Sample d{Vector::Zero(n), Vector::Zero(n), Vector::Zero(static_cast<Eigen::Index>(s_.motion.events.size()))};
        for (const auto& [offset, weight] : weights) {
            const std::optional<Trajectory> t = beside(method, v, v.value + offset, why);
            if (!t) return {};
            const double w = weight / width;
            d.same_events = d.same_events && same_events(*t, s_.motion);
            for (Eigen::Index i = 0; i < n; ++i) {
                d.q(i) += w * t->end.q[static_cast<std::size_t>(i)];
                d.u(i) += w * t->end.u[static_cast<std::size_t>(i)];
            }
            for (std::size_t e = 0; d.same_events && e < t->events.size(); ++e)
                d.t(static_cast<Eigen::Index>(e)) += w * t->events[e].t;
        }
        return d;
    }

    /// A difference quotient of second order: central, (x(h) − x(−h))/2h, or one-sided, (−3x(0) + 4x(h) − x(2h))/2h.
    std::optional<Sample> difference(const integrate::Method& method, const Variable& v, double h, int side,
                                     std::string& why) const {
        h = side >= 0 ? (v.value + h) - v.value : v.value - (v.value - h);  // the step as it is rounded
        if (side == 0) {
            const double up = (v.value + h) - v.value, down = v.value - (v.value - h);
            return combined(method, v, {{h, 1.0}, {-h, -1.0}}, up + down, why);
        }
        const double step = side * h;
        return combined(method, v, {{0.0, -3.0}, {step, 4.0}, {2.0 * step, -1.0}}, 2.0 * step, why);
    }

    /// The extrapolation with the step h, on a side (0: central), and its error against the exact derivatives.
    std::optional<Level> at_step(const integrate::Method& method, const Variable& v, std::size_t j, double h, int side,
                                 std::string& why) const {
        const std::optional<Sample> wide = difference(method, v, h, side, why);
        if (!wide) return {};
        const std::optional<Sample> narrow = difference(method, v, 0.5 * h, side, why);
        if (!narrow) return {};
        Level d;
        d.possible = true;
        d.times = wide->same_events && narrow->same_events;
        d.step = h;
        // Richardson: D(h) = D + c h² + …, so (4 D(h/2) − D(h))/3 is free of the h² term.
        const auto n = wide->q.size();
        const Vector q = (4.0 * narrow->q - wide->q) / 3.0, u = (4.0 * narrow->u - wide->u) / 3.0,
                     t = (4.0 * narrow->t - wide->t) / 3.0;
        d.state.resize(2 * n);
        d.state << q, u;
        if (d.times) d.dt.assign(t.data(), t.data() + t.size());
        const double per = smallest_size_per_extent(v);
        const auto map = [](const std::vector<double>& x) {
            return Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
        };
        const double extent_q = std::max(1.0, largest(map(s_.motion.end.q))),
                     extent_u = std::max(1.0, largest(map(s_.motion.end.u)));
        d.size_q = std::max(largest(q), per * extent_q);
        d.size_u = std::max(largest(u), per * extent_u);
        d.size_t = std::max(largest(t), per * std::max(1.0, std::abs(s_.motion.end.t)));
        d.noise = motion_rounding * std::max(extent_q / d.size_q, extent_u / d.size_u) / h;
        d.uncertainty = std::max(largest(q - narrow->q) / d.size_q, largest(u - narrow->u) / d.size_u);
        if (d.times) d.uncertainty = std::max(d.uncertainty, largest(t - narrow->t) / d.size_t);
        d.error = s_.final.cols() == 0 ? output_error(d, j) : state_error(d, j);
        return d;
    }

    /// The lower bound of a derivative's size, per size of the quantity that is differentiated.
    static double smallest_size_per_extent(const Variable& v) {
        return small_derivative_ratio / (v.value == 0.0 ? 1.0 : std::abs(v.value));
    }

    /// The error of the exact derivative of the output (adjoint mode), which is all that there is to compare.
    double output_error(const Level& d, std::size_t j) const {
        const Variable& v = s_.with_respect_to[j];
        const Eigen::Index states = d.state.size();
        double value = s_.output_gradient.segment(1, states).dot(d.state);
        if (v.kind == Variable::Kind::parameter) value += s_.output_gradient(1 + states + v.index);
        const double size =
            std::max(std::abs(value), smallest_size_per_extent(v) * std::max(1.0, std::abs(*s_.output)));
        return std::isnan(s_.output_derivative[j]) ? 0.0 : std::abs(value - s_.output_derivative[j]) / size;
    }

    /// The error of the exact derivatives of the final state and of the event times.
    double state_error(const Level& d, std::size_t j) const {
        const Eigen::Index n = d.state.size() / 2;
        const auto column = s_.final.col(static_cast<Eigen::Index>(j));
        double error = column.hasNaN() ? 0.0
                                       : std::max(largest(d.state.head(n) - column.head(n)) / d.size_q,
                                                  largest(d.state.tail(n) - column.tail(n)) / d.size_u);
        for (const EventSensitivity& e : s_.events)
            if (e.event < d.dt.size() && !std::isnan(e.dt[j]) && !(e.transversality < compared_transversality))
                error = std::max(error, std::abs(d.dt[e.event] - e.dt[j]) / d.size_t);
        return error;
    }

    const model::Description& description_;
    const model::BuildOptions& build_;
    const Sensitivity& s_;
    const Options& options_;
};

}  // namespace

Differences differences(const model::Description& description, const model::BuildOptions& build,
                        const Sensitivity& sensitivity, const Options& options) {
    const auto start = std::chrono::steady_clock::now();
    Differences out;
    const MotionDifferences of_motions(description, build, sensitivity, options);
    out.variables.resize(sensitivity.with_respect_to.size());
    for (Differenced& d : out.variables) d.why_not = stopped_early;  // until the variable is examined
    ensemble::parallel_for(
        out.variables.size(),
        [&](std::size_t j) {
            if (sensitivity.final.cols() > 0 && sensitivity.final.col(static_cast<Eigen::Index>(j)).hasNaN())
                out.variables[j].why_not = "there is no derivative";
            else
                out.variables[j] = of_motions.of(j);
        },
        {options.threads, options.interrupted, {}});
    for (const Differenced& d : out.variables) {
        const Differenced::Verdict verdict = d.verdict();
        if (verdict == Differenced::Verdict::not_compared || verdict == Differenced::Verdict::unsure) continue;
        ++out.compared;
        out.disagreeing += verdict == Differenced::Verdict::disagrees ? 1 : 0;
        out.max_relative_error = std::max(out.max_relative_error, d.error);
    }
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return out;
}

}  // namespace saltus::sensitivity
