// SPDX-License-Identifier: Apache-2.0
//
// With --json, every command prints one complete JSON document, whatever ends it. After an interrupt (Ctrl-C) or the
// time limit of --seconds the document says so.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "billiard.hpp"
#include "process.hpp"
#include "saltus/io/report/interrupted_document.hpp"
#include "support.hpp"

namespace saltus::interrupted_document_test {
namespace {

using Json = nlohmann::json;

std::string shipped_model(const char* name) { return std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml"; }

/// A command that takes longer than the tests wait for it.
struct LongCommand {
    const char* name;
    std::string line;  ///< without --json
};

/// The commands with --json. All of them compute for minutes, except `check` and `solve`.
std::vector<LongCommand> long_commands(const test::Folder& folder) {
    const std::string ball = shipped_model("bouncing-ball") + " --set e=1";
    return {
        {"simulate", "simulate " + ball + " --t-end 1e9"},
        {"simulate with values", "simulate " + ball + " --t-end 1e9 --vary m=1,2"},
        {"simulate with a target", "simulate " + ball + " --t-end 1e9 --solve-for m --target y=1"},
        {"compare", "compare " + ball + " --t-end 1e9"},
        {"compare with springs", "compare " + ball + " --t-end 1e9 --penalty k=1e3,1e4"},
        {"sensitivity", "sensitivity " + ball + " --t-end 1e9 --wrt y"},
        {"sensitivity with values", "sensitivity " + ball + " --t-end 1e9 --vary m=1,2"},
        {"impact", "impact " + test::billiard(folder) + " --number 1000000000"},
        {"equilibria", "equilibria " + test::billiard(folder)},
        {"certify", "certify " + shipped_model("newtons-cradle")},
        {"basin", "basin " + ball + " --grid y=0:1:100 --t-max 1e9"},
        {"orbit", "orbit " + shipped_model("ball-on-moving-plane") + " --period 2*pi/w --settle 1e9"},
    };
}

std::vector<std::string> words_of(const std::string& line) {
    std::vector<std::string> words{SALTUS_EXE};
    std::istringstream in(line);
    for (std::string word; in >> word;) words.push_back(word);
    words.emplace_back("--json");
    return words;
}

/// Expects a complete document that says that the run was interrupted, and the exit code of an interrupt.
void expect_interrupted(const LongCommand& command, const test::Outcome& r) {
    EXPECT_EQ(r.code, 130) << command.name << "\n" << r.err;
    const Json j = Json::parse(r.out, nullptr, false);
    ASSERT_FALSE(j.is_discarded()) << command.name << ": no complete document\n" << r.out.substr(0, 300) << r.err;
    ASSERT_TRUE(j.is_object()) << command.name;
    EXPECT_EQ(j.value("status", "missing"), "interrupted") << command.name;
}

TEST(InterruptedDocument, IsCompleteAfterTheTimeLimit) {
    const test::Folder folder;
    for (const LongCommand& command : long_commands(folder))
        expect_interrupted(command, test::Process(words_of(command.line + " --seconds 0.01")).wait());
}

TEST(InterruptedDocument, IsCompleteAfterControlC) {
    const test::Folder folder;
    for (const LongCommand& command : long_commands(folder)) {
        const test::Process process(words_of(command.line));
        process.wait_until_it_listens();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        process.send(SIGINT);
        expect_interrupted(command, process.wait());
    }
}

TEST(InterruptedDocument, OfSolveListsTheFilesThatWereNotSolved) {
    const test::Folder folder;
    folder.write("a.dat", "2 0 2 2 2 2  2 1 1 2  -1 -1\n");
    const test::Process process(words_of("solve a.dat a.dat --kind lcp --seconds 1e-9"), folder.path());
    const test::Outcome r = process.wait();
    EXPECT_EQ(r.code, 130) << r.err;
    const Json j = Json::parse(r.out, nullptr, false);
    ASSERT_TRUE(j.is_array()) << r.out;
    ASSERT_EQ(j.size(), 2U);
    for (const Json& row : j) EXPECT_EQ(row["status"], "interrupted");
}

/// Writes a model whose building takes many seconds: every coordinate is coupled with every other one in T.
void write_large_model(const test::Folder& folder) {
    std::string q, sum;
    constexpr int coordinates = 1500;
    for (int k = 0; k < coordinates; ++k) {
        q += (k > 0 ? ",\"" : "\"") + ("x" + std::to_string(k)) + "\"";
        sum += (k > 0 ? "+" : "") + ("x" + std::to_string(k)) + "'*cos(x" + std::to_string((k + 1) % coordinates) + ")";
    }
    folder.write("dense.toml", "[system]\nname = \"dense\"\nq = [" + q + "]\nT = \"(" + sum + ")^2/2\"\n");
}

/// The building of a model does not ask for interrupts; the guard of the program ends it.
TEST(InterruptedDocument, IsPrintedForACommandThatDoesNotReact) {
    const test::Folder folder;
    write_large_model(folder);
    const test::Process process(words_of("check dense.toml --seconds 0.01"), folder.path());
    const test::Outcome r = process.wait();
    const Json j = Json::parse(r.out, nullptr, false);
    if (r.code == 130) {
        EXPECT_EQ(j.value("status", "missing"), "interrupted") << r.out << r.err;
    } else {
        EXPECT_EQ(r.code, 2) << "neither ended nor refused: " << r.err;
    }
}

/// A signal does not end the program in the middle of its output, or without any.
TEST(InterruptedDocument, IsPrintedIfASignalComesWhileTheModelIsBuilt) {
    const test::Folder folder;
    write_large_model(folder);
    for (const char* const command : {"check", "simulate"})
        for (const int signal : {SIGINT, SIGTERM}) {
            const test::Process process(words_of(std::string(command) + " dense.toml"), folder.path());
            process.wait_until_it_listens();
            process.send(signal);
            expect_interrupted({command, ""}, process.wait());
        }
}

TEST(InterruptedDocument, KeepsWhatTheRunHasFound) {
    const std::string marked = io::interrupted_document(R"({"model": "m", "status": "running", "rho": 2.5})", "Ctrl-C");
    const Json j = Json::parse(marked);
    EXPECT_EQ(j, (Json{{"model", "m"}, {"rho", 2.5}, {"status", "interrupted"}, {"reason", "Ctrl-C"}}));
    // The members of the outermost object alone are replaced, whatever strings and inner objects contain.
    const Json tricky[] = {Json::object(),
                           {{"status", {{"status", 1}, {"a", {1, 2, {{"reason", ","}}}}}},
                            {"runs", {{{"status", "x"}}, {{"reason", "}"}}}}},
                           {{"a", "\"status\": 1, {["}, {"reason", {"b", "]"}}, {"z", "status"}},
                           {{"runs", {{{"status", "ok"}}}}, {"status", nullptr}, {"tail\\", "\\\""}},
                           {{"status", -1.5e-7}}};
    for (const Json& one : tricky)
        for (const int indent : {-1, 2}) {
            const std::string text = io::interrupted_document(one.dump(indent) + "\n", "a \"b\"");
            Json expected = one;
            expected["status"] = "interrupted";
            expected["reason"] = "a \"b\"";
            EXPECT_EQ(Json::parse(text, nullptr, false), expected) << text;
        }
    EXPECT_EQ(Json::parse(io::empty_document("m\x1b")), (Json{{"model", "m\x1b"}}));
}

}  // namespace
}  // namespace saltus::interrupted_document_test
