// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/complementarity/complementarity.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/solvers/complementarity/detail/branching.hpp"
#include "saltus/solvers/complementarity/detail/lemke_path.hpp"
#include "saltus/solvers/complementarity/detail/pivoting.hpp"
#include "saltus/solvers/detail/residual.hpp"
#include "saltus/solvers/friction/friction.hpp"

namespace saltus::solvers {

struct ComplementarityWorkspace::State {
    std::vector<double> numbers;       // memory of Pivoting and Guess
    std::vector<int> integers;         // …
    std::vector<Place> places;         // …
    std::vector<double> lower, upper;  // bounds of a mixed problem
    std::vector<double> z, w;          // a further result that is to be judged
};

ComplementarityWorkspace::ComplementarityWorkspace() : state_(std::make_unique<State>()) {}
ComplementarityWorkspace::~ComplementarityWorkspace() = default;
ComplementarityWorkspace::ComplementarityWorkspace(ComplementarityWorkspace&&) noexcept = default;
ComplementarityWorkspace& ComplementarityWorkspace::operator=(ComplementarityWorkspace&&) noexcept = default;

namespace {

using State = ComplementarityWorkspace::State;

constexpr std::size_t stack_unknowns = 32, stack_extra = 8;  // problems up to this size are pivoted on the stack

/// Judges results by the verdict of the problem itself, keeps the best one in the solution, and lists the attempts.
template <class Problem>
class Judge {
public:
    Judge(const Problem& problem, double tolerance, State& state, Solution& s)
        : problem_(problem), tolerance_(tolerance), state_(state), s_(s) {}

    /// Judges the first result, which is in the solution already. It may be called again with an improved one.
    bool take_first(std::string_view method, int iterations) {
        s_.residual = verdict(problem_, s_.r, s_.v);
        s_.iterations = iterations;
        s_.method = method;
        if (s_.attempts.empty()) s_.attempts.push_back({method, 0, 0.0});
        s_.attempts.front().iterations = iterations;
        s_.attempts.front().residual = s_.residual;
        return done();
    }
    /// No result exists: starts with the point of the bounds that is nearest to zero.
    void begin(const BoundedView& bounded) {
        for (std::size_t i = 0; i < s_.r.size(); ++i)
            s_.r[i] = bounded.lower == nullptr ? 0.0 : std::clamp(0.0, bounded.lower[i], bounded.upper[i]);
        s_.residual = verdict(problem_, s_.r, s_.v);
        s_.method = "none";
    }
    /// Judges a further result in state.z. Consecutive results of one method share one entry in the list of attempts.
    bool take(std::string_view method, int iterations) {
        state_.w.resize(s_.v.size());
        const double defect = verdict(problem_, state_.z, state_.w);
        if (s_.attempts.empty() || s_.attempts.back().method != method)
            s_.attempts.push_back({method, iterations, defect});
        else
            s_.attempts.back().iterations += iterations,
                s_.attempts.back().residual = std::min(s_.attempts.back().residual, defect);
        s_.iterations += iterations;
        if (defect < s_.residual) {
            s_.r.swap(state_.z);
            s_.v.swap(state_.w);
            s_.residual = defect;
            s_.method = method;
            state_.z.resize(s_.r.size());
        }
        return done();
    }
    bool done() const { return s_.residual <= tolerance_; }

private:
    const Problem& problem_;
    double tolerance_;
    State& state_;
    Solution& s_;
};

bool finite(const LinearComplementarity& p) { return p.M.allFinite() && p.q.allFinite(); }
bool finite(const MixedComplementarity& p) { return p.M.allFinite() && p.q.allFinite(); }
bool finite(const Relay& p) { return p.M.allFinite() && p.q.allFinite() && !p.lower.hasNaN() && !p.upper.hasNaN(); }

void clear(Solution& s, std::size_t unknowns, std::size_t rows) {
    s.status = Status::limit;
    s.residual = 0.0;
    s.method = {};
    s.iterations = 0;
    s.attempts.clear();
    s.certificate.clear();
    s.r.resize(unknowns);
    s.v.resize(rows);
}

void refuse_non_finite(Solution& s) {
    clear(s, s.r.size(), 0);
    s.status = Status::non_finite;
    s.residual = infinity;
    std::fill(s.r.begin(), s.r.end(), 0.0);
}

bool positive_diagonal(const BoundedView& bounded) {
    const double* own = bounded.M;
    for (int i = 0; i < bounded.n; ++i, own += bounded.n + 1)
        if (!(*own > 0.0)) return false;
    return true;
}

/// Whether a Gauss–Seidel sweep precedes pivoting.
enum class FirstSweep { yes, no };

/// Pivoting, on the stack for small problems. If a sweep precedes, its result is judged at once, because it often is
/// the solution. The result is written to the solution; true if it is good enough.
template <class Problem>
bool pivot(const BoundedView& bounded, FirstSweep first, State& state, Solution& s, Judge<Problem>& judge) {
    const bool sweep = first == FirstSweep::yes;
    const auto n = static_cast<std::size_t>(bounded.n), extra = static_cast<std::size_t>(bounded.extra);
    const auto run = [&](double* numbers, int* integers, Place* places) {
        Pivoting pivoting(numbers, integers, places);
        if (sweep) {
            pivoting.sweep(bounded, s.r.data());
            if (judge.take_first("pivoting", pivoting.changes())) return true;
            pivoting.place(bounded, s.r.data(), s.v.data());
        }
        const auto places_known = sweep ? Pivoting::Places::given : Pivoting::Places::guess;
        return pivoting.solve(bounded, s.r.data(), places_known) && judge.take_first("pivoting", pivoting.changes());
    };
    if (n <= stack_unknowns && extra <= stack_extra) {
        double numbers[Pivoting::numbers(stack_unknowns, stack_extra)];
        int integers[Pivoting::integers(stack_unknowns, stack_extra)];
        Place places[stack_unknowns];
        return run(numbers, integers, places);
    }
    state.numbers.resize(Pivoting::numbers(n, extra));
    state.integers.resize(Pivoting::integers(n, extra));
    state.places.resize(n);
    return run(state.numbers.data(), state.integers.data(), state.places.data());
}

/// The methods that follow if pivoting has failed. Each function returns true if the problem is then solved or decided.
template <class Problem>
class FallbackMethods {
public:
    FallbackMethods(const Problem& p, const BoundedView& bounded, const AutomaticComplementarity& method, State& state,
                    Solution& s, Judge<Problem>& judge)
        : p_(p), bounded_(bounded), method_(method), state_(state), s_(s), judge_(judge) {
        state_.z.resize(s.r.size());
    }

