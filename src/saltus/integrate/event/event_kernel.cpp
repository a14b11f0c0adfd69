// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/event/event_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/expr/series/series_statements.hpp"
#include "saltus/expr/statements.hpp"
#include "saltus/integrate/detail/kernel_prelude.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/series.hpp"
#include "saltus/model/support.hpp"
#include "saltus/model/symbolic.hpp"

// The kernel has two parts. The generic one is plain C in detail/event_kernel_struct.inc and
// detail/event_kernel_text.inc: linear algebra, zeros of polynomials, contact problems, changes of mode and the loop of
// a thread, with sizes that are macros. The other part is written here: the recurrences of the model's formulas, and
// statements that distribute their results to the arrays of the generic part.

namespace saltus::integrate {

namespace {

using expr::exact_literal;
using expr::SeriesWish;

/// Sizes of the arrays of a kernel; models with more coordinates or equations have no kernel. Larger arrays would be
/// slow on a device: its memory for one motion is small.
constexpr int max_coordinates = 12, max_equations = 16;
/// Modes that are tried in one contact problem. Two contacts with friction have 36, three have 216.
constexpr int max_modes = 1000;
/// A reaction or velocity of a contact problem may violate its law by this part of the largest one. It is above the
/// rounding errors of the solution, which is refined.
constexpr double law_tolerance = 1e-11;
/// Solutions of a contact problem whose velocities differ by less than this part of the largest one are the same.
constexpr double same_solution = 1e-7;
/// The diagonal of a contact problem is enlarged by this part of its mean, so that redundant rows share their load.
/// Refinement removes the effect on the others.
constexpr double proximal_part = 1e-8;
/// A motion of one coordinate repeats itself if it breaks loose at the same place up to this part of 1 + |q|: above the
/// error of the location of the event, far below the tolerances.
constexpr double recurrence = 1e-11;
/// Rounding error of a switching function, relative to 1 + |s|.
constexpr double switch_noise = 1e-15;

/// How friction is loaded.
enum PartKind { of_contact, of_slider, of_constraint };
struct Part {
    PartKind kind;
    int parent;  ///< equation that loads it; −1 for a slider
    const model::Friction* friction;
    model::Coefficient load;  ///< normal force of a slider
};

/// Elements of a model as equations: constraints, normals of contacts, friction parts.
struct Equations {
    explicit Equations(const model::Mechanics& m) {
        constraints = static_cast<int>(m.constraints.size());
        contacts = static_cast<int>(m.contacts.size());
        for (const model::Constraint& c : m.constraints) row.push_back(c.row);
        for (const model::Contact& c : m.contacts) row.push_back(c.row);
        for (std::size_t i = 0; i < m.contacts.size(); ++i) {
            const model::Friction& f = m.contacts[i].friction;
            part_of_contact.push_back(f.dimension > 0 ? static_cast<int>(parts.size()) : -1);
            if (f.dimension > 0)
                parts.push_back({of_contact, constraints + static_cast<int>(i), &f, model::no_coefficient});
        }
        for (std::size_t i = 0; i < m.constraints.size(); ++i)
            if (m.constraints[i].friction.dimension > 0)
                parts.push_back(
                    {of_constraint, static_cast<int>(i), &m.constraints[i].friction, model::no_coefficient});
        for (const model::Slider& s : m.sliders) parts.push_back({of_slider, -1, &s.friction, s.normal_force});
        for (const Part& p : parts) row.push_back(p.friction->first_row);
    }
    int count() const { return static_cast<int>(row.size()); }
    int of_part(int p) const { return constraints + contacts + p; }

