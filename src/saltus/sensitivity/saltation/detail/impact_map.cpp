// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/saltation/detail/impact_map.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "saltus/base/index.hpp"
#include "saltus/model/model.hpp"
#include "saltus/solvers/linear/dense_lu.hpp"

namespace saltus::sensitivity {

namespace {

using impact::ImpactLaw;
using integrate::ElementLayout;
using integrate::FrictionPart;
using integrate::RecordedImpact;
using model::Function;
using solvers::LawKind;
using trajectory::ElementKind;
using RowVector = Eigen::RowVectorXd;

/// Impulses and velocities below this part of the largest ones are nothing.
constexpr double nothing = 1e-9;

/// Velocities of an instant and their derivatives.
struct Instant {
    Vector u;
    Matrix du;      // n × columns
    Vector gamma;   // all rows of the model
    Matrix dgamma;  // the same, rows × columns
};

class Course {
public:
    Course(Tangent& tangent, double t, const double* q, const RecordedImpact& impact)
        : x_(tangent), d_(tangent.dynamics), t_(t), n_(tangent.n()), impact_(impact), q_(q, q + n_) {
        const model::Layout& layout = x_.model().layout();
        const std::vector<double> state = state_with(Eigen::Map<const Vector>(impact.u_minus.data(), n_));
        d_.evaluate_terms(t_, state.data());
        d_.factorise_mass();
        if (layout.coefficients > 0)
            x_.linearised.gather(Function::coefficient, t_, state.data(), {}, {}, coefficient_);
        before_.u = Eigen::Map<const Vector>(impact.u_minus.data(), n_);
        before_.du = x_.state_identity().bottomRows(n_);
        complete(before_);
        W_ = velocity_.middleCols(1 + n_, n_);  // ∂γ/∂u
        const auto m = static_cast<Eigen::Index>(impact.rows.size());
        rows_.resize(m, n_);
        for (Eigen::Index k = 0; k < m; ++k) rows_.row(k) = W_.row(impact.rows[ix(k)]);
        inverse_rows_ = rows_.transpose();
        for (Eigen::Index k = 0; k < m; ++k) d_.mass().solve({inverse_rows_.col(k).data(), ix(n_)});
        largest_gamma_ = 0.0;
        for (const int row : impact.rows) largest_gamma_ = std::max(largest_gamma_, std::abs(before_.gamma(row)));
    }

    ImpactDerivative run() {
        const auto m = static_cast<Eigen::Index>(impact_.rows.size());
        const Vector e = Eigen::Map<const Vector>(impact_.e.data(), m);
        const Matrix de = restitution_derivatives(e);
        const Vector Lambda = Eigen::Map<const Vector>(impact_.Lambda.data(), m);
        switch (impact_.law) {
            case ImpactLaw::newton: {
                const Phase p = phase(before_, Lambda, e, de, {});
                out_.velocity = p.after.du;
                break;
            }
            case ImpactLaw::poisson: poisson(Lambda, e, de); break;
            case ImpactLaw::energy: energy(e, de); break;
        }
        if (out_.exists && !out_.velocity.allFinite()) fail("its equations are singular");
        return std::move(out_);
    }

private:
    struct Phase {
        Instant after;  // γ and δγ with δΛ = 0
        Matrix dLambda;
    };
    /// Normal impulses that are given: e times those of compression.
    struct Prescribed {
        std::vector<char> held;  // blocks
        Matrix change;           // rows × columns; those of held normals count
    };

    void fail(std::string why) {
        out_.exists = false;
        if (out_.why_not.empty()) out_.why_not = std::move(why);
    }

    std::vector<double> state_with(const Vector& u) const {
        std::vector<double> x(q_);
        x.insert(x.end(), u.data(), u.data() + u.size());
        x.push_back(0.0);
        return x;
    }

