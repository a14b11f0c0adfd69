// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/certificate_claims.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/model/feedback.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/variants/energy_split.hpp"
#include "saltus/proof/cover.hpp"
#include "saltus/proof/enclosure.hpp"
#include "saltus/proof/laws.hpp"
#include "saltus/stability/certify/certify.hpp"
#include "saltus/stability/certify/detail/claims/function_claims.hpp"
#include "saltus/stability/certify/detail/claims/instability_claims.hpp"
#include "saltus/stability/certify/detail/claims/linear_claims.hpp"
#include "saltus/stability/certify/detail/claims/mode_claims.hpp"
#include "saltus/stability/certify/detail/claims/motion_claims.hpp"
#include "saltus/stability/certify/detail/claims/observable_claims.hpp"
#include "saltus/stability/certify/detail/functions/state_function.hpp"
#include "saltus/stability/certify/detail/functions/steady_sliding.hpp"
#include "saltus/stability/certify/detail/linear_classification.hpp"
#include "saltus/stability/certify/detail/motions/escaping_motion.hpp"
#include "saltus/stability/certify/detail/static_forces.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

// "The program's level" is the level that `certify` has proved (Certificate::rho_verified).

/// The certified level is this times the program's level. At the level itself ever smaller boxes would be needed.
constexpr double certified_part = 0.99;
/// The boxes of equilibrium sets exceed the extents of the sets on each side by
/// wider_extent · width + wider_point · (1 + |q|). If this is too small, then boxes next to a set are split too often;
/// if it is too large, then the statement is weak, because equilibria are not excluded there.
constexpr double wider_extent = 0.02, wider_point = 1e-3;
/// Displacements of a coordinate, relative to its scale, at which an equilibrium is sought in which a locked clutch
/// pushes. At the equilibrium itself the clutch has no force.
constexpr double tried_clutch_loads[] = {1e-2, -1e-2, 0.1, -0.1};
/// If damping supplies energy: the parts of the program's level at which friction is shown to dissipate more, largest
/// first.
constexpr double tried_level_parts[] = {0.99, 0.9, 0.8, 0.65, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05, 0.02, 0.01};
/// The parts of the program's level that are tried for sliders whose friction changes with the velocity, largest first.
/// The claims need a resistance that rises with the speed, the program only one that is positive.
constexpr double tried_sliding_parts[] = {1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02};
/// Largest number of leaves of each tree at all but the first of these levels. It bounds the time of the whole search.
constexpr long budget_of_smaller_level = 2000;
/// Half widths of bounded domains D that are tried, relative to the scales of the coordinates, smallest first.
constexpr double tried_domains[] = {0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0};
/// Completeness is not certified with more periodic coordinates than this: each set has up to 3 copies for each of
/// them.
constexpr std::size_t max_periodic = 3;
/// Larger models are refused by tools/check_certificate.
constexpr std::size_t max_certified_coordinates = 24, max_certified_elements = 100;

/// Why certificate files do not exist for a model; empty if they do. `impact = "energy"` is allowed for the theorem of
/// regulation only. theorem = std::nullopt: the statement is about equilibria; impact laws do not matter then.
std::string unsupported(const model::Mechanics& m, const ClaimOptions& options,
                        std::optional<Theorem> theorem = Theorem::attractivity) {
    if (!options.obstacle.empty()) return options.obstacle;
    const bool regulation = theorem == Theorem::regulation;
    if (regulation && !m.control) return "there is no feedback";
    if (m.control && (m.control->Kp != m.control->Kp.transpose() || m.control->Kv != m.control->Kv.transpose()))
        return "gains that are not symmetric are not certified";
    if (regulation && (!m.sliders.empty() || !m.constraints.empty() || !m.clutches.empty()))
        return "regulation is certified without sliders, constraints and clutches";
    if (!m.scleronomic || !m.autonomous) return "a model that depends on time is not certified";
    if (m.coordinates.size() > max_certified_coordinates ||
        m.contacts.size() + m.constraints.size() + m.sliders.size() + m.clutches.size() > max_certified_elements)
        return "the model is too large for a certificate";
    const auto planar = [](const model::Friction& f) {
        return f.law == model::FrictionLaw::none || f.law == model::FrictionLaw::coulomb ||
               f.law == model::FrictionLaw::orthotropic;
    };
    for (const model::Contact& c : m.contacts) {
        if (theorem && c.impact != model::ImpactLaw::newton && !(regulation && c.impact == model::ImpactLaw::energy))
            return "only Newton's impact law is certified";
        if (!planar(c.friction)) return "only Coulomb friction is certified";
        if (c.condition != model::no_coefficient) return "a contact that exists under a condition is not certified";
    }
    for (const model::Constraint& c : m.constraints) {
        if (c.on_velocity) return "constraints of velocities are not certified";
        if (!planar(c.friction)) return "only Coulomb friction is certified";
    }
    for (const model::Slider& s : m.sliders)
        if (!planar(s.friction)) return "only Coulomb friction is certified";
    return "";
}

