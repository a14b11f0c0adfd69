// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/moreau/moreau_lanes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/expr/symbol_sets.hpp"
#include "saltus/integrate/detail/negative_friction.hpp"
#include "saltus/integrate/mode/active.hpp"
#include "saltus/integrate/moreau/detail/moreau_lanes_work.hpp"
#include "saltus/integrate/moreau/detail/moreau_tolerances.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/support.hpp"

namespace saltus::integrate::moreau {

namespace lanes {

// The kernel is compiled once for each register width. At run time the widest one that the processor has is chosen. All
// give the same bits.

#define SALTUS_INLINE inline __attribute__((always_inline))

namespace narrow {
#define SALTUS_LANES_BYTES 16
#include "saltus/integrate/moreau/detail/moreau_lanes_kernel.inc"
#undef SALTUS_LANES_BYTES
}  // namespace narrow

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SALTUS_LANES_WIDE 1
#pragma GCC push_options
#pragma GCC target("avx2")
namespace wide {
#define SALTUS_LANES_BYTES 32
#include "saltus/integrate/moreau/detail/moreau_lanes_kernel.inc"
#undef SALTUS_LANES_BYTES
}  // namespace wide
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq")
namespace widest {
#define SALTUS_LANES_BYTES 64
#include "saltus/integrate/moreau/detail/moreau_lanes_kernel.inc"
#undef SALTUS_LANES_BYTES
}  // namespace widest
#pragma GCC pop_options
#endif

namespace {

/// Expressions of these kinds change during a motion; the others are evaluated once.
constexpr expr::Kinds moving = expr::Kind::time | expr::Kind::position | expr::Kind::velocity;

/// The parts of a step, compiled for one register width.
struct Kernel {
    void (*before)(Work&, Lanes* variables);
    void (*solve)(Work&);
    void (*finish)(Work&);
    bool (*project)(Work&, bool first);
};

Kernel kernel() {
#if SALTUS_LANES_WIDE
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        return {widest::before_terms, widest::solve_rows, widest::finish_step, widest::project_positions};
    if (__builtin_cpu_supports("avx2"))
        return {wide::before_terms, wide::solve_rows, wide::finish_step, wide::project_positions};
#endif
    return {narrow::before_terms, narrow::solve_rows, narrow::finish_step, narrow::project_positions};
}

/// Evaluates a tape at the present states of the lanes.
void evaluate_at_end(Work& w, const expr::Tape& tape, std::vector<Lanes>& scratch, std::vector<Lanes>& out) {
    Lanes* const x = tape.variables(std::span<Lanes>(scratch)).data();
    x[0] = w.t;
    for (int i = 0; i < w.n; ++i) x[1 + i] = w.q[i], x[1 + w.n + i] = w.u[i];
    tape.evaluate_in_place(std::span<Lanes>(scratch), std::span<Lanes>(out));
}

#define GENERAL_ROWS 12
#define SALTUS_FUNCTION
#define SALTUS_SHARED(...) __VA_ARGS__
#include "saltus/integrate/moreau/detail/general_rows.inc"
#undef SALTUS_SHARED
#undef SALTUS_FUNCTION
static_assert(max_rows <= GENERAL_ROWS);

/// Row k is friction in a plane with different coefficients: the factor of its row in coordinates in which the set of
/// admissible forces is a disk with the larger coefficient as its radius. Otherwise 1.
double disk_factor(const Work& w, int k, std::size_t lane, double& mu) {
    const Block& block = w.blocks[ix(w.rows[k].block)];
    mu = (*block.mu)[lane];
    if (!block.orthotropic || !w.rows[k].friction) return 1.0;
    const double first = mu, second = (*block.mu_second)[lane];
    mu = first < second ? second : first;
    if (!(mu > 0.0)) return 1.0;
    return (w.rows[k].second == -2 ? second : first) / mu;
}

/// Solves the contact problem of one lane: friction along lines and in planes. An impact by Poisson's law comes first
/// and changes the velocities. False if the problem is not solved; `impact_failed` tells whether it is that of the
/// impact, after which the lane is lost.
bool solve_general(Work& w, std::size_t lane, bool& impact_failed) {
    SaltusRows p{};
    double scale[max_rows], gamma[max_rows], e[max_rows];
    bool poisson = false;
    p.n = w.row_count;
    for (int k = 0; k < p.n; ++k) {
        const Block& block = w.blocks[ix(w.rows[k].block)];
        scale[k] = disk_factor(w, k, lane, p.mu[k]);
        p.parent[k] = w.rows[k].parent;
        p.second[k] = w.rows[k].second;
        p.present[k] = w.present[k].v[lane] != 0 ? 1 : 0;
        switch (block.kind) {
            case Kind::bilateral: p.kind[k] = 0; break;
            case Kind::unilateral: p.kind[k] = 1; break;
            case Kind::contact: p.kind[k] = w.rows[k].friction ? 2 : 1; break;
            case Kind::scaled_slider: p.kind[k] = 3; break;
            case Kind::slider:
                p.kind[k] = 4;
                p.mu[k] = w.step[lane] * (p.mu[k] * (*block.force)[lane]);
                break;
        }
        const bool contact = block.kind == Kind::contact;
        gamma[k] = w.gamma[k][lane] * scale[k];
        e[k] = !contact ? 0.0 : (w.rows[k].friction ? *block.e_t : *block.e_n)[lane];
        p.b[k] = w.b[k][lane] * scale[k];
        p.r[k] = scale[k] > 0.0 ? w.r[k][lane] / scale[k] : 0.0;
        w.impact[k][lane] = 0.0;
        poisson = poisson || (contact && block.poisson && !w.rows[k].friction && p.present[k] != 0 &&
                              w.struck[ix(block.contact)].v[lane] != 0);
    }
    for (int i = 0; i < p.n; ++i)
        for (int j = 0; j < p.n; ++j) p.D[i * GENERAL_ROWS + j] = w.D[i][j][lane] * scale[i] * scale[j];
    if (poisson) {
        impact_failed = saltus_poisson(&p, gamma, e, w.tolerance) == 0;
        if (impact_failed) return false;
        for (int i = 0; i < w.n; ++i) {
            double push = 0.0;
            for (int k = 0; k < p.n; ++k) push = push + p.r[k] * scale[k] * w.column[k][i][lane];
            w.u[i][lane] = w.u[i][lane] + push;
        }
        const double end = w.theta * w.step[lane];
        for (int k = 0; k < p.n; ++k) {
            const int row = w.rows[k].row;
            const auto dot = [&](const Lanes* x) {
                double sum = 0.0;
                for (int at = w.layout.rows.start[ix(row)]; at < w.layout.rows.start[ix(row) + 1]; ++at)
                    sum = sum + (*w.W[ix(at)])[lane] * x[w.layout.rows.column[ix(at)]][lane];
                return sum;
            };
            double speed = dot(w.u);
            if (w.has_chi[ix(row)] != 0) speed = speed + (*w.chi[ix(row)])[lane];
            double b = speed + dot(w.change);
            if (p.kind[k] == 0 || (w.blocks[ix(w.rows[k].block)].kind == Kind::contact && !w.rows[k].friction))
                b = b + end * (*w.zeta[ix(row)])[lane];
            w.impact[k][lane] = p.r[k] * scale[k];
            w.b[k][lane] = p.present[k] != 0 ? b : 0.0;
            p.b[k] = w.b[k][lane] * scale[k];
            p.r[k] = 0.0;
        }
    }
    if (saltus_solve_rows(&p, w.tolerance) == 0) return false;
    for (int k = 0; k < p.n; ++k) {
        w.r[k][lane] = p.r[k] * scale[k];
        w.v[k][lane] = p.v[k];
    }
    return true;
}

/// Solves the contact problem of one lane by the general solvers. False if there is no usable solution.
bool solve_alone(Work& w, std::size_t lane) {
    using solvers::Law;
    using solvers::LawKind;
    solvers::FrictionProblem& problem = w.problem;
    problem.laws.clear();
    problem.q.clear();
    w.guess.clear();
    std::vector<int> rows, sizes;
    int place[max_rows];
    const auto add_row = [&](int k) {
        place[k] = static_cast<int>(rows.size());
        rows.push_back(k);
        problem.q.push_back(w.b[k][lane]);
        w.guess.push_back(w.first_guess[k][lane]);
    };
    int bilateral = 0;
    for (int k = 0; k < w.row_count; ++k) {
        const Block& block = w.blocks[ix(w.rows[k].block)];
        if (w.present[k].v[lane] == 0) continue;
        Law law;
        law.mu = (*block.mu)[lane];
        if (block.orthotropic) {
            law.mu_second = (*block.mu_second)[lane];
            if (law.mu == 0.0 || law.mu_second == 0.0) return false;  // the law has fewer rows then
        }
        add_row(k);
        const bool plane = w.rows[k].second >= 0;  // of a slider
        switch (block.kind) {
            case Kind::bilateral:  // all constraints form one block
                law.kind = LawKind::bilateral;
                if (bilateral++ > 0) {
                    ++sizes.back();
                    continue;
                }
                break;
            case Kind::scaled_slider:
                law.kind = LawKind::scaled_slider;
                law.row = place[w.rows[k].parent];
                break;
            case Kind::slider:
                law.kind = LawKind::slider;
                law.bound = block.orthotropic ? w.step[lane] * (*block.force)[lane]
                                              : w.step[lane] * ((*block.mu)[lane] * (*block.force)[lane]);
                break;
            case Kind::unilateral: law.kind = LawKind::unilateral; break;
            case Kind::contact:
                law.kind = block.slip < 0     ? LawKind::unilateral
                           : block.slips == 1 ? LawKind::friction2
                                              : LawKind::friction3;
                break;
        }
        problem.laws.push_back(law);
        sizes.push_back(1);
        const int further = block.kind == Kind::contact ? (block.slip >= 0 ? block.slips : 0) : plane ? 1 : 0;
        for (int i = 0; i < further; ++i) {
            add_row(++k);
            ++sizes.back();
        }
    }
    const auto m = static_cast<Eigen::Index>(rows.size());
    Matrix D(m, m);
    for (Eigen::Index i = 0; i < m; ++i)
        for (Eigen::Index j = 0; j < m; ++j)
            D(i, j) = w.D[rows[static_cast<std::size_t>(i)]][rows[static_cast<std::size_t>(j)]][lane];
    problem.W = solvers::BlockMatrix::from_dense(D, sizes);
    if (problem.laws.size() == 1 || std::all_of(w.guess.begin(), w.guess.end(), [](double x) { return x == 0.0; }))
        w.guess.clear();
    solvers::solve(problem, solvers::Automatic{w.tolerance}, w.solver, w.solution, w.guess);
    if (!solvers::usable(w.solution.status) &&
        (w.solution.status == solvers::Status::infeasible || !(w.solution.residual <= unusable_residual)))
        return false;
    for (int k = 0; k < w.row_count; ++k) w.r[k][lane] = w.v[k][lane] = 0.0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        w.r[rows[i]][lane] = w.solution.r[i];
        w.v[rows[i]][lane] = w.solution.v[i];
    }
    return true;
}

}  // namespace

Work::Work(const model::Mechanics& m, double part, std::span<const int> varied)
    : model(m),
      system((SALTUS_EXPECT(m.system->symbolic() != nullptr), *m.system->symbolic())),
      layout(m.layout()),
      n(m.size()),
      theta(part),
      constraints(m.layout().constraints),
      workspace(m),
      terms(layout),
      open(m.contacts.size()),
      holds(m.contacts.size()),
      gamma_before(m.contacts.size(), Lanes(0.0)),
      Lambda(ix(layout.row_count()), Lanes(0.0)),
      closed(m.contacts.size()),
      struck(m.contacts.size()) {
    const model::Formulas& f = system.formulas();
    const model::Derived& d = system.derived();
    std::vector<expr::Expr> variables{f.t};
    variables.insert(variables.end(), f.q.begin(), f.q.end());
    variables.insert(variables.end(), f.u.begin(), f.u.end());

    // Terms at the initial state, for those that are constant.
    model::evaluate(m, workspace, 0.0, m.q0, m.u0, terms);
    std::vector<expr::Expr> outputs;
    struct Entry {
        std::vector<const Lanes*>* list;
        std::ptrdiff_t varying;  // index in `varying`, or −1 for a constant term
        double value;
    };
    std::vector<Entry> entries;
    expr::SymbolSets symbols(f.graph);
    const auto varies_by_motion = [&](expr::Expr e) {
        return std::any_of(varied.begin(), varied.end(), [&](int k) { return symbols.may_depend_on(e, f.p[ix(k)]); });
    };
    const auto add = [&](std::vector<const Lanes*>& list, expr::Expr e, double value) {
        const bool varies = f.graph.depends_on(e, moving) || varies_by_motion(e);
        entries.push_back({&list, varies ? static_cast<std::ptrdiff_t>(outputs.size()) : -1, value});
        if (varies) outputs.push_back(e);
    };
    for (std::size_t i = 0; i < d.h.size(); ++i) add(h, d.h[i], terms.h[i]);
    mass_constant = layout.mass_constant && std::none_of(d.mass.begin(), d.mass.end(), [&](const auto& entry) {
                        return varies_by_motion(entry.value);
                    });
    for (std::size_t k = 0; k < d.mass.size(); ++k) add(M, d.mass[k].value, terms.M[k]);
    for (std::size_t k = 0; k < d.rows.size(); ++k) add(W, d.rows[k].value, terms.W[k]);
    for (std::size_t k = 0; k < d.chi.size(); ++k) {
        add(chi, d.chi[k], terms.chi[k]);
        has_chi.push_back(!f.graph.is_zero(d.chi[k]));
    }
    std::vector<expr::Expr> positions = f.constraints;
    positions.insert(positions.end(), f.gaps.begin(), f.gaps.end());
    for (std::size_t k = 0; k < positions.size(); ++k) {
        add(position, positions[k], terms.positions[k]);
        add(zeta, d.zeta[k], terms.zeta[k]);
    }
    std::vector<double> initial(ix(layout.coefficients));
    m.system->coefficients(model::at(m, 0.0, m.q0, m.u0), workspace.scratch(), initial);
    for (std::size_t k = 0; k < initial.size(); ++k) add(coefficients, f.coefficients[k], initial[k]);
    tape = expr::Tape(f.graph, outputs, f.p, variables);
    varying.resize(outputs.size(), Lanes(0.0));
    constant.resize(entries.size(), Lanes(0.0));
    for (std::size_t k = 0; k < entries.size(); ++k) {
        constant[k] = Lanes(entries[k].value);
        entries[k].list->push_back(entries[k].varying >= 0 ? &varying[static_cast<std::size_t>(entries[k].varying)]
                                                           : &constant[k]);
    }
    const std::vector<expr::Expr> energies{d.kinetic, d.potential};
    energy_tape = expr::Tape(f.graph, energies, f.p, variables);
    energy_out.resize(2, Lanes(0.0));
    std::vector<Lanes> p;
    for (const double value : m.p) p.emplace_back(value);
    scratch.resize(tape.slot_count());
    tape.prepare<Lanes>(p, scratch);
    energy_scratch.resize(energy_tape.slot_count());
    energy_tape.prepare<Lanes>(p, energy_scratch);
    position_tape = expr::Tape(f.graph, f.constraints, f.p, variables);
    position_out.resize(f.constraints.size(), Lanes(0.0));
    position_scratch.resize(position_tape.slot_count());
    position_tape.prepare<Lanes>(p, position_scratch);

    model::MassFactor factorised(layout.mass);
    if (mass_constant && factorised.factorise(terms.M)) {
        diagonal = factorised.blocks().size() == ix(n);
        inverse_mass.assign(ix(n), 1.0);
        if (diagonal) factorised.solve(inverse_mass);
        const Matrix L = [&] {
            Matrix X = dense_symmetric(layout.mass, terms.M);
            for (Eigen::Index k = 0; k < n; ++k) {
                for (Eigen::Index j = 0; j < k; ++j) X(k, k) -= X(k, j) * X(k, j);
                X(k, k) = std::sqrt(X(k, k));
                for (Eigen::Index i = k + 1; i < n; ++i) {
                    for (Eigen::Index j = 0; j < k; ++j) X(i, k) -= X(i, j) * X(k, j);
                    X(i, k) /= X(k, k);
                }
            }
            return X;
        }();
        for (int i = 0; i < n; ++i)
            for (int j = 0; j <= i; ++j) factor[i][j] = Lanes(i == j ? 1.0 / L(i, i) : L(i, j));
    }

    const auto value = [&](model::Coefficient c) {
        return c == model::no_coefficient ? &no_coefficient : coefficients[ix(c)];
    };
    const auto block = [&] {
        Block empty;
        empty.mu = empty.mu_second = empty.force = empty.e_n = empty.e_t = &no_coefficient;
        return empty;
    };
    const auto set_friction = [&](Block& to, const model::Friction& friction) {
        to.mu = value(friction.mu[0]);
        to.slips = friction.dimension;
        to.orthotropic = friction.law == model::FrictionLaw::orthotropic;
        if (to.orthotropic) to.mu_second = value(friction.mu[1]);
        general = general || friction.dimension > 1;
    };
    for (const model::Constraint& c : m.constraints) {
        Block to = block();
        to.kind = Kind::bilateral;
        to.row = c.row;
        blocks.push_back(to);
    }
    for (std::size_t k = 0; k < m.constraints.size(); ++k) {
        const model::Friction& friction = m.constraints[k].friction;
        if (friction.dimension == 0) continue;
        Block to = block();
        to.kind = Kind::scaled_slider;
        to.row = friction.first_row;
        to.scaling = static_cast<int>(k);
        set_friction(to, friction);
        blocks.push_back(to);
    }
    for (const model::Slider& s : m.sliders) {
        Block to = block();
        to.kind = Kind::slider;
        to.row = s.friction.first_row;
        set_friction(to, s.friction);
        to.force = value(s.normal_force);
        blocks.push_back(to);
    }
    for (const model::Clutch& c : m.clutches) {
        Block to = block();
        to.kind = Kind::unilateral;
        to.row = c.row;
        blocks.push_back(to);
    }
    for (std::size_t k = 0; k < m.contacts.size(); ++k) {
        const model::Contact& c = m.contacts[k];
        Block to = block();
        to.kind = Kind::contact;
        to.row = c.row;
        to.slip = c.friction.dimension > 0 ? c.friction.first_row : -1;
        to.contact = static_cast<int>(k);
        set_friction(to, c.friction);
        to.poisson = c.impact == model::ImpactLaw::poisson;
        general = general || to.poisson;
        to.e_n = value(c.e_n);
        to.e_t = value(c.e_t);
        blocks.push_back(to);
    }
}

}  // namespace lanes

