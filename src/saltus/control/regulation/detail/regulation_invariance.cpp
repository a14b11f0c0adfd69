// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/regulation/detail/regulation_invariance.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/control/regulation/detail/regulation_scatter.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::control {

using namespace saltus::proof;

namespace {

constexpr double in_subspace = 1e-9;  ///< v lies in a subspace if its distance from it is at most this part of ‖v‖
constexpr double smallest_divisor = 1e-300;      ///< lower bound of a size that may be 0
constexpr double negligible_penetration = 1e-9;  ///< gaps below −this (1 + largest gap) are not admissible
constexpr double negligible_approach = 1e-12;    ///< γ >= −this counts as leaving, for velocities of size 1
/// A matrix is semidefinite (symmetric) if its defect is at most this part of its largest entry.
constexpr double semidefinite_tolerance = 1e-12, symmetric_tolerance = 1e-12;
/// A motion of a nonlinear model is without loss if damping takes at most this part of its kinetic energy.
constexpr double negligible_loss = 1e-9;
constexpr double small_amplitude = 1e-2;  ///< of the motion that is followed, relative to the witness
constexpr double followed_phase = 20.0;   ///< t_end · ω of that motion: about three periods
constexpr double default_duration = 1.0;  ///< of a motion that does not vibrate
constexpr long max_polls = 20'000;        ///< the simulation of that motion ends after this number of polls
constexpr int sampled_velocities = 2000;  ///< of nonlinear damping
constexpr int speed_decades = 7, slowest_decade = -3;  ///< speeds of these samples, 10^−3 ... 10^3

/// The damping matrix C = −∂(f − ∂R/∂u)/∂u at (q, 0), from the exact derivatives of the forces.
Matrix damping_at(const model::Mechanics& m, const std::vector<double>& q) {
    const std::unique_ptr<model::Jacobians> jacobians = m.system->jacobians();
    const std::vector<double> zero(q.size(), 0.0), lambda(static_cast<std::size_t>(m.layout().row_count()), 0.0);
    const model::Pattern& pattern = jacobians->pattern(model::Function::residual);
    std::vector<double> values(pattern.size());
    jacobians->evaluate(model::Function::residual, model::at(m, 0.0, q, zero), zero, lambda, values);
    return -model::dense(pattern, values).middleCols(1 + m.size(), m.size());
}

std::vector<std::string> names(const model::Mechanics& m, const std::vector<int>& subset) {
    std::vector<std::string> list;
    for (const int i : subset) list.push_back(m.contacts[static_cast<std::size_t>(i)].name);
    return list;
}

/// The observability matrix (CZ; CZA; CZA²; ...), with A scaled to size 1.
Matrix observability(const Matrix& C, const Matrix& Z, const Matrix& A) {
    const Eigen::Index d = Z.cols();
    const double size = std::max(A.cwiseAbs().rowwise().sum().maxCoeff(), smallest_divisor);
    Matrix O(C.rows() * d, d), block = C * Z;
    for (Eigen::Index k = 0; k < d; ++k) {
        O.middleRows(k * C.rows(), C.rows()) = block;
        block = block * A / size;
    }
    return O;
}

/// The unobservable velocities: a basis of the largest subspace of the range of Z with Cv = 0 that the linear motion
/// with these contacts held does not leave. With u = Zw the motion is ẅ = −A w, A = (ZᵀMZ)⁻¹ZᵀKZ, and the subspace is
/// the kernel of the observability matrix.
Matrix unobserved(const Matrix& M, const Matrix& K, const Matrix& C, const Matrix& Z) {
    if (Z.cols() == 0) return Matrix(M.rows(), 0);
    const Matrix A = solve_columns(Z.transpose() * M * Z, Z.transpose() * K * Z);
    return Z * kernel(observability(C, Z, A), Z.cols());
}

bool in_span(const Matrix& N, const Vector& v) {
    return (v - N * (N.transpose() * v)).norm() <= in_subspace * v.norm();
}

/// The same in interval arithmetic: proves that there are no unobservable velocities with the rows W held.
bool proved_none(const IntervalMatrix& M, const IntervalMatrix& K, const IntervalMatrix& C, const IntervalMatrix& W) {
    const std::optional<IntervalMatrix> T = tangents(W, M.rows());
    if (!T) return false;
    const int d = T->cols();
    if (d == 0) return true;
    const IntervalMatrix Tt = transpose(*T);
    const std::optional<IntervalMatrix> A = solve(Tt * M * *T, Tt * K * *T);
    if (!A) return false;
    const double size = std::max(A->middle().cwiseAbs().rowwise().sum().maxCoeff(), smallest_divisor);
    const IntervalMatrix scale(Matrix(Matrix::Identity(d, d) * std::exp2(-std::ceil(std::log2(size)))));
    IntervalMatrix O(C.rows() * d, d), block = C * *T;
    for (int k = 0; k < d; ++k) {
        for (int i = 0; i < C.rows(); ++i)
            for (int j = 0; j < d; ++j) O(k * C.rows() + i, j) = block(i, j);
        block = block * *A * scale;
    }
    return independent_columns(O);
}

/// The same for one combination of contacts of a linear model.
bool proved_regime(const Domain& domain, const std::vector<int>& subset, ContactModel contacts) {
    const model::Mechanics& m = domain.model;
    const int n = m.size();
    IntervalMatrix K = domain.hessian, held(0, n);
    std::vector<int> rows;
    for (const int i : subset) rows.push_back(m.contacts[static_cast<std::size_t>(i)].row);
    if (contacts == ContactModel::rigid) {
        held = rows_of(domain.gradients, rows);
    } else {
        const Box still = point_box(std::vector<double>(static_cast<std::size_t>(n), 0.0));
        const IntervalVector coefficients = domain.enclosure->coefficients(domain.whole, still);
        for (const int i : subset) {
            const model::Contact& c = m.contacts[static_cast<std::size_t>(i)];
            const Interval k = coefficients[static_cast<std::size_t>(c.penalty_k)];
            for (int a = 0; a < n; ++a)
                for (int b = 0; b < n; ++b)
                    K(a, b) = K(a, b) + k * domain.gradients(c.row, a) * domain.gradients(c.row, b);
        }
    }
    return proved_none(domain.mass, K, domain.damping, held);
}

/// The model linearised at q_R.
struct Linear {
    ContactModel contacts;
    Matrix M, K;                 ///< K without the springs of contacts
    Matrix C;                    ///< symmetric
    Matrix W;                    ///< gradients of the gaps, one row for each contact
    Vector force;                ///< h at q_R
    Vector gaps;                 ///< at q_R
    Vector compliance;           ///< 1/k of each contact; 0 if rigid
    std::vector<bool> support;   ///< contacts with a force at q_R
    std::vector<bool> touching;  ///< contacts that are closed at q_R
    bool strict = true;          ///< every closed contact has a force