    Status run() {
        // If the work allows at least this number of nodes, then the search comes before the methods for friction.
        constexpr int min_nodes_for_search = 100;
        const bool search_first = nodes() >= min_nodes_for_search;
        if (solve_again() || by_paths()) return Status::converged;
        if (search_first && decide()) return s_.status;
        if (by_friction_methods()) return Status::converged;
        if (!search_first && decide()) return s_.status;
        return Status::stalled;
    }

private:
    /// Nodes of the search that the work allows. A linear program takes about 60 n³ multiplications.
    int nodes() const {
        constexpr double max_nodes = 1e6;        // in any case
        constexpr double program_factor = 60.0;  // multiplications of a linear program divided by n³
        const double rows = bounded_.rows();
        return static_cast<int>(std::min(max_nodes, method_.work / (program_factor * rows * rows * rows)));
    }

    /// Solves for the inner unknowns again from the data of the problem, which removes the rounding of pivots.
    bool solve_again() {
        if (bounded_.extra > 0) return false;
        const std::size_t n = s_.r.size();
        state_.numbers.resize(std::max(state_.numbers.size(), Guess::numbers(n)));
        state_.integers.resize(std::max(state_.integers.size(), Guess::integers(n)));
        state_.places.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            const double low = bounded_.lower == nullptr ? 0.0 : bounded_.lower[i];
            const double high = bounded_.upper == nullptr ? infinity : bounded_.upper[i];
            state_.places[i] = s_.r[i] <= low ? at_lower : s_.r[i] >= high ? at_upper : between;
        }
        Guess guess(bounded_, state_.numbers.data(), state_.integers.data());
        return guess.solve(state_.places.data(), state_.z.data()) && judge_.take("pivoting", 1);
    }

