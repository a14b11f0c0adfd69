// SPDX-License-Identifier: Apache-2.0
#include "hand_written.hpp"

#include <cmath>

namespace hand_written {

void rocking_bar(const Bar& p, const double* q, const double* u, double* out) {
    (void)u;
    const double s = p.a * std::sin(q[2]), c = p.a * std::cos(q[2]);
    out[0] = p.m, out[1] = p.m, out[2] = p.JS;
    out[3] = -p.k * q[0], out[4] = -p.m * p.g, out[5] = 0.0;
    out[6] = 1.0, out[7] = -c;
    out[8] = 1.0, out[9] = c;
    out[10] = 1.0, out[11] = s;
    out[12] = 1.0, out[13] = -s;
    out[14] = out[15] = out[16] = out[17] = 0.0;
}

void rocking_bar_all(const Bar& p, const double* q, const double* u, double* out) {
    const double s = p.a * std::sin(q[2]), c = p.a * std::cos(q[2]), w2 = u[2] * u[2];
    out[0] = p.m, out[1] = p.m, out[2] = p.JS;
    out[3] = -p.k * q[0], out[4] = -p.m * p.g, out[5] = 0.0;
    out[6] = q[1] - s, out[7] = q[1] + s;
    out[8] = 1.0, out[9] = -c;
    out[10] = 1.0, out[11] = c;
    out[12] = 1.0, out[13] = s;
    out[14] = 1.0, out[15] = -s;
    out[16] = out[17] = out[18] = out[19] = 0.0;
    out[20] = s * w2, out[21] = -s * w2;
    out[22] = c * w2, out[23] = -c * w2;
}

void double_pendulum(const Pendulum& p, const double* q, const double* u, double* out) {
    const double m12 = p.m1 + p.m2;
    const double coupling = p.m2 * p.l1 * p.l2;
    const double s1 = std::sin(q[0]), c1 = std::cos(q[0]), s2 = std::sin(q[1]), c2 = std::cos(q[1]);
    const double s = std::sin(q[0] - q[1]), c = std::cos(q[0] - q[1]);
    out[0] = m12 * p.l1 * p.l1;
    out[1] = coupling * c;
    out[2] = p.m2 * p.l2 * p.l2;
    out[3] = -coupling * s * u[1] * u[1] - m12 * p.g * p.l1 * s1;
    out[4] = coupling * s * u[0] * u[0] - p.m2 * p.g * p.l2 * s2;
    out[5] = p.l1 * s1, out[6] = p.l2 * s2;
    out[7] = p.l1 * c1, out[8] = p.l2 * c2;
    out[9] = out[10] = 0.0;
}

void double_pendulum_all(const Pendulum& p, const double* q, const double* u, double* out) {
    const double m12 = p.m1 + p.m2;
    const double coupling = p.m2 * p.l1 * p.l2;
    const double s1 = std::sin(q[0]), c1 = std::cos(q[0]), s2 = std::sin(q[1]), c2 = std::cos(q[1]);
    const double s = std::sin(q[0] - q[1]), c = std::cos(q[0] - q[1]);
    const double w1 = u[0] * u[0], w2 = u[1] * u[1];
    out[0] = m12 * p.l1 * p.l1;
    out[1] = coupling * c;
    out[2] = p.m2 * p.l2 * p.l2;
    out[3] = -coupling * s * w2 - m12 * p.g * p.l1 * s1;
    out[4] = coupling * s * w1 - p.m2 * p.g * p.l2 * s2;
    out[5] = 3.0 - p.l1 * c1 - p.l2 * c2, out[6] = p.l1 * s1 + p.l2 * s2 + 3.0;
    out[7] = p.l1 * s1, out[8] = p.l2 * s2;
    out[9] = p.l1 * c1, out[10] = p.l2 * c2;
    out[11] = out[12] = 0.0;
    out[13] = p.l1 * c1 * w1 + p.l2 * c2 * w2;
    out[14] = -p.l1 * s1 * w1 - p.l2 * s2 * w2;
}

}  // namespace hand_written
