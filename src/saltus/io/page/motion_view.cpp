// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/page/motion_view.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/integrate/course.hpp"
#include "saltus/integrate/outputs.hpp"
#include "saltus/io/page/detail/least_energy.hpp"
#include "saltus/model/description.hpp"
#include "saltus/model/drawing.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/outputs.hpp"

namespace saltus::io {

using trajectory::Mode;
using trajectory::Trajectory;

namespace {

// What a page can show and a browser can draw without delay.
constexpr std::size_t max_coordinates = 24, few_coordinates = 12;  // more than 24 coordinates: 12 of them have curves
constexpr std::size_t max_elements = 16, few_elements = 8;         // more than 16 elements: 8 of them have curves
constexpr double least_samples = 400.0;                            // before thinning, if no step is left out
constexpr std::size_t max_samples = 4000;                          // after thinning; more are decimated
constexpr std::size_t point_frames = 140;                          // times at which mass points are stored
constexpr int plane_nodes = 41;                                    // nodes of an energy plane in each direction
constexpr std::size_t max_planes = 6;                              // models with more coordinates have no energy planes
constexpr double plane_margin = 0.5;  // of an energy plane around the curve, in parts of the extent of the curve

/// Limits of the samples. Thinning keeps |curve − straight line between two kept samples| ≤ tolerance × range of the
/// curve. The tolerance is doubled from the first to the last value until the numbers fit.
struct SampleLimits {
    std::size_t candidates;        ///< samples before thinning, about
    std::size_t candidates_large;  ///< the same for more than `max_coordinates`
    double first_chord_tolerance, last_chord_tolerance;
    std::size_t max_numbers;  ///< samples × curves; more are thinned with a larger tolerance
};
/// A plot is about 250 pixels high, so that a tolerance of 1e-3 is a quarter of a pixel.
constexpr SampleLimits complete_limits{6000, 700, 3e-4, 2e-3, 60000}, live_limits{1200, 350, 1e-3, 4e-3, 20000};

constexpr std::size_t max_chord_samples = 64;  // under one chord; bounds the cost of thinning
constexpr double constant_curve = 1e-12;       // a curve with range ≤ this × its size is constant up to rounding

/// Numbers of the rows to show: all n if n ≤ max; otherwise `few`, evenly spread, with the first and the last.
std::vector<std::size_t> spread(std::size_t n, std::size_t max, std::size_t few) {
    std::vector<std::size_t> list;
    for (std::size_t k = 0; k < (n <= max ? n : few); ++k) list.push_back(n <= max ? k : k * (n - 1) / (few - 1));
    return list;
}

char letter(Mode m) { return "ocslp"[static_cast<int>(m)]; }

/// The causes that change T + U, in the order of `MotionView::work`. The last one acts at events only; the powers of
/// the others are integrated.
constexpr std::array<const char*, 6> work_causes{"applied", "damping", "friction", "springs", "obstacles", "impacts"};
constexpr std::size_t smooth_causes = work_causes.size() - 1;

/// Fills a view in two passes. First every curve is sampled densely, a row of numbers for each time: t, q, u, gaps,
/// energies, works, forces, drawing. Then rows that a straight line between their neighbours reproduces are removed.
class Sampler {
public:
    Sampler(const Trajectory& t, const model::Model* m, const SampleLimits& limits, MotionView& view)
        : t_(t), m_(m), limits_(limits), view_(view) {
        coordinates_ = spread(t.coordinates.size(), max_coordinates, few_coordinates);
        if (m_ != nullptr) course_.emplace(*m_, t_);
        choose_elements();
        layout();
    }

