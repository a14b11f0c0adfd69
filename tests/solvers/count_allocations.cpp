// SPDX-License-Identifier: Apache-2.0
// The counter of this executable.
#include "../allocations.cpp"
