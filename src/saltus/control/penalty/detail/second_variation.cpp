// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/penalty/detail/second_variation.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "saltus/model/evaluate.hpp"
#include "saltus/model/jacobians.hpp"
#include "saltus/model/mass.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/ode/explicit.hpp"

namespace saltus::control {

namespace {

constexpr int pieces_per_step = 2;            ///< of the integrator
constexpr double flow_tolerance = 1e-13;      ///< of the linearised flow, relative and absolute
constexpr double conjugate_accuracy = 4e-16;  ///< of a conjugate time, relative: rounding
constexpr int max_conjugate_bisections = 60;

// Finite elements for the lowest eigenvalue.
constexpr std::size_t max_elements = 100'000;
constexpr double element_phase = 0.03;        ///< length of an element times the frequency of its piece, in rad
constexpr double element_growth = 0.1;        ///< growth of the elements with the distance from a stiff piece
constexpr double last_element = 1.5;          ///< a remainder of less than this many elements becomes one element
constexpr double eigenvalue_accuracy = 1e-7;  ///< relative to the bracket of the eigenvalue
constexpr double largest_eigenvalue = 1e30;   ///< the bracket does not grow beyond this

/// A part of a step of the integrator.
struct Piece {
    double from, to;
    const ode::Dense* step;
    const std::vector<trajectory::Mode>* modes;  ///< of the contacts
};

/// The linearised flow over a piece in variations of positions and momenta p = Mu:
///     δq₁ = A δq₀ + B δp₀,   δp₁ = C δq₀ + D δp₀.
/// The second variation of S over the piece, as a function of its end values, is δq₁·δp₁ − δq₀·δp₀ (integration by
/// parts along solutions). With δp₀ = B⁻¹(δq₁ − A δq₀) it has the blocks
///     (δq₀, δq₀): B⁻¹A,   (δq₁, δq₁): D B⁻¹,   (δq₀, δq₁): −B⁻¹.
struct Transition {
    Matrix A, B, C, D;
};

/// Variation of the momentum p = M(q)u: δp = P δq + M δu with P = ∂(Mu)/∂q.
struct Momentum {
    Matrix P, M;
};

}  // namespace

struct SecondVariation::Data {
    struct Mesh;

    const model::Mechanics& model;
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
    std::function<bool()> interrupted;

    Data(const model::Mechanics& m, double k)
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

    /// The linearised equations δu̇ = ∂u̇/∂(q, u) (δq, δu) at a time of a piece, n × 2n. With springs
    ///     M u̇ = h + Σ w λ, λ = −k g_N   =>   M δu̇ = δ(h + Σ wλ − M u̇)|_{u̇, λ held} − Σ k w wᵀ δq.
    /// Nothing if M is singular.
    std::optional<Matrix> linearise(const Piece& piece, double t) {
        if (!evaluate(t, *piece.step)) return {};
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
        Matrix out = residual.middleCols(1, 2 * n);  // columns [t, q, u, p]
        out.leftCols(n) -= springs;
        std::vector<double> column(static_cast<std::size_t>(n));
        for (int j = 0; j < 2 * n; ++j) {
            Vector::Map(column.data(), n) = out.col(j);
            mass.solve(column);
            out.col(j) = Vector::Map(column.data(), n);
        }
        if (!out.allFinite()) return {};
        return out;
    }

    /// P = ∂(Mu)/∂q is the difference of the derivatives of the residual h − M a by q with a = u and a = 0, negated.
    Momentum momentum(double t, const ode::Dense& step) {
        evaluate(t, step);
        Momentum out;
        out.M = model::dense_symmetric(model.layout().mass, terms.M);
        if (model.layout().mass_constant) {
            out.P = Matrix::Zero(n, n);
            return out;
        }
        const std::vector<double> zero(static_cast<std::size_t>(n), 0.0),
            lambda(static_cast<std::size_t>(model.layout().row_count()), 0.0),
            velocity(x.begin() + n, x.begin() + 2 * n);
        const Matrix with = jacobian(model::Function::residual, t, velocity, lambda);
        out.P = -(with - jacobian(model::Function::residual, t, zero, lambda)).middleCols(1, n);
        return out;
    }

