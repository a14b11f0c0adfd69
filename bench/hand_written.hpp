// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The same equations as the tape evaluates, written by hand for one system and compiled with the same flags. They are
/// in a source file of their own, so that the compiler cannot inline them into the benchmark.
namespace hand_written {

struct Bar {
    double m, k, g, a, JS;
};
/// M (3), h (3), W (8: two normals, two slips, structural nonzeros), χ (4)
void rocking_bar(const Bar& p, const double* q, const double* u, double* out);
/// As rocking_bar, with the gaps (2) after h and ζ (4) at the end.
void rocking_bar_all(const Bar& p, const double* q, const double* u, double* out);

struct Pendulum {
    double m1, m2, l1, l2, g;
};
/// M (3), h (2), W (4: height and distance of the tip from a wall, structural nonzeros), χ (2)
void double_pendulum(const Pendulum& p, const double* q, const double* u, double* out);
/// As double_pendulum, with gaps after h and ζ at the end.
void double_pendulum_all(const Pendulum& p, const double* q, const double* u, double* out);

}  // namespace hand_written
