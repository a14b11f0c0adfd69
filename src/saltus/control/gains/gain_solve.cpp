// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/gains/gain_solve.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <variant>

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/ensemble/model_maker.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"

namespace saltus::control {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

// What rounding leaves of a difference, relative to its two sides.
constexpr double steady_noise = 64.0 * eps;     ///< at an equilibrium, which is solved to rounding
constexpr double motion_noise_per_rtol = 1e-3;  ///< at the end of a motion, times the tolerance of the integration
constexpr double default_rtol = 1e-9;           ///< of methods without a tolerance

constexpr int max_newton_steps = 12;
constexpr double geometric_ratio = 16.0;  ///< a bracket whose ends have a larger ratio is bisected geometrically
constexpr int slow_steps = 3;  ///< after this number of steps in a row without halving the bracket: bisection
constexpr double least_width = 4.0 * eps;  ///< of the bracket, relative: neighbouring numbers
constexpr double margin_of_width = 0.25;   ///< least distance of a step from the ends, relative to the wanted width

// The difference jumps if, in the final bracket, its change is more than jump_factor times the share of its first
// change that belongs to the width of the bracket (at least least_width_share), and more than least_jump of its first
// change.
constexpr double jump_factor = 1e3, least_width_share = 1e-9, least_jump = 1e-6;

const char* const remedy = "write --solve-for NAME, or --solve-for NAME=LOW:HIGH";

double number_from(const std::string& text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        throw Error("'" + text + "' is not a number", {"--solve-for", 0, 0}, remedy);
    return value;
}

/// The difference of the target as a function of the unknown. Every trial is recorded, the best one becomes the result.
class Search {
public:
    Search(const model::Description& description, const Unknown& unknown, const SolveOptions& options,
           const Target& target, GainSolution& out)
        : description_(description), unknown_(unknown), options_(options), target_(target), out_(out) {}

    /// Makes one run and appends the trial. The reference is valid until the next call.
    const SolveTrial& evaluate(double x) {
        SolveTrial trial;
        trial.value = x;
        try {
            const model::Model model =
                ensemble::ModelMaker(description_, options_.run.build, {unknown_.name}).at(std::array{x});
            StudiedRun run = studied_run(model, options_.run, {x});
            if (!run.done) interrupted = true;
            trial.target = target_.value(model, run.measures, out_.at);
            if (!trial.target) {
                trial.refused =
                    run.measures.status != trajectory::Status::completed
                        ? std::string(trajectory::to_string(run.measures.status)) + ": " + run.measures.reason
                    : out_.at == TargetAt::steady && !run.measures.steady.found ? run.measures.steady.reason
                    : !run.measures.not_settled.empty()                         ? run.measures.not_settled
                                                                                : "the target is not a number";
            } else if (out_.at == TargetAt::steady) {
                Statics statics(model, contacts_of(options_.run.method), stiffness_of(options_.run.method));
                trial.derivative = target_.steady_derivative(model, run.measures, statics, unknown_.name);
            }
            if (trial.target && (!best_ || std::abs(trial.target->difference) < *best_)) {
                best_ = std::abs(trial.target->difference);
                out_.run = std::move(run);
                out_.value = x;
                out_.reached = *trial.target;
                out_.derivative = trial.derivative;
            }
        } catch (const Error& e) {
            trial.refused = e.message();
        }
        out_.trials.push_back(std::move(trial));
        return out_.trials.back();
    }

    /// Further runs are allowed.
    bool may_continue() const {
        return !interrupted && out_.trials.size() < static_cast<std::size_t>(options_.max_runs);
    }