    /// γ and δγ from u and δu.
    void complete(Instant& at) {
        const std::vector<double> state = state_with(at.u);
        x_.linearised.gather(Function::velocity, t_, state.data(), {}, {}, velocity_);
        const model::Pattern& W = x_.model().layout().rows;
        at.gamma.resize(W.rows);
        for (int r = 0; r < W.rows; ++r)
            at.gamma(r) = model::row_dot(W, d_.terms().W, r, {at.u.data(), ix(n_)}) + d_.terms().chi[ix(r)];
        at.dgamma = velocity_;
        at.dgamma.middleCols(1 + n_, n_).setZero();
        at.dgamma += velocity_.middleCols(1 + n_, n_) * at.du;
    }

    std::string name_of(int element) const {
        const ElementLayout& e = d_.elements()[ix(element)];
        const model::Model& m = x_.model();
        switch (e.rows.kind) {
            case ElementKind::contact: return m.contacts[ix(e.rows.index)].name;
            case ElementKind::constraint: return m.constraints[ix(e.rows.index)].name;
            case ElementKind::slider: return m.sliders[ix(e.rows.index)].name;
            case ElementKind::clutch: return m.clutches[ix(e.rows.index)].name;
        }
        return {};
    }

    Matrix restitution_derivatives(const Vector& e) const {
        Matrix de = Matrix::Zero(e.size(), x_.columns());
        for (std::size_t b = 0; b + 1 < impact_.start.size(); ++b) {
            const ElementLayout& element = d_.elements()[ix(impact_.owner[b])];
            if (element.rows.kind != ElementKind::contact) continue;
            const model::Contact& c = x_.model().contacts[ix(element.rows.index)];
            for (int k = impact_.start[b]; k < impact_.start[b + 1]; ++k) {
                const int row = impact_.rows[ix(k)];
                if (row != element.rows.normal) {
                    if (c.e_t != model::no_coefficient) de.row(k) = coefficient_.row(c.e_t);
                } else if (e(k) > 0.0 || before_.gamma(row) < 0.0) {
                    if (c.c != model::no_coefficient) {
                        if (e(k) > 0.0)  // 1 − c v with v = −γ⁻
                            de.row(k) = before_.gamma(row) * coefficient_.row(c.c) +
                                        d_.coefficients()[ix(c.c)] * before_.dgamma.row(row);
                    } else if (c.e_n != model::no_coefficient) {
                        de.row(k) = coefficient_.row(c.e_n);
                    }
                }
            }
        }
        return de;
    }

    /// ∂(WΛ − M a) with Λ and a held, n × columns.
    Matrix load_derivative(const Vector& a, const Vector& Lambda) {
        const model::Layout& layout = x_.model().layout();
        std::vector<double> acceleration(a.data(), a.data() + n_), lambda(ix(layout.row_count()), 0.0);
        for (Eigen::Index k = 0; k < Lambda.size(); ++k) lambda[ix(impact_.rows[ix(k)])] += Lambda(k);
        const std::vector<double> state = state_with(before_.u);
        Matrix with, without;
        x_.linearised.gather(Function::residual, t_, state.data(), acceleration, lambda, with);
        std::fill(acceleration.begin(), acceleration.end(), 0.0);
        std::fill(lambda.begin(), lambda.end(), 0.0);
        x_.linearised.gather(Function::residual, t_, state.data(), acceleration, lambda, without);
        return with - without;
    }

    Matrix solved_by_mass(Matrix right) const {
        for (Eigen::Index c = 0; c < right.cols(); ++c) d_.mass().solve({right.col(c).data(), ix(n_)});
        return right;
    }

    /// S⁻¹ right; the smallest solution where contacts depend on each other.
    Matrix solved(const Matrix& S, const Matrix& right) {
        const auto m = static_cast<int>(S.rows());
        lu_.clear(m);
        for (int i = 0; i < m; ++i)
            for (int k = 0; k < m; ++k) lu_.at(i, k) = S(i, k);
        const bool regular = lu_.factorise();
        double least = 0.0, most = 0.0;
        for (int i = 0; i < m && regular; ++i) {
            const double pivot = std::abs(lu_.at(i, i));
            least = i == 0 ? pivot : std::min(least, pivot);
            most = std::max(most, pivot);
        }
        if (!regular || least < 1e-6 * most) {
            // Others, for those who depend on which: small in terms of growing units.
            Matrix units = Matrix::Zero(m, m);
            for (int i = 0; i < m; ++i) units(i, i) = 1.0 + i;
            others_ = units * least_squares_columns(S * units, right, 1e-13);
            return least_squares_columns(S, right, 1e-13);
        }
        others_.resize(0, 0);
        Matrix x(m, right.cols());
        for (Eigen::Index c = 0; c < right.cols(); ++c)
            lu_.solve({right.col(c).data(), ix(m)}, {x.col(c).data(), ix(m)});
        return x;
    }