/// The claims of the condition with this number. Without contacts (Corollary 3) condition 4 is what condition 5 of
/// Theorem 1 is: only u = 0 has no dissipation.
ClaimList claims_of(const std::string& id, const ClaimScope& scope, ImpactLoss loss) {
    const bool contacts = !scope.e.model().contacts.empty();
    if (id == "1") return kinetic_claims(scope);
    if (id == "2") return minimum_claims(scope);
    if (id == "3") return dissipation_claims(scope);
    if (id == "4") return contacts ? closing_claims(scope) : loss_claims(scope);
    if (id == "5") return loss_claims(scope);
    if (id == "6") return restitution_claims(scope, loss);
    if (id == "7") return impact_claims(scope, loss);
    if (id == "8") return equilibrium_claims(scope);
    return {{}, "this condition is not certified"};
}

/// The certified level for a level that the program has proved; +∞ stays +∞.
double certified_level(double proved) { return std::isfinite(proved) ? certified_part * proved : proved; }

/// The claims of a condition as a row of the statement. `why` is kept if they are not complete.
CertifiedCondition row_of(const std::string& id, const std::string& text, ClaimList list) {
    CertifiedCondition c{id, text, Verdict::proved, list.complete(), list.why, {}};
    if (c.certified) c.claims = std::move(list.claims);
    return c;
}

/// Why no claims can be written: the model has no enclosures (`e` is null, `reason` says why) or something that
/// certificates do not treat, or the verdict is not the one that is certified. Empty if there is no obstacle.
std::string obstacle(const model::Mechanics& model, const Enclosure* e, const std::string& reason,
                     const Certificate& certificate, Outcome certified, const ClaimOptions& options) {
    if (e == nullptr) return reason;
    if (std::string why = unsupported(model, options); !why.empty()) return why;
    if (certificate.outcome != certified || certificate.grade != Grade::proved)
        return "the verdict is not '" + std::string(to_string(certified)) + ", proved'";
    return {};
}

/// The rows of a certificate that stability needs: V does not grow, and q_e is its only minimum.
bool needed_for_stability(const std::string& id) {
    return id == "1" || id == "2" || id == "3" || id == "6" || id == "7";
}

/// A level below which the claims of stability are tried: ρ* of the certificate may be 0, because attractivity fails.
double stable_level(const Certificate& certificate) {
    double level = Interval::infinity;
    for (const auto& [name, value] : certificate.rho_parts)
        if (value > 0.0 &&
            (name == "U" || name == "region" || name == "inertia" || name == "dissipation" || name == "impacts"))
            level = std::min(level, value);
    return level;
}

