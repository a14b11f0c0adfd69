// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/detail/translations.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "saltus/expr/graph.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/symbolic.hpp"

namespace saltus::orbit {

namespace {

using expr::Expr;
using expr::Node;
using expr::Op;

/// The linear forms a·q through which the positions enter expressions, and whether only sin and cos of them do.
class LinearForms {
public:
    /// `p` are the values of the parameters.
    LinearForms(const model::Formulas& formulas, const std::vector<double>& p)
        : graph_(formulas.graph), n_(static_cast<Eigen::Index>(formulas.q.size())) {
        for (std::size_t i = 0; i < formulas.q.size(); ++i)
            forms_[formulas.q[i].id] = Vector(Vector::Unit(n_, static_cast<Eigen::Index>(i)));
        for (std::size_t i = 0; i < formulas.p.size() && i < p.size(); ++i) numbers_[formulas.p[i].id] = p[i];
    }

    std::vector<Vector> aperiodic, periodic;

    /// Finds the values of the nodes that contain parameters alone, and the nodes that are linear in the positions.
    void prepare(std::span<const Expr> roots) {
        for (const Expr e : expr::reachable(graph_, roots)) {
            const Node& node = graph_[e];
            if (node.op == Op::symbol) continue;
            if (!graph_.depends_on(e, static_cast<expr::Kinds>(~expr::parameter))) {
                const auto value = [&](Expr a) { return numbers_.count(a.id) != 0 ? numbers_.at(a.id) : 0.0; };
                const int operands = expr::operand_count(node.op);
                numbers_[e.id] =
                    node.op == Op::constant
                        ? node.value
                        : expr::apply(node.op, operands > 0 ? value(node.a) : 0.0, operands > 1 ? value(node.b) : 0.0,
                                      operands > 2 ? value(node.c) : 0.0, node.exponent);
            } else if (has_positions(e)) {
                if (std::optional<Vector> form = linear(node)) forms_[e.id] = std::move(*form);
            }
        }
    }

    /// Takes up the forms of an expression plus a linear form `more`. The expression must be among those of `prepare`.
    void add(Expr root, const Vector* more = nullptr) {
        std::vector<Expr> rest;
        Vector sum = split(root, rest);
        if (more != nullptr) sum += *more;
        take(aperiodic, sum);
        visit(std::move(rest));
    }

private:
    bool has_positions(Expr e) const { return graph_.depends_on(e, expr::position); }
    /// a of a node that is a·q plus terms without positions, and the number of a node that is a number.
    std::optional<Vector> form_of(Expr e) const {
        if (!has_positions(e)) return Vector(Vector::Zero(n_));
        const auto at = forms_.find(e.id);
        return at == forms_.end() ? std::nullopt : std::optional<Vector>(at->second);
    }
    std::optional<double> number_of(Expr e) const {
        const auto at = numbers_.find(e.id);
        return at == numbers_.end() || !std::isfinite(at->second) ? std::nullopt : std::optional<double>(at->second);
    }

    std::optional<Vector> linear(const Node& node) const {
        std::optional<Vector> a, b;
        switch (node.op) {
            case Op::add:
            case Op::sub:
                a = form_of(node.a), b = form_of(node.b);
                if (!a || !b) return std::nullopt;
                return node.op == Op::add ? Vector(*a + *b) : Vector(*a - *b);
            case Op::neg:
                a = form_of(node.a);
                if (!a) return std::nullopt;
                return Vector(-*a);
            case Op::mul:
                a = form_of(node.a), b = form_of(node.b);
                if (const std::optional<double> factor = number_of(node.a); factor && b) return Vector(*factor * *b);
                if (const std::optional<double> factor = number_of(node.b); factor && a) return Vector(*factor * *a);
                return std::nullopt;
            case Op::div:
                a = form_of(node.a);
                if (const std::optional<double> divisor = number_of(node.b); divisor && *divisor != 0.0 && a)
                    return Vector(*a / *divisor);
                return std::nullopt;
            default: return std::nullopt;
        }
    }

