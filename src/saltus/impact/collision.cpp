// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/collision.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/impact/frictional.hpp"
#include "saltus/impact/one_normal.hpp"

namespace saltus::impact {

namespace {

using solvers::LawKind;
using solvers::Status;

/// A velocity counts as zero if it is <= this times the solver's tolerance times the largest velocity: the solver
/// leaves errors of a few times its tolerance. The same factor holds for impulses.
constexpr double solver_errors = 100.0;

/// A solved contact problem is not believed if some normal velocity is below −(this) times the largest velocity. Its
/// residual is relative to the impulses, so impulses that grow without bound can hide such a penetration.
constexpr double gross_penetration = 1e-3;

double largest(std::span<const double> x) {
    double size = 0.0;
    for (const double value : x) size = std::max(size, std::abs(value));
    return size;
}

double dot(std::span<const double> x, std::span<const double> y) {
    double sum = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
}

std::string_view name_of(ImpactLaw law) {
    return law == ImpactLaw::newton ? "Newton's" : law == ImpactLaw::poisson ? "Poisson's" : "the energy";
}

/// Computes the outcome of one collision, in the memory of the outcome.
class Impact {
public:
    Impact(const solvers::FrictionProblem& problem, const CollisionRows& rows, double tolerance,
           solvers::Workspace& workspace, Outcome& outcome)
        : problem_(problem), c_(rows), D_(problem.W), tolerance_(tolerance), workspace_(workspace), o_(outcome) {
        o_.Lambda.assign(c_.gamma_minus.size(), 0.0);
        o_.gamma_plus = c_.gamma_minus;
        o_.scratch.problem = problem;
        zero_gamma_ = solver_errors * tolerance_ * largest(c_.gamma_minus);
    }

    void run() {
        o_.law = law();
        switch (o_.law) {
            case ImpactLaw::newton: newton(); break;
            case ImpactLaw::poisson: poisson(); break;
            case ImpactLaw::energy: energy(); break;
        }
        for (std::size_t i = 0; i < o_.Lambda.size(); ++i)
            o_.work += 0.5 * (o_.gamma_plus[i] + c_.gamma_minus[i]) * o_.Lambda[i];
    }

private:
    int normal_row(int block) const { return D_.start[ix(block)]; }
    bool approaches(int block) const {
        return has_normal(problem_.laws[ix(block)]) && c_.gamma_minus[ix(normal_row(block))] < -zero_gamma_;
    }

    /// The law of highest precedence among the contacts that approach. If none approaches, all laws agree.
    ImpactLaw law() {
        ImpactLaw strongest = ImpactLaw::newton;
        for (int a = 0; a < problem_.contacts(); ++a)
            if (approaches(a)) strongest = std::max(strongest, c_.law[ix(a)]);
        for (int a = 0; a < problem_.contacts(); ++a)
            if (c_.law[ix(a)] != strongest && has_normal(problem_.laws[ix(a)]) &&
                (approaches(a) || c_.e[ix(normal_row(a))] != 0.0)) {
                o_.note = "contacts of different impact laws collide at once; all follow " +
                          std::string(name_of(strongest)) + " law";
                break;
            }
        return strongest;
    }

    /// Solves the scratch problem; its solution is in the scratch.
    void solve(const char* phase) {
        solvers::solve(o_.scratch.problem, solvers::Automatic{tolerance_}, workspace_, o_.scratch.solution);
        ++o_.solves;
        const solvers::Solution& s = o_.scratch.solution;
        o_.residual = std::max(o_.residual, s.residual);
        o_.status = s.status;
        if (usable(s.status))
            if (const double approach = into_obstacle(s.v); approach > gross_penetration) {
                o_.status = Status::stalled;
                o_.residual = std::max(o_.residual, approach);
            }
        if (usable(o_.status)) return;
        o_.note = std::string("the contact problem of the ") + phase + " is not solved (" +
                  std::string(solvers::to_string(o_.status)) + ", residual " + number_text(o_.residual) + ")";
    }

