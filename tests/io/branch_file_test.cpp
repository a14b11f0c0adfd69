// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/branch_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "saltus/base/error.hpp"
#include "saltus/io/results/branch_record.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "support.hpp"

#if SALTUS_HDF5
#include "saltus/io/results/detail/trajectory_file_table.hpp"
#endif

namespace saltus::io::branch_file_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

orbit::BranchPoint point(double parameter) {
    orbit::BranchPoint p;
    p.parameter = parameter;
    p.period = 0.1;
    p.state = {0.0, {1.0 / 3.0}, {-0.0}};
    p.multipliers = {{-0.5, 0.1}, {-0.5, -0.1}};
    p.amplitude = {{-1.0, 2.0}};
    p.events = {"impact", "stick"};
    p.stability = orbit::Stability::unstable;
    p.unstable_count = 1;
    p.residual = 1e-15;
    return p;
}

#if SALTUS_HDF5

TEST(BranchFile, HoldsEveryNumberOfTheBranches) {
    orbit::Branches all;
    all.model = "test";
    all.parameter = "A";
    all.coordinates = {"x"};
    all.complete = true;
    all.branches.resize(2);
    all.branches[0].points = {point(0.1), point(std::nextafter(0.1, 1.0))};
    all.branches[1].points = {point(0.3)};
    all.branches[1].multiple = 2;
    all.branches[1].origin = "period doubling";
    orbit::SpecialPoint fold;
    fold.kind = "fold";
    fold.error = infinity;
    fold.at = point(0.2);
    fold.index = 1;
    all.branches[0].special = {fold};
    const test::Folder folder;
    {
        ResultFolder results(folder.file("run"), "continue");
        add_branches(results, "branches.h5", all);
        results.publish();
    }
    const hdf5::Session session;
    const hdf5::TableReader in(folder.file("run") + "/branches.h5");
    std::vector<double> numbers;
    in.column("points/parameter", numbers);
    EXPECT_EQ(numbers, (std::vector<double>{0.1, std::nextafter(0.1, 1.0), 0.3}));
    in.column("points/q/x", numbers);
    EXPECT_EQ(numbers, std::vector<double>(3, 1.0 / 3.0));
    in.column("points/multipliers/im2", numbers);
    EXPECT_EQ(numbers, std::vector<double>(3, -0.1));
    in.column("points/largest/x", numbers);
    EXPECT_EQ(numbers, std::vector<double>(3, 2.0));
    in.column("special/error", numbers);
    EXPECT_EQ(numbers, std::vector<double>{infinity});
    std::vector<std::int32_t> branch;
    in.column("points/branch", branch);
    EXPECT_EQ(branch, (std::vector<std::int32_t>{1, 1, 2}));
    in.column("branch/multiple", branch);
    EXPECT_EQ(branch, (std::vector<std::int32_t>{1, 2}));
    std::vector<std::string> texts;
    in.texts("points/events", texts);
    EXPECT_EQ(texts, std::vector<std::string>(3, "impact stick"));
    in.texts("special/kind", texts);
    EXPECT_EQ(texts, std::vector<std::string>{"fold"});
}

#endif

/// What --resume reads is what the interrupted run wrote, to the bit, also numbers that JSON does not have.
TEST(BranchRecord, ReadsBackAsItWasWritten) {
    orbit::BranchRecord record;
    record.walks.resize(2);
    record.walks[0].finished = true;
    record.walks[0].points = {point(0.1)};
    record.walks[0].reason = "the end of the range";
    record.walks[1].at.z = Vector::LinSpaced(3, 0.0, 1.0 / 7.0);
    record.walks[1].at.z(0) = -0.0;
    record.walks[1].trail = {{0.5, Vector::Ones(2), infinity, std::nan("")}};
    record.walks[1].seeds = {{"grazing", record.walks[1].at, 2, "stop", 0.25}};
    record.curves = {{"fold", {point(0.3)}, {0.7}, "end"}};
    const std::string text = branch_record_text(record, "model and options");
    const orbit::BranchRecord again = read_branch_record(text, "model and options", "file");
    EXPECT_EQ(branch_record_text(again, "model and options"), text);
    ASSERT_EQ(again.walks.size(), 2U);
    EXPECT_TRUE(again.walks[0].finished);
    EXPECT_EQ(again.walks[1].at.z, record.walks[1].at.z);
    EXPECT_TRUE(std::signbit(again.walks[1].at.z(0)));
    EXPECT_EQ(again.walks[1].trail[0].impulse, infinity);
    EXPECT_TRUE(std::isnan(again.walks[1].trail[0].interval));
    EXPECT_EQ(again.curves[0].points[0].state.q, record.curves[0].points[0].state.q);
    EXPECT_THROW(read_branch_record(text, "other options", "file"), Error);
    EXPECT_THROW(read_branch_record(text.substr(0, text.size() / 2), "model and options", "file"), Error);
}

}  // namespace
}  // namespace saltus::io::branch_file_test
