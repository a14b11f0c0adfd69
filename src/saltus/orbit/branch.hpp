// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/model/build_options.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/orbit/orbit.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::orbit {

struct BranchRecord;

/// Called again and again while a branch is followed, whenever a later run could continue from the record that the
/// argument makes. The record is long; a caller that stores it asks for it from time to time only.
using Checkpoint = std::function<void(const std::function<BranchRecord()>& record)>;

/// Which branch of orbits or equilibria is followed.
struct BranchOptions {
    std::string parameter;        ///< name of the varied parameter
    double from = 0.0, to = 0.0;  ///< its range, from < to
    double start = 0.0;           ///< its value for the first orbit or equilibrium, within the range
    model::BuildOptions build;    ///< other parameters
    std::string period;           ///< excited models: period of the excitation, an expression of parameters
    Options orbit;                ///< how the first orbit is found; `period` in it is not read
    int search = 0;               ///< number of starts of the search for first orbits; 0: one search from the guess
    int threads = 0;              ///< number of threads of the search; 0: one for each core
    double step = 0.02;           ///< largest step of the parameter, relative to the range, > 0
    int max_points = 1000;        ///< largest number of points of one branch in one direction
    int doublings = 1;            ///< 0: branches of doubled period are not followed; 1: they are; 2: also the branches
                                  ///< of doubled period that begin on them, and so on
    /// A second parameter, over which special points of the branch are followed; "": none. Branches of doubled period
    /// are then not followed.
    std::string second;
    double second_from = 0.0, second_start = 0.0, second_to = 0.0;  ///< its range, and its value for the branch
    /// What an interrupted run with the same options had computed (Branches::record); null: nothing. The result is the
    /// same as that of a run without interruption, to the bit. It must outlive the call.
    const BranchRecord* known = nullptr;
    Checkpoint checkpoint;  ///< may be empty
    std::function<bool()> interrupted;
    std::function<void(std::size_t points)> progress;  ///< called after each point
};

/// One orbit or equilibrium of a branch.
struct BranchPoint {
    double parameter = 0.0;
    double period = 0.0;      ///< period of the whole orbit, in s; 0 for an equilibrium
    trajectory::State state;  ///< at t = 0 of the period; autonomous systems: some state of the orbit
    std::vector<std::complex<double>> multipliers;  ///< of an orbit; eigenvalues in 1/s of an equilibrium
    std::vector<std::complex<double>>
        multipliers_full;  ///< with a symmetry: of the whole orbit; `multipliers` are those of half of it
    Stability stability = Stability::undecided;
    int unstable_count = 0;
    std::vector<std::pair<double, double>> amplitude;  ///< least and largest value of each position
    /// How far each position moves in a period by the translation up to which the orbit closes; empty: it returns.
    std::vector<double> drift;
    std::vector<std::string> events;  ///< kinds, from t = 0 of the period on
    std::vector<std::string> closed;  ///< equilibria: contacts that are closed
    double residual = 0.0;            ///< as Orbit::residual
    std::optional<OrbitCurve> curve;  ///< special points that are orbits
};

/// A point at which something changes.
struct SpecialPoint {
    std::string kind;    ///< "fold", "period doubling", "torus", "grazing", "impact vanishes", ...: docs/continue.md
    double error = 0.0;  ///< estimated error of the parameter
    BranchPoint at;
    std::size_t index = 0;      ///< number of points of the branch before it
    std::string text;           ///< ends: why
    std::string before, after;  ///< where the order of events changes: the events on both sides; empty if not known
};

/// A curve of orbits or equilibria over the parameter, from one end to the other.
struct Branch {
    std::vector<BranchPoint> points;
    std::vector<SpecialPoint> special;  ///< in the order along the branch; its ends are of the kind "end"
    std::string reason;                 ///< why the branch ends where it ends
    bool failed = false;                ///< one of its ends is a numerical failure
    int multiple = 1;                   ///< the orbits close after this many periods
    std::string origin;                 ///< where it comes from, in words; empty for a first branch
};

