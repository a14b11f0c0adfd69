// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/expr/differentiate.hpp"
#include "saltus/model/detail/builder.hpp"

namespace saltus::model {

using expr::Expr;

/// A gain as a square matrix: a scalar for all outputs, a list for the diagonal, or the whole matrix.
std::vector<std::vector<Expr>> Builder::gain(const Gain& gain, const std::string& name, std::size_t n) {
    const std::vector<std::vector<Field>>& rows = gain.rows;
    const Expr zero = f_.graph.constant(0.0);
    std::vector<std::vector<Expr>> K(n, std::vector<Expr>(n, zero));
    if (rows.empty()) return K;
    const Place place = rows[0].empty() ? d_.control->place : rows[0][0].place();
    const std::string what = name + " in [control]";
    const bool scalar = gain.scalar();
    const bool list = !gain.matrix && rows.size() == 1 && rows[0].size() == n;
    const bool matrix = gain.matrix && rows.size() == n &&
                        std::all_of(rows.begin(), rows.end(), [&](const auto& r) { return r.size() == n; });
    if (!scalar && !list && !matrix)
        throw Error(what + " does not fit " + counted(n, "actuated coordinate"), place,
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

/// Closes the loop: u = −Kp (y − reference) − Kv ẏ on the actuated coordinates y, or with shaping
/// u = ∂U/∂q − ∂Ũ/∂q − Kv ẏ. [Tornambe] (42)–(44)
/// With K = S + A (symmetric and skew part), −S_p(y − reference) is the force of the potential ½(y − r)ᵀS_p(y − r), and
/// −S_v ẏ that of the dissipation ½ẏᵀS_v ẏ. These enter U and R. So T + U of the closed loop is the Lyapunov function
/// of the theory. The skew parts enter the forces f.
void Builder::add_control() {
    if (!d_.control) return;
    const ControlDescription& c = *d_.control;
    expr::Graph& g = f_.graph;
    if (c.actuated.empty()) throw Error("[control] drives no coordinate", c.place, "add actuated = [\"...\"]");
    const std::size_t n = c.actuated.size();
    std::vector<std::size_t> y;
    for (const Coordinate& a : c.actuated) {
        const std::size_t local = local_coordinate(coordinate_of(a.name, "[control] actuated", a.place));
        if (std::find(y.begin(), y.end(), local) != y.end())
            throw Error("coordinate '" + a.name + "' is actuated twice", a.place, "remove one of them");
        y.push_back(local);
    }
    std::vector<Expr> reference(n, g.constant(0.0));
    for (const Entry& e : c.reference) {
        const auto found =
            std::find_if(c.actuated.begin(), c.actuated.end(), [&](const Coordinate& a) { return a.name == e.name; });
        if (found == c.actuated.end()) {
            std::vector<std::string> names;
            for (const Coordinate& a : c.actuated) names.push_back(a.name);
            throw Error("the reference of '" + e.name + "' has no actuated coordinate", e.place,
                        did_you_mean(e.name, names));
        }
        reference[static_cast<std::size_t>(found - c.actuated.begin())] =
            parse(e.value, "the reference of '" + e.name + "'", 0);
    }
    const std::vector<std::vector<Expr>> Kp = gain(c.Kp, "Kp", n), Kv = gain(c.Kv, "Kv", n);
    if (c.shaping.given) shape_potential(c, n);
    describe_loop(c, Kp, Kv, reference);

    const Expr half = g.constant(0.5);
    const auto symmetric = [&](const auto& K, std::size_t i, std::size_t j) {
        return g.mul(half, g.add(K[i][j], K[j][i]));
    };
    const auto skew = [&](const auto& K, std::size_t i, std::size_t j) {
        return K[i][j] == K[j][i] ? g.constant(0.0) : g.mul(half, g.sub(K[i][j], K[j][i]));
    };
    for (std::size_t i = 0; i < n; ++i) {
        const Expr error_i = g.sub(f_.q[y[i]], reference[i]);
        const Expr rate_i = f_.u[y[i]];
        for (std::size_t j = 0; j < n; ++j) {
            const Expr error_j = g.sub(f_.q[y[j]], reference[j]);
            const Expr rate_j = f_.u[y[j]];
            if (!c.shaping.given) {
                f_.U = g.add(f_.U, g.mul(g.mul(half, symmetric(Kp, i, j)), g.mul(error_i, error_j)));
                f_.f[y[i]] = g.sub(f_.f[y[i]], g.mul(skew(Kp, i, j), error_j));
            }
            f_.R = g.add(f_.R, g.mul(g.mul(half, symmetric(Kv, i, j)), g.mul(rate_i, rate_j)));
            f_.f[y[i]] = g.sub(f_.f[y[i]], g.mul(skew(Kv, i, j), rate_j));
        }
    }
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
    for (const Expr r : reference) loop.reference.push_back(value_of(r));
    loop.shaping = c.shaping.source.text;
    if (!c.Kp.given() && !c.Kv.given() && !c.shaping.given)
        model_.warnings.push_back("[control] has no gains: it does nothing");
    const auto warn = [&](const Matrix& K, const std::string& name) {
        if (symmetric_spectrum(0.5 * (K + K.transpose())).smallest < 0.0)
            model_.warnings.push_back(name + " in [control] is not positive semidefinite: it drives the system away");
    };
    if (!c.shaping.given) warn(loop.Kp, "Kp");
    warn(loop.Kv, "Kv");
    model_.control = std::move(loop);
}

}  // namespace saltus::model
