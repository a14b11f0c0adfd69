// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/audit/decided.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/impact/audit/dissipation.hpp"
#include "saltus/impact/work/frictional_work.hpp"

namespace saltus::impact {

namespace {

using Eigen::Index;

/// A row whose exact velocity is zero has an error of the size of the contact solver's residual, which is relative to
/// the largest velocity. Its share of the noise, relative to `tolerance`.
constexpr double cross_row_share = 1e-3;

std::string law_text(const FrictionalCollision& c, const Restitutions& r, std::size_t block, Index row) {
    std::string text = fmt::format("{}, eN = {:.6g}", to_string(r.law[block]), r.e(row));
    if (c.sizes[block] > 1) text += fmt::format(", eT = {:.6g}", r.e(row + 1));
    return text;
}

/// Which property of the impact law allows it to supply energy.
std::string reason(const FrictionalCollision& c, const Restitutions& r, std::size_t block) {
    switch (r.law[block]) {
        case ImpactLaw::newton: {
            const DissipationTest test = dissipation_test(restitution_of(c, r.e));
            return test.safe ? "its contact problem was not solved well enough" : test.sentence;
        }
        case ImpactLaw::poisson: return "Poisson's law promises no loss for contacts with different coefficients";
        case ImpactLaw::energy:
            return c.chi.size() > 0 && !c.chi.isZero(0.0)
                       ? "the energy law fixes T+/T-, which does not see that the obstacle moves"
                       : "the energy law was asked for more than the impact had";
    }
    return {};
}

}  // namespace

std::string_view to_string(ImpactLaw law) {
    switch (law) {
        case ImpactLaw::newton: return "newton";
        case ImpactLaw::poisson: return "poisson";
        case ImpactLaw::energy: return "energy";
    }
    return "";
}

DecidedWork audit(const DecidedImpact& impact, double tolerance) {
    const std::size_t rows = impact.Lambda.size();
    SALTUS_EXPECT(impact.gamma_minus.size() == rows && impact.gamma_plus.size() == rows && impact.chi.size() == rows);
    SALTUS_EXPECT(impact.start.size() == impact.laws.size() + 1);
    DecidedWork a;
    double fastest = 0.0;      // largest row velocity
    double impulse_sum = 0.0;  // Σ|Λ|
    double largest_work = 0.0;
    for (std::size_t b = 0; b < impact.laws.size(); ++b) {
        double own = 0.0;
        for (int i = impact.start[b]; i < impact.start[b + 1]; ++i) {
            const auto k = static_cast<std::size_t>(i);
            const double Lambda = impact.Lambda[k];
            const double work = 0.5 * (impact.gamma_plus[k] + impact.gamma_minus[k]) * Lambda;
            const double speed = 0.5 * (std::abs(impact.gamma_plus[k]) + std::abs(impact.gamma_minus[k]));
            own += work;
            if (row_kind(impact.laws[b], i - impact.start[b]) == RowKind::tangential) a.tangential += work;
            a.obstacle_work -= impact.chi[k] * Lambda;
            a.noise += tolerance * speed * std::abs(Lambda);
            fastest = std::max(fastest, speed + std::abs(impact.chi[k]));
            impulse_sum += std::abs(Lambda);
        }
        a.work += own;
        if (a.block < 0 || !(own <= largest_work)) {
            largest_work = own;
            a.block = static_cast<int>(b);
        }
    }
    a.noise += cross_row_share * tolerance * fastest * impulse_sum;
    if (!a.supplies_energy()) a.block = -1;
    return a;
}

EnergyFinding find_cause(const FrictionalCollision& c, const Vector& Lambda, const Restitutions& r, double tolerance) {
    expect_consistent_sizes(c);
    SALTUS_EXPECT(Lambda.size() == c.directions.cols() && r.e.size() == Lambda.size() && r.law.size() == c.laws.size());
    const Vector gamma_minus = relative_velocities(c, c.u_minus), gamma_plus = relative_velocities(c, c.u_plus);
    const Vector mean = 0.5 * (gamma_minus + gamma_plus);
    EnergyFinding f;
    double largest_work = 0.0, tangential = 0.0, total = 0.0;
    Index first = 0;
    each_block(c, [&](std::size_t k, Index row) {
        const double own = mean.segment(row, c.sizes[k]).dot(Lambda.segment(row, c.sizes[k]));
        total += own;
        if (f.block >= 0 && own <= largest_work) return;
        largest_work = own;
        f.block = static_cast<int>(k);
        first = row;
        tangential = 0.0;
        for (int i = 0; i < c.sizes[k]; ++i)
            if (row_kind(c.laws[k], i) == RowKind::tangential) tangential += mean(row + i) * Lambda(row + i);
    });
    if (f.block < 0) return f;
    const auto block = static_cast<std::size_t>(f.block);
    f.law = law_text(c, r, block, first);
    f.created = total;
    const FrictionalAudit a = audit(c, {.tolerance = tolerance, .remarks = false});
    if (a.verdict != Verdict::invalid && a.kinetic.holds && !std::isnan(a.least.work)) {
        f.proved = true;
        const Vector speed = 0.5 * (gamma_plus.cwiseAbs() + gamma_minus.cwiseAbs());
        const double noise = std::max(tolerance, a.least.gap + a.least.residual) * speed.dot(a.least.Lambda.cwiseAbs());
        f.created = a.least.work > noise ? a.least.work : 0.0;
        if (f.created == 0.0) {
            f.sentence =
                fmt::format("the impulses of the law do the work {:.6g}, others that lead to the same u+ do {:.6g}",
                            total, a.least.work);
            return f;
        }
    }
    f.sentence = fmt::format("{} ({}) did the most work, {:.6g}", name_of(c, block), f.law, largest_work);
    if (tangential > 0.5 * largest_work) f.sentence += ", by friction";
    f.sentence += "; " + reason(c, r, block);
    return f;
}

}  // namespace saltus::impact
