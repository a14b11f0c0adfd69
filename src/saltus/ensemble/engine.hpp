// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/ensemble/ranks.hpp"
#include "saltus/ensemble/shard.hpp"
#include "saltus/ensemble/starts.hpp"
#include "saltus/ensemble/table.hpp"

namespace saltus::ensemble {

/// A run that is to be made.
struct RunRequest {
    std::size_t number = 0;
    std::vector<double> values;  ///< values of the axes
};

/// Gives the next run; false if there are no more. Any thread may call it.
using NextRun = std::function<bool(RunRequest&)>;
/// Receives the answer of a run. Any thread may call it.
using FinishRun = std::function<void(std::size_t number, std::string_view answer)>;

/// Many runs that are to be made. Their values are in one array, because an allocation for each run costs more than
/// everything else that the host does for a run of a device.
struct RunBlock {
    std::size_t axes = 0;  ///< number of values of a run
    std::vector<std::size_t> numbers;
    std::vector<double> values;  ///< those of all runs, one run after the other

    std::size_t size() const { return numbers.size(); }
    std::span<const double> values_of(std::size_t k) const { return {values.data() + k * axes, axes}; }
};

/// Gives the next runs, at most so many; false if there are no more. Any thread may call it.
using NextRuns = std::function<bool(std::size_t most, RunBlock&)>;
/// Receives the answers of several runs. Any thread may call it.
using FinishRuns = std::function<void(const AnswerBlock&)>;

/// What is computed in each run, by one process.
class Work {
public:
    virtual ~Work() = default;
    /// Takes runs until there are no more, and finishes each of them, in any order. Called once by each thread. After
    /// an interrupt a run that was taken need not be finished.
    virtual void serve(const NextRun& next, const FinishRun& finish) = 0;
    /// Number of runs that `serve` wants at a time; more than 1 for a device. A device is served by one thread.
    virtual std::size_t batch() const { return 1; }
    /// True: `serve_blocks` is called instead of `serve`, by one thread.
    virtual bool in_blocks() const { return false; }
    /// As `serve`, with many runs and answers in one call.
    virtual void serve_blocks(const NextRuns& next, const FinishRuns& finish);
};

/// Where the runs of an ensemble are made.
struct EngineOptions {
    int threads = 0;  ///< threads of each process; 0: one for each core, or one in all if there are several ranks
    Ranks* ranks = nullptr;             ///< processes that work together; not owned. Null: this process alone
    std::function<bool()> interrupted;  ///< polled by any thread; true: no further runs begin
};

/// Number of threads that these options stand for.
int threads_of(const EngineOptions& options);

/// Makes runs on the threads of this process, or on all ranks of mpirun. Answers do not depend on either.
class Engine {
public:
    /// `work` must outlive this object.
    Engine(Work& work, EngineOptions options);

    /// Makes the runs that `source` gives, about `count` of them. `source` is called by one thread at a time. `finish`
    /// gets single answers, except those of a work in blocks. If a run throws then no further ones begin, and the
    /// exception of the smallest number that failed is rethrown. On rank 0 of several, the other ranks must be in
    /// `serve`.
    void run(const NextRuns& source, std::size_t count, const FinishRuns& finish);
    /// Makes the runs that rank 0 gives to this rank, until rank 0 calls `dismiss`.
    void serve();
    /// Ends `serve` on all other ranks.
    void dismiss();

    bool leads() const { return options_.ranks == nullptr || options_.ranks->rank() == 0; }

private:
    struct Failure;
    void run_here(const NextRuns& next, const FinishRuns& finish, Failure& failure);
    void hand_out(const NextRuns& next, std::size_t count, const FinishRuns& finish, Failure& failure);
    bool interrupted() const { return options_.interrupted && options_.interrupted(); }

    Work& work_;
    EngineOptions options_;
    int threads_;
    std::vector<int> idle_;  ///< ranks that wait for work
};

/// Dismisses the other ranks at the end of a scope, whatever happens in it: they must not wait for ever.
class Dismissal {
public:
    explicit Dismissal(Engine& engine) : engine_(engine) {}
    ~Dismissal() { engine_.dismiss(); }
    Dismissal(const Dismissal&) = delete;
    Dismissal& operator=(const Dismissal&) = delete;

private:
    Engine& engine_;
};

/// Work of a function: the answer of one run, as bytes. An answer of no value is a run that was interrupted.
class FunctionWork final : public Work {
public:
    using Function = std::function<std::optional<std::string>(const RunRequest&)>;
    explicit FunctionWork(Function function) : function_(std::move(function)) {}
    void serve(const NextRun& next, const FinishRun& finish) override;

private:
    Function function_;
};

/// The runs of [first, first + count) that belong to a shard and that a table does not have, in ascending order or in
/// the order of `order` (place to number, both counted from `first`).
class PendingRuns {
public:
    using Order = std::function<std::size_t(std::size_t)>;
    PendingRuns(const Table& table, const Shard& shard, std::size_t first, std::size_t count, Order order = {});

    bool next(std::size_t& number);
    std::size_t size() const { return size_; }  ///< number of them at the start

private:
    bool known(std::size_t number);

    const Table& table_;
    const Shard shard_;
    const std::size_t first_, count_;
    const Order order_;
    std::size_t at_ = 0, size_ = 0;
    bool none_known_ = false;       ///< the table was blank at the start
    std::size_t window_begin_ = 0;  ///< first number of window_
    std::vector<char> window_;      ///< flags: the table has the answers of these numbers
};

/// A part of an ensemble that is made at once: its runs, where they go, and who is told.
struct Round {
    std::size_t first = 0, count = 0;  ///< numbers of the runs
    std::size_t axes = 0;              ///< number of values of a run
    Shard shard;
    std::function<void(std::size_t run, std::span<double> values)> values;  ///< `run` counts from `first`
    PendingRuns::Order order;                                               ///< in which they begin; see PendingRuns
    std::function<void(std::size_t done, std::size_t of)> progress;         ///< called after each run, or block of runs
    std::function<void(std::size_t run, std::string_view answer)> stored;   ///< called after each run of this process
};

/// Makes the runs of a round that the table does not have, and stores their answers there. Returns whether all of them
/// are there now. Only for the rank that leads.
bool make(Engine& engine, Table& table, const Round& round);

}  // namespace saltus::ensemble
