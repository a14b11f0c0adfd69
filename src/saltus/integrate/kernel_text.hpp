// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace saltus::integrate {

/// The text of a kernel that makes motions of one model, in the common subset of C++, CUDA C++ and OpenCL C. Each
/// thread makes one motion after the other: it takes the next one from a list when its motion has ended, so that no
/// thread waits for the longest motion. moreau/moreau_kernel.hpp and event/event_kernel.hpp write such texts.
///
/// A kernel is a function without result:
///     name(const int* sizes, const double* settings, int* next, const int* list, const int* flags,
///          const double* start, double* state, double* result, int* outcome)
/// Arrays of several numbers for each motion contain number i of motion k at [i·stride + k].
///     sizes      entries of the list, stride, largest number of steps of a thread, largest number of steps of a motion
///     settings   h, t_max, energy of slow motions, level and reference of V; then for each coordinate its period (0:
///                none), and centre, lower and upper bound of the component of the level set
///     next       0; the kernel counts the entries of the list that were taken
///     list       numbers of the motions to be made or continued
///     flags      of each motion: 1 it may be captured, 2 it is continued from `state`, 4 from `result`
///     start      q, u, the parameters of the model that are not the same for all motions, and with
///                KernelRules::own_end the end time of the motion instead of t_max
///     state      of motions that are to be continued, state_size numbers each
///     result     q, u, time (KernelOutcome), T, U, and what else the kernel tells; result_size numbers each
///     outcome    KernelOutcome, number of steps; motions that no thread has taken keep what is there
struct KernelText {
    static constexpr int settings_before_coordinates = 5, settings_per_coordinate = 4;

    std::string name, text;
    int coordinates = 0, state_size = 0, result_size = 0;
    int parameters = 0;    ///< number of parameters behind q and u in `start`
    bool own_end = false;  ///< see KernelRules
    int start_size() const { return 2 * coordinates + parameters + (own_end ? 1 : 0); }
    int end_at() const { return 2 * coordinates + parameters; }  ///< place of the end time in `start`
    /// A copy for callers that need nothing of what the kernels of the two methods have beside this.
    KernelText common_part() const { return *this; }
};

/// How a motion of a kernel ended. The time of its result is that of its last step, or the begin of its rest.
enum class KernelOutcome : int {
    undecided = 0,  ///< t_max was reached
    rests = 1,      ///< slow for `KernelRules::slow_steps` steps; event-driven: slow until t_max
    candidate = 2,  ///< inside the level set; the caller must test whether it belongs to its component
    given_up = 3,   ///< the CPU must make this motion
    paused = 4,     ///< the thread has made its number of steps
    waiting = 5,    ///< not begun; what the caller writes before the first launch
    stuck = 6       ///< Moreau's scheme: a contact problem was not solved, the caller must make the next step
};

/// Numbers that decide when a motion ends, the same as those of the caller on the CPU.
struct KernelRules {
    int slow_steps = 16, steps_between_captures = 8;
    double last_step_stretch = 1e-9;
    double shortest_rest = 1e-6;  ///< event-driven: a motion rests if it was slow for more than this part of t_max
    /// Event-driven: `start` has the end time of each motion. A motion that has reached it keeps its state, and can be
    /// continued to a later time.
    bool own_end = false;
};

}  // namespace saltus::integrate
