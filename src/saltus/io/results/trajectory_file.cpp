// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/trajectory_file.hpp"

#include "saltus/base/error.hpp"
#include "saltus/io/results/detail/trajectory_stream.hpp"
#include "saltus/io/results/detail/write_stream.hpp"

#if SALTUS_HDF5

#include <algorithm>
#include <array>
#include <filesystem>

#include "saltus/base/memory.hpp"
#include "saltus/base/text.hpp"
#include "saltus/io/results/detail/trajectory_columns.hpp"
#include "saltus/io/results/detail/trajectory_file_table.hpp"
#include "saltus/io/results/files.hpp"

#endif

namespace saltus::io {

using trajectory::LyapunovBalance;
using trajectory::OutputCurves;
using trajectory::Trajectory;

#if !SALTUS_HDF5

namespace {

[[noreturn]] void refuse(const std::string& path) {
    throw Error("trajectories are HDF5 files, and saltus was built without HDF5", {path, 0, 0},
                "install HDF5 and build again");
}

}  // namespace

void write_trajectory(const std::string& path, const Trajectory&, const LyapunovBalance*, const OutputCurves*) {
    refuse(path);
}
void write_stream(const std::string& target, int, TrajectoryStream&, const Trajectory&, const LyapunovBalance*,
                  const std::vector<double>&, const OutputCurves*) {
    refuse(target);
}

Trajectory read_trajectory(const std::string& path, TrajectoryParts) { refuse(path); }

LyapunovBalance read_balance(const std::string& path) { refuse(path); }

std::vector<double> read_resume(const std::string& path) { refuse(path); }

OutputCurves read_outputs(const std::string& path) { refuse(path); }

#else

namespace {

using namespace trajectory;
using namespace layout;
using hdf5::ColumnScanner;
using hdf5::TableReader;
using hdf5::TableWriter;

// ---- reading

/// A visitor of `each_column` that reads.
struct ReadColumn {
    const TableReader& in;
    std::int64_t its_layout;  ///< of the file
    TrajectoryParts parts = TrajectoryParts::all;

    bool wanted(const std::string& name) const {
        return parts == TrajectoryParts::all || !(name.starts_with("arcs/") || name.starts_with("steps/"));
    }
    template <class T>
    void operator()(const std::string& name, std::vector<T>& column) const {
        if (wanted(name)) in.column(name, column);
    }
    void operator()(const std::string& name, std::vector<std::string>& texts) const { in.texts(name, texts); }
    /// A column that older files do not have: it stays empty.
    void since_layout_2(const std::string& name, std::vector<std::int32_t>& column) const {
        if (its_layout >= 2) (*this)(name, column);
    }
    void words(const std::string& name, Codes& codes, hdf5::Words words) const {
        if (wanted(name)) in.words(name, codes, words);
    }
    template <class T>
    void ragged(const std::string& name, Ragged<T>& column) const {
        in.column(name + "_offsets", column.offsets);
        in.column(name, column.values);
    }
};

/// Checks that the columns of a file fit together: columns of one table have equal lengths, and offsets and indices
/// point inside the columns that they refer to. Throws Error otherwise.
class Consistency {
public:
    explicit Consistency(const TableReader& in) : in_(in) {}

    template <class T>
    void rows(const std::string& name, const std::vector<T>& column, std::size_t count) const {
        if (column.size() != count)
            in_.fail_damaged(name + " has " + counted(column.size(), "row") + ", not " + std::to_string(count));
    }

    void offsets(const std::string& name, const std::vector<std::int64_t>& column, std::size_t count,
                 std::uint64_t end) const {
        rows(name, column, count + 1);
        if (column.front() != 0 || !std::is_sorted(column.begin(), column.end()) ||
            static_cast<std::uint64_t>(column.back()) != end)
            in_.fail_damaged(name + " does not ascend from 0 to " + std::to_string(end));
    }

    template <class T>
    void ragged(const std::string& name, const Ragged<T>& column, std::size_t count) const {
        offsets(name + "_offsets", column.offsets, count, column.values.size());
    }

