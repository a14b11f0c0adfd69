// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/problem/read_problem.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "saltus/base/text.hpp"
#include "support.hpp"

namespace saltus::read_problem_test {

namespace {

using io::ContactProblem;
using io::ProblemKind;
using solvers::FrictionProblem;
using solvers::LawKind;
using solvers::LinearComplementarity;
using solvers::MixedComplementarity;
using solvers::Relay;
using Numbers = std::vector<double>;

constexpr const char* file = "p.dat";

/// Remedies that several messages end with.
const std::string cut_short = "; it is cut short, or a size before this place is too large";
const std::string give_finite = "; give a finite number";
const std::string beginnings =
    "; expected the dimension of a contact (2, 3 or 5), the number of unknowns, or the two flags of an mlcp";

ContactProblem parse(const std::string& text, std::optional<ProblemKind> kind = {}) {
    return io::parse_problem(text, file, kind);
}

std::string refusal(const std::string& text, std::optional<ProblemKind> kind = {}) {
    return test::refusal_of([&] { parse(text, kind); });
}

FrictionProblem friction(const std::string& text) { return std::get<FrictionProblem>(parse(text).problem); }

/// The rows of a matrix one after the other.
Numbers rows_of(const Matrix& A) {
    Numbers list;
    for (Eigen::Index i = 0; i < A.rows(); ++i)
        for (Eigen::Index j = 0; j < A.cols(); ++j) list.push_back(A(i, j));
    return list;
}

Numbers rows_of(const solvers::BlockMatrix& A) { return rows_of(to_dense(A)); }
Numbers list_of(const Vector& v) { return {v.data(), v.data() + v.size()}; }

/// An lcp of one matrix, to look at how it is stored.
Numbers matrix_of(int n, const std::string& body) {
    std::string q;
    for (int i = 0; i < n; ++i) q += " 1";
    return rows_of(std::get<LinearComplementarity>(parse(std::to_string(n) + "\n" + body + "\n" + q).problem).M);
}

const std::string banner = "CSparse Version 3.1.9, May 4, 2016.  Copyright (c) 1 2 3\n";

/// One spatial contact; its matrix is unsymmetric.
const std::string fc =
    "3\n1\n0\n3\n3\n3 3\n"
    "15 -1 -2\n"
    "-10 14 1\n"
    "-20 10 16\n"
    "-1 2 3\n"
    "0.1\n";

/// One spatial contact on a body with three velocities. By its size the mass matrix could also be a Delassus matrix.
const std::string gfc =
    "3\n1\n0\n3\n3\n3 3\n"
    "2 0 0  0 4 0  0 0 8\n"
    "0\n3\n3\n3 3\n"
    "1 0 0  0 1 0  0 0 1\n"
    "2 4 8\n"
    "10 20 30\n"
    "0.5\n";

const std::string lcp = "2\n0\n2\n2\n2 2\n1 2\n3 4\n-1 -2\n";
const std::string relay = lcp + "-1 -3\n1 3\n";

/// n = 1, m = 2, both forms.
const std::string mlcp =
    "1\n1\n1\n2\n"
    "0 1 3\n0 1\n"
    "0\n3\n3\n3 3\n"
    "1 2 3\n4 5 6\n7 8 9\n"
    "-1 -2 -3\n"
    "1\n"
    "5 8\n6 9\n"
    "4 7\n"
    "2\n3\n"
    "-1\n-2 -3\n";

/// The largest memory of the process so far.
long peak_kibibytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/// The whole problem in numbers, whatever its kind.
Numbers numbers_of(const ContactProblem& p) {
    struct Visitor {
        Numbers operator()(const FrictionProblem& f) const {
            Numbers all = rows_of(f.W);
            all.insert(all.end(), f.q.begin(), f.q.end());
            for (const solvers::Law& law : f.laws) all.insert(all.end(), {law.mu, law.mu_rolling});
            return all;
        }
        Numbers operator()(const LinearComplementarity& l) const { return join(rows_of(l.M), l.q); }
        Numbers operator()(const MixedComplementarity& l) const { return join(rows_of(l.M), l.q); }
        Numbers operator()(const Relay& l) const { return join(join(join(rows_of(l.M), l.q), l.lower), l.upper); }
        static Numbers join(Numbers a, const Vector& b) {
            a.insert(a.end(), b.data(), b.data() + b.size());
            return a;
        }
    };
    return std::visit(Visitor{}, p.problem);
}

}  // namespace

// ---- kinds

TEST(ReadProblem, ReadsALocalProblemWhoseDenseMatrixIsColumnByColumn) {
    const ContactProblem p = parse(fc);
    EXPECT_EQ(p.file, file);
    EXPECT_EQ(p.kind, ProblemKind::fc);
    EXPECT_EQ(p.dimension, 3);
    EXPECT_EQ(p.contacts, 1);
    EXPECT_FALSE(p.global);
    EXPECT_FALSE(p.solution);
    const auto& f = std::get<FrictionProblem>(p.problem);
    EXPECT_EQ(rows_of(f.W), (Numbers{15, -10, -20, -1, 14, 10, -2, 1, 16}));
    EXPECT_EQ(f.q, (Numbers{-1, 2, 3}));
    ASSERT_EQ(f.laws.size(), 1U);
    EXPECT_EQ(f.laws[0].kind, LawKind::friction3);
    EXPECT_EQ(f.laws[0].mu, 0.1);
}

TEST(ReadProblem, ReadsPlanarContacts) {
    const ContactProblem p = parse("2 2 0 4 4 4 4  1 2 0 0  3 4 0 0  0 0 5 6  0 0 7 8  1 2 3 4  0.5 0");
    EXPECT_EQ(p.kind, ProblemKind::fc);
    EXPECT_EQ(p.dimension, 2);
    EXPECT_EQ(p.contacts, 2);
    const auto& f = std::get<FrictionProblem>(p.problem);
    EXPECT_EQ(f.laws[1].kind, LawKind::friction2);
    EXPECT_EQ(f.laws[0].mu, 0.5);
    EXPECT_EQ(f.laws[1].mu, 0.0);
    EXPECT_EQ(f.W.block_column, (std::vector<int>{0, 1}));  // zero blocks are absent
}

TEST(ReadProblem, KeepsAZeroBlockWhoseTransposeIsNotZero) {
    const FrictionProblem f = friction("2 2 0 4 4 4 4  1 0 0 9  0 1 0 0  0 0 1 0  0 0 0 1  1 2 3 4  0.5 0");
    EXPECT_EQ(f.W.block_column, (std::vector<int>{0, 1, 0, 1}));
    EXPECT_EQ(f.W.at(3, 0), 9.0);
    EXPECT_EQ(f.W.at(0, 3), 0.0);
}

TEST(ReadProblem, KeepsDiagonalBlocksThatAreZero) {
    EXPECT_EQ(friction("2 1 1 2 2 0  1 1  0.5").W.values, (Numbers{0, 0, 0, 0}));
}

TEST(ReadProblem, ReadsRollingContacts) {
    std::string text = "5 1 0 5 5 5 5\n";
    for (int i = 0; i < 25; ++i) text += i % 6 == 0 ? "2 " : "0 ";
    const ContactProblem p = parse(text + "1 2 3 4 5  0.5  0.25");
    EXPECT_EQ(p.kind, ProblemKind::rfc);
    EXPECT_EQ(p.dimension, 5);
    const auto& f = std::get<FrictionProblem>(p.problem);
    EXPECT_EQ(f.laws[0].kind, LawKind::rolling5);
    EXPECT_EQ(f.laws[0].mu, 0.5);
    EXPECT_EQ(f.laws[0].mu_rolling, 0.25);
    EXPECT_EQ(refusal(text + "1 2 3 4 5  0.5"), "p.dat:2:65: the file ends where mu_r was expected" + cut_short);
}

TEST(ReadProblem, CondensesAGlobalProblem) {
    const ContactProblem p = parse(gfc);
    EXPECT_EQ(p.kind, ProblemKind::gfc);
    EXPECT_EQ(p.contacts, 1);
    const auto& f = std::get<FrictionProblem>(p.problem);
    const Numbers W = rows_of(f.W), expected{0.5, 0, 0, 0, 0.25, 0, 0, 0, 0.125};
    for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(W[i], expected[i], 1e-16);
    EXPECT_EQ(f.q, (Numbers{11, 21, 31}));
    ASSERT_TRUE(p.global);
    EXPECT_EQ(p.global->velocities, 3);
    EXPECT_EQ(p.global->M.size(), 3U);
    EXPECT_EQ(p.global->H.size(), 3U);
    EXPECT_EQ(list_of(p.global->f), (Numbers{2, 4, 8}));
    EXPECT_EQ(list_of(p.global->w), (Numbers{10, 20, 30}));
}

TEST(ReadProblem, CondensesARollingGlobalProblem) {
    // One velocity, mass 2, met by the normal direction only.
    const ContactProblem p = parse("5 1  0 1 1 1 1  2  0 1 5 1 5  1 0 0 0 0   4   1 2 3 4 5   0.5  0.25");
    EXPECT_EQ(p.kind, ProblemKind::grfc);
    const auto& f = std::get<FrictionProblem>(p.problem);
    EXPECT_NEAR(f.W.at(0, 0), 0.5, 1e-16);
    EXPECT_NEAR(f.q[0], 3.0, 1e-15);
    EXPECT_EQ(f.laws[0].kind, LawKind::rolling5);
    EXPECT_EQ(f.laws[0].mu_rolling, 0.25);
}

TEST(ReadProblem, CouplesOnlyContactsThatShareABody) {
    // Three bodies of two velocities, planar contacts on bodies 0 and 1, on 2, and on 1.
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    io::Global g;
    g.velocities = 6;
    Matrix M = Matrix::Zero(6, 6), H = Matrix::Zero(6, 6);
    for (int body = 0; body < 3; ++body) {
        const double a = uniform(random);
        M.block(2 * body, 2 * body, 2, 2) << 2.0, a, a, 3.0;
    }
    for (const auto& [body, contact] : std::vector<std::pair<int, int>>{{0, 0}, {1, 0}, {2, 1}, {1, 2}})
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j) H(2 * body + i, 2 * contact + j) = uniform(random);
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) {
            if (M(i, j) != 0.0) g.M.push_back({i, j, M(i, j)});
            if (H(i, j) != 0.0) g.H.push_back({i, j, H(i, j)});
        }
    g.f = Vector::LinSpaced(6, 1.0, 6.0);
    g.w = Vector::LinSpaced(6, -1.0, 1.0);
    const Numbers mu{0.1, 0.2, 0.3};
    const FrictionProblem p = io::condense(g, 2, io::contact_laws(2, mu, {}), {});
    EXPECT_EQ(p.W.row_start, (std::vector<int>{0, 2, 3, 5}));
    EXPECT_EQ(p.W.block_column, (std::vector<int>{0, 2, 1, 0, 2}));

    Matrix X(6, 6);
    for (int j = 0; j < 6; ++j) X.col(j) = least_squares(M, H.col(j));
    const Matrix W = H.transpose() * X;
    const Vector q = H.transpose() * least_squares(M, g.f) + g.w;
    EXPECT_LT((to_dense(p.W) - W).norm(), 64 * std::numeric_limits<double>::epsilon() * W.norm());
    EXPECT_TRUE(to_dense(p.W) == to_dense(p.W).transpose());
    for (int i = 0; i < 6; ++i) EXPECT_NEAR(p.q[static_cast<std::size_t>(i)], q[i], 1e-14);
}