    int constraints = 0, contacts = 0;
    std::vector<int> row;  ///< of the model, for each equation
    std::vector<int> part_of_contact;
    std::vector<Part> parts;
};

std::vector<expr::Expr> variables_of(const model::Formulas& f) {
    std::vector<expr::Expr> variables{f.t};
    variables.insert(variables.end(), f.q.begin(), f.q.end());
    variables.insert(variables.end(), f.u.begin(), f.u.end());
    return variables;
}

/// Whether coefficients of series show everything, so that no bounds are needed; see SeriesEquations::transparent.
bool transparent(const model::Mechanics& m, const Equations& equations) {
    const model::Layout& layout = m.layout();
    model::SeriesNeeds needs{std::vector<char>(ix(layout.positions()), 1), std::vector<char>(ix(layout.row_count()), 1),
                             std::vector<char>(ix(layout.coefficients), 0), true};
    const auto want = [&](model::Coefficient c) {
        if (c != model::no_coefficient) needs.coefficients[ix(c)] = 1;
    };
    for (const Part& p : equations.parts) {
        want(p.friction->mu[0]);
        want(p.friction->mu_static);
        want(p.load);
    }
    const auto series = m.system->series(needs, m.p);
    return series != nullptr && series->transparent();
}

/// The tolerances of the last terms, as in the run on the CPU.
double relative_tolerance(const EventDriven& method) {
    return std::max(Thresholds::series_tolerance_ratio * method.rtol, Thresholds::least_step_tolerance);
}
/// −½ ln ε + 1 minimises the work per unit of time if the work of a step grows with the square of the order [Jorba].
/// Events, projections and bounds are further work of a step, so that higher orders with fewer steps are faster:
/// measured on the shipped models, 3 to 5 more orders are best. The memory of a motion grows with the order.
int order_for(double relative) {
    constexpr int least = 8, most = 24;        // orders
    constexpr int orders_for_fixed_costs = 3;  // orders beyond the optimum of [Jorba]
    return std::clamp(orders_for_fixed_costs + static_cast<int>(std::ceil(1.0 - 0.5 * std::log(relative))), least,
                      most);
}

/// Marks all loops of a text as loops that are not unrolled: those of the generic part are short, and there are many.
std::string with_plain_loops(std::string text) {
    const std::string loop = "for (", mark = "SALTUS_LOOP ";
    for (std::size_t at = text.find(loop); at != std::string::npos;
         at = text.find(loop, at + mark.size() + loop.size()))
        text.insert(at, mark);
    return text;
}

class Emitter {
public:
    Emitter(const model::Mechanics& m, const EventDriven& method, const KernelRules& rules, std::span<const int> varied)
        : m_(m),
          system_(*m.system->symbolic()),
          equations_(m),
          method_(method),
          rules_(rules),
          n_(m.size()),
          order_(order_for(relative_tolerance(method))),
          stride_(order_ + 1),
          parameters_(static_cast<int>(varied.size())),
          varied_(m.p.size()) {
        for (std::size_t k = 0; k < varied.size(); ++k) varied_[ix(varied[k])] = "par[" + std::to_string(k) + "]";
        collect();
    }
    const std::string& why() const { return series_.why; }
    int switches() const { return static_cast<int>(series_.switches.size()); }

    EventKernel kernel() {
        EventKernel k;
        k.name = "saltus_events";
        k.coordinates = n_;
        k.order = order_;
        k.parameters = parameters_;
        k.own_end = rules_.own_end;
        k.result_size = k.trouble_at() + 1;
        const int nw = equations_.contacts + 2 * parts(), nc = equations_.contacts;
        k.state_size = 14 + 2 * n_ + equations_.count() + 2 * parts() + 4 * nw + 2 * switches() +
                       3 * EventKernel::kinds + nc + 2 * nc * static_cast<int>(Thresholds::remembered_impacts);
        text_ = kernel_prelude;
        macros();
        text_ += expr::series_functions();
        functions_of_model();
        text_ += with_plain_loops(
#include "saltus/integrate/event/detail/event_kernel_text.inc"
        );
        k.text = std::move(text_);
        return k;
    }

private:
    void line(const std::string& text) { text_ += text + "\n"; }
    int parts() const { return static_cast<int>(equations_.parts.size()); }
    static std::string text(int x) { return std::to_string(x); }

    // --- which series are wanted

    struct Entry {
        int row, column, output;
    };
    int add(expr::Expr e, SeriesWish::Kind kind, std::uint32_t group) {
        outputs_.push_back(e);
        wishes_.push_back({kind, group});
        return static_cast<int>(outputs_.size()) - 1;
    }
    static std::uint32_t group_of_equation(int e) { return std::uint32_t{2} << static_cast<unsigned>(e); }
    std::uint32_t group_of_gap(int contact) const { return group_of_equation(equations_.count() + contact); }

