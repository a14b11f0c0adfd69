// SPDX-License-Identifier: Apache-2.0
//
// A contact whose surface moves (a conveyor with γ_T = x' − v) slides while the coordinates rest. [Leine] 4.1 excludes
// this case. Let p be a position of rest in which every closed contact c slides with the sign s_c of χ_c ≠ 0:
//     h(p, 0) + Σ_c a_c λ_c + Gᵀν = 0,   a_c = w_N − s_c μ_c w_T,   λ_c > 0,   all other gaps > 0.               (1)
// Next to (p, 0) the slip velocities keep their signs. While the contacts stay closed the motion is smooth:
//     M u̇ = h + Σ_c a_c λ_c + Gᵀν,   w·u = 0 for all rows w of closed contacts and constraints,                  (2)
// and its forces stay positive. Let T be a basis of the directions with w·T = 0 and Y one of those with a_c·Y = 0 and
// G Y = 0. With q = p + T y the linearised motion is
//     YᵀMT ÿ + YᵀCT ẏ + YᵀKT y = 0,   K = −∂(h + Σ a λ)/∂q,   C = −∂(h + Σ a λ)/∂u  at constant λ.               (3)
//
// Instability. If (3) has an eigenvalue with a positive real part, then (2) has motions that begin arbitrarily near to
// (p, 0) and leave a fixed neighbourhood. They are motions of the model.
//
// Attractivity, for at most one closed contact. All eigenvalues of (3) have negative real parts, so that (p, 0) is
// exponentially stable for (2). It remains to show that the contact closes, and that this takes little time. Let
// D = WᵀM⁻¹W in the directions of the constraints, and d = D_NN − s μ D_NT. Multiplying (1) by w_NᵀM⁻¹ gives the
// acceleration of the open gap at (p, 0): w_NᵀM⁻¹h = −d λ. It is negative if d > 0. Next to (p, 0) the gap thus moves
// like a ball under a gravity between g₁ and g₂ with g₂/g₁ near to 1.
//     Impacts: ξ_T = γ_T⁺ + e_T γ_T⁻ is about (1 + e_T) χ as long as the impulse is small, so that Λ_T = −s μ Λ_N and
//     Λ_N = (1 + e_N) |γ_N⁻|/d. A solution with another Λ_T would have Λ_N of the size of χ. It does not exist if
//     D_NN > μ |D_NT|, since ξ_N = 0 then bounds Λ_N by (1 + e_N) |γ_N⁻|/(D_NN − μ |D_NT|).
//     The speed after one bounce is at most e_N √(g₂/g₁) times the speed before, a factor less than 1. The bounces of
//     a start with the gap g and the speed v thus end after a time of the order |v| + √g, and their impulses have a sum
//     of the same order. The state changes by as little. Then the contact stays closed, and (2) takes over.
// So (p, 0) is stable and attractive, for all starts next to it. No condition on limit sets is needed.
//
// All inequalities are strict. They are proved at p, by interval bounds over a box that contains p (Krawczyk's
// operator for (1)); by continuity they hold next to p. The signs of real parts are proved with a matrix P from
// Lyapunov's equation: AᵀP + PA negative definite and P positive definite; or AᵀP + PA positive definite and
// xᵀPx > 0 for some x.
#include "saltus/stability/certify/detail/functions/sliding_contacts.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/eigenvalues.hpp"
#include "saltus/base/index.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/expr/tape.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/support.hpp"
#include "saltus/model/symbolic.hpp"
#include "saltus/model/variants/energy_split.hpp"
#include "saltus/proof/laws.hpp"
#include "saltus/stability/certify/detail/functions/lyapunov_equation.hpp"
#include "saltus/stability/certify/detail/functions/steady_sliding.hpp"
#include "saltus/stability/certify/detail/krawczyk.hpp"
#include "saltus/stability/certify/detail/stationary_point.hpp"
#include "saltus/stability/certify/detail/wording.hpp"
#include "saltus/stability/equilibria/equilibrium_point.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;
using expr::Expr;

