// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/detail/forward.hpp"

#include <limits>
#include <utility>

#include "saltus/base/numbers.hpp"
#include "saltus/sensitivity/arc/detail/arc_flow.hpp"
#include "saltus/sensitivity/detail/probe.hpp"
#include "saltus/sensitivity/saltation/detail/grazing.hpp"

namespace saltus::sensitivity {

namespace {}  // namespace

bool forwards(const model::Mechanics& model, const integrate::Recording& recording,
              std::shared_ptr<integrate::Dynamics> dynamics, const Options& options, Sensitivity& out) {
    Tangent tangent(model, recording, out.with_respect_to, std::move(dynamics));
    if (!tangent.linearised.available()) return false;
    // One or two variables need no probe beside them.
    const bool many = out.with_respect_to.size() > 2;
    const std::vector<TimeCombination> borrowed =
        many ? borrowed_times(recording, out.motion) : std::vector<TimeCombination>();
    Probe probe(tangent, out, borrowed);
    ArcFlow flow(tangent, options.tolerance, probe.size_q, probe.size_u, ArcFlow::Use::forward_only);
    Directions directions(tangent, out);
    out.events.reserve(out.motion.events.size());
    const auto keep = [&](double t) { out.history.push_back({t, directions.state()}); };
    const std::function<void(double)> at = options.keep_history ? keep : std::function<void(double)>();
    std::size_t number = 0;
    Saltation s;
    Matrix nobody(0, tangent.columns());
    const integrate::RecordedPiece* before = nullptr;
    for (const integrate::RecordedPiece& piece : recording.pieces) {
        const auto* const last = std::exchange(before, &piece);
        if (!directions.any()) break;
        if (const auto* change = std::get_if<integrate::RecordedChange>(&piece)) {
            saltation(tangent, *change, last, s);
            directions.pass(*change, s, number == 0);
            if (many && number == 0)
                probe.start(directions);
            else if (many && s.exists)
                probe.pass(number, s);
            ++number;
            continue;
        }
        const auto& arc = std::get<integrate::RecordedArc>(piece);
        if (const NearMiss miss = near_miss(tangent, arc); !miss.text.empty())
            directions.end_all(miss.t, miss.text);
        else if (!(many ? flow.forwards(arc, probe.rows, directions.rows, at)
                        : flow.forwards(arc, directions.rows, nobody, at)))
            directions.end_all(arc.t_end, "the linearised equations cannot be integrated here");
    }
    if (const auto* arc = std::get_if<integrate::RecordedArc>(&recording.pieces.back())) {
        const Matrix coming = imminent(tangent, *arc, out.motion);
        for (Eigen::Index k = 0; k < coming.rows(); ++k)
            directions.hold_to_a_side(arc->t_end, directions.rows * coming.row(k).transpose(), 1);
    }
    for (std::size_t e = out.events.size(); e < out.motion.events.size(); ++e) {
        EventSensitivity event;
        event.event = e;
        event.dt.assign(out.with_respect_to.size(), nan);
        event.transversality = nan;
        out.events.push_back(std::move(event));
    }
    out.final = directions.state();
    for (Eigen::Index j = 0; j < out.final.cols(); ++j)
        if (!directions.lives(j)) out.final.col(j).setConstant(nan);
    out.evaluations = flow.evaluations;
    return true;
}

}  // namespace saltus::sensitivity
