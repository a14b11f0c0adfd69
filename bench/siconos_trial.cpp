// SPDX-License-Identifier: Apache-2.0
#include "siconos_trial.hpp"

#include <algorithm>

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <LinearComplementarityProblem.h>
#include <MLCP_Solvers.h>
#include <MixedLinearComplementarityProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsVerbose.h>
#include <RelayProblem.h>
#include <RollingFrictionContactProblem.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>
#include <lcp_cst.h>
#include <mlcp_cst.h>
#include <relay_cst.h>

extern "C" void openblas_set_num_threads(int) __attribute__((weak));  // where that is the BLAS

namespace saltus::bench {

namespace {

using solvers::BlockMatrix;
using solvers::FrictionProblem;
using solvers::LawKind;
using solvers::LinearComplementarity;
using solvers::MixedComplementarity;

/// Iterations that only the time limit ends.
constexpr int many = 1'000'000;

const std::vector<SiconosSolver> spatial{
    {"NSGS", SICONOS_FRICTION_3D_NSGS, many},
    {"NSGS-PLI", SICONOS_FRICTION_3D_NSGS, many, SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration},
    {"NSN_AC", SICONOS_FRICTION_3D_NSN_AC, 1000},
    {"NSN_AC-EG", SICONOS_FRICTION_3D_NSN_AC, 1000, 0, true},
    {"NSN_FB", SICONOS_FRICTION_3D_NSN_FB, 1000},
    {"NSN_NM", SICONOS_FRICTION_3D_NSN_NM, 1000},
    {"ACLMFP", SICONOS_FRICTION_3D_ACLMFP, many},
    {"ADMM", SICONOS_FRICTION_3D_ADMM, many},
    {"PROX", SICONOS_FRICTION_3D_PROX, many},
};
const std::vector<SiconosSolver> planar{
    {"NSGS", SICONOS_FRICTION_2D_NSGS, many},
    {"CPG", SICONOS_FRICTION_2D_CPG, many},
    {"LEMKE", SICONOS_FRICTION_2D_LEMKE, many},
    {"ENUM", SICONOS_FRICTION_2D_ENUM},
};
const std::vector<SiconosSolver> rolling{
    {"NSGS", SICONOS_ROLLING_FRICTION_3D_NSGS, many},
    {"ADMM", SICONOS_ROLLING_FRICTION_3D_ADMM, many},
};
const std::vector<SiconosSolver> linear{
    {"LEMKE", SICONOS_LCP_LEMKE, many},
    {"PGS", SICONOS_LCP_PGS, many},
    {"RPGS", SICONOS_LCP_RPGS, many},
    {"PSOR", SICONOS_LCP_PSOR, many},
    {"CPG", SICONOS_LCP_CPG, many},
    {"LATIN", SICONOS_LCP_LATIN, many},
    {"NEWTONMIN", SICONOS_LCP_NEWTONMIN, many},
    {"NEWTON_FB", SICONOS_LCP_NEWTON_FB_FBLSA, 10000},
    {"NEWTON_MIN", SICONOS_LCP_NEWTON_MIN_FBLSA, 10000},
    {"ENUM", SICONOS_LCP_ENUM},
    {"AVI", SICONOS_LCP_AVI_CAOFERRIS, many},
    {"PIVOT", SICONOS_LCP_PIVOT, many},
    {"BARD", SICONOS_LCP_BARD, many},
    {"MURTY", SICONOS_LCP_MURTY, many},
    {"PATHSEARCH", SICONOS_LCP_PATHSEARCH},
    {"CONVEXQP_PG", SICONOS_LCP_CONVEXQP_PG, many},
};
const std::vector<SiconosSolver> mixed{
    {"PGS", SICONOS_MLCP_PGS, many},
    {"RPGS", SICONOS_MLCP_RPGS, many},
    {"ENUM", SICONOS_MLCP_ENUM},
    {"DIRECT_ENUM", SICONOS_MLCP_DIRECT_ENUM},
    {"FB", SICONOS_MLCP_FB, 10000},
    {"DIRECT_FB", SICONOS_MLCP_DIRECT_FB, 10000},
    {"LCP_LEMKE", SICONOS_MLCP_LCP_LEMKE, many},
};
const std::vector<SiconosSolver> relay{
    {"PGS", SICONOS_RELAY_PGS, many},
    {"ENUM", SICONOS_RELAY_ENUM},
    {"LEMKE", SICONOS_RELAY_LEMKE, many},
    {"AVI", SICONOS_RELAY_AVI_CAOFERRIS, many},
};

std::vector<double> column_major(const Matrix& A) { return {A.data(), A.data() + A.size()}; }
std::vector<double> copy(const Vector& x) { return {x.data(), x.data() + x.size()}; }

/// The arrays to which the matrix form of Siconos points. Memory that Siconos allocates itself is freed when the
/// process ends.
struct Blocks {
    std::vector<double> values;
    std::vector<double*> block;
    std::vector<unsigned int> ends;
    std::vector<std::size_t> row_start, column;

