// SPDX-License-Identifier: Apache-2.0
//
// The equilibrium set ℰ of condition 8: q with h(q, 0) + Gᵀν + Wλ = 0 for forces that the laws allow ([Leine] (86)).
// A box without equilibria is excluded by a direction that separates the load from all allowed forces (separation.hpp).
// The boxes that remain cover all equilibria. max Q over ℰ is at most the largest upper bound of Q over the connected
// pieces; the piece with that bound is split until the bound is sharp. The same holds for the lowest level of other
// sets.
#include "saltus/stability/certify/detail/level_set_equilibria.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

#include "saltus/proof/cover.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

using Piece = EquilibriumCover::Piece;

/// An extreme level is sharp if the bounds of Q over its piece differ by at most equilibrium_level_tolerance · max(|Q|,
/// smallest_split_level), and the piece is narrower than sharp_width times the scales.
constexpr double equilibrium_level_tolerance = 1e-13, smallest_split_level = 1e-6, sharp_width = 1e-6;
/// A side is split for the sake of the level only if it is at least this fraction of the widest side. A piece that is
/// thin in some directions only may be empty without being excluded.
constexpr double thinnest_split_ratio = 1.0 / 8.0;
/// Sharpening one level uses at most this fraction of the budget, and at most this number of boxes.
constexpr long sharpening_share = 4, max_sharpening_boxes = 10'000;
/// The combinations of closed gaps (2^n) and of signs of reactions (2^m) are enumerated up to these numbers.
constexpr std::size_t max_gaps = 10, max_frictional_constraints = 6;
/// The extent of a side for the resolution: its width, but at least this fraction of the scale; an unbounded side
/// counts as unbounded_extent scales.
constexpr double smallest_extent = 1e-9, unbounded_extent = 4.0;

/// Which pieces, and which end of their levels.
enum class Pieces { connected, others };
enum class Extremum { highest, lowest };

class Covering {
public:
    Covering(const AdmissibleSet& set, const std::vector<double>& scale, double cap, long budget)
        : set_(set), enclosure_(set.enclosure()), scale_(scale), cap_(cap), budget_(budget) {}

    /// Shrinks the piece. False: it is proved to have no equilibrium.
    bool may_contain_equilibrium(Piece& p) {
        ++cover.boxes;
        if (!set_.contract(p.box, p.closed, cap_)) return false;
        const std::optional<ForceSet> forces = frictional_forces(enclosure_, p.box, p.closed, p.signs);
        if (forces && separate(*forces)) return false;
        p.level = set_.level(p.box);
        return true;
    }

    /// The side whose split narrows the forces most.
    std::size_t force_side(const Piece& p) const {
        return decisive_side(p.box, scale_, [&](const Box& b) {
            const std::optional<ForceSet> f = frictional_forces(enclosure_, b, p.closed, p.signs);
            return f ? spread_of(*f) : unknown_spread;
        });
    }

    std::size_t widest(const Piece& p) const {
        std::size_t best = 0;
        for (std::size_t k = 1; k < p.box.size(); ++k)
            if (width(p.box[k]) / scale_[k] > width(p.box[best]) / scale_[best]) best = k;
        return best;
    }

    std::vector<Piece> halves(const Piece& p, std::size_t k) {
        const auto parts = split(p.box, k, 0.0, scale_[k]);
        std::vector<Piece> list;
        for (const Box& box : {parts.first, parts.second}) {
            Piece half = p;
            half.box = box;
            if (may_contain_equilibrium(half)) list.push_back(std::move(half));
        }
        return list;
    }

    /// Splits a piece until every part is excluded or smaller than resolution · extent.
    void subdivide(Piece first, double resolution, const std::vector<double>& extent) {
        std::vector<Piece> stack;
        if (may_contain_equilibrium(first)) stack.push_back(std::move(first));
        while (!stack.empty()) {
            Piece p = std::move(stack.back());
            stack.pop_back();
            bool small = true;
            for (std::size_t k = 0; k < p.box.size(); ++k)
                small = small && (width(p.box[k]) <= resolution * extent[k] || !can_split(p.box, k));
            if (small || cover.boxes >= budget_ || set_.stopped()) {
                cover.complete = cover.complete && small;
                cover.pieces.push_back(std::move(p));
                continue;
            }
            // A split along the force side excludes pieces soonest. If that side is small enough already, the side
            // that is largest relative to its extent is split: it decides which pieces touch.
            std::size_t k = force_side(p);
            if (width(p.box[k]) <= resolution * extent[k]) {
                double largest = 0.0;
                for (std::size_t j = 0; j < p.box.size(); ++j)
                    if (can_split(p.box, j) && width(p.box[j]) / extent[j] > largest)
                        largest = width(p.box[j]) / extent[j], k = j;
            }
            for (Piece& half : halves(p, k)) stack.push_back(std::move(half));
        }
    }

