// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/detail/parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "saltus/base/eigenvalues.hpp"
#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"

namespace saltus::orbit {

namespace {

/// Newton's method ends below this residual times the growth of a part: rounding.
constexpr double parts_rounding = 1e-14;
/// How often a Newton step is halved.
constexpr int max_parts_halvings = 12;
/// A motion that has grown beyond this multiple of the size of its first part has left the orbit.
constexpr double far_away = 10.0;
/// Repeated parts agree up to this part of the size of the components.
constexpr double equal_parts = 1e-7;

Return part_motion(const PartsProblem& p, const Parts& at, std::size_t k) {
    Return r;
    try {
        r = p.map(at.start_of(k), at.x[k], at.length());
    } catch (const Error& e) {  // the state penetrates an obstacle
        r.failure = e.message();
    }
    if (p.symmetry && r.available() && k + 1 == at.x.size()) p.symmetry->apply(r);
    return r;
}

/// Motions and sizes of all parts. Returns why there are none; empty if there are.
std::string evaluate_parts(const PartsProblem& p, Parts& at) {
    at.r.clear();
    for (std::size_t k = 0; k < at.x.size(); ++k) {
        at.r.push_back(part_motion(p, at, k));
        if (!at.r.back().available()) return at.r.back().failure;
        const Vector size = sizes(at.r.back().motion);
        at.size = k == 0 ? size : Vector(at.size.cwiseMax(size));
    }
    return "";
}

/// The differences of the ends of all parts and the starts of the next ones, relative to the sizes.
Vector defects(const Parts& at) {
    const Eigen::Index n = at.size.size();
    const auto count = static_cast<Eigen::Index>(at.x.size());
    Vector F(n * count);
    for (Eigen::Index k = 0; k < count; ++k) {
        const Vector& next = at.x[static_cast<std::size_t>((k + 1) % count)];
        F.segment(k * n, n) = (at.r[static_cast<std::size_t>(k)].end - next).cwiseQuotient(at.size);
    }
    return F;
}

/// Newton's equations: [Φ_k'] δx_k − δx_{k+1} + f_k δT/K = x_{k+1} − Φ_k(x_k), and ∇s·δx_0 = −s(x_0).
Parts corrected(const PartsProblem& p, const Parts& at, const Vector& step, double fraction) {
    const Eigen::Index n = at.size.size();
    Parts next;
    next.t = at.t;
    next.duration = at.duration;
    for (std::size_t k = 0; k < at.x.size(); ++k)
        next.x.push_back(at.x[k] + fraction * step.segment(static_cast<Eigen::Index>(k) * n, n).cwiseProduct(at.size));
    if (p.section) next.duration += fraction * step(step.size() - 1) * at.duration;
    return next;
}

Vector newton_step(const PartsProblem& p, const Parts& at, const Vector& F) {
    const Eigen::Index n = at.size.size();
    const auto count = static_cast<Eigen::Index>(at.x.size());
    const Eigen::Index extra = p.section ? 1 : 0;
    Matrix A = Matrix::Zero(n * count + extra, n * count + extra);
    Vector b = Vector::Zero(n * count + extra);
    b.head(n * count) = -F;
    for (Eigen::Index k = 0; k < count; ++k) {
        const Return& r = at.r[static_cast<std::size_t>(k)];
        A.block(k * n, k * n, n, n) = at.size.cwiseInverse().asDiagonal() * r.slope * at.size.asDiagonal();
        A.block(k * n, ((k + 1) % count) * n, n, n) -= Matrix::Identity(n, n);
        if (p.section)
            A.block(k * n, n * count, n, 1) =
                r.rate.cwiseQuotient(at.size) * (at.duration / static_cast<double>(count));
    }
    if (p.section) {
        const Vector gradient = p.section->gradient(at.x[0]);
        const double scale = std::max(gradient.cwiseAbs().dot(at.size), std::numeric_limits<double>::min());
        A.row(n * count).head(n) = gradient.cwiseProduct(at.size).transpose() / scale;
        b(n * count) = -p.section->value(at.x[0]) / scale;
    }
    return least_squares(A, b);
}

double growth_of_parts(const Parts& at) {
    double growth = 1.0;
    for (const Return& r : at.r)
        growth = std::max(growth,
                          (at.size.cwiseInverse().asDiagonal() * r.slope * at.size.asDiagonal()).cwiseAbs().maxCoeff());
    return growth;
}

/// The states of the guess at the starts of the parts: those of the motion from x, while it stays near. A motion that
/// leaves an unstable orbit starts again at x.
bool guess_parts(const PartsProblem& p, const Vector& x, int count, Parts& at) {
    Vector near;
    at.x = {x};
    for (int k = 1; k < count; ++k) {
        trajectory::Trajectory motion;
        const double length = at.duration / count;
        try {
            motion = p.map.motion(at.t + (k - 1) * length, at.x.back(), length);
        } catch (const Error&) {
            return false;
        }
        if (motion.status != trajectory::Status::completed) return false;
        if (k == 1) near = sizes(motion);
        const Vector end = vector_of(motion.end);
        const bool left = (end.cwiseAbs().array() > far_away * near.array()).any();
        at.x.push_back(left ? x : end);
    }
    return true;
}

void append(trajectory::Trajectory& all, trajectory::Trajectory part) {
    all.arcs.insert(all.arcs.end(), std::make_move_iterator(part.arcs.begin()),
                    std::make_move_iterator(part.arcs.end()));
    all.events.insert(all.events.end(), std::make_move_iterator(part.events.begin()),
                      std::make_move_iterator(part.events.end()));
    all.end = std::move(part.end);
    all.forces = std::move(part.forces);
    all.energy.final = part.energy.final;
    all.violation.gap = std::max(all.violation.gap, part.violation.gap);
    all.violation.constraint = std::max(all.violation.constraint, part.violation.constraint);
    all.events_certain = all.events_certain && part.events_certain;
    if (all.status == trajectory::Status::completed && part.status != trajectory::Status::completed)
        all.status = part.status, all.reason = std::move(part.reason);
}

}  // namespace

PartsSolution solve_in_parts(const PartsProblem& p, double t, const Vector& x, double duration, int count) {
    PartsSolution out;
    out.parts.t = t;
    out.parts.duration = duration;
    if (!guess_parts(p, x, count, out.parts)) {
        out.failure = "the motion from the guess ended early";
        return out;
    }
    out.failure = evaluate_parts(p, out.parts);
    if (!out.failure.empty()) return out;
    Vector F = defects(out.parts);
    double residual = F.cwiseAbs().maxCoeff();
    out.residuals = {residual};
    for (int k = 0; k < p.max_iterations && residual > parts_rounding * growth_of_parts(out.parts); ++k) {
        if (p.interrupted && p.interrupted()) break;
        const Vector step = newton_step(p, out.parts, F);
        if (!step.allFinite()) break;
        bool better = false;
        double fraction = 1.0;
        for (int halving = 0; halving <= max_parts_halvings && !better; ++halving, fraction *= 0.5) {
            Parts next = corrected(p, out.parts, step, fraction);
            if (!(next.duration > 0.0) || !evaluate_parts(p, next).empty()) continue;
            const Vector there = defects(next);
            if (!(there.cwiseAbs().maxCoeff() < residual)) continue;
            better = true;
            out.parts = std::move(next);
            F = there;
            residual = F.cwiseAbs().maxCoeff();
        }
        if (!better) break;
        out.residuals.push_back(residual);
    }
    if (!(residual <= p.accepted))
        out.failure =
            "Newton's method in " + std::to_string(count) + " parts stopped at the residual " + number_text(residual);
    return out;
}

trajectory::Trajectory joined_motion(const PartsProblem& p, const Parts& parts) {
    trajectory::Trajectory all = parts.r.front().motion;
    for (std::size_t k = 1; k < parts.r.size(); ++k) append(all, parts.r[k].motion);
    if (p.symmetry)
        for (std::size_t k = 0; k < parts.x.size(); ++k)
            append(all, p.map.motion(parts.duration + parts.start_of(k), (*p.symmetry)(parts.x[k]), parts.length()));
    return all;
}

Multipliers multipliers_of(const Parts& parts, bool autonomous) {
    const Eigen::Index n = parts.size.size();
    const auto count = static_cast<Eigen::Index>(parts.r.size());
    Matrix cyclic = Matrix::Zero(n * count, n * count);
    for (Eigen::Index k = 0; k < count; ++k)
        cyclic.block(((k + 1) % count) * n, k * n, n, n) = parts.size.cwiseInverse().asDiagonal() *
                                                           parts.r[static_cast<std::size_t>(k)].slope *
                                                           parts.size.asDiagonal();
    std::vector<std::complex<double>> powers;
    for (const std::complex<double>& lambda : eigenvalues(cyclic)) {
        std::complex<double> power = 1.0;
        for (Eigen::Index k = 0; k < count; ++k) power *= lambda;
        powers.push_back(power);
    }
    // Every multiplier appears `count` times. The largest is taken first, with those that are nearest to it.
    std::vector<std::complex<double>> values;
    while (!powers.empty()) {
        const std::complex<double> largest = *std::max_element(
            powers.begin(), powers.end(), [](const auto& a, const auto& b) { return std::abs(a) < std::abs(b); });
        std::stable_sort(powers.begin(), powers.end(),
                         [&](const auto& a, const auto& b) { return std::abs(a - largest) < std::abs(b - largest); });
        const auto take = std::min(static_cast<std::ptrdiff_t>(count), static_cast<std::ptrdiff_t>(powers.size()));
        std::complex<double> mean = 0.0;
        for (auto m = powers.begin(); m != powers.begin() + take; ++m) mean += *m / static_cast<double>(take);
        if (std::abs(mean.imag()) <= 1e-9 * std::abs(mean)) mean = mean.real();
        values.push_back(mean);
        powers.erase(powers.begin(), powers.begin() + take);
    }
    return judged(std::move(values), autonomous, 0.0);
}

bool parts_repeat(const PartsProblem& p, const Parts& parts, double later) {
    for (std::size_t k = 0; k < parts.x.size(); ++k) {
        const trajectory::Trajectory again = p.map.motion(parts.start_of(k) + later, parts.x[k], parts.length());
        const trajectory::Trajectory& motion = parts.r[k].motion;
        if (again.status != trajectory::Status::completed || again.events.size() != motion.events.size()) return false;
        const Vector difference = vector_of(again.end) - vector_of(motion.end);
        if (difference.cwiseAbs().cwiseQuotient(parts.size).maxCoeff() > equal_parts) return false;
    }
    return true;
}

}  // namespace saltus::orbit
