// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/provenance.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "saltus/base/fnv1a.hpp"
#include "saltus/base/plain_text.hpp"
#include "saltus/base/text.hpp"
#include "saltus/base/version.hpp"
#include "saltus/io/model/load_model.hpp"

namespace saltus::io {

namespace {

void add(std::string& text, const char* option, double value) {
    text += std::string(" ") + option + " " + number_text(value);
}

/// Of the two methods that integrate smooth arcs to tolerances.
template <class Smooth>
std::string smooth_options(const char* method, const Smooth& m, double t_end) {
    std::string text = std::string("--method ") + method;
    add(text, "--t-end", t_end);
    add(text, "--rtol", m.rtol);
    add(text, "--atol", m.atol);
    if (std::isfinite(m.max_step)) add(text, "--max-step", m.max_step);
    return m.implicit ? text + " --implicit" : text;
}

std::string method_options(const integrate::EventDriven& m, double t_end) { return smooth_options("event", m, t_end); }
std::string method_options(const integrate::Penalty& m, double t_end) { return smooth_options("penalty", m, t_end); }
std::string method_options(const integrate::Moreau& m, double t_end) {
    std::string text = "--method moreau";
    add(text, "--t-end", t_end);
    add(text, "--h", m.h);
    add(text, "--theta", m.theta);
    if (m.restitution == integrate::Restitution::literal) text += " --restitution literal";
    return m.implicit ? text + " --implicit" : text;
}

}  // namespace

std::string model_hash(std::string_view bytes, const Assignments& set) {
    std::uint64_t hash = fnv1a(bytes);
    for (const auto& [name, value] : set) hash = fnv1a('\0' + name + '=' + value, hash);
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return text;
}

std::string simulate_options(const integrate::Method& method, const integrate::Options& options,
                             const model::BuildOptions& build, const std::string& restart) {
    std::string text = std::visit([&](const auto& m) { return method_options(m, options.t_end); }, method);
    if (options.energy == integrate::EnergyRule::stop) text += " --strict-energy";
    if (options.energy == integrate::EnergyRule::repair) text += " --repair-energy";
    if (!restart.empty()) text += " --restart " + quoted_word(restart);
    if (build.perturbed) text += " --perturbed";
    if (build.project_initial) text += " --project-initial";
    for (const auto& [name, value] : build.set) text += " --set " + quoted_word(name + "=" + value);
    return text;
}

void record_provenance(trajectory::Trajectory& motion, const LoadedModel& loaded, const integrate::Method& method,
                       const integrate::Options& options, const std::string& restart) {
    motion.version = library_version();
    motion.options = simulate_options(method, options, loaded.build, restart);
    motion.model_hash = model_hash(loaded.file.text, loaded.build.set);
}

bool differ_in_ends_only(std::string_view options, std::string_view other) {
    const auto without_ends = [](std::string_view line) {
        std::vector<std::string> words;
        const std::vector<std::string> all = split_words(line);
        for (std::size_t k = 0; k < all.size(); ++k)
            if (all[k] == "--t-end" || all[k] == "--restart")
                ++k;  // and its value
            else
                words.push_back(all[k]);
        return words;
    };
    return without_ends(options) == without_ends(other);
}

model::BuildOptions build_options_in(std::string_view options) {
    model::BuildOptions build;
    const std::vector<std::string> words = split_words(options);
    for (std::size_t k = 0; k < words.size(); ++k) {
        if (words[k] == "--perturbed") build.perturbed = true;
        if (words[k] == "--method" && k + 1 < words.size()) build.penalty = words[k + 1] == "penalty";
        if (words[k] != "--set" || k + 1 == words.size()) continue;
        const std::size_t equals = words[k + 1].find('=');
        if (equals != std::string::npos)
            build.set.emplace_back(words[k + 1].substr(0, equals), words[k + 1].substr(equals + 1));
    }
    return build;
}

std::string quoted_word(const std::string& word) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
        return is_letter_or_digit(c) || std::string_view("_-+=./:,%@").find(c) != std::string::npos;
    });
    if (plain) return word;
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
    return text + "'";
}

std::vector<std::string> split_words(std::string_view line) {
    std::vector<std::string> words;
    std::string word;
    char quote = 0;  // the quote that is open; 0: none
    bool begun = false;
    for (std::size_t k = 0; k < line.size(); ++k) {
        const char c = line[k];
        if (quote != 0 ? c == quote : (c == '\'' || c == '"')) {
            quote = quote != 0 ? '\0' : c;
            begun = true;
        } else if (quote != '\'' && c == '\\' && k + 1 < line.size()) {
            word += line[++k];
            begun = true;
        } else if (quote == 0 && c == ' ') {
            if (begun) words.push_back(std::move(word));
            word.clear();
            begun = false;
        } else {
            word += c;
            begun = true;
        }
    }
    if (begun) words.push_back(std::move(word));
    return words;
}

}  // namespace saltus::io
