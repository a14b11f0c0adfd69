// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/pair/pair.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/ensemble/parallel_for.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/support.hpp"
#include "saltus/sensitivity/pair/detail/pair_contacts.hpp"
#include "saltus/sensitivity/pair/detail/pair_hypotheses.hpp"
#include "saltus/sensitivity/pair/pair_functions.hpp"

namespace saltus::sensitivity {

namespace {

using trajectory::State;
using trajectory::Status;
using trajectory::Trajectory;

double distance(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
    return sum;
}

double size(const State& s) {
    double sum = 0.0;
    for (std::size_t i = 0; i < s.q.size(); ++i) sum += std::abs(s.q[i]) + std::abs(s.u[i]);
    return sum;
}

/// ‖a − b‖ in the maximum norm; NaN if a component is.
double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    double largest = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double difference = std::abs(a[i] - b[i]);
        if (std::isnan(difference)) return difference;
        largest = std::max(largest, difference);
    }
    return largest;
}

double sum_of(const std::vector<double>& values) {
    double sum = 0.0;
    for (const double v : values) sum += std::abs(v);
    return sum;
}

/// Points of a region of a piece, at least (exactly, in the critical interval).
constexpr int min_points = 16;
/// Times at which the hypotheses of a piece are tested, at most.
constexpr int max_hypothesis_points = 128;
/// An error counts if it exceeds this · (rtol · (1 + Σ|q| + |u|) + atol): the accuracy of the simulation.
constexpr double accuracy_factor = 10.0;
/// Times of a region at which the rates of forces and accelerations are compared, at most: they need linearisations.
constexpr int max_rate_points = 24;
/// Times between two points of the grid at which the largest θ̈, η̈ and δ so far are searched.
constexpr int samples_between_points = 8;

/// Which of the two states of a motion at an event.
enum class Side { before, after };

/// Compares two motions piece by piece.
class Comparison {
public:
    Comparison(Pair& pair, const model::Model& nominal, const model::Model& perturbed, PairFunctions& functions,
               const PairOptions& options)
        : pair_(pair),
          functions_(functions),
          options_(options),
          nominal_contacts_(nominal),
          perturbed_contacts_(perturbed),
          frictionless_(model::frictional_elements(nominal) == 0 && nominal.clutches.empty()),
          view_{nominal, perturbed, pair.nominal, pair.perturbed, nominal_contacts_, perturbed_contacts_, functions} {}

    void run() {
        const int contacts = static_cast<int>(pair_.contacts.size());
        const std::vector<PairInterval> intervals = pair_intervals(pair_.nominal, pair_.perturbed, contacts);
        const double whole = std::min(pair_.nominal.end.t, pair_.perturbed.end.t) - pair_.nominal.start.t;
        for (const PairInterval& interval : intervals) {
            PairPiece piece;
            piece.begin = interval.begin, piece.end = interval.end;
            piece.event = interval.event;
            piece.reason = interval.reason;
            piece.closed_before = closed_after(pair_.nominal, contacts, piece.begin);
            piece.closed_after = closed_before(pair_.nominal, contacts, piece.end);
            const double share = whole > 0.0 ? (piece.end - piece.begin) / whole : 1.0;
            points_ = std::max(min_points, static_cast<int>(std::lround(options_.points * share)));
            if (piece.reason.empty())
                compare_with_bounds(piece);
            else
                compare_states(piece);
            pair_.pieces.push_back(std::move(piece));
        }
        conclude();
    }

private:
    /// The times of one region: an equidistant grid, and those of the options.
    std::vector<double> times(double from, double to, int count) const {
        std::vector<double> list;
        for (int k = 0; k <= count; ++k) list.push_back(k == count ? to : from + (to - from) * k / count);
        for (const double t : options_.times)
            if (t > from && t < to) list.push_back(t);
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
        return list;
    }

    /// The closed contacts of both motions at a point.
    struct Closed {
        std::vector<int> nominal, perturbed;
    };

