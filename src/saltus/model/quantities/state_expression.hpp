// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/expr/tape.hpp"
#include "saltus/model/fwd.hpp"

namespace saltus::model {

/// An expression of time, state and parameters of a model that a person wrote on a command line, compiled. Definitions
/// of [let] and outputs of the model that are functions of the state are known by their names.
///
/// The object has scratch memory: each thread needs its own. Copies are cheap beside compiling.
class StateExpression {
public:
    enum class Derivatives { none, all };

    /// Throws Error with `place` if the expression cannot be read.
    StateExpression(const Model& model, const std::string& text, const Place& place,
                    Derivatives derivatives = Derivatives::none);

    double value(double t, std::span<const double> q, std::span<const double> u);
    /// Derivatives by t, q, u and the independent parameters at the arguments of the last call of `value`. Only with
    /// Derivatives::all.
    std::span<const double> gradient() const { return std::span(results_).subspan(1); }

private:
    expr::Tape tape_;
    std::vector<double> variables_;  ///< t, q, u
    std::vector<double> scratch_, results_;
};

}  // namespace saltus::model
