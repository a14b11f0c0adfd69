// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/linear_classification.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

#include "saltus/base/decompositions.hpp"
#include "saltus/base/eigenvalues.hpp"
#include "saltus/base/factors.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/support.hpp"
#include "saltus/proof/admissible.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

/// An entry is constant if its interval over ℝⁿ is narrower than this fraction of 1 + |entry|: rounding errors only.
constexpr double constant_width_ratio = 1e-12;
/// `friction_level` ends if the bound is sharp to this fraction, or if the box is narrower than this.
constexpr double boundary_level_tolerance = 1e-12, narrowest_face = 1e-13;
/// Eigenvalues of one frequency differ by at most this fraction of 1 + the largest. A mode is damped if the singular
/// value of S V exceeds the same fraction of ‖S V‖.
constexpr double same_frequency_ratio = 1e-9, damped_mode_ratio = 1e-9;
/// `largest_energy` goes through 3^p faces of the box of friction forces of p sliders. A stationary λ belongs to the
/// box if it exceeds it by at most this fraction.
constexpr std::size_t max_sliders = 8;
constexpr double face_tolerance = 1e-12;
/// K u is a friction force of the sliders if the residual is at most this fraction of 1 + |K u|.
constexpr double span_tolerance = 1e-9;

bool narrow(const IntervalMatrix& A) {
    for (int i = 0; i < A.rows(); ++i)
        for (int j = 0; j < A.cols(); ++j)
            // An unbounded interval is as wide as the fraction of its infinite end: it must be excluded by itself.
            if (!A(i, j).defined || !std::isfinite(width(A(i, j))) ||
                width(A(i, j)) > constant_width_ratio * (1.0 + std::fabs(A(i, j).lo)))
                return false;
    return true;
}

bool zero(const Interval& x) { return x.defined && x.lo == 0.0 && x.hi == 0.0; }

/// The smallest eigenvalue of A x = λ M x at the middle of the intervals, with its eigenvector. The eigenvector is
/// empty if M is not positive definite.
struct SmallestEigenvalue {
    double value = 0.0;
    Vector direction;
};
SmallestEigenvalue smallest_eigenvalue(const IntervalMatrix& A, const IntervalMatrix& M) {
    const Modes all = modes(A.middle(), M.middle());
    if (!all.found) return {};
    return {all.values(0), all.vectors.col(0)};
}

/// vᵀAv < 0 is proved.
bool is_negative(const IntervalMatrix& A, const Vector& v) {
    return quadratic_form(A, std::vector<double>(v.data(), v.data() + v.size())).hi < 0.0;
}

/// Bounds of uᵀAu over a box of velocities: Σ A_ii u_i² + 2 Σ_j<i A_ij u_i u_j, with u_i² >= 0.
Interval quadratic_form(const IntervalMatrix& A, const Box& u) {
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

namespace {

/// Adds W, groups and F of the sliders. False if one of them has a law other than Coulomb's.
bool add_sliders(LinearSystem& s, const model::Mechanics& m, const IntervalMatrix& rows,
                 const IntervalVector& coefficients) {
    std::vector<int> which;
    for (const model::Slider& slider : m.sliders) {
        if (slider.friction.law != model::FrictionLaw::coulomb) return false;
        s.groups.emplace_back();
        for (int k = 0; k < slider.friction.dimension; ++k) {
            s.groups.back().push_back(static_cast<int>(which.size()));
            which.push_back(slider.friction.first_row + k);
        }
        s.F.push_back(coefficient(coefficients, slider.friction.mu[0]) *
                      coefficient(coefficients, slider.normal_force));
    }
    s.W = rows_of(rows, which);
    return true;
}

}  // namespace

/// Over ℝⁿ every function must have constant bounds: M, K = ∇²U, C and W are constant, h has no quadratic terms in u,
/// f^nc(q, 0) = 0 and χ = 0. The enclosures over the whole space prove it.
std::optional<LinearSystem> linear_system(const Enclosure& e) {
    const model::Mechanics& m = e.model();
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
    if (!add_sliders(s, m, e.row_matrix(all), e.coefficients(all, all))) return std::nullopt;
    for (const Interval& F : s.F)
        if (!std::isfinite(width(F)) || width(F) > constant_width_ratio * (1.0 + F.hi)) return std::nullopt;
    s.symmetric_damping = e.quadratic_rayleigh;
    if (!s.symmetric_damping) {
        s.symmetric_damping = true;
        for (int i = 0; i < s.C.rows(); ++i)
            for (int j = 0; j < i; ++j) s.symmetric_damping = s.symmetric_damping && zero(s.C(i, j) - s.C(j, i));
    }
    if (!narrow(s.M) || !narrow(s.K) || !narrow(s.C) || !narrow(s.W)) return std::nullopt;
    return s;
}

std::optional<LinearSystem> sliding_system(const Enclosure& e, const Box& q) {
    const model::Mechanics& m = e.model();
    if (!m.autonomous || !m.scleronomic) return std::nullopt;
    if (!m.contacts.empty() || !m.constraints.empty() || !m.clutches.empty() || !e.linear_damping) return std::nullopt;
    LinearSystem s;
    s.M = e.mass(q);
    s.C = e.damping(q);
    if (!add_sliders(s, m, e.row_matrix(q), e.coefficients(q, whole_space(q.size())))) return std::nullopt;
    if (!s.M.finite() || !s.C.finite() || !s.W.finite()) return std::nullopt;
    return s;
}

/// x' = A x with x = (q − q_e, u) and A = [ 0        I      ]
///                                        [ −M⁻¹K    −M⁻¹C  ].
std::vector<std::complex<double>> eigenvalues(const LinearSystem& s) {
    const Matrix M = s.M.middle();
    const Index n = M.rows();
    Matrix A = Matrix::Zero(2 * n, 2 * n);
    A.topRightCorner(n, n).setIdentity();
    A.bottomLeftCorner(n, n) = -solve_columns(M, s.K.middle());
    A.bottomRightCorner(n, n) = -solve_columns(M, s.C.middle());
    std::vector<std::complex<double>> list = saltus::eigenvalues(A);
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
        return a.real() != b.real() ? a.real() < b.real() : a.imag() < b.imag();
    });
    return list;
}