    /// In the critical interval the motion with the earlier event has the contacts of afterwards.
    static Closed closed_at(const PairPiece& piece, Region region) {
        const auto& before = piece.closed_before;
        const auto& after = piece.closed_after;
        if (region == Region::before) return {before, before};
        if (region == Region::after) return {after, after};
        const bool nominal_first = piece.event->c_bar < piece.event->c_hat;
        return nominal_first ? Closed{after, before} : Closed{before, after};
    }

    /// The largest errors of both motions at one time, in the maximum norm of the paper.
    struct Norms {
        double q, u, lambda, nu;
        double forces;  ///< Σ|λ̄| + |ν̄|
        double sum() const { return q + u + lambda + nu; }
    };

    /// Compares the reactions at a point and adds their errors to it.
    Norms compare_reactions(PairPoint& p, Side side, const Closed& closed) {
        const State a = side == Side::before ? pair_.nominal.left(p.t) : pair_.nominal.right(p.t);
        const State b = side == Side::before ? pair_.perturbed.left(p.t) : pair_.perturbed.right(p.t);
        const PairContacts::Reactions bar = nominal_contacts_.reactions(a, closed.nominal);
        const PairContacts::Reactions hat = perturbed_contacts_.reactions(b, closed.perturbed);
        p.error_lambda = distance(bar.lambda, hat.lambda);
        p.error_nu = distance(bar.nu, hat.nu);
        return {largest_difference(a.q, b.q), largest_difference(a.u, b.u), largest_difference(bar.lambda, hat.lambda),
                largest_difference(bar.nu, hat.nu), sum_of(bar.lambda) + sum_of(bar.nu)};
    }

    /// Errors of this size and below are not resolved by the simulation; `size` is that of the compared quantity.
    double accuracy(double size) const {
        return accuracy_factor * (options_.method.rtol * (1.0 + size) + options_.method.atol);
    }

    /// Adds one comparison to an estimate of a piece, which keeps the largest ratio.
    static void note(PairPiece& piece, const char* equation, const char* text, double t, double error, double bound,
                     double accuracy) {
        auto found = std::find_if(piece.estimates.begin(), piece.estimates.end(),
                                  [&](const PairEstimate& e) { return e.equation == equation && e.text == text; });
        if (found == piece.estimates.end())
            found = piece.estimates.insert(found, PairEstimate{equation, text, {}, error, bound});
        if (!(error > accuracy)) return;
        const double ratio = error / bound;
        if (ratio > found->constant.value) {
            found->constant = {ratio, t};
            found->error = error;
            found->bound = bound;
        }
    }

    PairPoint point(double t, Side side, Region region) const {
        const State a = side == Side::before ? pair_.nominal.left(t) : pair_.nominal.right(t);
        const State b = side == Side::before ? pair_.perturbed.left(t) : pair_.perturbed.right(t);
        PairPoint p;
        p.t = t;
        p.piece = static_cast<int>(pair_.pieces.size());
        p.region = region;
        p.error_q = distance(a.q, b.q);
        p.error_u = distance(a.u, b.u);
        p.error = p.error_q + p.error_u;
        return p;
    }

    /// A piece without bounds: the errors alone, before and after each event of either motion.
    void compare_states(const PairPiece& piece) {
        const int contacts = static_cast<int>(pair_.contacts.size());
        const auto add = [&](double t, Side side) {
            PairPoint p = point(t, side, Region::beyond);
            if (frictionless_) {
                const auto closed = [&](const Trajectory& motion) {
                    return side == Side::before ? closed_before(motion, contacts, t)
                                                : closed_after(motion, contacts, t);
                };
                compare_reactions(p, side, {closed(pair_.nominal), closed(pair_.perturbed)});
            }
            pair_.points.push_back(p);
        };
        std::vector<double> events;
        for (const std::vector<double>* list : {&pair_.c_bar, &pair_.c_hat})
            for (const double c : *list)
                if (c > piece.begin && c < piece.end) events.push_back(c);
        std::sort(events.begin(), events.end());
        for (const double t : times(piece.begin, piece.end, points_)) {
            while (!events.empty() && events.front() <= t) {
                if (events.front() < t || piece.end > t) {
                    add(events.front(), Side::before);
                    add(events.front(), Side::after);
                }
                events.erase(events.begin());
            }
            add(t, Side::after);
        }
    }

