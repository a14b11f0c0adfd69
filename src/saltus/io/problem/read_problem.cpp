// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/problem/read_problem.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <utility>

#include "saltus/base/text.hpp"
#include "saltus/io/problem/detail/memory_limit.hpp"
#include "saltus/io/problem/detail/problem_complementarity.hpp"
#include "saltus/io/problem/detail/problem_friction.hpp"
#include "saltus/io/problem/detail/problem_scanner.hpp"
#include "saltus/io/problem/fclib.hpp"

namespace saltus::io {

namespace {

constexpr std::array<std::pair<ProblemKind, std::string_view>, 7> kind_names{{{ProblemKind::fc, "fc"},
                                                                              {ProblemKind::gfc, "gfc"},
                                                                              {ProblemKind::rfc, "rfc"},
                                                                              {ProblemKind::grfc, "grfc"},
                                                                              {ProblemKind::lcp, "lcp"},
                                                                              {ProblemKind::mlcp, "mlcp"},
                                                                              {ProblemKind::relay, "relay"}}};

bool is_friction(ProblemKind kind) { return kind <= ProblemKind::grfc; }

/// What a layout gives when a text fits it. Friction texts are not assembled yet, because that is expensive.
using Layout = std::variant<FrictionText, ContactProblem>;

/// Tries one family of layouts: friction (`fc`), `lcp` with relay, or `mlcp`. Throws Misfit.
Layout read_layout(std::string_view text, ProblemKind family, std::optional<ProblemKind> kind) {
    Scanner in(text);
    if (is_friction(family)) return read_friction(in, kind);
    if (family == ProblemKind::mlcp) return read_mlcp(in);
    return read_lcp_or_relay(in, kind);
}

ContactProblem finished(Layout&& layout, std::string_view text, const std::string& file) {
    ContactProblem result;
    if (FrictionText* const friction = std::get_if<FrictionText>(&layout)) {
        const Place place = place_of(text, friction->matrix_at, file);
        result = assembled(std::move(*friction), place);
    } else {
        result = std::get<ContactProblem>(std::move(layout));
    }
    result.file = file;
    return result;
}

ProblemKind kind_of(const Layout& layout) {
    if (const FrictionText* const friction = std::get_if<FrictionText>(&layout)) return kind_of(*friction);
    return std::get<ContactProblem>(layout).kind;
}

/// Whether a text begins `2 storage 2 …`: an lcp with two unknowns. Planar contacts begin with 2 too, and then the
/// second word is their number; only the word CSparse in the head of a sparse matrix tells them apart. Without this
/// test a faulty lcp would get the message of the friction layout.
bool begins_like_lcp_of_two(std::string_view text) {
    Scanner in(text);
    std::array<Word, 7> word;
    for (Word& w : word) w = in.next();
    const std::optional<std::int64_t> storage = integer_of(word[1].text);
    return word[0].text == "2" && storage && *storage >= 0 && *storage <= 2 && word[2].text == "2" &&
           word[6].text != "CSparse";
}

const char* const beginnings =
    "expected the dimension of a contact (2, 3 or 5), the number of unknowns, or the two flags of an mlcp";

/// The one layout that fits. Throws Misfit if none fits, or more than one.
Layout infer_layout(std::string_view text) {
    std::vector<Layout> fits;
    std::optional<Misfit> furthest;
    const std::size_t beginning = Scanner(text).position();
    for (const ProblemKind family : {ProblemKind::fc, ProblemKind::lcp, ProblemKind::mlcp}) {
        if (family == ProblemKind::fc && begins_like_lcp_of_two(text)) continue;
        try {
            fits.push_back(read_layout(text, family, {}));
        } catch (const Misfit& misfit) {
            if (!furthest || misfit.offset > furthest->offset) furthest = misfit;
        }
    }
    if (fits.size() > 1) {
        std::vector<std::string> names;
        for (const Layout& layout : fits) names.emplace_back(to_string(kind_of(layout)));
        throw Misfit{beginning, "the content fits " + listing(names), "give the kind with --kind"};
    }
    if (!fits.empty()) return std::move(fits.front());
    if (furthest->offset == beginning)
        throw Misfit{beginning, "no contact problem begins with " + quoted(Scanner(text).peek()), beginnings};
    throw *furthest;
}

/// The remedy for a text that does not have the kind that was given: the kind that it has, if it can be inferred.
std::string other_kind(std::string_view text, ProblemKind kind) {
    try {
        const ProblemKind found = kind_of(infer_layout(text));
        if (found != kind) return "the content is that of --kind " + std::string(to_string(found));
    } catch (const Misfit&) {
    }
    return {};
}

/// The first bytes of a file, at most `limit`.
std::string content_of(const std::string& path, std::uintmax_t limit) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) throw Error("no such file", {path, 0, 0});
    if (fs::is_directory(status)) throw Error("is a folder, not a file", {path, 0, 0}, "give the problem files in it");
    if (!fs::is_regular_file(status))
        throw Error("is neither a file nor a folder", {path, 0, 0}, "copy its content into a file and give that file");
    const std::uintmax_t size = fs::file_size(path, error);
    if (error) throw Error("cannot be read: " + error.message(), {path, 0, 0});
    // A number takes at least 2 bytes in a text and 8 bytes in memory.
    if (size > 2 * memory_limit) throw Error("is too large: the limit is 4 GiB", {path, 0, 0});
    std::ifstream in(path, std::ios::binary);
    std::string content(static_cast<std::size_t>(std::min(size, limit)), '\0');
    in.read(content.data(), static_cast<std::streamsize>(content.size()));
    if (!in) throw Error("cannot be read", {path, 0, 0});
    return content;
}

}  // namespace

std::string_view to_string(ProblemKind kind) {
    return std::find_if(kind_names.begin(), kind_names.end(), [&](const auto& entry) { return entry.first == kind; })
        ->second;
}

std::optional<ProblemKind> problem_kind(std::string_view name) {
    for (const auto& [kind, text] : kind_names)
        if (text == name) return kind;
    return {};
}

ContactProblem parse_problem(std::string_view text, const std::string& file, std::optional<ProblemKind> kind) {
    if (Scanner(text).at_end()) throw Error("the file is empty", place_of(text, text.size(), file), beginnings);
    try {
        if (!kind) return finished(infer_layout(text), text, file);
        return finished(read_layout(text, *kind, kind), text, file);
    } catch (const Misfit& misfit) {
        const std::string other = kind ? other_kind(text, *kind) : "";
        throw Error(misfit.message, place_of(text, misfit.offset, file), other.empty() ? misfit.remedy : other);
    }
}

ContactProblem read_problem(const std::string& path, std::optional<ProblemKind> kind) {
    constexpr std::uintmax_t hdf5_signature_bytes = 8, whole_file = 2 * memory_limit;
    if (is_hdf5(content_of(path, hdf5_signature_bytes))) return read_fclib(path, kind);
    if (path.ends_with(".toml"))
        throw Error("is a model file, not a contact problem", {path, 0, 0}, "inspect it with saltus check");
    return parse_problem(content_of(path, whole_file), path, kind);
}

}  // namespace saltus::io
