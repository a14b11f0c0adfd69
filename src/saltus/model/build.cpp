// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/build.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "saltus/base/numbers.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/model/detail/builder.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/systems/detail/joined_system.hpp"

namespace saltus::model {

using expr::Derivative;
using expr::Expr;

namespace {

constexpr expr::Kinds of_position = expr::time | expr::position;
constexpr expr::Kinds of_state = expr::time | expr::position | expr::velocity;

std::string in_quotes(const std::string& name) { return "'" + name + "'"; }

}  // namespace

std::shared_ptr<const Settings> no_settings() {
    static const auto none = std::make_shared<const Settings>();
    return none;
}

Model build(const Description& description, const BuildOptions& options) {
    return Builder(description, options).build();
}

Builder::Builder(const Description& description, const BuildOptions& options) : d_(description), options_(options) {
    f_.t = f_.graph.symbol("t", expr::time);
    f_.T = f_.U = f_.R = f_.graph.constant(0.0);
}

Model Builder::build() {
    model_.name = d_.name.empty() ? d_.file : d_.name;
    if (d_.q.empty() && !d_.points)
        throw Error("the model has no coordinates", {d_.file, 0, 0}, "give [system] q and T, or [points]");
    declare_coordinates();
    has_points_ = d_.points.has_value();
    declare_parameters();
    declare_definitions();
    add_points();
    check_definitions();
    f_.coordinates = static_cast<int>(model_.coordinates.size());
    add_energies();
    add_forces();
    add_constraints();
    add_contacts();
    for (std::size_t k = 0; k < d_.constraints.size(); ++k) {
        const ConstraintDescription& c = d_.constraints[k];
        model_.constraints[k].friction =
            friction("constraint " + in_quotes(c.name), c.gammaT, c.mu, {"coulomb", {}}, {}, {}, c.place);
        add_static_friction(model_.constraints[k].friction, c.mu_static, c.mu, "constraint " + in_quotes(c.name));
    }
    add_sliders();
    add_clutches();
    for (const ObstacleDescription& o : d_.obstacles) add_obstacle(o);
    add_penalty();
    add_penalty_damping();
    add_jumps();
    if (!options_.open_loop) add_control();
    add_perturbation();
    add_defaults();
    shift_slip_rows();
    resolve_reactions();
    model_.sampled = sampled_;
    model_.mean_friction = mean_friction_;
    model_.damping_left_out = d_.penalty && d_.penalty->has_damping() && !options_.penalty;
    model_.outputs = make_outputs();
    add_drawing();
    add_regions();
    initial_state(model_);
    refuse_jumps();

    sort_coordinates();
    judge_time();
    regularise_mass();
    for (std::size_t i = 0; i < parameters_.size(); ++i)
        if (!states_[i].used) model_.warnings.push_back("parameter '" + parameters_[i].name + "' is not used");
    for (std::size_t k = 0; k < definition_used_.size(); ++k)
        if (definition_used_[k] == 0)
            model_.warnings.push_back("'" + settings_.definitions[k].name + "' of [let] is not used");
    make_system();
    check_coefficients(model_);
    check_start();
    model_.settings = std::make_shared<const Settings>(std::move(settings_));
    return std::move(model_);
}

/// Sorts the coordinates of the formulas. Coordinates of points were added in the order in which expressions mention
/// them, but the columns of a Pattern must ascend.
void Builder::sort_coordinates() {
    std::vector<std::size_t> order(f_.q.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return f_.index[a] < f_.index[b]; });
    const auto sorted = [&](auto& v) {
        auto copy = v;
        for (std::size_t i = 0; i < order.size(); ++i) v[i] = copy[order[i]];
    };
    sorted(f_.q), sorted(f_.u), sorted(f_.f), sorted(f_.index);
}

/// Sets `scleronomic` and `autonomous`.
void Builder::judge_time() {
    std::vector<Expr> kinematics = f_.slips;
    kinematics.insert(kinematics.end(), {f_.T});
    for (const auto* list : {&f_.constraints, &f_.gaps})
        kinematics.insert(kinematics.end(), list->begin(), list->end());
    std::vector<Expr> forces = f_.f;
    forces.insert(forces.end(), {f_.U, f_.R});
    forces.insert(forces.end(), f_.coefficients.begin(), f_.coefficients.end());
    for (const PointFormulas::Obstacle& o : points_.obstacles) kinematics.push_back(o.offset);
    for (const PointFormulas::Volume& v : points_.volumes) kinematics.push_back(v.eta);
    for (const PointFormulas::SpringGroup& g : points_.groups) forces.insert(forces.end(), {g.k, g.rest});
    for (const Expr e : kinematics) model_.scleronomic = model_.scleronomic && !depends_on_time(e);
    model_.autonomous = model_.scleronomic;
    for (const Expr e : forces) model_.autonomous = model_.autonomous && !depends_on_time(e);
    if (sampled_) model_.autonomous = false;  // the times of the samples are fixed
}

void Builder::make_system() {
    model_.p = p_;
    if (has_points_) {
        points_.t = f_.t;
        points_.p = f_.p;
        points_.first_coordinate = static_cast<int>(d_.q.size());
        points_.coordinates = f_.coordinates;
        if (f_.q.empty()) {
            points_.coefficients = f_.coefficients;
            points_.graph = std::move(f_.graph);
            model_.system = std::make_shared<PointSystem>(std::move(points_));
        } else {
            points_.graph = f_.graph;
            auto own = std::make_shared<ExpressionSystem>(std::move(f_));
            model_.system =
                std::make_shared<JoinedSystem>(std::move(own), std::make_shared<PointSystem>(std::move(points_)));
        }
    } else {
        model_.system = std::make_shared<ExpressionSystem>(std::move(f_));
    }
}

