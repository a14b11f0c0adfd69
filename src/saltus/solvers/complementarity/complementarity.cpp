// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/complementarity/complementarity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/error.hpp"
#include "saltus/solvers/complementarity/detail/branching.hpp"
#include "saltus/solvers/complementarity/detail/lemke_path.hpp"
#include "saltus/solvers/complementarity/detail/pivoting.hpp"
#include "saltus/solvers/detail/residual.hpp"
#include "saltus/solvers/friction/friction.hpp"

namespace saltus::solvers {

struct ComplementarityWorkspace::State {
    std::vector<double> numbers, lower, upper, z, w;
    std::vector<int> integers;
    std::vector<Place> places;
};

ComplementarityWorkspace::ComplementarityWorkspace() : state_(std::make_unique<State>()) {}
ComplementarityWorkspace::~ComplementarityWorkspace() = default;
ComplementarityWorkspace::ComplementarityWorkspace(ComplementarityWorkspace&&) noexcept = default;
ComplementarityWorkspace& ComplementarityWorkspace::operator=(ComplementarityWorkspace&&) noexcept = default;

namespace {

using State = ComplementarityWorkspace::State;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t small = 32, few = 8;  // unknowns and extra rows for which the stack has room

/// Collects results, keeps the best, judges by the residual of the problem itself.
template <class Problem>
class Judge {
public:
    Judge(const Problem& problem, double tolerance, State& state, Solution& s)
        : problem_(problem), tolerance_(tolerance), state_(state), s_(s) {}

    /// The first result, which stands in the solution; again as long as it is no good.
    bool take_first(std::string_view method, int iterations) {
        s_.residual = verdict(problem_, s_.r, s_.v);
        s_.iterations = iterations;
        s_.method = method;
        if (s_.attempts.empty()) s_.attempts.push_back({method, 0, 0.0});
        s_.attempts.front().iterations = iterations;
        s_.attempts.front().residual = s_.residual;
        return done();
    }
    /// Nothing has come out: zero, or what is nearest to it, is the best.
    void begin(const BoxView& box) {
        for (std::size_t i = 0; i < s_.r.size(); ++i)
            s_.r[i] = box.lower == nullptr ? 0.0 : std::clamp(0.0, box.lower[i], box.upper[i]);
        s_.residual = verdict(problem_, s_.r, s_.v);
        s_.method = "none";
    }
    /// A further one in state.z; one line in the list of attempts for results of one method that follow each other.
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

bool positive_diagonal(const BoxView& box) {
    const double* own = box.M;
    for (int i = 0; i < box.n; ++i, own += box.n + 1)
        if (!(*own > 0.0)) return false;
    return true;
}

/// A sweep, where it makes sense, which is judged at once, then pivoting; on the stack where it has room. What it finds
/// stands in the solution.
template <class Problem>
bool pivot(const BoxView& box, bool sweep, State& state, Solution& s, Judge<Problem>& judge) {
    const auto n = static_cast<std::size_t>(box.n), extra = static_cast<std::size_t>(box.extra);
    const auto run = [&](double* numbers, int* integers, Place* places) {
        Pivoting pivoting(numbers, integers, places);
        if (sweep) {
            pivoting.sweep(box, s.r.data());
            if (judge.take_first("pivoting", pivoting.changes())) return true;
            pivoting.place(box, s.r.data(), s.v.data());
        }
        return pivoting.solve(box, s.r.data(), sweep) && judge.take_first("pivoting", pivoting.changes());
    };
    if (n <= small && extra <= few) {
        double numbers[Pivoting::numbers(small, few)];
        int integers[Pivoting::integers(small, few)];
        Place places[small];
        return run(numbers, integers, places);
    }
    state.numbers.resize(Pivoting::numbers(n, extra));
    state.integers.resize(Pivoting::integers(n, extra));
    state.places.resize(n);
    return run(state.numbers.data(), state.integers.data(), state.places.data());
}

/// What is left when pivoting has failed.
template <class Problem>
class Course {
public:
    Course(const Problem& p, const BoxView& box, const AutomaticComplementarity& method, State& state, Solution& s,
           Judge<Problem>& judge)
        : p_(p), box_(box), method_(method), state_(state), s_(s), judge_(judge) {
        state_.z.resize(s.r.size());
    }

