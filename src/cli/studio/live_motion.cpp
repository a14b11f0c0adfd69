// SPDX-License-Identifier: Apache-2.0
#include "cli/studio/live_motion.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include "cli/commands/simulate_plan.hpp"
#include "saltus/base/text.hpp"
#include "saltus/io/page/motion_view.hpp"
#include "saltus/io/page/studio_documents.hpp"
#include "saltus/io/results/provenance.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/model/support.hpp"

namespace saltus::cli {

namespace {

/// A motion and the model that it was computed with.
struct Made {
    io::LoadedModel loaded;
    std::string json;  ///< motion_json
};

Made make(const GoodVersion& version, const LiveMotion& wanted) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    model::BuildOptions build;
    build.set = wanted.set;
    build.project_initial = wanted.command.common.project_initial;
    const std::string& method = wanted.command.method;
    build.penalty = (method.empty() ? version.loaded.model.settings->simulate.method : method) == "penalty" &&
                    model::has_feature(version.loaded.model, model::Feature::damping_left_out);
    Made made{{version.loaded.file, build, model::build(version.loaded.file.description, build)}, ""};
    const model::Model& m = made.loaded.model;
    const Plan plan = make_plan(wanted.command, made.loaded);
    integrate::Options options;
    options.t_end = plan.t_end;
    options.energy = plan.energy;
    bool out_of_time = false;
    options.interrupted = [&] {
        const std::chrono::duration<double> elapsed = Clock::now() - begin;
        out_of_time = out_of_time || elapsed.count() > wanted.seconds;
        return out_of_time || (wanted.superseded && wanted.superseded());
    };
    trajectory::Trajectory motion = integrate::simulate(m, plan.method, options);
    if (out_of_time && motion.status == trajectory::Status::interrupted)
        motion.reason = "the motion ends after " + number_text(wanted.seconds) + " s of computing time";
    io::record_provenance(motion, made.loaded, plan.method, options);
    motion.warnings.insert(motion.warnings.begin(), plan.warnings.begin(), plan.warnings.end());
    const auto detail = wanted.planes ? io::ViewDetail::complete : io::ViewDetail::live;
    io::MotionView view = io::motion_view(motion, &m, detail);
    view.units = io::units_of(made.loaded.file.description, motion.coordinates);
    made.json = io::motion_json(view, &m);
    return made;
}

}  // namespace

std::string live_motion_json(const GoodVersion& version, const LiveMotion& wanted) {
    try {
        const Made made = make(version, wanted);
        return io::studio_motion_json(version.revision, made.loaded.model, made.json);
    } catch (const Error& e) {
        return io::studio_error_json(version.revision, e);
    } catch (const std::exception& e) {
        return io::studio_error_json(version.revision, Error(e.what()));
    }
}

io::ReportPart live_motion_part(const GoodVersion& version, const LiveMotion& wanted) {
    const Made made = make(version, wanted);
    std::string line = "saltus simulate " + io::quoted_word(version.loaded.file.path);
    for (const auto& [name, value] : wanted.set) line += " --set " + io::quoted_word(name + "=" + value);
    if (wanted.command.t_end) line += " --t-end " + number_text(*wanted.command.t_end);
    if (!wanted.command.method.empty()) line += " --method " + io::quoted_word(wanted.command.method);
    if (wanted.command.h) line += " --h " + number_text(*wanted.command.h);
    if (wanted.command.common.project_initial) line += " --project-initial";
    return {"motion", "", line, made.json, made.loaded.model.name};
}

}  // namespace saltus::cli
