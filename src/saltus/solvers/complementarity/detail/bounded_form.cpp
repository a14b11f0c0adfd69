// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/complementarity/detail/bounded_form.hpp"

#include <cmath>
#include <numeric>

#include "saltus/base/error.hpp"
#include "saltus/base/numbers.hpp"

namespace saltus::solvers {

namespace {

/// Row j belongs to unknown j.
std::vector<int> own_rows(Eigen::Index n) {
    std::vector<int> row(static_cast<std::size_t>(n));
    std::iota(row.begin(), row.end(), 0);
    return row;
}

}  // namespace

BoundedForm BoundedForm::of(const LinearComplementarity& p) {
    const Eigen::Index n = p.q.size();
    return {p.M, p.q, Vector::Zero(n), Vector::Constant(n, infinity), own_rows(n)};
}

BoundedForm BoundedForm::of(const Relay& p) { return {p.M, p.q, p.lower, p.upper, own_rows(p.q.size())}; }

BoundedForm BoundedForm::of(const MixedComplementarity& p) {
    const Eigen::Index n = p.M.cols(), extra = p.M.rows() - n;
    SALTUS_EXPECT(extra >= 0);
    BoundedForm form{p.M, p.q, Vector::Constant(n, -infinity), Vector::Constant(n, infinity), {}};
    form.row.assign(static_cast<std::size_t>(n), -1);
    for (Eigen::Index j = 0; j < n; ++j) {
        // Surplus equations come first: row j + extra belongs to unknown j.
        if (p.free[static_cast<std::size_t>(j + extra)]) continue;
        form.lower(j) = 0.0;
        form.row[static_cast<std::size_t>(j)] = static_cast<int>(j + extra);
    }
    return form;
}

std::vector<char> states_of(const BoundedForm& form) {
    std::vector<char> states(form.row.size(), 0);
    for (std::size_t j = 0; j < states.size(); ++j) {
        const double low = form.lower(static_cast<Eigen::Index>(j)), high = form.upper(static_cast<Eigen::Index>(j));
        if (low > high || low == infinity || high == -infinity) continue;
        int allowed = state::inner;
        if (std::isfinite(low)) allowed |= state::lower;
        if (std::isfinite(high)) allowed |= state::upper;
        states[j] = static_cast<char>(allowed);
    }
    return states;
}

}  // namespace saltus::solvers
