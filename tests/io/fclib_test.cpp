// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/problem/fclib.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "saltus/io/report/solve_report.hpp"
#include "support.hpp"

#if SALTUS_HDF5
#include <hdf5.h>
#endif

namespace saltus::fclib_test {

namespace {

using Numbers = std::vector<double>;
using Names = std::vector<std::string>;
using io::ContactProblem;
using io::ProblemKind;
using solvers::BlockMatrix;
using solvers::FrictionProblem;
using solvers::LawKind;

/// Three contacts with an unsymmetric W. The first and the last are not coupled.
FrictionProblem some_problem(int d) {
    FrictionProblem p;
    std::vector<BlockMatrix::Triplet> entries;
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)
            for (int i = 0; std::abs(a - b) < 2 && i < d; ++i)
                for (int j = 0; j < d; ++j)
                    entries.push_back({a * d + i, b * d + j, 0.1 + a + b / 3.0 + (i == j ? 10.0 : 0.01 * (i - 2 * j))});
    p.W = BlockMatrix::from_triplets(entries, std::vector<int>(3, d));
    for (int i = 0; i < 3 * d; ++i) p.q.push_back(1.0 / 3.0 - i);
    p.laws = io::contact_laws(d, Numbers{0.1, 0.7, 0.0}, {});
    return p;
}

}  // namespace

TEST(Fclib, IsRecognisedByItsFirstBytes) {
    EXPECT_TRUE(io::is_hdf5("\x89HDF\r\n\x1a\nand so on"));
    EXPECT_FALSE(io::is_hdf5("\x89HDF\r\n\x1a"));
    EXPECT_FALSE(io::is_hdf5("3\n1\n"));
    EXPECT_FALSE(io::is_hdf5(""));
}

#if !SALTUS_HDF5

TEST(Fclib, SaysWhenThereIsNoHdf5) {
    const test::Folder folder;
    const std::string path = folder.write("a.hdf5", "\x89HDF\r\n\x1a\nand so on");
    const std::string why =
        ": is an FCLIB file, and saltus was built without HDF5; install HDF5 and build again, or use "
        "the text format";
    EXPECT_FALSE(io::has_hdf5());
    EXPECT_EQ(test::refusal_of([&] { io::read_problem(path); }), path + why);
    EXPECT_EQ(test::refusal_of([&] { io::write_fclib_local(folder.path().string(), "b", some_problem(3), ""); }),
              folder.file("b") + why);
}

#else

namespace {

/// The problem with three bilateral rows, in blocks of the given sizes. They are not coupled with the second contact.
FrictionProblem with_bilateral(FrictionProblem p, const std::vector<int>& bilateral) {
    const int d = p.W.block_size(0), rows = p.W.rows();
    const Matrix W = to_dense(p.W);
    std::vector<BlockMatrix::Triplet> entries;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < rows; ++j)
            if (W(i, j) != 0.0) entries.push_back({i, j, W(i, j)});
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < rows; ++i) {
            if (i / d == 1) continue;
            entries.push_back({i, rows + k, 0.3 * k - i / 7.0});
            entries.push_back({rows + k, i, 0.3 * k - i / 7.0});
        }
    for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l) entries.push_back({rows + k, rows + l, k == l ? 20.0 : 1.0 / (1 + k + 2 * l)});
    std::vector<int> sizes(3, d);
    sizes.insert(sizes.end(), bilateral.begin(), bilateral.end());
    p.W = BlockMatrix::from_triplets(entries, sizes);
    for (const double s : {0.25, -1.0 / 3.0, 7.0}) p.q.push_back(s);
    for (std::size_t k = 0; k < bilateral.size(); ++k) p.laws.push_back({LawKind::bilateral});
    return p;
}

/// A new HDF5 file; groups are created with the data in them.
class Maker {
public:
    explicit Maker(const std::string& path)
        : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)), links_(H5Pcreate(H5P_LINK_CREATE)) {
        H5Pset_create_intermediate_group(links_, 1);
    }
    ~Maker() {
        H5Pclose(links_);
        H5Fclose(file_);
    }
    Maker(const Maker&) = delete;
    Maker& operator=(const Maker&) = delete;

    Maker& integers(const std::string& name, const std::vector<int>& values) {
        return write(name, H5T_STD_I32LE, H5T_NATIVE_INT, values.size(), values.data());
    }
    Maker& reals(const std::string& name, const Numbers& values) {
        return write(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.size(), values.data());
    }
    /// Numbers that are announced and have no values.
    Maker& unwritten(const std::string& name, std::size_t count) {
        return write(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, count, nullptr);
    }
    Maker& matrix(const std::string& name, int m, int n, int nz, const std::vector<int>& p, const std::vector<int>& i,
                  const Numbers& x) {
        integers(name + "/m", {m}).integers(name + "/n", {n}).integers(name + "/nz", {nz});
        integers(name + "/nzmax", {static_cast<int>(x.size())});
        return integers(name + "/p", p).integers(name + "/i", i).reals(name + "/x", x);
    }

