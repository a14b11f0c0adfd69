// SPDX-License-Identifier: Apache-2.0
#include "machine/judge_motion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "machine/calls.hpp"
#include "machine/impact_laws.hpp"
#include "machine/reactions.hpp"
#include "machine/time_stepping.hpp"

namespace trials {

namespace {

Point point_of(const Table& table, std::size_t row, const Model& model) {
    Point point;
    point.t = table.at(row, "t");
    for (const std::string& name : model.coordinates) {
        point.q.push_back(table.at(row, name));
        point.u.push_back(table.at(row, name + "'"));
    }
    return point;
}

/// Splits the rows of states.csv at the events, which have two rows each with the same time.
void read_motion(const Table& table, const Model& model, Motion& motion) {
    motion.arcs.assign(1, {});
    std::size_t event = 0;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        const Point point = point_of(table, row, model);
        const auto& events = motion.document.at("events");
        const bool starts_pair = row + 1 < table.rows.size() && table.rows[row + 1][0] == table.rows[row][0];
        motion.arcs.back().push_back(point);
        if (!starts_pair || event >= events.size()) continue;
        const Point after = point_of(table, row + 1, model);
        motion.events.push_back({events[event].at("kind"), point, after, events[event].at("Lambda"),
                                 events[event].at("contacts").get<std::vector<std::string>>(),
                                 events[event].value("note", "")});
        motion.arcs.push_back({after});
        ++event, ++row;
    }
}

double size_of(const Vector& x) {
    double result = 0.0;
    for (const double value : x) result = std::max(result, std::abs(value));
    return result;
}

/// Typical sizes of a motion, to which tolerances are relative.
struct Scales {
    double position = 1.0, velocity = 1.0;
};

Scales scales_of(const Motion& motion) {
    Scales scales{1e-3, 1e-3};
    for (const auto& arc : motion.arcs) {
        for (const Point& point : arc) {
            scales.position = std::max(scales.position, size_of(point.q));
            scales.velocity = std::max(scales.velocity, size_of(point.u));
        }
    }
    return scales;
}

/// Constraints hold, in positions and velocities, and clutches do not run backwards.
void judge_constraints(const Mechanics& mechanics, const Motion& motion, const Scales& scales, Findings& findings) {
    for (std::size_t e = 0; e < mechanics.elements(); ++e) {
        const bool constraint = mechanics.sort(e) == Mechanics::Sort::constraint;
        if (!constraint && mechanics.sort(e) != Mechanics::Sort::clutch) continue;
        double position = 0.0, velocity = 0.0, when = 0.0;
        for (const auto& arc : motion.arcs) {
            // Between two events at one time: a jump of the model, or the limit of an accumulation, may make a clutch
            // run backwards, whose impact follows.
            if (!constraint && arc.front().t == arc.back().t) continue;
            for (const Point& point : arc) {
                const double rate = mechanics.gap_rate(e, point);
                if (constraint) position = std::max(position, std::abs(mechanics.gap(e, point)));
                if (const double wrong = constraint ? std::abs(rate) : -rate; wrong > velocity)
                    velocity = wrong, when = point.t;
            }
        }
        findings.check(position <= 1e-7 * (1.0 + scales.position) && velocity <= 1e-6 * (1.0 + scales.velocity),
                       constraint ? "constraint" : "clutch", [&] {
                           return fmt::format("'{}' is violated by {}, and by the velocity {} at t = {}",
                                              mechanics.name(e), position, velocity, when);
                       });
    }
}

void judge_gaps(const Mechanics& mechanics, const Motion& motion, const Scales& scales, Findings& findings) {
    const double reported = number(motion.document.at("violation").at("gap"));
    const double allowed = 1e-8 * (1.0 + scales.position) + 1.01 * reported;
    for (std::size_t c = 0; c < mechanics.model().contacts.size(); ++c) {
        double deepest = 0.0, when = 0.0;
        for (const auto& arc : motion.arcs)
            for (const Point& point : arc)
                if (const double gap = mechanics.gap(c, point); gap < deepest || std::isnan(gap))
                    deepest = gap, when = point.t;
        findings.check(deepest >= -allowed, "gap", [&] {
            return fmt::format("gap of '{}' is {} at t = {}; reported violation {}", mechanics.model().contacts[c].name,
                               deepest, when, reported);
        });
        findings.check(reported <= 1e-6 * (1.0 + scales.position), "completed-with-violation", [&] {
            return fmt::format("status completed although the reported gap violation is {}", reported);
        });
    }
}

/// Derivatives of q and u in the middle of seven equidistant samples, by seven and by five of them.
struct Slopes {
    Vector q7, u7, u5, q5;
};

Vector combination(const std::vector<Point>& arc, std::size_t middle, double dt, bool of_velocities, int reach) {
    static constexpr double seven[3] = {0.75, -0.15, 1.0 / 60.0};
    static constexpr double five[2] = {2.0 / 3.0, -1.0 / 12.0};
    Vector result(arc[middle].q.size(), 0.0);
    for (int k = 1; k <= reach; ++k) {
        const double weight = (reach == 3 ? seven[k - 1] : five[k - 1]) / dt;
        const Point& right = arc[middle + static_cast<std::size_t>(k)];
        const Point& left = arc[middle - static_cast<std::size_t>(k)];
        result = plus(result, of_velocities ? right.u : right.q, weight);
        result = plus(result, of_velocities ? left.u : left.q, -weight);
    }
    return result;
}

Slopes slopes_at(const std::vector<Point>& arc, std::size_t middle) {
    const double dt = (arc[middle + 3].t - arc[middle - 3].t) / 6.0;
    return {combination(arc, middle, dt, false, 3), combination(arc, middle, dt, true, 3),
            combination(arc, middle, dt, true, 2), combination(arc, middle, dt, false, 2)};
}

bool equidistant(const std::vector<Point>& arc, std::size_t middle) {
    const double dt = (arc[middle + 3].t - arc[middle - 3].t) / 6.0;
    for (std::size_t i = middle - 3; i < middle + 3; ++i)
        if (std::abs(arc[i + 1].t - arc[i].t - dt) > 1e-9 * dt) return false;
    return true;
}

double still_speed(const Scales& scales) { return 1e-9 * (1.0 + scales.velocity); }

/// Phase of an element at a sample; nothing if it is between sticking and sliding, or between closed and open.
enum class Seen { open, sticking, sliding, unclear };

Seen phase_of(const Mechanics& mechanics, std::size_t element, const std::vector<Point>& arc, std::size_t middle,
              const Scales& scales) {
    const Point& at = arc[middle];
    if (mechanics.sort(element) == Mechanics::Sort::clutch) {
        const double speed = mechanics.gap_rate(element, at);
        if (speed < still_speed(scales)) return Seen::sticking;
        return speed > 1e-3 * scales.velocity ? Seen::open : Seen::unclear;
    }
    if (mechanics.sort(element) == Mechanics::Sort::contact) {
        const double near = 1e-8 * (1.0 + scales.position);
        int closed = 0;
        for (std::size_t i = middle - 3; i <= middle + 3; ++i)
            closed += std::abs(mechanics.gap(element, arc[i])) < near;
        if (closed == 0) return Seen::open;
        if (closed < 7) return Seen::unclear;
    }
    if (mechanics.friction(element).directions() == 0) return Seen::sliding;
    const Vector slip = mechanics.slip(element, at);
    bool slides = false;
    for (const FrictionLaw::Part& part : mechanics.friction(element).parts()) {
        const double speed = norm(std::span(slip).subspan(part.first, part.count));
        if (speed <= still_speed(scales)) continue;
        if (speed <= 1e-3 * scales.velocity) return Seen::unclear;
        slides = true;
    }
    return slides ? Seen::sliding : Seen::sticking;
}

void judge_sample(const Mechanics& mechanics, const std::vector<Point>& arc, std::size_t middle, const Scales& scales,
                  Findings& findings) {
    const Point& at = arc[middle];
    std::vector<Phase> phases;
    for (std::size_t e = 0; e < mechanics.elements(); ++e) {
        const Seen seen = phase_of(mechanics, e, arc, middle, scales);
        if (seen == Seen::unclear) return void(++findings.not_judged);
        phases.push_back(seen == Seen::open ? Phase::open : seen == Seen::sticking ? Phase::sticking : Phase::sliding);
    }
    // A fast motion passes through several waves of a formula between two samples, and differences do not show it.
    constexpr double too_fast = 1e3;
    if (scales.velocity > too_fast) return void(++findings.not_judged);
    const Slopes slopes = slopes_at(arc, middle);
    const double noise_q = size_of(plus(slopes.q7, slopes.q5, -1.0));
    if (noise_q > 1e-5 * (1.0 + scales.velocity)) return void(++findings.not_judged);
    findings.check(size_of(plus(slopes.q7, at.u, -1.0)) <= 1e-5 * (1.0 + scales.velocity) + 2.0 * noise_q, "velocity",
                   [&] {
                       return fmt::format("at t = {} the positions change by {} per second but the velocities are {}",
                                          at.t, slopes.q7, at.u);
                   });
    const Matrix mass = mechanics.mass(at);
    const Vector force = mechanics.force(at), inertia = times(mass, slopes.u7);
    const double noise = norm(times(mass, plus(slopes.u7, slopes.u5, -1.0)));
    const double scale = 1e-2 + norm(force) + norm(inertia);
    if (noise > 2e-5 * scale) return void(++findings.not_judged);
    const Explanation found = explain(mechanics, at, plus(inertia, force, -1.0), phases, still_speed(scales));
    if (!found.converged && found.residual > 3e-5 * scale) return void(++findings.not_judged);
    findings.check(found.residual <= 3e-5 * scale + 5.0 * noise, "force-law", [&] {
        return fmt::format(
            "at t = {} (q = {}, u = {}, u' = {}) no reactions that the laws allow explain the acceleration: {} of "
            "the force {} is missing",
            at.t, at.q, at.u, slopes.u7, found.residual, scale);
    });
}

void judge_arcs(const Mechanics& mechanics, const Motion& motion, const Scales& scales, Findings& findings) {
    constexpr std::size_t stride = 5;  // neighbouring samples say the same
    for (const auto& arc : motion.arcs) {
        for (std::size_t middle = 3; middle + 3 < arc.size() && findings.violations.size() < 5; middle += stride)
            if (equidistant(arc, middle)) judge_sample(mechanics, arc, middle, scales, findings);
    }
}

/// Impulses of a contact at an event; zeros if it has none.
Vector impulse_of(const Event& event, const std::string& name, std::size_t directions) {
    Vector impulse(1 + directions, 0.0);
    if (!event.impulses.contains(name)) return impulse;
    impulse[0] = number(event.impulses.at(name).at("N"));
    for (std::size_t i = 0; i < directions && i < event.impulses.at(name).at("T").size(); ++i)
        impulse[1 + i] = number(event.impulses.at(name).at("T")[i]);
    return impulse;
}

/// Newton's law of one closed contact: 0 <= Λ_N ⊥ ξ_N >= 0, and friction that opposes ξ_T as strongly as it can.
void judge_contact_law(const Mechanics& mechanics, std::size_t c, const Event& event, double jump, double speed,
                       Findings& findings) {
    const Contact& contact = mechanics.model().contacts[c];
    const FrictionLaw law = mechanics.friction(c, event.before);
    const Vector impulse = impulse_of(event, contact.name, law.directions());
    const double approach = mechanics.gap_rate(c, event.before), departure = mechanics.gap_rate(c, event.after);
    const double xi = departure + contact.e_n * approach;
    const Vector slip_before = mechanics.slip(c, event.before), slip_after = mechanics.slip(c, event.after);
    const Vector xi_t = plus(slip_after, slip_before, contact.e_t);
    const Vector friction(impulse.begin() + 1, impulse.end());
    const double small_velocity = 1e-7 * (1e-3 + speed), small_impulse = 1e-7 * (1e-6 + jump);
    const auto text = [&] {
        return fmt::format("impact at t = {}: '{}' has gammaN {} -> {}, xiT {}, impulses {}", event.before.t,
                           contact.name, approach, departure, xi_t, impulse);
    };
    findings.check(departure >= -small_velocity, "impact-penetrates", text);
    findings.check(impulse[0] >= -small_impulse, "impact-pulls", text);
    if (law.directions() > 0)
        findings.check(law.excess(friction, impulse[0]) <= 10 * small_impulse, "impact-friction-cone", text);
    if (contact.impact != "newton") return;
    findings.check(xi >= -small_velocity, "impact-restitution", text);
    findings.check(std::min(impulse[0] / (1e-6 + jump), xi / (1e-3 + speed)) <= 1e-6, "impact-complementarity", text);
    if (law.directions() == 0 || norm(xi_t) < small_velocity) return;
    const double deficit = impulse[0] * law.support(xi_t) + dot(friction, xi_t);
    findings.check(std::abs(deficit) <= 1e-6 * (1e-6 + jump) * (1e-3 + speed), "impact-friction-law", text);
}

/// Friction of a constraint: it is bounded by the size of the normal impulse, and opposes slip with its full strength.
void judge_constraint_law(const Mechanics& mechanics, std::size_t element, const Event& event, double jump,
                          Findings& findings) {
    const FrictionLaw& law = mechanics.friction(element);
    if (law.directions() == 0) return;
    const Vector impulse = impulse_of(event, mechanics.name(element), law.directions());
    const Vector friction(impulse.begin() + 1, impulse.end()), slip = mechanics.slip(element, event.after);
    const double normal = std::abs(impulse[0]), small_impulse = 1e-6 * (1e-6 + jump);
    const auto text = [&] {
        return fmt::format("impact at t = {}: constraint '{}' has slip {} after it, and impulses {}", event.before.t,
                           mechanics.name(element), slip, impulse);
    };
    findings.check(law.excess(friction, normal) <= small_impulse, "impact-friction-cone", text);
    if (norm(slip) < 1e-6) return;
    findings.check(std::abs(normal * law.support(slip) + dot(friction, slip)) <= small_impulse * (1e-3 + norm(slip)),
                   "impact-friction-law", text);
}

/// The outcome of Poisson's law and of the energy law, in the cases that can be enumerated.
void judge_other_law(const Mechanics& mechanics, const Event& event, const Scales& scales, Findings& findings) {
    std::vector<std::size_t> closed;
    const auto& contacts = mechanics.model().contacts;
    bool other_law = false;
    bool doubtful = false;  // a contact is as near as one that has just opened can be
    for (std::size_t c = 0; c < contacts.size(); ++c) {
        const double gap = std::abs(mechanics.gap(c, event.before)) / (1.0 + scales.position);
        if (gap > 1e-8) continue;
        closed.push_back(c);
        doubtful = doubtful || gap > 1e-12;
        other_law = other_law || contacts[c].impact != "newton";
    }
    if (!other_law) return;
    if (doubtful) return void(++findings.not_judged);
    if (contacts.size() != mechanics.elements()) return void(++findings.not_judged);
    const auto expected = velocities_after(mechanics, event.before, closed);
    if (!expected) return void(++findings.not_judged);
    findings.check(norm(plus(event.after.u, *expected, -1.0)) <= 1e-6 * (1e-2 + scales.velocity), "impact-law", [&] {
        return fmt::format("impact at t = {}: the law gives u+ = {}, the program {}", event.before.t, *expected,
                           event.after.u);
    });
}

/// A clutch takes part in every impact: 0 <= Λ ⊥ γ⁺ >= 0.
void judge_clutch_law(const Mechanics& mechanics, std::size_t element, const Event& event, double jump, double speed,
                      Findings& findings) {
    const double impulse = impulse_of(event, mechanics.name(element), 0)[0];
    const double after = mechanics.gap_rate(element, event.after);
    const auto text = [&] {
        return fmt::format("impact at t = {}: clutch '{}' runs with {} after it, impulse {}", event.before.t,
                           mechanics.name(element), after, impulse);
    };
    findings.check(after >= -1e-7 * (1e-3 + speed) && impulse >= -1e-7 * (1e-6 + jump), "impact-clutch", text);
    findings.check(std::min(impulse / (1e-6 + jump), after / (1e-3 + speed)) <= 1e-6, "impact-clutch", text);
}

void judge_impact(const Mechanics& mechanics, const Event& event, const Scales& scales, Findings& findings) {
    judge_other_law(mechanics, event, scales, findings);
    const Matrix mass = mechanics.mass(event.before);
    const Vector momentum = times(mass, plus(event.after.u, event.before.u, -1.0));
    Vector unexplained = momentum;
    double largest = norm(momentum);
    for (std::size_t e = 0; e < mechanics.elements(); ++e) {
        if (mechanics.sort(e) == Mechanics::Sort::slider) continue;
        const Vector impulse = impulse_of(event, mechanics.name(e), mechanics.friction(e).directions());
        unexplained = plus(unexplained, mechanics.gap_gradient(e, event.before), -impulse[0]);
        const auto tangents = mechanics.slip_gradients(e, event.before);
        for (std::size_t i = 0; i < tangents.size(); ++i) unexplained = plus(unexplained, tangents[i], -impulse[1 + i]);
        largest = std::max(largest, std::abs(impulse[0]));
    }
    findings.check(norm(unexplained) <= 1e-7 * (1e-6 + largest), "impact-momentum", [&] {
        return fmt::format("impact at t = {}: M(u+ - u-) = {} differs from the impulses by {}", event.before.t,
                           momentum, unexplained);
    });
    // A contact takes part if it has an impulse. If another closed contact approaches after the impact, then its own
    // impact must follow; otherwise its gap becomes negative, which is judged elsewhere.
    for (std::size_t e = 0; e < mechanics.elements(); ++e)
        if (mechanics.sort(e) == Mechanics::Sort::constraint && event.impulses.contains(mechanics.name(e)))
            judge_constraint_law(mechanics, e, event, largest, findings);
    for (std::size_t e = 0; e < mechanics.elements(); ++e)
        if (mechanics.sort(e) == Mechanics::Sort::clutch)
            judge_clutch_law(mechanics, e, event, largest, scales.velocity, findings);
    for (std::size_t c = 0; c < mechanics.model().contacts.size(); ++c)
        if (event.impulses.contains(mechanics.model().contacts[c].name) &&
            impulse_of(event, mechanics.model().contacts[c].name, 0)[0] != 0.0)
            judge_contact_law(mechanics, c, event, largest, scales.velocity, findings);
}

/// Friction sticks, begins to slip and reverses only at rest. Laws with several parts are left out: an event is about
/// one of them.
void judge_rest(const Mechanics& mechanics, const Event& event, const Scales& scales, Findings& findings) {
    if (event.kind != "stick" && event.kind != "slip" && event.kind != "reversal") return;
    for (std::size_t e = 0; e < mechanics.elements(); ++e) {
        const FrictionLaw& law = mechanics.friction(e);
        if (std::ranges::find(event.contacts, mechanics.name(e)) == event.contacts.end()) continue;
        if (law.parts().size() != 1 || law.parts()[0].count != law.directions()) continue;
        const double speed = norm(mechanics.slip(e, event.before));
        findings.check(speed <= 1e-6 * (1e-2 + scales.velocity), "event-at-rest", [&] {
            return fmt::format("'{}' of '{}' at t = {}, but it slips with {}", event.kind, mechanics.name(e),
                               event.before.t, speed);
        });
    }
}

/// Size of `when` along a motion, to which the error of its zeros is relative.
double largest_value(const Expression& formula, const Motion& motion) {
    double largest = 1e-3;
    for (const auto& arc : motion.arcs)
        for (const Point& point : arc) largest = std::max(largest, std::abs(formula.value(point)));
    return largest;
}

/// A jump happens at a zero of its quantity, under its condition, and it sets the state to the values of its formulas.
void judge_jump(const Mechanics& mechanics, const Motion& motion, const Event& event, const Scales& scales,
                Findings& findings) {
    const auto& jumps = mechanics.model().jumps;
    const auto jump = std::ranges::find(jumps, event.note, &Jump::name);
    const auto text = [&] {
        return fmt::format("jump '{}' at t = {}: {} {} -> {} {}", event.note, event.before.t, event.before.q,
                           event.before.u, event.after.q, event.after.u);
    };
    findings.check(jump != jumps.end(), "jump-unknown", text);
    if (jump == jumps.end()) return;
    const Point expected = jump->after(event.before);
    findings.check(size_of(plus(event.after.q, expected.q, -1.0)) <= 1e-8 * (1.0 + scales.position) &&
                       size_of(plus(event.after.u, expected.u, -1.0)) <= 1e-8 * (1.0 + scales.velocity),
                   "jump-values", text);
    if (jump->guard)
        findings.check(jump->guard->value(event.before) >= -1e-7 * (1.0 + scales.position + scales.velocity),
                       "jump-guard", text);
    // An impact can carry a quantity of velocities through zero; then its value at the jump is not zero.
    const bool after_impact = std::ranges::any_of(motion.events, [&](const Event& other) {
        return other.kind != "jump" && std::abs(other.before.t - event.before.t) <= 1e-9 * (1.0 + event.before.t);
    });
    if (after_impact) return;
    findings.check(std::abs(jump->when.value(event.before)) <= 1e-7 * largest_value(jump->when, motion), "jump-place",
                   text);
}

/// No quantity of a jump passes through zero inside of an arc if its condition holds.
void judge_missed_jumps(const Mechanics& mechanics, const Motion& motion, Findings& findings) {
    for (const Jump& jump : mechanics.model().jumps) {
        const double small = 1e-6 * largest_value(jump.when, motion);
        double when = -1.0;
        for (const auto& arc : motion.arcs) {
            double last = 0.0;  // the last value that is not small
            for (std::size_t i = 0; i < arc.size(); ++i) {
                const double value = jump.when.value(arc[i]);
                if (std::abs(value) <= small) continue;
                const bool passes = last * value < 0.0 && (jump.direction == 0 || jump.direction * value > 0.0);
                bool allowed = true;
                if (jump.guard && i > 1)
                    allowed = jump.guard->value(arc[i]) > 0.0 && jump.guard->value(arc[i - 2]) > 0.0;
                if (passes && allowed && when < 0.0) when = arc[i].t;
                last = value;
            }
        }
        findings.check(when < 0.0, "jump-missed", [&] {
            return fmt::format("the quantity of jump '{}' passes through zero before t = {}, without a jump", jump.name,
                               when);
        });
    }
}

void judge_events(const Mechanics& mechanics, const Motion& motion, const Scales& scales, Findings& findings) {
    for (const Event& event : motion.events) {
        if (event.kind == "jump") {
            judge_jump(mechanics, motion, event, scales, findings);
            continue;
        }
        findings.check(
            size_of(plus(event.after.q, event.before.q, -1.0)) <= 1e-7 * (1.0 + scales.position), "position-jump", [&] {
                return fmt::format("positions jump at t = {}: {} -> {}", event.before.t, event.before.q, event.after.q);
            });
        judge_rest(mechanics, event, scales, findings);
        if (event.kind == "impact") {
            judge_impact(mechanics, event, scales, findings);
        } else if (event.kind != "accumulation" && event.kind != "painleve") {
            findings.check(size_of(plus(event.after.u, event.before.u, -1.0)) <= 1e-6 * (1e-2 + scales.velocity),
                           "velocity-jump", [&] {
                               return fmt::format("'{}' at t = {}: velocities jump without an impact: {} -> {}",
                                                  event.kind, event.before.t, event.before.u, event.after.u);
                           });
        }
        if (findings.violations.size() > 5) return;
    }
}

/// Reported final forces lie in their sets.
void judge_final_forces(const Mechanics& mechanics, const Motion& motion, const Scales& scales, Findings& findings) {
    const auto& forces = motion.document.at("forces");
    const Point& end = motion.arcs.back().back();
    for (std::size_t e = 0; e < mechanics.elements(); ++e) {
        const std::string& name = mechanics.name(e);
        const Mechanics::Sort sort = mechanics.sort(e);
        if (!forces.contains(name)) continue;
        Vector friction;
        for (const auto& value : forces.at(name).at("T")) friction.push_back(number(value));
        const double reaction = number(forces.at(name).at("N"));
        const double normal = sort == Mechanics::Sort::slider       ? mechanics.slider_force(mechanics.number(e), end)
                              : sort == Mechanics::Sort::constraint ? std::abs(reaction)
                                                                    : reaction;
        const double scale = 1e-6 * (1.0 + std::abs(normal) + norm(friction));
        findings.check(normal >= -scale, "final-force-pulls",
                       [&] { return fmt::format("'{}' pulls with {}", name, normal); });
        if (friction.size() != mechanics.friction(e).directions() || friction.empty()) continue;
        FrictionLaw law = mechanics.friction(e, end);
        if (norm(mechanics.slip(e, end)) <= 1e-3 * scales.velocity) law = law.at_rest();
        findings.check(law.excess(friction, normal) <= scale, "final-force-outside", [&] {
            return fmt::format("friction {} of '{}' lies outside of its set, normal force {}", friction, name, normal);
        });
    }
}

void judge_frame(const Mechanics& mechanics, const Motion& motion, const Scales& scales, Findings& findings) {
    const Point &start = motion.arcs.front().front(), &end = motion.arcs.back().back();
    const double t_end = mechanics.model().t_end;
    findings.check(std::abs(end.t - t_end) <= 1e-9 * (1.0 + t_end), "end",
                   [&] { return fmt::format("completed at t = {} instead of {}", end.t, t_end); });
    findings.check(size_of(plus(start.q, mechanics.model().q0, -1.0)) <= 1e-8 * (1.0 + scales.position), "start",
                   [&] { return fmt::format("the motion starts at {}", start.q); });
    const auto& energy = motion.document.at("energy");
    double largest = 1e-3;
    for (const auto& arc : motion.arcs)
        for (const Point& point : arc) largest = std::max(largest, std::abs(mechanics.energy(point)));
    for (const auto& [key, point] : {std::pair{"initial", &start}, std::pair{"final", &end}}) {
        const double expected = mechanics.energy(*point), stated = number(energy.at(key));
        findings.check(std::abs(expected - stated) <= 1e-8 * largest, "energy",
                       [&, key = key] { return fmt::format("{} energy is {}, reported {}", key, expected, stated); });
    }
    // The reported error is relative to the largest energy. The energy of a body at rest consists of rounding errors.
    double seen = 0.0;
    for (const auto& arc : motion.arcs)
        for (const Point& point : arc) seen = std::max(seen, std::abs(mechanics.energy(point)));
    const double error = std::abs(number(energy.at("balance_error")));
    findings.check(error <= 1e-6 || error * seen <= 1e-12, "completed-with-balance-error", [&] {
        return fmt::format("status completed with balance error {}", number(energy.at("balance_error")));
    });
}

}  // namespace

