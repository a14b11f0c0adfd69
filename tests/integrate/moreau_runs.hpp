// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "saltus/base/text.hpp"
#include "saltus/integrate/event/detail/event_driven.hpp"
#include "saltus/integrate/moreau/detail/moreau.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"

/// What the tests of time-stepping share.
namespace saltus::integrate::test {

using Settings = std::vector<std::pair<std::string, std::string>>;

inline model::Model shipped(const std::string& name, const Settings& set = {}) {
    model::BuildOptions options;
    options.set = set;
    return model::build(io::read_model(std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml"), options);
}

inline model::Model written(const std::string& text, const Settings& set = {}) {
    model::BuildOptions options;
    options.set = set;
    return model::build(io::parse_model(text, "test"), options);
}

inline trajectory::Trajectory run(const model::Model& model, double t_end, const Moreau& method) {
    Options options;
    options.t_end = t_end;
    return run_moreau(model, method, options).motion;
}

inline trajectory::Trajectory run(const model::Model& model, double t_end, double h, bool keep_arcs = false) {
    Moreau method;
    method.h = h;
    method.keep_arcs = keep_arcs;
    return run(model, t_end, method);
}

inline trajectory::Trajectory event_driven(const model::Model& model, double t_end, double rtol = EventDriven().rtol) {
    EventDriven exact;
    exact.rtol = rtol;
    exact.keep_arcs = false;
    Options options;
    options.t_end = t_end;
    return run_event_driven(model, exact, options).motion;
}

/// |final − initial − work| at the end of a motion, relative to the larger of both energies.
inline double balance_at_end(const trajectory::Trajectory& motion) {
    return std::abs(motion.energy.final - motion.energy.initial - motion.energy.work) /
           std::max(std::abs(motion.energy.initial), std::abs(motion.energy.final));
}

inline int count(const trajectory::Trajectory& motion, trajectory::EventKind kind) {
    int n = 0;
    for (const trajectory::Event& e : motion.events) n += e.kind == kind ? 1 : 0;
    return n;
}

/// The mean of f(h) over steps between h and 5/4 h: where an impact falls into its step is chance.
template <class F>
double mean_over_steps(double h, F f) {
    double sum = 0.0;
    for (int k = 0; k < 20; ++k) sum += f(h * (1.0 + k / 80.0)) / 20.0;
    return sum;
}

}  // namespace saltus::integrate::test
