// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/moreau/moreau_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/expr/statements.hpp"
#include "saltus/integrate/detail/kernel_prelude.hpp"
#include "saltus/integrate/moreau/detail/moreau_lanes_work.hpp"
#include "saltus/integrate/moreau/detail/moreau_tolerances.hpp"
#include "saltus/integrate/moreau/moreau_implicit.hpp"
#include "saltus/integrate/moreau/moreau_lanes.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::integrate::moreau {

namespace {

using expr::exact_literal;
using lanes::Block;
using lanes::Kind;
using lanes::ProblemRow;
using lanes::Work;

constexpr std::int64_t steps_between_stiffness = 200;  ///< of the tests that the CPU makes along a motion
constexpr int first_stiffness_iterations = 16, further_stiffness_iterations = 3;
/// The tests of the CPU differ by the rounding of their differences. Motions this close to the limit are left to it.
constexpr double stiffness_margin = 1.001;
constexpr std::int64_t max_stiffness_tests = 1000;  ///< the estimates have converged long before

/// The contact problems of models with friction in planes or Poisson's law, as text.
constexpr const char* general_rows =
#define SALTUS_SHARED(...) #__VA_ARGS__
#include "saltus/integrate/moreau/detail/general_rows.inc"
#undef SALTUS_SHARED
    ;

std::string joined(const std::vector<std::string>& terms, const std::string& first = {}) {
    std::string text = first;
    for (const std::string& t : terms) text += (text.empty() ? "" : " + ") + t;
    return text.empty() ? "0.0" : text;
}

std::string name_(const char* name, int i) { return name + std::to_string(i); }
std::string name_(const char* name, int i, int j) { return name + std::to_string(i) + "_" + std::to_string(j); }

/// Whether forces and mass have constant derivatives, so that one test of the stiffness is valid for all motions.
bool constant_jacobian(const model::Mechanics& model) {
    const model::SymbolicEquations& system = *model.system->symbolic();
    const model::Formulas& f = system.formulas();
    const expr::Kinds moving = expr::Kind::time | expr::Kind::position | expr::Kind::velocity;
    for (const model::Derived::Entry& m : system.derived().mass)
        if (f.graph.depends_on(m.value, moving)) return false;
    expr::Graph graph = f.graph;
    for (const std::vector<expr::Expr>* symbols : {&f.q, &f.u})
        for (const expr::Expr x : *symbols) {
            expr::Derivative along(graph, x);
            for (const expr::Expr h : system.derived().h)
                if (graph.depends_on(along(h), moving)) return false;
        }
    return true;
}

/// Writes the kernel. Values of one motion are scalars with numbered names; loops over coordinates and rows are written
/// out, so that all values can stay in registers. An entry that is zero by structure is the empty text, and operations
/// with it are left out; this changes no bits except signs of zeros. The parts stand in the order of
/// detail/moreau_lanes_kernel.inc and detail/moreau_lanes_rows.inc, whose comments explain them.
class Emitter {
public:
    Emitter(const model::Mechanics& model, const Moreau& method, const KernelRules& rules, std::span<const int> varied)
        : w_(model, method.theta, varied),
          rules_(rules),
          coordinates_(model.size()),
          parameters_(static_cast<int>(varied.size())),
          varied_(model.p.size()) {
        for (std::size_t k = 0; k < varied.size(); ++k) varied_[ix(varied[k])] = "par[" + std::to_string(k) + "]";
        w_.tolerance = method.contact_tolerance;
        w_.literal = method.restitution == Restitution::literal;
        tests_stiffness_ = parameters_ > 0 || !constant_jacobian(model);
        find_rows();
    }

    MotionKernel kernel() {
        MotionKernel k;
        k.name = "saltus_motions";
        k.coordinates = coordinates_;
        k.parameters = parameters_;
        declare_state();
        k.state_size = static_cast<int>(state_.size());
        k.result_size = std::max(2 * coordinates_ + 3, k.state_size);
        for (const ProblemRow& row : rows_) k.rows.push_back(row.row);
        k.contacts = static_cast<int>(w_.model.contacts.size());
        for (std::size_t i = 0; i < state_.size(); ++i)
            if (state_[i].name == "struck_before") k.struck_before = static_cast<int>(i);
        text_ = kernel_prelude;
        if (w_.general) line("#define GENERAL_ROWS " + std::to_string(std::max(1, rows())));
        if (w_.general) line(general_rows);
        if (tests_stiffness_) stiffness_functions();
        line("SALTUS_KERNEL void saltus_motions(SALTUS_GLOBAL const int* sizes, SALTUS_GLOBAL const double* settings,");
        line("    SALTUS_GLOBAL int* next, SALTUS_GLOBAL const int* list, SALTUS_GLOBAL const int* flags,");
        line("    SALTUS_GLOBAL const double* start, SALTUS_GLOBAL double* state, SALTUS_GLOBAL double* result,");
        line("    SALTUS_GLOBAL int* outcome) {");
        line("const int count = sizes[0], stride = sizes[1], budget = sizes[2];");
        line("const double h = settings[0], t_max = settings[1], slow_energy = settings[2];");
        line("int motion = -1, flag = 0, made = 0;");
        if (parameters_ > 0) line("double par[" + std::to_string(parameters_) + "];");
        for (const State& s : state_)
            if (!s.in_array) line((s.integer ? "int " : "double ") + s.name + " = 0;");
        const std::string length = "[" + std::to_string(coordinates_) + "]";
        if (tests_stiffness_) line("double along_q" + length + ", along_u" + length + ";");
        line("for (;;) {");
        take();
        line("if (made == budget) {");
        save();
        line("outcome[motion] = 4; outcome[stride + motion] = steps; break;");
        line("}");
        line("made++;");
        line("int lost = 0;");
        if (tests_stiffness_) {
            line("if (steps % " + std::to_string(steps_between_stiffness) + " == 0) {");
            line("const double at_q" + length + " = {" + listed("q") + "}, at_u" + length + " = {" + listed("u") +
                 "};");
            line("lost = saltus_stiff(" + std::string(parameters_ > 0 ? "par, " : "") +
                 "t, at_q, at_u, along_q, along_u, h, steps == 0 ? " + std::to_string(first_stiffness_iterations) +
                 " : " + std::to_string(further_stiffness_iterations) + ");");
            line("if (lost) { outcome[motion] = 3; outcome[stride + motion] = steps; motion = -1; continue; }");
            line("}");
        }
        line("double t_next = (double)(steps + 1) * h;");
        line("if (t_next > t_max - " + exact_literal(rules_.last_step_stretch) + " * h) t_next = t_max;");
        step();
        decide();
        line("}");
        line("}");
        k.text = std::move(text_);
        return k;
    }

private:
    struct State {
        std::string name;
        bool integer = false, in_array = false;
    };
    using Vector = std::function<std::string(int)>;  ///< text of each coordinate

    void line(const std::string& text) { text_ += text + "\n"; }

    // --- names

    /// The row's values: constants, or outputs of the tape.
    std::string term(const expr::Lanes* value) const {
        const expr::Lanes* const first = w_.varying.data();
        if (!w_.varying.empty() && value >= first && value < first + w_.varying.size())
            return outputs_[static_cast<std::size_t>(value - first)];
        return (*value)[0] == 0.0 ? std::string() : exact_literal((*value)[0]);
    }
    std::string value(const expr::Lanes* v) const {
        const std::string text = term(v);
        return text.empty() ? "0.0" : text;
    }
    static std::string product(const std::string& a, const std::string& b) {
        return a.empty() || b.empty() ? std::string() : a + " * " + b;
    }

    std::vector<std::string> products(int row, const Vector& x) const {
        const model::Pattern& pattern = w_.layout.rows;
        std::vector<std::string> list;
        for (int e = pattern.start[ix(row)]; e < pattern.start[ix(row) + 1]; ++e)
            if (std::string p = product(term(w_.W[ix(e)]), x(pattern.column[ix(e)])); !p.empty())
                list.push_back(std::move(p));
        return list;
    }
    std::string dot(int row, const Vector& x) const { return joined(products(row, x)); }
    std::string row_size(int row, const Vector& x) const {
        std::vector<std::string> list = products(row, x);
        for (std::string& p : list) p = "fabs(" + p + ")";
        return joined(list, "1.0");
    }
    static Vector named(const char* name) {
        return [name](int i) { return name_(name, i); };
    }
    Vector column(int k) const {
        return [this, k](int i) { return column_[ix(k)][ix(i)]; };
    }

