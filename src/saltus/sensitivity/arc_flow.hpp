// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "saltus/sensitivity/arc_motion.hpp"

namespace saltus::sensitivity {

/// The linearised equations along recorded arcs, δẋ = f_x δx + f_p δp, in steps: explicit of order 8, or implicit of
/// order 9 (Radau IIA with five stages, checked against three). [Hairer] II.5, IV.5
///
/// The lengths of the steps come from the arc alone, so that `backwards` is the transpose of `forwards` to rounding,
/// not only to the error of both: the error is measured on two probes, directions in no way special that start anew
/// with each arc.
class ArcFlow {
public:
    ArcFlow(Tangent& tangent, double tolerance);

    /// Carries directions, one a row in the columns of Tangent, from the beginning of an arc to its end; tells the
    /// times at the ends of the recorded steps. False where the equations cannot be evaluated, or no step is short
    /// enough.
    bool forwards(const integrate::RecordedArc& arc, Matrix& directions, const std::function<void(double)>& at = {});

    /// Carries gradients with respect to (x, p), one a row, from the end of an arc to its beginning.
    bool backwards(const integrate::RecordedArc& arc, Matrix& gradients);

    long evaluations = 0;

private:
    struct Step {
        std::size_t recorded;
        double t, h;
    };

    void begin(const integrate::RecordedArc& arc);
    bool advance(const integrate::RecordedArc& arc, std::size_t recorded, double to);
    void grow_scale();
    double measure(const Matrix& error) const;
    bool explicit_step(double t, double h, double& error);
    bool implicit_step(double t, double h, double& error);
    bool rates(double t, const Matrix& state, Matrix& out);
    bool collocate(double t, double h, const Matrix& A, const Vector& c);
    bool explicit_back(const Step& step, Matrix& gradients);
    bool implicit_back(const Step& step, Matrix& gradients);

    Tangent& x_;
    ArcMotion motion_;
    const int n_;
    const double tolerance_;
    std::vector<Step> steps_;  // of the arc
    Matrix batch_;             // probes, then the directions; columns of Tangent
    double stride_ = 0.0;      // of the recorded step
    Matrix scale_;             // probes × 2: largest positions and velocities so far
    std::vector<Matrix> k_;
    Matrix stage_, new_, sum_, rates_;      // of states: rows of the batch × 2n
    Matrix system_, right_;                 // of a collocation, for all stages together
    std::vector<Matrix> linear_, forcing_;  // f_x and f_p at its nodes
};

}  // namespace saltus::sensitivity
