// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/linear_classification.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <queue>

#include "saltus/base/text.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/support.hpp"
#include "saltus/proof/admissible.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

constexpr double inf = Interval::infinity;

bool narrow(const IntervalMatrix& A) {
    for (int i = 0; i < A.rows(); ++i)
        for (int j = 0; j < A.cols(); ++j)
            if (!A(i, j).defined || !(width(A(i, j)) <= 1e-12 * (1.0 + std::fabs(A(i, j).lo)))) return false;
    return true;
}

bool zero(const Interval& x) { return x.defined && x.lo == 0.0 && x.hi == 0.0; }

IntervalMatrix symmetric_part(const IntervalMatrix& C) {
    IntervalMatrix S(C.rows(), C.cols());
    for (int i = 0; i < C.rows(); ++i)
        for (int j = 0; j < C.cols(); ++j) S(i, j) = (C(i, j) + C(j, i)) * Interval(0.5);
    return S;
}

struct Least {
    double value = 0.0;
    Vector direction;
};
Least least(const IntervalMatrix& A, const IntervalMatrix& M) {
    const Modes all = modes(A.middle(), M.middle());
    return {all.values(0), all.vectors.col(0)};
}

/// uᵀAu over a box of u, the squares as squares.
Interval form(const IntervalMatrix& A, const Box& u) {
    Interval sum;
    for (int i = 0; i < A.rows(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (!zero(A(i, i))) sum += A(i, i) * expr::sqr(u[at]);
        for (int j = 0; j < i; ++j)
            if (!zero(A(i, j))) sum += Interval(2.0) * A(i, j) * (u[at] * u[static_cast<std::size_t>(j)]);
    }
    return sum;
}

}  // namespace

const char* to_string(LinearClass kind) {
    switch (kind) {
        case LinearClass::globally_attractive: return "globally attractive";
        case LinearClass::locally_attractive: return "locally attractive";
        case LinearClass::unstable: return "unstable";
        case LinearClass::undecided: return "undecided";
    }
    return "";
}

std::optional<LinearSystem> linear_system(const Enclosure& e) {
    const model::Model& m = e.model();
    if (!model::unsupported(m, model::Analysis::linear_classification).empty()) return std::nullopt;
    if (!e.quadratic_forces || !e.linear_damping) return std::nullopt;
    const Box all = whole_space(static_cast<std::size_t>(e.size()));
    LinearSystem s;
    s.M = e.mass(all);
    s.K = e.hessian(all);
    s.C = e.damping(all);
    const ForceTerms forces = e.forces(all);
    for (const IntervalMatrix& Q : forces.quadratic)
        for (int i = 0; i < Q.rows(); ++i)
            for (int j = 0; j < Q.cols(); ++j)
                if (!zero(Q(i, j))) return std::nullopt;
    const IntervalVector rest = e.forces_at_rest(all), chi = e.chi(all);
    for (const IntervalVector* v : {&rest, &chi})
        if (!std::all_of(v->begin(), v->end(), zero)) return std::nullopt;
    const IntervalMatrix rows = e.row_matrix(all);
    const IntervalVector coefficients = e.coefficients(all, all);
    std::vector<int> which;
    for (const model::Slider& slider : m.sliders) {
        if (slider.friction.law != model::FrictionLaw::coulomb) return std::nullopt;
        const Interval F =
            coefficient(coefficients, slider.friction.mu[0]) * coefficient(coefficients, slider.normal_force);
        if (!std::isfinite(width(F)) || width(F) > 1e-12 * (1.0 + F.hi)) return std::nullopt;
        s.groups.emplace_back();
        for (int k = 0; k < slider.friction.dimension; ++k) {
            s.groups.back().push_back(static_cast<int>(which.size()));
            which.push_back(slider.friction.first_row + k);
        }
        s.F.push_back(F);
    }
    s.W = rows_of(rows, which);
    if (!narrow(s.M) || !narrow(s.K) || !narrow(s.C) || !narrow(s.W)) return std::nullopt;
    return s;
}

