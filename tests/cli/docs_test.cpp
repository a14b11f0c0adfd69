// SPDX-License-Identifier: Apache-2.0
//
// Every code block of the documentation: commands run and print what the page says, models are read, C++ stands in an
// example that is compiled, synopses name options that exist.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>

#include "process.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"

namespace saltus::docs_test {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

const std::string root = SALTUS_SOURCE_DIR;

struct Block {
    std::string place;
    Lines lines;
};

Lines lines_of(const std::string& text) {
    Lines lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        while (!line.empty() && line.back() == ' ') line.pop_back();
        lines.push_back(line);
    }
    return lines;
}

/// Lines that are indented by four, after an empty one; or between fences.
std::vector<Block> blocks_of(const std::string& file) {
    std::vector<Block> blocks;
    const Lines lines = lines_of(test::content_of(root + "/" + file));
    bool inside = false, fenced = false, empty = true, list = false;
    for (std::size_t k = 0; k < lines.size(); ++k) {
        const std::string& line = lines[k];
        if (line.starts_with("```")) {
            fenced = !fenced;
            if (fenced) blocks.push_back({file + ":" + std::to_string(k + 1), {}});
            inside = false;
            continue;
        }
        const bool indented = line.starts_with("    ");
        if (fenced) {
            blocks.back().lines.push_back(line);
        } else if (indented && (inside || (empty && !list))) {
            if (!inside) blocks.push_back({file + ":" + std::to_string(k + 1), {}});
            inside = true;
            blocks.back().lines.push_back(line.substr(4));
        } else if (inside && line.empty()) {
            blocks.back().lines.push_back("");
        } else {
            inside = false;
        }
        if (!line.empty() && !indented) list = line.starts_with("- ") || line.starts_with("1. ");
        empty = line.empty();
    }
    for (Block& b : blocks)
        while (!b.lines.empty() && b.lines.back().empty()) b.lines.pop_back();
    return blocks;
}

std::vector<std::string> pages() {
    std::vector<std::string> list{"README.md"};
    for (const fs::directory_entry& e : fs::directory_iterator(root + "/docs"))
        if (e.path().extension() == ".md") list.push_back("docs/" + e.path().filename().string());
    std::sort(list.begin(), list.end());
    return list;
}

struct Outcome {
    int code = -1;
    Lines out;  ///< standard output and standard error
};

Outcome shell(const std::string& command, const fs::path& folder) {
    const test::Outcome outcome = test::shell("{ " + command + "\n} 2>&1", folder);
    return {outcome.code, lines_of(outcome.out)};
}

/// Where the pages' commands run: `build/saltus` and `models/` are there.
void furnish(const test::Folder& folder) {
    fs::create_directory(folder.path() / "build");
    fs::create_symlink(fs::absolute(SALTUS_EXE), folder.path() / "build" / "saltus");
    fs::create_directory_symlink(root + "/models", folder.path() / "models");
}

/// Equal words, numbers to what other machines may round otherwise; numbers that are nothing are equal.
bool same_word(const std::string& a, const std::string& b) {
    if (a == b) return true;
    const auto number = [](std::string w, double& value) {
        while (!w.empty() && std::string(",;:)").find(w.back()) != std::string::npos) w.pop_back();
        if (w.starts_with('(')) w.erase(0, 1);
        char* end = nullptr;
        value = std::strtod(w.c_str(), &end);
        return !w.empty() && *end == '\0';
    };
    double x = 0.0, y = 0.0;
    if (!number(a, x) || !number(b, y)) return false;
    return std::abs(x - y) <= 1e-5 * std::max(std::abs(x), std::abs(y)) || (std::abs(x) < 1e-6 && std::abs(y) < 1e-6);
}

bool same_line(const std::string& page, const std::string& out) {
    std::istringstream left(page), right(out);
    std::string x, y;
    for (;;) {
        const bool more = static_cast<bool>(left >> x), also = static_cast<bool>(right >> y);
        if (more && (x == "..." || x == "…")) return true;  // and so on
        if (more != also) return false;
        if (!more) return true;
        if (!same_word(x, y)) return false;
    }
}

/// The output as the page has it; a line "..." stands for any number of lines.
std::string difference(const Lines& page, const Lines& out) {
    std::size_t k = 0;
    for (std::size_t i = 0; i < page.size(); ++i) {
        const std::string& line = page[i];
        const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
        if (line.substr(first) == "..." || line.substr(first) == "…") {
            if (i + 1 == page.size()) return {};
            while (k < out.size() && !same_line(page[i + 1], out[k])) ++k;
            continue;
        }
        if (k >= out.size()) return "the page goes on with: " + page[i];
        if (!same_line(page[i], out[k])) return "the page says\n  " + page[i] + "\nthe program\n  " + out[k];
        ++k;
    }
    while (k < out.size() && out[k].empty()) ++k;
    return k == out.size() ? std::string() : "the program goes on with: " + out[k];
}

