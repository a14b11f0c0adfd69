// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/frictional.hpp"

#include <algorithm>
#include <numeric>

#include "saltus/base/error.hpp"

namespace saltus::impact {

using Eigen::Index;
using solvers::Law;
using solvers::LawKind;

RowKind row_kind(const Law& law, int row_of_block) {
    switch (law.kind) {
        case LawKind::bilateral: return RowKind::bilateral;
        case LawKind::slider:
        case LawKind::scaled_slider: return RowKind::tangential;
        default: return row_of_block == 0 ? RowKind::normal : RowKind::tangential;
    }
}

bool has_normal(const Law& law) { return row_kind(law, 0) == RowKind::normal; }

bool has_friction(const Law& law) {
    switch (law.kind) {
        case LawKind::bilateral:
        case LawKind::unilateral: return false;
        case LawKind::slider: return law.bound > 0.0;
        default: return law.mu > 0.0 || law.mu_second > 0.0 || law.mu_drilling > 0.0 || law.mu_rolling > 0.0;
    }
}

bool has_friction(const FrictionalCollision& c) {
    return std::any_of(c.laws.begin(), c.laws.end(), [](const Law& law) { return has_friction(law); });
}

std::string name_of(const FrictionalCollision& c, std::size_t block) {
    return block < c.names.size() ? c.names[block] : "contact " + std::to_string(block + 1);
}

Vector relative_velocities(const FrictionalCollision& c, const Vector& u) {
    Vector gamma = c.directions.transpose() * u;
    if (c.chi.size() > 0) gamma += c.chi;
    return gamma;
}

NormalPart normal_part(const FrictionalCollision& c) {
    NormalPart part;
    FrictionlessCollision& f = part.collision;
    f.M = c.M;
    f.u_minus = c.u_minus;
    f.u_plus = c.u_plus;
    f.impulse = c.impulse;
    each_block(c, [&](std::size_t k, Index row) {
        if (!has_normal(c.laws[k])) return;
        part.rows.push_back(row);
        f.names.push_back(name_of(c, k));
    });
    each_block(c, [&](std::size_t k, Index row) {
        if (c.laws[k].kind != LawKind::bilateral) return;
        for (int i = 0; i < c.sizes[k]; ++i) {
            part.rows.push_back(row + i);
            f.names.push_back(name_of(c, k));
            ++f.bilateral;
        }
    });
    const auto columns = static_cast<Index>(part.rows.size());
    f.directions.resize(c.M.rows(), columns);
    if (c.chi.size() > 0) f.chi.resize(columns);
    for (Index j = 0; j < columns; ++j) {
        const Index row = part.rows[static_cast<std::size_t>(j)];
        f.directions.col(j) = c.directions.col(row);
        if (c.chi.size() > 0) f.chi(j) = c.chi(row);
    }
    return part;
}

void expect_consistent_sizes(const FrictionalCollision& c) {
    const Index n = c.M.rows(), rows = c.directions.cols();
    SALTUS_EXPECT(c.M.cols() == n && c.u_minus.size() == n && c.u_plus.size() == n);
    SALTUS_EXPECT(c.directions.rows() == n || rows == 0);
    SALTUS_EXPECT(c.chi.size() == 0 || c.chi.size() == rows);
    SALTUS_EXPECT(c.impulse.size() == 0 || c.impulse.size() == n);
    SALTUS_EXPECT(c.sizes.size() == c.laws.size());
    SALTUS_EXPECT(std::accumulate(c.sizes.begin(), c.sizes.end(), Index{0}) == rows);
    for (std::size_t k = 0; k < c.laws.size(); ++k) {
        const int size = solvers::law_size(c.laws[k].kind);
        SALTUS_EXPECT(size == 0 || size == c.sizes[k]);
    }
}

}  // namespace saltus::impact
