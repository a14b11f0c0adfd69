// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/read_problem.hpp"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <Eigen/SparseLU>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <utility>

#include "saltus/base/text.hpp"
#include "saltus/io/fclib.hpp"

namespace saltus::io {

namespace {

using solvers::BlockMatrix;
using solvers::FrictionProblem;
using solvers::Law;
using solvers::LawKind;

constexpr std::array<std::pair<ProblemKind, std::string_view>, 7> kind_names{{{ProblemKind::fc, "fc"},
                                                                              {ProblemKind::gfc, "gfc"},
                                                                              {ProblemKind::rfc, "rfc"},
                                                                              {ProblemKind::grfc, "grfc"},
                                                                              {ProblemKind::lcp, "lcp"},
                                                                              {ProblemKind::mlcp, "mlcp"},
                                                                              {ProblemKind::relay, "relay"}}};

std::size_t ix(std::int64_t i) { return static_cast<std::size_t>(i); }

// ---- words and numbers

/// Why a text is not of the layout that was tried, and at which character.
struct Misfit {
    std::size_t offset;
    std::string message;
    std::string remedy{};
};

/// What a number stands for: "mu, number 2 of 5", or "the number of contacts" for one alone. Put into words only when
/// it is needed.
struct What {
    std::string_view name;
    std::size_t index = 0;
    std::size_t count = 0;
};

std::string words(const What& what) {
    std::string text(what.name);
    if (what.count > 0) text += ", number " + std::to_string(what.index + 1) + " of " + std::to_string(what.count);
    return text;
}

/// The same at the beginning of a sentence.
std::string subject(const What& what) { return words(what) + (what.count > 0 ? ", is " : " is "); }

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

struct Word {
    std::size_t offset;
    std::string_view text;  ///< empty at the end of the file
};

/// The word in quotes, short and printable whatever the file holds.
std::string quoted(const Word& word) {
    std::string text = "'";
    for (const char c : word.text.substr(0, 32)) text += c >= ' ' && c <= '~' ? c : '.';
    return text + (word.text.size() > 32 ? "...'" : "'");
}

std::optional<std::int64_t> integer_of(std::string_view text) {
    if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return value;
}

/// Any C literal, `inf` and `nan` among them; what is too small for a double is 0, what is too large is infinite.
std::optional<double> real_of(std::string_view text) {
    if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
    const bool negative = !text.empty() && text.front() == '-';
    std::string_view digits = text.substr(negative ? 1 : 0);
    if (!digits.empty() && digits.front() == '-') return {};
    auto format = std::chars_format::general;
    if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
        digits.remove_prefix(2);
        if (digits.front() == '-') return {};
        format = std::chars_format::hex;
    }
    double value = 0.0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, format);
    if (end != digits.data() + digits.size() || error == std::errc::invalid_argument) return {};
    if (error == std::errc::result_out_of_range) {
        // from_chars does not say on which side.
        const std::size_t exponent = digits.find_first_of(format == std::chars_format::hex ? "pP" : "eE");
        const bool small = exponent == std::string_view::npos
                               ? digits.substr(0, digits.find('.')).find_first_not_of('0') == std::string_view::npos
                               : exponent + 1 < digits.size() && digits[exponent + 1] == '-';
        value = small ? 0.0 : std::numeric_limits<double>::infinity();
    }
    return negative ? -value : value;
}

/// Goes through a text word by word; line and column are found only for a message.
class Scanner {
public:
    explicit Scanner(std::string_view text) : text_(text) { skip_space(); }

    std::size_t position() const { return at_; }  ///< of the next word, or of the end
    void go_to(std::size_t position) { at_ = position; }
    bool at_end() const { return at_ == text_.size(); }

    Word peek() const {
        std::size_t end = at_;
        while (end < text_.size() && !is_space(text_[end])) ++end;
        return {at_, text_.substr(at_, end - at_)};
    }

    Word next() {
        const Word word = peek();
        at_ += word.text.size();
        skip_space();
        return word;
    }

    void skip_line() {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
        skip_space();
    }

    /// The next word, which must be there.
    Word expect(const What& what) {
        if (at_end()) throw Misfit{at_, "the file ends where " + words(what) + " was expected"};
        return next();
    }

    std::int64_t integer(const What& what, std::int64_t low = 0, std::int64_t high = std::numeric_limits<int>::max()) {
        const Word word = expect(what);
        const std::optional<std::int64_t> value = integer_of(word.text);
        if (!value) throw Misfit{word.offset, "expected an integer, " + words(what) + ", found " + quoted(word)};
        check_range(word, what, *value, low, high);
        return *value;
    }

