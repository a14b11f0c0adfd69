// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/saltation/detail/saltation.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>

#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/sensitivity/arc/detail/arc_rest.hpp"
#include "saltus/sensitivity/saltation/detail/reset.hpp"
#include "saltus/sensitivity/saltation/detail/simultaneous.hpp"
#include "saltus/sensitivity/saltation/detail/time_of_rest.hpp"

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
using Watches = ShortVector<Watch, 4>;

/// A relative velocity γ counts as zero if |γ| ≤ this · max(1, largest velocity). Absolute (1e-8 m/s) for contacts with
/// springs that close at rest.
constexpr double resting_speed = 1e-8;
/// A contact of an impact at the start closes if γ_N < −this (m/s); slower ones rest already.
constexpr double closing_speed = 1e-9;
/// Lower bound of a divisor, so that 0/0 becomes 0 instead of NaN.
constexpr double smallest_divisor = 1e-300;
/// Friction that has come to rest is at the edge of slipping on if |reserve| ≤ this · μ λ_N.
constexpr double edge_reserve_ratio = 1e-10;
/// A force jumps across zero if at the event |s| > |ṡ| · (this part of the arc's duration): it would not have become
/// zero continuously.
constexpr double jump_time_ratio = 1e-3;
/// The drift R_x f⁻ + R_t − f⁺ counts as zero if its largest entry is ≤ ratio · (|f⁻| + |f⁺|). If contacts and friction
/// only let go then it is zero in theory, and the ratio is the accuracy of the forces. At a kink of an expression the
/// two states differ by the bracket of its root. Otherwise only rounding is allowed.
constexpr double smooth_ratio_letting_go = 1e-6, smooth_ratio_of_kinks = 1e-9, smooth_ratio = 1e-12;
/// A condition of a jump, or a value that an expression compares, is zero at an event if it is at most this, in its
/// unit.
constexpr double edge_of_expressions = 1e-12;
/// A condition whose derivative is nowhere larger than this is always met, and is left out.
constexpr double negligible_condition = 1e-12;

/// The time of the stored state before the change; it differs from change.t at kinks of expressions only.
double time_before(const RecordedChange& change) { return change.t - change.earlier; }

/// The arc that a change ends; nullptr if another change precedes it.
const integrate::RecordedArc* arc_of(const integrate::RecordedPiece* piece) {
    return piece == nullptr ? nullptr : std::get_if<integrate::RecordedArc>(piece);
}

/// The derivatives of the quantities s whose zeros are events, in the mode before the change.
class Conditions {
public:
    /// Evaluates what the quantities in `found` need at the state before the change. f = (u, u̇) there.
    Conditions(Tangent& tangent, const RecordedChange& change, std::span<const Watch> found, const Vector& f)
        : x_(tangent),
          d_(tangent.dynamics),
          change_(change),
          f_(f),
          position_(tangent.event_memory.position),
          velocity_(tangent.event_memory.velocity),
          coefficient_(tangent.event_memory.coefficient),
          switches_(tangent.event_memory.switches) {
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
        if ((springs || any({What::condition, What::trigger})) && x_.model().layout().coefficients > 0)
            x_.linearised.gather(Function::coefficient, t, x, {}, {}, coefficient_);
        if (any({What::jump})) x_.linearised.switch_derivatives(t, x, switches_);
    }

    // ∂s and ṡ = s_t + s_x f⁻. The transversality is |ṡ| divided by the largest value that ṡ could have if its terms
    // did not cancel: |s_t| + Σ|s_i f_i|. Two kinds of quantities need more terms. A gap with the acceleration s̈ that
    // falls over the length L of the positions reaches the speed √(s̈ L). A slip velocity has s_x = (γ_q, W), and its
    // rate is compared with the single contributions to the acceleration, which cancel in u̇ itself.
    EventCondition of(const Watch& w) const {
        EventCondition c;
        c.watch = w;
        c.s = change_of(w);
        const int n = x_.n();
        c.rate = c.s(0) + c.s.segment(1, 2 * n).dot(f_.transpose());
        double largest = std::abs(c.s(0)) + c.s.segment(1, 2 * n).cwiseAbs().dot(f_.transpose().cwiseAbs());
        if (w.what == Watch::What::gap || w.what == Watch::What::depth) {
            const int row = d_.elements()[ix(w.element)].rows.normal;
            const double second = model::row_dot(x_.model().layout().rows, d_.terms().W, row, d_.acceleration()) +
                                  d_.terms().zeta[ix(row)];
            c.second_rate = second;
            largest += std::sqrt(std::abs(second) * d_.position_scale(row, change_.before.data()));
        }
        if (w.what == Watch::What::slip || w.what == Watch::What::clutch)
            largest += c.s.segment(1 + n, n).cwiseAbs().sum() * d_.acceleration_scale();
        c.transversality = largest > 0.0 ? std::abs(c.rate) / largest : 0.0;
        return c;
    }

