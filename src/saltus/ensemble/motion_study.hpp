// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "saltus/ensemble/engine.hpp"
#include "saltus/ensemble/model_maker.hpp"
#include "saltus/ensemble/questions.hpp"
#include "saltus/integrate/simulate.hpp"

namespace saltus::ensemble {

/// How the motions of a study are made.
struct MotionOptions {
    integrate::Method method = integrate::EventDriven{};
    double t_end = 1.0;                      ///< in s
    std::optional<trajectory::State> start;  ///< default: the initial state of each model
    integrate::EnergyRule energy = integrate::EnergyRule::report;
    std::function<bool()> interrupted;  ///< polled by any thread
};

/// Makes a motion for each run and answers questions about it. The answers are bytes_of(Answers).
class MotionStudy final : public Work {
public:
    /// What happens to a run whose model cannot be built.
    enum class Refused {
        error,     ///< the Error is thrown
        answered,  ///< the answer says so: for random values
    };
    /// The maker must outlive this object.
    MotionStudy(const ModelMaker& maker, std::vector<Question> questions, MotionOptions options, Refused refused);

    void serve(const NextRun& next, const FinishRun& finish) override;
    /// The answers of one run; nothing if it was interrupted.
    std::optional<Answers> answers(const RunRequest& run) const;

    /// Answers hold no warnings. Makes a few of the motions of a study again, evenly spaced, and counts their warnings:
    /// one text for each kind. The motions are the same for any number of threads and ranks, and on devices.
    std::vector<std::string> examined_warnings(const Starts& starts) const;

    const std::vector<Question>& questions() const { return questions_; }
    const MotionOptions& options() const { return options_; }

private:
    trajectory::Trajectory motion_of(const model::Model& model) const;

    const ModelMaker& maker_;
    const std::vector<Question> questions_;
    MotionOptions options_;
    const Refused refused_;
};

}  // namespace saltus::ensemble