namespace {

/// Friction is increased from 0 to μ in this number of steps, each with Newton's method.
constexpr int friction_steps = 16;
constexpr int newton_steps_per_part = 20;
/// Newton's method has converged if its step is at most this fraction of 1 + |x|.
constexpr double newton_step_ratio = 1e-13;
/// Half width of the first box around the computed p, relative to 1 + |x|; it grows by a factor until p is enclosed.
constexpr double first_box = 1e-13, largest_box = 1e-4, box_growth = 10.0;
/// A real part of an eigenvalue is 0 below this fraction of the largest eigenvalue.
constexpr double vanishing_real_part = 1e-9;
/// A gap of at most this many units of the coordinates is closed in the position where the search begins.
constexpr double closed_at_start = 1e-9;

const char* const text_steady = "there is an equilibrium in which the closed contacts slide steadily";
const char* const text_inertia = "kinetic energy u'M(q)u/2 with M > 0; the model does not depend on time";
const char* const text_signs = "next to it slip velocities keep their signs and closed contacts press";
const char* const text_decay =
    "while the contacts stay closed, all eigenvalues of the linearised motion have negative "
    "real parts";
const char* const text_growth =
    "while the contacts stay closed, an eigenvalue of the linearised motion has a positive "
    "real part";
const char* const text_bounces =
    "a contact that opens closes again: bounces accumulate in a time that is as small as "
    "the disturbance";

/// A row that the motion (2) keeps at 0: a constraint, or a closed contact with its sliding friction.
struct HeldRow {
    int row = 0;
    int contact = -1;  // number of the contact; −1 for a constraint
    int slip = -1;     // row of w_T; −1 without friction
    int sign = 0;      // s
};

/// The functions of (1) to (3) for one choice of held rows, over boxes of x = (q, λ) and a fraction θ of the friction.
class HeldMotion {
public:
    HeldMotion(const model::Mechanics& model, std::vector<HeldRow> rows) : model_(model), rows_(std::move(rows)) {
        f_ = model.system->symbolic()->formulas();
        const model::Derived d = model.system->symbolic()->derived();
        n_ = static_cast<int>(f_.q.size());
        m_ = static_cast<int>(rows_.size());
        compile(d);
    }

    int coordinates() const { return n_; }
    int size() const { return n_ + m_; }
    bool smooth() const { return smooth_; }
    const std::vector<HeldRow>& rows() const { return rows_; }

    /// All values over a box of x.
    struct Values {
        IntervalMatrix balance;            // (1) and the held rows: n + m
        IntervalMatrix K, C, M;            // n × n
        IntervalMatrix kept, forces;       // rows w, and directions a: m × n
        IntervalMatrix slips;              // w_T of every held row; 0 without friction: m × n
        IntervalVector mu, chi, e_n, e_t;  // of every held row; 0 for constraints
        IntervalVector gaps;               // of all contacts of the model
    };
    template <class Box>
    Values at(const Box& x, double theta) const {
        std::vector<Interval> in{Interval(0.0), Interval(theta)};
        for (int i = 0; i < size(); ++i) in.push_back(Interval(x[ix(i)]));
        std::vector<Interval> scratch(tape_.slot_count()), out(tape_.output_count()), parameters;
        for (const double p : model_.p) parameters.emplace_back(p);
        tape_.prepare<Interval>(parameters, scratch);
        tape_.evaluate<Interval>(in, scratch, out);
        std::size_t next = 0;
        const auto matrix = [&](int rows, int cols) {
            IntervalMatrix A(rows, cols);
            for (int i = 0; i < rows; ++i)
                for (int j = 0; j < cols; ++j) A(i, j) = out[next++];
            return A;
        };
        const auto list = [&](int count) {
            IntervalVector v(out.begin() + static_cast<std::ptrdiff_t>(next),
                             out.begin() + static_cast<std::ptrdiff_t>(next) + count);
            next += ix(count);
            return v;
        };
        Values v;
        v.balance = matrix(size(), 1);
        v.K = matrix(n_, n_);
        v.C = matrix(n_, n_);
        v.M = matrix(n_, n_);
        v.kept = matrix(m_, n_);
        v.forces = matrix(m_, n_);
        v.slips = matrix(m_, n_);
        v.mu = list(m_);
        v.chi = list(m_);
        v.e_n = list(m_);
        v.e_t = list(m_);
        v.gaps = list(static_cast<int>(f_.gaps.size()));
        return v;
    }