    /// True if the quantity of an event is not zero at the event, and would not be zero within `long_time` at its rate:
    /// a force that jumps across zero because of an expression that jumps.
    bool jumps(const EventCondition& c, double long_time) const {
        double value = 0.0;
        if (c.watch.what == Watch::What::reserve) value = d_.reserve(c.watch.part);
        if (c.watch.what == Watch::What::force)
            value = d_.reactions()[ix(d_.elements()[ix(c.watch.element)].rows.normal)];
        return std::abs(value) > std::abs(c.rate) * long_time;
    }

private:
    /// ∂ of the normal force that loads the friction of an element: F_N of a slider, the spring force of a compliant
    /// contact, otherwise |λ_N|.
    RowVector load(int element) const {
        const ElementLayout& e = d_.elements()[ix(element)];
        if (e.rows.kind == ElementKind::slider)
            return coefficient_.row(x_.model().sliders[ix(e.rows.index)].normal_force);
        if (d_.compliant() && e.rows.kind == ElementKind::contact)
            return d_.penalty_derivative(element, position_, velocity_, coefficient_);
        const double sign = d_.reactions()[ix(e.rows.normal)] < 0.0 ? -1.0 : 1.0;
        return sign * x_.linearised.reactions().row(e.rows.normal);
    }

    // ∂ of the reserve of sticking friction. Coulomb: −λ_T ∈ λ_N C. Let σ be the support function of C and d the
    // outward unit normal of λ_N C at the boundary point next to −λ_T. The distance to the boundary is
    //     s = λ_N σ(d) − d·(−λ_T) = λ_N d·∇σ(d) + d·λ_T ≥ 0        (σ is homogeneous of degree 1, so σ = d·∇σ).
    // At the event −λ_T = λ_N ∇σ(d), so ∂s/∂d = λ_N ∇σ + λ_T = 0: the turning of d does not matter, and
    //     δs = d·(∇σ δλ_N + λ_N (∂∇σ/∂μ) δμ + δλ_T).
    // Normals: d ∥ −λ_T for a disk, d_i ∥ −λ_Ti/μ_i² for an ellipse. For a patch it is the slip that follows.
    RowVector reserve(int number) const {
        FrictionPart part = d_.parts()[ix(number)];
        part.mu = part.mu_static;  // the bound of stick
        if (part.static_axis != model::no_coefficient) part.axes[0] = part.static_axis;
        double d[3] = {}, length = 0.0;
        const double* const force = d_.reactions().data() + part.row;
        for (int i = 0; i < part.size; ++i) {
            d[i] = -force[i];
            if (part.shape == FrictionPart::Shape::ellipse) {
                const double mu = i == 0 ? part.mu : part.mu_second;
                d[i] /= std::max(mu * mu, smallest_divisor);
            }
        }
        const FrictionMode& after = change_.mode_after->parts[ix(number)];
        if (part.shape == FrictionPart::Shape::patch && after.slips)
            for (int i = 0; i < 3; ++i) d[i] = after.direction[ix(i)];
        for (int i = 0; i < part.size; ++i) length = std::hypot(length, d[i]);
        integrate::SlipDirection direction{};
        for (int i = 0; i < part.size; ++i) direction[ix(i)] = d[i] /= std::max(length, smallest_divisor);
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

    /// The derivative of the time of rest if slip in a plane comes to rest, otherwise null.
    const Tangent::EventMemory::Rest* rest_of(const Watch& w) const {
        if (w.what != Watch::What::slip) return nullptr;
        for (const Tangent::EventMemory::Rest& rest : x_.event_memory.rests)
            if (rest.part == w.part) return &rest;
        return nullptr;
    }

    /// ∂s of a quantity, in the columns of Tangent. Its sign is that of the watched quantity.
    RowVector change_of(const Watch& w) const {
        using What = Watch::What;
        if (w.what == What::hold) return RowVector::Zero(x_.columns());
        if (w.what == What::jump) return switches_.row(w.element);
        if (w.what == What::trigger)
            return d_.mode().sides[ix(w.element)] * coefficient_.row(x_.model().jumps[ix(w.element)].when);
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
                const Tangent::EventMemory::Rest* const rest = rest_of(w);
                const integrate::SlipDirection& along = rest ? rest->gradient : d_.mode().parts[ix(w.part)].direction;
                RowVector s = RowVector::Zero(x_.columns());
                for (int i = 0; i < part.size; ++i) s += along[ix(i)] * velocity_.row(part.row + i);
                return s;
            }
            case What::reserve: return reserve(w.part);
            case What::condition: {
                const RowVector s = coefficient_.row(x_.model().contacts[ix(e.rows.index)].condition);
                return mode.exists ? s : RowVector(-s);
            }
            case What::hold:
            case What::trigger:
            case What::jump: break;
        }
        return RowVector::Zero(x_.columns());
    }

    Tangent& x_;
    integrate::Dynamics& d_;
    const RecordedChange& change_;
    const Vector& f_;
    Matrix &position_, &velocity_, &coefficient_, &switches_;
};