private:
    Maker& write(const std::string& name, hid_t stored, hid_t native, std::size_t count, const void* values) {
        const hsize_t size = count;
        const hid_t space = H5Screate_simple(1, &size, nullptr);
        const hid_t set = H5Dcreate2(file_, name.c_str(), stored, space, links_, H5P_DEFAULT, H5P_DEFAULT);
        if (count > 0 && values != nullptr) H5Dwrite(set, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        H5Dclose(set);
        H5Sclose(space);
        return *this;
    }

    hid_t file_, links_;
};

/// One planar contact, W = [1 2; 3 4] in one of the three layouts.
void make_local(const std::string& path, int layout, double mu = 0.5) {
    Maker m(path);
    m.integers("fclib_local/spacedim", {2})
        .reals("fclib_local/vectors/q", {5, 6})
        .reals("fclib_local/vectors/mu", {mu});
    if (layout == -2) m.matrix("fclib_local/W", 2, 2, -2, {0, 2, 4}, {0, 1, 0, 1}, {1, 2, 3, 4});
    if (layout == -1) m.matrix("fclib_local/W", 2, 2, -1, {0, 2, 4}, {0, 1, 0, 1}, {1, 3, 2, 4});
    // The first five of six triplets; two of them have the same row and column.
    if (layout >= 0)
        m.matrix("fclib_local/W", 2, 2, 5, {0, 1, 0, 1, 1, 0}, {0, 0, 1, 1, 1, 0}, {1, 2, 3, 1.5, 2.5, 99});
}

std::string refusal(const std::string& path, std::optional<ProblemKind> kind = {}) {
    const std::string what = test::refusal_of([&] { io::read_problem(path, kind); });
    return what.starts_with(path + ": ") ? what.substr(path.size() + 2) : what;
}

/// The refusal of a local problem that is complete except for the data that the test adds.
template <class Add>
std::string refusal_with(Add add) {
    const test::Folder folder;
    {
        Maker m(folder.file("a"));
        add(m);
    }
    return refusal(folder.file("a"));
}

void expect_same(const FrictionProblem& a, const FrictionProblem& b) {
    EXPECT_EQ(a.W.start, b.W.start);
    EXPECT_EQ(a.W.row_start, b.W.row_start);
    EXPECT_EQ(a.W.block_column, b.W.block_column);
    EXPECT_EQ(a.W.values, b.W.values);
    EXPECT_EQ(a.q, b.q);
    ASSERT_EQ(a.laws.size(), b.laws.size());
    for (std::size_t k = 0; k < a.laws.size(); ++k) {
        EXPECT_EQ(a.laws[k].kind, b.laws[k].kind);
        EXPECT_EQ(a.laws[k].mu, b.laws[k].mu);
    }
}

/// One planar contact with W = [2 0.5; 0.5 1], q = (-1, 3), and two bilateral rows.
Maker& add_local_with_bilateral(Maker& m) {
    const std::string g = "fclib_local/";
    m.integers(g + "spacedim", {2}).reals(g + "vectors/mu", {0.3}).reals(g + "vectors/q", {-1, 3});
    m.matrix(g + "W", 2, 2, 4, {0, 1, 0, 1}, {0, 0, 1, 1}, {2, 0.5, 0.5, 1});
    m.matrix(g + "V", 2, 2, -1, {0, 1, 3}, {0, 0, 1}, {1, 0.25, -0.5});  // [1 0.25; 0 -0.5]
    m.matrix(g + "R", 2, 2, -2, {0, 1, 3}, {0, 0, 1}, {4, 1, 2});        // [4 0; 1 2]
    return m.reals(g + "vectors/s", {-0.5, 2});
}

Matrix dense(const ContactProblem& p) { return to_dense(std::get<FrictionProblem>(p.problem).W); }

}  // namespace

TEST(Fclib, ReadsBackWhatItWrites) {
    for (const int d : {2, 3}) {
        const test::Folder folder;
        const FrictionProblem p = some_problem(d);
        io::write_fclib_local(folder.file("a/b"), "p.hdf5", p, "three contacts");
        EXPECT_EQ(folder.names(), (Names{"a", "a/b", "a/b/p.hdf5"}));
        const ContactProblem back = io::read_problem(folder.file("a/b/p.hdf5"));
        EXPECT_EQ(back.kind, ProblemKind::fc);
        EXPECT_EQ(back.dimension, d);
        EXPECT_EQ(back.contacts, 3);
        EXPECT_FALSE(back.solution);
        expect_same(std::get<FrictionProblem>(back.problem), p);
    }
}

