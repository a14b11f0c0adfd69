// SPDX-License-Identifier: Apache-2.0
// In the place of server.cpp if the HTTP library is missing.
#include "cli/studio/server.hpp"
#include "saltus/base/error.hpp"

namespace saltus::cli {

bool has_studio_server() { return false; }

void serve_studio(const StudioServer&, const std::function<void(const std::string&)>&, const std::function<bool()>&) {
    throw Error("this program was built without the HTTP library", {"studio", 0, 0},
                "install libcpp-httplib-dev and build again");
}

}  // namespace saltus::cli
