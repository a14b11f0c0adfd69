// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "saltus/expr/series/series_sizes.hpp"
#include "saltus/expr/series/series_tape.hpp"
#include "saltus/model/systems/tangent_program.hpp"
#include "saltus/sensitivity/arc/detail/arc_motion.hpp"
#include "saltus/sensitivity/detail/tangent.hpp"

namespace saltus::sensitivity {

/// Carries one direction along recorded steps that are Taylor series, by Taylor series of the linearised equations
/// S y = r of model::TangentProgram. With (f)_k for the coefficient of order k of f in τ = t − t_0, order k is
///     S_0 y_k = r_k − Σ_{j=1..k} S_j y_{k−j},     (δq)_{k+1} = (δu)_k/(k+1),     (δu)_{k+1} = (δa)_k/(k+1).
/// The matrix S_0 is inverted once for each expansion. The motion is the recorded polynomial, so that the linearised
/// equations are the same as those that ArcFlow solves by collocation.
///
/// Truncation. Positions, velocities and reactions of the motion enter with all recorded orders. The orders of the
/// direction go on until two terms in a row are below the allowed error, and at least as far as the motion has terms
/// that matter: a force that appears at a high order of the motion appears there in its derivative too. The terms fall
/// geometrically like those of the motion, because both have their singularities at the same complex times. (A
/// linearised equation has no other singularities than its coefficients.) So the remainder is about as large as the
/// first term that is left out. If the highest order does not suffice, then the step is cut. In addition the equations
/// must hold at the end of each step.
class ArcSeries {
public:
    explicit ArcSeries(Tangent& tangent);

    /// Prepares for an arc. Its mode must be in force in the dynamics of the tangent. False if the equations of this
    /// mode are not available as series.
    bool begin(const integrate::RecordedArc& arc);
    /// Whether a recorded step is a Taylor series with reactions.
    bool covers(std::size_t step) const;

    /// The error that one step may make.
    struct Allowed {
        double position, velocity;
    };
    /// Carries a direction (a row in the columns of Tangent) from t to `end`, within one recorded step. False if some
    /// coefficient does not exist or the steps become too short; `direction` is then of no use.
    bool carry(std::size_t step, double t, double end, Eigen::RowVectorXd& direction, Allowed allowed);

    long evaluations = 0;  ///< expansions so far
    /// Terms of the motion below this part of its size do not matter: they change a derivative by less than its
    /// tolerance.
    double negligible_term = negligible_term_ratio;

private:
    static constexpr int max_order = 30;  // of the direction

    /// The linearised equations of one mode.
    struct Equations {
        std::shared_ptr<const model::TangentProgram> program;
        std::unique_ptr<expr::SeriesWorkspace<double>> workspace;
        expr::SeriesWorkspace<double>& series;
        std::vector<double> inputs;  // parameters of the tape that the workspace is prepared for
        bool constant;               // S is constant
        bool inverted = false;       // `inverse` belongs to the last expansion
        struct Coefficient {
            std::size_t column;
            double value;
        };
        std::vector<Coefficient> inverse;                   // of S_0, row by row; the entries that are not zero
        std::vector<std::size_t> inverse_end;               // by row: index behind its last entry
        std::vector<const double*> right;                   // series of r, null if it is zero
        std::vector<expr::SeriesProduct> varying;           // entries of S that are not constant
        std::vector<expr::SeriesProduct> columns;           // model::TangentProgram::columns that are not constant
        std::vector<expr::SeriesProduct> constant_columns;  // and those that are
        std::vector<double*> variables;                     // series of the tape's variables
        std::span<double*> q, u, a, lambda, dq, du;         // parts of `variables`

        Equations(std::shared_ptr<const model::TangentProgram> program, int n);
        ~Equations();
        Equations(const Equations&) = delete;
        Equations& operator=(const Equations&) = delete;
    };

    bool collect_forces(const integrate::RecordedArc& arc);
    void prepare(const Eigen::RowVectorXd& direction);
    void read_motion(std::size_t step, double t);
    void write_motion(std::size_t step, double t);
    void write_no_motion(int k);
    void write_state(const ode::Dense& step, double t);
    bool holds_at_end(std::size_t step, double t, double h, int orders, const Eigen::RowVectorXd& direction,
                      Allowed allowed);
    void choose_sides(std::size_t step, double middle);
    int expand(std::size_t step, double t, double& h, const Eigen::RowVectorXd& from, Allowed allowed);
    bool invert();
    /// Order k of component r of y.
    double* order(int k, std::size_t r) { return y_.data() + r * state_stride + k; }
    /// The same for component i of (δq, δu).
    double* state_order(int k, std::size_t i) { return dx_.data() + i * state_stride + k; }
    static constexpr std::size_t state_stride = max_order + 1;
    void add_orders(int k);
    bool solve_order(int k);
    double admissible_length(double h, Allowed allowed) const;

    Tangent& x_;
    const int n_;
    const model::SymbolicEquations* const symbolic_;  // null: the system has no formulas
    const integrate::RecordedArc* arc_ = nullptr;
    model::ActiveForces forces_;
    std::vector<double> signs_;  // of the rows that hold, then of the slips
    std::vector<std::unique_ptr<Equations>> made_;
    Equations* now_ = nullptr;
    integrate::SystemMode mode_;  // of now_

    // The recorded motion around the present expansion, Σ_k c[k·width + i] (τ·per_length_)^k, and reactions alike.
    const double *motion_ = nullptr, *reactions_ = nullptr;
    std::vector<double> shifted_motion_, shifted_reactions_, state_;
    int motion_order_ = 0, reaction_order_ = 0;
    int significant_order_ = 0;  // the highest order of the motion whose term matters
    int written_order_ = 0;      // the highest order that write_motion has written
    /// A place of the recorded motion; `arc` is null if there is none.
    struct Place {
        const integrate::RecordedArc* arc = nullptr;
        const Equations* equations = nullptr;
        std::size_t step = 0;
        double t = 0.0, negligible = 0.0;
    };
    Place read_;                // of read_motion
    Place written_;             // of write_motion, if nothing but order 0 has changed since
    double per_length_ = 0.0;   // 1/(length of the recorded step)
    bool is_prepared_ = false;  // the tape has the parameters of the mode, and the variations varied_
    std::vector<double> inputs_, varied_;
    std::vector<double> y_, dx_, right_, end_, elimination_;
    std::vector<double> by_state_, by_y_;  // four orders of the sums over (δq, δu) and over y, row by row
};

}  // namespace saltus::sensitivity
