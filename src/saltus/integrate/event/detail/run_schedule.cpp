// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "saltus/base/index.hpp"
#include "saltus/base/linalg.hpp"
#include "saltus/integrate/event/detail/run.hpp"
#include "saltus/model/mechanics.hpp"

// Motions with a given order of events (scheduled.hpp). The arcs are those of EventRun, with nothing to watch: the next
// event is the end of the present stretch, as a sample of a control is (stretch_end).

namespace saltus::integrate {

using trajectory::ElementKind;

void EventRun::begin_schedule(double from, std::span<const double> x) {
    t_ = from;
    const auto n = static_cast<std::ptrdiff_t>(d_.size());
    std::copy(x.begin(), x.begin() + 2 * n, x_.begin());
    out_.start = {t_, {x.begin(), x.begin() + n}, {x.begin() + n, x.begin() + 2 * n}};
    accuracy_.start(out_.start.q, d_.energy(t_, x_.data()));
}

bool EventRun::enter(const SystemMode& mode, double t, std::span<const double> x) {
    t_ = t;
    std::copy(x.begin(), x.begin() + 2 * static_cast<std::ptrdiff_t>(d_.size()), x_.begin());
    d_.set_mode(mode, t_, x_.data());
    if (d_.equation_rows().empty() || d_.project(t_, x_.data())) return true;
    fail("the state cannot be moved onto the closed contacts and constraints" + at_time());
    return false;
}

bool EventRun::follow(double end, std::vector<RecordedArc>& arcs) {
    arcs.clear();
    recording_.pieces.clear();
    x_[ix(2 * d_.size())] = 0.0;  // the work is not needed
    d_.evaluate_terms(t_, x_.data());
    d_.turn_slip(d_.followed_mode());
    next_sample_ = end;
    next_step_ = ode::automatic_step;
    mode_kept_ = false;
    mode_began_ = t_;
    while (!ended_ && t_ < end) {
        switch (arc()) {
            case ArcEnd::finished:
                if (!ended_ && t_ < end) fail("interrupted" + at_time());
                break;
            case ArcEnd::same_mode: break;
            case ArcEnd::corner: fail("the velocity of a row jumps at a corner of its formula" + at_time()); break;
            case ArcEnd::events:
            case ArcEnd::violated:
            case ArcEnd::no_step: fail("the mode cannot be continued" + at_time()); break;
        }
    }
    if (ended_) return false;
    for (RecordedPiece& piece : recording_.pieces)
        if (auto* const arc = std::get_if<RecordedArc>(&piece); arc != nullptr && !arc->steps.empty())
            arcs.push_back(std::move(*arc));
    recording_.pieces.clear();
    return true;
}

bool EventRun::apply(const ScheduledEvent& event, double t, std::span<const double> x,
                     std::vector<RecordedChange>& changes) {
    t_ = t;
    const auto n = ix(d_.size());
    std::copy(x.begin(), x.begin() + 2 * static_cast<std::ptrdiff_t>(n), x_.begin());
    x_[2 * n] = 0.0;
    changes.clear();
    for (const RecordedChange& like : event.changes) {
        RecordedChange& made = changes.emplace_back();
        made.t = t_;
        made.first = like.first;
        made.unavoidable = like.unavoidable;
        made.jump = like.jump;
        made.impact_follows = like.impact_follows;
        made.found = like.found;
        made.rest = like.rest;
        made.mode_before = like.mode_before;
        made.mode_after = like.mode_after;
        made.before = x_;
        d_.set_mode(like.mode_before, t_, x_.data());
        if (like.jump >= 0) {
            const model::Jump& jump = model_.jumps[ix(like.jump)];
            d_.evaluate_terms(t_, x_.data());
            const std::vector<double> values(d_.coefficients().begin(), d_.coefficients().end());
            for (const model::JumpValue& v : jump.q) x_[ix(v.coordinate)] = values[ix(v.value)];
            for (const model::JumpValue& v : jump.u) x_[n + ix(v.coordinate)] = values[ix(v.value)];
        }
        for (const RecordedImpact& impact : like.impacts)
            if (!strike_as(impact, made.impacts.emplace_back())) return false;
        d_.set_mode(like.mode_after, t_, x_.data());
        const bool rests = !like.rest.empty();
        if (!like.impact_follows && !d_.equation_rows().empty() &&
            ((rests && !d_.project_along_forces(t_, x_.data())) || !d_.project(t_, x_.data()))) {
            fail("the state after an event cannot be moved onto the closed contacts and constraints" + at_time());
            return false;
        }
        made.after = x_;
        if (std::any_of(x_.begin(), x_.end(), [](double v) { return !std::isfinite(v); })) {
            fail("the state after an event is not finite" + at_time());
            return false;
        }
    }
    return true;
}

bool EventRun::graze(int contact, const SystemMode& mode, double t, std::span<const double> x, double approach,
                     RecordedChange& out) {
    t_ = t;
    const int n = d_.size();
    std::copy(x.begin(), x.begin() + 2 * static_cast<std::ptrdiff_t>(n), x_.begin());
    out.t = t;
    out.found = {{Watch::What::gap, contact}};
    out.before = x_;
    d_.set_mode(mode, t_, x_.data());
    d_.evaluate_terms(t_, x_.data());
    if (!d_.factorise_mass()) return false;
    const int row = d_.elements()[ix(contact)].rows.normal;
    const model::Pattern& W = model_.layout().rows;
    std::vector<double> column(ix(n), 0.0);
    for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e) column[ix(W.column[ix(e)])] += d_.terms().W[ix(e)];
    d_.mass().solve(column);
    const double response = model::row_dot(W, d_.terms().W, row, column);
    if (!(response > 0.0)) return false;
    const double change = (d_.row_velocity(row) + approach) / response;  // then γ_N = −approach
    for (int i = 0; i < n; ++i) x_[ix(n + i)] -= change * column[ix(i)];
    Candidates& candidates = candidates_;
    clear_candidates(d_, candidates);
    for (std::size_t i = 0; i < d_.elements().size(); ++i)
        if (d_.elements()[i].rows.kind == ElementKind::contact && mode.elements[i].active) candidates.closed[i] = 1;
    candidates.closed[ix(contact)] = 1;
    d_.evaluate_terms(t_, x_.data());
    const Strike& strike = change_.strike(t_, x_.data(), candidates);
    if (strike.failed || !strike.happened) return false;
    change_record_.emplace();
    record_impact(false, strike);
    out.impacts = std::move(change_record_->impacts);
    change_record_.reset();
    out.mode_before = out.mode_after = RecordedMode(mode);
    out.after = out.before;
    return true;
}