    bool interrupted = false;

private:
    const model::Description& description_;
    const Unknown& unknown_;
    const SolveOptions& options_;
    const Target& target_;
    GainSolution& out_;
    std::optional<double> best_;  ///< least |difference| so far
};

/// A trial with a value: difference f and its slope at x.
struct Point {
    double x, f;
    std::optional<double> slope;
};

std::optional<Point> point(const SolveTrial& trial) {
    if (!trial.target) return {};
    return Point{trial.value, trial.target->difference, trial.derivative};
}

/// The values at which a sign change is searched. Within limits: the ends, then ever finer divisions. Without:
/// multiples and fractions of the start by growing ratios, then zero and the other sign. Multiples end at a thousand:
/// motions with far larger gains can take very long, and a range says which of them are wanted.
std::vector<double> search_values(double start, const Unknown& unknown) {
    std::vector<double> list;
    if (unknown.low && unknown.high) {
        list = {*unknown.low, *unknown.high};
        for (const int n : {2, 4, 8, 16})
            for (int k = 1; k < n; k += 2) list.push_back(*unknown.low + (*unknown.high - *unknown.low) * k / n);
        return list;
    }
    const double size = start != 0.0 ? start : 1.0;
    for (const double ratio : {2.0, 8.0, 64.0, 1e3, 1e5, 1e8}) {
        if (ratio <= 1e3) list.push_back(size * ratio);
        list.push_back(size / ratio);
    }
    list.push_back(0.0);
    constexpr std::array<double, 3> ratios_across_zero{1.0, 1e-2, 1e2};
    for (const double ratio : ratios_across_zero) list.push_back(-size * ratio);
    return list;
}

/// The two neighbouring trials, in the order of x, between which the difference changes its sign; of several pairs the
/// one nearest to the start.
std::optional<std::pair<Point, Point>> sign_change(const std::vector<SolveTrial>& trials, double start) {
    std::vector<Point> points;
    for (const SolveTrial& t : trials)
        if (const auto p = point(t)) points.push_back(*p);
    std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
    std::optional<std::pair<Point, Point>> best;
    double nearest = 0.0;
    for (std::size_t k = 1; k < points.size(); ++k) {
        const Point &a = points[k - 1], &b = points[k];
        if ((a.f > 0.0) == (b.f > 0.0)) continue;
        const double away = std::max({0.0, a.x - start, start - b.x});
        if (best && away >= nearest) continue;
        best = {a, b};
        nearest = away;
    }
    return best;
}

/// The middle of a bracket: geometric if its ends are of different orders of magnitude, otherwise arithmetic.
double middle_of(const Point& a, const Point& b) {
    return a.x != 0.0 && b.x != 0.0 && (a.x > 0.0) == (b.x > 0.0) && std::abs(b.x / a.x) > geometric_ratio
               ? std::copysign(std::sqrt(a.x) * std::sqrt(b.x), a.x)
               : a.x + 0.5 * (b.x - a.x);
}

/// The bisection step; the arithmetic middle if the geometric one is not a number.
double bisection_step(const Point& a, const Point& b) {
    const double middle = middle_of(a, b);
    return std::isfinite(middle) ? middle : a.x + 0.5 * (b.x - a.x);
}

/// Newton's step from the better end if its slope is known; otherwise inverse quadratic interpolation through the ends
/// and the point before, otherwise the secant. A step that leaves the bracket is replaced by the middle.
double fast_step(const Point& a, const Point& b, const std::optional<Point>& before) {
    const double middle = middle_of(a, b);
    const Point& best = std::abs(a.f) < std::abs(b.f) ? a : b;
    double x = middle;
    if (best.slope && *best.slope != 0.0) {
        x = best.x - best.f / *best.slope;
    } else if (before && before->f != a.f && before->f != b.f && a.f != b.f) {
        const Point& c = *before;
        x = a.x * b.f * c.f / ((a.f - b.f) * (a.f - c.f)) + b.x * a.f * c.f / ((b.f - a.f) * (b.f - c.f)) +
            c.x * a.f * b.f / ((c.f - a.f) * (c.f - b.f));
    } else if (a.f != b.f) {
        x = b.x - b.f * (b.x - a.x) / (b.f - a.f);
    }
    return x > std::min(a.x, b.x) && x < std::max(a.x, b.x) ? x : middle;
}

/// A difference of at most this is rounding or the error of the integration: the target is met.
double noise(const SolveTrial& trial, TargetAt at, double rtol) {
    const double size = std::max(std::abs(trial.target->left), std::abs(trial.target->left - trial.target->difference));
    return (at == TargetAt::steady ? steady_noise : motion_noise_per_rtol * rtol) * std::max(size, eps);
}

/// Fills in the ranges of the unknown and of the left side over all trials.
void note_range(GainSolution& out) {
    bool first = true;
    for (const SolveTrial& t : out.trials) {
        if (!t.target) continue;
        out.explored_low = first ? t.value : std::min(out.explored_low, t.value);
        out.explored_high = first ? t.value : std::max(out.explored_high, t.value);
        out.target_low = first ? t.target->left : std::min(out.target_low, t.target->left);
        out.target_high = first ? t.target->left : std::max(out.target_high, t.target->left);
        first = false;
    }
}

/// Newton's steps from the last trial as long as each comes nearer. Returns whether the target is met.
bool newton(Search& search, const Unknown& unknown, GainSolution& out) {
    for (int k = 0; k < max_newton_steps && search.may_continue(); ++k) {
        const SolveTrial& last = out.trials.back();
        if (!last.target) return false;
        if (last.target->difference == 0.0) return true;
        const bool met = std::abs(out.reached.difference) <= noise(last, out.at, 0.0);
        if (!last.derivative || *last.derivative == 0.0) return met;
        if (k > 0 && last.value != out.value) return met;  // the last step did not come nearer
        const double x = last.value - last.target->difference / *last.derivative;
        if ((unknown.low && x < *unknown.low) || (unknown.high && x > *unknown.high) || !std::isfinite(x)) return met;
        if (std::abs(x - last.value) <= eps * std::abs(x)) return true;
        search.evaluate(x);
    }
    return false;
}

/// Shrinks a bracket [a, b] of a sign change to the tolerance. A difference that has not shrunk with the bracket jumps
/// there; otherwise the target is solved.
void shrink(Search& search, Point a, Point b, const SolveOptions& options, double rtol, GainSolution& out) {
    std::optional<Point> before;
    const double width = std::abs(b.x - a.x), height = std::abs(b.f - a.f);
    double last_width = width;
    int slow = 0;
    while (search.may_continue()) {
        const double here = std::abs(b.x - a.x), least = least_width * std::max(std::abs(a.x), std::abs(b.x));
        const double wanted = std::max(least, options.tolerance * std::max(std::abs(a.x), std::abs(b.x)));
        if (here <= wanted) break;
        slow = here > 0.5 * last_width ? slow + 1 : 0;
        last_width = here;
        double x = slow >= slow_steps ? bisection_step(a, b) : fast_step(a, b, before);
        if (slow >= slow_steps) slow = 0;
        // Steps that end next to one side would leave the other where it is. A step a little further encloses the root
        // from both sides.
        const double margin = margin_of_width * wanted;
        if (std::abs(x - a.x) < margin) x = a.x + std::copysign(margin, b.x - a.x);
        if (std::abs(x - b.x) < margin) x = b.x + std::copysign(margin, a.x - b.x);
        const SolveTrial& trial = search.evaluate(x);
        const std::optional<Point> p = point(trial);
        if (!p) {
            out.status = SolveStatus::failed;
            out.reason = "with " + out.unknown + " = " + number_text(x) + ": " + trial.refused;
            return;
        }
        if (std::abs(p->f) <= noise(trial, out.at, rtol)) {
            out.status = SolveStatus::solved;
            out.bracket = {std::min(a.x, b.x), std::max(a.x, b.x)};
            return;
        }
        if ((p->f > 0.0) == (a.f > 0.0)) {
            before = a;
            a = *p;
        } else {
            before = b;
            b = *p;
        }
    }
    out.bracket = {std::min(a.x, b.x), std::max(a.x, b.x)};
    if (search.interrupted) {
        out.status = SolveStatus::interrupted;
        return;
    }
    const double change = std::abs(b.f - a.f);
    const bool jumps = change > jump_factor * height * std::max(std::abs(b.x - a.x) / width, least_width_share) &&
                       change > least_jump * height;
    out.status = jumps ? SolveStatus::jump : SolveStatus::solved;
    if (jumps)
        out.reason = "the left side jumps over the target between " + out.unknown + " = " + number_text(a.x) + " and " +
                     number_text(b.x);
}

}  // namespace

