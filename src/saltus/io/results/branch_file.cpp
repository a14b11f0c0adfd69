// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/branch_file.hpp"

#include "saltus/base/error.hpp"
#include "saltus/io/results/result_folder.hpp"

#if SALTUS_HDF5

#include <array>

#include "saltus/io/results/detail/trajectory_file_table.hpp"

#endif

namespace saltus::io {

#if !SALTUS_HDF5

void add_branches(ResultFolder& folder, const std::string& name, const orbit::Branches&) {
    throw Error("branches are HDF5 files, and saltus was built without HDF5", {folder.path() + "/" + name, 0, 0},
                "install HDF5 and build again");
}

#else

namespace {

constexpr std::array<std::string_view, 3> stability_words{"stable", "unstable", "undecided"};
const double not_known = std::numeric_limits<double>::quiet_NaN();

/// One row for each orbit: the columns of the groups `points`, `special` and `curves`.
class PointColumns {
public:
    explicit PointColumns(const orbit::Branches& all)
        : all_(all), n_(all.coordinates.size()), low_(n_), high_(n_), q_(n_), u_(n_), re_(2 * n_), im_(2 * n_) {}

    void add(std::size_t branch, const orbit::BranchPoint& p) {
        branch_.push_back(static_cast<std::int32_t>(branch));
        parameter_.push_back(p.parameter);
        period_.push_back(all_.equilibria ? not_known : p.period);
        stability_.push_back(static_cast<std::uint8_t>(p.stability));
        unstable_.push_back(p.unstable_count);
        residual_.push_back(p.residual);
        std::string events;
        for (const std::string& e : all_.equilibria ? p.closed : p.events) events += (events.empty() ? "" : " ") + e;
        events_.push_back(events);
        const auto value = [](const std::vector<double>& list, std::size_t i) {
            return i < list.size() ? list[i] : not_known;
        };
        for (std::size_t i = 0; i < n_; ++i) {
            low_[i].push_back(i < p.amplitude.size() ? p.amplitude[i].first : not_known);
            high_[i].push_back(i < p.amplitude.size() ? p.amplitude[i].second : not_known);
            q_[i].push_back(value(p.state.q, i));
            u_[i].push_back(value(p.state.u, i));
        }
        for (std::size_t k = 0; k < 2 * n_; ++k) {
            re_[k].push_back(k < p.multipliers.size() ? p.multipliers[k].real() : not_known);
            im_[k].push_back(k < p.multipliers.size() ? p.multipliers[k].imag() : not_known);
        }
    }

    void write(const hdf5::TableWriter& out, const std::string& group) const {
        out.group(group);
        out.column(group + "/branch", branch_);
        out.column(group + "/parameter", parameter_);
        out.column(group + "/period", period_);
        out.words(group + "/stability", stability_, stability_words);
        out.column(group + "/unstable_count", unstable_);
        out.column(group + "/residual", residual_);
        out.texts(group + (all_.equilibria ? "/contacts_closed" : "/events"), events_);
        columns(out, group + "/q", q_);
        columns(out, group + "/u", u_);
        columns(out, group + "/least", low_);
        columns(out, group + "/largest", high_);
        const std::string values = group + (all_.equilibria ? "/eigenvalues" : "/multipliers");
        out.group(values);
        for (std::size_t k = 0; k < 2 * n_; ++k) {
            out.column(values + "/re" + std::to_string(k + 1), re_[k]);
            out.column(values + "/im" + std::to_string(k + 1), im_[k]);
        }
    }

private:
    using Columns = std::vector<std::vector<double>>;
    void columns(const hdf5::TableWriter& out, const std::string& group, const Columns& values) const {
        out.group(group);
        for (std::size_t i = 0; i < n_; ++i) out.column(group + "/" + all_.coordinates[i], values[i]);
    }

    const orbit::Branches& all_;
    std::size_t n_;
    std::vector<std::int32_t> branch_, unstable_;
    std::vector<double> parameter_, period_, residual_;
    hdf5::Codes stability_;
    std::vector<std::string> events_;
    Columns low_, high_, q_, u_, re_, im_;
};

void write_special(const hdf5::TableWriter& out, const orbit::Branches& all) {
    PointColumns points(all);
    std::vector<std::string> kinds, before, after, reasons;
    std::vector<double> errors;
    std::vector<std::int64_t> index;
    for (std::size_t b = 0; b < all.branches.size(); ++b)
        for (const orbit::SpecialPoint& s : all.branches[b].special) {
            points.add(b + 1, s.at);
            kinds.push_back(s.kind);
            errors.push_back(s.error);
            index.push_back(static_cast<std::int64_t>(s.index));
            before.push_back(s.before);
            after.push_back(s.after);
            reasons.push_back(s.text);
        }
    points.write(out, "special");
    out.texts("special/kind", kinds);
    out.column("special/error", errors);
    out.column("special/index", index);
    out.texts("special/before", before);
    out.texts("special/after", after);
    out.texts("special/reason", reasons);
}

void write_curves(const hdf5::TableWriter& out, const orbit::Branches& all) {
    PointColumns points(all);
    std::vector<std::string> kinds, reasons;
    std::vector<double> second;
    for (std::size_t k = 0; k < all.curves.size(); ++k) {
        for (const orbit::BranchPoint& p : all.curves[k].points) points.add(k + 1, p);
        second.insert(second.end(), all.curves[k].second.begin(), all.curves[k].second.end());
        kinds.push_back(all.curves[k].kind);
        reasons.push_back(all.curves[k].reason);
    }
    points.write(out, "curves");
    out.column("curves/second", second);
    out.group("curve");
    out.texts("curve/kind", kinds);
    out.texts("curve/reason", reasons);
}

void write_branches(const std::string& target, int descriptor, const orbit::Branches& all) {
    const hdf5::Session session;
    hdf5::TableWriter out(target, descriptor);
    out.attribute("", "format", std::string("saltus branches"));
    out.attribute("", "layout", std::int64_t{1});
    out.attribute("", "model", all.model);
    out.attribute("", "parameter", all.parameter);
    out.attribute("", "second_parameter", all.second);
    out.attribute("", "equilibria", all.equilibria);
    out.attribute("", "complete", all.complete);
    out.texts("coordinates", all.coordinates);
    PointColumns points(all);
    std::vector<std::int32_t> multiple;
    std::vector<std::string> origins, reasons;
    for (std::size_t b = 0; b < all.branches.size(); ++b) {
        for (const orbit::BranchPoint& p : all.branches[b].points) points.add(b + 1, p);
        multiple.push_back(all.branches[b].multiple);
        origins.push_back(all.branches[b].origin);
        reasons.push_back(all.branches[b].reason);
    }
    out.group("branch");
    out.column("branch/multiple", multiple);
    out.texts("branch/origin", origins);
    out.texts("branch/reason", reasons);
    points.write(out, "points");
    write_special(out, all);
    if (!all.curves.empty()) write_curves(out, all);
    out.finish();
}

}  // namespace

void add_branches(ResultFolder& folder, const std::string& name, const orbit::Branches& branches) {
    folder.add(name, [&](int descriptor) { write_branches(folder.path() + "/" + name, descriptor, branches); });
}

#endif

}  // namespace saltus::io
