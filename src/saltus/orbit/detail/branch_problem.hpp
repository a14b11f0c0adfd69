// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "saltus/model/model.hpp"
#include "saltus/orbit/branch.hpp"
#include "saltus/orbit/detail/measures.hpp"
#include "saltus/orbit/detail/return_map.hpp"
#include "saltus/orbit/detail/shooting.hpp"
#include "saltus/orbit/detail/symmetry.hpp"
#include "saltus/orbit/detail/translations.hpp"

namespace saltus::orbit {

/// One event in the order of events of an orbit.
struct Mark {
    trajectory::EventKind kind;
    std::vector<int> elements;
    bool operator==(const Mark& other) const = default;
};
/// The order of the events of a motion. Impacts that accumulate are one event, however many of them were seen; switches
/// of formulas are left out.
std::vector<Mark> order_of(const trajectory::Trajectory& motion);
/// Whether two orders are equal up to where the period begins.
bool same_order(const std::vector<Mark>& a, const std::vector<Mark>& b);

/// An orbit of a branch with all that the next step needs. Its unknowns are z = (x, T, p): the state at the time t, the
/// duration T if the system is autonomous, and the parameter p. With a symmetry, `r` has the derivatives of half the
/// orbit, followed by the symmetry, and the motion of the whole orbit.
struct OrbitPoint {
    double t = 0.0;
    Vector z;
    Vector scale;  ///< sizes of the components of z; lengths along the branch are measured in z/scale
    std::shared_ptr<const model::Model> model;
    Return r;
    double duration = 0.0;  ///< duration of the whole orbit, in s
    double residual = 0.0;
    Vector tangent;  ///< unit vector in z/scale
    Vector plane;    ///< autonomous systems: the phase condition is plane·(x − x_reference) = 0
    Vector reference;
    std::vector<Mark> order;
    Multipliers multipliers;
    /// The orbit as multiple shooting has solved for it, with the times of its events; null if its order of events
    /// cannot be scheduled. Steps along the branch then keep this order.
    std::shared_ptr<const ShootingSolution> solution;
    /// As in StoredOrbit. The solution is that of the motions from the start and from these states.
    std::vector<double> cut_times;
    std::vector<Vector> cuts;

    StoredOrbit stored() const { return {t, z, scale, tangent, plane, reference, residual, cut_times, cuts}; }

    double parameter() const { return z(z.size() - 1); }
    double slope() const { return tangent(tangent.size() - 1); }  ///< dp/ds, relative to the range
};

/// Whether the orbits of a branch have the symmetry of the options.
enum class Symmetric {
    no,      ///< the options have no symmetry
    yes,     ///< the equations are those of half an orbit
    broken,  ///< whole orbits, which have left a branch of symmetric ones
};

/// How the orbits near a periodic motion close: up to which translation. With Symmetric::yes: half of the motion,
/// followed by the symmetry of the options.
Closing closing_of(const model::Model& model, const BranchOptions& options, Symmetric symmetric,
                   const trajectory::Trajectory& motion);

/// Orbits of one multiple of the period as a system of equations F(z) = 0.
class BranchProblem {
public:
    /// Throws Error if the symmetry depends on the parameter.
    BranchProblem(const model::Description& description, const BranchOptions& options, int multiple, Closing closing,
                  Symmetric symmetric);

    int multiple() const { return multiple_; }
    bool autonomous() const { return options_.period.empty(); }
    bool symmetric() const { return kind_ == Symmetric::yes; }
    bool broken() const { return kind_ == Symmetric::broken; }
    /// What must be equal to the state at the start where a branch ends at another one: the state after half the orbit,
    /// or its image if the other branch is that of symmetric orbits.
    Vector half_of(const OrbitPoint& point) const;
    Eigen::Index states() const { return states_; }
    const Closing& closing() const { return closing_; }

    /// Why the last `correct` gave nothing, and whether the reason is a value of the parameter that the model refuses.
    const std::string& failure() const { return failure_; }
    bool inadmissible() const { return inadmissible_; }
    /// Whether the reason is that the motion amplifies errors too much: there is no use in other starts.
    bool too_sensitive() const { return too_sensitive_; }
    /// Whether the reason is that the orbit with the order of events of `near` exists, but violates a law.
    bool violates() const { return violates_; }

