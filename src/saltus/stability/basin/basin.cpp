// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/basin.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/moreau/moreau_lanes.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/support.hpp"
#include "saltus/stability/basin/detail/basin_labeller.hpp"
#include "saltus/stability/basin/detail/basin_refine.hpp"
#include "saltus/stability/basin/detail/basin_work.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_periods.hpp"
#include "saltus/stability/equilibria/equilibrium_point.hpp"
#include "saltus/trajectory/warning_tally.hpp"

namespace saltus::stability {

namespace {

using Clock = std::chrono::steady_clock;

/// The typical energy of the starts is determined from at most about this many of them.
constexpr std::size_t max_measured_starts = 1000;
/// Without kinetic energy and differences of potential, the typical energy is that of a free motion over this part of
/// t_max.
constexpr double free_motion_share = 0.01;
/// With varying parameters fewer, because each of them is a model to build.
constexpr std::size_t max_measured_models = 64;
/// One motion in `starts_for_examined_motion` is examined for its accuracy and its warnings, but at most so many: they
/// cost more than motions in lanes.
constexpr std::size_t max_examined_motions = 8, starts_for_examined_motion = 128;

/// One start in `starts_for_checked_motion` is simulated again with smaller errors, but at most so many. Event-driven
/// motions cost more.
constexpr std::size_t max_checked_motions = 64, starts_for_checked_motion = 16;
constexpr std::size_t max_checked_events = 16, starts_for_checked_event = 64;
/// Starts beside another label are looked for in grids up to this size; their edges have to fit into memory.
constexpr std::size_t max_searched_grid = 1'000'000;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// One run: rounds of motions. The starts of a round depend only on the labels of the rounds before, so that the result
/// does not depend on threads or interruptions.
class Run {
public:
    Run(const model::Model& model, const BasinOptions& options, BasinRecord record)
        : model_(model), options_(options), record_(std::move(record)), models_(model, options) {
        if (options.equilibria) {
            out_.periods = options.equilibria->periods;
        } else {
            RestingModel resting(model);
            out_.periods = periods_of(resting);
        }
        decision_.t_max = options.t_max;
        decision_.level = options.level ? &*options.level : nullptr;
        decision_.periods = out_.periods;
        friction_sets_in_level_ = count_friction_sets_in_level();
        // If the level set contains several sets, then the certificate does not say in which one a motion ends. A
        // motion that may repeat is followed to its end, too.
        decision_.to_rest = options.to_rest || friction_sets_in_level_ > 0 || options.repeats.has_value();
        decision_.interrupted = options.interrupted;
        out_.base = options.starts.size();
    }

    Basin run() {
        const Values base = [this](std::size_t k, std::span<double> x) { options_.starts.values(k, x); };
        set_slow_energy(base);
        ensemble::EngineOptions where{options_.threads, options_.ranks, options_.interrupted};
        work_.emplace(model_, options_, decision_, models_, record_, ensemble::threads_of(where));
        engine_.emplace(*work_, std::move(where));
        if (!engine_->leads()) {
            engine_->serve();
            return std::move(out_);
        }
        const ensemble::Dismissal at_the_end(*engine_);
        labeller_.emplace(model_, options_, decision_, models_);
        bool complete = simulate_round(0, out_.base, base);
        if (!options_.shard.whole()) {
            out_.complete = complete;
            out_.record = std::move(record_);
            return std::move(out_);
        }
        if (complete && !options_.sampled() && options_.refine > 0) complete = refine();
        if (complete && !options_.sampled() && options_.boundary > 0.0) complete = locate_boundary();
        out_.complete = complete;
        relabel();
        if (!out_.refined.empty()) label_refined();
        test_level_set(base);
        if (complete) examine_motions(base);
        if (complete) check_labels(base);
        finish();
        return std::move(out_);
    }

private:
    /// Writes the values of the axes at start k.
    using Values = std::function<void(std::size_t, std::span<double>)>;

