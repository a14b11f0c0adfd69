// SPDX-License-Identifier: Apache-2.0
#include "saltus/expr/jumps.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "saltus/expr/detail/singular_points.hpp"
#include "saltus/expr/tape.hpp"

namespace saltus::expr {

namespace {

/// Sizes of the boxes in which lines are laid, in units of `reach` in each direction. Small boxes find surfaces near
/// the centre, large ones those far away.
constexpr double box_sizes[] = {0.01, 0.1, 1.0, 10.0, 100.0};
constexpr int lines_in_box = 40;
constexpr int pieces_of_line = 32;  // each is searched for a change of sign
/// Bisection of one piece ends at neighbouring numbers: a piece is 2^-5 of the line, and a double has 53 bits.
constexpr int bisections = 60;
/// No more points of one surface are collected than this.
constexpr int max_points_of_surface = 100;

/// The difference across a surface is a jump if it does not shrink with the distance: it is at least `lasting_part` of
/// the difference at `wider` times the line on both sides. Continuous functions shrink by far more, also √|s|.
constexpr double wider = 1e-8, lasting_part = 0.5;
/// Smaller differences, relative to the largest value on the line, are rounding errors.
constexpr double rounding_of_values = 1e-9;

// Jumps at poles. The piece of a line is bisected, and the half with the larger difference is kept. The difference of a
// continuous function halves with each step, and that of a jump stays.
constexpr int lines_for_poles = 16;      // in each box; every piece costs about `first_bisections` evaluations
constexpr int first_bisections = 12;     // then the difference of a smooth function is 2^-12 of that at the start
constexpr double remaining_part = 1e-3;  // a smaller remaining part of the difference is no jump
/// Limits from both sides are taken at these distances, in units of `reach`. At smaller ones removable singularities
/// such as (1 - cos(x))/x^2 consist of rounding errors.
constexpr double limit_distances[] = {1e-6, 2e-6, 4e-6};
/// The values at these distances change by at most this part of the jump on each side.
constexpr double side_part = 0.25;

/// An operation that can jump, and the function whose zero is its switching surface.
struct Switch {
    Expr node;      // sign, a comparison or atan2
    Expr function;  // s
    std::string name;
};

bool is_comparison(Op op) { return op == Op::less || op == Op::less_equal || op == Op::equal || op == Op::not_equal; }

std::vector<Switch> switches_of(Graph& graph, Expr e) {
    std::vector<Switch> out;
    for (const Expr n : reachable(graph, std::span(&e, 1))) {
        const Node node = graph[n];
        if (node.kinds == 0) continue;  // a constant
        if (node.op == Op::sign) out.push_back({n, node.a, "sign"});
        if (node.op == Op::atan2) out.push_back({n, node.a, "atan2"});
        if (is_comparison(node.op)) out.push_back({n, graph.sub(node.a, node.b), "if"});
    }
    return out;
}

/// Inserts s = 0 into d where that is simple: one of the two sides that are equal on the surface is a symbol which the
/// other side does not contain.
Expr on_surface(Graph& graph, const Switch& s, Expr d) {
    const Node node = graph[s.node];
    const bool compares = is_comparison(node.op);
    Expr left = compares ? node.a : s.function, right = compares ? node.b : graph.constant(0.0);
    for (int attempt = 0; attempt < 2; ++attempt, std::swap(left, right)) {
        if (graph[left].op != Op::symbol) continue;
        const std::vector<Expr> inside = reachable(graph, std::span(&right, 1));
        if (std::find(inside.begin(), inside.end(), left) != inside.end()) continue;
        return Substitution(graph, {{left, right}})(d);
    }
    return d;
}

/// Whether algebra shows that both branches of a switch agree on its surface.
bool proved_continuous(Graph& graph, Expr e, const Switch& s) {
    const Op op = graph[s.node].op;
    if (op == Op::atan2) return false;
    const double low = op == Op::sign ? -1.0 : 0.0;
    const Expr on = Substitution(graph, {{s.node, graph.constant(1.0)}})(e);
    const Expr off = Substitution(graph, {{s.node, graph.constant(low)}})(e);
    const Expr difference = graph.sub(on, off);
    return graph.is_zero(difference) || graph.is_zero(on_surface(graph, s, difference)) ||
           (graph.is_zero(graph.sub(on_surface(graph, s, on), on_surface(graph, s, off))));
}

/// The search along lines.
class LineSearch {
public:
    LineSearch(const Graph& graph, Expr e, const std::vector<Switch>& switches, const std::vector<Singularity>& poles,
               std::span<const Expr> variables)
        : switches_(switches), count_(switches.size(), 0) {
        std::vector<Expr> outputs{e};
        for (const Switch& s : switches) outputs.push_back(s.function);
        for (const Singularity& p : poles) outputs.push_back(p.function);
        tape_ = Tape(graph, outputs, {}, variables);
        scratch_.resize(tape_.slot_count());
        tape_.prepare<double>({}, scratch_);
        values_.resize(outputs.size());
        for (const Expr v : variables) used_.push_back(mentions(graph, outputs, v));
    }

