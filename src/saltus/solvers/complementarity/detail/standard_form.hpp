// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace saltus::solvers {

/// w = M z + q, lower <= z <= upper, −w ∈ N_[lower, upper](z); M is column-major with n columns and n + extra rows.
/// Without the pointers the bounds are 0 and infinite. An unknown with two infinite bounds is free and its row an
/// equation, w = 0. Extra rows are equations as well: with them the equations come first, the free unknowns come first,
/// and the row of any other unknown j is j + extra.
struct BoxView {
    int n = 0;
    const double* M = nullptr;
    const double* q = nullptr;
    const double* lower = nullptr;
    const double* upper = nullptr;
    int extra = 0;

    int rows() const { return n + extra; }
};

/// A problem without free unknowns, extra rows and lower bounds other than 0 that has the solutions of a given one, in
/// memory of the caller: z = lower + y, or upper − y where only that is finite; unknowns without room are constants;
/// free ones are eliminated. Where the equations alone do not determine these, some complementary pairs (w, z) change
/// roles.
class StandardForm {
public:
    static constexpr std::size_t numbers(std::size_t n, std::size_t extra) {
        return (n + extra + 3) * (n + 2) + n * (n + 3);
    }
    static constexpr std::size_t integers(std::size_t n, std::size_t extra) { return 6 * n + extra; }

    /// False when the free unknowns cannot be eliminated. A problem that is in the form already is not copied and must
    /// outlive this. Equations that contradict each other are not noticed.
    bool reduce(const BoxView& problem, double* numbers, int* integers);

    const BoxView& box() const { return reduced_; }
    void expand(const double* y, double* z) const;

private:
    enum class Way { none, shifted, eliminated, exchanged };

    Way way_of(const BoxView& p);
    void shift(double* q, double* upper) const;
    void set_order(int* order);
    void fill(const double* q, double* A, int row_stride, int column_stride) const;
    bool eliminate_free(const double* q, const double* upper, double* rows);
    bool exchange_free(const double* q, const double* upper, double* T, int* integers);
    bool exchange_pairs(double nothing);
    void swap(int r, int c);

    double origin(int i) const;     ///< where an unknown starts,
    double direction(int i) const;  ///< and where it may move from there
    bool is_free(int i) const;

    BoxView problem_, reduced_;
    Way way_ = Way::none;
    int free_ = 0, kept_ = 0;  // unknowns that are eliminated, and with them all that are not constants
    bool turned_ = false;      // some direction is −1
    int* order_ = nullptr;     // of unknowns: free, complementary, constants
    int* row_ = nullptr;       // of the problem: equations, those of the complementary unknowns
    double* rows_ = nullptr;   // eliminated: [U C a; 0 S s] by rows, U z_free + C y + a = 0
    double* T_ = nullptr;      // exchanged: basic = T · nonbasic, the last column the right side, by columns
    int *basic_ = nullptr, *nonbasic_ = nullptr;  // unknowns of its rows and columns: w, z are 0 …, kept …
    int* where_ = nullptr;                        // of each unknown: its column, or −1 − row
};

}  // namespace saltus::solvers
