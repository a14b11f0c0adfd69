// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/motion_files.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <span>
#include <system_error>

#include "saltus/base/error.hpp"
#include "saltus/integrate/mode/elements.hpp"
#include "saltus/io/problem/fclib.hpp"
#include "saltus/io/results/detail/trajectory_stream.hpp"
#include "saltus/io/results/detail/write_stream.hpp"
#include "saltus/io/results/files.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::io {

using trajectory::LyapunovBalance;
using trajectory::Trajectory;

namespace {

/// The number of events that simulate.json lists at most; it then has about 35 MB. Later events are in events.csv, in
/// trajectory.h5 and in the document that --json prints.
constexpr std::size_t max_listed_events = 100'000;

}  // namespace

/// What has been collected so far. A Spool is text or numbers in a temporary file (detail/spool.hpp).
struct MotionFiles::Spools {
    Spools(const std::string& folder, bool with_all_entries)
        : stream(folder),
          event_cells(folder),
          event_cells_ends(folder),
          balance_csv(folder),
          entries(folder),
          has_all_entries(with_all_entries) {}

    Trajectory names;  ///< coordinates and elements only
    EventDigest digest;
    TrajectoryStream stream;
    Spool event_cells;                 ///< cells of events.csv without late columns, of one event after the other
    Spool event_cells_ends;            ///< where the cells of each event end in event_cells, in bytes
    LateEventColumns late_columns;     ///< columns of events.csv that exist only if some event has a value for them
    Spool balance_csv;                 ///< lines of balance.csv
    Spool entries;                     ///< events of the JSON document
    std::uint64_t listed_entries = 0;  ///< bytes of the entries that simulate.json lists
    bool has_all_entries;              ///< the document is printed, with all events
    bool has_balance = false;
};

namespace {

/// The folder of the temporary files: inside of the result folder if there is one, so that both are on the same disk.
std::string place_for_spools(const ResultFolder* folder) {
    if (folder != nullptr) return folder->temporary();
    std::error_code error;
    const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
    return error ? "." : temporary.string();
}

/// Writes a text piece by piece to an open file.
class TextFile {
public:
    explicit TextFile(int descriptor) : descriptor_(descriptor) {}
    void operator()(std::string_view piece) {
        constexpr std::size_t block = std::size_t{1} << 16U;
        waiting_ += piece;
        if (waiting_.size() >= block) flush();
    }
    void flush() {
        if (const int error = write_all(descriptor_, waiting_); error != 0)
            throw Error("cannot be written: " + std::generic_category().message(error), {},
                        "check free space and permissions");
        waiting_.clear();
    }

private:
    int descriptor_;
    std::string waiting_;
};

/// Adds a text to the folder. `write` gives it to its argument, piece by piece.
void add_text(ResultFolder& folder, const char* name, const std::function<void(const TakeText&)>& write) {
    folder.add(name, [&](int descriptor) {
        TextFile file(descriptor);
        write([&](std::string_view piece) { file(piece); });
        file.flush();
    });
}

}  // namespace

MotionFiles::MotionFiles(const model::Mechanics& model, ResultFolder* folder, bool json)
    : folder_(folder), spools_(std::make_unique<Spools>(place_for_spools(folder), json)) {
    spools_->names.coordinates = model.coordinates;
    spools_->names.elements = integrate::elements_of(model);
}

MotionFiles::~MotionFiles() = default;

MotionFiles::Sizes MotionFiles::sizes(int samples) const {
    const Spools& of = *spools_;
    constexpr double cell = 25.0;  // bytes of a number in states.csv, at most
    const double rows = samples + 2.0 * static_cast<double>(of.stream.added_events());  // events: before and after
    const double states = cell * rows * (1.0 + 2.0 * static_cast<double>(of.names.coordinates.size()));
    const auto stored = static_cast<double>(of.stream.bytes()), entries = static_cast<double>(of.listed_entries);
    const auto tables = static_cast<double>(of.event_cells.size() + of.balance_csv.size());
    // A column leaves its temporary file when it is in trajectory.h5. So at any time at most one column is on the disk
    // twice, and trajectory.h5 needs no further room beyond the largest column.
    const auto twice = static_cast<double>(of.stream.largest_column());
    return {twice + entries + tables + states,
            std::max({stored, entries, states, static_cast<double>(of.balance_csv.size())})};
}

