// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/equilibrium_program.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/numbers.hpp"
#include "saltus/solvers/program/linear_program.hpp"

namespace saltus::stability {

namespace {

using solvers::LinearProgram;
using solvers::ProgramStatus;
using trajectory::ElementKind;

/// A corner is added only if its gain exceeds this part of its own product ⟨corner, pull⟩: below it is rounding.
constexpr double negligible_corner_gain = 1e-14;
/// ... and this part of ‖y‖·‖column‖, the size of the terms of which the pull is a sum.
constexpr double negligible_gain_of_terms = 1e-13;
/// A linear program that stalls counts as optimal if its worst relative residual is at most this.
constexpr double stalled_residual = 1e-8;

/// Column generation over the corners e_j of a curved body C. A force in the cone { (λ_N, λ_T) : λ_T ∈ λ_N C } is a sum
/// of rays: (λ_N, λ_T) = Σ w_j (1, e_j), w_j >= 0. With the dual point y of the balance A x + Bλ = b the reduced cost
/// of the ray j is
///     c_j = c_N + c_T·e_j − yᵀ(B_N + B_T e_j) = (c_N − B_Nᵀy) − ⟨e_j, pull⟩,     pull = B_Tᵀy − c_T.
/// The ray with the least reduced cost is therefore the point of C that is furthest along the pull, and the program
/// over all of C is solved when that point gains nothing over the corners present. For an infeasible program the same
/// holds with the certificate in the place of y and cost 0.
///
/// The margin t moves the apex of each cone to t f n: λ = t f n + Σ w_j (1, e_j). It is one more column, Σ f n B.

/// Contribution of one unknown weight w to one force: λ += factor · w.
struct Entry {
    int lambda;
    double factor;
};
/// A column of the linear program: one weight w >= lower.
struct Column {
    std::vector<Entry> entries;
    int element = -1;
    double lower = 0.0;
    double load = 1.0;  ///< normal load of the weight w = 1; used for sliders
};

/// The linear program over the present corners. Its unknowns are [x, t, slacks of C x >= d, slacks of the sliders'
/// loads, weights of the columns], its rows [balance, C x >= d, loads of the sliders].
class CornerProgram {
public:
    CornerProgram(const ForceProgram& p, const ForceCost& cost, ForceCorners& corners)
        : p_(p), cost_(cost), corners_(corners) {
        balance_ = p.b.size();
        unknowns_ = p.A.cols();
        inequalities_ = p.C.rows();
        const auto count = p.elements->size();
        load_row_.assign(count, -1);
        int sliders = 0;
        for (std::size_t k = 0; k < count; ++k)
            if ((*p.elements)[k].kind == ElementKind::slider) load_row_[k] = sliders++;
        sliders_ = sliders;
        size_of_forces();
        if (corners_.of_element.size() != count) {
            corners_.of_element.assign(count, {});
            corners_.bodies.assign(count, {});
        }
        for (std::size_t k = 0; k < count; ++k) {
            std::vector<Vector>& list = corners_.of_element[k];
            const FrictionBody& body = (*p.elements)[k].body;
            if (list.empty() || corners_.bodies[k] != body) list = body.corners();
            corners_.bodies[k] = body;
            add_element(k);
        }
    }

    solvers::ProgramSolution solve() {
        assemble();
        return solvers::solve(lp_);
    }

    enum class Multipliers { dual_point, infeasibility_certificate };

    /// Adds for each curved body the corner with the least reduced cost, if it improves the program. Returns whether a
    /// corner was added.
    bool refine(const Vector& y, Multipliers kind) {
        bool added = false;
        for (std::size_t k = 0; k < p_.elements->size(); ++k) {
            const RestingElement& e = (*p_.elements)[k];
            if (e.body.polyhedral() || e.sliding.size() > 0 || relaxed(k)) continue;
            Vector pull(e.body.dimension);
            for (int i = 0; i < e.body.dimension; ++i) pull(i) = p_.B.col(e.slip + i).dot(y.head(balance_));
            if (kind == Multipliers::dual_point && cost_.lambda.size() > 0)
                pull -= cost_.lambda.segment(e.slip, e.body.dimension);
            if (pull.cwiseAbs().maxCoeff() == 0.0) continue;
            const std::span<const double> along(pull.data(), static_cast<std::size_t>(pull.size()));
            const Vector corner = e.body.furthest(along);
            double best = -infinity;
            for (const Vector& c : corners_.of_element[k]) best = std::max(best, c.dot(pull));
            const double gain = corner.dot(pull) - best;
            const double column =
                e.normal >= 0 ? p_.B.col(e.normal).norm() : p_.B.middleCols(e.slip, e.body.dimension).norm();
            if (gain <= negligible_corner_gain * std::abs(corner.dot(pull)) ||
                gain <= negligible_gain_of_terms * y.head(balance_).norm() * column)
                continue;
            corners_.of_element[k].push_back(corner);
            add_corner(k, corner);
            added = true;
        }
        return added;
    }

