// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/branch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "saltus/base/eigenvalues.hpp"
#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/build.hpp"
#include "saltus/orbit/detail/branch_problem.hpp"
#include "saltus/orbit/detail/predictor.hpp"
#include "saltus/orbit/detail/special_points.hpp"
#include "saltus/orbit/search.hpp"
#include "saltus/sensitivity/variables.hpp"

namespace saltus::orbit {

namespace {

// Lengths along a branch are measured in z/scale: 1 is a change of the state by its size, or the range of the
// parameter.
constexpr double first_step = 2e-3;
constexpr double longest_step = 0.1;
/// A branch ends as a numerical failure if even a step of this length fails.
constexpr double shortest_step = 1e-8;
/// Where the order of events changes, steps towards this point are halved down to this length.
constexpr double located_step = 1e-13;
/// A margin of a law is nearly zero below this part of its largest value.
constexpr double nearly_zero = 1e-3;
/// Neighbouring tangents of one order of events differ by less than this angle in rad, or the step is halved ...
constexpr double largest_turn = 0.3;
/// ... unless it is shorter than this.
constexpr double shortest_turning_step = 1e-5;
/// Newton's method must not lead farther from the predicted point than this multiple of the step: it would be on
/// another branch.
constexpr double largest_correction = 1.0;
/// The same where the order of events changes, because the branch then has a corner.
constexpr double largest_corner = 4.0;
/// A pair of multipliers is on the unit circle if it is nearer to it than this.
constexpr double pair_distance = 1e-6;
/// A special point is located until its position along the branch is known to this length.
constexpr double located = 1e-14;

/// Branches of an even multiple end where both halves of the orbit are equal. Steps over this point are halved down to
/// this length.
constexpr double shortest_collapse_step = 1e-4;
constexpr const char* halves_become_equal =
    "the two halves of the orbit become equal: a period doubling of another branch";
constexpr const char* becomes_symmetric = "the orbit becomes symmetric: a branch point of another branch";
/// Number of points in which the way back must reach the change of the order of events.
constexpr int points_to_boundary = 80;

using trajectory::EventKind;

bool signs_differ(double a, double b) { return (a < 0.0) != (b < 0.0); }

/// What distinguishes two orders of events: the kind of the special point between them.
std::string kind_of_change(const std::vector<Mark>& before, const std::vector<Mark>& after) {
    std::map<EventKind, int> change;
    for (const Mark& m : before) --change[m.kind];
    for (const Mark& m : after) ++change[m.kind];
    const auto changed = [&](EventKind k) { return change.count(k) > 0 && change[k] != 0; };
    // A flight that begins with lift-off and ends with an accumulation appears or vanishes as a whole.
    const bool flight = changed(EventKind::lift_off) && !changed(EventKind::impact);
    if (changed(EventKind::accumulation) && !flight) return "accumulation";
    if (changed(EventKind::impact)) return change[EventKind::impact] > 0 ? "grazing" : "impact vanishes";
    if (changed(EventKind::lift_off)) return "lift-off";
    if (changed(EventKind::contact)) return "grazing";
    if (changed(EventKind::stick) || changed(EventKind::slip) || changed(EventKind::reversal)) return "stick bound";
    return "order of events";
}

std::string list_of(const OrbitPoint& p) {
    std::vector<std::string> words;
    for (const Mark& m : p.order) {
        std::string word(trajectory::to_string(m.kind));
        for (const int e : m.elements) word += " " + p.r.motion.elements[static_cast<std::size_t>(e)].name;
        words.push_back(std::move(word));
    }
    return words.empty() ? "no events" : listing(words);
}

/// The events of an orbit in its order of events: without switches of formulas, and without the impacts of an
/// accumulation, which are small in any case.
std::vector<const trajectory::Event*> main_events(const OrbitPoint& p) {
    std::vector<const trajectory::Event*> list;
    for (const trajectory::Event& e : p.r.motion.events) {
        if (e.kind == EventKind::switched) continue;
        if (e.kind == EventKind::accumulation)
            while (!list.empty() && list.back()->kind == EventKind::impact && list.back()->elements == e.elements)
                list.pop_back();
        list.push_back(&e);
    }
    return list;
}

/// The least normal impulse of an impact, in N s; infinite without impacts.
double least_impulse(const OrbitPoint& p) {
    double least = std::numeric_limits<double>::infinity();
    for (const trajectory::Event* const e : main_events(p)) {
        if (e->kind != EventKind::impact) continue;
        double sum = 0.0;
        for (const trajectory::Reaction& r : e->impulses) sum += std::abs(r.N);
        least = std::min(least, sum);
    }
    return least;
}

/// The shortest time between neighbouring events of an orbit, in s, and the kinds of both; the period if there are
/// fewer than two events.
struct Interval {
    double length = 0.0;
    EventKind first = EventKind::switched, second = EventKind::switched;
};
Interval shortest_interval(const OrbitPoint& p) {
    const std::vector<const trajectory::Event*> events = main_events(p);
    Interval shortest{p.duration};
    for (std::size_t k = 0; events.size() > 1 && k < events.size(); ++k) {
        const bool last = k + 1 == events.size();
        const trajectory::Event& next = *events[last ? 0 : k + 1];
        const double length = next.t - events[k]->t + (last ? p.duration : 0.0);
        if (length < shortest.length) shortest = {length, events[k]->kind, next.kind};
    }
    return shortest;
}

/// The kind of the special point at which two neighbouring events meet.
std::string kind_of_meeting(const Interval& interval) {
    const auto one_is = [&](EventKind k) { return interval.first == k || interval.second == k; };
    if (one_is(EventKind::lift_off) || one_is(EventKind::contact)) return "lift-off";
    if (one_is(EventKind::stick) || one_is(EventKind::slip) || one_is(EventKind::reversal)) return "stick bound";
    if (one_is(EventKind::accumulation)) return "accumulation";
    return "";
}

/// Two events are about to meet if the time between them is below this part of the period.
constexpr double short_interval = 1e-3;

/// Follows one branch in one direction.
class Walk {
public:
    Walk(BranchProblem& problem, const BranchOptions& options)
        : problem_(problem),
          options_(options),
          collapsed_(problem.broken() ? becomes_symmetric : halves_become_equal) {}

    struct Doubling {
        OrbitPoint point;
        BranchPoint described;
    };
    std::vector<BranchPoint> points;
    std::vector<SpecialPoint> special;
    std::vector<Doubling> doublings;
    std::vector<SpecialSeed> seeds;  ///< for curves over two parameters
    std::string reason;
    bool failed = false, interrupted = false, closed = false;
    bool begun = false;                    ///< false: the run was interrupted before the first step
    std::optional<SpecialPoint> boundary;  ///< walks to the next boundary: where the order of events changes

    /// From a point on, along its tangent. `first` is the first point of the whole branch, to notice a closed branch;
    /// `collapse`: branches of doubled period end where both halves of the orbit are equal again. `known`: what an
    /// earlier run had computed of this walk; null: nothing.
    void go(OrbitPoint p, const BranchPoint* first, bool collapse, const WalkRecord* known = nullptr) {
        collapse_ = collapse && !halves_equal(p);
        const bool upwards = p.slope() > 0.0;
        double h = first_step;
        if (known != nullptr) {
            take_over(*known);
            begun = true;
            if (known->finished) return;
            p = problem_.restore(known->at);
            h = known->step;
            trail_order_ = p.order;
        } else {
            // An orbit that was corrected before an interrupt is reliable; later ones are not, because Newton's method
            // may have ended early.
            if (stop()) {
                interrupted = true;
                return end(p, "interrupted", false);
            }
            remember(p);
        }
        begun = true;
        note_position(p, h);
        run(std::move(p), h, first, upwards);
        if (boundary_only_) return;
        interrupted = stop();
        if (!interrupted) return;
        cut_back();
        end(last_.point, "interrupted", false);
    }

