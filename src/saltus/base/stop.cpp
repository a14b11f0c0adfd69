// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/stop.hpp"

#include <utility>

namespace saltus {

namespace {

/// The function of the innermost Stoppable value of this thread, and the work since it was asked.
thread_local const std::function<bool()>* asked_here = nullptr;
thread_local double work_since = 0.0;

/// Multiplications between two questions. They take some 0.1 ms, a question 50 ns.
constexpr double work_between_questions = 1e5;

}  // namespace

Stoppable::Stoppable(std::function<bool()> asked) : asked_(std::move(asked)), outer_(asked_here) {
    if (asked_) asked_here = &asked_;
    work_since = 0.0;
}

Stoppable::~Stoppable() { asked_here = outer_; }

void count_work(double multiplications) {
    if (asked_here == nullptr) return;
    work_since += multiplications;
    if (work_since < work_between_questions) return;
    work_since = 0.0;
    if ((*asked_here)()) throw Stopped{};
}

}  // namespace saltus
