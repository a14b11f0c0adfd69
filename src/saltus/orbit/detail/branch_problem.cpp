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
#include "saltus/sensitivity/variables.hpp"

namespace saltus::orbit {

namespace {

/// Newton's method ends below this residual: rounding of the motion.
constexpr double branch_rounding = 1e-13;
/// If the residual no longer falls then a point counts as found below this value times 1 + |Φ'|, where Φ' is measured
/// in the sizes of the components: rounding of the start grows by this factor.
constexpr double branch_accepted = 2e-12;
/// But never above this value, however large Φ' is: such a motion does not close.
constexpr double branch_loosest = 1e-7;
/// Autonomous systems: the multiplier that must be 1 has at most this error. Near an orbit that needs an infinite time,
/// because it passes a saddle, Φ' grows without bound, and errors of the motion make multipliers of any size.
constexpr double trivial_accuracy = 1e-4;
/// The residual no longer falls if it is larger than this part of the one before.
constexpr double falling = 0.5;
constexpr int max_corrections = 12;
constexpr int max_damped_corrections = 30;
/// The start is moved if an event is nearer to it than this part of the duration.
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

BranchProblem::BranchProblem(const model::Description& description, const BranchOptions& options, int multiple,
                             std::vector<Eigen::Index> drifting, Symmetric symmetric)
    : description_(description),
      options_(options),
      multiple_(multiple),
      drifting_(std::move(drifting)),
      kind_(symmetric) {
    const std::shared_ptr<const model::Model> model = model_at(options.start);
    states_ = 2 * model->size();
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

/// F(z)/scale: Φ(x) − x, where positions that drift are left out, and the phase condition. With a symmetry σ, Φ is
/// σ ∘ Φ_{T/2}.
Vector BranchProblem::defect(const Evaluation& e, const OrbitPoint& near, const Vector& z) const {
    Vector F(z.size() - 1);
    F.head(states_) = (e.r.end - z.head(states_)).cwiseQuotient(near.scale.head(states_));
    for (const Eigen::Index j : drifting_) F(j) = 0.0;
    if (autonomous())
        F(states_) = near.plane.dot((z.head(states_) - near.reference).cwiseQuotient(near.scale.head(states_)));
    return F;
}

/// The derivative of F/scale by z/scale:
///     excited:    [Φ_x − I,  Φ_p + f T'(p)]           T depends on p, for example as 2π/ω
///     autonomous: [Φ_x − I,  f,  Φ_p;  plane, 0, 0]
/// where f is the rate at the end; half of it with a symmetry, because T is the duration of the whole orbit and Φ takes
/// T/2. A position that drifts keeps its value: its row is that of the unit matrix.
Matrix BranchProblem::derivative(const Return& r, double duration_slope, const OrbitPoint& near) const {
    const Eigen::Index m = states_, columns = near.scale.size();
    Matrix J = Matrix::Zero(columns - 1, columns);
    J.topLeftCorner(m, m) = r.slope - Matrix::Identity(m, m);
    J.col(columns - 1).head(m) = r.by_parameter;
    const double share = symmetric() ? 0.5 : 1.0;
    if (autonomous())
        J.col(m).head(m) = share * r.rate;
    else
        J.col(columns - 1).head(m) += share * r.rate * duration_slope;
    for (const Eigen::Index j : drifting_) J.row(j) = Vector::Unit(columns, j).transpose();
    for (Eigen::Index i = 0; i < m; ++i) J.row(i) /= near.scale(i);
    for (Eigen::Index c = 0; c < columns; ++c) J.col(c) *= near.scale(c);
    if (autonomous()) J.row(m).head(m) = near.plane.transpose();
    return J;
}

std::optional<OrbitPoint> BranchProblem::correct(const OrbitPoint& near, const Vector& z_start, const Vector& row,
                                                 Damping damping) {
    Vector z = z_start;
    failure_.clear();
    too_sensitive_ = false;
    std::optional<Evaluation> e = evaluate(near.t, z, options_.interrupted);
    if (!e) return std::nullopt;
    Vector F = defect(*e, near, z);
    double residual = F.cwiseAbs().maxCoeff();
    const auto accepted = [&](const Evaluation& there) {
        const Vector size = near.scale.head(states_);
        const double growth =
            (size.cwiseInverse().asDiagonal() * there.r.slope * size.asDiagonal()).cwiseAbs().maxCoeff();
        return std::min(branch_accepted * (1.0 + growth), branch_loosest);
    };
    const int most = damping == Damping::none ? max_corrections : max_damped_corrections;
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
    p.model = e->model;
    p.r = std::move(e->r);
    p.duration = e->duration;
    p.residual = residual;
    if (!complete_motion(p)) {
        failure_ = "half of the motion is closed by the symmetry, and the whole motion is not";
        return std::nullopt;
    }
    p.scale = near.scale;
    p.scale.head(states_) = sizes(p.r.motion);
    p.reference = z.head(states_);
    if (autonomous()) {
        p.scale(states_) = p.duration;
        p.plane = p.r.rate.cwiseQuotient(p.scale.head(states_));
        for (const Eigen::Index j : drifting_) p.plane(j) = 0.0;
        p.plane /= std::max(p.plane.norm(), std::numeric_limits<double>::min());
    }
    measure(p);
    if (p.multipliers.trivial_error.value_or(0.0) > trivial_accuracy) {
        too_sensitive_ = true;
        failure_ = "the multiplier that must be 1 has the error " + number_text(*p.multipliers.trivial_error) +
                   ": the orbit of the period " + number_text(p.duration) + " is too sensitive to be followed";
        return std::nullopt;
    }
    if (passes_several_times(near.order, p)) {
        failure_ = "the motion found passes an orbit several times";
        return std::nullopt;
    }
    set_tangent(p, row.cwiseProduct(near.scale).cwiseQuotient(p.scale));
    return p;
}

void BranchProblem::measure(OrbitPoint& p) const {
    p.order = order_of(p.r.motion);
    std::vector<Eigen::Index> kept;
    for (Eigen::Index i = 0; i < states_; ++i)
        if (std::find(drifting_.begin(), drifting_.end(), i) == drifting_.end()) kept.push_back(i);
    p.multipliers = multipliers_of(p.r.slope(kept, kept), autonomous());
}

bool BranchProblem::complete_motion(OrbitPoint& p) const {
    if (!symmetric()) return true;
    const ReturnMap map(*p.model, options_.orbit.method, nullptr);
    p.r.motion = map.motion(p.t, p.z.head(states_), p.duration);
    return closes(p.r.motion);
}

OrbitPoint BranchProblem::restore(const StoredOrbit& stored) {
    OrbitPoint p;
    p.t = stored.t;
    p.z = stored.z;
    p.scale = stored.scale;
    p.tangent = stored.tangent;
    p.plane = stored.plane;
    p.reference = stored.reference;
    p.residual = stored.residual;
    const Eigen::Index unknowns = states_ + (autonomous() ? 2 : 1);
    const bool fits = p.z.size() == unknowns && p.scale.size() == unknowns && p.tangent.size() == unknowns &&
                      p.reference.size() == states_ && p.plane.size() == (autonomous() ? states_ : 0) &&
                      p.z.allFinite();
    std::optional<Evaluation> e = fits ? evaluate(p.t, p.z, nullptr) : std::nullopt;
    if (e) {
        p.model = e->model;
        p.r = std::move(e->r);
        p.duration = e->duration;
    }
    if (!e || !complete_motion(p))
        throw Error("the stored orbit does not belong to this model", {"--resume", 0, 0},
                    "run the command without --resume");
    measure(p);
    return p;
}

bool BranchProblem::passes_several_times(const std::vector<Mark>& order, const OrbitPoint& p) const {
    if (!autonomous() || order.empty() || p.order.size() <= order.size() || p.order.size() % order.size() != 0)
        return false;
    const std::size_t times = p.order.size() / order.size();
    std::vector<Mark> repeated;
    for (std::size_t k = 0; k < times; ++k) repeated.insert(repeated.end(), order.begin(), order.end());
    if (!same_order(repeated, p.order)) return false;
    constexpr double equal = 1e-6;  // relative to the sizes; orbits of a doubled period differ by more
    const trajectory::State part = p.r.motion.right(p.r.motion.start.t + p.duration / static_cast<double>(times));
    Vector difference = (vector_of(part) - p.z.head(states_)).cwiseQuotient(p.scale.head(states_));
    for (const Eigen::Index j : drifting_) difference(j) = 0.0;
    return difference.cwiseAbs().maxCoeff() < equal;
}

/// The tangent τ solves F' τ = 0, along·τ = 1 in z/scale.
void BranchProblem::set_tangent(OrbitPoint& p, const Vector& along) const {
    const Eigen::Index columns = p.z.size();
    const double duration_slope = autonomous() ? 0.0 : multiple_ * period_of_excitation(*p.model).second;
    Matrix A(columns, columns);
    A.topRows(columns - 1) = derivative(p.r, duration_slope, p);
    A.row(columns - 1) = along.transpose();
    const Vector tangent = least_squares(A, Vector(Vector::Unit(columns, columns - 1)));
    p.tangent = tangent / std::max(tangent.norm(), std::numeric_limits<double>::min());
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
    moved.z.head(states_) = part.end;
    for (const Eigen::Index j : drifting_) moved.z(j) = p.z(j);
    moved.t = later;
    // Excited systems: the time only matters up to whole orbits.
    if (!autonomous() && moved.t >= p.duration) moved.t -= p.duration * std::floor(moved.t / p.duration);
    moved.reference = moved.z.head(states_);
    if (autonomous()) {
        moved.t = 0.0;
        moved.plane = part.rate.cwiseQuotient(moved.scale.head(states_));
        for (const Eigen::Index j : drifting_) moved.plane(j) = 0.0;
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
        p.plane = rate.cwiseQuotient(p.scale.head(states_));
        for (const Eigen::Index j : drifting_) p.plane(j) = 0.0;
        p.plane /= std::max(p.plane.norm(), std::numeric_limits<double>::min());
    }
    return p;
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
           excitation_repeats(ReturnMap(*p.model, options_.orbit.method, options_.interrupted), p.r.motion);
}

}  // namespace saltus::orbit
