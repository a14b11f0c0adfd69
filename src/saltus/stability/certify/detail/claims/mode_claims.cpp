// SPDX-License-Identifier: Apache-2.0
//
// Claims about the motion in one mode: docs/certificate-format.md, "One mode".
//
// In a mode the motion is smooth:
//     M u̇ = p + Σ a_r λ_r,   w_r·u = 0,
// with a row w_r and a direction a_r for each constraint, each closed contact and each slip that sticks; a contact that
// slips has a = w_N − s μ w_T, a slider that slips adds the force −s μ F_N w_T to p. The accelerations and forces
// y = (u̇, λ) solve A y = b with A = [M −aᵀ; w 0] and b = (p, −ζ). For a state x = (q, u) they have the derivatives
// A ∂y/∂x = ∂b/∂x − ∂A/∂x y. J is the derivative of (u, u̇) by x.
//
// V = zᵀPz with z = x − (q_e, 0). By the mean value theorem ż = J̄z with some J̄ in the enclosure of J, so that
// V̇ − 2νV = zᵀ((J̄ − νI)ᵀP + P(J̄ − νI))z. P solves (J − νI)ᵀP + P(J − νI) = ±S for the middle of J, with a positive
// definite S:
//   attractive: ν = 0 and the sign −; P is positive definite if all eigenvalues of J have negative real parts.
//   unstable:   the sign +; P is positive in the directions of the eigenvalues with real parts above ν > 0. Rows that
//               stay 0 give J the eigenvalue 0, which ν > 0 keeps apart.
// If a slip begins at rest (s w_T·u > 0 along the motion, 0 at the equilibrium), then V > 0 must imply w_T·u ≠ 0. So
// the cone V > 0 is made narrow: with the projection Π onto the eigenvector of the growing motion,
// S = ε ΠᵀΠ + (I − Π)ᵀ(I − Π), and ε is reduced until it succeeds.
#include "saltus/stability/certify/detail/claims/mode_claims.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/decompositions.hpp"
#include "saltus/base/eigenvalues.hpp"
#include "saltus/base/index.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/expr/tape.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/symbolic.hpp"
#include "saltus/proof/laws.hpp"
#include "saltus/stability/certify/detail/claims/motion_claims.hpp"
#include "saltus/stability/certify/detail/functions/lyapunov_equation.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;
using expr::Expr;

namespace {

/// Models with more coordinates n are refused: Lyapunov's equation for 2n states has (2n)² unknowns.
constexpr int max_coordinates = 6;
/// Newton's method for the equilibrium: largest number of steps; it ends if ‖step‖ <= newton_converged · (1 + ‖q‖ +
/// ‖λ‖).
constexpr int newton_steps = 30;
constexpr double newton_converged = 1e-14;
/// Half widths of the region that are tried, relative to the scales of the coordinates, largest first. A region that
/// attracts is made as large as possible, because the level set lies inside it.
const std::vector<double> unstable_regions{1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7};
const std::vector<double> attracting_regions{4.0,  2.0,  1.0,  0.5,  0.25, 0.12, 0.06, 0.03,
                                             1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7};
/// Between the largest region that is shown and the next larger one, which is not, this number of bisections finds a
/// larger one. The claims are those of region_margin times it, because another program with wider enclosures must be
/// able to show them, too.
constexpr int region_bisections = 4;
constexpr double region_margin = 0.95;
/// The box of the equilibrium is this fraction of the region, and not larger than this part of a scale.
constexpr double equilibrium_part = 1e-2, largest_equilibrium_box = 1e-4;
/// The factors κ that are tried in −(PJ + JᵀP) + κ RᵀR > 0, relative to the quotient of the sizes of both matrices. R z
/// = 0 along the motion, so that the term with κ changes nothing there, but makes the matrix definite in other
/// directions.
constexpr double tried_normal_weights[] = {1.0, 10.0, 100.0, 1e3, 1e4};
/// The level is this part of the largest one whose set lies in the region.
constexpr double level_margin = 0.98;
/// A real or imaginary part of an eigenvalue counts as 0 if it is at most this times the largest |eigenvalue|. This
/// only decides whether a proof is tried, and with which P. The signs of V and V̇ are proved by intervals.
constexpr double vanishing_part = 1e-8;
/// ν is this fraction of the way from the second largest real part (at least 0) to the largest.
constexpr double tried_separations[] = {0.5, 0.4, 0.65};
/// ε of the cone V > 0, widest first.
constexpr double tried_cones[] = {1.0, 0.1, 1e-2, 1e-3};
/// The factors κ that are tried in κ (l·z)² > zᵀPz with l = ∂(s γ)/∂x for slips that begin at rest, relative to the
/// largest entry of P divided by the largest l_u². The inequality shows that V > 0 implies γ ≠ 0.
constexpr double tried_kappas[] = {4.0, 64.0, 1024.0};
/// The image of Krawczyk's operator must keep a distance of this fraction of the box's width from each face, because
/// another program may have a wider image.
constexpr double spare_part = 0.1;

/// The functions of the mode over boxes of states, with their derivatives by all coordinates and velocities.
class ModeSystem {
public:
    struct Held {
        int row;              // its number among the rows of Wᵀ
        bool normal;          // a constraint or a gap; otherwise a slip that sticks, or a locked clutch
        bool pushes = false;  // a contact or a clutch, whose force must be positive
        int contact = -1;     // number of the contact
        int sliding = -1;     // slip row of a contact that slips, whose friction changes the direction a; or −1
        int sign = 0;         // s, the sign of its slip velocity
        const model::Friction* f = nullptr;
    };
    struct Slip {
        int row, sign;
        const model::Friction* friction;
        model::Coefficient load;  // of a slider, otherwise none
    };
    /// Slips of one element that stick: the first number among the held rows, and the normal force.
    struct Stick {
        std::size_t first;
        const model::Friction* friction;
        int normal;               // number of the held row of the contact, or −1
        model::Coefficient load;  // of a slider
    };

