// SPDX-License-Identifier: Apache-2.0
#include "machine/judge_basin.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <optional>

#include "machine/calls.hpp"
#include "machine/scan.hpp"
#include "machine/time_stepping.hpp"

namespace trials {

namespace {

constexpr double t_max = 40.0, step = 2e-3;

/// Where a motion rests: the last position, if the speed has become small before t_max.
std::optional<Vector> rest_of(const TimeStepping& stepping, Point state, double h) {
    const auto count = static_cast<long>(t_max / h);
    TimeStepping::Impulses last;
    RestWatch watch;
    for (long i = 0; i < count && !watch.rests(state, h); ++i)
        if (!stepping.step(state, h, last)) return {};
    constexpr double still = 1e-4;  // m/s
    if (norm(state.u) > still) return {};
    return state.q;
}

/// Distance of a position from the extent of a set, in the largest coordinate.
double distance_to(const nlohmann::json& extent, const Model& model, const Vector& q) {
    double farthest = 0.0;
    for (std::size_t i = 0; i < q.size(); ++i) {
        const auto& range = extent.at(model.coordinates[i]);
        const double low = number(range[0]), high = number(range[1]);  // NaN: unbounded on this side
        if (q[i] < low) farthest = std::max(farthest, low - q[i]);
        if (q[i] > high) farthest = std::max(farthest, q[i] - high);
    }
    return farthest;
}

/// The start of a row of basin.csv: the axes are the first coordinate and its velocity.
Point start_of(const Model& model, const Table& table, std::size_t row) {
    Point start{0.0, model.q0, model.u0};
    start.q[0] = table.at(row, model.coordinates[0]);
    start.u[0] = table.at(row, model.coordinates[0] + "'");
    return start;
}

/// Rest by time-stepping with a short step, because contacts are entered by up to the speed times the step. Nothing
/// unless neighbours of the start rest too, and at places that are near to this one: starts near a boundary between
/// basins are not judged.
std::optional<Vector> certain_rest(const TimeStepping& stepping, const Point& start) {
    const auto first = rest_of(stepping, start, step / 8);
    if (!first) return {};
    for (const double by : {-0.01, 0.0, 0.01}) {
        Point other = start;
        other.q[0] += by;
        other.u[0] += by;
        for (std::size_t c = 0; c < stepping.mechanics().model().contacts.size(); ++c)
            if (stepping.mechanics().gap(c, other) < 0.0) return {};
        const auto rest = rest_of(stepping, other, step);
        if (!rest || norm(plus(*rest, *first, -1.0)) > 0.05) return {};
    }
    return first;
}

/// The extent of the set of a label; null for a copy of a set that lies some periods away.
nlohmann::json extent_of(const nlohmann::json& document, const nlohmann::json& set_of_label) {
    for (const auto& turns : set_of_label.at("turns"))
        if (turns != 0) return nullptr;
    for (const auto& set : document.at("sets"))
        if (set.at("name") == set_of_label.at("set")) return set.at("extent");
    return nullptr;
}

}  // namespace

Findings judge_labels(const Model& model, const nlohmann::json& document, const Table& table) {
    Findings findings;
    const TimeStepping stepping(model);
    const auto& sets = document.at("set_of_label");
    for (std::size_t row = 0; row < table.rows.size() && findings.violations.empty(); ++row) {
        const std::string label = fmt::format("{}", static_cast<int>(table.at(row, "label")));
        const Point start = start_of(model, table, row);
        bool admissible = true;
        for (std::size_t c = 0; c < model.contacts.size(); ++c)
            admissible = admissible && stepping.mechanics().gap(c, start) >= 0.0;
        if (!sets.contains(label) || !admissible) {
            ++findings.not_judged;
            continue;
        }
        const auto extent = extent_of(document, sets.at(label));
        if (extent.is_null()) {
            ++findings.not_judged;
            continue;
        }
        constexpr double near = 0.02;  // time-stepping ends in a set up to errors of the order of its step
        auto rest = rest_of(stepping, start, step);
        if (rest && distance_to(extent, model, *rest) > near) rest = certain_rest(stepping, start);
        if (!rest) {
            ++findings.not_judged;
            continue;
        }
        findings.check(distance_to(extent, model, *rest) <= near, "label", [&] {
            return fmt::format("the start q = {}, u = {} is said to reach {} at {}, but time-stepping rests at {}",
                               start.q, start.u, document.at("labels").at(label).get<std::string>(), extent.dump(),
                               *rest);
        });
    }
    return findings;
}

namespace {

/// Whether `saltus devices` lists OpenCL.
bool has_device(const Program& program) {
    static const bool found = [&] {
        const std::string out = program.run({"devices"}, 20).out;
        return out.rfind("opencl", 0) == 0 || out.find("\nopencl") != std::string::npos;
    }();
    return found;
}

/// Ends of motions by a kernel, with these options for the method.
Findings judge_kernel(const Model& model, const Program& program, const std::vector<std::string>& method) {
    Findings findings;
    if (!has_device(program)) return findings;
    nlohmann::json document;
    const auto file = program.write("model.toml", model.toml()).string();
    const auto folder = program.folder() / "out";
    std::filesystem::remove_all(folder);
    const std::string& x = model.coordinates[0];
    constexpr double h = 1e-3, until = 2.0;
    std::vector<std::string> arguments{"basin",        file,           "--grid",  x + "=-2:2:5",
                                       "--grid",       x + "'=-2:2:3", "--t-max", fmt::format("{}", until),
                                       "--no-certify", "--device",     "opencl",  "--json",
                                       "--out",        folder.string()};
    arguments.insert(arguments.end(), method.begin(), method.end());
    if (!call(program, arguments, 60, document, findings)) return findings;
    const Table table = read_csv(folder / "basin.csv");
    const TimeStepping stepping(model);
    for (std::size_t row = 0; row < table.rows.size() && findings.violations.empty(); ++row) {
        const Point start = start_of(model, table, row);
        const double t = table.at(row, "t");
        Vector end;
        for (const std::string& name : model.coordinates) end.push_back(table.at(row, "end " + name));
        bool admissible = t > 0.0 && !std::isnan(norm(end));
        for (std::size_t c = 0; c < model.contacts.size(); ++c)
            admissible = admissible && stepping.mechanics().gap(c, start) >= 0.0;
        if (!admissible) {
            ++findings.not_judged;  // the program moves such starts
            continue;
        }
        const int count = static_cast<int>(std::lround(t / h));
        const auto coarse = stepping.run(start, t, count), fine = stepping.run(start, t, 2 * count),
                   finest = stepping.run(start, t, 4 * count);
        const double halved = fine && finest ? norm(plus(finest->q, fine->q, -1.0)) : 1.0;
        const double spread = coarse && fine ? norm(plus(fine->q, coarse->q, -1.0)) : 1.0;
        // Where shorter steps do not help, impacts of several contacts change their order.
        if (spread > 0.02 * (0.1 + norm(end)) || halved > 0.75 * spread + 1e-7) {
            ++findings.not_judged;
            continue;
        }
        double distance = norm(plus(end, coarse->q, -1.0));
        // A step can end up to a step's way inside an obstacle, at random: if much shorter steps come nearer to the end
        // of the kernel then the difference is an error of the steps.
        if (distance > 10.0 * spread + 1e-4 * (1.0 + norm(end)))
            if (const auto certain = stepping.run(start, t, 64 * count))
                if (const double rest = norm(plus(end, certain->q, -1.0)); rest < 0.25 * distance) distance = rest;
        findings.check(distance <= 10.0 * spread + 1e-4 * (1.0 + norm(end)), "device-end", [&] {
            return fmt::format(
                "from q = {}, u = {} the kernel ends at {} at t = {}, plain time-stepping at {} (spread {})", start.q,
                start.u, end, t, coarse->q, spread);
        });
    }
    return findings;
}

}  // namespace

Findings judge_device(const Model& model, const Program& program) {
    return judge_kernel(model, program, {"--h", "1e-3"});
}

Findings judge_event_device(const Model& model, const Program& program) {
    return judge_kernel(model, program, {"--method", "event"});
}

Findings judge_basin(const Model& model, const Program& program) {
    Findings findings;
    nlohmann::json document;
    const auto file = program.write("model.toml", model.toml()).string();
    const auto folder = program.folder() / "out";
    std::filesystem::remove_all(folder);
    const std::string& x = model.coordinates[0];
    if (!call(program,
              {"basin", file, "--grid", x + "=-2:2:5", "--grid", x + "'=-2:2:3", "--t-max", fmt::format("{}", t_max),
               "--threads", "1", "--json", "--out", folder.string()},
              60, document, findings))
        return findings;
    const auto violations = document.at("level_set").value("violations", 0);
    findings.check(violations == 0, "level-set",
                   [&] { return fmt::format("{} starts inside of the level set end elsewhere", violations); });
    findings += judge_labels(model, document, read_csv(folder / "basin.csv"));
    return findings;
}

}  // namespace trials
