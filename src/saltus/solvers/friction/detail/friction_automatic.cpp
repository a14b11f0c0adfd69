// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "saltus/solvers/complementarity/detail/sequence.hpp"
#include "saltus/solvers/detail/residual.hpp"
#include "saltus/solvers/friction/detail/friction_state.hpp"
#include "saltus/solvers/friction/detail/infeasibility.hpp"
#include "saltus/solvers/friction/detail/shape.hpp"
#include "saltus/solvers/friction/modes.hpp"
#include "saltus/solvers/friction/planar.hpp"

namespace saltus::solvers {

namespace {

using Clock = std::chrono::steady_clock;

/// Where the proximal method begins.
enum class StartPoint { best_iterate, zero };

/// The state of the automatic method: the best iterate so far, the list of attempts and the work used. Each function
/// that tries a method returns true if the problem is then solved. Work is counted in estimated multiplications, so
/// that the course of the method does not depend on the machine.
class FrictionAttempts {
public:
    static constexpr int newton_steps = 60;  ///< Newton steps of one attempt; convergence takes far fewer

    FrictionAttempts(const FrictionProblem& p, const Automatic& method, Workspace::State& w, Solution& s)
        : p_(p), method_(method), w_(w), s_(s) {
        if (method.seconds > 0.0) start_ = Clock::now();
        w_.best = w_.r;
        s_.method = "none";
        if (std::any_of(w_.r.begin(), w_.r.end(), [](double r) { return r != 0.0; })) judge_start();
    }

    /// Computes the verdict of the start iterate if there is none yet. A start at zero is not judged before the first
    /// sweeps, because these nearly always improve it.
    void judge_start() {
        if (std::isfinite(best_)) return;
        best_ = verdict(p_, w_.best, w_.scratch);
        w_.best_v = w_.scratch;
    }

    bool solved() const { return best_ <= method_.tolerance; }
    double best() const { return best_; }
    bool spent() const {
        return work_ > method_.work || (method_.seconds > 0.0 &&
                                        std::chrono::duration<double>(Clock::now() - start_).count() > method_.seconds);
    }

    /// Records that the method `name` turned the best iterate into w.r. `defect` is its verdict.
    bool take(std::string_view name, int iterations) { return take(name, iterations, verdict(p_, w_.r, w_.scratch)); }
    bool take(std::string_view name, int iterations, double defect) {
        s_.iterations += iterations;
        s_.attempts.push_back({name, iterations, defect});
        keep(name, defect);
        return solved();
    }

    bool sweeps(int max_sweeps) {
        if (spent()) return false;
        GaussSeidel method;
        method.max_sweeps = max_sweeps;
        method.tolerance = method_.tolerance;
        w_.r = w_.best;
        const int made = sweep_blocks(p_, method, w_, w_.r);
        work_ += made * sweep_work();
        return take("gauss-seidel", made);
    }

    /// Few planar contacts: one sweep, which solves a single contact, then the search for the contact states from those
    /// of the sweep. If the reactions are not unique, then they stay near those of the sweep; a contact that carries
    /// nothing only because others carry all is left to the other methods, which share the load.
    bool states() {
        if (!FewRows::fits(p_.laws, p_.W.start)) return false;
        w_.r = w_.best;
        w_.sweeper.prepare(p_);
        w_.sweeper.sweep(p_, w_.r);
        work_ += sweep_work();
        if (p_.contacts() == 1) return take("gauss-seidel", 1);
        write_dense();
        if (w_.few_rows.solve(p_.laws, p_.W.start, w_.dense, p_.q, w_.r, method_.tolerance) && !some_idle()) {
            w_.sweep_best.swap(w_.r);
            w_.r.assign(w_.few_rows.r().begin(), w_.few_rows.r().end());
            if (take("states", 1)) return true;
            w_.r.swap(w_.sweep_best);
        }
        return take("gauss-seidel", 1);
    }

