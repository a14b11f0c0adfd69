// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/gains/gain_solve.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <variant>

#include "saltus/base/text.hpp"

namespace saltus::control {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
const char* const remedy = "write --solve-for NAME, or --solve-for NAME=LOW:HIGH";

double number_from(const std::string& text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        throw Error("'" + text + "' is not a number", {"--solve-for", 0, 0}, remedy);
    return value;
}

/// The difference as a function of the unknown, with every value remembered.
class Search {
public:
    Search(const model::Description& description, const Unknown& unknown, const SolveOptions& options,
           const Target& target, GainSolution& out)
        : description_(description), unknown_(unknown), options_(options), target_(target), out_(out) {}

    /// One run; the trial is the last of the list.
    const SolveTrial& evaluate(double x) {
        SolveTrial trial;
        trial.value = x;
        try {
            const model::Model model = built(description_, options_.run, {unknown_.name}, {x});
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
                Statics statics(model, contacts(), stiffness());
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

    bool more() const { return !interrupted && out_.trials.size() < static_cast<std::size_t>(options_.most_runs); }

    bool interrupted = false;

private:
    ContactModel contacts() const {
        return std::holds_alternative<integrate::Penalty>(options_.run.method) ? ContactModel::springs
                                                                               : ContactModel::rigid;
    }
    double stiffness() const {
        const auto* const penalty = std::get_if<integrate::Penalty>(&options_.run.method);
        return penalty == nullptr ? 1.0 : penalty->stiffness;
    }

    const model::Description& description_;
    const Unknown& unknown_;
    const SolveOptions& options_;
    const Target& target_;
    GainSolution& out_;
    std::optional<double> best_;
};

struct Point {
    double x, f;
    std::optional<double> slope;
};

std::optional<Point> point(const SolveTrial& trial) {
    if (!trial.target) return {};
    return Point{trial.value, trial.target->difference, trial.derivative};
}

/// Values around the start, ever farther: by ratios on the side of its sign, then across zero; within the limits.
std::vector<double> ladder(double start, const Unknown& unknown) {
    std::vector<double> list;
    if (unknown.low && unknown.high) {  // the ends, then between them
        list = {*unknown.low, *unknown.high};
        for (const int n : {2, 4, 8, 16})
            for (int k = 1; k < n; k += 2) list.push_back(*unknown.low + (*unknown.high - *unknown.low) * k / n);
        return list;
    }
    const double size = start != 0.0 ? start : 1.0;
    for (const double ratio : {2.0, 8.0, 64.0, 1e3, 1e5, 1e8}) {
        list.push_back(size * ratio);
        list.push_back(size / ratio);
    }
    list.push_back(0.0);
    for (const double ratio : {1.0, 1e-2, 1e2}) list.push_back(-size * ratio);
    return list;
}

/// Two neighbours among the trials between which the difference changes its sign; the pair nearest to the start.
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

/// Newton's or the secant's step where it stays inside and the bracket shrinks fast enough, otherwise the middle.
double next(const Point& a, const Point& b, const std::optional<Point>& before, bool bisect) {
    const double middle = a.x != 0.0 && b.x != 0.0 && (a.x > 0.0) == (b.x > 0.0) && std::abs(b.x / a.x) > 16.0
                              ? std::copysign(std::sqrt(a.x) * std::sqrt(b.x), a.x)
                              : a.x + 0.5 * (b.x - a.x);
    if (bisect) return std::isfinite(middle) ? middle : a.x + 0.5 * (b.x - a.x);
    const Point& best = std::abs(a.f) < std::abs(b.f) ? a : b;
    double x = middle;
    if (best.slope && *best.slope != 0.0) {
        x = best.x - best.f / *best.slope;
    } else if (before && before->f != a.f && before->f != b.f && a.f != b.f) {  // through three points
        const Point& c = *before;
        x = a.x * b.f * c.f / ((a.f - b.f) * (a.f - c.f)) + b.x * a.f * c.f / ((b.f - a.f) * (b.f - c.f)) +
            c.x * a.f * b.f / ((c.f - a.f) * (c.f - b.f));
    } else if (a.f != b.f) {
        x = b.x - b.f * (b.x - a.x) / (b.f - a.f);
    }
    return x > std::min(a.x, b.x) && x < std::max(a.x, b.x) ? x : middle;
}

/// What rounding and the tolerances of motions leave of a difference.
double noise(const SolveTrial& trial, TargetAt at, double rtol) {
    const double size = std::max(std::abs(trial.target->left), std::abs(trial.target->left - trial.target->difference));
    return (at == TargetAt::steady ? 64.0 * eps : 1e-3 * rtol) * std::max(size, eps);
}

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

/// Newton's steps from the start while they come nearer; true when the target is met.
bool newton(Search& search, const Unknown& unknown, GainSolution& out) {
    for (int k = 0; k < 12 && search.more(); ++k) {
        const SolveTrial& last = out.trials.back();
        if (!last.target) return false;
        if (last.target->difference == 0.0) return true;
        const bool met = std::abs(out.reached.difference) <= noise(last, out.at, 0.0);
        if (!last.derivative || *last.derivative == 0.0) return met;
        if (k > 0 && last.value != out.value) return met;  // not nearer than before
        const double x = last.value - last.target->difference / *last.derivative;
        if ((unknown.low && x < *unknown.low) || (unknown.high && x > *unknown.high) || !std::isfinite(x)) return met;
        if (std::abs(x - last.value) <= eps * std::abs(x)) return true;
        search.evaluate(x);
    }
    return false;
}

/// Shrinks a bracket to rounding; says whether the difference vanishes there or jumps.
void shrink(Search& search, Point a, Point b, const SolveOptions& options, double rtol, GainSolution& out) {
    std::optional<Point> before;
    const double width = std::abs(b.x - a.x), height = std::abs(b.f - a.f);
    double last_width = width;
    int slow = 0;
    while (search.more()) {
        const double here = std::abs(b.x - a.x), least = 4.0 * eps * std::max(std::abs(a.x), std::abs(b.x));
        const double wanted = std::max(least, options.tolerance * std::max(std::abs(a.x), std::abs(b.x)));
        if (here <= wanted) break;
        slow = here > 0.5 * last_width ? slow + 1 : 0;
        last_width = here;
        double x = next(a, b, before, slow >= 3);
        if (slow >= 3) slow = 0;
        // Steps that end next to one side leave the other where it is: go a little beyond.
        const double margin = 0.25 * wanted;
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
    // A continuous difference has shrunk with the bracket; one that jumps has not.
    const bool jumps = std::abs(b.f - a.f) > 1e3 * height * std::max(std::abs(b.x - a.x) / width, 1e-9) &&
                       std::abs(b.f - a.f) > 1e-6 * height;
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
    if (unknown.name.empty()) throw Error("'" + text + "' names nothing", {"--solve-for", 0, 0}, remedy);
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

GainSolution solve_for(const model::Description& description, const Unknown& unknown, const std::string& target_text,
                       const SolveOptions& options) {
    for (const auto& [name, value] : options.run.build.set)
        if (name == unknown.name)
            throw Error("'" + name + "' is both set and solved for", {"--solve-for", 0, 0}, "drop one of the two");
    const model::Model nominal = model::build(description, options.run.build);
    const auto found = std::find_if(nominal.parameters.begin(), nominal.parameters.end(),
                                    [&](const model::Parameter& p) { return p.name == unknown.name; });
    if (found == nominal.parameters.end()) {
        std::vector<std::string> names;
        for (const model::Parameter& p : nominal.parameters) names.push_back(p.name);
        throw Error("the model has no parameter '" + unknown.name + "'", {"--solve-for", 0, 0},
                    did_you_mean(unknown.name, names));
    }
    const Target target(target_text, nominal);
    GainSolution out;
    out.model = nominal.name;
    out.unknown = unknown.name;
    out.target = target_text;
    out.coordinates = nominal.coordinates;
    out.elements = element_names(nominal);
    out.constraints = nominal.constraints.size();
    out.at = options.at.value_or(target.natural());
    const ContactModel contacts =
        std::holds_alternative<integrate::Penalty>(options.run.method) ? ContactModel::springs : ContactModel::rigid;
    if (const std::string why = statics_refusal(nominal, contacts); out.at == TargetAt::steady && !why.empty()) {
        if (options.at) throw Error("there is no steady state to take: " + why, {"--at", 0, 0}, "take --at end");
        out.at = TargetAt::end;
    }
    double rtol = 1e-9;
    if (const auto* m = std::get_if<integrate::EventDriven>(&options.run.method)) rtol = m->rtol;
    if (const auto* m = std::get_if<integrate::Penalty>(&options.run.method)) rtol = m->rtol;

    Search search(description, unknown, options, target, out);
    double start = found->value;
    if (unknown.low) start = std::clamp(start, *unknown.low, *unknown.high);
    search.evaluate(start);
    if (newton(search, unknown, out)) {
        out.status = SolveStatus::solved;
        note_range(out);
        return out;
    }
    std::optional<std::pair<Point, Point>> bracket = sign_change(out.trials, start);
    for (const double x : ladder(start, unknown)) {
        if (bracket || !search.more()) break;
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
                     " to " + number_text(out.target_high) + " and never crosses the right side";
    return out;
}

}  // namespace saltus::control
