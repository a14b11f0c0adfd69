// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/diagram.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "saltus/base/bytes.hpp"
#include "saltus/base/decompositions.hpp"
#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/ensemble/model_maker.hpp"
#include "saltus/ensemble/parallel_for.hpp"
#include "saltus/integrate/event/event_kernel.hpp"
#include "saltus/model/model.hpp"
#include "saltus/orbit/detail/measures.hpp"
#include "saltus/orbit/detail/return_map.hpp"
#include "saltus/orbit/detail/translations.hpp"
#include "saltus/trajectory/warning_tally.hpp"

namespace saltus::orbit {

namespace {

/// Points that differ by less than this part of the size of the motion are the same point. Motions that approach an
/// orbit come this near within the transient; chaotic ones do not.
constexpr double same_point = 1e-5;
/// A motion is integrated in pieces of this many periods, or of this part of t_max, so that interrupts are noticed and
/// memory stays small.
constexpr int pieces_of_a_motion = 64;

template <class Bytes>
void transfer_column(Bytes& b, DiagramColumn& c) {
    b(c.value);
    b(c.times);
    b(c.points);
    b(c.period);
    b(c.exponents);
    b(c.changes);
    b(c.warnings);
    b(c.remark);
    b(c.end);
}

std::string bytes_of(DiagramColumn column) {
    ByteWriter writer;
    transfer_column(writer, column);
    return writer.bytes();
}

DiagramColumn column_from(std::string_view bytes) {
    ByteReader reader(bytes);
    DiagramColumn column;
    transfer_column(reader, column);
    column.done = true;
    return column;
}

/// Samples of a motion between two points of the section, which tell its size.
constexpr int samples_between_points = 16;

/// As the function of the header, for points that are equal up to translations.
int period_of(const std::vector<Vector>& points, const Vector& tolerance, const Translations& translations) {
    const auto is_equal = [&](const Vector& a, const Vector& b) {
        Vector difference = a - b;
        if (!translations.empty()) difference = translations.reduced(std::move(difference));
        return (difference.cwiseAbs().array() <= tolerance.array()).all();
    };
    // Points are compared with the first of their kind, not with the one p points before: differences that die out
    // slowly, as near a doubling of the period, add up.
    for (std::size_t p = 1; 3 * p <= points.size(); ++p) {
        bool repeats = true;
        for (std::size_t k = p; k < points.size() && repeats; ++k) repeats = is_equal(points[k], points[k % p]);
        if (repeats) return static_cast<int>(p);
    }
    return 0;
}

/// The long motion of one value, point by point.
class Column {
public:
    Column(const model::Model& model, const DiagramOptions& options)
        : model_(model), options_(options), map_(model, options.method, options.engine.interrupted) {}

    /// Follows the motion from a state at t = 0.
    void follow(Vector x, DiagramColumn& column) {
        if (options_.period)
            by_period(std::move(x), column);
        else
            by_section(std::move(x), column);
        analyse(column);
    }

    /// Takes up the state of a motion that somebody else makes, at one of the samples between two points.
    void measure(Vector x) {
        const Eigen::Index n = x.size() / 2;
        if (!translations_.empty()) x = translations_.reduced(std::move(x));
        position_ = std::max(position_, x.head(n).cwiseAbs().maxCoeff());
        velocity_ = std::max(velocity_, x.tail(n).cwiseAbs().maxCoeff());
    }
    /// Completes a column whose points somebody else has found. All samples must have been measured.
    void complete(DiagramColumn& column) {
        if (!column.points.empty()) last_ = column.points.back();
        analyse(column);
    }

private:
    bool interrupted() const { return options_.engine.interrupted && options_.engine.interrupted(); }

    /// What the kept points tell.
    void analyse(DiagramColumn& column) {
        if (column.points.size() == static_cast<std::size_t>(options_.keep)) {
            column.period = period_of(column.points, allowed_differences(), translations_);
            if (options_.exponents) find_exponents(column);
        }
        column.done = !interrupted();
        column.end = last_;
    }

    /// Takes up how large the positions and velocities of a motion are.
    void measure(const trajectory::Trajectory& motion) {
        for (int k = 0; k <= samples_between_points; ++k)
            measure(vector_of(motion.right(motion.sample_time(k, samples_between_points))));
    }