    /// The bound of the kinetic energy below which a motion is slow: BasinOptions::rest² times the typical energy of
    /// the starts, which is their largest kinetic energy plus the range of their potential energies.
    void set_slow_energy(const Values& values) {
        std::vector<double> x(options_.starts.axes.size());
        double kinetic = 0.0, low = INFINITY, high = -INFINITY;
        const std::size_t most = models_.varied() ? max_measured_models : max_measured_starts;
        const std::size_t stride = 1 + (out_.base - 1) / most;
        std::optional<StartStates> starts;
        std::shared_ptr<const model::Model> model;
        for (std::size_t k = 0; k < out_.base; k += stride) {
            values(k, x);
            try {
                const auto own = models_.at(models_.parameters_of(x));
                if (own != model) model = own, starts.emplace(*model, options_.components);
            } catch (const Error&) {  // such a motion is refused when its turn comes
                continue;
            }
            const Start start = starts->make(x);
            if (start.admission == Admission::inadmissible || !std::isfinite(start.kinetic + start.potential)) continue;
            kinetic = std::max(kinetic, start.kinetic);
            low = std::min(low, start.potential);
            high = std::max(high, start.potential);
        }
        double typical = kinetic + std::max(0.0, high - low);
        if (!(typical > 0.0)) {  // one start, at rest: kinetic energy ½ hᵀM⁻¹h τ² of a free motion of duration τ
            model::Workspace workspace(model_);
            model::Terms terms(model_.layout());
            model::evaluate(model_, workspace, 0.0, model_.q0, model_.u0, terms);
            model::MassFactor mass(model_.layout().mass);
            std::vector<double> a(terms.h.begin(), terms.h.end());
            if (mass.factorise(terms.M)) mass.solve(a);
            for (std::size_t i = 0; i < a.size(); ++i)
                typical += 0.5 * a[i] * terms.h[i] * std::pow(free_motion_share * options_.t_max, 2);
        }
        decision_.slow = options_.rest * options_.rest * (typical > 0.0 ? typical : 1.0);
    }

    /// Simulates the motions of [first, first + count) that the record does not have; `values` gives their starts.
    /// Returns false if it was interrupted.
    bool simulate_round(std::size_t first, std::size_t count, const Values& values) {
        record_.grow(first + count);
        if (models_.varied() && first >= out_.base) {
            std::vector<double> x(options_.starts.axes.size());
            for (std::size_t k = 0; k < count; ++k) {
                values(k, x);
                later_parameters_.push_back(models_.parameters_of(x));
            }
        }
        const Clock::time_point begin = Clock::now();
        ensemble::Round round;
        round.first = first;
        round.count = count;
        round.axes = options_.starts.axes.size();
        round.shard = options_.shard;
        round.values = values;
        if (first == 0) round.order = models_.order();
        round.progress = options_.progress;
        BasinMotion m;
        round.stored = [&](std::size_t number, std::string_view bytes) {
            record_.read(bytes, m);
            out_.steps_now += m.steps;
            if (options_.stored) options_.stored(number, m);
        };
        const bool complete = ensemble::make(*engine_, record_.table(), round);
        out_.seconds += seconds_since(begin);
        known_ = first + count;
        return complete;
    }

    /// Parameters of a motion of the record.
    std::vector<double> parameters_of(std::size_t motion) const {
        if (motion >= out_.base) return later_parameters_[motion - out_.base];
        std::vector<double> x(options_.starts.axes.size());
        options_.starts.values(motion, x);
        return models_.parameters_of(x);
    }

    /// Labels all motions of the rounds so far.
    void relabel() {
        labeller_->label(
            record_, known_, out_.base, [this](std::size_t k) { return parameters_of(k); }, out_);
    }

    /// Refines the grid where labels differ. Returns false if it was interrupted.
    bool refine() {
        const ensemble::Grid grid{options_.starts.axes};
        Refinement refinement(grid);
        for (int level = 1; level <= options_.refine; ++level) {
            relabel();
            std::vector<std::size_t> points = refinement.next_level(out_.label.all());
            while (!points.empty()) {
                const std::size_t first = known_;
                if (!simulate_round(first, points.size(),
                                    [&](std::size_t k, std::span<double> x) { grid.values(points[k], level, x); }))
                    return false;
                refinement.set_computed(points, first);
                relabel();
                points = refinement.at_differences(out_.label.all());
            }
        }
        out_.level = options_.refine;
        source_ = refinement.source();
        out_.refined.resize(source_.size());
        out_.refined_computed = refinement.computed();
        return true;
    }

