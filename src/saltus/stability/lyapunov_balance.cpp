// SPDX-License-Identifier: Apache-2.0
//
// [Leine] (69): dV = u·f^nc dt + γ·λ dt + ½(γ⁺ + γ⁻)·Λ dη. With γ = Wᵀu + χ a force λ of a row has the power λ γ in its
// contact. The motion receives λ Wᵀu = λ γ − λ χ: the part −λ χ is the work of the moving obstacle ("driven").
#include "saltus/stability/lyapunov_balance.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "saltus/base/gauss.hpp"
#include "saltus/base/index.hpp"
#include "saltus/impact/frictional.hpp"
#include "saltus/integrate/mode/dynamics.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::stability {

namespace {

using integrate::Dynamics;
using integrate::RecordedArc;
using integrate::RecordedChange;
using integrate::RecordedImpact;
using trajectory::ElementKind;
using trajectory::Event;
using trajectory::EventKind;
using trajectory::LyapunovBalance;

/// Avoids a division by zero if all energies vanish (in the energy unit of the model).
constexpr double smallest_energy_scale = 1e-12;

/// So many rows of an event-driven motion show the course of V inside the steps, too. Later rows are at the ends of
/// steps and at impacts only, because a long motion would need most of its memory on the disk for them (16 rows for
/// each step that is a Taylor series). The errors are measured at all rows, stored or not.
constexpr std::size_t max_fine_rows = 100'000;

/// Powers, or works. The first five are taken from the motion, the last two are supplied to it.
struct Parts {
    double damping = 0.0, friction = 0.0, springs = 0.0, impact_friction = 0.0, impact_restitution = 0.0;
    double applied = 0.0, driven = 0.0;

    void add(const Parts& p, double weight) {
        damping += weight * p.damping;
        friction += weight * p.friction;
        springs += weight * p.springs;
        applied += weight * p.applied;
        driven += weight * p.driven;
    }
    double supplied() const { return applied + driven; }
    double change() const { return supplied() - damping - friction - springs - impact_friction - impact_restitution; }
};

/// Follows a motion, part by part, and sums up the works.
class Balancer {
public:
    Balancer(const model::Mechanics& model, bool compliant, double stiffness)
        : model_(model), compliant_(compliant), d_(model, compliant, stiffness), x_(ix(d_.state_size()), 0.0) {}

    /// The pieces of an event-driven motion. `events` are those that the pieces refer to; the first one has the number
    /// `first_event`. `continues`: the first piece is the rest of the last arc.
    void follow(const trajectory::State& start, std::span<const integrate::RecordedPiece> pieces,
                std::span<const Event> events, std::size_t first_event, bool continues) {
        if (!begun_) {
            std::copy(start.q.begin(), start.q.end(), x_.begin());
            std::copy(start.u.begin(), start.u.end(), x_.begin() + d_.size());
            row(start.t, energy(start.t, x_));
        }
        for (const auto& piece : pieces) {
            if (const auto* const arc = std::get_if<RecordedArc>(&piece)) {
                if (!continues) left_out_ = in_accumulation_;
                // The arc to the limit of an accumulation belongs to the energy change of the accumulation.
                if (!left_out_) follow(*arc, continues);
                in_accumulation_ = false;
            } else {
                const auto& change = std::get<RecordedChange>(piece);
                pass(change, events, first_event);
                in_accumulation_ = !change.rest.empty() && change.limit > change.t;
            }
            continues = false;
        }
    }

    /// Time-stepping: the works are recorded with the steps.
    void follow(std::span<const integrate::RecordedStep> steps) {
        for (const integrate::RecordedStep& step : steps) {
            largest_ = std::max(largest_, step.size);
            sum_.damping += step.works.damping;
            sum_.friction += step.works.friction;
            sum_.impact_friction += step.works.impact_friction;
            sum_.impact_restitution += step.works.impact_restitution;
            sum_.applied += step.works.applied;
            sum_.driven += step.works.driven;
            row(step.t, step.V);
        }
    }

    /// From now on the works of each element are summed up, too.
    void follow_elements() {
        works_.assign(d_.elements().size(), {});
        powers_.assign(works_.size(), {});
        owner_.assign(ix(model_.layout().row_count()), -1);
        for (std::size_t k = 0; k < works_.size(); ++k) {
            const integrate::ElementRows& rows = d_.elements()[k].rows;
            if (rows.normal >= 0) owner_[ix(rows.normal)] = static_cast<int>(k);
            for (int r = 0; r < rows.slips; ++r) owner_[ix(rows.first_slip + r)] = static_cast<int>(k);
        }
    }
    const std::vector<ElementWork>& element_works() const { return works_; }

