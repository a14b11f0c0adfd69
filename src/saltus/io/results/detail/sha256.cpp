// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/results/detail/sha256.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace saltus::io {

namespace {

using Word = std::uint32_t;
constexpr std::size_t rounds = 64, block_bytes = 64, state_words = 8;

bool is_prime(int n) {
    for (int k = 2; k * k <= n; ++k)
        if (n % k == 0) return false;
    return n > 1;
}

/// The first 32 bits of the fractional part of a root. A long double has 64 bits; the largest root is below 20.
Word fraction(long double root) { return static_cast<Word>((root - std::floor(root)) * 0x1p32L); }

/// FIPS 180-4, 4.2.2 and 5.3.3: the constants are cube roots and square roots of the first primes.
struct Constants {
    std::array<Word, rounds> k{};
    std::array<Word, state_words> start{};
    Constants() {
        std::size_t count = 0;
        for (int n = 2; count < rounds; ++n) {
            if (!is_prime(n)) continue;
            k[count] = fraction(std::cbrt(static_cast<long double>(n)));
            if (count < state_words) start[count] = fraction(std::sqrt(static_cast<long double>(n)));
            ++count;
        }
    }
};

/// 6.2.2: one block of 64 bytes.
void digest(const Constants& c, const unsigned char* block, std::array<Word, state_words>& state) {
    std::array<Word, rounds> w{};
    for (std::size_t t = 0; t < 16; ++t)
        for (std::size_t b = 0; b < 4; ++b) w[t] = w[t] << 8 | block[4 * t + b];
    for (std::size_t t = 16; t < rounds; ++t) {
        const Word x = w[t - 15], y = w[t - 2];
        const Word s0 = std::rotr(x, 7) ^ std::rotr(x, 18) ^ x >> 3, s1 = std::rotr(y, 17) ^ std::rotr(y, 19) ^ y >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
    std::array<Word, state_words> s = state;
    for (std::size_t t = 0; t < rounds; ++t) {
        const Word S1 = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
        const Word choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        const Word first = s[7] + S1 + choice + c.k[t] + w[t];
        const Word S0 = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
        const Word majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        s = {first + S0 + majority, s[0], s[1], s[2], s[3] + first, s[4], s[5], s[6]};
    }
    for (std::size_t k = 0; k < state_words; ++k) state[k] += s[k];
}

}  // namespace

std::string sha256(std::string_view bytes) {
    static const Constants constants;
    // 5.1.1: the bit 1, zeros, and the length in bits as a 64-bit number.
    std::string padded(bytes);
    padded.push_back(static_cast<char>(0x80));
    while (padded.size() % block_bytes != block_bytes - 8) padded.push_back('\0');
    const std::uint64_t bits = 8 * static_cast<std::uint64_t>(bytes.size());
    for (int shift = 56; shift >= 0; shift -= 8) padded.push_back(static_cast<char>(bits >> shift & 0xFFU));
    std::array<Word, state_words> state = constants.start;
    const auto* data = reinterpret_cast<const unsigned char*>(padded.data());
    for (std::size_t at = 0; at < padded.size(); at += block_bytes) digest(constants, data + at, state);
    std::string text;
    for (const Word x : state) text += fmt::format("{:08x}", x);
    return text;
}

}  // namespace saltus::io
