// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/arc/detail/arc_rest.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "saltus/base/decompositions.hpp"
#include "saltus/base/index.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/ode/explicit.hpp"

// Next to rest the direction d = γ/|γ| of slip turns ever faster, and the coefficients of the linearised equations grow
// as 1/|γ|. With s = −ln|γ| in place of the time and F = γ̇,
//     dt/ds = |γ|/(−d·F),   dx/ds = f dt/ds,   dd/ds = (F − (d·F) d)/(−d·F),   d(δx)/ds = (f_x δx + f_p δp) dt/ds,
// all right-hand sides stay bounded, and d, x and δx approach their limits as exp(−s) or as a power of it. δx is the
// variation at a fixed time: at rest it is δx_rest − f δt with the variation δt of the time of rest. d is a variable of
// its own, and γ = |γ| d replaces the slip velocity of u: near rest that is a difference of larger numbers.

namespace saltus::sensitivity {

namespace {

/// The path begins at this part of the arc before its end. The first for which slip becomes slower all the way is
/// taken. At the beginning the direction of slip has the error of a recorded velocity divided by the speed.
constexpr double begin_ratios[] = {1e-2, 1e-3, 1e-4, 1e-5};
/// Slip that is slower than this at the beginning, in m/s, has no direction that could be followed.
constexpr double least_speed = 1e-6;
/// The path ends at this speed, in m/s. What is left is in closed form (gradient_of_rest).
constexpr double end_speed = 1e-8;
/// Friction acts along γ + direction_speed·d, so that its derivative is that of a speed which is larger by 1e-10 m/s
/// (Thresholds::direction_speed). Here d follows γ, and this factor makes it short.
constexpr double shortened = 1e-6;
/// Allowed errors of one step: of x relative to max(1, |x|), of the direction of slip, and of the derivatives relative
/// to the largest change that their direction makes on the path. The friction law computes the direction of slip from
/// the velocities, with an error of 1e-16/|γ|, which limits the others.
constexpr double motion_tolerance = 1e-13, direction_tolerance = 1e-9, derivative_tolerance = 1e-9;
/// Below the rounding of a number: errors are allowed by the absolute tolerances alone.
constexpr double no_relative_tolerance = 0.0;
constexpr int max_steps = 1000;

/// The right-hand side for y = (t, q, u, d, δx of each direction).
class SlowingMotion {
public:
    SlowingMotion(Tangent& tangent, int part, double speed, const Matrix& directions)
        : x_(tangent),
          part_(tangent.dynamics.parts()[ix(part)]),
          number_(part),
          n_(tangent.n()),
          speed_(speed),
          rows_(directions),
          state_(ix(tangent.dynamics.state_size())) {}

    int delta() const { return 1 + 2 * n_ + part_.size; }  ///< where δx begins in y

    /// Makes the dynamics those of y at s, with the velocities u that have the slip velocity |γ| d.
    void go_to(double s, const double* y) {
        integrate::Dynamics& d = x_.dynamics;
        std::copy_n(y + 1, 2 * n_, state_.begin());
        follow_slip(d, y[0], state_.data());
        direction_ = Eigen::Map<const Vector>(y + 1 + 2 * n_, part_.size).normalized();
        const model::Pattern& rows = x_.model().layout().rows;
        Vector missing(part_.size);
        Matrix W = Matrix::Zero(part_.size, n_);
        for (int r = 0; r < part_.size; ++r) {
            missing(r) = speed_ * std::exp(-s) * direction_(r) - d.slip_velocity(number_)[r];
            for (int k = rows.start[ix(part_.row + r)]; k < rows.start[ix(part_.row + r + 1)]; ++k)
                W(r, rows.column[ix(k)]) = d.terms().W[ix(k)];
        }
        const Vector change = W.transpose() * solve_columns(W * W.transpose(), missing);
        for (int i = 0; i < n_; ++i) state_[ix(n_ + i)] += change(i);
        integrate::SystemMode turned = d.mode();
        for (int r = 0; r < part_.size; ++r) turned.parts[ix(number_)].direction[ix(r)] = shortened * direction_(r);
        d.turn_slip(turned);
    }
    const std::vector<double>& state() const { return state_; }

