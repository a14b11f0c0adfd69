// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "saltus/integrate/mode/dynamics.hpp"
#include "saltus/integrate/mode/redundant_reactions.hpp"
#include "saltus/integrate/mode/series_decay.hpp"
#include "saltus/integrate/mode/small_mass.hpp"
#include "saltus/model/series.hpp"
#include "saltus/ode/dense.hpp"
#include "saltus/ode/step.hpp"

namespace saltus::integrate {

/// The motion in one mode as a Taylor series in τ = t − t0: positions, velocities, reactions and work. The equations
/// are those of Dynamics,
///     M u̇ = h + Σ_r w_r λ_r,   w_e·u̇ + ζ_e = 0 for closed and sticking rows e,   λ_T = −∇σ λ_N for slipping rows.
/// With (f)_k for the coefficient of order k, order k of the first equation is
///     M_0 (u̇)_k = (h)_k − Σ_{j=1..k} M_j (u̇)_{k−j} + Σ_r Σ_{j=0..k} (w_r)_j (λ_r)_{k−j},
/// and the others alike. Only the right-hand sides change with the order: M_0 and K_0 = A_0 M_0⁻¹ F_0 are factorised
/// once for each expansion.
///
/// If the equations are redundant, then the reactions are not unique. The expansion starts with a distribution that is
/// well inside the sets of all laws, and each higher order has the reactions of least norm. As long as this one
/// distribution is admissible, the mode holds.
class ModeSeries {
public:
    static constexpr int max_order = model::SeriesEquations::max_order;

    explicit ModeSeries(const Dynamics& dynamics) : d_(dynamics) {}
    /// Forgets the steps of a run. The equations that were made for its modes are kept.
    void reset();

    /// Prepares for the mode in force of the dynamics. `watched` has one entry per position (constraints, gaps): 1 if
    /// its series is wanted besides those that the mode needs. False if this mode cannot be expanded: the system has no
    /// series, or the friction of a round patch slips.
    bool begin_mode(std::span<const char> watched);

    /// Expands the motion from x = (q, u, work) at t to the given order of q and u, 2 <= order <= max_order. The order
    /// is lower if the motion is a polynomial of the time; the series is then exact. False if some coefficient does not
    /// exist or the equations are singular. If they are redundant: also if the motion depends on the distribution of
    /// the reactions, or if no distribution is inside the sets of the laws; see `release`.
    bool expand(double t, const double* x, int order);
    /// Continues the last expansion, which has succeeded, to a higher order. The result is that of `expand` to that
    /// order.
    bool extend(int order);
    int order() const { return order_; }   ///< of the last expansion
    bool exact() const { return exact_; }  ///< the last expansion is the motion itself, a polynomial of the time
    /// The equations have become dependent at the last expansion (Dynamics::degenerating).
    bool degenerating() const { return degenerating_; }
    double acceleration_scale() const { return acceleration_scale_; }  ///< as Dynamics::acceleration_scale
    bool slips_in_a_plane() const { return p_->slips_in_a_plane; }     ///< some part with two rows slips
    bool redundant() const { return redundant_; }                      ///< the reactions are not unique
    /// How a group of redundant contacts comes loose, if the last expansion failed because even the best distribution
    /// of reactions reaches the boundary of the sets: contacts that open and friction parts that begin to slip. These
    /// are the conditions that together leave no margin. Empty if they cannot be named.
    struct Release {
        std::vector<int> opening;                             ///< elements that lose their normal force
        std::vector<std::pair<int, SlipDirection>> slipping;  ///< friction parts, with the direction of slip
        bool empty() const { return opening.empty() && slipping.empty(); }
    };
    const Release& release() const { return release_; }
    /// Whether all terms of the mode are linear in q and u, so that the series has no products and no order costs more
    /// than another.
    bool linear() const { return p_->linear; }
    double t() const { return t_; }

    /// The step at which the last terms of the series are as large as the tolerance allows [Jorba]: the largest h with
    /// |x_k| h^k <= tolerance for the three orders k up to `last`. This holds for positions, velocities, the work, and
    /// for everything whose zeros are searched for: gaps, reactions, coefficients and switching functions. Infinite if
    /// the terms are zero. If the equations are redundant, then they also agree with each other on the step.
    double step_length(const ode::Tolerances& tolerances, int last) const;

