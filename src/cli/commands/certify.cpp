// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/certify.hpp"

#include <chrono>
#include <functional>

#include "cli/assignments.hpp"
#include "cli/interrupt.hpp"
#include "saltus/base/text.hpp"
#include "saltus/control/regulation/regulation.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/report/certify_report.hpp"
#include "saltus/io/report/regulation_report.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "saltus/stability/certify/certify.hpp"

namespace saltus::cli {

namespace {

/// The value of --theorem; std::nullopt if it was not given.
std::optional<proof::Theorem> requested_theorem(const std::string& name) {
    if (name.empty()) return std::nullopt;
    const std::optional<proof::Theorem> theorem = proof::theorem_named(name);
    if (!theorem)
        throw Error("unknown theorem '" + name + "'", {"--theorem", 0, 0}, did_you_mean(name, proof::theorem_names()));
    return theorem;
}

/// A closed loop whose equilibria are points is what regulation is about.
bool regulates(const model::Model& m) {
    return m.control && control::statics_refusal(m, control::ContactModel::rigid).empty() && m.constraints.empty();
}

/// True after an interrupt or after the time limit of the command.
std::function<bool()> stop_of(const CertifyCommand& c) {
    const auto start = std::chrono::steady_clock::now();
    return [start, limit = c.seconds] {
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        return interrupt_asked() || (limit > 0.0 && elapsed.count() > limit);
    };
}

int exit_code() { return interrupt_asked() ? interrupted : done; }

int certify_regulation(const CertifyCommand& c, const model::Model& m, io::ResultFolder* out) {
    control::RegulationOptions options;
    options.stop = stop_of(c);
    std::vector<double> at = m.q0;
    if (assign(c.at, "--at", m.coordinates, at)) options.at = at;
    options.budget = c.budget;
    io::RegulationReport report{m.name, m.coordinates, {}, control::certify_regulation(m, options)};
    for (const model::Contact& contact : m.contacts) report.contacts.push_back(contact.name);
    const auto json = [&] { return io::regulation_json(report); };
    deliver(c.common, out,
            {[&](io::ResultFolder& folder) { folder.add("certify.json", json()); }, json,
             [&] { return io::regulation_text(report); }});
    return exit_code();
}

}  // namespace

int certify(const CertifyCommand& c) {
    const std::optional<proof::Theorem> theorem = requested_theorem(c.theorem);
    if (c.budget < 1)
        throw Error("the budget is " + std::to_string(c.budget) + ", it must be at least 1", {"--budget", 0, 0});
    if (!(c.seconds >= 0.0)) throw Error("the time limit must not be negative", {"--seconds", 0, 0});
    // The initial state is where the search for the equilibrium begins, no more.
    Common common = c.common;
    common.project_initial = true;
    const model::Model m = load(common).model;
    const auto out = open_results(c.common, "certify", {c.common.model});
    if (theorem ? *theorem == proof::Theorem::regulation : regulates(m)) return certify_regulation(c, m, out.get());
    stability::CertifyOptions options;
    options.stop = stop_of(c);
    std::vector<double> at = m.q0;
    if (assign(c.at, "--at", m.coordinates, at)) options.at = at;
    options.budget = c.budget;
    io::CertifyReport report{m.name, m.coordinates, stability::certify(m, theorem, options)};
    const auto json = [&] { return io::certify_json(report); };
    deliver(c.common, out.get(),
            {[&](io::ResultFolder& folder) { folder.add("certify.json", json()); }, json,
             [&] { return io::certify_text(report); }});
    return exit_code();
}

}  // namespace saltus::cli