using lanes::Work;

std::string LaneStepper::refusal(const model::Mechanics& model, const Moreau& method) {
    if (method.adaptive || method.implicit) return "steps are adaptive or implicit";
    if (std::string why = model::unsupported(model, model::Analysis::moreau_lanes); !why.empty()) return why;
    if (model.size() > lanes::max_coordinates) return "there are too many coordinates";
    int rows = model.layout().constraints + static_cast<int>(model.contacts.size() + model.clutches.size());
    for (const model::Contact& c : model.contacts) rows += c.friction.dimension;
    for (const model::Constraint& c : model.constraints) rows += c.friction.dimension;
    for (const model::Slider& s : model.sliders) rows += s.friction.dimension;
    if (rows > lanes::max_rows) return "there are too many rows";
    if (model.layout().constraints > max_constraints_in_one_block) return "there are too many constraints";
    return {};
}

LaneStepper::LaneStepper(const model::Mechanics& model, const Moreau& method)
    : work_(std::make_unique<Work>(model, method.theta)) {
    SALTUS_EXPECT(refusal(model, method).empty());
    work_->tolerance = method.contact_tolerance;
    work_->literal = method.restitution == Restitution::literal;
    for (std::size_t lane = 0; lane < width; ++lane) load(lane, model.q0, model.u0);
}