/// Along u = s v friction takes the power s f with f = Σ F|W v|, and damping supplies −s² c with c = vᵀCv < 0. They are
/// equal at s = f/|c|, where T = f² vᵀMv/(2c²). This number does not depend on the length of v. Its infimum over the
/// faces of the unit cube is found by branch and bound; v and −v give the same number, so that one face of each pair is
/// enough. [Leine] 6.1 states the idea, without this formula.
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
        const double gain = -quadratic_form(S, v).lo;
        if (!(gain > 0.0)) return infinity;
        const double f = std::max(0.0, friction.lo), T = std::max(0.0, quadratic_form(s.M, v).lo);
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
        v[static_cast<std::size_t>(k)] = Interval(1.0);
        queue.push({bound(v), v});
    }
    double level = 0.0;
    for (long used = 0; !queue.empty() && used < budget; ++used) {
        const Face face = queue.top();
        level = face.bound;
        if (level == infinity) return infinity;
        std::size_t widest = 0;
        for (std::size_t k = 1; k < face.v.size(); ++k)
            if (width(face.v[k]) > width(face.v[widest])) widest = k;
        if (width(face.v[widest]) < narrowest_face) return level;
        const std::vector<double> c = centre(face.v);
        if (bound(point_box(c)) - level <= boundary_level_tolerance * level && level > 0.0) return level;
        queue.pop();
        const auto halves = split(face.v, widest, 0.0, 1.0);
        queue.push({bound(halves.first), halves.first});
        queue.push({bound(halves.second), halves.second});
    }
    return queue.empty() ? infinity : queue.top().bound;
}

