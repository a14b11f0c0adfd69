// SPDX-License-Identifier: Apache-2.0
#include "saltus/proof/separation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "saltus/base/numbers.hpp"
#include "saltus/solvers/program/linear_program.hpp"

namespace saltus::proof {

namespace {

using Eigen::Index;

/// A proposed direction is used only if its margin t exceeds this number. t is relative to the size of each load and
/// normal, so that smaller margins are rounding errors of the program.
constexpr double least_margin = 1e-9;
/// The program is solved a second time with the margin magnified by this factor, if the first solution does not pass
/// the check: the pivoting ignores small margins otherwise.
constexpr double margin_magnification = 1e8;
/// `Program::has_no_solution` scales rows and columns to a size of about 1. A reduced cost up to `screening_rounding`
/// is zero. Between this and `screening_gain`, and for pivots up to `screening_pivot`, it leaves the answer to the full
/// solution. It never proves anything: a wrong answer leaves a separation undiscovered.
constexpr double screening_rounding = 1e-13, screening_gain = 1e-9, screening_pivot = 1e-5;
/// A ball of two vectors is replaced by a polygon with this number of corners around it. A coarser polygon misses
/// directions; it never proves something false, since every direction is checked with the ball itself.
constexpr int polygon_corners = 16;
/// `Plane` enumerates 2^n combinations of signs of n friction forces at one element.
constexpr std::size_t max_planar_groups = 4;

/// v·d.
Interval along(const IntervalVector& v, const Vector& d) {
    Interval sum;
    for (std::size_t k = 0; k < v.size(); ++k)
        if (d(static_cast<Index>(k)) != 0.0) sum += v[k] * Interval(d(static_cast<Index>(k)));
    return sum;
}

/// The largest finite end of the intervals; 1 if all are 0.
double size_of(const IntervalVector& v) {
    double size = 0.0;
    for (const Interval& x : v)
        for (const double end : {x.lo, x.hi})
            if (std::isfinite(end)) size = std::max(size, std::fabs(end));
    return size > 0.0 ? size : 1.0;
}

/// The linear program that proposes a direction d = d⁺ − d⁻ with the largest margin t:
///     maximise t   subject to   0 <= d⁺, d⁻ <= 1,   0 <= t <= 1,
///     sup load·d + Σ_sliders s + size · t <= 0   for every load,
///     sup normal·d + Σ_friction s + size · t <= 0   for every cone,
///     s >= ‖(v·d)_v‖   for every group.
/// The supremum over the intervals is bounded by sup v·d <= Σ v_hi d⁺ − v_lo d⁻. An infinite end forces its d⁺ or d⁻ to
/// be 0. The unknowns are [d⁺, d⁻, t, s of each group], then one slack for each inequality.
class Program {
public:
    Program(const ForceSet& forces, const std::vector<bool>& nonnegative, bool by_slope)
        : n_(static_cast<Index>(forces.loads.front().size())) {
        Index groups = 0;
        Index inequalities = static_cast<Index>(forces.cones.size() + (by_slope ? 1 : forces.loads.size()));
        const auto count = [&](const Friction& f) {
            groups += static_cast<Index>(f.groups.size());
            for (const auto& g : f.groups) inequalities += g.size() == 1 ? 2 : polygon_corners;
        };
        for (const Friction& f : forces.sliders) count(f);
        for (const ForceCone& c : forces.cones) count(c.friction);
        if (by_slope) {
            groups += 2 * static_cast<Index>(forces.slope->step.size());
            inequalities += 2 * static_cast<Index>(forces.slope->step.size());
        }
        upper_ = Vector::Ones(2 * n_ + 1 + groups);
        upper_.tail(groups).setConstant(infinity);
        for (Index k = 0; k < n_; ++k)
            if (static_cast<std::size_t>(k) < nonnegative.size() && nonnegative[static_cast<std::size_t>(k)])
                upper_(n_ + k) = 0.0;
        rows_ = Rows::Zero(inequalities, upper_.size());
        Index group = 2 * n_ + 1;
        for (const Friction& f : forces.sliders)
            for (const auto& g : f.groups) bound_group(g, group++);
        const Index sliding = group - 2 * n_ - 1;
        if (by_slope) {
            const Vector reach = bound_slope(*forces.slope, group);
            add_load(forces.slope->at_centre, sliding);
            rows_.row(filled_ - 1).segment(group - reach.size(), reach.size()) = reach.transpose();
        } else {
            for (const IntervalVector& load : forces.loads) add_load(load, sliding);
        }
        for (const ForceCone& c : forces.cones) {
            const Index first = group;
            for (const auto& g : c.friction.groups) bound_group(g, group++);
            add_ends(filled_, c.normal);
            rows_(filled_, 2 * n_) = size_of(c.normal);
            rows_.row(filled_++).segment(first, group - first).setOnes();
        }
    }

