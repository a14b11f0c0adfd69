// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace saltus::ode {

/// Somebody else's callable by reference: two pointers, no allocation, no ownership. What it refers to must outlive
/// it; a temporary lives to the end of the call it is written in.
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
