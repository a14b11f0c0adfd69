// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/expr/tape.hpp"
#include "saltus/proof/enclosure.hpp"

namespace saltus::stability {

/// Forces f^nc_a that depend on the positions and on their own velocity u_a alone, as functions of the speed v = |u_a|:
/// the resistances φ(v) = −s f^nc_a(s v) for s = 1 and s = −1 (docs/certificate-format.md, "separate damping").
class SeparateDamping {
public:
    explicit SeparateDamping(const model::Mechanics& model);

    /// By the form of the expressions every resistance is a smooth function of v >= 0 that vanishes for v = 0.
    bool valid() const { return valid_; }
    /// No resistance falls at any position of the box, for speeds of each coordinate up to `speeds`.
    bool rises(const proof::Box& q, const std::vector<double>& speeds) const;
    /// Both resistances of a coordinate have a derivative of order 1 to 5 at v = 0 that is not 0 over the box.
    bool takes_energy(const proof::Box& q, int coordinate) const;

private:
    proof::IntervalVector evaluate(const expr::Tape& tape, const proof::Box& q, const proof::Interval& speed) const;

    const model::Mechanics& model_;
    bool valid_ = false;
    expr::Tape slopes_;                // dφ/dv, two for each coordinate
    std::vector<expr::Tape> at_rest_;  // by coordinate: derivatives of order 1 to 5 of both resistances
};

}  // namespace saltus::stability
