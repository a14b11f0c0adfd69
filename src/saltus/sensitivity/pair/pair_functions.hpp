// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "saltus/expr/tape.hpp"
#include "saltus/model/fwd.hpp"

namespace saltus::sensitivity {

/// The perturbation of a model as functions of time: θ of contacts, η of constraints and δ of coordinates, with exact
/// time derivatives. All contacts of one obstacle share one function θ.
class PairFunctions {
public:
    /// The description must contain a perturbation. `model` is built from it and gives the values of the parameters.
    /// Throws Error if an expression cannot be parsed.
    PairFunctions(const model::Description& description, const model::Model& model);

    struct Values {
        std::vector<std::array<double, 4>> theta, eta;  ///< each function with its first three derivatives
        std::vector<double> delta, delta_rate;          ///< each function, and its first derivative
    };

    /// The values at a time; valid until the next call.
    const Values& at(double t);

    /// The index of a contact's function in Values::theta; −1 if the contact is not perturbed.
    int theta_of(int contact) const { return theta_of_[static_cast<std::size_t>(contact)]; }
    /// The coordinates of the entries of Values::delta.
    const std::vector<int>& delta_coordinates() const { return delta_of_; }

    /// The largest jump of θ, η, their first two derivatives or δ on an interval. 0 if no expression can jump; infinite
    /// if a value is not finite. Jumps are searched between `cells` + 1 equidistant times and located by bisection.
    double largest_jump(double from, double to, int cells = 2000);

    /// The largest |θ|, |η| or |δ| on an interval, with derivatives of θ and η up to the given order (2 or 3). With
    /// order 3 the derivative of δ is included. Infinite if a value is not finite, or if the values grow without bound
    /// towards some time. The largest of `cells` + 1 equidistant times is refined between its neighbours.
    /// [Alscher] (34), (46), (61)
    double largest_value(double from, double to, int order, int cells = 2000);

private:
    void compile(expr::Graph& graph, expr::Expr t);
    double largest_at(double t, int order);

    std::vector<expr::Expr> theta_, eta_, delta_;
    std::vector<int> theta_of_, delta_of_;  // contact → function, function → coordinate
    expr::Tape tape_;
    std::vector<double> scratch_, out_;
    std::vector<std::size_t> kinked_;  // outputs of the tape that may jump
    Values values_;
};

}  // namespace saltus::sensitivity