    enum class Damping { none, halve };
    /// Newton's method for F(z) = 0 and row·(z − z_start)/scale = 0, from z_start. The phase condition and the scale
    /// are those of `near`. If `near` has a solution of multiple shooting, then the result has the same order of
    /// events.
    std::optional<OrbitPoint> correct(const OrbitPoint& near, const Vector& z_start, const Vector& row,
                                      Damping damping = Damping::none);
    /// The same with the return map: the order of events is whatever the simulation finds.
    std::optional<OrbitPoint> correct_by_map(const OrbitPoint& near, const Vector& z_start, const Vector& row,
                                             Damping damping);
    enum class Laws {
        obeyed,   ///< the simulation must find the same events
        ignored,  ///< the orbit may violate laws: there is no motion then
    };
    /// The same by multiple shooting, with the order of events of near.solution.
    std::optional<OrbitPoint> correct_by_events(const OrbitPoint& near, const Vector& z_start, const Vector& row,
                                                Laws laws);
    /// What the laws require of an orbit that was found by events.
    std::vector<StageMargin> margins(const OrbitPoint& point);
    /// Orders of events next to an orbit at which a law is just fulfilled.
    std::vector<ShootingSolution> neighbours(const OrbitPoint& point, const StageMargin& margin) const;

    /// Sets the tangent of a point, such that its product with `along` is positive.
    void set_tangent(OrbitPoint& point, const Vector& along) const;

    /// Moves the start of the orbit to where the motion is calm if an event is near the start. The orientation of the
    /// tangent is kept.
    void move_start(OrbitPoint& point);

    /// The point that was stored: its motion and derivatives are computed again, without interruption. Throws Error if
    /// they cannot be.
    OrbitPoint restore(const StoredOrbit& stored);

    /// The first point of a branch: a periodic motion that was found at a value of the parameter.
    std::optional<OrbitPoint> first(const trajectory::Trajectory& motion, double parameter);

    /// The model at a value of the parameter. Throws Error if the value is not admissible.
    std::shared_ptr<const model::Model> model_at(double parameter) const;

    BranchPoint describe(const OrbitPoint& point) const;
    /// Excited models: whether the motion goes on to repeat itself.
    bool repeats(const OrbitPoint& point) const;

private:
    struct Evaluation {
        std::shared_ptr<const model::Model> model;
        Return r;                     ///< of half the orbit with a symmetry
        double duration = 0.0;        ///< duration of the whole orbit
        double duration_slope = 0.0;  ///< its derivative by the parameter
    };
    std::optional<Evaluation> evaluate(double t, const Vector& z, const std::function<bool()>& interrupted);
    Vector defect(const Evaluation& e, const OrbitPoint& near, const Vector& z) const;
    Matrix derivative(const Return& r, double duration_slope, const OrbitPoint& near) const;
    std::pair<double, double> period_of_excitation(const model::Model& model) const;
    /// Whether an orbit without excitation is one with this order of events, passed several times.
    bool passes_several_times(const std::vector<Mark>& order, const OrbitPoint& p) const;

    const model::Description& description_;
    const BranchOptions& options_;
    int multiple_;
    Closing closing_;            // of half the orbit with a symmetry
    Translations translations_;  // translations of the model at options.start
    Symmetric kind_;
    std::optional<Symmetry> symmetry_;
    Eigen::Index states_ = 0;
    mutable std::shared_ptr<const model::Model> last_;  // the model of the last value of the parameter
    mutable double last_value_ = 0.0;
    /// A point without a solution yet: start, sizes and phase condition of a motion.
    OrbitPoint raw(const trajectory::Trajectory& motion, double parameter);
    ShootingProblem shooting_problem(const OrbitPoint& near) const;
    bool complete(OrbitPoint& p, const std::function<bool()>& interrupted);
    bool simulate_solution(const Shooting& solved, const OrbitPoint& near, OrbitPoint& p);
    bool is_usable(const OrbitPoint& p, const OrbitPoint& near);
    bool closes_alike(const model::Model& model);
    Vector near_start(const Vector& x, const OrbitPoint& p) const;
    std::shared_ptr<const ShootingSolution> rotated(const OrbitPoint& p, double start) const;

    std::string failure_;
    bool inadmissible_ = false;
    bool too_sensitive_ = false;
    bool violates_ = false;
};

}  // namespace saltus::orbit
