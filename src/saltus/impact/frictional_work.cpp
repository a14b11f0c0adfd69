// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/frictional_work.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "saltus/base/error.hpp"
#include "saltus/solvers/cone_program.hpp"
#include "saltus/solvers/least_distance.hpp"

namespace saltus::impact {

namespace {

using Eigen::Index;
using solvers::Law;
using solvers::LawKind;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double solved_to = 1e-8;  // what cone programs are accepted with

enum class RowKind { normal, tangential, bilateral };

RowKind kind_of(const Law& law, int row_of_block) {
    switch (law.kind) {
        case LawKind::bilateral: return RowKind::bilateral;
        case LawKind::slider:
        case LawKind::scaled_slider: return RowKind::tangential;
        default: return row_of_block == 0 ? RowKind::normal : RowKind::tangential;
    }
}

template <class Function>
void each_block(const FrictionalCollision& c, Function function) {
    Index row = 0;
    for (std::size_t k = 0; k < c.laws.size(); ++k) {
        function(k, row);
        row += c.sizes[k];
    }
}

std::string name_of(const FrictionalCollision& c, std::size_t block) {
    return block < c.names.size() ? c.names[block] : "contact " + std::to_string(block + 1);
}

Vector relative_velocities(const FrictionalCollision& c, const Vector& u) {
    Vector gamma = c.directions.transpose() * u;
    if (c.chi.size() > 0) gamma += c.chi;
    return gamma;
}

/// The cones of the laws as second-order cones over columns of their own: x = column · factor for each row that has
/// one. A part of a law with its own bound on the same normal row gets a copy of that row, tied to it by an equation.
class ConeForm {
public:
    explicit ConeForm(const FrictionalCollision& c) {
        each_block(c, [&](std::size_t k, Index row) { block(c.laws[k], c.sizes[k], row, name_of(c, k)); });
    }

    struct Column {
        Index row = -1;       ///< of Λ, −1 for a copy or a fixed bound
        double factor = 1.0;  ///< Λ = factor · x
    };
    std::vector<Column> columns;
    std::vector<int> cones;
    struct Tie {
        Index first, second;  ///< columns that are equal, or `first` = value where second < 0
        double value = 0.0;
    };
    std::vector<Tie> ties;
    std::string refused;  ///< why a law is no cone of this kind

private:
    void block(const Law& law, int size, Index row, const std::string& name) {
        switch (law.kind) {
            case LawKind::bilateral: return;
            case LawKind::unilateral: return cone(row, {});
            case LawKind::friction2: return cone(row, {{row + 1, law.mu}});
            case LawKind::friction3:
                return cone(row, {{row + 1, law.mu}, {row + 2, law.mu_second >= 0.0 ? law.mu_second : law.mu}});
            case LawKind::drilling4:
                cone(row, {{row + 1, law.mu}, {row + 2, law.mu}});
                return copy({{row + 3, law.mu_drilling}});
            case LawKind::rolling5:
                cone(row, {{row + 1, law.mu}, {row + 2, law.mu}});
                return copy({{row + 3, law.mu_rolling}, {row + 4, law.mu_rolling}});
            case LawKind::rolling6: {
                cone(row, {{row + 1, law.mu}, {row + 2, law.mu}});
                const Index normal = first_;
                copy({{row + 3, law.mu_drilling}});
                first_ = normal;
                return copy({{row + 4, law.mu_rolling}, {row + 5, law.mu_rolling}});
            }
            case LawKind::slider: {
                if (!(law.bound > 0.0)) return;
                std::vector<std::pair<Index, double>> rows;
                for (int i = 0; i < size; ++i) rows.emplace_back(row + i, 1.0);
                cone(-1, rows);
                ties.push_back({first_, -1, law.bound});
                return;
            }
            case LawKind::contensou4:
                if (law.mu > 0.0)
                    refused = "the patch of " + name + " has no second-order cone";
                else
                    cone(row, {});
                return;
            case LawKind::scaled_slider:
                if (law.mu > 0.0)
                    refused = "the friction of " + name + " is bounded by the size of a bilateral reaction";
                return;
        }
    }