    /// An expression as a linear form, which is returned, plus the rest.
    Vector split(Expr e, std::vector<Expr>& rest) const {
        Vector sum = Vector::Zero(n_);
        std::vector<std::pair<Expr, double>> terms{{e, 1.0}};
        while (!terms.empty()) {
            const auto [term, factor] = terms.back();
            terms.pop_back();
            if (!has_positions(term)) continue;
            if (const std::optional<Vector> form = form_of(term)) {
                sum += factor * *form;
                continue;
            }
            const Node& node = graph_[term];
            const std::optional<double> left = node.op == Op::mul ? number_of(node.a) : std::nullopt;
            if (node.op == Op::add || node.op == Op::sub) {
                terms.emplace_back(node.a, factor);
                terms.emplace_back(node.b, node.op == Op::add ? factor : -factor);
            } else if (node.op == Op::neg) {
                terms.emplace_back(node.a, -factor);
            } else if (left) {
                terms.emplace_back(node.b, factor * *left);
            } else {
                rest.push_back(term);
            }
        }
        return sum;
    }

    /// Adds a form to a list that does not have it yet. A model with hundreds of contacts has 10⁴ of them.
    void take(std::vector<Vector>& list, const Vector& form) {
        if (form.size() == 0 || form.cwiseAbs().maxCoeff() == 0.0) return;
        const Vector number = form.array() + 0.0;  // −0 becomes 0
        std::string key(reinterpret_cast<const char*>(number.data()),
                        sizeof(double) * static_cast<std::size_t>(number.size()));
        key += &list == &periodic ? 'p' : 'a';
        if (taken_.insert(std::move(key)).second) list.push_back(form);
    }

    void visit(std::vector<Expr> open) {
        while (!open.empty()) {
            const Expr e = open.back();
            open.pop_back();
            if (!has_positions(e) || !visited_.insert(e.id).second) continue;
            const Node& node = graph_[e];
            const bool trigonometric = node.op == Op::sin || node.op == Op::cos || node.op == Op::tan;
            if (node.op == Op::symbol) {
                take(aperiodic, *form_of(e));
                continue;
            }
            const Expr operands[] = {node.a, node.b, node.c};
            for (int k = 0; k < expr::operand_count(node.op); ++k) {
                const Vector sum = split(operands[k], open);
                // The period of tan is π.
                take(trigonometric ? periodic : aperiodic, node.op == Op::tan ? Vector(2.0 * sum) : sum);
            }
        }
    }

    const expr::Graph& graph_;
    Eigen::Index n_;
    std::unordered_map<std::uint32_t, Vector> forms_;
    std::unordered_map<std::uint32_t, double> numbers_;
    std::unordered_set<std::uint32_t> visited_;
    std::unordered_set<std::string> taken_;  ///< the bytes of all forms, and their list
};

/// Entries of linear forms below this part of the largest one are rounding.
constexpr double rounding_of_forms = 1e-12;

/// Linear equations a·v = 0, each solved for one component: in this component it is 1, and all others are 0 there.
struct Equations {
    std::vector<Vector> rows;
    std::vector<Eigen::Index> leading;

    void add(Vector a) {
        const double size = a.cwiseAbs().maxCoeff();
        if (!(size > 0.0)) return;
        a /= size;
        for (std::size_t k = 0; k < rows.size(); ++k)
            if (const double part = a(leading[k]); part != 0.0) a -= part * rows[k];
        Eigen::Index lead = 0;
        const double left = a.cwiseAbs().maxCoeff(&lead);
        if (left <= rounding_of_forms) return;
        a /= a(lead);
        for (Vector& row : rows)
            if (const double part = row(lead); part != 0.0) row -= Vector(part * a);
        rows.push_back(std::move(a));
        leading.push_back(lead);
    }

    /// The components that are not solved for, and the solutions in which one of them is 1.
    std::pair<std::vector<Eigen::Index>, Matrix> solutions(Eigen::Index n) const {
        std::vector<Eigen::Index> free;
        for (Eigen::Index i = 0; i < n; ++i)
            if (std::find(leading.begin(), leading.end(), i) == leading.end()) free.push_back(i);
        Matrix N = Matrix::Zero(n, static_cast<Eigen::Index>(free.size()));
        for (Eigen::Index j = 0; j < N.cols(); ++j) {
            N(free[static_cast<std::size_t>(j)], j) = 1.0;
            for (std::size_t k = 0; k < rows.size(); ++k) {
                const double entry = rows[k](free[static_cast<std::size_t>(j)]);
                if (std::abs(entry) > rounding_of_forms) N(leading[k], j) = -entry;
            }
        }
        return {free, N};
    }
};

/// The group of all sums of integer multiples of vectors w, by rows of which each begins in another column (Euclid's
/// algorithm with real numbers). Empty if the group is not discrete: the ratio of two numbers is not one of small
/// integers.
class IntegerRows {
public:
    explicit IntegerRows(Eigen::Index columns) : rows_(static_cast<std::size_t>(columns)) {}

