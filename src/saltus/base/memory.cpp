// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <locale>
#include <system_error>

#include "saltus/base/numbers.hpp"
#include "saltus/base/text.hpp"

namespace saltus {

namespace {

/// "MemAvailable" of Linux: free memory, and caches that can be given back.
double system_memory() {
    std::ifstream in("/proc/meminfo");
    in.imbue(std::locale::classic());
    std::string name, unit;
    for (double kibibytes = 0.0; in >> name >> kibibytes; std::getline(in, unit))
        if (name == "MemAvailable:") return 1024.0 * kibibytes;
    return infinity;
}

/// Sizes of the process, in bytes.
struct Sizes {
    double address_space = 0.0, resident = 0.0;
};

Sizes sizes_of_process() {
    std::ifstream in("/proc/self/statm");  // in pages
    in.imbue(std::locale::classic());
    Sizes pages;
    if (!(in >> pages.address_space >> pages.resident)) return {};
    const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
    return {page * pages.address_space, page * pages.resident};
}

}  // namespace

double available_address_space() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return infinity;
    return std::max(0.0, static_cast<double>(limit.rlim_cur) - sizes_of_process().address_space);
}

double available_memory() { return std::min(system_memory(), available_address_space()); }

double used_memory() { return sizes_of_process().resident; }

double available_disk(const std::string& folder) {
    std::error_code error;
    const std::filesystem::space_info space = std::filesystem::space(folder, error);
    return error ? infinity : static_cast<double>(space.available);
}

double largest_file() {
    rlimit limit{};
    const bool limited = ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return limited ? static_cast<double>(limit.rlim_cur) : infinity;
}

std::string gibibytes(double bytes) {
    constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
    const double size = bytes / gibibyte;
    const double digits = size < 1.0 ? 100.0 : 10.0;  // two digits after the point for small sizes, one for others
    return number_text(std::round(size * digits) / digits) + " GiB";
}

}  // namespace saltus