    ModeSystem(const model::Mechanics& model, const std::vector<ElementState>& states) : model_(model) {
        collect(states);
        if (why_.empty()) compile();
    }

    const std::string& why() const { return why_; }
    int coordinates() const { return n_; }
    const std::vector<Held>& held() const { return held_; }
    const std::vector<Slip>& slips() const { return slips_; }
    int position_rows() const {
        return static_cast<int>(std::count_if(held_.begin(), held_.end(), [](const Held& h) { return h.normal; }));
    }

    /// All values over a box of states.
    struct Values {
        std::vector<Interval> out;
        IntervalMatrix A, b;             // of A y = b
        IntervalVector gaps;             // of the held position rows
        IntervalVector open;             // gaps of the contacts that are open
        IntervalVector slip;             // s γ of the slips
        std::vector<IntervalVector> mu;  // of each stick, one for each of its rows
        IntervalVector load;             // of each stick of a slider
    };
    /// `by`: −1 for the values, otherwise the number of the coordinate or velocity of the derivatives of A, b, gaps
    /// and slip.
    Values at(const Box& state) const {
        std::vector<Interval> in{Interval(0.0)};
        in.insert(in.end(), state.begin(), state.end());
        std::vector<Interval> scratch(tape_.slot_count()), parameters(model_.p.begin(), model_.p.end());
        Values v;
        v.out.resize(tape_.output_count());
        tape_.prepare<Interval>(parameters, scratch);
        tape_.evaluate<Interval>(in, scratch, v.out);
        std::size_t next = read(v, v.out, 0);
        const auto take = [&](std::size_t count) {
            const auto from = v.out.begin() + static_cast<std::ptrdiff_t>(next);
            next += count;
            return IntervalVector(from, from + static_cast<std::ptrdiff_t>(count));
        };
        v.open = take(open_.size());
        for (const Stick& s : sticks_) {
            v.mu.push_back(take(ix(s.friction->dimension)));
            v.load.push_back(take(1)[0]);
        }
        return v;
    }
    Values derivative(const Values& v, int by) const {
        Values d;
        read(d, v.out, v.out.size() - smooth_count_ * ix(2 * n_ - by));
        return d;
    }
    const std::vector<Stick>& sticks() const { return sticks_; }

private:
    static int sign_of(const std::string& state) { return state == "forwards" ? 1 : state == "backwards" ? -1 : 0; }

    void collect(const std::vector<ElementState>& states) {
        n_ = static_cast<int>(model_.coordinates.size());
        if (n_ > max_coordinates) why_ = "the mode has too many coordinates";
        const auto state_of = [&](const std::string& name) {
            const auto s = std::find_if(states.begin(), states.end(), [&](const auto& x) { return x.name == name; });
            return s == states.end() ? std::string("free") : s->state;
        };
        const auto stick = [&](const model::Friction& f, int normal, model::Coefficient load) {
            sticks_.push_back({held_.size(), &f, normal, load});
            for (int j = 0; j < f.dimension; ++j) held_.push_back({f.first_row + j, false});
        };
        for (std::size_t k = 0; k < model_.contacts.size(); ++k) {
            const model::Contact& c = model_.contacts[k];
            const std::string state = state_of(c.name);
            if (state == "free") {
                open_.push_back(static_cast<int>(k));
                continue;
            }
            const int sign = sign_of(state), normal = static_cast<int>(held_.size());
            if (sign != 0 && c.friction.dimension != 1) why_ = "a contact that slips has two directions of slip";
            held_.push_back(
                {c.row, true, true, static_cast<int>(k), sign != 0 ? c.friction.first_row : -1, sign, &c.friction});
            if (sign != 0) slips_.push_back({c.friction.first_row, sign, &c.friction, model::no_coefficient});
            if (state == "sticks") stick(c.friction, normal, model::no_coefficient);
        }
        for (const model::Constraint& c : model_.constraints) held_.push_back({c.row, true});
        for (const model::Slider& s : model_.sliders) {
            const std::string state = state_of(s.name);
            if (state == "sticks") stick(s.friction, -1, s.normal_force);
            const int sign = sign_of(state);
            if (sign != 0 && s.friction.dimension != 1) why_ = "a slider that slips has two directions of slip";
            if (sign != 0) slips_.push_back({s.friction.first_row, sign, &s.friction, s.normal_force});
        }
        // A clutch is locked, with a force that pushes, or turns freely.
        for (const model::Clutch& c : model_.clutches) {
            if (state_of(c.name) == "sticks")
                held_.push_back({c.row, false, true});
            else
                slips_.push_back({c.row, 1, nullptr, model::no_coefficient});
        }
    }

