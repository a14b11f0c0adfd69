// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/inspect.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "saltus/base/text.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/mass.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::model {

namespace {

/// The rank of a component of rows costs O(rows³). Larger components are not computed.
constexpr std::size_t max_component_rows = 600;

/// A warning is given if the eigenvalues of M differ by more than this factor.
constexpr double nearly_singular_mass = 1e12;

class Inspector {
public:
    explicit Inspector(const Mechanics& model)
        : model_(model),
          layout_(model.layout()),
          workspace_(model),
          terms_(layout_),
          coefficients_(static_cast<std::size_t>(layout_.coefficients)) {
        evaluate(model, workspace_, 0.0, model.q0, model.u0, terms_);
        const At here = at(model, 0.0, model.q0, model.u0);
        model.system->coefficients(here, workspace_.scratch(), coefficients_);
        result_.energy = model.system->energy(here, workspace_.scratch());
        result_.warnings = model.warnings;
    }

    Inspection inspect() {
        rows();
        ranks();
        mass();
        return std::move(result_);
    }

private:
    double velocity(int row) const { return row_velocity(layout_, terms_, row, model_.u0); }
    double value(Coefficient c) const { return c == no_coefficient ? 0.0 : coefficients_[static_cast<std::size_t>(c)]; }

    /// Sets slip velocities and coefficients of the state of an element.
    template <class State>
    void slip(const Friction& f, State& s) const {
        for (int k = 0; k < f.dimension; ++k) s.gamma_t.push_back(velocity(f.first_row + k));
        for (const Coefficient c : f.mu)
            if (c != no_coefficient) s.mu.push_back(value(c));
        if (f.mu_static != no_coefficient) s.mu_static = value(f.mu_static);
    }

    void rows() {
        for (const Constraint& c : model_.constraints) {
            Inspection::ConstraintState s{
                terms_.positions[static_cast<std::size_t>(c.row)], velocity(c.row), {}, {}, {}};
            slip(c.friction, s);
            result_.constraints.push_back(std::move(s));
            active_.emplace_back(c.row, &c.name);
        }
        std::vector<std::string> approaching;
        for (const Contact& c : model_.contacts) {
            Inspection::ContactState s{};
            s.gap = terms_.positions[static_cast<std::size_t>(c.row)];
            s.gamma_n = velocity(c.row);
            s.e_n = value(c.e_n);
            s.e_t = value(c.e_t);
            s.c = value(c.c);
            for (const Coefficient k : c.friction.radius)
                if (k != no_coefficient) s.radius.push_back(value(k));
            if (c.penalty_k != no_coefficient) s.penalty_k = value(c.penalty_k);
            if (c.penalty_d != no_coefficient) s.penalty_d = value(c.penalty_d);
            slip(c.friction, s);
            s.exists = c.condition == no_coefficient || value(c.condition) > 0.0;
            s.closed = s.exists && s.gap <= closed_tolerance * row_scale(layout_.rows, terms_.W, c.row, model_.q0);
            if (s.closed) {
                ++result_.closed;
                active_.emplace_back(c.row, &c.name);
                if (s.gamma_n < 0.0) approaching.push_back(c.name);
            }
            result_.contacts.push_back(std::move(s));
        }
        if (!approaching.empty())
            result_.warnings.push_back("closed and approaching at the start: " + listing(approaching, "and", "'") +
                                       "; the motion begins with an impact");
        for (const Slider& c : model_.sliders) {
            Inspection::SliderState s{{}, {}, value(c.normal_force), {}};
            slip(c.friction, s);
            result_.sliders.push_back(std::move(s));
        }
        for (const Clutch& c : model_.clutches) result_.clutch_gamma.push_back(velocity(c.row));
        result_.active_rows = static_cast<int>(active_.size());
    }

    using Rows = std::vector<std::size_t>;  // numbers in active_

    Matrix jacobian(const Rows& rows) const {
        // Columns without entries do not change the rank and are left out.
        std::map<int, Eigen::Index> column_of;
        const auto for_each = [&](auto f) {
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const auto row = static_cast<std::size_t>(active_[rows[i]].first);
                for (int k = layout_.rows.start[row]; k < layout_.rows.start[row + 1]; ++k)
                    f(static_cast<Eigen::Index>(i), layout_.rows.column[static_cast<std::size_t>(k)],
                      terms_.W[static_cast<std::size_t>(k)]);
            }
        };
        for_each(
            [&](Eigen::Index, int c, double) { column_of.emplace(c, static_cast<Eigen::Index>(column_of.size())); });
        Matrix J = Matrix::Zero(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(column_of.size()));
        for_each([&](Eigen::Index i, int c, double w) { J(i, column_of[c]) = w; });
        return J;
    }

