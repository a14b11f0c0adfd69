// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "saltus/io/results/detail/hdf5_bytes.hpp"
#include "saltus/io/results/detail/hdf5_session.hpp"

namespace saltus::io::hdf5 {

/// What the header of an object says, as far as it was read.
struct ObjectHeader {
    std::string refusal;             ///< why the header cannot be read, as the end of a sentence; empty: it can
    std::string refusal_of_dataset;  ///< the same, or why the object is no dataset that HDF5 may open
    struct Place {
        std::uint64_t address, size;
    };
    // A dataset:
    std::optional<std::uint64_t> rank, element_size;  ///< element_size in bytes
    std::vector<std::uint64_t> sides;
    bool empty = false;    ///< it has no numbers, whatever the sides are
    std::string datatype;  ///< the message that describes the numbers
    bool has_layout = false;
    std::optional<Place> contiguous;                  ///< where the numbers are
    std::optional<std::string> compact;               ///< the numbers, if they are in the header
    std::optional<std::vector<std::uint64_t>> chunk;  ///< its sides, the last one is the size of an element in bytes
    // A group of the old format:
    struct Group {
        std::uint64_t tree, heap;  ///< addresses
    };
    std::optional<Group> group;
    bool newer_group = false;  ///< a group that is stored in another way
};
ObjectHeader read_header(FileBytes& in, std::uint64_t address);

/// Why HDF5 must not open this dataset, as the end of a sentence ("has chunks of size zero"); empty if it may. HDF5
/// 1.10 trusts the header of a dataset: a damaged one makes it divide by zero or write past the end of its memory. This
/// function reads the header from the bytes of the file and checks what HDF5 does not. It also refuses data that are
/// outside the file, and filters other than those that HDF5 itself applies to numbers. `path` is the file that is open
/// as `file`. The dataset must exist.
std::string refusal_of_dataset(hid_t file, const std::string& path, const std::string& name);

}  // namespace saltus::io::hdf5
