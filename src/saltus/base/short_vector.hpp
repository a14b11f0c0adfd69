// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace saltus {

/// A vector that holds up to N elements inside itself and allocates memory only for more. It serves records of which
/// there are many, and which have few elements in most models: the allocations would cost more than the elements.
template <class T, std::size_t N>
class ShortVector {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    ShortVector() = default;
    ShortVector(std::initializer_list<T> list) { assign(list.begin(), list.end()); }
    ShortVector(const ShortVector& other) { assign(other.begin(), other.end()); }
    ShortVector(ShortVector&& other) noexcept { take(other); }
    ~ShortVector() = default;
    ShortVector& operator=(const ShortVector& other) {
        if (this != &other) assign(other.begin(), other.end());
        return *this;
    }
    ShortVector& operator=(ShortVector&& other) noexcept {
        if (this != &other) take(other);
        return *this;
    }
    ShortVector& operator=(std::initializer_list<T> list) {
        assign(list.begin(), list.end());
        return *this;
    }
    /// Copies the elements of any list in one piece of memory that is not a part of this vector.
    ShortVector& operator=(std::span<const T> list) {
        assign(list.data(), list.data() + list.size());
        return *this;
    }

    /// Replaces the elements by those from `first` to before `last`, which must not belong to this vector.
    void assign(const T* first, const T* last) {
        const auto count = static_cast<std::size_t>(last - first);
        size_ = 0;
        reserve(count);
        std::copy(first, last, data());
        size_ = count;
    }
    /// Replaces the elements by `count` copies of a value, which must not belong to this vector.
    void assign(std::size_t count, const T& value) {
        size_ = 0;
        reserve(count);
        std::fill_n(data(), count, value);
        size_ = count;
    }
    void reserve(std::size_t count) {
        if (count <= capacity()) return;
        auto larger = std::make_unique<T[]>(count);
        std::copy(begin(), end(), larger.get());
        far_ = std::move(larger);
        far_capacity_ = count;
    }
    void push_back(const T& value) {
        const T copy = value;  // `value` may be an element of this vector
        if (size_ == capacity()) reserve(2 * size_);
        data()[size_++] = copy;
    }
    void clear() { size_ = 0; }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* data() { return far_ ? far_.get() : near_; }
    const T* data() const { return far_ ? far_.get() : near_; }
    T* begin() { return data(); }
    T* end() { return data() + size_; }
    const T* begin() const { return data(); }
    const T* end() const { return data() + size_; }
    T& operator[](std::size_t i) { return data()[i]; }
    const T& operator[](std::size_t i) const { return data()[i]; }
    const T& front() const { return data()[0]; }
    const T& back() const { return data()[size_ - 1]; }

    bool operator==(const ShortVector& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

private:
    std::size_t capacity() const { return far_ ? far_capacity_ : N; }
    /// Becomes what `other` is, and leaves it empty.
    void take(ShortVector& other) {
        far_ = std::move(other.far_);
        far_capacity_ = other.far_capacity_;
        size_ = std::exchange(other.size_, 0);
        if (!far_) std::copy(other.near_, other.near_ + size_, near_);
    }

    std::size_t size_ = 0, far_capacity_ = 0;
    std::unique_ptr<T[]> far_;  // if N elements are or were not enough
    T near_[N];
};

}  // namespace saltus
