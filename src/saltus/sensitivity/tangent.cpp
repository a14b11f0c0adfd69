// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/tangent.hpp"

#include <vector>

namespace saltus::sensitivity {

void Tangent::set_mode(const integrate::RecordedMode& mode, double t, const double* x) {
    dynamics.elements = mode.elements;
    dynamics.parts = mode.parts;
    dynamics.settle(t, x);
}

bool Tangent::velocity_field(double t, const double* x, Vector& f) {
    std::vector<double> dx(static_cast<std::size_t>(dynamics.state_size()));
    if (!dynamics.derivative(t, x, dx.data())) return false;
    f = Eigen::Map<const Vector>(dx.data(), 2 * n());
    return f.allFinite();
}

Matrix Tangent::state_identity() const {
    Matrix I = Matrix::Zero(2 * n(), columns());
    I.middleCols(1, 2 * n()).setIdentity();
    return I;
}

}  // namespace saltus::sensitivity
