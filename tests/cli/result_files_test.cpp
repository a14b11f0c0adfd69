// SPDX-License-Identifier: Apache-2.0
//
// What commands promise about the files that they write.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include "process.hpp"

namespace saltus::result_files_test {
namespace {

namespace fs = std::filesystem;
using test::Outcome;

std::string model(const std::string& name) { return std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml"; }

Outcome run(const std::string& arguments, const fs::path& folder) { return test::command(arguments, folder); }

/// The saltus program with redirections, by the shell.
Outcome redirected(const std::string& arguments, const std::string& redirection, const fs::path& folder = ".") {
    return test::shell("'" + std::string(SALTUS_EXE) + "' " + arguments + " " + redirection, folder);
}

std::map<std::string, std::string> contents(const fs::path& folder) {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::directory_iterator(folder))
        all[entry.path().filename()] = test::content_of(entry.path());
    return all;
}

TEST(ResultFiles, HaveTheSameBytesInEveryRun) {
    const test::Folder folder;
    const std::string ball = model("bouncing-ball"), bar = model("rocking-bar");
    for (const std::string& command :
         {"simulate " + ball + " --t-end 2", "sensitivity " + ball + " --t-end 2 --wrt y --check", "equilibria " + bar,
          "simulate " + bar + " --t-end 1 --method moreau", "check " + bar, "compare " + ball + " --t-end 1",
          "certify " + bar, "simulate " + ball + " --vary e=0.5,0.6 --t-end 1"}) {
        for (const char* out : {"a", "b"}) {
            const Outcome r = run(command + " --quiet --out " + out, folder.path());
            ASSERT_EQ(r.code, 0) << command << "\n" << r.out;
        }
        EXPECT_TRUE(contents(folder.path() / "a") == contents(folder.path() / "b")) << command;
        fs::remove_all(folder.path() / "a");
        fs::remove_all(folder.path() / "b");
    }
}

TEST(ResultFiles, OfAnEarlierRunDisappear) {
    const test::Folder folder;
    const std::string grid =
        "basin " + model("rocking-bar") + " --t-max 1 --no-certify --quiet --out run --grid phi=-1:1:3";
    ASSERT_EQ(run(grid + " --grid \"phi'=-1:1:3\"", folder.path()).code, 0);
    EXPECT_TRUE(fs::exists(folder.path() / "run/basin.png"));
    ASSERT_EQ(run(grid, folder.path()).code, 0);
    EXPECT_FALSE(fs::exists(folder.path() / "run/basin.png"));
    ASSERT_EQ(run("report run", folder.path()).code, 0);
}

TEST(ResultFiles, NeverReplaceTheModel) {
    const test::Folder folder;
    fs::copy(model("bouncing-ball"), folder.path() / "model.toml");
    const std::string before = test::content_of(folder.path() / "model.toml");
    const Outcome r = run("simulate model.toml --t-end 1 --quiet --out .", folder.path());
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.out.find("is read by this command and would be replaced"), std::string::npos) << r.out;
    EXPECT_EQ(contents(folder.path()), (std::map<std::string, std::string>{{"model.toml", before}}));
}

TEST(ResultFiles, InAFolderWhoseNameIsTooLongAreRefused) {
    const test::Folder folder;
    for (const char* const command : {"simulate ", "gallery --only "}) {
        const std::string task = std::string(command) + (command[0] == 's' ? model("bouncing-ball") : "bouncing-ball");
        const Outcome r = run(task + " --out " + std::string(300, 'x'), folder.path());
        EXPECT_EQ(r.code, 2) << r.out;
        EXPECT_NE(r.out.find("File name too long"), std::string::npos) << r.out;
    }
}

/// The page and the text of errors are UTF-8, whatever bytes a file name has.
TEST(ResultFiles, OfAModelWhoseNameIsNotUtf8AreUtf8) {
    const test::Folder folder;
    const std::string name =
        "b\xff\x9b"
        "all";
    fs::copy(model("bouncing-ball"), folder.path() / (name + ".toml"));
    const Outcome r = run("simulate " + name + ".toml --t-end 0.5 --quiet --report --out " + name, folder.path());
    EXPECT_EQ(r.code, 0) << r.out;
    const std::string page = test::content_of(folder.path() / name / "report.html");
    EXPECT_GT(page.size(), 1000U);
    EXPECT_EQ(page.find('\xff'), std::string::npos);
    const Outcome refused = run("simulate no" + name + ".toml", folder.path());
    EXPECT_NE(refused.out.find("nob\\xff\\x9ball.toml: cannot be opened"), std::string::npos) << refused.out;
}

/// A page or a certificate whose path the user names replaces only an earlier page or certificate.
TEST(ResultFiles, ThatTheUserNamesReplaceOnlyTheirOwnKind) {
    const test::Folder folder;
    fs::copy(model("rocking-bar"), folder.path() / "model.toml");
    fs::copy(model("rocking-bar"), folder.path() / "model.html");
    ASSERT_EQ(run("check model.toml --quiet --out run", folder.path()).code, 0);
    const auto before = contents(folder.path()), results = contents(folder.path() / "run");
    for (const char* const line :
         {"check model.toml --quiet --report=model.toml", "check model.html --quiet --report model.html",
          "check model.toml --quiet --out run --report=model.toml", "report run -o model.toml",
          "report run -o run/check.json", "report run -o run/contents.json",
          "certify model.toml --budget 1 --quiet --certificate model.toml",
          "certify model.toml --budget 1 --quiet --certificate run/check.json",
          "certify model.toml --budget 1 --quiet --out new --certificate new/certify.json"}) {
        const Outcome r = run(line, folder.path());
        EXPECT_EQ(r.code, 2) << line << r.out;
        EXPECT_NE(r.out.find("name another file"), std::string::npos) << line << r.out;
    }
    EXPECT_EQ(contents(folder.path()), before);
    EXPECT_EQ(contents(folder.path() / "run"), results);
    for (const std::string line : {"check model.toml --quiet --report=page.html",
                                   "certify model.toml --budget 1 --quiet --certificate certificate.json"})
        for (int k = 0; k < 2; ++k) EXPECT_NE(run(line, folder.path()).code, 2) << line;
}

TEST(ResultFiles, AreNotMixedWithThoseOfAnotherProcess) {
    const test::Folder folder;
    const int descriptor = ::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY);
    ASSERT_EQ(::flock(descriptor, LOCK_EX), 0);
    const Outcome r = run("check " + model("bouncing-ball") + " --out .", folder.path());
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.out.find("another saltus process writes to this folder"), std::string::npos) << r.out;
    ::close(descriptor);
    EXPECT_EQ(run("check " + model("bouncing-ball") + " --out .", folder.path()).code, 0);
}

