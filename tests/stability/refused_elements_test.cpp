// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "physics/motion.hpp"
#include "saltus/stability/basin/basin.hpp"
#include "saltus/stability/certify/certify.hpp"
#include "saltus/stability/equilibria/equilibria.hpp"
#include "support.hpp"

namespace saltus::stability::refused_elements_test {
namespace {

using test::from_text;
using test::refusal_of;
using test::shipped;

std::string with_body(const std::string& element) {
    return "[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"y + x^2\"\nR = \"x'^2 + y'^2\"\n" + element;
}

// The sets and theorems are about constraints of positions and contacts that always exist. A model that they do not
// cover is refused; it must not get an answer that leaves the element out.
TEST(RefusedElements, EquilibriaAndCertificatesRefuseVelocityConstraints) {
    const test::Model m = from_text(with_body("[[constraint]]\nname = \"edge\"\ngamma = \"y'\"\n"));
    EXPECT_EQ(refusal_of([&] { equilibria(m); }),
              "the search for equilibrium sets does not support velocity constraints (constraint 'edge'): velocity "
              "constraints carry forces and hold no position, so that equilibria are not isolated");
    for (const Theorem theorem : {Theorem::attractivity, Theorem::instability}) {
        const std::string why = refusal_of([&] { certify(m, theorem); });
        EXPECT_NE(why.find("does not support velocity constraints (constraint 'edge')"), std::string::npos) << why;
    }
    BasinOptions options;
    const std::string why = refusal_of([&] { basin(m, options); });
    EXPECT_NE(why.find("the basin does not support velocity constraints"), std::string::npos) << why;
}

TEST(RefusedElements, EquilibriaAndCertificatesRefuseContactsWithACondition) {
    const test::Model m = from_text(with_body("[[contact]]\nname = \"table\"\ngN = \"y\"\neN = 0\nif = \"x < 1\"\n"));
    EXPECT_EQ(refusal_of([&] { equilibria(m); }),
              "the search for equilibrium sets does not support contacts with a condition (contact 'table'): it takes "
              "all contacts to exist everywhere");
    for (const Theorem theorem : {Theorem::attractivity, Theorem::instability}) {
        const std::string why = refusal_of([&] { certify(m, theorem); });
        EXPECT_NE(why.find("does not support contacts with a condition (contact 'table')"), std::string::npos) << why;
    }
    BasinOptions options;
    const std::string why = refusal_of([&] { basin(m, options); });
    EXPECT_NE(why.find("the basin does not support contacts with a condition"), std::string::npos) << why;
}

}  // namespace
}  // namespace saltus::stability::refused_elements_test
