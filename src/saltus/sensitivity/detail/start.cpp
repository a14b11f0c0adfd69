// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/detail/start.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/sensitivity/saltation/detail/impact_map.hpp"

namespace saltus::sensitivity {

using model::Function;
using trajectory::ElementKind;

namespace {

/// Friction begins to slip from rest if its slip speed is at most this (m/s).
constexpr double resting_speed = 1e-12;
/// An open contact is touched at the start if |gap| <= this · position scale. The value is that of closed contacts
/// (integrate::Thresholds::closed_gap).
constexpr double touched_gap_ratio = integrate::Thresholds::closed_gap;
/// A quantity changes along a direction if |change·δ| > this · Σ|change_i δ_i|.
constexpr double change_ratio = 1e-9;

bool changes(const Eigen::RowVectorXd& change, const Eigen::RowVectorXd& direction) {
    return std::abs(change.dot(direction)) > change_ratio * change.cwiseAbs().dot(direction.cwiseAbs());
}

}  // namespace

Matrix initial_directions(const Tangent& tangent, const std::vector<Variable>& variables) {
    const model::Mechanics& model = tangent.model();
    const int n = model.size(), parameters = model.layout().parameters;
    Matrix out = Matrix::Zero(static_cast<Eigen::Index>(variables.size()), tangent.columns());
    for (std::size_t j = 0; j < variables.size(); ++j) {
        auto row = out.row(static_cast<Eigen::Index>(j));
        const Variable& v = variables[j];
        row(tangent.column_of(v)) = 1.0;
        if (v.kind != Variable::Kind::parameter) continue;
        if (model.dq0_dp.cols() == parameters) row.segment(1, n) = model.dq0_dp.col(v.index).transpose();
        if (model.du0_dp.cols() == parameters) row.segment(1 + n, n) = model.du0_dp.col(v.index).transpose();
    }
    return out;
}

StartCheck::StartCheck(Tangent& x, const integrate::RecordedChange& change) : n_(x.n()) {
    const double* const state = change.after.data();
    x.set_mode(change.mode_after, change.t, state);
    velocity_ = x.state_identity().bottomRows(n_);
    keep_flat_friction(x, change);
    keep_touched_contacts(x, change);
    // Open contacts and free clutches require nothing.
    if (std::none_of(change.mode_after->elements.begin(), change.mode_after->elements.end(),
                     [](const integrate::ElementMode& e) { return e.active; }))
        return;
    Matrix position, velocity;
    x.linearised.gather(Function::position, change.t, state, {}, {}, position);
    x.linearised.gather(Function::velocity, change.t, state, {}, {}, velocity);
    const model::Mechanics& m = x.model();
    for (std::size_t k = 0; k < change.mode_after->elements.size(); ++k) {
        const integrate::ElementLayout& e = x.dynamics.elements()[k];
        const auto i = static_cast<std::size_t>(e.rows.index);
        if (e.rows.kind == ElementKind::constraint) {
            const std::string why = "the constraint '" + m.constraints[i].name + "' does not allow it to vary alone";
            demands_.push_back({position.row(e.rows.normal), why});
            demands_.push_back({velocity.row(e.rows.normal), why});
        }
        if (e.rows.kind == ElementKind::contact && change.mode_after->elements[k].active && !x.dynamics.compliant())
            demands_.push_back(
                {position.row(e.rows.normal),
                 "the contact '" + m.contacts[i].name + "' is closed at the start, and a variation would open it"});
    }
    for (std::size_t k = 0; k < change.mode_after->elements.size(); ++k) {
        const integrate::ElementLayout& e = x.dynamics.elements()[k];
        if (!change.mode_after->elements[k].active) continue;
        for (const int p : e.part_numbers()) {
            const integrate::FrictionPart& part = x.dynamics.parts()[static_cast<std::size_t>(p)];
            const integrate::FrictionMode& friction = change.mode_after->parts[static_cast<std::size_t>(p)];
            x.dynamics.evaluate_terms(change.t, state);
            if (!friction.slips || x.dynamics.slip_speed(p) > resting_speed) continue;
            Eigen::RowVectorXd along = Eigen::RowVectorXd::Zero(x.columns());
            for (int r = 0; r < part.size; ++r)
                along += friction.direction[static_cast<std::size_t>(r)] * velocity.row(part.row + r);
            from_rest_.push_back(along);
            if (e.rows.kind == ElementKind::contact && !x.dynamics.compliant())
                demands_.push_back(
                    {velocity.row(e.rows.normal), "friction begins to slip from rest in '" +
                                                      m.contacts[static_cast<std::size_t>(e.rows.index)].name +
                                                      "', but not in the impact that a variation would cause"});
        }
    }
    // A contact without force opens if its velocity or its force varies.
    for (const int k : idle_contacts(x, change.t, state)) {
        const int row = x.dynamics.elements()[static_cast<std::size_t>(k)].rows.normal;
        demands_.push_back({velocity.row(row), idle_text(x, k)});
        demands_.push_back({x.linearised.reactions().row(row), idle_text(x, k)});
    }
    // The friction of an impact depends on how the contacts share its impulse.
    integrate::Dynamics::Ambiguity shared;
    if (x.dynamics.redundant() && x.dynamics.evaluate(change.t, state)) shared = x.dynamics.ambiguity();
    if (shared.motion)
        for (const int k : shared.elements) {
            const integrate::ElementLayout& e = x.dynamics.elements()[static_cast<std::size_t>(k)];
            if (e.rows.kind == ElementKind::contact && !x.dynamics.compliant())
                demands_.push_back({velocity.row(e.rows.normal),
                                    "contacts share a load in several ways at the start, "
                                    "and so would the impact that a variation would cause"});
        }
    velocity_ = differentiate_arrest(x, change.t, state, Eigen::Map<const Vector>(state + n_, n_), velocity_);
}

/// Orthotropic friction that acts along one axis alone sticks there while the body moves across. With any friction
/// across the axis it would slip, so that the motion has no derivative by that coefficient.
void StartCheck::keep_flat_friction(Tangent& x, const integrate::RecordedChange& change) {
    Matrix coefficient;
    for (const integrate::FrictionPart& part : x.dynamics.parts()) {
        const integrate::ElementRows& rows = x.dynamics.elements()[static_cast<std::size_t>(part.element)].rows;
        const model::Friction& f = *integrate::friction_of(x.model(), rows);
        if (f.law != model::FrictionLaw::orthotropic || part.size == 2) continue;
        if (coefficient.size() == 0)
            x.linearised.gather(Function::coefficient, change.t, change.after.data(), {}, {}, coefficient);
        const model::Coefficient across = f.mu[part.row == f.first_row ? 1 : 0];
        demands_.push_back({coefficient.row(across),
                            "friction acts along one axis alone, and a variation would give it a force across"});
    }
}

/// A contact that is touched without velocity and opens by its acceleration: with a velocity to one side it opens, with
/// a velocity to the other side it collides. The velocities after the two differ to first order, so that there is no
/// derivative by the velocity of the gap.
void StartCheck::keep_touched_contacts(Tangent& x, const integrate::RecordedChange& change) {
    if (x.dynamics.compliant()) return;
    const double* const state = change.after.data();
    x.dynamics.evaluate_terms(change.t, state);
    Matrix velocity;
    for (std::size_t k = 0; k < change.mode_after->elements.size(); ++k) {
        const integrate::ElementRows& rows = x.dynamics.elements()[k].rows;
        if (rows.kind != ElementKind::contact || change.mode_after->elements[k].active) continue;
        const double gap = x.dynamics.terms().positions[static_cast<std::size_t>(rows.normal)];
        if (std::abs(gap) > touched_gap_ratio * x.dynamics.position_scale(rows.normal, state) ||
            std::abs(x.dynamics.row_velocity(rows.normal)) > resting_speed)
            continue;
        if (velocity.size() == 0) x.linearised.gather(Function::velocity, change.t, state, {}, {}, velocity);
        demands_.push_back(
            {velocity.row(rows.normal),
             "the contact '" + x.model().contacts[static_cast<std::size_t>(rows.index)].name +
                 "' is touched at the start without velocity; a variation to one side causes an impact"});
    }
}

std::string StartCheck::refusal(const Eigen::RowVectorXd& direction) const {
    for (const Demand& d : demands_)
        if (changes(d.change, direction)) return d.otherwise;
    return {};
}

int StartCheck::side(const Eigen::RowVectorXd& direction) const {
    for (const Eigen::RowVectorXd& along : from_rest_)
        if (changes(along, direction)) return along.dot(direction) > 0.0 ? 1 : -1;
    return 0;
}

void StartCheck::arrest(Matrix& directions) const {
    directions.middleCols(1 + n_, n_) = directions * velocity_.transpose();
}

}  // namespace saltus::sensitivity