TEST(Fclib, ReadsBackBilateralRows) {
    for (const int d : {2, 3}) {
        const test::Folder folder;
        const FrictionProblem p = with_bilateral(some_problem(d), {3});
        io::write_fclib_local(folder.path().string(), "p", p, "");
        const ContactProblem back = io::read_problem(folder.file("p"));
        EXPECT_EQ(back.kind, ProblemKind::fc);
        EXPECT_EQ(back.contacts, 3);
        expect_same(std::get<FrictionProblem>(back.problem), p);
        // All bilateral rows are read back as one block.
        io::write_fclib_local(folder.path().string(), "q", with_bilateral(some_problem(d), {1, 2}), "");
        EXPECT_EQ(test::content_of(folder.file("q")), test::content_of(folder.file("p")));
    }
}

TEST(Fclib, WritesBilateralRowsAlone) {
    const test::Folder folder;
    FrictionProblem p{BlockMatrix::from_dense(2.0 * Matrix::Identity(2, 2), std::vector<int>{2}), {1, 2}, {}};
    p.laws.push_back({LawKind::bilateral});
    io::write_fclib_local(folder.path().string(), "p", p, "");
    const ContactProblem back = io::read_problem(folder.file("p"));
    EXPECT_EQ(back.contacts, 0);
    expect_same(std::get<FrictionProblem>(back.problem), p);
}

TEST(Fclib, WritesEqualBytesForEqualProblems) {
    const test::Folder folder;
    io::write_fclib_local(folder.path().string(), "a", some_problem(3), "t");
    io::write_fclib_local(folder.path().string(), "b", some_problem(3), "t");
    EXPECT_EQ(test::content_of(folder.file("a")), test::content_of(folder.file("b")));
}

TEST(Fclib, WritesAProblemWithoutContacts) {
    const test::Folder folder;
    io::write_fclib_local(folder.path().string(), "a", {}, "");
    EXPECT_EQ(io::read_problem(folder.file("a")).contacts, 0);
}

TEST(Fclib, RefusesToWriteOtherLaws) {
    const test::Folder folder;
    const auto refusal_to_write = [&](const FrictionProblem& p) {
        return test::refusal_of([&] { io::write_fclib_local(folder.path().string(), "a", p, ""); });
    };
    const std::string layout = folder.file("a") + ": the FCLIB local layout needs ";
    const std::string alike = "contacts that all have planar friction or all have spatial friction; contact ";
    FrictionProblem p = some_problem(3);
    p.laws[1].kind = LawKind::unilateral;
    EXPECT_EQ(refusal_to_write(p), layout + alike + "1 is different");
    for (solvers::Law& law : p.laws) law.kind = LawKind::unilateral;
    EXPECT_EQ(refusal_to_write(p), layout + alike + "0 is different");

    for (const std::size_t bilateral : {0U, 1U}) {
        p = some_problem(3);
        p.laws[bilateral].kind = LawKind::bilateral;
        EXPECT_EQ(refusal_to_write(p), layout + "bilateral rows after all contacts; contact " +
                                           std::to_string(bilateral + 1) + " comes after bilateral rows");
    }
    // The second contact and the third are not coupled symmetrically.
    p = some_problem(3);
    p.laws[2].kind = LawKind::bilateral;
    EXPECT_EQ(refusal_to_write(p),
              layout + "symmetric couplings of contacts and bilateral rows; here they are not symmetric");
    EXPECT_EQ(folder.names(), Names{});
}

TEST(Fclib, SaysWhenItCannotWrite) {
    const test::Folder folder;
    const std::string taken = folder.write("taken", "x");
    EXPECT_EQ(test::refusal_of([&] { io::write_fclib_local(taken, "a", some_problem(2), ""); }),
              taken + ": cannot create the folder: Not a directory");
}

TEST(Fclib, ReadsTripletsColumnsAndRows) {
    const test::Folder folder;
    for (const int layout : {0, -1, -2}) {
        make_local(folder.file("a"), layout);
        const ContactProblem p = io::read_problem(folder.file("a"));
        EXPECT_EQ(p.kind, ProblemKind::fc);
        EXPECT_EQ(dense(p), (Matrix(2, 2) << 1, 2, 3, 4).finished()) << layout;
        EXPECT_EQ(std::get<FrictionProblem>(p.problem).q, (Numbers{5, 6}));
    }
}

