// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "saltus/model/system.hpp"

namespace saltus::model {

/// Two systems on the same coordinates as one: masses, forces and energies add up, rows of each kind stand one
/// after the other (the first's, then the second's). Coefficients come from the first.
class JoinedSystem final : public System {
public:
    JoinedSystem(std::shared_ptr<const System> first, std::shared_ptr<const System> second);

    const Layout& layout() const override { return layout_; }
    std::size_t scratch_size() const override;
    void prepare(std::span<const double> p, std::span<double> scratch) const override;
    void mass(const At& at, std::span<double> scratch, std::span<double> M) const override;
    void force(const At& at, std::span<double> scratch, std::span<double> h) const override;
    void positions(const At& at, std::span<double> scratch, std::span<double> g) const override;
    void rows(const At& at, std::span<double> scratch, std::span<double> W, std::span<double> chi) const override;
    void curvature(const At& at, std::span<double> scratch, std::span<double> zeta) const override;
    void coefficients(const At& at, std::span<double> scratch, std::span<double> values) const override;
    Energy energy(const At& at, std::span<double> scratch) const override;
    std::unique_ptr<Jacobians> jacobians() const override;
    std::unique_ptr<Jacobians> jacobians_by(std::span<const int> parameters) const override;

    /// Row `r` of part 0 or 1 among all rows.
    int row_of(std::size_t part, int r) const { return row_of_[part][static_cast<std::size_t>(r)]; }

private:
    struct Scratch {
        std::span<double> part[2], buffer1, buffer2;
    };
    Scratch split(std::span<double> scratch) const;
    std::size_t buffer_size() const;

    std::shared_ptr<const System> part_[2];
    Layout layout_;
    MergedPattern mass_;
    std::vector<int> row_of_[2];
    std::vector<int> entry_of_[2];  // values of the part's rows among all rows' values
};

}  // namespace saltus::model
