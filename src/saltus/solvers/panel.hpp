// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace saltus::solvers {

/// A −= L U for a few rows at a time: L is m × k (row-major, stride ld_l), U k × n (stride ld_u), A m × n (stride
/// ld_a), with m and k the size of a contact and n as long as it comes. Every element is reduced in the same order on
/// every processor, so that the result does not depend on its vector unit.
void subtract_panel(int m, int k, int n, const double* L, int ld_l, const double* U, int ld_u, double* A, int ld_a);

}  // namespace saltus::solvers
