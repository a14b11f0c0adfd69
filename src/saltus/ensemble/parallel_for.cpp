// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/parallel_for.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/base/memory.hpp"

namespace saltus::ensemble {

namespace {

/// Whether a limit of the address space has room for another thread. What the runs compute must still fit beside the
/// stacks: with 100 MB, stacks that took all of it made every second study of a ball fail.
bool room_for_a_thread() {
    constexpr double stack = 8.0 * (1U << 20U), work = 16.0 * (1U << 20U);  // bytes
    return available_address_space() >= stack + work;
}

}  // namespace

bool parallel_for(std::size_t n, const std::function<void(std::size_t)>& work, const Options& options) {
    SALTUS_EXPECT(options.threads >= 0);
    std::atomic<std::size_t> next{0};
    std::atomic<bool> stop{false};
    std::mutex mutex;  // protects the following variables and the calls of progress
    std::size_t done = 0, thrown_at = n;
    std::exception_ptr thrown;

    // Numbers are given out in ascending order. When work(i) throws, all calls with smaller numbers have begun, and
    // their exceptions are still taken into account.
    const auto serve = [&] {
        while (!stop) {
            if (options.interrupted && options.interrupted()) stop = true;
            if (stop) return;
            const std::size_t i = next.fetch_add(1);
            if (i >= n) return;
            try {
                work(i);
                const std::lock_guard lock(mutex);
                ++done;
                if (options.progress) options.progress(done);
            } catch (...) {
                stop = true;
                const std::lock_guard lock(mutex);
                if (i < thrown_at) thrown_at = i, thrown = std::current_exception();
            }
        }
    };

    const std::size_t cores = options.threads > 0 ? static_cast<std::size_t>(options.threads)
                                                  : std::max(1U, std::thread::hardware_concurrency());
    const std::size_t others = std::min(cores, n) > 0 ? std::min(cores, n) - 1 : 0;
    {
        std::vector<std::jthread> threads;
        threads.reserve(others);
        try {
            for (std::size_t k = 0; k < others && room_for_a_thread(); ++k) threads.emplace_back(serve);
        } catch (const std::system_error&) {  // too little memory for stacks, or too many threads: fewer do the work
        }
        serve();
    }
    if (thrown) std::rethrow_exception(thrown);
    return done == n;
}

}  // namespace saltus::ensemble
