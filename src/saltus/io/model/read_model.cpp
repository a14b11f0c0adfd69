// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/model/read_model.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "saltus/base/plain_text.hpp"
#include "saltus/base/text.hpp"
#include "saltus/io/model/model_keys.hpp"

namespace saltus::io {

using namespace saltus::model;

namespace {

/// Quantities besides the coordinates that may have a unit.
constexpr std::array<const char*, 4> unit_quantities{"time", "length", "force", "energy"};

constexpr std::size_t largest_file = 256U << 20U;  // bytes: 256 MiB; larger models are better written in C++

/// Refuses keys such as a.b.c.d… with too many dots. Each dot nests one table in another, and the TOML library follows
/// nested tables by recursion, so that a hostile file could overflow the stack. Dots in quotes and comments do not
/// count.
void limit_dotted_keys(std::string_view text, const std::string& file) {
    constexpr int max_dots = 100;
    int dots = 0, line = 1;
    for (std::size_t k = 0; k < text.size(); ++k) {
        const char c = text[k];
        if (c == '#' || c == '"' || c == '\'') {
            // Skip to the end of the comment, or to the closing quote if it stands on this line.
            const std::size_t end = c == '#' ? text.find('\n', k) : text.find_first_of(std::string{c, '\n'}, k + 1);
            k = end == std::string_view::npos ? text.size() - 1 : (text[end] == '\n' ? end - 1 : end);
            continue;
        }
        const bool may_be_key = is_letter_or_digit(c) || c == '_' || c == '-' || c == '.' || c == ' ' || c == '\t';
        dots = may_be_key ? dots + (c == '.' ? 1 : 0) : 0;
        if (c == '\n') ++line;
        if (dots > max_dots)
            throw Error("a key with more than 100 dots", {file, line, 0}, "tables can be nested up to 100 levels");
    }
}

/// Finds line and column of every byte of a TOML string, for messages about expressions. Escapes and line continuations
/// make the string shorter than its text in the file, so that the raw text is read again from the opening quote.
class StringPlaces {
public:
    /// `line` and `column` (from 1) are those of the opening quote; `line_start[k]` is the offset of line k + 1.
    StringPlaces(std::string_view raw, const std::vector<std::size_t>& line_start, int line, int column) : raw_(raw) {
        line_ = line;
        column_ = column;
        at_ = line_start[static_cast<std::size_t>(line) - 1];
        for (int c = 1; c < column && at_ < raw_.size(); ++c) at_ += character_length();
    }

    /// Line and column of each of the `length` bytes of the string. All bytes of one character have the same place.
    /// Empty if no quote stands at the beginning.
    std::vector<std::pair<int, int>> find(std::size_t length) {
        std::vector<std::pair<int, int>> places;
        const char quote = peek();
        if (quote != '"' && quote != '\'') return {};
        const bool block = raw_.substr(at_, 3) == std::string(3, quote);  // a string over several lines
        for (int k = 0; k < (block ? 3 : 1); ++k) step();
        if (block && peek() == '\r') step();  // a line break right behind the opening quotes does not count
        if (block && peek() == '\n') step();
        while (places.size() < length && at_ < raw_.size()) {
            if (quote == '"' && peek() == '\\') {
                escape(places, block);
                continue;
            }
            if (peek() == '\r' && at_ + 1 < raw_.size() && raw_[at_ + 1] == '\n') {  // the library joins \r\n to \n
                step();
                continue;
            }
            for (std::size_t k = character_length(); k > 0; --k) places.emplace_back(line_, column_);
            step();
        }
        return places;
    }

private:
    char peek() const { return at_ < raw_.size() ? raw_[at_] : '\0'; }
    /// Bytes of the UTF-8 character at hand: bytes 10xxxxxx continue a character.
    std::size_t character_length() const {
        std::size_t n = 1;
        while (at_ + n < raw_.size() && (static_cast<unsigned char>(raw_[at_ + n]) & 0xC0) == 0x80) ++n;
        return n;
    }
    void step() {
        if (at_ >= raw_.size()) return;
        if (peek() == '\n') {
            ++line_;
            column_ = 0;
        }
        at_ += character_length();
        ++column_;
    }
    /// An escape sequence: \n, \u00e9, …, or in a block a backslash that joins two lines. Adds the place of the
    /// backslash once for each byte of the character that the sequence stands for.
    void escape(std::vector<std::pair<int, int>>& places, bool block) {
        const std::pair here{line_, column_};
        step();
        const char kind = peek();
        if (block && (kind == '\n' || kind == '\r' || kind == ' ' || kind == '\t')) {  // joins lines
            while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') step();
            return;
        }
        unsigned long code = 0;
        const int digits = kind == 'u' ? 4 : (kind == 'U' ? 8 : 0);
        step();
        for (int k = 0; k < digits; ++k, step())
            code = code * 16 + static_cast<unsigned long>(is_digit(peek()) ? peek() - '0' : (peek() | 32) - 'a' + 10);
        // UTF-8 needs 1, 2, 3 or 4 bytes for a code point.
        const int bytes = code < 0x80 ? 1 : (code < 0x800 ? 2 : (code < 0x10000 ? 3 : 4));
        for (int k = 0; k < bytes; ++k) places.push_back(here);
    }

