// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/motion_study.hpp"

#include <algorithm>
#include <variant>

#include "saltus/base/error.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/model.hpp"
#include "saltus/trajectory/warning_tally.hpp"

namespace saltus::ensemble {

namespace {

/// One motion of a study in runs_for_examined is examined for its warnings, but at least min_examined and at most
/// max_examined: a motion of an ensemble on a device costs much less than one that is made alone.
constexpr std::size_t runs_for_examined = 16, min_examined = 2, max_examined = 8;

}  // namespace

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
    const trajectory::Trajectory motion = motion_of(*model);
    if (motion.status == trajectory::Status::interrupted) return {};
    return answers_of(questions_, *model, motion);
}

trajectory::Trajectory MotionStudy::motion_of(const model::Model& model) const {
    integrate::Options o;
    o.t_end = options_.t_end;
    o.start = options_.start;
    o.energy = options_.energy;
    o.interrupted = options_.interrupted;
    return integrate::simulate(model, options_.method, o);
}

std::vector<std::string> MotionStudy::examined_warnings(const Starts& starts) const {
    const std::size_t runs = starts.size(),
                      count = std::min(max_examined, std::max(std::min(runs, min_examined), runs / runs_for_examined));
    std::vector<double> values(starts.axes.size());
    trajectory::WarningTally tally;
    for (std::size_t k = 0; k < count; ++k) {
        const std::size_t number = (2 * k + 1) * runs / (2 * count);
        starts.values(number, values);
        std::string name;
        for (std::size_t a = 0; a < values.size(); ++a)
            name += (a > 0 ? ", " : "") + starts.axes[a].name + " = " + number_text(values[a]);
        try {
            const trajectory::Trajectory motion = motion_of(maker_.at(values));
            if (motion.status == trajectory::Status::interrupted) return {};
            tally.add(trajectory::about_motion(motion.warnings), name);
        } catch (const Error&) {  // the model refuses these values, which its answer says
        }
    }
    return tally.texts("motions that were examined");
}

void MotionStudy::serve(const NextRun& next, const FinishRun& finish) {
    for (RunRequest run; next(run);)
        if (const std::optional<Answers> made = answers(run)) finish(run.number, bytes_of(*made));
}

}  // namespace saltus::ensemble
