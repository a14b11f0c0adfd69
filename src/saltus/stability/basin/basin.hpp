// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "saltus/ensemble/starts.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/stability/basin/basin_start.hpp"
#include "saltus/stability/equilibria/equilibria.hpp"

namespace saltus::stability {

/// A set of states from which every motion is known to end in one equilibrium set: the part of { T + U < level } around
/// that set.
struct CaptureSet {
    double rho = 0.0;        ///< above the reference
    double reference = 0.0;  ///< U where V = T + U − reference is zero
    std::vector<double> q;   ///< a point of the equilibrium set
    bool proved = false;     ///< not only by numbers
    /// Whether a position with U − reference < rho lies in the part around q; none: there is one part only.
    std::function<bool(std::span<const double> q)> around;
};

/// What became of a motion.
enum class Fate : std::uint8_t {
    undecided,     ///< none of the following before t_max
    rest,          ///< at rest in an equilibrium
    captured,      ///< inside the level set
    failed,        ///< a step could not be made
    inadmissible,  ///< there was no admissible state to start from
    pending,       ///< not simulated yet
};

/// Starts and ends of motions, in the order in which they were asked for; what a run can be continued from.
struct BasinRecord {
    std::vector<Fate> fate;
    std::vector<Admission> admission;
    std::vector<char> inside;         ///< the start lies in the level set
    std::vector<double> V;            ///< at the start: T + U − reference
    std::vector<double> t;            ///< when rest began, or the level set was entered
    std::vector<std::int64_t> steps;  ///< that were made
    std::vector<double> q;            ///< at the end, one row a motion

    std::size_t size() const { return fate.size(); }
    void append(std::size_t count, std::size_t coordinates);
};

struct BasinOptions {
    /// Where motions start: the points of a grid, or samples of a box. Everything else is the model's initial state.
    std::vector<ensemble::Axis> axes;
    std::vector<int> components;  ///< of (q, u), one an axis
    std::size_t samples = 0;      ///< of the box; 0: a grid
    std::uint64_t seed = 1;

    std::variant<integrate::Moreau, integrate::EventDriven> method;
    double t_max = 10.0;
    /// A motion is at rest when its speed, √(2T), has been below this part of what is usual among the starts for 16
    /// steps of h (event-driven: to the end).
    double rest = 1e-8;
    bool to_rest = false;   ///< go on inside the level set, until rest
    bool lanes = true;      ///< several motions side by side where the model allows it; the answer is the same
    int refine = 0;         ///< how often distances are halved where labels differ
    double boundary = 0.0;  ///< edges of the grid with different labels are halved to this length, of their own; 0: not
    std::optional<CaptureSet> level;
    std::optional<Equilibria> equilibria;  ///< known sets; rest elsewhere is told by its positions alone

    int threads = 0;
    std::function<bool()> interrupted;
    std::function<void(std::size_t done, std::size_t of)> progress;
    std::function<void(const BasinRecord&)> save;  ///< called now and then with all that is done
    double save_seconds = 1.0;
};

/// An equilibrium set and the motions that ended in it, by its copy with turn 0.
struct RestSet {
    std::string name;  ///< as the known sets are labelled; R1, R2, … of rest in none of them
    bool known = false;
    std::vector<std::string> closed;   ///< contacts
    std::vector<double> lower, upper;  ///< extent of a known set
    std::vector<double> low, high;     ///< extent of the ends found; empty where there are none
    double potential = 0.0;            ///< least
    std::size_t motions = 0;           ///< that came to rest there, any turn
};

struct BasinLabel {
    std::string text;
    int set = -1;            ///< in Basin::sets, or none
    std::vector<long> turn;  ///< one a coordinate, in its periods; empty without a set
    std::size_t count = 0;   ///< of the points of the grid, or of the samples
};

/// A place on an edge of the grid between two labels.
struct BoundaryPoint {
    std::vector<double> at;  ///< values of the axes, in the middle
    double half_length = 0.0;
    int axis = 0;
    int below = 0, above = 0;  ///< labels
};

struct Basin {
    bool complete = true;  ///< not interrupted
    BasinRecord record;
    std::vector<int> label;          ///< of each motion, in the order of the record
    std::vector<BasinLabel> labels;  ///< 0: undecided
    std::vector<RestSet> sets;
    std::vector<double> periods;  ///< of the coordinates, 0: none
    std::size_t base = 0;         ///< motions of the grid or the samples; later ones are refinement

    int level = 0;                       ///< of the refined grid
    std::vector<int> refined;            ///< its labels; empty without refinement
    std::vector<char> refined_computed;  ///< whether by a motion, not from its neighbours
    std::vector<BoundaryPoint> boundary;

    std::size_t inside = 0, violations = 0, inside_undecided = 0;  ///< of starts in the level set
    int captor = 0;                                                ///< label of the level set, turn 0

    std::vector<std::string> warnings;
    std::string method;      ///< moreau or event
    int lanes = 1;           ///< motions side by side
    std::int64_t steps = 0;  ///< of all motions
    double seconds = 0.0;
    std::int64_t steps_now = 0;  ///< made in this run
};

/// Simulates from every start and says where each motion ended. `record`: what an earlier run of the same options got
/// to. The result does not depend on threads, lanes or where an earlier run was cut off.
Basin basin(const model::Model& model, const BasinOptions& options, BasinRecord record = {});

}  // namespace saltus::stability
