// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace saltus::ode {

/// A reference to a callable object: two pointers, no allocation, no ownership. The callable must outlive the
/// reference. A temporary callable lives until the end of the full expression, so it may be passed as a function
/// argument. An empty reference converts to false and must not be called.
template <class Signature>
class FunctionRef;

template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
public:
    FunctionRef() = default;

    template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<Result, F&, Arguments...>)
        FunctionRef(F&& f)
        : object_(const_cast<void*>(reinterpret_cast<const volatile void*>(std::addressof(f)))),
          call_([](void* object, Arguments... arguments) -> Result {
              return (*reinterpret_cast<std::remove_reference_t<F>*>(object))(std::forward<Arguments>(arguments)...);
          }) {}

    Result operator()(Arguments... arguments) const { return call_(object_, std::forward<Arguments>(arguments)...); }
    explicit operator bool() const { return call_ != nullptr; }

private:
    void* object_ = nullptr;
    Result (*call_)(void*, Arguments...) = nullptr;
};

}  // namespace saltus::ode
