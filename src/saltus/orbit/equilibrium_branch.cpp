// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "saltus/base/eigenvalues.hpp"
#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/jacobians.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/model/support.hpp"
#include "saltus/orbit/branch.hpp"
#include "saltus/orbit/detail/predictor.hpp"
#include "saltus/stability/equilibria/equilibria.hpp"
#include "saltus/stability/equilibria/equilibrium_stability.hpp"
#include "saltus/stability/equilibria/equilibrium_statics.hpp"

// Branches of equilibria. An equilibrium without friction forces with a set of closed contacts solves
//     h(q, 0; p) + W λ = 0,   g(q; p) = 0
// for the positions q and the forces λ of the constraints and closed contacts, which have the gaps g. A branch with
// these contacts ends where one of their forces vanishes (the contact opens) or where another gap vanishes (a contact
// closes). There the other set of closed contacts has the same solution, and the branch goes on with it.

namespace saltus::orbit {

namespace {

// Lengths along a branch are measured in z/scale, as for orbits.
constexpr double equilibrium_first_step = 5e-3;
constexpr double equilibrium_longest_step = 0.1;
constexpr double equilibrium_shortest_step = 1e-9;
constexpr double equilibrium_turn = 0.3;  ///< largest angle between neighbouring tangents, in rad
/// Relative residual of an equilibrium.
constexpr double equilibrium_residual = 1e-12;
/// A gap or a force is violated below minus this part of its size.
constexpr double equilibrium_violation = 1e-10;
/// Coordinates are measured in |q| plus this length or angle.
constexpr double least_coordinate_scale = 0.1;

/// One equilibrium with all that the next step needs: z = (q, λ, p).
struct Rest {
    Vector z, scale, tangent;
    std::vector<char> closed;  ///< one flag for each contact
    std::shared_ptr<const model::Model> model;
    double determinant = 0.0;     ///< of the derivative without the parameter
    std::vector<double> gaps;     ///< of all contacts
    std::vector<double> forces;   ///< of all contacts; 0 for open ones
    std::vector<double> growths;  ///< real parts of the pairs of complex eigenvalues, in 1/s, the largest first
    std::optional<stability::LocalStability> local;

    double parameter() const { return z(z.size() - 1); }
    double slope() const { return tangent(tangent.size() - 1); }
    StoredRest stored() const { return {z, scale, tangent, closed, determinant, gaps, forces, growths}; }
};

class RestProblem {
public:
    RestProblem(const model::Description& description, const BranchOptions& options)
        : description_(description), options_(options) {}

    const std::string& failure() const { return failure_; }
    bool inadmissible() const { return inadmissible_; }

    std::shared_ptr<const model::Model> model_at(double parameter) const {
        if (last_ && last_value_ == parameter) return last_;
        model::BuildOptions build = options_.build;
        build.set.emplace_back(options_.parameter, number_text(parameter));
        build.project_initial = true;  // the initial state of the file is not used
        last_ = std::make_shared<const model::Model>(model::build(description_, build));
        last_value_ = parameter;
        return last_;
    }

    /// Newton's method for an equilibrium with row·(z − z_start)/scale = 0.
    std::optional<Rest> correct(const std::vector<char>& closed, const Vector& z_start, const Vector& scale,
                                const Vector& row) {
        constexpr int most = 25;  // steps of Newton's method
        Vector z = z_start;
        failure_.clear();
        double before = std::numeric_limits<double>::infinity();
        for (int k = 0; k < most; ++k) {
            std::optional<Linear> l = linear(closed, z, scale);
            if (!l) return std::nullopt;
            const double residual = l->F.size() > 0 ? l->F.cwiseAbs().maxCoeff() : 0.0;
            if (residual <= equilibrium_residual || (residual <= 1e2 * equilibrium_residual && residual >= before))
                return finish(closed, z, scale, row, *l);
            before = residual;
            Matrix A(z.size(), z.size());
            A.topRows(z.size() - 1) = l->J * scale.asDiagonal();
            A.row(z.size() - 1) = row.transpose();
            Vector b(z.size());
            b.head(z.size() - 1) = -l->F;
            b(z.size() - 1) = -row.dot((z - z_start).cwiseQuotient(scale));
            const Vector step = least_squares(A, b).cwiseProduct(scale);
            if (!step.allFinite()) break;
            z += step;
        }
        failure_ = "Newton's method does not converge";
        return std::nullopt;
    }

