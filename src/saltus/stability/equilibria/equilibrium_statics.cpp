// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/equilibrium_statics.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::stability {

namespace {

using trajectory::ElementKind;

/// A switching function (model::Jacobians) with an absolute value of at most this counts as zero. Equilibria are
/// accurate to about 1e-10 of 1 + |q|.
constexpr double switching_value = 1e-9;

/// Friction force under the load 1 of an element that slides with χ_T: it takes the largest power from the slip, so
/// that −λ_T is the point of C furthest along χ_T (γ_T ∈ N_C(−λ_T)).
Vector sliding_force(const FrictionBody& body, const Vector& chi) {
    return -body.furthest({chi.data(), static_cast<std::size_t>(chi.size())});
}

}  // namespace

RestingModel::RestingModel(const model::Mechanics& model, double t)
    : model_(model),
      t_(t),
      n_(model.size()),
      elements_(integrate::element_rows(model)),
      workspace_(model),
      terms_(model.layout()),
      coefficients_(ix(model.layout().coefficients), 0.0),
      rest_(ix(n_), 0.0) {}

void RestingModel::move_to(const Vector& q) {
    q_ = q;
    const std::span<const double> position(q_.data(), ix(n_));
    model::evaluate(model_, workspace_, t_, position, rest_, terms_);
    model_.system->coefficients(model::at(model_, t_, position, rest_), workspace_.scratch(), coefficients_);
}

double RestingModel::position_scale(int row) const {
    return model::row_scale(model_.layout().rows, terms_.W, row, {q_.data(), ix(n_)});
}

Eigen::RowVectorXd RestingModel::row(int row) const {
    const model::Pattern& W = model_.layout().rows;
    Eigen::RowVectorXd out = Eigen::RowVectorXd::Zero(n_);
    for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e) out(W.column[ix(e)]) += terms_.W[ix(e)];
    return out;
}

bool RestingModel::closed(std::size_t contact, double tolerance) const {
    const int row = model_.contacts[contact].row;
    return std::abs(position(row)) <= tolerance * position_scale(row);
}

double RestingModel::gap(std::size_t contact) const { return position(model_.contacts[contact].row); }

double RestingModel::coefficient(int number) const { return integrate::coefficient(coefficients_, number); }

double RestingModel::potential() {
    return model_.system->energy(model::at(model_, t_, {q_.data(), ix(n_)}, rest_), workspace_.scratch()).potential;
}

double RestingModel::violation() const {
    double worst = 0.0;
    for (const model::Constraint& c : model_.constraints)
        worst = std::max(worst, std::abs(position(c.row)) / position_scale(c.row));
    for (const model::Contact& c : model_.contacts) worst = std::max(worst, -position(c.row) / position_scale(c.row));
    return worst;
}

Statics RestingModel::statics(const std::vector<char>& closed) {
    Statics s;
    s.h = Eigen::Map<const Vector>(terms_.h.data(), n_);
    s.scale = Vector::Ones(n_);
    const model::Pattern& mass = model_.layout().mass;
    for (int i = 0; i < n_; ++i)
        for (int e = mass.start[ix(i)]; e < mass.start[ix(i) + 1]; ++e)
            if (mass.column[ix(e)] == i) s.scale(i) = std::sqrt(terms_.M[ix(e)]);
    for (std::size_t k = 0; k < elements_.size(); ++k)
        if (elements_[k].kind != ElementKind::contact || closed[ix(elements_[k].index)] != 0) add_element(s, k);
    s.W = Matrix::Zero(n_, static_cast<Eigen::Index>(s.columns.size()));
    for (std::size_t c = 0; c < s.columns.size(); ++c)
        for (const Statics::Share& share : s.columns[c])
            s.W.col(static_cast<Eigen::Index>(c)) += share.factor * row(share.row).transpose();
    s.size = size_of(s);
    return s;
}

