// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/complementarity/detail/exclusion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/error.hpp"

namespace saltus::solvers {

namespace {

using Eigen::Index;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double rounding = 1e-10;

/// What y says of each state.
class Functional {
public:
    Functional(const Box& box, std::span<const double> y) : terms_(3 * box.row.size()) {
        for (Index i = 0; i < box.q.size(); ++i) {
            const double term = y[static_cast<std::size_t>(i)] * box.q(i);
            value_ += term;
            size_ += std::abs(term);
        }
        for (std::size_t j = 0; j < box.row.size(); ++j) {
            const auto column = static_cast<Index>(j);
            double g = 0.0, size = 0.0;
            for (Index i = 0; i < box.q.size(); ++i) {
                const double term = box.M(i, column) * y[static_cast<std::size_t>(i)];
                g += term;
                size += std::abs(term);
            }
            if (std::abs(g) <= rounding * size) g = 0.0;
            const double own = box.row[j] < 0 ? 0.0 : y[static_cast<std::size_t>(box.row[j])];
            const double low = box.lower(column), high = box.upper(column);
            const auto times = [&](double bound) { return g == 0.0 ? 0.0 : -g * bound; };
            terms_[3 * j] = own >= 0.0 ? times(low) : -infinity;
            terms_[3 * j + 1] = std::min(times(low), times(high));
            terms_[3 * j + 2] = own <= 0.0 ? times(high) : -infinity;
        }
    }

    /// The least that an unknown contributes in these states; infinite where there is none.
    double least(std::size_t j, char states) const {
        double term = infinity;
        for (std::size_t k = 0; k < 3; ++k)
            if ((states >> k & 1) != 0) term = std::min(term, terms_[3 * j + k]);
        return term;
    }

    bool excludes(std::span<const char> states) const {
        double sum = 0.0, size = size_;
        bool open = false;
        for (std::size_t j = 0; j < states.size(); ++j) {
            const double term = least(j, states[j]);
            if (term == infinity) return true;  // no state at all
            open = open || term == -infinity;
            sum += term;
            size += std::abs(term);
        }
        return !open && sum - value_ > rounding * size;
    }

private:
    std::vector<double> terms_;  // the least of y_i w_i − g_j z_j in each state
    double value_ = 0.0, size_ = 0.0;
};

bool decided(char states) { return (states & (states - 1)) == 0; }

/// The undecided unknown on which the proof that is nearest to excluding these states depends; the first one where they
/// do not say.
std::size_t next_to_decide(const std::vector<Functional>& proofs, std::span<const char> states) {
    std::size_t fewest = states.size() + 1, next = states.size();
    for (const Functional& proof : proofs) {
        std::size_t count = 0, first = states.size();
        for (std::size_t j = 0; j < states.size() && count < fewest; ++j)
            if (proof.least(j, states[j]) == -infinity) {
                ++count;
                if (decided(states[j])) count = fewest;  // it never will
                if (first == states.size()) first = j;
            }
        if (count > 0 && count < fewest) fewest = count, next = first;
    }
    for (std::size_t j = 0; j < states.size() && next == states.size(); ++j)
        if (!decided(states[j])) next = j;
    return next;
}

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

bool excludes(const Box& box, std::span<const double> y, std::span<const char> states) {
    SALTUS_EXPECT(static_cast<Index>(y.size()) == box.q.size() && states.size() == box.row.size());
    return Functional(box, y).excludes(states);
}

bool excludes_all(const Box& box, std::span<const double> certificate) {
    const auto rows = static_cast<std::size_t>(box.q.size());
    if (rows == 0 || certificate.empty() || certificate.size() % rows != 0) return false;
    std::vector<Functional> proofs;
    for (std::size_t at = 0; at < certificate.size(); at += rows)
        proofs.emplace_back(box, certificate.subspan(at, rows));
    std::vector<char> states = states_of(box);
    return covered(proofs, states);
}

}  // namespace saltus::solvers
