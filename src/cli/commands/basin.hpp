// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/ensemble_options.hpp"

namespace saltus::cli {

/// `saltus basin`: which equilibrium set or periodic orbit each start reaches. A value that is not set takes its
/// default from the model's [simulate] table or from the method. The starts are a grid, or samples from a box.
struct BasinCommand {
    Common common;
    EnsembleOptions ensemble;
    std::vector<std::string> grid;  ///< NAME=FROM:TO:COUNT or NAME=VALUE
    SampleOptions samples;
    std::string method;  ///< moreau or event
    std::optional<double> t_max, h, theta, rtol, atol;
    std::optional<double> rest;      ///< speed that counts as rest, relative to typical speeds
    int refine = 0;                  ///< times that the grid is halved where labels differ
    std::optional<double> boundary;  ///< locate the boundary on grid edges to this length
    int paths = 0;                   ///< number of motions that are drawn as curves, from the edge of the plane
    std::string period, section;     ///< where motions are compared with themselves, to find periodic orbits
    int multiple = 8;                ///< most periods or passages after which an orbit closes
    bool to_rest = false;            ///< continue inside the certified level set until rest
    bool no_lanes = false;           ///< one motion at a time on each core
    bool no_certify = false;         ///< do not look for a certified level set
    bool virtual_parts = false;      ///< basin.h5 refers to files of the parts (merge --virtual)
};

/// Runs the command and returns the exit code.
int basin(const BasinCommand& command);

/// `saltus merge`: the parts of a command with --shard as one result.
struct MergeCommand {
    std::string folder;  ///< --out of all parts
    bool json = false, quiet = false;
    bool virtual_parts = false;  ///< basin.h5 refers to files of the parts, in place of their content
    int threads = 0;             ///< 0: one thread per core
    double seconds = 0.0;        ///< limit of wall-clock time; 0: none
};

/// Writes the files that the command without --shard writes, byte by byte, and returns the exit code (merge.cpp).
int merge(const MergeCommand& command);

}  // namespace saltus::cli
