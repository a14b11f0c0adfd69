// SPDX-License-Identifier: Apache-2.0
#include "saltus/proof/enclosure.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/support.hpp"
#include "saltus/model/symbolic.hpp"

namespace saltus::proof {

using expr::Derivative;
using expr::Expr;

namespace {

constexpr int most_coordinates = 12;
constexpr expr::Kinds of_state = expr::position | expr::velocity;

IntervalMatrix symmetric(const std::vector<Interval>& lower, std::size_t from, int n) {
    IntervalMatrix A(n, n);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) A(i, j) = A(j, i) = lower[from++];
    return A;
}

std::size_t triangle(int n) { return static_cast<std::size_t>(n * (n + 1) / 2); }

IntervalMatrix rectangle(const std::vector<Interval>& values, std::size_t from, int rows, int cols) {
    IntervalMatrix A(rows, cols);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < cols; ++j) A(i, j) = values[from++];
    return A;
}

}  // namespace

std::unique_ptr<Enclosure> Enclosure::of(const model::Model& model, std::string& why) {
    why = model::unsupported(model, model::Analysis::enclosure);
    if (!why.empty()) return nullptr;
    if (model.size() > most_coordinates) {
        why = "it has " + counted(static_cast<std::size_t>(model.size()), "coordinate") +
              ", and bounds over boxes are made for up to " + std::to_string(most_coordinates);
        return nullptr;
    }
    return std::unique_ptr<Enclosure>(new Enclosure(model));
}