    /// The inverse of Rest::stored. Throws Error if it is of another model.
    Rest restore(const StoredRest& s) const {
        Rest r;
        const bool fits = s.z.size() > 0 && s.scale.size() == s.z.size() && s.tangent.size() == s.z.size();
        if (fits) r.model = model_at(s.z(s.z.size() - 1));
        if (!fits || s.closed.size() != r.model->contacts.size() ||
            s.z.size() != r.model->size() + static_cast<Eigen::Index>(rows_of(*r.model, s.closed).size()) + 1 ||
            s.gaps.size() != s.closed.size() || s.forces.size() != s.closed.size())
            throw Error("the stored equilibria do not fit the model", {"--resume", 0, 0});
        r.z = s.z, r.scale = s.scale, r.tangent = s.tangent;
        r.closed = s.closed;
        r.determinant = s.determinant;
        r.gaps = s.gaps, r.forces = s.forces, r.growths = s.growths;
        stability::RestingModel resting(*r.model);
        r.local = stability::local_stability(resting, r.closed, r.z.head(r.model->size()), 0);
        return r;
    }

    Eigen::Index forces_of(const std::vector<char>& closed) const {
        return static_cast<Eigen::Index>(rows_of(*last_, closed).size());
    }

    /// The index of the force of a closed contact among λ.
    static Eigen::Index force_index(const model::Model& m, const std::vector<char>& closed, std::size_t contact) {
        auto k = static_cast<Eigen::Index>(m.constraints.size());
        for (std::size_t c = 0; c < contact; ++c) k += closed[c] != 0 ? 1 : 0;
        return k;
    }

    /// The derivative of a gap along the tangent.
    double gap_slope(const Rest& r, std::size_t contact) const {
        const Matrix P = jacobian(*r.model, model::Function::position, r, {});
        const auto n = static_cast<Eigen::Index>(r.model->coordinates.size());
        const Vector direction = r.tangent.cwiseProduct(r.scale);
        const auto row = static_cast<Eigen::Index>(r.model->contacts[contact].row);
        return P.row(row).segment(1, n).dot(direction.head(n)) + P(row, 1 + 2 * n) * direction(direction.size() - 1);
    }

private:
    struct Linear {
        Vector F;  ///< residuals, relative to the sizes of the forces and positions
        Matrix J;  ///< their derivatives by z
        std::vector<double> gaps;
    };

    static std::vector<int> rows_of(const model::Model& m, const std::vector<char>& closed) {
        std::vector<int> rows;
        for (const model::Constraint& c : m.constraints) rows.push_back(c.row);
        for (std::size_t c = 0; c < closed.size(); ++c)
            if (closed[c] != 0) rows.push_back(m.contacts[c].row);
        return rows;
    }

    int parameter_column(const model::Model& m) const {
        for (const model::Parameter& p : m.settings->parameters)
            if (p.name == options_.parameter && p.column >= 0 && !p.structural) return p.column;
        throw Error("there are no derivatives by the parameter '" + options_.parameter + "'", {"--over", 0, 0});
    }

    /// A Jacobian at rest as a dense matrix with the columns [t, q, u, p].
    Matrix jacobian(const model::Model& m, model::Function f, const Rest& r, const std::vector<double>& lambda) const {
        const int column = parameter_column(m);
        const std::unique_ptr<model::Jacobians> jacobians = m.system->jacobians_by({&column, 1});
        if (!jacobians) throw Error("the model has no derivatives", {"--equilibria", 0, 0});
        const auto n = static_cast<std::size_t>(m.size());
        const std::vector<double> zero(n, 0.0);
        const model::Pattern& pattern = jacobians->pattern(f);
        std::vector<double> values(pattern.size(), 0.0);
        jacobians->evaluate(f, model::at(m, 0.0, {r.z.data(), n}, zero), zero, lambda, values);
        const std::size_t rows = pattern.start.size() - 1;
        Matrix out = Matrix::Zero(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(2 + 2 * n));
        for (std::size_t i = 0; i < rows; ++i)
            for (int e = pattern.start[i]; e < pattern.start[i + 1]; ++e)
                out(static_cast<Eigen::Index>(i), pattern.column[static_cast<std::size_t>(e)]) +=
                    values[static_cast<std::size_t>(e)];
        return out;
    }

