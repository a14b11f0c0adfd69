// SPDX-License-Identifier: Apache-2.0
//
// Moreau's time-stepping, plain: constant steps, Newton's impact law, impulses by projected Gauss-Seidel sweeps. It is
// slow and accurate to the first order, but it has no events, no modes and no special cases that could be wrong.
#pragma once

#include <optional>

#include "machine/model.hpp"

namespace trials {

class TimeStepping {
public:
    explicit TimeStepping(const Model& model);

    /// Contensou's law is not supported, and other impact laws than Newton's only where they agree with it.
    static bool supports(const Model& model);

    /// Impulses of all elements in a step; empty for elements that were open. The next step begins its sweeps with
    /// them, which saves most of the sweeps and does not change what the sweeps converge to. And which elements stuck
    /// in it, which decides about the coefficient of friction of the next step.
    struct Impulses {
        std::vector<Vector> of_elements;
        std::vector<char> stuck;
    };

    /// One step of length h; false if the impulses were not found. `last` has the impulses of the step before, or
    /// nothing, and receives those of this step.
    bool step(Point& state, double h, Impulses& last) const;
    /// `count` steps of equal length up to `t_end`; nothing if a step failed. Steps in which a jump happens are divided
    /// where its quantity passes through zero.
    std::optional<Point> run(Point start, double t_end, int count) const;
    const Mechanics& mechanics() const { return mechanics_; }

private:
    bool step_with_jumps(Point& state, double h, Impulses& last) const;

    Mechanics mechanics_;
    Matrix flexibility_;  ///< M⁻¹ if it is constant, otherwise empty
};

/// Tells when a motion of a model without explicit time has come to rest: its velocities are negligible for a whole
/// second. The rest of such a motion need not be computed.
class RestWatch {
public:
    bool rests(const Point& state, double h) {
        constexpr double negligible = 1e-9;  // velocity; motions that leave a saddle have grown beyond it in a second
        still_ = norm(state.u) < negligible ? still_ + h : 0.0;
        return still_ > 1.0;
    }

private:
    double still_ = 0.0;  ///< time since the velocities are negligible, in s
};

/// End of the motion of a model by steps of three lengths.
struct SteppedEnd {
    bool usable = false;       ///< the three ends approach each other as the theory says
    Vector q;                  ///< extrapolated to steps of length 0
    double uncertainty = 0.0;  ///< of each coordinate
};

SteppedEnd stepped_end(const Model& model, int coarsest_count = 2000);

/// The same with longer steps if they are accurate enough: the first of 500 and 2000 coarsest steps whose uncertainty
/// is below 0.2 % of the size of the final positions. Models with short pulses need the shorter steps.
SteppedEnd accurate_end(const Model& model);

}  // namespace trials
