// SPDX-License-Identifier: Apache-2.0
#include "saltus/proof/level_search.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

namespace saltus::proof {

namespace {

struct Candidate {
    double level;
    long number;  // later ones first among equals: go deep, not wide
    Box box;

    bool operator<(const Candidate& other) const {
        return level > other.level || (level == other.level && number < other.number);
    }
};

class Search {
public:
    Search(const AdmissibleSet& set, const Box& start, const std::vector<double>& scale,
           const std::function<BoxTest(const Box&)>& test, const LevelSearchOptions& options)
        : set_(set), start_(start), scale_(scale), test_(test), options_(options) {}

    LevelSearch run() {
        place(options_.domain.empty() ? whole_space(start_.size()) : options_.domain);
        while (!connected_.empty()) {
            Candidate c = connected_.top();
            connected_.pop();
            result_.level = std::max(result_.level, c.level);
            if (result_.level >= options_.cap) {
                result_.level = options_.cap;
                return finish(LevelSearch::End::cap);
            }
            if (++result_.boxes > options_.budget) return finish(LevelSearch::End::budget);
            const BoxTest t = test_(c.box);
            if (t.proved) {
                reach(std::move(c.box));
                continue;
            }
            if (final(t, c)) {
                result_.box = t.open;
                result_.which = t.which;
                return finish(LevelSearch::End::found);
            }
            const std::size_t side = can_split(c.box, t.side) ? t.side : widest(c.box);
            if (!can_split(c.box, side)) {
                result_.box = t.open;
                result_.which = t.which;
                return finish(LevelSearch::End::found);
            }
            const auto halves = split(c.box, side, midpoint(start_[side]), scale_[side]);
            place(halves.first);
            place(halves.second);
        }
        result_.level = options_.cap;
        return finish(options_.cap < Interval::infinity ? LevelSearch::End::cap : LevelSearch::End::everywhere);
    }

private:
    void place(Box box) {
        if (!set_.contract(box, {}, options_.cap)) return;
        const double level = std::max(0.0, set_.level(box).lo);
        Candidate c{level, ++number_, std::move(box)};
        const bool touches = touch(c.box, start_) || std::any_of(result_.cover.begin(), result_.cover.end(),
                                                                 [&](const Box& other) { return touch(c.box, other); });
        if (touches)
            connected_.push(std::move(c));
        else
            waiting_.push_back(std::move(c));
    }

    void reach(Box box) {
        std::size_t kept = 0;
        for (std::size_t k = 0; k < waiting_.size(); ++k) {
            if (touch(waiting_[k].box, box))
                connected_.push(std::move(waiting_[k]));
            else {
                if (kept != k) waiting_[kept] = std::move(waiting_[k]);
                ++kept;
            }
        }
        waiting_.resize(kept);
        result_.cover.push_back(std::move(box));
    }

    /// Nothing can be gained any more: the levels in the open box are all the same.
    bool final(const BoxTest& t, const Candidate& c) const {
        const Interval level = set_.level(t.open);
        return level.hi - c.level <= options_.tolerance * std::fabs(c.level) || level.hi <= 1e-9 * options_.scale;
    }

    std::size_t widest(const Box& box) const {
        std::size_t best = 0;
        double most = -1.0;
        for (std::size_t k = 0; k < box.size(); ++k) {
            const double size = width(box[k]) / scale_[k];
            if (can_split(box, k) && size > most) best = k, most = size;
        }
        return best;
    }

    /// What of the box lies below the level does not reach infinity: far out nothing is left.
    bool stays_bounded(const Box& box) const {
        if (bounded(box)) return true;
        if (!(result_.level < Interval::infinity)) return false;
        for (std::size_t k = 0; k < box.size(); ++k)
            for (const double sign : {-1.0, 1.0}) {
                if (std::isfinite(sign < 0.0 ? box[k].lo : box[k].hi)) continue;
                bool empty = false;
                for (double away = scale_[k]; !empty && away < 1e12 * scale_[k]; away *= 4.0) {
                    Box outer = box;
                    const double at = midpoint(start_[k]) + sign * away;
                    const std::optional<Interval> side = intersection(
                        box[k], sign < 0.0 ? Interval(-Interval::infinity, at) : Interval(at, Interval::infinity));
                    if (!side) continue;
                    outer[k] = *side;
                    empty = !set_.contract(outer, {}, result_.level);
                }
                if (!empty) return false;
            }
        return true;
    }

    LevelSearch finish(LevelSearch::End end) {
        result_.end = end;
        for (const Box& box : result_.cover) result_.bounded = result_.bounded && stays_bounded(box);
        return std::move(result_);
    }

    const AdmissibleSet& set_;
    const Box& start_;
    const std::vector<double>& scale_;
    const std::function<BoxTest(const Box&)>& test_;
    const LevelSearchOptions& options_;
    std::priority_queue<Candidate> connected_;
    std::vector<Candidate> waiting_;
    long number_ = 0;
    LevelSearch result_;
};

}  // namespace

LevelSearch search_level(const AdmissibleSet& set, const Box& start, const std::vector<double>& scale,
                         const std::function<BoxTest(const Box&)>& test, const LevelSearchOptions& options) {
    return Search(set, start, scale, test, options).run();
}

}  // namespace saltus::proof
