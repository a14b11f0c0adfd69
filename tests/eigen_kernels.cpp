// SPDX-License-Identifier: Apache-2.0
#define SALTUS_KERNEL template
#include "eigen_kernels.hpp"
