// SPDX-License-Identifier: Apache-2.0
//
// A slider whose surface moves (a belt with γ = x' − v) slides while the coordinates rest: rest means steady sliding.
// [Leine] 4.1 assumes scleronomic contacts, γ = 0 for u = 0, and excludes this case. But next to such an equilibrium
// the slip velocity does not change its sign. The friction force is the smooth function −sign(γ) μ F_N ∂γ/∂u of the
// state, and the system belongs to the class of the theorems in the region sign(γ) γ > 0 (model::with_sliding).
// Without contacts the region of Theorem 1 is larger: if the slip stops or turns round then friction differs from this
// function by a force that takes energy (model::SlidingRegion::passive).
//
// Lyapunov's first method. Let A be the matrix of the linearised motion for (q − q_e, u). The equation AᵀP + PA = ∓S
// with a positive definite S has one solution P if no two eigenvalues of A have the sum 0. V = xᵀPx then has the
// rate ∓xᵀSx in the linearised motion.
//   −: P is positive definite if all real parts are negative. The equilibrium is attractive.
//   +: P has a positive eigenvalue if some real part is positive, so that V > 0 somewhere next to the equilibrium:
//      statement 1 of Theorem 2.
// P is computed with rounding errors. The signs of V and V̇ are proved for the function with that P (state_proofs.cpp).
#include "saltus/stability/certify/detail/functions/steady_sliding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/eigenvalues.hpp"
#include "saltus/base/factors.hpp"
#include "saltus/base/index.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/support.hpp"
#include "saltus/model/variants/energy_split.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/functions/lyapunov_equation.hpp"
#include "saltus/stability/certify/detail/functions/state_proofs.hpp"
#include "saltus/stability/certify/detail/wording.hpp"
#include "saltus/stability/equilibria/equilibrium_point.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

/// A real part of an eigenvalue is 0 below this fraction of the largest eigenvalue.
constexpr double zero_real_part = 1e-9;

const char* const text_equilibrium = "there is an equilibrium in which the sliders slide steadily";
const char* const text_direction = "next to it no slip velocity changes its sign, so that friction is a smooth force";
const char* const text_sliding_falls = "V = x'Px > 0 falls along all motions next to it, x = (q - q_e, u)";
const char* const text_sliding_grows = "V = x'Px grows along all motions next to it, and V > 0 at some states";
const char* const text_carried = "rest relative to the moving surface is a steady motion";

class SteadySliding {
public:
    SteadySliding(const model::Mechanics& model, const std::vector<int>& directions, const CertifyOptions& options)
        : model_(model), directions_(directions), options_(options), smooth_(smooth_model()) {}

    Certificate certify(std::optional<Theorem> theorem) {
        Certificate c;
        if (theorem != Theorem::instability) {
            c = by_energy();
            c.basis += ", steady sliding";
        }
        if (c.outcome == Outcome::inconclusive) {
            std::optional<Certificate> first = first_method(theorem);
            if (first) c = std::move(*first);
        }
        report(c);
        return c;
    }

private:
    /// The friction of the sliders as forces. The part of all forces f(q, 0) that is a constant vector F has the
    /// potential −F·q.
    model::Mechanics smooth_model(model::SlidingRegion region = model::SlidingRegion::one_direction) const {
        return model::with_constant_forces_in_potential(model::with_sliding(model_, directions_, region));
    }

