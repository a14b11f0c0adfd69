// SPDX-License-Identifier: Apache-2.0
//
// Claims about velocities, forces and impacts: docs/certificate-format.md, conditions 1 and 3 to 8.
#include "saltus/stability/certify/detail/claims/motion_claims.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "saltus/base/numbers.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/proof/cover.hpp"
#include "saltus/proof/laws.hpp"
#include "saltus/stability/certify/detail/claims/separate_damping.hpp"
#include "saltus/stability/certify/detail/gap_accelerations.hpp"
#include "saltus/stability/certify/detail/static_forces.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

/// Subsets of more gaps or elements than this are not enumerated.
constexpr std::size_t max_subsets_of = 6;
/// β and σ exceed the computed bounds by these fractions, so that their claims hold with a margin.
constexpr double bound_margins[] = {1e-6, 1e-3, 0.1, 0.5, 2.0};
/// Directions are searched for this multiple of the kinetic energy.
constexpr double kinetic_reserves[] = {2.0, 1.2, 1.0};

Box all_velocities(const ClaimScope& s) { return whole_space(static_cast<std::size_t>(s.n())); }

/// The coefficients over all velocities.
IntervalVector coefficients_over(const ClaimScope& s, const Box& q) { return s.e.coefficients(q, all_velocities(s)); }

const model::Contact& contact_of(const ClaimScope& s, int row) {
    return s.e.model().contacts[static_cast<std::size_t>(row - s.e.constraints())];
}

bool has(const std::vector<int>& rows, int r) { return std::find(rows.begin(), rows.end(), r) != rows.end(); }

// --- acceleration entries --------------------------------------------------------------------------------------

/// The request of one entry.
struct EntryRequest {
    int gap = -1;                 ///< position row, or −1: the accelerations do not all vanish
    std::vector<int> closed;      ///< position rows
    std::vector<int> pressing;    ///< position rows of the contacts that exert forces
    std::vector<int> signs;       ///< of the constraints that exert forces, in the order of the model
    std::vector<int> unloaded{};  ///< constraints that exert no force
};

/// Verifies and writes the entries of one box. The functions of the model are evaluated once.
class EntryWriter {
public:
    EntryWriter(const ClaimScope& scope, const Box& q)
        : s_(scope),
          q_(q),
          M_(scope.e.mass(q)),
          rows_(scope.e.row_matrix(q)),
          coefficients_(coefficients_over(scope, q)),
          kinetic_(scope.kinetic(q)),
          rough_(frictional_constraints(scope.e)),
          smooth_(smooth_constraints(scope.e)) {
        if (!scope.e.quadratic_forces) return;
        h_ = scope.e.forces(q);
        Z_ = scope.e.curvatures(q);
    }

