// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/orbit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "saltus/base/error.hpp"
#include "saltus/base/gauss.hpp"
#include "saltus/base/text.hpp"
#include "saltus/ensemble/parallel_for.hpp"
#include "saltus/integrate/course.hpp"
#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/resume.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/orbit/detail/impact_shooting.hpp"
#include "saltus/orbit/detail/measures.hpp"
#include "saltus/orbit/detail/parts.hpp"
#include "saltus/orbit/detail/return_map.hpp"
#include "saltus/orbit/detail/symmetry.hpp"
#include "saltus/stability/lyapunov_balance.hpp"

namespace saltus::orbit {

namespace {

/// Relative residual at which an orbit counts as found. Newton's method then usually goes on to rounding.
constexpr double accepted_residual = 1e-9;
/// Newton's method ends at once below this residual times max(1, |Φ'|), where Φ' is measured in the sizes of the
/// components: rounding of the motion, and of its start.
constexpr double rounding_residual = 1e-13;
/// A gap that is violated by more than this part of the size of the orbit is reported.
constexpr double admissible_violation = 1e-7;
/// How often a Newton step is halved before the search is given up.
constexpr int max_halvings = 10;

/// A position has returned if it differs by less than this part of its size.
constexpr double returned = 1e-7;

/// The largest entry of Φ' in the sizes of the components: rounding of the start grows by this factor.
double growth_of(const Matrix& slope, const Vector& size) {
    return (size.cwiseInverse().asDiagonal() * slope * size.asDiagonal()).cwiseAbs().maxCoeff();
}

/// The problem that Newton's method solves, and its iterate.
struct Search {
    const model::Model& model;
    const Options& options;
    ReturnMap map;
    std::optional<PhaseCondition> section;  ///< autonomous systems
    double t = 0.0;                         ///< time of the start
    Vector x;                               ///< state at the start
    double duration = 0.0;                  ///< of the orbit; of half of it with a symmetry
    Return found;                           ///< the motion from x
    Orbit orbit;
    std::vector<Eigen::Index> drifting{};  ///< positions that nothing depends on and that do not return
    Vector guess{};                        ///< state of the guess at t = 0, or on the section
    double guess_t = 0.0;                  ///< excited systems: time and state of the guess, one orbit later
    Vector guess_x{};
    Vector found_size{};                 ///< largest magnitudes of all components of the motion that was found
    bool grazes = false;                 ///< the motion of the guess nearly grazes an obstacle
    double guess_duration = 0.0;         ///< autonomous systems: the duration of the guess, in s
    std::optional<Parts> parts{};        ///< an orbit that was found in parts
    std::optional<Symmetry> symmetry{};  ///< the map is then that of half an orbit, followed by the symmetry

    /// Duration of the whole orbit.
    double whole() const { return symmetry ? 2.0 * duration : duration; }

    /// The return map, or that of half an orbit with a symmetry.
    Return mapped(double length, const Vector& from) const {
        Return r = map(t, from, length);
        if (symmetry && r.available()) symmetry->apply(r);
        return r;
    }

    /// Largest |Φ(x) − x| of a component that must return, relative to its size.
    double residual_of(const Return& r, const Vector& start, const Vector& size) const {
        Vector difference = (r.end - start).cwiseAbs().cwiseQuotient(size);
        for (const Eigen::Index j : drifting) difference(j) = 0.0;
        return difference.maxCoeff();
    }

    /// A position that nothing depends on has the unit vector as its column of Φ'. This is tested first, because the
    /// examination of the formulas takes longer than a motion.
    void find_drifting(const Vector& size) {
        constexpr double unit = 1e-9;
        drifting.clear();
        if (symmetry) return;
        std::vector<Eigen::Index> candidates;
        const Eigen::Index n = x.size() / 2;
        for (Eigen::Index j = 0; j < n; ++j) {
            const Vector column = found.slope.col(j) - Vector::Unit(2 * n, j);
            if (std::abs(found.end(j) - x(j)) > returned * size(j) &&
                (column.array().abs() * size(j) <= unit * size.array()).all())
                candidates.push_back(j);
        }
        if (candidates.empty()) return;
        const std::vector<Eigen::Index> free = free_positions(model);
        for (const Eigen::Index j : candidates)
            if (std::find(free.begin(), free.end(), j) != free.end()) drifting.push_back(j);
    }