TEST(ReadProblem, CondensesWithAMassMatrixThatIsNotSymmetric) {
    const std::string text = test::replaced(gfc, "2 0 0  0 4 0  0 0 8", "2 1 0  0 4 0  0 0 8");
    const FrictionProblem f = friction(text);  // column by column: M = [2 0 0; 1 4 0; 0 0 8]
    const Numbers W = rows_of(f.W), expected{0.5, 0, 0, -0.125, 0.25, 0, 0, 0, 0.125};
    for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(W[i], expected[i], 1e-16);
    EXPECT_NEAR(f.q[1], 20.75, 1e-14);
}

TEST(ReadProblem, CondensesWithAMassMatrixThatIsNotSymmetricAndHasNoContacts) {
    const ContactProblem p = parse("2 0  0 2 2 2 2  1 0 0.5 1  0 2 0 2 0  1 1");
    EXPECT_EQ(p.kind, ProblemKind::gfc);
    EXPECT_EQ(std::get<FrictionProblem>(p.problem).W.rows(), 0);
}

TEST(ReadProblem, CondensesWithAnIndefiniteMassMatrix) {
    const std::string text = test::replaced(gfc, "2 0 0  0 4 0  0 0 8", "2 0 0  0 -4 0  0 0 8");
    EXPECT_NEAR(friction(text).W.at(1, 1), -0.25, 1e-16);
}