    void collect() {
        using Kind = SeriesWish::Kind;
        const model::Formulas& f = system_.formulas();
        const model::Derived& d = system_.derived();
        // The motion itself needs these in every mode.
        constexpr std::uint32_t always = ~std::uint32_t{0};
        for (const model::Derived::Entry& e : d.mass)
            mass_.push_back({e.row, e.column, add(e.value, Kind::history, always)});
        for (const expr::Expr h : d.h) force_.push_back(add(h, Kind::order, always));
        for (int e = 0; e < equations_.count(); ++e) {
            const int row = equations_.row[ix(e)];
            const bool part = e >= equations_.of_part(0);
            for (const model::Derived::Entry& entry : d.rows)
                if (entry.row == row)
                    rows_.push_back({e, entry.column, add(entry.value, Kind::history, group_of_equation(e))});
            chi_.push_back(add(d.chi[ix(row)], part ? Kind::history : Kind::value, group_of_equation(e)));
            zeta_.push_back(add(d.zeta[ix(row)], Kind::order, group_of_equation(e)));
        }
        for (int e = 0; e < equations_.constraints; ++e)
            position_.push_back(add(f.constraints[ix(equations_.row[ix(e)])], Kind::value, always));
        for (int i = 0; i < equations_.contacts; ++i) {
            const std::size_t gap = ix(equations_.row[ix(equations_.constraints + i)]) - f.constraints.size();
            position_.push_back(add(f.gaps[gap], Kind::history, group_of_gap(i)));
        }
        const auto coefficient = [&](model::Coefficient c, Kind kind, std::uint32_t group) {
            return c == model::no_coefficient ? -1 : add(f.coefficients[ix(c)], kind, group);
        };
        for (int p = 0; p < parts(); ++p) {
            const Part& part = equations_.parts[ix(p)];
            const std::uint32_t group = group_of_equation(equations_.of_part(p));
            const bool still = part.friction->mu_static != model::no_coefficient;
            mu_.push_back(coefficient(part.friction->mu[0], Kind::history, group));
            mu_static_.push_back(still ? coefficient(part.friction->mu_static, Kind::history, group) : mu_.back());
            load_.push_back(coefficient(part.load, Kind::history, group));
        }
        for (const model::Contact& c : m_.contacts) {
            e_n_.push_back(coefficient(c.e_n, Kind::value, always));
            e_t_.push_back(coefficient(c.e_t, Kind::value, always));
        }
        const std::vector<expr::Expr> variables = variables_of(f);
        const expr::SeriesTape tape(f.graph, outputs_, f.p, variables, f.t);
        std::vector<std::string> radii{"R"};
        for (int i = 0; i < n_; ++i) radii.push_back("rq[" + text(i) + "]");
        for (int i = 0; i < n_; ++i) radii.push_back("ru[" + text(i) + "]");
        series_ = expr::statements_of(tape, m_.p, stride_, wishes_, radii, varied_);
    }

    const expr::SeriesStatements::Output& output(int i) const { return series_.outputs[ix(i)]; }
    /// Order 0 of an output; −1: zero.
    std::string first(int i) const { return i < 0 ? "0.0" : output(i).first; }
    bool constant(int i) const { return i < 0 || output(i).constant; }
    /// A coefficient that is zero whatever the parameters of the motion are.
    bool is_zero(int i) const { return i < 0 || (output(i).known && output(i).value == 0.0); }
    std::string row(int i) const { return "s + " + text(output(i).row * stride_); }
    std::string coefficient_k(int i) const { return "s[" + text(output(i).row * stride_) + " + k]"; }
    std::string reactions(int e) const { return "w->L + " + text(e * stride_); }
    std::string velocity(int column) const { return "s + " + text((series_.variables[1] + n_ + column) * stride_); }

    // --- sizes and thresholds

