// SPDX-License-Identifier: Apache-2.0
#include "integrate/event_traps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numbers>
#include <optional>
#include <random>

#include "integrate/exact_motions.hpp"

namespace saltus::integrate::traps {

namespace {

using exact::Force;
using exact::IllPosed;
using exact::Motion;
using exact::Real;

constexpr Real pi = std::numbers::pi_v<Real>;

// --- tolerances of the judge ---

/// Error of an event time that is always accepted, relative to max(1, t).
constexpr Real time_tolerance = 1e-9L;
/// Error of the end state that is always accepted, relative to 1 + |x|.
constexpr Real state_tolerance = 1e-7L;
/// Events that are less certain than this, in s, and everything after them, are cut off.
constexpr Real uncertain_time = 1e-6L;
/// End states that are less certain than this, relative to 1 + |x|, are not judged.
constexpr Real uncertain_state = 1e-5L;
/// The error of the initial state is multiplied by this in the study of sensitivity.
constexpr Real safety = 10;
/// A depth or distance of grazing below this, relative to the size of the coordinates, is decided by rounding.
constexpr Real least_depth = 1e-11L;
/// Events of different contacts that are closer than this, relative to max(1, t), in s, may come in any order.
constexpr Real least_separation = 1e-11L;

// Errors of the state that a good run may have, relative to 1 + |x|.
constexpr Real flight_error = 1e-14L;  ///< arcs are polynomials of low degree: rounding only
constexpr Real curved_error = 1e-13L;  ///< the same, over curved ground
constexpr Real spring_error = 1e-11L;  ///< sinusoids over a few periods
constexpr Real run_error = 1e-10L;     ///< integration with rtol 1e-9

// --- random numbers, the same with every standard library ---

struct Random {
    std::mt19937_64 engine;

