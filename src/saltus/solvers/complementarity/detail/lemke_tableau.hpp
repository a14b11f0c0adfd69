// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "saltus/solvers/complementarity/detail/guess.hpp"

namespace saltus::solvers {

/// The path of Lemke's method, in memory of the caller: along almost complementary bases of
///     w = M z + q + d z₀,   0 <= z <= upper,   z₀ >= 0,
/// each w_i >= 0 where z_i is 0, <= 0 where z_i is at its upper bound, 0 between, from a large z₀ to z₀ = 0. With d > 0
/// and finite bounds it always gets there; without, it may end on a ray.
///
/// Ties are broken lexicographically by the pair (q, p) with a p of no special direction, as if q were q + ε p: in
/// exact arithmetic no basis comes back. Differences that are nothing but rounding count as ties; a basis that comes
/// back all the same is seen.
class LemkeTableau {
public:
    /// How much memory n unknowns need.
    static constexpr std::size_t numbers(std::size_t n) { return (n + 3) * (n + 5); }
    static constexpr std::size_t integers(std::size_t n) { return 5 * n + 2; }

    struct Problem {
        int n = 0;
        const double* M = nullptr;  ///< column-major
        const double* q = nullptr;
        const double* upper = nullptr;     ///< none: all infinite
        const double* covering = nullptr;  ///< d; none: all ones
        double perturbation = 0.0;         ///< of the largest entry of q, added to it along p where ties led astray
    };
    /// M is scaled by powers of two to entries of about 1, so that tolerances mean something.
    LemkeTableau(const Problem& problem, double* numbers, int* integers);

    enum class End {
        solution,
        ray,    ///< nothing stops the unknown that enters
        cycle,  ///< a basis came back
        limit,
    };
    End run(int max_pivots);
    int pivots() const { return pivots_; }

    Place place(int i) const;  ///< of z_i at the end: between for basic ones

    void solution(double* z) const;  ///< z at the end
    void ray(double* y) const;       ///< how z moves along the ray that ended the method, where no z is at upper

private:
    struct Step {
        int row = -1;  ///< the basic unknown that stops; -1: none
        bool at_upper = false;
        double length = 0.0;
    };

    double* column(int c) const { return T_ + static_cast<std::ptrdiff_t>(c) * stride_; }
    bool is_z(int variable) const { return variable >= n_ && variable < 2 * n_; }
    int first_row() const;
    Step longest_step(int column) const;
    void turn_column(int c);
    void turn(int i);
    void pivot(int r, int c);

    int n_, stride_;
    bool bounded_;
    double* T_;             // basic = T · nonbasic + right side, by columns
    double *right_, *tie_;  // columns n + 1 and n + 2: the right side, and its derivative along p
    double *scale_, *upper_;
    int *basic_, *nonbasic_;  // unknowns of the rows and columns: w, z, z₀ are 0 …, n …, 2n
    int* where_;              // of each unknown: its column, or −1 − row
    int* turned_;             // whether upper − z and −w stand for z and w
    double q_scale_ = 1.0;
    int ray_ = 0, pivots_ = 0;  // ray_: the column
    std::uint64_t basis_ = 0;   // a fingerprint
};

}  // namespace saltus::solvers
