// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>

#include "saltus/model/symbolic.hpp"
#include "saltus/model/system.hpp"

namespace saltus::model {

class DerivativeStore;
class SeriesStore;

/// A system given by formulas and evaluated on tapes. If the formulas cover only a part of the model's coordinates,
/// then forces, masses and rows of the other coordinates are zero; JoinedSystem adds another system there.
class ExpressionSystem final : public System {
public:
    explicit ExpressionSystem(Formulas formulas);

    const Layout& layout() const override { return layout_; }
    std::size_t scratch_size() const override { return scratch_size_; }
    void prepare(std::span<const double> p, std::span<double> scratch) const override;
    void mass(const At& at, std::span<double> scratch, std::span<double> M) const override;
    void force(const At& at, std::span<double> scratch, std::span<double> h) const override;
    void positions(const At& at, std::span<double> scratch, std::span<double> g) const override;
    void rows(const At& at, std::span<double> scratch, std::span<double> W, std::span<double> chi) const override;
    void curvature(const At& at, std::span<double> scratch, std::span<double> zeta) const override;
    void coefficients(const At& at, std::span<double> scratch, std::span<double> values) const override;
    void terms(const At& at, std::span<double> scratch, Terms& out) const override;
    Energy energy(const At& at, std::span<double> scratch) const override;
    std::unique_ptr<Jacobians> jacobians() const override;
    std::unique_ptr<Jacobians> jacobians_by(std::span<const int> parameters) const override;
    /// Null if the formulas cover only a part of the coordinates.
    const SymbolicEquations* symbolic() const override { return equations_.complete() ? &equations_ : nullptr; }
    /// If the formulas cover only a part of the coordinates, then q, u and h of the others are null.
    std::unique_ptr<SeriesEquations> series(const SeriesNeeds& needs, std::span<const double> p) const override;

private:
    using Part = SymbolicEquations::Part;
    void evaluate(Part part, const At& at, std::span<double> scratch, std::span<double> out) const;

    SymbolicEquations equations_;
    Layout layout_;
    std::array<std::size_t, SymbolicEquations::part_count> tape_start_{};  // of each tape's slots in the scratch
    std::size_t output_start_ = 0, scratch_size_ = 0;
    std::shared_ptr<DerivativeStore> derivatives_;
    std::shared_ptr<SeriesStore> series_;
};

}  // namespace saltus::model
