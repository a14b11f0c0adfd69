// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "saltus/impact/audit/decided.hpp"
#include "saltus/impact/collision.hpp"
#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/mode/active.hpp"
#include "saltus/integrate/moreau/moreau_implicit.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/mass.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/solvers/friction/few_rows.hpp"

namespace saltus::integrate::moreau {

/// What a contact did in a step.
enum class Touch : char {
    open,
    closed,   ///< held like a contact at rest: no restitution
    leaving,  ///< closed, but it carries no impulse and its gap grows
    struck,   ///< an impact with e_N > 0
    stopped,  ///< an impact with e_N = 0
};

/// A state, and what the step that ended there did.
struct Point {
    double t = 0.0;
    std::vector<double> q, u;
    double h = 0.0;                   ///< length Δt of the step; 0: the start of the motion, no step was made
    std::vector<double> Lambda;       ///< impulses, one for each row of the model
    std::vector<Touch> touch;         ///< one for each contact
    std::vector<char> stuck;          ///< one for each slider, constraint and contact with mu_static: it sticks
    std::vector<double> gamma;        ///< γ_N⁺ of each contact with the row of the step, in m/s; 0 if it was open
    bool any_struck = false;          ///< some contact was struck or stopped
    double contact_work = 0.0;        ///< Σ ½(γ⁺ + γ⁻)·Λ
    impact::DecidedWork impact_work;  ///< parts of the contact work if any_struck; its `block` is a row of the model
    double energy_input = 0.0;  ///< work of reactions, applied forces and damping: the change of T + U they explain
    StepWorks works{};          ///< set if Stepper::wants_works
    trajectory::Violation violation;  ///< largest penetration at the evaluation point, and largest |g| at the end
    int deepest = -1;                 ///< contact with the largest penetration; -1: none penetrates
    /// Part of the contact work in a step with an impact that smooth forces did through the contacts: Σ ½(w·Δu)Λ,
    /// where Δu is the change of velocity by smooth forces.
    double smooth_work = 0.0;
};

/// Cholesky factorisation of a small dense matrix, the Delassus matrix D of the constraints.
class Cholesky {
public:
    void resize(int n);
    void clear();  ///< all entries 0
    double& at(int i, int j) {
        return A_[static_cast<std::size_t>(i) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(j)];
    }
    /// In place, from the lower triangle. A pivot that is zero up to rounding becomes ∞, so that `solve` sets its
    /// unknown to 0.
    void factorise();
    /// x ← A⁻¹x for the first n components of x, where n is the size of A; the others stay.
    void solve(std::span<double> x);

private:
    int n_ = 0;
    std::vector<double> A_;
};

/// Makes single steps of Moreau's time-stepping. detail/moreau.hpp describes the method; the derivation is in
/// moreau_step.cpp. A step with the same closed contacts as the step before does not allocate memory.
class Stepper {
public:
    Stepper(const model::Mechanics& model, const Moreau& method);

    /// Prepares the point at which the motion starts (t, q, u are set). Contacts that are closed and do not approach
    /// count as held, so that they get no restitution in the first step.
    void begin(Point& point);

    /// One step from a point to the time t > from.t. False if the step failed: `reason` says why.
    bool step(const Point& from, double t, Point& to);

    /// Forces are linearly implicit from now on. False if the system gives no derivatives; forces stay explicit then.
    bool become_implicit();
    bool implicit() const { return implicit_.has_value(); }
    /// Whether explicit forces are too stiff for the step h. `rounds` of vector iteration estimate the largest
    /// eigenvalues; later calls continue from the vectors of earlier ones.
    bool stiff(const Point& at, double h, int rounds);
    /// Forgets the vectors of `stiff`. Nothing else of earlier steps influences later ones, except the points.
    void forget_stiffness() {
        if (stiffness_) stiffness_->restart();
    }

    bool wants_works = false;  ///< compute Point::works in the next steps
    model::Energy energy_at(double t, std::span<const double> q, std::span<const double> u);
    /// Constraint functions and gaps; valid until the next call or step.
    std::span<const double> positions_at(double t, std::span<const double> q, std::span<const double> u);
    std::span<const double> rows() const { return terms_.W; }                             ///< W of the last `evaluate`
    double total_energy(double t, std::span<const double> q, std::span<const double> u);  ///< T + U

    /// Impact law and coefficients of an element as text, e.g. "newton, eN = 0.5".
    std::string law_text(std::size_t element) const;

    /// Terms of the model (M, h, W, χ, ζ, gaps) at a state.
    void evaluate(double t, std::span<const double> q, std::span<const double> u);
    /// γ of a row for the velocity u, with W and χ of the last `evaluate`.
    double gamma_of(int row, std::span<const double> u) const { return model::row_velocity(layout_, terms_, row, u); }
    /// s(x) = 1 + Σ|W_i x_i| of a row: the scale that the value of the row at x is compared with.
    double row_size(int row, std::span<const double> x) const;

    std::string reason;  ///< why the last step failed
    trajectory::Statistics statistics;
    long unsolved = 0;               ///< contact problems whose residual is above the tolerance, but usable
    double first_unsolved = 0.0;     ///< time of the first of them
    bool constraints_drift = false;  ///< a projection onto the constraints did not reach its tolerance
    std::vector<int> redundant;      ///< rows of constraints that the others implied at some time
    std::vector<std::string> notes;  ///< remarks on impacts, without repetitions