    void run() {
        std::size_t steps = 0;
        for (const trajectory::Arc& a : t_.arcs) steps += a.steps.size();
        const std::size_t budget =
            t_.coordinates.size() > max_coordinates ? limits_.candidates_large : limits_.candidates;
        constexpr std::size_t max_pieces = 64;  // of one step: a Taylor series can be half a period long
        const std::size_t each = steps == 0 ? 2 : std::clamp<std::size_t>(budget / steps, 1, max_pieces);
        pieces_ = each < 2 ? 1 : each - each % 2;  // 1, or even for Simpson's rule
        stride_ = steps > 2 * budget ? steps / budget : 1;
        for (std::size_t a = 1; a < t_.arcs.size(); ++a) view_.arcs.push_back(t_.arcs[a].t_begin);
        // If an event happens at the start then the state before it has a row of its own.
        if (!t_.events.empty() && t_.events[0].t <= t_.start.t)
            row(t_.start.t, t_.start.q, t_.start.u, integrate::side_of_start(t_));
        for (std::size_t a = 0; a < t_.arcs.size(); ++a) sample_arc(a);
        if (t_.arcs.empty()) {
            row(t_.start.t, t_.start.q, t_.start.u);
            row(t_.end.t, t_.end.q, t_.end.u);
        }
        std::vector<std::size_t> kept = thinned(limits_.first_chord_tolerance);
        for (double tolerance = 2.0 * limits_.first_chord_tolerance;
             tolerance < limits_.last_chord_tolerance && kept.size() * columns() > limits_.max_numbers;
             tolerance *= 2.0)
            kept = thinned(tolerance);
        keep(std::move(kept));
    }

private:
    using Row = std::vector<double>;

    /// The elements that get curves. If there are many then only those that act at some time.
    void choose_elements() {
        std::vector<std::size_t> acting;
        for (std::size_t i = 0; i < t_.elements.size(); ++i) {
            const bool acts =
                std::any_of(t_.arcs.begin(), t_.arcs.end(),
                            [&](const trajectory::Arc& a) { return i < a.modes.size() && a.modes[i] != Mode::open; }) ||
                std::any_of(t_.events.begin(), t_.events.end(), [&](const trajectory::Event& e) {
                    return std::any_of(e.impulses.begin(), e.impulses.end(), [&](const trajectory::Reaction& r) {
                        return static_cast<std::size_t>(r.element) == i;
                    });
                });
            if (acts || t_.elements.size() <= max_elements) acting.push_back(i);
        }
        for (const std::size_t k : spread(acting.size(), max_elements, few_elements)) elements_.push_back(acting[k]);
    }

    /// Creates the curves, in the order in which `row` writes their values.
    void layout() {
        for (const std::size_t i : coordinates_) view_.q.push_back({t_.coordinates[i], {}});
        for (const std::size_t i : coordinates_) view_.u.push_back({t_.coordinates[i], {}});
        if (m_ == nullptr) return;
        for (const std::size_t i : elements_)
            if (t_.elements[i].kind == trajectory::ElementKind::contact)
                view_.gaps.push_back({t_.elements[i].name, {}}), contacts_.push_back(i);
        if (const model::Outputs* const outputs = m_->outputs.get(); model::has_outputs(*m_)) {
            outputs_.emplace(*m_, t_);
            for (const model::Output& o : outputs->list)
                view_.outputs.push_back({o.unit.empty() ? o.name : o.name + " [" + o.unit + "]", {}});
        }
        for (const char* const name : {"kinetic", "potential"}) view_.energy.push_back({name, {}});
        for (const char* const name : work_causes) view_.work.push_back({name, {}});
        for (const std::size_t i : elements_) {
            ForceCurves f;
            f.name = t_.elements[i].name;
            f.kind = t_.elements[i].kind;
            f.T.resize(static_cast<std::size_t>(t_.elements[i].tangential));
            for (const trajectory::Arc& a : t_.arcs) f.modes += i < a.modes.size() ? letter(a.modes[i]) : '?';
            if (!t_.stepped) view_.forces.push_back(std::move(f));
        }
        if (m_->drawing != nullptr) view_.drawing.resize(m_->drawing->size());
    }

