// SPDX-License-Identifier: Apache-2.0
// Any bytes as an FCLIB file (HDF5): it becomes a contact problem, which is solved or not, or an Error; nothing else
// may happen.
#include <cstddef>
#include <cstdint>

#include "saltus/base/error.hpp"
#include "saltus/io/problem/fclib.hpp"
#include "saltus/io/report/solve_report.hpp"
#include "temporary_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace saltus;
    const TemporaryFile file(data, size);
    try {
        const io::ContactProblem problem = io::read_fclib(file.path());
        io::SolveOptions options;
        options.seconds = 0.2;
        io::solve_json({io::solve_problem(problem, options)});
    } catch (const Error&) {
    }
    return 0;
}
