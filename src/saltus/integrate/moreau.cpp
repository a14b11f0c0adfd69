// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/moreau.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/active.hpp"
#include "saltus/integrate/impact_audit.hpp"

namespace saltus::integrate {

namespace {

using solvers::Law;
using solvers::LawKind;
using trajectory::ElementKind;
using trajectory::EventKind;

constexpr double closed_tolerance = 1e-12;      // of a gap, relative to its row: rounding
constexpr double constraint_tolerance = 5e-11;  // |g| after projection, or 1e-11 of the row where that is less
constexpr double lost_residual = 1e-4;          // of a contact problem: no use going on
constexpr double resting_speed = 1.5;           // in units of what smooth forces do in one step
constexpr int steps_to_lift = 3;                // that a contact was open or leaving

std::size_t ix(int i) { return static_cast<std::size_t>(i); }

/// What a contact did in a step.
enum class Touch : char {
    open,
    closed,   // held like a resting one
    leaving,  // closed, but without an impulse and on its way out
    struck,   // with restitution
    stopped,  // struck, with e = 0
};

/// A state, and what the step that led to it did.
struct Point {
    double t = 0.0;
    std::vector<double> q, u;
    double h = 0.0;              // length of the step; 0: none
    std::vector<double> Lambda;  // one a row of the model
    std::vector<Touch> touch;    // one a contact
    bool any_struck = false;
    double work = 0.0;           // of the contacts, Σ ½(γ⁺ + γ⁻)·Λ
    impact::DecidedWork struck;  // what that was made of, where any struck
    double done = 0.0;           // on T + U: that of the reactions at rest, applied forces, damping
    double energy = 0.0;         // a size of T and U in the step
    trajectory::Violation violation;
};

/// Cholesky factors of D of the constraints, a small dense matrix.
class Cholesky {
public:
    void resize(int n) {
        n_ = n;
        A_.resize(ix(n) * ix(n));
    }
    void clear() { std::fill(A_.begin(), A_.end(), 0.0); }
    double& at(int i, int j) { return A_[ix(i) * ix(n_) + ix(j)]; }

    /// A pivot that is lost to rounding drops its row.
    void factorise() {
        for (int k = 0; k < n_; ++k) {
            const double diagonal = at(k, k);
            for (int j = 0; j < k; ++j) at(k, k) -= at(k, j) * at(k, j);
            at(k, k) = at(k, k) > 1e-14 * diagonal ? std::sqrt(at(k, k)) : infinity;
            for (int i = k + 1; i < n_; ++i) {
                for (int j = 0; j < k; ++j) at(i, k) -= at(i, j) * at(k, j);
                at(i, k) /= at(k, k);
            }
        }
    }

    /// x ← A⁻¹x, of its first components.
    void solve(std::span<double> x) {
        for (int i = 0; i < n_; ++i) {
            for (int j = 0; j < i; ++j) x[ix(i)] -= at(i, j) * x[ix(j)];
            x[ix(i)] /= at(i, i);
        }
        for (int i = n_ - 1; i >= 0; --i) {
            for (int j = i + 1; j < n_; ++j) x[ix(i)] -= at(j, i) * x[ix(j)];
            x[ix(i)] /= at(i, i);
        }
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    int n_ = 0;
    std::vector<double> A_;
};

/// Makes single steps.
class Stepper {
public:
    Stepper(const model::Model& model, const Moreau& method)
        : model_(model),
          layout_(model.layout()),
          n_(ix(model.size())),
          theta_(method.theta),
          contact_method_(solvers::Automatic{method.contact_tolerance}),
          workspace_(model),
          terms_(layout_),
          mass_(layout_.mass),
          rows_(model),
          coefficients_(ix(layout_.coefficients)),
          q_(n_),
          change_(n_),
          mean_(n_),
          positions_(ix(layout_.positions())),
          permanent_(!model.constraints.empty() || !model.sliders.empty() || !model.clutches.empty()) {}

    /// Before the first step: contacts that are closed and do not approach count as closed in the step before.
    void begin(Point& point) {
        point.Lambda.assign(ix(layout_.row_count()), 0.0);
        point.touch.assign(model_.contacts.size(), Touch::open);
        evaluate(point.t, point.q, point.u);
        find_independent();
        for (std::size_t i = 0; i < model_.contacts.size(); ++i) {
            const int row = model_.contacts[i].row;
            if (closed(row, point.q) && gamma_of(row, point.u) >= -1e-12 * row_size(row, point.u))
                point.touch[i] = Touch::closed;
        }
    }

