// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>

#include "saltus/base/index.hpp"
#include "saltus/base/plain_text.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/detail/magnitude.hpp"
#include "saltus/model/detail/mass_thresholds.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/mass.hpp"
#include "saltus/model/model.hpp"

namespace saltus::model {

namespace {

/// What a row belongs to, for messages.
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

/// Terms so large or masses so small that products of them are no longer normal numbers are refused.
void verify_magnitudes(const Model& model, const Terms& terms, const InitialPlaces& places) {
    const auto refuse = [&](const std::string& what, double value, const Place& place) {
        throw Error(what + " is " + number_text(value) + " at the initial state; " + valid_range(), place,
                    range_remedy);
    };
    for (const double m : terms.M)
        if (too_large(m)) refuse("an entry of the mass matrix", m, places.mass);
    const Pattern& mass = model.layout().mass;
    for (int i = 0; i < mass.rows; ++i)
        for (int k = mass.start[ix(i)]; k < mass.start[ix(i) + 1]; ++k)
            if (mass.column[ix(k)] == i && too_small(terms.M[ix(k)]))
                refuse("the mass of coordinate '" + model.coordinates[ix(i)] + "'", terms.M[ix(k)], places.mass);
    for (int i = 0; i < model.size(); ++i) {
        const std::string& name = model.coordinates[ix(i)];
        if (too_large(terms.h[ix(i)])) refuse("the force on coordinate '" + name + "'", terms.h[ix(i)], places.initial);
        if (too_large(model.q0[ix(i)])) refuse("coordinate '" + name + "'", model.q0[ix(i)], places.initial);
        if (too_large(model.u0[ix(i)])) refuse("velocity '" + name + "''", model.u0[ix(i)], places.initial);
    }
    const Layout& layout = model.layout();
    for (std::size_t i = 0; i < terms.positions.size(); ++i)
        if (too_large(terms.positions[i]))
            refuse(row_name(model, static_cast<int>(i)), terms.positions[i], places.initial);
    for (int row = 0; row < layout.row_count(); ++row) {
        double largest = std::max(std::abs(terms.chi[ix(row)]), std::abs(terms.zeta[ix(row)]));
        for (int k = layout.rows.start[ix(row)]; k < layout.rows.start[ix(row) + 1]; ++k)
            largest = std::max(largest, std::abs(terms.W[ix(k)]));
        if (too_large(largest)) refuse("the derivative of " + row_name(model, row), largest, places.initial);
    }
}

void verify_mass(const Model& model, const Terms& terms, const Place& place) {
    const Spectrum spectrum = MassFactor(model.layout().mass).spectrum(terms.M);
    // A small mass of a coordinate that is not coupled to others is exact, whatever the largest mass is.
    const double rounding = singular_mass_ratio * spectrum.largest;
    if (spectrum.smallest > rounding ||
        (spectrum.smallest > 0.0 && spectrum.smallest_direction.cwiseAbs().maxCoeff() == 1.0))
        return;
    std::string direction;
    for (int i = 0; i < model.size(); ++i) {
        const double v = spectrum.smallest_direction(i);
        if (std::abs(v) < printed_component) continue;
        direction += (direction.empty() ? "" : ", ") + model.coordinates[static_cast<std::size_t>(i)] +
                     "' = " + rounded_text(v, 3);
    }
    throw Error("the mass matrix is not positive definite at the initial state: eigenvalue " +
                    number_text(std::abs(spectrum.smallest) > rounding ? spectrum.smallest : 0.0) + " along (" +
                    direction + ")",
                place,
                model.constraints.empty() ? "every coordinate needs inertia in T"
                                          : "every velocity that the constraints allow needs inertia in T");
}

/// Per contact: whether it exists at the initial state. A contact with a condition does only while that is positive.
std::vector<char> existing_contacts(const Model& model, Workspace& workspace) {
    std::vector<char> exists(model.contacts.size(), 1);
    if (std::none_of(model.contacts.begin(), model.contacts.end(),
                     [](const Contact& c) { return c.condition != no_coefficient; }))
        return exists;
    std::vector<double> values(ix(model.layout().coefficients));
    model.system->coefficients(at(model, 0.0, model.q0, model.u0), workspace.scratch(), values);
    for (std::size_t i = 0; i < exists.size(); ++i)
        if (const Coefficient c = model.contacts[i].condition; c != no_coefficient) exists[i] = values[ix(c)] > 0.0;
    return exists;
}

}  // namespace

void verify_initial(const Model& model, const InitialPlaces& places) {
    const Layout& layout = model.layout();
    Workspace workspace(model);
    Terms terms(layout);
    evaluate(model, workspace, 0.0, model.q0, model.u0, terms);
    verify_finite(model, terms, places);
    verify_magnitudes(model, terms, places);
    verify_mass(model, terms, places.mass);

    const Place& place = places.initial;
    const std::string& remedy = places.remedy;
    for (const Constraint& c : model.constraints) {
        const double g = terms.positions[static_cast<std::size_t>(c.row)];
        if (!c.on_velocity && std::abs(g) > initial_tolerance * row_scale(layout.rows, terms.W, c.row, model.q0))
            throw Error("the initial state violates constraint '" + c.name + "': g = " + number_text(g), place, remedy);
        const double rate = row_velocity(layout, terms, c.row, model.u0);
        if (std::abs(rate) > initial_tolerance * row_scale(layout.rows, terms.W, c.row, model.u0))
            throw Error("the initial velocity violates constraint '" + c.name +
                            "': " + (c.on_velocity ? "gamma = " : "dg/dt = ") + number_text(rate),
                        place, remedy);
    }
    const std::vector<char> exists = existing_contacts(model, workspace);
    for (const Contact& c : model.contacts) {
        if (exists[static_cast<std::size_t>(&c - model.contacts.data())] == 0) continue;
        const double gap = terms.positions[static_cast<std::size_t>(c.row)];
        if (gap < -initial_tolerance * row_scale(layout.rows, terms.W, c.row, model.q0))
            throw Error("the initial state penetrates contact '" + c.name + "': gN = " + number_text(gap), place,
                        remedy);
    }
}

namespace {

// Constants of the projection of the initial state.
constexpr double max_entries = 2e6;        // of the dense matrix J M⁻¹Jᵀ; larger problems are refused
constexpr double negligible_pull = 1e-12;  // relative to the largest multiplier
constexpr double negligible_gap = 1e-14;   // penetration of a linearised gap, relative to its row_scale
constexpr double converged_step = 1e-14;   // ‖Δq‖ <= this · (1 + ‖q‖)
constexpr std::size_t joint_changes = 20;  // iterations of the active set in which all wrong contacts change at once
constexpr int iterations_from_start = 40;  // linearisations that project the start
constexpr int max_iterations = 60;         // the last ones project the current point

/// Projects a state onto rows in the metric of M at the initial position: x = x⁰ + M⁻¹Jᵀy, where J are the rows and y
/// their multipliers.
class Projection {
public:
    explicit Projection(const Model& model)
        : model_(model), layout_(model.layout()), workspace_(model), terms_(layout_), factor_(layout_.mass) {
        exists_ = existing_contacts(model, workspace_);
    }