TEST(ReadProblem, RefusesASingularMassMatrix) {
    EXPECT_EQ(refusal(test::replaced(gfc, "2 0 0  0 4 0  0 0 8", "2 0 0  0 0 0  0 0 8")),
              "p.dat:3:1: the mass matrix is singular in the body of velocity 1");
    EXPECT_EQ(refusal(test::replaced(gfc, "2 0 0  0 4 0  0 0 8", "2 0 0  0 1 1  0 1 1")),
              "p.dat:3:1: the mass matrix is singular in the body of velocity 1");
}

TEST(ReadProblem, ReadsProblemsWithoutContacts) {
    const ContactProblem global = parse("2 0 0 1 1 1 1 3  0 1 0 1 0  5");
    EXPECT_EQ(global.kind, ProblemKind::gfc);
    EXPECT_EQ(std::get<FrictionProblem>(global.problem).W.rows(), 0);
    EXPECT_EQ(std::get<FrictionProblem>(global.problem).contacts(), 0);
    EXPECT_EQ(list_of(global.global->f), (Numbers{5}));
    const ContactProblem local = parse("3 0 0 0 0 0 0");
    EXPECT_EQ(local.kind, ProblemKind::fc);
    EXPECT_EQ(std::get<FrictionProblem>(local.problem).contacts(), 0);
}

TEST(ReadProblem, ReadsAnLcpAndARelay) {
    const ContactProblem l = parse(lcp);
    EXPECT_EQ(l.kind, ProblemKind::lcp);
    EXPECT_EQ(l.dimension, 0);
    EXPECT_EQ(l.contacts, 0);
    EXPECT_EQ(rows_of(std::get<LinearComplementarity>(l.problem).M), (Numbers{1, 3, 2, 4}));
    EXPECT_EQ(list_of(std::get<LinearComplementarity>(l.problem).q), (Numbers{-1, -2}));
    const ContactProblem r = parse(relay);
    EXPECT_EQ(r.kind, ProblemKind::relay);
    EXPECT_EQ(rows_of(std::get<Relay>(r.problem).M), (Numbers{1, 3, 2, 4}));
    EXPECT_EQ(list_of(std::get<Relay>(r.problem).lower), (Numbers{-1, -3}));
    EXPECT_EQ(list_of(std::get<Relay>(r.problem).upper), (Numbers{1, 3}));
}

TEST(ReadProblem, ReadsAMixedProblemInEitherForm) {
    const std::string matrix = "1 0 1 2  0 1 3  0 1  0 3 3 3 3  1 2 3 4 5 6 7 8 9  -1 -2 -3";
    const std::string parts = "0 1 1 2  1  5 8 6 9  4 7  2 3  -1 -2 -3";
    for (const std::string& text : {mlcp, matrix, parts}) {
        const ContactProblem p = parse(text);
        EXPECT_EQ(p.kind, ProblemKind::mlcp);
        const auto& m = std::get<MixedComplementarity>(p.problem);
        EXPECT_EQ(rows_of(m.M), (Numbers{1, 4, 7, 2, 5, 8, 3, 6, 9}));
        EXPECT_EQ(list_of(m.q), (Numbers{-1, -2, -3}));
        EXPECT_EQ(m.free, (std::vector<bool>{true, false, false}));
    }
}

TEST(ReadProblem, ReadsAMixedProblemWhoseEqualitiesComeLast) {
    // w_2 first: M = [B D; C A].
    const std::string text =
        "1 1 1 2  0 2 3  1 0  0 3 3 3 3  5 6 4  8 9 7  2 3 1  -2 -3 -1  1  5 8 6 9  4 7  2 3  -1 -2 -3";
    const ContactProblem p = parse(text);
    const auto& m = std::get<MixedComplementarity>(p.problem);
    EXPECT_EQ(rows_of(m.M), (Numbers{5, 8, 2, 6, 9, 3, 4, 7, 1}));
    EXPECT_EQ(m.free, (std::vector<bool>{false, false, true}));
}

TEST(ReadProblem, TakesMissingEntriesOfQFromTheSecondFormOfAnOverdeterminedMixedProblem) {
    // Two equations for one free unknown: u - v = 0, 1 - u - v = 0; 0 <= u + v - 1 ⊥ v >= 0.
    const std::string text = "1 1 1 1  0 1 2  0 1  0 3 2 3 2  1 -1 1  -1 -1 1  0 1  1  1  -1  1  0  -1";
    const ContactProblem p = parse(text);
    const auto& m = std::get<MixedComplementarity>(p.problem);
    EXPECT_EQ(rows_of(m.M), (Numbers{1, -1, -1, -1, 1, 1}));
    EXPECT_EQ(list_of(m.q), (Numbers{0, 1, -1}));
    EXPECT_EQ(m.free, (std::vector<bool>{true, true, false}));
    EXPECT_EQ(refusal("1 0 1 1  0 1 2  0 1  0 3 2 3 2  1 -1 1  -1 -1 1  0 1"),
              "p.dat:1:24: M has 3 rows for 2 unknowns, and the file does not contain all of q");
    EXPECT_EQ(refusal("1 1 1 1  0 1 2  0 1  0 4 2 4 2  1 -1 1 0  -1 -1 1 0  0 1  1  1  -1  1  0  -1"),
              "p.dat:1:24: M has 4 rows for 2 unknowns, and the file does not contain all of q");
    EXPECT_EQ(refusal("1 1 1 1  0 1 2  0 1  0 1 2 1 2  1 -1  0 1  1  1  -1  1  0  -1"),
              "p.dat:1:24: M has 1 rows, fewer than the 2 unknowns");
}

TEST(ReadProblem, RefusesAMixedProblemWhoseFormsDiffer) {
    EXPECT_EQ(refusal(test::replaced(mlcp, "5 8\n6 9", "5 8\n6.1 9")),
              "p.dat:17:1: the two forms of the problem differ: 6.1 here, 6 in (M, q)");
    EXPECT_EQ(refusal(test::replaced(mlcp, "-1\n-2 -3", "-1\n-2 3")),
              "p.dat:22:4: the two forms of the problem differ: 3 here, -3 in (M, q)");
    EXPECT_EQ(refusal(test::replaced(mlcp, "5 8\n6 9", "5 8\n6.000001 9")), "accepted");
}

