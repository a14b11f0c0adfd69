// SPDX-License-Identifier: Apache-2.0
//
// Condition 5 of [Leine] Theorem 1: with the gaps of I_C closed, only rest is without dissipation.
#include <gtest/gtest.h>

#include "physics/motion.hpp"
#include "saltus/proof/admissible.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
#include "stability/certificates.hpp"
#include "support.hpp"

namespace saltus::stability::certify_losses_test {
namespace {

using proof::Interval;
using proof::Verdict;

/// Condition 5 of the block with I_C = { floor } on 0 <= y <= 1, |x| <= 1.
Verdict losses_of_block(const std::string& text) {
    const model::Model m = test::from_text(text);
    std::string why;
    const std::unique_ptr<proof::Enclosure> e = proof::Enclosure::of(m, why);
    EXPECT_NE(e, nullptr) << why;
    const StationaryPoint equilibrium = find_minimum(*e, m.q0);
    EXPECT_TRUE(equilibrium.found);
    const StationaryBox box = enclose_equilibrium(*e, equilibrium);
    const proof::AdmissibleSet set(*e, Interval(0.0), {});
    const ConditionScope scope{set,  equilibrium, box,  {Interval(-1.0, 1.0), Interval(0.0, 1.0)},
                               20.0, 20.0,        2000, true};
    return condition_5_dissipated_velocities(scope, {0}).verdict;
}

TEST(Losses, AFloorWithFrictionThatCarriesTheBlockTakesEnergyFromEveryMotionAlongIt) {
    EXPECT_EQ(losses_of_block(test::block), Verdict::proved);
}

/// A smooth floor at the same height carries the block, and the rough floor is without load: the block slides freely.
TEST(Losses, AContactOutsideOfICMayCarryTheLoadOfTheRoughFloor) {
    const std::string ice = "[[contact]]\nname = \"ice\"\ngN = \"y\"\neN = \"eN\"\n";
    EXPECT_NE(losses_of_block(test::replaced(test::block, "[initial]", ice + "[initial]")), Verdict::proved);
}

/// A smooth ceiling far above does not carry the block.
TEST(Losses, AContactOutsideOfICThatIsOpenDoesNotMatter) {
    const std::string ceiling = "[[contact]]\nname = \"ceiling\"\ngN = \"5 - y\"\neN = \"eN\"\n";
    EXPECT_EQ(losses_of_block(test::replaced(test::block, "[initial]", ceiling + "[initial]")), Verdict::proved);
}

}  // namespace
}  // namespace saltus::stability::certify_losses_test
