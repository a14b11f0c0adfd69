// SPDX-License-Identifier: Apache-2.0
//
// Instability by one motion (Lyapunov's first method, for one mode of the contacts).
//
// A mode says of each closed contact and each slider whether it sticks or slips with a constant sign s of its slip
// velocity. In a mode the motion is smooth:
//     M u̇ = h + Σ a_i λ_i + load,   w_i·u = 0,
//     a contact that sticks:  two rows w_N, w_T with their own forces along a = w_N and a = w_T,
//     a contact that slips:   one row w_N with the force along a = w_N − s μ w_T (friction opposes the slip),
//     a slider that slips:    the load −s μ F_N w_T;  constraints: a row with any force.
// Let p be an equilibrium of the mode: contacts that stick have λ_N > 0 and λ_T strictly inside of their cone; those
// that slip have λ_N > 0 (their friction force is on the boundary of its cone, so that p belongs to ℰ, at its end).
// Linearised at p, q = p + v exp(σt) and λ = λ_p + l exp(σt) satisfy
//     (σ²M + σC + K) v − Σ a_i l_i = 0,   w_i·v = 0,   K = ∇²U − Σ λ_i ∂a_i/∂q + Σ s μ F_N ∂w_T/∂q.        (*)
// If (*) has a solution with real σ > 0 then the smooth system has a motion with q − p ≈ v exp(σt) and
// u ≈ σ v exp(σt) for t → −∞ (its unstable manifold). This is a motion of the model: the forces that stick stay inside
// their cones, λ_N > 0 and the other gaps stay open, as long as it is near p; the slip velocities are about
// σ (w_T·v) exp(σt), so that they have the signs s if s (w_T·v) > 0. It begins arbitrarily near to p, and leaves a
// fixed neighbourhood of ℰ, because its velocity grows up to a fixed size while ℰ has u = 0. So ℰ is unstable. No limit
// sets are needed.
//
// Clutches. A clutch has no force at p = p(θ). In a mode it turns freely, with no force and γ = w·u > 0, or it is
// locked: a row w with w·u = 0 and a force along w, which must be >= 0. Along the motion γ ≈ σ (w·v) exp(σt) and
// λ ≈ l exp(σt), so that w·v > 0 or l > 0 is required.
//
// The equilibria. Let θ grow from 0 to 1 in λ_T = −θ s μ λ_N for the contacts and sliders that slip, with λ_T = 0 for
// those that stick. The equilibria p(θ) lead from q_e to p. All of them belong to ℰ, since |λ_T| <= μ λ_N. The path is
// proved in steps: over an interval of θ, Krawczyk's operator shows that a box contains exactly one p(θ) for each θ.
//
// The eigenvalue. Krawczyk's operator for the unknowns (v, l, σ) of (*) with one component of v held at 1, over the box
// of p.
#include "saltus/stability/certify/detail/motions/escaping_motion.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/eigenvalues.hpp"
#include "saltus/base/factors.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/proof/laws.hpp"
#include "saltus/stability/certify/detail/krawczyk.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

/// 3^n modes of n contacts and sliders are examined.
constexpr std::size_t max_elements = 4;
/// Boxes around the path p(θ) are larger than the hull of its ends by this fraction of the hull, and by rounding_margin
/// of 1 + |x|.
constexpr double path_margin = 0.25, rounding_margin = 1e-11;
/// Steps of θ: the first one, and the smallest that is tried.
constexpr double first_step = 1.0 / 8.0, smallest_step = 1.0 / 4096.0;
constexpr int newton_steps = 12;
constexpr double newton_converged = 1e-14;
/// An eigenvalue is real if its imaginary part is at most this fraction of its modulus; it is positive if it exceeds
/// this fraction of the largest modulus.
constexpr double real_ratio = 1e-9, positive_ratio = 1e-8;
/// Boxes around a computed eigenpair that are tried, relative to 1 + |x|.
constexpr double first_radius = 1e-12, largest_radius = 1e-2, radius_growth = 10.0;

