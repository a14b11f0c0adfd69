// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "saltus/io/page/report_page.hpp"
#include "saltus/model/description.hpp"

/// The gallery (`saltus gallery`): a page for each shipped model, with a study and the numbers that papers state. The
/// studies are declared in gallery/gallery.toml. gallery.cpp reads this file; gallery_index.cpp writes the index page.
namespace saltus::io {

/// A command that is run on the model of a study.
struct GalleryRun {
    std::string name;     ///< name of its result folder
    std::string command;  ///< command line without program and model: "simulate --t-end 5"
    std::string quick;    ///< a faster command line, which --quick uses instead
};

/// A number that a paper states and the place of the same number in the results. The stated number is `stated`, as
/// printed, or the value of `formula` with the parameters of the model.
struct GalleryNumber {
    std::string what, where, stated, formula, note;
    std::string ours;  ///< "run>key>key": the name of a run, then a path in its JSON (see `number_at`)
    int digits = 6;    ///< significant digits that are shown
};

/// One model with its runs.
struct GalleryStudy {
    std::string model;        ///< name of the model file without extension
    std::string group;        ///< name of a GalleryGroup
    std::string title, text;  ///< shown at the top of its page
    double moment = 0.35;     ///< the thumbnail shows the time t_begin + moment·(t_end − t_begin)
    std::vector<GalleryRun> runs;
    std::vector<GalleryNumber> numbers;
};

/// A section of the index.
struct GalleryGroup {
    std::string name, title, text;
};

struct Gallery {
    std::vector<GalleryGroup> groups;
    std::vector<GalleryStudy> studies;
};

/// Reads gallery.toml. Throws Error with line and column of what is wrong.
Gallery parse_gallery(std::string_view text, const std::string& file);

/// The value at a path in a JSON document, as text with `digits` significant digits. Steps of a path are separated by
/// '>': the key of an object; the index of an entry of a list (negative: from the end); `key=word` for the entries of a
/// list whose key has this value; `count` for the length of a list; `max:key` and `min:key` for the extreme over a
/// list. "–" if the path leads nowhere.
std::string number_at(const std::string& json, const std::string& path, int digits);

/// The value of a formula of the parameters of a model, with changed parameters `set`. Throws Error if it cannot be
/// evaluated.
double formula_value(const std::string& formula, const model::Description& model,
                     const std::vector<std::pair<std::string, std::string>>& set);

/// One study in the index.
struct GalleryCard {
    const GalleryStudy* study = nullptr;  ///< must outlive the card
    std::string title;
    std::string page;       ///< relative path of its page
    std::string thumbnail;  ///< an SVG picture; may be empty
    std::vector<StatedNumber> numbers;
    std::string failure;  ///< which runs failed; empty if all succeeded
};

/// A link to a page of the documentation.
struct GalleryDocument {
    std::string title, page;
};

/// The index page of the gallery: the cards by group, then the documents.
std::string gallery_index(const Gallery& gallery, const std::vector<GalleryCard>& cards,
                          const std::vector<GalleryDocument>& documents);

/// A page of the documentation as a part of a report. `source` is the name of its file; `markdown` is its text.
ReportPart document_part(const std::string& source, const std::string& title, const std::string& markdown);

/// The picture of a motion for the index, as SVG: its drawing at a moment (see `GalleryStudy::moment`). Empty if the
/// model has no drawing. `motion_json` is the text of `motion_json()`.
std::string thumbnail(const std::string& motion_json, double moment);

}  // namespace saltus::io