    std::optional<ClaimValue> entry(const EntryRequest& r) const {
        AccelerationRequest request;
        if (r.gap >= 0) request.gaps.push_back(r.gap);
        request.gaps.insert(request.gaps.end(), r.closed.begin(), r.closed.end());
        request.pressing = r.pressing;
        // The program asks for a sign of each constraint; those of unloaded ones have no effect.
        std::size_t given = 0;
        for (const int j : rough_) request.signs.push_back(has(r.unloaded, j) ? 1 : r.signs[given++]);
        request.kinetic = kinetic_;
        request.unloaded = r.unloaded;
        const std::optional<Accelerations> a = accelerations(s_.e, q_, request);
        if (!a) return std::nullopt;
        std::vector<int> rows = request.gaps;
        rows.insert(rows.end(), rough_.begin(), rough_.end());
        // A direction that is good for faster motions too has a margin.
        for (const double reserve : kinetic_reserves) {
            const std::optional<Vector> d =
                a->exclude(kinetic_ * reserve, r.gap >= 0 ? Claim::first_negative : Claim::not_all_zero);
            if (!d) continue;
            if (std::optional<ClaimValue> value = verified(r, rows, *d)) return value;
        }
        return std::nullopt;
    }

private:
    std::optional<ClaimValue> verified(const EntryRequest& r, const std::vector<int>& rows, const Vector& d) const {
        const int n = s_.n();
        IntervalMatrix p(n, 1);
        for (int i = 0; i < n; ++i)
            for (std::size_t k = 0; k < rows.size(); ++k)
                p(i, 0) += rows_(rows[k], i) * Interval(d(static_cast<Index>(k)));
        const std::optional<IntervalMatrix> solved = response_of(M_, rows_of(rows_, smooth_), p);
        if (!solved) return std::nullopt;
        IntervalVector v;
        for (int i = 0; i < n; ++i) v.push_back((*solved)(i, 0));
        // Forces of contacts, clutches and constraints do not increase the sum.
        for (const int k : r.pressing)
            if (!pushes_down(v, matrix_row(rows_, k), contact_of(s_, k).friction, 1)) return std::nullopt;
        for (const model::Clutch& c : s_.e.model().clutches)
            if (!pushes_down(v, matrix_row(rows_, c.row), {}, 1)) return std::nullopt;
        std::size_t frictional = 0;
        for (const int j : rough_)
            if (const model::Constraint& c = s_.e.model().constraints[static_cast<std::size_t>(j)];
                !has(r.unloaded, j) && !pushes_down(v, matrix_row(rows_, j), c.friction, r.signs[frictional++]))
                return std::nullopt;
        Interval sum;
        for (const model::Slider& slider : s_.e.model().sliders)
            sum += Interval(friction_bound(v, slider.friction, coefficient(coefficients_, slider.normal_force)));
        // The rows whose accelerations are summed, with their factors d and ν.
        std::vector<std::pair<int, Interval>> summed;
        for (std::size_t k = 0; k < rows.size(); ++k) summed.emplace_back(rows[k], d(static_cast<Index>(k)));
        for (std::size_t k = 0; k < smooth_.size(); ++k)
            summed.emplace_back(smooth_[k], (*solved)(n + static_cast<int>(k), 0));
        const auto claim = [&](double beta, double sigma) {
            return ClaimValue::Record{{"gap", r.gap >= 0 ? ClaimValue(s_.name(r.gap)) : ClaimValue()},
                                      {"closed", names(r.closed)},
                                      {"signs", claim_wholes(r.signs)},
                                      {"d", claim_numbers(list_of(d))},
                                      {"beta", beta},
                                      {"sigma", sigma}};
        };
        if (!s_.e.quadratic_forces) {
            if (std::isinf(kinetic_)) return std::nullopt;
            const Box u = velocities_below(kinetic_, M_);
            sum += dot_product(v, s_.e.force(q_, u));
            const IntervalVector zeta = s_.e.curvature(q_, u);
            for (const auto& [row, factor] : summed)
                if (const Interval& z = zeta[static_cast<std::size_t>(row)]; !exactly_zero(z)) sum += factor * z;
            if (!surely_negative(sum)) return std::nullopt;
            return claim(0.0, 0.0);
        }
        sum += dot_product(v, h_.constant);
        IntervalMatrix B(n, n);
        IntervalVector l(static_cast<std::size_t>(n));
        for (int i = 0; i < n; ++i) {
            IntervalVector column;
            for (int c = 0; c < n; ++c) column.push_back(h_.linear(c, i));
            l[static_cast<std::size_t>(i)] = dot_product(v, column);
            for (int j = 0; j < n; ++j) {
                IntervalVector second;
                for (int c = 0; c < n; ++c) second.push_back(h_.quadratic[static_cast<std::size_t>(c)](i, j));
                B(i, j) = dot_product(v, second);
                for (const auto& [row, factor] : summed)
                    if (const Interval& z = Z_[static_cast<std::size_t>(row)](i, j); !exactly_zero(z))
                        B(i, j) += factor * z;
            }
        }
        // The largest margin that leaves half of the acceleration; if there is none, the smallest that leaves anything.
        constexpr std::size_t count = std::size(bound_margins);
        for (std::size_t k = 0; k < 2 * count; ++k) {
            const double margin = bound_margins[k < count ? count - 1 - k : k - count];
            const double least = k < count ? 0.5 * sum.hi : 0.0;
            const std::optional<double> beta = bound_of_form(B, margin), sigma = bound_of_slope(l, margin);
            if (!beta || !sigma) continue;
            Interval total = sum;
            if (*sigma > 0.0) total += expr::sqrt(Interval(2.0) * Interval(std::max(0.0, kinetic_))) * Interval(*sigma);
            if (*beta > 0.0) total += Interval(2.0) * Interval(std::max(0.0, kinetic_)) * Interval(*beta);
            if (surely_negative(total) && total.hi <= least) return claim(*beta, *sigma);
        }
        return std::nullopt;
    }

