// SPDX-License-Identifier: Apache-2.0
#define SALTUS_EIGEN_RARE_INSTANCE template
#include "saltus/base/detail/eigen_instances.hpp"
