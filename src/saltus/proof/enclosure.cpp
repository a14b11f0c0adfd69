// SPDX-License-Identifier: Apache-2.0
#include "saltus/proof/enclosure.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/support.hpp"
#include "saltus/model/symbolic.hpp"
#include "saltus/model/variants/energy_split.hpp"
#include "saltus/proof/detail/homogeneous.hpp"

namespace saltus::proof {

using expr::Derivative;
using expr::Expr;

namespace {

/// Covers by boxes are hopeless in more dimensions: the number of boxes grows exponentially.
constexpr int max_coordinates = 12;
constexpr expr::Kinds position_or_velocity = expr::position | expr::velocity;

/// The search for the kinetic energy at which a region is left begins at `first_kinetic`, grows by `kinetic_growth`,
/// and then bisects `bisections` times. All accepted values are proved; the numbers decide how sharp the bound is.
constexpr double first_kinetic = 1.0, kinetic_growth = 4.0, largest_kinetic = 1e300, shrink_to_find_first = 1e-3;
constexpr int bisections = 60;

/// The symmetric matrix whose lower triangle is stored row by row from lower[from] on.
IntervalMatrix symmetric(const std::vector<Interval>& lower, std::size_t from, int n) {
    IntervalMatrix A(n, n);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) A(i, j) = A(j, i) = lower[from++];
    return A;
}

/// The number of entries of a lower triangle.
std::size_t triangle(int n) { return static_cast<std::size_t>(n * (n + 1) / 2); }

/// The matrix that is stored row by row from values[from] on.
IntervalMatrix rectangle(const std::vector<Interval>& values, std::size_t from, int rows, int cols) {
    IntervalMatrix A(rows, cols);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < cols; ++j) A(i, j) = values[from++];
    return A;
}

}  // namespace

std::unique_ptr<Enclosure> Enclosure::of(const model::Mechanics& model, std::string& why) {
    why = model::unsupported(model, model::Analysis::enclosure);
    if (!why.empty()) return nullptr;
    if (model.size() > max_coordinates) {
        why = "it has " + counted(static_cast<std::size_t>(model.size()), "coordinate") +
              ", and bounds over boxes are made for up to " + std::to_string(max_coordinates);
        return nullptr;
    }
    return std::unique_ptr<Enclosure>(new Enclosure(model));
}

/// The expressions of the model with the tools that differentiate them. The graph is a copy: derivatives are built in
/// it.
struct Enclosure::Source {
    model::Formulas f;
    const model::Derived& d;
    expr::Graph& g;
    std::size_t n;  // coordinates
    std::vector<Derivative> by_q, by_u;
    expr::Substitution at_rest;       // u = 0
    std::vector<Expr> positions;      // g, then g_N
    std::vector<Expr> smooth_forces;  // f^nc = f − ∂R/∂u

    explicit Source(const model::SymbolicEquations& system)
        : f(system.formulas()),
          d(system.derived()),
          g(f.graph),
          n(f.q.size()),
          by_q(derivatives(g, f.q)),
          by_u(derivatives(g, f.u)),
          at_rest(g, zero(g, f.u)),
          positions(f.constraints) {
        positions.insert(positions.end(), f.gaps.begin(), f.gaps.end());
    }

    Expr half(Expr e) { return g.mul(g.constant(0.5), e); }

    /// A smooth part of degree 2 as Σ ½H_ii u_i² + Σ H_ij u_i u_j, in which gyroscopic terms cancel. Otherwise e
    /// itself.
    Expr quadratic_form(Expr e) {
        if (!expr::kinks(g, e, expr::velocity).empty()) return e;
        Expr sum = g.constant(0.0);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j <= i; ++j) {
                const Expr second = by_u[j](by_u[i](e));
                if (g.depends_on(second, expr::velocity)) return e;
                const Expr product = i == j ? half(g.powi(f.u[i], 2)) : g.mul(f.u[i], f.u[j]);
                sum = g.add(sum, g.mul(second, product));
            }
        return sum;
    }

    /// Appends entry(i, j) of the lower triangle, row by row.
    template <class Entry>
    void add_triangle(std::vector<Expr>& to, const Entry& entry) const {
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j <= i; ++j) to.push_back(entry(i, j));
    }

