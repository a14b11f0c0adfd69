// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/detail/equilibrium_boxes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <numeric>
#include <queue>

#include "saltus/base/index.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/expr/tape.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/symbolic.hpp"
#include "saltus/stability/certify/detail/static_forces.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"
#include "saltus/stability/equilibria/equilibrium_forces.hpp"

namespace saltus::stability {

using proof::Box;
using proof::Enclosure;
using proof::Interval;
using proof::IntervalMatrix;
using proof::IntervalVector;
using trajectory::ElementKind;

namespace {

/// Boxes in more dimensions are too many: an n-dimensional region needs width^n of them.
constexpr int max_dimensions = 3;
/// 2^max_signs choices of the signs of reactions with friction are tested for each box.
constexpr std::size_t max_signs = 4;
/// A box whose sides are all shorter than this, in 1 + |q_i|, is not split further.
constexpr double finest_size = 1e-7;
/// Half lines that begin further away than this are not split further, in the unit of the coordinate.
constexpr double furthest_split = 1e6;
/// A box with spatial friction costs as much as this number of others: its programs have many more rows.
constexpr long cost_of_spatial_friction = 10;
/// Parts of a component with less than this share of the volume of its largest part do not count: they are cells beside
/// the boundary of a part.
constexpr double negligible_part = 0.01;
/// The budget is enlarged by this share of it to find out whether parts of a component are connected.
constexpr double share_for_parts = 2.0;
/// Share of the budget that may be spent on unbounded boxes.
constexpr double unbounded_share = 0.25;
/// Positions this far outside a cell, in 1 + |q_i|, count as in the cell: computed positions have rounding errors.
constexpr double cell_margin = 1e-9;
/// The region of a periodic coordinate is larger than one period by this part, so that it covers every position.
constexpr double period_margin = 1e-12;
/// a P/2π is an integer up to this, for a function sin(a q) with the period P.
constexpr double whole_number = 1e-9;
/// The box of a test for a unique solution is larger than the cell by this part of its sides, plus rounding.
constexpr double solution_margin = 0.1, solution_rounding = 1e-13;
/// Forces of a smaller margin are not deep enough inside their cones to hold a whole box.
constexpr double least_margin = 1e-6;

/// All expressions that decide on equilibria: h at rest, constraints, gaps, rows, χ, coefficients.
std::vector<expr::Expr> statics_of(model::Formulas& f, const model::Derived& d) {
    std::vector<std::pair<expr::Expr, expr::Expr>> zero;
    for (const expr::Expr u : f.u) zero.emplace_back(u, f.graph.constant(0.0));
    expr::Substitution at_rest(f.graph, zero);
    std::vector<expr::Expr> all;
    for (const expr::Expr h : d.h) all.push_back(at_rest(h));
    for (const std::vector<expr::Expr>& list : {f.constraints, f.gaps, d.chi, f.coefficients})
        for (const expr::Expr e : list) all.push_back(at_rest(e));
    for (const model::Derived::Entry& e : d.rows) all.push_back(at_rest(e.value));
    return all;
}

bool depends_on_symbol(const model::Formulas& f, const std::vector<expr::Expr>& roots, expr::Expr symbol) {
    for (const expr::Expr e : expr::reachable(f.graph, roots))
        if (e.id == symbol.id) return true;
    return false;
}

/// Proves from the form of the expressions that a shift of q_i by `period` changes nothing: q_i appears only inside
/// sin, cos and tan, with arguments a q_i + ... and a·period = 2π · integer.
bool proves_period(model::Formulas& f, const std::vector<expr::Expr>& roots, const model::Mechanics& m, std::size_t i,
                   double period) {
    expr::Derivative derivative(f.graph, f.q[i]);
    const auto varies = static_cast<expr::Kinds>(expr::time | expr::position | expr::velocity);
    std::vector<std::pair<expr::Expr, expr::Expr>> replace;
    for (const expr::Expr e : expr::reachable(f.graph, roots)) {
        const expr::Node node = f.graph[e];
        if (node.op != expr::Op::sin && node.op != expr::Op::cos && node.op != expr::Op::tan) continue;
        const expr::Expr slope = derivative(node.a);
        if (f.graph.depends_on(slope, varies)) continue;
        const expr::Tape tape(f.graph, std::array{slope}, f.p, {});
        std::vector<double> scratch(tape.slot_count()), value(1);
        tape.prepare<double>(m.p, scratch);
        tape.evaluate<double>({}, scratch, value);
        const double turns = value[0] * period / (2.0 * std::numbers::pi);
        if (std::abs(turns - std::round(turns)) <= whole_number * (1.0 + std::abs(turns)))
            replace.emplace_back(e, f.graph.symbol("wave", expr::auxiliary));
    }
    expr::Substitution without_waves(f.graph, replace);
    std::vector<expr::Expr> rest;
    for (const expr::Expr e : roots) rest.push_back(without_waves(e));
    return !depends_on_symbol(f, rest, f.q[i]);
}

std::vector<int> rows_of_closed(const model::Mechanics& m, const std::vector<char>& closed) {
    std::vector<int> rows;
    for (std::size_t i = 0; i < closed.size(); ++i)
        if (closed[i] != 0) rows.push_back(m.contacts[i].row);
    return rows;
}

bool spatial_friction(const model::Mechanics& m) {
    const auto spatial = [](const auto& element) { return element.friction.dimension > 1; };
    return std::any_of(m.contacts.begin(), m.contacts.end(), spatial) ||
           std::any_of(m.constraints.begin(), m.constraints.end(), spatial) ||
           std::any_of(m.sliders.begin(), m.sliders.end(), spatial);
}

/// Width of an interval in units of 1 + (least |x|).
double side_size(const Interval& x) {
    const double least = x.lo > 0.0 ? x.lo : x.hi < 0.0 ? -x.hi : 0.0;
    return (x.hi - x.lo) / (1.0 + least);
}

bool is_zero(const Interval& x) { return x.lo == 0.0 && x.hi == 0.0; }

/// Least |x| of an interval.
double least_magnitude(const Interval& x) { return std::max({0.0, x.lo, -x.hi}); }

/// Proves that the friction force lies in its body for every load >= `load`.
bool friction_holds(const model::Friction& f, const IntervalVector& coefficients, const IntervalVector& force,
                    double load) {
    const Interval first = proof::coefficient(coefficients, f.mu[0]), N(load);
    if (f.law == model::FrictionLaw::coulomb && force.size() == 1)
        return expr::abs(force[0]).hi <= (Interval(first.lo) * N).lo;
    if (force.size() != 2) return false;
    const Interval square = expr::sqr(force[0]), other = expr::sqr(force[1]);
    if (f.law == model::FrictionLaw::coulomb) return (square + other).hi <= expr::sqr(Interval(first.lo) * N).lo;
    if (f.law != model::FrictionLaw::orthotropic) return false;
    const Interval one = expr::sqr(Interval(first.lo)),
                   two = expr::sqr(Interval(proof::coefficient(coefficients, f.mu[1]).lo));
    return (square * two + other * one).hi <= (one * two * expr::sqr(N)).lo;
}

}  // namespace

std::unique_ptr<EquilibriumBoxes> EquilibriumBoxes::of(const model::Mechanics& model,
                                                       const std::vector<double>& periods, const Box& region,
                                                       std::string& why) {
    std::unique_ptr<Enclosure> enclosure = Enclosure::of(model, why);
    if (!enclosure) return nullptr;
    std::unique_ptr<EquilibriumBoxes> boxes(new EquilibriumBoxes(model, std::move(enclosure)));
    model::Formulas f = model.system->symbolic()->formulas();
    const std::vector<expr::Expr> roots = statics_of(f, model.system->symbolic()->derived());
    const std::size_t n = f.q.size();
    boxes->region_ = region.empty() ? proof::whole_space(n) : region;
    boxes->periods_.assign(n, 0.0);
    boxes->ignored_.assign(n, 0);
    std::size_t dimensions = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (!depends_on_symbol(f, roots, f.q[i])) {
            boxes->ignored_[i] = 1;
            boxes->region_[i] = expr::entire();
            continue;
        }
        ++dimensions;
        const bool whole = boxes->region_[i].lo == -Interval::infinity && boxes->region_[i].hi == Interval::infinity;
        if (!whole || periods[i] == 0.0 || !proves_period(f, roots, model, i, periods[i])) continue;
        const double half = 0.5 * periods[i] * (1.0 + period_margin);
        boxes->periods_[i] = periods[i];
        boxes->region_[i] = Interval(-half, half);
    }
    const Interval rest = boxes->enclosure_->kinetic_rest(proof::whole_space(n))[0];
    if (!is_zero(rest)) why = "the kinetic energy does not vanish at rest";
    if (dimensions > max_dimensions)
        why = "the positions have " + std::to_string(dimensions) + " dimensions, and boxes are made for up to " +
              std::to_string(max_dimensions);
    if (boxes->frictional_.size() > max_signs) why = "too many constraints have friction";
    return why.empty() ? std::move(boxes) : nullptr;
}

