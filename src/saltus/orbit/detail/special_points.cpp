// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/detail/special_points.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/evaluate.hpp"

namespace saltus::orbit {

Tests tests_of(const OrbitPoint& p) {
    std::complex<double> unit = 1.0, doubling = 1.0, torus = 1.0;
    const std::vector<std::complex<double>>& mu = p.multipliers.values;
    for (std::size_t i = 0; i < mu.size(); ++i) {
        if (p.multipliers.trivial && *p.multipliers.trivial == i) continue;
        unit *= mu[i] - 1.0;
        doubling *= mu[i] + 1.0;
        for (std::size_t j = i + 1; j < mu.size(); ++j)
            if (!(p.multipliers.trivial && *p.multipliers.trivial == j)) torus *= 1.0 - mu[i] * mu[j];
    }
    return {p.slope(), unit.real(), doubling.real(), torus.real()};
}

std::pair<double, double> extrapolate(const std::vector<std::pair<double, double>>& points) {
    std::vector<double> value;
    for (const auto& [psi, p] : points) value.push_back(p);
    double error = std::numeric_limits<double>::infinity(), best = value.back();
    for (std::size_t order = 1; order < points.size(); ++order) {
        for (std::size_t k = points.size() - 1; k >= order; --k) {
            const double a = points[k - order].first, b = points[k].first;
            value[k] = (a * value[k] - b * value[k - 1]) / (a - b);
        }
        const double change = std::abs(value.back() - best);
        if (change < error) error = change, best = value.back();
    }
    return {best, error};
}

std::pair<double, std::string> nearest_gap(const model::Mechanics& m, const trajectory::Trajectory& motion,
                                           const std::string& only) {
    constexpr int samples = 200;    // of an arc
    constexpr int bisections = 50;  // to rounding of the time; the minimum is then exact to rounding
    model::Workspace workspace(m);
    model::Terms terms(m.layout());
    double least = 1.0;
    std::string name;
    for (std::size_t c = 0; c < m.contacts.size(); ++c) {
        if (!only.empty() && m.contacts[c].name != only) continue;
        const int row = m.contacts[c].row;
        double nearest = std::numeric_limits<double>::infinity(), largest = 0.0;
        const auto rate = [&](double t) {
            const trajectory::State x = motion.right(t);
            model::evaluate(m, workspace, t, x.q, x.u, terms);
            largest = std::max(largest, terms.positions[static_cast<std::size_t>(row)]);
            return model::row_velocity(m.layout(), terms, row, x.u);
        };
        for (const trajectory::Arc& arc : motion.arcs) {
            if (arc.steps.empty() || c >= arc.modes.size() || arc.modes[c] != trajectory::Mode::open) continue;
            double from = arc.t_begin, before = rate(from);
            for (int k = 1; k < samples; ++k) {
                const double to = arc.t_begin + (arc.t_end - arc.t_begin) * k / samples;
                const double after = rate(to);
                if (before < 0.0 && after >= 0.0) {
                    double a = from, b = to;
                    for (int r = 0; r < bisections; ++r) {
                        const double middle = 0.5 * (a + b);
                        (rate(middle) < 0.0 ? a : b) = middle;
                    }
                    rate(b);
                    nearest = std::min(nearest, terms.positions[static_cast<std::size_t>(row)]);
                }
                from = to, before = after;
            }
        }
        if (largest > 0.0 && nearest < least * largest)
            least = std::max(nearest, 0.0) / largest, name = m.contacts[c].name;
    }
    return {least, name};
}

namespace {

/// Steps of the second parameter, relative to its range.
constexpr double curve_step = 0.025, shortest_curve_step = 1e-4;

/// One special point for one value of the second parameter.
struct CurvePoint {
    OrbitPoint orbit;
    double parameter = 0.0;  ///< of a grazing: extrapolated
};

/// Finds the special point of a seed's kind near an orbit.
class SpecialSolver {
public:
    SpecialSolver(BranchProblem& problem, const BranchOptions& options, const SpecialSeed& seed)
        : problem_(problem), options_(options), seed_(seed) {}