    /// The derivative of `balance` by x.
    IntervalMatrix slope(const Values& v) const {
        IntervalMatrix J(size(), size());
        for (int i = 0; i < n_; ++i)
            for (int j = 0; j < n_; ++j) J(i, j) = -v.K(i, j);
        for (int k = 0; k < m_; ++k)
            for (int i = 0; i < n_; ++i) {
                J(i, n_ + k) = v.forces(k, i);
                J(n_ + k, i) = v.kept(k, i);
            }
        return J;
    }

private:
    void compile(const model::Derived& d) {
        expr::Graph& g = f_.graph;
        const Expr zero = g.constant(0.0), theta = g.symbol("theta", expr::auxiliary);
        const std::size_t first_slip = f_.constraints.size() + f_.gaps.size(), n = f_.q.size();
        // |γ| of a contact that slides is s γ.
        std::vector<std::pair<Expr, Expr>> magnitudes, rest;
        for (const HeldRow& r : rows_) {
            if (r.slip < 0) continue;
            const Expr gamma = f_.slips[ix(r.slip) - first_slip];
            for (const Expr same : {gamma, g.neg(gamma)})
                magnitudes.emplace_back(g.unary(expr::Op::abs, same), r.sign > 0 ? gamma : g.neg(gamma));
        }
        for (const Expr u : f_.u) rest.emplace_back(u, zero);
        expr::Substitution signs(g, magnitudes);
        const auto row_of = [&](int row) {
            std::vector<Expr> w(n, zero);
            for (const model::Derived::Entry& e : d.rows)
                if (e.row == row) w[ix(e.column)] = e.value;
            return w;
        };
        const auto coefficient = [&](model::Coefficient c) {
            return c == model::no_coefficient ? zero : signs(f_.coefficients[ix(c)]);
        };
        std::vector<Expr> variables{f_.t, theta}, force;
        variables.insert(variables.end(), f_.q.begin(), f_.q.end());
        for (const Expr h : d.h) force.push_back(signs(h));
        std::vector<Expr> kept, forces, slips, values, mu, chi, e_n, e_t;
        for (const HeldRow& r : rows_) {
            const Expr lambda = g.symbol("lambda", expr::auxiliary);
            variables.push_back(lambda);
            const model::Contact* const c = r.contact < 0 ? nullptr : &model_.contacts[ix(r.contact)];
            const std::vector<Expr> w = row_of(r.row), w_t = r.slip < 0 ? std::vector<Expr>(n, zero) : row_of(r.slip);
            mu.push_back(c == nullptr || r.slip < 0 ? zero : coefficient(c->friction.mu[0]));
            e_n.push_back(c == nullptr ? zero : coefficient(c->e_n));
            e_t.push_back(c == nullptr ? zero : coefficient(c->e_t));
            chi.push_back(r.slip < 0 ? zero : d.chi[ix(r.slip)]);
            values.push_back(c == nullptr ? f_.constraints[ix(r.row)] : f_.gaps[ix(r.row) - f_.constraints.size()]);
            const Expr friction = g.mul(g.mul(g.constant(r.sign), theta), mu.back());
            for (std::size_t i = 0; i < n; ++i) {
                const Expr a = g.sub(w[i], g.mul(friction, w_t[i]));
                kept.push_back(w[i]);
                slips.push_back(w_t[i]);
                forces.push_back(a);
                force[i] = g.add(force[i], g.mul(lambda, a));
            }
        }
        for (const std::vector<Expr>* const list : {&force, &values, &kept, &slips, &mu})
            for (const Expr e : *list) smooth_ = smooth_ && !g[e].kinked;
        std::vector<Expr> all = force;
        all.insert(all.end(), values.begin(), values.end());
        for (const std::vector<Expr>* const by : {&f_.q, &f_.u}) {
            std::vector<Expr> slopes(n * n, zero);
            for (std::size_t j = 0; j < n; ++j) {
                expr::Derivative derivative(g, (*by)[j]);
                for (std::size_t i = 0; i < n; ++i) slopes[i * n + j] = g.neg(derivative(force[i]));
            }
            all.insert(all.end(), slopes.begin(), slopes.end());
        }
        std::vector<Expr> mass(n * n, zero);
        for (const model::Derived::Entry& e : d.mass)
            mass[ix(e.row) * n + ix(e.column)] = mass[ix(e.column) * n + ix(e.row)] = e.value;
        for (const std::vector<Expr>* const list : {&mass, &kept, &forces, &slips, &mu, &chi, &e_n, &e_t})
            all.insert(all.end(), list->begin(), list->end());
        all.insert(all.end(), f_.gaps.begin(), f_.gaps.end());
        expr::Substitution at_rest(g, rest);
        for (Expr& e : all) e = at_rest(e);
        tape_ = expr::Tape(g, all, f_.p, variables);
    }

