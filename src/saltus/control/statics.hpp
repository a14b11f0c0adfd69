// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/model/jacobians.hpp"

namespace saltus::control {

/// How contacts push: not at all through each other, or as springs k·depth.
enum class ContactModel { rigid, springs };

/// Why the equilibria of a model are not the points of [Tornambe] (27): friction, a force that depends on the time, …;
/// "" where they are.
std::string statics_refusal(const model::Model& model, ContactModel contacts);

/// A model at rest: forces h(q, 0), positions of constraints and contacts, and their exact derivatives. With springs a
/// contact obeys
///     0 <= λ  ⊥  gN + λ/k >= 0,
/// which is λ = k·depth; rigid contacts are the same with 1/k = 0.
class Statics {
public:
    /// Only for models without refusal.
    Statics(const model::Model& model, ContactModel contacts, double stiffness = 1.0);

    bool differentiable() const { return jacobians_ != nullptr; }  ///< otherwise only values are there
    const model::Model& model() const { return model_; }
    int size() const { return n_; }
    int constraints() const { return constraints_; }
    int rows() const { return rows_; }  ///< constraints, then contacts

    void at(std::span<const double> q);  ///< everything below is at this position

    const Vector& force() const { return force_; }  ///< h(q, 0)
    const Matrix& mass() const { return mass_; }
    const Vector& positions() const { return positions_; }
    const Matrix& gradients() const { return gradients_; }    ///< rows × n
    const Vector& compliance() const { return compliance_; }  ///< 1/k of each row, 0 where rigid
    double potential();                                       ///< U, with the energy of the springs
    Matrix stiffness(const Vector& lambda);                   ///< −∂(h + Σ wλ)/∂q

    /// ∂(h + Σ wλ)/∂p and ∂(g + λ/k)/∂p of one independent parameter.
    struct ParameterColumn {
        Vector force, position;
    };
    ParameterColumn parameter_column(const Vector& lambda, int column);

private:
    Matrix jacobian(model::Function f, std::span<const double> lambda);

    const model::Model& model_;
    ContactModel contacts_;
    double factor_;
    int n_, constraints_, rows_;
    model::Workspace workspace_;
    model::Terms terms_;
    std::unique_ptr<model::Jacobians> jacobians_;
    std::vector<double> q_, rest_, coefficients_, values_;
    Vector force_, positions_, compliance_;
    Matrix mass_, gradients_;
};

/// Extreme eigenvalues of K v = κ M v, for the symmetric part of K and a positive definite M.
Spectrum vibrations(const Matrix& K, const Matrix& M);

/// Orthonormal columns that span { x ∈ ℝⁿ : rows·x = 0 }; rows that depend on others up to `tolerance` are nothing.
Matrix kernel(const Matrix& rows, Eigen::Index n, double tolerance = 1e-10);

}  // namespace saltus::control
