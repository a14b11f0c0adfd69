// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "saltus/solvers/detail/residual.hpp"
#include "saltus/solvers/friction/detail/interface_system.hpp"
#include "saltus/solvers/friction/detail/shape.hpp"
#include "saltus/solvers/friction/friction.hpp"
#include "saltus/solvers/linear/block_lu.hpp"
#include "saltus/solvers/linear/dense_lu.hpp"

namespace saltus::solvers {

/// Semismooth Newton on the Alart–Curnier functions of all blocks (`block_function.hpp`).
class NewtonSolver {
public:
    NewtonSolver();
    ~NewtonSolver();

    /// Takes on a problem, which must outlive the runs. Problems with the pattern of the one before cost no analysis
    /// and no allocation. False when the factors of the Jacobian would be too large: then it must not run.
    bool prepare(const FrictionProblem& problem);

    /// Multiplications in one step, about.
    double step_work() const;

    /// Improves r; returns the number of iterations. On return r is the iterate with the smallest residual.
    int run(const Newton& method, std::vector<double>& r);

    /// The proximal point method with Newton inside: solves the regular problem v + ε (r − c) for r, moves the centre c
    /// there, and so on; ε falls as long as that works and rises when it does not.
    int run(const Proximal& method, std::vector<double>& r);

private:
    struct Pivoted;
    /// The last few merits, of which a new one must beat the worst.
    struct History {
        double merit[8];
        int count = 0, next = 0;
        void restart(double first) { merit[0] = first, count = next = 1; }
        void add(double value);
        double worst() const;
        double last() const { return merit[(next + 7) % 8]; }
    };

    /// v = W r + q, with the proximal term.
    void velocities(const std::vector<double>& r);
    /// F of r into F_ and its squared norm; with `jacobian` the pieces C_a and E_a of each block,
    ///     J_ab = C_a (W + ε)_ab + E_a δ_ab.
    double evaluate(const std::vector<double>& r, bool jacobian);
    double evaluate_laws(const std::vector<double>& r, bool jacobian);  // with the velocities in v_
    void assemble(double epsilon);
    /// Every element of J to put(row, column, value).
    template <class Put>
    void each_element(double epsilon, const Put& put) const;
    bool solve_dense(double epsilon);
    /// J x as it would be without rounding in the factors; W x comes into W_direction_.
    void image(const std::vector<double>& x, double epsilon, std::vector<double>& y);
    bool solve_linear(double epsilon);
    template <class Solve>
    bool refine(double epsilon, const Solve& solve);
    bool analyse();
    bool solve_pivoted(double epsilon);
    /// One step with line search against the merits so far; the new merit joins them. False when there is none.
    bool step(std::vector<double>& r, double regularisation);
    /// Newton steps until the merit has fallen to `target`; false when it does not get there.
    bool descend(std::vector<double>& r, double regularisation, double target, int most, int& iterations);

    const FrictionProblem* p_ = nullptr;
    BlockLU lu_;
    DenseLU dense_;
    InterfaceSystem interfaces_;
    bool by_interfaces_ = false, analysed_ = false, factors_fit_ = false;
    std::unique_ptr<Pivoted> pivoted_;        // made when needed
    std::vector<std::pair<int, int>> extra_;  // blocks outside W's pattern, for scaled sliders
    std::vector<int> extra_block_;            // of each block with a scaled slider: the block of its row
    std::vector<Shape> shapes_;
    std::vector<std::size_t> square_;   // offset of C_a and E_a
    std::vector<double> C_, E_, tied_;  // tied_: derivative with respect to the scaling row, one a row
    std::vector<double> rho_, v_, v_before_, W_direction_, F_, direction_, correction_, image_, trial_, best_,
        descend_best_;
    std::vector<char> open_;
    History history_{};
    std::vector<double> centre_;  // with weight_: the proximal term weight_ (r − centre_) in v
    double weight_ = 0.0;
    double mean_ = 1.0;
};

}  // namespace saltus::solvers