    void macros() {
        const auto define = [&](const char* name, const std::string& value) {
            line("#define " + std::string(name) + " " + value);
        };
        const auto size = [&](const char* name, int value) { define(name, text(value)); };
        const auto at_least_one = [&](const char* name, int value) { size(name, std::max(1, value)); };
        const auto number = [&](const char* name, double value) { define(name, exact_literal(value)); };
        const int ne = equations_.count(), nc = equations_.contacts, np = parts(), nw = nc + 2 * np;
        size("NQ", n_);
        size("NV", parameters_);
        at_least_one("NV1", parameters_);
        size("NB", equations_.constraints);
        size("NC", nc);
        at_least_one("NC1", nc);
        size("NP", np);
        at_least_one("NP1", np);
        size("NE", ne);
        at_least_one("NE1", ne);
        size("NW", nw);
        at_least_one("NW1", nw);
        size("NS", switches());
        at_least_one("NS1", switches());
        size("ORDER", order_);
        size("ST", stride_);
        at_least_one("ROWS", series_.rows);
        at_least_one("NUMBERS", series_.numbers);
        at_least_one("PICKS", series_.picks);
        size("ROW_Q", series_.variables[1]);
        size("ROW_U", series_.variables[1] + n_);
        size("REMEMBERED", static_cast<int>(Thresholds::remembered_impacts));
        size("LONGEST_CYCLE", Thresholds::longest_cycle);
        size("IRREGULAR_IMPACTS", Thresholds::irregular_impacts);
        size("COMPANION_IMPACTS", static_cast<int>(Thresholds::companion_impacts));
        size("MAX_CHANGES", Thresholds::max_changes_at_one_time);
        size("MAX_MODES", max_modes);
        size("PROJECTION_ROUNDS", Thresholds::max_projection_rounds);
        size("KINDS", EventKernel::kinds);
        size("IMPACT", EventKernel::impact);
        size("CONTACT", EventKernel::contact);
        size("LIFT_OFF", EventKernel::lift_off);
        size("STICK", EventKernel::stick);
        size("SLIP", EventKernel::slip);
        size("REVERSAL", EventKernel::reversal);
        size("ACCUMULATION", EventKernel::accumulation);
        size("AUTONOMOUS", m_.autonomous ? 1 : 0);
        size("OWN_END", rules_.own_end ? 1 : 0);
        size("SKIPS_PERIODS", m_.autonomous && n_ == 1 ? 1 : 0);
        proves_ = !transparent(m_, equations_);
        size("PROVES", proves_ ? 1 : 0);
        number("LARGEST", std::numeric_limits<double>::max());
        number("RELATIVE", relative_tolerance(method_));
        number("ABSOLUTE", Thresholds::series_tolerance_ratio * method_.atol);
        number("REDUNDANT_PIVOT", Thresholds::least_redundancy * Thresholds::least_redundancy);
        number("POSITION_NOISE", Thresholds::position_noise);
        number("FORCE_NOISE", Thresholds::force_noise);
        number("SWITCH_NOISE", switch_noise);
        number("POSITION_LEAVE", Thresholds::position_leave);
        number("FORCE_LEAVE", Thresholds::force_leave);
        number("GAP_AT_START", Thresholds::gap_at_start);
        number("VALUE_AT_START", Thresholds::value_at_start);
        number("VIOLATED_FORCE", Thresholds::violated_force);
        number("SIMULTANEOUS_TIME", Thresholds::simultaneous_time);
        number("SIMULTANEOUS_FORCE", Thresholds::simultaneous_force);
        number("CLOSED_GAP", Thresholds::closed_gap);
        number("CLOSED_GAP_AT_EVENT", Thresholds::closed_gap_at_event);
        number("OPENING_SPEED", Thresholds::opening_speed);
        number("CLOSED_APPROACH", Thresholds::closed_approach_speed);
        number("OPEN_APPROACH", Thresholds::open_approach_speed);
        number("SEPARATION_RATIO", Thresholds::separation_ratio);
        number("SLIP_SPEED", Thresholds::slip_speed);
        number("REST_SPEED", Thresholds::rest_speed);
        number("STICK_ACCELERATION", Thresholds::stick_acceleration);
        number("STAY_ACCELERATION", Thresholds::stay_acceleration);
        number("DECISION_ACCELERATION", Thresholds::decision_acceleration * Thresholds::decision_scale);
        number("NEAR_PAINLEVE", Thresholds::near_painleve);
        number("SLOWEST_RATIO", Thresholds::slowest_ratio);
        number("SLOWING_SCATTER", Thresholds::slowing_scatter);
        number("RATIO_SCATTER", Thresholds::ratio_scatter);
        number("COMPANION_FACTOR", Thresholds::companion_factor);
        number("ASTRAY_SPEED", Thresholds::astray_speed);
        number("RESOLVED_INTERVAL", Thresholds::resolved_interval);
        number("NEGLIGIBLE_MOTION", std::max(Thresholds::negligible_motion, method_.atol));
        number("PROJECTED", Thresholds::projected);
        number("NEARLY_PROJECTED", Thresholds::nearly_projected);
        number("PROJECTION_FAILURE", Thresholds::projection_failure);
        number("REST_ANGLE", 1e-3);  // of run_rest.cpp
        number("LAW_TOLERANCE", law_tolerance);
        number("SAME_SOLUTION", same_solution);
        number("PROXIMAL", proximal_part);
        number("RECURRENCE", recurrence);
        number("SHORTEST_REST", rules_.shortest_rest);
        table("PART_KIND", np, [&](int p) { return static_cast<int>(equations_.parts[ix(p)].kind); });
        table("PART_PARENT", np, [&](int p) { return std::max(0, equations_.parts[ix(p)].parent); });
        // Friction whose coefficients are constantly zero is not watched.
        table("HAS_FRICTION", np, [&](int p) { return is_zero(mu_[ix(p)]) && is_zero(mu_static_[ix(p)]) ? 0 : 1; });
        table("CONTACT_PART", nc, [&](int i) { return equations_.part_of_contact[ix(i)]; });
        table("GAP_ROW", nc, [&](int i) { return std::max(0, output(position_[ix(equations_.constraints + i)]).row); });
        table("HAS_POSITION", ne, [&](int e) { return m_.layout().has_position(equations_.row[ix(e)]) ? 1 : 0; });
        table("SWITCH_ROW", switches(), [&](int i) { return series_.switches[ix(i)].row; });
    }