    /// Each kind of warning once. Those of the model are told by the command.
    void take_warnings(const trajectory::Trajectory& motion, DiagramColumn& column) const {
        for (const std::string& warning : trajectory::about_motion(motion.warnings)) {
            if (std::find(model_.warnings.begin(), model_.warnings.end(), warning) != model_.warnings.end()) continue;
            std::string text = trajectory::without_times(warning);
            if (std::find(column.warnings.begin(), column.warnings.end(), text) == column.warnings.end())
                column.warnings.push_back(std::move(text));
        }
    }

    Vector allowed_differences() const {
        const Eigen::Index n = model_.size();
        Vector allowed(2 * n);
        allowed.head(n).setConstant(same_point * position_);
        allowed.tail(n).setConstant(same_point * velocity_);
        return allowed;
    }

    bool ended_early(const trajectory::Trajectory& motion, DiagramColumn& column) const {
        if (motion.status == trajectory::Status::completed) return false;
        column.remark = "the motion ended at t = " + number_text(motion.end.t) +
                        (motion.reason.empty() ? "" : ": " + motion.reason);
        return true;
    }

    void by_period(Vector x, DiagramColumn& column) {
        const double T = options_.period(model_);
        if (!(T > 0.0) || !std::isfinite(T)) {
            column.remark = "the period is " + number_text(T);
            return;
        }
        for (int k = 0; k < options_.transient + options_.keep && !interrupted();) {
            const int more = k < options_.transient ? std::min(pieces_of_a_motion, options_.transient - k) : 1;
            const trajectory::Trajectory motion = map_.motion(k * T, x, more * T);
            take_warnings(motion, column);
            if (ended_early(motion, column)) return;
            x = vector_of(motion.end);
            k += more;
            if (k <= options_.transient) continue;
            measure(motion);
            column.times.push_back(k * T);
            column.points.push_back(x);
        }
        last_ = x;
    }

    void by_section(Vector x, DiagramColumn& column) {
        const PhaseCondition section = section_modulo(model_, options_.section, translations_);
        int seen = 0;
        double t = 0.0;
        const double piece = options_.t_max / pieces_of_a_motion;
        while (t < options_.t_max && !interrupted()) {
            const trajectory::Trajectory motion = map_.motion(t, x, std::min(piece, options_.t_max - t));
            take_warnings(motion, column);
            measure(motion);
            for (const Passage& p : passages(motion, section)) {
                if (++seen <= options_.transient || static_cast<int>(column.points.size()) == options_.keep) continue;
                column.times.push_back(p.t);
                column.points.push_back(p.x);
            }
            if (ended_early(motion, column)) return;
            x = vector_of(motion.end);
            last_ = x;
            t = motion.end.t;
            if (static_cast<int>(column.points.size()) == options_.keep) return;
            if (model_.autonomous && motion.events.empty() &&
                std::all_of(motion.end.u.begin(), motion.end.u.end(), [](double u) { return u == 0.0; })) {
                column.remark = "the motion is at rest at t = " + number_text(t);
                return;
            }
        }
        if (!interrupted())
            column.remark = passes_too_seldom(
                static_cast<std::size_t>(seen),
                static_cast<std::size_t>(options_.transient) + static_cast<std::size_t>(options_.keep), 0,
                options_.t_max);
    }

    /// Lyapunov exponents: the derivatives Φ'_k of the maps from point to point are applied to an orthonormal basis,
    /// which is made orthonormal again after each (Benettin). With the diagonals R_ii of these factorisations
    ///     λ_i = Σ_k log|R_ii| / (time of these maps).
    /// The first quarter of the maps is not counted: it turns the basis into the directions of the exponents.
    void find_exponents(DiagramColumn& column) {
        const Eigen::Index m = column.points[0].size();
        Matrix basis = Matrix::Identity(m, m);
        Vector sum = Vector::Zero(m), half = Vector::Zero(m);
        const std::size_t maps = column.points.size() - 1, first = maps / 4, middle = (first + maps) / 2;
        if (first == 0) {
            column.remark = "exponents need at least five points; give a larger --keep";
            return;
        }
        for (std::size_t k = 0; k < maps && !interrupted(); ++k) {
            const double t = column.times[k], duration = column.times[k + 1] - t;
            const Return r = map_(t, column.points[k], duration);
            if (!r.available() || !r.missing.empty()) {
                column.remark = "no exponents: " +
                                (r.available() ? "the motion touches or sticks at a point of the section" : r.failure);
                return;
            }
            const OrthogonalFactors qr = orthogonal_factors(r.slope * basis);
            basis = qr.Q;
            for (Eigen::Index i = 0; i < m && k >= first; ++i) sum(i) += std::log(std::abs(qr.diagonal(i)));
            if (k + 1 == middle) half = sum;
        }
        if (interrupted()) return;
        const double whole_time = column.times.back() - column.times[first];
        const double half_time = column.times[middle] - column.times[first];
        std::vector<std::pair<double, double>> list;
        for (Eigen::Index i = 0; i < m; ++i) {
            const double exponent = sum(i) / whole_time;
            list.emplace_back(exponent, std::abs(exponent - half(i) / half_time));
        }
        std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        for (const auto& [exponent, change] : list) {
            column.exponents.push_back(exponent);
            column.changes.push_back(std::isfinite(exponent) ? change : 0.0);
        }
    }

