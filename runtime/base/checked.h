// SPDX-License-Identifier: BSD-3-Clause
// Overflow-checked integer arithmetic for values that a file or a user chose. The functions use compiler
// built-ins, compute at infinite precision and report if the result fits in the output type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rushlight {

// Writes a + b to `*sum` and returns true if the exact sum fits in T. Otherwise returns false; `*sum` is then
// unspecified.
template <class T, class A, class B>
[[nodiscard]] constexpr bool checked_add(A a, B b, T* sum) {
  return !__builtin_add_overflow(a, b, sum);
}

// Writes a * b to `*product` and returns true if the exact product fits in T. Otherwise returns false;
// `*product` is then unspecified.
template <class T, class A, class B>
[[nodiscard]] constexpr bool checked_mul(A a, B b, T* product) {
  return !__builtin_mul_overflow(a, b, product);
}

// Converts a floating-point value to an integer, rounding towards zero. If C++ leaves the result
// undefined, it matches PyTorch on common hosts: NaN and values outside of int64 become INT64_MIN, and
// smaller types take its low bits.
template <class To, class From>
[[nodiscard]] constexpr To truncate(From value) {
  static_assert(std::is_integral_v<To> && std::is_floating_point_v<From>);
  if constexpr (std::is_same_v<To, uint64_t>) {
    if (value >= From(0x1p63) && value < From(0x1p64)) return static_cast<To>(value);
  }
  const bool fits = value >= From(-0x1p63) && value < From(0x1p63);
  return static_cast<To>(fits ? static_cast<int64_t>(value) : INT64_MIN);
}

// Returns true if [offset, offset + length) lies inside [0, size). Does not overflow.
[[nodiscard]] constexpr bool range_fits(uint64_t offset, uint64_t length, uint64_t size) {
  return offset <= size && length <= size - offset;
}

// Rounds `value` up to a multiple of `alignment`, a power of two. Precondition: the result fits in size_t.
[[nodiscard]] constexpr size_t align_up(size_t value, size_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

// Returns true if `pointer` is a multiple of `alignment`, a power of two.
[[nodiscard]] inline bool is_aligned(const void* pointer, size_t alignment) {
  return (reinterpret_cast<uintptr_t>(pointer) & (alignment - 1)) == 0;
}

}  // namespace rushlight