TEST(ResultFiles, OfDifferentRunsAreNotShownAsOne) {
    const test::Folder folder;
    const std::string ball = "simulate " + model("bouncing-ball") + " --quiet --t-end ";
    ASSERT_EQ(run(ball + "1 --out a", folder.path()).code, 0);
    ASSERT_EQ(run(ball + "2 --out b", folder.path()).code, 0);
    fs::copy(folder.path() / "b/simulate.json", folder.path() / "a/simulate.json",
             fs::copy_options::overwrite_existing);
    const Outcome r = run("report a", folder.path());
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.out.find("a/simulate.json: is not the file that 'saltus simulate' wrote"), std::string::npos) << r.out;
}

/// Also a document that is given alone is compared with the list beside it. One that is in no list is accepted.
TEST(ResultFiles, ThatWereChangedAreNotShownAlone) {
    const test::Folder folder;
    ASSERT_EQ(run("impact " + model("forklift") + " --quiet --out run", folder.path()).code, 0);
    EXPECT_EQ(run("report run/impact.json", folder.path()).code, 0);
    std::string document = test::content_of(folder.path() / "run/impact.json");
    const std::size_t digit = document.find("0.");
    ASSERT_NE(digit, std::string::npos);
    document[digit] = '7';
    folder.write("run/impact.json", document);
    folder.write("other.json", document);
    for (const char* const how : {"report run/impact.json", "report impact.json"}) {
        const Outcome r = run(how, folder.path() / (how[7] == 'r' ? "." : "run"));
        EXPECT_EQ(r.code, 2) << r.out;
        EXPECT_NE(r.out.find("impact.json: is not the file that 'saltus impact' wrote"), std::string::npos) << r.out;
    }
    EXPECT_EQ(run("report other.json", folder.path()).code, 0);
}

TEST(ReportPage, DoesNotReplaceADeviceALinkOrItsInput) {
    const test::Folder folder;
    ASSERT_EQ(run("check " + model("bouncing-ball") + " --quiet --out run", folder.path()).code, 0);
    folder.write("precious.html", "x");
    fs::create_symlink("precious.html", folder.path() / "link.html");
    ASSERT_EQ(::mkfifo(folder.file("fifo.html").c_str(), 0600), 0);
    for (const char* target : {"link.html", "fifo.html", "/dev/full", "run/check.json"}) {
        const Outcome r = run(std::string("report run run/check.json -o ") + target, folder.path());
        EXPECT_EQ(r.code, 2) << target << r.out;
    }
    EXPECT_TRUE(fs::is_symlink(folder.path() / "link.html"));
    EXPECT_TRUE(fs::is_fifo(folder.path() / "fifo.html"));
    EXPECT_TRUE(fs::is_character_file("/dev/full"));
    EXPECT_EQ(test::content_of(folder.path() / "precious.html"), "x");
}