TEST(ReadProblem, RefusesAnInconsistentMixedProblem) {
    EXPECT_EQ(refusal(test::replaced(mlcp, "0 1 3\n0 1", "0 2 3\n0 1")),
              "p.dat:6:1: the blocks have 2 equalities, not 1");
    EXPECT_EQ(refusal(test::replaced(mlcp, "0 1 3\n0 1", "0 1 4\n0 1")),
              "p.dat:5:5: a start of the blocks is 4, not in 2 ... 3");
    EXPECT_EQ(refusal(test::replaced(mlcp, "0 1 3\n0 1", "0 1 1\n0 1")),
              "p.dat:5:5: a start of the blocks is 1, not in 2 ... 3");
    EXPECT_EQ(refusal(test::replaced(mlcp, "0 1 3\n0 1", "0 1 3\n0 2")),
              "p.dat:6:3: the flags of the blocks, number 2 of 2, is 2, not in 0 ... 1");
    EXPECT_EQ(refusal("0 0 1 1", ProblemKind::mlcp),
              "p.dat:1:1: both flags are 0: the file contains neither (M, q) nor (A, B, C, D, a, b)");
    EXPECT_EQ(refusal("1 1 0 0", ProblemKind::mlcp), "p.dat:1:5: the mixed problem has no unknowns");
    EXPECT_EQ(refusal("0 1 100000 100000", ProblemKind::mlcp),
              "p.dat:1:5: M would need 298 GiB as a dense matrix of 200000 x 200000; the limit is 2 GiB; check the "
              "sizes; complementarity problems are kept dense");
    EXPECT_EQ(refusal("0 1 2147483647 2147483647", ProblemKind::mlcp).substr(0, 20), "p.dat:1:5: M would n");
}

// ---- storages

TEST(ReadProblem, ReadsBlocksOfUnequalSizes) {
    //     | 1 3  5 |
    //     | 2 4  6 |
    //     | 0 0  7 |
    EXPECT_EQ(matrix_of(3, "1 3 3  3 2 2  2 3  2 3  3 3  0 2 3  0 1 1  0 1 2 3 4  1 5 6  2 7"),
              (Numbers{1, 3, 5, 2, 4, 6, 0, 0, 7}));
}

TEST(ReadProblem, ReadsBlocksThatDoNotFollowTheContacts) {
    const FrictionProblem f = friction("2 2 1 4 4  2 2 2  1 4  3 4  3 2  0 1 2  0 1  0 1 2 3  1 4 5 6  1 1 1 1  0 0");
    EXPECT_EQ(rows_of(f.W), (Numbers{1, 2, 3, 0, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6}));
}

TEST(ReadProblem, ReadsAMatrixWithoutBlocksAsZero) { EXPECT_EQ(matrix_of(2, "1 2 2 0"), (Numbers{0, 0, 0, 0})); }

TEST(ReadProblem, ReadsTripletsWhoseDuplicatesAddUp) {
    EXPECT_EQ(
        matrix_of(2, "2 2 2 1\n" + banner +
                         "triplet: 2-by-2, nzmax: 9 nnz: 4\n    0 1 : 2\n    1 0 : 5\n    0 1 : 3e0\n    1 1 : 7\n"),
        (Numbers{0, 5, 5, 7}));
}

TEST(ReadProblem, ReadsASparseMatrixWhoseBannerIsOneWord) {
    EXPECT_EQ(matrix_of(1, "2 1 1 1\nCSparse\ntriplet: 1-by-1, nzmax: 1 nnz: 1\n 0 0 : 5\n"), (Numbers{5}));
}

TEST(ReadProblem, ReadsHalfOfASymmetricMatrix) {
    const std::string head = "2 2 2 4\n" + banner + "triplet: 2-by-2, nzmax: 2 nnz: 2\n";
    EXPECT_EQ(matrix_of(2, head + "    0 0 : 2\n    1 0 : 5\n"), (Numbers{2, 5, 5, 0}));
    EXPECT_EQ(refusal("2 " + head + "    0 0 : 2\n    0 1 : 5\n 1 1"),
              "p.dat:5:5: entry 0 1 of M lies above the diagonal, of which only the lower half is stored");
}

TEST(ReadProblem, ReadsCompressedColumnsAndRows) {
    const std::string size = "3-by-3, nzmax: 9 nnz: 3, 1-norm: 7.5\n";
    const auto lines = [](const std::string& word) {
        return "    " + word + " 0 : locations 0 to 1\n      0 : 1\n      2 : 3\n    " + word +
               " 1 : locations 2 to 1\n    " + word + " 2 : locations 2 to 2\n      1 : 5\n";
    };
    EXPECT_EQ(matrix_of(3, "2 3 3 2\n" + banner + size + lines("col")), (Numbers{1, 0, 0, 0, 0, 5, 3, 0, 0}));
    EXPECT_EQ(matrix_of(3, "2 3 3 3\n" + banner + size + lines("row")), (Numbers{1, 0, 3, 0, 0, 0, 0, 5, 0}));
    EXPECT_EQ(matrix_of(3, "2 3 3 3\n" + banner + size + lines("col")), (Numbers{1, 0, 3, 0, 0, 0, 0, 5, 0}));
}

TEST(ReadProblem, ReadsSparseGlobalProblems) {
    const ContactProblem p = parse("2\n1\n2\n2\n2\n1\n" + banner +
                                   "triplet: 2-by-2, nzmax: 2 nnz: 2\n    0 0 : 2\n    1 1 : 4\n2\n2\n2\n2\n" + banner +
                                   "2-by-2, nzmax: 2 nnz: 2, 1-norm: 1\n    col 0 : locations 0 to 0\n      1 : 1\n"
                                   "    col 1 : locations 1 to 1\n      0 : 1\n 0 0 1 1 0.5");
    EXPECT_EQ(p.kind, ProblemKind::gfc);
    const auto& f = std::get<FrictionProblem>(p.problem);
    EXPECT_NEAR(f.W.at(0, 0), 0.25, 1e-16);
    EXPECT_NEAR(f.W.at(1, 1), 0.5, 1e-16);
}

