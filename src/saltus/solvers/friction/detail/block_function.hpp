// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/solvers/friction/detail/shape.hpp"

namespace saltus::solvers {

/// The Alart–Curnier function F(r, v) of one block. Its zeros are exactly the pairs (r, v) that satisfy the law of the
/// block. With y_N = r_N − ρ_N v_N and y_T = r_T − ρ_T v_T
///     F_N = r_N − max(0, y_N),   F_T = r_T − P_{max(0, y_N) C}(y_T),
/// where C is the set of friction forces of r_N = 1: disks, or the body of a patch. F is piecewise smooth; its pieces
/// are open (F = r), stick (F = ρ v) and slip.
struct BlockFunction {
    const Law& law;
    const Shape& shape;
    int size;           ///< rows of the block
    const double* rho;  ///< step ρ > 0 of each row, the same for all rows of a part; for a patch see `patch_unit`
    double bound;       ///< radius of a slider, in the unit of r
    double sign;        ///< sign of the reaction that scales a scaled slider

    /// The derivative δF = C δv + E δr + tied δr_row. C and E are size × size, row-major. `tied` has one number per
    /// row: the derivative with respect to the reaction that scales a scaled slider. All three must be zero on entry.
    struct Derivative {
        double *C = nullptr, *E = nullptr, *tied = nullptr;
    };

    /// Computes F and, if derivative.C is given, its derivative. Returns true if the block is open.
    bool evaluate(const double* r, const double* v, double* F, const Derivative& derivative) const;

private:
    void evaluate_part(const Shape::Part& part, double y_n, const double* r, const double* v, double* F,
                       const Derivative& derivative) const;
    void evaluate_patch(double y_n, const double* r, const double* v, double* F, const Derivative& derivative) const;
};

/// Unit of length for the moment of a patch. Moments are measured in force × radius, so that one ρ suits all its rows.
inline double patch_unit(const Law& law) { return law.radius > 0.0 ? law.radius : 1.0; }

/// Sets ρ of all rows of a block. Each part gets 1/(mean diagonal element of its rows), from the diagonal block D of W
/// (row-major). If D is null or that mean is not positive, then 1/`default_diagonal`.
void set_steps(const Law& law, const Shape& shape, int size, const double* D, double default_diagonal, double* rho);

}  // namespace saltus::solvers