LaneStepper::~LaneStepper() = default;

bool LaneStepper::load(std::size_t lane, std::span<const double> q, std::span<const double> u) {
    Work& w = *work_;
    w.t[lane] = w.step_before[lane] = 0.0;
    w.lost.v[lane] = w.struck_before.v[lane] = 0;
    for (int i = 0; i < w.n; ++i) {
        w.q[i][lane] = q[static_cast<std::size_t>(i)];
        w.u[i][lane] = u[static_cast<std::size_t>(i)];
    }
    for (expr::Lanes& x : w.Lambda) x[lane] = 0.0;
    // Contacts that are closed and do not approach count as held, so that they get no restitution in the first step.
    model::evaluate(w.model, w.workspace, 0.0, q, u, w.terms);
    const model::Layout& layout = w.layout;
    for (std::size_t c = 0; c < w.model.contacts.size(); ++c) {
        const int row = w.model.contacts[c].row;
        const double gap = w.terms.positions[static_cast<std::size_t>(row)];
        const bool closed = gap <= 0.0 || (gap < largest_closed_gap &&
                                           gap <= closed_gap_ratio * model::row_scale(layout.rows, w.terms.W, row, q));
        const double gamma = model::row_velocity(layout, w.terms, row, u);
        const bool holds =
            closed && gamma >= -velocity_rounding_ratio * model::row_scale(layout.rows, w.terms.W, row, u);
        w.gamma_before[c][lane] = gamma;
        w.holds[c].v[lane] = holds ? -1 : 0;
        w.open[c].v[lane] = holds ? 0 : -1;
    }
    if (w.constraints < 2) return true;
    Matrix rows = Matrix::Zero(w.constraints, w.n);
    for (int r = 0; r < w.constraints; ++r)
        for (int e = layout.rows.start[ix(r)]; e < layout.rows.start[ix(r) + 1]; ++e)
            rows(r, layout.rows.column[ix(e)]) = w.terms.W[ix(e)];
    return row_rank(rows, dependent_row_ratio).rank == w.constraints;  // the test of Stepper
}

