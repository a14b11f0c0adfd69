// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "saltus/base/numbers.hpp"
#include "saltus/model/detail/builder.hpp"

// [[jump]]: resets of the state. `when`, the guard and all new values become coefficients of the system, so that their
// values, exact derivatives, Taylor series and interval bounds are computed like those of every other coefficient.

namespace saltus::model {

using expr::Expr;

namespace {

constexpr expr::Kinds of_time_and_state = expr::time | expr::position | expr::velocity;

Jump::Direction direction_of(const Choice& choice, const std::string& owner) {
    static const std::vector<std::string> words{"down", "up", "both"};
    if (choice.word.empty()) return Jump::Direction::both;
    const auto found = std::find(words.begin(), words.end(), choice.word);
    if (found == words.end())
        throw Error("unknown direction '" + choice.word + "' of " + owner, choice.place,
                    "allowed are " + listing(words));
    return static_cast<Jump::Direction>(found - words.begin());
}

}  // namespace

void Builder::add_jumps() {
    for (const JumpDescription& j : d_.jumps) {
        new_row_name(j.name, "jump", j.place);
        const std::string owner = "jump '" + j.name + "'";
        if (has_points_)
            throw Error(owner + " belongs to a model of expressions, not to one with mass points", j.place,
                        "remove it, or write the points as coordinates of [system]");
        if (!j.when.given)
            throw Error(owner + " has no `when`", j.place, "add when = \"...\", which passes through zero there");
        Jump jump;
        jump.name = j.name;
        jump.direction = direction_of(j.direction, owner);
        const std::string when = "`when` of " + owner;
        const Expr quantity = parse(j.when, when, of_time_and_state);
        if (!f_.graph.depends_on(quantity, of_time_and_state))
            throw Error(when + " does not depend on time, coordinates or velocities: " + j.when.source.text,
                        j.when.place(), "write a quantity that passes through zero");
        jump.when = coefficient(quantity, when, -infinity, infinity, "must be finite", j.when.place());
        if (j.condition.given) jump.guard = condition(j.condition, owner);
        if (j.q.empty() && j.u.empty())
            throw Error(owner + " changes nothing", j.place,
                        "add q = { coordinate = \"...\" } or u = { coordinate = \"...\" }");
        const auto values = [&](const std::vector<Entry>& entries, const char* which, std::vector<JumpValue>& to) {
            for (const Entry& e : entries) {
                const std::string where = std::string(which) + " of " + owner;
                const int c = coordinate_of(e.name, where, e.place);
                if (c >= static_cast<int>(d_.q.size()))
                    throw Error(where + " names '" + e.name + "', which belongs to [control]", e.place,
                                "allowed are " + listing(coordinate_names()));
                const std::string what = "the new " + std::string(which) + " of '" + e.name + "' by " + owner;
                // At the initial state the value is not used and need not exist, so that it is not checked there.
                to.push_back({c, coefficient(parse(e.value, what, of_time_and_state), what, -infinity, infinity, "",
                                             e.value.place())});
            }
        };
        values(j.q, "q", jump.q);
        values(j.u, "u", jump.u);
        model_.jumps.push_back(std::move(jump));
    }
}

}  // namespace saltus::model