    /// One contact problem: from velocities and impulses to the derivatives of the velocities after it. `e` acts on
    /// the velocities before the impact.
    Phase phase(const Instant& from, const Vector& Lambda, const Vector& e, const Matrix& de,
                const Prescribed& prescribed) {
        const auto m = static_cast<Eigen::Index>(impact_.rows.size());
        Phase p;
        p.after.u = from.u + inverse_rows_ * Lambda;
        const Matrix known = from.du + solved_by_mass(load_derivative(p.after.u - from.u, Lambda));  // δu⁺ with δΛ = 0
        p.after.du = known;
        complete(p.after);
        const Matrix D = rows_ * inverse_rows_;
        Matrix S = Matrix::Zero(m, m), right = Matrix::Zero(m, x_.columns());
        // ξ = γ⁺ + e γ⁻ and what is known of its derivative
        Vector xi(m);
        Matrix dxi(m, x_.columns());
        for (Eigen::Index k = 0; k < m; ++k) {
            const int row = impact_.rows[ix(k)];
            xi(k) = p.after.gamma(row) + e(k) * before_.gamma(row);
            dxi.row(k) = p.after.dgamma.row(row) + e(k) * before_.dgamma.row(row) + before_.gamma(row) * de.row(k);
        }
        const double zero_Lambda = nothing * std::max(Lambda.cwiseAbs().maxCoeff(), 1e-300);
        const double zero_xi = nothing * std::max(largest_gamma_, 1e-300);
        std::vector<std::pair<Eigen::Index, int>> edges;  // rows at the edge of their law, whose
        std::vector<Eigen::Index> resting, spent;  // rows at rest; first rows of friction that could not hold more
        const auto at_rest = [&](Eigen::Index k) {
            resting.push_back(k);
            S.row(k) = D.row(k);
            right.row(k) = -dxi.row(k);
        };
        const auto without_impulse = [&](Eigen::Index k) { S(k, k) = 1.0; };
        const auto friction = [&](int part_number, Eigen::Index k0, Eigen::Index normal, double sign, bool edge) {
            const FrictionPart& part = d_.parts()[ix(part_number)];
            const int size = part.size;
            const double load = sign * Lambda(normal), speed = xi.segment(k0, size).norm();
            const bool frictionless = part.frictionless();
            double used = Lambda.segment(k0, size).norm() / std::max(part.mu * load, 1e-300);
            if (part.shape == FrictionPart::Shape::ellipse)
                used = std::hypot(Lambda(k0) / (part.mu * load), Lambda(k0 + 1) / (part.mu_second * load));
            const bool full = part.shape != FrictionPart::Shape::patch && used > 1.0 - 1e-9;
            if (speed <= zero_xi && !frictionless) {
                for (int i = 0; i < size; ++i) {
                    at_rest(k0 + i);
                    if (edge) edges.emplace_back(k0 + i, part.element);
                }
                if (!edge && full) spent.push_back(k0);
                return;
            }
            if (speed <= zero_xi) {
                for (int i = 0; i < size; ++i) without_impulse(k0 + i);
                return;
            }
            // δΛ_T = −∇σ δ|Λ_N| − |Λ_N| (∇²σ δξ + ∂∇σ/∂μ δμ)
            integrate::SlipDirection direction{};
            for (int i = 0; i < size; ++i) direction[ix(i)] = xi(k0 + i) / speed;
            const Vector slip = xi.segment(k0, size);
            double gradient[3];
            d_.slip_gradient(part, direction, slip.data(), gradient);
            const Matrix change =
                d_.slip_gradient_derivative(part, direction, slip.data(), dxi.middleRows(k0, size), coefficient_);
            const Matrix hessian = d_.slip_gradient_derivative(
                part, direction, slip.data(), Matrix::Identity(size, size), Matrix::Zero(coefficient_.rows(), size));
            for (int i = 0; i < size; ++i) {
                S.row(k0 + i) = load * hessian.row(i) * D.middleRows(k0, size);
                S(k0 + i, k0 + i) += 1.0;
                S(k0 + i, normal) += sign * gradient[i];
                right.row(k0 + i) = -load * change.row(i);
            }
        };
        for (std::size_t b = 0; b + 1 < impact_.start.size(); ++b) {
            const Eigen::Index k0 = impact_.start[b];
            const int owner = impact_.owner[b];
            const ElementLayout& element = d_.elements()[ix(owner)];
            const solvers::Law& law = impact_.laws[b];
            if (law.kind == LawKind::bilateral) {
                at_rest(k0);
                continue;
            }
            if (law.kind == LawKind::scaled_slider) {
                for (const int k : element.part_numbers())
                    if (d_.parts()[ix(k)].row == impact_.rows[ix(k0)])
                        friction(k, k0, law.row, Lambda(law.row) < 0.0 ? -1.0 : 1.0, false);
                continue;
            }
            const bool held = !prescribed.held.empty() && prescribed.held[b] != 0;
            const bool presses = Lambda(k0) > zero_Lambda;
            const bool edge = !held && !presses && std::abs(xi(k0)) <= zero_xi;
            if (held) {
                S(k0, k0) = 1.0;
                right.row(k0) = prescribed.change.row(k0);
            } else if (presses || edge) {
                at_rest(k0);
                if (edge) edges.emplace_back(k0, owner);
            } else {
                for (Eigen::Index k = k0; k < impact_.start[b + 1]; ++k) without_impulse(k);
                continue;
            }
            for (const int k : element.part_numbers())
                friction(k, k0 + 1 + d_.parts()[ix(k)].row - element.rows.first_slip, k0, 1.0, edge);
        }
        for (const Eigen::Index k : spent)
            if (holds_alone(k, resting)) fail("friction is at the edge between sticking and slipping");
        if (m > 0) {
            p.dLambda = solved(S, right);
            const Matrix defect = S * p.dLambda - right;
            for (Eigen::Index k = 0; k < m; ++k)
                if (defect.row(k).cwiseAbs().maxCoeff() > 1e-9 * (1.0 + right.row(k).cwiseAbs().maxCoeff()))
                    out_.conditions.push_back(
                        {defect.row(k), "contacts that depend on each other would no longer do so"});
            for (const auto& [k, owner] : edges)
                if (p.dLambda.row(k).cwiseAbs().maxCoeff() > 1e-9)
                    out_.conditions.push_back(
                        {p.dLambda.row(k), "'" + name_of(owner) + "' rests, and takes part on one side alone"});
            p.after.du = known + inverse_rows_ * p.dLambda;
        } else {
            p.dLambda.setZero(0, x_.columns());
        }
        return p;
    }