    /// The solution of the linear program in terms of λ, x and t.
    ForceSolution expand(const solvers::ProgramSolution& s) const {
        ForceSolution out;
        out.status = s.status;
        if (s.status == ProgramStatus::stalled && solvers::worst(s) <= stalled_residual)
            out.status = ProgramStatus::optimal;
        out.x = s.x.head(unknowns_);
        out.t = p_.margin ? s.x(unknowns_) : 0.0;
        out.lambda = Vector::Zero(p_.B.cols());
        for (std::size_t c = 0; c < columns_.size(); ++c)
            for (const Entry& e : columns_[c].entries)
                out.lambda(e.lambda) += e.factor * s.x(first_column() + static_cast<Eigen::Index>(c));
        if (p_.margin)
            for (std::size_t k = 0; k < p_.elements->size(); ++k) {
                const RestingElement& e = (*p_.elements)[k];
                if (e.normal < 0 || e.free() || relaxed(k)) continue;
                out.lambda(e.normal) += out.t * size_[k] * direction(k);
                for (Eigen::Index i = 0; i < e.sliding.size(); ++i)
                    out.lambda(e.slip + i) += out.t * size_[k] * e.sliding(i);
            }
        out.value = s.value;
        out.y = s.status == ProgramStatus::infeasible ? s.certificate.head(balance_) : s.y.head(balance_);
        return out;
    }

private:
    /// The sign of the reaction is not chosen: reaction and friction are free.
    bool relaxed(std::size_t k) const { return (*p_.elements)[k].two_signed() && p_.sign[k] == 0; }
    /// Direction n of the apex of the element's cone along its normal force.
    double direction(std::size_t k) const {
        return (*p_.elements)[k].two_signed() ? static_cast<double>(p_.sign[k]) : 1.0;
    }
    Eigen::Index first_column() const { return unknowns_ + (p_.margin ? 1 : 0) + inequalities_ + sliders_; }

    /// f of each element: the normal force whose column of B has the length of the right-hand side.
    void size_of_forces() {
        const double right = right_ = p_.size > 0.0 ? p_.size : p_.b.norm() > 0.0 ? p_.b.norm() : 1.0;
        size_.assign(p_.elements->size(), 1.0);
        for (std::size_t k = 0; k < size_.size(); ++k) {
            const RestingElement& e = (*p_.elements)[k];
            if (e.normal < 0) continue;
            const double column = p_.B.col(e.normal).norm();
            size_[k] = right / (column > 0.0 ? column : 1.0);
        }
    }

    void add_element(std::size_t k) {
        const RestingElement& e = (*p_.elements)[k];
        if (e.free() || relaxed(k)) {
            columns_.push_back({{{e.normal, size_[k]}}, static_cast<int>(k), -infinity});
            for (int i = 0; i < e.body.dimension; ++i)
                columns_.push_back({{{e.slip + i, size_[k]}}, static_cast<int>(k), -infinity});
            return;
        }
        if (e.sliding.size() > 0) {
            add_corner(k, e.sliding);
            return;
        }
        if (e.body.empty()) {
            columns_.push_back({{{e.normal, size_[k] * direction(k)}}, static_cast<int>(k), 0.0});
            return;
        }
        for (const Vector& corner : corners_.of_element[k]) add_corner(k, corner);
    }

    /// Adds the ray of the cone with this friction force under the load 1.
    void add_corner(std::size_t k, const Vector& corner) {
        const RestingElement& e = (*p_.elements)[k];
        const double unit = e.normal >= 0 ? size_[k] : 1.0;
        Column c{{}, static_cast<int>(k), 0.0};
        if (e.normal >= 0) c.entries.push_back({e.normal, unit * direction(k)});
        for (Eigen::Index i = 0; i < corner.size(); ++i)
            c.entries.push_back({e.slip + static_cast<int>(i), unit * corner(i)});
        // A large friction coefficient makes long columns. Each is scaled to the length of the column of its normal.
        Vector column = Vector::Zero(balance_);
        for (const Entry& x : c.entries) column += x.factor * p_.B.col(x.lambda);
        const double wanted = e.normal >= 0 ? size_[k] * p_.B.col(e.normal).norm() : right_;
        const double length = column.norm(), factor = length > 0.0 && wanted > 0.0 ? wanted / length : 1.0;
        for (Entry& x : c.entries) x.factor *= factor;
        c.load = unit * factor;
        columns_.push_back(std::move(c));
    }