    Status run() {
        const bool quick = nodes() >= 100;  // a search is quicker than the methods for friction
        if (solve_once_more() || by_paths()) return Status::converged;
        if (quick && decide()) return s_.status;
        if (by_friction_methods()) return Status::converged;
        if (!quick && decide()) return s_.status;
        return Status::stalled;
    }

private:
    /// Nodes of the search that the work allows; a linear program takes about 60 n³ multiplications.
    int nodes() const {
        const double rows = box_.rows();
        return static_cast<int>(std::min(1e6, method_.work / (60.0 * rows * rows * rows)));
    }

    /// The unknowns between their bounds from the data of the problem: rounding of pivots is left behind.
    bool solve_once_more() {
        if (box_.extra > 0) return false;
        const std::size_t n = s_.r.size();
        state_.numbers.resize(std::max(state_.numbers.size(), Guess::numbers(n)));
        state_.integers.resize(std::max(state_.integers.size(), Guess::integers(n)));
        state_.places.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            const double low = box_.lower == nullptr ? 0.0 : box_.lower[i];
            const double high = box_.upper == nullptr ? infinity : box_.upper[i];
            state_.places[i] = s_.r[i] <= low ? at_lower : s_.r[i] >= high ? at_upper : between;
        }
        Guess guess(box_, state_.numbers.data(), state_.integers.data());
        return guess.solve(state_.places.data(), state_.z.data()) && judge_.take("pivoting", 1);
    }

