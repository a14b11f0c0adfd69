// SPDX-License-Identifier: Apache-2.0
#include "saltus/trajectory/warning_tally.hpp"

#include <set>

namespace saltus::trajectory {

std::vector<std::string> about_motion(const std::vector<std::string>& warnings) {
    std::vector<std::string> list;
    for (const std::string& w : warnings)
        if (w.find(final_forces_not_unique) == std::string::npos) list.push_back(w);
    return list;
}

std::string without_times(std::string_view warning) {
    constexpr std::string_view time = "t = ", at = " at ";
    std::string out;
    for (std::size_t i = 0; i < warning.size();) {
        const bool alone = i == 0 || warning[i - 1] == ' ';
        if (!alone || warning.substr(i, time.size()) != time) {
            out += warning[i++];
            continue;
        }
        i = warning.find_first_not_of("+-.0123456789e", i + time.size());
        if (i == std::string_view::npos) i = warning.size();
        if (out.ends_with(at))
            out.resize(out.size() - at.size());
        else
            out += "t = …";
    }
    return out;
}

void WarningTally::add(const std::vector<std::string>& warnings, const std::string& name) {
    ++motions_;
    std::set<std::string> seen;
    for (const std::string& warning : warnings) {
        std::string text = without_times(warning);
        if (!seen.insert(text).second) continue;
        const auto [place, is_new] = place_.emplace(text, kinds_.size());
        if (is_new) kinds_.push_back({std::move(text), name, 0});
        ++kinds_[place->second].count;
    }
}

std::vector<std::string> WarningTally::texts(const std::string& what) const {
    std::vector<std::string> list;
    for (const Kind& kind : kinds_)
        list.push_back(std::to_string(kind.count) + " of " + std::to_string(motions_) + " " + what +
                       (kind.first.empty() ? "" : " (the first: " + kind.first + ")") + ": " + kind.text);
    return list;
}

}  // namespace saltus::trajectory
