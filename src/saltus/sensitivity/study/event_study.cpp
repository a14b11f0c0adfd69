// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/study/event_study.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "saltus/base/error.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/base/text.hpp"
#include "saltus/ensemble/parallel_for.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/sensitivity/pair/detail/pair_contacts.hpp"
#include "saltus/sensitivity/study/detail/study_fit.hpp"

namespace saltus::sensitivity {

namespace {

using trajectory::EventKind;
using trajectory::Trajectory;

constexpr std::size_t max_runs = 1'000'000;
/// Equidistant times at which the largest θ, θ̇, θ̈ of an obstacle are searched.
constexpr int obstacle_samples = 512;

const char* const vary_remedy = "write --vary NAME=FROM:TO:COUNT, NAME=FROM:TO:COUNT:log, or NAME=VALUE,VALUE,...";

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts(1);
    for (const char c : text)
        if (c == at)
            parts.emplace_back();
        else
            parts.back() += c;
    return parts;
}

double number_from(const std::string& text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        throw Error("'" + text + "' in --vary is not a number", {"--vary", 0, 0}, vary_remedy);
    return value;
}

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

/// Builds a model; an error message tells the parameter values.
model::Model built(const model::Description& description, const model::BuildOptions& options,
                   const std::vector<Vary>& vary, const std::vector<double>& values) {
    try {
        return model::build(description, options);
    } catch (const Error& e) {
        std::string where;
        for (std::size_t p = 0; p < vary.size(); ++p)
            where += (p == 0 ? "" : ", ") + vary[p].name + " = " + number_text(values[p]);
        throw Error("with " + where + ": " + e.message(), e.place(), e.remedy());
    }
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

Vary vary_from_text(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
        throw Error("'" + text + "' does not say what to vary", {"--vary", 0, 0}, vary_remedy);
    Vary vary;
    vary.name = text.substr(0, equals);
    const std::string range = text.substr(equals + 1);
    const std::vector<std::string> parts = split(range, ':');
    if (parts.size() == 1) {
        for (const std::string& value : split(range, ',')) vary.values.push_back(number_from(value));
        return vary;
    }
    const bool logarithmic = parts.size() == 4 && parts[3] == "log";
    if (parts.size() != 3 && !logarithmic) throw Error("'" + range + "' is not a range", {"--vary", 0, 0}, vary_remedy);
    const double from = number_from(parts[0]), to = number_from(parts[1]), count = number_from(parts[2]);
    if (!(count >= 1.0) || count != std::floor(count) || count > static_cast<double>(max_runs))
        throw Error("the count of '" + range + "' must be a whole number from 1 to " + std::to_string(max_runs),
                    {"--vary", 0, 0}, vary_remedy);
    if (logarithmic && !(from > 0.0 && to > 0.0))
        throw Error("a range with even ratios must have positive ends", {"--vary", 0, 0}, vary_remedy);
    const int n = static_cast<int>(count);
    for (int k = 0; k < n; ++k) {
        const double s = n == 1 ? 0.0 : static_cast<double>(k) / (n - 1);
        vary.values.push_back(k == n - 1 && n > 1 ? to
                              : logarithmic       ? from * std::pow(to / from, s)
                                                  : from + (to - from) * s);
    }
    return vary;
}

namespace {

/// The number of runs. Throws Error if there are too many, or if a parameter is both set and varied.
std::size_t count_runs(const EventStudyOptions& options) {
    SALTUS_EXPECT(!options.vary.empty());
    std::size_t count = 1;
    for (const Vary& v : options.vary) {
        SALTUS_EXPECT(!v.values.empty());
        count *= v.values.size();
        if (count > max_runs)
            throw Error("the study has more than " + std::to_string(max_runs) + " runs", {"--vary", 0, 0},
                        "give fewer values");
        for (const auto& [name, value] : options.set)
            if (name == v.name)
                throw Error("'" + name + "' is both set and varied", {"--vary", 0, 0}, "drop one of the two");
    }
    return count;
}

/// The parameter values of run r: the digits of r in the mixed radix of the counts, the last parameter fastest.
std::vector<double> values_of_run(const std::vector<Vary>& vary, std::size_t r) {
    std::vector<double> values(vary.size());
    for (std::size_t p = vary.size(); p-- > 0;) {
        values[p] = vary[p].values[r % vary[p].values.size()];
        r /= vary[p].values.size();
    }
    return values;
}

}  // namespace

EventStudy study_events(const model::Description& description, const EventStudyOptions& options) {
    const std::size_t count = count_runs(options);
    EventStudy study;
    study.vary = options.vary;
    study.perturbation = description.perturbation.has_value();
    model::BuildOptions build;
    build.set = options.set;
    build.project_initial = options.project_initial;
    const model::Model nominal = model::build(description, build);
    for (const Vary& v : options.vary) refuse_unknown(nominal, v.name);
    const int contacts = static_cast<int>(nominal.contacts.size());
    integrate::EventDriven method = options.method;
    method.keep_arcs = false;
    integrate::Options run_options;
    run_options.t_end = options.t_end;
    run_options.interrupted = options.interrupted;
    const Trajectory motion = integrate::simulate(nominal, method, run_options);
    study.model = nominal.name;
    for (const trajectory::Element& e : motion.elements) study.elements.push_back(e.name);
    study.nominal_status = motion.status;
    study.nominal = events_of(motion, contacts);

    study.runs.resize(count);
    for (std::size_t r = 0; r < count; ++r) study.runs[r].values = values_of_run(options.vary, r);
    const auto one = [&](std::size_t r) {
        EventStudyRun& run = study.runs[r];
        model::BuildOptions own = build;
        own.perturbed = study.perturbation;
        for (std::size_t p = 0; p < options.vary.size(); ++p)
            own.set.emplace_back(options.vary[p].name, number_text(run.values[p]));
        const model::Model model = built(description, own, options.vary, run.values);
        Trajectory t;
        if (study.perturbation) {
            PairOptions pair_options;
            pair_options.set = own.set;
            pair_options.project_initial = options.project_initial;
            pair_options.t_end = options.t_end;
            pair_options.method = options.method;
            pair_options.threads = 1;
            pair_options.interrupted = options.interrupted;
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
    };
    study.complete = ensemble::parallel_for(count, one, {options.threads, options.interrupted, options.progress}) &&
                     motion.status != trajectory::Status::interrupted;
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
