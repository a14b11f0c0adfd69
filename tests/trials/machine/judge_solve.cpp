// SPDX-License-Identifier: Apache-2.0
#include "machine/judge_solve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "machine/calls.hpp"

namespace trials {

std::string ContactProblem::text(const std::string& remark) const {
    const std::size_t n = q.size();
    std::string result = dimension == 1 ? fmt::format("{}\n", n) : fmt::format("{}\n{}\n", dimension, contacts());
    result += fmt::format("0\n{0}\n{0}\n{0} {0}\n", n);
    for (std::size_t column = 0; column < n; ++column)
        for (std::size_t row = 0; row < n; ++row)
            result += fmt::format("{}{}", W[row][column], row + 1 < n ? " " : "\n");
    result += fmt::format("{}\n", fmt::join(q, " "));
    if (dimension > 1) result += fmt::format("{}\n", fmt::join(mu, " "));
    return result + remark + "\n";
}

namespace {

/// A problem W = J D Jᵀ of a body with random directions J of contact and positive masses D⁻¹. All numbers are
/// multiples of 1/16, so that W has no rounding errors. If J has more rows than columns then W is singular.
Model mechanical(Random& random, std::size_t dimension) {
    ContactProblem problem;
    problem.dimension = dimension;
    const std::size_t contacts = static_cast<std::size_t>(random.whole(1, 4)), rows = contacts * dimension;
    const std::size_t coordinates = static_cast<std::size_t>(random.whole(1, 6));
    const auto number = [&](int reach) { return static_cast<double>(random.whole(-reach, reach)) / 4.0; };
    Matrix J(rows, Vector(coordinates));
    for (Vector& row : J)
        for (double& x : row) x = number(8);
    if (contacts > 1 && random.chance(0.3))
        std::copy_n(J.begin(), dimension, J.begin() + static_cast<std::ptrdiff_t>(dimension));  // two at one place
    Vector flexibility(coordinates), u(coordinates);
    for (double& x : flexibility) x = static_cast<double>(random.whole(1, 8)) / 4.0;
    for (double& x : u) x = number(12);
    problem.W.assign(rows, Vector(rows, 0.0));
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < rows; ++j)
            for (std::size_t k = 0; k < coordinates; ++k) problem.W[i][j] += J[i][k] * flexibility[k] * J[j][k];
    problem.q = times(J, u);
    if (random.chance(0.3))  // walls that move, so that there may be no solution
        for (double& x : problem.q) x += number(4);
    for (std::size_t i = 0; i < contacts && dimension > 1; ++i)
        problem.mu.push_back(random.chance(0.15) ? 0.0 : static_cast<double>(random.whole(1, 24)) / 16.0);
    Model model;
    model.problem = problem;
    return model;
}

Model planar(Random& random) { return mechanical(random, 2); }
Model spatial(Random& random) { return mechanical(random, 3); }
Model unilateral(Random& random) { return mechanical(random, 1); }

/// A complementarity problem with a matrix of no class.
Model arbitrary(Random& random) {
    const std::size_t n = static_cast<std::size_t>(random.whole(1, 6));
    ContactProblem problem;
    problem.W.assign(n, Vector(n));
    for (Vector& row : problem.W)
        for (double& x : row) x = random.chance(0.2) ? 0.0 : static_cast<double>(random.whole(-8, 8)) / 4.0;
    for (std::size_t i = 0; i < n; ++i) problem.q.push_back(static_cast<double>(random.whole(-8, 6)) / 4.0);
    Model model;
    model.problem = problem;
    return model;
}

using Long = std::vector<long double>;

Long read(const nlohmann::json& list) {
    Long result;
    for (const auto& value : list) result.push_back(static_cast<long double>(number(value)));
    return result;
}

long double largest(const Long& x) {
    long double result = 0.0L;
    for (const long double value : x) result = std::max(result, std::abs(value));
    return result;
}

Long velocities(const ContactProblem& problem, const Long& r) {
    Long v(problem.q.begin(), problem.q.end());
    for (std::size_t i = 0; i < v.size(); ++i)
        for (std::size_t j = 0; j < v.size(); ++j) v[i] += static_cast<long double>(problem.W[i][j]) * r[j];
    return v;
}

/// How far reactions r and velocities v are from the laws, relative to their sizes: 0 <= v_N ⊥ r_N >= 0, |r_T| <= μ
/// r_N, and r_T = −μ r_N v_T/|v_T| if v_T is not zero.
long double law_error(const ContactProblem& problem, const Long& r, const Long& v) {
    const long double force = std::max(largest(r), 1e-12L);
    const long double speed = std::max({largest(v), largest(Long(problem.q.begin(), problem.q.end())), 1e-12L});
    long double worst = 0.0L;
    const std::size_t d = problem.dimension;
    for (std::size_t c = 0; c < problem.contacts(); ++c) {
        const long double normal = r[c * d], rate = v[c * d];
        worst = std::max({worst, -normal / force, -rate / speed, std::min(normal / force, rate / speed)});
        long double friction = 0.0L, slip = 0.0L, power = 0.0L;
        for (std::size_t k = 1; k < d; ++k) {
            friction = std::hypot(friction, r[c * d + k]);
            slip = std::hypot(slip, v[c * d + k]);
            power += r[c * d + k] * v[c * d + k];
        }
        if (d == 1) continue;
        const long double bound = static_cast<long double>(problem.mu[c]) * std::max(normal, 0.0L);
        // The power of friction is −μ r_N |v_T|: friction opposes slip with its full strength.
        worst = std::max({worst, (friction - bound) / force, std::abs(power + bound * slip) / (force * speed)});
    }
    return worst;
}

/// Whether some complementary z, found by solving for every active set, has all inequalities with a margin: then the
/// problem certainly has a solution.
bool has_certain_solution(const ContactProblem& problem) {
    const std::size_t n = problem.q.size();
    for (std::size_t set = 0; set < (std::size_t{1} << n); ++set) {
        std::vector<std::size_t> active;
        for (std::size_t i = 0; i < n; ++i)
            if ((set >> i & 1U) != 0) active.push_back(i);
        Matrix a(active.size(), Vector(active.size()));
        Vector b;
        for (std::size_t i = 0; i < active.size(); ++i) {
            for (std::size_t j = 0; j < active.size(); ++j) a[i][j] = problem.W[active[i]][active[j]];
            b.push_back(-problem.q[active[i]]);
        }
        const Vector part = active.empty() ? Vector{} : solve(a, b);
        if (part.size() != active.size()) continue;
        Long z(n, 0.0L);
        for (std::size_t i = 0; i < active.size(); ++i) z[active[i]] = part[i];
        const Long w = velocities(problem, z);
        bool holds = true;
        for (std::size_t i = 0; i < n; ++i) {
            const bool in_set = (set >> i & 1U) != 0;
            holds = holds && (in_set ? z[i] > 1e-9L && std::abs(w[i]) < 1e-12L * (1.0L + largest(z)) : w[i] > 1e-9L);
        }
        if (holds) return true;
    }
    return false;
}

void judge_infeasible(const ContactProblem& problem, const nlohmann::json& document, Findings& findings) {
    if (problem.dimension == 1)
        findings.check(!has_certain_solution(problem), "infeasible",
                       [&] { return std::string("said to have no solution, but an active set solves it"); });
    const Long y = document.contains("certificate") ? read(document.at("certificate")) : Long{};
    if (y.size() != problem.q.size()) return void(++findings.not_judged);  // several vectors, or none
    // y >= 0 on normal rows and 0 elsewhere, yᵀW r <= 0 for all r that the laws allow, and yᵀq < 0.
    const std::size_t d = problem.dimension;
    long double rate = 0.0L, size = 0.0L;
    bool sound = true;
    for (std::size_t i = 0; i < y.size(); ++i) {
        sound = sound && (i % d == 0 ? y[i] >= 0.0L : y[i] == 0.0L);
        rate += y[i] * static_cast<long double>(problem.q[i]);
        size += std::abs(y[i] * static_cast<long double>(problem.q[i]));
    }
    sound = sound && rate < -1e-12L * size;
    for (std::size_t c = 0; c < problem.contacts(); ++c) {
        Long column(d, 0.0L);
        long double terms = 0.0L, slope = 0.0L;
        for (std::size_t k = 0; k < d; ++k)
            for (std::size_t i = 0; i < y.size(); ++i) {
                column[k] += y[i] * static_cast<long double>(problem.W[i][c * d + k]);
                terms += std::abs(y[i] * static_cast<long double>(problem.W[i][c * d + k]));
            }
        for (std::size_t k = 1; k < d; ++k) slope = std::hypot(slope, column[k]);
        const long double mu = d > 1 ? static_cast<long double>(problem.mu[c]) : 0.0L;
        sound = sound && column[0] + mu * slope <= 1e-9L * terms;
    }
    findings.check(sound, "certificate", [&] { return std::string("the certificate proves nothing"); });
}

}  // namespace