    /// Calls f with every curve, in the order in which `row` writes their values.
    template <class F>
    void for_each_curve(F f) {
        for (auto* const list : {&view_.q, &view_.u, &view_.gaps, &view_.outputs, &view_.energy, &view_.work})
            for (Curve& c : *list) f(c);
        for (ForceCurves& force : view_.forces) {
            f(force.N);
            for (Curve& c : force.T) f(c);
        }
        for (Curve& c : view_.drawing) f(c);
    }

    /// Adds the row of a state and returns it.
    std::vector<double>& row(double t, std::span<const double> q, std::span<const double> u,
                             integrate::Side side = integrate::Side::after) {
        Row r{t};
        for (const std::size_t i : coordinates_) r.push_back(q[i]);
        for (const std::size_t i : coordinates_) r.push_back(u[i]);
        if (course_) {
            state_.assign(q.begin(), q.end());
            state_.insert(state_.end(), u.begin(), u.end());
            course_->evaluate(t, state_.data());
            for (const std::size_t i : contacts_) r.push_back(course_->gaps()[i]);
            if (outputs_) {
                const std::size_t first = r.size();
                r.resize(first + outputs_->size());
                outputs_->evaluate(t, side, q, u, {r.data() + first, outputs_->size()});
            }
            r.push_back(course_->energy().kinetic);
            r.push_back(course_->energy().potential);
            works_at_ = r.size();
            r.insert(r.end(), work_.begin(), work_.end());
            if (!t_.stepped)
                for (const std::size_t i : elements_) {
                    const trajectory::Reaction& f = course_->reactions()[i];
                    r.push_back(f.N);
                    r.insert(r.end(), f.T.begin(), f.T.end());
                }
            if (!view_.drawing.empty()) {
                const std::size_t first = r.size();
                r.resize(first + view_.drawing.size());
                m_->drawing->evaluate(t, q, {r.data() + first, view_.drawing.size()});
            }
        }
        rows_.push_back(std::move(r));
        return rows_.back();
    }

    using Powers = std::array<double, smooth_causes>;

    /// The powers at the state of the last row, in the order of `work_causes`.
    Powers powers() const {
        const integrate::Powers& p = course_->powers();
        return {p.applied, p.damping, p.friction, p.springs, p.obstacles};
    }

    /// The powers at an end of a step, a little inside the step. At the end itself the formula of a force may have
    /// switched already, or not yet: a power that jumps there would be integrated with a wrong value.
    Powers powers_inside(const ode::Dense& step, double at, double other_end) {
        constexpr double inside = 1e-7;  // part of the step
        Row x(static_cast<std::size_t>(step.size()));
        const double t = std::clamp(at + inside * (other_end - at), step.t_old(), step.t_new());
        step.evaluate(t, x.data());
        course_->evaluate(t, x.data());
        return powers();
    }

    /// Samples of a step so that the whole motion has at least least_samples of them. A step may be long because the
    /// motion is simple, while an obstacle goes on moving fast.
    std::size_t pieces_by_length(double length) const {
        const double whole = t_.end.t - t_.start.t;
        if (!(whole > 0.0)) return 1;
        const auto n = static_cast<std::size_t>(std::ceil(least_samples * length / whole));
        return n < 2 ? 1 : n + n % 2;  // 1, or even for Simpson's rule
    }