    /// Examines one line from `from` to `to`. The first jump ends the search.
    std::optional<Jump> examine(std::span<const double> from, std::span<const double> to) {
        from_.assign(from.begin(), from.end());
        step_.resize(from.size());
        for (std::size_t i = 0; i < from.size(); ++i) step_[i] = used_[i] ? to[i] - from[i] : 0.0;
        std::vector<double> before = at(0.0);
        double size = std::abs(before[0]);
        for (int k = 1; k <= pieces_of_line; ++k) {
            const std::vector<double> after = at(static_cast<double>(k) / pieces_of_line);
            if (std::isfinite(after[0])) size = std::max(size, std::abs(after[0]));
            for (std::size_t s = 0; s < switches_.size(); ++s)
                if (count_[s] < max_points_of_surface && before[s + 1] * after[s + 1] < 0.0)
                    if (auto jump = cross(s, static_cast<double>(k - 1) / pieces_of_line,
                                          static_cast<double>(k) / pieces_of_line, before[s + 1] < 0.0, size))
                        return jump;
            before = after;
        }
        return {};
    }

    /// Examines one line for jumps at poles. `poles` and `reach` belong to the whole search.
    std::optional<Jump> examine_poles(std::span<const double> from, std::span<const double> to,
                                      const std::vector<Singularity>& poles, std::span<const double> reach) {
        from_.assign(from.begin(), from.end());
        step_.resize(from.size());
        double length = 0.0;  // of the line, in units of `reach`
        for (std::size_t i = 0; i < from.size(); ++i) {
            step_[i] = used_[i] ? to[i] - from[i] : 0.0;
            length = std::max(length, std::abs(step_[i]) / reach[i]);
        }
        if (length == 0.0) return {};
        double before = value(0.0);
        for (int k = 1; k <= pieces_of_line; ++k) {
            const double a = static_cast<double>(k - 1) / pieces_of_line, b = static_cast<double>(k) / pieces_of_line;
            const double after = value(b);
            if (auto jump = bisect(a, b, before, after, length)) {
                jump->operation = name_at(jump->at, poles);
                return jump;
            }
            before = after;
        }
        return {};
    }

    int points() const {
        int sum = 0;
        for (const int c : count_) sum += c;
        return sum;
    }

private:
    static bool mentions(const Graph& graph, const std::vector<Expr>& outputs, Expr symbol) {
        const std::vector<Expr> inside = reachable(graph, outputs);
        return std::find(inside.begin(), inside.end(), symbol) != inside.end();
    }

    /// Values of e, of all switching functions and of all functions of poles at the part x of the line.
    const std::vector<double>& at(double x) {
        const std::span<double> variables = tape_.variables(std::span<double>(scratch_));
        for (std::size_t i = 0; i < from_.size(); ++i) variables[i] = from_[i] + x * step_[i];
        tape_.evaluate_in_place(std::span<double>(scratch_), std::span<double>(values_));
        return values_;
    }

    double value(double x) { return at(x)[0]; }

    /// Follows the larger difference of e between a and b, and decides whether it is a jump.
    std::optional<Jump> bisect(double a, double b, double before, double after, double length) {
        const double size = std::max(std::abs(before), std::abs(after));
        double first = std::abs(after - before);
        for (int k = 0; k < bisections; ++k) {
            if (!std::isfinite(before) || !std::isfinite(after)) return {};
            if (k == first_bisections && !(std::abs(after - before) > remaining_part * first)) return {};
            double middle = 0.5 * (a + b);
            if (middle <= a || middle >= b) break;
            double between = value(middle);
            if (!std::isfinite(between)) {  // at the pole
                middle = a + 0.375 * (b - a);
                between = value(middle);
            }
            if (!std::isfinite(between)) break;  // a and b are next to the pole, to rounding
            first = std::max({first, std::abs(between - before), std::abs(after - between)});
            if (std::abs(between - before) >= std::abs(after - between))
                b = middle, after = between;
            else
                a = middle, before = between;
        }
        const double difference = std::abs(after - before);
        if (!(difference > rounding_of_values * size) || !has_limits(a, b, difference, length)) return {};
        Jump jump{from_, before, after, ""};
        for (std::size_t i = 0; i < from_.size(); ++i) jump.at[i] += b * step_[i];
        return jump;
    }

