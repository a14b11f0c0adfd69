// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/memory.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "saltus/base/text.hpp"

namespace saltus {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// "MemAvailable" of Linux: free memory, and caches that can be given back.
double system_memory() {
    std::ifstream in("/proc/meminfo");
    std::string name, unit;
    for (double kibibytes = 0.0; in >> name >> kibibytes; std::getline(in, unit))
        if (name == "MemAvailable:") return 1024.0 * kibibytes;
    return infinity;
}

double limit_of_process() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return infinity;
    return static_cast<double>(limit.rlim_cur);
}

}  // namespace

double available_memory() { return std::min(system_memory(), limit_of_process()); }

std::string gibibytes(double bytes) {
    constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
    return number_text(std::round(bytes / gibibyte * 10.0) / 10.0) + " GiB";
}

}  // namespace saltus
