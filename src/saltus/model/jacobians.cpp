// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/jacobians.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace saltus::model {

namespace {

/// The Jacobians of a system with some of their parameter columns left out. It evaluates all columns and copies those
/// that are asked for; a system that can evaluate fewer overrides System::jacobians_by.
class SelectedJacobians final : public Jacobians {
public:
    SelectedJacobians(std::unique_ptr<Jacobians> all, int coordinates, std::span<const int> parameters)
        : all_(std::move(all)) {
        const int first = 1 + 2 * coordinates;
        for (std::size_t f = 0; f < selected_.size(); ++f) {
            const Pattern& from = all_->pattern(static_cast<Function>(f));
            std::vector<int> to(ix(std::max(from.cols, first)), -1);
            for (int c = 0; c < first; ++c) to[ix(c)] = c;
            for (std::size_t i = 0; i < parameters.size(); ++i)
                to[ix(first + parameters[i])] = first + static_cast<int>(i);
            Pattern& pattern = selected_[f].pattern;
            pattern.cols = first + static_cast<int>(parameters.size());
            std::vector<std::pair<int, int>> row;  // column and entry
            std::vector<int> columns;
            for (std::size_t r = 0; r < ix(from.rows); ++r) {
                row.clear();
                columns.clear();
                for (int k = from.start[r]; k < from.start[r + 1]; ++k)
                    if (const int c = to[ix(from.column[ix(k)])]; c >= 0) row.emplace_back(c, k);
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
        for (std::size_t k = 0; k < entry.size(); ++k) values[k] = values_[ix(entry[k])];
    }

private:
    struct Selected {
        Pattern pattern;
        std::vector<int> entry;
    };
    std::unique_ptr<Jacobians> all_;
    std::array<Selected, function_count> selected_;
    std::vector<double> values_;
};

}  // namespace

std::unique_ptr<Jacobians> System::jacobians_by(std::span<const int> parameters) const {
    std::unique_ptr<Jacobians> all = jacobians();
    if (all == nullptr) return nullptr;
    return std::make_unique<SelectedJacobians>(std::move(all), layout().coordinates, parameters);
}

std::vector<int> all_parameters(std::size_t count) {
    std::vector<int> list(count);
    std::iota(list.begin(), list.end(), 0);
    return list;
}

}  // namespace saltus::model