    int rows() const { return static_cast<int>(rows_.size()); }
    const Block& block(int k) const { return w_.blocks[ix(rows_[ix(k)].block)]; }
    bool friction(int k) const { return rows_[ix(k)].friction; }
    Kind kind(int k) const { return block(k).kind; }
    bool normal(int k) const { return kind(k) == Kind::contact && !friction(k); }
    /// Whether the motion has row k in this step.
    std::string present(int k) const { return kind(k) == Kind::contact ? name_("closed", block(k).contact) : "1"; }

    // --- fixed structure

    void find_rows() {
        for (std::size_t b = 0; b < w_.blocks.size(); ++b) {
            const Block& law = w_.blocks[b];
            ProblemRow row;
            row.row = law.row;
            row.block = static_cast<int>(b);
            row.friction = law.kind == Kind::scaled_slider || law.kind == Kind::slider;
            if (law.kind == Kind::scaled_slider) row.parent = law.scaling;
            if (law.kind != Kind::contact) always_rows_ = true;
            rows_.push_back(row);
            if (law.kind == Kind::contact && law.slip >= 0) {
                row.parent = rows() - 1;
                row.row = law.slip;
                row.friction = true;
                rows_.push_back(row);
            }
            if (!row.friction || law.slips == 1) continue;
            rows_.back().second = rows();
            row.row += 1;
            row.second = -2;
            rows_.push_back(row);
        }
    }

    void declare_state() {
        state_ = {{"t", false}, {"since", false}, {"step_before", false}, {"steps", true}, {"slow", true}};
        for (int i = 0; i < coordinates_; ++i) state_.push_back({name_("q", i), false});
        for (int i = 0; i < coordinates_; ++i) state_.push_back({name_("u", i), false});
        for (int k = 0; k < rows(); ++k) state_.push_back({name_("L", k), false});
        if (tests_stiffness_)
            for (int i = 0; i < coordinates_; ++i) {
                state_.push_back({"along_q[" + std::to_string(i) + "]", false, true});
                state_.push_back({"along_u[" + std::to_string(i) + "]", false, true});
            }
        if (w_.model.contacts.empty()) return;
        state_.push_back({"struck_before", true});
        for (int c = 0; c < static_cast<int>(w_.model.contacts.size()); ++c) {
            state_.push_back({name_("open", c), true});
            state_.push_back({name_("holds", c), true});
            state_.push_back({name_("gamma_before", c), false});
        }
    }

    /// Statements of a tape at a state; returns the outputs.
    std::vector<std::string> evaluate(const expr::Tape& tape, const char* prefix, const std::string& t, const Vector& q,
                                      const Vector& u) {
        std::vector<std::string> variables{t};
        for (int i = 0; i < coordinates_; ++i) variables.push_back(q(i));
        for (int i = 0; i < coordinates_; ++i) variables.push_back(u(i));
        expr::Statements s = expr::statements_of(tape, prefix, w_.model.p, variables, varied_);
        text_ += with_common_angles(s.text);
        return std::move(s.outputs);
    }

    /// "a = sin(x); b = cos(x);" as one call, which costs little more than one of them.
    static std::string with_common_angles(std::string text) {
        const std::string sine = " = sin(x); ", cosine = " = cos(x); }";
        for (std::size_t at = text.find(sine); at != std::string::npos; at = text.find(sine, at)) {
            const std::size_t first = text.rfind(' ', at - 1) + 1, second = at + sine.size();
            const std::size_t end = text.find(cosine, second);
            if (end == std::string::npos || text.find('\n', second) < end) {
                at = second;
                continue;
            }
            const std::string call = "SALTUS_SINE_AND_COSINE(x, " + text.substr(first, at - first) + ", " +
                                     text.substr(second, end - second) + "); }";
            text.replace(first, end + cosine.size() - first, call);
        }
        return text;
    }

    /// "q0, q1, q2"
    std::string listed(const char* name) const {
        std::string text;
        for (int i = 0; i < coordinates_; ++i) text += (i > 0 ? ", " : "") + name_(name, i);
        return text;
    }

    // --- the test of the stiffness: Stiffness of moreau_implicit.hpp

    /// A state of the functions, which get it in arrays.
    static Vector element(const char* array) {
        return [array](int i) { return std::string(array) + "[" + std::to_string(i) + "]"; };
    }

    void stiffness_functions() {
        using Part = model::SymbolicEquations::Part;
        const std::string n = std::to_string(coordinates_), par = parameters_ > 0 ? "par, " : "";
        const std::string state =
            std::string(parameters_ > 0 ? "const double* par, " : "") + "double t, const double* q, const double* u";
        line("SALTUS_FUNCTION void saltus_force(" + state + ", double* f) {");
        std::vector<std::string> out = evaluate(w_.system.tape(Part::force), "e", "t", element("q"), element("u"));
        for (int i = 0; i < coordinates_; ++i) line("f[" + std::to_string(i) + "] = " + out[ix(i)] + ";");
        line("}");
        line("SALTUS_FUNCTION void saltus_invert_mass(" + state + ", double* f) {");
        out = evaluate(w_.system.tape(Part::mass), "e", "t", element("q"), element("u"));
        const std::vector<model::Derived::Entry>& entries = w_.system.derived().mass;
        Triangle L(ix(coordinates_), std::vector<std::string>(ix(coordinates_)));
        for (std::size_t k = 0; k < entries.size(); ++k) L[ix(entries[k].row)][ix(entries[k].column)] = out[k];
        cholesky(L, coordinates_, "F");
        solve_cholesky(L, coordinates_, element("f"));
        line("}");
        line("SALTUS_FUNCTION double saltus_growth(" + state + ", int rate, double* v) {");
        line("double size = 1.0, length = 0.0, along = 0.0, square = 0.0, change = 0.0;");
        line("double moved[" + n + "], f[" + n + "], g[" + n + "];");
        line("for (int i = 0; i < " + n + "; i++) {");
        line("const double base = fabs(rate ? u[i] : q[i]);");
        line("size = size < base ? base : size;");
        line("length = length < fabs(v[i]) ? fabs(v[i]) : length;");
        line("}");
        line("if (!(length > 0.0)) return -1.0;");
        line("const double epsilon = " + exact_literal(Stiffness::difference_ratio) + " * size / length;");
        line("for (int i = 0; i < " + n + "; i++) moved[i] = (rate ? u[i] : q[i]) + epsilon * v[i];");
        line("saltus_force(" + par + "t, q, u, f);");
        line("saltus_force(" + par + "t, rate ? q : moved, rate ? moved : u, g);");
        line("for (int i = 0; i < " + n + "; i++) {");
        line("g[i] = (g[i] - f[i]) / epsilon;");
        line("if (!(fabs(g[i]) <= " + huge() + ")) return -1.0;");
        line("}");
        line("saltus_invert_mass(" + par + "t, q, u, g);");
        line("for (int i = 0; i < " + n + "; i++) {");
        line("along = along + v[i] * g[i]; square = square + v[i] * v[i]; change = change + g[i] * g[i];");
        line("}");
        line("if (!(change > 0.0)) return 0.0;");
        line("for (int i = 0; i < " + n + "; i++) v[i] = g[i] / sqrt(change);");
        line("return along < 0.0 ? sqrt(change / square) : 0.0;");
        line("}");
        line("SALTUS_FUNCTION int saltus_stiff(" + state + ", double* v, double* w, double h, int rounds) {");
        line("for (int rate = 0; rate < 2; rate++) {");
        line("double largest = 0.0;");
        line("for (int k = 0; k < rounds; k++) {");
        line("const double growth = saltus_growth(" + par + "t, q, u, rate, rate ? w : v);");
        line("if (growth < 0.0) break;");
        line("largest = growth;");
        line("}");
        line("if (h * (rate ? largest : sqrt(largest)) > " + exact_literal(Stiffness::stable_limit / stiffness_margin) +
             ") return 1;");
        line("}");
        line("return 0;");
        line("}");
    }

