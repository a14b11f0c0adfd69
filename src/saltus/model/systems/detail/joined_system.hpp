// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "saltus/model/system.hpp"

namespace saltus::model {

/// Two systems on the same coordinates, joined to one. Masses, forces and energies are added. The rows of each kind are
/// those of the first system, then those of the second. The second system must not have coefficients. `symbolic` is
/// null, because formulas of the first system alone would not describe the whole.
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
    /// Null if a part has none. The second part must have all coordinates.
    std::unique_ptr<SeriesEquations> series(const SeriesNeeds& needs, std::span<const double> p) const override;

    /// The number among all rows of row `r` of part 0 or 1.
    int row_of(std::size_t part, int r) const { return row_of_[part][static_cast<std::size_t>(r)]; }

private:
    struct Scratch {
        std::span<double> part[2];           // scratch of each part
        std::span<double> buffer1, buffer2;  // values of a part before they are scattered
    };
    Scratch split(std::span<double> scratch) const;
    std::size_t buffer_size() const;

    std::shared_ptr<const System> part_[2];
    Layout layout_;
    MergedPattern mass_;
    std::vector<int> row_of_[2];
    std::vector<int> entry_of_[2];  // index of each W entry of a part among all W entries
};

}  // namespace saltus::model