const std::vector<Generator>& problem_generators() {
    static const std::vector<Generator> generators = {
        {"planar", planar}, {"spatial", spatial}, {"unilateral", unilateral}, {"arbitrary", arbitrary}};
    return generators;
}

Findings judge_solution(const ContactProblem& problem, const nlohmann::json& document) {
    Findings findings;
    const std::string status = document.at("status");
    if (status == "infeasible") {
        judge_infeasible(problem, document, findings);
        return findings;
    }
    if (status != "converged") {
        ++findings.refused;
        return findings;
    }
    const bool friction = problem.dimension > 1;
    const Long r = read(document.at(friction ? "r" : "z")), v = read(document.at(friction ? "v" : "w"));
    if (r.size() != problem.q.size() || v.size() != r.size()) {
        findings.check(false, "document", [] { return std::string("the solution has another length than q"); });
        return findings;
    }
    const Long expected = velocities(problem, r);
    long double off = 0.0L;
    for (std::size_t i = 0; i < v.size(); ++i) off = std::max(off, std::abs(v[i] - expected[i]));
    const long double size = largest(expected) + largest(r) + 1.0L;
    findings.check(off <= 1e-12L * size, "velocities",
                   [&] { return fmt::format("v differs from W r + q by {}", static_cast<double>(off)); });
    const long double error = law_error(problem, r, expected);
    findings.check(error <= 1e-6L, "law", [&] {
        return fmt::format("converged with residual {}, but the laws are violated by {}",
                           number(document.at("residual")), static_cast<double>(error));
    });
    if (!document.contains("solutions")) return findings;
    const auto& solutions = document.at("solutions");
    bool found = false;
    for (const auto& list : solutions.at("r")) {
        const Long other = read(list);
        const long double wrong = law_error(problem, other, velocities(problem, other));
        findings.check(wrong <= 1e-6L, "solutions", [&] {
            return fmt::format("a listed solution violates the laws by {}", static_cast<double>(wrong));
        });
        long double distance = 0.0L;
        for (std::size_t i = 0; i < r.size(); ++i) distance = std::max(distance, std::abs(other[i] - r[i]));
        found = found || distance <= 1e-5L * (1.0L + largest(r));
    }
    if (solutions.value("complete", false))
        findings.check(found, "complete", [] { return std::string("the solution is not among all solutions"); });
    return findings;
}

Findings judge_solve(const Model& model, const Program& program) {
    Findings findings;
    const auto file = program.write("problem.dat", model.toml()).string();
    const std::string kind = model.problem->dimension == 1 ? "lcp" : "fc";
    nlohmann::json document;
    if (!call(program, {"solve", file, "--kind", kind, "--all", "--json"}, 10, document, findings)) return findings;
    findings += judge_solution(*model.problem, document.at(0));
    return findings;
}

}  // namespace trials