void Builder::check_start() {
    InitialPlaces places;
    const Place file{d_.file, 0, 0};
    const Place points = has_points_ ? d_.points->place : file;
    places.initial = d_.initial.place.line > 0 ? d_.initial.place : points;
    places.mass = d_.T.given ? d_.T.place() : points;
    places.remedy = d_.q.empty() ? "change [points] or the obstacle's offset, or let --project-initial repair it"
                                 : "change [initial], or let --project-initial repair it";
    if (options_.project_initial) {
        project_initial(model_);
        places.remedy =
            "no admissible state was found near it: give one that is closer, or check whether the constraints agree";
    }
    verify_initial(model_, places);
}

// --- energies and forces -------------------------------------------------------------------------------------

void Builder::add_energies() {
    if (!d_.q.empty() && !d_.T.given) throw Error("the kinetic energy is missing", {d_.file, 0, 0}, "give [system] T");
    if (d_.T.given) {
        f_.T = parse(d_.T, "the kinetic energy T", of_state);
        require_quadratic(f_.T);
        warn_of_kinks(f_.T, "the kinetic energy T");
    }
    if (d_.U.given) {
        f_.U = parse(d_.U, "the potential energy U", of_position);
        warn_of_kinks(f_.U, "the potential energy U");
    }
    if (d_.R.given) f_.R = parse(d_.R, "the dissipation R", of_state);
}

/// Checks that T = ½uᵀMu + bᵀu + T₀ with M, b, T₀ independent of u, that is, ∂³T/∂u³ = 0. The message names the
/// offending term. The mass of points is given elsewhere, so T must not contain their velocities.
void Builder::require_quadratic(Expr T) {
    expr::Graph& g = f_.graph;
    const auto symbols = std::make_shared<expr::SymbolSets>(g);
    for (const auto& [index, local] : point_coordinate_) {
        if (!g.is_zero(Derivative(g, f_.u[local], symbols)(T)))
            throw Error("the kinetic energy T contains the velocity of a mass point, " +
                            model_.coordinates[static_cast<std::size_t>(index)] + "'",
                        d_.T.place(), "points have their mass in [points]");
    }
    const auto quadratic = [&](Expr e) {
        for (const Expr u : f_.u) {
            if (!symbols->may_depend_on(e, u)) continue;
            const Expr p = Derivative(g, u, symbols)(e);
            if (g.is_zero(p)) continue;
            for (const Expr v : f_.u)
                if (symbols->may_depend_on(p, v) && g.depends_on(Derivative(g, v, symbols)(p), expr::velocity))
                    return false;
        }
        return true;
    };
    if (quadratic(T)) return;
    for (const Expr term : expr::terms(g, T, expr::Products::expand))
        if (!quadratic(term))
            throw Error("the kinetic energy T is not quadratic in the velocities: term " + expr::to_string(g, term),
                        d_.T.place(),
                        "allowed are products of at most two velocities with factors of coordinates and t");
}

void Builder::add_forces() {
    for (const Entry& e : d_.f) {
        const int c = coordinate_of(e.name, "[system] f", e.place);
        const Expr force = parse(e.value, "the force f on " + in_quotes(e.name), of_state);
        Expr& f = f_.f[local_coordinate(c)];
        f = f_.graph.add(f, force);
    }
}

bool Builder::depends_on_time(Expr e) {
    if (!f_.graph.depends_on(e, expr::time)) return false;
    // Insert the values of the parameters: an amplitude of 0, as in 0*cos(b*t), removes the dependence.
    std::vector<std::pair<Expr, Expr>> values;
    for (std::size_t i = 0; i < f_.p.size(); ++i) values.emplace_back(f_.p[i], f_.graph.constant(p_[i]));
    return f_.graph.depends_on(expr::Substitution(f_.graph, values)(e), expr::time);
}

void Builder::warn_of_kinks(Expr e, const std::string& what) {
    const std::vector<std::string> names = expr::kinks(f_.graph, e, of_state);
    if (!names.empty())
        model_.warnings.push_back(what + " uses " + listing(names) +
                                  ": it is differentiated piecewise and has no second derivative at the kink");
}

// --- rows ----------------------------------------------------------------------------------------------------

void Builder::new_row_name(const std::string& name, const std::string& what, const Place& place) {
    if (name.empty()) throw Error("the " + what + " has no name", place, "add name = \"...\"");
    const auto [at, fresh] = row_names_.emplace(name, what);
    if (!fresh)
        throw Error(
            "the name '" + name + "' is used twice (" + at->second + (at->second == what ? ")" : ", " + what + ")"),
            place, "choose another name");
}

void Builder::add_constraints() {
    for (const ConstraintDescription& c : d_.constraints) {
        new_row_name(c.name, "constraint", c.place);
        if (c.g.given && c.gamma.given)
            throw Error("constraint '" + c.name + "' has both g and gamma", c.gamma.place(),
                        "give g, a function of the coordinates, or gamma, a velocity");
        if (!c.g.given && !c.gamma.given)
            throw Error("constraint '" + c.name + "' has no g", c.place,
                        "add g = \"...\", which must be 0, or gamma = \"...\", a velocity that must be 0");
        Constraint constraint;
        constraint.name = c.name;
        constraint.row = static_cast<int>(f_.constraints.size());
        constraint.on_velocity = c.gamma.given;
        const Expr e = c.gamma.given ? slip(c.gamma, "gamma of constraint " + in_quotes(c.name))
                                     : parse(c.g, "g of constraint " + in_quotes(c.name), of_position);
        if (c.g.given && !f_.graph.depends_on(e, expr::position))
            throw Error("constraint '" + c.name + "' does not depend on any coordinate", c.g.place(),
                        "g must be a function of the coordinates that stays 0; a velocity that stays 0 is gamma");
        warn_of_kinks(e, "constraint '" + c.name + "'");
        f_.constraints.push_back(e);
        f_.velocity_constraints.push_back(c.gamma.given ? 1 : 0);
        model_.constraints.push_back(std::move(constraint));
    }
    for (std::size_t k = 0; k < d_.volumes.size(); ++k) add_volume(d_.volumes[k], k);
}

