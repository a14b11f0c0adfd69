// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The peers: the same equations as a careful person writes them for one system, optimised with the same flags. In a
/// source file of their own, so that neither side sees through the call.
namespace hand_written {

struct Bar {
    double m, k, g, a, JS;
};
/// M (3), h (3), W (8: two normals, two slips, structural nonzeros), χ (4)
void rocking_bar(const Bar& p, const double* q, const double* u, double* out);
/// And gaps (2) after h, ζ (4) at the end.
void rocking_bar_all(const Bar& p, const double* q, const double* u, double* out);

struct Pendulum {
    double m1, m2, l1, l2, g;
};
/// M (3), h (2), W (4: height and distance of the tip from a wall, structural nonzeros), χ (2)
void double_pendulum(const Pendulum& p, const double* q, const double* u, double* out);
void double_pendulum_all(const Pendulum& p, const double* q, const double* u, double* out);

}  // namespace hand_written
