// SPDX-License-Identifier: Apache-2.0
#include "integrate/exact_motions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace saltus::integrate::exact {

namespace {

constexpr Real pi = std::numbers::pi_v<Real>;
constexpr Real tiny = 1e-4000L;
/// Intervals shorter than smallest_interval · max(1, |t|) are not halved again.
constexpr Real smallest_interval = 1e-17L;
/// Flights shorter than this, in s, are summed as a geometric series: the force changes by less than 1e-5 of itself.
constexpr Real summed_flight = 3e-7L;
/// Impacts whose flights are shorter than this, in s, are not listed one by one if they accumulate.
constexpr Real listed_flight = 1e-4L;

Real bisected(const std::function<Real(Real)>& f, Real low, Real high) {
    for (int i = 0; i < 200; ++i) {
        const Real middle = low + (high - low) / 2;
        if (middle <= low || middle >= high) break;
        (f(middle) > 0 ? low : high) = middle;
    }
    return high;
}

Real largest_power(Real from, Real to, int k) { return std::pow(std::max(std::abs(from), std::abs(to)), Real(k)); }

/// sin(x) − x without cancellation.
Real sine_minus_angle(Real x) {
    if (std::abs(x) > 0.5L) return std::sin(x) - x;
    Real term = x, sum = 0;
    for (int k = 1; k < 20; ++k) {
        term *= -x * x / static_cast<Real>(2 * k * (2 * k + 1));
        sum += term;
    }
    return sum;
}

/// The smallest and the largest |s| on an interval.
std::pair<Real, Real> distances(Real s1, Real s2) {
    const Real low = std::min(s1, s2), high = std::max(s1, s2);
    return {low > 0 ? low : high < 0 ? -high : 0.0L, std::max(std::abs(low), std::abs(high))};
}

}  // namespace

std::optional<Real> first_zero(const Function& f, Real from, Real to) {
    if (from >= to) return std::nullopt;
    const Real middle = from + (to - from) / 2, radius = (to - from) / 2;
    const Real value = f.value(middle);
    if (value > f.slope_bound(from, to) * radius) return std::nullopt;
    if (std::abs(f.slope(middle)) > f.curvature_bound(from, to) * radius) {
        if (f.value(to) > 0) return std::nullopt;
        return bisected(f.value, from, to);
    }
    if (radius < smallest_interval * std::max(1.0L, std::abs(middle))) throw IllPosed("a tangency");
    if (const auto left = first_zero(f, from, middle)) return left;
    if (value <= 0) return middle;
    return first_zero(f, middle, to);
}

// --- forces ---

Term power(Real c, int k) {
    Term term;
    const auto derivative = [c, k](Real t, int order) {
        Real factor = c;
        for (int i = 0; i < order; ++i) factor *= static_cast<Real>(k - i);
        return order > k ? 0.0L : factor * std::pow(t, Real(k - order));
    };
    term.value = [derivative](Real t, Real) { return derivative(t, 0); };
    term.slope = [derivative](Real t) { return derivative(t, 1); };
    const auto integral = [c, k](Real t, Real s, int times) {
        Real sum = 0, binomial = 1;
        for (int j = 0; j <= k; ++j) {
            const Real weight = times == 1 ? Real(j + 1) : Real((j + 1) * (j + 2));
            sum += c * binomial * std::pow(t, Real(k - j)) * std::pow(s, Real(j + times)) / weight;
            binomial = binomial * static_cast<Real>(k - j) / static_cast<Real>(j + 1);
        }
        return sum;
    };
    term.once = [integral](Real t, Real s) { return integral(t, s, 1); };
    term.twice = [integral](Real t, Real s) { return integral(t, s, 2); };
    const auto bound = [c, k](Real from, Real to, int order) {
        if (order > k) return 0.0L;
        Real factor = std::abs(c);
        for (int i = 0; i < order; ++i) factor *= static_cast<Real>(k - i);
        return factor * largest_power(from, to, k - order);
    };
    term.bound = [bound](Real from, Real to) { return bound(from, to, 0); };
    term.slope_bound = [bound](Real from, Real to) { return bound(from, to, 1); };
    term.curvature_bound = [bound](Real from, Real to) { return bound(from, to, 2); };
    return term;
}