double sign_of(SlipState s) {
    return s == SlipState::slips_forwards ? 1.0 : s == SlipState::slips_backwards ? -1.0 : 0.0;
}

/// One force with its row: the row w that stays 0, and the direction a = w − s μ w_T of the force.
struct ModeRow {
    int row;              // w
    int slip = -1;        // the row w_T if the contact slips with friction
    Interval friction;    // s μ
    bool pushes = false;  // λ > 0 is required
};
/// The load −s μ F_N w_T of a slider that slips.
struct ModeLoad {
    int slip;
    Interval force;  // s μ F_N
};

/// The smooth system of one mode.
class Mode {
public:
    Mode(const Enclosure& e, std::vector<ModeRow> rows, std::vector<int> sticking, std::vector<ModeLoad> loads)
        : e_(e), n_(e.size()), rows_(std::move(rows)), sticking_(std::move(sticking)), loads_(std::move(loads)) {}

    int size() const { return n_ + static_cast<int>(rows_.size()); }
    const std::vector<ModeRow>& rows() const { return rows_; }

    /// a_i over a box, for the part θ of the friction.
    IntervalVector force_direction(const IntervalMatrix& W, const ModeRow& r, const Interval& theta) const {
        IntervalVector a;
        for (int j = 0; j < n_; ++j)
            a.push_back(r.slip < 0 ? W(r.row, j) : W(r.row, j) - theta * r.friction * W(r.slip, j));
        return a;
    }

    /// ∇U − Σ a_i λ_i + Σ θ s μ F_N w_T, then the values of the rows.
    IntervalMatrix residual(const Box& q, const IntervalVector& lambda, const Interval& theta) const {
        IntervalMatrix F(size(), 1);
        const IntervalVector gradient = e_.gradient(q), values = e_.position_values(q);
        const IntervalMatrix W = e_.row_matrix(q);
        for (int i = 0; i < n_; ++i) F(i, 0) = gradient[static_cast<std::size_t>(i)];
        for (std::size_t k = 0; k < rows_.size(); ++k) {
            const IntervalVector a = force_direction(W, rows_[k], theta);
            for (int i = 0; i < n_; ++i) F(i, 0) -= a[static_cast<std::size_t>(i)] * lambda[k];
            F(n_ + static_cast<int>(k), 0) = values[static_cast<std::size_t>(rows_[k].row)];
        }
        for (const ModeLoad& l : loads_)
            for (int i = 0; i < n_; ++i) F(i, 0) += theta * l.force * W(l.slip, i);
        return F;
    }

    /// K over a box. std::nullopt if some row has a kink.
    std::optional<IntervalMatrix> stiffness(const Box& q, const IntervalVector& lambda, const Interval& theta) const {
        IntervalMatrix K = e_.hessian(q);
        const std::vector<IntervalMatrix> curved = e_.position_hessians(q);
        const auto subtract = [&](const IntervalMatrix& D, const Interval& factor) {
            for (int i = 0; i < n_; ++i)
                for (int j = 0; j < n_; ++j)
                    if (D(i, j).lo != 0.0 || D(i, j).hi != 0.0) K(i, j) -= factor * D(i, j);
        };
        for (std::size_t k = 0; k < rows_.size(); ++k) {
            subtract(curved[static_cast<std::size_t>(rows_[k].row)], lambda[k]);
            if (rows_[k].slip < 0) continue;
            const std::optional<IntervalMatrix> D = e_.row_derivative(q, rows_[k].slip);
            if (!D) return std::nullopt;
            subtract(*D, -(theta * rows_[k].friction * lambda[k]));
        }
        for (const ModeLoad& l : loads_) {
            const std::optional<IntervalMatrix> D = e_.row_derivative(q, l.slip);
            if (!D) return std::nullopt;
            subtract(*D, -(theta * l.force));
        }
        return K;
    }

