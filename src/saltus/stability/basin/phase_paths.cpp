// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/phase_paths.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/ensemble/parallel_for.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/stability/basin/detail/basin_motion.hpp"

namespace saltus::stability {

namespace {

/// A curve is for drawing: its integrator needs no more digits than these.
constexpr double path_rtol = 1e-7, path_atol = 1e-9;
/// A motion that leaves a tip starts so far outside the set, in parts of the width of the plane.
constexpr double tip_offset = 1e-4;
/// Points of one integration step, and the distance between two points that are drawn, in parts of the plane.
constexpr int points_per_step = 24;
constexpr double drawn_distance = 2e-3;

struct PlaneAxes {
    std::array<std::size_t, 2> axis{};  ///< numbers of the axes
    std::array<int, 2> component{};     ///< components of (q, u)
    std::array<double, 2> from{}, to{};

    double width(std::size_t k) const { return to[k] - from[k]; }
};

std::optional<PlaneAxes> plane_of(const BasinOptions& o) {
    PlaneAxes p;
    std::size_t found = 0;
    for (std::size_t k = 0; k < o.starts.axes.size(); ++k) {
        if (o.starts.axes[k].n <= 1) continue;
        if (found == 2) return {};
        p.axis[found] = k;
        if (o.components[k] < 0) return {};
        p.component[found] = o.components[k];
        p.from[found] = o.starts.axes[k].from;
        p.to[found++] = o.starts.axes[k].to;
    }
    if (found != 2 || o.sampled()) return {};
    return p;
}

struct PathStart {
    int set = -1;
    std::array<double, 2> at{};
};

/// Points at equal distances along the edge of the plane, in which both widths count as 1.
std::vector<PathStart> edge_starts(const PlaneAxes& p, int count) {
    std::vector<PathStart> list;
    for (int k = 0; k < count; ++k) {
        const double s = 4.0 * (k + 0.5) / count, r = s - std::floor(s);
        const std::array<double, 2> unit = s < 1.0   ? std::array{r, 0.0}
                                           : s < 2.0 ? std::array{1.0, r}
                                           : s < 3.0 ? std::array{1.0 - r, 1.0}
                                                     : std::array{0.0, 1.0 - r};
        list.push_back({-1, {std::lerp(p.from[0], p.to[0], unit[0]), std::lerp(p.from[1], p.to[1], unit[1])}});
    }
    return list;
}

/// Points at rest beside both ends of each set and of its copies in the plane.
std::vector<PathStart> tip_starts(const PlaneAxes& p, const Basin& basin, int coordinates) {
    std::vector<PathStart> list;
    const std::size_t position = p.component[0] < coordinates ? 0 : 1, velocity = 1 - position;
    const int c = p.component[position];
    if (c >= coordinates || p.component[velocity] != c + coordinates) return list;
    for (std::size_t k = 0; k < basin.sets.size(); ++k) {
        const RestSet& s = basin.sets[k];
        if (!s.known || s.lower.empty()) continue;
        const double low = s.lower[ix(c)], high = s.upper[ix(c)], period = basin.periods[ix(c)];
        if (!std::isfinite(low) || !std::isfinite(high)) continue;
        const double away = tip_offset * p.width(position);
        if (high - low <= away) continue;
        const double first = period > 0.0 ? std::ceil((p.from[position] - high) / period) : 0.0;
        const double last = period > 0.0 ? std::floor((p.to[position] - low) / period) : 0.0;
        for (double turn = first; turn <= last; ++turn)
            for (const double tip : {low + turn * period - away, high + turn * period + away}) {
                if (tip < p.from[position] || tip > p.to[position]) continue;
                PathStart start;
                start.set = static_cast<int>(k);
                start.at[position] = tip;
                list.push_back(start);
            }
    }
    return list;
}

class PathMaker {
public:
    PathMaker(const model::Mechanics& model, const BasinOptions& options, const PlaneAxes& plane)
        : model_(model), options_(options), plane_(plane) {}

    PhasePath make(const PathStart& from) const {
        PhasePath path;
        path.set = from.set;
        std::vector<double> values;
        for (const ensemble::Axis& a : options_.starts.axes) values.push_back(a.from);
        for (std::size_t k = 0; k < 2; ++k) values[plane_.axis[k]] = from.at[k];
        StartStates starts(model_, options_.components);
        const Start start = starts.make(values);
        if (start.admission != Admission::admissible && start.admission != Admission::adjusted) return path;
        integrate::EventDriven method;
        method.rtol = path_rtol;
        method.atol = path_atol;
        method.keep_arcs = true;
        integrate::Options run;
        run.t_end = options_.t_max;
        run.start = trajectory::State{0.0, start.q, start.u};
        run.interrupted = options_.interrupted;
        const trajectory::Trajectory motion = integrate::simulate(model_, method, run);
        for (const trajectory::Arc& arc : motion.arcs) {
            if (arc.steps.empty()) continue;
            if (!path.points.empty()) path.breaks.push_back(path.points.size() - 1);
            std::vector<double> x;
            for (const ode::Dense& step : arc.steps) {
                const double end = std::min(step.t_new(), arc.t_end);
                x.resize(static_cast<std::size_t>(step.size()));
                for (int k = 0; k <= points_per_step; ++k) {
                    step.evaluate(step.t_old() + (end - step.t_old()) * k / points_per_step, x.data());
                    add(path, x, k == points_per_step && &step == &arc.steps.back());
                }
            }
        }
        return path;
    }

private:
    /// Adds a point that is far enough from the last one, or that ends an arc.
    void add(PhasePath& path, const std::vector<double>& x, bool last) const {
        std::array<double, 2> p{};
        for (std::size_t k = 0; k < 2; ++k) p[k] = x[ix(plane_.component[k])];
        const bool first =
            path.points.empty() || (!path.breaks.empty() && path.breaks.back() + 1 == path.points.size());
        if (!first && !last) {
            const std::array<double, 2>& b = path.points.back();
            if (std::hypot((p[0] - b[0]) / plane_.width(0), (p[1] - b[1]) / plane_.width(1)) < drawn_distance) return;
        }
        path.points.push_back(p);
    }

    const model::Mechanics& model_;
    const BasinOptions& options_;
    const PlaneAxes& plane_;
};

}  // namespace

std::vector<PhasePath> phase_paths(const model::Mechanics& model, const BasinOptions& options, const Basin& basin,
                                   int count) {
    const std::optional<PlaneAxes> plane = plane_of(options);
    if (!plane) return {};
    std::vector<PathStart> starts = edge_starts(*plane, count);
    const std::vector<PathStart> tips = tip_starts(*plane, basin, model.size());
    starts.insert(starts.end(), tips.begin(), tips.end());
    std::vector<PhasePath> paths(starts.size());
    const PathMaker maker(model, options, *plane);
    ensemble::Options parallel;
    parallel.threads = options.threads;
    ensemble::parallel_for(
        starts.size(), [&](std::size_t k) { paths[k] = maker.make(starts[k]); }, parallel);
    std::erase_if(paths, [](const PhasePath& p) { return p.points.size() < 2; });
    return paths;
}

}  // namespace saltus::stability