/// A force that sticks gets columns of its own. A force that slides (χ_T ≠ 0) is a known multiple of the normal force:
/// it goes into h (slider), into the column of the normal force (contact) or is tied to |ν| (constraint).
void RestingModel::add_element(Statics& s, std::size_t k) const {
    const auto add = [&](std::vector<Statics::Share> column) {
        s.columns.push_back(std::move(column));
        return static_cast<int>(s.columns.size()) - 1;
    };
    const integrate::ElementRows& e = elements_[k];
    RestingElement r;
    r.element = static_cast<int>(k);
    r.kind = e.kind;
    if (const model::Friction* const friction = friction_of(model_, e))
        r.body = friction_body(*friction, coefficients_);
    if (e.normal >= 0 && chi(e.normal) != 0.0) {
        if (e.kind == ElementKind::clutch && chi(e.normal) > 0.0) return;  // it turns in its free direction: no force
        s.moves = "'" + integrate::elements_of(model_)[k].name + "' moves by itself";
    }
    Vector chi_T(r.body.dimension);
    for (int i = 0; i < r.body.dimension; ++i) chi_T(i) = chi(e.first_slip + i);
    const bool slides = chi_T.size() > 0 && chi_T.cwiseAbs().maxCoeff() > 0.0;
    if (e.kind == ElementKind::slider) {
        r.load = std::max(0.0, integrate::coefficient(coefficients_, model_.sliders[ix(e.index)].normal_force));
        if (r.body.empty()) return;
        if (slides) {
            const Vector unit = sliding_force(r.body, chi_T);
            for (int i = 0; i < r.body.dimension; ++i) {
                s.fixed.push_back({static_cast<int>(k), e.first_slip + i, unit(i), r.load * unit(i)});
                s.h += row(e.first_slip + i).transpose() * s.fixed.back().force;
            }
            return;
        }
    } else {
        std::vector<Statics::Share> normal{{e.normal, 1.0}};
        if (slides && e.kind == ElementKind::contact) {
            const Vector unit = sliding_force(r.body, chi_T);
            for (int i = 0; i < r.body.dimension; ++i) normal.push_back({e.first_slip + i, unit(i)});
            r.body = {};
        } else if (slides) {
            r.sliding = sliding_force(r.body, chi_T);
        }
        r.normal = add(std::move(normal));
    }
    for (int i = 0; i < r.body.dimension; ++i) {
        const int column = add({{e.first_slip + i, 1.0}});
        if (i == 0) r.slip = column;
    }
    s.elements.push_back(std::move(r));
}

/// A position error ε (1 + |q_i|) changes the forces by ε K (1 + |q|) with K = ∂h/∂q. Residuals relative to
/// |h| + |K| (1 + |q|) are therefore as accurate as relative gaps are.
double RestingModel::size_of(const Statics& s) {
    Vector size = s.h.cwiseAbs();
    for (const Statics::Fixed& f : s.fixed) size += std::abs(f.force) * row(f.row).transpose().cwiseAbs();
    if (has_derivatives()) {
        const Matrix K = stiffness(s, Vector::Zero(static_cast<Eigen::Index>(s.columns.size())));
        size += K.cwiseAbs() * (q_.cwiseAbs() + Vector::Ones(n_));
    }
    return size.cwiseQuotient(s.scale).norm();
}

bool RestingModel::has_derivatives() {
    if (!jacobians_requested_) jacobians_ = model_.system->jacobians();
    jacobians_requested_ = true;
    return jacobians_ != nullptr;
}

Matrix RestingModel::stiffness(const Statics& s, const Vector& lambda) {
    Matrix K = force_slopes(s, lambda, 1);
    for (const Statics::Fixed& f : s.fixed) K += row(f.row).transpose() * (f.per_load * load_slope(f.element));
    return K;
}

bool RestingModel::at_switch() {
    std::vector<double> values(ix(jacobians_->switches()));
    if (values.empty()) return false;
    jacobians_->switches(model::at(model_, t_, {q_.data(), ix(n_)}, rest_), values);
    return std::any_of(values.begin(), values.end(), [](double s) { return std::abs(s) <= switching_value; });
}

Matrix RestingModel::velocity_slopes(const Statics& s, const Vector& lambda) { return force_slopes(s, lambda, 1 + n_); }

Matrix RestingModel::mass() const {
    const model::Pattern& pattern = model_.layout().mass;
    Matrix M = Matrix::Zero(n_, n_);
    for (int i = 0; i < n_; ++i)
        for (int e = pattern.start[ix(i)]; e < pattern.start[ix(i) + 1]; ++e)
            M(i, pattern.column[ix(e)]) = M(pattern.column[ix(e)], i) = terms_.M[ix(e)];
    return M;
}

