// SPDX-License-Identifier: Apache-2.0
//
// Pictures of basins.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "saltus/io/page/basin_image.hpp"
#include "saltus/io/page/detail/basin_png.hpp"
#include "support.hpp"

namespace saltus::io::basin_files_test {
namespace {

// --- a reader of PNG files as `png` writes them, from the specifications alone

std::uint32_t big_endian(const std::string& s, std::size_t at) {
    std::uint32_t x = 0;
    for (std::size_t k = 0; k < 4; ++k) x = (x << 8) | static_cast<unsigned char>(s[at + k]);
    return x;
}

/// Inflates one block with the fixed code.
class Inflater {
public:
    explicit Inflater(const std::string& bytes) : bytes_(bytes) {}

    std::string run() {
        EXPECT_EQ(bit(), 1U);    // the last block
        EXPECT_EQ(bits(2), 1U);  // the fixed code
        static const int length_base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                          31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
        static const int length_extra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                           2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
        static const int distance_base[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                            33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                            1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
        for (;;) {
            const unsigned symbol = next_symbol();
            if (symbol == 256) return out_;
            if (symbol < 256) {
                out_ += static_cast<char>(symbol);
                continue;
            }
            const auto l = symbol - 257;
            const std::size_t length =
                static_cast<std::size_t>(length_base[l]) + bits(static_cast<unsigned>(length_extra[l]));
            unsigned d = 0;
            for (int k = 0; k < 5; ++k) d = (d << 1) | bit();
            const std::size_t distance = static_cast<std::size_t>(distance_base[d]) + bits(d < 4 ? 0 : d / 2 - 1);
            if (distance > out_.size()) throw std::runtime_error("distance");
            for (std::size_t k = 0; k < length; ++k) out_ += out_[out_.size() - distance];
        }
    }

private:
    unsigned bit() {
        if (at_ / 8 >= bytes_.size()) throw std::runtime_error("end");
        const unsigned b = (static_cast<unsigned char>(bytes_[at_ / 8]) >> (at_ % 8)) & 1U;
        ++at_;
        return b;
    }
    unsigned bits(unsigned count) {
        unsigned x = 0;
        for (unsigned k = 0; k < count; ++k) x |= bit() << k;
        return x;
    }
    unsigned next_symbol() {
        unsigned code = 0;
        for (int k = 0; k < 7; ++k) code = (code << 1) | bit();
        if (code < 24) return 256 + code;
        code = (code << 1) | bit();
        if (code >= 0x30 && code < 0xc0) return code - 0x30;
        if (code >= 0xc0 && code < 0xc8) return 280 + code - 0xc0;
        code = (code << 1) | bit();
        return 144 + code - 0x190;
    }

    const std::string& bytes_;
    std::size_t at_ = 0;
    std::string out_;
};

/// Its pixels, after every checksum.
IndexedImage decoded(const std::string& file) {
    EXPECT_EQ(file.substr(0, 8), "\x89PNG\r\n\x1a\n");
    IndexedImage image;
    std::string data;
    for (std::size_t at = 8; at < file.size();) {
        const std::size_t size = big_endian(file, at);
        const std::string name = file.substr(at + 4, 4), body = file.substr(at + 8, size);
        std::uint32_t crc = ~0U;  // by polynomial division, a bit at a time
        for (const char c : name + body)
            for (int k = 0; k < 8; ++k) {
                const std::uint32_t top = (crc ^ (static_cast<unsigned char>(c) >> k)) & 1U;
                crc = (crc >> 1) ^ (top * 0xedb88320U);
            }
        EXPECT_EQ(big_endian(file, at + 8 + size), ~crc) << name;
        if (name == "IHDR")
            image.width = static_cast<int>(big_endian(body, 0)), image.height = static_cast<int>(big_endian(body, 4));
        if (name == "PLTE")
            for (std::size_t k = 0; k < size; k += 3)
                image.palette.push_back({static_cast<std::uint8_t>(body[k]), static_cast<std::uint8_t>(body[k + 1]),
                                         static_cast<std::uint8_t>(body[k + 2])});
        if (name == "IDAT") data = body;
        at += 12 + size;
    }
    EXPECT_EQ((static_cast<unsigned char>(data[0]) * 256U + static_cast<unsigned char>(data[1])) % 31U, 0U);
    const std::string body = data.substr(2, data.size() - 6);
    const std::string rows = Inflater(body).run();
    std::uint32_t a = 1, b = 0;
    for (const char c : rows) a = (a + static_cast<unsigned char>(c)) % 65521, b = (b + a) % 65521;
    EXPECT_EQ(big_endian(data, data.size() - 4), b * 65536 + a);
    const auto width = static_cast<std::size_t>(image.width);
    EXPECT_EQ(rows.size(), (width + 1) * static_cast<std::size_t>(image.height));
    for (std::size_t k = 0; k < rows.size(); ++k) {
        if (k % (width + 1) == 0)
            EXPECT_EQ(rows[k], 0);
        else
            image.pixel.push_back(static_cast<std::uint8_t>(rows[k]));
    }
    return image;
}

TEST(Png, IsReadBackByTheSpecification) {
    std::mt19937 random(3);
    for (const auto& [width, height, colours] : {std::array{1, 1, 1}, {7, 5, 256}, {300, 90, 3}, {520, 400, 2}}) {
        IndexedImage image;
        image.width = width, image.height = height;
        for (int k = 0; k < colours; ++k)
            image.palette.push_back({static_cast<std::uint8_t>(k), static_cast<std::uint8_t>(255 - k), 7});
        image.pixel.resize(static_cast<std::size_t>(width * height));
        for (int y = 0; y < height; ++y)  // runs of all lengths, rows like the one above, and noise
            for (int x = 0; x < width; ++x) {
                const unsigned chance = random() % 64;
                image.at(x, y) = chance == 0 ? static_cast<std::uint8_t>(random() % static_cast<unsigned>(colours))
                                 : x > 0     ? image.at(x - 1, y)
                                 : y > 0     ? image.at(x, y - 1)
                                             : std::uint8_t{0};
                if (y % 3 == 1) image.at(x, y) = image.at(x, y - 1);
            }
        const std::string file = png(image);
        const IndexedImage back = decoded(file);
        EXPECT_EQ(back.width, width);
        EXPECT_EQ(back.height, height);
        EXPECT_EQ(back.palette, image.palette);
        EXPECT_EQ(back.pixel, image.pixel);
        if (colours < 4 && width > 1) {
            EXPECT_LT(file.size(), image.pixel.size() / 4);
        }
    }
}

TEST(Base64, IsThatOfTheStandard) {
    EXPECT_EQ(base64(""), "");
    EXPECT_EQ(base64("f"), "Zg==");
    EXPECT_EQ(base64("fo"), "Zm8=");
    EXPECT_EQ(base64("foo"), "Zm9v");
    EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
    EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(BasinImage, HasTheSecondAxisUpwardsAndTheLevelSetDrawn) {
    BasinReport r;
    r.model = "picture";
    r.coordinates = {"x"};
    r.options.starts.axes = {{"x", -1.0, 1.0, 3}, {"x'", -1.0, 1.0, 2}};
    r.options.components = {0, 1};
    r.basin.base = 6;
    r.basin.labels.resize(3);
    r.basin.labels[1].set = 0;
    r.basin.labels[2].set = 1;
    for (const int set : {0, 1}) {
        stability::RestSet s;
        s.low = s.high = {5.0 + set};  // outside the picture
        r.basin.sets.push_back(s);
    }
    r.basin.periods = {0.0};
    for (const int l : {0, 1, 2, 1, 1, 0}) r.basin.label.push_back(l);
    r.basin.record = stability::BasinRecord({1, false});
    r.basin.record.grow(6);
    const IndexedImage image = decoded(basin_png(r));
    constexpr int plane = 600;  // pixels of the plane; the legend stands to its right
    EXPECT_GT(image.width, plane);
    EXPECT_EQ(image.height, 400);
    IndexedImage copy = image;
    EXPECT_EQ(copy.at(50, 350), 0);  // below left: the first point
    EXPECT_EQ(copy.at(300, 350), 1);
    EXPECT_EQ(copy.at(550, 350), 2);
    EXPECT_EQ(copy.at(50, 50), 1);
    EXPECT_EQ(copy.at(550, 50), 0);
    const auto with = [&](const IndexedImage& i, Colour c) {
        long count = 0;
        for (std::size_t k = 0; k < i.pixel.size(); ++k)
            if (static_cast<int>(k) % i.width < plane && i.palette[i.pixel[k]] == c) ++count;
        return count;
    };
    // The legend has a swatch for each label and text in black on white.
    const auto in_legend = [&](const IndexedImage& i, std::uint8_t p) {
        long count = 0;
        for (std::size_t k = 0; k < i.pixel.size(); ++k)
            if (static_cast<int>(k) % i.width >= plane && i.pixel[k] == p) ++count;
        return count;
    };
    for (const std::uint8_t label : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{2}})
        EXPECT_EQ(in_legend(image, label), 12 * 12) << "inside of the swatch of label " << int{label};
    EXPECT_GT(in_legend(image, 4), 500) << "text";
    EXPECT_EQ(with(image, {255, 255, 255}), 0);
    EXPECT_EQ(with(image, {0, 0, 0}), 0);
    r.options.level.emplace();
    r.options.level->rho = 1.0;
    for (std::size_t k = 0; k < 6; ++k) {
        stability::BasinMotion m;
        m.fate = stability::Fate::rest;
        m.inside = k % 3 == 1;
        m.V = m.inside ? 0.5 : 2.0;
        m.q = {0.0};
        r.basin.record.put(k, m);
    }
    r.basin.sets[0].low = {-0.5}, r.basin.sets[0].high = {0.25};
    const IndexedImage drawn = decoded(basin_png(r));
    EXPECT_EQ(with(drawn, {255, 255, 255}), 2 * 201 - 3);  // two lines upwards, one of them below the set
    EXPECT_NEAR(static_cast<double>(with(drawn, {0, 0, 0})), 3.0 * (0.75 * 200 + 3), 12.0);
}

/// Of a grid with 5000 x 3 points 2400 columns are drawn, both ends among them. The label is the number of the column.
TEST(BasinImage, OfAVeryFineGridShowsSomeOfItsPoints) {
    BasinReport r;
    r.coordinates = {"x"};
    r.options.starts.axes = {{"x", 0.0, 1.0, 5000}, {"x'", 0.0, 1.0, 3}};
    r.options.components = {0, 1};
    r.basin.base = 15000;
    r.basin.periods = {0.0};
    r.basin.labels.resize(3);
    for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 5000; ++column) r.basin.label.push_back(column == 0 ? 1 : column == 4999 ? 2 : 0);
    IndexedImage image = decoded(basin_png(r));
    EXPECT_EQ(image.at(0, 1), 1);
    EXPECT_EQ(image.at(1, 1), 0);
    EXPECT_EQ(image.at(2398, 1), 0);
    EXPECT_EQ(image.at(2399, 1), 2);
    r.options.starts.axes[0].logarithmic = true;
    EXPECT_FALSE(has_basin_image(r));
}

TEST(BasinRecord, KeepsEveryNumberOfAMotion) {
    for (const bool velocities : {false, true}) {
        stability::BasinRecord record({2, velocities});
        record.grow(5);
        stability::BasinMotion m;
        m.fate = stability::Fate::repeats;
        m.admission = stability::Admission::moved;
        m.inside = true;
        m.V = NAN;
        m.t = -2.5;
        m.steps = std::int64_t{1} << 40;
        m.closed = ~std::uint64_t{0};
        m.returns = 3;
        m.q = {0.1, -0.0};
        m.u = {7.0, 8.0};
        record.put(3, m);
        const stability::BasinMotion back = record.motion(3);
        EXPECT_EQ(record.bytes_of(back), record.bytes_of(m));
        EXPECT_EQ(back.steps, m.steps);
        EXPECT_EQ(back.returns, 3);
        EXPECT_EQ(back.q, m.q);
        EXPECT_EQ(back.u, velocities ? m.u : std::vector<double>());
        EXPECT_EQ(record.motion(2).fate, stability::Fate::pending);
        std::string fates;
        record.scan(0, 5, [&](std::size_t, const stability::BasinMotion& one) {
            fates += one.fate == stability::Fate::pending ? '-' : 'r';
        });
        EXPECT_EQ(fates, "---r-");
        EXPECT_THROW(record.read(std::string(record.layout().bytes(), '\xff'), m), Error);
    }
}

}  // namespace
}  // namespace saltus::io::basin_files_test
