// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// Motions with impacts and dry friction whose pieces have closed forms, in extended precision. They are the judges of
/// the event-driven method (event_traps.hpp) and use nothing of the library.
namespace saltus::integrate::exact {

using Real = long double;

/// The question has no stable answer: a tangency that rounding decides, or a hit on an edge. Generators try again.
struct IllPosed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// --- certain zeros ---

/// A smooth function on an interval, with bounds of its first two derivatives on each part of the interval.
struct Function {
    std::function<Real(Real t)> value, slope;
    std::function<Real(Real from, Real to)> slope_bound, curvature_bound;  ///< of |f'| and |f''| on [from, to]
};

/// The first zero of f in [from, to], f(from) > 0; nothing if f stays positive. No zero is missed: an interval of half
/// width r and midpoint m has none if f(m) > max|f'|·r, and f is monotonic on it if |f'(m)| > max|f''|·r. Other
/// intervals are halved. Throws IllPosed if a zero cannot be told from a positive minimum.
std::optional<Real> first_zero(const Function& f, Real from, Real to);

// --- results ---

struct Event {
    std::string kind;     ///< as in trajectory::to_string(EventKind)
    std::string element;  ///< name in the model
    Real t = 0;
    Real slack = 0;  ///< error of t that rounding of the watched quantity causes: noise/|rate|, in s
};

struct Motion {
    std::vector<Event> events;
    std::vector<Real> q, u;                           ///< at the end
    Real slack = 0;                                   ///< error of q and u at the end that the slacks of impacts cause
    std::vector<std::pair<Real, Real>> many_impacts;  ///< times from, to: impacts before an accumulation, not listed
};

/// Rounding and integration errors that a good program may have. They enter the slacks.
struct Noise {
    Real gap = 1e-14L;       ///< of a gap, in m
    Real velocity = 1e-11L;  ///< in m/s
    Real force = 1e-11L;     ///< of a force, relative to the friction bound or the weight
};

// --- forces ---

/// A force f(t) that is smooth between its jumps. Integrals start anywhere and are free of cancellation.
struct Term {
    std::function<Real(Real t, Real inside)> value;          ///< `inside` is a time of the same smooth piece
    std::function<Real(Real t)> slope;                       ///< f'(t), between jumps
    std::function<Real(Real t, Real duration)> once, twice;  ///< ∫f and ∫∫f over [t, t + duration]
    std::function<Real(Real from, Real to)> bound, slope_bound, curvature_bound;  ///< of |f|, |f'|, |f''|
    std::vector<Real> jumps;
};

Term power(Real c, int k);                                  ///< c t^k, 0 <= k <= 3
Term sine(Real amplitude, Real frequency, Real phase = 0);  ///< amplitude·sin(frequency·t + phase)
Term bell(Real F, Real at, Real width);                     ///< F exp(−((t − at)/width)²)
Term box(Real F, Real on, Real off);                        ///< F for on < t < off, else 0

struct Force {
    std::vector<Term> terms;

    Real value(Real t, Real inside) const;
    Real slope(Real t) const;
    Real once(Real t, Real duration) const;
    Real twice(Real t, Real duration) const;
    Real bound(Real from, Real to) const;
    Real slope_bound(Real from, Real to) const;
    Real curvature_bound(Real from, Real to) const;
    /// from, the jumps between, to.
    std::vector<Real> pieces(Real from, Real to) const;
};

// --- motions ---

/// A mass without contacts under f(t): exact.
Motion free_mass(const Force& f, Real mass, Real x, Real v, Real t_end);

/// A mass that dry friction holds, |friction| <= bound: slip where |f| exceeds it, stick where the velocity comes to
/// zero, reversal where it passes zero.
struct RoughBlock {
    Force force;
    Real mass = 1, bound = 1;
    std::string element;
    Noise noise;
};
Motion move(const RoughBlock& block, Real x, Real v, Real t_end);

/// A mass above a table, z >= 0: m z'' = f(t) in flight, z' jumps to −e z', rest while f < 0. Bounces that come ever
/// faster are an accumulation.
struct Bouncer {
    Force force;
    Real mass = 1, e = 0;
    std::string element;
    Noise noise;
    Real lift_speed = 0;  ///< z' after each lift-off, >= 0; not zero only in studies of sensitivity
};
Motion move(const Bouncer& ball, Real z, Real v, Real t_end);

/// Ground of height h(x), smooth between its kinks.
struct Terrain {
    std::function<Real(Real x)> height, slope;
    std::function<Real(Real from, Real to)> slope_bound, curvature_bound;  ///< of |h'|, |h''| between kinks
    std::vector<Real> kinks;
    Real edge = 0;  ///< hits that are closer to a kink have no certain direction
};
/// A point mass in flight over the ground: y'' = −g, x'' = −ω² x; frictionless impacts with restitution e along the
/// normal of the gap y − h(x).
struct Flight {
    Terrain ground;
    Real gravity = 0, e = 1;
    Real omega = 0;  ///< > 0 only over ground without kinks
    std::string element;
    Noise noise;
    int max_impacts = 6;  ///< the motion ends (throws IllPosed) beyond
};
Motion move(const Flight& flight, Real x, Real y, Real vx, Real vy, Real t_end);

/// A point mass that moves straight between plane walls n·p + c >= 0 and bounces off with restitution e.
struct Walls {
    struct Wall {
        std::string name;
        Real nx, ny, c;
    };
    std::vector<Wall> walls;
    Real e = 1;
    Noise noise;
    int max_impacts = 8;
};
Motion move(const Walls& room, Real x, Real y, Real vx, Real vy, Real t_end);

/// x'' = −ω² x between stops at −left and right.
struct Oscillator {
    Real omega = 1, e = 1;
    std::optional<Real> left, right;
    std::string left_name, right_name;
    Noise noise;
};
Motion move(const Oscillator& oscillator, Real x, Real v, Real t_end);

/// Two masses m on springs, x and y, and one contact S − x − y >= 0. The sum of two sinusoids comes near S many times.
struct Beats {
    Real omega_x = 1, omega_y = 1, limit = 1, e = 1;
    std::string element;
    Noise noise;
};
Motion move(const Beats& beats, Real x, Real y, Real vx, Real vy, Real t_end);

/// φ'' = −ω² sin φ from rest at amplitude > 0, with a stop at φ = −stop. One impact at most: t_end must be less than
/// the time of the second one.
struct Pendulum {
    Real omega = 1, e = 1, stop = 1;
    std::string element;
    Noise noise;
};
Motion move(const Pendulum& pendulum, Real amplitude, Real t_end);

}  // namespace saltus::integrate::exact