    /// Whether the others at rest could not do without this row: otherwise they can take over what it bears.
    bool holds_alone(Eigen::Index row, const std::vector<Eigen::Index>& resting) const {
        Matrix all(static_cast<Eigen::Index>(resting.size()), n_);
        Eigen::Index k = 0;
        for (const Eigen::Index r : resting)
            if (r != row) all.row(k++) = rows_.row(r);
        all.row(k) = rows_.row(row);
        const std::vector<int> independent = row_rank(all, 1e-9).independent;
        return std::find(independent.begin(), independent.end(), static_cast<int>(k)) != independent.end();
    }

    void poisson(const Vector& Lambda, const Vector& e, const Matrix& de) {
        const Eigen::Index m = Lambda.size();
        const Vector none = Vector::Zero(m);
        const Vector compression = Eigen::Map<const Vector>(impact_.compression.data(), m);
        const Phase first = phase(before_, compression, none, Matrix::Zero(m, x_.columns()), {});
        out_.velocity = first.after.du;
        if (impact_.held.empty()) return;
        const Matrix others = others_;
        Prescribed prescribed{impact_.held, Matrix::Zero(m, x_.columns())};
        Vector tangential = e;
        Matrix dtangential = de;
        for (std::size_t b = 0; b + 1 < impact_.start.size(); ++b) {
            const Eigen::Index k = impact_.start[b];
            if (impact_.laws[b].kind == LawKind::bilateral || impact_.laws[b].kind == LawKind::scaled_slider) continue;
            prescribed.change.row(k) = e(k) * first.dLambda.row(k) + compression(k) * de.row(k);
            tangential(k) = 0.0;  // of the normal nothing is left to restitution
            dtangential.row(k).setZero();
        }
        out_.velocity = phase(first.after, Lambda - compression, tangential, dtangential, prescribed).after.du;
        if (others.size() == 0) return;
        for (std::size_t b = 0; b + 1 < impact_.start.size(); ++b) {
            const Eigen::Index k = impact_.start[b];
            if (impact_.held[b] != 0) prescribed.change.row(k) += e(k) * (others.row(k) - first.dLambda.row(k));
        }
        const Matrix otherwise = phase(first.after, Lambda - compression, tangential, dtangential, prescribed).after.du;
        if ((otherwise - out_.velocity).cwiseAbs().maxCoeff() > 1e-9 * (1.0 + out_.velocity.cwiseAbs().maxCoeff()))
            fail("the impulses of compression are not unique, and Poisson's expansion depends on them");
    }

