// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/engine.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

#include "saltus/base/error.hpp"

namespace saltus::ensemble::engine_test {
namespace {

/// Ranks that are threads of this program: messages in queues.
class Mail {
public:
    explicit Mail(int ranks) : boxes_(static_cast<std::size_t>(ranks)) {}

    class Rank final : public Ranks {
    public:
        Rank(Mail& mail, int rank) : mail_(mail), rank_(rank) {}
        int rank() const override { return rank_; }
        int size() const override { return static_cast<int>(mail_.boxes_.size()); }
        void send(int to, const std::string& bytes) override {
            Box& box = mail_.boxes_[static_cast<std::size_t>(to)];
            const std::lock_guard lock(box.mutex);
            box.letters.emplace_back(rank_, bytes);
            box.filled.notify_one();
        }
        bool waiting() override {
            Box& box = mail_.boxes_[static_cast<std::size_t>(rank_)];
            const std::lock_guard lock(box.mutex);
            return !box.letters.empty();
        }
        int receive(std::string& bytes) override {
            Box& box = mail_.boxes_[static_cast<std::size_t>(rank_)];
            std::unique_lock lock(box.mutex);
            box.filled.wait(lock, [&] { return !box.letters.empty(); });
            const auto [from, text] = box.letters.front();
            box.letters.pop_front();
            bytes = text;
            return from;
        }