    /// Adds the rows of an arc. If there are many steps then only every stride_-th step gives a row.
    void sample_arc(std::size_t a) {
        const trajectory::Arc& arc = t_.arcs[a];
        if (arc.steps.empty()) return;
        if (course_) course_->enter(a);
        pass_events(arc.t_begin);
        if (!rows_.empty()) breaks_.push_back(rows_.size() - 1);
        const std::size_t n = t_.coordinates.size();
        Row x;
        bool first = true;
        for (std::size_t s = 0; s < arc.steps.size(); s += stride_) {
            const ode::Dense& step = arc.steps[s];
            const bool last = s + stride_ >= arc.steps.size();
            const ode::Dense& final = last ? arc.steps.back() : arc.steps[s + stride_ - 1];
            const double begin = std::max(step.t_old(), arc.t_begin);
            const double end = std::min(final.t_new(), arc.t_end);
            const std::size_t pieces = stride_ > 1 ? 1 : std::max(pieces_, pieces_by_length(end - begin));
            std::vector<Powers> power;  // at the nodes of this step
            for (std::size_t k = first ? 0 : 1; k <= pieces; ++k) {
                const double at =
                    k == pieces ? end : begin + (end - begin) * static_cast<double>(k) / static_cast<double>(pieces);
                const ode::Dense& on = k == pieces ? final : step;
                x.resize(static_cast<std::size_t>(on.size()));
                on.evaluate(at, x.data());
                if (course_ && power.empty() && !first) power.push_back(powers_inside(step, begin, end));
                const integrate::Side side = at > arc.t_begin ? integrate::Side::before : integrate::Side::after;
                std::vector<double>& r = row(at, {x.data(), n}, {x.data() + n, n}, side);
                if (!course_) continue;
                power.push_back(k == 0 || k == pieces ? powers_inside(on, at, k == 0 ? end : begin) : powers());
                add_work(power, (end - begin) / static_cast<double>(pieces), pieces);
                std::copy(work_.begin(), work_.end(), r.begin() + static_cast<std::ptrdiff_t>(works_at_));
            }
            first = false;
        }
    }

    /// Adds ∫ f dt over the last interval to the works, where f are the powers at the nodes 0 … k, h apart.
    ///
    /// Over two intervals Simpson's rule integrates the parabola through f₀, f₁, f₂:
    ///     ∫₀^2h = h/3 (f₀ + 4 f₁ + f₂),      ∫₀^h = h/12 (5 f₀ + 8 f₁ − f₂).
    /// At an odd node f₂ is not known yet, so that the trapezoidal rule is used there first. At the next, even node the
    /// value of the odd node is replaced by the second formula.
    void add_work(const std::vector<Powers>& f, double h, std::size_t pieces) {
        const std::size_t k = f.size() - 1;
        if (k == 0) return;
        for (std::size_t i = 0; i < smooth_causes; ++i) {
            if (k % 2 == 1 || pieces == 1) {
                work_[i] += 0.5 * h * (f[k - 1][i] + f[k][i]);
                continue;
            }
            Row& middle = rows_[rows_.size() - 2];
            const double trapezoid = 0.5 * h * (f[k - 2][i] + f[k - 1][i]);
            const double begin = work_[i] - trapezoid;
            middle[works_at_ + i] = begin + h / 12.0 * (5.0 * f[k - 2][i] + 8.0 * f[k - 1][i] - f[k][i]);
            work_[i] = begin + h / 3.0 * (f[k - 2][i] + 4.0 * f[k - 1][i] + f[k][i]);
        }
    }

    /// Adds the energy changes of all impacts up to time t, where an arc begins.
    void pass_events(double t) {
        for (; next_event_ < t_.events.size() && t_.events[next_event_].t <= t; ++next_event_) {
            const trajectory::Event& e = t_.events[next_event_];
            if (!e.impulses.empty()) work_.back() += e.energy_after - e.energy_before;
        }
    }

    std::size_t columns() const { return rows_.empty() ? 0 : rows_[0].size(); }

