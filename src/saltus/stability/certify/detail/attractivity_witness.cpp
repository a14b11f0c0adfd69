// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "saltus/model/evaluate.hpp"
#include "saltus/model/model.hpp"
#include "saltus/solvers/program/linear_program.hpp"
#include "saltus/stability/certify/detail/attractivity_conditions.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

Vector middle(const IntervalVector& v) {
    Vector x(static_cast<Index>(v.size()));
    for (std::size_t k = 0; k < v.size(); ++k) x(static_cast<Index>(k)) = expr::midpoint(v[k]);
    return x;
}

/// The largest first acceleration over forces of the laws with which the others vanish, at rest.
struct Largest {
    bool found = false;
    double value = 0.0;
    std::vector<double> pressing;  // N of each cone
};
Largest largest_acceleration(const Accelerations& a) {
    const auto m = static_cast<Index>(a.constant.size());
    // Columns: N of each cone, then directions of its friction, each with a bound by N; sliders likewise by 1.
    std::vector<Vector> columns;
    struct Bound {
        Index by;  // column of N, or −1: 1
        std::vector<Index> of;
    };
    std::vector<Bound> bounds;
    const auto add_friction = [&](const proof::Friction& f, Index by) {
        for (const auto& group : f.groups) {
            Bound bound{by, {}};
            const int directions = group.size() == 1 ? 2 : 16;
            for (int k = 0; k < directions; ++k) {
                const double angle = 2.0 * std::numbers::pi * k / directions;
                Vector v = std::cos(angle) * middle(group[0]);
                if (group.size() > 1) v += std::sin(angle) * middle(group[1]);
                bound.of.push_back(static_cast<Index>(columns.size()));
                columns.push_back(std::move(v));
            }
            bounds.push_back(std::move(bound));
        }
    };
    std::vector<Index> normals;
    for (const ForceCone& c : a.forces.cones) {
        normals.push_back(static_cast<Index>(columns.size()));
        columns.push_back(middle(c.normal));
        add_friction(c.friction, normals.back());
    }
    for (const proof::Friction& f : a.forces.sliders) add_friction(f, -1);
    const auto n = static_cast<Index>(columns.size()), k = static_cast<Index>(bounds.size());
    const Vector constant = middle(a.constant);
    solvers::LinearProgram lp;
    lp.A = Matrix::Zero(m - 1 + k, n + k);
    lp.b = Vector::Zero(m - 1 + k);
    lp.c = Vector::Zero(n + k);
    lp.b.head(m - 1) = -constant.tail(m - 1);
    for (Index j = 0; j < n; ++j) {
        lp.A.block(0, j, m - 1, 1) = columns[static_cast<std::size_t>(j)].tail(m - 1);
        lp.c(j) = -columns[static_cast<std::size_t>(j)](0);
    }
    for (Index i = 0; i < k; ++i) {
        const Bound& bound = bounds[static_cast<std::size_t>(i)];
        for (const Index j : bound.of) lp.A(m - 1 + i, j) = 1.0;
        lp.A(m - 1 + i, n + i) = 1.0;
        if (bound.by >= 0)
            lp.A(m - 1 + i, bound.by) = -1.0;
        else
            lp.b(m - 1 + i) = 1.0;
    }
    Largest result;
    if (n + k == 0) {
        result.found = m == 1;
        result.value = constant(0);
        return result;
    }
    const solvers::ProgramSolution s = solvers::solve(lp);
    if (s.status == solvers::ProgramStatus::unbounded) {
        result.found = true;
        result.value = Interval::infinity;
        return result;
    }
    if (s.status != solvers::ProgramStatus::optimal) return result;
    result.found = true;
    result.value = constant(0) - s.value;
    for (const Index j : normals) result.pressing.push_back(s.x(j));
    return result;
}

}  // namespace

