// SPDX-License-Identifier: Apache-2.0
#include <btBulletDynamicsCommon.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "measured_child.hpp"
#include "simulate_beads.hpp"

namespace saltus::bench {

/// Spheres that may move vertically alone, without friction, 50 iterations a step. Restitution is its own, Newton's.
BeadRun bullet_beads(const BeadColumn& column, double h) {
    BeadRun run;
    run.name = "Bullet";
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher(&configuration);
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
    world.setGravity(btVector3(0, btScalar(-9.81), 0));
    world.getSolverInfo().m_numIterations = 50;
    world.getSolverInfo().m_restitutionVelocityThreshold = 0;
    btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
    btSphereShape sphere(btScalar(0.5));
    sphere.setMargin(0);
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    const auto add = [&](btScalar mass, btCollisionShape& shape, double height) {
        btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, &shape);
        info.m_startWorldTransform.setIdentity();
        info.m_startWorldTransform.setOrigin(btVector3(0, btScalar(height), 0));
        info.m_restitution = btScalar(std::sqrt(column.e));  // those of the two bodies are multiplied
        info.m_friction = 0;
        bodies.push_back(std::make_unique<btRigidBody>(info));
        bodies.back()->setActivationState(DISABLE_DEACTIVATION);
        bodies.back()->setContactProcessingThreshold(0);  // contacts ahead of time would cost the restitution
        if (mass > 0) bodies.back()->setLinearFactor(btVector3(0, 1, 0));
        world.addRigidBody(bodies.back().get());
    };
    add(0, plane, 0.0);
    for (int i = 0; i < column.beads; ++i) add(1, sphere, 0.5 + column.drop + i * (1.0 + column.gap));
    const auto height = [&](int i) {
        return static_cast<double>(bodies[static_cast<std::size_t>(i) + 1]->getWorldTransform().getOrigin().y());
    };
    const auto speed = [&](int i) {
        return static_cast<double>(bodies[static_cast<std::size_t>(i) + 1]->getLinearVelocity().y());
    };
    const auto energy = [&] {
        double sum = 0.0;
        for (int i = 0; i < column.beads; ++i) sum += 0.5 * speed(i) * speed(i) + 9.81 * height(i);
        return sum;
    };
    run.energy_begin = energy();
    const long steps = std::lround(column.t_end / h);
    run.seconds = seconds_of([&] {
        for (long k = 0; k < steps; ++k) {
            world.stepSimulation(btScalar(h), 0, btScalar(h));
            run.deepest_at_end = std::max(0.0, 0.5 - height(0));
            for (int i = 1; i < column.beads; ++i)
                run.deepest_at_end = std::max(run.deepest_at_end, 1.0 - height(i) + height(i - 1));
            run.deepest = std::max(run.deepest, run.deepest_at_end);
            run.most_energy = std::max(run.most_energy, energy());
        }
    });
    run.energy_end = energy();
    for (int i = 0; i < column.beads; ++i) run.fastest_at_end = std::max(run.fastest_at_end, std::abs(speed(i)));
    run.completed = std::isfinite(run.energy_end);
    for (auto& body : bodies) world.removeRigidBody(body.get());
    return run;
}

}  // namespace saltus::bench
