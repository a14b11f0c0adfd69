// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

/// The values of tests/reference/*.json, which were computed without this library. README.md there describes them.
///
///     const Value entry = reference::entry("leine_beam_forces_paper");
///     for (const Value& row : entry["outputs"]["rows"].items())
///         EXPECT_NEAR(force, row["lambda_N1"], entry.tolerance());
///
/// A name that does not exist throws std::runtime_error. The message gives the file, the place and the most similar
/// name, and GoogleTest reports it as the failure of the test. For this reason a test reads values inside its body, not
/// in a global table.
namespace saltus::test::reference {

/// One place in a file of reference values: an object, a list, a number, a text or a truth value. A Value is a view;
/// the files stay in memory until the program ends.
class Value {
public:
    Value(const nlohmann::json* node, std::string path) : node_(node), path_(std::move(path)) {}

    /// The member of an object.
    Value operator[](const char* name) const;
    Value operator[](const std::string& name) const { return (*this)[name.c_str()]; }
    /// Whether an object has this member with a value other than null.
    bool has(const char* name) const;
    /// The element of a list, counted from 0.
    Value operator[](std::size_t index) const;
    Value operator[](int index) const { return (*this)[static_cast<std::size_t>(index)]; }
    /// All elements of a list.
    std::vector<Value> items() const;
    std::size_t size() const;

    /// The number. A text is read as a decimal number with any count of digits ("0.4515236409857309"), as a fraction
    /// ("-13/27"), or as "inf" or "-inf"; the result is the nearest double.
    double number() const;
    operator double() const { return number(); }  // NOLINT: numbers are used in place of literals
    /// The number, or `otherwise` if the file has null here: the quantity does not exist.
    double number_or(double otherwise) const;
    bool truth() const;
    std::string text() const;
    /// The numbers of a list, and of a list of lists.
    std::vector<double> numbers() const;
    std::vector<std::vector<double>> rows() const;

    /// The member "tolerance" of an entry: absolute for values up to 1, relative above.
    double tolerance() const;

private:
    [[noreturn]] void fail(const std::string& what) const;

    const nlohmann::json* node_;
    std::string path_;  ///< for messages: "leine.json: leine_prop4_A/outputs"
};

/// The whole file tests/reference/NAME.json.
Value file(const std::string& name);

/// The entry with this name. Its file is the part before the first underscore: "leine_prop4_A" is in leine.json.
Value entry(const std::string& name);

}  // namespace saltus::test::reference