    void compile() {
        const model::SymbolicEquations* const symbolic = model_.system->symbolic();
        if (symbolic == nullptr || !symbolic->complete()) {
            why_ = "the model does not consist of expressions";
            return;
        }
        model::Formulas f = symbolic->formulas();
        const model::Derived d = symbolic->derived();
        expr::Graph& g = f.graph;
        const Expr zero = g.constant(0.0);
        const std::size_t n = ix(n_), first_slip = f.constraints.size() + f.gaps.size();
        std::vector<std::pair<Expr, Expr>> magnitudes;  // |γ| of a slip is s γ
        const auto gamma_of = [&](const Slip& s) { return f.slips[ix(s.row) - first_slip]; };
        for (const Slip& s : slips_) {
            const Expr gamma = gamma_of(s);
            for (const Expr same : {gamma, g.neg(gamma)})
                magnitudes.emplace_back(g.unary(expr::Op::abs, same), s.sign > 0 ? gamma : g.neg(gamma));
        }
        expr::Substitution signs(g, magnitudes);
        const auto row_of = [&](int row) {
            std::vector<Expr> w(n, zero);
            for (const model::Derived::Entry& e : d.rows)
                if (e.row == row) w[ix(e.column)] = e.value;
            return w;
        };
        const auto coefficient = [&](model::Coefficient c) {
            return c == model::no_coefficient ? zero : signs(f.coefficients[ix(c)]);
        };
        std::vector<Expr> mass(n * n, zero), push, rows, along, zeta, values, slip;
        for (const model::Derived::Entry& e : d.mass)
            mass[ix(e.row) * n + ix(e.column)] = mass[ix(e.column) * n + ix(e.row)] = e.value;
        for (const Expr h : d.h) push.push_back(signs(h));
        for (const Slip& s : slips_) {
            slip.push_back(s.sign > 0 ? gamma_of(s) : g.neg(gamma_of(s)));
            if (s.load == model::no_coefficient) continue;
            const std::vector<Expr> t = row_of(s.row);
            const Expr force = g.mul(coefficient(s.friction->mu[0]), coefficient(s.load));
            for (std::size_t i = 0; i < n; ++i)
                push[i] = s.sign > 0 ? g.sub(push[i], g.mul(force, t[i])) : g.add(push[i], g.mul(force, t[i]));
        }
        for (const Held& h : held_) {
            const std::vector<Expr> w = row_of(h.row);
            const std::vector<Expr> t = h.sliding < 0 ? std::vector<Expr>(n, zero) : row_of(h.sliding);
            const Expr mu = h.sliding < 0 ? zero : g.mul(g.constant(h.sign), coefficient(h.f->mu[0]));
            for (std::size_t i = 0; i < n; ++i) {
                rows.push_back(w[i]);
                along.push_back(h.sliding < 0 ? w[i] : g.sub(w[i], g.mul(mu, t[i])));
            }
            zeta.push_back(d.zeta[ix(h.row)]);
            if (h.normal)
                values.push_back(h.contact < 0 ? f.constraints[ix(h.row)] : f.gaps[ix(h.row) - f.constraints.size()]);
            // A slip sticks to a surface at rest only.
            if (!h.normal && !g.is_zero(d.chi[ix(h.row)])) why_ = "a surface that moves cannot hold a slip at rest";
        }
        std::vector<Expr> all;
        for (const std::vector<Expr>* const list : {&mass, &push, &rows, &along, &zeta, &values, &slip})
            all.insert(all.end(), list->begin(), list->end());
        for (const Expr e : all)
            if (g[e].kinked) why_ = "a function of the mode is not smooth";
        smooth_count_ = all.size();
        const std::vector<Expr> smooth = all;
        for (const int k : open_) all.push_back(f.gaps[ix(k)]);
        for (const Stick& s : sticks_) {
            const bool ellipse = s.friction->law == model::FrictionLaw::orthotropic;
            for (int j = 0; j < s.friction->dimension; ++j)
                all.push_back(coefficient(s.friction->mu[ellipse ? ix(j) : 0]));
            all.push_back(coefficient(s.load));
        }
        for (const std::vector<Expr>* const list : {&f.q, &f.u})
            for (const Expr x : *list) {
                expr::Derivative by(g, x);
                for (const Expr e : smooth) all.push_back(by(e));
            }
        std::vector<Expr> variables{f.t};
        variables.insert(variables.end(), f.q.begin(), f.q.end());
        variables.insert(variables.end(), f.u.begin(), f.u.end());
        tape_ = expr::Tape(g, all, f.p, variables);
    }

    /// Reads the smooth functions (or their derivatives) from a place of the output. Returns the next place.
    std::size_t read(Values& v, const std::vector<Interval>& out, std::size_t next) const {
        const int n = n_, m = static_cast<int>(held_.size());
        v.A = IntervalMatrix(n + m, n + m);
        v.b = IntervalMatrix(n + m, 1);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) v.A(i, j) = out[next++];
        for (int i = 0; i < n; ++i) v.b(i, 0) = out[next++];
        for (int k = 0; k < m; ++k)
            for (int i = 0; i < n; ++i) v.A(n + k, i) = out[next++];
        for (int k = 0; k < m; ++k)
            for (int i = 0; i < n; ++i) v.A(i, n + k) = -out[next++];
        for (int k = 0; k < m; ++k) v.b(n + k, 0) = -out[next++];
        for (int k = 0; k < position_rows(); ++k) v.gaps.push_back(out[next++]);
        for (std::size_t k = 0; k < slips_.size(); ++k) v.slip.push_back(out[next++]);
        return next;
    }

    const model::Mechanics& model_;
    std::string why_;
    int n_ = 0;
    std::vector<Held> held_;
    std::vector<Slip> slips_;
    std::vector<Stick> sticks_;
    std::vector<int> open_;
    std::size_t smooth_count_ = 0;
    expr::Tape tape_;
};

/// The equilibrium of the mode, computed in floating-point numbers. Nothing is proved about it yet.
struct ModePoint {
    Vector q, lambda;
    std::vector<int> fixed;  // coordinates that keep the value of the start
    std::vector<int> free;
};

class ModeClaims {
public:
    ModeClaims(const Enclosure& e, const Certificate& certificate, const ModeRequest& request)
        : e_(e), certificate_(certificate), request_(request), system_(e.model(), request.states), n_(e.size()) {}

