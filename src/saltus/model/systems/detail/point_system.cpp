// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/systems/detail/point_system.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/expr/differentiate.hpp"
#include "saltus/model/systems/detail/point_jacobians.hpp"
#include "saltus/model/systems/detail/point_series.hpp"

namespace saltus::model {

using expr::Derivative;
using expr::Expr;
using Face = PointFormulas::Face;

namespace {

const double* point_at(std::span<const double> x, int i) { return x.data() + 3 * static_cast<std::size_t>(i); }

double determinant(const double* a, const double* b, const double* c) {
    return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/// a × b
std::array<double, 3> cross(const double* a, const double* b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

}  // namespace

double enclosed_volume(std::span<const Face> faces, std::span<const double> x) {
    double sum = 0.0;
    for (const Face& f : faces)
        for (const auto& v : face_triangles)
            sum += determinant(point_at(x, f[v[0]]), point_at(x, f[v[1]]), point_at(x, f[v[2]]));
    return sum / 12.0;
}

namespace {

/// Adds factor · Σ over the four triangles (a, b, c) of each face of the derivatives of det(a, b, c) by its corners:
/// ∂det/∂a = b × c and cyclic. `product(face, i, j)` is the product of the corners i and j; the triangles of a face
/// share six of these.
template <class Product>
void add_corner_products(std::span<const Face> faces, double factor, std::span<double> out, Product product_of) {
    for (const Face& f : faces) {
        const auto product = [&](std::size_t i, std::size_t j) { return product_of(f, i, j); };
        const std::array<double, 3> c01 = product(0, 1), c02 = product(0, 2), c03 = product(0, 3), c12 = product(1, 2),
                                    c13 = product(1, 3), c23 = product(2, 3);
        std::array<double*, 4> to{};
        for (std::size_t k = 0; k < 4; ++k) to[k] = out.data() + 3 * static_cast<std::size_t>(f[k]);
        for (std::size_t b = 0; b < 3; ++b) {
            to[0][b] += factor * (c12[b] + c23[b] + c13[b]);
            to[1][b] += factor * (c23[b] - c02[b] - c03[b]);
            to[2][b] += factor * (c01[b] - c03[b] - c13[b]);
            to[3][b] += factor * (c02[b] + c01[b] + c12[b]);
        }
    }
}

}  // namespace

void add_volume_gradient(std::span<const Face> faces, std::span<const double> x, std::span<double> out) {
    add_corner_products(faces, 1.0 / 12.0, out, [&](const Face& f, std::size_t i, std::size_t j) {
        return cross(point_at(x, f[i]), point_at(x, f[j]));
    });
}

void add_volume_form(std::span<const Face> faces, std::span<const double> x, std::span<const double> y,
                     std::span<double> out) {
    // The symmetric product ½(x_i × y_j + y_i × x_j) takes the place of x_i × x_j.
    add_corner_products(faces, 1.0 / 24.0, out, [&](const Face& f, std::size_t i, std::size_t j) {
        std::array<double, 3> c = cross(point_at(x, f[i]), point_at(y, f[j]));
        const std::array<double, 3> d = cross(point_at(y, f[i]), point_at(x, f[j]));
        for (std::size_t b = 0; b < 3; ++b) c[b] += d[b];
        return c;
    });
}

PointSystem::PointSystem(PointFormulas formulas) : f_(std::move(formulas)) {
    const int n = f_.points();
    layout_.coordinates = f_.coordinates;
    layout_.parameters = static_cast<int>(f_.p.size());
    layout_.constraints = static_cast<int>(f_.volumes.size());
    layout_.normals = n * static_cast<int>(f_.obstacles.size());
    for (const PointFormulas::Obstacle& o : f_.obstacles) layout_.slips += o.friction ? 2 * n : 0;
    layout_.coefficients = static_cast<int>(f_.coefficients.size());

    layout_.mass_constant = true;
    layout_.mass.cols = layout_.rows.cols = f_.coordinates;
    for (int i = 0; i < f_.coordinates; ++i) {
        const bool own = i >= f_.first_coordinate;
        layout_.mass.add_row(own ? std::span<const int>(&i, 1) : std::span<const int>());
    }
    for (const PointFormulas::Volume& v : f_.volumes) {
        std::vector<int> points;
        for (const Face& f : v.faces) points.insert(points.end(), f.begin(), f.end());
        std::sort(points.begin(), points.end());
        points.erase(std::unique(points.begin(), points.end()), points.end());
        std::vector<int> columns;
        for (const int i : points)
            for (int a = 0; a < 3; ++a) columns.push_back(f_.first_coordinate + 3 * i + a);
        layout_.rows.add_row(columns);
        volume_points_.push_back(std::move(points));
    }
    const auto add_direction = [&](const PointFormulas::Triple& d, int i) {
        std::vector<int> columns;
        for (int a = 0; a < 3; ++a)
            if (d[static_cast<std::size_t>(a)] != 0.0) columns.push_back(f_.first_coordinate + 3 * i + a);
        layout_.rows.add_row(columns);
    };
    for (const PointFormulas::Obstacle& o : f_.obstacles)
        for (int i = 0; i < n; ++i) add_direction(o.normal, i);
    for (const PointFormulas::Obstacle& o : f_.obstacles)
        for (int i = 0; o.friction && i < n; ++i) {
            add_direction(o.tangent1, i);
            add_direction(o.tangent2, i);
        }

    std::vector<Expr> outputs{f_.mass_scale};
    for (const PointFormulas::SpringGroup& g : f_.groups)
        outputs.insert(outputs.end(), {g.k, g.c, g.rest, g.k_rate, g.rest_rate});
    Derivative by_time(f_.graph, f_.t);
    const auto add_signal = [&](Expr e, std::vector<Signal>& to) {
        const Expr first = by_time(e);
        to.push_back({e, first, by_time(first)});
        outputs.insert(outputs.end(), to.back().begin(), to.back().end());
    };
    for (const PointFormulas::Obstacle& o : f_.obstacles) add_signal(o.offset, offsets_);
    for (const PointFormulas::Volume& v : f_.volumes) {
        add_signal(v.eta, etas_);
        volumes_closed_ = volumes_closed_ && is_closed(v.faces);
    }
    outputs.insert(outputs.end(), f_.coefficients.begin(), f_.coefficients.end());
    tape_ = expr::Tape(f_.graph, outputs, f_.p, std::array{f_.t});
}

void PointSystem::prepare(std::span<const double> p, std::span<double> scratch) const {
    tape_.prepare<double>(p, scratch.first(tape_.slot_count()));
}

PointSystem::Signals PointSystem::signals(const At& at, std::span<double> scratch) const {
    const std::span<double> out = scratch.subspan(tape_.slot_count(), tape_.output_count());
    tape_.evaluate<double>({&at.t, 1}, scratch.first(tape_.slot_count()), out);
    Signals s{};
    s.mass_scale = out[0];
    std::size_t next = 1;
    const auto take = [&](std::size_t count) {
        next += count;
        return std::span<const double>(out).subspan(next - count, count);
    };
    s.groups = take(law_size * f_.groups.size());
    s.offsets = take(3 * f_.obstacles.size());
    s.etas = take(3 * f_.volumes.size());
    s.coefficients = take(f_.coefficients.size());
    return s;
}

void PointSystem::mass(const At& at, std::span<double> scratch, std::span<double> M) const {
    const Signals s = signals(at, scratch);
    for (std::size_t i = 0; i < f_.weight.size(); ++i)
        M[3 * i] = M[3 * i + 1] = M[3 * i + 2] = s.mass_scale * f_.weight[i];
}

void PointSystem::force(const At& at, std::span<double> scratch, std::span<double> h) const {
    const Signals s = signals(at, scratch);
    std::fill(h.begin(), h.begin() + f_.first_coordinate, 0.0);
    double* const force = h.data() + f_.first_coordinate;
    const double* const q = own(at.q).data();
    const double* const u = own(at.u).data();
    for (std::size_t i = 0; i < f_.weight.size(); ++i)
        for (std::size_t a = 0; a < 3; ++a) force[3 * i + a] = s.mass_scale * f_.weight[i] * f_.gravity[a];
    for (const PointFormulas::Spring& spring : f_.springs) {
        const double* const law = s.groups.data() + law_size * static_cast<std::size_t>(spring.group);
        const double rest = f_.groups[static_cast<std::size_t>(spring.group)].rest_initial ? spring.length : law[2];
        const auto i = 3 * static_cast<std::size_t>(spring.i), j = 3 * static_cast<std::size_t>(spring.j);
        const double d0 = q[j] - q[i], d1 = q[j + 1] - q[i + 1], d2 = q[j + 2] - q[i + 2];
        const double w0 = u[j] - u[i], w1 = u[j + 1] - u[i + 1], w2 = u[j + 2] - u[i + 2];
        const double length = std::sqrt(d0 * d0 + d1 * d1 + d2 * d2);
        const double stretching = (d0 * w0 + d1 * w1 + d2 * w2) / length;
        const double tension = (law[0] * (length - rest) + law[1] * stretching) / length;
        force[i] += tension * d0, force[i + 1] += tension * d1, force[i + 2] += tension * d2;
        force[j] -= tension * d0, force[j + 1] -= tension * d1, force[j + 2] -= tension * d2;
    }
}

void PointSystem::positions(const At& at, std::span<double> scratch, std::span<double> g) const {
    const Signals s = signals(at, scratch);
    const std::span<const double> q = own(at.q);
    std::size_t row = 0;
    for (std::size_t k = 0; k < f_.volumes.size(); ++k)
        g[row++] = f_.volumes[k].initial - enclosed_volume(f_.volumes[k].faces, q) - s.etas[3 * k];
    for (std::size_t k = 0; k < f_.obstacles.size(); ++k) {
        const PointFormulas::Triple& n = f_.obstacles[k].normal;
        for (std::size_t i = 0; i < f_.weight.size(); ++i)
            g[row++] = n[0] * q[3 * i] + n[1] * q[3 * i + 1] + n[2] * q[3 * i + 2] - s.offsets[3 * k];
    }
}

void PointSystem::rows(const At& at, std::span<double> scratch, std::span<double> W, std::span<double> chi) const {
    const Signals s = signals(at, scratch);
    const std::span<const double> q = own(at.q);
    const std::span<double> gradient = scratch.last(weight_count());
    double* to = W.data();
    std::size_t row = 0;
    for (std::size_t k = 0; k < f_.volumes.size(); ++k) {
        for (const int i : volume_points_[k]) std::fill_n(gradient.begin() + 3 * i, 3, 0.0);
        add_volume_gradient(f_.volumes[k].faces, q, gradient);
        for (const int i : volume_points_[k])
            for (std::size_t a = 0; a < 3; ++a) *to++ = -gradient[3 * static_cast<std::size_t>(i) + a];
        chi[row++] = -s.etas[3 * k + 1];
    }
    const std::size_t n = f_.weight.size();
    const auto write = [&](const PointFormulas::Triple& d) {
        for (const double x : d)
            if (x != 0.0) *to++ = x;
    };
    for (std::size_t k = 0; k < f_.obstacles.size(); ++k)
        for (std::size_t i = 0; i < n; ++i) {
            write(f_.obstacles[k].normal);
            chi[row++] = -s.offsets[3 * k + 1];
        }
    for (const PointFormulas::Obstacle& o : f_.obstacles)
        for (std::size_t i = 0; o.friction && i < n; ++i) {
            write(o.tangent1);
            write(o.tangent2);
            chi[row] = chi[row + 1] = 0.0;
            row += 2;
        }
}

/// ζ of a volume: −uᵀV''u − η̈ = −2B(q, u)·u − η̈. ζ of a gap: minus the second derivative of its offset.
void PointSystem::curvature(const At& at, std::span<double> scratch, std::span<double> zeta) const {
    const Signals s = signals(at, scratch);
    const std::span<const double> q = own(at.q), u = own(at.u);
    const std::span<double> form = scratch.last(weight_count());
    std::fill(zeta.begin(), zeta.end(), 0.0);
    std::size_t row = 0;
    for (std::size_t k = 0; k < f_.volumes.size(); ++k) {
        for (const int i : volume_points_[k]) std::fill_n(form.begin() + 3 * i, 3, 0.0);
        add_volume_form(f_.volumes[k].faces, q, u, form);
        double sum = 0.0;
        for (const int i : volume_points_[k])
            for (std::size_t a = 0; a < 3; ++a)
                sum += form[3 * static_cast<std::size_t>(i) + a] * u[3 * static_cast<std::size_t>(i) + a];
        zeta[row++] = -2.0 * sum - s.etas[3 * k + 2];
    }
    for (std::size_t k = 0; k < f_.obstacles.size(); ++k)
        for (std::size_t i = 0; i < f_.weight.size(); ++i) zeta[row++] = -s.offsets[3 * k + 2];
}

void PointSystem::coefficients(const At& at, std::span<double> scratch, std::span<double> values) const {
    const Signals s = signals(at, scratch);
    std::copy(s.coefficients.begin(), s.coefficients.end(), values.begin());
}

Energy PointSystem::energy(const At& at, std::span<double> scratch) const {
    const Signals s = signals(at, scratch);
    const std::span<const double> q = own(at.q), u = own(at.u);
    Energy e;
    for (std::size_t i = 0; i < f_.weight.size(); ++i)
        for (std::size_t a = 0; a < 3; ++a) {
            const double m = s.mass_scale * f_.weight[i];
            e.kinetic += 0.5 * m * u[3 * i + a] * u[3 * i + a];
            e.potential -= m * f_.gravity[a] * q[3 * i + a];
        }
    for (const PointFormulas::Spring& spring : f_.springs) {
        const double* const law = s.groups.data() + law_size * static_cast<std::size_t>(spring.group);
        const double rest = f_.groups[static_cast<std::size_t>(spring.group)].rest_initial ? spring.length : law[2];
        double length2 = 0.0, rate = 0.0;
        for (std::size_t a = 0; a < 3; ++a) {
            const double d =
                q[3 * static_cast<std::size_t>(spring.j) + a] - q[3 * static_cast<std::size_t>(spring.i) + a];
            const double w =
                u[3 * static_cast<std::size_t>(spring.j) + a] - u[3 * static_cast<std::size_t>(spring.i) + a];
            length2 += d * d;
            rate += d * w;
        }
        const double length = std::sqrt(length2), stretching = rate / length, stretch = length - rest;
        e.potential += 0.5 * law[0] * stretch * stretch;
        e.damping += law[1] * stretching * stretching;
        // A muscle does work on the system: ∂U/∂t of U = ½k(l − l₀)².
        if (f_.groups[static_cast<std::size_t>(spring.group)].varies)
            e.applied += 0.5 * law[3] * stretch * stretch - law[0] * stretch * law[4];
    }
    return e;
}

std::unique_ptr<Jacobians> PointSystem::jacobians() const { return jacobians_by(all_parameters(f_.p.size())); }

std::unique_ptr<Jacobians> PointSystem::jacobians_by(std::span<const int> parameters) const {
    return std::make_unique<PointJacobians>(f_, volume_points_, parameters);
}

std::unique_ptr<SeriesEquations> PointSystem::series(const SeriesNeeds& needs, std::span<const double> p) const {
    if (!volumes_closed_) return nullptr;
    return std::make_unique<PointSeries>(f_, offsets_, etas_, layout_, volume_points_, needs, p);
}

}  // namespace saltus::model
