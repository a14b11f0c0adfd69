// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "saltus/ensemble/engine.hpp"
#include "saltus/stability/basin/detail/basin_motion.hpp"

namespace saltus::stability {

/// The models of the motions: one, or one for each combination of values of the axes that are parameters. Any thread
/// may use it.
class BasinModels {
public:
    /// Model and options must outlive this object.
    BasinModels(const model::Model& model, const BasinOptions& options);

    bool varied() const { return !axes_.empty(); }
    /// The combinations are those of a grid. Otherwise every motion has its own.
    bool gridded() const { return varied() && !options_.sampled(); }
    std::vector<double> parameters_of(std::span<const double> values) const;  ///< those of all values of a start

    /// The model with these parameters. Throws Error if it cannot be built; the message names the values.
    std::shared_ptr<const model::Model> at(const std::vector<double>& parameters);

    /// The order in which motions of a grid begin: those with the same parameters one after the other. Empty: that of
    /// their numbers.
    ensemble::PendingRuns::Order order() const;

private:
    static constexpr std::size_t max_kept = 64;  ///< models; motions of a few combinations are made at a time

    const std::shared_ptr<const model::Model> nominal_;  ///< not owned
    const BasinOptions& options_;
    std::vector<std::size_t> axes_;  ///< that are parameters
    std::mutex mutex_;
    std::map<std::vector<double>, std::shared_ptr<const model::Model>> known_;
    std::vector<std::vector<double>> oldest_;  ///< keys of known_ in the order of their beginning
};

/// The rules of one model, and its method. With a period, the step of Moreau's method is shortened such that a whole
/// number of steps is a period.
struct ModelRules {
    ModelRules(const model::Model& model, const BasinOptions& options, const Decision& common);
    ModelRules(const ModelRules&) = delete;
    ModelRules& operator=(const ModelRules&) = delete;

    Decision decision;
    std::variant<integrate::Moreau, integrate::EventDriven> method;
};

}  // namespace saltus::stability