    /// Theorem 1 with the energy. The slip may turn round in the level set unless the model has contacts: condition 4
    /// is about accelerations. The bounds of friction in the larger region may be worse than those with one direction
    /// of slip, so that the larger of both levels is taken.
    Certificate by_energy() const {
        if (!model_.contacts.empty()) return certify_attractivity(smooth_, options_);
        const model::Mechanics passive = smooth_model(model::SlidingRegion::passive);
        Certificate c = certify_attractivity(passive, options_);
        const bool limited = !passive.system->symbolic()->formulas().regions.empty();
        if (c.outcome == Outcome::attractive && (!limited || std::isinf(c.rho))) return c;
        Certificate other = certify_attractivity(smooth_, options_);
        const auto rank = [](const Certificate& x) {
            return x.outcome == Outcome::attractive ? 2 : x.outcome == Outcome::stable ? 1 : 0;
        };
        if (rank(other) != rank(c)) return rank(other) > rank(c) ? other : c;
        const bool larger = other.grade == Grade::proved && c.grade != Grade::proved ? true : other.rho > c.rho;
        return larger ? other : c;
    }

    /// Lyapunov's first method. std::nullopt if it decides nothing and no certificate was asked for.
    std::optional<Certificate> first_method(std::optional<Theorem> theorem) {
        const bool asked = theorem == Theorem::instability;
        Certificate c;
        c.theorem = theorem.value_or(Theorem::attractivity);
        c.basis = "Lyapunov's first method, steady sliding";
        c.warnings = model_.warnings;
        const auto undecided = [&](const char* id, const char* text, const std::string& why) {
            c.conditions.push_back({id, text, Verdict::not_examined, why, {}});
            c.grade = Grade::not_examined;
            c.summary = "not examined: " + why;
            return asked ? std::optional<Certificate>(c) : std::nullopt;
        };
        std::string why;
        const std::unique_ptr<Enclosure> e = Enclosure::of(smooth_, why);
        if (!e) return undecided("0", text_equilibrium, why);
        if (!smooth_.contacts.empty() || !smooth_.constraints.empty() || !smooth_.sliders.empty() ||
            !smooth_.clutches.empty())
            return undecided("0", text_equilibrium,
                             "the method is for models whose only elements are sliders that slide steadily");
        const StationaryPoint point = find_stationary(*e, options_.at.empty() ? model_.q0 : options_.at);
        const StationaryBox box = point.found ? enclose_equilibrium(*e, point) : StationaryBox{};
        if (!box.proved() || !e->forces_vanish_at_rest)
            return undecided("2", text_equilibrium,
                             !point.found ? point.why : "the equilibrium is not enclosed by a box");
        c.q = position_of(point, box);
        const std::size_t n = ix(e->size());
        Box state = box.q;
        state.resize(2 * n, Interval(0.0));
        const Matrix A = linearised(*e, box.q);
        double largest = 0.0, growth = -Interval::infinity;
        for (const std::complex<double>& x : saltus::eigenvalues(A)) {
            largest = std::max(largest, std::abs(x));
            growth = std::max(growth, x.real());
            c.eigenvalues.emplace_back(x.real(), x.imag());
        }
        std::sort(c.eigenvalues.begin(), c.eigenvalues.end());
        c.classification = "linearised next to steady sliding";
        const bool grows = growth > zero_real_part * largest, falls = growth < -zero_real_part * largest;
        if (!grows && !falls)
            return undecided("4", text_sliding_falls,
                             "the largest real part of the eigenvalues is 0: the linearised motion does not "
                             "decide");
        if (falls && asked) return undecided("4", text_sliding_grows, "all eigenvalues have negative real parts");
        // S = diag(1/scale²), so that all coordinates count alike.
        std::vector<double> scale(2 * n, 1.0);
        for (std::size_t i = 0; i < n; ++i) scale[n + i] = std::max(largest, 1e-6);
        Matrix S = Matrix::Zero(A.rows(), A.cols());
        for (Index i = 0; i < S.rows(); ++i) S(i, i) = (grows ? 1.0 : -1.0) / (scale[ix(i)] * scale[ix(i)]);
        const Matrix P = lyapunov_solution(A, S);
        if (P.size() == 0) return undecided("4", text_sliding_grows, "two eigenvalues have the sum 0");
        StateFunction V = StateFunction::quadratic(smooth_, P);
        V.set_centre(box.q);
        StateProof proof;
        if (V.has_rate())
            proof = prove_around(
                V, *e, {state, scale, grows ? Course::grows : Course::falls, falls, options_.budget, options_.stop});
        const bool decided = proof.radius > 0.0 && proof.strict && (falls || rises_somewhere(V, state));
        const AdmissibleSet set(*e, e->potential(box.q), options_.stop);
        c.conditions.push_back(condition_1_kinetic_energy(
            {set, point, box, proof.radius > 0.0 ? Box(proof.box.begin(), proof.box.begin() + e->size()) : box.q,
             Interval::infinity, 0.0, options_.budget}));
        c.conditions.push_back({"2", text_equilibrium, Verdict::proved, position_text(model_, point.q), {}});
        c.conditions.push_back({"3",
                                text_direction,
                                decided ? Verdict::proved : Verdict::not_examined,
                                decided ? directions_text() : "no box of states was found",
                                {}});
        std::string real = "largest real part " + number(growth) + " 1/s";
        c.conditions.push_back(
            {"4",
             grows ? text_sliding_grows : text_sliding_falls,
             decided ? Verdict::proved : Verdict::numerical,
             decided ? real + "; the second derivative of the rate of V is definite in a box of half width " +
                           number(proof.radius) + " (" + boxes_text(proof.boxes) + ")"
                     : real + "; computed from the linearised motion at one state",
             {}});
        if (grows) c.theorem = Theorem::instability;
        c.grade = grade_of(c.conditions);
        c.values.emplace_back("growth rate", growth);
        if (!all_hold(c.conditions)) {
            c.summary = failure_summary(c.conditions);
            return c;
        }
        c.outcome = grows ? Outcome::unstable : Outcome::attractive;
        c.summary = grows ? "steady sliding is unstable" : "steady sliding is attractive for states next to it";
        return c;
    }