Witness opening_witness(const Ground& g, const std::vector<int>& I_C, const Vector& near) {
    const Enclosure& e = g.enclosure();
    Witness best;
    double most = -1e-9;
    const std::vector<double> q(near.data(), near.data() + near.size());
    const Box point = point_box(q);
    const IntervalVector gaps = e.position_values(point);
    std::vector<int> closable;
    for (int r = e.constraints(); r < e.positions(); ++r)
        if (std::fabs(expr::midpoint(gaps[static_cast<std::size_t>(r)])) < 1e-5) closable.push_back(r);
    if (closable.size() > 8) return best;
    const std::size_t frictional = frictional_constraints(e).size();
    for (unsigned mask = 0; mask < (1U << closable.size()); ++mask) {
        const std::vector<int> closed = PositionTests::subset(closable, mask);
        if (implies_more(e, point, closable, closed)) continue;
        for (unsigned sign = 0; sign < (1U << frictional); ++sign)
            for (const int i : I_C) {
                if (std::find(closed.begin(), closed.end(), i) != closed.end()) continue;
                AccelerationRequest request{{i}, closed, {}, 0.0};
                request.gaps.insert(request.gaps.end(), closed.begin(), closed.end());
                for (std::size_t k = 0; k < frictional; ++k) request.signs.push_back((sign >> k & 1U) != 0 ? -1 : 1);
                const std::optional<Accelerations> a = accelerations(e, point, request);
                if (!a) continue;
                const Largest largest = largest_acceleration(*a);
                if (!largest.found || !(largest.value > most)) continue;
                most = largest.value;
                best = {};
                best.q = q;
                best.u.assign(q.size(), 0.0);
                const auto name = [&](int r) {
                    return g.model().contacts[static_cast<std::size_t>(r - e.constraints())].name;
                };
                best.values.emplace_back("acceleration of gap " + name(i), largest.value);
                for (std::size_t k = 0; k < closed.size() && k < largest.pressing.size(); ++k)
                    best.values.emplace_back("force N of " + name(closed[k]), largest.pressing[k]);
            }
    }
    return best;
}

namespace {

/// Mass matrix and rows at one position and time, at rest.
struct Snapshot {
    Matrix M, rows;
    Vector h, chi;
};
Snapshot snapshot(const Enclosure& e, const Vector& q) {
    const Box point = point_box({q.data(), q.data() + q.size()});
    return {e.mass(point).middle(), e.row_matrix(point).middle(), {}, {}};
}

/// h and χ as the model itself gives them.
Snapshot at_time(const Ground& g, model::Workspace& workspace, model::Terms& terms, double t,
                 const std::vector<double>& q, const std::vector<double>& u) {
    model::evaluate(g.model(), workspace, t, q, u, terms);
    return {{},
            {},
            Eigen::Map<const Vector>(terms.h.data(), static_cast<Index>(terms.h.size())),
            Eigen::Map<const Vector>(terms.chi.data(), static_cast<Index>(terms.chi.size()))};
}

constexpr int times_to_look = 200;
constexpr double between_times = 0.0731;  // not a period that people choose

}  // namespace

Witness collision_witness(const Ground& g, std::size_t contact) {
    const Enclosure& e = g.enclosure();
    std::vector<int> rows;
    for (const model::Constraint& c : g.model().constraints) rows.push_back(c.row);
    rows.push_back(g.model().contacts[contact].row);
    const auto m = static_cast<Index>(rows.size());
    // d = M⁻¹Aᵀ(A M⁻¹Aᵀ)⁻¹ r: A d = r with the least kinetic energy.
    const auto least = [&](const Vector& q, const Vector& r) -> Vector {
        const Snapshot s = snapshot(e, q);
        Matrix A(m, q.size());
        for (Index i = 0; i < m; ++i) A.row(i) = s.rows.row(rows[static_cast<std::size_t>(i)]);
        const Matrix MA = s.M.ldlt().solve(A.transpose());
        return MA * least_squares(A * MA, r);
    };
    Vector q = g.rest.q;
    for (int k = 0; k < 40; ++k) {
        const IntervalVector values = e.position_values(point_box({q.data(), q.data() + q.size()}));
        Vector r(m);
        for (Index i = 0; i < m; ++i)
            r(i) = -expr::midpoint(values[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])]);
        if (r.cwiseAbs().maxCoeff() < 1e-14) break;
        q += least(q, r);
        if (!q.allFinite()) return {};
    }
    Vector closing = Vector::Zero(m);
    closing(m - 1) = -1.0;
    const Vector u = least(q, closing);
    Witness w;
    if (!u.allFinite()) return w;
    w.q.assign(q.data(), q.data() + q.size());
    w.u.assign(u.data(), u.data() + u.size());
    return w;
}