    Linear(const Domain& domain, Statics& statics, const Rest& rest, ContactModel model, const Matrix& damping)
        : contacts(model), C(damping), W(domain.contacts(), domain.model.size()), strict(rest.strict) {
        statics.at(rest.q);
        const Matrix K0 = statics.stiffness(springs() ? Vector::Zero(statics.rows()) : rest.lambda);
        M = statics.mass();
        K = 0.5 * (K0 + K0.transpose());
        force = statics.force();
        gaps.resize(domain.contacts());
        compliance.resize(domain.contacts());
        for (int i = 0; i < domain.contacts(); ++i) {
            const int row = domain.model.contacts[static_cast<std::size_t>(i)].row;
            W.row(i) = statics.gradients().row(row);
            gaps(i) = statics.positions()(row);
            compliance(i) = statics.compliance()(row);
            support.push_back(rest.lambda(row) > 0.0);
            touching.push_back(std::find(rest.closed.begin(), rest.closed.end(), row) != rest.closed.end());
        }
    }

    bool springs() const { return contacts == ContactModel::springs; }

    /// The stiffness with the springs of these contacts; K itself if they are rigid.
    Matrix stiffness_with(const std::vector<int>& compressed) const {
        Matrix sum = K;
        if (springs())
            for (const int i : compressed) sum += W.row(i).transpose() * W.row(i) / compliance(i);
        return sum;
    }