Term sine(Real A, Real w, Real phase) {
    Term term;
    term.value = [=](Real t, Real) { return A * std::sin(w * t + phase); };
    term.slope = [=](Real t) { return A * w * std::cos(w * t + phase); };
    term.once = [=](Real t, Real s) { return 2 * A / w * std::sin(w * t + phase + w * s / 2) * std::sin(w * s / 2); };
    // ∫∫ A sin(a + ωs) = −A/ω² (sin(a + θ) − sin a − θ cos a),  θ = ωs,
    // and the bracket is cos a (sin θ − θ) − 2 sin a sin²(θ/2).
    term.twice = [=](Real t, Real s) {
        const Real a = w * t + phase, half = std::sin(w * s / 2);
        return -A / (w * w) * (std::cos(a) * sine_minus_angle(w * s) - 2 * std::sin(a) * half * half);
    };
    term.bound = [=](Real, Real) { return std::abs(A); };
    term.slope_bound = [=](Real, Real) { return std::abs(A * w); };
    term.curvature_bound = [=](Real, Real) { return std::abs(A * w * w); };
    return term;
}

Term bell(Real F, Real at, Real width) {
    Term term;
    const auto scaled = [=](Real t) { return (t - at) / width; };
    term.value = [=](Real t, Real) { return F * std::exp(-scaled(t) * scaled(t)); };
    term.slope = [=](Real t) { return -2 * scaled(t) / width * F * std::exp(-scaled(t) * scaled(t)); };
    // erf(b) − erf(a), both far on one side: by erfc.
    const auto erf_between = [](Real a, Real b) {
        if (a > 1) return std::erfc(a) - std::erfc(b);
        if (b < -1) return std::erfc(-b) - std::erfc(-a);
        return std::erf(b) - std::erf(a);
    };
    const Real root = std::sqrt(pi) / 2;
    term.once = [=](Real t, Real s) { return F * width * root * erf_between(scaled(t), scaled(t + s)); };
    term.twice = [=](Real t, Real s) {
        const Real a = scaled(t), b = scaled(t + s);
        return F * width * width * (b * root * erf_between(a, b) + (std::exp(-b * b) - std::exp(-a * a)) / 2);
    };
    term.bound = [=](Real from, Real to) {
        const auto [near, far] = distances(scaled(from), scaled(to));
        return std::abs(F) * std::exp(-near * near);
    };
    term.slope_bound = [=](Real from, Real to) {
        const auto [near, far] = distances(scaled(from), scaled(to));
        return std::abs(F) / width * std::min(0.86L, 2 * far * std::exp(-near * near));
    };
    term.curvature_bound = [=](Real from, Real to) {
        const auto [near, far] = distances(scaled(from), scaled(to));
        return std::abs(F) / (width * width) * std::min(2.0L, (4 * far * far + 2) * std::exp(-near * near));
    };
    return term;
}

Term box(Real F, Real on, Real off) {
    Term term;
    term.value = [=](Real, Real inside) { return inside > on && inside < off ? F : 0.0L; };
    term.slope = [](Real) { return 0.0L; };
    term.once = [=](Real t, Real s) { return F * std::max(0.0L, std::min(t + s, off) - std::max(t, on)); };
    term.twice = [=](Real t, Real s) {
        const Real end = t + s, low = std::max(t, on), high = std::min(end, off);
        return high <= low ? 0.0L : F * (high - low) * ((end - low) + (end - high)) / 2;
    };
    term.bound = [=](Real from, Real to) { return to > on && from < off ? std::abs(F) : 0.0L; };
    term.slope_bound = term.curvature_bound = [](Real, Real) { return 0.0L; };
    term.jumps = {on, off};
    return term;
}

Real Force::value(Real t, Real inside) const {
    Real sum = 0;
    for (const Term& term : terms) sum += term.value(t, inside);
    return sum;
}
Real Force::slope(Real t) const {
    Real sum = 0;
    for (const Term& term : terms) sum += term.slope(t);
    return sum;
}
Real Force::once(Real t, Real duration) const {
    Real sum = 0;
    for (const Term& term : terms) sum += term.once(t, duration);
    return sum;
}
Real Force::twice(Real t, Real duration) const {
    Real sum = 0;
    for (const Term& term : terms) sum += term.twice(t, duration);
    return sum;
}
Real Force::bound(Real from, Real to) const {
    Real sum = 0;
    for (const Term& term : terms) sum += term.bound(from, to);
    return sum;
}
Real Force::slope_bound(Real from, Real to) const {
    Real sum = 0;
    for (const Term& term : terms) sum += term.slope_bound(from, to);
    return sum;
}
Real Force::curvature_bound(Real from, Real to) const {
    Real sum = 0;
    for (const Term& term : terms) sum += term.curvature_bound(from, to);
    return sum;
}
std::vector<Real> Force::pieces(Real from, Real to) const {
    std::vector<Real> times{from, to};
    for (const Term& term : terms)
        for (const Real t : term.jumps)
            if (t > from && t < to) times.push_back(t);
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    return times;
}