void Builder::add_contacts() {
    for (const ContactDescription& c : d_.contacts) {
        new_row_name(c.name, "contact", c.place);
        const std::string owner = "contact " + in_quotes(c.name);
        if (!c.gN.given) throw Error(owner + " has no gap", c.place, "add gN = \"...\", >= 0 where open");
        const Expr gap = parse(c.gN, "the gap gN of " + in_quotes(c.name), of_position);
        if (!f_.graph.depends_on(gap, expr::position))
            throw Error("the gap of " + owner + " does not depend on any coordinate", c.gN.place(),
                        "gN must be a distance that the coordinates change");
        warn_of_kinks(gap, "the gap of " + owner);
        Contact contact;
        contact.name = c.name;
        contact.row = static_cast<int>(model_.constraints.size() + f_.gaps.size());
        f_.gaps.push_back(gap);
        contact.friction = friction(owner, c.gammaT, c.mu, c.friction, c.radius, c.radii, c.place);
        add_static_friction(contact.friction, c.mu_static, c.mu, owner);
        contact_laws(contact, c.eN, c.eT, c.c, c.impact, owner);
        if (c.condition.given) contact.condition = condition(c.condition, owner);
        model_.contacts.push_back(std::move(contact));
    }
}

/// The condition of a contact: an inequality a < b becomes the coefficient b − a, which is positive while the contact
/// exists.
Coefficient Builder::condition(const Field& field, const std::string& owner) {
    const std::string what = "the condition `if` of " + owner;
    const Expr e = expr::parse_condition(f_.graph, field.source, scope(what, of_state));
    const expr::Node node = f_.graph[e];
    if (node.op != expr::Op::less && node.op != expr::Op::less_equal)
        throw Error(what + " is not an inequality: " + field.source.text, field.place(),
                    "write one such as \"x > 0\"; min and max join several");
    if (!f_.graph.depends_on(e, of_state))
        throw Error(what + " does not depend on time, coordinates or velocities: " + field.source.text, field.place(),
                    "remove it, or remove the " + owner.substr(0, owner.find(' ')));
    const Expr slack = f_.graph.sub(node.b, node.a);
    return coefficient(slack, what, -infinity, infinity, "must be finite", field.place());
}

void Builder::contact_laws(Contact& contact, const Field& eN, const Field& eT, const Field& c, const Choice& impact,
                           const std::string& owner) {
    static const std::vector<std::string> laws{"newton", "poisson", "energy"};
    const auto found = std::find(laws.begin(), laws.end(), impact.word);
    if (found == laws.end())
        throw Error(
            "unknown impact law '" + impact.word + "' of " + owner, impact.place,
            "allowed are " + listing(laws) +
                (nearest(impact.word, laws).empty() ? "" : "; did you mean '" + nearest(impact.word, laws) + "'?"));
    contact.impact = static_cast<ImpactLaw>(found - laws.begin());
    if (c.given && contact.impact != ImpactLaw::energy)
        throw Error("c of " + owner + " belongs to impact = \"energy\"", c.place(),
                    "set impact = \"energy\", or give eN instead of c");
    if (c.given && eN.given) throw Error(owner + " has both eN and c", c.place(), "give eN, or c for e = 1 - c*v");
    if (eN.given) contact.e_n = restitution(eN, "eN of " + owner, 0.0);
    if (eT.given) contact.e_t = restitution(eT, "eT of " + owner, -1.0);
    if (c.given) contact.c = magnitude(c, "c of " + owner, Zero::allowed);
}

void Builder::add_sliders() {
    std::size_t number = 0;
    for (const SliderDescription& s : d_.sliders) {
        ++number;
        Slider slider;
        slider.name =
            s.name.empty() ? (d_.sliders.size() == 1 ? "slider" : "slider " + std::to_string(number)) : s.name;
        new_row_name(slider.name, "slider", s.place);
        const std::string owner = "slider " + in_quotes(slider.name);
        if (s.gammaT.empty()) throw Error(owner + " has no gammaT", s.place, "add its slip velocity gammaT = \"...\"");
        if (s.mu.empty()) throw Error(owner + " has no mu", s.place, "add mu");
        if (!s.FN.given) throw Error(owner + " has no normal force FN", s.place, "add FN = \"...\"");
        slider.friction = friction(owner, s.gammaT, s.mu, {"coulomb", {}}, {}, {}, s.place);
        add_static_friction(slider.friction, s.mu_static, s.mu, owner);
        slider.normal_force =
            coefficient(parse_load(s.FN, "the normal force FN of " + in_quotes(slider.name), of_state),
                        "FN of " + owner, 0.0, infinity, "must be >= 0", s.FN.place());
        if (s.eT.given) slider.e_t = restitution(s.eT, "eT of " + owner, -1.0);
        model_.sliders.push_back(std::move(slider));
    }
}

