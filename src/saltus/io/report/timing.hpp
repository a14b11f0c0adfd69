// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace saltus::io {

/// Whether a document contains computing times, which differ from run to run. Result files leave them out, so that
/// equal runs give equal bytes.
enum class Timing { included, left_out };

}  // namespace saltus::io