EquilibriumBoxes::EquilibriumBoxes(const model::Mechanics& model, std::unique_ptr<Enclosure> enclosure)
    : model_(model),
      resting_(model),
      enclosure_(std::move(enclosure)),
      admissible_(*enclosure_, Interval(0.0)),
      frictional_(frictional_constraints(*enclosure_)) {}

double EquilibriumBoxes::size_of(const Box& box) const {
    double size = 0.0;
    for (std::size_t k = 0; k < box.size(); ++k)
        if (ignored_[k] == 0) size = std::max(size, side_size(box[k]));
    return size;
}

bool EquilibriumBoxes::unbounded(const Box& q) const {
    for (std::size_t k = 0; k < q.size(); ++k)
        if (ignored_[k] == 0 && !(std::isfinite(q[k].lo) && std::isfinite(q[k].hi))) return true;
    return false;
}

int EquilibriumBoxes::far_side(const Box& q) const {
    int side = -1;
    double nearest = furthest_split;
    for (std::size_t k = 0; k < q.size(); ++k) {
        const bool low = std::isfinite(q[k].lo), high = std::isfinite(q[k].hi);
        if (ignored_[k] != 0 || (low && high)) continue;
        const double begin = low ? std::max(0.0, q[k].lo) : high ? std::max(0.0, -q[k].hi) : -1.0;
        const double distance = begin / (1.0 + std::abs(model_.q0[k]));
        if (distance >= nearest) continue;
        nearest = distance;
        side = static_cast<int>(k);
    }
    return side;
}

