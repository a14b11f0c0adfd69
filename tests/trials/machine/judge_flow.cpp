// SPDX-License-Identifier: Apache-2.0
#include "machine/judge_flow.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "machine/calls.hpp"
#include "machine/judge_motion.hpp"
#include "machine/plain_flow.hpp"
#include "machine/reactions.hpp"

namespace trials {

namespace {

Point state_of(const nlohmann::json& state, const Model& model) {
    Point point;
    for (const std::string& name : model.coordinates) {
        point.q.push_back(number(state.at("q").at(name)));
        point.u.push_back(number(state.at("u").at(name)));
    }
    return point;
}

/// End of a motion by two numbers of steps.
struct FlowEnd {
    Vector state;
    double spread = 0.0;
    PlainFlow::Course course;
};

std::optional<FlowEnd> flow_end(const PlainFlow& flow, const Point& start, double duration, int count) {
    const auto coarse = flow.run(start, duration, count), fine = flow.run(start, duration, 2 * count);
    if (!coarse || !fine) return {};
    FlowEnd end{state_vector(fine->end), 0.0, *fine};
    end.spread = norm(plus(end.state, state_vector(coarse->end), -1.0));
    return end;
}

/// Whether motions from beside the start have the same events. If not, the start is next to a motion that only just
/// reaches a contact or the speed of a belt, and the steps of the plain integrator may decide about it differently.
bool events_are_certain(const PlainFlow& flow, const Point& start, double duration, int count,
                        const std::string& events) {
    constexpr double disturbance = 1e-6;
    for (std::size_t i = 0; i < start.q.size() + start.u.size(); ++i)
        for (const double side : {disturbance, -disturbance}) {
            Point other = start;
            (i < start.q.size() ? other.q[i] : other.u[i - start.q.size()]) += side;
            const auto course = flow.run(other, duration, count);
            if (!course || course->events != events) return false;
        }
    return true;
}

constexpr int steps_per_second = 400;
constexpr double closing_tolerance = 1e-6;  // of orbits and ends of motions, relative to 1 + |x|

int steps_for(double duration) { return 200 + static_cast<int>(steps_per_second * duration); }

}  // namespace

Findings judge_flow(const Model& model, const Program& program) {
    Findings findings;
    Motion motion;
    const std::vector<std::string> method = {"--method", model.penalty ? "penalty" : "event"};
    if (!simulate(model, program, method, motion, findings)) return findings;
    if (!PlainFlow::supports(model)) return ++findings.not_judged, findings;
    const PlainFlow flow(model);
    const Vector stated = state_vector(state_of(motion.document.at("final"), model));
    for (const int finer : {1, 6}) {
        const auto end = flow_end(flow, {0.0, model.q0, model.u0}, model.t_end, finer * steps_for(model.t_end));
        if (!end || end->spread > 1e-4 * (1.0 + norm(end->state))) continue;
        const double distance = norm(plus(stated, end->state, -1.0));
        const double allowed = 5.0 * end->spread + closing_tolerance * (1.0 + norm(stated));
        if (distance > allowed && finer == 1) continue;  // confirm with shorter steps
        findings.check(distance <= allowed, "end-state", [&] {
            return fmt::format("the plain integrator ends at {} (uncertainty {}, events {}), the program at {}",
                               end->state, end->spread, end->course.events, stated);
        });
        return findings;
    }
    ++findings.not_judged;
    return findings;
}

namespace {

using Complex = std::complex<double>;

std::vector<Complex> multipliers_of(const nlohmann::json& point) {
    std::vector<Complex> result;
    for (const auto& pair : point.at("multipliers")) result.emplace_back(number(pair[0]), number(pair[1]));
    return result;
}

/// Coefficients of Π (λ − μ).
Vector polynomial_of(const std::vector<Complex>& roots) {
    std::vector<Complex> result = {1.0};
    for (const Complex& root : roots) {
        result.emplace_back(0.0);
        for (std::size_t i = result.size() - 1; i > 0; --i) result[i] -= root * result[i - 1];
    }
    Vector real;
    for (const Complex& c : result) real.push_back(c.real());
    return real;
}

/// Without the multiplier 1 of a shift along an orbit of an autonomous model: that which is nearest to 1.
std::vector<Complex> transverse(std::vector<Complex> multipliers, bool excited) {
    if (excited || multipliers.empty()) return multipliers;
    multipliers.erase(std::ranges::min_element(multipliers, {}, [](const Complex& m) { return std::abs(m - 1.0); }));
    return multipliers;
}

double largest_modulus(const std::vector<Complex>& multipliers) {
    double largest = 0.0;
    for (const Complex& m : multipliers) largest = std::max(largest, std::abs(m));
    return largest;
}

void judge_verdict(const nlohmann::json& point, bool excited, Findings& findings) {
    const auto& stable = point.at("stable");
    const double largest = largest_modulus(transverse(multipliers_of(point), excited));
    if (std::abs(largest - 1.0) < 1e-6 || stable.is_null()) return;
    findings.check(stable.get<bool>() == (largest < 1.0), "verdict", [&] {
        return fmt::format("stable is {}, but the largest multiplier has the modulus {}", stable.dump(), largest);
    });
}

/// Motions that begin next to a periodic orbit of an excited model approach it, or leave it.
void judge_stability(const PlainFlow& flow, const nlohmann::json& point, const Point& start, double period,
                     Findings& findings) {
    const double largest = largest_modulus(multipliers_of(point));
    const auto& stable = point.at("stable");
    if (stable.is_null() || (largest > 0.9 && largest < 1.1)) return void(++findings.not_judged);
    const bool expects_stable = stable.get<bool>();
    constexpr double disturbance = 1e-5;
    Point other = start;
    for (std::size_t i = 0; i < other.q.size(); ++i)
        other.q[i] -= disturbance * (1.0 + 0.37 * static_cast<double>(i)), other.u[i] += 0.61 * disturbance;
    // Until a disturbance would have shrunk or grown by this factor, if it is along the slowest direction.
    constexpr double factor = 200.0;
    const int periods = std::clamp(static_cast<int>(std::log(factor) / std::abs(std::log(largest + 1e-9))) + 1, 2, 60);
    double distance = disturbance;
    Point at = other;
    for (int k = 0; k < periods; ++k) {
        at.t = 0.0;
        const auto course = flow.run(at, period, steps_for(period));
        if (!course) return void(++findings.not_judged);
        at = course->end;
        distance = norm(plus(state_vector(at), state_vector(start), -1.0));
        if (!expects_stable && distance > 10.0 * disturbance) break;
    }
    const bool shrinks = distance < 0.5 * disturbance;
    const bool grows = distance > 3.0 * disturbance;
    if (shrinks == grows) return void(++findings.not_judged);
    findings.check(shrinks == expects_stable, "stability", [&] {
        return fmt::format(
            "stable is {} with the largest multiplier {}, but a disturbance of {} becomes {} in {} periods",
            stable.dump(), largest, disturbance, distance, periods);
    });
}

}  // namespace

void judge_closed_motion(const Model& model, const nlohmann::json& point, bool excited, Findings& findings) {
    const PlainFlow flow(model);
    const Point start = state_of(point.at("state"), model);
    const double period = number(point.at("period"));
    const auto end = flow_end(flow, start, period, steps_for(period));
    if (!end) return void(++findings.not_judged);
    const double scale = 1.0 + norm(end->state), miss = norm(plus(end->state, state_vector(start), -1.0));
    const double growth = 1.0 + largest_modulus(multipliers_of(point));
    if (end->spread > 1e-5 * scale) return void(++findings.not_judged);
    const bool closes = miss <= 10.0 * end->spread + closing_tolerance * scale * growth;
    if (!closes && !events_are_certain(flow, start, period, 2 * steps_for(period), end->course.events))
        return void(++findings.not_judged);
    findings.check(closes, "orbit-open", [&] {
        return fmt::format("the orbit from {} {} with the period {} at p = {} misses its start by {} (events {})",
                           start.q, start.u, period, model.parameter.value_or(0.0), miss, end->course.events);
    });
    for (std::size_t c = 0; c < model.contacts.size(); ++c)
        findings.check(flow.mechanics().gap(c, start) >= -1e-9 * scale, "orbit-gap", [&] {
            return fmt::format("the orbit begins at {} inside of '{}'", start.q, model.contacts[c].name);
        });
    judge_verdict(point, excited, findings);
    const auto derivative = map_derivative(flow, start, period, steps_for(period));
    double size = 1.0;
    if (derivative)
        for (const Vector& row : derivative->rows) size = std::max(size, norm(row));
    if (!derivative || derivative->spread > 1e-3 * size) return void(++findings.not_judged);
    const Vector expected = characteristic_polynomial(derivative->rows);
    const Vector stated = polynomial_of(multipliers_of(point));
    double tolerance = 1.0;
    for (const Complex& m : multipliers_of(point)) tolerance *= 1.0 + std::abs(m);
    tolerance *= 1e-3;
    // The coefficients are sums of products of the entries, whose errors are those of the differences.
    tolerance += 20.0 * size * (derivative->spread + 1e-7 * size);
    const bool same_size = expected.size() == stated.size();
    findings.check(same_size && norm(plus(expected, stated, -1.0)) <= tolerance, "multipliers", [&] {
        return fmt::format(
            "the orbit from {} {} with the period {} at p = {} has the multipliers {}: coefficients {}; differences "
            "give {}",
            start.q, start.u, period, model.parameter.value_or(0.0), point.at("multipliers").dump(), stated, expected);
    });
}

namespace {

std::vector<std::string> orbit_words(const Model& model, const std::string& command, const std::string& file) {
    std::vector<std::string> words = {command, file, "--json", "--settle", model.period.empty() ? "30" : "60"};
    if (!model.period.empty()) words.insert(words.end(), {"--period", model.period});
    return words;
}

}  // namespace

Findings judge_orbit(const Model& model, const Program& program) {
    Findings findings;
    const auto file = program.write("model.toml", model.toml()).string();
    nlohmann::json document;
    if (!call(program, orbit_words(model, "orbit", file), 20, document, findings)) return findings;
    if (document.value("status", "") != "converged") return ++findings.refused, findings;
    const bool excited = !model.period.empty();
    judge_closed_motion(model, document, excited, findings);
    if (excited && findings.violations.empty())
        judge_stability(PlainFlow(model), document, state_of(document.at("state"), model),
                        number(document.at("period")), findings);
    return findings;
}

namespace {

/// |Π (λ − μ)| without the multipliers that are far: how far the nearest multiplier is from a value.
double distance_to(const std::vector<Complex>& multipliers, Complex value) {
    double nearest = 1e300;
    for (const Complex& m : multipliers) nearest = std::min(nearest, std::abs(m - value));
    return nearest;
}

/// What the name of a special point says about its multipliers.
void judge_special(const nlohmann::json& special, bool excited, Findings& findings) {
    const std::string kind = special.at("kind");
    const auto multipliers = transverse(multipliers_of(special.at("at")), excited);
    const auto text = [&] {
        return fmt::format("a special point '{}' at {} has the multipliers {}", kind, special.at("parameter").dump(),
                           special.at("at").at("multipliers").dump());
    };
    constexpr double near = 1e-3;
    if (kind == "fold" || kind == "branch point")
        findings.check(distance_to(multipliers, 1.0) < near, "special-multiplier", text);
    if (kind == "period doubling") findings.check(distance_to(multipliers, -1.0) < near, "special-multiplier", text);
    if (kind == "torus") {
        bool pair = false;
        for (const Complex& m : multipliers) pair = pair || (std::abs(std::abs(m) - 1.0) < near && m.imag() != 0.0);
        findings.check(pair, "special-multiplier", text);
    }
}

double parameter_of(const nlohmann::json& point) { return number(point.at("parameter").at("p")); }

/// Between two neighbouring points of a branch with different numbers of unstable multipliers lies a special point;
/// where the parameter turns back lies a fold or a change of the events.
void judge_missing_special(const nlohmann::json& branch, Findings& findings) {
    const auto& points = branch.at("points");
    const auto named = [&](std::size_t low, std::size_t high) {
        return std::ranges::any_of(branch.at("special"), [&](const nlohmann::json& special) {
            const auto index = special.at("index").get<std::size_t>();
            return index >= low && index <= high;
        });
    };
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
        const auto &a = points[i], &b = points[i + 1];
        if (a.at("stable").is_null() || b.at("stable").is_null()) continue;
        const bool changes = a.at("unstable_count") != b.at("unstable_count");
        if (!changes) continue;
        findings.check(named(i, i + 2), "special-missing", [&] {
            return fmt::format(
                "between p = {} and {} the number of unstable multipliers changes, without a special point",
                parameter_of(a), parameter_of(b));
        });
    }
    for (std::size_t i = 1; i + 1 < points.size(); ++i) {
        const double before = parameter_of(points[i]) - parameter_of(points[i - 1]);
        const double after = parameter_of(points[i + 1]) - parameter_of(points[i]);
        if (before * after >= 0.0) continue;
        findings.check(named(i > 1 ? i - 1 : 0, i + 2), "fold-missing", [&] {
            return fmt::format("the branch turns back at p = {}, without a special point", parameter_of(points[i]));
        });
    }
}

}  // namespace

