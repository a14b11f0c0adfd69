// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "saltus/base/error.hpp"

/// The small stable interface of the library: load a model, compute its motion, ask the six questions.
///
/// It needs no other header and no header of another library, and its types have no data members that could change:
/// programs that use this header alone go on to work with later versions of a shared library. The other headers of
/// Saltus offer more, and may change. Answers are the JSON documents of the program's commands (docs/results.md); their
/// keys are fixed. Bad input throws Error, with place and remedy. A numerical failure is a status in the answer.
namespace saltus {

/// A state of a motion.
struct MotionState {
    double t = 0.0;            ///< in s
    std::vector<double> q, u;  ///< positions and velocities, in the order of Study::coordinates()
};

/// An event of a motion.
struct MotionEvent {
    double t = 0.0;                     ///< in s
    std::string kind;                   ///< impact, contact, lift-off, stick, slip, reversal, accumulation, ...
    std::vector<std::string> elements;  ///< contacts and other elements that take part
};

/// A motion with dense output.
class StudyMotion {
public:
    double begin() const;        ///< in s
    double end() const;          ///< in s; earlier than was asked for if the motion failed
    std::string status() const;  ///< "completed", or why not: failed, inaccurate, interrupted, energy-created
    bool completed() const;
    /// The state at t, after the events at t. Throws Error unless begin() <= t <= end().
    MotionState at(double t) const;
    std::vector<MotionEvent> events() const;
    std::string json() const;  ///< the document of `saltus simulate --json`
    std::string page() const;  ///< the report as one HTML page

private:
    struct Data;
    explicit StudyMotion(std::shared_ptr<const Data> data);
    friend class Study;
    std::shared_ptr<const Data> data_;
};

/// A model, and the questions that can be asked of it. Copies share their data, which never changes; all functions may
/// be called by several threads.
class Study {
public:
    std::string name() const;
    std::vector<std::string> coordinates() const;
    std::vector<std::pair<std::string, double>> parameters() const;

    /// How does it move? The end time is that of [simulate] unless it is given. The method is event-driven.
    StudyMotion simulate(std::optional<double> t_end = std::nullopt) const;
    /// How sensitive is the motion? Derivatives with respect to parameters p, initial positions x and velocities x'.
    std::string sensitivity(const std::vector<std::string>& with_respect_to,
                            std::optional<double> t_end = std::nullopt) const;
    /// Do impacts create energy? Impact `number` of the motion, counted from 1.
    std::string impact(int number = 1) const;
    /// Is rest attractive? The sets of rest, the certificate, and which set each start of a grid reaches.
    std::string equilibria() const;
    std::string certify() const;
    /// An axis of a grid of starts: a coordinate x or a velocity x', from, to, number of values >= 2.
    struct Axis {
        std::string name;
        double from = 0.0, to = 0.0;
        int count = 2;
    };
    std::string basin(const std::vector<Axis>& grid, double t_max) const;
    /// Does the controller reach its goal? For models with [control].
    std::string regulation() const;
    /// What does it do in the long run? A periodic orbit near the initial state; `period` is that of the excitation,
    /// and 0 for systems without one. `settle`: the search begins at the end of a motion of this length, in s.
    std::string orbit(double period, double settle = 0.0) const;

private:
    struct Data;
    explicit Study(std::shared_ptr<const Data> data);
    friend class StudyMotion;
    friend Study load(const std::string&, const std::vector<std::pair<std::string, std::string>>&);
    friend Study parse(const std::string&, const std::vector<std::pair<std::string, std::string>>&);
    std::shared_ptr<const Data> data_;
};

/// Reads a model file. `set` replaces values: (parameter or initial value, number or expression).
Study load(const std::string& file, const std::vector<std::pair<std::string, std::string>>& set = {});
/// The same for the text of a model file.
Study parse(const std::string& text, const std::vector<std::pair<std::string, std::string>>& set = {});

}  // namespace saltus
