// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/labels.hpp"

#include <gtest/gtest.h>

#include "saltus/base/error.hpp"
#include "support.hpp"

namespace saltus::ensemble::labels_test {
namespace {

int label_of(std::size_t run) { return static_cast<int>(run * 7919 % 1013) - 5; }

TEST(Labels, OfALongListAreInAFileAndThoseOfAShortOneInMemory) {
    const test::Folder folder;
    for (const std::size_t longest : {std::size_t{0}, std::size_t{1000}, Labels::longest_in_memory}) {
        Labels labels(folder.path().string(), longest);
        EXPECT_TRUE(labels.empty());
        for (std::size_t k = 0; k < 200'000; ++k) labels.push_back(label_of(k));
        EXPECT_TRUE(folder.names().empty()) << "the file has no name";
        ASSERT_EQ(labels.size(), 200'000U);
        Labels::Reader up(labels), down(labels);
        for (std::size_t k = 0; k < 200'000; ++k) {
            ASSERT_EQ(up.at(k), label_of(k));
            ASSERT_EQ(down.at(199'999 - k), label_of(199'999 - k));
        }
        EXPECT_EQ(labels[131'072], label_of(131'072));
        const Labels copy = labels;
        EXPECT_TRUE(copy == labels);
        EXPECT_EQ(labels.all()[65'536], label_of(65'536));
    }
    Labels nowhere(folder.file("missing"), 10);
    EXPECT_THROW(
        {
            for (int k = 0; k < 20; ++k) nowhere.push_back(k);
        },
        Error);
}

}  // namespace
}  // namespace saltus::ensemble::labels_test
