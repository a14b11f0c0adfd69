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
#include "saltus/integrate/course.hpp"
#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/event/repeated_runs.hpp"
#include "saltus/integrate/resume.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/orbit/detail/measures.hpp"
#include "saltus/orbit/detail/parts.hpp"
#include "saltus/orbit/detail/return_map.hpp"
#include "saltus/orbit/detail/shooting.hpp"
#include "saltus/orbit/detail/symmetry.hpp"
#include "saltus/orbit/detail/translations.hpp"
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

/// The problem that is solved, and its iterate.
struct Search {
    const model::Model& model;
    const Options& options;
    ReturnMap map;
    std::optional<PhaseCondition> section;  ///< autonomous systems: condition of the start of the search
    double t = 0.0;                         ///< time of the start
    Vector x;                               ///< state at the start
    double duration = 0.0;                  ///< of the orbit; of half of it with a symmetry
    Return found;                           ///< the motion from x
    Orbit orbit;
    Translations translations{};    ///< of the model; with a symmetry, those that it takes to each other
    Closing closing{};              ///< the translations up to which the orbit closes
    bool translations_hold = true;  ///< false: the derivatives of the motion contradict the translations
    Vector guess{};                 ///< state of the guess at t = 0, or on the section
    double guess_duration = 0.0;    ///< autonomous systems: the duration of the guess, in s
    std::string rest{};             ///< where the motion from the guess comes to rest; empty: it does not
    std::optional<PhaseCondition>
        wanted{};                        ///< a section on which the orbit is to begin, if the search begins elsewhere
    Vector found_size{};                 ///< largest magnitudes of all components of the motion that was found
    std::optional<Parts> parts{};        ///< an orbit that was found in parts
    std::optional<Symmetry> symmetry{};  ///< the map is then that of half an orbit, followed by the symmetry
    Vector visited{};                    ///< largest magnitudes of all components before the search
    /// A closed motion that obeys its order of events but violates a law: which one, and the motion.
    std::string violation{};
    Orbit inadmissible{};

    /// Duration of the whole orbit.
    double whole() const { return symmetry ? 2.0 * duration : duration; }

    /// The return map, or that of half an orbit with a symmetry.
    Return mapped(double length, const Vector& from) const {
        Return r = map(t, from, length);
        if (symmetry && r.available()) symmetry->apply(r);
        return r;
    }

    /// Largest |Φ(x) − x| of a component, relative to its size, up to translations.
    double residual_of(const Return& r, const Vector& start, const Vector& size) const {
        return (closing.back(r.end, start) - start).cwiseAbs().cwiseQuotient(size).maxCoeff();
    }

    /// Decides by which translation the orbit closes: the one that is nearest to what the guess does.
    void set_closing(const Vector& end, const Vector& start) {
        closing = translations.empty() ? Closing() : Closing(translations, translations.nearest_shift(end - start));
    }

    /// A difference of states up to translations.
    Vector modulo(Vector difference) const {
        return translations.empty() ? difference : translations.reduced(std::move(difference));
    }

    /// The plane across the motion through a state, for the phase condition. Its normal is zero for the pivots, whose
    /// start stays in any case.
    PhaseCondition plane_across_motion(const Vector& at, const Vector& rate) const {
        return plane_across(at, translations.empty() ? rate : Closing(translations, {}).reduced(rate));
    }

    /// A level through a state that the motion passes again after a return, although it drifts. None if everything else
    /// stands still.
    std::optional<PhaseCondition> level_through(const Vector& at, const Vector& rate, const Vector& size) const {
        if (translations.empty()) return level_across(at, rate, size);
        const Eigen::Index n = at.size() / 2;
        Vector other = rate;
        for (Eigen::Index i = 0; i < n; ++i)
            if ((translations.directions.row(i).array() != 0.0).any() ||
                (translations.lattice.row(i).array() != 0.0).any())
                other(i) = 0.0;
        // All else stands still if its relative rates are at most this times the largest relative rate.
        constexpr double standing = 1e-9;
        if (other.cwiseQuotient(size).cwiseAbs().maxCoeff() > standing * rate.cwiseQuotient(size).cwiseAbs().maxCoeff())
            return level_across(at, other, size);
        // Velocities are constant at this moment. An angle that grows passes a level once in every turn.
        for (Eigen::Index j = 0; j < translations.lattice.cols(); ++j)
            for (Eigen::Index i = 0; i < n; ++i) {
                const double turn = translations.lattice(i, j);
                if ((translations.lattice.row(i).array() != 0.0).count() != 1 || turn == 0.0 ||
                    (translations.directions.row(i).array() != 0.0).any() || rate(i) == 0.0)
                    continue;
                PhaseCondition out;
                const double frequency = 2.0 * std::numbers::pi / turn * (rate(i) * turn < 0.0 ? -1.0 : 1.0);
                const double level = at(i);
                const Eigen::Index count = at.size();
                out.value = [=](const Vector& y) { return std::sin(frequency * (y(i) - level)); };
                out.gradient = [=](const Vector& y) {
                    return Vector(frequency * std::cos(frequency * (y(i) - level)) * Vector::Unit(count, i));
                };
                return out;
            }
        return std::nullopt;
    }

