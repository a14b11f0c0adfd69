// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/model/mechanics.hpp"
#include "saltus/model/support.hpp"
#include "saltus/stability/certify/detail/witnesses.hpp"
#include "saltus/stability/equilibria/equilibrium_point.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

/// A computed position is an equilibrium if its margin (EquilibriumPoint::margin) is above −boundary_margin: a witness
/// may lie on the boundary of the set, where the margin is 0 up to rounding.
constexpr double boundary_margin = 1e-9;
/// A level ρ counts as reached at V >= (1 − level_rounding) ρ: ℰ may end at ρ* exactly.
constexpr double level_rounding = 1e-6;
/// A gap of a box's centre below this part of its scale was meant to be closed. Afterwards it is closed to rounding.
constexpr double nearly_closed = 1e-6;
/// The path from q_e to a position has positions_on_path steps, and at most extension_steps lead further. If a step is
/// longer than longest_step_ratio times the mean step, then it has left the path.
constexpr int positions_on_path = 64, extension_steps = 192;
constexpr double longest_step_ratio = 8.0;
constexpr int bisections = 40;
/// Largest number of boxes of the cover that are tried.
constexpr std::size_t max_tried_boxes = 48;
/// Near the middle of each face of a box, at this part of the way from its centre: the box is a little larger than the
/// equilibria in it.
constexpr double towards_face = 0.99;

std::vector<std::vector<double>> tried_positions(const Box& box) {
    std::vector<std::vector<double>> list{centre(box)};
    for (std::size_t k = 0; k < box.size(); ++k)
        for (const double end : {box[k].lo, box[k].hi}) {
            std::vector<double> q = list.front();
            q[k] += towards_face * (end - q[k]);
            if (q[k] != list.front()[k]) list.push_back(std::move(q));
        }
    return list;
}

/// Paths of equilibria that start at q_e.
class Paths {
public:
    explicit Paths(const ConditionScope& scope) : scope_(scope), resting_(scope.model()), from_(scope.equilibrium.q) {}

    /// The highest position on the way to `towards` and beyond it, as far as all positions are equilibria: the way may
    /// end before `towards`, which is the centre of a box that reaches beyond ℰ. `closed` are the gaps that are closed
    /// at `towards`.
    ///
    /// Each step leads from the last position straight on and then back to the rows, so that the path may be curved.
    std::vector<double> highest(Vector towards, const std::vector<int>& closed) {
        rows_ = shared_rows(closed);
        towards = onto_rows(scope_.enclosure(), towards, rows_);
        const double longest = longest_step_ratio * (towards - from_).norm() / positions_on_path;
        if (!(longest > 0.0)) return {};
        Vector q = from_, step = Vector::Zero(from_.size()), best = from_;
        const auto go = [&](const Vector& next) {
            step = next - q;
            q = next;
            if (level(list_of(q)) > level(list_of(best))) best = q;
        };
        for (int k = 0; k < positions_on_path; ++k) {
            const Vector next = onto_rows(scope_.enclosure(), q + (towards - q) / (positions_on_path - k), rows_);
            if ((next - q).norm() > longest) return list_of(best);
            if (!rests(next)) {
                go(boundary(q, next - q));
                return list_of(best);
            }
            go(next);
        }
        for (int k = 0; k < extension_steps; ++k) {
            const Vector next = onto_rows(scope_.enclosure(), q + step, rows_);
            if ((next - q).norm() > longest) break;
            if (!rests(next)) {
                go(boundary(q, step));
                break;
            }
            go(next);
        }
        return list_of(best);
    }

    /// The gaps of a position that are closed up to nearly_closed.
    std::vector<int> closed_at(const std::vector<double>& q) const {
        const Enclosure& e = scope_.enclosure();
        const IntervalVector gaps = e.position_values(point_box(q));
        std::vector<int> closed;
        for (int r = e.constraints(); r < e.positions(); ++r)
            if (std::fabs(expr::midpoint(gaps[static_cast<std::size_t>(r)])) <=
                nearly_closed * (1.0 + vector_of(q).norm()))
                closed.push_back(r);
        return closed;
    }

