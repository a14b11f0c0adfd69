// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <vector>

#include "saltus/model/series.hpp"
#include "saltus/model/systems/detail/quad.hpp"

namespace saltus::model {

/// The forces of springs and dampers between mass points as Taylor series. The cost of an order is linear in the number
/// of springs.
///
/// A spring pulls its point i with φ d and its point j with −φ d, where d = x_j − x_i and, with s = d·d,
///     φ = (k (l − l₀) + c l̇)/l = k − k l₀ r + c e,   r = 1/l = s^(−1/2),   e = l̇/l = y/s,   y = d·ḋ = ṡ/2.
/// Each quantity has a recurrence in the order n, with the coefficients of lower orders known:
///     s_n = Σ_j d_j·d_{n−j}                      y_n = (n + 1) s_{n+1}/2
///     n s_0 r_n = Σ_{j=1..n} (j/2 − n) s_j r_{n−j}    (from s ṙ = −ṡ r/2)
///     s_0 e_n = y_n − Σ_{j=1..n} s_j e_{n−j}          (from s e = y)
/// s_{n+1} contains d_{n+1} = w_n/(n + 1), w = u_j − u_i, which is known at order n.
///
/// A muscle has k and l₀ that are series of the time themselves. With κ = k l₀ its force is φ = k − κ r + c e, and with
/// x = l − l₀ = s r − l₀ it supplies the power ∂U/∂t = ½ k̇ x² − k x l̇₀. Products of series are convolutions.
class SpringSeries {
public:
    /// A function of the time. Without a series it is constant.
    struct Signal {
        double constant = 0.0;
        const double* series = nullptr;  ///< its coefficients; they must stay in their place
        int number = -1;                 ///< its place among the radii of add_bounds
    };
    struct Spring {
        int i, j;  ///< first of the three coordinates of each of its points
        double stiffness, damping, rest;
        bool muscle = false;          ///< stiffness and rest are not read
        std::array<Signal, 4> law{};  ///< of a muscle: k, l₀, dk/dt, dl₀/dt
    };
    /// Powers in W: what dampers take out, and what muscles supply.
    struct Powers {
        double damping = 0.0, supplied = 0.0;
    };

    explicit SpringSeries(std::span<const Spring> springs);

    bool empty() const { return blocks_.empty(); }

    /// Adds order n of the forces to h, and returns order n of the powers. Orders 0 to n of q and u must be known, with
    /// q̇ = u, and those of the muscles' functions of time.
    Powers add_order(int n, std::span<double* const> q, std::span<double* const> u, std::span<double* const> h);

    /// Adds bounds of |h(τ) − h(0)| on the complex disk |τ| <= R to `h_radius`, for the polynomials q and u of the
    /// degree that was last evaluated. `signal_radius` has the bounds of the functions of time, by Signal::number.
    /// Returns the bounds of the powers.
    Powers add_bounds(double R, std::span<const double> signal_radius, std::span<double> h_radius) const;

private:
    /// The series of four springs side by side; order n of each at [n].
    struct Block {
        static constexpr std::size_t orders = SeriesEquations::max_order + 2;
        using Series = std::array<Quad, orders>;
        int count;                          // springs that exist; the others are copies without force
        bool damped;                        // some damping is not zero
        std::array<int, Quad::width> i, j;  // Spring::i and j
        Quad stiffness, damping, rest;
        int muscle = -1;  // index in muscles_; −1 for springs
        std::array<Series, 3> d;
        Series s, r, phi, e, norm;  // norm: |d_n|
    };
    /// The series that only muscles have, in the order of Spring::law: k, l₀, dk/dt, dl₀/dt.
    struct Muscle {
        std::array<std::array<Signal, 4>, Quad::width> law;  // by lane
        std::array<Block::Series, 4> value;
        Block::Series kappa, x, x2, kx;  // k l₀, l − l₀ and its square, k (l − l₀)
    };
    Quad muscle_order(Muscle& muscle, Block& b, int n, Powers& powers);
    Powers muscle_bounds(const Muscle& muscle, const Block& b, int lane, double s_radius,
                         std::span<const double> signal_radius, double& phi_radius) const;

    /// Bounds on the disk: of d, s and y of four springs.
    struct Radii {
        std::array<Quad, 3> d;
        Quad s, y;
    };

    void add_block(std::span<const Spring> springs);
    static void extend(Block& b, int n, std::span<double* const> q, std::span<double* const> u);
    Radii radii(const Block& b, double R) const;

    std::vector<Block> blocks_;
    std::vector<Muscle> muscles_;
    int order_ = 0;  // last order that was evaluated
};

}  // namespace saltus::model
