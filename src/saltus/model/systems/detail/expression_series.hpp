// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "saltus/expr/series/series_tape.hpp"
#include "saltus/model/series.hpp"
#include "saltus/model/symbolic.hpp"
#include "saltus/model/system.hpp"

namespace saltus::model {

/// Whether all roots are linear in q and u, and depend on the time only by sin and cos of a + b t and by polynomials of
/// low degree. The coefficients of such a function at one time show its size everywhere: those of A cos(ω t) are A
/// ω^k/k!, and |A cos(ω t)| <= A. This does not hold for exp(b t), which can grow from nothing, and for powers of t
/// beyond the order of the series, whose coefficients at t = 0 are zero.
bool is_transparent(const expr::Graph& graph, const expr::Expr* roots, std::size_t count);

/// The degree in the time of each expression, if q and u are polynomials of the given degrees. The result has one entry
/// per node of the graph.
std::vector<int> degrees_in_time(const expr::Graph& graph, std::span<const expr::Expr> roots, int degree_q,
                                 int degree_u);

/// A tape on series for the terms that were asked for, and where each term is among its outputs.
struct SeriesProgram {
    expr::SeriesTape tape;
    SeriesNeeds needs;
    bool transparent = false;                               ///< SeriesEquations::transparent
    int motion_degree = SeriesEquations::unlimited_degree;  ///< SeriesEquations::motion_degree

    SeriesProgram(const SymbolicEquations& equations, const SeriesNeeds& needs);
    SeriesProgram(const SeriesProgram&) = delete;  // the workspace refers to the tape
    SeriesProgram& operator=(const SeriesProgram&) = delete;

    /// A workspace without parameters, of which each ExpressionSeries has a copy.
    std::unique_ptr<const expr::SeriesWorkspace<double>> workspace;

    /// Calls visit(kind, number) for each output in order; `number` is that of the term within its kind.
    enum class Kind { mass, force, position, row, chi, zeta, coefficient, damping, applied, other_force };
    std::vector<std::pair<Kind, int>> outputs;
};

/// The programs of one system for the terms that were asked for. It may be used from any thread.
class SeriesStore {
public:
    std::shared_ptr<const SeriesProgram> by(const SymbolicEquations& equations, const SeriesNeeds& needs);

private:
    std::mutex mutex_;
    std::vector<std::shared_ptr<const SeriesProgram>> kept_;
};

/// Series of a system that is given by formulas. If the formulas cover only a part of the coordinates, then q, u and h
/// of the others are null.
class ExpressionSeries final : public SeriesEquations {
public:
    /// `index`: Formulas::index.
    ExpressionSeries(std::shared_ptr<const SeriesProgram> program, const Layout& layout, std::span<const int> index,
                     std::span<const double> p);

    void begin(double t0) override {
        workspace_.begin(t0);
        evaluated_ = completed_ = 0;
    }
    void evaluate_order(int k) override {
        workspace_.evaluate_order(k);
        evaluated_ = k;
    }
    void complete() override {
        workspace_.evaluate_later(completed_ + 1, evaluated_);
        completed_ = evaluated_;
    }
    int switch_count() const override { return program_->tape.switch_count(); }
    Row switch_function(int i) const override { return workspace_.switch_function(i); }
    int side(int i) const override { return workspace_.side(i); }
    void set_side(int i, int side) override { workspace_.set_side(i, side); }
    void clear_sides() override { workspace_.clear_sides(); }
    bool transparent() const override { return program_->transparent; }
    int motion_degree() const override { return program_->motion_degree; }
    const Radii& bounds(double R, std::span<const double> q_radius, std::span<const double> u_radius) override;
    const Radii* remainders(double step) override;

private:
    void prepare_bounds();
    void scatter_radii();

    std::shared_ptr<const SeriesProgram> program_;
    expr::SeriesWorkspace<double> workspace_;
    std::vector<int> index_;
    int evaluated_ = 0, completed_ = 0;  // orders
    std::vector<double> variable_radius_, output_radius_;
    Radii radii_;
};

}  // namespace saltus::model
