// SPDX-License-Identifier: Apache-2.0
#include "cli/studio/studio.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/studio/server.hpp"
#include "saltus/base/plain_text.hpp"
#include "saltus/io/page/report_page.hpp"

namespace saltus::cli {

namespace {

constexpr std::size_t secret_length = 32;  // hexadecimal digits: 128 random bits

/// The secret of the address: SALTUS_STUDIO_TOKEN if it is given, so that pages find a server that was started again;
/// otherwise random.
std::string make_secret() {
    if (const char* const given = std::getenv("SALTUS_STUDIO_TOKEN"); given != nullptr && *given != '\0') {
        std::string token = given;
        const bool plain = std::all_of(token.begin(), token.end(), is_letter_or_digit);
        if (!plain || token.size() < secret_length / 2)
            throw Error("the token must have at least 16 letters and digits, and nothing else",
                        {"SALTUS_STUDIO_TOKEN", 0, 0});
        return token;
    }
    std::random_device random;  // of the operating system
    std::string secret;
    while (secret.size() < secret_length) secret += "0123456789abcdef"[random() & 15U];
    return secret;
}

}  // namespace

int studio(const StudioCommand& c) {
    if (!has_studio_server() || !io::has_interactive_page())
        throw Error(has_studio_server() ? "this program was built without its page"
                                        : "this program was built without the HTTP library",
                    {"studio", 0, 0},
                    has_studio_server() ? "install nodejs and npm and build again"
                                        : "install libcpp-httplib-dev and build again");
    if (!std::filesystem::is_regular_file(c.model)) throw Error("there is no such file", {c.model, 0, 0});
    constexpr int max_port = 65535;
    if (c.port < 0 || c.port > max_port)
        throw Error("port is " + std::to_string(c.port) + ", it must lie between 0 and 65535", {"--port", 0, 0});
    const StudioServer server{c.model, c.port, make_secret()};
    listen_for_interrupts();
    serve_studio(
        server,
        [](const std::string& address) {
            print("Open this address in a browser; Ctrl-C ends the studio:\n  " + address + "\n");
        },
        [] { return interrupt_asked(); });
    return done;
}

}  // namespace saltus::cli