    /// The exponential motion that the last three coefficients of the velocities show: u_k ≈ A λ^k/k!.
    struct FastMotion {
        double rate;       ///< λ, in 1/s; 0 if the coefficients are not those of an exponential
        double amplitude;  ///< A, in units of the tolerance
    };
    FastMotion fast_motion(const ode::Tolerances& tolerances) const;

    /// The longest step, at most h, on which the series is shown to satisfy the equations of motion. The residual force
    ///     r(τ) = M u̇ − h − Σ w_r λ_r
    /// of the truncated series begins at order N. It is bounded everywhere on the step, and so are the residuals of the
    /// equations of the rows and the errors of the series of gaps and switching functions, by the remainders of all
    /// formulas (mode_series_residual.cpp). Systems without such remainders are evaluated on a complex disk: if |r| <=
    /// B for |τ| <= R, then Cauchy's estimate gives
    ///     |r(τ)| <= B (τ/R)^N / (1 − τ/R)   for 0 <= τ < R.
    /// Nothing is sampled: a narrow feature of a formula anywhere on the step makes the bound large. Returns 0 if even
    /// a very short step cannot be shown to be valid.
    double proved_length(double h, const ode::Tolerances& tolerances);
    /// Whether the series is shown to satisfy the equations of motion on a step of length h, by the same bounds. For a
    /// series of low order on a short step, of which no better length is looked for.
    bool proved(double h, const ode::Tolerances& tolerances);

    /// How large the error of the series is on a step.
    struct StepError {
        double quotient;  ///< the largest error of motion, reactions, work and watched quantities, in tolerances
        /// The errors are bounds, so that a quotient <= 1 also shows that the step is valid (`proved`). Otherwise they
        /// are estimates from the last terms.
        bool bound;
    };
    StepError step_error(double h, const ode::Tolerances& tolerances);
    /// What the steps in this mode have shown about the terms of its series. The caller keeps it up to date.
    SeriesDecay& decay() { return p_->decay; }

    /// The state (q, u, work) at t + tau, which becomes the length of the last step.
    void state(double tau, double* x);
    /// q and u at t + tau.
    void motion(double tau, double* x) const;
    /// Writes the step from t to t_new as a polynomial. Inside a long step the work is less accurate than q and u.
    void dense(double t_new, ode::Dense& out) const;
    /// Writes λ of the rows that hold, from t to t_new, in the order of Dynamics::equation_rows.
    void dense_reactions(double t_new, ode::Dense& out) const;

    // --- series of single quantities, for the search for events: coefficients by order ---

    using Coefficients = std::span<const double>;
    Coefficients position(int row) const;      ///< a gap or constraint function
    Coefficients reaction(int row) const;      ///< λ of a row
    Coefficients row_velocity(int row) const;  ///< γ of a slipping row, a free clutch, or the normal of a spring
    Coefficients load(int element) const;      ///< normal force of an element, with the sign of its reaction
    /// As Dynamics::spring_force; writes its series and returns the number of coefficients.
    int spring_force(int element, double* c) const;
    /// The friction coefficient up to which a part sticks, along its axis 0 or 1; as spring_force.
    int friction_coefficient(int part, int axis, double* c) const;
    /// The first time on the step, 0 <= τ <= h, at which a friction coefficient that acts, or a normal force of a
    /// slider, is certainly below −2 · negligible (mu) or −2 · negligible · (1 + force scale) (F_N). Empty if there is
    /// none.
    std::optional<double> friction_ends(double h, double negligible) const;
    Coefficients condition(int element) const;  ///< the condition of a contact that has one
    Coefficients trigger(int jump) const;       ///< `when` of a jump of the model

    // --- switching functions of expressions ---

