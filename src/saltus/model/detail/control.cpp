// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/expr/differentiate.hpp"
#include "saltus/model/detail/builder.hpp"
#include "saltus/model/feedback.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/outputs.hpp"

namespace saltus::model {

using expr::Expr;

/// A gain of [control] as a square matrix.
std::vector<std::vector<Expr>> Builder::gain(const Gain& gain, const std::string& name, std::size_t n) {
    return square_matrix(gain, name + " in [control]", n, counted(n, "actuated coordinate"), d_.control->place);
}

/// A square matrix of n rows: a scalar for the whole diagonal, a list for the diagonal, or the whole matrix. `fits`
/// says in messages what n is the number of; `otherwise` is the place if the entries have none.
std::vector<std::vector<Expr>> Builder::square_matrix(const Gain& gain, const std::string& what, std::size_t n,
                                                      const std::string& fits, const Place& otherwise) {
    const std::vector<std::vector<Field>>& rows = gain.rows;
    const Expr zero = f_.graph.constant(0.0);
    std::vector<std::vector<Expr>> K(n, std::vector<Expr>(n, zero));
    if (rows.empty()) return K;
    const Place place = rows[0].empty() ? otherwise : rows[0][0].place();
    const bool scalar = gain.scalar();
    const bool list = !gain.matrix && rows.size() == 1 && rows[0].size() == n;
    const bool matrix = gain.matrix && rows.size() == n &&
                        std::all_of(rows.begin(), rows.end(), [&](const auto& r) { return r.size() == n; });
    if (!scalar && !list && !matrix)
        throw Error(what + " does not fit " + fits, place,
                    "give one number, a list of " + std::to_string(n) + " or a " + std::to_string(n) + " x " +
                        std::to_string(n) + " matrix");
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            if (scalar && i == j)
                K[i][j] = parse(rows[0][0], what, 0);
            else if (matrix)
                K[i][j] = parse(rows[i][j], what, 0);
            else if (list && i == j)
                K[i][j] = parse(rows[0][i], what, 0);
            if (!std::isfinite(value_of(K[i][j])))
                throw Error(what + " is not finite", place, "look for a division by zero");
        }
    return K;
}

