// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/sensitivity/saltation/detail/limit.hpp"
#include "saltus/sensitivity/saltation/detail/saltation.hpp"
#include "saltus/sensitivity/sensitivity.hpp"

namespace saltus::sensitivity {

/// Relative accuracy that derivatives are expected to have. A derivative counts as zero if |value| ≤ agreement · (sum
/// of the magnitudes of its terms). Two events count as moving together if their δt differ by less than this.
inline constexpr double agreement = 1e-6;
/// The same for events at which the state is smooth, so that only the event time is affected. Forces that become zero
/// together in a symmetric body locate their zeros less accurately.
inline constexpr double agreement_of_times = 1e-5;

/// The derivatives of a state by all variables, and how mode changes act on them. A variable ends ("is not alive") at
/// the first event beyond which it has no derivative; a remark in the result says why. The events of the result get
/// their δt.
class Directions {
public:
    Directions(Tangent& tangent, Sensitivity& out);

    /// Applies a mode change. At the first change of the motion (`first`) the requirements on initial values are
    /// tested.
    void pass(const integrate::RecordedChange& change, const Saltation& s, bool first);

    /// Handles an event at the very end of the motion, which neighbouring motions may miss. The derivative by a
    /// variable that moves the event holds on one side only: for values that make it earlier (sign = −1) or later (sign
    /// = 1).
    void hold_to_a_side(double t, const Vector& dt, int sign);

    Matrix rows;  ///< one direction per variable, in the columns of Tangent; its δt entry is 0
    Matrix state() const { return rows.middleCols(1, 2 * n_).transpose(); }  ///< ∂(q, u), 2n × variables
    const Vector& times() const { return dt_; }                              ///< δt of the last change, per variable
    bool lives(Eigen::Index j) const { return alive_[static_cast<std::size_t>(j)] != 0; }
    bool any() const;  ///< some variable is alive
    /// Adds a remark to the result, up to a maximal number of remarks.
    void remark(double t, const std::string& variable, const std::string& text);
    void end(Eigen::Index j);                        ///< variable j has no derivative from here on
    void end_all(double t, const std::string& why);  ///< ends all variables with one remark
    const std::string& name(Eigen::Index j) const { return out_.with_respect_to[static_cast<std::size_t>(j)].name; }

    /// Typical magnitudes of ∂q and ∂u by each variable, variables × 2: largest final coordinate (velocity) divided by
    /// the value of the variable.
    const Matrix& usual() const { return usual_; }

private:
    double magnitude(const Eigen::RowVectorXd& change, Eigen::Index j) const;
    double time_derivative(const Saltation& s, Eigen::Index j, std::string& why) const;
    Vector times_of(const Saltation& s, Eigen::Index j) const;
    void enter(const integrate::RecordedChange& change);
    void leave_jumps(const integrate::RecordedChange& change);
    void hold_to_a_side(double t, Eigen::Index j, int side, const std::string& where);
    void record(const integrate::RecordedChange& change, const Saltation& s, const Vector& dt, const Matrix& each);
    Matrix saltation_matrix(const Saltation& s) const;
    Vector limit_time(const trajectory::Event& event);
    Vector times_of(const trajectory::Event& event, const Saltation& s, const Vector& dt, const Matrix& each);

    Tangent& x_;
    Sensitivity& out_;
    const int n_;
    const Eigen::Index k_;  // number of variables
    Matrix usual_;
    std::vector<char> alive_;
    Vector dt_, limit_;  // δt of the last change; δt of the limit of the accumulation that it began
    AccumulationLimits limits_;
    std::vector<Vector> times_;  // δt of all changes so far
};

/// True if an event at t cannot be distinguished from the end of the motion.
bool falls_on_end(double t, const trajectory::Trajectory& motion);
/// Beginning of the remarks about events at the end of the motion.
inline constexpr const char* on_end = "an event falls on the end of the motion: derivatives hold ";

/// If the condition of an event is grazing: the text of the refusal; otherwise "".
std::string grazes(const EventCondition& condition);

}  // namespace saltus::sensitivity
