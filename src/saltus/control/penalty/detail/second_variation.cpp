// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/penalty/detail/second_variation.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "saltus/model/evaluate.hpp"
#include "saltus/model/jacobians.hpp"
#include "saltus/model/mass.hpp"
#include "saltus/model/model.hpp"
#include "saltus/ode/explicit.hpp"

namespace saltus::control {

namespace {

constexpr int pieces_a_step = 2;
constexpr std::size_t most_elements = 100'000;
constexpr double flow_tolerance = 1e-13;

struct Piece {
    double from, to;
    const ode::Dense* step;
    const std::vector<trajectory::Mode>* modes;
};

/// Transition of (δq, δp) over a piece.
struct Transition {
    Matrix A, B, C, D;
};

}  // namespace

struct SecondVariation::Inside {
    const model::Model& model;
    double stiffness;
    int n;
    model::Workspace workspace;
    model::Terms terms;
    model::MassFactor mass;
    std::unique_ptr<model::Jacobians> jacobians;
    std::vector<double> x, values, coefficients;
    std::vector<Piece> pieces;
    std::vector<Transition> transitions;
    Matrix end_by_start;
    bool available = true;

    Inside(const model::Model& m, double k)
        : model(m),
          stiffness(k),
          n(m.size()),
          workspace(m),
          terms(m.layout()),
          mass(m.layout().mass),
          jacobians(m.system->jacobians()),
          x(static_cast<std::size_t>(2 * n)),
          coefficients(static_cast<std::size_t>(m.layout().coefficients)) {}

    std::span<const double> q() const { return {x.data(), static_cast<std::size_t>(n)}; }
    std::span<const double> u() const { return {x.data() + n, static_cast<std::size_t>(n)}; }

    Matrix jacobian(model::Function f, double t, std::span<const double> a, std::span<const double> lambda) {
        const model::Pattern& pattern = jacobians->pattern(f);
        values.resize(pattern.size());
        jacobians->evaluate(f, model::at(model, t, q(), u()), a, lambda, values);
        return model::dense(pattern, values);
    }

    bool evaluate(double t, const ode::Dense& step) {
        step.evaluate(t, x.data(), 2 * n);
        model::evaluate(model, workspace, t, q(), u(), terms);
        return mass.factorise(terms.M);
    }

    /// δu̇ = [K, C](δq, δu) at a time of a piece.
    bool linearise(const Piece& piece, double t, Matrix& out) {
        if (!evaluate(t, *piece.step)) return false;
        model.system->coefficients(model::at(model, t, q(), u()), workspace.scratch(), coefficients);
        std::vector<double> lambda(static_cast<std::size_t>(model.layout().row_count()), 0.0);
        std::vector<double> a(terms.h.begin(), terms.h.end());
        const Matrix W = model::dense(model.layout().rows, terms.W);
        Matrix springs = Matrix::Zero(n, n);
        for (std::size_t c = 0; c < model.contacts.size(); ++c) {
            if ((*piece.modes)[c] == trajectory::Mode::open) continue;
            const model::Contact& contact = model.contacts[c];
            const double k = stiffness * coefficients[static_cast<std::size_t>(contact.penalty_k)];
            const auto row = static_cast<std::size_t>(contact.row);
            lambda[row] = -k * terms.positions[row];
            for (int i = 0; i < n; ++i) a[static_cast<std::size_t>(i)] += W(contact.row, i) * lambda[row];
            springs += k * W.row(contact.row).transpose() * W.row(contact.row);
        }
        mass.solve(a);
        const Matrix residual = jacobian(model::Function::residual, t, a, lambda);
        out = residual.middleCols(1, 2 * n);
        out.leftCols(n) -= springs;
        std::vector<double> column(static_cast<std::size_t>(n));
        for (int j = 0; j < 2 * n; ++j) {
            Vector::Map(column.data(), n) = out.col(j);
            mass.solve(column);
            out.col(j) = Vector::Map(column.data(), n);
        }
        return out.allFinite();
    }

    /// δp = P δq + M δu for p = M(q)u: P = ∂(Mu)/∂q, by the residual's part −M a with u in the place of a.
    void momentum(double t, const ode::Dense& step, Matrix& P, Matrix& M) {
        evaluate(t, step);
        M = model::dense_symmetric(model.layout().mass, terms.M);
        if (model.layout().mass_constant) {
            P = Matrix::Zero(n, n);
            return;
        }
        const std::vector<double> zero(static_cast<std::size_t>(n), 0.0),
            lambda(static_cast<std::size_t>(model.layout().row_count()), 0.0),
            velocity(x.begin() + n, x.begin() + 2 * n);
        const Matrix with = jacobian(model::Function::residual, t, velocity, lambda);
        P = -(with - jacobian(model::Function::residual, t, zero, lambda)).middleCols(1, n);
    }