bool simulate(const Model& model, const Program& program, const std::vector<std::string>& options, Motion& motion,
              Findings& findings, int samples) {
    const auto file = program.write("model.toml", model.toml());
    const auto folder = program.folder() / "out";
    std::filesystem::remove_all(folder);
    std::vector<std::string> words = {"simulate",  file.string(),          "--json", "--out", folder.string(),
                                      "--samples", std::to_string(samples)};
    words.insert(words.end(), options.begin(), options.end());
    constexpr int cpu_seconds = 10;
    if (!call(program, words, cpu_seconds, motion.document, findings)) return false;
    if (motion.document.value("status", "") != "completed") {
        ++findings.refused;
        return false;
    }
    read_motion(read_csv(folder / "states.csv"), model, motion);
    return !motion.arcs.back().empty();
}

Findings judge_laws(const Model& model, const Motion& motion) {
    Findings findings;
    const Mechanics mechanics(model);
    const Scales scales = scales_of(motion);
    judge_frame(mechanics, motion, scales, findings);
    judge_gaps(mechanics, motion, scales, findings);
    judge_constraints(mechanics, motion, scales, findings);
    judge_events(mechanics, motion, scales, findings);
    judge_missed_jumps(mechanics, motion, findings);
    judge_arcs(mechanics, motion, scales, findings);
    judge_final_forces(mechanics, motion, scales, findings);
    return findings;
}

