// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/branch_record.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

#include "saltus/base/error.hpp"
#include "saltus/base/fnv1a.hpp"
#include "saltus/io/report/detail/json.hpp"
#include "saltus/io/results/files.hpp"

namespace saltus::io {

using json::Json;

namespace {

// Each type has two functions: to_json, and a `read_...` that is its inverse. Numbers that JSON does not have are
// words.

Json exact(double x) {
    if (std::isnan(x)) return "nan";
    if (std::isinf(x)) return x > 0.0 ? "inf" : "-inf";
    return x;
}
double read_number(const Json& j) {
    if (j.is_number()) return j.get<double>();
    const auto word = j.get<std::string>();
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
    return word == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

template <class List>
Json numbers_of(const List& values) {
    Json j = Json::array();
    for (const double x : values) j.push_back(exact(x));
    return j;
}
std::vector<double> read_numbers(const Json& j) {
    std::vector<double> values;
    for (const Json& x : j) values.push_back(read_number(x));
    return values;
}
Vector read_vector(const Json& j) {
    const std::vector<double> values = read_numbers(j);
    return Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size()));
}

template <class List, class Write>
Json list_of(const List& values, const Write& write) {
    Json j = Json::array();
    for (const auto& value : values) j.push_back(write(value));
    return j;
}
template <class Read>
auto read_list(const Json& j, const Read& read) {
    std::vector<decltype(read(j))> values;
    for (const Json& value : j) values.push_back(read(value));
    return values;
}

Json complex_of(const std::complex<double>& m) { return {exact(m.real()), exact(m.imag())}; }
std::complex<double> read_complex(const Json& j) { return {read_number(j.at(0)), read_number(j.at(1))}; }
Json pair_of(const std::pair<double, double>& p) { return {exact(p.first), exact(p.second)}; }
std::pair<double, double> read_pair(const Json& j) { return {read_number(j.at(0)), read_number(j.at(1))}; }
std::string read_text(const Json& j) { return j.get<std::string>(); }

Json to_json(const orbit::OrbitCurve& c) {
    return {{"t", numbers_of(c.t)},
            {"x", list_of(c.x, [](const std::vector<double>& x) { return numbers_of(x); })},
            {"events", list_of(c.events, [](const orbit::OrbitCurve::Mark& m) {
                 return Json{{"index", m.index}, {"kind", m.kind}, {"elements", m.elements}};
             })}};
}
orbit::OrbitCurve read_curve_of_orbit(const Json& j) {
    return {read_numbers(j.at("t")), read_list(j.at("x"), read_numbers), read_list(j.at("events"), [](const Json& m) {
                return orbit::OrbitCurve::Mark{m.at("index").get<std::size_t>(), read_text(m.at("kind")),
                                               read_list(m.at("elements"), read_text)};
            })};
}

Json to_json(const orbit::BranchPoint& p) {
    return {{"parameter", exact(p.parameter)},
            {"period", exact(p.period)},
            {"t", exact(p.state.t)},
            {"q", numbers_of(p.state.q)},
            {"u", numbers_of(p.state.u)},
            {"multipliers", list_of(p.multipliers, complex_of)},
            {"full", list_of(p.multipliers_full, complex_of)},
            {"stability", static_cast<int>(p.stability)},
            {"outside", p.unstable_count},
            {"amplitude", list_of(p.amplitude, pair_of)},
            {"drift", numbers_of(p.drift)},
            {"events", p.events},
            {"closed", p.closed},
            {"residual", exact(p.residual)},
            {"curve", p.curve ? to_json(*p.curve) : Json(nullptr)}};
}
orbit::BranchPoint read_point(const Json& j) {
    orbit::BranchPoint p;
    p.parameter = read_number(j.at("parameter"));
    p.period = read_number(j.at("period"));
    p.state = {read_number(j.at("t")), read_numbers(j.at("q")), read_numbers(j.at("u"))};
    p.multipliers = read_list(j.at("multipliers"), read_complex);
    p.multipliers_full = read_list(j.at("full"), read_complex);
    p.stability = static_cast<orbit::Stability>(j.at("stability").get<int>());
    p.unstable_count = j.at("outside").get<int>();
    p.amplitude = read_list(j.at("amplitude"), read_pair);
    p.drift = read_numbers(j.at("drift"));
    p.events = read_list(j.at("events"), read_text);
    p.closed = read_list(j.at("closed"), read_text);
    p.residual = read_number(j.at("residual"));
    if (!j.at("curve").is_null()) p.curve = read_curve_of_orbit(j.at("curve"));
    return p;
}

Json to_json(const orbit::StoredOrbit& o) {
    return {{"t", exact(o.t)},
            {"z", numbers_of(o.z)},
            {"scale", numbers_of(o.scale)},
            {"tangent", numbers_of(o.tangent)},
            {"plane", numbers_of(o.plane)},
            {"reference", numbers_of(o.reference)},
            {"residual", exact(o.residual)},
            {"cut_times", numbers_of(o.cut_times)},
            {"cuts", list_of(o.cuts, [](const Vector& x) { return numbers_of(x); })}};
}
orbit::StoredOrbit read_orbit(const Json& j) {
    return {read_number(j.at("t")),
            read_vector(j.at("z")),
            read_vector(j.at("scale")),
            read_vector(j.at("tangent")),
            read_vector(j.at("plane")),
            read_vector(j.at("reference")),
            read_number(j.at("residual")),
            read_numbers(j.at("cut_times")),
            read_list(j.at("cuts"), [](const Json& x) { return read_vector(x); })};
}

Json to_json(const orbit::StoredRest& r) {
    return {{"z", numbers_of(r.z)},
            {"scale", numbers_of(r.scale)},
            {"tangent", numbers_of(r.tangent)},
            {"closed", r.closed},
            {"determinant", exact(r.determinant)},
            {"gaps", numbers_of(r.gaps)},
            {"forces", numbers_of(r.forces)},
            {"growths", numbers_of(r.growths)}};
}
orbit::StoredRest read_rest(const Json& j) {
    return {read_vector(j.at("z")),           read_vector(j.at("scale")),
            read_vector(j.at("tangent")),     j.at("closed").get<std::vector<char>>(),
            read_number(j.at("determinant")), read_numbers(j.at("gaps")),
            read_numbers(j.at("forces")),     read_numbers(j.at("growths"))};
}

Json to_json(const orbit::SpecialPoint& s) {
    return {{"kind", s.kind}, {"error", exact(s.error)}, {"at", to_json(s.at)}, {"index", s.index},
            {"text", s.text}, {"before", s.before},      {"after", s.after}};
}
orbit::SpecialPoint read_special(const Json& j) {
    return {read_text(j.at("kind")),          read_number(j.at("error")), read_point(j.at("at")),
            j.at("index").get<std::size_t>(), read_text(j.at("text")),    read_text(j.at("before")),
            read_text(j.at("after"))};
}

Json to_json(const orbit::WalkRecord& w) {
    Json j{
        {"finished", w.finished},
        {"points", list_of(w.points, [](const orbit::BranchPoint& p) { return to_json(p); })},
        {"special", list_of(w.special, [](const orbit::SpecialPoint& s) { return to_json(s); })},
        {"doublings", list_of(w.doublings,
                              [](const orbit::WalkRecord::Doubling& d) {
                                  return Json{{"orbit", to_json(d.orbit)}, {"described", to_json(d.described)}};
                              })},
        {"seeds", list_of(w.seeds, [](const orbit::WalkRecord::Seed& s) {
             Json seed{{"kind", s.kind}, {"orbit", to_json(s.orbit)}, {"multiple", s.multiple}, {"contact", s.contact}};
             seed["parameter"] = s.parameter ? exact(*s.parameter) : Json(nullptr);
             return seed;
         })}};
    if (w.finished) {
        j.update(Json{{"reason", w.reason}, {"failed", w.failed}, {"closed", w.closed}});
        return j;
    }
    j["step"] = exact(w.step);
    if (w.at_rest) {
        j["at_rest"] = to_json(*w.at_rest);
        j["changes"] = w.changes;
        return j;
    }
    j["at"] = to_json(w.at);
    j["collapse"] = w.collapse;
    j["trail"] = list_of(w.trail, [](const orbit::WalkRecord::Passed& p) {
        return Json{exact(p.t), numbers_of(p.z), exact(p.impulse), exact(p.interval)};
    });
    return j;
}
orbit::WalkRecord read_walk(const Json& j) {
    orbit::WalkRecord w;
    w.finished = j.at("finished").get<bool>();
    w.points = read_list(j.at("points"), read_point);
    w.special = read_list(j.at("special"), read_special);
    w.doublings = read_list(j.at("doublings"), [](const Json& d) {
        return orbit::WalkRecord::Doubling{read_orbit(d.at("orbit")), read_point(d.at("described"))};
    });
    w.seeds = read_list(j.at("seeds"), [](const Json& s) {
        orbit::WalkRecord::Seed seed{read_text(s.at("kind")), read_orbit(s.at("orbit")), s.at("multiple").get<int>(),
                                     read_text(s.at("contact")), std::nullopt};
        if (!s.at("parameter").is_null()) seed.parameter = read_number(s.at("parameter"));
        return seed;
    });
    if (w.finished) {
        w.reason = read_text(j.at("reason"));
        w.failed = j.at("failed").get<bool>();
        w.closed = j.at("closed").get<bool>();
        return w;
    }
    w.step = read_number(j.at("step"));
    if (j.contains("at_rest")) {
        w.at_rest = read_rest(j.at("at_rest"));
        w.changes = j.at("changes").get<int>();
        return w;
    }
    w.at = read_orbit(j.at("at"));
    w.collapse = j.at("collapse").get<bool>();
    w.trail = read_list(j.at("trail"), [](const Json& p) {
        return orbit::WalkRecord::Passed{read_number(p.at(0)), read_vector(p.at(1)), read_number(p.at(2)),
                                         read_number(p.at(3))};
    });
    return w;
}

Json to_json(const orbit::SpecialCurve& c) {
    return {{"kind", c.kind},
            {"points", list_of(c.points, [](const orbit::BranchPoint& p) { return to_json(p); })},
            {"second", numbers_of(c.second)},
            {"reason", c.reason}};
}
orbit::SpecialCurve read_curve(const Json& j) {
    return {read_text(j.at("kind")), read_list(j.at("points"), read_point), read_numbers(j.at("second")),
            read_text(j.at("reason"))};
}

}  // namespace

