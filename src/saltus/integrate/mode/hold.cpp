// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/mode/hold.hpp"

#include <algorithm>
#include <utility>

#include "saltus/base/index.hpp"
#include "saltus/integrate/mode/detail/law_conversion.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::integrate {

namespace {

using solvers::Law;
using solvers::LawKind;
using trajectory::ElementKind;

void append_rows(const FrictionPart& part, ShortVector<int, 6>& rows) {
    for (int r = 0; r < part.size; ++r) rows.push_back(part.row + r);
}
ShortVector<int, 6> rows_of(const FrictionPart& part) {
    ShortVector<int, 6> rows;
    append_rows(part, rows);
    return rows;
}

/// The law of a normal row followed by the undecided parts of its friction: sliding, drilling, rolling.
Law law_of_parts(const ShortVector<const FrictionPart*, 3>& parts) {
    Law law = plain_law(LawKind::unilateral);
    if (parts.empty()) return law;
    const FrictionPart& first = *parts[0];
    law.mu = first.mu_static;
    if (first.shape == FrictionPart::Shape::patch) {
        law.kind = LawKind::contensou4;
        law.radius = first.radius;
        return law;
    }
    if (first.shape == FrictionPart::Shape::ellipse) law.mu_second = first.mu_second;
    if (parts.size() == 1) {
        law.kind = first.size == 1 ? LawKind::friction2 : LawKind::friction3;
    } else if (parts.size() == 2) {
        law.kind = parts[1]->size == 1 ? LawKind::drilling4 : LawKind::rolling5;
        (parts[1]->size == 1 ? law.mu_drilling : law.mu_rolling) = parts[1]->mu;
    } else {
        law.kind = LawKind::rolling6;
        law.mu_drilling = parts[1]->mu;
        law.mu_rolling = parts[2]->mu;
    }
    return law;
}

}  // namespace

void HoldProblem::collect(const Dynamics& d, const SystemMode& mode, const std::vector<char>& closed,
                          const std::vector<char>& undecided, std::span<double> force) {
    blocks.clear();
    problem.laws.clear();
    const model::Pattern& W = d.model().layout().rows;
    const auto apply = [&](int row, double value) {
        for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e)
            force[ix(W.column[ix(e)])] += value * d.terms().W[ix(e)];
    };
    // Friction under a load that is known: slip is a force, undecided parts are sliders with a constant bound.
    const auto under_load = [&](int element, double load) {
        for (const int k : d.elements()[ix(element)].part_numbers()) {
            const FrictionPart& part = d.parts()[ix(k)];
            if (mode.parts[ix(k)].slips) {
                double gradient[3];
                d.slip_gradient(part, mode.parts[ix(k)].direction, d.slip_velocity(k), gradient);
                for (int r = 0; r < part.size; ++r) apply(part.row + r, -load * gradient[r]);
            } else if (undecided[ix(k)] != 0) {
                Law law = plain_law(LawKind::slider);
                law.bound = part.mu_static * std::max(0.0, load);
                if (part.shape == FrictionPart::Shape::ellipse) {
                    law.bound = std::max(0.0, load);
                    law.mu = part.mu;
                    law.mu_second = part.mu_second;
                }
                blocks.push_back({element, rows_of(part), {k}, false});
                problem.laws.push_back(law);
            }
        }
    };
    for (std::size_t i = 0; i < d.elements().size(); ++i) {
        const ElementRows& rows = d.elements()[i].rows;
        const int element = static_cast<int>(i);
        const auto put_normal = [&](LawKind kind) {
            blocks.push_back({element, {rows.normal}, {}, true});
            problem.laws.push_back(plain_law(kind));
        };
        switch (rows.kind) {
            case ElementKind::contact:
                if (closed[i] == 0) break;
                if (d.compliant()) {
                    const double load = d.penalty_force(element, mode.elements[i]);
                    apply(rows.normal, load);
                    under_load(element, load);
                } else {
                    collect_contact(d, undecided, element);
                }
                break;
            case ElementKind::constraint: put_normal(LawKind::bilateral); break;
            case ElementKind::slider:
                under_load(element, std::max(0.0, coefficient(d.coefficients(),
                                                              d.model().sliders[ix(rows.index)].normal_force)));
                break;
            case ElementKind::clutch:
                if (closed[i] != 0) put_normal(LawKind::unilateral);
                break;
        }
    }
    collect_friction_of_constraints(d, undecided);
    number_rows();
}