    double real(const What& what) {
        const Word word = expect(what);
        const std::optional<double> value = real_of(word.text);
        if (!value) throw Misfit{word.offset, "expected " + words(what) + ", found " + quoted(word)};
        if (!std::isfinite(*value)) throw Misfit{word.offset, subject(what) + quoted(word) + ", not finite"};
        return *value;
    }

    /// The word that the layout wants here.
    void literal(std::string_view wanted) {
        const std::string name = "'" + std::string(wanted) + "'";
        const Word word = expect({name});
        if (word.text != wanted) throw Misfit{word.offset, "expected " + name + ", found " + quoted(word)};
    }

    /// Refuses more numbers than the rest of the file can hold (two characters each) before memory is taken for them.
    void require(std::int64_t count, std::string_view name) const {
        if (count > 0 && at_end()) throw Misfit{at_, "the file ends where " + std::string(name) + " was expected"};
        if (ix(count) > (text_.size() - at_ + 1) / 2)
            throw Misfit{at_, "the rest of the file is too short for the " + counted(ix(count), "number") + " of " +
                                  std::string(name)};
    }

    std::vector<double> reals(std::int64_t count, std::string_view name) {
        require(count, name);
        std::vector<double> values(ix(count));
        for (std::size_t k = 0; k < values.size(); ++k) values[k] = real({name, k, values.size()});
        return values;
    }

    std::vector<double> coefficients(std::int64_t count, std::string_view name) {
        require(count, name);
        std::vector<double> values(ix(count));
        for (std::size_t k = 0; k < values.size(); ++k) {
            const Word word = peek();
            values[k] = real({name, k, values.size()});
            if (values[k] < 0.0)
                throw Misfit{word.offset, subject({name, k, values.size()}) + quoted(word) + ", negative"};
        }
        return values;
    }

    /// How many numbers follow before a word that is none, counted up to `most`.
    std::int64_t count_numbers(std::int64_t most) const {
        Scanner ahead = *this;
        std::int64_t count = 0;
        while (count < most && !ahead.at_end() && real_of(ahead.next().text)) ++count;
        return count;
    }

    /// The offset of the word that comes `count` words after the given one.
    std::size_t word_after(std::size_t offset, std::size_t count) const {
        Scanner ahead = *this;
        ahead.go_to(offset);
        while (count-- > 0) ahead.next();
        return ahead.position();
    }

private:
    static void check_range(const Word& word, const What& what, std::int64_t value, std::int64_t low,
                            std::int64_t high) {
        if (value >= low && value <= high) return;
        std::string message = subject(what) + std::to_string(value) + ", ";
        constexpr std::int64_t no_bound = std::numeric_limits<int>::max() / 5;
        if (low == high)
            message += "not " + std::to_string(low);
        else if (high >= no_bound)
            message += value < low ? "less than " + std::to_string(low) : "too large";
        else
            message += "not in " + std::to_string(low) + " ... " + std::to_string(high);
        throw Misfit{word.offset, message};
    }