bool says_not_unique(const Motion& motion) {
    const std::string warnings = motion.document.value("warnings", nlohmann::json::array()).dump();
    return warnings.find("the motion is not unique") != std::string::npos ||
           warnings.find("Painleve") != std::string::npos;
}

bool has_one_motion(const Model& model) {
    const auto friction_of = [&](const Contact& contact) {
        std::string text = fmt::format("{} {}", static_cast<int>(contact.friction.kind), contact.friction.mu);
        for (const Expression& slip : contact.slip) text += slip.text(model.coordinates) + ' ';
        return text;
    };
    for (const Contact& a : model.contacts)
        for (const Contact& b : model.contacts)
            if (a.gap.text(model.coordinates) == b.gap.text(model.coordinates) && friction_of(a) != friction_of(b))
                return false;
    return true;
}

namespace {

/// An impact while another contact is closed or nearly closed: its outcome jumps if the order of the impacts changes,
/// so that short steps need not approach the motion.
bool has_single_impacts(const Mechanics& mechanics, const Motion& motion) {
    constexpr double near = 1e-4;
    for (const Event& event : motion.events) {
        if (event.kind != "impact") continue;
        int closed = 0;
        for (std::size_t c = 0; c < mechanics.model().contacts.size(); ++c)
            closed += mechanics.gap(c, event.before) < near;
        if (closed > 1) return false;
    }
    return true;
}

}  // namespace