    double uniform(double a, double b) { return a + (b - a) * static_cast<double>(engine() >> 11) * 0x1p-53; }
    /// Uniform in the exponent.
    double log(double a, double b) { return std::exp(uniform(std::log(a), std::log(b))); }
    int below(int n) { return static_cast<int>(engine() % static_cast<std::uint64_t>(n)); }
    bool chance(double p) { return uniform(0, 1) < p; }
    double sign() { return chance(0.5) ? 1.0 : -1.0; }
};

std::string num(double x) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", x);
    return text;
}
/// As a factor or summand in an expression.
std::string par(double x) { return x < 0 ? "(" + num(x) + ")" : num(x); }

// --- model texts ---

struct Coordinate {
    std::string name;
    double q = 0.0, u = 0.0;
    std::string f = "";  ///< force
};

std::string model_text(const std::vector<Coordinate>& coordinates, double m, const std::string& U,
                       const std::string& elements) {
    std::string names, T, f, q, u;
    for (const Coordinate& c : coordinates) {
        const std::string comma = names.empty() ? "" : ", ";
        names += comma + "\"" + c.name + "\"";
        T += (T.empty() ? "" : " + ") + c.name + "'^2";
        q += comma + c.name + " = " + num(c.q);
        u += comma + c.name + " = " + num(c.u);
        if (!c.f.empty()) f += (f.empty() ? "" : ", ") + c.name + " = \"" + c.f + "\"";
    }
    return "[system]\nname = \"trap\"\nq = [" + names + "]\nT = \"" + num(m) + "/2*(" + T + ")\"\n" +
           (U.empty() ? "" : "U = \"" + U + "\"\n") + (f.empty() ? "" : "f = { " + f + " }\n") + elements +
           "[initial]\nq = { " + q + " }\nu = { " + u + " }\n";
}

std::string contact_text(const std::string& name, const std::string& gap, double e) {
    return "[[contact]]\nname = \"" + name + "\"\ngN = \"" + gap + "\"\neN = " + num(e) + "\n";
}

// --- from an exact motion to a trap ---

struct Case {
    std::string text;
    double t_end = 1.0;
    /// The motion from the initial state plus an offset (q, u), up to t_end.
    std::function<Motion(const std::vector<Real>& offset, Real t_end)> motion;
    std::vector<Real> start;  ///< initial (q, u)
    bool shift = true;        ///< false: the start is at rest in a contact, an offset would change what is asked
    Real error = run_error;   ///< of the state
    std::size_t max_events = 6;
    bool decided = true;
};

bool same_kind(const exact::Event& a, const exact::Event& b) { return a.kind == b.kind && a.element == b.element; }

struct Study {
    Motion motion;
    std::vector<Motion> shifted;
};

Study study(const Case& c, Real t_end) {
    std::vector<Real> offset(c.start.size(), 0.0L);
    Study s{c.motion(offset, t_end), {}};
    for (std::size_t i = 0; c.shift && i < offset.size(); ++i)
        for (const Real side : {-1.0L, 1.0L}) {
            offset[i] = side * safety * c.error * (1 + std::abs(c.start[i]));
            s.shifted.push_back(c.motion(offset, t_end));
            offset[i] = 0;
        }
    return s;
}

Real tolerance_of(const Study& s, std::size_t event) {
    const exact::Event& e = s.motion.events[event];
    Real sum = 0;
    for (const Motion& m : s.shifted) sum += std::abs(m.events[event].t - e.t);
    return sum + e.slack;
}

/// The number of leading events that are the same with every offset, and certain.
std::size_t certain_events(const Study& s) {
    for (std::size_t k = 0; k < s.motion.events.size(); ++k) {
        for (const Motion& m : s.shifted)
            if (m.events.size() <= k || !same_kind(m.events[k], s.motion.events[k])) return k;
        if (tolerance_of(s, k) > uncertain_time) return k;
    }
    return s.motion.events.size();
}

/// A time between event n − 1 and event n of the motion and of all shifted ones.
Real cut_before(const Study& s, std::size_t n, Real t_end) {
    const Real before = n == 0 ? 0 : s.motion.events[n - 1].t;
    Real after = t_end;
    const auto limit = [&](const Motion& m) {
        if (n < m.events.size()) after = std::min(after, m.events[n].t);
        for (const auto& [from, to] : m.many_impacts)
            if (from > before && from < after) after = from;
    };
    limit(s.motion);
    for (const Motion& m : s.shifted) limit(m);
    if (after - before < 1e-7L) throw IllPosed("no room for an end");
    return before + 0.6L * (after - before);
}

Trap trap_of(const Case& c) {
    Real t_end = c.t_end;
    Study s = study(c, t_end);
    std::size_t n = std::min(certain_events(s), c.max_events);
    const auto whole = [&] {
        return n == s.motion.events.size() &&
               std::all_of(s.shifted.begin(), s.shifted.end(), [n](const Motion& m) { return m.events.size() == n; });
    };
    if (!whole()) {
        t_end = static_cast<double>(cut_before(s, n, t_end));
        s = study(c, t_end);
        if (certain_events(s) != n || !whole()) throw IllPosed("no certain end");
    }
    Trap trap;
    trap.text = c.text;
    trap.t_end = static_cast<double>(t_end);
    trap.decided = c.decided;
    for (std::size_t k = 0; k < n; ++k) {
        const exact::Event& e = s.motion.events[k];
        if (t_end - e.t < 1e-7L) throw IllPosed("an event at the end");
        trap.events.push_back({e.kind, e.element, static_cast<double>(e.t),
                               static_cast<double>(time_tolerance * std::max(1.0L, e.t) + tolerance_of(s, k))});
    }
    for (const auto& [from, to] : s.motion.many_impacts)
        trap.many_impacts.emplace_back(static_cast<double>(from), static_cast<double>(to));
    const auto state = [&](std::vector<Real> Motion::*member, std::vector<double>& values,
                           std::vector<double>& errors) {
        const std::vector<Real>& nominal = s.motion.*member;
        for (std::size_t i = 0; i < nominal.size(); ++i) {
            Real sum = s.motion.slack;
            for (const Motion& m : s.shifted) sum += std::abs((m.*member)[i] - nominal[i]);
            const Real scale = 1 + std::abs(nominal[i]);
            if (sum > uncertain_state * scale) trap.check_state = false;
            values.push_back(static_cast<double>(nominal[i]));
            errors.push_back(static_cast<double>(state_tolerance * scale + sum));
        }
    };
    state(&Motion::q, trap.q, trap.q_tolerance);
    state(&Motion::u, trap.u, trap.u_tolerance);
    return trap;
}

// --- ground ---

struct Ground {
    std::string text;  ///< of h(x)
    exact::Terrain terrain;
    Real peak = 0;  ///< largest height
};

/// Ground H·shape((x − a)/w), with bounds of the shape's derivatives as functions of the distances near <= |s| <= far.
Ground scaled(std::string text, Real H, Real a, Real w, std::function<Real(Real)> shape,
              std::function<Real(Real)> slope, std::function<Real(Real near, Real far)> slope_bound,
              std::function<Real(Real near, Real far)> curvature_bound) {
    Ground g;
    g.text = std::move(text);
    const auto range = [a, w](Real from, Real to) {
        const Real low = (from - a) / w, high = (to - a) / w;
        return std::pair<Real, Real>{low > 0 ? low : high < 0 ? -high : 0.0L, std::max(std::abs(low), std::abs(high))};
    };
    g.terrain.height = [=](Real x) { return H * shape((x - a) / w); };
    g.terrain.slope = [=](Real x) { return H / w * slope((x - a) / w); };
    g.terrain.slope_bound = [=](Real from, Real to) {
        const auto [near, far] = range(from, to);
        return std::abs(H) / w * slope_bound(near, far);
    };
    g.terrain.curvature_bound = [=](Real from, Real to) {
        const auto [near, far] = range(from, to);
        return std::abs(H) / (w * w) * curvature_bound(near, far);
    };
    g.peak = H;
    return g;
}

Ground bell_ground(double H, double a, double w) {
    return scaled(
        num(H) + "*exp(-((x - " + par(a) + ")/" + num(w) + ")^2)", H, a, w, [](Real s) { return std::exp(-s * s); },
        [](Real s) { return -2 * s * std::exp(-s * s); },
        [](Real near, Real far) { return std::min(0.86L, 2 * far * std::exp(-near * near)); },
        [](Real near, Real far) { return std::min(2.0L, (4 * far * far + 2) * std::exp(-near * near)); });
}

Ground rational_ground(double H, double a, double w) {
    return scaled(
        num(H) + "/(1 + ((x - " + par(a) + ")/" + num(w) + ")^2)", H, a, w, [](Real s) { return 1 / (1 + s * s); },
        [](Real s) { return -2 * s / ((1 + s * s) * (1 + s * s)); },
        [](Real near, Real far) { return std::min(0.65L, 2 * far / ((1 + near * near) * (1 + near * near))); },
        [](Real near, Real far) { return std::min(2.0L, (6 * far * far + 2) / std::pow(1 + near * near, 3.0L)); });
}

Ground hat_ground(double H, double a, double w) {
    Ground g = scaled(
        num(H) + "*max(0, 1 - abs(x - " + par(a) + ")/" + num(w) + ")", H, a, w,
        [](Real s) { return std::max(0.0L, 1 - std::abs(s)); },
        [](Real s) { return std::abs(s) > 1 ? 0.0L
                            : s < 0         ? 1.0L
                                            : -1.0L; },
        [](Real near, Real) { return near >= 1 ? 0.0L : 1.0L; }, [](Real, Real) { return 0.0L; });
    const Real left = Real(a) - w, right = Real(a) + w;
    g.terrain.kinks = {left, a, right};
    g.terrain.edge = 1e-5L * w;
    return g;
}

/// sech² and its derivative decay as 4 exp(−2|s|).
Real sech_bound(Real near) { return std::min(1.0L, 4 * std::exp(-2 * near)); }

/// A wall with a smooth face of width w; beyond a + `thickness` the ground is low again. thickness = 0: it stays high.
Ground tanh_ground(double H, double a, double w, double thickness) {
    const auto up = [](Real s) { return std::tanh(s) / 2; };
    const auto rise = [](Real s) { return 0.5L / (std::cosh(s) * std::cosh(s)); };
    const auto slope_bound = [](Real near, Real) { return sech_bound(near) / 2; };
    const auto curvature_bound = [](Real near, Real) { return std::min(0.39L, sech_bound(near)); };
    const Ground first = scaled("", H, a, w, up, rise, slope_bound, curvature_bound);
    if (thickness == 0.0) {
        Ground g = first;
        g.text = num(H) + "*(1 + tanh((x - " + par(a) + ")/" + num(w) + "))/2";
        const auto height = first.terrain.height;
        g.terrain.height = [height, H](Real x) { return Real(H) / 2 + height(x); };
        return g;
    }
    const double b = a + thickness;
    const Ground second = scaled("", H, b, w, up, rise, slope_bound, curvature_bound);
    Ground g;
    g.text = num(H) + "/2*(tanh((x - " + par(a) + ")/" + num(w) + ") - tanh((x - " + par(b) + ")/" + num(w) + "))";
    const exact::Terrain &t1 = first.terrain, &t2 = second.terrain;
    g.terrain.height = [t1, t2](Real x) { return t1.height(x) - t2.height(x); };
    g.terrain.slope = [t1, t2](Real x) { return t1.slope(x) - t2.slope(x); };
    g.terrain.slope_bound = [t1, t2](Real lo, Real hi) { return t1.slope_bound(lo, hi) + t2.slope_bound(lo, hi); };
    g.terrain.curvature_bound = [t1, t2](Real lo, Real hi) {
        return t1.curvature_bound(lo, hi) + t2.curvature_bound(lo, hi);
    };
    g.peak = H * std::tanh((Real(b) - a) / (2 * Real(w)));
    return g;
}

/// h − s (x − a)^k, k = 2 or 4.
Ground dome_ground(double h, double s, double a, int k) {
    Ground g;
    g.text = "(" + num(h) + " - " + num(s) + "*(x - " + par(a) + ")^" + std::to_string(k) + ")";
    const Real H = h, S = s, A = a, K = k;
    const auto far = [A](Real lo, Real hi) { return std::max(std::abs(lo - A), std::abs(hi - A)); };
    g.terrain.height = [=](Real x) { return H - S * std::pow(x - A, K); };
    g.terrain.slope = [=](Real x) { return -S * K * std::pow(x - A, K - 1); };
    g.terrain.slope_bound = [=](Real lo, Real hi) { return S * K * std::pow(far(lo, hi), K - 1); };
    g.terrain.curvature_bound = [=](Real lo, Real hi) { return S * K * (K - 1) * std::pow(far(lo, hi), K - 2); };
    g.peak = h;
    return g;
}

Ground ripple_ground(double b, double k, double phase) {
    Ground g;
    g.text = num(b) + "*sin(" + num(k) + "*x + " + par(phase) + ")";
    const Real B = b, K = k, P = phase;
    g.terrain.height = [=](Real x) { return B * std::sin(K * x + P); };
    g.terrain.slope = [=](Real x) { return B * K * std::cos(K * x + P); };
    g.terrain.slope_bound = [=](Real, Real) { return B * K; };
    g.terrain.curvature_bound = [=](Real, Real) { return B * K * K; };
    g.peak = b;
    return g;
}

struct Start {
    double x, y, vx, vy;
};

/// `spring` > 0: a spring of this stiffness pulls the mass to x = 0.
Case flight_case(const Ground& ground, const Start& s, double gravity, double e, double m, double t_end,
                 double spring = 0.0) {
    Case c;
    std::string U = gravity == 0.0 ? "" : num(m) + "*" + num(gravity) + "*y";
    if (spring > 0) U = num(spring) + "/2*x^2";
    c.text = model_text({{"x", s.x, s.vx}, {"y", s.y, s.vy}}, m, U, contact_text("ground", "y - " + ground.text, e));
    c.t_end = t_end;
    c.start = {s.x, s.y, s.vx, s.vy};
    c.error = curved_error;
    exact::Flight flight;
    flight.ground = ground.terrain;
    flight.gravity = gravity;
    flight.e = e;
    flight.element = "ground";
    flight.noise.gap = spring > 0 ? 1e-12L : 1e-14L;
    flight.omega = std::sqrt(Real(spring) / m);
    if (spring > 0) c.error = spring_error;
    c.motion = [flight, start = c.start](const std::vector<Real>& o, Real end) {
        return move(flight, start[0] + o[0], start[1] + o[1], start[2] + o[2], start[3] + o[3], end);
    };
    if (ground.terrain.height(s.x) > s.y - 1e-3) throw IllPosed("starts in the ground");
    return c;
}

/// A flight over a bump at `a` in (3, 7) of a path of length 10 that clears it by `clearance`; negative: hits.
Case bump_flight(Random& r, const Ground& ground, double a, double clearance) {
    const double vx = r.log(1, 20), duration = 10.0 / vx, e = r.uniform(0.2, 1.0), m = r.uniform(0.5, 3.0);
    const double top = static_cast<double>(ground.peak) + clearance;
    if (r.chance(0.5)) return flight_case(ground, {0, top, vx, 0}, 0, e, m, duration);
    const double at = a / vx, longest = std::max(at, duration - at);
    const double gravity = r.uniform(0.1, 0.8) * top / (longest * longest), vp = r.uniform(-0.1, 0.1) * top / longest;
    return flight_case(ground, {0, top - vp * at - gravity * at * at / 2, vx, vp + gravity * at}, gravity, e, m,
                       duration);
}

double clearance_of(Random& r, double H, double least) {
    const double sizes[] = {r.uniform(0.05, 0.8), r.log(least, 1e-3)};
    return r.chance(0.6) ? -sizes[r.below(2)] * H : sizes[r.below(2)] * H;
}

Case spike(Random& r) {
    const double H = r.uniform(0.3, 1.0), a = r.uniform(3, 7), w = r.log(1e-3, r.chance(0.8) ? 1.0 : 10.0);
    const Ground ground = bell_ground(H, a, w);
    if (r.chance(0.3)) {  // x swings to and fro over the spike
        const double m = r.uniform(0.5, 3.0), spring = r.log(1, 100), reach = r.uniform(a + 0.2, 12);
        const double speed = std::sqrt(spring / m), top = H + clearance_of(r, H, 1e-6);
        Case c = flight_case(ground, {0, top, reach * speed, 0}, 0, r.uniform(0.2, 1.0), m, r.uniform(2, 10) / speed,
                             spring);
        c.max_events = 3;
        return c;
    }
    return bump_flight(r, ground, a, clearance_of(r, H, 1e-6));
}

Case thin_obstacle(Random& r) {
    const double H = r.uniform(0.3, 1.0), a = r.uniform(3, 7), w = r.log(1e-5, 0.1);
    switch (r.below(4)) {
        case 0: return bump_flight(r, hat_ground(H, a, w), a, clearance_of(r, H, 1e-4));
        case 1: return bump_flight(r, rational_ground(H, a, w), a, clearance_of(r, H, 1e-6));
        case 2: return bump_flight(r, tanh_ground(H, a, w, 0), a, clearance_of(r, H, 1e-6));
        default: {
            const double thickness = w * r.uniform(1, 6);
            const Ground ground = tanh_ground(H, a, w, thickness);
            return bump_flight(r, ground, a + thickness / 2, clearance_of(r, H, 1e-6));
        }
    }
}

// --- forces ---

struct Push {
    std::string text;
    Force force;

