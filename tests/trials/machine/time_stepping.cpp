// SPDX-License-Identifier: Apache-2.0
#include "machine/time_stepping.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace trials {

namespace {

/// One element in the problem of a step.
struct Block {
    std::size_t element = 0;
    FrictionLaw friction;
    bool has_normal = false;
    bool bilateral = false;         ///< the normal impulse may have either sign
    double known_impulse = 0.0;     ///< normal impulse of a slider
    std::vector<Vector> rows;       ///< normal first, then slips
    std::vector<Vector> responses;  ///< M⁻¹ times the rows
    Vector drift;                   ///< ξ without impulses in this step, apart from the rows times u⁺
    Vector impulse;
    Vector slip_before;  ///< slip velocities at the beginning of the step
};

/// Adds a change of an impulse, and its effect on the velocities.
double change(Block& block, std::size_t row, double value, Vector& u) {
    const double difference = value - block.impulse[row];
    block.impulse[row] = value;
    for (std::size_t i = 0; i < u.size(); ++i) u[i] += difference * block.responses[row][i];
    return std::abs(difference) * norm(block.responses[row]);
}

double sweep(Block& block, Vector& u) {
    double largest = 0.0;
    const std::size_t first = block.has_normal ? 1 : 0;
    if (block.has_normal) {
        const double xi = dot(block.rows[0], u) + block.drift[0];
        const double diagonal = dot(block.rows[0], block.responses[0]);
        const double proposal = diagonal > 0.0 ? block.impulse[0] - xi / diagonal : 0.0;
        if (diagonal > 0.0) largest = change(block, 0, block.bilateral ? proposal : std::max(0.0, proposal), u);
    }
    if (block.rows.size() == first) return largest;
    double trace = 0.0;
    for (std::size_t i = first; i < block.rows.size(); ++i) trace += dot(block.rows[i], block.responses[i]);
    if (trace <= 0.0) return largest;
    Vector proposal;
    for (std::size_t i = first; i < block.rows.size(); ++i)
        proposal.push_back(block.impulse[i] - (dot(block.rows[i], u) + block.drift[i]) / trace);
    const Vector friction =
        block.friction.project(proposal, block.has_normal ? std::abs(block.impulse[0]) : block.known_impulse);
    for (std::size_t i = first; i < block.rows.size(); ++i)
        largest = std::max(largest, change(block, i, friction[i - first], u));
    return largest;
}

Matrix inverse(const Matrix& a) {
    const std::size_t n = a.size();
    Matrix result(n, Vector(n));
    for (std::size_t j = 0; j < n; ++j) {
        Vector unit(n, 0.0);
        unit[j] = 1.0;
        const Vector column = solve(a, unit);
        if (column.empty()) return {};
        for (std::size_t i = 0; i < n; ++i) result[i][j] = column[i];
    }
    return result;
}

/// ξ = γ⁺ + e γ⁻ = w·u⁺ + χ + e (w·u⁻ + χ): the last three terms are the drift.
void add_row(Block& block, const Matrix& flexibility, const Vector& row, double gamma_before, double e,
             const Vector& u_before) {
    block.rows.push_back(row);
    block.responses.push_back(times(flexibility, row));
    block.drift.push_back(gamma_before - dot(row, u_before) + e * gamma_before);
    block.impulse.push_back(0.0);
}

/// A gap that is not larger is closed, in m: without it, rounding errors open a contact at rest for a step, and what it
/// carries falls on the others.
constexpr double touching = 1e-14;

std::vector<Block> blocks_of(const Mechanics& mechanics, const Point& middle, const Matrix& flexibility, double h) {
    std::vector<Block> blocks;
    for (std::size_t e = 0; e < mechanics.elements(); ++e) {
        const Mechanics::Sort sort = mechanics.sort(e);
        if (sort == Mechanics::Sort::contact && mechanics.gap(e, middle) > touching) continue;
        Block& block = blocks.emplace_back();
        block.element = e;
        block.friction = mechanics.friction(e, middle);
        double e_n = 0.0, e_t = 0.0;
        if (sort == Mechanics::Sort::contact) {
            e_n = mechanics.model().contacts[e].e_n;
            e_t = mechanics.model().contacts[e].e_t;
        }
        block.has_normal = sort != Mechanics::Sort::slider;
        block.bilateral = sort == Mechanics::Sort::constraint;
        if (block.has_normal)
            add_row(block, flexibility, mechanics.gap_gradient(e, middle), mechanics.gap_rate(e, middle), e_n,
                    middle.u);
        else
            block.known_impulse = h * mechanics.slider_force(mechanics.number(e), middle);
        const Vector slip = mechanics.slip(e, middle);
        block.slip_before = slip;
        const auto gradients = mechanics.slip_gradients(e, middle);
        for (std::size_t i = 0; i < slip.size(); ++i) add_row(block, flexibility, gradients[i], slip[i], e_t, middle.u);
    }
    return blocks;
}

/// Sweeps until the impulses do not change; false if they do.
bool solve_blocks(std::vector<Block>& blocks, Vector& u) {
    constexpr int max_sweeps = 5000;
    // Accuracy of the velocity, relative: steps have errors of more than 1e-8.
    const double small = 1e-12 * (1e-3 + norm(u));
    for (int i = 0; i < max_sweeps; ++i) {
        double largest = 0.0;
        for (Block& block : blocks) largest = std::max(largest, sweep(block, u));
        if (largest < small) return true;
    }
    return blocks.empty();
}

/// ξ_T of a block.
Vector slip_of(const Block& block, const Vector& u) {
    Vector slip;
    for (std::size_t i = block.has_normal ? 1 : 0; i < block.rows.size(); ++i)
        slip.push_back(dot(block.rows[i], u) + block.drift[i]);
    return slip;
}

constexpr double no_slip = 1e-9;  // velocity, in m/s

std::vector<char> at_rest(const Mechanics& mechanics, const Point& state) {
    std::vector<char> result;
    for (std::size_t e = 0; e < mechanics.elements(); ++e) {
        const bool touches = mechanics.sort(e) != Mechanics::Sort::contact || mechanics.gap(e, state) < 1e-9;
        result.push_back(touches && norm(mechanics.slip(e, state)) < no_slip ? 1 : 0);
    }
    return result;
}

/// An element that stuck has the coefficient of rest, and keeps it if it still sticks. An element that slides has the
/// other one; if its slip would stop or turn round then the coefficient of rest is tried. `stuck` tells which elements
/// stuck in the last step, and is changed for this one.
bool solve_with_static_friction(std::vector<Block>& blocks, Vector& u, std::vector<char>& stuck) {
    const auto holds_more = [](const Block& block) { return block.friction.holds_more(); };
    const auto set_stuck = [&] {
        for (const Block& block : blocks) stuck[block.element] = norm(slip_of(block, u)) < no_slip ? 1 : 0;
    };
    if (std::ranges::none_of(blocks, holds_more)) {
        const bool found = solve_blocks(blocks, u);
        set_stuck();
        return found;
    }
    std::vector<FrictionLaw> laws;
    std::vector<char> tried, resting;
    for (Block& block : blocks) {
        laws.push_back(block.friction);
        resting.push_back(stuck[block.element]);
        tried.push_back(resting.back());
        if (resting.back() != 0) block.friction = block.friction.at_rest();
    }
    for (std::size_t round = 0; round <= 2 * blocks.size(); ++round) {
        if (!solve_blocks(blocks, u)) return false;
        bool changed = false;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            if (!laws[i].holds_more()) continue;
            const Vector slip = slip_of(blocks[i], u);
            const bool sticks = norm(slip) < no_slip;
            if (resting[i] != 0 && !sticks) {
                resting[i] = 0, changed = true;
                blocks[i].friction = laws[i];
            } else if (tried[i] == 0 && !sticks && dot(blocks[i].slip_before, slip) < 0.0) {
                resting[i] = tried[i] = 1, changed = true;
                blocks[i].friction = laws[i].at_rest();
            }
        }
        if (!changed) break;
    }
    set_stuck();
    return true;
}

}  // namespace

