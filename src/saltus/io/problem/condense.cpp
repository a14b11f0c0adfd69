// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/problem/condense.hpp"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <Eigen/SparseLU>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "saltus/base/index.hpp"
#include "saltus/io/problem/detail/memory_limit.hpp"

namespace saltus::io {

using solvers::BlockMatrix;
using solvers::FrictionProblem;
using solvers::Law;
using solvers::LawKind;

namespace {

/// The rows of a problem in blocks: one block for each contact; if rows remain, they are bilateral and form the last
/// block.
struct RowBlocks {
    RowBlocks(int d, std::size_t contacts, std::size_t rows) : dimension(d), sizes(contacts, d) {
        SALTUS_EXPECT(contacts * ix(dimension) <= rows);
        contact_rows = dimension * static_cast<int>(contacts);
        if (const int others = static_cast<int>(rows) - contact_rows; others > 0) sizes.push_back(others);
        for (const int size : sizes) start.push_back(start.back() + size);
    }

    /// The block of a row.
    int of(int row) const { return row < contact_rows ? row / dimension : static_cast<int>(sizes.size()) - 1; }

    int dimension, contact_rows = 0;
    std::vector<int> sizes, start{0};
};

/// Block row and block column of each block that is present. Blocks on the diagonal are always present, listed or not.
using Pattern = std::vector<std::pair<int, int>>;

constexpr double bytes_per_number = 8.0;  // of a double

void check_memory(double bytes, const std::string& what, const Place& place) {
    if (bytes > static_cast<double>(memory_limit))
        throw Error(
            what + " needs " + gibibytes(bytes) + "; the limit is " + gibibytes(static_cast<double>(memory_limit)),
            place, "use fewer contacts on one body or fewer bilateral rows");
}

/// Sorts the pattern and removes duplicates. Throws Error if its blocks need more than `memory_limit`.
void settle(Pattern& pattern, const RowBlocks& blocks, const std::string& what, const Place& place) {
    std::sort(pattern.begin(), pattern.end());
    pattern.erase(std::unique(pattern.begin(), pattern.end()), pattern.end());
    double entries = 0.0;
    for (const double size : blocks.sizes) entries += size * size;
    for (const auto& [a, b] : pattern)
        if (a != b) entries += static_cast<double>(blocks.sizes[ix(a)]) * blocks.sizes[ix(b)];
    check_memory(bytes_per_number * entries, what, place);
}

/// Adds a zero entry to each block of the pattern, which makes the block present in the matrix.
void append_zeros(const Pattern& pattern, const RowBlocks& blocks, std::vector<Triplet>& entries) {
    for (const auto& [a, b] : pattern) entries.push_back({blocks.start[ix(a)], blocks.start[ix(b)], 0.0});
}

/// The laws of all blocks: those of the contacts, and a bilateral law for the last block if there is one.
std::vector<Law> with_bilateral(std::vector<Law> laws, const RowBlocks& blocks) {
    if (blocks.sizes.size() > laws.size()) laws.push_back({LawKind::bilateral});
    return laws;
}

using SparseColumns = Eigen::SparseMatrix<double>;
using SparseRows = Eigen::SparseMatrix<double, Eigen::RowMajor>;

/// The matrix of these entries. Entries that are 0 are left out, so that they couple nothing.
SparseColumns sparse(const std::vector<Triplet>& entries, int rows, int columns) {
    std::vector<Eigen::Triplet<double>> list;
    list.reserve(entries.size());
    for (const Triplet& t : entries) list.emplace_back(t.row, t.column, t.value);
    SparseColumns A(rows, columns);
    A.setFromTriplets(list.begin(), list.end());
    A.prune([](Eigen::Index, Eigen::Index, double value) { return value != 0.0; });
    return A;
}

/// The bodies: sets of velocities that M couples, each list ascending. Union–find over the entries of M.
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

/// The contribution of one body to W and q. Only the columns of H with an entry in a velocity of the body are affected.
struct Share {
    std::vector<int> columns;  ///< ascending
    Matrix S;                  ///< Hᵀ M⁻¹ H on these columns
    Vector s;                  ///< Hᵀ M⁻¹ f
};

/// Fills S and s of one body from its mass matrix, directions and forces. False if the mass matrix is singular.
bool condense_body(const SparseColumns& M, const Matrix& H, const Vector& f, Share& share) {
    const SparseColumns transposed = M.transpose();
    for (Eigen::Index j = 0; j < M.cols(); ++j)
        if (M.col(j).nonZeros() == 0 || transposed.col(j).nonZeros() == 0) return false;
    // Some files contain inertias that are unsymmetric in the last digit: ‖M − Mᵀ‖ ≤ 64 ε ‖M‖ counts as symmetric.
    constexpr double rounding = 64 * std::numeric_limits<double>::epsilon();
    if (SparseColumns(M - transposed).norm() <= rounding * M.norm()) {
        Eigen::SimplicialLDLT<SparseColumns> ldlt(0.5 * (M + transposed));
        if (ldlt.info() == Eigen::Success && ldlt.vectorD().minCoeff() > 0.0) {
            // M = Pᵀ L D Lᵀ P, hence Hᵀ M⁻¹ H = Yᵀ D⁻¹ Y with L Y = P H. This is symmetric up to rounding, and exact if
            // M is diagonal. The strict upper half is replaced by the transposed lower half to make it exactly
            // symmetric.
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
    const Matrix X = H.cols() > 0 ? Matrix(lu.solve(H)) : H;  // Eigen's solve fails for a matrix without columns
    share.S = H.transpose() * X;
    share.s = H.transpose() * x;
    return X.allFinite() && x.allFinite();
}

/// The columns of H that have an entry in a velocity of the body, ascending.
std::vector<int> columns_of(const std::vector<int>& body, const SparseRows& H) {
    std::vector<int> columns;
    for (const int v : body)
        for (SparseRows::InnerIterator it(H, v); it; ++it) columns.push_back(static_cast<int>(it.col()));
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    return columns;
}

/// Positions of velocities and of columns of H in the matrices of the current body. One workspace for all bodies.
struct Numbering {
    std::vector<int> velocity, column;
};

/// Extracts the matrices of a body and condenses them. Throws Error at `place` if its mass matrix is singular.
Share share_of(const std::vector<int>& body, const SparseColumns& M, const SparseRows& H, const Vector& f,
               Numbering& in_body, const Place& place) {
    Share share{columns_of(body, H), {}, {}};
    const auto size = static_cast<Eigen::Index>(body.size()), columns = static_cast<Eigen::Index>(share.columns.size());
    for (std::size_t i = 0; i < body.size(); ++i) in_body.velocity[ix(body[i])] = static_cast<int>(i);
    for (std::size_t c = 0; c < share.columns.size(); ++c) in_body.column[ix(share.columns[c])] = static_cast<int>(c);

    Vector f_body(size);
    Matrix H_body = Matrix::Zero(size, columns);
    SparseColumns M_body(size, size);
    std::vector<Eigen::Triplet<double>> entries;
    for (const int v : body) {
        const int i = in_body.velocity[ix(v)];
        f_body[i] = f[v];
        for (SparseRows::InnerIterator it(H, v); it; ++it) H_body(i, in_body.column[ix(it.col())]) = it.value();
        for (SparseColumns::InnerIterator it(M, v); it; ++it)
            entries.emplace_back(in_body.velocity[ix(it.row())], i, it.value());
    }
    M_body.setFromTriplets(entries.begin(), entries.end());
    if (!condense_body(M_body, H_body, f_body, share))
        throw Error("the mass matrix is singular in the body of velocity " + std::to_string(body.front()), place);
    return share;
}

/// Adds the contribution of a body to W and q of the problem.
void add_share(const Share& share, const RowBlocks& blocks, FrictionProblem& problem) {
    BlockMatrix& W = problem.W;
    const std::size_t count = share.columns.size();
    for (std::size_t i = 0; i < count; ++i) {
        const int row = share.columns[i], a = blocks.of(row);
        problem.q[ix(row)] += share.s[static_cast<Eigen::Index>(i)];
        int b = -1;
        double* values = nullptr;
        for (std::size_t j = 0; j < count; ++j) {
            const int column = share.columns[j];
            if (blocks.of(column) != b) {
                b = blocks.of(column);
                values =
                    W.values.data() + W.offset[ix(W.find(a, b))] + ix(row - blocks.start[ix(a)]) * ix(W.block_size(b));
            }
            values[column - blocks.start[ix(b)]] += share.S(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
        }
    }
}

}  // namespace

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

FrictionProblem local_problem(int dimension, std::span<const Triplet> W, std::vector<double> q, std::vector<Law> laws,
                              const Place& place) {
    const RowBlocks blocks(dimension, laws.size(), q.size());
    std::vector<Triplet> entries;
    entries.reserve(W.size());
    for (const Triplet& t : W)
        if (t.value != 0.0) entries.push_back(t);

    // For each block also its transposed block, so that the pattern is symmetric.
    Pattern pattern;
    for (const Triplet& t : entries) {
        const int a = blocks.of(t.row), b = blocks.of(t.column);
        if (a == b || (!pattern.empty() && pattern.back() == std::pair{b, a})) continue;
        pattern.emplace_back(a, b);
        pattern.emplace_back(b, a);
    }
    settle(pattern, blocks, "the problem in its blocks", place);
    append_zeros(pattern, blocks, entries);
    return {BlockMatrix::from_triplets(entries, blocks.sizes), std::move(q), with_bilateral(std::move(laws), blocks)};
}

FrictionProblem condense(const Global& global, int dimension, std::vector<Law> laws, const Place& place) {
    SALTUS_EXPECT(global.f.size() == global.velocities);
    const auto rows = static_cast<int>(global.w.size());
    const RowBlocks blocks(dimension, laws.size(), ix(rows));
    const SparseColumns M = sparse(global.M, global.velocities, global.velocities);
    const SparseRows H = sparse(global.H, global.velocities, rows);
    const std::vector<std::vector<int>> bodies = bodies_of(M);

    // A body couples all contacts that act on it with each other.
    const std::string what = "the condensed problem";
    Pattern pattern;
    for (const std::vector<int>& body : bodies) {
        const std::vector<int> columns = columns_of(body, H);
        const auto count = static_cast<double>(columns.size());
        check_memory(bytes_per_number * count * std::max(count, static_cast<double>(body.size())), what, place);
        std::vector<int> touched;
        for (const int c : columns)
            if (touched.empty() || touched.back() != blocks.of(c)) touched.push_back(blocks.of(c));
        for (const int a : touched)
            for (const int b : touched) pattern.emplace_back(a, b);
        constexpr double bytes_per_pair = sizeof(Pattern::value_type);
        check_memory(bytes_per_pair * static_cast<double>(pattern.size()), what, place);
    }
    settle(pattern, blocks, what, place);
    std::vector<Triplet> zeros;
    append_zeros(pattern, blocks, zeros);

    FrictionProblem problem{BlockMatrix::from_triplets(zeros, blocks.sizes),
                            {global.w.data(), global.w.data() + rows},
                            with_bilateral(std::move(laws), blocks)};
    Numbering in_body{std::vector<int>(ix(global.velocities)), std::vector<int>(ix(rows))};
    for (const std::vector<int>& body : bodies)
        add_share(share_of(body, M, H, global.f, in_body, place), blocks, problem);
    return problem;
}

}  // namespace saltus::io
