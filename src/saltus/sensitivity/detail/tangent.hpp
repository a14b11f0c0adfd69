// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/mode/linearised.hpp"
#include "saltus/sensitivity/variables.hpp"

namespace saltus::sensitivity {

struct ImpactMemory;
struct RestMemory;

/// The equations of a recorded motion and their derivatives, in the mode that was set last.
///
/// All derivatives in this module use the same columns. A direction is δ = (δt, δq, δu, δp), where δp contains only the
/// parameters that are among the variables. A derivative of some quantity is a matrix with one column per entry of δ.
class Tangent {
public:
    /// `of_run`: the equations of motion of the run, which this object alone uses from now on
    /// (integrate::RecordedMotion::dynamics). Null: they are made.
    Tangent(const model::Mechanics& model, const integrate::Recording& recording,
            const std::vector<Variable>& variables, std::shared_ptr<integrate::Dynamics> of_run = nullptr);
    ~Tangent();

    int n() const { return dynamics.size(); }                                ///< number of coordinates
    int columns() const { return linearised.columns(); }                     ///< 1 + 2n + parameters()
    int parameters() const { return static_cast<int>(parameters_.size()); }  ///< number of parameters with a column
    const std::vector<int>& varied() const { return parameters_; }           ///< their numbers, ascending
    int column_of(const Variable& variable) const;                           ///< the column of its initial value
    Eigen::RowVectorXd columns_of(const Vector& all) const;  ///< selects these columns from (t, q, u, all parameters)
    const model::Mechanics& model() const { return dynamics.model(); }

    /// Puts the dynamics into a recorded mode and determines its equations at the state x = (q, u, …).
    void set_mode(const integrate::SystemMode& mode, double t, const double* x) { dynamics.set_mode(mode, t, x); }

    /// f = (u, u̇) in the mode that is set; false if the equations are singular at this state.
    bool velocity_field(double t, const double* x, Vector& f);

    /// ∂(q, u)/∂δ of the state itself, 2n × columns: the identity in the columns of q and u, otherwise zero.
    Matrix state_identity() const;
    void set_state_identity(Matrix& out) const;

private:
    const std::shared_ptr<integrate::Dynamics> equations_;

public:
    integrate::Dynamics& dynamics;

    /// The numbers of the parameters among the variables, ascending.
    static std::vector<int> parameters_of(const std::vector<Variable>& variables);

private:
    const std::vector<int> parameters_;  // columns among the model's independent parameters, ascending

public:
    /// Refers to `dynamics` and follows its mode. Ask `linearised.available()` once before any derivative is evaluated.
    integrate::Linearised linearised;
    const std::unique_ptr<ImpactMemory> impact_memory;  ///< of impact_map.cpp
    const std::unique_ptr<RestMemory> rest_memory;      ///< of arc_rest.cpp
    /// Memory of the search for grazing gaps (grazing.cpp), kept from arc to arc.
    struct GrazingMemory {
        std::vector<int> open;
        std::vector<double> state, positions, values;
    } grazing_memory;
    /// Memory of the linearisation of events (saltation.cpp), kept from event to event.
    struct EventMemory {
        Vector field_before, field_after;
        Matrix position, velocity, coefficient, switches;
        /// For friction in a plane that comes to rest: the derivative of the time of rest by γ (gradient_of_rest).
        struct Rest {
            int part;
            integrate::SlipDirection gradient;
        };
        std::vector<Rest> rests;
    } event_memory;
};

}  // namespace saltus::sensitivity