    std::string_view raw_;
    std::size_t at_ = 0;  ///< offset of the character at hand, whose place is line_, column_
    int line_ = 1, column_ = 1;
};

/// Reads one model file. `read` goes through the blocks; each block has a function of its name, in the order of
/// model_keys.cpp. Variables named `where` or `what` are words for messages: "contact 'left'", "gN of contact 'left'".
class Reader {
public:
    Reader(std::string_view text, const std::string& file) : text_(text), file_(file) {
        line_start_.push_back(0);
        for (std::size_t k = 0; k < text.size(); ++k)
            if (text[k] == '\n') line_start_.push_back(k + 1);
    }

    Description read() {
        const toml::table root = parse();
        check_keys(root, "the model file", "file");
        d_.file = file_;
        if (const toml::table* t = table(root, "system")) system(*t);
        if (const toml::table* t = table(root, "parameters")) d_.parameters = entries(*t, "[parameters]");
        if (const toml::table* t = table(root, "let")) d_.let = entries(*t, "[let]");
        repeat_each(root, "contact", [&](const toml::table& t) { contact(t); });
        repeat_each(root, "constraint", [&](const toml::table& t) { constraint(t); });
        repeat_each(root, "slider", [&](const toml::table& t) { slider(t); });
        repeat_each(root, "clutch", [&](const toml::table& t) { clutch(t); });
        repeat_each(root, "jump", [&](const toml::table& t) { jump(t); });
        if (const toml::table* t = table(root, "control")) control(*t);
        if (const toml::table* t = table(root, "penalty")) penalty(*t);
        if (const toml::table* t = table(root, "perturbation")) perturbation(*t);
        if (const toml::table* t = table(root, "initial")) initial(*t);
        if (const toml::table* t = table(root, "simulate")) simulate(*t);
        if (const toml::table* t = table(root, "certify")) certify(*t);
        if (const toml::table* t = table(root, "points")) points(*t);
        repeat_each(root, "springs", [&](const toml::table& t) { springs(t); });
        for_each(root, "volume", [&](const toml::table& t) { volume(t); });
        repeat_each(root, "obstacle", [&](const toml::table& t) { obstacle(t); });
        if (const toml::table* t = table(root, "output")) outputs(*t);
        if (const toml::table* t = table(root, "draw")) draw(*t);
        return std::move(d_);
    }

private:
    toml::table parse() const {
        try {
            return toml::parse(text_, std::string_view(file_));
        } catch (const toml::parse_error& e) {
            const std::string_view text = e.description();
            const bool open = text.find("parsing string") != text.npos && text.find("control character") != text.npos;
            throw Error(open ? "the string does not end on its line" : "not valid TOML: " + std::string(text),
                        place_of(e.source()), open ? "close it with a quotation mark" : "");
        }
    }

    // --- places and messages ---

    Place place_of(const toml::source_region& region) const {
        return {file_, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
    }
    Place place_of(const toml::node& node) const { return place_of(node.source()); }

    static std::string type_name(const toml::node& node) {
        switch (node.type()) {
            case toml::node_type::table: return "a table";
            case toml::node_type::array: return "a list";
            case toml::node_type::string: return "a string";
            case toml::node_type::integer:
            case toml::node_type::floating_point: return "a number";
            case toml::node_type::boolean: return "true or false";
            default: return "a date or time";
        }
    }

    [[noreturn]] void wrong_type(const toml::node& node, const std::string& what, const std::string& expected) const {
        throw Error(what + " is " + type_name(node) + ", not " + expected, place_of(node));
    }

    /// Refuses keys that model_keys.cpp does not declare for this block.
    void check_keys(const toml::table& t, const std::string& where, std::string_view block) const {
        const std::vector<std::string> allowed = keys_of(block);
        for (const auto& [key, node] : t) {
            const std::string name(key.str());
            if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) continue;
            const std::string guess = nearest(name, allowed);
            throw Error(
                "unknown key '" + name + "' in " + where, place_of(key.source()),
                guess.empty() ? "allowed are " + listing(allowed, "and", "", 20) : "did you mean '" + guess + "'?");
        }
    }

    // --- values ---

