// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/sensitivity/saltation/detail/limit.hpp"
#include "saltus/sensitivity/saltation/detail/saltation.hpp"
#include "saltus/sensitivity/sensitivity.hpp"

namespace saltus::sensitivity {

/// Derivatives promise no more than this: what should be zero is so to this part of its terms, and events that a
/// variable moves apart by less happen together.
inline constexpr double agreement = 1e-6;
/// The same where only the time is at stake, and the state goes on smoothly: forces that come to zero together in a
/// symmetric body know their zeros less well.
inline constexpr double agreement_of_times = 1e-5;

/// The derivatives of a state by all variables, one a row in the columns of Tangent, and how changes of mode act on
/// them. Variables end where they have no derivative; remarks in the result say why, its events get their δt.
class Directions {
public:
    Directions(Tangent& tangent, Sensitivity& out);

    /// Through a change of mode; the first one of the motion also says what initial values may do.
    void pass(const integrate::RecordedChange& change, const Saltation& s, bool first);

    /// An event at the very end of the motion takes place on one side alone: of variables that move it, the derivatives
    /// hold for values that make it come earlier (−1), or later (1).
    void hold_to_a_side(double t, const Vector& dt, int sign);

    Matrix rows;  ///< variables × columns; δt = 0
    Matrix state() const { return rows.middleCols(1, 2 * n_).transpose(); }
    const Vector& times() const { return dt_; }  ///< δt of the last change
    bool lives(Eigen::Index j) const { return alive_[static_cast<std::size_t>(j)] != 0; }
    bool any() const;
    void remark(double t, const std::string& variable, const std::string& text);
    void end(Eigen::Index j);
    void end_all(double t, const std::string& why);
    const std::string& name(Eigen::Index j) const { return out_.with_respect_to[static_cast<std::size_t>(j)].name; }

    /// What derivatives of positions and velocities by a variable usually are: states over the value, variables × 2.
    const Matrix& usual() const { return usual_; }

private:
    double magnitude(const Eigen::RowVectorXd& change, Eigen::Index j) const;
    double time_derivative(const Saltation& s, Eigen::Index j, std::string& why) const;
    Vector times_of(const Saltation& s, Eigen::Index j) const;
    void enter(const integrate::RecordedChange& change);
    void leave_jumps(const integrate::RecordedChange& change);
    void hold_to_a_side(double t, Eigen::Index j, int side, const std::string& where);
    void record(const integrate::RecordedChange& change, const Saltation& s, const Vector& dt, const Matrix& each);
    Vector times_of(const trajectory::Event& event, const Saltation& s, const Vector& dt, const Matrix& each);

    Tangent& x_;
    Sensitivity& out_;
    const int n_;
    const Eigen::Index k_;
    Matrix usual_;
    std::vector<char> alive_;
    Vector dt_, limit_;  // of the last change; of the accumulation that it began
    AccumulationLimits limits_;
    std::vector<Vector> times_;  // δt of all changes
};

/// Whether an event at t falls on the end of the motion.
bool falls_on_end(double t, const trajectory::Trajectory& motion);
inline constexpr const char* on_end = "an event falls on the end of the motion: derivatives hold ";

/// A condition of an event told in words, where it grazes; otherwise "".
std::string grazes(const EventCondition& condition);

}  // namespace saltus::sensitivity
