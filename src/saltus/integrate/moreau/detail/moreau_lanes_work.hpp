// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "saltus/expr/lanes.hpp"
#include "saltus/expr/tape.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/model/mass.hpp"
#include "saltus/model/symbolic.hpp"
#include "saltus/solvers/friction/few_rows.hpp"
#include "saltus/solvers/friction/friction.hpp"

namespace saltus::integrate::moreau::lanes {

using expr::Lanes;

/// A truth value for each lane: 0 or −1 (all bits set), as vector comparisons give them.
struct alignas(64) LaneMask {
    std::int64_t v[Lanes::width];
};

inline constexpr int max_rows = solvers::FewRows::max_rows;
inline constexpr int max_coordinates = 16;  ///< the arrays of Work have this size

/// The kinds of laws. A slider has a known bound; that of a scaled slider is μ times the reaction of its constraint.
enum class Kind : char { bilateral, scaled_slider, slider, unilateral, contact };

/// One law on one row, or on more for a contact with friction: the normal row, then the rows of friction.
struct Block {
    Kind kind = Kind::contact;
    int row = 0;               ///< number of the (normal) row in the model
    int slip = -1;             ///< first row of a contact's friction
    int slips = 1;             ///< number of rows of friction: 1 along a line, 2 in a plane
    bool poisson = false;      ///< impacts of the contact obey Poisson's law
    bool orthotropic = false;  ///< friction in a plane has mu and mu_second along its rows
    int scaling = -1;          ///< block whose reaction scales a scaled slider
    int contact = -1;          ///< number among the contacts
    /// Coefficients at q_m; `force` is the normal force of a slider. They point to a zero where there is none.
    const Lanes *mu = nullptr, *mu_second = nullptr, *force = nullptr, *e_n = nullptr, *e_t = nullptr;
};

/// A row of the contact problem of the step.
struct ProblemRow {
    int row = 0;  ///< number of the row in the model
    int block = 0;
    bool friction = false;
    int parent = -1;  ///< problem row whose reaction bounds this friction; −1: a known bound
    int second = -1;  ///< of the first row of friction in a plane: the second one, of which it is −2; otherwise −1
};

/// The data of eight motions: what is fixed, the states, and the scratch of a step. The kernels for the different
/// register widths work on it.
struct Work {
    /// `varied`: numbers of parameters that are not the same for all motions. Terms that depend on them are computed by
    /// the tape; lanes have none.
    Work(const model::Mechanics& model, double theta, std::span<const int> varied = {});

    // fixed
    const model::Mechanics& model;
    const model::SymbolicEquations& system;
    const model::Layout& layout;
    int n = 0;
    double theta = 0.5, tolerance = 1e-10;  ///< θ of the method, and relative residual of contact problems
    bool literal = false;                   ///< Restitution::literal
    /// Some friction is in a plane, or some contact obeys Poisson's law. Contact problems are then solved lane by lane
    /// (general_rows.inc), otherwise in all lanes together.
    bool general = false;
    std::vector<Block> blocks;  ///< constraints, their friction, sliders, clutches, contacts
    int constraints = 0;
    expr::Tape tape, energy_tape, position_tape;
    bool diagonal = false, mass_constant = false;
    std::vector<double> inverse_mass;  ///< M⁻¹ of a constant, diagonal M

    model::Workspace workspace;  ///< scratch for the evaluation of one state
    model::Terms terms;

    // for contact problems that the search for modes did not solve
    solvers::FrictionProblem problem;
    solvers::Workspace solver;
    solvers::Solution solution;
    std::vector<double> guess;
    Lanes first_guess[max_rows];

    // terms at q_m: pointers to `varying`, which the tape computes, or to `constant`
    std::vector<Lanes> scratch, varying, constant, energy_scratch, position_scratch;
    std::vector<const Lanes*> h, M, W, chi, zeta, position, coefficients;
    Lanes no_coefficient{0.0};
    std::vector<char> has_chi;
    std::vector<Lanes> energy_out, position_out;

    // states
    Lanes t{0.0}, t_next{0.0}, step{0.0}, step_before{0.0};
    Lanes q[max_coordinates], u[max_coordinates];
    /// For each contact: the lanes in which it was open, or held, in the step before. A lane in neither of them: the
    /// contact was struck with e_N > 0, or leaves.
    std::vector<LaneMask> open, holds;
    std::vector<Lanes> gamma_before;  ///< γ_N⁺ of each contact after the step before; only used where it was closed
    LaneMask struck_before{}, lost{};
    std::vector<Lanes> Lambda;  ///< impulses of each row of the model in the step before

    // scratch of a step
    Lanes q_m[max_coordinates], change[max_coordinates];
    Lanes factor[max_coordinates][max_coordinates];  ///< Cholesky factor of M; reciprocals on the diagonal
    std::vector<LaneMask> closed, struck;
    LaneMask any_struck{}, unsolved{};
    ProblemRow rows[max_rows];
    int row_count = 0;
    LaneMask present[max_rows];               ///< for each problem row: the lanes that have it
    Lanes column[max_rows][max_coordinates];  ///< M⁻¹W
    Lanes D[max_rows][max_rows], A[max_rows][max_rows];
    Lanes gamma[max_rows], b[max_rows], r[max_rows], v[max_rows], z[max_rows];
    Lanes impact[max_rows];  ///< impulses of an impact by Poisson's law, in front of those of the step
};

}  // namespace saltus::integrate::moreau::lanes
