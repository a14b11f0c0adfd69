// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/equilibrium_stability.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/decompositions.hpp"
#include "saltus/base/eigenvalues.hpp"
#include "saltus/base/factors.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/symbolic.hpp"
#include "saltus/model/variants/energy_split.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"
#include "saltus/stability/equilibria/detail/singular_closing.hpp"
#include "saltus/stability/equilibria/equilibrium_forces.hpp"

namespace saltus::stability {

namespace {

using Index = Eigen::Index;
using trajectory::ElementKind;

/// A contact force below this part of Statics::size counts as zero: the contact may open at once.
constexpr double loaded_force = 1e-9;
/// Matrices are symmetric if A − Aᵀ is at most this part of |A|.
constexpr double symmetric_part = 1e-10;
/// An eigenvalue counts as zero below this part of the largest one.
constexpr double zero_eigenvalue = 1e-9;
/// A double zero of the motion (frequency 0) is computed to the square root of the rounding error.
constexpr double zero_real_part = 1e-7;
/// Rows of closed contacts that depend on others to this accuracy add no condition.
constexpr double dependent_row = 1e-10;
/// The balance of forces at a computed equilibrium is accurate to this part of Statics::size (docs/equilibria.md).
constexpr double force_accuracy = 1e-10;
/// The position is displaced by at most this, in 1 + |q_i|, to see how the stiffness varies.
constexpr double largest_displacement = 0.1;
/// K is regular if it varies by at most this part of its singular values within the accuracy of the position.
constexpr double largest_variation = 0.5;

bool symmetric(const Matrix& A, double size) {
    return A.size() == 0 || (A - A.transpose()).cwiseAbs().maxCoeff() <= symmetric_part * size;
}

/// The directions of the forces of constraints and closed contacts as rows. For a contact that slides on a moving
/// surface they contain the friction, w_N − s μ w_T; otherwise they are those of closed_rows.
Matrix force_directions(const Statics& s) {
    std::vector<Index> columns;
    for (const RestingElement& e : s.elements)
        if (e.normal >= 0) columns.push_back(e.normal);
    Matrix A(static_cast<Index>(columns.size()), s.h.size());
    for (Index k = 0; k < A.rows(); ++k) A.row(k) = s.W.col(columns[static_cast<std::size_t>(k)]).transpose();
    return A;
}

/// A closed contact slides on a moving surface: its friction force is part of the column of its normal force.
bool slides(const Statics& s, const RestingElement& e) {
    return e.kind == ElementKind::contact && s.columns[static_cast<std::size_t>(e.normal)].size() > 1;
}
bool any_contact_slides(const Statics& s) {
    return std::any_of(s.elements.begin(), s.elements.end(), [&](const RestingElement& e) { return slides(s, e); });
}

/// The forces are smooth functions of the state near the equilibrium: no friction sticks, and all contacts are loaded.
bool smooth_forces(const Statics& s, const Vector& lambda) {
    for (const RestingElement& e : s.elements) {
        if (!e.body.empty() || e.sliding.size() > 0) return false;
        if (e.kind == ElementKind::clutch) return false;
        if (e.kind != ElementKind::contact) continue;
        const double size = s.W.col(e.normal).cwiseQuotient(s.scale).norm();
        if (!(lambda(e.normal) * size > loaded_force * s.size)) return false;
    }
    return s.moves.empty();
}

/// Eigenvalues of M ÿ + C ẏ + K y = 0, as those of the first-order system for (y, ẏ).
std::vector<std::complex<double>> eigenvalues_of(const Matrix& M, const Matrix& C, const Matrix& K) {
    const Index d = M.rows();
    if (d == 0) return {};
    Matrix A = Matrix::Zero(2 * d, 2 * d);
    A.topRightCorner(d, d).setIdentity();
    const FullPivotLu solver(M);
    if (!solver.invertible()) return {};
    A.bottomLeftCorner(d, d) = -solver.solve_columns(K);
    A.bottomRightCorner(d, d) = -solver.solve_columns(C);
    std::vector<std::complex<double>> list = eigenvalues(A);
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
        return a.real() != b.real() ? a.real() > b.real() : a.imag() > b.imag();
    });
    return list;
}

