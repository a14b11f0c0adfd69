// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "saltus/expr/differentiate.hpp"
#include "saltus/model/jacobians.hpp"
#include "saltus/model/symbolic.hpp"

namespace saltus::model {

/// Tapes of the derivatives of a system's functions by t, q, u and some parameters. Each tape is made when it is first
/// asked for. The object is shared by all evaluators and may be used from any thread.
class DerivativeTapes {
public:
    /// A Jacobian: its sparsity pattern, and the tape that computes its entries in the order of the pattern.
    struct Made {
        Pattern pattern;
        expr::Tape tape;
    };

    /// The switching functions of the system: quantities that expressions compare.
    struct Switches {
        expr::Tape values;
        Made derivatives;
    };

    DerivativeTapes(const Formulas& formulas, const Derived& derived, std::span<const int> parameters);
    const Made& of(Function f) const;
    const Switches& switches() const;

    const std::vector<int>& index() const { return f_.index; }  ///< index in the model of each coordinate here
    /// Number of variables of the tapes: t; q, u, a of the formulas' coordinates; λ of all rows.
    std::size_t variables() const { return 1 + 3 * f_.index.size() + lambda_.size(); }

private:
    std::vector<expr::Expr> outputs_of(Function f) const;
    std::vector<expr::Expr> conditions() const;
    Made make(const std::vector<expr::Expr>& functions, bool by_coordinate) const;
    expr::Tape tape_of(const std::vector<expr::Expr>& outputs) const;

    mutable Formulas f_;  // a copy, because derivatives add nodes to the graph
    const Derived d_;
    const std::vector<int> parameters_;                // numbers of the parameters that have a column
    std::vector<expr::Expr> a_, lambda_;               // symbols of the accelerations and of the reactions
    std::vector<std::pair<expr::Expr, int>> columns_;  // the symbol of each column, and the number of the column
    mutable std::mutex mutex_;                         // guards the members below, which are made on demand
    mutable std::vector<expr::Derivative> derivatives_;
    mutable std::array<std::unique_ptr<const Made>, function_count> made_;
    mutable std::unique_ptr<const Switches> switches_;
};

/// The derivative tapes of one system. Keeps those of the sets of parameters that were asked for last, so that they are
/// not derived again.
class DerivativeStore {
public:
    std::shared_ptr<const DerivativeTapes> by(const Formulas& formulas, const Derived& derived,
                                              std::span<const int> parameters);

private:
    std::mutex mutex_;
    std::vector<std::pair<std::vector<int>, std::shared_ptr<const DerivativeTapes>>> kept_;
};

/// Evaluates derivative tapes, with scratch memory of its own.
class ExpressionJacobians final : public Jacobians {
public:
    explicit ExpressionJacobians(std::shared_ptr<const DerivativeTapes> tapes);

    const Pattern& pattern(Function f) const override { return *at_hand(f).pattern; }
    void evaluate(Function f, const At& at, std::span<const double> a, std::span<const double> lambda,
                  std::span<double> values) override;
    int switches() const override { return tapes_->switches().derivatives.pattern.rows; }
    bool all_switches() const override { return true; }
    void switches(const At& at, std::span<double> values) override;
    void switch_derivatives(const At& at, Matrix& out) override;

private:
    /// A tape with its scratch. `p` are the parameter values that the scratch was prepared for.
    struct AtHand {
        const Pattern* pattern = nullptr;
        const expr::Tape* tape = nullptr;
        bool prepared = false;
        std::vector<double> scratch, p;
    };
    AtHand& at_hand(Function f) const;
    /// Writes t, q, u, a and λ to variables_.
    void fill(const At& at, std::span<const double> a, std::span<const double> lambda);
    /// Evaluates a tape at variables_. Prepares its scratch first if the parameter values have changed.
    void run(AtHand& own, std::span<const double> p, std::span<double> values) const;

    std::shared_ptr<const DerivativeTapes> tapes_;
    mutable std::array<AtHand, function_count> at_hand_;
    AtHand switch_values_, switch_derivatives_;
    std::vector<double> variables_;  // in the order of DerivativeTapes::variables
};

}  // namespace saltus::model
