// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/questions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "saltus/base/bytes.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/extremes.hpp"
#include "saltus/integrate/outputs.hpp"
#include "saltus/integrate/section_passages.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/outputs.hpp"
#include "saltus/model/quantities/state_expression.hpp"

namespace saltus::ensemble {

using trajectory::EventKind;
using Kind = Question::Kind;

namespace {

constexpr std::array event_kinds{EventKind::impact,       EventKind::contact,  EventKind::lift_off,
                                 EventKind::stick,        EventKind::slip,     EventKind::reversal,
                                 EventKind::accumulation, EventKind::painleve, EventKind::jump};

struct Word {
    Kind kind;
    const char* name;
};
constexpr std::array words{Word{Kind::end, "end"},       Word{Kind::first, "first"},     Word{Kind::count, "count"},
                           Word{Kind::lowest, "lowest"}, Word{Kind::highest, "highest"}, Word{Kind::mean, "mean"},
                           Word{Kind::rest, "rest"},     Word{Kind::section, "section"}};

const char* const form =
    "ask for end, rest, first(impact), count(slip, left), lowest(x), highest(x), mean(x) or section(x = 0)";

std::string trimmed(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
    return begin == std::string::npos ? std::string() : text.substr(begin, end - begin + 1);
}

/// Splits a text at commas that are in no parentheses.
std::vector<std::string> split(const std::string& text, const Place& place) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const char c : text) {
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (depth < 0) break;
        if (c == ',' && depth == 0)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    if (depth != 0) throw Error("the parentheses of '" + text + "' do not match", place, form);
    for (std::string& p : parts) p = trimmed(p);
    return parts;
}

class QuestionReader {
public:
    QuestionReader(const model::Model& model, const Place& place) : model_(model), place_(place) {
        for (const auto& e : model.contacts) elements_.push_back(e.name);
        for (const auto& e : model.constraints) elements_.push_back(e.name);
        for (const auto& e : model.sliders) elements_.push_back(e.name);
        for (const auto& e : model.clutches) elements_.push_back(e.name);
    }

    Question read(const std::string& text) const {
        const std::size_t open = text.find('(');
        const std::string name = trimmed(text.substr(0, open));
        if (name == "label")
            throw Error("the set or the orbit in which a motion ends is found by `saltus basin`", place_,
                        "use `saltus basin` with the same starts");
        const auto word = std::find_if(words.begin(), words.end(), [&](const Word& w) { return name == w.name; });
        if (word == words.end()) {
            std::vector<std::string> known;
            for (const Word& w : words) known.emplace_back(w.name);
            const std::string meant = nearest(name, known);
            throw Error("'" + text + "' is no question", place_,
                        meant.empty() ? form : "did you mean '" + meant + "'?");
        }
        Question q;
        q.kind = word->kind;
        q.text = text;
        const bool alone = q.kind == Kind::end || q.kind == Kind::rest;
        if (alone != (open == std::string::npos) || (!alone && text.back() != ')'))
            throw Error(std::string("'") + word->name + (alone ? "' takes nothing in parentheses" : "' of what?"),
                        place_, form);
        if (alone) return q;
        const std::string argument = trimmed(text.substr(open + 1, text.size() - open - 2));
        if (argument.empty()) throw Error("'" + text + "' is empty", place_, form);
        if (q.kind == Kind::first || q.kind == Kind::count)
            read_event(argument, q);
        else
            read_expression(argument, q);
        return q;
    }

private:
    void read_event(const std::string& argument, Question& q) const {
        const std::size_t comma = argument.find(',');
        const std::string kind = trimmed(argument.substr(0, comma));
        std::vector<std::string> known;
        bool found = false;
        for (const EventKind k : event_kinds) {
            known.emplace_back(trajectory::to_string(k));
            if (kind == known.back()) q.event = k, found = true;
        }
        if (!found) throw Error("'" + kind + "' is no kind of event", place_, did_you_mean(kind, known));
        if (comma == std::string::npos) return;
        const std::string element = trimmed(argument.substr(comma + 1));
        const auto at = std::find(elements_.begin(), elements_.end(), element);
        if (at == elements_.end())
            throw Error("the model has no element '" + element + "'", place_, did_you_mean(element, elements_));
        q.element = static_cast<int>(at - elements_.begin());
    }