    /// The first `count` active rows, grouped into components. Rows of different components share no coordinate,
    /// directly or through other rows, so they are independent of each other.
    std::vector<Rows> components(std::size_t count) const {
        std::vector<std::size_t> parent(count);
        std::iota(parent.begin(), parent.end(), std::size_t{0});
        const auto root = [&](std::size_t i) {
            while (parent[i] != i) i = parent[i] = parent[parent[i]];
            return i;
        };
        std::map<int, std::size_t> first_with;
        for (std::size_t i = 0; i < count; ++i) {
            const auto row = static_cast<std::size_t>(active_[i].first);
            for (int k = layout_.rows.start[row]; k < layout_.rows.start[row + 1]; ++k) {
                const auto [at, fresh] = first_with.emplace(layout_.rows.column[static_cast<std::size_t>(k)], i);
                if (!fresh) parent[root(i)] = root(at->second);
            }
        }
        std::map<std::size_t, Rows> groups;
        for (std::size_t i = 0; i < count; ++i) groups[root(i)].push_back(i);
        std::vector<Rows> list;
        for (auto& [key, rows] : groups) list.push_back(std::move(rows));
        return list;
    }

    /// Rank of the first `count` active rows; none if a component is too large. Appends the redundant rows to
    /// `redundant` unless that is null.
    std::optional<int> rank_of(std::size_t count, std::vector<Inspection::Redundant>* redundant) const {
        int rank = 0;
        std::vector<std::pair<std::size_t, Inspection::Redundant>> found;
        for (const Rows& rows : components(count)) {
            if (rows.size() > max_component_rows) return std::nullopt;
            const RowRank r = row_rank(jacobian(rows));
            rank += r.rank;
            for (const RowRank::Dependent& d : r.dependent) {
                const auto name = [&](int row) { return *active_[rows[static_cast<std::size_t>(row)]].second; };
                Inspection::Redundant one{name(d.row), {}};
                for (const auto& [row, factor] : d.combination) one.combination.emplace_back(name(row), factor);
                found.emplace_back(rows[static_cast<std::size_t>(d.row)], std::move(one));
            }
        }
        std::sort(found.begin(), found.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
        if (redundant != nullptr)
            for (auto& [row, one] : found) redundant->push_back(std::move(one));
        return rank;
    }

    void ranks() {
        result_.constraint_rank = rank_of(model_.constraints.size(), nullptr);
        result_.degrees_of_freedom =
            model_.size() - result_.constraint_rank.value_or(static_cast<int>(model_.constraints.size()));
        result_.rank = rank_of(active_.size(), &result_.redundant);
        if (!result_.rank)
            result_.warnings.push_back("rank of the active rows not computed: " + counted(active_.size(), "row") +
                                       " are coupled");
        if (!result_.constraint_rank)
            result_.warnings.push_back(
                "rank of the constraints not computed: the degrees of freedom count them as independent");
    }

    void mass() {
        const MassFactor factor(layout_.mass);
        const Spectrum s = factor.spectrum(terms_.M);
        result_.mass_smallest = s.smallest;
        result_.mass_largest = s.largest;
        if (s.largest > nearly_singular_mass * s.smallest)
            result_.warnings.push_back("the mass matrix is nearly singular: its eigenvalues differ by more than 1e12");
        result_.mass_diagonal = factor.blocks().size() == static_cast<std::size_t>(model_.size());
    }

    const Mechanics& model_;
    const Layout& layout_;
    Workspace workspace_;
    Terms terms_;
    std::vector<double> coefficients_;
    std::vector<std::pair<int, const std::string*>> active_;  // row and name of constraints and closed contacts
    Inspection result_;
};

}  // namespace

Inspection inspect(const Mechanics& model) { return Inspector(model).inspect(); }

PerturbationIndex perturbation_index(const Mechanics& model) {
    constexpr int of_positions = 3, of_velocities = 2;
    PerturbationIndex index;
    if (!model.constraints.empty()) index.free = of_positions;
    if (!model.constraints.empty() || !model.contacts.empty())
        index.largest = of_positions;
    else if (!model.sliders.empty() || !model.clutches.empty())
        index.largest = of_velocities;
    return index;
}

}  // namespace saltus::model