Witness moving_witness(const Ground& g) {
    model::Workspace workspace(g.model());
    model::Terms terms(g.model().layout());
    const std::vector<double> q(g.rest.q.data(), g.rest.q.data() + g.rest.q.size()), u(q.size(), 0.0);
    double most = 1e-9;
    Witness w;
    for (int k = 0; k < times_to_look; ++k) {
        const double t = between_times * k;
        const Snapshot s = at_time(g, workspace, terms, t, q, u);
        Index row = 0;
        if (s.chi.size() == 0 || !(s.chi.cwiseAbs().maxCoeff(&row) > most)) continue;
        most = std::fabs(s.chi(row));
        w.q.assign(g.rest.q.data(), g.rest.q.data() + g.rest.q.size());
        w.u.assign(w.q.size(), 0.0);
        w.values = {{"t", t}, {"chi", s.chi(row)}};
    }
    return w;
}

Witness changing_witness(const Ground& g) {
    model::Workspace workspace(g.model());
    model::Terms terms(g.model().layout());
    const std::vector<double> rest(g.rest.q.data(), g.rest.q.data() + g.rest.q.size()), still(rest.size(), 0.0);
    // At the equilibrium, beside it (a stiffness that pulsates does not show in it), and with a velocity (damping).
    std::vector<std::pair<std::vector<double>, std::vector<double>>> states{{rest, still}};
    for (std::size_t j = 0; j < rest.size(); ++j) {
        std::vector<double> q = rest, u = still;
        q[j] += 0.125 * g.rest.scale[j];
        u[j] = 1.0;
        states.emplace_back(q, still);
        states.emplace_back(rest, u);
    }
    for (const auto& [q, u] : states) {
        const Vector first = at_time(g, workspace, terms, 0.0, q, u).h;
        double most = 1e-9 * (1.0 + first.cwiseAbs().maxCoeff());
        Witness w;
        for (int k = 1; k < times_to_look; ++k) {
            const double t = between_times * k;
            const Vector change = at_time(g, workspace, terms, t, q, u).h - first;
            Index row = 0;
            if (!(change.cwiseAbs().maxCoeff(&row) > most)) continue;
            most = std::fabs(change(row));
            w.q = q;
            w.u = u;
            w.values = {{"t", t}, {"change of h " + g.model().coordinates[static_cast<std::size_t>(row)], change(row)}};
        }
        if (w.given()) return w;
    }
    const std::size_t count = static_cast<std::size_t>(g.model().layout().coefficients);
    std::vector<double> first(count), later(count);
    const auto coefficients = [&](double t, std::vector<double>& values) {
        g.model().system->coefficients(model::at(g.model(), t, rest, still), workspace.scratch(), values);
    };
    coefficients(0.0, first);
    for (int k = 1; k < times_to_look; ++k) {
        coefficients(between_times * k, later);
        for (std::size_t i = 0; i < count; ++i)
            if (std::fabs(later[i] - first[i]) > 1e-9 * (1.0 + std::fabs(first[i])))
                return {rest, still, {{"t", between_times * k}, {"change of a coefficient", later[i] - first[i]}}};
    }
    return {};
}

}  // namespace saltus::stability
