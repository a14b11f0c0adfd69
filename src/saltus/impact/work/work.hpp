// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/impact/frictionless.hpp"

namespace saltus::impact {

/// Options of an audit.
struct AuditOptions {
    /// Relative tolerance τ of the verdict. A velocity counts as admissible if γ_i⁺ >= −τ Σ|terms of γ_i|; an impulse
    /// as reached if its M⁻¹-norm error is <= τ times the whole impulse; a work as <= α if it exceeds α by at most
    /// τ Σ|terms of the work|. Below 1e-13 rounding errors decide.
    double tolerance = 1e-9;
    double alpha = 0.0;   ///< contact work that is allowed, in J
    bool remarks = true;  ///< recognise special cases too; this costs a few more linear programs
};

/// One end of the interval of the contact work over all Λ >= 0 that lead to the same u⁺. A linear program finds it. Let
/// b₀ be the solution of its dual, over P⁺ for the least and over P⁻ for the greatest work. Then [Glocker] 7
///     work = ½‖u⁺ − b₀‖²_M − ½‖z⁻ − b₀‖²_M,      0 <= Λ_i ⊥ γ_i(b₀ − M⁻¹P/2).
/// If P⁺ is empty, then the dual has no solution and the least work is −∞; if P⁻ is empty, then the greatest is +∞.
struct WorkEnd {
    double work = 0.0;  ///< Σ ½(γ⁺ + γ⁻)Λ; ∓∞ if P⁺ or P⁻ is empty; NaN if no Λ leads to u⁺
    Vector Lambda;      ///< one per column; if the work is infinite: some admissible Λ
    Vector b;           ///< b₀: the point of least ‖·‖_M of its face of P⁺ or P⁻, plus M⁻¹P/2
    double ball = 0.0;  ///< `work` computed from b₀ by the formula above, as a check
    double gap = 0.0;   ///< duality gap of the program, relative
    double obstacle_work = 0.0;  ///< −χᵀΛ: work of the moving obstacles on the system
    Vector ray;       ///< if the work is infinite: Λ + s·ray leads to the same u⁺ for every s >= 0; else empty
    std::string why;  ///< the reason if there is no finite work; else empty
};

/// The verdict about u⁺. "Compatible" means kinematically and kinetically admissible: γ⁺ >= 0, and some Λ >= 0 leads to
/// u⁺. Membership in the set I of [Glocker] shows only that some of these Λ supplies no energy, not that all of them
/// supply none. So there are two positive verdicts.
enum class Verdict {
    dissipates,       ///< compatible, and no admissible Λ does more work than α
    may_dissipate,    ///< compatible, and some admissible Λ does at most the work α, but not all of them
    supplies_energy,  ///< compatible, but every admissible Λ does more work than α
    into_obstacle,    ///< γ_i⁺ < 0 for some contact
    not_by_contacts,  ///< no Λ >= 0 leads to u⁺
    undecided,        ///< a program was not solved
    invalid,          ///< M is not positive definite, or a number is not finite
};
/// Whether u⁺ is in the consistency set I.
inline bool consistent(Verdict v) { return v == Verdict::dissipates || v == Verdict::may_dissipate; }

/// Special cases of a collision.
enum class RemarkKind {
    no_contacts,
    single_contact,
    no_excitation,          ///< χ = 0: the contact work is T⁺ − T⁻
    uniform_excitation,     ///< χ = −Wᵀb for one b: the contact work is the same for every Λ
    nonuniform_excitation,  ///< there is no such b: the contact work depends on Λ
    kinetic_excitation,     ///< there is an external impulse
    not_approaching,        ///< u⁻ separates at some contact already
    singular_delassus,      ///< the contact directions are linearly dependent
    redundant_contacts,     ///< γ >= 0 of some contacts follows from the others; searched for at most 30 contacts
    no_corner_points,       ///< the contact directions do not span the velocities, so P⁺ has no corner points
    impulses_unbounded,     ///< some Λ ≥ 0, Λ ≠ 0 has WΛ = 0
    empty_P_plus,           ///< no velocity leaves all contacts
    empty_P_minus,          ///< no velocity approaches all contacts
    bilateral_violated,     ///< u⁺ or u⁻ violates a bilateral constraint
};

struct Remark {
    RemarkKind kind;
    std::string text;
    std::vector<int> contacts;  ///< the contacts that it is about
};

/// The result of an audit of u⁻ → u⁺. [Glocker] 5–10
struct Audit {
    Verdict verdict = Verdict::invalid;
    /// Verdict with α + W_P in the place of α; W_P = ½(u⁺ + u⁻)ᵀP is the work of the external impulse (Allowance).
    Verdict verdict_with_external_work = Verdict::invalid;
    std::string sentence;  ///< the verdict in words, with its numbers

    /// Kinematic admissibility: u⁺ ∈ P⁺.
    struct Kinematic {
        bool holds = false;
        Vector slack;     ///< γ⁺, one per column; −|γ⁺| for bilateral columns
        int worst = -1;   ///< column of the smallest relative slack; −1 without columns
        Vector relative;  ///< slack divided by the sum of the absolute terms of γ

        /// Column of the smallest slack; −1 without columns. The lengths of the directions decide whether it is
        /// `worst`.
        int least() const {
            if (worst < 0) return -1;
            Eigen::Index column = 0;
            slack.minCoeff(&column);
            return static_cast<int>(column);
        }
    } kinematic;
    /// Kinetic admissibility: u⁺ ∈ z⁻ − T^⊥. If it does not hold, then no contact impulses lead to u⁺. There is no
    /// contact work then, and the ball test may be passed by chance (docs/papers.md, "Inadmissible velocities").
    struct Kinetic {
        bool holds = false;
        /// M-distance of u⁺ from z⁻ − T^⊥: min over Λ >= 0 of ‖M(u⁺ − u⁻) − P − WΛ‖ in the M⁻¹-norm.
        double distance = 0.0;
        Vector Lambda;         ///< the minimiser
        double impulse = 0.0;  ///< ‖M(u⁺ − u⁻) − P‖ in the M⁻¹-norm: the scale of `distance`
    } kinetic;

    Vector gamma_minus, gamma_plus;
    WorkEnd least, greatest;
    double energy_minus = 0.0, energy_plus = 0.0;  ///< T⁻, T⁺
    double energy_change = 0.0;                    ///< T⁺ − T⁻ = work + obstacle work + external work
    double external_work = 0.0;                    ///< W_P = ½(u⁺ + u⁻)ᵀP
    std::vector<Remark> remarks;
    /// b of a uniform excitation χ = −Wᵀb: the velocity of the frame in which all obstacles rest.
    Vector common_velocity;

    bool consistent() const { return impact::consistent(verdict); }
    const Remark* remark(RemarkKind kind) const;  ///< the first remark of this kind, or null
};

/// Judges u⁺ of a collision without friction.
Audit audit(const FrictionlessCollision& collision, const AuditOptions& options = {});

/// The contact work Σ ½(γ⁺ + γ⁻)Λ of given impulses.
double contact_work(const FrictionlessCollision& collision, const Vector& Lambda);

/// ½‖u⁺ − b‖²_M − ½‖z⁻ − b‖²_M for any b. If u⁺ is kinetically admissible and b ∈ P⁺ + M⁻¹P/2, it is a lower bound of
/// the contact work. Otherwise it has no meaning.
double ball_work(const FrictionlessCollision& collision, const Vector& b);

}  // namespace saltus::impact
