// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/detail/equilibrium_completeness.hpp"

#include <algorithm>
#include <cmath>

namespace saltus::stability {

using proof::Box;
using proof::Interval;

namespace {

/// A side that was contracted to a point counts with this width, relative to 1 + |q|, in a volume.
constexpr double least_width = 1e-15;

/// The region without an unbounded cell: it ends where the cell begins, along the coordinate in which the cell begins
/// furthest away. False if the cell is unbounded in both directions of all its unbounded sides.
bool cut_off(Box& region, const Box& cell) {
    std::size_t side = cell.size();
    double furthest = -1.0;
    for (std::size_t k = 0; k < cell.size(); ++k) {
        const bool low = std::isfinite(cell[k].lo), high = std::isfinite(cell[k].hi);
        if (low == high) continue;
        const double begin = low ? cell[k].lo : -cell[k].hi;
        if (begin <= furthest) continue;
        furthest = begin;
        side = k;
    }
    if (side == cell.size()) return false;
    if (std::isfinite(cell[side].lo))
        region[side].hi = std::min(region[side].hi, expr::next_down(cell[side].lo));
    else
        region[side].lo = std::max(region[side].lo, expr::next_up(cell[side].hi));
    return region[side].lo <= region[side].hi;
}

}  // namespace

void CompletenessProof::add(const BoxCover& cover) {
    tested_ += cover.boxes;
    for (const Box& end : cover.ends)
        if (!end.empty()) unbounded_.push_back(end);
    for (const BoxCover::Cell& cell : cover.cells) {
        if (cell.component < 0)
            unbounded_.push_back(cell.q);
        else if (cover.endless(cell.component))
            continue;
        else if (!cell.explained)
            undecided_.push_back(cell.q);
        else if (!cell.inside)
            resolution_ = std::max(resolution_, cells_beside_set * boxes_.size_of(cell.q));
    }
}

Completeness CompletenessProof::conclude(bool all) const {
    Completeness out;
    for (const Interval& side : boxes_.region()) out.searched.emplace_back(side.lo, side.hi);
    out.boxes = tested_;
    out.resolution = resolution_;
    if (!all) {
        out.why = "some combinations of closed contacts were not examined";
        return out;
    }
    Box region = boxes_.region();
    for (const Box& cell : unbounded_)
        if (proof::touch(cell, region) && !cut_off(region, cell)) {
            out.why = "no bounded region could be separated from positions that are not decided";
            return out;
        }
    out.undecided_volume = 0.0;
    std::size_t undecided = 0;
    for (const Box& cell : undecided_) {
        const std::optional<Box> part = proof::intersection(cell, region);
        if (!part) continue;
        ++undecided;
        double volume = 1.0;
        for (std::size_t k = 0; k < part->size(); ++k)
            if (boxes_.ignored()[k] == 0)
                volume *= std::max(expr::width((*part)[k]), least_width * (1.0 + std::abs((*part)[k].lo)));
        out.undecided_volume += volume;
    }
    for (const Interval& side : region) out.region.emplace_back(side.lo, side.hi);
    out.complete = undecided == 0;
    if (!out.complete)
        out.why = std::to_string(undecided) + (undecided == 1 ? " box is" : " boxes are") +
                  " neither free of equilibria nor part of a listed set";
    return out;
}

}  // namespace saltus::stability
