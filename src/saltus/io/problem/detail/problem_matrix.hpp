// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/io/problem/condense.hpp"
#include "saltus/io/problem/detail/problem_scanner.hpp"

/// The matrices of a problem text: `storage rows columns`, then dense (0), blocks (1) or sparse (2).
namespace saltus::io {

struct TextMatrix {
    int rows = 0, columns = 0;
    std::vector<Triplet> entries;  ///< those that meet add up
};

Matrix dense(const TextMatrix& A);

/// A number of rows or columns that the matrix must have, and what demands it. Any when negative.
struct Size {
    std::int64_t value = -1;
    std::string reason{};
};

/// `made_dense`: the caller will want it so, and a size beyond the memory limit is refused whatever the storage.
TextMatrix read_matrix(Scanner& in, const std::string& name, const Size& rows, const Size& columns,
                       bool made_dense = false);

/// Refuses a dense matrix beyond the memory limit.
void check_dense_size(std::size_t offset, std::string_view name, std::int64_t rows, std::int64_t columns,
                      const char* remedy = "check the sizes; complementarity problems are kept dense");

enum class Announced { no, of_another_size, cut_short, yes };

/// Whether a matrix of that size is announced next, in integers; `cut_short` when all that is left of the file would be
/// the beginning of that.
Announced matrix_announced(Scanner in, std::int64_t rows, std::int64_t columns);

}  // namespace saltus::io