    void add(const std::string& more, exact::Term term) {
        text += (text.empty() ? "" : " + ") + more;
        force.terms.push_back(std::move(term));
    }
};

void add_pulse(Random& r, Push& push, double F, double a, double w) {
    const std::string f = par(F), at = num(a), width = num(w);
    if (r.chance(0.5)) {
        push.add("if(abs(t - " + at + ") < " + width + ", " + num(F) + ", 0)", exact::box(F, Real(a) - w, Real(a) + w));
        return;
    }
    const double on = a - w, off = a + w;
    const std::string from = num(on), to = num(off), product = "(t - " + from + ")*(" + to + " - t)";
    const std::string forms[] = {
        f + "*if(t > " + from + ", 1, 0)*if(t < " + to + ", 1, 0)",
        "if(t < " + from + ", 0, if(t < " + to + ", " + num(F) + ", 0))",
        "if(" + product + " > 0, " + num(F) + ", 0)",
        "if(max(" + from + " - t, t - " + to + ") < 0, " + num(F) + ", 0)",
        "if(min(t - " + from + ", " + to + " - t) > 0, " + num(F) + ", 0)",
        f + "*max(0, sign(" + product + "))",
    };
    push.add(forms[r.below(6)], exact::box(F, on, off));
}

void add_bell(Push& push, double F, double a, double w) {
    push.add(par(F) + "*exp(-((t - " + num(a) + ")/" + num(w) + ")^2)", exact::bell(F, a, w));
}

/// F while sin(ω t) > c.
void add_train(Push& push, double F, double w, double c, double t_end) {
    const Real first = std::asin(Real(c)), W = w;
    push.text += (push.text.empty() ? "" : " + ") + ("if(sin(" + num(w) + "*t) > " + num(c) + ", " + num(F) + ", 0)");
    for (int k = 0; (first + 2 * pi * k) / W < t_end; ++k)
        push.force.terms.push_back(exact::box(F, (first + 2 * pi * k) / W, (pi - first + 2 * pi * k) / W));
}

Case free_mass_case(const Push& push, double m, double x, double v, double t_end) {
    Case c;
    c.text = model_text({{"x", x, v, push.text}}, m, "", "");
    c.t_end = t_end;
    c.start = {x, v};
    c.motion = [push, m, x, v](const std::vector<Real>& o, Real end) {
        return free_mass(push.force, m, x + o[0], v + o[1], end);
    };
    return c;
}

/// A spring holds the mass: each pulse adds F/k [cos ω(t − off) − cos ω(t − on)], cos replaced by 1 before its time.
Case oscillator_with_pulses(Random& r) {
    const double m = r.uniform(0.5, 2), k = r.log(1, 100), t_end = r.uniform(2, 10), x = r.uniform(-1, 1);
    const Real w = std::sqrt(Real(k) / m);
    Push push;
    std::vector<Real> sizes;
    for (int i = 1 + r.below(3); i > 0; --i) {
        const double width = r.log(1e-6, 0.3), F = r.sign() * m * r.uniform(0.1, 3) / (2 * width);
        add_pulse(r, push, F, r.uniform(0.1, 0.9) * t_end, width);
        sizes.push_back(F);
    }
    Case c;
    c.text = model_text({{"x", x, 0, push.text}}, m, num(k) + "/2*x^2", "");
    c.t_end = t_end;
    c.start = {x, 0};
    c.motion = [=](const std::vector<Real>& o, Real end) {
        Motion motion;
        Real q = (x + o[0]) * std::cos(w * end) + o[1] / w * std::sin(w * end);
        Real u = -(x + o[0]) * w * std::sin(w * end) + o[1] * std::cos(w * end);
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const Real on = w * (end - push.force.terms[i].jumps[0]), off = w * (end - push.force.terms[i].jumps[1]);
            // cos off − cos on = 2 sin((on + off)/2) sin((on − off)/2), and so for the sines.
            const Real half = std::sin((on - off) / 2), middle = (on + off) / 2;
            q += sizes[i] / k * 2 * std::sin(middle) * half;
            u += sizes[i] / k * w * 2 * std::cos(middle) * half;
        }
        motion.q = {q};
        motion.u = {u};
        return motion;
    };
    return c;
}