TEST(Fclib, ReadsBilateralRowsOfALocalProblem) {
    const test::Folder folder;
    {
        Maker m(folder.file("a"));
        add_local_with_bilateral(m).reals("solution/r", {1, 2}).reals("solution/l", {3, 4});
    }
    const ContactProblem p = io::read_problem(folder.file("a"));
    EXPECT_EQ(p.kind, ProblemKind::fc);
    EXPECT_EQ(p.contacts, 1);
    EXPECT_EQ(dense(p), (Matrix(4, 4) << 2, 0.5, 1, 0.25, 0.5, 1, 0, -0.5, 1, 0, 4, 0, 0.25, -0.5, 1, 2).finished());
    const auto& f = std::get<FrictionProblem>(p.problem);
    EXPECT_EQ(f.W.start, (std::vector<int>{0, 2, 4}));
    EXPECT_EQ(f.q, (Numbers{-1, 3, -0.5, 2}));
    ASSERT_EQ(f.laws.size(), 2U);
    EXPECT_EQ(f.laws[0].kind, LawKind::friction2);
    EXPECT_EQ(f.laws[1].kind, LawKind::bilateral);
    ASSERT_TRUE(p.solution);
    EXPECT_EQ(*p.solution, (Vector(4) << 1, 2, 3, 4).finished());
}

TEST(Fclib, ReadsAProblemWhoseSolutionWasCreatedAndNeverWritten) {
    const test::Folder folder;
    {
        Maker m(folder.file("a"));
        add_local_with_bilateral(m).unwritten("solution/r", 2);
    }
    const ContactProblem p = io::read_problem(folder.file("a"));
    EXPECT_EQ(p.contacts, 1);
    EXPECT_FALSE(p.solution);
    // Data of the problem itself must have values.
    EXPECT_EQ(refusal_with([](Maker& m) {
                  const std::string g = "fclib_local/";
                  m.integers(g + "spacedim", {2}).matrix(g + "W", 2, 2, 0, {}, {}, {}).unwritten(g + "vectors/mu", 1);
              }),
              "fclib_local/vectors/mu announces 1 number and stores fewer; it may be cut short or damaged");
}

TEST(Fclib, SolvesALocalProblemWithBilateralRowsLikeTheOneWithoutThem) {
    const test::Folder folder;
    {
        Maker m(folder.file("a"));
        add_local_with_bilateral(m);
    }
    const ContactProblem p = io::read_problem(folder.file("a"));
    io::SolveOptions options;
    options.tolerance = 1e-13;
    const solvers::Solution with = io::solve_problem(p, options).solution;
    ASSERT_EQ(with.status, solvers::Status::converged);

    // λ = −R⁻¹ (Vᵀ r + s), so that u = (W − V R⁻¹ Vᵀ) r + q − V R⁻¹ s.
    const Matrix A = dense(p), V = A.topRightCorner(2, 2);
    const Matrix R_inverse = (Matrix(2, 2) << 0.25, 0, -0.125, 0.5).finished();
    const Vector s = (Vector(2) << -0.5, 2).finished();
    const Matrix W = A.topLeftCorner(2, 2) - V * R_inverse * V.transpose();
    const Vector q = (Vector(2) << -1, 3).finished() - V * R_inverse * s;
    ContactProblem reduced = p;
    reduced.problem = FrictionProblem{
        BlockMatrix::from_dense(W, std::vector<int>{2}), {q[0], q[1]}, io::contact_laws(2, Numbers{0.3}, {})};
    const solvers::Solution without = io::solve_problem(reduced, options).solution;
    ASSERT_EQ(without.status, solvers::Status::converged);
    const Vector r = (Vector(2) << without.r[0], without.r[1]).finished();
    const Vector lambda = -R_inverse * (V.transpose() * r + s);
    EXPECT_GT(r[0], 0.1);  // the contact does carry
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_NEAR(with.r[i], without.r[i], 1e-11);
        EXPECT_NEAR(with.r[2 + i], lambda[static_cast<Eigen::Index>(i)], 1e-11);
    }
}

