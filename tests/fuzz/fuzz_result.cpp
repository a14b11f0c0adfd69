// SPDX-License-Identifier: Apache-2.0
// Any text as a result document: it becomes a part of a page, or an Error; nothing else may happen. What follows a NUL
// byte is the table beside a basin.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "saltus/base/error.hpp"
#include "saltus/io/page/detail/result_document.hpp"
#include "saltus/io/page/report_page.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace saltus;
    const std::string text(reinterpret_cast<const char*>(data), size);
    const std::size_t end = text.find('\0');
    const auto table = [&] { return end == std::string::npos ? std::nullopt : std::optional(text.substr(end + 1)); };
    try {
        std::optional<io::ReportPart> part = io::document_part(text.substr(0, end), "fuzz", table);
        if (!part) return 0;
        io::Report report;
        report.parts.push_back(std::move(*part));
        io::report_json(report);
        io::static_report_html(report);
    } catch (const Error&) {
    }
    return 0;
}