    int switch_count() const { return equations_->switch_count(); }
    Coefficients switch_function(int i) const;
    int side(int i) const { return equations_->side(i); }
    void set_side(int i, int side) { equations_->set_side(i, side); }
    void clear_sides() { equations_->clear_sides(); }

private:
    int order_of_work(int last, double h) const;
    struct SlipPart {
        int part, element;
        int equation;          // number of the equation of the normal force that is its load; -1 if the load is known
        bool constant;         // ∇σ does not change
        const double* mu[2];   // series
        const double* radius;  // null, or the factor of μ for drilling and rolling
    };
    struct KnownLoad {
        int element, row;  // row: of the spring, or -1 for a slider
    };
    /// An entry w of a row of W: a series, or a number.
    struct Entry {
        const double* w;
        int column, number;  // coordinate; place in the pattern Layout::rows
        bool constant;
    };
    /// An entry of M that varies, in its lower triangle.
    struct MassEntry {
        const double* c;
        int i, j, number;  // row and column; place in the pattern Layout::mass
    };
    /// A row of W with the series that belong to it.
    struct Row {
        int row;
        const double *chi, *zeta;
        bool chi_constant;
        std::span<const Entry> entries;
    };
    /// What is found once for a mode: its equations, and what takes part in them.
    struct Program {
        std::vector<char> key;  // key_of_mode
        model::SeriesNeeds needs;
        std::shared_ptr<model::SeriesEquations> equations;  // modes that need the same terms share them
        SeriesDecay decay;
        std::vector<int> rows;              // equations: rows of A
        std::vector<double> equation_sign;  // reaction_sign of the owner of a normal
        std::vector<SlipPart> slips;
        std::vector<KnownLoad> loads;
        std::vector<int> moving_rows;  // rows whose velocity is a series: slipping, free clutches, springs
        std::vector<int> force_rows;   // rows with a reaction; those of the equations come first
        int motion_degree = 0;         // SeriesEquations::motion_degree
        bool slips_in_a_plane = false;
        bool linear = false;              // all terms are linear in q and u
        std::vector<Entry> entries;       // entries of all rows
        std::vector<Row> forces, moving;  // the rows force_rows and moving_rows
        std::vector<MassEntry> mass;
    };

    double* series(std::vector<double>& of, int i) { return of.data() + static_cast<std::size_t>(i) * stride; }
    const double* series(const std::vector<double>& of, int i) const {
        return of.data() + static_cast<std::size_t>(i) * stride;
    }
    static constexpr int gradients_per_slip = 4;  // ∇σ, two rows; the same without the factor `radius`
    double* gradient(std::size_t slip, int row) {
        return series(gradient_, gradients_per_slip * static_cast<int>(slip) + row);
    }
    double* scaled(std::size_t slip, int row) { return gradient(slip, 2 + row); }
    static constexpr int vectors_per_slip = 5;  // w_0, w_1, |w|, w_0/|w|, w_1/|w|
    double* vector(std::size_t slip, int number) {
        return series(vectors_, vectors_per_slip * static_cast<int>(slip) + number);
    }
    const double* vector(std::size_t slip, int number) const {
        return series(vectors_, vectors_per_slip * static_cast<int>(slip) + number);
    }
    int load_of(int element) const;
    void key_of_mode(std::span<const char> watched);
    void make_room();
    std::unique_ptr<Program> make_program(std::span<const char> watched) const;
    model::SeriesNeeds choose_equations(std::span<const char> watched, Program& program) const;
    void complete_slips(Program& program) const;
    void collect_entries(Program& program) const;
    bool factorise();
    bool factorise_redundant();
    double consistent_length() const;
    void row_defects(int k);
    bool solve_multipliers(int k);
    void add_multipliers(int k);
    bool centre_reactions();
    /// A margin of the reactions, and what happens if it is used up.
    struct LawMargin {
        ReactionMargin margin;
        int element;    // opens, if part < 0
        int part = -1;  // slips along `direction`
        SlipDirection direction{};
    };
    ReactionMargin normal_load(int element) const;
    std::vector<LawMargin> law_margins() const;
    bool add_tangents(double limit, std::vector<LawMargin>& margins) const;
    LawMargin tangent(int part, const std::array<double, 2>& direction) const;
    double friction_coefficient(int part, int axis, int order) const;
    double spring_force(int element, int order) const;
    int equation_of(int row) const;
    void solve_mass(std::span<double> x) const;
    void evaluate_terms(int k);
    void velocities(int k);
    void slip_gradients(int k);
    void known_loads(int k);
    void add_row_forces(int k);
    bool solve_order(int k);
    double power(int k) const;
    double work_of_forces(double tau) const;
    bool slips_straight(std::size_t slip, double h) const;
    void bound_slip_force(std::size_t slip, double h, double R, const model::SeriesEquations::Radii& radii);
    double disk_quotient(double h, double R, const ode::Tolerances& tolerances);
    class ProductErrors;
    double coefficient_error(model::Coefficient c) const;
    double velocity_error(int row) const;
    double load_error(const KnownLoad& known, ProductErrors& products) const;
    void gradient_errors(std::size_t slip, double h, ProductErrors& products, double* error);
    void find_law_errors(double h);
    bool bound_residuals(double h);
    double residual_quotient(double h, const ode::Tolerances& tolerances) const;