    /// The largest normal velocity into an obstacle after the impact, as a part of the largest velocity.
    double into_obstacle(std::span<const double> v) const {
        double approach = 0.0;
        for (int a = 0; a < problem_.contacts(); ++a)
            if (has_normal(problem_.laws[ix(a)])) approach = std::max(approach, -v[ix(normal_row(a))]);
        const double size = largest(o_.scratch.problem.q);
        return size > 0.0 ? approach / size : approach;
    }

    /// γ = from + D Λ
    void apply(std::span<const double> Lambda, std::span<const double> from, std::vector<double>& gamma) const {
        gamma.resize(from.size());
        D_.multiply(Lambda, gamma);
        for (std::size_t i = 0; i < gamma.size(); ++i) gamma[i] += from[i];
    }

    /// Newton's law: the contact problem v = D Λ + q with v = ξ = γ⁺ + Eγ⁻, hence q = (I + E)γ⁻. For a contact that
    /// separates (γ_N⁻ > 0), ξ_N >= 0 would allow γ_N⁺ = −e γ_N⁻ < 0, a penetration; so it gets e = 0.
    void newton() {
        std::vector<double>& q = o_.scratch.problem.q;
        q.resize(c_.gamma_minus.size());
        for (std::size_t i = 0; i < q.size(); ++i) q[i] = (1.0 + c_.e[i]) * c_.gamma_minus[i];
        for (int a = 0; a < problem_.contacts(); ++a) {
            const auto n = ix(normal_row(a));
            if (has_normal(problem_.laws[ix(a)]) && c_.gamma_minus[n] > 0.0) q[n] = c_.gamma_minus[n];
        }
        solve("collision");
        o_.Lambda = o_.scratch.solution.r;
        apply(o_.Lambda, c_.gamma_minus, o_.gamma_plus);
    }

    /// The collision with E = 0.
    void inelastic(const char* phase) {
        o_.scratch.problem.q = c_.gamma_minus;
        solve(phase);
        o_.Lambda = o_.compression = o_.scratch.solution.r;
        apply(o_.Lambda, c_.gamma_minus, o_.gamma_plus);
    }

    /// Poisson's law. After the compression (γ_C, Λ_C), the expansion is γ⁺ = γ_C + D Λ_E with
    /// 0 <= γ_N⁺ ⊥ Λ_EN − e_N Λ_CN >= 0, and the friction of Λ_EN acts on γ_T⁺ + e_T γ_T⁻. Each contact is in one of
    /// two modes:
    ///     held    Λ_EN = e_N Λ_CN is prescribed; consistent if γ_N⁺ >= 0
    ///     free    the law of the block; consistent if Λ_EN >= e_N Λ_CN
    /// For a held contact the normal row of its block is replaced by D_NN (Λ_EN − e_N Λ_CN) = 0. The friction law then
    /// has the bound that belongs to the prescribed impulse. Contacts in an inconsistent mode change it: all of them at
    /// once in the first rounds, later one per round (Murty's pivoting order, which cannot cycle without friction).
    void poisson() {
        inelastic("compression");
        if (!usable(o_.status)) return;
        Outcome::Scratch& s = o_.scratch;
        const int blocks = problem_.contacts();
        s.held.assign(ix(blocks), 0);
        s.prescribed.assign(ix(blocks), 0.0);
        for (int a = 0; a < blocks; ++a)
            if (has_normal(problem_.laws[ix(a)])) {
                s.prescribed[ix(a)] = c_.e[ix(normal_row(a))] * o_.Lambda[ix(normal_row(a))];
                s.held[ix(a)] = s.prescribed[ix(a)] > 0.0;
            }
        if (std::none_of(s.held.begin(), s.held.end(), [](char h) { return h != 0; })) return;
        s.Lambda = o_.Lambda;
        s.gamma = o_.gamma_plus;
        const double zero_Lambda = solver_errors * tolerance_ * largest(s.Lambda);
        // Rounds in which all modes change at once, and rounds at most. Changing all modes settles in a few rounds if
        // it settles at all; Murty's order needs about one round per contact.
        const int joint_rounds = blocks + 8, max_rounds = 10 * blocks + 40;
        for (int round = 0; round < max_rounds; ++round) {
            prepare_expansion();
            solve("expansion");
            if (!usable(o_.status)) break;
            apply(s.solution.r, s.gamma, o_.gamma_plus);
            bool changed = false;
            for (int a = 0; a < blocks && !(changed && round >= joint_rounds); ++a) {
                if (!(s.prescribed[ix(a)] > 0.0)) continue;
                const auto n = ix(normal_row(a));
                const bool wrong = s.held[ix(a)] ? o_.gamma_plus[n] < -zero_gamma_
                                                 : s.solution.r[n] < s.prescribed[ix(a)] - zero_Lambda;
                if (!wrong) continue;
                s.held[ix(a)] = !s.held[ix(a)];
                changed = true;
            }
            if (!changed) {
                for (std::size_t i = 0; i < o_.Lambda.size(); ++i) o_.Lambda[i] = s.Lambda[i] + s.solution.r[i];
                o_.held = s.held;
                apply(o_.Lambda, c_.gamma_minus, o_.gamma_plus);
                return;
            }
        }
        apply(o_.Lambda, c_.gamma_minus, o_.gamma_plus);
        if (!usable(o_.status)) return;
        o_.status = Status::stalled;
        o_.note = "no consistent expansion was found; the outcome is that of the compression";
    }

