// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/orbit.hpp"

namespace saltus::orbit {

OrbitCurve curve_of(const trajectory::Trajectory& motion, int samples) {
    OrbitCurve curve;
    const auto add = [&](double t, const std::vector<double>& q, const std::vector<double>& u) {
        curve.t.push_back(t);
        curve.x.push_back(q);
        curve.x.back().insert(curve.x.back().end(), u.begin(), u.end());
    };
    auto event = motion.events.begin();
    for (int k = 0; k <= samples; ++k) {
        const double t = motion.sample_time(k, samples);
        for (; event != motion.events.end() && event->t <= t; ++event) {
            add(event->t, event->q, event->u_minus);
            OrbitCurve::Mark mark{curve.t.size(), std::string(trajectory::to_string(event->kind)), {}};
            for (const int e : event->elements)
                mark.elements.push_back(motion.elements[static_cast<std::size_t>(e)].name);
            curve.events.push_back(std::move(mark));
            add(event->t, event->q_plus.empty() ? event->q : event->q_plus,
                event->u_plus.empty() ? event->u_minus : event->u_plus);
        }
        const trajectory::State s = motion.right(t);
        add(t, s.q, s.u);
    }
    return curve;
}

}  // namespace saltus::orbit
