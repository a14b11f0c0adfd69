// SPDX-License-Identifier: Apache-2.0
//
// A program that uses the library may have set a locale: decimal commas, grouped digits, other letters. Texts that
// the library reads and writes do not depend on it.
#include <gtest/gtest.h>

#include <clocale>
#include <locale>
#include <map>
#include <sstream>
#include <string>

#include "saltus/base/memory.hpp"
#include "saltus/base/plain_text.hpp"
#include "saltus/control/penalty/penalty_limit.hpp"
#include "saltus/expr/statements.hpp"
#include "saltus/saltus.hpp"

namespace saltus::locale_test {

namespace {

/// "1234567.5" is written "1 234 567,5", and a space between digits belongs to the number.
class CommaAndGroups : public std::numpunct<char> {
protected:
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return ' '; }
    std::string do_grouping() const override { return "\3"; }
};

/// Restores both locales, that of C and that of the streams.
class KeptLocale {
public:
    KeptLocale() : c_(std::setlocale(LC_ALL, nullptr)) {}
    KeptLocale(const KeptLocale&) = delete;
    KeptLocale& operator=(const KeptLocale&) = delete;
    ~KeptLocale() {
        std::locale::global(streams_);
        std::setlocale(LC_ALL, c_.c_str());
    }

private:
    std::string c_;
    std::locale streams_;
};

/// A document without computing times.
std::string without_times(const std::string& json) {
    std::istringstream in(json);
    std::string out;
    for (std::string line; std::getline(in, line);)
        if (line.find("second") == std::string::npos) out += line + "\n";
    return out;
}

const char* const ball = R"toml(
[system]
q = ["y"]
T = "m*y'^2/2"
U = "m*g*y"
[parameters]
m = 1.25
g = 9.81
[[contact]]
name = "floor"
gN = "y"
eN = 0.625
[initial]
q = { y = 1.5 }
[simulate]
t_end = 1.25
)toml";

/// What the library answers, under a name for each.
std::map<std::string, std::string> answers() {
    const std::string models = SALTUS_SOURCE_DIR "/models/";
    std::map<std::string, std::string> all;
    const Study study = parse(ball, {{"m", "0.75"}});
    const StudyMotion motion = study.simulate();
    all["motion"] = without_times(motion.json());
    all["sensitivity"] = without_times(study.sensitivity({"g", "y"}));
    all["impact"] = without_times(study.impact());
    all["basin"] = without_times(study.basin({{"y", 0.125, 1.5, 3}}, 20.0));
    const Study block = load(models + "falling-block.toml", {{"mu", "0.4"}});
    all["equilibria"] = without_times(block.equilibria());
    all["certificate"] = without_times(block.certify());
    all["regulation"] = without_times(load(models + "single-link-arm.toml").regulation());
    try {
        parse("[system]\nq = [\"x\", \"z\"]\nT = \"(x' + 0.25*z')^2\"\n[initial]\nq = { x = 0.5 }\n");
    } catch (const Error& e) {
        all["singular mass"] = e.what();
    }
    try {
        parse(ball, {{"G", "9.5"}});
    } catch (const Error& e) {
        all["unknown parameter"] = e.what();
    }
    all["literals"] = expr::exact_literal(0.1) + " " + expr::exact_literal(-2.75) + " " + expr::exact_literal(5e-324);
    for (const double k : control::penalty_from_text("k=1.5e3:1.5e5:3").values())
        all["stiffness"] += rounded_text(k, 17) + " ";
    all["memory is known"] = used_memory() > 1e6 && available_memory() > 1e6 ? "yes" : "no";
    return all;
}

void expect_same(const std::map<std::string, std::string>& expected, const std::string& locale) {
    const std::map<std::string, std::string> found = answers();
    EXPECT_EQ(found.size(), expected.size()) << locale;
    for (const auto& [name, text] : expected) EXPECT_EQ(found.at(name), text) << name << " in " << locale;
}

}  // namespace

TEST(Locale, OfStreamsChangesNoAnswer) {
    const KeptLocale kept;
    const std::map<std::string, std::string> expected = answers();
    EXPECT_EQ(expected.at("literals"), "0x1.999999999999ap-4 (-0x1.6p+1) 0x0.0000000000001p-1022");
    EXPECT_EQ(expected.at("stiffness"), "1500 15000 150000 ");
    EXPECT_NE(expected.at("unknown parameter").find("did you mean 'g'?"), std::string::npos);
    std::locale::global(std::locale(std::locale::classic(), new CommaAndGroups));
    std::ostringstream check;
    check << 1234567.5;
    ASSERT_EQ(check.str(), "1,23457e+06");
    expect_same(expected, "a locale with decimal commas and groups");
}

TEST(Locale, OfTheProgramChangesNoAnswer) {
    const KeptLocale kept;
    const std::map<std::string, std::string> expected = answers();
    int tried = 0;
    for (const char* const name : {"de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR", "fa_IR", "ja_JP.eucjp"}) {
        if (std::setlocale(LC_ALL, name) == nullptr) continue;
        ++tried;
        std::locale::global(std::locale(name));
        expect_same(expected, name);
    }
    if (tried == 0) GTEST_SKIP() << "no foreign locale is installed (Debian: locales-all)";
}

}  // namespace saltus::locale_test