/// `slides`: the model is one with the friction of steady sliding as forces (smooth_sliding_claims).
CertifiedStatement attractivity_claims(const model::Mechanics& model, const Certificate& certificate,
                                       const ClaimOptions& options, bool slides = false) {
    std::string reason;
    const std::unique_ptr<Enclosure> e = Enclosure::of(model, reason);
    const bool stable = certificate.outcome == Outcome::stable;
    std::string why =
        obstacle(model, e.get(), reason, certificate, stable ? Outcome::stable : Outcome::attractive, options);
    const double proved = stable ? stable_level(certificate) : certificate.rho_verified;
    if (why.empty() && !(proved > 0.0)) why = "there is no level set";
    CertifiedStatement s = uncertified(certificate, model.coordinates, why);
    if (!why.empty()) return s;
    s.level = certified_level(proved);
    const StationaryPoint equilibrium = find_minimum(*e, certificate.q);
    if (!equilibrium.found) return uncertified(certificate, model.coordinates, "the equilibrium was not found again");
    if (stable) {
        s.I_C.clear();
        s.assumptions.clear();
        std::erase_if(s.conditions, [](const CertifiedCondition& c) { return !needed_for_stability(c.id); });
    }
    ClaimScope scope{*e, equilibrium, s.domain, s.reference, s.level, {}, options.budget, options.stop, slides};
    for (const std::string& name : s.I_C)
        for (int k = 0; k < static_cast<int>(model.contacts.size()); ++k)
            if (model.contacts[static_cast<std::size_t>(k)].name == name)
                scope.I_C.push_back(static_cast<int>(model.constraints.size()) + k);
    const ImpactLoss loss = stable ? ImpactLoss::not_required : ImpactLoss::required;
    const bool contacts = !model.contacts.empty();
    const std::string losses = contacts ? "5" : "4";
    // Friction of sliders may exceed what damping supplies. Then it proves conditions 3 and 4 together.
    std::optional<ClaimValue> friction;
    if (!stable && !contacts && !dissipation_claims(scope).complete())
        for (const double part : tried_level_parts) {
            scope.level = part * proved;
            if ((friction = friction_claim(scope))) break;
        }
    s.level = scope.level = friction ? scope.level : certified_level(proved);
    for (CertifiedCondition& c : s.conditions) {
        if (c.verdict == Verdict::assumed) continue;
        c.verdict = Verdict::proved;  // of a stable equilibrium: condition 6 of Theorem 1 may fail
        ClaimList list =
            friction && (c.id == "3" || c.id == "4") ? ClaimList{{*friction}, ""} : claims_of(c.id, scope, loss);
        if (!stable && !list.complete() && c.id == losses)
            if (std::optional<ClaimValue> observable = observable_claim(scope)) list = {{std::move(*observable)}, ""};
        c.certified = list.complete();
        c.why = list.why;
        if (c.certified) c.claims = std::move(list.claims);
    }
    // The forces of a linear system with sliders are bounded and continuous: limit sets consist of motions.
    if (linear_system(*e)) {
        std::erase_if(s.conditions, [](const CertifiedCondition& c) { return c.verdict == Verdict::assumed; });
        s.assumptions.clear();
    }
    return s;
}

/// The scales of coordinates that no search has found.
std::vector<double> unit_scales(const model::Mechanics& model) {
    return std::vector<double>(model.coordinates.size(), 1.0);
}

/// The word for the sign of a slip velocity.
const char* direction_word(double sign) { return sign > 0.0 ? "forwards" : "backwards"; }

/// A motion that leaves a set, as the program proved it: in one mode of contacts, sliders and clutches. std::nullopt:
/// no such motion is found.
std::optional<CertifiedStatement> escape_claims(const Enclosure& e, const StationaryPoint& saddle,
                                                const Certificate& certificate, const ClaimOptions& options) {
    if (!saddle.found) return std::nullopt;
    const std::optional<EscapingMotion> motion = escaping_motion(e, saddle, enclose_equilibrium(e, saddle));
    if (!motion) return std::nullopt;
    const model::Mechanics& model = e.model();
    const IntervalVector coefficients = e.coefficients(motion->at, Box(motion->at.size(), Interval(0.0)));
    ModeRequest request;
    const auto add = [&](const std::string& name, const model::Friction& friction, SlipState s) {
        if (proof::without_friction(friction, coefficients)) return false;
        request.states.push_back(
            {name, s == SlipState::sticks ? "sticks" : direction_word(s == SlipState::slips_forwards ? 1.0 : -1.0)});
        return true;
    };
    for (std::size_t k = 0; k < motion->closed.size(); ++k) {
        const auto number = static_cast<std::size_t>(motion->closed[k] - e.constraints());
        const model::Contact& c = model.contacts[number];
        if (!add(c.name, c.friction, motion->contacts[k])) request.states.push_back({c.name, "closed"});
    }
    for (std::size_t k = 0; k < motion->sliders.size(); ++k)
        add(model.sliders[k].name, model.sliders[k].friction, motion->sliders[k]);
    bool locked = false;
    for (std::size_t k = 0; k < motion->clutches.size(); ++k) {
        locked = locked || motion->clutches[k] == SlipState::sticks;
        request.states.push_back(
            {model.clutches[k].name, motion->clutches[k] == SlipState::sticks ? "sticks" : "forwards"});
    }
    request.q = centre(motion->at);
    request.scale = saddle.scale;
    request.budget = options.budget;
    request.stop = options.stop;
    CertifiedStatement s = mode_claims(e, certificate, request);
    if (s.certified() || !locked) return s;
    // A locked clutch has no force at the equilibrium of the program. Beside it there are others, in which it pushes.
    for (const double step : tried_clutch_loads)
        for (std::size_t k = 0; k < request.q.size(); ++k) {
            ModeRequest beside = request;
            beside.q[k] += step * request.scale[k];
            CertifiedStatement other = mode_claims(e, certificate, beside);
            if (other.certified()) return other;
        }
    return s;
}

