// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "saltus/base/factors.hpp"
#include "saltus/base/text.hpp"
#include "saltus/impact/kinetic_frame.hpp"
#include "saltus/impact/work/frictional_work.hpp"

namespace saltus::impact {

using Eigen::Index;

namespace {

constexpr double velocity_rounding = 64 * std::numeric_limits<double>::epsilon();  // relative, of a relative velocity

/// χ = −Wᵀb counts as solved if its residual is <= this times the largest |χ|.
constexpr double uniform_friction_tolerance = 1e-10;

/// Rows on which an impulse can act.
std::vector<Index> acting_rows(const FrictionalCollision& c) {
    std::vector<Index> rows;
    each_block(c, [&](std::size_t k, Index row) {
        for (int i = 0; i < c.sizes[k]; ++i)
            if (row_kind(c.laws[k], i) != RowKind::tangential || has_friction(c.laws[k])) rows.push_back(row + i);
    });
    return rows;
}

}  // namespace

std::vector<Remark> frictional_remarks(const FrictionalCollision& c, const FrictionalAudit& a) {
    std::vector<Remark> remarks;
    const auto add = [&](RemarkKind kind, std::string text, std::vector<int> blocks = {}) {
        remarks.push_back({kind, std::move(text), std::move(blocks)});
    };
    std::vector<int> contacts;
    for (std::size_t k = 0; k < c.laws.size(); ++k)
        if (has_normal(c.laws[k])) contacts.push_back(static_cast<int>(k));
    if (contacts.empty()) add(RemarkKind::no_contacts, "there is no contact: nothing can do work");
    if (contacts.size() == 1) add(RemarkKind::single_contact, "one contact", contacts);
    const std::vector<Index> rows = acting_rows(c);
    Matrix W(c.M.rows(), static_cast<Index>(rows.size()));
    Vector chi = Vector::Zero(W.cols());
    for (Index j = 0; j < W.cols(); ++j) {
        W.col(j) = c.directions.col(rows[static_cast<std::size_t>(j)]);
        if (c.chi.size() > 0) chi(j) = c.chi(rows[static_cast<std::size_t>(j)]);
    }
    const double moving = chi.size() == 0 ? 0.0 : chi.cwiseAbs().maxCoeff();
    const double size = a.gamma_minus.size() == 0 ? 0.0 : a.gamma_minus.cwiseAbs().maxCoeff();
    if (moving <= velocity_rounding * size) {
        add(RemarkKind::no_excitation,
            c.impulse.size() == 0 || c.impulse.isZero(0.0)
                ? "nothing moves the contacts: the contact work is the change of kinetic energy"
                : "nothing moves the contacts: the contact work is the change of kinetic energy less the work of the "
                  "external impulse");
    } else {
        const Vector b = least_squares(W.transpose(), -chi);
        if ((W.transpose() * b + chi).cwiseAbs().maxCoeff() <= uniform_friction_tolerance * moving)
            add(RemarkKind::uniform_excitation,
                "the obstacles move with one common velocity of the system: the contact work does not depend on how "
                "the impulse is shared, and is the change of kinetic energy in the frame that moves with them");
        else
            add(RemarkKind::nonuniform_excitation,
                "the obstacles move against each other: no frame makes them all rest, and the contact work depends on "
                "how the impulse is shared");
    }
    if (c.impulse.size() > 0 && !c.impulse.isZero(0.0))
        add(RemarkKind::kinetic_excitation,
            fmt::format("an external impulse does the work {:.6g}; \"the contacts supply no energy\" is alpha = 0 "
                        "all the same",
                        a.external_work));
    std::vector<int> leaving;
    std::vector<std::string> names;
    each_block(c, [&](std::size_t k, Index row) {
        if (!has_normal(c.laws[k]) || !(a.gamma_minus(row) > velocity_rounding * size)) return;
        leaving.push_back(static_cast<int>(k));
        names.push_back(name_of(c, k));
    });
    if (!leaving.empty()) add(RemarkKind::not_approaching, "u- already leaves " + listing(names), leaving);
    const Index rank = orthonormal_span(Cholesky(c.M).solve_lower_columns(W)).cols();
    if (rank < W.cols())
        add(RemarkKind::singular_delassus,
            fmt::format("{} rows of contacts and friction act in {} independent direction{}: the Delassus matrix is "
                        "singular and the impulses need not be unique",
                        W.cols(), rank, rank == 1 ? "" : "s"));
    return remarks;
}

}  // namespace saltus::impact