    /// One step from a point to the time t. False when it cannot be made: `reason` says why.
    bool step(const Point& from, double t, Point& to) {
        const double h = t - from.t;
        if (!(h > 0.0)) return lost("the step is less than the rounding of the time", t);
        const double t_m = from.t + (1.0 - theta_) * h;
        for (std::size_t i = 0; i < n_; ++i) q_[i] = from.q[i] + (1.0 - theta_) * h * from.u[i];
        evaluate(t_m, q_, from.u);
        if (!(layout_.mass_constant && factorised_)) {
            if (!mass_.factorise(terms_.M)) return lost("the mass matrix is not positive definite", t_m);
            factorised_ = true;
        }
        for (std::size_t i = 0; i < n_; ++i) change_[i] = h * terms_.h[i];
        mass_.solve(change_);

        to.t = t;
        to.h = h;
        to.work = to.done = 0.0;
        to.any_struck = false;
        to.violation = {};
        std::fill(to.Lambda.begin(), to.Lambda.end(), 0.0);
        if (find_contacts(from, to) || permanent_) {
            if (!solve_impulses(from, t_m, to)) return false;
        } else {
            for (std::size_t i = 0; i < n_; ++i) to.u[i] = from.u[i] + change_[i];
        }
        for (std::size_t i = 0; i < n_; ++i) to.q[i] = q_[i] + theta_ * h * to.u[i];
        if (layout_.constraints > 0 && !project(to)) return step(from, t, to);
        for (std::size_t i = 0; i < n_; ++i)
            if (!std::isfinite(to.q[i]) || !std::isfinite(to.u[i]))
                return lost("the motion is not finite; forces too stiff for the step?", to.t);

        for (std::size_t i = 0; i < n_; ++i) mean_[i] = 0.5 * (from.u[i] + to.u[i]);
        const model::Energy energy = energy_at(t_m, q_, mean_);
        to.done += h * (energy.applied - energy.damping);
        to.energy = std::max(std::abs(energy.kinetic), std::abs(energy.potential));
        return true;
    }

    model::Energy energy_at(double t, std::span<const double> q, std::span<const double> u) {
        return model_.system->energy(model::at(model_, t, q, u), workspace_.scratch());
    }
    /// Of an element, as an audit says it.
    std::string law_text(std::size_t element) const {
        if (element >= model_.contacts.size()) return "bilateral";
        const model::Contact& c = model_.contacts[element];
        std::string text = "newton, eN = " + number_text(coefficient(coefficients_, c.e_n));
        if (c.friction.dimension > 0) text += ", eT = " + number_text(coefficient(coefficients_, c.e_t));
        return text;
    }

    double total_energy(double t, std::span<const double> q, std::span<const double> u) {
        const model::Energy e = energy_at(t, q, u);
        return e.kinetic + e.potential;
    }

    /// γ of a row at a state, after `evaluate`.
    double gamma_of(int row, std::span<const double> u) const { return model::row_velocity(layout_, terms_, row, u); }
    void evaluate(double t, std::span<const double> q, std::span<const double> u) {
        model::evaluate(model_, workspace_, t, q, u, terms_);
        ++statistics.evaluations;
    }
    /// What a row's value at x is compared with.
    double row_size(int row, std::span<const double> x) const {
        return model::row_scale(layout_.rows, terms_.W, row, x);
    }

    std::string reason;
    trajectory::Statistics statistics;
    long unsolved = 0;  // contact problems above the tolerance
    double first_unsolved = 0.0;
    bool drifts = false;         // a projection did not reach its tolerance
    std::vector<int> redundant;  // constraints that were left to others at some time

private:
    bool lost(const std::string& what, double t) {
        reason = what + " at t = " + number_text(t);
        return false;
    }

