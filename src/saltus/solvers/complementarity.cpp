// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/complementarity.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/error.hpp"
#include "saltus/solvers/friction.hpp"
#include "saltus/solvers/lemke.hpp"
#include "saltus/solvers/pivoting.hpp"
#include "saltus/solvers/residual.hpp"

namespace saltus::solvers {

namespace {

using Eigen::Index;

std::vector<double> to_vector(const Vector& x) { return {x.data(), x.data() + x.size()}; }

/// Collects results, keeps the best, judges by the residual of the problem itself.
template <class Problem>
class Judge {
public:
    Judge(const Problem& problem, double tolerance) : problem_(problem), tolerance_(tolerance) {}

    bool take(std::string_view method, int iterations, std::vector<double> z) {
        const double defect = residual(problem_, z);
        solution_.attempts.push_back({method, iterations, defect});
        solution_.iterations += iterations;
        if (!taken_ || defect < solution_.residual) {
            taken_ = true;
            solution_.r = std::move(z);
            solution_.residual = defect;
            solution_.method = method;
        }
        return done();
    }
    bool done() const { return taken_ && solution_.residual <= tolerance_; }

    Solution finish(const Matrix& M, const Vector& q, Status otherwise) {
        solution_.status = done() ? Status::converged : otherwise;
        if (!taken_) solution_.r.assign(static_cast<std::size_t>(M.cols()), 0.0);
        solution_.v.resize(static_cast<std::size_t>(M.rows()));
        Eigen::Map<Vector> w(solution_.v.data(), M.rows());
        w = q;
        w.noalias() += M.lazyProduct(Eigen::Map<const Vector>(solution_.r.data(), M.cols()));
        return std::move(solution_);
    }
    Solution& solution() { return solution_; }

private:
    const Problem& problem_;
    double tolerance_;
    bool taken_ = false;
    Solution solution_;
};

Solution refuse_non_finite(std::size_t n) {
    Solution s;
    s.status = Status::non_finite;
    s.residual = std::numeric_limits<double>::infinity();
    s.r.assign(n, 0.0);
    return s;
}

/// Small problems by principal pivoting; the judge has the last word.
template <class Problem, class Lower, class Upper>
bool by_pivoting(Judge<Problem>& judge, const Problem& p, const Lower& lower, const Upper& upper) {
    const auto n = static_cast<int>(p.q.size());
    if (n > small_enough_to_pivot || p.M.rows() != p.M.cols()) return false;
    double low[small_enough_to_pivot], high[small_enough_to_pivot];
    for (int i = 0; i < n; ++i) low[i] = lower(i), high[i] = upper(i);
    std::vector<double> z(static_cast<std::size_t>(n));
    int changes = 0;
    if (!pivot_small(n, p.M.data(), p.q.data(), low, high, z.data(), changes)) return false;
    return judge.take("pivoting", changes, std::move(z));
}

/// A problem without unknowns is solved by nothing.
Solution nothing_to_solve() {
    Solution s;
    s.status = Status::converged;
    s.method = "none";
    return s;
}

/// The same problem with one block a row, for the friction methods.
FrictionProblem as_blocks(const Matrix& M, const Vector& q, const std::vector<bool>& free) {
    FrictionProblem p;
    const std::vector<int> ones(static_cast<std::size_t>(q.size()), 1);
    p.W = BlockMatrix::from_dense(M, ones);
    p.q = to_vector(q);
    for (std::size_t i = 0; i < ones.size(); ++i) {
        Law law;
        law.kind = free[i] ? LawKind::bilateral : LawKind::unilateral;
        p.laws.push_back(law);
    }
    return p;
}

/// All complementary bases in turn: z_i = 0 or w_i = 0. True when one of them is a solution.
template <class Problem>
bool enumerate(Judge<Problem>& judge, const Matrix& M, const Vector& q, const std::vector<bool>& free) {
    std::vector<Index> choice;
    for (std::size_t i = 0; i < free.size(); ++i)
        if (!free[i]) choice.push_back(static_cast<Index>(i));
    const unsigned long bases = 1UL << choice.size();
    Solution best;
    for (unsigned long bits = 0; bits < bases; ++bits) {
        std::vector<Index> basic;
        for (std::size_t i = 0; i < free.size(); ++i)
            if (free[i]) basic.push_back(static_cast<Index>(i));
        for (std::size_t k = 0; k < choice.size(); ++k)
            if ((bits >> k & 1UL) != 0) basic.push_back(choice[k]);
        const auto n = static_cast<Index>(basic.size());
        Matrix A(n, n);
        Vector b(n);
        for (Index i = 0; i < n; ++i) {
            b(i) = -q(basic[static_cast<std::size_t>(i)]);
            for (Index j = 0; j < n; ++j)
                A(i, j) = M(basic[static_cast<std::size_t>(i)], basic[static_cast<std::size_t>(j)]);
        }
        Vector z = Vector::Zero(q.size());
        if (n > 0) {
            const Vector x = A.fullPivLu().solve(b);
            for (Index i = 0; i < n; ++i) z(basic[static_cast<std::size_t>(i)]) = x(i);
        }
        if (judge.take("enumeration", 1, to_vector(z))) return true;
        judge.solution().attempts.pop_back();  // one line for all of them
    }
    judge.solution().attempts.push_back({"enumeration", static_cast<int>(bases), judge.solution().residual});
    return false;
}

template <class Problem>
void by_friction_methods(Judge<Problem>& judge, const Matrix& M, const Vector& q, const std::vector<bool>& free,
                         double tolerance) {
    Automatic method;
    method.tolerance = tolerance;
    method.work = 1e10;
    const Solution s = solve(as_blocks(M, q, free), method);
    judge.take(s.method, s.iterations, s.r);
}

}  // namespace

Solution solve(const LinearComplementarity& p, const AutomaticComplementarity& method) {
    if (p.q.size() == 0) return nothing_to_solve();
    if (!p.M.allFinite() || !p.q.allFinite()) return refuse_non_finite(static_cast<std::size_t>(p.q.size()));
    SALTUS_EXPECT(p.M.rows() == p.q.size() && p.M.cols() == p.q.size());
    Judge<LinearComplementarity> judge(p, method.tolerance);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (by_pivoting(
            judge, p, [](int) { return 0.0; }, [](int) { return infinity; }))
        return judge.finish(p.M, p.q, Status::converged);
    Lemke lemke;
    lemke.tolerance = method.tolerance;
    const Solution first = solve(p, lemke);
    judge.take("lemke", first.iterations, first.r);
    if (judge.done()) return judge.finish(p.M, p.q, Status::converged);
    if (first.status == Status::infeasible) {
        judge.solution().certificate = first.certificate;
        return judge.finish(p.M, p.q, Status::infeasible);
    }
    const std::vector<bool> free(static_cast<std::size_t>(p.q.size()), false);
    by_friction_methods(judge, p.M, p.q, free, method.tolerance);
    if (!judge.done() && p.q.size() <= method.enumerate) enumerate(judge, p.M, p.q, free);
    return judge.finish(p.M, p.q, Status::stalled);
}

Solution solve(const MixedComplementarity& p, const AutomaticComplementarity& method) {
    if (p.q.size() == 0) return nothing_to_solve();
    const auto columns = static_cast<std::size_t>(p.M.cols());
    if (!p.M.allFinite() || !p.q.allFinite()) return refuse_non_finite(columns);
    SALTUS_EXPECT(p.M.rows() == p.q.size() && static_cast<std::size_t>(p.M.rows()) == p.free.size());
    Judge<MixedComplementarity> judge(p, method.tolerance);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (by_pivoting(
            judge, p, [&](int i) { return p.free[static_cast<std::size_t>(i)] ? -infinity : 0.0; },
            [](int) { return infinity; }))
        return judge.finish(p.M, p.q, Status::converged);

    // More equations than free unknowns: those that are consistent have the same solutions as their normal equations.
    const Index extra = p.M.rows() - p.M.cols();
    Index rows_free = 0;
    for (const bool f : p.free) rows_free += f ? 1 : 0;
    const Index unknown_free = rows_free - extra;
    Matrix M = p.M;
    Vector q = p.q;
    std::vector<bool> free = p.free;
    if (extra > 0) {
        const Matrix G = p.M.topRows(rows_free);
        Matrix square(p.M.cols(), p.M.cols());
        Vector right(p.M.cols());
        square.topRows(unknown_free) = G.leftCols(unknown_free).transpose() * G;
        right.head(unknown_free) = G.leftCols(unknown_free).transpose() * p.q.head(rows_free);
        square.bottomRows(p.M.cols() - unknown_free) = p.M.bottomRows(p.M.rows() - rows_free);
        right.tail(p.M.cols() - unknown_free) = p.q.tail(p.M.rows() - rows_free);
        M = square;
        q = right;
        free.assign(columns, false);
        std::fill_n(free.begin(), unknown_free, true);
    }

    // Free unknowns eliminated where their block is regular, then Lemke.
    std::vector<Index> equal, complementary;
    for (std::size_t i = 0; i < free.size(); ++i) (free[i] ? equal : complementary).push_back(static_cast<Index>(i));
    const auto part = [&](const std::vector<Index>& rows, const std::vector<Index>& cols) {
        Matrix A(static_cast<Index>(rows.size()), static_cast<Index>(cols.size()));
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (std::size_t j = 0; j < cols.size(); ++j)
                A(static_cast<Index>(i), static_cast<Index>(j)) = M(rows[i], cols[j]);
        return A;
    };
    const auto pick = [&](const std::vector<Index>& rows) {
        Vector b(static_cast<Index>(rows.size()));
        for (std::size_t i = 0; i < rows.size(); ++i) b(static_cast<Index>(i)) = q(rows[i]);
        return b;
    };
    const Matrix A = part(equal, equal), C = part(equal, complementary), D = part(complementary, equal),
                 B = part(complementary, complementary);
    const Vector a = pick(equal), b = pick(complementary);
    // An empty matrix has no factorisation: 1 stands in for it and is never used.
    const Eigen::FullPivLU<Matrix> lu(equal.empty() ? Matrix::Identity(1, 1) : A);
    Solution reduced;
    const bool regular = equal.empty() || lu.isInvertible();
    if (regular) {
        LinearComplementarity small;
        const bool plain = equal.empty() || complementary.empty();
        small.M = plain ? B : Matrix(B - D * lu.solve(C));
        small.q = plain ? b : Vector(b - D * lu.solve(a));
        AutomaticComplementarity inner = method;
        inner.tolerance = 1e-2 * method.tolerance;
        reduced = solve(small, inner);
        const Eigen::Map<const Vector> v(reduced.r.data(), static_cast<Index>(reduced.r.size()));
        std::vector<double> z(columns, 0.0);
        if (!equal.empty()) {
            const Vector u = -lu.solve(complementary.empty() ? a : Vector(a + C * v));
            for (std::size_t i = 0; i < equal.size(); ++i)
                z[static_cast<std::size_t>(equal[i])] = u(static_cast<Index>(i));
        }
        for (std::size_t i = 0; i < complementary.size(); ++i)
            z[static_cast<std::size_t>(complementary[i])] = v(static_cast<Index>(i));
        judge.take(reduced.method, reduced.iterations, z);
    }
    if (!judge.done()) by_friction_methods(judge, M, q, free, method.tolerance);
    if (!judge.done() && static_cast<int>(complementary.size()) <= method.enumerate) enumerate(judge, M, q, free);
    return judge.finish(p.M, p.q,
                        regular && reduced.status == Status::infeasible ? Status::infeasible : Status::stalled);
}

Solution solve(const Relay& p, const AutomaticComplementarity& method) {
    const Index n = p.q.size();
    if (n == 0) return nothing_to_solve();
    if (!p.M.allFinite() || !p.q.allFinite() || p.lower.hasNaN() || p.upper.hasNaN())
        return refuse_non_finite(static_cast<std::size_t>(n));
    // y = z − lower >= 0 ⊥ M y + (M lower + q) + λ >= 0,  λ >= 0 ⊥ (upper − lower) − y >= 0
    Judge<Relay> judge(p, method.tolerance);
    if (by_pivoting(
            judge, p, [&](int i) { return p.lower(i); }, [&](int i) { return p.upper(i); }))
        return judge.finish(p.M, p.q, Status::converged);
    LinearComplementarity c;
    c.M = Matrix::Zero(2 * n, 2 * n);
    c.M.topLeftCorner(n, n) = p.M;
    c.M.topRightCorner(n, n).setIdentity();
    c.M.bottomLeftCorner(n, n) = -Matrix::Identity(n, n);
    c.q.resize(2 * n);
    c.q.head(n) = p.M * p.lower + p.q;
    c.q.tail(n) = p.upper - p.lower;
    AutomaticComplementarity inner = method;
    inner.tolerance = 1e-2 * method.tolerance;
    const Solution s = solve(c, inner);
    std::vector<double> z(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i)
        z[static_cast<std::size_t>(i)] =
            std::clamp(p.lower(i) + s.r[static_cast<std::size_t>(i)], p.lower(i), p.upper(i));
    judge.take(s.method, s.iterations, z);
    return judge.finish(p.M, p.q, Status::stalled);
}

}  // namespace saltus::solvers
