// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/version.hpp"

namespace saltus {

const std::string& library_version() {
    static const std::string version = SALTUS_VERSION;  // defined by src/CMakeLists.txt for this file alone
    return version;
}

}  // namespace saltus
