// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/simulate_plan.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "saltus/base/text.hpp"
#include "saltus/base/version.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/results/provenance.hpp"
#include "saltus/io/results/trajectory_file.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/outputs.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/model/support.hpp"

namespace saltus::cli {

namespace fs = std::filesystem;
using trajectory::State;
using trajectory::Status;
using trajectory::Trajectory;

namespace {

/// Sets `to` from the command line, else from the model; else `to` keeps its value.
void decide(const char* option, const std::optional<double>& given, const std::optional<double>& of_model, double& to) {
    if (given)
        to = positive(option, *given);
    else if (of_model)
        to = *of_model;
}

/// Sets tolerances and solver of a method with error control.
template <class Smooth>
Smooth smooth_method(const SimulateCommand& c, const model::SimulationDefaults& defaults, bool keep_arcs) {
    Smooth m;
    m.keep_arcs = keep_arcs;
    m.implicit = c.implicit;
    decide("--rtol", c.rtol, defaults.rtol, m.rtol);
    decide("--atol", c.atol, defaults.atol, m.atol);
    decide("--max-step", c.max_step, {}, m.max_step);
    if (m.rtol >= 1.0) throw Error("rtol is " + number_text(m.rtol) + ", it must lie in (0, 1)", {"--rtol", 0, 0});
    return m;
}

integrate::Restitution restitution_named(const std::string& word) {
    if (word == "impacts") return integrate::Restitution::impacts;
    if (word == "literal") return integrate::Restitution::literal;
    throw Error("unknown restitution '" + word + "'", {"--restitution", 0, 0}, "allowed are impacts and literal");
}

integrate::Moreau moreau_method(const SimulateCommand& c, const model::SimulationDefaults& defaults, bool keep_arcs) {
    integrate::Moreau m;
    m.keep_arcs = keep_arcs;
    decide("--h", c.h, defaults.h, m.h);
    if (c.theta) m.theta = *c.theta;
    if (!(m.theta >= 0.0 && m.theta <= 1.0))
        throw Error("theta is " + number_text(m.theta) + ", it must lie in [0, 1]", {"--theta", 0, 0},
                    "0.5 is the midpoint");
    m.implicit = c.implicit;
    if (!c.restitution.empty()) m.restitution = restitution_named(c.restitution);
    return m;
}

void choose_method(const SimulateCommand& c, const model::Model& m, Plan& plan) {
    // Outputs and mean forces are evaluated along the arcs.
    const bool keep_arcs = !c.common.out.empty() || c.common.json || model::has_outputs(m) || !c.section.empty();
    plan.method_name = c.method.empty() ? m.settings->simulate.method : c.method;
    const auto unused = [&](const char* option, bool given) {
        if (given) plan.warnings.push_back(std::string(option) + " is not used by method " + plan.method_name);
    };
    if (plan.method_name == "moreau") {
        plan.method = moreau_method(c, m.settings->simulate, keep_arcs);
        unused("--rtol", c.rtol.has_value());
        unused("--atol", c.atol.has_value());
        unused("--max-step", c.max_step.has_value());
        return;
    }
    if (plan.method_name == "event") {
        plan.method = smooth_method<integrate::EventDriven>(c, m.settings->simulate, keep_arcs);
    } else if (plan.method_name == "penalty") {
        model::refuse_unsupported(m, model::Analysis::penalty, {c.common.model, 0, 0});
        plan.method = smooth_method<integrate::Penalty>(c, m.settings->simulate, keep_arcs);
    } else {
        throw Error("unknown method '" + c.method + "'", {"--method", 0, 0}, "allowed are event, moreau and penalty");
    }
    unused("--h", c.h.has_value());
    unused("--theta", c.theta.has_value());
    unused("--restitution", !c.restitution.empty());
    if (plan.method_name != "penalty") return;
    unused("--strict-energy", c.strict_energy);
    unused("--repair-energy", c.repair_energy);
}

void choose_energy_rule(const SimulateCommand& c, Plan& plan) {
    if (c.strict_energy && c.repair_energy)
        throw Error("contradicts --repair-energy, which continues the run", {"--strict-energy", 0, 0},
                    "give one of them");
    if (c.repair_energy && plan.method_name == "moreau")
        throw Error("needs located impacts, which time-stepping does not have", {"--repair-energy", 0, 0},
                    "simulate with --method event");
    if (c.strict_energy) plan.energy = integrate::EnergyRule::stop;
    if (c.repair_energy) plan.energy = integrate::EnergyRule::repair;
}

void check_restart(const std::string& file, const Trajectory& before, const model::Model& m) {
    if (before.coordinates != m.coordinates)
        throw Error(
            "its coordinates are " + listing(before.coordinates) + ", those of the model " + listing(m.coordinates),
            {file, 0, 0}, "restart from a trajectory of this model");
    const auto finite = [](const std::vector<double>& v) {
        return std::all_of(v.begin(), v.end(), [](double x) { return std::isfinite(x); });
    };
    if (!std::isfinite(before.end.t) || !finite(before.end.q) || !finite(before.end.u))
        throw Error("the final state contains numbers that are not finite", {file, 0, 0},
                    "restart from another trajectory");
}

/// If the run goes on as the earlier one would have done, then it resumes where the end of that one did not matter yet.
/// A run that has failed is continued from its last state instead: resumed, it would fail again.
void resume_if_possible(const SimulateCommand& c, const io::LoadedModel& loaded, Trajectory& before, Plan& plan) {
    const bool same = before.version == library_version() &&
                      before.model_hash == io::model_hash(loaded.file.text, loaded.build.set) &&
                      io::differ_in_ends_only(before.options, plan.options);
    if (!same || before.status == Status::failed || before.status == Status::energy_created) return;
    std::vector<double> numbers = io::read_resume(c.restart);
    if (!numbers.empty())
        plan.earlier = integrate::Continued{{std::move(numbers)}, before.end.t, std::move(before.events)};
}

void choose_time(const SimulateCommand& c, const model::Model& m, Plan& plan) {
    const Place place{c.t_end ? "--t-end" : c.common.model, 0, 0};
    const std::optional<double> t_end = c.t_end ? c.t_end : m.settings->simulate.t_end;
    if (!t_end) throw Error(no_end_time, place, "give --t-end, or t_end in [simulate]");
    if (!std::isfinite(*t_end) || !(*t_end > plan.start.t))
        throw Error("t_end is " + number_text(*t_end) +
                        ", it must be a time after the start at t = " + number_text(plan.start.t),
                    place, c.t_end ? "" : "give a later --t-end");
    plan.t_end = *t_end;
}

}  // namespace

Plan make_plan(const SimulateCommand& c, const io::LoadedModel& loaded) {
    const model::Model& m = loaded.model;
    Plan plan;
    plan.restarted = !c.restart.empty();
    Trajectory before;
    if (plan.restarted) {
        before = io::read_trajectory(c.restart, io::TrajectoryParts::without_arcs);
        check_restart(c.restart, before, m);
    }
    plan.start = plan.restarted ? before.end : State{0.0, m.q0, m.u0};
    choose_time(c, m, plan);
    choose_method(c, m, plan);
    choose_energy_rule(c, plan);
    integrate::Options options;
    options.t_end = plan.t_end;
    options.energy = plan.energy;
    plan.options = io::simulate_options(plan.method, options, loaded.build, c.restart);
    if (plan.restarted) resume_if_possible(c, loaded, before, plan);
    return plan;
}

int exit_code(Status status) {
    switch (status) {
        case Status::completed: return done;
        case Status::interrupted: return interrupted;
        case Status::failed:
        case Status::inaccurate:
        case Status::energy_created: return failed;
    }
    return failed;
}

}  // namespace saltus::cli
