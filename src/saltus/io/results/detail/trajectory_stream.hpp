// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "saltus/io/results/detail/spool.hpp"
#include "saltus/io/results/detail/trajectory_columns.hpp"
#include "saltus/trajectory/lyapunov.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::io {

/// A column of texts, as it grows.
class TextSpool {
public:
    explicit TextSpool(const std::string& folder) : lengths_(folder), bytes_(folder) {}
    void append(const std::string& text);
    std::uint64_t count() const { return lengths_.count<std::uint64_t>(); }
    std::size_t longest() const { return longest_; }  ///< in bytes, at least 1
    std::uint64_t padded_bytes() const { return count() * longest_; }
    /// Calls `use` with all texts, padded with zeros to the length of the longest one, several at a time.
    template <class Use>
    void each_piece(Use use) const {
        std::uint64_t at = 0;
        for (std::uint64_t k = 0; k < count(); ++k) {
            const auto length = static_cast<std::size_t>(lengths_.value<std::uint64_t>(k));
            std::string text(longest_, '\0');
            bytes_.read(at, text.data(), length);
            at += length;
            use(std::string_view(text));
        }
    }

private:
    Spool lengths_, bytes_;
    std::size_t longest_ = 1;
};

/// The columns of a trajectory file, as they grow. What has been added does not stay in memory.
class TrajectoryStream {
public:
    explicit TrajectoryStream(std::string folder) : folder_(std::move(folder)) {}  ///< `folder`: see Spool

    /// Adds an arc. `continues`: it is the rest of the arc that was added last; its end and its modes replace those of
    /// that arc.
    void add(const trajectory::Arc& arc, bool continues = false);
    void add(const trajectory::Event& event);
    void add(const trajectory::LyapunovBalance& rows);

    std::uint64_t added_events() const { return static_cast<std::uint64_t>(events_); }
    /// Bytes of the columns so far, without rows of the last block.
    std::uint64_t bytes() const;

    /// Bytes of the largest column of numbers so far.
    std::uint64_t largest_column() const;

    /// Adds what is known at the end: names, reactions, both ends. To be called once, before anything is read.
    void finish(const trajectory::Trajectory& rest);

    /// A column of numbers; it is empty if nothing was added to it.
    Spool& numbers(const std::string& column);
    TextSpool& texts(const std::string& column);
    /// Removes a column of numbers from the disk.
    void remove(const std::string& column) { numbers(column).clear(); }

    // The motion, after `finish`. `ends` has the start and the end of the motion.
    std::uint64_t events() { return numbers("events/t").count<double>(); }
    /// Time, positions and velocities of event number k. The other members are empty.
    trajectory::Event state_at_event(std::uint64_t k);
    std::vector<trajectory::Reaction> rate_jumps_at_event(std::uint64_t k);
    bool has_arcs() { return numbers("arcs/t_begin").size() > 0; }
    /// As Trajectory::left and Trajectory::right.
    trajectory::State left(const trajectory::Trajectory& ends, double t);
    trajectory::State right(const trajectory::Trajectory& ends, double t);
    /// As left. A time that rounding has moved past the end of a step of time-stepping belongs to that end.
    trajectory::State stepped(const trajectory::Trajectory& ends, double t);

private:
    void close_arc();
    void flush();
    void row(const std::string& column, std::uint64_t k, std::vector<double>& values);
    struct Range {
        std::uint64_t first, end;
    };
    Range steps_of(std::uint64_t arc);
    trajectory::State state(std::uint64_t step, double t, std::size_t n);
    template <class Before>
    static std::uint64_t partition_point(Range range, Before before);

    std::string folder_;
    layout::Columns block_;  ///< rows that are not in the spools yet
    std::int64_t steps_ = 0, coefficients_ = 0, events_ = 0, impulses_ = 0, rate_jumps_ = 0;  ///< numbers of rows that
                                                                                              ///< were added
    std::optional<trajectory::Arc> open_arc_;  ///< the last arc, without its steps
    std::map<std::string, Spool> numbers_;
    std::map<std::string, TextSpool> texts_;
};

/// State of a motion by time-stepping, which is a pair (q, u) at the ends of the steps. The velocity between two ends
/// is that of the later one. Whether a time that lies after the beginning `t_old` of a step belongs to that beginning:
/// rounding has moved it.
bool belongs_to_step_before(double t, double t_old, double t_new);

}  // namespace saltus::io