    /// Whether e has different limits from both sides, whose difference is about `difference`.
    bool has_limits(double a, double b, double difference, double length) {
        double left = 0.0, right = 0.0;
        for (const double distance : limit_distances) {
            const double l = value(a - distance / length), r = value(b + distance / length);
            if (distance == limit_distances[0]) left = l, right = r;
            const bool lasts =
                std::abs(r - l) >= lasting_part * difference && lasting_part * std::abs(r - l) <= difference;
            const bool steady =
                std::abs(l - left) <= side_part * difference && std::abs(r - right) <= side_part * difference;
            if (!lasts || !steady) return false;
        }
        return true;
    }

    /// The operation whose pole is nearest.
    std::string name_at(std::span<const double> place, const std::vector<Singularity>& poles) {
        const std::span<double> variables = tape_.variables(std::span<double>(scratch_));
        std::copy(place.begin(), place.end(), variables.begin());
        tape_.evaluate_in_place(std::span<double>(scratch_), std::span<double>(values_));
        std::size_t nearest = 0;
        const std::size_t first = 1 + switches_.size();
        for (std::size_t k = 1; k < poles.size(); ++k)
            if (std::abs(values_[first + k]) < std::abs(values_[first + nearest])) nearest = k;
        return poles[nearest].name;
    }

    /// Compares e on both sides of the surface of a switch, which the line crosses between a and b.
    std::optional<Jump> cross(std::size_t s, double a, double b, bool rising, double size) {
        for (int k = 0; k < bisections && b > a; ++k) {
            const double middle = 0.5 * (a + b);
            if (middle <= a || middle >= b) break;
            ((at(middle)[s + 1] < 0.0) == rising ? a : b) = middle;
        }
        ++count_[s];
        const double before = at(a)[0], after = at(b)[0];
        const double difference = std::abs(after - before);
        const double wide = std::abs(at(b + wider)[0] - at(a - wider)[0]);
        const bool lasts = difference > rounding_of_values * size && difference >= lasting_part * wide;
        if (!std::isfinite(difference) || !lasts) return {};
        Jump jump{from_, before, after, switches_[s].name};
        for (std::size_t i = 0; i < from_.size(); ++i) jump.at[i] += b * step_[i];
        return jump;
    }

    const std::vector<Switch>& switches_;
    std::vector<int> count_;  // points of each surface so far
    Tape tape_;
    std::vector<double> scratch_, values_, from_, step_;
    std::vector<bool> used_;  // variables that matter; the others stay where the line begins
};

}  // namespace

bool can_jump(const Graph& graph, Expr e) {
    constexpr Kinds changing = time | position | velocity;
    for (const Expr n : reachable(graph, std::span(&e, 1))) {
        const Node& node = graph[n];
        if ((node.kinds & changing) == 0) continue;
        if (node.op == Op::sign || node.op == Op::atan2 || node.op == Op::tan || node.op == Op::log ||
            node.op == Op::pow || is_comparison(node.op) || (node.op == Op::powi && node.exponent < 0) ||
            (node.op == Op::div && (graph[node.b].kinds & changing) != 0))
            return true;
    }
    return false;
}

JumpSearch find_jump(Graph& graph, Expr e, const JumpRegion& region) {
    JumpSearch out;
    const std::vector<Switch> switches = switches_of(graph, e);
    const std::vector<Singularity> singularities = possible_singularities(graph, e, region);
    std::vector<Singularity> poles;  // those that a line can cross
    for (const Singularity& s : singularities)
        if (s.on_lines) poles.push_back(s);
    if (switches.empty() && singularities.empty()) return out;
    for (const Switch& s : switches) out.decided = out.decided && proved_continuous(graph, e, s);
    LineSearch search(graph, e, switches, poles, region.variables);
    std::mt19937_64 random;  // with its fixed default seed
    const std::size_t n = region.center.size();
    std::vector<double> ends[2] = {std::vector<double>(n), std::vector<double>(n)};
    for (const double size : box_sizes)
        for (int line = 0; line < lines_in_box; ++line) {
            for (std::vector<double>& end : ends)
                for (std::size_t i = 0; i < n; ++i)
                    end[i] = region.center[i] +
                             size * region.reach[i] * (static_cast<double>(random() >> 11) * 0x1p-52 - 1.0);
            if (!switches.empty()) out.jump = search.examine(ends[0], ends[1]);
            if (!out.jump && !poles.empty() && line < lines_for_poles)
                out.jump = search.examine_poles(ends[0], ends[1], poles, region.reach);
            out.points = search.points();
            if (out.jump) return out;
        }
    examine_singular_points(graph, e, singularities, region, out);
    return out;
}

}  // namespace saltus::expr