    CertifiedStatement run() {
        if (!system_.why().empty()) return refused(system_.why());
        if (!find()) return refused("the equilibrium of the mode was not found");
        unstable_ = certificate_.outcome == Outcome::unstable;
        if (!unstable_ && static_cast<int>(system_.held().size()) != system_.position_rows())
            return refused("attractivity is certified only while nothing sticks and no clutch is locked");
        std::string why = "the linearised motion does not decide";
        const std::optional<Motion> here = motion(region(0.0));
        if (!here || !here->J.finite()) return refused("the accelerations of the mode are not unique");
        if (!analyse(unstable_ ? here->J.middle() : stabilised(*here))) return refused(why);
        // The size of a region that motions leave does not matter. So the claims are those of a region ten times
        // smaller than the largest one in which they are shown: another program, whose enclosures are wider, must find
        // them, too.
        if (!unstable_) return largest_region(why);
        bool shown_in_larger = false;
        for (const double radius : unstable_regions) {
            if (request_.stop && request_.stop()) break;
            std::optional<CertifiedStatement> s = certify(radius, why);
            if (s && shown_in_larger) return *s;
            shown_in_larger = shown_in_larger || s;
        }
        if (shown_in_larger) why = "the signs of V and of its rate are shown without a margin only";
        return refused(why);
    }

private:
    /// The claims of a region that attracts, slightly smaller than the largest one in which they are shown.
    CertifiedStatement largest_region(std::string& why) {
        double above = 0.0;  // 0: no region is known that is too large
        for (double radius : attracting_regions) {
            if (request_.stop && request_.stop()) break;
            std::optional<CertifiedStatement> s = certify(radius, why);
            if (!s) {
                above = radius;
                continue;
            }
            for (int k = 0; k < region_bisections && above > 0.0 && !(request_.stop && request_.stop()); ++k) {
                const double middle = std::sqrt(radius * above);
                std::string not_used;
                (certify(middle, not_used) ? radius : above) = middle;
            }
            return certify(region_margin * radius, why).value_or(*std::move(s));
        }
        return refused(why);
    }

    CertifiedStatement refused(const std::string& why) const {
        return uncertified(certificate_, e_.model().coordinates, why);
    }

    /// A box of states around the equilibrium. Velocities are as large as a motion with the computed rate needs.
    Box region(double radius) const {
        Box x;
        for (int k = 0; k < n_; ++k) {
            const double r = radius * request_.scale[ix(k)];
            x.emplace_back(point_.q(k) - r, point_.q(k) + r);
        }
        for (int k = 0; k < n_; ++k) {
            const double r = radius * request_.scale[ix(k)] * speed_;
            x.emplace_back(-r, r);
        }
        return x;
    }

    /// −p − Σ a λ and the gaps at rest, and the derivative by (q, λ), over a box of positions.
    struct Balance {
        IntervalMatrix value, slope;
    };
    Balance balance(const Box& q, const IntervalVector& lambda) const {
        Box state = q;
        state.resize(ix(2 * n_), Interval(0.0));
        const ModeSystem::Values v = system_.at(state);
        const int m = static_cast<int>(system_.held().size()), c = system_.position_rows();
        Balance result{IntervalMatrix(n_ + c, 1), IntervalMatrix(n_ + c, n_ + m)};
        for (int i = 0; i < n_; ++i) {
            result.value(i, 0) = -v.b(i, 0);
            for (int k = 0; k < m; ++k) {
                result.value(i, 0) += v.A(i, n_ + k) * lambda[ix(k)];
                result.slope(i, n_ + k) = v.A(i, n_ + k);
            }
        }
        for (int k = 0; k < c; ++k) result.value(n_ + k, 0) = v.gaps[ix(k)];
        for (int j = 0; j < n_; ++j) {
            const ModeSystem::Values d = system_.derivative(v, j);
            for (int i = 0; i < n_; ++i) {
                result.slope(i, j) = -d.b(i, 0);
                for (int k = 0; k < m; ++k) result.slope(i, j) += d.A(i, n_ + k) * lambda[ix(k)];
            }
            for (int k = 0; k < c; ++k) result.slope(n_ + k, j) = d.gaps[ix(k)];
        }
        return result;
    }

    /// Newton's method. As many coordinates as slips stick keep their values: the others and the forces are unknown.
    bool find() {
        const int m = static_cast<int>(system_.held().size()), sticking = m - system_.position_rows();
        point_.q = vector_of(request_.q);
        point_.lambda = Vector::Zero(m);
        for (int k = 0; k < newton_steps; ++k) {
            const Balance b = balance(point_box(list_of(point_.q)), constants(list_of(point_.lambda)));
            if (!b.value.finite() || !b.slope.finite()) return false;
            const Matrix slope = b.slope.middle();
            if (k == 0) {
                // The first forces balance the start as well as possible. Then the free coordinates are chosen: those
                // whose columns are farthest from the span of the forces' columns.
                const Matrix forces = slope.rightCols(m);
                if (m > 0) point_.lambda = orthogonal_solve(forces, -b.value.middle().col(0));
                choose_free(balance(point_box(list_of(point_.q)), constants(list_of(point_.lambda))).slope.middle(), m,
                            sticking);
                if (static_cast<int>(point_.free.size()) != n_ - sticking) return false;
                continue;
            }
            const Vector step = orthogonal_solve(chosen(slope, m), -b.value.middle().col(0));
            if (!step.allFinite()) return false;
            for (std::size_t i = 0; i < point_.free.size(); ++i)
                point_.q(point_.free[i]) += step(static_cast<Index>(i));
            point_.lambda += step.tail(m);
            if (step.norm() <= newton_converged * (1.0 + point_.q.norm() + point_.lambda.norm())) break;
        }
        return point_.q.allFinite() && point_.lambda.allFinite();
    }

    void choose_free(const Matrix& slope, int m, int sticking) {
        Matrix rest = slope.leftCols(n_);
        if (m > 0) {
            const Matrix forces = slope.rightCols(m);
            rest -= forces * orthogonal_solve_columns(forces, rest);
        }
        point_.free = columns_by_independence(rest);
        point_.free.resize(ix(n_ - sticking));
        std::sort(point_.free.begin(), point_.free.end());
        for (int k = 0; k < n_; ++k)
            if (std::find(point_.free.begin(), point_.free.end(), k) == point_.free.end()) point_.fixed.push_back(k);
    }

    /// The columns of the free coordinates, then those of the forces.
    Matrix chosen(const Matrix& slope, int m) const {
        Matrix J(slope.rows(), static_cast<Index>(point_.free.size()) + m);
        for (std::size_t i = 0; i < point_.free.size(); ++i) J.col(static_cast<Index>(i)) = slope.col(point_.free[i]);
        J.rightCols(m) = slope.rightCols(m);
        return J;
    }