bool EquilibriumBoxes::no_balance(const Box& q, const std::vector<int>& closed) const {
    for (unsigned k = 0; k < 1U << frictional_.size(); ++k) {
        const std::optional<proof::ForceSet> forces =
            frictional_forces(*enclosure_, q, closed, signs_of(k, frictional_.size()));
        if (!forces || !proof::separate(*forces)) return false;
    }
    return true;
}

std::vector<int> EquilibriumBoxes::free_coordinates(const std::vector<int>& closed) const {
    if (!enclosure_->smooth || !enclosure_->forces_vanish_at_rest) return {};
    std::vector<int> rows = closed;
    const auto add = [&](const model::Friction& f) {
        for (int k = 0; k < f.dimension; ++k) rows.push_back(f.first_row + k);
    };
    for (const model::Constraint& c : model_.constraints) {
        rows.push_back(c.row);
        add(c.friction);
    }
    for (const model::Contact& c : model_.contacts)
        if (std::find(closed.begin(), closed.end(), c.row) != closed.end()) add(c.friction);
    for (const model::Slider& c : model_.sliders) add(c.friction);
    for (const model::Clutch& c : model_.clutches) rows.push_back(c.row);
    const IntervalMatrix W = enclosure_->row_matrix(proof::whole_space(ignored_.size()));
    std::vector<int> free;
    for (int i = 0; i < enclosure_->size(); ++i)
        if (ignored_[ix(i)] == 0 && std::all_of(rows.begin(), rows.end(), [&](int r) { return is_zero(W(r, i)); }))
            free.push_back(i);
    return free;
}

namespace {

/// The given rows and columns of a matrix.
IntervalMatrix block(const IntervalMatrix& A, const std::vector<int>& rows, const std::vector<int>& columns) {
    IntervalMatrix B(static_cast<int>(rows.size()), static_cast<int>(columns.size()));
    for (int i = 0; i < B.rows(); ++i)
        for (int j = 0; j < B.cols(); ++j) B(i, j) = A(rows[ix(i)], columns[ix(j)]);
    return B;
}

/// R ≈ A⁻¹ of the middle of a square matrix; nothing if it is singular or not finite.
std::optional<IntervalMatrix> inverse_of_middle(const IntervalMatrix& A) {
    if (!A.finite()) return {};
    const Matrix inverse = solve_columns(A.middle(), Matrix::Identity(A.rows(), A.rows()));
    if (!inverse.allFinite()) return {};
    return IntervalMatrix(inverse);
}

}  // namespace

