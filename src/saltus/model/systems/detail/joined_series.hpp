// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "saltus/model/pattern.hpp"
#include "saltus/model/series.hpp"
#include "saltus/model/system.hpp"

namespace saltus::model {

/// Series of a JoinedSystem: those of its two parts, added (masses, forces, powers) or side by side (rows, positions,
/// coefficients, switches).
class JoinedSeries final : public SeriesEquations {
public:
    /// Where the terms of a part are among those of the whole: its entries of M, its rows, its entries of W.
    struct Places {
        std::span<const int> mass, rows, entries;
    };
    using Parts = std::array<std::unique_ptr<SeriesEquations>, 2>;
    /// The second part must have all coordinates. The places must outlive this object.
    JoinedSeries(Parts parts, const Layout& layout, const std::array<Places, 2>& places);

    void begin(double t0) override;
    void evaluate_order(int k) override;
    int switch_count() const override { return part_[0]->switch_count() + part_[1]->switch_count(); }
    Row switch_function(int i) const override { return owner(i).switch_function(own_number(i)); }
    int side(int i) const override { return owner(i).side(own_number(i)); }
    void set_side(int i, int side) override { owner(i).set_side(own_number(i), side); }
    void clear_sides() override;
    bool transparent() const override { return part_[0]->transparent() && part_[1]->transparent(); }
    const Radii& bounds(double R, std::span<const double> q_radius, std::span<const double> u_radius) override;

private:
    struct Sum {
        double* to;
        Row a, b;
    };
    struct Copy {
        Row from;
        double* to;
    };

    SeriesEquations& owner(int i) const { return *part_[i < part_[0]->switch_count() ? 0 : 1]; }
    int own_number(int i) const { return i < part_[0]->switch_count() ? i : i - part_[0]->switch_count(); }
    double* new_row();
    Row sum(Row a, Row b);
    void scatter(const Radii& from, std::size_t part);

    Parts part_;
    std::array<Places, 2> places_;
    std::vector<std::unique_ptr<double[]>> storage_;
    std::vector<Sum> sums_;
    std::vector<Copy> copies_;  // from the coordinates of the second part to those of the first
    Radii radii_;
};

}  // namespace saltus::model