    bool operator()(double s, const double* y, double* dy) {
        go_to(s, y);
        const double t = y[0];
        if (!x_.velocity_field(t, state_.data(), field_)) return false;
        const Vector F = slip_rate();
        const double slowing = -direction_.dot(F);
        if (!(slowing > 0.0)) return false;
        const double g = speed_ * std::exp(-s) / slowing;
        dy[0] = g;
        for (int i = 0; i < 2 * n_; ++i) dy[1 + i] = g * field_(i);
        for (int r = 0; r < part_.size; ++r) dy[1 + 2 * n_ + r] = (F(r) + slowing * direction_(r)) / slowing;
        const Eigen::Index count = rows_.rows();
        if (count == 0) return true;
        if (!x_.linearised.prepare(t, state_.data())) return false;
        const Eigen::Map<const Matrix> from(y + delta(), count, 2 * n_);
        rows_.middleCols(1, 2 * n_) = from;
        x_.linearised.along(rows_, rates_);
        Eigen::Map<Matrix> to(dy + delta(), count, 2 * n_);
        to.leftCols(n_) = g * from.rightCols(n_);
        to.rightCols(n_) = g * rates_;
        return true;
    }

private:
    /// γ̇ after velocity_field.
    Vector slip_rate() const {
        const integrate::Dynamics& d = x_.dynamics;
        Vector F(part_.size);
        for (int r = 0; r < part_.size; ++r)
            F(r) = model::row_dot(x_.model().layout().rows, d.terms().W, part_.row + r, d.acceleration()) +
                   d.terms().zeta[ix(part_.row + r)];
        return F;
    }