    /// A table as an expression of its index: it needs no memory, and a compiler that knows the index removes it.
    template <class F>
    void table(const char* name, int count, F at) {
        int last = std::max(0, count - 1);  // all entries from here on are equal
        while (last > 0 && at(last - 1) == at(count - 1)) --last;
        std::string chain;
        for (int i = 0; i < last; ++i) chain += "(i) == " + text(i) + " ? " + text(at(i)) + " : ";
        line("#define " + std::string(name) + "(i) (" + chain + (count > 0 ? text(at(last)) : "0") + ")");
    }

    // --- functions of the model

    /// Names that the statements of the series use.
    void aliases(const char* qualifier) {
        const std::string q = qualifier;
        line(q + "double* const s = w->s; " + q + "double* const c = w->c; " + q + "int* const pick = w->pick;");
        line("const int* const fixed = w->fixed; " + q + "int* const side = w->side;");
        line("const double t0 = w->t; const double* const par = w->par;");
    }
    /// The same where series are read only.
    void reading_aliases() {
        line("const double* const s = w->s; const double* const c = w->c; const double* const par = w->par;");
    }
    static constexpr const char* unused = "(void)s; (void)c; (void)par;";

    void functions_of_model() {
        text_ +=
#include "saltus/integrate/event/detail/event_kernel_struct.inc"
            ;
        line("SALTUS_FUNCTION double saltus_rate_product(const double* a, const double* u, int k) {");
        line("    double v = 0.0;");
        line("    for (int j = 1; j <= k; j++) v = v + a[j] * ((double)(k - j + 1) * u[k - j + 1]);");
        line("    return v;");
        line("}");
        values();
        terms();
        friction();
        slip_series();
        bound_series();
        energy();
        if (proves_) radii();
    }

    std::string entry(const char* array, int row, int column) const {
        return "w->" + std::string(array) + "[" + text(row * n_ + column) + "]";
    }
    static std::string element(const char* array, int i) { return "w->" + std::string(array) + "[" + text(i) + "]"; }