const char* to_string(SolveStatus status) {
    switch (status) {
        case SolveStatus::solved: return "solved";
        case SolveStatus::jump: return "jump";
        case SolveStatus::unreachable: return "unreachable";
        case SolveStatus::failed: return "failed";
        case SolveStatus::interrupted: return "interrupted";
    }
    return "";
}

Unknown unknown_from_text(const std::string& text) {
    Unknown unknown;
    const std::size_t equals = text.find('=');
    unknown.name = text.substr(0, equals);
    if (unknown.name.empty()) throw Error("'" + text + "' names no parameter", {"--solve-for", 0, 0}, remedy);
    if (equals == std::string::npos) return unknown;
    const std::string range = text.substr(equals + 1);
    const std::size_t colon = range.find(':');
    if (colon == std::string::npos) throw Error("'" + range + "' is not a range", {"--solve-for", 0, 0}, remedy);
    unknown.low = number_from(range.substr(0, colon));
    unknown.high = number_from(range.substr(colon + 1));
    if (!(*unknown.low < *unknown.high))
        throw Error("the range '" + range + "' must ascend", {"--solve-for", 0, 0}, remedy);
    return unknown;
}

namespace {

/// The parameter of the nominal model that is to be found. Throws Error if there is none, or if it is also set.
const model::Parameter& parameter_of(const model::Model& nominal, const Unknown& unknown, const SolveOptions& options) {
    for (const auto& [name, value] : options.run.build.set)
        if (name == unknown.name)
            throw Error("'" + name + "' is both set and solved for", {"--solve-for", 0, 0}, "drop one of the two");
    const auto found = std::find_if(nominal.settings->parameters.begin(), nominal.settings->parameters.end(),
                                    [&](const model::Parameter& p) { return p.name == unknown.name; });
    if (found == nominal.settings->parameters.end()) {
        std::vector<std::string> names;
        for (const model::Parameter& p : nominal.settings->parameters) names.push_back(p.name);
        throw Error("the model has no parameter '" + unknown.name + "'", {"--solve-for", 0, 0},
                    did_you_mean(unknown.name, names));
    }
    return *found;
}

double tolerance_of(const integrate::Method& method) {
    if (const auto* m = std::get_if<integrate::EventDriven>(&method)) return m->rtol;
    if (const auto* m = std::get_if<integrate::Penalty>(&method)) return m->rtol;
    return default_rtol;
}

}  // namespace