    /// Called before each step, when `record_so_far` is what a later run can continue from.
    std::function<void(const Walk&)> at_step;

    /// What a later run needs to continue this walk, after it has ended.
    WalkRecord record() const {
        if (interrupted) {
            WalkRecord out = record_so_far();
            out.special.pop_back();  // the end that the interrupt made
            return out;
        }
        WalkRecord out = record_of_lists();
        out.finished = true;
        out.reason = reason;
        out.failed = failed;
        out.closed = closed;
        return out;
    }
    /// The same before a step.
    WalkRecord record_so_far() const {
        WalkRecord out = record_of_lists();
        out.at = last_.point.stored();
        out.step = last_.step;
        out.collapse = collapse_;
        out.trail.assign(passed_.begin() + static_cast<std::ptrdiff_t>(trail_), passed_.end());
        return out;
    }

private:
    WalkRecord record_of_lists() const {
        WalkRecord out;
        out.points = points;
        out.special = special;
        for (const Doubling& d : doublings) out.doublings.push_back({d.point.stored(), d.described});
        for (const SpecialSeed& s : seeds)
            out.seeds.push_back({s.kind, s.point.stored(), s.multiple, s.contact, s.parameter});
        return out;
    }

    bool stop() const { return options_.interrupted && options_.interrupted(); }

    /// How far the walk was before its present step.
    struct Position {
        OrbitPoint point;
        double step = 0.0;
        std::size_t points = 0, special = 0, doublings = 0, seeds = 0, passed = 0, trail = 0;
    };
    void note_position(const OrbitPoint& p, double h) {
        last_ = {p, h, points.size(), special.size(), doublings.size(), seeds.size(), passed_.size(), trail_};
    }
    /// Back to the last position that was noted.
    void cut_back() {
        points.resize(last_.points);
        special.resize(last_.special);
        doublings.resize(last_.doublings);
        seeds.resize(last_.seeds);
        passed_.resize(last_.passed);
        trail_ = last_.trail;
        failed = closed = false;
    }

    void take_over(const WalkRecord& known) {
        points = known.points;
        special = known.special;
        for (const WalkRecord::Doubling& d : known.doublings)
            doublings.push_back({problem_.restore(d.orbit), d.described});
        for (const WalkRecord::Seed& s : known.seeds)
            seeds.push_back({s.kind, problem_.restore(s.orbit), s.multiple, s.contact, s.parameter});
        reason = known.reason;
        failed = known.failed;
        closed = known.closed;
        if (known.finished) return;
        collapse_ = known.collapse;
        passed_ = known.trail;
    }

    void run(OrbitPoint p, double h, const BranchPoint* first, bool upwards) {
        while (true) {
            if (stop()) return;
            if (!boundary_only_) {
                note_position(p, h);
                if (at_step) at_step(*this);
            }
            const int most = boundary_only_ ? points_to_boundary : options_.max_points;
            if (static_cast<int>(points.size()) >= most)
                return end(p, "after " + std::to_string(most) + " points; --points allows more", false);
            problem_.move_start(p);
            h = std::min({h, longest_step, options_.step / std::max(std::abs(p.slope()), 1e-6)});
            bool at_bound = false;
            std::optional<OrbitPoint> q = attempt(p, h, at_bound);
            if (!q) {
                if (options_.interrupted && options_.interrupted()) continue;
                if (problem_.violates()) {
                    const double step = h;
                    if (!pass_by_laws(p, step)) return;
                    h = first_step;
                    continue;
                }
                const bool refused = problem_.inadmissible();
                if (h > shortest_step) {
                    h *= 0.5;
                    continue;
                }
                if (refused)
                    return end(p,
                               options_.parameter + " is not admissible beyond " + number_text(p.parameter()) + ": " +
                                   problem_.failure(),
                               false);
                if (!pass(p, h, std::nullopt)) return;
                h = first_step;
                continue;
            }
            if (!same_order(p.order, q->order)) {
                if (!pass(p, h, std::move(q))) return;
                h = first_step;
                continue;
            }
            if (std::acos(std::clamp(turned(p, *q), -1.0, 1.0)) > largest_turn && h > shortest_turning_step) {
                h *= 0.5;
                continue;
            }
            // A step over the point where both halves of the orbit are equal leads to the same orbits once more.
            if (collapse_ && collapses_between(p, *q, h) && (h > shortest_collapse_step || has_unit_multiplier(*q))) {
                if (h <= shortest_collapse_step) return end(p, collapsed_, false);
                h *= 0.5;
                continue;
            }
            if (!problem_.repeats(*q)) {
                failed = true;
                return end(p,
                           "beyond, the motion closes after one period and then does not repeat: the excitation has "
                           "another period",
                           false);
            }
            find_special(p, *q, h);
            if (first != nullptr && returns_to(*first, p, *q)) {
                // A closed branch returns in the direction in which it began.
                closed = (q->parameter() > p.parameter()) == upwards;
                if (closed) {
                    reason = "the branch is closed";
                    return;
                }
                return end(p, "the branch returns along itself", false);
            }
            accept(*q);
            if (collapse_ && halves_equal(*q) && has_unit_multiplier(*q)) return end(*q, collapsed_, false);
            p = std::move(*q);
            if (at_bound) return end(p, "the end of the range", false);
            h *= 1.4;
        }
    }

    /// A special point with its curve.
    BranchPoint described(const OrbitPoint& p) const {
        constexpr int samples = 200;
        BranchPoint out = problem_.describe(p);
        out.curve = curve_of(p.r.motion, samples);
        return out;
    }

    double turned(const OrbitPoint& p, const OrbitPoint& q) const {
        Vector tangent = q.tangent.cwiseProduct(q.scale).cwiseQuotient(p.scale);
        return p.tangent.dot(tangent) / std::max(tangent.norm(), std::numeric_limits<double>::min());
    }

    void accept(const OrbitPoint& q) {
        points.push_back(problem_.describe(q));
        remember(q);
        if (options_.progress) options_.progress(points.size());
    }

    void end(const OrbitPoint& p, const std::string& why, bool failure) {
        reason = why;
        failed = failed || failure;
        special.push_back({"end", 0.0, described(p), points.size(), why, "", ""});
    }

    /// One step of the length h along the tangent; to the bound of the range, if the step would lead beyond it.
    std::optional<OrbitPoint> attempt(const OrbitPoint& p, double h, bool& at_bound) {
        Prediction step = predicted_step(p, h, options_.from, options_.to);
        std::optional<OrbitPoint> q = problem_.correct(p, step.z, step.row);
        if (q && !step.at_bound && (q->parameter() > options_.to || q->parameter() < options_.from)) {
            // Newton's method led beyond the range: the point of the branch at the bound, from there.
            step = step_to_bound(p, *q, step.h, options_.from, options_.to);
            q = problem_.correct(p, step.z, step.row);
        }
        at_bound = step.at_bound;
        if (!q) return q;
        const bool corner = !same_order(p.order, q->order);
        const double length = (q->z - step.z).cwiseQuotient(p.scale).norm();
        if (length > (corner ? largest_corner : largest_correction) * std::max(step.h, 1e-9)) return std::nullopt;
        if (!corner && turned(p, *q) < 0.0) q->tangent = -q->tangent;
        return q;
    }