TEST(ReadProblem, RefusesInconsistentBlocks) {
    const std::string good = "2 1 2 2  2 2 2  1 2  1 2  3 2  0 1 2  0 1  0 5  1 6  1 1";
    EXPECT_EQ(refusal(good), "accepted");
    const auto with = [&](const std::string& old, const std::string& by) {
        return refusal(test::replaced(good, old, by));
    };
    EXPECT_EQ(with("2 1 2 2  2", "2 1 2 2  -2"), "p.dat:1:10: the number of blocks of M is -2, less than 0");
    EXPECT_EQ(with("2 2 2  1 2  1 2", "2 3 2  1 2  1 2"),
              "p.dat:1:12: the number of block rows of M is 3, not in 1 ... 2");
    EXPECT_EQ(with("2 2 2  1 2  1 2", "2 2 2  2 2  1 2"),
              "p.dat:1:17: the ends of the block rows of M, number 1 of 2, is 2, not 1");
}

TEST(ReadProblem, RefusesInconsistentSparseMatrices) {
    const std::string head = "2\n2 2 2 1\n" + banner;
    const std::string good = head + "triplet: 2-by-2, nzmax: 2 nnz: 2\n0 0 : 1\n1 1 : 2\n1 1\n";
    EXPECT_EQ(refusal(good), "accepted");
    const auto with = [&](const std::string& old, const std::string& by) {
        return refusal(test::replaced(good, old, by));
    };
    EXPECT_EQ(with("1 1 : 2", "1 2 : 2"), "p.dat:6:3: the columns of M, number 2 of 2, is 2, not in 0 ... 1");
    EXPECT_EQ(with("1 1 : 2", "-1 1 : 2"), "p.dat:6:1: the rows of M, number 2 of 2, is -1, not in 0 ... 1");
    EXPECT_EQ(with("1 1 : 2", "1 1 2"), "p.dat:6:5: expected ':', found '2'");
    EXPECT_EQ(with("2-by-2", "2-by-3"), "p.dat:4:10: expected '2-by-2,' for M, found '2-by-3,'");
    EXPECT_EQ(with("nnz: 2", "nnz: 200"),
              "p.dat:5:1: the rest of the file is too short for the 600 numbers of M" + cut_short);
    EXPECT_EQ(with("nnz: 2", "nnz: x"), "p.dat:4:32: expected the number of entries of M, found 'x'");
    EXPECT_EQ(with("2 2 2 1\n", "2 2 2 7\n"), "p.dat:2:7: the layout of the sparse matrix M is 7, not in 1 ... 4");
    EXPECT_EQ(with("CSparse", "Sparse"), "p.dat:3:1: expected 'CSparse', found 'Sparse'");

    const std::string compressed =
        "1\n2 1 1 2\n" + banner + "1-by-1, nzmax: 1 nnz: 1, 1-norm: 1\ncol 0 : locations 0 to 0\n0 : 5\n1\n";
    EXPECT_EQ(refusal(compressed), "accepted");
    const auto in_columns = [&](const std::string& old, const std::string& by) {
        return refusal(test::replaced(compressed, old, by));
    };
    EXPECT_EQ(in_columns("nnz: 1", "nnz: 2"), "p.dat:4:9: nnz of M is 2, but 1 are listed");
    EXPECT_EQ(in_columns("col 0", "col 1"), "p.dat:5:5: the column is 1, not 0");
    EXPECT_EQ(in_columns("col 0", "row 0"), "p.dat:5:1: expected 'col', found 'row'");
    EXPECT_EQ(in_columns("locations 0", "locations 1"), "p.dat:5:19: the first location is 1, not 0");
    EXPECT_EQ(in_columns("to 0", "to 1"), "p.dat:5:24: the last location is 1, not in -1 ... 0");
    EXPECT_EQ(in_columns("0 : 5", "1 : 5"), "p.dat:6:1: a row in M is 1, not 0");
    EXPECT_EQ(in_columns("0 : 5", "0 : inf"), "p.dat:6:5: M, number 1 of 1, is 'inf', not finite" + give_finite);
}

// ---- words, numbers

TEST(ReadProblem, TakesAnyCLiteralAndAnyWhitespace) {
    const ContactProblem p = parse("\r\n 2\t0\v2 2\f2 2 +1. .5E1 0x1.8p1 -1e-400 \r\n1e+2 -0x.8P-1\n");
    const auto& l = std::get<LinearComplementarity>(p.problem);
    EXPECT_EQ(rows_of(l.M), (Numbers{1, 3, 5, 0}));
    EXPECT_EQ(list_of(l.q), (Numbers{100, -0.25}));
}

TEST(ReadProblem, RefusesWordsThatAreNotNumbers) {
    const auto with = [&](const std::string& by) { return refusal(test::replaced(fc, "-10", by)); };
    EXPECT_EQ(with("nan"), "p.dat:8:1: W, number 4 of 9, is 'nan', not finite" + give_finite);
    EXPECT_EQ(with("-inf"), "p.dat:8:1: W, number 4 of 9, is '-inf', not finite" + give_finite);
    EXPECT_EQ(with("1e999"), "p.dat:8:1: W, number 4 of 9, is '1e999', not finite" + give_finite);
    for (const char* const word : {"1,5", "1e", "--1", "+-1", "-+1", "0x", "0x-1", "0.5.5", "1d3", "x", "-", "+"})
        EXPECT_EQ(with(word), "p.dat:8:1: expected W, number 4 of 9, found '" + std::string(word) + "'");
    EXPECT_EQ(with("\x01\xff" + std::string(100, 'y')),
              "p.dat:8:1: expected W, number 4 of 9, found '.." + std::string(30, 'y') + "...'");
    EXPECT_EQ(refusal(test::replaced(fc, "-1 2 3", "-1 NaN 3")),
              "p.dat:10:4: q, number 2 of 3, is 'NaN', not finite" + give_finite);
}

TEST(ReadProblem, CountsColumnsInCharacters) {
    EXPECT_EQ(refusal("1\n2 1 1 1\nCSparse 3\ntriplet: 1-by-1, nzmax: \xc3\xa4 nnz: x"),
              "p.dat:4:32: expected the number of entries of M, found 'x'");
    EXPECT_EQ(refusal("1 0 1 1 1 1 \xc3\xa4 1"), "p.dat:1:13: expected M, number 1 of 1, found '..'");
}

