// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/systems/detail/point_series.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/expr/series/disk_rules.hpp"
#include "saltus/model/systems/detail/expression_series.hpp"

namespace saltus::model {

namespace disk = expr::disk;
using expr::Expr;
using Triple = PointFormulas::Triple;

double* PointSeries::Rows::add() {
    if (used_ == rows_per_piece) {
        pieces_.push_back(std::make_unique<double[]>(rows_per_piece * stride));
        used_ = 0;
    }
    return pieces_.back().get() + stride * used_++;
}

double* PointSeries::Rows::add(double constant) {
    double* const row = add();
    row[0] = constant;
    return row;
}

PointSeries::PointSeries(const PointFormulas& f, std::span<const Signal> offsets, std::span<const Signal> etas,
                         const Layout& layout, std::span<const std::vector<int>> volume_points,
                         const SeriesNeeds& needs, std::span<const double> p) {
    compile(f, offsets, etas, needs, p);
    positions.assign(ix(layout.positions()), nullptr);
    W.assign(layout.rows.size(), nullptr);
    W_constant.assign(layout.rows.size(), 1);
    chi.assign(ix(layout.row_count()), nullptr);
    zeta.assign(ix(layout.row_count()), nullptr);
    coefficients.assign(ix(layout.coefficients), nullptr);
    coefficient_constant.assign(ix(layout.coefficients), 1);
    mass_constant = true;
    zero_ = storage_.add();
    damping_ = storage_.add();
    damping = damping_;
    applied_ = storage_.add();
    applied = applied_;
    add_points(f, layout);
    add_springs(f);
    add_volumes(f, layout, volume_points, needs);
    add_obstacles(f, layout, needs);
    add_slips(f, layout, needs);
    for (std::size_t c = 0; c < coefficients.size(); ++c)
        if (coefficient_numbers_[c] >= 0) {
            coefficients[c] = signals_->output(coefficient_numbers_[c]);
            coefficient_constant[c] = tape_.output_degree(coefficient_numbers_[c]) == 0 ? 1 : 0;
        }
}

/// Compiles the expressions that are needed, and judges how the motion depends on the time.
void PointSeries::compile(const PointFormulas& f, std::span<const Signal> offsets, std::span<const Signal> etas,
                          const SeriesNeeds& needs, std::span<const double> p) {
    std::vector<Expr> outputs;
    const auto want = [&](Expr e) {
        outputs.push_back(e);
        return static_cast<int>(outputs.size()) - 1;
    };
    const auto any = [](const std::vector<char>& of, std::size_t first, std::size_t count) {
        const auto begin = of.begin() + static_cast<std::ptrdiff_t>(first);
        return std::any_of(begin, begin + static_cast<std::ptrdiff_t>(count), [](char c) { return c != 0; });
    };
    const auto want_signal = [&](const Signal& s, bool value, bool row) {
        SignalNumbers numbers{-1, -1, -1};
        if (value) numbers[0] = want(s[0]);
        if (row) numbers[1] = want(s[1]), numbers[2] = want(s[2]);
        return numbers;
    };
    const std::size_t n = f.weight.size();
    for (std::size_t k = 0; k < etas.size(); ++k)
        eta_numbers_.push_back(want_signal(etas[k], needs.positions[k] != 0, needs.rows[k] != 0));
    for (std::size_t k = 0; k < offsets.size(); ++k) {
        const std::size_t first = etas.size() + k * n;
        offset_numbers_.push_back(want_signal(offsets[k], any(needs.positions, first, n), any(needs.rows, first, n)));
    }
    for (std::size_t c = 0; c < f.coefficients.size(); ++c)
        coefficient_numbers_.push_back(needs.coefficients[c] != 0 ? want(f.coefficients[c]) : -1);
    judge(f, outputs);
    mass_scale_ = want(f.mass_scale);
    for (const PointFormulas::SpringGroup& g : f.groups) {
        groups_.push_back({want(g.k), want(g.c), want(g.rest), -1, -1});
        if (!g.varies) continue;
        groups_.back().k_rate = want(g.k_rate);
        groups_.back().rest_rate = want(g.rest_rate);
    }
    tape_ = expr::SeriesTape(f.graph, outputs, f.p, std::array{f.t}, f.t);
    signals_ = std::make_unique<expr::SeriesWorkspace<double>>(tape_, max_order);
    signals_->prepare(p);
    signals_->begin(0.0);
    signals_->evaluate_order(0);  // masses and springs, except muscles, do not depend on the time
}

/// Sets `transparent` and `motion_degree`. `outputs` has all functions of time that are needed.
void PointSeries::judge(const PointFormulas& f, std::span<const Expr> outputs) {
    const bool volume = std::any_of(eta_numbers_.begin(), eta_numbers_.end(),
                                    [](const SignalNumbers& s) { return s[0] >= 0 || s[1] >= 0; });
    if (!f.springs.empty() || volume) return;
    transparent_ = is_transparent(f.graph, outputs.data(), outputs.size());
    const std::vector<int> degrees = degrees_in_time(f.graph, outputs, unlimited_degree, unlimited_degree);
    const auto degree = [&](int number) { return number < 0 ? 0 : degrees[outputs[ix(number)].id]; };
    for (const int number : coefficient_numbers_)
        if (degree(number) > 0) return;
    // Points fly with constant accelerations, or follow an obstacle: in each mode the accelerations and the reactions
    // are polynomials in time of the degree of the offsets' second derivatives. Velocities have one degree more,
    // positions two more. The power of a reaction is its product with the velocity of its row; the work has one degree
    // more.
    int acceleration = 0, row_velocity = 0, position = 0;
    for (const SignalNumbers& s : offset_numbers_) {
        position = std::max(position, degree(s[0]));
        row_velocity = std::max(row_velocity, degree(s[1]));
        acceleration = std::max(acceleration, degree(s[2]));
    }
    row_velocity = std::max(row_velocity, acceleration + 1);
    const int work = std::max(acceleration, acceleration + row_velocity) + 1;
    const int largest = std::max({position, acceleration + 2, work});
    if (largest <= max_order) motion_degree_ = largest;
}

void PointSeries::add_points(const PointFormulas& f, const Layout& layout) {
    const double scale = signal(mass_scale_, 0);
    first_coordinate_ = ix(f.first_coordinate);
    const std::size_t n = ix(layout.coordinates);
    for (std::size_t i = 0; i < n; ++i) {
        q.push_back(storage_.add());
        u.push_back(storage_.add());
        const bool own = i >= first_coordinate_;
        h_.push_back(own ? storage_.add() : zero_);
        weight_.push_back(own ? scale * f.weight[(i - first_coordinate_) / 3] * f.gravity[(i - first_coordinate_) % 3]
                              : 0.0);
    }
    h.assign(h_.begin(), h_.end());
    for (const double weight : f.weight) M.insert(M.end(), 3, storage_.add(scale * weight));
}

void PointSeries::add_springs(const PointFormulas& f) {
    std::vector<SpringSeries::Spring> springs;
    springs.reserve(f.springs.size());
    for (const PointFormulas::Spring& s : f.springs) {
        const GroupNumbers& law = groups_[ix(s.group)];
        const PointFormulas::SpringGroup& group = f.groups[ix(s.group)];
        const double rest = group.rest_initial ? s.length : signal(law.rest, 0);
        SpringSeries::Spring spring{f.first_coordinate + 3 * s.i, f.first_coordinate + 3 * s.j, signal(law.k, 0),
                                    signal(law.c, 0), rest};
        if (group.varies) {
            const auto of_time = [&](int number) {
                return SpringSeries::Signal{0.0, signals_->output(number), number};
            };
            const SpringSeries::Signal initial{s.length, nullptr, -1}, zero{};
            spring.stiffness = spring.rest = 0.0;
            spring.muscle = true;
            spring.law = {of_time(law.k), group.rest_initial ? initial : of_time(law.rest), of_time(law.k_rate),
                          group.rest_initial ? zero : of_time(law.rest_rate)};
        }
        springs.push_back(spring);
    }
    springs_ = std::make_unique<SpringSeries>(springs);
}

void PointSeries::add_volumes(const PointFormulas& f, const Layout& layout, std::span<const std::vector<int>> points,
                              const SeriesNeeds& needs) {
    for (std::size_t k = 0; k < f.volumes.size(); ++k) {
        const bool position = needs.positions[k] != 0, row = needs.rows[k] != 0;
        if (!position && !row) continue;
        volumes_.push_back({static_cast<int>(k), f.volumes[k].initial, eta_numbers_[k],
                            position ? storage_.add() : nullptr, row ? storage_.add() : nullptr,
                            row ? storage_.add() : nullptr, ix(layout.rows.start[k]),
                            VolumeSeries(f.volumes[k], points[k], f.first_coordinate)});
    }
    // The series have their final place now.
    for (const VolumeRows& v : volumes_) {
        positions[ix(v.row)] = v.position;
        chi[ix(v.row)] = v.chi;
        zeta[ix(v.row)] = v.zeta;
        const std::size_t end = ix(layout.rows.start[ix(v.row) + 1]);
        for (std::size_t e = v.first_entry; e < end && v.chi != nullptr; ++e) {
            W[e] = v.series.row(e - v.first_entry);
            W_constant[e] = 0;
        }
    }
}

/// Writes the entries of a row that has a constant direction. Components that are zero have no entry.
void PointSeries::set_direction(const Layout& layout, int row, const Triple& direction,
                                const std::array<double*, 3>& series) {
    std::size_t entry = ix(layout.rows.start[ix(row)]);
    for (std::size_t axis = 0; axis < 3; ++axis)
        if (direction[axis] != 0.0) W[entry++] = series[axis];
}

void PointSeries::add_obstacles(const PointFormulas& f, const Layout& layout, const SeriesNeeds& needs) {
    const std::size_t n = f.weight.size();
    for (std::size_t k = 0; k < f.obstacles.size(); ++k) {
        const Triple& normal = f.obstacles[k].normal;
        obstacles_.push_back({normal, offset_numbers_[k], storage_.add(), storage_.add(), {}});
        ObstacleRows& obstacle = obstacles_.back();
        const std::array<double*, 3> direction{storage_.add(normal[0]), storage_.add(normal[1]),
                                               storage_.add(normal[2])};
        for (std::size_t i = 0; i < n; ++i) {
            const int row = static_cast<int>(f.volumes.size() + k * n + i);
            if (needs.positions[ix(row)] != 0) {
                gaps_.push_back({row, first_coordinate_ + 3 * i, k, storage_.add()});
                positions[ix(row)] = gaps_.back().series;
            }
            if (needs.rows[ix(row)] == 0) continue;
            obstacle.rows.push_back(row);
            set_direction(layout, row, normal, direction);
            chi[ix(row)] = obstacle.chi;
            zeta[ix(row)] = obstacle.zeta;
        }
    }
}

void PointSeries::add_slips(const PointFormulas& f, const Layout& layout, const SeriesNeeds& needs) {
    int row = layout.positions();
    for (const PointFormulas::Obstacle& o : f.obstacles) {
        if (!o.friction) continue;
        std::array<std::array<double*, 3>, 2> direction{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            direction[0][axis] = storage_.add(o.tangent1[axis]);
            direction[1][axis] = storage_.add(o.tangent2[axis]);
        }
        for (std::size_t i = 0; i < 2 * f.weight.size(); ++i, ++row) {
            if (needs.rows[ix(row)] == 0) continue;
            set_direction(layout, row, i % 2 == 0 ? o.tangent1 : o.tangent2, direction[i % 2]);
            chi[ix(row)] = zeta[ix(row)] = zero_;
        }
    }
}

// Order k of all terms (PointSystem): h is the weight and the forces of springs; a volume has g = V₀ − V − η, χ = −η̇
// and ζ = −2B(q,u)·u − η̈; an obstacle has g_N = n·x − offset, and χ and ζ are minus the derivatives of the offset.
void PointSeries::evaluate_order(int k) {
    order_ = k;
    signals_->evaluate_order(k);
    for (std::size_t i = first_coordinate_; i < h_.size(); ++i) h_[i][k] = k == 0 ? weight_[i] : 0.0;
    const SpringSeries::Powers powers = springs_->add_order(k, q, u, h_);
    damping_[k] = powers.damping;
    applied_[k] = powers.supplied;
    for (VolumeRows& v : volumes_) {
        v.series.extend(k, q, u);
        if (v.position != nullptr)
            v.position[k] = (k == 0 ? v.initial : 0.0) - v.series.volume_order(k) - signal(v.eta[0], k);
        if (v.chi == nullptr) continue;
        v.chi[k] = -signal(v.eta[1], k);
        v.zeta[k] = v.series.curvature_order(k) - signal(v.eta[2], k);
    }
    for (ObstacleRows& o : obstacles_) {
        o.chi[k] = -signal(o.offset[1], k);
        o.zeta[k] = -signal(o.offset[2], k);
    }
    for (const Gap& g : gaps_) {
        const ObstacleRows& o = obstacles_[g.obstacle];
        const double *const x = q[g.first_coordinate], *const y = q[g.first_coordinate + 1],
                            *const z = q[g.first_coordinate + 2];
        g.series[k] = o.normal[0] * x[k] + o.normal[1] * y[k] + o.normal[2] * z[k] - signal(o.offset[0], k);
    }
}

/// Allocates the memory of `bounds` at its first call. Most motions never need bounds.
void PointSeries::prepare_bounds() {
    signal_radius_.assign(ix(tape_.output_count()), 0.0);
    set_sizes(radii_);
}

const SeriesEquations::Radii& PointSeries::bounds(double R, std::span<const double> q_radius, std::span<const double>) {
    if (radii_.h.empty()) prepare_bounds();
    signals_->bounds(R, std::array{R}, signal_radius_, radii_.switches);
    std::fill(radii_.h.begin(), radii_.h.end(), 0.0);
    const SpringSeries::Powers powers = springs_->add_bounds(R, signal_radius_, radii_.h);
    radii_.damping = disk::enlarged(powers.damping);
    radii_.applied = disk::enlarged(powers.supplied);
    for (double& radius : radii_.h) radius = disk::enlarged(radius);
    for (std::size_t c = 0; c < coefficients.size(); ++c)
        radii_.coefficients[c] = signal_radius(coefficient_numbers_[c]);
    bound_rows(R, q_radius);
    return radii_;
}

/// Radii of the rows: of a sum of series the sum of the radii. g_N = n·x − offset has Σ |n_i| radius(x_i) +
/// radius(offset).
void PointSeries::bound_rows(double R, std::span<const double> q_radius) {
    for (VolumeRows& v : volumes_) {
        const VolumeSeries::Bounds& b = v.series.bounds(R, order_);
        radii_.positions[ix(v.row)] = disk::enlarged(b.volume + signal_radius(v.eta[0]));
        if (v.chi == nullptr) continue;
        std::copy(b.row.begin(), b.row.end(), radii_.W.begin() + static_cast<std::ptrdiff_t>(v.first_entry));
        radii_.chi[ix(v.row)] = signal_radius(v.eta[1]);
        radii_.zeta[ix(v.row)] = disk::enlarged(b.curvature + signal_radius(v.eta[2]));
    }
    for (const ObstacleRows& o : obstacles_)
        for (const int row : o.rows) {
            radii_.chi[ix(row)] = signal_radius(o.offset[1]);
            radii_.zeta[ix(row)] = signal_radius(o.offset[2]);
        }
    for (const Gap& g : gaps_) {
        const ObstacleRows& o = obstacles_[g.obstacle];
        double radius = signal_radius(o.offset[0]);
        for (std::size_t axis = 0; axis < 3; ++axis)
            radius += std::abs(o.normal[axis]) * q_radius[g.first_coordinate + axis];
        radii_.positions[ix(g.row)] = disk::enlarged(radius);
    }
}

}  // namespace saltus::model
