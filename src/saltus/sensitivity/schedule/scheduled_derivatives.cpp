// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/schedule/scheduled_derivatives.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "saltus/base/decompositions.hpp"
#include "saltus/base/index.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/sensitivity/arc/detail/arc_flow.hpp"
#include "saltus/sensitivity/arc/detail/jumps.hpp"
#include "saltus/sensitivity/saltation/detail/grazing.hpp"
#include "saltus/sensitivity/saltation/detail/reset.hpp"
#include "saltus/sensitivity/saltation/detail/saltation.hpp"

namespace saltus::sensitivity {

namespace {

using integrate::RecordedArc;
using integrate::RecordedChange;
using integrate::ScheduledStage;
using model::Function;

/// Directions at the start of an arc are dependent if the part of one that is orthogonal to the others is at most this
/// part of the largest, all measured in the sizes of positions and velocities: rounding of the equations of the mode.
constexpr double dependent_direction = 1e-12;
/// Derivatives below this part of the magnitudes of the motion are integrated with an absolute error.
constexpr double small_direction = 1e-3;

}  // namespace

struct ScheduledDerivatives::Work {
    Work(const model::Mechanics& m, const std::vector<Variable>& parameters)
        : model(m), variables(parameters), tangent(m, recording, parameters) {}

    /// The derivative of the move onto the equations of the tangent's mode, (q, u) ↦ (q⁺, u⁺), after a map with the
    /// derivative `map`, 2n × columns. Positions move by the shortest way in the metric of M,
    ///     q⁺ = q − M⁻¹Gᵀ (G M⁻¹Gᵀ)⁻¹ g(t, q, p),
    /// so at g = 0, with the rows G = g_q of closed contacts and constraints,
    ///     δq⁺ = δq − M⁻¹Gᵀ (G M⁻¹Gᵀ)⁻¹ (G δq + g_t δt + g_p δp).
    /// Velocities follow as in differentiate_arrest. `x` is the state after the move.
    void move_onto_equations(double t, const double* x, Matrix& map) {
        integrate::Dynamics& d = tangent.dynamics;
        if (d.equation_rows().empty()) return;
        const int n = tangent.n(), columns = tangent.columns();
        std::vector<int> rows;
        for (const int row : d.equation_rows())
            if (model.layout().has_position(row)) rows.push_back(row);
        Matrix inner = Matrix::Identity(columns, columns);
        inner.middleRows(1, 2 * n) = map;
        if (!rows.empty()) {
            const auto m = static_cast<Eigen::Index>(rows.size());
            Matrix position;
            tangent.linearised.gather(Function::position, t, x, {}, {}, position);
            d.evaluate_terms(t, x);
            d.factorise_mass();
            Matrix G(m, columns), C(n, m);
            for (Eigen::Index k = 0; k < m; ++k) {
                G.row(k) = position.row(rows[ix(k)]);
                C.col(k) = G.row(k).segment(1, n).transpose();
                d.mass().solve({C.col(k).data(), ix(n)});
            }
            const Matrix K = G.middleCols(1, n) * C;
            map.topRows(n) -= C * least_squares_columns(K, G * inner);
            inner.middleRows(1, n) = map.topRows(n);
        }
        Matrix own = Matrix::Zero(n, columns);
        own.middleCols(1 + n, n).setIdentity();
        map.bottomRows(n) = differentiate_arrest(tangent, t, x, Eigen::Map<const Vector>(x + n, n), own) * inner;
    }

    /// R of the stage, 2n × columns. Leaves the tangent in the mode of its arc.
    bool reset_of(const ScheduledStage& stage, Matrix& map) {
        const int n = tangent.n(), columns = tangent.columns();
        tangent.set_state_identity(map);
        for (const RecordedChange& change : stage.changes) {
            Matrix inner = Matrix::Identity(columns, columns);
            inner.middleRows(1, 2 * n) = map;
            tangent.set_mode(change.mode_before, change.t, change.before.data());
            Reset r = reset(tangent, change, Arrest::never);
            if (!r.exists) {
                failure = std::move(r.why_not);
                return false;
            }
            map = r.map * inner;
            move_onto_equations(change.t, change.after.data(), map);
        }
        if (stage.changes.empty()) {
            tangent.set_mode(stage.mode, stage.t, stage.start.data());
            move_onto_equations(stage.t, stage.start.data(), map);
        }
        return map.allFinite();
    }