    /// The table under a key, or null if the key is absent.
    const toml::table* table(const toml::table& parent, const std::string& key) const {
        const toml::node* node = parent.get(key);
        if (node == nullptr) return nullptr;
        if (const toml::table* t = node->as_table()) return t;
        if (node->is_array_of_tables())
            throw Error("[[" + key + "]] may appear only once", place_of(*node), "write [" + key + "]");
        wrong_type(*node, "'" + key + "'", "a table [" + key + "]");
    }

    /// Calls f with each table of a list [[key]]. Does nothing if the key is absent.
    template <class F>
    void for_each(const toml::table& root, const std::string& key, F f) const {
        const toml::node* node = root.get(key);
        if (node == nullptr) return;
        if (node->is_table())
            throw Error("[" + key + "] must be written with double brackets", place_of(*node), "write [[" + key + "]]");
        const toml::array* list = node->as_array();
        if (list == nullptr) wrong_type(*node, "'" + key + "'", "a table [[" + key + "]]");
        for (const toml::node& item : *list) {
            const toml::table* t = item.as_table();
            if (t == nullptr) wrong_type(item, "an entry of '" + key + "'", "a table [[" + key + "]]");
            f(*t);
        }
    }

    // --- repeated blocks ---

    /// The numbers that an index runs through.
    struct Repetition {
        std::string index;
        long from = 0, to = 0;
    };

    /// Reads `for = "i in 1..30"`.
    Repetition repetition(const toml::node& node, const std::string& block) const {
        constexpr long max_blocks = 10'000;
        const Place place = place_of(node);
        if (!node.is_string()) wrong_type(node, "for of " + block, "a text such as \"i in 1..30\"");
        const std::string text = node.as_string()->get();
        Repetition r;
        char name[64] = {}, rest = 0;
        if (std::sscanf(text.c_str(), " %63[A-Za-z0-9_] in %ld .. %ld %c", name, &r.from, &r.to, &rest) != 3)
            throw Error("for = \"" + text + "\" of " + block + " is no repetition", place,
                        "write for = \"i in 1..30\", with whole numbers");
        r.index = name;
        const auto taken = [&](const auto& list) {
            return std::any_of(list.begin(), list.end(), [&](const auto& e) { return e.name == r.index; });
        };
        if (!expr::is_name(r.index) || expr::is_reserved(r.index) || taken(d_.q) || taken(d_.parameters) ||
            taken(d_.let))
            throw Error("the index '" + r.index + "' of " + block + " is no name, or a name that is taken", place,
                        "choose another letter");
        if (r.to < r.from || r.to - r.from >= max_blocks)
            throw Error("for = \"" + text + "\" of " + block + " repeats " +
                            (r.to < r.from ? std::string("nothing") : "more than 10 000 times"),
                        place, "give a lower and an upper end");
        return r;
    }

    /// Calls f with each table of a list [[key]], once for each value of its index if it is repeated.
    template <class F>
    void repeat_each(const toml::table& root, const std::string& key, F f) {
        for_each(root, key, [&](const toml::table& t) {
            const toml::node* node = t.get("for");
            if (node == nullptr) return f(t);
            const Repetition r = repetition(*node, label(t, key));
            const std::string mark = "{" + r.index + "}";
            if (key != "springs" && string(t, "name", key).find(mark) == std::string::npos)  // springs have no names
                throw Error("the name of a repeated " + key + " must contain its index", place_of(t),
                            "write name = \"" + key + mark + "\"");
            for (long value = r.from; value <= r.to; ++value) {
                index_ = {{r.index, static_cast<double>(value)}};
                f(t);
            }
            index_.clear();
        });
    }

    /// Replaces "{i}" by the value of the index i.
    std::string with_index(std::string text) const {
        for (const auto& [name, value] : index_) {
            const std::string mark = "{" + name + "}";
            for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark))
                text.replace(at, mark.size(), std::to_string(static_cast<long>(value)));
        }
        return text;
    }

    /// A number or an expression.
    Field field(const toml::node& node, const std::string& what) const {
        const Place place = place_of(node);
        if (const auto* text = node.as_string()) {
            expr::Source source{text->get(), place, {}, index_};
            // If the string stands in the file letter by letter then columns are counted from the quote. Otherwise
            // (escapes, line breaks) every character gets its place.
            const std::size_t begin =
                line_start_[static_cast<std::size_t>(place.line) - 1] + static_cast<std::size_t>(place.column);
            const bool plain = begin <= text_.size() && (text_[begin - 1] == '"' || text_[begin - 1] == '\'') &&
                               text_.substr(begin, text->get().size()) == text->get() &&
                               text->get().find('\n') == std::string::npos;
            if (plain)
                ++source.place.column;
            else
                source.map = StringPlaces(text_, line_start_, place.line, place.column).find(text->get().size());
            return Field(std::move(source));
        }
        double value = 0.0;
        if (const auto* x = node.as_floating_point())
            value = x->get();
        else if (const auto* i = node.as_integer())
            value = static_cast<double>(i->get());
        else
            wrong_type(node, what, "a number or an expression");
        if (!std::isfinite(value)) throw Error(what + " is not finite", place, "write a finite number");
        Field f(value);
        f.source.place = place;
        return f;
    }