    void cone(Index normal, const std::vector<std::pair<Index, double>>& tangential) {
        first_ = static_cast<Index>(columns.size());
        columns.push_back({normal, 1.0});
        int size = 1;
        for (const auto& [row, mu] : tangential)
            if (mu > 0.0) {
                columns.push_back({row, mu});
                ++size;
            }
        cones.push_back(size);
    }
    void copy(const std::vector<std::pair<Index, double>>& tangential) {
        const Index normal = first_;
        cone(-1, tangential);
        ties.push_back({first_, normal, 0.0});
    }

    Index first_ = 0;
};

/// The collision in the kinetic metric, x = Lᵀu, less what the bilateral rows take up.
class Setting {
public:
    Setting(const FrictionalCollision& c, const ConeForm& form) : c_(c), form_(form), factors_(c.M) {
        if (factors_.info() != Eigen::Success) return;
        valid = true;
        L_ = factors_.matrixL();
        const auto lower = L_.triangularView<Eigen::Lower>();
        pi_ = c.impulse.size() == 0 ? Vector(Vector::Zero(c.M.rows())) : Vector(lower.solve(c.impulse));
        jump = L_.transpose() * (c.u_plus - c.u_minus) - pi_;
        noise =
            4096.0 * epsilon * ((L_.transpose() * c.u_plus).norm() + (L_.transpose() * c.u_minus).norm() + pi_.norm());
        A_ = c.directions.cols() == 0 ? Matrix(c.M.rows(), 0) : Matrix(lower.solve(c.directions));
        bilateral();
        reduce();
    }

    bool valid = false;
    Vector jump;               ///< Lᵀ(u⁺ − z⁻)
    double noise = 0.0;        ///< of lengths
    double unreachable = 0.0;  ///< part of the jump that no impulse can make
    double near_enough = 0.0;  ///< what impulses may miss the jump by
    solvers::ConeProgram program;

    const solvers::ProgramSolution& solve_for(double sign) {
        set_costs(sign);
        solution_ = solve(program);
        return solution_;
    }
    const solvers::ProgramSolution& last() const { return solution_; }

    bool reaches(const Vector& x) const { return (program.A * x - program.b).norm() <= near_enough; }

    void replace_impulse(const Vector& x) { program.b = program.A * x; }

    /// Some x in the cones that makes the impulse, as far as the simplex method finds one: without costs nothing runs
    /// off.
    Vector any() const {
        solvers::ConeProgram p = program;
        p.c.setZero();
        return solve(p, solvers::ExtremeRays{}).x;
    }

    /// The x in the cones whose impulse is nearest: with cones of two edges at most a least squares problem in their
    /// edges, else the program min t, A x + r = b, (t, r) in a cone.
    Vector nearest() const {
        const Index rank = Q_.cols(), rows = program.A.rows(), n = program.A.cols();
        if (std::all_of(program.cones.begin(), program.cones.end(), [](int size) { return size <= 2; }) &&
            form_.ties.empty())
            return nearest_of_edges();
        solvers::ConeProgram p;
        p.A = Matrix::Zero(rows, n + 1 + rank);
        p.A.leftCols(n) = program.A;
        p.A.block(0, n + 1, rank, rank).setIdentity();
        p.b = program.b;
        p.c = Vector::Unit(n + 1 + rank, n);
        p.cones = program.cones;
        p.cones.push_back(static_cast<int>(rank) + 1);
        return solve(p, solvers::InteriorPoint{}).x.head(n);
    }

    Vector impulses(const Vector& x) const {
        Vector Lambda = Vector::Zero(c_.directions.cols());
        for (std::size_t j = 0; j < form_.columns.size(); ++j)
            if (const ConeForm::Column& column = form_.columns[j]; column.row >= 0)
                Lambda(column.row) = column.factor * scale_(static_cast<Index>(j)) * x(static_cast<Index>(j));
        if (!bilateral_rows_.empty()) {
            const Vector held = least_squares(B_, jump - A_ * Lambda);
            for (std::size_t i = 0; i < bilateral_rows_.size(); ++i)
                Lambda(bilateral_rows_[i]) = held(static_cast<Index>(i));
        }
        return Lambda;
    }

