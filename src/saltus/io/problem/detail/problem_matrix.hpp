// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/io/problem/condense.hpp"
#include "saltus/io/problem/detail/problem_scanner.hpp"

/// Matrices in a problem text: `storage rows columns`, then the entries. Storage 0 is dense, 1 blocks, 2 sparse.
namespace saltus::io {

/// A matrix as a list of entries. Entries with the same row and column are added.
struct TextMatrix {
    int rows = 0, columns = 0;
    std::vector<Triplet> entries;
};

Matrix dense(const TextMatrix& A);

/// The number of rows or columns that a matrix must have.
struct Size {
    std::int64_t value = -1;  ///< the number; negative: any number is accepted
    std::string reason{};     ///< why this number is required, for messages: "3 contacts of dimension 2"
};

/// Whether the caller needs a matrix as dense. Then a size beyond `memory_limit` is refused in every storage.
enum class MatrixUse { sparse, dense };

/// Reads a matrix. `name` is its name in messages. Throws Misfit.
TextMatrix read_matrix(Scanner& in, const std::string& name, const Size& rows, const Size& columns,
                       MatrixUse use = MatrixUse::sparse);

/// Throws Misfit at `offset` if a dense matrix of this size needs more than `memory_limit`.
void check_dense_size(std::size_t offset, std::string_view name, std::int64_t rows, std::int64_t columns,
                      const char* remedy = "check the sizes; complementarity problems are kept dense");

/// Whether the next words can be the head of a matrix: storage, rows, columns as integers.
enum class Announced {
    no,
    of_another_size,  ///< a head, but with another number of rows or columns
    cut_short,        ///< the file ends inside a head that fits so far
    yes,
};

/// Looks for the head of a matrix of this size. `in` is a copy, so that the caller's position does not change.
Announced matrix_announced(Scanner in, std::int64_t rows, std::int64_t columns);

}  // namespace saltus::io