    /// F' of `residual`.
    std::optional<IntervalMatrix> slope(const Box& q, const IntervalVector& lambda, const Interval& theta) const {
        const std::optional<IntervalMatrix> K = stiffness(q, lambda, theta);
        if (!K) return std::nullopt;
        IntervalMatrix J(size(), size());
        const IntervalMatrix W = e_.row_matrix(q);
        for (int i = 0; i < n_; ++i)
            for (int j = 0; j < n_; ++j) J(i, j) = (*K)(i, j);
        for (std::size_t k = 0; k < rows_.size(); ++k) {
            const IntervalVector a = force_direction(W, rows_[k], theta);
            const int at = n_ + static_cast<int>(k);
            for (int i = 0; i < n_; ++i) {
                J(i, at) = -a[static_cast<std::size_t>(i)];
                J(at, i) = W(rows_[k].row, i);
            }
        }
        return J;
    }

    /// The kinematic rows w_i and the force directions a_i of the motion, with the slips that stick, as matrices of
    /// rows.
    struct Motion {
        IntervalMatrix rows, forces;
    };
    Motion motion(const Box& q) const {
        const IntervalMatrix W = e_.row_matrix(q);
        const int m = static_cast<int>(rows_.size() + sticking_.size());
        Motion result{IntervalMatrix(m, n_), IntervalMatrix(m, n_)};
        for (int k = 0; k < m; ++k) {
            const auto at = static_cast<std::size_t>(k);
            const bool normal = at < rows_.size();
            const int row = normal ? rows_[at].row : sticking_[at - rows_.size()];
            const IntervalVector a = normal ? force_direction(W, rows_[at], Interval(1.0))
                                            : force_direction(W, {row, -1, Interval(0.0), false}, Interval(0.0));
            for (int j = 0; j < n_; ++j) {
                result.rows(k, j) = W(row, j);
                result.forces(k, j) = a[static_cast<std::size_t>(j)];
            }
        }
        return result;
    }

    /// Along boxes of ℰ: the contacts push, and the gaps that are not rows of the mode are open.
    bool admissible(const Box& q, const IntervalVector& lambda) const {
        const IntervalVector values = e_.position_values(q);
        for (int r = e_.constraints(); r < e_.positions(); ++r) {
            const auto k = std::find_if(rows_.begin(), rows_.end(), [&](const ModeRow& m) { return m.row == r; });
            if (k == rows_.end() ? !(values[static_cast<std::size_t>(r)].lo > 0.0)
                                 : !(lambda[static_cast<std::size_t>(k - rows_.begin())].lo > 0.0))
                return false;
        }
        return true;
    }

    /// A clutch that is locked in the mode: its number, and the number of its force among the rows of `motion`.
    struct Locked {
        std::size_t clutch;
        int force;
    };
    std::vector<Locked> locked = {};

    const Enclosure& enclosure() const { return e_; }
    bool slips() const {
        return !loads_.empty() || std::any_of(rows_.begin(), rows_.end(), [](const ModeRow& r) { return r.slip >= 0; });
    }

private:
    const Enclosure& e_;
    int n_;
    std::vector<ModeRow> rows_;
    std::vector<int> sticking_;  // slip rows that stay 0
    std::vector<ModeLoad> loads_;
};

/// A proved equilibrium of a mode.
struct ModeEquilibrium {
    Box q;
    IntervalVector lambda;
};

/// The path p(θ) from q_e to the equilibrium of the mode.
class Path {
public:
    Path(const Mode& mode, Vector start) : mode_(mode), x_(std::move(start)) {}

    std::optional<ModeEquilibrium> follow() {
        std::optional<IntervalMatrix> here = enclose(x_, Interval(0.0), 0.0);
        if (!here || !admissible(x_, *here)) return std::nullopt;
        double theta = 0.0;
        for (double step = mode_.slips() ? first_step : 1.0; mode_.slips() && theta < 1.0;) {
            const double next = std::min(1.0, theta + step);
            if (advance(theta, next, *here)) {
                theta = next;
                step *= 2.0;
                continue;
            }
            step /= 2.0;
            if (step < smallest_step) return std::nullopt;
        }
        return part(x_, *here);
    }

private:
    ModeEquilibrium part(const Vector& x, const IntervalMatrix& step) const {
        ModeEquilibrium p;
        const int n = mode_.enclosure().size();
        for (int i = 0; i < mode_.size(); ++i) {
            const Interval value = Interval(x(i)) + step(i, 0);
            if (i < n)
                p.q.push_back(value);
            else
                p.lambda.push_back(value);
        }
        return p;
    }
    bool admissible(const Vector& x, const IntervalMatrix& step) const {
        const ModeEquilibrium p = part(x, step);
        return mode_.admissible(p.q, p.lambda);
    }

