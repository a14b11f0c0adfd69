// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "saltus/control/penalty/action.hpp"
#include "saltus/control/penalty/motion_distance.hpp"
#include "saltus/control/rest.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/build.hpp"
#include "saltus/sensitivity/study/event_study.hpp"

namespace saltus::control {

/// One stiffness against rigid contacts.
struct PenaltyRun {
    double k = 0.0;
    trajectory::Status status = trajectory::Status::interrupted;
    std::string reason;
    Rest steady;                         ///< (48)
    std::optional<double> steady_q;      ///< largest |q_R(k) − q_R|
    std::optional<double> steady_force;  ///< largest |η_R − λ̇_R|
    MotionDistance distance;             ///< of the motions
    std::optional<double> order;         ///< of the positions' distance in 1/k, against the run before
    long phases = 0;                     ///< of contact
    std::optional<double> first_duration, first_restitution;  ///< of the first complete one: how long, −γ⁺/γ⁻
    trajectory::State end;
};

/// Springs ever stiffer against the rigid motion with e = 1, their limit.
struct PenaltyLimit {
    std::string model;
    std::vector<std::string> coordinates, contacts;
    double t_end = 0.0;
    std::string varied;  ///< "k" of [penalty] for all contacts, or a parameter
    trajectory::Status rigid_status = trajectory::Status::interrupted;
    std::string rigid_reason;
    long impacts = 0;
    trajectory::State rigid_end;
    Rest steady;  ///< (27)
    std::vector<PenaltyRun> runs;
    std::optional<double> order, steady_order;  ///< over the whole series, in 1/k
    ActionSequence action;                      ///< Theorems 1 and 2
    std::vector<std::string> warnings;
    bool complete = false;
};

struct PenaltyLimitOptions {
    model::BuildOptions build;
    double t_end = 1.0, rtol = 1e-10, atol = 1e-13;
    bool action = true;
    std::optional<double> horizon;  ///< of the actions; otherwise one bounce
    int threads = 0;
    std::function<bool()> interrupted;
};

/// "k=1e3:1e9:7": with even ratios where the ends are positive; "k=1e3,1e6"; NAME=... for a parameter. Throws Error.
sensitivity::Vary penalty_from_text(const std::string& text);

PenaltyLimit penalty_limit(const model::Description& description, const sensitivity::Vary& stiffness,
                           const PenaltyLimitOptions& options);

/// The description with springs of this stiffness; with rigid contacts that give back all energy; and without anything
/// that is not in the action: damping, gains of velocities, other forces.
model::Description with_stiffness(model::Description d, double k);
model::Description elastic(model::Description d);
model::Description conservative(model::Description d);

}  // namespace saltus::control
