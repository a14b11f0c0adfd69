// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/outputs.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/model/systems/detail/expression_system.hpp"
#include "saltus/model/systems/detail/point_system.hpp"

namespace saltus::model {

/// What is wrong with a value that is not finite, for messages: " is not finite: inf", " is not a number".
std::string not_finite_text(double value);

class Outputs;
class SampledLaw;

/// Coordinates of point i are named p<i>.x, .y, .z.
inline constexpr std::string_view point_axes = "xyz";

/// Whether a coefficient may be zero.
enum class Zero { allowed, refused };

/// Turns a description into formulas and a model, with one function for each block of the description. Every function
/// throws Error, with the place in the file, for input that a person has to correct. The functions depend on each
/// other's results; `build` calls them in the right order.
class Builder {
public:
    Builder(const Description& description, const BuildOptions& options);
    Model build();

private:
    using Expr = expr::Expr;

    // names.cpp: names of coordinates and parameters, and expressions that mention them. `what` is the subject of
    // messages, `allowed` the kinds of symbols that may occur.
    void declare_coordinates();
    void declare_filters();
    void declare_holds();
    void declare_state(const std::string& name, const std::string& what, const Place& place);
    void declare_parameters();
    void declare_definitions();
    void check_definitions();
    void resolve_parameter(std::size_t index, std::vector<std::size_t>& path);
    void check_new_name(const std::string& name, const std::string& what, const Place& place) const;
    std::optional<Expr> find(std::string_view name, expr::Kinds allowed);
    std::optional<int> find_coordinate(std::string_view name) const;
    std::vector<std::string> coordinate_names() const;
    int coordinate_of(const std::string& name, const std::string& where, const Place& place) const;
    std::size_t local_coordinate(int index);
    expr::Scope scope(std::string what, expr::Kinds allowed);
    Expr parse(const Field& field, const std::string& what, expr::Kinds allowed);
    double number(const Field& field, const std::string& what);  // an expression of parameters; it must be finite
    double value_of(Expr e);                                     // an expression of parameters

    // build.cpp: the system
    void sort_coordinates();
    void judge_time();
    void make_system();
    void check_start();
    void add_energies();
    void require_quadratic(Expr T);
    void add_forces();
    void add_contacts();
    void add_constraints();
    void add_sliders();
    void add_clutches();
    void add_penalty();
    void add_penalty_damping();
    std::vector<std::vector<Expr>> damping_matrix(const Gain& gain, const std::string& what, const Place& place);
    void add_defaults();
    void shift_slip_rows();
    void add_regions();
    FrictionLaw friction_law(const std::string& owner, std::size_t slips, const std::vector<Field>& mu,
                             const Choice& law, const Field& radius, const std::vector<Field>& radii,
                             const Place& place, const Place& slip_place);
    void refuse_friction_without_slip(const std::string& owner, const std::vector<Field>& mu, const Choice& law,
                                      const Field& radius, const std::vector<Field>& radii, const Place& place);
    Friction friction(const std::string& owner, const std::vector<Field>& gammaT, const std::vector<Field>& mu,
                      const Choice& law, const Field& radius, const std::vector<Field>& radii, const Place& place);
    void add_static_friction(Friction& friction, const Field& mu_static, const std::vector<Field>& mu,
                             const std::string& owner);
    Expr slip(const Field& field, const std::string& what);
    Coefficient coefficient(Expr e, const std::string& what, double lowest, double highest, const std::string& range,
                            const Place& place);
    Coefficient restitution(const Field& field, const std::string& what, double lowest);
    Coefficient friction_coefficient(const Field& field, const std::string& owner);
    Coefficient magnitude(const Field& field, const std::string& what, Zero zero);
    Coefficient penalty_coefficient(const Field& field, const std::string& what, Zero zero, const Contact& contact);
    void contact_laws(Contact& contact, const Field& eN, const Field& eT, const Field& c, const Choice& impact,
                      const std::string& owner);
    Coefficient condition(const Field& field, const std::string& owner);
    void new_row_name(const std::string& name, const std::string& what, const Place& place);
    void initial_state(Model& model);
    std::vector<Expr> initial_values(const std::vector<Entry>& entries, const std::string& which);
    void check_coefficients(const Model& model);
    void warn_of_kinks(Expr e, const std::string& what);
    bool depends_on_time(Expr e);

