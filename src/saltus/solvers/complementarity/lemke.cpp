// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/complementarity/lemke.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/error.hpp"
#include "saltus/solvers/complementarity/detail/exclusion.hpp"
#include "saltus/solvers/complementarity/detail/lemke_path.hpp"
#include "saltus/solvers/detail/residual.hpp"

namespace saltus::solvers {

namespace {

void run(const LinearComplementarity& p, const Lemke& method, Solution& s) {
    const auto n = static_cast<int>(p.q.size());
    const BoundedView bounded{n, p.M.data(), p.q.data()};
    LemkePath path;
    std::vector<double> w(s.r.size()), z(s.r.size());
    s.residual = verdict(p, s.r, w);  // of the start z = 0
    const int max_pivots = method.max_pivots > 0 ? method.max_pivots : 50 * (n + 10);
    const LemkePath::End end = path.follow(bounded, nullptr, max_pivots, z, [&] {
        const double defect = verdict(p, z, w);
        if (defect < s.residual) {
            s.residual = defect;
            s.r = z;
        }
        return s.residual <= method.tolerance;
    });
    s.iterations = path.pivots();
    s.status = s.residual <= method.tolerance ? Status::converged
               : end == LemkePath::End::limit ? Status::limit
                                              : Status::stalled;
    if (s.status == Status::converged || end != LemkePath::End::ray) return;
    // For many matrices the direction of z along the ray is a proof of infeasibility; check it.
    const BoundedForm form = BoundedForm::of(p);
    if (!excludes_all(form, path.ray())) return;
    s.status = Status::infeasible;
    s.certificate.assign(path.ray().begin(), path.ray().end());
}

}  // namespace

Solution solve(const LinearComplementarity& p, const Lemke& method) {
    SALTUS_EXPECT(p.M.rows() == p.q.size() && p.M.cols() == p.q.size());
    Solution s;
    s.method = "lemke";
    s.r.assign(static_cast<std::size_t>(p.q.size()), 0.0);
    if (!p.M.allFinite() || !p.q.allFinite()) {
        s.status = Status::non_finite;
        s.residual = std::numeric_limits<double>::infinity();
        return s;
    }
    if (p.q.size() == 0)
        s.status = Status::converged;
    else
        run(p, method, s);
    s.v.resize(s.r.size());
    if (!s.r.empty()) s.residual = verdict(p, s.r, s.v);
    s.attempts.push_back({s.method, s.iterations, s.residual});
    return s;
}

}  // namespace saltus::solvers
