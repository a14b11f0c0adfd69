// SPDX-License-Identifier: Apache-2.0
#include "saltus/proof/cover.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

#include "saltus/base/numbers.hpp"

namespace saltus::proof {

namespace {

/// If the lower bound is 0 then the relative tolerance never holds. The search then ends at a box over which the result
/// is known to this spread: the infimum may be attained anywhere in the box, or nowhere.
constexpr double spread_of_a_settled_zero = 1e-9;

/// w/(1 + w) with the width w; 1 for an unbounded interval.
double relative_width(const Interval& x) {
    const double w = width(x);
    return std::isfinite(w) ? w / (1.0 + w) : 1.0;
}

std::pair<Box, Box> halves(const Box& box, std::size_t side, const std::vector<double>& scale) {
    return split(box, side, 0.0, scale[side]);
}

}  // namespace

std::size_t decisive_side(const Box& box, const std::vector<double>& scale,
                          const std::function<double(const Box&)>& spread) {
    const double all = spread(box);
    const std::vector<double> c = centre(box, scale);
    std::size_t best = 0, widest = 0;
    double largest_gain = 0.0, largest_width = -1.0;
    for (std::size_t k = 0; k < box.size(); ++k) {
        if (!can_split(box, k)) continue;
        const double size = width(box[k]) / scale[k];
        if (size > largest_width) widest = k, largest_width = size;
        Box narrow = box;
        narrow[k] = Interval(c[k]);
        const double gain = all - spread(narrow);
        if (gain > largest_gain) best = k, largest_gain = gain;
    }
    return largest_gain > 0.0 ? best : widest;
}

double spread_of(const IntervalVector& v) {
    double sum = 0.0;
    for (const Interval& x : v) sum += relative_width(x);
    return sum;
}

double spread_of(const IntervalMatrix& A) {
    double sum = 0.0;
    for (int i = 0; i < A.rows(); ++i)
        for (int j = 0; j < A.cols(); ++j) sum += relative_width(A(i, j));
    return sum;
}

double spread_of(const ForceSet& forces) {
    double sum = 0.0;
    const auto add = [&](const Friction& f) {
        for (const auto& group : f.groups)
            for (const IntervalVector& v : group) sum += spread_of(v);
    };
    for (const IntervalVector& v : forces.loads) sum += spread_of(v);
    for (const Friction& f : forces.sliders) add(f);
    for (const ForceCone& c : forces.cones) {
        sum += spread_of(c.normal);
        add(c.friction);
    }
    return sum;
}

CoverProof prove_on(const AdmissibleSet& set, const std::vector<Box>& boxes, const std::vector<int>& closed, double cap,
                    const std::vector<double>& scale, const std::function<BoxTest(const Box&)>& test, long max_boxes,
                    double resolution) {
    CoverProof result;
    std::vector<Box> stack(boxes.rbegin(), boxes.rend());
    while (!stack.empty()) {
        Box box = std::move(stack.back());
        stack.pop_back();
        if (!set.contract(box, closed, cap)) continue;
        if (set.stopped()) {
            result.box = box;
            return result;
        }
        const BoxTest t = test(box);
        ++result.boxes;
        if (t.proved) continue;
        bool small = true;
        for (std::size_t k = 0; k < box.size(); ++k) small = small && width(box[k]) <= resolution * scale[k];
        if (small || result.boxes >= max_boxes || !can_split(box, t.side)) {
            result.box = t.undecided.empty() ? box : t.undecided;
            result.failed_item = t.failed_item;
            return result;
        }
        auto parts = halves(box, t.side, scale);
        stack.push_back(std::move(parts.second));
        stack.push_back(std::move(parts.first));
    }
    result.proved = true;
    return result;
}

CoverMinimum least_over(const AdmissibleSet& set, const std::vector<Box>& boxes, const std::vector<int>& closed,
                        double cap, const std::vector<double>& scale, const std::function<double(const Box&)>& bound,
                        const std::function<double(const Box&)>& value, const std::function<double(const Box&)>& spread,
                        long max_boxes, double tolerance) {
    struct Candidate {
        double bound;
        long number;
        Box box;
        bool operator<(const Candidate& other) const {
            return bound > other.bound || (bound == other.bound && number < other.number);
        }
    };
    // The box with the least lower bound comes first; its bound is a lower bound of the infimum.
    CoverMinimum result;
    std::priority_queue<Candidate> queue;
    long number = 0;
    const auto enqueue = [&](Box box) {
        if (!set.contract(box, closed, cap)) return;
        const double b = bound(box);
        if (b < infinity) queue.push({b, ++number, std::move(box)});
    };
    for (const Box& box : boxes) enqueue(box);
    while (!queue.empty()) {
        Candidate c = queue.top();
        queue.pop();
        result.lower = c.bound;
        result.box = c.box;
        result.upper = value(c.box);
        ++result.boxes;
        const bool sharp =
            c.bound > 0.0 ? result.upper - c.bound <= tolerance * c.bound : spread(c.box) <= spread_of_a_settled_zero;
        if (sharp) {
            result.settled = true;
            return result;
        }
        const std::size_t side = decisive_side(c.box, scale, spread);
        if (result.boxes >= max_boxes || set.stopped() || !can_split(c.box, side)) return result;
        auto parts = halves(c.box, side, scale);
        enqueue(std::move(parts.second));
        enqueue(std::move(parts.first));
    }
    // No box is left: the set is empty, or the function has the lower bound +∞ on all of it.
    result.lower = result.upper = infinity;
    result.settled = true;
    return result;
}

CoverMinimum least_level(const AdmissibleSet& set, const std::vector<Box>& boxes, const std::vector<double>& scale,
                         long max_boxes, double tolerance) {
    return least_over(
        set, boxes, {}, infinity, scale, [&](const Box& q) { return set.level(q).lo; },
        [&](const Box& q) { return set.level(q).hi; }, [&](const Box& q) { return relative_width(set.level(q)); },
        max_boxes, tolerance);
}

}  // namespace saltus::proof
