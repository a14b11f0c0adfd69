// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "saltus/solvers/complementarity/detail/sequence.hpp"
#include "saltus/solvers/detail/residual.hpp"
#include "saltus/solvers/friction/detail/friction_state.hpp"
#include "saltus/solvers/friction/detail/infeasibility.hpp"
#include "saltus/solvers/friction/detail/planar_states.hpp"
#include "saltus/solvers/friction/detail/shape.hpp"
#include "saltus/solvers/friction/modes.hpp"
#include "saltus/solvers/friction/planar.hpp"

namespace saltus::solvers {

namespace {

using Clock = std::chrono::steady_clock;

/// The course of the automatic method: the best iterate so far, what was tried, what is left of the budget.
class Course {
public:
    Course(const FrictionProblem& p, const Automatic& method, Workspace::State& w, Solution& s)
        : p_(p), method_(method), w_(w), s_(s) {
        if (method.seconds > 0.0) start_ = Clock::now();
        w_.best = w_.r;
        s_.method = "none";
        if (std::any_of(w_.r.begin(), w_.r.end(), [](double r) { return r != 0.0; })) judge_start();
    }

    /// Zero is judged only where the first sweep makes nothing better of it.
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

    /// The iterate in w.r is what `name` made of the best one.
    bool take(std::string_view name, int iterations) { return take(name, iterations, verdict(p_, w_.r, w_.scratch)); }
    bool take(std::string_view name, int iterations, double defect) {
        s_.iterations += iterations;
        s_.attempts.push_back({name, iterations, defect});
        keep(name, defect);
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

    /// A sweep, and the states it shows tried as they are.
    bool states() {
        if (!few_planar_contacts(p_)) return false;
        w_.r = w_.best;
        w_.sweeper.prepare(p_);
        w_.sweeper.sweep(p_, w_.r);
        work_ += a_sweep();
        if (take("gauss-seidel", 1)) return true;
        w_.r = w_.best;
        return settle_states(p_, w_.r, 5) && take("states", 1);
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

    /// More sweeps where Newton steps are dear: as long as they bring more for their cost than a step, which divides
    /// the residual by about ten.
    bool prelude() {
        if (!newton_possible_ || spent()) return false;
        constexpr int batch = 3, most = 6;
        const double wanted = -2.3 * batch * a_sweep() / w_.newton().step_work();  // change of the logarithm
        if (wanted < -1.0) return false;
        w_.r = w_.best;
        int made = 0;
        double now = best_, change = 0.0;
        do {
            for (int k = 0; k < batch; ++k) w_.sweeper.sweep(p_, w_.r);
            made += batch;
            const double before = now;
            now = verdict(p_, w_.r, w_.scratch);
            change = std::log(now / before);
        } while (made < most && now > method_.tolerance && change < wanted);
        work_ += made * a_sweep();
        return take("gauss-seidel", made, now);
    }

    bool newton(double proximal, int most) {
        if (!newton_possible_ || spent()) return false;
        Newton method;
        method.tolerance = plain_tolerance();
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
        method.tolerance = plain_tolerance();
        method.weight = weight;
        method.max_steps = affordable(method.max_steps);
        w_.r = w_.best;
        if (from_zero) std::fill(w_.r.begin(), w_.r.end(), 0.0);
        const int made = w_.newton().run(method, w_.r);
        work_ += made * w_.newton().step_work();
        return take("proximal", made);
    }

    /// Newton from other places: near the best iterate, or anywhere in the sets of the laws. Where W is not monotone
    /// (its null space filled by an unsymmetric rounding of the data, or the bounds μ|r| of rails) a solution attracts
    /// only from nearby, and the way there from zero may be blocked.
    bool restarts(int most) {
        if (!newton_possible_ || spent() || p_.W.rows() > largest_restarted) return false;
        Newton method;
        method.tolerance = method_.tolerance;
        int made = 0;
        const double enough = work_ + restart_work;
        double least = std::numeric_limits<double>::infinity();
        for (int k = 0; k < most && least > method_.tolerance && work_ < enough && !spent(); ++k) {
            constexpr double regularisation[3] = {1e-6, 1e-3, 1e-9};
            method.proximal = regularisation[k % 3];
            method.max_iterations = affordable(60);
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
    /// Methods go by the residual alone. Where the verdict is stricter (reactions far beyond what the velocities ask
    /// for) they would stop before they have begun.
    double plain_tolerance() {
        const double plain = residual(p_, w_.best, w_.scratch);
        return plain < best_ ? method_.tolerance * plain / best_ : method_.tolerance;
    }

    void keep(std::string_view name, double defect) {
        if (!(defect < best_)) return;
        best_ = defect;
        w_.best.swap(w_.r);
        w_.best_v.swap(w_.scratch);  // which the verdict has left there
        w_.scratch.resize(w_.best_v.size());
        s_.method = name;
    }

    static constexpr int largest_restarted = 120;  // rows
    static constexpr double restart_work = 2e9;    // multiplications

    /// A place to begin in w.r: kinds 0 and 2 around the best iterate, 1 and 3 in the sets.
    void choose_start(int kind) {
        const double size = typical_reaction();
        const auto either = [&] { return 2.0 * random_() - 1.0; };
        if (kind % 2 == 0) {
            for (std::size_t i = 0; i < w_.r.size(); ++i)
                w_.r[i] = w_.best[i] + (kind == 0 ? 0.2 : 1.5) * size * either();
            return;
        }
        const double most = (kind == 1 ? 3.0 : 1.0) * size;
        for (int a = 0; a < p_.contacts(); ++a) {
            const Law& law = p_.laws[static_cast<std::size_t>(a)];
            double* const r = w_.r.data() + p_.W.start[static_cast<std::size_t>(a)];
            const int n = p_.W.block_size(a);
            const Shape shape = shape_of(law, n);
            const double normal = shape.normal ? std::max(0.0, random_() - 0.3) * most : 0.0;
            for (int i = 0; i < n; ++i) r[i] = most * either();
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

    /// Of one row: the best iterate's, unless that ran away.
    double typical_reaction() const {
        const auto norm = [](const std::vector<double>& x) {
            double sum = 0.0;
            for (const double y : x) sum += y * y;
            return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, x.size())));
        };
        const double mean = p_.W.diagonal_mean(), natural = norm(p_.q) / (mean > 0.0 ? mean : 1.0);
        const double best = norm(w_.best);
        return best > 1e-3 * natural && best < 30.0 * natural ? best : natural;
    }

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
    double best_ = std::numeric_limits<double>::infinity();
    double work_ = 0.0;
    bool newton_possible_ = false;
    Sequence random_;
};

/// True when nothing more can be expected.
bool try_all(Course& course) {
    if (course.solved() || course.states() || course.opening()) return true;
    course.judge_start();
    course.prepare_newton();
    if (course.prelude() || course.newton(1e-2, 60) || course.proximal(1e-2, false) || course.lemke() ||
        course.restarts(12) || course.proximal(1.0, true))
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

}  // namespace

void run(const FrictionProblem& p, const Automatic& method, Workspace::State& w, Solution& s) {
    Course course(p, method, w, s);
    const bool stalled = try_all(course);
    conclude(w.best, w.best_v, course.best(), method.tolerance, stalled ? Status::stalled : Status::limit, s);
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
        conclude(w.best, w.best_v, course.best(), method.tolerance, s.status, s);
    } else if (all.complete) {
        s.status = Status::infeasible;
        s.attempts.push_back({"enumeration", all.modes, s.residual});
    } else {
        course.restarts(1500);
        conclude(w.best, w.best_v, course.best(), method.tolerance, s.status, s);
    }
}

}  // namespace saltus::solvers
