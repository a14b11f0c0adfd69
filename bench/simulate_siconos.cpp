// SPDX-License-Identifier: Apache-2.0
#include "simulate_siconos.hpp"

#include <SiconosKernel.hpp>
#include <cmath>
#include <exception>

#include "measured_child.hpp"

namespace saltus::bench {

namespace {

std::shared_ptr<SiconosVector> vector_of(std::initializer_list<double> values) {
    auto v = std::make_shared<SiconosVector>(static_cast<unsigned>(values.size()));
    unsigned i = 0;
    for (const double x : values) (*v)(i++) = x;
    return v;
}

std::shared_ptr<SimpleMatrix> scalar(double value) {
    auto m = std::make_shared<SimpleMatrix>(1, 1);
    (*m)(0, 0) = value;
    return m;
}

void read_state(LagrangianDS& system, PeerRun& run) {
    for (unsigned i = 0; i < system.dimension(); ++i) {
        run.q.push_back((*system.q())(i));
        run.u.push_back((*system.velocity())(i));
    }
}

// --- systems: the numbers of models/bouncing-ball, impact-oscillator (w = 2, s = 0) and slider-crank ---------------

struct OneMass {
    std::shared_ptr<LagrangianLinearTIDS> system;
    std::shared_ptr<NonSmoothDynamicalSystem> all;
};

OneMass one_mass(double t_end, const std::shared_ptr<LagrangianLinearTIDS>& system, double direction) {
    OneMass m{system, std::make_shared<NonSmoothDynamicalSystem>(0.0, t_end)};
    m.all->insertDynamicalSystem(system);
    const auto relation = std::make_shared<LagrangianLinearTIR>(scalar(direction));
    m.all->link(std::make_shared<Interaction>(std::make_shared<NewtonImpactNSL>(0.8), relation), system);
    return m;
}

OneMass ball(double t_end) {
    const auto system = std::make_shared<LagrangianLinearTIDS>(vector_of({1.0}), vector_of({0.0}), scalar(1.0));
    system->setFExtPtr(vector_of({-9.81}));
    return one_mass(t_end, system, 1.0);
}

void drive(double t, unsigned, double* force, unsigned, double*) { force[0] = std::cos(2.0 * t); }

OneMass oscillator(double t_end) {
    const auto system = std::make_shared<LagrangianLinearTIDS>(vector_of({-0.5}), vector_of({0.0}), scalar(1.0),
                                                               scalar(1.0), scalar(0.05));
    system->setComputeFExtFunction(&drive);
    return one_mass(t_end, system, -1.0);
}

namespace crank {

constexpr double l1 = 0.153, l2 = 0.306, m1 = 0.038, m2 = 0.038, m3 = 0.076, J1 = 7.4e-5, J2 = 5.9e-4, J3 = 2.7e-6;
constexpr double a = 0.05, b = 0.025, c = 0.001, g = 9.81, mu = 0.01, e = 0.4, omega = 150.0;
constexpr double coupling = (m2 / 2 + m3) * l1 * l2;

void mass(unsigned, double* q, double* M, unsigned, double*) {
    M[0] = J1 + (m1 / 4 + m2 + m3) * l1 * l1;
    M[4] = J2 + (m2 / 4 + m3) * l2 * l2;
    M[8] = J3;
    M[1] = M[3] = coupling * std::cos(q[0] - q[1]);
    M[2] = M[5] = M[6] = M[7] = 0.0;
}

void force(double, unsigned, double* q, double* u, double* f, unsigned, double*) {
    const double s = coupling * std::sin(q[0] - q[1]);
    f[0] = s * u[1] * u[1] + (m1 / 2 + m2 + m3) * g * l1 * std::cos(q[0]);
    f[1] = -s * u[0] * u[0] + (m2 / 2 + m3) * g * l2 * std::cos(q[1]);
    f[2] = 0.0;
}

/// A corner of the slider against a face of the guide: `face` +1 above, −1 below, `end` −1 left, +1 right.
class Corner : public LagrangianScleronomousR {
public:
    Corner(double face, double end) : LagrangianScleronomousR(), face_(face), end_(end) {
        _jachq = std::make_shared<SimpleMatrix>(2, 3);
    }
    void initialize(Interaction&) override {}
    void computeh(const BlockVector& q, BlockVector&, SiconosVector& y) override {
        const double corner =
            l1 * std::sin(q(0)) + l2 * std::sin(q(1)) + end_ * a * std::sin(q(2)) + face_ * b * std::cos(q(2));
        y(0) = b + c - face_ * corner;
    }
    void computeJachq(const BlockVector& q, BlockVector&) override {
        const double s3 = std::sin(q(2)), c3 = std::cos(q(2));
        SimpleMatrix& J = *_jachq;
        J(0, 0) = -face_ * l1 * std::cos(q(0));
        J(0, 1) = -face_ * l2 * std::cos(q(1));
        J(0, 2) = -face_ * (end_ * a * c3 - face_ * b * s3);
        J(1, 0) = -l1 * std::sin(q(0));
        J(1, 1) = -l2 * std::sin(q(1));
        J(1, 2) = -(end_ * a * s3 + face_ * b * c3);
    }

private:
    double face_, end_;
};

}  // namespace crank

// --- the two methods ------------------------------------------------------------------------------------------------

template <class Action>
PeerRun guarded(Action action) {
    PeerRun run;
    try {
        action(run);
        run.completed = true;
    } catch (const std::exception&) {
        run.remark = "throws";
    } catch (...) {
        run.remark = "throws";
    }
    return run;
}

PeerRun event_driven(const OneMass& m, double t_end, SiconosTolerances tolerances) {
    return guarded([&](PeerRun& run) {
        const auto lsodar = std::make_shared<LsodarOSI>();
        // The time grid of Siconos has the final time only, so that it chooses its steps freely.
        const auto made = std::make_shared<EventDriven>(m.all, std::make_shared<TimeDiscretisation>(0.0, t_end));
        EventDriven& simulation = *made;
        simulation.insertIntegrator(lsodar);
        simulation.insertNonSmoothProblem(std::make_shared<LCP>(), SICONOS_OSNSP_ED_IMPACT);
        simulation.insertNonSmoothProblem(std::make_shared<LCP>(), SICONOS_OSNSP_ED_SMOOTH_ACC);
        simulation.initialize();
        lsodar->setTol(1, tolerances.tolerance, tolerances.tolerance);
        lsodar->setMaxNstep(100000);
        simulation.setToleranceED(tolerances.closed);
        constexpr int nonsmooth = 2;
        run.seconds = seconds_of([&] {
            for (bool impact = true; impact && simulation.hasNextEvent();) {
                simulation.advanceToEvent();
                impact = simulation.eventsManager()->nextEvent()->getType() == nonsmooth;
                simulation.processEvents();
            }
        });
        read_state(*m.system, run);
    });
}

void step_through(TimeStepping& simulation, PeerRun& run) {
    run.seconds = seconds_of([&] {
        while (simulation.hasNextEvent()) {
            simulation.computeOneStep();
            simulation.nextStep();
            ++run.steps;
        }
    });
}

}  // namespace

PeerRun siconos_ball_event_driven(double t_end, SiconosTolerances tolerances) {
    return event_driven(ball(t_end), t_end, tolerances);
}

PeerRun siconos_oscillator_event_driven(double t_end, SiconosTolerances tolerances) {
    return event_driven(oscillator(t_end), t_end, tolerances);
}

PeerRun siconos_ball_stepping(double t_end, double h) {
    return guarded([&](PeerRun& run) {
        const OneMass m = ball(t_end);
        const auto simulation =
            std::make_shared<TimeStepping>(m.all, std::make_shared<TimeDiscretisation>(0.0, h),
                                           std::make_shared<MoreauJeanOSI>(0.5), std::make_shared<LCP>());
        simulation->setNewtonOptions(SICONOS_TS_LINEAR);
        simulation->initialize();
        step_through(*simulation, run);
        read_state(*m.system, run);
    });
}

PeerRun siconos_chain_stepping(int balls, double t_end, double h) {
    return guarded([&](PeerRun& run) {
        const auto n = static_cast<unsigned>(balls);
        const auto all = std::make_shared<NonSmoothDynamicalSystem>(0.0, t_end);
        const auto law = std::make_shared<NewtonImpactNSL>(0.5);
        std::vector<std::shared_ptr<LagrangianLinearTIDS>> systems;
        for (unsigned i = 0; i < n; ++i) {
            systems.push_back(
                std::make_shared<LagrangianLinearTIDS>(vector_of({0.1 * (i + 1.0)}), vector_of({0.0}), scalar(1.0)));
            systems.back()->setFExtPtr(vector_of({-9.81}));
            all->insertDynamicalSystem(systems.back());
            if (i == 0) {
                all->link(std::make_shared<Interaction>(law, std::make_shared<LagrangianLinearTIR>(scalar(1.0))),
                          systems[0]);
            } else {
                const auto row = std::make_shared<SimpleMatrix>(1, 2);
                (*row)(0, 0) = -1.0;
                (*row)(0, 1) = 1.0;
                all->link(std::make_shared<Interaction>(law, std::make_shared<LagrangianLinearTIR>(row)),
                          systems[i - 1], systems[i]);
            }
        }
        const auto simulation =
            std::make_shared<TimeStepping>(all, std::make_shared<TimeDiscretisation>(0.0, h),
                                           std::make_shared<MoreauJeanOSI>(0.5), std::make_shared<LCP>());
        simulation->setNewtonOptions(SICONOS_TS_LINEAR);
        simulation->initialize();
        step_through(*simulation, run);
        for (const auto& system : systems) read_state(*system, run);
    });
}

PeerRun siconos_slider_crank_stepping(double t_end, double h) {
    using namespace crank;
    return guarded([&](PeerRun& run) {
        const auto system =
            std::make_shared<LagrangianDS>(vector_of({0.0, 0.0, 0.0}), vector_of({omega, -omega * l1 / l2, 0.0}));
        system->setComputeMassFunction(&mass);
        system->setComputeFIntFunction(&force);
        const auto all = std::make_shared<NonSmoothDynamicalSystem>(0.0, t_end);
        all->insertDynamicalSystem(system);
        for (const double face : {1.0, -1.0})
            for (const double end : {-1.0, 1.0})
                all->link(std::make_shared<Interaction>(std::make_shared<NewtonImpactFrictionNSL>(e, 0.0, mu, 2),
                                                        std::make_shared<Corner>(face, end)),
                          system);
        const auto simulation = std::make_shared<TimeStepping>(
            all, std::make_shared<TimeDiscretisation>(0.0, h), std::make_shared<MoreauJeanOSI>(0.5),
            std::make_shared<FrictionContact>(2, SICONOS_FRICTION_2D_LEMKE));
        simulation->setNewtonOptions(SICONOS_TS_LINEAR_IMPLICIT);
        simulation->initialize();
        step_through(*simulation, run);
        read_state(*system, run);
    });
}

}  // namespace saltus::bench
