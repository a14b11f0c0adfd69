// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/trajectory_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "io/trajectories.hpp"
#include "saltus/base/fnv1a.hpp"
#include "support.hpp"

#if SALTUS_HDF5
#include <hdf5.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#endif

/// HDF5 leaks memory when it reads damaged files. The leak sanitizer calls this function to know what to ignore.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

namespace saltus::trajectory_file_test {

namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;
using trajectory::Trajectory;

}  // namespace

#if !SALTUS_HDF5

TEST(TrajectoryFile, SaysWhenThereIsNoHdf5) {
    const test::Folder folder;
    const std::string path = folder.file("trajectory.h5");
    const std::string refusal =
        path + ": trajectories are HDF5 files, and saltus was built without HDF5; install HDF5 and build again";
    EXPECT_EQ(test::refusal_of([&] { io::write_trajectory(path, test::ball()); }), refusal);
    EXPECT_EQ(test::refusal_of([&] { io::read_trajectory(path); }), refusal);
    EXPECT_EQ(folder.names(), Names{});
}

#else

namespace {

/// Written and read again.
Trajectory stored(const Trajectory& t) {
    const test::Folder folder;
    const std::string path = folder.file("trajectory.h5");
    io::write_trajectory(path, t);
    return io::read_trajectory(path);
}

Trajectory random_trajectory(unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
    const auto real = [&] {
        return std::bit_cast<double>((std::uint64_t{random()} << 32U) | random());  // any bits
    };
    const auto reals = [&](int n) {
        std::vector<double> list;
        for (int k = 0; k < n; ++k) list.push_back(real());
        return list;
    };
    Trajectory t;
    const int n = below(4), elements = 1 + below(4);
    for (int k = 0; k < n; ++k) t.coordinates.push_back("x" + std::to_string(k));
    for (int k = 0; k < elements; ++k)
        t.elements.push_back(
            {static_cast<trajectory::ElementKind>(below(4)), std::string(1U + random() % 20U, 'e'), k});
    const auto reaction = [&] { return trajectory::Reaction{below(elements), real(), reals(below(3))}; };
    for (int a = below(20); a > 0; --a) {
        trajectory::Arc arc{real(), real(), {}, {}};
        for (int s = below(4); s > 0; --s) {
            ode::Dense step;
            const double end = s + 1.0 / (1 + below(9));
            if (below(2) == 0)
                step.reset(s, end, 2 * n + below(3), 2 + below(ode::Dense::max_terms - 1));
            else
                step.reset_series(s, end, 2 * n + below(3), 1 + below(ode::Dense::max_series_order));
            for (int k = 0; k < step.terms(); ++k)
                for (double& c : step.term(k)) c = real();
            arc.steps.push_back(step);
        }
        for (int k = below(elements + 1); k > 0; --k) arc.modes.push_back(static_cast<trajectory::Mode>(below(5)));
        t.arcs.push_back(arc);
    }
    for (int e = below(20); e > 0; --e) {
        trajectory::Event event{static_cast<trajectory::EventKind>(below(10)),
                                real(),
                                real(),
                                real(),
                                {},
                                reals(n),
                                reals(n),
                                reals(n),
                                below(4) == 0 ? reals(n) : std::vector<double>(),
                                {},
                                {},
                                real(),
                                real(),
                                real(),
                                below(100),
                                below(3) == 0 ? "note " + std::to_string(e) : "",
                                {real(), real(), 0.0, 0.0, -1, ""}};
        if (below(3) == 0)
            event.audit = {real(), real(), 1.0 + real(), real(), below(elements), "law " + std::to_string(e)};
        for (int k = below(3); k > 0; --k) event.elements.push_back(below(elements));
        for (int k = below(3); k > 0; --k) event.impulses.push_back(reaction());
        for (int k = below(3); k > 0; --k) event.rate_jumps.push_back(reaction());
        t.events.push_back(event);
    }
    t.start = {real(), reals(n), reals(n)};
    t.end = {real(), reals(n), reals(n)};
    for (int k = below(3); k > 0; --k) t.forces.push_back(reaction());
    return t;
}

}  // namespace

// --- writing and reading

TEST(TrajectoryFile, ReadsBackEveryBit) {
    EXPECT_EQ(test::told(stored(test::ball())), test::told(test::ball()));
    EXPECT_EQ(test::told(stored(test::rich())), test::told(test::rich()));
    EXPECT_EQ(test::told(stored({})), test::told({}));
    for (const auto status :
         {trajectory::Status::completed, trajectory::Status::interrupted, trajectory::Status::failed}) {
        Trajectory t = test::ball();
        t.status = status;
        EXPECT_EQ(test::told(stored(t)), test::told(t));
    }
}

TEST(TrajectoryFile, ReadsBackEveryBitOfRandomTrajectories) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        const Trajectory t = random_trajectory(seed);
        EXPECT_EQ(test::told(stored(t)), test::told(t)) << seed;
    }
}