/// A force acts only while |x − a| < w: a thin barrier that is passed with another speed, or not passed.
Case barrier(Random& r) {
    const double m = r.uniform(0.5, 2), v = r.uniform(0.5, 3), a = r.uniform(1, 3), w = r.log(1e-6, 1e-2);
    const double energy = m * v * v / 2;
    double gain = r.uniform(-3, 3) * energy;  // work of the whole barrier
    if (r.chance(0.4)) gain = -energy * (1 + r.sign() * r.log(1e-4, 1e-1));
    const double F = gain / (2 * w), t_end = 5 / v;
    Case c;
    c.text = model_text({{"x", 0, v, "if(abs(x - " + num(a) + ") < " + num(w) + ", " + num(F) + ", 0)"}}, m, "", "");
    c.t_end = t_end;
    c.start = {0, v};
    c.motion = [=](const std::vector<Real>& o, Real end) {
        const Real left = Real(a) - w, right = Real(a) + w, u0 = v + o[1], on = (left - o[0]) / u0;
        const Real square = u0 * u0 + 2 * Real(F) * (right - left) / m;
        Motion motion;
        if (square > 0) {
            const Real u1 = std::sqrt(square), off = on + 2 * (right - left) / (u0 + u1);
            if (off > end) throw IllPosed("ends in the barrier");
            motion.q = {right + u1 * (end - off)};
            motion.u = {u1};
        } else {
            const Real off = on - 2 * u0 * m / Real(F);
            if (off > end) throw IllPosed("ends in the barrier");
            motion.q = {left - u0 * (end - off)};
            motion.u = {-u0};
        }
        return motion;
    };
    return c;
}

/// A block on a rough floor, or a slider, under a push; the bound of friction is μ m g.
Case block_case(Random& r, const Push& push, double m, double mu, double x, double v, double t_end,
                const std::string& lift = "", const Push* along = nullptr) {
    Case c;
    const double g = 9.81;
    exact::RoughBlock block;
    block.force = along != nullptr ? along->force : push.force;
    block.mass = m;
    block.bound = Real(mu) * m * g;
    block.noise.velocity = 1e-10L;
    const bool floor = !lift.empty() || r.chance(0.5);
    block.element = floor ? "floor" : "slider";
    if (floor)
        c.text = model_text({{"x", x, v, push.text}, {"y", 0, 0, lift}}, m, num(m) + "*9.8100000000000005*y",
                            "[[contact]]\nname = \"floor\"\ngN = \"y\"\ngammaT = \"x'\"\nmu = " + num(mu) + "\n");
    else
        c.text = model_text({{"x", x, v, push.text}}, m, "",
                            "[[slider]]\nname = \"slider\"\ngammaT = \"x'\"\nmu = " + num(mu) + "\nFN = \"" + num(m) +
                                "*9.8100000000000005\"\n");
    c.t_end = t_end;
    c.start = {x, v};
    c.shift = v != 0;
    c.motion = [=](const std::vector<Real>& o, Real end) {
        Motion motion = move(block, x + o[0], v + o[1], end);
        if (floor) {
            motion.q.push_back(0);
            motion.u.push_back(0);
        }
        return motion;
    };
    return c;
}

/// Slip that is slower than this, in m/s, cannot be told from stick.
constexpr Real least_slip = 1e-6L;

Case rough_pulses(Random& r) {
    const double m = r.uniform(0.5, 2), mu = r.uniform(0.1, 0.8), t_end = r.uniform(1, 4), R = mu * m * 9.81;
    Push push;
    const bool smooth = r.chance(0.4);
    double strongest = 0;
    for (int i = 1 + r.below(3); i > 0; --i) {
        const double w = r.log(1e-6, 0.1), a = r.uniform(0.1, 0.8) * t_end;
        double F = R * (1 + r.sign() * r.log(1e-6, 0.3));
        if (r.chance(0.5)) F = R * (1 + r.uniform(0.1, 1) / (w * 20));
        if (F > R && (F - R) * w / m * (smooth ? std::sqrt((F - R) / R) : 1.0) < 3 * static_cast<double>(least_slip))
            throw IllPosed("slips too slowly");
        strongest = std::max(strongest, F);
        F *= r.sign();
        if (smooth)
            add_bell(push, F, a, w);
        else
            add_pulse(r, push, F, a, w);
    }
    return block_case(r, push, m, mu, r.uniform(-1, 1), 0, t_end);
}

Case force_pulse(Random& r) {
    const double m = r.uniform(0.5, 2), t_end = r.uniform(1, 10);
    Push push;
    switch (r.below(7)) {
        case 0:
        case 1: {
            for (int i = 1 + r.below(3); i > 0; --i) {
                const double w = r.log(1e-6, 0.3);
                add_pulse(r, push, r.sign() * m * r.uniform(0.1, 3) / (2 * w), r.uniform(0.1, 0.9) * t_end, w);
            }
            return free_mass_case(push, m, r.uniform(-1, 1), r.uniform(-1, 1), t_end);
        }
        case 2: return oscillator_with_pulses(r);
        case 3: {
            const double w = r.log(2, 30), narrow = r.log(1e-4, 1);
            const double c = std::cos(narrow);  // each pulse lasts 2·narrow/ω
            add_train(push, r.sign() * m * r.uniform(0.1, 1) * w / (2 * narrow), w, c, t_end);
            return free_mass_case(push, m, r.uniform(-1, 1), r.uniform(-1, 1), t_end);
        }
        case 4: {
            for (int i = 1 + r.below(3); i > 0; --i) {
                const double w = r.log(1e-6, 0.3);
                add_bell(push, r.sign() * m * r.uniform(0.1, 3) / (w * 1.7725), r.uniform(0.1, 0.9) * t_end, w);
            }
            return free_mass_case(push, m, r.uniform(-1, 1), r.uniform(-1, 1), t_end);
        }
        case 5: return barrier(r);
        default: return rough_pulses(r);
    }
}

// --- tables ---

struct Table {
    double A, w, phase, e, m, gravity;
};

/// A ball above the table A sin(ω t + phase), under gravity and another force. z = y − A sin(ω t + phase).
Case table_case(const Table& table, const Push& extra, double height, double v, bool rests, double t_end) {
    const Real A = table.A, w = table.w, phase = table.phase;
    Case c;
    exact::Bouncer ball;
    ball.force = extra.force;
    ball.force.terms.push_back(exact::power(-Real(table.m) * table.gravity, 0));
    if (table.A != 0) ball.force.terms.push_back(exact::sine(table.m * A * w * w, w, phase));
    ball.mass = table.m;
    ball.e = table.e;
    ball.element = "table";
    const auto surface = [=](Real t) { return table.A == 0 ? 0.0L : A * std::sin(w * t + phase); };
    const auto speed = [=](Real t) { return table.A == 0 ? 0.0L : A * w * std::cos(w * t + phase); };
    const double y0 = rests ? static_cast<double>(surface(0)) : height;
    const double v0 = rests ? static_cast<double>(speed(0)) : v;
    const std::string angle = num(table.w) + "*t" + (table.phase == 0 ? "" : " + " + par(table.phase));
    c.text = model_text(
        {{"y", y0, v0, extra.text}}, table.m, table.gravity == 0 ? "" : num(table.m) + "*" + num(table.gravity) + "*y",
        contact_text("table", table.A == 0 ? "y" : "y - " + num(table.A) + "*sin(" + angle + ")", table.e));
    c.t_end = t_end;
    c.start = {y0, v0};
    c.error = extra.force.terms.empty() ? curved_error : run_error;
    ball.noise.gap = extra.force.terms.empty() ? 1e-14L : 1e-12L;
    c.motion = [=](const std::vector<Real>& o, Real end) {
        const Real z = rests ? 0.0L : y0 + o[0] - surface(0), u = rests ? 0.0L : v0 + o[1] - speed(0);
        exact::Bouncer other = ball;
        if (rests) other.lift_speed = std::abs(o[1]);
        Motion motion = move(other, z, u, end);
        motion.q[0] += surface(end);
        motion.u[0] += speed(end);
        return motion;
    };
    if (!rests && y0 - surface(0) < 1e-6L) throw IllPosed("starts in the table");
    return c;
}