    void skip_space() {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

Place place_of(std::string_view text, std::size_t offset, const std::string& file) {
    const std::string_view before = text.substr(0, offset);
    const std::size_t newline = before.rfind('\n');
    const std::string_view line = newline == std::string_view::npos ? before : before.substr(newline + 1);
    const auto characters =
        std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
    return {file, static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
            static_cast<int>(characters) + 1};
}

// ---- matrices

struct TextMatrix {
    int rows = 0, columns = 0;
    std::vector<Triplet> entries;
};

/// A number of rows or columns that the matrix must have, and what demands it. Any when negative.
struct Size {
    std::int64_t value = -1;
    std::string reason{};
};

std::string gibibytes(double bytes) {
    return number_text(std::round(bytes / static_cast<double>(std::size_t{1} << 30) * 10.0) / 10.0) + " GiB";
}

void check_dense_size(std::size_t offset, std::string_view name, std::int64_t rows, std::int64_t columns) {
    const double bytes = 8.0 * static_cast<double>(rows) * static_cast<double>(columns);
    if (bytes > static_cast<double>(memory_limit))
        throw Misfit{offset, std::string(name) + " would need " + gibibytes(bytes) + " as a dense matrix of " +
                                 std::to_string(rows) + " x " + std::to_string(columns) + "; the limit is " +
                                 gibibytes(static_cast<double>(memory_limit))};
}

std::int64_t read_size(Scanner& in, const std::string& name, const char* direction, const Size& size) {
    const std::size_t offset = in.position();
    const std::int64_t value = in.integer({"the number of " + std::string(direction) + " of " + name});
    if (size.value >= 0 && value != size.value)
        throw Misfit{offset, name + " has " + std::to_string(value) + " " + direction + ", not " +
                                 std::to_string(size.value) + (size.reason.empty() ? "" : " (" + size.reason + ")")};
    return value;
}

void read_dense(Scanner& in, const std::string& name, TextMatrix& A) {
    const std::size_t offset = in.position();
    in.integer({"the repeated number of rows of " + name}, A.rows, A.rows);
    in.integer({"the repeated number of columns of " + name}, A.columns, A.columns);
    check_dense_size(offset, name, A.rows, A.columns);
    const std::int64_t count = std::int64_t{A.rows} * A.columns;
    in.require(count, name);
    std::size_t k = 0;
    for (int j = 0; j < A.columns; ++j)
        for (int i = 0; i < A.rows; ++i)
            if (const double value = in.real({name, k++, ix(count)}); value != 0.0) A.entries.push_back({i, j, value});
}

/// Ascending ends of blocks, the last one the number of rows (columns).
std::vector<int> read_ends(Scanner& in, const std::string& name, std::int64_t count, int last) {
    in.require(count, name);
    std::vector<int> ends{0};
    for (std::size_t k = 0; k < ix(count); ++k) {
        const int others = static_cast<int>(ix(count) - k) - 1;  // each at least one row
        ends.push_back(
            static_cast<int>(in.integer({name, k, ix(count)}, others == 0 ? last : ends.back() + 1, last - others)));
    }
    return ends;
}

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

/// "12-by-30," with the sizes known.
void read_by(Scanner& in, const std::string& name, const TextMatrix& A) {
    const std::string wanted = std::to_string(A.rows) + "-by-" + std::to_string(A.columns) + ",";
    const Word word = in.expect({"'" + wanted + "' for " + name});
    if (word.text != wanted)
        throw Misfit{word.offset, "expected '" + wanted + "' for " + name + ", found " + quoted(word)};
}

/// "nzmax: 10 nnz: 8" and perhaps a comma.
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

/// Compressed columns, or rows: the line of each is headed `col j` or `row j`.
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

void read_sparse(Scanner& in, const std::string& name, TextMatrix& A) {
    const std::size_t offset = in.position();
    const std::int64_t origin = in.integer({"the layout of the sparse matrix " + name}, 1, 4);
    in.literal("CSparse");
    in.skip_line();
    if (origin == 4 && A.rows != A.columns)
        throw Misfit{offset, name + " is half of a symmetric matrix but not square"};
    if (origin == 1 || origin == 4)
        read_triplets(in, name, A, origin == 4);
    else
        read_compressed(in, name, A, origin == 3);
}

TextMatrix read_matrix(Scanner& in, const std::string& name, const Size& rows, const Size& columns,
                       bool made_dense = false) {
    const std::int64_t storage = in.integer({"the storage of " + name + " (0 dense, 1 blocks, 2 sparse)"}, 0, 2);
    const std::size_t offset = in.position();
    TextMatrix A;
    A.rows = static_cast<int>(read_size(in, name, "rows", rows));
    A.columns = static_cast<int>(read_size(in, name, "columns", columns));
    if (made_dense) check_dense_size(offset, name, A.rows, A.columns);
    if (storage == 0)
        read_dense(in, name, A);
    else if (storage == 1)
        read_blocks(in, name, A);
    else
        read_sparse(in, name, A);
    return A;
}

enum class Announced { no, of_another_size, cut_short, yes };

/// Whether a matrix of that size is announced next, in integers; `cut_short` when all that is left of the file would be
/// the beginning of that.
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

Vector vector_of(const std::vector<double>& values) {
    return Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size()));
}

// ---- friction

bool is_global(ProblemKind kind) { return kind == ProblemKind::gfc || kind == ProblemKind::grfc; }
bool is_rolling(ProblemKind kind) { return kind == ProblemKind::rfc || kind == ProblemKind::grfc; }
bool is_friction(ProblemKind kind) { return kind <= ProblemKind::grfc; }

/// A layout read to its end. What costs more than reading is left for when it is known that this one is wanted.
struct Friction {
    int dimension = 0, contacts = 0;
    bool global = false;
    std::size_t matrix_at = 0;
    TextMatrix first;  ///< W, or M
    std::vector<double> q;
    std::optional<Global> beside;
    std::vector<double> mu, mu_rolling;
};

void read_coefficients(Scanner& in, Friction& problem) {
    problem.mu = in.coefficients(problem.contacts, "mu");
    if (problem.dimension == 5) problem.mu_rolling = in.coefficients(problem.contacts, "mu_r");
}

void read_local_rest(Scanner& in, Friction& problem) {
    problem.global = false;
    problem.q = in.reals(std::int64_t{problem.dimension} * problem.contacts, "q");
    read_coefficients(in, problem);
}

