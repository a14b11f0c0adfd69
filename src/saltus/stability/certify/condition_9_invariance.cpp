// SPDX-License-Identifier: Apache-2.0
//
// [Leine] Theorem 1, condition 9: every limit set in { V < ρ* } is positively invariant, which LaSalle's invariance
// principle needs. Continuity of the motions with respect to their initial states is sufficient, but systems with
// several impacts at once do not have it in general. No function of the model decides the condition: it is assumed.
#include "saltus/stability/certify/detail/conditions.hpp"

namespace saltus::stability {

proof::Condition condition_9_invariance() {
    return {"9",
            "limit sets in the level set are positively invariant",
            proof::Verdict::assumed,
            "cannot be decided from the model; it holds if motions depend continuously on their start",
            {}};
}

}  // namespace saltus::stability
