// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/penalty/penalty_limit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "saltus/base/plain_text.hpp"
#include "saltus/base/text.hpp"
#include "saltus/ensemble/axis_text.hpp"
#include "saltus/ensemble/parallel_for.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/model/support.hpp"

namespace saltus::control {

using trajectory::EventKind;
using trajectory::Trajectory;

namespace {

const char* const remedy = "write --penalty k=1e3:1e9:7, or k=1e3,1e6";

/// Normal velocity γ_N of a contact at an event, with the velocity u before or after it.
double normal_velocity(const model::Model& model, const trajectory::Event& e, const std::vector<double>& u,
                       int contact) {
    model::Workspace workspace(model);
    model::Terms terms(model.layout());
    model::evaluate(model, workspace, e.t, e.q, u, terms);
    return model::row_velocity(model.layout(), terms, model.contacts[static_cast<std::size_t>(contact)].row, u);
}

/// Counts the phases of contact and measures the first one that ends: its duration, and −γ⁺/γ⁻ from the normal
/// velocities at its end and at its begin. As a check: a contact spring k without damping under a mass m makes half a
/// vibration. So the duration is about π √(m/k) and the ratio is about 1.
void measure_phases(const model::Model& model, const Trajectory& motion, PenaltyRun& run) {
    const int contacts = static_cast<int>(model.contacts.size());
    const trajectory::Event* begin = nullptr;
    for (const trajectory::Event& e : motion.events) {
        const bool closes = e.kind == EventKind::contact;
        if ((!closes && e.kind != EventKind::lift_off) || e.elements.empty() || e.elements[0] >= contacts) continue;
        run.phases += closes ? 1 : 0;
        if (run.first_duration) continue;
        if (closes && begin == nullptr) begin = &e;
        if (closes || begin == nullptr || e.elements[0] != begin->elements[0]) continue;
        const double before = normal_velocity(model, *begin, begin->u_minus, begin->elements[0]);
        run.first_duration = e.t - begin->t;
        if (before < 0.0) run.first_restitution = -normal_velocity(model, e, e.u_plus, e.elements[0]) / before;
    }
}

/// The order p of value ~ k^(−p): minus the slope of the least-squares line through (log k, log value).
std::optional<double> order_over(const std::vector<PenaltyRun>& runs,
                                 const std::function<std::optional<double>(const PenaltyRun&)>& value) {
    double n = 0.0, sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (const PenaltyRun& run : runs) {
        const std::optional<double> v = value(run);
        if (!v || !(*v > 0.0)) continue;
        const double x = std::log(run.k), y = std::log(*v);
        n += 1.0, sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    if (n < 2.0) return {};
    return -(n * sxy - sx * sy) / (n * sxx - sx * sx);
}

/// max_i |a_i − b_i|.
double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    double worst = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
    return worst;
}

Rest rest_of(const model::Model& model, ContactModel contacts, const std::vector<double>& from) {
    Rest rest;
    rest.reason = statics_refusal(model, contacts);
    if (!rest.reason.empty()) return rest;
    Statics statics(model, contacts);
    return find_rest(statics, from);
}

}  // namespace

ensemble::Axis penalty_from_text(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw Error("'" + text + "' does not say which stiffness", {"--penalty", 0, 0}, remedy);
    const long colons = std::count(text.begin(), text.end(), ':');
    ensemble::Axis axis;
    try {
        axis = ensemble::axis_from_text(colons == 2 ? text + ":log" : text, ensemble::AxisUse::values, "--penalty");
    } catch (const Error& e) {
        throw Error(e.message(), {"--penalty", 0, 0}, remedy);
    }
    std::vector<double> values = axis.values();
    for (double& k : values) {
        if (!(k > 0.0)) throw Error("a stiffness must be positive", {"--penalty", 0, 0}, remedy);
        // A logarithmic axis computes 9999.999999999998 where the user means 10000. 14 digits remove such rounding.
        k = number_in(rounded_text(k, 14));
    }
    std::sort(values.begin(), values.end());
    axis.from = values.front();
    axis.to = values.back();
    axis.logarithmic = false;
    axis.listed = std::move(values);
    return axis;
}

model::Description with_stiffness(model::Description d, double k) {
    if (!d.penalty) d.penalty.emplace();
    d.penalty->k = model::Field(k);
    d.penalty->k_of.clear();
    return d;
}

model::Description elastic(model::Description d) {
    for (model::ContactDescription& c : d.contacts) c.eN = model::Field(1.0), c.c = {};
    for (model::ObstacleDescription& o : d.obstacles) o.eN = model::Field(1.0), o.c = {};
    return d;
}

model::Description conservative(model::Description d) {
    d.R = {};
    d.f.clear();
    if (d.control) d.control->Kv = {};
    if (d.penalty) d.penalty->d = {}, d.penalty->d_of.clear();
    return d;
}

namespace {

/// Whether some contact has a damping force in [penalty]: then the springs lose energy and their limit is not e = 1.
bool damped_springs(const model::Description& description, const model::Model& model) {
    if (!description.penalty || (!description.penalty->d.given && description.penalty->d_of.empty())) return false;
    model::Workspace workspace(model);
    std::vector<double> values(static_cast<std::size_t>(model.layout().coefficients));
    model.system->coefficients(model::at(model, 0.0, model.q0, model.u0), workspace.scratch(), values);
    return std::any_of(model.contacts.begin(), model.contacts.end(), [&](const model::Contact& c) {
        return c.penalty_d != model::no_coefficient && values[static_cast<std::size_t>(c.penalty_d)] != 0.0;
    });
}

/// Fills in the orders of convergence in 1/k.
void find_orders(PenaltyLimit& out) {
    for (std::size_t i = 1; i < out.runs.size(); ++i) {
        const double a = out.runs[i - 1].distance.q, b = out.runs[i].distance.q;
        if (a > 0.0 && b > 0.0) out.runs[i].order = -std::log(b / a) / std::log(out.runs[i].k / out.runs[i - 1].k);
    }
    out.order = order_over(out.runs, [](const PenaltyRun& r) { return std::optional(r.distance.q); });
    out.steady_order = order_over(out.runs, [](const PenaltyRun& r) { return r.steady_q; });
}

}  // namespace

/// In contact a mass m follows half a vibration of duration π √(m/k) and depth |γ⁻| √(m/k); the rigid motion turns at
/// once. Positions therefore differ by O(k^(−1/2)). The velocities differ by up to 2|γ⁻| during contact for every k, so
/// that they do not converge uniformly (docs/papers.md, "The penalty's limit"). At rest a force λ compresses the spring
/// by λ/k, so the equilibria differ by O(1/k).
PenaltyLimit penalty_limit(const model::Description& description, const ensemble::Axis& stiffness,
                           const PenaltyLimitOptions& o) {
    PenaltyLimit out;
    out.varied = stiffness.name;
    const std::vector<double> values = stiffness.values();
    out.t_end = o.t_end;
    const auto described = [&](const model::Description& d, double k) {
        return stiffness.name == "k" ? with_stiffness(d, k) : d;
    };
    const auto built = [&](const model::Description& d, double k) {
        model::BuildOptions build = o.build;
        if (stiffness.name != "k") build.set.emplace_back(stiffness.name, number_text(k));
        return model::build(described(d, k), build);
    };
    const model::Description rigid_description = elastic(description);
    const model::Model rigid = model::build(rigid_description, o.build);
    const std::vector<model::Parameter>& parameters = rigid.settings->parameters;
    if (stiffness.name != "k" && std::none_of(parameters.begin(), parameters.end(),
                                              [&](const model::Parameter& p) { return p.name == stiffness.name; })) {
        std::vector<std::string> names{"k"};
        for (const model::Parameter& p : parameters) names.push_back(p.name);
        throw Error("the model has no parameter '" + stiffness.name + "'", {"--penalty", 0, 0},
                    did_you_mean(stiffness.name, names));
    }
    out.model = rigid.name;
    out.coordinates = rigid.coordinates;
    for (const model::Contact& c : rigid.contacts) out.contacts.push_back(c.name);
    const model::Model softest = built(description, values.front());
    model::refuse_unsupported(softest, model::Analysis::penalty_limit, {description.file, 0, 0});
    if (damped_springs(description, softest))
        out.warnings.push_back("d of [penalty] is not 0: the limit of the springs is not the motion with e = 1");

    integrate::Options run;
    run.t_end = o.t_end;
    run.interrupted = o.interrupted;
    integrate::EventDriven event;
    event.rtol = o.rtol;
    event.atol = o.atol;
    const Trajectory motion = integrate::simulate(rigid, event, run);
    out.rigid_status = motion.status;
    out.rigid_reason = motion.reason;
    out.rigid_end = motion.end;
    out.impacts = std::count_if(motion.events.begin(), motion.events.end(),
                                [](const trajectory::Event& e) { return e.kind == EventKind::impact; });
    out.steady = rest_of(rigid, ContactModel::rigid, motion.end.q);

    out.runs.resize(values.size());
    const auto one = [&](std::size_t i) {
        PenaltyRun& r = out.runs[i];
        r.k = values[i];
        const model::Model soft = built(description, r.k);
        integrate::Penalty method;
        method.rtol = o.rtol;
        method.atol = o.atol;
        const Trajectory springs = integrate::simulate(soft, method, run);
        r.status = springs.status;
        r.reason = springs.reason;
        r.end = springs.end;
        r.distance = distance(springs, motion);
        measure_phases(soft, springs, r);
        r.steady = rest_of(soft, ContactModel::springs, springs.end.q);
        if (!r.steady.found || !out.steady.found) return;
        r.steady_q = largest_difference(r.steady.q, out.steady.q);
        r.steady_force = (r.steady.lambda - out.steady.lambda).cwiseAbs().maxCoeff();
    };
    out.complete = ensemble::parallel_for(out.runs.size(), one, {o.threads, o.interrupted, {}});
    for (const PenaltyRun& r : out.runs) out.complete = out.complete && r.status != trajectory::Status::interrupted;
    find_orders(out);
    if (!o.action || !out.complete) return out;

    ActionOptions action;
    action.build = o.build;
    action.t_end = o.horizon.value_or(o.t_end);
    action.whole = o.horizon.has_value();
    action.interrupted = o.interrupted;
    const model::Description soft = conservative(description);
    out.action = action_sequence(
        conservative(rigid_description), [&](double k) { return built(soft, k); }, values, action);
    return out;
}

}  // namespace saltus::control