/// Proves from the form of the expressions that T + U cannot grow between impacts: there are no other forces, and R is
/// a quadratic form of u whose coefficients are numbers. R is then dissipative everywhere if it is at one position.
bool only_potential_and_damping(const model::Mechanics& m) {
    const model::SymbolicEquations* const system = m.system->symbolic();
    if (system == nullptr || !m.sliders.empty() || !m.clutches.empty()) return false;
    model::Formulas f = system->formulas();
    if (f.graph[f.R].kinked) return false;  // the second derivatives of |u| are 0, and yet it is no quadratic form
    for (const expr::Expr force : f.f)
        if (!f.graph.is_zero(force)) return false;
    std::vector<std::pair<expr::Expr, expr::Expr>> zero;
    for (const expr::Expr u : f.u) zero.emplace_back(u, f.graph.constant(0.0));
    expr::Substitution at_rest(f.graph, zero);
    const auto varies = static_cast<expr::Kinds>(expr::time | expr::position | expr::velocity);
    for (const expr::Expr u : f.u) {
        const expr::Expr slope = expr::Derivative(f.graph, u)(f.R);
        if (!f.graph.is_zero(at_rest(slope))) return false;
        for (const expr::Expr v : f.u)
            if (f.graph.depends_on(expr::Derivative(f.graph, v)(slope), varies)) return false;
    }
    return m.scleronomic && m.autonomous;
}

/// Impacts of one contact under Newton's law, or of several with the same coefficient, create no energy.
bool impacts_create_no_energy(const RestingModel& model, const std::vector<char>& closed) {
    const model::Mechanics& m = model.model();
    std::optional<double> common;
    for (std::size_t i = 0; i < closed.size(); ++i) {
        if (closed[i] == 0) continue;
        const double e = model.coefficient(m.contacts[i].e_n);
        if (m.contacts[i].impact != model::ImpactLaw::newton || (common && *common != e)) return false;
        common = e;
    }
    return true;
}

/// One contact slides on a moving surface, and its bounces end in a time that is as small as the disturbance. The proof
/// is that of certify/detail/functions/sliding_contacts.cpp: 0 <= e_N < 1, |e_T| < 1 and D_NN > μ |D_NT| with
/// D = WᵀM⁻¹W in the directions of the constraints.
bool bounces_end(const RestingModel& model, const std::vector<char>& closed) {
    const model::Mechanics& m = model.model();
    if (std::count(closed.begin(), closed.end(), 1) != 1) return false;
    const model::Contact& c =
        m.contacts[static_cast<std::size_t>(std::find(closed.begin(), closed.end(), 1) - closed.begin())];
    const double e_n = model.coefficient(c.e_n), e_t = model.coefficient(c.e_t);
    if (c.impact != model::ImpactLaw::newton || !(e_n >= 0.0 && e_n < 1.0 && std::abs(e_t) < 1.0)) return false;
    const Index n = model.size(), held = static_cast<Index>(m.constraints.size());
    Matrix A = Matrix::Zero(n + held, n + held), b = Matrix::Zero(n + held, 2);
    A.topLeftCorner(n, n) = model.mass();
    for (Index k = 0; k < held; ++k) {
        A.row(n + k).head(n) = model.row(m.constraints[static_cast<std::size_t>(k)].row);
        A.col(n + k).head(n) = -A.row(n + k).head(n).transpose();
    }
    b.col(0).head(n) = model.row(c.row).transpose();
    b.col(1).head(n) = model.row(c.friction.first_row).transpose();
    const FullPivotLu lu(A);
    if (!lu.invertible()) return false;
    const Matrix a = lu.solve_columns(b);
    const double normal = model.row(c.row) * a.col(0).head(n), coupling = model.row(c.row) * a.col(1).head(n);
    return normal > model.coefficient(c.friction.mu[0]) * std::abs(coupling);
}

/// If nothing feeds the motion and K is positive definite then U has a strict minimum and the equilibrium is stable
/// (Lagrange–Dirichlet). Zero eigenvalues of K along a set of equilibria do not count.
/// `closes`: a contact that opens closes again before the motion has changed much.
LocalVerdict verdict_of(const LocalStability& s, bool no_energy_gain, bool closes, int dimension) {
    double largest = 0.0;
    for (const std::complex<double>& x : s.eigenvalues) largest = std::max(largest, std::abs(x));
    if (!s.eigenvalues.empty() && s.eigenvalues[0].real() > zero_real_part * largest) return LocalVerdict::unstable;
    const bool decays = !s.eigenvalues.empty() && s.eigenvalues[0].real() < -zero_real_part * largest;
    // Motions that open a contact are not covered by the linearised motion.
    if (decays && dimension == 0 && (closes || no_energy_gain)) return LocalVerdict::asymptotically_stable;
    if (!no_energy_gain || s.morse_index != 0) return LocalVerdict::undecided;
    const double stiff = s.stiffness.size() > 0 ? s.stiffness.cwiseAbs().maxCoeff() : 0.0;
    const auto flat =
        std::count_if(s.stiffness.begin(), s.stiffness.end(), [&](double w) { return w <= zero_eigenvalue * stiff; });
    return flat <= dimension ? LocalVerdict::stable : LocalVerdict::undecided;
}

