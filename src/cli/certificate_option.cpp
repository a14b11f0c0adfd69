// SPDX-License-Identifier: Apache-2.0
#include "cli/certificate_option.hpp"

#include <sys/wait.h>

#include <cstdio>
#include <filesystem>

#include "saltus/io/model/load_model.hpp"
#include "saltus/io/results/files.hpp"
#include "saltus/io/results/provenance.hpp"

namespace saltus::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* checker_name = "check_certificate";
constexpr const char* where_checker_is =
    "it belongs into the folder share/saltus beside the program's bin, or into tools beside the build folder; another "
    "copy can be run by hand: python3 check_certificate FILE.json";

/// The checker among the installed data, or in the source tree beside a build folder. Empty: there is none.
fs::path checker() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (error) return {};
    const fs::path above = program.parent_path().parent_path();
    for (const fs::path& candidate : {above / "share" / "saltus" / checker_name, above / "tools" / checker_name})
        if (fs::is_regular_file(candidate, error)) return candidate;
    return {};
}

/// The output and the exit code of a command of the shell.
struct CommandResult {
    int code = -1;
    std::string output;
};
CommandResult run_command(const std::string& command) {
    CommandResult result;
    std::FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return result;
    char buffer[4096];
    for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.output.append(buffer, n);
    const int status = ::pclose(pipe);
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return result;
}

/// Exit codes of the checker (design of the command: accepted, refused, unreadable).
constexpr int accepted = 0, refused = 1;

bool has_python() { return run_command("python3 -c 'import tomllib' 2>&1").code == 0; }

}  // namespace

bool can_check() { return !checker().empty() && has_python(); }

void prepare_certificate(const CertificateOptions& options, const std::string& out) {
    if (!options.file.empty()) io::refuse_other_content(options.file, io::certificate_beginning, "a certificate");
    for (const char* const result : {"certify.json", "equilibria.json", "contents.json"}) {
        std::error_code error;
        if (options.file.empty() || out.empty()) break;
        if (fs::weakly_canonical(options.file, error) == fs::weakly_canonical(fs::path(out) / result, error))
            throw Error("is a result file of --out and cannot be the certificate, too", {options.file, 0, 0},
                        "name another file");
    }
    if (!options.check) return;
    if (options.file.empty())
        throw Error("there is no certificate to check", {"--check", 0, 0}, "add --certificate FILE.json");
    if (checker().empty())
        throw Error("the checker 'check_certificate' was not found", {"--check", 0, 0}, where_checker_is);
    if (!has_python())
        throw Error("the checker needs Python 3.11 or later, which was not found as 'python3'", {"--check", 0, 0},
                    "install it, or leave --check out and check the file on another machine");
}

io::WrittenCertificate write_certificate(const CertificateOptions& options, const OutputOptions& output,
                                         const io::LoadedModel& loaded, const proof::CertifiedStatement& statement) {
    io::WrittenCertificate written;
    written.file = options.file;
    written.certified = statement.certified();
    const fs::path file(options.file);
    const std::string folder = file.parent_path().empty() ? "." : file.parent_path().string();
    io::write_file(folder, file.filename().string(), io::certificate_json(loaded, statement));
    if (!output.quiet) tell("saltus: " + options.file + ": " + io::certificate_text(statement));
    if (!options.check || !written.certified) return written;
    // A path that begins with '-' would be read as an option.
    const std::string path = file.is_absolute() ? options.file : "./" + options.file;
    const CommandResult result =
        run_command("python3 " + io::quoted_word(checker().string()) + " " + io::quoted_word(path) + " 2>&1");
    written.answer = result.output.substr(0, result.output.find('\n'));
    if (result.code == accepted || result.code == refused)
        written.checked = result.code == accepted ? "accepted" : "refused";
    if (!output.quiet) tell("saltus: independent checker: " + written.answer);
    return written;
}

bool rejected(const CertificateOptions& options, const std::optional<io::WrittenCertificate>& written) {
    return written && options.check && written->certified && written->checked != "accepted";
}

}  // namespace saltus::cli
