// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/mode/elements.hpp"

#include <algorithm>

#include "saltus/base/index.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/trajectory/warning_tally.hpp"

namespace saltus::integrate {

double coefficient(std::span<const double> values, model::Coefficient c, double otherwise) {
    return c == model::no_coefficient ? otherwise : values[ix(c)];
}

std::vector<ElementRows> element_rows(const model::Mechanics& model) {
    using trajectory::ElementKind;
    std::vector<ElementRows> list;
    const auto add = [&](ElementKind kind, std::size_t index, int normal, const model::Friction* friction) {
        ElementRows e{kind, static_cast<int>(index), normal, -1, 0};
        if (friction != nullptr && friction->dimension > 0) {
            e.first_slip = friction->first_row;
            e.slips = friction->dimension;
        }
        list.push_back(e);
    };
    for (std::size_t i = 0; i < model.contacts.size(); ++i)
        add(ElementKind::contact, i, model.contacts[i].row, &model.contacts[i].friction);
    for (std::size_t i = 0; i < model.constraints.size(); ++i)
        add(ElementKind::constraint, i, model.constraints[i].row, &model.constraints[i].friction);
    for (std::size_t i = 0; i < model.sliders.size(); ++i) add(ElementKind::slider, i, -1, &model.sliders[i].friction);
    for (std::size_t i = 0; i < model.clutches.size(); ++i) add(ElementKind::clutch, i, model.clutches[i].row, nullptr);
    return list;
}

std::vector<trajectory::Element> elements_of(const model::Mechanics& model) {
    using trajectory::ElementKind;
    std::vector<trajectory::Element> list;
    for (const ElementRows& e : element_rows(model)) {
        const auto i = ix(e.index);
        const std::string& name = e.kind == ElementKind::contact      ? model.contacts[i].name
                                  : e.kind == ElementKind::constraint ? model.constraints[i].name
                                  : e.kind == ElementKind::slider     ? model.sliders[i].name
                                                                      : model.clutches[i].name;
        list.push_back({e.kind, name, e.slips});
    }
    return list;
}

std::string names_of(const std::vector<int>& numbers, const std::vector<trajectory::Element>& elements) {
    std::string text;
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        if (k > 0) text += k + 1 < numbers.size() ? ", " : " and ";
        text += elements[ix(numbers[k])].name;
    }
    return text;
}

std::string ambiguous_forces_text(const std::vector<int>& numbers, const std::vector<trajectory::Element>& elements) {
    return "the forces of " + names_of(numbers, elements) + std::string(trajectory::final_forces_not_unique) +
           ": they share a load, and one admissible distribution is shown";
}

void set_sliding(solvers::Law& law, const model::Friction& f, std::span<const double> coefficients) {
    law.mu = std::max(0.0, coefficient(coefficients, f.mu[0]));
    if (f.law == model::FrictionLaw::orthotropic) law.mu_second = std::max(0.0, coefficient(coefficients, f.mu[1]));
}

solvers::Law contact_law(const model::Contact& contact, std::span<const double> coefficients) {
    using solvers::LawKind;
    const model::Friction& f = contact.friction;
    solvers::Law law;
    set_sliding(law, f, coefficients);
    switch (f.law) {
        case model::FrictionLaw::none: law.kind = LawKind::unilateral; break;
        case model::FrictionLaw::coulomb: law.kind = f.dimension == 1 ? LawKind::friction2 : LawKind::friction3; break;
        case model::FrictionLaw::orthotropic: law.kind = LawKind::friction3; break;
        case model::FrictionLaw::contensou:
            law.kind = LawKind::contensou4;
            law.radius = coefficient(coefficients, f.radius[0]);
            break;
        case model::FrictionLaw::rolling:
            law.kind = LawKind::rolling6;
            law.mu_drilling = law.mu * coefficient(coefficients, f.radius[0]);
            law.mu_rolling = law.mu * coefficient(coefficients, f.radius[1]);
            break;
    }
    return law;
}

const model::Friction* friction_of(const model::Mechanics& m, const ElementRows& e) {
    using trajectory::ElementKind;
    switch (e.kind) {
        case ElementKind::contact: return &m.contacts[ix(e.index)].friction;
        case ElementKind::constraint: return &m.constraints[ix(e.index)].friction;
        case ElementKind::slider: return &m.sliders[ix(e.index)].friction;
        case ElementKind::clutch: return nullptr;
    }
    return nullptr;
}

ElementsAndParts elements_and_parts(const model::Mechanics& model) {
    using Shape = FrictionPart::Shape;
    ElementsAndParts out;
    for (const ElementRows& rows : element_rows(model)) {
        ElementLayout element;
        element.rows = rows;
        element.first_part = static_cast<int>(out.parts.size());
        if (const model::Friction* f = friction_of(model, rows); f != nullptr && f->dimension > 0) {
            const auto add = [&](Shape shape, int first, int size) {
                FrictionPart part;
                part.shape = shape;
                part.element = static_cast<int>(out.elements.size());
                part.row = f->first_row + first;
                part.size = size;
                part.axes = {f->mu[0], shape == Shape::ellipse ? f->mu[1] : f->mu[0]};
                part.static_axis = f->mu_static;
                out.parts.push_back(part);
            };
            if (f->law == model::FrictionLaw::contensou)
                add(Shape::patch, 0, 3);
            else if (f->law == model::FrictionLaw::rolling)  // sliding, drilling, rolling
                add(Shape::disk, 0, 2), add(Shape::disk, 2, 1), add(Shape::disk, 3, 2);
            else
                add(f->law == model::FrictionLaw::orthotropic ? Shape::ellipse : Shape::disk, 0, f->dimension);
            element.parts = static_cast<int>(out.parts.size()) - element.first_part;
        }
        out.elements.push_back(element);
    }
    return out;
}

bool shape_orthotropic(FrictionPart& part, const model::Friction& f, std::span<const double> coefficients) {
    const double mu[2] = {coefficient(coefficients, f.mu[0]), coefficient(coefficients, f.mu[1])};
    const int larger = mu[0] >= mu[1] ? 0 : 1;
    const bool flat = mu[larger] > 0.0 && mu[1 - larger] <= Thresholds::flat_ellipse * mu[larger];
    const int row = flat ? f.first_row + larger : f.first_row, size = flat ? 1 : 2;
    if (part.row == row && part.size == size) return false;
    part.row = row;
    part.size = size;
    part.shape = flat ? FrictionPart::Shape::disk : FrictionPart::Shape::ellipse;
    part.axes = {f.mu[flat ? ix(larger) : 0], f.mu[flat ? ix(larger) : 1]};
    return true;
}

SystemMode initial_mode(const ElementsAndParts& layout) {
    using trajectory::ElementKind;
    SystemMode mode;
    mode.elements.assign(layout.elements.size(), {});
    mode.parts.assign(layout.parts.size(), {});
    for (std::size_t i = 0; i < mode.elements.size(); ++i) {
        const ElementKind kind = layout.elements[i].rows.kind;
        mode.elements[i].active = kind == ElementKind::constraint || kind == ElementKind::slider;
    }
    return mode;
}

bool any_part_slips(const ElementLayout& element, const SystemMode& mode) {
    for (const int k : element.part_numbers())
        if (mode.parts[ix(k)].slips) return true;
    return false;
}

}  // namespace saltus::integrate
