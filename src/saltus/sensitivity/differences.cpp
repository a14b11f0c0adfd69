// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/differences.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "saltus/base/text.hpp"
#include "saltus/ensemble/parallel_for.hpp"

namespace saltus::sensitivity {

namespace {

using trajectory::Trajectory;

constexpr double first_step = 1e-3, good_enough = 1e-9;
/// Motions are as exact as that, in terms of their size.
constexpr double rounding = 1e-14;
constexpr int refinements = 6;
/// An extrapolation is not off by more than so many times what it adds to the narrower difference.
constexpr double halving = 9.0;
/// Rounding moves the times of fainter events by more than differences bear.
constexpr double well_located = 1e-3;

/// Differences that are that sure need no motions more exact.
constexpr double sure = 5e-7;

/// The same method with tolerances of its own: smooth motions as exact as they go, or such that are stiff, which
/// rounding spoils where too much is asked for, not quite.
integrate::Method with_tolerance(integrate::Method method, double rtol, double atol) {
    std::visit(
        [&](auto& m) {
            if constexpr (requires { m.rtol; }) {
                m.rtol = std::min(m.rtol, rtol);
                m.atol = std::min(m.atol, atol);
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

/// Kinds of numbers that are measured together: q, u, times. Where other events happen beside the motion there are
/// none.
struct Sample {
    Vector q, u, t;
    bool same_events = true;
};

double largest(const Vector& x) { return x.size() == 0 ? 0.0 : x.cwiseAbs().maxCoeff(); }

/// An extrapolation, and what its numbers are measured by.
struct Level : Differenced {
    double size_q = 0.0, size_u = 0.0, size_t = 0.0, noise = 0.0;
};

class Study {
public:
    Study(const model::Description& description, const model::BuildOptions& build, const Sensitivity& s,
          const Options& options)
        : description_(description), build_(build), s_(s), options_(options) {}

    Differenced of(std::size_t j) const {
        Differenced best;
        for (const auto& [rtol, atol] : {std::pair{1e-10, 1e-13}, std::pair{1e-12, 1e-14}}) {
            const Differenced next = of(j, with_tolerance(options_.method, rtol, atol));
            if (!best.possible || (next.possible && next.times >= best.times && next.uncertainty < best.uncertainty))
                best = next;
            if (best.possible && best.uncertainty < sure) break;
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
        // Where other events happen on one side, terms such as ε|ε| spoil central differences: both sides on their own.
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

    /// With smaller and smaller steps: the extrapolation that the next one confirms best, with the same events where
    /// that can be had.
    template <class AtStep>
    Differenced refined(std::size_t j, AtStep at_step) const {
        const double value = std::abs(s_.with_respect_to[j].value);
        struct Course {
            std::optional<Level> last;
            Differenced best;
        };
        Course with_times, of_state;
        std::string why_not;
        for (int k = 0; k < refinements; ++k) {
            const double h = first_step * (value > 0.0 ? value : 1.0) * std::pow(0.1, k);
            std::string why;
            std::optional<Level> next;
            try {
                next = at_step(h, why);
            } catch (const Error& e) {
                why = e.message();
            }
            if (options_.interrupted && options_.interrupted()) break;
            if (!next) {
                if (why_not.empty()) why_not = why;
                continue;
            }
            Course& course = next->times ? with_times : of_state;
            const std::optional<Level> last = std::exchange(course.last, next);
            if (!last) continue;
            // The next one is less exact where motions are: then steps of half the size say it better.
            const double uncertainty = std::min(apart(*last, *next), halving * last->uncertainty) + last->noise;
            if (course.best.possible && !(uncertainty < course.best.uncertainty)) {
                if (next->times) break;
                continue;
            }
            course.best = *last;
            course.best.uncertainty = uncertainty;
            if (uncertainty < good_enough) break;
        }
        for (Course* course : {&with_times, &of_state}) {
            if (!course->best.possible && course->last) {
                course->best = *course->last;
                course->best.uncertainty += course->last->noise;
            }
            if (course->best.possible) return course->best;
        }
        Differenced none;
        none.why_not = why_not;
        return none;
    }

    /// Largest difference of two levels, each kind by its size.
    double apart(const Level& a, const Level& b) const {
        const Eigen::Index n = a.state.size() / 2;
        double most = std::max(largest(a.state.head(n) - b.state.head(n)) / a.size_q,
                               largest(a.state.tail(n) - b.state.tail(n)) / a.size_u);
        for (const EventSensitivity& e : s_.events)
            if (e.event < a.dt.size() && e.event < b.dt.size() && !(e.transversality < well_located))
                most = std::max(most, std::abs(a.dt[e.event] - b.dt[e.event]) / a.size_t);
        return most;
    }

    /// A value at the edge of what the model allows has one side.
    int allowed_side(const Variable& v) const {
        const double h = first_step * (v.value == 0.0 ? 1.0 : std::abs(v.value));
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

    std::optional<Trajectory> beside(const integrate::Method& method, const Variable& v, double value,
                                     std::string& why) const {
        Trajectory t = motion(method, v, value);
        if (t.status != trajectory::Status::completed) {
            why = "a motion beside it ends before its time";
            return {};
        }
        return t;
    }

    /// Σ weight · motion at value + offset, over `width`.
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

    /// Of second order: central, or on one side of the value.
    std::optional<Sample> difference(const integrate::Method& method, const Variable& v, double h, int side,
                                     std::string& why) const {
        h = side >= 0 ? (v.value + h) - v.value : v.value - (v.value - h);  // as it is rounded
        if (side == 0) {
            const double up = (v.value + h) - v.value, down = v.value - (v.value - h);
            return combined(method, v, {{h, 1.0}, {-h, -1.0}}, up + down, why);
        }
        const double step = side * h;
        return combined(method, v, {{0.0, -3.0}, {step, 4.0}, {2.0 * step, -1.0}}, 2.0 * step, why);
    }

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
        const auto n = wide->q.size();
        const Vector q = (4.0 * narrow->q - wide->q) / 3.0, u = (4.0 * narrow->u - wide->u) / 3.0,
                     t = (4.0 * narrow->t - wide->t) / 3.0;
        d.state.resize(2 * n);
        d.state << q, u;
        if (d.times) d.dt.assign(t.data(), t.data() + t.size());
        // Below a thousandth of what is usual for numbers of this size a derivative is measured by that.
        const double per = 1e-3 / (v.value == 0.0 ? 1.0 : std::abs(v.value));
        const auto floor = [&](double size) { return per * std::max(1.0, size); };
        const auto map = [](const std::vector<double>& x) {
            return Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
        };
        const double extent_q = std::max(1.0, largest(map(s_.motion.end.q))),
                     extent_u = std::max(1.0, largest(map(s_.motion.end.u)));
        d.size_q = std::max(largest(q), per * extent_q);
        d.size_u = std::max(largest(u), per * extent_u);
        d.size_t = std::max(largest(t), floor(std::abs(s_.motion.end.t)));
        d.noise = rounding * std::max(extent_q / d.size_q, extent_u / d.size_u) / h;
        d.uncertainty = std::max(largest(q - narrow->q) / d.size_q, largest(u - narrow->u) / d.size_u);
        if (d.times) d.uncertainty = std::max(d.uncertainty, largest(t - narrow->t) / d.size_t);
        if (s_.final.cols() == 0) {  // of the output alone
            const Variable& own = s_.with_respect_to[j];
            double value = s_.output_gradient.segment(1, 2 * n).dot(d.state);
            if (own.kind == Variable::Kind::parameter) value += s_.output_gradient(1 + 2 * n + own.index);
            const double size = std::max(std::abs(value), floor(std::abs(*s_.output)));
            d.error = std::isnan(s_.output_derivative[j]) ? 0.0 : std::abs(value - s_.output_derivative[j]) / size;
            return d;
        }
        const auto column = s_.final.col(static_cast<Eigen::Index>(j));
        d.error = column.hasNaN()
                      ? 0.0
                      : std::max(largest(q - column.head(n)) / d.size_q, largest(u - column.tail(n)) / d.size_u);
        for (const EventSensitivity& e : s_.events)
            if (e.event < d.dt.size() && !std::isnan(e.dt[j]) && !(e.transversality < well_located))
                d.error = std::max(d.error, std::abs(d.dt[e.event] - e.dt[j]) / d.size_t);
        return d;
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
    const Study study(description, build, sensitivity, options);
    out.variables.resize(sensitivity.with_respect_to.size());
    ensemble::parallel_for(
        out.variables.size(),
        [&](std::size_t j) {
            if (sensitivity.final.cols() > 0 && sensitivity.final.col(static_cast<Eigen::Index>(j)).hasNaN())
                out.variables[j].why_not = "there is no derivative";
            else
                out.variables[j] = study.of(j);
        },
        {options.threads, options.interrupted, {}});
    for (const Differenced& d : out.variables) {
        if (!d.possible || d.unsure()) continue;
        ++out.compared;
        out.max_relative_error = std::max(out.max_relative_error, d.error);
    }
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return out;
}

}  // namespace saltus::sensitivity
