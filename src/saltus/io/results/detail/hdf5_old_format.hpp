// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "saltus/io/results/detail/hdf5_header.hpp"

namespace saltus::io::hdf5 {

/// A file in the oldest format of HDF5, which FCLIB writes, read without HDF5. Its structures have no checksums, and
/// HDF5 1.10 trusts them: damaged ones make it write past the end of its memory. Functions throw Error without a place
/// if the file is damaged.
class OldFormat {
public:
    /// No value if the file has another format. Throws Error if it is shorter than it says.
    static std::optional<OldFormat> open(const std::string& path);

    /// A group of the file is stored as in newer formats: HDF5 must read the file.
    struct NewerGroup {};

    /// The header of the object with this name, "group/group/data"; no value if there is none. Throws NewerGroup.
    std::optional<ObjectHeader> find(const std::string& name);

    /// Whether a dataset was ever written. FCLIB creates data without values, for example the reactions of a problem
    /// whose solution is not known.
    bool is_written(const ObjectHeader& dataset) const;

    /// Numbers of a dataset.
    struct Numbers {
        enum class Kind { integers, reals, others } kind = Kind::others;
        bool standard = false;  ///< of a form that processors compute with
        std::uint64_t count = 0;
        bool stored = false;  ///< false: the file announces them and has no room for them
        std::vector<std::int64_t> integers;
        std::vector<double> reals;
    };

    /// The numbers of a dataset that is stored in one piece. No value if it is stored in chunks. Throws Error if they
    /// need more than `memory` bytes.
    std::optional<Numbers> numbers(const ObjectHeader& dataset, std::uint64_t memory);

private:
    explicit OldFormat(const std::string& path) : in_(path) {}
    std::optional<std::uint64_t> entry(const ObjectHeader::Group& group, const std::string& name);

    FileBytes in_;
    std::uint64_t root_ = 0, end_ = 0;
};

}  // namespace saltus::io::hdf5