    /// b₀ of a dual point.
    Vector dual_velocity(const Vector& y, double sign) const {
        Vector x = 0.5 * (L_.transpose() * (c_.u_plus + c_.u_minus)) - sign * (Q_ * y.head(Q_.cols())) + 0.5 * pi_;
        if (!bilateral_rows_.empty()) x -= shift_;
        return L_.transpose().triangularView<Eigen::Upper>().solve(x);
    }

private:
    /// Costs of the least (sign 1) or greatest (−1) work.
    void set_costs(double sign) {
        Vector middle = 0.5 * (c_.u_plus + c_.u_minus);
        Vector gamma = relative_velocities(c_, middle);
        if (!bilateral_rows_.empty()) {
            // Λ_B follows from the others: its work turns γ at the middle velocity into γ at the middle velocity moved
            // onto the constraints.
            Vector missed(static_cast<Index>(bilateral_rows_.size()));
            for (Index i = 0; i < missed.size(); ++i) missed(i) = gamma(bilateral_rows_[static_cast<std::size_t>(i)]);
            shift_ = least_squares(B_.transpose(), missed);
            gamma -= A_.transpose() * shift_;
        }
        for (std::size_t j = 0; j < form_.columns.size(); ++j) {
            const ConeForm::Column& column = form_.columns[j];
            program.c(static_cast<Index>(j)) =
                column.row < 0 ? 0.0 : sign * gamma(column.row) * column.factor * scale_(static_cast<Index>(j));
        }
    }

    Vector nearest_of_edges() const {
        const Index n = program.A.cols();
        std::vector<Vector> edges;
        Index at = 0;
        for (const int size : program.cones) {
            for (const double sign : {1.0, -1.0}) {
                Vector edge = Vector::Unit(n, at);
                if (size == 2) edge(at + 1) = sign;
                if (size == 2 || sign > 0.0) edges.push_back(edge);
            }
            at += size;
        }
        Matrix E(n, static_cast<Index>(edges.size()));
        for (Index j = 0; j < E.cols(); ++j) E.col(j) = edges[static_cast<std::size_t>(j)];
        return E * solvers::nonnegative_least_squares(program.A * E, program.b).x;
    }

    void bilateral() {
        each_block(c_, [&](std::size_t k, Index row) {
            if (c_.laws[k].kind == LawKind::bilateral)
                for (int i = 0; i < c_.sizes[k]; ++i) bilateral_rows_.push_back(row + i);
        });
        B_.resize(A_.rows(), static_cast<Index>(bilateral_rows_.size()));
        for (Index i = 0; i < B_.cols(); ++i) B_.col(i) = A_.col(bilateral_rows_[static_cast<std::size_t>(i)]);
    }

    static Matrix span_of(Matrix columns) {
        for (Index j = 0; j < columns.cols(); ++j)
            if (const double length = columns.col(j).norm(); length > 0.0) columns.col(j) /= length;
        if (columns.cols() == 0 || columns.rows() == 0 || columns.isZero(0.0)) return Matrix(columns.rows(), 0);
        Eigen::ColPivHouseholderQR<Matrix> qr(columns.rows(), columns.cols());
        qr.setThreshold(1e-10);
        qr.compute(columns);
        return qr.householderQ() * Matrix::Identity(columns.rows(), qr.rank());
    }

