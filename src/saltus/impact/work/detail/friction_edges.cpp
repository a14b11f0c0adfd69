// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/work/detail/friction_edges.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace saltus::impact {

using Eigen::Index;
using solvers::Law;
using solvers::LawKind;

namespace {

/// A friction impulse counts as none if its length, measured in its ellipse, is <= this times Λ_N.
constexpr double negligible_friction = 1e-3;

/// Two edges of one cone are equal if their slips differ by at most this, relative. Edges that are closer make the
/// bases of the simplex method nearly singular. Leaving one out costs little: the cone between two edges at a small
/// angle differs from the round cone by the square of the angle.
constexpr double equal_edges = 1e-4;

/// Edges of a round cone at first: of a law with one part, and of each part of a law with several.
constexpr int first_edges = 8, first_edges_of_part = 6;

/// A part of a law's friction with its own bound: rows [from, from + size) after the normal row, and the semi-axes of
/// its ellipse relative to Λ_N.
struct Part {
    Index from, size;
    double first, second;
};

std::vector<Part> parts_of(const Law& law) {
    const double second = law.mu_second >= 0.0 ? law.mu_second : law.mu;
    switch (law.kind) {
        case LawKind::friction2: return {{0, 1, law.mu, 0.0}};
        case LawKind::friction3: return {{0, 2, law.mu, second}};
        case LawKind::drilling4: return {{0, 2, law.mu, law.mu}, {2, 1, law.mu_drilling, 0.0}};
        case LawKind::rolling5: return {{0, 2, law.mu, law.mu}, {2, 2, law.mu_rolling, law.mu_rolling}};
        case LawKind::rolling6:
            return {{0, 2, law.mu, law.mu}, {2, 1, law.mu_drilling, 0.0}, {3, 2, law.mu_rolling, law.mu_rolling}};
        default: return {};
    }
}

/// The slip Λ_T/Λ_N on the boundary of the part's set, at an angle of the ellipse. A part of one row has ±μ.
Vector on_edge(const Part& part, double angle) {
    if (part.size == 1) return Vector::Constant(1, std::cos(angle) >= 0.0 ? part.first : -part.first);
    Vector slip(2);
    slip << part.first * std::cos(angle), part.second * std::sin(angle);
    return slip;
}

/// The angle of a friction impulse on the ellipse of its part; none if the friction is negligible.
std::optional<double> angle_of(const Part& part, const Vector& slip, double N) {
    const double x = part.first > 0.0 ? slip(0) / part.first : 0.0;
    const double y = part.size == 2 && part.second > 0.0 ? slip(1) / part.second : 0.0;
    if (!(std::hypot(x, y) > negligible_friction * N)) return std::nullopt;
    return std::atan2(y, x);
}

}  // namespace

FrictionEdges::FrictionEdges(const FrictionalCollision& c) : c_(&c) {
    each_block(c, [&](std::size_t k, Index row) {
        first_.push_back(row);
        add_block(k, row);
    });
}

void FrictionEdges::add_block(std::size_t block, Index row) {
    const Law& law = c_->laws[block];
    if (law.kind == LawKind::bilateral)
        for (int i = 0; i < c_->sizes[block]; ++i) held_.push_back(row + i);
    if (has_friction(law) && parts_of(law).empty())
        refused_ = "the friction of " + name_of(*c_, block) + " has no cone with edges";
    if (!has_normal(law)) return;
    // The edges of the cone are all combinations of edges of its parts.
    std::vector<Vector> slips{Vector::Zero(c_->sizes[block] - 1)};
    const std::vector<Part> parts = parts_of(law);
    const int round_edges = parts.size() > 1 ? first_edges_of_part : first_edges;
    for (const Part& part : parts) {
        if (!(part.first > 0.0) && !(part.second > 0.0)) continue;
        const bool two = part.size == 1 || !(part.first > 0.0) || !(part.second > 0.0);
        if (!two) exact_ = false;
        std::vector<Vector> longer;
        for (const Vector& slip : slips)
            for (int i = 0; i < (two ? 2 : round_edges); ++i) {
                double angle = 2.0 * std::numbers::pi * i / (two ? 2 : round_edges);
                if (two && part.size == 2 && !(part.first > 0.0)) angle += 0.5 * std::numbers::pi;
                longer.push_back(slip);
                longer.back().segment(part.from, part.size) = on_edge(part, angle);
            }
        slips = std::move(longer);
    }
    for (const Vector& slip : slips) edges_.push_back({block, row, slip});
}

bool FrictionEdges::add_edge(std::size_t block, Index row, const Vector& slip) {
    for (const Edge& edge : edges_)
        if (edge.block == block && (edge.slip - slip).norm() <= equal_edges * slip.norm()) return false;
    edges_.push_back({block, row, slip});
    return true;
}