/// The gaps that close in the impacts of a change, as events.
Watches closing(const RecordedChange& change, integrate::Dynamics& d) {
    Watches list;
    d.evaluate_terms(time_before(change), change.before.data());
    for (const integrate::RecordedImpact& impact : change.impacts)
        for (std::size_t b = 0; b + 1 < impact.start.size(); ++b) {
            const ElementLayout& e = d.elements()[ix(impact.owner[b])];
            if (e.rows.kind == ElementKind::contact && d.row_velocity(e.rows.normal) < -closing_speed)
                list.push_back({Watch::What::gap, impact.owner[b]});
        }
    return list;
}

/// The events of a change: those that the simulation found, and others that happened within rounding of them: gaps that
/// close in its impacts, and velocities that came to rest in its mode change while they were zero to rounding.
Watches all_events(const RecordedChange& change, integrate::Dynamics& d) {
    Watches list;
    list = std::span(change.found);
    const auto add = [&](const Watch& w) {
        const bool known = std::any_of(list.begin(), list.end(), [&](const Watch& other) {
            return other.element == w.element && other.part == w.part && (other.what == w.what || w.part < 0);
        });
        if (!known) list.push_back(w);
    };
    for (const Watch& w : closing(change, d))
        if (!change.mode_before->elements[ix(w.element)].active) add(w);
    double speed = 1.0;
    for (int i = 0; i < d.size(); ++i) speed = std::max(speed, std::abs(change.before[ix(d.size() + i)]));
    for (std::size_t i = 0; i < change.mode_before->elements.size(); ++i) {
        const ElementMode &was = change.mode_before->elements[i], &is = change.mode_after->elements[i];
        const ElementLayout& e = d.elements()[i];
        if (e.rows.kind == ElementKind::clutch && !was.active && is.active &&
            std::abs(d.row_velocity(e.rows.normal)) <= resting_speed * speed)
            add({Watch::What::clutch, static_cast<int>(i)});
        if (!was.active) continue;
        for (const int k : e.part_numbers()) {
            const FrictionMode &a = change.mode_before->parts[ix(k)], &b = change.mode_after->parts[ix(k)];
            const bool turns = b.slips && d.parts()[ix(k)].size == 1 && a.direction[0] * b.direction[0] < 0.0;
            if (a.slips && (!b.slips || turns) && d.slip_speed(k) <= resting_speed * speed)
                add({Watch::What::slip, static_cast<int>(i), k});
        }
    }
    return list;
}

/// True for a gap that becomes zero and opens again without an impulse: neighbouring motions on one side strike.
bool touches(const EventCondition& c, const RecordedChange& change) {
    return c.watch.what == Watch::What::gap && change.impacts.empty() &&
           !change.mode_after->elements[ix(c.watch.element)].active;
}

/// Replaces f = (u, u̇) before the change if slip in a plane comes to rest. At rest the direction of slip γ/|γ|, and
/// with it u̇, is rounding. So both are those at the end of the path on which the derivatives have been carried next to
/// rest (end_in_rest), where the slip has a direction and hardly any speed. Also sets the directions of slip of the
/// dynamics to those there, and finds the gradients of the times of rest. False if one of them cannot be found.
bool come_to_rest(Tangent& x, std::span<const Watch> found, const integrate::RecordedArc& arc, Vector& f) {
    integrate::Dynamics& d = x.dynamics;
    std::vector<int> resting;
    for (const Watch& w : found)
        if (w.what == Watch::What::slip && d.parts()[ix(w.part)].size > 1) resting.push_back(w.part);
    if (resting.empty() || arc.steps.empty() || !(arc.t_end > arc.t_begin)) return true;
    const EndInRest& end = end_in_rest(x, arc);
    if (!end.path || !x.velocity_field(end.path->t, end.path->end.data(), f)) return false;
    for (const int k : resting) {
        const std::optional<Tangent::EventMemory::Rest> rest = gradient_of_rest(x, end.path->t, end.path->end, k);
        if (!rest) return false;
        x.event_memory.rests.push_back(*rest);
    }
    return true;
}

bool slips_again_in_a_plane(const integrate::Dynamics& d, const RecordedChange& change) {
    for (std::size_t k = 0; k < change.mode_before->parts.size(); ++k) {
        const FrictionMode &was = change.mode_before->parts[k], &is = change.mode_after->parts[k];
        if (d.parts()[k].size > 1 && !was.slips && is.slips) return true;
    }
    return false;
}