    const model::Model& model_;
    const DiagramOptions& options_;
    ReturnMap map_;
    std::optional<Vector> last_;
    Translations translations_ = translations_of(model_);  // a motion repeats although it drifts
    double position_ = 0.0, velocity_ = 0.0;               // largest ones of the motion
};

}  // namespace

int period_of(const std::vector<Vector>& points, const Vector& tolerance) {
    return period_of(points, tolerance, Translations());
}

namespace {

/// The column of one value. `last` is where the motion of the value before ended, in sweeps.
DiagramColumn column_at(const ensemble::ModelMaker& maker, const DiagramOptions& options, double value,
                        const std::optional<Vector>& last) {
    DiagramColumn column;
    column.value = value;
    try {
        const model::Model model = maker.at(std::array{value});
        const Vector start = vector_of({0.0, model.q0, model.u0});
        try {
            Column(model, options).follow(last.value_or(start), column);
        } catch (const Error& e) {
            if (!last) throw;
            // The end of the motion before is inadmissible for this value, for example because a wall has moved.
            column = {};
            column.value = value;
            Column(model, options).follow(start, column);
            if (column.remark.empty())
                column.remark = "begins at the initial state, because the last state is not admissible: " + e.message();
        }
    } catch (const Error& e) {
        column.done = true;
        column.remark = e.message();
    }
    return column;
}

integrate::KernelText kernel_of(const model::Model& model, const DiagramOptions& options) {
    integrate::KernelRules rules;
    rules.own_end = true;
    const std::vector<int> varied = ensemble::varied_parameters(model, {options.over.name});
    return integrate::emit_event_kernel(model, options.method, rules, varied).common_part();
}

/// Settings of the kernel (integrate/kernel_text.hpp) that a diagram does not use: no step h and no common end time, no
/// speed below which a motion counts as slow, no level set, no bounds of the coordinates.
std::vector<double> kernel_settings(const model::Model& model) {
    constexpr double never_slow = -1.0;
    std::vector<double> settings{0.0, 0.0, never_slow, -INFINITY, 0.0};
    for (int i = 0; i < model.size(); ++i) settings.insert(settings.end(), {0.0, 0.0, -INFINITY, INFINITY});
    return settings;
}

/// Columns of points at multiples of the period, by motions of a device. All motions are made from one sample to the
/// next: to the end of the transient, then to `samples_between_points` times in each period. The CPU builds the models,
/// makes what the kernel gives up, and computes exponents.
class DeviceColumns final : public ensemble::Work {
public:
    DeviceColumns(const ensemble::ModelMaker& maker, const model::Model& model, const DiagramOptions& options)
        : maker_(maker),
          model_(model),
          options_(options),
          varied_(ensemble::varied_parameters(model, {options.over.name})),
          threads_(ensemble::threads_of(options.engine)),
          runs_(*options.device, kernel_of(model, options), ensemble::KernelPace::of_series(), kernel_settings(model)) {
    }

