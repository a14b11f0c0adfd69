// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/basin_capture.hpp"

#include <algorithm>
#include <cmath>

namespace saltus::stability {

/// [Leine] Theorem 1: the part of { V < ρ } around the equilibrium set, V = T + U − reference, is contained in the
/// region of attraction. A proved certificate guarantees only the verified lower bound of ρ*. { V < ρ } may have other
/// components (copies of the set); the box `domain` of the certificate separates them: the part of { V < ρ } with
/// positions in the box does not leave the box, and it is the part that the certificate is about.
std::optional<CaptureSet> capture_set(const proof::Certificate& c) {
    if (c.outcome != proof::Outcome::attractive || !c.has_rho) return std::nullopt;
    CaptureSet set;
    set.proved = c.grade == proof::Grade::proved;
    set.rho = set.proved ? std::min(c.rho, c.rho_verified) : c.rho;
    if (!(set.rho > 0.0)) return std::nullopt;
    // A level of regulation that is not proved has no box, so that its component is not separated from others.
    if (c.theorem == proof::Theorem::regulation && std::isfinite(set.rho) && c.domain.empty()) return std::nullopt;
    // V of steady sliding is not T + U. If the theorem holds at every level then V is not needed.
    if (!std::isfinite(c.reference) && std::isfinite(set.rho)) return std::nullopt;
    set.reference = std::isfinite(c.reference) ? c.reference : 0.0;
    set.q = c.q;
    if (c.domain.empty()) return set;
    set.box.assign(c.domain.begin(), c.domain.end());
    set.in_component = [domain = c.domain](std::span<const double> q) {
        for (std::size_t i = 0; i < q.size(); ++i)
            if (!(q[i] >= domain[i].first && q[i] <= domain[i].second)) return false;
        return true;
    };
    return set;
}

std::optional<CaptureSet> wider(std::optional<CaptureSet> a, std::optional<CaptureSet> b) {
    if (!a || !b) return a ? a : b;
    if (a->proved != b->proved) return a->proved ? a : b;
    return b->rho > a->rho ? b : a;
}

}  // namespace saltus::stability