    /// Residuals and their derivatives. Each balance of forces is measured by the forces of the size `scale` in it.
    std::optional<Linear> linear(const std::vector<char>& closed, const Vector& z, const Vector& scale) const {
        std::shared_ptr<const model::Model> shared;
        inadmissible_ = true;
        try {
            shared = model_at(z(z.size() - 1));
        } catch (const Error& e) {
            failure_ = e.message();
            return std::nullopt;
        }
        inadmissible_ = false;
        const model::Model& m = *shared;
        const auto n = static_cast<Eigen::Index>(m.size());
        const std::vector<int> rows = rows_of(m, closed);
        const auto k = static_cast<Eigen::Index>(rows.size());
        const std::vector<double> zero(static_cast<std::size_t>(n), 0.0);
        model::Workspace workspace(m);
        model::Terms terms(m.layout());
        model::evaluate(m, workspace, 0.0, {z.data(), static_cast<std::size_t>(n)}, zero, terms);
        std::vector<double> lambda(static_cast<std::size_t>(m.layout().row_count()), 0.0);
        Vector force = Vector::Zero(n);
        for (Eigen::Index i = 0; i < n; ++i) force(i) = terms.h[static_cast<std::size_t>(i)];
        Matrix W = Matrix::Zero(n, k);
        const model::Pattern& pattern = m.layout().rows;
        for (Eigen::Index c = 0; c < k; ++c) {
            const auto row = static_cast<std::size_t>(rows[static_cast<std::size_t>(c)]);
            lambda[row] = z(n + c);
            for (int e = pattern.start[row]; e < pattern.start[row + 1]; ++e)
                W(pattern.column[static_cast<std::size_t>(e)], c) = terms.W[static_cast<std::size_t>(e)];
        }
        Linear l;
        l.F.resize(n + k);
        l.J = Matrix::Zero(n + k, n + k + 1);
        Rest here;
        here.z = z;
        const Matrix R = jacobian(m, model::Function::residual, here, lambda);
        const Matrix P = jacobian(m, model::Function::position, here, {});
        for (Eigen::Index i = 0; i < n; ++i) {
            double size = std::abs(force(i));
            for (Eigen::Index j = 0; j < n; ++j) size += std::abs(R(i, 1 + j)) * scale(j);
            for (Eigen::Index c = 0; c < k; ++c) size += std::abs(W(i, c)) * scale(n + c);
            size = std::max(size, std::numeric_limits<double>::min());
            l.F(i) = (force(i) + W.row(i).dot(z.segment(n, k))) / size;
            l.J.row(i).head(n) = R.row(i).segment(1, n) / size;
            l.J.row(i).segment(n, k) = W.row(i) / size;
            l.J(i, n + k) = R(i, 1 + 2 * n) / size;
        }
        for (Eigen::Index c = 0; c < k; ++c) {
            const auto row = static_cast<Eigen::Index>(rows[static_cast<std::size_t>(c)]);
            l.F(n + c) = terms.positions[static_cast<std::size_t>(row)];
            l.J.row(n + c).head(n) = P.row(row).segment(1, n);
            l.J(n + c, n + k) = P(row, 1 + 2 * n);
        }
        for (const model::Contact& c : m.contacts) l.gaps.push_back(terms.positions[static_cast<std::size_t>(c.row)]);
        if (!l.F.allFinite() || !l.J.allFinite()) {
            failure_ = "the forces are not finite";
            return std::nullopt;
        }
        return l;
    }

    static Vector tangent_of(const Linear& l, const Vector& scale, const Vector& along) {
        const Eigen::Index columns = scale.size();
        Matrix A(columns, columns);
        A.topRows(columns - 1) = l.J * scale.asDiagonal();
        A.row(columns - 1) = along.transpose();
        const Vector tangent = least_squares(A, Vector(Vector::Unit(columns, columns - 1)));
        return tangent / std::max(tangent.norm(), std::numeric_limits<double>::min());
    }

