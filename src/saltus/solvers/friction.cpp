// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "saltus/base/error.hpp"
#include "saltus/solvers/newton.hpp"
#include "saltus/solvers/one_contact.hpp"
#include "saltus/solvers/residual.hpp"

namespace saltus::solvers {

namespace {

bool finite(std::span<const double> values) {
    return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

/// Sweeps over all blocks; returns how many were made.
int sweep_blocks(const FrictionProblem& p, const GaussSeidel& method, std::vector<double>& r, double& defect) {
    std::vector<double> best = r;
    double best_defect = residual(p, r);
    int sweeps = 0, worse = 0;
    while (sweeps < method.max_sweeps && best_defect > method.tolerance) {
        for (int k = 0; k < method.check_every && sweeps < method.max_sweeps; ++k, ++sweeps) sweep(p, r);
        const double now = residual(p, r);
        if (now < best_defect) {
            worse = now > 0.999 * best_defect ? worse + 1 : 0;
            best_defect = now;
            best = r;
        } else {
            ++worse;
        }
        if (worse > 50) break;  // a thousand sweeps without progress
    }
    r = best;
    defect = best_defect;
    return sweeps;
}

Solution finish(const FrictionProblem& p, std::vector<double> r, std::string method, double tolerance,
                Status otherwise) {
    Solution s;
    s.residual = verdict(p, r);
    s.status = s.residual <= tolerance ? Status::converged : otherwise;
    s.method = std::move(method);
    s.v.resize(r.size());
    p.W.multiply(r, s.v);
    for (std::size_t i = 0; i < r.size(); ++i) s.v[i] += p.q[i];
    s.r = std::move(r);
    return s;
}

Solution run(const FrictionProblem& p, const GaussSeidel& method, std::vector<double> r) {
    double defect = 0.0;
    const int sweeps = sweep_blocks(p, method, r, defect);
    Solution s = finish(p, std::move(r), "gauss-seidel", method.tolerance,
                        sweeps < method.max_sweeps ? Status::stalled : Status::limit);
    s.iterations = sweeps;
    s.attempts = {{"gauss-seidel", sweeps, s.residual}};
    return s;
}

Solution run(const FrictionProblem& p, const Newton& method, std::vector<double> r) {
    NewtonSolver solver(p);
    const int iterations = solver.run(method, r);
    Solution s = finish(p, std::move(r), "newton", method.tolerance,
                        iterations < method.max_iterations ? Status::stalled : Status::limit);
    s.iterations = iterations;
    s.attempts = {{"newton", iterations, s.residual}};
    return s;
}

Solution run(const FrictionProblem& p, const Proximal& method, std::vector<double> r) {
    NewtonSolver solver(p);
    const int iterations = solver.run(method, r);
    Solution s = finish(p, std::move(r), "proximal", method.tolerance, Status::stalled);
    s.iterations = iterations;
    s.attempts = {{"proximal", iterations, s.residual}};
    return s;
}

Solution run(const FrictionProblem& p, const Automatic& method, std::vector<double> r) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const auto out_of_time = [&] {
        return method.seconds > 0.0 && std::chrono::duration<double>(Clock::now() - start).count() > method.seconds;
    };
    std::vector<Attempt> attempts;
    std::string best_method = "none";
    double best = verdict(p, r);
    std::vector<double> best_r = r;
    int iterations = 0;
    const auto take = [&](const std::string& name, int count, std::vector<double> candidate) {
        iterations += count;
        const double defect = verdict(p, candidate);
        attempts.push_back({name, count, defect});
        if (defect < best) {
            best = defect;
            best_r = std::move(candidate);
            best_method = name;
        }
        return best <= method.tolerance;
    };
    NewtonSolver newton(p);
    const auto by_sweeps = [&](int most) {
        GaussSeidel gs;
        gs.max_sweeps = most;
        gs.tolerance = method.tolerance;
        std::vector<double> x = best_r;
        double defect = 0.0;
        const int made = sweep_blocks(p, gs, x, defect);
        return take("gauss-seidel", made, std::move(x));
    };
    const auto by_newton = [&](double proximal, int most) {
        Newton n;
        n.tolerance = method.tolerance;
        n.proximal = proximal;
        n.max_iterations = most;
        std::vector<double> x = best_r;
        const int made = newton.run(n, x);
        return take("newton", made, std::move(x));
    };
    const auto by_proximal = [&](double weight, std::vector<double> from) {
        Proximal n;
        n.tolerance = method.tolerance;
        n.weight = weight;
        const int made = newton.run(n, from);
        return take("proximal", made, std::move(from));
    };
    bool stalled = false;
    const auto all = [&] {
        if (best <= method.tolerance || by_sweeps(40) || by_newton(1e-9, 30)) return;
        if (out_of_time() || by_proximal(1e-2, best_r)) return;
        if (out_of_time() || by_proximal(1.0, std::vector<double>(r.size(), 0.0))) return;
        double before = best;
        for (int most = 200; !stalled && !out_of_time(); most *= 3) {
            if (by_sweeps(most) || by_newton(1e-6, 60) || by_newton(1e-3, 60) || by_proximal(1e-1, best_r)) return;
            stalled = best > 0.5 * before;
            before = best;
        }
    };
    all();
    Solution s = finish(p, std::move(best_r), best_method, method.tolerance, stalled ? Status::stalled : Status::limit);
    s.iterations = iterations;
    s.attempts = std::move(attempts);
    return s;
}

}  // namespace

Solution solve(const FrictionProblem& p, const FrictionMethod& method, std::span<const double> guess) {
    SALTUS_EXPECT(p.W.blocks() == p.contacts() && p.W.rows() == static_cast<int>(p.q.size()));
    SALTUS_EXPECT(guess.empty() || guess.size() == p.q.size());
    std::vector<double> r(p.q.size(), 0.0);
    if (!finite(p.W.values) || !finite(p.q)) {
        Solution s;
        s.status = Status::non_finite;
        s.residual = std::numeric_limits<double>::infinity();
        s.r = std::move(r);
        return s;
    }
    if (!guess.empty()) std::copy(guess.begin(), guess.end(), r.begin());
    return std::visit([&](const auto& m) { return run(p, m, std::move(r)); }, method);
}

}  // namespace saltus::solvers