    ClaimValue names(const std::vector<int>& rows) const {
        std::vector<std::string> list;
        for (const int r : rows) list.push_back(s_.name(r));
        return claim_texts(list);
    }

    /// s v·w + F(v) <= 0.
    bool pushes_down(const IntervalVector& v, const IntervalVector& w, const model::Friction& friction,
                     int sign) const {
        const Interval along = dot_product(v, w) * Interval(static_cast<double>(sign));
        const Interval sum = along + Interval(friction_bound(v, friction, Interval(1.0)));
        return surely_negative(sum) || (exactly_zero(sum));
    }

    /// Upper bound of load · F(v).
    double friction_bound(const IntervalVector& v, const model::Friction& friction, const Interval& load) const {
        const proof::Friction body = friction_of(friction, rows_, coefficients_, load);
        Interval sum;
        for (const auto& group : body.groups) {
            Interval square;
            for (const IntervalVector& t : group) square += expr::sqr(dot_product(v, t));
            sum += expr::sqrt(square);
        }
        return sum.hi;
    }

    /// β with βM − B > 0, or 0 if B vanishes. Without a bound of the kinetic energy B must not be positive.
    std::optional<double> bound_of_form(const IntervalMatrix& B, double margin) const {
        bool zero = true;
        for (int i = 0; i < B.rows(); ++i)
            for (int j = 0; j < B.cols(); ++j) zero = zero && exactly_zero(B(i, j));
        if (zero) return 0.0;
        if (std::isinf(kinetic_)) {
            IntervalMatrix opposite(B.rows(), B.cols());
            for (int i = 0; i < B.rows(); ++i)
                for (int j = 0; j < B.cols(); ++j) opposite(i, j) = -B(i, j);
            return positive_semidefinite(opposite) ? std::optional<double>(0.0) : std::nullopt;
        }
        const double largest = largest_eigenvalue(B, M_);
        if (!std::isfinite(largest)) return std::nullopt;
        double form = 0.0, inertia = infinity;
        for (int i = 0; i < B.rows(); ++i) {
            inertia = std::min(inertia, M_(i, i).lo);
            for (int j = 0; j < B.cols(); ++j) form = std::max({form, std::fabs(B(i, j).lo), std::fabs(B(i, j).hi)});
        }
        if (!(inertia > 0.0)) return std::nullopt;
        const double beta = std::max(largest, 0.0) * (1.0 + margin) + margin * form / inertia;
        IntervalMatrix A(B.rows(), B.cols());
        for (int i = 0; i < B.rows(); ++i)
            for (int j = 0; j < B.cols(); ++j) A(i, j) = Interval(beta) * M_(i, j) - B(i, j);
        return shown_definite(A) ? std::optional<double>(beta) : std::nullopt;
    }