    /// Moves a guess by a translation: a position that has drifted far has lost digits. The pivots get their values of
    /// `like`, angles become small. A section that changes by this keeps the guess as it is.
    Vector moved_near(const Vector& state, const Vector& like) const {
        if (translations.empty()) return state;
        Vector near = Closing(translations, {}).back(state, like);
        const Vector shift = translations.nearest_shift(near);
        near.head(shift.size()) -= shift;
        if (options.section.empty()) return near;
        const PhaseCondition given = section_modulo(model, options.section, translations);
        constexpr double same = 1e-9;  // the section has the same value if it changes by at most this part of its terms
        const double scale = given.gradient(state).cwiseAbs().dot(state.cwiseAbs()) + std::abs(given.value(state));
        return std::abs(given.value(near) - given.value(state)) <= same * scale ? near : state;
    }

    bool stop() const { return options.interrupted && options.interrupted(); }

    /// Notes how large the components of a motion are.
    void visit(const trajectory::Trajectory& motion) {
        const auto [low, high] = range_of(motion);
        const Vector size = low.cwiseAbs().cwiseMax(high.cwiseAbs());
        visited = visited.size() == 0 ? size : Vector(visited.cwiseMax(size));
    }

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
        // The rows of the pivots of translations become those of the unit matrix: these positions stay.
        A.topLeftCorner(m, m) = closing.reduced(found.slope) - Matrix::Identity(m, m);
        b.head(m) = x - closing.back(found.end, x);
        for (Eigen::Index i = 0; i < m; ++i) A.row(i) /= size(i), b(i) /= size(i);
        if (section) {
            A.col(m).head(m) = closing.reduced(found.rate).cwiseQuotient(size) * duration;
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

    /// Newton's method for the return map, from (t, x, duration).
    bool solve() {
        const PeriodRange durations(duration);
        found = mapped(duration, x);
        if (!found.available()) return fail(Status::no_orbit, found.failure);
        Vector size = sizes(found.motion);
        set_closing(found.end, x);
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
                if (!next.allFinite() || !durations.contains(length)) continue;
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

    /// The problem of multiple shooting. It refers to this object.
    ShootingProblem shooting(const Vector& size) const {
        ShootingProblem p;
        p.method = options.method;
        std::shared_ptr<const model::Model> fixed(std::shared_ptr<const void>(), &model);
        p.model = [fixed](double) { return fixed; };
        if (options.period) {
            const double length = duration;
            p.duration = [length](const model::Model&) { return std::pair{length, 0.0}; };
        }
        p.symmetry = symmetry ? &*symmetry : nullptr;
        p.closing = closing;
        p.phase = section;
        p.size = size;
        p.max_iterations = options.max_iterations;
        p.interrupted = options.interrupted;
        return p;
    }
};

/// A state in words, as a place at which a motion rests.
std::string place_of(const model::Model& model, const std::vector<double>& q) {
    constexpr std::size_t most = 6;  // coordinates that are named
    std::string text;
    constexpr double rounding = 1e-14;  // a smaller |q_i| is written as 0
    for (std::size_t i = 0; i < q.size() && i < most; ++i)
        text += (i == 0 ? "at " : ", ") + model.coordinates[i] + " = " +
                number_text(std::abs(q[i]) < rounding ? 0.0 : q[i]);
    return q.size() > most ? text + ", ..." : text;
}

bool at_rest(const trajectory::Trajectory& motion) {
    return std::all_of(motion.end.u.begin(), motion.end.u.end(), [](double u) { return u == 0.0; }) &&
           (motion.events.empty() || motion.events.back().t < motion.end.t);
}

std::string why_it_rests(const Search& s, const trajectory::Trajectory& motion) {
    return "the motion comes to rest before t = " + number_text(motion.end.t) + ", " + place_of(s.model, motion.end.q);
}

bool come_to_rest(Search& s, const trajectory::Trajectory& motion) {
    return s.fail(Status::rests, why_it_rests(s, motion));
}

/// Whether no component of a motion changes, compared with the motion before the search.
bool has_no_amplitude(const Search& s, const trajectory::Trajectory& motion) {
    // A component does not change if its range is at most this part of its size in the motion before the search.
    constexpr double negligible = 1e-9;
    const auto [low, high] = range_of(motion);
    const Eigen::Index n = low.size() / 2;
    for (Eigen::Index i = 0; i < n; ++i) {
        const double speed = std::max(-low(n + i), high(n + i));
        const double before = s.visited.size() > 0 ? s.visited(i) : 0.0;
        const double speed_before = s.visited.size() > 0 ? s.visited(n + i) : 0.0;
        if (high(i) - low(i) > negligible * before || speed > negligible * speed_before) return false;
    }
    return true;
}

/// Sets start and duration of the search for an excited system. The search begins one orbit later than the orbit that
/// is reported; see describe_excited.
bool prepare_excited(Search& s) {
    const double period = *s.options.period;
    s.duration = period * s.options.multiple;
    // The guess belongs to t = 0 of the period; settling takes whole periods.
    trajectory::State start = s.options.guess.value_or(trajectory::State{0.0, s.model.q0, s.model.u0});
    start.t = 0.0;
    s.x = vector_of(start);
    if (s.options.settle > 0.0) {
        const trajectory::Trajectory settled = s.map.motion(0.0, s.x, period * std::ceil(s.options.settle / period));
        if (settled.status != trajectory::Status::completed)
            return s.fail(Status::no_orbit, "the motion from the guess ended early: " + settled.reason);
        s.visit(settled);
        s.x = s.moved_near(vector_of(settled.end), s.x);
    }
    s.guess = s.x;
    s.t = s.duration;
    if (s.symmetry) s.duration *= 0.5;
    return true;
}

/// The middle of the last arc with the fewest elements that hold, among those that are longer than much_shorter times
/// the longest such arc.
double last_calm_time(const trajectory::Trajectory& motion) {
    constexpr double much_shorter = 0.5;
    const double calm = calm_time(motion);
    double longest = 0.0, last = calm;
    std::size_t fewest = 0;
    for (const trajectory::Arc& arc : motion.arcs)
        if (arc.t_begin <= calm && calm <= arc.t_end && !arc.steps.empty())
            longest = arc.t_end - arc.t_begin, fewest = holding_elements(motion, arc);
    for (const trajectory::Arc& arc : motion.arcs)
        if (!arc.steps.empty() && holding_elements(motion, arc) == fewest &&
            arc.t_end - arc.t_begin > much_shorter * longest)
            last = 0.5 * (arc.t_begin + arc.t_end);
    // A motion that is one arc has its last return at its end.
    return motion.events.empty() ? motion.end.t : last;
}

/// Why a motion that only drifts is no orbit.
constexpr const char* steady =
    "the motion is steady: apart from a drift, nothing in it changes with time, so that it has no period";

/// An autonomous system without a section: the orbit begins on a plane across the motion, near its end. The motion may
/// pass this plane several times in a period; the return is the last passage before that is nearest to the same state.
bool find_return(Search& s, const trajectory::Trajectory& motion) {
    const double t = last_calm_time(motion);
    const Vector x = vector_of(motion.left(t)), size = sizes(motion);
    const Vector rate = rate_at(motion, t);
    if (!(rate.norm() > 0.0))
        return s.fail(Status::rests,
                      "the motion is at rest at t = " + number_text(t) + ", " + place_of(s.model, motion.left(t).q));
    const std::optional<PhaseCondition> level = s.level_through(x, rate, size);
    if (!level) return s.fail(Status::no_orbit, steady);
    const auto distance = [&](const Passage& p) { return s.modulo(p.x - x).cwiseQuotient(size).norm(); };
    std::vector<Passage> list = passages(motion, *level);
    constexpr double same_time = 1e-9;  // relative to the length of the motion: the state x itself is no return
    std::erase_if(list, [&](const Passage& p) { return p.t > t - same_time * (motion.end.t - motion.start.t); });
    double nearest = std::numeric_limits<double>::infinity();
    for (const Passage& p : list) nearest = std::min(nearest, distance(p));
    // A motion that approaches an orbit slowly has earlier returns that are a little farther away.
    constexpr double as_near = 3.0, negligible = 1e-6;
    std::erase_if(list, [&](const Passage& p) { return distance(p) > as_near * nearest + negligible; });
    const auto needed = static_cast<std::size_t>(s.options.multiple);
    if (list.size() < needed) {
        if (at_rest(motion)) return come_to_rest(s, motion);
        return s.fail(
            Status::no_orbit,
            "the motion returns " + (list.size() == 1 ? std::string("once") : std::to_string(list.size()) + " times") +
                " within " + number_text(motion.end.t - motion.start.t) + " s; " + std::to_string(needed) +
                (needed == 1 ? " return is" : " returns are") + " needed; give a section, or a longer --settle");
    }
    const Passage& first = list[list.size() - needed];
    s.x = s.guess = s.moved_near(first.x, vector_of(motion.start));
    s.section = s.translations.empty() ? plane_across(x, rate) : s.plane_across_motion(s.x, rate);
    s.duration = t - first.t;
    if (s.symmetry) s.duration *= 0.5;
    s.guess_duration = s.duration;
    return true;
}

/// An autonomous system with a guess: its first return. The motion is followed only as far as that needs. False if
/// there is no return that is near; nothing has changed then.
bool find_first_return(Search& s, const Vector& x, double wait) {
    constexpr int pieces = 12;  // of the time `wait`; the search ends with the piece that has the return
    constexpr double near_start =
        0.05;  // a passage is a return if it is nearer to the start than this part of the sizes
    integrate::EventDriven method = s.options.method;
    method.keep_arcs = true;
    // The duration need not be more accurate than the guess.
    constexpr double rough = 1e-5, rough_absolute = 1e-8;
    method.rtol = std::max(method.rtol, rough);
    method.atol = std::max(method.atol, rough_absolute);
    integrate::RepeatedRuns runs(s.model, method);
    std::optional<PhaseCondition> plane, across;
    const bool given = !s.options.section.empty();
    if (given) plane = section_modulo(s.model, s.options.section, s.translations);
    const auto needed = static_cast<std::size_t>(s.options.multiple);
    std::vector<Passage> list;
    Vector state = x, size;
    double t = 0.0;
    for (int k = 0; k < pieces; ++k) {
        integrate::Options run;
        run.start = state_of(t, state);
        run.t_end = wait * (k + 1) / pieces;
        run.interrupted = s.options.interrupted;
        const trajectory::Trajectory motion = runs.run(run);
        if (motion.status != trajectory::Status::completed) return false;
        if (k == 0 && given) {
            // A guess on the section is its first passage.
            const Vector rate = rate_at(motion, t);
            const Vector gradient = plane->gradient(x);
            const double scale = gradient.cwiseAbs().dot(sizes(motion));
            // The guess is on the section if |s(x)| is at most this times Σ |∂s/∂x_i| size_i.
            constexpr double on_section = 1e-9;
            if (std::abs(plane->value(x)) <= on_section * scale && gradient.dot(rate) > 0.0) list.push_back({t, x});
        } else if (k == 0) {
            const Vector rate = rate_at(motion, t);
            if (!(rate.norm() > 0.0)) return false;
            size = sizes(motion);
            plane = s.level_through(x, rate, size);
            if (!plane) return false;
            across = s.plane_across_motion(x, rate);
            list.push_back({t, x});
        }
        for (Passage& p : passages(motion, *plane)) {
            if (!list.empty() && p.t <= list.back().t) continue;
            if (size.size() == 0) size = sizes(motion);
            if (!given && s.modulo(p.x - x).cwiseQuotient(size).cwiseAbs().maxCoeff() > near_start) continue;
            list.push_back(std::move(p));
        }
        if (list.size() > needed) {
            s.section = given ? plane : across;
            s.x = s.guess = list.front().x;
            s.duration = list[needed].t - list.front().t;
            if (s.symmetry) s.duration *= 0.5;
            s.guess_duration = s.duration;
            return true;
        }
        state = vector_of(motion.end);
        if (size.size() > 0) size = size.cwiseMax(state.cwiseAbs());
        t = motion.end.t;
    }
    return false;
}

/// Which return of an autonomous motion is taken: the last ones are nearest to an orbit that attracts, the first one to
/// a guess that is near an orbit.
enum class Returns { first, last };

/// Sets start, duration and section of the search for an autonomous system.
bool prepare_autonomous(Search& s, Returns returns) {
    trajectory::State start = s.options.guess.value_or(trajectory::State{0.0, s.model.q0, s.model.u0});
    Vector x = vector_of(start);
    if (s.options.settle > 0.0) {
        const trajectory::Trajectory settled = s.map.motion(0.0, x, s.options.settle);
        if (settled.status != trajectory::Status::completed)
            return s.fail(Status::no_orbit, "the motion from the guess ended early: " + settled.reason);
        if (at_rest(settled)) return come_to_rest(s, settled);
        s.visit(settled);
        x = s.moved_near(vector_of(settled.end), x);
    }
    const double wait = s.options.search_time > 0.0 ? s.options.search_time
                        : s.options.settle > 0.0    ? s.options.settle
                                                    : s.model.settings->simulate.t_end.value_or(0.0);
    if (!(wait > 0.0))
        throw Error("the time in which the motion returns is not known", {"--settle", 0, 0}, "give --settle");
    if (returns == Returns::first && find_first_return(s, x, wait)) return true;
    const trajectory::Trajectory motion = s.map.motion(0.0, x, wait);
    if (motion.status != trajectory::Status::completed)
        return s.fail(Status::no_orbit, "the motion from the guess ended early: " + motion.reason);
    if (at_rest(motion)) s.rest = why_it_rests(s, motion);
    if (s.options.section.empty()) return find_return(s, motion);
    s.section = section_modulo(s.model, s.options.section, s.translations);
    const auto needed = static_cast<std::size_t>(s.options.multiple) + 1;
    const std::vector<Passage> list = last_passages(motion, *s.section, needed);
    if (list.size() < needed) {
        if (at_rest(motion)) return come_to_rest(s, motion);
        return s.fail(Status::no_orbit,
                      passes_too_seldom(list.size(), needed, passages(motion, exchanged(*s.section)).size(), wait));
    }
    // The last returns are nearest to the orbit.
    const Passage& first = list[list.size() - needed];
    s.x = s.guess = s.moved_near(first.x, x);
    s.duration = list.back().t - first.t;
    if (s.symmetry) s.duration *= 0.5;
    s.guess_duration = s.duration;
    return true;
}

/// Whether a motion can begin where it does: it begins in its simplest mode, and no event is nearer than `distance`
/// times its duration.
bool begins_well(const trajectory::Trajectory& motion, double distance) {
    const double length = motion.end.t - motion.start.t;
    for (const trajectory::Event& e : motion.events)
        if (std::min(e.t - motion.start.t, motion.end.t - e.t) < distance * length) return false;
    return std::all_of(motion.arcs.begin(), motion.arcs.end(), [&](const trajectory::Arc& arc) {
        return arc.steps.empty() || holding_elements(motion, arc) >= holding_elements(motion, motion.arcs.front());
    });
}

/// The recorded motion of the guess. If it does not begin well (begins_well) then the search begins at a calm time
/// instead, and s.t and s.x change. False if there is no such motion.
bool record_guess(Search& s, double distance, integrate::RecordedMotion& guess) {
    try {
        guess = s.map.recorded(s.t, s.x, s.duration);
        if (guess.motion.status == trajectory::Status::completed && !begins_well(guess.motion, distance)) {
            const double calm = calm_time(guess.motion);
            s.x = vector_of(guess.motion.right(calm));
            if (s.section) {
                if (!s.options.section.empty() && !s.wanted) s.wanted = s.section;
                s.section = s.plane_across_motion(s.x, rate_at(guess.motion, calm));
            } else {
                s.t = calm;
            }
            guess = s.map.recorded(s.t, s.x, s.duration);
        }
    } catch (const Error& e) {  // the state penetrates an obstacle
        if (s.options.guess || s.options.settle == 0.0) throw;
        return s.fail(Status::no_orbit, e.message());
    }
    s.visit(guess.motion);
    if (guess.motion.status == trajectory::Status::completed) return true;
    return s.fail(Status::no_orbit, "the motion from the guess ended early: " + guess.motion.reason);
}

/// Takes a motion from s.x, which the simulation has found, as the orbit if it closes. Its derivative is that of the
/// stages if it exists in all directions, otherwise that of `sensitivity`, which says what is missing.
bool accept_motion(Search& s, std::vector<integrate::RecordedMotion> recorded, const Vector& size, Shooting& stages) {
    Return& r = s.found;
    r = {};
    std::optional<Matrix> slope;
    if (stages.begin(recorded, 0.0) && stages.regular()) slope = stages.monodromy();
    r.motion = std::move(recorded.front().motion);
    r.end = vector_of(r.motion.end);
    r.rate = rate_at_end(r.motion);
    if (slope) {
        r.slope = std::move(*slope);  // with the symmetry
        if (s.symmetry) {
            r.end = (*s.symmetry)(r.end);
            r.rate = s.symmetry->S * r.rate;
        }
    } else {
        r = s.attempt(s.x, s.duration);
        if (!r.available()) return false;
    }
    s.found_size = size;
    s.orbit.residual = s.residual_of(r, s.x, s.found_size);
    return s.orbit.residual <= std::max(accepted_residual, s.rounding(s.found_size));
}

/// Whether a motion from s.x returns, within the residual at which an orbit counts as found.
bool returns(const Search& s, const trajectory::Trajectory& motion, const Vector& size) {
    Return r;
    r.end = vector_of(motion.end);
    if (s.symmetry) r.end = (*s.symmetry)(r.end);
    return s.residual_of(r, s.x, size) <= accepted_residual;
}

/// Multiple shooting with the times of all events as unknowns, from the recorded motion of the guess. False if it finds
/// no orbit; the search is then as before.
bool solve_by_events(Search& s, integrate::RecordedMotion guess) {
    if (s.stop()) return false;
    const Vector size = sizes(guess.motion), start = s.x, end = vector_of(guess.motion.end);
    const double duration = s.duration;
    const auto give_up = [&] {
        s.x = start;
        s.duration = duration;
        return false;
    };
    s.set_closing(s.symmetry ? (*s.symmetry)(end) : end, start);
    Shooting shooting(s.shooting(size));
    const std::size_t events = guess.motion.events.size();
    std::vector<integrate::RecordedMotion> guesses;
    guesses.push_back(std::move(guess));
    // Rough derivatives show how disturbances grow.
    constexpr double rough = 1e-3;
    if (!shooting.begin(guesses, 0.0) || !shooting.differentiate(rough)) return false;
    // One arc must not amplify disturbances too much: it needs parts.
    constexpr double too_much = 1e5;
    for (const sensitivity::StageDerivative& d : shooting.evaluation().stage_derivatives)
        if (growth_of(d.by_state, size) > too_much) return false;
    if (!shooting.solve({}, Shooting::LastStep::trusted)) return give_up();
    s.x = shooting.motion().nodes.front().y;
    if (s.section) s.duration = shooting.motion().duration;
    // The simulation decides whether the motion obeys all laws.
    std::vector<integrate::RecordedMotion> recorded;
    try {
        recorded.push_back(s.map.recorded(s.t, s.x, s.duration));
    } catch (const Error&) {  // the state penetrates an obstacle
    }
    s.orbit.residuals = shooting.residuals();
    const double residual = shooting.residual();
    std::string broken;
    const bool simulated = !recorded.empty() && recorded[0].motion.status == trajectory::Status::completed;
    // A motion that has other events than those that were solved for, or does not close, violates a law.
    if (!simulated || recorded[0].motion.events.size() != events || !returns(s, recorded[0].motion, size))
        broken = shooting.violated_law();
    if (simulated && accept_motion(s, std::move(recorded), size, shooting)) {
        if (s.orbit.residual < s.orbit.residuals.back()) s.orbit.residuals.push_back(s.orbit.residual);
        s.orbit.status = Status::no_orbit;
        s.orbit.reason.clear();
        return true;
    }
    if (!broken.empty() && s.violation.empty()) {
        s.violation = std::move(broken);
        Orbit& o = s.inadmissible;
        o.status = Status::violates;
        o.inadmissible = true;
        o.multiple = s.options.multiple;
        o.period = s.whole();
        o.residual = residual;
        o.residuals = s.orbit.residuals;
        o.state = state_of(s.options.period ? std::fmod(s.t, s.whole()) : 0.0, s.x);
        o.reason = "the motion that closes violates a law: " + s.violation;
    }
    return give_up();
}

/// Multiple shooting from the guess, and Newton's method for the return map if it finds nothing.
bool solve_from_guess(Search& s) {
    // Events move while the search goes on. If one would pass the start, then the search begins farther from it.
    constexpr double very_near = 2e-3, near = 2e-2;
    integrate::RecordedMotion guess;
    if (!record_guess(s, very_near, guess)) return false;
    const bool may_begin_elsewhere = !begins_well(guess.motion, near);
    if (solve_by_events(s, std::move(guess))) return true;
    if (may_begin_elsewhere) {
        if (!record_guess(s, near, guess)) return false;
        if (solve_by_events(s, std::move(guess))) return true;
    }
    return s.solve();
}

/// An autonomous orbit whose period was guessed from returns may have been passed several times: a motion that
/// approaches an orbit in turns from two sides comes nearer to an earlier state after two periods than after one. The
/// search then goes on with one period.
void shorten(Search& s) {
    constexpr int most_times = 8;   // an orbit that was passed more often than this is not shortened
    constexpr double equal = 1e-6;  // states differ by less, relative to the sizes; orbits of a doubled period by more
    const double whole = s.duration;
    for (int times = most_times; times > 1; --times) {
        const trajectory::State part = s.found.motion.right(s.found.motion.start.t + whole / times);
        if (s.modulo(vector_of(part) - s.x).cwiseQuotient(s.found_size).cwiseAbs().maxCoeff() > equal) continue;
        s.duration = whole / times;
        if (solve_from_guess(s)) return;
        s.duration = whole;
        (void)solve_from_guess(s);
    }
}

/// What drifts in a period, and which multipliers are left out because of it.
void report_drift(Search& s) {
    Orbit& o = s.orbit;
    const Vector difference = vector_of(o.motion.end) - vector_of(o.motion.start);
    std::vector<std::string> names;
    for (const Eigen::Index i : s.closing.moved()) {
        const std::string& name = s.model.coordinates[static_cast<std::size_t>(i)];
        names.push_back(name);
        if (std::abs(difference(i)) <= returned * s.found_size(i)) continue;
        o.drift.emplace_back(name, difference(i));
    }
    std::string text;
    if (!o.drift.empty()) {
        std::vector<std::string> words;
        for (const auto& [name, distance] : o.drift) words.push_back(name + " by " + number_text(distance));
        text = "the orbit closes up to a drift, in a period " + listing(words) +
               ": no formula of the model changes by this translation";
    }
    const std::size_t count = s.closing.pivots().size();
    double error = 0.0;
    if (count > 0) {
        error = s.closing.unit_error(s.found.slope, s.found_size);
        text += (text.empty() ? "" : "; ") +
                (count == 1 ? std::string("one multiplier is 1, because a translation of ")
                            : std::to_string(count) + " multipliers are 1, because translations of ") +
                listing(names) + (count == 1 ? " changes" : " change") + " nothing else, and left out (error " +
                number_text(error) + ")";
    }
    if (!text.empty()) o.remarks.push_back(std::move(text));
    // If the multipliers that must be 1 miss it by more than this, then the others are not certain either.
    constexpr double certain = 1e-5;
    s.translations_hold = error <= certain;
}

/// Multipliers, stability, and the trivial multiplier of autonomous systems.
void judge_stability(Search& s) {
    Orbit& o = s.orbit;
    // Disturbances along the directions of translations shift the motion and change nothing else: these directions are
    // left out.
    const std::vector<Eigen::Index> kept = s.closing.kept(s.x.size());
    const auto without_shifts = [&](const Matrix& slope) { return Matrix(s.closing.reduced(slope)(kept, kept)); };
    report_drift(s);
    std::vector<Matrix> maps;
    if (s.parts)
        for (const Matrix& map : s.parts->maps) maps.push_back(without_shifts(map));
    const Multipliers found = s.parts ? cyclic_multipliers(maps, Vector(s.found_size(kept)), s.section.has_value())
                                      : multipliers_of(without_shifts(s.found.slope), s.section.has_value());
    o.multipliers = found.values;
    if (s.symmetry)
        for (const std::complex<double>& m : o.multipliers) o.multipliers_full.push_back(m * m);
    o.trivial_error = found.trivial_error;
    o.unstable_count = found.outside;
    const bool unknown = !s.found.missing.empty() && !leaves_one_contact(s.found);
    const bool undecided = unknown || !s.found.one_sided.empty() || found.undecided || !s.translations_hold;
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

/// Multiple shooting in parts, where disturbances grow too much in a whole period. Excited orbits start at t = 0 of the
/// period.
bool find_in_parts(Search& s) {
    // Disturbances grow by less than this factor in each part.
    constexpr double growth_of_part = 100.0;
    constexpr int fewest = 4, most = 64;
    if (s.stop() || s.guess.size() == 0 || !s.found.available() || s.found.slope.size() == 0) return false;
    const double growth = growth_of(s.found.slope, sizes(s.found.motion));
    // Far from an orbit, and without growth that would explain it, parts do not help.
    constexpr double strong_growth = 1e3, near_an_orbit = 1e-2;
    if (growth < strong_growth && s.orbit.residual > near_an_orbit) return false;
    const double wanted = std::log(std::max(growth, 1.0)) / std::log(growth_of_part);
    const int count = std::clamp(static_cast<int>(std::ceil(wanted)), fewest, most);
    const double duration =
        s.options.period ? *s.options.period * s.options.multiple * (s.symmetry ? 0.5 : 1.0) : s.guess_duration;
    std::vector<integrate::RecordedMotion> motions = guess_parts(s.map, 0.0, s.guess, duration, count);
    if (motions.empty()) return false;
    Vector size = sizes(motions.front().motion);
    for (const integrate::RecordedMotion& m : motions) size = size.cwiseMax(sizes(m.motion));
    s.duration = duration;
    if (s.section && s.wanted) s.section = s.wanted, s.wanted.reset();
    ShootingProblem problem = s.shooting(size);
    std::optional<Shooting> shooting(problem);
    if (!shooting->begin(motions, 0.0) || !shooting->solve() || s.stop()) return false;
    std::vector<double> residuals = shooting->residuals();
    std::optional<Parts> parts = parts_of(s.map, problem, *shooting);
    if (!parts) return false;
    // The guess may have been much larger than the orbit, and the residuals are relative to its size.
    size = sizes(parts->motions.front().motion);
    for (const integrate::RecordedMotion& m : parts->motions) size = size.cwiseMax(sizes(m.motion));
    problem.size = size;
    shooting.emplace(problem);
    motions = recorded_parts(s.map, *parts);
    if (!shooting->begin(motions, 0.0) || !shooting->solve() || s.stop()) return false;
    residuals.insert(residuals.end(), shooting->residuals().begin() + 1, shooting->residuals().end());
    parts = parts_of(s.map, problem, *shooting);
    if (!parts || !(parts->residual <= accepted_residual)) return false;
    s.t = 0.0;
    s.x = parts->x[0];
    s.duration = parts->duration();
    Orbit& o = s.orbit;
    o.status = Status::converged;
    o.reason.clear();
    o.residuals = std::move(residuals);
    o.residual = parts->residual;
    o.motion = joined_motion(s.map, problem.symmetry, *parts);
    const Vector difference =
        s.modulo(vector_of(o.motion.end) - vector_of(o.motion.start)).cwiseAbs().cwiseQuotient(size);
    constexpr double closed = 1e-7;  // the motion closes if both ends differ by at most this, relative to the sizes
    if (o.motion.status == trajectory::Status::completed && difference.maxCoeff() > closed) return false;
    if (s.options.period && !parts_repeat(s.map, *parts, size, s.whole())) return false;
    Return& whole = s.found;
    whole = {};
    whole.motion = o.motion;
    whole.end = vector_of(o.motion.end);
    whole.slope = parts->maps[0];
    for (std::size_t k = 1; k < parts->maps.size(); ++k) whole.slope = Matrix(parts->maps[k] * whole.slope);
    s.found_size = size;
    const std::size_t halves = s.symmetry ? 2 : 1;
    for (std::size_t half = 0; half < halves; ++half)
        for (std::size_t k = 0; k < parts->x.size(); ++k)
            o.parts.push_back(state_of(parts->t[k] + static_cast<double>(half) * parts->duration(),
                                       half == 0 ? parts->x[k] : (*s.symmetry)(parts->x[k])));
    o.remarks.push_back("found in " + std::to_string(parts->x.size()) +
                        " parts: the largest derivative of the motion of one period is " +
                        number_text(growth_of(whole.slope, size)));
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
            for (const Eigen::Index j : s.closing.moved())
                difference(j) -= vector_of(later.end)(j) - vector_of(later.start)(j);
        // A sample beside an impact may be before it in one motion and after it in the other: positions decide.
        if (difference.cwiseAbs().cwiseQuotient(size).head(n).maxCoeff() > equal) return false;
    }
    return true;
}

/// If the search of an autonomous orbit began beside the section that was given: lets the orbit begin on it.
bool begin_on_section(Search& s) {
    if (!s.wanted) return true;
    const std::vector<Passage> list = passages(s.orbit.motion, *s.wanted);
    if (list.empty())
        return s.fail(Status::no_orbit,
                      "the orbit with the period " + number_text(s.whole()) + " s does not pass the section upwards");
    trajectory::Trajectory motion = s.map.motion(0.0, list.front().x, s.whole());
    const Vector difference =
        s.modulo(vector_of(motion.end) - vector_of(motion.start)).cwiseAbs().cwiseQuotient(s.found_size);
    constexpr double closed = 1e-7;  // the motion closes if both ends differ by at most this, relative to the sizes
    if (motion.status != trajectory::Status::completed || difference.maxCoeff() > closed)
        return s.fail(Status::no_orbit, "the motion from the section does not close");
    s.orbit.motion = std::move(motion);
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
               o.motion.violation.gap > admissible_violation * s.found_size.head(s.model.size()).maxCoeff()) {
        o.status = Status::violates;
        o.reason = "a gap is violated by " + number_text(o.motion.violation.gap);
    } else if (has_no_amplitude(s, o.motion)) {
        // Without an excitation a state of rest has no period.
        if (s.section) {
            s.fail(Status::rests, "the motion that returns is a state of rest, " + place_of(s.model, o.state.q) +
                                      ": `saltus equilibria` examines it");
            return;
        }
        o.remarks.push_back("nothing moves in this orbit: it is a state of rest, " + place_of(s.model, o.state.q) +
                            ", and the multipliers tell how disturbances of it grow in a period");
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
    s.translations = translations_of(model);
    if (s.symmetry && !maps_to_themselves(s.translations, s.symmetry->S.topLeftCorner(model.size(), model.size())))
        s.translations = {};
    const bool guessed = !options.period && options.guess && options.settle == 0.0;
    const Returns returns = guessed ? Returns::first : Returns::last;
    if (!(options.period ? prepare_excited(s) : prepare_autonomous(s, returns))) return std::move(s.orbit);
    bool solved = solve_from_guess(s);
    // The first return may be near where the last one is not, and the other way round.
    if (!solved && !options.period && options.settle == 0.0 && s.orbit.status == Status::no_orbit) {
        s.wanted.reset();
        if (!prepare_autonomous(s, guessed ? Returns::last : Returns::first)) return std::move(s.orbit);
        solved = solve_from_guess(s);
    }
    if (!solved) {
        Orbit failed = s.orbit;
        if (failed.status == Status::no_orbit && find_in_parts(s)) {
            describe(s);
            judge_stability(s);
            return std::move(s.orbit);
        }
        if (failed.status != Status::no_orbit) return failed;
        if (!s.violation.empty()) return std::move(s.inadmissible);
        if (!s.rest.empty()) {
            failed.status = Status::rests;
            failed.reason = s.rest;
        }
        return failed;
    }
    if (!options.period && !s.symmetry && options.multiple == 1) shorten(s);
    // Small multipliers are not accurate if the largest derivatives are large: parts know them better.
    constexpr double accurate_growth = 1e6;
    if (growth_of(s.found.slope, s.found_size) > accurate_growth) {
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
        if (!closes(all, s.translations)) {
            s.fail(Status::no_orbit,
                   "half of the motion is closed by the symmetry, and the whole motion is not: the model "
                   "does not have this symmetry");
            return std::move(s.orbit);
        }
    }
    if (!options.period) {
        s.orbit.motion = s.symmetry ? std::move(all) : s.found.motion;
        if (!begin_on_section(s)) return std::move(s.orbit);
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
    for (const trajectory::Event& e : motion.events) {
        if (e.kind != trajectory::EventKind::jump) continue;
        auto jump = std::find_if(out.jumps.begin(), out.jumps.end(),
                                 [&](const JumpAverage& known) { return known.name == e.note; });
        if (jump == out.jumps.end()) jump = out.jumps.insert(jump, JumpAverage{e.note});
        ++jump->count;
        (e.energy_after < e.energy_before ? jump->dissipated : jump->supplied) +=
            std::abs(e.energy_after - e.energy_before);
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

}  // namespace saltus::orbit
