// SPDX-License-Identifier: Apache-2.0
//
// `saltus solve` on files that hold no problem, or a broken one: exit code 2, the place, and what to do about it.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <filesystem>
#include <string>
#include <vector>

#include "process.hpp"

namespace saltus::solve_refusals_test {
namespace {

test::Outcome solve(const std::string& path) { return test::shell(SALTUS_EXE " solve '" + path + "'"); }

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

struct Refused {
    std::string content, message;  ///< the message after the path
};

TEST(SolveRefusals, GiveThePlaceAndTheRemedy) {
    const std::string beginnings =
        "; expected the dimension of a contact (2, 3 or 5), the number of unknowns, or the two flags of an mlcp";
    const std::string cut_short = "; it is cut short, or a size before this place is too large";
    const std::vector<Refused> files{
        {"", ":1:1: the file is empty" + beginnings},
        {"\n\n", ":3:1: the file is empty" + beginnings},
        {"3 1 0 3 3 3 3\n15 -1 -2 -1 14", ":2:1: the rest of the file is too short for the 9 numbers of W" + cut_short},
        {"3 1 0 3 3 3 3\n15 -1 -2 -1 14 1 -2 1 16\n-1 2 3\n", ":4:1: the file ends where mu was expected" + cut_short},
        {"3 1 0 3 3 3 3\n15 -1 nan -1 14 1 -2 1 16\n-1 2 3\n0.1\n",
         ":2:7: W, number 3 of 9, is 'nan', not finite; give a finite number"},
        {"3 1 0 3 3 3 3\n15 -1 -2 -1 14 1 -2 1 16\n-1 2 3\n-0.1\n",
         ":4:1: mu, number 1 of 1, is '-0.1', negative; give a number >= 0"},
        {"3 2 0 3 3 3 3\n15 -1 -2 -1 14 1 -2 1 16\n-1 2 3\n0.1\n",
         ":1:7: a matrix of 3 rows is not W of 2 contacts of dimension 3, which has 6, nor M, as no H of 3 x 6 "
         "follows; "
         "correct the number of contacts or the size of the matrix"},
        {"3 700000000 0 2100000000 2100000000 2100000000 2100000000\n1 2 3\n",
         ":1:37: W would need 32857060432.4 GiB as a dense matrix of 2100000000 x 2100000000; the limit is 2 GiB; "
         "store "
         "it in blocks or sparse"},
        {"{\"file\": 1}\n", ":1:1: no contact problem begins with '{\"file\":'" + beginnings},
        {std::string("\x7f"
                     "ELF\x02\x00\x00\x01",
                     8),
         ":1:1: no contact problem begins with '.ELF....'" + beginnings},
    };
    const test::Folder folder;
    for (const Refused& r : files) {
        const std::string path = folder.write("a.dat", r.content);
        const test::Outcome outcome = solve(path);
        EXPECT_EQ(outcome.code, 2) << r.content;
        EXPECT_EQ(first_line(outcome.err), "saltus: error: " + path + r.message);
    }
}

TEST(SolveRefusals, TellWhatIsNoProblemFile) {
    const test::Folder folder;
    const std::string path = folder.path().string();
    EXPECT_EQ(solve(path).code, 2);
    EXPECT_EQ(solve(path).err, "saltus: error: " + path + ": is a folder, not a file; give the problem files in it\n");
    const std::string model = SALTUS_SOURCE_DIR "/models/bouncing-ball.toml";
    EXPECT_EQ(solve(model).code, 2);
    EXPECT_EQ(solve(model).err,
              "saltus: error: " + model + ": is a model file, not a contact problem; inspect it with saltus check\n");
    const std::string begun = folder.write("a.hdf5", "\x89HDF\r\n\x1a\n");
    EXPECT_EQ(solve(begun).code, 2);
    EXPECT_EQ(solve(begun).err.find("saltus: error: " + begun + ": "), 0U);
}

}  // namespace
}  // namespace saltus::solve_refusals_test