    // --- a motion begins, is continued, or is put aside

    std::string place(std::size_t number) const { return "[" + std::to_string(number) + " * stride + motion]"; }

    void take() {
        line("if (motion < 0) {");
        line("const int entry = SALTUS_NEXT(next);");
        line("if (entry >= count) break;");
        line("motion = list[entry];");
        line("flag = flags[motion];");
        for (int k = 0; k < parameters_; ++k)
            line("par[" + std::to_string(k) + "] = start" + place(ix(2 * coordinates_ + k)) + ";");
        for (const char* from : {"state", "result"}) {
            line(from[0] == 's' ? "if (flag & 2) {" : "} else if (flag & 4) {");
            for (std::size_t k = 0; k < state_.size(); ++k)
                line(state_[k].name + " = " + (state_[k].integer ? "(int)" : "") + from + place(k) + ";");
        }
        line("} else {");
        for (const State& s : state_) line(s.name + " = 0;");
        for (int i = 0; i < coordinates_; ++i) {
            line(name_("q", i) + " = start" + place(ix(i)) + ";");
            line(name_("u", i) + " = start" + place(ix(i + coordinates_)) + ";");
        }
        double x = 0.0;  // the start vector of Stiffness
        for (int i = 0; tests_stiffness_ && i < coordinates_; ++i) {
            x = std::fmod(x + Stiffness::golden_ratio, 1.0);
            const std::string at = "[" + std::to_string(i) + "] = ";
            line("along_q" + at + exact_literal(0.5 + x) + "; along_u" + at + exact_literal(0.5 + x) + ";");
        }
        begin_contacts();
        line("}");
        line("}");
    }

    void save(const char* to = "state") {
        for (std::size_t k = 0; k < state_.size(); ++k) line(to + place(k) + " = " + state_[k].name + ";");
    }

    /// As LaneStepper::load: contacts that are closed and do not approach count as held.
    void begin_contacts() {
        if (w_.model.contacts.empty()) return;
        outputs_ = evaluate(w_.tape, "s", "t", named("q"), named("u"));
        for (std::size_t c = 0; c < w_.model.contacts.size(); ++c) {
            const int row = w_.model.contacts[c].row, number = static_cast<int>(c);
            const std::string gap = value(w_.position[ix(row)]);
            line("{");
            line("const int touches = " + gap + " <= 0.0 || (" + gap + " < " + exact_literal(largest_closed_gap) +
                 " && " + gap + " <= " + exact_literal(closed_gap_ratio) + " * (" + row_size(row, named("q")) + "));");
            std::string gamma = dot(row, named("u"));
            if (w_.has_chi[ix(row)] != 0) gamma += " + " + value(w_.chi[ix(row)]);
            line(name_("gamma_before", number) + " = " + gamma + ";");
            line(name_("holds", number) + " = touches && " + name_("gamma_before", number) +
                 " >= " + exact_literal(-velocity_rounding_ratio) + " * (" + row_size(row, named("u")) + ");");
            line(name_("open", number) + " = !" + name_("holds", number) + ";");
            line("}");
        }
    }

    // --- one step: StepKernel

    void step() {
        line("const double step = t_next - t;");
        line("const double part = " + exact_literal(1.0 - w_.theta) + " * step, ending = " + exact_literal(w_.theta) +
             " * step, t_m = t + part;");
        for (int i = 0; i < coordinates_; ++i)
            line("const double " + name_("m", i) + " = " + name_("q", i) + " + part * " + name_("u", i) + ";");
        outputs_ = evaluate(w_.tape, "e", "t_m", named("m"), named("u"));
        mass();
        for (int i = 0; i < coordinates_; ++i) {
            const std::string force = term(w_.h[ix(i)]);
            line("double " + name_("d", i) + " = " + (force.empty() ? "0.0" : "step * " + force) + ";");
        }
        invert_mass([](int i) { return name_("d", i); });
        for (const Block& law : w_.blocks)
            if (law.kind == Kind::contact) closed_now(law);
        line("int any_struck = 0;");
        for (int k = 0; k < rows(); ++k) line("double " + name_("r", k) + " = 0.0, " + name_("v", k) + " = 0.0;");
        for (int k = 0; k < rows(); ++k)
            if (normal(k)) line("int " + name_("struck", block(k).contact) + " = 0;");
        for (int i = 0; i < coordinates_ && w_.general; ++i)
            line("double " + name_("n", i) + " = " + name_("u", i) + ";");
        for (int k = 0; k < rows() && w_.general; ++k) line("double " + name_("i", k) + " = 0.0;");
        assemble_declarations();
        if (rows() > 0) {
            if (!always_rows_) {
                std::string some;
                for (std::size_t c = 0; c < w_.model.contacts.size(); ++c)
                    some += (c > 0 ? " | " : "") + name_("closed", static_cast<int>(c));
                line("if (" + some + ") {");
            } else {
                line("{");
            }
            assemble();
            free_velocities();
            solve();
            line("}");
        }
        // Nothing of the state has changed so far.
        line("if (lost) {");
        save("result");
        line("outcome[motion] = 6; outcome[stride + motion] = steps; motion = -1; continue;");
        line("}");
        finish();
        touch();
        project();
    }

    /// Cholesky factor of M, with reciprocals on the diagonal.
    void mass() {
        factor_.assign(ix(coordinates_), std::vector<std::string>(ix(coordinates_)));
        if (w_.diagonal) return;
        if (w_.mass_constant) {
            for (int i = 0; i < coordinates_; ++i)
                for (int j = 0; j <= i; ++j)
                    if (const double l = w_.factor[i][j][0]; l != 0.0) factor_[ix(i)][ix(j)] = exact_literal(l);
            return;
        }
        const model::Pattern& pattern = w_.layout.mass;
        for (int i = 0; i < coordinates_; ++i)
            for (int e = pattern.start[ix(i)]; e < pattern.start[ix(i) + 1]; ++e)
                factor_[ix(i)][ix(pattern.column[ix(e)])] = term(w_.M[ix(e)]);
        cholesky(factor_, coordinates_, "F");
    }

    using Triangle = std::vector<std::vector<std::string>>;

    void cholesky(Triangle& L, int n, const char* name) {
        for (int k = 0; k < n; ++k) {
            std::string pivot = L[ix(k)][ix(k)].empty() ? "0.0" : L[ix(k)][ix(k)];
            for (int j = 0; j < k; ++j)
                if (!L[ix(k)][ix(j)].empty()) pivot += " - " + L[ix(k)][ix(j)] + " * " + L[ix(k)][ix(j)];
            line("const double " + name_(name, k, k) + " = 1.0 / sqrt(" + pivot + ");");
            L[ix(k)][ix(k)] = name_(name, k, k);
            for (int i = k + 1; i < n; ++i) {
                std::string l = L[ix(i)][ix(k)];
                for (int j = 0; j < k; ++j)
                    if (!L[ix(i)][ix(j)].empty() && !L[ix(k)][ix(j)].empty())
                        l = (l.empty() ? "0.0" : l) + " - " + L[ix(i)][ix(j)] + " * " + L[ix(k)][ix(j)];
                if (l.empty()) continue;
                line("const double " + name_(name, i, k) + " = (" + l + ") * " + name_(name, k, k) + ";");
                L[ix(i)][ix(k)] = name_(name, i, k);
            }
        }
    }

    /// Solves in place; `x` names variables. An entry whose name is empty is zero.
    void solve_cholesky(const Triangle& L, int n, const Vector& x) {
        for (int i = 0; i < n; ++i) {
            std::string y = x(i);
            for (int j = 0; j < i; ++j)
                if (!L[ix(i)][ix(j)].empty()) y += " - " + L[ix(i)][ix(j)] + " * " + x(j);
            line(x(i) + " = (" + y + ") * " + L[ix(i)][ix(i)] + ";");
        }
        for (int i = n - 1; i >= 0; --i) {
            std::string y = x(i);
            for (int j = i + 1; j < n; ++j)
                if (!L[ix(j)][ix(i)].empty()) y += " - " + L[ix(j)][ix(i)] + " * " + x(j);
            line(x(i) + " = (" + y + ") * " + L[ix(i)][ix(i)] + ";");
        }
    }

