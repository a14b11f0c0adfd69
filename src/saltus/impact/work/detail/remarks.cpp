// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/work/detail/remarks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/text.hpp"
#include "saltus/impact/consistency/velocity_polyhedron.hpp"
#include "saltus/solvers/program/least_distance.hpp"
#include "saltus/solvers/program/linear_program.hpp"

namespace saltus::impact {

namespace {

using Eigen::Index;

/// A velocity or impulse is 0 if it is at most this times the sum of the sizes of its terms.
constexpr double rounding = 64 * std::numeric_limits<double>::epsilon();

// Relative tolerances of the special cases. They decide which remarks are printed, not the verdict.
/// One velocity η makes all obstacles rest if max_i |n_i·η + d_i| <= this · max_i |d_i| + noise of the frame.
constexpr double uniform_excitation_tolerance = 1e-10;
/// Impulses ρ are in equilibrium if the residual of Σ n_iρ_i = 0, Σ ρ_i = 1 is at most this.
constexpr double balance_tolerance = 1e-10;
/// A bilateral constraint is violated if |γ| > this times the sum of the sizes of its terms.
constexpr double bilateral_tolerance = 1e-9;
/// Two works that differ by at most this part of their sizes are printed as one.
constexpr double equal_works = 1e-9;

/// Redundant contacts are searched for by one linear program per contact, so only for a few contacts.
constexpr Index max_contacts_for_redundancy = 30;

std::string names_of(const FrictionlessCollision& c, const std::vector<int>& contacts) {
    std::vector<std::string> names;
    for (const int i : contacts) names.push_back(name_of(c, i));
    return listing(names);
}

/// Indices of the components that are positive by more than rounding.
std::vector<int> positive_components(const Vector& x) {
    std::vector<int> list;
    for (Index i = 0; i < x.size(); ++i)
        if (x(i) > rounding * x.cwiseAbs().maxCoeff()) list.push_back(static_cast<int>(i));
    return list;
}

class Remarks {
public:
    Remarks(const FrictionlessCollision& c, const KineticFrame& f, Audit& a) : c_(c), f_(f), a_(a), m_(c.contacts()) {}

    void all() {
        if (m_ == 0) add(RemarkKind::no_contacts, "there is no contact: nothing can do work");
        if (m_ == 1) add(RemarkKind::single_contact, "one contact: its impulse and its work are unique", {0});
        excitation();
        if (c_.impulse.size() > 0 && !c_.impulse.isZero(0.0))
            add(RemarkKind::kinetic_excitation,
                fmt::format("an external impulse does the work {:.6g}; \"the contacts supply no energy\" is alpha = 0 "
                            "all the same",
                            a_.external_work));
        not_approaching();
        dependence();
        emptiness();
        redundancy();
        bilateral();
    }

private:
    void add(RemarkKind kind, std::string text, const std::vector<int>& contacts = {}) {
        a_.remarks.push_back({kind, std::move(text), contacts});
    }

    /// The sum of the sizes of the terms of each γ⁻: |w|ᵀ|u⁻| + |χ|. Rounding errors of γ⁻ are relative to it.
    Vector sizes_before() const {
        Vector terms = c_.directions.cwiseAbs().transpose() * c_.u_minus.cwiseAbs();
        if (c_.chi.size() > 0) terms += c_.chi.cwiseAbs();
        return terms;
    }

    /// Whether there is a frame in which all obstacles rest: n_i·η + d_i = 0 for one η. [Glocker] 9, 10
    void excitation() {
        if (m_ == 0) return;
        const double moving = c_.chi.size() == 0 ? 0.0 : c_.chi.cwiseAbs().maxCoeff();
        if (moving <= rounding * sizes_before().maxCoeff()) {
            a_.common_velocity = Vector::Zero(c_.M.rows());
            add(RemarkKind::no_excitation,
                c_.impulse.size() == 0 || c_.impulse.isZero(0.0)
                    ? "nothing moves the contacts: the contact work is the change of kinetic energy"
                    : "nothing moves the contacts: the contact work is the change of kinetic energy less the work of "
                      "the external impulse");
            return;
        }
        const Matrix rows = f_.normals.transpose();
        const Vector eta = least_squares(rows, -f_.distance);
        const double missing = (rows * eta + f_.distance).cwiseAbs().maxCoeff();
        if (missing <= uniform_excitation_tolerance * f_.distance.cwiseAbs().maxCoeff() + f_.noise) {
            a_.common_velocity = f_.representative(eta);
            add(RemarkKind::uniform_excitation,
                "the obstacles move with one common velocity of the system: the contact work does not depend on how "
                "the "
                "impulse is shared, and is the change of kinetic energy in the frame that moves with them");
        } else {
            add(RemarkKind::nonuniform_excitation,
                "the obstacles move against each other: no frame makes them all rest, and the contact work depends on "
                "how the impulse is shared");
        }
    }

