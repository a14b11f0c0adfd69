// SPDX-License-Identifier: Apache-2.0
#include "saltus/proof/claims.hpp"

#include <gtest/gtest.h>

namespace saltus::proof::claims_test {
namespace {

Certificate two_rows() {
    Certificate c;
    c.conditions = {{"1", "first", Verdict::proved, "", {}}, {"9", "last", Verdict::assumed, "", {}}};
    c.domain = {{-1.0, 1.0}};
    return c;
}

TEST(Claims, AStatementWithoutClaimsIsNotCertifiedAndSaysWhy) {
    const CertifiedStatement s = uncertified(two_rows(), {"x"}, "because");
    EXPECT_FALSE(s.certified());
    ASSERT_EQ(s.conditions.size(), 2U);
    EXPECT_EQ(s.conditions[0].why, "because");
    EXPECT_TRUE(s.conditions[0].claims.empty());
    EXPECT_EQ(s.assumptions, std::vector<std::string>{"last"});
    EXPECT_EQ(s.domain[0].lo, -1.0);
}

TEST(Claims, AStatementIsCertifiedIfAllConditionsAreCertifiedOrAssumed) {
    CertifiedStatement s = uncertified(two_rows(), {"x"}, "because");
    s.conditions[0].certified = true;
    EXPECT_TRUE(s.certified());
    s.conditions[1].verdict = Verdict::proved;  // proved by the program, but without claims
    EXPECT_FALSE(s.certified());
    EXPECT_FALSE(CertifiedStatement{}.certified());
}

TEST(Claims, ASplitNamesAxisPointAndBothHalves) {
    const ClaimValue node = split_node(2, 0.5, ClaimValue::List{"level"}, ClaimValue::List{"gap", "floor"});
    const auto& list = std::get<ClaimValue::List>(node.content());
    ASSERT_EQ(list.size(), 5U);
    EXPECT_EQ(std::get<std::string>(list[0].content()), "split");
    EXPECT_EQ(std::get<int>(list[1].content()), 2);
    EXPECT_EQ(std::get<double>(list[2].content()), 0.5);
    EXPECT_EQ(std::get<std::string>(std::get<ClaimValue::List>(list[4].content())[1].content()), "floor");
}

}  // namespace
}  // namespace saltus::proof::claims_test
