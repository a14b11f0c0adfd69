// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/solvers/friction/detail/shape.hpp"

namespace saltus::solvers {

/// The Alart–Curnier function of one block, whose zeros are the pairs r, v that satisfy its law. With
/// y_N = r_N − ρ_N v_N and y_T = r_T − ρ_T v_T
///     F_N = r_N − max(0, y_N),   F_T = r_T − P_{max(0, y_N) C}(y_T),
/// C the forces of r_N = 1: disks, or the body of a patch. Its pieces: open (F = r), stick (F = ρ v), slip.
struct BlockFunction {
    const Law& law;
    const Shape& shape;
    int size;
    const double* rho;  ///< one a row, the same for all rows of a part; of a patch see `patch_unit`
    double bound;       ///< of a slider
    double sign;        ///< of the reaction that scales a scaled slider

    /// The derivative: δF = C δv + E δr, both size × size; `tied`, one a row: by the reaction that scales a slider.
    /// They must be zero on entry.
    struct Derivative {
        double *C = nullptr, *E = nullptr, *tied = nullptr;
    };

    /// F of r and v; with `derivative.C` that too. True when the block is open.
    bool evaluate(const double* r, const double* v, double* F, const Derivative& derivative) const;

private:
    void evaluate_part(const Shape::Part& part, double y_n, const double* r, const double* v, double* F,
                       const Derivative& derivative) const;
    void evaluate_patch(double y_n, const double* r, const double* v, double* F, const Derivative& derivative) const;
};

/// Moments of a patch are measured in force × radius, so that one ρ suits all its rows.
inline double patch_unit(const Law& law) { return law.radius > 0.0 ? law.radius : 1.0; }

/// ρ of all rows of a block with the diagonal block D (row-major, may be null): for each part 1/mean of its diagonal,
/// or of `otherwise`.
void set_steps(const Law& law, const Shape& shape, int size, const double* D, double otherwise, double* rho);

}  // namespace saltus::solvers