    /// The constraints that the others do not imply, after `evaluate` at a state that fulfils them all. Between such
    /// states dependent rows are almost, but not quite, dependent, and may not be asked for together.
    void find_independent() {
        const int m = layout_.constraints;
        Matrix rows = Matrix::Zero(m, static_cast<Eigen::Index>(n_));
        for (int r = 0; r < m; ++r)
            for (int e = layout_.rows.start[ix(r)]; e < layout_.rows.start[ix(r) + 1]; ++e)
                rows(r, layout_.rows.column[ix(e)]) = terms_.W[ix(e)];
        const RowRank rank = row_rank(rows, 1e-7);
        independent_ = rank.independent;
        projection_.resize(static_cast<int>(independent_.size()));
        place_.assign(ix(m), -1);
        for (std::size_t k = 0; k < independent_.size(); ++k) place_[ix(independent_[k])] = static_cast<int>(k);
        for (const RowRank::Dependent& d : rank.dependent)
            if (std::find(redundant.begin(), redundant.end(), d.row) == redundant.end()) redundant.push_back(d.row);
    }

    /// A gap is closed up to rounding: a block at rest must not lose the floor by its last bit.
    bool closed(int row, std::span<const double> q) const {
        const double gap = terms_.positions[ix(row)];
        return gap <= 0.0 || (gap < 1e-6 && gap <= closed_tolerance * row_size(row, q));
    }

    /// Contacts with gap(q_m) <= 0. One that held in the step before does not let go by a thousandth of what it would
    /// fall in this one: impulses are known to a tolerance, and lift it by as much.
    bool find_contacts(const Point& from, Point& to) {
        bool any = false;
        for (std::size_t i = 0; i < model_.contacts.size(); ++i) {
            const int row = model_.contacts[i].row;
            const double gap = terms_.positions[ix(row)];
            bool now = closed(row, q_);
            if (!now && (from.touch[i] == Touch::closed || from.touch[i] == Touch::stopped))
                now = gap <= -1e-3 * to.h * model::row_dot(layout_.rows, terms_.W, row, change_);
            to.touch[i] = now ? Touch::closed : Touch::open;
            any = any || now;
            to.violation.gap = std::max(to.violation.gap, -gap);
        }
        return any;
    }

    static Law plain(LawKind kind) {
        Law law;
        law.kind = kind;
        return law;
    }

    /// Friction of a constraint or slider, on the rows behind.
    void add_friction(const model::Friction& f, Law law) {
        if (f.dimension == 0) return;
        block_.clear();
        for (int k = 0; k < f.dimension; ++k) block_.push_back(f.first_row + k);
        rows_.add(block_, law);
    }

    /// The blocks of the step: constraints first, all in one where that is solved exactly.
    void collect(const Point& to, double h) {
        rows_.clear();
        if (!independent_.empty() && independent_.size() <= 6)
            rows_.add(independent_, plain(LawKind::bilateral));
        else
            for (const int row : independent_) rows_.add_row(row, plain(LawKind::bilateral));
        for (const model::Constraint& c : model_.constraints) {
            Law law = plain(LawKind::scaled_slider);
            law.mu = coefficient(coefficients_, c.friction.mu[0]);
            law.row = place_[ix(c.row)];
            if (law.row >= 0) add_friction(c.friction, law);
        }
        for (const model::Slider& s : model_.sliders) {
            Law law = plain(LawKind::slider);
            law.bound = h * coefficient(coefficients_, s.friction.mu[0]) * coefficient(coefficients_, s.normal_force);
            add_friction(s.friction, law);
        }
        for (const model::Clutch& c : model_.clutches) rows_.add_row(c.row, plain(LawKind::unilateral));
        first_contact_ = rows_.rows();
        for (std::size_t i = 0; i < model_.contacts.size(); ++i) {
            if (to.touch[i] == Touch::open) continue;
            const model::Contact& c = model_.contacts[i];
            block_.assign(1, c.row);
            for (int k = 0; k < c.friction.dimension; ++k) block_.push_back(c.friction.first_row + k);
            rows_.add(block_, contact_law(c, coefficients_));
        }
    }