    /// The rows to keep. From each kept row the longest chord is taken to which all rows between are near (greedy).
    /// Rows on both sides of a break are kept.
    std::vector<std::size_t> thinned(double tolerance) const {
        const std::size_t n = rows_.size();
        std::vector<std::size_t> kept;
        if (n == 0) return kept;
        std::vector<Bound> bounds;  // of the curves that are not constant
        Row low = rows_[0], high = low;
        for (const Row& r : rows_)
            for (std::size_t c = 1; c < r.size(); ++c)
                low[c] = std::fmin(low[c], r[c]), high[c] = std::fmax(high[c], r[c]);  // without NaN
        for (std::size_t c = 1; c < columns(); ++c)
            if (high[c] - low[c] > constant_curve * (std::abs(low[c]) + std::abs(high[c])))
                bounds.push_back({c, tolerance * (high[c] - low[c])});
        std::size_t from = 0;
        for (std::size_t piece = 0; piece <= breaks_.size(); ++piece) {
            const std::size_t to = piece < breaks_.size() ? breaks_[piece] : n - 1;
            kept.push_back(from);
            for (std::size_t i = from; i < to;) {
                i = end_of_chord(i, to, bounds);
                kept.push_back(i);
            }
            from = to + 1;
        }
        return kept;
    }
    /// How far a chord may pass from the rows of a column, and the slopes of the chord with which it does not.
    struct Bound {
        std::size_t column;
        double distance;
        double least_slope = 0.0, largest_slope = 0.0;
    };
    /// The row j ≤ to at which the longest chord from row i ends, if it passes every row k between at a distance that
    /// `bounds` allows.
    ///
    /// The chord with the slope p passes row k of a column, at a time τ after row i, at the distance |x_i + p τ − x_k|.
    /// It is at most d if (x_k − x_i − d)/τ ≤ p ≤ (x_k − x_i + d)/τ. All rows between together bound p by an interval
    /// for each column, and a row can end the chord if its slopes lie in the intervals of the rows before it. Each row
    /// is looked at once.
    std::size_t end_of_chord(std::size_t i, std::size_t to, std::vector<Bound>& bounds) const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const Row& a = rows_[i];
        for (Bound& b : bounds) b.least_slope = -infinity, b.largest_slope = infinity;
        std::size_t j = i + 1;
        for (; j < to && j - i < max_chord_samples; ++j) {
            const Row &inner = rows_[j], &end = rows_[j + 1];
            const double at = inner[0] - a[0], length = end[0] - a[0];
            const double per_time = at > 0.0 ? 1.0 / at : 0.0, per_length = length > 0.0 ? 1.0 / length : 0.0;
            for (Bound& b : bounds) {
                const double begin = a[b.column], rise = inner[b.column] - begin;
                if (at > 0.0) {
                    b.least_slope = std::max(b.least_slope, (rise - b.distance) * per_time);
                    b.largest_slope = std::min(b.largest_slope, (rise + b.distance) * per_time);
                } else if (std::abs(rise) > b.distance) {
                    return j;
                }
                const double slope = (end[b.column] - begin) * per_length;
                if (slope < b.least_slope || slope > b.largest_slope) return j;
            }
        }
        return j;
    }

    /// Reduces too many rows. Time is divided into buckets; of each bucket the first and last row are kept, and the
    /// rows in which one of the first eight coordinates or velocities is lowest or highest.
    std::vector<std::size_t> decimated(const std::vector<std::size_t>& kept) const {
        constexpr std::size_t max_followed = 8;
        const std::size_t columns = std::min(max_followed, coordinates_.size()) * 2;
        const std::size_t buckets = max_samples / (2 + 2 * columns) + 1, n = kept.size();
        std::vector<std::size_t> list;
        for (std::size_t b = 0; b < buckets; ++b) {
            const std::size_t from = b * n / buckets, to = (b + 1) * n / buckets;
            if (from == to) continue;
            std::vector<std::size_t> chosen{kept[from], kept[to - 1]};
            for (std::size_t c = 0; c < columns; ++c) {
                const std::size_t column = c < columns / 2 ? 1 + c : 1 + coordinates_.size() + c - columns / 2;
                const auto less = [&](std::size_t i, std::size_t j) { return rows_[i][column] < rows_[j][column]; };
                const auto begin = kept.begin() + static_cast<std::ptrdiff_t>(from),
                           end = kept.begin() + static_cast<std::ptrdiff_t>(to);
                chosen.push_back(*std::min_element(begin, end, less));
                chosen.push_back(*std::max_element(begin, end, less));
            }
            std::sort(chosen.begin(), chosen.end());
            chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
            list.insert(list.end(), chosen.begin(), chosen.end());
        }
        return list;
    }

