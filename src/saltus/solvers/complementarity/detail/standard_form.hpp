// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "saltus/solvers/complementarity/detail/bounded_form.hpp"

namespace saltus::solvers {

/// An equivalent problem in the unknowns y with 0 <= y <= upper, without free unknowns and extra rows. Memory is the
/// caller's. The substitution is z = lower + y, or z = upper − y if only the upper bound is finite. Unknowns with equal
/// bounds are constants. Free unknowns are eliminated by the equations. If the equations alone do not determine them,
/// some complementary pairs (w, z) exchange their roles.
class StandardForm {
public:
    /// Numbers and integers of memory that a problem needs.
    static constexpr std::size_t numbers(std::size_t n, std::size_t extra) {
        return (n + extra + 3) * (n + 2) + n * (n + 3);
    }
    static constexpr std::size_t integers(std::size_t n, std::size_t extra) { return 6 * n + extra; }

    /// Computes the equivalent problem; false if the free unknowns cannot be eliminated. A problem that is already in
    /// the form is not copied and must outlive this object. Contradictory equations are not noticed.
    bool reduce(const BoundedView& problem, double* numbers, int* integers);

    const BoundedView& reduced() const { return reduced_; }  ///< the problem in y; its `lower` is null
    /// z from a solution y of the reduced problem.
    void expand(const double* y, double* z) const;

private:
    /// What is done with the problem.
    enum class Way {
        none,        ///< the problem is in standard form already
        shifted,     ///< lower bounds are moved to 0
        eliminated,  ///< directions turned, constants removed, free unknowns eliminated by Gauss elimination
        exchanged,   ///< as `eliminated`, but by exchanges in a tableau: the equations alone are singular in the free
                     ///< unknowns
    };

    Way way_of(const BoundedView& p);
    void shift(double* q, double* upper) const;
    void set_order(int* order);
    void fill(const double* q, double* A, int row_stride, int column_stride) const;
    bool eliminate_free(const double* q, const double* upper, double* rows);
    bool exchange_free(const double* q, const double* upper, double* T, int* integers);
    void exchange_with_equations(double smallest_pivot);
    bool exchange_pairs(double smallest_pivot);
    void read_reduced(const double* upper);
    void swap(int r, int c);
    void expand_eliminated(const double* y, double* z) const;
    void expand_exchanged(const double* y, double* z) const;
    void put(int a, double value, double* z) const;

    double origin(int i) const;     // the finite bound from which y_i counts
    double direction(int i) const;  // +1: z = origin + y; −1: z = origin − y
    bool is_free(int i) const;

    BoundedView problem_, reduced_;
    Way way_ = Way::none;
    int free_ = 0;            // number of free unknowns
    int kept_ = 0;            // number of unknowns that are not constants, free ones included
    bool turned_ = false;     // some direction is −1
    int* order_ = nullptr;    // unknowns in the order: free, complementary, constant
    int* row_ = nullptr;      // rows in the order: equations, rows of the complementary unknowns
    double* rows_ = nullptr;  // eliminated: [U C a; 0 S s] by rows, meaning U z_free + C y + a = 0 and w = S y + s
    double* T_ = nullptr;     // exchanged: basic = T · nonbasic, the last column is the right-hand side; by columns
    int *basic_ = nullptr, *nonbasic_ = nullptr;  // unknowns of its rows and columns; w is 0 …, z is kept …
    int* where_ = nullptr;                        // of each unknown: its column, or −1 − row if it is basic
};

}  // namespace saltus::solvers
