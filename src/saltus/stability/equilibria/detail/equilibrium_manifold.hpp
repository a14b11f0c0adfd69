// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "saltus/stability/equilibria/equilibrium_forces.hpp"

namespace saltus::stability {

/// A position with forces, one number a column of the statics there.
struct RestPoint {
    Vector q, lambda;
    std::vector<int> sign;  ///< of reactions with friction, one an element of the statics
    double residual = 0.0;  ///< of the equations
};

/// The positions in which given contacts are closed and some forces, of any size and sign, hold the rest:
///     F(q, λ) = ( h(q,0) + W(q)λ,  g(q),  g_N(q) of the closed contacts ) = 0.
/// An equilibrium set is the part of it where the laws allow the forces and the other gaps are open. Coordinates are
/// measured in 1 + |q_i|, forces in the size of h, gaps in their rows' size.
class RestingManifold {
public:
    RestingManifold(RestingModel& model, std::vector<char> closed);

    RestingModel& model() { return model_; }
    const std::vector<char>& closed() const { return closed_; }
    int size() const { return model_.size(); }

    /// The point with the forces of least squares.
    RestPoint at(const Vector& q);

    /// Newton's method onto the manifold, by the shortest way, or with q along `direction` from `origin` fixed at
    /// `distance`. False when it does not converge.
    struct Slice {
        Vector origin, direction;
        double distance = 0.0;
    };
    bool correct(RestPoint& p, const std::optional<Slice>& slice = {}, double tolerance = 1e-13);
    /// With the marked coordinates held.
    bool correct_with(RestPoint& p, const std::vector<char>& held);
    /// Onto constraints and closed contacts alone.
    bool close(Vector& q);

    /// Directions in which they stay closed, at the model's position.
    Matrix closing();

    /// Directions of q along the manifold, orthonormal in the measure above: columns.
    Matrix tangent(const RestPoint& p);

    /// The largest of the least forces that hold q, of the size of h.
    double force_size(const Vector& q);
    /// Largest margin of forces that hold q; `holds` also wants the other gaps open (or zero).
    Balance forces(const Vector& q);
    /// The smallest of the gaps that are to be open, of its row's size; +∞ without such contacts.
    double least_gap(const Vector& q, int* contact = nullptr);

    /// What goes to zero on the boundary of the set: the margin or a gap, whichever is less.
    struct Inside {
        double value = 0.0;
        int contact = -1;  ///< whose gap it is; −1: the forces' margin
    };
    Inside inside(const Vector& q);

    /// Sequential linear programs: minimises cost·q over the equilibria with these contacts closed, from p and never
    /// far at once; an empty cost: any of them will do. Forces obey the laws on the way, equations are fulfilled at the
    /// end. False when they are not.
    struct SettleOptions {
        double radius = 0.3;      ///< of the first step
        double largest = 1.0;     ///< of any
        double smallest = 1e-11;  ///< where it ends
        int most = 200;
    };
    bool settle(RestPoint& p, const Vector& cost, const SettleOptions& options);
    bool settle(RestPoint& p, const Vector& cost = {}) { return settle(p, cost, SettleOptions{}); }
    /// To an equilibrium that needs no friction.
    bool settle_without_friction(RestPoint& p);

    Vector unit(const Vector& q) const { return q.cwiseAbs() + Vector::Ones(q.size()); }
    /// Distance in the measure above.
    double distance(const Vector& a, const Vector& b) const {
        return (a - b).cwiseQuotient(unit(a)).cwiseAbs().maxCoeff();
    }

    /// Directions along which nothing ever changes, orthonormal; tangents leave them out.
    Matrix neutral;
    /// x without its part along them.
    Vector modulo(const Vector& x) const { return x - neutral * (neutral.transpose() * x); }

    long programs = 0;
    std::function<bool()> interrupted;  ///< asked by what takes long; true: come to an end
    bool tired() const { return programs > most_programs || (interrupted && interrupted()); }
    long most_programs = 10000;

private:
    struct Linear {
        Statics statics;
        Matrix J;                              ///< by q, in units
        Matrix B;                              ///< by λ, in units
        Vector constant, unit_q, unit_lambda;  ///< F at λ = 0
        Vector gaps;                           ///< open ones
        Matrix gap_slopes;
    };
    bool newton(RestPoint& p, const std::optional<Slice>& slice, const std::vector<char>* held, double tolerance);
    Linear linearise(const Vector& q, const Vector& lambda, bool gaps);
    void evaluate(const Vector& q, Linear& out);
    double violation(const Linear& l, const Vector& lambda) const;
    bool settle_signed(RestPoint& p, const Vector& cost, const SettleOptions& options);

    RestingModel& model_;
    std::vector<char> closed_;
    std::vector<int> rows_;  ///< constraints and closed contacts
    std::vector<std::size_t> open_;
    ForceCorners corners_;
    bool frictionless_ = false;
};

}  // namespace saltus::stability
