// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/visible_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace saltus::visible_text_test {
namespace {

TEST(VisibleText, WritesControlCharactersAsText) {
    EXPECT_EQ(visible_text("a\x1b[31mred\x07"), "a\\x1b[31mred\\x07");
    EXPECT_EQ(visible_text(std::string_view("a\0b", 3)), "a\\x00b");
    EXPECT_EQ(visible_text("\x7f\r\b"), "\\x7f\\x0d\\x08");
    EXPECT_EQ(visible_text("\xc2\x9b"
                           "31m"),
              "\\x9b31m");  // U+009B begins a terminal sequence
}

TEST(VisibleText, LeavesEverythingElse) {
    const std::string text = "φ̈ = −g sin φ\n\tnäher 中 \xc2\xa0 \xf4\x8f\xbf\xbf";
    EXPECT_EQ(visible_text(text), text);
}

/// A terminal that does not read UTF-8 takes the byte 9b for the beginning of a command.
TEST(VisibleText, ShowsBytesThatAreNotUtf8) {
    EXPECT_EQ(visible_text("\x9b\x33\x31m"), "\\x9b31m");
    EXPECT_EQ(visible_text("na\xefve \xc2"), "na\\xefve \\xc2");
    EXPECT_EQ(visible_text("\xc0\xaf"), "\\xc0\\xaf");                    // U+002F in two bytes
    EXPECT_EQ(visible_text("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
    EXPECT_EQ(visible_text("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
}

/// No byte that a terminal executes survives, whatever the text is.
TEST(VisibleText, HasNoControlCharacterForAnyTwoBytes) {
    for (int a = 0; a < 256; ++a)
        for (int b = 0; b < 256; ++b) {
            const std::string pair{static_cast<char>(a), static_cast<char>(b)};
            const std::string shown = visible_text(pair);
            for (std::size_t k = 0; k < shown.size(); ++k) {
                const auto c = static_cast<unsigned char>(shown[k]);
                EXPECT_TRUE(c >= 0x20 || c == '\n' || c == '\t');
                EXPECT_NE(c, 0x7F);
                const auto next = static_cast<unsigned char>(k + 1 < shown.size() ? shown[k + 1] : ' ');
                EXPECT_FALSE(c == 0xC2 && next >= 0x80 && next < 0xA0);
            }
        }
}

}  // namespace
}  // namespace saltus::visible_text_test
