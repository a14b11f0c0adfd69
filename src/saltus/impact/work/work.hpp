// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/impact/frictionless.hpp"

namespace saltus::impact {

/// Tolerances of a verdict.
struct AuditOptions {
    /// Relative: of a relative velocity against the sizes of its terms before and after, of an impulse against the
    /// whole impulse, of a work against the sizes of its terms. Below 1e-13 rounding decides.
    double tolerance = 1e-9;
    double alpha = 0.0;   ///< contact work that is allowed
    bool remarks = true;  ///< recognise special cases too, which costs a few programs more
};

/// One end of the interval of the contact work over all Λ >= 0 that give the same u⁺, which a linear program finds.
/// With the solution b₀ of its dual, over P⁺ (least work) or P⁻ (greatest), [Glocker] 7
///     work = ½‖u⁺ − b₀‖²_M − ½‖z⁻ − b₀‖²_M,      0 <= Λ_i ⊥ γ_i(b₀ − M⁻¹P/2).
struct WorkEnd {
    double work = 0.0;           ///< Σ ½(γ⁺ + γ⁻)Λ; ±∞ or NaN (no Λ) as it comes
    Vector Lambda;               ///< one a column; where work is infinite: of one admissible Λ
    Vector b;                    ///< b₀: the point of least ‖·‖_M of its face of P⁺ or P⁻, plus M⁻¹P/2
    double ball = 0.0;           ///< the work once more, from b₀
    double gap = 0.0;            ///< of the program, relative
    double obstacle_work = 0.0;  ///< −χᵀΛ, what moving obstacles did
    Vector ray;                  ///< where work is infinite: Λ + s·ray gives the same u⁺ for every s >= 0
    std::string why;             ///< there is no finite work
};

enum class Verdict {
    dissipates,       ///< compatible, and no admissible Λ does more work than alpha
    may_dissipate,    ///< compatible, and some admissible Λ does no more than alpha, but not all
    supplies_energy,  ///< compatible, but every admissible Λ does more work than alpha
    into_obstacle,    ///< γ⁺ < 0 somewhere
    not_by_contacts,  ///< no contact impulses Λ >= 0 lead to u⁺
    undecided,        ///< a program was not solved
    invalid,          ///< M is not positive definite, or a number is not finite
};
inline bool consistent(Verdict v) { return v == Verdict::dissipates || v == Verdict::may_dissipate; }

enum class RemarkKind {
    no_contacts,
    single_contact,
    no_excitation,          ///< χ = 0: the work is T⁺ − T⁻
    uniform_excitation,     ///< all χ = −Wᵀb: the work is the same for every Λ
    nonuniform_excitation,  ///< no frame moves with all obstacles
    kinetic_excitation,     ///< an impulse from outside
    not_approaching,        ///< u⁻ leaves some contact already
    singular_delassus,      ///< dependent contacts
    redundant_contacts,     ///< γ >= 0 of some contacts follows from the others; looked for among 30 contacts at most
    no_corner_points,       ///< the contacts do not span the velocities
    impulses_unbounded,     ///< contacts can press against each other without any effect
    empty_P_plus,
    empty_P_minus,
    bilateral_violated,  ///< u⁺ or u⁻ misses a bilateral constraint
};

struct Remark {
    RemarkKind kind;
    std::string text;
    std::vector<int> contacts;  ///< that it is about
};

/// What can be said of u⁻ → u⁺. [Glocker] 5–10
struct Audit {
    Verdict verdict = Verdict::invalid;
    Verdict verdict_with_external_work = Verdict::invalid;  ///< with alpha + W_P, the paper's other reading
    std::string sentence;                                   ///< the verdict in words

    struct Kinematic {
        bool holds = false;
        Vector slack;     ///< γ⁺, one a column; bilateral ones −|γ⁺|
        int worst = -1;   ///< column of least slack relative to its terms
        Vector relative;  ///< slack over the sizes of its terms
    } kinematic;
    struct Kinetic {
        bool holds = false;
        double distance = 0.0;  ///< of u⁺ from z⁻ − T^⊥ in the M-norm: ‖M(u⁺ − u⁻) − P − WΛ‖ in the norm of M⁻¹
        Vector Lambda;         ///< of the nearest impulse
        double impulse = 0.0;  ///< ‖M(u⁺ − u⁻) − P‖ in the norm of M⁻¹, what `distance` is to be compared with
    } kinetic;

    Vector gamma_minus, gamma_plus;
    WorkEnd least, greatest;
    double energy_minus = 0.0, energy_plus = 0.0;  ///< T⁻, T⁺
    double energy_change = 0.0;                    ///< T⁺ − T⁻ = work + obstacle work + external work
    double external_work = 0.0;                    ///< W_P = ½(u⁺ + u⁻)ᵀP
    std::vector<Remark> remarks;
    Vector common_velocity;  ///< b of a uniform excitation: the frame in which the obstacles rest

    bool consistent() const { return impact::consistent(verdict); }
    const Remark* remark(RemarkKind kind) const;
};

Audit audit(const FrictionlessCollision& collision, const AuditOptions& options = {});

/// The work of given impulses, Σ ½(γ⁺ + γ⁻)Λ.
double contact_work(const FrictionlessCollision& collision, const Vector& Lambda);

/// ½‖u⁺ − b‖²_M − ½‖z⁻ − b‖²_M for any b: a lower bound of the work for b ∈ P⁺ + M⁻¹P/2 if u⁺ is kinetically
/// admissible, and no statement about anything if it is not.
double ball_work(const FrictionlessCollision& collision, const Vector& b);

}  // namespace saltus::impact
