// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "saltus/expr/series/series_tape.hpp"
#include "saltus/model/elements.hpp"

namespace saltus::model {

class SymbolicEquations;

/// The rows of a model that hold, slip or act as springs at one time. It names rows and coefficients and holds no
/// numbers.
struct ActiveForces {
    /// A contact with a spring and a damper: λ = −(stiffness·k·g + d·γ).
    struct Spring {
        int row;
        Coefficient k, d;  ///< `no_coefficient` means 0
        bool operator==(const Spring&) const = default;
    };
    /// What gives the normal force of a slipping friction.
    enum class Load {
        equation,     ///< the reaction of the row holding[number], times a sign
        coefficient,  ///< the coefficient `number`
        spring,       ///< springs[number]
        none,         ///< no force
    };
    /// Friction that slips on one row, or on two rows in a plane.
    struct Slip {
        int row, size;                  ///< first row, number of rows: 1 or 2
        std::array<Coefficient, 2> mu;  ///< the second one for an ellipse, otherwise `no_coefficient`
        Coefficient radius;             ///< factor of μ for drilling and rolling, or `no_coefficient`
        Load load;
        int number;
        bool operator==(const Slip&) const = default;
    };
    std::vector<int> holding;  ///< rows with the equation w·u̇ + ζ = 0 and an unknown reaction
    std::vector<Spring> springs;
    std::vector<Slip> slips;

    bool operator==(const ActiveForces&) const = default;
};

/// The derivative of a motion along one direction, as a tape on Taylor series. With active forces the motion satisfies
///     R(t, q, u, p; a, λ) = h + Σ_r w_r λ_r − M a = 0,     C(t, q, u, p; a) = w·a + ζ = 0 for the rows that hold,
/// where a = u̇, λ are the reactions of the rows that hold, and the other reactions are written as functions of t, q, u,
/// p and λ. A variation (δq, δu, δp) along a known motion makes δa and δλ:
///     M δa − F δλ = δR,     A δa = −δC,     F = ∂R/∂λ,
/// where δR and δC are taken with a and λ fixed. This is S y = r with y = (δa, δλ). The tape computes the series of S
/// and of r from those of the motion, δq and δu. A program is immutable, so threads can share it.
struct TangentProgram {
    TangentProgram(const SymbolicEquations& equations, const ActiveForces& forces, std::span<const int> parameters);

    /// An entry of a matrix that is not structurally zero, and which output of the tape it is.
    struct Entry {
        int row, column, output;
        bool constant;  ///< its coefficients above order 0 are zero
    };

    ActiveForces forces;
    std::vector<int> parameters;  ///< numbers of the parameters that vary
    /// Variables: t, q, u, a, λ of the rows that hold, which are given (SeriesStages), δq, δu. Parameters: p; δp of the
    /// varied ones; stiffness; the sign of each row that holds; the direction +1 or −1 of each slip (used for one row
    /// only).
    expr::SeriesTape tape;
    std::vector<Entry> matrix;  ///< S
    /// r is the sum of `right` and of `columns` times (δq, δu). Either `right` contains the part of δq and δu, or
    /// `columns` does; the tape then computes series of the motion alone.
    std::vector<int> right;      ///< the output of each row, −1 if it is zero
    std::vector<Entry> columns;  ///< entries of ∂(R, −C)/∂(q, u); empty for systems with many coordinates

    /// A workspace for the tape, up to an order. A new one costs as much as some short arcs; so one that was given back
    /// is used again. It must be prepared. Any thread may call this and `give_back`.
    std::unique_ptr<expr::SeriesWorkspace<double>> workspace(int max_order) const;
    void give_back(std::unique_ptr<expr::SeriesWorkspace<double>> used) const;

private:
    mutable std::mutex mutex_;
    mutable std::vector<std::unique_ptr<expr::SeriesWorkspace<double>>> unused_;
};

/// The programs of one system for the forces and parameters that were asked for. It may be used from any thread.
class TangentStore {
public:
    std::shared_ptr<const TangentProgram> by(const SymbolicEquations& equations, const ActiveForces& forces,
                                             std::span<const int> parameters);

private:
    std::mutex mutex_;
    std::vector<std::shared_ptr<const TangentProgram>> kept_;
};

}  // namespace saltus::model
