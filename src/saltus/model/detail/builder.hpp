// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/model/build.hpp"
#include "saltus/model/systems/detail/point_system.hpp"
#include "saltus/model/systems/expression_system.hpp"

namespace saltus::model {

/// Coordinates of point i are named p<i>.x, .y, .z.
inline constexpr std::string_view point_axes = "xyz";

/// Turns a description into formulas and a model, one block of the description a function. Private to this module.
class Builder {
public:
    Builder(const Description& description, const BuildOptions& options);
    Model build();

private:
    using Expr = expr::Expr;

    // names.cpp: what a name means where
    void declare_coordinates();
    void declare_parameters();
    void resolve_parameter(std::size_t index, std::vector<std::size_t>& path);
    void check_new_name(const std::string& name, const std::string& what, const Place& place) const;
    std::optional<Expr> find(std::string_view name, expr::Kinds allowed);
    std::optional<int> find_coordinate(std::string_view name) const;
    std::vector<std::string> coordinate_names() const;
    int coordinate_of(const std::string& name, const std::string& where, const Place& place) const;
    std::size_t local_coordinate(int index);
    expr::Scope scope(std::string what, expr::Kinds allowed);
    Expr parse(const Field& field, const std::string& what, expr::Kinds allowed);
    double number(const Field& field, const std::string& what);
    double value_of(Expr e);

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
    void add_defaults();
    void add_regions();
    Friction friction(const std::string& owner, const std::vector<Field>& gammaT, const std::vector<Field>& mu,
                      const Choice& law, const Field& radius, const std::vector<Field>& radii, const Place& place);
    Expr slip(const Field& field, const std::string& what);
    Coefficient coefficient(Expr e, const std::string& what, double lowest, double highest, const std::string& range,
                            const Place& place);
    Coefficient restitution(const Field& field, const std::string& what, double lowest);
    Coefficient friction_coefficient(const Field& field, const std::string& owner);
    Coefficient positive(const Field& field, const std::string& what, bool zero_allowed);
    void contact_laws(Contact& contact, const Field& eN, const Field& eT, const Field& c, const Choice& impact,
                      const std::string& owner);
    void new_row_name(const std::string& name, const std::string& what, const Place& place);
    void initial_state(Model& model);
    std::vector<Expr> initial_values(const std::vector<Entry>& entries, const std::string& which);
    void check_coefficients(const Model& model);
    void warn_of_kinks(Expr e, const std::string& what);
    bool depends_on_time(Expr e);

    // control.cpp, perturbation.cpp
    void add_control();
    std::vector<std::vector<Expr>> gain(const Gain& gain, const std::string& name, std::size_t n);
    void shape_potential(const ControlDescription& control, std::size_t actuated);
    void describe_loop(const ControlDescription& control, const std::vector<std::vector<Expr>>& Kp,
                       const std::vector<std::vector<Expr>>& Kv, const std::vector<Expr>& reference);
    void add_perturbation();

    // drawing.cpp
    void add_drawing();

    // points.cpp
    void add_points();
    void generate_row(const HexahedraRow& row);
    void place_points();
    void set_masses();
    void set_velocities();
    void add_springs(const SpringsDescription& springs, std::size_t number);
    void add_volume(const VolumeDescription& volume, std::size_t number);
    void add_obstacle(const ObstacleDescription& obstacle);
    Expr structural(const Field& field, const std::string& what);
    double structural_number(const Field& field, const std::string& what);
    std::array<double, 3> triple(const std::vector<Field>& fields, const std::string& what, const Place& place);

    struct ParameterState {
        Expr value{};
        enum { waiting, open, done } state = waiting;
        bool derived = false, used = false;
    };
    struct CoefficientCheck {
        std::string what, range;
        double lowest, highest;
        Place place;
    };

    const Description& d_;
    const BuildOptions& options_;
    std::vector<Entry> parameters_;  // the description's, with the options' values
    std::vector<ParameterState> states_;
    std::map<std::string, std::size_t, std::less<>> parameter_index_;
    std::map<std::string, int, std::less<>> coordinate_index_;
    std::map<int, std::size_t> point_coordinate_;   // coordinates of points that expressions mention → local number
    std::map<std::string, std::string> row_names_;  // name → what it is
    std::map<std::string, Expr> local_names_;       // Kp, Kv inside `shaping`
    std::vector<double> p_;
    std::vector<CoefficientCheck> coefficient_checks_;
    int point_count_ = 0;

    Formulas f_;
    PointFormulas points_;
    bool has_points_ = false;
    Model model_;
};

}  // namespace saltus::model