    static constexpr std::size_t stride = max_order + 2;
    /// A bound of an error may be so many times the tolerance. Bounds are pessimistic: they add the sizes of terms that
    /// cancel. Too small: steps become shorter than the last terms allow. Too large: the guarantee becomes weaker.
    static constexpr double proof_slack = 1e3;

    const Dynamics& d_;
    std::vector<std::unique_ptr<Program>> programs_;  // of modes that have occurred
    Program* p_ = nullptr;                            // of the mode; null if it has none
    model::SeriesEquations* equations_ = nullptr;     // those of the program
    std::vector<char> key_;                           // key_of_mode
    double t_ = 0.0;
    int order_ = 0;
    bool redundant_ = false;    // the equations of the mode depend on each other
    int known_orders_ = 0;      // orders of u̇, λ that were computed
    int evaluated_order_ = -1;  // last order of the terms that was computed
    bool exact_ = false;        // the last expansion is the motion itself
    bool degenerating_ = false, factorised_ = false;
    double acceleration_scale_ = 0.0;
    double force_scale_ = 0.0;   // largest force at the start of the expansion, in N
    double energy_scale_ = 0.0;  // largest kinetic energy and work of all expansions, in J

    double last_step_ = 0.0;            // length of the last step of the arc, in s
    bool diagonal_ = false;             // M is diagonal
    bool small_ = false;                // M is not, but has few coordinates
    bool free_flight_ = false;          // M is diagonal and constant, and no row matters
    bool works_ = false;                // some power is computed as a series
    std::vector<double> inverse_mass_;  // 1/M_ii if M is diagonal

    std::vector<double> a_, lambda_, gamma_, load_, work_;  // series
    std::vector<double> gradient_, vectors_;  // series of the slipping parts: ∇σ; γ, its length, its direction
    std::vector<double> mass_values_, right_, free_, columns_, multiplier_;
    RedundantReactions reactions_;
    Release release_;
    std::vector<double> misfit_;  // per order: part of the right-hand sides that no reactions fit, in m/s^(2 + order)
    std::vector<double> q_radius_, u_radius_, a_size_, lambda_size_;
    // Of bound_residuals: its results, the sums of the terms of u̇ and of one reaction (expr::term_sums), errors of the
    // laws of reactions, powers of h.
    std::vector<double> force_residual_, row_residual_, velocity_error_;
    const model::SeriesEquations::Radii* left_ = nullptr;
    std::vector<double> a_sum_, lambda_sum_, lambda_error_, power_;
    static constexpr double first_disk_ratio = 4.0;
    double disk_ratio_ = first_disk_ratio;  // R/h that was best so far
    bool grow_disk_ = true;                 // the ratio to try next is larger
    /// The longest step of the mode that proved_length tries, in s; infinite until a step has had to be cut.
    double provable_ = std::numeric_limits<double>::infinity();
    std::unique_ptr<model::MassFactor> mass_;  // factors of M, unless it is diagonal or small
    SmallMass small_mass_;
    solvers::DenseLU lu_;
};

}  // namespace saltus::integrate