    /// The linearised flow from one time of a piece to another. It is integrated in (δq, δu) and transformed to
    /// momenta with δu = M⁻¹(δp − P δq). Nothing if the integration fails.
    std::optional<Transition> transition(const Piece& piece, double from, double to) {
        // The time is counted from `from`, because the piece may be very short.
        const auto rate = [&](double s, const double* y, double* dy) {
            const std::optional<Matrix> rates = linearise(piece, from + s);
            if (!rates) return false;
            const Eigen::Map<const Matrix> Y(y, 2 * n, 2 * n);
            Eigen::Map<Matrix> out(dy, 2 * n, 2 * n);
            out.topRows(n) = Y.bottomRows(n);
            out.bottomRows(n) = *rates * Y;
            return true;
        };
        Matrix state = Matrix::Identity(2 * n, 2 * n);
        ode::Explicit flow(4 * n * n, {flow_tolerance, flow_tolerance});
        ode::StepStatus status = flow.start({rate}, 0.0, {state.data(), static_cast<std::size_t>(state.size())});
        while (ode::usable(status) && flow.t() < to - from) status = flow.step({rate}, to - from);
        if (!ode::usable(status)) return {};
        std::copy(flow.x().begin(), flow.x().end(), state.data());
        const auto [P0, M0] = momentum(from, *piece.step);
        const auto [P1, M1] = momentum(to, *piece.step);
        Transition out;
        const Matrix by_p = solve_columns(M0, Matrix::Identity(n, n));  // ∂δu/∂δp
        const Matrix by_q = -by_p * P0;                                 // ∂δu/∂δq at δp = 0
        out.A = state.topLeftCorner(n, n) + state.topRightCorner(n, n) * by_q;
        out.B = state.topRightCorner(n, n) * by_p;
        const Matrix u_q = state.bottomLeftCorner(n, n) + state.bottomRightCorner(n, n) * by_q;
        const Matrix u_p = state.bottomRightCorner(n, n) * by_p;
        out.C = P1 * out.A + M1 * u_q;
        out.D = P1 * out.B + M1 * u_p;
        return out;
    }

    static Matrix inverse(const Matrix& A) { return solve_columns(A, Matrix::Identity(A.rows(), A.rows())); }