    /// True if no direction has a positive margin, up to rounding. All right-hand sides are 0, so the program asks for
    /// a ray with t > 0 in { x >= 0 : rows·x <= 0 }. The simplex method begins with the slacks as basis, and every
    /// exchange stays at x = 0. It ends with an unknown that may rise without limit: a direction exists. Or it ends
    /// with multipliers y >= 0 of the rows for which no unknown has a positive reduced cost: none exists (Farkas). The
    /// condensed tableau has one row for each basic unknown and one column for each other one; the reduced costs are
    /// its last row. This costs about a tenth of `solve`, and most programs of a search by boxes have no solution.
    bool has_no_solution() const {
        const Index m = rows_.rows();
        Rows T(m + 1, upper_.size());
        Index columns = 0, margin = -1;
        for (Index j = 0; j < upper_.size(); ++j) {
            if (!(upper_(j) > 0.0) || !(rows_.col(j).cwiseAbs().maxCoeff() > 0.0)) continue;
            if (j == 2 * n_) margin = columns;
            T.col(columns++).head(m) = rows_.col(j);
        }
        T.conservativeResize(m + 1, columns);
        if (margin < 0 || !T.topRows(m).allFinite()) return false;
        for (int pass = 0; pass < 2; ++pass) {
            for (Index i = 0; i < m; ++i)
                if (const double size = T.row(i).cwiseAbs().maxCoeff(); size > 0.0) T.row(i) /= size;
            for (Index j = 0; j < columns; ++j) T.col(j).head(m) /= T.col(j).head(m).cwiseAbs().maxCoeff();
        }
        T.row(m).setZero();
        T(m, margin) = 1.0;
        for (Index pivots = 0; pivots < 2 * (m + columns); ++pivots) {
            Index entering = 0;
            const double gain = T.row(m).maxCoeff(&entering);
            if (!(gain > screening_rounding)) return true;
            Index leaving = 0;
            if (gain < screening_gain || !(T.col(entering).head(m).maxCoeff(&leaving) > screening_pivot)) return false;
            exchange(T, leaving, entering);
        }
        return false;
    }

    /// Solves with the unknown magnified · t in the place of t. std::nullopt if the margin is not positive.
    std::optional<Vector> solve(double magnified) const {
        const Index m = rows_.rows();
        solvers::LinearProgram lp;
        lp.A = Matrix::Zero(m, upper_.size() + m);
        lp.A.leftCols(upper_.size()) = rows_;
        lp.A.rightCols(m).diagonal().setOnes();
        lp.A.col(2 * n_) /= magnified;
        lp.b = Vector::Zero(m);
        lp.c = Vector::Zero(lp.A.cols());
        lp.c(2 * n_) = -1.0;
        lp.lower = Vector::Zero(lp.A.cols());
        lp.upper = Vector::Constant(lp.A.cols(), infinity);
        lp.upper.head(upper_.size()) = upper_;
        lp.upper(2 * n_) = magnified;
        const solvers::ProgramSolution s = solvers::solve(lp);
        if (s.x.size() != lp.A.cols() || !(s.x(2 * n_) > least_margin)) return std::nullopt;
        return Vector(s.x.head(n_) - s.x.segment(n_, n_));
    }

private:
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

    /// The unknowns of row r and of column c change places. Row r says x_r + Σ_j T_rj x_j = 0.
    static void exchange(Rows& T, Index r, Index c) {
        const double pivot = T(r, c);
        for (Index i = 0; i < T.rows(); ++i) {
            if (i == r) continue;
            const double factor = T(i, c) / pivot;
            if (factor != 0.0) T.row(i) -= factor * T.row(r);
            T(i, c) = -factor;
        }
        T.row(r) /= pivot;
        T(r, c) = 1.0 / pivot;
    }