    void invert_mass(const Vector& x) {
        if (!w_.diagonal) return solve_cholesky(factor_, coordinates_, x);
        for (int i = 0; i < coordinates_; ++i)
            line(x(i) + " = " + x(i) + " * " + exact_literal(w_.inverse_mass[ix(i)]) + ";");
    }

    void closed_now(const Block& law) {
        const std::string gap = value(w_.position[ix(law.row)]), c = std::to_string(law.contact);
        line("const int closed" + c + " = " + gap + " <= 0.0 || (" + gap + " < " + exact_literal(largest_closed_gap) +
             " && " + gap + " <= " + exact_literal(closed_gap_ratio) + " * (" + row_size(law.row, named("m")) +
             ")) || (holds" + c + " && " + gap + " <= " + exact_literal(-hold_ratio) + " * step * (" +
             dot(law.row, named("d")) + "));");
    }

    /// Names of the columns M⁻¹W and of D; constant entries of a diagonal M⁻¹ are products of constants.
    void assemble_declarations() {
        const model::Pattern& pattern = w_.layout.rows;
        column_.assign(ix(rows()), std::vector<std::string>(ix(coordinates_)));
        for (int k = 0; k < rows(); ++k) {
            if (!w_.diagonal) {
                for (int i = 0; i < coordinates_; ++i) column_[ix(k)][ix(i)] = name_("k", k, i);
            } else {
                const int row = rows_[ix(k)].row;
                for (int e = pattern.start[ix(row)]; e < pattern.start[ix(row) + 1]; ++e)
                    if (!term(w_.W[ix(e)]).empty())
                        column_[ix(k)][ix(pattern.column[ix(e)])] = name_("k", k, pattern.column[ix(e)]);
            }
            for (const std::string& name : column_[ix(k)])
                if (!name.empty()) line("double " + name + " = 0.0;");
        }
        for (int i = 0; i < w_.constraints; ++i)
            for (int j = 0; j <= i; ++j) line("double " + name_("D", i, j) + " = 0.0;");
    }

    void assemble() {
        const model::Pattern& pattern = w_.layout.rows;
        for (int k = 0; k < rows(); ++k) {
            const int row = rows_[ix(k)].row;
            for (int e = pattern.start[ix(row)]; e < pattern.start[ix(row) + 1]; ++e) {
                const int i = pattern.column[ix(e)];
                const std::string entry = term(w_.W[ix(e)]);
                if (entry.empty()) continue;
                line(name_("k", k, i) + " = " + entry +
                     (w_.diagonal ? " * " + exact_literal(w_.inverse_mass[ix(i)]) : "") + ";");
            }
            if (!w_.diagonal) solve_cholesky(factor_, coordinates_, [k](int i) { return name_("k", k, i); });
        }
        D_.assign(ix(rows()), std::vector<std::string>(ix(rows())));
        assemble_entries([this](int i, int j) { return !has_single_problem() || same_contact(i, j); });
    }
    bool same_contact(int i, int j) const { return rows_[ix(i)].block == rows_[ix(j)].block; }

    /// Entries of D between different contacts, which a problem with one contact does not need.
    void assemble_between() {
        if (has_single_problem()) assemble_entries([this](int i, int j) { return !same_contact(i, j); });
    }

    void assemble_entries(const std::function<bool(int, int)>& wanted) {
        for (int i = 0; i < rows(); ++i)
            for (int j = 0; j <= i; ++j) {
                if (!wanted(i, j)) continue;
                const std::vector<std::string> list = products(rows_[ix(i)].row, column(j));
                const bool declared = i < w_.constraints;
                if (list.empty() && !declared) continue;
                line((declared ? "" : "const double ") + name_("D", i, j) + " = " + joined(list) + ";");
                D_[ix(i)][ix(j)] = D_[ix(j)][ix(i)] = name_("D", i, j);
            }
    }

    void free_velocities() {
        for (int k = 0; k < rows(); ++k) {
            const int row = rows_[ix(k)].row;
            std::string gamma = dot(row, named("u"));
            if (w_.has_chi[ix(row)] != 0) gamma += " + " + value(w_.chi[ix(row)]);
            line("const double " + name_("g", k) + " = " + gamma + ";");
            line("double " + name_("b", k) + " = " + name_("g", k) + " + (" + dot(row, named("d")) + ");");
            const auto zeta = [&] { return term(w_.zeta[ix(row)]); };
            if (kind(k) == Kind::bilateral && !zeta().empty())
                line(name_("b", k) + " = " + name_("b", k) + " + ending * " + zeta() + ";");
            if (!normal(k)) continue;
            const std::string c = std::to_string(block(k).contact);
            line("{");
            line("const double smooth = fabs(" + name_("b", k) + " - " + name_("g", k) + ")" +
                 (zeta().empty() ? "" : " + step * fabs(" + zeta() + ")") + ";");
            line("const double least = " + exact_literal(-resting_speed_ratio) + " * smooth - " +
                 exact_literal(velocity_rounding_ratio) + " * (" + row_size(row, named("u")) + ");");
            line("const int may_strike = open" + c + " | (" + name_("g", k) + " - gamma_before" + c + " < least);");
            line("struck" + c + " = closed" + c + " & may_strike & (" + name_("g", k) + " < least);");
            line("any_struck |= struck" + c + ";");
            if (!zeta().empty())
                line(name_("b", k) + " = " + name_("b", k) + " + (struck" + c + " ? 0.0 : ending * " + zeta() + ");");
            line("}");
        }
        for (int k = 0; k < rows(); ++k) {
            if (kind(k) != Kind::contact) continue;
            const std::string e = term(friction(k) ? block(k).e_t : block(k).e_n);
            if (!e.empty())
                line(name_("b", k) + " = " + name_("b", k) + " + (" +
                     (!friction(k) && w_.literal ? "1" : "any_struck") + " ? " + e + " * " + name_("g", k) +
                     " : 0.0);");
            line(name_("b", k) + " = " + present(k) + " ? " + name_("b", k) + " : 0.0;");
        }
    }

    // --- the contact problem: RowSolver

    static constexpr double proximal_ratio = 1e-7, small_proximal_ratio = 1e-9;
    static constexpr double violation_ratio = 1e-12, rounding_ratio = 1e-15;
    static constexpr double slip_ratio = 1.0 - 1e-9, largest_reaction_scale = 1e3;
    static constexpr int first_reclosing_round = 2;
    static constexpr int max_mode_changes = 12, max_improvements = 4;

    /// A row of a contact problem: numbers and conditions as texts.
    struct Row {
        Kind kind = Kind::contact;
        bool friction = false;
        int parent = -1;
        std::string present;    ///< condition: the motion has this row
        std::string mu, bound;  ///< numbers
        std::string b, before;  ///< numbers: velocity without reactions, and impulse of the step before
    };
    /// A contact problem with names of its own.
    struct Problem {
        std::string prefix;
        std::vector<Row> rows;
        Triangle D;
        int count() const { return static_cast<int>(rows.size()); }
        std::string operator()(const char* name, int i) const { return prefix + name_(name, i); }
        std::string operator()(const char* name, int i, int j) const { return prefix + name_(name, i, j); }
        const Row& row(int i) const { return rows[ix(i)]; }
        /// Row i is an equation.
        std::string hold(int i) const { return (*this)(row(i).friction ? "hold" : "shut", i); }
        std::string largest(int i) const {
            const Row& at = row(i);
            if (at.parent < 0) return "step * " + at.bound;
            const std::string load = (*this)("r", at.parent);
            return at.mu + " * " +
                   (at.kind == Kind::contact ? "(0.0 < " + load + " ? " + load + " : 0.0)" : "fabs(" + load + ")");
        }
        std::string share(int i) const {
            return (*this)("side", i) + (row(i).kind == Kind::contact ? "" : " * " + (*this)("sign", i)) + " * " +
                   row(i).mu;
        }
    };

    static std::string larger(const std::string& a, const std::string& b) {
        return "(" + a + " < " + b + " ? " + b + " : " + a + ")";
    }

