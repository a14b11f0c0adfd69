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

/// Semismooth Newton method for F(r) = 0, the Alart–Curnier functions of all blocks (block_function.hpp).
class NewtonSolver {
public:
    NewtonSolver();
    ~NewtonSolver();

    /// Prepares a problem, which must outlive the runs. If the pattern of W is that of the last problem, nothing is
    /// analysed and nothing is allocated. Returns false if the factors of the Jacobian would be too large; then `run`
    /// must not be called.
    bool prepare(const FrictionProblem& problem);

    /// Estimated multiplications of one Newton step.
    double step_work() const;

    /// Improves r by Newton steps; returns their number. On return r is the iterate with the smallest residual.
    int run(const Newton& method, std::vector<double>& r);

    /// The proximal point method. It solves the regularised problem with v + ε (r − c) in the place of v by Newton's
    /// method, moves the centre c to the solution, and repeats. ε falls if that was easy and rises if it failed.
    /// Returns the number of Newton steps. On return r is the iterate with the smallest residual.
    int run(const Proximal& method, std::vector<double>& r);

private:
    struct Pivoted;
    enum class Need { value, value_and_derivative };

    /// The merits ‖F‖² of the last iterates. The nonmonotone line search compares with the worst of them.
    struct History {
        static constexpr int length = 8;
        double merit[length];
        int count = 0, next = 0;
        void restart(double first) { merit[0] = first, count = next = 1; }
        void add(double value);
        double worst() const;
        double last() const { return merit[(next + length - 1) % length]; }
    };

    /// The result of `descend`.
    struct Descent {
        bool reached;    // the merit fell to the target
        int iterations;  // Newton steps made
    };

    /// v_ = W r + q, plus the proximal term weight_ (r − centre_).
    void velocities(const std::vector<double>& r);
    /// Computes F(r) into F_ and returns ‖F‖². With the derivative, also the blocks C_a and E_a of
    ///     J_ab = C_a (W + ε)_ab + E_a δ_ab.
    double evaluate(const std::vector<double>& r, Need need);
    double evaluate_laws(const std::vector<double>& r, Need need);  // the same for the velocities in v_
    /// Fills lu_ with J.
    void assemble(double epsilon);
    /// Calls put(row, column, value) for the elements of J; values for the same place must be added.
    template <class Put>
    void each_element(double epsilon, const Put& put) const;
    /// y = J x from the data, without the rounding of factors. Also sets W_direction_ = W x.
    void image(const std::vector<double>& x, double epsilon, std::vector<double>& y);
    /// Solves J direction_ = −F_ and sets W_direction_; the functions below are the ways to do it. False if all fail.
    bool solve_linear(double epsilon);
    bool solve_dense(double epsilon);
    bool solve_pivoted(double epsilon);
    template <class Solve>
    bool refine(double epsilon, const Solve& solve);
    bool analyse();
    /// One Newton step with line search. Adds the new merit to the history. False if the linear system cannot be solved
    /// or the merit is not finite; r is then unchanged.
    bool step(std::vector<double>& r, double regularisation);
    /// Newton steps until the merit is at most `target`, at most `max_steps`. r becomes the iterate of least merit.
    Descent descend(std::vector<double>& r, double regularisation, double target, int max_steps);

    const FrictionProblem* p_ = nullptr;
    BlockLU lu_;
    DenseLU dense_;
    InterfaceSystem interfaces_;
    bool by_interfaces_ = false;              // the system of the interfaces is used
    bool analysed_ = false;                   // lu_ has the pattern of this problem
    bool factors_fit_ = false;                // … and its factors are not too large
    std::unique_ptr<Pivoted> pivoted_;        // constructed at first use
    std::vector<std::pair<int, int>> extra_;  // blocks outside the pattern of W, for scaled sliders
    std::vector<int> extra_block_;            // for each scaled slider the block of its scaling row, else -1
    std::vector<Shape> shapes_;
    std::vector<std::size_t> square_;   // offset of C_a and E_a
    std::vector<double> C_, E_, tied_;  // tied_: derivative of F by the scaling reaction, one number per row
    std::vector<double> rho_, v_, v_before_, W_direction_, F_, direction_, correction_, image_, trial_, best_,
        descend_best_;
    std::vector<char> open_;  // 1 for open blocks, whose rows of J are those of the unit matrix
    History history_{};
    std::vector<double> centre_;  // centre c of the proximal term
    double weight_ = 0.0;         // its weight ε; 0 outside the proximal method
    double mean_ = 1.0;           // mean(diag W)
};

}  // namespace saltus::solvers
