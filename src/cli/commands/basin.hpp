// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace saltus::cli {

/// `saltus basin`: which equilibrium set each start reaches. A value that is not set takes its default from the model's
/// [simulate] table or from the method. The starts are a grid, or samples from a box.
struct BasinCommand {
    Common common;
    std::vector<std::string> grid;  ///< NAME=FROM:TO:COUNT or NAME=VALUE
    std::optional<long> samples;    ///< number of random starts, instead of a grid
    std::vector<std::string> box;   ///< NAME=FROM:TO, where samples are drawn from
    std::uint64_t seed = 1;         ///< of the samples
    std::string method;             ///< moreau or event
    std::string device = "auto";    ///< auto, cpu, cuda or opencl
    std::optional<double> t_max, h, theta, rtol, atol;
    std::optional<double> rest;      ///< speed that counts as rest, relative to typical speeds
    int refine = 0;                  ///< times that the grid is halved where labels differ
    std::optional<double> boundary;  ///< locate the boundary on grid edges to this length
    int paths = 0;                   ///< number of motions that are drawn as curves, from the edge of the plane
    bool resume = false;             ///< continue from the checkpoints in the result folder
    std::string shard;               ///< "2/3": only this part of the starts, for `saltus merge`
    bool to_rest = false;            ///< continue inside the certified level set until rest
    bool no_lanes = false;           ///< one motion at a time on each core
    bool no_certify = false;         ///< do not look for a certified level set
};

/// Runs the command and returns the exit code.
int basin(const BasinCommand& command);

/// `saltus merge`: the parts of `saltus basin --shard` as one result.
struct MergeCommand {
    std::string folder;  ///< --out of all parts
    bool json = false, quiet = false;
    int threads = 0;  ///< 0: one thread per core
};

/// Writes the files that the command without --shard writes, byte by byte, and returns the exit code (merge.cpp).
int merge(const MergeCommand& command);

}  // namespace saltus::cli
