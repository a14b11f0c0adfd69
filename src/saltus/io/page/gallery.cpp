// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/page/gallery.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/plain_text.hpp"
#include "saltus/base/text.hpp"
#include "saltus/io/report/detail/json.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"

namespace saltus::io {

using json::Json;

namespace {

/// Values of gallery.toml with their places. Functions throw Error for wrong types and unknown keys.
class Reader {
public:
    explicit Reader(std::string file) : file_(std::move(file)) {}

    /// A text; empty if the key is absent.
    std::string text(const toml::table& t, const char* key) const {
        const toml::node* node = t.get(key);
        if (node == nullptr) return {};
        if (const auto* s = node->as_string()) return s->get();
        throw Error(std::string(key) + " is not a text", place(*node), "put it in quotes");
    }
    /// A text whose key must be present.
    std::string required_text(const toml::table& t, const char* key) const {
        if (t.get(key) == nullptr) throw Error("an entry has no " + std::string(key), place(t), "add it");
        return text(t, key);
    }
    /// Refuses other keys than the allowed ones.
    void keys(const toml::table& t, const std::vector<std::string>& allowed) const {
        for (const auto& [key, node] : t)
            if (std::find(allowed.begin(), allowed.end(), key.str()) == allowed.end())
                throw Error("unknown key '" + std::string(key.str()) + "'", place(node),
                            did_you_mean(key.str(), allowed));
    }
    /// Calls f with each table of a list.
    template <class F>
    void each(const toml::table& t, const char* key, F f) const {
        const toml::node* node = t.get(key);
        if (node == nullptr) return;
        if (!node->is_array()) throw Error(std::string(key) + " is not a list", place(*node));
        for (const toml::node& item : *node->as_array()) {
            if (!item.is_table()) throw Error("an entry of " + std::string(key) + " is not a table", place(item));
            f(*item.as_table());
        }
    }
    Place place(const toml::node& node) const {
        return {file_, static_cast<int>(node.source().begin.line), static_cast<int>(node.source().begin.column)};
    }

private:
    std::string file_;
};

GalleryStudy study_of(const Reader& r, const toml::table& t) {
    r.keys(t, {"model", "group", "title", "text", "moment", "runs", "numbers"});
    GalleryStudy s;
    s.model = r.required_text(t, "model");
    s.group = r.required_text(t, "group");
    s.title = r.text(t, "title");
    s.text = r.text(t, "text");
    s.moment = t["moment"].value_or(s.moment);
    r.each(t, "runs", [&](const toml::table& run) {
        r.keys(run, {"name", "command", "quick"});
        const std::string command = r.required_text(run, "command"), quick = r.text(run, "quick");
        std::string name = r.text(run, "name");
        if (name.empty()) name = command.substr(0, command.find(' '));
        for (const GalleryRun& other : s.runs)
            if (other.name == name) throw Error("two runs are called '" + name + "'", r.place(run), "give one a name");
        s.runs.push_back({name, command, quick.empty() ? command : quick});
    });
    r.each(t, "numbers", [&](const toml::table& n) {
        r.keys(n, {"what", "where", "stated", "formula", "ours", "note", "digits"});
        GalleryNumber number{r.required_text(n, "what"), r.text(n, "where"), r.text(n, "stated"),
                             r.text(n, "formula"),       r.text(n, "note"),  r.required_text(n, "ours"),
                             n["digits"].value_or(6)};
        s.numbers.push_back(std::move(number));
    });
    return s;
}

/// The steps of a path, which are separated by '>'.
std::vector<std::string> segments(const std::string& path) {
    std::vector<std::string> list(1);
    for (const char c : path)
        if (c == '>')
            list.emplace_back();
        else
            list.back() += c;
    return list;
}

/// Whether a text is an integer.
bool is_integer(const std::string& s) {
    const std::size_t first = s.starts_with('-') ? 1 : 0;
    return s.size() > first && std::all_of(s.begin() + static_cast<std::ptrdiff_t>(first), s.end(), is_digit);
}

/// One step of a path (see `number_at`); null if it leads nowhere.
Json follow(const Json& j, const std::string& s) {
    if (j.is_array() && s == "count") return j.size();
    if (j.is_array() && is_integer(s)) {
        const long k = std::stol(s), n = static_cast<long>(j.size());
        const long at = k < 0 ? n + k : k;
        return at >= 0 && at < n ? j[static_cast<std::size_t>(at)] : Json();
    }
    if (j.is_array() && (s.starts_with("max:") || s.starts_with("min:"))) {
        Json best;
        for (const Json& item : j) {
            const Json v = item.is_object() ? item.value(s.substr(4), Json()) : Json();
            if (v.is_number() && (best.is_null() || (s.starts_with("max:") ? v > best : v < best))) best = v;
        }
        return best;
    }
    if (j.is_array() && s.find('=') != std::string::npos) {
        const std::string key = s.substr(0, s.find('=')), word = s.substr(s.find('=') + 1);
        Json list = Json::array();
        for (const Json& item : j)
            if (item.is_object() && item.contains(key) && item[key].is_string() && item[key].get<std::string>() == word)
                list.push_back(item);
        return list;
    }
    return j.is_object() && j.contains(s) ? j[s] : Json();
}

}  // namespace

Gallery parse_gallery(std::string_view text, const std::string& file) {
    toml::table root;
    try {
        root = toml::parse(text, std::string_view(file));
    } catch (const toml::parse_error& e) {
        throw Error("not valid TOML: " + std::string(e.description()),
                    {file, static_cast<int>(e.source().begin.line), static_cast<int>(e.source().begin.column)});
    }
    const Reader r(file);
    r.keys(root, {"group", "study"});
    Gallery g;
    r.each(root, "group", [&](const toml::table& t) {
        r.keys(t, {"name", "title", "text"});
        g.groups.push_back({r.required_text(t, "name"), r.required_text(t, "title"), r.text(t, "text")});
    });
    r.each(root, "study", [&](const toml::table& t) {
        g.studies.push_back(study_of(r, t));
        const std::string& group = g.studies.back().group;
        if (std::none_of(g.groups.begin(), g.groups.end(), [&](const GalleryGroup& x) { return x.name == group; }))
            throw Error("there is no group '" + group + "'", r.place(t), "add a [[group]] with that name");
    });
    return g;
}

std::string number_at(const std::string& json, const std::string& path, int digits) {
    Json j = Json::parse(json, nullptr, false);
    if (j.is_discarded()) return "–";
    for (const std::string& s : segments(path)) j = follow(j, s);
    if (j.is_string()) return j.get<std::string>();
    if (j.is_boolean()) return j.get<bool>() ? "yes" : "no";
    if (j.is_number_integer()) return std::to_string(j.get<long>());
    return j.is_number() ? fmt::format("{:.{}g}", j.get<double>() + 0.0, digits) : "–";
}

double formula_value(const std::string& formula, const model::Description& description,
                     const std::vector<std::pair<std::string, std::string>>& set) {
    model::Description d = description;
    const std::string name = "gallery_formula";
    d.parameters.push_back({name, model::Field(formula), {}});
    model::BuildOptions options;
    options.set = set;
    const model::Model m = model::build(d, options);
    return m.settings->parameters.back().value;
}

}  // namespace saltus::io