void Builder::add_clutches() {
    std::size_t number = 0;
    for (const ClutchDescription& c : d_.clutches) {
        ++number;
        Clutch clutch;
        clutch.name =
            c.name.empty() ? (d_.clutches.size() == 1 ? "clutch" : "clutch " + std::to_string(number)) : c.name;
        new_row_name(clutch.name, "clutch", c.place);
        if (!c.gamma.given)
            throw Error("clutch '" + clutch.name + "' has no gamma", c.place, "add gamma = \"...\", which stays >= 0");
        clutch.row = static_cast<int>(f_.slips.size());  // counted from the first slip, see shift_slip_rows
        f_.slips.push_back(slip(c.gamma, "gamma of clutch " + in_quotes(clutch.name)));
        model_.clutches.push_back(std::move(clutch));
    }
}

/// Reads a slip velocity, which must be affine in u.
Expr Builder::slip(const Field& field, const std::string& what) {
    expr::Graph& g = f_.graph;
    const Expr e = parse(field, what, of_state);
    const auto symbols = std::make_shared<expr::SymbolSets>(g);
    const auto affine = [&](Expr x) {
        return std::all_of(f_.u.begin(), f_.u.end(), [&](Expr u) {
            return !symbols->may_depend_on(x, u) || !g.depends_on(Derivative(g, u, symbols)(x), expr::velocity);
        });
    };
    if (!affine(e)) {
        for (const Expr term : expr::terms(g, e, expr::Products::expand))
            if (!affine(term))
                throw Error(what + " is not affine in the velocities: term " + expr::to_string(g, term), field.place(),
                            "velocities may appear to the first power only, not inside functions");
    }
    if (!g.depends_on(e, expr::velocity))
        throw Error(what + " does not depend on any velocity", field.place(),
                    "a velocity is written x' for coordinate x");
    return e;
}

/// Without slip velocities there is no friction: refuses everything that belongs to friction, except mu = 0.
void Builder::refuse_friction_without_slip(const std::string& owner, const std::vector<Field>& mu, const Choice& law,
                                           const Field& radius, const std::vector<Field>& radii, const Place& place) {
    for (const Field& m : mu) {
        const Coefficient k = friction_coefficient(m, owner);
        if (!f_.graph.is_zero(f_.coefficients[static_cast<std::size_t>(k)]))
            throw Error(owner + " has mu but no slip velocity", m.place(), "add gammaT = \"...\"");
    }
    if (law.word != "coulomb")
        throw Error(owner + " has friction = \"" + law.word + "\" but no gammaT", place, "add gammaT = [...]");
    if (radius.given)
        throw Error("radius of " + owner + " belongs to friction = \"contensou\"", radius.place(),
                    "add gammaT and friction, or remove it");
    if (!radii.empty())
        throw Error("radii of " + owner + " belong to friction = \"rolling\"", radii[0].place(),
                    "add gammaT and friction, or remove them");
}

/// The friction law for `slips` > 0 slip velocities, after checking that the numbers of slip velocities, coefficients
/// and radii fit together.
FrictionLaw Builder::friction_law(const std::string& owner, std::size_t slips, const std::vector<Field>& mu,
                                  const Choice& law, const Field& radius, const std::vector<Field>& radii,
                                  const Place& place, const Place& slip_place) {
    const bool contensou = law.word == "contensou", rolling = law.word == "rolling";
    const std::string components = "gammaT of " + owner + " has " + counted(slips, "component");
    if (contensou && slips != 3)
        throw Error(components, slip_place, "friction = \"contensou\" takes 3: two of sliding, then drilling");
    if (rolling && slips != 5)
        throw Error(components, slip_place, "friction = \"rolling\" takes 5: two of sliding, drilling, two of rolling");
    if (!contensou && !rolling && slips > 2)
        throw Error(components, slip_place,
                    "coulomb friction takes 1 (planar) or 2 (spatial); 3 need friction = \"contensou\", 5 \"rolling\"");
    if (mu.size() == 2 && (contensou || rolling))
        throw Error("mu of " + owner + " has 2 values", mu[0].place(),
                    "orthotropic friction is coulomb with two slip directions; give one");
    if (mu.size() > 2 || (mu.size() == 2 && slips < 2))
        throw Error("mu of " + owner + " has " + counted(mu.size(), "value"), mu[0].place(),
                    "give one, or two (orthotropic) with two slip directions");
    if (contensou != radius.given)
        throw Error(
            contensou ? owner + " has friction = \"contensou\" but no radius"
                      : "radius of " + owner + " belongs to friction = \"contensou\"",
            contensou ? place : radius.place(),
            contensou ? "add radius = ..., of the contact patch" : "set friction = \"contensou\", or remove it");
    if (rolling != !radii.empty())
        throw Error(rolling ? owner + " has friction = \"rolling\" but no radii"
                            : "radii of " + owner + " belong to friction = \"rolling\"",
                    rolling ? place : radii[0].place(),
                    rolling ? "add radii = [drilling, rolling]" : "set friction = \"rolling\", or remove them");
    if (rolling && radii.size() != 2)
        throw Error("radii of " + owner + " has " + counted(radii.size(), "value"), radii[0].place(),
                    "give two, [drilling, rolling]");
    if (contensou) return FrictionLaw::contensou;
    if (rolling) return FrictionLaw::rolling;
    return mu.size() == 2 ? FrictionLaw::orthotropic : FrictionLaw::coulomb;
}