    /// The rows since the last call, without the errors.
    LyapunovBalance take_rows() { return std::exchange(out_, {}); }

    /// The first and the last row.
    LyapunovBalance ends() const {
        LyapunovBalance out;
        if (!begun_) return out;
        append(first_, out);
        append(last_, out);
        set_errors(out);
        return out;
    }

    /// The largest error of the balance, and the largest increase of V that no supplied work explains, both relative to
    /// the largest energy.
    void set_errors(LyapunovBalance& out) const {
        const double scale = std::max(largest_, smallest_energy_scale);
        out.error = error_ / scale;
        out.largest_increase = largest_increase_ / scale;
    }

private:
    /// One time, V, and the works so far.
    struct Row {
        double t = 0.0, V = 0.0;
        Parts parts;
    };

    static void append(const Row& row, LyapunovBalance& out) {
        out.t.push_back(row.t);
        out.V.push_back(row.V);
        out.damping.push_back(row.parts.damping);
        out.friction.push_back(row.parts.friction);
        out.springs.push_back(row.parts.springs);
        out.impact_friction.push_back(row.parts.impact_friction);
        out.impact_restitution.push_back(row.parts.impact_restitution);
        out.applied.push_back(row.parts.applied);
        out.driven.push_back(row.parts.driven);
    }

    /// V at a state; also updates the largest energy.
    double energy(double t, const std::vector<double>& x) {
        const model::Energy e = d_.energy(t, x.data());
        largest_ = std::max({largest_, std::abs(e.kinetic), std::abs(e.potential)});
        return e.kinetic + e.potential;
    }

    /// Judges the balance up to here. Appends V and the works so far, if `needed` or if there are few rows yet.
    void row(double t, double V, bool needed = true) {
        const Row before = last_;
        last_ = {t, V, sum_};
        if (needed || rows_ < max_fine_rows) {
            append(last_, out_);
            ++rows_;
        }
        if (!std::exchange(begun_, true)) {
            first_ = last_;
            return;
        }
        error_ = std::max(error_, std::abs(V - first_.V - sum_.change()));
        const double supplied = std::max(0.0, sum_.applied - before.parts.applied) +
                                std::max(0.0, sum_.driven - before.parts.driven) +
                                std::max(0.0, before.parts.springs - sum_.springs);
        largest_increase_ = std::max(largest_increase_, V - before.V - supplied);
    }

    /// Nothing but conservative forces does work in this mode.
    bool conservative(const RecordedArc& arc) const {
        if (model_.layout().powered || !model_.scleronomic || compliant_) return false;
        for (std::size_t i = 0; i < arc.mode->elements.size(); ++i)
            if (arc.mode->elements[i].active && d_.elements()[i].parts > 0) return false;  // it may stick to a belt
        return true;
    }

    /// The powers at a state. False: the dynamics have no solution there.
    bool powers(double t, const std::vector<double>& x, Parts& out) {
        if (!d_.evaluate(t, x.data())) return false;
        if (model_.layout().powered) {
            const model::Energy e = d_.energy(t, x.data());
            out.damping = e.damping;
            out.applied = e.applied;
        }
        powers_.assign(works_.size(), {});
        // The mean friction of sliders is one of the forces f of the model, but it is friction.
        for (const model::MeanFriction& m : model_.mean_friction) {
            const double power = integrate::coefficient(d_.coefficients(), m.mean) *
                                 d_.row_velocity(model_.sliders[m.slider].friction.first_row);
            out.applied -= power;
            out.friction -= power;
            if (ElementWork* const of = share(powers_, model_.sliders[m.slider].friction.first_row)) of->taken -= power;
        }
        const std::span<const double> lambda = d_.reactions();
        for (std::size_t r = 0; r < lambda.size(); ++r) {
            if (lambda[r] == 0.0) continue;
            const double gamma = d_.row_velocity(static_cast<int>(r)), chi = d_.terms().chi[r];
            const bool normal = static_cast<int>(r) < model_.layout().positions() || is_clutch(static_cast<int>(r));
            (normal ? out.springs : out.friction) -= lambda[r] * gamma;
            out.driven -= lambda[r] * chi;
            if (ElementWork* const of = share(powers_, static_cast<int>(r))) {
                of->taken -= lambda[r] * gamma;
                of->driven -= lambda[r] * chi;
            }
        }
        return true;
    }

