// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/basin_file.hpp"

#include "saltus/base/error.hpp"
#include "saltus/io/results/result_folder.hpp"

#if SALTUS_HDF5

#include <array>

#include "saltus/io/results/detail/trajectory_file_table.hpp"

#endif

namespace saltus::io {

#if !SALTUS_HDF5

void add_basin(ResultFolder& folder, const std::string& name, const BasinReport&) {
    throw Error("basins are HDF5 files, and saltus was built without HDF5", {folder.path() + "/" + name, 0, 0},
                "install HDF5 and build again");
}

#else

namespace {

constexpr std::array<std::string_view, 6> fate_words{"undecided", "rest",         "captured",
                                                     "failed",    "inadmissible", "pending"};
constexpr std::array<std::string_view, 4> start_words{"admissible", "adjusted", "moved", "inadmissible"};

using stability::Basin;

/// The dimensions of the grid at a level of refinement, the first axis last; of samples their number.
std::vector<std::uint64_t> shape_of(const BasinReport& r, int level) {
    if (r.sampled()) return {r.basin.base};
    std::vector<std::uint64_t> shape;
    for (std::size_t d = r.options.axes.size(); d-- > 0;)
        shape.push_back(static_cast<std::uint64_t>(r.options.axes[d].count(level)));
    return shape;
}

std::vector<std::int32_t> integers(const std::vector<int>& values, std::size_t count) {
    return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count)};
}

template <class Enumerator>
hdf5::Codes codes(const std::vector<Enumerator>& values) {
    hdf5::Codes list;
    for (const Enumerator e : values) list.push_back(static_cast<std::uint8_t>(e));
    return list;
}

void write_axes(const hdf5::TableWriter& out, const BasinReport& r) {
    std::vector<std::string> names;
    std::vector<double> from, to;
    std::vector<std::int64_t> n;
    for (const ensemble::Axis& a : r.options.axes) {
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
    if (!r.sampled()) return;
    out.attribute("axes", "samples", static_cast<std::int64_t>(r.options.samples));
    out.attribute("axes", "seed", static_cast<std::int64_t>(r.options.seed));
}

void write_labels(const hdf5::TableWriter& out, const Basin& b) {
    std::vector<std::string> texts;
    std::vector<std::int64_t> counts;
    std::vector<std::int32_t> sets;
    for (const stability::BasinLabel& l : b.labels) {
        texts.push_back(l.text);
        counts.push_back(static_cast<std::int64_t>(l.count));
        sets.push_back(l.set);
    }
    out.group("label");
    out.texts("label/text", texts);
    out.column("label/count", counts);
    out.column("label/set", sets);
}

void write_motions(const hdf5::TableWriter& out, const BasinReport& r) {
    const stability::BasinRecord& record = r.basin.record;
    const std::size_t n = r.coordinates.size();
    out.group("motions");
    out.column("motions/label", integers(r.basin.label, r.basin.label.size()));
    out.words("motions/fate", codes(record.fate), fate_words);
    out.words("motions/start", codes(record.admission), start_words);
    out.column("motions/inside", std::vector<std::int32_t>(record.inside.begin(), record.inside.end()));
    out.column("motions/V", record.V);
    out.column("motions/t", record.t);
    out.column("motions/steps", record.steps);
    out.group("motions/end");
    std::vector<double> column(record.size());
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < record.size(); ++k) column[k] = record.q[k * n + i];
        out.column("motions/end/" + r.coordinates[i], column);
    }
}

void write_boundary(const hdf5::TableWriter& out, const BasinReport& r) {
    out.group("boundary");
    std::vector<std::int32_t> axis, below, above;
    std::vector<double> half;
    std::vector<std::vector<double>> at(r.options.axes.size());
    for (const stability::BoundaryPoint& p : r.basin.boundary) {
        axis.push_back(p.axis);
        below.push_back(p.below);
        above.push_back(p.above);
        half.push_back(p.half_length);
        for (std::size_t d = 0; d < at.size(); ++d) at[d].push_back(p.at[d]);
    }
    for (std::size_t d = 0; d < at.size(); ++d) out.column("boundary/" + r.options.axes[d].name, at[d]);
    out.column("boundary/axis", axis);
    out.column("boundary/half_length", half);
    out.column("boundary/below", below);
    out.column("boundary/above", above);
}

/// Writes the file.
void write_basin(const std::string& target, int descriptor, const BasinReport& r) {
    const Basin& b = r.basin;
    const hdf5::Session session;
    hdf5::TableWriter out(target, descriptor);
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
    out.array("labels", integers(b.label, b.base), shape_of(r, 0));
    if (!b.refined.empty()) {
        out.array("labels_refined", integers(b.refined, b.refined.size()), shape_of(r, b.level));
        out.array("simulated_refined", std::vector<std::int32_t>(b.refined_computed.begin(), b.refined_computed.end()),
                  shape_of(r, b.level));
    }
    write_motions(out, r);
    if (r.options.boundary > 0.0) write_boundary(out, r);
    out.finish();
}

}  // namespace

void add_basin(ResultFolder& folder, const std::string& name, const BasinReport& r) {
    folder.add(name, [&](int descriptor) { write_basin(folder.path() + "/" + name, descriptor, r); });
}

#endif

}  // namespace saltus::io
