// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <memory>
#include <span>
#include <vector>

#include "saltus/integrate/mode/dynamics.hpp"
#include "saltus/integrate/mode/linearised.hpp"
#include "saltus/ode/stage_systems.hpp"
#include "saltus/solvers/linear/block_matrix.hpp"

namespace saltus::integrate {

/// The linear systems (s − J) δx = r of implicit steps in the mode of a Dynamics, with sparse matrices: the cost of a
/// factorisation and of a solution is linear in the number of coordinates, if each depends on a few others only.
///
/// x = (q, u, work), and J is the derivative of (u, u̇, 0): that of the work is left out, because nothing depends on the
/// work. With u̇ from M u̇ = h + Fλ, A u̇ + ζ = 0 the system is
///     s δq − δu = r_q,   s δu − δu̇ = r_u,   s δwork = r_work,
///     M δu̇ = R_q δq + R_u δu + F μ,   A δu̇ + C_q δq + C_u δu = 0,
/// where R = h + Fλ − M u̇ and A u̇ + ζ are differentiated with λ and u̇ fixed. Eliminating δq and δu̇ leaves
///     | B  −F | | δu |   | M r_u + R_q r_q/s |      B = s M − R_u − R_q/s
///     | Q   0 | | μ  | = | A r_u − C_q r_q/s |      Q = s A + C_u + C_q/s.
/// B is sparse and has the same pattern in every mode; its order of elimination is found once. The few rows of Q may be
/// full (a volume depends on all points), so that they are kept out of the factors: δu = B⁻¹(… + F μ) with μ from the
/// small matrix Q B⁻¹F. Forces that follow the state (Linearised::following) are treated in the same way, each with its
/// value as an unknown like μ.
class SparseStages final : public ode::StageSystems {
public:
    /// Keeps references to both.
    SparseStages(Dynamics& dynamics, Linearised& linearised);
    ~SparseStages() override;

    /// Whether implicit steps in the mode in force are possible: the system gives derivatives, B has sparse factors,
    /// and the equations are few enough.
    bool serves_mode();

    ode::StepStatus linearise(double t, const double* x) override;
    bool factorise(double real, std::span<const std::complex<double>> pairs) override;
    void solve(std::span<double> r) override;
    void solve_pair(std::size_t pair, std::span<double> re, std::span<double> im) override;

    /// Takes J from the state of the last successful Linearised::prepare. Returns accepted or non_finite.
    ode::StepStatus adopt_prepared();
    /// Solves (s − J)(δq, δu) = (0, r) for δu alone, in place: n numbers. With a complex shift for re + i·im.
    void solve_velocity(std::span<double> r);
    void solve_velocity_pair(std::size_t pair, std::span<double> re, std::span<double> im);

private:
    template <class Scalar>
    struct Factors;
    enum class Part : char { M, by_q, by_u };
    /// Where one entry of M, R_q or R_u goes in B.
    struct Place {
        int from;   // index among the values of M or of R
        int entry;  // block of B
        int i, j;   // place in the block
        Part part;
    };

    void analyse();
    void collect_border();
    template <class Scalar>
    bool factorise(Factors<Scalar>& factors, Scalar shift);
    template <class Scalar>
    void fill(Factors<Scalar>& factors) const;
    template <class Scalar>
    void solve_block(Factors<Scalar>& factors, Scalar* x) const;
    template <class Scalar>
    bool accurate(Factors<Scalar>& factors);
    template <class Scalar>
    void solve_border(Factors<Scalar>& factors);
    template <class Scalar>
    void right_side(Factors<Scalar>& factors, std::span<const Scalar> r);
    template <class Scalar>
    void set_mass_times(std::span<const Scalar> r_u, Factors<Scalar>& factors) const;
    template <class Scalar>
    void solve(Factors<Scalar>& factors, std::span<Scalar> r);
    template <class Scalar>
    void solve_velocity(Factors<Scalar>& factors, std::span<Scalar> r);

    Dynamics& d_;
    Linearised& linearised_;
    const int n_;
    bool analysed_ = false, possible_ = false;
    std::vector<Place> places_;
    solvers::BlockMatrix pattern_of_B_;
    std::unique_ptr<Factors<double>> real_;
    std::vector<std::unique_ptr<Factors<std::complex<double>>>> pairs_;
    // The border, one column per equation, then one per force that follows the state: directions of the forces, and the
    // rows of Q by their powers of s.
    Matrix force_, by_acceleration_, by_u_, by_q_;
    Eigen::Index equations_ = 0;
    std::vector<double> mass_, residual_;  // values of M and R where J was evaluated
    const model::Pattern* pattern_ = nullptr;
    std::vector<std::complex<double>> pair_scratch_;
};

}  // namespace saltus::integrate
