// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/penalty/motion_distance.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "saltus/ode/roots.hpp"

namespace saltus::control {

namespace {

/// A step of the dense output, cut off at the end of its arc.
struct Piece {
    double from, to;
    const ode::Dense* step;
};

std::vector<Piece> pieces(const trajectory::Trajectory& motion) {
    std::vector<Piece> list;
    for (const trajectory::Arc& arc : motion.arcs)
        for (const ode::Dense& step : arc.steps)
            for (const ode::StepPart part : ode::StepParts(step, arc.t_end))
                list.push_back({part.from, part.to, &step});
    return list;
}

}  // namespace

MotionDistance distance(const trajectory::Trajectory& a, const trajectory::Trajectory& b) {
    MotionDistance out;
    const std::vector<Piece> first = pieces(a), second = pieces(b);
    const int n = static_cast<int>(a.start.q.size());
    std::vector<ode::Root> roots;
    for (std::size_t i = 0, j = 0; i < first.size() && j < second.size();) {
        const Piece &x = first[i], &y = second[j];
        const double from = std::max(x.from, y.from), to = std::min(x.to, y.to);
        for (int c = 0; c < 2 * n && to > from; ++c) {
            const auto difference = [&](double t) { return x.step->component(c, t) - y.step->component(c, t); };
            const auto rate = [&](double t) {
                return c < n ? x.step->component(c + n, t) - y.step->component(c + n, t)
                             : x.step->component_derivative(c, t) - y.step->component_derivative(c, t);
            };
            const auto consider = [&](double t) {
                const double value = std::abs(difference(t));
                double& largest = c < n ? out.q : out.u;
                if (!(value > largest)) return;
                largest = value;
                (c < n ? out.q_at : out.u_at) = t;
                (c < n ? out.q_of : out.u_of) = c % n;
            };
            consider(from);
            consider(to);
            roots.clear();
            ode::find_roots(rate, from, to, {}, roots);
            for (const ode::Root& r : roots) consider(r.t);
        }
        (x.to <= y.to ? i : j) += 1;
    }
    return out;
}

}  // namespace saltus::control
