// SPDX-License-Identifier: Apache-2.0
//
// Small limits of a process: address space, files, stack.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>

#include "process.hpp"
#include "support.hpp"

// Sanitizers need far more address space than these tests allow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SALTUS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SALTUS_SANITIZED 1
#endif
#endif

namespace saltus::limits_test {
namespace {

using test::Outcome;

const std::string models = std::string(SALTUS_SOURCE_DIR) + "/models/";

/// `saltus ARGUMENTS` with a limit of the address space, in kB.
Outcome limited(int kilobytes, const std::string& arguments) {
    return test::shell("ulimit -v " + std::to_string(kilobytes) + "; '" + std::string(SALTUS_EXE) + "' " + arguments +
                       " 2>&1");
}

/// Page faults of all processes that this one has started and waited for.
long faults() {
    rusage use{};
    ::getrusage(RUSAGE_CHILDREN, &use);
    return use.ru_minflt;
}

/// Threads have no room for memory of their own. If malloc tries to reserve it again for each allocation then each one
/// becomes a mapping of its own: 250 000 page faults.
TEST(SmallAddressSpace, DoesNotMakeThreadsSlow) {
#ifdef SALTUS_SANITIZED
    GTEST_SKIP() << "sanitizers need more address space";
#endif
    const long before = faults();
    const Outcome r = limited(60000, "certify " + models + "rocking-bar.toml");
    EXPECT_EQ(r.code, 0) << r.out;
    EXPECT_NE(r.out.find("attractive"), std::string::npos) << r.out;
    EXPECT_LT(faults() - before, 50000);
}

TEST(SmallAddressSpace, LetsFewerThreadsDoTheWork) {
#ifdef SALTUS_SANITIZED
    GTEST_SKIP() << "sanitizers need more address space";
#endif
    const std::string study = "simulate " + models + "bouncing-ball.toml --t-end 1 --vary e=0.1:0.9:40 ";
    const Outcome few = limited(100000, study + "--threads 40"), one = test::command(study + "--threads 1");
    EXPECT_EQ(few.code, 0) << few.out;
    EXPECT_EQ(few.out, one.out);
}

/// The memory is estimated before the first run: a run that ends with bad_alloc has computed for nothing.
TEST(SmallAddressSpace, RefusesRunsThatDoNotFitBeforeTheFirstOne) {
#ifdef SALTUS_SANITIZED
    GTEST_SKIP() << "sanitizers need more address space";
#endif
    const std::string ball = models + "bouncing-ball.toml", oscillator = models + "impact-oscillator.toml";
    for (const std::string& line :
         {"simulate " + ball + " --t-end 1 --vary e=0.1:0.9:1000000",
          "simulate " + ball + " --t-end 1 --samples 1000000 --box e=0.1:0.9",
          "sensitivity " + ball + " --t-end 1 --vary e=0.1:0.9:1000000",
          "compare " + ball + " --t-end 1 --penalty k=1e3:1e9:1000000",
          "diagram " + oscillator + " --over F0=0.5:1.5:1000 --period 2*pi/w --keep 1000000"}) {
        const Outcome r = limited(300000, line + " --seconds 20");
        EXPECT_EQ(r.code, 2) << line << "\n" << r.out;
        EXPECT_NE(r.out.find(" of memory, and "), std::string::npos) << line << "\n" << r.out;
    }
}

/// The starts of a search are not held in memory.
TEST(SmallAddressSpace, HoldsASearchWithAnyNumberOfStarts) {
#ifdef SALTUS_SANITIZED
    GTEST_SKIP() << "sanitizers need more address space";
#endif
    const Outcome r = limited(300000, "orbit " + models +
                                          "impact-oscillator.toml --period 2*pi/w --search 2000000000 "
                                          "--threads 1 --seconds 1");
    EXPECT_EQ(r.code, 130) << r.out;
    EXPECT_NE(r.out.find("found"), std::string::npos) << r.out;
}

/// Tables and formulas are read by recursion. With 256 kB a table of 256 levels ended the program with a signal.
TEST(SmallStack, IsRefusedOrHoldsTheDeepestTables) {
    const test::Folder folder;
    folder.write("deep.toml", "[system]\nq = " + std::string(300, '[') + std::string(300, ']') + "\n");
    for (const std::string kilobytes : {"256", "1023", "1024"}) {
        const Outcome r = test::shell("ulimit -s " + kilobytes + "; '" + std::string(SALTUS_EXE) + "' check " +
                                      folder.file("deep.toml") + " 2>&1");
        EXPECT_EQ(r.code, 2) << kilobytes << r.out;
        EXPECT_EQ(r.out.find("the stack is smaller than 1 MiB") != std::string::npos, kilobytes != "1024") << r.out;
    }
}

}  // namespace
}  // namespace saltus::limits_test
