// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "saltus/integrate/event/scheduled.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/orbit/detail/measures.hpp"
#include "saltus/orbit/detail/return_map.hpp"
#include "saltus/orbit/detail/symmetry.hpp"
#include "saltus/orbit/detail/translations.hpp"
#include "saltus/sensitivity/schedule/scheduled_derivatives.hpp"

/// Periodic motions with a given order of events, by multiple shooting. The unknowns are the states y_k before all
/// events, their times t_k, the state x_0 at the start, the duration T of an autonomous motion, and a parameter p if a
/// branch is followed. With the conditions s_k of the events, their resets R_k and the flows φ_k of the modes,
///     φ_k(t_{k+1}; t_k, R_k(t_k, y_k)) = y_{k+1}     the arcs join,
///     s_k(t_k, y_k) = 0                              the events happen,
///     φ_K(t_0 + T; t_K, R_K(t_K, y_K)) = x_0         the orbit is closed (with a symmetry σ: = σ(x_0)), up to
///                                                    a translation (Closing).
/// No equation contains 1/ṡ, so nothing degenerates where an event grazes. A long arc along which disturbances grow is
/// cut into several, by nodes without an event.
namespace saltus::orbit {

/// A node: the start, an event, or a cut of an arc.
struct ShootingNode {
    static constexpr int none = -1;
    int event = none;  ///< number of the event; none for the start and for cuts
    /// Cuts: they lie between the events `from` and from + 1 (none: between the start and the first one), at this part
    /// of the time between them.
    int from = none;
    double part = 0.0;
    Vector y;                      ///< state before the event
    integrate::RecordedMode mode;  ///< mode of the arc that follows
};

/// A periodic motion as a list of stages.
struct ShootingMotion {
    double t = 0.0;         ///< start
    double duration = 0.0;  ///< of the motion: of half the orbit with a symmetry
    double parameter = 0.0;
    std::vector<double> times;  ///< times of the events
    std::vector<ShootingNode> nodes;
    double time_of(std::size_t node) const;
    double end() const { return t + duration; }
};

/// What is solved.
struct ShootingProblem {
    integrate::EventDriven method;
    /// The model at a value of the parameter. Throws Error if the value is not admissible.
    std::function<std::shared_ptr<const model::Model>(double parameter)> model;
    std::string parameter;  ///< its name; "": there is none
    /// Excited systems: the duration of the motion, and its derivative by the parameter. Empty: autonomous.
    std::function<std::pair<double, double>(const model::Model&)> duration;
    const Symmetry* symmetry = nullptr;
    Closing closing;                      ///< translations up to which the orbit closes
    std::optional<PhaseCondition> phase;  ///< autonomous systems: condition of the start
    Vector size;                          ///< magnitudes of all components
    int max_iterations = 30;
    std::function<bool()> interrupted;
};

/// One more equation, row·(z − z_start)/scale = 0 for z = (x_0, T, p), without T if the system is excited.
struct ShootingRow {
    Vector row, z_start, scale;
};

/// The values and derivatives at one motion.
struct ShootingEvaluation {
    std::shared_ptr<const model::Model> model;
    std::vector<integrate::ScheduledStage> stages;
    std::vector<std::vector<double>> conditions;  ///< per event
    double duration_slope = 0.0;
    // Derivatives, if they are known:
    double tolerance = 0.0;
    std::vector<sensitivity::StageDerivative> stage_derivatives;
    std::vector<std::vector<sensitivity::ConditionDerivative>> condition_derivatives;
};

/// A periodic motion with its order of events, as it was solved for.
struct ShootingSolution {
    integrate::EventOrder order;
    ShootingMotion motion;
    ShootingEvaluation evaluation;  ///< with derivatives of full accuracy
};

/// One of the quantities that laws require to be positive, of one stage.
struct StageMargin {
    std::size_t stage = 0;
    integrate::LawMargin margin;
};

/// Multiple shooting: Newton's method for a periodic motion with a given order of events. The unknowns are the states
/// before all events and at cuts of arcs, the times of the events, the period (autonomous systems) and the parameter
/// (if there is one). Call `begin` with a guess, then `solve`; the other functions are about the motion reached.
class Shooting {
public:
    explicit Shooting(ShootingProblem problem);
    ~Shooting();

