// SPDX-License-Identifier: Apache-2.0
#include "machine/judge_certificate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "machine/calls.hpp"
#include "machine/random.hpp"
#include "machine/scan.hpp"
#include "machine/time_stepping.hpp"

namespace trials {

namespace {

constexpr double judging_step = 2e-3, long_time = 60.0;

struct Claim {
    Vector equilibrium;
    double level = 0.0;      ///< rho; infinity for global attraction
    double reference = 0.0;  ///< U at the equilibrium
    nlohmann::json domain;
    std::string grade, scope;
};

std::optional<Claim> claim_of(const Model& model, const nlohmann::json& document) {
    if (document.value("verdict", "") != "attractive" || !document.at("equilibrium").is_object()) return {};
    Claim claim;
    for (const std::string& name : model.coordinates)
        claim.equilibrium.push_back(number(document.at("equilibrium").at("q").at(name)));
    claim.level = number(document.at("rho"));
    claim.reference = number(document.at("reference"));
    claim.domain = document.value("domain", nlohmann::json::object());
    claim.grade = document.value("grade", "");
    claim.scope = document.value("scope", "");
    // "local" with an infinite level says that some neighbourhood is attracted, without its size.
    const bool has_level = !std::isnan(claim.level) && !(claim.scope == "local" && std::isinf(claim.level));
    return has_level && !std::isnan(claim.reference) ? std::optional(claim) : std::nullopt;
}

double level_of(const Mechanics& mechanics, const Claim& claim, const Point& at) {
    return mechanics.energy(at) - claim.reference;
}

/// Bounds of a coordinate in the stated domain.
std::pair<double, double> bounds_of(const Claim& claim, const std::string& name) {
    if (!claim.domain.is_object() || !claim.domain.contains(name) || !claim.domain.at(name).is_array())
        return {-INFINITY, INFINITY};
    const double low = number(claim.domain.at(name)[0]), high = number(claim.domain.at(name)[1]);
    return {std::isnan(low) ? -INFINITY : low, std::isnan(high) ? INFINITY : high};
}

bool in_domain(const Model& model, const Claim& claim, const Vector& q, double slack) {
    for (std::size_t i = 0; i < q.size(); ++i) {
        const auto [low, high] = bounds_of(claim, model.coordinates[i]);
        if (q[i] < low - slack || q[i] > high + slack) return false;
    }
    return true;
}

/// A position is in the component of the level set around the equilibrium if the straight way to it is inside.
bool reachable(const Mechanics& mechanics, const Claim& claim, const Vector& q, double level) {
    constexpr int count = 200;
    for (int i = 0; i <= count; ++i) {
        const Vector between =
            plus(claim.equilibrium, plus(q, claim.equilibrium, -1.0), static_cast<double>(i) / count);
        const Point at{0.0, between, Vector(q.size(), 0.0)};
        if (level_of(mechanics, claim, at) > level) return false;
        for (std::size_t c = 0; c < mechanics.model().contacts.size(); ++c)
            if (mechanics.gap(c, at) < (i > 0 ? 0.0 : -1e-9)) return false;
        if (!in_domain(mechanics.model(), claim, between, 0.0)) return false;
    }
    return true;
}

/// A start with V just below the level (or high up, if the level is infinite), at a random reachable position.
std::optional<Point> start_inside(const Mechanics& mechanics, const Claim& claim, Random& random) {
    const std::size_t n = mechanics.model().size();
    const bool global = std::isinf(claim.level);
    const double level =
        global ? random.number(1.0, 30.0) : claim.level * (random.chance(0.7) ? 0.98 : random.number(0.2, 0.95));
    for (int attempt = 0; attempt < 60; ++attempt) {
        const double radius = std::pow(0.5, random.whole(0, 8)) * 4.0;
        Point start{0.0, claim.equilibrium, Vector(n)};
        for (double& x : start.q) x += radius * random.number(-1.0, 1.0);
        if (!reachable(mechanics, claim, start.q, level)) continue;
        for (double& x : start.u) x = random.number(-1.0, 1.0);
        const double kinetic = dot(times(mechanics.mass(start), start.u), start.u) / 2;
        const double wanted = level - (mechanics.potential_energy(start) - claim.reference);
        if (kinetic <= 0.0 || wanted < 0.0) continue;
        for (double& x : start.u) x *= std::sqrt(wanted / kinetic);
        return start;
    }
    return {};
}

/// Whether a position of rest belongs to the set of the certificate: all equilibria below the level. It does if the
/// whole way to the equilibrium consists of equilibria, and it does not if a barrier of U lies between. Otherwise
/// friction holds two parts of one well, which the certificate may count as one set. Only for models on a line.
std::optional<bool> in_equilibrium_set(const Mechanics& mechanics, const Claim& claim, const Vector& q) {
    if (norm(plus(q, claim.equilibrium, -1.0)) < 2e-2) return true;
    if (!line_position(mechanics, q[0])) return mechanics.elements() == 0 ? std::optional(false) : std::nullopt;
    constexpr int count = 50;
    const auto potential = [&](const Vector& at) {
        return mechanics.potential_energy({0.0, at, Vector(at.size(), 0.0)});
    };
    const double higher_end = std::max(potential(q), potential(claim.equilibrium));
    bool held = true, barrier = false;
    for (int i = 1; i < count; ++i) {
        const double x = claim.equilibrium[0] + (q[0] - claim.equilibrium[0]) * i / count;
        const Vector between = *line_position(mechanics, x);
        held = held && hold_at(mechanics, between, 1e-6).residual <= 1e-2;
        barrier = barrier || potential(between) > higher_end + 1e-6 * (1.0 + std::abs(higher_end));
    }
    if (held) return true;
    return barrier ? std::optional(false) : std::nullopt;
}

struct End {
    Point at;
    double highest_level = 0.0;
    bool left_domain = false, finished = false;
};

End follow(const TimeStepping& stepping, const Claim& claim, const Point& start, double time, double h) {
    End end{start, level_of(stepping.mechanics(), claim, start), false, false};
    const auto count = static_cast<long>(time / h);
    TimeStepping::Impulses last;
    RestWatch watch;
    for (long i = 0; i < count && !watch.rests(end.at, h); ++i) {
        if (!stepping.step(end.at, h, last)) return end;
        if (i % 10 != 0) continue;
        end.highest_level = std::max(end.highest_level, level_of(stepping.mechanics(), claim, end.at));
        end.left_domain = end.left_domain || !in_domain(stepping.mechanics().model(), claim, end.at.q, 1e-2);
    }
    end.finished = true;
    return end;
}

/// One motion from inside the level set. Violations are confirmed with a shorter step.
void judge_start(const TimeStepping& stepping, const Claim& claim, const Point& start, double h, Findings& findings) {
    const Mechanics& mechanics = stepping.mechanics();
    const End end = follow(stepping, claim, start, long_time, h);
    if (!end.finished) return void(++findings.not_judged);
    const double first = level_of(mechanics, claim, start);
    const auto text = [&](const std::string& what) {
        return fmt::format(
            "{} certificate, rho = {}: the start q = {}, u = {} with V = {} {}; at t = {} it is at q = {}, u = {}",
            claim.grade, claim.level, start.q, start.u, first, what, end.at.t, end.at.q, end.at.u);
    };
    const double slack = 0.05 * (0.1 + first);
    findings.check(end.highest_level <= first + slack, "V-rises",
                   [&] { return text(fmt::format("reaches V = {}", end.highest_level)); });
    if (!std::isinf(claim.level))
        findings.check(!end.left_domain, "leaves-domain", [&] { return text("leaves the domain"); });
    const double distance = norm(plus(end.at.q, claim.equilibrium, -1.0));
    const double speed = norm(end.at.u);
    if (speed > 1e-3) {
        // Still moving: an escape if it is far away and moves on.
        const double outward = dot(end.at.u, plus(end.at.q, claim.equilibrium, -1.0));
        const bool escapes =
            distance > 5.0 + 3.0 * norm(plus(start.q, claim.equilibrium, -1.0)) && outward > 0.1 * distance;
        if (escapes)
            findings.check(false, "escapes", [&] { return text("escapes"); });
        else
            ++findings.not_judged;
        return;
    }
    if (hold_at(mechanics, end.at.q, 1e-4).residual > 1e-3) return void(++findings.not_judged);
    const auto inside = in_equilibrium_set(mechanics, claim, end.at.q);
    if (!inside) return void(++findings.not_judged);
    findings.check(*inside, "rests-elsewhere", [&] { return text("comes to rest outside of the equilibrium set"); });
}

bool descends_near(const Mechanics& mechanics, const Vector& q) {
    Random random(7);
    const double here = mechanics.potential_energy({0.0, q, Vector(q.size(), 0.0)});
    for (int i = 0; i < 400; ++i) {
        Vector other = q;
        for (double& x : other) x += 1e-3 * random.number(-1.0, 1.0);
        if (mechanics.potential_energy({0.0, other, Vector(q.size(), 0.0)}) < here) return true;
    }
    return false;
}

/// Theorem 2 without friction: there must be lower potential energy next to the equilibrium.
void judge_instability(const Mechanics& mechanics, const nlohmann::json& document, Findings& findings) {
    if (mechanics.elements() > 0) return void(++findings.not_judged);
    Vector q;
    for (const std::string& name : mechanics.model().coordinates)
        q.push_back(number(document.at("equilibrium").at("q").at(name)));
    findings.check(descends_near(mechanics, q), "unstable-minimum",
                   [&] { return fmt::format("unstable, but U has a minimum at {}", q); });
}

}  // namespace

Findings judge_certificate_document(const Model& model, const nlohmann::json& document, int starts) {
    Findings findings;
    const TimeStepping stepping(model);
    if (document.value("verdict", "") == "unstable") judge_instability(stepping.mechanics(), document, findings);
    const auto claim = claim_of(model, document);
    if (!claim) {
        ++findings.not_judged;
        return findings;
    }
    const Hold hold = hold_at(stepping.mechanics(), claim->equilibrium, 1e-7);
    findings.check(hold.admissible && hold.residual < 1e-6, "no-equilibrium",
                   [&] { return fmt::format("{} is no equilibrium: residual {}", claim->equilibrium, hold.residual); });
    const Point rest{0.0, claim->equilibrium, Vector(model.size(), 0.0)};
    const double potential = stepping.mechanics().potential_energy(rest);
    findings.check(std::abs(potential - claim->reference) < 1e-7 * (1.0 + std::abs(potential)), "reference",
                   [&] { return fmt::format("reference {} is not U(q_e) = {}", claim->reference, potential); });
    Random random(static_cast<std::uint64_t>(std::abs(claim->equilibrium[0]) * 1e6) + 17);
    for (int i = 0; i < starts && findings.violations.empty(); ++i) {
        const auto start = start_inside(stepping.mechanics(), *claim, random);
        if (!start) {
            ++findings.not_judged;
            continue;
        }
        Findings one;
        judge_start(stepping, *claim, *start, judging_step, one);
        if (!one.violations.empty()) {
            one = {};
            judge_start(stepping, *claim, *start, judging_step / 4, one);
        }
        findings += one;
    }
    return findings;
}

Findings judge_certificate(const Model& model, const Program& program) {
    Findings findings;
    nlohmann::json document;
    const auto file = program.write("model.toml", model.toml());
    std::vector<std::string> words = {"certify", file.string(), "--json"};
    if (!call(program, words, 60, document, findings)) return findings;
    constexpr int starts = 6;
    findings += judge_certificate_document(model, document, starts);
    return findings;
}

}  // namespace trials