    Tangent& x_;
    const integrate::FrictionPart part_;
    const int number_, n_;
    const double speed_;  // at s = 0
    Matrix rows_, rates_;
    std::vector<double> state_;
    Vector field_, direction_;
};

/// Carries (t, q, u) and the directions, whose parts of q and u become those at the end. `sizes` has the size of the
/// derivatives of each direction. False if slip does not become slower all the way to `end_speed`.
bool carry(Tangent& x, int part, double& t, std::vector<double>& state, Matrix& directions, const Vector& sizes) {
    const int n = x.n();
    x.dynamics.evaluate_terms(t, state.data());
    const double speed = x.dynamics.slip_speed(part);
    if (!(speed >= least_speed)) return false;
    std::vector<double> y{t};
    y.insert(y.end(), state.begin(), state.begin() + 2 * n);
    std::vector<double> scale;
    for (const double value : y) scale.push_back(std::max(1.0, std::abs(value)));
    for (int r = 0; r < x.dynamics.parts()[ix(part)].size; ++r) {
        y.push_back(x.dynamics.slip_velocity(part)[r] / speed);
        scale.push_back(direction_tolerance / motion_tolerance);
    }
    const Matrix delta = directions.middleCols(1, 2 * n);
    y.insert(y.end(), delta.data(), delta.data() + delta.size());
    for (int column = 0; column < 2 * n; ++column)
        for (Eigen::Index row = 0; row < directions.rows(); ++row)
            scale.push_back(sizes(row) * derivative_tolerance / motion_tolerance);
    SlowingMotion motion(x, part, speed, directions);
    const auto f = [&](double s, const double* from, double* to) { return motion(s, from, to); };
    const ode::Problem problem{f};
    ode::Explicit method(static_cast<int>(y.size()), {no_relative_tolerance, motion_tolerance, std::move(scale)});
    if (!ode::usable(method.start(problem, 0.0, y))) return false;
    const double end = std::log(speed / end_speed);
    for (int k = 0; method.t() < end; ++k)
        if (k == max_steps || !ode::usable(method.step(problem, end))) return false;
    motion.go_to(end, method.x().data());
    t = method.x()[0];
    state = motion.state();
    follow_slip(x.dynamics, t, state.data());
    directions.middleCols(1, 2 * n) =
        Eigen::Map<const Matrix>(method.x().data() + motion.delta(), directions.rows(), 2 * n);
    return true;
}

/// The state of the recorded motion at t.
std::vector<double> recorded(const Tangent& x, const integrate::RecordedArc& arc, double t) {
    std::vector<double> state(ix(x.dynamics.state_size()));
    auto step = arc.steps.rbegin();
    while (std::next(step) != arc.steps.rend() && step->t_old() > t) ++step;
    step->evaluate(t, state.data());
    return state;
}

/// The slowest part that slips in a plane at the end of the arc, if it is as slow as slip that counts as rest; else -1.
int resting_part(Tangent& x, const integrate::RecordedArc& arc) {
    const std::vector<double> end = recorded(x, arc, arc.t_end);
    x.dynamics.evaluate_terms(arc.t_end, end.data());
    int slowest = -1;
    double least = integrate::Thresholds::rest_speed;
    for (std::size_t k = 0; k < arc.mode->parts.size(); ++k) {
        if (!arc.mode->parts[k].slips || x.dynamics.parts()[k].size == 1) continue;
        const double speed = x.dynamics.slip_speed(static_cast<int>(k));
        if (speed < least) {
            slowest = static_cast<int>(k);
            least = speed;
        }
    }
    return slowest;
}

}  // namespace

void follow_slip(integrate::Dynamics& d, double t, const double* x) {
    d.evaluate_terms(t, x);
    integrate::SystemMode turned = d.mode();
    for (std::size_t k = 0; k < turned.parts.size(); ++k) {
        const double speed = d.slip_speed(static_cast<int>(k));
        if (!turned.parts[k].slips || d.parts()[k].size == 1 || !(speed > 0.0)) continue;
        for (int r = 0; r < d.parts()[k].size; ++r)
            turned.parts[k].direction[ix(r)] = d.slip_velocity(static_cast<int>(k))[r] / speed;
    }
    d.turn_slip(turned);
}

namespace {

/// The directions (δq, δu, δp) of one that are carried along a path of the given duration, and the sizes of their
/// derivatives. Parameters have any unit: each is scaled so that it changes the velocities by about one on the path.
struct Carried {
    Matrix directions;
    Vector sizes;
};

/// Nothing if the equations cannot be linearised at the beginning of the path, whose mode is set.
std::optional<Carried> all_directions(Tangent& x, double t, const double* state, double duration) {
    // A change of the velocities that is smaller than this part of what the accelerations make is hardly more than
    // rounding.
    constexpr double least_change = 1e-6;
    const Eigen::Index size = x.columns() - 1;
    Carried out{Matrix::Zero(size, x.columns()), Vector::Ones(size)};
    out.directions.rightCols(size).setIdentity();
    follow_slip(x.dynamics, t, state);
    if (!x.linearised.prepare(t, state)) return {};
    Matrix rates;
    x.linearised.along(out.directions, rates);
    for (Eigen::Index k = 0; k < size; ++k) {
        const double change = rates.row(k).norm() * duration;
        if (k < 2 * x.n())
            out.sizes(k) = std::max(1.0, change);
        else
            out.directions(k, 1 + k) =
                1.0 / std::max(change, least_change * x.dynamics.acceleration_scale() * duration);
    }
    return out;
}

/// The path that begins at a recorded state, with its derivatives if they can be integrated. False if slip does not
/// become slower all the way.
bool find_path(Tangent& x, const integrate::RecordedArc& arc, double from, PathToRest& path) {
    const auto begin = [&] {
        path.t = path.from = from;
        path.end = path.start = recorded(x, arc, from);
        x.set_mode(arc.mode, from, path.start.data());
    };
    begin();
    if (std::optional<Carried> carried = all_directions(x, from, path.start.data(), arc.t_end - from)) {
        Matrix& directions = carried->directions;
        if (carry(x, path.part, path.t, path.end, directions, carried->sizes)) {
            path.map = directions.middleCols(1, 2 * x.n());
            for (Eigen::Index k = 2 * x.n(); k < path.map.rows(); ++k) path.map.row(k) /= directions(k, 1 + k);
            if (!path.map.allFinite()) path.map.resize(0, 0);
            return true;
        }
        begin();
    }
    Matrix nobody(0, x.columns());
    return carry(x, path.part, path.t, path.end, nobody, Vector());
}

EndInRest find_end(Tangent& x, const integrate::RecordedArc& arc) {
    EndInRest out;
    if (arc.steps.empty() || !(arc.t_end > arc.t_begin)) return out;
    const int part = resting_part(x, arc);
    if (part < 0) return out;
    out.rests = true;
    for (const double ratio : begin_ratios) {
        PathToRest path;
        path.part = part;
        if (!find_path(x, arc, arc.t_end - ratio * (arc.t_end - arc.t_begin), path)) continue;
        out.path = std::move(path);
        break;
    }
    return out;
}

}  // namespace

const EndInRest& end_in_rest(Tangent& x, const integrate::RecordedArc& arc) {
    RestMemory& memory = *x.rest_memory;
    if (memory.arc != &arc) {
        memory = {nullptr, find_end(x, arc)};
        memory.arc = &arc;
    } else if (const std::optional<PathToRest>& path = memory.end.path) {
        x.set_mode(arc.mode, path->from, path->start.data());
        follow_slip(x.dynamics, path->t, path->end.data());
    }
    return memory.end;
}

}  // namespace saltus::sensitivity