    /// Enclosures over a region of states.
    struct Motion {
        ModeSystem::Values values;
        IntervalMatrix y, J;
        std::vector<IntervalVector> slip_slopes;  // of s γ, 2n entries each
    };
    std::optional<Motion> motion(const Box& state) const {
        Motion result;
        result.values = system_.at(state);
        const ModeSystem::Values& v = result.values;
        if (!v.A.finite() || !v.b.finite()) return std::nullopt;
        const std::optional<IntervalMatrix> y = eliminated(v.A, v.b);
        if (!y) return std::nullopt;
        result.y = *y;
        result.J = IntervalMatrix(2 * n_, 2 * n_);
        result.slip_slopes.assign(system_.slips().size(), {});
        for (int k = 0; k < 2 * n_; ++k) {
            const ModeSystem::Values d = system_.derivative(v, k);
            if (!d.A.finite() || !d.b.finite()) return std::nullopt;
            const std::optional<IntervalMatrix> column = eliminated(v.A, d.b - d.A * *y);
            if (!column) return std::nullopt;
            for (int i = 0; i < n_; ++i) {
                result.J(i, k) = Interval(k == n_ + i ? 1.0 : 0.0);
                result.J(n_ + i, k) = (*column)(i, 0);
            }
            for (std::size_t s = 0; s < system_.slips().size(); ++s) result.slip_slopes[s].push_back(d.slip[s]);
        }
        return result;
    }
    /// The rows (w, 0) and (0, w) of all held rows w, which vanish on the states z of the mode.
    IntervalMatrix kept_rows(const Motion& m) const {
        const int rows = static_cast<int>(system_.held().size());
        IntervalMatrix R(2 * rows, 2 * n_);
        for (int k = 0; k < rows; ++k)
            for (int i = 0; i < n_; ++i) R(k, i) = R(rows + k, n_ + i) = m.values.A(n_ + k, i);
        return R;
    }
    /// J with a decay of the distance from { R z = 0 }. On this space, which J maps into itself, nothing changes;
    /// without it J has the eigenvalue 0 there.
    Matrix stabilised(const Motion& m) const {
        Matrix J = m.J.middle();
        if (system_.held().empty()) return J;
        const Matrix R = kept_rows(m).middle();
        double speed = 1e-6;
        for (const std::complex<double>& x : saltus::eigenvalues(J)) speed = std::max(speed, std::abs(x));
        return J - speed * R.transpose() * orthogonal_solve_columns(R * R.transpose(), R);
    }

    /// Eigenvalues of J and the eigenvector of the one with the largest real part.
    bool analyse(const Matrix& J) {
        const Eigenpairs pairs = eigenpairs(J), left = eigenpairs(J.transpose());
        if (pairs.values.empty() || left.values.empty()) return false;
        double largest = 0.0;
        std::size_t best = 0;
        for (std::size_t k = 0; k < pairs.values.size(); ++k) {
            largest = std::max(largest, std::abs(pairs.values[k]));
            if (pairs.values[k].real() > pairs.values[best].real()) best = k;
        }
        growth_ = pairs.values[best].real();
        speed_ = std::max(largest, 1e-6);
        if (unstable_ ? !(growth_ > vanishing_part * largest) : !(growth_ < -vanishing_part * largest)) return false;
        direction_ = pairs.vectors.col(static_cast<Index>(best));
        real_ = std::fabs(pairs.values[best].imag()) <= vanishing_part * largest;
        second_ = 0.0;
        for (std::size_t k = 0; k < pairs.values.size(); ++k)
            if (k != best && !(std::abs(pairs.values[k] - std::conj(pairs.values[best])) <= vanishing_part * largest))
                second_ = std::max(second_, pairs.values[k].real());
        projection_ = Matrix::Zero(2 * n_, 2 * n_);
        for (std::size_t k = 0; k < left.values.size() && real_; ++k)
            if (std::abs(left.values[k] - pairs.values[best]) <= vanishing_part * largest) {
                const Vector w = left.vectors.col(static_cast<Index>(k));
                const double product = w.dot(direction_);
                if (std::fabs(product) > 1e-12 * w.norm() * direction_.norm())
                    projection_ = direction_ * w.transpose() / product;
            }
        J_ = J;
        return true;
    }

    /// P of Lyapunov's equation in scaled coordinates, rounded to a symmetric matrix.
    Matrix function(double nu, double cone) const {
        const Index n = n_;
        Vector size(2 * n);
        for (Index k = 0; k < n; ++k) {
            size(k) = request_.scale[ix(k)];
            size(n + k) = request_.scale[ix(k)] * speed_;
        }
        const Vector inverse = size.cwiseInverse();
        Matrix J = inverse.asDiagonal() * J_ * size.asDiagonal();
        const Matrix projection = inverse.asDiagonal() * projection_ * size.asDiagonal();
        J.diagonal().array() -= nu;
        Matrix S = Matrix::Identity(2 * n, 2 * n);
        if (cone < 1.0) {
            const Matrix rest = Matrix::Identity(2 * n, 2 * n) - projection;
            S = cone * projection.transpose() * projection + rest.transpose() * rest;
        }
        Matrix P = lyapunov_solution(J, unstable_ ? S : Matrix(-S));
        if (P.size() == 0) return P;
        const Matrix scaled = inverse.asDiagonal() * P * inverse.asDiagonal();
        return 0.5 * (scaled + scaled.transpose());
    }

