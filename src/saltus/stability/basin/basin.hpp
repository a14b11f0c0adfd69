// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "saltus/ensemble/kernel_runs.hpp"
#include "saltus/ensemble/labels.hpp"
#include "saltus/ensemble/ranks.hpp"
#include "saltus/ensemble/shard.hpp"
#include "saltus/ensemble/starts.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/stability/basin/basin_record.hpp"
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

using ensemble::DeviceUse;

/// A periodic orbit that motions may end in.
struct BasinOrbit {
    std::string name;      ///< "O1", "O2", ...
    double period = 0.0;   ///< in s
    int returns = 1;       ///< it closes after so many periods of the excitation, or passages of the section
    double energy = 0.0;   ///< T + U at the first of its points
    double largest = 0.0;  ///< modulus of the largest multiplier beside the trivial one
    std::vector<std::vector<double>> points;  ///< (q, u) at multiples of the period, or on the section
    std::vector<double> range;  ///< size of the motion: highest − lowest value of each component of (q, u)
    std::size_t motions = 0;    ///< number of motions that ended in it
};

/// How motions that repeat are recognised, and the orbits that they reach found.
struct BasinRepeats {
    /// Models that depend on time: period of the excitation for a model with its parameters, in s. The states at its
    /// multiples are compared. Empty: those where a motion passes `section` upwards.
    std::function<double(const model::Model&)> period;
    std::string section;  ///< an expression of the state that is zero on the section
    int max_returns = 8;  ///< an orbit closes after at most so many periods or passages, >= 1
    /// Finds the stable orbit near a state of a motion that repeats after `returns` points; nothing if there is none.
    /// Throws nothing.
    std::function<std::optional<BasinOrbit>(const model::Model&, const trajectory::State&, int returns)> find;
};

struct BasinOptions {
    /// The motions start at the points of a grid, or at samples of a box. The axes are components of the state, or
    /// parameters. All other components have the initial values of the model.
    ensemble::Starts starts;
    std::vector<int> components;  ///< component of (q, u) of each axis; −1: the axis is a parameter
    /// The model with these values of the axes that are parameters, in their order. Required if there are such axes.
    /// Throws Error if the model cannot be built.
    std::function<std::shared_ptr<const model::Model>(std::span<const double> values)> model_at;

    std::variant<integrate::Moreau, integrate::EventDriven> method;
    double t_max = 10.0;  ///< end time of the motions, > 0
    /// A motion is at rest if √T has been at most `rest` times the square root of the typical energy of the starts for
    /// Decision::slow_steps steps (event-driven: until the end).
    double rest = 1e-8;
    bool to_rest = false;   ///< true: motions that enter the level set are continued until they rest
    bool lanes = true;      ///< several motions are integrated side by side if the model allows it; same results
    int refine = 0;         ///< number of halvings of the grid where labels differ
    double boundary = 0.0;  ///< edges of the grid with different labels are bisected to this length; 0: they are not
    std::optional<BasinRepeats> repeats;  ///< motions that reach a periodic orbit are labelled by it
    /// Only the motions of this part of the grid or the samples are simulated; the rest of the record stays as it is,
    /// and there are no labels. The whole: all motions.
    ensemble::Shard shard;
    /// Where motions are integrated; nothing: on the CPU. `device_refusal` must be empty. Elementary functions of the
    /// device may differ in the last bits; event-driven motions differ from those of the CPU by their tolerances.
    std::optional<ensemble::Device> device;
    /// Processes that make motions together; not owned. Null: this process alone. Rank 0 gets the result.
    ensemble::Ranks* ranks = nullptr;
    std::optional<CaptureSet> level;       ///< level set to compare with; only if no axis is a parameter
    std::optional<Equilibria> equilibria;  ///< known sets; other rest positions are grouped into sets of their own
    /// How sets are searched for each combination of values of a grid over parameters; nothing: they are not.
    std::optional<EquilibriaOptions> search;
    std::string folder;  ///< where temporary files of very many labels go; empty: labels stay in memory

