// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "saltus/ode/function_ref.hpp"

namespace saltus::ode {

/// A zero of s on [a, b]. At `left` s has the sign it has before the root, and at `right` the sign after it, if the
/// interval has room for them: a root at a has left = a, a root at b has right = b. The bracket [left, right] of a
/// crossing is at most 4 eps max(|a|, |b|) wide, unless s is exactly 0 on a longer interval.
struct Root {
    double t = 0.0;     ///< the root, inside the bracket
    int direction = 0;  ///< −1: s falls through zero. +1: s rises through zero. 0: s touches zero and turns back
    double left = 0.0, right = 0.0;
};

/// Options of the search.
struct RootSearch {
    /// |s| <= zero counts as 0: the noise of s, in the unit of s. The value used is at least 8 eps max|s|. If s passes
    /// zero by no more than this and returns, that is a touch and not a pair of crossings. A value that is too small
    /// turns noise into roots.
    double zero = 0.0;
    /// Whether a zero at a counts as a root. Set it to false if the event at a has just been handled. Then s counts as
    /// 0 until |s| exceeds `leave` for the first time. If |s(b)| <= leave at the end of a step, the search on the next
    /// step must start in the same way.
    bool start_counts = true;
    double leave = 0.0;  ///< see start_counts; in the unit of s
    /// The sign that s is expected to have after leaving a zero at a that does not count; 0: either. If s leaves with
    /// the other sign, that is a root: at the last point where s had the expected sign, or at a.
    int side = 0;
    /// Evaluations of s while searching. Refining takes about 10 more per crossing, 100 per touch.
    int max_evaluations = 10000;
};

/// How a search ended.
enum class RootStatus {
    complete,    ///< All zeros of a smooth s were found, except features narrower than about (b − a)/30.
    unresolved,  ///< s is not smooth, oscillates too fast for max_evaluations, or its noise near a zero exceeds
                 ///< `zero`. Roots may be missing.
    non_finite,  ///< s is NaN or infinite somewhere; the roots before that place are given.
};
std::string_view to_string(RootStatus status);
inline bool usable(RootStatus status) { return status == RootStatus::complete; }

/// Finds all zeros of a smooth function s on one step [a, b], in ascending order, including pairs of zeros between two
/// samples. s is interpolated on pieces of [a, b] until the interpolant is as accurate as s itself, or shows that s is
/// monotone or far from 0; then s is evaluated at all extrema of the interpolant. It takes 10 evaluations if s is far
/// from 0 or monotone, and about 10 more per crossing. `roots` is overwritten.
RootStatus find_roots(FunctionRef<double(double)> s, double a, double b, const RootSearch& search,
                      std::vector<Root>& roots);

}  // namespace saltus::ode
