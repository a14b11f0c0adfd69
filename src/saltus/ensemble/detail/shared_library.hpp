// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <string>
#include <vector>

namespace saltus::ensemble {

/// A shared library that is loaded if it is there. It stays loaded until the program ends: drivers have threads of
/// their own that must not lose their code.
class SharedLibrary {
public:
    /// Loads the first of these files that exists.
    explicit SharedLibrary(const std::vector<std::string>& names) {
        for (const std::string& name : names)
            if ((handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) != nullptr) return;
    }
    bool loaded() const { return handle_ != nullptr; }

    /// Sets a pointer to the function `name`; null if the library does not have it.
    template <class Function>
    void get(const char* name, Function*& function) const {
        function = loaded() ? reinterpret_cast<Function*>(::dlsym(handle_, name)) : nullptr;
    }

private:
    void* handle_ = nullptr;
};

}  // namespace saltus::ensemble
