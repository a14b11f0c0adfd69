// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "cli/process.hpp"
#include "support.hpp"

namespace saltus::cli::section_test {

namespace {

const std::string models = std::string(SALTUS_SOURCE_DIR) + "/models/";
const std::string box = "simulate " + models + "shaken-box.toml --t-end 20 ";

/// How often a word occurs in a text.
std::size_t count(const std::string& text, const std::string& word) {
    std::size_t n = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
    return n;
}

}  // namespace

/// The particle passes the middle of the box upwards once after each impact with the left wall.
TEST(SimulateSection, ListsThePassagesOfAMotion) {
    const test::Folder folder;
    const auto run = test::command(box + "--section \"x = 0\" --out " + folder.file("run"));
    EXPECT_EQ(run.code, 0) << run.out;
    const std::string csv = test::content_of(folder.file("run") + "/section.csv");
    EXPECT_TRUE(csv.starts_with("t,x,x'\n"));
    const std::size_t passages = count(csv, "\n") - 1;
    EXPECT_GE(passages, 2U);
    EXPECT_NE(run.out.find("passed " + std::to_string(passages) + " times upwards"), std::string::npos) << run.out;
    EXPECT_NE(test::command(box + "--section \"x = 0\"").out.find("passed " + std::to_string(passages) + " times"),
              std::string::npos);
    const auto json = test::command(box + "--section \"x = 0\" --json");
    EXPECT_EQ(count(json.out.substr(json.out.find("\"section\"")), "\"t\""), passages);
}

TEST(SimulateSection, RefusesWhatHasNoPassages) {
    const auto refused = [](const std::string& options, const std::string& words) {
        const auto run = test::command(box + options);
        EXPECT_EQ(run.code, 2) << options;
        EXPECT_NE(run.out.find(words), std::string::npos) << run.out;
    };
    refused("--section x", "is not an equation");
    refused("--section \"x = sin(t)\"", "depends on time");
    refused("--section \"x = cos(t)\"", "depends on time");
    refused("--section \"x = 0\" --method moreau", "smooth arcs");
    refused("--section \"x = 0\" --vary A=1:2:3", "one motion");
}

}  // namespace saltus::cli::section_test
