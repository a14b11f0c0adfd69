// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "saltus/base/text.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/mass.hpp"

namespace saltus::model {

namespace {

/// Rows are compared at their own size: |W||x| + 1.
double row_scale(const Pattern& rows, std::span<const double> W, int row, std::span<const double> x) {
    double scale = 1.0;
    for (int k = rows.start[static_cast<std::size_t>(row)]; k < rows.start[static_cast<std::size_t>(row) + 1]; ++k)
        scale += std::abs(W[static_cast<std::size_t>(k)] * x[static_cast<std::size_t>(rows.column[static_cast<std::size_t>(k)])]);
    return scale;
}

void verify_finite(const Model& model, const Terms& terms, const Place& place) {
    const auto check = [&](std::span<const double> values, const std::string& what) {
        for (const double v : values)
            if (!std::isfinite(v))
                throw Error(what + " of model '" + model.name + "' is not finite at the initial state", place,
                            "look for a division by zero, or a root or logarithm of a negative number");
    };
    check(terms.M, "the mass matrix");
    check(terms.h, "the force vector");
    check(terms.positions, "a gap or constraint");
    check(terms.W, "a contact or constraint direction");
    check(terms.chi, "a contact or constraint velocity");
    check(terms.zeta, "a contact or constraint acceleration");
}

void verify_mass(const Model& model, const Terms& terms, const Place& place) {
    const Spectrum spectrum = MassFactor(model.layout().mass).spectrum(terms.M);
    // Definite beyond the rounding of the entries; a singular matrix comes out as a few units in the last place.
    const double rounding = 64 * std::numeric_limits<double>::epsilon() * spectrum.largest;
    if (spectrum.smallest > rounding || (spectrum.smallest > 0.0 && spectrum.smallest_direction.cwiseAbs().maxCoeff() == 1.0))
        return;
    std::string direction;
    for (int i = 0; i < model.size(); ++i) {
        const double v = spectrum.smallest_direction(i);
        if (std::abs(v) < 1e-6) continue;
        char text[32];
        std::snprintf(text, sizeof text, "%.3g", v);
        direction += (direction.empty() ? "" : ", ") + model.coordinates[static_cast<std::size_t>(i)] + "' = " + text;
    }
    throw Error("the mass matrix is not positive definite at the initial state: eigenvalue " +
                    number_text(std::abs(spectrum.smallest) > rounding ? spectrum.smallest : 0.0) + " along (" + direction + ")",
                place, "every coordinate needs inertia in T");
}

}  // namespace

void verify_initial(const Model& model, const Place& place) {
    const Layout& layout = model.layout();
    Workspace workspace(model);
    Terms terms(layout);
    evaluate(model, workspace, 0.0, model.q0, model.u0, terms);
    verify_finite(model, terms, place);
    verify_mass(model, terms, place);

    const std::string remedy = "change [initial], or let --project-initial repair it";
    for (const Constraint& c : model.constraints) {
        const double g = terms.positions[static_cast<std::size_t>(c.row)];
        if (std::abs(g) > initial_tolerance * row_scale(layout.rows, terms.W, c.row, model.q0))
            throw Error("the initial state violates constraint '" + c.name + "': g = " + number_text(g), place, remedy);
        const double rate = row_velocity(layout, terms, c.row, model.u0);
        if (std::abs(rate) > initial_tolerance * row_scale(layout.rows, terms.W, c.row, model.u0))
            throw Error("the initial velocity violates constraint '" + c.name + "': dg/dt = " + number_text(rate), place, remedy);
    }
    for (const Contact& c : model.contacts) {
        const double gap = terms.positions[static_cast<std::size_t>(c.row)];
        if (gap < -initial_tolerance * row_scale(layout.rows, terms.W, c.row, model.q0))
            throw Error("the initial state penetrates contact '" + c.name + "': gN = " + number_text(gap), place, remedy);
    }
}

namespace {

/// The step of least kinetic metric, dx = M⁻¹Jᵀy with J dx = −r in the sense of least squares. With M = LLᵀ and
/// B = J L⁻ᵀ that is dx = L⁻ᵀz, z the least-norm solution of B z = −r; redundant rows are harmless.
bool metric_step(MassFactor& factor, std::span<const double> M, Matrix J, const Vector& r, Eigen::Map<Vector>& x) {
    if (!r.allFinite() || !J.allFinite() || !factor.factorise(M)) return false;
    Matrix Bt = J.transpose();
    for (Eigen::Index i = 0; i < Bt.cols(); ++i)
        factor.solve_half({Bt.col(i).data(), static_cast<std::size_t>(Bt.rows())});
    Vector z = least_squares(Bt.transpose(), -r);
    factor.solve_half_transposed({z.data(), static_cast<std::size_t>(z.size())});
    x += z;
    return x.allFinite();
}

}  // namespace

bool project_initial(Model& model) {
    const Layout& layout = model.layout();
    Workspace workspace(model);
    Terms terms(layout);
    Eigen::Map<Vector> q(model.q0.data(), model.size()), u(model.u0.data(), model.size());

    std::vector<int> held;   // rows to fulfil: all constraints, and every gap that was found negative
    for (const Constraint& c : model.constraints) held.push_back(c.row);
    const auto collect = [&](auto value_of, Matrix& J, Vector& r) {
        J = Matrix::Zero(static_cast<Eigen::Index>(held.size()), model.size());
        r.resize(static_cast<Eigen::Index>(held.size()));
        for (std::size_t i = 0; i < held.size(); ++i) {
            const int row = held[i];
            for (int k = layout.rows.start[static_cast<std::size_t>(row)]; k < layout.rows.start[static_cast<std::size_t>(row) + 1]; ++k)
                J(static_cast<Eigen::Index>(i), layout.rows.column[static_cast<std::size_t>(k)]) = terms.W[static_cast<std::size_t>(k)];
            r(static_cast<Eigen::Index>(i)) = value_of(row);
        }
    };

    constexpr int most_iterations = 50;
    constexpr double most_entries = 5e7;   // of the dense Jacobian; beyond it this is not the tool
    MassFactor factor(layout.mass);
    Matrix J;
    Vector r;
    for (int iteration = 0; iteration < most_iterations; ++iteration) {
        evaluate(model, workspace, 0.0, model.q0, model.u0, terms);
        bool added = false;
        for (const Contact& c : model.contacts) {
            const bool negative = terms.positions[static_cast<std::size_t>(c.row)] < 0.0;
            if (negative && std::find(held.begin(), held.end(), c.row) == held.end()) {
                held.push_back(c.row);
                added = true;
            }
        }
        if (held.empty()) break;
        if (static_cast<double>(held.size()) * model.size() > most_entries) return false;
        collect([&](int row) { return terms.positions[static_cast<std::size_t>(row)]; }, J, r);
        const Vector before = q;
        if (!metric_step(factor, terms.M, J, r, q)) return false;
        // Newton: once a step is at rounding level nothing more can be gained.
        if (!added && (q - before).norm() <= 1e-15 * (1.0 + q.norm())) break;
    }

    evaluate(model, workspace, 0.0, model.q0, model.u0, terms);
    held.clear();
    for (const Constraint& c : model.constraints) held.push_back(c.row);
    if (held.empty()) return true;
    collect([&](int row) { return row_velocity(layout, terms, row, model.u0); }, J, r);
    return metric_step(factor, terms.M, J, r, u);
}

}  // namespace saltus::model
