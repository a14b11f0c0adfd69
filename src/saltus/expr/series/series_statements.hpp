// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "saltus/expr/series/series_tape.hpp"

namespace saltus::expr {

/// Which coefficients of an output of a SeriesTape a kernel uses.
struct SeriesWish {
    enum class Kind : std::uint8_t {
        value,   ///< the coefficient of order 0 alone
        order,   ///< the coefficient of each order, at the time when the order is evaluated
        history  ///< as `order`, and the coefficients of all orders stay in memory (Output::row)
    };
    Kind kind = Kind::value;
    /// A bit mask. The caller gives the kernel a mask `need`; the output is computed if (need & group) != 0. Statements
    /// that serve only outputs that are not needed are skipped at run time.
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
    std::string why;             ///< why there are no statements; otherwise empty
    int rows = 0;                ///< number of rows in s; s has rows · stride numbers
    int numbers = 0;             ///< number of entries of c
    int picks = 0;               ///< number of entries of `pick`
    std::vector<int> variables;  ///< row of each variable; −1 for the time if no row has to be kept for it
    struct Output {
        bool constant = false;  ///< does not depend on time and state: `first` is valid in all functions
        bool known = false;     ///< constant, and does not depend on varied parameters either: it is one number
        double value = 0.0;     ///< this number if `known`
        std::string first;      ///< expression of the coefficient of order 0, valid behind the statements `values`
        std::string next;       ///< that of order k, valid behind the statements `orders`; "0.0" for Kind::value
        std::string radius;     ///< that of the radius ρ, |f(τ) − f_0| <= ρ on the disk, valid behind `bounds`
        int row = -1;           ///< row of its coefficients in s; −1: they are not kept
    };
    std::vector<Output> outputs;
    struct Switch {
        int row;             ///< row of the coefficients of the switching function in s
        bool jumps;          ///< a value may jump where the function is 0, see SeriesTape::switch_jumps
        std::string radius;  ///< expression of its radius, as for outputs
    };
    std::vector<Switch> switches;  ///< those that outputs of order k depend on; index as in `side` and `fixed`
    std::string values;            ///< statements for order 0
    std::string orders;            ///< statements for order k >= 1
    std::string bounds;            ///< statements for the radii on the complex disk |τ| <= R (SeriesWorkspace::bounds)
};

/// Writes the statements. `parameters` are the values of the fixed parameters, `stride` the distance of two rows in s.
/// `wishes` has one entry per output. `variable_radius` has one expression per variable, of a bound of |x(τ) − x_0| on
/// the disk; that of the time is not read. `varied` has an expression for each parameter that is not fixed, and an
/// empty text for the others; an empty list: all parameters are fixed.
SeriesStatements statements_of(const SeriesTape& tape, std::span<const double> parameters, int stride,
                               std::span<const SeriesWish> wishes, std::span<const std::string> variable_radius,
                               std::span<const std::string> varied = {});

/// The functions that the statements call. `SALTUS_FUNCTION` begins a declaration of a function in the kernel.
const char* series_functions();
const char* series_bound_functions();

}  // namespace saltus::expr