    /// Exactly one zero in x ± (margin + rounding) for every θ; its enclosure relative to x.
    std::optional<IntervalMatrix> enclose(const Vector& x, const Interval& theta, double margin,
                                          const Vector* extent = nullptr) const {
        IntervalMatrix step(mode_.size(), 1);
        for (int i = 0; i < mode_.size(); ++i) {
            const double r = rounding_margin * (1.0 + std::fabs(x(i))) + (extent ? margin * (*extent)(i) : 0.0);
            step(i, 0) = Interval(-r, r);
        }
        const ModeEquilibrium over = part(x, step), at = part(x, IntervalMatrix(mode_.size(), 1));
        const std::optional<IntervalMatrix> slope = mode_.slope(over.q, over.lambda, theta);
        if (!slope) return std::nullopt;
        return krawczyk({mode_.residual(at.q, at.lambda, theta), *slope}, step);
    }

    /// Newton's method at one θ, without proof.
    std::optional<Vector> solve_at(Vector x, double theta) const {
        for (int k = 0; k < newton_steps; ++k) {
            const ModeEquilibrium at = part(x, IntervalMatrix(mode_.size(), 1));
            const std::optional<IntervalMatrix> J = mode_.slope(at.q, at.lambda, Interval(theta));
            const IntervalMatrix F = mode_.residual(at.q, at.lambda, Interval(theta));
            if (!J || !J->finite() || !F.finite()) return std::nullopt;
            const Vector d = least_squares(J->middle(), -F.middle().col(0));
            x += d;
            if (!x.allFinite()) return std::nullopt;
            if (d.norm() <= newton_converged * (1.0 + x.norm())) break;
        }
        return x;
    }

    /// One step of θ. `here` encloses p(from) relative to x_; afterwards it encloses p(to) relative to the new x_.
    bool advance(double from, double to, IntervalMatrix& here) {
        const std::optional<Vector> next = solve_at(x_, to);
        if (!next) return false;
        const Vector centre = 0.5 * (x_ + *next);
        // Half the step as a radius, a little larger. Components that do not move get the size of the others' margin.
        Vector extent = (0.5 * (*next - x_)).cwiseAbs();
        const double largest = extent.maxCoeff();
        for (Index i = 0; i < extent.size(); ++i) extent(i) = extent(i) * (1.0 + path_margin) + path_margin * largest;
        const std::optional<IntervalMatrix> between = enclose(centre, Interval(from, to), 1.0, &extent);
        if (!between || !admissible(centre, *between)) return false;
        const std::optional<IntervalMatrix> there = enclose(*next, Interval(to), 0.0);
        if (!there) return false;
        // p(from) and p(to) lie in the box that has exactly one p(θ) for each θ, so that the path joins them.
        const auto inside_box = [&](const Vector& x, const IntervalMatrix& s) {
            for (int i = 0; i < mode_.size(); ++i) {
                const double r = rounding_margin * (1.0 + std::fabs(centre(i))) + extent(i);
                const Interval value = Interval(x(i)) + s(i, 0) - Interval(centre(i));
                if (!(value.lo > -r && value.hi < r)) return false;
            }
            return true;
        };
        if (!inside_box(x_, here) || !inside_box(*next, *there)) return false;
        x_ = *next;
        here = *there;
        return true;
    }

    const Mode& mode_;
    Vector x_;
};

