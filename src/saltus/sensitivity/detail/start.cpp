// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/detail/start.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/integrate/mode/redundant_reactions.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/sensitivity/saltation/detail/impact_map.hpp"
#include "saltus/sensitivity/saltation/detail/saltation.hpp"

namespace saltus::sensitivity {

using model::Function;
using trajectory::ElementKind;

namespace {

/// Friction begins to slip from rest if its slip speed is at most this (m/s).
constexpr double resting_speed = 1e-12;
/// An open contact is touched at the start if |gap| <= this · position scale. The value is that of closed contacts
/// (integrate::Thresholds::closed_gap).
constexpr double touched_gap_ratio = integrate::Thresholds::closed_gap;
/// A motion begins at the trigger of a jump, or where the condition of a contact changes, if |when| or the condition is
/// at most this, in its unit: rounding errors of values of size 1.
constexpr double at_trigger = 1e-12;
/// A locked clutch has no force if it is at most this part of the largest force.
constexpr double negligible_force = 1e-12;
/// Reactions that are shared are at the edge if the largest least margin is at most this part of the largest reaction:
/// the accuracy of the linear program.
constexpr double shared_edge_ratio = 1e-9;
/// A pivot of W Wᵀ counts as zero below this part of the largest one.
constexpr double shared_pivot = 1e-10;
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
    keep_clutches_free(x, change);
    keep_behind_resets(x, change);
    keep_conditions(x, change);
    keep_inside_of_stick(x, change);
    // Other open contacts and free clutches require nothing.
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
            increases_.push_back(along);
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

/// A free clutch that turns with velocity 0 is accelerated forwards. A variation of its velocity backwards is stopped
/// by an impact, so that the derivative holds for variations forwards.
void StartCheck::keep_clutches_free(Tangent& x, const integrate::RecordedChange& change) {
    const double* const state = change.after.data();
    x.dynamics.evaluate_terms(change.t, state);
    Matrix velocity;
    for (std::size_t k = 0; k < change.mode_after->elements.size(); ++k) {
        const integrate::ElementRows& rows = x.dynamics.elements()[k].rows;
        if (rows.kind != ElementKind::clutch || change.mode_after->elements[k].active ||
            std::abs(x.dynamics.row_velocity(rows.normal)) > resting_speed)
            continue;
        if (velocity.size() == 0) x.linearised.gather(Function::velocity, change.t, state, {}, {}, velocity);
        increases_.push_back(velocity.row(rows.normal));
    }
    keep_idle_clutches(x, change);
}

/// A clutch that is locked without a force turns if its velocity or its force varies to one side.
void StartCheck::keep_idle_clutches(Tangent& x, const integrate::RecordedChange& change) {
    const double* const state = change.after.data();
    const auto locked = [&](std::size_t k) {
        return x.dynamics.elements()[k].rows.kind == ElementKind::clutch && change.mode_after->elements[k].active;
    };
    bool any = false;
    for (std::size_t k = 0; k < change.mode_after->elements.size(); ++k) any = any || locked(k);
    if (!any || !x.linearised.evaluate(change.t, state)) return;
    double largest = 0.0;
    for (const double h : x.dynamics.terms().h) largest = std::max(largest, std::abs(h));
    for (const double r : x.dynamics.reactions()) largest = std::max(largest, std::abs(r));
    Matrix velocity;
    x.linearised.gather(Function::velocity, change.t, state, {}, {}, velocity);
    for (std::size_t k = 0; k < change.mode_after->elements.size(); ++k) {
        const integrate::ElementRows& rows = x.dynamics.elements()[k].rows;
        if (!locked(k) ||
            std::abs(x.dynamics.reactions()[static_cast<std::size_t>(rows.normal)]) > negligible_force * largest)
            continue;
        const std::string why = "the clutch '" + x.model().clutches[static_cast<std::size_t>(rows.index)].name +
                                "' is locked without a force, and the sign of a variation decides whether it turns";
        demands_.push_back({velocity.row(rows.normal), why});
        demands_.push_back({x.linearised.reactions().row(rows.normal), why});
    }
}

/// Friction that sticks at the bound of its force: a variation to one side begins to slip, to the other side it stays.
/// There is no derivative along a direction that changes this reserve, or the velocities of the contact.
void StartCheck::keep_inside_of_stick(Tangent& x, const integrate::RecordedChange& change) {
    const double* const state = change.after.data();
    if (x.dynamics.compliant() || !x.dynamics.evaluate(change.t, state)) return;
    // The force of one of several elements that share a load is a matter of choice and says nothing.
    if (x.dynamics.redundant()) return keep_inside_of_shared_stick(x, change);
    const std::vector<int> edge = parts_at_the_edge(x.dynamics);
    if (edge.empty()) return;
    integrate::RecordedChange here;
    here.t = change.t;
    here.mode_before = here.mode_after = change.mode_after;
    here.before = here.after = change.after;
    for (const int k : edge)
        here.found.push_back(
            {integrate::Watch::What::reserve, x.dynamics.parts()[static_cast<std::size_t>(k)].element, k});
    for (const EventCondition& c : conditions_of(x, here)) {
        const integrate::FrictionPart& part = x.dynamics.parts()[static_cast<std::size_t>(c.watch.part)];
        const integrate::ElementRows& rows = x.dynamics.elements()[static_cast<std::size_t>(part.element)].rows;
        const std::string why = "friction is at the edge between sticking and slipping at the start";
        demands_.push_back({c.s, why});
        Matrix velocity;
        x.linearised.gather(Function::velocity, change.t, state, {}, {}, velocity);
        for (int r = 0; r < part.size; ++r) demands_.push_back({velocity.row(part.row + r), why});
        if (rows.normal >= 0 && rows.kind == ElementKind::contact) demands_.push_back({velocity.row(rows.normal), why});
    }
    x.set_mode(change.mode_after, change.t, state);
}

/// The same for elements that share a load. The mode holds as long as some distribution of the reactions keeps all of
/// them in their sets: the largest possible least margin is not negative. Let w >= 0 be the multipliers of this
/// program. The sum Σ w_k margin_k does not depend on the distribution, so that its derivative is that of the largest
/// margin.
void StartCheck::keep_inside_of_shared_stick(Tangent& x, const integrate::RecordedChange& change) {
    const integrate::Dynamics& d = x.dynamics;
    const double* const state = change.after.data();
    if (!x.linearised.evaluate(change.t, state)) return;
    Matrix velocity, coefficient;
    x.linearised.gather(Function::velocity, change.t, state, {}, {}, velocity);
    if (x.model().layout().coefficients > 0)
        x.linearised.gather(Function::coefficient, change.t, state, {}, {}, coefficient);
    const Matrix& slopes = x.linearised.reactions();
    const auto reaction = [&](int row) { return d.reactions()[static_cast<std::size_t>(row)]; };
    std::vector<int> rows;
    const auto number_of = [&](int row) {
        rows.push_back(row);
        return static_cast<int>(rows.size()) - 1;
    };
    std::vector<integrate::ReactionMargin> margins;
    Matrix changes(0, x.columns());
    const auto add = [&](integrate::ReactionMargin margin, const Eigen::RowVectorXd& slope) {
        margins.push_back(std::move(margin));
        changes.conservativeResize(changes.rows() + 1, Eigen::NoChange);
        changes.bottomRows(1) = slope;
    };
    for (std::size_t k = 0; k < d.elements().size(); ++k) {
        if (!change.mode_after->elements[k].active) continue;
        const integrate::ElementLayout& e = d.elements()[k];
        const bool slider = e.rows.kind == ElementKind::slider;
        const int normal = slider ? -1 : number_of(e.rows.normal);
        if (e.rows.kind == ElementKind::contact || e.rows.kind == ElementKind::clutch)
            add({0.0, {{normal, 1.0}}}, slopes.row(e.rows.normal));
        for (const int p : e.part_numbers()) {
            const integrate::FrictionPart& part = d.parts()[static_cast<std::size_t>(p)];
            if (change.mode_after->parts[static_cast<std::size_t>(p)].slips || part.frictionless()) continue;
            if (part.size != 1) return;  // their sets are no intervals
            const int slip = number_of(part.row);
            const double sign = !slider && reaction(e.rows.normal) < 0.0 ? -1.0 : 1.0, load = d.load(part.element);
            const model::Coefficient axis = part.static_axis != model::no_coefficient ? part.static_axis : part.axes[0];
            Eigen::RowVectorXd bound = Eigen::RowVectorXd::Zero(x.columns());
            if (axis != model::no_coefficient) bound += load * coefficient.row(axis);
            if (slider)
                bound += part.mu_static *
                         coefficient.row(x.model().sliders[static_cast<std::size_t>(e.rows.index)].normal_force);
            else
                bound += sign * part.mu_static * slopes.row(e.rows.normal);
            for (const double side : {-1.0, 1.0}) {
                integrate::ReactionMargin margin{slider ? part.mu_static * load : 0.0, {{slip, side}}};
                if (!slider) margin.terms.emplace_back(normal, sign * part.mu_static);
                add(std::move(margin), bound + side * slopes.row(part.row));
            }
        }
    }
    if (margins.empty()) return;
    Matrix W(static_cast<Eigen::Index>(rows.size()), n_);
    std::vector<double> lambda;
    double largest = 0.0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        for (int i = 0; i < n_; ++i) {
            std::vector<double> unit(static_cast<std::size_t>(n_), 0.0);
            unit[static_cast<std::size_t>(i)] = 1.0;
            W(static_cast<Eigen::Index>(r), i) = model::row_dot(x.model().layout().rows, d.terms().W, rows[r], unit);
        }
        lambda.push_back(reaction(rows[r]));
        largest = std::max(largest, std::abs(lambda.back()));
    }
    integrate::RedundantReactions shared;
    shared.factorise(W * W.transpose(), shared_pivot);
    const double edge = shared_edge_ratio * largest;
    const integrate::RedundantReactions::Centre centre = shared.centre(margins, 2.0 * edge, lambda);
    if (centre.margin > edge || centre.weights.size() != margins.size()) return;
    const std::string why =
        "the friction of elements that share a load is at the edge between sticking and slipping at the start";
    Eigen::RowVectorXd margin = Eigen::RowVectorXd::Zero(x.columns());
    for (std::size_t k = 0; k < margins.size(); ++k)
        margin += centre.weights[k] * changes.row(static_cast<Eigen::Index>(k));
    demands_.push_back({margin, why});
    for (const int row : rows) demands_.push_back({velocity.row(row), why});
}

/// A motion that begins where a jump of the model is triggered leaves that place without the jump. A variation that
/// begins on the other side meets the jump.
void StartCheck::keep_behind_resets(Tangent& x, const integrate::RecordedChange& change) {
    using Direction = model::Jump::Direction;
    const std::vector<model::Jump>& jumps = x.model().jumps;
    if (jumps.empty() || change.jump >= 0) return;
    const double* const state = change.after.data();
    x.dynamics.evaluate_terms(change.t, state);
    const auto value = [&](model::Coefficient c) { return x.dynamics.coefficients()[static_cast<std::size_t>(c)]; };
    Matrix coefficient;
    Vector field;
    for (const model::Jump& jump : jumps) {
        if (!(std::abs(value(jump.when)) <= at_trigger)) continue;
        if (jump.guard != model::no_coefficient && !(value(jump.guard) > -at_trigger)) continue;
        if (coefficient.size() == 0) {
            x.linearised.gather(Function::coefficient, change.t, state, {}, {}, coefficient);
            if (!x.velocity_field(change.t, state, field)) return;
        }
        const Eigen::RowVectorXd row = coefficient.row(jump.when);
        const double rate = row(0) + row.segment(1, 2 * n_).dot(field);
        if (rate == 0.0 || jump.direction == Direction::both || (jump.direction == Direction::up) == (rate > 0.0))
            leave_to_one_side(row, rate, "the motion begins at rest at the trigger of the jump '" + jump.name + "'");
    }
}

/// A quantity is zero at the start, and the motion leaves zero at this rate: variations to the other side pass zero
/// again. If the rate is zero then variations of the quantity and of its rate decide.
void StartCheck::leave_to_one_side(const Eigen::RowVectorXd& row, double rate, const std::string& why) {
    if (rate != 0.0) {
        increases_.push_back(rate > 0.0 ? row : Eigen::RowVectorXd(-row));
        return;
    }
    demands_.push_back({row, why});
    Eigen::RowVectorXd of_velocity = Eigen::RowVectorXd::Zero(row.size());
    of_velocity.segment(1 + n_, n_) = row.segment(1, n_);  // δ(∂s/∂q u) = ∂s/∂q δu for u = 0
    demands_.push_back({of_velocity, why});
}

/// A contact that is touched where its condition is zero exists for variations to one side only.
void StartCheck::keep_conditions(Tangent& x, const integrate::RecordedChange& change) {
    if (x.dynamics.compliant()) return;
    const double* const state = change.after.data();
    x.dynamics.evaluate_terms(change.t, state);
    Matrix coefficient;
    Vector field;
    for (const integrate::ElementLayout& e : x.dynamics.elements()) {
        if (e.rows.kind != ElementKind::contact) continue;
        const model::Contact& contact = x.model().contacts[static_cast<std::size_t>(e.rows.index)];
        if (contact.condition == model::no_coefficient ||
            std::abs(x.dynamics.coefficients()[static_cast<std::size_t>(contact.condition)]) > at_trigger ||
            std::abs(x.dynamics.terms().positions[static_cast<std::size_t>(e.rows.normal)]) >
                touched_gap_ratio * x.dynamics.position_scale(e.rows.normal, state))
            continue;
        if (coefficient.size() == 0) {
            x.linearised.gather(Function::coefficient, change.t, state, {}, {}, coefficient);
            if (!x.velocity_field(change.t, state, field)) return;
        }
        const Eigen::RowVectorXd row = coefficient.row(contact.condition);
        leave_to_one_side(row, row(0) + row.segment(1, 2 * n_).dot(field),
                          "the motion begins at rest where the contact '" + contact.name + "' begins to exist");
    }
}

std::string StartCheck::refusal(const Eigen::RowVectorXd& direction) const {
    for (const Demand& d : demands_)
        if (changes(d.change, direction)) return d.otherwise;
    return {};
}

int StartCheck::side(const Eigen::RowVectorXd& direction) const {
    for (const Eigen::RowVectorXd& along : increases_)
        if (changes(along, direction)) return along.dot(direction) > 0.0 ? 1 : -1;
    return 0;
}

void StartCheck::arrest(Matrix& directions) const {
    directions.middleCols(1 + n_, n_) = directions * velocity_.transpose();
}

}  // namespace saltus::sensitivity
