// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "saltus/stability/basin/basin.hpp"

namespace saltus::stability {

/// What is known of a basin while its motions are being made, for pictures that update. Of very many starts some are
/// looked at, evenly spread. Labels may still change.
class BasinPreview {
public:
    /// The model must outlive this object.
    BasinPreview(const model::Model& model, const BasinOptions& options);
    ~BasinPreview();
    BasinPreview(const BasinPreview&) = delete;
    BasinPreview& operator=(const BasinPreview&) = delete;

    /// Takes note of a motion. One thread at a time.
    void add(std::size_t motion, const BasinMotion& m);
    /// The labels of the motions so far. Those that are not made are undecided.
    Basin look();
    /// The starts that are looked at.
    const BasinOptions& options() const;
    std::size_t seen() const;  ///< motions of them that were made

private:
    struct Data;
    std::unique_ptr<Data> data_;
};

}  // namespace saltus::stability
