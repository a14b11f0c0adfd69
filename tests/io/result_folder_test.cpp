// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/result_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "saltus/base/error.hpp"
#include "support.hpp"

namespace saltus::result_folder_test {
namespace {

namespace fs = std::filesystem;
using Files = std::vector<std::pair<std::string, std::string>>;
using Names = std::vector<std::string>;

void publish(const std::string& folder, const std::string& command, const Files& files) {
    io::ResultFolder results(folder, command);
    for (const auto& [name, content] : files) results.add(name, content);
    results.publish();
}

std::string publish_refused(const std::string& folder, const Files& files,
                            const std::vector<std::string>& inputs = {}) {
    return test::refusal_of([&] {
        io::ResultFolder results(folder, "simulate", inputs);
        for (const auto& [name, content] : files) results.add(name, content);
        results.publish();
    });
}

TEST(ResultFolder, HoldsTheNewestSetOfACommandAndNothingOlder) {
    const test::Folder folder;
    const std::string out = folder.file("a/run");
    publish(out, "basin", {{"basin.csv", "1"}, {"basin.png", "2"}});
    publish(out, "basin", {{"basin.csv", "3"}});
    EXPECT_EQ(folder.names(), (Names{"a", "a/run", "a/run/basin.csv", "a/run/contents.json"}));
    EXPECT_EQ(test::content_of(out + "/basin.csv"), "3");
}

TEST(ResultFolder, KeepsTheSetsOfOtherCommandsAndFilesOfTheUser) {
    const test::Folder folder;
    const std::string out = folder.path().string();
    folder.write("notes.txt", "mine");
    publish(out, "simulate", {{"states.csv", "1"}});
    publish(out, "sensitivity", {{"event-times.csv", "2"}});
    publish(out, "simulate", {{"events.csv", "3"}});
    EXPECT_EQ(folder.names(), (Names{"contents.json", "event-times.csv", "events.csv", "notes.txt"}));
    EXPECT_NO_THROW(io::check_results(out));
}

TEST(ResultFolder, RecordsTheCommandLineOfEachSet) {
    const test::Folder folder;
    const std::string out = folder.path().string();
    {
        io::ResultFolder results(out, "simulate", {}, "saltus simulate ball.toml --t-end 2");
        results.add("states.csv", "1");
        results.publish();
    }
    publish(out, "sensitivity", {{"event-times.csv", "2"}});
    const std::map<std::string, std::string> lines = io::command_lines(out);
    EXPECT_EQ(lines, (std::map<std::string, std::string>{{"states.csv", "saltus simulate ball.toml --t-end 2"}}));
    EXPECT_TRUE(io::command_lines(folder.file("missing")).empty());
}

TEST(ResultFolder, RecordsTheUnitsOfTheModel) {
    const test::Folder folder;
    const std::string out = folder.path().string(), units = R"({"time":"s","q":{"x":"m"}})";
    EXPECT_EQ(io::units_in(out), "");
    {
        io::ResultFolder results(out, "impact", {}, {}, units);
        results.add("impact.json", "1");
        results.publish();
    }
    EXPECT_EQ(io::units_in(out), units);
    publish(out, "certify", {{"certify.json", "2"}});
    EXPECT_EQ(io::units_in(out), units) << "they belong to the set of the other command, which stays";
    publish(out, "impact", {{"impact.json", "3"}});
    EXPECT_EQ(io::units_in(out), "");
}

TEST(ResultFolder, DoesNotRemoveAFileThatTheUserChanged) {
    const test::Folder folder;
    const std::string out = folder.path().string();
    publish(out, "simulate", {{"states.csv", "1"}, {"balance.csv", "2"}});
    folder.write("balance.csv", "my own table");
    publish(out, "simulate", {{"states.csv", "3"}});
    EXPECT_EQ(test::content_of(folder.file("balance.csv")), "my own table");
}

TEST(ResultFolder, LeavesTheEarlierSetIfTheCommandFails) {
    const test::Folder folder;
    const std::string out = folder.path().string();
    publish(out, "simulate", {{"states.csv", "old"}});
    {
        io::ResultFolder unfinished(out, "simulate");
        unfinished.add("states.csv", "new");
    }
    EXPECT_EQ(test::content_of(folder.file("states.csv")), "old");
    EXPECT_EQ(folder.names(), (Names{"contents.json", "states.csv"}));
    { const io::ResultFolder empty(folder.file("never"), "simulate"); }
    EXPECT_FALSE(fs::exists(folder.path() / "never"));
}

TEST(ResultFolder, IsUsedByOneProcessAtATime) {
    const test::Folder folder;
    const std::string out = folder.path().string();
    const io::ResultFolder first(out, "simulate");
    EXPECT_EQ(test::refusal_of([&] { const io::ResultFolder second(out, "basin"); }),
              out + ": another saltus process writes to this folder; wait for it, or give another folder");
}

TEST(ResultFolder, DoesNotReplaceAnInputOrASpecialFile) {
    const test::Folder folder;
    const std::string out = folder.path().string();
    const std::string model = folder.write("model.toml", "[system]");
    fs::create_symlink(model, folder.path() / "linked.toml");
    EXPECT_NE(publish_refused(out, {{"model.toml", "x"}}, {folder.file("linked.toml")}).find("is read by this command"),
              std::string::npos);
    EXPECT_EQ(test::content_of(model), "[system]");
    fs::create_symlink(model, folder.path() / "states.csv");
    EXPECT_NE(publish_refused(out, {{"states.csv", "x"}}).find("is a symbolic link"), std::string::npos);
    ASSERT_EQ(::mkfifo(folder.file("events.csv").c_str(), 0600), 0);
    EXPECT_NE(publish_refused(out, {{"events.csv", "x"}}).find("is a FIFO"), std::string::npos);
    EXPECT_TRUE(fs::is_symlink(folder.path() / "states.csv"));
    EXPECT_TRUE(fs::is_fifo(folder.path() / "events.csv"));
    EXPECT_EQ(folder.names().size(), 4U);  // no drafts
}

/// A command was killed while it moved its files: some have arrived, contents.json has not.
TEST(ResultFolder, CompletesASetThatAKilledCommandLeft) {
    const test::Folder folder;
    const std::string out = folder.path().string();
    publish(out, "simulate", {{"states.csv", "old"}, {"events.csv", "old"}, {"balance.csv", "old"}});
    const test::Folder other;
    publish(other.path().string(), "simulate", {{"states.csv", "new"}, {"events.csv", "new"}});
    for (const bool by_report : {true, false}) {
        const fs::path drafts = folder.path() / ".saltus-complete-set";
        fs::create_directory(drafts);
        fs::copy(other.path() / "events.csv", drafts / "events.csv");
        fs::copy(other.path() / "contents.json", drafts / "contents.json");
        folder.write("states.csv", "new");
        if (by_report)
            io::check_results(out);
        else
            const io::ResultFolder next(out, "sensitivity");
        EXPECT_EQ(folder.names(), (Names{"contents.json", "events.csv", "states.csv"}));
        EXPECT_EQ(test::content_of(folder.file("events.csv")), "new");
        EXPECT_NO_THROW(io::check_results(out));
    }
}

TEST(ResultFolder, RemovesDraftsOfKilledCommands) {
    const test::Folder folder;
    fs::create_directory(folder.path() / ".saltus-set-a1B2c3");
    folder.write(".saltus-set-a1B2c3/states.csv", "half");
    publish(folder.path().string(), "simulate", {{"states.csv", "1"}});
    EXPECT_EQ(folder.names(), (Names{"contents.json", "states.csv"}));
}

TEST(ResultFolder, NoticesFilesOfAnotherRun) {
    const test::Folder folder;
    const std::string out = folder.path().string();
    publish(out, "simulate", {{"states.csv", "1"}, {"simulate.json", "{}"}});
    folder.write("states.csv", "2");
    const std::string refusal = test::refusal_of([&] { io::check_results(out); });
    EXPECT_NE(refusal.find("states.csv: is not the file that 'saltus simulate' wrote"), std::string::npos) << refusal;
    fs::remove(folder.path() / "states.csv");
    EXPECT_NO_THROW(io::check_results(out));  // a missing file is no mixture
}

TEST(ResultFolder, RemovesAPageWithTheResultsThatItShows) {
    const test::Folder folder;
    const std::string out = folder.path().string();
    publish(out, "simulate", {{"states.csv", "1"}});
    publish(out, io::page_command, {{"report.html", "1"}});
    EXPECT_TRUE(fs::exists(folder.path() / "report.html"));
    publish(out, "simulate", {{"states.csv", "2"}});
    EXPECT_FALSE(fs::exists(folder.path() / "report.html"));
}

/// contents.json may come from anywhere: its names must not lead out of the folder.
TEST(ResultFolder, NeverTouchesFilesOutside) {
    const test::Folder folder;
    const std::string victim = folder.write("victim.txt", "x");
    fs::create_directory(folder.path() / "run");
    folder.write("run/contents.json",
                 R"({"files":[{"command":"simulate","name":"../victim.txt","fnv1a":"af63f54c86021707"},
                     {"command":"simulate","name":".hidden","fnv1a":""}, 7, {"name":3}]})");
    publish(folder.file("run"), "simulate", {{"states.csv", "1"}});
    EXPECT_EQ(test::content_of(victim), "x");
}

}  // namespace
}  // namespace saltus::result_folder_test