    /// Order 0 of everything.
    void values() {
        line("SALTUS_FUNCTION void saltus_values(Saltus* w) {");
        aliases("");
        if (series_.variables[0] >= 0) {
            const std::string at = text(series_.variables[0] * stride_);
            line("s[" + at + "] = t0; s[" + at + " + 1] = 1.0;");
        }
        text_ += series_.values;
        for (const Entry& e : mass_) line(entry("M", e.row, e.column) + " = " + first(e.output) + ";");
        for (int i = 0; i < n_; ++i) line(element("f", i) + " = " + first(force_[ix(i)]) + ";");
        for (const Entry& e : rows_) line(entry("W", e.row, e.column) + " = " + first(e.output) + ";");
        for (int e = 0; e < equations_.count(); ++e) {
            line(element("chi", e) + " = " + first(chi_[ix(e)]) + ";");
            line(element("zeta", e) + " = " + first(zeta_[ix(e)]) + ";");
        }
        for (std::size_t e = 0; e < position_.size(); ++e)
            line(element("position", static_cast<int>(e)) + " = " + first(position_[e]) + ";");
        for (int p = 0; p < parts(); ++p) {
            line(element("mu", p) + " = " + first(mu_[ix(p)]) + ";");
            line(element("mu_static", p) + " = " + first(mu_static_[ix(p)]) + ";");
            line(element("load", p) + " = " + first(load_[ix(p)]) + ";");
            // Friction would supply energy (detail/negative_friction.hpp): the CPU decides.
            line("if (" + element("mu", p) + " < -1e-12 || " + element("load", p) + " < -1e-12) w->trouble = 6;");
        }
        for (int i = 0; i < equations_.contacts; ++i) {
            line(element("e_n", i) + " = " + first(e_n_[ix(i)]) + ";");
            line(element("e_t", i) + " = " + first(e_t_[ix(i)]) + ";");
        }
        line("(void)pick; (void)fixed; (void)side; (void)t0;");
        line(unused);
        line("}");
    }

    /// Order k of the known part of M u̇ = h + Wλ, h_k − Σ_{j>=1} M_j a_{k−j} + Σ_{j>=1} W_j λ_{k−j}, and of the rows,
    /// ζ_k + Σ_{j>=1} W_j a_{k−j}, with a_j = (j+1) u_{j+1}.
    void terms() {
        line("SALTUS_FUNCTION void saltus_terms(Saltus* w, int k, int need) {");
        aliases("");
        text_ += series_.orders;
        for (int i = 0; i < n_; ++i) line(element("f", i) + " = " + output(force_[ix(i)]).next + ";");
        const auto add = [&](const std::string& to, const char* sign, const std::string& what) {
            line(to + " = " + to + " " + sign + " " + what + ";");
        };
        for (const Entry& e : mass_) {
            if (constant(e.output)) continue;
            const auto rate = [&](int column) {
                return "saltus_rate_product(" + row(e.output) + ", " + velocity(column) + ", k)";
            };
            add(element("f", e.row), "-", rate(e.column));
            if (e.row != e.column) add(element("f", e.column), "-", rate(e.row));
        }
        for (int e = 0; e < equations_.count(); ++e) {
            line("if (need & " + text(static_cast<int>(group_of_equation(e))) + ") {");
            line(element("zeta", e) + " = " + output(zeta_[ix(e)]).next + ";");
            for (const Entry& x : rows_) {
                if (x.row != e || constant(x.output)) continue;
                add(element("zeta", e), "+",
                    "saltus_rate_product(" + row(x.output) + ", " + velocity(x.column) + ", k)");
                add(element("f", x.column), "+", "saltus_product(" + row(x.output) + ", " + reactions(e) + ", 1, k)");
            }
            line("}");
        }
        line("(void)pick; (void)fixed; (void)side; (void)t0; (void)need;");
        line(unused);
        line("}");
    }

    /// Order k of the force of slipping parts: all of it under a known load; under a reaction λ the part
    /// −Σ_{j>=1} μ_j λ_{k−j} that is known already.
    void friction() {
        line("SALTUS_FUNCTION void saltus_friction(Saltus* w, int k) {");
        reading_aliases();
        for (int p = 0; p < parts(); ++p) {
            const Part& part = equations_.parts[ix(p)];
            const int mu = mu_[ix(p)], load = load_[ix(p)];
            std::string known = "0.0";
            if (part.kind == of_slider)
                known = product(mu, load);
            else if (!constant(mu))
                known = "saltus_product(" + row(mu) + ", " + reactions(part.parent) + ", 1, k)";
            const std::string sign = part.kind == of_constraint ? " * w->sign[" + text(p) + "]" : "";
            line("if (w->slip[" + text(p) + "] != 0) w->L[" + text(equations_.of_part(p) * stride_) +
                 " + k] = -(double)(w->slip[" + text(p) + "]" + sign + ") * (" + known + ");");
        }
        line(unused);
        line("}");
    }