    void serve(const ensemble::NextRun& next, const ensemble::FinishRun& finish) override {
        while (!interrupted()) {
            std::vector<Motion> motions;
            for (ensemble::RunRequest run; motions.size() < batch() && next(run);) {
                motions.emplace_back();
                motions.back().run = std::move(run);
            }
            if (motions.empty()) return;
            in_parallel(motions, [&](Motion& m) { begin(m); });
            make(motions);
            in_parallel(motions, [&](Motion& m) {
                if (m.here) {
                    if (m.column.points.size() < static_cast<std::size_t>(options_.keep)) return;  // interrupted
                    m.here->complete(m.column);
                } else {
                    m.column = column_at(maker_, options_, m.run.values[0], {});
                }
                if (m.column.done) finish(m.run.number, bytes_of(m.column));
            });
            runs_.use().given_up += static_cast<std::size_t>(
                std::count_if(motions.begin(), motions.end(), [](const Motion& m) { return !m.here; }));
        }
    }
    /// Points and models of a batch are in memory.
    std::size_t batch() const override { return std::min<std::size_t>(runs_.batch(), 4096); }

    const ensemble::DeviceUse& use() const { return runs_.use(); }

private:
    struct Motion {
        ensemble::RunRequest run;
        std::unique_ptr<const model::Model> model;
        std::optional<Column> here;  ///< nothing: the CPU must make this motion
        double period = 0.0;
        DiagramColumn column;
    };

    bool interrupted() const { return options_.engine.interrupted && options_.engine.interrupted(); }

    template <class F>
    void in_parallel(std::vector<Motion>& motions, const F& f) const {
        ensemble::Options many;
        many.threads = threads_;
        ensemble::parallel_for(
            motions.size(), [&](std::size_t k) { f(motions[k]); }, many);
    }

    void begin(Motion& m) const {
        m.column.value = m.run.values[0];
        try {
            m.model = std::make_unique<const model::Model>(maker_.at(m.run.values));
            m.period = options_.period(*m.model);
            if (!(m.period > 0.0) || !std::isfinite(m.period)) return;
            if (!ensemble::same_kernel(model_, *m.model, varied_)) return;
            m.here.emplace(*m.model, options_);
        } catch (const Error&) {  // the CPU tells the reason
            m.here.reset();
        }
    }

    void make(std::vector<Motion>& motions) {
        ensemble::KernelRuns::Batch batch = runs_.batch_of(motions.size());
        const std::size_t count = motions.size();
        std::erase_if(batch.list, [&](int k) { return !motions[static_cast<std::size_t>(k)].here; });
        for (const int place : batch.list) {
            const auto k = static_cast<std::size_t>(place);
            const model::Model& m = *motions[k].model;
            const std::size_t n = m.coordinates.size();
            for (std::size_t i = 0; i < n; ++i) {
                batch.start[i * count + k] = m.q0[i];
                batch.start[(n + i) * count + k] = m.u0[i];
            }
            for (std::size_t p = 0; p < varied_.size(); ++p)
                batch.start[(2 * n + p) * count + k] = m.p[static_cast<std::size_t>(varied_[p])];
        }
        // A sample is a time in parts of a period.
        const long first = static_cast<long>(options_.transient) * samples_between_points;
        const long last = first + static_cast<long>(options_.keep) * samples_between_points;
        for (long sample = first > 0 ? first : 1; sample <= last && !interrupted(); ++sample) {
            std::vector<int> active;
            for (std::size_t k = 0; k < count; ++k) {
                if (!motions[k].here) continue;
                const double t = time_of(motions[k], sample);
                if (batch.how(static_cast<int>(k)) == integrate::KernelOutcome::waiting)
                    batch.end_at(static_cast<int>(k), t);
                else
                    batch.go_on_until(static_cast<int>(k), t);
                active.push_back(static_cast<int>(k));
            }
            batch.list = std::move(active);
            runs_.run(
                batch,
                [&](ensemble::KernelRuns::Batch& b, const std::vector<int>& ended) {
                    for (const int k : ended) take(motions[static_cast<std::size_t>(k)], b, k, sample, first);
                },
                options_.engine.interrupted);
        }
        for (std::size_t k = 0; k < count; ++k) runs_.use().steps += batch.steps(static_cast<int>(k));
    }

    static double time_of(const Motion& m, long sample) {
        const long whole = sample / samples_between_points, part = sample % samples_between_points;
        return (static_cast<double>(whole) + static_cast<double>(part) / samples_between_points) * m.period;
    }

    void take(Motion& m, const ensemble::KernelRuns::Batch& b, int k, long sample, long first) const {
        if (b.how(k) != integrate::KernelOutcome::undecided) {  // given up
            m.here.reset();
            m.column = {};
            return;
        }
        Vector x(2 * model_.size());
        for (int i = 0; i < 2 * model_.size(); ++i) x(i) = b.at(i, k);
        m.here->measure(x);
        if (sample % samples_between_points != 0 || sample == first) return;
        m.column.times.push_back(time_of(m, sample));
        m.column.points.push_back(x);
    }

