// SPDX-License-Identifier: BSD-3-Clause
// A reference to a callable, which must outlive it: two words, no allocation. For parameters of functions
// that call back before they return; a lambda in the argument list lives as long as the call. To keep a
// callable use std::function.
//
//   void for_each(Span<int> values, FunctionRef<void(int)> visit);
//   for_each(values, [&](int value) { sum += value; });
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace executorch::runtime {

template <class Signature>
class FunctionRef;

template <class Ret, class... Params>
class FunctionRef<Ret(Params...)> {
  template <class Callable>
  // True for callables that accept the parameters; excludes FunctionRef, which is copied instead.
  static constexpr bool kFits = !std::is_same_v<std::decay_t<Callable>, FunctionRef> &&
                                std::is_invocable_r_v<Ret, Callable&, Params...>;

 public:
  // Empty: calling it is undefined behaviour.
  FunctionRef() = default;
  FunctionRef(std::nullptr_t) {}
  // Refers to any callable whose arguments and result convert.
  template <class Callable, std::enable_if_t<kFits<Callable>>* = nullptr>
  FunctionRef(Callable&& callable)
      : call_(&call<std::remove_reference_t<Callable>>), callable_(reinterpret_cast<intptr_t>(&callable)) {}

  // Calls the callable, also a mutable one: constness is that of the reference.
  Ret operator()(Params... params) const { return call_(callable_, std::forward<Params>(params)...); }
  // False for an empty reference.
  explicit operator bool() const { return call_ != nullptr; }
  // True if both refer to the callable at the same address.
  bool operator==(const FunctionRef& other) const { return callable_ == other.callable_; }

 private:
  // Restores the callable's type, which the constructor chose.
  template <class Callable>
  static Ret call(intptr_t callable, Params... params) {
    return (*reinterpret_cast<Callable*>(callable))(std::forward<Params>(params)...);
  }

  Ret (*call_)(intptr_t callable, Params... params) = nullptr;
  intptr_t callable_ = 0;
};

}  // namespace executorch::runtime
