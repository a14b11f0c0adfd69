// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "saltus/expr/graph.hpp"

namespace saltus::expr {

/// A set of symbols that may be too large: the range of their indices in Graph::symbols, and a bit for each remainder
/// of the indices modulo 64.
struct SymbolSet {
    std::uint32_t first = UINT32_MAX, last = 0;  ///< first > last: empty
    std::uint64_t remainders = 0;

    void add(const SymbolSet& other) {
        first = other.first < first ? other.first : first;
        last = other.last > last ? other.last : last;
        remainders |= other.remainders;
    }
    /// False only if the sets have no symbol in common.
    bool may_meet(const SymbolSet& other) const {
        return first <= other.last && other.first <= last && (remainders & other.remainders) != 0;
    }
};

/// The symbols that each node of a graph depends on. They tell in constant time that an expression does not depend on a
/// symbol. Without them, the derivatives of one expression by each of n symbols cost n visits of the whole expression.
/// The object refers to the graph and follows its growth.
class SymbolSets {
public:
    explicit SymbolSets(const Graph& graph) : graph_(graph) {}
    /// Valid until the next call.
    const SymbolSet& of(Expr e) {
        if (e.id >= sets_.size()) extend();
        return sets_[e.id];
    }
    /// False only if `e` does not contain the symbol.
    bool may_depend_on(Expr e, Expr symbol) {
        const SymbolSet set = of(symbol);
        return of(e).may_meet(set);
    }

private:
    void extend();

    const Graph& graph_;
    std::vector<SymbolSet> sets_;  // by node
};

}  // namespace saltus::expr