    /// The entry of the element that a row belongs to; null if elements are not followed.
    ElementWork* share(std::vector<ElementWork>& list, int row) const {
        return list.empty() || owner_[ix(row)] < 0 ? nullptr : &list[ix(owner_[ix(row)])];
    }

    /// The works of one impact by element: ½(γ⁺ + γ⁻)Λ of its rows, and −χΛ of moving obstacles.
    void share_impact(const Event& e, const RecordedImpact& impact) {
        if (works_.empty() || impact.Lambda.size() != impact.rows.size()) return;
        std::copy(e.q.begin(), e.q.end(), x_.begin());
        for (const ShortVector<double, 4>* const u : {&impact.u_minus, &impact.u_plus}) {
            std::copy(u->begin(), u->end(), x_.begin() + d_.size());
            d_.evaluate_terms(e.t, x_.data());
            for (std::size_t r = 0; r < impact.rows.size(); ++r)
                if (ElementWork* const of = share(works_, impact.rows[r])) {
                    of->taken -= 0.5 * d_.row_velocity(impact.rows[r]) * impact.Lambda[r];
                    of->driven -= 0.5 * d_.terms().chi[ix(impact.rows[r])] * impact.Lambda[r];
                }
        }
    }

    bool is_clutch(int row) const {
        return std::any_of(model_.clutches.begin(), model_.clutches.end(),
                           [row](const model::Clutch& c) { return c.row == row; });
    }

    /// Integrates the powers along an arc, step by step. `continues`: the steps are the rest of an arc.
    void follow(const RecordedArc& arc, bool continues) {
        if (arc.steps.empty()) return;
        const bool no_work = conservative(arc);
        if (!continues) {
            arc.steps.front().evaluate(arc.t_begin, x_.data());
            if (!no_work) d_.set_mode(arc.mode, arc.t_begin, x_.data());
        }
        for (const ode::Dense& step : arc.steps) {
            for (const auto [from, end] : ode::StepParts(step, arc.t_end)) {
                if (end <= arc.t_begin) continue;  // the first step of a continued motion may begin before the arc
                if (!no_work) integrate(step, std::max(from, arc.t_begin), end);
                step.evaluate(end, x_.data());
                row(end, energy(end, x_), end >= std::min(step.t_new(), arc.t_end));
                if (no_work) continue;
                d_.evaluate_terms(end, x_.data());
                d_.turn_slip(d_.followed_mode());
            }
        }
    }

    /// Adds the works of one step by Gauss's formula with seven nodes. It is exact for polynomials of degree 13, such
    /// as products of two of the polynomials of a step.
    void integrate(const ode::Dense& step, double begin, double end) {
        for (const auto& [t, dt] : gauss_points(gauss_seven_nodes, begin, end)) {
            step.evaluate(t, x_.data());
            Parts p;
            if (!powers(t, x_, p)) continue;
            sum_.add(p, dt);
            for (std::size_t k = 0; k < works_.size(); ++k) {
                works_[k].taken += dt * powers_[k].taken;
                works_[k].driven += dt * powers_[k].driven;
            }
        }
    }

    /// Adds the works of the impacts and accumulations of one change of mode.
    void pass(const RecordedChange& change, std::span<const Event> events, std::size_t first_event) {
        std::size_t impact = 0;
        for (std::size_t k = std::max(change.events_from, first_event);
             k < change.events_to && k - first_event < events.size(); ++k) {
            const Event& e = events[k - first_event];
            if (e.kind == EventKind::accumulation) {
                row(last_.t, e.energy_before);
                sum_.impact_restitution += e.energy_before - e.energy_after;
                if (!works_.empty() && e.elements.size() == 1)
                    works_[ix(e.elements[0])].taken += e.energy_before - e.energy_after;
                row(e.t, e.energy_after);
            } else if (e.kind == EventKind::jump) {
                row(e.t, e.energy_before, last_.t != e.t);
                sum_.driven += e.energy_after - e.energy_before;
                row(e.t, e.energy_after);
            } else if (!e.impulses.empty()) {
                row(e.t, e.energy_before, last_.t != e.t);  // the step that ends here has a row already
                const RecordedImpact* const solved = impact < change.impacts.size() ? &change.impacts[impact] : nullptr;
                ++impact;
                const double friction = solved != nullptr ? friction_of(e, *solved) : -e.audit.tangential;
                sum_.impact_friction += friction;
                sum_.impact_restitution += -e.work - friction;
                sum_.driven += e.audit.obstacle_work;
                if (solved != nullptr) share_impact(e, *solved);
                row(e.t, e.energy_after);
            }
            largest_ = std::max({largest_, std::abs(e.energy_before), std::abs(e.energy_after)});
        }
    }

