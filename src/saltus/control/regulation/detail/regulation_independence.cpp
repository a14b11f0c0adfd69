// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/control/regulation/detail/regulation_equilibria.hpp"
#include "saltus/control/regulation/detail/regulation_scatter.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/proof/cover.hpp"

namespace saltus::control {

using namespace saltus::proof;

namespace {

constexpr int starts_per_corner = 12;
constexpr int max_corner_subsets = 256;          ///< combinations of contacts whose corners are searched
constexpr std::size_t max_corners = 24;          ///< corners that are kept
constexpr double spread_of_corner_starts = 4.0;  ///< around q_R, in scales of the coordinates
constexpr int max_newton_steps = 60;
constexpr double converged_gap = 1e-12;   ///< Newton's method stops if all gaps are at most this
constexpr double dependent_rows = 1e-12;  ///< singular values below this part of the largest count as 0 in its steps
constexpr double closed_gap = 1e-9;       ///< a contact is closed if |g_N| is at most this
constexpr double rank_tolerance = 1e-8;   ///< gradients are dependent if a singular value is below this part
/// A gap with a double root, g_N = a d², has |∇g_N|² = 4 a g_N: near the root the gradient vanishes with the gap. The
/// gradient counts as zero if |∇g_N|² <= double_root |g_N| + least_gradient2.
constexpr double double_root = 100.0, least_gradient2 = 1e-18;
constexpr long max_independence_boxes = 20'000;  ///< of the proof
constexpr double smallest_box = 1e-6;            ///< boxes smaller than this, in scales, are not split

/// Gaps and their gradients at a position.
class Corners {
public:
    explicit Corners(const model::Mechanics& m) : m_(m), workspace_(m), terms_(m.layout()) {}

    void at(const std::vector<double>& q) {
        const std::vector<double> rest(q.size(), 0.0);
        model::evaluate(m_, workspace_, 0.0, q, rest, terms_);
        W_ = model::dense(m_.layout().rows, terms_.W);
    }
    double gap(const model::Contact& c) const { return terms_.positions[static_cast<std::size_t>(c.row)]; }
    Matrix rows(const std::vector<int>& contacts) const {
        Matrix A(static_cast<Eigen::Index>(contacts.size()), m_.size());
        for (std::size_t k = 0; k < contacts.size(); ++k)
            A.row(static_cast<Eigen::Index>(k)) = W_.row(m_.contacts[static_cast<std::size_t>(contacts[k])].row);
        return A;
    }
    std::vector<int> closed() const {
        std::vector<int> list;
        for (std::size_t i = 0; i < m_.contacts.size(); ++i)
            if (std::abs(gap(m_.contacts[i])) <= closed_gap) list.push_back(static_cast<int>(i));
        return list;
    }

    /// Moves q to a point of the region where these contacts are closed, by the Gauss–Newton method. Returns false if
    /// it finds none.
    bool find(std::vector<double>& q, const std::vector<int>& contacts) {
        for (int k = 0; k < max_newton_steps; ++k) {
            at(q);
            Vector g(static_cast<Eigen::Index>(contacts.size()));
            for (std::size_t i = 0; i < contacts.size(); ++i)
                g(static_cast<Eigen::Index>(i)) = gap(m_.contacts[static_cast<std::size_t>(contacts[i])]);
            if (!g.allFinite()) return false;
            if (g.cwiseAbs().maxCoeff() <= converged_gap) break;
            const Vector d = least_squares(rows(contacts), g, dependent_rows);
            for (std::size_t i = 0; i < q.size(); ++i) q[i] -= d(static_cast<Eigen::Index>(i));
        }
        at(q);
        const bool inside = std::all_of(m_.contacts.begin(), m_.contacts.end(),
                                        [&](const model::Contact& c) { return gap(c) >= -closed_gap; });
        return inside && std::all_of(contacts.begin(), contacts.end(), [&](int i) {
                   return std::abs(gap(m_.contacts[static_cast<std::size_t>(i)])) <= closed_gap;
               });
    }