/// Closes the loop: u = −Kp (y − r) − Kv (ẏ − ṙ) on the actuated coordinates y with the reference r(t), or with shaping
/// u = ∂U/∂q − ∂Ũ/∂q − Kv ẏ. [Tornambe] (42)–(44). With saturation the force is cut at its limit.
/// With K = S + A (symmetric and skew part), −S_p(y − reference) is the force of the potential ½(y − r)ᵀS_p(y − r), and
/// −S_v ẏ that of the dissipation ½ẏᵀS_v ẏ. These enter U and R. So T + U of the closed loop is the Lyapunov function
/// of the theory. The skew parts enter the forces f.
void Builder::add_control() {
    if (!d_.control) return;
    const ControlDescription& c = *d_.control;
    expr::Graph& g = f_.graph;
    if (c.actuated.empty()) throw Error("[control] drives no coordinate", c.place, "add actuated = [\"...\"]");
    if (c.velocity.word != "measured" && c.velocity.word != "estimated")
        throw Error("unknown velocity '" + c.velocity.word + "' in [control]", c.velocity.place,
                    "allowed are measured and estimated");
    if (c.bandwidth.given && c.velocity.word != "estimated")
        throw Error("bandwidth in [control] belongs to velocity = \"estimated\"", c.bandwidth.place(),
                    "set velocity = \"estimated\", or remove it");
    if (c.shaping.given && c.velocity.word == "estimated")
        throw Error("velocity = \"estimated\" and shaping of [control] exclude each other", c.shaping.place(),
                    "use Kp and Kv");
    const std::size_t n = c.actuated.size();
    std::vector<std::size_t> y;
    for (const Coordinate& a : c.actuated) {
        const std::size_t local = local_coordinate(coordinate_of(a.name, "[control] actuated", a.place));
        if (std::find(y.begin(), y.end(), local) != y.end())
            throw Error("coordinate '" + a.name + "' is actuated twice", a.place, "remove one of them");
        y.push_back(local);
    }
    std::vector<Expr> reference(n, g.constant(0.0)), feedforward(n, g.constant(0.0));
    for (const Entry& e : c.reference)
        reference[actuator_of(e, "reference")] = parse(e.value, "the reference of '" + e.name + "'", expr::time);
    check_sampling(c);
    for (const Entry& e : c.feedforward) feedforward[actuator_of(e, "feedforward")] = measured_feedforward(e);
    const std::vector<std::optional<Expr>> limit = saturation_limits(c);
    const std::vector<std::vector<Expr>> Kp = gain(c.Kp, "Kp", n), Kv = gain(c.Kv, "Kv", n);
    for (std::size_t i = 0; i < n && c.velocity.word == "estimated"; ++i)
        for (std::size_t j = 0; j < n; ++j)
            if (i != j && !g.is_zero(Kv[i][j]))
                throw Error("velocity = \"estimated\" needs a diagonal Kv", c.velocity.place,
                            "give one number, or a list");
    if (c.shaping.given) shape_potential(c, n);
    describe_loop(c, Kp, Kv, reference);

    const Expr half = g.constant(0.5);
    const auto symmetric = [&](const auto& K, std::size_t i, std::size_t j) {
        return g.mul(half, g.add(K[i][j], K[j][i]));
    };
    const auto skew = [&](const auto& K, std::size_t i, std::size_t j) {
        return K[i][j] == K[j][i] ? g.constant(0.0) : g.mul(half, g.sub(K[i][j], K[j][i]));
    };
    const auto error = [&](std::size_t i) { return g.sub(f_.q[y[i]], reference[i]); };
    const auto rate = [&](std::size_t i) { return g.sub(f_.u[y[i]], expr::Derivative(g, f_.t)(reference[i])); };
    const bool estimated = c.velocity.word == "estimated";
    const bool moves = std::any_of(reference.begin(), reference.end(), [&](Expr r) { return depends_on_time(r); });
    std::vector<Expr> estimate(n, g.constant(0.0));  // of ẏ − ṙ
    if (estimated) {
        const Expr b = bandwidth(c);
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t w = local_coordinate(*find_coordinate(c.actuated[i].name + "_filter"));
            const Expr mass = filter_mass(c, b, Kv[i][i]);
            f_.T = g.add(f_.T, g.mul(g.mul(half, mass), g.mul(f_.u[w], f_.u[w])));
            f_.R = g.add(f_.R, g.mul(g.mul(half, g.mul(mass, b)), g.mul(f_.u[w], f_.u[w])));
            f_.f[w] = g.sub(f_.f[w], g.mul(mass, rate(i)));
            estimate[i] = g.neg(g.mul(b, f_.u[w]));
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        if (!limit.empty() || moves || sampled_) {
            // A force that is cut or held has no potential, and that of a reference that moves stores no energy: all
            // of it enters f, so that its work is counted.
            Expr force = feedforward[i];
            for (std::size_t j = 0; j < n; ++j)
                force =
                    g.sub(force, g.add(g.mul(Kp[i][j], error(j)), g.mul(Kv[i][j], estimated ? estimate[j] : rate(j))));
            if (!limit.empty() && limit[i])
                force = g.binary(expr::Op::max, g.binary(expr::Op::min, force, *limit[i]), g.neg(*limit[i]));
            if (sampled_)
                add_hold(i, y[i], force);
            else
                f_.f[y[i]] = g.add(f_.f[y[i]], force);
            continue;
        }
        f_.f[y[i]] = g.add(f_.f[y[i]], feedforward[i]);
        for (std::size_t j = 0; j < n; ++j) {
            if (!c.shaping.given) {
                f_.U = g.add(f_.U, g.mul(g.mul(half, symmetric(Kp, i, j)), g.mul(error(i), error(j))));
                f_.f[y[i]] = g.sub(f_.f[y[i]], g.mul(skew(Kp, i, j), error(j)));
            }
            if (estimated) {
                f_.f[y[i]] = g.sub(f_.f[y[i]], g.mul(Kv[i][j], estimate[j]));
                continue;
            }
            f_.R = g.add(f_.R, g.mul(g.mul(half, symmetric(Kv, i, j)), g.mul(rate(i), rate(j))));
            f_.f[y[i]] = g.sub(f_.f[y[i]], g.mul(skew(Kv, i, j), rate(j)));
        }
    }
    if (sampled_) finish_sampling();
}

