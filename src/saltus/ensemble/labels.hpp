// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace saltus::ensemble {

/// The labels of many runs, in the order of the runs. A short list is in memory. A long one is in a file without a
/// name, so that the memory of a run does not grow with the number of its starts; it is read piece by piece.
class Labels {
public:
    /// Lists up to this length stay in memory.
    static constexpr std::size_t longest_in_memory = std::size_t{1} << 20;

    /// `folder` is where a long list goes; empty: it stays in memory.
    explicit Labels(std::string folder = {}, std::size_t longest = longest_in_memory)
        : folder_(std::move(folder)), longest_(longest) {}

    /// Adds a label at the end. Throws Error if the disk is full.
    void push_back(int label);
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    /// Label of one run. Not for many runs of a long list, which a Reader gives faster.
    int operator[](std::size_t run) const { return Reader(*this).at(run); }
    /// All of them, in memory.
    std::vector<int> all() const;

    /// Reads labels of any runs; neighbours are read together. The list must outlive it, and must not grow.
    class Reader {
    public:
        explicit Reader(const Labels& labels) : labels_(labels) {}
        int at(std::size_t run) {
            if (run < first_ || run >= first_ + window_.size()) load(run);
            return window_[run - first_];
        }

    private:
        void load(std::size_t run);

        const Labels& labels_;
        std::size_t first_ = 0;
        std::vector<std::int32_t> window_;
    };

    friend bool operator==(const Labels& a, const Labels& b);

private:
    class File;
    void flush();

    std::string folder_;
    std::size_t longest_ = longest_in_memory;
    std::size_t size_ = 0;
    std::vector<std::int32_t> last_;  ///< the whole list, or what is not in the file yet
    std::shared_ptr<File> file_;      ///< the labels before `last_`; null: all are in `last_`
};

}  // namespace saltus::ensemble