Case shaking_table(Random& r) {
    Table table{0, r.uniform(5, 60), 0, 0, r.uniform(0.5, 2), 9.81};
    const double Gamma = r.uniform(0.1, 3);
    table.A = Gamma * 9.81 / (table.w * table.w);
    const double e[] = {0.0, r.uniform(0.1, 0.9), r.uniform(0.1, 0.6), 1.0};
    table.e = e[r.below(4)];
    const bool rests = r.chance(0.3);
    if (!rests && r.chance(0.5)) table.phase = r.uniform(0, 6.28);
    const double high = r.log(1e-3, 0.3) + table.A;
    Case c = table_case(table, {}, high, r.uniform(-0.5, 0.5), rests, r.uniform(4, 20) * 6.2832 / table.w);
    c.max_events = 14;
    return c;
}

// --- double crossings ---

/// A mass at x = 0 with velocity v > 0 whose gap has its first zero at x = at, with the slope −|slope| there. No zero:
/// at is negative.
Case wall_in_x(const std::string& gap, Real at, Real slope, double v, double e, double m, double t_end) {
    Case c;
    c.text = model_text({{"x", 0, v}}, m, "", contact_text("wall", gap, e));
    c.t_end = t_end;
    c.start = {0, v};
    c.error = flight_error;
    c.motion = [=](const std::vector<Real>& o, Real end) {
        const Real u = v + o[1], hit = (at - o[0]) / u;
        Motion motion;
        if (at < 0 || hit >= end) {
            motion.q = {o[0] + u * end};
            motion.u = {u};
            return motion;
        }
        const Real slack = 4e-15L / (std::abs(slope) * u);
        motion.events.push_back({"impact", "wall", hit, slack});
        motion.q = {at - e * u * (end - hit)};
        motion.u = {-e * u};
        motion.slack = (1 + e) * u * slack;
        return motion;
    };
    return c;
}

/// A mass at rest at y = 0 and a gap y + p(t), p of even order: smooth, dips below zero near t = a, or not.
Case wall_in_t(const std::string& p, const exact::Function& f, double e, double m, double t_end) {
    Case c;
    c.text = model_text({{"y", 0, 0}}, m, "", contact_text("wall", "y + " + p, e));
    c.t_end = t_end;
    c.start = {0, 0};
    c.error = flight_error;
    c.motion = [=](const std::vector<Real>& o, Real end) {
        Motion motion;
        Real y = o[0], v = o[1], t = 0;
        exact::Function gap = f;
        gap.value = [&](Real at) { return f.value(at) + y + v * at; };
        gap.slope = [&](Real at) { return f.slope(at) + v; };
        gap.slope_bound = [&](Real lo, Real hi) { return f.slope_bound(lo, hi) + std::abs(v); };
        if (const auto hit = first_zero(gap, 0, end)) {
            const Real rate = gap.slope(*hit), slack = 4e-15L / std::abs(rate);
            y += v * *hit;
            v -= (1 + Real(e)) * rate;
            t = *hit;
            motion.events.push_back({"impact", "wall", t, slack});
            motion.slack = slack * (1 + e) * std::abs(rate);
        }
        motion.q = {y + v * (end - t)};
        motion.u = {v};
        return motion;
    };
    return c;
}

/// s ((t − a)^k + d), k = 2 or 4, as a function with bounds.
exact::Function even_power(Real s, Real a, int k, Real d) {
    const Real K = k;
    const auto far = [a](Real lo, Real hi) { return std::max(std::abs(lo - a), std::abs(hi - a)); };
    return {[=](Real t) { return s * (std::pow(t - a, K) + d); },
            [=](Real t) { return s * K * std::pow(t - a, K - 1); },
            [=](Real lo, Real hi) { return s * K * std::pow(far(lo, hi), K - 1); },
            [=](Real lo, Real hi) { return s * K * (K - 1) * std::pow(far(lo, hi), K - 2); }};
}

Case two_stops(Random& r) {
    // Two masses reach their stops at times that differ by little.
    const double v1 = r.uniform(0.3, 3), v2 = r.uniform(0.3, 3), a1 = v1 * r.uniform(0.2, 3), e = r.uniform(0.1, 1);
    const double apart = r.sign() * r.log(1e-13, 1e-3), a2 = static_cast<double>((Real(a1) / v1 + apart) * v2);
    const Real t1 = Real(a1) / v1, t2 = Real(a2) / v2;
    Case c;
    const std::string first = contact_text("first", num(a1) + " - a", e),
                      second = contact_text("second", num(a2) + " - b", e);
    c.text = model_text({{"a", 0, v1}, {"b", 0, v2}}, r.uniform(0.5, 2), "",
                        r.chance(0.5) ? first + second : second + first);
    c.t_end = static_cast<double>(std::max(t1, t2)) + r.uniform(0.1, 1);
    c.shift = false;
    c.decided = std::abs(t1 - t2) > least_separation * std::max(1.0L, t1);
    c.motion = [=](const std::vector<Real>&, Real end) {
        Motion motion;
        const Real s1 = 1e-14L / v1, s2 = 1e-14L / v2;
        motion.events = {{"impact", "first", t1, s1}, {"impact", "second", t2, s2}};
        if (t2 < t1) std::swap(motion.events[0], motion.events[1]);
        motion.q = {a1 - e * v1 * (end - t1), a2 - e * v2 * (end - t2)};
        motion.u = {-e * v1, -e * v2};
        return motion;
    };
    return c;
}

Case two_walls(Random& r) {
    // One mass and two walls. In a wedge the motion depends on which wall comes first.
    exact::Walls room;
    const double vx = r.uniform(0.3, 3), vy = -r.uniform(0.3, 3), y = r.uniform(0.3, 2), e = r.uniform(0.3, 1);
    const double angle = r.uniform(0.3, 2.5), apart = r.sign() * r.log(1e-13, 1e-3);
    const bool parallel = r.chance(0.25);
    const double nx = parallel ? 0.0 : -std::sin(angle), ny = parallel ? 1.0 : std::cos(angle);
    const Real t1 = Real(y) / -vy, rate = Real(nx) * vx + Real(ny) * vy;
    if (rate > -0.1L) throw IllPosed("does not approach the second wall");
    const double c2 = static_cast<double>(-rate * (t1 + apart) - Real(ny) * y);
    room.walls = {{"first", 0, 1, 0}, {"second", nx, ny, c2}};
    room.e = e;
    Case c;
    const std::string first = contact_text("first", "y", e);
    const std::string second = contact_text("second", par(nx) + "*x + " + par(ny) + "*y + " + par(c2), e);
    c.text = model_text({{"x", 0, vx}, {"y", y, vy}}, r.uniform(0.5, 2), "",
                        r.chance(0.5) ? first + second : second + first);
    c.t_end = static_cast<double>(t1) + r.uniform(0.2, 1);
    c.start = {0, y, vx, vy};
    c.error = flight_error / 10;
    c.max_events = 4;
    c.motion = [=](const std::vector<Real>& o, Real end) {
        return move(room, o[0], y + o[1], vx + o[2], vy + o[3], end);
    };
    const Motion motion = c.motion({0, 0, 0, 0}, c.t_end);
    const Real least = least_separation * std::max(1.0L, t1);
    Real gap = std::abs(motion.events.size() < 2 ? apart : motion.events[1].t - motion.events[0].t);
    for (std::size_t i = 2; i < motion.events.size(); ++i)
        gap = std::min(gap, motion.events[i].t - motion.events[i - 1].t);
    c.decided = gap > least && std::abs(Real(apart)) > least;
    if (!c.decided) c.shift = false;
    return c;
}