const EventDigest& MotionFiles::events() const { return spools_->digest; }

void MotionFiles::add(const integrate::MotionPart& part, const LyapunovBalance& balance) {
    Spools& to = *spools_;
    for (const trajectory::Event& event : part.events) {
        const std::size_t number = to.digest.count();
        const bool listed = folder_ != nullptr && number < max_listed_events;
        if (listed || to.has_all_entries) to.entries.append(event_entry(to.names, event, number == 0));
        if (listed) to.listed_entries = to.entries.size();
        to.digest.add(event);
    }
    if (folder_ == nullptr) return;
    bool continues = part.continues_arc;
    for (const trajectory::Arc& arc : part.arcs) to.stream.add(arc, std::exchange(continues, false));
    for (const trajectory::Event& event : part.events) {
        to.stream.add(event);
        to.event_cells.append(events_csv_cells(to.names, event));
        const std::uint64_t end = to.event_cells.size();
        to.event_cells_ends.append(std::span<const std::uint64_t>(&end, 1));
        to.late_columns.add(event);
    }
    if (balance.empty()) return;
    to.has_balance = true;
    to.stream.add(balance);
    to.balance_csv.append(balance_csv_lines(balance));
}

void MotionFiles::write(const Trajectory& motion, double t_end, const LyapunovBalance& balance,
                        const trajectory::MotionSummary& summary, const integrate::ResumePoint& resume, int samples,
                        const trajectory::OutputCurves* outputs) {
    SALTUS_EXPECT(folder_ != nullptr);
    Spools& from = *spools_;
    from.stream.finish(motion);
    const StateSource states{
        from.stream.events(), [&](std::uint64_t k) { return from.stream.state_at_event(k); }, from.stream.has_arcs(),
        [&](double t) { return motion.stepped ? from.stream.stepped(motion, t) : from.stream.right(motion, t); }};
    add_text(*folder_, "states.csv", [&](const TakeText& take) { states_csv(motion, states, samples, take, outputs); });
    add_text(*folder_, "events.csv", [&](const TakeText& take) {
        take(events_csv_head(motion, from.late_columns));
        std::string cells;
        std::uint64_t begin = 0;
        for (std::uint64_t k = 0; k < from.stream.events(); ++k) {
            const auto end = from.event_cells_ends.value<std::uint64_t>(k);
            cells.resize(static_cast<std::size_t>(end - begin));
            from.event_cells.read(begin, cells.data(), cells.size());
            take(cells);
            trajectory::Event event;
            if (from.late_columns.positions) event = from.stream.state_at_event(k);
            event.rate_jumps = from.stream.rate_jumps_at_event(k);
            take(events_csv_late_cells(motion, from.late_columns, event));
            begin = end;
        }
    });
    from.event_cells.clear();
    from.event_cells_ends.clear();
    if (from.has_balance)
        add_text(*folder_, "balance.csv", [&](const TakeText& take) {
            take(balance_csv_head());
            from.balance_csv.each_piece(take);
        });
    from.balance_csv.clear();
    const std::size_t events = from.digest.count();
    add_text(*folder_, "simulate.json", [&](const TakeText& take) {
        simulate_json(
            motion, t_end, &balance, Timing::left_out, from.digest,
            [&](const TakeText& entry) { from.entries.each_piece(from.listed_entries, entry); }, take, &summary,
            events > max_listed_events ? events - max_listed_events : 0);
    });
    // The last file, because its columns are removed from the disk as they are written.
    if (has_hdf5())
        folder_->add(trajectory_name, [&](int descriptor) {
            write_stream(folder_->path() + "/" + trajectory_name, descriptor, from.stream, motion, &balance,
                         resume.numbers, outputs);
        });
}

void MotionFiles::json(const Trajectory& motion, double t_end, const LyapunovBalance& balance,
                       const trajectory::MotionSummary& summary, Timing timing, const TakeText& take) const {
    simulate_json(
        motion, t_end, &balance, timing, spools_->digest,
        [&](const TakeText& entry) { spools_->entries.each_piece(entry); }, take, &summary);
}

}  // namespace saltus::io
