// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/ensemble/ensemble_report.hpp"

#include <fmt/format.h>

#include "saltus/io/report/detail/json.hpp"

namespace saltus::io {

std::string part_json(const PartReport& p) {
    json::Json j;
    j["model"] = p.model;
    j["status"] = p.done == p.starts ? "completed" : "interrupted";
    j["shard"] = {{"index", p.index}, {"of", p.of}, {"starts", p.starts}, {"done", p.done}};
    j["statistics"] = {{"runs", p.made}};
    return json::document(j);
}

std::string part_text(const PartReport& p, const std::string& folder) {
    return fmt::format("part {}/{}: {} of {} runs, {} of them now\nall parts together: saltus merge {}\n", p.index,
                       p.of, p.done, p.starts, p.made, folder);
}

double device_rate(const ensemble::DeviceUse& use) {
    return use.kernel_seconds > 0.0 ? static_cast<double>(use.steps) / use.kernel_seconds : 0.0;
}

std::string device_text(const std::string& name, const ensemble::DeviceUse& use) {
    if (name == "cpu") return {};
    std::string text = fmt::format(
        "  device      {}, {} steps in {:.3f} s of its time, {:.3g} a second; kernel {} in {:.2f} s", name, use.steps,
        use.kernel_seconds, device_rate(use), use.from_cache ? "found" : "compiled", use.compile_seconds);
    if (use.given_up > 0) text += fmt::format("; {} motions made by the CPU", use.given_up);
    return text + "\n";
}

}  // namespace saltus::io