TEST(StandardOutput, ThatCannotBeWrittenIsAFailure) {
    const std::string ball = model("bouncing-ball");
    for (const std::string& command : {"check " + ball + " --json", "check " + ball, std::string("--help"),
                                       std::string("simulate --help"), std::string("--version")})
        for (const char* const nowhere : {"> /dev/full", ">&-"}) {
            const Outcome r = redirected(command, nowhere);
            EXPECT_EQ(r.code, 3) << command << nowhere;
            EXPECT_NE(r.err.find("standard output cannot be written"), std::string::npos) << command << nowhere;
        }
}

/// The reader of the pipe ends before the program begins.
TEST(StandardOutput, IntoAClosedPipeIsAFailureAndNoSignal) {
    const test::Folder folder;
    const std::string check = "'" + std::string(SALTUS_EXE) + "' check " + model("bouncing-ball");
    test::shell("(sleep 0.5; " + check + "; echo $? > code) | true", folder.path());
    EXPECT_EQ(test::content_of(folder.path() / "code"), "3\n");
}

/// Text for the terminal must not end up in a result file that takes the place of a closed stream.
TEST(StandardOutput, ThatIsClosedDoesNotSpoilResultFiles) {
    const test::Folder folder;
    const std::string check = "check " + model("bouncing-ball");
    ASSERT_EQ(redirected(check + " --out good", "> /dev/null", folder.path()).code, 0);
    EXPECT_EQ(redirected(check + " --out run", "<&- >&- 2>&-", folder.path()).code, 3);
    EXPECT_EQ(contents(folder.path() / "run"), contents(folder.path() / "good"));
}

TEST(ResultFiles, TooLargeForALimitLeaveTheEarlierOnes) {
    const test::Folder folder;
    const std::string ball = "simulate " + model("bouncing-ball") + " --quiet --out run --t-end ";
    ASSERT_EQ(run(ball + "1", folder.path()).code, 0);
    const auto before = contents(folder.path() / "run");
    const Outcome r = test::shell("ulimit -f 4; '" + std::string(SALTUS_EXE) + "' " + ball + "2", folder.path());
    EXPECT_EQ(r.code, 2) << r.err;
    EXPECT_NE(r.err.find("File too large"), std::string::npos) << r.err;
    EXPECT_EQ(contents(folder.path() / "run"), before);
}

/// Names in a model may contain anything; no control character of them reaches a terminal, a table or a page.
TEST(ControlCharacters, OfNamesAreShownAsText) {
    const test::Folder folder;
    folder.write(
        "evil.toml",
        "[system]\nname = \"a\\u001b[31mb\\u0007\\u0000c\\u009bd\"\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x\"\n"
        "[[contact]]\nname = \"fl\\u001b]0;oor\"\ngN = \"x\"\n[initial]\nq = { x = 1.0 }\n[simulate]\nt_end = 2.0\n");
    const auto has_control = [](const std::string& text) {
        return text.find_first_of(std::string("\x1b\x07\0", 3)) != std::string::npos ||
               text.find("\xc2\x9b") != std::string::npos;
    };
    for (const char* const command :
         {"check", "simulate", "equilibria", "certify", "impact --number 1", "sensitivity --wrt x", "compare",
          "simulate --method \x1b", "simulate --set \x1b=1", "\x1b", "check --\x1b"}) {
        const std::string words = command;
        const std::string line = words.substr(0, words.find(' ')) + " evil.toml " +
                                 (words.find(' ') == std::string::npos ? "" : words.substr(words.find(' '))) +
                                 " --out run";
        const Outcome r = run(line, folder.path());
        EXPECT_FALSE(has_control(r.out)) << command;
        EXPECT_FALSE(has_control(run(line + " --json", folder.path()).out)) << command;
    }
    EXPECT_NE(run("check evil.toml", folder.path()).out.find("a\\x1b[31mb\\x07\\x00c\\x9bd"), std::string::npos);
    ASSERT_EQ(run("report run --static -o page.html", folder.path()).code, 0);
    EXPECT_FALSE(has_control(test::content_of(folder.file("page.html"))));
    for (const auto& [name, bytes] : contents(folder.path() / "run"))
        EXPECT_FALSE(name.ends_with(".csv") && has_control(bytes)) << name;
}

}  // namespace
}  // namespace saltus::result_files_test