    /// Whether the gradients of the closed contacts are linearly dependent.
    bool dependent() const {
        const std::vector<int> list = closed();
        const Matrix A = rows(list);
        if (list.empty()) return false;
        for (std::size_t k = 0; k < list.size(); ++k) {
            const double near = std::abs(gap(m_.contacts[static_cast<std::size_t>(list[k])]));
            if (!(A.row(static_cast<Eigen::Index>(k)).squaredNorm() > double_root * near + least_gradient2))
                return true;
        }
        return row_rank(A, rank_tolerance).rank < static_cast<int>(list.size());
    }

private:
    const model::Mechanics& m_;
    model::Workspace workspace_;
    model::Terms terms_;
    Matrix W_;
};

/// A proof by interval arithmetic: in every box of a cover of the region the gradients of all contacts that may be
/// closed there are independent.
CoverProof prove_independent(const Domain& domain, const std::vector<double>& scale, long budget,
                             const std::function<bool()>& stop) {
    const AdmissibleSet set(*domain.enclosure, Interval(0.0), stop);
    const auto test = [&](const Box& q) {
        BoxTest t;
        const std::vector<int> rows = set.may_close(q);
        t.proved = rows.empty() || independent_columns(transpose(rows_of(domain.enclosure->row_matrix(q), rows)));
        if (t.proved) return t;
        t.undecided = q;
        t.side = decisive_side(q, scale, [&](const Box& b) {
            return spread_of(domain.enclosure->position_values(b)) + spread_of(domain.enclosure->row_matrix(b));
        });
        return t;
    };
    const Box region = essential(domain, Essential::gaps, domain.admissible);
    return prove_on(set, {region}, {}, Interval::infinity, scale, test, std::min(budget, max_independence_boxes),
                    smallest_box);
}

}  // namespace

Independence gradients_independent(const Domain& domain, const std::vector<double>& q_R,
                                   const std::vector<EquilibriumSolution>& solutions, const std::vector<double>& scale,
                                   long budget, const std::function<bool()>& stop) {
    Independence out;
    const model::Mechanics& m = domain.model;
    if (m.contacts.empty()) {
        out.verdict = Verdict::proved;
        out.evidence = "there are no contacts";
        return out;
    }
    Corners corners(m);
    const auto fails_at = [&](const std::vector<double>& q) {
        corners.at(q);
        if (!corners.dependent()) return false;
        std::vector<std::string> names;
        for (const int i : corners.closed()) names.push_back(m.contacts[static_cast<std::size_t>(i)].name);
        out.verdict = Verdict::fails;
        out.evidence =
            names.size() == 1
                ? "the gradient of " + names[0] + " vanishes at the witness, where it is closed"
                : "the gradients of " + listing(names) + ", all closed at the witness, are linearly dependent";
        out.witness.q = q;
        return true;
    };
    if (!q_R.empty() && fails_at(q_R)) {
        out.at_rest = true;
        return out;
    }
    for (const EquilibriumSolution& s : solutions)
        if (fails_at(s.rest.q)) return out;
    // Corners, from a few starts for each combination. n + 1 gradients are always dependent, so that larger
    // combinations need not be searched.
    const std::vector<double>& around = q_R.empty() ? m.q0 : q_R;
    std::size_t found = 0;
    int subsets = 0;
    for (const std::vector<int>& subset :
         contact_subsets(domain, ContactModel::rigid, static_cast<std::size_t>(m.size()) + 1)) {
        if (subset.empty()) continue;
        for (int k = 0; k < starts_per_corner; ++k) {
            std::vector<double> q = around;
            for (std::size_t i = 0; i < q.size() && k > 0; ++i)
                q[i] += spread_of_corner_starts * scale[i] * scattered(k, i, 0.0);
            if (!corners.find(q, subset)) continue;
            ++found;
            if (subset.size() > 1 && out.corners.size() < max_corners) out.corners.push_back(q);
            if (fails_at(q)) return out;
        }
        if (++subsets > max_corner_subsets) break;
    }
    if (domain.enclosure != nullptr)
        if (const CoverProof proof = prove_independent(domain, scale, budget, stop); proof.proved) {
            out.verdict = Verdict::proved;
            out.evidence = "by intervals over the whole region (" + std::to_string(proof.boxes) +
                           (proof.boxes == 1 ? " box)" : " boxes)");
            return out;
        }
    out.evidence = "examined at " + counted(found + solutions.size(), "point") +
                   " with closed contacts: equilibria and corners near q_R";
    return out;
}

}  // namespace saltus::control
