// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/attractivity_tests.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/model/model.hpp"
#include "saltus/solvers/program/linear_program.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

constexpr std::size_t most_closed = 10;  // gaps at once, for their subsets

IntervalVector row(const IntervalMatrix& A, int r, double sign = 1.0) {
    IntervalVector v;
    for (int j = 0; j < A.cols(); ++j) v.push_back(sign > 0.0 ? A(r, j) : -A(r, j));
    return v;
}

Box at_rest(int n) { return Box(static_cast<std::size_t>(n), Interval(0.0)); }

/// Calls f(closed) for each subset of the rows until one returns false.
template <class F>
void each_subset(const std::vector<int>& rows, F f) {
    for (unsigned mask = 0; mask < (1U << rows.size()); ++mask)
        if (!f(PositionTests::subset(rows, mask))) return;
}

template <class F>
bool each_sign(std::size_t count, F f) {
    for (unsigned mask = 0; mask < (1U << count); ++mask) {
        std::vector<int> signs;
        for (std::size_t k = 0; k < count; ++k) signs.push_back((mask >> k & 1U) != 0 ? -1 : 1);
        if (!f(signs)) return false;
    }
    return true;
}

}  // namespace

std::vector<int> frictional_constraints(const Enclosure& e) {
    std::vector<int> list;
    const IntervalVector coefficients = e.coefficients(whole_space(static_cast<std::size_t>(e.size())),
                                                       whole_space(static_cast<std::size_t>(e.size())));
    for (const model::Constraint& c : e.model().constraints)
        if (!without_friction(c.friction, coefficients)) list.push_back(c.row);
    return list;
}

std::optional<ForceSet> statics(const Enclosure& e, const Box& q, const std::vector<int>& closed,
                                const StaticsOptions& options) {
    const model::Model& m = e.model();
    const IntervalMatrix rows = e.row_matrix(q);
    const IntervalVector coefficients = e.coefficients(q, at_rest(e.size()));
    ForceSet forces;
    std::vector<int> free;
    std::size_t frictional = 0;
    for (const model::Constraint& c : m.constraints) {
        if (!options.friction || options.signs.empty() || without_friction(c.friction, coefficients)) {
            free.push_back(c.row);
            continue;
        }
        forces.cones.push_back({row(rows, c.row, options.signs[frictional++]),
                                friction_of(c.friction, rows, coefficients, Interval(1.0))});
    }
    for (const int r : closed) {
        const model::Contact& c = m.contacts[static_cast<std::size_t>(r - e.constraints())];
        forces.cones.push_back({row(rows, r), options.friction
                                                  ? friction_of(c.friction, rows, coefficients, Interval(1.0))
                                                  : proof::Friction{}});
    }
    if (options.friction) {
        for (const model::Slider& s : m.sliders)
            forces.sliders.push_back(
                friction_of(s.friction, rows, coefficients, coefficient(coefficients, s.normal_force)));
        for (const model::Clutch& c : m.clutches) forces.cones.push_back({row(rows, c.row), {}});
        forces.loads.push_back(e.force(q, at_rest(e.size())));
    } else {
        IntervalVector load = e.gradient(q);
        for (Interval& x : load) x = -x;
        forces.loads.push_back(std::move(load));
    }
    if (m.constraints.empty() && e.smooth && (!options.friction || e.restful)) {
        // load = −∇U, its slope −∇²U.
        LoadSlope slope;
        const std::vector<double> c = centre(q);
        slope.at_centre = e.gradient(point_box(c));
        for (Interval& x : slope.at_centre) x = -x;
        slope.slope = e.hessian(q);
        for (int i = 0; i < e.size(); ++i) {
            slope.step.push_back(q[static_cast<std::size_t>(i)] - Interval(c[static_cast<std::size_t>(i)]));
            for (int j = 0; j < e.size(); ++j) slope.slope(i, j) = -slope.slope(i, j);
        }
        if (slope.slope.finite()) forces.slope = std::move(slope);
    }
    if (free.empty()) return forces;
    const std::optional<IntervalMatrix> T = tangents(rows_of(rows, free), e.size());
    if (!T) return std::nullopt;
    return reduce(forces, *T);
}

