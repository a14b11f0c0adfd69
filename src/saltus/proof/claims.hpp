// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "saltus/proof/box.hpp"
#include "saltus/proof/certificate.hpp"

namespace saltus::proof {

/// A part of a claim as a value: a text, an exact number, a whole number, a list, or a record with named members.
/// docs/certificate-format.md defines which claims exist and what their parts mean.
class ClaimValue {
public:
    using List = std::vector<ClaimValue>;
    using Record = std::vector<std::pair<std::string, ClaimValue>>;

    ClaimValue() = default;  ///< no value
    ClaimValue(std::string text) : value_(std::move(text)) {}
    ClaimValue(const char* text) : value_(std::string(text)) {}
    ClaimValue(double number) : value_(number) {}  ///< stands for exactly this number
    ClaimValue(int whole) : value_(whole) {}
    ClaimValue(List list) : value_(std::move(list)) {}
    ClaimValue(Record record) : value_(std::move(record)) {}

    using Content = std::variant<std::monostate, std::string, double, int, List, Record>;
    const Content& content() const { return value_; }

private:
    Content value_;
};

ClaimValue claim_numbers(const std::vector<double>& numbers);
ClaimValue claim_wholes(const std::vector<int>& numbers);
ClaimValue claim_texts(const std::vector<std::string>& texts);
ClaimValue claim_box(const Box& box);

/// A tree that proves a property on a box (docs/certificate-format.md, "Trees").
ClaimValue split_node(std::size_t axis, double at, ClaimValue low, ClaimValue high);

/// One condition of a theorem with the claims that prove it. Without claims the condition is not certified, and `why`
/// says what is missing.
struct CertifiedCondition {
    std::string id, text;
    Verdict verdict = Verdict::not_examined;  ///< as in the table of the command
    bool certified = false;
    std::string why;
    std::vector<ClaimValue> claims;
};

/// What a certificate file states and shows, without the model.
struct CertifiedStatement {
    std::string theorem, basis, statement, verdict, grade;
    std::vector<std::string> assumptions;
    std::vector<std::string> coordinates;
    Box domain;
    double reference = 0.0;                ///< U_ref
    double level = Interval::infinity;     ///< ρ
    std::vector<std::string> I_C;          ///< names of contacts
    std::optional<std::vector<Box>> sets;  ///< boxes of the sets of a search for equilibria
    std::optional<Box> velocities;         ///< box of the velocities of a motion in one mode, or of a function's region
    std::vector<std::pair<std::string, std::string>> mode;     ///< the states of its elements, by name
    std::vector<std::pair<std::string, std::string>> sliding;  ///< sliders that slide for ever, with their directions
    std::string V;  ///< text of an energy V = factor (T + W) with a W in the place of U, or of a function; empty: T + U
    double factor = 1.0;                 ///< of an energy V
    std::vector<double> point;           ///< the equilibrium of the theorem "function"
    std::vector<std::vector<double>> P;  ///< of V = zᵀPz in one mode that attracts, with the level `level`
    std::vector<CertifiedCondition> conditions;

    /// Every condition is certified or assumed.
    bool certified() const;
};

/// A statement none of whose conditions is certified, for the same reason `why`.
CertifiedStatement uncertified(const Certificate& certificate, const std::vector<std::string>& coordinates,
                               const std::string& why);

}  // namespace saltus::proof
