// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::ensemble {

/// What can be asked of a motion of an ensemble. Where a motion ends, as a set or an orbit, is asked by `basin`.
struct Question {
    enum class Kind {
        end,      ///< the state at the end: all coordinates and velocities
        first,    ///< time of the first event of a kind, in s; none: NaN
        count,    ///< number of events of a kind
        lowest,   ///< least value of an expression along the motion
        highest,  ///< greatest value
        mean,     ///< mean over time
        rest,     ///< time since which the motion has been at rest at its end, in s; it is not: NaN
        section,  ///< states at which an expression passes zero upwards
    };
    Kind kind = Kind::end;
    std::string text;        ///< as it was asked
    std::string expression;  ///< of `lowest`, `highest` and `mean`; of a section the one that is zero there
    trajectory::EventKind event = trajectory::EventKind::impact;  ///< of `first` and `count`
    int element = -1;                                             ///< of `first` and `count`; −1: any
    /// Of `lowest`, `highest` and `mean`: an output of the model that is no function of the state, by its number; −1:
    /// the `expression`.
    int output = -1;
};

/// Reads "end", "first(impact)", "count(slip, left)", "lowest(x)", "highest(x + y)", "mean(x'^2)", "rest" or
/// "section(x = 0)"; several are separated by commas or given in several texts. Throws Error with `place` if a text
/// cannot be read or names what the model does not have.
std::vector<Question> questions_from_text(const std::vector<std::string>& texts, const model::Model& model,
                                          const Place& place);

/// The answers of one motion.
struct Answers {
    trajectory::Status status = trajectory::Status::interrupted;
    bool refused = false;        ///< the model could not be built with these values; `reason` says why
    std::string reason;          ///< why the motion ended early; may be empty
    std::vector<double> values;  ///< one for each of column_names
    /// For each question that is a section the points (t, q, u), one after the other.
    std::vector<std::vector<double>> points;
};

/// The names of the values of the answers, for tables. A section has the number of its points.
std::vector<std::string> column_names(const std::vector<Question>& questions, const model::Model& model);

/// Whether a question needs the arcs of the motion.
bool needs_arcs(const std::vector<Question>& questions);

/// The answers of a motion whose arcs were kept, if they are needed. Answers that a motion by time-stepping does not
/// have are NaN.
Answers answers_of(const std::vector<Question>& questions, const model::Model& model,
                   const trajectory::Trajectory& motion);

std::string bytes_of(const Answers& answers);
Answers answers_from(std::string_view bytes);

}  // namespace saltus::ensemble
