// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/level_set_equilibria.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

namespace saltus::stability {

using namespace saltus::proof;

namespace {

using Piece = EquilibriumCover::Piece;

constexpr double tolerance = 1e-13;

class Covering {
public:
    Covering(const AdmissibleSet& set, const std::vector<double>& scale, double cap, long budget)
        : set_(set), enclosure_(set.enclosure()), scale_(scale), cap_(cap), budget_(budget) {}

    /// False: no equilibrium in it. The box shrinks.
    bool possible(Piece& p) {
        ++cover.boxes;
        if (!set_.contract(p.box, p.closed, cap_)) return false;
        const std::optional<ForceSet> forces = statics(enclosure_, p.box, p.closed, {true, p.signs});
        if (forces && separate(*forces)) return false;
        p.level = set_.level(p.box);
        return true;
    }

    std::size_t side(const Piece& p) const {
        return decisive_side(p.box, scale_, [&](const Box& b) {
            const std::optional<ForceSet> f = statics(enclosure_, b, p.closed, {true, p.signs});
            return f ? spread_of(*f) : 1e300;
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
            if (possible(half)) list.push_back(std::move(half));
        }
        return list;
    }

    void cut(Piece first, double resolution, const std::vector<double>& extent) {
        std::vector<Piece> stack;
        if (possible(first)) stack.push_back(std::move(first));
        while (!stack.empty()) {
            Piece p = std::move(stack.back());
            stack.pop_back();
            bool small = true;
            for (std::size_t k = 0; k < p.box.size(); ++k)
                small = small && (width(p.box[k]) <= resolution * extent[k] || !can_split(p.box, k));
            if (small || cover.boxes >= budget_) {
                cover.complete = cover.complete && small;
                cover.pieces.push_back(std::move(p));
                continue;
            }
            // Widths decide how pieces hang together, intervals of forces how soon they are excluded.
            std::size_t k = side(p);
            if (width(p.box[k]) <= resolution * extent[k]) {
                double most = 0.0;
                for (std::size_t j = 0; j < p.box.size(); ++j)
                    if (can_split(p.box, j) && width(p.box[j]) / extent[j] > most)
                        most = width(p.box[j]) / extent[j], k = j;
            }
            for (Piece& half : halves(p, k)) stack.push_back(std::move(half));
        }
    }

    /// The extreme level of the pieces with the given flag: the piece that has it is cut until nothing is gained.
    struct Extreme {
        double level;
        Box box;
    };
    Extreme sharpen(bool own, bool up) {
        const long limit = cover.boxes + std::min(budget_ / 4, 10'000L);
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
            if (cover.pieces[k].own == own) rank(k);
        std::vector<bool> gone(cover.pieces.size(), false);
        Extreme extreme{up ? 0.0 : Interval::infinity, {}};
        while (!queue.empty()) {
            const std::size_t best = queue.top().piece;
            const Piece p = cover.pieces[best];
            extreme = {up ? p.level.hi : p.level.lo, p.box};
            const double size = std::max(std::fabs(p.level.lo), 1e-6);
            std::size_t k = decisive_side(p.box, scale_, [&](const Box& b) {
                const Interval level = set_.level(b);
                return width(level) / (1.0 + width(level));
            });
            // A box that is thin in some directions alone may have nothing in it.
            const std::size_t w = widest(p);
            const double most = width(p.box[w]) / scale_[w];
            if (!can_split(p.box, k) || width(p.box[k]) / scale_[k] < most / 8.0) k = w;
            const bool sharp = width(p.level) <= tolerance * size && most <= 1e-6;
            if (sharp || !can_split(p.box, k) || cover.boxes >= limit) break;
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

    void sort(const Box& start) {
        std::vector<std::size_t> queue;
        for (std::size_t k = 0; k < cover.pieces.size(); ++k)
            if (touch(cover.pieces[k].box, start)) cover.pieces[k].own = true, queue.push_back(k);
        while (!queue.empty()) {
            const std::size_t k = queue.back();
            queue.pop_back();
            for (std::size_t j = 0; j < cover.pieces.size(); ++j)
                if (!cover.pieces[j].own && touch(cover.pieces[k].box, cover.pieces[j].box))
                    cover.pieces[j].own = true, queue.push_back(j);
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
        extent.push_back(std::isfinite(w) ? std::max(w, 1e-9 * scale[k]) : 4.0 * scale[k]);
    }
    std::vector<int> gaps;
    for (int r = e.constraints(); r < e.positions(); ++r) gaps.push_back(r);
    const std::size_t frictional = frictional_constraints(e).size();
    Covering covering(set, scale, request.cap, request.budget);
    EquilibriumCover& cover = covering.cover;
    if (gaps.size() > 10 || frictional > 6) {
        cover.complete = false;
        return std::move(cover);
    }
    for (unsigned mask = 0; mask < (1U << gaps.size()); ++mask)
        for (unsigned sign = 0; sign < (1U << frictional); ++sign) {
            Piece p;
            p.closed = PositionTests::subset(gaps, mask);
            for (std::size_t k = 0; k < frictional; ++k) p.signs.push_back((sign >> k & 1U) != 0 ? -1 : 1);
            p.box = request.domain;
            covering.cut(std::move(p), request.resolution, extent);
        }
    covering.sort(request.start);
    for (const Piece& p : cover.pieces)
        if (p.own) cover.bounded = cover.bounded && bounded(p.box);
    const auto highest = covering.sharpen(true, true);
    cover.highest = highest.level;
    cover.highest_box = highest.box;
    if (request.bottom) {
        const auto bottom = covering.sharpen(true, false);
        cover.bottom = bottom.level;
        cover.bottom_box = bottom.box;
    }
    const auto lowest = covering.sharpen(false, false);
    cover.lowest = lowest.level;
    cover.lowest_box = lowest.box;
    return std::move(cover);
}

}  // namespace saltus::stability
