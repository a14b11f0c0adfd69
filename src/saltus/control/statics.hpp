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

/// The contact law: rigid (λ >= 0, g_N >= 0, λ g_N = 0) or springs (λ = k · depth, depth = max(0, −g_N)).
enum class ContactModel { rigid, springs };

/// The reason why the equilibria of a model are not the isolated points of [Tornambe] (27) or (48), for example
/// friction or a time-dependent force; "" if they are.
std::string statics_refusal(const model::Mechanics& model, ContactModel contacts);

/// A model at rest: the forces h(q, 0), the values of constraints and gaps, and their exact derivatives. Both contact
/// models are one complementarity condition
///     0 <= λ  ⊥  g_N + λ/k >= 0:
/// with springs it gives λ = k · max(0, −g_N), with the compliance 1/k = 0 the rigid contact.
class Statics {
public:
    /// The model must have no statics_refusal and must outlive this object. `stiffness` is a factor on all k.
    Statics(const model::Mechanics& model, ContactModel contacts, double stiffness = 1.0);

    /// Whether `stiffness` and `parameter_column` are available.
    bool differentiable() const { return jacobians_ != nullptr; }
    const model::Mechanics& model() const { return model_; }
    int size() const { return n_; }  ///< number of coordinates
    int constraints() const { return constraints_; }
    int rows() const { return rows_; }  ///< constraints, then contacts

    /// Evaluates the model at (q, 0). Must be called before the functions below.
    void at(std::span<const double> q);

    const Vector& force() const { return force_; }            ///< h(q, 0)
    const Matrix& mass() const { return mass_; }              ///< M(q)
    const Vector& positions() const { return positions_; }    ///< g, then g_N
    const Matrix& gradients() const { return gradients_; }    ///< ∂(g, g_N)/∂q, rows × n
    const Vector& compliance() const { return compliance_; }  ///< 1/k of each row; 0 for constraints and rigid contacts
    double potential();                                       ///< U(q) plus the energy ½ k depth² of the springs
    Matrix stiffness(const Vector& lambda);  ///< K = −∂(h + Gᵀν + Wλ)/∂q at constant λ, n × n

    struct ParameterColumn {
        Vector force;     ///< ∂(h + Gᵀν + Wλ)/∂p
        Vector position;  ///< ∂(g + λ/k)/∂p
    };
    /// The derivatives by one independent parameter, whose column among the parameters is given.
    ParameterColumn parameter_column(const Vector& lambda, int column);

private:
    /// A Jacobian of the system at the present position, columns [t, q, u, p].
    Matrix jacobian(model::Function f, std::span<const double> lambda);

    const model::Mechanics& model_;
    ContactModel contacts_;
    double factor_;  ///< factor on the stiffness k of all contacts
    int n_, constraints_, rows_;
    model::Workspace workspace_;
    model::Terms terms_;
    std::unique_ptr<model::Jacobians> jacobians_;
    std::vector<double> q_, rest_, coefficients_, values_;
    Vector force_, positions_, compliance_;
    Matrix mass_, gradients_;
};

/// Extreme eigenvalues of K v = κ M v, for the symmetric part of K and a positive definite M. κ = ω² of the vibration.
Spectrum vibrations(const Matrix& K, const Matrix& M);

/// An orthonormal basis of { x ∈ ℝⁿ : rows·x = 0 }, by columns. Singular values of at most `tolerance` times the
/// largest count as 0.
Matrix kernel(const Matrix& rows, Eigen::Index n, double tolerance = 1e-10);

}  // namespace saltus::control