    /// A piece with at most one event: errors, bounds, hypotheses and observed constants.
    void compare_with_bounds(PairPiece& piece) {
        piece.bounded = true;
        Bound bound(functions_, setting(piece));
        measure_size(piece);
        largest_theta_ = largest_eta_ = largest_delta_ = 0.0;
        sampled_until_ = piece.begin;
        const double c_min = piece.event ? piece.event->c_min() : piece.end;
        const double c_max = piece.event ? piece.event->c_max() : piece.end;
        std::vector<double> looked;
        const auto walk = [&](double from, double to, Region region, ObservedConstant& constant) {
            const int own = region == Region::critical ? min_points : points_;
            for (const double t : times(from, to, own)) {
                looked.push_back(t);
                add_point(piece, bound, t, t == to ? Side::before : Side::after, region, constant);
            }
        };
        walk(piece.begin, c_min, Region::before, piece.before);
        if (c_min < c_max) walk(c_min, c_max, Region::critical, piece.critical);
        if (c_max < piece.end) walk(c_max, piece.end, Region::after, piece.after);
        for (const ObservedConstant* c : {&piece.before, &piece.critical, &piece.after})
            if (c->value > piece.constant.value) piece.constant = *c;

        std::vector<double> fewer;
        const std::size_t stride = 1 + looked.size() / max_hypothesis_points;
        for (std::size_t k = 0; k < looked.size(); k += stride) fewer.push_back(looked[k]);
        fewer.push_back(piece.end);
        piece.hypotheses = pair_hypotheses(view_, piece, fewer);
        judge(piece);
        if (piece.event && frictionless_) {
            shift_of_event(piece);
            piece.event->kind == PairEventKind::collision ? velocities_after_event(piece) : compare_rates(piece);
        }
    }

    /// K of a piece.
    void measure_size(PairPiece& piece) {
        const State a = pair_.nominal.right(piece.begin), b = pair_.perturbed.right(piece.begin);
        const int order = piece.event && piece.event->kind == PairEventKind::lift_off ? 3 : 2;
        piece.initial_norm = largest_difference(a.q, b.q) + largest_difference(a.u, b.u);
        piece.size = std::max(piece.initial_norm, functions_.largest_value(piece.begin, piece.end, order));
    }

    /// max ‖θ̈‖ + max ‖η̈‖ + max ‖δ‖ from the beginning of the piece to t; θ of the closed contacts. [Alscher] (37)
    double largest_so_far(const PairPiece& piece, double t) {
        const double from = sampled_until_;
        for (int k = 0; k <= samples_between_points; ++k) {
            const PairFunctions::Values& v = functions_.at(from + (t - from) * k / samples_between_points);
            for (const int c : piece.closed_before)
                if (const int f = functions_.theta_of(c); f >= 0)
                    largest_theta_ = std::max(largest_theta_, std::abs(v.theta[ix(f)][2]));
            for (const std::array<double, 4>& eta : v.eta) largest_eta_ = std::max(largest_eta_, std::abs(eta[2]));
            for (const double delta : v.delta) largest_delta_ = std::max(largest_delta_, std::abs(delta));
        }
        sampled_until_ = t;
        return largest_theta_ + largest_eta_ + largest_delta_;
    }