// If the program is right, then the distance to time-stepping goes to 0 with the step. So a distance that looks too
// large is confirmed with the shortest steps, and it must stay.
Findings judge_by_stepping(const Model& model, const Motion& motion) {
    Findings findings;
    constexpr int confirming_count = 16000;
    const Point& end = motion.arcs.back().back();
    const bool one_motion = has_one_motion(model) && !says_not_unique(motion);
    SteppedEnd judged = one_motion && has_single_impacts(Mechanics(model), motion) ? accurate_end(model) : SteppedEnd{};
    double distance = judged.usable ? size_of(plus(end.q, judged.q, -1.0)) : 0.0;
    if (judged.usable && distance > judged.uncertainty) {
        judged = stepped_end(model, confirming_count);
        const double confirmed = judged.usable ? size_of(plus(end.q, judged.q, -1.0)) : 0.0;
        if (confirmed < 0.6 * distance && confirmed > judged.uncertainty) judged.usable = false;
        distance = confirmed;
    }
    if (!judged.usable) {
        ++findings.not_judged;
        return findings;
    }
    findings.check(distance <= judged.uncertainty, "end-position", [&] {
        return fmt::format("time-stepping ends at {} (uncertainty {}), the program at {}", judged.q, judged.uncertainty,
                           end.q);
    });
    return findings;
}

Findings judge_motion(const Model& model, const Program& program) {
    Findings findings;
    Motion motion;
    if (!simulate(model, program, {}, motion, findings)) return findings;
    Findings laws = judge_laws(model, motion);
    // The direction of slip can turn faster than samples follow one another. Ten times as many samples must confirm it.
    Motion closer;
    Findings again;
    constexpr int many_samples = 20001;
    if (!laws.violations.empty() && simulate(model, program, {}, closer, again, many_samples))
        laws = judge_laws(model, closer);
    findings += laws;
    findings += judge_by_stepping(model, motion);
    return findings;
}

}  // namespace trials
