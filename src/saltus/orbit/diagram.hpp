// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/ensemble/engine.hpp"
#include "saltus/ensemble/kernel_runs.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/build_options.hpp"
#include "saltus/model/fwd.hpp"

namespace saltus::orbit {

/// How the motion of one parameter value begins.
enum class Sweep {
    restart,  ///< at the model's initial state, for every value
    up,       ///< where the motion of the value before ended; the values are taken in their order
    down,     ///< the same in the opposite order
};

/// What was found for one value of the parameter.
struct DiagramColumn {
    double value = 0.0;
    bool done = false;           ///< false: the run was interrupted before this value
    std::vector<double> times;   ///< times of the points, in s
    std::vector<Vector> points;  ///< kept points of the section: (q, u)
    /// The motion repeats after this many points; 0 if it does not, or if too few points show it.
    int period = 0;
    /// Lyapunov exponents in 1/s, the largest first; −∞ if the map loses rank, empty if they are not known.
    std::vector<double> exponents;
    /// How much each exponent changed in the second half of the points: a measure of its convergence, in 1/s.
    std::vector<double> changes;
    std::vector<std::string> warnings;  ///< of the motions of this value, without their times
    std::string remark;                 ///< why points or exponents are missing; empty if nothing is missing
    std::optional<Vector> end;  ///< (q, u) where the motion ended, from which a sweep goes on; none if it ended early
};

/// A brute-force bifurcation diagram: long motions for many values of one parameter.
struct DiagramOptions {
    ensemble::Axis over;  ///< the varied parameter, or initial value x or x', in the order of an upward sweep
    model::BuildOptions build;
    /// Excited models: the period of the excitation of a model, in s. The state is taken once in every period, at
    /// multiples of it. Empty: the state is taken where the motion passes `section` upwards.
    std::function<double(const model::Model&)> period;
    std::string section;  ///< an expression of the state that is zero on the section
    int transient = 100;  ///< points of the section that are dropped, >= 0
    int keep = 50;        ///< points that are kept, >= 1
    double t_max = 0.0;   ///< with a section: the longest motion of one value, in s, > 0
    Sweep sweep = Sweep::restart;
    bool exponents = false;  ///< compute Lyapunov exponents over the kept points
    integrate::EventDriven method;
    /// Where the values of Sweep::restart are computed. Other sweeps go from value to value, in the process that leads.
    ensemble::EngineOptions engine;
    ensemble::Shard shard;  ///< of Sweep::restart: only this part of the values is computed
    /// Where the motions are made; nothing: on the CPU. `diagram_device_refusal` must be empty. Points differ from
    /// those of the CPU by the tolerances of both.
    std::optional<ensemble::Device> device;
    /// Columns of answers of different sizes, which are taken over if they are there; not owned. Null: in memory.
    ensemble::Table* table = nullptr;
    std::function<void(std::size_t done, std::size_t of)> progress;  ///< called after each value
};

/// A diagram: the points of long motions on a section, for many values of a parameter.
struct Diagram {
    std::string model;
    std::string parameter;
    std::vector<std::string> coordinates;
    std::vector<DiagramColumn> columns;  ///< in the order of DiagramOptions::over
    bool complete = false;               ///< false: interrupted, or a part
    ensemble::DeviceUse device_use;      ///< what the device did for this process
};

/// Why no device can make the motions of a diagram, or "" if one can. DiagramOptions::device is not read.
std::string diagram_device_refusal(const model::Model& model, const DiagramOptions& options);
/// Compiles the kernel of these motions for a device, which keeps it for the run. Throws Error if that is impossible.
void compile_diagram_for_device(const model::Model& model, const DiagramOptions& options,
                                const ensemble::Device& device);

/// Computes the diagram. With Sweep::restart the values are independent and computed in parallel; the result does not
/// depend on the number of threads and ranks. On ranks other than 0 it is empty. Throws Error if the options do not fit
/// the model.
Diagram diagram(const model::Description& description, const DiagramOptions& options);

/// After how many points a sequence repeats: the smallest p for which each component of all points equals that of every
/// p-th point later, up to `tolerance`; 0 if there is none up to a third of the number of points.
int period_of(const std::vector<Vector>& points, const Vector& tolerance);

}  // namespace saltus::orbit