    /// PJ + JᵀP − 2νP over the region.
    IntervalMatrix rate(const Matrix& P, const IntervalMatrix& J, double nu) const {
        const IntervalMatrix PJ = IntervalMatrix(P) * J;
        IntervalMatrix S(2 * n_, 2 * n_);
        for (int i = 0; i < 2 * n_; ++i)
            for (int j = 0; j < 2 * n_; ++j)
                S(i, j) = PJ(i, j) + PJ(j, i) - Interval(2.0) * Interval(nu) * Interval(P(i, j));
        return S;
    }
    static IntervalMatrix negative(const IntervalMatrix& A) { return IntervalMatrix(A.rows(), A.cols()) - A; }

    /// Whether the laws hold over the region: open gaps are positive, closed contacts and locked clutches push, and the
    /// forces of what sticks lie inside the friction sets. `turning` gets the slips whose velocity is not shown to keep
    /// its sign, because they begin at rest.
    bool laws(const Motion& m, std::vector<std::size_t>& turning) const {
        for (const Interval& gap : m.values.open)
            if (!surely_positive(gap)) return false;
        for (std::size_t k = 0; k < system_.held().size(); ++k)
            if (system_.held()[k].pushes && !surely_positive(m.y(n_ + static_cast<int>(k), 0))) return false;
        for (std::size_t k = 0; k < system_.sticks().size(); ++k) {
            const ModeSystem::Stick& s = system_.sticks()[k];
            const Interval normal = s.normal >= 0 ? m.y(n_ + s.normal, 0) : m.values.load[k];
            Interval square;
            for (int j = 0; j < s.friction->dimension; ++j) {
                if (!surely_positive(m.values.mu[k][ix(j)])) return false;
                square += expr::sqr(m.y(n_ + static_cast<int>(s.first) + j, 0) / m.values.mu[k][ix(j)]);
            }
            if (!(normal.lo > 0.0) || !surely_negative(square - expr::sqr(Interval(normal.lo)))) return false;
        }
        for (std::size_t k = 0; k < system_.slips().size(); ++k)
            if (!surely_positive(m.values.slip[k])) turning.push_back(k);
        return true;
    }

    std::optional<CertifiedStatement> certify(double radius, std::string& why) {
        const Box x = region(radius);
        state_ = x;
        const std::optional<Motion> m = motion(x);
        std::vector<std::size_t> turning;
        if (!m || !laws(*m, turning)) {
            why = "the laws of the contacts are not shown next to the equilibrium";
            return std::nullopt;
        }
        const std::optional<ClaimValue> equilibrium = equilibrium_claim(radius);
        if (!equilibrium) {
            why = "no box is shown to contain the equilibrium of the mode";
            return std::nullopt;
        }
        why = "the signs of V and of its rate are not shown next to the equilibrium";
        const std::optional<ClaimValue> course = unstable_ ? growth_claim(*m, turning) : fall_claim(*m, turning);
        if (!course) return std::nullopt;
        CertifiedStatement s = refused("");
        s.theorem = "one mode";
        s.statement = unstable_
                          ? "motions that begin next to the equilibrium get to a fixed distance from all equilibria"
                          : "the equilibrium attracts the motions that begin next to it";
        s.domain = Box(x.begin(), x.begin() + n_);
        s.velocities = Box(x.begin() + n_, x.end());
        s.mode.clear();
        for (const ElementState& state : request_.states) s.mode.emplace_back(state.name, state.state);
        s.reference = 0.0;
        s.level = unstable_ ? Interval::infinity : level_inside(x, equilibrium_box(radius).first);
        for (Index k = 0; k < P_.rows() && std::isfinite(s.level); ++k)
            s.P.push_back(list_of(Vector(P_.row(k).transpose())));
        s.I_C.clear();
        s.assumptions.clear();
        s.conditions.clear();
        StationaryPoint origin;
        origin.q = point_.q;
        origin.scale = request_.scale;
        ClaimList inertia =
            kinetic_claims({e_, origin, s.domain, 0.0, Interval::infinity, {}, request_.budget, request_.stop});
        if (!inertia.complete()) {
            why = inertia.why;
            return std::nullopt;
        }
        const auto add = [&](const char* id, const char* text, std::vector<ClaimValue> claims) {
            s.conditions.push_back({id, text, Verdict::proved, true, "", std::move(claims)});
        };
        add("1", "kinetic energy u'M(q)u/2 with M > 0", std::move(inertia.claims));
        add("2", "the mode has an equilibrium", {*equilibrium});
        add("3", "the smooth motion of the mode obeys the laws of all contacts and sliders next to it",
            {bare_claim("laws")});
        add("4", unstable_ ? "V = z'Pz grows where it is positive" : "V = z'Pz > 0 falls", {*course});
        return s;
    }

    /// The claim that V = zᵀPz > 0 falls along the motion, where R z = 0: −(PJ + JᵀP) + κ RᵀR is positive definite.
    std::optional<ClaimValue> fall_claim(const Motion& m, const std::vector<std::size_t>& turning) {
        const Matrix P = function(0.0, 1.0);
        if (P.size() == 0 || !turning.empty() || !shown_definite(IntervalMatrix(P)) || !bounces_end(m))
            return std::nullopt;
        const IntervalMatrix fall = negative(rate(P, m.J, 0.0)), R = kept_rows(m);
        const double size = fall.finite() ? fall.middle().cwiseAbs().maxCoeff() : 0.0;
        for (const double weight : tried_normal_weights) {
            const double kappa = R.rows() == 0 ? 0.0 : weight * size / R.middle().squaredNorm();
            IntervalMatrix A = fall;
            for (int i = 0; i < A.rows(); ++i)
                for (int j = 0; j < A.cols(); ++j)
                    for (int r = 0; r < R.rows(); ++r)
                        A(i, j) += Interval(kappa) * (i == j ? expr::sqr(R(r, i)) : R(r, i) * R(r, j));
            if (!shown_definite(A)) continue;
            P_ = P;
            return ClaimValue::Record{{"kind", "falls"}, {"P", claim_matrix(P)}, {"kappa", kappa}};
        }
        return std::nullopt;
    }