    /// The field under a key; a field that is not `given` if the key is absent.
    Field optional_field(const toml::table& t, const char* key, const std::string& where) const {
        const toml::node* node = t.get(key);
        return node == nullptr ? Field{} : field(*node, std::string(key) + " of " + where);
    }

    /// One value or a list of values under a key; empty if the key is absent.
    std::vector<Field> fields(const toml::table& t, const char* key, const std::string& where) const {
        const toml::node* node = t.get(key);
        if (node == nullptr) return {};
        const std::string what = std::string(key) + " of " + where;
        return fields_of(*node, what);
    }
    std::vector<Field> fields_of(const toml::node& node, const std::string& what) const {
        std::vector<Field> list;
        if (const toml::array* a = node.as_array()) {
            if (a->empty())
                throw Error(what + " is an empty list", place_of(node), "give at least one value, or remove it");
            for (const toml::node& item : *a) list.push_back(field(item, what));
        } else {
            list.push_back(field(node, what));
        }
        return list;
    }
    /// Rows of values: a list of lists, a list (one row) or a single value. Empty if the key is absent.
    std::vector<std::vector<Field>> rows_of(const toml::table& t, const char* key, const std::string& where) const {
        const toml::node* node = t.get(key);
        if (node == nullptr) return {};
        const std::string what = std::string(key) + " of " + where;
        const toml::array* a = node->as_array();
        if (a == nullptr || a->empty() || !(*a)[0].is_array()) return {fields_of(*node, what)};
        std::vector<std::vector<Field>> rows;
        for (const toml::node& item : *a) {
            if (!item.is_array()) wrong_type(item, "a row of " + what, "a list");
            rows.push_back(fields_of(item, what));
        }
        return rows;
    }

    /// A text; empty if the key is absent.
    std::string string(const toml::table& t, const char* key, const std::string& where) const {
        const toml::node* node = t.get(key);
        if (node == nullptr) return {};
        if (!node->is_string()) wrong_type(*node, std::string(key) + " of " + where, "a string");
        return with_index(node->as_string()->get());
    }

    /// One of a few words. `to` keeps its value if the key is absent. `model::build` knows which words are allowed.
    void choice(const toml::table& t, const char* key, const std::string& where, Choice& to) const {
        if (const toml::node* node = t.get(key)) to = {string(t, key, where), place_of(*node)};
    }

    /// The entries name = value of a table, in the order of the file.
    std::vector<Entry> entries(const toml::table& t, const std::string& where) const {
        std::vector<Entry> list;
        for (const auto& [key, node] : t)
            list.push_back({std::string(key.str()), field(node, "'" + std::string(key.str()) + "' in " + where),
                            place_of(key.source())});
        // The library gives tables sorted by name.
        std::stable_sort(list.begin(), list.end(), [](const Entry& a, const Entry& b) {
            return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
        });
        return list;
    }
    std::vector<Entry> entries(const toml::table& parent, const char* key, const std::string& where) const {
        const toml::node* node = parent.get(key);
        if (node == nullptr) return {};
        const std::string what = std::string(key) + " of " + where;
        if (!node->is_table()) wrong_type(*node, what, "a table such as { x = 1.0 }");
        return entries(*node->as_table(), what);
    }

    /// A list of names in quotes; empty if the key is absent.
    std::vector<Coordinate> names(const toml::table& t, const char* key, const std::string& where) const {
        const toml::node* node = t.get(key);
        if (node == nullptr) return {};
        const std::string what = std::string(key) + " of " + where;
        const toml::array* a = node->as_array();
        if (a == nullptr) wrong_type(*node, what, "a list of names");
        std::vector<Coordinate> list;
        for (const toml::node& item : *a) {
            if (!item.is_string()) wrong_type(item, "an entry of " + what, "a name in quotes");
            list.push_back({item.as_string()->get(), place_of(item)});
        }
        return list;
    }

