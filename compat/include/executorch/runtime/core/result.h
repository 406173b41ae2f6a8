// SPDX-License-Identifier: BSD-3-Clause
// Result<T> holds a value or the Error that explains why there is none. Reading the value of an error aborts.
//
//   Result<Program> program = Program::load(&loader);
//   if (!program.ok()) return program.error();
//   program->num_methods();
//
// In a function that returns Error or Result itself, the macros at the end do the check:
//
//   ET_ASSIGN_OR_RETURN(meta, program->method_meta("forward"), "no method forward");
//   const char* name = ET_UNWRAP(program->get_method_name(0));
#pragma once

#include <new>
#include <utility>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/platform/assert.h>

namespace executorch::runtime {

// Movable once, when a function returns it; not copyable or assignable. T may be const, but not a reference.
// Has the size of T or an Error, and a flag.
template <class T>
class Result final {
 public:
  typedef T value_type;

  // An error. Ok is not an error: it is stored as Internal. Implicit, so that a function returns
  // Error::NotFound.
  Result(Error error) : error_(error == Error::Ok ? Error::Internal : error), has_value_(false) {}
  // A value, implicitly.
  Result(const T& value) : value_(value), has_value_(true) {}
  Result(T&& value) : value_(std::move(value)), has_value_(true) {}
  // The other keeps a moved-from value, or its error.
  Result(Result&& other) noexcept : has_value_(other.has_value_) {
    if (has_value_) {
      new (const_cast<void*>(static_cast<const void*>(&value_))) T(std::move(other.value_));
    } else {
      error_ = other.error_;
    }
  }
  Result() = delete;
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  Result& operator=(Result&&) = delete;
  ~Result() {
    if (has_value_) value_.~T();
  }

  // True if there is a value.
  ET_NODISCARD bool ok() const { return has_value_; }
  // The error; Ok if there is a value.
  ET_NODISCARD Error error() const { return has_value_ ? Error::Ok : error_; }

  // The value, by reference into this object; aborts if there is none. The operators do the same.
  T& get() {
    check();
    return value_;
  }
  const T& get() const {
    check();
    return value_;
  }
  // The value as get(). On a temporary operator* gives a constant reference, valid until the end of the full
  // expression.
  T& operator*() & { return get(); }
  const T& operator*() const& { return get(); }
  // A member of the value; aborts if there is none.
  T* operator->() { return &get(); }
  const T* operator->() const { return &get(); }

 private:
  // Logs nothing but the condition: the error is known to the caller by error().
  void check() const { ET_CHECK(has_value_); }

  // The member that `has_value_` selects is constructed, the other is not.
  union {
    T value_;
    Error error_;
  };
  // Constant: a Result never changes between value and error.
  const bool has_value_;
};

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::Result;
}

// ET_UNWRAP(result) or (result, "message %d", ...) is the value, moved out of the result; an error returns
// from the calling function, with the message logged. The argument is a temporary, such as a call, or
// std::move() of a variable, because a Result is not copyable. Needs GNU's statement expressions. A message
// has at most 8 arguments.
#define ET_UNWRAP(result_, ...) ET_INTERNAL_UNWRAP(result_, ##__VA_ARGS__)
#define ET_INTERNAL_UNWRAP(...) \
  ET_INTERNAL_UNWRAP_SELECT(__VA_ARGS__, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, )(__VA_ARGS__)
#define ET_INTERNAL_UNWRAP_SELECT(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, N, ...) ET_INTERNAL_UNWRAP_##N
#define ET_INTERNAL_UNWRAP_1(result_)              \
  ({                                               \
    auto et_result = (result_);                    \
    if (!et_result.ok()) return et_result.error(); \
    std::move(*et_result);                         \
  })
#define ET_INTERNAL_UNWRAP_2(result_, message_, ...) \
  ({                                                 \
    auto et_result = (result_);                      \
    if (!et_result.ok()) {                           \
      ET_LOG(Error, message_, ##__VA_ARGS__);        \
      return et_result.error();                      \
    }                                                \
    std::move(*et_result);                           \
  })
#define ET_INTERNAL_UNWRAP_3 ET_INTERNAL_UNWRAP_2
#define ET_INTERNAL_UNWRAP_4 ET_INTERNAL_UNWRAP_2
#define ET_INTERNAL_UNWRAP_5 ET_INTERNAL_UNWRAP_2
#define ET_INTERNAL_UNWRAP_6 ET_INTERNAL_UNWRAP_2
#define ET_INTERNAL_UNWRAP_7 ET_INTERNAL_UNWRAP_2
#define ET_INTERNAL_UNWRAP_8 ET_INTERNAL_UNWRAP_2
#define ET_INTERNAL_UNWRAP_9 ET_INTERNAL_UNWRAP_2
#define ET_INTERNAL_UNWRAP_10 ET_INTERNAL_UNWRAP_2

// ET_ASSIGN_OR_RETURN(name, result) or (name, result, "message %d", ...) declares `name` with the value,
// moved out of the result; an error returns from the calling function. Several statements: not the body of an
// if. Also declares et_assigned_<name>. Standard C++, unlike ET_UNWRAP.
#define ET_ASSIGN_OR_RETURN(...)       \
  ET_INTERNAL_ASSIGN_OR_RETURN_EXPAND( \
      ET_INTERNAL_ASSIGN_OR_RETURN_SELECT(__VA_ARGS__, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, )(__VA_ARGS__))
#define ET_INTERNAL_ASSIGN_OR_RETURN_EXPAND(x) x
#define ET_INTERNAL_ASSIGN_OR_RETURN_SELECT(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, N, ...) \
  ET_INTERNAL_ASSIGN_OR_RETURN_##N
#define ET_INTERNAL_ASSIGN_OR_RETURN_2(name_, result_)               \
  auto et_assigned_##name_ = (result_);                              \
  if (!et_assigned_##name_.ok()) return et_assigned_##name_.error(); \
  auto name_ = std::move(*et_assigned_##name_)
#define ET_INTERNAL_ASSIGN_OR_RETURN_3(name_, result_, message_, ...) \
  auto et_assigned_##name_ = (result_);                               \
  if (!et_assigned_##name_.ok()) {                                    \
    ET_LOG(Error, message_, ##__VA_ARGS__);                           \
    return et_assigned_##name_.error();                               \
  }                                                                   \
  auto name_ = std::move(*et_assigned_##name_)
#define ET_INTERNAL_ASSIGN_OR_RETURN_4 ET_INTERNAL_ASSIGN_OR_RETURN_3
#define ET_INTERNAL_ASSIGN_OR_RETURN_5 ET_INTERNAL_ASSIGN_OR_RETURN_3
#define ET_INTERNAL_ASSIGN_OR_RETURN_6 ET_INTERNAL_ASSIGN_OR_RETURN_3
#define ET_INTERNAL_ASSIGN_OR_RETURN_7 ET_INTERNAL_ASSIGN_OR_RETURN_3
#define ET_INTERNAL_ASSIGN_OR_RETURN_8 ET_INTERNAL_ASSIGN_OR_RETURN_3
#define ET_INTERNAL_ASSIGN_OR_RETURN_9 ET_INTERNAL_ASSIGN_OR_RETURN_3
#define ET_INTERNAL_ASSIGN_OR_RETURN_10 ET_INTERNAL_ASSIGN_OR_RETURN_3
#define ET_INTERNAL_ASSIGN_OR_RETURN_11 ET_INTERNAL_ASSIGN_OR_RETURN_3