    /// Whether contacts are the only rows, there are several, and all are alike: then a step with one closed contact
    /// has a problem of its own, which is the same for all contacts.
    bool has_single_problem() const {
        if (always_rows_ || w_.general || w_.model.contacts.size() < 2) return false;
        for (const Block& law : w_.blocks)
            if ((law.slip >= 0) != (w_.blocks[0].slip >= 0)) return false;
        return true;
    }

    void solve() {
        const bool contacts = !w_.model.contacts.empty();
        line("const int lasts = (step_before > 0.0)" + std::string(contacts ? " & !struck_before & !any_struck" : "") +
             ";");
        line("const double ratio = step / step_before;");
        if (w_.general) {
            solve_general();
        } else if (has_single_problem()) {
            std::string closed;
            for (std::size_t c = 0; c < w_.model.contacts.size(); ++c)
                closed += (c > 0 ? " + " : "") + name_("closed", static_cast<int>(c));
            line("if (" + closed + " == 1) {");
            solve_single();
            line("} else {");
            solve_all();
            line("}");
        } else {
            solve_all();
        }
    }

    // --- friction in planes, and Poisson's law: solve_general of moreau_lanes.cpp

    /// Factor of a row of orthotropic friction: disk_factor. Empty: 1.
    std::string scale(int k) const { return friction(k) && block(k).orthotropic ? name_("f", k) : std::string(); }
    std::string scaled(const std::string& x, int k) const { return scale(k).empty() ? x : x + " * " + scale(k); }
    static std::string in_rows(const char* array, int k) {
        return "p." + std::string(array) + "[" + std::to_string(k) + "]";
    }

    /// The motion is lost where a friction coefficient or a normal force of a slider is negative beyond rounding
    /// (detail/negative_friction.hpp).
    void lose_inadmissible() {
        if (w_.model.layout().coefficients_constant) return;
        for (int k = 0; k < rows(); ++k) {
            const bool slides = kind(k) == Kind::slider || kind(k) == Kind::scaled_slider || friction(k);
            if (!slides) continue;
            std::string bad = value(block(k).mu) + " < -1e-12";
            if (kind(k) == Kind::slider) bad += " || " + value(block(k).force) + " < -1e-12";
            line("lost |= (" + present(k) + ") && (" + bad + ");");
        }
    }

    void solve_general() {
        lose_inadmissible();
        line("SaltusRows p;");
        line("p.n = " + std::to_string(rows()) + ";");
        std::string poisson;
        for (int k = 0; k < rows(); ++k) {
            const Block& law = block(k);
            std::string mu = value(law.mu);
            if (!scale(k).empty()) {
                const std::string largest = name_("o", k);
                line("const double " + largest + " = " + larger(value(law.mu), value(law.mu_second)) + ";");
                line("const double " + scale(k) + " = " + largest + " > 0.0 ? " +
                     (rows_[ix(k)].second == -2 ? value(law.mu_second) : value(law.mu)) + " / " + largest + " : 1.0;");
                mu = largest;
            }
            int kind = 0;
            switch (law.kind) {
                case Kind::bilateral: break;
                case Kind::unilateral: kind = 1; break;
                case Kind::contact: kind = friction(k) ? 2 : 1; break;
                case Kind::scaled_slider: kind = 3; break;
                case Kind::slider:
                    kind = 4;
                    mu = "step * (" + mu + " * " + value(law.force) + ")";
                    break;
            }
            const auto set = [&](const char* array, const std::string& text) {
                line(in_rows(array, k) + " = " + text + ";");
            };
            set("kind", std::to_string(kind));
            set("parent", std::to_string(rows_[ix(k)].parent));
            set("second", std::to_string(rows_[ix(k)].second));
            set("present", present(k));
            set("fixed", "0");
            set("mu", mu);
            set("b", scaled(name_("b", k), k));
            const std::string guess = "lasts & " + present(k) + " ? ratio * " + name_("L", k) + " : 0.0";
            set("r", scale(k).empty() ? guess : scale(k) + " > 0.0 ? (" + guess + ") / " + scale(k) + " : 0.0");
            if (normal(k) && law.poisson) poisson += (poisson.empty() ? "" : " | ") + name_("struck", law.contact);
        }
        for (int i = 0; i < rows(); ++i)
            for (int j = 0; j < rows(); ++j) {
                const std::string d = D_[ix(i)][ix(j)].empty() ? "0.0" : scaled(scaled(D_[ix(i)][ix(j)], i), j);
                line("p.D[" + std::to_string(i) + " * GENERAL_ROWS + " + std::to_string(j) + "] = " + d + ";");
            }
        if (!poisson.empty()) {
            line("if (" + poisson + ") {");
            collide();
            line("}");
        }
        line("lost |= !saltus_solve_rows(&p, " + exact_literal(w_.tolerance) + ");");
        for (int k = 0; k < rows(); ++k) {
            line(name_("r", k) + " = " + scaled(in_rows("r", k), k) + ";");
            line(name_("v", k) + " = " + in_rows("v", k) + ";");
        }
    }

    /// An impact by Poisson's law, in front of the problem of the step.
    void collide() {
        const std::string size = "[" + std::to_string(rows()) + "]";
        line("double gamma" + size + ", e" + size + ";");
        for (int k = 0; k < rows(); ++k) {
            const std::string at = "[" + std::to_string(k) + "] = ";
            line("gamma" + at + scaled(name_("g", k), k) + ";");
            line("e" + at + (kind(k) != Kind::contact ? "0.0" : value(friction(k) ? block(k).e_t : block(k).e_n)) +
                 ";");
        }
        line("if (!saltus_poisson(&p, gamma, e, " + exact_literal(w_.tolerance) + ")) {");
        line("outcome[motion] = 3; outcome[stride + motion] = steps; motion = -1; continue;");
        line("}");
        for (int k = 0; k < rows(); ++k) line(name_("i", k) + " = " + scaled(in_rows("r", k), k) + ";");
        for (int i = 0; i < coordinates_; ++i)
            if (const std::string push = pushes("i", i); !push.empty())
                line(name_("n", i) + " = " + name_("n", i) + " + (" + push + ");");
        for (int k = 0; k < rows(); ++k) {
            const int row = rows_[ix(k)].row;
            std::string speed = dot(row, named("n"));
            if (w_.has_chi[ix(row)] != 0) speed += " + " + value(w_.chi[ix(row)]);
            line(name_("b", k) + " = (" + speed + ") + (" + dot(row, named("d")) + ");");
            const bool holds = kind(k) == Kind::bilateral || normal(k);
            if (holds && !term(w_.zeta[ix(row)]).empty())
                line(name_("b", k) + " = " + name_("b", k) + " + ending * " + term(w_.zeta[ix(row)]) + ";");
            line(name_("b", k) + " = " + present(k) + " ? " + name_("b", k) + " : 0.0;");
            line(in_rows("b", k) + " = " + scaled(name_("b", k), k) + ";");
            line(in_rows("r", k) + " = 0.0;");
        }
    }

    /// The change of velocity i by impulses with this name; empty: none.
    std::string pushes(const char* impulse, int i) const {
        std::vector<std::string> list;
        for (int k = 0; k < rows(); ++k)
            if (!column_[ix(k)][ix(i)].empty()) list.push_back(name_(impulse, k) + " * " + column_[ix(k)][ix(i)]);
        return list.empty() ? std::string() : joined(list);
    }

    void solve_all() {
        lose_inadmissible();
        assemble_between();
        Problem p;
        for (int k = 0; k < rows(); ++k) {
            Row row;
            row.kind = kind(k);
            row.friction = friction(k);
            row.parent = rows_[ix(k)].parent;
            row.present = present(k);
            row.mu = value(block(k).mu);
            row.bound = "(" + row.mu + " * " + value(block(k).force) + ")";
            row.b = name_("b", k);
            row.before = name_("L", k);
            p.rows.push_back(std::move(row));
        }
        p.D = D_;
        solve_problem(p);
    }

    /// The text of a value of the closed contact: that of contact c if closed_c. `text(c)` is for each contact.
    std::string of_closed(const std::function<std::string(int)>& text) const {
        const int contacts = static_cast<int>(w_.model.contacts.size());
        bool same = true;
        for (int c = 1; c < contacts; ++c) same = same && text(c) == text(0);
        if (same) return text(0);
        std::string chain;
        for (int c = 0; c + 1 < contacts; ++c) chain += name_("closed", c) + " ? " + text(c) + " : ";
        return chain + text(contacts - 1);
    }