    int threads = 0;                                                     ///< 0: one for each core
    std::function<bool()> interrupted;                                   ///< asked again and again; true ends the run
    std::function<void(std::size_t done, std::size_t of)> progress;      ///< called after each motion
    std::function<void(std::size_t motion, const BasinMotion&)> stored;  ///< called after each motion of rank 0

    bool sampled() const { return starts.sampled(); }
    bool varies_parameters() const;
    std::vector<std::string> parameters() const;  ///< names of the axes that are parameters
};

/// Why no device can make these motions, or "" if one can. BasinOptions::device is not read.
std::string device_refusal(const model::Model& model, const BasinOptions& options);

/// Compiles the kernel of these motions for a device, which keeps it for the run. Throws Error if that is impossible.
void compile_for_device(const model::Model& model, const BasinOptions& options, const ensemble::Device& device);

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
    int orbit = -1;          ///< index in Basin::orbits; −1: none
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

/// Some motions of the grid or the samples were made again with smaller errors, because a label near a boundary depends
/// on the errors of its motion. Starts beside another label are examined first.
struct LabelCheck {
    std::string finer;        ///< what was changed: "h/2", "tolerance/4" or "rtol/100"
    double setting = 0.0;     ///< the value that was used: the step length h in s, or the tolerance
    std::size_t motions = 0;  ///< number of motions that were made again
    std::size_t beside = 0;   ///< number of them that start beside another label of the grid
    std::size_t changed = 0;  ///< number of them that get another label
};

struct Basin {
    bool complete = true;  ///< false: the run was interrupted
    BasinRecord record;
    ensemble::Labels label;          ///< index in `labels` of each motion of the record
    std::vector<BasinLabel> labels;  ///< the first is "undecided"
    std::vector<RestSet> sets;
    std::vector<BasinOrbit> orbits;
    std::vector<double> periods;  ///< period of each coordinate; 0: it is not periodic
    std::size_t base = 0;         ///< number of motions of the grid or the samples; later ones are refinement

    int level = 0;                       ///< number of halvings of the refined grid
    std::vector<int> refined;            ///< labels of the points of the refined grid; empty without refinement
    std::vector<char> refined_computed;  ///< flag: the label is that of a motion from this point, not of a neighbour
    std::vector<BoundaryPoint> boundary;

    std::size_t inside = 0;  ///< number of starts in the level set
    /// Number of starts in the level set whose motions ended elsewhere. If it is not 0, the certificate is wrong.
    std::size_t violations = 0;
    /// Number of starts in the level set that are still there at t_max, or as slow as at rest where no forces hold
    /// them.
    std::size_t inside_undecided = 0;
    int captor = 0;  ///< label of the equilibrium set of the level set, turn 0

    std::size_t adjusted = 0, moved = 0, inadmissible = 0;  ///< starts of the grid or the samples, by Admission
    std::size_t failed = 0;                                 ///< motions of the record with Fate::failed

    std::optional<LabelCheck> check;  ///< nothing: interrupted, parameters vary, or a part of the motions only

    std::vector<std::string> warnings;
    std::string method;          ///< "moreau" or "event"
    int lanes = 1;               ///< motions integrated side by side
    std::string device = "cpu";  ///< "cpu", or kind and name of the device
    DeviceUse device_use;        ///< of this process
    std::int64_t steps = 0;      ///< number of steps of all motions of the record
    double seconds = 0.0;        ///< wall time of the simulations of this run
    std::int64_t steps_now = 0;  ///< number of steps made in this run
};

/// What is kept of each motion.
BasinRecord::Layout layout_of(const model::Model& model, const BasinOptions& options);

/// Simulates a motion from every start and determines where it ends. `record` is the record of an earlier run with the
/// same options, to be continued, or an empty one in a file; nothing: the record is in memory. The result does not
/// depend on the number of threads, on lanes, or on where an earlier run was interrupted.
///
/// If axes are parameters then every motion has the model with its own values. The sets and orbits of a label are those
/// of this model: "E2" is the second set in the list of `equilibria` for the parameters of the motion. A motion with
/// parameters from samples is labelled by the contacts that are closed where it rests.
Basin basin(const model::Model& model, const BasinOptions& options, std::optional<BasinRecord> record = {});

}  // namespace saltus::stability
