// SPDX-License-Identifier: Apache-2.0
#include "integrate_cvode.hpp"

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace saltus::bench {
namespace {

constexpr long step_limit = 10'000'000;  // never reached here; CVODE's own limit of 500 is

int right_side(double t, N_Vector x, N_Vector dx, void* problem) {
    static_cast<const SmoothProblem*>(problem)->rates(t, N_VGetArrayPointer(x), N_VGetArrayPointer(dx));
    return 0;
}

void require(bool good, const char* what) {
    if (!good) throw std::runtime_error(std::string("CVODE: ") + what);
}

}  // namespace

struct CvodeIntegration::Objects {
    const SmoothProblem& problem;
    SUNContext context = nullptr;
    N_Vector x = nullptr;
    void* cvode = nullptr;
    SUNNonlinearSolver fixed_point = nullptr;
    SUNMatrix jacobian = nullptr;
    SUNLinearSolver dense = nullptr;

    explicit Objects(const SmoothProblem& p) : problem(p) {}
    Objects(const Objects&) = delete;
    Objects& operator=(const Objects&) = delete;
    ~Objects() {
        CVodeFree(&cvode);
        if (fixed_point != nullptr) SUNNonlinSolFree(fixed_point);
        if (dense != nullptr) SUNLinSolFree(dense);
        if (jacobian != nullptr) SUNMatDestroy(jacobian);
        if (x != nullptr) N_VDestroy(x);
        SUNContext_Free(&context);
    }

    void restart() { std::copy(problem.start.begin(), problem.start.end(), N_VGetArrayPointer(x)); }

    void attach_solver(CvodeMethod method) {
        if (method == CvodeMethod::adams) {
            fixed_point = SUNNonlinSol_FixedPoint(x, 0, context);
            require(CVodeSetNonlinearSolver(cvode, fixed_point) == CV_SUCCESS, "fixed-point iteration");
        } else {
            const auto n = static_cast<sunindextype>(problem.start.size());
            jacobian = SUNDenseMatrix(n, n, context);
            dense = SUNLinSol_Dense(x, jacobian, context);
            require(CVodeSetLinearSolver(cvode, dense, jacobian) == CV_SUCCESS, "dense solver");
        }
    }
};

CvodeIntegration::CvodeIntegration(const SmoothProblem& problem, CvodeMethod method, double rtol, double atol)
    : objects_(std::make_unique<Objects>(problem)) {
    Objects& o = *objects_;
    require(SUNContext_Create(nullptr, &o.context) == 0, "context");
    o.x = N_VNew_Serial(static_cast<sunindextype>(problem.start.size()), o.context);
    o.restart();
    o.cvode = CVodeCreate(method == CvodeMethod::adams ? CV_ADAMS : CV_BDF, o.context);
    require(CVodeInit(o.cvode, right_side, 0.0, o.x) == CV_SUCCESS, "start");
    require(CVodeSStolerances(o.cvode, rtol, atol) == CV_SUCCESS, "tolerances");
    require(CVodeSetUserData(o.cvode, const_cast<SmoothProblem*>(&problem)) == CV_SUCCESS, "problem");
    require(CVodeSetMaxNumSteps(o.cvode, step_limit) == CV_SUCCESS, "limit of steps");
    require(CVodeSetErrFile(o.cvode, nullptr) == CV_SUCCESS, "silence");
    o.attach_solver(method);
}

CvodeIntegration::~CvodeIntegration() = default;

CvodeRun CvodeIntegration::run() {
    Objects& o = *objects_;
    o.restart();
    require(CVodeReInit(o.cvode, 0.0, o.x) == CV_SUCCESS, "restart");
    require(CVodeSetStopTime(o.cvode, o.problem.t_end) == CV_SUCCESS, "end");  // the last step ends there
    double t = 0.0;
    CvodeRun run;
    run.completed = CVode(o.cvode, o.problem.t_end, o.x, &t, CV_NORMAL) >= 0 && t == o.problem.t_end;
    CVodeGetNumSteps(o.cvode, &run.steps);
    CVodeGetNumRhsEvals(o.cvode, &run.evaluations);
    const double* end = N_VGetArrayPointer(o.x);
    run.end.assign(end, end + o.problem.start.size());
    return run;
}

}  // namespace saltus::bench