/// The friction of an element, with its slip rows and coefficients.
Friction Builder::friction(const std::string& owner, const std::vector<Field>& gammaT, const std::vector<Field>& mu,
                           const Choice& law, const Field& radius, const std::vector<Field>& radii,
                           const Place& place) {
    static const std::vector<std::string> laws{"coulomb", "contensou", "rolling"};
    if (std::find(laws.begin(), laws.end(), law.word) == laws.end())
        throw Error("unknown friction law '" + law.word + "' of " + owner, law.place,
                    "allowed are " + listing(laws) +
                        (nearest(law.word, laws).empty() ? "" : "; did you mean '" + nearest(law.word, laws) + "'?"));
    const std::size_t n = gammaT.size();
    Friction result;
    if (n == 0) {
        refuse_friction_without_slip(owner, mu, law, radius, radii, place);
        return result;
    }
    result.law = friction_law(owner, n, mu, law, radius, radii, place, gammaT[0].place());
    result.first_row = static_cast<int>(f_.slips.size());  // counted from the first slip, see shift_slip_rows
    result.dimension = static_cast<int>(n);
    for (std::size_t k = 0; k < n; ++k)
        f_.slips.push_back(slip(
            gammaT[k], "the slip velocity gammaT" + (n > 1 ? "[" + std::to_string(k) + "]" : "") + " of " + owner));
    for (std::size_t k = 0; k < mu.size(); ++k) result.mu[k] = friction_coefficient(mu[k], owner);
    if (mu.empty())
        result.mu[0] = coefficient(f_.graph.constant(0.0), "mu of " + owner, 0.0, infinity, "must be >= 0", place);
    if (result.law == FrictionLaw::contensou) result.radius[0] = magnitude(radius, "radius of " + owner, Zero::refused);
    for (std::size_t k = 0; k < radii.size(); ++k)
        result.radius[k] = magnitude(radii[k], "radii of " + owner, Zero::refused);
    return result;
}

/// The coefficient up to which stick holds. It must not be smaller than μ: otherwise friction at rest could neither
/// hold nor slip under a force between the two bounds. Both depend on parameters only, so that one comparison decides.
void Builder::add_static_friction(Friction& friction, const Field& mu_static, const std::vector<Field>& mu,
                                  const std::string& owner) {
    if (!mu_static.given) return;
    const std::string what = "mu_static of " + owner;
    if (!friction.present())
        throw Error(owner + " has mu_static but no slip velocity", mu_static.place(), "add gammaT");
    if (friction.law != FrictionLaw::coulomb)
        throw Error(what + " belongs to Coulomb friction with one mu", mu_static.place(),
                    "remove it: orthotropic, contensou and rolling friction hold up to mu");
    if (mu.empty())
        throw Error(owner + " has mu_static but no mu", mu_static.place(), "add mu, the coefficient of slip");
    const Expr slip = f_.coefficients[static_cast<std::size_t>(friction.mu[0])];
    if (f_.graph.depends_on(slip, of_state))
        throw Error(owner + " has mu_static and a mu that depends on time, coordinates or velocities", mu[0].place(),
                    "give mu as a function of parameters, or remove mu_static");
    const double lowest = value_of(slip);
    friction.mu_static = coefficient(parse(mu_static, what, 0), what, lowest, infinity,
                                     "must be >= mu = " + number_text(lowest), mu_static.place());
}

// --- coefficients --------------------------------------------------------------------------------------------

/// Adds a coefficient with the range that it must have at the initial state.
Coefficient Builder::coefficient(Expr e, const std::string& what, double lowest, double highest,
                                 const std::string& range, const Place& place) {
    f_.coefficients.push_back(e);
    coefficient_checks_.push_back({what, range, lowest, highest, place});
    return static_cast<Coefficient>(f_.coefficients.size() - 1);
}

Coefficient Builder::restitution(const Field& field, const std::string& what, double lowest) {
    return coefficient(parse(field, what, 0), what, lowest, 1.0,
                       lowest < 0.0 ? "must lie in [-1, 1]" : "must lie in [0, 1]", field.place());
}

Coefficient Builder::friction_coefficient(const Field& field, const std::string& owner) {
    return coefficient(parse(field, "mu of " + owner, of_state), "mu of " + owner, 0.0, infinity, "must be >= 0",
                       field.place());
}

/// A coefficient of parameters that is >= 0, or > 0.
Coefficient Builder::magnitude(const Field& field, const std::string& what, Zero zero) {
    const bool allowed = zero == Zero::allowed;
    return coefficient(parse(field, what, 0), what, allowed ? 0.0 : std::numeric_limits<double>::denorm_min(), infinity,
                       allowed ? "must be >= 0" : "must be > 0", field.place());
}

void Builder::check_coefficients(const Model& model) {
    Workspace workspace(model);
    std::vector<double> values(static_cast<std::size_t>(model.layout().coefficients));
    model.system->coefficients(at(model, 0.0, model.q0, model.u0), workspace.scratch(), values);
    for (std::size_t k = 0; k < values.size(); ++k) {
        const CoefficientCheck& check = coefficient_checks_[k];
        if (check.range.empty()) continue;  // checked elsewhere
        if (std::isfinite(values[k]) && values[k] >= check.lowest && values[k] <= check.highest) continue;
        throw Error(check.what + " is " + number_text(values[k]) + ", it " +
                        (std::isfinite(values[k]) ? check.range : "must be finite"),
                    check.place, "change it, or the parameters in it");
    }
}

