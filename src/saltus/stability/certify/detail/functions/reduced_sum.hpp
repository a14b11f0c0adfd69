// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "saltus/expr/graph.hpp"

namespace saltus::stability {

/// The same function as a sum of products in which equal factors of numerators and denominators and opposite terms are
/// left out. Products of sums are multiplied out. A factor of a denominator is cancelled only if `nonzero` says that it
/// is not 0. An expression with many terms is returned as it is.
///
/// The graph itself keeps x/x and x − x, because x may be undefined; the result is equal wherever `e` is defined.
expr::Expr reduced_sum(expr::Graph& graph, expr::Expr e, const std::function<bool(expr::Expr)>& nonzero);

}  // namespace saltus::stability