    Rest finish(const std::vector<char>& closed, const Vector& z, const Vector& scale, const Vector& row,
                const Linear& l) const {
        Rest r;
        r.z = z;
        r.closed = closed;
        r.model = last_;
        const Eigen::Index n = r.model->size(), last = z.size() - 1;
        r.scale = scale;
        for (Eigen::Index i = 0; i < n; ++i) r.scale(i) = least_coordinate_scale + std::abs(z(i));
        // Forces are measured by the largest one so far, so that steps do not shrink where a force vanishes.
        for (Eigen::Index i = n; i < last; ++i)
            r.scale(i) = std::max(scale.segment(n, last - n).maxCoeff(), z.segment(n, last - n).cwiseAbs().maxCoeff());
        r.scale(last) = options_.to - options_.from;
        r.tangent = tangent_of(l, r.scale, row.cwiseProduct(r.scale).cwiseQuotient(scale));
        std::complex<double> product = 1.0;
        for (const std::complex<double>& x : eigenvalues(l.J.leftCols(last) * r.scale.head(last).asDiagonal()))
            product *= x;
        r.determinant = product.real();
        r.gaps = l.gaps;
        r.forces.assign(closed.size(), 0.0);
        for (std::size_t c = 0; c < closed.size(); ++c)
            if (closed[c] != 0) r.forces[c] = z(n + force_index(*r.model, closed, c));
        stability::RestingModel resting(*r.model);
        r.local = stability::local_stability(resting, closed, z.head(n), 0);
        if (r.local) {
            for (const std::complex<double>& x : r.local->eigenvalues)
                if (x.imag() > 0.0) r.growths.push_back(x.real());
            std::sort(r.growths.begin(), r.growths.end(), std::greater<>());
        }
        return r;
    }

    const model::Description& description_;
    const BranchOptions& options_;
    mutable std::shared_ptr<const model::Model> last_;
    mutable double last_value_ = 0.0;
    mutable std::string failure_;
    mutable bool inadmissible_ = false;
};

BranchPoint described(const Rest& r) {
    BranchPoint p;
    const Eigen::Index n = r.model->size();
    p.parameter = r.parameter();
    p.state.q.assign(r.z.data(), r.z.data() + n);
    p.state.u.assign(static_cast<std::size_t>(n), 0.0);
    for (Eigen::Index i = 0; i < n; ++i) p.amplitude.emplace_back(r.z(i), r.z(i));
    for (std::size_t c = 0; c < r.closed.size(); ++c)
        if (r.closed[c] != 0) p.closed.push_back(r.model->contacts[c].name);
    if (!r.local) return p;
    p.multipliers = r.local->eigenvalues;
    using stability::LocalVerdict;
    p.stability = r.local->verdict == LocalVerdict::unstable    ? Stability::unstable
                  : r.local->verdict == LocalVerdict::undecided ? Stability::undecided
                                                                : Stability::stable;
    double largest = 0.0;
    for (const auto& x : p.multipliers) largest = std::max(largest, std::abs(x));
    for (const auto& x : p.multipliers) p.unstable_count += x.real() > 1e-7 * largest ? 1 : 0;
    return p;
}

/// Follows equilibria in one direction.
class RestWalk {
public:
    RestWalk(RestProblem& problem, const BranchOptions& options) : problem_(problem), options_(options) {}

    std::vector<BranchPoint> points;
    std::vector<SpecialPoint> special;
    std::string reason;
    bool failed = false, interrupted = false;
    std::function<void(const RestWalk&)> at_step;  ///< called before each step

