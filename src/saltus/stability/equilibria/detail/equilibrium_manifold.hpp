// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "saltus/stability/equilibria/equilibrium_forces.hpp"

namespace saltus::stability {

/// Newton's method for g = 0 (constraints and closed gaps, each relative to its position_scale) stops if
/// max|g| <= exact_closing, or if max|g| <= closing_tolerance and a step no longer halves it. It has failed if
/// max|g| > closing_tolerance after max_closing_steps.
inline constexpr double exact_closing = 1e-14;
inline constexpr double closing_tolerance = 1e-11;
inline constexpr int max_closing_steps = 60;
/// Singular values below this part of the largest count as 0 in the least-squares steps of that method.
inline constexpr double dependent_rows = 1e-10;

/// A set has an interior if RestingManifold::depth exceeds this somewhere. A smaller depth may be rounding: some sets
/// (without friction reserve) have depth 0 everywhere.
inline constexpr double significant_depth = 1e-6;

/// A position with forces λ, one number for each column of the statics there.
struct RestPoint {
    Vector q, lambda;
    std::vector<int> sign;  ///< one for each element of the statics: sign of a reaction with friction; 0 for others
    double residual = 0.0;  ///< residual of the equations F = 0 below, relative
};

/// The positions in which given contacts are closed and which some forces, of any size and sign, hold at rest:
///     F(q, λ) = ( h(q,0) + W(q)λ,  g(q),  g_N(q) of the closed contacts ) = 0.
/// An equilibrium set is the part of this manifold where the laws allow the forces and the other gaps are open.
/// Lengths on the manifold are measured with q_i in units of 1 + |q_i|; forces are relative to Statics::size, gaps
/// relative to their position_scale. The functions move `model()`.
class RestingManifold {
public:
    /// `closed` has one flag for each contact. The model must outlive this object.
    RestingManifold(RestingModel& model, std::vector<char> closed);

    RestingModel& model() { return model_; }
    const std::vector<char>& closed() const { return closed_; }
    int size() const { return model_.size(); }

    /// The point q with the forces that balance h best (least squares). It need not lie on the manifold.
    RestPoint at(const Vector& q);

    /// A hyperplane direction·(q − origin) = distance.
    struct Slice {
        Vector origin, direction;
        double distance = 0.0;
    };
    /// Newton's method onto the manifold along the shortest way, or within the slice. Returns false if it does not
    /// converge to `tolerance` (relative residual).
    bool correct(RestPoint& p, const std::optional<Slice>& slice = {}, double tolerance = 1e-13);
    /// The same with the coordinates fixed whose flag is set.
    bool correct_with(RestPoint& p, const std::vector<char>& held);
    /// Newton's method onto g = 0 and the closed gaps alone. Returns false if it does not converge.
    bool close(Vector& q);

    /// Directions along which g and the closed gaps stay zero to first order, at the position of the model: an
    /// orthonormal basis by columns.
    Matrix closing();

    /// Directions of q along the manifold without the neutral ones, by columns, orthonormal in units of 1 + |q_i|.
    Matrix tangent(const RestPoint& p);

    /// Largest of the least-squares forces at q relative to Statics::size. It tends to infinity where the supports
    /// become singular.
    double force_size(const Vector& q);
    /// Allowed forces of the largest margin at q. The gaps of open contacts are not examined.
    Balance forces(const Vector& q);

    struct LeastGap {
        double value;      ///< relative to its position_scale; +∞ if no contact is open
        int contact = -1;  ///< number of the contact with the smallest gap; −1: none is open
    };
    /// The smallest gap of the contacts that are not closed here.
    LeastGap least_gap(const Vector& q);

    /// How deep q lies in the equilibrium set: the margin of the forces or the smallest open gap, whichever is less. It
    /// vanishes on the boundary of the set and is negative outside, and it is −1 if q is not `possible`.
    double depth(const Vector& q);

    struct SettleOptions {
        double radius = 0.3;      ///< radius of the first step, in 1 + |q_i|
        double largest = 1.0;     ///< largest radius of a step, in 1 + |q_i|
        double smallest = 1e-11;  ///< the search ends if the radius becomes smaller
        int max_steps = 200;
    };
    /// Minimises cost·q over the equilibria with these contacts closed, from p, by sequential linear programs. Without
    /// a cost it searches for any equilibrium. Returns whether p is an equilibrium in the end; then its forces obey the
    /// laws.
    bool settle(RestPoint& p, const Vector& cost, const SettleOptions& options);
    bool settle(RestPoint& p, const Vector& cost = {}) { return settle(p, cost, SettleOptions{}); }
    /// Searches from p for an equilibrium that needs no friction. Returns whether it was found.
    bool settle_without_friction(RestPoint& p);

    /// The units of the coordinates, 1 + |q_i|.
    Vector unit(const Vector& q) const { return q.cwiseAbs() + Vector::Ones(q.size()); }
    /// max_i |a_i − b_i|/(1 + |a_i|).
    double distance(const Vector& a, const Vector& b) const {
        return (a - b).cwiseQuotient(unit(a)).cwiseAbs().maxCoeff();
    }

    /// Orthonormal directions along which the whole model may be shifted without any change (`neutral_directions`).
    Matrix neutral;
    /// x without its part along the neutral directions.
    Vector modulo(const Vector& x) const { return x - neutral * (neutral.transpose() * x); }

    /// If set: false means that q is proved to be no equilibrium, or to belong to another set.
    std::function<bool(const Vector& q)> possible;

    long programs = 0;                  ///< linear programs solved so far
    long max_programs = 10000;          ///< budget of the search
    std::function<bool()> interrupted;  ///< polled by long searches; true: they stop
    /// The budget is spent or the search was interrupted: long searches stop with what they have.
    bool must_stop() const { return programs > max_programs || (interrupted && interrupted()); }

private:
    /// F(q, λ) linearised: F ≈ constant + B λ/unit_lambda + J δq/unit_q.
    struct Linear {
        Statics statics;
        Matrix J;            ///< ∂F/∂q · diag(unit_q), n + m rows
        Matrix B;            ///< ∂F/∂λ · diag(unit_lambda)
        Vector constant;     ///< F(q, 0)
        Vector unit_q;       ///< 1 + |q_i|
        Vector unit_lambda;  ///< forces of the size Statics::size
        Vector gaps;         ///< relative gaps of the open contacts
        Matrix gap_slopes;   ///< ∂gaps/∂q · diag(unit_q)
    };
    enum class GapSlopes { skip, compute };
    bool newton(RestPoint& p, const std::optional<Slice>& slice, const std::vector<char>* held, double tolerance);
    /// The number of forces changes where friction begins to slide or vanishes. If `lambda` does not fit the position,
    /// it is replaced by least_forces.
    Linear linearise(const Vector& q, Vector& lambda, GapSlopes gap_slopes);
    /// Forces λ that balance h best (least squares).
    Vector least_forces(const Linear& l) const;
    /// All of Linear except J and gap_slopes.
    Linear evaluate(const Vector& q);
    double violation(const Linear& l, const Vector& lambda) const;
    Matrix follow_friction(Linear& l, const Vector& lambda);
    ForceProgram settle_program(const Linear& l, const std::vector<int>& sign, double radius);
    bool settle_signed(RestPoint& p, const Vector& cost, const SettleOptions& options);

    RestingModel& model_;
    std::vector<char> closed_;
    std::vector<int> rows_;          ///< rows of the constraints and of the closed contacts
    std::vector<std::size_t> open_;  ///< contacts that are not closed
    ForceCorners corners_;
    bool frictionless_ = false;  ///< leave out all friction
};

}  // namespace saltus::stability