/// Gap 1 + d − s x − cos(k x): dips at every x = 2πn/k, the first of which that is deep enough is hit.
Case comb(Random& r) {
    const double k = r.log(5, 2000), s = r.log(1e-5, 1e-1), d = s * r.uniform(0.2, 2), v = r.uniform(0.5, 3);
    exact::Function gap;
    gap.value = [=](Real x) { return d - s * x + 2 * std::pow(std::sin(k * x / 2), 2.0L); };
    gap.slope = [=](Real x) { return -s + k * std::sin(k * x); };
    gap.slope_bound = [=](Real, Real) { return Real(s) + k; };
    gap.curvature_bound = [=](Real, Real) { return Real(k) * k; };
    const auto zero = first_zero(gap, 0, 4);
    if (!zero) throw IllPosed("no zero");
    // The dips before stay above zero, this one goes below: both by more than rounding decides.
    const Real n = std::round(*zero * k / (2 * pi)), here = d - s * (2 * pi * n / k), before = here + s * 2 * pi / k;
    if (here > -1e-9L || before < 1e-9L) throw IllPosed("decided by little");
    const double t_end = static_cast<double>(*zero + 1) / v;
    return wall_in_x("1 + " + num(d) + " - " + num(s) + "*x - cos(" + num(k) + "*x)", *zero, gap.slope(*zero), v,
                     r.uniform(0.1, 1), r.uniform(0.5, 2), t_end);
}

Case double_crossing(Random& r) {
    const double a = r.uniform(0.5, 3), v = r.uniform(0.5, 5), e = r.uniform(0.1, 1), m = r.uniform(0.5, 2);
    const double s = r.log(0.1, 100), t_end = (a + r.uniform(0.5, 2)) / v;
    const double depth = r.log(1e-10, 1e-2);  // of the gap below zero
    const double d = (r.chance(0.75) ? 1 : -1) * depth / s;
    const std::string A = num(a);
    switch (r.below(9)) {
        case 0: {
            const Real half = d > 0 ? std::sqrt(Real(d)) : 0;
            return wall_in_x(num(s) + "*((x - " + A + ")^2 - " + par(d) + ")", d > 0 ? a - half : -1, 2 * s * half, v,
                             e, m, t_end);
        }
        case 1:
            return wall_in_t(num(s) + "*((t - " + A + ")^2 - " + par(d) + ")", even_power(s, a, 2, -Real(d)), e, m,
                             a + r.uniform(0.5, 2));
        case 2: {  // a near miss at a, then a thin dip at b
            const double b = a + r.uniform(0.2, 1), miss = std::abs(d), dip = r.log(1e-10, 1e-3);
            const Real at = b - std::sqrt(Real(dip));
            const std::string gap =
                "((x - " + A + ")^2 + " + num(miss) + ")*((x - " + num(b) + ")^2 - " + num(dip) + ")";
            // The second factor is negative only in the dip; where it is small and positive the first one is not.
            return wall_in_x(gap, at, ((at - a) * (at - a) + miss) * 2 * std::sqrt(Real(dip)), v, e, m,
                             (b + r.uniform(0.5, 2)) / v);
        }
        case 3: {  // zeros at a and a + d, positive between a + d and c, negative beyond
            const double b = a + r.log(1e-6, 1e-2), c = b + r.uniform(0.1, 1);
            return wall_in_x(num(s) + "*(" + A + " - x)*(" + num(b) + " - x)*(" + num(c) + " - x)", a,
                             Real(s) * (Real(b) - a) * (Real(c) - a), v, e, m, (c + r.uniform(0.5, 2)) / v);
        }
        case 4: return two_stops(r);
        case 5:
        case 6: return two_walls(r);
        default: return comb(r);
    }
}

// --- grazing ---

Case grazing(Random& r) {
    const double d = (r.chance(0.6) ? -1 : 1) * r.log(1e-13, 1e-3), e = r.uniform(0, 1), m = r.uniform(0.5, 2);
    const int variant = r.below(3);
    if (variant == 2) {
        const double h = r.uniform(0.2, 1), s = r.log(0.1, 100), a = r.uniform(0.5, 2), v = r.uniform(0.5, 5);
        const double y = h + d;
        const Real true_d = Real(y) - h;
        Case c =
            flight_case(dome_ground(h, s, a, 2), {0, y, v, 0}, 0, std::max(e, 0.1), m, (a + r.uniform(0.2, 1)) / v);
        c.error = flight_error;
        c.decided = std::abs(true_d) > least_depth * (1 + Real(h));
        if (!c.decided) c.shift = false;
        return c;
    }
    // Up to the ceiling, or down to the floor against an upward force: the extreme of the path is beyond by −d.
    const double g = r.uniform(1, 20), v = r.uniform(0.5, 5), vx = r.uniform(-3, 3), y0 = r.uniform(-1, 1);
    const Real side = variant == 0 ? 1 : -1, extreme = y0 + side * Real(v) * v / (2 * Real(g));
    const double wall = static_cast<double>(extreme + side * d);
    const Real true_d = side * (Real(wall) - extreme), top = Real(v) / g;
    Case c;
    const std::string gap = variant == 0 ? num(wall) + " - y" : "y - " + par(wall);
    std::vector<Coordinate> coordinates{{"x", 0, vx}, {"y", y0, static_cast<double>(side) * v}};
    std::string U = num(m) + "*" + num(g) + "*y";
    if (variant == 1) {
        U = "";
        coordinates[1].f = num(m) + "*" + num(g);
    }
    c.text = model_text(coordinates, m, U, contact_text("wall", gap, e));
    c.t_end = static_cast<double>(top) * r.uniform(1.2, 2);
    c.start = {0, y0, vx, v};
    c.error = flight_error;
    c.decided = std::abs(true_d) > least_depth * (1 + std::abs(extreme));
    if (!c.decided) c.shift = false;
    c.motion = [=](const std::vector<Real>& o, Real end) {
        // In the direction of the wall: z = z0 + u t − g t²/2.
        const Real z0 = side * (y0 + o[1]), u = v + o[3], limit = side * Real(wall),
                   square = u * u - 2 * g * (limit - z0);
        Motion motion;
        Real z = z0 + u * end - g * end * end / 2, w = u - g * end;
        if (square > 0) {
            const Real rate = std::sqrt(square), hit = 2 * (limit - z0) / (u + rate), rest = end - hit;
            const Real slack = 2e-15L / rate;
            motion.events.push_back({"impact", "wall", hit, slack});
            motion.slack = 2 * slack * rate;
            w = -e * rate - g * rest;
            z = limit - e * rate * rest - g * rest * rest / 2;
        }
        motion.q = {o[0] + (vx + o[2]) * end, side * z};
        motion.u = {vx + o[2], side * w};
        return motion;
    };
    return c;
}

Case flat_tangency(Random& r) {
    const double d = (r.chance(0.6) ? -1 : 1) * r.log(1e-13, 1e-3), e = r.uniform(0.1, 1), m = r.uniform(0.5, 2);
    const double a = r.uniform(0.5, 2), v = r.uniform(0.5, 5), s = r.log(0.1, 100), t_end = (a + r.uniform(0.3, 1)) / v;
    const bool decided = std::abs(d) > static_cast<double>(least_depth);
    Case c;
    switch (r.below(4)) {
        case 0: {
            const Real from = std::pow(std::abs(Real(d)) / s, 0.25L);
            c = wall_in_x(num(d) + " + " + num(s) + "*(x - " + num(a) + ")^4", d < 0 ? a - from : -1,
                          4 * s * from * from * from, v, e, m, t_end);
            break;
        }
        case 1: {
            const double least = std::max(std::abs(d), 2 * static_cast<double>(least_depth)),
                         D = d < 0 ? -least : least;
            const Real from = std::cbrt(Real(D) / s);
            return wall_in_x(num(s) + "*(" + num(a) + " - x)^3 + " + par(D), a + from, 3 * s * from * from, v, e, m,
                             (a + static_cast<double>(std::abs(from)) + r.uniform(0.3, 1)) / v);
        }
        case 2: {
            const double D = d / s;
            c = wall_in_t(num(s) + "*((t - " + num(a) + ")^4 + " + par(D) + ")", even_power(s, a, 4, D), e, m,
                          a + r.uniform(0.3, 1));
            break;
        }
        default: {
            const double h = r.uniform(0.2, 1), y = h + d;
            c = flight_case(dome_ground(h, s, a, 4), {0, y, v, 0}, 0, e, m, t_end);
            c.error = flight_error;
            c.decided = std::abs(Real(y) - h) > least_depth * (1 + Real(h));
            break;
        }
    }
    c.decided = c.decided && decided;
    if (!c.decided) c.shift = false;
    return c;
}