    // control.cpp, perturbation.cpp
    void add_control();
    std::vector<std::vector<Expr>> gain(const Gain& gain, const std::string& name, std::size_t n);
    std::vector<std::vector<Expr>> square_matrix(const Gain& gain, const std::string& what, std::size_t n,
                                                 const std::string& fits, const Place& place);
    void shape_potential(const ControlDescription& control, std::size_t actuated);
    void describe_loop(const ControlDescription& control, const std::vector<std::vector<Expr>>& Kp,
                       const std::vector<std::vector<Expr>>& Kv, const std::vector<Expr>& reference);
    Expr filter_mass(const ControlDescription& control, Expr bandwidth, Expr Kv);
    Expr bandwidth(const ControlDescription& control);
    std::size_t actuator_of(const Entry& entry, const std::string& what) const;
    std::vector<std::optional<Expr>> saturation_limits(const ControlDescription& control);
    Expr measured_feedforward(const Entry& entry);
    void check_sampling(const ControlDescription& control);
    void add_hold(std::size_t actuator, std::size_t coordinate, Expr force);
    void finish_sampling();
    void add_perturbation();

    // singular_mass.cpp: a mass matrix that only the constraints make regular
    void regularise_mass();

    // reaction_loads.cpp: normal forces of sliders that follow the reactions of constraints
    Expr parse_load(const Field& field, const std::string& what, expr::Kinds allowed);
    void resolve_reactions();
    struct ReactionInFriction;
    void resolve_implicit_load(const std::vector<ReactionInFriction>& implicit);
    bool cancel_everywhere(const std::vector<Expr>& terms);

    // gap_jumps.cpp: gaps and constraints that jump are refused
    std::vector<Expr> admissible_functions();
    void refuse_jumps();
    void refuse_jump(Expr e, const std::string& what, const Place& place);

    // jumps.cpp: resets of the state
    void add_jumps();

    // outputs.cpp
    std::shared_ptr<const Outputs> make_outputs();

    // drawing.cpp
    void add_drawing();
    std::array<double, 4> view_of(const std::vector<Field>& fields);

    // points.cpp
    void add_points();
    void generate_row(const HexahedraRow& row);
    void place_points();
    void set_masses();
    void set_velocities();
    void add_springs(const SpringsDescription& springs, std::size_t number);
    void check_spring_law(Expr e, const std::string& what, const Place& place);
    std::vector<std::pair<int, int>> spring_pairs(const SpringsDescription& springs, const std::string& owner) const;
    void add_volume(const VolumeDescription& volume, std::size_t number);
    void add_obstacle(const ObstacleDescription& obstacle);
    Expr structural(const Field& field, const std::string& what);
    double structural_number(const Field& field, const std::string& what);
    std::array<double, 3> triple(const std::vector<Field>& fields, const std::string& what, const Place& place);

    struct ParameterState {
        Expr value{};                                  // its own symbol, or an expression of others if `derived`
        enum { waiting, open, done } state = waiting;  // open: its expression is being read
        bool derived = false;                          // an expression of other parameters
        bool used = false;                             // mentioned by an expression
    };
    /// The range of a coefficient, which is checked at the initial state.
    struct CoefficientCheck {
        std::string what, range;  // subject and predicate of the message: "mu of 'floor'", "must be >= 0"
        double lowest, highest;
        Place place;
    };

    /// A symbol that stands for the reaction of a constraint until `resolve_reactions`.
    struct ReactionSymbol {
        std::size_t constraint;
        Expr symbol;
        std::string what;  // the expression that mentions it, as subject of messages
        Place place;
    };
    /// A reaction ν that the friction force λ of a slip row changes: ν = free − slope · λ.
    struct ReactionInFriction {
        const ReactionSymbol* reaction;
        std::size_t row;  // of W
        Expr free, slope;
        std::vector<Expr> w;  // the slip row
    };

    /// A reference of [control] that depends on the time.
    struct TrackedReference {
        std::string coordinate, text;
    };

    const Description& d_;
    const BuildOptions& options_;
    std::vector<Entry> parameters_;  // of the description, with the values of the options
    std::vector<ParameterState> states_;
    std::map<std::string, std::size_t, std::less<>> parameter_index_;
    std::map<std::string, int, std::less<>> coordinate_index_;
    std::map<int, std::size_t> point_coordinate_;  // coordinate of a point that an expression mentions → index in f_.q
    std::map<std::string, std::string> row_names_;  // name → kind of element
    std::map<std::string, Expr> local_names_;       // Kp and Kv inside `shaping`
    std::vector<double> p_;                         // values of f_.p
    std::vector<char> definition_used_;             // by definition of [let]
    std::vector<CoefficientCheck> coefficient_checks_;
    std::vector<TrackedReference> tracked_;
    std::shared_ptr<SampledLaw> sampled_;  // the law of [control] if it samples
    std::vector<Expr> sampled_forces_;     // of each entry of SampledLaw::held
    std::vector<Expr> measured_;           // symbols of SampledLaw::quantities
    std::vector<ReactionSymbol> reactions_;
    std::vector<MeanFriction> mean_friction_;  // of sliders that change their own normal force
    int point_count_ = 0;

    Formulas f_;
    PointFormulas points_;
    bool has_points_ = false;
    Settings settings_;  // becomes Model::settings at the end
    Model model_;        // the result; rows of slips are counted from the first slip until shift_slip_rows
};

}  // namespace saltus::model