    /// A whole number as a text in a repeated block: a sum of whole numbers and multiples of the index, such as
    /// "2*i + 1".
    long long index_number(const toml::node& node, const std::string& what) const {
        const std::string& text = node.as_string()->get();
        const std::string& index = index_.front().first;  // no structured binding: clang 14 cannot capture it
        const auto& value = index_.front().second;
        const auto refuse = [&]() -> long long {
            throw Error(what + " has \"" + text + "\", which is no whole number", place_of(node),
                        "write a sum of whole numbers and multiples of the index, such as \"" + index + "\" or \"2*" +
                            index + " + 1\"");
        };
        std::string letters;
        for (const char c : text)
            if (c != ' ') letters += c;
        long long sum = 0;
        std::size_t at = 0;
        if (letters.empty()) return refuse();
        while (at < letters.size()) {
            long long factor = 1, number = 0;
            if (letters[at] == '+' || letters[at] == '-')
                factor = letters[at++] == '-' ? -1 : 1;
            else if (at > 0)
                return refuse();
            const std::size_t digits = at;
            while (at < letters.size() && letters[at] >= '0' && letters[at] <= '9' && at - digits < 9)
                number = 10 * number + (letters[at++] - '0');
            const bool has_number = at > digits, times = has_number && at < letters.size() && letters[at] == '*';
            if (times) ++at;
            const bool has_index = (times || !has_number) && letters.compare(at, index.size(), index) == 0;
            if (has_index) at += index.size();
            if (!has_index && (times || !has_number)) return refuse();
            sum += factor * (has_number ? number : 1) * (has_index ? static_cast<long long>(value) : 1);
        }
        return sum;
    }

    /// A list of whole numbers, or of lists of whole numbers.
    IndexList indices(const toml::node& node, const std::string& what) const {
        IndexList list;
        list.place = place_of(node);
        const auto integer = [&](const toml::node& n) {
            if (n.is_string() && !index_.empty()) return index_number(n, what);
            if (!n.is_integer())
                throw Error(what + " contains " + (n.is_number() ? "a number that is not an integer" : type_name(n)),
                            place_of(n), "give the numbers of points as integers");
            return static_cast<long long>(n.as_integer()->get());
        };
        if (!node.is_array()) wrong_type(node, what, "a list");
        for (const toml::node& item : *node.as_array()) {
            std::vector<long long> row;
            if (const toml::array* inner = item.as_array())
                for (const toml::node& n : *inner) row.push_back(integer(n));
            else
                row.push_back(integer(item));
            list.rows.push_back(std::move(row));
            list.places.push_back(place_of(item));
        }
        return list;
    }

    // --- blocks ---

    void system(const toml::table& t) {
        const std::string where = "[system]";
        check_keys(t, where, "system");
        d_.name = string(t, "name", where);
        d_.q = names(t, "q", where);
        d_.T = optional_field(t, "T", where);
        d_.U = optional_field(t, "U", where);
        d_.R = optional_field(t, "R", where);
        d_.f = entries(t, "f", where);
        units(t, where);
    }

    /// `unit` of [system]. Its names are coordinates or quantities of `unit_quantities`.
    void units(const toml::table& parent, const std::string& where) {
        const toml::node* node = parent.get("unit");
        if (node == nullptr) return;
        const toml::table* t = node->as_table();
        if (t == nullptr) wrong_type(*node, "unit of " + where, "a table such as { x = \"m\", phi = \"rad\" }");
        std::vector<std::string> allowed(unit_quantities.begin(), unit_quantities.end());
        for (const Coordinate& c : d_.q) allowed.push_back(c.name);
        for (const auto& [key, value] : *t) {
            const std::string name(key.str());
            if (std::find(allowed.begin(), allowed.end(), name) == allowed.end())
                throw Error("unit of " + where + " names '" + name + "', which is no coordinate",
                            place_of(key.source()), did_you_mean(name, allowed));
            if (!value.is_string()) wrong_type(value, "the unit of '" + name + "'", "a text such as \"m\"");
            d_.units.push_back({name, value.as_string()->get(), place_of(value)});
        }
    }

    /// "contact 'left'", or "contact" if it has no name.
    std::string label(const toml::table& t, const std::string& block) const {
        const std::string name = string(t, "name", block);
        return name.empty() ? block : block + " '" + name + "'";
    }

    void contact(const toml::table& t) {
        ContactDescription c;
        const std::string where = label(t, "contact");
        check_keys(t, where, "contact");
        c.place = place_of(t);
        c.name = string(t, "name", where);
        c.gN = optional_field(t, "gN", where);
        c.condition = optional_field(t, "if", where);
        c.gammaT = fields(t, "gammaT", where);
        c.mu = fields(t, "mu", where);
        c.mu_static = optional_field(t, "mu_static", where);
        c.eN = optional_field(t, "eN", where);
        c.eT = optional_field(t, "eT", where);
        c.c = optional_field(t, "c", where);
        c.radius = optional_field(t, "radius", where);
        c.radii = fields(t, "radii", where);
        choice(t, "impact", where, c.impact);
        choice(t, "friction", where, c.friction);
        d_.contacts.push_back(std::move(c));
    }