    /// Contacts that separate already before the impact: γ⁻ > 0.
    void not_approaching() {
        const Vector size = sizes_before();
        std::vector<int> leaving;
        for (Index i = 0; i < m_; ++i)
            if (a_.gamma_minus(i) > rounding * size(i)) leaving.push_back(static_cast<int>(i));
        if (!leaving.empty()) add(RemarkKind::not_approaching, "u- already leaves " + names_of(c_, leaving), leaving);
    }

    /// Contact directions that are linearly dependent, or that do not span the velocities.
    void dependence() {
        const Index rank = f_.rank();
        if (rank < m_)
            add(RemarkKind::singular_delassus,
                fmt::format("{} contacts act in {} independent direction{}: the Delassus matrix is singular and the "
                            "impulses need not be unique",
                            m_, rank, rank == 1 ? "" : "s"));
        const Index free = c_.M.rows() - rank - f_.bilateral.cols();
        if (free > 0)
            add(RemarkKind::no_corner_points,
                fmt::format("the contacts leave {} of {} directions of velocity alone: P+ has no corner points, only "
                            "faces of that dimension",
                            free, c_.M.rows()));
        if (rank == m_) return;
        // Impulses in equilibrium: ρ >= 0 with Σ n_iρ_i = 0 and Σ ρ_i = 1.
        Matrix balance(rank + 1, m_);
        balance << f_.normals, Eigen::RowVectorXd::Ones(m_);
        const auto s = solvers::nonnegative_least_squares(balance, Vector::Unit(rank + 1, rank));
        if (s.distance > balance_tolerance) return;
        const std::vector<int> pressing = positive_components(s.x);
        add(RemarkKind::impulses_unbounded,
            names_of(c_, pressing) + " can have impulses of any size that are in equilibrium and change no velocity",
            pressing);
    }

    /// Whether P⁺ or P⁻ is empty. P⁺ is the dual set of the program of the least work, P⁻ that of the greatest. If u⁺
    /// is kinetically admissible, then these programs have been solved: the dual set is empty if and only if the
    /// program is unbounded, and then it has a ray. Otherwise Farkas' lemma decides: n_i·y + d_i >= 0 for all i has no
    /// solution if and only if some Λ̂ >= 0 has Σ n_iΛ̂_i = 0 and d·Λ̂ < 0, that is, if min d·Λ̂ is unbounded (−d for P⁻).
    void emptiness() {
        for (const bool plus : {true, false}) {
            const WorkEnd& end = plus ? a_.least : a_.greatest;
            std::vector<int> closing;
            if (end.ray.size() > 0) {
                closing = positive_components(end.ray);
            } else if (!a_.kinetic.holds) {
                const Vector cost = plus ? f_.distance : Vector(-f_.distance);
                const solvers::ProgramSolution s =
                    solve(solvers::LinearProgram{f_.normals, Vector::Zero(f_.rank()), cost, {}, {}});
                if (s.status == solvers::ProgramStatus::unbounded) closing = positive_components(s.certificate);
            }
            if (closing.empty()) continue;
            const std::string names = names_of(c_, closing);
            if (plus)
                add(RemarkKind::empty_P_plus,
                    "P+ is empty: the obstacles of " + names + " close on the system and no velocity leaves them all",
                    closing);
            else
                add(RemarkKind::empty_P_minus,
                    "P- is empty: the obstacles of " + names + " move apart and no velocity approaches them all",
                    closing);
        }
    }

    /// Contacts whose condition γ⁺ >= 0 follows from those of the others.
    void redundancy() {
        if (f_.rank() == m_ || m_ > max_contacts_for_redundancy || a_.remark(RemarkKind::empty_P_plus) != nullptr)
            return;
        const std::vector<int> redundant = redundant_contacts(f_);
        if (redundant.empty()) return;
        add(RemarkKind::redundant_contacts,
            "whatever leaves the other contacts leaves " + names_of(c_, redundant) + " too", redundant);
    }

