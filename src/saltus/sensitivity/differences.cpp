// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/differences.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "saltus/base/text.hpp"

namespace saltus::sensitivity {

namespace {

using trajectory::Trajectory;

constexpr double first_step = 1e-3, good_enough = 1e-9;
constexpr int refinements = 6;

/// The same method, as exact as it goes.
integrate::Method exact(integrate::Method method) {
    std::visit(
        [](auto& m) {
            if constexpr (requires { m.rtol; }) {
                m.rtol = std::min(m.rtol, 1e-12);
                m.atol = std::min(m.atol, 1e-14);
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

/// Kinds of numbers that are measured together: q, u, times.
struct Sample {
    Vector q, u, t;
};

double largest(const Vector& x) { return x.size() == 0 ? 0.0 : x.cwiseAbs().maxCoeff(); }

class Study {
public:
    Study(const model::Description& description, const model::BuildOptions& build, const Sensitivity& s,
          const Options& options)
        : description_(description), build_(build), s_(s), options_(options), method_(exact(options.method)) {}

    Differenced of(std::size_t j) {
        const Variable& v = s_.with_respect_to[j];
        Differenced best;
        double scale = std::abs(v.value);
        if (scale == 0.0) scale = 1.0;
        for (int k = 0; k < refinements; ++k) {
            const double h = first_step * scale * std::pow(0.1, k);
            std::string why;
            std::optional<Differenced> next;
            try {
                next = at_step(v, j, h, why);
            } catch (const Error& e) {
                why = e.message();
            }
            if (options_.interrupted && options_.interrupted()) break;
            if (!next) {
                if (best.why_not.empty()) best.why_not = why;
                continue;
            }
            if (best.possible && !(next->uncertainty < best.uncertainty)) break;
            best = *next;
            if (best.uncertainty < good_enough) break;
        }
        return best;
    }

private:
    Trajectory motion(const Variable& v, double value) const {
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
        return integrate::simulate(model, method_, run);
    }

    std::optional<Sample> central(const Variable& v, double h, std::string& why) const {
        const double up = v.value + h, down = v.value - h;
        const Trajectory a = motion(v, up), b = motion(v, down);
        if (a.status != trajectory::Status::completed || b.status != trajectory::Status::completed) {
            why = "a motion beside it ends before its time";
            return {};
        }
        if (!same_events(a, s_.motion) || !same_events(b, s_.motion)) {
            why = "other events happen beside it";
            return {};
        }
        const double width = up - down;
        const auto n = static_cast<Eigen::Index>(a.end.q.size());
        Sample d{Vector(n), Vector(n), Vector(static_cast<Eigen::Index>(a.events.size()))};
        for (Eigen::Index i = 0; i < n; ++i) {
            const auto k = static_cast<std::size_t>(i);
            d.q(i) = (a.end.q[k] - b.end.q[k]) / width;
            d.u(i) = (a.end.u[k] - b.end.u[k]) / width;
        }
        for (std::size_t e = 0; e < a.events.size(); ++e)
            d.t(static_cast<Eigen::Index>(e)) = (a.events[e].t - b.events[e].t) / width;
        return d;
    }

    std::optional<Differenced> at_step(const Variable& v, std::size_t j, double h, std::string& why) const {
        const std::optional<Sample> wide = central(v, h, why);
        if (!wide) return {};
        const std::optional<Sample> narrow = central(v, 0.5 * h, why);
        if (!narrow) return {};
        Differenced d;
        d.possible = true;
        d.step = h;
        const auto n = wide->q.size();
        const Vector q = (4.0 * narrow->q - wide->q) / 3.0, u = (4.0 * narrow->u - wide->u) / 3.0,
                     t = (4.0 * narrow->t - wide->t) / 3.0;
        d.state.resize(2 * n);
        d.state << q, u;
        d.dt.assign(t.data(), t.data() + t.size());
        // Below this a derivative is nothing.
        const auto floor = [&](double size) { return 1e-6 * (1.0 + size) / (1.0 + std::abs(v.value)); };
        const auto map = [](const std::vector<double>& x) {
            return Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
        };
        const double size_q = std::max(largest(q), floor(largest(map(s_.motion.end.q)))),
                     size_u = std::max(largest(u), floor(largest(map(s_.motion.end.u)))),
                     size_t = std::max(largest(t), floor(std::abs(s_.motion.end.t)));
        d.uncertainty = std::max(
            {largest(q - narrow->q) / size_q, largest(u - narrow->u) / size_u, largest(t - narrow->t) / size_t});
        if (s_.final.cols() == 0) return d;
        const auto column = s_.final.col(static_cast<Eigen::Index>(j));
        d.error = column.hasNaN()
                      ? 0.0
                      : std::max(largest(q - column.head(n)) / size_q, largest(u - column.tail(n)) / size_u);
        for (const EventSensitivity& e : s_.events)
            if (e.event < d.dt.size() && !std::isnan(e.dt[j]))
                d.error = std::max(d.error, std::abs(d.dt[e.event] - e.dt[j]) / size_t);
        return d;
    }

    const model::Description& description_;
    const model::BuildOptions& build_;
    const Sensitivity& s_;
    const Options& options_;
    const integrate::Method method_;
};

}  // namespace

Differences differences(const model::Description& description, const model::BuildOptions& build,
                        const Sensitivity& sensitivity, const Options& options) {
    const auto start = std::chrono::steady_clock::now();
    Differences out;
    Study study(description, build, sensitivity, options);
    for (std::size_t j = 0; j < sensitivity.with_respect_to.size(); ++j) {
        const bool exists =
            sensitivity.final.cols() == 0 || !sensitivity.final.col(static_cast<Eigen::Index>(j)).hasNaN();
        if (!exists) {
            Differenced none;
            none.why_not = "there is no derivative";
            out.variables.push_back(std::move(none));
            continue;
        }
        out.variables.push_back(study.of(j));
        if (out.variables.back().possible)
            out.max_relative_error = std::max(out.max_relative_error, out.variables.back().error);
    }
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return out;
}

}  // namespace saltus::sensitivity
