// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/integrate/event/scheduled.hpp"
#include "saltus/sensitivity/variables.hpp"

namespace saltus::sensitivity {

/// The derivatives of one stage of a scheduled motion (integrate/event/scheduled.hpp). The stage leads from the state y
/// before an event at t to the state x_end at t_end:
///     z = R(t, y, p),   x_end = φ(t_end; t, z, p)
/// with the reset R of the event, which moves the state onto the equations of the mode, and the flow φ of this mode.
/// With X = ∂φ/∂z, f⁺ the field at z and f the field at the end,
///     ∂x_end/∂y = X R_y,   ∂x_end/∂t = X (R_t − f⁺),   ∂x_end/∂t_end = f,   ∂x_end/∂p = X R_p + φ_p.
/// None of them contains 1/ṡ: the condition s = 0 of the event is an equation of its own.
struct StageDerivative {
    Matrix by_state;       ///< ∂x_end/∂y, 2n × 2n
    Vector by_start;       ///< ∂x_end/∂t
    Vector by_end;         ///< ∂x_end/∂t_end
    Matrix by_parameters;  ///< ∂x_end/∂p, 2n × parameters
};

/// The linearisation of the condition s(t, y, p) = 0 of an event.
struct ConditionDerivative {
    double by_time = 0.0;              ///< s_t
    Eigen::RowVectorXd by_state;       ///< s_y
    Eigen::RowVectorXd by_parameters;  ///< s_p
    double rate = 0.0;                 ///< ṡ = s_t + s_y f⁻ along the motion before the event
};

/// Derivatives of the stages of one model, by the state and by some parameters.
class ScheduledDerivatives {
public:
    /// The model must stay in its place.
    ScheduledDerivatives(const model::Mechanics& model, const std::vector<Variable>& parameters);
    ~ScheduledDerivatives();
    ScheduledDerivatives(ScheduledDerivatives&&) noexcept;
    ScheduledDerivatives& operator=(ScheduledDerivatives&&) noexcept;

    bool available() const;  ///< the system gives derivatives

    /// Positions that nothing in the model depends on. A disturbance of them alone stays as it is, and need not be
    /// carried.
    void set_free_positions(std::vector<Eigen::Index> positions);

    /// The derivatives of a stage. `size` has the magnitudes of q and u; `tolerance` as in sensitivity::Options. False
    /// if they do not exist; `failure` says why.
    bool stage(const integrate::ScheduledStage& stage, const Vector& size, double tolerance, StageDerivative& out);
    /// The linearisation of the conditions of an event that happens at the end of a stage, at the state y at t.
    bool conditions(const integrate::ScheduledEvent& event, double t, const Vector& y,
                    std::vector<ConditionDerivative>& out);
    /// Whether a motion in these stages has a derivative by its start in every direction, through all events, as
    /// `sensitivity` defines it. False also if that is not simple to tell: contacts are closed at the start, several
    /// events happen together, or a law is at its edge.
    bool regular(const std::vector<integrate::ScheduledStage>& stages);
    const std::string& failure() const;

private:
    struct Work;
    std::unique_ptr<Work> work_;
};

}  // namespace saltus::sensitivity
