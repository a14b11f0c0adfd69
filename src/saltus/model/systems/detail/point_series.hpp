// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "saltus/expr/series/series_tape.hpp"
#include "saltus/model/series.hpp"
#include "saltus/model/systems/detail/point_system.hpp"
#include "saltus/model/systems/detail/spring_series.hpp"
#include "saltus/model/systems/detail/volume_series.hpp"

namespace saltus::model {

/// Series of a PointSystem: recurrences in plain loops over points, springs and faces. The cost of an order is linear
/// in their number. Offsets, volume errors and coefficients are expressions of the time on a small tape.
class PointSeries final : public SeriesEquations {
public:
    /// `offsets` and `etas`: of the obstacles and the volumes, each with its first and second derivative. All volumes
    /// must be closed.
    PointSeries(const PointFormulas& formulas, std::span<const PointSystem::Signal> offsets,
                std::span<const PointSystem::Signal> etas, const Layout& layout,
                std::span<const std::vector<int>> volume_points, const SeriesNeeds& needs, std::span<const double> p);

    void begin(double t0) override { signals_->begin(t0); }
    void evaluate_order(int k) override;
    int switch_count() const override { return tape_.switch_count(); }
    Row switch_function(int i) const override { return signals_->switch_function(i); }
    int side(int i) const override { return signals_->side(i); }
    void set_side(int i, int side) override { signals_->set_side(i, side); }
    void clear_sides() override { signals_->clear_sides(); }
    bool transparent() const override { return transparent_; }
    int motion_degree() const override { return motion_degree_; }
    const Radii& bounds(double R, std::span<const double> q_radius, std::span<const double> u_radius) override;

private:
    using Signal = PointSystem::Signal;
    /// Rows of coefficients, all zero at first, that stay in their place.
    class Rows {
    public:
        double* add();
        double* add(double constant);

    private:
        static constexpr std::size_t stride = max_order + 2, rows_per_piece = 256;
        std::vector<std::unique_ptr<double[]>> pieces_;
        std::size_t used_ = rows_per_piece;
    };
    /// Numbers among the outputs of the tape: a function of time and its derivatives. −1 if not needed.
    using SignalNumbers = std::array<int, 3>;
    struct ObstacleRows {
        PointFormulas::Triple normal;
        SignalNumbers offset;
        double *chi, *zeta;
        std::vector<int> rows;  // normals that are needed
    };
    struct Gap {
        int row;
        std::size_t first_coordinate, obstacle;
        double* series;
    };
    struct VolumeRows {
        int row;
        double initial;
        SignalNumbers eta;
        double *position, *chi, *zeta;
        std::size_t first_entry;  // of the row among the entries of W
        VolumeSeries series;
    };

    void compile(const PointFormulas& f, std::span<const Signal> offsets, std::span<const Signal> etas,
                 const SeriesNeeds& needs, std::span<const double> p);
    void add_points(const PointFormulas& f, const Layout& layout);
    void add_springs(const PointFormulas& f);
    void add_volumes(const PointFormulas& f, const Layout& layout, std::span<const std::vector<int>> points,
                     const SeriesNeeds& needs);
    void add_obstacles(const PointFormulas& f, const Layout& layout, const SeriesNeeds& needs);
    void add_slips(const PointFormulas& f, const Layout& layout, const SeriesNeeds& needs);
    void set_direction(const Layout& layout, int row, const PointFormulas::Triple& direction,
                       const std::array<double*, 3>& series);
    void judge(const PointFormulas& f, std::span<const expr::Expr> outputs);
    double signal(int number, int k) const { return number < 0 ? 0.0 : signals_->output(number)[k]; }
    double signal_radius(int number) const {
        return number < 0 ? 0.0 : signal_radius_[static_cast<std::size_t>(number)];
    }
    void prepare_bounds();
    void bound_rows(double R, std::span<const double> q_radius);

    Rows storage_;
    expr::SeriesTape tape_;
    std::unique_ptr<expr::SeriesWorkspace<double>> signals_;
    int mass_scale_ = -1;  // numbers of outputs of the tape
    /// Numbers of outputs of the tape. The rates are −1 for springs that do not depend on the time.
    struct GroupNumbers {
        int k, c, rest, k_rate, rest_rate;
    };
    std::vector<GroupNumbers> groups_;
    std::vector<SignalNumbers> offset_numbers_, eta_numbers_;
    std::vector<int> coefficient_numbers_;
    std::size_t first_coordinate_ = 0;
    std::vector<double*> h_;
    std::vector<double> weight_;  // the constant part of h, by coordinate
    std::unique_ptr<SpringSeries> springs_;
    std::vector<VolumeRows> volumes_;
    std::vector<ObstacleRows> obstacles_;
    std::vector<Gap> gaps_;
    double *zero_ = nullptr, *damping_ = nullptr, *applied_ = nullptr;
    bool transparent_ = false;
    int motion_degree_ = unlimited_degree;
    int order_ = 0;  // last order that was evaluated
    Radii radii_;
    std::vector<double> signal_radius_;
};

}  // namespace saltus::model
