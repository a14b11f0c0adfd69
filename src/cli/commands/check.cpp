// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/check.hpp"

#include "saltus/io/model/load_model.hpp"
#include "saltus/io/report/check_report.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "saltus/model/model.hpp"

namespace saltus::cli {

int check(const Common& options) {
    const model::Model m = load(options).model;
    const auto out = open_results(options, "check", {options.model});
    const model::Inspection inspection = model::inspect(m);
    const auto json = [&] { return io::check_json(m, inspection, options.model); };
    deliver(options, out.get(),
            {[&](io::ResultFolder& folder) { folder.add("check.json", json()); }, json,
             [&] { return io::check_text(m, inspection, options.model); }});
    return done;
}

}  // namespace saltus::cli
