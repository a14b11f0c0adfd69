// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/detail/impact_shooting.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/integrate/collision_at.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/model.hpp"
#include "saltus/orbit/detail/measures.hpp"

namespace saltus::orbit {

namespace {

using trajectory::EventKind;

/// An approach slower than this part of the speeds of the motion is near grazing.
constexpr double slow_approach = 0.1;
/// Newton's method ends below this residual, relative to the sizes.
constexpr double solved_residual = 1e-12;
/// A residual that no longer falls counts as found below this value.
constexpr double found_residual = 1e-9;
constexpr int max_impact_halvings = 14;
/// Derivatives of the impact law by differences: the step, relative to the sizes. The law is linear in the velocities
/// for one contact without friction; errors only slow Newton's method down.
constexpr double difference_step = 1e-6;
/// Derivatives up to an impact are those up to a time that is earlier by this part of the way.
constexpr double before_impact = 1e-7;

/// The unknowns of one impact.
struct Node {
    double from = 0.0;  ///< m_i, fixed
    Vector x;           ///< x_i
    double t = 0.0;     ///< t_i
};

/// Values and derivatives of the equations of one impact.
struct Block {
    Vector w;        ///< φ(m_{i+1}; t_i, R)
    double g = 0.0;  ///< gap
    Matrix w_x;
    Vector w_t;
    Vector g_x;
    double g_t = 0.0;
};

class Solver {
public:
    Solver(const ImpactShooting& problem, const trajectory::Trajectory& guess)
        : p_(problem),
          n_(static_cast<Eigen::Index>(guess.coordinates.size())),
          size_(sizes(guess)),
          end_(guess.end.t),
          workspace_(problem.model),
          terms_(problem.model.layout()) {}

    /// The impacts of the guess. False if they are not of the kind that is treated here.
    bool read(const trajectory::Trajectory& guess) {
        for (const trajectory::Event& e : guess.events) {
            if (e.kind == EventKind::accumulation || e.kind == EventKind::jump || e.kind == EventKind::painleve)
                return false;
            if (e.kind != EventKind::impact) continue;
            const auto contacts = static_cast<int>(p_.model.contacts.size());
            if (e.elements.size() != 1 || e.elements[0] >= contacts) return false;
            Node node;
            node.from = nodes_.empty() ? guess.start.t : 0.5 * (nodes_.back().t + e.t);
            node.x = vector_of(guess.right(node.from));
            node.t = e.t;
            nodes_.push_back(std::move(node));
            contacts_.push_back(e.elements[0]);
        }
        return !nodes_.empty();
    }

    bool solve() {
        std::vector<Block> blocks;
        if (!evaluate(nodes_, blocks)) return false;
        Vector F = defect(nodes_, blocks);
        double residual = F.cwiseAbs().maxCoeff();
        for (int k = 0; k < p_.max_iterations && residual > solved_residual; ++k) {
            if (p_.interrupted && p_.interrupted()) return false;
            const Vector step = newton(blocks, F);
            if (!step.allFinite()) break;
            bool better = false;
            double fraction = 1.0;
            for (int halving = 0; halving <= max_impact_halvings && !better; ++halving, fraction *= 0.5) {
                std::vector<Node> next = moved(step, fraction);
                std::vector<Block> there;
                if (!ordered(next) || !evaluate(next, there)) continue;
                const Vector defect_there = defect(next, there);
                if (!(defect_there.cwiseAbs().maxCoeff() < residual)) continue;
                better = true;
                nodes_ = std::move(next), blocks = std::move(there), F = defect_there;
                residual = F.cwiseAbs().maxCoeff();
            }
            if (!better) break;
        }
        return residual <= found_residual;
    }

    const Vector& start() const { return nodes_.front().x; }

private:
    double until(std::size_t i) const { return i + 1 < nodes_.size() ? nodes_[i + 1].from : end_; }

    bool ordered(const std::vector<Node>& nodes) const {
        for (std::size_t i = 0; i < nodes.size(); ++i)
            if (!(nodes[i].t > nodes[i].from && nodes[i].t < until(i))) return false;
        return true;
    }

    bool evaluate(const std::vector<Node>& nodes, std::vector<Block>& blocks) {
        blocks.resize(nodes.size());
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            try {
                if (!evaluate(nodes[i], contacts_[i], until(i), blocks[i])) return false;
            } catch (const Error&) {  // a state that penetrates an obstacle
                return false;
            }
        }
        return true;
    }