private:
    static std::vector<Derivative> derivatives(expr::Graph& graph, const std::vector<Expr>& symbols) {
        std::vector<Derivative> list;
        for (const Expr symbol : symbols) list.emplace_back(graph, symbol);
        return list;
    }
    static std::vector<std::pair<Expr, Expr>> zero(expr::Graph& graph, const std::vector<Expr>& symbols) {
        std::vector<std::pair<Expr, Expr>> list;
        for (const Expr symbol : symbols) list.emplace_back(symbol, graph.constant(0.0));
        return list;
    }
};

Enclosure::Enclosure(const model::Mechanics& model) : model_(model) {
    Source s(*model.system->symbolic());
    n_ = static_cast<int>(s.n);
    constraints_ = static_cast<int>(s.f.constraints.size());
    positions_ = static_cast<int>(s.positions.size());
    rows_ = static_cast<int>(s.d.velocity.size());
    parameters_ = s.f.p;
    variables_ = {s.f.t};
    variables_.insert(variables_.end(), s.f.q.begin(), s.f.q.end());
    variables_.insert(variables_.end(), s.f.u.begin(), s.f.u.end());
    compile_kinematics(s);
    compile_dynamics(s);
    compile_damping(s);
    compile_regions(s);
    find_kinks(s);
}

/// U with its derivatives, positions with their Hessians, Wᵀ, χ.
void Enclosure::compile_kinematics(Source& s) {
    const std::size_t n = s.n;
    compile(potential_, s.g, {s.f.U});
    compile(positions_group_, s.g, s.positions);
    std::vector<Expr> gradient, hessian, rows(static_cast<std::size_t>(rows_) * n, s.g.constant(0.0)), curved;
    for (std::size_t j = 0; j < n; ++j) gradient.push_back(s.by_q[j](s.f.U));
    s.add_triangle(hessian, [&](std::size_t i, std::size_t j) { return s.by_q[j](gradient[i]); });
    compile(gradient_, s.g, gradient);
    compile_slopes(gradient_, s.g, gradient, s.f.q);
    compile(hessian_, s.g, hessian);
    for (const model::Derived::Entry& e : s.d.rows)
        rows[static_cast<std::size_t>(e.row) * n + static_cast<std::size_t>(e.column)] = e.value;
    compile(rows_group_, s.g, rows);
    compile_slopes(rows_group_, s.g, rows, s.f.q);
    compile(chi_group_, s.g, s.d.chi);
    for (const Expr p : s.positions)
        s.add_triangle(curved, [&](std::size_t i, std::size_t j) { return s.by_q[j](s.by_q[i](p)); });
    compile(position_hessians_, s.g, curved);
}

/// M, and h and ζ as they are and by powers of u (Taylor coefficients at u = 0).
void Enclosure::compile_dynamics(Source& s) {
    std::vector<Expr> mass(triangle(n_), s.g.constant(0.0));
    for (const model::Derived::Entry& e : s.d.mass) {
        const auto i = static_cast<std::size_t>(e.row), j = static_cast<std::size_t>(e.column);
        mass[i * (i + 1) / 2 + j] = e.value;
    }
    compile(mass_, s.g, mass);
    compile_slopes(mass_, s.g, mass, s.f.q);

    std::vector<Expr> forces, curvatures, zeta(s.d.zeta.begin(), s.d.zeta.begin() + positions_);
    for (const Expr h : s.d.h) forces.push_back(s.at_rest(h));
    for (const Expr h : s.d.h)
        for (std::size_t j = 0; j < s.n; ++j) forces.push_back(s.at_rest(s.by_u[j](h)));
    for (const Expr h : s.d.h)
        s.add_triangle(forces, [&](std::size_t i, std::size_t j) {
            const Expr second = s.by_u[j](s.by_u[i](h));
            quadratic_forces = quadratic_forces && !s.g.depends_on(second, expr::velocity);
            return s.half(s.at_rest(second));
        });
    for (const Expr z : zeta)
        s.add_triangle(curvatures,
                       [&](std::size_t i, std::size_t j) { return s.half(s.at_rest(s.by_u[j](s.by_u[i](z)))); });
    compile(forces_, s.g, forces);
    compile_slopes(forces_, s.g, forces, s.f.q);
    compile(curvatures_, s.g, curvatures);
    compile_slopes(curvatures_, s.g, curvatures, s.f.q);
    compile(force_, s.g, s.d.h);
    compile(curvature_, s.g, zeta);
}