    /// The energy that friction takes in an impact. Newton's law: D^ΛT = −Σ ξ_T·Λ_T/(1 + e_T) with ξ = γ⁺ + e γ⁻,
    /// [Leine] (70), (71). Other laws have no ξ: the tangential work ½(γ⁺ + γ⁻)·Λ_T is used.
    double friction_of(const Event& e, const RecordedImpact& impact) {
        if (impact.jam || impact.repaired || impact.law != impact::ImpactLaw::newton) return -e.audit.tangential;
        std::vector<double> before(impact.rows.size());
        std::copy(e.q.begin(), e.q.end(), x_.begin());
        std::copy(impact.u_minus.begin(), impact.u_minus.end(), x_.begin() + d_.size());
        d_.evaluate_terms(e.t, x_.data());
        for (std::size_t r = 0; r < before.size(); ++r) before[r] = d_.row_velocity(impact.rows[r]);
        std::copy(impact.u_plus.begin(), impact.u_plus.end(), x_.begin() + d_.size());
        d_.evaluate_terms(e.t, x_.data());
        double taken = 0.0;
        for (std::size_t b = 0; b < impact.laws.size(); ++b)
            for (int r = impact.start[b]; r < impact.start[b + 1]; ++r) {
                if (impact::row_kind(impact.laws[b], r - impact.start[b]) != impact::RowKind::tangential) continue;
                const double restitution = impact.e[ix(r)];
                const double xi = d_.row_velocity(impact.rows[ix(r)]) + restitution * before[ix(r)];
                taken -= xi * impact.Lambda[ix(r)] / (1.0 + restitution);
            }
        return taken;
    }

    const model::Mechanics& model_;
    const bool compliant_;
    Dynamics d_;
    std::vector<double> x_;
    Parts sum_;
    std::vector<ElementWork> works_, powers_;  // by element, and at the present state; empty: not followed
    std::vector<int> owner_;                   // element of each row
    LyapunovBalance out_;                      // rows that were not taken yet
    std::size_t rows_ = 0;                     // that were appended
    Row first_, last_;
    bool begun_ = false;                           // there is a row
    bool in_accumulation_ = false;                 // the next arc leads to the limit of an accumulation
    bool left_out_ = false;                        // the present arc does
    double largest_ = 0.0;                         // largest |T|, |U| of the motion
    double error_ = 0.0, largest_increase_ = 0.0;  // see LyapunovBalance, in J
};

}  // namespace

LyapunovBalance lyapunov_balance(const model::Mechanics& model, const trajectory::Trajectory& trajectory,
                                 const integrate::Recording& recording) {
    Balancer balancer(model, recording.compliant, recording.stiffness);
    if (recording.steps.empty())
        balancer.follow(trajectory.start, recording.pieces, trajectory.events, 0, false);
    else
        balancer.follow(recording.steps);
    LyapunovBalance out = balancer.take_rows();
    balancer.set_errors(out);
    return out;
}

ElementBalance balance_by_elements(const model::Mechanics& model, const trajectory::Trajectory& trajectory,
                                   const integrate::Recording& recording) {
    Balancer balancer(model, recording.compliant, recording.stiffness);
    balancer.follow_elements();
    balancer.follow(trajectory.start, recording.pieces, trajectory.events, 0, false);
    ElementBalance out{balancer.take_rows(), balancer.element_works()};
    balancer.set_errors(out.balance);
    return out;
}

struct LyapunovAccount::Work {
    std::optional<Balancer> balancer;  // made with the first part
};

LyapunovAccount::LyapunovAccount(const model::Mechanics& model) : model_(model), work_(std::make_unique<Work>()) {}
LyapunovAccount::~LyapunovAccount() = default;

LyapunovBalance LyapunovAccount::add(const integrate::MotionPart& part) {
    const integrate::Recording& recording = part.recording;
    if (!work_->balancer) {
        work_->balancer.emplace(model_, recording.compliant, recording.stiffness);
        stepped_ = !recording.steps.empty();
    }
    if (stepped_)
        work_->balancer->follow(recording.steps);
    else
        work_->balancer->follow(part.start, recording.pieces, part.events, part.first_event, part.continues_arc);
    return work_->balancer->take_rows();
}

LyapunovBalance LyapunovAccount::ends() const { return work_->balancer ? work_->balancer->ends() : LyapunovBalance{}; }

}  // namespace saltus::stability