TEST(Fclib, RefusesInconsistentBilateralRows) {
    const std::string g = "fclib_local/", together = "; V, R and vectors/s belong together";
    const auto local = [&](Maker& m) -> Maker& {
        m.integers(g + "spacedim", {2}).reals(g + "vectors/q", {5, 6}).reals(g + "vectors/mu", {0.5});
        return m.matrix(g + "W", 2, 2, 2, {0, 1}, {0, 1}, {1, 1});
    };
    const auto V = [&](Maker& m, int rows, int columns) -> Maker& {
        return m.matrix(g + "V", rows, columns, 0, {}, {}, {});
    };
    const auto R = [&](Maker& m, int rows, int columns) -> Maker& {
        return m.matrix(g + "R", rows, columns, 0, {}, {}, {});
    };
    EXPECT_EQ(refusal_with([&](Maker& m) { R(V(local(m), 2, 1), 1, 1).reals(g + "vectors/s", {1}); }), "accepted");
    EXPECT_EQ(refusal_with([&](Maker& m) { R(V(local(m), 2, 0), 0, 0).reals(g + "vectors/s", {}); }), "accepted");
    EXPECT_EQ(refusal_with([&](Maker& m) { V(local(m), 2, 1).reals(g + "vectors/s", {1}); }),
              "fclib_local/R is missing" + together);
    EXPECT_EQ(refusal_with([&](Maker& m) { R(local(m), 1, 1).reals(g + "vectors/s", {1}); }),
              "fclib_local/V is missing" + together);
    EXPECT_EQ(refusal_with([&](Maker& m) { R(V(local(m), 2, 1), 1, 1); }),
              "fclib_local/vectors/s is missing" + together);
    EXPECT_EQ(refusal_with([&](Maker& m) { local(m).reals(g + "vectors/s", {1}); }),
              "fclib_local/V is missing" + together);
    EXPECT_EQ(refusal_with([&](Maker& m) { R(V(local(m), 3, 1), 1, 1).reals(g + "vectors/s", {1}); }),
              "fclib_local/V is 3 x 1, not 2 x 1");
    EXPECT_EQ(refusal_with([&](Maker& m) { R(V(local(m), 2, 1), 1, 2).reals(g + "vectors/s", {1}); }),
              "fclib_local/R is 1 x 2, not 1 x 1");
    EXPECT_EQ(refusal_with([&](Maker& m) {
                  R(V(local(m), 2, 1), 1, 1).reals(g + "vectors/s", {1, 2});
              }),
              "fclib_local/vectors/s has 2 numbers, not 1");
    EXPECT_EQ(refusal_with([&](Maker& m) {
                  R(V(local(m), 2, 1), 1, 1).reals(g + "vectors/s", {std::numeric_limits<double>::quiet_NaN()});
              }),
              "fclib_local/vectors/s, number 1, is nan, not finite; give a finite number");
    EXPECT_EQ(refusal_with([&](Maker& m) {
                  R(V(local(m), 2, 1), 1, 1)
                      .reals(g + "vectors/s", {1})
                      .reals("solution/r", {1, 2})
                      .reals("solution/l", {1, 2});
              }),
              "solution/l has 2 numbers, not 1");
}

/// All bilateral rows form one dense block, so that a file with few numbers can need much memory.
TEST(Fclib, RefusesMoreBilateralRowsThanMemoryHolds) {
    constexpr int p = 40000;
    const std::string less = "; use fewer contacts on one body or fewer bilateral rows";
    EXPECT_EQ(refusal_with([&](Maker& m) {
                  const std::string g = "fclib_local/";
                  m.integers(g + "spacedim", {2}).reals(g + "vectors/q", {}).reals(g + "vectors/mu", {});
                  m.matrix(g + "W", 0, 0, 0, {}, {}, {}).matrix(g + "V", 0, p, 0, {}, {}, {});
                  m.matrix(g + "R", p, p, 0, {}, {}, {}).reals(g + "vectors/s", Numbers(p, 0.0));
              }),
              "the problem in its blocks needs 11.9 GiB; the limit is 2 GiB" + less);
    EXPECT_EQ(refusal_with([&](Maker& m) {
                  const std::string g = "fclib_global/";
                  m.integers(g + "spacedim", {2}).matrix(g + "M", 1, 1, 1, {0}, {0}, {2});
                  m.matrix(g + "H", 1, 0, 0, {}, {}, {}).matrix(g + "G", 1, p, 0, {}, {}, {});
                  m.reals(g + "vectors/f", {1}).reals(g + "vectors/w", {}).reals(g + "vectors/b", Numbers(p, 0.0));
                  m.reals(g + "vectors/mu", {});
              }),
              "the condensed problem needs 11.9 GiB; the limit is 2 GiB" + less);
}

