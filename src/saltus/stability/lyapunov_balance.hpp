// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/resume.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/trajectory/lyapunov.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::stability {

/// The balance of the Lyapunov function V = T + U along a motion: V(t) and the works that changed it (see
/// trajectory::LyapunovBalance). [Leine] (68)–(77)
///
/// Works of smooth forces, friction and springs are integrals of their powers along the recorded arcs, in the modes of
/// these arcs. Works of impacts follow from their impulses. No work is computed as a difference of energies, so that
/// the balance checks the motion. The exception is an accumulation of impacts: its work is the difference of the
/// energies. For a time-stepping motion the recorded works of the steps are summed.
///
/// `recording` must belong to `trajectory`, and both to `model`.
trajectory::LyapunovBalance lyapunov_balance(const model::Mechanics& model, const trajectory::Trajectory& trajectory,
                                             const integrate::Recording& recording);

/// Works of one element of the model, in J.
struct ElementWork {
    double taken = 0.0;   ///< energy that its forces and impulses take out: friction, springs, impacts
    double driven = 0.0;  ///< energy that it brings in because it moves
};

/// A balance, and its works by element.
struct ElementBalance {
    trajectory::LyapunovBalance balance;
    /// In the order of Trajectory::elements. The sum of `taken` is that of the works that the balance takes out,
    /// without Rayleigh damping; the sum of `driven` is that of the balance, without jumps of the model. Missing are
    /// impacts whose impulses are not known, and accumulations of several elements.
    std::vector<ElementWork> elements;
};
/// The balance of an event-driven motion with the works of each element.
ElementBalance balance_by_elements(const model::Mechanics& model, const trajectory::Trajectory& trajectory,
                                   const integrate::Recording& recording);

/// The same balance of a motion that comes in parts (integrate/resume.hpp), to the bit. Its memory does not grow with
/// the motion.
class LyapunovAccount {
public:
    explicit LyapunovAccount(const model::Mechanics& model);
    ~LyapunovAccount();
    LyapunovAccount(const LyapunovAccount&) = delete;
    LyapunovAccount& operator=(const LyapunovAccount&) = delete;

    /// Adds a part with its recording. Returns the rows of the part; their errors are 0, because they belong to the
    /// whole motion.
    trajectory::LyapunovBalance add(const integrate::MotionPart& part);

    /// The first and the last row of the motion so far, and its errors. Empty if there is no part.
    trajectory::LyapunovBalance ends() const;

private:
    struct Work;
    const model::Mechanics& model_;
    std::unique_ptr<Work> work_;
    bool stepped_ = false;  ///< the motion is one of time-stepping
};

}  // namespace saltus::stability