    void assemble() {
        const Eigen::Index rows = balance_ + inequalities_ + sliders_;
        const Eigen::Index width = first_column() + static_cast<Eigen::Index>(columns_.size());
        lp_.A = Matrix::Zero(rows, width);
        lp_.b = Vector::Zero(rows);
        lp_.c = Vector::Zero(width);
        lp_.lower = Vector::Zero(width);
        lp_.upper = Vector::Constant(width, infinity);
        // x
        if (unknowns_ > 0) {
            lp_.A.topLeftCorner(balance_, unknowns_) = p_.A;
            lp_.lower.head(unknowns_) = p_.lower.size() > 0 ? p_.lower : Vector::Constant(unknowns_, -infinity);
            lp_.upper.head(unknowns_) = p_.upper.size() > 0 ? p_.upper : Vector::Constant(unknowns_, infinity);
            if (cost_.x.size() > 0) lp_.c.head(unknowns_) = cost_.x;
        }
        lp_.b.head(balance_) = p_.b;
        // t
        if (p_.margin) {
            lp_.lower(unknowns_) = -infinity;
            lp_.upper(unknowns_) = 1.0;
            lp_.c(unknowns_) = cost_.t;
        }
        const Eigen::Index slack = unknowns_ + (p_.margin ? 1 : 0);
        // C x − slack = d
        if (inequalities_ > 0) {
            lp_.A.block(balance_, 0, inequalities_, unknowns_) = p_.C;
            lp_.b.segment(balance_, inequalities_) = p_.d;
            for (Eigen::Index i = 0; i < inequalities_; ++i) lp_.A(balance_ + i, slack + i) = -1.0;
        }
        for (std::size_t k = 0; k < p_.elements->size(); ++k) assemble_element(k, slack);
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const Eigen::Index at = first_column() + static_cast<Eigen::Index>(c);
            for (const Entry& e : columns_[c].entries) {
                lp_.A.col(at).head(balance_) += e.factor * p_.B.col(e.lambda);
                if (cost_.lambda.size() > 0) lp_.c(at) += e.factor * cost_.lambda(e.lambda);
            }
            lp_.lower(at) = columns_[c].lower;
            const int row = load_row_[static_cast<std::size_t>(columns_[c].element)];
            if (row >= 0) lp_.A(balance_ + inequalities_ + row, at) = columns_[c].load;
        }
    }

    /// The margin's part of an element, and the load of a slider: Σ weights + slack + t F = F + F_x·x.
    void assemble_element(std::size_t k, Eigen::Index slack) {
        const RestingElement& e = (*p_.elements)[k];
        if (load_row_[k] >= 0) {
            const Eigen::Index row = balance_ + inequalities_ + load_row_[k];
            lp_.A(row, slack + inequalities_ + load_row_[k]) = 1.0;
            lp_.b(row) = e.load;
            if (p_.load_slope.size() > 0)
                lp_.A.row(row).head(unknowns_) = -p_.load_slope.row(static_cast<Eigen::Index>(k));
            if (p_.margin) lp_.A(row, unknowns_) = e.load > 0.0 ? e.load : 1.0;
            return;
        }
        if (!p_.margin || e.free() || relaxed(k)) return;
        lp_.A.col(unknowns_).head(balance_) += size_[k] * direction(k) * p_.B.col(e.normal);
        for (Eigen::Index i = 0; i < e.sliding.size(); ++i)
            lp_.A.col(unknowns_).head(balance_) += size_[k] * e.sliding(i) * p_.B.col(e.slip + i);
        if (cost_.lambda.size() > 0) {
            lp_.c(unknowns_) += size_[k] * direction(k) * cost_.lambda(e.normal);
            for (Eigen::Index i = 0; i < e.sliding.size(); ++i)
                lp_.c(unknowns_) += size_[k] * e.sliding(i) * cost_.lambda(e.slip + i);
        }
    }

    const ForceProgram& p_;
    const ForceCost& cost_;
    ForceCorners& corners_;
    Eigen::Index balance_ = 0, unknowns_ = 0, inequalities_ = 0;
    int sliders_ = 0;
    double right_ = 1.0;         ///< size of the right-hand side of the balance
    std::vector<int> load_row_;  ///< index among the sliders; −1 for other elements
    std::vector<double> size_;   ///< f of each element
    std::vector<Column> columns_;
    LinearProgram lp_;
};

}  // namespace

ForceSolution solve(const ForceProgram& program, const ForceCost& cost, ForceCorners* corners) {
    using Multipliers = CornerProgram::Multipliers;
    ForceCorners own;
    CornerProgram over_corners(program, cost, corners != nullptr ? *corners : own);
    constexpr int max_rounds = 200;  // a safeguard: each round adds at most one corner to each body
    ForceSolution best;
    for (int round = 1; round <= max_rounds; ++round) {
        const solvers::ProgramSolution s = over_corners.solve();
        best = over_corners.expand(s);
        best.rounds = round;
        if (s.status == ProgramStatus::unbounded || s.status == ProgramStatus::non_finite) break;
        const bool added = s.status == ProgramStatus::infeasible
                               ? over_corners.refine(s.certificate, Multipliers::infeasibility_certificate)
                               : over_corners.refine(s.y, Multipliers::dual_point);
        if (!added) break;
    }
    if (corners != nullptr)
        for (std::size_t k = 0; k < corners->of_element.size(); ++k) {
            std::vector<Vector>& list = corners->of_element[k];
            // With more added corners than this only the later half is kept: the last ones are nearest to the solution.
            constexpr std::size_t max_added_corners = 48;
            const std::vector<Vector> first = (*program.elements)[k].body.corners();
            if (list.size() <= first.size() + max_added_corners) continue;
            list.erase(list.begin() + static_cast<std::ptrdiff_t>(first.size()), list.end() - max_added_corners / 2);
        }
    return best;
}

}  // namespace saltus::stability
