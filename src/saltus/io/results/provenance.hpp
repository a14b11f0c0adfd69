// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "saltus/integrate/simulate.hpp"
#include "saltus/model/build_options.hpp"
#include "saltus/trajectory/trajectory.hpp"

/// Where a result comes from: version of the library, model, and the options that counted. Enough to compute it again.
///
///     const io::LoadedModel loaded = io::load_model("models/rocking-bar.toml");
///     trajectory::Trajectory motion = integrate::simulate(loaded.model, method, options);
///     io::record_provenance(motion, loaded, method, options);
namespace saltus::io {

struct LoadedModel;  // load_model.hpp

/// Changes of parameters: name and number or expression, in the order in which they were given.
using Assignments = std::vector<std::pair<std::string, std::string>>;

/// A fingerprint of a model file with changed parameters: 16 hexadecimal digits. It is the FNV-1a hash (64 bit) of the
/// bytes of the file, followed by '\0' and `name=value` for each assignment. Equal files and assignments give equal
/// hashes. It finds changes, not forgeries.
std::string model_hash(std::string_view bytes, const Assignments& set);

/// The options that decide a motion, in the words of `saltus simulate`, such as
/// "--method event --t-end 10 --rtol 1e-09 --atol 1e-12 --set mu=0.3". `restart` is the trajectory file whose final
/// state is the start; it is empty for a start from the initial state of the model. Fields of the method that
/// `saltus simulate` has no option for (for example `contact_tolerance`) do not appear.
std::string simulate_options(const integrate::Method& method, const integrate::Options& options,
                             const model::BuildOptions& build, const std::string& restart = "");

/// Fills `version`, `options` and `model_hash` of a motion that `integrate::simulate` computed from `loaded` with these
/// options. (`model` and `method` are set by `integrate::simulate`.)
void record_provenance(trajectory::Trajectory& motion, const LoadedModel& loaded, const integrate::Method& method,
                       const integrate::Options& options, const std::string& restart = "");

/// Whether two motions with these options differ in their ends at most: all options are the same except `--t-end` and
/// `--restart`.
bool differ_in_ends_only(std::string_view options, std::string_view other);

/// The part of `simulate_options` that decides the model: `--set` and `--perturbed`. Words that it does not know are
/// skipped.
model::BuildOptions build_options_in(std::string_view options);

/// A word as it is written on a command line: in single quotes if it contains characters that a shell treats specially.
std::string quoted_word(const std::string& word);

/// Splits a command line into words. Single quotes, double quotes and backslashes act as in a shell.
std::vector<std::string> split_words(std::string_view line);

}  // namespace saltus::io