    void read_expression(const std::string& argument, Question& q) const {
        q.expression = argument;
        if (q.kind == Kind::section) {
            const std::size_t equals = argument.find('=');
            if (equals == std::string::npos || argument.find('=', equals + 1) != std::string::npos)
                throw Error("'" + argument + "' is not an equation", place_, "write section(x = 0)");
            q.expression = "(" + argument.substr(0, equals) + ") - (" + argument.substr(equals + 1) + ")";
        } else if (const model::Outputs* const outputs = model_.outputs.get()) {
            for (std::size_t k = 0; k < outputs->list.size(); ++k)
                if (outputs->list[k].name == argument) q.output = static_cast<int>(k);
        }
        if (q.output < 0) (void)model::StateExpression(model_, q.expression, place_);  // throws if it cannot be read
    }

    const model::Model& model_;
    const Place& place_;
    std::vector<std::string> elements_;
};

bool is_extreme(Kind k) { return k == Kind::lowest || k == Kind::highest; }

/// The quantities of some questions along a motion: outputs of the model, and expressions of the state.
class Quantities {
public:
    Quantities(const std::vector<Question>& questions, const model::Model& model, const trajectory::Trajectory& motion,
               const std::function<bool(Kind)>& wanted) {
        for (const Question& q : questions) {
            if (!wanted(q.kind)) continue;
            if (q.output >= 0) {
                if (!course_) course_ = std::make_unique<integrate::OutputCourse>(model, motion);
                list_.emplace_back(q.output, nullptr);
            } else {
                list_.emplace_back(-1,
                                   std::make_unique<model::StateExpression>(model, q.expression, Place{"--ask", 0, 0}));
            }
        }
        if (course_) outputs_.resize(course_->size());
    }

    std::size_t size() const { return list_.size(); }
    void operator()(double t, integrate::Side side, std::span<const double> q, std::span<const double> u,
                    std::span<double> out) {
        if (course_) course_->evaluate(t, side, q, u, outputs_);
        for (std::size_t k = 0; k < list_.size(); ++k)
            out[k] = list_[k].first >= 0 ? outputs_[static_cast<std::size_t>(list_[k].first)]
                                         : list_[k].second->value(t, q, u);
    }

private:
    std::unique_ptr<integrate::OutputCourse> course_;
    std::vector<std::pair<int, std::unique_ptr<model::StateExpression>>> list_;
    std::vector<double> outputs_;
};

/// Whether an event is of the kind that a question asks for, and whether its element takes part.
bool concerns(const Question& q, const trajectory::Event& e) {
    return e.kind == q.event &&
           (q.element < 0 || std::find(e.elements.begin(), e.elements.end(), q.element) != e.elements.end());
}

/// The time since which all velocities are exactly zero, which friction and impacts lead to; NaN if they are not.
double rest_time(const trajectory::Trajectory& motion) {
    if (std::any_of(motion.end.u.begin(), motion.end.u.end(), [](double u) { return u != 0.0; })) return nan;
    double since = motion.start.t;
    const std::size_t n = motion.end.u.size();
    std::vector<double> x;
    for (auto arc = motion.arcs.rbegin(); arc != motion.arcs.rend(); ++arc)
        for (auto step = arc->steps.rbegin(); step != arc->steps.rend(); ++step) {
            x.resize(static_cast<std::size_t>(step->size()));
            step->evaluate(0.5 * (step->t_old() + std::min(step->t_new(), arc->t_end)), x.data());
            if (std::all_of(x.begin() + static_cast<std::ptrdiff_t>(n), x.begin() + static_cast<std::ptrdiff_t>(2 * n),
                            [](double u) { return u == 0.0; }))
                continue;
            return std::min(step->t_new(), arc->t_end);
        }
    return since;
}

}  // namespace

