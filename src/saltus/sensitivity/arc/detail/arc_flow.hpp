// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "saltus/sensitivity/arc/detail/arc_collocation.hpp"

namespace saltus::sensitivity {

/// The linearised equations along recorded arcs, δẋ = f_x δx + f_p δp, in steps: by collocation at five nodes, Gauss's
/// or where the motion is stiff Radau's right ones, checked against three; explicit of order 8 for many coordinates,
/// for which the matrix of all nodes would be large. [Hairer] II.5, II.7, IV.5
///
/// A step may take several recorded ones together, where they do not become shorter: what the motion saw there must not
/// fall between the nodes. The error is measured on a probe, so that the steps are the same whatever else is carried;
/// with them `backwards` is the transpose of `forwards` to rounding, not only to the error of both.
class ArcFlow {
public:
    struct Step {
        double t, end;
        bool straight = false;  ///< to the end of the arc
    };

    /// `size_q`, `size_u`: below them derivatives, times the value of what they are by, are nothing.
    ArcFlow(Tangent& tangent, double tolerance, double size_q, double size_u);

    /// Carries the probe and the directions, one a row in the columns of Tangent, from the beginning of an arc to its
    /// end; stops at the ends of all recorded steps if somebody wants to know. False where the equations cannot be
    /// evaluated, or no step is short enough.
    bool forwards(const integrate::RecordedArc& arc, Matrix& probe, Matrix& directions,
                  const std::function<void(double)>& at = {});
    const std::vector<Step>& steps() const { return steps_; }  ///< of the last `forwards`

    /// Carries gradients with respect to (x, p), one a row, from the end of an arc to its beginning, over these steps.
    bool backwards(const integrate::RecordedArc& arc, const std::vector<Step>& steps, Matrix& gradients);

    long evaluations = 0;

private:
    /// Directions that go together.
    struct Bundle {
        Matrix rows;  // columns of Tangent
        Matrix from;  // states at the beginning of a step, rows × 2n
        std::vector<Matrix> k;
        Matrix stage, sum, rates, next;
    };

    bool take(const integrate::RecordedArc& arc, double t, double end, double& error);
    void grow_scale();
    double measure(const Matrix& error) const;
    void stage_of(Bundle& bundle, int stage, double h);
    bool explicit_step(double t, double end, double& error);
    bool straight_step(double t, double end);
    bool straight_back(const Step& step, Matrix& gradients);
    bool collocates(const integrate::RecordedArc& arc) const;
    bool collocated_step(double t, double end, const integrate::RecordedArc& arc, double& error);
    bool explicit_back(const Step& step, Matrix& gradients);
    bool collocated_back(const Step& step, bool stiff, Matrix& gradients);

    Tangent& x_;
    ArcMotion motion_;
    ArcCollocation collocation_;
    const int n_;
    const double tolerance_;
    const double floor_[2];    // of positions and velocities
    std::vector<Step> steps_;  // of the arc
    Bundle probe_, directions_, all_;
    double stride_ = 0.0;  // of the recorded steps that a step is in
    Matrix left_, right_;  // accelerations of the probe at the ends of a step
    bool left_known_ = false;
    double likely_ = 0.0;  // step that the error will allow, as far as the last one told
    Matrix scale_;         // probe's rows × 2: largest positions and velocities so far
};

}  // namespace saltus::sensitivity
