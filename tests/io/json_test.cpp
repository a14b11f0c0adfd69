// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/detail/json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "saltus/io/report/detail/csv.hpp"

namespace saltus::json_test {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST(Json, WritesNumbersThatAreNotFiniteAsNull) {
    EXPECT_EQ(io::json::line(io::json::numbers(std::vector<double>{1.5, infinity, -infinity, NAN})),
              "[1.5,null,null,null]");
    EXPECT_TRUE(io::json::number(std::optional<double>{}).is_null());
}

TEST(Json, WritesMinusZeroAsZero) {
    EXPECT_EQ(io::json::line(io::json::number(-0.0)), "0.0");
    EXPECT_EQ(io::json::line(io::json::level(-0.0)), "0.0");
}

TEST(Json, NamesUnboundedLevels) {
    EXPECT_EQ(io::json::level(infinity), "inf");
    EXPECT_EQ(io::json::level(-infinity), "-inf");
    EXPECT_TRUE(io::json::level(NAN).is_null());
}

TEST(Json, NamesAsManyValuesAsThereAre) {
    EXPECT_EQ(io::json::line(io::json::by_name({"x", "y"}, std::vector<double>{1.0})), "{\"x\":1.0}");
}

TEST(Json, ReplacesBytesThatAreNotUtf8) {
    const io::json::Json j{{"name", "a\xff"}};
    EXPECT_EQ(io::json::document(j), "{\n  \"name\": \"a\xef\xbf\xbd\"\n}\n");
    EXPECT_EQ(io::json::fragment(j) + "\n", io::json::document(j));
}

/// A terminal executes these characters; their escapes have the same meaning in JSON.
TEST(Json, EscapesControlCharactersThatJsonAllows) {
    const std::string name =
        "a\x7f"
        "b\xc2\x9b"
        "c\x1b\xc3\xa4";
    const std::string text = io::json::line(io::json::Json{{"name", name}});
    EXPECT_EQ(text, "{\"name\":\"a\\u007fb\\u009bc\\u001b\xc3\xa4\"}");
    EXPECT_EQ(io::json::Json::parse(text)["name"], name);
}

TEST(Csv, LeavesCellsEmptyForMissingNumbers) {
    io::Csv csv;
    csv.cells({"a", "b,c"}).end_line();
    csv.cell(std::optional<double>{})
        .cell_if_finite(infinity)
        .cell_if_finite(2.0)
        .cells(std::vector{1.0}, 2)
        .end_line();
    EXPECT_EQ(std::move(csv).text(), "a,\"b,c\"\n,,2,1,\n");
}

}  // namespace saltus::json_test
