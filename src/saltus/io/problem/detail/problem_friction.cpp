// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/problem/detail/problem_friction.hpp"

#include <limits>
#include <string>
#include <utility>

#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"

namespace saltus::io {

namespace {

bool is_global(ProblemKind kind) { return kind == ProblemKind::gfc || kind == ProblemKind::grfc; }
bool is_rolling(ProblemKind kind) { return kind == ProblemKind::rfc || kind == ProblemKind::grfc; }

void read_coefficients(Scanner& in, FrictionText& problem) {
    problem.mu = in.coefficients(problem.contacts, "mu");
    if (problem.dimension == 5) problem.mu_rolling = in.coefficients(problem.contacts, "mu_r");
}

void read_local_rest(Scanner& in, FrictionText& problem) {
    problem.global = false;
    problem.q = in.reals(std::int64_t{problem.dimension} * problem.contacts, "q");
    read_coefficients(in, problem);
}

void read_global_rest(Scanner& in, FrictionText& problem) {
    const std::int64_t rows = std::int64_t{problem.dimension} * problem.contacts;
    const TextMatrix H = read_matrix(
        in, "H", {problem.first_matrix.rows, "like M"},
        {rows, counted(ix(problem.contacts), "contact") + " of dimension " + std::to_string(problem.dimension)});
    problem.global = true;
    Global data;
    data.velocities = problem.first_matrix.rows;
    data.H = H.entries;
    data.f = in.vector(problem.first_matrix.rows, "q");
    data.w = in.vector(rows, "b");
    problem.global_data = std::move(data);
    read_coefficients(in, problem);
}

/// Reads on after a first matrix that can be W of a local or M of a global problem, because it has d·contacts rows. If
/// the head of a matrix (storage, rows, columns) follows, then the problem is read as global. If that fails, the
/// numbers may still be those of a local problem whose q and mu look like such a head. They are accepted as q and mu if
/// the head would have another size than H. Otherwise both readings are possible, and the user has to give the kind.
void read_undecided_rest(Scanner& in, FrictionText& problem) {
    const std::size_t start = in.position();
    const std::int64_t size = problem.first_matrix.rows;
    const Announced announced = in.at_end() ? Announced::no : matrix_announced(in, size, size);
    if (announced == Announced::no) return read_local_rest(in, problem);
    try {
        return read_global_rest(in, problem);
    } catch (const Misfit& misfit) {
        in.go_to(start);
        try {
            read_local_rest(in, problem);
        } catch (const Misfit& as_local) {
            throw announced == Announced::of_another_size ? as_local : misfit;
        }
        if (in.count_numbers(1) > 0) throw misfit;
        if (announced == Announced::of_another_size) return;  // the integers are q and mu
    }
    const std::string local = problem.dimension == 5 ? "rfc" : "fc", global = "g" + local;
    throw Misfit{
        start,
        "from here on this is q of a local problem (" + local + "), or H of a global one (" + global + ") cut short",
        "give the kind: --kind " + local + " or --kind " + global};
}

}  // namespace

ProblemKind kind_of(const FrictionText& text) {
    if (text.dimension == 5) return text.global ? ProblemKind::grfc : ProblemKind::rfc;
    return text.global ? ProblemKind::gfc : ProblemKind::fc;
}

FrictionText read_friction(Scanner& in, std::optional<ProblemKind> kind) {
    FrictionText problem;
    const Word first = in.peek();
    const auto d = static_cast<int>(in.integer({"the dimension of a contact"}, 2, 5));
    if (d == 4) throw Misfit{first.offset, "the dimension of a contact is 4, not 2, 3 or 5"};
    if (kind && is_rolling(*kind) != (d == 5))
        throw Misfit{first.offset, "the dimension of a contact is " + std::to_string(d) + ", " +
                                       (d == 5 ? "which means rolling friction" : "not 5 as with rolling friction")};
    problem.dimension = d;
    problem.contacts = static_cast<int>(in.integer({"the number of contacts"}, 0, std::numeric_limits<int>::max() / d));
    const std::int64_t rows = std::int64_t{d} * problem.contacts;
    const std::string need = counted(ix(problem.contacts), "contact") + " of dimension " + std::to_string(d);
    problem.matrix_at = in.position();
    if (kind && !is_global(*kind)) {
        problem.first_matrix = read_matrix(in, "W", {rows, need}, {rows, need});
        read_local_rest(in, problem);
        return problem;
    }

    // Look ahead at the number of rows: the matrix must be square.
    const std::size_t size_at = in.word_after(problem.matrix_at, 1);
    Scanner ahead = in;
    ahead.go_to(size_at);
    const std::int64_t size = integer_of(ahead.peek().text).value_or(-1);
    try {
        problem.first_matrix = read_matrix(in, !kind && (size == rows || size < 0) ? "W" : "M", {}, {size, "square"});
    } catch (Misfit& misfit) {
        if (!kind && size >= 0 && size != rows)
            misfit.remedy =
                "W of " + need + " would have " + counted(ix(rows), "row") + ", not " + std::to_string(size);
        throw;
    }
    if (kind) {
        read_global_rest(in, problem);
    } else if (size == rows) {
        read_undecided_rest(in, problem);
    } else {
        const Announced announced = matrix_announced(in, size, rows);
        if (announced == Announced::no || announced == Announced::of_another_size)
            throw Misfit{size_at,
                         "a matrix of " + std::to_string(size) + " rows is not W of " + need + ", which has " +
                             std::to_string(rows) + ", nor M, as no H of " + std::to_string(size) + " x " +
                             std::to_string(rows) + " follows",
                         "correct the number of contacts or the size of the matrix"};
        read_global_rest(in, problem);
    }
    return problem;
}

ContactProblem assembled(FrictionText&& text, const Place& matrix_place) {
    ContactProblem result;
    result.kind = kind_of(text);
    result.dimension = text.dimension;
    result.contacts = text.contacts;
    std::vector<solvers::Law> laws = contact_laws(text.dimension, text.mu, text.mu_rolling);
    if (text.global) {
        text.global_data->M = std::move(text.first_matrix.entries);
        result.problem = condense(*text.global_data, text.dimension, std::move(laws), matrix_place);
        result.global = std::move(text.global_data);
    } else {
        result.problem =
            local_problem(text.dimension, text.first_matrix.entries, std::move(text.q), std::move(laws), matrix_place);
    }
    return result;
}

}  // namespace saltus::io
