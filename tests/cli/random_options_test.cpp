// SPDX-License-Identifier: Apache-2.0
//
// Every command on every shipped model with random valid options and parameters of every magnitude. Whatever the
// numbers are, the program must end within its time limit with one of its exit codes and complete output, no number
// of a completed motion is infinite, and no result file contains "nan". The environment variable
// SALTUS_RANDOM_OPTIONS is the number of runs (long campaigns), SALTUS_RANDOM_OPTIONS_FROM the number of the first one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "process.hpp"
#include "saltus/base/text.hpp"

namespace saltus::random_options_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

int number_from(const char* name, int otherwise) {
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::atoi(text);
}

/// A shipped model: its file, and the names that options can refer to.
struct Shipped {
    std::string file;
    std::vector<std::string> coordinates, parameters;
};

std::vector<Shipped> shipped_models() {
    std::vector<Shipped> models;
    for (const auto& entry : fs::directory_iterator(std::string(SALTUS_SOURCE_DIR) + "/models")) {
        if (entry.path().extension() != ".toml") continue;
        Shipped m{entry.path().string(), {}, {}};
        const Json j = Json::parse(test::command("check " + m.file + " --json").out);
        for (const Json& q : j["coordinates"]) m.coordinates.push_back(q.get<std::string>());
        for (const auto& [name, value] : j["parameters"].items()) m.parameters.push_back(name);
        models.push_back(std::move(m));
    }
    std::sort(models.begin(), models.end(), [](const Shipped& a, const Shipped& b) { return a.file < b.file; });
    return models;
}

/// Draws command lines.
class CommandLines {
public:
    CommandLines(const std::vector<Shipped>& models, unsigned seed) : models_(models), random_(seed) {}

    std::string next() {
        const Shipped& m = models_[index(models_.size())];
        std::string line = command(m) + " " + m.file;
        for (int k = 0; k < 2 && !m.parameters.empty(); ++k)
            if (chance(0.6)) line += " --set " + pick(m.parameters) + "=" + number();
        if (chance(0.1)) line += " --project-initial";
        return line;
    }

private:
    std::size_t index(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
    bool chance(double p) { return std::uniform_real_distribution<double>(0.0, 1.0)(random_) < p; }
    const std::string& pick(const std::vector<std::string>& of) { return of[index(of.size())]; }

    /// A number near one in half of the cases, otherwise of any magnitude that a model may have; sometimes any from
    /// 1e-310 to 1e308.
    std::string number() {
        const auto [low, high] = chance(0.5)   ? std::pair{-2.0, 2.0}
                                 : chance(0.8) ? std::pair{-30.0, 30.0}
                                               : std::pair{-310.0, 308.0};
        const double exponent = std::uniform_real_distribution<double>(low, high)(random_);
        return (chance(0.15) ? "-" : "") + positive(exponent);
    }
    std::string positive(double exponent) { return chance(0.03) ? "0" : number_text(std::pow(10.0, exponent)); }
    std::string near_one(double low, double high) {
        return number_text(std::pow(10.0, std::uniform_real_distribution<double>(low, high)(random_)));
    }
    std::string state(const Shipped& m) { return pick(m.coordinates) + (chance(0.4) ? "'" : ""); }

    std::string command(const Shipped& m) {
        switch (index(14)) {
            case 10: return "orbit" + returns(m) + guess(m);
            case 11:
                return "continue --points " + std::to_string(index(6)) + " --over \"" + range(m) + "\"" +
                       (chance(0.3) ? std::string(" --equilibria") : returns(m) + guess(m)) +
                       (chance(0.2) ? " --doublings 2" : "") + (chance(0.2) ? " --step " + number() : "");
            case 12:
                return "diagram --transient 2 --keep 2 --over \"" + range(m) + ":" + std::to_string(index(4)) + "\"" +
                       returns(m) + (chance(0.3) ? " --exponents" : "") + (chance(0.3) ? " --sweep both" : "") +
                       (chance(0.3) ? " --t-max " + near_one(-2.0, 1.0) : "");
            case 13: return "basin --t-max " + near_one(-2.0, 0.0) + starts(m);
            case 0: return "check";
            case 1: return "simulate --t-end " + near_one(-3.0, 0.5) + method();
            case 2: return "compare --refinements 1 --t-end " + near_one(-3.0, 0.0) + " --h " + near_one(-3.0, -1.0);
            case 3:
                return "sensitivity --t-end " + near_one(-3.0, 0.3) + " --wrt \"" + state(m) + "\"" +
                       (chance(0.3) ? " --check" : "");
            case 4: return "equilibria" + std::string(chance(0.4) ? " --time " + number() : "");
            case 5:
                return "certify --budget " + std::to_string(1 + index(2000)) + theorem() +
                       (chance(0.3) ? " --certificate certificate.json" : "") + (chance(0.3) ? function(m) : "");
            case 6:
                return "impact" + std::string(chance(0.5)
                                                  ? " --number 1"
                                                  : " --u-minus \"" + pick(m.coordinates) + "=" + number() + "\"");
            case 7:
                return "basin --no-certify --t-max " + near_one(-2.0, 0.0) + " --grid \"" + state(m) + "=-" +
                       near_one(-2.0, 1.0) + ":" + near_one(-2.0, 1.0) + ":3\"";
            case 8:
                return "simulate --t-end " + near_one(-2.0, 0.3) +
                       (m.parameters.empty()
                            ? ""
                            : " --solve-for " + pick(m.parameters) + " --target \"" + state(m) + "=" + number() + "\"");
            default:
                return "simulate --t-end " + near_one(-2.0, 0.3) +
                       (m.parameters.empty() ? "" : " --vary " + pick(m.parameters) + "=" + number() + "," + number());
        }
    }
    std::string method() {
        switch (index(7)) {
            case 4: return " --implicit";
            case 5: return " --method penalty";
            case 6: return " --repair-energy";
            case 0: return " --method moreau --h " + near_one(-3.0, 0.0);
            case 1: return " --rtol " + near_one(-14.0, 0.0) + " --atol " + near_one(-16.0, 0.0);
            case 2: return " --max-step " + near_one(-3.0, 1.0);
            default: return " --balance";
        }
    }
    /// Where the points of an orbit are taken: once in a period, or on a section.
    std::string returns(const Shipped& m) {
        switch (index(4)) {
            case 0: return " --period \"2*pi/w\"";
            case 1: return " --period " + near_one(-2.0, 1.0);
            case 2: return " --section \"" + state(m) + " = " + (chance(0.5) ? "0" : number()) + "\"";
            default: return "";
        }
    }
    std::string guess(const Shipped& m) {
        return (chance(0.3) ? " --settle " + near_one(-2.0, 1.0) : "") +
               (chance(0.3) ? " --guess \"" + state(m) + "=" + number() + "\"" : "") +
               (chance(0.2) ? " --multiple " + std::to_string(index(4)) : "") +
               (chance(0.2) ? " --search " + std::to_string(index(4)) : "");
    }
    std::string range(const Shipped& m) {
        const std::string name = m.parameters.empty() ? "none" : pick(m.parameters);
        return name + "=" + (chance(0.5) ? near_one(-1.0, 0.0) + ":" + near_one(0.0, 1.0) : number() + ":" + number());
    }
    /// Starts of a basin and what is done with them.
    std::string starts(const Shipped& m) {
        const std::string interval = "=-" + near_one(-2.0, 1.0) + ":" + near_one(-2.0, 1.0);
        const std::string which = chance(0.3) ? " --samples 3 --box \"" + state(m) + interval + "\""
                                              : " --grid \"" + state(m) + interval + ":3\"";
        switch (index(6)) {
            case 0: return which + " --method event";
            case 1: return which + " --refine " + std::to_string(index(3));
            case 2: return which + " --boundary " + number();
            case 3: return which + " --paths 2";
            case 4: return which + " --no-certify --to-rest --rest " + number();
            default: return which + " --no-certify --h " + number() + " --theta " + near_one(-1.0, 0.1);
        }
    }
    /// A Lyapunov function.
    std::string function(const Shipped& m) {
        return " --V \"" + std::string(chance(0.5) ? "T + U" : "T") + " + " + number() + "*" + pick(m.coordinates) +
               "^2\"";
    }
    std::string theorem() {
        static const std::vector<std::string> theorems{"attractivity", "instability", "regulation"};
        return chance(0.4) ? " --theorem " + pick(theorems) : "";
    }

    const std::vector<Shipped>& models_;
    std::mt19937 random_;
};

/// False if a completed motion has a number that is not finite; such numbers are null in JSON.
bool all_finite(const Json& j) {
    if (!j.is_object() || !j.contains("energy") || !j.contains("final")) return true;
    const std::string numbers = j["energy"].dump() + j["final"].dump();
    return numbers.find("null") == std::string::npos;
}

/// Names of the result files that contain "nan". Numbers without a value are empty in tables and null in JSON.
std::vector<std::string> files_with_nan(const fs::path& folder) {
    std::vector<std::string> names;
    if (!fs::exists(folder)) return names;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string ending = entry.path().extension().string();
        if (ending != ".csv" && ending != ".json") continue;
        const std::string text = test::content_of(entry.path());
        for (const char* const word : {",nan", ",-nan", ": nan", "= nan", "= -nan"})
            if (text.find(word) != std::string::npos) names.push_back(entry.path().filename().string());
    }
    return names;
}

