// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "saltus/base/linalg.hpp"
#include "saltus/io/problem/condense.hpp"
#include "saltus/solvers/problem.hpp"

/// Contact problem files, in text or HDF5 (FCLIB). docs/solve.md describes the formats.
namespace saltus::io {

/// The kind of problem in a file. A local problem gives the Delassus matrix W, a global problem the mass matrix M and
/// the directions H.
enum class ProblemKind {
    fc,     ///< friction, local
    gfc,    ///< friction, global
    rfc,    ///< friction with rolling resistance, local
    grfc,   ///< friction with rolling resistance, global
    lcp,    ///< linear complementarity problem
    mlcp,   ///< mixed linear complementarity problem
    relay,  ///< relay problem: complementarity with lower and upper bounds
};

std::string_view to_string(ProblemKind kind);

/// The inverse of `to_string`; no value for an unknown name.
std::optional<ProblemKind> problem_kind(std::string_view name);

/// A problem as it was read.
struct ContactProblem {
    std::string file;
    ProblemKind kind = ProblemKind::fc;
    int dimension = 0;  ///< rows of a contact: 2, 3 or 5; 0 for lcp, mlcp and relay
    int contacts = 0;   ///< number of contacts, without bilateral rows; 0 for lcp, mlcp and relay
    /// A global problem is condensed (see condense.hpp). Blocks of W that are exactly zero are absent, except blocks on
    /// the diagonal and blocks whose transposed block is not zero; the pattern is symmetric. Bilateral rows are one
    /// block, the last one. If an mlcp has more equalities than free unknowns, then the columns of M are the free
    /// unknowns, followed by the others.
    std::variant<solvers::FrictionProblem, solvers::LinearComplementarity, solvers::MixedComplementarity,
                 solvers::Relay>
        problem;
    std::optional<Global> global;    ///< the problem before it was condensed: gfc and grfc only
    std::optional<Vector> solution;  ///< reactions that the file contains (FCLIB), in the order of the problem's rows
};

/// Reads a contact problem: FCLIB if the file is HDF5, otherwise text. Throws Error with file, line and column (FCLIB:
/// the name of the data) for anything that is wrong; it never returns a part of a problem.
///
/// Without `kind` the kind of a text is inferred from its content:
///  - Two flags (0 or 1), then n and m: an mlcp.
///  - `n storage n n`: an lcp if exactly n numbers follow the matrix, a relay if exactly 3n do. Numbers end at the
///    first word that is not a number, or with the file. Any other count is ambiguous (a relay that is cut short, or
///    an lcp with numbers as a comment) and is refused with the request to give the kind.
///  - `d nc storage s s` with d = 2, 3 or 5: friction; 5 means rolling. It is global if s ≠ d·nc, or if a matrix of
///    s × d·nc follows the first one; otherwise it is local. If neither can be excluded then the text is refused with
///    the request to give the kind.
///
/// These beginnings exclude each other, except mlcp and lcp with one unknown, where the complete layout decides. If no
/// layout fits then the message is that of the layout that could be read furthest. Text after the last number that is
/// needed is ignored. If `kind` is given then only that layout is tried, and further numbers are ignored too.
ContactProblem read_problem(const std::string& path, std::optional<ProblemKind> kind = {});

/// The same for a text in memory. `file` is the name that messages use.
ContactProblem parse_problem(std::string_view text, const std::string& file, std::optional<ProblemKind> kind = {});

}  // namespace saltus::io