    /// Lemke's path with several covering vectors d: ones first, then pseudo-random numbers between 0.1 and 1.9.
    bool by_paths() {
        constexpr int covering_vectors = 4;
        constexpr double path_share = 0.3;  // of the work, for all paths
        constexpr double max_pivots = 1e6;  // of one path
        const auto n = static_cast<std::size_t>(bounded_.n), extra = static_cast<std::size_t>(bounded_.extra);
        std::vector<double> numbers(StandardForm::numbers(n, extra));
        std::vector<int> integers(StandardForm::integers(n, extra));
        StandardForm form;
        if (!form.reduce(bounded_, numbers.data(), integers.data())) return false;
        const BoundedView& standard = form.reduced();
        const int m = standard.n;
        LemkePath path;
        std::vector<double> y(static_cast<std::size_t>(m)), covering(y.size());
        double left = path_share * method_.work / (static_cast<double>(m) * m + 1.0);  // pivots of m² multiplications
        for (int k = 0; k < covering_vectors && left >= 1.0; ++k) {
            for (std::size_t i = 0; i < covering.size(); ++i)
                covering[i] =
                    k == 0 ? 1.0 : 1.0 + std::cos(static_cast<double>(k) * 1.7 * static_cast<double>(i * i + 1)) * 0.9;
            int seen = 0;
            path.follow(standard, covering.data(), static_cast<int>(std::min(left, max_pivots)), y, [&] {
                form.expand(y.data(), state_.z.data());
                const int more = path.pivots() - seen;
                seen = path.pivots();
                return judge_.take("lemke", more);
            });
            left -= path.pivots();
            if (judge_.done()) return true;
        }
        return false;
    }

    /// The search through all combinations of states. True if it found a solution or proved that there is none.
    bool decide() {
        if (nodes() == 0) return false;
        BranchingResult result = branch(BoundedForm::of(p_), nodes(), [&](std::span<const double> z) {
            std::copy(z.begin(), z.end(), state_.z.begin());
            return judge_.take("search", 0);
        });
        if (s_.attempts.empty() || s_.attempts.back().method != "search")
            s_.attempts.push_back({"search", 0, s_.residual});
        s_.attempts.back().iterations = result.nodes;
        s_.iterations += result.nodes;
        if (result.end == BranchingResult::End::undecided) return false;
        s_.status = result.end == BranchingResult::End::solved ? Status::converged : Status::infeasible;
        s_.certificate = std::move(result.certificate);
        return true;
    }

    /// The problem as a friction problem with one block per row. z = centre + side r, where r is the reaction of a
    /// slider (two finite bounds; centre is their middle), of a unilateral row (one finite bound) or of a bilateral row
    /// (none).
    bool by_friction_methods() {
        constexpr double friction_work = 1e10;  // multiplications
        if (bounded_.extra > 0) return false;
        const auto n = static_cast<Eigen::Index>(bounded_.n);
        Vector centre = Vector::Zero(n), side = Vector::Ones(n);
        FrictionProblem friction;
        for (Eigen::Index i = 0; i < n; ++i) {
            const double low = bounded_.lower == nullptr ? 0.0 : bounded_.lower[i];
            const double high = bounded_.upper == nullptr ? infinity : bounded_.upper[i];
            const bool below = std::isfinite(low), above = std::isfinite(high);
            Law law;
            law.kind = below && above ? LawKind::slider : below || above ? LawKind::unilateral : LawKind::bilateral;
            if (below && above) law.bound = 0.5 * (high - low);
            centre(i) = below && above ? low + law.bound : below ? low : above ? high : 0.0;
            if (above && !below) side(i) = -1.0;
            friction.laws.push_back(law);
        }
        const Eigen::Map<const Matrix> M(bounded_.M, n, n);
        const Eigen::Map<const Vector> q(bounded_.q, n);
        const Vector shifted = side.asDiagonal() * (q + M * centre);
        friction.W = BlockMatrix::from_dense(side.asDiagonal() * M * side.asDiagonal(),
                                             std::vector<int>(static_cast<std::size_t>(n), 1));
        friction.q.assign(shifted.data(), shifted.data() + n);
        Automatic method;
        method.tolerance = method_.tolerance;
        method.work = friction_work;
        const Solution s = solve(friction, method);
        for (Eigen::Index i = 0; i < n; ++i)
            state_.z[static_cast<std::size_t>(i)] = centre(i) + side(i) * s.r[static_cast<std::size_t>(i)];
        return judge_.take(s.method, s.iterations);
    }

