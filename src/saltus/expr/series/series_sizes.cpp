// SPDX-License-Identifier: Apache-2.0
#include "saltus/expr/series/series_sizes.hpp"

#include <cstring>

#include "saltus/expr/series/detail/wide_registers.hpp"

namespace saltus::expr {

namespace {

namespace narrow_sizes {
#define SALTUS_SERIES_BYTES 16
#include "saltus/expr/series/detail/series_lanes.inc"
#include "saltus/expr/series/detail/series_sizes.inc"
#undef SALTUS_SERIES_BYTES
}  // namespace narrow_sizes

#if SALTUS_SERIES_WIDE
#pragma GCC push_options
#pragma GCC target("avx2")
namespace wide_sizes {
#define SALTUS_SERIES_BYTES 32
#include "saltus/expr/series/detail/series_lanes.inc"
#include "saltus/expr/series/detail/series_sizes.inc"
#undef SALTUS_SERIES_BYTES
}  // namespace wide_sizes
#pragma GCC pop_options
/// The variant of a function for the registers of this processor.
#define SALTUS_WIDEST(function) (has_wide_registers ? wide_sizes::function : narrow_sizes::function)
#else
#define SALTUS_WIDEST(function) narrow_sizes::function
#endif

}  // namespace

double term_sizes(const double* c, int last, const double* power, double* size) {
    return SALTUS_WIDEST(term_sizes)(c, last, power, size);
}

double term_sums(const double* c, int last, const double* power, double* sum) {
    return SALTUS_WIDEST(term_sums)(c, last, power, sum);
}

double product_tail(const double* size, int last_a, const double* sum, int last_b, int N) {
    return SALTUS_WIDEST(product_tail)(size, last_a, sum, last_b, N);
}

void add_products(std::span<const SeriesProduct> products, const double* unknowns, std::size_t stride, int from,
                  int until, int first, double* sums) {
    const auto add = SALTUS_WIDEST(add_products);
    add(products.data(), products.data() + products.size(), unknowns, stride, from, until, first, sums);
}

}  // namespace saltus::expr
