// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/interrupted_document.hpp"

#include <cstddef>

#include "saltus/base/error.hpp"
#include "saltus/io/report/detail/json.hpp"

namespace saltus::io {

using json::Json;

std::string empty_document(const std::string& model) { return json::document(Json{{"model", model}}); }

namespace {

/// Where the value of a member stands in a document. Empty if there is no such member.
struct Span {
    std::size_t begin = 0, end = 0;
};

/// Behind the string that begins at `at`.
std::size_t string_end(const std::string& text, std::size_t at) {
    for (++at; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '\\') ++at;
    return at + 1;
}

/// Finds a member of the outermost object. A document of a million runs has hundreds of megabytes: to parse it and to
/// write it again takes ten times as long as this.
Span member(const std::string& text, const std::string& name) {
    const std::string key = '"' + name + '"';
    int depth = 0;
    bool is_key = false;  // whether the next string at depth 1 is a key
    Span value;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '"') {
            const std::size_t end = string_end(text, at);
            if (depth == 1 && is_key && text.compare(at, end - at, key) == 0)
                value.begin = text.find_first_not_of(" \n", text.find(':', end) + 1);
            at = end;
            continue;
        }
        if (c == '}' || c == ']') --depth;
        if (value.begin > 0 && at > value.begin && ((depth == 1 && c == ',') || depth == 0)) {
            value.end = text.find_last_not_of(" \n", at - 1) + 1;
            return value;
        }
        if (c == '{' || c == '[') ++depth;
        if (depth == 1) is_key = c == '{' || c == ',' || (is_key && c != ':');
        ++at;
    }
    return {};
}

/// Replaces the value of a member, or adds the member at the end.
void set_member(std::string& text, const std::string& name, const std::string& value) {
    const Span old = member(text, name);
    if (old.end > 0) {
        text.replace(old.begin, old.end - old.begin, value);
        return;
    }
    const std::size_t last = text.find_last_not_of(" \n", text.rfind('}') - 1);
    text.replace(last + 1, std::string::npos,
                 (text[last] == '{' ? "\n  \"" : ",\n  \"") + name + "\": " + value + "\n}\n");
}

}  // namespace

std::string interrupted_document(const std::string& document, const std::string& reason) {
    SALTUS_EXPECT(document.starts_with('{') && document.rfind('}') != std::string::npos);
    std::string out = document;
    set_member(out, "status", json::line(Json("interrupted")));
    set_member(out, "reason", json::line(Json(reason)));
    return out;
}

}  // namespace saltus::io