    void constraint(const toml::table& t) {
        ConstraintDescription c;
        const std::string where = label(t, "constraint");
        check_keys(t, where, "constraint");
        c.place = place_of(t);
        c.name = string(t, "name", where);
        c.g = optional_field(t, "g", where);
        c.gamma = optional_field(t, "gamma", where);
        c.gammaT = fields(t, "gammaT", where);
        c.mu = fields(t, "mu", where);
        c.mu_static = optional_field(t, "mu_static", where);
        d_.constraints.push_back(std::move(c));
    }

    void slider(const toml::table& t) {
        SliderDescription s;
        const std::string where = label(t, "slider");
        check_keys(t, where, "slider");
        s.place = place_of(t);
        s.name = string(t, "name", where);
        s.gammaT = fields(t, "gammaT", where);
        s.mu = fields(t, "mu", where);
        s.mu_static = optional_field(t, "mu_static", where);
        s.FN = optional_field(t, "FN", where);
        s.eT = optional_field(t, "eT", where);
        d_.sliders.push_back(std::move(s));
    }

    void clutch(const toml::table& t) {
        const std::string where = label(t, "clutch");
        check_keys(t, where, "clutch");
        d_.clutches.push_back({string(t, "name", where), optional_field(t, "gamma", where), place_of(t)});
    }

    void jump(const toml::table& t) {
        JumpDescription j;
        const std::string where = label(t, "jump");
        check_keys(t, where, "jump");
        j.place = place_of(t);
        j.name = string(t, "name", where);
        j.when = optional_field(t, "when", where);
        choice(t, "direction", where, j.direction);
        j.condition = optional_field(t, "if", where);
        j.q = entries(t, "q", where);
        j.u = entries(t, "u", where);
        d_.jumps.push_back(std::move(j));
    }

    /// A number, a list (the diagonal) or a list of lists (the matrix).
    Gain gain(const toml::table& t, const char* key, const std::string& where) const {
        const toml::array* list = t.get(key) != nullptr ? t.get(key)->as_array() : nullptr;
        return Gain{rows_of(t, key, where), list != nullptr && !list->empty() && (*list)[0].is_array()};
    }

    void control(const toml::table& t) {
        ControlDescription c;
        const std::string where = "[control]";
        check_keys(t, where, "control");
        c.place = place_of(t);
        c.actuated = names(t, "actuated", where);
        c.Kp = gain(t, "Kp", where);
        c.Kv = gain(t, "Kv", where);
        c.reference = entries(t, "reference", where);
        c.feedforward = entries(t, "feedforward", where);
        const toml::node* const saturation = t.get("saturation");
        if (saturation != nullptr && saturation->is_table())
            c.saturation_of = entries(t, "saturation", where);
        else
            c.saturation = optional_field(t, "saturation", where);
        c.shaping = optional_field(t, "shaping", where);
        choice(t, "velocity", where, c.velocity);
        c.bandwidth = optional_field(t, "bandwidth", where);
        c.period = optional_field(t, "period", where);
        d_.control = std::move(c);
    }

    void penalty(const toml::table& t) {
        PenaltyDescription p;
        const std::string where = "[penalty]";
        check_keys(t, where, "penalty");
        p.place = place_of(t);
        const auto read = [&](const char* key, Field& common, std::vector<Entry>& each) {
            const toml::node* node = t.get(key);
            if (node != nullptr && node->is_table())
                each = entries(t, key, where);
            else
                common = optional_field(t, key, where);
        };
        read("k", p.k, p.k_of);
        read("d", p.d, p.d_of);
        const auto read_matrix = [&](const char* key, Gain& common, std::vector<ContactMatrix>& each) {
            const toml::node* node = t.get(key);
            if (node == nullptr || !node->is_table()) {
                common = gain(t, key, where);
                return;
            }
            const toml::table& by_contact = *node->as_table();
            for (const auto& [contact, matrix] : by_contact) {
                const std::string name(contact.str());
                each.push_back({name, gain(by_contact, name.c_str(), std::string(key) + " of " + where),
                                place_of(contact.source())});
            }
        };
        read_matrix("D", p.D, p.D_of);
        read_matrix("D_hat", p.D_hat, p.D_hat_of);
        d_.penalty = std::move(p);
    }

    void outputs(const toml::table& t) {
        for (const auto& [key, node] : t) {
            OutputDescription o;
            o.name = std::string(key.str());
            o.place = place_of(key.source());
            const std::string where = "'" + o.name + "' of [output]";
            if (const toml::table* entry = node.as_table()) {
                check_keys(*entry, where, "output");
                o.value = optional_field(*entry, "value", where);
                o.unit = string(*entry, "unit", where);
                if (!o.value.given) throw Error(where + " has no value", o.place, "add value = \"...\"");
            } else {
                o.value = field(node, where);
            }
            d_.outputs.push_back(std::move(o));
        }
        // The library sorts keys; the order of the file is that of their places.
        std::stable_sort(d_.outputs.begin(), d_.outputs.end(), [](const auto& a, const auto& b) {
            return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
        });
    }

