// SPDX-License-Identifier: Apache-2.0
#include "cli/studio/question.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "cli/command.hpp"
#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/io/page/collect_results.hpp"
#include "saltus/io/page/studio_documents.hpp"
#include "saltus/io/results/provenance.hpp"

namespace saltus::cli {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t max_running = 4;  // questions at once: each may use all cores
constexpr std::size_t max_kept = 64;    // results in memory, for reports

/// What the page may ask. Options that name files (--out, --report, --certificate, --restart, --trajectory) are
/// missing.
const std::map<std::string, std::vector<std::string>>& allowed_words() {
    static const std::vector<std::string> all{"--set", "--project-initial"};
    static const std::map<std::string, std::vector<std::string>> words{
        {"check", {}},
        {"sensitivity", {"--wrt", "--t-end", "--method", "--check", "--output", "--adjoint", "--perturbed"}},
        {"impact", {"--number", "--u-plus", "--u-minus", "--q", "--closed", "--alpha", "--laws"}},
        {"equilibria", {"--at", "--region", "--time"}},
        {"certify", {"--theorem", "--at", "--budget"}},
        {"basin", {"--grid", "--t-max", "--method", "--h", "--no-certify", "--refine", "--paths"}},
        {"orbit", {"--period", "--section", "--symmetry", "--multiple", "--settle", "--guess", "--search"}},
        {"continue",
         {"--over", "--and", "--equilibria", "--step", "--points", "--doublings", "--period", "--section", "--symmetry",
          "--multiple", "--settle", "--guess"}},
        {"diagram", {"--over", "--period", "--section", "--transient", "--keep", "--sweep", "--exponents", "--t-max"}},
        {"compare", {"--t-end", "--h", "--refinements"}},
    };
    return words;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

/// A folder for the model and the results of one run. The destructor removes it.
class RunFolder {
public:
    RunFolder() {
        std::string name = (fs::temp_directory_path() / "saltus-studio-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw Error("cannot create a folder", {name, 0, 0});
        path_ = name;
    }
    ~RunFolder() {
        std::error_code error;
        fs::remove_all(path_, error);
    }
    RunFolder(const RunFolder&) = delete;
    RunFolder& operator=(const RunFolder&) = delete;
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

/// A program that was started, and the reading end of its standard error.
struct Child {
    pid_t pid = -1;
    int errors = -1;
};

/// Starts this program with other words. Its output goes nowhere; it ends when this program does.
Child start(const std::vector<std::string>& words) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw Error("cannot start the program: no pipe");
    std::vector<char*> argv;
    for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
    argv.push_back(nullptr);
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid == 0) {  // only calls that are safe after a fork of a program with threads
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(1);
        constexpr int lower_priority = 5;  // the sliders of the page come first
        [[maybe_unused]] const int priority = ::nice(lower_priority);
        const int nothing = ::open("/dev/null", O_RDWR);
        ::dup2(nothing, STDIN_FILENO);
        ::dup2(nothing, STDOUT_FILENO);
        ::dup2(ends[1], STDERR_FILENO);
        ::close_range(STDERR_FILENO + 1, ~0U, 0);  // connections of the studio
        ::execv("/proc/self/exe", argv.data());
        ::_exit(1);
    }
    ::close(ends[1]);
    if (pid < 0) {
        ::close(ends[0]);
        throw Error("cannot start the program");
    }
    return {pid, ends[0]};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

}  // namespace

void refuse_other_words(const QuestionWords& words) {
    const auto found = allowed_words().find(words.command);
    if (found == allowed_words().end())
        throw Error("the studio has no question '" + words.command + "'", {}, "use the command line");
    for (const auto& [option, value] : words.options)
        if (option != "--set" && option != "--project-initial" && !contains(found->second, option))
            throw Error("the studio does not use the option '" + option + "'", {}, "use the command line");
}

/// One question. `state` is protected by the mutex of Questions.
struct Questions::Run {
    QuestionWords words;
    std::string file, text;
    struct State {
        std::string status = "running", message;
        double share = -1.0;
        double seconds = 0.0;  ///< once it has ended
        std::optional<io::Report> result;
    } state;
    Clock::time_point begin = Clock::now();
    std::atomic<bool> cancelled = false;
    std::jthread thread;

    double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin).count(); }
    std::string line() const {
        std::string line = "saltus " + words.command + " " + io::quoted_word(file);
        for (const auto& [option, value] : words.options)
            line += " " + option + (value.empty() ? "" : " " + io::quoted_word(value));
        return line;
    }
};

Questions::Questions(std::function<void(long)> changed) : changed_(std::move(changed)) {}

Questions::~Questions() {
    std::map<long, std::shared_ptr<Run>> runs;
    {
        const std::lock_guard lock(mutex_);
        runs = runs_;
    }
    for (const auto& [number, run] : runs) run->cancelled = true;
    for (const auto& [number, run] : runs)
        if (run->thread.joinable()) run->thread.join();
}

