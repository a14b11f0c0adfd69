// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/io/page/report_page.hpp"
#include "saltus/model/fwd.hpp"

/// The documents of `saltus studio`: the page, and the answers that the page gets from the program (docs/studio.md).
/// web/src/studio.ts reads them.
namespace saltus::io {

/// The page of the studio. `file` is the path of the model file, as the user gave it.
/// Precondition: has_interactive_page().
std::string studio_html(const std::string& file);

/// A model file as the studio knows it.
struct StudioModel {
    long revision = 0;                    ///< number of this version of the file, from 1
    std::string text;                     ///< the whole file
    const Error* error = nullptr;         ///< why this version is refused; null: it is a model
    long shown_revision = 0;              ///< the last version that is a model; 0: none was
    const model::Model* shown = nullptr;  ///< that model; null: none was
};

/// Version, text, error, and of the model: name, coordinates, parameters, initial values and defaults of a motion.
std::string studio_model_json(const StudioModel& model);

/// A motion (motion_json) of the version `revision`, with the values of all parameters and the start of the motion.
std::string studio_motion_json(long revision, const model::Model& model, const std::string& motion);

/// An error in the place of a motion or of an answer.
std::string studio_error_json(long revision, const Error& error);

/// A question that is computed.
struct StudioJob {
    long number = 0;
    std::string command;             ///< its words, for the reader
    std::string status;              ///< running, done, failed, refused or cancelled
    double seconds = 0.0;            ///< since it began, or that it took
    double share = -1.0;             ///< share of the work that is done, 0 to 1; negative: unknown
    std::string message;             ///< why there is no result, or what the program said
    const Report* result = nullptr;  ///< its parts; null: not yet, or none
};

std::string studio_job_json(const StudioJob& job);

}  // namespace saltus::io
