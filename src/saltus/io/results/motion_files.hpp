// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "saltus/integrate/resume.hpp"
#include "saltus/io/report/simulate_report.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/trajectory/lyapunov.hpp"
#include "saltus/trajectory/summary.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::io {

class ResultFolder;  // result_folder.hpp

/// Name of the stored motion in a result folder.
inline constexpr const char* trajectory_name = "trajectory.h5";

/// The results of `saltus simulate`, as they grow. The parts of a motion (integrate/resume.hpp) go to temporary files,
/// so that the memory does not grow with the motion. At the end the files are put together, with the same bytes as
/// those of a motion in memory.
class MotionFiles {
public:
    /// `folder`: for result files; null: none. `json`: the JSON document is printed.
    MotionFiles(const model::Mechanics& model, ResultFolder* folder, bool json);
    ~MotionFiles();
    MotionFiles(const MotionFiles&) = delete;
    MotionFiles& operator=(const MotionFiles&) = delete;

    /// Adds a part, and the rows of the balance of V that belong to it. Throws Error if a temporary file cannot be
    /// written.
    void add(const integrate::MotionPart& part, const trajectory::LyapunovBalance& balance);

    /// About the parts so far, in bytes: the room on the disk that `write` would need besides the temporary files, and
    /// the size of the largest file.
    struct Sizes {
        double all = 0.0, largest = 0.0;
    };
    Sizes sizes(int samples) const;

    /// What the text says about the events.
    const EventDigest& events() const;

    /// Adds the files to the folder, after the last part. `motion` has everything but events and arcs; `balance` has
    /// the first and the last row, and the errors. `outputs` are the derived quantities at the times of states.csv
    /// (output_curves with the same number of samples); null: none. To be called once.
    void write(const trajectory::Trajectory& motion, double t_end, const trajectory::LyapunovBalance& balance,
               const trajectory::MotionSummary& summary, const integrate::ResumePoint& resume, int samples,
               const trajectory::OutputCurves* outputs = nullptr);

    /// Gives the JSON document that is printed to `take`, piece by piece. Only if the constructor was told so.
    void json(const trajectory::Trajectory& motion, double t_end, const trajectory::LyapunovBalance& balance,
              const trajectory::MotionSummary& summary, Timing timing, const TakeText& take) const;

private:
    struct Spools;
    ResultFolder* folder_;
    std::unique_ptr<Spools> spools_;
};

}  // namespace saltus::io