TEST(Fclib, CondensesGlobalProblemsWithBilateralRows) {
    const test::Folder folder;
    const std::string path = folder.file("a"), g = "fclib_global/";
    {
        // Masses 2 and 4; the contact is on the first, the bilateral row between them.
        Maker m(path);
        m.integers(g + "spacedim", {2}).matrix(g + "M", 2, 2, 2, {0, 1}, {0, 1}, {2, 4});
        m.matrix(g + "H", 2, 2, 1, {0}, {0}, {1}).matrix(g + "G", 2, 1, 2, {0, 0}, {0, 1}, {1, -1});
        m.reals(g + "vectors/f", {2, 8}).reals(g + "vectors/w", {10, 20}).reals(g + "vectors/b", {30});
        m.reals(g + "vectors/mu", {0.5}).reals("solution/r", {1, 2}).reals("solution/l", {3});
    }
    const ContactProblem p = io::read_problem(path);
    EXPECT_EQ(p.kind, ProblemKind::gfc);
    EXPECT_EQ(p.contacts, 1);
    const auto& f = std::get<FrictionProblem>(p.problem);
    EXPECT_EQ(to_dense(f.W), (Matrix(3, 3) << 0.5, 0, 0.5, 0, 0, 0, 0.5, 0, 0.75).finished());
    EXPECT_EQ(f.q, (Numbers{11, 20, 29}));
    ASSERT_EQ(f.laws.size(), 2U);
    EXPECT_EQ(f.laws[0].kind, LawKind::friction2);
    EXPECT_EQ(f.laws[1].kind, LawKind::bilateral);
    EXPECT_EQ(f.W.block_size(1), 1);
    ASSERT_TRUE(p.global);
    EXPECT_EQ(p.global->w, (Vector(3) << 10, 20, 30).finished());
    ASSERT_TRUE(p.solution);
    EXPECT_EQ(*p.solution, (Vector(3) << 1, 2, 3).finished());
}

TEST(Fclib, ReadsRollingGlobalProblems) {
    const test::Folder folder;
    const std::string path = folder.file("a"), g = "fclib_global_rolling/";
    {
        Maker m(path);
        m.integers(g + "spacedim", {5}).matrix(g + "M", 1, 1, 1, {0}, {0}, {2});
        m.matrix(g + "H", 1, 5, 1, {0}, {0}, {1}).reals(g + "vectors/f", {2}).reals(g + "vectors/w", {1, 2, 3, 4, 5});
        m.reals(g + "vectors/mu", {0.5}).reals(g + "vectors/mu_r", {0.25});
    }
    const ContactProblem p = io::read_problem(path);
    EXPECT_EQ(p.kind, ProblemKind::grfc);
    EXPECT_EQ(p.dimension, 5);
    const auto& f = std::get<FrictionProblem>(p.problem);
    EXPECT_EQ(f.W.at(0, 0), 0.5);
    EXPECT_EQ(f.q, (Numbers{2, 2, 3, 4, 5}));
    EXPECT_EQ(f.laws[0].mu_rolling, 0.25);
    EXPECT_EQ(refusal(path, ProblemKind::rfc),
              "fclib_global_rolling is not of the kind rfc; the content is that of --kind grfc");
}