    /// `known`: what an earlier run had computed of this walk; null: nothing.
    void go(Rest p, const WalkRecord* known) {
        double h = equilibrium_first_step;
        int changes = 0;  // of contacts without a point between them
        if (known != nullptr) {
            points = known->points;
            special = known->special;
            reason = known->reason;
            failed = known->failed;
            if (known->finished) return;
            if (!known->at_rest) throw Error("the stored points are not those of equilibria", {"--resume", 0, 0});
            p = problem_.restore(*known->at_rest);
            h = known->step;
            changes = known->changes;
        }
        while (true) {
            last_ = {p, h, changes};
            if (at_step) at_step(*this);
            if (options_.interrupted && options_.interrupted()) {
                interrupted = true;
                return end(p, "interrupted");
            }
            if (static_cast<int>(points.size()) >= options_.max_points)
                return end(p, "after " + std::to_string(options_.max_points) + " points; --points allows more");
            h = std::min({h, equilibrium_longest_step, options_.step / std::max(std::abs(p.slope()), 1e-6)});
            bool at_bound = false;
            std::optional<Rest> q = attempt(p, h, at_bound);
            const bool turned = q && std::acos(std::clamp(angle(p, *q), -1.0, 1.0)) > equilibrium_turn;
            if (!q || (turned && h > 1e-5)) {
                const bool refused = !q && problem_.inadmissible();
                if (h > equilibrium_shortest_step) {
                    h *= 0.5;
                    continue;
                }
                if (refused)
                    return end(p, options_.parameter + " is not admissible beyond " + number_text(p.parameter()) +
                                      ": " + problem_.failure());
                failed = true;
                return end(p, "no equilibrium was found beyond " + options_.parameter + " = " +
                                  number_text(p.parameter()) + ": " + problem_.failure());
            }
            // The first contact that opens or closes on the way.
            std::optional<Rest> change;
            std::size_t which = 0;
            for (std::size_t c = 0; c < p.closed.size(); ++c) {
                const bool violated = p.closed[c] != 0
                                          ? q->forces[c] < -equilibrium_violation * q->scale(q->model->size())
                                          : q->gaps[c] < -equilibrium_violation;
                if (!violated) continue;
                std::optional<Rest> m =
                    locate(p, *q, [c](const Rest& r) { return r.closed[c] != 0 ? r.forces[c] : r.gaps[c]; });
                if (!m) {
                    if (h > equilibrium_shortest_step) break;
                } else if (!change || along(p, *m) < along(p, *change)) {
                    change = std::move(m);
                    which = c;
                }
            }
            find_special(p, change ? *change : *q);
            if (change) {
                if (++changes > 2 * static_cast<int>(p.closed.size()) + 2)
                    return end(p, "contacts open and close at the same place");
                if (!toggle(*change, which)) return;
                p = std::move(*change);
                h = equilibrium_first_step;
                continue;
            }
            changes = 0;
            points.push_back(described(*q));
            if (options_.progress) options_.progress(points.size());
            p = std::move(*q);
            if (at_bound) return end(p, "the end of the range");
            h *= 1.4;
        }
    }

    /// What a later run needs to continue this walk, after it has ended.
    WalkRecord record() const {
        WalkRecord out = record_so_far();
        if (interrupted) {
            out.special.pop_back();  // the end that the interrupt made
            return out;
        }
        out.at_rest.reset();
        out.finished = true;
        out.reason = reason;
        out.failed = failed;
        return out;
    }
    /// The same before a step.
    WalkRecord record_so_far() const {
        WalkRecord out;
        out.points = points;
        out.special = special;
        out.at_rest = last_.point.stored();
        out.step = last_.step;
        out.changes = last_.changes;
        return out;
    }

private:
    /// Where the walk was before its present step.
    struct Position {
        Rest point;
        double step = 0.0;
        int changes = 0;
    };

    static double force_size(const Rest& r) {
        double size = 0.0;
        for (const double f : r.forces) size = std::max(size, std::abs(f));
        return size;
    }
    /// The largest smooth force at a point, or 1 if all vanish.
    static double load_size(const Rest& r) {
        stability::RestingModel resting(*r.model);
        resting.move_to(r.z.head(r.model->size()));
        const Vector h = resting.statics(std::vector<char>(r.closed.size(), 0)).h;
        return h.size() > 0 && h.cwiseAbs().maxCoeff() > 0.0 ? h.cwiseAbs().maxCoeff() : 1.0;
    }
    static double along(const Rest& p, const Rest& q) { return p.tangent.dot((q.z - p.z).cwiseQuotient(p.scale)); }
    static double angle(const Rest& p, const Rest& q) {
        const Vector t = q.tangent.cwiseProduct(q.scale).cwiseQuotient(p.scale);
        return p.tangent.dot(t) / std::max(t.norm(), std::numeric_limits<double>::min());
    }