    /// The flow of the linearised equations from one time of a piece to another.
    std::optional<Transition> transition(const Piece& piece, double from, double to) {
        Matrix rates(n, 2 * n);
        const auto rate = [&](double s, const double* y, double* dy) {  // time since `from`, which may be short
            if (!linearise(piece, from + s, rates)) return false;
            const Eigen::Map<const Matrix> Y(y, 2 * n, 2 * n);
            Eigen::Map<Matrix> out(dy, 2 * n, 2 * n);
            out.topRows(n) = Y.bottomRows(n);
            out.bottomRows(n) = rates * Y;
            return true;
        };
        Matrix state = Matrix::Identity(2 * n, 2 * n);  // (δq, δu) by (δq, δu)
        ode::Explicit flow(4 * n * n, {flow_tolerance, flow_tolerance});
        ode::StepStatus status = flow.start({rate}, 0.0, {state.data(), static_cast<std::size_t>(state.size())});
        while (ode::usable(status) && flow.t() < to - from) status = flow.step({rate}, to - from);
        if (!ode::usable(status)) return {};
        std::copy(flow.x().begin(), flow.x().end(), state.data());
        Matrix P0, M0, P1, M1;
        momentum(from, *piece.step, P0, M0);
        momentum(to, *piece.step, P1, M1);
        Transition out;
        const Matrix by_p = solve_columns(M0, Matrix::Identity(n, n));
        const Matrix by_q = -by_p * P0;  // δu of δq at δp = 0
        out.A = state.topLeftCorner(n, n) + state.topRightCorner(n, n) * by_q;
        out.B = state.topRightCorner(n, n) * by_p;
        const Matrix u_q = state.bottomLeftCorner(n, n) + state.bottomRightCorner(n, n) * by_q;
        const Matrix u_p = state.bottomRightCorner(n, n) * by_p;
        out.C = P1 * out.A + M1 * u_q;
        out.D = P1 * out.B + M1 * u_p;
        return out;
    }

    static Matrix inverse(const Matrix& A) { return solve_columns(A, Matrix::Identity(A.rows(), A.rows())); }

    static int negatives(const Matrix& A) {
        // Sylvester: the signs of LDLᵀ's pivots; eigenvalues where pivots are small.
        Matrix S = 0.5 * (A + A.transpose());
        int count = 0;
        while (S.rows() > 0) {
            const Spectrum s = symmetric_spectrum(S);
            if (s.smallest >= 0.0) break;
            ++count;
            if (S.rows() == 1) break;
            // Deflate: the complement of the direction found.
            const Vector v = s.smallest_direction;
            Matrix Z(S.rows(), S.rows() - 1);
            Eigen::Index largest = 0;
            v.cwiseAbs().maxCoeff(&largest);
            Eigen::Index column = 0;
            for (Eigen::Index i = 0; i < S.rows(); ++i) {
                if (i == largest) continue;
                Vector e = Vector::Unit(S.rows(), i) - v(i) * v;
                for (Eigen::Index c = 0; c < column; ++c) e -= Z.col(c).dot(e) * Z.col(c);
                Z.col(column++) = e.normalized();
            }
            S = Z.transpose() * S * Z;
        }
        return count;
    }

    /// Index of the path up to each knot, by elimination: D_j = D B⁻¹ of the piece before + B⁻¹A of the piece after
    /// − B⁻ᵀ-couplings through D_{j−1}.
    template <class Visit>
    int eliminate(const std::vector<Transition>& list, Visit visit) const {
        int index = 0;
        Matrix carried;  // what the pieces before leave at the knot
        for (std::size_t j = 0; j < list.size(); ++j) {
            const Transition& piece = list[j];
            const Matrix inverse_B = inverse(piece.B);
            if (j == 0) {
                carried = piece.D * inverse_B;
                continue;
            }
            const Matrix pivot = carried + inverse_B * piece.A;
            const int below = negatives(pivot);
            visit(j, below, carried);
            index += below;
            carried = piece.D * inverse_B - inverse_B.transpose() * inverse(pivot) * inverse_B;
        }
        return index;
    }

