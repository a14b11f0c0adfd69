// SPDX-License-Identifier: Apache-2.0
// Stands for the interactive page, which the build otherwise embeds.
#include "saltus/io/page/embedded.hpp"

namespace saltus::io {

std::span<const EmbeddedFile> report_page_file() {
    static constexpr EmbeddedFile page{"page.html", {}};
    return {&page, 1};
}

}  // namespace saltus::io