/// The feedforward of an actuator. A sampled law may mention lambda(contact) and the like: reactions that are measured
/// at the sample. A continuous law may not, because the reaction at a time depends on the force of the law at that
/// time.
Expr Builder::measured_feedforward(const Entry& e) {
    const std::string what = "the feedforward of '" + e.name + "'";
    constexpr expr::Kinds of_state = expr::time | expr::position | expr::velocity;
    const WithoutCalls plain = replace_calls(e.value.source, quantity_functions(), measured_.size());
    if (plain.calls.empty()) return parse(e.value, what, of_state);
    for (const NamedCall& call : plain.calls) {
        if (!sampled_)
            throw Error(what + " mentions " + call.function + "(" + call.argument +
                            "), which depends on the force of the law itself at the same time",
                        call.place, "add period = ... to [control]: a sampled law measures before it acts");
        sampled_->quantities.push_back(*element_quantity(model_, call.function, call.argument, call.place));
        measured_.push_back(f_.graph.symbol(call.function + "(" + call.argument + ")", expr::auxiliary));
        local_names_[call.symbol] = measured_.back();
    }
    const Expr value = parse(Field(plain.source), what, of_state);
    local_names_.clear();
    return value;
}

/// Reads the period of a law that samples.
void Builder::check_sampling(const ControlDescription& c) {
    if (!c.period.given) return;
    if (c.shaping.given)
        throw Error("period and shaping of [control] exclude each other", c.period.place(),
                    "a force that is held has no potential; use Kp and Kv");
    const double period = number(c.period, "period in [control]");
    if (!(period > 0.0))
        throw Error("period in [control] is " + number_text(period) + ", it must be > 0", c.period.place());
    sampled_ = std::make_shared<SampledLaw>();
    sampled_->period = period;
}

/// The zero-order hold of an actuator. The held force F acts on the coordinate y between samples. It is the position of
/// a coordinate with the mass 1, whose velocity is 0 and on which no force acts: it stays constant, has no kinetic
/// energy, and jumps at each sample.
void Builder::add_hold(std::size_t actuator, std::size_t coordinate, Expr force) {
    expr::Graph& g = f_.graph;
    const int w = *find_coordinate(d_.control->actuated[actuator].name + "_hold");
    const std::size_t local = local_coordinate(w);
    // What jumps with the held force would have no lawful motion or energy.
    const std::vector<std::pair<Expr, Expr>> other{{f_.q[local], g.constant(1.0)}};
    expr::Substitution replaced(g, other);
    const auto refuse = [&](Expr e, const char* what) {
        if (replaced(e) != e)
            throw Error(std::string(what) + " mentions '" + model_.coordinates[static_cast<std::size_t>(w)] +
                            "', the held force of [control], which jumps at samples",
                        d_.control->period.place(), "remove it there");
    };
    for (const auto& [list, what] : {std::pair{&f_.gaps, "a gap"}, std::pair{&f_.constraints, "a constraint"},
                                     std::pair{&f_.slips, "a slip velocity"}})
        for (const Expr e : *list) refuse(e, what);
    for (const auto& [e, what] : {std::pair{f_.T, "T"}, std::pair{f_.U, "U"}, std::pair{f_.R, "R"}}) refuse(e, what);
    f_.T = g.add(f_.T, g.mul(g.constant(0.5), g.mul(f_.u[local], f_.u[local])));
    f_.f[coordinate] = g.add(f_.f[coordinate], f_.q[local]);
    sampled_->held.push_back(w);
    sampled_forces_.push_back(force);
}