bool implies_more(const Enclosure& e, const Box& q, const std::vector<int>& rows, const std::vector<int>& closed) {
    constexpr double rounding = 1e-12;
    std::vector<int> which;
    for (int r = 0; r < e.constraints(); ++r) which.push_back(r);
    which.insert(which.end(), closed.begin(), closed.end());
    const std::size_t free = which.size();
    for (const int r : rows)
        if (std::find(closed.begin(), closed.end(), r) == closed.end()) which.push_back(r);
    if (which.size() == free) return false;
    const IntervalMatrix W = rows_of(e.row_matrix(q), which);
    if (!W.finite()) return false;
    const auto n = static_cast<Eigen::Index>(e.size()), m = static_cast<Eigen::Index>(which.size()),
               f = static_cast<Eigen::Index>(free);
    solvers::LinearProgram program;
    program.A = Matrix::Zero(n + 1, m);
    program.A.topRows(n) = W.middle().transpose();
    program.A.bottomRightCorner(1, m - f).setOnes();
    program.b = Vector::Zero(n + 1);
    program.b(n) = 1.0;
    program.c = Vector::Zero(m);
    program.lower = Vector::Zero(m);
    program.lower.head(f).setConstant(-Interval::infinity);
    program.upper = Vector::Constant(m, Interval::infinity);
    const solvers::ProgramSolution s = solvers::solve(program);
    if (s.status != solvers::ProgramStatus::optimal) return false;
    const IntervalVector values = e.position_values(point_box(centre(q)));
    for (Eigen::Index j = 0; j <= n; ++j) {
        Interval sum;
        for (Eigen::Index k = 0; k < m; ++k)
            sum += Interval(s.x(k)) * (j < n ? W(static_cast<int>(k), static_cast<int>(j))
                                             : values[static_cast<std::size_t>(which[static_cast<std::size_t>(k)])]);
        if (!(sum.lo >= -rounding && sum.hi <= rounding)) return false;
    }
    return true;
}

std::vector<int> PositionTests::subset(const std::vector<int>& rows, unsigned mask) {
    std::vector<int> list;
    for (std::size_t k = 0; k < rows.size(); ++k)
        if ((mask >> k & 1U) != 0) list.push_back(rows[k]);
    return list;
}

PositionTests::PositionTests(const AdmissibleSet& set, const Rest& rest, const RestBox& box)
    : set_(set), enclosure_(set.enclosure()), rest_(rest), frictional_(frictional_constraints(enclosure_)) {
    // The equilibrium as a stationary point with each choice of its contacts, forces of any sign.
    if (!box.proved() || rest.closed.size() > 6) return;
    each_subset(rest.closed, [&](const std::vector<int>& closed) {
        RestBox one = enclose_stationary(enclosure_, rest, with_constraints(closed));
        if (one.proved()) supports_.push_back(std::move(one));
        return true;
    });
}

/// Two solutions (q, λ) of ∇U = Σ λ w, g = 0 with the same rows differ by z with J z = 0, J a mean of the Jacobian
/// between them. So where all J are regular, the one near q_e is the only one.
bool PositionTests::unique(const Box& q, const std::vector<int>& closed) const {
    if (!enclosure_.smooth) return false;
    const RestBox* found = support_among(q, with_constraints(closed));
    if (found == nullptr) return false;
    const Box both = hull(q, found->q);
    const std::vector<int>& support = found->support;
    // λ = (W Wᵀ)⁻¹ W ∇U wherever the point is stationary.
    const IntervalMatrix W = rows_of(enclosure_.row_matrix(both), support);
    const IntervalVector gradient = enclosure_.gradient(both);
    IntervalMatrix g(enclosure_.size(), 1);
    for (int i = 0; i < enclosure_.size(); ++i) g(i, 0) = gradient[static_cast<std::size_t>(i)];
    const std::optional<IntervalMatrix> lambda = solve(W * transpose(W), W * g);
    if (!lambda) return false;
    IntervalVector bounds;
    for (int k = 0; k < lambda->rows(); ++k)
        bounds.push_back(expr::hull((*lambda)(k, 0), found->lambda[static_cast<std::size_t>(k)]));
    return regular(stationarity_matrix(enclosure_, both, support, bounds)) && qualified(both);
}

std::vector<int> PositionTests::with_constraints(const std::vector<int>& closed) const {
    std::vector<int> rows;
    for (int r = 0; r < enclosure_.constraints(); ++r) rows.push_back(r);
    rows.insert(rows.end(), closed.begin(), closed.end());
    return rows;
}

/// The equilibrium by these rows; or, if they are more than the coordinates that any of them acts on, by as many of
/// them as that, which then span what all of them do.
const RestBox* PositionTests::support_among(const Box& q, const std::vector<int>& rows) const {
    const IntervalMatrix W = rows_of(enclosure_.row_matrix(q), rows);
    std::size_t touched = 0;
    for (int j = 0; j < W.cols(); ++j)
        for (int i = 0; i < W.rows(); ++i)
            if (W(i, j).lo != 0.0 || W(i, j).hi != 0.0) {
                ++touched;
                break;
            }
    const std::size_t count = std::min(rows.size(), touched);
    for (const RestBox& b : supports_)
        if (b.support.size() == count && std::includes(rows.begin(), rows.end(), b.support.begin(), b.support.end()))
            return &b;
    return nullptr;
}

/// Some direction opens all gaps that may be closed: a minimum is then stationary. (Mangasarian and Fromovitz)
bool PositionTests::qualified(const Box& q) const {
    const std::vector<int> closed = set_.may_close(q);
    if (closed.empty()) return true;
    std::optional<ForceSet> forces = statics(enclosure_, q, closed, {false, {}});
    if (!forces) return false;
    forces->loads = {forces->cones.front().normal};
    return separate(*forces).has_value();
}

