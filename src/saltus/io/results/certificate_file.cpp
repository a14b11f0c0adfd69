// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/certificate_file.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/plain_text.hpp"
#include "saltus/base/text.hpp"
#include "saltus/base/version.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/report/detail/json.hpp"
#include "saltus/io/results/detail/sha256.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"

namespace saltus::io {

using json::Json;
using proof::ClaimValue;

namespace {

constexpr int format_version = 1;

/// An exact number: hexadecimal, "inf" or "-inf".
std::string exact(double x) {
    if (std::isinf(x)) return x > 0.0 ? "inf" : "-inf";
    return hexadecimal_text(x);
}

Json value(const ClaimValue& v) {
    struct Writer {
        Json operator()(std::monostate) const { return nullptr; }
        Json operator()(const std::string& text) const { return text; }
        Json operator()(double x) const { return exact(x); }
        Json operator()(int k) const { return k; }
        Json operator()(const ClaimValue::List& list) const {
            Json j = Json::array();
            for (const ClaimValue& x : list) j.push_back(value(x));
            return j;
        }
        Json operator()(const ClaimValue::Record& record) const {
            Json j = Json::object();
            for (const auto& [name, x] : record) j[name] = value(x);
            return j;
        }
    };
    return std::visit(Writer{}, v.content());
}

Json model_part(const LoadedModel& loaded) {
    Json overrides = Json::object(), parameters = Json::object();
    for (const model::Parameter& p : loaded.model.settings->parameters) parameters[p.name] = exact(p.value);
    // Initial values, which --set may change too, do not belong to the statement.
    for (const auto& [name, text] : loaded.build.set)
        if (parameters.contains(name)) overrides[name] = text;
    return {{"name", loaded.model.name},
            {"text", loaded.file.text},
            {"sha256", sha256(loaded.file.text)},
            {"overrides", std::move(overrides)},
            {"parameters", std::move(parameters)}};
}

}  // namespace

std::string certificate_json(const LoadedModel& loaded, const proof::CertifiedStatement& s) {
    Json setting{{"coordinates", s.coordinates},
                 {"domain", value(proof::claim_box(s.domain))},
                 {"reference", exact(s.reference)},
                 {"level", exact(s.level)},
                 {"I_C", s.I_C}};
    if (s.sets) {
        Json sets = Json::array();
        for (const proof::Box& box : *s.sets) sets.push_back(value(proof::claim_box(box)));
        setting["sets"] = std::move(sets);
    }
    const auto states = [](const std::vector<std::pair<std::string, std::string>>& list) {
        Json j = Json::object();
        for (const auto& [name, state] : list) j[name] = state;
        return j;
    };
    const bool function = !s.point.empty();
    if (s.velocities) setting["velocities"] = value(proof::claim_box(*s.velocities));
    if (s.velocities && !function) setting["mode"] = states(s.mode);
    if (!s.sliding.empty()) setting["sliding"] = states(s.sliding);
    if (!s.V.empty()) setting["V"] = s.V;
    if (function)
        setting["point"] = value(proof::claim_numbers(s.point));
    else if (!s.V.empty())
        setting["factor"] = exact(s.factor);
    Json conditions = Json::array();
    for (const proof::CertifiedCondition& c : s.conditions) {
        Json claims = Json::array();
        for (const ClaimValue& claim : c.claims) claims.push_back(value(claim));
        conditions.push_back({{"id", c.id},
                              {"text", c.text},
                              {"verdict", to_string(c.verdict)},
                              {"certified", c.certified},
                              {"why", c.why},
                              {"claims", std::move(claims)}});
    }
    const Json document{{"format", "saltus certificate"},
                        {"version", format_version},
                        {"program", "saltus " + library_version()},
                        {"model", model_part(loaded)},
                        {"theorem", s.theorem},
                        {"basis", s.basis},
                        {"statement", s.statement},
                        {"verdict", s.verdict},
                        {"grade", s.grade},
                        {"certified", s.certified()},
                        {"assumptions", s.assumptions},
                        {"setting", std::move(setting)},
                        {"conditions", std::move(conditions)}};
    try {
        return document.dump() + "\n";
    } catch (const Json::exception&) {
        throw Error("the model file is not valid UTF-8, so that a certificate cannot repeat its text",
                    {loaded.file.path, 0, 0}, "save the file in UTF-8");
    }
}

std::string certificate_text(const proof::CertifiedStatement& s) {
    std::vector<std::string> shown, reasons;
    for (const proof::CertifiedCondition& c : s.conditions) {
        if (c.certified) shown.push_back(c.id);
        if (c.certified || c.verdict == proof::Verdict::assumed) continue;
        // Conditions that are not certified for the same reason stand together.
        const std::string reason = "not certified: " + c.why;
        if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) reasons.push_back(reason);
    }
    std::string text = shown.empty()       ? "no condition is certified"
                       : shown.size() == 1 ? "condition " + shown[0] + " is certified"
                                           : "conditions " + listing(shown) + " are certified";
    for (const std::string& reason : reasons) text += "; " + reason;
    if (s.velocities && s.point.empty() && std::isinf(s.level))
        text += "; the statement is about motions that begin next to the equilibrium";
    return text;
}

std::string written_text(const WrittenCertificate& w) {
    return w.file + ": " + (w.certified ? "all conditions are certified, " : "not all conditions are certified, ") +
           (w.checked == "not checked" ? "not checked independently" : w.checked + " by the independent checker");
}

}  // namespace saltus::io
