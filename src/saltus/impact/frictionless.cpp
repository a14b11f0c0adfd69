// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/frictionless.hpp"

#include "saltus/base/error.hpp"

namespace saltus::impact {

std::string name_of(const FrictionlessCollision& collision, Eigen::Index contact) {
    const auto i = static_cast<std::size_t>(contact);
    return i < collision.names.size() ? collision.names[i] : "contact " + std::to_string(i + 1);
}

Vector relative_velocities(const FrictionlessCollision& collision, const Vector& u) {
    Vector gamma = collision.directions.transpose() * u;
    if (collision.chi.size() > 0) gamma += collision.chi;
    return gamma;
}

void expect_consistent_sizes(const FrictionlessCollision& c, Reads reads) {
    const Eigen::Index n = c.M.rows();
    SALTUS_EXPECT(c.M.cols() == n && c.u_minus.size() == n);
    SALTUS_EXPECT(c.directions.rows() == n || c.directions.cols() == 0);
    SALTUS_EXPECT(c.chi.size() == 0 || c.chi.size() == c.directions.cols());
    SALTUS_EXPECT(c.impulse.size() == 0 || c.impulse.size() == n);
    SALTUS_EXPECT(reads == Reads::u_minus || c.u_plus.size() == n);
    SALTUS_EXPECT(c.bilateral >= 0 && c.bilateral <= c.directions.cols());
}

}  // namespace saltus::impact