TEST(TrajectoryFile, TheReadTrajectoryMovesAsTheWrittenOne) {
    const Trajectory t = test::ball(), back = stored(t);
    for (int k = 0; k <= 1000; ++k) {
        const double at = 1.375 * k / 1000.0;
        EXPECT_EQ(back.left(at).q, t.left(at).q);
        EXPECT_EQ(back.right(at).u, t.right(at).u);
    }
}

TEST(TrajectoryFile, StoresOptionsOfAnyLength) {
    Trajectory t = test::ball();
    t.options = std::string(300'000, 'o');
    EXPECT_EQ(test::told(stored(t)), test::told(t));
}

TEST(TrajectoryFile, StoresManyArcs) {
    Trajectory t = test::ball();
    const trajectory::Arc arc = t.arcs[0];
    const trajectory::Event event = t.events[0];
    constexpr std::size_t many = 30'000;  // several chunks of coefficients, with steps across their borders
    for (std::size_t k = 0; k < many; ++k) {
        t.arcs.push_back(arc);
        t.arcs.back().steps[0].term(1)[0] = static_cast<double>(k);
        t.events.push_back(event);
        t.events.back().work = static_cast<double>(k);
    }
    EXPECT_TRUE(test::told(stored(t)) == test::told(t));
}

TEST(TrajectoryFile, EqualTrajectoriesGiveEqualBytes) {
    const test::Folder folder;
    io::write_trajectory(folder.file("a.h5"), test::rich());
    io::write_trajectory(folder.file("b.h5"), test::rich());
    io::write_trajectory(folder.file("c.h5"), test::ball());
    EXPECT_TRUE(test::content_of(folder.file("a.h5")) == test::content_of(folder.file("b.h5")));
    EXPECT_FALSE(test::content_of(folder.file("a.h5")) == test::content_of(folder.file("c.h5")));
}

// --- the file appears complete or not at all

TEST(TrajectoryFile, WritesOneFileAndNothingElse) {
    const test::Folder folder;
    io::write_trajectory(folder.file("a/b/run.h5"), test::rich());
    io::write_trajectory(folder.file("a/b/run.h5"), test::ball());  // replaces
    EXPECT_EQ(folder.names(), (Names{"a", "a/b", "a/b/run.h5"}));
    EXPECT_EQ(test::told(io::read_trajectory(folder.file("a/b/run.h5"))), test::told(test::ball()));
}

TEST(TrajectoryFile, LeavesNoFileIfItCannotWrite) {
    const test::Folder folder;
    const std::string file = folder.write("taken", "x");
    EXPECT_EQ(test::refusal_of([&] { io::write_trajectory(file + "/run.h5", test::ball()); }),
              file + ": cannot create the folder: Not a directory");
    fs::create_directory(folder.file("run.h5"));
    EXPECT_EQ(test::refusal_of([&] { io::write_trajectory(folder.file("run.h5"), test::ball()); }),
              folder.file("run.h5") + ": is a folder, which a result does not replace; name a plain file");
    const std::string name(300, 'n');
    EXPECT_EQ(test::refusal_of([&] { io::write_trajectory(folder.file(name), test::ball()); }),
              folder.file(name) + ": cannot be written: File name too long; check free space and permissions");
    EXPECT_EQ(folder.names(), (Names{"run.h5", "taken"}));
}

TEST(TrajectoryFile, KeepsTheOldFileWhenTheDiskIsFull) {
    const test::Folder folder;
    const std::string path = folder.file("run.h5");
    io::write_trajectory(path, test::ball());
    Trajectory large = test::ball();
    for (int k = 0; k < 5000; ++k) large.arcs.push_back(large.arcs[0]);
    const auto limited = [&] {  // in a process of its own: files of at most 64 KiB
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{65536, 65536};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        const std::string refusal = test::refusal_of([&] { io::write_trajectory(path, large); });
        std::exit(refusal == path + ": cannot be written: File too large; check free space and permissions" ? 42 : 1);
    };
    EXPECT_EXIT(limited(), testing::ExitedWithCode(42), "^$");
    EXPECT_EQ(folder.names(), Names{"run.h5"});
    EXPECT_EQ(test::told(io::read_trajectory(path)), test::told(test::ball()));
}

// --- files that are not trajectories

TEST(TrajectoryFile, RefusesFilesThatAreNotTrajectories) {
    const test::Folder folder;
    const auto refusal = [](const std::string& path) {
        const std::string text = test::refusal_of([&] { io::read_trajectory(path); });
        return text.starts_with(path + ": ") ? text.substr(path.size() + 2) : text;
    };
    const std::string none = "give a trajectory.h5 that saltus simulate --out wrote";
    EXPECT_EQ(refusal(folder.file("nowhere.h5")), "cannot be opened; check the path");
    EXPECT_EQ(refusal(folder.path().string()), "is a folder, not a file; give the trajectory.h5 in it");
    EXPECT_EQ(refusal(folder.write("empty.h5", "")), "is not HDF5; " + none);
    EXPECT_EQ(refusal(folder.write("text.h5", "t,y,y'\n0,1,0\n")), "is not HDF5; " + none);
    EXPECT_EQ(refusal(folder.write("begun.h5", "\x89HDF\r\n\x1a\n")),
              "cannot be read; it may be cut short or damaged; run the simulation again");
    const std::string other = folder.file("other.h5");
    H5Fclose(H5Fcreate(other.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    EXPECT_EQ(refusal(other), "is an HDF5 file, but not a trajectory of saltus; " + none);
}

TEST(TrajectoryFile, KeepsDerivedQuantities) {
    const test::Folder folder;
    trajectory::OutputCurves curves;
    curves.names = {"strain", "force"};
    curves.units = {"mm/m", ""};
    curves.t = {0.0, 0.5, 0.5, 1.0};
    curves.values = {{0.0, 1.0 / 3.0, 1.0 / 3.0, 2.0}, {1.0, 2.0, 3.0, std::numeric_limits<double>::quiet_NaN()}};
    const std::string path = folder.file("trajectory.h5");
    io::write_trajectory(path, test::rich(), nullptr, &curves);
    const trajectory::OutputCurves back = io::read_outputs(path);
    EXPECT_EQ(back.names, curves.names);
    EXPECT_EQ(back.units, curves.units);
    EXPECT_EQ(back.t, curves.t);
    ASSERT_EQ(back.values.size(), 2U);
    EXPECT_EQ(back.values[0], curves.values[0]);
    EXPECT_EQ(back.values[1][2], 3.0);
    EXPECT_TRUE(std::isnan(back.values[1][3]));
    EXPECT_EQ(test::told(io::read_trajectory(path)), test::told(test::rich())) << "the motion itself is the same";
    io::write_trajectory(folder.file("run.h5"), test::rich());
    EXPECT_TRUE(io::read_outputs(folder.file("run.h5")).names.empty());
}

TEST(TrajectoryFile, DetectsThatAFileIsCutShort) {
    const test::Folder folder;
    const std::string path = folder.file("run.h5");
    io::write_trajectory(path, test::rich());
    const std::string whole = test::content_of(path);
    for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 40) {
        folder.write("run.h5", whole.substr(0, size));
        EXPECT_TRUE(test::refusal_of([&] { io::read_trajectory(path); }).starts_with(path + ": ")) << size;
    }
}

TEST(TrajectoryFile, DetectsChangedBytesOrIsNotAffectedByThem) {
    const test::Folder folder;
    const std::string path = folder.file("run.h5"), expected = test::told(test::rich());
    io::write_trajectory(path, test::rich());
    const std::string whole = test::content_of(path);
    std::size_t found = 0, tried = 0;
    for (std::size_t at = 0; at < whole.size(); at += 1 + whole.size() / 400) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ (1 << (at % 8)));
        folder.write("run.h5", changed);
        std::string told;
        const std::string refusal = test::refusal_of([&] { told = test::told(io::read_trajectory(path)); });
        ++tried;
        if (refusal == "accepted")
            EXPECT_EQ(told, expected) << at;  // in what the library leaves unused
        else
            ++found;
    }
    EXPECT_GT(found, tried / 3);
}

