// SPDX-License-Identifier: Apache-2.0
#include "machine/plain_flow.hpp"

#include <algorithm>
#include <cmath>

namespace trials {

namespace {

/// Derivatives by the time, all positions and all velocities.
std::vector<Expression> slopes_of(const Expression& formula, std::size_t n) {
    std::vector<Expression> slopes = {formula.derivative({Symbol::Kind::time, 0})};
    for (const Symbol::Kind kind : {Symbol::Kind::position, Symbol::Kind::velocity})
        for (std::size_t i = 0; i < n; ++i) slopes.push_back(formula.derivative({kind, i}));
    return slopes;
}

constexpr double resting_slip =
    1e-11;  // slip velocity of a slider that rests, in m/s; bisection ends with rounding errors

}  // namespace

PlainFlow::PlainFlow(const Model& model) : mechanics_(model) {
    for (const Jump& jump : model.jumps) jump_slopes_.push_back(slopes_of(jump.when, model.size()));
    if (!model.sliders.empty()) slip_slopes_ = slopes_of(model.sliders[0].slip[0], model.size());
}

bool PlainFlow::supports(const Model& model) {
    if (model.points || !model.constraints.empty() || !model.clutches.empty()) return false;
    if (model.sliders.size() > 1) return false;
    if (!model.sliders.empty() &&
        (model.sliders[0].friction.kind != FrictionLaw::Kind::planar || model.sliders[0].coefficient))
        return false;
    return std::ranges::all_of(model.contacts, [](const Contact& c) {
        return c.friction.kind == FrictionLaw::Kind::none && c.impact == "newton" && c.loss == 0.0;
    });
}

double PlainFlow::rate(const std::vector<Expression>& slopes, const Point& at, const Vector& a) const {
    const std::size_t n = at.q.size();
    double result = slopes[0].value(at);
    for (std::size_t i = 0; i < n; ++i)
        result += slopes[1 + i].value(at) * at.u[i] + slopes[1 + n + i].value(at) * a[i];
    return result;
}

double PlainFlow::bound(const Point& at, bool at_rest) const {
    const FrictionLaw& law = mechanics_.friction(mechanics_.model().contacts.size());
    return (at_rest ? law.at_rest() : law).mu[0] * mechanics_.slider_force(0, at);
}

double PlainFlow::spring_force(std::size_t contact, const Point& at) const {
    const Penalty& penalty = *mechanics_.model().penalty;
    return -penalty.k * mechanics_.gap(contact, at) - penalty.d * mechanics_.gap_rate(contact, at);
}

std::vector<char> PlainFlow::pushing_at(const Point& at) const {
    std::vector<char> result;
    if (!mechanics_.model().penalty) return result;
    for (std::size_t c = 0; c < mechanics_.model().contacts.size(); ++c)
        result.push_back(mechanics_.gap(c, at) < 0.0 && spring_force(c, at) > 0.0 ? 1 : 0);
    return result;
}

Vector PlainFlow::smooth_force(const Point& at, const Phase& phase) const {
    Vector total = mechanics_.force(at);
    for (std::size_t c = 0; c < phase.pushing.size(); ++c)
        if (phase.pushing[c] != 0) total = plus(total, mechanics_.gap_gradient(c, at), spring_force(c, at));
    return total;
}

// M a = f + wᵀλ and d(slip)/dt = 0 give λ = −(d(slip)/dt without friction)/(w M⁻¹ wᵀ).
double PlainFlow::holding_force(const Point& at, const Phase& phase) const {
    const Matrix mass = mechanics_.mass(at);
    const Vector w = mechanics_.slip_gradients(mechanics_.model().contacts.size(), at)[0];
    const Vector free = solve(mass, smooth_force(at, phase));
    return -rate(slip_slopes_, at, free) / dot(w, solve(mass, w));
}

Vector PlainFlow::accelerations(const Point& at, const Phase& phase) const {
    Vector total = smooth_force(at, phase);
    if (phase.friction != Friction::none) {
        const Vector w = mechanics_.slip_gradients(mechanics_.model().contacts.size(), at)[0];
        const double force = phase.friction == Friction::sticks      ? holding_force(at, phase)
                             : phase.friction == Friction::slides_up ? -bound(at, false)
                                                                     : bound(at, false);
        total = plus(total, w, force);
    }
    return solve(mechanics_.mass(at), total);
}

PlainFlow::Phase PlainFlow::phase_at(const Point& at) const {
    Phase phase{pushing_at(at), Friction::none};
    if (slip_slopes_.empty()) return phase;
    const double slip = mechanics_.slip(mechanics_.model().contacts.size(), at)[0];
    const double force = holding_force(at, phase);
    if (std::abs(slip) > resting_slip)
        phase.friction = slip > 0.0 ? Friction::slides_up : Friction::slides_down;
    else if (std::abs(force) <= bound(at, true))
        phase.friction = Friction::sticks;
    else
        phase.friction = force < 0.0 ? Friction::slides_up : Friction::slides_down;  // it would have to hold this
    return phase;
}

std::vector<int> PlainFlow::sides_at(const Point& at, const Phase& phase) const {
    std::vector<int> sides;
    for (std::size_t j = 0; j < jump_slopes_.size(); ++j) {
        double value = mechanics_.model().jumps[j].when.value(at);
        if (std::abs(value) < 1e-10) value = rate(jump_slopes_[j], at, accelerations(at, phase));
        sides.push_back(value > 0.0 ? 1 : -1);
    }
    return sides;
}

Point PlainFlow::moved(const State& from, double h) const {
    const auto slope = [&](const Point& at) { return Slope{at.u, accelerations(at, from.phase)}; };
    const auto shifted = [&](const Slope& s, double by) {
        return Point{from.at.t + by, plus(from.at.q, s.q, by), plus(from.at.u, s.u, by)};
    };
    const Slope a = slope(from.at), b = slope(shifted(a, h / 2)), c = slope(shifted(b, h / 2)),
                d = slope(shifted(c, h));
    Point to = from.at;
    to.t += h;
    for (std::size_t i = 0; i < to.q.size(); ++i) {
        to.q[i] += h / 6 * (a.q[i] + 2.0 * b.q[i] + 2.0 * c.q[i] + d.q[i]);
        to.u[i] += h / 6 * (a.u[i] + 2.0 * b.u[i] + 2.0 * c.u[i] + d.u[i]);
    }
    return to;
}

/// Whether the jump happens between a state and the next one.
bool PlainFlow::passes(std::size_t number, const State& from, const Point& next) const {
    const Jump& jump = mechanics_.model().jumps[number];
    const double value = jump.when.value(next);
    if (value * from.sides[number] >= 0.0 || (jump.direction != 0 && value * jump.direction < 0.0)) return false;
    return !jump.guard || jump.guard->value(next) > 0.0;
}

char PlainFlow::happens(const State& from, const Point& next) const {
    const Model& model = mechanics_.model();
    for (std::size_t c = 0; c < model.contacts.size() && !model.penalty; ++c)
        if (mechanics_.gap(c, next) < 0.0 && mechanics_.gap_rate(c, next) < 0.0) return 'c';
    for (std::size_t j = 0; j < model.jumps.size(); ++j)
        if (passes(j, from, next)) return 'j';
    if (pushing_at(next) != from.phase.pushing) return 'p';
    if (from.phase.friction == Friction::none) return 0;
    if (from.phase.friction == Friction::sticks)
        return std::abs(holding_force(next, from.phase)) > bound(next, true) ? 's' : 0;
    const double slip = mechanics_.slip(model.contacts.size(), next)[0];
    return (from.phase.friction == Friction::slides_up ? slip : -slip) < 0.0 ? 'r' : 0;
}

bool PlainFlow::apply(State& state, const Point& at, Course& course) const {
    const Model& model = mechanics_.model();
    const char what = happens(state, at);
    course.events += what;
    state.at = at;
    if (what == 'c') {
        ++course.impacts;
        for (std::size_t c = 0; c < model.contacts.size(); ++c) {
            const double approach = mechanics_.gap_rate(c, state.at);
            if (mechanics_.gap(c, state.at) >= 0.0 || approach >= 0.0) continue;
            const Vector w = mechanics_.gap_gradient(c, state.at), response = solve(mechanics_.mass(state.at), w);
            state.at.u = plus(state.at.u, response, -(1.0 + model.contacts[c].e_n) * approach / dot(w, response));
            if (-model.contacts[c].e_n * approach < 1e-6) return false;  // it comes to rest at the contact
        }
        state.phase = phase_at(state.at);
        return true;  // the sides are kept: an impact can carry a quantity through zero, and the jump follows
    }
    if (what == 'j') {
        for (std::size_t j = 0; j < model.jumps.size(); ++j) {
            if (!passes(j, state, at)) continue;
            state.at = model.jumps[j].after(at);
            break;
        }
        for (std::size_t c = 0; c < model.contacts.size() && !model.penalty; ++c)
            if (mechanics_.gap(c, state.at) < 1e-9) return false;
        state.phase = phase_at(state.at);
        state.sides = sides_at(state.at, state.phase);
        return true;
    }
    if (what == 'p') state.phase.pushing = pushing_at(at);
    if (what == 'r') state.phase = phase_at(at);
    if (what == 's')
        state.phase.friction = holding_force(at, state.phase) < 0.0 ? Friction::slides_up : Friction::slides_down;
    return true;
}

double PlainFlow::dip(const State& from, double h) const {
    const Model& model = mechanics_.model();
    const Point next = moved(from, h);
    // The end of the part of the step on which `falls` is true. It is true at the start and false at h.
    const auto lowest = [&](const auto& falls) {
        double low = 0.0, high = h;
        for (int i = 0; i < 50; ++i) {
            const double middle = (low + high) / 2;
            (falls(moved(from, middle)) ? low : high) = middle;
        }
        return low;
    };
    for (std::size_t c = 0; c < model.contacts.size() && !model.penalty; ++c) {
        const auto falls = [&](const Point& at) { return mechanics_.gap_rate(c, at) < 0.0; };
        if (!falls(from.at) || !(mechanics_.gap_rate(c, next) > 0.0)) continue;
        const double low = lowest(falls);
        if (mechanics_.gap(c, moved(from, low)) < 0.0) return low;
    }
    for (std::size_t j = 0; j < model.jumps.size(); ++j) {
        const auto away = [&](const Point& at) { return from.sides[j] * model.jumps[j].when.value(at); };
        const auto falls = [&](const Point& at) {
            return from.sides[j] * rate(jump_slopes_[j], at, accelerations(at, from.phase)) < 0.0;
        };
        if (away(next) < 0.0 || !falls(from.at) || falls(next)) continue;
        const double low = lowest(falls);
        if (away(moved(from, low)) < 0.0) return low;
    }
    return h;
}

std::optional<PlainFlow::Course> PlainFlow::run(Point start, double duration, int count) const {
    Course course;
    State state{std::move(start), {}, {}};
    state.phase = phase_at(state.at);
    state.sides = sides_at(state.at, state.phase);
    const double t0 = state.at.t, h = duration / count;
    constexpr std::size_t most_events = 2000;
    for (int i = 0; i < count;) {
        const double length = t0 + h * (i + 1) - state.at.t;
        if (length <= 1e-14 * (1.0 + std::abs(state.at.t))) {
            ++i;
            continue;
        }
        double high = dip(state, length);
        Point next = moved(state, high);
        if (!std::isfinite(norm(next.q)) || norm(next.q) > 1e6) return {};
        if (happens(state, next) == 0) {
            for (std::size_t j = 0; j < state.sides.size(); ++j) {
                const double value = mechanics_.model().jumps[j].when.value(next);
                if (value != 0.0) state.sides[j] = value > 0.0 ? 1 : -1;
            }
            state.at = next;
            for (std::size_t c = 0; c < mechanics_.model().contacts.size(); ++c)
                course.least_gap = std::min(course.least_gap, mechanics_.gap(c, next));
            if (high >= length) ++i;
            continue;
        }
        double low = 0.0;
        for (int k = 0; k < 60; ++k) {
            const double middle = (low + high) / 2;
            (happens(state, moved(state, middle)) == 0 ? low : high) = middle;
        }
        next = moved(state, high);
        if (course.events.size() > most_events || !apply(state, next, course)) return {};
    }
    course.end = state.at;
    return course;
}

Vector state_vector(const Point& at) {
    Vector x = at.q;
    x.insert(x.end(), at.u.begin(), at.u.end());
    return x;
}

namespace {

std::optional<Matrix> differences(const PlainFlow& flow, const Point& start, double duration, int count, double by) {
    const std::size_t n = start.q.size();
    Matrix rows(2 * n, Vector(2 * n));
    for (std::size_t j = 0; j < 2 * n; ++j) {
        std::vector<Vector> ends;
        for (const double side : {1.0, -1.0}) {
            Point from = start;
            (j < n ? from.q[j] : from.u[j - n]) += side * by;
            const auto course = flow.run(from, duration, count);
            if (!course) return {};
            ends.push_back(state_vector(course->end));
        }
        for (std::size_t i = 0; i < 2 * n; ++i) rows[i][j] = (ends[0][i] - ends[1][i]) / (2.0 * by);
    }
    return rows;
}

}  // namespace

std::optional<MapDerivative> map_derivative(const PlainFlow& flow, const Point& start, double duration, int count) {
    const auto fine = differences(flow, start, duration, count, 1e-6);
    const auto coarse = differences(flow, start, duration, count, 4e-6);
    if (!fine || !coarse) return {};
    MapDerivative result{*fine, 0.0};
    for (std::size_t i = 0; i < fine->size(); ++i)
        for (std::size_t j = 0; j < fine->size(); ++j)
            result.spread = std::max(result.spread, std::abs((*fine)[i][j] - (*coarse)[i][j]));
    return result;
}

Vector characteristic_polynomial(const Matrix& a) {
    const std::size_t n = a.size();
    Vector coefficients = {1.0};
    Matrix m(n, Vector(n, 0.0));
    for (std::size_t k = 1; k <= n; ++k) {
        // M_k = A M_{k−1} + c_{k−1} I, c_k = −trace(A M_k)/k
        Matrix next(n, Vector(n, 0.0));
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                for (std::size_t l = 0; l < n; ++l) next[i][j] += a[i][l] * m[l][j];
        for (std::size_t i = 0; i < n; ++i) next[i][i] += coefficients.back();
        m = next;
        double trace = 0.0;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t l = 0; l < n; ++l) trace += a[i][l] * m[l][i];
        coefficients.push_back(-trace / static_cast<double>(k));
    }
    return coefficients;
}

}  // namespace trials
