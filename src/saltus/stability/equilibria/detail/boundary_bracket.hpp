// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace saltus::stability {

/// A bracket of the root of a function f that is >= 0 at `in` and < 0 at `out` (in any order on the line), halved by
/// the Illinois method: regula falsi in which the value of an end that stays twice is halved. Every third step is a
/// bisection, because f may have kinks and jumps.
struct BoundaryBracket {
    double in, out, f_in, f_out;
    int last_moved = 0;  ///< +1: `in` moved last, −1: `out` moved last

    /// The point to evaluate in step k = 0, 1, ...; strictly between `in` and `out` unless they are neighbouring
    /// numbers.
    double propose(int k) const {
        double x = 0.5 * (in + out);
        if (k % 3 != 2 && f_in > 0.0 && f_out < 0.0) x = in + (out - in) * f_in / (f_in - f_out);
        if (!(std::min(in, out) < x && x < std::max(in, out))) x = 0.5 * (in + out);
        return x;
    }

    /// Takes the value at x into account.
    void update(double x, double f) {
        if (f >= 0.0) {
            in = x;
            f_in = f;
            if (last_moved > 0) f_out *= 0.5;
            last_moved = 1;
        } else {
            out = x;
            f_out = f;
            if (last_moved < 0) f_in *= 0.5;
            last_moved = -1;
        }
    }
};

}  // namespace saltus::stability
