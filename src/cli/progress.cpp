// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <unistd.h>

#include <cstdio>

namespace saltus::cli {

namespace {

constexpr std::chrono::seconds delay_before_first_line{2};
constexpr std::chrono::milliseconds update_interval{250};
constexpr std::chrono::milliseconds line_interval{100};

bool lines = false;  ///< see write_progress_lines(); set before any thread starts

}  // namespace

void write_progress_lines() { lines = true; }

Progress::Progress(double from, double to, bool wanted)
    : from_(from),
      to_(to),
      wanted_(lines || (wanted && ::isatty(STDERR_FILENO) == 1)),
      next_(lines ? start_ : start_ + delay_before_first_line) {}

Progress::~Progress() {
    if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::at(double t) {
    if (!wanted_ || !(t > from_)) return;
    const Clock::time_point now = Clock::now();
    if (now < next_) return;
    const double share = (t - from_) / (to_ - from_);
    if (lines) {
        next_ = now + line_interval;
        std::fprintf(stderr, "progress %.4f\n", share);
        return;
    }
    next_ = now + update_interval;
    shown_ = true;
    const double left = std::chrono::duration<double>(now - start_).count() * (1.0 - share) / share;
    std::fprintf(stderr, "\r%3.0f %%  t = %.6g of %.6g  ", 100.0 * share, t, to_);
    if (left < 120.0)
        std::fprintf(stderr, "%.0f s left\033[K", left);
    else if (left < 7200.0)
        std::fprintf(stderr, "%.0f min left\033[K", left / 60.0);
    else
        std::fprintf(stderr, "%.1f h left\033[K", left / 3600.0);
    std::fflush(stderr);
}

}  // namespace saltus::cli
