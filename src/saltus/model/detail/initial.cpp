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

/// What a row belongs to.
std::string row_name(const Model& model, int row) {
    for (const Constraint& c : model.constraints)
        if (c.row == row) return "constraint '" + c.name + "'";
    for (const Contact& c : model.contacts)
        if (c.row == row) return "the gap of contact '" + c.name + "'";
    const auto slips = [&](const auto& list, const std::string& what) -> std::string {
        for (const auto& x : list)
            if (row >= x.friction.first_row && row < x.friction.first_row + x.friction.dimension)
                return "the slip velocity of " + what + " '" + x.name + "'";
        return {};
    };
    for (const std::string& name :
         {slips(model.contacts, "contact"), slips(model.constraints, "constraint"), slips(model.sliders, "slider")})
        if (!name.empty()) return name;
    for (const Clutch& c : model.clutches)
        if (c.row == row) return "the velocity of clutch '" + c.name + "'";
    return "row " + std::to_string(row);
}

void verify_finite(const Model& model, const Terms& terms, const InitialPlaces& places) {
    const auto refuse = [&](const std::string& what, const Place& place) {
        throw Error(what + " is not finite at the initial state", place,
                    "look for a division by zero, or a root or logarithm of a negative number");
    };
    const Layout& layout = model.layout();
    for (const double m : terms.M)
        if (!std::isfinite(m)) refuse("the mass matrix", places.mass);
    for (std::size_t i = 0; i < terms.h.size(); ++i)
        if (!std::isfinite(terms.h[i]))
            refuse("the force on coordinate '" + model.coordinates[i] + "'", places.initial);
    for (std::size_t i = 0; i < terms.positions.size(); ++i)
        if (!std::isfinite(terms.positions[i])) refuse(row_name(model, static_cast<int>(i)), places.initial);
    for (int row = 0; row < layout.row_count(); ++row) {
        bool finite = std::isfinite(terms.chi[static_cast<std::size_t>(row)]) &&
                      std::isfinite(terms.zeta[static_cast<std::size_t>(row)]);
        for (int k = layout.rows.start[static_cast<std::size_t>(row)];
             k < layout.rows.start[static_cast<std::size_t>(row) + 1]; ++k)
            finite = finite && std::isfinite(terms.W[static_cast<std::size_t>(k)]);
        if (!finite) refuse("the derivative of " + row_name(model, row), places.initial);
    }
}

void verify_mass(const Model& model, const Terms& terms, const Place& place) {
    const Spectrum spectrum = MassFactor(model.layout().mass).spectrum(terms.M);
    // Definite beyond the rounding of the entries; a singular matrix comes out as a few units in the last place.
    const double rounding = 64 * std::numeric_limits<double>::epsilon() * spectrum.largest;
    if (spectrum.smallest > rounding ||
        (spectrum.smallest > 0.0 && spectrum.smallest_direction.cwiseAbs().maxCoeff() == 1.0))
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
                    number_text(std::abs(spectrum.smallest) > rounding ? spectrum.smallest : 0.0) + " along (" +
                    direction + ")",
                place, "every coordinate needs inertia in T");
}

}  // namespace

void verify_initial(const Model& model, const InitialPlaces& places) {
    const Layout& layout = model.layout();
    Workspace workspace(model);
    Terms terms(layout);
    evaluate(model, workspace, 0.0, model.q0, model.u0, terms);
    verify_finite(model, terms, places);
    verify_mass(model, terms, places.mass);

    const Place& place = places.initial;
    const std::string& remedy = places.remedy;
    for (const Constraint& c : model.constraints) {
        const double g = terms.positions[static_cast<std::size_t>(c.row)];
        if (std::abs(g) > initial_tolerance * row_scale(layout.rows, terms.W, c.row, model.q0))
            throw Error("the initial state violates constraint '" + c.name + "': g = " + number_text(g), place, remedy);
        const double rate = row_velocity(layout, terms, c.row, model.u0);
        if (std::abs(rate) > initial_tolerance * row_scale(layout.rows, terms.W, c.row, model.u0))
            throw Error("the initial velocity violates constraint '" + c.name + "': dg/dt = " + number_text(rate),
                        place, remedy);
    }
    for (const Contact& c : model.contacts) {
        const double gap = terms.positions[static_cast<std::size_t>(c.row)];
        if (gap < -initial_tolerance * row_scale(layout.rows, terms.W, c.row, model.q0))
            throw Error("the initial state penetrates contact '" + c.name + "': gN = " + number_text(gap), place,
                        remedy);
    }
}

