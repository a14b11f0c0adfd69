// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "saltus/ode/function_ref.hpp"

namespace saltus::ode {

/// A zero of s on [a, b]. s has the sign before at `left` and the sign after at `right`, where the interval has room
/// for them: a root at a has left = a, one at b has right = b. The bracket of a crossing is at most 4 eps max(|a|, |b|)
/// wide, unless s is exactly 0 on more than that.
struct Root {
    double t = 0.0;     ///< in the bracket
    int direction = 0;  ///< −1: from + to −, +1: from − to +, 0: touches and turns back
    double left = 0.0, right = 0.0;
};

struct RootSearch {
    /// |s| <= zero counts as 0: the noise of s, in its unit. Taken as 8 eps max|s| where that is more. What goes beyond
    /// zero by no more than this is a touch and no pair of crossings; too small a value turns noise into roots.
    double zero = 0.0;
    /// Whether a zero at a counts. If not (its event has just been dealt with), s is 0 until it has left ±`leave` for
    /// the first time; while |s(b)| <= leave at the end of a step, the next one too is to begin in this way.
    bool start_counts = true;
    double leave = 0.0;
    /// The sign that s is expected to leave a zero at a with, where that does not count; 0: whichever. If it leaves
    /// with the other one, that is a root: where it last had the expected sign, or a.
    int side = 0;
    int most_evaluations = 10000;  ///< of s, in looking; refining a root takes some 10 more, a touch some 100
};

enum class RootStatus {
    complete,    ///< all zeros that a smooth s has here, but for features narrower than about a thirtieth of [a, b]
    unresolved,  ///< s is not smooth, or turns too often, for the evaluations allowed, or its noise near a zero is
                 ///< above the tolerance; roots may be missing
    non_finite,  ///< s is NaN or infinite somewhere; the roots before that place
};
std::string_view to_string(RootStatus status);
inline bool usable(RootStatus status) { return status == RootStatus::complete; }

/// All zeros of a smooth s on one step [a, b], ascending, also pairs of them between two samples: s is interpolated on
/// pieces of [a, b] until the interpolant is as good as s itself or shows that s is monotone or far from 0, and s is
/// asked at all its extrema. 10 evaluations where s is far from 0 or monotone, about 10 more a crossing.
RootStatus find_roots(FunctionRef<double(double)> s, double a, double b, const RootSearch& search,
                      std::vector<Root>& roots);

}  // namespace saltus::ode
