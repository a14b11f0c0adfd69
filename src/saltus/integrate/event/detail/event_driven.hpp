// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/resume.hpp"
#include "saltus/integrate/simulate.hpp"

namespace saltus::integrate {

/// Smooth arcs between located events. README.md describes the course of a run.
RecordedMotion run_event_driven(const model::Mechanics& model, const EventDriven& method, const Options& options,
                                Record record = Record::no);

/// The same with a resume point, or continued from one (resume.hpp).
ResumableMotion run_resumable(const model::Mechanics& model, const EventDriven& method, const Options& options,
                              Record record, const Continued* earlier, const MotionSink& sink = {});
ResumableMotion run_resumable(const model::Mechanics& model, const Penalty& method, const Options& options,
                              Record record, const Continued* earlier, const MotionSink& sink = {});

struct RunTools;
/// The same with tools that were made before, for this model and method.
void run_event_driven(const model::Mechanics& model, const EventDriven& method, const Options& options, RunTools& tools,
                      trajectory::Trajectory& motion);

/// The same with springs in place of rigid contacts.
RecordedMotion run_penalty(const model::Mechanics& model, const Penalty& method, const Options& options,
                           Record record = Record::no);

}  // namespace saltus::integrate