    /// The estimates of forces at one point. λ(t, q, u) and ν(t, q, u) are smooth functions of the state while the
    /// closed contacts do not change, and θ̈, η̈, δ enter them directly: hence (42), and from it with (36) the others.
    void compare_with_estimates(PairPiece& piece, PairPoint& p, Side side) {
        const Norms norms = compare_reactions(p, side, closed_at(piece, p.region));
        if (p.region == Region::critical) return;
        const double noise = accuracy(norms.forces);
        const double all_noise = accuracy(norms.forces + size(pair_.nominal.right(p.t)));
        p.bound_reactions = p.error_q + p.error_u + p.h;
        if (!piece.event)
            note(piece, "(37)", "forces, against the initial error and the largest theta'', eta'', delta so far", p.t,
                 norms.lambda + norms.nu, piece.initial_norm + largest_so_far(piece, p.t), noise);
        const bool before = p.region == Region::before;
        note(piece, "(42)",
             !piece.event ? "each force, against the error of the state + h"
             : before     ? "each force before the event, against the error of the state + h"
                          : "each force after the event, against the error of the state + h",
             p.t, std::max(norms.lambda, norms.nu), p.bound_reactions, noise);
        if (!piece.event) return;
        if (piece.event->kind == PairEventKind::collision)
            note(piece, "(47)", "states and forces outside the critical interval, against K", p.t, norms.sum(),
                 piece.size, all_noise);
        else if (!before)
            note(piece, "(65)", "states and forces after the event, against K", p.t, norms.sum(), piece.size,
                 all_noise);
    }

    /// The velocities right after both collisions. [Alscher] (39): u⁺ solves a linear system whose matrix depends on t
    /// and q at the event, and whose right-hand side on u⁻, η̇ and θ̇.
    void velocities_after_event(PairPiece& piece) {
        const EventPair& e = *piece.event;
        const PairPoint at = point(e.c_min(), Side::before, Region::before);
        const PairFunctions::Values& v = functions_.at(e.c_min());
        double bound = std::abs(e.c_hat - e.c_bar) + at.error_q + at.error_u;
        for (const std::array<double, 4>& eta : v.eta) bound += std::abs(eta[1]);
        std::vector<int> closing = piece.closed_before;
        closing.insert(closing.end(), e.contacts.begin(), e.contacts.end());
        for (const int k : closing)
            if (const int f = functions_.theta_of(k); f >= 0) bound += std::abs(v.theta[ix(f)][1]);
        const State a = pair_.nominal.right(e.c_bar), b = pair_.perturbed.right(e.c_hat);
        note(piece, "(39)", "u+ right after the collisions, against the errors and theta', eta' at c_min", e.c_max(),
             largest_difference(a.u, b.u), bound, accuracy(size(a)));
    }

    /// The rates of forces before a lift-off (64), the accelerations and their rates after it (66).
    void compare_rates(PairPiece& piece) {
        const auto differences = [&](double t, const std::vector<int>& closed, const auto& use) {
            const State a = pair_.nominal.right(t), b = pair_.perturbed.right(t);
            const auto bar = nominal_contacts_.rates(a, closed), hat = perturbed_contacts_.rates(b, closed);
            if (bar && hat) use(*bar, *hat, accuracy(size(a) + sum_of(bar->lambda) + sum_of(bar->jerk)));
        };
        using Rates = PairContacts::Rates;
        const double c_min = piece.event->c_min(), c_max = piece.event->c_max();
        for (const double t : times(piece.begin, c_min, max_rate_points)) {
            if (t == c_min) continue;  // the contacts of one motion change there
            PairPoint p = point(t, Side::after, Region::before);
            const Norms norms = compare_reactions(p, Side::after, closed_at(piece, Region::before));
            differences(t, piece.closed_before, [&](const Rates& bar, const Rates& hat, double noise) {
                note(piece, "(64)", "states, forces and rates of forces before the event, against K", t,
                     norms.sum() + largest_difference(bar.lambda, hat.lambda), piece.size, noise);
            });
        }
        for (const double t : times(c_max, piece.end, max_rate_points)) {
            if (t == piece.end && piece.end < pair_.nominal.end.t) continue;
            differences(t, piece.closed_after, [&](const Rates& bar, const Rates& hat, double noise) {
                note(piece, "(66)", "accelerations and their rates after the event, against K", t,
                     largest_difference(bar.acceleration, hat.acceleration) + largest_difference(bar.jerk, hat.jerk),
                     piece.size, noise);
            });
        }
    }

