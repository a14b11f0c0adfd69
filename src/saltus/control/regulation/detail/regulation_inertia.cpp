// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <queue>

#include "saltus/control/regulation/detail/regulation_domain.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/expr/tape.hpp"
#include "saltus/model/symbolic.hpp"

namespace saltus::control {

using namespace saltus::proof;

namespace {

/// How functions depend on a coordinate: not at all, with a period, or in some other way.
struct Dependence {
    bool any = false, periodic = true;
    double period = 0.0;
};

Dependence dependence(const model::Model& m, const model::SymbolicEquations& system,
                      const std::vector<expr::Expr>& roots, std::size_t coordinate) {
    Dependence out;
    model::Formulas f = system.formulas();
    expr::Derivative derivative(f.graph, f.q[coordinate]);
    // 0: independent, 1: only inside of circular functions of an affine argument, 2: otherwise.
    const std::vector<expr::Expr> order = expr::reachable(f.graph, roots);
    std::vector<int> kind(f.graph.size(), 0);
    std::vector<expr::Expr> slopes;
    for (const expr::Expr e : order) {
        const expr::Node node = f.graph[e];
        if (e == f.q[coordinate]) {
            kind[e.id] = 2;
            continue;
        }
        const int operands = expr::operand_count(node.op);
        int worst = 0;
        if (operands > 0) worst = std::max(worst, kind[node.a.id]);
        if (operands > 1) worst = std::max(worst, kind[node.b.id]);
        if (operands > 2) worst = std::max(worst, kind[node.c.id]);
        const bool circular = node.op == expr::Op::sin || node.op == expr::Op::cos || node.op == expr::Op::tan;
        if (circular && worst == 2) {
            const expr::Expr slope = derivative(node.a);
            const auto varies = static_cast<expr::Kinds>(expr::time | expr::position | expr::velocity);
            if (!f.graph.depends_on(slope, varies)) {
                slopes.push_back(slope);
                worst = 1;
            }
        }
        kind[e.id] = worst;
    }
    int worst = 0;
    for (const expr::Expr e : roots) worst = std::max(worst, kind[e.id]);
    out.any = worst > 0;
    out.periodic = worst < 2;
    if (worst != 1) return out;
    const expr::Tape tape(f.graph, slopes, f.p, {});
    std::vector<double> scratch(tape.slot_count()), values(slopes.size());
    tape.prepare<double>(m.p, scratch);
    tape.evaluate<double>({}, scratch, values);
    double least = Interval::infinity;
    for (const double s : values)
        if (s != 0.0) least = std::min(least, std::abs(s));
    for (const double s : values)  // whole multiples of one slope have one period
        if (std::abs(s / least - std::round(s / least)) > 1e-12) out.periodic = false;
    out.period = 2.0 * std::numbers::pi / least;
    return out;
}

struct Candidate {
    double bound;
    Box box;
    bool operator<(const Candidate& other) const { return bound > other.bound; }
};

/// The least value of a function over a bounded box, by bounds over ever smaller ones: a proved lower bound.
double least(const Box& box, const std::function<double(const Box&)>& bound,
             const std::function<double(const std::vector<double>&)>& value, long budget) {
    std::priority_queue<Candidate> open;
    open.push({bound(box), box});
    double upper = Interval::infinity;
    for (long k = 0; k < budget && !open.empty(); ++k) {
        Candidate c = open.top();
        upper = std::min(upper, value(centre(c.box)));
        if (upper - c.bound <= 1e-6 * std::abs(upper)) break;
        std::size_t side = 0;
        for (std::size_t i = 1; i < c.box.size(); ++i)
            if (width(c.box[i]) > width(c.box[side])) side = i;
        if (!can_split(c.box, side)) break;
        open.pop();
        const auto halves = split(c.box, side, 0.0, 1.0);
        for (const Box& half : {halves.first, halves.second}) open.push({bound(half), half});
    }
    return open.empty() ? upper : open.top().bound;
}

}  // namespace

Box essential(const Domain& domain, Essential what, const Box& box) {
    const model::SymbolicEquations* const system = domain.model.system->symbolic();
    if (system == nullptr) return box;
    std::vector<expr::Expr> roots;
    if (what == Essential::mass)
        for (const model::Derived::Entry& e : system->derived().mass) roots.push_back(e.value);
    else
        roots = system->formulas().gaps;
    Box out = box;
    for (std::size_t i = 0; i < box.size(); ++i) {
        const Dependence d = dependence(domain.model, *system, roots, i);
        if (!d.any)
            out[i] = Interval(0.0);
        else if (d.periodic && !(width(box[i]) <= d.period))
            out[i] = Interval(-0.5000001 * d.period, 0.5000001 * d.period);
    }
    return out;
}

InertiaBounds inertia_bounds(const Domain& domain, const std::vector<double>& q, ContactModel contacts, long budget) {
    InertiaBounds out;
    const bool springs = contacts == ContactModel::springs;
    const Box& over = springs ? domain.whole : domain.admissible;
    const model::Model& m = domain.model;
    const auto at = [&](const std::vector<double>& x) {
        model::Workspace workspace(m);
        std::vector<double> M(m.layout().mass.size()), rest(x.size(), 0.0);
        m.system->mass(model::at(m, 0.0, x, rest), workspace.scratch(), M);
        return symmetric_spectrum(model::dense_symmetric(m.layout().mass, M));
    };
    if (domain.enclosure) {
        const Box box = essential(domain, Essential::mass, over);
        EigenvalueBounds bounds = eigenvalues(domain.enclosure->mass(box));
        if (bounded(box) && (!(bounds.lower > 0.0) || bounds.upper > bounds.lower * (1.0 + 1e-9))) {
            const auto lower = [&](const Box& b) { return eigenvalues(domain.enclosure->mass(b)).lower; };
            const auto upper = [&](const Box& b) { return -eigenvalues(domain.enclosure->mass(b)).upper; };
            const long most = std::min(budget, 20'000L);
            bounds.lower = std::max(bounds.lower, least(
                                                      box, lower, [&](const auto& x) { return at(x).smallest; }, most));
            bounds.upper = std::min(bounds.upper, -least(
                                                      box, upper, [&](const auto& x) { return -at(x).largest; }, most));
        }
        if (bounds.lower > 0.0 && std::isfinite(bounds.upper)) {
            out.lower = bounds.lower;
            out.upper = bounds.upper;
            out.proved = true;
            out.how = m.layout().mass_constant ? "M is constant" : "by intervals";
            return out;
        }
    }
    // At q, around it, and ever further out: a bound that goes on falling or growing is none.
    const Spectrum here = at(q);
    out.lower = here.smallest;
    out.upper = here.largest;
    out.how = "at the equilibrium, around it, and out to 1e6";
    model::Workspace workspace(m);
    std::vector<double> gaps(static_cast<std::size_t>(m.layout().positions())), rest(q.size(), 0.0);
    for (int k = 0; k < 700 && out.holds; ++k) {
        std::vector<double> x = q;
        const double reach = k < 280 ? 2.0 * std::numbers::pi : std::pow(10.0, 1 + (k % 6));
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double r = 0.6180339887498949 * (k + 1) * (1.0 + 0.7548776662466927 * static_cast<double>(i));
            x[i] += reach * (2.0 * (r - std::floor(r)) - 1.0);
        }
        if (!contains(over, x)) continue;
        m.system->positions(model::at(m, 0.0, x, rest), workspace.scratch(), gaps);
        bool inside = true;
        for (const model::Contact& c : m.contacts)
            inside = inside && (springs || gaps[static_cast<std::size_t>(c.row)] >= 0.0);
        if (!inside) continue;
        const Spectrum s = at(x);
        out.lower = std::min(out.lower, s.smallest);
        out.upper = std::max(out.upper, s.largest);
        if (!(s.smallest > 1e-6 * here.smallest) || !(s.largest < 1e6 * here.largest)) {
            out.holds = false;
            out.worst = x;
            out.how = !(s.smallest > 1e-6 * here.smallest) ? "not bounded below" : "not bounded above";
        }
    }
    return out;
}

}  // namespace saltus::control