    void end(const Rest& p, const std::string& why) {
        reason = why;
        special.push_back({"end", 0.0, described(p), points.size(), why, "", ""});
    }

    std::optional<Rest> attempt(const Rest& p, double h, bool& at_bound) {
        Prediction step = predicted_step(p, h, options_.from, options_.to);
        std::optional<Rest> q = problem_.correct(p.closed, step.z, p.scale, step.row);
        if (q && !step.at_bound && (q->parameter() > options_.to || q->parameter() < options_.from)) {
            // Newton's method led beyond the range: the point of the branch at the bound, from there.
            step = step_to_bound(p, *q, step.h, options_.from, options_.to);
            q = problem_.correct(p.closed, step.z, p.scale, step.row);
        }
        at_bound = step.at_bound;
        if (q && (q->z - step.z).cwiseQuotient(p.scale).norm() > std::max(step.h, 1e-9)) q.reset();
        if (q && angle(p, *q) < 0.0) q->tangent = -q->tangent;
        return q;
    }

    /// The zero of a function between p and q, by the method of Illinois.
    template <class Function>
    std::optional<Rest> locate(const Rest& p, const Rest& q, const Function& f) {
        double a = 0.0, b = along(p, q), fa = f(p), fb = f(q);
        std::optional<Rest> best;
        double before = std::numeric_limits<double>::infinity();
        int side = 0;
        for (int k = 0; k < 60; ++k) {
            const double s = (a * fb - b * fa) / (fb - fa);
            std::optional<Rest> m =
                problem_.correct(p.closed, p.z + s * p.tangent.cwiseProduct(p.scale), p.scale, p.tangent);
            if (!m) break;
            if (angle(p, *m) < 0.0) m->tangent = -m->tangent;
            const double value = f(*m);
            best = std::move(m);
            if (value == 0.0 || std::abs(s - before) <= 1e-15 || b - a <= 1e-15) break;
            before = s;
            const bool upper = (value < 0.0) != (fa < 0.0);
            (upper ? b : a) = s, (upper ? fb : fa) = value;
            if (side == (upper ? -1 : 1)) (upper ? fa : fb) *= 0.5;
            side = upper ? -1 : 1;
        }
        return best;
    }

    void note(const char* kind, const std::optional<Rest>& m) {
        // A zero of a function that is known to rounding has an error of rounding over its slope.
        if (m)
            special.push_back(
                {kind, 1e-13 * std::max(1.0, std::abs(m->parameter())), described(*m), points.size(), "", "", ""});
    }

    void find_special(const Rest& p, const Rest& q) {
        const auto differ = [](double a, double b) { return (a < 0.0) != (b < 0.0); };
        if (differ(p.slope(), q.slope()))
            note("fold", locate(p, q, [](const Rest& r) { return r.slope(); }));
        else if (differ(p.determinant, q.determinant))
            note("branch point", locate(p, q, [](const Rest& r) { return r.determinant; }));
        constexpr double damped = 1e-9;  // real parts below are rounding, as of systems without damping
        // Every pair may cross the imaginary axis, also if another one has crossed it before. If two eigenvalues become
        // real between the points, then pairs cannot be compared by their order, except the first.
        const std::size_t pairs = std::min(p.growths.size(), q.growths.size());
        for (std::size_t k = 0; k < (p.growths.size() == q.growths.size() ? pairs : std::min<std::size_t>(pairs, 1));
             ++k) {
            const double before = p.growths[k], after = q.growths[k];
            if (differ(before, after) && std::abs(before) > damped && std::abs(after) > damped)
                note("hopf", locate(p, q, [k](const Rest& r) { return k < r.growths.size() ? r.growths[k] : 0.0; }));
        }
    }