    /// Order k of a product of two coefficients of the model.
    std::string product(int a, int b) const {
        if (constant(a) && constant(b)) return "k == 0 ? " + first(a) + " * " + first(b) + " : 0.0";
        if (constant(a)) return first(a) + " * " + coefficient_k(b);
        if (constant(b)) return first(b) + " * " + coefficient_k(a);
        return "saltus_product(" + row(a) + ", " + row(b) + ", 0, k)";
    }

    /// γ = W u + χ of a part, all orders.
    void slip_series() {
        line("SALTUS_FUNCTION void saltus_slip_series(const Saltus* w, int p, double* out) {");
        reading_aliases();
        line("for (int k = 0; k <= ORDER; k++) {");
        line("double v = 0.0;");
        for (int p = 0; p < parts(); ++p) {
            const int e = equations_.of_part(p), chi = chi_[ix(e)];
            line("if (p == " + text(p) + ") {");
            if (constant(chi))
                line("v = k == 0 ? " + first(chi) + " : 0.0;");
            else
                line("v = " + coefficient_k(chi) + ";");
            for (const Entry& x : rows_) {
                if (x.row != e) continue;
                line("v = v + " +
                     (constant(x.output) ? first(x.output) + " * (" + velocity(x.column) + ")[k]"
                                         : "saltus_product(" + row(x.output) + ", " + velocity(x.column) + ", 0, k)") +
                     ";");
            }
            line("}");
        }
        line("out[k] = v;");
        line("}");
        line("(void)p;");
        line(unused);
        line("}");
    }

    /// μ_s N of a part, all orders of the reactions.
    void bound_series() {
        line("SALTUS_FUNCTION void saltus_bound_series(const Saltus* w, int p, double* out) {");
        reading_aliases();
        line("for (int k = 0; k < ORDER; k++) {");
        line("double v = 0.0;");
        for (int p = 0; p < parts(); ++p) {
            const Part& part = equations_.parts[ix(p)];
            const int mu = mu_static_[ix(p)];
            std::string bound;
            if (part.kind == of_slider)
                bound = product(mu, load_[ix(p)]);
            else if (constant(mu))
                bound = first(mu) + " * (" + reactions(part.parent) + ")[k]";
            else
                bound = "saltus_product(" + row(mu) + ", " + reactions(part.parent) + ", 0, k)";
            if (part.kind == of_constraint) bound = "(double)w->sign[" + text(p) + "] * (" + bound + ")";
            line("if (p == " + text(p) + ") v = " + bound + ";");
        }
        line("out[k] = v;");
        line("}");
        line("(void)p;");
        line(unused);
        line("}");
    }

    void energy() {
        const model::Formulas& f = system_.formulas();
        const std::vector<expr::Expr> variables = variables_of(f);
        const std::vector<expr::Expr> energies{system_.derived().kinetic, system_.derived().potential};
        const expr::Tape tape(f.graph, energies, f.p, variables);
        std::vector<std::string> names{"t"};
        for (int i = 0; i < n_; ++i) names.push_back("q[" + text(i) + "]");
        for (int i = 0; i < n_; ++i) names.push_back("u[" + text(i) + "]");
        const expr::Statements statements = expr::statements_of(tape, "e", m_.p, names, varied_);
        line(
            "SALTUS_FUNCTION void saltus_energy(const double* par, double t, const double* q, const double* u, double* "
            "T, "
            "double* U) {");
        text_ += statements.text;
        line("*T = " + statements.outputs[0] + ";");
        line("*U = " + statements.outputs[1] + ";");
        line("(void)par; (void)t; (void)q; (void)u;");
        line("}");
    }