    /// The first sweeps, in growing batches, as long as they promise to be cheaper than Newton steps: the measured rate
    /// of convergence predicts how many sweeps are missing. Small problems compare the work with that of six dense
    /// Newton steps; large ones allow six more sweeps, after which `prelude` compares with the actual step work.
    bool opening() {
        constexpr int max_opening_sweeps = 127;  // of all batches together
        constexpr int small_rows = 60;           // problems with at most this number of rows count as small
        constexpr int max_missing_sweeps = 6;    // of large problems: sweeping ends if more are predicted to be missing
        const double rows = p_.W.rows();
        const double newton_work = 2.0 * rows * rows * rows + 600.0 * rows;  // six steps: 6 (rows³/3 + 100 rows)
        w_.r = w_.best;
        w_.sweeper.prepare(p_);
        int made = 0;
        double now = best_, before = best_;
        for (int batch = 1; made < max_opening_sweeps; batch += (batch + 1) / 2) {
            for (int k = 0; k < batch; ++k) w_.sweeper.sweep(p_, w_.r);
            made += batch;
            before = now;
            now = verdict(p_, w_.r, w_.scratch);
            if (now <= method_.tolerance || !std::isfinite(now)) break;
            if (made < 3) continue;
            const double rate = std::log(now / before) / batch;  // of one sweep; negative if the sweeps converge
            const double missing = std::log(method_.tolerance / now) / rate;
            if (!(rate < 0.0)) break;
            if (rows <= small_rows ? missing * sweep_work() > newton_work : missing > max_missing_sweeps) break;
        }
        work_ += made * sweep_work();
        return take("gauss-seidel", made, now);
    }

    /// Prepares the Newton methods; false if their factors would be too large.
    bool prepare_newton() {
        newton_possible_ = w_.newton().prepare(p_);
        return newton_possible_;
    }

    /// More sweeps if Newton steps are expensive: as long as a batch of sweeps reduces the logarithm of the residual by
    /// more, for its work, than a Newton step, which is assumed to divide the residual by ten.
    bool prelude() {
        if (!newton_possible_ || spent()) return false;
        constexpr int batch = 3;               // sweeps between two measurements of the residual
        constexpr int max_prelude_sweeps = 6;  // of all batches together
        constexpr double log_of_ten = 2.3;
        const double wanted = -log_of_ten * batch * sweep_work() / w_.newton().step_work();
        if (wanted < -1.0) return false;  // sweeps would have to converge faster than they ever do
        w_.r = w_.best;
        int made = 0;
        double now = best_, change = 0.0;
        do {
            for (int k = 0; k < batch; ++k) w_.sweeper.sweep(p_, w_.r);
            made += batch;
            const double before = now;
            now = verdict(p_, w_.r, w_.scratch);
            change = std::log(now / before);
        } while (made < max_prelude_sweeps && now > method_.tolerance && change < wanted);
        work_ += made * sweep_work();
        return take("gauss-seidel", made, now);
    }

    /// Newton's method from the best iterate; `proximal` as in `Newton`.
    bool newton(double proximal, int max_steps) {
        if (!newton_possible_ || spent()) return false;
        Newton method;
        method.tolerance = plain_tolerance();
        method.proximal = proximal;
        method.max_iterations = affordable(max_steps);
        w_.r = w_.best;
        const int made = w_.newton().run(method, w_.r);
        work_ += made * w_.newton().step_work();
        return take("newton", made);
    }

    /// The proximal point method; `weight` as in `Proximal`.
    bool proximal(double weight, StartPoint start) {
        if (!newton_possible_ || spent()) return false;
        Proximal method;
        method.tolerance = plain_tolerance();
        method.weight = weight;
        method.max_steps = affordable(method.max_steps);
        w_.r = w_.best;
        if (start == StartPoint::zero) std::fill(w_.r.begin(), w_.r.end(), 0.0);
        const int made = w_.newton().run(method, w_.r);
        work_ += made * w_.newton().step_work();
        return take("proximal", made);
    }

    /// Newton's method from up to `max_starts` other points, near the best iterate or anywhere in the sets of the laws.
    /// For problems that are not monotone (W made indefinite by rounding of unsymmetric data, or bounds μ|r_row| of
    /// guides) a solution attracts only nearby iterates, and the path from zero may end elsewhere.
    bool restarts(int max_starts) {
        if (!newton_possible_ || spent() || p_.W.rows() > max_restarted_rows) return false;
        Newton method;
        method.tolerance = method_.tolerance;
        int made = 0;
        const double work_limit = work_ + restart_work;
        double least = std::numeric_limits<double>::infinity();
        for (int k = 0; k < max_starts && least > method_.tolerance && work_ < work_limit && !spent(); ++k) {
            constexpr double regularisation[3] = {1e-6, 1e-3, 1e-9};  // Newton::proximal, in turn
            method.proximal = regularisation[k % 3];
            method.max_iterations = affordable(newton_steps);
            choose_start(k % 4);
            const int steps = w_.newton().run(method, w_.r);
            made += steps;
            work_ += steps * w_.newton().step_work();
            const double defect = verdict(p_, w_.r, w_.scratch);
            least = std::min(least, defect);
            keep("restarts", defect);
        }
        s_.iterations += made;
        s_.attempts.push_back({"restarts", made, least});
        return solved();
    }

