// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace saltus {

/// A place in a text that a person wrote: 1-based line and column (in characters), 0 where unknown.
struct Place {
    std::string file;
    int line = 0;
    int column = 0;
};

/// "rocking-bar.toml:12:8", or what of it is known.
std::string to_string(const Place& place);

/// Bad input: what is wrong, where, and what to do about it. Thrown while a model or a problem is read; the
/// numerical core never throws for an outcome of a computation.
class Error : public std::runtime_error {
public:
    Error(std::string message, Place place = {}, std::string remedy = {});

    const std::string& message() const { return message_; }
    const Place& place() const { return place_; }
    const std::string& remedy() const { return remedy_; }

private:
    std::string message_;
    Place place_;
    std::string remedy_;
};

/// Misuse by the calling code, not by the person at the keyboard: says what was expected and aborts.
[[noreturn]] void misuse(const char* expectation, const char* file, int line);

}  // namespace saltus

/// Precondition of a function, checked in every build.
#define SALTUS_EXPECT(condition) ((condition) ? void(0) : ::saltus::misuse(#condition, __FILE__, __LINE__))
