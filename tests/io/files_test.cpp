// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "support.hpp"

namespace saltus::files_test {

namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

}  // namespace

TEST(WriteFile, WritesTheBytesAndNothingElse) {
    const test::Folder folder;
    const std::string content("a\0b\r\n\xff", 6);
    io::write_file(folder.path().string(), "out.json", content);
    EXPECT_EQ(folder.names(), Names{"out.json"});
    EXPECT_EQ(test::content_of(folder.path() / "out.json"), content);
}

TEST(WriteFile, MakesTheFolder) {
    const test::Folder folder;
    io::write_file(folder.file("a/b/c"), "out.json", "x");
    EXPECT_EQ(folder.names(), (Names{"a", "a/b", "a/b/c", "a/b/c/out.json"}));
}

TEST(WriteFile, ReplacesWhatWasThere) {
    const test::Folder folder;
    folder.write("out.json", "something longer than what comes");
    io::write_file(folder.path().string(), "out.json", "short");
    EXPECT_EQ(test::content_of(folder.path() / "out.json"), "short");
    EXPECT_EQ(folder.names(), Names{"out.json"});
}

TEST(WriteFile, WritesAnEmptyFile) {
    const test::Folder folder;
    io::write_file(folder.path().string(), "empty", "");
    EXPECT_EQ(folder.names(), Names{"empty"});
    EXPECT_EQ(fs::file_size(folder.path() / "empty"), 0U);
}

TEST(WriteFile, SaysWhenTheFolderIsAFile) {
    const test::Folder folder;
    const std::string file = folder.write("taken", "x");
    const std::string refusal = test::refusal_of([&] { io::write_file(file, "out.json", "y"); });
    EXPECT_EQ(refusal, file + ": cannot create the folder: Not a directory");
    EXPECT_EQ(test::content_of(file), "x");
    EXPECT_EQ(folder.names(), Names{"taken"});
}

TEST(WriteFile, SaysWhenTheTargetIsAFolderAndLeavesNoDraft) {
    const test::Folder folder;
    fs::create_directory(folder.path() / "out.json");
    const std::string refusal = test::refusal_of([&] { io::write_file(folder.path().string(), "out.json", "y"); });
    EXPECT_EQ(refusal, folder.file("out.json") + ": is a folder, which a result does not replace; name a plain file");
    EXPECT_EQ(folder.names(), Names{"out.json"});
}

TEST(WriteFile, SaysWhenTheDraftCannotBeOpened) {
    const test::Folder folder;
    const std::string name(300, 'n');  // longer than any file name may be, for every user
    const std::string refusal = test::refusal_of([&] { io::write_file(folder.path().string(), name, "y"); });
    EXPECT_EQ(refusal, folder.file(name) + ": cannot be written: File name too long; check free space and permissions");
    EXPECT_EQ(folder.names(), Names{});
}

TEST(WriteFile, DoesNotFollowOrReplaceALink) {
    const test::Folder folder;
    const std::string target = folder.write("target", "x");
    fs::create_symlink(target, folder.path() / "out.json");
    const std::string refusal = test::refusal_of([&] { io::write_file(folder.path().string(), "out.json", "y"); });
    EXPECT_EQ(refusal,
              folder.file("out.json") + ": is a symbolic link, which a result does not replace; name a plain file");
    EXPECT_EQ(test::content_of(target), "x");
    EXPECT_TRUE(fs::is_symlink(folder.path() / "out.json"));
}

TEST(WriteFile, LeavesDraftsThatTheNextRunRemovesOnlyIfItsProcessWasKilled) {
    const test::Folder folder;
    fs::create_directory(folder.file(".saltus-file-killed"));
    folder.write(".saltus-file-killed/draft", "a part");
    io::write_file(folder.path().string(), "a.txt", [&](int descriptor) {
        EXPECT_EQ(folder.names().size(), 4U);  // folder and draft, of the killed process and of this one
        const io::ResultFolder run(folder.path().string(), "simulate", {}, "saltus simulate");
        EXPECT_FALSE(fs::exists(folder.file(".saltus-file-killed")));
        EXPECT_EQ(::write(descriptor, "all", 3), 3);
    });
    EXPECT_EQ(folder.names(), Names{"a.txt"});
    EXPECT_EQ(test::content_of(folder.file("a.txt")), "all");
}

TEST(WriteNewFile, DoesNotReplaceAnything) {
    const test::Folder folder;
    const std::string taken = folder.write("taken", "x");
    EXPECT_NE(test::refusal_of([&] { io::write_new_file(taken, "y"); }).find("File exists"), std::string::npos);
    EXPECT_EQ(test::content_of(taken), "x");
}

TEST(WriteFile, ShowsAReaderTheOldContentOrTheNewButNeverAPart) {
    const test::Folder folder;
    const std::string path = folder.path().string();
    const std::string old(200'000, 'a'), fresh(300'000, 'b');
    io::write_file(path, "out", old);
    std::atomic<bool> stop{false};
    int reads = 0, parts = 0;
    std::thread reader([&] {
        while (!stop || reads == 0) {
            const std::string seen = test::content_of(folder.path() / "out");
            ++reads;
            if (seen != old && seen != fresh) ++parts;
        }
    });
    for (int k = 0; k < 60; ++k) io::write_file(path, "out", k % 2 == 0 ? fresh : old);
    stop = true;
    reader.join();
    EXPECT_EQ(parts, 0);
}

}  // namespace saltus::files_test