    bool stop() const { return options.interrupted && options.interrupted(); }

    bool fail(Status status, std::string why) {
        orbit.status = stop() ? Status::interrupted : status;
        orbit.reason = std::move(why);
        return false;
    }

    /// The correction of x, and of the duration if the system is autonomous: Newton's equations
    ///     (Φ' − I) δx + f δT = x − Φ(x),   ∇s·δx = −s(x)
    /// in the sense of least squares, scaled by the size of the components.
    std::pair<Vector, double> correction(const Vector& size) const {
        const Eigen::Index m = x.size();
        const Eigen::Index extra = section ? 1 : 0;
        Matrix A = Matrix::Zero(m + extra, m + extra);
        Vector b = Vector::Zero(m + extra);
        A.topLeftCorner(m, m) = found.slope - Matrix::Identity(m, m);
        b.head(m) = x - found.end;
        for (Eigen::Index i = 0; i < m; ++i) A.row(i) /= size(i), b(i) /= size(i);
        for (const Eigen::Index j : drifting) {
            A.row(j) = Vector::Unit(m + extra, j).transpose() / size(j);
            b(j) = 0.0;
        }
        if (section) {
            A.col(m).head(m) = found.rate.cwiseQuotient(size) * duration;
            for (const Eigen::Index j : drifting) A(j, m) = 0.0;
            const Vector gradient = section->gradient(x);
            const double scale = std::max(gradient.cwiseAbs().dot(size), std::numeric_limits<double>::min());
            A.row(m).head(m) = gradient.transpose() / scale;
            b(m) = -section->value(x) / scale;
        }
        for (Eigen::Index i = 0; i < m; ++i) A.col(i) *= size(i);
        Vector step = least_squares(A, b);
        for (Eigen::Index i = 0; i < m; ++i) step(i) *= size(i);
        return {step.head(m), section ? step(m) * duration : 0.0};
    }

    /// Newton's method from (t, x, duration).
    bool solve() {
        found = mapped(duration, x);
        if (!found.available()) return fail(Status::no_orbit, found.failure);
        Vector size = sizes(found.motion);
        find_drifting(size);
        double residual = residual_of(found, x, size);
        orbit.residuals = {residual};
        for (int k = 0; k < options.max_iterations && residual > rounding(size); ++k) {
            if (stop()) return fail(Status::interrupted, "interrupted");
            const auto [dx, dT] = correction(size);
            double fraction = 1.0;
            bool better = false;
            for (int halving = 0; halving <= max_halvings && !better; ++halving, fraction *= 0.5) {
                const Vector next = x + fraction * dx;
                const double length = duration + fraction * dT;
                if (!next.allFinite() || !(length > 0.0)) continue;
                Return r = attempt(next, length);
                if (!r.available()) continue;
                const Vector new_size = sizes(r.motion);
                const double smaller = residual_of(r, next, new_size);
                if (!(smaller < residual)) continue;
                better = true;
                x = next, duration = length, found = std::move(r), size = new_size, residual = smaller;
            }
            if (!better) break;
            orbit.residuals.push_back(residual);
        }
        orbit.residual = residual;
        found_size = size;
        if (residual <= accepted_residual) return true;
        return fail(Status::no_orbit, "Newton's method stopped at the residual " + number_text(residual) +
                                          "; try another guess, or --settle");
    }

    /// Residuals below are rounding.
    double rounding(const Vector& size) const {
        return rounding_residual * std::max(1.0, growth_of(found.slope, size));
    }

