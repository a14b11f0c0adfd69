// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/motion_study.hpp"

#include <variant>

#include "saltus/base/error.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/model/model.hpp"

namespace saltus::ensemble {

MotionStudy::MotionStudy(const ModelMaker& maker, std::vector<Question> questions, MotionOptions options,
                         Refused refused)
    : maker_(maker), questions_(std::move(questions)), options_(std::move(options)), refused_(refused) {
    std::visit([&](auto& m) { m.keep_arcs = needs_arcs(questions_); }, options_.method);
}

std::optional<Answers> MotionStudy::answers(const RunRequest& run) const {
    std::optional<model::Model> model;
    try {
        model = maker_.at(run.values);
    } catch (const Error& e) {
        if (refused_ == Refused::error) throw;
        Answers refused;
        refused.status = trajectory::Status::failed;
        refused.refused = true;
        refused.reason = e.message();
        return refused;
    }
    integrate::Options o;
    o.t_end = options_.t_end;
    o.start = options_.start;
    o.energy = options_.energy;
    o.interrupted = options_.interrupted;
    const trajectory::Trajectory motion = integrate::simulate(*model, options_.method, o);
    if (motion.status == trajectory::Status::interrupted) return {};
    return answers_of(questions_, *model, motion);
}

void MotionStudy::serve(const NextRun& next, const FinishRun& finish) {
    for (RunRequest run; next(run);)
        if (const std::optional<Answers> made = answers(run)) finish(run.number, bytes_of(*made));
}

}  // namespace saltus::ensemble