Motion free_mass(const Force& f, Real mass, Real x, Real v, Real t_end) {
    Motion motion;
    motion.q = {x + v * t_end + f.twice(0, t_end) / mass};
    motion.u = {v + f.once(0, t_end) / mass};
    return motion;
}

namespace {

/// c + s·f on the smooth piece that contains `inside`.
Function shifted(const Force& f, Real c, Real s, Real inside) {
    return {[&f, c, s, inside](Real t) { return c + s * f.value(t, inside); },
            [&f, s](Real t) { return s * f.slope(t); }, [&f](Real a, Real b) { return f.slope_bound(a, b); },
            [&f](Real a, Real b) { return f.curvature_bound(a, b); }};
}

/// When c + s·f first comes to zero in [from, to], jumps included. `rate` is |f'| there, infinite at a jump.
std::optional<Real> first_excess(const Force& f, Real c, Real s, Real from, Real to, Real& rate) {
    const std::vector<Real> times = f.pieces(from, to);
    for (std::size_t i = 0; i + 1 < times.size(); ++i) {
        const Real inside = times[i] + (times[i + 1] - times[i]) / 2;
        const Function g = shifted(f, c, s, inside);
        if (g.value(times[i]) <= 0) {
            rate = std::numeric_limits<Real>::infinity();
            return times[i];
        }
        if (const auto zero = first_zero(g, times[i], times[i + 1])) {
            rate = std::abs(f.slope(*zero));
            return zero;
        }
    }
    return std::nullopt;
}

/// How long a + s·f stays positive for certain after t, where it is zero and rising, or positive: half of the time at
/// which the bound of the next derivative could bring it back, not beyond the smooth piece.
Real surely_positive(const Force& f, Real c, Real s, Real t, Real to) {
    const Real end = f.pieces(t, to)[1], inside = t + (end - t) / 2;
    const Real value = c + s * f.value(t, inside), slope = s * f.slope(t);
    const Real scale = std::abs(c) + f.bound(t, end);
    Real time = 0;
    if (value > 1e-9L * scale)
        time = value / (2 * std::max(f.slope_bound(t, end), tiny));
    else if (slope > 0)
        time = slope / std::max(f.curvature_bound(t, end), tiny);
    else
        throw IllPosed("the force does not leave its bound");
    return std::min(time, end - t);
}

}  // namespace

