// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "saltus/sensitivity/arc_collocation.hpp"

namespace saltus::sensitivity {

/// The linearised equations along recorded arcs, δẋ = f_x δx + f_p δp, in steps: by collocation at five nodes, Gauss's
/// or where the motion is stiff Radau's right ones, checked against three; explicit of order 8 for many coordinates,
/// for which the matrix of all nodes would be large. [Hairer] II.5, II.7, IV.5
///
/// The error is measured on a probe, so that the steps are the same whatever else is carried; with them `backwards` is
/// the transpose of `forwards` to rounding, not only to the error of both.
class ArcFlow {
public:
    struct Step {
        std::size_t recorded;  ///< of the arc's steps
        double t, end;
        bool last = false;  ///< straight to the end of the arc
    };

    /// `size_q`, `size_u`: below them derivatives, times the value of what they are by, are nothing.
    ArcFlow(Tangent& tangent, double tolerance, double size_q, double size_u);

    /// Carries the probe and the directions, one a row in the columns of Tangent, from the beginning of an arc to its
    /// end; tells the times at the ends of the recorded steps. False where the equations cannot be evaluated, or no
    /// step is short enough.
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

    bool advance(const integrate::RecordedArc& arc, std::size_t recorded, double to);
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
    double stride_ = 0.0;  // of the recorded step
    Matrix left_, right_;  // accelerations of the probe at the ends of a step
    bool left_known_ = false;
    double likely_ = 0.0;  // step that the error will allow, as far as the last one told; 0: not known
    Matrix scale_;         // probe's rows × 2: largest positions and velocities so far
};

}  // namespace saltus::sensitivity