    void label_refined() {
        const std::vector<int> labels = out_.label.all();
        for (std::size_t p = 0; p < source_.size(); ++p) out_.refined[p] = labels[source_[p]];
    }

    /// Bisects the edges of the grid with different labels at their ends. Both halves are kept if the label in the
    /// middle differs from both ends. Returns false if it was interrupted.
    bool locate_boundary() {
        relabel();
        const ensemble::Grid grid{options_.starts.axes};
        std::vector<Edge> open = edges_between(grid, out_.label.all()), closed;
        while (!open.empty()) {
            const std::size_t first = known_;
            std::vector<Edge> longer;
            for (Edge& e : open) {
                const double middle = 0.5 * (e.low + e.high);
                const bool split = e.high - e.low > 2.0 * options_.boundary && middle > e.low && middle < e.high;
                (split ? longer : closed).push_back(e);
            }
            open = std::move(longer);
            if (open.empty()) break;
            const Values middles = [&](std::size_t k, std::span<double> x) {
                std::copy(open[k].at.begin(), open[k].at.end(), x.begin());
                x[ix(open[k].axis)] = 0.5 * (open[k].low + open[k].high);
            };
            if (!simulate_round(first, open.size(), middles)) return false;
            relabel();
            const std::vector<int> labels = out_.label.all();
            std::vector<Edge> halves;
            for (std::size_t k = 0; k < open.size(); ++k) {
                const int here = labels[first + k];
                Edge left = open[k], right = open[k];
                left.high = right.low = 0.5 * (left.low + left.high);
                left.above = right.below = first + k;
                if (labels[left.below] != here) halves.push_back(left);
                if (labels[right.above] != here) halves.push_back(right);
            }
            open = std::move(halves);
        }
        std::stable_sort(closed.begin(), closed.end(),
                         [](const Edge& a, const Edge& b) { return a.number < b.number; });
        edges_ = std::move(closed);
        return true;
    }

    /// Whether a known set lies in the level set and only friction holds it. The equilibrium set of the certificate
    /// consists of all equilibria in the level set, and friction may divide it into several listed sets. A second set
    /// with a frictionless equilibrium contradicts the certificate (condition 2), so that it does not belong to it.
    bool is_held_by_friction_in_level(const EquilibriumSet& set) const {
        return !set.contains_frictionless &&
               rests_in_level({set.representative.data(), static_cast<std::size_t>(set.representative.size())});
    }
    int count_friction_sets_in_level() const {
        if (decision_.level == nullptr || !options_.equilibria) return 0;
        const auto& sets = options_.equilibria->sets;
        return static_cast<int>(std::count_if(
            sets.begin(), sets.end(), [&](const EquilibriumSet& set) { return is_held_by_friction_in_level(set); }));
    }

    /// Whether a position without velocity lies in the level set.
    bool rests_in_level(std::span<const double> q) const {
        const std::vector<double> still(q.size(), 0.0);
        model::Workspace workspace(model_);
        const model::Energy energy = model_.system->energy(model::at(model_, 0.0, q, still), workspace.scratch());
        return decision_.inside(0.0, energy.potential, q);
    }

    /// Whether a position is an equilibrium, or this is not decided.
    bool is_held(std::span<const double> q) const {
        RestingModel resting(model_);
        const Vector position = Eigen::Map<const Vector>(q.data(), static_cast<Eigen::Index>(q.size()));
        const EquilibriumPoint point = equilibrium_at(resting, position, {.ranges = false});
        return !point.decided || point.is_equilibrium;
    }