/// Adds conditions for compliant contacts that close at rest. A gap that opens by ε closes again after a time of order
/// √ε. Friction of such a contact grows from zero, and stops a slip velocity after a time that has no derivative.
void require_no_motion_of_touched_springs(Tangent& x, const RecordedChange& change,
                                          std::vector<Condition>& conditions) {
    Matrix position, velocity;
    for (std::size_t i = 0; i < change.mode_after->elements.size(); ++i) {
        const ElementLayout& e = x.dynamics.elements()[i];
        if (e.rows.kind != ElementKind::contact || !change.mode_after->elements[i].active ||
            change.mode_before->elements[i].active)
            continue;
        if (std::abs(x.dynamics.row_velocity(e.rows.normal)) > resting_speed) continue;
        x.linearised.gather(Function::position, change.t, change.after.data(), {}, {}, position);
        x.linearised.gather(Function::velocity, change.t, change.after.data(), {}, {}, velocity);
        conditions.push_back(
            {position.row(e.rows.normal), "the spring is touched at rest, and a variation would leave it"});
        for (const int k : e.part_numbers()) {
            const FrictionPart& part = x.dynamics.parts()[ix(k)];
            if (x.dynamics.slip_speed(k) > resting_speed) continue;
            for (int row = part.row; row < part.row + part.size; ++row)
                conditions.push_back({velocity.row(row), "friction stops it with a force that grows from zero"});
        }
    }
}

/// Adds conditions for rigid contacts that appear closed (key `if`). A varied motion in which the gap is open or closes
/// with a velocity at that time goes on otherwise.
void require_rest_of_appearing_contacts(Tangent& x, const RecordedChange& change, std::vector<Condition>& conditions) {
    Matrix position, velocity;
    for (std::size_t i = 0; i < change.mode_after->elements.size(); ++i) {
        const ElementMode &was = change.mode_before->elements[i], &is = change.mode_after->elements[i];
        if (was.exists || !is.exists || !is.active) continue;
        const std::string why =
            "the contact '" + x.model().contacts[i].name + "' appears closed, and a variation would open it";
        x.linearised.gather(Function::position, change.t, change.after.data(), {}, {}, position);
        x.linearised.gather(Function::velocity, change.t, change.after.data(), {}, {}, velocity);
        conditions.push_back({position.row(x.dynamics.elements()[i].rows.normal), why});
        conditions.push_back({velocity.row(x.dynamics.elements()[i].rows.normal), why});
    }
}

/// True if slip comes to rest where friction can just hold it: neighbouring motions on one side slip on.
bool sticks_at_the_edge(const integrate::Dynamics& d, const RecordedChange& change) {
    const std::vector<int> edge = parts_at_the_edge(d);
    return std::any_of(edge.begin(), edge.end(), [&](int k) {
        return change.mode_before->parts[ix(k)].slips &&
               change.mode_before->elements[ix(d.parts()[ix(k)].element)].active;
    });
}

/// Whether the event ends stick whose force falls from its bound μ_s λ_N to that of slip, μ λ_N.
bool drops_force(const integrate::Dynamics& d, const Watch& w) {
    return w.what == Watch::What::reserve && d.parts()[ix(w.part)].mu_static > d.parts()[ix(w.part)].mu;
}

/// True if contacts only lift off and friction only breaks loose, each where its force reaches its bound. Then all
/// forces are continuous, so f⁺ = f⁻ and R = I: the drift is zero.
bool only_lets_go(const integrate::Dynamics& d, const RecordedChange& change) {
    if (std::any_of(change.found.begin(), change.found.end(), [&](const Watch& w) { return drops_force(d, w); }))
        return false;
    if (!change.impacts.empty() || !change.rest.empty() || change.found.empty()) return false;
    for (const Watch& w : change.found)
        if (w.what != Watch::What::force && w.what != Watch::What::reserve) return false;
    for (std::size_t i = 0; i < change.mode_before->elements.size(); ++i)
        if (!change.mode_before->elements[i].active && change.mode_after->elements[i].active) return false;
    for (std::size_t k = 0; k < change.mode_before->parts.size(); ++k)
        if (change.mode_before->parts[k].slips && !change.mode_after->parts[k].slips) return false;
    return true;
}

