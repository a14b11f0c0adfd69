// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/detail/branch_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/orbit/detail/neighbours.hpp"
#include "saltus/orbit/detail/parts.hpp"
#include "saltus/sensitivity/variables.hpp"

namespace saltus::orbit {

namespace {

// Residuals are max_i |Φ(x) − x|_i / size_i, where size_i is the largest |x_i| along the orbit.

/// Newton's method ends if residual <= this: what rounding of the motion leaves.
constexpr double branch_rounding = 1e-13;
/// If the residual no longer falls, then a point counts as found if residual <= this · (1 + |Φ'|). |Φ'| is the largest
/// entry of Φ' in the sizes of the components (growth_of): rounding of the start grows by this factor.
constexpr double branch_accepted = 2e-12;
/// The bound above is never larger than this, however large Φ' is. A motion with a larger residual does not close.
constexpr double branch_loosest = 1e-7;
/// Autonomous systems: a point is refused if the multiplier that must be 1 has an error above this. Near an orbit that
/// needs an infinite time, because it passes a saddle, Φ' grows without bound, and errors of the motion give
/// multipliers of any size. If the bound is too large, then such motions are taken for orbits.
constexpr double trivial_accuracy = 1e-4;
/// As long as the residual is not accepted, a full step of Newton's method must make residual < this · residual before;
/// otherwise the method ends. (A damped step must only make it smaller.)
constexpr double falling = 0.5;
constexpr int max_corrections = 12;         // steps of Newton's method with full steps
constexpr int max_damped_corrections = 30;  // and with halved steps, from a guess that may be far away
/// The start is moved if the time between it and an event is less than this part of the duration. At an event
/// derivatives by the state may not exist.
constexpr double event_near_start = 0.02;

}  // namespace

std::vector<Mark> order_of(const trajectory::Trajectory& motion) {
    std::vector<Mark> order;
    for (const trajectory::Event& e : motion.events) {
        if (e.kind == trajectory::EventKind::switched) continue;
        Mark mark{e.kind, e.elements};
        if (e.kind == trajectory::EventKind::accumulation)
            while (!order.empty() && order.back().kind == trajectory::EventKind::impact &&
                   order.back().elements == mark.elements)
                order.pop_back();
        order.push_back(std::move(mark));
    }
    return order;
}

bool same_order(const std::vector<Mark>& a, const std::vector<Mark>& b) {
    if (a.size() != b.size()) return false;
    if (a.empty()) return true;
    for (std::size_t shift = 0; shift < a.size(); ++shift) {
        bool equal = true;
        for (std::size_t k = 0; k < a.size() && equal; ++k) equal = a[(k + shift) % a.size()] == b[k];
        if (equal) return true;
    }
    return false;
}

namespace {

/// Whether two orders of events agree: the same number of events, and for each event the same kind of watched quantity,
/// the same element and the same mode afterwards (up to the directions of slip).
bool same_events(const integrate::EventOrder& a, const integrate::EventOrder& b) {
    if (a.events.size() != b.events.size()) return false;
    for (std::size_t k = 0; k < a.events.size(); ++k) {
        const auto &x = a.events[k].changes, &y = b.events[k].changes;
        if (x.front().found.empty() != y.front().found.empty()) return false;
        if (!x.front().found.empty() && (x.front().found[0].what != y.front().found[0].what ||
                                         x.front().found[0].element != y.front().found[0].element))
            return false;
        const integrate::SystemMode &after = x.back().mode_after, &other = y.back().mode_after;
        if (after.elements != other.elements) return false;
        for (std::size_t p = 0; p < after.parts.size(); ++p)
            if (after.parts[p].slips != other.parts[p].slips) return false;
    }
    return true;
}

}  // namespace

Closing closing_of(const model::Model& model, const BranchOptions& options, Symmetric symmetric,
                   const trajectory::Trajectory& motion) {
    const Translations translations = translations_of(model);
    if (translations.empty()) return {};
    const Vector start = vector_of(motion.start);
    if (symmetric != Symmetric::yes) return {translations, translations.nearest_shift(vector_of(motion.end) - start)};
    const Symmetry symmetry = symmetry_of(model, options.orbit.symmetry);
    if (!maps_to_themselves(translations, symmetry.S.topLeftCorner(model.size(), model.size()))) return {};
    const Vector half = symmetry(vector_of(motion.right(0.5 * (motion.start.t + motion.end.t))));
    return {translations, translations.nearest_shift(half - start)};
}

BranchProblem::BranchProblem(const model::Description& description, const BranchOptions& options, int multiple,
                             Closing closing, Symmetric symmetric)
    : description_(description),
      options_(options),
      multiple_(multiple),
      closing_(std::move(closing)),
      kind_(symmetric) {
    const std::shared_ptr<const model::Model> model = model_at(options.start);
    states_ = 2 * model->size();
    translations_ = translations_of(*model);
    if (symmetric == Symmetric::no) return;
    symmetry_ = symmetry_of(*model, options.orbit.symmetry);
    for (const std::string& name : {options.parameter, options.second})
        for (const model::Parameter& p : model->settings->parameters)
            if (p.name == name && p.column >= 0 && p.column < symmetry_->by_parameters.size() &&
                symmetry_->by_parameters(p.column) != 0.0)
                throw Error("the symmetry depends on '" + name + "', which is varied", {"--symmetry", 0, 0},
                            "choose coordinates in which the symmetry has numbers alone");
}

Vector BranchProblem::half_of(const OrbitPoint& p) const {
    const Vector half = vector_of(p.r.motion.right(p.t + 0.5 * p.duration));
    return kind_ == Symmetric::broken ? (*symmetry_)(half) : half;
}

std::shared_ptr<const model::Model> BranchProblem::model_at(double parameter) const {
    if (last_ && last_value_ == parameter) return last_;
    model::BuildOptions build = options_.build;
    build.set.emplace_back(options_.parameter, number_text(parameter));
    // The initial state of the file is not used. Where it is inadmissible for this value, that is no reason to stop.
    build.project_initial = true;
    model::Model model = model::build(description_, build);
    // Motions start at states that do not depend on the parameter.
    model.dq0_dp.resize(0, 0);
    model.du0_dp.resize(0, 0);
    last_ = std::make_shared<const model::Model>(std::move(model));
    last_value_ = parameter;
    return last_;
}

std::pair<double, double> BranchProblem::period_of_excitation(const model::Model& model) const {
    const sensitivity::Output out = sensitivity::output_of(model, options_.period, 0.0, model.q0, model.u0);
    for (const model::Parameter& p : model.settings->parameters)
        if (p.name == options_.parameter && p.column >= 0)
            return {out.value, out.gradient(1 + 2 * model.size() + p.column)};
    return {out.value, 0.0};
}

std::optional<BranchProblem::Evaluation> BranchProblem::evaluate(double t, const Vector& z,
                                                                 const std::function<bool()>& interrupted) {
    Evaluation e;
    inadmissible_ = true;
    try {
        e.model = model_at(z(z.size() - 1));
    } catch (const Error& error) {
        failure_ = error.message();
        return std::nullopt;
    }
    inadmissible_ = false;
    if (autonomous()) {
        e.duration = z(states_);
    } else {
        const auto [period, slope] = period_of_excitation(*e.model);
        e.duration = multiple_ * period;
        e.duration_slope = multiple_ * slope;
    }
    if (!(e.duration > 0.0) || !std::isfinite(e.duration)) {
        failure_ = "the period is " + number_text(e.duration);
        return std::nullopt;
    }
    try {
        const ReturnMap map(*e.model, options_.orbit.method, interrupted, options_.parameter);
        e.r = map(t, z.head(states_), symmetric() ? 0.5 * e.duration : e.duration);
    } catch (const Error& error) {  // the state penetrates an obstacle
        failure_ = error.message();
        return std::nullopt;
    }
    if (!e.r.available()) {
        failure_ = e.r.failure;
        return std::nullopt;
    }
    if (symmetric()) symmetry_->apply(e.r);
    return e;
}

/// F(z)/scale: Φ(x) − x up to a translation, and the phase condition. With a symmetry σ, Φ is
/// σ ∘ Φ_{T/2}.
Vector BranchProblem::defect(const Evaluation& e, const OrbitPoint& near, const Vector& z) const {
    Vector F(z.size() - 1);
    F.head(states_) =
        (closing_.back(e.r.end, z.head(states_)) - z.head(states_)).cwiseQuotient(near.scale.head(states_));
    if (autonomous())
        F(states_) = near.plane.dot((z.head(states_) - near.reference).cwiseQuotient(near.scale.head(states_)));
    return F;
}

/// The derivative of F/scale by z/scale:
///     excited:    [Φ_x − I,  Φ_p + f T'(p)]           T depends on p, for example as 2π/ω
///     autonomous: [Φ_x − I,  f,  Φ_p;  plane, 0, 0]
/// where f is the rate at the end; half of it with a symmetry, because T is the duration of the whole orbit and Φ takes
/// T/2. The pivots of translations keep their values: their rows are those of the unit matrix.
Matrix BranchProblem::derivative(const Return& r, double duration_slope, const OrbitPoint& near) const {
    const Eigen::Index m = states_, columns = near.scale.size();
    Matrix J = Matrix::Zero(columns - 1, columns);
    J.topLeftCorner(m, m) = r.slope;
    J.col(columns - 1).head(m) = r.by_parameter;
    const double share = symmetric() ? 0.5 : 1.0;
    if (autonomous())
        J.col(m).head(m) = share * r.rate;
    else
        J.col(columns - 1).head(m) += share * r.rate * duration_slope;
    J.topRows(m) = closing_.reduced(Matrix(J.topRows(m)));
    J.topLeftCorner(m, m) -= Matrix::Identity(m, m);
    for (Eigen::Index i = 0; i < m; ++i) J.row(i) /= near.scale(i);
    for (Eigen::Index c = 0; c < columns; ++c) J.col(c) *= near.scale(c);
    if (autonomous()) J.row(m).head(m) = near.plane.transpose();
    return J;
}

std::optional<OrbitPoint> BranchProblem::correct(const OrbitPoint& near, const Vector& z_start, const Vector& row,
                                                 Damping damping) {
    if (near.solution && damping == Damping::none) return correct_by_events(near, z_start, row, Laws::obeyed);
    return correct_by_map(near, z_start, row, damping);
}

std::optional<OrbitPoint> BranchProblem::correct_by_map(const OrbitPoint& near, const Vector& z_start,
                                                        const Vector& row, Damping damping) {
    Vector z = z_start;
    failure_.clear();
    too_sensitive_ = violates_ = false;
    std::optional<Evaluation> e = evaluate(near.t, z, options_.interrupted);
    if (!e) return std::nullopt;
    Vector F = defect(*e, near, z);
    double residual = F.cwiseAbs().maxCoeff();
    const auto accepted = [&](const Evaluation& there) {
        return std::min(branch_accepted * (1.0 + growth_of(there.r.slope, near.scale.head(states_))), branch_loosest);
    };
    const int most = damping == Damping::none ? max_corrections : max_damped_corrections;
    const PeriodRange durations(autonomous() ? z_start(states_) : 0.0);
    for (int k = 0; k < most && residual > branch_rounding; ++k) {
        if (options_.interrupted && options_.interrupted()) {
            failure_ = "interrupted";
            return std::nullopt;
        }
        Matrix A(z.size(), z.size());
        A.topRows(z.size() - 1) = derivative(e->r, e->duration_slope, near);
        A.row(z.size() - 1) = row.transpose();
        Vector b(z.size());
        b.head(z.size() - 1) = -F;
        b(z.size() - 1) = -row.dot((z - z_start).cwiseQuotient(near.scale));
        const Vector step = least_squares(A, b).cwiseProduct(near.scale);
        if (!step.allFinite()) break;
        bool better = false;
        double fraction = 1.0;
        for (int halving = 0; halving <= (damping == Damping::none ? 0 : 8) && !better; ++halving, fraction *= 0.5) {
            const Vector next = z + fraction * step;
            if (autonomous() && !durations.contains(next(states_))) continue;
            std::optional<Evaluation> there = evaluate(near.t, next, options_.interrupted);
            if (!there) continue;
            const Vector defect_there = defect(*there, near, next);
            const double smaller = defect_there.cwiseAbs().maxCoeff();
            const double needed = damping == Damping::none && residual > accepted(*e) ? falling : 1.0;
            if (!(smaller < needed * residual)) continue;
            better = true;
            z = next, e = std::move(there), F = defect_there, residual = smaller;
        }
        if (!better) break;
    }
    if (!(residual <= accepted(*e))) {
        if (failure_.empty()) failure_ = "Newton's method stopped at the residual " + number_text(residual);
        return std::nullopt;
    }
    OrbitPoint p;
    p.t = near.t;
    p.z = z;
    p.scale = near.scale;
    p.residual = residual;
    if (!complete(p, options_.interrupted) || !is_usable(p, near)) return std::nullopt;
    set_tangent(p, row.cwiseProduct(near.scale).cwiseQuotient(p.scale));
    return p;
}

/// The problem of multiple shooting near a point. It refers to this object.
ShootingProblem BranchProblem::shooting_problem(const OrbitPoint& near) const {
    ShootingProblem problem;
    problem.method = options_.orbit.method;
    problem.model = [this](double parameter) { return model_at(parameter); };
    problem.parameter = options_.parameter;
    if (!autonomous())
        problem.duration = [this](const model::Model& model) {
            const auto [period, slope] = period_of_excitation(model);
            const double share = symmetric() ? 0.5 * multiple_ : multiple_;
            return std::pair{share * period, share * slope};
        };
    else if (near.plane.size() > 0)
        problem.phase = plane_through(near.reference, near.plane.cwiseQuotient(near.scale.head(states_)));
    problem.symmetry = symmetric() ? &*symmetry_ : nullptr;
    problem.closing = closing_;
    problem.size = near.scale.head(states_);
    problem.interrupted = options_.interrupted;
    return problem;
}

std::optional<OrbitPoint> BranchProblem::correct_by_events(const OrbitPoint& near, const Vector& z_start,
                                                           const Vector& row, Laws laws) {
    failure_.clear();
    too_sensitive_ = violates_ = inadmissible_ = false;
    try {
        (void)model_at(z_start(z_start.size() - 1));
    } catch (const Error& error) {
        failure_ = error.message();
        inadmissible_ = true;
        return std::nullopt;
    }
    Shooting shooting(shooting_problem(near));
    shooting.begin(*near.solution);
    // T of z is the duration of the whole orbit.
    const double share = symmetric() ? 0.5 : 1.0;
    ShootingRow extra{row, z_start, near.scale};
    if (autonomous()) extra.z_start(states_) *= share, extra.scale(states_) *= share;
    if (!shooting.solve(extra)) {
        failure_ = shooting.failure();
        too_sensitive_ = shooting.limited_by_rounding();
        if (too_sensitive_)
            failure_ += ", which is rounding that the motion amplifies: the orbit of the period " +
                        number_text(near.duration) + " is too sensitive to be followed";
        return std::nullopt;
    }
    OrbitPoint p;
    p.t = near.t;
    p.z = shooting.z();
    if (autonomous()) p.z(states_) /= share;
    p.scale = near.scale;
    p.residual = shooting.residual();
    if (laws == Laws::ignored) {
        p.model = shooting.evaluation().model;
        p.duration = shooting.motion().duration / share;
        p.solution = shooting.solution();
        p.plane = near.plane;
        p.reference = p.z.head(states_);
        p.order = near.order;
        if (!p.solution) {
            failure_ = shooting.failure();
            return std::nullopt;
        }
        set_tangent(p, row.cwiseProduct(near.scale).cwiseQuotient(p.scale));
        return p;
    }
    if (!simulate_solution(shooting, near, p)) {
        if (options_.interrupted && options_.interrupted()) {
            failure_ = "interrupted";
            return std::nullopt;
        }
        failure_ = shooting.violated_law();
        violates_ = !failure_.empty();
        if (failure_.empty()) failure_ = "the simulation of the orbit takes another course";
        return std::nullopt;
    }
    if (!is_usable(p, near)) return std::nullopt;
    set_tangent(p, row.cwiseProduct(near.scale).cwiseQuotient(p.scale));
    return p;
}

/// Simulates an orbit that multiple shooting has found (correct_by_events). First as one motion; if that amplifies
/// errors too much to close, then in several parts that begin at states of the solution (`cuts`). False if it does not
/// close, or if its events are not those of `near`.
bool BranchProblem::simulate_solution(const Shooting& solved, const OrbitPoint& near, OrbitPoint& p) {
    const auto succeeds = [&] {
        try {
            if (!complete(p, options_.interrupted)) return false;
            // Impacts that accumulate may be more or fewer.
            return (p.solution && same_events(near.solution->order, p.solution->order)) ||
                   (!near.order.empty() && same_order(near.order, p.order));
        } catch (const Error&) {  // the state penetrates an obstacle
            return false;
        }
    };
    if (near.cuts.empty() && succeeds()) return true;
    // A stage is the motion between two events. Each part begins in the middle of a stage. If disturbances grow on a
    // stage, then the stage is divided into so many pieces that they grow by at most growth_of_piece on each (at most
    // most_pieces pieces), and a part begins in the middle of each piece.
    constexpr double growth_of_piece = 100.0;
    constexpr int most_pieces = 16;
    p.cut_times.clear();
    p.cuts.clear();
    const ShootingEvaluation& e = solved.evaluation();
    Vector all;
    for (std::size_t k = 0; k < e.stages.size(); ++k) {
        const integrate::ScheduledStage& stage = e.stages[k];
        if (stage.arcs.empty()) continue;
        double growth = 1.0;
        if (k < e.stage_derivatives.size())
            growth = growth_of(e.stage_derivatives[k].by_state, near.scale.head(states_));
        const int pieces = std::clamp(
            static_cast<int>(std::ceil(std::log(std::max(growth, 1.0)) / std::log(growth_of_piece))), 1, most_pieces);
        const bool ends = k == 0 || k + 1 == e.stages.size();
        for (int i = 1; i <= pieces; ++i) {
            // The motion begins in the first arc and ends in the last one.
            if (ends && pieces == 1) break;
            const double t = stage.t + (stage.t_end - stage.t) * (i - 0.5) / pieces;
            for (const integrate::RecordedArc& arc : stage.arcs) {
                if (!(t >= arc.t_begin && t <= arc.t_end)) continue;
                const auto step = std::find_if(arc.steps.begin(), arc.steps.end(),
                                               [&](const ode::Dense& s) { return s.t_new() >= t; });
                if (step == arc.steps.end()) continue;
                all.resize(step->size());
                step->evaluate(t, all.data());
                p.cut_times.push_back(t);
                p.cuts.emplace_back(all.head(states_));
                break;
            }
        }
    }
    if (p.cuts.empty() || !succeeds()) return false;
    return p.solution != nullptr;
}

/// The motion of an orbit, its derivatives, multipliers and order of events, from its start and its cuts alone. False
/// if the motion does not close, or has no derivatives.
bool BranchProblem::complete(OrbitPoint& p, const std::function<bool()>& interrupted) {
    p.model = model_at(p.parameter());
    if (!closes_alike(*p.model)) return false;
    p.duration = autonomous() ? p.z(states_) : multiple_ * period_of_excitation(*p.model).first;
    const double length = symmetric() ? 0.5 * p.duration : p.duration;
    const ReturnMap map(*p.model, options_.orbit.method, interrupted);
    // One motion, or several that begin at the cuts.
    std::vector<integrate::RecordedMotion> motions;
    std::vector<double> times{p.t};
    times.insert(times.end(), p.cut_times.begin(), p.cut_times.end());
    times.push_back(p.t + length);
    for (std::size_t k = 0; k + 1 < times.size(); ++k) {
        motions.push_back(
            map.recorded(times[k], k == 0 ? Vector(p.z.head(states_)) : p.cuts[k - 1], times[k + 1] - times[k]));
        if (motions.back().motion.status == trajectory::Status::completed) continue;
        failure_ = "the motion ended early: " + motions.back().motion.reason;
        return false;
    }
    trajectory::Trajectory half = motions.front().motion;
    for (std::size_t k = 1; k < motions.size(); ++k) append_motion(half, motions[k].motion);
    const Vector size = sizes(half);
    p.scale.head(states_) = size;
    // The ends of all motions, and where they must end.
    Vector end = vector_of(motions.back().motion.end);
    const Vector rate = rate_at_end(motions.back().motion);
    double defect = 0.0;
    for (std::size_t k = 0; k < motions.size(); ++k) {
        const bool last = k + 1 == motions.size();
        Vector there = vector_of(motions[k].motion.end);
        if (last && symmetric()) there = (*symmetry_)(there);
        if (last) there = closing_.back(there, p.z.head(states_));
        const Vector next = last ? Vector(p.z.head(states_)) : p.cuts[k];
        defect = std::max(defect, (there - next).cwiseAbs().cwiseQuotient(size).maxCoeff());
    }
    // Derivatives of the return map: the product of the derivatives of all stages of multiple shooting, if they exist
    // in all directions of the state. Otherwise those of `sensitivity` (evaluate).
    Shooting shooting(shooting_problem(p));
    Return r;
    std::vector<Matrix> maps;
    bool known = false;
    p.solution.reset();
    if (shooting.begin(motions, p.parameter())) {
        p.solution = shooting.solution();
        const std::optional<Matrix> slope =
            p.solution && (shooting.regular() || !p.cuts.empty()) ? shooting.monodromy() : std::nullopt;
        known = slope.has_value();
        if (known) {
            r.slope = *slope;
            r.by_parameter = shooting.by_parameter();
            r.end = symmetric() ? Vector((*symmetry_)(end)) : end;
            r.rate = symmetric() ? Vector(symmetry_->S * rate) : rate;
        }
        if (known && !p.cuts.empty()) maps = shooting.part_maps();
    }
    if (!known) {
        if (!p.cuts.empty()) return false;
        const std::optional<Evaluation> e = evaluate(p.t, p.z, interrupted);
        if (e) {
            r = e->r;
        } else {
            // Closed contacts that move with the parameter hold the state at the start, which then has no derivative
            // by the parameter alone; the orbit has one.
            if (!p.solution || !shooting.monodromy()) return false;
            r = map(p.t, p.z.head(states_), length);
            if (!r.available()) return false;
            if (symmetric()) symmetry_->apply(r);
            r.by_parameter = shooting.by_parameter();
        }
    }
    double growth = maps.empty() ? growth_of(r.slope, size) : 0.0;
    for (const Matrix& m : maps) growth = std::max(growth, growth_of(m, size));
    if (!(defect <= std::min(branch_accepted * (1.0 + growth), branch_loosest))) {
        failure_ = "the motion does not close: the residual is " + number_text(defect);
        return false;
    }
    p.residual = std::max(p.residual, defect);
    if (symmetric()) {
        // The second half is the image of the first; the simulation must agree.
        trajectory::Trajectory whole;
        if (p.cuts.empty()) {
            whole = map.motion(p.t, p.z.head(states_), p.duration);
            if (!closes(whole, translations_)) {
                failure_ = "half of the motion is closed by the symmetry, and the whole motion is not";
                return false;
            }
        } else {
            whole = half;
            for (std::size_t k = 0; k + 1 < times.size(); ++k)
                append_motion(whole, map.motion(times[k] + length,
                                                (*symmetry_)(k == 0 ? Vector(p.z.head(states_)) : p.cuts[k - 1]),
                                                times[k + 1] - times[k]));
            if (whole.status != trajectory::Status::completed) return false;
        }
        half = std::move(whole);
        p.scale.head(states_) = sizes(half);
    }
    p.r = std::move(r);
    p.r.motion = std::move(half);
    p.reference = p.z.head(states_);
    if (autonomous()) {
        p.scale(states_) = p.duration;
        p.plane = closing_.reduced(p.r.rate).cwiseQuotient(p.scale.head(states_));
        p.plane /= std::max(p.plane.norm(), std::numeric_limits<double>::min());
    }
    p.order = order_of(p.r.motion);
    const std::vector<Eigen::Index> kept = closing_.kept(states_);
    if (maps.empty()) {
        p.multipliers = multipliers_of(closing_.reduced(p.r.slope)(kept, kept), autonomous());
    } else {
        for (Matrix& m : maps) m = Matrix(closing_.reduced(m)(kept, kept));
        p.multipliers = cyclic_multipliers(maps, size(kept), autonomous());
    }
    return true;
}

/// Whether a point can be followed. Otherwise `failure` says why.
bool BranchProblem::is_usable(const OrbitPoint& p, const OrbitPoint& near) {
    if (p.multipliers.trivial_error.value_or(0.0) > trivial_accuracy) {
        too_sensitive_ = true;
        failure_ = "the multiplier that must be 1 has the error " + number_text(*p.multipliers.trivial_error) +
                   ": the orbit of the period " + number_text(p.duration) + " is too sensitive to be followed";
        return false;
    }
    if (passes_several_times(near.order, p)) {
        failure_ = "the motion found passes an orbit several times";
        return false;
    }
    return true;
}

std::vector<StageMargin> BranchProblem::margins(const OrbitPoint& p) {
    Shooting shooting(shooting_problem(p));
    shooting.begin(*p.solution);
    return shooting.margins();
}

std::vector<ShootingSolution> BranchProblem::neighbours(const OrbitPoint& p, const StageMargin& margin) const {
    return neighbouring_orders(shooting_problem(p), *p.solution, margin);
}

OrbitPoint BranchProblem::restore(const StoredOrbit& stored) {
    OrbitPoint p;
    p.t = stored.t;
    p.z = stored.z;
    p.scale = stored.scale;
    p.cut_times = stored.cut_times;
    p.cuts = stored.cuts;
    const Eigen::Index unknowns = states_ + (autonomous() ? 2 : 1);
    const bool fits = p.z.size() == unknowns && p.scale.size() == unknowns && stored.tangent.size() == unknowns &&
                      stored.reference.size() == states_ && stored.plane.size() == (autonomous() ? states_ : 0) &&
                      p.z.allFinite() && p.cut_times.size() == p.cuts.size() &&
                      std::all_of(p.cuts.begin(), p.cuts.end(), [&](const Vector& x) { return x.size() == states_; });
    bool known = false;
    try {
        known = fits && complete(p, nullptr);
    } catch (const Error&) {  // a state that penetrates an obstacle, or a parameter that is not admissible
    }
    if (!known)
        throw Error("the stored orbit does not belong to this model", {"--resume", 0, 0},
                    "run the command without --resume");
    p.scale = stored.scale;
    p.tangent = stored.tangent;
    p.plane = stored.plane;
    p.reference = stored.reference;
    p.residual = stored.residual;
    return p;
}

bool BranchProblem::passes_several_times(const std::vector<Mark>& order, const OrbitPoint& p) const {
    if (!autonomous() || order.empty() || p.order.size() <= order.size() || p.order.size() % order.size() != 0)
        return false;
    const std::size_t times = p.order.size() / order.size();
    std::vector<Mark> repeated;
    for (std::size_t k = 0; k < times; ++k) repeated.insert(repeated.end(), order.begin(), order.end());
    if (!same_order(repeated, p.order)) return false;
    // States count as equal if they differ by less than this, relative to the sizes. An orbit of a doubled period has
    // the same order of events twice, but the states after one half differ by more, except next to the doubling.
    constexpr double equal = 1e-6;
    const trajectory::State part = p.r.motion.right(p.r.motion.start.t + p.duration / static_cast<double>(times));
    Vector difference = vector_of(part) - p.z.head(states_);
    if (!translations_.empty()) difference = translations_.reduced(std::move(difference));
    return difference.cwiseQuotient(p.scale.head(states_)).cwiseAbs().maxCoeff() < equal;
}

/// The tangent τ of the branch, in z/scale, has F' τ = 0. along·τ = 1 makes the equations regular and fixes its
/// orientation; then it is normalised.
void BranchProblem::set_tangent(OrbitPoint& p, const Vector& along) const {
    const Eigen::Index columns = p.z.size();
    Vector tangent;
    if (p.solution) {
        ShootingRow row{along, p.z, p.scale};
        if (autonomous() && symmetric()) row.z_start(states_) *= 0.5, row.scale(states_) *= 0.5;
        Shooting shooting(shooting_problem(p));
        shooting.begin(*p.solution);
        tangent = shooting.tangent(row);
    }
    if (tangent.size() == 0 || !tangent.allFinite()) {
        const double duration_slope = autonomous() ? 0.0 : multiple_ * period_of_excitation(*p.model).second;
        Matrix A(columns, columns);
        A.topRows(columns - 1) = derivative(p.r, duration_slope, p);
        A.row(columns - 1) = along.transpose();
        tangent = least_squares(A, Vector(Vector::Unit(columns, columns - 1)));
    }
    p.tangent = tangent / std::max(tangent.norm(), std::numeric_limits<double>::min());
}

/// A state of an orbit, moved by a translation: its pivots are those of the start, and its angles are near them.
Vector BranchProblem::near_start(const Vector& x, const OrbitPoint& p) const {
    if (closing_.plain()) return x;
    const Vector start = p.z.head(states_);
    Vector out = Closing(translations_, {}).back(x, start);
    const Vector shift = translations_.nearest_shift(out - start);
    out.head(shift.size()) -= shift;
    return out;
}

/// Whether the model has the translation by which the orbits close. A direction that depends on the parameter, as that
/// of two gears does on their radii, cannot be followed over this parameter.
bool BranchProblem::closes_alike(const model::Model& model) {
    if (closing_.plain() || closing_.same_in(translations_of(model))) return true;
    failure_ = "the translation by which the orbit closes changes with " + options_.parameter;
    return false;
}

/// The solution of multiple shooting for the same orbit with another time of the start, which must lie inside an arc.
/// Events before the new start take part one duration later. Null if the orbit has no solution, if it has a symmetry,
/// or if the new start lies on no arc.
std::shared_ptr<const ShootingSolution> BranchProblem::rotated(const OrbitPoint& p, double start) const {
    if (!p.solution || symmetric()) return nullptr;
    const ShootingSolution& from = *p.solution;
    const ShootingMotion& motion = from.motion;
    const std::size_t count = motion.nodes.size();
    std::size_t stage = count;
    Vector all;
    for (std::size_t k = 0; k < count && stage == count; ++k)
        for (const integrate::RecordedArc& arc : from.evaluation.stages[k].arcs) {
            if (!(start > arc.t_begin && start < arc.t_end)) continue;
            const auto step = std::find_if(arc.steps.begin(), arc.steps.end(),
                                           [&](const ode::Dense& s) { return s.t_new() >= start; });
            if (step == arc.steps.end()) continue;
            all.resize(step->size());
            step->evaluate(start, all.data());
            stage = k;
        }
    if (stage == count) return nullptr;
    auto out = std::make_shared<ShootingSolution>();
    const Vector x = all.head(states_);
    // A translation takes the new start near the old one.
    const Vector moved = closing_.plain() ? Vector(Vector::Zero(states_)) : Vector(near_start(x, p) - x);
    Vector drift = Vector::Zero(states_);
    for (const Eigen::Index j : closing_.moved()) drift(j) = p.r.end(j) - p.z(j);
    ShootingMotion& to = out->motion;
    const double shift = autonomous() ? -start : -p.duration * std::floor(start / p.duration);
    to.t = start + shift;
    to.duration = motion.duration;
    to.parameter = motion.parameter;
    ShootingNode first;
    first.y = x + moved;
    first.mode = motion.nodes[stage].mode;
    out->order.first = first.mode;
    to.nodes.push_back(std::move(first));
    std::vector<std::size_t> renamed(from.order.events.size(), 0);
    const auto add = [&](std::size_t k, double later, const Vector& farther) {
        const ShootingNode& node = motion.nodes[k];
        if (node.event == ShootingNode::none) return;
        const auto event = static_cast<std::size_t>(node.event);
        renamed[event] = out->order.events.size();
        ShootingNode copy = node;
        copy.event = static_cast<int>(out->order.events.size());
        copy.y += moved + farther;
        out->order.events.push_back(from.order.events[event]);
        to.times.push_back(motion.times[event] + later + shift);
        to.nodes.push_back(std::move(copy));
    };
    for (std::size_t k = stage + 1; k < count; ++k) add(k, 0.0, Vector::Zero(states_));
    for (std::size_t k = 1; k <= stage; ++k) add(k, motion.duration, drift);
    for (integrate::ScheduledEvent& event : out->order.events) {
        event.a = event.limit ? renamed[event.a] : 0;
        event.b = event.limit ? renamed[event.b] : 0;
        event.c = event.limit ? renamed[event.c] : 0;
    }
    out->order.times = to.times;
    return out;
}

void BranchProblem::move_start(OrbitPoint& p) {
    double nearest = std::numeric_limits<double>::infinity();
    for (const trajectory::Event& e : p.r.motion.events)
        nearest = std::min({nearest, e.t - p.t, p.t + p.duration - e.t});
    if (nearest >= event_near_start * p.duration) return;
    const double later = calm_time(p.r.motion);
    if (!(later > p.t)) return;
    OrbitPoint moved = p;
    // The tangent at the later time: (X δx + X_p δp, δT, δp) with the derivatives X of the motion up to there.
    Return part;
    try {
        part = ReturnMap(*p.model, options_.orbit.method, options_.interrupted, options_.parameter)(
            p.t, p.z.head(states_), later - p.t);
    } catch (const Error&) {
        return;
    }
    if (!part.available() || !part.missing.empty()) return;
    const Vector direction = p.tangent.cwiseProduct(p.scale);
    Vector carried = direction;
    carried.head(states_) = part.slope * direction.head(states_) + part.by_parameter * direction(direction.size() - 1);
    moved.solution = rotated(p, later);
    moved.cut_times.clear();
    moved.cuts.clear();
    moved.z.head(states_) = moved.solution ? moved.solution->motion.nodes.front().y : near_start(part.end, p);
    moved.t = later;
    // Excited systems: the orbit repeats after its duration, so that whole durations are subtracted from the time.
    if (!autonomous() && moved.t >= p.duration) moved.t -= p.duration * std::floor(moved.t / p.duration);
    if (moved.solution) moved.t = moved.solution->motion.t;
    moved.reference = moved.z.head(states_);
    if (autonomous()) {
        moved.t = 0.0;
        moved.plane = closing_.reduced(part.rate).cwiseQuotient(moved.scale.head(states_));
        moved.plane /= std::max(moved.plane.norm(), std::numeric_limits<double>::min());
    }
    const Vector row = Vector::Unit(moved.z.size(), moved.z.size() - 1);
    const Vector along = carried.cwiseQuotient(moved.scale);
    std::optional<OrbitPoint> there = correct(moved, moved.z, std::abs(p.slope()) > 1e-3 ? row : along);
    if (!there) return;
    set_tangent(*there, along);
    if (there->tangent.dot(along) < 0.0) there->tangent = -there->tangent;
    p = std::move(*there);
}

OrbitPoint BranchProblem::raw(const trajectory::Trajectory& motion, double parameter) {
    OrbitPoint p;
    const double calm = calm_time(motion);
    p.t = autonomous() ? 0.0 : calm;
    const Eigen::Index columns = states_ + (autonomous() ? 2 : 1);
    p.z = Vector::Zero(columns);
    p.z.head(states_) = vector_of(motion.right(calm));
    p.z(columns - 1) = parameter;
    p.duration = motion.end.t - motion.start.t;
    p.scale = Vector::Ones(columns);
    p.scale.head(states_) = sizes(motion);
    p.scale(columns - 1) = options_.to - options_.from;
    p.reference = p.z.head(states_);
    if (autonomous()) {
        p.z(states_) = p.scale(states_) = p.duration;
        const ReturnMap map(*model_at(parameter), options_.orbit.method, options_.interrupted);
        const Vector rate = rate_at_end(map.motion(motion.start.t, vector_of(motion.start), calm - motion.start.t));
        p.plane = closing_.reduced(rate).cwiseQuotient(p.scale.head(states_));
        p.plane /= std::max(p.plane.norm(), std::numeric_limits<double>::min());
    }
    return p;
}

std::optional<OrbitPoint> BranchProblem::first(const trajectory::Trajectory& motion, double parameter) {
    const OrbitPoint near = raw(motion, parameter);
    const Vector row = Vector::Unit(near.z.size(), near.z.size() - 1);
    if (std::optional<OrbitPoint> p = correct_by_map(near, near.z, row, Damping::halve)) return p;
    const std::string why = failure_;
    OrbitPoint p = near;
    if (complete(p, options_.interrupted) && p.solution && is_usable(p, near)) {
        set_tangent(p, row);
        return p;
    }
    failure_ = why;
    return std::nullopt;
}

BranchPoint BranchProblem::describe(const OrbitPoint& p) const {
    BranchPoint out;
    const trajectory::Trajectory& motion = p.r.motion;
    out.parameter = p.parameter();
    out.period = p.duration;
    double zero = motion.start.t;
    if (!autonomous()) {
        const double period = p.duration / multiple_;
        zero = std::min(period * std::ceil(motion.start.t / period), motion.end.t);
    }
    out.state = motion.right(zero);
    if (!autonomous()) out.state.t = 0.0;
    out.multipliers = p.multipliers.values;
    if (symmetric())
        for (const std::complex<double>& m : out.multipliers) out.multipliers_full.push_back(m * m);
    out.unstable_count = p.multipliers.outside;
    const bool undecided =
        p.multipliers.undecided || !p.r.one_sided.empty() || (!p.r.missing.empty() && !leaves_one_contact(p.r));
    out.stability = out.unstable_count > 0 ? Stability::unstable : undecided ? Stability::undecided : Stability::stable;
    const auto [low, high] = position_range(motion);
    for (Eigen::Index i = 0; i < low.size(); ++i) out.amplitude.emplace_back(low(i), high(i));
    if (!closing_.plain()) {
        out.drift.assign(motion.start.q.size(), 0.0);
        for (const Eigen::Index j : closing_.moved()) {
            const auto i = static_cast<std::size_t>(j);
            out.drift[i] = motion.end.q[i] - motion.start.q[i];
        }
    }
    std::vector<std::pair<double, std::string>> events;
    for (const trajectory::Event& e : motion.events)
        events.emplace_back(e.t < zero ? e.t + p.duration : e.t, trajectory::to_string(e.kind));
    std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [t, kind] : events) out.events.push_back(std::move(kind));
    out.residual = p.residual;
    return out;
}

bool BranchProblem::repeats(const OrbitPoint& p) const {
    return autonomous() ||
           excitation_repeats(ReturnMap(*p.model, options_.orbit.method, options_.interrupted), p.r.motion,
                              options_.orbit.method.atol * (1.0 + growth_of(p.r.slope, p.scale.head(states_))));
}

}  // namespace saltus::orbit