    /// Carries directions, one per row, along the arcs of a stage. Expressions with kinks and jumps are passed as in
    /// `sensitivity`, with the times of their own conditions.
    bool carry(const ScheduledStage& stage, const Vector& size, double tolerance, Matrix& rows) {
        const int n = tangent.n();
        if (!kept_flow || flow_size != size) {
            kept_flow.emplace(tangent, tolerance, small_direction * size.head(n).maxCoeff(),
                              small_direction * size.tail(n).maxCoeff(), ArcFlow::Use::forward_only);
            flow_size = size;
        }
        ArcFlow& flow = *kept_flow;
        flow.set_tolerance(tolerance);
        if (tangent.linearised.switches() == 0) {
            for (const RecordedArc& arc : stage.arcs)
                if (!flow.forwards(arc, rows, nobody)) {
                    failure = "the linearised equations cannot be integrated";
                    return false;
                }
            return true;
        }
        integrate::Recording cut;
        RecordedChange start;
        start.t = stage.t;
        start.first = true;
        start.mode_before = start.mode_after = stage.mode;
        start.before = start.after = stage.start;
        cut.pieces.emplace_back(std::move(start));
        for (const RecordedArc& arc : stage.arcs) cut.pieces.emplace_back(arc);
        failure = cut_at_jumps(model, variables, cut);
        if (!failure.empty()) return false;
        for (std::size_t k = 1; k < cut.pieces.size(); ++k) {
            if (const auto* const arc = std::get_if<RecordedArc>(&cut.pieces[k])) {
                if (!flow.forwards(*arc, rows, nobody)) {
                    failure = "the linearised equations cannot be integrated";
                    return false;
                }
                continue;
            }
            const Saltation s = saltation(tangent, std::get<RecordedChange>(cut.pieces[k]), &cut.pieces[k - 1]);
            if (!s.exists) {
                failure = s.why_not;
                return false;
            }
            for (Eigen::Index r = 0; r < rows.rows(); ++r) {
                const double dt = s.events.empty() || s.events[0].rate == 0.0
                                      ? 0.0
                                      : -s.events[0].s.dot(rows.row(r)) / s.events[0].rate;
                rows.row(r).segment(1, 2 * n) = passed(s, rows.row(r), dt).transpose();
            }
        }
        return true;
    }

