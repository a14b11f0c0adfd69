// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/attractivity.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/model/model.hpp"
#include "saltus/stability/certify/detail/attractivity_conditions.hpp"
#include "saltus/stability/certify/detail/attractivity_rows.hpp"
#include "saltus/stability/certify/detail/known_levels.hpp"
#include "saltus/stability/certify/detail/level_set_equilibria.hpp"
#include "saltus/stability/certify/detail/linear_classification.hpp"
#include "saltus/stability/certify/detail/propositions.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

constexpr double inf = Interval::infinity;

Box around(const Rest& rest, const RestBox& box) {
    Box b = box.q;
    if (b.empty()) b = point_box(list_of(rest.q));
    for (Interval& x : b) {
        const double room = 1e-12 * (1.0 + std::fabs(expr::midpoint(x)));
        x = Interval(x.lo - room, x.hi + room);
    }
    return b;
}

class Attractivity {
public:
    Attractivity(const model::Model& model, const CertifyOptions& options) : model_(model), options_(options) {}

    Certificate certify() {
        certificate_.theorem = "attractivity";
        const bool contacts = !model_.contacts.empty();
        certificate_.basis = contacts ? "Theorem 1" : "Corollary 3";
        std::string why;
        const std::unique_ptr<Enclosure> enclosure = Enclosure::of(model_, why);
        if (!enclosure) return not_examined(why);
        const Enclosure& e = *enclosure;
        const std::vector<double>& from = options_.at.empty() ? model_.q0 : options_.at;
        const Rest rest = find_minimum(e, from);
        certificate_.warnings = model_.warnings;
        const RestBox box = enclose_rest(e, rest);
        const Interval U_e = e.potential(box.proved() ? box.q : point_box(list_of(rest.q)));
        const AdmissibleSet set(e, U_e);
        if (rest.found) {
            certificate_.q = position_of(rest, box);
            certificate_.forces = forces_at(model_, rest);
        }
        if (!rest.found || !rest.minimum) return without_minimum(e, set, rest, box);

        const PositionTests tests(set, rest, box);
        LevelSet best;
        Condition kernel;
        choose_contacts(tests, rest, box, set, best, kernel);
        outweigh(e, best);
        certificate_.reference = expr::midpoint(U_e);
        EquilibriumCover cover = equilibria(set, rest, box, best);
        combine(best);
        if (contacts && e.linear_damping && uncoupled(e, best.domain.box)) certificate_.basis = "Corollary 2";
        for (const Interval& x : best.domain.box) certificate_.domain.emplace_back(x.lo, x.hi);
        const Ground ground{set,
                            rest,
                            box,
                            best.domain.box,
                            std::min(best.rho_verified, best.stationary.verified),
                            best.velocity.verified,
                            options_.budget};

        std::vector<Condition>& rows = certificate_.conditions;
        rows.push_back(kinetic_condition(ground));
        rows.push_back(minimum_row(model_, rest, box, best));
        rows.push_back(dissipation_condition(ground));
        if (outweighed_) outweighed_rows(best, rows.back(), kernel);
        if (contacts) {
            rows.push_back(closing_row(model_, ground, best, closing_shown_));
            rows.push_back(kernel);
            rows.push_back(restitution_condition(ground));
            rows.push_back(impact_condition(ground));
        } else {
            kernel.id = "4";
            kernel.text = "only u = 0 has no dissipation";
            if (kernel.verdict == Verdict::fails && rows.back().verdict != Verdict::fails) observe_modes(e, kernel);
            rows.push_back(kernel);
        }
        rows.push_back(level_row(best, cover, closing_shown_));
        rows.push_back(invariance_row());
        conclude(best, cover);
        classify_linear(e);
        return std::move(certificate_);
    }

private:
    /// Damping that brings energy in, and friction of sliders that takes more below some kinetic energy.
    /// [Leine] 6.1, 6.2
    void outweigh(const Enclosure& e, LevelSet& levels) {
        Box positions = levels.domain.box;
        const std::optional<LinearSystem> linear = linear_system(e);
        const std::optional<LinearSystem> sliding = linear ? linear : sliding_system(e, positions);
        if (!sliding) return;
        const IntervalVector rest = e.forces_at_rest(positions);
        for (const Interval& x : rest)
            if (x.lo != 0.0 || x.hi != 0.0) return;
        // Where damping takes energy condition 3 is fulfilled as it stands.
        const Matrix C = sliding->C.middle();
        const Spectrum s = symmetric_spectrum(0.5 * (C + C.transpose()));
        if (!(s.smallest < -1e-12 * (1.0 + std::fabs(s.largest)))) return;
        const double level = friction_level(*sliding, options_.budget);
        if (!(level > 0.0)) return;
        levels.damping.value = levels.damping.verified = level;
        outweighed_ = true;
    }