    std::optional<CurvePoint> solve(const OrbitPoint& near, const Vector& z) {
        return seed_.kind == "grazing" ? grazing(near, z) : smooth(near, z);
    }

private:
    std::optional<OrbitPoint> along(const OrbitPoint& p, double s) {
        std::optional<OrbitPoint> q = problem_.correct(p, p.z + s * p.tangent.cwiseProduct(p.scale), p.tangent);
        if (q && !same_order(p.order, q->order)) q.reset();
        return q;
    }

    /// The zero of a test function along the branch of this value, by secants.
    std::optional<CurvePoint> smooth(const OrbitPoint& near, const Vector& z) {
        double Tests::*const test = seed_.kind == "fold"              ? &Tests::fold
                                    : seed_.kind == "period doubling" ? &Tests::doubling
                                                                      : &Tests::torus;
        std::optional<OrbitPoint> p = problem_.correct(near, z, near.tangent);
        if (!p || !same_order(near.order, p->order)) return std::nullopt;
        // Lengths along the branch (z/scale): of the first step of the secants, and beyond which the search is given
        // up.
        constexpr double first = 1e-4, farthest = 0.3;
        constexpr int most = 20;  // steps of the secants
        double before = 0.0, f_before = tests_of(*p).*test, s = first;
        for (int k = 0; k < most; ++k) {
            std::optional<OrbitPoint> q = along(*p, s);
            if (!q) return std::nullopt;
            const double f = tests_of(*q).*test;
            if (f == 0.0 || std::abs(s - before) <= 1e-12) return CurvePoint{*q, q->parameter()};
            const double next = s - f * (s - before) / (f - f_before);
            if (!std::isfinite(next) || std::abs(next) > farthest) return std::nullopt;
            if (std::abs(next - s) <= 1e-13) return CurvePoint{*q, q->parameter()};
            before = s, f_before = f, s = next;
        }
        return std::nullopt;
    }

    /// The zero of the least gap along the branch, approached from the side without the impact.
    std::optional<CurvePoint> grazing(const OrbitPoint& near, const Vector& z) {
        std::optional<OrbitPoint> p;
        for (double inside = 1e-3; inside < 0.1 && !p; inside *= 3.0) {
            p = problem_.correct(near, z - inside * near.tangent.cwiseProduct(near.scale), near.tangent);
            if (p && !same_order(near.order, p->order)) p.reset();
        }
        if (!p) return std::nullopt;
        std::vector<std::pair<double, double>> list;
        const auto note = [&](const OrbitPoint& q) {
            const auto [gap, name] = nearest_gap(*q.model, q.r.motion, seed_.contact);
            if (name.empty() || !(gap > 0.0)) return false;
            list.emplace_back(gap, q.parameter());
            return true;
        };
        if (!note(*p)) return std::nullopt;
        constexpr int most = 8;            // steps towards the grazing orbit
        constexpr double remaining = 0.3;  // part of the gap that each step shall leave: the gap must not be passed
        double step = 1e-4;                // first length along the branch (z/scale)
        for (int k = 0; k < most; ++k) {
            std::optional<OrbitPoint> q = along(*p, step);
            if (!q || !note(*q)) {
                step *= 0.3;
                continue;
            }
            const double ahead = (list.end() - 2)->first - list.back().first;
            if (!(ahead != 0.0)) return std::nullopt;
            step = step * list.back().first / ahead * (1.0 - remaining);
            p = std::move(q);
            if (std::abs(step) > 0.1) return std::nullopt;
        }
        if (list.size() < 4) return std::nullopt;
        const auto [value, error] = extrapolate(list);
        if (!(error <= 1e-9 * std::max(std::abs(value), options_.to - options_.from))) return std::nullopt;
        return CurvePoint{*p, value};
    }

