// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/mode/sparse_stages.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <optional>

#include "saltus/base/decompositions.hpp"
#include "saltus/base/index.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/solvers/linear/block_lu.hpp"

namespace saltus::integrate {

namespace {

constexpr int block_size = 3;  // coordinates of one block of B: a point in space

/// Largest number of multiplications for the small matrix Q B⁻¹F, (rows)² · (coordinates). Beyond it steps with dense
/// rows cost more than short explicit steps. A wrong value costs time only.
constexpr double max_border_work = 1e8;
/// Largest number of numbers in the dense rows that following forces are differentiated by.
constexpr double max_gathered_numbers = 2e7;
/// The factors are used if a solution with them satisfies its equations to this part of their terms. Newton's iteration
/// converges with a factor of about this size then. Pivots are chosen inside blocks only, so that larger errors are
/// possible. Too large: slow iterations. Too small: steps are shortened without need.
constexpr double accurate_solution = 1e-5;

template <class Scalar>
using VectorOf = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
template <class Scalar>
using MatrixOf = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

// A complex system is the real one of twice the size for real and imaginary parts. Both have the same solution of least
// norm.
const Matrix& real_form(const Matrix& A) { return A; }
const Vector& real_form(const Vector& b) { return b; }
Matrix real_form(const Eigen::MatrixXcd& A) {
    Matrix whole(2 * A.rows(), 2 * A.cols());
    whole << A.real(), -A.imag(), A.imag(), A.real();
    return whole;
}
Vector real_form(const Eigen::VectorXcd& b) {
    Vector whole(2 * b.size());
    whole << b.real(), b.imag();
    return whole;
}
void from_real_form(const Vector& x, Vector& out) { out = x; }
void from_real_form(const Vector& x, Eigen::VectorXcd& out) {
    const Eigen::Index n = x.size() / 2;
    out.resize(n);
    out.real() = x.head(n);
    out.imag() = x.tail(n);
}

}  // namespace

/// The factors for one shift.
template <class Scalar>
struct SparseStages::Factors {
    Scalar shift{};
    solvers::BasicBlockLU<Scalar> lu;
    MatrixOf<Scalar> columns;  // B⁻¹ times the forces of the border
    MatrixOf<Scalar> rows;     // Q transposed
    Eigen::PartialPivLU<MatrixOf<Scalar>> border;
    std::optional<OrthogonalDecomposition> redundant_border;  // instead of `border`, if equations depend on others
    VectorOf<Scalar> unknown, right, border_unknown, border_right, image;
};

SparseStages::SparseStages(Dynamics& dynamics, Linearised& linearised)
    : d_(dynamics),
      linearised_(linearised),
      n_(dynamics.size()),
      real_(std::make_unique<Factors<double>>()),
      pair_scratch_(ix(dynamics.state_size())) {}

SparseStages::~SparseStages() = default;

bool SparseStages::serves_mode() {
    if (!linearised_.available()) return false;
    if (!analysed_) analyse();
    if (!possible_) return false;
    const auto rows = static_cast<double>(d_.equation_rows().size() + linearised_.following_rows());
    return rows * rows * n_ <= max_border_work && linearised_.gathered_numbers() <= max_gathered_numbers;
}

/// Finds where the entries of M, R_q and R_u go in B, and the order of elimination. Columns of R are [t, q, u].
void SparseStages::analyse() {
    analysed_ = true;
    pattern_ = &linearised_.residual_pattern();
    const auto each = [&](auto action) {
        const model::Pattern& M = d_.model().layout().mass;
        for (int i = 0; i < M.rows; ++i)
            for (int e = M.start[ix(i)]; e < M.start[ix(i) + 1]; ++e) {
                action(i, M.column[ix(e)], e, Part::M);
                if (M.column[ix(e)] != i) action(M.column[ix(e)], i, e, Part::M);
            }
        for (int i = 0; i < pattern_->rows; ++i)
            for (int e = pattern_->start[ix(i)]; e < pattern_->start[ix(i) + 1]; ++e) {
                const int column = pattern_->column[ix(e)] - 1;
                if (column >= 0 && column < n_) action(i, column, e, Part::by_q);
                if (column >= n_ && column < 2 * n_) action(i, column - n_, e, Part::by_u);
            }
    };
    std::vector<int> sizes((ix(n_) + block_size - 1) / block_size, block_size);
    if (n_ % block_size != 0) sizes.back() = n_ % block_size;
    std::vector<solvers::BlockMatrix::Triplet> entries;
    each([&](int i, int j, int, Part) { entries.push_back({i, j, 1.0}); });
    pattern_of_B_ = solvers::BlockMatrix::from_triplets(entries, sizes);
    each([&](int i, int j, int from, Part part) {
        const int entry = pattern_of_B_.find(i / block_size, j / block_size);
        places_.push_back({from, entry, i % block_size, j % block_size, part});
    });
    possible_ = real_->lu.analyse(pattern_of_B_, {});
}

ode::StepStatus SparseStages::linearise(double t, const double* x) {
    if (!linearised_.prepare(t, x)) return ode::StepStatus::failed;
    return adopt_prepared();
}

ode::StepStatus SparseStages::adopt_prepared() {
    const std::span<const double> values = linearised_.residual_values();
    residual_.assign(values.begin(), values.end());
    mass_.assign(d_.terms().M.begin(), d_.terms().M.end());
    collect_border();
    const bool finite = std::all_of(residual_.begin(), residual_.end(), [](double v) { return std::isfinite(v); }) &&
                        force_.allFinite() && by_acceleration_.allFinite() && by_u_.allFinite() && by_q_.allFinite();
    return finite ? ode::StepStatus::accepted : ode::StepStatus::non_finite;
}

void SparseStages::collect_border() {
    const std::vector<int>& rows = d_.equation_rows();
    const std::vector<Linearised::Following>& following = linearised_.following();
    equations_ = static_cast<Eigen::Index>(rows.size());
    const auto all = equations_ + static_cast<Eigen::Index>(following.size());
    for (Matrix* m : {&force_, &by_acceleration_, &by_u_, &by_q_}) m->setZero(n_, all);
    const model::Pattern& W = d_.model().layout().rows;
    const auto scatter = [&](int row, auto&& column) {
        for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e) column(W.column[ix(e)]) = d_.terms().W[ix(e)];
    };
    for (Eigen::Index k = 0; k < equations_; ++k) {
        const int row = rows[static_cast<std::size_t>(k)];
        d_.force_column(static_cast<int>(k), {force_.col(k).data(), ix(n_)});
        scatter(row, by_acceleration_.col(k));
        linearised_.acceleration_row(row, {by_q_.col(k).data(), ix(n_)}, {by_u_.col(k).data(), ix(n_)});
    }
    for (Eigen::Index k = equations_; k < all; ++k) {
        const Linearised::Following& f = following[static_cast<std::size_t>(k - equations_)];
        scatter(f.row, force_.col(k));
        by_q_.col(k) = f.change.segment(1, n_).transpose();
        by_u_.col(k) = f.change.segment(1 + n_, n_).transpose();
    }
}