    static void outweighed_rows(const LevelSet& levels, Condition& third, Condition& kernel) {
        third.verdict = kernel.verdict = Verdict::proved;
        third.witness = kernel.witness = {};
        third.text =
            "the other smooth forces and friction together take energy from every motion below some kinetic energy, "
            "and "
            "the former vanish for u = 0";
        third.evidence = "damping brings energy in, but friction takes more for T < " + number(levels.damping.value);
        kernel.evidence = third.evidence;
    }

    /// Linear systems: velocities without dissipation do no harm where no motion keeps to them. [Leine] 6.2
    void observe_modes(const Enclosure& e, Condition& kernel) {
        const std::optional<LinearSystem> linear = linear_system(e);
        if (!linear) return;
        const LosslessModes modes = lossless_modes(*linear);
        if (modes.none) {
            kernel.text += ", or no motion stays without dissipation";
            kernel.verdict = modes.proved ? Verdict::proved : Verdict::holds;
            kernel.witness = {};
            kernel.evidence =
                "some velocities meet neither damping nor friction, but no mode of the linear system does";
            certificate_.basis = "Corollary 3, linear systems";
        } else if (modes.lost.size() > 0) {
            kernel.witness.u = list_of(modes.lost);
            kernel.evidence = "the mode of the witness meets neither damping nor friction";
        }
    }

    void classify_linear(const Enclosure& e) {
        const std::optional<LinearSystem> linear = linear_system(e);
        if (!linear) return;
        const LinearClassification c = classify(*linear, options_.budget);
        certificate_.classification = to_string(c.kind);
        for (const std::complex<double>& x : eigenvalues(*linear))
            certificate_.eigenvalues.emplace_back(x.real(), x.imag());
    }

    Certificate not_examined(const std::string& why) {
        certificate_.conditions.push_back(
            {"0", "the functions of the model can be bounded over boxes", Verdict::fails, why, {}});
        certificate_.summary = "not examined: " + why;
        return std::move(certificate_);
    }

    /// Nothing to stand on: what can be said of the model itself is said.
    Certificate without_minimum(const Enclosure& e, const AdmissibleSet& set, const Rest& rest, const RestBox& box) {
        const Ground ground{set, rest, box, point_box(list_of(rest.q)), inf, 0.0, options_.budget};
        std::vector<Condition>& rows = certificate_.conditions;
        rows.push_back(kinetic_condition(ground));
        Condition second{"2", text_2, Verdict::fails, "", {}};
        second.witness.q = list_of(rest.q);
        if (!rest.found) {
            second.evidence = rest.why;
        } else {
            // Along the direction of least curvature.
            second.witness.values.emplace_back("curvature", rest.curvature);
            Vector d = rest.direction / rest.direction.norm();
            second.evidence = rest.curvature < -1e-9
                                  ? "the equilibrium is no minimum: the energy falls along the witness' direction"
                                  : "the energy is flat along the witness' direction: equilibria of the model without "
                                    "friction are not isolated";
            second.witness.u = list_of(d);
        }
        rows.push_back(std::move(second));
        rows.push_back(dissipation_condition(ground));
        const auto open = [&](const char* id, const char* text) {
            rows.push_back({id, text, Verdict::assumed, "not examined: there is no minimum to stand on", {}});
        };
        if (!model_.contacts.empty()) {
            open("4", text_4);
            open("5", "with the gaps of I_C closed and staying so, only u = 0 has no dissipation");
            rows.push_back(restitution_condition(ground));
            open("7", "impacts take energy: (a) small, (b) equal or (c) frictionless restitution");
        } else {
            open("4", "only u = 0 has no dissipation");
        }
        open("8", text_8);
        rows.push_back(invariance_row());
        certificate_.summary = "no minimum of the potential energy: " + rows[1].evidence;
        classify_linear(e);
        return std::move(certificate_);
    }

