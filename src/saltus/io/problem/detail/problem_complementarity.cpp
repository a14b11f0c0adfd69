// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/problem/detail/problem_complementarity.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/io/problem/detail/problem_matrix.hpp"

namespace saltus::io {

namespace {

/// Which rows of M are equalities (true) and which complementarities. The file gives the first row of each block, then
/// a flag for each block: 0 for equalities.
std::vector<bool> read_free_rows(Scanner& in, std::int64_t n, std::int64_t m) {
    const std::int64_t size = n + m;
    std::vector<std::int64_t> start{in.integer({"the first of the starts of the blocks"}, 0, 0)};
    while (start.back() < size) start.push_back(in.integer({"a start of the blocks"}, start.back() + 1, size));
    const std::size_t at = in.position();
    std::vector<bool> free;
    for (std::size_t k = 0; k + 1 < start.size(); ++k)
        free.insert(free.end(), ix(start[k + 1] - start[k]),
                    in.integer({"the flags of the blocks", k, start.size() - 1}, 0, 1) == 0);
    if (std::count(free.begin(), free.end(), true) != n)
        throw Misfit{at, "the blocks have " + std::to_string(std::count(free.begin(), free.end(), true)) +
                             " equalities, not " + std::to_string(n)};
    return free;
}

/// The second form of a mixed problem, M = [A C; D B], q = (a, b). `word` and `q_word` hold where each entry stands:
/// the number of words after `at`.
struct Parts {
    std::size_t at = 0;  ///< offset of the first entry of A
    Matrix M;
    Vector q;
    Eigen::MatrixXi word;
    Eigen::VectorXi q_word;
};

Parts read_parts(Scanner& in, int n, int m) {
    Parts parts;
    parts.at = in.position();
    check_dense_size(parts.at, "[A C; D B]", n + m, n + m);
    in.require(std::int64_t{n + m} * (n + m + 1), "A, B, C, D, a and b");
    parts.M = Matrix(n + m, n + m);
    parts.word = Eigen::MatrixXi(n + m, n + m);
    int word = 0;
    const auto part = [&](std::string_view name, int row, int column, int rows, int columns) {
        std::size_t k = 0;
        for (int i = row; i < row + rows; ++i)
            for (int j = column; j < column + columns; ++j) {
                parts.M(i, j) = in.real({name, k++, ix(rows) * ix(columns)});
                parts.word(i, j) = word++;
            }
    };
    part("A", 0, 0, n, n);
    part("B", n, n, m, m);
    part("C", 0, n, n, m);
    part("D", n, 0, m, n);
    parts.q = Vector(n + m);
    parts.q_word = Eigen::VectorXi(n + m);
    for (int i = 0; i < n + m; ++i) {
        parts.q[i] = i < n ? in.real({"a", ix(i), ix(n)}) : in.real({"b", ix(i - n), ix(m)});
        parts.q_word[i] = word++;
    }
    return parts;
}

/// For each row of [A C; D B] the corresponding row of M: first n equalities, then m complementarities. The same order
/// holds for the columns.
std::vector<int> rows_in_parts(const std::vector<bool>& free, int n, int m) {
    std::vector<int> order;
    for (int i = 0; i < static_cast<int>(free.size()); ++i)
        if (free[ix(i)] && static_cast<int>(order.size()) < n) order.push_back(i);
    for (int i = static_cast<int>(free.size()); i-- > 0;)
        if (!free[ix(i)]) order.insert(order.begin() + n, i);
    SALTUS_EXPECT(static_cast<int>(order.size()) == n + m);
    return order;
}

/// Throws Misfit if the two forms of a mixed problem differ by more than the printed digits. Rows of q that (M, q) does
/// not give (`q_known` is false) are not compared.
void check_same(const Scanner& in, const Parts& parts, const solvers::MixedComplementarity& mixed,
                const std::vector<int>& rows, const std::vector<int>& columns, const std::vector<bool>& q_known) {
    // |difference| ≤ tolerance × largest entry. Files with the fewest digits have 6.
    constexpr double tolerance = 1e-6;
    const auto refuse = [&](int word, double here, double there) {
        throw Misfit{in.word_after(parts.at, ix(word)), "the two forms of the problem differ: " + number_text(here) +
                                                            " here, " + number_text(there) + " in (M, q)"};
    };
    const double scale = std::max(mixed.M.cwiseAbs().maxCoeff(), parts.M.cwiseAbs().maxCoeff());
    double q_scale = parts.q.cwiseAbs().maxCoeff();
    for (std::size_t i = 0; i < q_known.size(); ++i)
        if (q_known[i]) q_scale = std::max(q_scale, std::abs(mixed.q[static_cast<Eigen::Index>(i)]));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto ii = static_cast<Eigen::Index>(i);
        for (std::size_t j = 0; j < columns.size(); ++j) {
            const auto jj = static_cast<Eigen::Index>(j);
            if (std::abs(parts.M(ii, jj) - mixed.M(rows[i], columns[j])) > tolerance * scale)
                refuse(parts.word(ii, jj), parts.M(ii, jj), mixed.M(rows[i], columns[j]));
        }
        if (q_known[ix(rows[i])] && std::abs(parts.q[ii] - mixed.q[rows[i]]) > tolerance * q_scale)
            refuse(parts.q_word[ii], parts.q[ii], mixed.q[rows[i]]);
    }
}

}  // namespace