void read_global_rest(Scanner& in, Friction& problem) {
    const std::int64_t rows = std::int64_t{problem.dimension} * problem.contacts;
    const TextMatrix H = read_matrix(
        in, "H", {problem.first.rows, "like M"},
        {rows, counted(ix(problem.contacts), "contact") + " of dimension " + std::to_string(problem.dimension)});
    problem.global = true;
    Global beside;
    beside.velocities = problem.first.rows;
    beside.H = H.entries;
    beside.f = vector_of(in.reals(problem.first.rows, "q"));
    beside.w = vector_of(in.reals(rows, "b"));
    problem.beside = std::move(beside);
    read_coefficients(in, problem);
}

/// After a first matrix that could be W as well as M.
void read_undecided_rest(Scanner& in, Friction& problem) {
    const std::size_t start = in.position();
    const std::int64_t size = problem.first.rows;
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
        if (announced == Announced::of_another_size) return;  // integers that are just those of q and mu
    }
    const std::string local = problem.dimension == 5 ? "rfc" : "fc", global = "g" + local;
    throw Misfit{
        start,
        "from here on this is q of a local problem (" + local + "), or H of a global one (" + global + ") cut short",
        "say which it is: --kind " + local + " or --kind " + global};
}

Friction read_friction(Scanner& in, std::optional<ProblemKind> kind) {
    Friction problem;
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
        problem.first = read_matrix(in, "W", {rows, need}, {rows, need});
        read_local_rest(in, problem);
        return problem;
    }

    // Looked at before the matrix is read, to know what its columns must be.
    const std::size_t size_at = in.word_after(problem.matrix_at, 1);
    Scanner ahead = in;
    ahead.go_to(size_at);
    const std::int64_t size = integer_of(ahead.peek().text).value_or(-1);
    try {
        problem.first = read_matrix(in, !kind && (size == rows || size < 0) ? "W" : "M", {}, {size, "square"});
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
            throw Misfit{size_at, "a matrix of " + std::to_string(size) + " rows is not W of " + need + ", which has " +
                                      std::to_string(rows) + ", nor M, as no H of " + std::to_string(size) + " x " +
                                      std::to_string(rows) + " follows"};
        read_global_rest(in, problem);
    }
    return problem;
}

ContactProblem assembled(Friction&& read, const Place& matrix_place) {
    ContactProblem result;
    const bool rolling = read.dimension == 5;
    result.kind = rolling ? (read.global ? ProblemKind::grfc : ProblemKind::rfc)
                          : (read.global ? ProblemKind::gfc : ProblemKind::fc);
    result.dimension = read.dimension;
    result.contacts = read.contacts;
    std::vector<Law> laws = contact_laws(read.dimension, read.mu, read.mu_rolling);
    if (read.global) {
        read.beside->M = std::move(read.first.entries);
        result.problem = condense(*read.beside, read.dimension, std::move(laws), matrix_place);
        result.global = std::move(read.beside);
    } else {
        result.problem = local_problem(read.dimension, read.first.entries, std::move(read.q), std::move(laws));
    }
    return result;
}

// ---- complementarity

ContactProblem read_lcp_or_relay(Scanner& in, std::optional<ProblemKind> kind) {
    const std::int64_t n = in.integer({"the number of unknowns"}, 1);
    const Size size{n, counted(ix(n), "unknown")};
    const TextMatrix M = read_matrix(in, "M", size, size, true);
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
                         "say which it is: --kind lcp or --kind relay"};
        result.kind = follow == 3 * n ? ProblemKind::relay : ProblemKind::lcp;
    }
    const Vector q = vector_of(in.reals(n, "q"));
    if (result.kind == ProblemKind::lcp) {
        result.problem = solvers::LinearComplementarity{dense(M), q};
        return result;
    }
    const Vector lower = vector_of(in.reals(n, "lb"));
    const std::size_t upper_at = in.position();
    const Vector upper = vector_of(in.reals(n, "ub"));
    for (Eigen::Index i = 0; i < n; ++i)
        if (lower[i] > upper[i])
            throw Misfit{in.word_after(upper_at, ix(i)), subject({"ub", ix(i), ix(n)}) + number_text(upper[i]) +
                                                             ", less than lb, which is " + number_text(lower[i])};
    result.problem = solvers::Relay{dense(M), q, lower, upper};
    return result;
}

/// Which rows of M are equalities, from the blocks that the file lists.
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

