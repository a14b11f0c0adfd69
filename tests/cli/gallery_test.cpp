// SPDX-License-Identifier: Apache-2.0
//
// A gallery appears as a whole. One that cannot be completed leaves its folder as it was.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "process.hpp"
#include "support.hpp"

namespace saltus::gallery_test {
namespace {

namespace fs = std::filesystem;

/// All files below a folder, hidden ones too, with their contents.
std::map<std::string, std::string> tree_of(const fs::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        files[fs::relative(entry.path(), folder).string()] =
            entry.is_regular_file() ? test::content_of(entry.path()) : "folder";
    return files;
}

test::Outcome gallery(const fs::path& folder, const std::string& limit = "") {
    return test::shell(limit + "'" + std::string(SALTUS_EXE) + "' gallery -o pages --quick --only bouncing-ball",
                       folder);
}

// A page has about 200 kB, and the limits are in blocks of 512 bytes or 1 kB: no page fits.
constexpr const char* no_room_for_pages = "ulimit -f 100; ";
// The result files of the study do not fit either.
constexpr const char* no_room_for_results = "ulimit -f 4; ";

TEST(Gallery, LeavesNoFolderIfItsFilesCannotBeWritten) {
    for (const char* const limit : {no_room_for_pages, no_room_for_results}) {
        const test::Folder folder;
        const test::Outcome r = gallery(folder.path(), limit);
        EXPECT_EQ(r.code, 2) << limit << r.err;
        EXPECT_NE(r.err.find("cannot be written"), std::string::npos) << limit << r.err;
        EXPECT_FALSE(fs::exists(folder.path() / "pages")) << limit;
    }
}

TEST(Gallery, LeavesTheEarlierOneIfItsFilesCannotBeWritten) {
    const test::Folder folder;
    ASSERT_EQ(gallery(folder.path()).code, 0);
    folder.write("pages/own.txt", "a file of the user");
    const auto before = tree_of(folder.path() / "pages");
    EXPECT_EQ(before.count("index.html"), 1U);
    EXPECT_EQ(before.count("bouncing-ball.html"), 1U);
    EXPECT_EQ(gallery(folder.path(), no_room_for_pages).code, 2);
    EXPECT_EQ(tree_of(folder.path() / "pages"), before);
    // A new gallery replaces the files of the earlier one, and keeps those of the user.
    EXPECT_EQ(gallery(folder.path()).code, 0);
    EXPECT_EQ(tree_of(folder.path() / "pages"), before);
}

}  // namespace
}  // namespace saltus::gallery_test
