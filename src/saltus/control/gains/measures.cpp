// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/gains/measures.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/gauss.hpp"
#include "saltus/integrate/outputs.hpp"
#include "saltus/model/model.hpp"
#include "saltus/ode/roots.hpp"

namespace saltus::control {

using trajectory::EventKind;
using trajectory::Mode;
using trajectory::Trajectory;

namespace {

/// A motion has come to rest if its kinetic energy at the end is at most this part of the largest.
constexpr double resting_energy = 1e-6;
/// A motion starts at q_∞ if the squared initial distance is at most this part of the largest.
constexpr double negligible_distance2 = 1e-12;

void measure_impacts(const Trajectory& motion, int contacts, Measures& m) {
    for (const trajectory::Event& e : motion.events) {
        m.accumulations += e.kind == EventKind::accumulation ? 1 : 0;
        if (e.kind != EventKind::impact) continue;
        ++m.impacts;
        for (const trajectory::Reaction& r : e.impulses)
            if (r.element < contacts && r.N > m.peak_impulse) {
                m.peak_impulse = r.N;
                m.peak_contact = r.element;
            }
    }
}

/// ‖q − centre‖²_M with the mass matrix at the centre.
struct Distance {
    Matrix M;
    Vector centre;
    double squared(const double* q) const {
        const Vector d = Eigen::Map<const Vector>(q, centre.size()) - centre;
        return d.dot(M * d);
    }
};

Matrix mass_at(const model::Model& model, std::span<const double> q) {
    model::Workspace workspace(model);
    std::vector<double> M(model.layout().mass.size()), rest(q.size(), 0.0);
    model.system->mass(model::at(model, 0.0, q, rest), workspace.scratch(), M);
    return model::dense_symmetric(model.layout().mass, M);
}

/// Whether the motion is at rest at its end: kinetic energies, with the mass matrix at the end, are compared with the
/// largest at the ends of the steps.
bool at_rest(const model::Model& model, const Trajectory& motion) {
    const Matrix M = mass_at(model, motion.end.q);
    const auto n = static_cast<Eigen::Index>(motion.end.q.size());
    const auto energy = [&](const double* u) {
        const Eigen::Map<const Vector> v(u, n);
        return v.dot(M * v);
    };
    double largest = energy(motion.start.u.data());
    std::vector<double> x;
    for (const trajectory::Arc& arc : motion.arcs)
        for (const ode::Dense& step : arc.steps) {
            x.resize(static_cast<std::size_t>(step.size()));
            for (const ode::StepPart part : ode::StepParts(step, arc.t_end)) {
                step.evaluate(part.to, x.data());
                largest = std::max(largest, energy(x.data() + n));
            }
        }
    return energy(motion.end.u.data()) <= resting_energy * largest;
}

/// The settling time is the last root at which ‖q − q_∞‖²_M − band² · initial² becomes negative, searched backwards
/// from the end.
void measure_settling(const model::Model& model, const Trajectory& motion, double band, Measures& m) {
    Distance distance;
    if (m.steady.found) {
        distance.centre = Eigen::Map<const Vector>(m.steady.q.data(), model.size());
    } else if (at_rest(model, motion)) {
        distance.centre = Eigen::Map<const Vector>(motion.end.q.data(), model.size());
    } else {
        m.not_settled = "the motion does not come to rest by the end, and no steady state is known: " + m.steady.reason;
        return;
    }
    distance.M = mass_at(model, {distance.centre.data(), static_cast<std::size_t>(model.size())});
    std::vector<double> x(static_cast<std::size_t>(2 * model.size()));
    const auto at = [&](const ode::Dense& step, double t) {
        step.evaluate(t, x.data(), 2 * model.size());
        return distance.squared(x.data());
    };
    double initial = distance.squared(motion.start.q.data()), largest = initial;
    for (const trajectory::Arc& arc : motion.arcs)
        for (const ode::Dense& step : arc.steps)
            for (const ode::StepPart part : ode::StepParts(step, arc.t_end))
                largest = std::max(largest, at(step, part.to));
    if (!(largest > 0.0)) {
        m.settling_time = motion.start.t;
        return;
    }
    if (!(initial > negligible_distance2 * largest)) initial = largest;
    const double allowed = band * band * initial;
    if (distance.squared(motion.end.q.data()) > allowed) {
        m.not_settled = "the motion is still outside the band at the end";
        return;
    }
    std::vector<ode::Root> roots;
    for (std::size_t a = motion.arcs.size(); a-- > 0;)
        for (std::size_t k = motion.arcs[a].steps.size(); k-- > 0;) {
            const ode::Dense& step = motion.arcs[a].steps[k];
            const auto outside = [&](double t) { return at(step, t) - allowed; };
            std::optional<double> last;
            for (const ode::StepPart part : ode::StepParts(step, motion.arcs[a].t_end)) {
                roots.clear();
                ode::find_roots(outside, part.from, part.to, {}, roots);
                for (const ode::Root& root : roots)
                    if (root.direction < 0) last = root.t;
            }
            if (last) {
                m.settling_time = *last;
                return;
            }
            if (outside(step.t_old()) > 0.0) {  // it enters between two steps: time-stepping corrects positions there
                m.settling_time = step.t_old();
                return;
            }
        }
    m.settling_time = motion.start.t;
}

}  // namespace

std::vector<SpringPhase> spring_phases(const model::Model& model, const Trajectory& motion, double stiffness) {
    std::vector<SpringPhase> phases;
    const auto n = static_cast<std::size_t>(model.size());
    const model::Layout& layout = model.layout();
    model::Workspace workspace(model);
    model::Terms terms(layout);
    std::vector<double> coefficients(static_cast<std::size_t>(layout.coefficients)), x(2 * n);
    std::vector<int> open(model.contacts.size(), -1);
    const auto value = [&](model::Coefficient c) {
        return c == model::no_coefficient ? 0.0 : coefficients[static_cast<std::size_t>(c)];
    };
    for (const trajectory::Arc& arc : motion.arcs) {
        bool any = false;
        for (std::size_t c = 0; c < model.contacts.size(); ++c) {
            const Mode mode = arc.modes[c];
            if (mode == Mode::open) {
                open[c] = -1;
                continue;
            }
            any = true;
            if (open[c] < 0) {
                open[c] = static_cast<int>(phases.size());
                phases.push_back({static_cast<int>(c), arc.t_begin, arc.t_begin, 0.0, 0.0, 0.0, true});
            }
        }
        if (!any) continue;
        for (const ode::Dense& step : arc.steps) {
            // Exact up to degree 9, more than force times velocity in a step.
            for (const ode::StepPart part : ode::StepParts(step, arc.t_end))
                for (const auto& [t, dt] : gauss_points(gauss_five_nodes, part.from, part.to)) {
                    step.evaluate(t, x.data(), static_cast<int>(2 * n));
                    const std::span<const double> q(x.data(), n), u(x.data() + n, n);
                    model::evaluate(model, workspace, t, q, u, terms);
                    model.system->coefficients(model::at(model, t, q, u), workspace.scratch(), coefficients);
                    for (std::size_t c = 0; c < model.contacts.size(); ++c) {
                        if (open[c] < 0) continue;
                        const model::Contact& contact = model.contacts[c];
                        SpringPhase& phase = phases[static_cast<std::size_t>(open[c])];
                        const double depth = std::max(0.0, -terms.positions[static_cast<std::size_t>(contact.row)]);
                        const double rate = -model::row_velocity(layout, terms, contact.row, u);
                        const double N = std::max(
                            0.0, stiffness * value(contact.penalty_k) * depth + value(contact.penalty_d) * rate);
                        phase.impulse += N * dt;
                        phase.peak_force = std::max(phase.peak_force, N);
                        phase.penalty_integral += 0.5 * depth * depth * dt;
                    }
                }
        }
        for (std::size_t c = 0; c < open.size(); ++c)
            if (open[c] >= 0) phases[static_cast<std::size_t>(open[c])].to = arc.t_end;
    }
    for (const int phase : open)
        if (phase >= 0) phases[static_cast<std::size_t>(phase)].complete = false;
    return phases;
}

Measures measure(const model::Model& model, const Trajectory& motion, ContactModel contacts, double stiffness,
                 const MeasureOptions& options) {
    Measures m;
    m.status = motion.status;
    m.reason = motion.reason;
    m.warnings = motion.warnings;
    m.end = motion.end;
    m.forces = motion.forces;
    if (contacts == ContactModel::rigid) {
        measure_impacts(motion, static_cast<int>(model.contacts.size()), m);
    } else {
        for (const SpringPhase& phase : spring_phases(model, motion, stiffness)) {
            ++m.impacts;
            m.peak_force = std::max(m.peak_force, phase.peak_force);
            if (!phase.complete || !(phase.impulse > m.peak_impulse)) continue;
            m.peak_impulse = phase.impulse;
            m.peak_contact = phase.contact;
        }
    }
    const trajectory::MotionSummary summary = integrate::summarise(model, motion);
    m.outputs = summary.outputs;
    m.impulse_rates = summary.impulse_rates;
    m.tracking = summary.tracking;
    if (!options.steady) return m;
    m.steady.reason = statics_refusal(model, contacts);
    if (m.steady.reason.empty()) {
        Statics statics(model, contacts, stiffness);
        m.steady = find_rest(statics, motion.end.q);
    }
    if (options.settling && motion.status == trajectory::Status::completed)
        measure_settling(model, motion, options.band, m);
    return m;
}

}  // namespace saltus::control
