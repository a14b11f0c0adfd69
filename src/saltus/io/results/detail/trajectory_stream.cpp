// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/detail/trajectory_stream.hpp"

#include <algorithm>

#include "saltus/base/index.hpp"

namespace saltus::io {

using namespace trajectory;
using layout::code;

namespace {

constexpr std::size_t rows_in_block = 4096;  // they are moved to the spools together

void add_reaction(const Reaction& r, layout::ReactionColumns& columns) {
    columns.element.push_back(r.element);
    columns.N.push_back(r.N);
    columns.T.add(r.T);
}

/// A visitor of `each_column` that moves a block to the spools.
struct MoveColumn {
    TrajectoryStream& to;

    template <class T>
    void operator()(const std::string& name, std::vector<T>& column) const {
        to.numbers(name).append(std::span<const T>(column));
        column.clear();
    }
    void operator()(const std::string& name, std::vector<std::string>& texts) const {
        TextSpool& spool = to.texts(name);
        for (const std::string& text : texts) spool.append(text);
        texts.clear();
    }
    void since_layout_2(const std::string& name, std::vector<std::int32_t>& column) const { (*this)(name, column); }
    template <class Words>
    void words(const std::string& name, layout::Codes& codes, const Words&) const {
        (*this)(name, codes);
    }
    template <class T>
    void ragged(const std::string& name, layout::Ragged<T>& column) const {
        (*this)(name + "_offsets", column.offsets);
        (*this)(name, column.values);
    }
};

}  // namespace

void TextSpool::append(const std::string& text) {
    const std::uint64_t length = text.size();
    lengths_.append(std::span<const std::uint64_t>(&length, 1));
    bytes_.append(text);
    longest_ = std::max(longest_, text.size());
}

Spool& TrajectoryStream::numbers(const std::string& column) {
    return numbers_.try_emplace(column, folder_).first->second;
}
TextSpool& TrajectoryStream::texts(const std::string& column) {
    return texts_.try_emplace(column, folder_).first->second;
}

void TrajectoryStream::add(const Arc& arc, bool continues) {
    if (!continues || !open_arc_) {
        close_arc();
        open_arc_.emplace();
        open_arc_->t_begin = arc.t_begin;
    }
    open_arc_->t_end = arc.t_end;
    open_arc_->modes = arc.modes;
    for (const ode::Dense& step : arc.steps) {
        auto& steps = block_.steps;
        steps.t_old.push_back(step.t_old());
        steps.t_new.push_back(step.t_new());
        steps.components.push_back(step.size());
        steps.terms.push_back(step.terms());
        steps.series.push_back(step.form() == ode::Dense::Form::series ? 1 : 0);
        coefficients_ += static_cast<std::int64_t>(step.coefficients().size());
        steps.coefficients_offsets.push_back(coefficients_);
        ++steps_;
        numbers("steps/coefficients").append(step.coefficients());
        if (steps.t_old.size() >= rows_in_block) flush();
    }
}

/// The last arc gets no more steps.
void TrajectoryStream::close_arc() {
    if (!open_arc_) return;
    block_.arcs.t_begin.push_back(open_arc_->t_begin);
    block_.arcs.t_end.push_back(open_arc_->t_end);
    block_.arcs.modes.add(open_arc_->modes);
    block_.arcs.steps_offsets.push_back(steps_);
    open_arc_.reset();
    if (block_.arcs.t_begin.size() >= rows_in_block) flush();
}

void TrajectoryStream::add(const Event& e) {
    auto& c = block_;
    c.events.kind.push_back(code(e.kind));
    c.events.t.push_back(e.t);
    c.events.t_left.push_back(e.t_left);
    c.events.t_right.push_back(e.t_right);
    c.events.elements.add(e.elements);
    c.events.q.add(e.q);
    c.events.u_minus.add(e.u_minus);
    c.events.u_plus.add(e.u_plus);
    c.events.q_plus.add(e.q_plus);
    for (const Reaction& r : e.impulses) add_reaction(r, c.impulses);
    impulses_ += static_cast<std::int64_t>(e.impulses.size());
    c.events.impulses_offsets.push_back(impulses_);
    for (const Reaction& r : e.rate_jumps) add_reaction(r, c.rate_jumps);
    rate_jumps_ += static_cast<std::int64_t>(e.rate_jumps.size());
    c.events.rate_jumps_offsets.push_back(rate_jumps_);
    c.events.work.push_back(e.work);
    c.events.energy_before.push_back(e.energy_before);
    c.events.energy_after.push_back(e.energy_after);
    c.events.impacts.push_back(e.impacts);
    c.events.tangential_work.push_back(e.audit.tangential);
    c.events.obstacle_work.push_back(e.audit.obstacle_work);
    if (!(e.audit.created == 0.0 && e.audit.prevented == 0.0)) {
        c.findings.event.push_back(events_);
        c.findings.created.push_back(e.audit.created);
        c.findings.prevented.push_back(e.audit.prevented);
        c.findings.element.push_back(e.audit.element);
        c.findings.law.push_back(e.audit.law);
    }
    if (!e.note.empty()) {
        c.events.noted.push_back(events_);
        c.events.note.push_back(e.note);
    }
    ++events_;
    if (c.events.t.size() >= rows_in_block) flush();
}

void TrajectoryStream::add(const LyapunovBalance& rows) {
    layout::each_balance_column(rows, [&](const char* name, const std::vector<double>& column) {
        numbers(name).append(std::span<const double>(column));
    });
}

std::uint64_t TrajectoryStream::bytes() const {
    std::uint64_t sum = 0;
    for (const auto& [name, column] : numbers_) sum += column.size();
    for (const auto& [name, column] : texts_) sum += column.padded_bytes();
    return sum;
}

std::uint64_t TrajectoryStream::largest_column() const {
    std::uint64_t largest = 0;
    for (const auto& [name, column] : numbers_) largest = std::max(largest, column.size());
    return largest;
}

void TrajectoryStream::flush() {
    MoveColumn move{*this};
    layout::each_column(block_, move);
    layout::each_rate_jump_column(block_, move);
    layout::each_jump_column(block_, move);
}

void TrajectoryStream::finish(const Trajectory& rest) {
    close_arc();
    block_.coordinates = rest.coordinates;
    block_.warnings = rest.warnings;
    for (const Element& e : rest.elements) {
        block_.elements.kind.push_back(code(e.kind));
        block_.elements.name.push_back(e.name);
        block_.elements.tangential.push_back(e.tangential);
    }
    for (const Reaction& r : rest.forces) add_reaction(r, block_.forces);
    block_.start_q = rest.start.q;
    block_.start_u = rest.start.u;
    block_.end_q = rest.end.q;
    block_.end_u = rest.end.u;
    flush();
}

/// Row k of a column whose rows have different lengths.
void TrajectoryStream::row(const std::string& column, std::uint64_t k, std::vector<double>& values) {
    const Spool& offsets = numbers(column + "_offsets");
    const auto first = static_cast<std::uint64_t>(offsets.value<std::int64_t>(k)),
               end = static_cast<std::uint64_t>(offsets.value<std::int64_t>(k + 1));
    values.resize(end - first);
    numbers(column).read(first * sizeof(double), reinterpret_cast<char*>(values.data()),
                         values.size() * sizeof(double));
}

Event TrajectoryStream::state_at_event(std::uint64_t k) {
    Event e;
    e.t = numbers("events/t").value<double>(k);
    row("events/q", k, e.q);
    row("events/u_minus", k, e.u_minus);
    row("events/u_plus", k, e.u_plus);
    row("events/q_plus", k, e.q_plus);
    return e;
}

std::vector<Reaction> TrajectoryStream::rate_jumps_at_event(std::uint64_t k) {
    const Spool& offsets = numbers("events/rate_jumps_offsets");
    std::vector<Reaction> list;
    for (std::int64_t i = offsets.value<std::int64_t>(k); i < offsets.value<std::int64_t>(k + 1); ++i) {
        const auto at = static_cast<std::uint64_t>(i);
        Reaction& r = list.emplace_back();
        r.element = numbers("rate_jumps/element").value<std::int32_t>(at);
        r.N = numbers("rate_jumps/N").value<double>(at);
        row("rate_jumps/T", at, r.T);
    }
    return list;
}

TrajectoryStream::Range TrajectoryStream::steps_of(std::uint64_t arc) {
    const Spool& offsets = numbers("arcs/steps_offsets");
    return {static_cast<std::uint64_t>(offsets.value<std::int64_t>(arc)),
            static_cast<std::uint64_t>(offsets.value<std::int64_t>(arc + 1))};
}

/// The first number of a range for which `before` is false.
template <class Before>
std::uint64_t TrajectoryStream::partition_point(Range range, Before before) {
    while (range.first < range.end) {
        const std::uint64_t middle = range.first + (range.end - range.first) / 2;
        if (before(middle))
            range.first = middle + 1;
        else
            range.end = middle;
    }
    return range.first;
}

/// The state at t on a step.
State TrajectoryStream::state(std::uint64_t k, double t, std::size_t n) {
    const double t_old = numbers("steps/t_old").value<double>(k), t_new = numbers("steps/t_new").value<double>(k);
    const auto size = numbers("steps/components").value<std::int32_t>(k);
    const auto terms = numbers("steps/terms").value<std::int32_t>(k);
    ode::Dense step;
    if (numbers("steps/series").value<std::int32_t>(k) == 1)
        step.reset_series(t_old, t_new, size, terms - 2);
    else
        step.reset(t_old, t_new, size, terms);
    auto at = static_cast<std::uint64_t>(numbers("steps/coefficients_offsets").value<std::int64_t>(k)) * sizeof(double);
    for (int i = 0; i < terms; ++i) {
        const std::span<double> term = step.term(i);
        numbers("steps/coefficients").read(at, reinterpret_cast<char*>(term.data()), term.size_bytes());
        at += term.size_bytes();
    }
    std::vector<double> x(ix(size));
    step.evaluate(t, x.data());
    const auto middle = x.begin() + static_cast<std::ptrdiff_t>(n);
    return {t, {x.begin(), middle}, {middle, middle + static_cast<std::ptrdiff_t>(n)}};
}

State TrajectoryStream::left(const Trajectory& ends, double t) {
    const Spool &t_end = numbers("arcs/t_end"), &t_new = numbers("steps/t_new");
    const std::uint64_t arcs = t_end.count<double>();
    const std::uint64_t arc = partition_point({0, arcs}, [&](std::uint64_t k) { return t_end.value<double>(k) < t; });
    if (t == ends.start.t || arc == arcs) return t == ends.start.t ? ends.start : ends.end;
    const Range steps = steps_of(arc);
    const std::uint64_t step = partition_point(steps, [&](std::uint64_t k) { return t_new.value<double>(k) < t; });
    return step == steps.end ? ends.end : state(step, t, ends.start.q.size());
}

State TrajectoryStream::right(const Trajectory& ends, double t) {
    const Spool &t_begin = numbers("arcs/t_begin"), &t_old = numbers("steps/t_old");
    const std::uint64_t arcs = t_begin.count<double>();
    const std::uint64_t after =
        partition_point({0, arcs}, [&](std::uint64_t k) { return t_begin.value<double>(k) <= t; });
    if (t == ends.end.t || after == 0) return t == ends.end.t ? ends.end : ends.start;
    const Range steps = steps_of(after - 1);
    const std::uint64_t step = partition_point(steps, [&](std::uint64_t k) { return t_old.value<double>(k) <= t; });
    return step == steps.first ? ends.start : state(step - 1, t, ends.start.q.size());
}

State TrajectoryStream::stepped(const Trajectory& ends, double t) {
    const Spool &t_old = numbers("steps/t_old"), &t_new = numbers("steps/t_new");
    const Range steps{0, t_new.count<double>()};
    const std::uint64_t step = partition_point(steps, [&](std::uint64_t k) { return t_new.value<double>(k) < t; });
    if (step == steps.end) return left(ends, t);
    const double begin = t_old.value<double>(step);
    const bool moved = belongs_to_step_before(t, begin, t_new.value<double>(step)) && begin >= ends.start.t;
    return left(ends, moved ? begin : t);
}

bool belongs_to_step_before(double t, double t_old, double t_new) {
    constexpr double rounding_of_time = 1e-9;  // relative to the length of the step
    return t - t_old <= rounding_of_time * (t_new - t_old);
}

}  // namespace saltus::io