/// The motion near q, M ÿ + C ẏ + K y = 0 with q = q_e + N y. N y keeps the contacts closed, and Y removes their forces
/// from the equations of motion. Without sliding contacts Y = N.
struct LinearMotion {
    Matrix M, C, K, N, Y;
};
std::optional<LinearMotion> linear_motion(RestingModel& model, const std::vector<char>& closed, const Statics& s,
                                          const Vector& lambda, bool sliding) {
    LinearMotion out;
    out.N = kernel_of(closed_rows(model, closed), dependent_row);
    out.Y = sliding ? kernel_of(force_directions(s), dependent_row) : out.N;
    if (out.Y.cols() != out.N.cols()) return {};
    out.M = out.Y.transpose() * model.mass() * out.N;
    out.C = -out.Y.transpose() * model.velocity_slopes(s, lambda) * out.N;
    out.K = -out.Y.transpose() * model.stiffness(s, lambda) * out.N;
    if (!out.M.allFinite() || !out.C.allFinite() || !out.K.allFinite()) return {};
    return out;
}

/// The size of forces around q in units of `scale`: that of the statics, or the force without balance at a distance of
/// `largest_displacement`. Where all derivatives of the force vanish at q, as for U = (x − 1)⁴, the statics there know
/// nothing but rounding errors. Moves the model.
double force_size_around(RestingModel& model, const std::vector<char>& closed, const Statics& s, const Vector& lambda,
                         const Vector& q) {
    double size = s.size;
    for (Index i = 0; i < q.size(); ++i)
        for (const double side : {-1.0, 1.0}) {
            Vector position = q;
            position(i) += side * largest_displacement * (1.0 + std::abs(q(i)));
            model.move_to(position);
            const Statics there = model.statics(closed);
            if (there.W.cols() != s.W.cols()) continue;
            const double force = (there.h + there.W * lambda).cwiseQuotient(s.scale).norm();
            if (std::isfinite(force)) size = std::max(size, force);
        }
    return size;
}

/// Whether K is known well enough for the signs of its eigenvalues. Let K = Σ a_i σ_i b_iᵀ (singular values). A force r
/// in the balance displaces the equilibrium by |a_i·r|/σ_i along b_i; r is the accuracy of the balance. If K changes by
/// more than σ_i/2 on this way, then σ_i may be zero at the equilibrium itself: at x = 1 of U = (x − 1)³ the computed
/// K = 6(x − 1) is any small number. The model is at q, and is left elsewhere. The `dimension` smallest σ_i are those
/// along the set and do not count.
bool regular_stiffness(RestingModel& model, const std::vector<char>& closed, const Statics& s, const Vector& lambda,
                       const LinearMotion& motion, const Vector& q, int dimension) {
    if (motion.K.size() == 0) return true;
    const SingularParts parts = singular_parts(motion.K, SingularBases::full);
    const Vector accuracy = force_accuracy * force_size_around(model, closed, s, lambda, q) * s.scale;
    for (Index i = 0; i + dimension < parts.values.size(); ++i) {
        const double sigma = parts.values(i), force = (motion.Y * parts.U.col(i)).cwiseAbs().dot(accuracy);
        const Vector way = motion.N * parts.V.col(i);
        const double reach = largest_displacement / way.cwiseQuotient(q.cwiseAbs() + Vector::Ones(q.size())).norm();
        const double distance = std::min(force < reach * sigma ? force / sigma : reach, reach);
        for (const double side : {-1.0, 1.0}) {
            model.move_to(q + side * distance * way);
            const Statics there = model.statics(closed);
            if (there.W.cols() != s.W.cols()) return false;
            const Matrix K = -motion.Y.transpose() * model.stiffness(there, lambda) * motion.N;
            if (!K.allFinite()) return false;
            const Vector change = (K - motion.K) * parts.V.col(i);
            if (!(change.norm() < largest_variation * sigma)) return false;
        }
    }
    return true;
}

/// Whether the surface of a slider moves, so that it slides although the coordinates rest.
bool slides(const RestingModel& model, const model::Slider& s) {
    for (int i = 0; i < s.friction.dimension; ++i)
        if (model.chi(s.friction.first_row + i) != 0.0) return true;
    return false;
}
bool any_slider_slides(const RestingModel& model) {
    const std::vector<model::Slider>& all = model.model().sliders;
    return std::any_of(all.begin(), all.end(), [&](const model::Slider& s) { return slides(model, s); });
}

