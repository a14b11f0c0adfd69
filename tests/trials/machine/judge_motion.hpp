// SPDX-License-Identifier: Apache-2.0
//
// Judges a motion. First against the laws themselves: at every stored instant the acceleration must follow from the
// smooth forces and from reactions that the laws allow, no gap may be negative, and each impact must obey its law. Then
// against a plain time-stepping scheme that knows nothing of events.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "machine/findings.hpp"
#include "machine/model.hpp"
#include "machine/program.hpp"

namespace trials {

struct Event {
    std::string kind;
    Point before, after;
    nlohmann::json impulses;                 ///< {"contact": {"N": .., "T": [..]}}
    std::vector<std::string> contacts = {};  ///< names of the elements that the event is about
    std::string note = {};                   ///< of a jump: its name
};

/// A motion as the program tells it: arcs of samples between events.
struct Motion {
    std::vector<std::vector<Point>> arcs;
    std::vector<Event> events;  ///< event k lies between two arcs; several events may have the same time
    nlohmann::json document;
};

/// Runs `saltus simulate`. Crashes, time-outs and undocumented exit codes are violations. Returns false if there is no
/// completed motion to judge.
bool simulate(const Model& model, const Program& program, const std::vector<std::string>& options, Motion& motion,
              Findings& findings, int samples = 2001);  // windows of seven samples span 0.3 % of the motion

/// False if contacts at the same place slide differently: they share the normal force in any way, and the motion is not
/// unique.
bool has_one_motion(const Model& model);

/// Whether the program says that the motion is one of several that the laws allow, or that no contact force exists at
/// some time (Painlevé).
bool says_not_unique(const Motion& motion);

/// The statements about gaps, energies and final state, and every sample and event against the laws.
Findings judge_laws(const Model& model, const Motion& motion);

/// The end of the motion against time-stepping with two step lengths and extrapolation.
Findings judge_by_stepping(const Model& model, const Motion& motion);

/// All of the above.
Findings judge_motion(const Model& model, const Program& program);

}  // namespace trials