/// The impact of the same contacts as in `like`. The velocities of the state become those after it.
bool EventRun::strike_as(const RecordedImpact& like, RecordedImpact& out) {
    if (!like.decided.empty()) return strike_as_decided(like, out);
    Candidates& candidates = candidates_;
    clear_candidates(d_, candidates);
    for (const int element : like.owner) {
        const ElementKind kind = d_.elements()[ix(element)].rows.kind;
        if (kind == ElementKind::contact || kind == ElementKind::clutch) candidates.closed[ix(element)] = 1;
    }
    d_.evaluate_terms(t_, x_.data());
    const Strike& strike = change_.strike(t_, x_.data(), candidates);
    if (strike.failed || !strike.happened) {
        fail("the contacts of an impact do not approach each other" + at_time());
        return false;
    }
    change_record_.emplace();
    record_impact(false, strike);
    out = std::move(change_record_->impacts.back());
    change_record_.reset();
    return true;
}

/// Newton's law with given contact modes. With D = W M⁻¹Wᵀ, the velocities after the impact are γ⁺ = γ⁻ + D Λ, and each
/// row gives one linear equation:
///     holds, restitutes    (D Λ)_k = −(1 + e_k) γ_k⁻           from γ⁺ + e γ⁻ = 0
///     separates            Λ_k = 0
///     slips                Λ_k + s μ |Λ_N| = 0                 with the given direction s = ±1 of slip
/// So u⁺ = u⁻ + M⁻¹Wᵀ Λ is defined, and smooth, for velocities γ⁻ of either sign.
bool EventRun::strike_as_decided(const RecordedImpact& like, RecordedImpact& out) {
    const auto m = static_cast<Eigen::Index>(like.rows.size());
    const int n = d_.size();
    const model::Pattern& W = model_.layout().rows;
    d_.evaluate_terms(t_, x_.data());
    if (!d_.factorise_mass()) {
        fail("the mass matrix is singular" + at_time());
        return false;
    }
    Matrix columns = Matrix::Zero(n, m), D(m, m);
    for (Eigen::Index k = 0; k < m; ++k) {
        const auto row = ix(like.rows[ix(k)]);
        for (int e = W.start[row]; e < W.start[row + 1]; ++e) columns(W.column[ix(e)], k) += d_.terms().W[ix(e)];
        d_.mass().solve({columns.col(k).data(), ix(n)});
    }
    for (Eigen::Index i = 0; i < m; ++i)
        for (Eigen::Index k = 0; k < m; ++k)
            D(i, k) = model::row_dot(W, d_.terms().W, like.rows[ix(i)], {columns.col(k).data(), ix(n)});
    out = like;
    Matrix S = Matrix::Zero(m, m);
    Vector right = Vector::Zero(m);
    for (std::size_t b = 0; b + 1 < like.start.size(); ++b) {
        const ElementLayout& element = d_.elements()[ix(like.owner[b])];
        const bool contact = element.rows.kind == ElementKind::contact;
        const model::Contact* const law = contact ? &model_.contacts[ix(element.rows.index)] : nullptr;
        for (Eigen::Index k = like.start[b]; k < like.start[b + 1]; ++k) {
            const int row = like.rows[ix(k)];
            const double gamma = d_.row_velocity(row);
            double& e = out.e[ix(k)];
            if (like.decided[ix(k)] == RowDecision::restitutes && law != nullptr) {
                if (law->c != model::no_coefficient)
                    e = std::max(0.0, 1.0 + d_.coefficients()[ix(law->c)] * gamma);
                else if (law->e_n != model::no_coefficient)
                    e = d_.coefficients()[ix(law->e_n)];
            } else if (law != nullptr && row != element.rows.normal && law->e_t != model::no_coefficient) {
                e = d_.coefficients()[ix(law->e_t)];
            }
            switch (like.decided[ix(k)]) {
                case RowDecision::separates: S(k, k) = 1.0; break;
                case RowDecision::holds:
                case RowDecision::restitutes:
                    S.row(k) = D.row(k);
                    right(k) = -(1.0 + e) * gamma;
                    break;
                case RowDecision::slips_up:
                case RowDecision::slips_down: {
                    const double side = like.decided[ix(k)] == RowDecision::slips_up ? 1.0 : -1.0;
                    const bool scaled = like.laws[b].kind == solvers::LawKind::scaled_slider;
                    const Eigen::Index normal = scaled ? like.laws[b].row : like.start[b];
                    const double sign = scaled && like.Lambda[ix(normal)] < 0.0 ? -1.0 : 1.0;
                    S(k, k) = 1.0;
                    for (const int p : element.part_numbers())
                        if (d_.parts()[ix(p)].row == row) S(k, normal) = side * sign * d_.parts()[ix(p)].mu;
                    break;
                }
            }
        }
    }
    const Vector Lambda = m == 1 ? Vector(right / S(0, 0)) : least_squares(S, right);
    const Vector jump = columns * Lambda;
    out.u_minus.assign(x_.data() + n, x_.data() + 2 * n);
    for (int i = 0; i < n; ++i) x_[ix(n + i)] += jump(i);
    out.u_plus.assign(x_.data() + n, x_.data() + 2 * n);
    out.Lambda.assign(Lambda.data(), Lambda.data() + m);
    return true;
}

}  // namespace saltus::integrate