/// EventCondition::relative_depth of a gap that closes at the end of an arc, with the positions `at_event`; 1 if it is
/// far above relative_depth_margin. The largest gap is found at samples: its order of magnitude matters.
double relative_depth(Tangent& x, const integrate::RecordedArc& arc, const EventCondition& c, const double* at_event) {
    if (c.watch.what != Watch::What::gap || !(c.rate < 0.0) || c.second_rate == 0.0) return 1.0;
    const int row = x.dynamics.elements()[ix(c.watch.element)].rows.normal;
    // Only a gap that has been far larger than the positions at the event could make the depth small.
    constexpr double far_larger = 1e4;
    const double depth = c.rate * c.rate / (2.0 * std::abs(c.second_rate));
    if (depth > relative_depth_margin * far_larger * x.dynamics.position_scale(row, at_event)) return 1.0;
    std::vector<double>& state = x.grazing_memory.state;
    state.resize(ix(x.dynamics.state_size()));
    double largest = 0.0;
    for (const ode::Dense& step : arc.steps) {
        const double end = std::min(step.t_new(), arc.t_end);
        for (const double t : {0.5 * (step.t_old() + end), end}) {
            step.evaluate(t, state.data(), x.n());  // a gap depends on positions and time alone
            largest = std::max(largest, x.dynamics.positions(t, state.data())[ix(row)]);
        }
    }
    return largest > 0.0 ? depth / largest : 1.0;
}

/// Linearises the event conditions of a change. Returns why there is no derivative, or "".
std::string linearise_conditions(Tangent& x, const RecordedChange& change, std::span<const Watch> found,
                                 const integrate::RecordedArc* arc, const Vector& f, Saltation& out) {
    const Conditions conditions(x, change, found, f);
    for (const Watch& w : found) {
        out.untimed = out.untimed || w.what == Watch::What::hold;
        out.events.push_back(conditions.of(w));
        EventCondition& c = out.events.back();
        if (arc != nullptr) c.relative_depth = relative_depth(x, *arc, c, change.before.data());
        if (arc != nullptr && !x.dynamics.redundant() &&
            conditions.jumps(c, jump_time_ratio * (arc->t_end - arc->t_begin)) &&
            !(c.transversality < transversality_margin))
            return "the force that decides the event jumps, and so does the event time";
    }
    return {};
}

/// The number of events that change a force by themselves: loaded friction that comes to rest or falls from static to
/// sliding friction, and clutches that lock.
int count_force_jumps(const integrate::Dynamics& d, std::span<const Watch> found) {
    int count = 0;
    for (const Watch& w : found) {
        const bool friction = w.what == Watch::What::slip && d.load(w.element) > 0.0;
        if (friction || w.what == Watch::What::clutch || drops_force(d, w)) ++count;
    }
    return count;
}

void require_no_touch(const Tangent& x, const RecordedChange& change, Saltation& out) {
    for (const EventCondition& c : out.events)
        if (touches(c, change))
            out.conditions.push_back(
                {c.s, "grazing: '" +
                          x.model().contacts[ix(x.dynamics.elements()[ix(c.watch.element)].rows.index)].name +
                          "' is touched without an impulse, with transversality " + number_text(c.transversality)});
}

/// Whether the drift is zero. With two or more jumps of forces that cancel, a variation separates them and the drift is
/// not zero between them; so the change is not smooth.
bool is_smooth(const integrate::Dynamics& d, const RecordedChange& change, const Saltation& s, const Vector& f_minus,
               const Vector& f_plus, int force_jumps) {
    const double size = f_minus.cwiseAbs().maxCoeff() + f_plus.cwiseAbs().maxCoeff();
    const bool lets_go = only_lets_go(d, change), of_expression = change.earlier > 0.0;
    const double ratio = lets_go ? smooth_ratio_letting_go : of_expression ? smooth_ratio_of_kinks : smooth_ratio;
    return s.drift.cwiseAbs().maxCoeff() <= ratio * size && (lets_go || force_jumps < 2);
}

/// True if some compared value that becomes zero would return through zero after the change: ṡ⁻ ṡ⁺ ≤ 0.
bool is_sent_back(const Tangent& x, const Saltation& s, const Vector& f_plus) {
    return std::any_of(s.events.begin(), s.events.end(), [&](const EventCondition& c) {
        return !(c.rate * (c.s(0) + c.s.segment(1, 2 * x.n()).dot(f_plus)) > 0.0);
    });
}

/// A closed contact without force opens if its force varies to a negative value. The variation of λ after the change is
/// δλ = λ_x δx⁺ + λ_p δp with δx⁺ = (map − drift s/ṡ) δ, and must vanish.
void require_no_force_of_idle_contacts(Tangent& x, const RecordedChange& change, Saltation& out) {
    const int n = x.n();
    for (const int k : idle_contacts(x, change.t, change.after.data())) {
        const RowVector lambda = x.linearised.reactions().row(x.dynamics.elements()[ix(k)].rows.normal);
        Matrix after_all = out.map;
        if (!out.events.empty() && !out.smooth && out.events[0].rate != 0.0)
            after_all -= out.drift * out.events[0].s / out.events[0].rate;
        RowVector change_of = lambda.segment(1, 2 * n) * after_all;
        change_of.tail(x.parameters()) += lambda.tail(x.parameters());
        RowVector terms = lambda.segment(1, 2 * n).cwiseAbs() * after_all.cwiseAbs();
        terms.tail(x.parameters()) += lambda.tail(x.parameters()).cwiseAbs();
        change_of = without_rounding(change_of, terms);
        if (change_of.cwiseAbs().maxCoeff() > negligible_condition)
            out.conditions.push_back({change_of, idle_text(x, k)});
    }
}