/// The equations ∂U/∂q_i = 0 are multiplied by the inverse of their Jacobian at the middle. Each then depends mainly on
/// one coordinate and shrinks it (interval Newton method).
bool EquilibriumBoxes::contract_free(Box& q, const std::vector<int>& free) const {
    if (free.empty() || unbounded(q)) return true;
    const IntervalMatrix H = enclosure_->hessian(q);
    const std::optional<IntervalMatrix> R = inverse_of_middle(block(H, free, free));
    if (!R) return true;
    std::vector<int> all(q.size());
    std::iota(all.begin(), all.end(), 0);
    const IntervalMatrix slopes = *R * block(H, free, all);
    const std::vector<double> c = proof::centre(q);
    const IntervalVector gradient = enclosure_->gradient(proof::point_box(c));
    IntervalMatrix g(static_cast<int>(free.size()), 1);
    for (int i = 0; i < g.rows(); ++i) g(i, 0) = gradient[ix(free[ix(i)])];
    const IntervalMatrix value = *R * g;
    if (!slopes.finite() || !value.finite()) return true;
    for (int i = 0; i < g.rows(); ++i) {
        IntervalVector slope;
        for (int j = 0; j < slopes.cols(); ++j) slope.push_back(slopes(i, j));
        if (!proof::contract(q, c, value(i, 0), slope, Interval(0.0))) return false;
    }
    return true;
}

/// Krawczyk's operator with parameters. Let x be the free coordinates and p the others, c the centre of x and R ≈
/// (∂²U/∂x²)⁻¹. If for the box [x] and all p of the box
///     c − R ∂U/∂x(c, [p]) + (I − R ∂²U/∂x²([x], [p])) ([x] − c)   lies in the interior of [x],
/// then for each p the equation ∂U/∂x = 0 has exactly one solution in [x]. (Neumaier, 5.1)
bool EquilibriumBoxes::solvable(Box& q, const std::vector<int>& free) const {
    const std::vector<double> c = proof::centre(q);
    Box at_centre = q;
    for (const int i : free) {
        Interval& x = q[ix(i)];
        const double more = solution_margin * expr::width(x) + solution_rounding * (1.0 + std::abs(c[ix(i)]));
        x = Interval(x.lo - more, x.hi + more);
        at_centre[ix(i)] = Interval(c[ix(i)]);
    }
    const int m = static_cast<int>(free.size());
    const IntervalMatrix H = block(enclosure_->hessian(q), free, free);
    const std::optional<IntervalMatrix> R = inverse_of_middle(H);
    if (!R) return false;
    const IntervalVector gradient = enclosure_->gradient(at_centre);
    IntervalMatrix g(m, 1), step(m, 1);
    for (int i = 0; i < m; ++i) {
        g(i, 0) = gradient[ix(free[ix(i)])];
        step(i, 0) = q[ix(free[ix(i)])] - Interval(c[ix(free[ix(i)])]);
    }
    const IntervalMatrix image = (IntervalMatrix::identity(m) - *R * H) * step - *R * g;
    if (!image.finite()) return false;
    for (int i = 0; i < m; ++i)
        if (!(step(i, 0).lo < image(i, 0).lo && image(i, 0).hi < step(i, 0).hi)) return false;
    return true;
}

/// Let λ₀ be forces of the largest margin at the centre and P a right inverse of W there. For every q of the box
///     λ(q) = λ₀ − P (W(q) P)⁻¹ (h(q) + W(q) λ₀)
/// balances: h + Wλ = 0. The box consists of equilibria if interval bounds of λ(q) prove that the laws allow it. The
/// rows of the free coordinates are left out. The other rows of W must be independent; otherwise nothing is proved.
bool EquilibriumBoxes::holds_everywhere(Box& q, const std::vector<char>& closed, const std::vector<int>& free) {
    if (!free.empty() && !solvable(q, free)) return false;
    const IntervalVector positions = enclosure_->position_values(q), chi = enclosure_->chi(q);
    for (std::size_t i = 0; i < closed.size(); ++i)
        if (closed[i] == 0 && !(positions[ix(model_.contacts[i].row)].lo > 0.0)) return false;
    const std::vector<double> c = proof::centre(q);
    resting_.move_to(Eigen::Map<const Vector>(c.data(), static_cast<Eigen::Index>(c.size())));
    const Statics s = resting_.statics(closed);
    std::vector<int> loaded;  // coordinates on which reactions act
    for (int i = 0; i < enclosure_->size(); ++i)
        if (ignored_[ix(i)] == 0 && std::find(free.begin(), free.end(), i) == free.end()) loaded.push_back(i);
    const int n = static_cast<int>(loaded.size()), m = static_cast<int>(s.W.cols());
    if (!s.moves.empty() || !s.fixed.empty() || m < n || !s.h.allFinite() || !s.W.allFinite()) return false;
    if (n == 0) return m == 0;
    const Balance b = balance(s, {}, nullptr);
    if (b.lambda.size() != m || !(b.margin > least_margin)) return false;
    Matrix at_centre(n, m);
    for (int i = 0; i < n; ++i) at_centre.row(i) = s.W.row(loaded[ix(i)]);
    const IntervalMatrix P(least_squares_columns(at_centre, Matrix::Identity(n, n))), rows = enclosure_->row_matrix(q);
    IntervalMatrix W(n, m), r(n, 1), lambda(m, 1);
    for (int j = 0; j < m; ++j) {
        lambda(j, 0) = Interval(b.lambda(j));
        for (const Statics::Share& share : s.columns[ix(j)]) {
            if (!is_zero(chi[ix(share.row)])) return false;
            for (int i = 0; i < n; ++i) W(i, j) += Interval(share.factor) * rows(share.row, loaded[ix(i)]);
        }
    }
    const IntervalVector h = enclosure_->forces(q).constant;
    for (int i = 0; i < n; ++i) r(i, 0) = h[ix(loaded[ix(i)])];
    r = r + W * lambda;
    if (!r.finite() || !W.finite()) return false;
    const std::optional<IntervalMatrix> y = proof::solve(W * P, r);
    if (!y) return false;
    lambda = lambda - P * *y;
    const IntervalVector coefficients = enclosure_->coefficients(q, Box(q.size(), Interval(0.0)));
    return std::all_of(s.elements.begin(), s.elements.end(),
                       [&](const RestingElement& e) { return lawful(e, lambda, coefficients); });
}

