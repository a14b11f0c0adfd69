// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "saltus/ensemble/device.hpp"
#include "saltus/ensemble/ranks.hpp"
#include "saltus/ensemble/shard.hpp"
#include "saltus/ensemble/starts.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/stability/basin/basin_start.hpp"
#include "saltus/stability/equilibria/equilibria.hpp"

namespace saltus::stability {

/// A level set of V = T + U − reference from which every motion ends in one equilibrium set, as a certificate of
/// attractivity states: the connected component of { V < rho } that contains this equilibrium set. [Leine] Theorem 1
struct CaptureSet {
    double rho = 0.0;        ///< level of V, an energy > 0
    double reference = 0.0;  ///< potential energy at which V = 0
    std::vector<double> q;   ///< a point of the equilibrium set
    bool proved = false;     ///< the certificate is proved, not only numerical
    /// Whether a position with U − reference < rho lies in the component that contains q. If it is unset then
    /// { V < rho } has one component only.
    std::function<bool(std::span<const double> q)> in_component;
    /// Lower and upper bound of each coordinate, if in_component is the test whether q lies between them.
    std::vector<std::pair<double, double>> box;
};

/// How a motion ended.
enum class Fate : std::uint8_t {
    undecided,     ///< none of the following before t_max
    rest,          ///< the motion came to rest in an equilibrium
    captured,      ///< the motion entered the level set
    failed,        ///< the integrator could not make a step
    inadmissible,  ///< there is no admissible start state
    pending,       ///< the motion is not simulated yet
};

/// Starts and ends of all motions, in the order in which they were requested. A run can be continued from its record.
/// Each vector has one entry for each motion.
struct BasinRecord {
    std::vector<Fate> fate;
    std::vector<Admission> admission;
    std::vector<char> inside;         ///< flag: the start lies in the level set
    std::vector<double> V;            ///< T + U − reference at the start
    std::vector<double> t;            ///< time at which rest began or the level set was entered; otherwise the end
    std::vector<std::int64_t> steps;  ///< number of integration steps
    std::vector<double> q;            ///< position at the end, one row of coordinates for each motion

    std::size_t size() const { return fate.size(); }
    /// Adds `count` pending motions.
    void append(std::size_t count, std::size_t coordinates);
};

/// What a device did in a run.
struct DeviceUse {
    double compile_seconds = 0.0, kernel_seconds = 0.0;  ///< wall time
    bool from_cache = false;                             ///< the kernel had been compiled before
    int threads = 0;
    std::int64_t steps = 0;    ///< made on the device
    std::size_t given_up = 0;  ///< motions that the CPU had to make
};

struct BasinOptions {
    /// The motions start at the points of a grid, or at samples of a box. The axes are components of the state; all
    /// other components have the initial values of the model.
    std::vector<ensemble::Axis> axes;
    std::vector<int> components;  ///< component of (q, u) of each axis
    std::size_t samples = 0;      ///< number of samples of the box; 0: a grid
    std::uint64_t seed = 1;       ///< seed of the random samples

    std::variant<integrate::Moreau, integrate::EventDriven> method;
    double t_max = 10.0;  ///< end time of the motions, > 0
    /// A motion is at rest if √T has been at most `rest` times the square root of the typical energy of the starts for
    /// Decision::slow_steps steps (event-driven: until the end).
    double rest = 1e-8;
    bool to_rest = false;   ///< true: motions that enter the level set are continued until they rest
    bool lanes = true;      ///< several motions are integrated side by side if the model allows it; same results
    int refine = 0;         ///< number of halvings of the grid where labels differ
    double boundary = 0.0;  ///< edges of the grid with different labels are bisected to this length; 0: they are not
    /// Only the motions of this part of the grid or the samples are simulated; the rest of the record stays as it is,
    /// and there are no labels. The whole: all motions.
    ensemble::Shard shard;
    /// Where motions are integrated; nothing: on the CPU. The method must be Moreau's, and
    /// integrate::moreau::kernel_refusal empty. Elementary functions of the device may differ in the last bits.
    std::optional<ensemble::Device> device;
    /// Processes that make motions together; not owned. Null: this process alone. Rank 0 gets the result.
    ensemble::Ranks* ranks = nullptr;
    std::optional<CaptureSet> level;       ///< level set to compare with
    std::optional<Equilibria> equilibria;  ///< known sets; other rest positions are grouped into sets of their own