TEST(ReadProblem, IgnoresTextBehindTheProblem) {
    EXPECT_EQ(numbers_of(parse(fc + "1\n")), numbers_of(parse(fc)));
    EXPECT_EQ(numbers_of(parse(fc + "by hand, 2009")), numbers_of(parse(fc)));
    EXPECT_EQ(numbers_of(parse(gfc + "0\n")), numbers_of(parse(gfc)));
    EXPECT_EQ(numbers_of(parse(lcp + "\nRemark 4.1.14 CPS 2009\nz_1 + z_2 = 1 2 3 4 5\n")), numbers_of(parse(lcp)));
    EXPECT_EQ(numbers_of(parse(lcp + "4.1.14 2009\n")), numbers_of(parse(lcp)));
    EXPECT_EQ(numbers_of(parse(relay + "# 1 2 3\n")), numbers_of(parse(relay)));
    EXPECT_EQ(numbers_of(parse(mlcp + "0.0 3.0 5.0 0.0\n")), numbers_of(parse(mlcp)));
}

// ---- wrong contents

TEST(ReadProblem, RefusesSizesThatDoNotFit) {
    EXPECT_EQ(refusal(test::replaced(fc, "3\n1\n0\n", "3\n-1\n0\n")),
              "p.dat:2:1: the number of contacts is -1, less than 0");
    EXPECT_EQ(refusal(test::replaced(fc, "3\n1\n0\n", "3\n1000000000\n0\n")),
              "p.dat:2:1: the number of contacts is 1000000000, too large");
    EXPECT_EQ(
        refusal(test::replaced(fc, "3\n1\n0\n", "3\n2\n0\n")),
        "p.dat:4:1: a matrix of 3 rows is not W of 2 contacts of dimension 3, which has 6, nor M, as no H of 3 x 6 "
        "follows; correct the number of contacts or the size of the matrix");
    EXPECT_EQ(refusal(test::replaced(fc, "3\n1\n0\n", "3\n2\n0\n"), ProblemKind::fc),
              "p.dat:4:1: W has 3 rows, not 6 (2 contacts of dimension 3)");
    EXPECT_EQ(refusal(test::replaced(fc, "3\n1\n0\n3\n3", "3\n1\n0\n3\n4")),
              "p.dat:5:1: W has 4 columns, not 3 (square)");
    EXPECT_EQ(
        refusal(test::replaced(fc, "3\n1\n0\n3\n3", "3\n1\n0\n300\n300")),
        "p.dat:6:1: the repeated number of rows of M is 3, not 300; W of 1 contact of dimension 3 would have 3 rows, "
        "not 300");
    EXPECT_EQ(refusal(test::replaced(fc, "3\n1\n0\n3\n3\n3 3", "3\n1\n0\n3\n3\n3 4")),
              "p.dat:6:3: the repeated number of columns of W is 4, not 3");
    EXPECT_EQ(refusal(test::replaced(fc, "3\n1\n0\n3\n3", "3\n1\n5\n3\n3")),
              "p.dat:3:1: the storage of W (0 dense, 1 blocks, 2 sparse) is 5, not in 0 ... 2");
    EXPECT_EQ(refusal(test::replaced(fc, "3\n1\n0\n3\n3", "3\n1\n0\n-3\n3")),
              "p.dat:4:1: the number of rows of W is -3, less than 0");
    EXPECT_EQ(refusal(test::replaced(fc, "3\n1\n0\n3\n3", "3\n1\n0\n3.0\n3")),
              "p.dat:4:1: expected an integer, the number of rows of W, found '3.0'");
    EXPECT_EQ(refusal(test::replaced(gfc, "0\n3\n3\n3 3\n1 0 0", "0\n3\n6\n3 3\n1 0 0"), ProblemKind::gfc),
              "p.dat:10:1: H has 6 columns, not 3 (1 contact of dimension 3)");
    EXPECT_EQ(refusal(test::replaced(gfc, "0\n3\n3\n3 3\n1 0 0", "0\n6\n3\n3 3\n1 0 0"), ProblemKind::gfc),
              "p.dat:9:1: H has 6 rows, not 3 (like M)");
    EXPECT_EQ(refusal(test::replaced(lcp, "2\n0\n2\n2\n2 2", "2\n0\n2\n3\n2 3")),
              "p.dat:4:1: M has 3 columns, not 2 (2 unknowns)");
}

TEST(ReadProblem, RefusesNegativeCoefficientsAndCrossedBounds) {
    EXPECT_EQ(refusal(test::replaced(fc, "0.1", "-0.1")),
              "p.dat:11:1: mu, number 1 of 1, is '-0.1', negative; give a number >= 0");
    EXPECT_EQ(refusal(test::replaced(gfc, "0.5", "-0.5"), ProblemKind::gfc),
              "p.dat:15:1: mu, number 1 of 1, is '-0.5', negative; give a number >= 0");
    EXPECT_EQ(refusal(test::replaced(relay, "1 3\n", "1 -4\n")),
              "p.dat:10:3: ub, number 2 of 2, is -4, less than lb, which is -3");
}

TEST(ReadProblem, RefusesTooLargeSizesBeforeAllocatingMemory) {
    const long before = peak_kibibytes();
    EXPECT_EQ(
        refusal("3 1000000 0 3000000 3000000 3000000 3000000 1 2"),
        "p.dat:1:29: W would need 67055.2 GiB as a dense matrix of 3000000 x 3000000; the limit is 2 GiB; store it "
        "in blocks or sparse");
    EXPECT_EQ(refusal("3 1000 0 3000 3000 3000 3000 1 2"),
              "p.dat:1:30: the rest of the file is too short for the 9000000 numbers of W" + cut_short);
    EXPECT_EQ(refusal("100000 1 100000 100000 0 1 2"),
              "p.dat:1:10: M would need 74.5 GiB as a dense matrix of 100000 x 100000; the limit is 2 GiB; check the "
              "sizes; complementarity problems are kept dense");
    EXPECT_EQ(refusal("3 700000000 1 2100000000 2100000000 0 1 2"),
              "p.dat:1:39: the rest of the file is too short for the 2100000000 numbers of q" + cut_short);
    EXPECT_EQ(refusal("99999999999999999999 0 1"),
              "p.dat:1:1: no contact problem begins with '99999999999999999999'" + beginnings);
    EXPECT_EQ(
        refusal("2 1 2 2  2000000000 2 2  1 2  1 2  3 2000000000  0 1 2000000000 0"),
        "p.dat:1:65: the rest of the file is too short for the 2000000000 numbers of the columns of the blocks of M" +
            cut_short);
    // The largest dense matrices that are allowed, never filled.
    EXPECT_EQ(refusal("16384 1 16384 16384 0 1 2"),
              "p.dat:1:23: the rest of the file is too short for the 16384 numbers of q" + cut_short);
    EXPECT_EQ(refusal("1 1 8000 8000 0 8000 16000 0 1 1 16000 16000 0 1 2"),
              "p.dat:1:48: the rest of the file is too short for the 16000 numbers of q" + cut_short);
    EXPECT_EQ(refusal("1 2 1 1 1\nCSparse\ntriplet: 1-by-1, nzmax: 1 nnz: 9223372036854775807\n0 0 : 1 5"),
              "p.dat:4:1: the rest of the file is too short for the 6442450941 numbers of M" + cut_short);
    EXPECT_LT(peak_kibibytes() - before, 1 << 16);
}

