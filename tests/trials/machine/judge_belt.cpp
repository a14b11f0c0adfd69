// SPDX-License-Identifier: Apache-2.0
#include "machine/judge_belt.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <optional>

#include "machine/calls.hpp"
#include "machine/judge_equilibria.hpp"
#include "machine/random.hpp"
#include "machine/scan.hpp"
#include "machine/steady_sliding.hpp"
#include "machine/time_stepping.hpp"

namespace trials {

namespace {

constexpr double belt_reach = 3.0;        // of the search for points of steady sliding, in each coordinate
constexpr double clear_real_part = 1e-4;  // in 1/s; smaller ones decide nothing, differences have errors of 1e-6
constexpr double longest_motion = 80.0;   // in s

Vector named(const nlohmann::json& by_name, const Model& model) {
    Vector q;
    for (const std::string& name : model.coordinates) q.push_back(number(by_name.at(name)));
    return q;
}

std::vector<std::size_t> closed_at(const Mechanics& mechanics, const Vector& q) {
    std::vector<std::size_t> closed;
    const Point at{0.0, q, Vector(q.size(), 0.0)};
    for (std::size_t c = 0; c < mechanics.model().contacts.size(); ++c)
        if (std::abs(mechanics.gap(c, at)) < 1e-7) closed.push_back(c);
    return closed;
}

/// A point of steady sliding whose contacts press, with the eigenvalues of the motion next to it.
struct SteadyState {
    Vector q;
    std::vector<std::size_t> closed;
    std::vector<std::complex<double>> eigenvalues;
    double growth() const { return eigenvalues.front().real(); }
};

/// Nothing if the friction at q sticks, a closed contact does not press, or the sliding motion is not determined.
std::optional<SteadyState> steady_state(const Mechanics& mechanics, const Vector& q) {
    SteadyState state{q, closed_at(mechanics, q), {}};
    if (!slides_at_rest(mechanics, q, state.closed)) return {};
    const SlidingMotion motion(mechanics, q, state.closed);
    const auto forces = motion.at({0.0, q, Vector(q.size(), 0.0)});
    if (!forces || std::ranges::any_of(forces->normal, [](double n) { return n < 1e-6; })) return {};
    const auto eigenvalues = motion.eigenvalues();
    if (!eigenvalues) return {};
    state.eigenvalues = *eigenvalues;
    return state;
}

/// Whether two lists hold the same numbers: each of `a` has a partner in `b`.
bool agree(const std::vector<std::complex<double>>& a, std::vector<std::complex<double>> b) {
    double size = 1.0;
    for (const auto& x : a) size = std::max(size, std::abs(x));
    for (const auto& x : a) {
        const auto nearest = std::ranges::min_element(b, {}, [&](const auto& y) { return std::abs(x - y); });
        // A double root of the polynomial with errors of 1e-8 is known to 1e-4 only.
        if (nearest == b.end() || std::abs(*nearest - x) > 2e-3 * size) return false;
        b.erase(nearest);
    }
    return b.empty();
}

std::vector<std::complex<double>> eigenvalues_in(const nlohmann::json& list) {
    std::vector<std::complex<double>> result;
    for (const auto& pair : list) result.emplace_back(number(pair[0]), number(pair[1]));
    return result;
}

std::string text_of(const std::vector<std::complex<double>>& list) {
    std::string text;
    for (const auto& x : list) text += fmt::format("{:.6g}{:+.6g}i ", x.real(), x.imag());
    return text;
}

/// A state next to rest: a displacement and a velocity along the contacts, and closed contacts lifted a little.
Point disturbed(const Mechanics& mechanics, const SteadyState& steady, double size, Random& random) {
    const SlidingMotion motion(mechanics, steady.q, steady.closed);
    Point start{0.0, steady.q, Vector(steady.q.size(), 0.0)};
    for (const Vector& tangent : motion.tangents()) {
        start.q = plus(start.q, tangent, size * random.number(-1.0, 1.0));
        start.u = plus(start.u, tangent, size * random.number(-1.0, 1.0));
    }
    for (int round = 0; round < 5; ++round)  // off the obstacles, by Newton's iteration along their gradients
        for (const std::size_t c : steady.closed) {
            const Vector gradient = mechanics.gap_gradient(c, start);
            const double missing = 0.01 * size - mechanics.gap(c, start);
            start.q = plus(start.q, gradient, missing / dot(gradient, gradient));
        }
    return start;
}

double distance(const Point& state, const Vector& q) { return std::hypot(norm(plus(state.q, q, -1.0)), norm(state.u)); }

struct Course {
    double largest = 0.0, last = 0.0;  ///< distances; `last`: the largest in the last tenth of the time
    bool finished = false;
};

/// Follows a motion; ends it early if it goes farther than `far` away.
Course follow(const TimeStepping& stepping, const Vector& q, Point state, double time, double h, double far) {
    Course course;
    TimeStepping::Impulses last;
    const auto count = static_cast<long>(time / h);
    for (long i = 0; i < count; ++i) {
        if (!stepping.step(state, h, last)) return course;
        const double away = distance(state, q);
        course.largest = std::max(course.largest, away);
        if (i > count - count / 10) course.last = std::max(course.last, away);
        if (away > far) {
            course.last = away;
            break;
        }
    }
    course.finished = true;
    return course;
}

/// Motions from next to a point that is said to be asymptotically stable. A violation must show itself for disturbances
/// of two sizes and with a shorter step.
void judge_approach(const TimeStepping& stepping, const SteadyState& steady, const std::string& claim,
                    Findings& findings) {
    const double time = 12.0 / -steady.growth();
    if (!(time < longest_motion)) return void(++findings.not_judged);
    double frequency = 1.0;
    for (const auto& x : steady.eigenvalues) frequency = std::max(frequency, std::abs(x));
    const double h = std::min(1e-3, 0.02 / frequency);
    Random random(static_cast<std::uint64_t>(std::abs(steady.q[0]) * 1e6) + 5);
    for (int i = 0; i < 2; ++i) {
        std::string text;
        bool judged = true;
        for (const auto& [size, factor] : {std::pair{1e-3, 1.0}, std::pair{1e-5, 1.0}, std::pair{1e-5, 0.25}}) {
            const Point start = disturbed(stepping.mechanics(), steady, size, random);
            const double first = distance(start, steady.q);
            const Course course = follow(stepping, steady.q, start, time, factor * h, 1e3 * first + 1.0);
            if (!course.finished) judged = false;
            if (!judged || course.last <= 0.3 * first + 1e-7) {
                text.clear();
                break;
            }
            text = fmt::format("{} at {}, but a motion from q = {}, u = {} is {} away after {} s", claim, steady.q,
                               start.q, start.u, course.last, time);
        }
        if (!judged) {
            ++findings.not_judged;
            continue;
        }
        findings.check(text.empty(), "does-not-approach", [&] { return text; });
    }
}

/// A motion from next to an unstable point goes away.
void judge_departure(const TimeStepping& stepping, const SteadyState& steady, const std::string& claim,
                     Findings& findings) {
    const double time = 14.0 / steady.growth();
    if (!(time < longest_motion)) return void(++findings.not_judged);
    double frequency = 1.0;
    for (const auto& x : steady.eigenvalues) frequency = std::max(frequency, std::abs(x));
    const double h = std::min(1e-3, 0.02 / frequency);
    Random random(static_cast<std::uint64_t>(std::abs(steady.q[0]) * 1e6) + 9);
    const Point start = disturbed(stepping.mechanics(), steady, 1e-6, random);
    const double first = distance(start, steady.q);
    const Course course = follow(stepping, steady.q, start, time, h, 30.0 * first);
    if (!course.finished) return void(++findings.not_judged);
    findings.check(course.largest > 3.0 * first, "does-not-depart", [&] {
        return fmt::format("{} at {}, but a motion from {} away is at most {} away within {} s", claim, steady.q, first,
                           course.largest, time);
    });
}

/// What is said about the stability of a point: by its eigenvalues, then by motions.
void judge_stability_claim(const TimeStepping& stepping, const SteadyState& steady, const std::string& claim,
                           Findings& findings) {
    const bool unstable = claim.find("unstable") != std::string::npos;
    const bool attractive = claim == "asymptotically stable" || claim == "attractive";
    const bool stable = attractive || claim == "stable";
    const auto text = [&] {
        return fmt::format("{} at {}, but the eigenvalues are {}", claim, steady.q, text_of(steady.eigenvalues));
    };
    if (!unstable && !stable) return;
    if (std::abs(steady.growth()) < clear_real_part) return void(++findings.not_judged);
    findings.check(!(unstable && steady.growth() < 0.0), "stability", text);
    findings.check(!(stable && steady.growth() > 0.0), "stability", text);
    if (!findings.violations.empty()) return;
    if (attractive) judge_approach(stepping, steady, claim, findings);
    if (unstable) judge_departure(stepping, steady, claim, findings);
}

void judge_set_stability(const TimeStepping& stepping, const nlohmann::json& set, Findings& findings) {
    if (!set.contains("stability") || !set.at("stability").is_object() || set.at("dimension") != 0) return;
    const auto& stability = set.at("stability");
    const Vector q = named(set.at("representative"), stepping.mechanics().model());
    const auto steady = steady_state(stepping.mechanics(), q);
    if (!steady) return void(++findings.not_judged);
    const auto stated = eigenvalues_in(stability.at("eigenvalues"));
    if (!stated.empty())
        findings.check(agree(steady->eigenvalues, stated), "eigenvalues", [&] {
            return fmt::format("the eigenvalues at {} are said to be {}, but are {}", q, text_of(stated),
                               text_of(steady->eigenvalues));
        });
    if (findings.violations.empty()) judge_stability_claim(stepping, *steady, stability.value("verdict", ""), findings);
}

/// V = T + U − U(q_e) − work of the sliders' friction on the straight way from q_e, with the signs of slip of q_e. It
/// is the Lyapunov function of certificates for sliders; contacts on belts have none.
class SlidingEnergy {
public:
    SlidingEnergy(const Mechanics& mechanics, const Vector& q)
        : mechanics_(mechanics), q_(q), motion_(mechanics, q, {}) {}