/// Compiles the sampled law. Parameters keep their values.
void Builder::finish_sampling() {
    std::vector<Expr> variables{f_.t};
    for (const std::vector<Expr>* const list : {&f_.q, &f_.u, &measured_})
        variables.insert(variables.end(), list->begin(), list->end());
    sampled_->tape_ = expr::Tape(f_.graph, sampled_forces_, f_.p, variables);
    sampled_->p_ = p_;
}

/// An estimate of velocities. Let e = y − r be the error of an output and ξ a filter of it, ξ′ = b (e − ξ), with the
/// bandwidth b. The estimate of e′ is v = b (e − ξ): it needs no measured velocity. The state of the filter is the
/// velocity of a coordinate w of its own, w′ = ξ − e, so that
///     w″ = −b w′ − e′,   v = −b w′.
/// w itself has no meaning. w′ does not jump at impacts, because e and ξ do not. At rest w′ = 0.
/// If w has the mass μ = Kv b then its equation μ w″ = −μ b w′ − μ e′ and the force −Kv v = μ w′ on y exchange power
/// without loss (−μ e′ w′ + μ w′ e′ = 0 for a constant r), and the rest is the Rayleigh damping ½ μ b w′². So T + U of
/// the loop is the Lyapunov function of output feedback: it falls by Kv v² and does not rise at impacts.
Expr Builder::filter_mass(const ControlDescription& c, Expr b, Expr Kv) {
    if (!(value_of(Kv) > 0.0))
        throw Error("velocity = \"estimated\" needs a Kv > 0 of each actuated coordinate", c.velocity.place,
                    "give Kv, or use measured velocities");
    return f_.graph.mul(Kv, b);
}

Expr Builder::bandwidth(const ControlDescription& c) {
    if (!c.bandwidth.given)
        throw Error("velocity = \"estimated\" has no bandwidth", c.velocity.place, "add bandwidth = ..., in 1/s");
    const Expr b = parse(c.bandwidth, "bandwidth in [control]", 0);
    const double value = value_of(b);
    if (!std::isfinite(value) || !(value > 0.0))
        throw Error("bandwidth in [control] is " + number_text(value) + ", it must be > 0", c.bandwidth.place());
    return b;
}

/// The actuator that an entry of [control] names.
std::size_t Builder::actuator_of(const Entry& e, const std::string& what) const {
    const std::vector<Coordinate>& actuated = d_.control->actuated;
    const auto found =
        std::find_if(actuated.begin(), actuated.end(), [&](const Coordinate& a) { return a.name == e.name; });
    if (found != actuated.end()) return static_cast<std::size_t>(found - actuated.begin());
    std::vector<std::string> names;
    for (const Coordinate& a : actuated) names.push_back(a.name);
    throw Error("the " + what + " of '" + e.name + "' has no actuated coordinate", e.place,
                did_you_mean(e.name, names));
}

/// The largest force of each actuator, nothing for one that is not cut; empty if no actuator is.
std::vector<std::optional<Expr>> Builder::saturation_limits(const ControlDescription& c) {
    if (!c.saturation.given && c.saturation_of.empty()) return {};
    if (c.shaping.given)
        throw Error("saturation and shaping of [control] exclude each other", c.shaping.place(),
                    "a force that is cut has no potential; use Kp and Kv");
    const auto positive = [&](const Field& field, const std::string& what) {
        const Expr limit = parse(field, what, 0);
        const double value = value_of(limit);
        if (!std::isfinite(value) || !(value > 0.0))
            throw Error(what + " is " + number_text(value) + ", it must be > 0", field.place());
        return limit;
    };
    std::vector<std::optional<Expr>> limit(c.actuated.size());
    if (c.saturation.given)
        std::fill(limit.begin(), limit.end(), std::optional(positive(c.saturation, "saturation in [control]")));
    for (const Entry& e : c.saturation_of)
        limit[actuator_of(e, "saturation")] = positive(e.value, "the saturation of '" + e.name + "'");
    return limit;
}