    /// Directions along which these rigid contacts stay closed; all directions with springs.
    Matrix directions_with(const std::vector<int>& closed) const {
        Matrix held(springs() ? 0 : static_cast<Eigen::Index>(closed.size()), M.rows());
        for (Eigen::Index k = 0; k < held.rows(); ++k) held.row(k) = W.row(closed[static_cast<std::size_t>(k)]);
        return kernel(held, M.rows());
    }
};

/// A combination of closed (or compressed) contacts with velocities that are not damped.
struct Regime {
    std::vector<int> contacts;
    Matrix undamped;  ///< a basis of these velocities
};

/// Whether these contacts are exactly those that carry q_R, so that small motions about q_R stay in this regime.
bool at_rest_regime(const Linear& l, const std::vector<int>& contacts) {
    for (std::size_t i = 0; i < l.support.size(); ++i) {
        const bool in = std::find(contacts.begin(), contacts.end(), static_cast<int>(i)) != contacts.end();
        if (in != l.support[i]) return false;
    }
    return l.strict;
}

/// Whether impacts (and springs) do not lead out of the undamped velocities N of free motion: M⁻¹w ∈ N for every
/// contact w, or wᵀN = 0 for a contact that does not carry q_R. Then every motion in q_R + N stays there.
bool closed_under_contacts(const Linear& l, const Matrix& N) {
    for (Eigen::Index i = 0; i < l.W.rows(); ++i) {
        const Vector w = l.W.row(i).transpose();
        const bool passes = (N.transpose() * w).norm() <= in_subspace * w.norm();
        if (passes && !l.support[static_cast<std::size_t>(i)]) continue;
        if (!in_span(N, solve_columns(l.M, w))) return false;
    }
    return true;
}

/// Whether rest is the only motion without loss although free motions in N are undamped. Such a motion vibrates about
/// the centre q_R + K⁻¹h of free motion; if the contacts do not allow this position then it meets a contact. With rigid
/// contacts the impulse must then lead out of N: no combination of M⁻¹w of closed contacts lies in N.
bool ends_at_contacts(const Linear& l, const Matrix& N, const std::vector<std::vector<int>>& subsets) {
    if (!(vibrations(N.transpose() * l.K * N, N.transpose() * l.M * N).smallest > 0.0)) return false;
    if (row_rank(l.K).rank < l.K.rows()) return false;
    const Vector centre = solve_columns(l.K, l.force);  // relative to q_R
    const Vector there = l.gaps + l.W * centre;
    if (!(there.minCoeff() < -negligible_penetration * (1.0 + l.gaps.cwiseAbs().maxCoeff()))) return false;
    if (l.springs()) return true;
    for (const std::vector<int>& subset : subsets) {
        if (subset.empty()) continue;
        Matrix rows(N.cols() + static_cast<Eigen::Index>(subset.size()), l.M.rows());
        rows.topRows(N.cols()) = N.transpose();
        for (std::size_t k = 0; k < subset.size(); ++k)
            rows.row(N.cols() + static_cast<Eigen::Index>(k)) =
                solve_columns(l.M, l.W.row(subset[k]).transpose()).transpose();
        if (row_rank(rows).rank < rows.rows()) return false;
    }
    return true;
}

/// A velocity v ∈ N that does not approach the touching contacts, if one of some candidates does not.
Vector leaving(const Linear& l, const Matrix& N) {
    const Spectrum s = vibrations(N.transpose() * l.K * N, N.transpose() * l.M * N);
    std::vector<Vector> candidates{N * s.smallest_direction, -(N * s.smallest_direction)};
    Vector sum = Vector::Zero(l.M.rows());
    for (Eigen::Index i = 0; i < l.W.rows(); ++i)
        if (l.touching[static_cast<std::size_t>(i)]) sum += solve_columns(l.M, l.W.row(i).transpose());
    if (sum.norm() > 0.0 && in_span(N, sum)) candidates.push_back(sum);
    for (Vector& v : candidates) {
        v /= v.cwiseAbs().maxCoeff();
        bool leaves = true;
        for (Eigen::Index i = 0; i < l.W.rows(); ++i)
            if (l.touching[static_cast<std::size_t>(i)]) leaves = leaves && l.W.row(i).dot(v) >= -negligible_approach;
        if (leaves) return v;
    }
    return candidates.front();
}

/// The energy that damping takes during some periods of the motion from (q, v), relative to its initial kinetic energy;
/// NaN if the motion cannot be simulated.
double loss_along(const model::Mechanics& m, const std::vector<double>& q, const Vector& v, double frequency,
                  ContactModel contacts) {
    integrate::Options o;
    o.t_end = frequency > 0.0 ? followed_phase / frequency : default_duration;
    o.start = trajectory::State{0.0, q, std::vector<double>(v.begin(), v.end())};
    long polls = 0;
    o.interrupted = [&] { return ++polls > max_polls; };
    const integrate::Method method = contacts == ContactModel::springs ? integrate::Method(integrate::Penalty{})
                                                                       : integrate::Method(integrate::EventDriven{});
    const trajectory::Trajectory motion = integrate::simulate(m, method, o);
    if (motion.status != trajectory::Status::completed) return std::nan("");
    model::Workspace workspace(m);
    const std::size_t n = q.size();
    std::vector<double> x(2 * n);
    const double T = m.system->energy(model::at(m, 0.0, q, o.start->u), workspace.scratch()).kinetic;
    double loss = 0.0;
    for (const trajectory::Arc& arc : motion.arcs)
        for (const ode::Dense& step : arc.steps) {
            for (const ode::StepPart part : ode::StepParts(step, arc.t_end))
                for (const double at : {0.2113248654051871, 0.7886751345948129}) {  // Gauss quadrature with two points
                    const double h = part.to - part.from;
                    step.evaluate(part.from + at * h, x.data(), static_cast<int>(2 * n));
                    const model::Energy e =
                        m.system->energy(model::at(m, 0.0, {x.data(), n}, {x.data() + n, n}), workspace.scratch());
                    loss += 0.5 * h * (e.damping - e.applied);
                }
        }
    return loss / T;
}

/// Damping that is not linear: the sign of its power at scattered velocities of all speeds.
Invariance sampled_damping(const model::Mechanics& m, const std::vector<double>& q) {
    model::Workspace workspace(m);
    Invariance out{Verdict::numerical, Scope::global, "", {}};
    for (int k = 0; k < sampled_velocities; ++k) {
        std::vector<double> u(q.size());
        const double speed = std::pow(10.0, k % speed_decades + slowest_decade);
        for (std::size_t i = 0; i < u.size(); ++i) u[i] = speed * scattered(k, i);
        const model::Energy e = m.system->energy(model::at(m, 0.0, q, u), workspace.scratch());
        const double power = e.damping - e.applied;
        if (power > 0.0 || e.kinetic == 0.0) continue;
        if (power < 0.0) {
            out = {Verdict::fails, Scope::inconclusive, "at the witness the forces supply energy", {}};
            out.witness.q = q;
            out.witness.u = u;
            out.witness.values = {{"power of damping", power}};
            return out;
        }
        out.verdict = Verdict::not_examined;
        out.scope = Scope::inconclusive;
        out.evidence =
            "damping is not linear, and some velocities are without loss: whether such a motion lasts is not decided";
        return out;
    }
    out.evidence = "damping is not linear; it dissipates at " + std::to_string(sampled_velocities) +
                   " sampled velocities of 1e-3 to 1e3 at the equilibrium";
    out.scope = Scope::local;
    return out;
}

/// The answer if the damping matrix alone decides: definite, indefinite, nonlinear or not symmetric. Nothing if it is
/// symmetric and only semidefinite; then u·Cu = 0 is equivalent to Cu = 0.
std::optional<Invariance> decided_by_damping(const Domain& domain, const Rest& rest, const Matrix& C) {
    Invariance out;
    if (domain.enclosure && domain.enclosure->linear_damping) {
        IntervalMatrix symmetric = domain.damping + transpose(domain.damping);
        if (symmetric.finite() && positive_definite(symmetric)) {
            out = {Verdict::proved, Scope::global, "damping is positive definite everywhere: u.Cu = 0 means u = 0", {}};
            return out;
        }
    }
    if (domain.enclosure && !domain.enclosure->linear_damping) return sampled_damping(domain.model, rest.q);
    const Matrix symmetric = 0.5 * (C + C.transpose());
    if (symmetric_spectrum(symmetric).smallest > 0.0) {
        out = {Verdict::numerical,
               Scope::local,
               "damping is positive definite at the equilibrium, which was examined alone",
               {}};
        return out;
    }
    if (symmetric_spectrum(symmetric).smallest < -semidefinite_tolerance * symmetric.cwiseAbs().maxCoeff()) {
        out.verdict = Verdict::fails;
        out.evidence = "damping is not positive semidefinite";
        const Spectrum s = symmetric_spectrum(symmetric);
        out.witness.q = rest.q;
        out.witness.u.assign(s.smallest_direction.begin(), s.smallest_direction.end());
        out.witness.values = {{"u.Cu", s.smallest}};
        return out;
    }
    if ((C - C.transpose()).cwiseAbs().maxCoeff() > symmetric_tolerance * C.cwiseAbs().maxCoeff()) {
        out.evidence = "the velocity gains are not symmetric: their gyroscopic part does not dissipate";
        return out;
    }
    return {};
}

/// The failure with a motion from (q_R, v) in a regime as witness. The regime is kept because the motion is small (then
/// v is scaled such that open contacts stay open), or for the reason `why_kept`. The loss of a nonlinear model is
/// tested by simulation.
Invariance undamped_motion(const Domain& domain, const Rest& rest, const Linear& l, const Regime& regime, Vector v,
                           const std::string& why_kept) {
    Invariance out;
    // The compressed springs of the regime belong to the stiffness of the motion.
    const double frequency2 = v.dot(l.stiffness_with(regime.contacts) * v) / v.dot(l.M * v);
    double size = 1.0;
    if (why_kept.empty())  // the amplitude v/ω uses at most half of each open gap and of each compressed spring
        for (Eigen::Index i = 0; i < l.W.rows(); ++i)
            if (const double reach = std::abs(l.W.row(i).dot(v));
                (l.springs() || !l.touching[static_cast<std::size_t>(i)]) && reach > 0.0)
                size = std::min(size, 0.5 * std::abs(l.gaps(i)) * std::sqrt(std::max(frequency2, 0.0)) / reach);
    v *= size;
    const double loss = domain.linear ? 0.0
                                      : loss_along(domain.model, rest.q, v * small_amplitude,
                                                   std::sqrt(std::max(0.0, frequency2)), l.contacts);
    const std::string closed = regime.contacts.empty() ? "free of contacts"
                                                       : "with " + listing(names(domain.model, regime.contacts)) +
                                                             (l.springs() ? " compressed" : " closed");
    if (!(std::abs(loss) <= negligible_loss)) {
        out.verdict = Verdict::not_examined;
        out.evidence = "to first order a motion " + closed + " is not damped; whether one lasts is not decided";
        return out;
    }
    out.verdict = Verdict::fails;
    out.evidence = (l.C.isZero() ? "there is no damping: a motion " : "a motion ") + closed +
                   (l.C.isZero() ? "" : " keeps the outputs at rest") + why_kept + ": " +
                   (frequency2 > 0.0 ? "it vibrates" : "it drifts") + " along the witness without loss" +
                   (domain.linear ? "" : ", by simulation");
    out.witness.q = rest.q;
    out.witness.u.assign(v.begin(), v.end());
    if (frequency2 > 0.0)
        out.witness.values = {{"frequency", std::sqrt(frequency2)}};
    else
        out.witness.values = {{"frequency squared", frequency2}};
    return out;
}

/// The answer if some regimes have undamped velocities. It fails if such a motion lasts: a small one about q_R, or one
/// that contacts do not lead out of. It holds if every such motion meets a contact that makes it damped.
Invariance with_undamped_regimes(const Domain& domain, const Rest& rest, const Linear& l,
                                 const std::vector<Regime>& undamped, const std::vector<std::vector<int>>& subsets) {
    for (const Regime& regime : undamped)
        if (at_rest_regime(l, regime.contacts)) {
            const Matrix K = l.stiffness_with(regime.contacts);
            const Spectrum s = vibrations(regime.undamped.transpose() * K * regime.undamped,
                                          regime.undamped.transpose() * l.M * regime.undamped);
            Vector v = regime.undamped * s.smallest_direction;
            return undamped_motion(domain, rest, l, regime, v / v.cwiseAbs().maxCoeff(), "");
        }
    const Regime& first = undamped.front();
    if (first.contacts.empty() && closed_under_contacts(l, first.undamped))
        return undamped_motion(domain, rest, l, first, leaving(l, first.undamped),
                               l.W.rows() > 0 ? ", and contacts do not change that" : "");
    Invariance out;
    if (domain.linear && undamped.size() == 1 && first.contacts.empty() &&
        ends_at_contacts(l, first.undamped, subsets)) {
        out.verdict = Verdict::numerical;
        out.scope = Scope::global;
        out.evidence = "free motions that the outputs do not observe meet a contact; after it the outputs observe them";
        return out;
    }
    out.evidence = "the outputs do not observe some motions " +
                   (first.contacts.empty() ? std::string("free of contacts")
                                           : "with " + listing(names(domain.model, first.contacts))) +
                   "; whether one lasts is not decided";
    return out;
}

}  // namespace

