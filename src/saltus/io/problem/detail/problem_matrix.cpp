// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/problem/detail/problem_matrix.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "saltus/base/index.hpp"
#include "saltus/io/problem/detail/memory_limit.hpp"

namespace saltus::io {

namespace {

/// The number of rows or columns (`direction`), which must be `size`.
std::int64_t read_size(Scanner& in, const std::string& name, const char* direction, const Size& size) {
    const std::size_t offset = in.position();
    const std::int64_t value = in.integer({"the number of " + std::string(direction) + " of " + name});
    if (size.value >= 0 && value != size.value)
        throw Misfit{offset, name + " has " + std::to_string(value) + " " + direction + ", not " +
                                 std::to_string(size.value) + (size.reason.empty() ? "" : " (" + size.reason + ")")};
    return value;
}

/// Storage 0: rows and columns again, then all entries column by column.
void read_dense(Scanner& in, const std::string& name, TextMatrix& A) {
    const std::size_t offset = in.position();
    in.integer({"the repeated number of rows of " + name}, A.rows, A.rows);
    in.integer({"the repeated number of columns of " + name}, A.columns, A.columns);
    check_dense_size(offset, name, A.rows, A.columns, "store it in blocks or sparse");
    const std::int64_t count = std::int64_t{A.rows} * A.columns;
    in.require(count, name);
    std::size_t k = 0;
    for (int j = 0; j < A.columns; ++j)
        for (int i = 0; i < A.rows; ++i)
            if (const double value = in.real({name, k++, ix(count)}); value != 0.0) A.entries.push_back({i, j, value});
}

/// The ends of block rows (or columns), ascending. The last end is the number of rows (columns). A 0 is put in front.
std::vector<int> read_ends(Scanner& in, const std::string& name, std::int64_t count, int last) {
    in.require(count, name);
    std::vector<int> ends{0};
    for (std::size_t k = 0; k < ix(count); ++k) {
        const int others = static_cast<int>(ix(count) - k) - 1;  // blocks that follow, at least one row each
        ends.push_back(
            static_cast<int>(in.integer({name, k, ix(count)}, others == 0 ? last : ends.back() + 1, last - others)));
    }
    return ends;
}

/// Storage 1: the ends of block rows and block columns, row pointers and block columns, then the blocks one after the
/// other, column by column.
void read_blocks(Scanner& in, const std::string& name, TextMatrix& A) {
    const std::int64_t blocks = in.integer({"the number of blocks of " + name});
    if (blocks == 0) return;
    const std::int64_t block_rows = in.integer({"the number of block rows of " + name}, 1, A.rows);
    const std::int64_t block_columns = in.integer({"the number of block columns of " + name}, 1, A.columns);
    const std::vector<int> row_end = read_ends(in, "the ends of the block rows of " + name, block_rows, A.rows);
    const std::vector<int> column_end =
        read_ends(in, "the ends of the block columns of " + name, block_columns, A.columns);
    in.integer({"the number of row pointers of " + name}, block_rows + 1, block_rows + 1);
    in.integer({"the repeated number of blocks of " + name}, blocks, blocks);

    const std::string pointer_name = "the row pointers of " + name,
                      column_name = "the columns of the blocks of " + name;
    in.require(block_rows + 1, pointer_name);
    std::vector<std::int64_t> pointer;
    for (std::size_t a = 0; a <= ix(block_rows); ++a) {
        const std::int64_t low = a == 0 ? 0 : a == ix(block_rows) ? blocks : pointer.back();
        pointer.push_back(in.integer({pointer_name, a, ix(block_rows + 1)}, low, a == 0 ? 0 : blocks));
    }
    in.require(blocks, column_name);
    std::vector<std::int64_t> column;
    for (std::size_t a = 0; a < ix(block_rows); ++a)
        for (std::int64_t k = pointer[a]; k < pointer[a + 1]; ++k) {
            const std::int64_t low = k == pointer[a] ? 0 : column.back() + 1;
            column.push_back(in.integer({column_name, ix(k), ix(blocks)}, low, block_columns - 1));
        }

    const std::string block_name = "a block of " + name, number_name = "the running number of " + block_name;
    for (std::size_t a = 0; a < ix(block_rows); ++a)
        for (std::int64_t k = pointer[a]; k < pointer[a + 1]; ++k) {
            in.integer({number_name}, k, k);
            const std::size_t b = ix(column[ix(k)]);
            const std::size_t rows = ix(row_end[a + 1] - row_end[a]),
                              count = rows * ix(column_end[b + 1] - column_end[b]);
            std::size_t n = 0;
            for (int j = column_end[b]; j < column_end[b + 1]; ++j)
                for (int i = row_end[a]; i < row_end[a + 1]; ++i)
                    A.entries.push_back({i, j, in.real({block_name, n++, count})});
        }
}

/// The words "12-by-30," with the size of A.
void read_by(Scanner& in, const std::string& name, const TextMatrix& A) {
    const std::string wanted = std::to_string(A.rows) + "-by-" + std::to_string(A.columns) + ",";
    const Word word = in.expect({"'" + wanted + "' for " + name});
    if (word.text != wanted)
        throw Misfit{word.offset, "expected '" + wanted + "' for " + name + ", found " + quoted(word)};
}

/// The words "nzmax: 10 nnz: 8"; a comma may follow. Returns nnz, the number of entries.
std::int64_t read_count(Scanner& in, const std::string& name) {
    in.literal("nzmax:");
    in.expect({"nzmax"});
    in.literal("nnz:");
    const Word word = in.expect({"the number of entries of " + name});
    std::string_view digits = word.text;
    if (digits.ends_with(',')) digits.remove_suffix(1);
    const std::optional<std::int64_t> count = integer_of(digits);
    if (!count || *count < 0)
        throw Misfit{word.offset, "expected the number of entries of " + name + ", found " + quoted(word)};
    return *count;
}

/// Entries `row column : value`. With `half` only the lower half of a symmetric matrix is stored.
void read_triplets(Scanner& in, const std::string& name, TextMatrix& A, bool half) {
    in.literal("triplet:");
    read_by(in, name, A);
    const std::int64_t count = read_count(in, name);
    in.require(3 * std::min<std::int64_t>(count, std::numeric_limits<int>::max()), name);
    const std::string row_name = "the rows of " + name, column_name = "the columns of " + name;
    for (std::size_t k = 0; k < ix(count); ++k) {
        const std::size_t offset = in.position();
        const int i = static_cast<int>(in.integer({row_name, k, ix(count)}, 0, A.rows - 1));
        const int j = static_cast<int>(in.integer({column_name, k, ix(count)}, 0, A.columns - 1));
        in.literal(":");
        const double value = in.real({name, k, ix(count)});
        if (half && j > i)
            throw Misfit{offset, "entry " + std::to_string(i) + " " + std::to_string(j) + " of " + name +
                                     " lies above the diagonal, of which only the lower half is stored"};
        A.entries.push_back({i, j, value});
        if (half && i != j) A.entries.push_back({j, i, value});
    }
}

/// Compressed columns, or compressed rows: each line begins with `col j` or `row j`. Some programs write `col` for rows
/// as well.
void read_compressed(Scanner& in, const std::string& name, TextMatrix& A, bool by_rows) {
    read_by(in, name, A);
    const std::size_t count_at = in.position();
    const std::int64_t count = read_count(in, name);
    in.literal("1-norm:");
    in.expect({"the norm of " + name});
    const int lines = by_rows ? A.rows : A.columns, across = by_rows ? A.columns : A.rows;
    const std::string header = by_rows ? "'row'" : "'col'",
                      index_name = by_rows ? "a column in " + name : "a row in " + name;
    std::int64_t read = 0;
    for (int line = 0; line < lines; ++line) {
        const Word word = in.expect({header});
        if (word.text != "col" && !(by_rows && word.text == "row"))
            throw Misfit{word.offset, "expected " + header + ", found " + quoted(word)};
        in.integer({by_rows ? "the row" : "the column"}, line, line);
        in.literal(":");
        in.literal("locations");
        in.integer({"the first location"}, read, read);
        in.literal("to");
        const std::int64_t end = in.integer({"the last location"}, read - 1, count - 1) + 1;
        for (; read < end; ++read) {
            const int index = static_cast<int>(in.integer({index_name}, 0, across - 1));
            in.literal(":");
            const double value = in.real({name, ix(read), ix(count)});
            A.entries.push_back(by_rows ? Triplet{line, index, value} : Triplet{index, line, value});
        }
    }
    if (read != count)
        throw Misfit{count_at, "nnz of " + name + " is " + std::to_string(count) + ", but " + std::to_string(read) +
                                   " are listed"};
}

/// Storage 2, as the library CSparse prints it. A number tells the layout.
void read_sparse(Scanner& in, const std::string& name, TextMatrix& A) {
    const std::size_t offset = in.position();
    enum Layout : std::int64_t { triplets = 1, columns = 2, rows = 3, lower_triplets = 4 };
    const std::int64_t layout = in.integer({"the layout of the sparse matrix " + name}, triplets, lower_triplets);
    const std::size_t banner = in.position();
    in.literal("CSparse");
    in.go_to(banner);  // the banner is one line that begins with this word
    in.skip_line();
    if (layout == lower_triplets && A.rows != A.columns)
        throw Misfit{offset, name + " is half of a symmetric matrix but not square"};
    if (layout == triplets || layout == lower_triplets)
        read_triplets(in, name, A, layout == lower_triplets);
    else
        read_compressed(in, name, A, layout == rows);
}

}  // namespace

void check_dense_size(std::size_t offset, std::string_view name, std::int64_t rows, std::int64_t columns,
                      const char* remedy) {
    const double bytes = 8.0 * static_cast<double>(rows) * static_cast<double>(columns);
    if (bytes > static_cast<double>(memory_limit))
        throw Misfit{offset,
                     std::string(name) + " would need " + gibibytes(bytes) + " as a dense matrix of " +
                         std::to_string(rows) + " x " + std::to_string(columns) + "; the limit is " +
                         gibibytes(static_cast<double>(memory_limit)),
                     remedy};
}

TextMatrix read_matrix(Scanner& in, const std::string& name, const Size& rows, const Size& columns, MatrixUse use) {
    const std::int64_t storage = in.integer({"the storage of " + name + " (0 dense, 1 blocks, 2 sparse)"}, 0, 2);
    const std::size_t offset = in.position();
    TextMatrix A;
    A.rows = static_cast<int>(read_size(in, name, "rows", rows));
    A.columns = static_cast<int>(read_size(in, name, "columns", columns));
    if (use == MatrixUse::dense) check_dense_size(offset, name, A.rows, A.columns);
    if (storage == 0)
        read_dense(in, name, A);
    else if (storage == 1)
        read_blocks(in, name, A);
    else
        read_sparse(in, name, A);
    return A;
}

Announced matrix_announced(Scanner in, std::int64_t rows, std::int64_t columns) {
    if (in.at_end()) return Announced::cut_short;
    const std::optional<std::int64_t> storage = integer_of(in.next().text);
    if (!storage || *storage < 0 || *storage > 2) return Announced::no;
    bool same = true;
    const std::array<std::int64_t, 4> sizes{rows, columns, rows, columns};
    for (std::size_t k = 0; k < (*storage == 0 ? 4U : 2U); ++k) {
        if (in.at_end()) return same ? Announced::cut_short : Announced::of_another_size;
        const std::optional<std::int64_t> size = integer_of(in.next().text);
        if (!size || *size < 0) return Announced::no;
        same = same && *size == sizes[k];
    }
    return same ? Announced::yes : Announced::of_another_size;
}

Matrix dense(const TextMatrix& A) {
    Matrix result = Matrix::Zero(A.rows, A.columns);
    for (const Triplet& t : A.entries) result(t.row, t.column) += t.value;
    return result;
}

}  // namespace saltus::io
