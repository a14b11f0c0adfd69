// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "saltus/io/page/report_page.hpp"

namespace saltus::cli {

/// The words of a question: a command of the program and its options, without model and folders.
struct QuestionWords {
    std::string command;
    std::vector<std::pair<std::string, std::string>> options;  ///< ("--wrt", "mu"); the value of a flag is ""
};

/// Throws Error unless the page may ask this: the command is one of the six questions, and no option of it reads or
/// writes files.
void refuse_other_words(const QuestionWords& words);

/// The questions that are being computed, and their results. Each is a run of this program in a process of its own: it
/// can be cancelled at any time, it cannot take the studio down, and its numbers are those of the command line. All
/// functions may be called by any thread.
class Questions {
public:
    /// `changed` is called with the number of a question when its state changes.
    explicit Questions(std::function<void(long)> changed);
    ~Questions();
    Questions(const Questions&) = delete;
    Questions& operator=(const Questions&) = delete;

    /// Starts a question about this text of a model file; returns its number. `file` is the path that the user knows.
    /// Throws Error if too many questions are being computed.
    long ask(const QuestionWords& words, const std::string& file, const std::string& text);
    void cancel(long number);
    /// The state as JSON (io::studio_job_json); empty if there is no such question.
    std::string json(long number) const;
    /// The parts of the result; empty if there is none.
    std::vector<io::ReportPart> result(long number) const;

private:
    struct Run;
    void compute(const std::shared_ptr<Run>& run);
    std::vector<std::shared_ptr<Run>> forget_oldest();

    std::function<void(long)> changed_;
    mutable std::mutex mutex_;
    std::map<long, std::shared_ptr<Run>> runs_;
    long last_ = 0;
};

}  // namespace saltus::cli