    /// v = ξ = γ⁺ + Eγ⁻ = D Λ + Wᵀ(u + M⁻¹ h dt) + χ + Eγ⁻, with E where a contact is struck. Constraints and contacts
    /// that hold are asked to do so where the step ends, γ(q⁺) = γ(q_m) + θh ζ + O(h²): otherwise each step would move
    /// their gap by ½h²ζ. That makes smooth constrained motion of second order, and keeps contacts on curved or
    /// accelerated obstacles from opening and closing all the time.
    void free_velocities(const Point& from, Point& to) {
        const std::span<const int> rows = rows_.row_numbers();
        const double end = theta_ * to.h;
        gamma_.resize(rows.size());
        std::vector<double>& q = rows_.problem.q;
        for (std::size_t k = 0; k < rows.size(); ++k) {
            gamma_[k] = gamma_of(rows[k], from.u);
            q[k] = gamma_[k] + model::row_dot(layout_.rows, terms_.W, rows[k], change_);
        }
        for (std::size_t k = 0; k < independent_.size(); ++k) q[k] += end * terms_.zeta[ix(independent_[k])];
        for_each_closed(to, [&](std::size_t i, std::size_t k) {
            const model::Contact& c = model_.contacts[i];
            const double zeta = terms_.zeta[ix(c.row)];
            const double smooth = std::abs(q[k] - gamma_[k]) + to.h * std::abs(zeta);
            if (from.touch[i] == Touch::open && gamma_[k] < -resting_speed * smooth - 1e-12 * row_size(c.row, from.u)) {
                const double e = restitution(c, -gamma_[k]);
                to.touch[i] = e > 0.0 ? Touch::struck : Touch::stopped;
                to.any_struck = true;
                q[k] += e * gamma_[k];
            } else {
                q[k] += end * zeta;
            }
        });
        // An impact passes through all closed contacts, and e_T belongs to each of them.
        if (to.any_struck)
            for_each_closed(to, [&](std::size_t i, std::size_t k) {
                const model::Contact& c = model_.contacts[i];
                const double e_t = coefficient(coefficients_, c.e_t);
                for (std::size_t j = k + 1; j <= k + ix(c.friction.dimension); ++j) q[j] += e_t * gamma_[j];
            });
    }

    /// Calls with the number of each closed contact and its first row in the problem.
    template <class Action>
    void for_each_closed(const Point& to, Action action) const {
        auto k = ix(first_contact_);
        for (std::size_t i = 0; i < model_.contacts.size(); ++i) {
            if (to.touch[i] == Touch::open) continue;
            action(i, k);
            k += 1 + ix(model_.contacts[i].friction.dimension);
        }
    }

    double restitution(const model::Contact& c, double speed) const {
        if (c.c == model::no_coefficient) return coefficient(coefficients_, c.e_n);
        return std::max(0.0, 1.0 - coefficients_[ix(c.c)] * speed);
    }

    bool solve_impulses(const Point& from, double t_m, Point& to) {
        if (!coefficients_.empty())
            model_.system->coefficients(model::at(model_, t_m, q_, from.u), workspace_.scratch(), coefficients_);
        collect(to, to.h);
        rows_.assemble(terms_, mass_);
        free_velocities(from, to);
        const std::span<const int> rows = rows_.row_numbers();
        guess_.clear();
        // One block by itself is solved exactly, which is better than kept; the impulses of an impact do not last.
        if (rows_.blocks() > 1 && from.h > 0.0 && !from.any_struck)
            for (const int row : rows) guess_.push_back(to.h / from.h * from.Lambda[ix(row)]);
        solvers::solve(rows_.problem, contact_method_, solver_, solution_, guess_);
        ++statistics.contact_solves;
        if (!judge(t_m)) return false;

        rows_.velocity_change(solution_.r, to.u);
        for (std::size_t i = 0; i < n_; ++i) to.u[i] += from.u[i] + change_[i];
        for (std::size_t k = 0; k < rows.size(); ++k) {
            to.Lambda[ix(rows[k])] = solution_.r[k];
            const double work = 0.5 * (gamma_[k] + gamma_of(rows[k], to.u)) * solution_.r[k];
            to.work += work;
            to.done += work - terms_.chi[ix(rows[k])] * solution_.r[k];
        }
        if (to.any_struck) audit(to);
        for_each_closed(to, [&](std::size_t i, std::size_t k) {
            if (to.touch[i] == Touch::closed && solution_.r[k] == 0.0 &&
                solution_.v[k] > 1e-12 * row_size(model_.contacts[i].row, to.u))
                to.touch[i] = Touch::leaving;
        });
        return true;
    }

    void audit(Point& to) {
        const std::span<const int> rows = rows_.row_numbers();
        gamma_plus_.clear();
        chi_.clear();
        for (const int row : rows) {
            gamma_plus_.push_back(gamma_of(row, to.u));
            chi_.push_back(terms_.chi[ix(row)]);
        }
        const std::vector<int>& start = rows_.problem.W.start;
        to.struck =
            impact::audit({{gamma_.data(), rows.size()}, gamma_plus_, chi_, solution_.r, start, rows_.problem.laws});
        if (to.struck.block >= 0) to.struck.block = rows[ix(start[ix(to.struck.block)])];
    }

