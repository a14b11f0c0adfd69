// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/interrupted_document.hpp"

#include "saltus/base/error.hpp"
#include "saltus/io/report/detail/json.hpp"

namespace saltus::io {

using json::Json;

std::string empty_document(const std::string& model) { return json::document(Json{{"model", model}}); }

std::string interrupted_document(const std::string& document, const std::string& reason) {
    Json j = Json::parse(document, nullptr, false);
    SALTUS_EXPECT(j.is_object());
    j["status"] = "interrupted";
    j["reason"] = reason;
    return json::document(j);
}

}  // namespace saltus::io
