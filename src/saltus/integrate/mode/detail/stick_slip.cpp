// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/mode/detail/stick_slip.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/sets/contensou.hpp"

namespace saltus::integrate {

namespace {

/// A vector along the outward normal of the set of a part with the load `load`, at the point `force` of its boundary.
SlipDirection outward_normal(const FrictionPart& part, double load, std::span<const double> force) {
    SlipDirection normal{};
    std::copy(force.begin(), force.end(), normal.begin());
    // The ellipse is (f₁/μ₁)² + (f₂/μ₂)² = const, with a normal along its gradient (f₁/μ₁², f₂/μ₂²).
    if (part.shape == FrictionPart::Shape::ellipse && part.mu > 0.0 && part.mu_second > 0.0) {
        const double ratio = part.mu / part.mu_second;
        normal[1] *= ratio * ratio;
    }
    // A point x outside the patch differs from its nearest point by a multiple of the normal. x is so near that the
    // normal hardly turns between x and the force, and so far that the difference has enough digits.
    if (part.shape == FrictionPart::Shape::patch) {
        constexpr double outside = 1.0 + 1e-6;  // x = outside · force
        double nearest[3], distance = 0.0;
        const double point[3] = {outside * force[0], outside * force[1], outside * force[2]};
        sets::Contensou(part.mu * load, part.radius).project(point, nearest);
        for (int i = 0; i < 3; ++i) distance = std::hypot(distance, point[i] - nearest[i]);
        for (int i = 0; i < 3 && distance > 0.0; ++i) normal[ix(i)] = (point[i] - nearest[i]) / distance;
    }
    return normal;
}

}  // namespace

SlipDirection break_loose(const Dynamics& d, int part_number) {
    const FrictionPart& part = d.parts()[ix(part_number)];
    const SlipDirection normal =
        outward_normal(part, d.load(part.element), d.reactions().subspan(ix(part.row), ix(part.size)));
    double length = 0.0;
    for (int k = 0; k < part.size; ++k) length = std::hypot(length, normal[ix(k)]);
    SlipDirection direction = d.mode().parts[ix(part_number)].direction;
    for (int k = 0; k < part.size; ++k) direction[ix(k)] = length > 0.0 ? -normal[ix(k)] / length : 0.0;
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