/// f^nc with its derivatives and its power, R, and the coefficients of the laws.
void Enclosure::compile_damping(Source& s) {
    const std::size_t n = s.n;
    std::vector<Expr> rest, damping, slopes;
    for (std::size_t i = 0; i < n; ++i) s.smooth_forces.push_back(s.g.sub(s.f.f[i], s.by_u[i](s.f.R)));
    for (std::size_t i = 0; i < n; ++i) {
        rest.push_back(s.at_rest(s.smooth_forces[i]));
        // Terms may cancel at rest although the graph keeps them, since each could be undefined somewhere.
        if (const Expr sum = model::cancelled_sum(s.g, {rest.back()}); s.g.is_zero(sum)) rest.back() = sum;
        if (s.f.vanishes_at_rest(i) && s.g.is_zero(s.at_rest(s.by_u[i](s.f.R)))) rest.back() = s.g.constant(0.0);
        forces_vanish_at_rest = forces_vanish_at_rest && s.g.is_zero(rest.back());
    }
    for (const Expr e : s.smooth_forces)
        for (std::size_t j = 0; j < n; ++j) {
            const Expr slope = s.by_u[j](e);
            linear_damping = linear_damping && !s.g.depends_on(slope, expr::velocity);
            damping.push_back(s.g.neg(s.at_rest(slope)));
            slopes.push_back(s.g.neg(slope));
        }
    for (std::size_t i = 0; i < n; ++i) {
        quadratic_rayleigh = quadratic_rayleigh && s.g.is_zero(s.f.f[i]) && s.g.is_zero(s.at_rest(s.by_u[i](s.f.R)));
        for (std::size_t j = 0; j < n; ++j)
            quadratic_rayleigh = quadratic_rayleigh && !s.g.depends_on(s.by_u[j](s.by_u[i](s.f.R)), expr::velocity);
    }
    quadratic_rayleigh = quadratic_rayleigh && s.g.is_zero(s.at_rest(s.f.R));
    compile(rest_forces_, s.g, rest);
    compile(damping_, s.g, damping);
    compile(damping_slopes_, s.g, slopes);
    Expr power = s.g.constant(0.0);
    for (std::size_t i = 0; i < n; ++i) power = s.g.sub(power, s.g.mul(s.f.u[i], s.smooth_forces[i]));
    compile(damping_power_, s.g, {power});
    compile_power_terms(s);
    compile(dissipation_, s.g, {s.f.R});
    compile(coefficients_, s.g, s.f.coefficients);
}

/// D^nc = −u·f + u·∂R/∂u. A part R_p of degree p has u·∂R_p/∂u = p R_p (Euler), which is bounded better than the sum of
/// products: p R_p of R = (x' − y')⁴ is a fourth power.
void Enclosure::compile_power_terms(Source& s) {
    Expr power = s.g.constant(0.0);
    for (std::size_t i = 0; i < s.n; ++i) power = s.g.sub(power, s.g.mul(s.f.u[i], s.f.f[i]));
    const std::optional<HomogeneousParts> of_f = homogeneous_parts(s.g, power), of_R = homogeneous_parts(s.g, s.f.R);
    if (!of_f || !of_R) return;
    HomogeneousParts parts = *of_f;
    // A smooth part of degree 1 is linear, −u·f(q, 0). It is 0 if all forces vanish at rest; only rounded numbers are
    // left of it.
    bool known = true;
    for (std::size_t i = 0; i < s.n; ++i)
        known = known && (s.f.vanishes_at_rest(i) || s.g.is_zero(s.at_rest(s.f.f[i])));
    if (const auto first = parts.find(1.0);
        known && first != parts.end() && expr::kinks(s.g, first->second, expr::velocity).empty())
        parts.erase(first);
    for (const auto& [p, x] : *of_R) {
        const Expr term = s.g.mul(s.g.constant(p), x);
        const auto [at, fresh] = parts.emplace(p, term);
        if (!fresh) at->second = s.g.add(at->second, term);
    }
    std::vector<Expr> terms;
    for (const auto& [p, x] : parts) {
        if (s.g.is_zero(x)) continue;
        power_degrees.push_back(p);
        terms.push_back(p == 2.0 ? s.quadratic_form(x) : x);
    }
    compile(power_terms_, s.g, terms);
}