    void add_point(PairPiece& piece, Bound& bound, double t, Side side, Region region, ObservedConstant& constant) {
        PairPoint p = point(t, side, region);
        const bool positions_alone = region == Region::critical && piece.event->kind == PairEventKind::collision;
        if (positions_alone) p.error = p.error_q;
        if (region == Region::critical) piece.critical_velocity = std::max(piece.critical_velocity, p.error_u);
        p.h = bound.h(t, region);
        p.phi = bound.phi(t);
        p.terms = bound.at(t, region);
        p.bound = p.terms.sum();
        if (frictionless_) compare_with_estimates(piece, p, side);
        if (p.error > accuracy(size(pair_.nominal.right(t)))) {
            const double ratio = p.error / p.bound;
            if (ratio > constant.value) constant = {ratio, t};
        }
        pair_.points.push_back(p);
    }

    BoundSetting setting(const PairPiece& piece) {
        BoundSetting s;
        s.begin = piece.begin, s.end = piece.end;
        s.event = piece.event;
        s.closed_before = piece.closed_before;
        s.closed_after = piece.closed_after;
        const PairPoint first = point(piece.begin, Side::after, Region::before);
        s.initial = first.error;
        // [Alscher] (54), (56), (67) sum |δ| over the coordinates of contacts that do not stay closed. A coordinate
        // without a contact responds to its δ as well, so it is added. One that a contact holds throughout does not
        // respond.
        const State at = pair_.nominal.right(piece.begin);
        std::vector<char> held(at.q.size(), 0), own(at.q.size(), 0);
        for (int k = 0; k < static_cast<int>(pair_.contacts.size()); ++k) {
            const auto in = [k](const std::vector<int>& list) {
                return std::find(list.begin(), list.end(), k) != list.end();
            };
            const std::vector<int> coordinates = nominal_contacts_.coordinates_of(at, k);
            const bool stays = in(s.closed_before) && in(s.closed_after);
            if (stays && coordinates.size() == 1) held[ix(coordinates[0])] = 1;
            if (!stays)
                for (const int c : coordinates) own[ix(c)] = 1;
        }
        for (std::size_t c = 0; c < held.size(); ++c)
            if (held[c] == 0) (own[c] != 0 ? s.contact_coordinates : s.free_coordinates).push_back(static_cast<int>(c));
        return s;
    }

    /// Whether the theorem of a piece applies: all its hypotheses hold.
    void judge(PairPiece& piece) {
        const char* const name = !piece.event ? "3.1" : piece.event->kind == PairEventKind::collision ? "3.3" : "3.5";
        std::vector<std::string> failing;
        for (const Hypothesis& h : piece.hypotheses)
            if (!h.holds) failing.push_back(h.name);
        if (failing.empty())
            piece.theorem = name;
        else
            piece.reason = std::string("Theorem ") + name + " needs " + listing(failing);
    }

    /// |ĉ − c̄| and its bound. [Alscher] (49), (63): the shift is the error of the quantity that decides the event (gap
    /// with θ, or contact force) divided by its rate.
    void shift_of_event(PairPiece& piece) {
        const EventPair& e = *piece.event;
        piece.event_shift = std::abs(e.c_hat - e.c_bar);
        const State bar = pair_.nominal.left(e.c_min()), hat = pair_.perturbed.left(e.c_min());
        double sum = 0.0;
        if (e.kind == PairEventKind::collision) {
            const std::vector<double> a = nominal_contacts_.gaps(bar), b = nominal_contacts_.gaps(hat);
            const PairFunctions::Values& v = functions_.at(e.c_min());
            for (const int k : e.contacts) {
                const int f = functions_.theta_of(k);
                sum += std::abs(b[ix(k)] - a[ix(k)]) + (f < 0 ? 0.0 : std::abs(v.theta[ix(f)][0]));
            }
        } else {
            const std::vector<double> a = nominal_contacts_.forces(bar, piece.closed_before),
                                      b = perturbed_contacts_.forces(hat, piece.closed_before);
            for (const int k : e.contacts) sum += std::abs(b[ix(k)] - a[ix(k)]);
        }
        piece.event_bound = sum;
        const bool collision = e.kind == PairEventKind::collision;
        note(piece, collision ? "(49)" : "(63)",
             collision ? "time of the event, against |q_p error| + |theta_p| at c_min"
                       : "time of the event, against |lambda_p error| at c_min",
             e.c_min(), piece.event_shift, piece.event_bound, accuracy(e.c_max()));
    }