namespace {

/// Moves a state onto rows in the metric of M at the start: x = x⁰ + M⁻¹Jᵀy.
class Projection {
public:
    explicit Projection(const Model& model)
        : model_(model), layout_(model.layout()), workspace_(model), terms_(layout_), factor_(layout_.mass) {}

    bool positions(std::vector<double>& q0);
    bool velocities(std::span<const double> q, std::vector<double>& u0);

private:
    void evaluate_at(std::span<const double> q, std::span<const double> u) {
        evaluate(model_, workspace_, 0.0, q, u, terms_);
    }

    /// The step M⁻¹Jᵀy with J M⁻¹Jᵀ y = b in the sense of least squares, y the least such: redundant rows are harmless.
    Vector step(const std::vector<int>& rows, const Vector& b, Vector& multipliers) const;
    bool solve_linearised(const Vector& q, const Vector& start, Vector& next);
    double dot(int row, const Vector& x) const {
        return row_dot(layout_.rows, terms_.W, row, {x.data(), static_cast<std::size_t>(x.size())});
    }

    const Model& model_;
    const Layout& layout_;
    Workspace workspace_;
    Terms terms_;
    MassFactor factor_;
    std::vector<int> held_;  // constraints, then the contacts that are pushed against
};

Vector Projection::step(const std::vector<int>& rows, const Vector& b, Vector& multipliers) const {
    // M⁻¹Jᵀ column by column; only the coordinates in the blocks of a row are touched.
    const auto n = static_cast<std::size_t>(model_.size());
    const auto count = static_cast<Eigen::Index>(rows.size());
    std::vector<std::vector<std::pair<int, double>>> columns(rows.size());
    std::vector<double> work(n, 0.0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto row = static_cast<std::size_t>(rows[i]);
        for (int k = layout_.rows.start[row]; k < layout_.rows.start[row + 1]; ++k)
            work[static_cast<std::size_t>(layout_.rows.column[static_cast<std::size_t>(k)])] =
                terms_.W[static_cast<std::size_t>(k)];
        factor_.solve(work);
        for (std::size_t j = 0; j < n; ++j)
            if (work[j] != 0.0) columns[i].emplace_back(static_cast<int>(j), work[j]), work[j] = 0.0;
    }
    Matrix D(count, count);
    for (Eigen::Index j = 0; j < count; ++j) {
        for (const auto& [c, x] : columns[static_cast<std::size_t>(j)]) work[static_cast<std::size_t>(c)] = x;
        for (Eigen::Index i = 0; i < count; ++i)
            D(i, j) = row_dot(layout_.rows, terms_.W, rows[static_cast<std::size_t>(i)], work);
        for (const auto& [c, x] : columns[static_cast<std::size_t>(j)]) work[static_cast<std::size_t>(c)] = 0.0;
    }
    multipliers = least_squares(D, b);
    Vector x = Vector::Zero(model_.size());
    for (std::size_t j = 0; j < rows.size(); ++j)
        for (const auto& [c, value] : columns[j]) x(c) += value * multipliers(static_cast<Eigen::Index>(j));
    return x;
}

/// The point nearest to `start` that fulfils the rows linearised at q: constraints as equations, gaps as inequalities.
/// Active set: contacts that would pull are let go, contacts that would penetrate are taken in.
bool Projection::solve_linearised(const Vector& q, const Vector& start, Vector& next) {
    constexpr double most_entries = 2e6;  // of J M⁻¹Jᵀ, which is dense here
    const std::size_t constraints = model_.constraints.size();
    for (std::size_t trial = 0; trial < 10 * model_.contacts.size() + 20; ++trial) {
        if (static_cast<double>(held_.size()) * static_cast<double>(held_.size()) > most_entries) return false;
        Vector b(static_cast<Eigen::Index>(held_.size())), y;
        for (std::size_t i = 0; i < held_.size(); ++i)
            b(static_cast<Eigen::Index>(i)) =
                dot(held_[i], q - start) - terms_.positions[static_cast<std::size_t>(held_[i])];
        next = held_.empty() ? start : Vector(start + step(held_, b, y));
        if (!next.allFinite()) return false;

        // Many at once as long as that works, one at a time when it turns out to go round in circles.
        const bool many = trial < 20;
        const double pull = 1e-12 * (y.size() > 0 ? y.cwiseAbs().maxCoeff() : 0.0);
        double strongest = pull;
        for (std::size_t i = constraints; i < held_.size(); ++i)
            strongest = std::max(strongest, -y(static_cast<Eigen::Index>(i)));
        if (strongest > pull) {
            std::size_t kept = constraints;
            for (std::size_t i = constraints; i < held_.size(); ++i) {
                const double p = -y(static_cast<Eigen::Index>(i));
                if (!(many ? p > pull : p == strongest)) held_[kept++] = held_[i];
            }
            held_.resize(kept);
            continue;
        }
        std::vector<std::pair<double, int>> penetrating;
        for (const Contact& c : model_.contacts) {
            const double gap =
                (terms_.positions[static_cast<std::size_t>(c.row)] + dot(c.row, next - q)) /
                row_scale(layout_.rows, terms_.W, c.row, {next.data(), static_cast<std::size_t>(next.size())});
            if (gap < -1e-14 && std::find(held_.begin(), held_.end(), c.row) == held_.end())
                penetrating.emplace_back(gap, c.row);
        }
        if (penetrating.empty()) return true;
        if (!many) penetrating = {*std::min_element(penetrating.begin(), penetrating.end())};
        for (const auto& [gap, row] : penetrating) held_.push_back(row);
    }
    return false;
}

bool Projection::positions(std::vector<double>& q0) {
    Eigen::Map<Vector> result(q0.data(), model_.size());
    const Vector start = result;
    evaluate_at(q0, model_.u0);
    if (!factor_.factorise(terms_.M)) return false;
    held_.clear();
    for (const Constraint& c : model_.constraints) held_.push_back(c.row);

    // Linearise and project until nothing moves. Where the rows curve so much that this does not settle, the last
    // steps go from the point itself, which settles quadratically.
    constexpr int patient = 40, most = 60;
    for (int iteration = 0; iteration < most; ++iteration) {
        evaluate_at(q0, model_.u0);
        for (const double g : terms_.positions)
            if (!std::isfinite(g)) return false;
        const Vector q = result;
        Vector next;
        if (!solve_linearised(q, iteration < patient ? start : q, next)) return false;
        result = next;
        if ((next - q).norm() <= 1e-14 * (1.0 + next.norm())) break;
    }
    return true;
}

bool Projection::velocities(std::span<const double> q, std::vector<double>& u0) {
    if (model_.constraints.empty()) return true;
    evaluate_at(q, u0);
    if (!factor_.factorise(terms_.M)) return false;
    held_.clear();
    Vector b(static_cast<Eigen::Index>(model_.constraints.size())), y;
    for (std::size_t i = 0; i < model_.constraints.size(); ++i) {
        held_.push_back(model_.constraints[i].row);
        b(static_cast<Eigen::Index>(i)) = -row_velocity(layout_, terms_, held_.back(), u0);
    }
    if (!b.allFinite()) return false;
    Eigen::Map<Vector> u(u0.data(), model_.size());
    u += step(held_, b, y);
    return u.allFinite();
}

}  // namespace

bool project_initial(Model& model) {
    Projection projection(model);
    std::vector<double> q = model.q0, u = model.u0;
    if (!projection.positions(q) || !projection.velocities(q, u)) return false;
    for (std::size_t i = 0; i < q.size(); ++i)
        model.start_moved = std::max({model.start_moved, std::abs(q[i] - model.q0[i]), std::abs(u[i] - model.u0[i])});
    model.q0 = std::move(q);
    model.u0 = std::move(u);
    return true;
}

}  // namespace saltus::model