/// The largest real positive eigenvalue of (*) at the middle of the data, with its vectors; without proof.
struct EigenPair {
    double sigma;
    Vector v, l;
};
std::optional<EigenPair> computed_eigenpair(const Matrix& M, const Matrix& C, const Matrix& K, const Matrix& rows,
                                            const Matrix& forces) {
    const Index n = M.rows();
    const Matrix Z = rows.rows() > 0 ? kernel_of(rows) : Matrix(Matrix::Identity(n, n));
    const Matrix Y = rows.rows() > 0 ? kernel_of(forces) : Matrix(Matrix::Identity(n, n));
    const Index r = Z.cols();
    if (r == 0 || Y.cols() != r) return std::nullopt;
    const FullPivotLu inertia(Y.transpose() * M * Z);
    if (!inertia.invertible()) return std::nullopt;
    Matrix A = Matrix::Zero(2 * r, 2 * r);
    A.topRightCorner(r, r).setIdentity();
    A.bottomLeftCorner(r, r) = -inertia.solve_columns(Y.transpose() * K * Z);
    A.bottomRightCorner(r, r) = -inertia.solve_columns(Y.transpose() * C * Z);
    const Eigenpairs solved = eigenpairs(A);
    if (solved.values.empty()) return std::nullopt;
    double scale = 0.0;
    for (const std::complex<double>& s : solved.values) scale = std::max(scale, std::abs(s));
    std::optional<EigenPair> best;
    for (Index k = 0; k < 2 * r; ++k) {
        const std::complex<double> s = solved.values[static_cast<std::size_t>(k)];
        if (!(s.real() > positive_ratio * scale) || std::fabs(s.imag()) > real_ratio * std::abs(s)) continue;
        if (best && best->sigma >= s.real()) continue;
        EigenPair pair;
        pair.sigma = s.real();
        pair.v = Z * solved.vectors.col(k).head(r);
        Index largest = 0;
        if (!(pair.v.cwiseAbs().maxCoeff(&largest) > 0.0)) continue;
        pair.v /= pair.v(largest);
        const Vector left = (pair.sigma * pair.sigma * M + pair.sigma * C + K) * pair.v;
        pair.l = forces.rows() > 0 ? least_squares(forces.transpose(), left) : Vector();
        best = std::move(pair);
    }
    return best;
}

/// A proved solution of (*) with σ > 0 over the box of p.
struct ProvedPair {
    Interval sigma;
    IntervalVector v, l;
};
std::optional<ProvedPair> prove_eigenpair(const IntervalMatrix& M, const IntervalMatrix& C, const IntervalMatrix& K,
                                          const Mode::Motion& motion, const EigenPair& pair) {
    const int n = M.rows(), m = motion.rows.rows(), size = n + m + 1;
    Index held = 0;
    pair.v.cwiseAbs().maxCoeff(&held);
    Vector x(size);
    x << pair.v, pair.l, pair.sigma;
    const auto pencil = [&](const Interval& s) {
        IntervalMatrix P(n, n);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) P(i, j) = s * s * M(i, j) + s * C(i, j) + K(i, j);
        return P;
    };
    for (double radius = first_radius; radius < largest_radius; radius *= radius_growth) {
        IntervalMatrix step(size, 1), over(size, 1);
        for (int i = 0; i < size; ++i) {
            const double r = radius * (1.0 + std::fabs(x(i)));
            step(i, 0) = Interval(-r, r);
            over(i, 0) = Interval(x(i)) + step(i, 0);
        }
        EnclosedEquations f{IntervalMatrix(size, 1), IntervalMatrix(size, size)};
        const IntervalMatrix at = pencil(Interval(pair.sigma)), all = pencil(over(n + m, 0));
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                f.value(i, 0) += at(i, j) * Interval(x(j));
                f.slope(i, j) = all(i, j);
                f.slope(i, n + m) += (Interval(2.0) * over(n + m, 0) * M(i, j) + C(i, j)) * over(j, 0);
            }
            for (int k = 0; k < m; ++k) {
                f.value(i, 0) -= motion.forces(k, i) * Interval(x(n + k));
                f.slope(i, n + k) = -motion.forces(k, i);
            }
        }
        for (int k = 0; k < m; ++k)
            for (int j = 0; j < n; ++j) {
                f.value(n + k, 0) += motion.rows(k, j) * Interval(x(j));
                f.slope(n + k, j) = motion.rows(k, j);
            }
        f.value(n + m, 0) = Interval(x(held)) - Interval(1.0);
        f.slope(n + m, static_cast<int>(held)) = Interval(1.0);
        const std::optional<IntervalMatrix> image = krawczyk(f, step);
        if (!image) continue;
        ProvedPair result;
        result.sigma = Interval(x(n + m)) + (*image)(n + m, 0);
        for (int i = 0; i < n; ++i) result.v.push_back(Interval(x(i)) + (*image)(i, 0));
        for (int i = n; i < n + m; ++i) result.l.push_back(Interval(x(i)) + (*image)(i, 0));
        if (!(result.sigma.lo > 0.0)) return std::nullopt;
        return result;
    }
    return std::nullopt;
}