    /// All values are indices in 0 … end − 1.
    template <class T>
    void below(const std::string& name, const std::vector<T>& column, std::size_t end) const {
        for (const T value : column)
            if (value < 0 || static_cast<std::uint64_t>(value) >= end)
                in_.fail_damaged(name + " has " + std::to_string(value) + ", not in 0 ... " + std::to_string(end) +
                                 " - 1");
    }

private:
    const TableReader& in_;
};

void check_reactions(const Consistency& fit, const std::string& group, const ReactionColumns& c, std::size_t elements) {
    fit.rows(group + "/element", c.element, c.N.size());
    fit.below(group + "/element", c.element, elements);
    fit.ragged(group + "/T", c.T, c.N.size());
}

/// Each step is a polynomial with at least two terms in at least 2n components (q and u) over a time > 0.
void check_steps(const TableReader& in, const Columns& c) {
    const auto n = static_cast<std::int32_t>(c.coordinates.size());
    for (std::size_t k = 0; k < c.steps.t_old.size(); ++k) {
        const std::int32_t size = c.steps.components[k], terms = c.steps.terms[k], series = c.steps.series[k];
        const std::int32_t least = series == 1 ? 3 : 2;
        const std::int32_t most = series == 1 ? ode::Dense::max_series_order + 2 : ode::Dense::max_terms;
        if (size / 2 < n || series < 0 || series > 1 || terms < least || terms > most ||
            !(c.steps.t_new[k] > c.steps.t_old[k]) ||
            c.steps.coefficients_offsets[k + 1] - c.steps.coefficients_offsets[k] != std::int64_t{size} * terms)
            in.fail_damaged("steps, row " + std::to_string(k) + ", is not a polynomial of positions and velocities");
    }
}

/// Throws Error if the columns of arcs and steps do not fit together. `coefficients` is the number of coefficients of
/// all steps.
void check_arcs(const TableReader& in, const Columns& c, std::uint64_t coefficients) {
    const Consistency fit(in);
    const std::size_t arcs = c.arcs.t_begin.size(), steps = c.steps.t_old.size();
    fit.rows("arcs/t_end", c.arcs.t_end, arcs);
    fit.offsets("arcs/steps_offsets", c.arcs.steps_offsets, arcs, steps);
    fit.ragged("arcs/modes", c.arcs.modes, arcs);
    fit.rows("steps/t_new", c.steps.t_new, steps);
    fit.rows("steps/components", c.steps.components, steps);
    fit.rows("steps/terms", c.steps.terms, steps);
    fit.rows("steps/series", c.steps.series, steps);
    fit.offsets("steps/coefficients_offsets", c.steps.coefficients_offsets, steps, coefficients);
    check_steps(in, c);
}

/// Throws Error if the other columns do not fit together.
void check(const TableReader& in, const Columns& c) {
    const Consistency fit(in);
    const std::size_t n = c.coordinates.size(), elements = c.elements.name.size(), events = c.events.t.size();
    fit.rows("elements/kind", c.elements.kind, elements);
    fit.rows("elements/tangential", c.elements.tangential, elements);
    fit.rows("events/kind", c.events.kind, events);
    fit.rows("events/t_left", c.events.t_left, events);
    fit.rows("events/t_right", c.events.t_right, events);
    fit.ragged("events/elements", c.events.elements, events);
    fit.below("events/elements", c.events.elements.values, elements);
    fit.ragged("events/q", c.events.q, events);
    fit.ragged("events/u_minus", c.events.u_minus, events);
    fit.ragged("events/u_plus", c.events.u_plus, events);
    fit.ragged("events/q_plus", c.events.q_plus, events);
    fit.offsets("events/impulses_offsets", c.events.impulses_offsets, events, c.impulses.N.size());
    fit.offsets("events/rate_jumps_offsets", c.events.rate_jumps_offsets, events, c.rate_jumps.N.size());
    fit.rows("events/work", c.events.work, events);
    fit.rows("events/energy_before", c.events.energy_before, events);
    fit.rows("events/energy_after", c.events.energy_after, events);
    fit.rows("events/impacts", c.events.impacts, events);
    fit.rows("events/tangential_work", c.events.tangential_work, events);
    fit.rows("events/obstacle_work", c.events.obstacle_work, events);
    fit.rows("findings/created", c.findings.created, c.findings.event.size());
    fit.rows("findings/prevented", c.findings.prevented, c.findings.event.size());
    fit.rows("findings/element", c.findings.element, c.findings.event.size());
    fit.rows("findings/law", c.findings.law, c.findings.event.size());
    fit.below("findings/event", c.findings.event, events);
    for (const std::int32_t element : c.findings.element)
        if (element != -1) fit.below("findings/element", std::vector{element}, elements);
    fit.rows("events/note", c.events.note, c.events.noted.size());
    fit.below("events/noted", c.events.noted, events);
    check_reactions(fit, "impulses", c.impulses, elements);
    check_reactions(fit, "rate_jumps", c.rate_jumps, elements);
    check_reactions(fit, "forces", c.forces, elements);
    fit.rows("start/q", c.start_q, n);
    fit.rows("start/u", c.start_u, n);
    fit.rows("end/q", c.end_q, n);
    fit.rows("end/u", c.end_u, n);
}

Reaction reaction_of(const ReactionColumns& c, std::size_t k) {
    Reaction r{c.element[k], c.N[k], {}};
    c.T.get(k, r.T);
    return r;
}

Arc arc_of(const Columns& c, std::size_t k, ColumnScanner& coefficients) {
    Arc arc;
    arc.t_begin = c.arcs.t_begin[k];
    arc.t_end = c.arcs.t_end[k];
    c.arcs.modes.get(k, arc.modes);
    const auto first = static_cast<std::size_t>(c.arcs.steps_offsets[k]),
               end = static_cast<std::size_t>(c.arcs.steps_offsets[k + 1]);
    arc.steps.resize(end - first);
    for (std::size_t i = first; i < end; ++i) {
        ode::Dense& step = arc.steps[i - first];
        if (c.steps.series[i] == 1)
            step.reset_series(c.steps.t_old[i], c.steps.t_new[i], c.steps.components[i], c.steps.terms[i] - 2);
        else
            step.reset(c.steps.t_old[i], c.steps.t_new[i], c.steps.components[i], c.steps.terms[i]);
        for (int term = 0; term < step.terms(); ++term) {
            const std::span<double> to = step.term(term);
            std::ranges::copy(coefficients.next(to.size()), to.begin());
        }
    }
    return arc;
}

Event event_of(const Columns& c, std::size_t k) {
    Event e;
    e.kind = static_cast<EventKind>(c.events.kind[k]);
    e.t = c.events.t[k];
    e.t_left = c.events.t_left[k];
    e.t_right = c.events.t_right[k];
    c.events.elements.get(k, e.elements);
    c.events.q.get(k, e.q);
    c.events.u_minus.get(k, e.u_minus);
    c.events.u_plus.get(k, e.u_plus);
    c.events.q_plus.get(k, e.q_plus);
    for (std::int64_t i = c.events.impulses_offsets[k]; i < c.events.impulses_offsets[k + 1]; ++i)
        e.impulses.push_back(reaction_of(c.impulses, static_cast<std::size_t>(i)));
    for (std::int64_t i = c.events.rate_jumps_offsets[k]; i < c.events.rate_jumps_offsets[k + 1]; ++i)
        e.rate_jumps.push_back(reaction_of(c.rate_jumps, static_cast<std::size_t>(i)));
    e.work = c.events.work[k];
    e.energy_before = c.events.energy_before[k];
    e.energy_after = c.events.energy_after[k];
    e.impacts = c.events.impacts[k];
    e.audit.tangential = c.events.tangential_work[k];
    e.audit.obstacle_work = c.events.obstacle_work[k];
    return e;
}

/// Checks the columns of arcs and steps, and makes the arcs from them.
void read_arcs(const TableReader& in, std::int64_t its_layout, Columns& c, Trajectory& t) {
    if (its_layout < 2) c.steps.series.assign(c.steps.terms.size(), 0);
    ColumnScanner coefficients(in, "steps/coefficients");
    check_arcs(in, c, coefficients.count());
    t.arcs.reserve(c.arcs.t_begin.size());
    for (std::size_t k = 0; k < c.arcs.t_begin.size(); ++k) t.arcs.push_back(arc_of(c, k, coefficients));
}

/// Makes the rest of the trajectory from checked columns.
void fill(Columns& c, Trajectory& t) {
    for (std::size_t k = 0; k < c.elements.name.size(); ++k)
        t.elements.push_back(
            {static_cast<ElementKind>(c.elements.kind[k]), std::move(c.elements.name[k]), c.elements.tangential[k]});
    t.events.reserve(c.events.t.size());
    for (std::size_t k = 0; k < c.events.t.size(); ++k) t.events.push_back(event_of(c, k));
    for (std::size_t k = 0; k < c.events.noted.size(); ++k)
        t.events[static_cast<std::size_t>(c.events.noted[k])].note = std::move(c.events.note[k]);
    for (std::size_t k = 0; k < c.findings.event.size(); ++k) {
        EnergyAudit& audit = t.events[static_cast<std::size_t>(c.findings.event[k])].audit;
        audit.created = c.findings.created[k];
        audit.prevented = c.findings.prevented[k];
        audit.element = c.findings.element[k];
        audit.law = std::move(c.findings.law[k]);
    }
    for (std::size_t k = 0; k < c.forces.N.size(); ++k) t.forces.push_back(reaction_of(c.forces, k));
    t.coordinates = std::move(c.coordinates);
    t.warnings = std::move(c.warnings);
    t.start.q = std::move(c.start_q);
    t.start.u = std::move(c.start_u);
    t.end.q = std::move(c.end_q);
    t.end.u = std::move(c.end_u);
}

/// Checks that the file is a trajectory, and returns its layout.
std::int64_t check_format(const TableReader& in) {
    std::string its_format;
    if (in.has_attribute("", "format")) in.attribute("", "format", its_format);
    if (its_format != format)
        in.fail("is an HDF5 file, but not a trajectory of saltus",
                "give a trajectory.h5 that saltus simulate --out wrote");
    std::int64_t its_layout = 0;
    in.attribute("", "layout", its_layout);
    if (its_layout < oldest_layout || its_layout > newest_layout)
        in.fail("has layout " + std::to_string(its_layout) + ", and this saltus reads layouts " +
                    std::to_string(oldest_layout) + " to " + std::to_string(newest_layout),
                "use the version of saltus that wrote it, or a later one");
    return its_layout;
}

/// Memory that reading a trajectory needs, in bytes: the columns, the values that are made from them, and for motions
/// with arcs the samples that a page makes of them.
double memory_for(const TableReader& in, TrajectoryParts parts) {
    const auto rows = [&](const char* column) { return static_cast<double>(in.announced_rows(column)); };
    constexpr double number = sizeof(double);
    constexpr double allocation = 32.0;  // overhead and rounding of one small block of memory
    const double n = rows("coordinates"), coefficients = rows("steps/coefficients");
    const double arcs = rows("arcs/t_begin"), steps = rows("steps/t_old"), modes = rows("arcs/modes");
    // Columns of arcs, steps and the balance, which are not read in each case; that of the coefficients never as a
    // whole.
    constexpr double arc_columns = 4 * number, step_columns = 3 * number + 3 * sizeof(std::int32_t);
    constexpr double balance_columns = 9 * number;
    const double others = number * coefficients + balance_columns * rows("balance/t");
    const double of_arcs = arc_columns * arcs + modes + step_columns * steps;
    const double columns = static_cast<double>(in.bytes()) - others;
    const double reactions = rows("impulses/N") + rows("rate_jumps/N");
    const double lists = 7.0;  // of an event: elements, q, u_minus, u_plus, q_plus, impulses, rate_jumps
    const double events = rows("events/t") * (sizeof(Event) + lists * allocation + 4 * n * number) +
                          reactions * (sizeof(Reaction) + allocation);
    if (parts != TrajectoryParts::all) return columns - of_arcs + events;
    const double pieces = arcs * (sizeof(Arc) + 2 * allocation) + modes + steps * (sizeof(ode::Dense) + allocation) +
                          number * coefficients;
    // A page has two rows for each arc: state, gaps, energies, works and forces.
    constexpr double rows_of_arc = 2.0, other_curves = 16.0, curves_of_element = 4.0;
    const double samples = rows_of_arc * arcs *
                           (allocation + sizeof(std::vector<double>) +
                            number * (2 * n + curves_of_element * rows("elements/tangential") + other_curves));
    return columns + events + pieces + samples;
}

/// Throws Error if a trajectory does not fit into memory.
void refuse_too_large(const TableReader& in, const std::string& path, TrajectoryParts parts) {
    const double needed = memory_for(in, parts);
    if (needed <= available_memory()) return;
    throw Error("needs about " + gibibytes(needed) + " of memory, and " + gibibytes(available_memory()) + " are left",
                {path, 0, 0}, "use a machine with more memory, or simulate in parts with --restart");
}

Status read_status(const TableReader& in) {
    std::string text;
    in.attribute("", "status", text);
    for (const Status s :
         {Status::completed, Status::interrupted, Status::failed, Status::energy_created, Status::inaccurate})
        if (to_string(s) == text) return s;
    in.fail_damaged("attribute status is '" + text +
                    "', not completed, interrupted, failed, energy-created or inaccurate");
}

}  // namespace

namespace {

/// A visitor of `each_column` that writes what a stream has collected. Columns of numbers are removed from the stream
/// when they are in the file, so that the disk does not have to hold all numbers twice.
struct WriteColumn {
    const TableWriter& out;
    TrajectoryStream& stream;

