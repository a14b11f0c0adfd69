// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/simulate.hpp"

#include <chrono>
#include <utility>

#include "saltus/base/error.hpp"
#include "saltus/integrate/detail/finite.hpp"
#include "saltus/integrate/event/detail/event_driven.hpp"
#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/moreau/detail/moreau.hpp"
#include "saltus/integrate/resume.hpp"
#include "saltus/model/support.hpp"

namespace saltus::integrate {

namespace {

RecordedMotion run(const model::Mechanics& model, const EventDriven& method, const Options& options, Record record) {
    return run_event_driven(model, method, options, record);
}
RecordedMotion run(const model::Mechanics& model, const Moreau& method, const Options& options, Record record) {
    return run_moreau(model, method, options, record);
}
RecordedMotion run(const model::Mechanics& model, const Penalty& method, const Options& options, Record record) {
    model::refuse_unsupported(model, model::Analysis::penalty);
    return run_penalty(model, method, options, record);
}

RecordedMotion timed(const model::Mechanics& model, const Method& method, const Options& options, Record record) {
    const auto start = std::chrono::steady_clock::now();
    RecordedMotion out = std::visit([&](const auto& m) { return run(model, m, options, record); }, method);
    fail_if_not_finite(out.motion);
    out.motion.statistics.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return out;
}

}  // namespace

std::size_t bytes_of(const ode::Dense& step) { return sizeof(step) + sizeof(double) * step.coefficients().size(); }

std::size_t bytes_of_event(int coordinates) {
    constexpr std::size_t lists = 3;             // q, u_minus, u_plus
    constexpr std::size_t with_impulses = 2048;  // a recorded impact with its laws, rounded up
    return with_impulses + lists * sizeof(double) * static_cast<std::size_t>(coordinates);
}

trajectory::Trajectory simulate(const model::Mechanics& model, const Method& method, const Options& options) {
    return std::move(timed(model, method, options, Record::no).motion);
}

RecordedMotion simulate_recorded(const model::Mechanics& model, const Method& method, const Options& options) {
    return timed(model, method, options, Record::yes);
}

ResumableMotion simulate_resumable(const model::Mechanics& model, const Method& method, const Options& options,
                                   Record record, const Continued* earlier, const MotionSink& sink) {
    const auto start = std::chrono::steady_clock::now();
    if (std::holds_alternative<Penalty>(method)) model::refuse_unsupported(model, model::Analysis::penalty);
    std::string infinite;  // what is not finite in the parts that are given to the sink
    MotionSink examined;
    if (sink)
        examined = [&](MotionPart part) {
            if (infinite.empty()) infinite = infinite_event(part.events);
            sink(std::move(part));
        };
    ResumableMotion out =
        std::visit([&](const auto& m) { return run_resumable(model, m, options, record, earlier, examined); }, method);
    fail_if_not_finite(out.motion.motion, infinite);
    out.motion.motion.statistics.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return out;
}

}  // namespace saltus::integrate