    /// Lemke's path from several beginnings.
    bool by_paths() {
        const auto n = static_cast<std::size_t>(box_.n), extra = static_cast<std::size_t>(box_.extra);
        std::vector<double> numbers(StandardForm::numbers(n, extra));
        std::vector<int> integers(StandardForm::integers(n, extra));
        StandardForm form;
        if (!form.reduce(box_, numbers.data(), integers.data())) return false;
        const BoxView& standard = form.box();
        const int m = standard.n;
        LemkePath path;
        std::vector<double> y(static_cast<std::size_t>(m)), covering(y.size());
        double left = 0.3 * method_.work / (static_cast<double>(m) * m + 1.0);
        for (int beginning = 0; beginning < 4 && left >= 1.0; ++beginning) {
            for (std::size_t i = 0; i < covering.size(); ++i)
                covering[i] =
                    beginning == 0
                        ? 1.0
                        : 1.0 + std::cos(static_cast<double>(beginning) * 1.7 * static_cast<double>(i * i + 1)) * 0.9;
            int seen = 0;
            path.follow(standard, covering.data(), static_cast<int>(std::min(left, 1e6)), y, [&] {
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

    /// True when the search has decided.
    bool decide() {
        if (nodes() == 0) return false;
        BranchingResult result = branch(Box::of(p_), nodes(), [&](std::span<const double> z) {
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

    /// The same problem with one block a row: z = centre ± r with a slider's r, a unilateral or a bilateral one.
    bool by_friction_methods() {
        if (box_.extra > 0) return false;
        const auto n = static_cast<Eigen::Index>(box_.n);
        Vector centre = Vector::Zero(n), side = Vector::Ones(n);
        FrictionProblem friction;
        for (Eigen::Index i = 0; i < n; ++i) {
            const double low = box_.lower == nullptr ? 0.0 : box_.lower[i];
            const double high = box_.upper == nullptr ? infinity : box_.upper[i];
            const bool below = std::isfinite(low), above = std::isfinite(high);
            Law law;
            law.kind = below && above ? LawKind::slider : below || above ? LawKind::unilateral : LawKind::bilateral;
            if (below && above) law.bound = 0.5 * (high - low);
            centre(i) = below && above ? low + law.bound : below ? low : above ? high : 0.0;
            if (above && !below) side(i) = -1.0;
            friction.laws.push_back(law);
        }
        const Eigen::Map<const Matrix> M(box_.M, n, n);
        const Eigen::Map<const Vector> q(box_.q, n);
        const Vector shifted = side.asDiagonal() * (q + M * centre);
        friction.W = BlockMatrix::from_dense(side.asDiagonal() * M * side.asDiagonal(),
                                             std::vector<int>(static_cast<std::size_t>(n), 1));
        friction.q.assign(shifted.data(), shifted.data() + n);
        Automatic method;
        method.tolerance = method_.tolerance;
        method.work = 1e10;
        const Solution s = solve(friction, method);
        for (Eigen::Index i = 0; i < n; ++i)
            state_.z[static_cast<std::size_t>(i)] = centre(i) + side(i) * s.r[static_cast<std::size_t>(i)];
        return judge_.take(s.method, s.iterations);
    }

    const Problem& p_;
    const BoxView& box_;
    const AutomaticComplementarity& method_;
    State& state_;
    Solution& s_;
    Judge<Problem>& judge_;
};

template <class Problem>
void solve_box(const Problem& p, const BoxView& box, bool bounded, const AutomaticComplementarity& method, State& state,
               Solution& s) {
    Judge<Problem> judge(p, method.tolerance, state, s);
    if (pivot(box, bounded && positive_diagonal(box), state, s, judge)) {
        s.status = Status::converged;
        return;
    }
    if (!finite(p)) return refuse_non_finite(s);
    if (!std::isfinite(s.residual) || s.attempts.empty()) judge.begin(box);
    s.status = judge.done() ? Status::converged : Course<Problem>(p, box, method, state, s, judge).run();
}

bool nothing_to_solve(Solution& s) {
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
    if (nothing_to_solve(s)) return;
    solve_box(p, {static_cast<int>(n), p.M.data(), p.q.data()}, true, method, workspace.state(), s);
}

void solve(const MixedComplementarity& p, const AutomaticComplementarity& method, ComplementarityWorkspace& workspace,
           Solution& s) {
    const auto n = static_cast<std::size_t>(p.M.cols()), rows = static_cast<std::size_t>(p.q.size());
    SALTUS_EXPECT(static_cast<std::size_t>(p.M.rows()) == rows && p.free.size() == rows && rows >= n);
    clear(s, n, rows);
    if (nothing_to_solve(s)) return;
    State& state = workspace.state();
    double on_stack[2 * small];
    double *lower = on_stack, *upper = on_stack + small;
    if (n > small) {
        state.lower.resize(n);
        state.upper.resize(n);
        lower = state.lower.data(), upper = state.upper.data();
    }
    for (std::size_t j = 0; j < n; ++j) {
        lower[j] = p.free[j + (rows - n)] ? -infinity : 0.0;
        upper[j] = infinity;
    }
    solve_box(p,
              {static_cast<int>(n), p.M.data(), p.q.data(), lower, upper, static_cast<int>(rows) - static_cast<int>(n)},
              false, method, state, s);
}

void solve(const Relay& p, const AutomaticComplementarity& method, ComplementarityWorkspace& workspace, Solution& s) {
    const auto n = static_cast<std::size_t>(p.q.size());
    SALTUS_EXPECT(p.M.rows() == p.q.size() && p.M.cols() == p.q.size() && p.lower.size() == p.q.size() &&
                  p.upper.size() == p.q.size());
    clear(s, n, n);
    if (nothing_to_solve(s)) return;
    bool room = true;
    for (Eigen::Index i = 0; i < p.q.size(); ++i)
        room = room && p.lower(i) <= p.upper(i) && p.lower(i) < infinity && p.upper(i) > -infinity;
    if (!room) {
        if (!finite(p)) return refuse_non_finite(s);
        s.status = Status::infeasible;
        s.method = "none";
        s.certificate.assign(n, 0.0);
        std::fill(s.r.begin(), s.r.end(), 0.0);
        s.residual = verdict(p, s.r, s.v);
        return;
    }
    solve_box(p, {static_cast<int>(n), p.M.data(), p.q.data(), p.lower.data(), p.upper.data()}, true, method,
              workspace.state(), s);
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
