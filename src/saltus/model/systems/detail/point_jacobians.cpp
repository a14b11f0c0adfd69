// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/systems/detail/point_jacobians.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/expr/differentiate.hpp"

namespace saltus::model {

using expr::Derivative;
using expr::Expr;
using Face = PointFormulas::Face;

namespace {

/// residual_along refuses more directions than this, and the caller then evaluates the matrix: for up to this number of
/// directions differentiating along each of them is faster.
constexpr std::size_t max_directions = 8;

}  // namespace

/// Adds an expression to the tape and returns its number among the tape's outputs; −1 if it is structurally zero.
int PointJacobians::output(Expr e) {
    if (f_.graph.is_zero(e)) return -1;
    expressions_.push_back(e);
    return static_cast<int>(expressions_.size()) - 1;
}

PointJacobians::Derived PointJacobians::derived(Expr e) {
    Derived d;
    for (const Expr p : by_) d.by_parameter.push_back(output(Derivative(f_.graph, p)(e)));
    return d;
}

PointJacobians::Signal PointJacobians::signal(Expr e) {
    Derivative by_time(f_.graph, f_.t);
    Signal s{};
    for (std::size_t k = 0; k < 4; ++k) {
        s.value[k] = output(e);
        if (k < 3) s.derived[k] = derived(e);
        e = by_time(e);
    }
    return s;
}

PointJacobians::PointJacobians(const PointFormulas& formulas, const std::vector<std::vector<int>>& volume_points,
                               std::span<const int> parameters)
    : f_(formulas), volume_points_(volume_points) {
    for (const int p : parameters) by_.push_back(f_.p[static_cast<std::size_t>(p)]);
    mass_ = output(f_.mass_scale);
    mass_derived_ = derived(f_.mass_scale);
    for (const PointFormulas::SpringGroup& g : f_.groups) {
        groups_.push_back({output(g.k), output(g.c), output(g.rest)});
        group_derived_.push_back({derived(g.k), derived(g.c), derived(g.rest)});
        group_rates_.push_back(g.varies ? std::array{output(g.k_rate), output(g.rest_rate)} : std::array{-1, -1});
        if (g.varies) time_columns_ = 1;
    }
    for (const PointFormulas::Obstacle& o : f_.obstacles) offsets_.push_back(signal(o.offset));
    for (const PointFormulas::Volume& v : f_.volumes) etas_.push_back(signal(v.eta));
    Derivative by_time(f_.graph, f_.t);
    for (const Expr e : f_.coefficients) {
        coefficient_rate_.push_back(output(by_time(e)));
        coefficient_derived_.push_back(derived(e));
    }
    for (const Expr e : expressions_) smooth_ = smooth_ && !(f_.graph[e].kinked && f_.graph.depends_on(e, expr::time));
    tape_ = expr::Tape(f_.graph, expressions_, f_.p, std::array{f_.t});
    scratch_.resize(tape_.slot_count());
    outputs_.resize(tape_.output_count());
    form1_.resize(3 * f_.weight.size());
    form2_.resize(3 * f_.weight.size());
    part_.resize(3 * f_.weight.size());

    build_residual_pattern();
    const std::vector<double> zero(static_cast<std::size_t>(f_.coordinates), 0.0);
    for (const Function function :
         {Function::position, Function::velocity, Function::acceleration, Function::coefficient}) {
        Pattern& pattern = patterns_[static_cast<std::size_t>(function)];
        pattern.cols = 1 + 2 * f_.coordinates + static_cast<int>(by_.size());
        std::vector<int> columns;
        write_rows(function, At{0.0, zero, zero, {}}, zero, [&](int column, double) {
            if (column >= 0) {
                columns.push_back(column);
            } else {
                pattern.add_row(columns);
                columns.clear();
            }
        });
    }
}

void PointJacobians::build_residual_pattern() {
    const auto n = f_.weight.size();
    near_q_.resize(n);
    near_u_.resize(n);
    const auto join = [](std::vector<std::vector<int>>& near, int i, int j) {
        near[static_cast<std::size_t>(i)].push_back(j);
    };
    for (const PointFormulas::Spring& s : f_.springs)
        for (const auto& [i, j] :
             {std::pair{s.i, s.j}, std::pair{s.j, s.i}, std::pair{s.i, s.i}, std::pair{s.j, s.j}}) {
            join(near_q_, i, j);
            join(near_u_, i, j);
        }
    for (const PointFormulas::Volume& v : f_.volumes)
        for (const Face& f : v.faces)
            for (const int i : f)
                for (const int j : f)
                    if (i != j) join(near_q_, i, j);
    for (auto* near : {&near_q_, &near_u_})
        for (std::vector<int>& list : *near) {
            std::sort(list.begin(), list.end());
            list.erase(std::unique(list.begin(), list.end()), list.end());
        }
    for (std::size_t j = 0; j < by_.size(); ++j) {
        bool any = mass_derived_.by_parameter[j] >= 0;
        for (const auto& g : group_derived_)
            for (const Derived& d : g) any = any || d.by_parameter[j] >= 0;
        if (any) residual_parameters_.push_back(static_cast<int>(j));
    }
    Pattern& pattern = patterns_[static_cast<std::size_t>(Function::residual)];
    pattern.cols = 1 + 2 * f_.coordinates + static_cast<int>(by_.size());
    for (int i = 0; i < f_.first_coordinate; ++i) pattern.add_row({});
    std::vector<int> columns;
    for (std::size_t i = 0; i < n; ++i)
        for (int a = 0; a < 3; ++a) {
            columns.assign(static_cast<std::size_t>(time_columns_), 0);
            for (const int j : near_q_[i])
                for (int b = 0; b < 3; ++b) columns.push_back(1 + f_.first_coordinate + 3 * j + b);
            for (const int j : near_u_[i])
                for (int b = 0; b < 3; ++b) columns.push_back(1 + f_.coordinates + f_.first_coordinate + 3 * j + b);
            for (const int j : residual_parameters_) columns.push_back(1 + 2 * f_.coordinates + j);
            pattern.add_row(columns);
        }
    find_blocks();
}

void PointJacobians::find_blocks() {
    const Pattern& pattern = patterns_[static_cast<std::size_t>(Function::residual)];
    const auto block = [&](int i, int j, bool velocity) {
        const auto point = static_cast<std::size_t>(i);
        const std::vector<int>& near = velocity ? near_u_[point] : near_q_[point];
        const auto place = static_cast<int>(std::lower_bound(near.begin(), near.end(), j) - near.begin());
        const int skip = velocity ? 3 * static_cast<int>(near_q_[point].size()) : 0;
        return pattern.start[static_cast<std::size_t>(f_.first_coordinate) + 3 * point] + time_columns_ + skip +
               3 * place;
    };
    for (std::size_t i = 0; i < f_.weight.size(); ++i)
        row_length_.push_back(time_columns_ + 3 * static_cast<int>(near_q_[i].size() + near_u_[i].size()) +
                              static_cast<int>(residual_parameters_.size()));
    for (const PointFormulas::Spring& s : f_.springs) {
        std::array<int, 8> own{};
        std::size_t k = 0;
        for (const bool velocity : {false, true})
            for (const int i : {s.i, s.j})
                for (const int j : {s.j, s.i}) own[k++] = block(i, j, velocity);
        spring_blocks_.push_back(own);
    }
    for (const PointFormulas::Volume& v : f_.volumes) {
        volume_blocks_.emplace_back();
        for (const Face& f : v.faces)
            for (const auto& corner : face_triangles)
                for (std::size_t s = 0; s < 3; ++s) {
                    const int i = f[corner[s]], j = f[corner[(s + 1) % 3]];
                    volume_blocks_.back().push_back({block(i, j, false), block(j, i, false)});
                }
    }
}

void PointJacobians::evaluate_expressions(const At& at) {
    if (!prepared_ || !std::equal(at.p.begin(), at.p.end(), parameters_.begin(), parameters_.end())) {
        parameters_.assign(at.p.begin(), at.p.end());
        tape_.prepare<double>(at.p, scratch_);
        prepared_ = true;
    }
    tape_.evaluate<double>({&at.t, 1}, scratch_, outputs_);
}

void PointJacobians::evaluate(Function f, const At& at, std::span<const double> a, std::span<const double> lambda,
                              std::span<double> values) {
    evaluate_expressions(at);
    SALTUS_EXPECT(f != Function::acceleration || !a.empty());
    if (f == Function::residual) return evaluate_residual(at, a, lambda, values);
    double* to = values.data();
    write_rows(f, at, a, [&](int column, double v) {
        if (column >= 0) *to++ = v;
    });
}

template <class Sink>
void PointJacobians::write_parameters(const Derived& d, double factor, Sink&& sink) const {
    for (std::size_t j = 0; j < d.by_parameter.size(); ++j)
        if (d.by_parameter[j] >= 0)
            sink(1 + 2 * f_.coordinates + static_cast<int>(j), factor * value(d.by_parameter[j]));
}

/// Passes the entries to the sink, row by row, columns ascending; column −1 ends a row.
///
/// The constraint of a volume is g = V₀ − V(q) − η(t). With the symmetric bilinear B of add_volume_form ∇V = B(q,q),
/// and B(x,y)·z does not change if x, y and z are exchanged. So V̇ = B(q,q)·u and V̈ = B(q,q)·a + 2B(q,u)·u. Because of
/// the symmetry ∂/∂q (B(q,q)·y) = 2B(q,y), ∂/∂q (B(q,u)·u) = B(u,u) and ∂/∂u (B(q,u)·u) = 2B(q,u). This gives
///     position     V₀ − V − η:                ∂q −B(q,q)
///     velocity     −B(q,q)·u − η̇:             ∂q −2B(q,u),           ∂u −B(q,q)
///     acceleration −B(q,q)·a − 2B(q,u)·u − η̈: ∂q −2B(q,a) − 2B(u,u), ∂u −4B(q,u)
template <class Sink>
void PointJacobians::write_rows(Function f, const At& at, std::span<const double> a, Sink&& sink) {
    const int first_q = 1 + f_.first_coordinate, first_u = first_q + f_.coordinates;
    if (f == Function::coefficient) {
        for (std::size_t k = 0; k < coefficient_rate_.size(); ++k) {
            if (coefficient_rate_[k] >= 0) sink(0, value(coefficient_rate_[k]));
            write_parameters(coefficient_derived_[k], 1.0, sink);
            sink(-1, 0.0);
        }
        return;
    }
    const std::size_t level = f == Function::position ? 0 : f == Function::velocity ? 1 : 2;
    const auto own = [&](std::span<const double> x) {
        return x.subspan(static_cast<std::size_t>(f_.first_coordinate), 3 * f_.weight.size());
    };
    const std::span<const double> q = own(at.q), u = own(at.u);
    const auto write_signal_rate = [&](const Signal& s) {
        if (s.value[level + 1] >= 0) sink(0, -value(s.value[level + 1]));
    };
    for (std::size_t k = 0; k < f_.volumes.size(); ++k) {
        const std::vector<Face>& faces = f_.volumes[k].faces;
        // to += factor · form
        const auto add = [&](std::vector<double>& to, double factor, auto form) {
            if (factor == 1.0) return form(to);
            std::fill(part_.begin(), part_.end(), 0.0);
            form(part_);
            for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * part_[i];
        };
        const auto square = [&](std::span<const double> x) {
            return [&, x](std::span<double> to) { add_volume_gradient(faces, x, to); };
        };
        const auto product = [&](std::span<const double> x, std::span<const double> y) {
            return [&, x, y](std::span<double> to) { add_volume_form(faces, x, y, to); };
        };
        std::fill(form1_.begin(), form1_.end(), 0.0);
        std::fill(form2_.begin(), form2_.end(), 0.0);
        if (level == 0) add(form1_, 1.0, square(q));
        if (level == 1) add(form1_, 2.0, product(q, u)), add(form2_, 1.0, square(q));
        if (level == 2)
            add(form1_, 2.0, product(q, own(a))), add(form1_, 2.0, square(u)), add(form2_, 4.0, product(q, u));
        write_signal_rate(etas_[k]);
        for (const int i : volume_points_[k])
            for (int b = 0; b < 3; ++b) sink(first_q + 3 * i + b, -form1_[ix(3 * i + b)]);
        if (level > 0)
            for (const int i : volume_points_[k])
                for (int b = 0; b < 3; ++b) sink(first_u + 3 * i + b, -form2_[ix(3 * i + b)]);
        write_parameters(etas_[k].derived[level], -1.0, sink);
        sink(-1, 0.0);
    }
    const auto write_direction = [&](const PointFormulas::Triple& d, int i) {
        if (level == 2) return;  // W is constant, so Wᵀa has no derivative
        for (int b = 0; b < 3; ++b)
            if (d[static_cast<std::size_t>(b)] != 0.0)
                sink((level == 0 ? first_q : first_u) + 3 * i + b, d[static_cast<std::size_t>(b)]);
    };
    const int n = f_.points();
    for (std::size_t k = 0; k < f_.obstacles.size(); ++k)
        for (int i = 0; i < n; ++i) {
            write_signal_rate(offsets_[k]);
            write_direction(f_.obstacles[k].normal, i);
            write_parameters(offsets_[k].derived[level], -1.0, sink);
            sink(-1, 0.0);
        }
    if (level == 0) return;
    for (const PointFormulas::Obstacle& o : f_.obstacles)
        for (int i = 0; o.friction && i < n; ++i)
            for (const PointFormulas::Triple* d : {&o.tangent1, &o.tangent2}) {
                write_direction(*d, i);
                sink(-1, 0.0);
            }
}

PointJacobians::SpringState PointJacobians::spring_state(std::size_t number, const double* q, const double* u) const {
    const PointFormulas::Spring& spring = f_.springs[number];
    SpringState s{};
    s.i = 3 * static_cast<std::size_t>(spring.i);
    s.j = 3 * static_cast<std::size_t>(spring.j);
    s.group = static_cast<std::size_t>(spring.group);
    s.k = value(groups_[s.group][0]);
    s.c = value(groups_[s.group][1]);
    const double rest = f_.groups[s.group].rest_initial ? spring.length : value(groups_[s.group][2]);
    double square = 0.0;
    for (std::size_t b = 0; b < 3; ++b) {
        s.e[b] = q[s.j + b] - q[s.i + b];
        s.w[b] = u[s.j + b] - u[s.i + b];
        square += s.e[b] * s.e[b];
    }
    s.length = std::sqrt(square);
    for (std::size_t b = 0; b < 3; ++b) {
        s.e[b] /= s.length;
        s.rate += s.e[b] * s.w[b];
    }
    s.stretch = s.length - rest;
    s.tension = s.k * s.stretch + s.c * s.rate;
    return s;
}

/// ∂s/∂p of the tension s = k(l − l₀) + c l̇ at a fixed state: (l − l₀) k_p + l̇ c_p − k l₀_p.
double PointJacobians::tension_by_parameter(const SpringState& s, std::size_t parameter) const {
    const auto by = [&](std::size_t which) { return value(group_derived_[s.group][which].by_parameter[parameter]); };
    const double by_rest = f_.groups[s.group].rest_initial ? 0.0 : -s.k * by(2);
    return s.stretch * by(0) + s.rate * by(1) + by_rest;
}

/// ∂s/∂t of the tension s = k(l − l₀) + c l̇ at a fixed state.
double PointJacobians::tension_by_time(const SpringState& s) const {
    const std::array<int, 2>& rates = group_rates_[s.group];
    return s.stretch * value(rates[0]) - (f_.groups[s.group].rest_initial ? 0.0 : s.k * value(rates[1]));
}

/// Let d = x_j − x_i, l = ‖d‖, e = d/l and w = u_j − u_i. A spring pulls point i with F = s e, s = k(l − l₀) + c l̇, and
/// point j with −F. From ∂l/∂d = eᵀ, ∂e/∂d = (I − e eᵀ)/l and l̇ = e·w follows ∂l̇/∂d = (w − l̇ e)ᵀ/l, and so
///     ∂F/∂d = e (k eᵀ + c (w − l̇ e)ᵀ/l) + s (I − e eᵀ)/l,   ∂F/∂w = c e eᵀ.
/// In the code by_d and by_w are the entries of these matrices, bent = s/l and damped = c/l.
void PointJacobians::add_spring_derivatives(const double* q, const double* u, std::span<double> values) const {
    for (std::size_t number = 0; number < f_.springs.size(); ++number) {
        const PointFormulas::Spring& spring = f_.springs[number];
        const SpringState s = spring_state(number, q, u);
        const std::array<double, 3>&e = s.e, &w = s.w;
        // On i by x_j and x_i, then on j; the same by velocities.
        std::array<double*, 8> to{};
        for (std::size_t block = 0; block < 8; ++block) to[block] = values.data() + spring_blocks_[number][block];
        const int rows_i = row_length_[static_cast<std::size_t>(spring.i)],
                  rows_j = row_length_[static_cast<std::size_t>(spring.j)];
        const double bent = s.tension / s.length, damped = s.c / s.length;
        for (std::size_t r = 0; r < 3; ++r) {
            for (std::size_t b = 0; b < 3; ++b) {
                const double by_d =
                    e[r] * (s.k * e[b] + damped * (w[b] - s.rate * e[b]) - bent * e[b]) + (r == b ? bent : 0.0);
                const double by_w = s.c * e[r] * e[b];
                to[0][b] += by_d, to[1][b] -= by_d, to[2][b] -= by_d, to[3][b] += by_d;
                to[4][b] += by_w, to[5][b] -= by_w, to[6][b] -= by_w, to[7][b] += by_w;
            }
            for (std::size_t block = 0; block < 8; ++block) to[block] += block % 4 < 2 ? rows_i : rows_j;
        }
        if (f_.groups[s.group].varies) {
            const Pattern& pattern = patterns_[static_cast<std::size_t>(Function::residual)];
            const double by_t = tension_by_time(s);
            const auto first = static_cast<std::size_t>(f_.first_coordinate);
            for (std::size_t r = 0; r < 3; ++r) {
                values[static_cast<std::size_t>(pattern.start[first + s.i + r])] += by_t * e[r];
                values[static_cast<std::size_t>(pattern.start[first + s.j + r])] -= by_t * e[r];
            }
        }
        for (std::size_t m = 0; m < residual_parameters_.size(); ++m) {
            const double by_p = tension_by_parameter(s, static_cast<std::size_t>(residual_parameters_[m]));
            for (std::size_t r = 0; r < 3; ++r) {
                parameter_entries(values, spring.i, r)[m] += by_p * e[r];
                parameter_entries(values, spring.j, r)[m] -= by_p * e[r];
            }
        }
    }
}

/// The force of a volume with the multiplier ν is −ν ∇V, so it contributes −ν ∂²V/∂q². V is the sum of det/12 over the
/// triangles of the faces (face_triangles). For cyclic (i, j, k), det(x_i, x_j, x_k) = x_i·(x_j × x_k), so that
/// ∂²det/∂x_i∂x_j = −[x_k]×, where [x]× y = x × y.
void PointJacobians::add_volume_derivatives(const double* q, std::span<const double> lambda,
                                            std::span<double> values) const {
    for (std::size_t v = 0; v < f_.volumes.size() && !lambda.empty(); ++v) {
        const double factor = -lambda[v] / 12.0;  // −ν/12
        auto blocks = volume_blocks_[v].begin();
        for (const Face& f : f_.volumes[v].faces)
            for (const auto& corner : face_triangles)
                for (std::size_t s = 0; s < 3; ++s, ++blocks) {
                    const double* x = q + 3 * static_cast<std::size_t>(f[corner[(s + 2) % 3]]);
                    const double f0 = factor * x[0], f1 = factor * x[1], f2 = factor * x[2];
                    // −[x]× on (i, j), its transpose on (j, i)
                    const int rows_i = row_length_[static_cast<std::size_t>(f[corner[s]])],
                              rows_j = row_length_[static_cast<std::size_t>(f[corner[(s + 1) % 3]])];
                    double* to = values.data() + (*blocks)[0];
                    to[1] += f2, to[2] -= f1;
                    to += rows_i;
                    to[0] -= f2, to[2] += f0;
                    to += rows_i;
                    to[0] += f1, to[1] -= f0;
                    to = values.data() + (*blocks)[1];
                    to[1] -= f2, to[2] += f1;
                    to += rows_j;
                    to[0] += f2, to[2] -= f0;
                    to += rows_j;
                    to[0] -= f1, to[1] += f0;
                }
    }
}

/// Weight minus inertia, m(g − a), by the parameters of the mass.
void PointJacobians::add_mass_derivatives(std::span<const double> a, std::span<double> values) const {
    const auto first = static_cast<std::size_t>(f_.first_coordinate);
    for (int i = 0; i < f_.points(); ++i)
        for (std::size_t r = 0; r < 3; ++r)
            for (std::size_t m = 0; m < residual_parameters_.size(); ++m) {
                const double scale_rate =
                    value(mass_derived_.by_parameter[static_cast<std::size_t>(residual_parameters_[m])]);
                const auto point = static_cast<std::size_t>(i);
                const double acceleration = (a.empty() ? 0.0 : a[first + 3 * point + r]) - f_.gravity[r];
                parameter_entries(values, i, r)[m] -= f_.weight[point] * scale_rate * acceleration;
            }
}

/// The derivatives by parameters in one of the three rows of a point, after those by positions and velocities.
double* PointJacobians::parameter_entries(std::span<double> values, int i, std::size_t row) const {
    const Pattern& pattern = patterns_[static_cast<std::size_t>(Function::residual)];
    const auto first = static_cast<std::size_t>(f_.first_coordinate), point = static_cast<std::size_t>(i);
    return values.data() + static_cast<std::size_t>(pattern.start[first + 3 * point + row]) +
           static_cast<std::size_t>(time_columns_) + 3 * (near_q_[point].size() + near_u_[point].size());
}

void PointJacobians::evaluate_residual(const At& at, std::span<const double> a, std::span<const double> lambda,
                                       std::span<double> values) {
    std::fill(values.begin(), values.end(), 0.0);
    const auto first = static_cast<std::size_t>(f_.first_coordinate);
    const double* const q = at.q.data() + first;
    add_spring_derivatives(q, at.u.data() + first, values);
    add_volume_derivatives(q, lambda, values);
    add_mass_derivatives(a, values);
}

/// The same derivatives along directions, without the matrix. A spring has δF = e δs + s(δd − e e·δd)/l (`along` is
/// δs − s e·δd/l), a volume −ν δB(q, q) = −2ν B(q, δq).
bool PointJacobians::residual_along(const At& at, std::span<const double> a, std::span<const double> lambda,
                                    const Matrix& directions, Matrix& out) {
    const auto count = static_cast<std::size_t>(directions.rows());
    if (count > max_directions) return false;
    evaluate_expressions(at);
    const auto first = static_cast<std::size_t>(f_.first_coordinate), all = static_cast<std::size_t>(f_.coordinates);
    const double* const q = at.q.data() + first;
    const double* const u = at.u.data() + first;
    // Matrices are stored by columns: the numbers of all directions for one column lie side by side.
    const double* const dq = directions.data() + count * (1 + first);
    const double* const du = dq + count * all;
    const double* const dp = directions.data() + count * (1 + 2 * all);
    double* const to = out.data() + count * first;
    for (std::size_t number = 0; number < f_.springs.size(); ++number) {
        const SpringState s = spring_state(number, q, u);
        const double bent = s.tension / s.length, damped = s.c / s.length;
        std::array<double, max_directions> along{};  // δs − s e·δd/l
        if (f_.groups[s.group].varies) {
            const double by_t = tension_by_time(s);
            for (std::size_t n = 0; n < count; ++n) along[n] += by_t * directions.data()[n];
        }
        for (const int m : residual_parameters_) {
            const auto parameter = static_cast<std::size_t>(m);
            const double by_p = tension_by_parameter(s, parameter);
            for (std::size_t n = 0; n < count; ++n) along[n] += by_p * dp[count * parameter + n];
        }
        for (std::size_t b = 0; b < 3; ++b) {
            const double by_d = s.k * s.e[b] + damped * (s.w[b] - s.rate * s.e[b]) - bent * s.e[b];
            const double by_w = s.c * s.e[b];
            const std::size_t i = count * (s.i + b), j = count * (s.j + b);
            for (std::size_t n = 0; n < count; ++n)
                along[n] += by_d * (dq[j + n] - dq[i + n]) + by_w * (du[j + n] - du[i + n]);
        }
        for (std::size_t b = 0; b < 3; ++b) {
            const std::size_t i = count * (s.i + b), j = count * (s.j + b);
            for (std::size_t n = 0; n < count; ++n) {
                const double force = s.e[b] * along[n] + bent * (dq[j + n] - dq[i + n]);
                to[i + n] += force;
                to[j + n] -= force;
            }
        }
    }
    const std::size_t own = 3 * f_.weight.size();
    for (std::size_t v = 0; v < f_.volumes.size() && !lambda.empty(); ++v)
        for (std::size_t n = 0; n < count; ++n) {
            for (std::size_t k = 0; k < own; ++k) form1_[k] = dq[count * k + n];
            std::fill(part_.begin(), part_.end(), 0.0);
            add_volume_form(f_.volumes[v].faces, {q, own}, form1_, part_);
            for (std::size_t k = 0; k < own; ++k) to[count * k + n] -= 2.0 * lambda[v] * part_[k];
        }
    for (const int m : residual_parameters_) {
        const auto parameter = static_cast<std::size_t>(m);
        const double scale_rate = value(mass_derived_.by_parameter[parameter]);
        for (std::size_t k = 0; k < own && scale_rate != 0.0; ++k) {
            const double acceleration = (a.empty() ? 0.0 : a[first + k]) - f_.gravity[k % 3];
            for (std::size_t n = 0; n < count; ++n)
                to[count * k + n] -= f_.weight[k / 3] * scale_rate * acceleration * dp[count * parameter + n];
        }
    }
    return true;
}

}  // namespace saltus::model
