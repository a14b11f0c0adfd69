// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>

#include "saltus/base/factorial.hpp"

namespace saltus::integrate {

/// How fast the terms of a series fall with their order k on a step h, relative to the size of the motion: like (h/ρ)^k
/// in front of a singularity at the distance ρ, and like (h/ρ)^k/k! for a linear system, whose solutions have none.
/// Earlier steps show ρ, and ρ tells which order a step needs.
class SeriesDecay {
public:
    enum class Kind { geometric, exponential };  ///< the two laws above

    explicit SeriesDecay(Kind kind = Kind::geometric) : kind_(kind) {}
    bool known() const { return rho_ > 0.0; }
    void forget() { rho_ = 0.0; }

    /// A term of order k >= 1 has this size > 0 on a step h.
    void learn(double h, int k, double size) {
        const double factorial = kind_ == Kind::exponential ? log_factorial(k) : 0.0;
        const double rho = h * std::exp(-(std::log(size) + factorial) / k);
        if (rho > 0.0 && rho < std::numeric_limits<double>::infinity()) rho_ = rho;
    }

    /// The order, at most `most`, of the first term that is at most `size` < 1 on a step h; most + 1 if there is none.
    int order_of(double size, double h, int most) const {
        const double ratio = h / rho_;
        if (kind_ == Kind::geometric) {
            const double order = ratio < 1.0 ? std::ceil(std::log(size) / std::log(ratio)) : most + 1.0;
            return order <= most ? static_cast<int>(order) : most + 1;
        }
        int k = 0;
        for (double term = 1.0; k <= most && term > size; term *= ratio / k) ++k;
        return k;
    }

private:
    Kind kind_;
    double rho_ = 0.0;  // in s; 0 if it is not known
};

}  // namespace saltus::integrate