    std::optional<OrbitPoint> at_length(const OrbitPoint& p, double s) {
        std::optional<OrbitPoint> q = problem_.correct(p, p.z + s * p.tangent.cwiseProduct(p.scale), p.tangent);
        if (q && !same_order(p.order, q->order)) q.reset();
        if (q && turned(p, *q) < 0.0) q->tangent = -q->tangent;
        return q;
    }

    /// The zero of a test function between p and the point at the length h, by the method of Illinois: a secant whose
    /// kept end counts half if it is kept twice.
    std::optional<OrbitPoint> locate(const OrbitPoint& p, const OrbitPoint& q, double Tests::*test, double& error) {
        const double whole = p.tangent.dot((q.z - p.z).cwiseQuotient(p.scale));
        double a = 0.0, b = whole, fa = tests_of(p).*test, fb = tests_of(q).*test;
        std::optional<OrbitPoint> best;
        double before = std::numeric_limits<double>::infinity();
        int side = 0;
        for (int k = 0; k < 60; ++k) {
            const double s = k % 4 == 3 && k > 12 ? 0.5 * (a + b) : (a * fb - b * fa) / (fb - fa);
            std::optional<OrbitPoint> m = at_length(p, s);
            if (!m) break;
            const double f = tests_of(*m).*test;
            error = f == 0.0 ? 0.0
                    : best   ? std::abs(m->parameter() - best->parameter())
                             : std::abs(m->parameter() - p.parameter());
            best = std::move(m);
            if (f == 0.0 || std::abs(s - before) <= located * std::max(1.0, std::abs(s)) || b - a <= located) break;
            before = s;
            if (signs_differ(f, fa)) {
                b = s, fb = f;
                if (side == -1) fa *= 0.5;
                side = -1;
            } else {
                a = s, fa = f;
                if (side == 1) fb *= 0.5;
                side = 1;
            }
        }
        return best;
    }