long Questions::ask(const QuestionWords& words, const std::string& file, const std::string& text) {
    refuse_other_words(words);
    auto run = std::make_shared<Run>();
    run->words = words;
    run->file = file;
    run->text = text;
    // A thread that has computed its result may still have to take the mutex. So it is awaited while the mutex is free.
    for (const std::shared_ptr<Run>& old : forget_oldest())
        if (old->thread.joinable()) old->thread.join();
    const std::lock_guard lock(mutex_);
    const auto running =
        std::count_if(runs_.begin(), runs_.end(), [](const auto& r) { return r.second->state.status == "running"; });
    if (static_cast<std::size_t>(running) >= max_running)
        throw Error(std::to_string(running) + " questions are being computed", {}, "cancel one of them");
    const long number = ++last_;
    runs_[number] = run;
    try {
        run->thread = std::jthread([this, number] {
            std::shared_ptr<Run> shared;
            {
                const std::lock_guard wait_until_started(mutex_);
                shared = runs_.at(number);
            }
            compute(shared);
            changed_(number);
        });
    } catch (const std::system_error&) {
        runs_.erase(number);
        throw Error("a thread for the question cannot be started", {}, "raise the limit of memory or of processes");
    }
    return number;
}

/// Removes the oldest results that have ended, so that with the next one at most max_kept stay, and returns them.
std::vector<std::shared_ptr<Questions::Run>> Questions::forget_oldest() {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Run>> forgotten;
    for (auto at = runs_.begin(); at != runs_.end() && runs_.size() >= max_kept;) {
        if (at->second->state.status == "running") {
            ++at;
            continue;
        }
        forgotten.push_back(std::move(at->second));
        at = runs_.erase(at);
    }
    return forgotten;
}

void Questions::cancel(long number) {
    const std::lock_guard lock(mutex_);
    if (const auto found = runs_.find(number); found != runs_.end()) found->second->cancelled = true;
}

std::string Questions::json(long number) const {
    const std::lock_guard lock(mutex_);
    const auto found = runs_.find(number);
    if (found == runs_.end()) return "";
    const Run& run = *found->second;
    io::StudioJob job;
    job.number = number;
    job.command = run.line();
    job.status = run.state.status;
    job.seconds = job.status == "running" ? run.elapsed() : run.state.seconds;
    job.share = run.state.share;
    job.message = run.state.message;
    job.result = run.state.result ? &*run.state.result : nullptr;
    return io::studio_job_json(job);
}

std::vector<io::ReportPart> Questions::result(long number) const {
    const std::lock_guard lock(mutex_);
    const auto found = runs_.find(number);
    if (found == runs_.end() || !found->second->state.result) return {};
    return found->second->state.result->parts;
}

/// Runs the program and follows it: lines "progress SHARE" are its progress, all others are messages.
void Questions::compute(const std::shared_ptr<Run>& run) {
    Run::State end;
    end.status = "failed";
    try {
        const RunFolder folder;
        const fs::path model = folder.path() / fs::path(run->file).filename(), out = folder.path() / "results";
        if (!(std::ofstream(model, std::ios::binary) << run->text)) throw Error("cannot write", {model.string(), 0, 0});
        std::vector<std::string> words{"saltus", run->words.command, model.string()};
        for (const auto& [option, value] : run->words.options) {
            words.push_back(value.empty() ? option : option + "=" + value);
        }
        for (const char* const w : {"--quiet", "--progress", "--out"}) words.emplace_back(w);
        words.push_back(out.string());
        const Child child = start(words);
        std::string pending, messages;
        bool interrupt_sent = false;
        Clock::time_point cancelled_at{};
        for (;;) {
            constexpr int wait_ms = 100;
            pollfd ready{child.errors, POLLIN, 0};
            const int count = ::poll(&ready, 1, wait_ms);
            if (run->cancelled && !interrupt_sent) {
                interrupt_sent = true;
                cancelled_at = Clock::now();
                ::kill(child.pid, SIGINT);
            }
            constexpr std::chrono::seconds grace{3};
            if (interrupt_sent && Clock::now() - cancelled_at > grace) ::kill(child.pid, SIGKILL);
            if (count < 0 && errno == EINTR) continue;
            if (count == 0) continue;
            char buffer[4096];
            const ssize_t got = ::read(child.errors, buffer, sizeof buffer);
            if (got <= 0) break;
            pending.append(buffer, static_cast<std::size_t>(got));
            for (std::size_t line_end = 0; (line_end = pending.find('\n')) != std::string::npos;) {
                const std::string line = pending.substr(0, line_end);
                pending.erase(0, line_end + 1);
                if (line.starts_with("progress ")) {
                    const std::lock_guard lock(mutex_);
                    run->state.share = std::strtod(line.c_str() + 9, nullptr);
                } else {
                    messages += line + "\n";
                }
            }
        }
        ::close(child.errors);
        int status = 0;
        ::waitpid(child.pid, &status, 0);
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        end.message = replaced(messages, folder.path().string() + "/", "");
        end.status = code == done                                   ? "done"
                     : code == bad_input                            ? "refused"
                     : code == interrupted || run->cancelled.load() ? "cancelled"
                                                                    : "failed";
        // A run that was cancelled may leave a checkpoint, but no results and no list of them.
        if (fs::exists(out / "contents.json")) {
            io::Report report = io::read_results({out.string()});
            for (io::ReportPart& part : report.parts) {
                part.command = run->line();
                part.source.clear();
            }
            if (!report.parts.empty()) end.result = std::move(report);
        }
        if (end.status == "done" && !end.result) end.status = "failed", end.message += "there is no result";
    } catch (const std::exception& e) {
        end.message += e.what();
    }
    const std::lock_guard lock(mutex_);
    end.seconds = run->elapsed();
    end.share = run->state.share;
    run->state = std::move(end);
}

}  // namespace saltus::cli
