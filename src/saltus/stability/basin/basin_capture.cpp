// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/basin_capture.hpp"

#include <algorithm>

namespace saltus::stability {

std::optional<CaptureSet> capture_set(const proof::Certificate& c) {
    if (c.outcome != proof::Outcome::attractive || !c.has_rho) return std::nullopt;
    CaptureSet set;
    set.proved = c.grade == proof::Grade::proved;
    set.rho = set.proved ? std::min(c.rho, c.rho_verified) : c.rho;
    if (!(set.rho > 0.0)) return std::nullopt;
    set.reference = c.reference;
    set.q = c.q;
    if (c.domain.empty()) return set;
    set.around = [domain = c.domain](std::span<const double> q) {
        for (std::size_t i = 0; i < q.size(); ++i)
            if (!(q[i] >= domain[i].first && q[i] <= domain[i].second)) return false;
        return true;
    };
    return set;
}

}  // namespace saltus::stability
