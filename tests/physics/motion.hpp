// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "saltus/integrate/detail/validate.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"

/// Motions of models for the tests of physics and of the papers. Every motion is validated (integrate::validate).
namespace saltus::test {

using integrate::EventDriven;
using integrate::Moreau;
using integrate::Penalty;
using model::Model;
using trajectory::Event;
using trajectory::EventKind;
using trajectory::Mode;
using trajectory::State;
using trajectory::Status;
using trajectory::Trajectory;

using Values = std::vector<std::pair<std::string, double>>;

/// The description of a model in models/.
inline model::Description description_of(const std::string& shipped) {
    return io::read_model(std::string(SALTUS_SOURCE_DIR) + "/models/" + shipped + ".toml");
}

/// Builds a description with parameters set to other values. `perturbed`: with its [perturbation].
inline Model built(const model::Description& description, const Values& set = {}, bool perturbed = false) {
    model::BuildOptions options;
    for (const auto& [name, value] : set) options.set.emplace_back(name, number_text(value));
    options.perturbed = perturbed;
    return model::build(description, options);
}

inline Model shipped(const std::string& name, const Values& set = {}) { return built(description_of(name), set); }

/// A model from the text of a model file.
inline Model from_text(const std::string& text, const Values& set = {}, bool perturbed = false) {
    return built(io::parse_model(text, "test"), set, perturbed);
}

inline std::string status_of(const Trajectory& motion) { return std::string(to_string(motion.status)); }

/// The first four of a list of sentences, for messages.
inline std::string first_words(const std::vector<std::string>& sentences) {
    std::string out;
    for (std::size_t i = 0; i < sentences.size() && i < 4; ++i) out += "\n    " + sentences[i];
    return sentences.size() > 4 ? out + "\n    … " + std::to_string(sentences.size()) + " in all" : out;
}

/// Limit for one run, in s. A run that takes longer is interrupted and fails its test. Sanitizers make runs slower.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SALTUS_SLOW 10.0
#endif
#endif
#ifndef SALTUS_SLOW
#define SALTUS_SLOW 1.0
#endif
inline constexpr double patience = 120.0 * SALTUS_SLOW;

/// The error that a motion may have: `promised` at the default tolerance, and in proportion for larger tolerances.
inline double allowed(const integrate::Method& method, double promised) {
    const auto* event = std::get_if<EventDriven>(&method);
    return event ? promised * std::max(1.0, event->rtol / EventDriven{}.rtol) : promised;
}

/// A motion that may end in any way, within the time limit and validated.
inline Trajectory attempt(const Model& model, double t_end, const integrate::Method& method = EventDriven{},
                          std::optional<State> start = {}) {
    const auto began = std::chrono::steady_clock::now();
    integrate::Options options;
    options.t_end = t_end;
    options.start = std::move(start);
    options.interrupted = [began] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() > patience;
    };
    Trajectory motion = integrate::simulate(model, method, options);
    EXPECT_NE(status_of(motion), "interrupted")
        << model.name << ": slower than " << patience << " s, " << motion.reason << " of " << t_end;
    if (!motion.stepped && motion.status != Status::interrupted) {
        const integrate::Validation validation = integrate::validate(motion, model, allowed(method, 1e-8));
        EXPECT_TRUE(validation.ok()) << model.name << first_words(validation.complaints);
    }
    return motion;
}

/// A motion that must reach t_end. Its energy balance, constraints and gaps are checked.
inline Trajectory motion_of(const Model& model, double t_end, const integrate::Method& method = EventDriven{},
                            std::optional<State> start = {}) {
    Trajectory motion = attempt(model, t_end, method, std::move(start));
    EXPECT_EQ(status_of(motion), "completed") << model.name << ": " << motion.reason;
    EXPECT_EQ(motion.end.t, motion.status == Status::completed ? t_end : motion.end.t);
    if (!motion.stepped) {
        EXPECT_LE(motion.energy.balance_error, allowed(method, 1e-8)) << model.name;
        EXPECT_LE(motion.violation.constraint, allowed(method, 1e-10)) << model.name;
        EXPECT_LE(motion.method == "event" ? motion.violation.gap : 0.0, allowed(method, 1e-10)) << model.name;
    }
    return motion;
}

inline std::vector<Event> events_of(const Trajectory& motion, EventKind kind) {
    std::vector<Event> list;
    for (const Event& e : motion.events)
        if (e.kind == kind) list.push_back(e);
    return list;
}

/// The events with their times, for messages: "impact 0.5 floor, slip 0.7 floor".
inline std::string story(const Trajectory& motion, std::size_t most = 12) {
    std::string text;
    for (std::size_t i = 0; i < motion.events.size() && i < most; ++i) {
        const Event& e = motion.events[i];
        text += (i == 0 ? "" : ", ") + std::string(to_string(e.kind)) + " " + number_text(e.t);
        for (const int k : e.elements) text += " " + motion.elements[static_cast<std::size_t>(k)].name;
    }
    return motion.events.size() > most ? text + ", … " + std::to_string(motion.events.size()) + " in all" : text;
}

/// The impulse of one element in an event; 0 if it took no part.
inline double normal_impulse(const Event& event, int element) {
    for (const trajectory::Reaction& r : event.impulses)
        if (r.element == element) return r.N;
    return 0.0;
}

inline double tangential_impulse(const Event& event, int element, std::size_t component = 0) {
    for (const trajectory::Reaction& r : event.impulses)
        if (r.element == element && component < r.T.size()) return r.T[component];
    return 0.0;
}

/// Whether a value is within the tolerance, which is absolute for expected values up to 1 and relative above, as
/// tests/reference/README.md defines it.
inline ::testing::AssertionResult matches(double value, double expected, double tolerance) {
    const double error = std::abs(value - expected), allowed = tolerance * std::max(1.0, std::abs(expected));
    if (error <= allowed) return ::testing::AssertionSuccess();
    char text[160];
    std::snprintf(text, sizeof text, "%.17g instead of %.17g: off by %.3g, allowed %.3g", value, expected, error,
                  allowed);
    return ::testing::AssertionFailure() << text;
}

/// The slope of log y over log x by least squares: an observed order of convergence.
inline double slope(const std::vector<double>& x, const std::vector<double>& y) {
    double mean_x = 0.0, mean_y = 0.0, xx = 0.0, xy = 0.0;
    const auto n = static_cast<double>(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) mean_x += std::log(x[i]) / n, mean_y += std::log(y[i]) / n;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xx += (std::log(x[i]) - mean_x) * (std::log(x[i]) - mean_x);
        xy += (std::log(x[i]) - mean_x) * (std::log(y[i]) - mean_y);
    }
    return xy / xx;
}

}  // namespace saltus::test