// --- files with correct checksums whose numbers are inconsistent

namespace {

/// Changes the first number of a column, and its checksum with it.
template <class T>
void change_first(const std::string& path, const char* name, hid_t type, T value) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), set = H5Dopen2(file, name, H5P_DEFAULT);
    const hid_t space = H5Dget_space(set), sum = H5Aopen(set, "checksum", H5P_DEFAULT);
    std::vector<T> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    values.at(0) = value;
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    const std::uint64_t checksum = fnv1a({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
    H5Awrite(sum, H5T_NATIVE_UINT64, &checksum);
    H5Aclose(sum), H5Sclose(space), H5Dclose(set), H5Fclose(file);
}

void remove(const std::string& path, const char* name) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, name, H5P_DEFAULT);
    H5Fclose(file);
}

/// The refusal of the rich trajectory after one number in its file was changed.
template <class Change>
std::string refusal_after(Change change) {
    const test::Folder folder;
    const std::string path = folder.file("run.h5"),
                      remedy = "; it may be cut short or damaged; run the simulation again";
    io::write_trajectory(path, test::rich());
    change(path);
    const std::string text = test::refusal_of([&] { io::read_trajectory(path); });
    EXPECT_TRUE(text.starts_with(path + ": ") && text.ends_with(remedy)) << text;
    return text.substr(path.size() + 2, text.size() - path.size() - 2 - remedy.size());
}