/// A curve of special points of one kind over two parameters.
struct SpecialCurve {
    std::string kind;                 ///< "fold", "period doubling", "torus" or "grazing"
    std::vector<BranchPoint> points;  ///< from one end to the other
    std::vector<double> second;       ///< values of the second parameter, one for each point
    std::string reason;               ///< why the curve ends where it ends
};

/// An orbit of a branch as it is stored between two runs. The motion and its derivatives are computed again from it.
struct StoredOrbit {
    double t = 0.0;  ///< time of the start
    Vector z;        ///< state at the start, duration of an autonomous orbit, parameter
    Vector scale, tangent, plane, reference;
    double residual = 0.0;
    /// Orbits whose motion amplifies errors too much to be one: times and states at which further parts of it begin.
    std::vector<double> cut_times;
    std::vector<Vector> cuts;
};

/// An equilibrium of a branch as it is stored between two runs.
struct StoredRest {
    Vector z;  ///< positions, forces, parameter
    Vector scale, tangent;
    std::vector<char> closed;  ///< one flag for each contact
    double determinant = 0.0;
    std::vector<double> gaps, forces, growths;
};

/// One direction of a branch, as far as it was followed.
struct WalkRecord {
    struct Doubling {
        StoredOrbit orbit;
        BranchPoint described;
    };
    struct Seed {  ///< where a curve over two parameters begins
        std::string kind;
        StoredOrbit orbit;
        int multiple = 1;
        std::string contact;
        std::optional<double> parameter;
    };
    struct Passed {  ///< an earlier orbit with the same order of events
        double t = 0.0;
        Vector z;
        double impulse = 0.0;   ///< the least one of an impact, in N s; infinite without impacts
        double interval = 0.0;  ///< the shortest one between events, in s
    };
    bool finished = false;
    std::vector<BranchPoint> points;
    std::vector<SpecialPoint> special;
    std::vector<Doubling> doublings;
    std::vector<Seed> seeds;
    // Finished: how the walk ended.
    std::string reason;
    bool failed = false, closed = false;
    // Not finished: where it goes on.
    StoredOrbit at;
    std::optional<StoredRest> at_rest;  ///< equilibria: in the place of `at`
    int changes = 0;                    ///< equilibria: of contacts without a point between them
    double step = 0.0;
    bool collapse = false;  ///< it ends where both halves of the orbit are equal
    std::vector<Passed> trail;
};

/// What an interrupted run has computed: walks along branches and curves over two parameters, in their order. Branches
/// of equilibria have two walks, downwards and upwards.
struct BranchRecord {
    std::vector<WalkRecord> walks;  ///< all but the last one are finished
    std::vector<SpecialCurve> curves;

    /// Adds what an earlier run had computed behind this record. `known` may be null.
    void append_rest_of(const BranchRecord* known) {
        if (known == nullptr) return;
        for (std::size_t k = walks.size(); k < known->walks.size(); ++k) walks.push_back(known->walks[k]);
        for (std::size_t k = curves.size(); k < known->curves.size(); ++k) curves.push_back(known->curves[k]);
    }
};

/// Branches of orbits or equilibria over a parameter, and curves of their special points over two parameters.
struct Branches {
    std::string model, parameter;
    std::string second;                ///< the second parameter; empty: none
    std::vector<SpecialCurve> curves;  ///< over both parameters
    std::vector<std::string> coordinates;
    std::vector<Branch> branches;       ///< the first one, then those of doubled period
    std::string failure;                ///< why there is no first orbit or equilibrium; empty if there is
    Status status = Status::converged;  ///< outcome of the search for the first orbit
    bool equilibria = false;
    bool complete = false;  ///< false: interrupted
    BranchRecord record;    ///< what a later run continues from
};

/// Follows branches of periodic orbits over a parameter by pseudo-arclength continuation. Throws Error if the options
/// do not fit the model.
Branches continue_orbits(const model::Description& description, const BranchOptions& options);

/// Follows a branch of equilibria without friction forces: constraints and closed contacts stay closed, their forces
/// are unknowns. `guess` is a position near the first one; empty: the model's initial position. Throws Error if the
/// model has no derivatives or depends on time.
Branches continue_equilibria(const model::Description& description, const BranchOptions& options);

}  // namespace saltus::orbit
