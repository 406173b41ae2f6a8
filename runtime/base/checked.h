// SPDX-License-Identifier: BSD-3-Clause
// Integer arithmetic on numbers that a file or a user chose: every function says whether the exact
// result fits, and writes it only then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rushlight {

template <class T, class A, class B>
[[nodiscard]] constexpr bool checked_add(A a, B b, T* sum) {
  return !__builtin_add_overflow(a, b, sum);
}

template <class T, class A, class B>
[[nodiscard]] constexpr bool checked_mul(A a, B b, T* product) {
  return !__builtin_mul_overflow(a, b, product);
}

// The integer towards zero. Where C++ leaves the result open it is PyTorch's on common hosts: NaN and
// what 64 bits do not hold are the least int64, and smaller types take its low bits.
template <class To, class From>
[[nodiscard]] constexpr To truncate(From value) {
  static_assert(std::is_integral_v<To> && std::is_floating_point_v<From>);
  if constexpr (std::is_same_v<To, uint64_t>) {
    if (value >= From(0x1p63) && value < From(0x1p64)) return static_cast<To>(value);
  }
  const bool fits = value >= From(-0x1p63) && value < From(0x1p63);
  return static_cast<To>(fits ? static_cast<int64_t>(value) : INT64_MIN);
}

// Whether [offset, offset + length) lies inside [0, size).
[[nodiscard]] constexpr bool range_fits(uint64_t offset, uint64_t length, uint64_t size) {
  return offset <= size && length <= size - offset;
}

// `alignment` is a power of two. The caller knows that the result fits.
[[nodiscard]] constexpr size_t align_up(size_t value, size_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

[[nodiscard]] inline bool is_aligned(const void* pointer, size_t alignment) {
  return (reinterpret_cast<uintptr_t>(pointer) & (alignment - 1)) == 0;
}

}  // namespace rushlight
