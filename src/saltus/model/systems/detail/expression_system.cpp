// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/systems/detail/expression_system.hpp"

#include <algorithm>
#include <utility>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/model/systems/detail/expression_jacobians.hpp"
#include "saltus/model/systems/detail/expression_series.hpp"

namespace saltus::model {

using expr::Expr;
using expr::Tape;

ExpressionSystem::ExpressionSystem(Formulas formulas)
    : equations_(std::move(formulas)),
      derivatives_(std::make_shared<DerivativeStore>()),
      series_(std::make_shared<SeriesStore>()) {
    const Formulas& f = equations_.formulas();
    const Derived& d = equations_.derived();

    layout_.coordinates = f.coordinates;
    layout_.parameters = static_cast<int>(f.p.size());
    layout_.constraints = static_cast<int>(f.constraints.size());
    if (std::any_of(f.velocity_constraints.begin(), f.velocity_constraints.end(), [](char v) { return v != 0; }))
        layout_.velocity_constraints = f.velocity_constraints;
    layout_.normals = static_cast<int>(f.gaps.size());
    layout_.slips = static_cast<int>(f.slips.size());
    layout_.coefficients = static_cast<int>(f.coefficients.size());
    const auto pattern_of = [&](std::span<const Derived::Entry> entries, int rows, auto row_of) {
        std::vector<std::vector<int>> columns(ix(rows));
        for (const Derived::Entry& e : entries) columns[ix(row_of(e.row))].push_back(f.index[ix(e.column)]);
        Pattern pattern;
        pattern.cols = f.coordinates;
        for (const std::vector<int>& c : columns) pattern.add_row(c);
        return pattern;
    };
    layout_.mass = pattern_of(d.mass, f.coordinates, [&](int i) { return f.index[ix(i)]; });
    const auto constant = [&](Expr e) {
        return !f.graph.depends_on(e, static_cast<expr::Kinds>(~expr::Kind::parameter));
    };
    layout_.mass_constant =
        std::all_of(d.mass.begin(), d.mass.end(), [&](const Derived::Entry& e) { return constant(e.value); });
    for (const Expr e : f.coefficients) layout_.constant_coefficients.push_back(constant(e) ? 1 : 0);
    layout_.coefficients_constant = std::all_of(f.coefficients.begin(), f.coefficients.end(), constant);
    layout_.powered = !f.graph.is_zero(d.damping) || !f.graph.is_zero(d.applied);
    layout_.rows = pattern_of(d.rows, layout_.row_count(), [](int r) { return r; });

    // The scratch holds the slots of every tape, then room for the outputs that have to be copied elsewhere.
    std::size_t next = 0;
    for (std::size_t k = 0; k < SymbolicEquations::part_count; ++k) {
        tape_start_[k] = next;
        next += equations_.tape(static_cast<Part>(k)).slot_count();
    }
    output_start_ = next;
    scratch_size_ = next + std::max(equations_.tape(Part::rows).output_count(), f.q.size());
}

void ExpressionSystem::prepare(std::span<const double> p, std::span<double> scratch) const {
    for (std::size_t k = 0; k < SymbolicEquations::part_count; ++k) {
        const Tape& tape = equations_.tape(static_cast<Part>(k));
        tape.prepare<double>(p, scratch.subspan(tape_start_[k], tape.slot_count()));
    }
}

void ExpressionSystem::evaluate(Part part, const At& at, std::span<double> scratch, std::span<double> out) const {
    const Tape& tape = equations_.tape(part);
    if (tape.output_count() == 0) return;
    const std::span<double> slots = scratch.subspan(tape_start_[static_cast<std::size_t>(part)], tape.slot_count());
    double* const x = tape.variables(slots).data();
    const Formulas& f = equations_.formulas();
    const std::size_t n = f.q.size();
    x[0] = at.t;
    if (equations_.complete()) {
        for (std::size_t i = 0; i < n; ++i) {  // faster than calls of memcpy for the usual few coordinates
            x[1 + i] = at.q[i];
            x[1 + n + i] = at.u[i];
        }
    } else {
        for (std::size_t i = 0; i < n; ++i) {
            x[1 + i] = at.q[ix(f.index[i])];
            x[1 + n + i] = at.u[ix(f.index[i])];
        }
    }
    tape.evaluate_in_place(slots, out);
}

void ExpressionSystem::mass(const At& at, std::span<double> scratch, std::span<double> M) const {
    evaluate(Part::mass, at, scratch, M);
}

void ExpressionSystem::force(const At& at, std::span<double> scratch, std::span<double> h) const {
    if (equations_.complete()) return evaluate(Part::force, at, scratch, h);
    const Formulas& f = equations_.formulas();
    const std::span<double> local = scratch.subspan(output_start_, f.q.size());
    evaluate(Part::force, at, scratch, local);
    std::fill(h.begin(), h.end(), 0.0);
    for (std::size_t i = 0; i < f.q.size(); ++i) h[ix(f.index[i])] = local[i];
}

void ExpressionSystem::positions(const At& at, std::span<double> scratch, std::span<double> g) const {
    evaluate(Part::positions, at, scratch, g);
}

void ExpressionSystem::rows(const At& at, std::span<double> scratch, std::span<double> W, std::span<double> chi) const {
    const std::span<double> both = scratch.subspan(output_start_, equations_.tape(Part::rows).output_count());
    evaluate(Part::rows, at, scratch, both);
    const std::size_t entries = layout_.rows.size();
    std::copy_n(both.begin(), entries, W.begin());
    std::copy(both.begin() + static_cast<std::ptrdiff_t>(entries), both.end(), chi.begin());
}

void ExpressionSystem::curvature(const At& at, std::span<double> scratch, std::span<double> zeta) const {
    evaluate(Part::curvature, at, scratch, zeta);
}

void ExpressionSystem::coefficients(const At& at, std::span<double> scratch, std::span<double> values) const {
    evaluate(Part::coefficients, at, scratch, values);
}

void ExpressionSystem::terms(const At& at, std::span<double> scratch, Terms& out) const {
    if (equations_.complete())
        evaluate(Part::all, at, scratch, out.all());
    else
        System::terms(at, scratch, out);  // h has to be spread over the coordinates of the model
}

Energy ExpressionSystem::energy(const At& at, std::span<double> scratch) const {
    std::array<double, 4> e{};
    evaluate(Part::energy, at, scratch, e);
    return {e[0], e[1], e[2], e[3]};
}

std::unique_ptr<Jacobians> ExpressionSystem::jacobians() const {
    return jacobians_by(all_parameters(equations_.formulas().p.size()));
}

std::unique_ptr<Jacobians> ExpressionSystem::jacobians_by(std::span<const int> parameters) const {
    return std::make_unique<ExpressionJacobians>(
        derivatives_->by(equations_.formulas(), equations_.derived(), parameters));
}

std::unique_ptr<SeriesEquations> ExpressionSystem::series(const SeriesNeeds& needs, std::span<const double> p) const {
    return std::make_unique<ExpressionSeries>(series_->by(equations_, needs), layout_, equations_.formulas().index, p);
}

}  // namespace saltus::model
