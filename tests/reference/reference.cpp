// SPDX-License-Identifier: Apache-2.0
#include "reference/reference.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

namespace saltus::test::reference {
namespace {

using nlohmann::json;

/// Levenshtein's distance: how many characters must be inserted, removed or replaced.
std::size_t edits(const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

std::string most_similar(const json& object, const std::string& name) {
    std::string best;
    std::size_t fewest = std::string::npos;
    for (const auto& member : object.items()) {
        const std::size_t count = edits(name, member.key());
        if (count < fewest) fewest = count, best = member.key();
    }
    return best;
}

/// The whole text as a decimal number; anything left over is an error.
double decimal(const std::string& text) {
    std::size_t used = 0;
    const double value = std::stod(text, &used);
    if (used != text.size()) throw std::invalid_argument(text);
    return value;
}

}  // namespace

void Value::fail(const std::string& what) const { throw std::runtime_error("tests/reference/" + path_ + " " + what); }

Value Value::operator[](const char* name) const {
    if (!node_->is_object()) fail("is not an object; it has no '" + std::string(name) + "'");
    const auto member = node_->find(name);
    if (member == node_->end())
        fail("has no '" + std::string(name) + "'; the most similar name is '" + most_similar(*node_, name) + "'");
    return {&*member, path_ + (path_.back() == ':' ? " " : "/") + name};
}

bool Value::has(const char* name) const {
    const auto member = node_->find(name);
    return member != node_->end() && !member->is_null();
}

Value Value::operator[](std::size_t index) const {
    if (!node_->is_array() || index >= node_->size()) fail("has no element " + std::to_string(index));
    return {&(*node_)[index], path_ + "[" + std::to_string(index) + "]"};
}

std::vector<Value> Value::items() const {
    std::vector<Value> list;
    for (std::size_t i = 0; i < size(); ++i) list.push_back((*this)[i]);
    return list;
}

std::size_t Value::size() const {
    if (!node_->is_array()) fail("is not a list");
    return node_->size();
}

double Value::number() const {
    if (node_->is_number()) return node_->get<double>();
    if (!node_->is_string()) fail("is not a number");
    const auto& text = node_->get_ref<const std::string&>();
    try {
        const std::size_t bar = text.find('/');
        if (bar == std::string::npos) return decimal(text);
        return decimal(text.substr(0, bar)) / decimal(text.substr(bar + 1));
    } catch (const std::logic_error&) {  // std::stod: no number, or one that is out of range
        fail("is not a number: '" + text + "'");
    }
}

double Value::number_or(double otherwise) const { return node_->is_null() ? otherwise : number(); }

bool Value::truth() const {
    if (!node_->is_boolean()) fail("is neither true nor false");
    return node_->get<bool>();
}

std::string Value::text() const {
    if (!node_->is_string()) fail("is not a text");
    return node_->get<std::string>();
}

std::vector<double> Value::numbers() const {
    std::vector<double> list;
    for (const Value& v : items()) list.push_back(v.number());
    return list;
}

std::vector<std::vector<double>> Value::rows() const {
    std::vector<std::vector<double>> list;
    for (const Value& v : items()) list.push_back(v.numbers());
    return list;
}

double Value::tolerance() const { return (*this)["tolerance"]; }

Value file(const std::string& name) {
    static std::map<std::string, json> files;
    static std::mutex reading;
    const std::lock_guard lock(reading);
    const auto known = files.find(name);
    if (known != files.end()) return {&known->second, name + ".json:"};
    const std::string path = std::string(SALTUS_SOURCE_DIR "/tests/reference/") + name + ".json";
    std::ifstream in(path);
    if (!in) throw std::runtime_error("cannot read the reference values " + path);
    return {&files.emplace(name, json::parse(in)).first->second, name + ".json:"};
}

Value entry(const std::string& name) { return file(name.substr(0, name.find('_')))[name]; }

}  // namespace saltus::test::reference
