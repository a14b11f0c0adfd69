// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "saltus/base/error.hpp"

// A resume point as a list of numbers. A class that takes part has one function
//     template <class Archive> void remember(Archive& archive) { archive(member, ...); }
// which states its layout once: with a ResumeWriter it stores the members, with a ResumeReader it sets them.

namespace saltus::integrate {

/// Appends values to a list of numbers.
class ResumeWriter {
public:
    static constexpr bool writes = true;
    explicit ResumeWriter(std::vector<double>& numbers) : numbers_(numbers) { numbers_.clear(); }

    template <class... T>
    void operator()(const T&... values) {
        (put(values), ...);
    }
    void count(std::size_t n) { numbers_.push_back(static_cast<double>(n)); }

private:
    template <class T>
    void put(const T& value) {
        if constexpr (std::is_same_v<T, std::uint64_t>) {
            put(static_cast<std::uint32_t>(value >> 32));  // a double holds 53 bits
            put(static_cast<std::uint32_t>(value));
        } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
            numbers_.push_back(static_cast<double>(value));
        } else {
            for (const auto& element : value) put(element);
        }
    }

    std::vector<double>& numbers_;
};

/// Takes the values from the list in the same order. Throws Error if the list is too short or a number does not fit.
class ResumeReader {
public:
    static constexpr bool writes = false;
    explicit ResumeReader(std::span<const double> numbers) : numbers_(numbers) {}

    template <class... T>
    void operator()(T&... values) {
        (get(values), ...);
    }
    /// The size of a list that follows, at most `most`.
    std::size_t count(std::size_t most) {
        const double n = next();
        if (!(n >= 0.0 && n <= static_cast<double>(most)) || n != std::floor(n)) fail();
        return static_cast<std::size_t>(n);
    }
    void expect_end() const {
        if (at_ != numbers_.size()) fail();
    }
    [[noreturn]] static void fail() {
        throw Error("the resume point of the trajectory is damaged, or belongs to another model or method", {},
                    "run the simulation again");
    }

private:
    double next() {
        if (at_ == numbers_.size()) fail();
        return numbers_[at_++];
    }
    template <class T>
    void get(T& value) {
        if constexpr (std::is_same_v<T, std::uint64_t>) {
            std::uint32_t high = 0, low = 0;
            get(high);
            get(low);
            value = (std::uint64_t{high} << 32) | low;
        } else if constexpr (std::is_floating_point_v<T>) {
            value = next();
        } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
            constexpr double largest = sizeof(T) > 4 ? 9007199254740992.0 : 4294967295.0;  // 2^53, 2^32 − 1
            const double x = next();
            if (!(std::abs(x) <= largest) || x != std::floor(x)) fail();
            value = static_cast<T>(static_cast<std::int64_t>(x));
        } else {
            for (auto& element : value) get(element);
        }
    }

    std::span<const double> numbers_;
    std::size_t at_ = 0;
};

}  // namespace saltus::integrate