/// The claim that the sliders with signs ±1 slide for ever in the level set, or that friction dissipates energy where
/// they do not (model::SlidingRegion::passive). A slider with the slip row t slides if |t·u| < |χ|, because the sign of
/// γ = t·u + χ is then that of χ. By the Cauchy–Schwarz inequality in the metric of M, (t·u)² <= (u·Mu)(t·M⁻¹t) =
/// 2T t·M⁻¹t, so that 2T t·M⁻¹t < χ² is sufficient. `sliding` is the model with the friction of these sliders as
/// forces, whose coefficients are those for |γ| = sign·γ.
ClaimList sliding_claim(const model::Mechanics& model, const Enclosure& sliding, const std::vector<int>& signs,
                        const ClaimScope& scope) {
    // χ of the model itself: in the smooth model the surfaces do not move.
    std::string reason;
    const std::unique_ptr<Enclosure> e = Enclosure::of(model, reason);
    const auto slides = [&](const Box& q) {
        const IntervalVector chi = e->chi(q);
        const IntervalMatrix W = sliding.row_matrix(q), M = sliding.mass(q);
        const Interval twice = Interval(2.0) * Interval(std::max(0.0, scope.kinetic(q)));
        for (std::size_t k = 0; k < signs.size(); ++k) {
            if (signs[k] == 0) continue;
            const int row = model.sliders[k].friction.first_row;
            const Interval speed = Interval(signs[k]) * chi[static_cast<std::size_t>(row)];
            const std::optional<IntervalMatrix> x =
                response_of(M, rows_of(W, smooth_constraints(sliding)), transpose(rows_of(W, {row})));
            if (!surely_positive(speed) || !x) return false;
            Interval square;
            for (int i = 0; i < sliding.size(); ++i) square += W(row, i) * (*x)(i, 0);
            if (!surely_negative(twice * square - expr::sqr(Interval(speed.lo)))) return false;
        }
        return true;
    };
    const auto takes_energy = [&](const Box& q) {
        if (!model.contacts.empty()) return false;
        const Box u = velocities_below(scope.kinetic(q), sliding.mass(q));
        const IntervalVector chi = e->chi(q), own = e->coefficients(q, u), one_sided = sliding.coefficients(q, u);
        for (std::size_t k = 0; k < signs.size(); ++k) {
            if (signs[k] == 0) continue;
            const model::Slider& slider = model.sliders[k];
            if (slider.friction.mu_static != model::no_coefficient) return false;
            if (!surely_positive(Interval(signs[k]) * chi[static_cast<std::size_t>(slider.friction.first_row)]))
                return false;
            for (const IntervalVector* const values : {&own, &one_sided})
                for (const model::Coefficient c : {slider.friction.mu[0], slider.normal_force}) {
                    const Interval& x = (*values)[static_cast<std::size_t>(c)];
                    if (!x.defined || !(x.lo >= 0.0)) return false;
                }
        }
        return true;
    };
    std::optional<ClaimValue> tree = tree_over(
        scope, scope.domain,
        [&](const Box& q) -> std::optional<ClaimValue> {
            if (slides(q)) return ClaimValue::List{"slides"};
            if (takes_energy(q)) return ClaimValue::List{"takes energy"};
            return std::nullopt;
        },
        [&](const Box& q) {
            IntervalVector values = e->chi(q);
            values.push_back(sliding.potential(q));
            return spread_of(values) + spread_of(sliding.row_matrix(q)) + spread_of(sliding.mass(q));
        });
    if (!tree)
        return {
            {},
            "a slip velocity is not shown to keep its sign in the level set, nor friction to take energy if it does "
            "not"};
    return {{tree_claim("sliding", std::move(*tree))}, ""};
}