    /// The contact problem of the expansion for the present modes.
    void prepare_expansion() {
        Outcome::Scratch& s = o_.scratch;
        solvers::FrictionProblem& p = s.problem;
        p.W.values = D_.values;
        for (std::size_t i = 0; i < p.q.size(); ++i) p.q[i] = s.gamma[i] + c_.e[i] * c_.gamma_minus[i];
        for (int a = 0; a < problem_.contacts(); ++a) {
            if (!has_normal(problem_.laws[ix(a)])) continue;
            const auto n = ix(normal_row(a));
            p.q[n] = s.gamma[n];
            if (!s.held[ix(a)]) continue;
            double diagonal = 0.0;
            for (int entry = D_.row_start[ix(a)]; entry < D_.row_start[ix(a) + 1]; ++entry) {
                const int b = D_.block_column[ix(entry)];
                double* const row = p.W.values.data() + D_.offset[ix(entry)];
                if (b == a) diagonal = row[0];
                std::fill_n(row, D_.block_size(b), 0.0);
                if (b == a) row[0] = diagonal;
            }
            p.q[n] = -diagonal * s.prescribed[ix(a)];
        }
    }

    /// The energy law T⁺ = e² T⁻, e = Π e_i over the approaching contacts. [Tornambe] (46)
    /// Along s times the impulse Λ₀ of the inelastic collision, u⁺ = u⁻ + s M⁻¹WΛ₀ has the kinetic energy
    ///     T(s) = T⁻ + b s + a s²,   a = ½ Λ₀ᵀD Λ₀,   b = u⁻ᵀWΛ₀ = (γ⁻ − χ)·Λ₀.
    /// The larger root s of T(s) = e² T⁻ separates the bodies. T is the whole kinetic energy. If its tangential part
    /// alone exceeds e² T⁻, then there is no real root (docs/papers.md, "(46) with (11b)").
    void energy() {
        double e = 1.0;
        for (int a = 0; a < problem_.contacts(); ++a)
            if (approaches(a)) e *= c_.e[ix(normal_row(a))];
        inelastic("inelastic collision");
        if (!usable(o_.status)) return;
        std::vector<double>& change = o_.scratch.gamma;
        change.resize(o_.Lambda.size());
        D_.multiply(o_.Lambda, change);
        const double a = 0.5 * dot(o_.Lambda, change);
        const double b = dot(c_.gamma_minus, o_.Lambda) - (c_.chi.empty() ? 0.0 : dot(c_.chi, o_.Lambda));
        if (!(a > 0.0)) return;  // no impulse
        const double T = c_.kinetic_energy;
        const double discriminant = b * b - 4.0 * a * (1.0 - e * e) * T;
        // A discriminant of the size of the solver's errors is a double root: e = 0 in a central impact asks for the
        // largest loss that is possible.
        const double rounding = 8.0 * tolerance_ * b * b;
        if (discriminant < -rounding) {
            const double least = std::sqrt(std::max(0.0, 1.0 - b * b / (4.0 * a * T)));
            return refuse("T+ = e^2 T- has no solution: e = " + number_text(e) + ", T- = " + number_text(T) +
                          ", discriminant " + number_text(discriminant) +
                          "; the impulse leaves at least e = " + number_text(least));
        }
        const double s = (-b + (discriminant > rounding ? std::sqrt(discriminant) : 0.0)) / (2.0 * a);
        for (double& x : o_.Lambda) x *= s;
        apply(o_.Lambda, c_.gamma_minus, o_.gamma_plus);
        for (int k = 0; k < problem_.contacts(); ++k) {
            const solvers::Law& law = problem_.laws[ix(k)];
            for (int i = D_.start[ix(k)]; i < D_.start[ix(k) + 1]; ++i) {
                const double gamma = o_.gamma_plus[ix(i)];
                const bool wrong = law.kind == LawKind::bilateral
                                       ? std::abs(gamma) > zero_gamma_
                                       : has_normal(law) && i == D_.start[ix(k)] && gamma < -zero_gamma_;
                if (wrong)
                    return refuse(
                        "T+ = e^2 T- with e = " + number_text(e) + ", T- = " + number_text(T) + " would need " +
                        number_text(s) +
                        " times the inelastic impulse, which violates a contact or a constraint with the velocity " +
                        number_text(gamma));
            }
        }
    }

