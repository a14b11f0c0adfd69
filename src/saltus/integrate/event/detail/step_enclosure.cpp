// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/event/detail/step_enclosure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/symbolic.hpp"

namespace saltus::integrate {

namespace {

using expr::Expr;
using expr::Interval;
using expr::Op;

/// Largest number of evaluations of bounds for each question about a step. An evaluation costs about as much as ten
/// evaluations of the equations of motion. A narrow place takes two evaluations for each halving. Too small: narrow
/// places in long steps are not found. Too large: steps whose bounds cannot decide are slow.
constexpr int max_evaluations = 160;
/// Parts of a step are not halved below this part of its length.
constexpr double shortest_part = 0x1p-24;
/// A function has changed unseen if it leaves the range of its samples by more than this part of the range. The
/// polynomial of a step resolves a function whose extrema lie much nearer to the samples.
constexpr double range_margin = 0.5;
/// The same, relative to 1 + the largest sample: changes below it do not matter.
constexpr double value_margin = 1e-9;
/// A switching function whose bounds on a whole step are smaller than this rests on its switch; that is no crossing.
constexpr double resting_switch = 1e-12;

/// Whether a node can have a narrow bump or a steep slope as a function of slowly changing operands.
bool can_bump(const expr::Graph& graph, Expr e) {
    const expr::Node& node = graph[e];
    switch (node.op) {
        case Op::exp:
        case Op::log:
        case Op::sqrt:
        case Op::sin:
        case Op::cos:
        case Op::tan:
        case Op::asin:
        case Op::acos:
        case Op::atan:
        case Op::sinh:
        case Op::cosh:
        case Op::tanh:
        case Op::pow:
        case Op::atan2:
        case Op::hypot: return true;
        case Op::div: return !graph.is_constant(node.b);
        case Op::powi: return node.exponent < 0;
        default: return false;
    }
}

/// The function whose zero is the switch of a node; none if the node does not switch.
std::optional<Expr> switching_function(expr::Graph& graph, Expr e) {
    const expr::Node node = graph[e];
    switch (node.op) {
        case Op::abs:
        case Op::sign: return node.a;
        case Op::min:
        case Op::max:
        case Op::less:
        case Op::less_equal:
        case Op::equal:
        case Op::not_equal: return graph.sub(node.a, node.b);
        default: return {};
    }
}

/// Writes the polynomial of component i of a step as Σ c_k θ^k to `c`, which has room for `terms` numbers.
void monomials(const ode::Dense& step, int i, int terms, double* c) {
    const std::span<const double> all = step.coefficients();
    const std::size_t n = ix(step.size());
    const auto term = [&](int k) { return all[ix(k) * n + ix(i)]; };
    std::fill_n(c, terms, 0.0);
    if (step.form() == ode::Dense::Form::series) {
        for (int k = 0; k < terms; ++k) c[k] = term(k);
        return;
    }
    // x_old + θ (x_new − x_old) + θ(1−θ) r_2 + θ²(1−θ) r_3 + …: each weight is the one before times 1−θ or θ.
    double weight[ode::Dense::max_terms + 1] = {0.0, 1.0};
    c[0] = term(0);
    c[1] = term(1) - term(0);
    for (int k = 2; k < step.terms(); ++k) {
        for (int j = k; j >= 1; --j) weight[j] = k % 2 == 0 ? weight[j] - weight[j - 1] : weight[j - 1];
        if (k % 2 != 0) weight[0] = 0.0;
        for (int j = 0; j <= k; ++j) c[j] += term(k) * weight[j];
    }
}

/// Interval of width 2·radius around a value.
Interval around(double value, double radius) {
    if (!std::isfinite(value) || !std::isfinite(radius)) return {-Interval::infinity, Interval::infinity, false};
    return {expr::next_down(value - radius), expr::next_up(value + radius)};
}

}  // namespace

StepEnclosure::StepEnclosure(const model::Mechanics& model) {
    const model::SymbolicEquations* const symbolic = model.system->symbolic();
    if (symbolic == nullptr || !symbolic->complete()) return;
    available_ = true;
    n_ = ix(model.size());
    const model::Layout& layout = model.layout();
    constraints_ = layout.constraints;
    gaps_ = layout.normals;
    slips_ = layout.slips;

    model::Formulas f = symbolic->formulas();  // a copy: switching functions are added to its graph
    const model::Derived& derived = symbolic->derived();
    std::vector<Expr> outputs(f.gaps), rates;
    for (int k = 0; k < gaps_; ++k) rates.push_back(derived.velocity[ix(constraints_ + k)]);
    for (int k = 0; k < slips_; ++k) outputs.push_back(derived.velocity[ix(constraints_ + gaps_ + k)]);
    first_coefficient_ = outputs.size();
    outputs.insert(outputs.end(), f.coefficients.begin(), f.coefficients.end());

    std::vector<Expr> roots(derived.h);
    for (const model::Derived::Entry& e : derived.mass) roots.push_back(e.value);
    for (const model::Derived::Entry& e : derived.rows) roots.push_back(e.value);
    for (const std::span<const Expr> list :
         {std::span<const Expr>(derived.chi), std::span<const Expr>(derived.zeta), std::span<const Expr>(f.constraints),
          std::span<const Expr>(f.gaps), std::span<const Expr>(f.coefficients)})
        roots.insert(roots.end(), list.begin(), list.end());
    constexpr expr::Kinds of_state = expr::time | expr::position | expr::velocity;
    std::vector<Expr> switches, bumps;
    for (const Expr e : expr::reachable(f.graph, roots)) {
        if (!f.graph.depends_on(e, of_state)) continue;
        if (can_bump(f.graph, e)) bumps.push_back(e);
        const std::optional<Expr> s = switching_function(f.graph, e);
        if (s && f.graph.depends_on(*s, of_state) && std::find(switches.begin(), switches.end(), *s) == switches.end())
            switches.push_back(*s);
    }
    first_switch_ = outputs.size();
    outputs.insert(outputs.end(), switches.begin(), switches.end());
    first_bump_ = outputs.size();
    outputs.insert(outputs.end(), bumps.begin(), bumps.end());

    std::vector<Expr> variables{f.t};
    variables.insert(variables.end(), f.q.begin(), f.q.end());
    variables.insert(variables.end(), f.u.begin(), f.u.end());
    formulas_ = expr::Tape(f.graph, outputs, f.p, variables);
    rates_ = expr::Tape(f.graph, rates, f.p, variables);
    scratch_.resize(formulas_.slot_count());
    rate_scratch_.resize(rates_.slot_count());
    sample_scratch_.resize(formulas_.slot_count());
    const std::vector<Interval> p(model.p.begin(), model.p.end());
    formulas_.prepare<Interval>(p, scratch_);
    rates_.prepare<Interval>(p, rate_scratch_);
    formulas_.prepare<double>(model.p, sample_scratch_);
    box_.resize(variables.size());
    rate_box_.resize(variables.size());
    sample_variables_.resize(variables.size());
    values_.resize(outputs.size());
    sample_values_.resize(outputs.size());
    rate_values_.resize(rates.size());
}

void StepEnclosure::begin(const ode::Dense& step) {
    SALTUS_EXPECT(available_ && ix(step.size()) >= 2 * n_);
    step_ = &step;
    // In the form `series` the last term is x_new, which is no coefficient.
    terms_ = step.form() == ode::Dense::Form::series ? step.terms() - 1 : step.terms();
    polynomials_.resize(2 * n_ * ix(terms_));
    size_.resize(2 * n_);
    for (std::size_t i = 0; i < 2 * n_; ++i) {
        double* const c = polynomials_.data() + i * ix(terms_);
        monomials(step, static_cast<int>(i), terms_, c);
        size_[i] = 0.0;
        for (int k = 0; k < terms_; ++k) size_[i] += std::abs(c[k]);
    }
    evaluations_ = 0;
}

bool StepEnclosure::takes_another() { return evaluations_ < max_evaluations; }

double StepEnclosure::time(double theta) const {
    if (theta <= 0.0) return step_->t_old();
    if (theta >= 1.0) return step_->t_new();
    return step_->t_old() + theta * (step_->t_new() - step_->t_old());
}

/// Bounds all formulas on a part of the step. With m the middle and r the half width of the part, a polynomial with
/// the Taylor coefficients d_k at m lies within Σ_{k>=1} |d_k| r^k of d_0, and its derivative by θ within
/// Σ_{k>=2} k |d_k| r^(k−1) of d_1. Rounding errors of the d_k are covered by some units in the last place of Σ|c_k|.
/// With `rates`, also bounds dg/dt of the gaps along the polynomial, in which dq/dt takes the place of u.
void StepEnclosure::enclose(const Part& part, Rates rates) {
    ++evaluations_;
    const double m = part.middle(), r = 0.5 * (part.to - part.from), h = step_->t_new() - step_->t_old();
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    const double roundings = 4.0 * terms_ * epsilon;  // two for each of the additions that give d_k
    double d[ode::Dense::max_series_order + 2];
    const double t_a = time(part.from), t_b = time(part.to);
    box_[0] = {t_a, t_b};
    rate_box_[0] = box_[0];
    for (std::size_t i = 0; i < 2 * n_; ++i) {
        std::copy_n(polynomials_.data() + i * ix(terms_), terms_, d);
        for (int j = 0; j < terms_ - 1; ++j)
            for (int k = terms_ - 2; k >= j; --k) d[k] += m * d[k + 1];
        double radius = 0.0, slope_radius = 0.0, power = 1.0;
        for (int k = 1; k < terms_; ++k) {
            if (k > 1) slope_radius += k * std::abs(d[k]) * power;
            power *= r;
            radius += std::abs(d[k]) * power;
        }
        const double noise = roundings * size_[i];
        box_[1 + i] = around(d[0], radius * (1.0 + roundings) + noise);
        if (rates == Rates::no || i >= n_) continue;
        rate_box_[1 + i] = box_[1 + i];
        rate_box_[1 + n_ + i] = around(d[1] / h, (slope_radius * (1.0 + roundings) + terms_ * noise) / h);
    }
    formulas_.evaluate<Interval>(box_, scratch_, values_);
    if (rates == Rates::yes) rates_.evaluate<Interval>(rate_box_, rate_scratch_, rate_values_);
}

void StepEnclosure::sample(double theta) {
    sample_variables_[0] = time(theta);
    step_->evaluate(time(theta), sample_variables_.data() + 1, static_cast<int>(2 * n_));
    formulas_.evaluate<double>(sample_variables_, sample_scratch_, sample_values_);
}

void StepEnclosure::sample_at(double t, const double* state) {
    sample_variables_[0] = t;
    std::copy_n(state, 2 * n_, sample_variables_.begin() + 1);
    formulas_.evaluate<double>(sample_variables_, sample_scratch_, sample_values_);
}

bool StepEnclosure::switches_between(double t_a, const double* a, double t_b, const double* b) {
    sample_at(t_a, a);
    const std::vector<double> before(sample_values_.begin() + static_cast<std::ptrdiff_t>(first_switch_),
                                     sample_values_.begin() + static_cast<std::ptrdiff_t>(first_bump_));
    sample_at(t_b, b);
    for (std::size_t k = 0; k < before.size(); ++k)
        if ((before[k] > 0.0) != (sample_values_[first_switch_ + k] > 0.0)) return true;
    return false;
}

Interval StepEnclosure::bounds(const Quantity& q) const {
    // Gaps and the other velocities follow each other, as their rows do.
    const bool coefficient = q.what == Quantity::What::coefficient;
    const Interval& v = values_[coefficient ? first_coefficient_ + ix(q.number) : ix(q.number - constraints_)];
    if (!v.defined) return {-Interval::infinity, Interval::infinity, false};
    return q.sign < 0.0 ? Interval{-v.hi, -v.lo} : v;
}

/// Whether a gap rises or falls on the whole part that was last bounded. Its least value is then at an end.
bool StepEnclosure::monotone(const Quantity& q) const {
    if (q.what != Quantity::What::position) return false;
    const Interval& rate = rate_values_[ix(q.number - constraints_)];
    return rate.defined && (rate.lo > 0.0 || rate.hi < 0.0);
}

std::optional<StepEnclosure::Dip> StepEnclosure::first_dip(std::span<const Quantity> quantities, double until,
                                                           ode::FunctionRef<double(std::size_t k, double t)> value) {
    evaluations_ = 0;
    std::optional<Dip> first;
    const auto negative = [&](std::size_t k, double theta) { return value(k, time(theta)) < -quantities[k].noise; };
    // Parts of the step that are to be examined, the next one last.
    std::vector<Part> open{{0.0, 1.0}};
    while (!open.empty() && takes_another()) {
        const Part part = open.back();
        open.pop_back();
        if (time(part.from) >= until || (first && time(part.from) >= first->at)) break;
        enclose(part, Rates::yes);
        bool undecided = false;
        for (std::size_t k = 0; k < quantities.size(); ++k) {
            const Quantity& q = quantities[k];
            if (bounds(q).lo >= -q.noise) continue;
            if (q.starts_at_zero && part.from == 0.0 && part.to <= shortest_part) continue;
            const bool at_end = negative(k, part.to);
            if (monotone(q) && !at_end && (part.from == 0.0 || !negative(k, part.from))) continue;
            const double place = at_end ? part.to : part.middle();
            if ((at_end || negative(k, place)) && time(place) < until && (!first || time(place) < first->at))
                first = Dip{static_cast<int>(k), time(part.from), time(place)};
            undecided = true;
        }
        if (!undecided || part.to - part.from <= shortest_part) continue;
        open.push_back({part.middle(), part.to});
        open.push_back({part.from, part.middle()});
    }
    return first;
}

double StepEnclosure::resolved_part() {
    double part = 1.0;
    if (first_bump_ < values_.size()) part = std::min(part, unseen_bump());
    if (first_switch_ < first_bump_) part = std::min(part, second_switch());
    return part;
}

/// The part of the step before the first place at which a function leaves the range of its samples; 1 if there is none.
double StepEnclosure::unseen_bump() {
    evaluations_ = 0;
    const std::size_t count = values_.size() - first_bump_;
    std::vector<double> low(count, Interval::infinity), high(count, -Interval::infinity);
    for (int s = 0; s < samples_of_a_step; ++s) {
        sample(static_cast<double>(s) / (samples_of_a_step - 1));
        for (std::size_t k = 0; k < count; ++k) {
            const double v = sample_values_[first_bump_ + k];
            if (std::isnan(v)) return 1.0;  // the methods find out what that means
            low[k] = std::min(low[k], v);
            high[k] = std::max(high[k], v);
        }
    }
    for (std::size_t k = 0; k < count; ++k) {
        const double margin =
            range_margin * (high[k] - low[k]) + value_margin * (1.0 + std::max(std::abs(low[k]), std::abs(high[k])));
        low[k] -= margin;
        high[k] += margin;
    }
    std::vector<Part> open{{0.0, 1.0}};
    while (!open.empty() && takes_another()) {
        const Part part = open.back();
        open.pop_back();
        enclose(part, Rates::no);
        bool inside = true;
        for (std::size_t k = 0; k < count && inside; ++k) {
            const Interval& v = values_[first_bump_ + k];
            inside = v.defined && v.lo >= low[k] && v.hi <= high[k];
        }
        if (inside) continue;
        sample(part.middle());
        for (std::size_t k = 0; k < count; ++k) {
            const double v = sample_values_[first_bump_ + k];
            // The step may end before this part. If it begins with it, a step of this length sees the function.
            if (v < low[k] || v > high[k]) return std::max(part.from, part.to - part.from);
        }
        if (part.to - part.from <= shortest_part) continue;
        open.push_back({part.middle(), part.to});
        open.push_back({part.from, part.middle()});
    }
    return 1.0;
}

/// A part of the step that contains one zero of the switching functions and not the second one; 1 if there are not two.
double StepEnclosure::second_switch() {
    evaluations_ = 0;
    std::optional<Part> first;
    std::vector<Part> open{{0.0, 1.0}};
    std::vector<std::size_t> moving;  // functions that do not rest on their switches during the whole step
    enclose(open.front(), Rates::no);
    for (std::size_t k = first_switch_; k < first_bump_; ++k)
        if (values_[k].lo < -resting_switch || values_[k].hi > resting_switch) moving.push_back(k);
    while (!open.empty() && takes_another()) {
        const Part part = open.back();
        open.pop_back();
        enclose(part, Rates::no);
        const bool decided = std::all_of(moving.begin(), moving.end(), [&](std::size_t k) {
            return values_[k].defined && (values_[k].lo > 0.0 || values_[k].hi < 0.0);
        });
        if (decided) continue;
        if (part.to - part.from > shortest_part) {
            open.push_back({part.middle(), part.to});
            open.push_back({part.from, part.middle()});
            continue;
        }
        // A zero, as narrow as it can be. One at the start of the step was passed by the step before.
        if (part.from == 0.0) continue;
        if (!first)
            first = part;
        else if (part.from - first->to <= 2.0 * shortest_part)
            first->to = part.to;  // the same zero
        else
            return 0.5 * (first->to + part.from);
    }
    return 1.0;
}

}  // namespace saltus::integrate
