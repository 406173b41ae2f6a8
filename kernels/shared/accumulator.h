// SPDX-License-Identifier: BSD-3-Clause
// What sums of products are held in: 16-bit floats in float, the other floating types in themselves,
// integers in an unsigned type at least as wide, where wrapping is defined and gives the same bits.
#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/tensor/scalar.h"

namespace rushlight::kernels {

namespace internal {

template <class T>
struct AccumulatorOf {
  using Type = std::conditional_t<sizeof(T) <= sizeof(uint32_t), uint32_t, uint64_t>;
};
template <>
struct AccumulatorOf<float> {
  using Type = float;
};
template <>
struct AccumulatorOf<double> {
  using Type = double;
};
template <>
struct AccumulatorOf<Half> {
  using Type = float;
};
template <>
struct AccumulatorOf<BFloat16> {
  using Type = float;
};

}  // namespace internal

template <class T>
using Accumulator = typename internal::AccumulatorOf<T>::Type;

template <class T>
inline Accumulator<T> widen(T value) {
  return static_cast<Accumulator<T>>(value);
}

template <class T>
inline T narrow(Accumulator<T> value) {
  return static_cast<T>(value);
}

// A factor of the operation; of integers, its whole part.
template <class A>
inline A scalar_as(const Scalar& value) {
  if constexpr (std::is_floating_point_v<A>) {
    return value.to<A>();
  } else {
    return static_cast<A>(value.to<int64_t>());
  }
}

}  // namespace rushlight::kernels