Enclosure::Enclosure(const model::Model& model) : model_(model) {
    const model::SymbolicEquations& system = *model.system->symbolic();
    model::Formulas f = system.formulas();  // derivatives are built in a graph of their own
    const model::Derived& d = system.derived();
    expr::Graph& g = f.graph;
    n_ = static_cast<int>(f.q.size());
    constraints_ = static_cast<int>(f.constraints.size());
    positions_ = constraints_ + static_cast<int>(f.gaps.size());
    rows_ = static_cast<int>(d.velocity.size());
    parameters_ = f.p;
    variables_ = {f.t};
    variables_.insert(variables_.end(), f.q.begin(), f.q.end());
    variables_.insert(variables_.end(), f.u.begin(), f.u.end());

    std::vector<Derivative> by_q, by_u;
    for (const Expr q : f.q) by_q.emplace_back(g, q);
    for (const Expr u : f.u) by_u.emplace_back(g, u);
    std::vector<std::pair<Expr, Expr>> zero_velocity;
    for (const Expr u : f.u) zero_velocity.emplace_back(u, g.constant(0.0));
    expr::Substitution at_rest(g, zero_velocity);
    const auto add_triangle = [&](std::vector<Expr>& to, const auto& entry) {
        for (std::size_t i = 0; i < f.q.size(); ++i)
            for (std::size_t j = 0; j <= i; ++j) to.push_back(entry(i, j));
    };

    std::vector<Expr> positions = f.constraints;
    positions.insert(positions.end(), f.gaps.begin(), f.gaps.end());
    const std::size_t n = f.q.size();

    compile(potential_, g, {f.U});
    compile(positions_group_, g, positions);
    std::vector<Expr> gradient, hessian, rows(static_cast<std::size_t>(rows_) * n, g.constant(0.0)), curved;
    for (std::size_t j = 0; j < n; ++j) gradient.push_back(by_q[j](f.U));
    add_triangle(hessian, [&](std::size_t i, std::size_t j) { return by_q[j](gradient[i]); });
    compile(gradient_, g, gradient);
    compile_slopes(gradient_, g, gradient, f.q);
    compile(hessian_, g, hessian);
    for (const model::Derived::Entry& e : d.rows)
        rows[static_cast<std::size_t>(e.row) * n + static_cast<std::size_t>(e.column)] = e.value;
    compile(rows_group_, g, rows);
    compile_slopes(rows_group_, g, rows, f.q);
    compile(chi_group_, g, d.chi);
    for (const Expr p : positions)
        add_triangle(curved, [&](std::size_t i, std::size_t j) { return by_q[j](by_q[i](p)); });
    compile(position_hessians_, g, curved);

    std::vector<Expr> mass(triangle(n_), g.constant(0.0));
    for (const model::Derived::Entry& e : d.mass) {
        const auto i = static_cast<std::size_t>(e.row), j = static_cast<std::size_t>(e.column);
        mass[i * (i + 1) / 2 + j] = e.value;
    }
    compile(mass_, g, mass);
    compile_slopes(mass_, g, mass, f.q);

    // Forces and curvatures by powers of u.
    std::vector<Expr> forces, curvatures, zeta(d.zeta.begin(), d.zeta.begin() + positions_);
    for (const Expr h : d.h) forces.push_back(at_rest(h));
    for (const Expr h : d.h)
        for (std::size_t j = 0; j < n; ++j) forces.push_back(at_rest(by_u[j](h)));
    const auto half = [&](Expr e) { return g.mul(g.constant(0.5), e); };
    for (const Expr h : d.h)
        add_triangle(forces, [&](std::size_t i, std::size_t j) {
            const Expr second = by_u[j](by_u[i](h));
            quadratic_forces = quadratic_forces && !g.depends_on(second, expr::velocity);
            return half(at_rest(second));
        });
    for (const Expr z : zeta)
        add_triangle(curvatures, [&](std::size_t i, std::size_t j) { return half(at_rest(by_u[j](by_u[i](z)))); });
    compile(forces_, g, forces);
    compile_slopes(forces_, g, forces, f.q);
    compile(curvatures_, g, curvatures);
    compile_slopes(curvatures_, g, curvatures, f.q);
    compile(force_, g, d.h);
    compile(curvature_, g, zeta);

    std::vector<Expr> smooth_forces, rest, damping;
    for (std::size_t i = 0; i < n; ++i) smooth_forces.push_back(g.sub(f.f[i], by_u[i](f.R)));
    for (const Expr e : smooth_forces) {
        rest.push_back(at_rest(e));
        restful = restful && g.is_zero(rest.back());
    }
    for (const Expr e : smooth_forces)
        for (std::size_t j = 0; j < n; ++j) {
            const Expr slope = by_u[j](e);
            linear_damping = linear_damping && !g.depends_on(slope, expr::velocity);
            damping.push_back(g.neg(at_rest(slope)));
        }
    for (std::size_t i = 0; i < n; ++i) {
        quadratic_rayleigh = quadratic_rayleigh && g.is_zero(f.f[i]) && g.is_zero(at_rest(by_u[i](f.R)));
        for (std::size_t j = 0; j < n; ++j)
            quadratic_rayleigh = quadratic_rayleigh && !g.depends_on(by_u[j](by_u[i](f.R)), expr::velocity);
    }
    quadratic_rayleigh = quadratic_rayleigh && g.is_zero(at_rest(f.R));
    compile(rest_forces_, g, rest);
    compile(damping_, g, damping);
    Expr power = g.constant(0.0);
    for (std::size_t i = 0; i < n; ++i) power = g.sub(power, g.mul(f.u[i], smooth_forces[i]));
    compile(damping_power_, g, {power});
    compile(dissipation_, g, {f.R});
    compile(coefficients_, g, f.coefficients);

    compile(regions_, g, f.regions);
    std::vector<Expr> region_terms;
    for (const Expr r : f.regions) {
        region_of_velocity.push_back(g.depends_on(r, expr::velocity));
        quadratic_region.push_back(expr::kinks(g, r, expr::velocity).empty());
        region_terms.push_back(at_rest(r));
        for (Derivative& by : by_u) region_terms.push_back(at_rest(by(r)));
        add_triangle(region_terms, [&](std::size_t i, std::size_t j) {
            const Expr second = by_u[j](by_u[i](r));
            if (g.depends_on(second, expr::velocity)) quadratic_region.back() = false;
            return half(at_rest(second));
        });
    }
    compile(region_terms_, g, region_terms);

    std::vector<Expr> kinetic{at_rest(f.T)};
    for (Derivative& by : by_u) kinetic.push_back(at_rest(by(f.T)));
    compile(kinetic_rest_, g, kinetic);

    std::vector<Expr> shapes = positions;
    shapes.insert(shapes.end(), {f.U, f.T});
    for (const Expr e : shapes)
        for (const std::string& name : expr::kinks(g, e, of_state)) {
            smooth = false;
            if (name != "abs" && name != "min" && name != "max" && name != "hypot") lipschitz = false;
        }
    // A kink has no second derivative; that what is left has none either proves nothing.
    for (const Expr e : d.h) quadratic_forces = quadratic_forces && expr::kinks(g, e, expr::velocity).empty();
    for (const Expr e : smooth_forces) linear_damping = linear_damping && expr::kinks(g, e, expr::velocity).empty();
    quadratic_rayleigh = quadratic_rayleigh && expr::kinks(g, f.R, expr::velocity).empty();
}