    /// Rows for the directions in which contact impulses act, and for the ties.
    void reduce() {
        const Matrix held = span_of(B_);
        const auto n = static_cast<Index>(form_.columns.size());
        Matrix columns = Matrix::Zero(A_.rows(), n);
        for (Index j = 0; j < n; ++j) {
            const ConeForm::Column& column = form_.columns[static_cast<std::size_t>(j)];
            if (column.row >= 0) columns.col(j) = column.factor * A_.col(column.row);
        }
        for (int pass = 0; pass < 2; ++pass) columns -= held * (held.transpose() * columns).eval();
        Q_ = span_of(columns);
        Vector rest = jump - Q_ * (Q_.transpose() * jump).eval();
        rest -= held * (held.transpose() * rest).eval();
        unreachable = rest.norm();
        const Index rank = Q_.cols(), ties = static_cast<Index>(form_.ties.size());
        program.cones = form_.cones;
        program.A = Matrix::Zero(rank + ties, n);
        program.A.topRows(rank) = Q_.transpose() * columns;
        program.b = Vector::Zero(rank + ties);
        program.b.head(rank) = Q_.transpose() * jump;
        program.c = Vector::Zero(n);
        // One factor a cone, so that its columns have length about 1: a cone stays a cone.
        scale_ = Vector::Ones(n);
        Index at = 0;
        for (const int size : form_.cones) {
            const double length = program.A.block(0, at, rank, size).colwise().norm().maxCoeff();
            if (length > 0.0) scale_.segment(at, size).setConstant(1.0 / length);
            at += size;
        }
        program.A = program.A * scale_.asDiagonal();
        for (Index k = 0; k < ties; ++k) {
            const ConeForm::Tie& tie = form_.ties[static_cast<std::size_t>(k)];
            const double first = scale_(tie.first);
            if (tie.second < 0) {
                program.A(rank + k, tie.first) = 1.0;
                program.b(rank + k) = tie.value / first;
                continue;
            }
            const double second = scale_(tie.second), size = std::max(first, second);
            program.A(rank + k, tie.first) = first / size;
            program.A(rank + k, tie.second) = -second / size;
        }
    }

