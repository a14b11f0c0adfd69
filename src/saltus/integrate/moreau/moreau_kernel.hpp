// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "saltus/integrate/kernel_text.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/fwd.hpp"

namespace saltus::integrate::moreau {

/// The text of a kernel that makes motions of one model by Moreau's steps (KernelText has its arguments). The
/// arithmetic is that of LaneStepper, operation by operation and without fused multiply-add. So the states have the
/// same bits as in the lanes, if the elementary functions of the device have those of the host. The result of a motion
/// that is stuck is its state.
struct MotionKernel : KernelText {
    // Places in the state.
    static constexpr int time = 0, since = 1, step_before = 2, steps = 3, slow = 4, position = 5;
    int velocity() const { return position + coordinates; }
    int impulses() const { return velocity() + coordinates; }
    std::vector<int> rows;   ///< row of the model of each impulse
    int contacts = 0;        ///< number of contacts
    int struck_before = -1;  ///< place in the state; −1 without contacts. For each contact open, holds, γ follow
};

/// Why the kernel cannot make the motions of a model, or "" if it can. In addition to what lanes refuse: explicit steps
/// of linear forces must be stable. The kernel tests other forces along each motion. `varied` are numbers of parameters
/// (Mechanics::p) that each start gives; all others have the values of the model.
std::string kernel_refusal(const model::Mechanics& model, const Moreau& method, double t_max,
                           std::span<const int> varied = {});

/// `kernel_refusal` must be empty.
MotionKernel emit_motion_kernel(const model::Mechanics& model, const Moreau& method, const KernelRules& rules,
                                std::span<const int> varied = {});

}  // namespace saltus::integrate::moreau