BoxTest PositionTests::stationary(const Box& q, double cap) const {
    const std::vector<int> rows = set_.may_close(q);
    const auto forces_over = [&](const Box& box, const std::vector<int>& closed) {
        return statics(enclosure_, box, closed, {false, {}});
    };
    BoxTest t;
    if (rows.size() > most_closed) {
        t.open = q;
        t.side = decisive_side(q, scale(), [&](const Box& b) { return spread_of(enclosure_.position_values(b)); });
        return t;
    }
    if (const std::optional<ForceSet> all = forces_over(q, rows); all && separate(*all)) {
        t.proved = true;
        return t;
    }
    t.proved = true;
    each_subset(rows, [&](const std::vector<int>& closed) {
        Box part = q;
        if (!set_.contract(part, closed, cap)) return true;
        const std::optional<ForceSet> forces = forces_over(part, closed);
        if (forces && separate(*forces)) return true;
        if (unique(part, closed) || implies_more(enclosure_, part, rows, closed)) return true;
        t.proved = false;
        t.open = part;
        t.side = decisive_side(part, scale(), [&](const Box& b) {
            const std::optional<ForceSet> f = forces_over(b, closed);
            return f ? spread_of(*f) : 1e300;
        });
        return false;
    });
    return t;
}

BoxTest PositionTests::balanced(const Box& q, double cap) const {
    const std::vector<int> rows = set_.may_close(q);
    BoxTest t;
    if (rows.size() > most_closed) {
        t.open = q;
        t.side = decisive_side(q, scale(), [&](const Box& b) { return spread_of(enclosure_.position_values(b)); });
        return t;
    }
    t.proved = true;
    each_subset(rows, [&](const std::vector<int>& closed) {
        Box part = q;
        if (!set_.contract(part, closed, cap)) return true;
        return each_sign(frictional_.size(), [&](const std::vector<int>& signs) {
            const std::optional<ForceSet> forces = statics(enclosure_, part, closed, {true, signs});
            if (forces && separate(*forces)) return true;
            t.proved = false;
            t.open = part;
            t.side = decisive_side(part, scale(), [&](const Box& b) {
                const std::optional<ForceSet> f = statics(enclosure_, b, closed, {true, signs});
                return f ? spread_of(*f) : 1e300;
            });
            return false;
        });
    });
    return t;
}

BoxTest PositionTests::closing(const Box& q, double cap, const std::vector<int>& I_C, double kinetic) const {
    const std::vector<int> rows = set_.may_close(q);
    BoxTest t;
    if (rows.size() > most_closed) {
        t.open = q;
        t.side = decisive_side(q, scale(), [&](const Box& b) { return spread_of(enclosure_.position_values(b)); });
        return t;
    }
    t.proved = true;
    each_subset(rows, [&](const std::vector<int>& closed) {
        std::vector<int> opening;
        for (const int r : I_C)
            if (std::find(closed.begin(), closed.end(), r) == closed.end()) opening.push_back(r);
        if (opening.empty()) return true;
        Box part = q;
        if (!set_.contract(part, closed, cap)) return true;
        const double energy = std::min(kinetic, cap - set_.level(part).lo);
        for (const int i : opening) {
            const bool negative = each_sign(frictional_.size(), [&](const std::vector<int>& signs) {
                AccelerationRequest request{{i}, closed, signs, energy};
                request.gaps.insert(request.gaps.end(), closed.begin(), closed.end());
                const std::optional<Accelerations> a = accelerations(enclosure_, part, request);
                if (a && a->exclude(energy, true)) return true;
                if (implies_more(enclosure_, part, rows, closed)) return true;
                t.proved = false;
                t.open = part;
                t.which = i;
                t.side = decisive_side(part, scale(), [&](const Box& b) {
                    const std::optional<Accelerations> f = accelerations(enclosure_, b, request);
                    if (!f) return 1e300;
                    double sum = spread_of(f->forces);
                    for (const IntervalVector& l : f->linear) sum += spread_of(l);
                    for (const IntervalMatrix& B : f->quadratic) sum += spread_of(B);
                    return sum;
                });
                return false;
            });
            if (!negative) return false;
        }
        return true;
    });
    return t;
}

BoxTest PositionTests::in_region(const Box& q) const {
    const Box u = at_rest(enclosure_.size());
    const auto slacks = [&](const Box& box) {
        IntervalVector all = enclosure_.regions(box, u), list;
        for (std::size_t r = 0; r < all.size(); ++r)
            if (!enclosure_.region_of_velocity[r]) list.push_back(all[r]);
        return list;
    };
    const IntervalVector slack = slacks(q);
    BoxTest t;
    t.proved = std::all_of(slack.begin(), slack.end(), [](const Interval& x) { return x.defined && x.lo > 0.0; });
    if (t.proved) return t;
    t.open = q;
    t.side = decisive_side(q, scale(), [&](const Box& b) { return spread_of(slacks(b)); });
    return t;
}

}  // namespace saltus::stability
