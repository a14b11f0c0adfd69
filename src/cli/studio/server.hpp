// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace saltus::cli {

/// Whether the program was built with the HTTP library (Debian: libcpp-httplib-dev).
bool has_studio_server();

/// What the server needs to know.
struct StudioServer {
    std::string model;   ///< path of the model file
    int port = 0;        ///< 0: any free one
    std::string secret;  ///< first part of every path; who does not know it gets nothing
};

/// Serves the page on the loopback address until `ends` returns true. `ready` is called with the address of the page.
/// Throws Error if the port cannot be used.
void serve_studio(const StudioServer& server, const std::function<void(const std::string& address)>& ready,
                  const std::function<bool()>& ends);

}  // namespace saltus::cli
