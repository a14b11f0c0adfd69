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
#include "saltus/model/model.hpp"
#include "saltus/stability/certify/certificate_grade.hpp"
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

/// True after an interrupt or the time limit of the command. Without a limit, searches end without a proof after a
/// minute; the conditions then say so.
std::function<bool()> stop_of(const CertifyCommand& c) {
    constexpr double default_search_time = 60.0;  // s
    const auto start = std::chrono::steady_clock::now();
    return [start, limited = c.common.seconds > 0.0] {
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        return interrupt_asked() || (!limited && elapsed.count() > default_search_time);
    };
}

/// The proofs did not react to the request to end.
[[noreturn]] void nothing_certified(const CertifyCommand& c, const model::Model& m) {
    deliver_nothing(c.common, m.name);
    tell("saltus: " + interrupt_reason() + "; nothing was certified");
    abandon(interrupted);
}

int exit_code_of(const CertificateOptions& options, const std::optional<io::WrittenCertificate>& written,
                 bool cut_short) {
    return rejected(options, written) ? failed : cut_short ? interrupted : done;
}

/// The claims that prove a certificate. Rows without claims are lowered to numerical.
proof::CertifiedStatement claims_of(const CertifyCommand& c, const io::LoadedModel& loaded,
                                    const std::function<bool()>& stop, proof::Certificate& certificate) {
    return stability::grade_by_claims(loaded.model, certificate,
                                      {c.budget, stop, c.V, stability::certificate_obstacle(loaded.file.description)});
}

int certify_regulation(const CertifyCommand& c, const io::LoadedModel& loaded, io::ResultFolder* out) {
    const model::Model& m = loaded.model;
    control::RegulationOptions options;
    options.stop = stop_of(c);
    std::vector<double> at = m.q0;
    if (assign(c.at, "--at", m.coordinates, at)) options.at = at;
    options.budget = c.budget;
    io::RegulationReport report{m.name, m.coordinates, {}, {}, {}};
    proof::CertifiedStatement claims;
    const auto certify = [&] {
        report.certificate = control::certify_regulation(m, options);
        claims = claims_of(c, loaded, options.stop, report.certificate.table);
    };
    if (!finishes(certify)) nothing_certified(c, m);
    for (const model::Contact& contact : m.contacts) report.contacts.push_back(contact.name);
    if (!c.certificate.file.empty()) report.written = write_certificate(c.certificate, c.common, loaded, claims);
    const bool cut_short = interrupt_asked();
    const auto json = [&] { return document_of(io::regulation_json(report), cut_short); };
    deliver(c.common, out,
            {[&](io::ResultFolder& folder) { folder.add("certify.json", json()); }, json,
             [&] { return io::regulation_text(report); }});
    return exit_code_of(c.certificate, report.written, cut_short);
}

}  // namespace

int certify(const CertifyCommand& c) {
    const std::optional<proof::Theorem> theorem = requested_theorem(c.theorem);
    if (c.budget < 1)
        throw Error("the budget is " + std::to_string(c.budget) + ", it must be at least 1", {"--budget", 0, 0});
    if (c.V_given && c.V.find_first_not_of(" \t") == std::string::npos)
        throw Error("--V is empty", {"--V", 0, 0}, "write a function of the state, such as \"T + U\"");
    prepare_certificate(c.certificate, c.common.out);
    // The initial state is where the search for the equilibrium begins, no more.
    Common common = c.common;
    common.project_initial = true;
    const io::LoadedModel loaded = load(common);
    const model::Model& m = loaded.model;
    const auto out = open_results(c.common, "certify", {c.common.model});
    listen_for_interrupts();
    if (theorem && *theorem == proof::Theorem::regulation && c.V_given)
        throw Error("--V is for attractivity and instability; regulation has its own function", {"--V", 0, 0},
                    "leave out --V, or ask for --theorem attractivity");
    if (theorem ? *theorem == proof::Theorem::regulation : !c.V_given && control::regulates(m))
        return certify_regulation(c, loaded, out.get());
    stability::CertifyOptions options;
    options.stop = stop_of(c);
    std::vector<double> at = m.q0;
    if (assign(c.at, "--at", m.coordinates, at)) options.at = at;
    options.budget = c.budget;
    options.V = c.V;
    io::CertifyReport report{m.name, m.coordinates, {}};
    proof::CertifiedStatement claims;
    const auto certify = [&] {
        report.certificate = stability::certify(m, theorem, options);
        claims = claims_of(c, loaded, options.stop, report.certificate);
    };
    if (!finishes(certify)) nothing_certified(c, m);
    if (!c.certificate.file.empty()) report.written = write_certificate(c.certificate, c.common, loaded, claims);
    const bool cut_short = interrupt_asked();
    const auto json = [&] { return document_of(io::certify_json(report), cut_short); };
    deliver(c.common, out.get(),
            {[&](io::ResultFolder& folder) { folder.add("certify.json", json()); }, json,
             [&] { return io::certify_text(report); }});
    return exit_code_of(c.certificate, report.written, cut_short);
}

}  // namespace saltus::cli