/// The smooth system of the mode determines the accelerations: [M −Aᵀ; W 0] is regular.
bool well_posed(const IntervalMatrix& M, const Mode::Motion& motion) {
    const int n = M.rows(), m = motion.rows.rows();
    IntervalMatrix J(n + m, n + m);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) J(i, j) = M(i, j);
    for (int k = 0; k < m; ++k)
        for (int j = 0; j < n; ++j) {
            J(j, n + k) = -motion.forces(k, j);
            J(n + k, j) = motion.rows(k, j);
        }
    return regular(J);
}

/// The contacts and sliders that may slip, and the search over their modes.
class Search {
public:
    Search(const Enclosure& e, const StationaryPoint& point, const StationaryBox& box)
        : e_(e), model_(e.model()), point_(point), box_(box) {
        const Box everywhere = whole_space(static_cast<std::size_t>(e.size()));
        constant_ = e.coefficients(everywhere, everywhere);
        here_ = e.coefficients(box.proved() ? box.q : point_box(list_of(point.q)),
                               Box(static_cast<std::size_t>(e.size()), Interval(0.0)));
    }

    std::optional<EscapingMotion> run() const {
        if (!point_.found || !box_.proved() || !e_.smooth || !e_.smooth_damping || !e_.forces_vanish_at_rest ||
            !model_.autonomous || !model_.scleronomic || !frictional_constraints().empty())
            return std::nullopt;
        // Every closed gap must carry a force: a gap without load may open at once.
        if (box_.support.size() != point_.closed.size() + model_.constraints.size()) return std::nullopt;
        const std::size_t count = first_clutch() + model_.clutches.size();
        if (count > max_elements) return std::nullopt;
        int modes = 1;
        for (std::size_t k = 0; k < count; ++k) modes *= 3;
        for (int k = 0; k < modes; ++k) {
            std::vector<SlipState> states;
            for (int digits = k; states.size() < count; digits /= 3)
                states.push_back(static_cast<SlipState>(digits % 3));
            if (std::optional<EscapingMotion> motion = examine(states)) return motion;
        }
        return std::nullopt;
    }

private:
    /// The states of a mode are those of the closed contacts, of the sliders and of the clutches, in this order.
    std::size_t first_clutch() const { return point_.closed.size() + model_.sliders.size(); }

    std::vector<int> frictional_constraints() const {
        std::vector<int> list;
        for (const model::Constraint& c : model_.constraints)
            if (!proof::without_friction(c.friction, constant_)) list.push_back(c.row);
        return list;
    }

    const model::Contact& contact(int r) const {
        return model_.contacts[static_cast<std::size_t>(r - e_.constraints())];
    }