    void solve_single() {
        const int each = w_.blocks[0].slip >= 0 ? 2 : 1;  // rows of a contact
        Problem p;
        p.prefix = "one_";
        for (int i = 0; i < each; ++i) {
            Row row;
            row.friction = i > 0;
            row.parent = i > 0 ? 0 : -1;
            row.present = "1";
            row.mu = p("mu", i);
            row.b = p("b", i);
            row.before = p("L", i);
            line("const double " + row.mu + " = " + of_closed([&](int c) { return value(block(each * c).mu); }) + ";");
            if (row.friction && !w_.model.layout().coefficients_constant) line("lost |= " + row.mu + " < -1e-12;");
            line("const double " + row.b + " = " + of_closed([&](int c) { return name_("b", each * c + i); }) + ";");
            line("const double " + row.before + " = " + of_closed([&](int c) { return name_("L", each * c + i); }) +
                 ";");
            line("double " + p("r", i) + ", " + p("v", i) + ";");
            p.rows.push_back(std::move(row));
        }
        p.D.assign(ix(each), std::vector<std::string>(ix(each)));
        for (int i = 0; i < each; ++i)
            for (int j = 0; j <= i; ++j) {
                const auto entry = [&](int c) {
                    const std::string& d = D_[ix(each * c + i)][ix(each * c + j)];
                    return d.empty() ? std::string("0.0") : d;
                };
                line("const double " + p("D", i, j) + " = " + of_closed(entry) + ";");
                p.D[ix(i)][ix(j)] = p.D[ix(j)][ix(i)] = p("D", i, j);
            }
        solve_problem(p);
        for (int c = 0; c < static_cast<int>(w_.model.contacts.size()); ++c)
            for (int i = 0; i < each; ++i) {
                line(name_("r", each * c + i) + " = " + name_("closed", c) + " ? " + p("r", i) + " : 0.0;");
                line(name_("v", each * c + i) + " = " + p("v", i) + ";");
            }
    }

    void solve_problem(const Problem& p) {
        take_guess(p);
        measure(p);
        modes_of_guess(p);
        std::string some;
        for (const Row& row : p.rows)
            if (!(row.kind == Kind::contact && row.friction)) some += (some.empty() ? "" : " | ") + row.present;
        line("int live = " + some + ", fine = 0;");
        line("for (int round = 0; live && round < " + std::to_string(max_mode_changes) + "; round++) {");
        set_up(p);
        line("double scale, defect;");
        update_velocities(p);
        line("if (" + inexact() + ") {");
        const Triangle LU = factorise(p);
        line("for (int k = 0; k < " + std::to_string(max_improvements) + "; k++) {");
        improve(p, LU);
        update_velocities(p);
        line("if (!(" + inexact() + ")) break;");
        line("}");
        line("}");
        line("int changed = 0, again = 0;");
        change_modes(p);
        line("if (!changed) {");
        measure_residual(p);
        line("}");
        line("live = changed | again;");
        line("}");
        line("lost |= live;");
    }

    void take_guess(const Problem& p) {
        line("int guessed = 0;");
        for (int k = 0; k < p.count(); ++k) {
            line(p("r", k) + " = lasts & " + p.row(k).present + " ? ratio * " + p.row(k).before + " : 0.0;");
            line("guessed |= " + p("r", k) + " != 0.0;");
        }
    }

    void measure(const Problem& p) {
        line("double diagonal = 0.0, present = 0.0, square = 0.0;");
        for (int k = 0; k < p.count(); ++k) {
            const std::string d = p.D[ix(k)][ix(k)].empty() ? "0.0" : p.D[ix(k)][ix(k)];
            if (p.row(k).kind == Kind::contact) {
                line("diagonal = diagonal + (" + p.row(k).present + " ? " + d + " : 0.0);");
                line("present = present + (" + p.row(k).present + " ? 1.0 : 0.0);");
            } else {
                line("diagonal = diagonal + " + d + ";");
                line("present = present + 1.0;");
            }
            line("square = square + " + p.row(k).b + " * " + p.row(k).b + ";");
        }
        line("lost |= present > 0.0 && !(diagonal > 0.0);");
        line("const double rho = diagonal > 0.0 ? present / diagonal : 1.0, size = sqrt(square);");
    }

    void modes_of_guess(const Problem& p) {
        for (int i = 0; i < p.count(); ++i) {
            const std::string r = p("r", i);
            if (p.row(i).friction) {
                if (p.row(i).kind == Kind::scaled_slider)
                    line("double " + p("sign", i) + " = " + p("r", p.row(i).parent) + " >= 0.0 ? 1.0 : -1.0;");
                const std::string largest =
                    p.row(i).kind == Kind::contact ? p.row(i).mu + " * " + p("r", p.row(i).parent) : p.largest(i);
                line("double " + p("side", i) + " = guessed & " + p.row(i).present + " & (fabs(" + r +
                     ") > 0.0) & (fabs(" + r + ") >= " + exact_literal(slip_ratio) + " * (" + largest + ")) ? (" + r +
                     " > 0.0 ? 1.0 : -1.0) : 0.0;");
                line("int " + p("hold", i) + ";");
            } else if (p.row(i).kind == Kind::bilateral) {
                line("const int " + p("shut", i) + " = 1;");
            } else {
                line("int " + p("shut", i) + " = " + p.row(i).present + " & (guessed ? " + r +
                     " > 0.0 : " + p.row(i).b + " < 0.0);");
            }
        }
    }

    void set_up(const Problem& p) {
        for (int i = 0; i < p.count(); ++i) {
            if (!p.row(i).friction) {
                if (p.row(i).kind != Kind::bilateral)
                    line(p("r", i) + " = " + p("shut", i) + " ? " + p("r", i) + " : 0.0;");
                continue;
            }
            const std::string side = p("side", i);
            std::string sticks = p.row(i).present + " & (" + side + " == 0.0)";
            if (p.row(i).kind == Kind::contact) sticks += " & " + p("shut", p.row(i).parent);
            line(p("hold", i) + " = " + sticks + ";");
            const std::string follows =
                p.row(i).parent < 0 ? side + " * (" + p.largest(i) + ")" : p.share(i) + " * " + p("r", p.row(i).parent);
            line(p("r", i) + " = " + p("hold", i) + " ? " + p("r", i) + " : (" + side + " != 0.0 ? " + follows +
                 " : 0.0);");
        }
    }

    void update_velocities(const Problem& p) {
        line("scale = 0.0; defect = 0.0;");
        for (int i = 0; i < p.count(); ++i) {
            std::string sum = p.row(i).b;
            for (int j = 0; j < p.count(); ++j)
                if (!p.D[ix(i)][ix(j)].empty()) sum += " + " + p.D[ix(i)][ix(j)] + " * " + p("r", j);
            line(p("v", i) + " = " + sum + ";");
            line("scale = " + larger("scale", "fabs(" + p("r", i) + ")") + ";");
            line("if (" + p.hold(i) + ") defect = " + larger("defect", "rho * fabs(" + p("v", i) + ")") + ";");
        }
        line("scale = " + larger("rho * size", "scale") + ";");
    }

    static std::string inexact() { return "defect > " + exact_literal(rounding_ratio) + " * scale"; }

