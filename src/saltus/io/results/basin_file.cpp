// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/basin_file.hpp"

#include "saltus/base/error.hpp"
#include "saltus/io/results/result_folder.hpp"

#if SALTUS_HDF5

#include <array>
#include <cmath>

#include "saltus/io/results/detail/trajectory_file_table.hpp"

#endif

namespace saltus::io {

#if !SALTUS_HDF5

void add_basin(ResultFolder& folder, const std::string& name, const BasinReport&,
               const std::optional<ensemble::Shard>&) {
    throw Error("basins are HDF5 files, and saltus was built without HDF5", {folder.path() + "/" + name, 0, 0},
                "install HDF5 and build again");
}

#else

namespace {

constexpr std::array<std::string_view, 7> fate_words{"undecided",    "rest",    "captured", "failed",
                                                     "inadmissible", "pending", "repeats"};
constexpr std::array<std::string_view, 4> start_words{"admissible", "adjusted", "moved", "inadmissible"};

using stability::Basin;

/// The dimensions of the grid at a level of refinement, the first axis last; of samples their number.
std::vector<std::uint64_t> shape_of(const BasinReport& r, int level) {
    if (r.sampled()) return {r.basin.base};
    std::vector<std::uint64_t> shape;
    for (std::size_t d = r.options.starts.axes.size(); d-- > 0;)
        shape.push_back(static_cast<std::uint64_t>(r.options.starts.axes[d].count(level)));
    return shape;
}

std::vector<std::int32_t> integers(const std::vector<int>& values, std::size_t count) {
    return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count)};
}

void write_axes(const hdf5::TableWriter& out, const BasinReport& r) {
    std::vector<std::string> names;
    std::vector<double> from, to;
    std::vector<std::int64_t> n;
    for (const ensemble::Axis& a : r.options.starts.axes) {
        names.push_back(a.name);
        from.push_back(a.from);
        to.push_back(a.to);
        n.push_back(a.n);
    }
    out.group("axes");
    out.texts("axes/name", names);
    out.column("axes/from", from);
    out.column("axes/to", to);
    out.column("axes/n", n);
    std::vector<double> mean, deviation;
    bool normal = false;
    for (const ensemble::Axis& a : r.options.starts.axes) {
        normal = normal || a.normal;
        mean.push_back(a.normal ? a.normal->mean : NAN);
        deviation.push_back(a.normal ? a.normal->deviation : NAN);
    }
    if (normal) {
        out.column("axes/mean", mean);
        out.column("axes/deviation", deviation);
    }
    if (!r.sampled()) return;
    out.attribute("axes", "samples", static_cast<std::int64_t>(r.options.starts.samples));
    out.attribute("axes", "seed", static_cast<std::int64_t>(r.options.starts.seed));
}

void write_labels(const hdf5::TableWriter& out, const Basin& b) {
    std::vector<std::string> texts;
    std::vector<std::int64_t> counts;
    std::vector<std::int32_t> sets, orbits;
    for (const stability::BasinLabel& l : b.labels) {
        texts.push_back(l.text);
        counts.push_back(static_cast<std::int64_t>(l.count));
        sets.push_back(l.set);
        orbits.push_back(l.orbit);
    }
    out.group("label");
    out.texts("label/text", texts);
    out.column("label/count", counts);
    out.column("label/set", sets);
    if (!b.orbits.empty()) out.column("label/orbit", orbits);
}

/// The columns of the motions, by their types.
struct Columns {
    static constexpr const char* prefix = "motions/";

    explicit Columns(const BasinReport& r)
        : velocities(r.basin.record.layout().velocities), coordinates(r.coordinates) {}

    /// Calls add_double(name), add_int32(name), ... of a writer for all columns, in their order.
    template <class Writer>
    void add_to(Writer& rows) const {
        const std::string at = prefix;
        rows.int32(at + "label");
        rows.words(at + "fate", fate_words);
        rows.words(at + "start", start_words);
        rows.int32(at + "inside");
        rows.doubles(at + "V");
        rows.doubles(at + "t");
        rows.int64(at + "steps");
        for (const std::string& c : coordinates) rows.doubles(at + "end/" + c);
        if (!velocities) return;
        rows.int32(at + "returns");
        for (const std::string& c : coordinates) rows.doubles(at + "end/" + c + "'");
    }
    void put(hdf5::RowsWriter& rows, const stability::BasinMotion& m, int label) const {
        rows.put(static_cast<std::int32_t>(label));
        rows.put(static_cast<std::uint8_t>(m.fate));
        rows.put(static_cast<std::uint8_t>(m.admission));
        rows.put(static_cast<std::int32_t>(m.inside ? 1 : 0));
        rows.put(m.V);
        rows.put(m.t);
        rows.put(m.steps);
        for (const double x : m.q) rows.put(x);
        if (!velocities) return;
        rows.put(m.returns);
        for (const double x : m.u) rows.put(x);
    }

    bool velocities;
    const std::vector<std::string>& coordinates;
};

void add_groups(const hdf5::TableWriter& out) {
    out.group("motions");
    out.group("motions/end");
}