/// A motion without dissipation has W u = 0 (rows on which friction acts) and S u = 0 at all times, S = (C + Cᵀ)/2. Let
/// the columns of T span ker W and u = T v. The friction forces do no work on T. If C is symmetric, then C u = S u = 0,
/// and v satisfies (TᵀMT) v̈ + (TᵀKT) v = 0. Such a motion is lossless if S T v = 0 at all times. So there is none but
/// rest exactly if the pair (A, S T) with A = (TᵀMT)⁻¹ TᵀKT is observable: the matrix (S T; S T A; S T A²; ...) has
/// full column rank, or equivalently no eigenvector of A lies in ker S T. Gyroscopic forces (C − Cᵀ ≠ 0) change the
/// modes; with them nothing is decided here.
LosslessModes lossless_modes(const LinearSystem& s) {
    const int n = s.M.rows();
    LosslessModes result;
    // Rows on which friction acts; of dependent rows an independent choice.
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
    if (!s.symmetric_damping) return result;
    const Matrix M = (Tt * s.M * *T).middle(), K = (Tt * s.K * *T).middle();
    const Modes swings = modes(K, M);
    if (!swings.found) return result;
    // For each frequency: does S T see every combination of its modes?
    const Vector& w = swings.values;
    const Matrix seen = S.middle() * swings.vectors;
    const double size = seen.norm();
    result.none = true;
    for (Index first = 0, last = 0; result.none && first < w.size(); first = last) {
        for (last = first;
             last < w.size() && w(last) - w(first) <= same_frequency_ratio * (1.0 + std::fabs(w(w.size() - 1)));)
            ++last;
        const SingularParts svd = singular_parts(seen.middleCols(first, last - first), SingularBases::full);
        const bool all_seen =
            svd.values.size() == last - first && svd.values(last - first - 1) > damped_mode_ratio * size;
        if (all_seen) continue;
        result.none = false;
        result.lost = T->middle() * (swings.vectors.middleCols(first, last - first) * svd.V.col(last - first - 1));
        result.lost /= result.lost.norm();
    }
    if (!result.none) return result;
    // The proof: rank of the observability matrix in intervals.
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

namespace {

/// Σ |A_ij| F_i F_j with A = ½ W K⁻¹Wᵀ: an upper bound of |λᵀAλ| for all |λ_i| <= F_i. +∞ if K is not proved to be
/// regular.
double energy_bound(const LinearSystem& s) {
    const std::optional<IntervalMatrix> X = solve(s.K, transpose(s.W));
    if (!X) return infinity;
    const IntervalMatrix A = s.W * *X;
    Interval sum;
    for (int i = 0; i < A.rows(); ++i)
        for (int j = 0; j < A.cols(); ++j)
            sum += expr::abs(A(i, j)) * s.F[static_cast<std::size_t>(i)] * s.F[static_cast<std::size_t>(j)];
    return (sum * Interval(0.5)).hi;
}

}  // namespace

/// On the equilibrium set q − q_e = K⁻¹Wᵀλ, so that ±½(q − q_e)ᵀK(q − q_e) = λᵀAλ with A = ±½ W K⁻¹Wᵀ. At the maximum
/// over the box |λ_i| <= F_i each λ_i is at one of its ends or stationary: all 3^p faces of the box are tried.
ExtremeEnergy largest_energy(const LinearSystem& s, EnergySign energy_sign) {
    const double sign = energy_sign == EnergySign::positive ? 1.0 : -1.0;
    ExtremeEnergy best;
    const std::size_t p = s.groups.size();
    for (const auto& g : s.groups)
        if (g.size() != 1) return best;
    if (p == 0 || p > max_sliders) return best;
    const FullPivotLu lu(s.K.middle());
    if (!lu.invertible()) return best;
    const Matrix W = s.W.middle(), X = lu.solve_columns(W.transpose()), A = sign * 0.5 * W * X;
    best.bound = energy_bound(s);
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
            inside =
                inside && std::fabs(lambda(static_cast<Index>(k))) <= expr::midpoint(s.F[k]) * (1.0 + face_tolerance);
        const double value = lambda.dot(A * lambda);
        if (inside && (!best.found || value > best.value)) best = {true, value, best.bound, X * lambda, lambda};
        std::size_t k = 0;
        while (k < p && at[k] == 1) at[k++] = -1;
        if (k == p) return best;
        ++at[k];
    }
}

EigenvectorEnd eigenvector_end(const LinearSystem& s) {
    EigenvectorEnd end;
    const Vector u = symmetric_spectrum(s.K.middle()).smallest_direction;
    const Vector force = s.K.middle() * u;
    // K u = Σ W λ; c K u is a friction force for c |λ_i| <= F_i.
    const Matrix W = s.W.middle();
    const Vector lambda = least_squares(W.transpose(), force);
    if ((W.transpose() * lambda - force).norm() > span_tolerance * (1.0 + force.norm())) return end;
    double reach = infinity;
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

/// The three cases at the end of [Leine] 6.2. With the corrections of docs/papers.md: definiteness is that of C + Cᵀ,
/// and instability needs a negative eigenvalue of K, not K ≠ 0. Every case is proved by intervals: an eigenvalue is
/// negative if vᵀKv < 0 for the computed eigenvector v.
LinearClassification classify(const LinearSystem& s, long budget) {
    LinearClassification c;
    const IntervalMatrix S = symmetric_part(s.C);
    const SmallestEigenvalue stiffness = smallest_eigenvalue(s.K, s.M), damping = smallest_eigenvalue(S, s.M);
    if (stiffness.direction.size() == 0 || damping.direction.size() == 0) {
        c.text = "the mass matrix is not positive definite";
        return c;
    }
    c.stiffness = stiffness.value;
    c.stiffness_direction = stiffness.direction;
    c.damping = damping.value;
    c.damping_direction = damping.direction;
    if (is_negative(s.K, stiffness.direction)) {
        c.kind = LinearClass::unstable;
        c.text = "negative stiffness";
        c.proved = true;
        return c;
    }
    if (!positive_definite(s.K)) {
        c.text = "the stiffness is singular";
        return c;
    }
    if (positive_definite(S) || positive_semidefinite(S)) {
        c.friction_level = infinity;
        const LosslessModes modes = lossless_modes(s);
        const bool decided = modes.none && modes.proved;
        c.kind = decided ? LinearClass::globally_attractive : LinearClass::undecided;
        c.text = decided
                     ? "asymptotically stable without friction, or friction acts on every velocity that is not damped"
                     : "a mode has neither damping nor friction";
    } else if (!is_negative(S, damping.direction)) {
        c.text = "the damping is singular";
    } else if (c.friction_level = friction_level(s, budget); c.friction_level > 0.0) {
        c.kind = LinearClass::locally_attractive;
        c.text = "negative damping; friction takes more energy from slow motions";
    } else {
        c.text = "negative damping on velocities without friction";
    }
    c.proved = c.kind != LinearClass::undecided;
    return c;
}

}  // namespace saltus::stability