// --- stick and slip ---

/// A Gaussian upward pulse on a block at rest: it leaves the floor if F > m g.
Case lift(Random& r) {
    const double m = r.uniform(0.5, 2), weight = m * 9.81, w = r.log(1e-4, 0.3), t_end = r.uniform(1, 3);
    Push up;
    const double excess = r.chance(0.5) ? r.sign() * r.log(1e-6, 0.1) : r.uniform(0.1, 3);
    const double a = r.uniform(0.2, 0.6) * t_end;
    // Velocity of about g·excess^1.5·w: below 1e-6 m/s the flight cannot be told from rest.
    if (excess > 0 && 9.81 * std::pow(excess, 1.5) * w < 1e-5) throw IllPosed("rises too slowly");
    if (r.chance(0.25))
        add_pulse(r, up, weight * (1 + excess), a, w);
    else
        add_bell(up, weight * (1 + excess), a, w);
    const double e[] = {0.0, r.uniform(0.1, 0.8)};
    const Table floor{0, 1, 0, e[r.below(2)], m, 9.81};
    Case c = table_case(floor, up, 0, 0, true, t_end);
    c.max_events = 5;
    return c;
}

/// A block that is pushed along the floor by less than friction holds; an upward pulse relieves the floor, and friction
/// holds no longer: μ (m g − f) < push. While it slips forward, this is a block with the bound μ m g under push + μ f.
Case relieved_block(Random& r) {
    const double m = r.uniform(0.5, 2), mu = r.uniform(0.1, 0.8), t_end = r.uniform(1, 3), R = mu * m * 9.81;
    const double part = r.uniform(0.3, 0.9), push = part * R, w = r.log(1e-4, 0.2);
    // Breaks loose if f > (1 − part) m g; stays on the floor if f < m g.
    const double low = (1 - part) * m * 9.81;
    const double F = r.chance(0.4) ? low * (1 + r.sign() * r.log(1e-5, 1e-2)) : r.uniform(1.05 * low, 0.98 * m * 9.81);
    if (F >= 0.99 * m * 9.81) throw IllPosed("lifts off");
    const double excess = (F - low) / low;
    if (excess > 0 && 9.81 * mu * std::pow(excess, 1.5) * w < 1e-5) throw IllPosed("slips too slowly");
    Push up, along, net;
    const double a = r.uniform(0.2, 0.6) * t_end;
    add_bell(up, F, a, w);
    along.add(num(push), exact::power(push, 0));
    net.force.terms = {exact::power(push, 0), exact::bell(Real(mu) * F, a, w)};
    return block_case(r, along, m, mu, 0, 0, t_end, up.text, &net);
}

Case stick_slip(Random& r) {
    const double m = r.uniform(0.5, 2), mu = r.uniform(0.1, 0.8), R = mu * m * 9.81;
    double t_end = r.uniform(1, 6), v = 0;
    Push push;
    switch (r.below(6)) {
        case 0: {  // polynomial
            const double c0 = r.uniform(-0.8, 0.8) * R, c1 = r.uniform(-2, 2) * R, c2 = r.uniform(-1, 1) * R;
            push.add(num(c0), exact::power(c0, 0));
            push.add(par(c1) + "*t", exact::power(c1, 1));
            push.add(par(c2) + "*t^2", exact::power(c2, 2));
            if (r.chance(0.5)) v = r.uniform(-2, 2);
            break;
        }
        case 1: {  // one sinusoid
            const double A = R * (r.chance(0.3) ? 1 + r.sign() * r.log(1e-4, 1e-2) : r.uniform(0.5, 3)),
                         w = r.uniform(1, 30);
            push.add(num(A) + "*sin(" + num(w) + "*t)", exact::sine(A, w));
            t_end = r.uniform(4, 12) / w;
            if (A > R && m > 0 && std::pow((A - R) / R, 1.5) * R / (m * w) < 1e-5) throw IllPosed("slips too slowly");
            break;
        }
        case 2: {  // beats: only some peaks exceed the bound
            const double A = R * r.uniform(0.4, 0.7), B = R * r.uniform(0.3, 0.6), w1 = r.uniform(1, 10),
                         w2 = r.uniform(20, 200);
            push.add(num(A) + "*sin(" + num(w1) + "*t)", exact::sine(A, w1));
            push.add(num(B) + "*sin(" + num(w2) + "*t)", exact::sine(B, w2));
            t_end = r.uniform(4, 10) / w1;
            break;
        }
        case 3: {  // pulses on a constant push
            const double c0 = R * r.uniform(-0.9, 0.9);
            push.add(num(c0), exact::power(c0, 0));
            const double w = r.log(1e-5, 0.2), F = r.sign() * R * (r.uniform(1, 2) + 1e-3 / w);
            add_bell(push, F, r.uniform(0.2, 0.7) * t_end, w);
            break;
        }
        case 4: return lift(r);
        default: return relieved_block(r);
    }
    Case c = block_case(r, push, m, mu, r.uniform(-1, 1), v, t_end);
    c.max_events = 8;
    return c;
}

// --- high frequencies ---

Case high_frequency(Random& r) {
    const double m = r.uniform(0.5, 2), w = r.uniform(200, 600);
    Push push;
    switch (r.below(4)) {
        case 0: {
            const double A = r.uniform(1, 100);
            push.add(num(A) + "*sin(" + num(w) + "*t)", exact::sine(A, w));
            return free_mass_case(push, m, r.uniform(-1, 1), r.uniform(-1, 1), r.uniform(0.5, 2));
        }
        case 1: {  // a ball that a fast force shakes on its fall
            const double A = m * r.uniform(10, 500);
            push.add(num(A) + "*sin(" + num(w) + "*t)", exact::sine(A, w));
            Case c = table_case({0, 1, 0, r.uniform(0.2, 1), m, 9.81}, push, r.log(1e-3, 0.5), r.uniform(-0.3, 0.3),
                                false, r.uniform(0.2, 1));
            c.max_events = 4;
            return c;
        }
        case 2: {
            const bool slow = r.chance(0.6);  // without gravity, many crests pass before the first contact
            const Table table{r.uniform(5e-4, 2e-3), w, r.uniform(0, 6.28),
                              r.uniform(0.2, 1),     m, slow ? 0 : r.log(0.01, 10)};
            const double v = slow ? r.log(1e-3, 0.1) : r.chance(0.5) ? r.uniform(0.01, 0.3) : 0;
            const double high = table.A + (slow ? v * r.uniform(0.05, 0.8) : r.log(1e-3, 0.3));
            Case c = table_case(table, {}, high, -v, false, r.uniform(0.9, 2));
            c.max_events = 4;
            return c;
        }
        default: {
            const double b = r.uniform(5e-4, 2e-3), k = r.uniform(100, 400), vx = r.uniform(0.5, 5),
                         y = b + r.log(2e-3, 0.1);
            const bool slow = r.chance(0.6);
            const double gravity = slow ? 0 : r.log(0.01, 10), vy = slow ? r.log(0.3, 3) * y : r.uniform(0, 0.05);
            Case c = flight_case(ripple_ground(b, k, r.uniform(0, 6.28)), {0, y, vx, -vy}, gravity, r.uniform(0.2, 1),
                                 m, slow ? 1.3 * y / vy : 1.3 * std::sqrt(2 * y / gravity));
            c.max_events = 3;
            return c;
        }
    }
}

// --- stops near the amplitude ---

/// The amplitude of a run has an error of about this, relative: closer stops are not judged.
constexpr double amplitude_error = 5e-9;

