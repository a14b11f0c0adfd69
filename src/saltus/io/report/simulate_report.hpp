// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/integrate/outputs.hpp"
#include "saltus/io/report/timing.hpp"
#include "saltus/trajectory/lyapunov.hpp"
#include "saltus/trajectory/trajectory.hpp"

/// The result of `saltus simulate` as text, JSON and CSV. Text and JSON are written by simulate_report.cpp, tables by
/// simulate_report_csv.cpp.
namespace saltus::io {

/// What the text says about the events of a motion: the first and the last ones, and the energy that contacts created
/// at impacts. Its size does not grow with the number of events.
class EventDigest {
public:
    static constexpr std::size_t first_events = 20, last_events = 5;

    EventDigest() = default;
    explicit EventDigest(const std::vector<trajectory::Event>& events);
    void add(const trajectory::Event& event);

    std::size_t count() const { return count_; }
    const std::vector<trajectory::Event>& first() const { return first_; }
    const std::vector<trajectory::Event>& last() const { return last_; }  ///< of those that are not among the first

    std::size_t impacts = 0;      ///< including impacts without collision (Painlevé)
    std::size_t creating = 0;     ///< impacts that create energy
    double energy_created = 0.0;  ///< by all impacts together, in J
    double prevented = 0.0;       ///< energy that repairs prevented, in J
    /// The impact that created most energy; if none did, that with the largest work. An impact whose work is NaN is the
    /// worst one.
    std::optional<trajectory::Event> worst;

private:
    void audit(const trajectory::Event& event);
    std::size_t count_ = 0;
    std::vector<trajectory::Event> first_, last_;
};

/// For a terminal. `t_end` is the time in s that was asked for; the motion may end before. The balance of the Lyapunov
/// function V is shown if it is given and not empty. Long lists are cut and say so. `events` replaces the events of the
/// trajectory, if it has not kept them. `summary` adds outputs, mean forces and tracking.
std::string simulate_text(const trajectory::Trajectory& trajectory, double t_end,
                          const trajectory::LyapunovBalance* balance = nullptr, const EventDigest* events = nullptr,
                          const trajectory::MotionSummary* summary = nullptr);

/// One JSON document (docs/results.md). Numbers that are not finite are null. If the run did not complete then the
/// first entry of `warnings` is the reason. Computing times appear under `statistics` only.
std::string simulate_json(const trajectory::Trajectory& trajectory, double t_end,
                          const trajectory::LyapunovBalance* balance = nullptr, Timing timing = Timing::included,
                          const trajectory::MotionSummary* summary = nullptr);

// The same documents for a motion that does not fit into memory: its events come one by one. `motion` has the names of
// its coordinates and elements, and at the end everything but events and arcs.

/// Takes a document piece by piece.
using TakeText = std::function<void(std::string_view)>;

/// An entry of the list of events in the JSON document, with the line break and the comma before it.
std::string event_entry(const trajectory::Trajectory& motion, const trajectory::Event& event, bool first);

/// The document. `entries` calls its argument with the entries of all events; `digest` sums them up. `left_out` is the
/// number of events, at the end of the motion, that have no entry.
void simulate_json(const trajectory::Trajectory& motion, double t_end, const trajectory::LyapunovBalance* balance,
                   Timing timing, const EventDigest& digest, const std::function<void(const TakeText&)>& entries,
                   const TakeText& take, const trajectory::MotionSummary* summary = nullptr, std::size_t left_out = 0);

/// Columns of events_csv that only motions with such events have. They are known at the end of the motion.
struct LateEventColumns {
    std::set<int> rate_jumps;  ///< elements whose rates of reactions jump at some event
    bool positions = false;    ///< positions jump at some event: they have columns for the values after it
    void add(const trajectory::Event& event);
};

/// The first line of events_csv.
std::string events_csv_head(const trajectory::Trajectory& motion, const LateEventColumns& late);
/// The cells of an event without the late columns. They can be made before the whole motion is known.
std::string events_csv_cells(const trajectory::Trajectory& motion, const trajectory::Event& event);
/// The rest of the line of an event: the late columns, and the line break. Of the event only q, q_plus and rate_jumps
/// are read.
std::string events_csv_late_cells(const trajectory::Trajectory& motion, const LateEventColumns& late,
                                  const trajectory::Event& event);

/// The first line of balance_csv, and the lines of some rows.
std::string balance_csv_head();
std::string balance_csv_lines(const trajectory::LyapunovBalance& rows);

/// Where the lines of states_csv come from.
struct StateSource {
    std::uint64_t events = 0;
    std::function<trajectory::Event(std::uint64_t)> event;  ///< time, positions and velocities of an event
    bool has_arcs = false;
    std::function<trajectory::State(double)> state;  ///< between the ends; the velocity is the one after events
};
void states_csv(const trajectory::Trajectory& motion, const StateSource& source, int samples, const TakeText& take,
                const trajectory::OutputCurves* outputs = nullptr);

/// A line for each event: time, kind, names of the elements (with ';' between), work, energies, number of impacts,
/// note; then q, the velocities before (`x'-`) and after (`x'+`), and the impulses of all elements.
std::string events_csv(const trajectory::Trajectory& trajectory);

/// t, q and u at `samples` ≥ 2 equidistant times, both ends included, and before and after each event. If the motion
/// was computed without arcs then only the ends and the events have lines. `outputs` adds a column for each derived
/// quantity; it must come from `output_curves` with the same trajectory and number of samples.
std::string states_csv(const trajectory::Trajectory& trajectory, int samples,
                       const trajectory::OutputCurves* outputs = nullptr);

/// The derived quantities of the model at the times of `states_csv`.
trajectory::OutputCurves output_curves(const trajectory::Trajectory& trajectory, int samples,
                                       integrate::OutputCourse& outputs, const model::Model& model);

/// The balance of V: a line for each time, a column for each cause.
std::string balance_csv(const trajectory::LyapunovBalance& balance);

}  // namespace saltus::io
