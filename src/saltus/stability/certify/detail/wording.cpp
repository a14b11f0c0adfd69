// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/wording.hpp"
#include "saltus/base/plain_text.hpp"
#include "saltus/model/mechanics.hpp"

#include <cmath>

namespace saltus::stability {

std::string boxes_text(long count) { return std::to_string(count) + (count == 1 ? " box" : " boxes"); }

std::string number(double x) { return rounded_text(x + 0.0, 6); }

std::string position_text(const model::Mechanics& model, const Vector& q) {
    constexpr double printed_as_zero = 1e-14;  // coordinates below it are rounding errors of 0
    std::string text;
    for (Eigen::Index k = 0; k < q.size(); ++k) {
        const double x = std::fabs(q(k)) < printed_as_zero ? 0.0 : q(k);
        text += (k > 0 ? ", " : "") + model.coordinates[static_cast<std::size_t>(k)] + " = " + number(x);
    }
    return text;
}

}  // namespace saltus::stability
