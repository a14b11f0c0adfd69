// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/saltation/detail/saltation.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/model.hpp"
#include "saltus/sensitivity/arc/detail/arc_motion.hpp"
#include "saltus/sensitivity/saltation/detail/reset.hpp"
#include "saltus/sensitivity/saltation/detail/simultaneous.hpp"

namespace saltus::sensitivity {

namespace {

using integrate::ElementLayout;
using integrate::ElementMode;
using integrate::FrictionMode;
using integrate::FrictionPart;
using integrate::RecordedChange;
using integrate::Watch;
using model::Function;
using trajectory::ElementKind;
using RowVector = Eigen::RowVectorXd;

/// Velocities below this part of the largest are nothing.
constexpr double at_zero = 1e-8;

double time_before(const RecordedChange& change) { return change.t - change.earlier; }

/// Derivatives of the quantities whose zeros are events, in the mode before.
class Conditions {
public:
    Conditions(Tangent& tangent, const RecordedChange& change, const std::vector<Watch>& found, const Vector& f)
        : x_(tangent), d_(tangent.dynamics), change_(change), f_(f) {
        using What = Watch::What;
        const double* const x = change.before.data();
        const auto any = [&](std::initializer_list<What> list) {
            return std::any_of(found.begin(), found.end(), [&](const Watch& w) {
                return std::find(list.begin(), list.end(), w.what) != list.end();
            });
        };
        const double t = time_before(change);
        if (any({What::force, What::reserve, What::reaction}))
            x_.linearised.evaluate(t, x);
        else
            d_.evaluate(t, x);
        const bool springs = any({What::spring, What::reserve});
        if (springs || any({What::gap, What::depth})) x_.linearised.gather(Function::position, t, x, {}, {}, position_);
        if (springs || any({What::slip, What::clutch}))
            x_.linearised.gather(Function::velocity, t, x, {}, {}, velocity_);
        if (springs && x_.model().layout().coefficients > 0)
            x_.linearised.gather(Function::coefficient, t, x, {}, {}, coefficient_);
        if (any({What::jump})) x_.linearised.switch_derivatives(t, x, switches_);
    }

    EventCondition of(const Watch& w) const {
        EventCondition c;
        c.watch = w;
        c.s = change_of(w);
        const int n = x_.n();
        c.rate = c.s(0) + c.s.segment(1, 2 * n).dot(f_.transpose());
        double largest = std::abs(c.s(0)) + c.s.segment(1, 2 * n).cwiseAbs().dot(f_.transpose().cwiseAbs());
        // A gap that turns round on its way, s̈ over the size of the positions, would be as fast as that.
        if (w.what == Watch::What::gap || w.what == Watch::What::depth) {
            const int row = d_.elements()[ix(w.element)].rows.normal;
            const double second = model::row_dot(x_.model().layout().rows, d_.terms().W, row, d_.acceleration()) +
                                  d_.terms().zeta[ix(row)];
            largest += std::sqrt(std::abs(second) * d_.position_scale(row, change_.before.data()));
        }
        if (w.what == Watch::What::slip || w.what == Watch::What::clutch)
            largest += c.s.segment(1 + n, n).cwiseAbs().sum() * d_.acceleration_scale();
        c.transversality = largest > 0.0 ? std::abs(c.rate) / largest : 0.0;
        return c;
    }

    /// Whether what came to zero did not, nor would for long: a force that jumps across it, by an expression that does.
    bool jumps(const EventCondition& c, double long_time) const {
        double value = 0.0;
        if (c.watch.what == Watch::What::reserve) value = d_.reserve(c.watch.part);
        if (c.watch.what == Watch::What::force)
            value = d_.reactions()[ix(d_.elements()[ix(c.watch.element)].rows.normal)];
        return std::abs(value) > std::abs(c.rate) * long_time;
    }

private:
    RowVector load(int element) const {
        const ElementLayout& e = d_.elements()[ix(element)];
        if (e.rows.kind == ElementKind::slider)
            return coefficient_.row(x_.model().sliders[ix(e.rows.index)].normal_force);
        if (d_.compliant() && e.rows.kind == ElementKind::contact)
            return d_.penalty_derivative(element, position_, velocity_, coefficient_);
        const double sign = d_.reactions()[ix(e.rows.normal)] < 0.0 ? -1.0 : 1.0;
        return sign * x_.linearised.reactions().row(e.rows.normal);
    }