    double level(const std::vector<double>& q) const { return expr::midpoint(scope_.set.level(point_box(q))); }

private:
    /// All constraints, and the gaps among `closed` that are closed at q_e too.
    std::vector<int> shared_rows(const std::vector<int>& closed) const {
        std::vector<int> rows;
        for (int r = 0; r < scope_.enclosure().constraints(); ++r) rows.push_back(r);
        for (const int r : scope_.equilibrium.closed)
            if (std::find(closed.begin(), closed.end(), r) != closed.end()) rows.push_back(r);
        return rows;
    }

    /// The last equilibrium between q, which is one, and q + step, which is not. It is not beyond the edge by rounding
    /// errors: the forces that hold it lie in their sets. If there is none of this kind then it is q.
    Vector boundary(const Vector& q, const Vector& step) {
        double reached = 0.0, beyond = 1.0;
        for (int k = 0; k < bisections; ++k) {
            const double middle = 0.5 * (reached + beyond);
            (inside(onto_rows(scope_.enclosure(), q + middle * step, rows_)) ? reached : beyond) = middle;
        }
        return onto_rows(scope_.enclosure(), q + reached * step, rows_);
    }

    bool inside(const Vector& q) {
        const EquilibriumPoint p = equilibrium_at(resting_, q, {false});
        return p.admissible && p.is_equilibrium && p.margin >= 0.0;
    }

    bool rests(const Vector& q) {
        const EquilibriumPoint p = equilibrium_at(resting_, q, {false});
        return p.admissible && (p.is_equilibrium || p.margin > -boundary_margin);
    }

    const ConditionScope& scope_;
    RestingModel resting_;
    Vector from_;
    std::vector<int> rows_;  // that the path follows
};

}  // namespace

Witness high_equilibrium(const ConditionScope& scope, const EquilibriumCover& cover, double rho) {
    if (!model::unsupported(scope.model(), model::Analysis::equilibrium_sets).empty()) return {};
    std::vector<const EquilibriumCover::Piece*> pieces;
    for (const EquilibriumCover::Piece& p : cover.pieces)
        if (p.connected && p.level.hi >= rho) pieces.push_back(&p);
    // Boxes with the same closed gaps as q_e are the most likely ones to belong to its set.
    const auto shared = [&](const EquilibriumCover::Piece* p) {
        const std::vector<int>& own = scope.equilibrium.closed;
        return std::count_if(own.begin(), own.end(), [&](int r) {
            return std::find(p->closed.begin(), p->closed.end(), r) != p->closed.end();
        });
    };
    std::stable_sort(pieces.begin(), pieces.end(), [&](const auto* a, const auto* b) {
        return shared(a) != shared(b) ? shared(a) > shared(b) : a->level.hi > b->level.hi;
    });
    if (pieces.size() > max_tried_boxes) pieces.resize(max_tried_boxes);
    Paths paths(scope);
    const auto witness = [&](const std::vector<double>& towards, const std::vector<int>& closed) -> Witness {
        const std::vector<double> q = paths.highest(vector_of(towards), closed);
        if (q.empty() || !(paths.level(q) >= rho * (1.0 - level_rounding))) return {};
        return {q, std::vector<double>(q.size(), 0.0), {{"V", paths.level(q)}}};
    };
    const std::vector<double> top = centre(cover.highest_box);
    if (Witness w = witness(top, paths.closed_at(top)); w.given()) return w;
    for (const EquilibriumCover::Piece* p : pieces) {
        if (!bounded(p->box)) continue;
        for (const std::vector<double>& towards : tried_positions(p->box))
            if (Witness w = witness(towards, p->closed); w.given()) return w;
    }
    return {};
}

}  // namespace saltus::stability