    /// Radii of all terms on the disk |τ| <= R. That of a force is its bound, with the value at τ = 0.
    void radii() {
        text_ += expr::series_bound_functions();
        line("typedef struct {");
        line("double f[NQ], M[NQ * NQ], W[NE1 * NQ], chi[NE1], zeta[NE1], gap[NC1], coefficient[NP1], side[NS1];");
        line("} SaltusRadii;");
        line(
            "SALTUS_FUNCTION void saltus_radii(const Saltus* w, double R, const double* rq, const double* ru, "
            "SaltusRadii* r) {");
        reading_aliases();
        line("const int* const pick = w->pick; const double t0 = w->t;");
        text_ += series_.bounds;
        line("for (int k = 0; k < NQ * NQ; k++) r->M[k] = 0.0;");
        line("for (int k = 0; k < NE1 * NQ; k++) r->W[k] = 0.0;");
        line("for (int k = 0; k < NE1; k++) r->chi[k] = r->zeta[k] = 0.0;");
        line("for (int k = 0; k < NP1; k++) r->coefficient[k] = 0.0;");
        const auto set = [&](const std::string& to, int i) {
            if (!constant(i)) line("r->" + to + " = " + output(i).radius + ";");
        };
        for (const Entry& e : mass_) set("M[" + text(e.row * n_ + e.column) + "]", e.output);
        for (const Entry& e : rows_) set("W[" + text(e.row * n_ + e.column) + "]", e.output);
        for (int i = 0; i < n_; ++i)
            line("r->f[" + text(i) + "] = fabs(w->h0[" + text(i) + "]) + " + output(force_[ix(i)]).radius + ";");
        for (int e = 0; e < equations_.count(); ++e) {
            if (e >= equations_.of_part(0)) set("chi[" + text(e) + "]", chi_[ix(e)]);
            set("zeta[" + text(e) + "]", zeta_[ix(e)]);
        }
        for (int i = 0; i < equations_.contacts; ++i) {
            const int gap = position_[ix(equations_.constraints + i)];
            line("r->gap[" + text(i) + "] = " + (constant(gap) ? "0.0" : output(gap).radius) + ";");
        }
        for (int p = 0; p < parts(); ++p) {
            std::string sum = "0.0";
            for (const int i : {mu_[ix(p)], mu_static_[ix(p)], load_[ix(p)]})
                if (!constant(i)) sum += " + " + output(i).radius;
            line("r->coefficient[" + text(p) + "] = " + sum + ";");
        }
        for (int i = 0; i < switches(); ++i) line("r->side[" + text(i) + "] = " + series_.switches[ix(i)].radius + ";");
        line("(void)pick; (void)t0; (void)rq; (void)ru; (void)R;");
        line(unused);
        line("}");
    }

    const model::Mechanics& m_;
    const model::SymbolicEquations& system_;
    const Equations equations_;
    const EventDriven method_;
    const KernelRules rules_;
    const int n_, order_, stride_, parameters_;
    std::vector<std::string> varied_;  // texts of the parameters that each motion has of its own; empty: fixed
    bool proves_ = true;
    std::vector<expr::Expr> outputs_;
    std::vector<SeriesWish> wishes_;
    std::vector<Entry> mass_, rows_;  // entries of M and W; rows are numbers of equations
    std::vector<int> force_, chi_, zeta_, position_, mu_, mu_static_, load_, e_n_, e_t_;  // numbers of outputs
    expr::SeriesStatements series_;
    std::string text_;
};

}  // namespace

std::string event_kernel_refusal(const model::Mechanics& m, const EventDriven& method) {
    if (method.implicit || !method.series || std::isfinite(method.max_step))
        return "the method is not that of Taylor series with free steps";
    if (std::string why = model::unsupported(m, model::Analysis::event_kernel); !why.empty()) return why;
    const model::SymbolicEquations* const system = m.system->symbolic();
    if (!system->complete()) return "the equations are not all formulas";
    if (m.size() > max_coordinates) return "there are too many coordinates";
    const Equations equations(m);
    if (equations.count() > max_equations) return "there are too many contacts and constraints";
    // The velocity of a row jumps at a corner of its formula, which is an impact or a separation.
    const model::Formulas& f = system->formulas();
    const model::Derived& d = system->derived();
    std::vector<expr::Expr> rows;
    for (const int row : equations.row) {
        rows.push_back(d.velocity[ix(row)]);
        rows.push_back(d.zeta[ix(row)]);
    }
    if (expr::SeriesTape(f.graph, rows, f.p, variables_of(f), f.t).switch_count() > 0)
        return "the formula of a gap, a constraint or a slip velocity has a corner";
    return Emitter(m, method, {}, {}).why();
}

EventKernel emit_event_kernel(const model::Mechanics& model, const EventDriven& method, const KernelRules& rules,
                              std::span<const int> varied) {
    return Emitter(model, method, rules, varied).kernel();
}

}  // namespace saltus::integrate