    int threads = 0;                                                 ///< 0: one for each core
    std::function<bool()> interrupted;                               ///< asked again and again; true ends the run
    std::function<void(std::size_t done, std::size_t of)> progress;  ///< called after each motion
    std::function<void(const BasinRecord&)> save;                    ///< called with the record so far
    double save_seconds = 1.0;  ///< least time between two calls of `save`; the first comes earlier
};

/// An equilibrium set with the motions that ended in it. Positions refer to its copy with turn 0.
struct RestSet {
    std::string name;                  ///< "E1", ... of known sets; "R1", "R2", ... of sets that only motions showed
    bool known = false;                ///< the set is one of BasinOptions::equilibria
    std::vector<std::string> closed;   ///< names of the closed contacts
    std::vector<double> lower, upper;  ///< extent of a known set
    std::vector<double> low, high;     ///< extent of the end positions; empty if no motion ended there
    double potential = 0.0;            ///< least potential energy
    std::size_t motions = 0;           ///< number of motions that came to rest in the set or in a copy of it
};

/// The end of a motion: a set and its copy, or another fate.
struct BasinLabel {
    std::string text;
    int set = -1;            ///< index in Basin::sets; −1: none
    std::vector<long> turn;  ///< copy of the set: whole periods for each coordinate; empty without a set
    std::size_t count = 0;   ///< number of grid points or samples with this label
};

/// A point on an edge of the grid between two labels.
struct BoundaryPoint {
    std::vector<double> at;    ///< values of the axes at the middle of the bracket
    double half_length = 0.0;  ///< half the length of the bracket along `axis`
    int axis = 0;
    int below = 0, above = 0;  ///< labels at the two ends of the bracket
};

struct Basin {
    bool complete = true;  ///< false: the run was interrupted
    BasinRecord record;
    std::vector<int> label;          ///< index in `labels` of each motion of the record
    std::vector<BasinLabel> labels;  ///< the first is "undecided"
    std::vector<RestSet> sets;
    std::vector<double> periods;  ///< period of each coordinate; 0: it is not periodic
    std::size_t base = 0;         ///< number of motions of the grid or the samples; later ones are refinement

    int level = 0;                       ///< number of halvings of the refined grid
    std::vector<int> refined;            ///< labels of the points of the refined grid; empty without refinement
    std::vector<char> refined_computed;  ///< flag: the label is that of a motion from this point, not of a neighbour
    std::vector<BoundaryPoint> boundary;

    std::size_t inside = 0;  ///< number of starts in the level set
    /// Number of starts in the level set whose motions ended elsewhere. If it is not 0, the certificate is wrong.
    std::size_t violations = 0;
    std::size_t inside_undecided = 0;  ///< number of starts in the level set that are still there at t_max
    int captor = 0;                    ///< label of the equilibrium set of the level set, turn 0

    std::vector<std::string> warnings;
    std::string method;          ///< "moreau" or "event"
    int lanes = 1;               ///< motions integrated side by side
    std::string device = "cpu";  ///< "cpu", or kind and name of the device
    DeviceUse device_use;        ///< of this process
    std::int64_t steps = 0;      ///< number of steps of all motions of the record
    double seconds = 0.0;        ///< wall time of the simulations of this run
    std::int64_t steps_now = 0;  ///< number of steps made in this run
};

/// Simulates a motion from every start and determines where it ends. `record` is the record of an earlier run with the
/// same options, to be continued. The result does not depend on the number of threads, on lanes, or on where an earlier
/// run was interrupted.
Basin basin(const model::Mechanics& model, const BasinOptions& options, BasinRecord record = {});

}  // namespace saltus::stability
