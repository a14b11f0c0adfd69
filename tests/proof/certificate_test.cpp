// SPDX-License-Identifier: Apache-2.0
#include "saltus/proof/certificate.hpp"

#include <gtest/gtest.h>

#include "saltus/proof/theorem.hpp"

namespace saltus::proof::certificate_test {
namespace {

Condition row(const char* id, Verdict verdict) { return {id, "", verdict, "", {}}; }

TEST(Theorems, EveryNameIsReadBackAsItsTheorem) {
    const std::vector<std::string> names = theorem_names();
    EXPECT_EQ(names, (std::vector<std::string>{"attractivity", "instability", "regulation"}));
    for (const std::string& name : names) {
        const std::optional<Theorem> theorem = theorem_named(name);
        ASSERT_TRUE(theorem) << name;
        EXPECT_EQ(to_string(*theorem), name);
    }
    EXPECT_FALSE(theorem_named(""));
    EXPECT_FALSE(theorem_named("Attractivity"));
}

TEST(Certificates, TheGradeIsProvedIfEveryConditionIsProvedOrAssumed) {
    EXPECT_EQ(grade_of({row("1", Verdict::proved), row("9", Verdict::assumed)}), Grade::proved);
    EXPECT_EQ(grade_of({row("1", Verdict::proved), row("2", Verdict::numerical)}), Grade::numerical);
    EXPECT_EQ(grade_of({row("1", Verdict::proved), row("2", Verdict::fails)}), Grade::numerical);
    EXPECT_EQ(grade_of({row("1", Verdict::numerical), row("2", Verdict::not_examined)}), Grade::not_examined);
}

TEST(Certificates, ConditionsHoldIfNoneFailsAndAllWereExamined) {
    EXPECT_TRUE(all_hold({row("1", Verdict::numerical), row("9", Verdict::assumed)}));
    EXPECT_FALSE(all_hold({row("1", Verdict::numerical), row("2", Verdict::fails)}));
    EXPECT_FALSE(all_hold({row("1", Verdict::proved), row("2", Verdict::not_examined)}));
}

TEST(Certificates, AssumptionsAreNamed) {
    const std::vector<Condition> rows{row("1", Verdict::proved),
                                      {"9", "limits are invariant", Verdict::assumed, "", {}}};
    EXPECT_EQ(assumptions_of(rows, "condition"), std::vector<std::string>{"condition 9: limits are invariant"});
}

TEST(Certificates, GradesHaveTheWordsOfTheDocuments) {
    EXPECT_STREQ(to_string(Verdict::numerical), "numerical");
    EXPECT_STREQ(to_string(Verdict::not_examined), "not examined");
    EXPECT_STREQ(to_string(Grade::not_examined), "not examined");
}

TEST(Certificates, TheSummaryNamesTheConditionsThatFail) {
    EXPECT_EQ(failure_summary({row("1", Verdict::proved)}), "");
    EXPECT_EQ(failure_summary({row("1", Verdict::proved), row("4", Verdict::fails)}), "condition 4 fails");
    EXPECT_EQ(failure_summary({row("2", Verdict::fails), row("4", Verdict::fails)}), "conditions 2 and 4 fail");
    EXPECT_EQ(failure_summary({row("2", Verdict::fails), row("5", Verdict::not_examined)}),
              "condition 2 fails; condition 5 is not examined");
}

TEST(Certificates, ConditionsAreFoundByTheirNumber) {
    Certificate c;
    c.conditions = {row("1", Verdict::proved), row("8", Verdict::numerical)};
    ASSERT_NE(c.find("8"), nullptr);
    EXPECT_EQ(c.find("8")->verdict, Verdict::numerical);
    EXPECT_EQ(c.find("2"), nullptr);
}

TEST(Certificates, AWitnessIsGivenIfItHasAnyNumber) {
    EXPECT_FALSE(Witness{}.given());
    EXPECT_TRUE((Witness{{1.0}, {}, {}}).given());
    EXPECT_TRUE((Witness{{}, {}, {{"t", 1.0}}}).given());
}

}  // namespace
}  // namespace saltus::proof::certificate_test
