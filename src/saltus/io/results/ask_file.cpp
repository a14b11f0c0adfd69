// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/error.hpp"
#include "saltus/io/report/ensemble/ask_report.hpp"
#include "saltus/io/results/result_folder.hpp"

#if SALTUS_HDF5

#include <array>
#include <cmath>

#include "saltus/io/results/detail/trajectory_file_table.hpp"

#endif

namespace saltus::io {

#if !SALTUS_HDF5

void add_answers(ResultFolder& folder, const std::string& name, const AskReport&) {
    throw Error("answers are HDF5 files, and saltus was built without HDF5", {folder.path() + "/" + name, 0, 0},
                "install HDF5 and build again");
}

#else

namespace {

constexpr std::array<std::string_view, 7> run_words{"completed",  "interrupted", "failed", "energy-created",
                                                    "inaccurate", "refused",     "pending"};

/// A name as a part of a path in the file.
std::string in_path(std::string name) {
    for (char& c : name)
        if (c == '/') c = ':';
    return name;
}

}  // namespace

void add_answers(ResultFolder& folder, const std::string& name, const AskReport& r) {
    folder.add(name, [&](int descriptor) {
        const hdf5::Session session;
        hdf5::TableWriter out(folder.path() + "/" + name, descriptor);
        out.attribute("", "format", std::string("saltus study"));
        out.attribute("", "layout", std::int64_t{1});
        out.attribute("", "model", r.model);
        out.attribute("", "method", r.method);
        out.attribute("", "options", r.options);
        out.attribute("", "t_end", r.t_end);
        out.texts("coordinates", r.coordinates);
        out.group("values");
        out.group("answers");
        hdf5::RowsWriter rows(out, r.starts.size());
        rows.words("status", run_words);
        for (const ensemble::Axis& a : r.starts.axes) rows.doubles("values/" + in_path(a.name));
        for (const std::string& c : r.columns) rows.doubles("answers/" + in_path(c));
        std::vector<double> x(r.starts.axes.size());
        std::size_t next = 0;
        const auto put = [&](std::size_t run, std::uint8_t status, const std::vector<double>& values) {
            r.starts.values(run, x);
            rows.put(status);
            for (const double v : x) rows.put(v);
            for (std::size_t k = 0; k < r.columns.size(); ++k) rows.put(k < values.size() ? values[k] : NAN);
        };
        constexpr std::uint8_t refused = 5, pending = 6;  // places in run_words
        r.table->scan(0, r.starts.size(), [&](std::size_t run, std::string_view bytes) {
            for (; next < run; ++next) put(next, pending, {});
            const ensemble::Answers a = ensemble::answers_from(bytes);
            put(run, a.refused ? refused : static_cast<std::uint8_t>(a.status), a.values);
            next = run + 1;
        });
        for (; next < r.starts.size(); ++next) put(next, pending, {});
        rows.finish();
        out.finish();
    });
}

#endif

}  // namespace saltus::io