    const FrictionalCollision& c_;
    const ConeForm& form_;
    Eigen::LLT<Matrix> factors_;
    Matrix L_, A_, B_, Q_;
    Vector pi_, scale_, shift_;
    std::vector<Index> bilateral_rows_;
    solvers::ProgramSolution solution_;
};

Audit::Kinematic kinematics(const FrictionalCollision& c, const Vector& gamma_plus, double tolerance) {
    Audit::Kinematic k;
    k.slack = k.relative = Vector::Constant(gamma_plus.size(), infinity);
    Vector terms = c.directions.cwiseAbs().transpose() * (c.u_plus.cwiseAbs() + c.u_minus.cwiseAbs());
    if (c.chi.size() > 0) terms += c.chi.cwiseAbs();
    each_block(c, [&](std::size_t block, Index row) {
        for (int i = 0; i < c.sizes[block]; ++i) {
            const RowKind kind = kind_of(c.laws[block], i);
            if (kind == RowKind::tangential) continue;
            const double gamma = gamma_plus(row + i);
            k.slack(row + i) = kind == RowKind::normal ? gamma : -std::abs(gamma);
            k.relative(row + i) = terms(row + i) > 0.0 ? k.slack(row + i) / terms(row + i) : k.slack(row + i);
            if (k.worst < 0 || k.relative(row + i) < k.relative(k.worst)) k.worst = static_cast<int>(row + i);
        }
    });
    k.holds = k.worst < 0 || k.relative(k.worst) >= -tolerance;
    return k;
}

FrictionalEnd no_end(const FrictionalCollision& c, std::string why) {
    FrictionalEnd end;
    end.work = end.bound = end.gap = end.residual = nan;
    end.Lambda = Vector::Constant(c.directions.cols(), nan);
    end.b = Vector::Constant(c.M.rows(), nan);
    end.why = std::move(why);
    return end;
}

FrictionalEnd end_of_interval(const FrictionalCollision& c, Setting& setting, double sign) {
    const solvers::ProgramSolution& s = setting.solve_for(sign);
    FrictionalEnd end;
    end.Lambda = setting.impulses(s.x);
    end.parts = work_parts(c, end.Lambda);
    end.work = end.parts.total();
    end.b = setting.dual_velocity(s.y, sign);
    end.bound = end.work + sign * (s.dual_value - s.value);
    end.gap = s.gap;
    end.residual = std::max(s.primal_residual, s.dual_residual);
    if (s.status == solvers::ProgramStatus::unbounded) {
        end.work = end.bound = -sign * infinity;
        end.why = sign > 0.0 ? "the contacts can press against each other so that they take any amount of work"
                             : "the contacts can press against each other so that they do any amount of work";
        end.b = Vector::Constant(c.M.rows(), nan);
    } else if (!setting.reaches(s.x)) {
        end.work = end.bound = nan;
        end.why = "the program ran off to impulses that hold each other without end";
    } else if (!usable(s.status)) {
        end.why = fmt::format("the program stopped at a gap of {:.2g} and a residual of {:.2g}", end.gap, end.residual);
    }
    return end;
}

/// Whether the programs of the work have a feasible point, which they find themselves where it is not the edge of the
/// cones that u⁺ lies on: else the nearest impulse decides, and takes the place of the impulse when it is near enough.
void kinetics(const FrictionalCollision& c, Setting& setting, double tolerance, FrictionalAudit& a) {
    a.kinetic.impulse = setting.jump.norm();
    const double enough = setting.near_enough = std::max(tolerance, solved_to) * a.kinetic.impulse + setting.noise;
    a.least = end_of_interval(c, setting, 1.0);
    Vector x = setting.last().x;
    const bool found = usable(setting.last().status) && setting.reaches(x);
    const auto missed = [&](const Vector& z) { return (setting.program.A * z - setting.program.b).norm(); };
    if (!found) {
        if (const Vector other = setting.any(); missed(other) < missed(x)) x = other;
        if (missed(x) > enough)
            if (const Vector other = setting.nearest(); missed(other) < missed(x)) x = other;
    }
    a.kinetic.distance = std::hypot(setting.unreachable, missed(x));
    a.kinetic.Lambda = setting.impulses(x);
    a.kinetic.holds = a.kinetic.distance <= enough;
    if (!a.kinetic.holds || found || setting.last().status == solvers::ProgramStatus::unbounded) return;
    setting.replace_impulse(x);
    a.least = end_of_interval(c, setting, 1.0);
}

Verdict verdict_of(const FrictionalAudit& a, double alpha, double tolerance) {
    if (!a.kinematic.holds) return Verdict::into_obstacle;
    if (!a.kinetic.holds) return Verdict::not_by_contacts;
    const auto noise = [&](const FrictionalEnd& end) {
        const Vector sizes = 0.5 * (a.gamma_plus.cwiseAbs() + a.gamma_minus.cwiseAbs());
        return std::max(tolerance, end.gap + end.residual) * sizes.dot(end.Lambda.cwiseAbs());
    };
    if (!(a.least.work <= alpha + noise(a.least)))
        return a.least.bound > alpha ? Verdict::supplies_energy : Verdict::undecided;
    return a.greatest.bound <= alpha + noise(a.greatest) ? Verdict::dissipates : Verdict::may_dissipate;
}

std::string sentence_of(const FrictionalCollision& c, const FrictionalAudit& a, double alpha) {
    const std::string interval =
        fmt::format("the contact work, friction included, is between {:.6g} and {:.6g}", a.least.work, a.greatest.work);
    switch (a.verdict) {
        case Verdict::dissipates: return fmt::format("consistent: {}, no more than {:.6g}", interval, alpha);
        case Verdict::may_dissipate:
            return fmt::format("consistent: {}; some impulses that lead to u+ do no more than {:.6g}, not all",
                               interval, alpha);
        case Verdict::supplies_energy: return fmt::format("not consistent: {}, more than {:.6g}", interval, alpha);
        case Verdict::into_obstacle: {
            std::string name;
            each_block(c, [&](std::size_t k, Index row) {
                if (row <= a.kinematic.worst && a.kinematic.worst < row + c.sizes[k]) name = name_of(c, k);
            });
            return fmt::format("not consistent: u+ goes into {} with the velocity {:.6g}", name,
                               a.kinematic.slack(a.kinematic.worst));
        }
        case Verdict::not_by_contacts:
            return fmt::format(
                "not consistent: no impulses in the friction cones lead to u+; the nearest ones miss it by "
                "{:.6g} in the M-norm, the whole impulse being {:.6g}",
                a.kinetic.distance, a.kinetic.impulse);
        case Verdict::undecided: return "undecided: " + a.least.why;
        case Verdict::invalid: break;
    }
    return {};
}

void expect_consistent_sizes(const FrictionalCollision& c) {
    const Index n = c.M.rows(), rows = c.directions.cols();
    SALTUS_EXPECT(c.M.cols() == n && c.u_minus.size() == n && c.u_plus.size() == n);
    SALTUS_EXPECT(c.directions.rows() == n || rows == 0);
    SALTUS_EXPECT(c.chi.size() == 0 || c.chi.size() == rows);
    SALTUS_EXPECT(c.impulse.size() == 0 || c.impulse.size() == n);
    SALTUS_EXPECT(c.sizes.size() == c.laws.size());
    SALTUS_EXPECT(std::accumulate(c.sizes.begin(), c.sizes.end(), Index{0}) == rows);
    for (std::size_t k = 0; k < c.laws.size(); ++k) {
        const int size = solvers::law_size(c.laws[k].kind);
        SALTUS_EXPECT(size == 0 || size == c.sizes[k]);
    }
}

}  // namespace

WorkParts work_parts(const FrictionalCollision& c, const Vector& Lambda) {
    SALTUS_EXPECT(Lambda.size() == c.directions.cols());
    const Vector gamma = relative_velocities(c, 0.5 * (c.u_plus + c.u_minus));
    WorkParts parts;
    each_block(c, [&](std::size_t k, Index row) {
        for (int i = 0; i < c.sizes[k]; ++i) {
            const double work = gamma(row + i) * Lambda(row + i);
            switch (kind_of(c.laws[k], i)) {
                case RowKind::normal: parts.normal += work; break;
                case RowKind::tangential: parts.tangential += work; break;
                case RowKind::bilateral: parts.bilateral += work; break;
            }
        }
    });
    return parts;
}

FrictionalAudit audit(const FrictionalCollision& c, const AuditOptions& options) {
    expect_consistent_sizes(c);
    FrictionalAudit a;
    a.least = a.greatest = no_end(c, "no impulses in the friction cones lead to this u+");
    const bool finite = c.M.allFinite() && c.directions.allFinite() && c.chi.allFinite() && c.u_minus.allFinite() &&
                        c.u_plus.allFinite() && c.impulse.allFinite();
    const ConeForm form(c);
    if (!finite || !form.refused.empty()) {
        a.sentence = finite ? form.refused : "the collision holds a number that is not finite";
        a.least.why = a.greatest.why = a.sentence;
        return a;
    }
    Setting setting(c, form);
    if (!setting.valid) {
        a.sentence = a.least.why = a.greatest.why = "the mass matrix is not positive definite";
        return a;
    }
    a.gamma_minus = relative_velocities(c, c.u_minus);
    a.gamma_plus = relative_velocities(c, c.u_plus);
    a.energy_change = 0.5 * (c.u_plus - c.u_minus).dot(c.M.selfadjointView<Eigen::Lower>() * (c.u_plus + c.u_minus));
    if (c.impulse.size() > 0) a.external_work = 0.5 * (c.u_plus + c.u_minus).dot(c.impulse);
    a.kinematic = kinematics(c, a.gamma_plus, options.tolerance);
    kinetics(c, setting, options.tolerance, a);
    if (a.kinetic.holds)
        a.greatest = end_of_interval(c, setting, -1.0);
    else
        a.least = a.greatest;
    a.verdict = verdict_of(a, options.alpha, options.tolerance);
    a.sentence = sentence_of(c, a, options.alpha);
    return a;
}

}  // namespace saltus::impact
