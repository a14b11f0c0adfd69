// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/detail/return_map.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/section_passages.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/quantities/state_expression.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/sensitivity/sensitivity.hpp"

namespace saltus::orbit {

namespace {

/// All initial positions, then all initial velocities, as variables of derivatives.
std::vector<sensitivity::Variable> initial_values(const model::Model& model) {
    using Kind = sensitivity::Variable::Kind;
    std::vector<sensitivity::Variable> list;
    for (const Kind kind : {Kind::position, Kind::velocity})
        for (int i = 0; i < model.size(); ++i)
            list.push_back(
                {kind, i, model.coordinates[static_cast<std::size_t>(i)] + (kind == Kind::velocity ? "'" : ""), 0.0});
    return list;
}

/// A parameter as a variable of derivatives. It is looked up among the parameters only, so that a coordinate of the
/// same name is not taken for it.
sensitivity::Variable parameter_variable(const model::Model& model, const std::string& name) {
    for (const model::Parameter& p : model.settings->parameters)
        if (p.name == name && p.column >= 0 && !p.structural)
            return {sensitivity::Variable::Kind::parameter, p.column, name, p.value};
    throw Error("there are no derivatives by the parameter '" + name + "'", {"--over", 0, 0},
                "choose a parameter that the motion depends on smoothly");
}

}  // namespace

Vector vector_of(const trajectory::State& state) {
    const auto n = static_cast<Eigen::Index>(state.q.size());
    Vector x(2 * n);
    for (Eigen::Index i = 0; i < n; ++i) {
        x(i) = state.q[static_cast<std::size_t>(i)];
        x(n + i) = state.u[static_cast<std::size_t>(i)];
    }
    return x;
}

trajectory::State state_of(double t, const Vector& x) {
    const Eigen::Index n = x.size() / 2;
    return {t, {x.data(), x.data() + n}, {x.data() + n, x.data() + 2 * n}};
}

Vector rate_at_end(const trajectory::Trajectory& motion) {
    const auto n = static_cast<Eigen::Index>(motion.coordinates.size());
    for (auto arc = motion.arcs.rbegin(); arc != motion.arcs.rend(); ++arc) {
        if (arc->steps.empty()) continue;
        Vector all(arc->steps.back().size());
        arc->steps.back().derivative(arc->t_end, all.data());
        return all.head(2 * n);
    }
    return Vector::Zero(2 * n);
}

Vector rate_at(const trajectory::Trajectory& motion, double t) {
    const auto n = static_cast<Eigen::Index>(motion.coordinates.size());
    for (const trajectory::Arc& arc : motion.arcs) {
        if (t < arc.t_begin || t > arc.t_end) continue;
        for (const ode::Dense& step : arc.steps) {
            if (t > step.t_new()) continue;
            Vector all(step.size());
            step.derivative(t, all.data());
            return all.head(2 * n);
        }
    }
    return Vector::Zero(2 * n);
}

ReturnMap::ReturnMap(const model::Model& model, const integrate::EventDriven& method, std::function<bool()> interrupted)
    : model_(model), method_(method), interrupted_(std::move(interrupted)) {
    method_.keep_arcs = true;
}

ReturnMap::ReturnMap(const model::Model& model, const integrate::EventDriven& method, std::function<bool()> interrupted,
                     const std::string& parameter)
    : ReturnMap(model, method, std::move(interrupted)) {
    parameter_ = parameter;
}

integrate::Options ReturnMap::options_of(double t, const Vector& x, double duration) const {
    integrate::Options options;
    options.start = state_of(t, x);
    options.t_end = t + duration;
    options.interrupted = interrupted_;
    return options;
}

trajectory::Trajectory ReturnMap::motion(double t, const Vector& x, double duration) const {
    return integrate::simulate(model_, method_, options_of(t, x, duration));
}

integrate::RecordedMotion ReturnMap::recorded(double t, const Vector& x, double duration) const {
    return integrate::simulate_recorded(model_, method_, options_of(t, x, duration));
}

Return ReturnMap::operator()(double t, const Vector& x, double duration) const {
    Return out;
    sensitivity::Options options;
    options.method = method_;
    options.start = state_of(t, x);
    options.t_end = t + duration;
    options.interrupted = interrupted_;
    std::vector<sensitivity::Variable> variables = initial_values(model_);
    const auto state_columns = static_cast<Eigen::Index>(variables.size());
    if (!parameter_.empty()) variables.push_back(parameter_variable(model_, parameter_));
    sensitivity::Sensitivity derivative = sensitivity::sensitivity(model_, variables, options);
    out.motion = std::move(derivative.motion);
    if (!derivative.available) {
        out.failure = derivative.reason.empty() ? "the motion has no derivative" : derivative.reason;
        return out;
    }
    out.end = vector_of(out.motion.end);
    out.rate = rate_at_end(out.motion);
    out.slope = derivative.final.leftCols(state_columns);
    if (!parameter_.empty()) {
        out.by_parameter = derivative.final.col(state_columns);
        if (!out.by_parameter.allFinite()) {
            out.failure = "the motion has no derivative by " + parameter_;
            return out;
        }
    }
    for (std::size_t j = 0; j < static_cast<std::size_t>(state_columns); ++j)
        if (derivative.one_sided[j] != 0) out.one_sided.push_back(variables[j].name);
    // A direction of the state without a derivative: its column is 0, and its name is in `missing`.
    for (Eigen::Index j = 0; j < out.slope.cols(); ++j) {
        if (out.slope.col(j).allFinite()) continue;
        out.missing.push_back(variables[static_cast<std::size_t>(j)].name);
        out.slope.col(j).setZero();
    }
    return out;
}

PhaseCondition section_of(const model::Model& model, const std::string& expression) {
    using model::StateExpression;
    const Place place{"--section", 0, 0};
    // Two compiled expressions: values alone are needed far more often than derivatives, and are cheaper.
    const auto plain = std::make_shared<StateExpression>(model, expression, place);
    const auto exact = std::make_shared<StateExpression>(model, expression, place, StateExpression::Derivatives::all);
    const auto value = [](StateExpression& e, const Vector& x) {
        const auto n = static_cast<std::size_t>(x.size() / 2);
        return e.value(0.0, {x.data(), n}, {x.data() + n, n});
    };
    PhaseCondition out;
    out.value = [=](const Vector& x) { return value(*plain, x); };
    out.gradient = [=](const Vector& x) {
        value(*exact, x);
        return Vector(Eigen::Map<const Vector>(exact->gradient().data() + 1, x.size()));
    };
    return out;
}

PhaseCondition plane_across(const Vector& x, const Vector& rate) {
    const double length = rate.norm();
    return plane_through(x, length > 0.0 ? Vector(rate / length) : Vector(Vector::Zero(x.size())));
}

PhaseCondition plane_through(const Vector& x, const Vector& normal) {
    PhaseCondition out;
    out.value = [=](const Vector& y) { return normal.dot(y - x); };
    out.gradient = [=](const Vector&) { return Vector(normal); };
    return out;
}

PhaseCondition level_across(const Vector& x, const Vector& rate, const Vector& size) {
    PhaseCondition out;
    rate.cwiseAbs().cwiseQuotient(size).maxCoeff(&out.component);
    const Eigen::Index i = out.component, count = x.size();
    out.sign = rate(i) < 0.0 ? -1.0 : 1.0;
    out.level = x(i);
    out.value = [i, sign = out.sign, level = out.level](const Vector& y) { return sign * (y(i) - level); };
    out.gradient = [i, sign = out.sign, count](const Vector&) { return Vector(sign * Vector::Unit(count, i)); };
    return out;
}

std::vector<Passage> passages(const std::vector<trajectory::Arc>& arcs, Eigen::Index n, const PhaseCondition& section) {
    std::vector<Passage> list;
    Vector x(2 * n);
    integrate::section_passages_on_steps(
        arcs, static_cast<std::size_t>(n),
        [&](const ode::Dense& step, double t) {
            if (section.component >= 0)
                return section.sign * (step.component(static_cast<int>(section.component), t) - section.level);
            step.evaluate(t, x.data(), static_cast<int>(2 * n));
            return section.value(x);
        },
        [&](double t, std::span<const double> at) {
            list.push_back({t, Eigen::Map<const Vector>(at.data(), 2 * n)});
        });
    return list;
}

PhaseCondition exchanged(const PhaseCondition& section) {
    PhaseCondition out;
    out.value = [value = section.value](const Vector& x) { return -value(x); };
    out.gradient = [gradient = section.gradient](const Vector& x) { return Vector(-gradient(x)); };
    return out;
}

std::string passes_too_seldom(std::size_t count, std::size_t needed, std::size_t downwards, double time) {
    const auto times = [](std::size_t n) { return n == 1 ? std::string("once") : std::to_string(n) + " times"; };
    std::string text = "the motion passes the section " + times(count) + " upwards within " + number_text(time) +
                       " s; " + std::to_string(needed) + " passages are needed";
    if (downwards >= needed)
        text += "; it passes it downwards " + times(downwards) +
                ": exchange the sides of the section, as in \"0 = x\" instead of \"x = 0\"";
    return text;
}

std::vector<Passage> last_passages(const trajectory::Trajectory& motion, const PhaseCondition& section,
                                   std::size_t count) {
    std::vector<Passage> list;
    std::vector<trajectory::Arc> one(1);
    for (auto arc = motion.arcs.rbegin(); arc != motion.arcs.rend() && list.size() < count; ++arc) {
        one[0] = *arc;
        std::vector<Passage> here = passages(one, static_cast<Eigen::Index>(motion.coordinates.size()), section);
        list.insert(list.begin(), here.begin(), here.end());
    }
    if (list.size() > count) list.erase(list.begin(), list.end() - static_cast<std::ptrdiff_t>(count));
    return list;
}

}  // namespace saltus::orbit