TEST(Fclib, RefusesInconsistentData) {
    const test::Folder folder;
    make_local(folder.file("a"), -1, -0.5);
    EXPECT_EQ(refusal(folder.file("a")),
              "fclib_local/vectors/mu, number 1 of 1, is -0.5, negative; give a number >= 0");
    make_local(folder.file("a"), -1, std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(refusal(folder.file("a")), "fclib_local/vectors/mu, number 1, is nan, not finite; give a finite number");

    const std::string g = "fclib_local/";
    const auto rest = [&](Maker& m) -> Maker& {
        return m.integers(g + "spacedim", {2}).reals(g + "vectors/q", {5, 6}).reals(g + "vectors/mu", {0.5});
    };
    using V = std::vector<int>;
    const auto matrix = [&](int m, int n, int nz, const V& p, const V& i, const Numbers& x) {
        return refusal_with([&](Maker& maker) { rest(maker).matrix(g + "W", m, n, nz, p, i, x); });
    };
    EXPECT_EQ(matrix(2, 2, -1, {0, 2, 4}, {0, 1, 0, 1}, {1, 2, 3, 4}), "accepted");
    EXPECT_EQ(matrix(4, 4, 0, {}, {}, {}), "fclib_local/W is 4 x 4, not 2 x 2");
    EXPECT_EQ(matrix(-1, 2, 0, {}, {}, {}), "fclib_local/W/m is -1, not in 0 ... 2147483647");
    EXPECT_EQ(matrix(2, 2, -3, {}, {}, {}), "fclib_local/W/nz is -3, not in -2 ... 2147483647");
    EXPECT_EQ(matrix(2, 2, 2, {0, 1}, {0}, {1, 2}), "fclib_local/W/nz is 2, but there are only 1 triplet");
    EXPECT_EQ(matrix(2, 2, 1, {2}, {0}, {1}), "fclib_local/W, triplet 1, is at 0 2, outside a matrix of 2 x 2");
    EXPECT_EQ(matrix(2, 2, -1, {0, 1}, {0}, {1}), "fclib_local/W/p has 2 pointers, not 3");
    EXPECT_EQ(matrix(2, 2, -1, {1, 1, 1}, {0}, {1}), "fclib_local/W/p begins with 1, not 0");
    EXPECT_EQ(matrix(2, 2, -1, {0, 1, 0}, {0}, {1}), "fclib_local/W/p, number 3, is 0, not in 1 ... 1");
    EXPECT_EQ(matrix(2, 2, -2, {0, 1, 2}, {0}, {1}), "fclib_local/W/p, number 3, is 2, not in 1 ... 1");
    EXPECT_EQ(matrix(2, 2, -2, {0, 1, 1}, {2}, {1}), "fclib_local/W/i, number 1, is 2, not in 0 ... 1");
    EXPECT_EQ(matrix(2, 2, -2, {0, 1, 1}, {1}, {std::numeric_limits<double>::infinity()}),
              "fclib_local/W/x, number 1, is inf, not finite; give a finite number");

    EXPECT_EQ(refusal_with([&](Maker& m) { m.integers("other", {1}); }),
              "contains no contact problem: neither fclib_local nor fclib_global nor fclib_global_rolling");
    EXPECT_EQ(refusal_with([&](Maker& m) { m.integers(g + "spacedim", {2}).integers("fclib_global/spacedim", {2}); }),
              "contains more than one contact problem");
    EXPECT_EQ(refusal_with([&](Maker& m) { m.integers(g + "spacedim", {5}); }),
              "fclib_local/spacedim is 5, not 2 or 3");
    EXPECT_EQ(refusal_with([&](Maker& m) {
                  m.integers(g + "spacedim", {2, 2});
              }),
              "fclib_local/spacedim has 2 numbers, not one");
    EXPECT_EQ(refusal_with([&](Maker& m) { m.reals(g + "spacedim", {2}); }),
              "fclib_local/spacedim does not contain integers");
    EXPECT_EQ(refusal_with([&](Maker& m) { rest(m); }), "fclib_local/W is missing");
    EXPECT_EQ(refusal_with([&](Maker& m) { rest(m).integers(g + "W", {1}); }), "fclib_local/W/m is missing");
    EXPECT_EQ(refusal_with([&](Maker& m) {
                  m.integers(g + "spacedim", {2}).reals(g + "vectors/q", {5}).reals(g + "vectors/mu", {0.5});
                  m.matrix(g + "W", 2, 2, 0, {}, {}, {});
              }),
              "fclib_local/vectors/q has 1 number, not 2");
    EXPECT_EQ(refusal_with([&](Maker& m) { rest(m).matrix(g + "W", 2, 2, 0, {}, {}, {}).reals("solution/r", {1}); }),
              "solution/r has 1 number, not 2");
}

namespace {

/// Writes mu of a local problem otherwise than HDF5 does by itself, then reads the file. The creation list describes
/// the dataset, `type` its numbers; `replace` bytes of the finished file (pairs of old and new).
class OtherMu {
public:
    OtherMu() : creation_(H5Pcreate(H5P_DATASET_CREATE)), access_(H5Pcreate(H5P_FILE_ACCESS)) {}
    ~OtherMu() {
        H5Pclose(creation_);
        H5Pclose(access_);
    }
    OtherMu(const OtherMu&) = delete;
    OtherMu& operator=(const OtherMu&) = delete;

    hid_t creation() const { return creation_; }
    /// The newest formats in place of the oldest.
    void newest() const { H5Pset_libver_bounds(access_, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST); }
    void chunks(hsize_t size) const { H5Pset_chunk(creation_, 1, &size); }

    std::string refusal(hid_t type = H5T_IEEE_F64LE, const std::string& old_bytes = {},
                        const std::string& new_bytes = {}) const {
        const test::Folder folder;
        const std::string path = folder.file("a"), name = "fclib_local/vectors/mu";
        make_local(path, -2);
        const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, access_);
        H5Ldelete(file, name.c_str(), H5P_DEFAULT);
        const hsize_t size = 1, most = H5S_UNLIMITED;
        const double mu = 0.25;
        const bool grows = H5Pget_layout(creation_) == H5D_CHUNKED;
        const hid_t space = H5Screate_simple(1, &size, grows ? &most : nullptr);
        const hid_t set = H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, creation_, H5P_DEFAULT);
        H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &mu);
        H5Dclose(set);
        H5Sclose(space);
        H5Fclose(file);
        if (!old_bytes.empty()) {
            std::string bytes = test::content_of(path);
            const std::size_t at = bytes.find(old_bytes);
            EXPECT_NE(at, std::string::npos);
            EXPECT_EQ(bytes.find(old_bytes, at + 1), std::string::npos);
            folder.write("a", bytes.replace(at, old_bytes.size(), new_bytes));
        }
        return fclib_test::refusal(path);
    }

private:
    hid_t creation_, access_;
};