/// The second form of a mixed problem, M = [A C; D B], q = (a, b), with the number of each entry's word in the file.
struct Parts {
    std::size_t at = 0;  ///< where A begins
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

/// The rows of M that the rows of [A C; D B] are: equalities, then complementarities; likewise the columns.
std::vector<int> rows_in_parts(const std::vector<bool>& free, int n, int m) {
    std::vector<int> order;
    for (int i = 0; i < static_cast<int>(free.size()); ++i)
        if (free[ix(i)] && static_cast<int>(order.size()) < n) order.push_back(i);
    for (int i = static_cast<int>(free.size()); i-- > 0;)
        if (!free[ix(i)]) order.insert(order.begin() + n, i);
    SALTUS_EXPECT(static_cast<int>(order.size()) == n + m);
    return order;
}

void check_same(const Scanner& in, const Parts& parts, const solvers::MixedComplementarity& mixed,
                const std::vector<int>& rows, const std::vector<int>& columns, const std::vector<bool>& q_known) {
    constexpr double tolerance = 1e-6;  // the shortest files have 6 digits
    const auto refuse = [&](int word, double here, double there) {
        throw Misfit{in.word_after(parts.at, ix(word)), "the two forms of the problem differ: here stands " +
                                                            number_text(here) + ", in (M, q) " + number_text(there)};
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

ContactProblem read_mlcp(Scanner& in) {
    ContactProblem result;
    result.kind = ProblemKind::mlcp;
    const std::size_t flags_at = in.position();
    const bool with_matrix = in.integer({"the flag of the form (M, q)"}, 0, 1) == 1;
    const bool with_parts = in.integer({"the flag of the form (A, B, C, D, a, b)"}, 0, 1) == 1;
    if (!with_matrix && !with_parts) throw Misfit{flags_at, "a mixed problem with neither of its two forms"};
    const std::size_t size_at = in.position();
    const auto n = static_cast<int>(in.integer({"the number of equalities"}));
    const auto m = static_cast<int>(in.integer({"the number of complementarities"}));
    if (n + std::int64_t{m} < 1) throw Misfit{size_at, "a mixed problem without unknowns"};
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
    const TextMatrix M = read_matrix(in, "M", {}, {n + m, counted(ix(n + m), "unknown")}, true);
    const int surplus = M.rows - n - m;
    if (surplus < 0)
        throw Misfit{rows_at,
                     "M has " + std::to_string(M.rows) + " rows, fewer than the " + counted(ix(n + m), "unknown")};
    mixed.M = dense(M);
    const std::vector<int> columns = rows_in_parts(mixed.free, n, m);
    if (surplus > 0) {
        // More equalities than free unknowns. The file has as many numbers of q as M has columns: the first ones. The
        // last ones, those of the complementarities, stand in b.
        const bool equalities_first = std::is_sorted(columns.begin(), columns.end());
        if (!with_parts || !equalities_first || surplus > m)
            throw Misfit{rows_at, "M has " + std::to_string(M.rows) + " rows for " + counted(ix(n + m), "unknown") +
                                      ", and the file does not say all of q"};
        mixed.free.insert(mixed.free.begin(), ix(surplus), true);
    }
    mixed.q = Vector::Zero(M.rows);
    mixed.q.head(n + m) = vector_of(in.reals(n + m, "q"));
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

// ---- which layout

using Layout = std::variant<Friction, ContactProblem>;

Layout read_layout(std::string_view text, ProblemKind family, std::optional<ProblemKind> kind) {
    Scanner in(text);
    if (is_friction(family)) return read_friction(in, kind);
    if (family == ProblemKind::mlcp) return read_mlcp(in);
    return read_lcp_or_relay(in, kind);
}

ContactProblem finished(Layout&& layout, std::string_view text, const std::string& file) {
    ContactProblem result;
    if (Friction* const friction = std::get_if<Friction>(&layout)) {
        const std::size_t at = friction->matrix_at;
        result = assembled(std::move(*friction), place_of(text, at, file));
    } else {
        result = std::get<ContactProblem>(std::move(layout));
    }
    result.file = file;
    return result;
}

ProblemKind kind_of(const Layout& layout) {
    const Friction* const friction = std::get_if<Friction>(&layout);
    if (friction == nullptr) return std::get<ContactProblem>(layout).kind;
    if (friction->dimension == 5) return friction->global ? ProblemKind::grfc : ProblemKind::rfc;
    return friction->global ? ProblemKind::gfc : ProblemKind::fc;
}

/// `2 storage 2 ...` is an lcp of two unknowns, and not a sparse matrix of planar contacts, unless the banner of one
/// follows. Both would fail in the end where there is a fault, but the message would be that of the wrong one.
bool begins_like_lcp_of_two(std::string_view text) {
    Scanner in(text);
    std::array<Word, 7> word;
    for (Word& w : word) w = in.next();
    const std::optional<std::int64_t> storage = integer_of(word[1].text);
    return word[0].text == "2" && storage && *storage >= 0 && *storage <= 2 && word[2].text == "2" &&
           word[6].text != "CSparse";
}

/// The one layout that fits; Misfit when there is none, or more than one.
Layout infer_layout(std::string_view text) {
    std::vector<Layout> fits;
    std::optional<Misfit> furthest;
    const std::size_t beginning = Scanner(text).position();
    for (const ProblemKind family : {ProblemKind::fc, ProblemKind::lcp, ProblemKind::mlcp}) {
        if (family == ProblemKind::fc && begins_like_lcp_of_two(text)) continue;
        try {
            fits.push_back(read_layout(text, family, {}));
        } catch (const Misfit& misfit) {
            if (!furthest || misfit.offset > furthest->offset) furthest = misfit;
        }
    }
    if (fits.size() > 1) {
        std::vector<std::string> names;
        for (const Layout& layout : fits) names.emplace_back(to_string(kind_of(layout)));
        throw Misfit{beginning, "the content fits " + listing(names), "say which it is with --kind"};
    }
    if (!fits.empty()) return std::move(fits.front());
    if (furthest->offset == beginning)
        throw Misfit{
            beginning, "no contact problem begins with " + quoted(Scanner(text).peek()),
            "expected the dimension of a contact (2, 3 or 5), the number of unknowns, or the two flags of an mlcp"};
    throw *furthest;
}

/// What to tell someone who gave a kind that the text does not have.
std::string other_kind(std::string_view text, ProblemKind kind) {
    try {
        const ProblemKind found = kind_of(infer_layout(text));
        if (found != kind) return "the content is that of --kind " + std::string(to_string(found));
    } catch (const Misfit&) {
    }
    return {};
}

std::string content_of(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) throw Error("no such file", {path, 0, 0});
    if (!fs::is_regular_file(status)) throw Error("is not a file", {path, 0, 0});
    const std::uintmax_t size = fs::file_size(path, error);
    if (error) throw Error("cannot be read: " + error.message(), {path, 0, 0});
    if (size > 2 * memory_limit) throw Error("is too large: the limit is 4 GiB", {path, 0, 0});
    std::ifstream in(path, std::ios::binary);
    std::string content(static_cast<std::size_t>(size), '\0');
    in.read(content.data(), static_cast<std::streamsize>(content.size()));
    if (!in) throw Error("cannot be read", {path, 0, 0});
    return content;
}

}  // namespace

std::string_view to_string(ProblemKind kind) {
    return std::find_if(kind_names.begin(), kind_names.end(), [&](const auto& entry) { return entry.first == kind; })
        ->second;
}

std::optional<ProblemKind> problem_kind(std::string_view name) {
    for (const auto& [kind, text] : kind_names)
        if (text == name) return kind;
    return {};
}

ContactProblem parse_problem(std::string_view text, const std::string& file, std::optional<ProblemKind> kind) {
    if (Scanner(text).at_end()) throw Error("the file is empty", place_of(text, text.size(), file));
    std::string remedy;
    try {
        if (!kind) return finished(infer_layout(text), text, file);
        return finished(read_layout(text, *kind, kind), text, file);
    } catch (const Misfit& misfit) {
        remedy = misfit.remedy.empty() && kind ? other_kind(text, *kind) : misfit.remedy;
        throw Error(misfit.message, place_of(text, misfit.offset, file), remedy);
    }
}

ContactProblem read_problem(const std::string& path, std::optional<ProblemKind> kind) {
    const std::string content = content_of(path);
    return is_hdf5(content) ? read_fclib(path, kind) : parse_problem(content, path, kind);
}

// ---- assembly

std::vector<Law> contact_laws(int dimension, std::span<const double> mu, std::span<const double> mu_rolling) {
    SALTUS_EXPECT(dimension == 2 || dimension == 3 || dimension == 5);
    SALTUS_EXPECT(dimension != 5 || mu_rolling.size() == mu.size());
    std::vector<Law> laws(mu.size());
    for (std::size_t k = 0; k < mu.size(); ++k) {
        laws[k].kind = dimension == 2 ? LawKind::friction2 : dimension == 3 ? LawKind::friction3 : LawKind::rolling5;
        laws[k].mu = mu[k];
        if (dimension == 5) laws[k].mu_rolling = mu_rolling[k];
    }
    return laws;
}

FrictionProblem local_problem(int dimension, std::span<const Triplet> W, std::vector<double> q, std::vector<Law> laws) {
    const std::vector<int> sizes(laws.size(), dimension);
    SALTUS_EXPECT(q.size() == laws.size() * ix(dimension));
    std::vector<Triplet> entries;
    entries.reserve(W.size());
    for (const Triplet& t : W)
        if (t.value != 0.0) entries.push_back(t);

    // The transposed block of each block, as a zero where it has none.
    std::vector<std::pair<int, int>> mirrored;
    for (const Triplet& t : entries) {
        const std::pair<int, int> block{t.column / dimension, t.row / dimension};
        if (block.first != block.second && (mirrored.empty() || mirrored.back() != block)) mirrored.push_back(block);
    }
    std::sort(mirrored.begin(), mirrored.end());
    mirrored.erase(std::unique(mirrored.begin(), mirrored.end()), mirrored.end());
    for (const auto& [a, b] : mirrored) entries.push_back({a * dimension, b * dimension, 0.0});
    return {BlockMatrix::from_triplets(entries, sizes), std::move(q), std::move(laws)};
}

namespace {

using SparseColumns = Eigen::SparseMatrix<double>;
using SparseRows = Eigen::SparseMatrix<double, Eigen::RowMajor>;

SparseColumns sparse(const std::vector<Triplet>& entries, int rows, int columns) {
    std::vector<Eigen::Triplet<double>> list;
    list.reserve(entries.size());
    for (const Triplet& t : entries) list.emplace_back(t.row, t.column, t.value);
    SparseColumns A(rows, columns);
    A.setFromTriplets(list.begin(), list.end());
    A.prune([](Eigen::Index, Eigen::Index, double value) { return value != 0.0; });
    return A;
}

/// The velocities that M couples, body by body, each list ascending.
std::vector<std::vector<int>> bodies_of(const SparseColumns& M) {
    std::vector<int> parent(ix(M.rows()));
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&](int i) {
        while (parent[ix(i)] != i) i = parent[ix(i)] = parent[ix(parent[ix(i)])];
        return i;
    };
    for (int j = 0; j < M.outerSize(); ++j)
        for (SparseColumns::InnerIterator it(M, j); it; ++it) {
            const int a = root(static_cast<int>(it.row())), b = root(j);
            parent[ix(std::max(a, b))] = std::min(a, b);
        }
    std::vector<std::vector<int>> bodies;
    std::vector<int> body(parent.size(), -1);
    for (int i = 0; i < M.rows(); ++i) {
        const int r = root(i);
        if (r == i) {
            body[ix(i)] = static_cast<int>(bodies.size());
            bodies.emplace_back();
        }
        bodies[ix(body[ix(r)])].push_back(i);
    }
    return bodies;
}

/// Hᵀ M⁻¹ H and Hᵀ M⁻¹ f of one body, on the columns of H that it meets.
struct Share {
    std::vector<int> columns;
    Matrix S;
    Vector s;
};

bool condense_body(const SparseColumns& M, const Matrix& H, const Vector& f, Share& share) {
    const SparseColumns transposed = M.transpose();
    for (Eigen::Index j = 0; j < M.cols(); ++j)
        if (M.col(j).nonZeros() == 0 || transposed.col(j).nonZeros() == 0) return false;
    // Some files hold inertias that rounding has left unsymmetric in the last digit.
    constexpr double rounding = 64 * std::numeric_limits<double>::epsilon();
    if (SparseColumns(M - transposed).norm() <= rounding * M.norm()) {
        Eigen::SimplicialLDLT<SparseColumns> ldlt(0.5 * (M + transposed));
        if (ldlt.info() == Eigen::Success && ldlt.vectorD().minCoeff() > 0.0) {
            // M = Pᵀ L D Lᵀ P, so Hᵀ M⁻¹ H = Yᵀ D⁻¹ Y with L Y = P H. Exact where M is diagonal.
            const Matrix PH = ldlt.permutationP() * H;
            const Matrix Y = ldlt.matrixL().solve(PH);
            const Matrix Z = ldlt.vectorD().cwiseInverse().asDiagonal() * Y;
            share.S = Y.transpose() * Z;
            share.S.triangularView<Eigen::StrictlyUpper>() = share.S.transpose();
            share.s = H.transpose() * ldlt.solve(f);
            return share.S.allFinite() && share.s.allFinite();
        }
    }
    Eigen::SparseLU<SparseColumns> lu(M);
    if (lu.info() != Eigen::Success) return false;
    const Vector x = lu.solve(f);
    const Matrix X = H.cols() > 0 ? Matrix(lu.solve(H)) : H;  // of nothing, Eigen's solve fails
    share.S = H.transpose() * X;
    share.s = H.transpose() * x;
    return X.allFinite() && x.allFinite();
}

}  // namespace

FrictionProblem condense(const Global& global, int dimension, std::vector<Law> laws, const Place& place) {
    const auto rows = static_cast<int>(global.w.size());
    const int contact_rows = dimension * static_cast<int>(laws.size());
    SALTUS_EXPECT(contact_rows <= rows && global.f.size() == global.velocities);
    std::vector<int> sizes(laws.size(), dimension);
    if (rows > contact_rows) {
        sizes.push_back(rows - contact_rows);
        laws.push_back({LawKind::bilateral});
    }
    std::vector<int> start{0};
    for (const int size : sizes) start.push_back(start.back() + size);
    const int last_block = static_cast<int>(laws.size()) - 1;
    const auto block_of = [=](int row) { return row < contact_rows ? row / dimension : last_block; };

    const SparseColumns M = sparse(global.M, global.velocities, global.velocities);
    const SparseRows H = sparse(global.H, global.velocities, rows);
    const auto too_large = [&](double bytes) {
        if (bytes > static_cast<double>(memory_limit))
            throw Error("the condensed problem needs " + gibibytes(bytes) + "; the limit is " +
                            gibibytes(static_cast<double>(memory_limit)),
                        place);
    };

    // What each body contributes, and from it which blocks there are.
    std::vector<Share> shares;
    std::vector<std::pair<int, int>> blocks;
    std::vector<int> local(ix(global.velocities)), column_of(ix(rows));
    for (const std::vector<int>& body : bodies_of(M)) {
        const auto size = static_cast<Eigen::Index>(body.size());
        Share share;
        std::vector<Eigen::Triplet<double>> entries;
        Vector f(size);
        for (std::size_t i = 0; i < body.size(); ++i) {
            local[ix(body[i])] = static_cast<int>(i);
            f[static_cast<Eigen::Index>(i)] = global.f[body[i]];
            for (SparseRows::InnerIterator it(H, body[i]); it; ++it)
                share.columns.push_back(static_cast<int>(it.col()));
        }
        std::sort(share.columns.begin(), share.columns.end());
        share.columns.erase(std::unique(share.columns.begin(), share.columns.end()), share.columns.end());
        const auto columns = static_cast<Eigen::Index>(share.columns.size());
        too_large(8.0 * static_cast<double>(columns) * static_cast<double>(std::max(size, columns)));

        for (std::size_t c = 0; c < share.columns.size(); ++c) column_of[ix(share.columns[c])] = static_cast<int>(c);
        Matrix Hb = Matrix::Zero(size, columns);
        SparseColumns Mb(size, size);
        for (const int v : body) {
            for (SparseRows::InnerIterator it(H, v); it; ++it) Hb(local[ix(v)], column_of[ix(it.col())]) = it.value();
            for (SparseColumns::InnerIterator it(M, v); it; ++it)
                entries.emplace_back(local[ix(it.row())], local[ix(v)], it.value());
        }
        Mb.setFromTriplets(entries.begin(), entries.end());
        if (!condense_body(Mb, Hb, f, share))
            throw Error("the mass matrix is singular in the body of velocity " + std::to_string(body.front()), place);
        if (share.columns.empty()) continue;

        std::vector<int> touched;
        for (const int c : share.columns)
            if (touched.empty() || touched.back() != block_of(c)) touched.push_back(block_of(c));
        for (const int a : touched)
            for (const int b : touched) blocks.emplace_back(a, b);
        shares.push_back(std::move(share));
    }
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());

