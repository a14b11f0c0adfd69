// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/inspect.hpp"

#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/model/mass.hpp"

namespace saltus::model {

namespace {

class Inspector {
public:
    explicit Inspector(const Model& model)
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

    void slip(const Friction& f, std::vector<double>& gamma_t, std::vector<double>& mu) const {
        for (int k = 0; k < f.dimension; ++k) gamma_t.push_back(velocity(f.first_row + k));
        for (const Coefficient c : f.mu)
            if (c != no_coefficient) mu.push_back(value(c));
    }

    double scale(int row) const {
        double sum = 1.0;
        for (int k = layout_.rows.start[static_cast<std::size_t>(row)];
             k < layout_.rows.start[static_cast<std::size_t>(row) + 1]; ++k)
            sum += std::abs(terms_.W[static_cast<std::size_t>(k)] *
                            model_.q0[static_cast<std::size_t>(layout_.rows.column[static_cast<std::size_t>(k)])]);
        return sum;
    }

    void rows() {
        for (const Constraint& c : model_.constraints) {
            Inspection::ConstraintState s{terms_.positions[static_cast<std::size_t>(c.row)], velocity(c.row), {}, {}};
            slip(c.friction, s.gamma_t, s.mu);
            result_.constraints.push_back(std::move(s));
            active_.emplace_back(c.row, &c.name);
        }
        std::vector<std::string> approaching;
        for (const Contact& c : model_.contacts) {
            Inspection::ContactState s{terms_.positions[static_cast<std::size_t>(c.row)],
                                       velocity(c.row),
                                       {},
                                       {},
                                       false,
                                       value(c.e_n),
                                       value(c.e_t)};
            slip(c.friction, s.gamma_t, s.mu);
            s.closed = s.gap <= closed_tolerance * scale(c.row);
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
            Inspection::SliderState s{{}, {}, value(c.normal_force)};
            slip(c.friction, s.gamma_t, s.mu);
            result_.sliders.push_back(std::move(s));
        }
        for (const Clutch& c : model_.clutches) result_.clutch_gamma.push_back(velocity(c.row));
        result_.active_rows = static_cast<int>(active_.size());
    }

    Matrix active_jacobian() const {
        // Columns that no active row touches say nothing about the rank.
        std::vector<int> column_of(static_cast<std::size_t>(model_.size()), -1);
        int columns = 0;
        const auto for_each = [&](auto f) {
            for (std::size_t i = 0; i < active_.size(); ++i) {
                const auto row = static_cast<std::size_t>(active_[i].first);
                for (int k = layout_.rows.start[row]; k < layout_.rows.start[row + 1]; ++k)
                    f(i, static_cast<std::size_t>(layout_.rows.column[static_cast<std::size_t>(k)]),
                      terms_.W[static_cast<std::size_t>(k)]);
            }
        };
        for_each([&](std::size_t, std::size_t c, double) {
            if (column_of[c] < 0) column_of[c] = columns++;
        });
        Matrix J = Matrix::Zero(static_cast<Eigen::Index>(active_.size()), columns);
        for_each([&](std::size_t i, std::size_t c, double w) { J(static_cast<Eigen::Index>(i), column_of[c]) = w; });
        return J;
    }

    void ranks() {
        constexpr std::size_t most_rows = 1500;
        result_.degrees_of_freedom = model_.size();
        if (active_.size() > most_rows) {
            result_.warnings.push_back("rank of the active rows not computed: " + counted(active_.size(), "row") +
                                       ", more than " + std::to_string(most_rows));
            return;
        }
        const RowRank rank = row_rank(active_jacobian());
        result_.rank = rank.rank;
        const auto constraints = static_cast<int>(model_.constraints.size());
        int independent = 0;
        for (const int row : rank.independent) independent += row < constraints ? 1 : 0;
        result_.constraint_rank = independent;
        result_.degrees_of_freedom -= independent;
        for (const RowRank::Dependent& d : rank.dependent) {
            Inspection::Redundant r{*active_[static_cast<std::size_t>(d.row)].second, {}};
            for (const auto& [row, factor] : d.combination)
                r.combination.emplace_back(*active_[static_cast<std::size_t>(row)].second, factor);
            result_.redundant.push_back(std::move(r));
        }
    }

    void mass() {
        const MassFactor factor(layout_.mass);
        const Spectrum s = factor.spectrum(terms_.M);
        result_.mass_smallest = s.smallest;
        result_.mass_largest = s.largest;
        result_.mass_diagonal = factor.blocks().size() == static_cast<std::size_t>(model_.size());
    }

    const Model& model_;
    const Layout& layout_;
    Workspace workspace_;
    Terms terms_;
    std::vector<double> coefficients_;
    std::vector<std::pair<int, const std::string*>> active_;
    Inspection result_;
};

}  // namespace

Inspection inspect(const Model& model) { return Inspector(model).inspect(); }

}  // namespace saltus::model