    /// Whether bounces of a contact that opens come to an end after a time that is as short as the disturbance
    /// (functions/sliding_contacts.cpp). It is shown if at most one contact is closed, and 0 <= e_N < 1, |e_T| < 1 and
    /// D_NN > μ|D_NT| hold for it, with D = WᵀM⁻¹W of its normal and its slip. The last inequality says that an impulse
    /// with any friction in its cone increases γ_N.
    bool bounces_end(const Motion& m) const {
        const model::Mechanics& model = e_.model();
        const Box q(state_.begin(), state_.begin() + n_), u(state_.begin() + n_, state_.end());
        const IntervalVector c = e_.coefficients(q, u);
        std::vector<int> constraints;
        int closed = 0;
        for (std::size_t k = 0; k < system_.held().size(); ++k) {
            const ModeSystem::Held& h = system_.held()[k];
            closed += h.contact >= 0 ? 1 : 0;
            if (h.contact < 0) constraints.push_back(h.row);
        }
        if (closed > 1 || (closed == 1 && !model.clutches.empty())) return false;
        const IntervalMatrix W = e_.row_matrix(q), G = rows_of(W, constraints);
        for (const ModeSystem::Held& h : system_.held()) {
            if (h.contact < 0) continue;
            const model::Contact& contact = model.contacts[ix(h.contact)];
            const Interval e_n = coefficient(c, contact.e_n), e_t = coefficient(c, contact.e_t);
            if (contact.impact != model::ImpactLaw::newton || !(e_n.lo >= 0.0 && e_n.hi < 1.0) ||
                !(e_t.lo > -1.0 && e_t.hi < 1.0))
                return false;
            const std::optional<IntervalMatrix> x = response_of(e_.mass(q), G, transpose(rows_of(W, {h.row})));
            if (!x) return false;
            Interval normal, coupling;
            for (int i = 0; i < n_; ++i) {
                normal += W(h.row, i) * (*x)(i, 0);
                if (h.sliding >= 0) coupling += W(h.sliding, i) * (*x)(i, 0);
            }
            const Interval mu = h.sliding < 0 ? Interval(0.0) : coefficient(c, contact.friction.mu[0]);
            if (!surely_positive(normal - mu * expr::abs(coupling))) return false;
        }
        return m.y.finite();
    }

    /// A level ρ such that { V < ρ } lies inside the region. By the Cauchy–Schwarz inequality in the metric of P
    /// z_k² <= (P⁻¹)_kk zᵀPz. With the distance d_k from the equilibrium to the nearest face along k, the states with
    /// V < min_k d_k²/(P⁻¹)_kk do not reach a face.
    double level_inside(const Box& x, const Box& equilibrium) const {
        const Matrix inverse = orthogonal_solve_columns(P_, Matrix::Identity(2 * n_, 2 * n_));
        double level = Interval::infinity;
        for (int k = 0; k < 2 * n_; ++k) {
            const Interval at = k < n_ ? equilibrium[ix(k)] : Interval(0.0);
            const double distance = std::min(at.lo - x[ix(k)].lo, x[ix(k)].hi - at.hi);
            if (!(distance > 0.0) || !(inverse(k, k) > 0.0)) return Interval::infinity;
            level = std::min(level, level_margin * distance * distance / inverse(k, k));
        }
        return level;
    }

    std::optional<ClaimValue> growth_claim(const Motion& m, const std::vector<std::size_t>& turning) const {
        if (!turning.empty() && !real_) return std::nullopt;
        const int rows = static_cast<int>(system_.held().size());
        Matrix R(rows, n_);
        for (int k = 0; k < rows; ++k)
            for (int i = 0; i < n_; ++i) R(k, i) = expr::midpoint(m.values.A(n_ + k, i));
        std::vector<int> pivots;
        if (rows > 0) {
            pivots = columns_by_independence(R);
            pivots.resize(ix(rows));
        }
        for (const double part : tried_separations) {
            // Without rows that stay 0 there is no eigenvalue 0 of its own, and V may grow everywhere.
            const double nu = second_ + part * (growth_ - second_);
            for (const double cone : tried_cones) {
                if (cone < 1.0 && !real_) break;
                const Matrix P = function(nu, cone);
                if (P.size() == 0 || !shown_definite(rate(P, m.J, nu))) continue;
                for (const double side : {1.0, -1.0})
                    if (std::optional<ClaimValue> claim = growth_claim(m, turning, P, nu, pivots, side)) return claim;
            }
        }
        return std::nullopt;
    }

    std::optional<ClaimValue> growth_claim(const Motion& m, const std::vector<std::size_t>& turning, const Matrix& P,
                                           double nu, const std::vector<int>& pivots, double side) const {
        std::vector<double> position, velocity;
        for (int k = 0; k < n_; ++k)
            if (std::find(pivots.begin(), pivots.end(), k) == pivots.end()) {
                position.push_back(side * direction_(k));
                velocity.push_back(side * direction_(n_ + k));
            }
        const std::optional<IntervalVector> v = tangent(m, pivots, position), w = tangent(m, pivots, velocity);
        if (!v || !w) return std::nullopt;
        IntervalVector d = *v;
        d.insert(d.end(), w->begin(), w->end());
        const IntervalMatrix form(P);
        Interval V;
        for (int i = 0; i < 2 * n_; ++i) V += d[ix(i)] * dot_product(matrix_row(form, i), d);
        if (!surely_positive(V)) return std::nullopt;
        std::vector<double> kappas;
        for (const std::size_t k : turning) {
            // s γ along the motion; the slope by velocities is s w_T.
            const IntervalVector& slope = m.slip_slopes[k];
            const Interval along = dot_product(IntervalVector(slope.begin() + n_, slope.end()), *w);
            if (!surely_positive(along)) return std::nullopt;
            double size = 0.0;
            for (int i = 0; i < n_; ++i) size = std::max(size, expr::sqr(slope[ix(n_ + i)]).hi);
            std::optional<double> kappa;
            for (const double factor : tried_kappas) {
                const double tried = factor * P.cwiseAbs().maxCoeff() / size;
                IntervalMatrix S(2 * n_, 2 * n_);
                for (int i = 0; i < 2 * n_; ++i)
                    for (int j = 0; j < 2 * n_; ++j)
                        S(i, j) = Interval(tried) * (i == j ? expr::sqr(slope[ix(i)]) : slope[ix(i)] * slope[ix(j)]) -
                                  Interval(P(i, j));
                if (!shown_definite(S)) continue;
                kappa = tried;
                break;
            }
            if (!kappa) return std::nullopt;
            kappas.push_back(*kappa);
        }
        return ClaimValue::Record{{"kind", "grows"},
                                  {"P", claim_matrix(P)},
                                  {"nu", nu},
                                  {"kappas", claim_numbers(kappas)},
                                  {"pivots", claim_wholes(pivots)},
                                  {"position", claim_numbers(position)},
                                  {"velocity", claim_numbers(velocity)}};
    }

