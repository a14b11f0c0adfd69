// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/model/model_schema.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <string_view>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/io/model/model_keys.hpp"

namespace saltus::io {

namespace {

using Json = nlohmann::ordered_json;

Json type(const char* name) { return {{"type", name}}; }

/// An expression is a text; a number may be given instead.
Json expression() { return {{"type", {"string", "number"}}}; }

Json list_of(Json item) { return {{"type", "array"}, {"items", std::move(item)}}; }

/// A list of `count` items of one type.
Json several(int count, Json item) {
    Json list = list_of(std::move(item));
    list["minItems"] = count;
    list["maxItems"] = count;
    return list;
}

/// A point of the plane or of space.
Json point() {
    Json list = list_of(expression());
    list["minItems"] = 2;
    list["maxItems"] = 3;
    return list;
}

Json table_of(Json value) { return {{"type", "object"}, {"additionalProperties", std::move(value)}}; }

Json either(Json first, Json second) { return {{"anyOf", {std::move(first), std::move(second)}}}; }

Json reference(std::string_view block) { return {{"$ref", "#/$defs/" + std::string(block)}}; }

/// Schemas of the values, by the words of ModelKey::type.
const std::map<std::string_view, Json>& schemas_by_type() {
    const Json e = expression(), vector = several(3, e), matrix = either(e, list_of(either(e, list_of(e)))),
               corner_or_cell = either(type("integer"), list_of(type("integer")));
    static const std::map<std::string_view, Json> schemas{
        {"text", type("string")},
        {"number", expression()},
        {"whole number", type("integer")},
        {"expression", e},
        {"inequality", type("string")},
        {"inequality, or a list", either(type("string"), list_of(type("string")))},
        {"expression, or a list", either(e, list_of(e))},
        {"expression, or two", either(e, several(2, e))},
        {"two expressions", several(2, e)},
        {"list of names", list_of(type("string"))},
        {"list of coordinates", list_of(type("string"))},
        {"table of texts", table_of(type("string"))},
        {"table by coordinate", table_of(e)},
        {"table by constraint", table_of(e)},
        {"table by contact or obstacle", table_of(e)},
        {"expression, or a table by contact", either(e, table_of(e))},
        {"expression, or a table by coordinate", either(e, table_of(e))},
        {"number, list or matrix", matrix},
        {"number, list or matrix, or a table of them by contact", either(matrix, table_of(matrix))},
        {"point", point()},
        {"list of points", list_of(point())},
        {"`[a, b]`", several(2, e)},
        {"`[y, z]`", several(2, e)},
        {"`[x, y, z]`", vector},
        {"`[xmin, ymin, xmax, ymax]`", several(4, e)},
        {"`[x, y, z]`, or one for each point", either(vector, list_of(vector))},
        {"list of `[x, y, z]`", list_of(vector)},
        {"list of `[i, j]`", list_of(several(2, Json{{"type", {"integer", "string"}}}))},
        {"`\"initial\"`, or an expression", e},
        {"`\"all\"`, or a list", either(Json{{"const", "all"}}, list_of(corner_or_cell))},
    };
    return schemas;
}

/// The words that a value may be: those between backticks in the meaning, except names of other keys ("with `radius`").
Json words(std::string_view meaning) {
    const std::string text = std::regex_replace(std::string(meaning), std::regex("with `[^`]*`"), "");
    static const std::regex word("`([^`]+)`");
    Json allowed = Json::array();
    for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) allowed.push_back((*at)[1]);
    return {{"enum", allowed}};
}

bool has_block(std::string_view name) {
    const auto blocks = model_blocks();
    return std::any_of(blocks.begin(), blocks.end(), [&](const ModelBlock& b) { return b.name == name; });
}

/// The schema of a value that is a table, tables, or a table by name. A block with the name of the key has its keys.
std::optional<Json> schema_of_table(const ModelBlock& block, const ModelKey& key) {
    const std::string name =
        block.name == "file" ? std::string(key.name) : std::string(block.name) + "." + std::string(key.name);
    const bool known = has_block(name);
    if (key.type == "tables") return list_of(reference(name));
    if (key.type == "table, expression, or a list")
        return either(reference(name), either(expression(), list_of(expression())));
    if (key.type == "table by contact, constraint or slider") return table_of(reference(name));
    if (key.type != "table") return std::nullopt;
    if (name == "output") return table_of(either(expression(), reference(name)));
    return known ? reference(name) : table_of(expression());
}

Json schema_of(const ModelBlock& block, const ModelKey& key) {
    std::optional<Json> schema = schema_of_table(block, key);
    if (!schema && key.type == "word") schema = words(key.meaning);
    if (!schema) {
        const auto found = schemas_by_type().find(key.type);
        SALTUS_EXPECT(found != schemas_by_type().end());  // a new type of value needs a row in schemas_by_type
        schema = found->second;
    }
    std::string description(key.meaning);
    if (!key.default_value.empty() && key.default_value != "required")
        description += (description.empty() ? "default: " : "; default: ") + std::string(key.default_value);
    if (!description.empty()) (*schema)["description"] = description;
    return *schema;
}

Json schema_of(const ModelBlock& block) {
    Json out{{"type", "object"}, {"description", block.title}, {"additionalProperties", false}};
    Json properties = Json::object(), required_keys = Json::array();
    for (const ModelKey& key : block.keys) {
        properties[std::string(key.name)] = schema_of(block, key);
        if (key.default_value == "required") required_keys.push_back(key.name);
    }
    out["properties"] = std::move(properties);
    if (!required_keys.empty()) out["required"] = std::move(required_keys);
    return out;
}

}  // namespace

std::string model_schema() {
    Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "Saltus model file, version 1"}};
    Json definitions = Json::object();
    for (const ModelBlock& block : model_blocks()) {
        if (block.name == "file")
            schema.update(schema_of(block));
        else
            definitions[std::string(block.name)] = schema_of(block);
    }
    schema["$defs"] = std::move(definitions);
    return schema.dump(2) + "\n";
}

}  // namespace saltus::io