/// Theorem 1 for sliders that slide steadily: their friction is a smooth force, and its constant part is counted as
/// potential energy.
CertifiedStatement smooth_sliding_claims(const model::Mechanics& model, const std::vector<int>& signs,
                                         const Certificate& certificate, const ClaimOptions& options) {
    const model::Mechanics smooth = model::with_constant_forces_in_potential(model::with_sliding(model, signs));
    std::string reason;
    const std::unique_ptr<Enclosure> e = Enclosure::of(smooth, reason);
    if (!e) return uncertified(certificate, model.coordinates, reason);
    Certificate of_smooth = certificate;
    of_smooth.reference = expr::midpoint(e->potential(point_box(certificate.q)));
    const StationaryPoint equilibrium = find_minimum(*e, certificate.q);
    ClaimOptions search = options;
    const auto in_domain = [&](const Certificate& c) {
        CertifiedStatement s = attractivity_claims(smooth, c, search, true);
        if (!s.certified()) return s;
        const ClaimScope scope{*e, equilibrium, s.domain, s.reference, s.level, {}, search.budget, search.stop};
        s.conditions.insert(s.conditions.begin() + 1,
                            row_of("S", "the sliders slide in one direction, or their friction takes energy",
                                   sliding_claim(model, *e, signs, scope)));
        for (std::size_t k = 0; k < signs.size(); ++k)
            if (signs[k] != 0) s.sliding.emplace_back(model.sliders[k].name, direction_word(signs[k]));
        return s;
    };
    // First without bounds of D: if friction is constant, they are not needed.
    if (CertifiedStatement s = in_domain(of_smooth); s.certified()) return s;
    // The kinetic energy is bounded by the level on bounded boxes only: D must be bounded.
    CertifiedStatement last = uncertified(certificate, model.coordinates, "no bounded domain contains the level set");
    if (!equilibrium.found) return last;
    const bool changing = !e->linear_damping && std::isfinite(certificate.rho_verified);
    for (const double part : tried_sliding_parts) {
        of_smooth.rho_verified = part * certificate.rho_verified;
        for (const double radius : tried_domains) {
            of_smooth.domain.clear();
            for (std::size_t k = 0; k < model.coordinates.size(); ++k) {
                const double at = equilibrium.q(static_cast<Eigen::Index>(k)), r = radius * equilibrium.scale[k];
                const auto& [lo, hi] = certificate.domain[k];
                of_smooth.domain.emplace_back(std::max(lo, at - r), std::min(hi, at + r));
            }
            CertifiedStatement s = in_domain(of_smooth);
            if (s.certified()) return s;
            last = std::move(s);
            if (options.stop && options.stop()) return last;
        }
        if (!changing) break;
        search.budget = std::min(options.budget, budget_of_smaller_level);
    }
    return last;
}

/// Steady sliding on moving surfaces: the sliders and the closed contacts slip in the direction that rest gives them.
CertifiedStatement sliding_claims(const model::Mechanics& model, const Certificate& certificate,
                                  const ClaimOptions& options) {
    std::string reason;
    const std::unique_ptr<Enclosure> e = Enclosure::of(model, reason);
    const bool decided = certificate.outcome != Outcome::inconclusive;
    std::string why =
        obstacle(model, e.get(), reason, certificate, decided ? certificate.outcome : Outcome::attractive, options);
    if (why.empty() && certificate.q.empty()) why = "there is no equilibrium";
    if (!why.empty()) return uncertified(certificate, model.coordinates, why);
    if (!certificate.basis.starts_with("Lyapunov")) {
        const std::optional<std::vector<int>> signs = sliding_directions(model);
        if (!signs) return uncertified(certificate, model.coordinates, "the directions of sliding are not known");
        CertifiedStatement s = smooth_sliding_claims(model, *signs, certificate, options);
        if (s.certified() || certificate.outcome != Outcome::attractive) return s;
        // The level set is not certified; that motions next to the equilibrium approach it may be.
    }
    const Box q = point_box(certificate.q);
    const IntervalVector chi = e->chi(q), coefficients = e->coefficients(q, Box(q.size(), Interval(0.0)));
    ModeRequest request;
    const auto add = [&](const std::string& name, const model::Friction& friction) {
        if (proof::without_friction(friction, coefficients)) return false;
        const double slip = expr::midpoint(chi[static_cast<std::size_t>(friction.first_row)]);
        request.states.push_back({name, slip == 0.0 ? "sticks" : direction_word(slip)});
        return true;
    };
    for (const model::Contact& c : model.contacts) {
        const bool pushes = std::any_of(certificate.forces.begin(), certificate.forces.end(),
                                        [&](const ElementForce& f) { return f.name == c.name && f.N > 0.0; });
        if (pushes && !add(c.name, c.friction)) request.states.push_back({c.name, "closed"});
    }
    for (const model::Slider& s : model.sliders) add(s.name, s.friction);
    request.q = certificate.q;
    request.scale = unit_scales(model);
    request.budget = options.budget;
    request.stop = options.stop;
    return mode_claims(*e, certificate, request);
}