std::string branch_record_text(const orbit::BranchRecord& record, const std::string& identity) {
    const Json j{{"format", "saltus continue state"},
                 {"layout", 2},
                 {"identity", identity},
                 {"walks", list_of(record.walks, [](const orbit::WalkRecord& w) { return to_json(w); })},
                 {"curves", list_of(record.curves, [](const orbit::SpecialCurve& c) { return to_json(c); })}};
    return json::line(j) + "\n";
}

orbit::BranchRecord read_branch_record(const std::string& text, const std::string& identity, const std::string& path) {
    try {
        const Json j = Json::parse(text);
        if (j.at("identity").get<std::string>() != identity)
            throw Error("has the results of another model or of other options", {path, 0, 0},
                        "run the command without --resume, or with another --out");
        return {read_list(j.at("walks"), read_walk), read_list(j.at("curves"), read_curve)};
    } catch (const Json::exception& e) {
        throw Error("is incomplete or damaged: " + json::reason(e), {path, 0, 0}, "run the command without --resume");
    }
}

namespace {

constexpr const char* checkpoint_name = "continue.checkpoint";

std::string checkpoint_path(const std::string& folder) {
    return (std::filesystem::path(folder) / checkpoint_name).string();
}
/// The line under a record, by which a damaged file is noticed.
std::string sum_line(std::string_view text) { return fmt::format("{:016x}\n", fnv1a(text)); }

}  // namespace

void write_branch_checkpoint(const std::string& folder, const orbit::BranchRecord& record,
                             const std::string& identity) {
    const std::string text = branch_record_text(record, identity);
    write_file(folder, checkpoint_name, text + sum_line(text));
}

std::optional<orbit::BranchRecord> read_branch_checkpoint(const std::string& folder, const std::string& identity) {
    const std::string path = checkpoint_path(folder);
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    const std::string all(std::istreambuf_iterator<char>(file), {});
    const std::size_t end = all.find('\n') + 1;  // a record is one line
    if (all.substr(end) != sum_line(std::string_view(all).substr(0, end)))
        throw Error("is damaged: its checksum is wrong", {path, 0, 0}, "run the command without --resume");
    return read_branch_record(all.substr(0, end), identity, path);
}

void remove_branch_checkpoint(const std::string& folder) {
    std::error_code error;
    std::filesystem::remove(checkpoint_path(folder), error);
}

}  // namespace saltus::io