    /// The mode of these states. std::nullopt if the model has no such mode.
    std::optional<Mode> mode_of(const std::vector<SlipState>& states) const {
        std::vector<ModeRow> rows;
        std::vector<int> sticking;
        std::vector<ModeLoad> loads;
        std::vector<Mode::Locked> locked;
        for (const model::Constraint& c : model_.constraints) rows.push_back({c.row, -1, Interval(0.0), false});
        const auto stick = [&](const model::Friction& f) {
            for (int j = 0; j < f.dimension; ++j) sticking.push_back(f.first_row + j);
        };
        for (std::size_t k = 0; k < states.size(); ++k) {
            const double sign = sign_of(states[k]);
            if (k >= first_clutch()) {
                const std::size_t clutch = k - first_clutch();
                if (sign < 0.0) return std::nullopt;  // a clutch turns in one direction
                if (sign > 0.0) continue;             // it turns freely, without a force
                locked.push_back({clutch, static_cast<int>(sticking.size())});
                sticking.push_back(model_.clutches[clutch].row);
                continue;
            }
            if (k < point_.closed.size()) {
                const model::Contact& c = contact(point_.closed[k]);
                ModeRow row{c.row, -1, Interval(0.0), true};
                if (proof::without_friction(c.friction, constant_)) {
                    if (sign != 0.0) return std::nullopt;  // one mode is enough
                } else if (sign == 0.0) {
                    if (!with_friction(c.friction, here_)) return std::nullopt;
                    stick(c.friction);
                } else {
                    const Interval mu = coefficient(constant_, c.friction.mu[0]);
                    if (!constant_coulomb(c.friction)) return std::nullopt;
                    row.slip = c.friction.first_row;
                    row.friction = Interval(sign) * mu;
                }
                rows.push_back(row);
                continue;
            }
            const model::Slider& s = model_.sliders[k - point_.closed.size()];
            const Interval load = coefficient(constant_, s.normal_force);
            if (proof::without_friction(s.friction, constant_) || (is_point(load) && load.lo == 0.0)) {
                if (sign != 0.0) return std::nullopt;
            } else if (sign == 0.0) {
                if (!with_friction(s.friction, here_) || !(coefficient(here_, s.normal_force).lo > 0.0))
                    return std::nullopt;
                stick(s.friction);
            } else {
                if (!constant_coulomb(s.friction) || !is_point(load) || !(load.lo > 0.0)) return std::nullopt;
                loads.push_back(
                    {s.friction.first_row, Interval(sign) * coefficient(constant_, s.friction.mu[0]) * load});
            }
        }
        // The forces of a mode are those of its rows, then those of the slips that stick.
        for (Mode::Locked& l : locked) l.force += static_cast<int>(rows.size());
        Mode mode(e_, std::move(rows), std::move(sticking), std::move(loads));
        mode.locked = std::move(locked);
        return mode;
    }

    /// One slip direction and a coefficient that is the same at all states.
    bool constant_coulomb(const model::Friction& f) const {
        const Interval mu = coefficient(constant_, f.mu[0]);
        return f.law == model::FrictionLaw::coulomb && f.dimension == 1 && mu.defined && is_point(mu) && mu.lo > 0.0;
    }

    std::optional<EscapingMotion> examine(const std::vector<SlipState>& states) const {
        const std::optional<Mode> mode = mode_of(states);
        if (!mode) return std::nullopt;
        const auto n = static_cast<Index>(e_.size());
        Vector start(mode->size());
        start.head(n) = point_.q;
        for (std::size_t k = 0; k < mode->rows().size(); ++k) {
            const auto at = std::find(box_.support.begin(), box_.support.end(), mode->rows()[k].row);
            if (at == box_.support.end()) return std::nullopt;
            start(n + static_cast<Index>(k)) =
                expr::midpoint(box_.lambda[static_cast<std::size_t>(at - box_.support.begin())]);
        }
        const std::optional<ModeEquilibrium> p = Path(*mode, start).follow();
        if (!p) return std::nullopt;
        const std::optional<IntervalMatrix> K = mode->stiffness(p->q, p->lambda, Interval(1.0));
        const IntervalMatrix M = e_.mass(p->q), C = e_.damping(p->q);
        const Mode::Motion motion = mode->motion(p->q);
        if (!K || !K->finite() || !C.finite() || !motion.rows.finite() || !positive_definite(M) ||
            !well_posed(M, motion))
            return std::nullopt;
        const std::optional<EigenPair> pair =
            computed_eigenpair(M.middle(), C.middle(), K->middle(), motion.rows.middle(), motion.forces.middle());
        if (!pair) return std::nullopt;
        const std::optional<ProvedPair> proved = prove_eigenpair(M, C, *K, motion, *pair);
        if (!proved) return std::nullopt;
        const std::optional<double> side = slip_side(states, *mode, p->q, *proved);
        if (!side) return std::nullopt;
        EscapingMotion result;
        result.at = p->q;
        const auto closed = static_cast<std::ptrdiff_t>(point_.closed.size());
        result.contacts.assign(states.begin(), states.begin() + closed);
        const auto clutches = static_cast<std::ptrdiff_t>(first_clutch());
        result.sliders.assign(states.begin() + closed, states.begin() + clutches);
        result.clutches.assign(states.begin() + clutches, states.end());
        result.closed = point_.closed;
        result.rate = proved->sigma;
        result.direction = Vector(n);
        for (Index i = 0; i < n; ++i)
            result.direction(i) = *side * expr::midpoint(proved->v[static_cast<std::size_t>(i)]);
        return result;
    }