void Enclosure::compile(Group& group, expr::Graph& graph, const std::vector<Expr>& outputs) const {
    group.tape = expr::Tape(graph, outputs, parameters_, variables_);
    group.scratch.resize(group.tape.slot_count());
    group.in.resize(variables_.size());
    group.out.resize(outputs.size());
    std::vector<Interval> p;
    for (const double value : model_.p) p.emplace_back(value);
    group.tape.prepare<Interval>(p, group.scratch);
}

void Enclosure::compile_slopes(Group& group, expr::Graph& graph, const std::vector<Expr>& outputs,
                               const std::vector<Expr>& q) const {
    std::vector<Expr> slopes;
    for (const Expr x : q) {
        Derivative by(graph, x);
        for (const Expr e : outputs) {
            // A kink below has no derivative that encloses.
            if (!expr::kinks(graph, e, expr::position).empty()) return;
            slopes.push_back(by(e));
        }
    }
    group.slopes = expr::Tape(graph, slopes, parameters_, variables_);
    group.slope_scratch.resize(group.slopes.slot_count());
    group.slope.resize(slopes.size());
    group.at_centre.resize(outputs.size());
    std::vector<Interval> p;
    for (const double value : model_.p) p.emplace_back(value);
    group.slopes.prepare<Interval>(p, group.slope_scratch);
}

void Enclosure::narrow(const Group& group, const Box& q) const {
    constexpr double small = 0.25;
    const bool worth =
        std::any_of(q.begin(), q.end(), [](const Interval& x) { return width(x) <= small && !is_point(x); });
    if (!worth) return;
    group.slopes.evaluate<Interval>(group.in, group.slope_scratch, group.slope);
    const auto n = static_cast<std::size_t>(n_);
    const std::vector<double> c = centre(q);
    Box step;
    for (std::size_t k = 0; k < n; ++k) {
        step.push_back(q[k] - Interval(c[k]));
        group.in[1 + k] = Interval(c[k]);
    }
    group.tape.evaluate<Interval>(group.in, group.scratch, group.at_centre);
    const std::size_t count = group.out.size();
    for (std::size_t i = 0; i < count; ++i) {
        if (!group.out[i].defined || is_point(group.out[i])) continue;
        Interval mean = group.at_centre[i];
        for (std::size_t k = 0; k < n; ++k) {
            const Interval& slope = group.slope[k * count + i];
            if (slope.lo != 0.0 || slope.hi != 0.0) mean += slope * step[k];
        }
        if (!mean.defined) continue;
        if (const std::optional<Interval> both = intersection(group.out[i], mean)) group.out[i] = *both;
    }
}

