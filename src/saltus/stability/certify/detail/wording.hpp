// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/base/linalg.hpp"
#include "saltus/model/fwd.hpp"

namespace saltus::stability {

/// Text for the evidence of certificates.
std::string position_text(const model::Mechanics& model, const Vector& q);  ///< "x = 1, y = 2"
/// "x in [1, 2]"
std::string range_text(const std::string& name, double low, double high);
std::string boxes_text(long count);  ///< "1 box", "2 boxes"
std::string number(double x);        ///< six significant digits; −0 is 0

}  // namespace saltus::stability
