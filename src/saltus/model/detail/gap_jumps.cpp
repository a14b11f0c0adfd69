// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/expr/jumps.hpp"
#include "saltus/model/detail/builder.hpp"
#include "saltus/model/model.hpp"

namespace saltus::model {

/// Functions that are nonnegative in every admissible state: gaps of contacts without a condition, and constraints on
/// positions with both signs.
std::vector<expr::Expr> Builder::admissible_functions() {
    std::vector<Expr> out;
    for (std::size_t k = 0; k < d_.constraints.size(); ++k)
        if (!d_.constraints[k].gamma.given) {
            out.push_back(f_.constraints[k]);
            out.push_back(f_.graph.neg(f_.constraints[k]));
        }
    for (std::size_t k = 0; k < d_.contacts.size(); ++k)
        if (model_.contacts[k].condition == no_coefficient) out.push_back(f_.gaps[k]);
    return out;
}

/// Gaps and constraints must be continuous. If a gap jumps, then bodies penetrate each other without an impact, and no
/// method can follow the motion.
void Builder::refuse_jumps() {
    for (std::size_t k = 0; k < d_.constraints.size(); ++k) {
        const ConstraintDescription& c = d_.constraints[k];
        refuse_jump(f_.constraints[k], "constraint '" + c.name + "\'", (c.gamma.given ? c.gamma : c.g).place());
    }
    for (std::size_t k = 0; k < d_.contacts.size(); ++k)
        if (const Coefficient c = model_.contacts[k].condition; c != no_coefficient)
            refuse_jump(f_.coefficients[static_cast<std::size_t>(c)],
                        "the condition `if` of contact '" + d_.contacts[k].name + "\'",
                        d_.contacts[k].condition.place());
    for (std::size_t k = 0; k < d_.contacts.size(); ++k)
        refuse_jump(f_.gaps[k], "the gap of contact '" + d_.contacts[k].name + "\'", d_.contacts[k].gN.place());
    for (std::size_t k = 0; k < d_.obstacles.size(); ++k)
        refuse_jump(points_.obstacles[k].offset, "the offset of obstacle '" + d_.obstacles[k].name + "\'",
                    d_.obstacles[k].offset.place());
}

void Builder::refuse_jump(Expr e, const std::string& what, const Place& place) {
    if (!expr::can_jump(f_.graph, e)) return;
    std::vector<std::pair<Expr, Expr>> values;
    for (std::size_t i = 0; i < f_.p.size(); ++i) values.emplace_back(f_.p[i], f_.graph.constant(p_[i]));
    // The box around the initial state: a unit, or the size of the coordinate; the duration of the motion.
    std::vector<Expr> variables{f_.t};
    std::vector<double> center{0.0}, reach{settings_.simulate.t_end.value_or(1.0)};
    for (std::size_t i = 0; i < f_.q.size(); ++i) {
        variables.push_back(f_.q[i]);
        center.push_back(model_.q0[static_cast<std::size_t>(f_.index[i])]);
        reach.push_back(1.0 + std::abs(center.back()));
    }
    const bool of_velocity = f_.graph.depends_on(e, expr::velocity);  // a velocity constraint
    for (std::size_t i = 0; of_velocity && i < f_.u.size(); ++i) {
        variables.push_back(f_.u[i]);
        center.push_back(model_.u0[static_cast<std::size_t>(f_.index[i])]);
        reach.push_back(1.0 + std::abs(center.back()));
    }
    std::vector<Expr> admissible = admissible_functions();
    const bool itself = std::find(admissible.begin(), admissible.end(), e) != admissible.end() &&
                        std::find(f_.gaps.begin(), f_.gaps.end(), e) != f_.gaps.end();
    std::erase(admissible, e);
    std::erase(admissible, f_.graph.neg(e));
    expr::Substitution inserted(f_.graph, values);
    for (Expr& a : admissible) a = inserted(a);
    const expr::JumpSearch found =
        expr::find_jump(f_.graph, inserted(e), expr::JumpRegion{variables, center, reach, admissible, itself});
    const std::vector<Expr> inside = expr::reachable(f_.graph, {&e, 1});
    const auto place_text = [&](const std::vector<double>& at) {
        std::string where;
        for (std::size_t i = 0; i < variables.size(); ++i)
            if (std::find(inside.begin(), inside.end(), variables[i]) != inside.end())
                where += fmt::format("{}{} = {:.6g}", where.empty() ? "" : ", ",
                                     expr::to_string(f_.graph, variables[i]), at[i]);
        return where;
    };
    if (!found.jump) {
        if (!found.decided)
            model_.warnings.push_back(what + " switches: it is continuous at " +
                                      counted(static_cast<std::size_t>(found.points), "point") +
                                      " of its switching surfaces that were sampled, which is no proof");
        if (found.doubt)
            model_.warnings.push_back(what + ' ' + found.doubt->reason +
                                      (found.doubt->at.empty() ? "" : " near " + place_text(found.doubt->at)) +
                                      ": not examined, and a motion that passes there may be wrong");
        else if (found.limits > 0)
            model_.warnings.push_back(what +
                                      " has a denominator that vanishes: samples around its zeros show a limit, "
                                      "which is no proof");
        return;
    }
    throw Error(fmt::format("{} jumps from {:.6g} to {:.6g} at {} ({})", what, found.jump->before, found.jump->after,
                            place_text(found.jump->at), found.jump->operation),
                place,
                "gaps and constraints must be continuous: use min, max and abs, branches that agree where they switch, "
                "or several contacts");
}

}  // namespace saltus::model
