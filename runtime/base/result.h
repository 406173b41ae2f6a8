// SPDX-License-Identifier: BSD-3-Clause
// Result<T> holds a value or the Error that explains why there is none. Like std::expected of C++23, without
// exceptions. RL_TRY_ASSIGN passes errors up:
//
//   RL_TRY_ASSIGN(const Program program, Program::load(loader));
#pragma once

#include <new>
#include <type_traits>
#include <utility>

#include "runtime/base/assert.h"
#include "runtime/base/error.h"

namespace rushlight {

// Either a T or an Error other than Ok. Movable, not copyable, not assignable. T need not be default
// constructible.
template <class T>
class [[nodiscard]] Result {
 public:
  // Implicit, so that functions can `return Error::InvalidProgram;` or `return value;`.
  Result(Error error) : error_(error) { RL_DCHECK(error != Error::Ok); }  // NOLINT: implicit by design
  Result(T value) : value_(std::move(value)), error_(Error::Ok) {}        // NOLINT: implicit by design
  Result(Result&& other) noexcept : error_(other.error_) {
    // Moves the value; `other` keeps a moved-from value, or its error.
    if (ok()) new (&value_) T(std::move(other.value_));
  }
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  Result& operator=(Result&&) = delete;
  ~Result() {
    if (ok()) value_.~T();
  }

  // Returns true if there is a value.
  [[nodiscard]] bool ok() const { return error_ == Error::Ok; }
  // The error; Ok if there is a value.
  [[nodiscard]] Error error() const { return error_; }

  // The value. Precondition: ok(); asserted in debug builds.
  T& get() {
    RL_DCHECK(ok());
    return value_;
  }
  const T& get() const {
    // Pointer-like access, with the precondition of get().
    RL_DCHECK(ok());
    return value_;
  }
  T& operator*() { return get(); }
  const T& operator*() const { return get(); }
  T* operator->() { return &get(); }
  const T* operator->() const { return &get(); }

 private:
  union {
    T value_;
  };
  Error error_;
};

}  // namespace rushlight

#define RL_CONCAT_INNER(a, b) a##b
#define RL_CONCAT(a, b) RL_CONCAT_INNER(a, b)

// Declares or assigns `target` from a Result, or returns its error from the calling function.
#define RL_TRY_ASSIGN(target, expression) \
  RL_TRY_ASSIGN_INNER(RL_CONCAT(rl_result_, __LINE__), target, expression)
#define RL_TRY_ASSIGN_INNER(result, target, expression) \
  auto result = (expression);                           \
  if (!result.ok()) return result.error();              \
  target = std::move(result.get())
