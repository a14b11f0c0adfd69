// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/impact/frictional.hpp"
#include "saltus/impact/work/work.hpp"

namespace saltus::impact {

/// Σ ½(γ⁺ + γ⁻)·Λ by what the rows are.
struct WorkParts {
    double normal = 0.0, tangential = 0.0, bilateral = 0.0;
    double total() const { return normal + tangential + bilateral; }
};

WorkParts work_parts(const FrictionalCollision& collision, const Vector& Lambda);

/// One end of the contact work over all Λ in their cones that give the same u⁺: a second-order cone program. Its dual
/// lives on { b : γ_k(b) ∈ K_k* } (least) or −K_k* (greatest), which without friction are P⁺ and P⁻, and here too
///     work = ½‖u⁺ − b₀‖²_M − ½‖z⁻ − b₀‖²_M
/// as long as no slider has a bound of its own.
struct FrictionalEnd {
    double work = 0.0;      ///< of Lambda; ±∞ or NaN as it comes
    double bound = 0.0;     ///< from the dual point: no admissible Λ goes beyond it
    double gap = 0.0;       ///< between the two, relative to the sizes of their terms
    double residual = 0.0;  ///< by how much Λ or b₀ misses what it must satisfy, relative
    WorkParts parts;
    Vector Lambda;  ///< one a row
    Vector b;       ///< b₀, which includes the shift M⁻¹P/2
    std::string why;
};

struct FrictionalAudit {
    Verdict verdict = Verdict::invalid;
    Verdict verdict_with_external_work = Verdict::invalid;  ///< with alpha + W_P
    std::string sentence;
    Audit::Kinematic kinematic;  ///< of the normal and bilateral rows; slack of other rows is +∞
    Audit::Kinetic kinetic;
    Vector gamma_minus, gamma_plus;
    FrictionalEnd least, greatest;
    double energy_minus = 0.0, energy_plus = 0.0;  ///< T⁻, T⁺
    double energy_change = 0.0, external_work = 0.0;
};

/// The interval of the contact work at given u⁻ and u⁺. Planar contacts are linear programs, solved exactly; of spatial
/// ones, orthotropic ones and those with drilling and rolling moments the gap is below 1e-8, or is reported with the
/// reason. A Coulomb–Contensou patch and friction on a bilateral row (scaled_slider) are no second-order cones: verdict
/// invalid, which the sentence says, unless μ = 0 makes them frictionless.
FrictionalAudit audit(const FrictionalCollision& collision, const AuditOptions& options = {});

/// The special cases that it is; `contacts` of a remark are blocks.
std::vector<Remark> frictional_remarks(const FrictionalCollision& collision, const FrictionalAudit& audit);

}  // namespace saltus::impact