Invariance only_rest_is_undamped(const Domain& domain, Statics& statics, const Rest& rest, ContactModel contacts) {
    const Matrix C = damping_at(domain.model, rest.q);
    if (const std::optional<Invariance> decided = decided_by_damping(domain, rest, C)) return *decided;
    const Linear l(domain, statics, rest, contacts, 0.5 * (C + C.transpose()));
    std::vector<std::vector<int>> subsets =
        contact_subsets(domain, contacts, static_cast<std::size_t>(domain.model.size()));
    if (!domain.linear)  // near the equilibrium only the contacts that touch there matter
        std::erase_if(subsets, [&](const std::vector<int>& s) {
            return std::any_of(s.begin(), s.end(), [&](int i) { return !l.touching[static_cast<std::size_t>(i)]; });
        });
    Invariance out;
    if (subsets.size() >= max_combinations) {
        out.evidence = "there are too many combinations of contacts";
        return out;
    }
    bool proved = domain.linear && domain.enclosure != nullptr;
    std::vector<Regime> undamped;
    for (const std::vector<int>& subset : subsets) {
        Matrix basis = unobserved(l.M, l.stiffness_with(subset), l.C, l.directions_with(subset));
        if (basis.cols() > 0)
            undamped.push_back({subset, std::move(basis)});
        else
            proved = proved && proved_regime(domain, subset, contacts);
    }
    if (!undamped.empty()) return with_undamped_regimes(domain, rest, l, undamped, subsets);
    const std::string which = counted(subsets.size(), "combination") + " of contacts";
    out.verdict = proved ? Verdict::proved : Verdict::numerical;
    out.scope = domain.linear ? Scope::global : Scope::local;
    out.evidence = domain.linear ? "the outputs observe every velocity in all " + which
                                 : "linearised at the equilibrium the outputs observe every velocity in all " + which +
                                       " that touch there";
    return out;
}

}  // namespace saltus::control