    /// σ > √(lᵀM⁻¹l), or 0 if l vanishes.
    std::optional<double> bound_of_slope(const IntervalVector& l, double margin) const {
        if (std::all_of(l.begin(), l.end(), exactly_zero)) return 0.0;
        if (std::isinf(kinetic_)) return std::nullopt;
        IntervalMatrix right(s_.n(), 1);
        for (int i = 0; i < s_.n(); ++i) right(i, 0) = l[static_cast<std::size_t>(i)];
        const std::optional<IntervalMatrix> x = eliminated(M_, right);
        if (!x) return std::nullopt;
        Interval square;
        for (int i = 0; i < s_.n(); ++i) square += l[static_cast<std::size_t>(i)] * (*x)(i, 0);
        if (!std::isfinite(square.hi)) return std::nullopt;
        return std::sqrt(std::max(square.hi, 0.0)) * (1.0 + margin);
    }

    const ClaimScope& s_;
    const Box& q_;
    IntervalMatrix M_, rows_;
    ForceTerms h_;
    std::vector<IntervalMatrix> Z_;
    IntervalVector coefficients_;
    double kinetic_;
    std::vector<int> rough_, smooth_;  // constraints with friction, and without
};

double acceleration_spread(const ClaimScope& s, const Box& q) {
    const IntervalMatrix M = s.e.mass(q);
    double sum = spread_of(M) + spread_of(s.e.row_matrix(q));
    if (s.e.quadratic_forces) {
        const ForceTerms h = s.e.forces(q);
        sum += spread_of(h.constant) + spread_of(h.linear);
        for (const IntervalMatrix& B : h.quadratic) sum += spread_of(B);
        for (const IntervalMatrix& Z : s.e.curvatures(q)) sum += spread_of(Z);
    } else {
        const Box u = velocities_below(s.kinetic(q), M);
        sum += spread_of(s.e.force(q, u)) + spread_of(s.e.curvature(q, u));
    }
    IntervalVector values = s.e.position_values(q);
    if (std::isfinite(s.level)) values.push_back(s.e.potential(q));
    return sum + spread_of(values);
}

std::optional<ClaimValue> closing_leaf(const ClaimScope& s, const Box& q) {
    const std::vector<int> gaps = s.may_close(q);
    if (gaps.size() > max_subsets_of) return std::nullopt;
    const EntryWriter writer(s, q);
    ClaimValue::List entries;
    const std::size_t frictional = frictional_constraints(s.e).size();
    for (unsigned mask = 0; mask < (1U << gaps.size()); ++mask) {
        const std::vector<int> closed = subset(gaps, mask);
        for (const int gap : s.I_C) {
            if (has(closed, gap)) continue;
            for (unsigned sign = 0; sign < (1U << frictional); ++sign) {
                std::optional<ClaimValue> entry = writer.entry({gap, closed, closed, signs_of(sign, frictional)});
                if (!entry) return std::nullopt;
                entries.push_back(std::move(*entry));
            }
        }
    }
    return ClaimValue::List{"accelerations", std::move(entries)};
}

// --- velocities without dissipation ----------------------------------------------------------------------------

/// Condition 3 with forces that are functions of single velocities: no resistance falls with the speed. The friction of
/// sliders that slide steadily need not rise at all speeds, only at those of the level set.
ClaimList separate_damping_claims(const ClaimScope& s, const SeparateDamping& damping) {
    const auto speeds_over = [&](const Box& q) {
        std::vector<double> speeds(q.size(), Interval::infinity);
        if (!s.slides) return speeds;
        const Box u = velocities_below(s.kinetic(q), s.e.mass(q));
        for (std::size_t a = 0; a < u.size(); ++a) speeds[a] = u[a].hi;
        return speeds;
    };
    std::optional<ClaimValue> tree = tree_over(
        s, s.domain,
        [&](const Box& q) {
            return damping.rises(q, speeds_over(q)) ? std::optional<ClaimValue>(ClaimValue::List{"opposes"})
                                                    : std::nullopt;
        },
        [&](const Box& q) { return spread_of(s.e.damping(q)); });
    if (!tree) return {{}, "a force of the velocity is not shown to rise with the speed"};
    return {{tree_claim("separate damping", std::move(*tree))}, ""};
}