    /// T(s) = ½ (u⁻ + sΔ)ᵀM(u⁻ + sΔ) = e² T⁻ with Δ = u_C − u⁻ from the inelastic collision.
    void energy(const Vector& e, const Matrix& de) {
        const Eigen::Index m = e.size();
        const Vector compression = Eigen::Map<const Vector>(impact_.compression.data(), m);
        const Phase inelastic = phase(before_, compression, Vector::Zero(m), Matrix::Zero(m, x_.columns()), {});
        const Vector jump = inelastic.after.u - before_.u;
        const Matrix djump = inelastic.after.du - before_.du;
        const Matrix M = model::dense_symmetric(x_.model().layout().mass, d_.terms().M);
        const auto dM = [&](const Vector& a, const Vector& b) -> RowVector {  // bᵀ δM a
            return -b.transpose() * load_derivative(a, Vector::Zero(m));
        };
        const double a = 0.5 * jump.dot(M * jump), b = before_.u.dot(M * jump), T = 0.5 * before_.u.dot(M * before_.u);
        const RowVector da = jump.transpose() * M * djump + 0.5 * dM(jump, jump);
        const RowVector db =
            before_.u.transpose() * M * djump + (M * jump).transpose() * before_.du + dM(jump, before_.u);
        const RowVector dT = (M * before_.u).transpose() * before_.du + 0.5 * dM(before_.u, before_.u);
        double product = 1.0;
        RowVector dproduct = RowVector::Zero(x_.columns());
        for (std::size_t block = 0; block + 1 < impact_.start.size(); ++block) {
            const int k = impact_.start[block];
            const LawKind kind = impact_.laws[block].kind;
            if (kind == LawKind::bilateral || kind == LawKind::scaled_slider) continue;
            if (!(before_.gamma(impact_.rows[ix(k)]) < -1e-10 * largest_gamma_)) continue;
            dproduct = dproduct * e(k) + product * de.row(k);
            product *= e(k);
        }
        if (!(a > 0.0)) {
            out_.velocity = inelastic.after.du;
            return;
        }
        const std::vector<double> state = state_with(before_.u);
        if (std::abs(d_.energy(t_, state.data()).kinetic - T) > 1e-9 * T)
            return fail("its energy law counts kinetic energy that does not belong to the velocities");
        const double rest = (1.0 - product * product) * T;
        const RowVector drest = (1.0 - product * product) * dT - 2.0 * product * T * dproduct;
        const double discriminant = b * b - 4.0 * a * rest;
        double s;
        RowVector ds;
        if (discriminant > 1e-10 * b * b) {
            s = (-b + std::sqrt(discriminant)) / (2.0 * a);
            ds = -(s * s * da + s * db + drest) / (2.0 * a * s + b);
        } else {  // a double root that has to stay one
            s = -b / (2.0 * a);
            ds = -(db + 2.0 * s * da) / (2.0 * a);
            const RowVector change = 2.0 * b * db - 4.0 * rest * da - 4.0 * a * drest;
            if (change.cwiseAbs().maxCoeff() > 1e-9 * b * b)
                out_.conditions.push_back({change, "the energy law asks for the largest loss there is"});
        }
        out_.velocity = before_.du + s * djump + jump * ds;
    }

