// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/short_vector.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace saltus::short_vector_test {
namespace {

using Short = ShortVector<int, 3>;

Short counted(int size) {
    Short list;
    for (int i = 0; i < size; ++i) list.push_back(i);
    return list;
}

TEST(ShortVector, KeepsItsElementsWhenItGrowsBeyondItsOwnRoom) {
    for (const int size : {0, 1, 3, 4, 20}) {
        const Short list = counted(size);
        ASSERT_EQ(list.size(), static_cast<std::size_t>(size));
        EXPECT_EQ(list.empty(), size == 0);
        for (int i = 0; i < size; ++i) EXPECT_EQ(list[static_cast<std::size_t>(i)], i);
    }
}

TEST(ShortVector, CanAppendOneOfItsOwnElements) {
    Short list = counted(3);
    list.push_back(list[1]);  // the memory of the element moves
    EXPECT_EQ(list, (Short{0, 1, 2, 1}));
}

TEST(ShortVector, IsCopiedAndMovedWithShortAndLongContents) {
    for (const int from : {0, 2, 3, 7})
        for (const int to : {0, 2, 3, 7}) {
            const Short whole = counted(from);
            Short copy = counted(to), moved = counted(to), source = whole;
            copy = whole;
            EXPECT_EQ(copy, whole);
            if (from > 0) {
                copy[0] = 99;
                EXPECT_EQ(whole[0], 0) << "a copy has its own elements";
            }
            moved = std::move(source);
            EXPECT_EQ(moved, whole);
            EXPECT_EQ(Short(std::move(moved)), whole);
        }
}

TEST(ShortVector, TakesTheElementsOfAnyList) {
    const std::vector<int> list{5, 6, 7, 8};
    Short taken;
    taken = std::span(list);
    EXPECT_EQ(taken, (Short{5, 6, 7, 8}));
    taken = {1};
    EXPECT_EQ(taken, Short{1});
    EXPECT_NE(taken, (Short{1, 2}));
    taken.assign(5, 7);
    EXPECT_EQ(taken, (Short{7, 7, 7, 7, 7}));
    taken.assign(2, 3);
    EXPECT_EQ(taken, (Short{3, 3}));
}

}  // namespace
}  // namespace saltus::short_vector_test