GainSolution solve_for(const model::Description& description, const Unknown& unknown, const std::string& target_text,
                       const SolveOptions& options) {
    const model::Model nominal = model::build(description, options.run.build);
    const model::Parameter& parameter = parameter_of(nominal, unknown, options);
    const Target target(target_text, nominal);
    GainSolution out;
    out.model = nominal.name;
    out.unknown = unknown.name;
    out.target = target_text;
    out.coordinates = nominal.coordinates;
    out.elements = element_names(nominal);
    out.constraints = nominal.constraints.size();
    out.at = options.at.value_or(target.natural());
    const ContactModel contacts = contacts_of(options.run.method);
    if (const std::string why = statics_refusal(nominal, contacts); out.at == TargetAt::steady && !why.empty()) {
        if (options.at) throw Error("there is no steady state: " + why, {"--at", 0, 0}, "take --at end");
        out.at = TargetAt::end;
    }
    const double rtol = tolerance_of(options.run.method);

    Search search(description, unknown, options, target, out);
    double start = parameter.value;
    if (unknown.low) start = std::clamp(start, *unknown.low, *unknown.high);
    search.evaluate(start);
    if (newton(search, unknown, out)) {
        out.status = SolveStatus::solved;
        note_range(out);
        return out;
    }
    std::optional<std::pair<Point, Point>> bracket = sign_change(out.trials, start);
    for (const double x : search_values(start, unknown)) {
        if (bracket || !search.may_continue()) break;
        search.evaluate(x);
        bracket = sign_change(out.trials, start);
        const SolveTrial& last = out.trials.back();
        if (last.target && std::abs(last.target->difference) <= noise(last, out.at, rtol)) {
            out.status = SolveStatus::solved;
            note_range(out);
            return out;
        }
    }
    if (bracket) {
        shrink(search, bracket->first, bracket->second, options, rtol, out);
    } else if (search.interrupted) {
        out.status = SolveStatus::interrupted;
    } else if (std::isnan(out.value)) {
        out.status = SolveStatus::failed;
        out.reason = out.trials.front().refused;
    } else {
        out.status = SolveStatus::unreachable;
    }
    note_range(out);
    if (out.status == SolveStatus::unreachable)
        out.reason = "with " + out.unknown + " from " + number_text(out.explored_low) + " to " +
                     number_text(out.explored_high) + " the left side ranges from " + number_text(out.target_low) +
                     " to " + number_text(out.target_high) + " and never crosses the right side" +
                     (unknown.low ? "" : "; other values can be given as a range, --solve-for NAME=LOW:HIGH");
    return out;
}

}  // namespace saltus::control
