// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/control/regulation/detail/regulation_equilibria.hpp"
#include "saltus/proof/cover.hpp"

namespace saltus::control {

using namespace saltus::proof;

namespace {

constexpr int starts_a_corner = 12;
constexpr std::size_t most_corners = 24;

/// Gaps and their gradients at a position.
class Corners {
public:
    explicit Corners(const model::Model& m) : m_(m), workspace_(m), terms_(m.layout()) {}

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
            if (std::abs(gap(m_.contacts[i])) <= 1e-9) list.push_back(static_cast<int>(i));
        return list;
    }

    /// A point of the region where these contacts are closed, from a start by Gauss and Newton.
    bool find(std::vector<double>& q, const std::vector<int>& contacts) {
        for (int k = 0; k < 60; ++k) {
            at(q);
            Vector g(static_cast<Eigen::Index>(contacts.size()));
            for (std::size_t i = 0; i < contacts.size(); ++i)
                g(static_cast<Eigen::Index>(i)) = gap(m_.contacts[static_cast<std::size_t>(contacts[i])]);
            if (!g.allFinite()) return false;
            if (g.cwiseAbs().maxCoeff() <= 1e-12) break;
            const Vector d = least_squares(rows(contacts), g, 1e-12);
            for (std::size_t i = 0; i < q.size(); ++i) q[i] -= d(static_cast<Eigen::Index>(i));
        }
        at(q);
        const bool inside = std::all_of(m_.contacts.begin(), m_.contacts.end(),
                                        [&](const model::Contact& c) { return gap(c) >= -1e-9; });
        return inside && std::all_of(contacts.begin(), contacts.end(), [&](int i) {
                   return std::abs(gap(m_.contacts[static_cast<std::size_t>(i)])) <= 1e-9;
               });
    }

    bool dependent() const {
        const std::vector<int> list = closed();
        const Matrix A = rows(list);
        if (list.empty()) return false;
        for (std::size_t k = 0; k < list.size(); ++k) {  // of a double root gN = a d²: |∇gN|² = 4 a gN
            const double near = std::abs(gap(m_.contacts[static_cast<std::size_t>(list[k])]));
            if (!(A.row(static_cast<Eigen::Index>(k)).squaredNorm() > 100.0 * near + 1e-18)) return true;
        }
        return row_rank(A, 1e-8).rank < static_cast<int>(list.size());
    }

private:
    const model::Model& m_;
    model::Workspace workspace_;
    model::Terms terms_;
    Matrix W_;
};

}  // namespace

Independence gradients_independent(const Domain& domain, const std::vector<double>& q_R,
                                   const std::vector<EquilibriumSolution>& solutions, const std::vector<double>& scale,
                                   long budget) {
    Independence out;
    const model::Model& m = domain.model;
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
        out.evidence = names.size() == 1
                           ? "the gradient of " + names[0] + " vanishes at the witness, where it is closed"
                           : "the gradients of " + listing(names) +
                                 ", all closed at the witness, depend "
                                 "on each other";
        out.witness.q = q;
        return true;
    };
    if (!q_R.empty() && fails_at(q_R)) {
        out.at_rest = true;
        return out;
    }
    for (const EquilibriumSolution& s : solutions)
        if (fails_at(s.rest.q)) return out;
    // Corners, from a few starts each; one contact more than coordinates depends always.
    const std::vector<double>& around = q_R.empty() ? m.q0 : q_R;
    std::size_t found = 0;
    int subsets = 0;
    for (const std::vector<int>& subset :
         contact_subsets(domain, ContactModel::rigid, static_cast<std::size_t>(m.size()) + 1)) {
        if (subset.empty()) continue;
        for (int k = 0; k < starts_a_corner; ++k) {
            std::vector<double> q = around;
            for (std::size_t i = 0; i < q.size() && k > 0; ++i) {
                const double x = 0.6180339887498949 * k * (1.0 + 0.7548776662466927 * static_cast<double>(i));
                q[i] += 4.0 * scale[i] * (2.0 * (x - std::floor(x)) - 1.0);
            }
            if (!corners.find(q, subset)) continue;
            ++found;
            if (subset.size() > 1 && out.corners.size() < most_corners) out.corners.push_back(q);
            if (fails_at(q)) return out;
        }
        if (++subsets > 256) break;
    }
    if (domain.enclosure != nullptr) {
        const AdmissibleSet set(*domain.enclosure, Interval(0.0));
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
        const CoverProof proof =
            prove_on(set, {region}, {}, Interval::infinity, scale, test, std::min(budget, 20'000L), 1e-6);
        if (proof.proved) {
            out.verdict = Verdict::proved;
            out.evidence = "by intervals over the whole region (" + std::to_string(proof.boxes) +
                           (proof.boxes == 1 ? " box)" : " boxes)");
            return out;
        }
    }
    out.evidence = "at " + counted(found + solutions.size(), "point") + " with closed contacts";
    return out;
}

}  // namespace saltus::control
