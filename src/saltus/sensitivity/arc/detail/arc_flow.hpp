// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "saltus/sensitivity/arc/detail/arc_collocation.hpp"
#include "saltus/sensitivity/arc/detail/arc_rest.hpp"
#include "saltus/sensitivity/arc/detail/arc_series.hpp"
#include "saltus/sensitivity/arc/detail/arc_sparse.hpp"

namespace saltus::sensitivity {

/// Integrates the linearised equations δẋ = f_x δx + f_p δp along recorded arcs. [Hairer] II.5, II.7, IV.5
///
/// Taylor series (ArcSeries) for one or two directions on steps that are Taylor series themselves. Their cost grows
/// with the number of directions. Collocation at five Radau nodes with sparse matrices (ArcSparse) for stiff motions of
/// many coordinates. Otherwise three methods, whose cost hardly grows with the number of directions: collocation at
/// five Gauss nodes for up to twelve coordinates; collocation at five Radau nodes, with three nodes as the error
/// estimate, if the motion was stiff; an explicit Runge–Kutta method of order 8 for many coordinates, for which the
/// matrix of all nodes would be large.
///
/// A step may contain several recorded steps if these do not become shorter. (A short recorded step marks something
/// that must not fall between the nodes.) The error is measured on a probe alone, so the steps do not depend on which
/// other directions are carried. With the same steps `backwards` is the exact transpose of `forwards`, up to rounding.
class ArcFlow {
public:
    struct Step {
        double t, end;
        bool rests = false;   ///< a whole arc at rest: see ArcFlow::rests
        Matrix to_rest = {};  ///< the end of an arc on which slip in a plane comes to rest (PathToRest::map)
    };

    /// `forward_only`: steps may be Taylor series or have sparse matrices. These have no transpose for `backwards`.
    enum class Use { both_ways, forward_only };

    /// `tolerance`: the error relative to the largest derivative so far on the arc, of which one step may use half.
    /// `size_q`, `size_u`: lower
    /// bounds of this largest derivative for positions and velocities.
    ArcFlow(Tangent& tangent, double tolerance, double size_q, double size_u, Use use = Use::both_ways);

    /// Sets the tolerance of the arcs that follow.
    void set_tolerance(double tolerance);

    /// Carries the probe and the directions (one per row, columns of Tangent) from the beginning of an arc to its end.
    /// If `at` is given then it is called at the ends of all recorded steps, with `directions` up to date. Returns
    /// false if the equations cannot be evaluated, or if no step is short enough for the tolerance.
    bool forwards(const integrate::RecordedArc& arc, Matrix& probe, Matrix& directions,
                  const std::function<void(double)>& at = {});
    const std::vector<Step>& steps() const { return steps_; }  ///< the steps of the last `forwards`

    /// Carries gradients with respect to (x, p), one per row, from the end of an arc to its beginning over these steps.
    /// Returns false if the equations cannot be evaluated.
    bool backwards(const integrate::RecordedArc& arc, const std::vector<Step>& steps, Matrix& gradients);

    long evaluations = 0;  ///< evaluations of the linearised equations so far

private:
    /// Directions that are carried together, and their workspace.
    struct Bundle {
        Matrix rows;            // columns of Tangent
        Matrix from;            // states at the beginning of a step, rows × 2n
        std::vector<Matrix> k;  // rates of the stages, rows × 2n
        Matrix stage, sum, rates, next;
    };
    /// The outcome of one trial step.
    struct Trial {
        bool accepted = false;
        double error = 0.0;  // relative to the tolerance; infinite if the step could not be evaluated
    };

    bool rests(const integrate::RecordedArc& arc);
    void begin(const integrate::RecordedArc& arc, const Matrix& probe, const Matrix& directions);
    bool carry_series(const integrate::RecordedArc& arc, std::size_t step, double t, double end);
    Trial take(const integrate::RecordedArc& arc, double t, double end, double allowed = 1.0);
    std::optional<double> from_rest(const integrate::RecordedArc& arc, double t, double goal);
    void grow_scale();
    double whole(Eigen::Index row, int kind) const;
    double measure(const Matrix& error) const;
    void stage_of(Bundle& bundle, int stage, double h);
    double explicit_step(double t, double end);
    double sparse_step(double t, double end);
    bool step_to_rest(const integrate::RecordedArc& arc, const PathToRest& path);
    bool collocates(const integrate::RecordedArc& arc) const;
    double collocated_step(double t, double end, const integrate::RecordedArc& arc);
    double short_step(double t, double end);
    bool explicit_back(const Step& step, Matrix& gradients);
    bool collocated_back(const Step& step, const Nodes& nodes, Matrix& gradients);

    Tangent& x_;
    ArcMotion motion_;
    ArcCollocation collocation_;
    ArcSeries series_;
    std::optional<ArcSparse> sparse_;  // of a forward run with a stiff arc of many coordinates
    bool sparse_arc_ = false;          // the steps of the present arc have sparse matrices
    const Use use_;
    const int n_;
    double tolerance_;
    const double floor_[2];    // lower bounds of scale_, for positions and velocities
    std::vector<Step> steps_;  // of the present arc
    Bundle probe_, directions_, all_;
    Eigen::RowVectorXd carried_;  // one row of the probe
    double stride_ = 0.0;         // duration of the recorded steps that contain the present step
    Matrix left_, right_;         // accelerations of the probe at the ends of a step, if known
    bool left_known_ = false;
    double next_step_ = 0.0;  // step that the error control proposed last
    Matrix scale_;            // largest positions and velocities so far on the arc, rows of the probe × 2
};

}  // namespace saltus::sensitivity
