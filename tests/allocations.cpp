// SPDX-License-Identifier: Apache-2.0
#include "allocations.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> count{0}, bytes{0};

void* counted(std::size_t size, std::size_t alignment) noexcept {
    ++count;
    bytes += size;
    return std::aligned_alloc(alignment, (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment);
}

void* or_throw(void* p) {
    if (p == nullptr) throw std::bad_alloc();
    return p;
}

constexpr std::size_t usual = alignof(std::max_align_t);

}  // namespace

void* operator new(std::size_t size) { return or_throw(counted(size, usual)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted(size, usual); }
void* operator new(std::size_t size, std::align_val_t a) {
    return or_throw(counted(size, static_cast<std::size_t>(a)));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace saltus::test {

std::size_t allocations() { return count; }
std::size_t allocated_bytes() { return bytes; }

}  // namespace saltus::test
