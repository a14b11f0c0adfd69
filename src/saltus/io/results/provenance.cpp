// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/provenance.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "saltus/io/results/fnv1a.hpp"

namespace saltus::io {

std::string model_hash(std::string_view bytes, const std::vector<std::pair<std::string, std::string>>& set) {
    std::uint64_t hash = fnv1a(bytes);
    for (const auto& [name, value] : set) hash = fnv1a('\0' + name + '=' + value, hash);
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return text;
}

std::string quoted_word(const std::string& word) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || std::string_view("_-+=./:,%@").find(static_cast<char>(c)) != std::string::npos;
    });
    if (plain) return word;
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
    return text + "'";
}

std::vector<std::string> split_words(std::string_view line) {
    std::vector<std::string> words;
    std::string word;
    char quote = 0;  // that is open
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