TEST(ReadProblem, RefusesTextsThatAreNotProblems) {
    EXPECT_EQ(refusal(""), "p.dat:1:1: the file is empty" + beginnings);
    EXPECT_EQ(refusal(" \n\n"), "p.dat:3:1: the file is empty" + beginnings);
    EXPECT_EQ(refusal("hello"), "p.dat:1:1: no contact problem begins with 'hello'" + beginnings);
    EXPECT_EQ(refusal("\n  -3 1"), "p.dat:2:3: no contact problem begins with '-3'" + beginnings);
    EXPECT_EQ(refusal("7 3"), "p.dat:1:3: the storage of M (0 dense, 1 blocks, 2 sparse) is 3, not in 0 ... 2");
    EXPECT_EQ(refusal("3"), "p.dat:1:2: the file ends where the number of contacts was expected" + cut_short);
}

/// A file that is cut anywhere is refused, or still contains the complete problem; a part of a problem is never
/// returned. A cut inside the last number cannot be detected.
TEST(ReadProblem, RefusesEveryFileCutShort) {
    const std::string blocks =
        "2\n2\n1\n4\n4\n2\n2\n2\n2 4\n2 4\n3\n2\n0 1 2\n0 1\n0\n1\n0\n0\n1\n1\n2\n0\n0\n2\n-1.5 0 -1.5 0\n0.5 0.5\n";
    const std::string sparse = "2\n1\n2\n2\n2\n2\n" + banner +
                               "2-by-2, nzmax: 2 nnz: 2, 1-norm: 1\n col 0 : locations 0 to 0\n 0 : 1.5\n"
                               " col 1 : locations 1 to 1\n 1 : 2.5\n 0.5 -1.5 0.25\n";
    for (const std::string& text : {fc, gfc, lcp, relay, mlcp, blocks, sparse}) {
        const ContactProblem whole = parse(text);
        const std::size_t last = text.find_last_of(" \n", text.find_last_not_of(" \n"));
        for (std::size_t size = 0; size <= last; ++size) {
            const std::string what = refusal(text.substr(0, size));
            // A relay without its bounds is an lcp. A single minus sign is a word, not a number.
            if (text == relay && size >= lcp.size() - 2 && size <= lcp.size() + 1) continue;
            EXPECT_NE(what, "accepted") << text.substr(0, size);
            EXPECT_EQ(what.substr(0, 6), "p.dat:");
            EXPECT_NE(test::refusal_of([&] { parse(text.substr(0, size), whole.kind); }), "accepted");
        }
    }
}

// ---- which kind

TEST(ReadProblem, NamesKinds) {
    for (const char* const name : {"fc", "gfc", "rfc", "grfc", "lcp", "mlcp", "relay"}) {
        ASSERT_TRUE(io::problem_kind(name));
        EXPECT_EQ(to_string(*io::problem_kind(name)), name);
    }
    EXPECT_FALSE(io::problem_kind("Fc"));
    EXPECT_FALSE(io::problem_kind(""));
}

TEST(ReadProblem, InfersTheKindThatCouldAlsoBeGiven) {
    for (const auto& [text, kind] : {std::pair{fc, ProblemKind::fc},
                                     {gfc, ProblemKind::gfc},
                                     {lcp, ProblemKind::lcp},
                                     {relay, ProblemKind::relay},
                                     {mlcp, ProblemKind::mlcp}}) {
        EXPECT_EQ(parse(text).kind, kind);
        EXPECT_EQ(parse(text, kind).kind, kind);
        EXPECT_EQ(numbers_of(parse(text)), numbers_of(parse(text, kind)));
    }
}

TEST(ReadProblem, NamesTheKindOfAFileIfAnotherKindWasGiven) {
    EXPECT_EQ(
        refusal(fc, ProblemKind::rfc),
        "p.dat:1:1: the dimension of a contact is 3, not 5 as with rolling friction; the content is that of --kind fc");
    EXPECT_EQ(
        refusal(fc, ProblemKind::gfc),
        "p.dat:10:1: the storage of H (0 dense, 1 blocks, 2 sparse) is -1, not in 0 ... 2; the content is that of "
        "--kind fc");
    EXPECT_EQ(refusal(lcp, ProblemKind::fc),
              "p.dat:4:1: W has 2 rows, not 0 (0 contacts of dimension 2); the content is that of --kind lcp");
}

TEST(ReadProblem, AsksForTheKindWhenNumbersFollowAnLcp) {
    const std::string ask = "; give the kind: --kind lcp or --kind relay";
    EXPECT_EQ(refusal(lcp + "1 1\n"), "p.dat:9:1: after M and q come 2 more numbers; an lcp has none, a relay 4" + ask);
    EXPECT_EQ(refusal(relay + "1\n"),
              "p.dat:9:1: after M and q come more than 4 more numbers; an lcp has none, a relay 4" + ask);
    EXPECT_EQ(parse(lcp + "1 1\n", ProblemKind::lcp).kind, ProblemKind::lcp);
    EXPECT_EQ(parse(relay + "1\n", ProblemKind::relay).kind, ProblemKind::relay);
    EXPECT_EQ(parse(relay + "1\n", ProblemKind::lcp).kind, ProblemKind::lcp);
    EXPECT_EQ(refusal(lcp + "1 1 1\n", ProblemKind::relay),
              "p.dat:9:5: the rest of the file is too short for the 2 numbers of ub" + cut_short);
}

