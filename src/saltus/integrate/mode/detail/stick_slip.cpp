// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/mode/detail/stick_slip.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/model.hpp"

namespace saltus::integrate {

SlipDirection break_loose(const Dynamics& d, int part_number) {
    const FrictionPart& part = d.parts()[ix(part_number)];
    const std::span<const double> force = d.reactions().subspan(ix(part.row), ix(part.size));
    double length = 0.0;
    for (const double f : force) length = std::hypot(length, f);
    SlipDirection direction = d.mode().parts[ix(part_number)].direction;
    for (std::size_t k = 0; k < force.size(); ++k) direction[k] = length > 0.0 ? -force[k] / length : 0.0;
    return direction;
}

bool comes_to_rest(const Dynamics& d, int part) {
    return d.parts()[ix(part)].size == 1 || d.slip_speed(part) < Thresholds::rest_speed;
}

VelocityDecision decide_by_velocity(const Dynamics& d, int part_number, std::span<const double> u, FrictionEvent event,
                                    const FrictionMode& before) {
    const FrictionPart& part = d.parts()[ix(part_number)];
    const double speed = d.slip_speed(part_number);
    double scale = 0.0;
    for (int r = 0; r < part.size; ++r)
        scale = std::max(scale, model::row_scale(d.model().layout().rows, d.terms().W, part.row + r, u));
    const bool moves = speed > Thresholds::slip_speed * scale && event != FrictionEvent::at_rest;
    FrictionMode mode = before;
    if (moves)
        for (int r = 0; r < part.size; ++r) mode.direction[ix(r)] = d.slip_velocity(part_number)[r] / speed;
    mode.slips = moves || event == FrictionEvent::breaks_loose || part.frictionless();
    return {mode, mode.slips};
}

FrictionMode stick_or_slip(const FrictionMode& before, std::span<const double> acceleration, double negligible) {
    double rate = 0.0;
    for (const double a : acceleration) rate = std::hypot(rate, a);
    FrictionMode mode = before;
    mode.slips = rate > negligible;
    if (mode.slips)
        for (std::size_t i = 0; i < acceleration.size(); ++i) mode.direction[i] = acceleration[i] / rate;
    return mode;
}

}  // namespace saltus::integrate
