// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/systems/detail/joined_system.hpp"

#include <algorithm>
#include <array>

#include "saltus/base/error.hpp"
#include "saltus/model/jacobians.hpp"
#include "saltus/model/systems/detail/joined_series.hpp"

namespace saltus::model {

namespace {

/// A pattern made of the rows of two patterns, and the new index of every entry of each part.
struct Stacked {
    Pattern pattern;
    std::array<std::vector<int>, 2> entry_of;
};

/// Row r of part k becomes row (*row_of[k])[r] of the result, which has `rows` rows.
Stacked stack(const std::array<const Pattern*, 2>& parts, const std::array<const std::vector<int>*, 2>& row_of,
              int rows) {
    struct Origin {
        std::size_t part = 0;
        int row = -1;
    };
    std::vector<Origin> origin(static_cast<std::size_t>(rows));
    for (std::size_t part = 0; part < 2; ++part)
        for (int r = 0; r < parts[part]->rows; ++r)
            origin[static_cast<std::size_t>((*row_of[part])[static_cast<std::size_t>(r)])] = {part, r};
    Stacked s;
    s.pattern.cols = parts[0]->cols;
    for (std::size_t part = 0; part < 2; ++part) s.entry_of[part].resize(parts[part]->size());
    for (const Origin& o : origin) {
        const Pattern& p = *parts[o.part];
        const auto begin = static_cast<std::size_t>(p.start[static_cast<std::size_t>(o.row)]);
        const auto end = static_cast<std::size_t>(p.start[static_cast<std::size_t>(o.row) + 1]);
        for (std::size_t k = begin; k < end; ++k)
            s.entry_of[o.part][k] = static_cast<int>(s.pattern.size() + (k - begin));
        s.pattern.add_row(std::span(p.column).subspan(begin, end - begin));
    }
    return s;
}

void scatter(std::span<const double> from, std::span<const int> place, std::span<double> to) {
    for (std::size_t k = 0; k < place.size(); ++k) to[static_cast<std::size_t>(place[k])] = from[k];
}

void scatter_add(std::span<const double> from, std::span<const int> place, std::span<double> to) {
    for (std::size_t k = 0; k < place.size(); ++k) to[static_cast<std::size_t>(place[k])] += from[k];
}

}  // namespace

JoinedSystem::JoinedSystem(std::shared_ptr<const System> first, std::shared_ptr<const System> second)
    : part_{std::move(first), std::move(second)} {
    const Layout &a = part_[0]->layout(), &b = part_[1]->layout();
    SALTUS_EXPECT(a.coordinates == b.coordinates && a.parameters == b.parameters && b.coefficients == 0);
    layout_.coordinates = a.coordinates;
    layout_.parameters = a.parameters;
    layout_.constraints = a.constraints + b.constraints;
    for (const Layout* const own : {&a, &b})
        for (int k = 0; k < own->constraints; ++k)
            layout_.velocity_constraints.push_back(own->velocity_constraint(k) ? 1 : 0);
    layout_.normals = a.normals + b.normals;
    layout_.slips = a.slips + b.slips;
    layout_.coefficients = a.coefficients;
    mass_ = merge(a.mass, b.mass);
    layout_.mass = mass_.pattern;
    layout_.mass_constant = a.mass_constant && b.mass_constant;
    layout_.coefficients_constant = a.coefficients_constant;
    layout_.constant_coefficients = a.constant_coefficients;
    layout_.powered = a.powered || b.powered;
    for (std::size_t part = 0; part < 2; ++part) {
        const Layout& own = part_[part]->layout();
        const auto add = [&](int count, int first_row) {
            for (int i = 0; i < count; ++i) row_of_[part].push_back(first_row + i);
        };
        add(own.constraints, part == 0 ? 0 : a.constraints);
        add(own.normals, layout_.constraints + (part == 0 ? 0 : a.normals));
        add(own.slips, layout_.positions() + (part == 0 ? 0 : a.slips));
    }
    Stacked rows = stack({&a.rows, &b.rows}, {&row_of_[0], &row_of_[1]}, layout_.row_count());
    layout_.rows = std::move(rows.pattern);
    for (std::size_t part = 0; part < 2; ++part) entry_of_[part] = std::move(rows.entry_of[part]);
}

std::size_t JoinedSystem::buffer_size() const {
    return std::max({layout_.mass.size(), layout_.rows.size(), static_cast<std::size_t>(layout_.coordinates),
                     static_cast<std::size_t>(layout_.row_count())});
}

std::size_t JoinedSystem::scratch_size() const {
    return part_[0]->scratch_size() + part_[1]->scratch_size() + 2 * buffer_size();
}

JoinedSystem::Scratch JoinedSystem::split(std::span<double> scratch) const {
    const std::size_t a = part_[0]->scratch_size(), b = part_[1]->scratch_size(), c = buffer_size();
    return {{scratch.first(a), scratch.subspan(a, b)}, scratch.subspan(a + b, c), scratch.subspan(a + b + c, c)};
}

void JoinedSystem::prepare(std::span<const double> p, std::span<double> scratch) const {
    const Scratch s = split(scratch);
    for (std::size_t part = 0; part < 2; ++part) part_[part]->prepare(p, s.part[part]);
}

void JoinedSystem::mass(const At& at, std::span<double> scratch, std::span<double> M) const {
    const Scratch s = split(scratch);
    std::fill(M.begin(), M.end(), 0.0);
    for (std::size_t part = 0; part < 2; ++part) {
        part_[part]->mass(at, s.part[part], s.buffer1.first(part_[part]->layout().mass.size()));
        scatter_add(s.buffer1, part == 0 ? mass_.first : mass_.second, M);
    }
}

void JoinedSystem::force(const At& at, std::span<double> scratch, std::span<double> h) const {
    const Scratch s = split(scratch);
    part_[0]->force(at, s.part[0], h);
    part_[1]->force(at, s.part[1], s.buffer1.first(h.size()));
    for (std::size_t i = 0; i < h.size(); ++i) h[i] += s.buffer1[i];
}

void JoinedSystem::positions(const At& at, std::span<double> scratch, std::span<double> g) const {
    const Scratch s = split(scratch);
    for (std::size_t part = 0; part < 2; ++part) {
        const auto count = static_cast<std::size_t>(part_[part]->layout().positions());
        part_[part]->positions(at, s.part[part], s.buffer1.first(count));
        scatter(s.buffer1, std::span(row_of_[part]).first(count), g);
    }
}

void JoinedSystem::rows(const At& at, std::span<double> scratch, std::span<double> W, std::span<double> chi) const {
    const Scratch s = split(scratch);
    for (std::size_t part = 0; part < 2; ++part) {
        part_[part]->rows(at, s.part[part], s.buffer1.first(entry_of_[part].size()),
                          s.buffer2.first(row_of_[part].size()));
        scatter(s.buffer1, entry_of_[part], W);
        scatter(s.buffer2, row_of_[part], chi);
    }
}

void JoinedSystem::curvature(const At& at, std::span<double> scratch, std::span<double> zeta) const {
    const Scratch s = split(scratch);
    for (std::size_t part = 0; part < 2; ++part) {
        part_[part]->curvature(at, s.part[part], s.buffer1.first(row_of_[part].size()));
        scatter(s.buffer1, row_of_[part], zeta);
    }
}

void JoinedSystem::coefficients(const At& at, std::span<double> scratch, std::span<double> values) const {
    part_[0]->coefficients(at, split(scratch).part[0], values);
}

Energy JoinedSystem::energy(const At& at, std::span<double> scratch) const {
    const Scratch s = split(scratch);
    const Energy a = part_[0]->energy(at, s.part[0]), b = part_[1]->energy(at, s.part[1]);
    return {a.kinetic + b.kinetic, a.potential + b.potential, a.damping + b.damping, a.applied + b.applied};
}

// --- derivatives ---------------------------------------------------------------------------------------------

namespace {

/// Derivatives of a joined system: those of the parts, added (residual) or stacked (rows).
class JoinedJacobians final : public Jacobians {
public:
    JoinedJacobians(const JoinedSystem& system, const std::array<const System*, 2>& parts,
                    std::span<const int> parameters) {
        for (std::size_t part = 0; part < 2; ++part) {
            part_[part] = parts[part]->jacobians_by(parameters);
            const int rows = parts[part]->layout().row_count();
            for (int r = 0; r < rows; ++r) row_of_[part].push_back(system.row_of(part, r));
            lambda_[part].resize(static_cast<std::size_t>(rows));
        }
        residual_ = merge(part_[0]->pattern(Function::residual), part_[1]->pattern(Function::residual));
        for (const Function f : {Function::position, Function::velocity, Function::acceleration}) {
            const int rows = f == Function::position ? system.layout().positions() : system.layout().row_count();
            stacked_[static_cast<std::size_t>(f)] =
                stack({&part_[0]->pattern(f), &part_[1]->pattern(f)}, {&row_of_[0], &row_of_[1]}, rows);
        }
    }