    const model::Mechanics& model_;
    std::vector<HeldRow> rows_;
    model::Formulas f_;
    int n_ = 0, m_ = 0;
    bool smooth_ = true;
    expr::Tape tape_;
};

/// What is proved about an equilibrium of (1).
struct SteadyPoint {
    std::vector<double> x;  // the computed (p, λ)
    HeldMotion::Values over;
    IntervalVector lambda;
};

class SlidingContacts {
public:
    SlidingContacts(const model::Mechanics& original, const model::Mechanics& smooth, std::optional<Theorem> theorem,
                    const CertifyOptions& options)
        : original_(original), model_(smooth), theorem_(theorem), options_(options) {}

    Certificate certify() {
        certificate_.theorem = theorem_.value_or(Theorem::attractivity);
        certificate_.basis = "Lyapunov's first method, steady sliding";
        certificate_.warnings = original_.warnings;
        std::string why;
        if (!find(why)) return undecided("2", text_steady, why);
        judge();
        return std::move(certificate_);
    }

private:
    Certificate undecided(const char* id, const char* text, const std::string& why) {
        certificate_.conditions.push_back({id, text, Verdict::not_examined, why, {}});
        certificate_.grade = Grade::not_examined;
        certificate_.summary = "not examined: " + why;
        return std::move(certificate_);
    }

    /// An equilibrium of (1). The closed contacts are those that are closed where the search begins, or those of an
    /// equilibrium without friction.
    bool find(std::string& why) {
        const std::unique_ptr<Enclosure> e = Enclosure::of(model_, why);
        if (!e) return false;
        const Box all = whole_space(ix(e->size()));
        coefficients_ = e->coefficients(all, all);
        const std::vector<double>& from = options_.at.empty() ? model_.q0 : options_.at;
        std::vector<int> closed;  // where the search begins
        const IntervalVector values = e->position_values(point_box(from));
        for (int r = e->constraints(); r < e->positions(); ++r)
            if (std::fabs(expr::midpoint(values[ix(r)])) <= closed_at_start) closed.push_back(r);
        const Vector no_forces = Vector::Zero(e->positions());
        // The position of --at is near the equilibrium itself. Otherwise the equilibrium follows from one without
        // friction.
        if (!options_.at.empty() && follow(vector_of(from), no_forces, closed, friction_steps, why)) return true;
        std::vector<StationaryPoint> starts;
        if (!options_.at.empty()) starts.push_back(find_stationary(*e, from));
        starts.push_back(find_minimum(*e, from));
        why = starts.back().why;
        for (const StationaryPoint& start : starts)
            if (start.found && follow(start.q, start.lambda, start.closed, 0, why)) return true;
        std::string of_last_attempt;  // `why` tells what is wrong with the equilibrium that was followed first
        return follow(vector_of(from), no_forces, closed, 0, why.empty() ? why : of_last_attempt);
    }

    /// Follows the equilibrium from the part first_step/friction_steps to the whole friction of the closed contacts,
    /// and encloses it.
    bool follow(const Vector& q, const Vector& lambda, const std::vector<int>& closed, int first_step,
                std::string& why) {
        std::vector<HeldRow> rows;
        for (const model::Constraint& c : model_.constraints) rows.push_back({c.row, -1, -1, 0});
        RestingModel resting(model_);
        resting.move_to(q);
        for (const int r : closed) {
            const int number = r - static_cast<int>(model_.constraints.size());
            const model::Friction& f = model_.contacts[ix(number)].friction;
            HeldRow row{r, number, -1, 0};
            // A mu that is 0 only where the search begins is friction elsewhere.
            if (!proof::without_friction(f, coefficients_)) {
                const double chi = f.dimension == 1 ? resting.chi(f.first_row) : 0.0;
                if (f.law != model::FrictionLaw::coulomb || chi == 0.0) {
                    why = "contact '" + model_.contacts[ix(number)].name + "' does not slide at rest";
                    return false;
                }
                row.slip = f.first_row;
                row.sign = chi > 0.0 ? 1 : -1;
            }
            rows.push_back(row);
        }
        motion_ = std::make_unique<HeldMotion>(model_, rows);
        if (!motion_->smooth()) {
            why = "a formula has a kink (abs, min, max, ...), so that the motion has no linearisation everywhere";
            return false;
        }
        const int n = motion_->coordinates();
        Vector x = Vector::Zero(motion_->size());
        x.head(n) = q;
        for (std::size_t k = 0; k < rows.size(); ++k) x(n + static_cast<Index>(k)) = lambda(rows[k].row);
        for (int k = first_step; k <= friction_steps; ++k)
            if (!newton(x, static_cast<double>(k) / friction_steps)) {
                why = "no equilibrium with sliding contacts was found from " + position_text(model_, q);
                return false;
            }
        return enclose(x, why);
    }

