// SPDX-License-Identifier: Apache-2.0
// A column of beads dropped on the floor, in Saltus and in the physics engines that are installed.
#include "simulate_beads.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "measured_child.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"

namespace saltus::bench {
namespace {

/// Heights of the lowest points.
model::Model model_of(const BeadColumn& column) {
    model::Description d;
    d.name = "column of beads";
    std::string T = "0", U = "0";
    for (int i = 0; i < column.beads; ++i) {
        const std::string y = "y" + std::to_string(i), below = "y" + std::to_string(i - 1);
        d.q.push_back({y, {}});
        T += " + 1/2*" + y + "'^2";
        U += " + 9.81*" + y;
        model::ContactDescription c;
        c.name = "c" + std::to_string(i);
        c.gN = i == 0 ? y : y + " - " + below + " - 1";
        c.eN = column.e;
        d.contacts.push_back(c);
        d.initial.q.push_back({y, column.drop + i * (1.0 + column.gap), {}});
    }
    d.T = T;
    d.U = U;
    return model::build(d, {});
}

BeadRun ours(const std::string& name, const BeadColumn& column, const integrate::Method& method) {
    const model::Model model = model_of(column);
    integrate::Options options;
    options.t_end = column.t_end;
    trajectory::Trajectory motion;
    BeadRun run;
    run.name = name;
    run.seconds = seconds_of([&] { motion = integrate::simulate(model, method, options); });
    run.completed = motion.status == trajectory::Status::completed;
    run.deepest = motion.violation.gap;
    for (std::size_t i = 0; i < motion.end.q.size(); ++i) {
        const double gap = i == 0 ? motion.end.q[0] : motion.end.q[i] - motion.end.q[i - 1] - 1.0;
        run.deepest_at_end = std::max(run.deepest_at_end, -gap);
        run.fastest_at_end = std::max(run.fastest_at_end, std::abs(motion.end.u[i]));
    }
    run.energy_begin = motion.energy.initial;
    run.energy_end = run.most_energy = motion.energy.final;
    for (const trajectory::Event& e : motion.events) run.most_energy = std::max(run.most_energy, e.energy_after);
    return run;
}

/// Energies are measured from the state of rest on the floor.
void print(const BeadRun& run, const BeadColumn& column, double at_rest) {
    const double scale = run.energy_begin - at_rest;
    const double expected = column.e == 1.0 ? scale : 0.0;  // after rest with e = 0
    fmt::print("  {:<26} {:9.3f} ms  {:10.2e} {:10.2e}  {:10.2e}  {:10.2e}  {:10.2e}  {}\n", run.name,
               1e3 * run.seconds, run.deepest, run.deepest_at_end, (run.energy_end - at_rest - expected) / scale,
               std::max(0.0, run.most_energy - run.energy_begin) / scale, run.fastest_at_end,
               run.completed ? "" : "not completed");
}

void compare(const BeadColumn& column) {
    fmt::print("\n{} beads, gaps of {} m, dropped from {} m, e = {}, t = {} s\n", column.beads, column.gap, column.drop,
               column.e, column.t_end);
    fmt::print("  {:<26} {:>12}  {:>10} {:>10}  {:>10}  {:>10}  {:>10}\n", "", "time", "deepest", "at the end",
               "energy off", "created", "speed");
    const double at_rest = 9.81 * 0.5 * column.beads * (column.beads - 1.0);  // of lowest points
    const double centres = at_rest + 9.81 * 0.5 * column.beads;
    integrate::EventDriven event;
    event.keep_arcs = false;
    print(ours("Saltus, event-driven", column, event), column, at_rest);
    for (const double h : {1e-3, 1e-4}) {
        integrate::Moreau moreau;
        moreau.h = h;
        moreau.keep_arcs = false;
        print(ours(fmt::format("Saltus, moreau, h = {}", h), column, moreau), column, at_rest);
#ifdef SALTUS_BENCH_MUJOCO
        BeadRun mujoco = mujoco_beads(column, h);
        mujoco.name += fmt::format(", h = {}", h);
        print(mujoco, column, centres);
#endif
#ifdef SALTUS_BENCH_BULLET
        BeadRun bullet = bullet_beads(column, h);
        bullet.name += fmt::format(", h = {}", h);
        print(bullet, column, centres);
#endif
    }
    (void)centres;
}

}  // namespace
}  // namespace saltus::bench

int main() {
    using saltus::bench::compare;
    fmt::print(
        "Energies are those above rest on the floor, of what there was at the start: off from the exact value at\n"
        "the end (e = 0: none, e = 1: all), and created on the way.\n");
    compare({.beads = 10, .drop = 0.5, .gap = 0.01, .e = 0.0, .t_end = 2.0});
    compare({.beads = 100, .drop = 0.5, .gap = 0.01, .e = 0.0, .t_end = 2.0});
    compare({.beads = 1, .drop = 0.5, .gap = 0.01, .e = 1.0, .t_end = 10.0});
    compare({.beads = 10, .drop = 0.5, .gap = 0.01, .e = 1.0, .t_end = 2.0});
}