    /// Tests the claim of the certificate. A motion that starts in the level set must end in its equilibrium set (which
    /// may consist of several listed sets, all in the level set), in the same copy; if it is not at rest at t_max then
    /// its position must still be in the level set. These motions were simulated to their ends, since
    /// stop_when_captured is false for them.
    void test_level_set(const Values& values) {
        if (decision_.level == nullptr) return;
        StartStates starts(model_, options_.components);
        std::vector<double> x(options_.starts.axes.size());
        const BasinLabel& captor = out_.labels[ix(out_.captor)];
        ensemble::Labels::Reader label(out_.label);
        const auto turn_of = [&](double q, std::size_t i) {
            return std::lround((q - decision_.level->q[i]) / out_.periods[i]);
        };
        record_.scan(0, out_.base, [&](std::size_t k, const BasinMotion& m) {
            if (!m.inside) return;
            ++out_.inside;
            const BasinLabel& end = out_.labels[ix(label.at(k))];
            const bool rests = end.set >= 0;
            values(k, x);
            const Start start = starts.make(x);
            const bool in_captor = rests && end.set == captor.set;
            // The known sets come first and in the order of the equilibria.
            const bool in_friction_set = rests && out_.sets[ix(end.set)].known &&
                                         is_held_by_friction_in_level(options_.equilibria->sets[ix(end.set)]);
            // A slow motion counts as at rest (BasinOptions::rest), although no forces hold it there.
            const bool slow = rests && !in_captor && !in_friction_set && !out_.sets[ix(end.set)].known && !is_held(m.q);
            bool same = in_captor || ((in_friction_set || !rests || slow) && rests_in_level(m.q));
            for (std::size_t i = 0; same && i < out_.periods.size(); ++i) {
                if (out_.periods[i] == 0.0) continue;
                const long turn = in_captor ? end.turn[i] - captor.turn[i] : turn_of(m.q[i], i);
                same = turn == turn_of(start.q[i], i);
            }
            if (!same)
                ++out_.violations;
            else if (!rests || slow)
                ++out_.inside_undecided;
        });
    }

    void finish() {
        ensemble::Labels::Reader label(out_.label);
        for (const Edge& e : edges_) {
            BoundaryPoint b;
            b.at = e.at;
            b.at[ix(e.axis)] = 0.5 * (e.low + e.high);
            b.half_length = 0.5 * (e.high - e.low);
            b.axis = e.axis;
            b.below = label.at(e.below);
            b.above = label.at(e.above);
            out_.boundary.push_back(std::move(b));
        }
        record_.scan(0, record_.size(), [&](std::size_t, const BasinMotion& m) { out_.steps += m.steps; });
        out_.record = std::move(record_);
        out_.method = std::holds_alternative<integrate::Moreau>(options_.method) ? "moreau" : "event";
        out_.lanes =
            work_->in_lanes() && !options_.device ? static_cast<int>(integrate::moreau::LaneStepper::width) : 1;
        if (options_.device) {
            out_.device = ensemble::to_string(options_.device->kind) + ": " + options_.device->name;
            out_.device_use = work_->device()->use();
        }
        if (friction_sets_in_level_ > 0)
            out_.warnings.push_back("the level set contains " +
                                    counted(static_cast<std::size_t>(friction_sets_in_level_), "further set") +
                                    " that friction holds: its certificate says that motions end in one of all these "
                                    "sets, and the motions are followed to rest");
        if (out_.failed > 0)
            out_.warnings.push_back(std::to_string(out_.failed) +
                                    " motions ended because the integrator could not make a step, or are inaccurate");
        if (out_.moved > 0)
            out_.warnings.push_back(std::to_string(out_.moved) +
                                    " starts could be made admissible only by changing components that the axes give");
        if (models_.varied() && options_.sampled() && out_.inadmissible > 0)
            out_.warnings.push_back(std::to_string(out_.inadmissible) +
                                    " samples have no admissible start, or parameters that the model refuses");
        for (std::string& text : labeller_->warnings()) out_.warnings.push_back(std::move(text));
        for (std::string& text : model::approximations(model_, model::Analysis::basin))
            out_.warnings.push_back(std::move(text));
    }