/// Adds conditions for slip in a plane that begins at rest, at the start or after a jump of the model: a variation of
/// the slip velocity γ across the direction d of slip turns the first part of the slip, however small it is. Its effect
/// is |γ| times a function of the direction of γ, which has no derivative at γ = 0.
void require_start_along_slip(Tangent& x, const RecordedChange& change, Saltation& out) {
    const int n = x.n();
    x.dynamics.evaluate_terms(change.t, change.after.data());
    Matrix velocity;
    for (std::size_t k = 0; k < change.mode_after->parts.size(); ++k) {
        const FrictionPart& part = x.dynamics.parts()[k];
        const FrictionMode& mode = change.mode_after->parts[k];
        if (!mode.slips || part.size == 1 || x.dynamics.slip_speed(static_cast<int>(k)) > resting_speed) continue;
        if (velocity.size() == 0)
            x.linearised.gather(Function::velocity, change.t, change.after.data(), {}, {}, velocity);
        const Eigen::Map<const Vector> d(mode.direction.data(), part.size);
        const Matrix along = velocity.middleRows(part.row, part.size);
        const Matrix across = along - d * (d.transpose() * along);
        for (int r = 0; r < part.size; ++r) {
            RowVector change_of = across.row(r).segment(1, 2 * n) * out.map;
            change_of.tail(x.parameters()) += across.row(r).tail(x.parameters());
            RowVector terms = across.row(r).segment(1, 2 * n).cwiseAbs() * out.map.cwiseAbs();
            terms.tail(x.parameters()) += across.row(r).tail(x.parameters()).cwiseAbs();
            change_of = without_rounding(change_of, terms);
            if (change_of.cwiseAbs().maxCoeff() > negligible_condition)
                out.conditions.push_back({change_of,
                                          "slip in a plane begins at rest here, and has no derivative by a velocity "
                                          "across its direction"});
        }
    }
}

/// Adds conditions for a jump that ends in closed contacts or on constraints: the varied motion must end in them, too.
/// With the shift δt = −s·δ/ṡ of the event, the varied state just after its reset is R_x δ + (R_x f⁻ + R_t) δt, and a
/// function g of the new state varies by g_x of that, plus g_t δt + g_p δp. `map` is (R_t, R_x, R_p). Gaps that a
/// variation opens by ε close again after a time of order √ε; a constraint that it violates ends the motion. Velocities
/// in closed contacts are arrested (reset.cpp) and need no condition. False if δt is not known here.
bool require_reset_onto_rows(Tangent& x, const RecordedChange& change, const Matrix& map, const Vector& f,
                             Saltation& out) {
    const int n = x.n();
    Matrix position, velocity;
    const auto require = [&](const RowVector& g, const std::string& element) {
        if (out.inherited || out.events.empty() || out.events[0].rate == 0.0) return false;
        const RowVector dt = -out.events[0].s / out.events[0].rate;
        const Matrix varied = map + (map.middleCols(1, 2 * n) * f + map.col(0)) * dt;
        RowVector change_of = g.segment(1, 2 * n) * varied + g(0) * dt;
        change_of.tail(x.parameters()) += g.tail(x.parameters());
        RowVector terms = g.segment(1, 2 * n).cwiseAbs() * varied.cwiseAbs() + std::abs(g(0)) * dt.cwiseAbs();
        terms.tail(x.parameters()) += g.tail(x.parameters()).cwiseAbs();
        change_of = without_rounding(change_of, terms);
        if (change_of.cwiseAbs().maxCoeff() > negligible_condition)
            out.conditions.push_back({change_of, "the jump '" + x.model().jumps[ix(change.jump)].name + "' ends on '" +
                                                     element + "', and a variation would leave it"});
        return true;
    };
    for (std::size_t i = 0; i < change.mode_after->elements.size(); ++i) {
        const ElementLayout& e = x.dynamics.elements()[i];
        const bool constraint = e.rows.kind == ElementKind::constraint;
        const bool contact = e.rows.kind == ElementKind::contact && !x.dynamics.compliant();
        if (!change.mode_after->elements[i].active || !(constraint || contact)) continue;
        const std::string& name =
            constraint ? x.model().constraints[ix(e.rows.index)].name : x.model().contacts[ix(e.rows.index)].name;
        if (position.size() == 0) {
            x.linearised.gather(Function::position, change.t, change.after.data(), {}, {}, position);
            x.linearised.gather(Function::velocity, change.t, change.after.data(), {}, {}, velocity);
        }
        if (x.model().layout().has_position(e.rows.normal) && !require(position.row(e.rows.normal), name)) return false;
        if (constraint && !require(velocity.row(e.rows.normal), name)) return false;
    }
    return true;
}

}  // namespace

