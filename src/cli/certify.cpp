// SPDX-License-Identifier: Apache-2.0
#include "cli/certify.hpp"

#include "cli/assignments.hpp"
#include "saltus/base/text.hpp"
#include "saltus/io/certify_report.hpp"
#include "saltus/io/files.hpp"
#include "saltus/stability/certify.hpp"

namespace saltus::cli {

namespace {

stability::Theorem theorem_of(const std::string& word) {
    if (word.empty()) return stability::Theorem::fitting;
    if (word == "attractivity") return stability::Theorem::attractivity;
    if (word == "instability") return stability::Theorem::instability;
    const std::vector<std::string> known{"attractivity", "instability"};
    throw Error("unknown theorem '" + word + "'", {"--theorem", 0, 0}, did_you_mean(word, known));
}

}  // namespace

int certify(const CertifyCommand& c) {
    const stability::Theorem theorem = theorem_of(c.theorem);
    if (c.budget < 1)
        throw Error("the budget is " + std::to_string(c.budget) + ", it must be at least 1", {"--budget", 0, 0});
    // The initial state is where the search for the equilibrium begins, no more.
    Common common = c.common;
    common.project_initial = true;
    const model::Model m = load(common);
    stability::CertifyOptions options;
    std::vector<double> at = m.q0;
    if (assign(c.at, "--at", m.coordinates, at)) options.at = at;
    options.budget = c.budget;
    io::CertifyReport report{m.name, m.coordinates, stability::certify(m, theorem, options)};
    const std::string json = c.common.json || !c.common.out.empty() ? io::certify_json(report) : "";
    if (!c.common.out.empty()) io::write_file(c.common.out, "certify.json", json);
    if (c.common.json)
        print(json);
    else if (!c.common.quiet)
        print(io::certify_text(report));
    return done;
}

}  // namespace saltus::cli