    /// Whether friction at rest has a potential: one coordinate, or forces and directions that are constant.
    bool exists() const {
        if (mechanics_.model().size() == 1) return true;
        Random random(3);
        const Vector here = motion_.slider_friction({0.0, q_, Vector(q_.size(), 0.0)});
        for (int i = 0; i < 20; ++i) {
            Point other{0.0, q_, Vector(q_.size(), 0.0)};
            for (double& x : other.q) x += random.number(-2.0, 2.0);
            if (norm(plus(motion_.slider_friction(other), here, -1.0)) > 1e-9 * (1.0 + norm(here))) return false;
        }
        return true;
    }

    double operator()(const Point& at) const {
        constexpr int count = 40;  // Simpson's rule
        const Vector way = plus(at.q, q_, -1.0);
        double work = 0.0;
        for (int i = 0; i <= count; ++i) {
            const Point between{0.0, plus(q_, way, static_cast<double>(i) / count), Vector(q_.size(), 0.0)};
            const double weight = i == 0 || i == count ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
            work += weight / (3.0 * count) * dot(motion_.slider_friction(between), way);
        }
        const Point rest{0.0, q_, Vector(q_.size(), 0.0)};
        return mechanics_.energy(at) - mechanics_.potential_energy(rest) - work;
    }

private:
    const Mechanics& mechanics_;
    Vector q_;
    SlidingMotion motion_;
};

/// A state with V a little below the level; the straight way to it lies below the level.
std::optional<Point> start_below(const Mechanics& mechanics, const SlidingEnergy& energy, const Vector& q, double level,
                                 Random& random) {
    for (int attempt = 0; attempt < 80; ++attempt) {
        Point start{0.0, q, Vector(q.size(), 0.0)};
        const double radius = 4.0 * std::pow(0.5, random.whole(0, 10));
        for (double& x : start.q) x += radius * random.number(-1.0, 1.0);
        bool below = true;
        for (int i = 1; i <= 40 && below; ++i) {
            const Point between{0.0, plus(q, plus(start.q, q, -1.0), i / 40.0), Vector(q.size(), 0.0)};
            below = energy(between) < level;
            for (std::size_t c = 0; c < mechanics.model().contacts.size(); ++c)
                below = below && mechanics.gap(c, between) >= 0.0;
        }
        if (!below) continue;
        for (double& x : start.u) x = random.number(-1.0, 1.0);
        const double kinetic = dot(times(mechanics.mass(start), start.u), start.u) / 2;
        Point rest = start;
        rest.u.assign(q.size(), 0.0);
        if (kinetic <= 0.0) continue;
        for (double& x : start.u) x *= std::sqrt((level - energy(rest)) / kinetic);
        return start;
    }
    return {};
}

/// Motions from inside of { V < rho }: V must not rise, and attractive states are approached.
void judge_level(const TimeStepping& stepping, const SteadyState& steady, double rho, bool attractive,
                 Findings& findings) {
    const SlidingEnergy energy(stepping.mechanics(), steady.q);
    if (!energy.exists()) return void(++findings.not_judged);
    Random random(static_cast<std::uint64_t>(std::abs(steady.q[0]) * 1e6) + 31);
    for (int i = 0; i < 5 && findings.violations.empty(); ++i) {
        const double level = std::isinf(rho) ? random.number(1.0, 30.0) : rho * random.number(0.5, 0.99);
        const auto start = start_below(stepping.mechanics(), energy, steady.q, level, random);
        if (!start) {
            ++findings.not_judged;
            continue;
        }
        std::string text;
        bool judged = true, decided = true;
        for (const double h : {1e-3, 2.5e-4}) {
            Point state = *start;
            double highest = energy(state);
            TimeStepping::Impulses last;
            const double time = attractive ? longest_motion : 10.0;
            for (long k = 0; k < static_cast<long>(time / h) && judged; ++k) {
                judged = stepping.step(state, h, last);
                if (k % 20 == 0) highest = std::max(highest, energy(state));
                if (attractive && distance(state, steady.q) < 1e-5) break;
            }
            text.clear();
            const double slack = 0.02 * level + 1e-6;
            if (highest > level + slack)
                text = fmt::format("reaches V = {}", highest);
            else if (attractive && distance(state, steady.q) > 0.05 * distance(*start, steady.q) + 1e-3)
                decided = steady.growth() < -0.1, text = fmt::format("is at q = {}, u = {} later", state.q, state.u);
            if (text.empty()) break;
            text = fmt::format("rho = {} at {}: the start q = {}, u = {} with V = {} {}", rho, steady.q, start->q,
                               start->u, level, text);
        }
        if (!judged || (!text.empty() && !decided)) {
            ++findings.not_judged;
            continue;
        }
        findings.check(text.empty(), "level-set", [&] { return text; });
    }
}

}  // namespace

Findings judge_belt_sets(const Model& model, const nlohmann::json& document) {
    Findings findings = judge_sets(model, document);
    if (!findings.violations.empty()) return findings;
    const TimeStepping stepping(model);
    judge_listed(model, document, steady_points(stepping.mechanics(), belt_reach), findings);
    for (const auto& set : document.at("sets"))
        if (findings.violations.empty()) judge_set_stability(stepping, set, findings);
    return findings;
}

Findings judge_belt_certificate(const Model& model, const nlohmann::json& document) {
    Findings findings;
    const std::string verdict = document.value("verdict", "");
    const bool claims = verdict == "attractive" || verdict == "stable" || verdict == "unstable";
    if (!claims || !document.at("equilibrium").is_object()) {
        ++findings.not_judged;
        return findings;
    }
    const TimeStepping stepping(model);
    const Vector q = named(document.at("equilibrium").at("q"), model);
    const Hold hold = hold_at(stepping.mechanics(), q, 1e-7);
    findings.check(hold.admissible && hold.residual < 1e-6, "no-equilibrium",
                   [&] { return fmt::format("{} at {}, which is no equilibrium: {}", verdict, q, hold.residual); });
    if (!findings.violations.empty()) return findings;
    const auto steady = steady_state(stepping.mechanics(), q);
    if (!steady) {
        ++findings.not_judged;
        return findings;
    }
    judge_stability_claim(stepping, *steady, verdict, findings);
    const double rho = number(document.at("rho"));
    const bool local = document.value("scope", "") == "local" && std::isinf(rho);
    if (findings.violations.empty() && !std::isnan(rho) && !local && verdict != "unstable" && steady->closed.empty())
        judge_level(stepping, *steady, rho, verdict == "attractive", findings);
    return findings;
}

Findings judge_belt(const Model& model, const Program& program) {
    Findings findings;
    nlohmann::json document;
    const auto file = program.write("model.toml", model.toml());
    if (!call(program, {"equilibria", file.string(), "--json"}, 60, document, findings)) return findings;
    findings += judge_belt_sets(model, document);
    // The search of `certify` begins at the start of the model, and then at each of the first listed positions.
    constexpr std::size_t most_positions = 2;
    std::vector<std::vector<std::string>> questions = {{"certify", file.string(), "--json"}};
    for (std::size_t i = 0; i < std::min(most_positions, document.at("sets").size()); ++i) {
        const Vector q = named(document.at("sets")[i].at("representative"), model);
        std::string at;
        for (std::size_t k = 0; k < q.size(); ++k)
            at += fmt::format("{}{}={}", k > 0 ? "," : "", model.coordinates[k], q[k]);
        questions.push_back({"certify", file.string(), "--json", "--at", at});
    }
    for (const auto& words : questions) {
        if (!findings.violations.empty()) return findings;
        nlohmann::json certificate;
        if (call(program, words, 120, certificate, findings)) findings += judge_belt_certificate(model, certificate);
    }
    return findings;
}

}  // namespace trials
