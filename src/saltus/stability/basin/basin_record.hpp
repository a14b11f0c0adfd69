// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/ensemble/table.hpp"
#include "saltus/stability/basin/basin_start.hpp"

namespace saltus::stability {

/// How a motion ended.
enum class Fate : std::uint8_t {
    undecided,     ///< none of the following before t_max
    rest,          ///< the motion came to rest in an equilibrium
    captured,      ///< the motion entered the level set
    failed,        ///< the integrator could not make a step
    inadmissible,  ///< there is no admissible start state, or the model refuses the parameters
    pending,       ///< the motion is not simulated yet
    repeats,       ///< the motion repeats itself
};

/// A motion that was simulated.
struct BasinMotion {
    Fate fate = Fate::pending;
    Admission admission = Admission::admissible;
    bool inside = false;     ///< the start lies in the level set
    double V = 0.0;          ///< T + U − reference at the start
    double t = 0.0;          ///< time at which rest or repetition began or the level set was entered; otherwise the end
    std::int64_t steps = 0;  ///< number of integration steps
    std::uint64_t closed = 0;  ///< bit k: contact k is closed at the end; of the first 64 contacts
    std::int32_t returns =
        0;                  ///< of a motion that repeats: it does so after so many periods or passages of the section
    std::vector<double> q;  ///< position at the end
    std::vector<double> u;  ///< velocity at the end; empty if the record has none
};

/// All motions of a basin, in the order in which they were requested. A run can be continued from its record, which is
/// in memory or in a file.
class BasinRecord {
public:
    /// Which parts of a motion are kept.
    struct Layout {
        std::size_t coordinates = 0;
        bool velocities = false;    ///< the velocity at the end is kept, for motions that repeat
        std::size_t bytes() const;  ///< of a motion
    };

    /// In memory.
    explicit BasinRecord(const Layout& layout);
    BasinRecord() : BasinRecord(Layout()) {}
    BasinRecord(const Layout& layout, std::shared_ptr<ensemble::Table> table);

    const Layout& layout() const { return layout_; }
    ensemble::Table& table() { return *table_; }
    const ensemble::Table& table() const { return *table_; }

    std::size_t size() const { return size_; }  ///< number of motions that were requested
    void grow(std::size_t size) { size_ = size; }

    void put(std::size_t motion, const BasinMotion& m) { table_->put(motion, bytes_of(m)); }
    /// One motion; pending if it is not there. `scan` is faster for many.
    BasinMotion motion(std::size_t motion) const;
    /// Calls take(motion, m) for all motions of [first, last) in ascending order. Those that are not there are pending.
    void scan(std::size_t first, std::size_t last,
              const std::function<void(std::size_t motion, const BasinMotion& m)>& take) const;

    std::string bytes_of(const BasinMotion& m) const;
    std::size_t bytes() const { return bytes_; }  ///< of a motion
    /// Writes bytes() bytes. Any thread may call it.
    void write(const BasinMotion& m, char* to) const;
    /// Throws Error if the bytes are not those of a motion.
    void read(std::string_view bytes, BasinMotion& m) const;

private:
    BasinMotion unknown() const;

    Layout layout_;
    std::size_t bytes_ = 0;
    std::shared_ptr<ensemble::Table> table_;
    std::size_t size_ = 0;
};

}  // namespace saltus::stability