    /// The motions of an ensemble are neither judged nor do they give warnings. Some of them are made again as single
    /// ones, up to the time at which their fate was decided: violations and energy balance of time-stepping are
    /// measured, and warnings are counted, such as that of a motion that is not unique.
    void examine_motions(const Values& base) {
        if (out_.base == 0) return;
        const auto* const moreau = std::get_if<integrate::Moreau>(&options_.method);
        integrate::Method method = options_.method.index() == 0
                                       ? integrate::Method(std::get<integrate::Moreau>(options_.method))
                                       : integrate::Method(std::get<integrate::EventDriven>(options_.method));
        std::visit([](auto& m) { m.keep_arcs = false; }, method);
        const std::size_t count = std::min(max_examined_motions, 1 + out_.base / starts_for_examined_motion);
        std::vector<double> x(options_.starts.axes.size());
        std::size_t inaccurate = 0;
        std::string reason;
        trajectory::WarningTally tally;
        for (std::size_t k = 0; k < count; ++k) {
            const std::size_t number = (2 * k + 1) * out_.base / (2 * count);
            const BasinMotion m = record_.motion(number);
            if (m.fate == Fate::inadmissible || !(m.t > 0.0)) continue;
            base(number, x);
            const auto model = models_.at(models_.parameters_of(x));
            const Start start = StartStates(*model, options_.components).make(x);
            if (start.admission == Admission::inadmissible) continue;
            integrate::Options options;
            options.start = trajectory::State{0.0, start.q, start.u};
            options.t_end = m.t;
            options.interrupted = options_.interrupted;
            const trajectory::Trajectory motion = integrate::simulate(*model, method, options);
            tally.add(trajectory::about_motion(motion.warnings), "start " + std::to_string(number));
            if (moreau == nullptr || motion.status != trajectory::Status::inaccurate) continue;
            if (inaccurate++ == 0) reason = motion.reason;
        }
        if (inaccurate > 0)
            out_.warnings.push_back(
                std::to_string(inaccurate) + " of " + std::to_string(count) +
                " motions that were examined are inaccurate, so that labels may be wrong; the first: " + reason);
        for (std::string& text : tally.texts("motions that were examined")) out_.warnings.push_back(std::move(text));
    }

    /// The starts whose labels are checked: those beside another label of the grid, evenly spread, otherwise any.
    std::vector<std::size_t> starts_to_check(std::size_t count, std::size_t& beside) const {
        std::vector<std::size_t> near, chosen;
        if (!options_.sampled() && out_.base <= max_searched_grid) {
            std::vector<int> labels = out_.label.all();
            labels.resize(out_.base);
            for (const Edge& e : edges_between(ensemble::Grid{options_.starts.axes}, labels)) {
                near.push_back(e.below);
                near.push_back(e.above);
            }
            std::sort(near.begin(), near.end());
            near.erase(std::unique(near.begin(), near.end()), near.end());
        }
        const bool some = !near.empty();
        const std::size_t from = some ? near.size() : out_.base;
        count = std::min(count, from);
        for (std::size_t k = 0; k < count; ++k) {
            const std::size_t at = (2 * k + 1) * from / (2 * count);
            chosen.push_back(some ? near[at] : at);
        }
        beside = some ? chosen.size() : 0;
        return chosen;
    }

    /// The method with smaller errors, and what was changed.
    static BasinOptions with_smaller_errors(const BasinOptions& options, LabelCheck& check) {
        BasinOptions out = options;
        out.device.reset();
        out.ranks = nullptr;
        out.stored = {};
        out.progress = {};
        if (auto* moreau = std::get_if<integrate::Moreau>(&out.method)) {
            double& setting = moreau->adaptive ? moreau->tolerance : moreau->h;
            setting *= moreau->adaptive ? 0.25 : 0.5;
            check.finer = moreau->adaptive ? "tolerance/4" : "h/2";
            check.setting = setting;
        } else {
            auto& event = std::get<integrate::EventDriven>(out.method);
            // Below the rounding errors of a step a smaller tolerance changes nothing.
            constexpr double least_rtol = 1e-13, least_atol = 1e-15;
            event.rtol = std::max(least_rtol, 0.01 * event.rtol);
            event.atol = std::max(least_atol, 0.01 * event.atol);
            check.finer = "rtol/100";
            check.setting = event.rtol;
        }
        return out;
    }