/// Building, what opens a window, and what needs a cluster is done elsewhere.
bool done_elsewhere(const std::string& command) {
    for (const char* const word : {"./demo", "./test", "cmake ", "sudo ", "apt", "git ", "xdg-open", "source ", "man ",
                                   "sbatch ", "parallel ", "mpirun "})
        if (command.starts_with(word)) return true;
    return false;
}

void run_commands(const Block& block, const test::Folder& folder) {
    for (std::size_t k = 0; k < block.lines.size();) {
        if (!block.lines[k].starts_with("$ ")) {
            ADD_FAILURE() << block.place << ": output without a command";
            return;
        }
        std::string command = block.lines[k++].substr(2);
        while (command.ends_with('\\') && k < block.lines.size()) {
            command.pop_back();
            command += block.lines[k++];
        }
        Lines expected;
        while (k < block.lines.size() && !block.lines[k].starts_with("$ ")) expected.push_back(block.lines[k++]);
        while (!expected.empty() && expected.back().empty()) expected.pop_back();
        if (done_elsewhere(command)) continue;
        const Outcome r = shell(command, folder.path());
        EXPECT_TRUE(r.code == 0 || r.code == 3) << block.place << ": " << command << " ends with " << r.code;
        EXPECT_EQ(difference(expected, r.out), "") << block.place << ": " << command;
    }
}

/// `saltus COMMAND MODEL [--option ...]`: the command and its options exist.
void check_synopsis(const std::string& place, const std::string& line) {
    static std::map<std::string, std::string> helps;
    std::istringstream in(line);
    std::string word, command;
    in >> word >> command;
    if (command == "COMMAND") command = "simulate";
    auto [at, fresh] = helps.emplace(command, "");
    if (fresh) {
        const Outcome r = shell(std::string(SALTUS_EXE) + " " + command + " --help", ".");
        EXPECT_EQ(r.code, 0) << place << ": there is no command " << command;
        for (const std::string& l : r.out) at->second += l + "\n";
    }
    for (std::size_t begin = line.find("--"); begin != std::string::npos; begin = line.find("--", begin + 2)) {
        std::size_t end = begin + 2;
        while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) != 0 || line[end] == '-'))
            ++end;
        const std::string option = line.substr(begin, end - begin);
        if (option.size() > 2) {
            EXPECT_NE(at->second.find(option), std::string::npos) << place << ": " << command << " has no " << option;
        }
    }
}

bool is_synopsis(const std::string& line) {
    if (!line.starts_with("saltus ")) return false;
    for (const char* const word : {" MODEL", " FILE", " RESULT", " COMMAND", "PROBLEM", "[", " DIR"})
        if (line.find(word) != std::string::npos) return true;
    return false;
}

/// A whole model is built; a part of one has known keys.
void check_model(const Block& block) {
    std::string text;
    bool whole = false;
    for (const std::string& l : block.lines) {
        text += l + "\n";
        whole = whole || l == "[system]";
    }
    const std::string refusal = test::refusal_of([&] {
        const model::Description d = io::parse_model(text, block.place);
        if (whole) model::build(d);
    });
    EXPECT_EQ(refusal, "accepted") << block.place;
}

bool has(const Block& b, const std::string& text) {
    return std::any_of(b.lines.begin(), b.lines.end(),
                       [&](const std::string& l) { return l.find(text) != std::string::npos; });
}

/// Every line stands in an example that the tests compile and run.
void check_example(const Block& block) {
    std::string examples;
    for (const fs::directory_entry& e : fs::directory_iterator(root + "/docs/examples"))
        examples += test::content_of(e.path()) + "\n";
    examples += test::content_of(root + "/tests/install/consumer/CMakeLists.txt");
    for (std::string line : block.lines) {
        line.erase(0, line.find_first_not_of(' ') == std::string::npos ? line.size() : line.find_first_not_of(' '));
        if (const std::size_t comment = line.find("  //"); comment != std::string::npos) line.erase(comment);
        while (!line.empty() && line.back() == ' ') line.pop_back();
        if (line.empty() || line.starts_with("//") || line == "...") continue;
        EXPECT_NE(examples.find(line), std::string::npos) << block.place << ": no example has\n  " << line;
    }
}

