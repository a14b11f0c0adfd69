// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/simulate.hpp"

namespace saltus::integrate {

/// The state of a run at a time from which the run can be repeated to the bit: time, state, mode, and what the method
/// has learned (sums, counters, the impacts of an accumulation in progress). Its layout belongs to the version of
/// Saltus that made it; it is of use only for the same model, method and options. Empty: there is none.
struct ResumePoint {
    std::vector<double> numbers;
    bool empty() const { return numbers.empty(); }
};

/// A motion that is to be continued.
struct Continued {
    ResumePoint from;                       ///< resume point of the earlier run
    double end = 0.0;                       ///< time at which the earlier motion ended, in s
    std::vector<trajectory::Event> events;  ///< events of the earlier motion
};

/// A part of a motion that is final. The parts of a motion follow each other in time.
struct MotionPart {
    trajectory::State start;                ///< start of the whole motion, the same in every part
    std::vector<trajectory::Arc> arcs;      ///< empty if the method does not keep arcs
    std::vector<trajectory::Event> events;  ///< in order of time
    std::size_t first_event = 0;            ///< number of events[0] in the motion
    Recording recording;  ///< what Record::yes keeps, without RecordedArc::reactions; events have their numbers in the
                          ///< motion
    /// The first arc, and the first recorded arc, continue the last ones of the part before: they have further steps,
    /// another end, and the modes of the whole arc.
    bool continues_arc = false;
};

/// Takes the parts of a motion one after the other. The motion itself then keeps neither events nor arcs nor a
/// recording, so that its memory does not grow with its length. A part has a few MiB.
using MotionSink = std::function<void(MotionPart)>;

/// Size of the parts that a run collects before it gives them to a MotionSink, in bytes. Larger: more memory. Smaller:
/// more calls.
inline constexpr std::size_t motion_part_bytes = std::size_t{1} << 22U;

/// Memory of a step or an event in a part, in bytes. Estimates, for motion_part_bytes.
std::size_t bytes_of(const ode::Dense& step);
std::size_t bytes_of_event(int coordinates);

/// A motion, and where it can be resumed.
struct ResumableMotion {
    RecordedMotion motion;
    ResumePoint resume;
};

/// The motion of simulate (Record::no) or simulate_recorded (Record::yes), with its resume point.
///
/// With `earlier`, the run starts from the resume point of the earlier run, which lies before the end of the earlier
/// motion, and repeats what a run without interruption does: the last step of the earlier motion was cut off at its
/// end, and the run without interruption goes on beyond it. The result begins at earlier->end. Its arcs, events and end
/// are those of the run without interruption, to the bit; its first step may begin before its first arc. Events at or
/// before earlier->end are left out; time-stepping, whose events have no time of their own, leaves out those of steps
/// that end there. Options::start is not used then.
///
/// Resume points are made at regular numbers of arcs or steps. No further one is made once the end of the run has
/// influenced a decision, because a longer run may decide otherwise there. Throws Error if the resume point does not
/// fit the model or the method, or is damaged.
///
/// With `sink` the motion goes there in parts, and the result has neither events nor arcs with steps nor a recording.
ResumableMotion simulate_resumable(const model::Mechanics& model, const Method& method, const Options& options,
                                   Record record, const Continued* earlier = nullptr, const MotionSink& sink = {});

}  // namespace saltus::integrate