    /// I_C: the gaps that are closed at the equilibrium, or fewer where conditions 4 or 5 ask for it.
    void choose_contacts(const PositionTests& tests, const Rest& rest, const RestBox& box, const AdmissibleSet& set,
                         LevelSet& best, Condition& kernel) const {
        const std::vector<int>& closed = rest.closed;
        std::vector<std::vector<int>> choices{closed};
        if (closed.size() > 1 && closed.size() <= 4) {
            std::vector<unsigned> masks;
            for (unsigned mask = 1; mask + 1 < (1U << closed.size()); ++mask) masks.push_back(mask);
            std::stable_sort(masks.begin(), masks.end(),
                             [](unsigned a, unsigned b) { return std::popcount(a) > std::popcount(b); });
            for (const unsigned mask : masks) choices.push_back(PositionTests::subset(closed, mask));
        }
        for (std::size_t k = 0; k < choices.size(); ++k) {
            LevelSet levels = level_set(tests, rest, box, choices[k], {options_.budget});
            const Ground ground{set,
                                rest,
                                box,
                                levels.domain.box,
                                std::min(levels.rho_verified, levels.stationary.verified),
                                levels.velocity.verified,
                                options_.budget};
            Condition row = kernel_condition(ground, choices[k]);
            const bool good = levels.rho > 0.0 && row.verdict != Verdict::fails;
            if (k == 0 || good) {
                best = std::move(levels);
                kernel = std::move(row);
            }
            if (good) return;
        }
    }

    EquilibriumCover equilibria(const AdmissibleSet& set, const Rest& rest, const RestBox& box, LevelSet& levels) {
        EquilibriumCover cover;
        combine(levels);
        const double limit = levels.rho_verified, cap = levels.stationary.verified;
        CoverRequest request{levels.domain.box, around(rest, box), cap, 1.0, options_.budget, false};
        if (const std::optional<LinearSystem> linear = linear_system(set.enclosure())) {
            // { q : K(q − q_e) ∈ friction } is one convex set.
            const ExtremeEnergy top = largest_energy(*linear, 1.0);
            if (top.found) {
                cover.highest = top.value;
                cover.highest_box = point_box(list_of(rest.q + top.q));
                return cover;
            }
        }
        if (cap == inf) {
            request.budget = std::min(options_.budget, 4000L);
            request.resolution = 1.0 / 8.0;
            cover = cover_equilibria(set, rest.scale, request);
            if (!cover.complete && climb(set, rest, request, cover)) beyond_ = false;
        } else {
            for (const double resolution : {1.0 / 8.0, 1.0 / 32.0, 1.0 / 128.0}) {
                request.resolution = resolution;
                cover = cover_equilibria(set, rest.scale, request);
                if (!cover.complete || !(limit > 0.0) || cover.highest < std::min(limit, cover.lowest)) break;
            }
            // E may leave U: its height is wanted all the same.
            EquilibriumCover higher;
            if (cover.complete && limit > 0.0 && cover.highest >= cap * (1.0 - 1e-9) &&
                climb(set, rest, request, higher)) {
                higher.lowest = std::min(higher.lowest, cover.lowest);
                cover = std::move(higher);
            }
        }
        levels.foreign.verified = cover.lowest;
        levels.foreign.value = std::isfinite(cover.lowest) ? known(cover.lowest) : cover.lowest;
        levels.foreign.proved = cover.complete && beyond_;
        levels.foreign.boxes = cover.boxes;
        if (!cover.lowest_box.empty()) {
            const std::vector<double> at = centre(cover.lowest_box);
            levels.foreign.at = Eigen::Map<const Vector>(at.data(), static_cast<Index>(at.size()));
        }
        return cover;
    }

