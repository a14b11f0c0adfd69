// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/check.hpp"

#include "saltus/io/model/load_model.hpp"
#include "saltus/io/report/check_report.hpp"
#include "saltus/io/results/files.hpp"

namespace saltus::cli {

int check(const Common& options) {
    const model::Model m = load(options).model;
    const model::Inspection inspection = model::inspect(m);
    const std::string json = options.json || !options.out.empty() ? io::check_json(m, inspection, options.model) : "";
    if (!options.out.empty()) io::write_file(options.out, "check.json", json);
    if (options.json)
        print(json);
    else if (!options.quiet)
        print(io::check_text(m, inspection, options.model));
    return done;
}

}  // namespace saltus::cli
