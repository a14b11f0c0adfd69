// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/complementarity/detail/exclusion.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/numbers.hpp"

namespace saltus::solvers {

namespace {

using Eigen::Index;

// |g_j| <= rounding · Σ|its terms| counts as 0. A proof must hold with a margin of rounding · Σ|its terms|.
constexpr double rounding = 1e-10;

/// The linear functional y of a proof: for each unknown and each state the least value of y_i w_i − g_j z_j.
///     lower  w_i >= 0, z = lower:  −g lower if y_i >= 0, else −∞
///     inner  w_i = 0:              the least of −g z over [lower, upper]
///     upper  w_i <= 0, z = upper:  −g upper if y_i <= 0, else −∞
class Functional {
public:
    Functional(const BoundedForm& form, std::span<const double> y) : terms_(3 * form.row.size()) {
        for (Index i = 0; i < form.q.size(); ++i) {
            const double term = y[static_cast<std::size_t>(i)] * form.q(i);
            value_ += term;
            size_ += std::abs(term);
        }
        for (std::size_t j = 0; j < form.row.size(); ++j) {
            const auto column = static_cast<Index>(j);
            double g = 0.0, size = 0.0;
            for (Index i = 0; i < form.q.size(); ++i) {
                const double term = form.M(i, column) * y[static_cast<std::size_t>(i)];
                g += term;
                size += std::abs(term);
            }
            if (std::abs(g) <= rounding * size) g = 0.0;
            const double own = form.row[j] < 0 ? 0.0 : y[static_cast<std::size_t>(form.row[j])];
            const double low = form.lower(column), high = form.upper(column);
            const auto times = [&](double bound) { return g == 0.0 ? 0.0 : -g * bound; };
            terms_[3 * j] = own >= 0.0 ? times(low) : -infinity;
            terms_[3 * j + 1] = std::min(times(low), times(high));
            terms_[3 * j + 2] = own <= 0.0 ? times(high) : -infinity;
        }
    }

    /// The least contribution of unknown j over a set of states; +∞ for the empty set.
    double least(std::size_t j, char states) const {
        double term = infinity;
        for (std::size_t k = 0; k < 3; ++k)
            if ((states >> k & 1) != 0) term = std::min(term, terms_[3 * j + k]);
        return term;
    }

    /// True if the sum of the least contributions exceeds yᵀq by more than rounding.
    bool excludes(std::span<const char> states) const {
        double sum = 0.0, size = size_;
        bool unbounded = false;
        for (std::size_t j = 0; j < states.size(); ++j) {
            const double term = least(j, states[j]);
            if (term == infinity) return true;  // no state is allowed at all
            unbounded = unbounded || term == -infinity;
            sum += term;
            size += std::abs(term);
        }
        return !unbounded && sum - value_ > rounding * size;
    }

private:
    std::vector<double> terms_;        // three numbers per unknown: lower, inner, upper
    double value_ = 0.0, size_ = 0.0;  // yᵀq and Σ|y_i q_i|
};

/// True if at most one state is left.
bool decided(char states) { return (states & (states - 1)) == 0; }

/// The unknown whose states are to be distinguished next: the first one that keeps the most promising proof from
/// excluding `states`. That is the proof with the fewest unbounded contributions, all of undecided unknowns. If no
/// proof is promising, the first undecided unknown. If all are decided, the number of unknowns.
std::size_t next_to_decide(const std::vector<Functional>& proofs, std::span<const char> states) {
    std::size_t fewest = states.size() + 1, next = states.size();
    for (const Functional& proof : proofs) {
        std::size_t count = 0, first = states.size();
        for (std::size_t j = 0; j < states.size() && count < fewest; ++j)
            if (proof.least(j, states[j]) == -infinity) {
                ++count;
                if (decided(states[j])) count = fewest;  // this proof cannot exclude the states
                if (first == states.size()) first = j;
            }
        if (count > 0 && count < fewest) fewest = count, next = first;
    }
    for (std::size_t j = 0; j < states.size() && next == states.size(); ++j)
        if (!decided(states[j])) next = j;
    return next;
}

/// True if every combination of `states` is excluded by one of the proofs; recursion over undecided unknowns.
bool covered(const std::vector<Functional>& proofs, std::vector<char>& states) {
    for (const Functional& proof : proofs)
        if (proof.excludes(states)) return true;
    const std::size_t next = next_to_decide(proofs, states);
    if (next == states.size()) return false;
    const char all = states[next];
    bool excluded = true;
    for (int k = 0; k < 3 && excluded; ++k) {
        if ((all >> k & 1) == 0) continue;
        states[next] = static_cast<char>(1 << k);
        excluded = covered(proofs, states);
    }
    states[next] = all;
    return excluded;
}

}  // namespace

bool excludes(const BoundedForm& form, std::span<const double> y, std::span<const char> states) {
    SALTUS_EXPECT(static_cast<Index>(y.size()) == form.q.size() && states.size() == form.row.size());
    return Functional(form, y).excludes(states);
}

bool excludes_all(const BoundedForm& form, std::span<const double> certificate) {
    const auto rows = static_cast<std::size_t>(form.q.size());
    if (rows == 0 || certificate.empty() || certificate.size() % rows != 0) return false;
    std::vector<Functional> proofs;
    for (std::size_t at = 0; at < certificate.size(); at += rows)
        proofs.emplace_back(form, certificate.subspan(at, rows));
    std::vector<char> states = states_of(form);
    return covered(proofs, states);
}

}  // namespace saltus::solvers