/// k or d of a contact in [penalty]. Its expression may mention `depth` = −g_N and `rate` = −γ_N; they stand for
/// expressions of the state:
///     γ_N = ∂g/∂t + Σ ∂g/∂q_i u_i.
/// Outside of the contact the value is not used, and it may not exist there (the square root of a negative depth). So
/// it is checked at small depths instead of the initial state.
Coefficient Builder::penalty_coefficient(const Field& field, const std::string& what, Zero zero,
                                         const Contact& contact) {
    expr::Graph& g = f_.graph;
    const std::size_t own_gap = static_cast<std::size_t>(contact.row) - model_.constraints.size();
    const bool formula = own_gap < f_.gaps.size();  // contacts of obstacles have no formula of their gap
    const Expr depth = g.symbol("depth", expr::auxiliary), rate = g.symbol("rate", expr::auxiliary);
    for (const auto& [name, symbol] : {std::pair{"depth", depth}, std::pair{"rate", rate}})
        if (!parameter_index_.contains(name)) local_names_[name] = symbol;
    const Expr law = parse(field, what, 0);
    const bool constant = !g.depends_on(law, expr::auxiliary);
    const Coefficient shared = constant ? magnitude(field, what, zero) : no_coefficient;
    local_names_.clear();
    if (constant) return shared;
    if (!formula || has_points_)
        throw Error(what + " depends on the depth, which is not possible in a model with mass points", field.place(),
                    "give a constant");
    const expr::Tape tape(g, std::array{law}, f_.p, std::array{depth, rate});
    std::vector<double> scratch(tape.slot_count());
    tape.prepare<double>(p_, scratch);
    for (const double d : {1e-9, 1e-6, 1e-3})  // depths in m at which a contact force acts
        for (const double r : {0.0, 1.0, -1.0}) {
            double value = 0.0;
            tape.evaluate<double>(std::array{d, r}, scratch, {&value, 1});
            if (!std::isfinite(value) || value < 0.0 || (zero == Zero::refused && r == 0.0 && !(value > 0.0)))
                throw Error(what + " is " + number_text(value) + " at depth " + number_text(d) + " and rate " +
                                number_text(r) + ", it must be " +
                                (std::isfinite(value) ? (zero == Zero::refused ? "> 0" : ">= 0") : "finite"),
                            field.place(), "write a law that is defined for depth > 0");
        }
    const Expr gap = f_.gaps[own_gap];
    const auto symbols = std::make_shared<expr::SymbolSets>(g);
    Expr velocity = Derivative(g, f_.t, symbols)(gap);
    for (std::size_t i = 0; i < f_.q.size(); ++i)
        velocity = g.add(velocity, g.mul(Derivative(g, f_.q[i], symbols)(gap), f_.u[i]));
    const std::vector<std::pair<Expr, Expr>> values{{depth, g.neg(gap)}, {rate, g.neg(velocity)}};
    return coefficient(expr::Substitution(g, values)(law), what, -infinity, infinity, "", field.place());
}

void Builder::add_penalty() {
    if (!d_.penalty) return;
    const PenaltyDescription& p = *d_.penalty;
    std::vector<std::string> names;
    for (const ContactDescription& c : d_.contacts) names.push_back(c.name);
    for (const ObstacleDescription& o : d_.obstacles) names.push_back(o.name);
    // The name of an obstacle stands for all of its contacts. These come after the other contacts, obstacle by
    // obstacle.
    const auto contacts_of = [&](const std::string& name) {
        const auto k = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
        const std::size_t own = d_.contacts.size(), n = static_cast<std::size_t>(point_count_);
        return k < own ? std::pair(k, k + 1) : std::pair(own + (k - own) * n, own + (k - own + 1) * n);
    };
    // A constant is one coefficient for all contacts. A function of the depth is another one for each contact.
    const auto coefficient_of = [&](Coefficient c) { return f_.coefficients[static_cast<std::size_t>(c)]; };
    const auto assign = [&](const Field& common, const std::vector<Entry>& each, const std::string& what, Zero zero,
                            Coefficient Contact::*member) {
        const auto give = [&](const Field& field, const std::string& name, std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                Contact& c = model_.contacts[i];
                const bool same = i > first && !f_.graph.depends_on(coefficient_of(model_.contacts[first].*member),
                                                                    expr::position | expr::velocity);
                c.*member = same ? model_.contacts[first].*member : penalty_coefficient(field, name, zero, c);
            }
        };
        if (common.given) give(common, what + " in [penalty]", 0, model_.contacts.size());
        for (const Entry& e : each) {
            if (std::find(names.begin(), names.end(), e.name) == names.end())
                throw Error("unknown contact '" + e.name + "' in [penalty] " + what, e.place,
                            did_you_mean(e.name, names));
            const auto [first, last] = contacts_of(e.name);
            give(e.value, what + " of contact '" + e.name + "' in [penalty]", first, last);
        }
    };
    if (!p.k.given && p.k_of.empty()) throw Error("[penalty] has no stiffness", p.place, "add k");
    assign(p.k, p.k_of, "k", Zero::refused, &Contact::penalty_k);
    assign(p.d, p.d_of, "d", Zero::allowed, &Contact::penalty_d);
}