    private:
        Mail& mail_;
        int rank_;
    };

private:
    struct Box {
        std::mutex mutex;
        std::condition_variable filled;
        std::deque<std::pair<int, std::string>> letters;
    };
    std::deque<Box> boxes_;
};

std::string answer_of(const RunRequest& run) {
    return std::to_string(run.number) + ": " + std::to_string(run.values.at(0)) + std::string(run.number % 11, 'x');
}

Round round_of(std::size_t count, const Shard& shard = {}) {
    Round r;
    r.count = count;
    r.axes = 1;
    r.shard = shard;
    r.values = [](std::size_t k, std::span<double> x) { x[0] = 0.5 * static_cast<double>(k); };
    return r;
}

void expect_all(const Table& table, std::size_t count, const Shard& shard = {}) {
    std::size_t seen = 0;
    table.scan(0, count, [&](std::size_t k, std::string_view answer) {
        ++seen;
        EXPECT_EQ(answer, answer_of({k, {0.5 * static_cast<double>(k)}}));
        EXPECT_TRUE(shard.contains(k));
    });
    EXPECT_EQ(seen, shard.size(count));
}

/// Runs the rounds on several ranks, which are threads here.
void on_ranks(int ranks, Work& work, const std::function<void(Engine&)>& lead, int threads = 1) {
    Mail mail(ranks);
    std::vector<std::unique_ptr<Mail::Rank>> list;
    for (int k = 0; k < ranks; ++k) list.push_back(std::make_unique<Mail::Rank>(mail, k));
    std::vector<std::jthread> others;
    for (int k = 1; k < ranks; ++k)
        others.emplace_back([&, k] { Engine(work, {threads, list[static_cast<std::size_t>(k)].get(), {}}).serve(); });
    Engine engine(work, {threads, list[0].get(), {}});
    struct Dismissal {
        Engine& engine;
        ~Dismissal() { engine.dismiss(); }
    } const at_the_end{engine};
    lead(engine);
}

TEST(Engine, GivesTheSameAnswersForAnyNumberOfThreadsAndRanks) {
    FunctionWork work([](const RunRequest& run) { return answer_of(run); });
    for (const int ranks : {1, 2, 4})
        for (const int threads : {1, 3})
            for (const Shard& shard : {Shard{}, Shard{2, 3, 7}}) {
                Table table(0, 3000);
                on_ranks(
                    ranks, work, [&](Engine& engine) { EXPECT_TRUE(make(engine, table, round_of(3000, shard))); },
                    threads);
                expect_all(table, 3000, shard);
            }
}

TEST(Engine, MakesSeveralRoundsAndTellsHowManyRunsAreDone) {
    FunctionWork work([](const RunRequest& run) { return answer_of(run); });
    Table table(0, 500);
    std::size_t told = 0;
    on_ranks(3, work, [&](Engine& engine) {
        for (const std::size_t first : {0U, 200U}) {
            Round r = round_of(first == 0 ? 200 : 300);
            r.first = first;
            r.values = [&](std::size_t k, std::span<double> x) { x[0] = 0.5 * static_cast<double>(first + k); };
            std::size_t last = 0;
            r.progress = [&](std::size_t done, std::size_t of) {
                EXPECT_EQ(done, ++last);
                EXPECT_EQ(of, r.count);
                ++told;
            };
            EXPECT_TRUE(make(engine, table, r));
        }
    });
    EXPECT_EQ(told, 500U);
    expect_all(table, 500);
}

TEST(Engine, MakesOnlyWhatTheTableDoesNotHaveInTheOrderThatIsWanted) {
    std::mutex mutex;
    std::vector<std::size_t> made;
    FunctionWork work([&](const RunRequest& run) {
        const std::lock_guard lock(mutex);
        made.push_back(run.number);
        return answer_of(run);
    });
    Table table(0, 100);
    for (std::size_t k = 0; k < 100; k += 3) table.put(k, answer_of({k, {0.5 * static_cast<double>(k)}}));
    Engine engine(work, {1, nullptr, {}});
    Round backwards = round_of(100);
    backwards.order = [](std::size_t place) { return 99 - place; };
    EXPECT_TRUE(make(engine, table, backwards));
    std::vector<std::size_t> expected;
    for (std::size_t k = 100; k-- > 0;)
        if (k % 3 != 0) expected.push_back(k);
    EXPECT_EQ(made, expected);
    expect_all(table, 100);
    made.clear();
    EXPECT_TRUE(make(engine, table, round_of(100)));
    EXPECT_TRUE(made.empty());
}

TEST(Engine, InterruptedSaysSoAndIsContinuedLater) {
    std::atomic<int> left = 40;
    FunctionWork work([&](const RunRequest& run) -> std::optional<std::string> {
        if (--left < 0) return {};
        return answer_of(run);
    });
    Table table(0, 100);
    Engine cut(work, {2, nullptr, [&] { return left <= 0; }});
    EXPECT_FALSE(make(cut, table, round_of(100)));
    EXPECT_EQ(table.count(0, 100), 40U);
    left = 1000;
    Engine again(work, {2, nullptr, {}});
    EXPECT_TRUE(make(again, table, round_of(100)));
    expect_all(table, 100);
}

TEST(Engine, RethrowsTheErrorOfTheSmallestRunFromAnyRank) {
    FunctionWork work([](const RunRequest& run) {
        if (run.number % 50 == 37) throw Error("run " + std::to_string(run.number), {"--vary", 0, 0}, "a remedy");
        return answer_of(run);
    });
    for (const int ranks : {1, 3}) {
        Table table(0, 1000);
        std::string told;
        on_ranks(
            ranks, work,
            [&](Engine& engine) {
                try {
                    make(engine, table, round_of(1000));
                } catch (const Error& e) {
                    told = e.what();
                }
            },
            2);
        EXPECT_NE(told.find("a remedy"), std::string::npos) << told;
        if (ranks == 1) {
            EXPECT_EQ(told, "--vary: run 37; a remedy");
        }
    }
}

/// A device takes many runs at a time, in one thread of each process.
TEST(Engine, ServesADeviceWithOneThread) {
    class Device final : public Work {
    public:
        std::atomic<int> calls = 0;
        std::size_t batch() const override { return 100; }
        void serve(const NextRun& next, const FinishRun& finish) override {
            ++calls;
            std::vector<RunRequest> batch;
            for (RunRequest run; next(run);) batch.push_back(run);
            for (auto r = batch.rbegin(); r != batch.rend(); ++r) finish(r->number, answer_of(*r));
        }
    } device;
    Table table(0, 1000);
    Engine engine(device, {4, nullptr, {}});
    EXPECT_TRUE(make(engine, table, round_of(1000)));
    EXPECT_EQ(device.calls, 1);
    expect_all(table, 1000);
}

/// A device takes and finishes many runs in one call. Progress then tells of many runs at once.
TEST(Engine, ServesADeviceInBlocksOnAnyNumberOfRanks) {
    class Device final : public Work {
    public:
        std::atomic<std::size_t> calls = 0;
        std::size_t batch() const override { return 300; }
        bool in_blocks() const override { return true; }
        void serve(const NextRun&, const FinishRun&) override { ADD_FAILURE() << "runs one by one"; }
        void serve_blocks(const NextRuns& next, const FinishRuns& finish) override {
            for (RunBlock runs; next(batch(), runs);) {
                EXPECT_LE(runs.size(), batch());
                std::vector<std::size_t> ends;
                std::string bytes;
                for (std::size_t k = 0; k < runs.size(); ++k) {
                    bytes += answer_of({runs.numbers[k], {runs.values_of(k)[0]}});
                    ends.push_back(bytes.size());
                }
                ++calls;
                finish({runs.numbers, ends, bytes});
            }
        }
    };
    for (const int ranks : {1, 2, 4})
        for (const Shard& shard : {Shard{}, Shard{2, 3, 7}}) {
            Device device;
            Table table(0, 3000);
            std::size_t told = 0, stored = 0;
            on_ranks(ranks, device, [&](Engine& engine) {
                Round r = round_of(3000, shard);
                r.progress = [&](std::size_t done, std::size_t) {
                    EXPECT_GT(done, told);
                    told = done;
                };
                r.stored = [&](std::size_t number, std::string_view answer) {
                    ++stored;
                    EXPECT_EQ(answer, answer_of({number, {0.5 * static_cast<double>(number)}}));
                };
                EXPECT_TRUE(make(engine, table, r));
            });
            EXPECT_EQ(told, 3000U);  // runs of other shards count as done
            EXPECT_EQ(stored, shard.size(3000));
            EXPECT_GE(device.calls, shard.size(3000) / 300);
            EXPECT_LE(device.calls, 200U);
            expect_all(table, 3000, shard);
        }
}

}  // namespace
}  // namespace saltus::ensemble::engine_test