bool SparseStages::factorise(double real, std::span<const std::complex<double>> pairs) {
    if (!factorise(*real_, real)) return false;
    while (pairs_.size() < pairs.size()) {
        pairs_.push_back(std::make_unique<Factors<std::complex<double>>>());
        if (!pairs_.back()->lu.analyse(pattern_of_B_, {})) return false;
    }
    for (std::size_t k = 0; k < pairs.size(); ++k)
        if (!factorise(*pairs_[k], pairs[k])) return false;
    return true;
}

template <class Scalar>
void SparseStages::fill(Factors<Scalar>& f) const {
    f.lu.clear();
    const Scalar inverse = 1.0 / f.shift;
    for (const Place& p : places_) {
        const Scalar value = p.part == Part::M      ? f.shift * mass_[ix(p.from)]
                             : p.part == Part::by_q ? -inverse * residual_[ix(p.from)]
                                                    : Scalar(-residual_[ix(p.from)]);
        const auto view = f.lu.at_entry(p.entry);
        view.data[p.i * view.stride + p.j] += value;
    }
}

/// x ← B⁻¹x
template <class Scalar>
void SparseStages::solve_block(Factors<Scalar>& f, Scalar* x) const {
    f.lu.solve({x, ix(n_)}, {x, ix(n_)});
}