    bool judge(double t_m) {
        if (std::isfinite(solution_.residual))
            statistics.worst_contact_residual = std::max(statistics.worst_contact_residual, solution_.residual);
        if (solvers::usable(solution_.status)) return true;
        if (solution_.status == solvers::Status::infeasible || !(solution_.residual <= lost_residual))
            return lost("the contact problem is not solved (" + std::string(solvers::to_string(solution_.status)) +
                            ", residual " + number_text(solution_.residual) + ")",
                        t_m);
        if (unsolved++ == 0) first_unsolved = t_m;
        return true;
    }

    bool fulfilled(int row, const Point& to) const {
        const double size = row_size(row, to.q), g = std::abs(positions_[ix(row)]);
        return g <= std::max(std::min(constraint_tolerance, 1e-11 * size), 1e-15 * size);
    }

    /// Newton on g(q⁺) = 0 in the metric of M, with the rows of the step: q ← q − M⁻¹G(GᵀM⁻¹G)⁻¹ g. They are off by
    /// O(h), so each round gains that factor. False when other constraints turned out to be needed.
    bool project(Point& to) {
        ++statistics.projections;
        const auto wrong = [&](int row) { return !fulfilled(row, to); };
        constexpr int most = 30;
        for (int round = 0; round <= most; ++round) {
            model_.system->positions(model::at(model_, to.t, to.q, to.u), workspace_.scratch(), positions_);
            if (std::none_of(independent_.begin(), independent_.end(), wrong)) break;
            if (round == most) {
                drifts = true;
                break;
            }
            if (round == 0) factorise_projection();
            correction_.assign(ix(rows_.rows()), 0.0);
            for (std::size_t k = 0; k < independent_.size(); ++k) correction_[k] = positions_[ix(independent_[k])];
            projection_.solve(correction_);
            rows_.velocity_change(correction_, mean_);
            for (std::size_t i = 0; i < n_; ++i) to.q[i] -= mean_[i];
        }
        bool implied = true;
        for (int r = 0; r < layout_.constraints; ++r) {
            to.violation.constraint = std::max(to.violation.constraint, std::abs(positions_[ix(r)]));
            implied = implied && fulfilled(r, to);
        }
        if (implied || ix(layout_.constraints) == independent_.size() || !std::isfinite(to.violation.constraint))
            return true;
        const std::size_t before = independent_.size();
        evaluate(to.t, to.q, to.u);
        find_independent();
        return independent_.size() <= before;
    }

    void factorise_projection() {
        const solvers::BlockMatrix& D = rows_.problem.W;
        const int m = static_cast<int>(independent_.size());
        projection_.clear();
        for (int a = 0; a < D.blocks() && D.start[ix(a)] < m; ++a)
            for (int e = D.row_start[ix(a)]; e < D.row_start[ix(a) + 1]; ++e) {
                const int b = D.block_column[ix(e)];
                if (D.start[ix(b)] >= m) continue;
                const double* value = D.values.data() + D.offset[ix(e)];
                for (int i = 0; i < D.block_size(a); ++i)
                    for (int j = 0; j < D.block_size(b); ++j)
                        projection_.at(D.start[ix(a)] + i, D.start[ix(b)] + j) = *value++;
            }
        projection_.factorise();
    }

    const model::Model& model_;
    const model::Layout& layout_;
    const std::size_t n_;
    const double theta_;
    const solvers::FrictionMethod contact_method_;
    model::Workspace workspace_;
    model::Terms terms_;
    model::MassFactor mass_;
    bool factorised_ = false;
    ActiveRows rows_;
    solvers::Workspace solver_;
    solvers::Solution solution_;
    Cholesky projection_;
    std::vector<double> coefficients_, q_, change_, mean_, positions_, gamma_, gamma_plus_, chi_, guess_, correction_;
    std::vector<int> independent_, place_;  // constraints in the problem; place of each constraint there, or -1
    std::vector<int> block_;
    int first_contact_ = 0;
    const bool permanent_;
};

/// A run: steps one after the other, and what is kept of them.
class Run {
public:
    Run(const model::Model& model, const Moreau& method, const Options& options)
        : model_(model), method_(method), options_(options), elements_(element_rows(model)), stepper_(model, method) {
        out_.model = model.name;
        out_.method = "moreau";
        out_.stepped = true;
        out_.coordinates = model.coordinates;
        out_.elements = elements_of(model);
        out_.warnings = model.warnings;
        warn_of_laws();
    }