/// An element of condition 5: a contact of I_C or a constraint that has friction.
struct LossElement {
    int row;
    const model::Friction* friction;
};

class LossClaims {
public:
    explicit LossClaims(const ClaimScope& scope) : s_(scope), separate_(scope.e.model()) {
        const IntervalVector coefficients = coefficients_over(scope, scope.domain);
        for (const int r : scope.I_C)
            if (!proof::without_friction(contact_of(scope, r).friction, coefficients))
                elements_.push_back({r, &contact_of(scope, r).friction});
        for (const model::Constraint& c : scope.e.model().constraints)
            if (!proof::without_friction(c.friction, coefficients)) elements_.push_back({c.row, &c.friction});
    }

    ClaimList run() const {
        if (elements_.size() > max_subsets_of) return {{}, "there are too many elements with friction"};
        if (!s_.e.linear_damping && !separate_.valid())
            return {{}, "damping that is neither linear nor a smooth function of single speeds is not certified"};
        std::optional<ClaimValue> tree = tree_over(
            s_, s_.domain, [&](const Box& q) { return leaf(q); }, [&](const Box& q) { return spread(q); });
        if (!tree) return {{}, "the losses are not shown by plain enclosures"};
        return {{tree_claim("losses", std::move(*tree))}, ""};
    }

private:
    std::optional<ClaimValue> leaf(const Box& q) const {
        const IntervalVector values = s_.e.position_values(q);
        for (const int r : s_.I_C)
            if (surely_positive(values[static_cast<std::size_t>(r)])) return ClaimValue::List{"open", s_.name(r)};
        const unsigned sets = 1U << elements_.size();
        ClaimValue::List cases;
        std::vector<unsigned> ranked;
        for (unsigned K = 0; K < sets; ++K) {
            if (std::any_of(ranked.begin(), ranked.end(), [&](unsigned k) { return (k & K) == k; })) continue;
            if (std::optional<ClaimValue> weights = rank(q, K)) {
                ranked.push_back(K);
                cases.emplace_back(
                    ClaimValue::Record{{"loaded", names(K)}, {"by", "rank"}, {"weights", std::move(*weights)}});
            } else if (std::optional<ClaimValue> entries = load(q, K)) {
                cases.emplace_back(
                    ClaimValue::Record{{"loaded", names(K)}, {"by", "load"}, {"entries", std::move(*entries)}});
            } else if (std::optional<ClaimValue> passing = passes(q, K)) {
                cases.push_back(std::move(*passing));
            } else {
                return std::nullopt;
            }
        }
        return ClaimValue::List{"loads", std::move(cases)};
    }

    double spread(const Box& q) const { return acceleration_spread(s_, q); }

    ClaimValue names(unsigned K) const {
        std::vector<std::string> list;
        for (std::size_t k = 0; k < elements_.size(); ++k)
            if ((K >> k & 1U) != 0) list.push_back(s_.name(elements_[k].row));
        return claim_texts(list);
    }

