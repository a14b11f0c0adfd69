// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/model/description.hpp"

namespace saltus::model {

/// The description in which all entries of D_hat of [penalty], the damping in contact, are multiplied by a factor > 0.
Description with_contact_damping(Description description, double factor);

}  // namespace saltus::model