Findings judge_branch(const Model& model, const nlohmann::json& document) {
    Findings findings;
    const bool excited = !model.period.empty();
    const auto judge_one = [&](const nlohmann::json& branch) {
        const auto& points = branch.at("points");
        judge_missing_special(branch, findings);
        for (const auto& point : points) judge_verdict(point, excited, findings);
        constexpr std::size_t judged_points = 4;  // of each branch: they cost the most
        for (std::size_t k = 0; k < judged_points && !points.empty(); ++k) {
            const auto& point = points[k * (points.size() - 1) / (judged_points - 1)];
            judge_closed_motion(model.with_parameter(parameter_of(point)), point, excited, findings);
            if (!findings.violations.empty()) return;
        }
        for (const auto& special : branch.at("special")) {
            judge_special(special, excited, findings);
            const std::string kind = special.at("kind");
            if (kind == "fold" || kind == "period doubling" || kind == "torus")
                judge_closed_motion(model.with_parameter(parameter_of(special)), special.at("at"), excited, findings);
        }
    };
    judge_one(document);
    for (const auto& branch : document.at("branches"))
        if (findings.violations.empty()) judge_one(branch);
    return findings;
}

Findings judge_continue(const Model& model, const Program& program) {
    Findings findings;
    const auto file = program.write("model.toml", model.toml()).string();
    nlohmann::json document;
    auto words = orbit_words(model, "continue", file);
    const double p = *model.parameter;
    words.insert(words.end(), {"--over", fmt::format("p={}:{}", 0.7 * p, 1.4 * p)});
    if (!call(program, words, 60, document, findings)) return findings;
    if (document.at("points").empty()) return ++findings.refused, findings;
    findings += judge_branch(model, document);
    return findings;
}

