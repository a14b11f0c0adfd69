// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <functional>
#include <stdexcept>
#include <vector>

namespace saltus::test {

/// ẋ = f(t, x) up to a zero of `root` or the end, by SUNDIALS' CVODE (BDF) near rounding: an oracle that shares nothing
/// with our integrators.
class Cvode {
public:
    using Right = std::function<void(double t, const double* x, double* dx)>;
    using Root = std::function<double(double t, const double* x)>;

    explicit Cvode(Right f, Root root = {}) : f_(std::move(f)), root_(std::move(root)) {
        require(SUNContext_Create(nullptr, &context_) == 0);
    }
    ~Cvode() { SUNContext_Free(&context_); }
    Cvode(const Cvode&) = delete;
    Cvode& operator=(const Cvode&) = delete;

    /// Moves t and x on; true when it stopped at a root.
    bool advance(double& t, std::vector<double>& x, double t_end) {
        const auto n = static_cast<sunindextype>(x.size());
        N_Vector state = N_VNew_Serial(n, context_);
        std::copy(x.begin(), x.end(), N_VGetArrayPointer(state));
        SUNMatrix A = SUNDenseMatrix(n, n, context_);
        SUNLinearSolver solver = SUNLinSol_Dense(state, A, context_);
        void* memory = CVodeCreate(CV_BDF, context_);
        require(CVodeInit(memory, right, t, state) == 0);
        require(CVodeSetUserData(memory, this) == 0);
        require(CVodeSStolerances(memory, 1e-13, 1e-15) == 0);
        require(CVodeSetLinearSolver(memory, solver, A) == 0);
        require(CVodeSetMaxNumSteps(memory, 10000000) == 0);
        require(CVodeSetStopTime(memory, t_end) == 0);
        if (root_) require(CVodeRootInit(memory, 1, event) == 0);
        double reached = t;
        const int outcome = CVode(memory, t_end, state, &reached, CV_NORMAL);
        require(outcome >= 0);
        t = reached;
        std::copy_n(N_VGetArrayPointer(state), x.size(), x.begin());
        CVodeFree(&memory);
        SUNLinSolFree(solver);
        SUNMatDestroy(A);
        N_VDestroy(state);
        return outcome == CV_ROOT_RETURN;
    }

private:
    static void require(bool fine) {
        if (!fine) throw std::runtime_error("CVODE failed");
    }
    static int right(double t, N_Vector x, N_Vector dx, void* self) {
        static_cast<Cvode*>(self)->f_(t, N_VGetArrayPointer(x), N_VGetArrayPointer(dx));
        return 0;
    }
    static int event(double t, N_Vector x, double* value, void* self) {
        *value = static_cast<Cvode*>(self)->root_(t, N_VGetArrayPointer(x));
        return 0;
    }

    Right f_;
    Root root_;
    SUNContext context_ = nullptr;
};

}  // namespace saltus::test