    Tangent& x_;
    integrate::Dynamics& d_;
    const double t_;
    const int n_;
    const RecordedImpact& impact_;
    const std::vector<double> q_;
    Matrix velocity_, coefficient_, W_, rows_, inverse_rows_;
    Instant before_;
    double largest_gamma_ = 0.0;
    solvers::DenseLU lu_;
    Matrix others_;  // solutions beside the last one, where it was not the only one
    ImpactDerivative out_;
};

}  // namespace

ImpactDerivative differentiate(Tangent& tangent, double t, const double* q, const RecordedImpact& impact) {
    ImpactDerivative none;
    none.exists = false;
    if (impact.jam) {
        none.why_not = "Painleve: no contact force exists, and the impulse that jams has no derivative";
        return none;
    }
    if (impact.repaired) {
        none.why_not = "the velocities were repaired to create no energy";
        return none;
    }
    return Course(tangent, t, q, impact).run();
}

Matrix differentiate_arrest(Tangent& tangent, double t, const double* q, const Vector& u, const Matrix& before) {
    integrate::Dynamics& d = tangent.dynamics;
    const int n = tangent.n();
    std::vector<double> x(q, q + n);
    x.insert(x.end(), u.data(), u.data() + n);
    x.push_back(0.0);
    if (!d.evaluate(t, x.data()) || d.equation_rows().empty()) return before;
    const std::vector<int>& rows = d.equation_rows();
    const auto m = static_cast<Eigen::Index>(rows.size());
    const Matrix C = d.equation_columns(), inverse = d.multiplier_inverse();
    Vector gamma(m);
    for (Eigen::Index k = 0; k < m; ++k) gamma(k) = d.row_velocity(rows[ix(k)]);
    const Vector Lambda = -inverse * gamma, jump = C * Lambda;
    Matrix velocity, with, without, coefficient;
    integrate::Linearised& linearised = tangent.linearised;
    linearised.gather(Function::velocity, t, x.data(), {}, {}, velocity);
    if (tangent.model().layout().coefficients > 0)
        linearised.gather(Function::coefficient, t, x.data(), {}, {}, coefficient);
    // M(u⁺ − u) = FΛ with its equations at rest: ∂(FΛ − M(u⁺ − u)) with Λ and the velocities held
    std::vector<double> lambda(ix(tangent.model().layout().row_count()), 0.0), a(jump.data(), jump.data() + n);
    Matrix slip = Matrix::Zero(n, tangent.columns());
    const auto moved = [&](const Matrix& gamma_of_u, int row) -> RowVector {  // δγ with δu = before
        RowVector known = gamma_of_u.row(row);
        const RowVector W = known.segment(1 + n, n);
        known.segment(1 + n, n).setZero();
        return known + W * before;
    };
    for (Eigen::Index k = 0; k < m; ++k) {
        lambda[ix(rows[ix(k)])] += Lambda(k);
        const int owner = d.equation_owner(static_cast<int>(k));
        if (owner < 0) continue;
        const double sign = d.mode().elements[ix(owner)].reaction_sign;
        for (const int p : d.elements()[ix(owner)].part_numbers()) {
            const FrictionPart& part = d.parts()[ix(p)];
            const integrate::FrictionMode& friction = d.mode().parts[ix(p)];
            if (!friction.slips) continue;
            double along[3], gradient[3];
            Matrix dgamma(part.size, tangent.columns());
            for (int i = 0; i < part.size; ++i) {
                along[i] = d.row_velocity(part.row + i);
                dgamma.row(i) = moved(velocity, part.row + i);
            }
            d.slip_gradient(part, friction.direction, along, gradient);
            const Matrix change = d.slip_gradient_derivative(part, friction.direction, along, dgamma, coefficient);
            for (int i = 0; i < part.size; ++i) {
                lambda[ix(part.row + i)] -= sign * gradient[i] * Lambda(k);
                slip -= sign * Lambda(k) * velocity.row(part.row + i).segment(1 + n, n).transpose() * change.row(i);
            }
        }
    }
    linearised.gather(Function::residual, t, x.data(), a, lambda, with);
    std::fill(lambda.begin(), lambda.end(), 0.0);
    std::fill(a.begin(), a.end(), 0.0);
    linearised.gather(Function::residual, t, x.data(), a, lambda, without);
    Matrix load = with - without + slip;
    for (Eigen::Index c = 0; c < load.cols(); ++c) d.mass().solve({load.col(c).data(), ix(n)});
    const Matrix known = before + load;
    for (int i = 0; i < n; ++i) x[ix(n + i)] += jump(i);
    linearised.gather(Function::velocity, t, x.data(), {}, {}, velocity);
    Matrix right(m, tangent.columns());
    for (Eigen::Index k = 0; k < m; ++k) {
        RowVector row = velocity.row(rows[ix(k)]);
        const RowVector W = row.segment(1 + n, n);
        row.segment(1 + n, n).setZero();
        right.row(k) = -row - W * known;
    }
    return known + C * (inverse * right);
}

std::vector<int> idle_contacts(Tangent& x, double t, const double* state) {
    integrate::Dynamics& d = x.dynamics;
    std::vector<int> list;
    const auto closed_contact = [&](std::size_t i) {
        return d.elements()[i].rows.kind == ElementKind::contact && d.mode().elements[i].active;
    };
    bool any = false;
    for (std::size_t i = 0; i < d.elements().size(); ++i) any = any || closed_contact(i);
    if (!any || d.compliant() || !d.evaluate(t, state)) return list;
    double largest = 0.0;
    for (const double h : d.terms().h) largest = std::max(largest, std::abs(h));
    for (const double r : d.reactions()) largest = std::max(largest, std::abs(r));
    for (std::size_t i = 0; i < d.elements().size(); ++i) {
        const ElementLayout& e = d.elements()[i];
        if (closed_contact(i) && !(d.reactions()[ix(e.rows.normal)] > nothing * largest))
            list.push_back(static_cast<int>(i));
    }
    if (list.empty() || !x.linearised.evaluate(t, state)) return list;
    std::erase_if(list, [&](int i) {
        const RowVector lambda = x.linearised.reactions().row(d.elements()[ix(i)].rows.normal);
        const Eigen::Map<const RowVector> u(state + x.n(), x.n()), a(d.acceleration().data(), x.n());
        const double parts = std::abs(lambda(0)) + lambda.segment(1, x.n()).cwiseAbs().dot(u.cwiseAbs()) +
                             lambda.segment(1 + x.n(), x.n()).cwiseAbs().dot(a.cwiseAbs());
        const double rate = lambda(0) + lambda.segment(1, x.n()).dot(u) + lambda.segment(1 + x.n(), x.n()).dot(a);
        return std::abs(rate) > 1e-6 * parts;
    });
    return list;
}

std::string idle_text(const Tangent& x, int element) {
    const int contact = x.dynamics.elements()[ix(element)].rows.index;
    return "'" + x.model().contacts[ix(contact)].name + "' is closed without a force, and would open or not";
}

}  // namespace saltus::sensitivity