Motion move(const RoughBlock& b, Real x, Real v, Real t_end) {
    Motion motion;
    Real t = 0;
    const Force& f = b.force;
    int direction = v > 0 ? 1 : v < 0 ? -1 : 0;
    bool fresh = false;  // slip begins here with zero velocity
    while (t < t_end) {
        if (direction == 0) {
            Real rate_up = 0, rate_down = 0;
            const auto up = first_excess(f, b.bound, -1, t, t_end, rate_up);
            const auto down = first_excess(f, b.bound, 1, t, up ? *up : t_end, rate_down);
            if (!up && !down) break;
            t = down ? *down : *up;
            direction = down ? -1 : 1;
            if (t >= t_end) break;
            motion.events.push_back({"slip", b.element, t, b.noise.force * b.bound / (down ? rate_down : rate_up)});
            fresh = true;
        }
        const Real s = direction, t0 = t, v0 = fresh ? 0.0L : s * v;
        const auto speed = [&, s, t0, v0](Real at) {
            return v0 + (s * f.once(t0, at - t0) - b.bound * (at - t0)) / b.mass;
        };
        Real from = t0;
        if (fresh) from += surely_positive(f, -b.bound, s, t0, t_end);
        fresh = false;
        std::optional<Real> stop;
        const std::vector<Real> times = f.pieces(from, t_end);
        for (std::size_t i = 0; i + 1 < times.size() && !stop; ++i) {
            const Real inside = times[i] + (times[i + 1] - times[i]) / 2;
            const auto slope = [&, s, inside](Real at) { return (s * f.value(at, inside) - b.bound) / b.mass; };
            const auto curvature = [&](Real lo, Real hi) { return f.slope_bound(lo, hi) / b.mass; };
            const auto bound = [&, slope, curvature](Real lo, Real hi) {
                return std::abs(slope(lo + (hi - lo) / 2)) + curvature(lo, hi) * (hi - lo) / 2;
            };
            stop = first_zero({speed, slope, bound, curvature}, times[i], times[i + 1]);
        }
        const Real until = stop ? *stop : t_end, duration = until - t0;
        x += s * (v0 * duration + (s * f.twice(t0, duration) - b.bound * duration * duration / 2) / b.mass);
        v = stop ? 0.0L : s * speed(t_end);
        t = until;
        if (!stop || t >= t_end) break;
        const std::vector<Real> after = f.pieces(t, t_end);
        const Real inside = after.size() > 1 ? after[0] + (after[1] - after[0]) / 2 : t;
        const Real now = f.value(t, inside), deceleration = (b.bound - s * now) / b.mass;
        if (std::abs(std::abs(now) - b.bound) < 1e-7L * b.bound)
            throw IllPosed("stops where the force is at its bound");
        if (s * now > b.bound) throw IllPosed("a velocity that touches zero");
        const Real slack = b.noise.velocity / deceleration;
        if (std::abs(now) < b.bound) {
            motion.events.push_back({"stick", b.element, t, slack});
            direction = 0;
        } else {
            motion.events.push_back({"reversal", b.element, t, slack});
            direction = -direction;
            fresh = true;
        }
    }
    motion.q = {x};
    motion.u = {v};
    return motion;
}

Motion move(const Bouncer& b, Real z, Real v, Real t_end) {
    Motion motion;
    const Force& f = b.force;
    Real t = 0;
    bool rests = z == 0 && v == 0;
    Real start = 0;           // the flight is certain to stay above the table for so long
    std::size_t chatter = 0;  // impacts since the flights became short
    int impacts = 0;
    if (rests && f.value(0, f.pieces(0, t_end)[1] / 2) >= 0) throw IllPosed("the start is not at rest");
    while (t < t_end) {
        if (rests) {
            Real rate = 0;
            const auto lift = first_excess(f, 0, -1, t, t_end, rate);
            if (!lift || *lift >= t_end) break;
            t = *lift;
            motion.events.push_back({"lift-off", b.element, t, b.noise.force * f.bound(0, t_end) / rate});
            start = surely_positive(f, 0, 1, t, t_end);
            z = 0;
            v = b.lift_speed;
            rests = false;
        }
        const Real t0 = t, z0 = z, v0 = v;
        const auto height = [&, t0, z0, v0](Real at) { return z0 + v0 * (at - t0) + f.twice(t0, at - t0) / b.mass; };
        const auto speed = [&, t0, v0](Real at) { return v0 + f.once(t0, at - t0) / b.mass; };
        const auto curvature = [&](Real lo, Real hi) { return f.bound(lo, hi) / b.mass; };
        const auto bound = [&, speed, curvature](Real lo, Real hi) {
            return std::abs(speed(lo + (hi - lo) / 2)) + curvature(lo, hi) * (hi - lo) / 2;
        };
        const auto hit = first_zero({height, speed, bound, curvature}, t0 + start, t_end);
        if (!hit || *hit >= t_end) {
            z = height(t_end);
            v = speed(t_end);
            break;
        }
        if (++impacts > 20000) throw IllPosed("too many impacts");
        t = *hit;
        const Real before = speed(t);
        z = 0;
        v = -b.e * before;
        const Real slack = b.noise.gap / -before;
        motion.slack += (1 + b.e) * -before * slack;
        motion.events.push_back({"impact", b.element, t, slack});
        chatter = t - t0 < listed_flight ? chatter + 1 : 0;
        const std::vector<Real> after = f.pieces(t, t_end);
        const Real inside = after[0] + (after[1] - after[0]) / 2, now = f.value(t, inside);
        const Real largest = f.bound(t, t_end);
        if (b.e == 0) {
            if (std::abs(now) < 1e-7L * largest) throw IllPosed("lands where the force vanishes");
            rests = now < 0;
            if (!rests) start = surely_positive(f, 0, 1, t, t_end);
            continue;
        }
        start = v * b.mass / largest;
        const Real flight = -2 * v * b.mass / now;
        if (b.e < 1 && now < 0 && flight < summed_flight && -now > 1e-2L * largest) {
            const Real limit = t + flight / (1 - b.e);
            const std::size_t first = motion.events.size() - std::min(chatter, motion.events.size());
            const Real from = first < motion.events.size() ? motion.events[first].t : t;
            motion.events.resize(first);
            motion.events.push_back({"accumulation", b.element, limit, 1e-7L});
            motion.many_impacts.emplace_back(from - 1e-8L, limit + 1e-7L);
            t = limit;
            v = 0;
            rests = true;
            chatter = 0;
        }
    }
    motion.q = {rests ? 0.0L : z};
    motion.u = {rests ? 0.0L : v};
    return motion;
}