    trajectory::Trajectory go() {
        start();
        if (method_.adaptive)
            adaptive_steps();
        else
            equal_steps();
        finish();
        return std::move(out_);
    }

private:
    void warn_of_laws() {
        for (const model::Contact& c : model_.contacts)
            if (c.impact != model::ImpactLaw::newton) {
                out_.warnings.push_back("time-stepping treats every impact by Newton's law, that of contact " + c.name +
                                        " too");
                break;
            }
        const auto orthotropic = [](const auto& element) {
            return element.friction.law == model::FrictionLaw::orthotropic;
        };
        if (std::any_of(model_.constraints.begin(), model_.constraints.end(), orthotropic) ||
            std::any_of(model_.sliders.begin(), model_.sliders.end(), orthotropic))
            out_.warnings.push_back(
                "time-stepping treats orthotropic friction of constraints and sliders as isotropic, with the first mu");
    }

    void start() {
        at_.t = options_.start ? options_.start->t : 0.0;
        at_.q = options_.start ? options_.start->q : model_.q0;
        at_.u = options_.start ? options_.start->u : model_.u0;
        SALTUS_EXPECT(at_.q.size() == ix(model_.size()) && at_.u.size() == ix(model_.size()));
        out_.start = {at_.t, at_.q, at_.u};
        stepper_.begin(at_);
        next_ = half_ = full_ = at_;
        resting_.resize(at_.touch.size());
        for (std::size_t i = 0; i < resting_.size(); ++i) resting_[i] = at_.touch[i] == Touch::closed;
        idle_.assign(at_.touch.size(), 0);
        out_.energy.initial = stepper_.total_energy(at_.t, at_.q, at_.u);
        largest_energy_ = std::abs(out_.energy.initial);
        trajectory::Arc arc;
        arc.t_begin = arc.t_end = at_.t;
        out_.arcs.push_back(std::move(arc));
    }

    void equal_steps() {
        const double t_0 = at_.t, h = method_.h;
        for (long k = 1; at_.t < options_.t_end && goes_on(); ++k) {
            double t = t_0 + static_cast<double>(k) * h;
            if (t > options_.t_end - 1e-9 * h) t = options_.t_end;
            if (!stepper_.step(at_, t, next_)) return fail();
            keep(at_, next_);
            std::swap(at_, next_);
        }
    }

    /// The difference between a step and its two halves, of what is allowed. Nothing is known of a step in which a
    /// contact changed.
    double estimated_error() const {
        if (full_.any_struck || half_.any_struck || next_.any_struck) return 0.0;
        if (full_.touch != at_.touch || half_.touch != at_.touch || next_.touch != at_.touch) return 0.0;
        double error = 0.0;
        for (std::size_t i = 0; i < at_.q.size(); ++i) {
            error = std::max(error, std::abs(full_.q[i] - next_.q[i]) / (1.0 + std::abs(next_.q[i])));
            error = std::max(error, std::abs(full_.u[i] - next_.u[i]) / (1.0 + std::abs(next_.u[i])));
        }
        return error / method_.tolerance;
    }

    void adaptive_steps() {
        double h = method_.h;
        const double smallest = 1e-6 * method_.h;
        bool warned = false;
        while (at_.t < options_.t_end && goes_on()) {
            const double rest = options_.t_end - at_.t;
            const bool last = rest <= h * (1.0 + 1e-9);
            const double t = last ? options_.t_end : at_.t + h;
            const bool made = stepper_.step(at_, t, full_) && stepper_.step(at_, at_.t + 0.5 * (t - at_.t), half_) &&
                              stepper_.step(half_, t, next_);
            const double error = made ? estimated_error() : std::numeric_limits<double>::infinity();
            if (error > 1.0 && h > smallest) {
                ++out_.statistics.rejected;
                h = std::max(smallest, (t - at_.t) * std::max(0.2, 0.9 / std::sqrt(error)));
                continue;
            }
            if (!made) return fail();
            if (error > 1.0 && !warned) {
                out_.warnings.push_back("steps of " + number_text(smallest) +
                                        " do not reach the tolerance, first at t = " + number_text(at_.t));
                warned = true;
            }
            keep(at_, half_);
            keep(half_, next_);
            std::swap(at_, next_);
            h = std::min(method_.h, h * (error > 0.0 ? std::clamp(0.9 / std::sqrt(error), 0.2, 2.0) : 1.0));
        }
    }

