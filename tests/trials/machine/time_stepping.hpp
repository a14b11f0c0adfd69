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

    /// One step of length h; false if the impulses were not found.
    bool step(Point& state, double h) const;
    /// `count` steps of equal length up to `t_end`; nothing if a step failed.
    std::optional<Point> run(Point start, double t_end, int count) const;
    const Mechanics& mechanics() const { return mechanics_; }

private:
    Mechanics mechanics_;
    Matrix flexibility_;  ///< M⁻¹ if it is constant, otherwise empty
};

/// End of the motion of a model by steps of three lengths.
struct SteppedEnd {
    bool usable = false;       ///< the three ends approach each other as the theory says
    Vector q;                  ///< extrapolated to steps of length 0
    double uncertainty = 0.0;  ///< of each coordinate
};

SteppedEnd stepped_end(const Model& model, int coarsest_count = 2000);

}  // namespace trials
