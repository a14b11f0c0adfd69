// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/impact.hpp"

#include <algorithm>
#include <cmath>

#include "cli/assignments.hpp"
#include "cli/interrupt.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/report/impact_report.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "saltus/io/results/trajectory_file.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"

namespace saltus::cli {

using trajectory::Event;
using trajectory::EventKind;
using trajectory::Trajectory;

namespace {

constexpr int mesh_subdivisions = 4;  // 5120 triangles, so that the edges of a consistency set look sharp

std::vector<std::string> words(const std::vector<std::string>& texts) {
    std::vector<std::string> list;
    for (const std::string& text : texts)
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t comma = std::min(text.find(',', at), text.size());
            list.push_back(trimmed(text.substr(at, comma - at)));
            at = comma + 1;
        }
    return list;
}

Vector vector_of(const std::vector<double>& x) {
    return Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
}

/// The state at which the collision takes place, and the impact of a motion that it comes from.
struct Situation {
    double t = 0.0;
    std::vector<double> q, u_minus;
    std::vector<char> closed;
    const Event* event = nullptr;  ///< the impact of a motion; nullptr: the model's initial state
    std::string source;
};

std::vector<std::string> contact_names(const model::Model& m) {
    std::vector<std::string> names;
    for (const model::Contact& c : m.contacts) names.push_back(c.name);
    return names;
}

void choose_closed(const ImpactCommand& c, const model::Model& m, Situation& s) {
    if (c.closed.empty()) {
        if (s.event == nullptr) s.closed = integrate::closed_elements(m, s.t, s.q);
        return;
    }
    const std::vector<std::string> names = contact_names(m);
    std::fill_n(s.closed.begin(), names.size(), char{0});
    for (const std::string& name : words(c.closed)) {
        const auto at = std::find(names.begin(), names.end(), name);
        if (at == names.end())
            throw Error("unknown contact '" + name + "'", {"--closed", 0, 0}, did_you_mean(name, names));
        s.closed[static_cast<std::size_t>(at - names.begin())] = 1;
    }
}

/// Impacts are counted from 1.
const Event& impact_number(const Trajectory& t, int number, const char* option) {
    int seen = 0;
    for (const Event& e : t.events)
        if (!e.impulses.empty() && ++seen == number) return e;
    throw Error("there is no impact " + std::to_string(number) + ", the motion has " +
                    counted(static_cast<std::size_t>(seen), "impact"),
                {option, 0, 0}, seen == 0 ? "simulate for longer" : "they are counted from 1");
}

Trajectory motion_until(const model::Model& m, const std::string& file, int number) {
    if (!m.settings->simulate.t_end) throw Error(no_end_time, {file, 0, 0}, "give the model a t_end in [simulate]");
    if (number < 1)
        throw Error("impact is " + std::to_string(number), {"--number", 0, 0}, "impacts are counted from 1");
    integrate::EventDriven method;
    method.rtol = m.settings->simulate.rtol.value_or(method.rtol);
    method.atol = m.settings->simulate.atol.value_or(method.atol);
    method.keep_arcs = false;
    integrate::Options options;
    options.t_end = *m.settings->simulate.t_end;
    listen_for_interrupts();
    options.interrupted = interrupt_asked;
    return integrate::simulate(m, method, options);
}

Situation of_event(const Event& e, const model::Model& m, std::string source) {
    Situation s;
    s.t = e.t;
    s.q = e.q;
    s.u_minus = e.u_minus;
    s.closed.assign(m.contacts.size() + m.constraints.size() + m.sliders.size() + m.clutches.size(), 0);
    for (const trajectory::Reaction& r : e.impulses) s.closed[static_cast<std::size_t>(r.element)] = 1;
    s.event = &e;
    s.source = std::move(source);
    return s;
}

void refuse_nothing_closed(const model::Model& m, const std::string& file, const Situation& s) {
    if (m.contacts.empty() && m.clutches.empty()) throw Error("the model has no contacts", {file, 0, 0});
    for (std::size_t i = 0; i < m.contacts.size(); ++i)
        if (s.closed[i] != 0) return;
    if (!m.clutches.empty()) return;
    throw Error("no contact is closed at t = " + number_text(s.t), {file, 0, 0},
                "start where it touches (--q), name the contacts that do (--closed), or take an impact of the motion "
                "(--number 1)");
}

void set_impulses(const ImpactCommand& c, const integrate::ModelCollision& at, Vector& Lambda) {
    const impact::FrictionalCollision& f = at.collision;
    Lambda = Vector::Zero(f.directions.cols());
    for (const Assigned& a : assigned(c.Lambda, "--Lambda")) {
        bool found = false;
        each_block(f, [&](std::size_t k, Eigen::Index row) {
            if (found || impact::name_of(f, k) != a.name) return;
            found = true;
            if (static_cast<int>(a.values.size()) > f.sizes[k])
                throw Error("'" + a.name + "' takes " + counted(static_cast<std::size_t>(f.sizes[k]), "number"),
                            {"--Lambda", 0, 0}, "the normal impulse, then those of friction");
            for (std::size_t i = 0; i < a.values.size(); ++i) Lambda(row + static_cast<Eigen::Index>(i)) = a.values[i];
        });
        if (!found)
            throw Error("'" + a.name + "' does not take part in the collision", {"--Lambda", 0, 0},
                        did_you_mean(a.name, f.names));
    }
}

Vector after_impulses(const impact::FrictionalCollision& f, const Vector& Lambda) {
    Vector impulse = f.directions * Lambda;
    if (f.impulse.size() > 0) impulse += f.impulse;
    return f.u_minus + least_squares(f.M, impulse);
}

std::unique_ptr<io::ResultFolder> open_folder(const ImpactCommand& c) {
    return open_results(c.common, "impact", {c.common.model, c.trajectory});
}

int look_at(const ImpactCommand& c, const model::Model& m, const Situation& s) {
    io::ImpactReport report;
    report.model = m.name;
    report.coordinates = m.coordinates;
    report.alpha = c.alpha;
    report.warnings = m.warnings;
    report.at = integrate::collision_at(m, s.t, s.q, s.u_minus, s.closed);
    if (report.at.singular)
        throw Error("the mass matrix is not positive definite at this state", {c.common.model, 0, 0});
    impact::FrictionalCollision& f = report.at.collision;
    std::vector<double> P(m.coordinates.size(), 0.0);
    if (assign(c.impulse, "--impulse", m.coordinates, P)) f.impulse = vector_of(P);

    impact::CollisionStudyOptions options;
    options.subdivisions = mesh_subdivisions;
    options.alpha = c.alpha;
    options.restitutions = report.at.restitutions;
    Vector Lambda;
    if (!c.Lambda.empty()) {
        set_impulses(c, report.at, Lambda);
        options.Lambda = Lambda;
    }
    std::vector<double> u_plus = s.u_minus;
    if (assign(c.u_plus, "--u-plus", m.coordinates, u_plus)) {
        f.u_plus = vector_of(u_plus);
        report.source = "as stated";
    } else if (!c.Lambda.empty()) {
        f.u_plus = after_impulses(f, Lambda);
        report.source = "by the stated impulses";
    } else if (s.event != nullptr && c.impulse.empty() && c.u_minus.empty() && c.closed.empty()) {
        f.u_plus = vector_of(s.event->u_plus);
        options.Lambda = integrate::impulses_of(report.at, s.event->impulses);
        report.source = s.source;
    } else {
        const integrate::LawOutcome outcome = integrate::law_outcome(m, report.at);
        if (!outcome.note.empty()) report.warnings.push_back(outcome.note);
        f.u_plus = outcome.u_plus;
        options.Lambda = outcome.Lambda;
        report.source = !outcome.solved      ? "the impact law has no outcome"
                        : outcome.approaches ? "by the model's impact law"
                                             : "as before: no contact approaches";
    }
    if (!report.at.note.empty()) report.warnings.push_back(report.at.note);
    report.study = impact::study_collision(f, options);
    constexpr int law_steps = 21;  // values of e from 0 to 1 in steps of 0.05
    if (c.laws) report.laws = impact::law_outcomes(f, report.at.restitutions, law_steps, c.alpha);
    constexpr double max_duality_gap = 1e-10;  // relative; a larger gap is reported as a warning
    for (const impact::CollisionWorkEnd* const end : {&report.study.least, &report.study.greatest})
        if (std::isfinite(end->work) && !(end->gap <= max_duality_gap))
            report.warnings.push_back("the duality gap of the contact work is " + number_text(end->gap) +
                                      ", not 1e-10");
    const auto json = [&] { return io::impact_json(report); };
    const auto files = [&](io::ResultFolder& folder) {
        const auto add = [&](const char* name, const std::string& content) {
            if (!content.empty()) folder.add(name, content);
        };
        add("set.csv", io::set_csv(report));
        add("set-points.csv", io::set_points_csv(report));
        add("set-triangles.csv", io::set_triangles_csv(report));
        add("impact.json", json());
    };
    deliver(c.common, open_folder(c).get(), {files, json, [&] { return io::impact_text(report); }});
    return done;
}

/// Throws an Error if the trajectory has other coordinates or contacts than the model.
void refuse_other_model(const Trajectory& t, const model::Model& m, const std::string& file) {
    std::vector<std::string> names;
    for (const trajectory::Element& e : integrate::elements_of(m)) names.push_back(e.name);
    std::vector<std::string> its;
    for (const trajectory::Element& e : t.elements) its.push_back(e.name);
    if (t.coordinates != m.coordinates || its != names)
        throw Error("has the coordinates " + listing(t.coordinates) + " and the contacts " + listing(its) +
                        ", the model has others",
                    {file, 0, 0}, "give the model that it was computed with");
}

/// Above this relative residual of M(u⁺ − u⁻) = WΛ a stored motion does not belong to the model. Impacts of a matching
/// model leave rounding only.
constexpr double max_misfit = 1e-6;

int audit_trajectory(const ImpactCommand& c, const model::Model* m, const Trajectory& t) {
    const integrate::TrajectoryAudit audit = integrate::audit(t, m);
    std::vector<std::string> warnings;
    if (audit.recomputed && audit.misfit > max_misfit)
        warnings.push_back(
            "the impulses of the file do not lead to its velocities in this model: was it computed with "
            "other parameters?");
    const auto json = [&] { return io::audit_json(t, audit, warnings); };
    deliver(c.common, open_folder(c).get(),
            {[&](io::ResultFolder& folder) {
                 folder.add("audit.csv", io::audit_csv(t, audit));
                 folder.add("impact.json", json());
             },
             json, [&] { return io::audit_text(t, audit, warnings); }});
    return done;
}

void refuse_combinations(const ImpactCommand& c) {
    if (!std::isfinite(c.alpha)) throw Error("alpha is not a finite number", {"--alpha", 0, 0});
    if (c.common.model.empty() && c.trajectory.empty())
        throw Error("no model is given", {"impact", 0, 0}, "write saltus impact MODEL, or --trajectory FILE");
    if (c.common.model.empty() && c.event)
        throw Error("a single impact needs its model", {"--event", 0, 0},
                    "write saltus impact MODEL --trajectory FILE");
    if (c.event && c.trajectory.empty())
        throw Error("needs a stored trajectory", {"--event", 0, 0}, "give --trajectory FILE, or use --number");
    if (c.number && !c.trajectory.empty())
        throw Error("cannot be combined with --trajectory", {"--number", 0, 0}, "use --event");
    const bool single = !c.u_minus.empty() || !c.u_plus.empty() || !c.impulse.empty() || !c.Lambda.empty() ||
                        !c.closed.empty() || !c.q.empty() || c.laws;
    if (!c.trajectory.empty() && !c.event && single)
        throw Error("audits all impacts and cannot be combined with the options of one collision",
                    {"--trajectory", 0, 0}, "choose an impact with --event");
    if ((c.event || c.number) && !c.q.empty())
        throw Error("applies to the initial state, not to an impact of a motion", {"--q", 0, 0});
}

}  // namespace