std::optional<LinearSystem> sliding_system(const Enclosure& e, const Box& q) {
    const model::Model& m = e.model();
    if (!m.contacts.empty() || !m.constraints.empty() || !m.clutches.empty() || !e.linear_damping) return std::nullopt;
    LinearSystem s;
    s.M = e.mass(q);
    s.C = e.damping(q);
    const IntervalMatrix rows = e.row_matrix(q);
    const IntervalVector coefficients = e.coefficients(q, whole_space(q.size()));
    std::vector<int> which;
    for (const model::Slider& slider : m.sliders) {
        if (slider.friction.law != model::FrictionLaw::coulomb) return std::nullopt;
        s.groups.emplace_back();
        for (int k = 0; k < slider.friction.dimension; ++k) {
            s.groups.back().push_back(static_cast<int>(which.size()));
            which.push_back(slider.friction.first_row + k);
        }
        s.F.push_back(coefficient(coefficients, slider.friction.mu[0]) *
                      coefficient(coefficients, slider.normal_force));
    }
    s.W = rows_of(rows, which);
    if (!s.M.finite() || !s.C.finite() || !s.W.finite()) return std::nullopt;
    return s;
}

std::vector<std::complex<double>> eigenvalues(const LinearSystem& s) {
    const Matrix M = s.M.middle();
    const Index n = M.rows();
    Matrix A = Matrix::Zero(2 * n, 2 * n);
    A.topRightCorner(n, n).setIdentity();
    A.bottomLeftCorner(n, n) = -solve_columns(M, s.K.middle());
    A.bottomRightCorner(n, n) = -solve_columns(M, s.C.middle());
    const Eigen::EigenSolver<Matrix> solver(A, false);
    std::vector<std::complex<double>> list(solver.eigenvalues().data(), solver.eigenvalues().data() + 2 * n);
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
        return a.real() != b.real() ? a.real() < b.real() : a.imag() < b.imag();
    });
    return list;
}

/// Along v the powers are s Σ F|W v| and −s² vᵀCv, equal at s = f/c: T = f² vᵀMv/(2c²), which does not depend on the
/// length of v. Its infimum over the faces of the unit cube, by bounds over boxes.
double friction_level(const LinearSystem& s, long budget) {
    const int n = s.M.rows();
    const IntervalMatrix S = symmetric_part(s.C);
    const auto bound = [&](const Box& v) {
        Interval friction;
        for (std::size_t g = 0; g < s.groups.size(); ++g) {
            Interval square;
            for (const int r : s.groups[g]) {
                Interval slip;
                for (int j = 0; j < n; ++j) slip += s.W(r, j) * v[static_cast<std::size_t>(j)];
                square += expr::sqr(slip);
            }
            friction += s.F[g] * expr::sqrt(square);
        }
        const double gain = -form(S, v).lo;
        if (!(gain > 0.0)) return inf;
        const double f = std::max(0.0, friction.lo), T = std::max(0.0, form(s.M, v).lo);
        return (expr::sqr(Interval(f) / Interval(gain)) * Interval(T) * Interval(0.5)).lo;
    };
    struct Face {
        double bound;
        Box v;
        bool operator<(const Face& other) const { return bound > other.bound; }
    };
    std::priority_queue<Face> queue;
    for (int k = 0; k < n; ++k) {
        Box v(static_cast<std::size_t>(n), Interval(-1.0, 1.0));
        v[static_cast<std::size_t>(k)] = Interval(1.0);  // v and −v are alike
        queue.push({bound(v), v});
    }
    double level = 0.0;
    for (long used = 0; !queue.empty() && used < budget; ++used) {
        const Face face = queue.top();
        level = face.bound;
        if (level == inf) return inf;
        std::size_t widest = 0;
        for (std::size_t k = 1; k < face.v.size(); ++k)
            if (width(face.v[k]) > width(face.v[widest])) widest = k;
        if (width(face.v[widest]) < 1e-13) return level;
        const std::vector<double> c = centre(face.v);
        if (bound(point_box(c)) - level <= 1e-12 * level && level > 0.0) return level;
        queue.pop();
        const auto halves = split(face.v, widest, 0.0, 1.0);
        queue.push({bound(halves.first), halves.first});
        queue.push({bound(halves.second), halves.second});
    }
    return queue.empty() ? inf : queue.top().bound;
}

