// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/table.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <vector>

#include "saltus/base/error.hpp"
#include "support.hpp"

namespace saltus::ensemble::table_test {
namespace {

TEST(Shard, EachRunIsInOneOfThemAtAPlaceOfItsOwn) {
    for (const std::size_t block : {1U, 5U, 64U})
        for (const std::size_t of : {1U, 2U, 3U, 7U})
            for (const std::size_t runs : {0U, 1U, 63U, 64U, 1000U}) {
                std::vector<std::size_t> sizes(of, 0);
                for (std::size_t k = 0; k < runs; ++k) {
                    int owners = 0;
                    for (std::size_t index = 1; index <= of; ++index) {
                        const Shard shard{index, of, block};
                        if (!shard.contains(k)) continue;
                        ++owners;
                        EXPECT_EQ(shard.place(k), sizes[index - 1]++);
                    }
                    EXPECT_EQ(owners, 1) << k;
                }
                for (std::size_t index = 1; index <= of; ++index)
                    EXPECT_EQ((Shard{index, of, block}.size(runs)), sizes[index - 1]);
            }
    EXPECT_EQ(Shard::block_for(3), 1U);
    EXPECT_EQ(Shard::block_for(1'000'000), 64U);
}

std::string answer_of(std::size_t run, bool fixed) {
    return fixed ? "answer " + std::to_string(100000 + run)
                 : std::string(run % 7 * 100, static_cast<char>('a' + run % 26));
}

TableHead head_of(bool fixed, std::size_t runs = 1000) {
    return {"model and options", "saltus basin x", "/folder", runs, fixed ? 13U : 0U};
}

/// All answers of a table.
std::map<std::size_t, std::string> content(const Table& table, std::size_t runs = 1000) {
    std::map<std::size_t, std::string> all;
    std::size_t before = 0;
    table.scan(0, runs, [&](std::size_t run, std::string_view answer) {
        EXPECT_TRUE(all.empty() || run > before) << "not ascending";
        before = run;
        all[run] = answer;
    });
    return all;
}

std::map<std::size_t, std::string> expected(bool fixed, const std::vector<Shard>& shards) {
    std::map<std::size_t, std::string> all;
    for (std::size_t k = 0; k < 1000; ++k)
        for (const Shard& s : shards)
            if (s.contains(k)) all[k] = answer_of(k, fixed);
    return all;
}

/// Neighbours are written together, and what lies between them is left alone: the file has the bytes of answers that
/// were put one by one.
TEST(Table, HasTheSameBytesOfAnswersInBlocks) {
    for (const bool fixed : {true, false}) {
        const test::Folder single, blocks;
        const Shard shard{2, 3, 5};
        {
            Table one_by_one(single.path().string(), "basin", head_of(fixed), shard, Table::Open::fresh);
            Table together(blocks.path().string(), "basin", head_of(fixed), shard, Table::Open::fresh);
            for (const bool even : {true, false}) {  // the second block fills the gaps of the first one
                std::vector<std::size_t> numbers, ends;
                std::string bytes;
                for (std::size_t k = 0; k < 1000; ++k) {
                    if (!shard.contains(k) || (k % 4 < 2) != even || k % 50 == 7) continue;
                    one_by_one.put(k, answer_of(k, fixed));
                    numbers.push_back(k);
                    bytes += answer_of(k, fixed);
                    ends.push_back(bytes.size());
                }
                together.put({numbers, ends, bytes});
            }
            EXPECT_EQ(content(together), content(one_by_one));
        }
        EXPECT_TRUE(test::content_of(single.file("basin-2-of-3.checkpoint")) ==
                    test::content_of(blocks.file("basin-2-of-3.checkpoint")));
    }
}

TEST(Table, GivesBackWhatManyThreadsPutIntoMemoryOrAFile) {
    for (const bool fixed : {true, false})
        for (const bool disk : {true, false}) {
            const test::Folder folder;
            const Shard whole{1, 1, 3};
            const auto table = disk ? std::make_unique<Table>(folder.path().string(), "basin", head_of(fixed), whole,
                                                              Table::Open::fresh)
                                    : std::make_unique<Table>(fixed ? 13U : 0U, 1000U);
            EXPECT_TRUE(table->blank());
            EXPECT_EQ(table->on_disk(), disk);
            EXPECT_FALSE(table->has(5));
            {
                std::vector<std::jthread> threads;
                for (std::size_t t = 0; t < 4; ++t)
                    threads.emplace_back([&, t] {
                        for (std::size_t k = 999 - t; k < 1000; k -= 4) table->put(k, answer_of(k, fixed));
                    });
            }
            EXPECT_EQ(content(*table), expected(fixed, {whole}));
            EXPECT_EQ(table->get(17), answer_of(17, fixed));
            EXPECT_EQ(table->count(100, 200), 100U);
            EXPECT_FALSE(table->blank());
        }
}

TEST(Table, IsContinuedWhateverTheShardsWere) {
    for (const bool fixed : {true, false}) {
        const test::Folder folder;
        const std::string path = folder.path().string();
        EXPECT_FALSE(find_tables(path));
        const Shard first{1, 3, 5}, third{3, 3, 5};
        for (const Shard& s : {first, third}) {
            Table part(path, "basin", head_of(fixed), s, Table::Open::fresh);
            for (std::size_t k = 0; k < 1000; ++k)
                if (s.contains(k)) part.put(k, answer_of(k, fixed));
        }
        const auto found = find_tables(path);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->name, "basin");
        EXPECT_EQ(found->files, 2U);
        EXPECT_EQ(found->done, first.size(1000) + third.size(1000));
        EXPECT_EQ(found->head.line, "saltus basin x");
        {
            Table whole(path, "basin", head_of(fixed), {1, 1, 5}, Table::Open::resume);
            EXPECT_FALSE(whole.blank());
            EXPECT_EQ(content(whole), expected(fixed, {first, third}));
            for (std::size_t k = 0; k < 1000; ++k)
                if (!whole.has(k)) whole.put(k, answer_of(k, fixed));
        }
        EXPECT_EQ(find_tables(path)->done, 1000U);
        Table again(path, "basin", head_of(fixed), {2, 2, 5}, Table::Open::resume);
        EXPECT_EQ(content(again), expected(fixed, {{1, 1, 5}}));
        Table other(path, "study", head_of(fixed), {1, 1, 5}, Table::Open::resume);
        EXPECT_TRUE(other.blank());
        remove_tables(path, "basin");
        EXPECT_EQ(folder.names(), std::vector<std::string>{"study.checkpoint"});
    }
}

/// Whatever the length at which a file ends, every answer in it is one that was put.
TEST(Table, ThatWasCutOffAnywhereHasOnlyWholeAnswers) {
    for (const bool fixed : {true, false}) {
        const test::Folder folder;
        const std::string path = folder.path().string(), file = folder.file("basin.checkpoint");
        {
            Table table(path, "basin", head_of(fixed, 20), {1, 1, 1}, Table::Open::fresh);
            for (std::size_t k = 0; k < 20; ++k) table.put(k, answer_of(k, fixed));
        }
        const std::string bytes = test::content_of(file);
        std::size_t least = 20;
        for (std::size_t length = bytes.size(); length-- > 0;
             length -= std::min<std::size_t>(length, length > 4096 ? 12 : 300)) {
            std::ofstream(file, std::ios::binary | std::ios::trunc).write(bytes.data(), static_cast<long>(length));
            Table table(path, "basin", head_of(fixed, 20), {1, 1, 1}, Table::Open::resume);
            const auto all = content(table, 20);
            for (const auto& [run, answer] : all) EXPECT_EQ(answer, answer_of(run, fixed)) << length;
            EXPECT_LE(all.size(), least);
            least = all.size();
        }
        EXPECT_EQ(least, 0U);
    }
}

TEST(Table, DoesNotTakeOverChangedBytes) {
    for (const bool fixed : {true, false}) {
        const test::Folder folder;
        const std::string path = folder.path().string(), file = folder.file("basin.checkpoint");
        {
            Table table(path, "basin", head_of(fixed, 20), {1, 1, 1}, Table::Open::fresh);
            for (std::size_t k = 0; k < 20; ++k) table.put(k, answer_of(k, fixed));
        }
        const std::string bytes = test::content_of(file);
        int refused = 0, dropped = 0;
        for (std::size_t at = 0; at < bytes.size(); at += at < 200 ? 1 : at < 4096 ? 500 : 7) {
            std::string changed = bytes;
            changed[at] = static_cast<char>(changed[at] ^ 0x20);
            std::ofstream(file, std::ios::binary | std::ios::trunc) << changed;
            try {
                Table table(path, "basin", head_of(fixed, 20), {1, 1, 1}, Table::Open::resume);
                const auto all = content(table, 20);
                for (const auto& [run, answer] : all) EXPECT_EQ(answer, answer_of(run, fixed)) << at;
                dropped += all.size() < 20 ? 1 : 0;
            } catch (const Error&) {
                ++refused;
            }
        }
        EXPECT_GT(refused, 50);
        EXPECT_GT(dropped, 10);
    }
}

TEST(Table, RefusesFilesOfOtherTasksAndThoseThatContradictEachOther) {
    const test::Folder folder;
    const std::string path = folder.path().string();
    const auto refusal = [&](const TableHead& head, const Shard& shard) -> std::string {
        try {
            const Table table(path, "basin", head, shard, Table::Open::resume);
            content(table);
        } catch (const Error& e) {
            return e.what();
        }
        return "accepted";
    };
    {
        Table a(path, "basin", head_of(true), {1, 1, 5}, Table::Open::fresh);
        a.put(3, answer_of(3, true));
        EXPECT_NE(refusal(head_of(true), {1, 1, 5}).find("another process"), std::string::npos);
    }
    TableHead other = head_of(true);
    other.purpose = "other options";
    EXPECT_NE(refusal(other, {1, 1, 5}).find("other options"), std::string::npos);
    EXPECT_NE(refusal(other, {1, 2, 5}).find("other options"), std::string::npos);
    EXPECT_EQ(refusal(head_of(true), {1, 1, 5}), "accepted");
    {
        Table b(path, "basin", head_of(true), {1, 2, 5}, Table::Open::fresh);
        b.put(3, answer_of(4, true));
    }
    EXPECT_NE(refusal(head_of(true), {1, 1, 5}).find("run 3 has another result"), std::string::npos);
    std::ofstream(folder.file("basin-2-of-2.checkpoint")) << "saltus basin checkpoint 2\n some bytes of an old version";
    EXPECT_NE(refusal(head_of(true), {1, 1, 5}).find("of this version"), std::string::npos);
    std::filesystem::create_symlink("nowhere", folder.file("basin-3-of-4.checkpoint"));
    EXPECT_NE(refusal(head_of(true), {3, 4, 5}), "accepted");
}

/// A thousand million runs of which few were made, as after an interrupt, are found without reading what is not there:
/// the file would have 21 GB.
TEST(Table, FindsTheFewRunsOfAVeryLargeEnsemble) {
    constexpr std::size_t runs = 1'000'000'000;
    for (const bool fixed : {true, false}) {
        const test::Folder folder;
        const std::string path = folder.path().string();
        const std::vector<std::size_t> in_part{128, 5'000'037, 400'000'064, 999'999'900};
        {
            Table whole(path, "basin", head_of(fixed, runs), {1, 1, 64}, Table::Open::fresh);
            for (const std::size_t k : {0U, 63U, 5'000'037U, 400'000'064U}) whole.put(k, answer_of(k % 1000, fixed));
            Table part(path, "basin", head_of(fixed, runs), {3, 3, 64}, Table::Open::fresh);
            for (const std::size_t k : in_part) {
                ASSERT_TRUE((Shard{3, 3, 64}.contains(k)));
                part.put(k, answer_of(k % 1000, fixed));
            }
        }
        const std::vector<std::size_t> expected{0, 63, 128, 5'000'037, 400'000'064, 999'999'900};
        const Table all(path, "basin", head_of(fixed, runs), {1, 1, 64}, Table::Open::resume);
        std::vector<std::size_t> found;
        for (const auto& [run, answer] : content(all, runs)) {
            found.push_back(run);
            EXPECT_EQ(answer, answer_of(run % 1000, fixed));
        }
        EXPECT_EQ(found, expected);
        const auto tables = find_tables(path);
        ASSERT_TRUE(tables);
        EXPECT_EQ(tables->done, expected.size());
        EXPECT_EQ(all.count(64, 400'000'064), 2U);
    }
}

}  // namespace
}  // namespace saltus::ensemble::table_test