    const ensemble::ModelMaker& maker_;
    const model::Model& model_;
    const DiagramOptions& options_;
    const std::vector<int> varied_;
    const int threads_;
    ensemble::KernelRuns runs_;
};

/// Goes from value to value. Those in the table are taken over.
void sweep(const ensemble::ModelMaker& maker, const DiagramOptions& options, ensemble::Table& table) {
    const auto count = static_cast<std::size_t>(options.over.n);
    std::optional<Vector> last;
    for (std::size_t k = 0; k < count && !(options.engine.interrupted && options.engine.interrupted()); ++k) {
        const std::size_t place = options.sweep == Sweep::up ? k : count - 1 - k;
        DiagramColumn column;
        if (const std::optional<std::string> known = table.get(place)) {
            column = column_from(*known);
        } else {
            column = column_at(maker, options, options.over.value(static_cast<long>(place)), last);
            if (column.done) table.put(place, bytes_of(column));
        }
        if (column.end) last = column.end;
        if (options.progress) options.progress(k + 1, count);
    }
}

}  // namespace

std::string diagram_device_refusal(const model::Model& model, const DiagramOptions& options) {
    if (options.sweep != Sweep::restart) return "a sweep goes from value to value";
    if (!options.period) return "kernels do not locate passages of a section";
    const std::vector<int> varied = ensemble::varied_parameters(model, {options.over.name});
    if (std::string why = ensemble::varied_parameters_refusal(varied); !why.empty()) return why;
    return integrate::event_kernel_refusal(model, options.method);
}

void compile_diagram_for_device(const model::Model& model, const DiagramOptions& options,
                                const ensemble::Device& device) {
    const integrate::KernelText kernel = kernel_of(model, options);
    (void)ensemble::compile_kernel(device, kernel.text, kernel.name);
}

Diagram diagram(const model::Description& description, const DiagramOptions& options) {
    SALTUS_EXPECT(options.over.n >= 1 && options.keep >= 1 && options.transient >= 0);
    SALTUS_EXPECT(options.period || (!options.section.empty() && options.t_max > 0.0));
    Diagram out;
    const ensemble::ModelMaker maker(description, options.build, {options.over.name});
    const model::Model first = maker.at(std::array{options.over.value(0)});
    out.model = first.name;
    out.coordinates = first.coordinates;
    if (!options.period && !first.autonomous)
        throw Error("the model depends on time: the points of a section would have different phases",
                    {"--section", 0, 0}, "give the period of the excitation with --period");
    out.parameter = options.over.name;
    ensemble::FunctionWork work([&](const ensemble::RunRequest& run) -> std::optional<std::string> {
        const DiagramColumn column = column_at(maker, options, run.values[0], {});
        if (!column.done) return {};
        return bytes_of(column);
    });
    std::optional<DeviceColumns> on_device;
    if (options.device) on_device.emplace(maker, first, options);
    ensemble::Engine engine(on_device ? static_cast<ensemble::Work&>(*on_device) : work, options.engine);
    if (!engine.leads()) {
        engine.serve();
        return out;
    }
    const ensemble::Dismissal at_the_end(engine);
    const auto count = static_cast<std::size_t>(options.over.n);
    ensemble::Table memory(0, count);
    ensemble::Table& table = options.table != nullptr ? *options.table : memory;
    if (options.sweep == Sweep::restart) {
        ensemble::Round round;
        round.count = count;
        round.axes = 1;
        round.shard = options.shard;
        round.values = [&](std::size_t k, std::span<double> x) { x[0] = options.over.value(static_cast<long>(k)); };
        round.progress = options.progress;
        ensemble::make(engine, table, round);
    } else {
        sweep(maker, options, table);
    }
    out.columns.resize(count);
    for (std::size_t k = 0; k < count; ++k) out.columns[k].value = options.over.value(static_cast<long>(k));
    table.scan(0, count, [&](std::size_t k, std::string_view bytes) { out.columns[k] = column_from(bytes); });
    if (on_device) out.device_use = on_device->use();
    out.complete = std::all_of(out.columns.begin(), out.columns.end(), [](const DiagramColumn& c) { return c.done; });
    return out;
}

}  // namespace saltus::orbit
