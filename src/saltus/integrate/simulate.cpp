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

RecordedMotion run(const model::Model& model, const EventDriven& method, const Options& options, Record record) {
    return run_event_driven(model, method, options, record);
}
RecordedMotion run(const model::Model& model, const Moreau& method, const Options& options, Record record) {
    return run_moreau(model, method, options, record);
}
RecordedMotion run(const model::Model& model, const Penalty& method, const Options& options, Record record) {
    model::refuse_unsupported(model, model::Analysis::penalty);
    return run_penalty(model, method, options, record);
}

RecordedMotion timed(const model::Model& model, const Method& method, const Options& options, Record record) {
    const auto start = std::chrono::steady_clock::now();
    RecordedMotion out = std::visit([&](const auto& m) { return run(model, m, options, record); }, method);
    fail_if_not_finite(out.motion);
    out.motion.statistics.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return out;
}

}  // namespace

trajectory::Trajectory simulate(const model::Model& model, const Method& method, const Options& options) {
    return std::move(timed(model, method, options, Record::no).motion);
}

RecordedMotion simulate_recorded(const model::Model& model, const Method& method, const Options& options) {
    return timed(model, method, options, Record::yes);
}

ResumableMotion simulate_resumable(const model::Model& model, const Method& method, const Options& options,
                                   Record record, const Continued* earlier, const EventSink& sink) {
    SALTUS_EXPECT(!sink || record == Record::no);
    const auto start = std::chrono::steady_clock::now();
    if (std::holds_alternative<Penalty>(method)) model::refuse_unsupported(model, model::Analysis::penalty);
    ResumableMotion out =
        std::visit([&](const auto& m) { return run_resumable(model, m, options, record, earlier, sink); }, method);
    out.motion.motion.statistics.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return out;
}

}  // namespace saltus::integrate
