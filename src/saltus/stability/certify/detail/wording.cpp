// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/wording.hpp"
#include "saltus/base/plain_text.hpp"
#include "saltus/model/mechanics.hpp"

#include <cmath>

namespace saltus::stability {

std::string boxes_text(long count) { return std::to_string(count) + (count == 1 ? " box" : " boxes"); }

std::string number(double x) { return rounded_text(x + 0.0, 6); }

namespace {

/// Coordinates below 1e-14 are rounding errors of 0.
std::string coordinate(double x) {
    constexpr double printed_as_zero = 1e-14;
    return number(std::fabs(x) < printed_as_zero ? 0.0 : x);
}

}  // namespace

std::string range_text(const std::string& name, double low, double high) {
    return name + " in [" + coordinate(low) + ", " + coordinate(high) + "]";
}

std::string position_text(const model::Mechanics& model, const Vector& q) {
    std::string text;
    for (Eigen::Index k = 0; k < q.size(); ++k)
        text += (k > 0 ? ", " : "") + model.coordinates[static_cast<std::size_t>(k)] + " = " + coordinate(q(k));
    return text;
}

}  // namespace saltus::stability
