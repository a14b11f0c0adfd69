// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/diagram.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "saltus/base/bytes.hpp"
#include "saltus/base/decompositions.hpp"
#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/ensemble/model_maker.hpp"
#include "saltus/model/model.hpp"
#include "saltus/orbit/detail/measures.hpp"
#include "saltus/orbit/detail/return_map.hpp"
#include "saltus/orbit/detail/translations.hpp"

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
        if (column.points.size() == static_cast<std::size_t>(options_.keep)) {
            column.period = period_of(column.points, allowed_differences(), translations_);
            if (options_.exponents) find_exponents(column);
        }
        column.done = !interrupted();
        column.end = last_;
    }

private:
    bool interrupted() const { return options_.engine.interrupted && options_.engine.interrupted(); }

    /// Takes up how large the positions and velocities of a motion are.
    void measure(const trajectory::Trajectory& motion) {
        constexpr int samples = 16;
        for (int k = 0; k <= samples; ++k) {
            Vector x = vector_of(motion.right(motion.sample_time(k, samples)));
            const Eigen::Index n = x.size() / 2;
            if (!translations_.empty()) x = translations_.reduced(std::move(x));
            position_ = std::max(position_, x.head(n).cwiseAbs().maxCoeff());
            velocity_ = std::max(velocity_, x.tail(n).cwiseAbs().maxCoeff());
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

Diagram diagram(const model::Description& description, const DiagramOptions& options) {
    SALTUS_EXPECT(options.over.n >= 1 && options.keep >= 1 && options.transient >= 0);
    SALTUS_EXPECT(options.period || (!options.section.empty() && options.t_max > 0.0));
    Diagram out;
    const ensemble::ModelMaker maker(description, options.build, {options.over.name});
    {
        const model::Model first = maker.at(std::array{options.over.value(0)});
        out.model = first.name;
        out.coordinates = first.coordinates;
        if (!options.period && !first.autonomous)
            throw Error("the model depends on time: the points of a section would have different phases",
                        {"--section", 0, 0}, "give the period of the excitation with --period");
    }
    out.parameter = options.over.name;
    ensemble::FunctionWork work([&](const ensemble::RunRequest& run) -> std::optional<std::string> {
        const DiagramColumn column = column_at(maker, options, run.values[0], {});
        if (!column.done) return {};
        return bytes_of(column);
    });
    ensemble::Engine engine(work, options.engine);
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
    out.complete = std::all_of(out.columns.begin(), out.columns.end(), [](const DiagramColumn& c) { return c.done; });
    return out;
}

}  // namespace saltus::orbit