/// Slacks of the regions as they are and by powers of u; the parts of T that are not quadratic.
void Enclosure::compile_regions(Source& s) {
    compile(regions_, s.g, s.f.regions);
    std::vector<Expr> region_terms;
    for (const Expr r : s.f.regions) {
        region_of_velocity.push_back(s.g.depends_on(r, expr::velocity));
        quadratic_region.push_back(expr::kinks(s.g, r, expr::velocity).empty());
        region_terms.push_back(s.at_rest(r));
        for (Derivative& by : s.by_u) region_terms.push_back(s.at_rest(by(r)));
        s.add_triangle(region_terms, [&](std::size_t i, std::size_t j) {
            const Expr second = s.by_u[j](s.by_u[i](r));
            if (s.g.depends_on(second, expr::velocity)) quadratic_region.back() = false;
            return s.half(s.at_rest(second));
        });
    }
    compile(region_terms_, s.g, region_terms);

    std::vector<Expr> kinetic{s.at_rest(s.f.T)};
    for (Derivative& by : s.by_u) kinetic.push_back(s.at_rest(by(s.f.T)));
    compile(kinetic_rest_, s.g, kinetic);
}

/// The branch-by-branch derivative of a kink does not bound differences across it. If a function has a kink then
/// vanishing higher derivatives prove nothing about its form.
void Enclosure::find_kinks(Source& s) {
    std::vector<Expr> shapes = s.positions;
    shapes.insert(shapes.end(), {s.f.U, s.f.T});
    for (const Expr e : shapes)
        for (const std::string& name : expr::kinks(s.g, e, position_or_velocity)) {
            smooth = false;
            if (name != "abs" && name != "min" && name != "max" && name != "hypot") lipschitz = false;
        }
    for (const Expr e : s.d.h) quadratic_forces = quadratic_forces && expr::kinks(s.g, e, expr::velocity).empty();
    for (const Expr e : s.smooth_forces) smooth_damping = smooth_damping && expr::kinks(s.g, e, expr::velocity).empty();
    linear_damping = linear_damping && smooth_damping;
    quadratic_rayleigh = quadratic_rayleigh && expr::kinks(s.g, s.f.R, expr::velocity).empty();
}

/// The tape of the outputs, with the parameters evaluated.
void Enclosure::compile(Group& group, expr::Graph& graph, const std::vector<Expr>& outputs) const {
    group.tape = expr::Tape(graph, outputs, parameters_, variables_);
    group.scratch.resize(group.tape.slot_count());
    group.in.resize(variables_.size());
    group.out.resize(outputs.size());
    std::vector<Interval> p;
    for (const double value : model_.p) p.emplace_back(value);
    group.tape.prepare<Interval>(p, group.scratch);
}