Case beats_near_amplitude(Random& r) {
    const double m = r.uniform(0.5, 2), kx = r.log(10, 1000), ky = kx * r.uniform(0.3, 0.98), x = r.uniform(0.3, 1),
                 y = r.uniform(0.3, 1);
    const double d = (x + y) * r.log(1e-5, 1e-1), limit = x + y - d;
    exact::Beats beats{std::sqrt(Real(kx) / m), std::sqrt(Real(ky) / m), limit, r.uniform(0.3, 1), "stop", {}};
    beats.noise.gap = 1e-11L;
    Case c;
    // From the centre, so that both reach their amplitudes x and y.
    const double vx = static_cast<double>(beats.omega_x) * x, vy = static_cast<double>(beats.omega_y) * y;
    c.text = model_text({{"x", 0, vx}, {"y", 0, vy}}, m, num(kx) + "/2*x^2 + " + num(ky) + "/2*y^2",
                        contact_text("stop", num(limit) + " - x - y", static_cast<double>(beats.e)));
    c.t_end = static_cast<double>(r.uniform(20, 100) / beats.omega_x);
    c.start = {0, 0, vx, vy};
    c.error = spring_error;
    c.max_events = 3;
    c.motion = [=](const std::vector<Real>& o, Real end) { return move(beats, o[0], o[1], vx + o[2], vy + o[3], end); };
    return c;
}

Case stop_near_amplitude(Random& r) {
    if (r.chance(0.3)) return beats_near_amplitude(r);
    const double e = r.uniform(0.3, 1), A = r.uniform(0.3, 2), d = (r.chance(0.7) ? 1 : -1) * A * r.log(1e-9, 1e-2);
    const double m = r.uniform(0.5, 2);
    Case c;
    c.error = spring_error;
    if (r.chance(0.25)) {
        const double w2 = r.uniform(1, 50), stop = A - d;
        exact::Pendulum p{std::sqrt(Real(w2)), e, stop, "stop", {}};
        p.noise.gap = 1e-11L;
        c.text = model_text({{"x", A, 0}}, m, num(m) + "*" + num(w2) + "*(1 - cos(x))",
                            contact_text("stop", "x + " + num(stop), e));
        // The second impact is more than a half period after the first one: end well before.
        c.t_end = static_cast<double>(pi / std::sqrt(Real(w2)) * r.uniform(1.4, 1.8));
        c.decided = std::abs(d) > amplitude_error * A;
        c.start = {A};
        c.shift = c.decided;
        c.motion = [=](const std::vector<Real>& o, Real end) { return move(p, A + o[0], end); };
        return c;
    }
    const double k = r.log(1, 1000);
    exact::Oscillator o;
    o.omega = std::sqrt(Real(k) / m);
    o.e = e;
    o.noise.gap = 1e-11L;
    o.left_name = "left";
    o.right_name = "right";
    const bool centre = r.chance(0.5);
    const double x0 = centre ? 0 : r.sign() * A, v0 = centre ? r.sign() * A * static_cast<double>(o.omega) : 0;
    const double near = A - d, other = r.chance(0.5) ? near : A * r.uniform(0.5, 1.5);
    const bool near_right = centre ? r.chance(0.5) : x0 < 0;
    const double right = near_right ? near : other, left = near_right ? other : near;
    if (centre || x0 < 0) o.right = right;
    if (centre || x0 > 0) o.left = left;
    std::string contacts;
    if (o.right) contacts += contact_text("right", num(right) + " - x", e);
    if (o.left) contacts += contact_text("left", "x + " + num(left), e);
    c.text = model_text({{"x", x0, v0}}, m, num(k) + "/2*x^2", contacts);
    c.t_end = static_cast<double>(r.uniform(2, 12) / o.omega);
    c.decided = std::abs(d) > amplitude_error * A && std::abs(other - A) > amplitude_error * A;
    c.start = {x0, v0};
    c.shift = c.decided;
    c.max_events = 4;
    c.motion = [=](const std::vector<Real>& offset, Real end) { return move(o, x0 + offset[0], v0 + offset[1], end); };
    return c;
}

constexpr Case (*generators[])(Random&) = {spike,   thin_obstacle, force_pulse, shaking_table,  double_crossing,
                                           grazing, flat_tangency, stick_slip,  high_frequency, stop_near_amplitude};
static_assert(std::size(generators) == classes);

bool in(const std::vector<std::pair<double, double>>& windows, double t) {
    return std::any_of(windows.begin(), windows.end(), [t](const auto& w) { return t >= w.first && t <= w.second; });
}

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Trap make_trap(int class_number, std::uint64_t seed) {
    Random r;
    r.engine.seed(seed * 1000003 + static_cast<std::uint64_t>(class_number));
    for (int i = 0; i < 1000; ++i) {
        try {
            return trap_of(generators[class_number](r));
        } catch (const IllPosed&) {
        }
    }
    throw std::logic_error("no well-posed trap found");
}

std::string difference(const Trap& trap, const Seen& seen) {
    if (!seen.completed) return "not completed";
    if (!trap.decided) return "";
    std::vector<ExpectedEvent> impacts;
    for (const ExpectedEvent& e : trap.events)
        if (e.kind == "impact") impacts.push_back(e);
    std::size_t next = 0;
    for (const Seen::Event& s : seen.events) {
        if (s.kind != "impact" || in(trap.many_impacts, s.t)) continue;
        if (next >= impacts.size()) return "an impact too many at t = " + num(s.t);
        const ExpectedEvent& e = impacts[next++];
        if (!(std::abs(s.t - e.t) <= e.tolerance)) return "impact at " + num(s.t) + " instead of " + num(e.t);
        if (s.elements.size() != 1 || s.elements[0] != e.element)
            return "impact at " + num(s.t) + " is not of " + e.element + " alone";
    }
    if (next < impacts.size()) return "no impact at t = " + num(impacts[next].t);
    for (const ExpectedEvent& e : trap.events) {
        const bool found = std::any_of(seen.events.begin(), seen.events.end(), [&e](const Seen::Event& s) {
            // The last bounces may be too low to be told from a contact that closes without an impact.
            const bool closes = e.kind == "accumulation" && s.kind == "contact";
            return (s.kind == e.kind || closes) && std::abs(s.t - e.t) <= e.tolerance && has(s.elements, e.element);
        });
        if (!found) return "no " + e.kind + " at t = " + num(e.t);
    }
    for (const Seen::Event& s : seen.events) {
        const bool expected = s.t <= 1e-12 || in(trap.many_impacts, s.t) ||
                              std::any_of(trap.events.begin(), trap.events.end(),
                                          [&s](const ExpectedEvent& e) { return std::abs(s.t - e.t) <= e.tolerance; });
        if (!expected) return s.kind + " at t = " + num(s.t) + ", where nothing happens";
    }
    if (!trap.check_state) return "";
    for (std::size_t i = 0; i < trap.q.size(); ++i) {
        if (!(std::abs(seen.q[i] - trap.q[i]) <= trap.q_tolerance[i]))
            return "q[" + std::to_string(i) + "] = " + num(seen.q[i]) + " instead of " + num(trap.q[i]);
        if (!(std::abs(seen.u[i] - trap.u[i]) <= trap.u_tolerance[i]))
            return "u[" + std::to_string(i) + "] = " + num(seen.u[i]) + " instead of " + num(trap.u[i]);
    }
    return "";
}

std::string expectation(const Trap& trap) {
    std::string text = trap.decided ? "" : "(rounding decides)\n";
    for (const ExpectedEvent& e : trap.events)
        text += e.kind + " of " + e.element + " at t = " + num(e.t) + " +- " + num(e.tolerance) + "\n";
    for (const auto& [from, to] : trap.many_impacts)
        text += "impacts accumulate from " + num(from) + " to " + num(to) + "\n";
    text += "at t = " + num(trap.t_end) + ":";
    for (std::size_t i = 0; i < trap.q.size(); ++i) text += " q = " + num(trap.q[i]) + ", u = " + num(trap.u[i]) + ";";
    return text + (trap.check_state ? "" : " (end state not judged)") + "\n";
}

}  // namespace saltus::integrate::traps