LosslessModes lossless_modes(const LinearSystem& s) {
    const int n = s.M.rows();
    LosslessModes result;
    // Slips that friction acts on; one of each that depend on each other.
    std::vector<int> acting;
    for (std::size_t g = 0; g < s.groups.size(); ++g)
        if (s.F[g].lo > 0.0) acting.insert(acting.end(), s.groups[g].begin(), s.groups[g].end());
    std::vector<int> rows;
    if (!acting.empty())
        for (const int k : row_rank(rows_of(s.W, acting).middle()).independent)
            rows.push_back(acting[static_cast<std::size_t>(k)]);
    if (static_cast<int>(rows.size()) == n) {
        result.none = result.proved = regular(rows_of(s.W, rows));
        return result;
    }
    const std::optional<IntervalMatrix> T = tangents(rows_of(s.W, rows), n);
    if (!T) return result;
    const IntervalMatrix Tt = transpose(*T), S = symmetric_part(s.C) * *T;
    const Matrix M = (Tt * s.M * *T).middle(), K = (Tt * s.K * *T).middle();
    const Modes swings = modes(K, M);
    // One mode, or several of one frequency: some combination that S does not see.
    const Vector& w = swings.values;
    const Matrix seen = S.middle() * swings.vectors;
    const double size = seen.norm();
    result.none = true;
    for (Index first = 0, last = 0; result.none && first < w.size(); first = last) {
        for (last = first; last < w.size() && w(last) - w(first) <= 1e-9 * (1.0 + std::fabs(w(w.size() - 1)));) ++last;
        const Eigen::JacobiSVD<Matrix> svd(seen.middleCols(first, last - first), Eigen::ComputeFullV);
        const bool whole =
            svd.singularValues().size() == last - first && svd.singularValues()(last - first - 1) > 1e-9 * size;
        if (whole) continue;
        result.none = false;
        result.lost =
            T->middle() * (swings.vectors.middleCols(first, last - first) * svd.matrixV().col(last - first - 1));
        result.lost /= result.lost.norm();
    }
    if (!result.none) return result;
    // The observability matrix S T, S T A, … with A = (TᵀMT)⁻¹ TᵀKT.
    const std::optional<IntervalMatrix> A = solve(Tt * s.M * *T, Tt * s.K * *T);
    if (!A) return result;
    const int k = T->cols();
    IntervalMatrix all(n * k, k), block = S;
    for (int power = 0; power < k; ++power) {
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < k; ++j) all(power * n + i, j) = block(i, j);
        block = block * *A;
    }
    result.proved = independent_columns(all);
    return result;
}