/// Little-endian numbers of 32 bits, as the header of a dataset has them.
std::string words(const std::vector<std::uint32_t>& values) {
    std::string bytes;
    for (const std::uint32_t value : values)
        for (unsigned k = 0; k < 4; ++k) bytes += static_cast<char>(value >> 8U * k & 0xFFU);
    return bytes;
}

const char* const damaged_remedy = "; it may be cut short or damaged";

}  // namespace

TEST(Fclib, ReadsChunksAndCompressedNumbersInOldAndNewFormats) {
    for (const bool newest : {false, true})
        for (const bool compressed : {false, true}) {
            const OtherMu mu;
            if (newest) mu.newest();
            mu.chunks(7777);
            if (compressed) H5Pset_shuffle(mu.creation());
            if (compressed) H5Pset_deflate(mu.creation(), 6);
            EXPECT_EQ(mu.refusal(), "accepted");
        }
    for (const hid_t type : {H5T_IEEE_F32LE, H5T_IEEE_F64BE}) EXPECT_EQ(OtherMu().refusal(type), "accepted");
}

TEST(Fclib, RefusesHeadersThatHdf5DoesNotCheck) {
    const std::string name = "fclib_local/vectors/mu ";
    const OtherMu mu;
    mu.chunks(7777);
    const std::string good = words({7777, 8});
    const auto refusal = [&](const std::string& bad) { return mu.refusal(H5T_IEEE_F64LE, good, bad); };
    EXPECT_EQ(refusal(words({0, 8})), name + "has chunks of size zero" + damaged_remedy);
    EXPECT_EQ(refusal(words({0x40000000, 8})), name + "has chunks of more than 4 GiB" + damaged_remedy);
    EXPECT_EQ(refusal(words({7777, 4})), name + "has chunks that do not fit its numbers" + damaged_remedy);
}

TEST(Fclib, RefusesFiltersAndNumbersThatNoWriterOfFclibUses) {
    const std::string name = "fclib_local/vectors/mu ";
    const OtherMu filtered;
    filtered.chunks(7777);
    H5Pset_nbit(filtered.creation());
    EXPECT_EQ(filtered.refusal(), name + "has a filter other than deflate, shuffle and fletcher32" + damaged_remedy);
    const hid_t odd = H5Tcopy(H5T_IEEE_F64LE);
    H5Tset_ebias(odd, 1000);
    EXPECT_EQ(OtherMu().refusal(odd), name + "contains floating-point numbers of an unusual form" + damaged_remedy);
    H5Tclose(odd);
}

TEST(Fclib, RefusesDataOutsideTheFile) {
    const test::Folder folder;
    const std::string name = "fclib_local/vectors/mu ", other = folder.write("other", std::string(8, '\0'));
    const OtherMu mu;
    H5Pset_external(mu.creation(), other.c_str(), 0, 8);
    EXPECT_EQ(mu.refusal(), name + "is stored in other files" + damaged_remedy);

    make_local(folder.file("a"), -2);
    make_local(folder.file("b"), -2);
    const hid_t file = H5Fopen(folder.file("a").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "fclib_local/vectors/mu", H5P_DEFAULT);
    H5Lcreate_external(folder.file("b").c_str(), "fclib_local/vectors/mu", file, "fclib_local/vectors/mu", H5P_DEFAULT,
                       H5P_DEFAULT);
    H5Fclose(file);
    EXPECT_EQ(refusal(folder.file("a")), name + "is in another file" + damaged_remedy);
}

TEST(Fclib, RefusesFilesCutShortOrDamaged) {
    const test::Folder folder;
    io::write_fclib_local(folder.path().string(), "a", some_problem(3), "t");
    const std::string whole = test::content_of(folder.file("a"));
    for (std::size_t size = 8; size < whole.size(); size += 61) {
        folder.write("cut", whole.substr(0, size));
        EXPECT_EQ(refusal(folder.file("cut")), "cannot be opened as HDF5; it may be cut short or damaged");
    }
    // The marks of the library's own structures: B-trees, tables of symbols, heaps of names. (Damage elsewhere inside
    // these makes some versions of the library leak, which is not what is tested here.)
    int refused = 0, accepted = 0;
    for (const char* const mark : {"TREE", "SNOD", "HEAP"})
        for (std::size_t at = whole.find(mark); at != std::string::npos; at = whole.find(mark, at + 1)) {
            std::string damaged = whole;
            damaged[at] = 'x';
            folder.write("damaged", damaged);
            (refusal(folder.file("damaged")) == "accepted" ? accepted : refused) += 1;
        }
    EXPECT_EQ(accepted, 3);  // the three of the group `info`, which is not read
    EXPECT_EQ(refused, 12);  // those of the root, of fclib_local, of W and of vectors
}

#endif

}  // namespace saltus::fclib_test