/// A matrix of damping over all coordinates of the description. It must be symmetric and positive semidefinite.
std::vector<std::vector<Expr>> Builder::damping_matrix(const Gain& gain, const std::string& what, const Place& place) {
    const std::size_t n = d_.q.size();
    std::vector<std::vector<Expr>> D = square_matrix(gain, what, n, counted(n, "coordinate"), place);
    Matrix values(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            values(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = value_of(D[i][j]);
    if (values != values.transpose()) throw Error(what + " is not symmetric", place, "make it symmetric");
    // Eigenvalues have rounding errors of about n ε ‖D‖.
    const double rounding = 16.0 * static_cast<double>(n) * std::numeric_limits<double>::epsilon() * values.norm();
    if (symmetric_spectrum(values).smallest < -rounding)
        throw Error(what + " is not positive semidefinite: it would create energy", place, "change its entries");
    return D;
}

/// Damping that differs in and out of contact, [Tornambe] Remark 12: R = Σ R_i with
///     R_i = ½ uᵀD_i u if g_Ni > 0,   ½ uᵀD̂_i u if g_Ni <= 0.
/// It belongs to the penalty method: contacts that are rigid have an impact law instead.
void Builder::add_penalty_damping() {
    if (!d_.penalty || !d_.penalty->has_damping()) return;
    const PenaltyDescription& p = *d_.penalty;
    if (has_points_)
        throw Error("D and D_hat of [penalty] are not possible with mass points", p.place,
                    "damp the springs instead: c of [[springs]]");
    if ((p.D.given() || p.D_hat.given()) && d_.contacts.size() != 1)
        throw Error("D and D_hat of [penalty] belong to one contact each, but the model has " +
                        std::to_string(d_.contacts.size()),
                    p.place, "give them by contact: D_hat = { name = ... }");
    expr::Graph& g = f_.graph;
    std::vector<std::string> names;
    for (const ContactDescription& c : d_.contacts) names.push_back(c.name);
    std::vector<std::array<Expr, 2>> dissipation(names.size(), {g.constant(0.0), g.constant(0.0)});
    const auto add = [&](std::size_t contact, std::size_t side, const Gain& gain, const std::string& what,
                         const Place& place) {
        const std::vector<std::vector<Expr>> D = damping_matrix(gain, what, place);
        Expr& R = dissipation[contact][side];
        for (std::size_t i = 0; i < D.size(); ++i)
            for (std::size_t j = 0; j < D.size(); ++j)
                R = g.add(R, g.mul(g.mul(g.constant(0.5), D[i][j]), g.mul(f_.u[i], f_.u[j])));
    };
    const std::pair<const Gain*, const char*> common[] = {{&p.D, "D"}, {&p.D_hat, "D_hat"}};
    for (std::size_t side = 0; side < 2; ++side)
        if (common[side].first->given())
            add(0, side, *common[side].first, std::string(common[side].second) + " in [penalty]", p.place);
    const std::pair<const std::vector<ContactMatrix>*, const char*> each[] = {{&p.D_of, "D"}, {&p.D_hat_of, "D_hat"}};
    for (std::size_t side = 0; side < 2; ++side)
        for (const ContactMatrix& m : *each[side].first) {
            const auto at = std::find(names.begin(), names.end(), m.contact);
            if (at == names.end())
                throw Error("unknown contact '" + m.contact + "' in [penalty] " + each[side].second, m.place,
                            did_you_mean(m.contact, names));
            add(static_cast<std::size_t>(at - names.begin()), side, m.matrix,
                std::string(each[side].second) + " of contact '" + m.contact + "' in [penalty]", m.place);
        }
    if (!options_.penalty) return;  // checked, but without effect
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::size_t own_gap = static_cast<std::size_t>(model_.contacts[i].row) - model_.constraints.size();
        const Expr open = g.binary(expr::Op::less, g.constant(0.0), f_.gaps[own_gap]);
        f_.R =
            g.add(f_.R, dissipation[i][0] == dissipation[i][1] ? dissipation[i][0]
                                                               : g.select(open, dissipation[i][0], dissipation[i][1]));
    }
}

void Builder::add_defaults() {
    const SimulateDescription& s = d_.simulate;
    static const std::vector<std::string> methods{"event", "moreau", "penalty"};
    if (std::find(methods.begin(), methods.end(), s.method.word) == methods.end())
        throw Error("unknown method '" + s.method.word + "' in [simulate]", s.method.place,
                    "allowed are " + listing(methods));
    settings_.simulate.method = s.method.word;
    const auto take = [&](const Field& field, const std::string& what, std::optional<double>& to) {
        if (!field.given) return;
        to = number(field, what + " in [simulate]");
        if (!(*to > 0.0))
            throw Error(what + " in [simulate] is " + number_text(*to) + ", it must be > 0", field.place());
    };
    take(s.t_end, "t_end", settings_.simulate.t_end);
    take(s.h, "h", settings_.simulate.h);
    take(s.rtol, "rtol", settings_.simulate.rtol);
    take(s.atol, "atol", settings_.simulate.atol);
}

/// Slip rows were counted from the first slip. Now the number of constraints and contacts is known, and they get their
/// place among all rows.
void Builder::shift_slip_rows() {
    const int first = static_cast<int>(model_.constraints.size() + model_.contacts.size());
    for (Contact& c : model_.contacts) c.friction.first_row += first;
    for (Constraint& c : model_.constraints) c.friction.first_row += first;
    for (Slider& c : model_.sliders) c.friction.first_row += first;
    for (Clutch& c : model_.clutches) c.row += first;
}

/// The region of [certify]: each inequality a < b becomes the slack b − a, which is positive inside.
void Builder::add_regions() {
    for (const Field& field : d_.certify.region) {
        const std::string what = "the region in [certify]";
        if (has_points_ && d_.q.empty())
            throw Error(what + " belongs to a model with [system] q", field.place(), "remove it");
        const Expr condition =
            expr::parse_condition(f_.graph, field.source, scope(what, expr::position | expr::velocity));
        const expr::Node node = f_.graph[condition];
        if (node.op != expr::Op::less && node.op != expr::Op::less_equal)
            throw Error(what + " is not an inequality: " + field.source.text, field.place(),
                        "write one such as \"abs(phi) < 1.2\", several as a list");
        if (!f_.graph.depends_on(condition, expr::position | expr::velocity))
            throw Error(what + " does not depend on any coordinate or velocity: " + field.source.text, field.place(),
                        "write one such as \"abs(phi) < 1.2\"");
        // |x| < b becomes two slacks b − x and b + x, because abs has a kink.
        const expr::Node left = f_.graph[node.a];
        const Expr inner = left.op == expr::Op::abs ? left.a : node.a;
        f_.regions.push_back(f_.graph.sub(node.b, inner));
        if (left.op == expr::Op::abs) f_.regions.push_back(f_.graph.add(node.b, inner));
    }
}

// --- initial state -------------------------------------------------------------------------------------------

/// Initial positions (which = "q") or velocities ("u") of all coordinates, as expressions of parameters.
std::vector<Expr> Builder::initial_values(const std::vector<Entry>& entries, const std::string& which) {
    const bool q = which == "q";
    std::vector<Expr> values(model_.coordinates.size(), f_.graph.constant(0.0));
    if (has_points_)
        for (std::size_t i = 0; i < points_.position.size(); ++i)
            values[d_.q.size() + i] = f_.graph.constant((q ? points_.position : points_.velocity)[i]);
    for (const Entry& e : entries) {
        const int c = coordinate_of(e.name, "[initial] " + which, e.place);
        if (has_points_ && c >= static_cast<int>(d_.q.size()))
            throw Error("the initial state of mass point coordinate '" + e.name + "' belongs in [points]", e.place,
                        "use positions, shear and velocity there");
        values[static_cast<std::size_t>(c)] = parse(e.value, "the initial " + which + " of " + in_quotes(e.name), 0);
    }
    // --set replaces initial positions by the name of the coordinate, velocities by its name with a prime.
    for (const auto& [name, text] : options_.set) {
        if (parameter_index_.contains(name) || name.ends_with('\'') == q) continue;
        const std::string coordinate = q ? name : name.substr(0, name.size() - 1);
        const Place place{"--set " + name, 0, 0};
        const Expr value = parse(Field(expr::Source{text, place, {}}), "the initial value of " + in_quotes(name), 0);
        if (!std::isfinite(value_of(value)))
            throw Error("the initial value of " + in_quotes(name) + not_finite_text(value_of(value)), place,
                        "look for a division by zero");
        values[static_cast<std::size_t>(coordinate_of(coordinate, "--set", place))] = value;
    }
    if (d_.perturbation)
        for (const Entry& e : q ? d_.perturbation->initial_q : d_.perturbation->initial_u) {
            Expr& value =
                values[static_cast<std::size_t>(coordinate_of(e.name, "[perturbation] initial " + which, e.place))];
            const Expr offset =
                parse(e.value, "the perturbation of the initial " + which + " of " + in_quotes(e.name), 0);
            if (!std::isfinite(value_of(offset)))
                throw Error("the perturbation of the initial " + which + " of " + in_quotes(e.name) + " is not finite",
                            e.place, "look for a division by zero");
            if (options_.perturbed) value = f_.graph.add(value, offset);
        }
    return values;
}

/// Sets q0, u0 and their derivatives by the independent parameters.
void Builder::initial_state(Model& model) {
    const auto evaluate = [&](const std::vector<Expr>& values, std::vector<double>& to, Matrix& derivative) {
        const std::size_t n = values.size(), np = f_.p.size();
        const expr::Tape tape(f_.graph, values, f_.p, {});
        std::vector<double> scratch(tape.slot_count());
        to.resize(n);
        tape.prepare<double>(p_, scratch);
        tape.evaluate<double>({}, scratch, to);
        derivative = Matrix::Zero(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(np));
        for (std::size_t j = 0; j < np; ++j) {
            Derivative by(f_.graph, f_.p[j]);
            for (std::size_t i = 0; i < n; ++i)
                if (f_.graph.depends_on(values[i], expr::parameter))
                    derivative(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = value_of(by(values[i]));
        }
    };
    evaluate(initial_values(d_.initial.q, "q"), model.q0, model.dq0_dp);
    evaluate(initial_values(d_.initial.u, "u"), model.u0, model.du0_dp);
    for (const auto& [entries, values] : {std::pair{&d_.initial.q, &model.q0}, std::pair{&d_.initial.u, &model.u0}})
        for (const Entry& e : *entries) {
            const double value = (*values)[static_cast<std::size_t>(*find_coordinate(e.name))];
            if (!std::isfinite(value))
                throw Error("the initial value of '" + e.name + "'" + not_finite_text(value), e.place,
                            "look for a division by zero");
        }
}

// --- systems written in C++ ----------------------------------------------------------------------------------

Model from_system(std::shared_ptr<const System> system, std::string name, std::vector<std::string> coordinates,
                  std::vector<double> q0, std::vector<double> u0, std::vector<std::string> constraint_names,
                  std::vector<std::string> contact_names) {
    const Layout& layout = system->layout();
    const auto n = static_cast<std::size_t>(layout.coordinates);
    SALTUS_EXPECT(coordinates.size() == n && q0.size() == n && u0.size() == n);
    SALTUS_EXPECT(static_cast<int>(constraint_names.size()) == layout.constraints);
    SALTUS_EXPECT(static_cast<int>(contact_names.size()) == layout.normals);
    SALTUS_EXPECT(layout.rows.rows == layout.row_count() && layout.mass.rows == layout.coordinates);
    Model model;
    model.name = std::move(name);
    model.coordinates = std::move(coordinates);
    model.q0 = std::move(q0);
    model.u0 = std::move(u0);
    model.p.assign(static_cast<std::size_t>(layout.parameters), 0.0);
    model.system = std::move(system);
    for (int i = 0; i < layout.constraints; ++i) {
        Constraint c;
        c.name = std::move(constraint_names[static_cast<std::size_t>(i)]);
        c.row = i;
        c.on_velocity = layout.velocity_constraint(i);
        model.constraints.push_back(std::move(c));
    }
    for (int i = 0; i < layout.normals; ++i) {
        Contact c;
        c.name = std::move(contact_names[static_cast<std::size_t>(i)]);
        c.row = layout.constraints + i;
        model.contacts.push_back(std::move(c));
    }
    verify_initial(model, {{}, {}, "change the initial state"});
    return model;
}

}  // namespace saltus::model