    const Pattern& pattern(Function f) const override {
        if (f == Function::residual) return residual_.pattern;
        if (f == Function::coefficient) return part_[0]->pattern(f);
        return stacked_[static_cast<std::size_t>(f)].pattern;
    }

    void evaluate(Function f, const At& at, std::span<const double> a, std::span<const double> lambda,
                  std::span<double> values) override {
        if (f == Function::coefficient) return part_[0]->evaluate(f, at, a, lambda, values);
        std::fill(values.begin(), values.end(), 0.0);
        for (std::size_t part = 0; part < 2; ++part) {
            if (!lambda.empty())
                for (std::size_t r = 0; r < row_of_[part].size(); ++r)
                    lambda_[part][r] = lambda[static_cast<std::size_t>(row_of_[part][r])];
            buffer_.resize(part_[part]->pattern(f).size());
            part_[part]->evaluate(f, at, a, lambda.empty() ? lambda : std::span<const double>(lambda_[part]), buffer_);
            const std::vector<int>& place = f == Function::residual
                                                ? (part == 0 ? residual_.first : residual_.second)
                                                : stacked_[static_cast<std::size_t>(f)].entry_of[part];
            scatter_add(buffer_, place, values);
        }
    }

    int switches() const override { return part_[0]->switches() + part_[1]->switches(); }
    bool all_switches() const override { return part_[0]->all_switches() && part_[1]->all_switches(); }

