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
#include "saltus/integrate/moreau/few_rows.hpp"
#include "saltus/integrate/moreau/moreau_implicit.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/mass.hpp"
#include "saltus/model/model.hpp"

namespace saltus::integrate::moreau {

/// What a contact did in a step.
enum class Touch : char {
    open,
    closed,   ///< held like a resting one
    leaving,  ///< closed, but without an impulse and on its way out
    struck,   ///< with restitution
    stopped,  ///< struck, with e = 0
};

/// A state, and what the step that led to it did.
struct Point {
    double t = 0.0;
    std::vector<double> q, u;
    double h = 0.0;              ///< length of the step; 0: none
    std::vector<double> Lambda;  ///< one a row of the model
    std::vector<Touch> touch;    ///< one a contact
    bool any_struck = false;
    double work = 0.0;           ///< of the contacts, Σ ½(γ⁺ + γ⁻)·Λ
    impact::DecidedWork struck;  ///< what that was made of, where any struck; its block is a row of the model
    double done = 0.0;           ///< on T + U: that of the reactions at rest, applied forces, damping
    double energy = 0.0;         ///< a size of T and U in the step; 0: not asked for
    StepWorks works{};           ///< where they are asked for
    trajectory::Violation violation;
};

/// Cholesky factors of D of the constraints, a small dense matrix.
class Cholesky {
public:
    void resize(int n);
    void clear();
    double& at(int i, int j) {
        return A_[static_cast<std::size_t>(i) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(j)];
    }
    void factorise();                 ///< a pivot that is lost to rounding drops its row
    void solve(std::span<double> x);  ///< x ← A⁻¹x, of its first components

private:
    int n_ = 0;
    std::vector<double> A_;
};

/// Makes single steps, see moreau.hpp. A step with contacts that were there in the step before allocates nothing.
class Stepper {
public:
    Stepper(const model::Model& model, const Moreau& method);

    /// Before the first step: contacts that are closed and do not approach count as closed in the step before.
    void begin(Point& point);

    /// One step from a point to the time t. False when it cannot be made: `reason` says why.
    bool step(const Point& from, double t, Point& to);

    /// Forces are linearly implicit from now on; false where the system gives no derivatives.
    bool become_implicit();
    bool implicit() const { return implicit_.has_value(); }
    /// Whether explicit forces are stiff for the step, by so many rounds of iteration.
    bool stiff(const Point& at, double h, int rounds);

    bool wants_energy = true;  ///< of the steps to come, where nothing but their size is asked for
    bool wants_works = false;  ///< of the steps to come
    model::Energy energy_at(double t, std::span<const double> q, std::span<const double> u);
    double total_energy(double t, std::span<const double> q, std::span<const double> u);

    std::string law_text(std::size_t element) const;  ///< of an element, as an audit says it

    /// γ of a row at a state, after `evaluate`.
    double gamma_of(int row, std::span<const double> u) const { return model::row_velocity(layout_, terms_, row, u); }
    void evaluate(double t, std::span<const double> q, std::span<const double> u);
    /// What a row's value at x is compared with.
    double row_size(int row, std::span<const double> x) const;

    std::string reason;
    trajectory::Statistics statistics;
    long unsolved = 0;  ///< contact problems above the tolerance
    double first_unsolved = 0.0;
    bool drifts = false;             ///< a projection did not reach its tolerance
    std::vector<int> redundant;      ///< constraints that were left to others at some time
    std::vector<std::string> notes;  ///< what is to be said of impacts, each once

private:
    bool lost(const std::string& what, double t);
    bool factorise_mass();
    void find_independent();
    bool closed(int row, std::span<const double> q) const;
    bool find_contacts(const Point& from, Point& to);
    void add_friction(const model::Friction& f, const solvers::Law& law);
    bool collected(const Point& to);
    void collect(const Point& to, double h);
    void assemble();
    void free_velocities(const Point& from, Point& to);
    double restitution(const model::Contact& c, double speed) const;
    void update_coefficients(double t, std::span<const double> u);
    bool by_newton(const Point& to) const;
    bool solve_impulses(const Point& from, double t_m, Point& to);
    bool collide(const Point& from, double t_m, Point& to);
    bool solve_contacts(const Point& from, double t_m, const Point& to);
    void apply(std::span<const double> r, Point& to);
    void audit(std::span<const double> r, Point& to);
    bool judge(double t_m);
    void split_impulses(const Point& from, bool newton, Point& to);
    void split_forces(const Point& from, double t_m, Point& to);
    bool fulfilled(int row, const Point& to) const;
    bool project(Point& to);
    void factorise_projection();
    void invert_mass(std::span<double> x);

    /// Calls with the number of each closed contact and its first row in the problem.
    template <class Action>
    void for_each_closed(const Point& to, Action action) const {
        auto k = static_cast<std::size_t>(first_contact_);
        for (std::size_t i = 0; i < model_.contacts.size(); ++i) {
            if (to.touch[i] == Touch::open) continue;
            action(i, k);
            k += 1 + static_cast<std::size_t>(model_.contacts[i].friction.dimension);
        }
    }

    const model::Model& model_;
    const model::Layout& layout_;
    const std::size_t n_;
    const double theta_, tolerance_;
    model::Workspace workspace_;
    model::Terms terms_;
    model::MassFactor mass_;
    bool factorised_ = false;
    std::vector<double> inverse_mass_;  // of a constant, diagonal one
    std::optional<ImplicitForces> implicit_;
    std::optional<Stiffness> stiffness_;
    ActiveRows rows_;
    std::vector<char> collected_;  // contacts in the rows
    double collected_h_ = 0.0;     // 0: not collected yet
    bool few_fit_ = false;         // the laws of the rows
    bool few_ = false;             // D is in dense_, not in the problem
    FewRows few_rows_;
    std::vector<double> dense_;
    solvers::Workspace solver_;
    solvers::Solution solution_;
    impact::Collision collision_;
    impact::Outcome outcome_;
    Cholesky projection_;
    std::vector<double> coefficients_, q_, change_, mean_, positions_, gamma_, gamma_plus_, chi_, guess_, correction_;
    std::vector<double> probe_;
    std::vector<int> independent_, place_;  // constraints in the problem; place of each constraint there, or -1
    std::vector<int> block_;
    int first_contact_ = 0;
    const bool permanent_;
    bool coefficients_known_ = false;
};

}  // namespace saltus::integrate::moreau
