// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/text.hpp"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

namespace saltus::text_test {

TEST(NumberText, IsTheShortestThatReadsBackAsTheSameDouble) {
    EXPECT_EQ(number_text(0.1), "0.1");
    EXPECT_EQ(number_text(1.0), "1");
    EXPECT_EQ(number_text(-2.5e-7), "-2.5e-07");
    EXPECT_EQ(number_text(1e12), "1e+12");
    EXPECT_EQ(number_text(0.1 + 0.2), "0.30000000000000004");
    EXPECT_EQ(number_text(5e-324), "5e-324");
    EXPECT_EQ(number_text(-std::numeric_limits<double>::max()), "-1.7976931348623157e+308");  // the longest there is
    EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "inf");
}

TEST(NumberText, ReadsBackForRandomBitPatterns) {
    std::mt19937_64 random(7);
    int tried = 0;
    for (int k = 0; k < 20000; ++k) {
        const std::uint64_t bits = random();
        double x = 0.0, back = 0.0;
        std::memcpy(&x, &bits, sizeof x);
        if (!std::isfinite(x)) continue;
        ++tried;
        const std::string text = number_text(x);
        std::from_chars(text.data(), text.data() + text.size(), back);
        ASSERT_EQ(std::memcmp(&x, &back, sizeof x), 0) << text;
    }
    EXPECT_GT(tried, 19000);
}

TEST(EditDistance, CountsEveryKindOfEditAsTwoHalves) {
    EXPECT_EQ(edit_distance("", ""), 0);
    EXPECT_EQ(edit_distance("phi", "phi"), 0);
    EXPECT_EQ(edit_distance("", "phi"), 6);
    EXPECT_EQ(edit_distance("phi", ""), 6);
    EXPECT_EQ(edit_distance("ph", "phi"), 2);    // insert
    EXPECT_EQ(edit_distance("phii", "phi"), 2);  // delete
    EXPECT_EQ(edit_distance("psi", "phi"), 2);   // replace
    EXPECT_EQ(edit_distance("hpi", "phi"), 2);   // swap of neighbours
    EXPECT_EQ(edit_distance("kitten", "sitting"), 6);
}

TEST(EditDistance, CountsAChangeOfCaseAsOneHalf) {
    EXPECT_EQ(edit_distance("Phi", "phi"), 1);
    EXPECT_EQ(edit_distance("gn", "gN"), 1);
    EXPECT_EQ(edit_distance("PHI", "phi"), 3);
}

TEST(EditDistance, IsSymmetric) {
    const std::vector<std::string> words{"gammaT", "gamaT", "gammat", "mu", "um", "eN", "en", "restitution", ""};
    for (const std::string& a : words)
        for (const std::string& b : words) EXPECT_EQ(edit_distance(a, b), edit_distance(b, a)) << a << " " << b;
}

TEST(Nearest, PrefersAChangeOfCaseToAnotherLetter) {
    const std::vector<std::string> names{"psi", "phi", "x"};
    EXPECT_EQ(nearest("Phi", names), "phi");
    EXPECT_EQ(nearest("Psi", names), "psi");
}

TEST(Nearest, TakesTheFirstOfEquallyNearNames) {
    EXPECT_EQ(nearest("phi1", std::vector<std::string>{"phi2", "phi3"}), "phi2");
    EXPECT_EQ(nearest("phi1", std::vector<std::string>{"phi3", "phi2"}), "phi3");
}

TEST(Nearest, FindsNothingWhereEverythingIsFarOff) {
    const std::vector<std::string> names{"gammaT", "mu", "eN"};
    EXPECT_EQ(nearest("colour", names), "");
    EXPECT_EQ(nearest("z", names), "");  // all of a short name would have to change
    EXPECT_EQ(nearest("", names), "");
    EXPECT_EQ(nearest("mu", std::vector<std::string>{}), "");
}

TEST(Nearest, AllowsAThirdOfTheLettersAndNoMore) {
    const std::vector<std::string> names{"abcdefghi"};
    EXPECT_EQ(nearest("abcdefXYZ", names), "abcdefghi");
    EXPECT_EQ(nearest("abcdeWXYZ", names), "");
}

TEST(Nearest, PassesOverNamesThatAreTooLongToBeMisspelt) {
    const std::string longest(64, 'a');
    EXPECT_EQ(nearest(longest, std::vector<std::string>{longest}), longest);
    EXPECT_EQ(nearest(longest + "a", std::vector<std::string>{longest + "a"}), "");
    EXPECT_EQ(nearest(longest, std::vector<std::string>{longest + "a"}), "");
}

TEST(Listing, JoinsWithCommasAndAWord) {
    EXPECT_EQ(listing(std::vector<std::string>{}), "");
    EXPECT_EQ(listing(std::vector<std::string>{"a"}), "a");
    EXPECT_EQ(listing(std::vector<std::string>{"a", "b"}), "a and b");
    EXPECT_EQ(listing(std::vector<std::string>{"a", "b", "c"}), "a, b and c");
    EXPECT_EQ(listing(std::vector<std::string>{"a", "b", "c"}, "or", "'"), "'a', 'b' or 'c'");
}

TEST(Listing, SaysHowManyItLeavesOut) {
    EXPECT_EQ(listing(std::vector<std::string>{"a", "b", "c", "d"}, "and", "", 2), "a, b and 2 more");
    EXPECT_EQ(listing(std::vector<std::string>{"a", "b", "c"}, "and", "", 3), "a, b and c");
    EXPECT_EQ(listing(std::vector<std::string>(13, "x")), "x, x, x, x, x, x, x, x, x, x, x, x and 1 more");
}

TEST(DidYouMean, GuessesOrListsWhatIsKnown) {
    const std::vector<std::string> names{"x", "y", "phi"};
    EXPECT_EQ(did_you_mean("pi", names), "did you mean 'phi'?");
    EXPECT_EQ(did_you_mean("zeta", names), "known are x, y and phi");
    EXPECT_EQ(did_you_mean("zeta", std::vector<std::string>{}), "");
}

TEST(Counted, AddsAnSUnlessOne) {
    EXPECT_EQ(counted(0, "contact"), "0 contacts");
    EXPECT_EQ(counted(1, "contact"), "1 contact");
    EXPECT_EQ(counted(2, "contact"), "2 contacts");
}

}  // namespace saltus::text_test