std::vector<EventCondition> conditions_of(Tangent& x, const RecordedChange& change) {
    std::vector<EventCondition> list;
    Vector f;
    x.set_mode(change.mode_before, change.t, change.before.data());
    if (!x.velocity_field(change.t, change.before.data(), f)) return list;
    x.event_memory.rests.clear();
    const Conditions conditions(x, change, change.found, f);
    for (const Watch& w : change.found) list.push_back(conditions.of(w));
    return list;
}

namespace {

/// The derivative of a quantity at the event, whose time varies: ∂s + ṡ ∂t with ∂t of the first condition.
RowVector at_the_event(const RowVector& row, const Vector& f, const Saltation& s) {
    if (s.events.empty() || s.events[0].rate == 0.0) return row;
    const double rate = row(0) + row.segment(1, f.size()).dot(f.transpose());
    return row - rate / s.events[0].rate * s.events[0].s;
}

/// An impact where an expression has a corner, as that of the gap y − |x| at x = 0: the directions of the impulses
/// differ on both sides.
void require_no_corner(Tangent& x, const RecordedChange& change, const Vector& f, Saltation& out) {
    if (change.impacts.empty() || x.linearised.switches() == 0) return;
    const double t = time_before(change);
    std::vector<double> values(static_cast<std::size_t>(x.linearised.switches()));
    x.linearised.switches(t, change.before.data(), values);
    Matrix slopes;
    for (std::size_t k = 0; k < values.size(); ++k) {
        if (!(std::abs(values[k]) <= edge_of_expressions)) continue;
        if (slopes.size() == 0) x.linearised.switch_derivatives(t, change.before.data(), slopes);
        out.conditions.push_back({at_the_event(slopes.row(static_cast<Eigen::Index>(k)), f, out),
                                  "an expression has a corner or a jump where the impact happens"});
    }
}

}  // namespace

std::vector<int> parts_at_the_edge(const integrate::Dynamics& d) {
    std::vector<int> list;
    for (std::size_t i = 0; i < d.elements().size(); ++i) {
        if (!d.mode().elements[i].active) continue;
        for (const int k : d.elements()[i].part_numbers()) {
            const FrictionPart& part = d.parts()[ix(k)];
            if (d.mode().parts[ix(k)].slips) continue;
            const double capacity = std::max(part.mu_static, part.mu_second) * d.load(static_cast<int>(i));
            if (capacity > 0.0 && std::abs(d.reserve(k)) <= edge_reserve_ratio * capacity) list.push_back(k);
        }
    }
    return list;
}

void Saltation::clear() {
    exists = true;
    inherited = untimed = smooth = false;
    why_not.clear();
    events.clear();
    drifts.resize(0, 0);
    conditions.clear();
}

Vector passed(const Saltation& s, const RowVector& direction, double dt) {
    Vector after = s.map * direction.transpose();
    for (Eigen::Index k = 0; k < s.drifts.cols(); ++k) {
        const EventCondition& c = s.events[static_cast<std::size_t>(k)];
        after -= s.drifts.col(k) * (c.s.dot(direction) / c.rate);  // drift_k δt_k with δt_k = −s_k·δ/ṡ_k
    }
    if (!s.smooth && s.drifts.cols() == 0) after += dt * s.drift;
    return after;
}