/// The motions of a part in their order, or of the whole.
void write_motions(const hdf5::TableWriter& out, const BasinReport& r, const ensemble::Shard& part) {
    const stability::BasinRecord& record = r.basin.record;
    const Columns columns(r);
    add_groups(out);
    hdf5::RowsWriter rows(out, part.size(record.size()));
    columns.add_to(rows);
    ensemble::Labels::Reader label(r.basin.label);
    const auto put = [&](std::size_t k, const stability::BasinMotion& m) {
        columns.put(rows, m, k < r.basin.label.size() ? label.at(k) : 0);
    };
    if (part.whole())
        record.scan(0, record.size(), put);
    else
        for (std::size_t k = (part.index - 1) * part.block; k < record.size(); k += part.of * part.block)
            record.scan(k, std::min(k + part.block, record.size()), put);
    rows.finish();
}

std::string part_name(const ensemble::Shard& part) {
    return "basin-" + std::to_string(part.index) + "-of-" + std::to_string(part.of) + ".h5";
}

void write_boundary(const hdf5::TableWriter& out, const BasinReport& r) {
    out.group("boundary");
    std::vector<std::int32_t> axis, below, above;
    std::vector<double> half;
    std::vector<std::vector<double>> at(r.options.starts.axes.size());
    for (const stability::BoundaryPoint& p : r.basin.boundary) {
        axis.push_back(p.axis);
        below.push_back(p.below);
        above.push_back(p.above);
        half.push_back(p.half_length);
        for (std::size_t d = 0; d < at.size(); ++d) at[d].push_back(p.at[d]);
    }
    for (std::size_t d = 0; d < at.size(); ++d) out.column("boundary/" + r.options.starts.axes[d].name, at[d]);
    out.column("boundary/axis", axis);
    out.column("boundary/half_length", half);
    out.column("boundary/below", below);
    out.column("boundary/above", above);
}

/// Writes the file.
void write_basin(const std::string& target, int descriptor, const BasinReport& r,
                 const std::optional<ensemble::Shard>& parts) {
    const Basin& b = r.basin;
    const hdf5::Session session;
    hdf5::TableWriter out(target, descriptor,
                          parts ? hdf5::TableWriter::Format::with_virtual : hdf5::TableWriter::Format::widely_read);
    out.attribute("", "format", std::string("saltus basin"));
    out.attribute("", "layout", std::int64_t{1});
    out.attribute("", "model", r.model);
    out.attribute("", "method", b.method);
    out.attribute("", "options", r.options_text);
    out.attribute("", "t_max", r.options.t_max);
    if (r.options.level) {
        out.attribute("", "rho", r.options.level->rho);
        out.attribute("", "grade", std::string(r.options.level->proved ? "proved" : "numerical"));
        out.attribute("", "reference", r.options.level->reference);
        out.attribute("", "inside", static_cast<std::int64_t>(b.inside));
        out.attribute("", "violations", static_cast<std::int64_t>(b.violations));
        out.attribute("", "inside_undecided", static_cast<std::int64_t>(b.inside_undecided));
    }
    out.texts("coordinates", r.coordinates);
    write_axes(out, r);
    write_labels(out, b);
    ensemble::Labels::Reader label(b.label);
    std::size_t start = 0;
    out.array_of_int32("labels", shape_of(r, 0), [&] { return static_cast<std::int32_t>(label.at(start++)); });
    if (!b.refined.empty()) {
        out.array("labels_refined", integers(b.refined, b.refined.size()), shape_of(r, b.level));
        out.array("simulated_refined", std::vector<std::int32_t>(b.refined_computed.begin(), b.refined_computed.end()),
                  shape_of(r, b.level));
    }
    if (parts) {
        add_groups(out);
        std::vector<hdf5::VirtualPart> list;
        for (std::size_t k = 1; k <= parts->of; ++k) {
            const ensemble::Shard part{k, parts->of, parts->block};
            list.push_back(
                {part_name(part), (k - 1) * part.block, part.of * part.block, part.block, part.size(b.record.size())});
        }
        hdf5::VirtualColumns columns(out, b.record.size(), list);
        Columns(r).add_to(columns);
    } else {
        write_motions(out, r, {});
    }
    if (r.options.boundary > 0.0) write_boundary(out, r);
    out.finish();
}

}  // namespace

void add_basin(ResultFolder& folder, const std::string& name, const BasinReport& r,
               const std::optional<ensemble::Shard>& parts) {
    for (std::size_t k = 1; parts && k <= parts->of; ++k) {
        const ensemble::Shard part{k, parts->of, parts->block};
        folder.add(part_name(part), [&](int descriptor) {
            const hdf5::Session session;
            hdf5::TableWriter out(folder.path() + "/" + part_name(part), descriptor);
            out.attribute("", "format", std::string("saltus basin, part"));
            out.attribute("", "layout", std::int64_t{1});
            out.attribute("", "part", static_cast<std::int64_t>(part.index));
            out.attribute("", "parts", static_cast<std::int64_t>(part.of));
            out.attribute("", "block", static_cast<std::int64_t>(part.block));
            write_motions(out, r, part);
            out.finish();
        });
    }
    folder.add(name, [&](int descriptor) { write_basin(folder.path() + "/" + name, descriptor, r, parts); });
}

#endif

}  // namespace saltus::io
