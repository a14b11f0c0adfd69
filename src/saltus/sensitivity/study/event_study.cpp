// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/study/event_study.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "saltus/base/bytes.hpp"
#include "saltus/base/error.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/base/text.hpp"
#include "saltus/ensemble/model_maker.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/sensitivity/pair/detail/pair_contacts.hpp"
#include "saltus/sensitivity/study/detail/study_fit.hpp"

namespace saltus::sensitivity {

namespace {

using trajectory::EventKind;
using trajectory::Trajectory;

constexpr double max_runs = 1e6;
/// Equidistant times at which the largest θ, θ̇, θ̈ of an obstacle are searched.
constexpr int obstacle_samples = 512;

std::vector<StudiedEvent> events_of(const Trajectory& motion, int contacts) {
    std::vector<StudiedEvent> list;
    for (const trajectory::Event& e : motion.events) {
        StudiedEvent event{e.kind, e.elements, e.t, 0.0};
        std::sort(event.elements.begin(), event.elements.end());
        for (const trajectory::Reaction& r : e.impulses)
            if (r.element < contacts) event.impulse += r.N;
        list.push_back(std::move(event));
    }
    return list;
}

/// For each kind and element: the indices of the events, in order.
using Occurrences = std::map<std::pair<EventKind, int>, std::vector<std::size_t>>;

Occurrences occurrences(const std::vector<StudiedEvent>& events) {
    Occurrences list;
    for (std::size_t k = 0; k < events.size(); ++k)
        for (const int e : events[k].elements) list[{events[k].kind, e}].push_back(k);
    return list;
}

/// Finds the events of a run that correspond to the nominal ones. This is done element by element, because contacts
/// that strike together in one motion may strike one after the other in another. Then the time is that of the first
/// event, and the impulse is the sum.
void compare(const EventStudy& study, EventStudyRun& run) {
    const Occurrences own = occurrences(run.events), nominal = occurrences(study.nominal);
    for (std::size_t i = 0; i < study.nominal.size(); ++i) {
        const StudiedEvent& event = study.nominal[i];
        std::set<std::size_t> answers;
        bool all = !event.elements.empty();
        for (const int e : event.elements) {
            const std::vector<std::size_t>& before = nominal.at({event.kind, e});
            const auto turn = static_cast<std::size_t>(std::find(before.begin(), before.end(), i) - before.begin());
            const auto found = own.find({event.kind, e});
            all = all && found != own.end() && turn < found->second.size();
            if (all) answers.insert(found->second[turn]);
        }
        double impulse = 0.0;
        for (const std::size_t k : answers) impulse += run.events[k].impulse;
        run.time.push_back(all ? run.events[*answers.begin()].t : nan);
        run.time_change.push_back(run.time.back() - event.t);
        run.impulse_change.push_back(all ? impulse - event.impulse : nan);
    }
}

void refuse_unknown(const model::Model& model, const std::string& name) {
    std::vector<std::string> known;
    for (const model::Parameter& p : model.settings->parameters) {
        if (p.name == name) return;
        known.push_back(p.name);
    }
    for (const std::string& c : model.coordinates)
        if (name == c || name == c + "'")
            throw Error("'" + name + "' is an initial value, and parameters vary", {"--vary", 0, 0},
                        "give it a parameter of its own in [initial]");
    throw Error("the model has no parameter '" + name + "'", {"--vary", 0, 0}, did_you_mean(name, known));
}

/// Evaluates θ = ḡ_N − ĝ_N, the gap of the nominal model minus that of the run, for the first contact of each nominal
/// event whose obstacle moves differently.
void compare_obstacles(const EventStudy& study, const std::vector<trajectory::Event>& events,
                       const model::Model& nominal, const model::Model& own, double t_end, EventStudyRun& run) {
    PairContacts bar(nominal), hat(own);
    const int contacts = static_cast<int>(nominal.contacts.size());
    std::map<int, std::array<double, 3>> largest;
    const auto theta = [&](double t, const std::vector<double>& q, int contact) {
        std::array<double, 3> a = bar.at_rest(t, q, contact);
        const std::array<double, 3> b = hat.at_rest(t, q, contact);
        for (std::size_t k = 0; k < 3; ++k) a[k] -= b[k];
        return a;
    };
    for (std::size_t i = 0; i < study.nominal.size(); ++i) {
        run.theta.push_back({}), run.theta_largest.push_back({});
        for (const int c : study.nominal[i].elements) {
            if (c >= contacts) continue;
            run.theta.back() = theta(events[i].t, events[i].q, c);
            auto [entry, fresh] = largest.try_emplace(c);
            for (int k = 0; fresh && k <= obstacle_samples; ++k) {
                const std::array<double, 3> at = theta(t_end * k / obstacle_samples, events[i].q, c);
                for (std::size_t d = 0; d < 3; ++d) entry->second[d] = std::max(entry->second[d], std::abs(at[d]));
            }
            run.theta_largest.back() = entry->second;
            if (entry->second[0] > 0.0) break;
        }
    }
}

/// The largest constant of each estimate over the pieces of a pair.
StudiedPair studied(const Pair& pair) {
    StudiedPair out;
    out.theorem = pair.theorem;
    out.reason = pair.reason;
    out.constant = pair.constant;
    for (const PairPoint& p : pair.points)
        if (p.region != Region::critical) out.error = std::max(out.error, p.error_q + p.error_u);
    for (const PairPiece& piece : pair.pieces) {
        if (piece.bounded) out.size = std::max(out.size, piece.size);
        for (const PairEstimate& e : piece.estimates) {
            const auto known = std::find_if(out.estimates.begin(), out.estimates.end(),
                                            [&](const PairEstimate& k) { return k.equation == e.equation; });
            if (known == out.estimates.end())
                out.estimates.push_back(e);
            else if (e.constant.value > known->constant.value)
                *known = e;
        }
    }
    return out;
}

/// The ranges of the observed constants over the runs to which a theorem applies.
std::vector<ConstantRange> constant_ranges(const EventStudy& study) {
    std::vector<std::string> equations{"theorem"};
    for (const EventStudyRun& run : study.runs)
        if (run.pair)
            for (const PairEstimate& e : run.pair->estimates)
                if (std::find(equations.begin(), equations.end(), e.equation) == equations.end())
                    equations.push_back(e.equation);
    std::vector<ConstantRange> list;
    for (const std::string& equation : equations) {
        ConstantRange range{equation, 0, 0.0, 0.0, nan};
        std::vector<double> size, constant;
        for (const EventStudyRun& run : study.runs) {
            if (!run.pair || run.pair->theorem.empty()) continue;
            double value = equation == "theorem" ? run.pair->constant.value : 0.0;
            for (const PairEstimate& e : run.pair->estimates)
                if (e.equation == equation) value = e.constant.value;
            if (!(value > 0.0)) continue;  // the errors are below the accuracy of the motions
            range.smallest = range.runs == 0 ? value : std::min(range.smallest, value);
            range.largest = std::max(range.largest, value);
            ++range.runs;
            size.push_back(run.pair->size);
            constant.push_back(value);
        }
        if (range.runs == 0) continue;
        if (const PowerLaw law = fit_power_law({size}, constant); std::isfinite(law.rms))
            range.exponent = law.exponents[0];
        list.push_back(range);
    }
    return list;
}

}  // namespace

namespace {

/// The runs. Throws Error if there are too many, or if a parameter is both set and varied.
ensemble::Starts starts_of(const EventStudyOptions& options) {
    SALTUS_EXPECT(!options.vary.empty());
    ensemble::Starts starts;
    starts.axes = options.vary;
    starts.fastest = ensemble::Starts::Fastest::last;
    double runs = 1.0;
    for (const ensemble::Axis& a : options.vary) {
        runs *= static_cast<double>(a.n);
        for (const auto& [name, value] : options.set)
            if (name == a.name)
                throw Error("'" + name + "' is both set and varied", {"--vary", 0, 0}, "drop one of the two");
    }
    if (runs > max_runs)
        throw Error("the study has more than " + std::to_string(static_cast<long>(max_runs)) + " runs",
                    {"--vary", 0, 0}, "give fewer values");
    return starts;
}

}  // namespace

// Answers of runs as bytes. These functions are found by the namespace of their arguments.

template <class Bytes>
void transfer(Bytes& b, StudiedEvent& e) {
    b(e.kind), b(e.elements), b(e.t), b(e.impulse);
}
template <class Bytes>
void transfer(Bytes& b, ObservedConstant& c) {
    b(c.value), b(c.t);
}
template <class Bytes>
void transfer(Bytes& b, PairEstimate& e) {
    b(e.equation), b(e.text), b(e.constant), b(e.error), b(e.bound);
}
template <class Bytes>
void transfer(Bytes& b, StudiedPair& p) {
    b(p.theorem), b(p.reason), b(p.size), b(p.error), b(p.constant), b(p.estimates);
}
/// What a run has found; `values` and what is compared with the nominal motion follow from it.
template <class Bytes>
void transfer(Bytes& b, EventStudyRun& r) {
    b(r.done), b(r.status), b(r.reason), b(r.events), b(r.pair);
    for (std::vector<std::array<double, 3>>* const list : {&r.theta, &r.theta_largest}) {
        auto count = static_cast<std::uint64_t>(list->size());
        b(count);
        list->resize(count);
        for (std::array<double, 3>& theta : *list)
            for (double& x : theta) b(x);
    }
}

namespace {

std::string written(const EventStudyRun& run) {
    ByteWriter b;
    b(run);
    return b.bytes();
}

}  // namespace

EventStudy study_events(const model::Description& description, const EventStudyOptions& options) {
    const ensemble::Starts starts = starts_of(options);
    const std::size_t count = starts.size();
    EventStudy study;
    study.vary = options.vary;
    study.perturbation = description.perturbation.has_value();
    model::BuildOptions build;
    build.set = options.set;
    build.project_initial = options.project_initial;
    const model::Model nominal = model::build(description, build);
    for (const ensemble::Axis& a : options.vary) refuse_unknown(nominal, a.name);
    const int contacts = static_cast<int>(nominal.contacts.size());
    integrate::EventDriven method = options.method;
    method.keep_arcs = false;
    integrate::Options run_options;
    run_options.t_end = options.t_end;
    run_options.interrupted = options.engine.interrupted;
    const Trajectory motion = integrate::simulate(nominal, method, run_options);
    study.model = nominal.name;
    for (const trajectory::Element& e : motion.elements) study.elements.push_back(e.name);
    study.nominal_status = motion.status;
    study.nominal = events_of(motion, contacts);

    study.runs.resize(count);
    for (std::size_t r = 0; r < count; ++r) {
        study.runs[r].values.resize(starts.axes.size());
        starts.values(r, study.runs[r].values);
    }
    std::vector<std::string> names;
    for (const ensemble::Axis& a : options.vary) names.push_back(a.name);
    model::BuildOptions perturbed = build;
    perturbed.perturbed = study.perturbation;
    const ensemble::ModelMaker maker(description, perturbed, names);
    ensemble::FunctionWork work([&](const ensemble::RunRequest& request) -> std::optional<std::string> {
        EventStudyRun run;
        const model::Model model = maker.at(request.values);
        Trajectory t;
        if (study.perturbation) {
            PairOptions pair_options;
            pair_options.set = build.set;
            for (std::size_t p = 0; p < names.size(); ++p)
                pair_options.set.emplace_back(names[p], number_text(request.values[p]));
            pair_options.project_initial = options.project_initial;
            pair_options.t_end = options.t_end;
            pair_options.method = options.method;
            pair_options.threads = 1;
            pair_options.interrupted = options.engine.interrupted;
            Pair pair = perturbed_pair(description, pair_options);
            run.pair = studied(pair);
            t = std::move(pair.perturbed);
        } else {
            t = integrate::simulate(model, method, run_options);
        }
        run.status = t.status;
        run.reason = t.reason;
        run.events = events_of(t, contacts);
        compare_obstacles(study, motion.events, nominal, model, options.t_end, run);
        run.done = t.status != trajectory::Status::interrupted;
        if (!run.done) return {};
        return written(run);
    });
    ensemble::Engine engine(work, options.engine);
    if (!engine.leads()) {
        engine.serve();
        return study;
    }
    const ensemble::Dismissal at_the_end(engine);
    ensemble::Table memory(0, count);
    ensemble::Table& table = options.table != nullptr ? *options.table : memory;
    ensemble::Round round;
    round.count = count;
    round.axes = starts.axes.size();
    round.shard = options.shard;
    round.values = [&](std::size_t k, std::span<double> x) { starts.values(k, x); };
    round.progress = options.progress;
    study.complete = ensemble::make(engine, table, round) && options.shard.whole() &&
                     motion.status != trajectory::Status::interrupted;
    table.scan(0, count, [&](std::size_t k, std::string_view bytes) {
        ByteReader reader(bytes);
        reader(study.runs[k]);
    });
    for (EventStudyRun& run : study.runs) {
        study.complete = study.complete && run.done;
        compare(study, run);
    }
    for (std::size_t i = 0; i < study.nominal.size(); ++i) {
        EventResponse event;
        event.nominal = study.nominal[i];
        event.answers.push_back(answer_of(study, i, Quantity::time, options.resolution));
        if (event.nominal.kind == EventKind::impact)
            event.answers.push_back(answer_of(study, i, Quantity::impulse, options.resolution));
        study.events.push_back(std::move(event));
    }
    study.constants = constant_ranges(study);
    return study;
}

}  // namespace saltus::sensitivity