    void switches(const At& at, std::span<double> values) override {
        const auto first = static_cast<std::size_t>(part_[0]->switches());
        part_[0]->switches(at, values.first(first));
        part_[1]->switches(at, values.subspan(first));
    }

    void switch_derivatives(const At& at, Matrix& out) override {
        Matrix rows[2];
        for (std::size_t part = 0; part < 2; ++part) part_[part]->switch_derivatives(at, rows[part]);
        out.resize(rows[0].rows() + rows[1].rows(), residual_.pattern.cols);
        if (rows[0].rows() > 0) out.topRows(rows[0].rows()) = rows[0];
        if (rows[1].rows() > 0) out.bottomRows(rows[1].rows()) = rows[1];
    }

private:
    std::unique_ptr<Jacobians> part_[2];
    std::vector<int> row_of_[2];
    std::vector<double> lambda_[2], buffer_;
    MergedPattern residual_;
    std::array<Stacked, function_count> stacked_;
};

}  // namespace

std::unique_ptr<Jacobians> JoinedSystem::jacobians() const {
    return jacobians_by(all_parameters(static_cast<std::size_t>(layout_.parameters)));
}

std::unique_ptr<Jacobians> JoinedSystem::jacobians_by(std::span<const int> parameters) const {
    return std::make_unique<JoinedJacobians>(*this, std::array<const System*, 2>{part_[0].get(), part_[1].get()},
                                             parameters);
}

// --- series --------------------------------------------------------------------------------------------------

std::unique_ptr<SeriesEquations> JoinedSystem::series(const SeriesNeeds& needs, std::span<const double> p) const {
    JoinedSeries::Parts parts;
    std::array<JoinedSeries::Places, 2> places;
    for (std::size_t part = 0; part < 2; ++part) {
        const Layout& own = part_[part]->layout();
        SeriesNeeds wanted;
        for (int r = 0; r < own.row_count(); ++r) {
            const auto row = static_cast<std::size_t>(row_of(part, r));
            wanted.rows.push_back(needs.rows[row]);
            if (r < own.positions()) wanted.positions.push_back(needs.positions[row]);
        }
        if (part == 0) wanted.coefficients = needs.coefficients;
        parts[part] = part_[part]->series(wanted, p);
        if (!parts[part]) return nullptr;
        places[part] = {part == 0 ? mass_.first : mass_.second, row_of_[part], entry_of_[part]};
    }
    return std::make_unique<JoinedSeries>(std::move(parts), layout_, places);
}

}  // namespace saltus::model
