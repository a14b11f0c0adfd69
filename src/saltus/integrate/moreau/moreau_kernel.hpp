// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "saltus/integrate/simulate.hpp"
#include "saltus/model/fwd.hpp"

namespace saltus::integrate::moreau {

/// The text of a kernel that makes motions of one model by Moreau's steps, in the common subset of C++, CUDA C++ and
/// OpenCL C. Each thread makes one motion after the other: it takes the next one from a list when its motion has ended,
/// so that no thread waits for the longest motion. The arithmetic is that of LaneStepper, operation by operation and
/// without fused multiply-add. So the states have the same bits as in the lanes, if the elementary functions of the
/// device have those of the host.
///
/// The kernel is a function without result:
///     saltus_motions(const int* sizes, const double* settings, int* next, const int* list, const int* flags,
///                    const double* start, double* state, double* result, int* outcome)
/// Arrays of several numbers for each motion contain number i of motion k at [i·stride + k].
///     sizes      entries of the list, stride, largest number of steps of a thread
///     settings   h, t_max, energy of slow motions, level and reference of V; then for each coordinate its period (0:
///                none), and centre, lower and upper bound of the component of the level set
///     next       0; the kernel counts the entries of the list that were taken
///     list       numbers of the motions to be made or continued
///     flags      of each motion: 1 it may be captured, 2 it is continued from `state`, 4 from `result`
///     start      q, u
///     state      of motions that are to be continued, state_size numbers each
///     result     q, u, time (KernelOutcome), T, U; of a motion that is stuck its state
///     outcome    KernelOutcome, number of steps; motions that no thread has taken keep what is there
struct MotionKernel {
    static constexpr const char* name = "saltus_motions";
    static constexpr int settings_before_coordinates = 5, settings_per_coordinate = 4;

    std::string text;
    int coordinates = 0;
    int state_size = 0;
    int result_size() const { return std::max(2 * coordinates + 3, state_size); }
    // Places in the state.
    static constexpr int time = 0, since = 1, step_before = 2, steps = 3, slow = 4, position = 5;
    int velocity() const { return position + coordinates; }
    int impulses() const { return velocity() + coordinates; }
    std::vector<int> rows;   ///< row of the model of each impulse
    int contacts = 0;        ///< number of contacts
    int struck_before = -1;  ///< place in the state; −1 without contacts. For each contact open, holds, γ follow
};

/// How a motion of the kernel ended. The time of its result is that of its last step, or the begin of its rest.
enum class KernelOutcome : int {
    undecided = 0,  ///< t_max was reached
    rests = 1,      ///< slow for `slow_steps` steps
    candidate = 2,  ///< inside the level set; the caller must test whether the nearest admissible state is, too
    given_up = 3,   ///< the state is not finite, or the forces are too stiff: the lanes must make this motion
    paused = 4,     ///< the thread has made its number of steps
    stuck = 6,      ///< a contact problem was not solved: the caller must make the next step
    waiting = 5     ///< not begun; what the caller writes before the first launch
};

/// Numbers that decide when a motion ends, the same as those of the caller on the CPU.
struct KernelRules {
    int slow_steps = 16, steps_between_captures = 8;
    double last_step_stretch = 1e-9;
};

/// Why the kernel cannot make the motions of a model, or "" if it can. In addition to what lanes refuse: explicit steps
/// of linear forces must be stable. The kernel tests other forces along each motion.
std::string kernel_refusal(const model::Mechanics& model, const Moreau& method, double t_max);

/// `kernel_refusal` must be empty.
MotionKernel emit_motion_kernel(const model::Mechanics& model, const Moreau& method, const KernelRules& rules);

}  // namespace saltus::integrate::moreau