    /// The support function of the friction's set along the outward normal at its force, less that force: σ + d·λ_T.
    RowVector reserve(int number) const {
        const FrictionPart& part = d_.parts()[ix(number)];
        double d[3] = {}, length = 0.0;
        const double* const force = d_.reactions().data() + part.row;
        for (int i = 0; i < part.size; ++i) {
            d[i] = -force[i];
            if (part.shape == FrictionPart::Shape::ellipse) {
                const double mu = i == 0 ? part.mu : part.mu_second;
                d[i] /= std::max(mu * mu, 1e-300);
            }
        }
        const FrictionMode& after = change_.mode_after.parts[ix(number)];
        if (part.shape == FrictionPart::Shape::patch && after.slips)
            for (int i = 0; i < 3; ++i) d[i] = after.direction[ix(i)];
        for (int i = 0; i < part.size; ++i) length = std::hypot(length, d[i]);
        integrate::SlipDirection direction{};
        for (int i = 0; i < part.size; ++i) direction[ix(i)] = d[i] /= std::max(length, 1e-300);
        double gradient[3];
        d_.slip_gradient(part, direction, d, gradient);
        const Matrix change =
            d_.slip_gradient_derivative(part, direction, d, Matrix::Zero(part.size, x_.columns()), coefficient_);
        const double value = d_.load(part.element);
        const RowVector dload = load(part.element);
        RowVector s = RowVector::Zero(x_.columns());
        for (int i = 0; i < part.size; ++i)
            s += d[i] * (gradient[i] * dload + value * change.row(i) + x_.linearised.reactions().row(part.row + i));
        return s;
    }

    RowVector change_of(const Watch& w) const {
        using What = Watch::What;
        if (w.what == What::hold) return RowVector::Zero(x_.columns());
        if (w.what == What::jump) return switches_.row(w.element);
        const ElementLayout& e = d_.elements()[ix(w.element)];
        const ElementMode& mode = d_.mode().elements[ix(w.element)];
        switch (w.what) {
            case What::gap: return position_.row(e.rows.normal);
            case What::depth: return -position_.row(e.rows.normal);
            case What::spring: {
                const RowVector s = d_.spring_derivative(w.element, position_, velocity_, coefficient_);
                return mode.pulls ? RowVector(-s) : s;
            }
            case What::force: return x_.linearised.reactions().row(e.rows.normal);
            case What::reaction: return mode.reaction_sign * x_.linearised.reactions().row(e.rows.normal);
            case What::clutch: return velocity_.row(e.rows.normal);
            case What::slip: {
                const FrictionPart& part = d_.parts()[ix(w.part)];
                const integrate::SlipDirection& direction = d_.mode().parts[ix(w.part)].direction;
                RowVector s = RowVector::Zero(x_.columns());
                for (int i = 0; i < part.size; ++i) s += direction[ix(i)] * velocity_.row(part.row + i);
                return s;
            }
            case What::reserve: return reserve(w.part);
            case What::hold:
            case What::jump: break;
        }
        return RowVector::Zero(x_.columns());
    }

