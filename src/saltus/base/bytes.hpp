// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "saltus/base/error.hpp"

/// Values as bytes and back. Both directions are written once: a function `template <class Bytes> void transfer(Bytes&
/// b, T& value)` calls b(member) for each member, and works with a ByteWriter and with a ByteReader. The bytes are for
/// the same program on the same kind of machine: messages between processes, and files that only continue a run.
namespace saltus {

namespace detail {

/// Numbers and enumerations are copied byte by byte.
template <class T>
concept PlainValue = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// A vector of numbers: std::vector<double> or Eigen's vectors.
template <class T>
concept PlainVector = requires(T& v) {
    v.resize(v.size());
    requires PlainValue<std::remove_cvref_t<decltype(*v.data())>>;
};

}  // namespace detail

class ByteWriter {
public:
    template <class T>
    void operator()(const T& value) {
        if constexpr (detail::PlainValue<T>) {
            bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
        } else if constexpr (detail::PlainVector<T>) {
            (*this)(static_cast<std::uint64_t>(value.size()));
            const auto count = static_cast<std::size_t>(value.size());
            if (count > 0) bytes_.append(reinterpret_cast<const char*>(value.data()), count * sizeof(*value.data()));
        } else {
            transfer(*this, const_cast<T&>(value));  // reads the value only
        }
    }
    template <class T>
    void operator()(const std::optional<T>& value) {
        (*this)(value.has_value());
        if (value) (*this)(*value);
    }
    template <class A, class B>
    void operator()(const std::pair<A, B>& value) {
        (*this)(value.first);
        (*this)(value.second);
    }
    template <class T>
    requires(!detail::PlainValue<T>) void operator()(const std::vector<T>& values) {
        (*this)(static_cast<std::uint64_t>(values.size()));
        for (const T& v : values) (*this)(v);
    }

    const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
};

/// Takes values from the front of some bytes. Throws Error if too few bytes are left.
class ByteReader {
public:
    explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

    template <class T>
    void operator()(T& value) {
        if constexpr (detail::PlainValue<T>) {
            take(&value, sizeof value);
        } else if constexpr (detail::PlainVector<T>) {
            const std::size_t count = counted(sizeof(*value.data()));
            value.resize(static_cast<decltype(value.size())>(count));
            if (count > 0) take(value.data(), count * sizeof(*value.data()));
        } else {
            transfer(*this, value);
        }
    }
    template <class T>
    void operator()(std::optional<T>& value) {
        bool has = false;
        (*this)(has);
        value.reset();
        if (has) (*this)(value.emplace());
    }
    template <class A, class B>
    void operator()(std::pair<A, B>& value) {
        (*this)(value.first);
        (*this)(value.second);
    }
    template <class T>
    requires(!detail::PlainValue<T>) void operator()(std::vector<T>& values) {
        values.clear();
        values.resize(counted(1));
        for (T& v : values) (*this)(v);
    }
    template <class T>
    T get() {
        T value{};
        (*this)(value);
        return value;
    }

    std::size_t left() const { return rest_.size(); }

private:
    void take(void* to, std::size_t count) {
        if (count > rest_.size()) throw Error("the data end too early");
        std::memcpy(to, rest_.data(), count);
        rest_.remove_prefix(count);
    }
    /// A number of elements, each of at least `least` bytes.
    std::size_t counted(std::size_t least) {
        const auto count = get<std::uint64_t>();
        if (count > rest_.size() / least) throw Error("the data end too early");
        return count;
    }

    std::string_view rest_;
};

}  // namespace saltus
