// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/expr/parse.hpp"
#include "saltus/expr/tape.hpp"
#include "saltus/model/feedback.hpp"
#include "saltus/model/fwd.hpp"

namespace saltus::model {

/// The meaning of `function(argument)`, such as lambda(floor). Nothing: the function is none of the above. Throws Error
/// with `place` if the model has no such element, or the element no such quantity.
std::optional<ElementQuantity> element_quantity(const Mechanics& model, std::string_view function,
                                                std::string_view argument, const Place& place);

/// A call in a text whose argument is a plain name, such as lambda(vertical groove).
struct NamedCall {
    std::string function, argument;
    Place place;
    std::string symbol;  ///< the name that stands for the call in `WithoutCalls::source`
};
struct WithoutCalls {
    expr::Source source;
    std::vector<NamedCall> calls;
};
/// Replaces every call of one of the `functions` by a name of its own. The name and the spaces behind it are as long as
/// the call, so that places in messages stay right. Equal calls get the same name. Names are numbered from `first` on,
/// so that several texts can be read together.
WithoutCalls replace_calls(const expr::Source& source, std::span<const std::string_view> functions,
                           std::size_t first = 0);
/// The functions of `element_quantity`.
std::span<const std::string_view> quantity_functions();

/// A derived quantity of [output].
struct Output {
    std::string name;
    std::string unit;  ///< as written; may be empty
    expr::Source source;
};

/// The derived quantities of a model. They do not influence the motion.
class Outputs {
public:
    std::vector<Output> list;                 ///< may be empty
    std::vector<ElementQuantity> quantities;  ///< those that the expressions mention

    /// Writes all values. q and u are those of the whole model; `values` are those of `quantities`.
    void evaluate(double t, std::span<const double> q, std::span<const double> u, std::span<const double> values,
                  std::span<double> out) const;

    /// A coordinate that follows a reference r(t) of [control]; the error y − r is an output.
    struct Tracked {
        std::string coordinate;
        std::size_t output;  ///< index in `list`
    };
    std::vector<Tracked> tracked;

private:
    friend class Builder;
    expr::Tape tape_;                      // variables: t, coordinates, velocities, quantities
    std::vector<int> positions_, speeds_;  // indices of the coordinates and velocities that are mentioned
};

/// Whether the model has derived quantities.
bool has_outputs(const Model& model);

}  // namespace saltus::model
