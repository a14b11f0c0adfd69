// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/regulation/detail/regulation_invariance.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/integrate/simulate.hpp"

namespace saltus::control {

using namespace saltus::proof;

namespace {

/// C of f^nc = f − ∂R/∂u at rest, by the exact derivatives of the forces.
Matrix damping_at(const model::Model& m, const std::vector<double>& q) {
    const std::unique_ptr<model::Jacobians> jacobians = m.system->jacobians();
    const std::vector<double> zero(q.size(), 0.0), lambda(static_cast<std::size_t>(m.layout().row_count()), 0.0);
    const model::Pattern& pattern = jacobians->pattern(model::Function::residual);
    std::vector<double> values(pattern.size());
    jacobians->evaluate(model::Function::residual, model::at(m, 0.0, q, zero), zero, lambda, values);
    return -model::dense(pattern, values).middleCols(1 + m.size(), m.size());
}

std::vector<std::string> names(const model::Model& m, const std::vector<int>& subset) {
    std::vector<std::string> list;
    for (const int i : subset) list.push_back(m.contacts[static_cast<std::size_t>(i)].name);
    return list;
}

/// C Z, C Z A, C Z A², … one below the other, with A of size about 1.
Matrix observability(const Matrix& C, const Matrix& Z, const Matrix& A) {
    const Eigen::Index d = Z.cols();
    const double size = std::max(A.cwiseAbs().rowwise().sum().maxCoeff(), 1e-300);
    Matrix O(C.rows() * d, d), block = C * Z;
    for (Eigen::Index k = 0; k < d; ++k) {
        O.middleRows(k * C.rows(), C.rows()) = block;
        block = block * A / size;
    }
    return O;
}

/// Velocities with Cv = 0 that the motion with these contacts held keeps: columns that span them.
Matrix unobserved(const Matrix& M, const Matrix& K, const Matrix& C, const Matrix& Z) {
    if (Z.cols() == 0) return Matrix(M.rows(), 0);
    const Matrix A = solve_columns(Z.transpose() * M * Z, Z.transpose() * K * Z);
    return Z * kernel(observability(C, Z, A), Z.cols());
}

bool in_span(const Matrix& N, const Vector& v) { return (v - N * (N.transpose() * v)).norm() <= 1e-9 * v.norm(); }

/// The same question in intervals: proved that there is none.
bool proved_none(const IntervalMatrix& M, const IntervalMatrix& K, const IntervalMatrix& C, const IntervalMatrix& W) {
    const std::optional<IntervalMatrix> T = tangents(W, M.rows());
    if (!T) return false;
    const int d = T->cols();
    if (d == 0) return true;
    const IntervalMatrix Tt = transpose(*T);
    const std::optional<IntervalMatrix> A = solve(Tt * M * *T, Tt * K * *T);
    if (!A) return false;
    const double size = std::max(A->middle().cwiseAbs().rowwise().sum().maxCoeff(), 1e-300);
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
bool proved_regime(const Domain& domain, const std::vector<int>& subset, bool springs) {
    const model::Model& m = domain.model;
    const int n = m.size();
    IntervalMatrix K = domain.hessian, held(0, n);
    std::vector<int> rows;
    for (const int i : subset) rows.push_back(m.contacts[static_cast<std::size_t>(i)].row);
    if (!springs) {
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

/// What linear motions are made of.
struct Linear {
    Matrix M, K, C, W;                    ///< W: one row a contact
    Vector force;                         ///< at q_R
    std::vector<bool> support, touching;  ///< of contacts at q_R
    bool strict = true;                   ///< all that touch push
};

/// One combination of contacts that are held (or pressed), with the velocities that it does not damp.
struct Regime {
    std::vector<int> contacts;
    Matrix unseen;
};

bool at_rest_regime(const Linear& l, const std::vector<int>& contacts) {
    for (std::size_t i = 0; i < l.support.size(); ++i) {
        const bool in = std::find(contacts.begin(), contacts.end(), static_cast<int>(i)) != contacts.end();
        if (in != l.support[i]) return false;
    }
    return l.strict;
}

/// Impacts (and springs) do not lead out of the unseen velocities N of free motion: M⁻¹w ∈ N, or wᵀN = 0 for a contact
/// that does not carry q_R. Then any motion in q_R + N stays there.
bool closed_under_contacts(const Linear& l, const Matrix& N) {
    for (Eigen::Index i = 0; i < l.W.rows(); ++i) {
        const Vector w = l.W.row(i).transpose();
        const bool passes = (N.transpose() * w).norm() <= 1e-9 * w.norm();
        if (passes && !l.support[static_cast<std::size_t>(i)]) continue;
        if (!in_span(N, solve_columns(l.M, w))) return false;
    }
    return true;
}

/// Nothing but rest is without loss although free motions in N are not seen: they vibrate about a position that the
/// contacts do not allow, so that they meet one; and no impulse leads from N to N.
bool ends_at_contacts(const Linear& l, const Matrix& N, const Vector& gaps,
                      const std::vector<std::vector<int>>& subsets, bool springs) {
    if (!(vibrations(N.transpose() * l.K * N, N.transpose() * l.M * N).smallest > 0.0)) return false;
    if (row_rank(l.K).rank < l.K.rows()) return false;
    const Vector centre = solve_columns(l.K, l.force);  // of free motion, from q_R
    const Vector there = gaps + l.W * centre;
    if (!(there.minCoeff() < -1e-9 * (1.0 + gaps.cwiseAbs().maxCoeff()))) return false;
    if (springs) return true;
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

/// v ∈ N that leaves the contacts that touch, or keeps them.
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
            if (l.touching[static_cast<std::size_t>(i)]) leaves = leaves && l.W.row(i).dot(v) >= -1e-12;
        if (leaves) return v;
    }
    return candidates.front();
}

/// Work of damping over some periods of the motion from (q, v), of the kinetic energy at its start; NaN where it cannot
/// be followed.
double loss_along(const model::Model& m, const std::vector<double>& q, const Vector& v, double frequency,
                  bool springs) {
    integrate::Options o;
    o.t_end = frequency > 0.0 ? 20.0 / frequency : 1.0;
    o.start = trajectory::State{0.0, q, std::vector<double>(v.begin(), v.end())};
    long asked = 0;
    o.interrupted = [&] { return ++asked > 200'000; };
    const integrate::Method method =
        springs ? integrate::Method(integrate::Penalty{}) : integrate::Method(integrate::EventDriven{});
    const trajectory::Trajectory motion = integrate::simulate(m, method, o);
    if (motion.status != trajectory::Status::completed) return std::nan("");
    model::Workspace workspace(m);
    const std::size_t n = q.size();
    std::vector<double> x(2 * n);
    const double T = m.system->energy(model::at(m, 0.0, q, o.start->u), workspace.scratch()).kinetic;
    double loss = 0.0;
    for (const trajectory::Arc& arc : motion.arcs)
        for (const ode::Dense& step : arc.steps) {
            const double h = std::min(step.t_new(), arc.t_end) - step.t_old();
            for (const double at : {0.2113248654051871, 0.7886751345948129}) {
                step.evaluate(step.t_old() + at * h, x.data(), static_cast<int>(2 * n));
                const model::Energy e =
                    m.system->energy(model::at(m, 0.0, {x.data(), n}, {x.data() + n, n}), workspace.scratch());
                loss += 0.5 * h * (e.damping - e.applied);
            }
        }
    return loss / T;
}

/// Damping that is not linear: its power over directions and speeds.
Invariance sampled_damping(const model::Model& m, const std::vector<double>& q) {
    model::Workspace workspace(m);
    Invariance out{Verdict::holds, Scope::global, "", {}};
    for (int k = 0; k < 2000; ++k) {
        std::vector<double> u(q.size());
        const double speed = std::pow(10.0, k % 7 - 3);
        for (std::size_t i = 0; i < u.size(); ++i) {
            const double x = 0.5 + 0.6180339887498949 * k * (1.0 + 0.7548776662466927 * static_cast<double>(i));
            u[i] = speed * (2.0 * (x - std::floor(x)) - 1.0);
        }
        const model::Energy e = m.system->energy(model::at(m, 0.0, q, u), workspace.scratch());
        const double power = e.damping - e.applied;
        if (power > 0.0 || e.kinetic == 0.0) continue;
        if (power < 0.0) {
            out = {Verdict::fails, Scope::inconclusive, "at the witness the forces bring energy in", {}};
            out.witness.q = q;
            out.witness.u = u;
            out.witness.values = {{"power of damping", power}};
            return out;
        }
        out.verdict = Verdict::assumed;
        out.scope = Scope::inconclusive;
        out.evidence =
            "damping is not linear, and some velocities are without loss: nothing here decides whether they last";
        return out;
    }
    out.evidence = "damping is not linear; at all velocities looked at it takes energy out";
    return out;
}

}  // namespace

Invariance only_rest_is_undamped(const Domain& domain, Statics& statics, const Rest& rest, ContactModel contacts) {
    const model::Model& m = domain.model;
    const int n = m.size();
    Invariance out;
    const bool springs = contacts == ContactModel::springs;
    const Matrix C = damping_at(m, rest.q);
    // Damping in every direction: nothing moves without loss.
    if (domain.enclosure && domain.enclosure->linear_damping) {
        IntervalMatrix symmetric = domain.damping + transpose(domain.damping);
        if (symmetric.finite() && positive_definite(symmetric)) {
            out = {Verdict::proved, Scope::global, "damping is positive definite everywhere: u.Cu = 0 means u = 0", {}};
            return out;
        }
    }
    if (domain.enclosure && !domain.enclosure->linear_damping) return sampled_damping(m, rest.q);
    if (symmetric_spectrum(0.5 * (C + C.transpose())).smallest > 0.0) {
        out = {Verdict::holds, Scope::local, "damping is positive definite at the equilibrium", {}};
        return out;
    }
    // u·Cu = 0 means Cu = 0 for the symmetric, semidefinite part.
    const Matrix symmetric = 0.5 * (C + C.transpose());
    if (symmetric_spectrum(symmetric).smallest < -1e-12 * symmetric.cwiseAbs().maxCoeff()) {
        out.verdict = Verdict::fails;
        out.evidence = "damping is not positive semidefinite";
        const Spectrum s = symmetric_spectrum(symmetric);
        out.witness.q = rest.q;
        out.witness.u.assign(s.smallest_direction.begin(), s.smallest_direction.end());
        out.witness.values = {{"u.Cu", s.smallest}};
        return out;
    }
    if ((C - C.transpose()).cwiseAbs().maxCoeff() > 1e-12 * C.cwiseAbs().maxCoeff()) {
        out.evidence = "the gains of velocities are not symmetric: they turn motions without damping them";
        return out;
    }
    statics.at(rest.q);
    const Matrix K0 = statics.stiffness(springs ? Vector::Zero(statics.rows()) : rest.lambda);
    Linear l{
        statics.mass(), 0.5 * (K0 + K0.transpose()), symmetric, Matrix(domain.contacts(), n), statics.force(), {}, {},
        rest.strict};
    Vector gaps(domain.contacts());
    for (int i = 0; i < domain.contacts(); ++i) {
        const int row = m.contacts[static_cast<std::size_t>(i)].row;
        l.W.row(i) = statics.gradients().row(row);
        gaps(i) = statics.positions()(row);
        l.support.push_back(rest.lambda(row) > 0.0);
        l.touching.push_back(std::find(rest.closed.begin(), rest.closed.end(), row) != rest.closed.end());
    }
    std::vector<std::vector<int>> subsets = contact_subsets(domain, contacts, static_cast<std::size_t>(n));
    if (!domain.linear)  // near the equilibrium: only contacts that touch there
        std::erase_if(subsets, [&](const std::vector<int>& s) {
            return std::any_of(s.begin(), s.end(), [&](int i) { return !l.touching[static_cast<std::size_t>(i)]; });
        });
    if (subsets.size() >= most_combinations) {
        out.evidence = "there are more combinations of contacts than are looked at";
        return out;
    }
    bool proved = domain.linear && domain.enclosure != nullptr;
    std::vector<Regime> bad;
    for (const std::vector<int>& subset : subsets) {
        Matrix K = l.K, held(springs ? 0 : static_cast<Eigen::Index>(subset.size()), n);
        for (std::size_t k = 0; k < subset.size(); ++k) {
            const Eigen::Index i = subset[k];
            if (springs)
                K += l.W.row(i).transpose() * l.W.row(i) /
                     statics.compliance()(m.contacts[static_cast<std::size_t>(i)].row);
            else
                held.row(static_cast<Eigen::Index>(k)) = l.W.row(i);
        }
        Matrix unseen = unobserved(l.M, K, symmetric, kernel(held, n));
        if (unseen.cols() > 0)
            bad.push_back({subset, std::move(unseen)});
        else
            proved = proved && proved_regime(domain, subset, springs);
    }
    if (bad.empty()) {
        const std::string which = counted(subsets.size(), "combination") + " of contacts";
        out.verdict = proved ? Verdict::proved : Verdict::holds;
        out.scope = domain.linear ? Scope::global : Scope::local;
        out.evidence = domain.linear ? "the outputs observe every velocity in all " + which
                                     : "linearised at the equilibrium the outputs observe every velocity in all " +
                                           which + " that touch there";
        return out;
    }
    // A motion without loss that lasts: small ones around q_R, or those that contacts keep among themselves.
    const auto witness = [&](const Regime& regime, Vector v, const std::string& how) {
        const double frequency2 = v.dot(l.K * v) / v.dot(l.M * v);
        double size = 1.0;  // of small motions: other contacts stay open, and forces positive
        if (how.empty())
            for (Eigen::Index i = 0; i < l.W.rows(); ++i)
                if (const double reach = std::abs(l.W.row(i).dot(v));
                    !l.touching[static_cast<std::size_t>(i)] && reach > 0.0)
                    size = std::min(size, 0.5 * gaps(i) * std::sqrt(std::max(frequency2, 0.0)) / reach);
        v *= size;
        const double loss =
            domain.linear ? 0.0 : loss_along(m, rest.q, v * 1e-2, std::sqrt(std::max(0.0, frequency2)), springs);
        const std::string closed =
            regime.contacts.empty() ? "free of contacts"
                                    : "with " + listing(names(m, regime.contacts)) + (springs ? " pressed" : " closed");
        if (!(std::abs(loss) <= 1e-9)) {
            out.verdict = Verdict::assumed;
            out.evidence = "to first order a motion " + closed + " is not damped; whether one lasts is not decided";
            return out;
        }
        out.verdict = Verdict::fails;
        out.evidence = (symmetric.isZero() ? "nothing damps: a motion " : "a motion ") + closed +
                       (symmetric.isZero() ? "" : " keeps the outputs still") + how + ": " +
                       (frequency2 > 0.0 ? "it vibrates" : "it drifts") + " along the witness without loss" +
                       (domain.linear ? "" : ", followed numerically");
        out.witness.q = rest.q;
        out.witness.u.assign(v.begin(), v.end());
        if (frequency2 > 0.0)
            out.witness.values = {{"frequency", std::sqrt(frequency2)}};
        else
            out.witness.values = {{"frequency squared", frequency2}};
        return out;
    };
    for (const Regime& regime : bad)
        if (at_rest_regime(l, regime.contacts)) {
            Matrix K = l.K;
            if (springs)
                for (const int i : regime.contacts)
                    K += l.W.row(i).transpose() * l.W.row(i) /
                         statics.compliance()(m.contacts[static_cast<std::size_t>(i)].row);
            const Spectrum s = vibrations(regime.unseen.transpose() * K * regime.unseen,
                                          regime.unseen.transpose() * l.M * regime.unseen);
            Vector v = regime.unseen * s.smallest_direction;
            return witness(regime, v / v.cwiseAbs().maxCoeff(), "");
        }
    if (bad.front().contacts.empty() && closed_under_contacts(l, bad.front().unseen))
        return witness(bad.front(), leaving(l, bad.front().unseen),
                       l.W.rows() > 0 ? ", and contacts do not change that" : "");
    if (domain.linear && bad.size() == 1 && bad.front().contacts.empty() &&
        ends_at_contacts(l, bad.front().unseen, gaps, subsets, springs)) {
        out.verdict = Verdict::holds;
        out.scope = Scope::global;
        out.evidence = "free motions that the outputs do not see come to a contact, which makes them seen";
        return out;
    }
    out.evidence = "the outputs do not see some motions " +
                   (bad.front().contacts.empty() ? std::string("free of contacts")
                                                 : "with " + listing(names(m, bad.front().contacts))) +
                   "; whether one lasts is not decided";
    return out;
}

}  // namespace saltus::control
