// SPDX-License-Identifier: Apache-2.0
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "measured_child.hpp"
#include "simulate_beads.hpp"

namespace saltus::bench {

namespace {

/// Spheres that slide vertically, without friction. MuJoCo has no restitution: a contact is a spring and a damper. For
/// e = 0 they are its own choice (2 steps, critically damped: the stiffest it allows); for e = 1 as stiff and undamped.
std::string model_of(const BeadColumn& column, double h) {
    const std::string reference =
        column.e == 0.0 ? std::to_string(2.0 * h) + " 1" : std::to_string(-1.0 / (4.0 * h * h)) + " 0";
    std::string xml =
        "<mujoco><option timestep=\"" + std::to_string(h) +
        "\" gravity=\"0 0 -9.81\" iterations=\"200\" tolerance=\"1e-12\"><flag energy=\"enable\"/></option>"
        "<size nconmax=\"1000\" njmax=\"2000\"/>"
        "<default><geom condim=\"1\" solref=\"" +
        reference +
        "\" solimp=\"0.99 0.999 0.001\"/></default>"
        "<worldbody><geom type=\"plane\" size=\"5 5 1\"/>";
    for (int i = 0; i < column.beads; ++i)
        xml += "<body pos=\"0 0 " + std::to_string(0.5 + column.drop + i * (1.0 + column.gap)) +
               "\"><joint type=\"slide\" axis=\"0 0 1\"/><geom type=\"sphere\" size=\"0.5\" mass=\"1\"/></body>";
    return xml + "</worldbody></mujoco>";
}

}  // namespace

BeadRun mujoco_beads(const BeadColumn& column, double h) {
    BeadRun run;
    run.name = "MuJoCo";
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "saltus-beads.xml";
    std::ofstream(file) << model_of(column, h);
    char error[1000] = "";
    mjModel* const model = mj_loadXML(file.c_str(), nullptr, error, sizeof error);
    std::filesystem::remove(file);
    if (model == nullptr) {
        std::fprintf(stderr, "MuJoCo: %s\n", error);
        return run;
    }
    mjData* const data = mj_makeData(model);
    mj_forward(model, data);
    run.energy_begin = data->energy[0] + data->energy[1];
    const long steps = std::lround(column.t_end / h);
    run.seconds = seconds_of([&] {
        for (long k = 0; k < steps; ++k) {
            mj_step(model, data);
            run.deepest_at_end = 0.0;
            for (int i = 0; i < data->ncon; ++i)
                run.deepest_at_end = std::max(run.deepest_at_end, -data->contact[i].dist);
            run.deepest = std::max(run.deepest, run.deepest_at_end);
            run.most_energy = std::max(run.most_energy, data->energy[0] + data->energy[1]);
        }
    });
    mj_forward(model, data);
    run.energy_end = data->energy[0] + data->energy[1];
    for (int i = 0; i < model->nv; ++i) run.fastest_at_end = std::max(run.fastest_at_end, std::abs(data->qvel[i]));
    run.completed = std::isfinite(run.energy_end);
    mj_deleteData(data);
    mj_deleteModel(model);
    return run;
}

}  // namespace saltus::bench