    /// A proved bound of the extreme level of some pieces, and the piece that has it. No pieces: 0 for the highest
    /// level, +∞ for the lowest, without a box.
    struct Extreme {
        double level;
        Box box;
    };
    /// Splits the piece with the extreme bound, again and again, until its level is sharp or cannot be improved.
    Extreme sharpen(Pieces which, Extremum extremum) {
        const bool up = extremum == Extremum::highest, connected = which == Pieces::connected;
        const long limit = cover.boxes + std::min(budget_ / sharpening_share, max_sharpening_boxes);
        struct Ranked {
            double level;
            std::size_t piece;
            bool operator<(const Ranked& other) const {
                return level < other.level || (level == other.level && piece < other.piece);
            }
        };
        std::priority_queue<Ranked> queue;
        const auto rank = [&](std::size_t k) {
            const Interval& level = cover.pieces[k].level;
            queue.push({up ? level.hi : -level.lo, k});
        };
        for (std::size_t k = 0; k < cover.pieces.size(); ++k)
            if (cover.pieces[k].connected == connected) rank(k);
        std::vector<bool> gone(cover.pieces.size(), false);
        Extreme extreme{up ? 0.0 : Interval::infinity, {}};
        while (!queue.empty()) {
            const std::size_t best = queue.top().piece;
            const Piece p = cover.pieces[best];
            extreme = {up ? p.level.hi : p.level.lo, p.box};
            const double size = std::max(std::fabs(p.level.lo), smallest_split_level);
            std::size_t k = decisive_side(p.box, scale_, [&](const Box& b) {
                const Interval level = set_.level(b);
                return width(level) / (1.0 + width(level));
            });
            const std::size_t w = widest(p);
            const double widest_width = width(p.box[w]) / scale_[w];
            if (!can_split(p.box, k) || width(p.box[k]) / scale_[k] < widest_width * thinnest_split_ratio) k = w;
            const bool sharp = width(p.level) <= equilibrium_level_tolerance * size && widest_width <= sharp_width;
            if (sharp || !can_split(p.box, k) || cover.boxes >= limit || set_.stopped()) break;
            queue.pop();
            gone[best] = true;
            for (Piece& half : halves(p, k)) {
                cover.pieces.push_back(std::move(half));
                gone.push_back(false);
                rank(cover.pieces.size() - 1);
            }
        }
        if (queue.empty()) extreme = {up ? 0.0 : Interval::infinity, {}};
        std::vector<Piece> left;
        for (std::size_t k = 0; k < cover.pieces.size(); ++k)
            if (!gone[k]) left.push_back(std::move(cover.pieces[k]));
        cover.pieces = std::move(left);
        return extreme;
    }

    /// Marks the pieces that are connected to the start.
    void find_connected(const Box& start) {
        std::vector<std::size_t> queue;
        for (std::size_t k = 0; k < cover.pieces.size(); ++k)
            if (touch(cover.pieces[k].box, start)) cover.pieces[k].connected = true, queue.push_back(k);
        while (!queue.empty()) {
            const std::size_t k = queue.back();
            queue.pop_back();
            for (std::size_t j = 0; j < cover.pieces.size(); ++j)
                if (!cover.pieces[j].connected && touch(cover.pieces[k].box, cover.pieces[j].box))
                    cover.pieces[j].connected = true, queue.push_back(j);
        }
    }

    EquilibriumCover cover;

private:
    const AdmissibleSet& set_;
    const Enclosure& enclosure_;
    const std::vector<double>& scale_;
    double cap_;
    long budget_;
};

}  // namespace

EquilibriumCover cover_equilibria(const AdmissibleSet& set, const std::vector<double>& scale,
                                  const CoverRequest& request) {
    const Enclosure& e = set.enclosure();
    std::vector<double> extent;
    for (std::size_t k = 0; k < request.domain.size(); ++k) {
        const double w = width(request.domain[k]);
        extent.push_back(std::isfinite(w) ? std::max(w, smallest_extent * scale[k]) : unbounded_extent * scale[k]);
    }
    std::vector<int> gaps;
    for (int r = e.constraints(); r < e.positions(); ++r) gaps.push_back(r);
    const std::size_t frictional = frictional_constraints(e).size();
    Covering covering(set, scale, request.cap, request.budget);
    EquilibriumCover& cover = covering.cover;
    if (gaps.size() > max_gaps || frictional > max_frictional_constraints) {
        cover.covers = cover.complete = cover.bounded = false;
        return std::move(cover);
    }
    for (unsigned mask = 0; mask < (1U << gaps.size()); ++mask)
        for (unsigned sign = 0; sign < (1U << frictional); ++sign) {
            Piece p;
            p.closed = subset(gaps, mask);
            p.signs = signs_of(sign, frictional);
            p.box = request.domain;
            covering.subdivide(std::move(p), request.resolution, extent);
        }
    covering.find_connected(request.start);
    for (const Piece& p : cover.pieces)
        if (p.connected) cover.bounded = cover.bounded && bounded(p.box);
    const auto highest = covering.sharpen(Pieces::connected, Extremum::highest);
    cover.highest = highest.level;
    cover.highest_box = highest.box;
    if (request.levels == WantedLevels::highest_and_lowest) {
        const auto lowest = covering.sharpen(Pieces::connected, Extremum::lowest);
        cover.lowest = lowest.level;
        cover.lowest_box = lowest.box;
    }
    const auto lowest_other = covering.sharpen(Pieces::others, Extremum::lowest);
    cover.lowest_other = lowest_other.level;
    cover.lowest_other_box = lowest_other.box;
    return std::move(cover);
}

}  // namespace saltus::stability