    /// Moves the kept rows into the curves of the view.
    void keep(std::vector<std::size_t> kept) {
        view_.decimated = kept.size() > max_samples;
        if (view_.decimated) kept = decimated(kept);
        std::size_t next = 0;
        for (std::size_t k = 0; k < kept.size(); ++k) {
            view_.t.push_back(rows_[kept[k]][0]);
            while (next < breaks_.size() && breaks_[next] < kept[k]) ++next;
            if (next < breaks_.size() && breaks_[next] == kept[k] && k + 1 < kept.size() && kept[k + 1] == kept[k] + 1)
                view_.breaks.push_back(k);
        }
        std::size_t column = 1;
        for_each_curve([&](Curve& c) {
            for (const std::size_t k : kept) c.values.push_back(rows_[k][column]);
            ++column;
        });
    }

    const Trajectory& t_;
    const model::Model* m_;
    const SampleLimits& limits_;
    MotionView& view_;
    std::optional<integrate::Course> course_;         ///< evaluates gaps, forces and energies; needs the model
    std::optional<integrate::OutputCourse> outputs_;  ///< if the model has outputs
    std::vector<std::size_t> coordinates_, elements_, contacts_;  ///< those with curves
    std::size_t pieces_ = 2;                                      ///< intervals of one step
    std::size_t stride_ = 1;                                      ///< only every stride_-th step is sampled
    std::size_t works_at_ = 0;                                    ///< position of the works in a row
    std::size_t next_event_ = 0;                                  ///< the first event that is not in work_ yet
    std::vector<Row> rows_;
    std::vector<std::size_t> breaks_;                ///< rows at which an arc ends
    std::array<double, work_causes.size()> work_{};  ///< since the start
    std::vector<double> state_;                      ///< (q, u), workspace of `row`
};

/// The least U and the effective mass of coordinate i at the nodes of a plane. The nodes are visited from the one next
/// to the final position in both directions, so that each descent starts from its neighbour. NaN at nodes without an
/// admissible position. Empty if U has no least value.
std::vector<std::array<double, 2>> least_energies(const Trajectory& t, const model::Model& m,
                                                  const EnergyPlane& plane) {
    const auto i = static_cast<std::size_t>(plane.coordinate);
    LeastEnergy least(m, plane.coordinate);
    const double spacing = (plane.q[1] - plane.q[0]) / (plane.nq - 1);
    const int middle = std::clamp(static_cast<int>(std::lround((t.end.q[i] - plane.q[0]) / spacing)), 0, plane.nq - 1);
    std::vector<std::array<double, 2>> list(static_cast<std::size_t>(plane.nq));
    for (const int direction : {1, -1}) {
        std::vector<double> q = t.end.q;
        for (int a = middle; a >= 0 && a < plane.nq; a += direction) {
            const std::vector<double> before = q;
            q[i] = plane.q[0] + spacing * a;
            const std::optional<double> U = least.settle(q);
            if (!U) return {};
            if (std::isnan(*U)) q = before;
            const std::optional<double> mass = std::isnan(*U) ? 0.0 : least.effective_mass(q);
            if (!mass) return {};
            list[static_cast<std::size_t>(a)] = {*U, *mass};
        }
    }
    return list;
}

/// Adds T + U over the phase plane of each coordinate.
void add_planes(const Trajectory& t, const model::Model& m, MotionView& view) {
    if (t.coordinates.size() > max_planes) return;
    model::Workspace workspace(m);
    for (std::size_t i = 0; i < t.coordinates.size(); ++i) {
        EnergyPlane plane;
        plane.coordinate = static_cast<int>(i);
        const auto range = [](const std::vector<double>& v) {
            const auto [low, high] = std::minmax_element(v.begin(), v.end());
            const double margin = plane_margin * (*high - *low);
            return std::array<double, 2>{*low - margin, *high + margin};
        };
        plane.q = range(view.q[i].values);
        plane.u = range(view.u[i].values);
        // T is even in the velocity, and so are the level lines.
        plane.u[1] = std::max(plane.u[1], -plane.u[0]);
        plane.u[0] = -plane.u[1];
        if (!(plane.q[1] > plane.q[0]) || !(plane.u[1] > plane.u[0])) continue;
        plane.nq = plane.nu = plane_nodes;
        const std::vector<std::array<double, 2>> least = least_energies(t, m, plane);
        plane.least = !least.empty();
        // With constraints one coordinate cannot vary while the others stay.
        if (!plane.least && !m.constraints.empty()) continue;
        std::vector<double> q = t.end.q, u = t.end.u;
        for (int b = 0; b < plane.nu; ++b)
            for (int a = 0; a < plane.nq; ++a) {
                q[i] = plane.q[0] + (plane.q[1] - plane.q[0]) * a / (plane.nq - 1);
                u[i] = plane.u[0] + (plane.u[1] - plane.u[0]) * b / (plane.nu - 1);
                if (plane.least) {
                    const auto& [U, mass] = least[static_cast<std::size_t>(a)];
                    plane.values.push_back(U + 0.5 * mass * u[i] * u[i]);
                    continue;
                }
                const model::Energy e = m.system->energy(model::at(m, t.end.t, q, u), workspace.scratch());
                plane.values.push_back(e.kinetic + e.potential);
            }
        view.planes.push_back(std::move(plane));
    }
}

/// Adds the positions of mass points at equidistant times.
void add_points(const Trajectory& t, const model::Drawing& drawing, MotionView& view) {
    const auto first = static_cast<std::size_t>(drawing.first_point),
               count = 3U * static_cast<std::size_t>(drawing.points);
    const auto frame = [&](const trajectory::State& s) {
        view.frames.push_back(s.t);
        view.points.emplace_back(s.q.begin() + static_cast<std::ptrdiff_t>(first),
                                 s.q.begin() + static_cast<std::ptrdiff_t>(first + count));
    };
    frame(t.start);
    if (!t.arcs.empty())
        for (int k = 1; k + 1 < static_cast<int>(point_frames); ++k)
            frame(t.right(t.sample_time(k, static_cast<int>(point_frames) - 1)));
    frame(t.end);
}

}  // namespace

Units units_of(const model::Description& d, const std::vector<std::string>& coordinates) {
    Units units;
    if (d.units.empty()) return units;
    const auto given = [&](const std::string& name, const char* otherwise) {
        for (const model::UnitDescription& u : d.units)
            if (u.name == name) return u.unit;
        return std::string(otherwise);
    };
    units.time = given("time", "s");
    units.length = given("length", "m");
    units.force = given("force", "N");
    units.energy = given("energy", "J");
    for (const std::string& x : coordinates) {
        const bool declared =
            std::any_of(d.q.begin(), d.q.end(), [&](const model::Coordinate& c) { return c.name == x; });
        units.q.push_back(declared ? given(x, "") : units.length);
    }
    return units;
}

MotionView motion_view(const Trajectory& t, const model::Model* m, ViewDetail detail) {
    MotionView view;
    view.trajectory = &t;
    Sampler(t, m, detail == ViewDetail::complete ? complete_limits : live_limits, view).run();
    if (m == nullptr) return view;
    if (detail == ViewDetail::complete) add_planes(t, *m, view);
    if (m->drawing != nullptr && m->drawing->points > 0) add_points(t, *m->drawing, view);
    return view;
}

}  // namespace saltus::io