    void find_special(const OrbitPoint& p, const OrbitPoint& q, double) {
        const Tests a = tests_of(p), b = tests_of(q);
        std::vector<std::pair<double, SpecialPoint>> found;
        std::vector<OrbitPoint> doubled;
        const auto note = [&](double Tests::*test, const char* kind) -> std::optional<OrbitPoint> {
            double error = 0.0;
            std::optional<OrbitPoint> m = locate(p, q, test, error);
            if (!m) return m;
            const double s = p.tangent.dot((m->z - p.z).cwiseQuotient(p.scale));
            if (std::string(kind) != "branch point") seeds.push_back({kind, *m, problem_.multiple(), "", {}});
            found.push_back(
                {s, {kind, std::max(error, smallest_error(m->parameter())), described(*m), points.size(), "", "", ""}});
            return m;
        };
        if (signs_differ(a.fold, b.fold))
            (void)note(&Tests::fold, "fold");
        else if (signs_differ(a.unit, b.unit))
            if (note(&Tests::unit, "branch point")) sharpen_branch_point(p, q, found.back().second);
        // A multiplier −1 of half a symmetric orbit is a multiplier 1 of the whole: the symmetry is lost there.
        if (signs_differ(a.doubling, b.doubling))
            if (std::optional<OrbitPoint> m =
                    note(&Tests::doubling, problem_.symmetric() ? "branch point" : "period doubling"))
                doublings.push_back({std::move(*m), found.back().second.at});
        if (signs_differ(a.torus, b.torus)) {
            const std::optional<OrbitPoint> m = note(&Tests::torus, "torus");
            // Two real multipliers with the product 1 are no bifurcation.
            if (m && !pair_on_circle(*m)) found.pop_back(), seeds.pop_back();
        }
        std::stable_sort(found.begin(), found.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
        for (auto& [s, point] : found) special.push_back(std::move(point));
    }

    /// Newton's equations are singular at a branch point, so that orbits next to it are not accurate. The parameter is
    /// interpolated from orbits that lie evenly on the way from p to q.
    void sharpen_branch_point(const OrbitPoint& p, const OrbitPoint& q, SpecialPoint& s) {
        constexpr int parts = 7;  // orbits at 6 points between p and q
        const double whole = p.tangent.dot((q.z - p.z).cwiseQuotient(p.scale));
        std::vector<std::pair<double, double>> list{{tests_of(p).unit, p.parameter()},
                                                    {tests_of(q).unit, q.parameter()}};
        for (int k = 1; k < parts; ++k)
            if (const std::optional<OrbitPoint> m = at_length(p, whole * k / parts))
                list.emplace_back(tests_of(*m).unit, m->parameter());
        std::sort(list.begin(), list.end(),
                  [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
        const auto [value, error] = extrapolate(list);
        if (!(error < s.error)) return;
        s.at.parameter = value;
        s.error = std::max(error, smallest_error(value));
    }

    static bool pair_on_circle(const OrbitPoint& p) {
        return std::any_of(p.multipliers.values.begin(), p.multipliers.values.end(), [](const auto& m) {
            return m.imag() != 0.0 && std::abs(std::abs(m) - 1.0) < pair_distance;
        });
    }

    /// The orbits of the present order of events, the last one first, end here.
    auto trail_end() const { return passed_.rend() - static_cast<std::ptrdiff_t>(trail_); }

    /// Notes the least impulse of an orbit, for the extrapolation to where it vanishes. Orbits with another order of
    /// events are left behind.
    void remember(const OrbitPoint& p) {
        if (!same_order(trail_order_, p.order)) trail_ = passed_.size();
        trail_order_ = p.order;
        passed_.push_back({p.t, p.z, least_impulse(p), shortest_interval(p).length});
    }

    /// Where a law is just fulfilled along the branch.
    struct Boundary {
        OrbitPoint at;  ///< it need not have a motion
        StageMargin margin;
        double s = 0.0;      ///< distance from the last point
        double error = 0.0;  ///< of the parameter
    };

    static bool is_violated(const StageMargin& m) {
        constexpr double rounding = 1e-11;  // relative to the largest value of the quantity
        return m.margin.value < -rounding * m.margin.largest;
    }

    /// The value of the same quantity in another list: that of the nearest time if there are several. None if there is
    /// none, as where a gap has no minimum yet.
    static std::optional<double> same_margin(const std::vector<StageMargin>& list, const StageMargin& like) {
        std::optional<double> value;
        double nearest = std::numeric_limits<double>::infinity();
        for (const StageMargin& m : list) {
            if (m.stage != like.stage || m.margin.what != like.margin.what || m.margin.element != like.margin.element)
                continue;
            const double distance = std::abs(m.margin.t - like.margin.t);
            if (distance < nearest) nearest = distance, value = m.margin.value;
        }
        return value;
    }

    /// The first point of the branch at which a law is just fulfilled, before the distance h at which one is violated.
    /// Beyond it the equations of the same order of events have solutions, too, so that the margins of the laws are
    /// smooth functions on both sides.
    std::optional<Boundary> locate_boundary(const OrbitPoint& p, double h) {
        const auto orbit_at = [&](double s) {
            return problem_.correct_by_events(p, p.z + s * p.tangent.cwiseProduct(p.scale), p.tangent,
                                              BranchProblem::Laws::ignored);
        };
        double far = predicted_step(p, h, options_.from, options_.to).h;
        std::optional<OrbitPoint> q = orbit_at(far);
        if (!q) return std::nullopt;
        const std::vector<StageMargin> here = problem_.margins(p);
        std::vector<StageMargin> there = problem_.margins(*q);
        // The law that is violated first may change as the zero is approached: at most most_laws laws are tried, each
        // with most_secants secants.
        constexpr int most_laws = 8, most_secants = 60;
        for (int law = 0; law < most_laws; ++law) {
            // The law that is violated first, by a linear interpolation.
            const StageMargin* first = nullptr;
            double zero = std::numeric_limits<double>::infinity();
            for (const StageMargin& m : there) {
                if (!is_violated(m)) continue;
                const double before = std::max(same_margin(here, m).value_or(m.margin.largest), 0.0);
                const double at = far * before / (before - m.margin.value);
                if (at < zero) zero = at, first = &m;
            }
            if (first == nullptr) return std::nullopt;
            const StageMargin which = *first;
            double a = 0.0, b = far, fb = which.margin.value, last = far;
            std::optional<double> fa = same_margin(here, which);
            if (fa) fa = std::max(*fa, 0.0);
            Boundary found{*q, which, far, std::numeric_limits<double>::infinity()};
            std::vector<StageMargin> margins = there;
            int side = 0;
            for (int k = 0; k < most_secants; ++k) {
                const double s = !fa || k % 4 == 3 ? 0.5 * (a + b) : (a * fb - b * *fa) / (fb - *fa);
                std::optional<OrbitPoint> m = orbit_at(s);
                if (!m) return std::nullopt;
                margins = problem_.margins(*m);
                const std::optional<double> f = same_margin(margins, which);
                found.error = std::abs(m->parameter() - found.at.parameter());
                found.at = std::move(*m);
                found.s = s;
                if (f && *f == 0.0) break;
                if (f && *f < 0.0) {
                    b = s, fb = *f;
                    if (side == -1 && fa) *fa *= 0.5;
                    side = -1;
                } else {
                    a = s, fa = f;
                    if (side == 1) fb *= 0.5;
                    side = 1;
                }
                if (std::abs(s - last) <= located * std::max(1.0, s) || b - a <= located) break;
                last = s;
            }
            // The time of the least value at this point.
            for (const StageMargin& m : margins)
                if (m.stage == which.stage && m.margin.what == which.margin.what &&
                    m.margin.element == which.margin.element &&
                    std::abs(m.margin.value) <= 1e-6 * std::max(m.margin.largest, which.margin.largest))
                    found.margin = m;
            const bool others = std::any_of(margins.begin(), margins.end(), [&](const StageMargin& m) {
                const bool same = m.stage == which.stage && m.margin.what == which.margin.what &&
                                  m.margin.element == which.margin.element;
                // Another law is violated if its margin is below −negligible_margin times its largest value.
                constexpr double negligible_margin = 1e-8;
                return !same && m.margin.value < -negligible_margin * m.margin.largest;
            });
            if (!others) return found;
            far = found.s;
            q = found.at;
            there = std::move(margins);
        }
        return std::nullopt;
    }

    static std::string kind_of(const StageMargin& m) {
        using What = integrate::LawMargin::What;
        switch (m.margin.what) {
            case What::gap: return "grazing";
            case What::impulse: return "impact vanishes";
            case What::force:
            case What::opening: return "lift-off";
            case What::slip:
            case What::turn:
            case What::reserve:
            case What::arrival:
            case What::friction: return "stick bound";
            case What::clutch:
            case What::apart:
            case What::duration: break;
        }
        return "order of events";
    }

    /// The orbit with the order of events of p violates a law at the distance h. Names and stores the point where it
    /// begins to, and finds the branch on the other side. Returns false if the branch ends there.
    bool pass_by_laws(OrbitPoint& p, double h) {
        std::optional<Boundary> found = locate_boundary(p, h);
        if (!found) return pass(p, h, std::nullopt);
        // Special points on the way, up to an orbit shortly before.
        constexpr double nearly = 1e-3, far_enough = 1e-9;
        const OrbitPoint last = p;
        if (found->s > far_enough) {
            std::optional<OrbitPoint> q = at_length(p, found->s * (1.0 - nearly));
            if (q && problem_.repeats(*q)) {
                find_special(p, *q, found->s);
                accept(*q);
                p = std::move(*q);
            }
        }
        SpecialPoint s;
        s.kind = kind_of(found->margin);
        s.at = described(p);
        s.at.parameter = found->at.parameter();
        s.index = points.size();
        s.before = list_of(p);
        s.error = std::max(found->error, smallest_error(s.at.parameter));
        if (s.kind == "grazing")
            seeds.push_back({"grazing", p, problem_.multiple(),
                             p.r.motion.elements[static_cast<std::size_t>(found->margin.margin.element)].name,
                             s.at.parameter});
        if (boundary_only_) {
            boundary = s;
            return false;
        }
        if (cross_to_neighbour(p, *found, s)) return true;
        if (cross(p, std::max(h, found->s), std::nullopt, s)) return true;
        s.after.clear();
        special.push_back(s);
        end(p,
            s.kind + " at " + options_.parameter + " = " + number_text(s.at.parameter) +
                ": no orbit with another order of events was found next to it",
            false);
        return false;
    }

    /// A curve of grazings over two parameters begins at an orbit without the impact, whose tangent leads to the
    /// grazing: here at the first one behind an impact that has vanished.
    void seed_grazing(OrbitPoint behind, const std::string& contact, double parameter) {
        behind.tangent = -behind.tangent;
        seeds.push_back({"grazing", std::move(behind), problem_.multiple(), contact, parameter});
    }

    /// Goes on with an order of events that has the same motion at the boundary (neighbours.hpp).
    bool cross_to_neighbour(OrbitPoint& p, const Boundary& from, SpecialPoint s) {
        for (const ShootingSolution& order : problem_.neighbours(from.at, from.margin)) {
            OrbitPoint start = from.at;
            start.order.clear();
            start.solution = std::make_shared<const ShootingSolution>(order);
            const std::optional<OrbitPoint> b =
                problem_.correct_by_events(start, start.z, start.tangent, BranchProblem::Laws::ignored);
            if (!b) continue;
            for (const double length : {1e-3, 1e-4, 1e-2, 1e-5, 1e-6})
                for (const double sign : {1.0, -1.0}) {
                    if (stop()) return false;
                    std::optional<OrbitPoint> q =
                        problem_.correct_by_events(*b, b->z + sign * length * b->tangent.cwiseProduct(b->scale),
                                                   b->tangent, BranchProblem::Laws::obeyed);
                    if (!q || same_order(p.order, q->order) || is_passed_twice(*q) || !problem_.repeats(*q)) continue;
                    if (q->parameter() < options_.from || q->parameter() > options_.to) continue;
                    const Vector away = (q->z - b->z).cwiseQuotient(q->scale);
                    if (q->tangent.dot(away) < 0.0) q->tangent = -q->tangent;
                    s.kind = kind_of_change(p.order, q->order);
                    s.after = list_of(*q);
                    special.push_back(s);
                    if (s.kind == "impact vanishes") {
                        const auto contact = static_cast<std::size_t>(from.margin.margin.element);
                        seed_grazing(*q,
                                     contact < q->r.motion.elements.size() ? q->r.motion.elements[contact].name : "",
                                     s.at.parameter);
                    }
                    p = std::move(*q);
                    accept(p);
                    return true;
                }
        }
        return false;
    }

    /// Walks up to where the order of events changes, names and stores this point, and finds the branch on the other
    /// side. Returns false if the branch ends there. `beyond` is an orbit with another order at the distance h.
    bool pass(OrbitPoint& p, double h, std::optional<OrbitPoint> beyond) {
        const std::vector<Mark> order = p.order;
        const double whole = h;
        double rest = h;
        // The distance to the nearest orbit that is known to have another order: the boundary is before it.
        double confirmed = beyond ? h : std::numeric_limits<double>::infinity();
        std::string why;  // the last attempt has failed for this reason; those of `cross` begin elsewhere
        // Every step that succeeds with the same order shortens the rest, every other one halves it.
        while (rest > located_step) {
            if (options_.interrupted && options_.interrupted()) break;
            bool at_bound = false;
            std::optional<OrbitPoint> q = attempt(p, 0.5 * rest, at_bound);
            if (q && same_order(order, q->order)) {
                find_special(p, *q, 0.5 * rest);
                confirmed -= 0.5 * rest;
                p = std::move(*q);
                remember(p);
            } else if (q) {
                confirmed = std::min(confirmed, 0.5 * rest);
                if (!beyond) beyond = std::move(q);
            } else {
                why = problem_.failure();
                if (problem_.too_sensitive()) {
                    end(p,
                        "no orbit was found beyond " + options_.parameter + " = " + number_text(p.parameter()) + ": " +
                            why,
                        true);
                    return false;
                }
            }
            rest *= 0.5;
        }
        SpecialPoint s;
        s.at = described(p);
        s.index = points.size();
        s.before = list_of(p);
        // The distance to the orbit beyond, in the parameter; to first order, and to second where the branch is
        // vertical.
        s.error = (confirmed * std::abs(p.slope()) + confirmed * confirmed) * (options_.to - options_.from) +
                  4e-16 * std::abs(p.parameter());
        if (beyond) s.kind = kind_of_change(order, beyond->order), s.after = list_of(*beyond);
        if (s.kind.empty() && least_impulse(p) < 1e-3 * impulses_size(p) + 1e-12) s.kind = "impact vanishes";
        // An orbit that shrinks to a state of rest: all its impulses vanish together.
        if (s.kind.empty() && least_impulse(p) < nearly_zero * largest_impulse_passed()) s.kind = "impact vanishes";
        const Interval interval = shortest_interval(p);
        if (s.kind.empty() && interval.length < short_interval * p.duration) s.kind = kind_of_meeting(interval);
        if (s.kind.empty() || s.kind == "grazing") {
            const auto [gap, contact] = nearest_gap(*p.model, p.r.motion, "");
            if (s.kind.empty() && !contact.empty() && gap < 1e-6) s.kind = "grazing";
            if (s.kind == "grazing" && !contact.empty()) {
                extrapolate_gap(p, contact, s);
                seeds.push_back({"grazing", p, problem_.multiple(), contact, s.at.parameter});
            }
        }
        if (s.kind == "impact vanishes") {
            // Extrapolation amplifies the errors of the orbits.
            constexpr double amplified = 1e3;
            extrapolate_impulse(s);
            s.error = std::max(s.error, amplified * p.residual * std::abs(s.at.parameter - p.parameter()));
        }
        if (s.kind.empty() && p.solution) {
            // A law that is nearly at its bound explains why there is no orbit beyond.
            double least = nearly_zero;
            for (const StageMargin& m : problem_.margins(p)) {
                const double part = m.margin.value / std::max(m.margin.largest, std::numeric_limits<double>::min());
                if (part >= least) continue;
                least = part;
                s.kind = kind_of(m);
            }
            if (!s.kind.empty())
                s.error = 4.0 * (located_step * std::abs(p.slope()) + located_step * located_step) *
                          (options_.to - options_.from);
        }
        extrapolate_interval(p, s);
        s.error = std::max(s.error, smallest_error(p.parameter()));
        if (boundary_only_) {
            boundary = s;
            return false;
        }
        if (cross(p, whole, beyond, s)) return true;
        if (s.kind.empty()) {
            end(p,
                "no orbit was found beyond " + options_.parameter + " = " + number_text(p.parameter()) +
                    (why.empty() ? "" : ": " + why),
                true);
            return false;
        }
        s.after.clear();
        special.push_back(s);
        end(p,
            s.kind + " at " + options_.parameter + " = " + number_text(s.at.parameter) +
                ": no orbit with another order of events was found next to it",
            false);
        return false;
    }

    /// Motions are computed with a relative tolerance, and the parameter of a special point is not known better.
    double smallest_error(double parameter) const {
        return 2.0 * options_.orbit.method.rtol * std::max(std::abs(parameter), options_.to - options_.from);
    }

    /// Adds a value ψ of an orbit to a list from which its zero is extrapolated, the last orbit first. Neighbours in
    /// the list differ by at least a factor, so that rounding does not matter. Returns whether more are useful.
    static bool take(std::vector<std::pair<double, double>>& list, double psi, double parameter) {
        constexpr double ratio = 1.6;    // of neighbouring values ψ
        constexpr std::size_t most = 6;  // values are kept at most
        if (psi > 0.0 && std::isfinite(psi) && (list.empty() || psi > ratio * list.back().first))
            list.emplace_back(psi, parameter);
        return list.size() < most;
    }
    static void extrapolate_zero(std::vector<std::pair<double, double>> list, SpecialPoint& s) {
        if (list.size() < 2) return;
        std::reverse(list.begin(), list.end());
        const auto [value, error] = extrapolate(list);
        s.at.parameter = value;
        s.error = error;
    }

    /// The largest of the least impulses of the orbits passed.
    double largest_impulse_passed() const {
        double largest = 0.0;
        for (const auto& k : passed_)
            if (std::isfinite(k.impulse)) largest = std::max(largest, k.impulse);
        return largest;
    }

    /// Towards an impact that vanishes, the parameter is a smooth function of its impulse, while Newton's method fails
    /// before the impulse is zero. So the parameter is extrapolated.
    void extrapolate_impulse(SpecialPoint& s) const {
        s.error = std::numeric_limits<double>::infinity();
        std::vector<std::pair<double, double>> list;
        for (auto k = passed_.rbegin(); k != trail_end(); ++k)
            if (!take(list, k->impulse, k->z(k->z.size() - 1))) break;
        extrapolate_zero(std::move(list), s);
    }

    /// The same with the time between two events that meet, as where a phase of stick or contact vanishes.
    void extrapolate_interval(const OrbitPoint& p, SpecialPoint& s) const {
        if (passed_.back().interval > short_interval * p.duration) return;
        std::vector<std::pair<double, double>> list;
        for (auto k = passed_.rbegin(); k != trail_end(); ++k)
            if (!take(list, k->interval, k->z(k->z.size() - 1))) break;
        SpecialPoint other = s;
        other.error = std::numeric_limits<double>::infinity();
        extrapolate_zero(std::move(list), other);
        if (other.error < s.error) s.at.parameter = other.at.parameter, s.error = other.error;
    }

    /// The same with the least gap of a contact, before the contact is touched.
    void extrapolate_gap(const OrbitPoint& p, const std::string& contact, SpecialPoint& s) {
        std::vector<std::pair<double, double>> list;
        for (auto k = passed_.rbegin(); k != trail_end(); ++k) {
            const double parameter = k->z(k->z.size() - 1);
            const std::shared_ptr<const model::Model> model = problem_.model_at(parameter);
            const ReturnMap map(*model, options_.orbit.method, options_.interrupted);
            const trajectory::Trajectory motion = map.motion(k->t, k->z.head(problem_.states()), p.duration);
            const auto [gap, name] = nearest_gap(*model, motion, contact);
            // Gaps below are not known well enough.
            constexpr double known_gap = 1e-9;
            if (!name.empty() && gap > known_gap && !take(list, gap, parameter)) break;
        }
        extrapolate_zero(std::move(list), s);
    }

    /// Continues on the other side of a point where the order of events changes. A candidate there belongs to the same
    /// branch if the way back from it leads to the same point; the way back fills the part between.
    bool cross(OrbitPoint& p, double h, const std::optional<OrbitPoint>& beyond, SpecialPoint s) {
        std::optional<OrbitPoint> next;
        const auto try_candidate = [&](std::optional<OrbitPoint> q, double distance) {
            if (!q || same_order(p.order, q->order) || is_passed_twice(*q) || !problem_.repeats(*q)) return false;
            const Vector away = (q->z - p.z).cwiseQuotient(p.scale);
            if (away.norm() > distance) return false;
            if (q->parameter() < options_.from || q->parameter() > options_.to) return false;
            const Vector along = away.cwiseProduct(p.scale).cwiseQuotient(q->scale);
            if (q->tangent.dot(along) < 0.0) q->tangent = -q->tangent;
            // The way back.
            Walk back(problem_, options_);
            back.boundary_only_ = true;
            OrbitPoint reversed = *q;
            reversed.tangent = -reversed.tangent;
            back.go(reversed, nullptr, false);
            if (!back.boundary || !same_place(s.at, back.boundary->at)) return false;
            if (s.kind.empty() || (back.boundary->error < s.error && !back.boundary->kind.empty())) {
                s.at.parameter = back.boundary->at.parameter;
                s.error = back.boundary->error;
            }
            s.kind = kind_of_change(p.order, q->order);
            s.after = list_of(*q);
            special.push_back(s);
            if (s.kind == "impact vanishes") seed_grazing(*q, "", s.at.parameter);
            const std::size_t before = points.size(), count = back.points.size();
            for (auto k = back.special.rbegin(); k != back.special.rend(); ++k) {
                if (k->kind == "end") continue;
                k->index = before + count - k->index;
                special.push_back(*k);
            }
            for (Doubling& d : back.doublings) doublings.push_back(std::move(d));
            for (SpecialSeed& seed : back.seeds) seeds.push_back(std::move(seed));
            points.insert(points.end(), back.points.rbegin(), back.points.rend());
            next = std::move(q);
            return true;
        };
        const auto arrive = [&] {
            p = std::move(*next);
            accept(p);
            return true;
        };
        // Straight on.
        for (const double part : {1e-3, 1e-2, 0.1, 0.3, 1.0}) {
            const double length = part * std::max(h, 1e-3);
            if (try_candidate(problem_.correct_by_map(p, p.z + length * p.tangent.cwiseProduct(p.scale), p.tangent,
                                                      BranchProblem::Damping::none),
                              largest_corner * length))
                return arrive();
        }
        if (try_candidate(beyond, largest_corner * std::max(h, 1e-3))) return arrive();
        // At neighbouring values of the parameter, from disturbed states.
        const Eigen::Index last = p.z.size() - 1;
        const Vector row = Vector::Unit(p.z.size(), last);
        for (const double delta : {1e-4, 1e-3, 1e-2})
            for (const double sign : {p.slope() < 0.0 ? -1.0 : 1.0, p.slope() < 0.0 ? 1.0 : -1.0})
                for (const double size : {0.0, 3.0, -3.0, 0.3, -0.3})
                    for (Eigen::Index i = 0; i < (size == 0.0 ? 1 : problem_.states()); ++i) {
                        if (options_.interrupted && options_.interrupted()) return false;
                        Vector z = p.z;
                        z(last) += sign * delta * p.scale(last);
                        z(i) += size * delta * p.scale(i);
                        if (try_candidate(problem_.correct_by_map(p, z, row, BranchProblem::Damping::halve),
                                          30.0 * delta))
                            return arrive();
                    }
        return false;
    }

    /// Whether two points where the order of events changes are the same one.
    bool same_place(const BranchPoint& a, const BranchPoint& b) const {
        constexpr double near = 1e-3;  // relative to the range of the parameter and to the amplitudes
        if (std::abs(a.parameter - b.parameter) > near * (options_.to - options_.from)) return false;
        for (std::size_t i = 0; i < a.amplitude.size(); ++i) {
            const double size = std::max({std::abs(a.amplitude[i].first), std::abs(a.amplitude[i].second), 1e-300});
            if (std::abs(a.amplitude[i].first - b.amplitude[i].first) > 10.0 * near * size ||
                std::abs(a.amplitude[i].second - b.amplitude[i].second) > 10.0 * near * size)
                return false;
        }
        return true;
    }

    static double impulses_size(const OrbitPoint& p) {
        double largest = 0.0;
        for (const trajectory::Event& e : p.r.motion.events)
            for (const trajectory::Reaction& r : e.impulses) largest = std::max(largest, std::abs(r.N));
        return largest;
    }

    /// The difference of the states in the middle and at the start of an orbit, relative to its size.
    Vector difference_of_halves(const OrbitPoint& p) const {
        const Eigen::Index m = problem_.states();
        // Halves that are equal up to a translation have half of the shift of the whole orbit each.
        const Vector half = problem_.closing().repeated(0.5).back(problem_.half_of(p), p.z.head(m));
        return (half - p.z.head(m)).cwiseQuotient(p.scale.head(m));
    }
    /// Whether both halves may become equal on the way of the length h from p to q. Their difference d changes its sign
    /// there, and it changes by about h on the way. It also changes its sign where an impact passes the middle of the
    /// orbit, but then d is large.
    bool collapses_between(const OrbitPoint& p, const OrbitPoint& q, double h) const {
        constexpr double fastest = 8.0;  // |δd| ≤ fastest · h
        const Vector a = difference_of_halves(p), b = difference_of_halves(q);
        return a.dot(b) < 0.0 && std::min(a.norm(), b.norm()) <= fastest * h;
    }
    /// Where a branch of another period or symmetry begins, a multiplier is 1. Where two halves become equal because an
    /// impact vanishes, none is.
    static bool has_unit_multiplier(const OrbitPoint& p) {
        constexpr double near = 0.05;  // of |multiplier − 1|; the orbit is near the branch point, not on it
        for (std::size_t k = 0; k < p.multipliers.values.size(); ++k)
            if (!(p.multipliers.trivial && *p.multipliers.trivial == k) &&
                std::abs(p.multipliers.values[k] - 1.0) < near)
                return true;
        return false;
    }
    /// Whether an orbit of a branch of doubled period is a shorter orbit that is passed twice.
    bool is_passed_twice(const OrbitPoint& p) const {
        constexpr double equal = 1e-7;  // relative to the sizes
        return collapse_ && difference_of_halves(p).cwiseAbs().maxCoeff() < equal;
    }
    bool halves_equal(const OrbitPoint& p) const {
        constexpr double equal = 2e-3;  // relative to the sizes
        return difference_of_halves(p).cwiseAbs().maxCoeff() < equal;
    }

    /// Whether the branch from p to q passes its first point.
    bool returns_to(const BranchPoint& first, const OrbitPoint& p, const OrbitPoint& q) {
        constexpr double equal = 1e-6;  // of period and amplitudes, relative
        if (points.size() < 8 || signs_differ(p.parameter() - first.parameter, first.parameter - q.parameter()))
            return false;
        Vector z = p.z;
        const Eigen::Index last = z.size() - 1;
        const double fraction = (first.parameter - p.parameter()) / (q.parameter() - p.parameter());
        if (!std::isfinite(fraction)) return false;
        z += fraction * (q.z - p.z);
        z(last) = first.parameter;
        const std::optional<OrbitPoint> m = problem_.correct(p, z, Vector::Unit(z.size(), last));
        if (!m) return false;
        const BranchPoint here = problem_.describe(*m);
        if (here.events != first.events || std::abs(here.period - first.period) > equal * first.period) return false;
        for (std::size_t i = 0; i < here.amplitude.size(); ++i) {
            const auto [a, b] = first.amplitude[i];
            const double size = equal * std::max({std::abs(a), std::abs(b), 1e-300});
            if (std::abs(here.amplitude[i].first - a) > size || std::abs(here.amplitude[i].second - b) > size)
                return false;
        }
        return true;
    }

    BranchProblem& problem_;
    const BranchOptions& options_;
    bool collapse_ = false;
    bool boundary_only_ = false;  // the walk ends where the order of events changes
    const char* collapsed_;       // the reason of a branch that ends at another one
    std::vector<Mark> trail_order_;
    std::vector<WalkRecord::Passed> passed_;  // all orbits ...
    std::size_t trail_ = 0;                   // ... and the number of the first one of the present order
    Position last_;
};

/// Numbers the walks and curves of a run, so that those of an interrupted run are found again.
class Journal {
public:
    explicit Journal(const BranchOptions& options) : known_(options.known), checkpoint_(options.checkpoint) {}

    void walk(Walk& walk, const OrbitPoint& from, const BranchPoint* first, bool collapse) {
        const std::size_t k = made_.walks.size();
        if (checkpoint_)
            walk.at_step = [this](const Walk& here) {
                checkpoint_([&] {
                    BranchRecord so_far = made_;
                    so_far.walks.push_back(here.record_so_far());
                    return completed(std::move(so_far));
                });
            };
        walk.go(from, first, collapse, known_ != nullptr && k < known_->walks.size() ? &known_->walks[k] : nullptr);
        if (walk.begun) made_.walks.push_back(walk.record());
    }
    SpecialCurve curve(const BranchOptions& options, const std::function<SpecialCurve()>& compute) {
        const std::size_t k = made_.curves.size();
        SpecialCurve found = known_ != nullptr && k < known_->curves.size() ? known_->curves[k] : compute();
        // A curve that an interrupt has cut is computed again.
        if (!(options.interrupted && options.interrupted())) made_.curves.push_back(found);
        if (checkpoint_) checkpoint_([&] { return completed(made_); });
        return found;
    }
    /// What was computed. What the earlier run had computed and this one has not reached is kept.
    BranchRecord take() { return completed(std::move(made_)); }

private:
    BranchRecord completed(BranchRecord record) const {
        record.append_rest_of(known_);
        return record;
    }

    const BranchRecord* known_;
    const Checkpoint& checkpoint_;
    BranchRecord made_;
};

/// Joins a walk downwards, the first point and a walk upwards to one branch.
Branch joined(Walk& down, const BranchPoint& first, Walk& up) {
    Branch b;
    const std::size_t below = down.points.size();
    b.points.assign(std::make_move_iterator(down.points.rbegin()), std::make_move_iterator(down.points.rend()));
    b.points.push_back(first);
    b.points.insert(b.points.end(), std::make_move_iterator(up.points.begin()),
                    std::make_move_iterator(up.points.end()));
    for (auto s = down.special.rbegin(); s != down.special.rend(); ++s) {
        s->index = below - s->index;
        std::swap(s->before, s->after);
        // Seen from below, an impact that vanishes appears, and the other way round.
        if (s->kind == "grazing" || s->kind == "impact vanishes")
            s->kind = s->kind == "grazing" ? "impact vanishes" : "grazing";
        b.special.push_back(std::move(*s));
    }
    for (SpecialPoint& s : up.special) {
        s.index += below + 1;
        b.special.push_back(std::move(s));
    }
    b.reason = down.reason.empty()        ? up.reason
               : up.reason.empty()        ? down.reason
               : down.reason == up.reason ? "both ends: " + up.reason
                                          : "lower end: " + down.reason + "; upper end: " + up.reason;
    b.failed = down.failed || up.failed;
    return b;
}

/// Follows the branches of doubled period that begin at period doublings.
class Switches {
public:
    Switches(const model::Description& description, const BranchOptions& options, Branches& out, Journal& journal)
        : description_(description), options_(options), out_(out), journal_(journal) {}

    /// `parent`: the branch on which the doublings lie. From a branch of symmetric orbits, those without the symmetry
    /// are followed.
    void follow(const std::vector<Walk::Doubling>& doublings, const BranchProblem& parent, int level) {
        if (level >= options_.doublings) return;
        const int multiple = parent.symmetric() ? 0 : parent.multiple();
        for (const Walk::Doubling& d : doublings) {
            if (options_.interrupted && options_.interrupted()) return;
            if (std::any_of(ends_.begin(), ends_.end(), [&](const auto& e) {
                    return e.first == multiple &&
                           std::abs(e.second - d.point.parameter()) < 0.02 * (options_.to - options_.from);
                }))
                continue;  // a branch that began at another doubling ends here
            branch_from(d, parent, level);
        }
    }

private:
    void branch_from(const Walk::Doubling& d, const BranchProblem& parent, int level) {
        const bool breaks = parent.symmetric();
        const int multiple = breaks ? parent.multiple() : 2 * parent.multiple();
        const Symmetric kind = breaks ? Symmetric::broken : Symmetric::no;
        const Closing closing =
            breaks ? closing_of(*d.point.model, options_, kind, d.point.r.motion) : parent.closing().repeated(2.0);
        BranchProblem problem(description_, options_, multiple, closing, kind);
        // The direction of the multiplier −1, in which the doubled orbits leave the others.
        const Eigenpairs pairs = eigenpairs(d.point.r.slope);
        std::size_t which = 0;
        for (std::size_t k = 0; k < pairs.values.size(); ++k)
            if (std::abs(pairs.values[k] + 1.0) < std::abs(pairs.values[which] + 1.0)) which = k;
        if (pairs.values.empty()) return;
        OrbitPoint start = d.point;
        start.solution.reset();  // it is that of the shorter orbit
        start.cut_times.clear();
        start.cuts.clear();
        Vector direction = Vector::Zero(start.z.size());
        direction.head(problem.states()) = closing.reduced(Vector(pairs.vectors.col(static_cast<Eigen::Index>(which))))
                                               .cwiseQuotient(start.scale.head(problem.states()));
        direction /= direction.norm();
        if (!breaks) {
            if (problem.autonomous()) start.z(problem.states()) *= 2.0, start.scale(problem.states()) *= 2.0;
            start.order.insert(start.order.end(), d.point.order.begin(), d.point.order.end());
        }
        Branch b;
        b.multiple = multiple;
        b.origin = std::string(breaks ? "loss of symmetry" : "period doubling") + " at " + options_.parameter + " = " +
                   number_text(d.point.parameter());
        for (const double h : {0.01, 0.02, 0.005, 0.04, 0.002}) {
            std::optional<OrbitPoint> q =
                problem.correct(start, start.z + h * direction.cwiseProduct(start.scale), direction);
            if (!q || (q->z - start.z).cwiseQuotient(start.scale).norm() > 5.0 * h) continue;
            if (!problem.repeats(*q) || !same_order(start.order, q->order)) continue;
            const Vector away = (q->z - start.z).cwiseQuotient(q->scale);
            if (q->tangent.dot(away) < 0.0) q->tangent = -q->tangent;
            Walk walk(problem, options_);
            const BranchPoint first = problem.describe(*q);
            journal_.walk(walk, *q, nullptr, true);
            walk.points.insert(walk.points.begin(), first);
            for (SpecialPoint& s : walk.special) ++s.index;
            b.points = std::move(walk.points);
            b.special = std::move(walk.special);
            b.reason = walk.reason;
            b.failed = walk.failed;
            if ((b.reason == halves_become_equal || b.reason == becomes_symmetric) && !b.points.empty())
                ends_.emplace_back(breaks ? 0 : multiple / 2, b.points.back().parameter);
            out_.branches.push_back(std::move(b));
            if (walk.interrupted) out_.complete = false;
            follow(walk.doublings, problem, level + 1);
            return;
        }
        b.reason = breaks ? "no orbit without the symmetry was found next to the branch point"
                          : "no orbit of the doubled period was found next to the doubling";
        out_.branches.push_back(std::move(b));
    }

    const model::Description& description_;
    const BranchOptions& options_;
    Branches& out_;
    Journal& journal_;
    /// Multiple (0: symmetric orbits) and parameter of doublings at which branches have ended.
    std::vector<std::pair<int, double>> ends_;
};

/// Throws Error if the translation by which the orbits close depends on a parameter that is varied.
void refuse_varying_translation(const model::Description& description, const BranchOptions& options,
                                const Closing& closing) {
    if (closing.plain()) return;
    const auto check = [&](const std::string& name, double start, double from, double to) {
        for (const double value : {start + 1e-3 * (to - from), start - 1e-3 * (to - from)}) {
            if (value < from || value > to) continue;
            model::BuildOptions build = options.build;
            build.set.emplace_back(options.parameter, number_text(options.start));
            build.set.emplace_back(name, number_text(value));
            build.project_initial = true;
            std::optional<model::Model> there;
            try {
                there = model::build(description, build);
            } catch (const Error&) {  // the walk says why this value is not admissible
                continue;
            }
            if (closing.same_in(translations_of(*there))) continue;
            throw Error("the orbit closes up to a translation that depends on '" + name + "', which is varied",
                        {"--over", 0, 0}, "choose coordinates in which the translation has numbers alone");
        }
    };
    check(options.parameter, options.start, options.from, options.to);
    if (!options.second.empty()) check(options.second, options.second_start, options.second_from, options.second_to);
}

/// The branch of one orbit, in both directions, and the branches of doubled period.
void follow_orbit(const model::Description& description, const BranchOptions& options, const model::Model& model,
                  const Orbit& orbit, Branches& out, Journal& journal) {
    const Symmetric symmetric = options.orbit.symmetry.empty() ? Symmetric::no : Symmetric::yes;
    const Closing closing = closing_of(model, options, symmetric, orbit.motion);
    BranchProblem problem(description, options, orbit.multiple, closing, symmetric);
    refuse_varying_translation(description, options, closing);
    const std::optional<OrbitPoint> start = problem.first(orbit.motion, options.start);
    if (!start) {
        out.status = Status::no_orbit;
        out.failure = "the orbit at " + options.parameter + " = " + number_text(options.start) +
                      " has no derivatives: " + problem.failure();
        return;
    }
    const BranchPoint first = problem.describe(*start);
    Walk down(problem, options), up(problem, options);
    OrbitPoint reversed = *start;
    reversed.tangent = -reversed.tangent;
    const bool even = orbit.multiple % 2 == 0;
    if (options.start > options.from) journal.walk(down, reversed, &first, even);
    if (!down.closed && !down.interrupted && options.start < options.to) journal.walk(up, *start, &first, even);
    if (down.interrupted || up.interrupted) out.complete = false;
    std::vector<Walk::Doubling> doublings = std::move(down.doublings);
    doublings.insert(doublings.end(), std::make_move_iterator(up.doublings.begin()),
                     std::make_move_iterator(up.doublings.end()));
    Branch b = joined(down, first, up);
    b.multiple = orbit.multiple;
    out.branches.push_back(std::move(b));
    if (!options.second.empty()) {
        for (Walk* const walk : {&down, &up})
            for (const SpecialSeed& seed : walk->seeds) {
                if (options.interrupted && options.interrupted()) return;
                out.curves.push_back(
                    journal.curve(options, [&] { return follow_special(description, options, seed, closing); }));
            }
        return;
    }
    Switches(description, options, out, journal).follow(doublings, problem, 0);
}

}  // namespace

Branches continue_orbits(const model::Description& description, const BranchOptions& options) {
    SALTUS_EXPECT(options.from < options.to && options.from <= options.start && options.start <= options.to);
    Branches out;
    out.parameter = options.parameter;
    out.second = options.second;
    out.complete = true;
    // A symmetry that cannot be followed is refused before the first orbit is looked for.
    if (!options.orbit.symmetry.empty()) (void)BranchProblem(description, options, 1, {}, Symmetric::yes);
    std::vector<Orbit> orbits;
    model::BuildOptions build = options.build;
    build.set.emplace_back(options.parameter, number_text(options.start));
    const model::Model model = model::build(description, build);
    {
        out.model = model.name;
        out.coordinates = model.coordinates;
        Options first = options.orbit;
        first.interrupted = options.interrupted;
        first.period.reset();
        if (!options.period.empty())
            first.period = sensitivity::output_of(model, options.period, 0.0, model.q0, model.u0).value;
        if (options.search > 0) {
            SearchPlace place;
            place.engine.threads = options.threads;
            place.engine.interrupted = options.interrupted;
            orbits = find_orbits(model, first, options.search, place);
            if (orbits.empty()) out.status = Status::no_orbit, out.failure = "none of the starts leads to an orbit";
        } else {
            orbits.push_back(find_orbit(model, first));
            if (!orbits[0].converged()) {
                out.status = orbits[0].status;
                out.failure = orbits[0].reason;
                orbits.clear();
            }
        }
    }
    Journal journal(options);
    for (const Orbit& orbit : orbits) {
        if (options.interrupted && options.interrupted()) break;
        follow_orbit(description, options, model, orbit, out, journal);
    }
    out.record = journal.take();
    if (options.interrupted && options.interrupted()) out.complete = false;
    return out;
}

}  // namespace saltus::orbit