bool TimeStepping::supports(const Model& model) {
    // The impact of one contact without friction has the same outcome by Newton's and by Poisson's law, and with one
    // coordinate by the energy law with a constant coefficient.
    return std::ranges::all_of(model.contacts, [&](const Contact& c) {
        const bool frictionless = c.friction.kind == FrictionLaw::Kind::none;
        return c.friction.kind != FrictionLaw::Kind::contensou &&
               (c.impact == "newton" || (c.impact == "poisson" && frictionless) ||
                (c.impact == "energy" && frictionless && c.loss == 0.0 && model.size() == 1));
    });
}

TimeStepping::TimeStepping(const Model& model) : mechanics_(model) {
    for (const auto& row : model.mass)
        for (const Expression& entry : row)
            if (!entry.is_number()) return;
    flexibility_ = inverse(mechanics_.mass({0.0, model.q0, model.u0}));
}

bool TimeStepping::step(Point& state, double h, Impulses& last) const {
    Point middle = state;
    middle.t += h / 2;
    middle.q = plus(state.q, state.u, h / 2);
    const Matrix changing = flexibility_.empty() ? inverse(mechanics_.mass(middle)) : Matrix{};
    const Matrix& flexibility = flexibility_.empty() ? changing : flexibility_;
    if (flexibility.empty()) return false;
    Vector u = plus(state.u, times(flexibility, mechanics_.force(middle)), h);
    std::vector<Block> blocks = blocks_of(mechanics_, middle, flexibility, h);
    last.of_elements.resize(mechanics_.elements());
    for (Block& block : blocks)
        for (std::size_t row = 0; row < block.impulse.size() && !last.of_elements[block.element].empty(); ++row)
            change(block, row, last.of_elements[block.element][row], u);
    if (last.stuck.empty()) last.stuck = at_rest(mechanics_, state);
    // A contact in flight does not stick. One that rests may be open by rounding in single steps.
    constexpr double flight = 1e-6;
    for (std::size_t e = 0; e < mechanics_.elements(); ++e)
        if (mechanics_.sort(e) == Mechanics::Sort::contact && mechanics_.gap(e, middle) > flight) last.stuck[e] = 0;
    const bool found = solve_with_static_friction(blocks, u, last.stuck);
    for (Vector& impulse : last.of_elements) impulse.clear();
    for (Block& block : blocks) last.of_elements[block.element] = std::move(block.impulse);
    state.q = plus(middle.q, u, h / 2);
    state.u = u;
    state.t += h;
    return found && std::isfinite(norm(u)) && std::isfinite(norm(state.q));
}

