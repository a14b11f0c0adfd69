// SPDX-License-Identifier: Apache-2.0
// Any text as a contact problem file: it becomes a problem, which is solved or not, or an Error; nothing else may
// happen.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "saltus/base/error.hpp"
#include "saltus/io/report/solve_report.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace saltus;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const io::ContactProblem problem = io::parse_problem(text, "fuzz");
        io::SolveOptions options;
        options.seconds = 0.2;
        io::solve_json({io::solve_problem(problem, options)});
    } catch (const Error&) {
    }
    return 0;
}
