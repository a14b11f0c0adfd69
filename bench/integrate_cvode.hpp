// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "smooth_problems.hpp"

namespace saltus::bench {

/// The two families of methods in CVODE, with the solvers that its manual recommends for each.
enum class CvodeMethod {
    adams,  ///< orders 1 to 12, fixed-point iteration: for problems that are not stiff
    bdf,    ///< orders 1 to 5, Newton's method, dense matrices, Jacobians by differences: for stiff problems
};

struct CvodeRun {
    bool completed = false;
    long steps = 0, evaluations = 0;
    std::vector<double> end;
};

/// One problem in CVODE. The constructor makes all of its objects, `run` integrates from the start to the end.
class CvodeIntegration {
public:
    CvodeIntegration(const SmoothProblem& problem, CvodeMethod method, double rtol, double atol);
    ~CvodeIntegration();
    CvodeRun run();

private:
    struct Objects;
    std::unique_ptr<Objects> objects_;
};

}  // namespace saltus::bench