// Derivation.
//
// Event time. The nominal motion x(t) has s(t, x, p) = 0 at t. A varied motion x + δx⁻ of the mode before the event,
// with the parameters p + δp, has its event at t + δt, where its state is x + δx⁻ + f⁻ δt. To first order
//     0 = s(t + δt, x + δx⁻ + f⁻ δt, p + δp) = s_x δx⁻ + s_p δp + (s_t + s_x f⁻) δt,
// so δt = −(s_x δx⁻ + s_p δp)/ṡ with ṡ = s_t + s_x f⁻. The minus sign: if δx⁻ raises a gap that closes (ṡ < 0) then the
// event is later. ([Alscher] (49) and (63) bound this δt; Theorems 3.2 and 3.4.)
//
// State. Compare both motions at the same time t + δt > t. The varied motion has just passed its reset,
//     R(t + δt, x + δx⁻ + f⁻ δt, p + δp) = x⁺ + R_x (δx⁻ + f⁻ δt) + R_t δt + R_p δp.
// The nominal motion has followed the field after the event since t, and is at x⁺ + f⁺ δt. The difference is
//     δx⁺ = R_x δx⁻ + R_p δp + (R_x f⁻ + R_t − f⁺) δt.
// For δt < 0 the roles are exchanged and the formula is the same. With δt inserted this is the saltation matrix
//     Ξ = R_x + (f⁺ − R_x f⁻ − R_t) s_x/ṡ      (Aizerman and Gantmakher).
// At a lift-off R = I and f⁺ = f⁻, so Ξ = I. For a ball on a fixed floor (R = (q, −e u), f = (u, −g), s = q) it is
// Ξ = [−e, 0; −(1 + e) g/u⁻, −e].
void saltation(Tangent& x, const RecordedChange& change, const integrate::RecordedPiece* piece, Saltation& out) {
    out.clear();
    const bool start = piece == nullptr;
    const int n = x.n();
    const auto fail = [&](std::string why) {
        out.exists = false;
        out.why_not = std::move(why);
    };
    if (change.corner)
        return fail(
            "a closed contact, a constraint or friction passes a corner of its formula; write a corner of a gap "
            "as two contacts");
    // The field and the event conditions before the change.
    Vector &before = x.event_memory.field_before, &after = x.event_memory.field_after;
    x.set_mode(change.mode_before, time_before(change), change.before.data());
    if (!x.velocity_field(time_before(change), change.before.data(), before))
        return fail("the equations of motion are singular");
    out.inherited = change.found.empty() || change.unavoidable;
    Watches found;
    if (start)
        found = closing(change, x.dynamics);
    else if (out.inherited || change.jump >= 0)  // after a jump the mode is chosen anew and tells nothing of events
        found = std::span(change.found);
    else
        found = all_events(change, x.dynamics);
    const integrate::RecordedArc* const arc = arc_of(piece);
    x.event_memory.rests.clear();
    if (arc != nullptr && !come_to_rest(x, found, *arc, before))
        return fail("slip in a plane comes to rest, and its direction cannot be followed to the end");
    if (start) out.inherited = found.empty();
    if (!start && out.inherited && change.impacts.empty() && slips_again_in_a_plane(x.dynamics, change))
        return fail("slip in a plane comes to rest and begins again at once in another direction");
    int force_jumps = 0;
    if (!out.inherited) {
        if (std::string why = linearise_conditions(x, change, found, arc, before, out); !why.empty())
            return fail(std::move(why));
        force_jumps = count_force_jumps(x.dynamics, found);
    }
    if (out.untimed && change.one_of_several)
        return fail("the motion is not unique, and contacts that share a load let go at a time that has no derivative");
    if (change.jump < 0) require_no_touch(x, change, out);
    require_no_corner(x, change, before, out);
    for (const Watch& w : found)
        if (drops_force(x.dynamics, w) && x.dynamics.parts()[ix(w.part)].size > 1)
            return fail(
                "friction in a plane falls from mu_static to mu, and its direction is not differentiated there");

    // The reset, and the field after the change.
    const bool lasts = !change.impact_follows;  // the mode after the change
    Reset r = reset(x, change, lasts ? Arrest::if_needed : Arrest::never, std::move(out.map));
    if (!r.exists) return fail(std::move(r.why_not));
    out.map = std::move(r.map);
    std::move(r.conditions.begin(), r.conditions.end(), std::back_inserter(out.conditions));
    if (change.jump >= 0 && !require_reset_onto_rows(x, change, r.before_arrest, before, out))
        return fail("an impact makes the jump '" + x.model().jumps[ix(change.jump)].name +
                    "' happen, which ends in closed contacts or constraints");
    if (!x.velocity_field(change.t, change.after.data(), after)) return fail("the equations of motion are singular");
    if (x.dynamics.compliant()) require_no_motion_of_touched_springs(x, change, out.conditions);
    if (!x.dynamics.compliant()) require_rest_of_appearing_contacts(x, change, out.conditions);
    if (lasts && sticks_at_the_edge(x.dynamics, change))
        return fail("friction is at the edge between sticking and slipping");

    out.drift.setZero(2 * n);  // a plain loop, because the matrices are small
    for (int k = 0; k < 2 * n; ++k)
        for (int i = 0; i < 2 * n; ++i) out.drift(i) += out.map(i, 1 + k) * before(k);
    for (int i = 0; i < 2 * n; ++i) out.drift(i) = out.drift(i) + out.map(i, 0) - after(i);
    out.smooth = is_smooth(x.dynamics, change, out, before, after, force_jumps);
    if (change.earlier > 0.0 && !out.smooth && is_sent_back(x, out, after))
        return fail("an expression jumps here, and the jump drives the motion back");
    if (!out.map.allFinite() || !out.drift.allFinite()) return fail("it is singular");
    if (lasts) {
        require_no_force_of_idle_contacts(x, change, out);
        if (start || change.jump >= 0) require_start_along_slip(x, change, out);
    }
    if (out.events.size() > 1 && !out.smooth && !out.untimed) out.drifts = separate_drifts(x, change, out, before);
}

Saltation saltation(Tangent& x, const RecordedChange& change, const integrate::RecordedPiece* piece) {
    Saltation out;
    saltation(x, change, piece, out);
    return out;
}

}  // namespace saltus::sensitivity
