// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/detail/tangent.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "saltus/sensitivity/arc/detail/arc_rest.hpp"
#include "saltus/sensitivity/saltation/detail/impact_memory.hpp"

namespace saltus::sensitivity {

namespace {

/// The equations of motion as if they were new.
std::shared_ptr<integrate::Dynamics> ready_equations(const model::Mechanics& model,
                                                     const integrate::Recording& recording,
                                                     std::shared_ptr<integrate::Dynamics> of_run) {
    if (of_run == nullptr)
        return std::make_shared<integrate::Dynamics>(model, recording.compliant, recording.stiffness);
    of_run->reset();
    return of_run;
}

}  // namespace

Tangent::Tangent(const model::Mechanics& model, const integrate::Recording& recording,
                 const std::vector<Variable>& variables, std::shared_ptr<integrate::Dynamics> of_run)
    : equations_(ready_equations(model, recording, std::move(of_run))),
      dynamics(*equations_),
      parameters_(parameters_of(variables)),
      linearised(dynamics, parameters_),
      impact_memory(std::make_unique<ImpactMemory>()),
      rest_memory(std::make_unique<RestMemory>()) {}

Tangent::~Tangent() = default;

std::vector<int> Tangent::parameters_of(const std::vector<Variable>& variables) {
    std::vector<int> list;
    for (const Variable& v : variables)
        if (v.kind == Variable::Kind::parameter) list.push_back(v.index);
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
}

int Tangent::column_of(const Variable& v) const {
    switch (v.kind) {
        case Variable::Kind::position: return 1 + v.index;
        case Variable::Kind::velocity: return 1 + n() + v.index;
        case Variable::Kind::parameter: break;
    }
    const auto at = std::lower_bound(parameters_.begin(), parameters_.end(), v.index);
    return 1 + 2 * n() + static_cast<int>(at - parameters_.begin());
}

Eigen::RowVectorXd Tangent::columns_of(const Vector& all) const {
    Eigen::RowVectorXd out(columns());
    out.head(1 + 2 * n()) = all.head(1 + 2 * n()).transpose();
    for (int k = 0; k < parameters(); ++k)
        out(1 + 2 * n() + k) = all(1 + 2 * n() + parameters_[static_cast<std::size_t>(k)]);
    return out;
}

bool Tangent::velocity_field(double t, const double* x, Vector& f) {
    if (!dynamics.evaluate(t, x)) return false;
    f.resize(2 * n());
    std::copy_n(x + n(), n(), f.data());
    std::copy_n(dynamics.acceleration().begin(), n(), f.data() + n());
    return f.allFinite();
}

Matrix Tangent::state_identity() const {
    Matrix I;
    set_state_identity(I);
    return I;
}

void Tangent::set_state_identity(Matrix& out) const {
    out.setZero(2 * n(), columns());
    for (Eigen::Index i = 0; i < out.rows(); ++i) out(i, 1 + i) = 1.0;
}

}  // namespace saltus::sensitivity
