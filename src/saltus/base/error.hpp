// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace saltus {

/// A position in a text that a person wrote: a model file, a problem file or a command line.
struct Place {
    std::string file;  ///< file name or option such as "--h"; empty if unknown
    int line = 0;      ///< counted from 1; 0 if unknown
    int column = 0;    ///< counted from 1, in characters; 0 if unknown
};

/// The place as text, for example "rocking-bar.toml:12:8". Unknown parts are left out; an unknown place gives "".
std::string to_string(const Place& place);

/// Bad input by a person. It says what is wrong, where, and how to correct it. `what()` is
/// "PLACE: MESSAGE; REMEDY". Saltus throws it while it reads a model or a problem and when a model is not supported by
/// an analysis. A numerical outcome (no convergence, no solution) is never thrown: results carry a status instead.
class Error : public std::runtime_error {
public:
    Error(std::string message, Place place = {}, std::string remedy = {});

    const std::string& message() const { return message_; }
    const Place& place() const { return place_; }
    const std::string& remedy() const { return remedy_; }  ///< empty if no remedy is known

private:
    std::string message_;
    Place place_;
    std::string remedy_;
};

/// Reports a programming error of the calling code: prints the violated expectation and its source line, then aborts.
[[noreturn]] void misuse(const char* expectation, const char* file, int line);

}  // namespace saltus

/// Precondition of a function. It is checked in every build type; a violation ends the program by `misuse`.
#define SALTUS_EXPECT(condition) ((condition) ? void(0) : ::saltus::misuse(#condition, __FILE__, __LINE__))