/// [Leine] Theorem 2 without contacts that are closed next to the set, or Theorem 3.
CertifiedStatement instability_claims(const model::Mechanics& model, const Certificate& certificate,
                                      const ClaimOptions& options) {
    std::string reason;
    const std::unique_ptr<Enclosure> e = Enclosure::of(model, reason);
    std::string why = obstacle(model, e.get(), reason, certificate, Outcome::unstable, options);
    if (why.empty() && !e->smooth) why = "T, U or a gap has a kink";
    CertifiedStatement s = uncertified(certificate, model.coordinates, why);
    if (!why.empty()) return s;
    const StationaryPoint saddle = find_stationary(*e, certificate.q);
    // Motions of a linear system are shown to be unbounded, which is more than the claims of one motion say.
    if (options.V.empty() && saddle.found && !saddle.minimum) {
        const Box all = whole_space(model.coordinates.size());
        const ClaimScope everywhere{*e, saddle, all, 0.0, Interval::infinity, {}, options.budget, options.stop};
        if (std::optional<CertifiedStatement> linear = linear_instability_claims(everywhere, certificate))
            return *linear;
    }
    // Without closed contacts the set may be unstable by Theorem 2 too, if the claims of one motion are not complete.
    std::optional<CertifiedStatement> escape = escape_claims(*e, saddle, certificate, options);
    if (escape && (escape->certified() || !saddle.closed.empty())) return *escape;
    if (!saddle.found || saddle.minimum)
        return uncertified(certificate, model.coordinates, "the stationary point was not found again");
    InstabilityClaims claims = instability_claims_around(*e, saddle, options.budget, options.stop);
    if (!claims.domain.empty()) s.domain = claims.domain;
    s.reference = claims.reference;
    s.level = claims.level;
    if (!model.contacts.empty() || !certificate.basis.starts_with("Theorem 2")) {
        // The program may have proved it by one motion that leaves the set. The claims are those of Theorem 2.
        const char* const texts[] = {"kinetic energy u'M(q)u/2 with M > 0",
                                     "a stationary point of U that is an equilibrium",
                                     "the other smooth forces take energy, -u.f >= 0, and vanish for u = 0",
                                     "only u = 0 has no dissipation",
                                     "next to every equilibrium there are positions with a smaller U",
                                     "the equilibrium set is isolated"};
        s.conditions.clear();
        for (std::size_t k = 0; k < claims.conditions.size(); ++k)
            s.conditions.push_back(
                row_of(claims.conditions[k].first, texts[k], std::move(claims.conditions[k].second)));
        s.assumptions.clear();
        if (!frictional_constraints(*e).empty() || !model.clutches.empty()) {
            s.conditions.push_back({"10",
                                    "limit sets next to the equilibrium set are positively invariant",
                                    Verdict::assumed,
                                    false,
                                    "assumed",
                                    {}});
            s.assumptions = {s.conditions.back().text};
        }
        return s;
    }
    for (auto& [id, list] : claims.conditions) {
        const auto is_this = [&id = id](const CertifiedCondition& c) { return c.id == id; };
        const auto c = std::find_if(s.conditions.begin(), s.conditions.end(), is_this);
        if (c != s.conditions.end()) *c = row_of(id, c->text, std::move(list));
    }
    return s;
}

