// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/arc_flow.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "saltus/ode/dop853.hpp"

namespace saltus::sensitivity {

namespace {

namespace rk = ode::dop853;

std::size_t ix(int i) { return static_cast<std::size_t>(i); }

void combine(const std::vector<Matrix>& k, std::span<const rk::Term> terms, Matrix& sum) {
    sum.setZero(k[0].rows(), k[0].cols());
    for (const rk::Term& term : terms) sum += term.weight * k[ix(term.stage)];
}

/// Collocation at the nodes c: a_ij = ∫₀^{c_i} ℓ_j, from the monomials that both sides must integrate alike.
Matrix collocation(const Vector& c) {
    const Eigen::Index s = c.size();
    Matrix powers(s, s), integrals(s, s);
    for (Eigen::Index i = 0; i < s; ++i)
        for (Eigen::Index k = 0; k < s; ++k) {
            powers(k, i) = std::pow(c(i), static_cast<double>(k));
            integrals(k, i) = std::pow(c(i), static_cast<double>(k + 1)) / static_cast<double>(k + 1);
        }
    return solve_columns(powers, integrals).transpose();
}

/// Radau's right nodes; the last row of A has the weights.
struct Tableau {
    Vector c;
    Matrix A;
};
const Tableau& three_stages() {
    static const Tableau t = [] {
        Tableau r;
        r.c = Vector{{0.15505102572168219, 0.64494897427831781, 1.0}};
        r.A = collocation(r.c);
        return r;
    }();
    return t;
}
const Tableau& five_stages() {
    static const Tableau t = [] {
        Tableau r;
        r.c = Vector{{0.05710419611451768, 0.27684301363812383, 0.58359043236891683, 0.86024013565621945, 1.0}};
        r.A = collocation(r.c);
        return r;
    }();
    return t;
}

constexpr int probes = 2;
constexpr double safety = 0.9, nothing_left = 1e-9;
/// The two implicit methods may differ by this part of the solution, where the better one is off by about its power
/// 10/6.
constexpr double implicit_difference = 1e-6;

/// Numbers spread evenly over (−1, 1) that know nothing of the model.
double spread(Eigen::Index i, int probe) {
    const double golden = 0.6180339887498949, silver = 0.4142135623730951;
    const double x = (static_cast<double>(i) + 1.0) * (probe == 0 ? golden : silver) + 0.37;
    return 2.0 * (x - std::floor(x)) - 1.0;
}

double size_of(std::span<const double> values) {
    double most = 0.0;
    for (const double v : values) most = std::max(most, std::abs(v));
    return most > 0.0 ? most : 1.0;
}

}  // namespace

ArcFlow::ArcFlow(Tangent& tangent, double tolerance)
    : x_(tangent), motion_(tangent), n_(tangent.n()), tolerance_(tolerance) {}

void ArcFlow::begin(const integrate::RecordedArc& arc) {
    motion_.begin(arc);
    std::vector<double> state(ix(x_.dynamics.state_size()));
    arc.steps.front().evaluate(arc.t_begin, state.data());
    const double q = size_of({state.data(), ix(n_)}), u = size_of({state.data() + n_, ix(n_)});
    for (int r = 0; r < probes; ++r) {
        batch_(r, 0) = 0.0;
        for (Eigen::Index i = 1; i < batch_.cols(); ++i) {
            const Eigen::Index p = i - 1 - 2 * n_;
            const double value = p < 0 ? 0.0 : std::abs(x_.model().p[static_cast<std::size_t>(p)]);
            batch_(r, i) = spread(i, r) * (i <= n_ ? q : p < 0 ? u : value > 0.0 ? value : 1.0);
        }
    }
    scale_.setZero(probes, 2);
}

void ArcFlow::grow_scale() {
    for (int k = 0; k < 2; ++k)
        scale_.col(k) = scale_.col(k).cwiseMax(batch_.block(0, 1 + k * n_, probes, n_).cwiseAbs().rowwise().maxCoeff());
}

/// Positions and velocities each by their largest values so far, or by what the other kind makes of them over the
/// recorded step.
double ArcFlow::measure(const Matrix& error) const {
    double worst = 0.0;
    for (int r = 0; r < probes; ++r) {
        double size[2];
        for (int k = 0; k < 2; ++k)
            size[k] = std::max(scale_(r, k), new_.row(r).segment(k * n_, n_).cwiseAbs().maxCoeff());
        const double whole[2] = {std::max(size[0], 0.1 * size[1] * stride_),
                                 std::max(size[1], 0.1 * size[0] / stride_)};
        for (int k = 0; k < 2; ++k) {
            const double e = error.row(r).segment(k * n_, n_).cwiseAbs().maxCoeff();
            if (e == 0.0) continue;
            const double ratio = e / std::max(whole[k], 1e-300);
            if (!std::isfinite(ratio)) return ratio;
            worst = std::max(worst, ratio);
        }
    }
    return worst;
}

/// ẋ of the directions in the batch, with these states.
bool ArcFlow::rates(double t, const Matrix& state, Matrix& out) {
    ++evaluations;
    if (!motion_.prepare(t)) return false;
    batch_.middleCols(1, 2 * n_) = state;
    x_.linearised.along(batch_, rates_);
    out.resize(state.rows(), 2 * n_);
    out.leftCols(n_) = state.rightCols(n_);
    out.rightCols(n_) = rates_;
    return true;
}

bool ArcFlow::explicit_step(double t, double h, double& error) {
    const Matrix from = batch_.middleCols(1, 2 * n_);
    k_.resize(ix(rk::stages));
    bool possible = true;
    for (int i = 0; i < rk::stages && possible; ++i) {
        stage_ = from;
        if (i > 0) {
            combine(k_, rk::a[i], sum_);
            stage_ += h * sum_;
        }
        possible = rates(t + rk::c[i] * h, stage_, k_[ix(i)]);
    }
    batch_.middleCols(1, 2 * n_) = from;
    if (!possible) return false;
    combine(k_, rk::b, sum_);
    new_ = from + h * sum_;
    combine(k_, rk::error5, sum_);
    const double fifth = std::abs(h) * measure(sum_.topRows(probes));
    combine(k_, rk::error3, sum_);
    const double third = std::abs(h) * measure(sum_.topRows(probes));
    const double both = std::hypot(fifth, 0.1 * third);
    error = both == 0.0 ? 0.0 : fifth * (fifth / both) / tolerance_;
    return true;
}

/// K_i = f_x(t_i)(x + h Σ a_ij K_j) + f_p(t_i) p for all stages together: `system_`, with f_x and f_p kept.
bool ArcFlow::collocate(double t, double h, const Matrix& A, const Vector& c) {
    const Eigen::Index s = c.size(), size = 2 * n_;
    system_ = Matrix::Identity(s * size, s * size);
    linear_.resize(static_cast<std::size_t>(s)), forcing_.resize(static_cast<std::size_t>(s));
    for (Eigen::Index i = 0; i < s; ++i) {
        ++evaluations;
        if (!motion_.evaluate(t + c(i) * h)) return false;
        const Matrix& a = x_.linearised.acceleration();
        Matrix& L = linear_[static_cast<std::size_t>(i)];
        L.setZero(size, size);
        L.topRightCorner(n_, n_).setIdentity();
        L.bottomRows(n_) = a.middleCols(1, size);
        forcing_[static_cast<std::size_t>(i)] = a.rightCols(x_.parameters());
        for (Eigen::Index j = 0; j < s; ++j) system_.block(i * size, j * size, size, size) -= h * A(i, j) * L;
    }
    return true;
}

bool ArcFlow::implicit_step(double t, double h, double& error) {
    const auto step = [&](const Tableau& tableau, Eigen::Index rows, Matrix& out) {
        if (!collocate(t, h, tableau.A, tableau.c)) return false;
        const Eigen::Index s = tableau.c.size(), size = 2 * n_;
        right_.resize(s * size, rows);
        for (Eigen::Index i = 0; i < s; ++i) {
            right_.middleRows(i * size, size) =
                linear_[static_cast<std::size_t>(i)] * batch_.block(0, 1, rows, size).transpose();
            right_.middleRows(i * size + n_, n_) +=
                forcing_[static_cast<std::size_t>(i)] * batch_.topRightCorner(rows, x_.parameters()).transpose();
        }
        const Matrix K = solve_columns(system_, right_);
        out = batch_.block(0, 1, rows, size);
        for (Eigen::Index j = 0; j < s; ++j) out += h * tableau.A(s - 1, j) * K.middleRows(j * size, size).transpose();
        return true;
    };
    Matrix rough;
    if (!step(three_stages(), probes, rough) || !step(five_stages(), batch_.rows(), new_)) return false;
    error = measure(new_.topRows(probes) - rough) / implicit_difference;
    return true;
}

bool ArcFlow::advance(const integrate::RecordedArc& arc, std::size_t recorded, double to) {
    const ode::Dense& step = arc.steps[recorded];
    motion_.begin_step(step);
    const double from = step.t_old();
    if (!(from < to)) return true;
    stride_ = to - from;
    grow_scale();
    double t = from, h = stride_;
    const double order = arc.implicit ? 6.0 : 8.0, shortest = 1e-10 * stride_;
    int refused = 0;
    for (int tries = 0; tries < 100000; ++tries) {
        const bool last = to - t <= h * (1.0 + 1e-12);
        if (last) h = to - t;
        double error = 0.0;
        const bool possible = arc.implicit ? implicit_step(t, h, error) : explicit_step(t, h, error);
        if (possible && std::isfinite(error) && error <= 1.0) {
            steps_.push_back({recorded, t, h});
            batch_.middleCols(1, 2 * n_) = new_;
            grow_scale();
            if (last) return true;
            refused = 0;
            t += h;
            h *= error > 0.0 ? std::clamp(safety * std::pow(error, -1.0 / order), 0.3, 5.0) : 5.0;
            h = std::min(h, to - t);
        } else {
            // Coefficients without bound at the very end, where slip comes to rest, leave nothing to integrate.
            if (arc.t_end - t <= nothing_left * (arc.t_end - arc.t_begin)) return true;
            // Where coefficients have a kink, the order of the method says nothing about the next try.
            const double factor = possible && std::isfinite(error) ? safety * std::pow(error, -1.0 / order) : 0.25;
            h *= std::max(factor, 0.2) * (refused++ > 0 ? 0.2 : 1.0);
            if (h < shortest) return false;
        }
    }
    return false;
}

bool ArcFlow::forwards(const integrate::RecordedArc& arc, Matrix& directions, const std::function<void(double)>& at) {
    steps_.clear();
    if (arc.steps.empty() || arc.t_end <= arc.t_begin) return true;
    batch_.resize(probes + directions.rows(), x_.columns());
    batch_.bottomRows(directions.rows()) = directions;
    begin(arc);
    bool possible = true;
    for (std::size_t k = 0; k < arc.steps.size() && possible; ++k) {
        const double to = std::min(arc.steps[k].t_new(), arc.t_end);
        possible = advance(arc, k, to);
        if (!at) continue;
        directions = batch_.bottomRows(directions.rows());
        at(to);
    }
    directions = batch_.bottomRows(directions.rows());
    return possible;
}

/// With K̄_i the derivative by K_i and Z_i that by the state of stage i, from the last stage to the first:
///     K̄_i = h (b_i y + Σ_{j>i} a_ji Z_j),   Z_i = f_xᵀ K̄_i,   y ← y + Σ Z_i,   g ← g + Σ f_pᵀ K̄_i
bool ArcFlow::explicit_back(const Step& step, Matrix& gradients) {
    const Eigen::Index size = 2 * n_, parameters = x_.parameters(), count = gradients.rows();
    k_.assign(ix(rk::stages), Matrix::Zero(count, size));
    for (const rk::Term& term : rk::b) k_[ix(term.stage)] = term.weight * gradients.leftCols(size);
    Vector y, change;
    for (int i = rk::stages; i-- > 0;) {
        stage_ = step.h * k_[ix(i)];
        ++evaluations;
        if (!motion_.prepare(step.t + rk::c[i] * step.h)) return false;
        sum_.resize(count, size);
        for (Eigen::Index r = 0; r < count; ++r) {
            y = stage_.row(r).tail(n_).transpose();
            x_.linearised.against(y, change);
            sum_.row(r) = change.segment(1, size).transpose();
            gradients.row(r).tail(parameters) += change.tail(parameters).transpose();
        }
        sum_.rightCols(n_) += stage_.leftCols(n_);
        gradients.leftCols(size) += sum_;
        if (i > 0)
            for (const rk::Term& term : rk::a[i]) k_[ix(term.stage)] += term.weight * sum_;
    }
    return true;
}

bool ArcFlow::implicit_back(const Step& step, Matrix& gradients) {
    const Tableau& tableau = five_stages();
    const Eigen::Index s = tableau.c.size(), size = 2 * n_;
    if (!collocate(step.t, step.h, tableau.A, tableau.c)) return false;
    right_.resize(s * size, gradients.rows());
    for (Eigen::Index j = 0; j < s; ++j)
        right_.middleRows(j * size, size) = step.h * tableau.A(s - 1, j) * gradients.leftCols(size).transpose();
    const Matrix Z = solve_columns(system_.transpose(), right_);
    for (Eigen::Index i = 0; i < s; ++i) {
        gradients.leftCols(size) += Z.middleRows(i * size, size).transpose() * linear_[static_cast<std::size_t>(i)];
        gradients.rightCols(x_.parameters()) +=
            Z.middleRows(i * size + n_, n_).transpose() * forcing_[static_cast<std::size_t>(i)];
    }
    return true;
}

bool ArcFlow::backwards(const integrate::RecordedArc& arc, Matrix& gradients) {
    Matrix none(0, x_.columns());
    if (!forwards(arc, none)) return false;
    for (std::size_t k = steps_.size(), recorded = arc.steps.size(); k-- > 0;) {
        if (steps_[k].recorded != recorded) motion_.begin_step(arc.steps[recorded = steps_[k].recorded]);
        if (!(arc.implicit ? implicit_back(steps_[k], gradients) : explicit_back(steps_[k], gradients))) return false;
    }
    return true;
}

}  // namespace saltus::sensitivity
