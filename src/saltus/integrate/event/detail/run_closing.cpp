// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/integrate/event/detail/run.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"

// Impacts that come ever faster because bodies close in on each other: a ball in a wedge that becomes narrow, or two
// walls that approach. The intervals have a finite sum, because the gaps shrink. The speeds need not go to zero with
// them. Near the limit the positions, the time and so all w and χ are constant, and forces have no effect. What is left
// is a sequence of impacts between which the gaps change linearly:
//     τ = min_i g_i/(−γ_i),   g_i ← g_i + τ γ_i,   impact of the contacts with g_i = 0.
// The gaps are variables of their own here, so that they can shrink below the rounding errors of the positions. The
// sequence has one of three ends: the velocities of the contacts converge to zero, the contacts separate, or the speeds
// do not go to zero. In the third case the bodies jam: no velocities are admissible at the limit, or the impacts do not
// lead to them.

namespace saltus::integrate {

using trajectory::ElementKind;
using trajectory::EventKind;

namespace {

/// Gaps below this size, in m, are all multiplied by its inverse: only their ratios matter.
constexpr double smallest_gap = 1e-100;
/// Contacts strike together if their times differ by less than this part. It is above the rounding error of a quotient.
constexpr double same_time = 1e-12;
/// A contact that separates after an impact is at rest if its velocity is <= rebound_factor · (velocity that counts as
/// zero) and none approaches: another contact with a larger unit of velocity may be below its own zero already. Too
/// small: such a sequence counts as one that separates. Too large: a visible rebound is removed.
constexpr double rebound_factor = 100.0;

/// A contact in such a sequence.
struct ClosingContact {
    int element = 0, row = 0;
    double gap = 0.0;      ///< in m, but see smallest_gap
    double gamma = 0.0;    ///< γ_N, in m/s
    double zero = 0.0;     ///< velocities up to this one count as zero, in m/s
    bool strikes = false;  ///< it has struck
};

}  // namespace

EventRun::ClosingImpacts EventRun::closing_impacts(const Accumulation::Limit& limit, const Strike& last,
                                                   const SystemMode& known, double motion) {
    using End = ClosingImpacts::End;
    ClosingImpacts result;
    const auto contains = [](const std::vector<int>& list, int element) {
        return std::find(list.begin(), list.end(), element) != list.end();
    };
    std::vector<double> x = x_;
    std::vector<ClosingContact> contacts;
    d_.evaluate_terms(t_, x.data());
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementRows& rows = d_.elements()[i].rows;
        if (rows.kind != ElementKind::contact || !known.elements[i].exists) continue;
        ClosingContact contact;
        contact.element = static_cast<int>(i);
        contact.row = rows.normal;
        const double position = d_.terms().positions[ix(rows.normal)];
        const double touching = Thresholds::closed_gap_at_event * d_.position_scale(rows.normal, x.data());
        const bool closed = known.elements[i].active || contains(last.elements, contact.element);
        const bool near =
            closed || contains(limit.elements, contact.element) || position <= Thresholds::companion_factor * motion;
        if (!near) continue;
        contact.gap = closed || position <= epsilon * touching ? 0.0 : position;
        contacts.push_back(contact);
    }
    const auto renew_velocities = [&] {
        d_.evaluate_velocities(t_, x.data());
        const std::span<const double> u(x.data() + d_.size(), ix(d_.size()));
        for (ClosingContact& c : contacts) {
            c.gamma = d_.row_velocity(c.row);
            c.zero = Thresholds::slow_closing_speed * model::row_scale(model_.layout().rows, d_.terms().W, c.row, u);
        }
    };
    double time_left = Thresholds::closing_time_factor * (limit.t - t_);
    double fastest = 0.0, fastest_before = infinity;  // approach in this window and in the one before, in m/s
    renew_velocities();
    for (int k = 1; k <= Thresholds::max_closing_impacts; ++k) {
        double tau = infinity;
        for (const ClosingContact& c : contacts)
            if (c.gamma < -c.zero) tau = std::min(tau, c.gap / -c.gamma);
        if (!(tau <= time_left)) {
            result.end = End::separates;
            return result;
        }
        time_left -= tau;
        std::vector<int>& struck = result.impacts.emplace_back();
        double widest = 0.0;
        for (ClosingContact& c : contacts) {
            if (c.gamma < -c.zero && c.gap <= tau * -c.gamma * (1.0 + same_time)) {
                c.gap = 0.0;
                c.strikes = true;
                fastest = std::max(fastest, -c.gamma);
                struck.push_back(c.element);
            } else if (std::abs(c.gamma) > c.zero) {
                c.gap = std::max(0.0, c.gap + tau * c.gamma);
            } else if (c.gap == 0.0) {
                struck.push_back(c.element);  // it touches, and may pass the impulse on
            }
            widest = std::max(widest, c.gap);
        }
        if (widest < smallest_gap) {
            for (ClosingContact& c : contacts) c.gap /= smallest_gap;
            time_left /= smallest_gap;
        }
        Candidates candidates = no_candidates(d_);
        for (const int e : struck) candidates.closed[ix(e)] = 1;
        const Strike& strike = change_.strike(t_, x.data(), candidates);
        if (strike.failed) {
            result.end = End::fails;
            result.note = strike.note;
            return result;
        }
        renew_velocities();
        const bool rests = std::all_of(contacts.begin(), contacts.end(), [](const ClosingContact& c) {
            return c.gamma >= -c.zero && (!c.strikes || c.gamma <= rebound_factor * c.zero);
        });
        if (rests) {
            result.end = End::rests;
            for (const ClosingContact& c : contacts)
                if (c.strikes || (contains(limit.elements, c.element) && c.gamma <= c.zero))
                    result.elements.push_back(c.element);
            return result;
        }
        if (k % Thresholds::closing_window != 0) continue;
        if (fastest > Thresholds::closing_progress * fastest_before) break;
        fastest_before = fastest;
        fastest = 0.0;
    }
    result.end = End::jams;
    for (const ClosingContact& c : contacts)
        if (c.strikes) result.elements.push_back(c.element);
    return result;
}

