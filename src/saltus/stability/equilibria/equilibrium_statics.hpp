// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "saltus/integrate/mode/active.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/jacobians.hpp"
#include "saltus/model/model.hpp"
#include "saltus/stability/equilibria/equilibrium_friction.hpp"

namespace saltus::stability {

/// What one element can do at rest.
struct RestingElement {
    int element = 0;  ///< among the model's
    trajectory::ElementKind kind = trajectory::ElementKind::contact;
    int normal = -1;  ///< column of its normal force, reaction or clutch force; −1: a slider
    int slip = -1;    ///< first column of friction; −1: none
    FrictionBody body;
    double load = 0.0;  ///< of a slider
    /// Of a constraint whose friction slides although the coordinates rest (a belt): its force under the load 1.
    /// Otherwise empty; for contacts it is part of the normal's column.
    Vector sliding;

    bool free() const { return kind == trajectory::ElementKind::constraint && body.empty(); }
    /// Friction scaled by |ν|: two cones, one for each sign of ν.
    bool two_signed() const { return kind == trajectory::ElementKind::constraint && !body.empty(); }
};

/// The forces at rest in one position: h + Wλ, W by columns of the rows that can act.
struct Statics {
    Vector h;  ///< h(t, q, 0), with the friction of sliders that slide
    Matrix W;
    Vector scale;  ///< √M_ii, so that all h_i/scale_i have one unit
    /// What h is compared with: the forces that a displacement by 1 + |q| makes, its own size at least.
    double size = 0.0;  ///< in the metric of `scale`
    std::vector<RestingElement> elements;
    struct Share {
        int row;  ///< of the model
        double factor;
    };
    std::vector<std::vector<Share>> columns;  ///< W.col(c) = Σ factor · row
    struct Fixed {
        int element, row;
        double per_load;  ///< force under the load 1
        double force;
    };
    std::vector<Fixed> fixed;  ///< friction of sliders that slide
    std::string moves;         ///< why nothing can rest: what moves by itself
};

/// A model at rest, position by position, at a fixed time. One thread.
class RestingModel {
public:
    explicit RestingModel(const model::Model& model, double t = 0.0);

    const model::Model& model() const { return model_; }
    double time() const { return t_; }
    int size() const { return n_; }
    const std::vector<integrate::ElementRows>& elements() const { return elements_; }

    /// To be called first: everything below is at this position.
    void move_to(const Vector& q);

    const Vector& q() const { return q_; }
    double position(int row) const { return terms_.positions[static_cast<std::size_t>(row)]; }
    double position_scale(int row) const;
    Eigen::RowVectorXd row(int row) const;
    double chi(int row) const { return terms_.chi[static_cast<std::size_t>(row)]; }
    /// Whether a contact's gap is zero to `tolerance` of its row's size.
    bool closed(std::size_t contact, double tolerance = 1e-10) const;
    double gap(std::size_t contact) const { return position(model_.contacts[contact].row); }
    double potential();
    /// Largest gap below zero and constraint off zero, each of its row's size.
    double violation() const;

    /// The forces that can act with these contacts closed, one flag a contact.
    Statics statics(const std::vector<char>& closed);

    /// ∂(h + Wλ)/∂q with the λ of each column held; n × n. Sliders that slide with their loads' derivatives.
    Matrix stiffness(const Statics& statics, const Vector& lambda);
    bool has_derivatives();
    /// The derivatives of the sliders' loads, one row an element of the statics, zero where it is no slider.
    Matrix load_slopes(const Statics& statics);

private:
    Eigen::RowVectorXd load_slope(int element);
    double size_of(const Statics& statics);

    const model::Model& model_;
    const double t_;
    const int n_;
    std::vector<integrate::ElementRows> elements_;
    model::Workspace workspace_;
    model::Terms terms_;
    std::vector<double> coefficients_, rest_;
    std::unique_ptr<model::Jacobians> jacobians_;
    bool asked_ = false;
    std::vector<double> values_;
    Vector q_;
};

/// Normal forces, reactions and clutches alone, at the position that the model is at.
Statics without_friction(RestingModel& model, const Statics& statics);

}  // namespace saltus::stability
