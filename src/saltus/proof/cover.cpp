// SPDX-License-Identifier: Apache-2.0
#include "saltus/proof/cover.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

namespace saltus::proof {

namespace {

constexpr double inf = Interval::infinity;

double share(const Interval& x) {
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
    double most = 0.0, most_width = -1.0;
    for (std::size_t k = 0; k < box.size(); ++k) {
        if (!can_split(box, k)) continue;
        const double size = width(box[k]) / scale[k];
        if (size > most_width) widest = k, most_width = size;
        Box narrow = box;
        narrow[k] = Interval(c[k]);
        const double gain = all - spread(narrow);
        if (gain > most) best = k, most = gain;
    }
    return most > 0.0 ? best : widest;
}

double spread_of(const IntervalVector& v) {
    double sum = 0.0;
    for (const Interval& x : v) sum += share(x);
    return sum;
}

double spread_of(const IntervalMatrix& A) {
    double sum = 0.0;
    for (int i = 0; i < A.rows(); ++i)
        for (int j = 0; j < A.cols(); ++j) sum += share(A(i, j));
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
                    const std::vector<double>& scale, const std::function<BoxTest(const Box&)>& test, long most,
                    double resolution) {
    CoverProof result;
    std::vector<Box> stack(boxes.rbegin(), boxes.rend());
    while (!stack.empty()) {
        Box box = std::move(stack.back());
        stack.pop_back();
        if (!set.contract(box, closed, cap)) continue;
        const BoxTest t = test(box);
        ++result.boxes;
        if (t.proved) continue;
        bool small = true;
        for (std::size_t k = 0; k < box.size(); ++k) small = small && width(box[k]) <= resolution * scale[k];
        if (small || result.boxes >= most || !can_split(box, t.side)) {
            result.box = t.open.empty() ? box : t.open;
            result.which = t.which;
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
                        long most, double tolerance) {
    struct Candidate {
        double bound;
        long number;
        Box box;
        bool operator<(const Candidate& other) const {
            return bound > other.bound || (bound == other.bound && number < other.number);
        }
    };
    CoverMinimum result;
    std::priority_queue<Candidate> queue;
    long number = 0;
    const auto place = [&](Box box) {
        if (!set.contract(box, closed, cap)) return;
        const double b = bound(box);
        if (b < inf) queue.push({b, ++number, std::move(box)});
    };
    for (const Box& box : boxes) place(box);
    while (!queue.empty()) {
        Candidate c = queue.top();
        queue.pop();
        result.lower = c.bound;
        result.box = c.box;
        result.upper = value(c.box);
        ++result.boxes;
        // Where the bound is 0 a point with that value may lie anywhere in the box, or nowhere.
        const bool sharp = c.bound > 0.0 ? result.upper - c.bound <= tolerance * c.bound : spread(c.box) <= 1e-9;
        if (sharp) {
            result.settled = true;
            return result;
        }
        const std::size_t side = decisive_side(c.box, scale, spread);
        if (result.boxes >= most || !can_split(c.box, side)) return result;
        auto parts = halves(c.box, side, scale);
        place(std::move(parts.second));
        place(std::move(parts.first));
    }
    result.lower = result.upper = inf;
    result.settled = true;
    return result;
}

CoverMinimum least_level(const AdmissibleSet& set, const std::vector<Box>& boxes, const std::vector<double>& scale,
                         long most, double tolerance) {
    return least_over(
        set, boxes, {}, inf, scale, [&](const Box& q) { return set.level(q).lo; },
        [&](const Box& q) { return set.level(q).hi; }, [&](const Box& q) { return share(set.level(q)); }, most,
        tolerance);
}

}  // namespace saltus::proof