    /// The verdict about the whole motion from those about its pieces.
    void conclude() {
        bool any = false;
        for (const PairPiece& piece : pair_.pieces) any = any || !piece.theorem.empty();
        for (const PairPiece& piece : pair_.pieces) {
            if ((!any || !piece.theorem.empty()) && piece.constant.value > pair_.constant.value)
                pair_.constant = piece.constant;
            if (piece.theorem.empty()) {
                if (pair_.reason.empty()) pair_.reason = piece.reason;
            } else {
                pair_.theorem += (pair_.theorem.empty() ? "" : ", ") + piece.theorem;
            }
        }
        const auto unfinished = [&](const Trajectory& t, const char* which) {
            if (t.status != Status::completed && pair_.reason.empty())
                pair_.reason = std::string("the ") + which + " motion ends at t = " + number_text(t.end.t) + ": " +
                               (t.reason.empty() ? std::string(to_string(t.status)) : t.reason);
        };
        unfinished(pair_.nominal, "nominal");
        unfinished(pair_.perturbed, "perturbed");
        if (!pair_.reason.empty()) pair_.theorem.clear();
    }

    Pair& pair_;
    PairFunctions& functions_;
    const PairOptions& options_;
    PairContacts nominal_contacts_, perturbed_contacts_;
    bool frictionless_;  // reactions follow from the closed contacts alone
    PairView view_;
    int points_ = 0;  // of each region of the present piece
    // Of largest_so_far: the largest |θ̈|, |η̈|, |δ| from the beginning of the piece to a time.
    double largest_theta_ = 0.0, largest_eta_ = 0.0, largest_delta_ = 0.0, sampled_until_ = 0.0;
};

std::vector<double> event_times(const Trajectory& motion, int contacts) {
    std::vector<double> list;
    for (const PairEvent& e : pair_events(motion, contacts)) list.push_back(e.t);
    return list;
}

}  // namespace

Pair perturbed_pair(const model::Description& description, const PairOptions& options) {
    if (!description.perturbation)
        throw Error("the model has no perturbation to compare with", {description.file, 0, 0},
                    "add [perturbation] with theta, eta, delta or initial");
    model::BuildOptions build;
    build.set = options.set;
    build.project_initial = options.project_initial;
    const model::Model nominal = model::build(description, build);
    model::refuse_elements(nominal, model::Analysis::perturbed_pair, {description.file, 0, 0});
    build.perturbed = true;
    const model::Model perturbed = model::build(description, build);
    PairFunctions functions(description, nominal);

    Pair pair;
    pair.model = nominal.name;
    pair.coordinates = nominal.coordinates;
    for (const model::Contact& c : nominal.contacts) pair.contacts.push_back(c.name);
    integrate::EventDriven method = options.method;
    method.keep_arcs = true;
    integrate::Options run;
    run.t_end = options.t_end;
    run.interrupted = options.interrupted;
    ensemble::parallel_for(2,
                           [&](std::size_t i) {
                               (i == 0 ? pair.nominal : pair.perturbed) =
                                   integrate::simulate(i == 0 ? nominal : perturbed, method, run);
                           },
                           {options.threads, {}, {}});
    const int contacts = static_cast<int>(nominal.contacts.size());
    pair.c_bar = event_times(pair.nominal, contacts);
    pair.c_hat = event_times(pair.perturbed, contacts);
    Comparison(pair, nominal, perturbed, functions, options).run();
    return pair;
}

}  // namespace saltus::sensitivity