    static TableWriter::Pieces pieces(const Spool& spool) {
        return [&spool](const TableWriter::Take& take) { spool.each_piece(take); };
    }
    void operator()(const std::string& name, const std::vector<double>&) const {
        const Spool& column = stream.numbers(name);
        out.column_of_doubles(name, column.count<double>(), pieces(column));
        stream.remove(name);
    }
    void operator()(const std::string& name, const std::vector<std::int32_t>&) const {
        const Spool& column = stream.numbers(name);
        out.column_of_int32(name, column.count<std::int32_t>(), pieces(column));
        stream.remove(name);
    }
    void operator()(const std::string& name, const std::vector<std::int64_t>&) const {
        const Spool& column = stream.numbers(name);
        out.column_of_int64(name, column.count<std::int64_t>(), pieces(column));
        stream.remove(name);
    }
    void operator()(const std::string& name, const std::vector<std::string>&) const {
        const TextSpool& column = stream.texts(name);
        out.texts(name, column.count(), column.longest(),
                  [&](const TableWriter::Take& take) { column.each_piece(take); });
    }
    void since_layout_2(const std::string& name, const std::vector<std::int32_t>& column) const {
        (*this)(name, column);
    }
    void words(const std::string& name, const Codes&, hdf5::Words words) const {
        const Spool& column = stream.numbers(name);
        out.words(name, column.count<std::uint8_t>(), pieces(column), words);
        stream.remove(name);
    }
    template <class T>
    void ragged(const std::string& name, const Ragged<T>& column) const {
        (*this)(name + "_offsets", column.offsets);
        (*this)(name, column.values);
    }
};

/// Adds a whole trajectory to a stream.
void add_all(const Trajectory& trajectory, const LyapunovBalance* balance, TrajectoryStream& stream) {
    for (const Arc& arc : trajectory.arcs) stream.add(arc);
    for (const Event& event : trajectory.events) stream.add(event);
    if (balance != nullptr) stream.add(*balance);
    stream.finish(trajectory);
}

}  // namespace

void write_stream(const std::string& target, int descriptor, TrajectoryStream& stream, const Trajectory& trajectory,
                  const LyapunovBalance* balance, const std::vector<double>& resume, const OutputCurves* outputs) {
    const hdf5::Session session;
    TableWriter out(target, descriptor);
    for (const char* const group : groups) out.group(group);
    out.attribute("", "format", std::string(format));
    out.attribute("", "layout", newest_layout);
    out.attribute("", "status", std::string(to_string(trajectory.status)));
    each_attribute(trajectory,
                   [&](const char* group, const char* name, const auto& value) { out.attribute(group, name, value); });
    out.attribute("", "guarantee", std::string(trajectory::guarantee_text(trajectory.events_certain)));
    if (trajectory.forces_unique)
        out.attribute("", "forces_unique", static_cast<std::int64_t>(*trajectory.forces_unique ? 1 : 0));
    WriteColumn write{out, stream};
    const Columns columns;  // for the names and types of the columns
    each_column(columns, write);
    out.group("rate_jumps");
    out.attribute("", "rate_jumps", static_cast<std::int64_t>(stream.numbers("rate_jumps/N").count<double>()));
    each_rate_jump_column(columns, write);
    if (const auto jumped = static_cast<std::int64_t>(stream.numbers("events/q_plus").count<double>()); jumped > 0) {
        out.attribute("", "q_plus", jumped);
        out.attribute("energy", "jumps", trajectory.energy.jumps);
        each_jump_column(columns, write);
    }
    const auto rows = static_cast<std::int64_t>(stream.numbers("balance/t").count<double>());
    if (balance != nullptr && rows > 0) {
        out.group("balance");
        out.attribute("", "balance", rows);
        out.attribute("balance", "error", balance->error);
        out.attribute("balance", "largest_increase", balance->largest_increase);
        each_balance_column(*balance, write);
    }
    if (!resume.empty()) {
        out.group("resume");
        out.attribute("", "resume", static_cast<std::int64_t>(resume.size()));
        out.column("resume/numbers", resume);
    }
    if (outputs != nullptr && !outputs->names.empty()) {
        out.group("outputs");
        out.group("outputs/values");
        out.attribute("", "outputs", static_cast<std::int64_t>(outputs->t.size()));
        out.texts("outputs/name", outputs->names);
        out.texts("outputs/unit", outputs->units);
        out.column("outputs/t", outputs->t);
        for (std::size_t k = 0; k < outputs->names.size(); ++k)
            out.column("outputs/values/" + outputs->names[k], outputs->values[k]);
    }
    write("steps/coefficients", std::vector<double>());
    out.finish();
}

void write_trajectory(const std::string& path, const Trajectory& trajectory, const LyapunovBalance* balance,
                      const OutputCurves* outputs) {
    const std::filesystem::path target(path);
    const std::string folder = target.has_parent_path() ? target.parent_path().string() : ".";
    write_file(folder, target.filename().string(), [&](int descriptor) {
        TrajectoryStream stream(folder);
        add_all(trajectory, balance, stream);
        write_stream(path, descriptor, stream, trajectory, balance, {}, outputs);
    });
}

Trajectory read_trajectory(const std::string& path, TrajectoryParts parts) {
    const hdf5::Session session;
    const TableReader in(path);
    const std::int64_t its_layout = check_format(in);
    refuse_too_large(in, path, parts);
    Trajectory trajectory;
    trajectory.status = read_status(in);
    each_attribute(trajectory,
                   [&](const char* group, const char* name, auto& value) { in.attribute(group, name, value); });
    if (its_layout >= 2) {
        std::string guarantee;
        in.attribute("", "guarantee", guarantee);
        trajectory.events_certain = guarantee == trajectory::guarantee_text(true);
    }
    if (in.has_attribute("", "forces_unique")) {
        std::int64_t unique = 0;
        in.attribute("", "forces_unique", unique);
        trajectory.forces_unique = unique != 0;
    }
    Columns columns;
    ReadColumn read{in, its_layout, parts};
    each_column(columns, read);
    if (in.has_attribute("", "rate_jumps"))
        each_rate_jump_column(columns, read);
    else
        columns.events.rate_jumps_offsets.assign(columns.events.t.size() + 1, 0);
    if (in.has_attribute("", "q_plus")) {
        in.attribute("energy", "jumps", trajectory.energy.jumps);
        each_jump_column(columns, read);
    } else {
        columns.events.q_plus.offsets.assign(columns.events.t.size() + 1, 0);
    }
    check(in, columns);
    if (parts == TrajectoryParts::all) read_arcs(in, its_layout, columns, trajectory);
    fill(columns, trajectory);
    return trajectory;
}

LyapunovBalance read_balance(const std::string& path) {
    const hdf5::Session session;
    const TableReader in(path);
    const std::int64_t its_layout = check_format(in);
    LyapunovBalance balance;
    if (!in.has_attribute("", "balance")) return balance;
    std::int64_t rows = 0;
    in.attribute("", "balance", rows);
    in.attribute("balance", "error", balance.error);
    in.attribute("balance", "largest_increase", balance.largest_increase);
    ReadColumn read{in, its_layout};
    each_balance_column(balance, read);
    const Consistency fit(in);
    each_balance_column(balance, [&](const char* name, const std::vector<double>& column) {
        fit.rows(name, column, static_cast<std::size_t>(std::max<std::int64_t>(rows, 0)));
    });
    return balance;
}

OutputCurves read_outputs(const std::string& path) {
    const hdf5::Session session;
    const TableReader in(path);
    check_format(in);
    OutputCurves curves;
    if (!in.has_attribute("", "outputs")) return curves;
    in.texts("outputs/name", curves.names);
    in.texts("outputs/unit", curves.units);
    in.column("outputs/t", curves.t);
    const Consistency fit(in);
    fit.rows("outputs/unit", curves.units, curves.names.size());
    curves.values.resize(curves.names.size());
    for (std::size_t k = 0; k < curves.names.size(); ++k) {
        const std::string name = "outputs/values/" + curves.names[k];
        in.column(name, curves.values[k]);
        fit.rows(name, curves.values[k], curves.t.size());
    }
    return curves;
}

std::vector<double> read_resume(const std::string& path) {
    const hdf5::Session session;
    const TableReader in(path);
    check_format(in);
    std::vector<double> numbers;
    if (!in.has_attribute("", "resume")) return numbers;
    std::int64_t count = 0;
    in.attribute("", "resume", count);
    in.column("resume/numbers", numbers);
    Consistency(in).rows("resume/numbers", numbers, static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
    return numbers;
}

#endif

}  // namespace saltus::io
