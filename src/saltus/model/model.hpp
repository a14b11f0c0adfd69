// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "saltus/model/system.hpp"

namespace saltus::model {

class Drawing;

enum class FrictionLaw { none, coulomb, orthotropic, contensou, rolling };
enum class ImpactLaw { newton, poisson, energy };

/// Number of a coefficient in System::coefficients, or none.
using Coefficient = int;
inline constexpr Coefficient no_coefficient = -1;

/// A friction law on the slip rows [first_row, first_row + dimension).
struct Friction {
    FrictionLaw law = FrictionLaw::none;
    int first_row = 0;
    int dimension = 0;  ///< 0, 1, 2, 3 or 5
    std::array<Coefficient, 2> mu{no_coefficient, no_coefficient};
    std::array<Coefficient, 2> radius{no_coefficient, no_coefficient};  ///< drilling, rolling
};

struct Contact {
    std::string name;
    int row = 0;  ///< its normal
    Friction friction;
    ImpactLaw impact = ImpactLaw::newton;
    Coefficient e_n = no_coefficient, e_t = no_coefficient;  ///< none: 0
    Coefficient c = no_coefficient;                          ///< e = 1 − c·(approach speed)
    Coefficient penalty_k = no_coefficient, penalty_d = no_coefficient;
};

struct Constraint {
    std::string name;
    int row = 0;
    Friction friction;  ///< scaled by |reaction|
};

struct Slider {
    std::string name;
    Friction friction;
    Coefficient normal_force = no_coefficient;
    Coefficient e_t = no_coefficient;
};

struct Clutch {
    std::string name;
    int row = 0;
};

struct Parameter {
    std::string name;
    double value = 0.0;
    int column = -1;          ///< among the independent parameters; −1: derived from others
    bool structural = false;  ///< shapes the initial geometry of points: no derivatives with respect to it
};

/// The feedback u = −Kp (y − reference) − Kv ẏ, or with shaping u = ∂U/∂q − ∂Ũ/∂q − Kv ẏ.
struct ControlLoop {
    std::vector<std::string> actuated;
    Matrix Kp, Kv;
    std::vector<double> reference;
    std::string shaping;
};

struct SimulationDefaults {
    std::optional<double> t_end, h, rtol, atol;
    std::string method = "event";
};

/// A mechanical system with its contact laws, parameter values and initial state. Immutable; algorithms take
/// (const Model&, Workspace&) and share one model between threads.
struct Model {
    std::string name;
    std::vector<std::string> coordinates;
    std::vector<Parameter> parameters;  ///< in the order of the file
    std::vector<double> p;              ///< values of the independent ones
    std::vector<Contact> contacts;
    std::vector<Constraint> constraints;
    std::vector<Slider> sliders;
    std::vector<Clutch> clutches;
    std::vector<double> q0, u0;  ///< initial state, at t = 0
    Matrix dq0_dp, du0_dp;       ///< its derivatives with respect to the independent parameters
    double start_moved = 0.0;    ///< largest change that repairing the state made; then the derivatives above are
                                 ///< those before it
    std::optional<ControlLoop> control;           ///< what is closed in the system, for reports
    bool perturbed = false, perturbable = false;  ///< the perturbation is applied; the description has one
    SimulationDefaults simulate;
    std::vector<std::string> regions;  ///< where certificates are asked for, as written
    bool scleronomic = true;           ///< neither T nor any row depends on the time explicitly
    bool autonomous = true;            ///< the forces do not either
    std::vector<std::string> warnings;
    std::shared_ptr<const System> system;
    std::shared_ptr<const Drawing> drawing;  ///< none: nothing says how to draw it

    int size() const { return static_cast<int>(coordinates.size()); }
    const Layout& layout() const { return system->layout(); }
};

/// Scratch for evaluating one model; one per thread.
class Workspace {
public:
    explicit Workspace(const Model& model);
    std::span<double> scratch() { return scratch_; }

private:
    std::vector<double> scratch_;
};

void evaluate(const Model& model, Workspace& workspace, double t, std::span<const double> q, std::span<const double> u,
              Terms& terms);

At at(const Model& model, double t, std::span<const double> q, std::span<const double> u);

/// γ = Wᵀu + χ of one row.
double row_velocity(const Layout& layout, const Terms& terms, int row, std::span<const double> u);

}  // namespace saltus::model