ExtremeEnergy largest_energy(const LinearSystem& s, double sign) {
    ExtremeEnergy best;
    const std::size_t p = s.groups.size();
    for (const auto& g : s.groups)
        if (g.size() != 1) return best;
    if (p == 0 || p > 8) return best;
    const Eigen::FullPivLU<Matrix> lu(s.K.middle());
    if (!lu.isInvertible()) return best;
    // q = K⁻¹Wᵀλ: sign·½qᵀKq = sign·½λᵀAλ with A = W K⁻¹Wᵀ. At its maximum over the box each λ_i is at an end or
    // stationary.
    const Matrix W = s.W.middle(), X = lu.solve(W.transpose()), A = sign * 0.5 * W * X;
    std::vector<int> at(p, -1);  // −1, 1: at an end; 0: free
    while (true) {
        Vector lambda = Vector::Zero(static_cast<Index>(p));
        std::vector<Index> free;
        for (std::size_t k = 0; k < p; ++k) {
            if (at[k] == 0)
                free.push_back(static_cast<Index>(k));
            else
                lambda(static_cast<Index>(k)) = at[k] * expr::midpoint(s.F[k]);
        }
        if (!free.empty()) {
            const auto m = static_cast<Index>(free.size());
            Matrix B(m, m);
            Vector b(m);
            for (Index i = 0; i < m; ++i) {
                b(i) = -A.row(free[static_cast<std::size_t>(i)]).dot(lambda);
                for (Index j = 0; j < m; ++j)
                    B(i, j) = A(free[static_cast<std::size_t>(i)], free[static_cast<std::size_t>(j)]);
            }
            const Vector x = least_squares(B, b);
            for (Index i = 0; i < m; ++i) lambda(free[static_cast<std::size_t>(i)]) = x(i);
        }
        bool inside = lambda.allFinite();
        for (std::size_t k = 0; k < p; ++k)
            inside = inside && std::fabs(lambda(static_cast<Index>(k))) <= expr::midpoint(s.F[k]) * (1.0 + 1e-12);
        const double value = lambda.dot(A * lambda);
        if (inside && (!best.found || value > best.value)) best = {true, value, X * lambda, lambda};
        std::size_t k = 0;
        while (k < p && at[k] == 1) at[k++] = -1;
        if (k == p) return best;
        ++at[k];
    }
}

EigenvectorEnd eigenvector_end(const LinearSystem& s) {
    const Least k = least(s.K, s.M);
    EigenvectorEnd end;
    const Vector u = symmetric_spectrum(s.K.middle()).smallest_direction;
    const Vector force = s.K.middle() * u;
    // The largest c for which c K u is a friction force; with as many sliders as they span.
    const Matrix W = s.W.middle();
    const Vector lambda = least_squares(W.transpose(), force);
    if ((W.transpose() * lambda - force).norm() > 1e-9 * (1.0 + force.norm())) return end;
    double reach = inf;
    for (std::size_t g = 0; g < s.groups.size(); ++g) {
        double size = 0.0;
        for (const int r : s.groups[g]) size = std::hypot(size, lambda(r));
        if (size > 0.0) reach = std::min(reach, expr::midpoint(s.F[g]) / size);
    }
    if (!std::isfinite(reach)) return end;
    end.reach = reach;
    end.q = reach * u;
    end.value = -0.5 * end.q.dot(s.K.middle() * end.q);
    return end;
}

LinearClassification classify(const LinearSystem& s, long budget) {
    LinearClassification c;
    const IntervalMatrix S = symmetric_part(s.C);
    const Least stiffness = least(s.K, s.M), damping = least(S, s.M);
    c.stiffness = stiffness.value;
    c.stiffness_direction = stiffness.direction;
    c.damping = damping.value;
    c.damping_direction = damping.direction;
    const double scale = s.K.middle().norm() + 1e-300;
    const bool positive = positive_definite(s.K);
    const bool brings = damping.value < -1e-12 * (1.0 + S.middle().norm());
    c.friction_level = brings ? friction_level(s, budget) : inf;
    if (stiffness.value < -1e-12 * scale) {
        c.kind = LinearClass::unstable;
        c.text = "negative stiffness";
        c.proved = true;
        return c;
    }
    if (!positive) {
        c.text = "the stiffness is singular";
        return c;
    }
    if (c.friction_level == inf) {
        const bool decided = lossless_modes(s).none;
        c.kind = decided ? LinearClass::globally_attractive : LinearClass::undecided;
        c.text = decided ? "asymptotically stable without friction, or undamped with friction on what is not damped"
                         : "a mode meets neither damping nor friction";
    } else if (c.friction_level > 0.0) {
        c.kind = LinearClass::locally_attractive;
        c.text = "negative damping, which friction outweighs for slow motions";
    } else {
        c.text = "negative damping on velocities without friction";
    }
    c.proved = c.kind != LinearClass::undecided;
    return c;
}

}  // namespace saltus::stability
