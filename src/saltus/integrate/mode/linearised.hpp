// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "saltus/integrate/mode/dynamics.hpp"
#include "saltus/model/jacobians.hpp"

namespace saltus::integrate {

/// Exact derivatives of the accelerations and reactions of a Dynamics in its mode, with respect to t, q, u and
/// parameters of the model. It differentiates
///     M u̇ = h + F λ,   A u̇ + ζ = 0
/// with F and A as in Dynamics. The forces of slip and of springs depend on the state. Let
///     R = h + Fλ − M u̇,   C = M⁻¹F,   K = A C,
/// and let δR and δ(A u̇ + ζ) be the changes of these expressions with u̇ and λ fixed. The changes of both equations are
///     M δu̇ = δR + F δλ,   A δu̇ + δ(A u̇ + ζ) = 0.
/// The first one gives δu̇ = M⁻¹ δR + C δλ. Inserted into the second one, it gives δλ, and this gives δu̇:
///     δλ = −K⁻¹ (A M⁻¹ δR + δ(A u̇ + ζ)),   δu̇ = (I − C K⁻¹A) M⁻¹ δR − C K⁻¹ δ(A u̇ + ζ).
class Linearised {
public:
    /// Derivatives with respect to t, q, u and all parameters, or with respect to t, q, u and the parameters with the
    /// given numbers. Keeps a reference to the dynamics.
    explicit Linearised(Dynamics& dynamics);
    Linearised(Dynamics& dynamics, std::vector<int> parameters);

    /// Whether the system gives derivatives. They are compiled at the first call.
    bool available();
    int columns() const { return columns_; }  ///< 1 + 2n + parameters, in the order t, q, u, p

    /// Derivatives at a state, as matrices. False if the motion itself cannot be evaluated there. Also evaluates the
    /// dynamics.
    bool evaluate(double t, const double* x);

    const Matrix& acceleration() const { return acceleration_; }  ///< ∂u̇, n × columns
    const Matrix& reactions() const { return reactions_; }        ///< ∂λ, rows of the model × columns

    /// Prepares the same ∂u̇ as a linear map, without its matrix, for sparse systems of many coordinates. False if
    /// the motion cannot be evaluated there.
    bool prepare(double t, const double* x);
    /// After prepare: which of the first `count` columns of ∂u̇ can be different from zero.
    void touched(int count, std::vector<char>& columns);
    /// After prepare: rates = ∂u̇ · directions; `directions` has one direction per row (k × columns), `rates` one
    /// acceleration per row (k × n).
    void along(const Matrix& directions, Matrix& rates);
    /// After `along` with the same directions: rates = ∂λ · directions, k × rows of the model.
    void reactions_along(const Matrix& directions, Matrix& rates);
    /// After prepare: gradient = ∂u̇ᵀ · y; `y` has n components, `gradient` all columns.
    void against(const Vector& y, Vector& gradient);

    class Kept;
    /// After prepare: copies the linear map into `out`, so that it can be used after the next `prepare`.
    void keep(Kept& out);
    /// The same as `along`, with a map that was kept.
    void along(const Kept& map, const Matrix& directions, Matrix& rates);

    // --- the parts of ∂u̇ as sparse matrices, for implicit steps (mode/sparse_stages.hpp) ---

    /// A force that follows the state (of a spring or of slip): the row that it acts on, and its derivative.
    struct Following {
        int row;
        Eigen::RowVectorXd change;
    };
    /// After available(): the pattern of ∂R without the forces that follow the state.
    const model::Pattern& residual_pattern() const { return jacobians_->pattern(model::Function::residual); }
    /// After prepare: its values.
    std::span<const double> residual_values() { return residual().values; }
    /// After prepare: the forces that follow the state.
    const std::vector<Following>& following() const { return following_; }
    /// After prepare: the derivatives of A u̇ + ζ by q and by u in one row, added to `by_q` and `by_u`.
    void acceleration_row(int row, std::span<double> by_q, std::span<double> by_u) const;
    /// After available(): the number of forces that may follow the state in the mode of the dynamics.
    std::size_t following_rows() const;
    /// After available(): the number of entries of a full matrix (rows of the model × columns) that `prepare` fills if
    /// there are such forces, otherwise 0. The caller can refuse a model for which this is too much memory.
    double gathered_numbers() const;