    /// Whether two motions ended alike. Sets that only motions showed have names in the order of their discovery; they
    /// are compared by their closed contacts.
    static bool same_end(const Basin& a, int label, const Basin& b, int other) {
        const BasinLabel &x = a.labels[ix(label)], &y = b.labels[ix(other)];
        const bool unknown = x.set >= 0 && y.set >= 0 && !a.sets[ix(x.set)].known && !b.sets[ix(y.set)].known;
        if (unknown) return a.sets[ix(x.set)].closed == b.sets[ix(y.set)].closed;
        if (x.orbit >= 0 && y.orbit >= 0) return true;  // orbits are numbered among those that were reached
        return x.text == y.text;
    }

    /// Labels are those of the errors of the motions. Some motions are made again with smaller errors, as single ones
    /// of this process, and their labels are compared.
    void check_labels(const Values& base) {
        if (models_.varied() || out_.base == 0) return;
        LabelCheck check;
        const BasinOptions options = with_smaller_errors(options_, check);
        const bool events = std::holds_alternative<integrate::EventDriven>(options.method);
        const std::size_t most = events ? max_checked_events : max_checked_motions,
                          share = events ? starts_for_checked_event : starts_for_checked_motion;
        const std::vector<std::size_t> chosen = starts_to_check(std::min(most, 1 + out_.base / share), check.beside);
        check.motions = chosen.size();
        BasinRecord record(layout_of(model_, options));
        record.grow(chosen.size());
        ensemble::EngineOptions where{options.threads, nullptr, options.interrupted};
        BasinWork work(model_, options, decision_, models_, record, ensemble::threads_of(where));
        ensemble::Engine engine(work, std::move(where));
        ensemble::Round round;
        round.count = chosen.size();
        round.axes = options.starts.axes.size();
        round.values = [&](std::size_t k, std::span<double> x) { base(chosen[k], x); };
        if (!ensemble::make(engine, record.table(), round)) return;
        Basin again;
        again.periods = out_.periods;
        again.base = chosen.size();
        BasinLabeller labeller(model_, options, decision_, models_);
        labeller.label(
            record, chosen.size(), chosen.size(), [](std::size_t) { return std::vector<double>(); }, again);
        ensemble::Labels::Reader first(out_.label), second(again.label);
        for (std::size_t k = 0; k < chosen.size(); ++k)
            if (!same_end(out_, first.at(chosen[k]), again, second.at(k))) ++check.changed;
        out_.check = std::move(check);
    }

    const model::Model& model_;
    const BasinOptions& options_;
    BasinRecord record_;
    BasinModels models_;
    Decision decision_;
    int friction_sets_in_level_ = 0;  // beside the one of the certificate
    std::optional<BasinWork> work_;
    std::optional<ensemble::Engine> engine_;
    std::optional<BasinLabeller> labeller_;
    Basin out_;
    std::vector<std::size_t> source_;  ///< motion that gives the label of each point of the refined grid
    std::vector<Edge> edges_;          ///< brackets of the boundary
    std::size_t known_ = 0;            ///< motions of the completed rounds; only these are labelled
    std::vector<std::vector<double>> later_parameters_;  ///< of motions after those of the grid, if parameters vary
};

}  // namespace

bool BasinOptions::varies_parameters() const {
    return std::any_of(components.begin(), components.end(), [](int c) { return c < 0; });
}

std::vector<std::string> BasinOptions::parameters() const {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < components.size(); ++k)
        if (components[k] < 0) names.push_back(starts.axes[k].name);
    return names;
}

BasinRecord::Layout layout_of(const model::Model& model, const BasinOptions& options) {
    return {model.coordinates.size(), options.repeats.has_value()};
}

Basin basin(const model::Model& model, const BasinOptions& options, std::optional<BasinRecord> record) {
    model::refuse_elements(model, model::Analysis::basin);
    SALTUS_EXPECT(options.starts.axes.size() == options.components.size() && options.t_max > 0.0);
    SALTUS_EXPECT(!options.varies_parameters() || (options.model_at && !options.level));
    if (!record) record.emplace(layout_of(model, options));
    return Run(model, options, std::move(*record)).run();
}

}  // namespace saltus::stability
