// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "saltus/base/error.hpp"
#include "saltus/solvers/certificate.hpp"
#include "saltus/solvers/modes.hpp"
#include "saltus/solvers/newton.hpp"
#include "saltus/solvers/planar.hpp"
#include "saltus/solvers/residual.hpp"
#include "saltus/solvers/sweep.hpp"

namespace saltus::solvers {

struct Workspace::State {
    Sweeper sweeper;
    std::optional<NewtonSolver> made;  // the first time it is needed
    NewtonSolver& newton() {
        if (!made) made.emplace();
        return *made;
    }
    std::vector<double> r, best, scratch, sweep_best;
};

Workspace::Workspace() : state_(std::make_unique<State>()) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

namespace {

using Clock = std::chrono::steady_clock;

bool finite(std::span<const double> values) {
    return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

/// Sweeps over all blocks, r becomes the best iterate; returns how many were made. The residual is computed after 1, 2,
/// 4, … sweeps, then every `check_every`.
int sweep_blocks(const FrictionProblem& p, const GaussSeidel& method, Workspace::State& w, std::vector<double>& r) {
    w.sweeper.prepare(p);
    w.sweep_best = r;
    double best_defect = residual(p, r, w.scratch);
    int sweeps = 0, batch = 1, idle = 0;
    while (sweeps < method.max_sweeps && best_defect > method.tolerance) {
        const int until = std::min(method.max_sweeps, sweeps + batch);
        for (; sweeps < until; ++sweeps) w.sweeper.sweep(p, r);
        const double now = residual(p, r, w.scratch);
        idle = now < 0.999 * best_defect ? 0 : idle + batch;
        if (now < best_defect) {
            best_defect = now;
            w.sweep_best = r;
        }
        if (idle > 1000) break;  // a thousand sweeps without progress
        batch = std::min(2 * batch, std::max(1, method.check_every));
    }
    r = w.sweep_best;
    return sweeps;
}

/// Puts r with its verdict and its velocities into the solution.
void conclude(const FrictionProblem& p, const std::vector<double>& r, double defect, double tolerance, Status otherwise,
              Solution& s) {
    s.residual = defect;
    s.status = s.residual <= tolerance ? Status::converged : otherwise;
    s.r = r;
    s.v.resize(r.size());
    p.W.multiply(r, s.v);
    for (std::size_t i = 0; i < r.size(); ++i) s.v[i] += p.q[i];
}

void conclude_single(const FrictionProblem& p, std::string_view name, int iterations, double tolerance,
                     Status otherwise, Workspace::State& w, Solution& s) {
    conclude(p, w.r, verdict(p, w.r, w.scratch), tolerance, otherwise, s);
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

/// The course of the automatic method: the best iterate so far, what was tried, what is left of the budget.
class Course {
public:
    Course(const FrictionProblem& p, const Automatic& method, Workspace::State& w, Solution& s)
        : p_(p), method_(method), w_(w), s_(s), start_(Clock::now()) {
        w_.best = w_.r;
        best_ = verdict(p_, w_.best, w_.scratch);
        s_.method = "none";
    }

    bool solved() const { return best_ <= method_.tolerance; }
    double best() const { return best_; }
    bool spent() const {
        return work_ > method_.work || (method_.seconds > 0.0 &&
                                        std::chrono::duration<double>(Clock::now() - start_).count() > method_.seconds);
    }

    /// The iterate in w.r is what `name` made of the best one.
    bool take(std::string_view name, int iterations) { return take(name, iterations, verdict(p_, w_.r, w_.scratch)); }
    bool take(std::string_view name, int iterations, double defect) {
        s_.iterations += iterations;
        s_.attempts.push_back({name, iterations, defect});
        if (defect < best_) {
            best_ = defect;
            w_.best.swap(w_.r);
            s_.method = name;
        }
        return solved();
    }

    bool sweeps(int most) {
        if (spent()) return false;
        GaussSeidel method;
        method.max_sweeps = most;
        method.tolerance = method_.tolerance;
        w_.r = w_.best;
        const int made = sweep_blocks(p_, method, w_, w_.r);
        work_ += made * a_sweep();
        return take("gauss-seidel", made);
    }

    /// The first sweeps: as many as promise to be cheaper than Newton steps.
    bool opening() {
        const double rows = p_.W.rows();
        const double newton = 2.0 * rows * rows * rows + 600.0 * rows;  // six small steps
        w_.r = w_.best;
        w_.sweeper.prepare(p_);
        int made = 0;
        double now = best_, before = best_;
        for (int batch = 1; made < 127; batch += (batch + 1) / 2) {
            for (int k = 0; k < batch; ++k) w_.sweeper.sweep(p_, w_.r);
            made += batch;
            before = now;
            now = verdict(p_, w_.r, w_.scratch);
            if (now <= method_.tolerance || !std::isfinite(now)) break;
            if (made < 3) continue;
            const double rate = std::log(now / before) / batch;  // negative when they converge
            const double missing = std::log(method_.tolerance / now) / rate;
            if (!(rate < 0.0) || (rows <= 60 ? missing * a_sweep() > newton : missing > 6)) break;
        }
        work_ += made * a_sweep();
        return take("gauss-seidel", made, now);
    }

    /// Whether the Newton methods can run at all.
    bool prepare_newton() {
        newton_possible_ = w_.newton().prepare(p_);
        return newton_possible_;
    }

    bool newton(double proximal, int most) {
        if (!newton_possible_ || spent()) return false;
        Newton method;
        method.tolerance = method_.tolerance;
        method.proximal = proximal;
        method.max_iterations = affordable(most);
        w_.r = w_.best;
        const int made = w_.newton().run(method, w_.r);
        work_ += made * w_.newton().step_work();
        return take("newton", made);
    }

    bool proximal(double weight, bool from_zero) {
        if (!newton_possible_ || spent()) return false;
        Proximal method;
        method.tolerance = method_.tolerance;
        method.weight = weight;
        method.max_steps = affordable(method.max_steps);
        w_.r = w_.best;
        if (from_zero) std::fill(w_.r.begin(), w_.r.end(), 0.0);
        const int made = w_.newton().run(method, w_.r);
        work_ += made * w_.newton().step_work();
        return take("proximal", made);
    }

    bool lemke() {
        if (p_.W.rows() > 300) return false;
        const auto planar = PlanarComplementarity::of(p_);
        if (!planar) return false;
        Lemke method;
        method.tolerance = 0.0;
        const Solution z = solve(planar->problem, method);
        w_.r = planar->reactions(z.r);
        return take("lemke", z.iterations);
    }

private:
    /// Multiplications of a sweep, about; contacts with several bounded parts are iterated.
    double a_sweep() const {
        const double block = p_.W.rows() > 3 * p_.contacts() ? 2000.0 : 100.0;
        return static_cast<double>(p_.W.values.size()) + block * p_.contacts();
    }

    int affordable(int most) const {
        const double left = (method_.work - work_) / w_.newton().step_work();
        return std::max(1, static_cast<int>(std::min(static_cast<double>(most), left)));
    }

    const FrictionProblem& p_;
    const Automatic& method_;
    Workspace::State& w_;
    Solution& s_;
    Clock::time_point start_;
    double best_ = 0.0;
    double work_ = 0.0;
    bool newton_possible_ = false;
};

/// True when nothing more can be expected.
bool try_all(Course& course) {
    if (course.solved() || course.opening()) return true;
    course.prepare_newton();
    if (course.newton(1e-3, 60) || course.proximal(1e-2, false) || course.lemke() || course.proximal(1.0, true))
        return true;
    double before = course.best();
    for (int most = 200; !course.spent(); most *= 3) {
        if (course.sweeps(most) || course.newton(1e-6, 60) || course.newton(1e-2, 60) || course.proximal(1e-1, false))
            return true;
        if (!(course.best() < 0.5 * before)) return true;
        before = course.best();
    }
    return false;
}

void run(const FrictionProblem& p, const Automatic& method, Workspace::State& w, Solution& s) {
    Course course(p, method, w, s);
    const bool stalled = try_all(course);
    conclude(p, w.best, course.best(), method.tolerance, stalled ? Status::stalled : Status::limit, s);
    if (s.status == Status::converged) return;
    if (auto certificate = certificate_of_infeasibility(p); !certificate.empty()) {
        s.status = Status::infeasible;
        s.certificate = std::move(certificate);
        return;
    }
    const AllSolutions all = all_solutions(p);
    if (!all.r.empty()) {
        w.r = all.r.front();
        course.take("enumeration", all.modes);
        conclude(p, w.best, course.best(), method.tolerance, s.status, s);
    } else if (all.complete) {
        s.status = Status::infeasible;
        s.attempts.push_back({"enumeration", all.modes, s.residual});
    }
}

/// Units in which squares are not numbers any more: solved in units where W and q are about 1.
class Rescaled {
public:
    explicit Rescaled(const FrictionProblem& p) : problem(p) {
        for (double& w : problem.W.values) w = std::ldexp(w, -exponent_w(p));
        for (double& q : problem.q) q = std::ldexp(q, -exponent_q(p));
        for (Law& law : problem.laws) law.bound = std::ldexp(law.bound, exponent_w(p) - exponent_q(p));
    }

    static int exponent_w(const FrictionProblem& p) { return exponent(p.W.values); }
    static int exponent_q(const FrictionProblem& p) { return exponent(p.q); }
    static bool needed(const FrictionProblem& p) {
        return std::abs(exponent_w(p)) > 300 || std::abs(exponent_q(p)) > 300;
    }

    FrictionProblem problem;

private:
    static int exponent(const std::vector<double>& values) {
        double largest = 0.0;
        for (const double x : values) largest = std::max(largest, std::abs(x));
        return largest > 0.0 && std::isfinite(largest) ? std::ilogb(largest) : 0;
    }
};

void solve_rescaled(const FrictionProblem& p, const FrictionMethod& method, Workspace& workspace, Solution& s,
                    std::span<const double> guess) {
    const Rescaled rescaled(p);
    const int back = Rescaled::exponent_q(p) - Rescaled::exponent_w(p);
    std::vector<double> scaled(guess.begin(), guess.end());
    for (double& r : scaled) r = std::ldexp(r, -back);
    solve(rescaled.problem, method, workspace, s, scaled);
    for (double& r : s.r) r = std::ldexp(r, back);
    for (double& v : s.v) v = std::ldexp(v, Rescaled::exponent_q(p));
    if (!finite(s.r) || !finite(s.v)) s.status = Status::stalled;
}

/// Orthotropic contacts with the second direction scaled so that the ellipse is a disk: r_T2 = κ r'_T2, v'_T2 = κ v_T2
/// with κ = μ₂/μ₁ makes the law isotropic, W and q change by congruence.
class Isotropic {
public:
    explicit Isotropic(const FrictionProblem& p) : problem(p), scale(p.q.size(), 1.0) {
        for (int a = 0; a < p.contacts(); ++a) {
            Law& law = problem.laws[static_cast<std::size_t>(a)];
            if (!orthotropic(law)) continue;
            const auto first = static_cast<std::size_t>(p.W.start[static_cast<std::size_t>(a)]);
            const double larger = std::max(law.mu, law.mu_second);
            scale[first + 1] = larger > 0.0 ? law.mu / larger : 1.0;
            scale[first + 2] = larger > 0.0 ? law.mu_second / larger : 1.0;
            law.mu = larger;
            law.mu_second = -1.0;
        }
        BlockMatrix& W = problem.W;
        for (int a = 0; a < W.blocks(); ++a)
            for (int e = W.row_start[static_cast<std::size_t>(a)]; e < W.row_start[static_cast<std::size_t>(a) + 1];
                 ++e) {
                const int b = W.block_column[static_cast<std::size_t>(e)];
                double* value = W.values.data() + W.offset[static_cast<std::size_t>(e)];
                for (int i = 0; i < W.block_size(a); ++i)
                    for (int j = 0; j < W.block_size(b); ++j)
                        *value++ *= scale[static_cast<std::size_t>(W.start[static_cast<std::size_t>(a)] + i)] *
                                    scale[static_cast<std::size_t>(W.start[static_cast<std::size_t>(b)] + j)];
            }
        for (std::size_t i = 0; i < scale.size(); ++i) problem.q[i] *= scale[i];
    }

    FrictionProblem problem;
    std::vector<double> scale;
};

void solve_orthotropic(const FrictionProblem& p, const FrictionMethod& method, Workspace& workspace, Solution& s,
                       std::span<const double> guess) {
    const Isotropic isotropic(p);
    std::vector<double> scaled(guess.begin(), guess.end());
    for (std::size_t i = 0; i < scaled.size(); ++i)
        scaled[i] = isotropic.scale[i] > 0.0 ? scaled[i] / isotropic.scale[i] : 0.0;
    // A little better than asked for, so that it is good enough in the coordinates of the problem.
    const double tolerance = std::visit([](const auto& m) { return m.tolerance; }, method);
    FrictionMethod stricter = method;
    std::visit([](auto& m) { m.tolerance *= 0.1; }, stricter);
    solve(isotropic.problem, stricter, workspace, s, scaled);
    if (s.status == Status::non_finite) return;
    for (std::size_t i = 0; i < s.r.size(); ++i) s.r[i] *= isotropic.scale[i];
    p.W.multiply(s.r, s.v);
    for (std::size_t i = 0; i < s.r.size(); ++i) s.v[i] += p.q[i];
    // The verdict is passed on the problem itself.
    s.residual = verdict(p, s.r);
    if (s.residual <= tolerance)
        s.status = Status::converged;
    else if (s.status == Status::converged)
        s.status = Status::stalled;
}

}  // namespace

void solve(const FrictionProblem& p, const FrictionMethod& method, Workspace& workspace, Solution& s,
           std::span<const double> guess) {
    SALTUS_EXPECT(p.W.blocks() == p.contacts() && p.W.rows() == static_cast<int>(p.q.size()));
    SALTUS_EXPECT(guess.empty() || guess.size() == p.q.size());
    if (finite(p.W.values) && finite(p.q) && Rescaled::needed(p)) return solve_rescaled(p, method, workspace, s, guess);
    if (std::any_of(p.laws.begin(), p.laws.end(), orthotropic))
        return solve_orthotropic(p, method, workspace, s, guess);
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
    if (!finite(p.W.values) || !finite(p.q)) {
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