template <class Scalar>
bool SparseStages::factorise(Factors<Scalar>& f, Scalar shift) {
    f.shift = shift;
    fill(f);
    if (!f.lu.factorise()) return false;
    f.rows = shift * by_acceleration_.cast<Scalar>() + by_u_.cast<Scalar>() + by_q_.cast<Scalar>() / shift;
    f.columns = force_.cast<Scalar>();
    for (Eigen::Index k = 0; k < f.columns.cols(); ++k) solve_block(f, f.columns.col(k).data());
    if (f.columns.cols() > 0) {
        MatrixOf<Scalar> small = f.rows.transpose() * f.columns;
        for (Eigen::Index k = equations_; k < small.cols(); ++k) small(k, k) -= 1.0;
        f.redundant_border.reset();
        if (d_.redundant())  // dependent equations: the multipliers of least norm
            f.redundant_border.emplace(real_form(small), d_.redundancy() * d_.redundancy());
        else
            f.border.compute(small);
    }
    return accurate(f);
}

/// Whether B is solved accurately, for a right-hand side without symmetry: multiples of the golden ratio.
template <class Scalar>
bool SparseStages::accurate(Factors<Scalar>& f) {
    constexpr double golden_ratio = 0.6180339887498949;
    f.right.resize(n_);
    double x = 0.0;
    for (Eigen::Index i = 0; i < n_; ++i) {
        x = std::fmod(x + golden_ratio, 1.0);
        f.right(i) = x - 0.5;
    }
    f.unknown = f.right;
    solve_block(f, f.unknown.data());
    // image = right − B unknown
    f.image = f.right;
    const model::Pattern& M = d_.model().layout().mass;
    for (int i = 0; i < M.rows; ++i)
        for (int e = M.start[ix(i)]; e < M.start[ix(i) + 1]; ++e) {
            const int j = M.column[ix(e)];
            const Scalar value = f.shift * mass_[ix(e)];
            f.image(i) -= value * f.unknown(j);
            if (j != i) f.image(j) -= value * f.unknown(i);
        }
    const Scalar inverse = 1.0 / f.shift;
    for (int i = 0; i < pattern_->rows; ++i)
        for (int e = pattern_->start[ix(i)]; e < pattern_->start[ix(i) + 1]; ++e) {
            const int column = pattern_->column[ix(e)] - 1;
            if (column >= 0 && column < n_)
                f.image(i) += inverse * residual_[ix(e)] * f.unknown(column);
            else if (column >= n_ && column < 2 * n_)
                f.image(i) += residual_[ix(e)] * f.unknown(column - n_);
        }
    return f.image.cwiseAbs().maxCoeff() <= accurate_solution * f.right.cwiseAbs().maxCoeff();
}

/// right = M r_u
template <class Scalar>
void SparseStages::set_mass_times(std::span<const Scalar> r_u, Factors<Scalar>& f) const {
    f.right.setZero(n_);
    const model::Pattern& M = d_.model().layout().mass;
    for (int i = 0; i < M.rows; ++i)
        for (int e = M.start[ix(i)]; e < M.start[ix(i) + 1]; ++e) {
            const int j = M.column[ix(e)];
            f.right(i) += mass_[ix(e)] * r_u[ix(j)];
            if (j != i) f.right(j) += mass_[ix(e)] * r_u[ix(i)];
        }
}