TEST(ReadProblem, DistinguishesLocalAndGlobalByTheMatrixThatFollows) {
    // q and mu that begin like the head of the matrix H, but have one number too many for it.
    const std::string alike = test::replaced(test::replaced(fc, "-1 2 3", "0 3 3"), "0.1", "0.5");
    EXPECT_EQ(parse(alike).kind, ProblemKind::fc);
    // Without this number it could be the beginning of a global problem.
    const std::string cut = test::replaced(alike, "0.5", "3");
    EXPECT_EQ(refusal(cut),
              "p.dat:10:1: from here on this is q of a local problem (fc), or H of a global one (gfc) cut short; give "
              "the kind: --kind fc or --kind gfc");
    EXPECT_EQ(parse(cut, ProblemKind::fc).kind, ProblemKind::fc);
    EXPECT_EQ(refusal(cut, ProblemKind::gfc),
              "p.dat:12:1: the file ends where the repeated number of columns of H was expected" + cut_short);
    // Integers that look like the head of a matrix of another size.
    const std::string other = test::replaced(alike, "0 3 3\n0.5", "0 3 6\n4");
    EXPECT_EQ(parse(other).kind, ProblemKind::fc);
    EXPECT_EQ(refusal(test::replaced(gfc, "0\n3\n3\n3 3\n1 0 0", "0\n3\n6\n3 6\n1 0 0")),
              "p.dat:10:1: H has 6 columns, not 3 (1 contact of dimension 3)");
    // With the kind given, a text that looks global is read as local.
    EXPECT_EQ(std::get<FrictionProblem>(parse(gfc, ProblemKind::fc).problem).q, (Numbers{0, 3, 3}));
    // A global problem with a fault in H is not taken for a local one.
    EXPECT_EQ(refusal(test::replaced(gfc, "1 0 0  0 1 0", "1 0 0  0 nan 0")),
              "p.dat:12:10: H, number 5 of 9, is 'nan', not finite" + give_finite);
}

TEST(ReadProblem, DistinguishesAMixedProblemOfTwoUnknownsFromAnLcpOfOne) {
    const std::string mixed = "1 1 1 1  0 1 2  0 1  0 2 2 2 2  1 2 3 4  5 6  1 4 3 2 5 6";
    EXPECT_EQ(parse(mixed).kind, ProblemKind::mlcp);
    EXPECT_EQ(parse("1 1 1 1  0  1").kind, ProblemKind::lcp);
    EXPECT_EQ(parse("1 1 1 1  0  1 2 3").kind, ProblemKind::relay);
    EXPECT_EQ(parse("1 0 1 1 1 1  5  1").kind, ProblemKind::lcp);
}

TEST(ReadProblem, DistinguishesAnLcpOfTwoUnknownsFromPlanarContacts) {
    EXPECT_EQ(parse("2 0 2 2 2 2  1 2 3 4  5 6").kind, ProblemKind::lcp);
    EXPECT_EQ(parse("2 1 2 2 0  5 6").kind, ProblemKind::lcp);
    EXPECT_EQ(parse("2 2 2 2 1\n" + banner + "triplet: 2-by-2, nzmax: 1 nnz: 0\n 5 6").kind, ProblemKind::lcp);
}

// ---- files

TEST(ReadProblem, ReadsAFile) {
    const test::Folder folder;
    const std::string path = folder.write("a.dat", fc);
    const ContactProblem p = io::read_problem(path);
    EXPECT_EQ(p.file, path);
    EXPECT_EQ(numbers_of(p), numbers_of(parse(fc)));
    EXPECT_EQ(
        test::refusal_of([&] { io::read_problem(folder.write("b.dat", "3 1 x")); }),
        folder.file("b.dat") + ":1:5: expected an integer, the storage of W (0 dense, 1 blocks, 2 sparse), found 'x'");
}

TEST(ReadProblem, SaysWhenThereIsNoFile) {
    const test::Folder folder;
    EXPECT_EQ(test::refusal_of([&] { io::read_problem(folder.file("none")); }), folder.file("none") + ": no such file");
    const std::string path = folder.path().string();
    EXPECT_EQ(test::refusal_of([&] { io::read_problem(path); }),
              path + ": is a folder, not a file; give the problem files in it");
    EXPECT_EQ(test::refusal_of([&] { io::read_problem("/dev/zero"); }),
              "/dev/zero: is neither a file nor a folder; copy its content into a file and give that file");
}

TEST(ReadProblem, SaysWhenAFileIsAModel) {
    const test::Folder folder;
    const std::string path = folder.write("a.toml", "title = 'a'\n");
    EXPECT_EQ(test::refusal_of([&] { io::read_problem(path); }),
              path + ": is a model file, not a contact problem; inspect it with saltus check");
    EXPECT_EQ(test::refusal_of([&] { io::read_problem(folder.file("b.toml")); }),
              folder.file("b.toml") + ": no such file");
}

TEST(ReadProblem, RefusesBytesThatAreNotText) {
    std::mt19937 random(2);
    for (int k = 0; k < 200; ++k) {
        std::string bytes;
        for (int size = 1 + k; size > 0; --size) bytes += static_cast<char>(random() % 256);
        const std::string what = refusal(bytes);
        ASSERT_EQ(what.substr(0, 6), "p.dat:") << what;
        for (const char c : what) ASSERT_TRUE(c >= ' ' && c <= '~') << what;
    }
}

/// A randomly damaged text gives a problem or an Error, and never ends the program.
TEST(ReadProblem, SurvivesRandomDamage) {
    std::mt19937 random(1);
    const std::string sparse = "2\n1\n2\n2\n2\n2\n" + banner +
                               "2-by-2, nzmax: 2 nnz: 2, 1-norm: 1\n col 0 : locations 0 to 0\n 0 : 1.5\n"
                               " col 1 : locations 1 to 1\n 1 : 2.5\n 0.5 -1.5 0.25\n";
    const std::string characters = "0123456789 \n-.e:x";
    int refused = 0, accepted = 0;
    for (const std::string& text : {fc, gfc, lcp, relay, mlcp, sparse})
        for (int k = 0; k < 2000; ++k) {
            std::string damaged = text;
            for (int change = 0; change < 1 + k % 3; ++change)
                damaged[random() % damaged.size()] = characters[random() % characters.size()];
            (refusal(damaged) == "accepted" ? accepted : refused) += 1;
        }
    EXPECT_GT(refused, 1000);
    EXPECT_GT(accepted, 1000);
}

}  // namespace saltus::read_problem_test