namespace {

/// Coefficients of the characteristic polynomial of the motion near an equilibrium without contact, by differences.
Vector linearised_polynomial(const Mechanics& mechanics, const Point& at) {
    const std::size_t n = at.q.size();
    Matrix a(2 * n, Vector(2 * n, 0.0));
    constexpr double by = 1e-6;
    for (std::size_t j = 0; j < 2 * n; ++j) {
        std::vector<Vector> rates;
        for (const double side : {1.0, -1.0}) {
            Point p = at;
            (j < n ? p.q[j] : p.u[j - n]) += side * by;
            rates.push_back(solve(mechanics.mass(p), mechanics.force(p)));
        }
        for (std::size_t i = 0; i < n; ++i) a[n + i][j] = (rates[0][i] - rates[1][i]) / (2.0 * by);
        if (j >= n) a[j - n][j] = 1.0;
    }
    return characteristic_polynomial(a);
}

void judge_rest_point(const Model& model, const nlohmann::json& point, Findings& findings) {
    const Mechanics mechanics(model);
    Point at = state_of(point.at("state"), model);
    const auto closed = point.at("contacts_closed").get<std::vector<std::string>>();
    const Vector force = mechanics.force(at);
    const double scale = 1.0 + norm(force) + norm(at.q);
    std::vector<Phase> phases;
    Vector needed = force;
    for (double& f : needed) f = -f;
    for (std::size_t c = 0; c < model.contacts.size(); ++c) {
        const double gap = mechanics.gap(c, at);
        const bool listed = std::ranges::find(closed, model.contacts[c].name) != closed.end();
        phases.push_back(listed ? Phase::sliding : Phase::open);
        findings.check(gap >= -1e-8 * scale && (!listed || gap <= 1e-8 * scale), "rest-gap", [&] {
            return fmt::format("the equilibrium {} at p = {} has the gap {} of '{}'", at.q, *model.parameter, gap,
                               model.contacts[c].name);
        });
    }
    const Explanation found = explain(mechanics, at, needed, phases);
    findings.check(found.residual <= 1e-7 * scale, "rest-force", [&] {
        return fmt::format("the equilibrium {} at p = {} is not held: the force {} is left", at.q, *model.parameter,
                           found.residual);
    });
    if (!closed.empty()) return;
    const Vector expected = linearised_polynomial(mechanics, at);
    std::vector<Complex> eigenvalues;
    double size = 1.0, largest = -1e300;
    for (const auto& pair : point.at("eigenvalues")) {
        eigenvalues.emplace_back(number(pair[0]), number(pair[1]));
        size *= 1.0 + std::abs(eigenvalues.back());
        largest = std::max(largest, eigenvalues.back().real());
    }
    const Vector stated = polynomial_of(eigenvalues);
    findings.check(stated.size() == expected.size() && norm(plus(stated, expected, -1.0)) <= 1e-4 * size, "eigenvalues",
                   [&] {
                       return fmt::format("the equilibrium {} at p = {} has the eigenvalues {}; differences give {}",
                                          at.q, *model.parameter, point.at("eigenvalues").dump(), expected);
                   });
    const auto& stable = point.at("stable");
    if (stable.is_null() || std::abs(largest) < 1e-4) return;
    findings.check(stable.get<bool>() == (largest < 0.0), "verdict",
                   [&] { return fmt::format("stable is {}, the largest real part {}", stable.dump(), largest); });
}

}  // namespace