    /// A state that penetrates an obstacle has no motion.
    Return attempt(const Vector& next, double length) const {
        try {
            return mapped(length, next);
        } catch (const Error& e) {
            Return none;
            none.failure = e.message();
            return none;
        }
    }
};

bool at_rest(const trajectory::Trajectory& motion) {
    return std::all_of(motion.end.u.begin(), motion.end.u.end(), [](double u) { return u == 0.0; }) &&
           (motion.events.empty() || motion.events.back().t < motion.end.t);
}

/// Sets start and duration of the search for an excited system.
bool prepare_excited(Search& s) {
    const double period = *s.options.period;
    s.duration = period * s.options.multiple;
    // The guess belongs to t = 0 of the period; settling takes whole periods.
    trajectory::State start = s.options.guess.value_or(trajectory::State{0.0, s.model.q0, s.model.u0});
    start.t = 0.0;
    double t = 0.0;
    Vector x = vector_of(start);
    if (s.options.settle > 0.0) {
        t = period * std::ceil(s.options.settle / period);
        const trajectory::Trajectory settled = s.map.motion(0.0, x, t);
        if (settled.status != trajectory::Status::completed)
            return s.fail(Status::no_orbit, "the motion from the guess ended early: " + settled.reason);
        x = vector_of(settled.end);
    }
    const trajectory::Trajectory first = s.map.motion(0.0, x, s.duration);
    if (first.status != trajectory::Status::completed)
        return s.fail(Status::no_orbit, "the motion from the guess ended early: " + first.reason);
    // The search begins one orbit later than the orbit that is reported; see describe_excited.
    const double calm = calm_time(first);
    s.guess = x;
    s.t = s.duration + calm;
    s.x = vector_of(first.right(calm));
    // Impacts near grazing amplify the error of the guess, so that its own start is better than a later one.
    s.guess_t = s.duration;
    s.guess_x = x;
    s.grazes = nearly_grazes(s.model, first);
    if (s.symmetry) s.duration *= 0.5;
    return true;
}

/// Sets start, duration and section of the search for an autonomous system.
bool prepare_autonomous(Search& s) {
    trajectory::State start = s.options.guess.value_or(trajectory::State{0.0, s.model.q0, s.model.u0});
    Vector x = vector_of(start);
    if (s.options.settle > 0.0) {
        const trajectory::Trajectory settled = s.map.motion(0.0, x, s.options.settle);
        if (settled.status != trajectory::Status::completed)
            return s.fail(Status::no_orbit, "the motion from the guess ended early: " + settled.reason);
        if (at_rest(settled))
            return s.fail(Status::rests, "the motion comes to rest before t = " + number_text(settled.end.t));
        x = vector_of(settled.end);
    }
    const double wait = s.options.search_time > 0.0 ? s.options.search_time
                        : s.options.settle > 0.0    ? s.options.settle
                                                    : s.model.settings->simulate.t_end.value_or(0.0);
    if (!(wait > 0.0))
        throw Error("the time in which the motion returns is not known", {"--settle", 0, 0}, "give --settle");
    const trajectory::Trajectory motion = s.map.motion(0.0, x, wait);
    if (motion.status != trajectory::Status::completed)
        return s.fail(Status::no_orbit, "the motion from the guess ended early: " + motion.reason);
    if (s.options.section.empty()) {
        const double t = calm_time(motion);
        s.section = plane_across(vector_of(motion.right(t)), rate_at(motion, t));
    } else {
        s.section = section_of(s.model, s.options.section);
    }
    const auto needed = static_cast<std::size_t>(s.options.multiple) + 1;
    const std::vector<Passage> list = last_passages(motion, *s.section, needed);
    if (list.size() < needed) {
        if (at_rest(motion))
            return s.fail(Status::rests, "the motion comes to rest before t = " + number_text(motion.end.t));
        return s.fail(Status::no_orbit, "the motion passes the section " + std::to_string(list.size()) +
                                            " times within " + number_text(wait) + " s; " + std::to_string(needed) +
                                            " are needed");
    }
    // The last returns are nearest to the orbit.
    const Passage& first = list[list.size() - needed];
    s.x = s.guess = first.x;
    s.duration = list.back().t - first.t;
    if (s.symmetry) s.duration *= 0.5;
    s.guess_duration = s.duration;
    return true;
}

/// Multipliers, stability, and the trivial multiplier of autonomous systems.
void judge_stability(Search& s) {
    Orbit& o = s.orbit;
    // A position that drifts is left out: nothing depends on it.
    std::vector<Eigen::Index> kept;
    for (Eigen::Index i = 0; i < s.x.size(); ++i)
        if (std::find(s.drifting.begin(), s.drifting.end(), i) == s.drifting.end()) kept.push_back(i);
    const Matrix slope = s.found.slope(kept, kept);
    for (const Eigen::Index j : s.drifting) {
        const std::string& name = s.model.coordinates[static_cast<std::size_t>(j)];
        o.drift.emplace_back(name, s.found.end(j) - s.x(j));
        o.remarks.push_back(name + " does not return: nothing depends on it, and it changes by " +
                            number_text(o.drift.back().second) + " in a period; its multiplier is left out");
    }
    const Multipliers found =
        s.parts ? multipliers_of(*s.parts, s.section.has_value()) : multipliers_of(slope, s.section.has_value());
    o.multipliers = found.values;
    if (s.symmetry)
        for (const std::complex<double>& m : o.multipliers) o.multipliers_full.push_back(m * m);
    o.trivial_error = found.trivial_error;
    o.unstable_count = found.outside;
    const bool unknown = !s.found.missing.empty() && !leaves_one_contact(s.found);
    const bool undecided = unknown || !s.found.one_sided.empty() || found.undecided;
    if (!s.found.one_sided.empty())
        o.remarks.push_back("the derivatives by " + listing(s.found.one_sided) +
                            " hold on one side only, so that the multipliers do not decide");
    if (unknown)
        o.remarks.push_back(
            "the derivatives by " + listing(s.found.missing) +
            " do not exist at the start, because the motion touches or sticks there; multipliers in these "
            "directions are not known");
    if (o.trivial_error && *o.trivial_error > 1e-6)
        o.remarks.push_back("the multiplier that must be 1 has the error " + number_text(*o.trivial_error));
    o.stability = o.unstable_count > 0 ? Stability::unstable : undecided ? Stability::undecided : Stability::stable;
}

/// The motion of the guess of an excited system: one orbit from the start of the search on.
trajectory::Trajectory motion_of_guess(const Search& s) {
    try {
        return s.map.motion(s.guess_t, s.guess_x, s.whole());
    } catch (const Error&) {  // the guess penetrates an obstacle
        trajectory::Trajectory none;
        none.status = trajectory::Status::failed;
        return none;
    }
}

/// Takes the start of the search from multiple shooting at the impacts (detail/impact_shooting.hpp). False if it finds
/// none.
bool improve_at_impacts(Search& s) {
    if (!s.options.period || s.symmetry || s.stop()) return false;
    const trajectory::Trajectory guess = motion_of_guess(s);
    if (guess.status != trajectory::Status::completed) return false;
    const std::optional<Vector> x =
        solve_at_impacts({s.model, s.map, s.options.max_iterations, s.options.interrupted}, guess);
    if (!x) return false;
    s.t = s.guess_t;
    s.x = *x;
    s.orbit.status = Status::no_orbit;
    s.orbit.reason.clear();
    return true;
}

/// Multiple shooting, where Newton's method for the whole period has failed. Excited orbits start at t = 0 of the
/// period.
bool find_in_parts(Search& s) {
    // Disturbances grow by less than this factor in each part.
    constexpr double growth_of_part = 100.0;
    constexpr int fewest = 4, most = 64;
    if (s.stop() || s.guess.size() == 0 || !s.found.available() || !s.drifting.empty()) return false;
    const double growth = growth_of(s.found.slope, sizes(s.found.motion));
    // Far from an orbit, and without growth that would explain it, parts do not help.
    constexpr double strong_growth = 1e3, near_an_orbit = 1e-2;
    if (growth < strong_growth && s.orbit.residual > near_an_orbit) return false;
    const double wanted = std::log(std::max(growth, 1.0)) / std::log(growth_of_part);
    const auto events = static_cast<double>(s.found.motion.events.size());
    const int count = std::clamp(static_cast<int>(std::ceil(std::max(wanted, events + 1.0))), fewest, most);
    const double duration =
        s.options.period ? *s.options.period * s.options.multiple * (s.symmetry ? 0.5 : 1.0) : s.guess_duration;
    const PartsProblem problem{
        s.map, s.symmetry, s.section, s.options.max_iterations, accepted_residual, s.options.interrupted};
    PartsSolution solution = solve_in_parts(problem, 0.0, s.guess, duration, count);
    if (!solution.failure.empty() || s.stop()) return false;
    Parts& parts = solution.parts;
    s.t = 0.0;
    s.x = parts.x[0];
    s.duration = parts.duration;
    Orbit& o = s.orbit;
    o.status = Status::converged;
    o.reason.clear();
    o.residuals = std::move(solution.residuals);
    o.residual = o.residuals.back();
    o.motion = joined_motion(problem, parts);
    if (o.motion.status == trajectory::Status::completed && !closes(o.motion)) return false;
    if (s.options.period && !parts_repeat(problem, parts, s.whole())) return false;
    Return& whole = s.found;
    whole = parts.r.back();
    for (std::size_t k = parts.r.size() - 1; k-- > 0;) {
        whole.slope = whole.slope * parts.r[k].slope;
        whole.missing.insert(whole.missing.end(), parts.r[k].missing.begin(), parts.r[k].missing.end());
        whole.one_sided.insert(whole.one_sided.end(), parts.r[k].one_sided.begin(), parts.r[k].one_sided.end());
    }
    whole.motion = o.motion;
    const std::size_t halves = s.symmetry ? 2 : 1;
    for (std::size_t half = 0; half < halves; ++half)
        for (std::size_t k = 0; k < parts.x.size(); ++k)
            o.parts.push_back(state_of(parts.start_of(k) + static_cast<double>(half) * parts.duration,
                                       half == 0 ? parts.x[k] : (*s.symmetry)(parts.x[k])));
    o.remarks.push_back("found in " + std::to_string(count) +
                        " parts: the largest derivative of the motion of one "
                        "period is " +
                        number_text(growth_of(whole.slope, parts.size)));
    s.parts = std::move(parts);
    return true;
}

/// The orbit of an excited system from t = 0 of the period on. The motion of the search, `later`, began at another time
/// of the period, one orbit later, so that both are equal only if the excitation has the period that was given. False
/// if they are not.
bool describe_excited(Search& s, const trajectory::Trajectory& later) {
    constexpr double equal = 1e-7;  // relative to the size of the components; errors of the motion are far below
    constexpr int samples = 50;
    const double period = *s.options.period, whole = s.whole();
    const double next = std::min(period * std::ceil(later.start.t / period), later.end.t);
    trajectory::Trajectory& motion = s.orbit.motion;
    motion = s.map.motion(0.0, vector_of(later.right(next)), whole);
    // An end that the motion does not reach is reported as a violation.
    if (motion.status != trajectory::Status::completed) return true;
    if (motion.events.size() != later.events.size()) return false;
    const Vector size = s.symmetry ? sizes(later) : s.found_size;
    const Eigen::Index n = size.size() / 2;
    for (int k = 0; k <= samples; ++k) {
        const double t = motion.sample_time(k, samples);
        const double there = next + t <= later.end.t ? next + t : next + t - whole;
        Vector difference =
            vector_of(motion.right(t)) - vector_of(later.right(std::clamp(there, later.start.t, later.end.t)));
        // A position that drifts has moved on by its drift where the other motion begins again.
        if (next + t > later.end.t)
            for (const Eigen::Index j : s.drifting) difference(j) -= s.found.end(j) - s.x(j);
        // A sample beside an impact may be before it in one motion and after it in the other: positions decide.
        if (difference.cwiseAbs().cwiseQuotient(size).head(n).maxCoeff() > equal) return false;
    }
    return true;
}

/// The events of the orbit, and whether it obeys the gaps.
void describe(Search& s) {
    Orbit& o = s.orbit;
    o.period = s.whole();
    o.state = o.motion.start;
    const double unit = s.section ? s.whole() : *s.options.period;
    const auto impact = std::find_if(o.motion.events.begin(), o.motion.events.end(), [](const trajectory::Event& e) {
        return e.kind == trajectory::EventKind::impact;
    });
    if (!o.motion.events.empty()) {
        const double t = (impact != o.motion.events.end() ? *impact : o.motion.events.front()).t - o.motion.start.t;
        o.phase = 2.0 * std::numbers::pi * std::fmod(t / unit, 1.0);
    }
    o.status = Status::converged;
    if (o.motion.status != trajectory::Status::completed) {
        o.status = Status::violates;
        o.reason = "the motion of one period: " + o.motion.reason;
    } else if (o.motion.violation.gap > 0.0 &&
               o.motion.violation.gap > admissible_violation * sizes(o.motion).head(s.model.size()).maxCoeff()) {
        o.status = Status::violates;
        o.reason = "a gap is violated by " + number_text(o.motion.violation.gap);
    }
}

}  // namespace

const char* to_string(Status status) {
    switch (status) {
        case Status::converged: return "converged";
        case Status::no_orbit: return "no orbit";
        case Status::rests: return "rests";
        case Status::violates: return "violates";
        case Status::interrupted: return "interrupted";
    }
    return "no orbit";
}

Orbit find_orbit(const model::Model& model, const Options& options) {
    if (!options.period && !model.autonomous)
        throw Error("the model depends on time, and the period of its excitation is not given", {"--period", 0, 0},
                    "give it, as in --period \"2*pi/w\"");
    if (options.period && !options.section.empty())
        throw Error("a section is for systems without a given period", {"--section", 0, 0},
                    "give --period or --section");
    Search s{model, options, ReturnMap(model, options.method, options.interrupted), {}, 0.0, {}, 0.0, {}, {}};
    s.orbit.multiple = options.multiple;
    if (!options.symmetry.empty()) s.symmetry = symmetry_of(model, options.symmetry);
    if (!(options.period ? prepare_excited(s) : prepare_autonomous(s))) return std::move(s.orbit);
    if (s.grazes) improve_at_impacts(s);
    if (!s.solve() && !(s.orbit.status == Status::no_orbit && improve_at_impacts(s) && s.solve())) {
        Orbit failed = s.orbit;
        if (failed.status != Status::no_orbit || !find_in_parts(s)) return failed;
        describe(s);
        judge_stability(s);
        return std::move(s.orbit);
    }
    // Small multipliers are not accurate if the largest derivatives are large: parts know them better.
    constexpr double accurate_growth = 1e6;
    if (s.drifting.empty() && growth_of(s.found.slope, s.found_size) > accurate_growth) {
        Search in_parts = s;
        const double next = options.period ? *options.period * std::ceil(s.t / *options.period) : s.t;
        in_parts.guess = vector_of(s.found.motion.right(std::min(next, s.found.motion.end.t)));
        in_parts.guess_duration = s.duration;
        if (find_in_parts(in_parts)) {
            describe(in_parts);
            judge_stability(in_parts);
            return std::move(in_parts.orbit);
        }
    }
    trajectory::Trajectory all;
    if (s.symmetry) {
        all = s.map.motion(s.t, s.x, s.whole());
        if (!closes(all)) {
            s.fail(Status::no_orbit,
                   "half of the motion is closed by the symmetry, and the whole motion is not: the model "
                   "does not have this symmetry");
            return std::move(s.orbit);
        }
    }
    if (!options.period) {
        s.orbit.motion = s.symmetry ? std::move(all) : s.found.motion;
    } else if (!describe_excited(s, s.symmetry ? all : s.found.motion)) {
        s.fail(Status::no_orbit, "the motion closes after " + number_text(s.whole()) +
                                     " s and then does not repeat: the excitation has another period");
        return std::move(s.orbit);
    }
    describe(s);
    judge_stability(s);
    return std::move(s.orbit);
}

namespace {

/// Appends the rows of a later part of a motion. Works count from the start of the first part.
void append_balance(const trajectory::LyapunovBalance& part, trajectory::LyapunovBalance& all) {
    using Balance = trajectory::LyapunovBalance;
    all.error = std::max(all.error, part.error);
    all.largest_increase = std::max(all.largest_increase, part.largest_increase);
    for (std::vector<double> Balance::*const column :
         {&Balance::t, &Balance::V, &Balance::damping, &Balance::friction, &Balance::springs, &Balance::impact_friction,
          &Balance::impact_restitution, &Balance::applied, &Balance::driven}) {
        const bool is_state = column == &Balance::t || column == &Balance::V;
        const double before = is_state || (all.*column).empty() ? 0.0 : (all.*column).back();
        for (const double value : part.*column) (all.*column).push_back(before + value);
    }
}

/// Adds the averages of a motion: energies and works, and the integrals of the forces.
void add_motion(const model::Model& model, const integrate::RecordedMotion& recorded, Averages& out) {
    const trajectory::Trajectory& motion = recorded.motion;
    const stability::ElementBalance balance = stability::balance_by_elements(model, motion, recorded.recording);
    append_balance(balance.balance, out.energy);
    if (out.elements.empty())
        for (const trajectory::Element& e : motion.elements) {
            out.elements.emplace_back();
            out.elements.back().name = e.name;
            out.elements.back().kind = e.kind;
        }
    for (std::size_t k = 0; k < motion.elements.size(); ++k) {
        out.elements[k].dissipated += balance.elements[k].taken;
        out.elements[k].supplied += balance.elements[k].driven;
    }
    // Integrals of the reactions over the arcs by Gauss's rule on each part of a step, and the impulses of all events.
    const auto add = [&](const trajectory::Reaction& r, double weight) {
        ElementAverage& e = out.elements[static_cast<std::size_t>(r.element)];
        e.force += r.N * weight;
        e.friction.resize(std::max(e.friction.size(), r.T.size()), 0.0);
        for (std::size_t i = 0; i < r.T.size(); ++i) e.friction[i] += r.T[i] * weight;
    };
    integrate::Course course(model, motion);
    const auto states = static_cast<int>(2 * motion.coordinates.size());
    std::vector<double> x;
    for (std::size_t a = 0; a < motion.arcs.size(); ++a) {
        const trajectory::Arc& arc = motion.arcs[a];
        course.enter(a);
        if (!course.has_reactions() && !arc.steps.empty()) out.forces_known = false;
        for (const ode::Dense& step : arc.steps) {
            x.resize(static_cast<std::size_t>(step.size()));
            for (const ode::StepPart part : ode::StepParts(step, arc.t_end))
                for (const GaussPoint& node : gauss_points(gauss_five_nodes, part.from, part.to)) {
                    step.evaluate(node.t, x.data(), states);
                    course.evaluate(node.t, x.data());
                    for (const trajectory::Reaction& r : course.reactions()) add(r, node.dt);
                }
        }
    }
    for (const trajectory::Event& e : motion.events)
        for (const trajectory::Reaction& r : e.impulses) {
            add(r, 1.0);
            out.elements[static_cast<std::size_t>(r.element)].impulse += r.N;
        }
}

}  // namespace

Averages averages_of(const model::Model& model, const Options& options, const Orbit& orbit) {
    Averages out;
    out.forces_known = true;
    integrate::EventDriven method = options.method;
    method.keep_arcs = true;
    const std::vector<trajectory::State> starts =
        orbit.parts.empty() ? std::vector<trajectory::State>{orbit.state} : orbit.parts;
    for (std::size_t k = 0; k < starts.size(); ++k) {
        integrate::Options run;
        run.start = starts[k];
        run.t_end = k + 1 < starts.size() ? starts[k + 1].t : orbit.motion.end.t;
        add_motion(model, integrate::simulate_recorded(model, method, run), out);
    }
    const double duration = orbit.motion.end.t - orbit.motion.start.t;
    for (ElementAverage& e : out.elements) {
        e.force = out.forces_known ? e.force / duration : 0.0;
        for (double& f : e.friction) f = out.forces_known ? f / duration : 0.0;
    }
    return out;
}

namespace {

/// Number k of the van der Corput sequence in a base, in (0, 1).
double spread(int k, int base) {
    double value = 0.0, digit = 1.0 / base;
    for (; k > 0; k /= base, digit /= base) value += digit * (k % base);
    return value;
}

/// The k-th prime number, for independent sequences of the components.
int prime(int k) {
    int p = 2;
    for (int found = 0;; ++p) {
        bool divided = false;
        for (int d = 2; d * d <= p && !divided; ++d) divided = p % d == 0;
        if (!divided && found++ == k) return p;
    }
}

/// Whether two orbits are the same motion, perhaps with another start: equal periods, multipliers, numbers of events
/// and ranges of all components. Ranges are sampled, and agree less well than the rest.
bool same(const Orbit& a, const Orbit& b) {
    constexpr double equal = 1e-6, equal_range = 1e-2;
    if (std::abs(a.period - b.period) > equal * a.period || a.motion.events.size() != b.motion.events.size())
        return false;
    for (std::size_t k = 0; k < a.multipliers.size() && k < b.multipliers.size(); ++k)
        if (std::abs(std::abs(a.multipliers[k]) - std::abs(b.multipliers[k])) >
            equal * (1.0 + std::abs(a.multipliers[0])))
            return false;
    const auto [low, high] = range_of(a.motion);
    const auto [other_low, other_high] = range_of(b.motion);
    const Vector size = sizes(a.motion) * equal_range;
    return ((low - other_low).cwiseAbs().array() <= size.array()).all() &&
           ((high - other_high).cwiseAbs().array() <= size.array()).all();
}

}  // namespace

std::vector<Orbit> find_orbits(const model::Model& model, const Options& options, int count) {
    const ReturnMap map(model, options.method, options.interrupted);
    const trajectory::State start = options.guess.value_or(trajectory::State{0.0, model.q0, model.u0});
    const double wait = options.settle > 0.0 ? options.settle
                        : options.period     ? 10.0 * *options.period * options.multiple
                                             : model.settings->simulate.t_end.value_or(1.0);
    const trajectory::Trajectory visit = map.motion(0.0, vector_of(start), wait);
    const auto [low, high] = range_of(visit);
    // Starts are independent; which of two equal orbits is listed is decided by their order.
    std::vector<std::optional<Orbit>> found(static_cast<std::size_t>(std::max(0, count)));
    ensemble::Options many;
    many.threads = options.threads;
    many.interrupted = options.interrupted;
    ensemble::parallel_for(
        found.size(),
        [&](std::size_t number) {
            const int k = static_cast<int>(number) + 1;
            Vector x(low.size());
            for (Eigen::Index i = 0; i < x.size(); ++i)
                x(i) = low(i) + (high(i) - low(i)) * spread(k, prime(static_cast<int>(i)));
            Options from_here = options;
            from_here.guess = state_of(0.0, x);
            from_here.settle = 0.0;
            from_here.search_time = wait;
            try {
                Orbit orbit = find_orbit(model, from_here);
                if (orbit.converged()) found[number] = std::move(orbit);
            } catch (const Error&) {  // a start that penetrates an obstacle
            }
        },
        many);
    std::vector<Orbit> orbits;
    for (std::optional<Orbit>& orbit : found)
        if (orbit && std::none_of(orbits.begin(), orbits.end(), [&](const Orbit& o) { return same(o, *orbit); }))
            orbits.push_back(std::move(*orbit));
    std::stable_sort(orbits.begin(), orbits.end(),
                     [](const Orbit& a, const Orbit& b) { return a.motion.energy.initial < b.motion.energy.initial; });
    return orbits;
}

}  // namespace saltus::orbit