    /// Adds the coefficients of Σ (factor v)_hi d⁺ − (factor v)_lo d⁻ to a row.
    void add_ends(Index row, const IntervalVector& v, double factor = 1.0) {
        for (Index k = 0; k < n_; ++k) {
            const Interval x = v[static_cast<std::size_t>(k)] * Interval(factor);
            if (x.hi < infinity)
                rows_(row, k) += x.hi;
            else
                upper_(k) = 0.0;
            if (x.lo > -infinity)
                rows_(row, n_ + k) -= x.lo;
            else
                upper_(n_ + k) = 0.0;
        }
    }

    /// The inequality of a load; the first `sliding` groups are those of the sliders.
    void add_load(const IntervalVector& load, Index sliding) {
        add_ends(filled_, load);
        rows_(filled_, 2 * n_) = size_of(load);
        rows_.row(filled_++).segment(2 * n_ + 1, sliding).setOnes();
    }

    /// The term of the position-dependent load, with the columns J_j of its slope:
    ///     sup load·d <= load(c)·d + Σ_j p_j max(0, max step_j) + m_j max(0, max −step_j),
    ///     p_j >= d·J_j,  m_j >= −d·J_j,  p_j, m_j >= 0.
    /// Adds the inequalities of p and m and returns the coefficients of the sum. An unbounded step forces its p or m to
    /// be 0.
    Vector bound_slope(const LoadSlope& s, Index& group) {
        Vector coefficients = Vector::Zero(2 * s.slope.cols());
        Index at = 0;
        for (int j = 0; j < s.slope.cols(); ++j) {
            IntervalVector column;
            for (int i = 0; i < s.slope.rows(); ++i) column.push_back(s.slope(i, j));
            for (const double sign : {1.0, -1.0}) {
                add_ends(filled_, column, sign);
                rows_(filled_++, group) = -1.0;
                const Interval& step = s.step[static_cast<std::size_t>(j)];
                const double reach = sign > 0.0 ? step.hi : -step.lo;
                if (reach < infinity)
                    coefficients(at) = std::max(0.0, reach);
                else
                    upper_(group) = 0.0;
                ++group;
                ++at;
            }
        }
        return coefficients;
    }

    /// Adds s >= ‖(v·d)_v‖. For one vector: s >= ±v·d. For two vectors: s >= (v₁·d cos a + v₂·d sin a)/cos(π/n) at the
    /// n corners a of a polygon around the disk.
    void bound_group(const std::vector<IntervalVector>& g, Index s) {
        if (g.size() == 1) {
            for (const double sign : {1.0, -1.0}) {
                add_ends(filled_, g[0], sign);
                rows_(filled_++, s) = -1.0;
            }
            return;
        }
        const double outside = 1.0 / std::cos(std::numbers::pi / polygon_corners);
        for (int k = 0; k < polygon_corners; ++k) {
            const double angle = 2.0 * std::numbers::pi * k / polygon_corners;
            add_ends(filled_, g[0], outside * std::cos(angle));
            add_ends(filled_, g[1], outside * std::sin(angle));
            rows_(filled_++, s) = -1.0;
        }
    }

    Index n_;
    Vector upper_;
    Rows rows_;         // rows·x <= 0
    Index filled_ = 0;  // number of inequalities that rows_ contains so far
};

/// In one and two dimensions all directions are searched, up to rounding: (s, r) and (r, s) with s = ±1 and |r| <= 1.
/// For a fixed sign of r the bound of each force over its intervals is linear in r. The separating r therefore form an
/// interval.
class Plane {
public:
    Plane(const ForceSet& forces, const std::vector<bool>& nonnegative) : nonnegative_(nonnegative) {
        std::vector<std::vector<IntervalVector>> sliding{{}};
        for (const Friction& f : forces.sliders) sliding = signed_sums(f, sliding);
        for (const IntervalVector& load : forces.loads) add(load, sliding);
        for (const ForceCone& c : forces.cones) add(c.normal, signed_sums(c.friction, {{}}));
    }