    explicit Blocks(const BlockMatrix& W)
        : values(W.values.size()),
          row_start(W.row_start.begin(), W.row_start.end()),
          column(W.block_column.begin(), W.block_column.end()) {
        for (int b = 0; b < W.blocks(); ++b)
            ends.push_back(static_cast<unsigned int>(W.start[static_cast<std::size_t>(b) + 1]));
        for (int row = 0; row < W.blocks(); ++row)
            for (std::size_t e = row_start[static_cast<std::size_t>(row)];
                 e < row_start[static_cast<std::size_t>(row) + 1]; ++e)
                transpose(W, e, W.block_size(row), W.block_size(W.block_column[e]));
    }

    void transpose(const BlockMatrix& W, std::size_t e, int rows, int columns) {
        double* to = values.data() + W.offset[e];
        const double* from = W.values.data() + W.offset[e];
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
        block.push_back(to);
    }

    NumericsMatrix* matrix() {
        SparseBlockStructuredMatrix* m = SBM_new();
        m->nbblocks = static_cast<unsigned int>(block.size());
        m->block = block.data();
        m->blocknumber0 = m->blocknumber1 = static_cast<unsigned int>(ends.size());
        m->blocksize0 = m->blocksize1 = ends.data();
        m->filled1 = row_start.size();
        m->filled2 = column.size();
        m->index1_data = row_start.data();
        m->index2_data = column.data();
        const int rows = static_cast<int>(ends.back());
        return NM_create_from_data(NM_SPARSE_BLOCK, rows, rows, m);
    }
};

NumericsMatrix* dense(std::vector<double>& values, int rows, int columns) {
    return NM_create_from_data(NM_DENSE, rows, columns, values.data());
}

SolverOptions* options_of(const SiconosSolver& solver, double tolerance) {
    SolverOptions* options = solver_options_create(solver.id);
    options->dparam[SICONOS_DPARAM_TOL] = tolerance;
    if (solver.max_iterations > 0) options->iparam[SICONOS_IPARAM_MAX_ITER] = solver.max_iterations;
    if (solver.one_contact != 0) solver_options_update_internal(options, 0, solver.one_contact);
    if (solver.extragradient)
        options->iparam[SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY] = SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY_VI_EG_NSN;
    return options;
}

/// The common part of all forms: options, unknowns, and the status that the driver returns.
class SiconosTrial : public Trial {
public:
    SiconosTrial(const SiconosSolver& solver, double tolerance, std::size_t unknowns)
        : options_(options_of(solver, tolerance)), r_(unknowns, 0.0), v_(unknowns, 0.0) {
        numerics_set_verbose(0);
        if (openblas_set_num_threads) openblas_set_num_threads(1);
    }
    void run() override { status_ = drive(r_.data(), v_.data(), options_); }
    Answer answer() const override {
        return {r_, status_ == 0 ? siconos_success : "status " + std::to_string(status_)};
    }

protected:
    virtual int drive(double* r, double* v, SolverOptions* options) = 0;
    SolverOptions* options_;

private:
    std::vector<double> r_, v_;
    int status_ = 0;
};

bool sparse_blocks_suit(const FrictionProblem& p, const SiconosSolver& solver) {
    constexpr int few = 20;
    const bool takes_blocks = solver.id != SICONOS_FRICTION_2D_CPG && solver.id != SICONOS_FRICTION_2D_LEMKE &&
                              solver.id != SICONOS_FRICTION_2D_ENUM;
    const auto n = static_cast<std::size_t>(p.contacts());
    return takes_blocks && p.contacts() > few && 2 * p.W.block_column.size() < n * n;
}

class FrictionTrial : public SiconosTrial {
public:
    FrictionTrial(const FrictionProblem& p, int dimension, const SiconosSolver& solver, double tolerance)
        : SiconosTrial(solver, tolerance, p.q.size()), q_(p.q) {
        for (const auto& law : p.laws) mu_.push_back(law.mu), mu_rolling_.push_back(law.mu_rolling);
        NumericsMatrix* W = nullptr;
        if (sparse_blocks_suit(p, solver)) {
            blocks_ = std::make_unique<Blocks>(p.W);
            W = blocks_->matrix();
        } else {
            dense_ = column_major(solvers::to_dense(p.W));
            W = dense(dense_, p.W.rows(), p.W.rows());
        }
        friction_ = {dimension, p.contacts(), W, q_.data(), mu_.data()};
        rolling_ = {dimension, p.contacts(), W, q_.data(), mu_.data(), mu_rolling_.data()};
    }

protected:
    int drive(double* r, double* v, SolverOptions* options) override {
        if (friction_.dimension == 2) return fc2d_driver(&friction_, r, v, options);
        if (friction_.dimension == 3) return fc3d_driver(&friction_, r, v, options);
        return rolling_fc3d_driver(&rolling_, r, v, options);
    }

private:
    std::unique_ptr<Blocks> blocks_;
    std::vector<double> dense_, q_, mu_, mu_rolling_;
    FrictionContactProblem friction_{};
    RollingFrictionContactProblem rolling_{};
};

class LinearTrial : public SiconosTrial {
public:
    LinearTrial(const LinearComplementarity& p, const SiconosSolver& solver, double tolerance)
        : SiconosTrial(solver, tolerance, static_cast<std::size_t>(p.q.size())), M_(column_major(p.M)), q_(copy(p.q)) {
        const int n = static_cast<int>(p.q.size());
        problem_ = {n, dense(M_, n, n), q_.data()};
    }

protected:
    int drive(double* z, double* w, SolverOptions* options) override {
        return linearComplementarity_driver(&problem_, z, w, options);
    }

private:
    std::vector<double> M_, q_;
    LinearComplementarityProblem problem_{};
};

/// Both forms of the data, (M, q) and ([A C; D B], a, b): each solver reads one of them.
class MixedTrial : public SiconosTrial {
public:
    MixedTrial(const MixedComplementarity& p, const SiconosSolver& solver, double tolerance)
        : SiconosTrial(solver, tolerance, static_cast<std::size_t>(std::max(p.M.rows(), p.M.cols()))),
          columns_(static_cast<std::size_t>(p.M.cols())),
          M_(column_major(p.M)),
          q_(copy(p.q)) {
        const Eigen::Index equalities = std::count(p.free.begin(), p.free.end(), true);
        const Eigen::Index m = p.M.rows() - equalities, n = p.M.cols() - m;
        A_ = column_major(p.M.topLeftCorner(equalities, n)), B_ = column_major(p.M.bottomRightCorner(m, m));
        C_ = column_major(p.M.topRightCorner(equalities, m)), D_ = column_major(p.M.bottomLeftCorner(m, n));
        a_ = copy(p.q.head(equalities)), b_ = copy(p.q.tail(m));
        const int free = static_cast<int>(n), all = static_cast<int>(n + m);
        rows_ = {0, free, all};
        problem_.isStorageType1 = problem_.isStorageType2 = 1;
        problem_.n = free, problem_.m = static_cast<int>(m);
        problem_.blocksRows = rows_.data(), problem_.blocksIsComp = complementarity_.data();
        problem_.M = dense(M_, static_cast<int>(p.M.rows()), all), problem_.q = q_.data();
        problem_.A = A_.data(), problem_.B = B_.data(), problem_.C = C_.data(), problem_.D = D_.data();
        problem_.a = a_.data(), problem_.b = b_.data();
        mlcp_driver_init(&problem_, options_);
    }
    Answer answer() const override {
        Answer all = SiconosTrial::answer();
        all.r.resize(columns_);
        return all;
    }

protected:
    int drive(double* z, double* w, SolverOptions* options) override { return mlcp_driver(&problem_, z, w, options); }

private:
    std::size_t columns_;
    std::vector<double> M_, q_, A_, B_, C_, D_, a_, b_;
    std::vector<int> rows_, complementarity_{0, 1};
    MixedLinearComplementarityProblem problem_{};
};

class RelayTrial : public SiconosTrial {
public:
    RelayTrial(const solvers::Relay& p, const SiconosSolver& solver, double tolerance)
        : SiconosTrial(solver, tolerance, static_cast<std::size_t>(p.q.size())),
          M_(column_major(p.M)),
          q_(copy(p.q)),
          lower_(copy(p.lower)),
          upper_(copy(p.upper)) {
        const int n = static_cast<int>(p.q.size());
        problem_ = {n, dense(M_, n, n), q_.data(), lower_.data(), upper_.data()};
    }

protected:
    int drive(double* z, double* w, SolverOptions* options) override { return relay_driver(&problem_, z, w, options); }

private:
    std::vector<double> M_, q_, lower_, upper_;
    RelayProblem problem_{};
};

std::vector<SiconosSolver> friction_solvers(const io::ContactProblem& problem, const FrictionProblem& p) {
    const bool bilateral = std::any_of(p.laws.begin(), p.laws.end(),
                                       [](const solvers::Law& law) { return law.kind == LawKind::bilateral; });
    if (p.laws.empty() || bilateral) return {};
    return problem.dimension == 2 ? planar : problem.dimension == 3 ? spatial : rolling;
}

template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace

std::vector<SiconosSolver> siconos_solvers(const io::ContactProblem& problem) {
    using List = std::vector<SiconosSolver>;
    return std::visit(Overloaded{[&](const FrictionProblem& p) { return friction_solvers(problem, p); },
                                 [](const LinearComplementarity& p) { return p.q.size() > 0 ? linear : List{}; },
                                 [](const MixedComplementarity& p) {
                                     const bool free_first =
                                         std::is_partitioned(p.free.begin(), p.free.end(), [](bool f) { return f; });
                                     return p.M.cols() > 0 && free_first ? mixed : List{};
                                 },
                                 [](const solvers::Relay& p) { return p.q.size() > 0 ? relay : List{}; }},
                      problem.problem);
}

std::unique_ptr<Trial> siconos_trial(const io::ContactProblem& problem, const SiconosSolver& solver, double tolerance) {
    using Made = std::unique_ptr<Trial>;
    return std::visit(
        Overloaded{
            [&](const FrictionProblem& p) -> Made {
                return std::make_unique<FrictionTrial>(p, problem.dimension, solver, tolerance);
            },
            [&](const LinearComplementarity& p) -> Made { return std::make_unique<LinearTrial>(p, solver, tolerance); },
            [&](const MixedComplementarity& p) -> Made { return std::make_unique<MixedTrial>(p, solver, tolerance); },
            [&](const solvers::Relay& p) -> Made { return std::make_unique<RelayTrial>(p, solver, tolerance); }},
        problem.problem);
}

}  // namespace saltus::bench