/// Whether the friction of a slider that slides in a plane is a smooth force. It is none for an ellipse with a zero
/// coefficient if the slip is along this axis: friction then acts across it, and sticks.
bool smooth_in_plane(const RestingModel& model, const model::Friction& f) {
    if (f.dimension != 2) return false;
    if (f.law == model::FrictionLaw::coulomb) return true;
    if (f.law != model::FrictionLaw::orthotropic) return false;
    return model.coefficient(f.mu[0]) * model.chi(f.first_row) != 0.0 ||
           model.coefficient(f.mu[1]) * model.chi(f.first_row + 1) != 0.0;
}

/// The model in which the sliders that slide at rest, because their surfaces move, exert their friction as a smooth
/// force of the state: it changes with the sliding speed if F_N or μ does, and in a plane with the direction of slip.
/// std::nullopt if friction of some slider that slides has no such formula (Contensou's law, rolling friction).
std::optional<model::Mechanics> with_smooth_sliding(const RestingModel& model) {
    const model::Mechanics& m = model.model();
    if (m.system->symbolic() == nullptr) return std::nullopt;
    std::vector<int> signs;
    for (const model::Slider& s : m.sliders) {
        signs.push_back(0);
        if (!slides(model, s)) continue;
        if (s.friction.dimension == 1 && s.friction.law == model::FrictionLaw::coulomb)
            signs.back() = model.chi(s.friction.first_row) > 0.0 ? 1 : -1;
        else if (smooth_in_plane(model, s.friction))
            signs.back() = 1;
        else
            return std::nullopt;
    }
    return model::with_sliding(m, signs);
}

}  // namespace

std::string_view to_string(LocalVerdict verdict) {
    switch (verdict) {
        case LocalVerdict::asymptotically_stable: return "asymptotically stable";
        case LocalVerdict::stable: return "stable";
        case LocalVerdict::unstable: return "unstable";
        case LocalVerdict::undecided: return "undecided";
    }
    return "";
}

std::optional<LocalStability> local_stability(RestingModel& model, const std::vector<char>& closed, const Vector& q,
                                              int dimension) {
    model.move_to(q);
    if (!model.has_derivatives()) return {};
    if (any_slider_slides(model)) {
        const std::optional<model::Mechanics> smooth = with_smooth_sliding(model);
        if (!smooth) return {};
        RestingModel resting(*smooth, model.time());
        return local_stability(resting, closed, q, dimension);
    }
    const Statics s = model.statics(closed);
    const Balance b = balance(s);
    if (!b.holds) return {};
    const Vector lambda = plain_forces(s, b);
    if (!smooth_forces(s, lambda)) return {};
    const bool sliding = any_contact_slides(s);
    if (sliding && !model.planar_sliding(s)) return {};
    const std::optional<LinearMotion> motion = linear_motion(model, closed, s, lambda, sliding);
    if (!motion) return {};
    const auto& [M, C, K, N, Y] = *motion;
    LocalStability out;
    // At a kink or a jump of a formula there is no linearised motion: with mu = |x'| friction acts like a damper,
    // although mu and its derivative vanish at rest.
    if (model.at_switch()) return out;
    // Where the rows of constraints and closed contacts become dependent, the admissible positions are no smooth
    // surface.
    if (singular_closing(model, closed, q)) return out;
    model.move_to(q);
    out.eigenvalues = eigenvalues_of(M, C, K);
    if (out.eigenvalues.empty() && M.size() > 0) return {};
    const double size_K = K.size() > 0 ? K.cwiseAbs().maxCoeff() : 0.0;
    if (K.size() == 0) {
        out.morse_index = 0;
    } else if (!sliding && symmetric(K, size_K)) {
        const Modes shapes = modes(0.5 * (K + K.transpose()), M);
        if (!shapes.found) return {};
        out.stiffness = shapes.values;
        out.modes = N * shapes.vectors;
        const double stiff = out.stiffness.cwiseAbs().maxCoeff();
        out.morse_index = static_cast<int>(std::count_if(out.stiffness.begin(), out.stiffness.end(),
                                                         [&](double w) { return w < -zero_eigenvalue * stiff; }));
    }
    const double least_damping = symmetric_spectrum(0.5 * (C + C.transpose())).smallest;
    const double size_C = C.size() > 0 ? C.cwiseAbs().maxCoeff() : 0.0;
    const model::Mechanics& m = model.model();
    const bool no_energy_gain = !sliding && least_damping >= -zero_eigenvalue * size_C &&
                                only_potential_and_damping(m) && impacts_create_no_energy(model, closed);
    if (!regular_stiffness(model, closed, s, lambda, *motion, q, dimension)) {
        out.morse_index = -1;
        return out;
    }
    const bool contacts = std::any_of(closed.begin(), closed.end(), [](char c) { return c != 0; });
    const bool closes = !contacts || (sliding && bounces_end(model, closed));
    out.verdict = verdict_of(out, no_energy_gain, closes, dimension);
    return out;
}

}  // namespace saltus::stability