Motion move(const Flight& flight, Real x, Real y, Real vx, Real vy, Real t_end) {
    Motion motion;
    const Terrain& ground = flight.ground;
    Real t = 0;
    bool left = false;  // has just bounced off
    for (;;) {
        const Real t0 = t, x0 = x, y0 = y, vx0 = vx, vy0 = vy, w = flight.omega;
        const auto px = [=](Real at) {
            const Real s = at - t0;
            return w == 0 ? x0 + vx0 * s : x0 * std::cos(w * s) + vx0 / w * std::sin(w * s);
        };
        const auto wx = [=](Real at) {
            const Real s = at - t0;
            return w == 0 ? vx0 : vx0 * std::cos(w * s) - x0 * w * std::sin(w * s);
        };
        const Real fastest = w == 0 ? std::abs(vx0) : std::hypot(x0 * w, vx0);
        const auto reach = [=](Real lo, Real hi) {  // contains all x on [lo, hi]
            if (w == 0) return std::pair{std::min(px(lo), px(hi)), std::max(px(lo), px(hi))};
            const Real middle = px(lo + (hi - lo) / 2), radius = fastest * (hi - lo) / 2;
            return std::pair{middle - radius, middle + radius};
        };
        const auto py = [=, &flight](Real at) { return y0 + (vy0 - flight.gravity * (at - t0) / 2) * (at - t0); };
        const auto wy = [=, &flight](Real at) { return vy0 - flight.gravity * (at - t0); };
        std::vector<Real> times{t0, t_end};
        for (const Real kink : ground.kinks) {
            const Real at = vx0 == 0 ? t_end : t0 + (kink - x0) / vx0;
            if (at > t0 && at < t_end) times.push_back(at);
        }
        std::sort(times.begin(), times.end());
        const auto gap = [&](Real at) { return py(at) - ground.height(px(at)); };
        const auto slope = [&](Real at) { return wy(at) - wx(at) * ground.slope(px(at)); };
        const auto slope_bound = [&](Real lo, Real hi) {
            const auto [from, to] = reach(lo, hi);
            return std::max(std::abs(wy(lo)), std::abs(wy(hi))) + fastest * ground.slope_bound(from, to);
        };
        const auto curvature = [&](Real lo, Real hi) {
            const auto [from, to] = reach(lo, hi);
            return std::abs(flight.gravity) + fastest * fastest * ground.curvature_bound(from, to) +
                   fastest * w * ground.slope_bound(from, to);
        };
        std::optional<Real> hit;
        for (std::size_t i = 0; i + 1 < times.size() && !hit; ++i) {
            Real from = times[i];
            if (i == 0 && left)
                from = std::min(times[1], from + slope(from) / std::max(curvature(from, times[1]), tiny));
            hit = first_zero({gap, slope, slope_bound, curvature}, from, times[i + 1]);
        }
        const Real until = hit ? *hit : t_end;
        x = px(until);
        y = py(until);
        vx = wx(until);
        vy = wy(until);
        t = until;
        if (!hit || t >= t_end) break;
        for (const Real kink : ground.kinks)
            if (std::abs(x - kink) < ground.edge) throw IllPosed("a hit on an edge");
        if (static_cast<int>(motion.events.size()) >= flight.max_impacts) throw IllPosed("too many impacts");
        const Real h = ground.slope(x), rate = vy - h * vx, impulse = -(1 + flight.e) * rate / (1 + h * h);
        const Real slack = flight.noise.gap / -rate;
        vx -= h * impulse;
        vy += impulse;
        motion.slack += std::abs(impulse) * (1 + std::abs(h)) * slack;
        motion.events.push_back({"impact", flight.element, t, slack});
        left = true;
    }
    motion.q = {x, y};
    motion.u = {vx, vy};
    return motion;
}