/// [Tornambe] Theorem 5. The statement is that of the format: motions below the level approach the only equilibrium.
/// The rows of the program's table that it does not need do not appear.
CertifiedStatement regulation_claims(const model::Mechanics& model, const Certificate& certificate,
                                     const ClaimOptions& options) {
    std::string why = unsupported(model, options, Theorem::regulation), reason;
    const std::unique_ptr<Enclosure> e = Enclosure::of(model, reason);
    if (!e) why = reason;
    if (why.empty() && (certificate.outcome != Outcome::attractive || certificate.grade != Grade::proved))
        why = "the verdict is not 'attractive, proved'";
    if (why.empty() && !(certificate.rho_verified > 0.0)) why = "there is no level set";
    CertifiedStatement s = uncertified(certificate, model.coordinates, why);
    if (!why.empty()) return s;
    const StationaryPoint equilibrium = find_minimum(*e, certificate.q);
    if (!equilibrium.found) return uncertified(certificate, model.coordinates, "the equilibrium was not found again");
    s.level = certified_level(certificate.rho_verified);
    s.I_C.clear();
    const ClaimScope scope{*e, equilibrium, s.domain, s.reference, s.level, {}, options.budget, options.stop};
    ClaimList losses = loss_claims(scope);
    if (!losses.complete())
        if (std::optional<ClaimValue> observable = observable_claim(scope)) losses = {{std::move(*observable)}, ""};
    const Condition* const invariance = certificate.find("2");
    s.conditions.clear();
    s.conditions.push_back(row_of("law", "feedback and damping take energy", dissipation_claims(scope)));
    s.conditions.push_back(row_of("1", "the mass matrix is positive definite", kinetic_claims(scope)));
    s.conditions.push_back(
        row_of("3", "q_R is the only equilibrium of the closed loop in the level set", minimum_claims(scope)));
    s.conditions.push_back(row_of("R8", "impacts do not increase the energy", passive_impact_claims(scope)));
    s.conditions.push_back(row_of("R6", "only rest keeps the energy", std::move(losses)));
    s.conditions.push_back(
        {"2", invariance != nullptr ? invariance->text : "", Verdict::assumed, false, "assumed", {}});
    s.assumptions = {s.conditions.back().text};
    return s;
}

/// A function of the user. An energy factor (T + W) takes the place of T + U. A function of T + U has the claims of
/// T + U: its level sets are the same.
CertifiedStatement function_claims(const model::Model& model, const Certificate& certificate,
                                   const ClaimOptions& options) {
    const bool attracts = certificate.theorem == Theorem::attractivity;
    StateFunction V = StateFunction::read(model, options.V);
    if (const std::optional<EnergyForm>& energy = V.energy(); energy && (energy->factor > 0.0) == attracts) {
        const model::Mechanics split = model::with_potential(model, [&](model::Formulas& f) {
            f.graph = V.formulas().graph;
            return energy->potential;
        });
        Certificate of_energy = certificate;
        of_energy.rho_verified /= std::fabs(energy->factor);
        std::string reason;
        if (const std::unique_ptr<Enclosure> e = Enclosure::of(split, reason); e && !certificate.q.empty())
            of_energy.reference = expr::midpoint(e->potential(point_box(certificate.q)));
        CertifiedStatement s =
            attracts ? attractivity_claims(split, of_energy, options) : instability_claims(split, of_energy, options);
        // The claims about one mode are about the motion of the model; they need no function.
        if (s.velocities) return s;
        s.V = options.V;
        s.factor = energy->factor;
        return s;
    }
    if (V.function_of_energy() && certificate.grade == Grade::proved) {
        CertifyOptions again;
        again.at = certificate.q;
        again.budget = options.budget;
        again.stop = options.stop;
        const Certificate of_energy = certify(model, certificate.theorem, again);
        if (of_energy.outcome == certificate.outcome) {
            ClaimOptions plain = options;
            plain.V.clear();
            return certificate_claims(model, of_energy, plain);
        }
    }
    const bool decided = certificate.outcome == Outcome::attractive || certificate.outcome == Outcome::unstable;
    std::string why = unsupported(model, options);
    if (why.empty() && (!decided || certificate.grade != Grade::proved))
        why = "the verdict is neither 'attractive, proved' nor 'unstable, proved'";
    if (!why.empty()) return uncertified(certificate, model.coordinates, why);
    CertifyOptions again;
    again.budget = options.budget;
    again.stop = options.stop;
    again.V = options.V;
    return state_function_claims(model, V, certificate, again);
}

}  // namespace

CertifiedStatement certificate_claims(const model::Model& model, const Certificate& certificate,
                                      const ClaimOptions& options) {
    if (!options.V.empty()) return function_claims(model, certificate, options);
    if (certificate.basis.ends_with("steady sliding")) return sliding_claims(model, certificate, options);
    switch (certificate.theorem) {
        case Theorem::attractivity: return attractivity_claims(model, certificate, options);
        case Theorem::instability: return instability_claims(model, certificate, options);
        case Theorem::regulation: return regulation_claims(model, certificate, options);
    }
    return uncertified(certificate, model.coordinates, "certificates of this theorem are not written yet");
}

