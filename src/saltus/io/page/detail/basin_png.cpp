// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/page/detail/basin_png.hpp"

#include <algorithm>
#include <string_view>

#include "saltus/base/error.hpp"

namespace saltus::io {

namespace {

// --- checksums

/// CRC-32 of a chunk (PNG specification, annex D).
std::uint32_t crc32(std::string_view bytes) {
    std::uint32_t crc = 0xffffffffU;
    for (const char c : bytes) {
        crc ^= static_cast<unsigned char>(c);
        for (int k = 0; k < 8; ++k) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
    }
    return ~crc;
}

/// Adler-32 of the data before compression (RFC 1950).
std::uint32_t adler32(std::string_view bytes) {
    constexpr std::uint32_t modulus = 65521;  // the largest prime below 2^16
    std::uint32_t a = 1, b = 0;
    for (const char c : bytes) {
        a = (a + static_cast<unsigned char>(c)) % modulus;
        b = (b + a) % modulus;
    }
    return (b << 16) | a;
}

std::string big_endian(std::uint32_t x) {
    std::string s;
    for (int shift = 24; shift >= 0; shift -= 8) s += static_cast<char>((x >> shift) & 0xffU);
    return s;
}

// --- deflate with the fixed code (RFC 1951, 3.2.6)

/// Compresses bytes in one block with the fixed Huffman code. At each place it tries two repetitions: of the byte
/// before (a run) and of the byte in the row above.
class Deflater {
public:
    /// `stride` is the number of bytes of a row.
    std::string run(std::string_view bytes, std::size_t stride) {
        constexpr std::size_t max_distance = 32768, max_length = 258, min_length = 4;
        constexpr int end_of_block = 256;
        put(1, 1);  // this block is the last one
        put(1, 2);  // fixed Huffman code
        for (std::size_t at = 0; at < bytes.size();) {
            std::size_t length = 0, distance = 0;
            for (const std::size_t back : {std::size_t{1}, stride}) {
                if (back > at || back > max_distance) continue;
                std::size_t n = 0;
                while (n < max_length && at + n < bytes.size() && bytes[at + n] == bytes[at + n - back]) ++n;
                if (n > length) length = n, distance = back;
            }
            if (length < min_length) {
                literal(static_cast<unsigned char>(bytes[at++]));
            } else {
                match(static_cast<int>(length), static_cast<int>(distance));
                at += length;
            }
        }
        literal(end_of_block);
        if (bits_ > 0) out_ += static_cast<char>(buffer_ & 0xffU);
        return std::move(out_);
    }

private:
    /// Appends `count` bits, least significant bit first.
    void put(std::uint32_t value, int count) {
        buffer_ |= static_cast<std::uint64_t>(value) << bits_;
        bits_ += count;
        for (; bits_ >= 8; bits_ -= 8, buffer_ >>= 8) out_ += static_cast<char>(buffer_ & 0xffU);
    }
    /// Appends a Huffman code: most significant bit first.
    void code(std::uint32_t value, int count) {
        std::uint32_t reversed = 0;
        for (int k = 0; k < count; ++k) reversed |= ((value >> k) & 1U) << (count - 1 - k);
        put(reversed, count);
    }
    /// The fixed code of a byte, of the end of the block (256) or of a length (257 …): 7 to 9 bits.
    void literal(int symbol) {
        const auto s = static_cast<std::uint32_t>(symbol);
        if (symbol < 144)
            code(0x30 + s, 8);
        else if (symbol < 256)
            code(0x190 + s - 144, 9);
        else if (symbol < 280)
            code(s - 256, 7);
        else
            code(0xc0 + s - 280, 8);
    }
    /// A repetition of `length` bytes that begin `distance` bytes before. Lengths and distances are coded as a group
    /// number and `extra` further bits; for each number of extra bits there are four groups of lengths and two of
    /// distances (RFC 1951, 3.2.5).
    void match(int length, int distance) {
        if (length == 258) {
            literal(285);
        } else {
            const int n = length - 3;
            int extra = 0;
            while (n >> (extra + 3) != 0) ++extra;
            literal(257 + (extra == 0 ? n : 4 * extra + (n >> extra)));
            put(static_cast<std::uint32_t>(n & ((1 << extra) - 1)), extra);
        }
        const int n = distance - 1;
        int extra = 0;
        while (n >> (extra + 2) != 0) ++extra;
        code(static_cast<std::uint32_t>(extra == 0 ? n : 2 * extra + (n >> extra)), 5);
        put(static_cast<std::uint32_t>(n & ((1 << extra) - 1)), extra);
    }

    std::string out_;
    std::uint64_t buffer_ = 0;
    int bits_ = 0;
};

/// A chunk of a PNG file: length, name, data, checksum.
std::string chunk(const std::string& name, const std::string& data) {
    return big_endian(static_cast<std::uint32_t>(data.size())) + name + data + big_endian(crc32(name + data));
}

}  // namespace

std::string png(const IndexedImage& image) {
    const auto width = static_cast<std::size_t>(image.width), height = static_cast<std::size_t>(image.height);
    SALTUS_EXPECT(image.pixel.size() == width * height && image.palette.size() <= 256 && width > 0 && height > 0);
    std::string rows;
    for (std::size_t y = 0; y < height; ++y) {
        rows += '\0';  // no filter
        rows.append(reinterpret_cast<const char*>(image.pixel.data()) + y * width, width);
    }
    std::string header = big_endian(static_cast<std::uint32_t>(width)) + big_endian(static_cast<std::uint32_t>(height));
    header += {8, 3, 0, 0, 0};  // 8 bits a pixel, palette, deflate, standard filters, not interlaced
    std::string palette;
    for (const Colour& c : image.palette)
        for (const std::uint8_t x : c) palette += static_cast<char>(x);
    return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("PLTE", palette) +
           chunk("IDAT", "\x78\x01" + Deflater().run(rows, width + 1) + big_endian(adler32(rows))) + chunk("IEND", "");
}

std::string base64(const std::string& bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t k = 0; k < bytes.size(); k += 3) {
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i)
            group = (group << 8) | (k + i < bytes.size() ? static_cast<unsigned char>(bytes[k + i]) : 0U);
        for (std::size_t i = 0; i < 4; ++i) text += k + i <= bytes.size() ? digits[(group >> (18 - 6 * i)) & 63U] : '=';
    }
    return text;
}

}  // namespace saltus::io