    bool goes_on() {
        if (out_.status != trajectory::Status::completed) return false;
        if (++asked_ % 100 != 0) return true;
        if (options_.interrupted && options_.interrupted()) {
            out_.status = trajectory::Status::interrupted;
            out_.reason = "interrupted at t = " + number_text(at_.t);
            return false;
        }
        if (options_.progress) options_.progress(at_.t);
        return true;
    }

    void fail() {
        out_.status = trajectory::Status::failed;
        out_.reason = stepper_.reason;
    }

    /// A step that counts.
    void keep(const Point& from, const Point& to) {
        ++out_.statistics.steps;
        out_.energy.work += to.done;
        largest_energy_ = std::max(largest_energy_, to.energy);
        out_.violation.gap = std::max(out_.violation.gap, to.violation.gap);
        out_.violation.constraint = std::max(out_.violation.constraint, to.violation.constraint);
        watch_contacts(from, to);
        out_.arcs.back().t_end = to.t;
        if (!method_.keep_arcs) return;
        const auto n = static_cast<std::ptrdiff_t>(to.q.size());
        ode::Dense& dense = out_.arcs.back().steps.emplace_back();
        dense.reset(from.t, to.t, 2 * static_cast<int>(n), 2);
        std::copy(from.q.begin(), from.q.end(), dense.term(0).begin());
        std::copy(to.q.begin(), to.q.end(), dense.term(1).begin());
        for (const int term : {0, 1}) std::copy(to.u.begin(), to.u.end(), dense.term(term).begin() + n);
    }

    void watch_contacts(const Point& from, const Point& to) {
        if (to.any_struck)
            add_event(EventKind::impact, from, to,
                      [&](std::size_t i) { return to.touch[i] == Touch::struck || to.touch[i] == Touch::stopped; });
        bool rests = false, lifts = false;
        for (std::size_t i = 0; i < to.touch.size(); ++i) {
            const bool pressed = to.Lambda[ix(model_.contacts[i].row)] > 0.0;
            change_[i] = Change::none;
            switch (to.touch[i]) {
                case Touch::struck: resting_[i] = 0; break;
                case Touch::stopped: resting_[i] = 1; break;
                default:
                    if (pressed && resting_[i] == 0) change_[i] = Change::rests, resting_[i] = 1;
            }
            const bool away = to.touch[i] == Touch::open || to.touch[i] == Touch::leaving;
            idle_[i] = away && resting_[i] != 0 ? idle_[i] + 1 : 0;
            if (idle_[i] == steps_to_lift) change_[i] = Change::lifts, resting_[i] = 0;
            rests = rests || change_[i] == Change::rests;
            lifts = lifts || change_[i] == Change::lifts;
        }
        if (rests) add_event(EventKind::contact, from, to, [&](std::size_t i) { return change_[i] == Change::rests; });
        if (lifts) add_event(EventKind::lift_off, from, to, [&](std::size_t i) { return change_[i] == Change::lifts; });
    }

    template <class TakesPart>
    void add_event(EventKind kind, const Point& from, const Point& to, TakesPart takes_part) {
        trajectory::Event& e = out_.events.emplace_back();
        e.kind = kind;
        e.t = e.t_left = from.t;
        e.t_right = to.t;
        for (std::size_t i = 0; i < to.touch.size(); ++i)  // contacts are the first elements
            if (takes_part(i)) e.elements.push_back(static_cast<int>(i));
        e.q = from.q;
        e.u_minus = from.u;
        e.u_plus = to.u;
        e.energy_before = stepper_.total_energy(from.t, from.q, from.u);
        e.energy_after = stepper_.total_energy(from.t, from.q, to.u);
        if (kind != EventKind::impact) return;
        e.work = to.work;
        for (std::size_t i = 0; i < elements_.size(); ++i)
            if (elements_[i].kind != ElementKind::contact || to.touch[i] != Touch::open)
                e.impulses.push_back(reaction(i, to, 1.0));
        e.audit = energy_audit(to.struck);
        if (e.audit.created > 0.0) judge_creation(to.struck.block, e);
    }