    /// Opens or closes a contact at a point where its gap and its force are zero, and turns the tangent such that the
    /// gap or the force grows. Returns false if the branch ends there.
    bool toggle(Rest& r, std::size_t contact) {
        const model::Model& m = *r.model;
        const bool opens = r.closed[contact] != 0;
        const Eigen::Index n = m.size(), index = n + RestProblem::force_index(m, r.closed, contact);
        const std::string name = m.contacts[contact].name;
        SpecialPoint s;
        s.kind = opens ? "lift-off" : "grazing";
        s.error = 1e-13 * std::max(1.0, std::abs(r.parameter()));
        s.at = described(r);
        s.index = points.size();
        s.before = name + (opens ? " closed" : " open");
        s.after = name + (opens ? " open" : " closed");
        special.push_back(s);
        std::vector<char> closed = r.closed;
        closed[contact] = opens ? 0 : 1;
        Vector z(r.z.size() + (opens ? -1 : 1)), scale(z.size());
        const Eigen::Index tail = r.z.size() - index - (opens ? 1 : 0);
        z.head(index) = r.z.head(index), scale.head(index) = r.scale.head(index);
        if (!opens) z(index) = 0.0, scale(index) = std::max(force_size(r), load_size(r));
        z.tail(tail) = r.z.tail(tail), scale.tail(tail) = r.scale.tail(tail);
        const Vector row = Vector::Unit(z.size(), z.size() - 1);
        std::optional<Rest> next = problem_.correct(closed, z, scale, row);
        if (!next) {
            end(r, "no equilibrium was found after the " + s.kind + " of " + name);
            return false;
        }
        const double grows = opens ? problem_.gap_slope(*next, contact) : next->tangent(index);
        if (grows < 0.0) next->tangent = -next->tangent;
        r = std::move(*next);
        return true;
    }

    RestProblem& problem_;
    const BranchOptions& options_;
    Position last_;
};

/// An equilibrium near a position: Newton's method; contacts that are violated are closed, contacts that pull are
/// opened.
std::optional<Rest> equilibrium_from(RestProblem& problem, const BranchOptions& options, const model::Model& m,
                                     const Vector& q) {
    const auto n = static_cast<Eigen::Index>(m.size());
    stability::RestingModel resting(m);
    resting.move_to(q);
    std::vector<char> closed;
    for (std::size_t c = 0; c < m.contacts.size(); ++c) closed.push_back(resting.closed(c, 1e-9) ? 1 : 0);
    // Size of the forces, for the first scale of the unknown ones.
    const Vector load = resting.statics(std::vector<char>(m.contacts.size(), 0)).h;
    const double force_scale = load.size() > 0 && load.cwiseAbs().maxCoeff() > 0.0 ? load.cwiseAbs().maxCoeff() : 1.0;
    for (std::size_t round = 0; round < 2 * m.contacts.size() + 4; ++round) {
        (void)problem.model_at(options.start);
        const Eigen::Index k = problem.forces_of(closed);
        Vector z = Vector::Zero(n + k + 1), scale = Vector::Ones(n + k + 1);
        z.head(n) = q;
        z(n + k) = options.start;
        scale.segment(n, k).setConstant(force_scale);
        scale(n + k) = options.to - options.from;
        std::optional<Rest> r = problem.correct(closed, z, scale, Vector(Vector::Unit(n + k + 1, n + k)));
        if (!r) return r;
        std::size_t worst = closed.size();
        double value = -equilibrium_violation;
        for (std::size_t c = 0; c < closed.size(); ++c) {
            const double here = closed[c] != 0 ? r->forces[c] : r->gaps[c];
            if (here < value) value = here, worst = c;
        }
        if (worst == closed.size()) return r;
        closed[worst] = closed[worst] != 0 ? 0 : 1;
    }
    return std::nullopt;
}

/// A first equilibrium: from the guess; if Newton's method fails there, then the nearest of those that a search of all
/// equilibrium sets finds.
std::optional<Rest> first_equilibrium(RestProblem& problem, const BranchOptions& options, const model::Model& m) {
    const std::vector<double>& guess = options.orbit.guess ? options.orbit.guess->q : m.q0;
    const Vector q = Eigen::Map<const Vector>(guess.data(), m.size());
    std::optional<Rest> first = equilibrium_from(problem, options, m, q);
    if (first) return first;
    stability::EquilibriaOptions search;
    search.max_boxes = 0;  // no proof that the list is complete
    search.interrupted = options.interrupted;
    const stability::Equilibria all = stability::equilibria(m, search);
    std::vector<std::pair<double, Vector>> list;
    for (const stability::EquilibriumSet& set : all.sets)
        if (set.contains_frictionless) list.emplace_back((set.frictionless - q).norm(), set.frictionless);
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [distance, position] : list) {
        first = equilibrium_from(problem, options, m, position);
        if (first) return first;
    }
    return std::nullopt;
}

void refuse(const model::Model& m) {
    const Place place{"--equilibria", 0, 0};
    if (!m.autonomous) throw Error("the model depends on time, so that no position needs to stay at rest", place);
    if (!m.clutches.empty()) throw Error("branches of equilibria with one-way clutches are not computed", place);
    model::refuse_elements(m, model::Analysis::equilibrium_sets, place);  // as `saltus equilibria` does
    const std::vector<double> zero(m.coordinates.size(), 0.0);
    model::Workspace workspace(m);
    model::Terms terms(m.layout());
    model::evaluate(m, workspace, 0.0, m.q0, zero, terms);
    for (const double chi : terms.chi)
        if (chi != 0.0) throw Error("a surface moves: friction acts although the coordinates rest", place);
}

}  // namespace

