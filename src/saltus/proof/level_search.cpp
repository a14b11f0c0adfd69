// SPDX-License-Identifier: Apache-2.0
#include "saltus/proof/level_search.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

namespace saltus::proof {

namespace {

/// A box that waits for its test.
struct Candidate {
    double level;  // lower bound of Q over the box
    long number;   // in the order of creation; among equal levels the latest box comes first (depth first)
    Box box;

    /// The order of std::priority_queue: the top has the least level.
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
        enqueue(options_.domain.empty() ? whole_space(start_.size()) : options_.domain);
        while (!connected_.empty()) {
            Candidate c = connected_.top();
            connected_.pop();
            result_.level = std::max(result_.level, c.level);
            if (result_.level >= options_.cap) {
                result_.level = options_.cap;
                return finish(LevelSearch::End::cap);
            }
            if (++result_.boxes > options_.budget || set_.stopped()) return finish(LevelSearch::End::budget);
            const BoxTest t = test_(c.box);
            if (t.proved) {
                add_to_cover(std::move(c.box));
                continue;
            }
            const std::size_t side = can_split(c.box, t.side) ? t.side : widest(c.box);
            if (level_is_sharp(t, c) || !can_split(c.box, side)) {
                result_.box = t.undecided;
                result_.failed_item = t.failed_item;
                return finish(LevelSearch::End::found);
            }
            const auto halves = split(c.box, side, midpoint(start_[side]), scale_[side]);
            enqueue(halves.first);
            enqueue(halves.second);
        }
        // Every reached box is proved: the component ends below the cap.
        result_.level = options_.cap;
        return finish(options_.cap < Interval::infinity ? LevelSearch::End::cap : LevelSearch::End::everywhere);
    }

private:
    /// Contracts the box to its admissible points. Puts it into the queue if it is reached, otherwise aside.
    void enqueue(Box box) {
        if (!set_.contract(box, {}, options_.cap)) return;
        const double level = std::max(0.0, set_.level(box).lo);
        Candidate c{level, ++number_, std::move(box)};
        const bool touches =
            options_.all_components || touch(c.box, start_) ||
            std::any_of(result_.cover.begin(), result_.cover.end(), [&](const Box& b) { return touch(c.box, b); });
        if (touches)
            connected_.push(std::move(c));
        else
            waiting_.push_back(std::move(c));
    }

    /// The property is proved on the box: boxes that touch it are reached now.
    void add_to_cover(Box box) {
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

    /// Splitting cannot raise the result: all levels in the undecided box are equal to the tolerance, or count as 0.
    bool level_is_sharp(const BoxTest& t, const Candidate& c) const {
        const Interval level = set_.level(t.undecided);
        return level.hi - c.level <= options_.tolerance * std::fabs(c.level) ||
               level.hi <= zero_level_ratio * options_.scale;
    }

    std::size_t widest(const Box& box) const {
        std::size_t best = 0;
        double largest = -1.0;
        for (std::size_t k = 0; k < box.size(); ++k) {
            const double size = width(box[k]) / scale_[k];
            if (can_split(box, k) && size > largest) best = k, largest = size;
        }
        return best;
    }

    /// Proves that { Q < level } is bounded inside an unbounded box: along every unbounded side k the part beyond some
    /// distance is proved to have no admissible point below the level. The distance grows by the factor 4 from
    /// scale[k] to 1e12 scale[k].
    bool stays_bounded(const Box& box) const {
        constexpr double farthest = 1e12, growth = 4.0;
        if (bounded(box)) return true;
        if (!(result_.level < Interval::infinity)) return false;
        for (std::size_t k = 0; k < box.size(); ++k)
            for (const double sign : {-1.0, 1.0}) {
                if (std::isfinite(sign < 0.0 ? box[k].lo : box[k].hi)) continue;
                bool empty = false;
                for (double away = scale_[k]; !empty && away < farthest * scale_[k]; away *= growth) {
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
    std::priority_queue<Candidate> connected_;  // reached boxes
    std::vector<Candidate> waiting_;            // boxes that are not reached
    long number_ = 0;
    LevelSearch result_;
};

}  // namespace

LevelSearch search_level(const AdmissibleSet& set, const Box& start, const std::vector<double>& scale,
                         const std::function<BoxTest(const Box&)>& test, const LevelSearchOptions& options) {
    return Search(set, start, scale, test, options).run();
}

}  // namespace saltus::proof