    /// Derivative of one function of the system as a full matrix, rows × columns; a and λ as in model::Jacobians.
    void gather(model::Function f, double t, const double* x, std::span<const double> a, std::span<const double> lambda,
                Matrix& out);

    /// ∂(Wλ − M a) by t, q, u and the parameters, with a and λ fixed: what the loads add to the derivative of the
    /// residual h + Wλ − M a. A full matrix, n × columns.
    void gather_loads(double t, const double* x, std::span<const double> a, std::span<const double> lambda,
                      Matrix& out);
    /// Whether a component of a function may depend on t, q, u or a parameter. Otherwise its row is zero.
    bool varies(model::Function f, int row);

    /// Quantities that expressions of the model compare, at whose zeros they jump or have a kink (model::Jacobians):
    /// their number, whether all of them are known, their values and derivatives.
    int switches() { return available() ? jacobians_->switches() : 0; }
    bool all_switches() { return available() && jacobians_->all_switches(); }
    void switches(double t, const double* x, std::span<double> values);
    void switch_derivatives(double t, const double* x, Matrix& out);

private:
    /// What the forces that follow the state depend on, in the mode of the dynamics.
    struct Follows {
        bool springs = false;  // some contact is a spring
        bool slips = false;    // some friction slips
        bool turns = false;    // some friction slips in a plane, so that its direction can turn
        bool varies = false;   // some coefficient (μ, a radius) is not constant
        bool any() const { return springs || turns || (slips && varies); }
    };
    Follows follows() const;
    void collect_following();
    struct Sparse {
        const model::Pattern* pattern = nullptr;
        std::vector<double> values;
    };
    template <class Use>
    void each_friction_of(int equation, const Use& use) const;
    void fetch(model::Function f, Sparse& out);
    const Sparse& residual();
    model::At held() const;
    /// What δu̇ is computed from, once the derivatives are evaluated.
    struct Parts {
        const Sparse& residual;
        const Sparse& curvature;
        const std::vector<Following>& following;
        std::span<const double> W;  // in the order of the model's rows
        const model::MassFactor& mass;
        Eigen::Map<const Matrix> columns;  // M⁻¹F
        const Matrix& inverse;             // K⁻¹
    };
    enum class WithResidual { no, yes };
    void complete_along(const Parts& parts, WithResidual with_residual, const Matrix& directions, Matrix& rates);

    Dynamics& d_;
    const std::vector<int> parameters_;
    std::vector<Following> following_;
    double held_t_ = 0.0;
    std::vector<double> held_x_, held_acceleration_, held_reactions_;
    bool residual_fetched_ = false;
    Sparse sparse_residual_, sparse_curvature_;
    Matrix inverse_, multipliers_, right_;
    std::unique_ptr<model::Jacobians> jacobians_;
    bool made_ = false;
    int columns_ = 0;
    std::vector<double> values_;
    std::vector<double> unloaded_;  // values of the residual without loads
    Matrix residual_, velocity_, position_, curvature_, coefficient_;
    Matrix acceleration_, reactions_;
};

/// ∂u̇ at one state, with all that it is computed from. The dynamics must keep its mode.
class Linearised::Kept {
private:
    friend class Linearised;
    Sparse residual_, curvature_;
    std::vector<Following> following_;
    std::vector<double> W_;
    std::optional<model::MassFactor> mass_;  // empty if the mass matrix is constant
    Matrix columns_, inverse_;
};

}  // namespace saltus::integrate
