// SPDX-License-Identifier: Apache-2.0
// Any text as a model file: it becomes a model, or an Error; nothing else may happen.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "saltus/base/error.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/io/report/check_report.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace saltus;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        model::BuildOptions options;
        options.project_initial = size % 2 == 1;
        options.perturbed = size % 3 == 1;
        const model::Model m = model::build(io::parse_model(text, "fuzz"), options);
        const model::Inspection inspection = model::inspect(m);
        io::check_text(m, inspection, "fuzz");
        io::check_json(m, inspection, "fuzz");
    } catch (const Error&) {
    }
    return 0;
}
