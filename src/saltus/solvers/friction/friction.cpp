// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction/friction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/error.hpp"
#include "saltus/solvers/detail/residual.hpp"
#include "saltus/solvers/friction/detail/friction_state.hpp"
#include "saltus/solvers/friction/detail/one_contact.hpp"
#include "saltus/solvers/friction/planar.hpp"

namespace saltus::solvers {

Workspace::Workspace() = default;
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

Workspace::State& Workspace::state() {
    if (!state_) state_ = std::make_unique<State>();
    return *state_;
}

namespace {

/// True if all values are finite. x − x is 0 for finite x and NaN otherwise; four independent sums for speed.
bool finite(std::span<const double> values) {
    double sum[4] = {};
    std::size_t k = 0;
    for (; k + 4 <= values.size(); k += 4)
        for (std::size_t l = 0; l < 4; ++l) sum[l] += values[k + l] - values[k + l];
    for (; k < values.size(); ++k) sum[0] += values[k] - values[k];
    return sum[0] + sum[1] + sum[2] + sum[3] == 0.0;
}

}  // namespace

int sweep_blocks(const FrictionProblem& p, const GaussSeidel& method, Workspace::State& w, std::vector<double>& r) {
    constexpr double progress = 0.999;     // a residual above this share of the best one is no progress
    constexpr int max_idle_sweeps = 1000;  // sweeps without progress after which the method gives up
    w.sweeper.prepare(p);
    w.sweep_best = r;
    double best_defect = residual(p, r, w.scratch);
    int sweeps = 0, batch = 1, idle = 0;
    while (sweeps < method.max_sweeps && best_defect > method.tolerance) {
        const int until = std::min(method.max_sweeps, sweeps + batch);
        w.sweep_before = r;
        for (; sweeps < until; ++sweeps) w.sweeper.sweep(p, r);
        if (r == w.sweep_before) break;  // further sweeps would repeat the same numbers
        const double now = residual(p, r, w.scratch);
        idle = now < progress * best_defect ? 0 : idle + batch;
        if (now < best_defect) {
            best_defect = now;
            w.sweep_best = r;
        }
        if (idle > max_idle_sweeps) break;
        batch = std::min(2 * batch, std::max(1, method.check_every));
    }
    r = w.sweep_best;
    return sweeps;
}

void conclude(const std::vector<double>& r, const std::vector<double>& v, double defect, double tolerance,
              Status otherwise, Solution& s) {
    s.residual = defect;
    s.status = s.residual <= tolerance ? Status::converged : otherwise;
    s.r = r;
    s.v = v;
}

namespace {

/// Judges w.r, the result of the one method `name`.
void conclude_single(const FrictionProblem& p, std::string_view name, int iterations, double tolerance,
                     Status otherwise, Workspace::State& w, Solution& s) {
    const double defect = verdict(p, w.r, w.scratch);
    conclude(w.r, w.scratch, defect, tolerance, otherwise, s);
    s.method = name;
    s.iterations = iterations;
    s.attempts.push_back({name, iterations, s.residual});
}

void run(const FrictionProblem& p, const GaussSeidel& method, Workspace::State& w, Solution& s) {
    const int sweeps = sweep_blocks(p, method, w, w.r);
    conclude_single(p, "gauss-seidel", sweeps, method.tolerance,
                    sweeps < method.max_sweeps ? Status::stalled : Status::limit, w, s);
}

void run(const FrictionProblem& p, const Newton& method, Workspace::State& w, Solution& s) {
    const bool possible = w.newton().prepare(p);
    const int iterations = possible ? w.newton().run(method, w.r) : 0;
    conclude_single(p, "newton", iterations, method.tolerance,
                    possible && iterations < method.max_iterations ? Status::stalled : Status::limit, w, s);
}

void run(const FrictionProblem& p, const Proximal& method, Workspace::State& w, Solution& s) {
    const bool possible = w.newton().prepare(p);
    const int iterations = possible ? w.newton().run(method, w.r) : 0;
    conclude_single(p, "proximal", iterations, method.tolerance,
                    possible && iterations < method.max_steps ? Status::stalled : Status::limit, w, s);
}

void run(const FrictionProblem& p, const Lemke& method, Workspace::State& w, Solution& s) {
    int pivots = 0;
    if (const auto planar = PlanarComplementarity::of(p)) {
        const Solution z = solve(planar->problem, method);
        pivots = z.iterations;
        w.r = planar->reactions(z.r);
    }
    conclude_single(p, "lemke", pivots, method.tolerance, Status::stalled, w, s);
}

void solve_rescaled(const FrictionProblem& p, const FrictionMethod& method, Workspace& workspace, Solution& s,
                    std::span<const double> guess) {
    Rescaled& rescaled = workspace.state().rescaled;
    rescaled.take(p, guess);
    solve(rescaled.problem(), method, workspace, s, rescaled.guess());
    rescaled.back(s);
    if (!finite(s.r) || !finite(s.v)) s.status = Status::stalled;
}

void solve_orthotropic(const FrictionProblem& p, const FrictionMethod& method, Workspace& workspace, Solution& s,
                       std::span<const double> guess) {
    Isotropic& isotropic = workspace.state().isotropic;
    isotropic.take(p, guess);
    // The residual in the original coordinates may be larger than in the isotropic ones: ask for ten times less.
    const double tolerance = std::visit([](const auto& m) { return m.tolerance; }, method);
    FrictionMethod stricter = method;
    std::visit([](auto& m) { m.tolerance *= 0.1; }, stricter);
    solve(isotropic.problem(), stricter, workspace, s, isotropic.guess());
    if (s.status == Status::non_finite) return;
    isotropic.back(s);
    p.W.multiply(s.r, s.v);
    for (std::size_t i = 0; i < s.r.size(); ++i) s.v[i] += p.q[i];
    // The status is decided by the original problem.
    s.residual = verdict(p, s.r, workspace.state().scratch);
    if (s.residual <= tolerance)
        s.status = Status::converged;
    else if (s.status == Status::converged)
        s.status = Status::stalled;
}

/// One frictionless contact, v = W r + q with 0 <= v ⊥ r >= 0, has the solution r = max(0, −q/W) if W > 0. False for
/// all other problems, and for numbers so large or small that their products might overflow.
bool solve_one_normal(const FrictionProblem& p, const FrictionMethod& method, Workspace& workspace, Solution& s) {
    const auto* const automatic = std::get_if<Automatic>(&method);
    if (automatic == nullptr || p.contacts() != 1 || p.q.size() != 1 || p.laws[0].kind != LawKind::unilateral)
        return false;
    const double W = p.W.values[0], q = p.q[0];
    constexpr double small = 1e-100, large = 1e100;  // products and quotients of two such numbers are finite and not 0
    if (!(W > small && W < large && std::abs(q) < large && (q == 0.0 || std::abs(q) > small))) return false;
    Workspace::State& w = workspace.state();
    w.r.assign(1, q < 0.0 ? -q / W : 0.0);
    w.scratch.resize(1);
    s.attempts.clear();
    s.certificate.clear();
    conclude_single(p, "closed-form", 1, automatic->tolerance, Status::stalled, w, s);
    return true;
}

/// One contact with friction along a line and no guess: the closed form of solve_one. The automatic method would find
/// the same, with more work beside it. False for all other problems, and if the closed form does not satisfy the law.
bool solve_one_planar(const FrictionProblem& p, const FrictionMethod& method, Workspace& workspace, Solution& s) {
    const auto* const automatic = std::get_if<Automatic>(&method);
    if (automatic == nullptr || p.contacts() != 1 || p.q.size() != 2 || p.laws[0].kind != LawKind::friction2)
        return false;
    constexpr double small = 1e-100, large = 1e100;  // as in solve_one_normal
    const double* const W = p.W.values.data();
    const auto moderate = [](double x) { return std::abs(x) < large; };
    if (!(W[0] > small && W[3] > small && std::all_of(W, W + 4, moderate) && moderate(p.q[0]) && moderate(p.q[1])))
        return false;
    Workspace::State& w = workspace.state();
    w.r.assign(2, 0.0);
    if (!solve_one(p.laws[0], 2, W, p.q.data(), 0.0, w.r.data())) return false;
    w.scratch.resize(2);
    s.attempts.clear();
    s.certificate.clear();
    conclude_single(p, "closed-form", 1, automatic->tolerance, Status::stalled, w, s);
    return usable(s.status);
}

}  // namespace

void solve(const FrictionProblem& p, const FrictionMethod& method, Workspace& workspace, Solution& s,
           std::span<const double> guess) {
    SALTUS_EXPECT(p.W.blocks() == p.contacts() && p.W.rows() == static_cast<int>(p.q.size()));
    SALTUS_EXPECT(guess.empty() || guess.size() == p.q.size());
    if (solve_one_normal(p, method, workspace, s)) return;
    if (guess.empty() && solve_one_planar(p, method, workspace, s)) return;
    const bool numbers = finite(p.W.values) && finite(p.q);
    if (numbers && Rescaled::needed(p)) return solve_rescaled(p, method, workspace, s, guess);
    if (Isotropic::needed(p)) return solve_orthotropic(p, method, workspace, s, guess);
    Workspace::State& w = workspace.state();
    if (guess.empty() || !finite(guess))
        w.r.assign(p.q.size(), 0.0);
    else
        w.r.assign(guess.begin(), guess.end());
    w.scratch.resize(p.q.size());
    s.status = Status::limit;
    s.method = {};
    s.iterations = 0;
    s.attempts.clear();
    s.certificate.clear();
    if (!numbers) {
        s.status = Status::non_finite;
        s.residual = std::numeric_limits<double>::infinity();
        s.r.assign(p.q.size(), 0.0);
        s.v.clear();
        return;
    }
    std::visit([&](const auto& m) { run(p, m, w, s); }, method);
}

Solution solve(const FrictionProblem& p, const FrictionMethod& method, std::span<const double> guess) {
    Workspace workspace;
    Solution s;
    solve(p, method, workspace, s, guess);
    return s;
}

}  // namespace saltus::solvers
