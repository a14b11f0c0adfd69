// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/system.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace saltus::model {

Terms::Terms(const Layout& layout) {
    const auto n = static_cast<std::size_t>(layout.coordinates), rows = static_cast<std::size_t>(layout.row_count());
    lay_out({layout.mass.size(), n, static_cast<std::size_t>(layout.positions()), layout.rows.size(), rows, rows});
}

Terms::Terms(const Terms& other) {
    data_ = other.data_;
    lay_out(
        {other.M.size(), other.h.size(), other.positions.size(), other.W.size(), other.chi.size(), other.zeta.size()});
}

void Terms::lay_out(const std::vector<std::size_t>& sizes) {
    data_.resize(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}));
    std::span<double> rest = data_;
    std::size_t k = 0;
    for (std::span<double>* part : {&M, &h, &positions, &W, &chi, &zeta}) {
        *part = rest.first(sizes[k]);
        rest = rest.subspan(sizes[k++]);
    }
}

namespace {

/// Columns of others' Jacobians.
class SelectedJacobians final : public Jacobians {
public:
    SelectedJacobians(std::unique_ptr<Jacobians> all, int coordinates, std::span<const int> parameters)
        : all_(std::move(all)) {
        const int first = 1 + 2 * coordinates;
        for (std::size_t f = 0; f < selected_.size(); ++f) {
            const Pattern& from = all_->pattern(static_cast<Function>(f));
            std::vector<int> to(static_cast<std::size_t>(std::max(from.cols, first)), -1);
            for (int c = 0; c < first; ++c) to[static_cast<std::size_t>(c)] = c;
            for (std::size_t i = 0; i < parameters.size(); ++i)
                to[static_cast<std::size_t>(first + parameters[i])] = first + static_cast<int>(i);
            Pattern& pattern = selected_[f].pattern;
            pattern.cols = first + static_cast<int>(parameters.size());
            std::vector<std::pair<int, int>> row;  // column and entry
            std::vector<int> columns;
            for (std::size_t r = 0; r < static_cast<std::size_t>(from.rows); ++r) {
                row.clear();
                columns.clear();
                for (int k = from.start[r]; k < from.start[r + 1]; ++k)
                    if (const int c = to[static_cast<std::size_t>(from.column[static_cast<std::size_t>(k)])]; c >= 0)
                        row.emplace_back(c, k);
                std::sort(row.begin(), row.end());
                for (const auto& [c, k] : row) {
                    columns.push_back(c);
                    selected_[f].entry.push_back(k);
                }
                pattern.add_row(columns);
            }
        }
    }

    const Pattern& pattern(Function f) const override { return selected_[static_cast<std::size_t>(f)].pattern; }

    void evaluate(Function f, const At& at, std::span<const double> a, std::span<const double> lambda,
                  std::span<double> values) override {
        values_.resize(all_->pattern(f).size());
        all_->evaluate(f, at, a, lambda, values_);
        const std::vector<int>& entry = selected_[static_cast<std::size_t>(f)].entry;
        for (std::size_t k = 0; k < entry.size(); ++k) values[k] = values_[static_cast<std::size_t>(entry[k])];
    }

private:
    struct Selected {
        Pattern pattern;
        std::vector<int> entry;
    };
    std::unique_ptr<Jacobians> all_;
    std::array<Selected, 5> selected_;
    std::vector<double> values_;
};

}  // namespace

std::unique_ptr<Jacobians> System::jacobians_by(std::span<const int> parameters) const {
    std::unique_ptr<Jacobians> all = jacobians();
    if (all == nullptr) return nullptr;
    return std::make_unique<SelectedJacobians>(std::move(all), layout().coordinates, parameters);
}

std::vector<int> numbers_to(std::size_t count) {
    std::vector<int> list(count);
    std::iota(list.begin(), list.end(), 0);
    return list;
}

void System::terms(const At& at, std::span<double> scratch, Terms& out) const {
    mass(at, scratch, out.M);
    force(at, scratch, out.h);
    positions(at, scratch, out.positions);
    rows(at, scratch, out.W, out.chi);
    curvature(at, scratch, out.zeta);
}

Energy System::energy(const At& at, std::span<double> scratch) const {
    const Pattern& pattern = layout().mass;
    std::vector<double> M(pattern.size());
    mass(at, scratch, M);
    Energy e;
    for (int i = 0; i < pattern.rows; ++i)
        for (int k = pattern.start[static_cast<std::size_t>(i)]; k < pattern.start[static_cast<std::size_t>(i) + 1];
             ++k) {
            const int j = pattern.column[static_cast<std::size_t>(k)];
            const double product =
                M[static_cast<std::size_t>(k)] * at.u[static_cast<std::size_t>(i)] * at.u[static_cast<std::size_t>(j)];
            e.kinetic += i == j ? 0.5 * product : product;
        }
    return e;
}

}  // namespace saltus::model