namespace {

/// The boxes of all sets and of those copies that meet the region.
std::vector<Box> set_boxes(const Equilibria& equilibria, const Box& region) {
    std::vector<Box> boxes;
    for (const EquilibriumSet& set : equilibria.sets) {
        std::vector<Box> copies{Box()};
        for (std::size_t k = 0; k < region.size(); ++k) {
            const auto i = static_cast<Eigen::Index>(k);
            const double lo = set.lower(i), hi = set.upper(i);
            const double wider = (std::isfinite(lo) && std::isfinite(hi) ? wider_extent * (hi - lo) : 0.0) +
                                 wider_point * (1.0 + (std::isfinite(lo) ? std::fabs(lo) : 0.0));
            const double period = equilibria.periods[k];
            // A set that contains all angles has no copies.
            const bool all = period > 0.0 && hi - lo >= period * (1.0 - 1e-9);
            const Interval side = all ? expr::entire() : Interval(lo - wider, hi + wider);
            std::vector<Box> longer;
            for (const Box& copy : copies)
                for (const int turn : {0, -1, 1}) {
                    if (turn != 0 && (all || !(period > 0.0))) continue;
                    const Interval moved = side + Interval(static_cast<double>(turn) * period);
                    if (!intersection(moved, region[k])) continue;
                    longer.push_back(copy);
                    longer.back().push_back(moved);
                }
            copies = std::move(longer);
        }
        boxes.insert(boxes.end(), copies.begin(), copies.end());
    }
    return boxes;
}

}  // namespace

CertifiedStatement completeness_claims(const model::Mechanics& model, const Equilibria& equilibria,
                                       const ClaimOptions& options) {
    CertifiedStatement s;
    s.theorem = "equilibria";
    s.verdict = equilibria.completeness.complete ? "complete" : "not complete";
    s.statement = "all equilibria with a position in the domain lie in the boxes of the sets";
    s.coordinates = model.coordinates;
    s.sets.emplace();
    std::string why = unsupported(model, options, std::nullopt), reason;
    const std::unique_ptr<Enclosure> e = Enclosure::of(model, reason);
    if (!e) why = reason;
    if (why.empty() && !equilibria.completeness.complete) why = "the search is not complete";
    const auto periodic =
        std::count_if(equilibria.periods.begin(), equilibria.periods.end(), [](double p) { return p > 0.0; });
    if (why.empty() && static_cast<std::size_t>(periodic) > max_periodic)
        why = "there are too many periodic coordinates";
    s.domain = whole_space(model.coordinates.size());
    for (std::size_t k = 0; k < equilibria.completeness.region.size(); ++k)
        s.domain[k] = Interval(equilibria.completeness.region[k].first, equilibria.completeness.region[k].second);
    const Verdict verdict = equilibria.completeness.complete ? Verdict::proved : Verdict::not_examined;
    s.grade = to_string(why.empty() ? Grade::proved : Grade::not_examined);
    s.conditions.push_back({"form",
                            "the kinetic energy is a quadratic form of the velocities; nothing depends on time",
                            verdict,
                            why.empty(),
                            why,
                            {}});
    s.conditions.push_back(
        {"complete", "there is no equilibrium outside of the listed boxes", verdict, why.empty(), why, {}});
    if (!why.empty()) return s;
    s.conditions[0].claims.emplace_back(ClaimValue::Record{{"kind", "form"}});
    StationaryPoint origin;
    origin.q = equilibria.sets.empty() ? vector_of(model.q0) : equilibria.sets.front().representative;
    origin.scale.assign(model.coordinates.size(), 1.0);
    const std::vector<Box> sets = set_boxes(equilibria, s.domain);
    const ClaimScope scope{*e, origin, s.domain, 0.0, Interval::infinity, {}, options.budget, options.stop};
    std::optional<ClaimValue> tree = tree_over(
        scope, s.domain,
        [&](const Box& q) -> std::optional<ClaimValue> {
            for (std::size_t k = 0; k < sets.size(); ++k)
                if (inside(q, sets[k])) return ClaimValue::List{"listed", static_cast<int>(k)};
            return unbalanced_leaf(scope, q);
        },
        [&](const Box& q) { return unbalanced_spread(scope, q); }, -1, sets);
    s.sets = sets;
    CertifiedCondition& complete = s.conditions[1];
    complete.certified = tree.has_value();
    if (tree)
        complete.claims.emplace_back(ClaimValue::Record{{"kind", "equilibria"}, {"tree", std::move(*tree)}});
    else
        complete.why = "equilibria outside of the boxes are not excluded by plain enclosures";
    return s;
}

}  // namespace saltus::stability