    /// Lemke's method, if the problem is a linear complementarity problem of moderate size (pivots are dense).
    bool lemke() {
        constexpr int max_lemke_rows = 300;  // a dense tableau with more rows costs too much memory and time
        if (p_.W.rows() > max_lemke_rows) return false;
        const auto planar = PlanarComplementarity::of(p_);
        if (!planar) return false;
        Lemke method;
        method.tolerance = 0.0;
        const Solution z = solve(planar->problem, method);
        w_.r = planar->reactions(z.r);
        return take("lemke", z.iterations);
    }

private:
    /// Whether a contact of the last solution of w.few_rows neither carries a load nor separates, although it
    /// approached without reactions.
    bool some_idle() const {
        const std::span<const double> r = w_.few_rows.r(), v = w_.few_rows.v();
        for (int a = 0; a < p_.contacts(); ++a) {
            const std::size_t i = at(p_.W.start[at(a)]);
            const bool contact =
                p_.laws[at(a)].kind == LawKind::unilateral || p_.laws[at(a)].kind == LawKind::friction2;
            if (contact && r[i] == 0.0 && p_.q[i] < 0.0 && v[i] <= method_.tolerance * -p_.q[i]) return true;
        }
        return false;
    }

    /// Writes W to w.dense.
    void write_dense() {
        const auto rows = static_cast<std::size_t>(p_.W.rows());
        w_.dense.assign(rows * rows, 0.0);
        for (int a = 0; a < p_.contacts(); ++a)
            for (int k = p_.W.row_start[at(a)]; k < p_.W.row_start[at(a) + 1]; ++k) {
                const int b = p_.W.block_column[at(k)];
                const double* block = p_.W.values.data() + p_.W.offset[at(k)];
                for (std::size_t i = at(p_.W.start[at(a)]); i < at(p_.W.start[at(a) + 1]);
                     ++i, block += p_.W.block_size(b))
                    std::copy_n(block, p_.W.block_size(b), w_.dense.data() + i * rows + at(p_.W.start[at(b)]));
            }
    }
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }

    /// The tolerance for methods that stop by the residual. If the verdict of the best iterate is larger than its
    /// residual (the reactions diverged), then the tolerance is reduced by their ratio; otherwise the methods would
    /// stop at once.
    double plain_tolerance() {
        const double plain = residual(p_, w_.best, w_.scratch);
        return plain < best_ ? method_.tolerance * plain / best_ : method_.tolerance;
    }

    /// Makes w.r the best iterate if it is better.
    void keep(std::string_view name, double defect) {
        if (!(defect < best_)) return;
        best_ = defect;
        w_.best.swap(w_.r);
        w_.best_v.swap(w_.scratch);  // the velocities that `verdict` left there
        w_.scratch.resize(w_.best_v.size());
        s_.method = name;
    }

    static constexpr int max_restarted_rows = 120;  // larger problems are not restarted
    static constexpr double restart_work = 2e9;     // multiplications of all restarts of one call

    /// Writes a start point into w.r. Kinds 0 and 2: a pseudo-random point around the best iterate, near or far. Kinds
    /// 1 and 3: a point in the sets of the laws with normal reactions up to `largest`, zero for 30 % of the contacts.
    void choose_start(int kind) {
        const double size = typical_reaction();
        const auto either = [&] { return 2.0 * random_() - 1.0; };
        if (kind % 2 == 0) {
            for (std::size_t i = 0; i < w_.r.size(); ++i)
                w_.r[i] = w_.best[i] + (kind == 0 ? 0.2 : 1.5) * size * either();
            return;
        }
        const double largest = (kind == 1 ? 3.0 : 1.0) * size;
        for (int a = 0; a < p_.contacts(); ++a) {
            const Law& law = p_.laws[static_cast<std::size_t>(a)];
            double* const r = w_.r.data() + p_.W.start[static_cast<std::size_t>(a)];
            const int n = p_.W.block_size(a);
            const Shape shape = shape_of(law, n);
            const double normal = shape.normal ? std::max(0.0, random_() - 0.3) * largest : 0.0;
            for (int i = 0; i < n; ++i) r[i] = largest * either();
            if (shape.normal) r[0] = normal;
            if (shape.patch)
                for (int i = 1; i < 4; ++i) r[i] = law.mu * normal * either() * (i == 3 ? law.radius : 1.0);
            for (int k = 0; k < shape.parts; ++k) {
                const Shape::Part& part = shape.part[static_cast<std::size_t>(k)];
                const double bound = shape.normal ? part.mu * normal
                                     : law.kind == LawKind::slider
                                         ? law.bound
                                         : law.mu * std::abs(w_.r[static_cast<std::size_t>(law.row)]);
                for (int i = part.first; i < part.first + part.size; ++i) r[i] = bound * either();
            }
        }
    }