    void refuse(std::string why) {
        o_.status = Status::infeasible;
        o_.note = std::move(why);
        std::fill(o_.Lambda.begin(), o_.Lambda.end(), 0.0);
        o_.gamma_plus = c_.gamma_minus;
    }

    const solvers::FrictionProblem& problem_;
    const CollisionRows& c_;
    const solvers::BlockMatrix& D_;
    double tolerance_, zero_gamma_ = 0.0;
    solvers::Workspace& workspace_;
    Outcome& o_;
};

/// The outcome before anything is known: no impulse.
void clear(Outcome& o) {
    o.status = Status::converged;
    o.law = ImpactLaw::newton;
    o.work = o.residual = 0.0;
    o.solves = 0;
    o.note.clear();
    o.compression.clear();
    o.held.clear();
}

/// Newton's law at one frictionless contact that approaches (normal_impulse). False for all other collisions.
bool collide_one_normal(const solvers::FrictionProblem& problem, const CollisionRows& c, double tolerance, Outcome& o) {
    if (problem.laws.size() != 1 || problem.laws[0].kind != LawKind::unilateral || c.law[0] != ImpactLaw::newton)
        return false;
    const double D = problem.W.values[0], gamma = c.gamma_minus[0];
    const std::optional<NormalImpulse> impulse = normal_impulse(D, gamma, c.e[0], tolerance);
    if (!impulse) return false;
    o.residual = impulse->residual;
    o.Lambda.assign(1, impulse->Lambda);
    o.gamma_plus.assign(1, gamma + D * impulse->Lambda);
    o.work = 0.5 * (o.gamma_plus[0] + gamma) * impulse->Lambda;
    o.solves = 1;
    return true;
}

}  // namespace

void collide(const solvers::FrictionProblem& problem, const CollisionRows& rows, double tolerance,
             solvers::Workspace& workspace, Outcome& outcome) {
    const auto count = static_cast<std::size_t>(problem.W.rows());
    SALTUS_EXPECT(rows.gamma_minus.size() == count && rows.e.size() == count);
    SALTUS_EXPECT(rows.law.size() == problem.laws.size());
    SALTUS_EXPECT(rows.chi.empty() || rows.chi.size() == count);
    clear(outcome);
    if (collide_one_normal(problem, rows, tolerance, outcome)) return;
    outcome.residual = 0.0;
    Impact(problem, rows, tolerance, workspace, outcome).run();
}

}  // namespace saltus::impact