/// Continues impacts that come ever faster without slowing down, until their contacts are at rest. The impacts become
/// events at the present time; the motion up to the limit is negligible. `limit` then has the contacts that rest. If
/// they separate then nothing has changed, and the run follows the impacts one by one. If they jam then the run fails.
EventRun::StrikeResult EventRun::strike_until_rest(Accumulation::Limit& limit, const Strike& last,
                                                   const SystemMode& known) {
    using End = ClosingImpacts::End;
    const ClosingImpacts closing = closing_impacts(limit, last, known, negligible_motion());
    d_.evaluate_terms(t_, x_.data());
    switch (closing.end) {
        case End::separates: return StrikeResult::struck;
        case End::fails:
            fail("the impacts of " + names_of(limit.elements, out_.elements) + " follow ever faster" + at_time() +
                 ", and one of them has no outcome: " + closing.note);
            return StrikeResult::ended;
        case End::jams:
            fail("the impacts of " + names_of(closing.elements, out_.elements) +
                 " follow ever faster and do not slow down" + at_time() +
                 ": the bodies jam, and no velocities after that are known");
            return StrikeResult::ended;
        case End::rests: break;
    }
    for (const std::vector<int>& elements : closing.impacts) {
        Candidates candidates = no_candidates(d_);
        for (const int e : elements) candidates.closed[ix(e)] = 1;
        const Strike& strike = change_.strike(t_, x_.data(), candidates);
        out_.statistics.worst_contact_residual = std::max(out_.statistics.worst_contact_residual, strike.residual);
        if (!strike.happened) continue;
        record_impact(false, strike);
        record_strike(strike, EventKind::impact, {t_, t_});
        if (ended_) return StrikeResult::ended;
        ++limit.impacts;
    }
    limit.elements = closing.elements;
    return StrikeResult::mode_entered;
}

}  // namespace saltus::integrate