    const model::Mechanics& model;
    const std::vector<Variable> variables;
    integrate::Recording recording;  // empty: the contacts are rigid
    Tangent tangent;
    std::string failure;
    std::vector<Eigen::Index> free;    // positions that nothing depends on
    std::optional<ArcFlow> kept_flow;  // with the equations of the modes that have occurred
    Vector flow_size;                  // magnitudes that it was made for
    Matrix nobody = Matrix(0, tangent.columns());
};

ScheduledDerivatives::ScheduledDerivatives(const model::Mechanics& model, const std::vector<Variable>& parameters)
    : work_(std::make_unique<Work>(model, parameters)) {}
ScheduledDerivatives::~ScheduledDerivatives() = default;
ScheduledDerivatives::ScheduledDerivatives(ScheduledDerivatives&&) noexcept = default;
ScheduledDerivatives& ScheduledDerivatives::operator=(ScheduledDerivatives&&) noexcept = default;

void ScheduledDerivatives::set_free_positions(std::vector<Eigen::Index> positions) {
    work_->free = std::move(positions);
}
bool ScheduledDerivatives::available() const { return work_->tangent.linearised.available(); }
const std::string& ScheduledDerivatives::failure() const { return work_->failure; }

// Contacts that are closed, and friction that sticks, leave fewer than 2n directions at the start of an arc. Only a
// basis of the directions that occur is carried: with the map H = (R_y, R_t − f⁺) of the start, whose columns span r
// directions, H = B C with an orthonormal basis B, and X H = (X B) C. A direction of a parameter has its own row,
// because it acts along the whole arc.
bool ScheduledDerivatives::stage(const ScheduledStage& stage, const Vector& size, double tolerance,
                                 StageDerivative& out) {
    Work& w = *work_;
    Tangent& x = w.tangent;
    const int n = x.n(), parameters = x.parameters();
    w.failure.clear();
    Matrix map;
    if (!w.reset_of(stage, map)) return false;
    Vector field;
    if (!x.velocity_field(stage.t, stage.start.data(), field)) {
        w.failure = "the equations of motion are singular";
        return false;
    }
    Matrix H(2 * n, 2 * n + 1);
    H.leftCols(2 * n) = map.middleCols(1, 2 * n);
    H.col(2 * n) = map.col(0) - field;
    const double duration = stage.t_end - stage.t;
    const Vector inverse_size = size.cwiseInverse();
    Matrix basis, coefficients, constant = Matrix::Zero(2 * n, 2 * n + 1);  // `constant`: what need not be carried
    if (x.dynamics.equation_rows().empty()) {
        std::vector<Eigen::Index> kept;
        for (Eigen::Index i = 0; i < 2 * n; ++i) {
            if (std::find(w.free.begin(), w.free.end(), i) == w.free.end())
                kept.push_back(i);
            else
                constant.row(i) = H.row(i);
        }
        basis = Matrix::Identity(2 * n, 2 * n)(Eigen::all, kept);
        coefficients = H(kept, Eigen::all);
    } else {
        // Columns in the sizes of what they multiply, so that the rank does not depend on units.
        Matrix scaled = inverse_size.asDiagonal() * H;
        for (int k = 0; k < 2 * n; ++k) scaled.col(k) *= size(k);
        scaled.col(2 * n) *= std::abs(duration);
        const Matrix Q = orthonormal_range(scaled, dependent_direction);
        basis = size.asDiagonal() * Q;
        coefficients = Q.transpose() * (inverse_size.asDiagonal() * H);
    }
    Matrix rows = Matrix::Zero(basis.cols() + parameters, x.columns());
    for (Eigen::Index k = 0; k < basis.cols(); ++k) rows.row(k).segment(1, 2 * n) = basis.col(k).transpose();
    for (int k = 0; k < parameters; ++k) {
        rows.row(basis.cols() + k).segment(1, 2 * n) = map.col(1 + 2 * n + k).transpose();
        rows(basis.cols() + k, 1 + 2 * n + k) = 1.0;
    }
    if (duration > 0.0 && rows.rows() > 0 && !w.carry(stage, size, tolerance, rows)) return false;
    const Matrix carried = rows.middleCols(1, 2 * n).transpose();
    const Matrix all = carried.leftCols(basis.cols()) * coefficients + constant;
    out.by_state = all.leftCols(2 * n);
    out.by_start = all.col(2 * n);
    out.by_parameters = carried.rightCols(parameters);
    if (duration < 0.0) {  // continued in a straight line
        out.by_end = field;
        return out.by_state.allFinite() && out.by_start.allFinite() && out.by_parameters.allFinite();
    }
    x.set_mode(stage.mode, stage.t_end, stage.end.data());
    // Slip in a plane has turned since the start of the stage, perhaps by more than a right angle.
    x.dynamics.evaluate_terms(stage.t_end, stage.end.data());
    x.dynamics.turn_slip(x.dynamics.followed_mode());
    if (!x.velocity_field(stage.t_end, stage.end.data(), out.by_end)) {
        w.failure = "the equations of motion are singular";
        return false;
    }
    return out.by_state.allFinite() && out.by_start.allFinite() && out.by_parameters.allFinite();
}

bool ScheduledDerivatives::conditions(const integrate::ScheduledEvent& event, double t, const Vector& y,
                                      std::vector<ConditionDerivative>& out) {
    Work& w = *work_;
    out.clear();
    if (event.limit) return true;
    RecordedChange change = event.changes.front();
    change.t = t;
    change.earlier = 0.0;
    change.before.assign(y.data(), y.data() + y.size());
    change.before.push_back(0.0);
    const Eigen::Index states = 2 * static_cast<Eigen::Index>(w.tangent.n());
    for (const EventCondition& c : conditions_of(w.tangent, change)) {
        ConditionDerivative& d = out.emplace_back();
        d.by_time = c.s(0);
        d.by_state = c.s.segment(1, states);
        d.by_parameters = c.s.tail(w.tangent.parameters());
        d.rate = c.rate;
    }
    if (out.empty()) w.failure = "the equations of motion are singular";
    return !out.empty();
}

bool ScheduledDerivatives::regular(const std::vector<ScheduledStage>& stages) {
    Tangent& x = work_->tangent;
    const integrate::SystemMode& first = stages.front().mode;
    // Disturbances out of a constraint do not exist; `stage` moves them onto the constraint.
    for (std::size_t i = 0; i < first.elements.size(); ++i) {
        const trajectory::ElementKind kind = x.dynamics.elements()[i].rows.kind;
        if (first.elements[i].active && kind != trajectory::ElementKind::slider &&
            kind != trajectory::ElementKind::constraint)
            return false;
    }
    integrate::RecordedPiece before;
    for (const ScheduledStage& stage : stages) {
        for (const RecordedChange& change : stage.changes) {
            const Saltation s = saltation(x, change, &before);
            if (!s.exists || !s.conditions.empty() || s.untimed || s.events.size() > 1) return false;
            if (!s.events.empty() && s.events.front().transversality < transversality_margin) return false;
            before = change;
        }
        for (const RecordedArc& arc : stage.arcs)
            if (!near_miss(x, arc).text.empty()) return false;
        if (!stage.arcs.empty()) before = stage.arcs.back();
    }
    return true;
}

}  // namespace saltus::sensitivity