    bool newton(Vector& x, double theta) const {
        for (int k = 0; k < newton_steps_per_part; ++k) {
            const HeldMotion::Values v = motion_->at(list_of(x), theta);
            const IntervalMatrix J = motion_->slope(v);
            if (!J.finite() || !v.balance.finite()) return false;
            const Vector step = least_squares(J.middle(), -v.balance.middle().col(0));
            x += step;
            if (!x.allFinite()) return false;
            if (step.norm() <= newton_step_ratio * (1.0 + x.norm())) return true;
        }
        return false;
    }

    bool enclose(const Vector& x, std::string& why) {
        const int size = motion_->size(), n = motion_->coordinates();
        const std::vector<double> at = list_of(x);
        const IntervalMatrix value = motion_->at(at, 1.0).balance;
        for (double radius = first_box; radius <= largest_box; radius *= box_growth) {
            IntervalMatrix step(size, 1);
            Box box;
            for (int i = 0; i < size; ++i) {
                const double r = radius * (1.0 + std::fabs(x(i)));
                step(i, 0) = Interval(-r, r);
                box.push_back(Interval(x(i)) + step(i, 0));
            }
            const IntervalMatrix slope = motion_->slope(motion_->at(box, 1.0));
            const std::optional<IntervalMatrix> image = krawczyk({value, slope}, step);
            if (!image) continue;
            for (int i = 0; i < size; ++i) box[ix(i)] = Interval(x(i)) + (*image)(i, 0);
            point_.x = at;
            for (int i = 0; i < n; ++i)
                if (box[ix(i)].lo <= 0.0 && box[ix(i)].hi >= 0.0) point_.x[ix(i)] = 0.0;
            point_.over = motion_->at(box, 1.0);
            point_.lambda.assign(box.begin() + n, box.end());
            return admissible(why);
        }
        why = "the equilibrium is not enclosed by a box; it may be degenerate";
        return false;
    }

    /// Closed contacts press and slide as supposed, all other gaps are open.
    bool admissible(std::string& why) const {
        std::vector<char> held(model_.contacts.size(), 0);
        for (std::size_t k = 0; k < motion_->rows().size(); ++k) {
            const HeldRow& r = motion_->rows()[k];
            if (r.contact < 0) continue;
            held[ix(r.contact)] = 1;
            const std::string name = "contact '" + model_.contacts[ix(r.contact)].name + "'";
            if (!(point_.lambda[k].lo > 0.0)) {
                why = name + " does not press in the equilibrium with sliding contacts";
                return false;
            }
            const Interval& chi = point_.over.chi[k];
            if (r.slip >= 0 && !(r.sign > 0 ? chi.lo > 0.0 : chi.hi < 0.0)) {
                why = "the surface of " + name + " reverses before the equilibrium is reached";
                return false;
            }
            if (!(point_.over.mu[k].lo >= 0.0)) {
                why = "mu of " + name + " is not proved to be at least 0";
                return false;
            }
        }
        for (std::size_t k = 0; k < held.size(); ++k)
            if (held[k] == 0 && !(point_.over.gaps[k].lo > 0.0)) {
                why = "contact '" + model_.contacts[k].name + "' is not open in the equilibrium with sliding contacts";
                return false;
            }
        return true;
    }