TEST(RandomOptions, EndWithAnExitCodeAndCompleteOutput) {
    const int runs = number_from("SALTUS_RANDOM_OPTIONS", 120), from = number_from("SALTUS_RANDOM_OPTIONS_FROM", 0);
    const std::vector<Shipped> models = shipped_models();
    ASSERT_GT(models.size(), 10U);
    const test::Folder folder;
    for (int k = from; k < from + runs; ++k) {
        CommandLines lines(models, static_cast<unsigned>(k));
        const std::string line = lines.next();
        // A motion with extreme numbers can take long. After two seconds the time limit must end it (exit code 130);
        // the program is killed (137) if it does not, with much time for a busy machine.
        const std::string limited = "timeout -s KILL 60 " + std::string(SALTUS_EXE) + " " + line +
                                    " --json --seconds 2" + (k % 3 == 0 ? " --out run" : "");
        fs::remove_all(folder.path() / "run");
        fs::remove(folder.path() / "certificate.json");
        const test::Outcome r = test::shell(limited, folder.path());
        const bool known = r.code == 0 || r.code == 2 || r.code == 3 || r.code == 130;
        EXPECT_TRUE(known) << "run " << k << ": exit code " << r.code << "\n  saltus " << line << "\n  "
                           << r.err.substr(0, 400);
        if (r.code == 2) {
            EXPECT_NE(r.err, "") << "run " << k << ": no message\n  saltus " << line;
        } else if (r.code == 0 || r.code == 3 || !r.out.empty()) {
            const Json j = Json::parse(r.out, nullptr, false);
            EXPECT_FALSE(j.is_discarded()) << "run " << k << ": incomplete JSON\n  saltus " << line;
            if (r.code == 0) {
                EXPECT_TRUE(all_finite(j)) << "run " << k << ": infinite numbers\n  saltus " << line;
                EXPECT_EQ(files_with_nan(folder.path() / "run"), std::vector<std::string>{})
                    << "run " << k << "\n  saltus " << line;
            }
        }
    }
}

}  // namespace
}  // namespace saltus::random_options_test
