// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <queue>

#include "saltus/control/regulation/detail/regulation_domain.hpp"
#include "saltus/control/regulation/detail/regulation_scatter.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/expr/tape.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/symbolic.hpp"

namespace saltus::control {

using namespace saltus::proof;

namespace {

/// |s/s_min − nearest whole number| up to which the slope s counts as a whole multiple of the least slope s_min. If two
/// slopes are not commensurable, then the coordinate counts as not periodic, and its whole box is searched.
constexpr double whole_multiple = 1e-12;
/// A periodic coordinate is restricted to ± this part of a period around 0. It exceeds 0.5, so that rounding of the
/// period leaves no gap between the copies.
constexpr double half_period = 0.5000001;
/// The search for the extreme eigenvalues stops if |proved bound − best value found| <= this times |best value|. A
/// smaller number costs more boxes, a larger one makes the bounds wider.
constexpr double bound_accuracy = 1e-6;
/// The search splits at most this number of boxes. The bound that is then known is valid, but wider.
constexpr long max_inertia_boxes = 20'000;
/// The search is left out if a single box already gives upper <= lower (1 + this): splitting cannot improve that.
constexpr double equal_bounds = 1e-9;

// Samples if nothing is proved: `near_samples` of them within ±2π of q in each coordinate, the others within ±10, ±100,
// ..., ±10⁶ in turn (`decades` powers of ten).
constexpr int samples = 700, near_samples = 280, decades = 6;
/// An estimate, not a proof: M counts as not bounded below if its smallest eigenvalue at some sample is at most
/// `unbounded_ratio` times that at q, and as not bounded above if its largest is at least `unbounded_factor` times that
/// at q.
constexpr double unbounded_ratio = 1e-6, unbounded_factor = 1e6;

/// How functions depend on a coordinate.
struct Dependence {
    bool any = false;      ///< they depend on it
    bool periodic = true;  ///< they do not depend on it, or only through sin, cos, tan with a common period
    double period = 0.0;   ///< the common period; 0 if there is none
};

/// How the expressions `roots` depend on a coordinate, decided on the expression graph. They are periodic in it if it
/// enters only inside of sin, cos or tan of arguments that are affine in it with constant slopes s, and all s are whole
/// multiples of the least one, s_min. The common period is then 2π/s_min (for tan alone it is two periods).
Dependence dependence(const model::Mechanics& m, const model::SymbolicEquations& system,
                      const std::vector<expr::Expr>& roots, std::size_t coordinate) {
    Dependence out;
    model::Formulas f = system.formulas();
    expr::Derivative derivative(f.graph, f.q[coordinate]);
    constexpr int independent = 0, circular_only = 1, general = 2;  // the larger is the more general
    const std::vector<expr::Expr> order = expr::reachable(f.graph, roots);
    std::vector<int> kind(f.graph.size(), independent);
    std::vector<expr::Expr> slopes;
    for (const expr::Expr e : order) {
        const expr::Node node = f.graph[e];
        if (e == f.q[coordinate]) {
            kind[e.id] = general;
            continue;
        }
        const int operands = expr::operand_count(node.op);
        int worst = independent;
        if (operands > 0) worst = std::max(worst, kind[node.a.id]);
        if (operands > 1) worst = std::max(worst, kind[node.b.id]);
        if (operands > 2) worst = std::max(worst, kind[node.c.id]);
        const bool circular = node.op == expr::Op::sin || node.op == expr::Op::cos || node.op == expr::Op::tan;
        if (circular && worst == general) {
            const expr::Expr slope = derivative(node.a);
            const auto varies = static_cast<expr::Kinds>(expr::time | expr::position | expr::velocity);
            if (!f.graph.depends_on(slope, varies)) {
                slopes.push_back(slope);
                worst = circular_only;
            }
        }
        kind[e.id] = worst;
    }
    int worst = independent;
    for (const expr::Expr e : roots) worst = std::max(worst, kind[e.id]);
    out.any = worst > independent;
    out.periodic = worst < general;
    if (worst != circular_only) return out;
    const expr::Tape tape(f.graph, slopes, f.p, {});
    std::vector<double> scratch(tape.slot_count()), values(slopes.size());
    tape.prepare<double>(m.p, scratch);
    tape.evaluate<double>({}, scratch, values);
    double least = Interval::infinity;
    for (const double s : values)
        if (s != 0.0) least = std::min(least, std::abs(s));
    for (const double s : values)
        if (std::abs(s / least - std::round(s / least)) > whole_multiple) out.periodic = false;
    out.period = 2.0 * std::numbers::pi / least;
    return out;
}

/// A box with a lower bound of the function; the queue gives the least bound first.
struct Candidate {
    double bound;
    Box box;
    bool operator<(const Candidate& other) const { return bound > other.bound; }
};

/// A proved lower bound of a function over a bounded box, close to its least value (branch and bound). `bound` gives a
/// lower bound over a box, `value` the function at a point.
double proved_minimum(const Box& box, const std::function<double(const Box&)>& bound,
                      const std::function<double(const std::vector<double>&)>& value, long budget) {
    std::priority_queue<Candidate> open;
    open.push({bound(box), box});
    double upper = Interval::infinity;
    for (long k = 0; k < budget && !open.empty(); ++k) {
        Candidate c = open.top();
        upper = std::min(upper, value(centre(c.box)));
        if (upper - c.bound <= bound_accuracy * std::abs(upper)) break;
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
            out[i] = Interval(-half_period * d.period, half_period * d.period);
    }
    return out;
}

namespace {

/// Eigenvalues of M at a position.
Spectrum mass_spectrum(const model::Mechanics& m, const std::vector<double>& q) {
    model::Workspace workspace(m);
    std::vector<double> M(m.layout().mass.size()), rest(q.size(), 0.0);
    m.system->mass(model::at(m, 0.0, q, rest), workspace.scratch(), M);
    return symmetric_spectrum(model::dense_symmetric(m.layout().mass, M));
}

/// Bounds of the eigenvalues of M that interval arithmetic proves over a box. Nothing if the lower bound is not
/// positive or the upper one not finite; that does not show that M has no bounds.
std::optional<InertiaBounds> proved_bounds(const Domain& domain, const Box& over, long budget) {
    const model::Mechanics& m = domain.model;
    const Box box = essential(domain, Essential::mass, over);
    EigenvalueBounds bounds = eigenvalues(domain.enclosure->mass(box));
    if (bounded(box) && (!(bounds.lower > 0.0) || bounds.upper > bounds.lower * (1.0 + equal_bounds))) {
        const auto lower = [&](const Box& b) { return eigenvalues(domain.enclosure->mass(b)).lower; };
        const auto upper = [&](const Box& b) { return -eigenvalues(domain.enclosure->mass(b)).upper; };
        const auto smallest = [&](const std::vector<double>& x) { return mass_spectrum(m, x).smallest; };
        const auto largest = [&](const std::vector<double>& x) { return -mass_spectrum(m, x).largest; };
        const long boxes = std::min(budget, max_inertia_boxes);
        bounds.lower = std::max(bounds.lower, proved_minimum(box, lower, smallest, boxes));
        bounds.upper = std::min(bounds.upper, -proved_minimum(box, upper, largest, boxes));
    }
    if (!(bounds.lower > 0.0) || !std::isfinite(bounds.upper)) return {};
    InertiaBounds out;
    out.lower = bounds.lower;
    out.upper = bounds.upper;
    out.proved = true;
    out.how = m.layout().mass_constant ? "M is constant" : "by intervals";
    return out;
}

}  // namespace

InertiaBounds inertia_bounds(const Domain& domain, const std::vector<double>& q, ContactModel contacts, long budget) {
    const bool springs = contacts == ContactModel::springs;
    const Box& over = springs ? domain.whole : domain.admissible;
    const model::Mechanics& m = domain.model;
    if (domain.enclosure)
        if (std::optional<InertiaBounds> proved = proved_bounds(domain, over, budget)) return *proved;
    // Samples at q, around it, and ever further out.
    InertiaBounds out;
    const Spectrum here = mass_spectrum(m, q);
    out.lower = here.smallest;
    out.upper = here.largest;
    out.how = "at the equilibrium, around it, and out to 1e6";
    model::Workspace workspace(m);
    std::vector<double> gaps(static_cast<std::size_t>(m.layout().positions())), rest(q.size(), 0.0);
    for (int k = 0; k < samples && out.holds; ++k) {
        std::vector<double> x = q;
        const double reach = k < near_samples ? 2.0 * std::numbers::pi : std::pow(10.0, 1 + (k % decades));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += reach * scattered(k + 1, i, 0.0);
        if (!contains(over, x)) continue;
        m.system->positions(model::at(m, 0.0, x, rest), workspace.scratch(), gaps);
        bool inside = true;
        for (const model::Contact& c : m.contacts)
            inside = inside && (springs || gaps[static_cast<std::size_t>(c.row)] >= 0.0);
        if (!inside) continue;
        const Spectrum s = mass_spectrum(m, x);
        out.lower = std::min(out.lower, s.smallest);
        out.upper = std::max(out.upper, s.largest);
        const bool below = !(s.smallest > unbounded_ratio * here.smallest);
        if (below || !(s.largest < unbounded_factor * here.largest)) {
            out.holds = false;
            out.worst = x;
            out.how = below ? "not bounded below" : "not bounded above";
        }
    }
    return out;
}

}  // namespace saltus::control