    void judge() {
        Certificate& c = certificate_;
        const int n = motion_->coordinates();
        c.q.assign(point_.x.begin(), point_.x.begin() + n);
        c.reference = std::numeric_limits<double>::quiet_NaN();  // no level of T + U is known
        report_forces();
        const HeldMotion::Values& v = point_.over;
        const bool inertia = positive_definite(v.M);
        c.conditions.push_back(
            {"1",
             text_inertia,
             inertia ? Verdict::proved : Verdict::not_examined,
             inertia ? "M is positive definite at the equilibrium" : "M is not proved to be positive definite",
             {}});
        c.conditions.push_back({"2", text_steady, Verdict::proved, position_text(model_, vector_of(c.q)), {}});
        c.conditions.push_back({"3", text_signs, Verdict::proved, signs_text(), {}});
        std::string why;
        const std::optional<bool> grows = eigenvalue_row(why);
        if (!grows) {
            c.conditions.push_back({"4", text_decay, Verdict::not_examined, why, {}});
        } else if (!*grows && theorem_ != Theorem::instability) {
            c.conditions.push_back(bounce_row());
        } else if (!*grows) {
            c.conditions.push_back({"4", text_growth, Verdict::fails, "all eigenvalues have negative real parts", {}});
        }
        if (grows && *grows) c.theorem = Theorem::instability;
        c.grade = grade_of(c.conditions);
        if (slides()) c.further.push_back(carried());
        if (!all_hold(c.conditions)) {
            c.summary = failure_summary(c.conditions);
            return;
        }
        c.outcome = *grows ? Outcome::unstable : Outcome::attractive;
        const std::string what = slides() ? "steady sliding" : "the equilibrium, in which no contact slides,";
        c.summary = what + (*grows ? " is unstable" : " is attractive for states next to it");
    }

    bool slides() const {
        return std::any_of(motion_->rows().begin(), motion_->rows().end(),
                           [](const HeldRow& r) { return r.slip >= 0; });
    }

    /// A of (3), for (y, ẏ). std::nullopt if the rows are not proved to be independent, or the motion not determined.
    std::optional<IntervalMatrix> linearised() const {
        const HeldMotion::Values& v = point_.over;
        const int n = motion_->coordinates();
        const std::optional<IntervalMatrix> T = tangents(v.kept, n), Y = tangents(v.forces, n);
        if (!T || !Y || T->cols() != Y->cols()) return std::nullopt;
        const int r = T->cols();
        IntervalMatrix A(2 * r, 2 * r);
        if (r == 0) return A;
        const IntervalMatrix left = transpose(*Y);
        const std::optional<IntervalMatrix> K = solve(left * v.M * *T, left * v.K * *T),
                                            C = solve(left * v.M * *T, left * v.C * *T);
        if (!K || !C) return std::nullopt;
        for (int i = 0; i < r; ++i) {
            A(i, r + i) = Interval(1.0);
            for (int j = 0; j < r; ++j) {
                A(r + i, j) = -(*K)(i, j);
                A(r + i, r + j) = -(*C)(i, j);
            }
        }
        return A;
    }