    /// Typical size of the reaction of one row: the mean of the best iterate, unless that is out of proportion to the
    /// reaction ‖q‖/mean(diag W) that stops the free velocities.
    double typical_reaction() const {
        constexpr double smallest_ratio = 1e-3, largest_ratio = 30.0;  // of best to natural
        const auto norm = [](const std::vector<double>& x) {
            double sum = 0.0;
            for (const double y : x) sum += y * y;
            return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, x.size())));
        };
        const double mean = p_.W.diagonal_mean(), natural = norm(p_.q) / (mean > 0.0 ? mean : 1.0);
        const double best = norm(w_.best);
        return best > smallest_ratio * natural && best < largest_ratio * natural ? best : natural;
    }

    /// Estimated multiplications of one sweep. Blocks of more than three rows are solved iteratively.
    double sweep_work() const {
        const double block = p_.W.rows() > 3 * p_.contacts() ? 2000.0 : 100.0;
        return static_cast<double>(p_.W.values.size()) + block * p_.contacts();
    }

    /// Newton steps that the remaining work allows: at most `max_steps`, at least one.
    int affordable(int max_steps) const {
        const double left = (method_.work - work_) / w_.newton().step_work();
        return std::max(1, static_cast<int>(std::min(static_cast<double>(max_steps), left)));
    }

    const FrictionProblem& p_;
    const Automatic& method_;
    Workspace::State& w_;
    Solution& s_;
    Clock::time_point start_;
    double best_ = std::numeric_limits<double>::infinity();  // verdict of w.best; infinite if not computed
    double work_ = 0.0;                                      // estimated multiplications so far
    bool newton_possible_ = false;
    Sequence random_;
};

/// The order of the methods. Returns true if the problem is solved or no method makes progress, false if the work or
/// the time is used up.
bool try_all(FrictionAttempts& attempts) {
    constexpr int steps = FrictionAttempts::newton_steps;
    constexpr double strong = 1e-2, weak = 1e-6;                                // Newton::proximal
    constexpr double near_weight = 1e-2, far_weight = 1.0, late_weight = 1e-1;  // Proximal::weight
    constexpr int quick_restarts = 12, first_sweeps = 200;
    using enum StartPoint;
    if (attempts.solved() || attempts.states() || attempts.opening()) return true;
    attempts.judge_start();
    attempts.prepare_newton();
    if (attempts.prelude() || attempts.newton(strong, steps) || attempts.proximal(near_weight, best_iterate) ||
        attempts.lemke() || attempts.restarts(quick_restarts) || attempts.proximal(far_weight, zero))
        return true;
    double before = attempts.best();
    for (int max_sweeps = first_sweeps; !attempts.spent(); max_sweeps *= 3) {
        if (attempts.sweeps(max_sweeps) || attempts.newton(weak, steps) || attempts.newton(strong, steps) ||
            attempts.proximal(late_weight, best_iterate))
            return true;
        if (!(attempts.best() < 0.5 * before)) return true;  // a round that does not halve the verdict is the last
        before = attempts.best();
    }
    return false;
}

}  // namespace

void run(const FrictionProblem& p, const Automatic& method, Workspace::State& w, Solution& s) {
    FrictionAttempts attempts(p, method, w, s);
    const bool stalled = try_all(attempts);
    conclude(w.best, w.best_v, attempts.best(), method.tolerance, stalled ? Status::stalled : Status::limit, s);
    if (s.status == Status::converged) return;
    if (auto certificate = certificate_of_infeasibility(p); !certificate.empty()) {
        s.status = Status::infeasible;
        s.certificate = std::move(certificate);
        return;
    }
    constexpr int thorough_restarts = 1500;
    const AllSolutions all = all_solutions(p);
    if (!all.r.empty()) {
        w.r = all.r.front();
        attempts.take("enumeration", all.modes);
        conclude(w.best, w.best_v, attempts.best(), method.tolerance, s.status, s);
    } else if (all.complete) {
        s.status = Status::infeasible;
        s.attempts.push_back({"enumeration", all.modes, s.residual});
    } else {
        attempts.restarts(thorough_restarts);
        conclude(w.best, w.best_v, attempts.best(), method.tolerance, s.status, s);
    }
}

}  // namespace saltus::solvers
