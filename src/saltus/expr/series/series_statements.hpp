// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "saltus/expr/series/series_tape.hpp"

namespace saltus::expr {

/// What a kernel wants of an output of a SeriesTape.
struct SeriesWish {
    enum class Kind : std::uint8_t {
        value,   ///< the coefficient of order 0 alone
        order,   ///< the coefficient of each order, at the time when the order is evaluated
        history  ///< the same, and all coefficients stay in memory
    };
    Kind kind = Kind::value;
    /// The output is wanted if (need & group) != 0. Statements that serve only unwanted groups are skipped.
    std::uint32_t group = ~std::uint32_t{0};
};

/// The recurrences of a SeriesTape as statements in the common subset of C++ and OpenCL C, to be parts of three
/// functions. Parameters are constants, unless they are varied. All statements use these names:
///     double* s          coefficients: order j of row r at s[r*stride + j]; order 0 to k of the variables is known
///     double* c          numbers that do not change with the order
///     int* pick          the branches of min, max and `if`
///     const int* fixed   of each switch: a side that is given, or 0
///     int* side          of each switch: the side in use, +1 or −1 (0: see SeriesWorkspace::side)
///     int k              the order, in `orders`
///     int need           the groups that are wanted, in `orders` and `bounds`
///     double R           the radius of the disk, in `bounds`
/// The arithmetic is that of SeriesWorkspace<double>; sums are added in another order.
struct SeriesStatements {
    std::string why;  ///< why there are no statements; otherwise empty
    int rows = 0, numbers = 0, picks = 0;
    std::vector<int> variables;  ///< row of each variable; −1 for the time if no row has to be kept for it
    struct Output {
        bool constant = false;  ///< does not depend on time and state: `first` is valid in all functions
        bool known = false;     ///< and does not depend on parameters that are not fixed: a number
        double value = 0.0;     ///< if it is known
        std::string first;      ///< order 0, behind the statements `values`
        std::string next;       ///< order k, behind the statements `orders`; "0.0" for values alone
        std::string radius;     ///< of the disk bounds, behind the statements `bounds`
        int row = -1;           ///< row of its coefficients; −1: they are not kept
    };
    std::vector<Output> outputs;
    struct Switch {
        int row;     ///< of the switching function
        bool jumps;  ///< a value may jump there, see SeriesTape::switch_jumps
        std::string radius;
    };
    std::vector<Switch> switches;  ///< those that outputs of order k depend on, by the numbers that `side` has
    std::string values;            ///< order 0
    std::string orders;            ///< order k >= 1
    std::string bounds;            ///< radii on the disk |τ| <= R; `variable_radius` names those of the variables
};

/// `variable_radius` are texts of the radii of the variables; that of the time is not read. `varied` has a text for
/// each parameter that is not fixed, and an empty text for the others; empty: all are fixed.
SeriesStatements statements_of(const SeriesTape& tape, std::span<const double> parameters, int stride,
                               std::span<const SeriesWish> wishes, std::span<const std::string> variable_radius,
                               std::span<const std::string> varied = {});

/// The functions that the statements call. `SALTUS_FUNCTION` begins a declaration of a function in the kernel.
const char* series_functions();
const char* series_bound_functions();

}  // namespace saltus::expr