    /// Adds row 4 if it is decided: true if an eigenvalue has a positive real part, false if all are negative.
    std::optional<bool> eigenvalue_row(std::string& why) {
        const std::optional<IntervalMatrix> A = linearised();
        if (!A || !A->finite()) {
            why = "the directions of closed contacts and constraints are not proved to be independent";
            return std::nullopt;
        }
        Certificate& c = certificate_;
        c.classification = "linearised next to steady sliding";
        if (A->rows() == 0) {
            c.conditions.push_back({"4", text_decay, Verdict::proved, "the contacts leave no direction of motion", {}});
            return false;
        }
        const Matrix middle = A->middle();
        double largest = 0.0, growth = -Interval::infinity;
        for (const std::complex<double>& x : saltus::eigenvalues(middle)) {
            largest = std::max(largest, std::abs(x));
            growth = std::max(growth, x.real());
            c.eigenvalues.emplace_back(x.real(), x.imag());
        }
        std::sort(c.eigenvalues.begin(), c.eigenvalues.end());
        c.values.emplace_back("growth rate", growth);
        if (std::fabs(growth) <= vanishing_real_part * largest) {
            why = "the largest real part of the eigenvalues is 0: the linearised motion does not decide";
            return std::nullopt;
        }
        const bool grows = growth > 0.0;
        // S = diag(1/scale²), so that positions and velocities count alike.
        const Index r = middle.rows() / 2;
        Matrix S = Matrix::Identity(2 * r, 2 * r);
        S.bottomRightCorner(r, r) /= largest * largest;
        const Matrix P = lyapunov_solution(middle, grows ? S : Matrix(-S));
        if (P.size() == 0) {
            why = "two eigenvalues have the sum 0, so that Lyapunov's equation has no solution";
            return std::nullopt;
        }
        const IntervalMatrix square(P);
        const IntervalMatrix rate = transpose(*A) * square + square * *A;
        IntervalMatrix definite(rate.rows(), rate.cols());
        for (int i = 0; i < rate.rows(); ++i)
            for (int j = 0; j < rate.cols(); ++j) definite(i, j) = grows ? rate(i, j) : -rate(i, j);
        bool proved = positive_definite(symmetric_part(definite));
        if (grows) {
            // The direction of the largest curvature of P has xᵀPx > 0.
            Index top = 0;
            const Eigenpairs pairs = eigenpairs(P);
            for (Index k = 1; k < static_cast<Index>(pairs.values.size()); ++k)
                if (pairs.values[ix(k)].real() > pairs.values[ix(top)].real()) top = k;
            proved = proved && !pairs.values.empty() &&
                     quadratic_form(square, list_of(Vector(pairs.vectors.col(top)))).lo > 0.0;
        } else {
            proved = proved && positive_definite(square);
        }
        c.conditions.push_back(
            {"4",
             grows ? text_growth : text_decay,
             proved ? Verdict::proved : Verdict::numerical,
             "largest real part " + number(growth) + " 1/s" +
                 (proved ? "; its sign is proved by Lyapunov's equation" : "; computed, its sign is not proved"),
             {}});
        return grows;
    }

    /// Row 5: bounces of the closed contact.
    Condition bounce_row() const {
        Condition row{"5", text_bounces, Verdict::not_examined, "", {}};
        const HeldMotion::Values& v = point_.over;
        std::vector<std::size_t> contacts;
        std::vector<int> bilateral;
        for (std::size_t k = 0; k < motion_->rows().size(); ++k)
            if (motion_->rows()[k].contact >= 0)
                contacts.push_back(k);
            else
                bilateral.push_back(static_cast<int>(k));
        if (contacts.empty()) {
            row.verdict = Verdict::proved;
            row.evidence = "no contact is closed at the equilibrium";
            return row;
        }
        if (contacts.size() > 1) {
            row.evidence = "this is proved for one closed contact, and " + std::to_string(contacts.size()) +
                           " are closed at the equilibrium";
            return row;
        }
        const std::size_t k = contacts[0];
        const model::Contact& contact = model_.contacts[ix(motion_->rows()[k].contact)];
        if (contact.impact != model::ImpactLaw::newton) {
            row.evidence = "contact '" + contact.name + "' does not have Newton's impact law";
            return row;
        }
        if (!(v.e_n[k].lo >= 0.0 && v.e_n[k].hi < 1.0 && v.e_t[k].lo > -1.0 && v.e_t[k].hi < 1.0)) {
            row.evidence = "0 <= eN < 1 and |eT| < 1 are not proved for contact '" + contact.name + "'";
            if (v.e_n[k].lo >= 1.0) {
                row.verdict = Verdict::fails;
                row.evidence =
                    "contact '" + contact.name + "' has eN = " + number(v.e_n[k].lo) + ": its bounces do not end";
            }
            return row;
        }
        const std::optional<Interval> normal = delassus(bilateral, k, v.kept),
                                      coupling = delassus(bilateral, k, v.slips);
        if (!normal || !coupling) {
            row.evidence = "the constraints are not proved to be independent";
            return row;
        }
        const Interval friction = v.mu[k] * expr::abs(*coupling);
        if (!(normal->lo > friction.hi)) {
            row.evidence =
                "friction may act on the gap more than the normal force: D_NN = " + number(expr::midpoint(*normal)) +
                ", mu |D_NT| = " + number(expr::midpoint(friction));
            return row;
        }
        row.verdict = Verdict::proved;
        row.evidence = "'" + contact.name + "': eN = " + number(expr::midpoint(v.e_n[k])) +
                       " < 1, D_NN = " + number(expr::midpoint(*normal)) +
                       " > mu |D_NT| = " + number(expr::midpoint(friction)) + "; the gap accelerates towards closing";
        return row;
    }

