// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "saltus/control/penalty/action.hpp"
#include "saltus/control/penalty/motion_distance.hpp"
#include "saltus/control/rest.hpp"
#include "saltus/ensemble/starts.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/build_options.hpp"
#include "saltus/model/description.hpp"

namespace saltus::control {

/// The motion with springs of one stiffness, compared with the rigid motion.
struct PenaltyRun {
    double k = 0.0;
    trajectory::Status status = trajectory::Status::interrupted;
    std::string reason;
    Rest steady;                              ///< equilibrium of the springs, [Tornambe] (48)
    std::optional<double> steady_q;           ///< largest |q_R(k) − q_R|, against the rigid equilibrium
    std::optional<double> steady_force;       ///< largest |η_R − λ̇_R|, difference of the contact forces
    MotionDistance distance;                  ///< distance of the motion from the rigid one
    std::optional<double> order;              ///< p of distance.q ~ k^(−p), from this run and the one before
    long phases = 0;                          ///< number of phases of contact
    std::optional<double> first_duration;     ///< duration of the first complete phase of contact, in s
    std::optional<double> first_restitution;  ///< −γ⁺/γ⁻ of the first complete phase of contact
    trajectory::State end;
};

/// Motions with ever stiffer springs, compared with their limit, the rigid motion with e = 1.
struct PenaltyLimit {
    std::string model;
    std::vector<std::string> coordinates, contacts;
    double t_end = 0.0;
    std::string varied;  ///< "k" of [penalty] for all contacts, or the name of a parameter
    trajectory::Status rigid_status = trajectory::Status::interrupted;
    std::string rigid_reason;
    long impacts = 0;  ///< number of impacts of the rigid motion
    trajectory::State rigid_end;
    Rest steady;                         ///< rigid equilibrium, [Tornambe] (27)
    std::vector<PenaltyRun> runs;        ///< one for each stiffness, in ascending order
    std::optional<double> order;         ///< p of distance.q ~ k^(−p), a straight-line fit over all runs
    std::optional<double> steady_order;  ///< p of steady_q ~ k^(−p), a straight-line fit over all runs
    ActionSequence action;               ///< the sequences of Theorems 1 and 2
    std::vector<std::string> warnings;
    bool complete = false;  ///< false: the study was interrupted
};

struct PenaltyLimitOptions {
    model::BuildOptions build;
    double t_end = 1.0;
    double rtol = 1e-10, atol = 1e-13;  ///< tolerances of the simulations; small, because motions are compared
    bool action = true;                 ///< whether the actions are computed
    std::optional<double> horizon;      ///< duration over which the actions are computed, in s; default: one bounce
    int threads = 0;                    ///< 0: one for each core
    std::function<bool()> interrupted;
};

/// Parses the values of the stiffness: "k=1e3:1e9:7" (even ratios), "k=1e3,1e6", or NAME=... for a parameter. The
/// values are positive and ascend. Throws Error.
ensemble::Axis penalty_from_text(const std::string& text);

/// Simulates the rigid motion and those with springs, and compares them. Throws Error if the model has no contacts or a
/// contact has no stiffness.
PenaltyLimit penalty_limit(const model::Description& description, const ensemble::Axis& stiffness,
                           const PenaltyLimitOptions& options);

/// The description with springs of stiffness k in all contacts.
model::Description with_stiffness(model::Description d, double k);
/// The description with rigid contacts that keep all energy: e_N = 1.
model::Description elastic(model::Description d);
/// The description without forces that are not part of the action: damping, velocity gains, other forces.
model::Description conservative(model::Description d);

}  // namespace saltus::control