    /// Moves q0; false if the iteration does not converge.
    bool positions(std::vector<double>& q0);
    /// Moves u0 onto the velocities that the constraints allow at q; false if that is impossible.
    bool velocities(std::span<const double> q, std::vector<double>& u0);

private:
    void evaluate_at(std::span<const double> q, std::span<const double> u) {
        evaluate(model_, workspace_, 0.0, q, u, terms_);
    }

    struct Step {
        Vector x;            // M⁻¹Jᵀy
        Vector multipliers;  // y
    };
    /// The step M⁻¹Jᵀy where y is the shortest least-squares solution of J M⁻¹Jᵀ y = b. Redundant rows are harmless.
    Step step(const std::vector<int>& rows, const Vector& b) const;
    std::optional<Vector> solve_linearised(const Vector& q, const Vector& start);
    double dot(int row, const Vector& x) const {
        return row_dot(layout_.rows, terms_.W, row, {x.data(), static_cast<std::size_t>(x.size())});
    }

    const Model& model_;
    const Layout& layout_;
    Workspace workspace_;
    Terms terms_;
    MassFactor factor_;
    std::vector<int> held_;  // active set: constraints (of positions, or all), then the contacts that are closed
    std::size_t constraints_held_ = 0;  // how many of them are constraints
    std::vector<char> exists_;          // per contact: it exists at the initial state
};

Projection::Step Projection::step(const std::vector<int>& rows, const Vector& b) const {
    // M⁻¹Jᵀ column by column. Only nonzero entries are stored, so that rows of few coordinates cost little.
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
    Step s{Vector::Zero(model_.size()), least_squares(D, b)};
    for (std::size_t j = 0; j < rows.size(); ++j)
        for (const auto& [c, value] : columns[j]) s.x(c) += value * s.multipliers(static_cast<Eigen::Index>(j));
    return s;
}

/// The point nearest to `start` that fulfils the rows linearised at q: constraints as equations, gaps as inequalities.
/// It is a quadratic program, solved by an active-set method: a contact whose multiplier is negative leaves the set, a
/// contact that the solution penetrates enters it. None if the method does not end.
std::optional<Vector> Projection::solve_linearised(const Vector& q, const Vector& start) {
    const std::size_t constraints = constraints_held_;
    for (std::size_t trial = 0; trial < 10 * model_.contacts.size() + joint_changes; ++trial) {
        if (static_cast<double>(held_.size()) * static_cast<double>(held_.size()) > max_entries) return std::nullopt;
        Vector b(static_cast<Eigen::Index>(held_.size()));
        for (std::size_t i = 0; i < held_.size(); ++i)
            b(static_cast<Eigen::Index>(i)) =
                dot(held_[i], q - start) - terms_.positions[static_cast<std::size_t>(held_[i])];
        Vector next = start, y;
        if (!held_.empty()) {
            Step s = step(held_, b);
            next = start + s.x;
            y = std::move(s.multipliers);
        }
        if (!next.allFinite()) return std::nullopt;

        // All wrong contacts change at once in the first trials. After that one per trial, because joint changes can
        // cycle.
        const bool jointly = trial < joint_changes;
        const double pull = negligible_pull * (y.size() > 0 ? y.cwiseAbs().maxCoeff() : 0.0);
        double strongest = pull;
        for (std::size_t i = constraints; i < held_.size(); ++i)
            strongest = std::max(strongest, -y(static_cast<Eigen::Index>(i)));
        if (strongest > pull) {
            std::size_t kept = constraints;
            for (std::size_t i = constraints; i < held_.size(); ++i) {
                const double p = -y(static_cast<Eigen::Index>(i));
                if (!(jointly ? p > pull : p == strongest)) held_[kept++] = held_[i];
            }
            held_.resize(kept);
            continue;
        }
        std::vector<std::pair<double, int>> penetrating;
        for (const Contact& c : model_.contacts) {
            if (exists_[static_cast<std::size_t>(&c - model_.contacts.data())] == 0) continue;
            const double gap =
                (terms_.positions[static_cast<std::size_t>(c.row)] + dot(c.row, next - q)) /
                row_scale(layout_.rows, terms_.W, c.row, {next.data(), static_cast<std::size_t>(next.size())});
            if (gap < -negligible_gap && std::find(held_.begin(), held_.end(), c.row) == held_.end())
                penetrating.emplace_back(gap, c.row);
        }
        if (penetrating.empty()) return next;
        if (!jointly) penetrating = {*std::min_element(penetrating.begin(), penetrating.end())};
        for (const auto& [gap, row] : penetrating) held_.push_back(row);
    }
    return std::nullopt;
}

bool Projection::positions(std::vector<double>& q0) {
    Eigen::Map<Vector> result(q0.data(), model_.size());
    const Vector start = result;
    evaluate_at(q0, model_.u0);
    if (!factor_.factorise(terms_.M)) return false;
    held_.clear();
    for (const Constraint& c : model_.constraints)
        if (!c.on_velocity) held_.push_back(c.row);
    constraints_held_ = held_.size();

    // Linearise at the current point and project the start until nothing moves: the limit is the nearest point. If the
    // rows are so curved that this does not converge, the last iterations project the current point itself; that is
    // Newton's method, which converges quadratically to some admissible point.
    for (int iteration = 0; iteration < max_iterations; ++iteration) {
        evaluate_at(q0, model_.u0);
        for (const double g : terms_.positions)
            if (!std::isfinite(g)) return false;
        const Vector q = result;
        const std::optional<Vector> next = solve_linearised(q, iteration < iterations_from_start ? start : q);
        if (!next) return false;
        result = *next;
        if ((*next - q).norm() <= converged_step * (1.0 + next->norm())) break;
    }
    return true;
}

bool Projection::velocities(std::span<const double> q, std::vector<double>& u0) {
    if (model_.constraints.empty()) return true;
    evaluate_at(q, u0);
    if (!factor_.factorise(terms_.M)) return false;
    held_.clear();
    Vector b(static_cast<Eigen::Index>(model_.constraints.size()));
    for (std::size_t i = 0; i < model_.constraints.size(); ++i) {
        held_.push_back(model_.constraints[i].row);
        b(static_cast<Eigen::Index>(i)) = -row_velocity(layout_, terms_, held_.back(), u0);
    }
    if (!b.allFinite()) return false;
    Eigen::Map<Vector> u(u0.data(), model_.size());
    u += step(held_, b).x;
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
