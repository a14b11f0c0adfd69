// SPDX-License-Identifier: Apache-2.0
#include "reference/reference.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace saltus::test::reference_test {
namespace {

template <class Action>
std::string message_of(Action action) {
    try {
        action();
    } catch (const std::runtime_error& e) {
        return e.what();
    }
    return "no error";
}

TEST(ReferenceValues, GiveDecimalsFractionsAndInfinitiesAsNumbers) {
    EXPECT_EQ(double(reference::entry("leine_beam_static_paper")["outputs"]["c_star_correct"]), 18.34862385321101);
    EXPECT_EQ(double(reference::entry("glocker_random_2dof_4contacts_D")["outputs"]["b0_max_exact"][0][0]),
              -13.0 / 27.0);
    EXPECT_EQ(double(reference::entry("glocker_degenerate_empty_P_plus_closing_vise")["outputs"]["W_min"]),
              -std::numeric_limits<double>::infinity());
    EXPECT_EQ(reference::entry("leine_linear_2dof_negstiff_A")["outputs"]["t_rest"].number_or(-1.0), -1.0);
    EXPECT_EQ(reference::entry("leine_beam_static_paper")["outputs"]["E1"].numbers(),
              (std::vector<double>{-0.5829135889557342, 0.5829135889557342}));
}

TEST(ReferenceValues, NameTheMostSimilarEntryIfAnEntryIsUnknown) {
    EXPECT_EQ(message_of([] { reference::entry("leine_prop4_B"); }),
              "tests/reference/leine.json: has no 'leine_prop4_B'; the most similar name is 'leine_prop4_A'");
    EXPECT_EQ(message_of([] { reference::entry("leine_prop4_A")["outputs"]["b_min"]; }),
              "tests/reference/leine.json: leine_prop4_A/outputs has no 'b_min'; the most similar name is "
              "'b_min_prop4'");
    EXPECT_EQ(message_of([] { reference::entry("glocker_fixed_wall_A")["outputs"][3]; }),
              "tests/reference/glocker.json: glocker_fixed_wall_A/outputs has no element 3");
    EXPECT_EQ(message_of([] { reference::entry("leine_prop4_A")["source"].number(); }),
              "tests/reference/leine.json: leine_prop4_A/source is not a number: '[Leine] Prop. 4 / cond. 7a'");
    EXPECT_NE(message_of([] { reference::file("nobody"); }).find("cannot read the reference values"),
              std::string::npos);
}

}  // namespace
}  // namespace saltus::test::reference_test