/// Proves that the laws of an element allow its forces.
bool EquilibriumBoxes::lawful(const RestingElement& e, const IntervalMatrix& lambda,
                              const IntervalVector& coefficients) const {
    if (e.sliding.size() > 0) return false;
    const integrate::ElementRows& element = resting_.elements()[ix(e.element)];
    double load = 0.0;
    if (e.kind == ElementKind::slider)
        load = std::max(0.0, proof::coefficient(coefficients, model_.sliders[ix(element.index)].normal_force).lo);
    else if (e.kind == ElementKind::constraint)
        load = least_magnitude(lambda(e.normal, 0));
    else if ((load = lambda(e.normal, 0).lo) < 0.0)
        return false;
    if (e.body.empty()) return true;
    IntervalVector force;
    for (int k = 0; k < e.body.dimension; ++k) force.push_back(lambda(e.slip + k, 0));
    const model::Friction* const friction = integrate::friction_of(model_, element);
    return friction != nullptr && friction_holds(*friction, coefficients, force, load);
}

BoxCover EquilibriumBoxes::cover(const std::vector<char>& closed, long max_boxes,
                                 const std::function<bool()>& interrupted) {
    BoxCover out;
    const std::vector<int> rows = rows_of_closed(model_, closed), free = free_coordinates(rows);
    // The widest box first: if the budget ends, then all remaining boxes have about the same size.
    struct Waiting {
        double size;
        long number;
        Box q;
        bool operator<(const Waiting& other) const {
            return size != other.size ? size < other.size : number > other.number;
        }
    };
    std::priority_queue<Waiting> queue;
    long number = 0;
    const auto wait = [&](Box q) {
        const double size = unbounded(q) ? Interval::infinity : size_of(q);
        queue.push({size, number++, std::move(q)});
    };
    wait(region_);
    if (spatial_friction(model_)) max_boxes /= cost_of_spatial_friction;
    long far = 0;
    const long max_far = static_cast<long>(unbounded_share * static_cast<double>(max_boxes));
    while (!queue.empty()) {
        Box q = queue.top().q;
        queue.pop();
        out.stopped = out.stopped || out.boxes >= max_boxes || (interrupted && interrupted());
        if (out.stopped) {
            out.closable = true;
            out.cells.push_back({std::move(q)});
            continue;
        }
        ++out.boxes;
        if (!admissible_.contract(q, rows, Interval::infinity)) continue;
        out.closable = true;
        if (!contract_free(q, free) || no_balance(q, rows)) continue;
        if (unbounded(q)) {
            const int side = far_side(q);
            if (side < 0 || ++far > max_far) {
                out.cells.push_back({std::move(q)});
                continue;
            }
            auto [a, b] = proof::split(q, ix(side), 0.0, 1.0 + std::abs(model_.q0[ix(side)]));
            wait(std::move(a));
            wait(std::move(b));
            continue;
        }
        const double size = size_of(q);
        Box larger = q;
        const bool inside = holds_everywhere(larger, closed, free);
        std::size_t widest = 0;
        for (std::size_t k = 0; k < q.size(); ++k)
            if (ignored_[k] == 0 && side_size(q[k]) == size) widest = k;
        if (inside || size <= finest_size || !proof::can_split(q, widest)) {
            out.cells.push_back({inside ? std::move(larger) : std::move(q), inside});
            continue;
        }
        auto [a, b] = proof::split(q, widest, 0.0, 1.0);
        wait(std::move(a));
        wait(std::move(b));
    }
    connect(out);
    if (out.stopped)
        part_components(out, closed, rows, free, static_cast<long>(share_for_parts * static_cast<double>(max_boxes)),
                        interrupted);
    find_ends(out);
    return out;
}

