// SPDX-License-Identifier: Apache-2.0
//
// A plain integrator of few events: the classical Runge-Kutta method with equal steps, which are divided by bisection
// where a contact closes, a quantity of a jump passes through zero, or the friction of the one slider sticks or slips.
// It is accurate to the fourth order, and its derivatives are differences. Persistent contact is not supported.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/model.hpp"

namespace trials {

class PlainFlow {
public:
    explicit PlainFlow(const Model& model);

    /// No friction but that of at most one slider along a line, Newton's law or springs, no constraints and no
    /// clutches.
    static bool supports(const Model& model);

    struct Course {
        Point end;
        int impacts = 0;
        std::string events;        ///< a letter for each: c contact, p spring, j jump, r rest, s slip
        double least_gap = 1e300;  ///< at the ends of the steps
    };
    /// `count` steps from `start` to the time start.t + duration. Nothing if impacts follow each other without end, if
    /// a contact stays closed, or if the state grows beyond bounds.
    std::optional<Course> run(Point start, double duration, int count) const;

    const Mechanics& mechanics() const { return mechanics_; }

private:
    enum class Friction { none, sticks, slides_up, slides_down };
    struct Slope {
        Vector q, u;
    };
    /// What does not follow from the state between two events: which springs push, and whether the slider sticks.
    struct Phase {
        std::vector<char> pushing;
        Friction friction = Friction::none;
    };
    /// State, phase, and on which side of zero each quantity of a jump is.
    struct State {
        Point at;
        Phase phase;
        std::vector<int> sides;
    };

    std::vector<char> pushing_at(const Point& at) const;
    double spring_force(std::size_t contact, const Point& at) const;
    Vector smooth_force(const Point& at, const Phase& phase) const;  ///< with springs, without friction
    Vector accelerations(const Point& at, const Phase& phase) const;
    double rate(const std::vector<Expression>& slopes, const Point& at, const Vector& a) const;
    double holding_force(const Point& at, const Phase& phase) const;  ///< friction that keeps the slider at rest
    double bound(const Point& at, bool at_rest) const;
    Phase phase_at(const Point& at) const;
    std::vector<int> sides_at(const Point& at, const Phase& phase) const;
    bool passes(std::size_t jump, const State& from, const Point& next) const;
    Point moved(const State& from, double h) const;
    /// What ends the arc that begins at `from` before `next`: nothing, or a letter.
    char happens(const State& from, const Point& next) const;
    bool apply(State& state, const Point& at, Course& course) const;
    /// A time in (0, h] at which the motion is beyond a contact or on the other side of a jump's trigger, although it
    /// is not so at h; h if there is none.
    double dip(const State& from, double h) const;

    Mechanics mechanics_;
    std::vector<std::vector<Expression>> jump_slopes_;  ///< of `when`, by t, all q, all u
    std::vector<Expression> slip_slopes_;
};

/// x, the positions and velocities of a point, one after the other.
Vector state_vector(const Point& at);

/// The derivative of the state after `duration` by the state before, by central differences of two sizes.
struct MapDerivative {
    Matrix rows;
    double spread = 0.0;  ///< largest difference between the two sizes
};
std::optional<MapDerivative> map_derivative(const PlainFlow& flow, const Point& start, double duration, int count);

/// Coefficients of det(λ − A), highest power first, which is 1 (Faddeev and LeVerrier).
Vector characteristic_polynomial(const Matrix& a);

}  // namespace trials