bool TimeStepping::step_with_jumps(Point& state, double h, Impulses& last) const {
    const auto& jumps = mechanics_.model().jumps;
    if (jumps.empty()) return step(state, h, last);
    constexpr int most_jumps = 20;  // in one step
    double left = h;
    for (int n = 0; n < most_jumps; ++n) {
        const auto moved = [&](double part) {
            Point next = state;
            Impulses memory = last;
            const bool found = step(next, part, memory);
            return std::tuple(next, memory, found);
        };
        // A quantity that is zero after its own reset has the sign of a tenth of the step later.
        std::vector<double> before;
        const Point soon = std::get<0>(moved(0.1 * left));
        for (const Jump& jump : jumps) {
            const double value = jump.when.value(state);
            before.push_back(n > 0 && std::abs(value) < 1e-9 ? jump.when.value(soon) : value);
        }
        const auto happening = [&](const Point& next) -> const Jump* {
            for (std::size_t j = 0; j < jumps.size(); ++j) {
                const double value = jumps[j].when.value(next);
                if (before[j] * value >= 0.0 || (jumps[j].direction != 0 && jumps[j].direction * value < 0.0)) continue;
                if (!jumps[j].guard || jumps[j].guard->value(next) > 0.0) return &jumps[j];
            }
            return nullptr;
        };
        auto [next, memory, found] = moved(left);
        if (!found) return false;
        if (happening(next) == nullptr) {
            state = next;
            last = memory;
            return true;
        }
        double low = 0.0, high = left;
        constexpr int bisections = 25;
        for (int k = 0; k < bisections; ++k) {
            const double middle = (low + high) / 2;
            (happening(std::get<0>(moved(middle))) == nullptr ? low : high) = middle;
        }
        auto [end, memory_there, found_there] = moved(high);
        if (!found_there) return false;
        const Jump* jump = happening(end);
        if (jump == nullptr) return false;
        state = jump->after(end);
        last = {};
        left -= high;
        if (left <= 1e-12 * h) return true;
    }
    return false;
}

std::optional<Point> TimeStepping::run(Point start, double t_end, int count) const {
    const double t0 = start.t, h = (t_end - t0) / count;
    Impulses last;
    for (int i = 0; i < count; ++i) {
        start.t = t0 + h * i;
        if (!step_with_jumps(start, h, last)) return {};
    }
    start.t = t_end;
    return start;
}

SteppedEnd stepped_end(const Model& model, int coarsest_count) {
    if (!TimeStepping::supports(model)) return {};
    const TimeStepping stepping(model);
    std::vector<Vector> ends;
    for (int i = 0; i < 3; ++i) {
        const auto end = stepping.run({0.0, model.q0, model.u0}, model.t_end, coarsest_count << i);
        if (!end) return {};
        ends.push_back(end->q);
    }
    const double coarse = norm(plus(ends[1], ends[0], -1.0)), fine = norm(plus(ends[2], ends[1], -1.0));
    SteppedEnd result;
    result.q = plus(plus(ends[2], ends[2]), ends[1], -1.0);
    result.uncertainty = 10.0 * fine + 1e-5 * (1.0 + norm(ends[2]));
    result.usable = fine <= 0.75 * coarse + 1e-7 && fine <= 0.02 * (0.1 + norm(ends[2]));
    return result;
}

SteppedEnd accurate_end(const Model& model) {
    constexpr int few = 500, many = 2000;
    constexpr double accurate = 2e-3;
    const SteppedEnd quick = stepped_end(model, few);
    const bool enough = quick.usable && quick.uncertainty <= accurate * (0.1 + norm(quick.q));
    return enough && !model.has_pulses ? quick : stepped_end(model, many);
}

}  // namespace trials
