// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "saltus/expr/lanes.hpp"
#include "saltus/expr/tape.hpp"
#include "saltus/integrate/moreau/few_rows.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/mass.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/symbolic.hpp"
#include "saltus/solvers/friction/friction.hpp"

namespace saltus::integrate::moreau::lanes {

using expr::Lanes;

/// For each lane 0 or −1 (all bits).
struct alignas(64) LaneMask {
    std::int64_t v[Lanes::width];
};

inline constexpr int most_rows = FewRows::most;
inline constexpr int most_coordinates = 16;

enum class Kind : char { bilateral, scaled_slider, slider, unilateral, contact };

/// One law on one or two rows: its normal (or only) row, and friction behind it.
struct Block {
    Kind kind = Kind::contact;
    int row = 0;                   ///< of the model
    int slip = -1;                 ///< row of a contact's friction
    int scaling = -1;              ///< block whose reaction scales a scaled slider
    int contact = -1;              ///< number among the contacts
    double mu = 0.0, bound = 0.0;  ///< `bound` of a slider: force, not impulse
    double e_n = 0.0, e_t = 0.0;
};

/// A row of the contact problem of the step.
struct ProblemRow {
    int row = 0;  ///< of the model
    int block = 0;
    bool friction = false;
    int parent = -1;  ///< problem row whose reaction bounds this friction; −1: a known bound
};

/// Everything that eight motions need: what is fixed, their states, and the scratch of a step.
struct Work {
    Work(const model::Model& model, double theta);

    // fixed
    const model::Model& model;
    const model::SymbolicEquations& system;
    const model::Layout& layout;
    int n = 0;
    double theta = 0.5, tolerance = 1e-10;
    std::vector<Block> blocks;  ///< constraints, their friction, sliders, clutches, contacts
    int constraints = 0;
    expr::Tape tape, energy_tape, position_tape;
    bool diagonal = false, mass_constant = false;
    std::vector<double> inverse_mass;  ///< of a constant, diagonal M

    model::Workspace workspace;  ///< of one state
    model::Terms terms;

    // for problems whose modes were not found
    solvers::FrictionProblem problem;
    solvers::Workspace solver;
    solvers::Solution solution;
    std::vector<double> guess;
    Lanes first_guess[most_rows];

    // terms at q_m: what varies comes from the tape, the rest is constant
    std::vector<Lanes> scratch, varying, constant, energy_scratch, position_scratch;
    std::vector<const Lanes*> h, M, W, chi, zeta, position;
    std::vector<char> has_chi;
    std::vector<Lanes> energy_out, position_out;

    // states
    Lanes t{0.0}, t_next{0.0}, step{0.0}, step_before{0.0};
    Lanes q[most_coordinates], u[most_coordinates];
    std::vector<LaneMask> open, holds;  ///< of each contact, by the step before
    LaneMask struck_before{}, lost{};
    std::vector<Lanes> Lambda;  ///< of each row of the model, by the step before

    // scratch of a step
    Lanes q_m[most_coordinates], change[most_coordinates];
    Lanes factor[most_coordinates][most_coordinates];  ///< Cholesky factor of M; reciprocals on the diagonal
    std::vector<LaneMask> closed, struck;
    LaneMask any_struck{}, unsolved{};
    ProblemRow rows[most_rows];
    int row_count = 0;
    LaneMask present[most_rows];
    Lanes column[most_rows][most_coordinates];  ///< M⁻¹W
    Lanes D[most_rows][most_rows], A[most_rows][most_rows];
    Lanes gamma[most_rows], b[most_rows], r[most_rows], v[most_rows], z[most_rows];
};

}  // namespace saltus::integrate::moreau::lanes