    std::vector<Triplet> pattern;
    double entries = 0.0;
    for (const auto& [a, b] : blocks) {
        pattern.push_back({start[ix(a)], start[ix(b)], 0.0});
        entries += static_cast<double>(sizes[ix(a)]) * sizes[ix(b)];
    }
    too_large(8.0 * entries);

    FrictionProblem problem{BlockMatrix::from_triplets(pattern, sizes), {}, std::move(laws)};
    problem.q.assign(global.w.data(), global.w.data() + rows);
    BlockMatrix& W = problem.W;
    for (const Share& share : shares) {
        const std::size_t count = share.columns.size();
        for (std::size_t i = 0; i < count; ++i) {
            const int row = share.columns[i], a = block_of(row);
            problem.q[ix(row)] += share.s[static_cast<Eigen::Index>(i)];
            int b = -1;
            double* values = nullptr;
            for (std::size_t j = 0; j < count; ++j) {
                const int column = share.columns[j];
                if (block_of(column) != b) {
                    b = block_of(column);
                    values =
                        W.values.data() + W.offset[ix(W.find(a, b))] + ix(row - start[ix(a)]) * ix(W.block_size(b));
                }
                values[column - start[ix(b)]] += share.S(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
            }
        }
    }
    return problem;
}

}  // namespace saltus::io
