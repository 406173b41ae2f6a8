// SPDX-License-Identifier: BSD-3-Clause
// Sums and products that report overflow, for sizes that come from a file or a caller. Unsigned overflow
// wraps silently, and signed overflow is undefined behaviour.
//
//   size_t bytes;
//   if (c10::mul_overflows(count, sizeof(float), &bytes)) return Error::InvalidArgument;
#pragma once

#include <cstdint>
#include <type_traits>

#include <c10/macros/Macros.h>

// The compiler has the builtins; ExecuTorch's header has a fallback for others.
#define C10_HAS_BUILTIN_OVERFLOW() (1)

namespace c10 {

// Stores the sum, wrapped to T, in `*out`, and returns true if it wrapped. Both operands have the type of the
// result; the overload for uint64_t converts others, such as a uint32_t beside a uint64_t.
template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
C10_ALWAYS_INLINE bool add_overflows(T a, T b, T* out) {
  return __builtin_add_overflow(a, b, out);
}
C10_ALWAYS_INLINE bool add_overflows(uint64_t a, uint64_t b, uint64_t* out) {
  return __builtin_add_overflow(a, b, out);
}

// The same for the product.
template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
C10_ALWAYS_INLINE bool mul_overflows(T a, T b, T* out) {
  return __builtin_mul_overflow(a, b, out);
}
C10_ALWAYS_INLINE bool mul_overflows(uint64_t a, uint64_t b, uint64_t* out) {
  return __builtin_mul_overflow(a, b, out);
}

// The product of a range; returns true if any step overflowed, even if a later factor is 0. An empty range
// gives 1.
template <class Iterator>
bool safe_multiplies_u64(Iterator first, Iterator last, uint64_t* out) {
  uint64_t product = 1;
  bool overflowed = false;
  for (; first != last; ++first) {
    overflowed |= mul_overflows(product, static_cast<uint64_t>(*first), &product);
    // The same for all elements of a container, such as the sizes of a shape.
  }
  *out = product;
  return overflowed;
}
template <class Container>
bool safe_multiplies_u64(const Container& container, uint64_t* out) {
  return safe_multiplies_u64(container.begin(), container.end(), out);
}

}  // namespace c10
