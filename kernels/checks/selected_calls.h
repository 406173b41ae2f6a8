// SPDX-License-Identifier: BSD-3-Clause
// The calls that a build was selected for, as constants: sizes, strides and numbers of every call that the
// selected programs make. Kernels evaluate their own choice of a method over them and compile only the
// methods that are reached:
//
//   constexpr bool kReached = is_reached({"convolution"}, [](const SelectedCall& call) { return ...; });
//
// If a build does not know the calls of a back (it selects operators by name, or a program has dynamic
// shapes), everything is reached. A call that was not selected must end in Error::NotSupported: a kernel
// makes the same choice at run time, and reports a method that was not compiled with not_selected().
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/base/span.h"

namespace rushlight::kernels {

// One argument of a call. A tensor has the functions of class Tensor that describe its shape.
struct CallValue {
  enum class Kind : uint8_t { kOther, kNumbers, kTensor };
  static constexpr size_t kMost = 8;

  std::string_view name;
  Kind kind;
  size_t count;
  int64_t numbers[kMost];  // numbers, or sizes
  int64_t tensor_strides[kMost];

  [[nodiscard]] constexpr Span<const int64_t> list() const { return {numbers, count}; }
  [[nodiscard]] constexpr Span<const int64_t> sizes() const { return {numbers, count}; }
  [[nodiscard]] constexpr Span<const int64_t> strides() const { return {tensor_strides, count}; }
  [[nodiscard]] constexpr ptrdiff_t size(size_t dim) const { return static_cast<ptrdiff_t>(numbers[dim]); }
};

struct SelectedCall {
  static constexpr size_t kMostArguments = 32;

  size_t count;
  CallValue arguments[kMostArguments];

  [[nodiscard]] constexpr bool has(std::string_view name) const {
    for (size_t i = 0; i < count; ++i) {
      if (arguments[i].name == name) return true;
    }
    return false;
  }
  // The argument of that name in the operator's schema, which must exist.
  [[nodiscard]] constexpr const CallValue& operator[](std::string_view name) const {
    size_t i = 0;
    while (arguments[i].name != name) ++i;
    return arguments[i];
  }
};

// The calls of the operators whose back is the function `back`. Selected operators only. `sources` are the
// shared sources that the back needs, "kernels/host/gemm kernels/host/activate".
struct BackCalls {
  std::string_view back;
  std::string_view sources;
  bool are_known;
  const SelectedCall* calls;
  size_t count;
};

}  // namespace rushlight::kernels

// Generated: kSelectedCalls[], a row for each back of the build; the last row has no name.
#include "rushlight/selected_calls.h"

namespace rushlight::kernels {

// True if the build knows the calls of one of its backs.
constexpr bool knows_calls() {
  for (const BackCalls& row : kSelectedCalls) {
    if (row.are_known) return true;
  }
  return false;
}
inline constexpr bool kKnowsCalls = knows_calls();

// True if the predicate holds for a call of one of the backs, or if not all of their calls are known.
template <class Predicate>
constexpr bool is_reached(std::initializer_list<std::string_view> backs, Predicate predicate) {
  for (const BackCalls& row : kSelectedCalls) {
    bool is_asked = false;
    for (const std::string_view back : backs) is_asked = is_asked || row.back == back;
    if (!is_asked) continue;
    if (!row.are_known) return true;
    for (size_t i = 0; i < row.count; ++i) {
      if (predicate(row.calls[i])) return true;
    }
  }
  return false;
}

// The same for the calls of all backs that need a shared source, named as in BackCalls.
template <class Predicate>
constexpr bool is_reached_through(std::string_view source, Predicate predicate) {
  for (const BackCalls& row : kSelectedCalls) {
    if (row.sources.find(source) == std::string_view::npos) continue;
    if (!row.are_known) return true;
    for (size_t i = 0; i < row.count; ++i) {
      if (predicate(row.calls[i])) return true;
    }
  }
  return false;
}

// Error::NotSupported: the build has no code for this call. `kernel` is named in the log.
Error not_selected(const char* kernel);

}  // namespace rushlight::kernels