std::vector<Question> questions_from_text(const std::vector<std::string>& texts, const model::Model& model,
                                          const Place& place) {
    const QuestionReader reader(model, place);
    std::vector<Question> list;
    for (const std::string& text : texts)
        for (const std::string& part : split(text, place)) {
            if (part.empty()) throw Error("a question is empty", place, form);
            list.push_back(reader.read(part));
            for (std::size_t k = 0; k + 1 < list.size(); ++k)
                if (list[k].kind == list.back().kind && list[k].text == list.back().text)
                    throw Error("'" + part + "' is asked twice", place, "remove one of them");
        }
    return list;
}

std::vector<std::string> column_names(const std::vector<Question>& questions, const model::Model& model) {
    std::vector<std::string> names;
    for (const Question& q : questions) {
        if (q.kind == Kind::end) {
            for (const std::string& c : model.coordinates) names.push_back("end " + c);
            for (const std::string& c : model.coordinates) names.push_back("end " + c + "'");
            continue;
        }
        names.push_back(q.text);
    }
    return names;
}

bool needs_arcs(const std::vector<Question>& questions) {
    return std::any_of(questions.begin(), questions.end(), [](const Question& q) {
        return is_extreme(q.kind) || q.kind == Kind::mean || q.kind == Kind::rest || q.kind == Kind::section;
    });
}

Answers answers_of(const std::vector<Question>& questions, const model::Model& model,
                   const trajectory::Trajectory& motion) {
    Answers out;
    out.status = motion.status;
    out.reason = motion.reason;
    Quantities extreme(questions, model, motion, is_extreme);
    Quantities mean(questions, model, motion, [](Kind k) { return k == Kind::mean; });
    std::vector<integrate::ExtremeValues> extremes;
    std::vector<double> means;
    if (extreme.size() > 0) extremes = integrate::extreme_values(motion, extreme.size(), std::ref(extreme));
    if (mean.size() > 0) means = integrate::mean_values(motion, mean.size(), std::ref(mean));
    std::size_t next_extreme = 0, next_mean = 0;
    for (const Question& q : questions) switch (q.kind) {
            case Kind::end:
                out.values.insert(out.values.end(), motion.end.q.begin(), motion.end.q.end());
                out.values.insert(out.values.end(), motion.end.u.begin(), motion.end.u.end());
                break;
            case Kind::first: {
                const auto found = std::find_if(motion.events.begin(), motion.events.end(),
                                                [&](const trajectory::Event& e) { return concerns(q, e); });
                out.values.push_back(found == motion.events.end() ? nan : found->t);
                break;
            }
            case Kind::count:
                out.values.push_back(
                    static_cast<double>(std::count_if(motion.events.begin(), motion.events.end(),
                                                      [&](const trajectory::Event& e) { return concerns(q, e); })));
                break;
            case Kind::lowest: out.values.push_back(extremes[next_extreme++].lowest); break;
            case Kind::highest: out.values.push_back(extremes[next_extreme++].highest); break;
            case Kind::mean: out.values.push_back(means[next_mean++]); break;
            case Kind::rest: out.values.push_back(rest_time(motion)); break;
            case Kind::section: {
                std::vector<double>& points = out.points.emplace_back();
                std::size_t count = 0;
                model::StateExpression section(model, q.expression, Place{"--ask", 0, 0});
                const std::size_t n = motion.coordinates.size();
                integrate::section_passages(
                    motion.arcs, n,
                    [&](std::span<const double> x) { return section.value(0.0, x.first(n), x.subspan(n, n)); },
                    [&](double t, std::span<const double> x) {
                        ++count;
                        points.push_back(t);
                        points.insert(points.end(), x.begin(), x.end());
                    });
                out.values.push_back(static_cast<double>(count));
                break;
            }
        }
    for (double& x : out.values) x += 0.0;  // turns −0 into 0
    return out;
}

template <class Bytes>
static void transfer(Bytes& b, Answers& a) {
    b(a.status);
    b(a.refused);
    b(a.reason);
    b(a.values);
    b(a.points);
}

std::string bytes_of(const Answers& answers) {
    ByteWriter writer;
    writer(answers);
    return writer.bytes();
}

Answers answers_from(std::string_view bytes) { return ByteReader(bytes).get<Answers>(); }

}  // namespace saltus::ensemble
