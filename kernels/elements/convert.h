// SPDX-License-Identifier: BSD-3-Clause
// Conversion of strided spans between dtypes, compiled once for all operators. There are loops between each
// dtype and its kind (float, double, int64, uint64) and between kinds; other pairs take two or three of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/base/checked.h"
#include "runtime/base/error.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels {

// Converts one element as PyTorch's `to` does: float to integer truncates, any nonzero value (also NaN) is
// true as bool, half and bfloat16 convert through float. Complex elements convert part by part; a real target
// takes the real part. Integers wrap; a float outside of the integer type is no undefined behavior, see
// truncate().
template <class To, class From>
inline To convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return truncate<To>(value);
  } else {
    return static_cast<To>(value);
  }
}
template <class To>
inline To convert(Half value) {
  return convert<To>(static_cast<float>(value));
}
template <class To>
inline To convert(BFloat16 value) {
  return convert<To>(static_cast<float>(value));
}

// Converts n elements of dtype `from` at `source` to dtype `to` at `target`. Strides are in bytes.
// Precondition: kConvertibleTypes contains both dtypes; elements are aligned. `target` may be `source` if the
// strides are equal and cover both element sizes. Bool elements may be any byte. Cost: one to three loops
// over the elements.
void convert_span(void* target, ptrdiff_t target_stride, ScalarType to, const void* source,
                  ptrdiff_t source_stride, ScalarType from, size_t n);

// Calls f(values, first, n) for pieces of a span, converted to T: `count` elements of dtype `type`, `stride`
// bytes apart. A piece has at most kLength elements, which are on the stack.
#ifdef __OPTIMIZE_SIZE__
inline constexpr size_t kPiece = 64;
#else
inline constexpr size_t kPiece = 256;
#endif
template <class T, size_t kLength = kPiece, class F>
void for_pieces(const char* source, ptrdiff_t stride, ScalarType type, size_t count, F f) {
  T values[kLength];
  for (size_t first = 0; first < count; first += kLength, source += stride * ptrdiff_t{kLength}) {
    const size_t n = count - first < kLength ? count - first : kLength;
    convert_span(values, sizeof(T), scalar_type_of<T>, source, stride, type, n);
    f(values, first, n);
  }
}

// True for adjacent elements of dtype T, in builds for speed; in others one loop serves all elements.
template <class T>
constexpr bool are_held([[maybe_unused]] ScalarType type, [[maybe_unused]] ptrdiff_t stride) {
#ifdef __OPTIMIZE_SIZE__
  return false;
#else
  return type == scalar_type_of<T> && stride == ptrdiff_t{sizeof(T)};
#endif
}

// n elements as T: where they are if are_held(), else converted, in `buffer`.
template <class T>
const T* held_span(T* buffer, const char* source, ptrdiff_t stride, ScalarType type, size_t n) {
  if (are_held<T>(type, stride)) return reinterpret_cast<const T*>(source);
  convert_span(buffer, sizeof(T), scalar_type_of<T>, source, stride, type, n);
  return buffer;
}

// InvalidType unless kConvertibleTypes contains `type`.
Error check_convertible(ScalarType type);

}  // namespace rushlight::kernels
