// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/compare.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/model/feedback.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/support.hpp"

namespace saltus::integrate {

namespace {

/// A position without the held forces of a control that samples: they jump, and motions that differ a little in their
/// impacts need not agree at the time of a sample.
std::vector<double> without_held(std::vector<double> q, const model::SampledLaw* sampled) {
    if (sampled != nullptr)
        for (const int i : sampled->held) q[static_cast<std::size_t>(i)] = 0.0;
    return q;
}

double largest(const std::vector<double>& x) {
    double value = 0.0;
    for (const double v : x) value = std::max(value, std::abs(v));
    return value;
}

double difference(const std::vector<double>& x, const std::vector<double>& y) {
    double value = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) value = std::max(value, std::abs(x[i] - y[i]));
    return value;
}

bool ended_early(const trajectory::Trajectory& t) {
    using trajectory::Status;
    return t.status == Status::failed || t.status == Status::interrupted || t.status == Status::energy_created;
}

/// Sets the errors of a run against the event-driven motion, up to the earlier of both ends. If one of them ended early
/// then the ends belong to different times and are not compared.
void measure(const trajectory::Trajectory& event, int samples, const model::SampledLaw* sampled, ComparedRun& run) {
    const double end = std::min(event.end.t, run.trajectory.end.t);
    double scale = 1.0, worst = 0.0;
    for (int k = 0; k <= samples; ++k) {
        const double t = std::min(end, event.start.t + (end - event.start.t) * k / samples);  // may round past the end
        const std::vector<double> a = without_held(event.left(t).q, sampled),
                                  b = without_held(run.trajectory.left(t).q, sampled);
        scale = std::max(scale, 1.0 + largest(a));
        worst = std::max(worst, difference(a, b));
    }
    run.position_error = worst / scale;
    if (ended_early(event) || ended_early(run.trajectory)) return;
    run.end_error_q = difference(event.end.q, run.trajectory.end.q);
    run.end_error_u = difference(event.end.u, run.trajectory.end.u);
}

/// Sets the orders between neighbours, and returns the slope of the least-squares line through all points
/// (log parameter, log error). `sign` is −1 for a parameter that grows as the error falls. Runs that ended early do not
/// count: their errors are those of a shorter time.
std::optional<double> orders(std::vector<ComparedRun>& runs, double sign) {
    const auto counts = [](const ComparedRun& run) { return run.position_error > 0.0 && !ended_early(run.trajectory); };
    double n = 0.0, sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (std::size_t k = 0; k < runs.size(); ++k) {
        if (!counts(runs[k])) continue;
        const double x = std::log(runs[k].parameter), y = std::log(runs[k].position_error);
        n += 1.0, sx += x, sy += y, sxx += x * x, sxy += x * y;
        if (k > 0 && counts(runs[k - 1]))
            runs[k].order = sign * (y - std::log(runs[k - 1].position_error)) / (x - std::log(runs[k - 1].parameter));
    }
    if (n < 2.0) return {};  // a line needs two points
    return sign * (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

}  // namespace

Comparison compare(const model::Model& model, const CompareOptions& o) {
    Comparison c;
    c.event = simulate(model, o.event, o.options);
    for (int k = 0; k <= o.refinements; ++k) {
        Moreau method;
        method.h = o.h / std::pow(2.0, k);
        ComparedRun run;
        run.parameter = method.h;
        run.trajectory = simulate(model, method, o.options);
        measure(c.event, o.samples, model.sampled.get(), run);
        c.moreau.push_back(std::move(run));
    }
    c.moreau_order = orders(c.moreau, 1.0);
    std::optional<model::Model> first;
    if (o.springs) first = o.springs(1.0);
    const model::Model& springs = first ? *first : model;
    c.penalty_left_out =
        model::unsupported(springs, model.contacts.empty() ? model::Analysis::penalty_limit : model::Analysis::penalty);
    if (!c.penalty_left_out.empty()) return c;
    c.penalty_note = o.springs_note;
    for (int k = 0; k <= o.refinements; ++k) {
        Penalty method;
        method.rtol = o.event.rtol;
        method.atol = o.event.atol;
        method.stiffness = std::pow(10.0, k);
        ComparedRun run;
        run.parameter = method.stiffness;
        run.trajectory = simulate(o.springs ? o.springs(method.stiffness) : model, method, o.options);
        measure(c.event, o.samples, model.sampled.get(), run);
        c.penalty.push_back(std::move(run));
    }
    c.penalty_order = orders(c.penalty, -1.0);
    return c;
}

}  // namespace saltus::integrate
