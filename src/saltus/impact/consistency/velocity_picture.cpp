// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/consistency/velocity_picture.hpp"

#include "saltus/base/factors.hpp"
#include "saltus/impact/kinetic_frame.hpp"
#include "saltus/impact/work/detail/friction_edges.hpp"

namespace saltus::impact {

using Eigen::Index;

namespace {

constexpr Index max_dimension = 3;  // of a picture

/// The numbers of the rows that are bilateral, and of the others.
struct Rows {
    std::vector<Index> held, acting;
    std::vector<std::pair<Index, int>> normal;  ///< normal rows of contacts with their blocks
};

Rows rows_of(const FrictionalCollision& c) {
    Rows rows;
    each_block(c, [&](std::size_t k, Index first) {
        for (int i = 0; i < c.sizes[k]; ++i) {
            const RowKind kind = row_kind(c.laws[k], i);
            const Index row = first + i;
            // Friction that cannot act gives no impulse.
            if (kind == RowKind::tangential && !has_friction(c.laws[k])) continue;
            (kind == RowKind::bilateral ? rows.held : rows.acting).push_back(row);
            if (kind == RowKind::normal && has_normal(c.laws[k])) rows.normal.emplace_back(row, static_cast<int>(k));
        }
    });
    return rows;
}

}  // namespace

// With M = L Lᵀ and x = Lᵀu, ‖x‖² = ‖u‖²_M and γ_i = a_i·x + χ_i with a_i = L⁻¹w_i. Impulses of the contacts and the
// reactions of the bilateral constraints change x by Σ ã_i Λ_i, where ã_i is a_i without its part in the span B of the
// bilateral directions. Let A have the linearly independent ã_i as rows. Then
//     Δx = Aᵀλ,     Δγ = A Δx = A Aᵀ λ,     ‖Δx‖² = Δγᵀ (A Aᵀ)⁻¹ Δγ,
// and every other relative velocity changes by ã_j·Δx = (ã_j·Aᵀ)(A Aᵀ)⁻¹ Δγ.
VelocityPicture velocity_picture(const FrictionalCollision& c) {
    expect_consistent_sizes(c);
    VelocityPicture p;
    p.M = c.M.selfadjointView<Eigen::Lower>();
    const Cholesky factor(p.M);
    if (!factor.positive_definite() || !p.M.allFinite() || !c.directions.allFinite()) {
        p.why = "the mass matrix is not positive definite";
        return p;
    }
    const Index n = p.M.rows();
    const Rows rows = rows_of(c);
    const Matrix scaled = factor.solve_lower_columns(c.directions);
    const Vector chi = c.chi.size() == 0 ? Vector::Zero(c.directions.cols()) : c.chi;
    Matrix held(n, static_cast<Index>(rows.held.size()));
    for (std::size_t k = 0; k < rows.held.size(); ++k) held.col(static_cast<Index>(k)) = scaled.col(rows.held[k]);
    const Matrix B = orthonormal_span(held);
    Matrix a(static_cast<Index>(rows.acting.size()), n);
    for (std::size_t k = 0; k < rows.acting.size(); ++k) {
        const Vector direction = scaled.col(rows.acting[k]);
        a.row(static_cast<Index>(k)) = direction - B * (B.transpose() * direction).eval();
    }
    const RowRank independent = row_rank(a, dependence_tolerance);
    const Index rank = independent.rank;
    if (rank == 0 || rank > max_dimension) {
        p.why = rank == 0 ? "contact impulses act in no direction"
                          : "contact impulses act in " + std::to_string(rank) + " directions, more than three";
        return p;
    }

    // z⁻, moved onto the bilateral constraints along M⁻¹ times their directions.
    Vector z = c.u_minus;
    if (c.impulse.size() > 0) z += factor.solve(c.impulse);
    if (!rows.held.empty()) {
        Vector violation(static_cast<Index>(rows.held.size()));
        for (std::size_t k = 0; k < rows.held.size(); ++k)
            violation(static_cast<Index>(k)) = c.directions.col(rows.held[k]).dot(z) + chi(rows.held[k]);
        z -= factor.solve_upper(least_squares(held.transpose(), violation));
    }
    p.z_velocity = z;

    p.relative = rank < n || !rows.held.empty();
    if (!p.relative) {
        p.map = Matrix::Identity(n, n);
        p.offset = Vector::Zero(n);
        p.metric = p.M;
    } else {
        p.map.resize(rank, n);
        p.offset.resize(rank);
        Matrix A(rank, n);
        for (Index k = 0; k < rank; ++k) {
            const auto at = static_cast<std::size_t>(independent.independent[static_cast<std::size_t>(k)]);
            const Index row = rows.acting[at];
            p.rows.push_back(static_cast<int>(row));
            p.map.row(k) = c.directions.col(row).transpose();
            p.offset(k) = chi(row);
            A.row(k) = a.row(static_cast<Index>(at));
        }
        p.metric = Cholesky(A * A.transpose()).solve_columns(Matrix::Identity(rank, rank));
    }
    p.z_minus = p.at(z);

    // The change of p that an impulse of 1 along w causes, and γ = w·u + χ as a function of p.
    const auto jump = [&](const Vector& w) {
        Vector x = factor.solve_lower(w);
        x -= B * (B.transpose() * x).eval();
        return Vector(p.map * factor.solve_upper(x));
    };
    for (const auto& [row, block] : rows.normal) {
        VelocityPicture::Contact contact;
        contact.block = block;
        contact.normal = p.metric * jump(c.directions.col(row));
        contact.distance = c.directions.col(row).dot(z) + chi(row) - contact.normal.dot(p.z_minus);
        p.contacts.push_back(std::move(contact));
    }
    const FrictionEdges edges(c);
    if (edges.refused().empty() && edges.exact()) {
        const FrictionlessCollision cone = edges.collision();
        for (Index k = 0; k < cone.contacts(); ++k) p.jumps.push_back(jump(cone.directions.col(k)));
    }
    p.valid = true;
    return p;
}

// In the space of u the ball is ‖u − c‖²_M <= r². The part of u − c that the picture leaves out is that of z⁻ − c for
// every u that contacts reach. Its square is ‖z⁻ − c‖²_M − ‖p(z⁻) − p(c)‖², which is subtracted from r².
double VelocityPicture::radius_squared(const Ball& ball) const {
    const Vector whole = z_velocity - ball.centre, drawn = z_minus - at(ball.centre);
    if (!relative) return ball.radius_squared;
    return ball.radius_squared - whole.dot(M * whole) + drawn.dot(metric * drawn);
}

}  // namespace saltus::impact
