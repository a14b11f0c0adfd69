// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/device_report.hpp"

#include <thread>

#include "saltus/base/text.hpp"
#include "saltus/io/report/detail/json.hpp"

namespace saltus::io {

namespace {

constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;

}  // namespace

std::string devices_text(const ensemble::DevicesFound& found) {
    std::string text = "cpu         " + counted(std::thread::hardware_concurrency(), "core") + "\n";
    for (const ensemble::Device& d : found.devices) {
        std::string kind = ensemble::to_string(d.kind);
        kind.resize(12, ' ');
        text += kind + d.name + ", " + counted(static_cast<std::size_t>(d.units), "unit") + ", " +
                std::to_string(static_cast<long>(static_cast<double>(d.memory) / gibibyte + 0.5)) + " GiB; " +
                d.platform + "\n";
    }
    for (const std::string& why : found.missing) text += "not found   " + why + "\n";
    return text;
}

std::string devices_json(const ensemble::DevicesFound& found) {
    json::Json list = json::Json::array();
    for (const ensemble::Device& d : found.devices)
        list.push_back({{"kind", ensemble::to_string(d.kind)},
                        {"index", d.index},
                        {"name", d.name},
                        {"platform", d.platform},
                        {"units", d.units},
                        {"memory", d.memory}});
    json::Json j;
    j["cores"] = std::thread::hardware_concurrency();
    j["devices"] = list;
    j["missing"] = found.missing;
    return json::document(j);
}

}  // namespace saltus::io