    /// The state at t on the way from a node, continued beyond the obstacle, with its derivatives by x and t.
    bool approach(const Node& node, int contact, Vector& y, Matrix& y_x, Vector& y_t) const {
        Return r = p_.map(node.from, node.x, node.t - node.from);
        const trajectory::Trajectory& motion = r.motion;
        const auto hit = std::find_if(motion.events.begin(), motion.events.end(),
                                      [](const trajectory::Event& e) { return e.kind == EventKind::impact; });
        if (hit == motion.events.end()) {
            if (!r.available() || !r.missing.empty()) return false;
            y = r.end, y_x = r.slope, y_t = r.rate;
            return true;
        }
        if (hit->elements != std::vector<int>{contact}) return false;
        // The polynomial of the last step before the impact goes on beyond it.
        const ode::Dense* step = nullptr;
        for (const trajectory::Arc& arc : motion.arcs)
            if (!arc.steps.empty() && arc.t_begin < hit->t) step = &arc.steps.back();
        if (step == nullptr) return false;
        Vector all(step->size());
        step->evaluate(node.t, all.data());
        y = all.head(2 * n_);
        step->derivative(node.t, all.data());
        y_t = all.head(2 * n_);
        const Return before = p_.map(node.from, node.x, (hit->t - node.from) * (1.0 - before_impact));
        if (!before.available() || !before.missing.empty()) return false;
        y_x = before.slope;
        return true;
    }

    /// The velocities after the impact. False if the law has no solution or the contact does not approach.
    bool law(double t, const Vector& y, int contact, Vector& u_plus) const {
        std::vector<char> closed(
            p_.model.contacts.size() + p_.model.constraints.size() + p_.model.sliders.size() + p_.model.clutches.size(),
            0);
        closed[static_cast<std::size_t>(contact)] = 1;
        const trajectory::State s = state_of(t, y);
        const integrate::ModelCollision collision = integrate::collision_at(p_.model, t, s.q, s.u, closed);
        if (collision.singular) return false;
        const integrate::LawOutcome out = integrate::law_outcome(p_.model, collision);
        if (!out.solved || !out.approaches) return false;
        u_plus = out.u_plus;
        return true;
    }

    bool evaluate(const Node& node, int contact, double to, Block& b) {
        Vector y, y_t, u_plus;
        Matrix y_x;
        if (!approach(node, contact, y, y_x, y_t) || !law(node.t, y, contact, u_plus)) return false;
        // R and its derivatives by (q, u) and t.
        Matrix R_y = Matrix::Zero(2 * n_, 2 * n_);
        R_y.topLeftCorner(n_, n_).setIdentity();
        Vector plus, minus;
        for (Eigen::Index j = 0; j < 2 * n_; ++j) {
            const double h = difference_step * size_(j);
            Vector up = y, down = y;
            up(j) += h, down(j) -= h;
            if (law(node.t, up, contact, plus) && law(node.t, down, contact, minus))
                R_y.col(j).tail(n_) = (plus - minus) / (2.0 * h);
            else if (law(node.t, down, contact, minus))
                R_y.col(j).tail(n_) = (u_plus - minus) / h;
            else if (law(node.t, up, contact, plus))
                R_y.col(j).tail(n_) = (plus - u_plus) / h;
            else
                return false;
        }
        Vector R_t = Vector::Zero(2 * n_);
        const double ht = difference_step * (to - node.from);
        if (law(node.t + ht, y, contact, plus) && law(node.t - ht, y, contact, minus))
            R_t.tail(n_) = (plus - minus) / (2.0 * ht);
        // The gap and its derivatives.
        const trajectory::State s = state_of(node.t, y);
        model::evaluate(p_.model, workspace_, node.t, s.q, s.u, terms_);
        const int row = p_.model.contacts[static_cast<std::size_t>(contact)].row;
        const model::Pattern& pattern = p_.model.layout().rows;
        Vector W = Vector::Zero(n_);
        for (int k = pattern.start[static_cast<std::size_t>(row)]; k < pattern.start[static_cast<std::size_t>(row) + 1];
             ++k)
            W(pattern.column[static_cast<std::size_t>(k)]) = terms_.W[static_cast<std::size_t>(k)];
        const double chi = terms_.chi[static_cast<std::size_t>(row)];
        b.g = terms_.positions[static_cast<std::size_t>(row)];
        b.g_x = y_x.topRows(n_).transpose() * W;
        b.g_t = W.dot(y_t.head(n_)) + chi;
        // From the impact to the next node. A start inside the obstacle is moved to its surface, and for the
        // derivatives a little above it, because a contact that is closed has none.
        Vector z(2 * n_);
        z << y.head(n_), u_plus;
        const auto lifted = [&](double gap) {
            Vector at = z;
            if (b.g < gap) at.head(n_) += W * ((gap - b.g) / std::max(W.squaredNorm(), 1e-300));
            return at;
        };
        constexpr double above = 1e-9;
        const trajectory::Trajectory motion = p_.map.motion(node.t, lifted(0.0), to - node.t);
        if (motion.status != trajectory::Status::completed) return false;
        if (std::any_of(motion.events.begin(), motion.events.end(),
                        [](const trajectory::Event& e) { return e.kind == EventKind::impact; }))
            return false;
        const Return after = p_.map(node.t, lifted(above * size_.head(n_).maxCoeff()), to - node.t);
        if (!after.available() || !after.missing.empty()) return false;
        b.w = vector_of(motion.end);
        const Matrix through = after.slope * R_y;
        b.w_x = through * y_x;
        b.w_t = through * y_t + after.slope * (R_t - rate_at(after.motion, node.t));
        return true;
    }

