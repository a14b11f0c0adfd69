// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/detail/basin_models.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/quantities/state_expression.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_periods.hpp"

namespace saltus::stability {

namespace {

/// Points of a motion that repeats differ by at most this part of its range; by time-stepping by more (RepeatRule).
constexpr double equal_points = 1e-5;
/// Time-stepping compares with a larger tolerance, and therefore more points.
constexpr std::size_t stepped_times = 16;
constexpr double rounding_of_steps = 1e-9;  ///< of the number of steps in a period

}  // namespace

BasinModels::BasinModels(const model::Model& model, const BasinOptions& options)
    : nominal_(std::shared_ptr<const model::Model>(), &model), options_(options) {
    for (std::size_t k = 0; k < options.components.size(); ++k)
        if (options.components[k] < 0) axes_.push_back(k);
}

std::vector<double> BasinModels::parameters_of(std::span<const double> values) const {
    std::vector<double> list;
    for (const std::size_t k : axes_) list.push_back(values[k]);
    return list;
}

std::shared_ptr<const model::Model> BasinModels::at(const std::vector<double>& parameters) {
    if (!varied()) return nominal_;
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = known_.find(parameters); found != known_.end()) return found->second;
    }
    std::shared_ptr<const model::Model> model;
    try {
        model = options_.model_at(parameters);
    } catch (const Error& e) {
        std::vector<std::string> where;
        for (std::size_t k = 0; k < axes_.size(); ++k)
            where.push_back(options_.starts.axes[axes_[k]].name + " = " + number_text(parameters[k]));
        throw Error("with " + listing(where) + ": " + e.message(), e.place(), e.remedy());
    }
    const std::lock_guard lock(mutex_);
    if (known_.emplace(parameters, model).second) oldest_.push_back(parameters);
    if (oldest_.size() > max_kept) {
        known_.erase(oldest_.front());
        oldest_.erase(oldest_.begin());
    }
    return model;
}

ensemble::PendingRuns::Order BasinModels::order() const {
    if (!gridded()) return {};
    // The axes of the state vary fastest, then those of the parameters.
    std::vector<std::size_t> axes;
    for (std::size_t k = 0; k < options_.components.size(); ++k)
        if (options_.components[k] >= 0) axes.push_back(k);
    axes.insert(axes.end(), axes_.begin(), axes_.end());
    std::vector<std::size_t> counts, strides(options_.starts.axes.size());
    std::size_t stride = 1;
    for (std::size_t k = 0; k < strides.size(); ++k) {
        strides[k] = stride;
        stride *= static_cast<std::size_t>(options_.starts.axes[k].n);
    }
    for (const std::size_t k : axes) counts.push_back(static_cast<std::size_t>(options_.starts.axes[k].n));
    return [=](std::size_t place) {
        std::size_t number = 0;
        for (std::size_t a = 0; a < axes.size(); ++a) {
            number += place % counts[a] * strides[axes[a]];
            place /= counts[a];
        }
        return number;
    };
}

ModelRules::ModelRules(const model::Model& model, const BasinOptions& options, const Decision& common)
    : decision(common), method(options.method) {
    if (options.varies_parameters()) {
        RestingModel resting(model);
        decision.periods = periods_of(resting);
    }
    if (!options.repeats) return;
    RepeatRule& rule = decision.repeat;
    rule.max_returns = options.repeats->max_returns;
    rule.tolerance = equal_points;
    auto* const moreau = std::get_if<integrate::Moreau>(&method);
    if (moreau != nullptr) {
        rule.times = stepped_times;
        rule.step = moreau->h;
    }
    if (options.repeats->period) {
        rule.period = options.repeats->period(model);
        if (!(rule.period > 0.0) || !std::isfinite(rule.period))
            throw Error("the period is " + number_text(rule.period), {"--period", 0, 0}, "it must be > 0");
        if (moreau == nullptr) return;
        decision.steps_of_period =
            std::max<std::int64_t>(1, std::llround(std::ceil(rule.period / moreau->h - rounding_of_steps)));
        moreau->h = rule.step = rule.period / static_cast<double>(decision.steps_of_period);
        decision.rest_steps = std::max<std::int64_t>(decision.rest_steps, decision.steps_of_period);
        return;
    }
    const auto section =
        std::make_shared<model::StateExpression>(model, options.repeats->section, Place{"--section", 0, 0});
    rule.section = [section](std::span<const double> q, std::span<const double> u) {
        return section->value(0.0, q, u);
    };
}

}  // namespace saltus::stability