/// A rigid contact: its normal and the undecided parts of its friction, as one block. The laws have sliding first, and
/// of two parts the larger one.
void HoldProblem::collect_contact(const Dynamics& d, const std::vector<char>& undecided, int element) {
    const ElementLayout& e = d.elements()[ix(element)];
    Block block{element, {e.rows.normal}, {}, true};
    for (const int k : e.part_numbers())
        if (undecided[ix(k)] != 0) block.parts.push_back(k);
    if (block.parts.size() == 2)
        std::stable_sort(block.parts.begin(), block.parts.end(),
                         [&](int a, int b) { return d.parts()[ix(a)].size > d.parts()[ix(b)].size; });
    ShortVector<const FrictionPart*, 3> list;
    for (const int k : block.parts) {
        list.push_back(&d.parts()[ix(k)]);
        append_rows(d.parts()[ix(k)], block.rows);
    }
    blocks.push_back(std::move(block));
    problem.laws.push_back(law_of_parts(list));
}

/// Friction on constraints is bounded by the reaction, |λ_T| <= μ|ν|. The row of ν is known once all other blocks are.
void HoldProblem::collect_friction_of_constraints(const Dynamics& d, const std::vector<char>& undecided) {
    int next = 0;
    for (std::size_t b = 0, own = blocks.size(); b < own; ++b) {
        const int element = blocks[b].element, first = next;
        const ElementLayout& e = d.elements()[ix(element)];
        next += static_cast<int>(blocks[b].rows.size());
        if (e.rows.kind != ElementKind::constraint) continue;
        for (const int k : e.part_numbers()) {
            if (undecided[ix(k)] == 0) continue;
            Law law = plain_law(LawKind::scaled_slider);
            const FrictionPart& part = d.parts()[ix(k)];
            law.mu = part.mu_static;
            if (part.shape == FrictionPart::Shape::ellipse) law.mu_second = part.mu_second;
            law.row = first;
            blocks.push_back({element, rows_of(part), {k}, false});
            problem.laws.push_back(law);
        }
    }
}

/// Numbers the rows of the problem: block after block.
void HoldProblem::number_rows() {
    rows_.clear();
    sizes_.clear();
    first_.clear();
    for (const Block& b : blocks) {
        first_.push_back(static_cast<int>(rows_.size()));
        sizes_.push_back(static_cast<int>(b.rows.size()));
        rows_.insert(rows_.end(), b.rows.begin(), b.rows.end());
    }
}

/// D = A M⁻¹ F and q = A u̇_free + ζ. A column of F is the direction w of its row. If friction of the same element
/// slips, then its force −∇σ · (normal force) is proportional to the reaction of the normal row, and the column of that
/// row is w_N − sign · W_T ∇σ (sign: of the reaction of a constraint).
void HoldProblem::assemble(const Dynamics& d, const SystemMode& mode, std::span<const double> free) {
    const model::Pattern& W = d.model().layout().rows;
    const auto n = ix(d.size());
    problem.q.clear();
    if (rows() == 0) return;
    columns_.assign(n * rows_.size(), 0.0);
    double* next = columns_.data();
    for (const Block& b : blocks) {
        const ElementLayout& e = d.elements()[ix(b.element)];
        const double sign = mode.elements[ix(b.element)].reaction_sign;
        for (const int row : b.rows) {
            const std::span<double> force(next, n);
            next += n;
            const auto add = [&](int r, double factor) {
                for (int k = W.start[ix(r)]; k < W.start[ix(r) + 1]; ++k)
                    force[ix(W.column[ix(k)])] += factor * d.terms().W[ix(k)];
            };
            add(row, 1.0);
            for (const int k : e.part_numbers()) {
                if (row != e.rows.normal || !mode.parts[ix(k)].slips) continue;
                const FrictionPart& part = d.parts()[ix(k)];
                double gradient[3];
                d.slip_gradient(part, mode.parts[ix(k)].direction, d.slip_velocity(k), gradient);
                for (int r = 0; r < part.size; ++r) add(part.row + r, -sign * gradient[r]);
            }
            d.mass().solve(force);
        }
    }
    problem.W.set_full(sizes_);
    double* value = problem.W.values.data();
    for (std::size_t a = 0; a < blocks.size(); ++a)
        for (std::size_t b = 0; b < blocks.size(); ++b)
            for (const int row : blocks[a].rows)
                for (int k = 0; k < sizes_[b]; ++k)
                    *value++ = model::row_dot(W, d.terms().W, row, {columns_.data() + ix(first_[b] + k) * n, n});
    for (const int row : rows_)
        problem.q.push_back(model::row_dot(W, d.terms().W, row, free) + d.terms().zeta[ix(row)]);
}

}  // namespace saltus::integrate