    /// At most two components, planar friction only, and few enough groups for all combinations of signs.
    static bool fits(const ForceSet& forces) {
        if (forces.loads.front().size() > 2) return false;
        std::size_t sliding = 0;
        const auto planar = [&](const Friction& f) {
            sliding += f.groups.size();
            return std::all_of(f.groups.begin(), f.groups.end(), [](const auto& g) { return g.size() == 1; });
        };
        bool all = std::all_of(forces.sliders.begin(), forces.sliders.end(), planar) && sliding <= max_planar_groups;
        for (const ForceCone& c : forces.cones)
            all = all && c.friction.groups.size() <= max_planar_groups && planar(c.friction);
        return all;
    }

    /// Candidates, at most one for each choice of the large component and of the signs.
    std::vector<Vector> directions(std::size_t n) const {
        std::vector<Vector> list;
        for (const double s : {1.0, -1.0}) {
            if (n == 1) {
                if (allowed(0, s)) list.push_back(Vector::Constant(1, s));
                continue;
            }
            for (const std::size_t large : {std::size_t{0}, std::size_t{1}})
                for (const double other : {1.0, -1.0})
                    if (allowed(large, s) && allowed(1 - large, other)) add_candidate(large, s, other, list);
        }
        return list;
    }

private:
    using Sum = std::vector<IntervalVector>;  // vectors that are added, each with its own intervals

    /// Each sum with every combination of signs of the friction vectors: the support function of planar friction is the
    /// maximum over these signs.
    static std::vector<Sum> signed_sums(const Friction& f, std::vector<Sum> sums) {
        for (const auto& group : f.groups) {
            std::vector<Sum> more;
            for (const Sum& sum : sums)
                for (const double sign : {1.0, -1.0}) {
                    more.push_back(sum);
                    IntervalVector v = group[0];
                    if (sign < 0.0)
                        for (Interval& x : v) x = -x;
                    more.back().push_back(std::move(v));
                }
            sums = std::move(more);
        }
        return sums;
    }

    void add(const IntervalVector& v, const std::vector<Sum>& sums) {
        for (Sum sum : sums) {
            sum.push_back(v);
            bounds_.push_back(std::move(sum));
        }
    }

    bool allowed(std::size_t component, double sign) const {
        return sign > 0.0 || component >= nonnegative_.size() || !nonnegative_[component];
    }

    /// d_large = s and d_other = other · r with 0 <= r <= 1. Every bound has the form a + b r < 0. The middle of the
    /// interval of good r becomes a candidate.
    void add_candidate(std::size_t large, double s, double other, std::vector<Vector>& list) const {
        const auto end = [](const Interval& x, double sign) { return sign > 0.0 ? x.hi : -x.lo; };
        double from = 0.0, to = 1.0;
        for (const Sum& sum : bounds_) {
            double a = 0.0, b = 0.0;
            for (const IntervalVector& v : sum) a += end(v[large], s), b += end(v[1 - large], other);
            if (a == infinity || std::isnan(a)) return;
            if (b == infinity || std::isnan(b)) {
                to = 0.0;
                if (!(a < 0.0)) return;
            } else if (b > 0.0) {
                to = std::min(to, -a / b);
            } else if (b < 0.0) {
                from = std::max(from, -a / b);
            } else if (!(a < 0.0)) {
                return;
            }
        }
        if (!(from <= to)) return;
        Vector d(2);
        d(static_cast<Index>(large)) = s;
        d(static_cast<Index>(1 - large)) = other * (to == 0.0 ? 0.0 : 0.5 * (from + to));
        list.push_back(d);
    }