    bool make_transitions() {
        for (const Piece& piece : pieces) {
            auto t = transition(piece, piece.from, piece.to);
            if (!t) return false;
            transitions.push_back(std::move(*t));
        }
        return true;
    }
};

SecondVariation::SecondVariation(const model::Model& model, const trajectory::Trajectory& motion, double stiffness)
    : inside_(std::make_unique<Inside>(model, stiffness)) {
    Inside& in = *inside_;
    in.available = in.jacobians != nullptr && model.constraints.empty();
    for (const trajectory::Arc& arc : motion.arcs)
        for (const ode::Dense& step : arc.steps) {
            const double to = std::min(step.t_new(), arc.t_end), from = step.t_old();
            if (!(to > from)) continue;
            for (int k = 0; k < pieces_a_step; ++k)
                in.pieces.push_back({from + (to - from) * k / pieces_a_step,
                                     k + 1 == pieces_a_step ? to : from + (to - from) * (k + 1) / pieces_a_step, &step,
                                     &arc.modes});
        }
    in.available = in.available && !in.pieces.empty() && in.make_transitions();
    if (!in.available) return;
    // ∂q/∂p over the whole motion, then by the first momentum.
    Matrix A = Matrix::Identity(in.n, in.n), B = Matrix::Zero(in.n, in.n), C = B, D = A;
    for (const Transition& t : in.transitions) {
        const Matrix a = t.A * A + t.B * C, b = t.A * B + t.B * D;
        C = t.C * A + t.D * C;
        D = t.C * B + t.D * D;
        A = a;
        B = b;
    }
    Matrix P, M;
    in.momentum(in.pieces.front().from, *in.pieces.front().step, P, M);
    in.end_by_start = B * M;
}

SecondVariation::~SecondVariation() = default;

bool SecondVariation::available() const { return inside_->available; }
const Matrix& SecondVariation::end_by_start() const { return inside_->end_by_start; }

int SecondVariation::morse_index() const {
    return inside_->eliminate(inside_->transitions, [](std::size_t, int, const Matrix&) {});
}

std::vector<double> SecondVariation::conjugate_times(std::size_t most) const {
    Inside& in = *inside_;
    std::vector<double> times;
    in.eliminate(in.transitions, [&](std::size_t j, int below, const Matrix& carried) {
        const Piece& piece = in.pieces[j];
        for (int m = 0; m < below && times.size() < most; ++m) {
            // The path that ends at s has the pivot carried + B(s)⁻¹A(s), decreasing in s.
            double low = piece.from, high = piece.to;
            for (int k = 0; k < 60 && high - low > 4e-16 * std::abs(high); ++k) {
                const double s = 0.5 * (low + high);
                const auto t = in.transition(piece, piece.from, s);
                if (!t) break;
                const Matrix pivot = carried + Inside::inverse(t->B) * t->A;
                (Inside::negatives(pivot) > m ? high : low) = s;
            }
            times.push_back(0.5 * (low + high));
        }
    });
    std::sort(times.begin(), times.end());
    return times;
}

std::optional<double> SecondVariation::lowest_eigenvalue() const {
    Inside& in = *inside_;
    if (!in.model.layout().mass_constant) return {};
    // Linear elements: ∫ δq̇ᵀMδq̇ + δqᵀM(∂u̇/∂q)δq, with masses at the knots.
    const Piece& first = in.pieces.front();
    Matrix P, M, rates(in.n, 2 * in.n);
    in.momentum(first.from, *first.step, P, M);
    struct Element {
        double h;
        Matrix K;  // at its middle
    };
    // Fine where the path is stiff and around it, as far as its modes reach; coarser away from there.
    std::vector<double> frequency;
    double bound = 0.0;
    for (const Piece& piece : in.pieces) {
        if (!in.linearise(piece, 0.5 * (piece.from + piece.to), rates)) return {};
        const double size = rates.leftCols(in.n).cwiseAbs().rowwise().sum().maxCoeff();
        bound = std::max(bound, size);
        frequency.push_back(std::max(std::sqrt(size), 1.0 / (in.pieces.back().to - first.from)));
    }
    const auto length_at = [&](double t) {
        double h = in.pieces.back().to - first.from;
        for (std::size_t p = 0; p < in.pieces.size(); ++p) {
            const double away = std::max({0.0, in.pieces[p].from - t, t - in.pieces[p].to});
            h = std::min(h, 0.03 / frequency[p] + 0.1 * away);
        }
        return h;
    };
    std::vector<Element> elements;
    for (const Piece& piece : in.pieces)
        for (double t = piece.from; t < piece.to;) {
            double h = length_at(t);
            h = std::min(h, length_at(std::min(t + h, piece.to)));
            if (t + 1.5 * h >= piece.to) h = piece.to - t;
            if (elements.size() > most_elements || !in.linearise(piece, t + 0.5 * h, rates)) return {};
            elements.push_back({h, -M * rates.leftCols(in.n)});
            t = h == piece.to - t ? piece.to : t + h;
        }
    const auto below = [&](double lambda) {
        Matrix pivot;
        for (std::size_t j = 0; j + 1 < elements.size(); ++j) {
            const Element &a = elements[j], &b = elements[j + 1];
            Matrix block = M * (1.0 / a.h + 1.0 / b.h) - (a.h * a.K + b.h * b.K) / 3.0 - lambda * 0.5 * (a.h + b.h) * M;
            if (j > 0) {
                const Matrix coupling = -M / a.h - a.h / 6.0 * a.K;
                block -= coupling.transpose() * Inside::inverse(pivot) * coupling;
            }
            pivot = block;
            if (Inside::negatives(pivot) > 0) return true;
        }
        return false;
    };
    double low = -2.0 * bound - 1.0, high = 2.0 * bound + 1.0;
    while (!below(high) && high < 1e30) high *= 2.0;
    while (high - low > 1e-7 * std::max(std::abs(low), std::abs(high))) {
        const double middle = 0.5 * (low + high);
        if (middle == low || middle == high) break;
        (below(middle) ? high : low) = middle;
    }
    return 0.5 * (low + high);
}

}  // namespace saltus::control