    /// The rows of S with the loaded elements K, in the order of the format.
    IntervalMatrix rows(const Box& q, unsigned K) const {
        const IntervalMatrix W = s_.e.row_matrix(q);
        const IntervalVector coefficients = coefficients_over(s_, q);
        std::vector<int> which;
        for (int j = 0; j < s_.e.constraints(); ++j) which.push_back(j);
        which.insert(which.end(), s_.I_C.begin(), s_.I_C.end());
        const auto slips = [&](const model::Friction& f) {
            for (int k = 0; k < f.dimension; ++k) which.push_back(f.first_row + k);
        };
        for (const model::Slider& slider : s_.e.model().sliders)
            if (with_friction(slider.friction, coefficients) &&
                surely_positive(coefficient(coefficients, slider.normal_force)))
                slips(slider.friction);
        for (std::size_t k = 0; k < elements_.size(); ++k)
            if ((K >> k & 1U) != 0 && with_friction(*elements_[k].friction, coefficients))
                slips(*elements_[k].friction);
        const int n = s_.n(), base = static_cast<int>(which.size()), damping = has_damping() ? n : 0;
        IntervalMatrix S(base + damping, n);
        for (int r = 0; r < base; ++r)
            for (int j = 0; j < n; ++j) S(r, j) = W(which[static_cast<std::size_t>(r)], j);
        if (damping > 0 && !s_.e.linear_damping) {
            for (int r = 0; r < n; ++r)
                if (separate_.takes_energy(q, r)) S(base + r, r) = Interval(1.0);
        } else if (damping > 0) {
            const IntervalMatrix C = symmetric_part(s_.e.damping(q));
            for (int r = 0; r < n; ++r)
                for (int j = 0; j < n; ++j) S(base + r, j) = C(r, j);
        }
        return S;
    }

    /// Condition 3 has a claim about damping.
    bool has_damping() const {
        if (!s_.e.linear_damping) return true;
        const IntervalMatrix C = s_.e.damping(s_.domain);
        for (int i = 0; i < C.rows(); ++i)
            for (int j = 0; j < C.cols(); ++j)
                if (!exactly_zero(C(i, j))) return true;
        return false;
    }

    std::optional<ClaimValue> rank(const Box& q, unsigned K) const {
        const std::optional<std::vector<double>> weights = rank_weights(rows(q, K));
        if (!weights) return std::nullopt;
        return claim_numbers(*weights);
    }

    std::optional<ClaimValue> load(const Box& q, unsigned K) const {
        EntryRequest request;
        request.closed = s_.I_C;
        for (const int r : s_.I_C)
            if (!unloaded_element(r, K)) request.pressing.push_back(r);
        // Contacts outside I_C may be closed too, and then press.
        for (const int r : s_.may_close(q))
            if (!has(s_.I_C, r)) request.pressing.push_back(r);
        for (const LossElement& e : elements_)
            if (e.row < s_.e.constraints() && unloaded_element(e.row, K)) request.unloaded.push_back(e.row);
        if (request.closed.empty() && frictional_constraints(s_.e).empty()) return std::nullopt;
        const EntryWriter writer(s_, q);
        const std::size_t frictional = frictional_constraints(s_.e).size() - request.unloaded.size();
        ClaimValue::List entries;
        for (unsigned sign = 0; sign < (1U << frictional); ++sign) {
            request.signs = signs_of(sign, frictional);
            std::optional<ClaimValue> entry = writer.entry(request);
            if (!entry) return std::nullopt;
            entries.push_back(std::move(*entry));
        }
        return ClaimValue(std::move(entries));
    }

    bool unloaded_element(int row, unsigned K) const {
        for (std::size_t k = 0; k < elements_.size(); ++k)
            if (elements_[k].row == row) return (K >> k & 1U) == 0;
        return false;
    }