const std::vector<Interval>& Enclosure::evaluate(const Group& group, const Box& q, const Box* u) const {
    const auto n = static_cast<std::size_t>(n_);
    if (group.out.empty()) return group.out;
    group.in[0] = Interval(0.0);
    for (std::size_t k = 0; k < n; ++k) {
        group.in[1 + k] = q[k];
        group.in[1 + n + k] = u == nullptr ? Interval(0.0) : (*u)[k];
    }
    group.tape.evaluate<Interval>(group.in, group.scratch, group.out);
    if (!group.slope.empty()) narrow(group, q);
    // Where a function does not exist on the whole box its bounds say nothing.
    for (Interval& x : group.out)
        if (!x.defined) x = expr::entire(false);
    return group.out;
}

Interval Enclosure::potential(const Box& q) const { return evaluate(potential_, q)[0]; }
IntervalVector Enclosure::gradient(const Box& q) const { return evaluate(gradient_, q); }
IntervalMatrix Enclosure::hessian(const Box& q) const { return symmetric(evaluate(hessian_, q), 0, n_); }
IntervalVector Enclosure::position_values(const Box& q) const { return evaluate(positions_group_, q); }
IntervalMatrix Enclosure::row_matrix(const Box& q) const { return rectangle(evaluate(rows_group_, q), 0, rows_, n_); }
IntervalVector Enclosure::chi(const Box& q) const { return evaluate(chi_group_, q); }
IntervalMatrix Enclosure::mass(const Box& q) const { return symmetric(evaluate(mass_, q), 0, n_); }
IntervalVector Enclosure::force(const Box& q, const Box& u) const { return evaluate(force_, q, &u); }
IntervalVector Enclosure::curvature(const Box& q, const Box& u) const { return evaluate(curvature_, q, &u); }
IntervalVector Enclosure::forces_at_rest(const Box& q) const { return evaluate(rest_forces_, q); }
IntervalMatrix Enclosure::damping(const Box& q) const { return rectangle(evaluate(damping_, q), 0, n_, n_); }
Interval Enclosure::damping_power(const Box& q, const Box& u) const { return evaluate(damping_power_, q, &u)[0]; }
Interval Enclosure::dissipation(const Box& q, const Box& u) const { return evaluate(dissipation_, q, &u)[0]; }
IntervalVector Enclosure::coefficients(const Box& q, const Box& u) const { return evaluate(coefficients_, q, &u); }
IntervalVector Enclosure::regions(const Box& q, const Box& u) const { return evaluate(regions_, q, &u); }
IntervalVector Enclosure::kinetic_rest(const Box& q) const { return evaluate(kinetic_rest_, q); }

IntervalVector Enclosure::region_terms(const Box& q, int region) const {
    const std::vector<Interval>& all = evaluate(region_terms_, q);
    const auto size = static_cast<std::ptrdiff_t>(1 + static_cast<std::size_t>(n_) + triangle(n_));
    return {all.begin() + region * size, all.begin() + (region + 1) * size};
}

double Enclosure::region_kinetic(const Box& q, int region) const {
    const IntervalMatrix M = mass(q);
    if (quadratic_region[static_cast<std::size_t>(region)]) {
        // −slack = −s₀ − l·u − uᵀSu
        IntervalVector terms = region_terms(q, region);
        for (Interval& x : terms) x = -x;
        const IntervalVector linear(terms.begin() + 1, terms.begin() + 1 + n_);
        return kinetic_to_vanish(terms[0].hi, dual_norm(linear, M),
                                 largest_eigenvalue(symmetric(terms, 1 + static_cast<std::size_t>(n_), n_), M));
    }
    // Any other function of u: by its bounds over the velocities below a kinetic energy.
    const auto holds = [&](double kinetic) {
        const Interval slack = regions(q, velocities_below(kinetic, M))[static_cast<std::size_t>(region)];
        return slack.defined && slack.lo > 0.0;
    };
    if (!holds(0.0)) return 0.0;
    if (holds(Interval::infinity)) return Interval::infinity;
    double low = 0.0, high = 1.0;
    while (holds(high) && high < 1e300) low = high, high *= 4.0;
    for (int k = 0; k < 60; ++k) {
        const double middle = low > 0.0 ? 0.5 * (low + high) : high * 1e-3;
        (holds(middle) ? low : high) = middle;
    }
    return low;
}