Findings judge_equilibrium_branch(const Model& model, const nlohmann::json& document) {
    Findings findings;
    for (const auto& point : document.at("points")) {
        judge_rest_point(model.with_parameter(parameter_of(point)), point, findings);
        if (!findings.violations.empty()) return findings;
    }
    judge_missing_special(document, findings);
    for (const auto& special : document.at("special")) {
        if (special.at("kind") != "fold" || !special.at("at").at("contacts_closed").empty()) continue;
        double nearest = 1e300;
        for (const auto& pair : special.at("at").at("eigenvalues"))
            nearest = std::min(nearest, std::hypot(number(pair[0]), number(pair[1])));
        findings.check(nearest < 1e-2, "special-eigenvalue", [&] {
            return fmt::format("the fold at {} has no eigenvalue near 0: {}", special.at("parameter").dump(),
                               special.at("at").at("eigenvalues").dump());
        });
    }
    return findings;
}

Findings judge_equilibria_over(const Model& model, const Program& program) {
    Findings findings;
    const auto file = program.write("model.toml", model.toml()).string();
    nlohmann::json document;
    const double p = *model.parameter;
    if (!call(program, {"continue", file, "--json", "--equilibria", "--over", fmt::format("p={}:{}", p - 1.5, p + 1.5)},
              20, document, findings))
        return findings;
    if (document.at("points").empty()) return ++findings.refused, findings;
    findings += judge_equilibrium_branch(model, document);
    return findings;
}