    void perturbation(const toml::table& t) {
        PerturbationDescription p;
        const std::string where = "[perturbation]";
        check_keys(t, where, "perturbation");
        p.place = place_of(t);
        p.delta = entries(t, "delta", where);
        p.eta = entries(t, "eta", where);
        p.theta = entries(t, "theta", where);
        if (const toml::node* node = t.get("initial")) {
            const toml::table* inner = node->as_table();
            if (inner == nullptr) wrong_type(*node, "initial of " + where, "a table { q = {...}, u = {...} }");
            check_keys(*inner, "initial of " + where, "perturbation.initial");
            p.initial_q = entries(*inner, "q", "initial of " + where);
            p.initial_u = entries(*inner, "u", "initial of " + where);
        }
        d_.perturbation = std::move(p);
    }

    void initial(const toml::table& t) {
        check_keys(t, "[initial]", "initial");
        d_.initial = {entries(t, "q", "[initial]"), entries(t, "u", "[initial]"), place_of(t)};
    }

    void simulate(const toml::table& t) {
        const std::string where = "[simulate]";
        check_keys(t, where, "simulate");
        SimulateDescription& s = d_.simulate;
        s.t_end = optional_field(t, "t_end", where);
        s.h = optional_field(t, "h", where);
        s.rtol = optional_field(t, "rtol", where);
        s.atol = optional_field(t, "atol", where);
        choice(t, "method", where, s.method);
    }

    void certify(const toml::table& t) {
        const std::string where = "[certify]";
        check_keys(t, where, "certify");
        d_.certify = {fields(t, "region", where), place_of(t)};
    }

    void points(const toml::table& t) {
        PointsDescription p;
        const std::string where = "[points]";
        check_keys(t, where, "points");
        p.place = place_of(t);
        if (const toml::node* node = t.get("generate")) {
            const toml::table* g = node->as_table();
            if (g == nullptr) wrong_type(*node, "generate of " + where, "a table { kind = \"hexahedra-row\", ... }");
            const std::string inner = "generate of " + where;
            check_keys(*g, inner, "points.generate");
            Choice kind{"", place_of(*node)};
            choice(*g, "kind", inner, kind);
            if (kind.word.empty()) throw Error(inner + " has no kind", kind.place, "add kind = \"hexahedra-row\"");
            if (kind.word != "hexahedra-row")
                throw Error("unknown kind '" + kind.word + "' in " + inner, kind.place, "allowed is hexahedra-row");
            HexahedraRow row{optional_field(*g, "segments", inner), optional_field(*g, "length", inner),
                             fields(*g, "width", inner), fields(*g, "origin", inner), place_of(*node)};
            if (!row.segments.given || !row.length.given)
                throw Error(inner + " needs segments and length", row.place,
                            "add " + std::string(row.segments.given ? "length" : "segments"));
            p.generate = std::move(row);
        }
        p.positions = rows_of(t, "positions", where);
        if (const toml::node* node = t.get("mass")) {
            if (const toml::table* m = node->as_table()) {
                check_keys(*m, "mass of " + where, "points.mass");
                p.total_mass = optional_field(*m, "total", "mass of " + where);
                if (!p.total_mass.given)
                    throw Error("mass of " + where + " has no total", place_of(*node), "add total = ...");
                choice(*m, "distribution", "mass of " + where, p.distribution);
            } else {
                p.masses = fields(t, "mass", where);
            }
        }
        p.velocity = rows_of(t, "velocity", where);
        p.shear = fields(t, "shear", where);
        p.gravity = fields(t, "gravity", where);
        d_.points = std::move(p);
    }

    void springs(const toml::table& t) {
        SpringsDescription s;
        const std::string where = "[[springs]]";
        check_keys(t, where, "springs");
        s.place = place_of(t);
        choice(t, "over", where, s.over);
        if (const toml::node* node = t.get("pairs")) s.pairs = indices(*node, "pairs of " + where);
        s.k = optional_field(t, "k", where);
        s.c = optional_field(t, "c", where);
        s.rest = optional_field(t, "rest", where);
        if (s.rest.given && s.rest.source.text == "initial") s.rest = Field{};
        d_.springs.push_back(std::move(s));
    }

    void volume(const toml::table& t) {
        VolumeDescription v;
        const std::string where = label(t, "volume");
        check_keys(t, where, "volume");
        v.place = place_of(t);
        v.name = string(t, "name", where);
        if (const toml::node* node = t.get("cells")) {
            if (node->is_string() && node->as_string()->get() == "all")
                v.all = true;
            else if (node->is_string())
                throw Error("cells of " + where + " is \"" + node->as_string()->get() + "\"", place_of(*node),
                            "write \"all\" or a list");
            else
                v.all = false, v.cells = indices(*node, "cells of " + where);
        }
        d_.volumes.push_back(std::move(v));
    }