/// Replaces U by Ũ. The expression of Ũ may mention the gains as Kp and Kv, unless parameters have these names.
void Builder::shape_potential(const ControlDescription& c, std::size_t actuated) {
    if (has_points_)
        throw Error("shaping is not possible with mass points", c.shaping.place(),
                    "their springs are no part of U; use Kp");
    if (actuated != model_.coordinates.size())
        throw Error("shaping needs every coordinate actuated, but [control] drives " + std::to_string(actuated) +
                        " of " + std::to_string(model_.coordinates.size()),
                    c.shaping.place(), "use Kp for an under-actuated system");
    for (const auto& [name, gain] : {std::pair{"Kp", &c.Kp}, std::pair{"Kv", &c.Kv}})
        if (!parameter_index_.contains(name) && gain->scalar())
            local_names_[name] = parse(gain->rows[0][0], std::string(name) + " in [control]", 0);
    f_.U = parse(c.shaping, "shaping in [control]", expr::position);
    local_names_.clear();
    if (!c.reference.empty())
        model_.warnings.push_back("the reference in [control] is not used: shaping says where the system shall go");
    if (c.Kp.given() && c.shaping.source.text.find("Kp") == std::string::npos)
        model_.warnings.push_back("Kp in [control] is not used: shaping takes its place and does not mention it");
}

/// Stores the values of the loop in the model, and warns of gains that have no effect or the wrong sign.
void Builder::describe_loop(const ControlDescription& c, const std::vector<std::vector<Expr>>& Kp,
                            const std::vector<std::vector<Expr>>& Kv, const std::vector<Expr>& reference) {
    const auto n = static_cast<Eigen::Index>(c.actuated.size());
    ControlLoop loop;
    for (const Coordinate& a : c.actuated) loop.actuated.push_back(a.name);
    loop.Kp.resize(n, n);
    loop.Kv.resize(n, n);
    for (Eigen::Index i = 0; i < n; ++i)
        for (Eigen::Index j = 0; j < n; ++j) {
            loop.Kp(i, j) = value_of(Kp[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]);
            loop.Kv(i, j) = value_of(Kv[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]);
        }
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const std::vector<std::pair<Expr, Expr>> start{{f_.t, f_.graph.constant(0.0)}};
        loop.reference.push_back(value_of(expr::Substitution(f_.graph, start)(reference[i])));
        if (!std::isfinite(loop.reference.back()))
            throw Error("the reference of '" + c.actuated[i].name + "' is not finite at t = 0", c.place,
                        "look for a division by zero");
        if (!depends_on_time(reference[i])) continue;
        for (const Entry& e : c.reference)
            if (e.name == c.actuated[i].name) tracked_.push_back({e.name, e.value.source.text});
    }
    loop.shaping = c.shaping.source.text;
    if (!c.Kp.given() && !c.Kv.given() && !c.shaping.given)
        model_.warnings.push_back("[control] has no gains: it does nothing");
    const auto warn = [&](const Matrix& K, const std::string& name) {
        if (symmetric_spectrum(0.5 * (K + K.transpose())).smallest < 0.0)
            model_.warnings.push_back(name + " in [control] is not positive semidefinite: it drives the system away");
    };
    if (!c.shaping.given) warn(loop.Kp, "Kp");
    warn(loop.Kv, "Kv");
    if (c.period.given) {
        model_.warnings.push_back(
            "[control] samples: its force is held between samples, as the position of the coordinates NAME_hold; "
            "certificates of regulation do not treat it");
        return;
    }
    if (c.velocity.word == "estimated") {
        model_.warnings.push_back(
            "[control] estimates velocities: the filter has the coordinates NAME_filter, of which only the velocities "
            "have a meaning; certificates of regulation do not treat it");
        return;
    }
    if (c.saturation.given || !c.saturation_of.empty()) {
        // The loop of the model is a linear law or a shaped potential, and what judges it relies on that.
        model_.warnings.push_back(
            "[control] has saturation: its force is one of the other forces f and has no potential; certificates of "
            "regulation do not treat it");
        return;
    }
    model_.control = std::make_shared<const ControlLoop>(std::move(loop));
}

}  // namespace saltus::model