    void judge_creation(int row, trajectory::Event& e) {
        std::string why = "in a step of time-stepping";
        for (std::size_t i = 0; i < elements_.size(); ++i)
            if (elements_[i].normal == row) {
                e.audit.element = static_cast<int>(i);
                e.audit.law = stepper_.law_text(i);
                why = out_.elements[i].name + " (" + e.audit.law + ") did the most work in this step";
            }
        const std::string text = creation_text(e, why);
        if (options_.energy != EnergyRule::stop) {
            if (out_.warnings.size() < 100) out_.warnings.push_back(text);
            return;
        }
        out_.status = trajectory::Status::energy_created;
        out_.reason = text;
    }

    trajectory::Reaction reaction(std::size_t element, const Point& to, double factor) const {
        const ElementRows& rows = elements_[element];
        trajectory::Reaction r;
        r.element = static_cast<int>(element);
        if (rows.normal >= 0) r.N = factor * to.Lambda[ix(rows.normal)];
        for (int k = 0; k < rows.slips; ++k) r.T.push_back(factor * to.Lambda[ix(rows.first_slip + k)]);
        return r;
    }

    void finish() {
        out_.end = {at_.t, at_.q, at_.u};
        for (std::size_t i = 0; i < elements_.size(); ++i)
            out_.forces.push_back(reaction(i, at_, at_.h > 0.0 ? 1.0 / at_.h : 0.0));
        final_modes();
        out_.energy.final = stepper_.total_energy(at_.t, at_.q, at_.u);
        out_.energy.balance_error = std::abs(out_.energy.final - out_.energy.initial - out_.energy.work) /
                                    std::max({largest_energy_, std::abs(out_.energy.final), 1e-300});
        const long steps = out_.statistics.steps, rejected = out_.statistics.rejected;
        out_.statistics = stepper_.statistics;
        out_.statistics.steps = steps;
        out_.statistics.rejected = rejected;
        for (const int row : stepper_.redundant) {
            const auto c = std::find_if(model_.constraints.begin(), model_.constraints.end(),
                                        [&](const model::Constraint& k) { return k.row == row; });
            if (c != model_.constraints.end())
                out_.warnings.push_back("constraint " + c->name +
                                        " is redundant, at least at times: then the others carry its reaction, and its "
                                        "friction is left out");
        }
        if (stepper_.unsolved > 0)
            out_.warnings.push_back(std::to_string(stepper_.unsolved) +
                                    " contact problems were not solved to the tolerance (worst residual " +
                                    number_text(out_.statistics.worst_contact_residual) +
                                    "), the first at t = " + number_text(stepper_.first_unsolved));
        if (stepper_.drifts)
            out_.warnings.push_back("constraints could not be projected to rounding everywhere; largest |g| = " +
                                    number_text(out_.violation.constraint));
    }

    void final_modes() {
        stepper_.evaluate(at_.t, at_.q, at_.u);
        for (std::size_t i = 0; i < elements_.size(); ++i) {
            const ElementRows& rows = elements_[i];
            const bool open = (rows.kind == ElementKind::contact && at_.touch[i] == Touch::open) ||
                              (rows.kind == ElementKind::clutch && at_.Lambda[ix(rows.normal)] == 0.0);
            bool slips = false;
            for (int r = rows.first_slip; r < rows.first_slip + rows.slips; ++r)
                slips = slips || std::abs(stepper_.gamma_of(r, at_.u)) > 1e-9 * stepper_.row_size(r, at_.u);
            out_.arcs.back().modes.push_back(open              ? trajectory::Mode::open
                                             : rows.slips == 0 ? trajectory::Mode::closed
                                             : slips           ? trajectory::Mode::slip
                                                               : trajectory::Mode::stick);
        }
    }

    enum class Change : char { none, rests, lifts };

    const model::Model& model_;
    const Moreau& method_;
    const Options& options_;
    const std::vector<ElementRows> elements_;
    Stepper stepper_;
    trajectory::Trajectory out_;
    Point at_, next_, half_, full_;
    std::vector<char> resting_;
    std::vector<int> idle_;
    std::vector<Change> change_ = std::vector<Change>(model_.contacts.size(), Change::none);
    double largest_energy_ = 0.0;
    long asked_ = 0;
};

}  // namespace

trajectory::Trajectory run_moreau(const model::Model& model, const Moreau& method, const Options& options) {
    SALTUS_EXPECT(method.h > 0.0 && method.theta >= 0.0 && method.theta <= 1.0);
    return Run(model, method, options).go();
}

}  // namespace saltus::integrate