    /// The sign of (v, l) with which all slips have the signs of the mode, s (w_T·v) > 0, free clutches turn, w·v > 0,
    /// and locked clutches push, l > 0.
    std::optional<double> slip_side(const std::vector<SlipState>& states, const Mode& mode, const Box& q,
                                    const ProvedPair& pair) const {
        const IntervalVector& v = pair.v;
        const IntervalMatrix W = e_.row_matrix(q);
        bool forwards = true, backwards = true;
        for (std::size_t k = 0; k < states.size(); ++k) {
            const double s = sign_of(states[k]);
            if (s == 0.0) continue;
            const int row = k < point_.closed.size() ? contact(point_.closed[k]).friction.first_row
                            : k < first_clutch()     ? model_.sliders[k - point_.closed.size()].friction.first_row
                                                     : model_.clutches[k - first_clutch()].row;
            Interval slip;
            for (int j = 0; j < e_.size(); ++j) slip += W(row, j) * v[static_cast<std::size_t>(j)];
            slip = Interval(s) * slip;
            forwards = forwards && slip.lo > 0.0;
            backwards = backwards && slip.hi < 0.0;
        }
        for (const Mode::Locked& l : mode.locked) {
            const Interval& force = pair.l[static_cast<std::size_t>(l.force)];
            forwards = forwards && force.lo > 0.0;
            backwards = backwards && force.hi < 0.0;
        }
        if (forwards) return 1.0;
        return backwards ? std::optional<double>(-1.0) : std::nullopt;
    }

    const Enclosure& e_;
    const model::Mechanics& model_;
    const StationaryPoint& point_;
    const StationaryBox& box_;
    IntervalVector constant_, here_;  // coefficients over all states, and at rest in q_e
};

}  // namespace

std::optional<EscapingMotion> escaping_motion(const Enclosure& e, const StationaryPoint& point,
                                              const StationaryBox& box) {
    return Search(e, point, box).run();
}

std::string mode_text(const model::Mechanics& model, const EscapingMotion& motion) {
    std::string text;
    const auto add = [&](const std::string& name, const model::Friction& friction, SlipState s) {
        text += (text.empty() ? "'" : ", '") + name + "' " +
                (!friction.present()              ? "stays closed"
                 : s == SlipState::sticks         ? "sticks"
                 : s == SlipState::slips_forwards ? "slips forwards"
                                                  : "slips backwards");
    };
    for (std::size_t k = 0; k < motion.closed.size(); ++k) {
        const auto contact = static_cast<std::size_t>(motion.closed[k] - static_cast<int>(model.constraints.size()));
        add(model.contacts[contact].name, model.contacts[contact].friction, motion.contacts[k]);
    }
    for (std::size_t k = 0; k < motion.sliders.size(); ++k)
        add(model.sliders[k].name, model.sliders[k].friction, motion.sliders[k]);
    for (std::size_t k = 0; k < motion.clutches.size(); ++k)
        text += (text.empty() ? "'" : ", '") + model.clutches[k].name +
                (motion.clutches[k] == SlipState::sticks ? "' is locked" : "' turns freely");
    return text;
}

}  // namespace saltus::stability
