// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "saltus/base/linalg.hpp"
#include "saltus/io/problem/condense.hpp"
#include "saltus/solvers/problem.hpp"

namespace saltus::io {

/// What a problem file holds: friction contacts given by their Delassus matrix (fc) or by mass matrix and directions
/// (gfc), the same with rolling friction (rfc, grfc), linear complementarity, mixed, and relay.
enum class ProblemKind { fc, gfc, rfc, grfc, lcp, mlcp, relay };

std::string_view to_string(ProblemKind kind);
std::optional<ProblemKind> problem_kind(std::string_view name);  ///< the inverse; nothing for another name

struct ContactProblem {
    std::string file;
    ProblemKind kind = ProblemKind::fc;
    int dimension = 0;  ///< of a contact: 2, 3, 5; 0 where there are none (lcp, mlcp, relay)
    int contacts = 0;   ///< without bilateral rows; 0 for lcp, mlcp, relay
    /// A global problem is condensed: W = Hᵀ M⁻¹ H, q = Hᵀ M⁻¹ f + w. Exactly zero blocks of W are absent (those on
    /// the diagonal and those whose transpose is not zero are kept, so the pattern is symmetric). Bilateral rows are
    /// one block, the last. In an over-determined mlcp the columns of M are the free unknowns, then the others.
    std::variant<solvers::FrictionProblem, solvers::LinearComplementarity, solvers::MixedComplementarity,
                 solvers::Relay>
        problem;
    std::optional<Global> global;    ///< of gfc and grfc
    std::optional<Vector> solution;  ///< r that the file brings along (FCLIB), in the order of the problem's rows
};

/// Reads a contact problem: FCLIB when the content begins like HDF5, otherwise text. Throws Error with file, line and
/// column (FCLIB: the name of the data) for whatever is wrong; nothing is returned half read.
///
/// Without `kind` the kind of a text is found from its content alone:
///  - `1|0 1|0 n m` and blocks 0 … n+m, or the two flags `0 1`: mlcp.
///  - `n storage n n`: lcp when exactly n numbers follow the matrix, relay when exactly 3 n do. Numbers end at the end
///    of the file or at the first word that is none. Any other count is refused with the request to give the kind:
///    it may be a relay cut short, or an lcp with numbers as comment.
///  - `d nc storage s s` with d = 2, 3 or 5; 5 means rolling. Global when s ≠ d·nc, or when a matrix of s × d·nc is
///    announced, in integers, after the first; local otherwise. Where the rest of a global problem does not follow,
///    but the numbers are just those of a local one, the kind is asked for. Where a matrix of another size seems to be
///    announced, it is a local problem only if no numbers are left over.
/// These beginnings exclude each other, but for mlcp and lcp with one unknown, where the whole layout decides. A text
/// that fits none gets the message of the layout that came furthest. What follows the last number needed is ignored.
/// With `kind` only that layout is tried, and numbers that follow are ignored like any text.
ContactProblem read_problem(const std::string& path, std::optional<ProblemKind> kind = {});

/// The same from a text; `file` is the name used in messages.
ContactProblem parse_problem(std::string_view text, const std::string& file, std::optional<ProblemKind> kind = {});

}  // namespace saltus::io