ContactProblem read_lcp_or_relay(Scanner& in, std::optional<ProblemKind> kind) {
    const std::int64_t n = in.integer({"the number of unknowns"}, 1);
    const Size size{n, counted(ix(n), "unknown")};
    const TextMatrix M = read_matrix(in, "M", size, size, MatrixUse::dense);
    ContactProblem result;
    if (kind) {
        result.kind = *kind;
    } else {
        const std::int64_t follow = in.count_numbers(3 * n + 1);
        if (follow > n && follow != 3 * n)
            throw Misfit{in.word_after(in.position(), ix(n)),
                         "after M and q come " +
                             (follow > 3 * n ? "more than " + std::to_string(2 * n) : std::to_string(follow - n)) +
                             " more numbers; an lcp has none, a relay " + std::to_string(2 * n),
                         "give the kind: --kind lcp or --kind relay"};
        result.kind = follow == 3 * n ? ProblemKind::relay : ProblemKind::lcp;
    }
    const Vector q = in.vector(n, "q");
    if (result.kind == ProblemKind::lcp) {
        result.problem = solvers::LinearComplementarity{dense(M), q};
        return result;
    }
    const Vector lower = in.vector(n, "lb");
    const std::size_t upper_at = in.position();
    const Vector upper = in.vector(n, "ub");
    for (Eigen::Index i = 0; i < n; ++i)
        if (lower[i] > upper[i])
            throw Misfit{in.word_after(upper_at, ix(i)), subject({"ub", ix(i), ix(n)}) + number_text(upper[i]) +
                                                             ", less than lb, which is " + number_text(lower[i])};
    result.problem = solvers::Relay{dense(M), q, lower, upper};
    return result;
}

ContactProblem read_mlcp(Scanner& in) {
    ContactProblem result;
    result.kind = ProblemKind::mlcp;
    const std::size_t flags_at = in.position();
    const bool with_matrix = in.integer({"the flag of the form (M, q)"}, 0, 1) == 1;
    const bool with_parts = in.integer({"the flag of the form (A, B, C, D, a, b)"}, 0, 1) == 1;
    if (!with_matrix && !with_parts)
        throw Misfit{flags_at, "both flags are 0: the file contains neither (M, q) nor (A, B, C, D, a, b)"};
    const std::size_t size_at = in.position();
    const auto n = static_cast<int>(in.integer({"the number of equalities"}));
    const auto m = static_cast<int>(in.integer({"the number of complementarities"}));
    if (n + std::int64_t{m} < 1) throw Misfit{size_at, "the mixed problem has no unknowns"};
    check_dense_size(size_at, "M", std::int64_t{n} + m, std::int64_t{n} + m);  // n + m is an int from here on

    solvers::MixedComplementarity mixed;
    if (!with_matrix) {
        Parts parts = read_parts(in, n, m);
        mixed.M = std::move(parts.M);
        mixed.q = std::move(parts.q);
        mixed.free.assign(ix(n), true);
        mixed.free.insert(mixed.free.end(), ix(m), false);
        result.problem = std::move(mixed);
        return result;
    }

    mixed.free = read_free_rows(in, n, m);
    const std::size_t rows_at = in.word_after(in.position(), 1);
    const TextMatrix M = read_matrix(in, "M", {}, {n + m, counted(ix(n + m), "unknown")}, MatrixUse::dense);
    const int surplus = M.rows - n - m;
    if (surplus < 0)
        throw Misfit{rows_at,
                     "M has " + std::to_string(M.rows) + " rows, fewer than the " + counted(ix(n + m), "unknown")};
    const std::vector<int> columns = rows_in_parts(mixed.free, n, m);
    if (surplus > 0) {
        // M has more rows than columns: more equalities than free unknowns. The q of (M, q) has only as many numbers as
        // M has columns. The missing last ones belong to complementarities and are taken from b of the second form.
        const bool equalities_first = std::is_sorted(columns.begin(), columns.end());
        if (!with_parts || !equalities_first || surplus > m)
            throw Misfit{rows_at, "M has " + std::to_string(M.rows) + " rows for " + counted(ix(n + m), "unknown") +
                                      ", and the file does not contain all of q"};
        mixed.free.insert(mixed.free.begin(), ix(surplus), true);
    }
    mixed.q = Vector::Zero(M.rows);
    mixed.q.head(n + m) = in.vector(n + m, "q");
    mixed.M = dense(M);  // after q, so that a file that is cut short does not cost the memory
    if (with_parts) {
        const Parts parts = read_parts(in, n, m);
        const std::vector<int> rows = rows_in_parts(mixed.free, n, m);
        std::vector<bool> q_known(ix(M.rows), true);
        std::fill(q_known.begin() + n + m, q_known.end(), false);
        check_same(in, parts, mixed, rows, columns, q_known);
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (!q_known[ix(rows[i])]) mixed.q[rows[i]] = parts.q[static_cast<Eigen::Index>(i)];
    }
    result.problem = std::move(mixed);
    return result;
}

}  // namespace saltus::io