    const Problem& p_;
    const BoundedView& bounded_;
    const AutomaticComplementarity& method_;
    State& state_;
    Solution& s_;
    Judge<Problem>& judge_;
};

/// Whether a problem may have free unknowns or extra rows, for which there is no Gauss–Seidel sweep.
enum class Unknowns { all_bounded, some_free };

/// Solves a problem that is given in its own form `p`, for the verdict, and in the bounded form.
template <class Problem>
void solve_bounded(const Problem& p, const BoundedView& bounded, Unknowns unknowns,
                   const AutomaticComplementarity& method, State& state, Solution& s) {
    Judge<Problem> judge(p, method.tolerance, state, s);
    const bool sweep = unknowns == Unknowns::all_bounded && positive_diagonal(bounded);
    if (pivot(bounded, sweep ? FirstSweep::yes : FirstSweep::no, state, s, judge)) {
        s.status = Status::converged;
        return;
    }
    if (!finite(p)) return refuse_non_finite(s);
    if (!std::isfinite(s.residual) || s.attempts.empty()) judge.begin(bounded);
    s.status = judge.done() ? Status::converged : FallbackMethods<Problem>(p, bounded, method, state, s, judge).run();
}

/// A problem without rows is solved at once.
bool solve_if_empty(Solution& s) {
    if (!s.v.empty()) return false;
    s.status = Status::converged;
    s.method = "none";
    return true;
}

}  // namespace

void solve(const LinearComplementarity& p, const AutomaticComplementarity& method, ComplementarityWorkspace& workspace,
           Solution& s) {
    const auto n = static_cast<std::size_t>(p.q.size());
    SALTUS_EXPECT(p.M.rows() == p.q.size() && p.M.cols() == p.q.size());
    clear(s, n, n);
    if (solve_if_empty(s)) return;
    solve_bounded(p, {static_cast<int>(n), p.M.data(), p.q.data()}, Unknowns::all_bounded, method, workspace.state(),
                  s);
}

void solve(const MixedComplementarity& p, const AutomaticComplementarity& method, ComplementarityWorkspace& workspace,
           Solution& s) {
    const auto n = static_cast<std::size_t>(p.M.cols()), rows = static_cast<std::size_t>(p.q.size());
    SALTUS_EXPECT(static_cast<std::size_t>(p.M.rows()) == rows && p.free.size() == rows && rows >= n);
    clear(s, n, rows);
    if (solve_if_empty(s)) return;
    State& state = workspace.state();
    double on_stack[2 * stack_unknowns];
    double *lower = on_stack, *upper = on_stack + stack_unknowns;
    if (n > stack_unknowns) {
        state.lower.resize(n);
        state.upper.resize(n);
        lower = state.lower.data(), upper = state.upper.data();
    }
    for (std::size_t j = 0; j < n; ++j) {
        lower[j] = p.free[j + (rows - n)] ? -infinity : 0.0;
        upper[j] = infinity;
    }
    solve_bounded(
        p, {static_cast<int>(n), p.M.data(), p.q.data(), lower, upper, static_cast<int>(rows) - static_cast<int>(n)},
        Unknowns::some_free, method, state, s);
}

void solve(const Relay& p, const AutomaticComplementarity& method, ComplementarityWorkspace& workspace, Solution& s) {
    const auto n = static_cast<std::size_t>(p.q.size());
    SALTUS_EXPECT(p.M.rows() == p.q.size() && p.M.cols() == p.q.size() && p.lower.size() == p.q.size() &&
                  p.upper.size() == p.q.size());
    clear(s, n, n);
    if (solve_if_empty(s)) return;
    bool bounds_valid = true;  // each interval contains a number
    for (Eigen::Index i = 0; i < p.q.size(); ++i)
        bounds_valid = bounds_valid && p.lower(i) <= p.upper(i) && p.lower(i) < infinity && p.upper(i) > -infinity;
    if (!bounds_valid) {
        if (!finite(p)) return refuse_non_finite(s);
        s.status = Status::infeasible;
        s.method = "none";
        s.certificate.assign(n, 0.0);
        std::fill(s.r.begin(), s.r.end(), 0.0);
        s.residual = verdict(p, s.r, s.v);
        return;
    }
    solve_bounded(p, {static_cast<int>(n), p.M.data(), p.q.data(), p.lower.data(), p.upper.data()},
                  Unknowns::all_bounded, method, workspace.state(), s);
}

namespace {

template <class Problem>
Solution solve_alone(const Problem& p, const AutomaticComplementarity& method) {
    ComplementarityWorkspace workspace;
    Solution s;
    solve(p, method, workspace, s);
    return s;
}

}  // namespace

Solution solve(const LinearComplementarity& p, const AutomaticComplementarity& m) { return solve_alone(p, m); }
Solution solve(const MixedComplementarity& p, const AutomaticComplementarity& m) { return solve_alone(p, m); }
Solution solve(const Relay& p, const AutomaticComplementarity& m) { return solve_alone(p, m); }

}  // namespace saltus::solvers