std::optional<BoxCover::Cell> EquilibriumBoxes::examine(Box q, const std::vector<char>& closed,
                                                        const std::vector<int>& rows, const std::vector<int>& free) {
    if (!admissible_.contract(q, rows, Interval::infinity)) return {};
    if (!contract_free(q, free) || no_balance(q, rows)) return {};
    Box larger = q;
    const bool inside = holds_everywhere(larger, closed, free);
    return BoxCover::Cell{inside ? std::move(larger) : std::move(q), inside};
}

double EquilibriumBoxes::volume_of(const Box& q) const {
    double volume = 1.0;
    for (std::size_t k = 0; k < q.size(); ++k)
        if (ignored_[k] == 0) volume *= expr::width(q[k]);
    return volume;
}

std::vector<int> EquilibriumBoxes::joined(const BoxCover& cover, const std::vector<std::size_t>& list) const {
    BoxCover some;
    for (const std::size_t i : list) some.cells.push_back(cover.cells[i]);
    connect(some);
    std::vector<int> part;
    for (const BoxCover::Cell& cell : some.cells) part.push_back(cell.component);
    return part;
}

/// All parts that count grow together through the other cells of their component, one layer of cells in each round.
/// Where two of them meet, a way between them begins and ends. The cells of all ways that are at most one cell longer
/// than the shortest way of the component are returned.
std::vector<std::size_t> EquilibriumBoxes::cells_between_parts(const BoxCover& cover) const {
    std::vector<std::vector<std::size_t>> proved(ix(cover.components)), all(ix(cover.components));
    for (std::size_t i = 0; i < cover.cells.size(); ++i) {
        if (cover.cells[i].component < 0) continue;
        all[ix(cover.cells[i].component)].push_back(i);
        if (cover.cells[i].inside) proved[ix(cover.cells[i].component)].push_back(i);
    }
    std::vector<std::size_t> between;
    const auto side = static_cast<std::size_t>(std::find(ignored_.begin(), ignored_.end(), 0) - ignored_.begin());
    for (std::size_t k = 0; k < all.size(); ++k) {
        if (proved[k].size() < 2 || proved[k].size() == all[k].size()) continue;
        const std::vector<int> part = joined(cover, proved[k]);
        std::vector<double> volume(ix(1 + *std::max_element(part.begin(), part.end())), 0.0);
        for (std::size_t i = 0; i < part.size(); ++i) volume[ix(part[i])] += volume_of(cover.cells[proved[k][i]].q);
        const double least = negligible_part * *std::max_element(volume.begin(), volume.end());
        if (std::count_if(volume.begin(), volume.end(), [&](double v) { return v >= least; }) < 2) continue;
        // Cells by their places in `cells`, with their neighbours.
        std::vector<std::size_t>& cells = all[k];
        std::sort(cells.begin(), cells.end(), [&](std::size_t a, std::size_t b) {
            const double x = cover.cells[a].q[side].lo, y = cover.cells[b].q[side].lo;
            return x != y ? x < y : a < b;
        });
        std::vector<int> owner(cells.size(), -1), distance(cells.size(), 0);
        std::vector<std::size_t> parent(cells.size()), row;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            parent[i] = i;
            const auto at = std::lower_bound(proved[k].begin(), proved[k].end(), cells[i]);
            if (at == proved[k].end() || *at != cells[i]) continue;
            const int p = part[ix(at - proved[k].begin())];
            if (volume[ix(p)] < least) continue;
            owner[i] = p;
            row.push_back(i);
        }
        std::vector<std::vector<std::size_t>> neighbours(cells.size());
        for (std::size_t a = 0; a < cells.size(); ++a)
            for (std::size_t b = a + 1;
                 b < cells.size() && cover.cells[cells[b]].q[side].lo <= cover.cells[cells[a]].q[side].hi; ++b)
                if ((!cover.cells[cells[a]].inside || !cover.cells[cells[b]].inside) &&
                    touch(cover.cells[cells[a]].q, cover.cells[cells[b]].q)) {
                    neighbours[a].push_back(b);
                    neighbours[b].push_back(a);
                }
        for (std::size_t at = 0; at < row.size(); ++at)
            for (const std::size_t next : neighbours[row[at]]) {
                if (owner[next] >= 0) continue;
                owner[next] = owner[row[at]];
                distance[next] = distance[row[at]] + 1;
                parent[next] = row[at];
                row.push_back(next);
            }
        int shortest = std::numeric_limits<int>::max();
        const auto each_meeting = [&](const auto& take) {
            for (std::size_t a = 0; a < cells.size(); ++a)
                for (const std::size_t b : neighbours[a])
                    if (a < b && owner[a] >= 0 && owner[b] >= 0 && owner[a] != owner[b]) take(a, b);
        };
        each_meeting([&](std::size_t a, std::size_t b) { shortest = std::min(shortest, distance[a] + distance[b]); });
        std::vector<char> wanted(cells.size(), 0);
        each_meeting([&](std::size_t a, std::size_t b) {
            if (distance[a] + distance[b] > shortest + 1) return;
            for (std::size_t i : {a, b})
                for (; wanted[i] == 0 && distance[i] > 0; i = parent[i]) wanted[i] = 1;
        });
        for (std::size_t i = 0; i < cells.size(); ++i)
            if (wanted[i] != 0 && !cover.cells[cells[i]].inside) between.push_back(cells[i]);
    }
    return between;
}

