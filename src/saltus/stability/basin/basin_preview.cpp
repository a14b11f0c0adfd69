// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/basin_preview.hpp"

#include <cmath>

#include "saltus/model/model.hpp"
#include "saltus/stability/basin/detail/basin_labeller.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_periods.hpp"

namespace saltus::stability {

namespace {

/// Starts that are looked at: enough for a picture, few enough that labelling them takes a fraction of a second.
constexpr double most_starts = 60'000.0;

}  // namespace

struct BasinPreview::Data {
    Data(const model::Model& m, const BasinOptions& all)
        : model(m), options(all), record(layout_of(m, all)), models(m, options) {
        strides.assign(all.starts.axes.size(), 1);
        if (all.sampled()) {
            stride = static_cast<std::size_t>(std::ceil(static_cast<double>(all.starts.samples) / most_starts));
            options.starts.samples = (all.starts.samples + stride - 1) / stride;
        } else {
            thin_grid(all);
        }
        options.search.reset();  // sets of other parameters take longer than a look
        options.folder.clear();
        record.grow(options.starts.size());
        decision.level = options.level ? &*options.level : nullptr;
        if (options.equilibria) {
            periods = options.equilibria->periods;
        } else {
            RestingModel resting(m);
            periods = periods_of(resting);
        }
        decision.periods = periods;
        labeller.emplace(model, options, decision, models);
    }

    /// Every s-th value of the longest axes, such that few points are left.
    void thin_grid(const BasinOptions& all) {
        for (;;) {
            double points = 1.0;
            std::size_t longest = 0;
            for (std::size_t d = 0; d < strides.size(); ++d) {
                points *= static_cast<double>(options.starts.axes[d].n);
                if (options.starts.axes[d].n > options.starts.axes[longest].n) longest = d;
            }
            if (points <= most_starts) return;
            const ensemble::Axis& whole = all.starts.axes[longest];
            ensemble::Axis& axis = options.starts.axes[longest];
            strides[longest] = strides[longest] < 8 ? strides[longest] + 1 : strides[longest] * 5 / 4;
            axis.n = (whole.n - 1) / strides[longest] + 1;
            axis.to = whole.value((axis.n - 1) * strides[longest]);
            if (whole.listed.empty()) continue;
            axis.listed.clear();
            for (long k = 0; k < axis.n; ++k)
                axis.listed.push_back(whole.listed[static_cast<std::size_t>(k * strides[longest])]);
        }
    }

    /// Number of a start among those that are looked at.
    std::optional<std::size_t> place(std::size_t motion) const {
        if (options.sampled()) {
            if (motion % stride != 0 || motion / stride >= options.starts.samples) return {};
            return motion / stride;
        }
        std::size_t number = 0, step = 1;
        for (std::size_t d = 0; d < strides.size(); ++d) {
            const auto n = static_cast<std::size_t>(counts[d]);
            const auto k = static_cast<long>(motion % n);
            if (k % strides[d] != 0 || k / strides[d] >= options.starts.axes[d].n) return {};
            number += static_cast<std::size_t>(k / strides[d]) * step;
            step *= static_cast<std::size_t>(options.starts.axes[d].n);
            motion /= n;
        }
        if (motion > 0) return {};  // of a refinement
        return number;
    }

    const model::Model& model;
    BasinOptions options;
    BasinRecord record;
    BasinModels models;
    Decision decision;
    std::vector<double> periods;
    std::optional<BasinLabeller> labeller;
    std::size_t stride = 1;     ///< of samples
    std::vector<long> strides;  ///< of the axes of a grid
    std::vector<long> counts;   ///< values of the axes of the whole grid
    std::size_t seen = 0;
};

BasinPreview::BasinPreview(const model::Model& model, const BasinOptions& options)
    : data_(std::make_unique<Data>(model, options)) {
    for (const ensemble::Axis& a : options.starts.axes) data_->counts.push_back(a.n);
}
BasinPreview::~BasinPreview() = default;

const BasinOptions& BasinPreview::options() const { return data_->options; }
std::size_t BasinPreview::seen() const { return data_->seen; }

void BasinPreview::add(std::size_t motion, const BasinMotion& m) {
    const std::optional<std::size_t> place = data_->place(motion);
    if (!place) return;
    data_->record.put(*place, m);
    ++data_->seen;
}

Basin BasinPreview::look() {
    Data& d = *data_;
    Basin out;
    out.complete = false;
    out.base = d.options.starts.size();
    out.periods = d.periods;
    const auto parameters = [&](std::size_t k) {
        std::vector<double> x(d.options.starts.axes.size());
        d.options.starts.values(k, x);
        return d.models.parameters_of(x);
    };
    d.labeller->label(d.record, out.base, out.base, parameters, out);
    out.record = d.record;
    return out;
}

}  // namespace saltus::stability