    /// The vector with the given free components and R v = 0 for the held rows R over the region.
    std::optional<IntervalVector> tangent(const Motion& m, const std::vector<int>& pivots,
                                          const std::vector<double>& free) const {
        const int rows = static_cast<int>(pivots.size());
        IntervalVector d(ix(n_));
        std::size_t next = 0;
        for (int k = 0; k < n_; ++k)
            if (std::find(pivots.begin(), pivots.end(), k) == pivots.end()) d[ix(k)] = Interval(free[next++]);
        if (rows == 0) return d;
        IntervalMatrix G(rows, rows), right(rows, 1);
        for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < rows; ++j) G(i, j) = m.values.A(n_ + i, pivots[ix(j)]);
            for (int k = 0; k < n_; ++k) right(i, 0) -= m.values.A(n_ + i, k) * d[ix(k)];
        }
        const std::optional<IntervalMatrix> x = solve(G, right);
        if (!x) return std::nullopt;
        for (int j = 0; j < rows; ++j) d[ix(pivots[ix(j)])] = (*x)(j, 0);
        return d;
    }

    /// The boxes of the position and of the forces in which the equilibrium is shown to lie.
    std::pair<Box, IntervalVector> equilibrium_box(double radius) const {
        Box q = point_box(list_of(point_.q));
        double stiffness = 0.0;
        const Matrix at = balance(q, constants(list_of(point_.lambda))).slope.middle();
        for (const int k : point_.free) {
            const double r = std::min(equilibrium_part * radius, largest_equilibrium_box) * request_.scale[ix(k)];
            q[ix(k)] = Interval(point_.q(k) - r, point_.q(k) + r);
            stiffness = std::max(stiffness, r * at.topRows(n_).col(k).cwiseAbs().maxCoeff());
        }
        IntervalVector lambda;
        for (Index k = 0; k < point_.lambda.size(); ++k) {
            const double r =
                std::min(equilibrium_part * radius, largest_equilibrium_box) * (1.0 + std::fabs(point_.lambda(k))) +
                4.0 * stiffness;
            lambda.emplace_back(point_.lambda(k) - r, point_.lambda(k) + r);
        }
        return {q, lambda};
    }

    /// Krawczyk's operator for the free coordinates and the forces.
    std::optional<ClaimValue> equilibrium_claim(double radius) const {
        const int m = static_cast<int>(system_.held().size()), free = static_cast<int>(point_.free.size());
        const auto [q, lambda] = equilibrium_box(radius);
        const Balance over = balance(q, lambda);
        if (!over.slope.finite()) return std::nullopt;
        const Matrix middle = chosen(over.slope.middle(), m);
        const Matrix Z = orthogonal_solve_columns(middle, Matrix::Identity(middle.rows(), middle.rows()));
        if (middle.rows() != middle.cols() || !Z.allFinite()) return std::nullopt;
        std::vector<double> x = centre(q);
        IntervalVector box, force_centre;
        for (const int k : point_.free) box.push_back(q[ix(k)]);
        box.insert(box.end(), lambda.begin(), lambda.end());
        for (const Interval& l : lambda) force_centre.emplace_back(expr::midpoint(l));
        const Balance here = balance(point_box(x), force_centre);
        for (int i = 0; i < free + m; ++i) {
            const double xi = expr::midpoint(box[ix(i)]);
            Interval image(xi);
            for (int j = 0; j < free + m; ++j) {
                image -= Interval(Z(i, j)) * here.value(j, 0);
                Interval entry(i == j ? 1.0 : 0.0);
                for (int k = 0; k < free + m; ++k)
                    entry -= Interval(Z(i, k)) * over.slope(k, j < free ? point_.free[ix(j)] : n_ + j - free);
                image += entry * (box[ix(j)] - Interval(expr::midpoint(box[ix(j)])));
            }
            const double spare = spare_part * width(box[ix(i)]);
            if (!(image.lo > box[ix(i)].lo + spare && image.hi < box[ix(i)].hi - spare)) return std::nullopt;
        }
        return ClaimValue::Record{{"kind", "mode equilibrium"},
                                  {"box", claim_box(q)},
                                  {"forces", claim_box(lambda)},
                                  {"fixed", claim_wholes(point_.fixed)},
                                  {"preconditioner", claim_matrix(Z)}};
    }

    const Enclosure& e_;
    const Certificate& certificate_;
    const ModeRequest& request_;
    ModeSystem system_;
    int n_;
    ModePoint point_;
    bool unstable_ = true, real_ = false;
    double growth_ = 0.0, second_ = 0.0, speed_ = 1.0;
    Vector direction_;
    Matrix projection_, J_;
    // Of the region that is tried:
    Box state_;
    Matrix P_;
};

}  // namespace

CertifiedStatement mode_claims(const Enclosure& enclosure, const Certificate& certificate, const ModeRequest& request) {
    return ModeClaims(enclosure, certificate, request).run();
}

}  // namespace saltus::stability