    Tangent& x_;
    integrate::Dynamics& d_;
    const RecordedChange& change_;
    const Vector& f_;
    Matrix position_, velocity_, coefficient_, switches_;
};

/// Impacts at the start come when their contacts close.
std::vector<Watch> closing(const RecordedChange& change, integrate::Dynamics& d) {
    std::vector<Watch> list;
    d.evaluate_terms(time_before(change), change.before.data());
    for (const integrate::RecordedImpact& impact : change.impacts)
        for (std::size_t b = 0; b + 1 < impact.start.size(); ++b) {
            const ElementLayout& e = d.elements()[ix(impact.owner[b])];
            if (e.rows.kind == ElementKind::contact && d.row_velocity(e.rows.normal) < -1e-9)
                list.push_back({Watch::What::gap, impact.owner[b]});
        }
    return list;
}

/// The events of a change: those found, and others so near to them that they took place with them. A velocity that
/// small beside others has come to zero by itself.
std::vector<Watch> all_events(const RecordedChange& change, integrate::Dynamics& d) {
    std::vector<Watch> list = change.found;
    const auto add = [&](const Watch& w) {
        const bool known = std::any_of(list.begin(), list.end(), [&](const Watch& other) {
            return other.element == w.element && other.part == w.part && (other.what == w.what || w.part < 0);
        });
        if (!known) list.push_back(w);
    };
    for (const Watch& w : closing(change, d))
        if (!change.mode_before.elements[ix(w.element)].active) add(w);
    double speed = 1.0;
    for (int i = 0; i < d.size(); ++i) speed = std::max(speed, std::abs(change.before[ix(d.size() + i)]));
    for (std::size_t i = 0; i < change.mode_before.elements.size(); ++i) {
        const ElementMode &was = change.mode_before.elements[i], &is = change.mode_after.elements[i];
        const ElementLayout& e = d.elements()[i];
        if (e.rows.kind == ElementKind::clutch && !was.active && is.active &&
            std::abs(d.row_velocity(e.rows.normal)) <= at_zero * speed)
            add({Watch::What::clutch, static_cast<int>(i)});
        if (!was.active) continue;
        for (const int k : e.part_numbers()) {
            const FrictionMode &a = change.mode_before.parts[ix(k)], &b = change.mode_after.parts[ix(k)];
            const bool turns = b.slips && d.parts()[ix(k)].size == 1 && a.direction[0] * b.direction[0] < 0.0;
            if (a.slips && (!b.slips || turns) && d.slip_speed(k) <= at_zero * speed)
                add({Watch::What::slip, static_cast<int>(i), k});
        }
    }
    return list;
}

/// A gap that comes to zero and opens again, without an impulse: to one side it would strike.
bool touches(const EventCondition& c, const RecordedChange& change) {
    return c.watch.what == Watch::What::gap && change.impacts.empty() &&
           !change.mode_after.elements[ix(c.watch.element)].active;
}

/// Where slip in a plane comes to rest its direction, and with it the acceleration, is rounding in the end: both as the
/// straight last part of the arc has them, as derivatives have come through it.
void come_to_rest(Tangent& x, const std::vector<Watch>& found, const integrate::RecordedArc& arc, Vector& f) {
    integrate::Dynamics& d = x.dynamics;
    std::vector<int> resting;
    for (const Watch& w : found)
        if (w.what == Watch::What::slip && d.parts()[ix(w.part)].size > 1) resting.push_back(w.part);
    const double from = straight_from(arc), little = arc.t_end - from;
    if (resting.empty() || arc.steps.empty() || !(little > 0.0)) return;
    auto step = arc.steps.rbegin();
    while (std::next(step) != arc.steps.rend() && step->t_old() > from) ++step;
    std::vector<double> state(ix(d.state_size()));
    step->evaluate(from, state.data());
    const int n = x.n();
    Vector field;
    if (!x.velocity_field(from, state.data(), field) || !x.linearised.prepare(from, state.data())) return;
    integrate::SystemMode turned = d.mode();
    for (const int k : resting) {
        const double speed = d.slip_speed(k);
        if (!(speed > 0.0)) return;
        for (int r = 0; r < d.parts()[ix(k)].size; ++r)
            turned.parts[ix(k)].direction[ix(r)] = d.slip_velocity(k)[r] / speed;
        d.turn_slip(turned);
    }
    Matrix along = Matrix::Zero(1, x.columns()), rates;
    along(0, 0) = 1.0;
    along.middleCols(1, 2 * n) = field.transpose();
    x.linearised.along(along, rates);
    f.head(n) = field.head(n) + little * field.tail(n);
    f.tail(n) = field.tail(n) + little * rates.row(0).transpose();
}

bool slips_again_in_a_plane(const integrate::Dynamics& d, const RecordedChange& change) {
    for (std::size_t k = 0; k < change.mode_before.parts.size(); ++k) {
        const FrictionMode &was = change.mode_before.parts[k], &is = change.mode_after.parts[k];
        if (d.parts()[k].size > 1 && !was.slips && is.slips) return true;
    }
    return false;
}

/// A contact with a spring that closes at rest: to one side it would first open, for √ε, and its friction grows from
/// nothing and stops what begins to slip there after a time that has no derivative.
void take_hold(Tangent& x, const RecordedChange& change, std::vector<Condition>& conditions) {
    Matrix position, velocity;
    for (std::size_t i = 0; i < change.mode_after.elements.size(); ++i) {
        const ElementLayout& e = x.dynamics.elements()[i];
        if (e.rows.kind != ElementKind::contact || !change.mode_after.elements[i].active ||
            change.mode_before.elements[i].active)
            continue;
        if (std::abs(x.dynamics.row_velocity(e.rows.normal)) > at_zero) continue;
        x.linearised.gather(Function::position, change.t, change.after.data(), {}, {}, position);
        x.linearised.gather(Function::velocity, change.t, change.after.data(), {}, {}, velocity);
        conditions.push_back({position.row(e.rows.normal), "the spring is touched at rest, and it would be left"});
        for (const int k : e.part_numbers()) {
            const FrictionPart& part = x.dynamics.parts()[ix(k)];
            if (x.dynamics.slip_speed(k) > at_zero) continue;
            for (int row = part.row; row < part.row + part.size; ++row)
                conditions.push_back(
                    {velocity.row(row), "friction takes hold of it with a force that grows from nothing"});
        }
    }
}

/// Slip that comes to rest where friction can hardly hold it: to one side it goes on.
bool sticks_at_the_edge(const integrate::Dynamics& d, const RecordedChange& change) {
    for (std::size_t i = 0; i < d.elements().size(); ++i) {
        if (!d.mode().elements[i].active) continue;
        for (const int k : d.elements()[i].part_numbers()) {
            const FrictionPart& part = d.parts()[ix(k)];
            if (d.mode().parts[ix(k)].slips || !change.mode_before.parts[ix(k)].slips ||
                !change.mode_before.elements[i].active)
                continue;
            const double most = std::max(part.mu, part.mu_second) * d.load(static_cast<int>(i));
            if (most > 0.0 && std::abs(d.reserve(k)) <= 1e-10 * most) return true;
        }
    }
    return false;
}

/// Contacts that lift off and friction that breaks loose, where their forces come to the edge of what they may be: all
/// forces are continuous.
bool only_lets_go(const RecordedChange& change) {
    if (!change.impacts.empty() || !change.rest.empty() || change.found.empty()) return false;
    for (const Watch& w : change.found)
        if (w.what != Watch::What::force && w.what != Watch::What::reserve) return false;
    for (std::size_t i = 0; i < change.mode_before.elements.size(); ++i)
        if (!change.mode_before.elements[i].active && change.mode_after.elements[i].active) return false;
    for (std::size_t k = 0; k < change.mode_before.parts.size(); ++k)
        if (change.mode_before.parts[k].slips && !change.mode_after.parts[k].slips) return false;
    return true;
}

}  // namespace

Vector passed(const Saltation& s, const RowVector& direction, double dt) {
    Vector after = s.map * direction.transpose();
    for (Eigen::Index k = 0; k < s.drifts.cols(); ++k) {
        const EventCondition& c = s.events[static_cast<std::size_t>(k)];
        after -= s.drifts.col(k) * (c.s.dot(direction) / c.rate);
    }
    if (!s.smooth && s.drifts.cols() == 0) after += dt * s.drift;
    return after;
}

Saltation saltation(Tangent& x, const RecordedChange& change, const integrate::RecordedPiece* piece) {
    Saltation out;
    const bool start = piece == nullptr;
    const int n = x.n();
    const auto fail = [&](std::string why) {
        out.exists = false;
        out.why_not = std::move(why);
        return out;
    };
    Vector before, after;
    x.set_mode(change.mode_before, time_before(change), change.before.data());
    if (!x.velocity_field(time_before(change), change.before.data(), before))
        return fail("the equations of motion are singular");
    out.inherited = change.found.empty() || change.unavoidable;
    const std::vector<Watch> found = start           ? closing(change, x.dynamics)
                                     : out.inherited ? change.found
                                                     : all_events(change, x.dynamics);
    if (const auto* arc = start ? nullptr : std::get_if<integrate::RecordedArc>(piece))
        come_to_rest(x, found, *arc, before);
    if (start) out.inherited = found.empty();
    if (!start && out.inherited && change.impacts.empty() && slips_again_in_a_plane(x.dynamics, change))
        return fail("slip in a plane begins again where it has come to rest, and turns at once");
    int jumping = 0;  // events that change a force by themselves
    if (!out.inherited) {
        const Conditions conditions(x, change, found, before);
        for (const Watch& w : found) {
            out.untimed = out.untimed || w.what == Watch::What::hold;
            out.events.push_back(conditions.of(w));
            const bool friction = w.what == Watch::What::slip && x.dynamics.load(w.element) > 0.0;
            if (friction || w.what == Watch::What::clutch) ++jumping;
            const auto* const arc = start ? nullptr : std::get_if<integrate::RecordedArc>(piece);
            if (arc != nullptr && !x.dynamics.redundant() &&
                conditions.jumps(out.events.back(), 1e-3 * (arc->t_end - arc->t_begin)) &&
                !(out.events.back().transversality < transversality_margin))
                return fail("the force that decides it jumps, and so does its time");
        }
    }

    for (const EventCondition& c : out.events)
        if (touches(c, change))
            out.conditions.push_back(
                {c.s, "grazing: '" +
                          x.model().contacts[ix(x.dynamics.elements()[ix(c.watch.element)].rows.index)].name +
                          "' is touched without an impulse, with transversality " + number_text(c.transversality)});

    Reset r = reset(x, change);
    if (!r.exists) return fail(std::move(r.why_not));
    out.map = std::move(r.map);
    std::move(r.conditions.begin(), r.conditions.end(), std::back_inserter(out.conditions));
    if (!x.velocity_field(change.t, change.after.data(), after)) return fail("the equations of motion are singular");
    if (x.dynamics.compliant()) take_hold(x, change, out.conditions);
    if (sticks_at_the_edge(x.dynamics, change)) return fail("friction is at the edge between sticking and slipping");
    out.drift = out.map.middleCols(1, 2 * n) * before + out.map.col(0) - after;
    const double size = before.cwiseAbs().maxCoeff() + after.cwiseAbs().maxCoeff();
    // By the nature of the change, up to the accuracy of the forces; otherwise to rounding, unless several jumps add up
    // to nothing.
    const double jump = out.drift.cwiseAbs().maxCoeff();
    const bool lets_go = only_lets_go(change), of_expression = change.earlier > 0.0;
    out.smooth = jump <= (lets_go ? 1e-6 : of_expression ? 1e-9 : 1e-12) * size && (lets_go || jumping < 2);
    if (of_expression && !out.smooth)
        for (const EventCondition& c : out.events)
            if (!(c.rate * (c.s(0) + c.s.segment(1, 2 * n).dot(after)) > 0.0))
                return fail("an expression jumps here, and its jump sends the motion back");
    if (!out.map.allFinite() || !out.drift.allFinite()) return fail("it is singular");
    for (const int k : idle_contacts(x, change.t, change.after.data())) {
        // δλ after the change, with its time moving along
        const RowVector lambda = x.linearised.reactions().row(x.dynamics.elements()[ix(k)].rows.normal);
        Matrix after_all = out.map;
        if (!out.events.empty() && !out.smooth && out.events[0].rate != 0.0)
            after_all -= out.drift * out.events[0].s / out.events[0].rate;
        RowVector change_of = lambda.segment(1, 2 * n) * after_all;
        change_of.tail(x.parameters()) += lambda.tail(x.parameters());
        RowVector terms = lambda.segment(1, 2 * n).cwiseAbs() * after_all.cwiseAbs();
        terms.tail(x.parameters()) += lambda.tail(x.parameters()).cwiseAbs();
        change_of = without_rounding(change_of, terms);
        if (change_of.cwiseAbs().maxCoeff() > 1e-12) out.conditions.push_back({change_of, idle_text(x, k)});
    }
    if (out.events.size() > 1 && !out.smooth && !out.untimed) out.drifts = separate_drifts(x, change, out, before);
    return out;
}

}  // namespace saltus::sensitivity