Matrix RestingModel::force_slopes(const Statics& s, const Vector& lambda, int first) {
    SALTUS_EXPECT(has_derivatives());
    std::vector<double> by_row(ix(model_.layout().row_count()), 0.0);
    for (std::size_t c = 0; c < s.columns.size(); ++c)
        for (const Statics::Share& share : s.columns[c])
            by_row[ix(share.row)] += share.factor * lambda(static_cast<Eigen::Index>(c));
    for (const Statics::Fixed& f : s.fixed) by_row[ix(f.row)] += f.force;
    const model::At here = model::at(model_, t_, {q_.data(), ix(n_)}, rest_);
    const model::Pattern& pattern = jacobians_->pattern(model::Function::residual);
    values_.assign(pattern.size(), 0.0);
    jacobians_->evaluate(model::Function::residual, here, rest_, by_row, values_);
    Matrix K = Matrix::Zero(n_, n_);
    for (int i = 0; i < n_; ++i)
        for (int e = pattern.start[ix(i)]; e < pattern.start[ix(i) + 1]; ++e) {
            const int column = pattern.column[ix(e)] - first;
            if (column >= 0 && column < n_) K(i, column) += values_[ix(e)];
        }
    // The friction −s μ λ_N of a contact that slides along one direction also changes with μ.
    for (const RestingElement& e : s.elements) {
        if (e.kind != ElementKind::contact || s.columns[ix(e.normal)].size() != 2) continue;
        const Statics::Share& friction = s.columns[ix(e.normal)][1];
        const Eigen::RowVectorXd slope =
            coefficient_slope(model_.contacts[ix(elements_[ix(e.element)].index)].friction.mu[0], first);
        const double sign = friction.factor > 0.0 ? 1.0 : -1.0;
        K += sign * lambda(e.normal) * row(friction.row).transpose() * slope;
    }
    return K;
}

bool RestingModel::planar_sliding(const Statics& s) const {
    for (const RestingElement& e : s.elements) {
        if (e.kind != ElementKind::contact || s.columns[ix(e.normal)].size() < 2) continue;
        const model::Friction& f = model_.contacts[ix(elements_[ix(e.element)].index)].friction;
        if (f.law != model::FrictionLaw::coulomb || f.dimension != 1) return false;
    }
    return true;
}

Eigen::RowVectorXd RestingModel::load_slope(int element) {
    return coefficient_slope(model_.sliders[ix(elements_[ix(element)].index)].normal_force, 1);
}

Eigen::RowVectorXd RestingModel::coefficient_slope(int c, int first) {
    Eigen::RowVectorXd slope = Eigen::RowVectorXd::Zero(n_);
    if (c == model::no_coefficient || model_.layout().coefficients_constant) return slope;
    const model::Pattern& pattern = jacobians_->pattern(model::Function::coefficient);
    values_.assign(pattern.size(), 0.0);
    jacobians_->evaluate(model::Function::coefficient, model::at(model_, t_, {q_.data(), ix(n_)}, rest_), {}, {},
                         values_);
    for (int e = pattern.start[ix(c)]; e < pattern.start[ix(c) + 1]; ++e) {
        const int column = pattern.column[ix(e)] - first;
        if (column >= 0 && column < n_) slope(column) += values_[ix(e)];
    }
    return slope;
}

Matrix RestingModel::load_slopes(const Statics& s) {
    SALTUS_EXPECT(has_derivatives());
    Matrix slopes = Matrix::Zero(static_cast<Eigen::Index>(s.elements.size()), n_);
    for (std::size_t k = 0; k < s.elements.size(); ++k)
        if (s.elements[k].kind == ElementKind::slider)
            slopes.row(static_cast<Eigen::Index>(k)) = load_slope(s.elements[k].element);
    return slopes;
}

Matrix RestingModel::friction_slopes(const Statics& s) {
    SALTUS_EXPECT(has_derivatives());
    Matrix slopes = Matrix::Zero(static_cast<Eigen::Index>(s.columns.size()), n_);
    if (model_.layout().coefficients_constant) return slopes;
    for (const RestingElement& e : s.elements) {
        if (e.body.empty() || e.slip < 0) continue;
        const model::Friction& f = *friction_of(model_, elements_[ix(e.element)]);
        for (int i = 0; i < e.body.dimension; ++i) {
            const int c = f.mu[f.law == model::FrictionLaw::orthotropic ? ix(i) : 0];
            if (const double mu = coefficient(c); mu > 0.0) slopes.row(e.slip + i) = coefficient_slope(c, 1) / mu;
        }
    }
    return slopes;
}

Statics without_friction(RestingModel& model, const Statics& s) {
    Statics out;
    out.h = s.h;
    out.scale = s.scale;
    out.size = s.size;
    out.moves = s.moves;
    for (const Statics::Fixed& f : s.fixed) out.h -= model.row(f.row).transpose() * f.force;
    for (const RestingElement& e : s.elements) {
        if (e.normal < 0) continue;
        RestingElement r = e;
        r.body = {};
        r.sliding = {};
        r.slip = -1;
        r.normal = static_cast<int>(out.columns.size());
        out.columns.push_back({s.columns[static_cast<std::size_t>(e.normal)][0]});
        out.elements.push_back(std::move(r));
    }
    out.W.resize(s.h.size(), static_cast<Eigen::Index>(out.columns.size()));
    for (std::size_t c = 0; c < out.columns.size(); ++c)
        out.W.col(static_cast<Eigen::Index>(c)) = model.row(out.columns[c][0].row).transpose();
    return out;
}

}  // namespace saltus::stability