void EquilibriumBoxes::part_components(BoxCover& cover, const std::vector<char>& closed, const std::vector<int>& rows,
                                       const std::vector<int>& free, long max_boxes,
                                       const std::function<bool()>& interrupted) {
    for (long tested = 0; tested < max_boxes;) {
        std::vector<std::size_t> between = cells_between_parts(cover);
        std::erase_if(between, [&](std::size_t i) { return size_of(cover.cells[i].q) <= finest_size; });
        if (between.empty()) return;
        std::vector<BoxCover::Cell> added;
        std::vector<char> gone(cover.cells.size(), 0);
        for (const std::size_t i : between) {
            if (tested >= max_boxes || (interrupted && interrupted())) break;
            const Box& q = cover.cells[i].q;
            std::size_t widest = 0;
            for (std::size_t k = 0; k < q.size(); ++k)
                if (ignored_[k] == 0 && side_size(q[k]) == size_of(q)) widest = k;
            if (!proof::can_split(q, widest)) continue;
            gone[i] = 1;
            auto [a, b] = proof::split(q, widest, 0.0, 1.0);
            for (Box* const half : {&a, &b}) {
                ++tested;
                ++cover.boxes;
                if (auto cell = examine(std::move(*half), closed, rows, free)) added.push_back(std::move(*cell));
            }
        }
        if (std::find(gone.begin(), gone.end(), char{1}) == gone.end()) return;
        std::vector<BoxCover::Cell> cells;
        for (std::size_t i = 0; i < cover.cells.size(); ++i)
            if (gone[i] == 0) cells.push_back(std::move(cover.cells[i]));
        std::move(added.begin(), added.end(), std::back_inserter(cells));
        cover.cells = std::move(cells);
        for (BoxCover::Cell& cell : cover.cells) cell.component = -1;
        cover.components = 0;
        connect(cover);
        if (interrupted && interrupted()) return;
    }
}

void EquilibriumBoxes::find_ends(BoxCover& cover) const {
    const auto count = static_cast<std::size_t>(cover.components);
    std::vector<Box> around(count);
    std::vector<char> proved(count, 0), endless(count, 0);
    for (const BoxCover::Cell& cell : cover.cells) {
        if (cell.component < 0) continue;
        const std::size_t k = ix(cell.component);
        around[k] = around[k].empty() ? cell.q : proof::hull(around[k], cell.q);
        if (cell.inside) proved[k] = 1;
    }
    for (const BoxCover::Cell& far : cover.cells) {
        if (far.component >= 0) continue;
        for (const BoxCover::Cell& cell : cover.cells) {
            if (cell.component < 0 || proved[ix(cell.component)] != 0 || !proof::touch(far.q, cell.q)) continue;
            endless[ix(cell.component)] = 1;
            around[ix(cell.component)] = proof::hull(around[ix(cell.component)], far.q);
        }
    }
    for (std::size_t k = 0; k < count; ++k) cover.ends.push_back(endless[k] != 0 ? around[k] : Box{});
}

