// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "saltus/expr/tape.hpp"
#include "saltus/model/fwd.hpp"

namespace saltus::sensitivity {

/// The perturbation of a model as functions of time: θ of its contacts, η of its constraints, δ of its coordinates,
/// with exact derivatives. Contacts of one obstacle share a function.
class PairFunctions {
public:
    /// `model`: built from the description; gives the values of the parameters.
    PairFunctions(const model::Description& description, const model::Model& model);

    struct Values {
        std::vector<std::array<double, 3>> theta, eta;  ///< each with its first and second derivative
        std::vector<double> delta;
    };

    /// Valid until the next call.
    const Values& at(double t);

    /// The function of a contact in Values::theta; −1: not perturbed.
    int theta_of(int contact) const { return theta_of_[static_cast<std::size_t>(contact)]; }
    /// The coordinates that Values::delta belong to.
    const std::vector<int>& delta_coordinates() const { return delta_of_; }

    /// The largest jump of θ, η, their first two derivatives or δ on an interval; 0 where the expressions cannot jump,
    /// infinite where one is not a number. Jumps are searched between `cells` points and closed in by bisection.
    double largest_jump(double from, double to, int cells = 2000);

private:
    void compile(expr::Graph& graph, expr::Expr t);

    std::vector<expr::Expr> theta_, eta_, delta_;
    std::vector<int> theta_of_, delta_of_;
    expr::Tape tape_;
    std::vector<double> scratch_, out_;
    std::vector<std::size_t> kinked_;  // outputs that may jump
    Values values_;
};

}  // namespace saltus::sensitivity