    /// Bilateral constraints that u⁻ or u⁺ does not fulfil.
    void bilateral() {
        std::vector<int> violated;
        const Vector before = sizes_before();
        for (Index i = m_; i < c_.directions.cols(); ++i)
            if (std::abs(a_.gamma_minus(i)) > bilateral_tolerance * before(i) ||
                a_.kinematic.relative(i) < -bilateral_tolerance)
                violated.push_back(static_cast<int>(i));
        if (!violated.empty())
            add(RemarkKind::bilateral_violated, "u- or u+ misses the bilateral constraint " + names_of(c_, violated),
                violated);
    }

    const FrictionlessCollision& c_;
    const KineticFrame& f_;
    Audit& a_;
    Index m_;
};

/// A clause about the kinetic energy, if its change differs from the contact work.
std::string energy_sentence(const Audit& a, const WorkEnd& end) {
    if (!std::isfinite(end.work)) return {};
    const bool obstacles = std::abs(end.obstacle_work) > equal_works * (std::abs(a.energy_change) + std::abs(end.work));
    const bool outside = a.external_work != 0.0;
    if (!obstacles && !outside) return {};
    std::string text = fmt::format("; the kinetic energy changes by {:.6g}", a.energy_change);
    if (obstacles) text += fmt::format(", of which the moving obstacles did {:.6g}", end.obstacle_work);
    if (outside)
        text +=
            fmt::format("{} {:.6g}", obstacles ? " and the external impulse" : ", of which the external impulse did",
                        a.external_work);
    return text;
}

}  // namespace

void add_remarks(const FrictionlessCollision& collision, const KineticFrame& frame, Audit& audit) {
    Remarks(collision, frame, audit).all();
}

std::string unbounded_sentence(const FrictionlessCollision& c, const Vector& ray, IntervalEnd end) {
    const std::string names = names_of(c, positive_components(ray));
    return end == IntervalEnd::least
               ? "P+ is empty: " + names +
                     " close on the system, so the work that they take grows without bound with their impulses"
               : "P- is empty: " + names +
                     " move apart, so the work that they do grows without bound with their impulses";
}

std::string work_without_bound(std::string_view what, double least, double greatest) {
    if (std::isfinite(least)) return fmt::format("{} is at least {:.6g}, without an upper bound", what, least);
    if (std::isfinite(greatest)) return fmt::format("{} is at most {:.6g}, without a lower bound", what, greatest);
    return fmt::format("{} has no bounds", what);
}

std::string sentence_of(const FrictionlessCollision& c, const Audit& a, double alpha) {
    const auto interval = [&] {
        const double least = printed_work(a.least.work, a.energy_minus + a.energy_plus),
                     greatest = printed_work(a.greatest.work, a.energy_minus + a.energy_plus);
        const double size = std::abs(least) + std::abs(greatest);
        if (std::isinf(size)) return work_without_bound("the contact work", least, greatest);
        return std::abs(greatest - least) <= equal_works * size || size == 0.0
                   ? fmt::format("the contact work is {:.6g}", least)
                   : fmt::format("the contact work is between {:.6g} and {:.6g}", least, greatest);
    };
    switch (a.verdict) {
        case Verdict::dissipates:
            return fmt::format("consistent: {}, no more than {:.6g} however the impulse is shared{}", interval(), alpha,
                               energy_sentence(a, a.least));
        case Verdict::may_dissipate:
            return fmt::format("consistent: {}; some impulses that lead to u+ do no more than {:.6g}, not all{}",
                               interval(), alpha, energy_sentence(a, a.least));
        case Verdict::supplies_energy:
            return fmt::format("not consistent: {}, more than {:.6g} however the impulse is shared{}", interval(),
                               alpha, energy_sentence(a, a.least));
        case Verdict::into_obstacle:
            return fmt::format("not consistent: u+ goes into {} with the velocity {:.6g}{}",
                               name_of(c, a.kinematic.least()), a.kinematic.slack(a.kinematic.least()),
                               a.kinetic.holds ? "" : ", and no contact impulses lead to it");
        case Verdict::not_by_contacts:
            return fmt::format(
                "not consistent: no contact impulses lead to u+; the nearest ones miss it by {:.6g} in the "
                "M-norm, the whole impulse being {:.6g}",
                a.kinetic.distance, a.kinetic.impulse);
        case Verdict::undecided: return "undecided: " + a.least.why;
        case Verdict::invalid: break;
    }
    return {};
}

}  // namespace saltus::impact
