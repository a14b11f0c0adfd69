// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/hdf5_faults.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace saltus::hdf5_faults_test {

namespace {

constexpr int code = 2;

/// Uses up the stack.
int endless(volatile int* depth) {
    volatile char room[4096];  // NOLINT(cppcoreguidelines-avoid-c-arrays)
    room[0] = static_cast<char>(*depth);
    *depth = *depth + 1;
    return *depth > 0 ? endless(depth) + room[0] : 0;
}

}  // namespace

TEST(FaultsOfHdf5, EndTheProgramWithAMessageThatNamesTheFile) {
    for (const int signal : {SIGSEGV, SIGFPE, SIGBUS, SIGILL, SIGABRT})
        EXPECT_EXIT(
            {
                io::end_on_faults_of_hdf5(code);
                const io::ReadingHdf5 reading("a\x1b.hdf5");
                std::raise(signal);
            },
            testing::ExitedWithCode(code),
            "^saltus: error: a\\\\x1b.hdf5: HDF5 fails while it reads the file; it may be");
    EXPECT_EXIT(
        {
            io::end_on_faults_of_hdf5(code);
            const io::ReadingHdf5 reading(std::string(10000, 'a') + ".hdf5");
            int depth = 0;
            endless(&depth);
        },
        testing::ExitedWithCode(code), "aaa.hdf5: HDF5 fails");
}

TEST(FaultsOfHdf5, AreNotConfusedWithFaultsAtOtherPlaces) {
    EXPECT_EXIT(
        {
            io::end_on_faults_of_hdf5(code);
            { const io::ReadingHdf5 reading("a.hdf5"); }
            std::raise(SIGSEGV);
        },
        testing::KilledBySignal(SIGSEGV), "");
    EXPECT_EXIT(
        {
            const io::ReadingHdf5 reading("a.hdf5");  // a library leaves signals alone
            std::raise(SIGFPE);
        },
        testing::KilledBySignal(SIGFPE), "");
}

}  // namespace saltus::hdf5_faults_test