bool EquilibriumBoxes::touch(const Box& a, const Box& b) const {
    if (proof::touch(a, b)) return true;
    // Positions at the two ends of a period are the same.
    bool shifted = false;
    for (std::size_t k = 0; k < a.size(); ++k) {
        if (a[k].hi >= b[k].lo && b[k].hi >= a[k].lo) continue;
        if (periods_[k] == 0.0) return false;
        const double shift = a[k].lo < b[k].lo ? periods_[k] : -periods_[k];
        const double margin = period_margin * periods_[k];
        if (a[k].hi + shift < b[k].lo - margin || b[k].hi < a[k].lo + shift - margin) return false;
        shifted = true;
    }
    return shifted;
}

/// Numbers the connected components of the bounded cells. The cells are swept along one coordinate; those that reach an
/// end of a periodic region are compared with all others that do.
void EquilibriumBoxes::connect(BoxCover& cover) const {
    std::vector<std::size_t> order, ends, root(cover.cells.size());
    std::iota(root.begin(), root.end(), std::size_t{0});
    const auto find = [&](std::size_t i) {
        while (root[i] != i) i = root[i] = root[root[i]];
        return i;
    };
    const auto side = static_cast<std::size_t>(std::find(ignored_.begin(), ignored_.end(), 0) - ignored_.begin());
    for (std::size_t i = 0; i < cover.cells.size(); ++i) {
        const Box& q = cover.cells[i].q;
        if (unbounded(q)) continue;
        order.push_back(i);
        for (std::size_t k = 0; k < q.size(); ++k)
            if (periods_[k] > 0.0 && (q[k].lo <= -0.5 * periods_[k] || q[k].hi >= 0.5 * periods_[k])) {
                ends.push_back(i);
                break;
            }
    }
    const auto join = [&](std::size_t i, std::size_t j) {
        if (find(i) != find(j) && touch(cover.cells[i].q, cover.cells[j].q)) root[find(i)] = find(j);
    };
    if (side < ignored_.size()) {
        std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
            const double x = cover.cells[i].q[side].lo, y = cover.cells[j].q[side].lo;
            return x != y ? x < y : i < j;
        });
        for (std::size_t a = 0; a < order.size(); ++a)
            for (std::size_t b = a + 1;
                 b < order.size() && cover.cells[order[b]].q[side].lo <= cover.cells[order[a]].q[side].hi; ++b)
                join(order[a], order[b]);
    }
    for (std::size_t a = 0; a < ends.size(); ++a)
        for (std::size_t b = 0; b < a; ++b) join(ends[a], ends[b]);
    std::vector<int> number(cover.cells.size(), -1);
    for (const std::size_t i : order) {
        int& n = number[find(i)];
        if (n < 0) n = cover.components++;
        cover.cells[i].component = n;
    }
}

int EquilibriumBoxes::proved_parts(const BoxCover& cover, int component) const {
    BoxCover proved;
    for (const BoxCover::Cell& cell : cover.cells)
        if (cell.inside && cell.component == component) proved.cells.push_back(cell);
    connect(proved);
    std::vector<double> volumes(ix(proved.components), 0.0);
    for (const BoxCover::Cell& cell : proved.cells) volumes[ix(cell.component)] += volume_of(cell.q);
    const double largest = volumes.empty() ? 0.0 : *std::max_element(volumes.begin(), volumes.end());
    return static_cast<int>(std::count_if(volumes.begin(), volumes.end(),
                                          [&](double volume) { return volume >= negligible_part * largest; }));
}

CoverPlace EquilibriumBoxes::locate(const BoxCover& cover, const Vector& q) const {
    std::vector<double> x(q.data(), q.data() + q.size());
    std::vector<double> margin(x.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
        if (periods_[k] > 0.0) x[k] -= periods_[k] * std::round(x[k] / periods_[k]);
        margin[k] = cell_margin * (1.0 + std::abs(x[k]));
        if (ignored_[k] == 0 && (x[k] < region_[k].lo || x[k] > region_[k].hi)) return {Place::outside, -1};
    }
    // A position at the end of a period lies in the cells of both ends.
    const auto holds = [&](const Box& box) {
        for (std::size_t k = 0; k < x.size(); ++k) {
            if (ignored_[k] != 0) continue;
            bool in = x[k] >= box[k].lo - margin[k] && x[k] <= box[k].hi + margin[k];
            for (const double shift : {-periods_[k], periods_[k]})
                in = in ||
                     (shift != 0.0 && x[k] + shift >= box[k].lo - margin[k] && x[k] + shift <= box[k].hi + margin[k]);
            if (!in) return false;
        }
        return true;
    };
    for (const BoxCover::Cell& cell : cover.cells)
        if (holds(cell.q)) return {Place::in_cell, cell.component};
    return {Place::excluded, -1};
}

}  // namespace saltus::stability
