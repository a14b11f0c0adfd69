// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/simulate.hpp"

#include <chrono>

#include "saltus/integrate/event/detail/event_driven.hpp"
#include "saltus/integrate/moreau/detail/moreau.hpp"
#include "saltus/model/support.hpp"

namespace saltus::integrate {

namespace {

trajectory::Trajectory run(const model::Model& model, const EventDriven& method, const Options& options) {
    return run_event_driven(model, method, options);
}
trajectory::Trajectory run(const model::Model& model, const Moreau& method, const Options& options) {
    return run_moreau(model, method, options);
}
trajectory::Trajectory run(const model::Model& model, const Penalty& method, const Options& options) {
    model::refuse_unsupported(model, model::Analysis::penalty);
    return run_penalty(model, method, options);
}

}  // namespace

trajectory::Trajectory simulate(const model::Model& model, const Method& method, const Options& options) {
    const auto start = std::chrono::steady_clock::now();
    trajectory::Trajectory out = std::visit([&](const auto& m) { return run(model, m, options); }, method);
    out.statistics.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return out;
}

}  // namespace saltus::integrate
