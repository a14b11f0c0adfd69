// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/definitions.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

namespace saltus::model {

namespace {

using expr::Expr;

/// The definitions of one scope. Each is read once, when it is first mentioned.
class Definitions : public std::enable_shared_from_this<Definitions> {
public:
    Definitions(expr::Graph& graph, const std::vector<Definition>& list, expr::Scope base,
                std::function<void(std::size_t)> used)
        : graph_(graph), list_(list), base_(std::move(base)), used_(std::move(used)) {}

    expr::Scope scope(std::string what) {
        expr::Scope s;
        s.what = std::move(what);
        const auto self = shared_from_this();
        s.find = [self](std::string_view name) { return self->find(name); };
        s.names = [self] { return self->names(); };
        s.refusal = [self](std::string_view name) { return self->refusal(name); };
        return s;
    }

private:
    std::optional<std::size_t> index_of(std::string_view name) const {
        for (std::size_t k = 0; k < list_.size(); ++k)
            if (list_[k].name == name) return k;
        return {};
    }

    std::optional<Expr> find(std::string_view name) {
        const std::optional<std::size_t> k = index_of(name);
        if (!k) return base_.find(name);
        if (const auto found = values_.find(*k); found != values_.end()) return found->second;
        const Definition& definition = list_[*k];
        if (const auto begin = std::find(open_.begin(), open_.end(), *k); begin != open_.end()) {
            std::string cycle;
            for (auto i = begin; i != open_.end(); ++i) cycle += list_[*i].name + " -> ";
            throw Error("the definition of [let] is cyclic: " + cycle + definition.name, definition.source.place,
                        "write one of the expressions without the others");
        }
        constexpr std::size_t max_depth = 100;  // bounds the recursion
        if (open_.size() > max_depth)
            throw Error("expressions of [let] are chained more than 100 deep", definition.source.place,
                        "write some of them out");
        open_.push_back(*k);
        const Expr value = expr::parse(graph_, definition.source, scope("'" + definition.name + "' in " + base_.what));
        open_.pop_back();
        if (used_) used_(*k);
        return values_.emplace(*k, value).first->second;
    }

    std::vector<std::string> names() const {
        std::vector<std::string> list = base_.names ? base_.names() : std::vector<std::string>{};
        for (const Definition& d : list_) list.push_back(d.name);
        return list;
    }

    std::string refusal(std::string_view name) const {
        if (name.ends_with('\'') && index_of(name.substr(0, name.size() - 1)))
            return "an expression of [let] has no velocity";
        return base_.refusal ? base_.refusal(name) : "";
    }

    expr::Graph& graph_;
    const std::vector<Definition>& list_;
    expr::Scope base_;
    std::function<void(std::size_t)> used_;
    std::map<std::size_t, Expr> values_;
    std::vector<std::size_t> open_;  // definitions that are being read
};

}  // namespace

expr::Scope with_definitions(expr::Graph& graph, const std::vector<Definition>& list, expr::Scope base,
                             std::function<void(std::size_t)> used) {
    if (list.empty()) return base;
    std::string what = base.what;
    return std::make_shared<Definitions>(graph, list, std::move(base), std::move(used))->scope(std::move(what));
}

}  // namespace saltus::model