    Triangle factorise(const Problem& p) {
        line("const double shift = (fine ? " + exact_literal(small_proximal_ratio) + " : " +
             exact_literal(proximal_ratio) + ") / rho;");
        Triangle A = p.D;
        for (int e = 0; e < p.count(); ++e) {
            for (int f = 0; f < p.count(); ++f)
                if (p.row(f).friction && p.row(f).parent >= 0 && !p.D[ix(e)][ix(f)].empty()) {
                    std::string& to = A[ix(e)][ix(p.row(f).parent)];
                    to += (to.empty() ? "" : " + ") + p.share(f) + " * " + p.D[ix(e)][ix(f)];
                }
        }
        for (int e = 0; e < p.count(); ++e)
            for (int j = 0; j < p.count(); ++j) {
                std::string& a = A[ix(e)][ix(j)];
                if (e == j)
                    line("double " + p("A", e, e) + " = " + p.hold(e) + " ? " + (a.empty() ? "0.0" : a) +
                         " + shift : 1.0;");
                else if (!a.empty())
                    line("double " + p("A", e, j) + " = " + p.hold(e) + " & " + p.hold(j) + " ? " + a + " : 0.0;");
                if (e == j || !a.empty()) a = p("A", e, j);
            }
        for (int k = 0; k < p.count(); ++k) {
            line(p("A", k, k) + " = 1.0 / " + p("A", k, k) + ";");
            for (int i = k + 1; i < p.count(); ++i) {
                if (A[ix(i)][ix(k)].empty()) continue;
                line(p("A", i, k) + " = " + p("A", i, k) + " * " + p("A", k, k) + ";");
                for (int j = k + 1; j < p.count(); ++j) {
                    if (A[ix(k)][ix(j)].empty()) continue;
                    const bool is_new = A[ix(i)][ix(j)].empty();
                    line((is_new ? "double " : "") + p("A", i, j) + " = " + (is_new ? "0.0" : p("A", i, j)) + " - " +
                         p("A", i, k) + " * " + p("A", k, j) + ";");
                    A[ix(i)][ix(j)] = p("A", i, j);
                }
            }
        }
        return A;
    }

    void improve(const Problem& p, const Triangle& LU) {
        for (int i = 0; i < p.count(); ++i) {
            std::string z = "(" + p.hold(i) + " ? -" + p("v", i) + " : 0.0)";
            for (int j = 0; j < i; ++j)
                if (!LU[ix(i)][ix(j)].empty()) z += " - " + p("A", i, j) + " * " + p("z", j);
            line("double " + p("z", i) + " = " + z + ";");
        }
        for (int i = p.count() - 1; i >= 0; --i) {
            std::string z = p("z", i);
            for (int j = i + 1; j < p.count(); ++j)
                if (!LU[ix(i)][ix(j)].empty()) z += " - " + p("A", i, j) + " * " + p("z", j);
            line(p("z", i) + " = (" + z + ") * " + p("A", i, i) + ";");
        }
        for (int i = 0; i < p.count(); ++i) {
            std::string move = "(" + p.hold(i) + " ? " + p("z", i) + " : 0.0)";
            if (p.row(i).friction && p.row(i).parent >= 0)
                move +=
                    " + " + p.share(i) + " * (" + p.hold(p.row(i).parent) + " ? " + p("z", p.row(i).parent) + " : 0.0)";
            line(p("r", i) + " = " + p("r", i) + " + (" + move + ");");
        }
    }

    /// The mode of friction when its contact has opened or closed.
    static std::string mode_after_flip(const Problem& p, int i) {
        const std::string v = p("v", i);
        return "round >= " + std::to_string(first_reclosing_round) + " & " + p("shut", p.row(i).parent) + " & (" + v +
               " != 0.0) ? (" + v + " < 0.0 ? 1.0 : -1.0) : 0.0";
    }

    void change_modes(const Problem& p) {
        line("const double zero_r = " + exact_literal(violation_ratio) + " * scale, zero_v = zero_r / rho;");
        for (int i = 0; i < p.count(); ++i) {
            if (p.row(i).friction || p.row(i).kind == Kind::bilateral) continue;
            const std::string shut = p("shut", i), flip = p("flip", i);
            line("const int " + flip + " = " + p.row(i).present + " & (" + shut + " ? " + p("r", i) +
                 " < -zero_r : " + p("v", i) + " < -zero_v);");
            line(shut + " = " + shut + " ^ " + flip + ";");
            line("changed |= " + flip + ";");
        }
        for (int i = 0; i < p.count(); ++i) {
            if (!p.row(i).friction) continue;
            const std::string side = p("side", i), r = p("r", i);
            line("{");
            line("const int slides = " + side + " != 0.0;");
            line("double after = " + side + ";");
            if (p.row(i).kind == Kind::contact) {
                const std::string flip = p("flip", p.row(i).parent);
                line("if (" + p.row(i).present + " & " + flip + ") after = " + mode_after_flip(p, i) + ";");
                line("const int here = " + p.row(i).present + " & " + p("shut", p.row(i).parent) + " & !" + flip + ";");
            } else {
                line("const int here = 1;");
                if (p.row(i).parent >= 0) {
                    const std::string load = p("r", p.row(i).parent), sign = p("sign", i);
                    line("const double now = " + load + " >= 0.0 ? 1.0 : -1.0;");
                    line("changed |= slides & (now != " + sign + ") & (fabs(" + load + ") > zero_r);");
                    line(sign + " = now;");
                }
            }
            line("const int breaks = here & (fabs(" + r + ") > " + p.largest(i) + " + zero_r) & !slides;");
            line("const int arrests = here & slides & (" + side + " * " + p("v", i) + " > zero_v);");
            line("if (breaks) after = " + r + " > 0.0 ? 1.0 : -1.0;");
            line(side + " = arrests ? 0.0 : after;");
            line("changed |= breaks | arrests;");
            line("}");
        }
    }

    void measure_residual(const Problem& p) {
        line("double sum = 0.0, norm = 0.0;");
        for (int i = 0; i < p.count(); ++i) {
            const std::string r = p("r", i), v = p("v", i);
            line("{");
            line("double kept = " + r + ", rate = 0.0;");
            if (p.row(i).friction) {
                const std::string side = p("side", i);
                std::string acts = p.row(i).present;
                if (p.row(i).kind == Kind::contact) acts += " & " + p("shut", p.row(i).parent);
                line("if (" + acts + ") {");
                line("const double largest = " + p.largest(i) + ", sliding = rho * " + side + " * " + v + ";");
                line("kept = " + larger(r, "-largest") + ";");
                line("kept = largest < kept ? largest : kept;");
                line("rate = " + side + " != 0.0 ? (0.0 < sliding ? sliding : 0.0) : rho * " + v + ";");
                line("}");
            } else if (p.row(i).kind == Kind::bilateral) {
                line("rate = rho * " + v + ";");
            } else {
                line("kept = " + larger(r, "0.0") + ";");
                line("const double pull = rho * " + v + ";");
                line("rate = " + p.row(i).present + " ? (" + p("shut", i) +
                     " ? pull : (pull < 0.0 ? pull : 0.0)) : 0.0;");
            }
            line("const double cut = " + r + " - kept;");
            line("sum = sum + cut * cut + rate * rate;");
            line(r + " = kept;");
            line("norm = norm + " + r + " * " + r + ";");
            line("}");
        }
        line("const double asked = rho * size, root = sqrt(norm), cap = " + exact_literal(largest_reaction_scale) +
             " * asked;");
        line("const double smaller = cap < root ? cap : root, against = asked < smaller ? smaller : asked;");
        line("const double residual = against > 0.0 ? sqrt(sum) / against : sqrt(sum);");
        line("const int failing = !(residual <= " + exact_literal(w_.tolerance) + ");");
        line("lost |= failing & fine;");
        line("again = failing & !fine;");
        line("fine |= again;");
    }

    // --- after the contact problem

    void finish() {
        for (int i = 0; i < coordinates_; ++i) {
            const std::string push = pushes("r", i), before = name_(w_.general ? "n" : "u", i);
            line(name_("u", i) + " = " + before + " + " + name_("d", i) + (push.empty() ? "" : " + (" + push + ")") +
                 ";");
            line(name_("q", i) + " = " + name_("m", i) + " + ending * " + name_("u", i) + ";");
            line("lost |= !(fabs(" + name_("q", i) + ") <= " + huge() + ") | !(fabs(" + name_("u", i) +
                 ") <= " + huge() + ");");
        }
        for (int k = 0; k < rows() && w_.general; ++k)
            line(name_("r", k) + " = " + name_("r", k) + " + " + name_("i", k) + ";");
        for (int k = 0; k < rows(); ++k) line(name_("L", k) + " = " + name_("r", k) + ";");
        line("step_before = step;");
        line("t = t_next;");
    }
    static std::string huge() { return exact_literal(std::numeric_limits<double>::max()); }

