// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/io/page/report.hpp"
#include "saltus/model/description.hpp"

/// The gallery: models with a study each, and what the papers state about them (gallery/gallery.toml).
namespace saltus::io {

/// A command on the model; `quick` in its place where time matters.
struct GalleryRun {
    std::string name;  ///< of its result folder
    std::string command, quick;
};

/// A number beside the one that comes out: `stated` as it is printed, or `formula` with the model's parameters.
struct GalleryNumber {
    std::string what, where, stated, formula, note;
    std::string ours;  ///< run>path>in>its>JSON
    int digits = 6;
};

struct GalleryStudy {
    std::string model, group, title, text;
    double moment = 0.35;  ///< share of the time that the thumbnail shows
    std::vector<GalleryRun> runs;
    std::vector<GalleryNumber> numbers;
};

struct GalleryGroup {
    std::string name, title, text;
};

struct Gallery {
    std::vector<GalleryGroup> groups;
    std::vector<GalleryStudy> studies;
};

/// Throws Error with the place of what is wrong.
Gallery parse_gallery(std::string_view text, const std::string& file);

/// What a path leads to in a JSON document: keys, numbers of entries (negative: from the end), `key=word` for the first
/// entry with it, `count` of a list, `max:key` and `min:key` over one; "–" where it leads nowhere.
std::string number_at(const std::string& json, const std::string& path, int digits);

/// The value of a formula with the parameters of a model.
double formula_value(const std::string& formula, const model::Description& model,
                     const std::vector<std::pair<std::string, std::string>>& set);

/// One study as the index shows it.
struct GalleryCard {
    const GalleryStudy* study = nullptr;
    std::string title, page, thumbnail;
    std::vector<StatedNumber> numbers;
    std::string failure;  ///< what went wrong, where something did
};

struct GalleryDocument {
    std::string title, page;
};

std::string gallery_index(const Gallery& gallery, const std::vector<GalleryCard>& cards,
                          const std::vector<GalleryDocument>& documents, const std::string& version);

/// The picture of a motion for the index: its drawing, or its curves.
std::string thumbnail(const std::string& motion_json, double moment);

}  // namespace saltus::io