    /// A level of the equilibrium sets that a bound encloses, to rounding.
    double known(double bound) {
        if (!std::isfinite(bound)) return bound;
        if (!known_) known_.emplace(model_, certificate_.reference);
        return known_->nearest(bound);
    }

    /// Higher and higher caps, until the set of q_e ends below.
    bool climb(const AdmissibleSet& set, const Rest& rest, CoverRequest request, EquilibriumCover& cover) const {
        request.budget = std::min(options_.budget, 20'000L);
        request.resolution = 1.0 / 16.0;
        for (double cap = std::isfinite(request.cap) ? 4.0 * request.cap : 1.0; cap < 1e12; cap *= 8.0) {
            request.cap = cap;
            cover = cover_equilibria(set, rest.scale, request);
            if (!cover.complete) return false;
            if (cover.highest < 0.9 * cap) return true;
        }
        return false;
    }

    void conclude(const LevelSet& levels, const EquilibriumCover& cover) {
        std::vector<Condition>& rows = certificate_.conditions;
        certificate_.has_rho = true;
        certificate_.rho = levels.rho;
        certificate_.rho_verified = levels.rho_verified;
        const auto part = [&](const char* name, const LevelPart& p) {
            certificate_.rho_parts.emplace_back(name, p.value);
        };
        if (!levels.I_C.empty()) {
            part("velocity", levels.velocity);
            part("angle", levels.closing);
        }
        part("U", levels.stationary);
        if (!model_.regions.empty()) part("region", levels.region);
        if (outweighed_) part("damping", levels.damping);
        if (std::isfinite(levels.foreign.value)) part("equilibria", levels.foreign);
        certificate_.values = {{"V_max_on_E", cover.highest > 0.0 ? known(cover.highest) : cover.highest},
                               {"boxes", static_cast<double>(levels.boxes + cover.boxes)}};
        certificate_.grade = grade_of(rows);
        const auto fails = [&](const char* id) {
            const Condition* c = certificate_.find(id);
            return c != nullptr && c->verdict == Verdict::fails;
        };
        if (none_fails(rows) && closing_shown_) {
            certificate_.outcome = Outcome::attractive;
            certificate_.summary = std::isinf(levels.rho)
                                       ? "the equilibrium set is globally attractive"
                                       : "the equilibrium set is attractive; { V < " + number(levels.rho) +
                                             " } belongs to its region of attraction";
            return;
        }
        // V is positive definite and does not grow: q_e itself is stable, and E with it where it is that point alone.
        const bool dissipative = !fails("1") && !fails("2") && !fails("3") && !fails("6") && !fails("7");
        const bool point =
            cover.complete && cover.bounded &&
            cover.highest <= 1e-9 * (1.0 + (std::isfinite(levels.rho_verified) ? levels.rho_verified : 0.0));
        if (dissipative && point && !model_.contacts.empty() ? (fails("4") || fails("5") || !closing_shown_)
                                                             : (dissipative && point && fails("4"))) {
            certificate_.outcome = Outcome::stable;
            certificate_.summary = "the equilibrium is stable, V does not grow; whether it is attractive is not shown";
            return;
        }
        certificate_.grade = Grade::numerical;
        std::vector<std::string> failing;
        for (const Condition& c : rows)
            if (c.verdict == Verdict::fails) failing.push_back(c.id);
        if (failing.empty()) {
            certificate_.summary = "condition 4 is not shown";
            return;
        }
        certificate_.summary = "condition" + std::string(failing.size() > 1 ? "s " : " ") + listing(failing) +
                               (failing.size() > 1 ? " fail" : " fails");
    }

    const model::Model& model_;
    const CertifyOptions& options_;
    bool outweighed_ = false, closing_shown_ = true;
    std::optional<KnownLevels> known_;
    bool beyond_ = true;  // equilibria were looked for everywhere that rho* allows
    Certificate certificate_;
};

}  // namespace

Certificate certify_attractivity(const model::Model& model, const CertifyOptions& options) {
    return Attractivity(model, options).certify();
}

}  // namespace saltus::stability
