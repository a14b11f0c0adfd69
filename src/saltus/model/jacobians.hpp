// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "saltus/model/system.hpp"

namespace saltus::model {

/// The vector functions whose derivatives a system can give. Columns of a Jacobian are [t, q..., u..., p...].
enum class Function {
    residual,      ///< h + Σ W λ − M a, with the acceleration a and the forces λ (one per row) held fixed
    position,      ///< constraint functions and gaps
    velocity,      ///< γ = Wᵀu + χ of all rows
    acceleration,  ///< Wᵀa + ζ of all rows, with a held fixed
    coefficient,   ///< μ, e, F_N and so on, in the order of System::coefficients
};
inline constexpr std::size_t function_count = 5;

/// Exact Jacobians of one system, together with the scratch memory to evaluate them. Each thread needs its own.
class Jacobians {
public:
    virtual ~Jacobians() = default;

    /// Positions of the entries that may be nonzero. It never changes.
    virtual const Pattern& pattern(Function f) const = 0;

    /// Writes the entries in the order of the pattern. `residual` reads `a` and `lambda`, `acceleration` reads `a`; for
    /// the other functions both may be empty.
    virtual void evaluate(Function f, const At& at, std::span<const double> a, std::span<const double> lambda,
                          std::span<double> values) = 0;

    /// Adds the derivatives of the residual along several directions to `out`, without forming the matrix. Row i of
    /// `directions` is one direction over all columns, row i of `out` its derivative. Returns false and leaves `out`
    /// unchanged if the system has no faster way than the matrix.
    virtual bool residual_along(const At&, std::span<const double> /*a*/, std::span<const double> /*lambda*/,
                                const Matrix& /*directions*/, Matrix& /*out*/) {
        return false;
    }

    // Switching functions s(t,q,u): an expression of the system jumps or has a kink only if one of them is zero. They
    // are the arguments of sign and abs and the differences that min, max and the conditions of `if` compare.
    virtual int switches() const { return 0; }           ///< how many are known
    virtual bool all_switches() const { return false; }  ///< whether the known ones are all there are
    virtual void switches(const At&, std::span<double> /*values*/) {}
    /// Derivatives of the switching functions: one row for each function, all columns.
    virtual void switch_derivatives(const At&, Matrix& /*out*/) {}
};

/// The numbers 0, 1, …, count − 1: the argument of System::jacobians_by that selects every parameter.
std::vector<int> all_parameters(std::size_t count);

}  // namespace saltus::model
