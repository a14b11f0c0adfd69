// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/impact_audit.hpp"

#include <fmt/format.h>

#include "saltus/base/index.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::integrate {

namespace {

Vector vector_of(std::span<const double> x) {
    return Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
}

}  // namespace

impact::FrictionalCollision frictional_collision(const model::Mechanics& model, const model::Terms& terms,
                                                 const ActiveRows& rows, std::span<const int> owner,
                                                 std::span<const double> u_minus, std::span<const double> u_plus) {
    const std::vector<trajectory::Element> elements = elements_of(model);
    const model::Pattern& W = model.layout().rows;
    impact::FrictionalCollision c;
    c.M = model::dense_symmetric(model.layout().mass, terms.M);
    c.directions = Matrix::Zero(model.size(), rows.rows());
    c.chi.resize(rows.rows());
    for (int k = 0; k < rows.rows(); ++k) {
        const int row = rows.row_numbers()[ix(k)];
        for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e) c.directions(W.column[ix(e)], k) = terms.W[ix(e)];
        c.chi(k) = terms.chi[ix(row)];
    }
    c.u_minus = vector_of(u_minus);
    c.u_plus = vector_of(u_plus);
    c.laws = rows.problem.laws;
    for (int b = 0; b < rows.blocks(); ++b) {
        c.sizes.push_back((b + 1 < rows.blocks() ? rows.first_row(b + 1) : rows.rows()) - rows.first_row(b));
        c.names.push_back(elements[ix(owner[ix(b)])].name);
    }
    return c;
}

trajectory::EnergyAudit energy_audit(const impact::DecidedWork& work) {
    trajectory::EnergyAudit audit;
    audit.tangential = work.tangential;
    audit.obstacle_work = work.obstacle_work;
    if (work.supplies_energy()) audit.created = work.work;
    return audit;
}

std::string explain(const impact::FrictionalCollision& collision, std::span<const double> Lambda,
                    const impact::Restitutions& restitutions, std::span<const int> owner,
                    trajectory::EnergyAudit& audit) {
    impact::EnergyFinding found = impact::find_cause(collision, vector_of(Lambda), restitutions);
    audit.created = found.created;
    if (found.created == 0.0) return {};
    if (found.block >= 0) audit.element = owner[ix(found.block)];
    audit.law = std::move(found.law);
    return std::move(found.sentence);
}

std::string creation_text(const trajectory::Event& event, const std::string& why) {
    const bool repaired = event.audit.prevented > 0.0;
    return fmt::format("the impact at t = {:.10g} {} the energy {:.6g}: {}", event.t,
                       repaired ? "would create" : "creates", repaired ? event.audit.prevented : event.audit.created,
                       why);
}

}  // namespace saltus::integrate
