// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/arc/detail/arc_series.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "saltus/base/index.hpp"
#include "saltus/base/stop.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/symbolic.hpp"
#include "saltus/model/system.hpp"
#include "saltus/sensitivity/arc/detail/arc_motion.hpp"

namespace saltus::sensitivity {

namespace {

using integrate::FrictionPart;
using integrate::RecordedArc;
using model::ActiveForces;
using trajectory::ElementKind;

/// The orders end if the last term is at most last_term times as large as the allowed error, and the term before it at
/// most term_before_last times. One small term alone may be small by chance. The remainder is about half as large as
/// the last term, and remainders of all steps add up; so the last term is well below the allowed error.
constexpr double last_term = 0.01, term_before_last = 0.1;
/// The same where terms that the motion lacks make smaller ones useless.
constexpr double largest_last_term = 0.1, largest_before_last = 1.0;
/// At the end of a step, h·(error of the acceleration) is at most this times the allowed error of the velocity. The
/// derivative of the remainder is about (order)·(remainder)/h; more than that means that the series is wrong.
constexpr double series_end_error_factor = 1e3;
/// A step that must be cut is made this much shorter than the last terms require.
constexpr double cut_safety = 0.9;
/// Carrying fails if a step is shorter than this part of the recorded step.
constexpr double shortest_step_ratio = 1e-4;

/// A direction usually needs so many orders more than the motion has terms that matter.
constexpr int more_orders = 3;

/// Sums of products are computed for so many orders at once (expr::add_products): 1 to 4, 5 to 8, …
constexpr int orders_at_once = 4;
/// The first of the orders that are summed together with order k >= 1.
constexpr int first_of_sums(int k) { return k - (k - 1) % orders_at_once; }

/// Replaces the coefficients of the polynomials Σ_k c[k·width + i] θ^k by those around θ_0, by repeated division by
/// θ − θ_0 (Horner).
void shift(std::vector<double>& c, std::size_t width, int order, double theta) {
    for (int k = 0; k < order; ++k)
        for (int j = order - 1; j >= k; --j)
            for (std::size_t i = 0; i < width; ++i) c[ix(j) * width + i] += theta * c[ix(j + 1) * width + i];
}

/// The coefficients of a recorded step in θ, around the time t. `shifted` is memory for them.
const double* coefficients(const ode::Dense& step, double t, std::vector<double>& shifted) {
    if (t == step.t_old()) return step.coefficients().data();
    shifted.assign(step.coefficients().begin(), step.coefficients().end());
    shift(shifted, ix(step.size()), step.terms() - 2, (t - step.t_old()) / (step.t_new() - step.t_old()));
    return shifted.data();
}

double value_at(const double* c, int order, double tau) {
    double value = c[order];
    for (int k = order - 1; k >= 0; --k) value = value * tau + c[k];
    return value;
}

double largest_at(std::span<double* const> series, int k) {
    double largest = 0.0;
    for (const double* const c : series) largest = std::max(largest, std::abs(c[k]));
    return largest;
}

}  // namespace

ArcSeries::Equations::Equations(std::shared_ptr<const model::TangentProgram> made, int n)
    : program(std::move(made)), workspace(program->workspace(max_order)), series(*workspace) {
    constant = std::all_of(program->matrix.begin(), program->matrix.end(), [](const auto& e) { return e.constant; });
    variables.resize(ix(program->tape.variable_count()));
    for (std::size_t i = 0; i < variables.size(); ++i) variables[i] = series.variable(static_cast<int>(i));
    std::size_t first = 1;  // 0 is the time
    const auto part = [&](std::span<double*>& of, std::size_t count) {
        of = std::span(variables).subspan(first, count);
        first += count;
    };
    for (std::span<double*>* const of : {&q, &u, &a}) part(*of, ix(n));
    part(lambda, program->forces.holding.size());
    for (std::span<double*>* const of : {&dq, &du}) part(*of, ix(n));
    for (const int output : program->right) right.push_back(output >= 0 ? series.output(output) : nullptr);
    for (const auto& entry : program->matrix)
        if (!entry.constant) varying.push_back({ix(entry.row), ix(entry.column), series.output(entry.output)});
    for (const auto& entry : program->columns)
        (entry.constant ? constant_columns : columns)
            .push_back({ix(entry.row), ix(entry.column), series.output(entry.output)});
}

ArcSeries::Equations::~Equations() { program->give_back(std::move(workspace)); }

ArcSeries::ArcSeries(Tangent& tangent) : x_(tangent), n_(tangent.n()), symbolic_(tangent.model().system->symbolic()) {}

bool ArcSeries::covers(std::size_t step) const {
    return arc_->steps[step].form() == ode::Dense::Form::series &&
           (now_->lambda.empty() || step < arc_->reactions.size());
}

bool ArcSeries::begin(const RecordedArc& arc) {
    arc_ = &arc;
    written_.arc = read_.arc = nullptr;
    if (symbolic_ == nullptr || arc.steps.empty() || x_.dynamics.redundant()) return false;
    if (arc.steps.front().form() != ode::Dense::Form::series) return false;
    if (now_ != nullptr && arc.mode == mode_) return true;
    now_ = nullptr;
    is_prepared_ = false;
    if (!collect_forces(arc)) return false;
    mode_ = arc.mode;
    for (const auto& made : made_)
        if (made->program->forces == forces_) now_ = made.get();
    if (now_ == nullptr) {
        made_.push_back(std::make_unique<Equations>(symbolic_->tangents().by(*symbolic_, forces_, x_.varied()), n_));
        now_ = made_.back().get();
    }
    right_.resize(now_->program->right.size());
    y_.resize(right_.size() * state_stride);
    dx_.resize(2 * ix(n_) * state_stride);
    by_state_.resize(right_.size() * orders_at_once);
    by_y_.resize(right_.size() * orders_at_once);
    end_.resize(right_.size());
    return true;
}

/// Describes the forces of the arc's mode. False if friction of a round patch slips.
bool ArcSeries::collect_forces(const RecordedArc& arc) {
    const integrate::Dynamics& d = x_.dynamics;
    const model::Mechanics& model = x_.model();
    forces_.holding = d.equation_rows();
    forces_.springs.clear();
    forces_.slips.clear();
    signs_.clear();
    for (std::size_t k = 0; k < forces_.holding.size(); ++k) {
        const int owner = d.equation_owner(static_cast<int>(k));
        signs_.push_back(owner >= 0 ? arc.mode->elements[ix(owner)].reaction_sign : 1.0);
    }
    for (std::size_t i = 0; i < d.elements().size(); ++i) {
        const integrate::ElementLayout& e = d.elements()[i];
        if (!arc.mode->elements[i].active) continue;
        ActiveForces::Load load = ActiveForces::Load::none;
        int number = 0;
        if (e.rows.kind == ElementKind::slider) {
            load = ActiveForces::Load::coefficient;
            number = model.sliders[ix(e.rows.index)].normal_force;
        } else if (d.compliant() && e.rows.kind == ElementKind::contact) {
            if (!arc.mode->elements[i].pulls) {
                const model::Contact& contact = model.contacts[ix(e.rows.index)];
                load = ActiveForces::Load::spring;
                number = static_cast<int>(forces_.springs.size());
                forces_.springs.push_back({e.rows.normal, contact.penalty_k, contact.penalty_d});
            }
        } else {
            load = ActiveForces::Load::equation;
            const auto found = std::find(forces_.holding.begin(), forces_.holding.end(), e.rows.normal);
            number = static_cast<int>(found - forces_.holding.begin());
        }
        const model::Friction* const friction = integrate::friction_of(model, e.rows);
        for (const int p : e.part_numbers()) {
            const FrictionPart& part = d.parts()[ix(p)];
            if (!arc.mode->parts[ix(p)].slips) continue;
            if (part.shape == FrictionPart::Shape::patch) return false;
            const bool ellipse = part.shape == FrictionPart::Shape::ellipse;
            const bool rolls = friction->law == model::FrictionLaw::rolling && part.row > friction->first_row;
            forces_.slips.push_back({part.row,
                                     part.size,
                                     {part.axes[0], ellipse ? part.axes[1] : model::no_coefficient},
                                     rolls ? friction->radius[part.size == 1 ? 0 : 1] : model::no_coefficient,
                                     load,
                                     number});
            signs_.push_back(arc.mode->parts[ix(p)].direction[0] >= 0.0 ? 1.0 : -1.0);
        }
    }
    return true;
}

/// Finds the recorded polynomials around the time t, and how many of their orders matter.
void ArcSeries::read_motion(std::size_t step, double t) {
    if (read_.arc == arc_ && read_.equations == now_ && read_.step == step && read_.t == t &&
        read_.negligible == negligible_term)
        return;
    read_ = {arc_, now_, step, t, negligible_term};
    const ode::Dense& motion = arc_->steps[step];
    per_length_ = 1.0 / (motion.t_new() - motion.t_old());
    motion_order_ = motion.terms() - 2;
    motion_ = coefficients(motion, t, shifted_motion_);
    if (!now_->lambda.empty()) {
        reaction_order_ = arc_->reactions[step].terms() - 2;
        reactions_ = coefficients(arc_->reactions[step], t, shifted_reactions_);
    }
    significant_order_ = significant_order(motion, n_, negligible_term);
}

/// Writes all orders of the motion to the variables of the tape. Other directions from the same time of the same step
/// find them there, but for order 0, which other functions use (write_state, holds_at_end).
void ArcSeries::write_motion(std::size_t step, double t) {
    if (written_.arc == arc_ && written_.equations == now_ && written_.step == step && written_.t == t &&
        written_order_ > 0) {
        for (std::size_t i = 0; i < ix(n_); ++i) {
            now_->q[i][0] = motion_[i];
            now_->u[i][0] = motion_[ix(n_) + i];
            now_->a[i][0] = now_->u[i][1];
        }
        for (std::size_t r = 0; r < now_->lambda.size(); ++r) now_->lambda[r][0] = reactions_[r];
        return;
    }
    written_ = {arc_, now_, step, t, negligible_term};
    const auto n = ix(n_), width = 2 * n + 1, rows = now_->lambda.size();
    const int last = std::min(std::max(motion_order_, rows > 0 ? reaction_order_ : 0), max_order - 1);
    double power[max_order + 1];  // of 1/(length of the recorded step)
    power[0] = 1.0;
    for (int k = 1; k <= last + 1; ++k) power[k] = power[k - 1] * per_length_;
    // c[k·stride] power[k] up to an order, then zeros.
    const auto write = [&](double* to, const double* c, std::size_t stride, int order) {
        int k = 0;
        for (; k <= order; ++k, c += stride) to[k] = *c * power[k];
        for (; k <= last; ++k) to[k] = 0.0;
    };
    const int q_order = std::min(motion_order_, last);
    for (std::size_t i = 0; i < n; ++i) {
        write(now_->q[i], motion_ + i, width, q_order);
        write(now_->u[i], motion_ + n + i, width, q_order);
        const double* const u = now_->u[i];
        double* const a = now_->a[i];
        for (int k = 0; k < q_order; ++k) a[k] = u[k + 1] * (k + 1);
        const double* const next = motion_ + ix(q_order + 1) * width + n + i;
        a[q_order] = q_order < motion_order_ ? *next * power[q_order + 1] * (q_order + 1) : 0.0;
        for (int k = q_order + 1; k <= last; ++k) a[k] = 0.0;
    }
    for (std::size_t r = 0; r < rows; ++r)
        write(now_->lambda[r], reactions_ + r, rows, std::min(reaction_order_, last));
    written_order_ = last;
}

/// The motion has no terms of order k.
void ArcSeries::write_no_motion(int k) {
    written_.arc = nullptr;
    for (const std::span<double*> part : {now_->q, now_->u, now_->a, now_->lambda})
        for (double* const c : part) c[k] = 0.0;
}

/// Writes the state at the time t to order 0 of the variables.
void ArcSeries::write_state(const ode::Dense& step, double t) {
    state_.resize(ix(2 * n_ + 1));
    step.evaluate(t, state_.data());
    for (std::size_t i = 0; i < ix(n_); ++i) {
        now_->q[i][0] = state_[i];
        now_->u[i][0] = state_[ix(n_) + i];
    }
}

/// Fixes the branches of all expressions as they are in the middle of the step. At its ends rounding errors could
/// decide.
void ArcSeries::choose_sides(std::size_t step, double middle) {
    expr::SeriesWorkspace<double>& w = now_->series;
    w.clear_sides();
    write_state(arc_->steps[step], middle);
    w.begin(middle);
    w.evaluate_order(0);
    for (int i = 0; i < now_->program->tape.switch_count(); ++i)
        if (w.side(i) != 0) w.set_side(i, w.side(i));
}

/// Passes the parameters to the tape, if they are not those of the last time.
void ArcSeries::prepare(const Eigen::RowVectorXd& direction) {
    const double* const varied = direction.data() + 1 + 2 * n_;
    if (is_prepared_ && std::equal(varied_.begin(), varied_.end(), varied)) return;
    is_prepared_ = true;
    varied_.assign(varied, varied + x_.parameters());
    const std::vector<double>& p = x_.model().p;
    inputs_.assign(p.begin(), p.end());
    inputs_.insert(inputs_.end(), varied_.begin(), varied_.end());
    inputs_.push_back(x_.dynamics.stiffness());
    inputs_.insert(inputs_.end(), signs_.begin(), signs_.end());
    if (inputs_ == now_->inputs) return;
    now_->inputs = inputs_;
    now_->series.prepare(inputs_);
    now_->inverted = false;
}

bool ArcSeries::carry(std::size_t step, double t, double end, Eigen::RowVectorXd& direction, Allowed allowed) {
    prepare(direction);
    const double shortest = shortest_step_ratio * (end - t);
    while (t < end) {
        read_motion(step, t);
        if (now_->program->tape.switch_count() > 0) choose_sides(step, t + 0.5 * (end - t));
        double h = end - t;
        const int order = expand(step, t, h, direction, allowed);
        if (order == 0 || (h < end - t && h < shortest)) return false;
        for (int i = 0; i < n_; ++i) {
            direction(1 + i) = value_at(now_->dq[ix(i)], order, h);
            direction(1 + n_ + i) = value_at(now_->du[ix(i)], order, h);
        }
        t = h == end - t ? end : t + h;
        if (!holds_at_end(step, t, h, order, direction, allowed)) return false;
    }
    return true;
}

/// Expands the direction at t. Returns the order, 0 if some coefficient does not exist. The step h is shortened if the
/// highest order does not suffice for it.
int ArcSeries::expand(std::size_t step, double t, double& h, const Eigen::RowVectorXd& from, Allowed allowed) {
    ++evaluations;
    count_work(static_cast<double>(max_order) * n_ * n_);
    for (int i = 0; i < n_; ++i) {
        now_->dq[ix(i)][0] = *state_order(0, ix(i)) = from(1 + i);
        now_->du[ix(i)][0] = *state_order(0, ix(n_ + i)) = from(1 + n_ + i);
    }
    now_->series.begin(t);
    double error_before = std::numeric_limits<double>::infinity(), power = 1.0;
    write_motion(step, t);
    int given = 0;  // highest order of what depends on the motion alone
    double enough = last_term, enough_before = term_before_last;
    for (int k = 0; k < max_order; ++k) {
        if (k > given) {
            const int wanted = (given == 0 ? std::max(significant_order_, 1) : k) + more_orders;
            const int next = std::min(max_order - 1, first_of_sums(wanted) + orders_at_once - 1);
            for (int j = std::max(written_order_, given) + 1; j <= next; ++j) write_no_motion(j);
            now_->series.evaluate_given(given + 1, next);
            given = next;
        }
        now_->series.evaluate_order(k);
        if (!solve_order(k)) return 0;
        const double next = 1.0 / (k + 1);
        double *const *const dq = now_->dq.data(), *const *const du = now_->du.data();
        for (std::size_t i = 0; i < ix(n_); ++i) {
            dq[i][k + 1] = *state_order(k + 1, i) = du[i][k] * next;
            du[i][k + 1] = *state_order(k + 1, ix(n_) + i) = *order(k, i) * next;
        }
        power *= h;
        if (k + 2 < significant_order_) continue;  // neither this term nor the next can be the last one
        const double error = power * std::max(largest_at(now_->dq, k + 1) / allowed.position,
                                              largest_at(now_->du, k + 1) / allowed.velocity);
        // Beyond its recorded order N the motion lacks terms. Order N + 1 of the direction lacks one of its N + 1
        // products. So later terms that are smaller than this missing product do not make the sum more accurate.
        if (k == motion_order_) {
            enough = std::clamp(error / (k + 1), last_term, largest_last_term);
            enough_before = std::clamp(error, term_before_last, largest_before_last);
        }
        if (error <= enough && error_before <= enough_before && k + 1 >= significant_order_) return k + 1;
        error_before = error;
    }
    h = std::min(h, admissible_length(h, allowed));
    return max_order;
}

/// Computes the inverse of S_0 by elimination in place (Gauss and Jordan), with row pivots. False if S_0 is singular.
bool ArcSeries::invert() {
    Equations& e = *now_;
    const std::size_t size = right_.size();
    count_work(std::pow(static_cast<double>(size), 3));
    elimination_.assign(size * size, 0.0);
    std::vector<std::size_t>& exchanged = e.inverse_end;  // first the memory for the rows that were exchanged
    exchanged.resize(size);
    for (const auto& entry : e.program->matrix)
        elimination_[ix(entry.row) * size + ix(entry.column)] += e.series.output(entry.output)[0];
    for (std::size_t c = 0; c < size; ++c) {
        std::size_t best = c;
        for (std::size_t r = c + 1; r < size; ++r)
            if (std::abs(elimination_[r * size + c]) > std::abs(elimination_[best * size + c])) best = r;
        exchanged[c] = best;
        double *const pivot = &elimination_[c * size], *const other = &elimination_[best * size];
        if (best != c) std::swap_ranges(pivot, pivot + size, other);
        const double scale = 1.0 / pivot[c];
        if (!std::isfinite(scale)) return false;
        pivot[c] = 1.0;  // becomes the column of the identity that the elimination fills
        for (std::size_t k = 0; k < size; ++k) pivot[k] *= scale;
        for (std::size_t r = 0; r < size; ++r) {
            double* const row = &elimination_[r * size];
            const double factor = row[c];
            if (r == c || factor == 0.0) continue;
            row[c] = 0.0;
            for (std::size_t k = 0; k < size; ++k) row[k] -= factor * pivot[k];
        }
    }
    // Exchanged rows of S_0 are exchanged columns of its inverse.
    for (std::size_t c = size; c-- > 0;)
        if (exchanged[c] != c)
            for (std::size_t r = 0; r < size; ++r)
                std::swap(elimination_[r * size + c], elimination_[r * size + exchanged[c]]);
    e.inverse.clear();
    e.inverse.reserve(size * size);
    e.inverse_end.clear();
    for (std::size_t r = 0; r < size; ++r) {
        const double* const row = &elimination_[r * size];
        for (std::size_t c = 0; c < size; ++c)
            if (row[c] != 0.0) e.inverse.push_back({c, row[c]});
        e.inverse_end.push_back(e.inverse.size());
    }
    e.inverted = true;
    return true;
}

/// Adds what has become known before order k >= 1 to the sums Σ_j S_j y_{k−j}, j >= 1, and Σ_j C_j (δq, δu)_{k−j} with
/// the varying `columns` C. The sums of some orders are made together.
void ArcSeries::add_orders(int k) {
    const int first = first_of_sums(k);
    const bool begins = k == first;  // otherwise all orders before the last have been added already
    if (begins) {
        std::fill(by_state_.begin(), by_state_.end(), 0.0);
        std::fill(by_y_.begin(), by_y_.end(), 0.0);
    }
    expr::add_products(now_->columns, dx_.data(), state_stride, begins ? 0 : k, k + 1, first, by_state_.data());
    expr::add_products(now_->varying, y_.data(), state_stride, begins ? 0 : k - 1, k, first, by_y_.data());
}

/// Order k of y. False if S is singular or something is not finite.
bool ArcSeries::solve_order(int k) {
    const Equations& e = *now_;
    if (k == 0 && !(e.constant && e.inverted) && !invert()) return false;
    const std::size_t size = right_.size();
    for (std::size_t r = 0; r < size; ++r) right_[r] = e.right[r] != nullptr ? e.right[r][k] : 0.0;
    if (k == 0) {
        for (const expr::SeriesProduct& entry : e.columns)
            right_[entry.row] += entry.series[0] * *state_order(0, entry.column);
    } else if (!e.columns.empty() || !e.varying.empty()) {
        add_orders(k);
        const auto number = ix(k - first_of_sums(k));
        for (std::size_t r = 0; r < size; ++r)
            right_[r] += by_state_[orders_at_once * r + number] - by_y_[orders_at_once * r + number];
    }
    for (const expr::SeriesProduct& entry : e.constant_columns)
        right_[entry.row] += entry.series[0] * *state_order(k, entry.column);
    double sum = 0.0;
    for (std::size_t r = 0, j = 0; r < size; ++r) {
        double y = 0.0;
        for (const std::size_t last = e.inverse_end[r]; j < last; ++j)
            y += e.inverse[j].value * right_[e.inverse[j].column];
        *order(k, r) = y;
        sum += y;
    }
    return std::isfinite(sum);
}

/// Whether the linearised equations hold at the end t of a step of the length h, where the truncated series is least
/// accurate. This finds coefficients that change with time in orders beyond the last one, such as t^20 at t = 0. The
/// residual r − S y is turned into an acceleration by the inverse of S at the start of the step. During the step such
/// an error of the acceleration changes the velocity by h times itself at most.
bool ArcSeries::holds_at_end(std::size_t step, double t, double h, int orders, const Eigen::RowVectorXd& direction,
                             Allowed allowed) {
    const ode::Dense& motion = arc_->steps[step];
    Equations& e = *now_;
    write_state(motion, t);
    for (int i = 0; i < n_; ++i) {
        e.a[ix(i)][0] = motion.component_derivative(n_ + i, t);
        e.dq[ix(i)][0] = direction(1 + i);
        e.du[ix(i)][0] = direction(1 + n_ + i);
    }
    for (std::size_t r = 0; r < e.lambda.size(); ++r)
        e.lambda[r][0] = arc_->reactions[step].component(static_cast<int>(r), t);
    e.series.begin(t);
    e.series.evaluate_order(0);
    const std::size_t size = right_.size();
    for (std::size_t r = 0; r < size; ++r) right_[r] = e.right[r] != nullptr ? e.right[r][0] : 0.0;
    for (const auto* const list : {&e.constant_columns, &e.columns})
        for (const expr::SeriesProduct& entry : *list)
            right_[entry.row] += entry.series[0] * direction(1 + static_cast<Eigen::Index>(entry.column));
    for (std::size_t c = 0; c < size; ++c) {
        double y = 0.0;
        for (int k = orders - 1; k >= 0; --k) y = y * h + *order(k, c);
        end_[c] = y;
    }
    for (const auto& entry : e.program->matrix)
        right_[ix(entry.row)] -= e.series.output(entry.output)[0] * end_[ix(entry.column)];
    double worst = 0.0;
    for (std::size_t i = 0, j = 0; i < ix(n_); ++i) {
        double error = 0.0;
        for (const std::size_t last = e.inverse_end[i]; j < last; ++j)
            error += e.inverse[j].value * right_[e.inverse[j].column];
        worst = std::max(worst, std::abs(error));
    }
    return h * worst <= series_end_error_factor * allowed.velocity;
}

/// The length at which the last two terms are as large as allowed.
double ArcSeries::admissible_length(double h, Allowed allowed) const {
    double length = h;
    for (int k = max_order - 1; k <= max_order; ++k) {
        const double worst =
            std::max(largest_at(now_->dq, k) / allowed.position, largest_at(now_->du, k) / allowed.velocity);
        if (worst > 0.0) length = std::min(length, cut_safety * std::exp(-std::log(worst) / k));
    }
    return length;
}

}  // namespace saltus::sensitivity
