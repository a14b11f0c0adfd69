// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/detail/shooting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "saltus/base/error.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/base/stop.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"

namespace saltus::orbit {

namespace {

using integrate::EventOrder;
using integrate::RecordedMotion;
using integrate::ScheduledEvent;
using integrate::ScheduledStage;
using sensitivity::ConditionDerivative;
using sensitivity::StageDerivative;
using RowVector = Eigen::RowVectorXd;

/// Newton's method ends below this residual times max(1, growth of an arc), relative to the sizes: rounding of the
/// motion. Orbits in parts are those of strongly unstable systems, whose states are known better than their ends.
constexpr double solved_residual = 1e-13, solved_in_parts = 1e-14;
/// Below this residual a Newton step that does not help is not halved: only rounding is left.
constexpr double undamped_residual = 1e-6;
/// If the residual no longer falls, then the motion counts as found below this value.
constexpr double found_residual = 1e-9;
constexpr int max_shooting_halvings = 12;
/// Tolerance of derivatives from which multipliers are computed, as in sensitivity::Options.
constexpr double full_accuracy = 1e-11;
/// The states of a node are unknowns of the linear system, and not only functions of those before, if disturbances have
/// grown by this factor since the last such node. Rounding errors grow by it, too.
constexpr double growth_of_block = 1e3;

/// The modes are the same, but for the directions of slip in planes.
bool same_mode(const integrate::SystemMode& a, const integrate::SystemMode& b) {
    if (a.elements != b.elements || a.parts.size() != b.parts.size()) return false;
    for (std::size_t k = 0; k < a.parts.size(); ++k)
        if (a.parts[k].slips != b.parts[k].slips) return false;
    return true;
}

std::span<const double> span_of(const Vector& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }

Vector state_vector(const ShortVector<double, 8>& x, Eigen::Index states) {
    return Eigen::Map<const Vector>(x.data(), states);
}

double largest(const Matrix& m) { return m.size() > 0 ? m.cwiseAbs().maxCoeff() : 0.0; }

}  // namespace

double ShootingMotion::time_of(std::size_t k) const {
    const ShootingNode& node = nodes[k];
    if (node.event != ShootingNode::none) return times[static_cast<std::size_t>(node.event)];
    if (k == 0) return t;
    const auto next = static_cast<std::size_t>(node.from) + 1;
    const double from = node.from == ShootingNode::none ? t : times[static_cast<std::size_t>(node.from)];
    return from + node.part * ((next < times.size() ? times[next] : end()) - from);
}

/// What computes values and derivatives of one model.
struct Shooting::Tools {
    Tools(std::shared_ptr<const model::Model> of, const integrate::EventDriven& method,
          const std::vector<sensitivity::Variable>& parameters)
        : model(std::move(of)), run(*model, method), derivatives(*model, parameters) {}
    std::shared_ptr<const model::Model> model;
    integrate::ScheduledRun run;
    sensitivity::ScheduledDerivatives derivatives;
};

Shooting::Shooting(ShootingProblem problem) : problem_(std::move(problem)), states_(problem_.size.size()) {}
Shooting::~Shooting() = default;

Vector Shooting::z() const {
    const Eigen::Index extra = (autonomous() ? 1 : 0) + (problem_.parameter.empty() ? 0 : 1);
    Vector z(states_ + extra);
    z.head(states_) = at_.nodes.front().y;
    if (autonomous()) z(states_) = at_.duration;
    if (!problem_.parameter.empty()) z(z.size() - 1) = at_.parameter;
    return z;
}

bool Shooting::begin(std::vector<RecordedMotion>& motions, double parameter) {
    order_ = {};
    at_ = {};
    failure_.clear();
    at_.t = motions.front().motion.start.t;
    at_.duration = motions.back().motion.end.t - at_.t;
    at_.parameter = parameter;
    now_ = {};
    if (!set_tools(at_, now_)) return false;
    if (!autonomous()) now_.duration_slope = problem_.duration(*now_.model).second;
    std::vector<double> cut_times;  // of nodes without an event
    for (RecordedMotion& recorded : motions) {
        EventOrder part = integrate::order_of(*now_.model, recorded);
        if (!part.refusal.empty()) {
            failure_ = part.refusal;
            return false;
        }
        for (ScheduledStage& stage : integrate::stages_of(recorded, part)) now_.stages.push_back(std::move(stage));
        const std::size_t before = order_.events.size();
        if (at_.nodes.empty())
            order_.first = part.first;
        else if (!same_mode(at_.nodes.back().mode, part.first)) {
            failure_ = "the parts of the guess do not have the same mode where they join";
            return false;
        }
        ShootingNode start;
        start.y = vector_of(recorded.motion.start);
        start.mode = part.first;
        start.from = static_cast<int>(before) - 1;
        cut_times.push_back(recorded.motion.start.t);
        at_.nodes.push_back(std::move(start));
        for (std::size_t k = 0; k < part.events.size(); ++k) {
            ScheduledEvent& event = part.events[k];
            event.a += before, event.b += before, event.c += before;
            ShootingNode node;
            node.event = static_cast<int>(order_.events.size());
            node.y = Eigen::Map<const Vector>(event.changes.front().before.data(), states_);
            now_.conditions.emplace_back(event.limit ? 0 : event.changes.front().found.size(), 0.0);
            node.mode = event.changes.back().mode_after;
            at_.nodes.push_back(std::move(node));
            order_.events.push_back(std::move(event));
            at_.times.push_back(part.times[k]);
        }
    }
    if (problem_.symmetry == nullptr && !same_mode(order_.first, at_.nodes.back().mode)) {
        failure_ = "the motion does not end in the mode in which it begins";
        return false;
    }
    std::size_t cut = 0;
    for (ShootingNode& node : at_.nodes) {
        if (node.event != ShootingNode::none) continue;
        const double time = cut_times[cut++];
        const auto next = static_cast<std::size_t>(node.from) + 1;
        const double from = node.from == ShootingNode::none ? at_.t : at_.times[static_cast<std::size_t>(node.from)];
        const double to = next < at_.times.size() ? at_.times[next] : at_.end();
        node.part = (time - from) / (to - from);
    }
    condition_size_.clear();
    return true;
}

bool Shooting::regular() { return !now_.stages.empty() && tools_->derivatives.regular(now_.stages); }

void Shooting::set_closing(Closing closing) {
    problem_.closing = std::move(closing);
    if (tools_) tools_->derivatives.set_free_positions(problem_.closing.free_positions());
}

void Shooting::begin(EventOrder order, ShootingMotion motion) {
    order_ = std::move(order);
    at_ = std::move(motion);
    failure_.clear();
    condition_size_.clear();
    now_ = {};
}

void Shooting::begin(ShootingSolution solution) {
    begin(std::move(solution.order), std::move(solution.motion));
    now_ = std::move(solution.evaluation);
    if (!now_.condition_derivatives.empty()) set_condition_sizes();
}

std::shared_ptr<const ShootingSolution> Shooting::solution() {
    if (!differentiate(full_accuracy)) return nullptr;
    return std::make_shared<const ShootingSolution>(ShootingSolution{order_, at_, now_});
}

/// Finds what the residuals of the conditions are relative to.
void Shooting::set_condition_sizes() {
    condition_size_.assign(order_.events.size(), {});
    for (std::size_t e = 0; e < order_.events.size(); ++e)
        for (const ConditionDerivative& c : now_.condition_derivatives[e])
            condition_size_[e].push_back(
                std::max(c.by_state.cwiseAbs().dot(problem_.size) + std::abs(c.by_time) * at_.duration,
                         std::numeric_limits<double>::min()));
}

/// Makes the tools for the model of a motion, and finds its duration.
bool Shooting::set_tools(const ShootingMotion& at, ShootingEvaluation& out) {
    try {
        out.model = problem_.model(at.parameter);
    } catch (const Error& error) {
        failure_ = error.message();
        return false;
    }
    if (tools_ && tools_->model == out.model) return true;
    std::vector<sensitivity::Variable> parameters;
    for (const model::Parameter& p : out.model->settings->parameters)
        if (p.name == problem_.parameter && p.column >= 0)
            parameters.push_back({sensitivity::Variable::Kind::parameter, p.column, p.name, p.value});
    tools_ = std::make_unique<Tools>(out.model, problem_.method, parameters);
    tools_->derivatives.set_free_positions(problem_.closing.free_positions());
    if (!tools_->derivatives.available()) failure_ = "the system gives no derivatives";
    return failure_.empty();
}

/// An interrupt ends the work of one motion, or of its derivatives; `unknown` forgets what is not complete.
template <class Work, class Unknown>
bool Shooting::completes(const Work& work, const Unknown& unknown) {
    try {
        const Stoppable here(problem_.interrupted);
        return work();
    } catch (const Stopped&) {
        unknown();
        failure_ = "interrupted";
        return false;
    }
}

bool Shooting::evaluate(const ShootingMotion& at, ShootingEvaluation& out) {
    return completes([&] { return follow_stages(at, out); }, [&] { out = {}; });
}

bool Shooting::differentiate(double tolerance) {
    return completes([&] { return differentiate_stages(tolerance); }, [&] { now_.stage_derivatives.clear(); });
}

/// The motion through all stages.
bool Shooting::follow_stages(const ShootingMotion& at, ShootingEvaluation& out) {
    out = {};
    if (!set_tools(at, out)) return false;
    if (!autonomous()) out.duration_slope = problem_.duration(*out.model).second;
    out.stages.resize(at.nodes.size());
    out.conditions.resize(order_.events.size());
    tools_->run.begin(at.t, at.end());
    for (std::size_t k = 0; k < at.nodes.size(); ++k) {
        const ShootingNode& node = at.nodes[k];
        const double from = at.time_of(k), to = k + 1 < at.nodes.size() ? at.time_of(k + 1) : at.end();
        // Stages may be continued backwards a little, behind the point at which two events meet.
        constexpr double farthest_back = 0.02;
        if (!(to >= from - farthest_back * at.duration)) {
            failure_ = "two events would change their order";
            return false;
        }
        const ScheduledEvent* event = nullptr;
        if (node.event != ShootingNode::none) {
            event = &order_.events[static_cast<std::size_t>(node.event)];
            std::vector<double>& values = out.conditions[static_cast<std::size_t>(node.event)];
            if (!event->limit)
                for (const integrate::Watch& w : event->changes.front().found)
                    values.push_back(tools_->run.condition(w, event->mode_before(), from, span_of(node.y)));
        }
        if (!tools_->run.stage(event, node.mode, from, span_of(node.y), to, out.stages[k])) {
            failure_ = tools_->run.failure();
            return false;
        }
    }
    return true;
}

bool Shooting::differentiate_stages(double tolerance) {
    if (!now_.stage_derivatives.empty() && now_.tolerance <= tolerance) return true;
    if (now_.stages.empty() && !evaluate(at_, now_)) return false;
    now_.tolerance = tolerance;
    now_.stage_derivatives.resize(now_.stages.size());
    now_.condition_derivatives.resize(order_.events.size());
    bool known = true;
    for (std::size_t k = 0; k < now_.stages.size() && known; ++k) {
        const ShootingNode& node = at_.nodes[k];
        if (node.event != ShootingNode::none) {
            const auto e = static_cast<std::size_t>(node.event);
            known =
                tools_->derivatives.conditions(order_.events[e], at_.time_of(k), node.y, now_.condition_derivatives[e]);
        }
        known = known && tools_->derivatives.stage(now_.stages[k], problem_.size, tolerance, now_.stage_derivatives[k]);
    }
    if (known) {
        set_condition_sizes();
        return true;
    }
    failure_ = tools_->derivatives.failure();
    if (failure_.empty()) failure_ = "the motion has no derivative";
    now_.stage_derivatives.clear();
    return false;
}

/// The limit of an accumulation, t_∞ = t_a + S²/d with S = t_a − t_b and d = (t_b − t_c) − S. `weights` gets the
/// derivatives of t_∞ by t_a, t_b and t_c, if it is not null.
double Shooting::accumulation_limit(const ShootingMotion& at, const ScheduledEvent& event, double* weights) const {
    const double a = at.times[event.a], b = at.times[event.b], c = at.times[event.c];
    const double S = a - b, d = (b - c) - S;
    if (weights != nullptr) {
        // ∂(S²/d) at fixed S' by S, and at fixed S by S'; see sensitivity/saltation/detail/limit.cpp.
        const double by_last = (2.0 * S * d + S * S) / (d * d), by_before = -S * S / (d * d);
        weights[0] = 1.0 + by_last;
        weights[1] = by_before - by_last;
        weights[2] = -by_before;
    }
    return a + S * S / d;
}

double Shooting::residual_of(const ShootingMotion& at, const ShootingEvaluation& e,
                             const std::optional<ShootingRow>& extra) const {
    double residual = 0.0;
    const auto take = [&](double value) {
        residual = std::isfinite(value) ? std::max(residual, std::abs(value)) : infinity;
    };
    const Vector& size = problem_.size;
    for (std::size_t k = 0; k < e.stages.size(); ++k) {
        Vector end = state_vector(e.stages[k].end, states_);
        const bool last = k + 1 == e.stages.size();
        if (last && problem_.symmetry != nullptr) end = (*problem_.symmetry)(end);
        if (last) end = problem_.closing.back(end, at.nodes.front().y);
        const Vector defect = (end - at.nodes[last ? 0 : k + 1].y).cwiseQuotient(size);
        for (Eigen::Index i = 0; i < states_; ++i) take(defect(i));
    }
    for (std::size_t k = 0; k < order_.events.size(); ++k) {
        for (std::size_t c = 0; c < e.conditions[k].size(); ++c)
            take(e.conditions[k][c] /
                 (k < condition_size_.size() && c < condition_size_[k].size() ? condition_size_[k][c] : 1.0));
        if (order_.events[k].limit)
            take((at.times[k] - accumulation_limit(at, order_.events[k], nullptr)) / at.duration);
    }
    if (problem_.phase) {
        const Vector gradient = problem_.phase->gradient(at.nodes.front().y);
        take(problem_.phase->value(at.nodes.front().y) /
             std::max(gradient.cwiseAbs().dot(size), std::numeric_limits<double>::min()));
    }
    if (extra) {
        Vector z(extra->row.size());
        z.head(states_) = at.nodes.front().y;
        if (autonomous()) z(states_) = at.duration;
        z(z.size() - 1) = at.parameter;
        take(extra->row.dot((z - extra->z_start).cwiseQuotient(extra->scale)));
    }
    return residual;
}

/// Newton's equations A w = b. The unknowns w are, relative to their sizes, the states of some nodes (`blocks`), the
/// times of all events, the duration and the parameter. The states of all nodes follow from them, δy_k/size = P_k w +
/// r_k: the equations that join the arcs are solved forwards as long as disturbances do not grow much,
///     δy_{k+1} = x_y δy_k + x_t δt_k + x_end δt_{k+1} + x_p δp + (x_end − y_{k+1}).
struct Shooting::System {
    std::vector<std::size_t> blocks;
    Eigen::Index times = 0, duration = -1, parameter = -1, columns = 0;  // numbers of columns; -1: not an unknown
    double parameter_scale = 1.0;
    Matrix A;
    Vector b;
    std::vector<Matrix> P;
    std::vector<Vector> r;
};

/// A solution of Newton's equations.
struct Shooting::Step {
    std::vector<Vector> y;      // change of each node, relative to the sizes
    std::vector<double> times;  // of each event, in s
    double duration = 0.0, parameter = 0.0;
};

double Shooting::parameter_scale(const std::optional<ShootingRow>& extra) const {
    return extra ? extra->scale(extra->scale.size() - 1) : 1.0;
}

Shooting::System Shooting::assemble(const std::optional<ShootingRow>& extra) const {
    System s;
    const Vector& size = problem_.size;
    const Vector inverse = size.cwiseInverse();
    const std::size_t count = at_.nodes.size();
    const double D = at_.duration;
    std::vector<Matrix> by_state(count);
    Matrix growth = Matrix::Identity(states_, states_);
    s.blocks = {0};
    for (std::size_t k = 0; k < count; ++k) {
        by_state[k] = inverse.asDiagonal() * now_.stage_derivatives[k].by_state * size.asDiagonal();
        growth = by_state[k] * growth;
        if (k + 1 == count || !(largest(growth) > growth_of_block)) continue;
        s.blocks.push_back(k + 1);
        growth.setIdentity();
    }
    const auto events = static_cast<Eigen::Index>(order_.events.size());
    s.times = static_cast<Eigen::Index>(s.blocks.size()) * states_;
    s.columns = s.times + events;
    if (autonomous()) s.duration = s.columns++;
    if (!problem_.parameter.empty()) s.parameter = s.columns++;
    s.parameter_scale = parameter_scale(extra);

    // Times of nodes as rows, relative to D.
    const auto time_of_event = [&](int event) -> RowVector {
        RowVector row = RowVector::Zero(s.columns);
        if (event == static_cast<int>(events)) {  // the end
            if (s.duration >= 0)
                row(s.duration) = 1.0;
            else if (s.parameter >= 0)
                row(s.parameter) = now_.duration_slope * s.parameter_scale / D;
        } else if (event >= 0) {
            row(s.times + event) = 1.0;
        }
        return row;
    };
    const auto time_of_node = [&](std::size_t k) -> RowVector {
        if (k == count) return time_of_event(static_cast<int>(events));
        const ShootingNode& node = at_.nodes[k];
        if (node.event != ShootingNode::none) return time_of_event(node.event);
        if (k == 0) return RowVector::Zero(s.columns);
        return (1.0 - node.part) * time_of_event(node.from) + node.part * time_of_event(node.from + 1);
    };

    std::vector<RowVector> rows;
    std::vector<double> right;
    const auto add = [&](RowVector row, double value) {
        rows.push_back(std::move(row));
        right.push_back(value);
    };
    std::size_t block = 0;
    Matrix P = Matrix::Zero(states_, s.columns);
    P.leftCols(states_).setIdentity();
    Vector r = Vector::Zero(states_);
    for (std::size_t k = 0; k < count; ++k) {
        s.P.push_back(P);
        s.r.push_back(r);
        const ShootingNode& node = at_.nodes[k];
        const RowVector time = time_of_node(k);
        if (node.event != ShootingNode::none) {
            const auto e = static_cast<std::size_t>(node.event);
            for (std::size_t c = 0; c < now_.conditions[e].size(); ++c) {
                const ConditionDerivative& d = now_.condition_derivatives[e][c];
                const RowVector by_state_scaled = d.by_state.cwiseProduct(size.transpose());
                RowVector row = by_state_scaled * P + d.by_time * D * time;
                if (s.parameter >= 0) row(s.parameter) += d.by_parameters(0) * s.parameter_scale;
                add(row / condition_size_[e][c],
                    -(now_.conditions[e][c] + by_state_scaled.dot(r)) / condition_size_[e][c]);
            }
            if (order_.events[e].limit) {
                double weights[3];
                const double limit = accumulation_limit(at_, order_.events[e], weights);
                RowVector row = time;
                row(s.times + static_cast<Eigen::Index>(order_.events[e].a)) -= weights[0];
                row(s.times + static_cast<Eigen::Index>(order_.events[e].b)) -= weights[1];
                row(s.times + static_cast<Eigen::Index>(order_.events[e].c)) -= weights[2];
                add(std::move(row), -(at_.times[e] - limit) / D);
            }
        }
        const StageDerivative& d = now_.stage_derivatives[k];
        const RowVector next_time = time_of_node(k + 1);
        Matrix next = by_state[k] * P + (D * d.by_start.cwiseQuotient(size)) * time +
                      (D * d.by_end.cwiseQuotient(size)) * next_time;
        if (s.parameter >= 0) next.col(s.parameter) += s.parameter_scale * d.by_parameters.col(0).cwiseQuotient(size);
        Vector rest = by_state[k] * r;
        const Vector end = state_vector(now_.stages[k].end, states_);
        if (k + 1 < count) {
            rest += (end - at_.nodes[k + 1].y).cwiseQuotient(size);
            const bool is_block = block + 1 < s.blocks.size() && s.blocks[block + 1] == k + 1;
            if (is_block) {
                ++block;
                const Eigen::Index first = static_cast<Eigen::Index>(block) * states_;
                Matrix own = Matrix::Zero(states_, s.columns);
                own.middleCols(first, states_).setIdentity();
                for (Eigen::Index i = 0; i < states_; ++i) add(next.row(i) - own.row(i), -rest(i));
                next = std::move(own);
                rest.setZero();
            }
        } else {
            Vector closing = end;
            if (problem_.symmetry != nullptr) {
                const Matrix S = inverse.asDiagonal() * problem_.symmetry->S * size.asDiagonal();
                next = S * next;
                rest = S * rest;
                closing = (*problem_.symmetry)(end);
            }
            // The rows of the pivots become zero: what remains says that these positions stay at the start.
            if (!problem_.closing.pivots().empty()) {
                next = inverse.asDiagonal() * problem_.closing.reduced(Matrix(size.asDiagonal() * next));
                rest = inverse.asDiagonal() * problem_.closing.reduced(Vector(size.asDiagonal() * rest));
            }
            closing = problem_.closing.back(closing, at_.nodes.front().y);
            rest += (closing - at_.nodes.front().y).cwiseQuotient(size);
            for (Eigen::Index i = 0; i < states_; ++i) {
                RowVector row = next.row(i);
                row(i) -= 1.0;
                add(std::move(row), -rest(i));
            }
        }
        P = std::move(next);
        r = std::move(rest);
    }
    if (problem_.phase) {
        const Vector gradient = problem_.phase->gradient(at_.nodes.front().y);
        const double scale = std::max(gradient.cwiseAbs().dot(size), std::numeric_limits<double>::min());
        RowVector row = RowVector::Zero(s.columns);
        row.head(states_) = gradient.cwiseProduct(size).transpose() / scale;
        add(std::move(row), -problem_.phase->value(at_.nodes.front().y) / scale);
    }
    if (extra) {
        RowVector row = RowVector::Zero(s.columns);
        row.head(states_) =
            extra->row.head(states_).cwiseProduct(size).cwiseQuotient(extra->scale.head(states_)).transpose();
        if (s.duration >= 0) row(s.duration) = extra->row(states_) * D / extra->scale(states_);
        row(s.parameter) = extra->row(extra->row.size() - 1);
        add(std::move(row), -extra->row.dot((z() - extra->z_start).cwiseQuotient(extra->scale)));
    }
    s.A.resize(static_cast<Eigen::Index>(rows.size()), s.columns);
    s.b.resize(s.A.rows());
    for (Eigen::Index i = 0; i < s.A.rows(); ++i) {
        s.A.row(i) = rows[static_cast<std::size_t>(i)];
        s.b(i) = right[static_cast<std::size_t>(i)];
    }
    return s;
}

namespace {

/// The error δ of derivatives that does not slow Newton's method down: the next residual is c r² + δ r, so that δ may
/// be of the order of r. It is part_of_residual · r, but at most `roughest`, because c is not known.
double tolerance_for(double residual) {
    constexpr double part_of_residual = 0.3, roughest = 1e-3;
    return std::clamp(part_of_residual * residual, full_accuracy, roughest);
}

/// The solution of A w = b: by elimination if A is square and regular, otherwise in the sense of least squares. There
/// are more equations than unknowns if several conditions of one event must hold together.
Vector solved(const Matrix& A, const Vector& b) {
    if (A.rows() == A.cols()) {
        Vector w = solve_columns(A, b);
        // Elimination of a nearly singular matrix leaves a defect, or numbers that are far too large. Its result is
        // taken if ‖A w − b‖ <= small_defect ‖b‖.
        constexpr double small_defect = 1e-8;
        if (w.allFinite() && (A * w - b).norm() <= small_defect * (b.norm() + std::numeric_limits<double>::min()))
            return w;
    }
    return least_squares(A, b);
}

}  // namespace

std::optional<Shooting::Step> Shooting::newton_step(const System& s) const {
    const Vector w = solved(s.A, s.b);
    if (!w.allFinite()) return std::nullopt;
    Step step;
    for (std::size_t k = 0; k < s.P.size(); ++k) step.y.emplace_back(s.P[k] * w + s.r[k]);
    for (std::size_t k = 0; k < order_.events.size(); ++k)
        step.times.push_back(w(s.times + static_cast<Eigen::Index>(k)) * at_.duration);
    if (s.duration >= 0) step.duration = w(s.duration) * at_.duration;
    if (s.parameter >= 0) step.parameter = w(s.parameter) * s.parameter_scale;
    return step;
}

ShootingMotion Shooting::moved(const Step& step, double fraction) const {
    ShootingMotion next = at_;
    for (std::size_t k = 0; k < next.nodes.size(); ++k)
        next.nodes[k].y += fraction * step.y[k].cwiseProduct(problem_.size);
    for (std::size_t k = 0; k < next.times.size(); ++k) next.times[k] += fraction * step.times[k];
    next.parameter += fraction * step.parameter;
    next.duration += fraction * step.duration;
    return next;
}

/// Residuals below are rounding: that of the motion grows along an arc.
double Shooting::rounding() const {
    double growth = 1.0;
    const Vector inverse = problem_.size.cwiseInverse();
    for (const StageDerivative& d : now_.stage_derivatives)
        growth = std::max(growth, largest(inverse.asDiagonal() * d.by_state * problem_.size.asDiagonal()));
    const auto cut = [](const ShootingNode& node) { return node.event == ShootingNode::none; };
    const bool in_parts = std::any_of(at_.nodes.begin() + 1, at_.nodes.end(), cut);
    return (in_parts ? solved_in_parts : solved_residual) * growth;
}

bool Shooting::limited_by_rounding() const {
    // `rounding` is an estimate: a residual up to this multiple of it may be due to rounding.
    constexpr double safety = 1e3;
    return !residuals_.empty() && !now_.stage_derivatives.empty() && residual() <= safety * rounding();
}

/// Takes a step, or a part of it if the whole does not make the residual smaller. False if no part does.
bool Shooting::advance(const Step& step, const std::optional<ShootingRow>& extra, double& residual) {
    const int halvings = residual > undamped_residual ? max_shooting_halvings : 0;
    double fraction = 1.0;
    for (int halving = 0; halving <= halvings; ++halving, fraction *= 0.5) {
        ShootingMotion next = moved(step, fraction);
        ShootingEvaluation there;
        try {
            if (!autonomous() && !problem_.parameter.empty())
                next.duration = problem_.duration(*problem_.model(next.parameter)).first;
            if (!durations_.contains(next.duration) || !evaluate(next, there)) continue;
        } catch (const Error& error) {  // a parameter that is not admissible
            failure_ = error.message();
            continue;
        }
        const double smaller = residual_of(next, there, extra);
        if (!(smaller < residual)) continue;
        at_ = std::move(next);
        now_ = std::move(there);
        residual = smaller;
        return true;
    }
    return false;
}

// Near the solution, the residuals of Newton's method are r_{k+1} = C r_k² with C = r_k/r_{k−1}². If this predicts
// r_{k+1} < predicted_margin · (residual of rounding), then the step is taken and its motion is not evaluated
// (LastStep::trusted). The margin allows for a C that has not settled yet.
bool Shooting::solve(const std::optional<ShootingRow>& extra, LastStep last) {
    constexpr double predicted_margin = 1e-2;
    residuals_.clear();
    failure_.clear();
    durations_ = PeriodRange(at_.duration);
    if (now_.stages.empty() && !evaluate(at_, now_)) return false;
    double residual = residual_of(at_, now_, extra);
    // Derivatives of the first motion may be known already, roughly.
    if (now_.stage_derivatives.empty() && !differentiate(tolerance_for(residual))) return false;
    residual = residual_of(at_, now_, extra);  // now the sizes of the conditions are known
    residuals_ = {residual};
    double enough = rounding();
    for (int k = 0; k < problem_.max_iterations && residual > enough; ++k) {
        if (problem_.interrupted && problem_.interrupted()) {
            failure_ = "interrupted";
            return false;
        }
        if (k > 0 && !differentiate(tolerance_for(residual))) break;
        enough = rounding();
        const std::optional<Step> step = newton_step(assemble(extra));
        if (!step) break;
        const double before = k > 0 ? residuals_[residuals_.size() - 2] : infinity;
        if (last == LastStep::trusted && k > 0 && residual < undamped_residual &&
            residual * residual * (residual / (before * before)) < predicted_margin * enough) {
            at_ = moved(*step, 1.0);
            now_ = {};
            return true;
        }
        if (!advance(*step, extra, residual)) break;
        residuals_.push_back(residual);
    }
    if (residual <= found_residual) {
        failure_.clear();
        return true;
    }
    if (failure_.empty()) failure_ = "Newton's method stopped at the residual " + number_text(residual);
    return false;
}

std::vector<StageMargin> Shooting::margins() {
    std::vector<StageMargin> list;
    if (now_.stages.empty() ? !evaluate(at_, now_) : !set_tools(at_, now_)) return list;
    const auto event_of = [&](std::size_t node) -> const ScheduledEvent* {
        if (node >= at_.nodes.size() || at_.nodes[node].event == ShootingNode::none) return nullptr;
        return &order_.events[static_cast<std::size_t>(at_.nodes[node].event)];
    };
    for (std::size_t k = 0; k < now_.stages.size(); ++k)
        for (const integrate::LawMargin& m : tools_->run.margins(now_.stages[k], event_of(k), event_of(k + 1)))
            list.push_back({k, m});
    return list;
}

std::string Shooting::violated_law() {
    constexpr double rounding = 1e-7;  // relative to the largest value of the same quantity
    double worst = rounding;
    std::string text;
    for (const StageMargin& s : margins()) {
        const double part = s.margin.largest > 0.0 ? -s.margin.value / s.margin.largest : 0.0;
        if (part > worst) worst = part, text = s.margin.text(integrate::elements_of(*now_.model));
    }
    return text;
}

// A disturbance δy of the state before an event moves its time by δt = −s_y δy/ṡ, and at the fixed time of the next
// node it has become
//     δy⁺ = x_y (δy + f⁻ δt) + x_t δt,
// because the state at the event is that of the disturbed motion at t + δt. The limit of an accumulation has the time
// Σ weights δt of three impacts.
std::vector<Matrix> Shooting::part_maps() {
    std::vector<Matrix> maps;
    if (!differentiate(full_accuracy)) return maps;
    for (std::size_t k = 0; k < now_.stages.size(); ++k) {
        const StageDerivative& d = now_.stage_derivatives[k];
        const ShootingNode& node = at_.nodes[k];
        if (node.event == ShootingNode::none) {
            maps.push_back(d.by_state);
            continue;
        }
        const std::vector<ConditionDerivative>& conditions =
            now_.condition_derivatives[static_cast<std::size_t>(node.event)];
        if (conditions.size() != 1 || conditions[0].rate == 0.0) return {};
        const Vector before = now_.stage_derivatives[k - 1].by_end;
        const RowVector time = -conditions[0].by_state / conditions[0].rate;
        maps.back() = Matrix((d.by_state + (d.by_state * before + d.by_start) * time) * maps.back());
    }
    if (problem_.symmetry != nullptr) maps.back() = Matrix(problem_.symmetry->S * maps.back());
    return maps;
}

std::optional<Matrix> Shooting::monodromy(Accuracy accuracy) {
    constexpr double rough_accuracy = 1e-3;  // relative error of the derivatives for Accuracy::rough
    const bool rough = accuracy == Accuracy::rough;
    if (!differentiate(rough ? rough_accuracy : full_accuracy)) return std::nullopt;
    // The columns of the state, then that of the parameter.
    const Eigen::Index parameters = problem_.parameter.empty() ? 0 : 1;
    std::vector<RowVector> times(order_.events.size());
    Matrix V = Matrix::Identity(states_, states_ + parameters);
    for (std::size_t k = 0; k < now_.stages.size(); ++k) {
        const StageDerivative& d = now_.stage_derivatives[k];
        const ShootingNode& node = at_.nodes[k];
        if (node.event == ShootingNode::none) {
            V = Matrix(d.by_state * V);
            V.rightCols(parameters) += d.by_parameters;
            continue;
        }
        const auto e = static_cast<std::size_t>(node.event);
        if (order_.events[e].limit) {
            double weights[3];
            accumulation_limit(at_, order_.events[e], weights);
            times[e] = weights[0] * times[order_.events[e].a] + weights[1] * times[order_.events[e].b] +
                       weights[2] * times[order_.events[e].c];
        } else {
            const std::vector<ConditionDerivative>& conditions = now_.condition_derivatives[e];
            if (conditions.size() != 1 || conditions[0].rate == 0.0) return std::nullopt;
            RowVector change = conditions[0].by_state * V;
            change.tail(parameters) += conditions[0].by_parameters;
            times[e] = -change / conditions[0].rate;
        }
        const Vector before = now_.stage_derivatives[k - 1].by_end;
        V = Matrix(d.by_state * (V + before * times[e]) + d.by_start * times[e]);
        V.rightCols(parameters) += d.by_parameters;
    }
    if (problem_.symmetry != nullptr) V = Matrix(problem_.symmetry->S * V);
    if (parameters > 0) by_parameter_ = V.col(states_);
    return V.leftCols(states_);
}

Vector Shooting::tangent(const ShootingRow& row) {
    const Eigen::Index unknowns = row.row.size();
    Vector tangent = Vector::Constant(unknowns, std::numeric_limits<double>::quiet_NaN());
    if (!differentiate(full_accuracy)) return tangent;
    const System s = assemble(row);
    const Vector w = solved(s.A, Vector(Vector::Unit(s.A.rows(), s.A.rows() - 1)));
    tangent.head(states_) = w.head(states_).cwiseProduct(problem_.size);
    if (s.duration >= 0) tangent(states_) = w(s.duration) * at_.duration;
    tangent(unknowns - 1) = w(s.parameter) * s.parameter_scale;
    return tangent.cwiseQuotient(row.scale);
}

}  // namespace saltus::orbit