Branches continue_equilibria(const model::Description& description, const BranchOptions& options) {
    SALTUS_EXPECT(options.from < options.to && options.from <= options.start && options.start <= options.to);
    Branches out;
    out.parameter = options.parameter;
    out.equilibria = true;
    out.complete = true;
    RestProblem problem(description, options);
    const std::shared_ptr<const model::Model> model = problem.model_at(options.start);
    out.model = model->name;
    out.coordinates = model->coordinates;
    refuse(*model);
    const std::optional<Rest> first = first_equilibrium(problem, options, *model);
    if (!first) {
        out.status = Status::no_orbit;
        out.failure = "no equilibrium without friction forces was found from the guess: " + problem.failure();
        out.record.append_rest_of(options.known);
        return out;
    }
    Branch b;
    RestWalk down(problem, options), up(problem, options);
    Rest reversed = *first;
    reversed.tangent = -reversed.tangent;
    const auto follow = [&](RestWalk& walk, const Rest& from) {
        std::vector<WalkRecord>& walks = out.record.walks;
        const std::size_t k = walks.size();
        if (options.checkpoint)
            walk.at_step = [&](const RestWalk& here) {
                options.checkpoint([&] {
                    BranchRecord so_far = out.record;
                    so_far.walks.push_back(here.record_so_far());
                    so_far.append_rest_of(options.known);
                    return so_far;
                });
            };
        walk.go(from, options.known != nullptr && k < options.known->walks.size() ? &options.known->walks[k] : nullptr);
        walks.push_back(walk.record());
    };
    if (options.start > options.from) follow(down, reversed);
    if (!down.interrupted && options.start < options.to) follow(up, *first);
    out.record.append_rest_of(options.known);
    const std::size_t below = down.points.size();
    b.points.assign(down.points.rbegin(), down.points.rend());
    b.points.push_back(described(*first));
    b.points.insert(b.points.end(), up.points.begin(), up.points.end());
    for (auto s = down.special.rbegin(); s != down.special.rend(); ++s) {
        s->index = below - s->index;
        std::swap(s->before, s->after);
        if (s->kind == "grazing" || s->kind == "lift-off") s->kind = s->kind == "grazing" ? "lift-off" : "grazing";
        b.special.push_back(*s);
    }
    for (SpecialPoint s : up.special) {
        s.index += below + 1;
        b.special.push_back(std::move(s));
    }
    b.reason = down.reason == up.reason ? "both ends: " + up.reason
                                        : "lower end: " + down.reason + "; upper end: " + up.reason;
    b.failed = down.failed || up.failed;
    out.branches.push_back(std::move(b));
    out.complete = !down.interrupted && !up.interrupted;
    return out;
}

}  // namespace saltus::orbit
