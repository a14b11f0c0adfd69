// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/impact/frictional.hpp"
#include "saltus/impact/work/work.hpp"

namespace saltus::impact {

/// The contact work Σ ½(γ⁺ + γ⁻)·Λ, split by the kind of the rows.
struct WorkParts {
    double normal = 0.0, tangential = 0.0, bilateral = 0.0;
    double total() const { return normal + tangential + bilateral; }
};

/// The contact work of the impulses Λ, one number per row.
WorkParts work_parts(const FrictionalCollision& collision, const Vector& Lambda);

/// One end of the interval of the contact work over all Λ ∈ K that lead to the same u⁺. It is the solution of a
/// second-order cone program. The feasible set of its dual is { b : γ_k(b) ∈ K_k* } for the least and −K_k* for the
/// greatest work, with the dual cones K_k*; without friction these are P⁺ and P⁻. If no slider has a bound of its own,
/// then here too   work = ½‖u⁺ − b₀‖²_M − ½‖z⁻ − b₀‖²_M   with the dual solution b₀.
struct FrictionalEnd {
    double work = 0.0;      ///< contact work of Lambda; ±∞ if unbounded; NaN if no Λ leads to u⁺
    double bound = 0.0;     ///< dual value: no admissible Λ does less (least) or more (greatest) work
    double gap = 0.0;       ///< difference of work and bound, relative to the sizes of their terms
    double residual = 0.0;  ///< violation of the constraints by Λ or b₀, relative
    WorkParts parts;        ///< `work` split by the kind of the rows
    Vector Lambda;          ///< impulse of each row
    Vector b;               ///< b₀, which includes the shift M⁻¹P/2
    std::string why;        ///< the reason if there is no finite work, or not to the accuracy asked for; else empty
};

/// The result of an audit with friction. Members as in Audit.
struct FrictionalAudit {
    Verdict verdict = Verdict::invalid;
    Verdict verdict_with_external_work = Verdict::invalid;  ///< verdict with α + W_P in the place of α
    std::string sentence;
    Audit::Kinematic kinematic;  ///< slacks of the normal and bilateral rows; the slack of other rows is +∞
    Audit::Kinetic kinetic;
    Vector gamma_minus, gamma_plus;
    FrictionalEnd least, greatest;
    double energy_minus = 0.0, energy_plus = 0.0;     ///< T⁻, T⁺
    double energy_change = 0.0, external_work = 0.0;  ///< T⁺ − T⁻, and W_P = ½(u⁺ + u⁻)ᵀP
};

/// Judges u⁺ of a collision with friction. Planar contacts give linear programs, which are solved exactly. For spatial,
/// orthotropic, drilling and rolling friction the relative gap is below 1e-8; otherwise the end says why not. The set
/// of a Coulomb–Contensou patch and of friction on a bilateral row (scaled_slider) is no second-order cone: then the
/// verdict is invalid and the sentence says so, unless μ = 0.
FrictionalAudit audit(const FrictionalCollision& collision, const AuditOptions& options = {});

/// The special cases that apply to the collision. `contacts` of a remark are numbers of blocks.
std::vector<Remark> frictional_remarks(const FrictionalCollision& collision, const FrictionalAudit& audit);

}  // namespace saltus::impact