    /// Number of negative eigenvalues of the symmetric part of A. The lowest one is found and its direction removed,
    /// until none is negative.
    static int negatives(const Matrix& A) {
        Matrix S = 0.5 * (A + A.transpose());
        int count = 0;
        while (S.rows() > 0) {
            const Spectrum s = symmetric_spectrum(S);
            if (s.smallest >= 0.0) break;
            ++count;
            if (S.rows() == 1) break;
            // An orthonormal basis Z of the complement of the direction found.
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

    /// Block elimination of the form Σ (blocks of Transition) over the inner knots. The pivot of knot j is
    ///     E_j = D_{j−1}B_{j−1}⁻¹ + B_j⁻¹A_j − B_{j−1}⁻ᵀ E_{j−1}⁻¹ B_{j−1}⁻¹,
    /// and by Sylvester's law of inertia the index is the number of negative eigenvalues of all pivots. Calls
    /// visit(j, negative eigenvalues of E_j, E_j without B_j⁻¹A_j) at each knot and returns the index.
    template <class Visit>
    int eliminate(const std::vector<Transition>& list, Visit visit) const {
        int index = 0;
        Matrix carried;  // contribution of the pieces before the knot
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

    bool must_stop() const { return interrupted && interrupted(); }

    bool make_transitions() {
        for (const Piece& piece : pieces) {
            if (must_stop()) return false;
            auto t = transition(piece, piece.from, piece.to);
            if (!t) return false;
            transitions.push_back(std::move(*t));
        }
        return true;
    }
};

SecondVariation::SecondVariation(const model::Mechanics& model, const trajectory::Trajectory& motion, double stiffness,
                                 std::function<bool()> interrupted)
    : data_(std::make_unique<Data>(model, stiffness)) {
    Data& in = *data_;
    in.interrupted = std::move(interrupted);
    in.available = in.jacobians != nullptr && model.constraints.empty();
    for (const trajectory::Arc& arc : motion.arcs)
        for (const ode::Dense& step : arc.steps)
            for (const auto [from, to] : ode::StepParts(step, arc.t_end))
                for (int k = 0; k < pieces_per_step; ++k)
                    in.pieces.push_back({from + (to - from) * k / pieces_per_step,
                                         k + 1 == pieces_per_step ? to : from + (to - from) * (k + 1) / pieces_per_step,
                                         &step, &arc.modes});
    in.available = in.available && !in.pieces.empty() && in.make_transitions();
    if (!in.available) return;
    // B = ∂q(end)/∂p(start) of the whole motion is the product of the transitions; ∂q/∂u = B M at the start.
    Matrix A = Matrix::Identity(in.n, in.n), B = Matrix::Zero(in.n, in.n), C = B, D = A;
    for (const Transition& t : in.transitions) {
        const Matrix a = t.A * A + t.B * C, b = t.A * B + t.B * D;
        C = t.C * A + t.D * C;
        D = t.C * B + t.D * D;
        A = a;
        B = b;
    }
    in.end_by_start = B * in.momentum(in.pieces.front().from, *in.pieces.front().step).M;
}

SecondVariation::~SecondVariation() = default;

bool SecondVariation::available() const { return data_->available; }
const Matrix& SecondVariation::end_by_start() const { return data_->end_by_start; }

int SecondVariation::morse_index() const {
    return data_->eliminate(data_->transitions, [](std::size_t, int, const Matrix&) {});
}

/// A conjugate time lies in the piece after knot j if the pivot there has a negative eigenvalue: the path that ends at
/// a time s of this piece has the pivot carried + B(s)⁻¹A(s), which decreases in s from +∞, and an eigenvalue of it
/// passes zero when s is conjugate.
std::vector<double> SecondVariation::conjugate_times(std::size_t max_count) const {
    Data& in = *data_;
    std::vector<double> times;
    in.eliminate(in.transitions, [&](std::size_t j, int below, const Matrix& carried) {
        const Piece& piece = in.pieces[j];
        for (int m = 0; m < below && times.size() < max_count; ++m) {
            double low = piece.from, high = piece.to;
            for (int k = 0;
                 k < max_conjugate_bisections && !in.must_stop() && high - low > conjugate_accuracy * std::abs(high);
                 ++k) {
                const double s = 0.5 * (low + high);
                const auto t = in.transition(piece, piece.from, s);
                if (!t) break;
                const Matrix pivot = carried + Data::inverse(t->B) * t->A;
                (Data::negatives(pivot) > m ? high : low) = s;
            }
            times.push_back(0.5 * (low + high));
        }
    });
    std::sort(times.begin(), times.end());
    return times;
}

namespace {

/// A finite element of time: its length and the stiffness K = −M ∂u̇/∂q at its middle.
struct Element {
    double h;
    Matrix K;
};

}  // namespace

/// Divides the path into finite elements of time. Let ω = |∂u̇/∂q|^½ be the frequency of a piece, in rad/s, at least
/// 1/duration. Inside the piece the elements have the length element_phase/ω. Outside of it their length grows by
/// element_growth times the distance in time: the eigenfunction of a stiff piece decays slowly around it and must be
/// resolved there, too. The shortest length of all pieces counts. `elements` is empty if the model cannot be linearised
/// or needs too many.
struct SecondVariation::Data::Mesh {
    std::vector<Element> elements;
    double bound = 0.0;  // largest row sum of |∂u̇/∂q| over the pieces, in 1/s²

    Mesh(Data& in, const Matrix& M) {
        const Piece& first = in.pieces.front();
        std::vector<double> frequency;
        for (const Piece& piece : in.pieces) {
            const std::optional<Matrix> rates = in.linearise(piece, 0.5 * (piece.from + piece.to));
            if (!rates || in.must_stop()) return;
            const double size = rates->leftCols(in.n).cwiseAbs().rowwise().sum().maxCoeff();
            bound = std::max(bound, size);
            frequency.push_back(std::max(std::sqrt(size), 1.0 / (in.pieces.back().to - first.from)));
        }
        const auto length_at = [&](double t) {
            double h = in.pieces.back().to - first.from;
            for (std::size_t p = 0; p < in.pieces.size(); ++p) {
                const double away = std::max({0.0, in.pieces[p].from - t, t - in.pieces[p].to});
                h = std::min(h, element_phase / frequency[p] + element_growth * away);
            }
            return h;
        };
        for (const Piece& piece : in.pieces)
            for (double t = piece.from; t < piece.to;) {
                double h = length_at(t);
                h = std::min(h, length_at(std::min(t + h, piece.to)));
                if (t + last_element * h >= piece.to) h = piece.to - t;
                const std::optional<Matrix> rates =
                    elements.size() > max_elements || in.must_stop() ? std::nullopt : in.linearise(piece, t + 0.5 * h);
                if (!rates) {
                    elements.clear();
                    return;
                }
                elements.push_back({h, -M * rates->leftCols(in.n)});
                t = h == piece.to - t ? piece.to : t + h;
            }
    }
};

/// Bisection for the least λ for which the matrix of the quadratic form
///     ∫ (δq̇ᵀM δq̇ − δqᵀK δq − λ δqᵀM δq) dt
/// is not positive definite: linear elements, consistent stiffness, the mass M lumped at the knots. A block of two
/// elements of lengths a, b has M(1/a + 1/b) − (aK_a + bK_b)/3 − λ ½(a + b)M on the diagonal and −M/a − aK_a/6 beside
/// it.
std::optional<double> SecondVariation::lowest_eigenvalue() const {
    Data& in = *data_;
    if (!in.model.layout().mass_constant) return {};
    const Matrix M = in.momentum(in.pieces.front().from, *in.pieces.front().step).M;
    const Data::Mesh mesh(in, M);
    const std::vector<Element>& elements = mesh.elements;
    if (elements.empty()) return {};
    const auto not_positive = [&](double lambda) {
        Matrix pivot;
        for (std::size_t j = 0; j + 1 < elements.size(); ++j) {
            const Element &a = elements[j], &b = elements[j + 1];
            Matrix block = M * (1.0 / a.h + 1.0 / b.h) - (a.h * a.K + b.h * b.K) / 3.0 - lambda * 0.5 * (a.h + b.h) * M;
            if (j > 0) {
                const Matrix coupling = -M / a.h - a.h / 6.0 * a.K;
                block -= coupling.transpose() * Data::inverse(pivot) * coupling;
            }
            pivot = block;
            if (Data::negatives(pivot) > 0) return true;
        }
        return false;
    };
    double low = -2.0 * mesh.bound - 1.0, high = 2.0 * mesh.bound + 1.0;
    while (!not_positive(high) && high < largest_eigenvalue) high *= 2.0;
    while (high - low > eigenvalue_accuracy * std::max(std::abs(low), std::abs(high))) {
        const double middle = 0.5 * (low + high);
        if (middle == low || middle == high) break;
        if (in.must_stop()) return {};
        (not_positive(middle) ? high : low) = middle;
    }
    return 0.5 * (low + high);
}

}  // namespace saltus::control