void LaneStepper::restore(std::size_t lane, const Memory& m) {
    Work& w = *work_;
    w.t[lane] = m.t;
    w.step_before[lane] = m.step_before;
    w.lost.v[lane] = 0;
    w.struck_before.v[lane] = m.struck_before ? -1 : 0;
    for (int i = 0; i < w.n; ++i) w.q[i][lane] = m.q[ix(i)], w.u[i][lane] = m.u[ix(i)];
    for (std::size_t k = 0; k < w.Lambda.size(); ++k) w.Lambda[k][lane] = m.Lambda[k];
    for (std::size_t c = 0; c < w.open.size(); ++c) {
        w.open[c].v[lane] = m.open[c] != 0 ? -1 : 0;
        w.holds[c].v[lane] = m.holds[c] != 0 ? -1 : 0;
        w.gamma_before[c][lane] = m.gamma_before[c];
    }
}

void LaneStepper::remember(std::size_t lane, Memory& m) const {
    const Work& w = *work_;
    m.t = w.t[lane];
    m.step_before = w.step_before[lane];
    m.struck_before = w.struck_before.v[lane] != 0;
    for (int i = 0; i < w.n; ++i) m.q[ix(i)] = w.q[i][lane], m.u[ix(i)] = w.u[i][lane];
    for (std::size_t k = 0; k < w.Lambda.size(); ++k) m.Lambda[k] = w.Lambda[k][lane];
    for (std::size_t c = 0; c < w.open.size(); ++c) {
        m.open[c] = w.open[c].v[lane] != 0;
        m.holds[c] = w.holds[c].v[lane] != 0;
        m.gamma_before[c] = w.gamma_before[c][lane];
    }
}