    double gap_size() const { return size_.head(n_).maxCoeff(); }

    Vector defect(const std::vector<Node>& nodes, const std::vector<Block>& blocks) const {
        const Eigen::Index m = 2 * n_ + 1;
        Vector F(m * static_cast<Eigen::Index>(nodes.size()));
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const Vector& next = nodes[(i + 1) % nodes.size()].x;
            F.segment(static_cast<Eigen::Index>(i) * m, 2 * n_) = (blocks[i].w - next).cwiseQuotient(size_);
            F(static_cast<Eigen::Index>(i) * m + 2 * n_) = blocks[i].g / gap_size();
        }
        return F;
    }

    /// Steps of (x_i/size, t_i/T).
    Vector newton(const std::vector<Block>& blocks, const Vector& F) const {
        const Eigen::Index m = 2 * n_ + 1, count = static_cast<Eigen::Index>(blocks.size());
        const double duration = end_ - nodes_.front().from;
        Matrix A = Matrix::Zero(m * count, m * count);
        for (Eigen::Index i = 0; i < count; ++i) {
            const Block& b = blocks[static_cast<std::size_t>(i)];
            A.block(i * m, i * m, 2 * n_, 2 * n_) = size_.cwiseInverse().asDiagonal() * b.w_x * size_.asDiagonal();
            A.block(i * m, i * m + 2 * n_, 2 * n_, 1) = b.w_t.cwiseQuotient(size_) * duration;
            A.block(i * m, ((i + 1) % count) * m, 2 * n_, 2 * n_) -= Matrix::Identity(2 * n_, 2 * n_);
            A.block(i * m + 2 * n_, i * m, 1, 2 * n_) = b.g_x.cwiseProduct(size_).transpose() / gap_size();
            A(i * m + 2 * n_, i * m + 2 * n_) = b.g_t * duration / gap_size();
        }
        return least_squares(A, Vector(-F));
    }

    std::vector<Node> moved(const Vector& step, double fraction) const {
        const Eigen::Index m = 2 * n_ + 1;
        std::vector<Node> next = nodes_;
        for (std::size_t i = 0; i < next.size(); ++i) {
            const auto at = static_cast<Eigen::Index>(i) * m;
            next[i].x += fraction * step.segment(at, 2 * n_).cwiseProduct(size_);
            next[i].t += fraction * step(at + 2 * n_) * (end_ - nodes_.front().from);
        }
        return next;
    }

    const ImpactShooting& p_;
    Eigen::Index n_;
    Vector size_;
    double end_;
    std::vector<Node> nodes_;
    std::vector<int> contacts_;
    model::Workspace workspace_;
    model::Terms terms_;
};

}  // namespace

bool nearly_grazes(const model::Model& m, const trajectory::Trajectory& motion) {
    if (std::none_of(motion.events.begin(), motion.events.end(),
                     [](const trajectory::Event& e) { return e.kind == EventKind::impact; }))
        return false;
    // The largest velocities at both ends and at the events.
    std::vector<double> largest(motion.coordinates.size(), 0.0);
    const auto take = [&](const std::vector<double>& u) {
        for (std::size_t i = 0; i < u.size(); ++i) largest[i] = std::max(largest[i], std::abs(u[i]));
    };
    take(motion.start.u);
    take(motion.end.u);
    for (const trajectory::Event& e : motion.events) take(e.u_minus), take(e.u_plus);
    model::Workspace workspace(m);
    model::Terms terms(m.layout());
    for (const trajectory::Event& e : motion.events) {
        if (e.kind != EventKind::impact || e.elements.size() != 1 ||
            e.elements[0] >= static_cast<int>(m.contacts.size()))
            continue;
        const int row = m.contacts[static_cast<std::size_t>(e.elements[0])].row;
        model::evaluate(m, workspace, e.t, e.q, e.u_minus, terms);
        const model::Pattern& pattern = m.layout().rows;
        double speed = std::abs(terms.chi[static_cast<std::size_t>(row)]);
        for (int k = pattern.start[static_cast<std::size_t>(row)]; k < pattern.start[static_cast<std::size_t>(row) + 1];
             ++k)
            speed += std::abs(terms.W[static_cast<std::size_t>(k)]) *
                     largest[static_cast<std::size_t>(pattern.column[static_cast<std::size_t>(k)])];
        if (std::abs(model::row_velocity(m.layout(), terms, row, e.u_minus)) < slow_approach * speed) return true;
    }
    return false;
}

std::optional<Vector> solve_at_impacts(const ImpactShooting& problem, const trajectory::Trajectory& guess) {
    Solver solver(problem, guess);
    if (!solver.read(guess) || !solver.solve()) return std::nullopt;
    return solver.start();
}

}  // namespace saltus::orbit