/// The tape of ∂(outputs)/∂q, column by column. It stays empty if an output has a kink: its derivative would not bound
/// differences.
void Enclosure::compile_slopes(Group& group, expr::Graph& graph, const std::vector<Expr>& outputs,
                               const std::vector<Expr>& q) const {
    std::vector<Expr> slopes;
    for (const Expr x : q) {
        Derivative by(graph, x);
        for (const Expr e : outputs) {
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

/// Intersects the bounds with the mean value form f(c) + ∂f/∂q(box) · (q − c).
void Enclosure::narrow(const Group& group, const Box& q) const {
    // Over wide boxes the mean value form is wider than the bounds: it is tried if some side is at most this wide.
    constexpr double small_width = 0.25;
    const bool worth =
        std::any_of(q.begin(), q.end(), [](const Interval& x) { return width(x) <= small_width && !is_point(x); });
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

/// The bounds of all functions of a group, for t = 0; u = 0 if `u` is nullptr. The result is valid until the next call.
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
    // If a function does not exist on the whole box then its bounds say nothing.
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
IntervalVector Enclosure::power_terms(const Box& q, const Box& u) const { return evaluate(power_terms_, q, &u); }
IntervalMatrix Enclosure::damping_slopes(const Box& q, const Box& u) const {
    return rectangle(evaluate(damping_slopes_, q, &u), 0, n_, n_);
}
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
    // Any other function of u: bisection of the kinetic energy, with the bounds over the velocities below it.
    const auto holds = [&](double kinetic) {
        const Interval slack = regions(q, velocities_below(kinetic, M))[static_cast<std::size_t>(region)];
        return slack.defined && slack.lo > 0.0;
    };
    if (!holds(0.0)) return 0.0;
    if (holds(Interval::infinity)) return Interval::infinity;
    double low = 0.0, high = first_kinetic;
    while (holds(high) && high < largest_kinetic) low = high, high *= kinetic_growth;
    for (int k = 0; k < bisections; ++k) {
        const double middle = low > 0.0 ? 0.5 * (low + high) : high * shrink_to_find_first;
        (holds(middle) ? low : high) = middle;
    }
    return low;
}

/// With T = s²/2 (in the metric of M the velocity has the length s): the smallest s >= 0 with c + l s + k s² = 0 for c
/// < 0 and l, k >= 0 is s = (−l + √(l² − 4kc))/(2k) = −2c/(l + √(l² − 4kc)). The second form exists for k = 0 too. Here
/// weight = −c. A negative curve is replaced by 0, which only lowers the bound.
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

/// The largest u_k on the ellipsoid ½uᵀMu = τ: by Cauchy–Schwarz, u_k = e_kᵀM^(−½) M^½u <= √((M⁻¹)_kk) √(2τ).
Box velocities_below(double kinetic, const IntervalMatrix& M) {
    const int n = M.rows();
    Box u(static_cast<std::size_t>(n), expr::entire());
    if (kinetic <= 0.0) return Box(static_cast<std::size_t>(n), Interval(0.0));
    const std::optional<IntervalMatrix> inverse = solve(M, IntervalMatrix::identity(n));
    if (!inverse || !std::isfinite(kinetic)) return u;
    for (int k = 0; k < n; ++k) {
        const double square = (Interval(2.0) * Interval(kinetic) * (*inverse)(k, k)).hi;
        const double fastest = expr::sqrt(Interval(square > 0.0 ? square : 0.0)).hi;
        u[static_cast<std::size_t>(k)] = Interval(-fastest, fastest);
    }
    return u;
}

namespace {

/// `count` symmetric n × n matrices, of which the values hold one triangle after the other.
std::vector<IntervalMatrix> symmetric_matrices(const std::vector<Interval>& values, int count, int n) {
    std::vector<IntervalMatrix> list;
    for (int r = 0; r < count; ++r) list.push_back(symmetric(values, static_cast<std::size_t>(r) * triangle(n), n));
    return list;
}

}  // namespace

std::vector<IntervalMatrix> Enclosure::position_hessians(const Box& q) const {
    return symmetric_matrices(evaluate(position_hessians_, q), positions_, n_);
}

std::optional<IntervalMatrix> Enclosure::row_derivative(const Box& q, int row) const {
    const Group& group = rows_group_;
    if (group.slope.empty()) return std::nullopt;
    evaluate(group, q);
    for (std::size_t k = 0; k < static_cast<std::size_t>(n_); ++k) group.in[1 + k] = q[k];
    group.slopes.evaluate<Interval>(group.in, group.slope_scratch, group.slope);
    IntervalMatrix D(n_, n_);
    for (int j = 0; j < n_; ++j)
        for (int i = 0; i < n_; ++i) D(i, j) = group.slope[(ix(j) * ix(rows_) + ix(row)) * ix(n_) + ix(i)];
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
    return symmetric_matrices(evaluate(curvatures_, q), positions_, n_);
}

}  // namespace saltus::proof