namespace lanes {

/// Loses lanes in which a friction coefficient or a normal force of a slider is negative beyond rounding, see
/// detail/negative_friction.hpp. Contacts count if they are closed.
void lose_inadmissible(Work& w) {
    for (const Block& block : w.blocks) {
        if (block.slips == 0) continue;
        for (std::size_t lane = 0; lane < LaneStepper::width; ++lane) {
            if (block.contact >= 0 && w.open[ix(block.contact)].v[lane] != 0) continue;
            const double least = std::min({(*block.mu)[lane], (*block.mu_second)[lane], (*block.force)[lane]});
            if (least < -negligible_friction) w.lost.v[lane] = -1;
        }
    }
}

}  // namespace lanes

void LaneStepper::step(const expr::Lanes& t) {
    static const lanes::Kernel kernel = lanes::kernel();
    Work& w = *work_;
    w.t_next = t;
    kernel.before(w, w.tape.variables(std::span<expr::Lanes>(w.scratch)).data());
    w.tape.evaluate_in_place(std::span<expr::Lanes>(w.scratch), std::span<expr::Lanes>(w.varying));
    kernel.solve(w);
    if (!w.layout.coefficients_constant) lanes::lose_inadmissible(w);
    for (std::size_t lane = 0; lane < width; ++lane) {
        if (w.lost.v[lane] != 0) continue;
        bool impact_failed = false;
        if (w.general && w.row_count > 0 && !lanes::solve_general(w, lane, impact_failed)) w.unsolved.v[lane] = -1;
        if (w.unsolved.v[lane] != 0 && (impact_failed || !lanes::solve_alone(w, lane))) w.lost.v[lane] = -1;
    }
    kernel.finish(w);
    if (w.constraints == 0) return;
    for (int round = 0; round < max_projection_rounds; ++round) {
        lanes::evaluate_at_end(w, w.position_tape, w.position_scratch, w.position_out);
        if (!kernel.project(w, round == 0)) break;
    }
}

double LaneStepper::t(std::size_t lane) const { return work_->t[lane]; }
double LaneStepper::q(int coordinate, std::size_t lane) const { return work_->q[coordinate][lane]; }
double LaneStepper::u(int coordinate, std::size_t lane) const { return work_->u[coordinate][lane]; }
bool LaneStepper::lost(std::size_t lane) const { return work_->lost.v[lane] != 0; }

void LaneStepper::energies(expr::Lanes& kinetic, expr::Lanes& potential) {
    Work& w = *work_;
    lanes::evaluate_at_end(w, w.energy_tape, w.energy_scratch, w.energy_out);
    kinetic = w.energy_out[0];
    potential = w.energy_out[1];
}

}  // namespace saltus::integrate::moreau