    /// Begins at recorded motions one after the other, which together have the right duration. They need not join: each
    /// begins at a cut. Their own arcs are the first evaluation; the recordings are used up. False if their order of
    /// events cannot be scheduled.
    bool begin(std::vector<integrate::RecordedMotion>& motions, double parameter);
    /// Begins at a motion with a given order of events.
    void begin(integrate::EventOrder order, ShootingMotion motion);
    void begin(ShootingSolution solution);
    /// The present motion, with derivatives of full accuracy; null if these do not exist.
    std::shared_ptr<const ShootingSolution> solution();

    /// What becomes of the last step of Newton's method.
    enum class LastStep {
        evaluated,  ///< its motion is evaluated as those of the other steps are
        /// A last step that quadratic convergence predicts to reach rounding is taken without an evaluation: the caller
        /// simulates the motion in any case. Its residual is then not among `residuals`.
        trusted,
    };
    /// Newton's method from the present motion. `extra` is needed if there is a parameter. False if it does not
    /// converge; `failure` then says why.
    bool solve(const std::optional<ShootingRow>& extra = {}, LastStep last = LastStep::evaluated);
    /// Makes sure that derivatives at the present motion are known to a tolerance. False if they do not exist.
    bool differentiate(double tolerance);
    void set_closing(Closing closing);
    /// Whether the present motion has a derivative by its start in every direction (ScheduledDerivatives::regular).
    bool regular();

    const std::string& failure() const { return failure_; }
    const std::vector<double>& residuals() const { return residuals_; }
    double residual() const { return residuals_.back(); }
    /// Whether the last residual is one that rounding explains: an arc amplifies it this much.
    bool limited_by_rounding() const;
    const ShootingMotion& motion() const { return at_; }
    const ShootingEvaluation& evaluation() const { return now_; }
    const integrate::EventOrder& order() const { return order_; }
    Vector z() const;  ///< (x_0, T, p)

    /// What the laws require of the present motion.
    std::vector<StageMargin> margins();
    /// The law that the present motion violates most, in words; empty if it violates none by more than rounding.
    std::string violated_law();

    /// The relative error of derivatives: about 1e-3, or as small as the method allows.
    enum class Accuracy { rough, full };
    /// The derivative of the whole motion by its start, at fixed times: the product of the derivatives of all arcs and
    /// of the saltations between them. None if an event grazes exactly, or if events happen together.
    std::optional<Matrix> monodromy(Accuracy accuracy = Accuracy::full);
    /// The derivative of the end by the parameter, at the fixed duration, after `monodromy`.
    const Vector& by_parameter() const { return by_parameter_; }
    /// The derivatives of the state at the next cut (or the end) by that at the start and at each cut. Empty if they do
    /// not exist.
    std::vector<Matrix> part_maps();
    /// The tangent of the branch, τ in z/scale with row·τ = 1, not normalised.
    Vector tangent(const ShootingRow& row);

private:
    template <class Work, class Unknown>
    bool completes(const Work& work, const Unknown& unknown);
    bool follow_stages(const ShootingMotion& at, ShootingEvaluation& out);
    bool differentiate_stages(double tolerance);
    struct Tools;
    struct System;
    struct Step;
    bool evaluate(const ShootingMotion& at, ShootingEvaluation& out);
    bool set_tools(const ShootingMotion& at, ShootingEvaluation& out);
    double residual_of(const ShootingMotion& at, const ShootingEvaluation& e,
                       const std::optional<ShootingRow>& extra) const;
    System assemble(const std::optional<ShootingRow>& extra) const;
    std::optional<Step> newton_step(const System& system) const;
    ShootingMotion moved(const Step& step, double fraction) const;
    bool advance(const Step& step, const std::optional<ShootingRow>& extra, double& residual);
    double rounding() const;
    double accumulation_limit(const ShootingMotion& at, const integrate::ScheduledEvent& event, double* weights) const;
    void set_condition_sizes();
    bool autonomous() const { return !problem_.duration; }
    double parameter_scale(const std::optional<ShootingRow>& extra) const;

    ShootingProblem problem_;
    Eigen::Index states_ = 0;
    integrate::EventOrder order_;
    ShootingMotion at_;
    ShootingEvaluation now_;                           // at at_
    std::vector<std::vector<double>> condition_size_;  // per event: what residuals of its conditions are relative to
    std::unique_ptr<Tools> tools_;
    std::vector<double> residuals_;
    PeriodRange durations_{0.0};  // Newton steps that leave it are halved
    Vector by_parameter_;
    std::string failure_;
};

}  // namespace saltus::orbit
