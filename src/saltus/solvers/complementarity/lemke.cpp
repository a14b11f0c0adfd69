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
    const BoxView box{n, p.M.data(), p.q.data()};
    LemkePath path;
    std::vector<double> w(s.r.size()), z(s.r.size());
    s.residual = verdict(p, s.r, w);  // of zero
    const LemkePath::End end =
        path.follow(box, nullptr, method.max_pivots > 0 ? method.max_pivots : 50 * (n + 10), z, [&] {
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
    const Box copy = Box::of(p);
    if (!excludes_all(copy, path.ray())) return;
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
