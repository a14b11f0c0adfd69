// SPDX-License-Identifier: Apache-2.0
//
// The table of what each analysis supports: every pair of analysis and feature is accepted or refused as it says, and
// docs/support.md shows it.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/support.hpp"

namespace saltus::support_test {
namespace {

using namespace saltus::model;

const std::string body = R"toml(
[system]
q = ["x", "y", "z", "a", "b"]
T = "(x'^2 + y'^2 + z'^2 + a'^2 + b'^2)/2"
U = "y"
)toml";

/// A system without formulas and without derivatives.
class Native final : public System {
public:
    Native() {
        layout_.coordinates = 1;
        layout_.mass.cols = 1;
        const int column = 0;
        layout_.mass.add_row({&column, 1});
        layout_.rows.cols = 1;
        layout_.coefficients_constant = true;
    }
    const Layout& layout() const override { return layout_; }
    void mass(const At&, std::span<double>, std::span<double> M) const override { M[0] = 1.0; }
    void force(const At&, std::span<double>, std::span<double> h) const override { h[0] = 0.0; }

private:
    Layout layout_;
};

/// A model that has the feature.
Model with(Feature feature) {
    std::string more;
    switch (feature) {
        case Feature::no_contacts:
        case Feature::no_control: break;
        case Feature::contacts:
        case Feature::missing_stiffness: more = "[[contact]]\nname = \"c\"\ngN = \"y\"\n"; break;
        case Feature::nonlinear_springs:
            more = "[[contact]]\nname = \"c\"\ngN = \"y\"\n[penalty]\nk = \"1e5*sqrt(depth)\"\n";
            break;
        case Feature::contact_friction:
            more = "[[contact]]\nname = \"c\"\ngN = \"y\"\ngammaT = \"x'\"\nmu = 0.3\n";
            break;
        case Feature::contensou_friction:
            more =
                "[[contact]]\nname = \"c\"\ngN = \"y\"\ngammaT = [\"x'\", \"z'\", \"a'\"]\nmu = 0.3\n"
                "friction = \"contensou\"\nradius = 0.1\n";
            break;
        case Feature::drilling_friction:
            more =
                "[[contact]]\nname = \"c\"\ngN = \"y\"\ngammaT = [\"x'\", \"z'\", \"a'\", \"x'\", \"z'\"]\nmu = 0.3\n"
                "friction = \"rolling\"\nradii = [0.1, 0.1]\n";
            break;
        case Feature::spatial_friction:
            more = "[[contact]]\nname = \"c\"\ngN = \"y\"\ngammaT = [\"x'\", \"z'\"]\nmu = 0.3\n";
            break;
        case Feature::constraints: more = "[[constraint]]\nname = \"c\"\ng = \"y\"\n"; break;
        case Feature::velocity_constraints: more = "[[constraint]]\nname = \"c\"\ngamma = \"y'\"\n"; break;
        case Feature::conditional_contacts: more = "[[contact]]\nname = \"c\"\ngN = \"y\"\nif = \"x > 1\"\n"; break;
        case Feature::constraint_friction:
            more = "[[constraint]]\nname = \"c\"\ng = \"y\"\ngammaT = \"x'\"\nmu = 0.3\n";
            break;
        case Feature::sliders: more = "[[slider]]\nname = \"c\"\ngammaT = \"x'\"\nmu = 0.3\nFN = 1\n"; break;
        case Feature::uneven_sliders:
            more = "[[slider]]\nname = \"c\"\ngammaT = [\"x'\", \"z'\"]\nmu = [0.3, 0.4]\nFN = 1\n";
            break;
        case Feature::clutches: more = "[[clutch]]\nname = \"c\"\ngamma = \"x'\"\n"; break;
        case Feature::poisson_impacts:
            more = "[[contact]]\nname = \"c\"\ngN = \"y\"\neN = 0.5\nimpact = \"poisson\"\n";
            break;
        case Feature::energy_impacts:
            more = "[[contact]]\nname = \"c\"\ngN = \"y\"\neN = 0.5\nimpact = \"energy\"\n";
            break;
        case Feature::varying_coefficients:
            more = "[[contact]]\nname = \"c\"\ngN = \"y\"\ngammaT = \"x'\"\nmu = \"0.3 + x^2\"\n";
            break;
        case Feature::sampled_control: more = "[control]\nactuated = [\"x\"]\nKp = 1\nperiod = 0.1\n"; break;
        case Feature::jumps: more = "[[jump]]\nname = \"c\"\nwhen = \"y\"\nu = { y = \"-y'\" }\n"; break;
        case Feature::static_friction:
            more = "[[slider]]\nname = \"c\"\ngammaT = \"x'\"\nmu = 0.3\nmu_static = 0.4\nFN = 1\n";
            break;
        case Feature::damping_left_out:
            more = "[[contact]]\nname = \"c\"\ngN = \"y\"\n[penalty]\nk = 1e5\nD = 0.1\n";
            break;
        case Feature::time_dependence: {
            std::string moving = body;
            return build(io::parse_model(moving.replace(moving.find("\"y\"\n"), 4, "\"y*sin(t)\"\n"), "test"));
        }
        case Feature::no_formulas:
        case Feature::no_derivatives: return from_system(std::make_shared<Native>(), "native", {"x"}, {0.0}, {0.0});
    }
    return build(io::parse_model(body + more, "test"));
}

std::vector<Feature> all_features() {
    std::vector<Feature> list;
    for (std::size_t k = 0; k < feature_count; ++k) list.push_back(static_cast<Feature>(k));
    return list;
}

std::vector<Analysis> all_analyses() {
    std::vector<Analysis> list;
    for (std::size_t k = 0; k < analysis_count; ++k) list.push_back(static_cast<Analysis>(k));
    return list;
}

TEST(Support, EveryModelOfTheTestHasItsFeature) {
    for (const Feature f : all_features()) EXPECT_TRUE(has_feature(with(f), f)) << to_string(f);
    EXPECT_FALSE(has_feature(with(Feature::contacts), Feature::contact_friction));
    EXPECT_FALSE(has_feature(with(Feature::contact_friction), Feature::spatial_friction));
    EXPECT_FALSE(has_feature(with(Feature::sliders), Feature::uneven_sliders));
    EXPECT_FALSE(has_feature(with(Feature::no_contacts), Feature::time_dependence));
}

TEST(Support, EveryPairIsAcceptedOrRefusedWithTheOneMessage) {
    for (const Feature f : all_features()) {
        const Model m = with(f);
        for (const Analysis a : all_analyses()) {
            const std::string pair = std::string(to_string(a)) + " / " + std::string(to_string(f));
            bool refuses = false;  // by any feature that this model has
            for (const Feature g : all_features()) refuses |= support(a, g) == Support::refused && has_feature(m, g);
            EXPECT_TRUE(refuses || support(a, f) != Support::refused) << pair;
            const std::string why = unsupported(m, a);
            EXPECT_EQ(!why.empty(), refuses) << pair << ": " << why;
            if (why.empty()) {
                EXPECT_NO_THROW(refuse_unsupported(m, a)) << pair;
                continue;
            }
            EXPECT_EQ(why.rfind(std::string(to_string(a)) + " does not support ", 0), 0u) << why;
            try {
                refuse_unsupported(m, a, {"file", 0, 0});
                FAIL() << pair;
            } catch (const Error& e) {
                EXPECT_EQ(e.message(), why);
                EXPECT_EQ(e.place().file, "file");
            }
        }
    }
}

TEST(Support, TheMessageNamesTheElementAndTheReason) {
    EXPECT_EQ(unsupported(with(Feature::missing_stiffness), Analysis::penalty),
              "method penalty does not support contacts without a stiffness k (contact 'c'): the contact force is "
              "k*depth + d*rate");
    EXPECT_EQ(unsupported(with(Feature::no_formulas), Analysis::enclosure),
              "the enclosure over boxes does not support equations that are not expressions: interval bounds are "
              "computed from expressions");
}

TEST(Support, ApproximationsAreSaid) {
    EXPECT_TRUE(approximations(with(Feature::contact_friction), Analysis::moreau).empty());
    const std::vector<std::string> said = approximations(with(Feature::contensou_friction), Analysis::impact_audit);
    ASSERT_EQ(said.size(), 1u);
    EXPECT_EQ(said[0],
              "the impact audit approximates Coulomb-Contensou friction (contact 'c'): the patch has no second-order "
              "cone, so only the impulses of the law are judged");
}

TEST(Support, AModelIsFrictionlessWithoutFrictionLawsAndSliders) {
    for (const Feature f : all_features()) {
        const Model m = with(f);
        const bool rubs = has_feature(m, Feature::contact_friction) || has_feature(m, Feature::constraint_friction) ||
                          !m.sliders.empty();
        EXPECT_EQ(frictional_elements(m) > 0, rubs) << to_string(f);
    }
    EXPECT_EQ(frictional_elements(with(Feature::clutches)), 0);
}

TEST(Support, NoPairStandsTwiceInTheTable) {
    std::map<std::pair<Analysis, Feature>, int> count;
    for (const SupportException& e : exceptions()) {
        EXPECT_NE(e.support, Support::full);
        EXPECT_FALSE(e.reason.empty());
        EXPECT_EQ(++count[std::pair(e.analysis, e.feature)], 1) << to_string(e.analysis) << to_string(e.feature);
    }
}

TEST(Support, TheDocumentationShowsTheTable) {
    std::ifstream in(std::string(SALTUS_SOURCE_DIR) + "/docs/support.md");
    ASSERT_TRUE(in.good());
    std::string expected, shown, line;
    for (const SupportException& e : exceptions())
        expected += "| " + std::string(to_string(e.analysis)) + " | " + std::string(to_string(e.feature)) + " | " +
                    std::string(to_string(e.support)) + " | " + std::string(e.reason) + " |\n";
    bool inside = false;
    while (std::getline(in, line)) {
        if (line == "<!-- end -->") inside = false;
        if (inside && line.rfind("| ", 0) == 0 && line != "| analysis | feature | support | reason |")
            shown += line + "\n";
        if (line == "<!-- support -->") inside = true;
    }
    EXPECT_EQ(shown, expected);
}

}  // namespace
}  // namespace saltus::support_test