Motion move(const Walls& room, Real x, Real y, Real vx, Real vy, Real t_end) {
    Motion motion;
    Real t = 0;
    std::vector<Real> gaps;
    for (const Walls::Wall& w : room.walls) gaps.push_back(w.nx * x + w.ny * y + w.c);
    for (;;) {
        Real duration = t_end - t;
        std::size_t first = room.walls.size();
        std::vector<Real> rates;
        for (std::size_t i = 0; i < room.walls.size(); ++i) {
            rates.push_back(room.walls[i].nx * vx + room.walls[i].ny * vy);
            if (rates[i] < 0 && -gaps[i] / rates[i] < duration) {
                duration = -gaps[i] / rates[i];
                first = i;
            }
        }
        x += vx * duration;
        y += vy * duration;
        t += duration;
        for (std::size_t i = 0; i < gaps.size(); ++i) gaps[i] += rates[i] * duration;
        if (first == room.walls.size()) break;
        if (static_cast<int>(motion.events.size()) >= room.max_impacts) throw IllPosed("too many impacts");
        const Walls::Wall& w = room.walls[first];
        gaps[first] = 0;
        const Real impulse = -(1 + room.e) * rates[first] / (w.nx * w.nx + w.ny * w.ny);
        vx += w.nx * impulse;
        vy += w.ny * impulse;
        const Real slack = room.noise.gap / -rates[first];
        motion.slack += std::abs(impulse) * slack;
        motion.events.push_back({"impact", w.name, t, slack});
    }
    motion.q = {x, y};
    motion.u = {vx, vy};
    return motion;
}

Motion move(const Oscillator& o, Real x, Real v, Real t_end) {
    Motion motion;
    Real t = 0;
    const Real w = o.omega;
    for (;;) {
        // x = R cos(ω(t − t0) − φ) leaves at +s with the angle −acos(s/R), at −s with π − acos(s/R).
        const Real R = std::hypot(x, v / w), phi = std::atan2(v / w, x);
        const auto time_to = [&](Real angle) {
            Real turn = std::fmod(angle + phi, 2 * pi);
            if (turn < 0) turn += 2 * pi;
            return turn / w;
        };
        Real duration = t_end - t;
        int side = 0;
        if (o.right && R > *o.right && time_to(-std::acos(*o.right / R)) < duration) {
            duration = time_to(-std::acos(*o.right / R));
            side = 1;
        }
        if (o.left && R > *o.left && time_to(pi - std::acos(*o.left / R)) < duration) {
            duration = time_to(pi - std::acos(*o.left / R));
            side = -1;
        }
        const Real c = std::cos(w * duration), s = std::sin(w * duration), x0 = x;
        x = x0 * c + v / w * s;
        v = v * c - x0 * w * s;
        t += duration;
        if (side == 0) break;
        if (motion.events.size() > 50) throw IllPosed("too many impacts");
        x = side > 0 ? *o.right : -*o.left;
        const Real slack = o.noise.gap / std::abs(v);
        motion.slack += (1 + o.e) * o.noise.gap;
        motion.events.push_back({"impact", side > 0 ? o.right_name : o.left_name, t, slack});
        v = -o.e * v;
    }
    motion.q = {x};
    motion.u = {v};
    return motion;
}