    /// w_N · a for the velocity a that the impulse 1 along row k of `directions` causes, with the impulses of the
    /// constraints: M a = w + Gᵀν, G a = 0.
    std::optional<Interval> delassus(const std::vector<int>& bilateral, std::size_t k,
                                     const IntervalMatrix& directions) const {
        const HeldMotion::Values& v = point_.over;
        const int n = motion_->coordinates(), m = static_cast<int>(bilateral.size()), row = static_cast<int>(k);
        IntervalMatrix A(n + m, n + m), b(n + m, 1);
        for (int i = 0; i < n; ++i) {
            b(i, 0) = directions(row, i);
            for (int j = 0; j < n; ++j) A(i, j) = v.M(i, j);
            for (int j = 0; j < m; ++j) {
                A(i, n + j) = -v.kept(bilateral[ix(j)], i);
                A(n + j, i) = v.kept(bilateral[ix(j)], i);
            }
        }
        const std::optional<IntervalMatrix> a = solve(A, b);
        if (!a) return std::nullopt;
        Interval sum;
        for (int i = 0; i < n; ++i) sum += v.kept(row, i) * (*a)(i, 0);
        return sum;
    }

    std::string signs_text() const {
        std::string text;
        for (const HeldRow& r : motion_->rows())
            if (r.contact >= 0)
                text += (text.empty() ? "'" : ", '") + model_.contacts[ix(r.contact)].name +
                        (r.sign > 0   ? "' slides forwards"
                         : r.sign < 0 ? "' slides backwards"
                                      : "' has no friction");
        return text.empty() ? "no contact is closed" : text;
    }

    void report_forces() {
        RestingModel resting(original_);
        const EquilibriumPoint point = equilibrium_at(resting, vector_of(certificate_.q), {false, 1e-9});
        const std::vector<trajectory::Element> elements = integrate::elements_of(original_);
        for (const trajectory::Reaction& r : point.forces)
            certificate_.forces.push_back({elements[ix(r.element)].name, r.N, r.T});
    }

    Condition carried() const {
        std::vector<int> slips, closed;
        for (const HeldRow& r : motion_->rows()) {
            closed.push_back(r.row);
            if (r.slip >= 0) slips.push_back(r.slip);
        }
        RestingModel resting(original_);
        return carried_row(resting, vector_of(certificate_.q), slips, closed);
    }

    const model::Mechanics& original_;
    const model::Mechanics& model_;  // sliders that slide are forces
    std::optional<Theorem> theorem_;
    const CertifyOptions& options_;
    IntervalVector coefficients_;  // over all states
    std::unique_ptr<HeldMotion> motion_;
    SteadyPoint point_;
    Certificate certificate_;
};

}  // namespace

std::optional<Certificate> certify_sliding_contacts(const model::Mechanics& model, std::optional<Theorem> theorem,
                                                    const CertifyOptions& options) {
    if (!model.autonomous || !model.scleronomic || model.contacts.empty() || !model.clutches.empty())
        return std::nullopt;
    std::string why;
    const std::unique_ptr<Enclosure> e = Enclosure::of(model, why);
    if (!e) return std::nullopt;
    const IntervalVector chi = e->chi(whole_space(ix(e->size())));
    bool moves = false;
    for (const model::Contact& c : model.contacts)
        for (int i = 0; i < c.friction.dimension; ++i) {
            const Interval& x = chi[ix(c.friction.first_row + i)];
            if (x.defined && x.lo == 0.0 && x.hi == 0.0) continue;
            if (c.friction.law != model::FrictionLaw::coulomb || c.friction.dimension != 1) return std::nullopt;
            moves = true;
        }
    for (const model::Constraint& c : model.constraints)
        if (c.on_velocity || c.friction.present()) return std::nullopt;
    if (!moves) return std::nullopt;
    model::refuse_elements(
        model, theorem == Theorem::instability ? model::Analysis::instability : model::Analysis::attractivity);
    if (model.sliders.empty()) return SlidingContacts(model, model, theorem, options).certify();
    const std::optional<std::vector<int>> directions = sliding_directions(model);
    if (!directions || std::find(directions->begin(), directions->end(), 0) != directions->end()) return std::nullopt;
    const model::Mechanics smooth = model::with_sliding(model, *directions);
    return SlidingContacts(model, smooth, theorem, options).certify();
}

}  // namespace saltus::stability
