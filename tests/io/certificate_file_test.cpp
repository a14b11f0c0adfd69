// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/certificate_file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "saltus/base/error.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/results/detail/sha256.hpp"

namespace saltus::io::certificate_file_test {
namespace {

using Json = nlohmann::ordered_json;

LoadedModel falling_block(const model::BuildOptions& build = {}) {
    return load_model(std::string(SALTUS_SOURCE_DIR) + "/models/falling-block.toml", build);
}

proof::CertifiedStatement statement() {
    proof::CertifiedStatement s;
    s.coordinates = {"x"};
    s.domain = {proof::Interval(-proof::Interval::infinity, 0.1)};
    s.conditions = {{"1", "first", proof::Verdict::proved, true, "", {}},
                    {"2", "second", proof::Verdict::proved, false, "too hard", {}}};
    s.conditions[0].claims.emplace_back(proof::ClaimValue::Record{{"kind", "form"}, {"gap", proof::ClaimValue()}});
    return s;
}

/// The examples of FIPS 180-4, and a text longer than one block.
TEST(CertificateFile, HashesAreThoseOfTheStandard) {
    EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(sha256(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(CertificateFile, ContainsTheModelWithItsHashAndParameters) {
    model::BuildOptions build;
    build.set = {{"mu", "0.1"}, {"x", "1"}, {"x'", "2"}};  // initial values are no part of the statement
    const LoadedModel loaded = falling_block(build);
    const Json j = Json::parse(certificate_json(loaded, statement()));
    EXPECT_EQ(j["model"]["overrides"].size(), 1U);
    EXPECT_EQ(j["format"], "saltus certificate");
    EXPECT_EQ(j["model"]["text"], loaded.file.text);
    EXPECT_EQ(j["model"]["sha256"], sha256(loaded.file.text));
    EXPECT_EQ(j["model"]["overrides"], Json({{"mu", "0.1"}}));
    EXPECT_EQ(std::strtod(j["model"]["parameters"]["mu"].get<std::string>().c_str(), nullptr), 0.1);
    EXPECT_EQ(j["model"]["parameters"].size(), 6U);
}

TEST(CertificateFile, NumbersAreExact) {
    const Json j = Json::parse(certificate_json(falling_block(), statement()));
    EXPECT_EQ(j["setting"]["domain"], Json::parse(R"([["-inf", "0x1.999999999999ap-4"]])"));
    EXPECT_EQ(j["setting"]["level"], "inf");
    EXPECT_EQ(j["setting"]["reference"], "0x0p+0");
}

TEST(CertificateFile, SaysWhatIsNotCertified) {
    const Json j = Json::parse(certificate_json(falling_block(), statement()));
    EXPECT_EQ(j["certified"], false);
    EXPECT_EQ(j["conditions"][0]["claims"], Json::parse(R"([{"kind": "form", "gap": null}])"));
    EXPECT_EQ(j["conditions"][1]["certified"], false);
    EXPECT_EQ(j["conditions"][1]["why"], "too hard");
    EXPECT_EQ(certificate_text(statement()), "condition 1 is certified; not certified: too hard");
}

TEST(CertificateFile, RefusesAModelThatIsNotUtf8) {
    LoadedModel loaded = falling_block();
    loaded.file.text += "# \xff\n";
    EXPECT_THROW(certificate_json(loaded, statement()), Error);
}

}  // namespace
}  // namespace saltus::io::certificate_file_test
