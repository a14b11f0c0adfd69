// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <ostream>
#include <random>

#include "saltus/base/index.hpp"
#include "saltus/solvers/problem.hpp"
#include "saltus/solvers/solution.hpp"

namespace saltus::solvers {

inline void PrintTo(Status status, std::ostream* out) { *out << to_string(status); }

}  // namespace saltus::solvers

/// Problems for the tests of the solvers: laws by name, matrices with known properties, and problems constructed from a
/// chosen solution.
namespace saltus::solvers::test {

/// Random numbers that are the same with every compiler and standard library.
class Random {
public:
    explicit Random(unsigned seed) : engine_(seed) {}
    double uniform() { return (static_cast<double>(engine_()) + 0.5) * 0x1p-32; }
    double uniform(double low, double high) { return low + (high - low) * uniform(); }
    double normal() {
        const double length = std::sqrt(-2.0 * std::log(uniform()));
        return length * std::cos(2.0 * std::numbers::pi * uniform());
    }
    int below(int n) { return static_cast<int>(uniform() * n); }
    Vector vector(Eigen::Index n) {
        return Vector::NullaryExpr(n, [&] { return normal(); });
    }
    Matrix matrix(Eigen::Index rows, Eigen::Index columns) {
        return Matrix::NullaryExpr(rows, columns, [&] { return normal(); });
    }
    Eigen::Vector3d direction() { return vector(3).normalized(); }

private:
    std::mt19937 engine_;
};

inline std::vector<double> to_vector(const Vector& x) { return {x.data(), x.data() + x.size()}; }
inline Vector to_eigen(const std::vector<double>& x) {
    return Eigen::Map<const Vector>(x.data(), static_cast<Eigen::Index>(x.size()));
}

// --- laws ----------------------------------------------------------------------------------------------------

inline Law law_of(LawKind kind, double mu = 0.0) {
    Law law;
    law.kind = kind;
    law.mu = mu;
    return law;
}
inline Law unilateral() { return law_of(LawKind::unilateral); }
inline Law bilateral() { return law_of(LawKind::bilateral); }
inline Law planar(double mu) { return law_of(LawKind::friction2, mu); }
inline Law spatial(double mu) { return law_of(LawKind::friction3, mu); }
inline Law slider(double bound) {
    Law law = law_of(LawKind::slider);
    law.bound = bound;
    return law;
}
inline Law scaled_slider(double mu, int row) {
    Law law = law_of(LawKind::scaled_slider, mu);
    law.row = row;
    return law;
}

/// The elements of random problems. Each is one law; a rail is a bilateral row with friction scaled by its reaction.
enum class Sort {
    unilateral,
    planar,
    spatial,
    orthotropic,
    drilling,
    rolling,
    rolling_and_drilling,
    patch,
    slider,
    slider_in_the_plane,
    bilateral,
    rail,
    rail_in_the_plane,
    orthotropic_slider,  // in the plane, with two bounds
    orthotropic_rail,    // in the plane, with two coefficients
};

/// A block of rows with its law.
struct Piece {
    Law law;
    int size;
};

/// Appends the blocks of a sort with random coefficients.
void append(Sort sort, Random& random, std::vector<Piece>& pieces);

std::vector<int> sizes_of(const std::vector<Piece>& pieces);

// --- matrices ------------------------------------------------------------------------------------------------

/// A symmetric matrix of the given rank. Its nonzero eigenvalues fall from 1 to 1/condition, evenly in their logarithm.
Matrix with_condition(Random& random, int n, double condition, int rank);

/// The nonzero blocks of W.
BlockMatrix sparse(const Matrix& W, const std::vector<int>& sizes);

// --- problems ------------------------------------------------------------------------------------------------

inline FrictionProblem problem_of(const Matrix& W, std::vector<double> q, std::vector<Law> laws,
                                  const std::vector<int>& sizes) {
    FrictionProblem p;
    p.W = BlockMatrix::from_dense(W, sizes);
    p.q = std::move(q);
    p.laws = std::move(laws);
    return p;
}

/// One law on all rows.
inline FrictionProblem one(const Matrix& W, std::vector<double> q, const Law& law) {
    return problem_of(W, std::move(q), {law}, {static_cast<int>(W.rows())});
}

/// A problem with a solution.
struct Constructed {
    FrictionProblem problem;
    std::vector<double> r, v;
};

/// Chooses r and v of one block so that they satisfy its law; `scaling` is the reaction of a scaled slider's row.
void choose_solution(const Piece& piece, Random& random, double scaling, double* r, double* v);

/// Properties of the matrix and the units of a constructed problem.
struct Recipe {
    double condition = 1.0;             ///< condition number of W
    double rank = 1.0;                  ///< rank of W over its rows
    int bodies = 0;                     ///< > 0: W of contacts among so many rigid bodies, in sparse blocks
    double asymmetry = 0.0;             ///< relative random change of every element
    double compliance = 0.0;            ///< added to the diagonal, relative to its mean
    double friction = 1.0;              ///< factor of the friction coefficients
    double w_unit = 1.0, q_unit = 1.0;  ///< units of W and q
};

/// A problem with the solution r, v: random laws of these sorts, W by the recipe, and q = v − W r.
Constructed constructed(unsigned seed, const std::vector<Sort>& sorts, const Recipe& recipe);

/// Colliding bodies for which a separating motion u* exists: every normal is within 17° of the relative velocity of u*,
/// so H u* is inside the dual cones. That suffices for the existence of a solution with W = H M⁻¹ Hᵀ and q = H u, for
/// any rank (Acary, Cadoux, Lemaréchal, Malick 2011). u is −u* plus a random part. Sorts: unilateral, planar, spatial.
FrictionProblem pile(unsigned seed, const std::vector<Sort>& sorts, int bodies);

/// `count` sorts drawn at random from a list.
std::vector<Sort> mixed(unsigned seed, const std::vector<Sort>& list, int count);

}  // namespace saltus::solvers::test