std::string after_integer(const char* name, std::int32_t value) {
    return refusal_after([&](const std::string& path) { change_first(path, name, H5T_NATIVE_INT32, value); });
}
std::string after_offset(const char* name, std::int64_t value) {
    return refusal_after([&](const std::string& path) { change_first(path, name, H5T_NATIVE_INT64, value); });
}

}  // namespace

TEST(TrajectoryFile, NamesTheColumnThatDoesNotFit) {
    EXPECT_EQ(after_integer("events/elements", 4), "events/elements has 4, not in 0 ... 4 - 1");
    EXPECT_EQ(after_integer("impulses/element", -1), "impulses/element has -1, not in 0 ... 4 - 1");
    EXPECT_EQ(after_integer("rate_jumps/element", 7), "rate_jumps/element has 7, not in 0 ... 4 - 1");
    EXPECT_EQ(after_integer("forces/element", 99), "forces/element has 99, not in 0 ... 4 - 1");
    EXPECT_EQ(after_offset("events/noted", 3), "events/noted has 3, not in 0 ... 3 - 1");
    EXPECT_EQ(after_offset("arcs/steps_offsets", 1), "arcs/steps_offsets does not ascend from 0 to 5");
    EXPECT_EQ(after_offset("events/q_offsets", 2), "events/q_offsets does not ascend from 0 to 3");
    const std::string no_step = "steps, row 0, is not a polynomial of positions and velocities";
    EXPECT_EQ(after_integer("steps/terms", 4), no_step);
    EXPECT_EQ(after_integer("steps/terms", 1 << 30), no_step);
    EXPECT_EQ(after_integer("steps/components", -2), no_step);
    EXPECT_EQ(refusal_after([](const std::string& path) { change_first(path, "steps/t_old", H5T_NATIVE_DOUBLE, 9.0); }),
              no_step);
    EXPECT_EQ(refusal_after(
                  [](const std::string& path) { change_first(path, "steps/t_new", H5T_NATIVE_DOUBLE, std::nan("")); }),
              no_step);
    EXPECT_EQ(refusal_after([](const std::string& path) { remove(path, "events/t_left"); }),
              "events/t_left is missing");
    EXPECT_EQ(refusal_after([](const std::string& path) { remove(path, "steps"); }), "steps is missing");
}

TEST(TrajectoryFile, AsksForAnotherVersionIfTheLayoutIsLater) {
    const test::Folder folder;
    const std::string path = folder.file("run.h5");
    io::write_trajectory(path, test::ball());
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), layout = H5Aopen(file, "layout", H5P_DEFAULT);
    const std::int64_t later = 3;
    H5Awrite(layout, H5T_NATIVE_INT64, &later);
    H5Aclose(layout), H5Fclose(file);
    EXPECT_EQ(test::refusal_of([&] { io::read_trajectory(path); }),
              path +
                  ": has layout 3, and this saltus reads layouts 1 to 2; use the version of saltus that wrote it, or a "
                  "later one");
}

/// Files of layout 1 have neither Taylor series nor a guarantee, nor jumps of rates.
TEST(TrajectoryFile, ReadsTheFirstLayout) {
    const test::Folder folder;
    const std::string path = folder.file("run.h5");
    const trajectory::Trajectory written = test::ball();
    io::write_trajectory(path, written);
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), layout = H5Aopen(file, "layout", H5P_DEFAULT);
    const std::int64_t first = 1;
    H5Awrite(layout, H5T_NATIVE_INT64, &first);
    H5Adelete(file, "guarantee");
    H5Ldelete(file, "steps/series", H5P_DEFAULT);
    H5Adelete(file, "rate_jumps");
    H5Ldelete(file, "rate_jumps", H5P_DEFAULT);
    H5Ldelete(file, "events/rate_jumps_offsets", H5P_DEFAULT);
    H5Aclose(layout), H5Fclose(file);
    EXPECT_EQ(test::told(io::read_trajectory(path)), test::told(written));
}

/// The words of enumerations are stored in the file, for other programs.
TEST(TrajectoryFile, StoresTheWordsOfTheKinds) {
    const test::Folder folder;
    const std::string path = folder.file("run.h5");
    io::write_trajectory(path, test::ball());
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT),
                set = H5Dopen2(file, "events/kind", H5P_DEFAULT), type = H5Dget_type(set);
    ASSERT_EQ(H5Tget_nmembers(type), 10);
    for (unsigned k = 0; k < 10; ++k) {
        char* const word = H5Tget_member_name(type, k);
        EXPECT_EQ(word, trajectory::to_string(static_cast<trajectory::EventKind>(k)));
        H5free_memory(word);
    }
    H5Tclose(type), H5Dclose(set), H5Fclose(file);
}

#endif

}  // namespace saltus::trajectory_file_test