    bool add(Vector w) {
        constexpr double smallest_ratio = 1e-4;  // of the greatest common divisor to the numbers
        const double scale = w.cwiseAbs().maxCoeff();
        for (Eigen::Index c = 0; c < w.size(); ++c) {
            Vector& own = rows_[static_cast<std::size_t>(c)];
            const double rounding = 1e-10 * std::max(scale, own.size() > 0 ? std::abs(own(c)) : 0.0);
            if (std::abs(w(c)) <= rounding) {
                w(c) = 0.0;
                continue;
            }
            if (own.size() == 0) {
                own = std::move(w);
                return true;
            }
            const double least = smallest_ratio * std::min(std::abs(own(c)), std::abs(w(c)));
            while (std::abs(w(c)) > rounding) {
                if (std::abs(w(c)) < least) return false;
                own -= Vector(std::round(own(c) / w(c)) * w);
                std::swap(own, w);
            }
            w(c) = 0.0;
        }
        return true;
    }

    /// Solutions c of rows·c = 2π (unit vectors), whose components are 0 where no row begins.
    Matrix periods() const {
        std::vector<Eigen::Index> leads;
        for (std::size_t c = 0; c < rows_.size(); ++c)
            if (rows_[c].size() > 0) leads.push_back(static_cast<Eigen::Index>(c));
        const auto count = static_cast<Eigen::Index>(leads.size());
        Matrix P = Matrix::Zero(static_cast<Eigen::Index>(rows_.size()), count);
        // Backward substitution: row k has no entries before its own column.
        for (Eigen::Index m = 0; m < count; ++m)
            for (Eigen::Index k = count - 1; k >= 0; --k) {
                const Vector& row = rows_[static_cast<std::size_t>(leads[static_cast<std::size_t>(k)])];
                double right = k == m ? 2.0 * std::numbers::pi : 0.0;
                for (Eigen::Index j = k + 1; j < count; ++j) {
                    const Eigen::Index column = leads[static_cast<std::size_t>(j)];
                    right -= row(column) * P(column, m);
                }
                const Eigen::Index own = leads[static_cast<std::size_t>(k)];
                P(own, m) = right / row(own);
            }
        return P;
    }

private:
    std::vector<Vector> rows_;  // by the column in which they begin; empty: none
};

/// Takes up all formulas that a motion depends on.
void add_formulas(const model::Mechanics& model, const model::SymbolicEquations& symbolic, LinearForms& forms) {
    const model::Formulas& f = symbolic.formulas();
    const model::Derived& d = symbolic.derived();
    std::vector<Expr> all;
    for (const std::vector<model::Derived::Entry>* part : {&d.mass, &d.rows})
        for (const model::Derived::Entry& e : *part) all.push_back(e.value);
    for (const std::vector<Expr>* part : {&d.h, &d.velocity, &d.chi, &d.zeta, &f.constraints, &f.gaps, &f.slips})
        all.insert(all.end(), part->begin(), part->end());
    const std::size_t count = all.size();
    all.insert(all.end(), f.coefficients.begin(), f.coefficients.end());
    forms.prepare(all);
    for (std::size_t k = 0; k < count; ++k) forms.add(all[k]);
    // A jump to new positions q⁺ commutes with a translation if q⁺ − q does not change.
    std::vector<Vector> subtracted(f.coefficients.size());
    for (const model::Jump& jump : model.jumps)
        for (const model::JumpValue& value : jump.q)
            subtracted[static_cast<std::size_t>(value.value)] =
                -Vector::Unit(static_cast<Eigen::Index>(f.q.size()), value.coordinate);
    for (std::size_t k = 0; k < f.coefficients.size(); ++k)
        forms.add(f.coefficients[k], subtracted[k].size() > 0 ? &subtracted[k] : nullptr);
}

}  // namespace

Translations translations_of(const model::Mechanics& model) {
    Translations out;
    const auto n = static_cast<Eigen::Index>(model.size());
    out.directions = out.lattice = Matrix::Zero(n, 0);
    const model::SymbolicEquations* const symbolic = model.system->symbolic();
    // A sampled feedback is evaluated outside of the formulas.
    if (symbolic == nullptr || !symbolic->complete() || model.sampled != nullptr) return out;
    LinearForms forms(symbolic->formulas(), model.p);
    add_formulas(model, *symbolic, forms);
    Equations equations;
    for (const Vector& a : forms.aperiodic) equations.add(a);
    const Matrix candidates = equations.solutions(n).second;
    Equations all = equations;
    for (const Vector& a : forms.periodic) all.add(a);
    std::tie(out.pivots, out.directions) = all.solutions(n);
    if (candidates.cols() == out.directions.cols()) return out;
    IntegerRows integers(candidates.cols());
    for (const Vector& a : forms.periodic)
        if (!integers.add(candidates.transpose() * a)) return out;
    out.lattice = candidates * integers.periods();
    for (std::size_t j = 0; j < out.pivots.size(); ++j)
        out.lattice -= Matrix(out.directions.col(static_cast<Eigen::Index>(j)) * out.lattice.row(out.pivots[j]));
    return out;
}

Vector Translations::nearest_shift(const Vector& difference) const {
    const Eigen::Index n = directions.rows();
    Vector positions = difference.head(n);
    for (std::size_t j = 0; j < pivots.size(); ++j)
        positions -= Vector(positions(pivots[j]) * directions.col(static_cast<Eigen::Index>(j)));
    if (lattice.cols() == 0) return Vector::Zero(n);
    Vector multiples = least_squares(lattice, positions);
    for (double& m : multiples) m = std::round(m);
    return lattice * multiples;
}

Vector Translations::reduced(Vector difference) const {
    const Eigen::Index n = directions.rows();
    const Vector shift = nearest_shift(difference);
    for (std::size_t j = 0; j < pivots.size(); ++j) {
        const double along = difference(pivots[j]);
        difference.head(n) -= along * directions.col(static_cast<Eigen::Index>(j));
        difference(pivots[j]) = 0.0;
    }
    difference.head(n) -= shift;
    return difference;
}

// A section s with a constant gradient changes by c_j = s(x + g_j) − s(x) for each generator g_j of the lattice. If all
// c_j are multiples of the smallest one, c, then (c/2π) sin(2π s/c) vanishes upwards where s is a multiple of c, and
// has the gradient of s there.
PhaseCondition section_modulo(const model::Model& model, const std::string& expression,
                              const Translations& translations) {
    PhaseCondition plain = section_of(model, expression);
    if (translations.lattice.cols() == 0) return plain;
    // The gradient is constant if it changes by at most same · |gradient| between arbitrary states. c_j is a multiple
    // of the smallest change c if c_j/c differs from a whole number by at most small_integer.
    constexpr double same = 1e-12, small_integer = 1e-9;
    const auto n = static_cast<Eigen::Index>(model.size());
    const Vector at = vector_of({0.0, model.q0, model.u0}), gradient = plain.gradient(at);
    for (const double step : {0.7, -1.9})
        if (!((plain.gradient(at.array() + step) - gradient).cwiseAbs().maxCoeff() <=
              same * gradient.cwiseAbs().maxCoeff()))
            return plain;
    const Vector changes = translations.lattice.transpose() * gradient.head(n);
    double least = 0.0;
    for (const double c : changes)
        if (std::abs(c) > same && (least == 0.0 || std::abs(c) < least)) least = std::abs(c);
    if (least == 0.0) return plain;
    for (const double c : changes)
        if (std::abs(c / least - std::round(c / least)) > small_integer) return plain;
    const double frequency = 2.0 * std::numbers::pi / least;
    PhaseCondition out;
    out.value = [=](const Vector& x) { return std::sin(frequency * plain.value(x)) / frequency; };
    out.gradient = [=](const Vector& x) { return Vector(std::cos(frequency * plain.value(x)) * plain.gradient(x)); };
    return out;
}

bool maps_to_themselves(const Translations& translations, const Matrix& map) {
    // A mapped translation is one of the group if what is left of it modulo the group is at most this in each
    // coordinate.
    constexpr double rounding = 1e-9;
    const Eigen::Index n = translations.directions.rows();
    Translations continuous = translations;
    continuous.lattice.resize(n, 0);
    for (Eigen::Index j = 0; j < translations.directions.cols(); ++j)
        if (continuous.reduced(map * translations.directions.col(j)).cwiseAbs().maxCoeff() > rounding) return false;
    for (Eigen::Index j = 0; j < translations.lattice.cols(); ++j)
        if (translations.reduced(map * translations.lattice.col(j)).cwiseAbs().maxCoeff() > rounding) return false;
    return true;
}

Closing::Closing(const Translations& translations, const Vector& shift) : pivots_(translations.pivots) {
    const Eigen::Index n = translations.directions.rows();
    D_ = Matrix::Zero(2 * n, translations.directions.cols());
    D_.topRows(n) = translations.directions;
    if (shift.size() == 0 || shift.cwiseAbs().maxCoeff() == 0.0) return;
    shift_ = Vector::Zero(2 * n);
    shift_.head(n) = shift;
}

Vector Closing::reduced(Vector x) const {
    for (std::size_t j = 0; j < pivots_.size(); ++j) {
        x -= Vector(x(pivots_[j]) * D_.col(static_cast<Eigen::Index>(j)));
        x(pivots_[j]) = 0.0;
    }
    return x;
}

Matrix Closing::reduced(Matrix m) const {
    for (std::size_t j = 0; j < pivots_.size(); ++j) {
        m -= Matrix(D_.col(static_cast<Eigen::Index>(j)) * m.row(pivots_[j]));
        m.row(pivots_[j]).setZero();
    }
    return m;
}

Vector Closing::back(const Vector& end, const Vector& start) const {
    Vector out = end;
    for (std::size_t j = 0; j < pivots_.size(); ++j) {
        out -= Vector((end(pivots_[j]) - start(pivots_[j])) * D_.col(static_cast<Eigen::Index>(j)));
        out(pivots_[j]) = start(pivots_[j]);
    }
    if (shift_.size() > 0) out -= shift_;
    return out;
}

std::vector<Eigen::Index> Closing::kept(Eigen::Index states) const {
    std::vector<Eigen::Index> list;
    for (Eigen::Index i = 0; i < states; ++i)
        if (std::find(pivots_.begin(), pivots_.end(), i) == pivots_.end()) list.push_back(i);
    return list;
}

std::vector<Eigen::Index> Closing::free_positions() const {
    std::vector<Eigen::Index> list;
    for (std::size_t j = 0; j < pivots_.size(); ++j)
        if ((D_.col(static_cast<Eigen::Index>(j)).array() != 0.0).count() == 1) list.push_back(pivots_[j]);
    return list;
}

Closing Closing::repeated(double times) const {
    Closing out = *this;
    out.shift_ *= times;
    return out;
}

double Closing::unit_error(const Matrix& slope, const Vector& size) const {
    double error = 0.0;
    for (Eigen::Index j = 0; j < D_.cols(); ++j) {
        const double length = D_.col(j).cwiseQuotient(size).cwiseAbs().maxCoeff();
        error = std::max(error, (slope * D_.col(j) - D_.col(j)).cwiseQuotient(size).cwiseAbs().maxCoeff() / length);
    }
    return error;
}

bool Closing::same_in(const Translations& translations) const {
    if (pivots_ != translations.pivots || translations.directions.rows() * 2 != D_.rows()) return false;
    const Eigen::Index n = translations.directions.rows();
    if (D_.size() > 0 && (D_.topRows(n) - translations.directions).cwiseAbs().maxCoeff() > rounding_of_forms)
        return false;
    return shift_.size() == 0 || translations.reduced(shift_).cwiseAbs().maxCoeff() <= 1e-9;
}

std::vector<Eigen::Index> Closing::moved() const {
    std::vector<Eigen::Index> list;
    const Eigen::Index states = shift_.size() > 0 ? shift_.size() : D_.rows();
    for (Eigen::Index i = 0; i < states; ++i)
        if ((D_.rows() > 0 && (D_.row(i).array() != 0.0).any()) || (shift_.size() > 0 && shift_(i) != 0.0))
            list.push_back(i);
    return list;
}

}  // namespace saltus::orbit
