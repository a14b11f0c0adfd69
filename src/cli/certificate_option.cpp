// SPDX-License-Identifier: Apache-2.0
#include "cli/certificate_option.hpp"

#include <filesystem>

#include "saltus/io/report/certificate_file.hpp"
#include "saltus/io/results/files.hpp"

namespace saltus::cli {

void write_certificate_file(const std::string& path, const OutputOptions& options, const io::LoadedModel& loaded,
                            const proof::CertifiedStatement& statement) {
    const std::filesystem::path file(path);
    const std::string folder = file.parent_path().empty() ? "." : file.parent_path().string();
    io::write_file(folder, file.filename().string(), io::certificate_json(loaded, statement));
    if (!options.quiet) tell("saltus: " + path + ": " + io::certificate_text(statement));
}

}  // namespace saltus::cli