    const std::vector<bool>& nonnegative_;
    std::vector<Sum> bounds_;  // each must be negative along d
};

/// Every cone lies in the open half space { f·d < 0 }, apart from 0.
bool bounds_cones(const ForceSet& forces, const Vector& d) {
    return std::all_of(forces.cones.begin(), forces.cones.end(), [&](const ForceCone& c) {
        return (Interval(largest(c.normal, d)) + Interval(support(c.friction, d))).hi < 0.0;
    });
}

}  // namespace

double largest(const IntervalVector& v, const Vector& d) { return along(v, d).hi; }

double support(const Friction& body, const Vector& d) {
    Interval sum;
    for (const auto& group : body.groups) {
        Interval square;
        if (group.size() == 1) {
            sum += expr::abs(along(group[0], d));
            continue;
        }
        for (const IntervalVector& v : group) square += expr::sqr(along(v, d));
        sum += expr::sqrt(square);
    }
    return sum.hi;
}

namespace {

/// Upper bound of load(q)·d = load(c)·d + Σ_j (d·J_j)(q − c)_j.
double largest_by_slope(const LoadSlope& s, const Vector& d) {
    Interval sum(along(s.at_centre, d).hi);
    for (int j = 0; j < s.slope.cols(); ++j) {
        IntervalVector column;
        for (int i = 0; i < s.slope.rows(); ++i) column.push_back(s.slope(i, j));
        const Interval rate = along(column, d);
        const Interval& step = s.step[static_cast<std::size_t>(j)];
        if ((rate.lo != 0.0 || rate.hi != 0.0) && (step.lo != 0.0 || step.hi != 0.0)) sum += rate * step;
    }
    return sum.hi;
}

}  // namespace

bool separates(const ForceSet& forces, const Vector& d) {
    Interval sliding;
    for (const Friction& f : forces.sliders) sliding += Interval(support(f, d));
    if (forces.slope && (Interval(largest_by_slope(*forces.slope, d)) + sliding).hi < 0.0)
        return bounds_cones(forces, d);
    const bool loads = std::all_of(forces.loads.begin(), forces.loads.end(), [&](const IntervalVector& load) {
        return (Interval(largest(load, d)) + sliding).hi < 0.0;
    });
    return loads && bounds_cones(forces, d);
}

std::optional<Vector> propose_separation(const ForceSet& forces, const std::vector<bool>& nonnegative) {
    if (forces.loads.empty() || forces.loads.front().empty()) return std::nullopt;
    if (Plane::fits(forces)) {
        const std::vector<Vector> directions = Plane(forces, nonnegative).directions(forces.loads.front().size());
        const auto good =
            std::find_if(directions.begin(), directions.end(), [&](const Vector& d) { return separates(forces, d); });
        if (good != directions.end()) return *good;
        if (!forces.slope) return std::nullopt;
    }
    const auto solved = [&](bool by_slope) -> std::optional<Vector> {
        const Program program(forces, nonnegative, by_slope);
        if (program.has_no_solution()) return std::nullopt;
        for (const double magnified : {1.0, margin_magnification}) {
            std::optional<Vector> d = program.solve(magnified);
            if (!d || !bounds_cones(forces, *d)) continue;
            bool allowed = true;
            for (std::size_t k = 0; k < nonnegative.size(); ++k)
                allowed = allowed && !(nonnegative[k] && (*d)(static_cast<Index>(k)) < 0.0);
            if (allowed) return d;
        }
        return std::nullopt;
    };
    if (!forces.slope) return solved(false);
    if (!Plane::fits(forces))
        if (std::optional<Vector> d = solved(false); d && separates(forces, *d)) return d;
    return solved(true);
}

std::optional<Vector> separate(const ForceSet& forces, const std::vector<bool>& nonnegative) {
    const std::optional<Vector> d = propose_separation(forces, nonnegative);
    return d && separates(forces, *d) ? d : std::nullopt;
}

ForceSet reduce(const ForceSet& forces, const IntervalMatrix& T) {
    const auto image = [&](const IntervalVector& v) {
        IntervalVector w;
        for (int j = 0; j < T.cols(); ++j) {
            IntervalVector column;
            for (int i = 0; i < T.rows(); ++i) column.push_back(T(i, j));
            w.push_back(dot(v, column));
        }
        return w;
    };
    const auto image_of = [&](const Friction& f) {
        Friction to;
        for (const auto& group : f.groups) {
            to.groups.emplace_back();
            for (const IntervalVector& v : group) to.groups.back().push_back(image(v));
        }
        return to;
    };
    ForceSet to;
    for (const IntervalVector& v : forces.loads) to.loads.push_back(image(v));
    for (const Friction& f : forces.sliders) to.sliders.push_back(image_of(f));
    for (const ForceCone& c : forces.cones) to.cones.push_back({image(c.normal), image_of(c.friction)});
    return to;
}

}  // namespace saltus::proof