/// right = M r_u + R_q r_q/s and border_right = A r_u − C_q r_q/s, the latter also for the forces that follow.
template <class Scalar>
void SparseStages::right_side(Factors<Scalar>& f, std::span<const Scalar> r) {
    const Eigen::Map<const VectorOf<Scalar>> r_q(r.data(), n_), r_u(r.data() + n_, n_);
    set_mass_times(r.subspan(ix(n_), ix(n_)), f);
    const Scalar inverse = 1.0 / f.shift;
    for (int i = 0; i < pattern_->rows; ++i) {
        Scalar sum{};
        for (int e = pattern_->start[ix(i)]; e < pattern_->start[ix(i) + 1]; ++e)
            if (const int column = pattern_->column[ix(e)] - 1; column >= 0 && column < n_)
                sum += residual_[ix(e)] * r_q(column);
        f.right(i) += inverse * sum;
    }
    f.border_right.noalias() = by_acceleration_.transpose() * r_u;
    f.border_right.noalias() -= inverse * (by_q_.transpose() * r_q);
}

template <class Scalar>
void SparseStages::solve_border(Factors<Scalar>& f) {
    if (f.columns.cols() == 0) return;
    f.border_right.noalias() -= f.rows.transpose() * f.unknown;
    if (f.redundant_border)
        from_real_form(f.redundant_border->solve(real_form(f.border_right)), f.border_unknown);
    else
        f.border_unknown = f.border.solve(f.border_right);
    f.unknown.noalias() += f.columns * f.border_unknown;
}

template <class Scalar>
void SparseStages::solve(Factors<Scalar>& f, std::span<Scalar> r) {
    right_side(f, std::span<const Scalar>(r));
    f.unknown = f.right;
    solve_block(f, f.unknown.data());
    solve_border(f);
    const Scalar inverse = 1.0 / f.shift;
    for (int i = 0; i < n_; ++i) {
        r[ix(i)] = inverse * (f.unknown(i) + r[ix(i)]);
        r[ix(n_ + i)] = f.unknown(i);
    }
    r[ix(2 * n_)] *= inverse;
}

/// With r_q = 0 the right-hand sides are M r_u and A r_u.
template <class Scalar>
void SparseStages::solve_velocity(Factors<Scalar>& f, std::span<Scalar> r) {
    set_mass_times(std::span<const Scalar>(r), f);
    const Eigen::Map<const VectorOf<Scalar>> r_u(r.data(), n_);
    f.border_right.noalias() = by_acceleration_.transpose() * r_u;
    f.unknown = f.right;
    solve_block(f, f.unknown.data());
    solve_border(f);
    std::copy_n(f.unknown.data(), n_, r.data());
}

void SparseStages::solve(std::span<double> r) { solve(*real_, r); }

void SparseStages::solve_velocity(std::span<double> r) { solve_velocity(*real_, r); }

void SparseStages::solve_velocity_pair(std::size_t pair, std::span<double> re, std::span<double> im) {
    const std::span<std::complex<double>> r = std::span<std::complex<double>>(pair_scratch_).first(ix(n_));
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = {re[i], im[i]};
    solve_velocity(*pairs_[pair], r);
    for (std::size_t i = 0; i < r.size(); ++i) {
        re[i] = r[i].real();
        im[i] = r[i].imag();
    }
}

void SparseStages::solve_pair(std::size_t pair, std::span<double> re, std::span<double> im) {
    for (std::size_t i = 0; i < re.size(); ++i) pair_scratch_[i] = {re[i], im[i]};
    solve(*pairs_[pair], std::span<std::complex<double>>(pair_scratch_));
    for (std::size_t i = 0; i < re.size(); ++i) {
        re[i] = pair_scratch_[i].real();
        im[i] = pair_scratch_[i].imag();
    }
}

}  // namespace saltus::integrate