double kinetic_to_vanish(double constant, double slope, double curve) {
    if (!(constant < 0.0)) return 0.0;
    curve = std::max(0.0, curve);
    if (slope == 0.0 && curve == 0.0) return Interval::infinity;
    if (!std::isfinite(slope) || !std::isfinite(curve)) return 0.0;
    const Interval weight(-constant);
    const Interval root = expr::sqrt(expr::sqr(Interval(slope)) + Interval(4.0) * Interval(curve) * weight);
    const Interval s = Interval(2.0) * weight / (Interval(slope) + root);
    return (expr::sqr(s) / Interval(2.0)).lo;
}

Box velocities_below(double kinetic, const IntervalMatrix& M) {
    const int n = M.rows();
    Box u(static_cast<std::size_t>(n), expr::entire());
    if (kinetic <= 0.0) return Box(static_cast<std::size_t>(n), Interval(0.0));
    const std::optional<IntervalMatrix> inverse = solve(M, IntervalMatrix::identity(n));
    if (!inverse || !std::isfinite(kinetic)) return u;
    for (int k = 0; k < n; ++k) {
        const double square = (Interval(2.0) * Interval(kinetic) * (*inverse)(k, k)).hi;
        const double most = expr::sqrt(Interval(square > 0.0 ? square : 0.0)).hi;
        u[static_cast<std::size_t>(k)] = Interval(-most, most);
    }
    return u;
}

std::vector<IntervalMatrix> Enclosure::position_hessians(const Box& q) const {
    const std::vector<Interval>& values = evaluate(position_hessians_, q);
    std::vector<IntervalMatrix> list;
    for (int r = 0; r < positions_; ++r)
        list.push_back(symmetric(values, static_cast<std::size_t>(r) * triangle(n_), n_));
    return list;
}

std::optional<IntervalMatrix> Enclosure::row_derivative(const Box& q, int row) const {
    const Group& group = rows_group_;
    if (group.slope.empty()) return std::nullopt;
    evaluate(group, q);
    for (std::size_t k = 0; k < static_cast<std::size_t>(n_); ++k) group.in[1 + k] = q[k];
    group.slopes.evaluate<Interval>(group.in, group.slope_scratch, group.slope);
    IntervalMatrix D(n_, n_);
    for (int j = 0; j < n_; ++j)
        for (int i = 0; i < n_; ++i) D(i, j) = group.slope[static_cast<std::size_t>(j * rows_ * n_ + row * n_ + i)];
    return D;
}

ForceTerms Enclosure::forces(const Box& q) const {
    const std::vector<Interval>& values = evaluate(forces_, q);
    const auto n = static_cast<std::size_t>(n_);
    ForceTerms terms;
    terms.constant.assign(values.begin(), values.begin() + n_);
    terms.linear = rectangle(values, n, n_, n_);
    for (std::size_t k = 0; k < n; ++k) terms.quadratic.push_back(symmetric(values, n + n * n + k * triangle(n_), n_));
    return terms;
}

std::vector<IntervalMatrix> Enclosure::curvatures(const Box& q) const {
    const std::vector<Interval>& values = evaluate(curvatures_, q);
    std::vector<IntervalMatrix> list;
    for (int r = 0; r < positions_; ++r)
        list.push_back(symmetric(values, static_cast<std::size_t>(r) * triangle(n_), n_));
    return list;
}

}  // namespace saltus::proof
