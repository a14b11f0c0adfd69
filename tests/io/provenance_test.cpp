// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/provenance.hpp"

#include <gtest/gtest.h>

#include "saltus/base/version.hpp"
#include "saltus/io/model/load_model.hpp"
#include "support.hpp"

namespace saltus::provenance_test {

namespace {

const std::string falling_ball =
    "[system]\nq = [\"y\"]\nT = \"y'^2/2\"\nU = \"g*y\"\n[parameters]\ng = 9.81\n[initial]\nq = { y = 1 }\n";

}  // namespace

TEST(Provenance, AnEmbedderGetsTheOriginOfAMotionFromTheLibrary) {
    const test::Folder folder;
    model::BuildOptions build;
    build.set = {{"g", "2*5"}};
    const io::LoadedModel loaded = io::load_model(folder.write("ball.toml", falling_ball), build);
    integrate::Options options;
    options.t_end = 0.25;
    const integrate::EventDriven method;
    trajectory::Trajectory motion = integrate::simulate(loaded.model, method, options);
    io::record_provenance(motion, loaded, method, options);
    EXPECT_EQ(motion.method, "event");
    EXPECT_EQ(motion.version, library_version());
    EXPECT_EQ(motion.options, "--method event --t-end 0.25 --rtol 1e-09 --atol 1e-12 --set 'g=2*5'");
    EXPECT_EQ(motion.model_hash, io::model_hash(falling_ball, build.set));
}

TEST(Provenance, TheVersionIsThreeNumbers) {
    const std::string& version = library_version();
    EXPECT_EQ(std::count(version.begin(), version.end(), '.'), 2) << version;
}

TEST(Provenance, OptionsHaveTheOrderOfTheCommandLine) {
    integrate::Moreau method;
    method.implicit = true;
    integrate::Options options;
    options.t_end = 2.0;
    options.energy = integrate::EnergyRule::stop;
    model::BuildOptions build;
    build.perturbed = build.project_initial = true;
    build.set = {{"mu", "0.5"}};
    EXPECT_EQ(io::simulate_options(method, options, build, "my run/trajectory.h5"),
              "--method moreau --t-end 2 --h 0.001 --theta 0.5 --implicit --strict-energy "
              "--restart 'my run/trajectory.h5' --perturbed --project-initial --set mu=0.5");
}

TEST(Provenance, TheModelCanBeRebuiltFromTheOptions) {
    model::BuildOptions build;
    build.perturbed = true;
    build.set = {{"mu", "0.5"}, {"c", "it's = 2 * mu"}};
    const model::BuildOptions back =
        io::build_options_in(io::simulate_options(integrate::Penalty{}, integrate::Options{}, build));
    EXPECT_TRUE(back.perturbed);
    EXPECT_EQ(back.set, build.set);
}

TEST(ModelFile, CarriesTheBytesAndTheDescriptionOfOneReading) {
    const test::Folder folder;
    const std::string path = folder.write("ball.toml", falling_ball);
    const io::ModelFile file = io::read_model_file(path);
    EXPECT_EQ(file.path, path);
    EXPECT_EQ(file.text, falling_ball);
    EXPECT_EQ(file.description.file, path);
    EXPECT_EQ(file.description.q.size(), 1U);
}

}  // namespace saltus::provenance_test
