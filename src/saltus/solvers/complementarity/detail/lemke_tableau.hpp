// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "saltus/solvers/complementarity/detail/guess.hpp"

namespace saltus::solvers {

/// Lemke's method in memory of the caller. It adds an artificial unknown z₀ with a covering vector d,
///     w = M z + q + d z₀,   0 <= z <= upper,   z₀ >= 0,
/// and follows almost complementary bases, from a large z₀ to z₀ = 0. On the way w_i >= 0 if z_i = 0, w_i <= 0 if z_i
/// is at its upper bound, and w_i = 0 between. With d > 0 and finite bounds the path always reaches z₀ = 0; otherwise
/// it may end on a ray.
///
/// Ties are broken lexicographically by the pair (q, p), with a vector p in general position, as if q were q + ε p with
/// an infinitesimal ε. In exact arithmetic no basis repeats. Differences that are only rounding count as ties. A basis
/// that repeats because of rounding is detected.
class LemkeTableau {
public:
    /// Numbers and integers of memory that n unknowns need.
    static constexpr std::size_t numbers(std::size_t n) { return (n + 3) * (n + 5); }
    static constexpr std::size_t integers(std::size_t n) { return 5 * n + 2; }

    struct Problem {
        int n = 0;
        const double* M = nullptr;  ///< column-major
        const double* q = nullptr;
        const double* upper = nullptr;     ///< null: all bounds are infinite
        const double* covering = nullptr;  ///< d; null: all ones
        double perturbation = 0.0;         ///< added to q along p, relative to the largest |q_i|
    };
    /// Copies the problem into the tableau. M is scaled by powers of two to entries of about 1, so that the tolerances
    /// are relative.
    LemkeTableau(const Problem& problem, double* numbers, int* integers);

    enum class End {
        solution,  ///< z₀ has left the basis
        ray,       ///< nothing bounds the entering unknown
        cycle,     ///< a basis repeated
        limit,     ///< max_pivots is used up
    };
    End run(int max_pivots);
    int pivots() const { return pivots_; }

    Place place(int i) const;  ///< where z_i is at the end; basic unknowns are `between`

    void solution(double* z) const;  ///< z at the end
    void ray(double* y) const;       ///< direction of z along the final ray; only valid if no z is at its upper bound

private:
    struct Step {
        int row = -1;  ///< row of the basic unknown that blocks; -1: the entering unknown reaches its own bound
        bool at_upper = false;  ///< the blocking unknown reaches its upper bound
        double length = 0.0;    ///< increase of the entering unknown
    };

    double* column(int c) const { return T_ + static_cast<std::ptrdiff_t>(c) * stride_; }
    bool is_z(int variable) const { return variable >= n_ && variable < 2 * n_; }
    int first_row() const;
    Step longest_step(int column) const;
    void turn_column(int c);
    void turn(int i);
    void pivot(int r, int c);

    int n_, stride_;
    bool bounded_;            // some upper bound is finite
    double* T_;               // basic = T · nonbasic + right, by columns
    double *right_, *tie_;    // columns n + 1 and n + 2: the right-hand side, and its derivative along p
    double *scale_, *upper_;  // scale factors D of D M D; scaled upper bounds
    int *basic_, *nonbasic_;  // unknowns of the rows and columns; w is 0 … n−1, z is n … 2n−1, z₀ is 2n
    int* where_;              // of each unknown: its column, or −1 − row if it is basic
    int* turned_;             // 1: the tableau holds upper − z_i and −w_i in the place of z_i and w_i
    double q_scale_ = 1.0;
    int ray_ = 0;  // column of the final ray
    int pivots_ = 0;
    std::uint64_t basis_ = 0;  // fingerprint of the basis
};

}  // namespace saltus::solvers