bool FrictionEdges::add(std::size_t block, const Vector& Lambda) {
    const std::vector<Part> parts = parts_of(c_->laws[block]);
    const Index row = first_[block];
    if (parts.empty() || !(Lambda(row) > 0.0)) return false;
    Vector slip = Vector::Zero(c_->sizes[block] - 1);
    bool any = false;
    for (const Part& part : parts) {
        const auto angle = angle_of(part, Lambda.segment(row + 1 + part.from, part.size), Lambda(row));
        if (!angle) continue;
        any = true;
        slip.segment(part.from, part.size) = on_edge(part, *angle);
    }
    if (!any) return false;
    bool added = add_edge(block, row, slip);
    // Also the edges with one part reversed. Otherwise combinations in which only one part acts would not lie between
    // edges.
    for (const Part& part : parts) {
        if (parts.size() == 1) break;
        Vector other = slip;
        other.segment(part.from, part.size) *= -1.0;
        added = add_edge(block, row, other) || added;
    }
    return added;
}

FrictionlessCollision FrictionEdges::collision() const {
    FrictionlessCollision f;
    f.M = c_->M;
    f.u_minus = c_->u_minus;
    f.u_plus = c_->u_plus;
    f.impulse = c_->impulse;
    f.bilateral = static_cast<int>(held_.size());
    const auto contacts = static_cast<Index>(edges_.size());
    f.directions.resize(c_->M.rows(), contacts + f.bilateral);
    if (c_->chi.size() > 0) f.chi.resize(f.directions.cols());
    for (Index j = 0; j < contacts; ++j) {
        const Edge& edge = edges_[static_cast<std::size_t>(j)];
        f.directions.col(j) = c_->directions.col(edge.row);
        if (c_->chi.size() > 0) f.chi(j) = c_->chi(edge.row);
        if (edge.slip.isZero(0.0)) continue;
        f.directions.col(j) += c_->directions.middleCols(edge.row + 1, edge.slip.size()) * edge.slip;
        if (c_->chi.size() > 0) f.chi(j) += c_->chi.segment(edge.row + 1, edge.slip.size()).dot(edge.slip);
    }
    for (Index j = 0; j < f.bilateral; ++j) {
        const Index row = held_[static_cast<std::size_t>(j)];
        f.directions.col(contacts + j) = c_->directions.col(row);
        if (c_->chi.size() > 0) f.chi(contacts + j) = c_->chi(row);
    }
    return f;
}

ContactRows FrictionEdges::normal_rows(const KineticFrame& f) const {
    std::vector<Index> rows;
    each_block(*c_, [&](std::size_t k, Index row) {
        if (has_normal(c_->laws[k])) rows.push_back(row);
    });
    ContactRows r;
    r.differ_from_frame = true;
    r.normals = Matrix::Zero(f.rank(), static_cast<Index>(rows.size()));
    r.distance.resize(r.normals.cols());
    const auto lower = f.cholesky.triangularView<Eigen::Lower>();
    for (Index i = 0; i < r.normals.cols(); ++i) {
        const Index row = rows[static_cast<std::size_t>(i)];
        const Vector w = lower.solve(c_->directions.col(row));
        const double chi = c_->chi.size() > 0 ? c_->chi(row) : 0.0, gamma = w.dot(f.origin) + chi;
        const double terms = w.cwiseAbs().dot(f.origin.cwiseAbs()) + std::abs(chi);
        r.distance(i) = std::abs(gamma) <= cancellation * terms ? 0.0 : gamma;
        const Vector normal = f.basis.transpose() * w;
        const double length = normal.norm();
        if (length <= dependence_tolerance * w.norm()) continue;
        r.normals.col(i) = normal / length;
        r.distance(i) /= length;
    }
    return r;
}

int FrictionEdges::contact_of(int edge) const {
    int contact = 0;
    for (std::size_t k = 0; k < edges_[static_cast<std::size_t>(edge)].block; ++k)
        if (has_normal(c_->laws[k])) ++contact;
    return contact;
}

Vector FrictionEdges::impulses(const Vector& weights) const {
    Vector Lambda = Vector::Zero(c_->directions.cols());
    const auto contacts = static_cast<Index>(edges_.size());
    for (Index j = 0; j < contacts; ++j) {
        const Edge& edge = edges_[static_cast<std::size_t>(j)];
        Lambda(edge.row) += weights(j);
        if (edge.slip.size() > 0) Lambda.segment(edge.row + 1, edge.slip.size()) += weights(j) * edge.slip;
    }
    for (std::size_t j = 0; j < held_.size(); ++j) Lambda(held_[j]) = weights(contacts + static_cast<Index>(j));
    return Lambda;
}

}  // namespace saltus::impact