    /// One degree of freedom: the slip t·d of one element changes along the curve of positions at a rate that is not 0.
    std::optional<ClaimValue> passes(const Box& q, unsigned K) const {
        const int n = s_.n(), m = s_.e.constraints();
        if (!s_.e.model().contacts.empty() || n - m != 1) return std::nullopt;
        const std::optional<std::vector<int>> pivots = choose_pivots(s_);
        if (!pivots) return std::nullopt;
        const std::optional<IntervalVector> d = tangent_vector(s_, q, *pivots, {1.0});
        if (!d) return std::nullopt;
        const IntervalMatrix W = s_.e.row_matrix(q);
        const std::vector<IntervalMatrix> curved = s_.e.position_hessians(q);
        IntervalMatrix G(m, m), right(m, 1);
        for (int j = 0; j < m; ++j) {
            for (int k = 0; k < m; ++k) G(j, k) = W(j, (*pivots)[static_cast<std::size_t>(k)]);
            for (int a = 0; a < n; ++a)
                for (int b = 0; b < n; ++b)
                    right(j, 0) -= curved[static_cast<std::size_t>(j)](a, b) * (*d)[static_cast<std::size_t>(a)] *
                                   (*d)[static_cast<std::size_t>(b)];
        }
        const std::optional<IntervalMatrix> bend = m > 0 ? eliminated(G, right) : IntervalMatrix(0, 1);
        if (!bend) return std::nullopt;
        const IntervalVector coefficients = coefficients_over(s_, q);
        for (std::size_t k = 0; k < elements_.size(); ++k) {
            const model::Friction& f = *elements_[k].friction;
            if ((K >> k & 1U) == 0 || f.dimension != 1 || !with_friction(f, coefficients)) continue;
            const std::optional<IntervalMatrix> D = s_.e.row_derivative(q, f.first_row);
            if (!D) continue;
            Interval rate;
            for (int j = 0; j < m; ++j) rate += W(f.first_row, (*pivots)[static_cast<std::size_t>(j)]) * (*bend)(j, 0);
            for (int a = 0; a < n; ++a)
                for (int b = 0; b < n; ++b)
                    rate += (*D)(a, b) * (*d)[static_cast<std::size_t>(a)] * (*d)[static_cast<std::size_t>(b)];
            if (!surely_positive(rate) && !surely_negative(rate)) continue;
            return ClaimValue::Record{{"loaded", names(K)},
                                      {"by", "passing"},
                                      {"element", s_.name(elements_[k].row)},
                                      {"pivots", claim_wholes(*pivots)}};
        }
        return std::nullopt;
    }

    const ClaimScope& s_;
    SeparateDamping separate_;
    std::vector<LossElement> elements_;
};

}  // namespace

ClaimList kinetic_claims(const ClaimScope& s) {
    std::optional<ClaimValue> tree = tree_over(
        s, s.domain,
        [&](const Box& q) {
            return shown_definite(s.e.mass(q)) ? std::optional<ClaimValue>(ClaimValue::List{"definite"}) : std::nullopt;
        },
        [&](const Box& q) { return spread_of(s.e.mass(q)); });
    if (!tree) return {{}, "the mass matrix is not shown to be positive definite by elimination"};
    return {{bare_claim("form"), tree_claim("mass", std::move(*tree))}, ""};
}

ClaimList dissipation_claims(const ClaimScope& s) {
    if (!s.e.linear_damping)
        if (const SeparateDamping damping(s.e.model()); damping.valid()) return separate_damping_claims(s, damping);
    if (!s.e.linear_damping || !vanishing_at_rest(s.e))
        return {{},
                "forces that are neither linear in the velocities nor smooth functions of single speeds are not "
                "certified"};
    const IntervalMatrix C = s.e.damping(s.domain);
    bool none = true;
    for (int i = 0; i < C.rows(); ++i)
        for (int j = 0; j < C.cols(); ++j) none = none && exactly_zero(C(i, j));
    if (none) return {{bare_claim("no other force")}, ""};
    std::optional<ClaimValue> tree = tree_over(
        s, s.domain,
        [&](const Box& q) {
            return positive_semidefinite(symmetric_part(s.e.damping(q)))
                       ? std::optional<ClaimValue>(ClaimValue::List{"semidefinite"})
                       : std::nullopt;
        },
        [&](const Box& q) { return spread_of(s.e.damping(q)); });
    if (!tree) return {{}, "the damping matrix is not shown to be positive semidefinite by elimination"};
    return {{tree_claim("linear damping", std::move(*tree))}, ""};
}

ClaimList closing_claims(const ClaimScope& s) {
    if (s.I_C.empty()) return {{}, ""};
    std::optional<ClaimValue> tree = tree_over(
        s, s.domain, [&](const Box& q) { return closing_leaf(s, q); },
        [&](const Box& q) { return acceleration_spread(s, q); });
    if (!tree) return {{}, "the accelerations of the gaps are not bounded by plain enclosures"};
    return {{tree_claim("closing", std::move(*tree))}, ""};
}