bool has_mathematics(const Block& b) {
    return std::any_of(b.lines.begin(), b.lines.end(), [](const std::string& l) {
        return std::any_of(l.begin(), l.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
    });
}

TEST(Documentation, EveryBlockIsTrue) {
    const Outcome h5py = shell("python3 -c 'import h5py'", ".");
    std::size_t commands = 0, models = 0, examples = 0, synopses = 0;
    for (const std::string& page : pages()) {
        if (page == "docs/python.md") continue;  // run by the tests of the Python module
        const test::Folder folder;               // commands of a page follow each other
        furnish(folder);
        for (const Block& b : blocks_of(page)) {
            if (b.lines.empty()) continue;
            const std::string& first = b.lines[0];
            if (first.starts_with("$ ")) {
                ++commands;
                run_commands(b, folder);
            } else if (is_synopsis(first)) {
                for (const std::string& l : b.lines)
                    if (l.starts_with("saltus ")) ++synopses, check_synopsis(b.place, l);
                Block rest{b.place, {}};  // an example may follow in the same block
                for (const std::string& l : b.lines)
                    if (!rest.lines.empty() || l.starts_with("$ ")) rest.lines.push_back(l);
                if (!rest.lines.empty()) ++commands, run_commands(rest, folder);
            } else if (first.starts_with("saltus ") && !first.starts_with("saltus: ")) {
                // What it prints is not compared: two values of each range are enough to run it.
                const Block command{
                    b.place, {"$ build/" + std::regex_replace(first, std::regex(":[0-9]+( |$)"), ":2$1"), "..."}};
                ++commands;
                run_commands(command, folder);
            } else if (first.starts_with("[") || first.starts_with("parameters = ")) {
                ++models;
                check_model(b);
            } else if (has(b, "import ") || first.starts_with("def ")) {
                if (h5py.code == 0) {
                    std::string text;
                    for (const std::string& l : b.lines) text += l + "\n";
                    folder.write("page.py", text);
                    EXPECT_EQ(shell("python3 page.py", folder.path()).code, 0) << b.place;
                }
            } else if (has(b, "::") || has(b, ");") || has(b, "find_package")) {
                ++examples;
                check_example(b);
            } else if (first.starts_with("saltus: error: ")) {
                continue;  // what a person sees, tested with the commands
            } else {
                const bool text = has_mathematics(b) || first.starts_with("{") || first.starts_with("--") ||
                                  first.starts_with("./") || has(b, "->") || has(b, "<-");
                EXPECT_TRUE(text) << b.place << ": what is this?\n  " << first;
            }
        }
    }
    EXPECT_GE(commands, 8U);
    EXPECT_GE(models, 2U);
    EXPECT_GE(examples, 3U);
    EXPECT_GE(synopses, 8U);
}

/// Links between pages lead somewhere.
TEST(Documentation, LinksLeadToFiles) {
    for (const std::string& page : pages()) {
        const std::string text = test::content_of(root + "/" + page);
        for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 2)) {
            std::string target = text.substr(at + 2, text.find(')', at) - at - 2);
            target = target.substr(0, target.find('#'));
            if (target.find('.') == std::string::npos || target.find("://") != std::string::npos) continue;
            EXPECT_TRUE(fs::exists(fs::path(root) / fs::path(page).parent_path() / target)) << page << ": " << target;
        }
    }
}

TEST(Documentation, HelpFitsAScreenAndShowsAnExample) {
    std::vector<std::string> commands{""};
    for (const std::string& line : shell(std::string(SALTUS_EXE) + " --help", ".").out)
        if (line.starts_with("  ") && line.size() > 3 && line[2] != ' ')
            commands.push_back(line.substr(2, line.find(' ', 2) - 2));
    EXPECT_GE(commands.size(), 9U);
    for (const std::string& command : commands) {
        const Outcome r = shell(std::string(SALTUS_EXE) + " " + command + " --help", ".");
        EXPECT_EQ(r.code, 0);
        EXPECT_LE(r.out.size(), 44U) << command;
        bool example = false;
        for (const std::string& line : r.out) {
            std::size_t columns = 0;
            for (const char c : line) columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
            EXPECT_LE(columns, 80U) << command << ": " << line;
            example = example || line.find("saltus " + command) != std::string::npos;
        }
        EXPECT_TRUE(example) << command;
    }
}

TEST(Documentation, ShellsAcceptTheCompletion) {
    const test::Folder folder;
    const std::string exe = SALTUS_EXE;
    const Outcome r =
        shell("bash -c 'source <(" + exe +
                  " completion bash); COMP_WORDS=(saltus simulate --me); "
                  "COMP_CWORD=2; _saltus; echo \"${COMPREPLY[@]}\"; COMP_WORDS=(saltus simulate --method \"\"); "
                  "COMP_CWORD=3; _saltus; echo \"${COMPREPLY[@]}\"; COMP_WORDS=(saltus si); COMP_CWORD=1; "
                  "_saltus; echo \"${COMPREPLY[@]}\"'",
              folder.path());
    ASSERT_EQ(r.out.size(), 3U);
    EXPECT_EQ(r.out[0], "--method");
    EXPECT_EQ(r.out[1], "event moreau penalty");
    EXPECT_EQ(r.out[2], "simulate");
    const Outcome zsh = shell("command -v zsh >/dev/null && " + exe + " completion zsh | zsh -n", folder.path());
    EXPECT_TRUE(zsh.out.empty()) << zsh.out[0];
    const Lines man = shell(exe + " completion man", folder.path()).out;
    EXPECT_TRUE(!man.empty() && man[0].starts_with(".TH SALTUS 1"));
    EXPECT_EQ(shell(exe + " completion fish", folder.path()).code, 2);
}

}  // namespace
}  // namespace saltus::docs_test