    void touch() {
        if (w_.model.contacts.empty()) return;
        line("struck_before = any_struck;");
        for (int k = 0; k < rows(); ++k) {
            if (!normal(k)) continue;
            const int row = rows_[ix(k)].row;
            const std::string c = std::to_string(block(k).contact);
            line("open" + c + " = !closed" + c + ";");
            line("holds" + c + " = 0;");
            line("if (closed" + c + ") {");
            line("const int leaves = " + name_("r", k) + " == 0.0 && " + name_("v", k) + " > " +
                 exact_literal(velocity_rounding_ratio) + " * (" + row_size(row, named("u")) + ");");
            line("holds" + c + " = !struck" + c + " & !leaves | struck" + c + " & !(" + value(block(k).e_n) +
                 " > 0.0);");
            std::string gamma = dot(row, named("u"));
            if (w_.has_chi[ix(row)] != 0) gamma += " + " + value(w_.chi[ix(row)]);
            line("gamma_before" + c + " = " + gamma + ";");
            line("}");
        }
    }

    /// Newton's method for g(q⁺) = 0.
    void project() {
        if (w_.constraints == 0) return;
        Triangle A(ix(w_.constraints), std::vector<std::string>(ix(w_.constraints)));
        for (int i = 0; i < w_.constraints; ++i)
            for (int j = 0; j <= i; ++j) A[ix(i)][ix(j)] = name_("D", i, j);
        line("{");
        cholesky(A, w_.constraints, "C");
        line("for (int round = 0; round < " + std::to_string(max_projection_rounds) + "; round++) {");
        const std::vector<std::string> g = evaluate(w_.position_tape, "f", "t", named("q"), named("u"));
        line("int wrong = 0;");
        for (int k = 0; k < w_.constraints; ++k) {
            line("{");
            line("const double extent = " + row_size(rows_[ix(k)].row, named("q")) + ";");
            line("const double near = " + exact_literal(constraint_ratio) +
                 " * extent, far = " + exact_literal(constraint_rounding) + " * extent;");
            line("const double least = near < " + exact_literal(constraint_tolerance) +
                 " ? near : " + exact_literal(constraint_tolerance) + ", allowed = least < far ? far : least;");
            line("wrong |= !(fabs(" + g[ix(k)] + ") <= allowed);");
            line("}");
        }
        line("if (!wrong) break;");
        for (int k = 0; k < w_.constraints; ++k) line("double " + name_("z", k) + " = " + g[ix(k)] + ";");
        solve_cholesky(A, w_.constraints, named("z"));
        for (int i = 0; i < coordinates_; ++i) {
            std::vector<std::string> moves;
            for (int k = 0; k < w_.constraints; ++k)
                if (!column_[ix(k)][ix(i)].empty()) moves.push_back(name_("z", k) + " * " + column_[ix(k)][ix(i)]);
            if (moves.empty()) continue;
            line(name_("q", i) + " = " + name_("q", i) + " - (" + joined(moves) + ");");
            line("lost |= !(fabs(" + name_("q", i) + ") <= " + huge() + ");");
        }
        line("}");
        line("}");
    }

    // --- the end of the motion

    void decide() {
        line("int fate = -1;");
        line("double ended = t, potential = 0.0;");
        line("steps++;");
        const expr::Tape kinetic_tape = single(w_.system.derived().kinetic);
        line("const double kinetic = " + kinetic_at_end(kinetic_tape) + ";");
        line("if (lost) {");
        line("fate = 3;");
        line("} else {");
        line("if (kinetic > slow_energy) {");
        line("slow = 0;");
        line("} else {");
        line("if (slow == 0) since = t;");
        line("slow++;");
        line("if (slow == " + std::to_string(rules_.slow_steps) + ") { fate = 1; ended = since; }");
        line("}");
        line("if (fate < 0 && (flag & 1) && steps % " + std::to_string(rules_.steps_between_captures) + " == 0) {");
        capture();
        line("}");
        line("if (fate < 0 && t >= t_max) fate = 0;");
        line("}");
        line("if (fate >= 0) {");
        for (int i = 0; i < coordinates_; ++i) {
            line("result" + place(ix(i)) + " = " + name_("q", i) + ";");
            line("result" + place(ix(i + coordinates_)) + " = " + name_("u", i) + ";");
        }
        const std::size_t after = ix(2 * coordinates_);
        line("result" + place(after) + " = ended;");
        line("result" + place(after + 1) + " = kinetic;");
        line("result" + place(after + 2) + " = potential;");
        line("outcome[motion] = fate;");
        line("outcome[stride + motion] = steps;");
        line("if (fate == 2) {");
        save();
        line("}");
        line("motion = -1;");
        line("}");
    }

    expr::Tape single(expr::Expr e) const {
        const model::Formulas& f = w_.system.formulas();
        std::vector<expr::Expr> variables{f.t};
        variables.insert(variables.end(), f.q.begin(), f.q.end());
        variables.insert(variables.end(), f.u.begin(), f.u.end());
        return {f.graph, std::vector<expr::Expr>{e}, f.p, variables};
    }

    std::string kinetic_at_end(const expr::Tape& tape) { return evaluate(tape, "w", "t", named("q"), named("u"))[0]; }

    /// The part of { V < ρ } in a box, or in a copy of it by whole periods.
    void capture() {
        const expr::Tape tape = single(w_.system.derived().potential);
        const std::string potential = evaluate(tape, "y", "t", named("q"), named("u"))[0];
        line("potential = " + potential + ";");
        line("int inside = kinetic + potential - settings[4] < settings[3];");
        for (int i = 0; i < coordinates_; ++i) {
            const auto setting = [&](int k) {
                return "settings[" +
                       std::to_string(MotionKernel::settings_before_coordinates +
                                      MotionKernel::settings_per_coordinate * i + k) +
                       "]";
            };
            line("if (inside) {");
            line("double place = " + name_("q", i) + ";");
            line("if (" + setting(0) + " > 0.0) place = place - " + setting(0) + " * round((place - " + setting(1) +
                 ") / " + setting(0) + ");");
            line("inside = (place >= " + setting(2) + ") & (place <= " + setting(3) + ");");
            line("}");
        }
        line("if (inside) fate = 2;");
    }

    Work w_;
    const KernelRules rules_;
    const int coordinates_, parameters_;
    std::vector<std::string> varied_;  ///< texts of the parameters that each motion has of its own; empty: fixed
    std::vector<ProblemRow> rows_;
    bool tests_stiffness_ = false;  ///< the forces are not linear
    bool always_rows_ = false;      ///< the problem has rows in every step
    std::vector<State> state_;
    std::vector<std::string> outputs_;              ///< of the tape of the step, at the present place in the text
    std::vector<std::vector<std::string>> column_;  ///< M⁻¹W of each row; empty: zero
    Triangle factor_, D_;
    std::string text_;
};

}  // namespace

std::string kernel_refusal(const model::Mechanics& model, const Moreau& method, double t_max,
                           std::span<const int> varied) {
    if (std::string why = LaneStepper::refusal(model, method); !why.empty()) return why;
    const double steps = t_max / method.h;
    if (!(steps < 2e9)) return "there are too many steps";
    if (!varied.empty() || !constant_jacobian(model)) return {};  // the kernel makes the tests
    model::Workspace workspace(model);
    model::Terms terms(model.layout());
    model::evaluate(model, workspace, 0.0, model.q0, model.u0, terms);
    model::MassFactor mass(model.layout().mass);
    if (!mass.factorise(terms.M)) return "the mass matrix is not positive definite";
    Stiffness stiffness(model);
    const auto tests = std::min(max_stiffness_tests, 1 + static_cast<std::int64_t>(steps) / steps_between_stiffness);
    for (std::int64_t k = 0; k < tests; ++k)
        if (stiffness.beyond(0.0, model.q0, model.u0, stiffness_margin * method.h,
                             k == 0 ? first_stiffness_iterations : further_stiffness_iterations,
                             [&](std::span<double> x) { mass.solve(x); }))
            return "explicit steps of this length are not stable";
    return {};
}

MotionKernel emit_motion_kernel(const model::Mechanics& model, const Moreau& method, const KernelRules& rules,
                                std::span<const int> varied) {
    return Emitter(model, method, rules, varied).kernel();
}

}  // namespace saltus::integrate::moreau