    /// A of ẋ = A x for x = (q − q_e, u): u̇ = M⁻¹(−∇²U (q − q_e) − C u), at the middle of the box of q_e.
    static Matrix linearised(const Enclosure& e, const Box& q) {
        const Index n = e.size();
        const std::vector<double> at = centre(q);
        const Matrix M = e.mass(point_box(at)).middle(), K = e.hessian(point_box(at)).middle(),
                     C = e.damping(point_box(at)).middle();
        Matrix A = Matrix::Zero(2 * n, 2 * n);
        A.topRightCorner(n, n).setIdentity();
        const FullPivotLu lu(M);
        A.bottomLeftCorner(n, n) = -lu.solve_columns(K);
        A.bottomRightCorner(n, n) = -lu.solve_columns(C);
        return A;
    }

    std::string directions_text() const {
        std::string text;
        for (std::size_t k = 0; k < directions_.size(); ++k)
            if (directions_[k] != 0)
                text += (text.empty() ? "'" : ", '") + model_.sliders[k].name +
                        (directions_[k] > 0 ? "' slides forwards" : "' slides backwards");
        return text;
    }

    /// Forces of the model itself, and what rest relative to the moving surface would be.
    void report(Certificate& c) const {
        if (c.q.empty()) return;
        // The potential energy of the certificate contains the work of the belt's friction: no level of T + U.
        c.reference = std::numeric_limits<double>::quiet_NaN();
        RestingModel resting(model_);
        const EquilibriumPoint point = equilibrium_at(resting, vector_of(c.q), {false, 1e-9});
        if (point.is_equilibrium) {
            c.forces.clear();
            const std::vector<trajectory::Element> elements = integrate::elements_of(model_);
            for (const trajectory::Reaction& r : point.forces)
                c.forces.push_back({elements[ix(r.element)].name, r.N, r.T});
        }
        std::vector<int> slips;
        for (std::size_t k = 0; k < directions_.size(); ++k)
            if (directions_[k] != 0) slips.push_back(model_.sliders[k].friction.first_row);
        c.further.push_back(carried_row(resting, vector_of(c.q), slips, {}));
    }