    BranchProblem& problem_;
    const BranchOptions& options_;
    const SpecialSeed& seed_;
};

/// A point whose solution is evaluated anew: it belongs to another value of the second parameter.
OrbitPoint without_evaluation(OrbitPoint p) {
    if (p.solution)
        p.solution =
            std::make_shared<const ShootingSolution>(ShootingSolution{p.solution->order, p.solution->motion, {}});
    return p;
}

/// The options of the first parameter's branch at a value of the second.
BranchOptions options_at(const BranchOptions& options, double second) {
    BranchOptions out = options;
    out.build.set.emplace_back(options.second, number_text(second));
    return out;
}

}  // namespace

SpecialCurve follow_special(const model::Description& description, const BranchOptions& options,
                            const SpecialSeed& seed, const Closing& closing) {
    SpecialCurve curve;
    curve.kind = seed.kind;
    const Symmetric symmetric = options.orbit.symmetry.empty() ? Symmetric::no : Symmetric::yes;
    const double range = options.second_to - options.second_from;
    std::string reasons[2];
    for (const int direction : {-1, 1}) {
        OrbitPoint last = without_evaluation(seed.point);
        double value = options.second_start, h = curve_step * range;
        std::optional<std::pair<Vector, double>> before;  // z and the second parameter of the point before, same start
        std::string& reason = reasons[direction < 0 ? 0 : 1];
        std::vector<BranchPoint> points;
        std::vector<double> values;
        while (reason.empty()) {
            if (options.interrupted && options.interrupted()) {
                reason = "interrupted";
                break;
            }
            const double bound = direction < 0 ? options.second_from : options.second_to;
            if (value == bound) {
                reason = "the end of the range of " + options.second;
                break;
            }
            const double next = direction * (value + direction * h - bound) >= 0.0 ? bound : value + direction * h;
            std::optional<CurvePoint> found;
            const BranchOptions there = options_at(options, next);
            std::string failure;
            try {
                BranchProblem problem(description, there, seed.multiple, closing, symmetric);
                Vector z = last.z;
                if (before) z += (last.z - before->first) * ((next - value) / (value - before->second));
                found = SpecialSolver(problem, there, seed).solve(last, z);
                failure = problem.failure();
                if (found && !problem.repeats(found->orbit)) found.reset();
                if (found && (found->parameter < options.from || found->parameter > options.to)) {
                    reason = "the end of the range of " + options.parameter;
                    break;
                }
                if (found) {
                    points.push_back(problem.describe(found->orbit));
                    points.back().parameter = found->parameter;
                    values.push_back(next);
                    const double t = found->orbit.t;
                    before = {last.z, value};
                    last = std::move(found->orbit);
                    problem.move_start(last);
                    last = without_evaluation(std::move(last));
                    if (last.t != t) before.reset();
                    value = next;
                    h = std::min(1.5 * h, curve_step * range);
                    continue;
                }
            } catch (const Error& e) {
                failure = e.message();
            }
            h *= 0.5;
            if (h < shortest_curve_step * range)
                reason = "no " + seed.kind + " was found beyond " + options.second + " = " + number_text(value) +
                         (failure.empty() ? "" : ": " + failure);
        }
        if (direction < 0) {
            std::reverse(points.begin(), points.end());
            std::reverse(values.begin(), values.end());
        } else {
            BranchPoint first =
                BranchProblem(description, options, seed.multiple, closing, symmetric).describe(seed.point);
            if (seed.parameter) first.parameter = *seed.parameter;
            curve.points.push_back(std::move(first));
            curve.second.push_back(options.second_start);
        }
        curve.points.insert(curve.points.end(), points.begin(), points.end());
        curve.second.insert(curve.second.end(), values.begin(), values.end());
    }
    curve.reason = "lower end: " + reasons[0] + "; upper end: " + reasons[1];
    return curve;
}

}  // namespace saltus::orbit