namespace {

double value_of_period(const std::string& text) {
    return 2.0 * std::numbers::pi / std::stod(text.substr(std::string("2*pi/").size()));
}

/// Makes the columns of `basis` orthonormal by Gram and Schmidt, and adds the logarithms of their lengths.
void orthonormalise(std::vector<Vector>& basis, Vector& logarithms) {
    for (std::size_t i = 0; i < basis.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) basis[i] = plus(basis[i], basis[j], -dot(basis[i], basis[j]));
        const double length = norm(basis[i]);
        logarithms[i] += std::log(length);
        for (double& x : basis[i]) x /= length;
    }
}

}  // namespace

Findings judge_diagram_document(const Model& model, const nlohmann::json& document) {
    Findings findings;
    const double period = value_of_period(model.period);
    const auto& values = document.at("parameter").at("values");
    for (std::size_t v = 0; v < values.size() && findings.violations.empty(); ++v) {
        const Model here = model.with_parameter(number(values[v]));
        const PlainFlow flow(here);
        const auto& section = document.at("section")[v];
        std::vector<Vector> basis;
        for (std::size_t i = 0; i < 2 * model.size(); ++i) {
            basis.emplace_back(2 * model.size(), 0.0);
            basis.back()[i] = 1.0;
        }
        Vector logarithms(2 * model.size(), 0.0);
        const std::size_t links = section.empty() ? 0 : section.size() - 1;
        std::size_t measured = 0;
        bool usable = links > 0;
        for (std::size_t k = 0; k < links && findings.violations.empty(); ++k) {
            Point start;
            Vector next;
            for (std::size_t i = 0; i < 2 * model.size(); ++i) {
                (i < model.size() ? start.q : start.u).push_back(number(section[k][i]));
                next.push_back(number(section[k + 1][i]));
            }
            const auto end = flow_end(flow, start, period, steps_for(period));
            if (!end || end->spread > 1e-5 * (1.0 + norm(next))) {
                ++findings.not_judged;
                usable = false;
                continue;
            }
            const double miss = norm(plus(end->state, next, -1.0));
            const auto derivative = usable ? map_derivative(flow, start, period, steps_for(period)) : std::nullopt;
            double size = 1.0;
            if (derivative)
                for (const Vector& row : derivative->rows) size = std::max(size, norm(row));
            findings.check(miss <= 10.0 * end->spread + 1e-5 * (1.0 + norm(next)) * size, "section-point", [&] {
                return fmt::format("p = {}: from point {} of the section the plain integrator reaches {}, not {}",
                                   values[v].dump(), k, end->state, next);
            });
            usable = usable && derivative && derivative->spread <= 1e-2 * size;
            if (!usable) continue;
            for (Vector& column : basis) column = times(derivative->rows, column);
            Vector lengths(2 * model.size(), 0.0);
            orthonormalise(basis, lengths);
            if (k < links / 4) continue;
            logarithms = plus(logarithms, lengths);
            ++measured;
        }
        const auto& exponents = document.at("exponents")[v];
        if (!usable || measured == 0 || exponents.empty() || exponents[0].is_null()) {
            ++findings.not_judged;
            continue;
        }
        const double expected = logarithms[0] / (static_cast<double>(measured) * period), stated = number(exponents[0]);
        // The basis may have turned differently in the first quarter, which matters less with each point.
        const double tolerance = 0.02 + 0.05 * std::abs(expected) + 4.0 / (static_cast<double>(measured) * period);
        findings.check(std::abs(expected - stated) <= tolerance, "exponent", [&] {
            return fmt::format("p = {}: the largest exponent is {}, differences give {}", values[v].dump(), stated,
                               expected);
        });
        Vector all;
        for (const auto& e : exponents) all.push_back(number(e));
        double sum_stated = 0.0, sum_expected = 0.0;
        for (const double e : all) sum_stated += e;
        for (const double l : logarithms) sum_expected += l / (static_cast<double>(measured) * period);
        if (!std::isfinite(sum_stated) || sum_expected < -8.0 / period) continue;
        findings.check(std::abs(sum_stated - sum_expected) <= tolerance + 0.05 * std::abs(sum_expected), "exponent-sum",
                       [&] {
                           return fmt::format("p = {}: the exponents {} have the sum {}, differences give {}",
                                              values[v].dump(), all, sum_stated, sum_expected);
                       });
    }
    return findings;
}

Findings judge_diagram(const Model& model, const Program& program) {
    Findings findings;
    const auto file = program.write("model.toml", model.toml()).string();
    nlohmann::json document;
    const double p = *model.parameter;
    if (!call(program,
              {"diagram", file, "--json", "--over", fmt::format("p={},{}", p, 1.7 * p), "--period", model.period,
               "--transient", "30", "--keep", "24", "--exponents", "--threads", "1"},
              40, document, findings))
        return findings;
    findings += judge_diagram_document(model, document);
    return findings;
}

}  // namespace trials