    const model::Mechanics& model_;
    const std::vector<int>& directions_;
    const CertifyOptions& options_;
    const model::Mechanics smooth_;
};

}  // namespace

Condition carried_row(RestingModel& resting, const Vector& q, const std::vector<int>& slips,
                      const std::vector<int>& closed) {
    Condition row{"B", text_carried, Verdict::not_examined, "", {}};
    const auto moving = static_cast<Index>(slips.size()), held = static_cast<Index>(closed.size());
    Matrix W(moving + held, resting.size());
    Vector velocity = Vector::Zero(W.rows());
    resting.move_to(q);
    for (Index k = 0; k < moving; ++k) {
        W.row(k) = resting.row(slips[ix(k)]);
        velocity(k) = -resting.chi(slips[ix(k)]);
    }
    for (Index k = 0; k < held; ++k) W.row(moving + k) = resting.row(closed[ix(k)]);
    const Vector u = least_squares(W, velocity);
    if (!u.allFinite() || (W * u - velocity).norm() > 1e-9 * velocity.norm()) {
        row.evidence = "the surfaces move apart: no velocity follows all of them";
        return row;
    }
    std::string why;
    const std::unique_ptr<Enclosure> e = Enclosure::of(resting.model(), why);
    if (!e) return row;
    const std::vector<double> at = list_of(q);
    IntervalMatrix motion(e->size(), 1);
    for (int i = 0; i < e->size(); ++i) motion(i, 0) = Interval(u(i));
    const IntervalMatrix rate = e->hessian(point_box(at)) * motion;
    double largest = 0.0;
    for (int i = 0; i < e->size(); ++i) {
        // Normal forces may change along the coordinates on which closed contacts act.
        if (held > 0 && W.col(i).tail(held).cwiseAbs().maxCoeff() > 0.0) continue;
        if (rate(i, 0).lo > 0.0 || rate(i, 0).hi < 0.0)
            largest = std::max(largest, std::fabs(expr::midpoint(rate(i, 0))));
    }
    if (largest > 0.0) {
        row.verdict = Verdict::fails;
        row.evidence = "a body that is carried along changes the load that friction must hold, here by " +
                       number(largest) + " a second; it sticks for a limited time only";
        row.witness = {at, list_of(u), {{"rate of the load", largest}}};
    } else {
        row.evidence = "the load of a body that is carried along does not change at this position";
    }
    return row;
}

std::optional<std::vector<int>> sliding_directions(const model::Mechanics& model) {
    if (!model.scleronomic || model.sliders.empty()) return std::nullopt;
    std::string why;
    const std::unique_ptr<Enclosure> e = Enclosure::of(model, why);
    if (!e) return std::nullopt;
    const IntervalVector chi = e->chi(whole_space(ix(e->size())));
    std::vector<int> signs;
    for (const model::Slider& s : model.sliders) {
        int sign = 0;
        for (int i = 0; i < s.friction.dimension; ++i) {
            const Interval& x = chi[ix(s.friction.first_row + i)];
            if (x.defined && x.lo == 0.0 && x.hi == 0.0) continue;
            if (s.friction.law != model::FrictionLaw::coulomb || s.friction.dimension != 1) return std::nullopt;
            if (!x.defined || (x.lo <= 0.0 && x.hi >= 0.0)) return std::nullopt;
            sign = x.lo > 0.0 ? 1 : -1;
        }
        signs.push_back(sign);
    }
    if (std::all_of(signs.begin(), signs.end(), [](int s) { return s == 0; })) return std::nullopt;
    return signs;
}

Certificate certify_steady_sliding(const model::Mechanics& model, const std::vector<int>& directions,
                                   std::optional<Theorem> theorem, const CertifyOptions& options) {
    model::refuse_elements(
        model, theorem == Theorem::instability ? model::Analysis::instability : model::Analysis::attractivity);
    return SteadySliding(model, directions, options).certify(theorem);
}

}  // namespace saltus::stability
