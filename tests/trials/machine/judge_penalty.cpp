// SPDX-License-Identifier: Apache-2.0
#include "machine/judge_penalty.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "machine/judge_motion.hpp"

namespace trials {

namespace {

using Flags = std::vector<char>;  // which springs push

class Springs {
public:
    explicit Springs(const Model& model) : mechanics_(model), penalty_(*model.penalty) {}

    /// Which springs push in this state: the gap is negative, and spring and damper together do not pull.
    Flags pushing(const Point& at) const {
        Flags flags;
        for (std::size_t c = 0; c < mechanics_.model().contacts.size(); ++c)
            flags.push_back(mechanics_.gap(c, at) < 0.0 && force(c, at) > 0.0 ? 1 : 0);
        return flags;
    }

    /// One step in which the same springs push from its beginning to its end.
    Point step(const Point& from, double h, const Flags& flags) const {
        const Slope a = slope(from, flags), b = slope(moved(from, a, h / 2), flags),
                    c = slope(moved(from, b, h / 2), flags), d = slope(moved(from, c, h), flags);
        Point to = from;
        to.t += h;
        for (std::size_t i = 0; i < to.q.size(); ++i) {
            to.q[i] += h / 6 * (a.q[i] + 2.0 * b.q[i] + 2.0 * c.q[i] + d.q[i]);
            to.u[i] += h / 6 * (a.u[i] + 2.0 * b.u[i] + 2.0 * c.u[i] + d.u[i]);
        }
        return to;
    }

private:
    struct Slope {
        Vector q, u;
    };

    double force(std::size_t contact, const Point& at) const {
        return -penalty_.k * mechanics_.gap(contact, at) - penalty_.d * mechanics_.gap_rate(contact, at);
    }

    static Point moved(const Point& from, const Slope& slope, double h) {
        return {from.t + h, plus(from.q, slope.q, h), plus(from.u, slope.u, h)};
    }

    Slope slope(const Point& at, const Flags& flags) const {
        Vector total = mechanics_.force(at);
        for (std::size_t c = 0; c < flags.size(); ++c)
            if (flags[c] != 0) total = plus(total, mechanics_.gap_gradient(c, at), force(c, at));
        return {at.u, solve(mechanics_.mass(at), total)};
    }

    Mechanics mechanics_;
    Penalty penalty_;
};

}  // namespace

std::optional<Point> springs_end(const Model& model, int count) {
    const Springs springs(model);
    Point state{0.0, model.q0, model.u0};
    Flags flags = springs.pushing(state);
    const double h = model.t_end / count;
    constexpr int most_changes = 100000;  // of springs that begin or cease to push
    int changes = 0;
    for (int i = 0; i < count;) {
        const double length = h * (i + 1) - state.t;
        Point next = springs.step(state, length, flags);
        if (!std::isfinite(norm(next.q)) || norm(next.q) > 1e6) return {};
        Flags after = springs.pushing(next);
        if (after == flags) {
            state = next;
            ++i;
            continue;
        }
        // The step ends just after the first change.
        double low = 0.0, high = length;
        for (int k = 0; k < 50; ++k) {
            const double middle = (low + high) / 2;
            (springs.pushing(springs.step(state, middle, flags)) == flags ? low : high) = middle;
        }
        state = springs.step(state, high, flags);
        flags = springs.pushing(state);
        if (high >= length) ++i;
        if (++changes > most_changes) return {};
    }
    return state;
}

Findings judge_penalty(const Model& model, const Program& program) {
    Findings findings;
    Motion motion;
    if (!simulate(model, program, {"--method", "penalty"}, motion, findings)) return findings;
    const double balance = number(motion.document.at("energy").at("balance_error"));
    findings.check(std::abs(balance) <= 1e-6, "completed-with-balance-error",
                   [&] { return fmt::format("status completed with balance error {}", balance); });
    Vector stated;
    for (const char* part : {"q", "u"})
        for (const std::string& name : model.coordinates)
            stated.push_back(number(motion.document.at("final").at(part).at(name)));
    // Forty steps in a period of the stiffest spring on a mass of 1: the error of a step is about 1e-6 of its change.
    const int count = 2000 + static_cast<int>(40.0 * model.t_end * std::sqrt(model.penalty->k) / 6.0);
    const auto state = [](const Point& p) {
        Vector x = p.q;
        x.insert(x.end(), p.u.begin(), p.u.end());
        return x;
    };
    for (const int shorter : {1, 8}) {
        const auto coarse = springs_end(model, count * shorter), fine = springs_end(model, 2 * count * shorter);
        if (!coarse || !fine) break;
        const Vector end = state(*fine);
        const double spread = norm(plus(end, state(*coarse), -1.0)), scale = 1.0 + norm(end);
        if (spread > 1e-4 * scale) continue;
        const double distance = norm(plus(stated, end, -1.0));
        if (distance > 2.0 * spread + 1e-6 * scale && shorter == 1) continue;  // confirm with shorter steps
        findings.check(distance <= 2.0 * spread + 1e-6 * scale, "end-state", [&] {
            return fmt::format("Runge and Kutta end at {} (uncertainty {}), the program at {}", end, spread, stated);
        });
        return findings;
    }
    ++findings.not_judged;
    return findings;
}

}  // namespace trials