    /// The coefficients of the model at a state.
    void coefficients_at(double t, std::span<const double> q, std::span<const double> u, std::vector<double>& out);

private:
    bool try_step(const Point& from, double t, Point& to);
    /// An element whose friction holds up to μ_s and slides with μ.
    struct StaticFriction {
        const model::Friction* friction;
        int contact;     ///< number of the contact; -1: the element is always active
        bool impulsive;  ///< its normal force has impulses at impacts, which that of a slider has not
    };
    bool changes_static_friction(const Point& from, const Point& to);
    void note_stick(Point& to) const;
    double friction_mu(const model::Friction& f, double mu) const;
    bool fail(const std::string& what, double t);
    bool factorise_mass();
    void invert_mass(std::span<double> x);
    void find_independent();
    bool closed(int row, std::span<const double> q) const;
    bool exists(std::size_t contact) const;
    bool appears_penetrated(std::size_t contact, const Point& from, const Point& to) const;
    bool find_contacts(const Point& from, Point& to);
    bool strikes(std::size_t contact, double gamma, double change, const Point& from, const Point& to) const;
    void add_friction(const model::Friction& f, solvers::Law law);
    bool rows_are_current(const Point& to) const;
    void collect_rows(const Point& to, double h);
    void assemble();
    void free_velocities(const Point& from, Point& to);
    double restitution(const model::Contact& c, double speed) const;
    void update_coefficients(double t, std::span<const double> u);
    bool all_by_newton(const Point& to) const;
    bool solve_impulses(const Point& from, double t_m, Point& to);
    bool collide(const Point& from, double t_m, Point& to);
    bool solve_contacts(const Point& from, double t_m, const Point& to);
    bool accept_solution(double t_m);
    void apply(std::span<const double> r, Point& to);
    void audit(std::span<const double> r, Point& to);
    void split_impulses(const Point& from, bool newton, Point& to);
    void split_forces(const Point& from, double t_m, Point& to);
    bool fulfilled(int row, const Point& to) const;
    bool project(Point& to);
    void factorise_projection();

    /// Calls `action(contact, row)` for each closed contact with its normal row in the problem; friction rows follow
    /// it.
    template <class Action>
    void for_each_closed(const Point& to, Action action) const {
        auto k = static_cast<std::size_t>(first_contact_);
        for (std::size_t i = 0; i < model_.contacts.size(); ++i) {
            if (to.touch[i] == Touch::open) continue;
            action(i, k);
            k += 1 + static_cast<std::size_t>(model_.contacts[i].friction.dimension);
        }
    }

    const model::Mechanics& model_;
    const model::Layout& layout_;
    const std::size_t n_;  // coordinates
    const double theta_, tolerance_;
    const Restitution restitution_;
    model::Workspace workspace_;
    model::Terms terms_;  // at the evaluation point (t_m, q_m, u)
    model::MassFactor mass_;
    bool factorised_ = false;           // mass_ is factorised for the M of terms_, or M is constant
    std::vector<double> inverse_mass_;  // diagonal of M⁻¹ if M is constant and diagonal, else empty
    std::optional<ImplicitForces> implicit_;
    std::optional<Stiffness> stiffness_;

    // The contact problem of the step, ξ = D Λ + q with a law for each block of rows.
    ActiveRows rows_;
    std::vector<char> contact_in_rows_;  // for each contact: whether it is in rows_
    double rows_h_ = 0.0;                // step for which rows_ were collected; 0: never
    bool laws_fit_few_rows_ = false;     // FewRows can solve problems with these laws
    bool use_few_rows_ = false;          // D is in dense_ for FewRows, not in rows_.problem
    solvers::FewRows few_rows_;
    std::vector<double> dense_;
    solvers::Workspace solver_;
    solvers::Solution solution_;
    impact::CollisionRows collision_;
    impact::Outcome outcome_;
    Cholesky projection_;

    std::vector<double> coefficients_;
    std::vector<double> q_;                   // q_m
    std::vector<double> change_;              // M⁻¹ h Δt, the change of u by smooth forces
    std::vector<double> mean_;                // scratch: a velocity or a displacement
    std::vector<double> positions_;           // g and gaps at the end of the step
    std::vector<double> gamma_, gamma_plus_;  // γ⁻ and γ⁺ of each row of the problem, in m/s or rad/s
    std::vector<double> chi_;                 // χ of each row of the problem, γ = Wᵀu + χ, in m/s or rad/s (audit)
    std::vector<double> guess_;  // first guess of Λ for the solver, in N s: Λ of the last step · h/h_before
    // Scratch. In `project`: the defect of each row in m, then the multipliers that remove it. In `solve_contacts`: q
    // of the problem while its matrix is assembled.
    std::vector<double> correction_;
    std::vector<double> probe_;     // scratch: velocity at which powers are evaluated, in the unit of u (split_forces)
    std::vector<int> independent_;  // rows of the constraints that are in the problem; they come first in it
    std::vector<int> place_;        // of each constraint: its row in the problem, or −1 if it is redundant
    std::vector<int> block_;        // scratch: rows of one block
    int first_contact_ = 0;         // first row of contacts in the problem
    const bool always_has_rows_;    // constraints, sliders or clutches: there is a problem in every step
    bool coefficients_known_ = false;
    std::vector<StaticFriction> static_frictions_;  // elements with mu_static
    std::vector<char> holds_static_;  // of each of them: the step solves with mu_static, because the element sticks
    std::vector<char> rows_static_;   // the same for the step for which rows_ were collected
    const bool has_conditions_;       // some contact exists only while a condition holds
    int appeared_ = -1;               // contact that appeared deep inside its obstacle in the last step; -1: none
};

}  // namespace saltus::integrate::moreau