    void obstacle(const toml::table& t) {
        ObstacleDescription o;
        const std::string where = label(t, "obstacle");
        check_keys(t, where, "obstacle");
        o.place = place_of(t);
        o.name = string(t, "name", where);
        o.normal = fields(t, "normal", where);
        o.offset = optional_field(t, "offset", where);
        o.mu = fields(t, "mu", where);
        o.eN = optional_field(t, "eN", where);
        o.eT = optional_field(t, "eT", where);
        o.c = optional_field(t, "c", where);
        choice(t, "impact", where, o.impact);
        d_.obstacles.push_back(std::move(o));
    }

    void draw(const toml::table& t) {
        const std::string where = "[draw]";
        check_keys(t, where, "draw");
        DrawDescription d;
        d.place = place_of(t);
        d.view = fields(t, "view", where);
        for (const char* const key : {"segments", "springs", "circles", "polygons", "traces"})
            for_each(t, key, [&](const toml::table& s) { d.shapes.push_back(shape(s, key)); });
        if (const toml::node* node = t.get("contacts")) {
            const toml::table* marks = node->as_table();
            if (marks == nullptr) wrong_type(*node, "contacts of " + where, "a table { name = { at = [...] } }");
            for (const auto& [key, item] : *marks) {
                const std::string what = "contact '" + std::string(key.str()) + "' in " + where;
                const toml::table* m = item.as_table();
                if (m == nullptr) wrong_type(item, what, "a table { at = [...], normal = [...] }");
                check_keys(*m, what, "draw.contacts");
                d.contacts.push_back({std::string(key.str()), fields(*m, "at", what), fields(*m, "normal", what),
                                      fields(*m, "tangent", what), place_of(key.source())});
            }
        }
        d_.draw = std::move(d);
    }

    /// A shape of [draw]. `key` is the key of its list, the kind of shape in the plural: "segments".
    ShapeDescription shape(const toml::table& t, const std::string& key) const {
        ShapeDescription s;
        s.kind = {key.substr(0, key.size() - 1), place_of(t)};
        s.place = place_of(t);
        const std::string where = "a " + s.kind.word + " of [draw]";
        const bool line = s.kind.word == "segment" || s.kind.word == "spring";
        check_keys(t, where, "draw." + key);
        const std::vector<std::string> needed = line                       ? std::vector<std::string>{"from", "to"}
                                                : s.kind.word == "circle"  ? std::vector<std::string>{"at", "radius"}
                                                : s.kind.word == "polygon" ? std::vector<std::string>{"points"}
                                                                           : std::vector<std::string>{"at"};
        for (const std::string& k : needed)
            if (t.get(k) == nullptr) throw Error(where + " has no " + k, s.place, "add " + k + " = ...");
        if (s.kind.word == "polygon") {
            s.points = rows_of(t, "points", where);
            if (s.points.size() < 3)
                throw Error("points of " + where + " are " + std::to_string(s.points.size()), s.place,
                            "give at least three, [[x, y], ...]");
        } else {
            for (const std::string& k : needed)
                if (k != "radius") s.points.push_back(fields(t, k.c_str(), where));
        }
        s.radius = optional_field(t, "radius", where);
        s.angle = optional_field(t, "angle", where);
        choice(t, "style", where, s.style);
        return s;
    }

    std::string_view text_;
    std::string file_;
    std::vector<std::pair<std::string, double>> index_;  // of the repeated block that is being read
    std::vector<std::size_t> line_start_;
    Description d_;
};

}  // namespace

model::Description parse_model(std::string_view text, const std::string& file) {
    if (text.size() > largest_file)
        throw Error("the file is larger than 256 MiB", {file, 0, 0}, "write the model in C++");
    limit_dotted_keys(text, file);
    return Reader(text, file).read();
}

ModelFile read_model_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw Error("cannot be opened", {path, 0, 0}, "check the path");
    if (std::filesystem::is_directory(path))
        throw Error("cannot be read: it is a folder", {path, 0, 0}, "give a model file");
    std::string text;
    std::array<char, 1U << 16U> piece{};
    do {  // piece by piece, because a device can be endless
        in.read(piece.data(), piece.size());
        text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    } while (in && text.size() <= largest_file);
    if (in.bad()) throw Error("cannot be read", {path, 0, 0}, "is it a file?");
    model::Description description = parse_model(text, path);
    return {path, std::move(text), std::move(description)};
}

model::Description read_model(const std::string& path) { return read_model_file(path).description; }

}  // namespace saltus::io
