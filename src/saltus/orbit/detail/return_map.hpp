// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::orbit {

/// A motion of one period with its derivative.
struct Return {
    trajectory::Trajectory motion;
    Vector end;           ///< (q, u) at the end
    Matrix slope;         ///< ∂(q, u) at the end by (q, u) at the start
    Vector rate;          ///< d(q, u)/dt at the end
    Vector by_parameter;  ///< ∂(q, u) at the end by the parameter; empty if none was named
    /// Columns without a derivative. They are 0 in `slope`.
    std::vector<std::string> missing;
    std::vector<std::string> one_sided;  ///< variables whose derivatives hold on one side only
    std::string failure;                 ///< why there is no motion or no derivative at all; empty if there is
    bool available() const { return failure.empty(); }
};

/// The motion from a state over some time, with its derivative by the start.
class ReturnMap {
public:
    /// The model must outlive the object.
    ReturnMap(const model::Model& model, const integrate::EventDriven& method, std::function<bool()> interrupted);
    /// The same with derivatives by an independent parameter of the model, too. The start does not depend on it.
    ReturnMap(const model::Model& model, const integrate::EventDriven& method, std::function<bool()> interrupted,
              const std::string& parameter);

    Return operator()(double t, const Vector& x, double duration) const;
    /// The motion alone.
    trajectory::Trajectory motion(double t, const Vector& x, double duration) const;

private:
    const model::Model& model_;
    integrate::EventDriven method_;
    std::function<bool()> interrupted_;
    std::string parameter_;
};

/// (q, u) of a state as one vector, and back.
Vector vector_of(const trajectory::State& state);
trajectory::State state_of(double t, const Vector& x);

/// d(q, u)/dt of a motion at its end, before the events there.
Vector rate_at_end(const trajectory::Trajectory& motion);
/// d(q, u)/dt of a motion at a time inside of an arc.
Vector rate_at(const trajectory::Trajectory& motion, double t);

/// A condition s(x) = 0 that fixes the phase of an autonomous motion.
struct PhaseCondition {
    std::function<double(const Vector& x)> value;
    std::function<Vector(const Vector& x)> gradient;
};

/// The condition of an expression of the state.
PhaseCondition section_of(const model::Model& model, const std::string& expression);
/// The plane through x across the direction of the motion there.
PhaseCondition plane_across(const Vector& x, const Vector& rate);

/// A passage of a motion through the section, upwards.
struct Passage {
    double t = 0.0;
    Vector x;
};
/// All passages of a motion. Each step is sampled, and passages are located by bisection.
std::vector<Passage> passages(const std::vector<trajectory::Arc>& arcs, Eigen::Index coordinates,
                              const PhaseCondition& section);
inline std::vector<Passage> passages(const trajectory::Trajectory& motion, const PhaseCondition& section) {
    return passages(motion.arcs, static_cast<Eigen::Index>(motion.coordinates.size()), section);
}

/// The last `count` passages of a motion; fewer if there are not as many.
std::vector<Passage> last_passages(const trajectory::Trajectory& motion, const PhaseCondition& section,
                                   std::size_t count);

}  // namespace saltus::orbit