Motion move(const Beats& b, Real x, Real y, Real vx, Real vy, Real t_end) {
    Motion motion;
    Real t = 0, start = 0;
    for (;;) {
        const Real t0 = t, x0 = x, y0 = y, vx0 = vx, vy0 = vy, wx = b.omega_x, wy = b.omega_y;
        const Real ax = std::hypot(x0, vx0 / wx), ay = std::hypot(y0, vy0 / wy);
        const auto position = [](Real q, Real u, Real w, Real s) {
            return q * std::cos(w * s) + u / w * std::sin(w * s);
        };
        const auto speed = [](Real q, Real u, Real w, Real s) { return u * std::cos(w * s) - q * w * std::sin(w * s); };
        const auto gap = [&](Real at) {
            return b.limit - position(x0, vx0, wx, at - t0) - position(y0, vy0, wy, at - t0);
        };
        const auto rate = [&](Real at) { return -speed(x0, vx0, wx, at - t0) - speed(y0, vy0, wy, at - t0); };
        const Real curvature = ax * wx * wx + ay * wy * wy;
        const auto slope_bound = [=](Real, Real) { return ax * wx + ay * wy; };
        const auto curvature_bound = [=](Real, Real) { return curvature; };
        const auto hit = first_zero({gap, rate, slope_bound, curvature_bound}, t0 + start, t_end);
        t = hit ? *hit : t_end;
        x = position(x0, vx0, wx, t - t0);
        y = position(y0, vy0, wy, t - t0);
        vx = speed(x0, vx0, wx, t - t0);
        vy = speed(y0, vy0, wy, t - t0);
        if (!hit) break;
        if (motion.events.size() > 50) throw IllPosed("too many impacts");
        const Real approach = vx + vy, slack = b.noise.gap / approach;
        motion.events.push_back({"impact", b.element, t, slack});
        motion.slack += (1 + b.e) * b.noise.gap;
        vx -= (1 + b.e) * approach / 2;
        vy -= (1 + b.e) * approach / 2;
        start = b.e * approach / curvature;
    }
    motion.q = {x, y};
    motion.u = {vx, vy};
    return motion;
}

namespace {

/// ∫ dθ/√(1 − k² sin²θ) from 0 to theta, by Simpson's rule; the integrand is analytic.
Real elliptic_F(Real theta, Real k) {
    constexpr int n = 4000;
    const auto f = [k](Real a) { return 1 / std::sqrt(1 - k * k * std::sin(a) * std::sin(a)); };
    const Real h = theta / n;
    Real sum = f(0) + f(theta);
    for (int i = 1; i < n; ++i) sum += (i % 2 == 1 ? 4 : 2) * f(h * i);
    return sum * h / 3;
}

/// (φ, φ') after a time, by Runge-Kutta steps of order four.
void swing(Real w, Real& angle, Real& rate, Real duration) {
    const int n = 20 + static_cast<int>(duration * w * 4000);
    const Real h = duration / n;
    const auto a = [w](Real phi) { return -w * w * std::sin(phi); };
    for (int i = 0; i < n; ++i) {
        const Real p1 = rate, r1 = a(angle);
        const Real p2 = rate + h / 2 * r1, r2 = a(angle + h / 2 * p1);
        const Real p3 = rate + h / 2 * r2, r3 = a(angle + h / 2 * p2);
        const Real p4 = rate + h * r3, r4 = a(angle + h * p3);
        angle += h / 6 * (p1 + 2 * p2 + 2 * p3 + p4);
        rate += h / 6 * (r1 + 2 * r2 + 2 * r3 + r4);
    }
}

}  // namespace

Motion move(const Pendulum& p, Real amplitude, Real t_end) {
    Motion motion;
    Real angle = amplitude, rate = 0, t = 0;
    if (p.stop < amplitude) {
        // sin(φ/2) = k sin θ, k = sin(amplitude/2): from θ = π/2 through 0 to −θ_s, ω t = K + F(θ_s).
        const Real k = std::sin(amplitude / 2), theta = std::asin(std::sin(p.stop / 2) / k);
        const Real hit = (elliptic_F(pi / 2, k) + elliptic_F(theta, k)) / p.omega;
        if (hit < t_end) {
            const Real s = std::sin((amplitude + p.stop) / 2) * std::sin((amplitude - p.stop) / 2);
            rate = -2 * p.omega * std::sqrt(s);  // ½φ'² = ω² (cos stop − cos amplitude) = 2ω² s
            angle = -p.stop;
            const Real slack = p.noise.gap / -rate;
            motion.events.push_back({"impact", p.element, hit, slack});
            motion.slack = 2 * p.noise.gap;
            rate *= -p.e;
            t = hit;
        }
    }
    swing(p.omega, angle, rate, t_end - t);
    motion.q = {angle};
    motion.u = {rate};
    return motion;
}

}  // namespace saltus::integrate::exact