ClaimList loss_claims(const ClaimScope& s) { return LossClaims(s).run(); }

ClaimList restitution_claims(const ClaimScope& s, ImpactLoss loss) {
    const IntervalVector c = coefficients_over(s, s.domain);
    const auto below_one = [&](double e) { return loss == ImpactLoss::required ? e < 1.0 : e <= 1.0; };
    for (const model::Contact& k : s.e.model().contacts) {
        const Interval e_n = coefficient(c, k.e_n), e_t = coefficient(c, k.e_t);
        const bool tangential = proof::without_friction(k.friction, c) || (below_one(-e_t.lo) && below_one(e_t.hi));
        if (!(e_n.lo >= 0.0 && below_one(e_n.hi) && tangential))
            return {{}, "the coefficients of restitution are not bounded for all velocities"};
    }
    return {{bare_claim("restitution")}, ""};
}

ClaimList impact_claims(const ClaimScope& s, ImpactLoss loss) {
    const model::Mechanics& m = s.e.model();
    const IntervalVector c = coefficients_over(s, s.domain);
    if (!frictional_constraints(s.e).empty()) return {{}, "impacts with friction of constraints are not certified"};
    const auto all = [&](const auto& property) { return std::all_of(m.contacts.begin(), m.contacts.end(), property); };
    if (all([&](const model::Contact& k) { return proof::without_friction(k.friction, c); }))
        return {{bare_claim("frictionless")}, ""};
    const Interval first = coefficient(c, m.contacts.front().e_n);
    const auto same = [&](const Interval& x) { return is_point(x) && is_point(first) && x.lo == first.lo; };
    if (all([&](const model::Contact& k) {
            return same(coefficient(c, k.e_n)) &&
                   (proof::without_friction(k.friction, c) || same(coefficient(c, k.e_t)));
        }))
        return {{bare_claim("equal restitution")}, ""};
    if (!m.clutches.empty()) return {{}, "impacts with clutches are not certified"};
    const ImpulseForm form(s, {}, loss);
    std::optional<ClaimValue> tree = tree_over(
        s, s.domain, [&](const Box& q) { return form.leaf(q); }, [&](const Box& q) { return form.spread(q); });
    if (!tree) return {{}, "the loss of energy in impacts is not shown by elimination"};
    return {{tree_claim("dissipative impacts", std::move(*tree))}, ""};
}

ClaimList passive_impact_claims(const ClaimScope& s) {
    const IntervalVector c = coefficients_over(s, s.domain);
    for (const model::Contact& k : s.e.model().contacts) {
        const Interval e_n = coefficient(c, k.e_n);
        // e = 1 − c v is at most 1 for c >= 0, and not below 0.
        if (!proof::without_friction(k.friction, c) || !(e_n.lo >= 0.0 && e_n.hi <= 1.0) ||
            !(coefficient(c, k.c).lo >= 0.0))
            return {{}, "a contact has friction, or a restitution outside of [0, 1]"};
    }
    return {{bare_claim("passive impacts")}, ""};
}

ClaimList equilibrium_claims(const ClaimScope& s) {
    if (std::isinf(s.level)) return {{bare_claim("no bound")}, ""};
    std::optional<ClaimValue> tree = tree_over(
        s, s.domain,
        [&](const Box& q) -> std::optional<ClaimValue> {
            if (surely_negative(s.Q(q) - Interval(s.level))) return ClaimValue::List{"below"};
            return unbalanced_leaf(s, q);
        },
        [&](const Box& q) { return unbalanced_spread(s, q); });
    if (!tree) return {{}, "equilibria near the level are not excluded by plain enclosures"};
    return {{tree_claim("equilibria", std::move(*tree))}, ""};
}

}  // namespace saltus::stability
