// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace saltus::integrate {

/// A sum of many numbers whose rounding error does not grow with their number, by Neumaier's compensated summation: the
/// digits that each addition loses are added up in a sum of their own.
class PreciseSum {
public:
    void add(double x) {
        const double next = sum_ + x;
        lost_ += std::abs(sum_) >= std::abs(x) ? (sum_ - next) + x : (x - next) + sum_;
        sum_ = next;
    }
    double value() const { return sum_ + lost_; }
    /// See detail/resume_archive.hpp.
    template <class Archive>
    void remember(Archive& archive) {
        archive(sum_, lost_);
    }

private:
    double sum_ = 0.0, lost_ = 0.0;
};

}  // namespace saltus::integrate