int impact(const ImpactCommand& c) {
    refuse_combinations(c);
    if (!c.trajectory.empty()) {
        const Trajectory t = io::read_trajectory(c.trajectory, io::TrajectoryParts::without_arcs);
        if (c.common.model.empty()) return audit_trajectory(c, nullptr, t);
        const model::Model m = load(c.common).model;
        refuse_other_model(t, m, c.trajectory);
        if (!c.event) return audit_trajectory(c, &m, t);
        if (t.stepped)
            throw Error("was computed by time-stepping, which stores no states at its impacts", {c.trajectory, 0, 0},
                        "simulate with --method event");
        Situation s = of_event(impact_number(t, *c.event, "--event"), m, "of the trajectory");
        assign(c.u_minus, "--u-minus", m.coordinates, s.u_minus);
        choose_closed(c, m, s);
        return look_at(c, m, s);
    }
    const model::Model m = load(c.common).model;
    if (c.number) {
        const Trajectory t = motion_until(m, c.common.model, *c.number);
        if (t.status == trajectory::Status::interrupted) {
            deliver_nothing(c.common, m.name);
            return interrupted;
        }
        Situation s = of_event(impact_number(t, *c.number, "--number"), m, "of the motion");
        assign(c.u_minus, "--u-minus", m.coordinates, s.u_minus);
        choose_closed(c, m, s);
        return look_at(c, m, s);
    }
    Situation s;
    s.q = m.q0;
    s.u_minus = m.u0;
    assign(c.q, "--q", m.coordinates, s.q);
    assign(c.u_minus, "--u-minus", m.coordinates, s.u_minus);
    s.closed.assign(m.contacts.size() + m.constraints.size() + m.sliders.size() + m.clutches.size(), 0);
    choose_closed(c, m, s);
    refuse_nothing_closed(m, c.common.model, s);
    return look_at(c, m, s);
}

}  // namespace saltus::cli
