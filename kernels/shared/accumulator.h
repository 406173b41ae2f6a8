// SPDX-License-Identifier: BSD-3-Clause
// What sums of products are held in: 16-bit floats in float, the other floating types in themselves,
// integers in an unsigned type at least as wide, where wrapping is defined and gives the same bits.
#pragma once

#include <cstddef>
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

// Numbers that are multiplied by one factor and added to sums: `runs` runs of elements, each with the
// factor that stands `factor_stride` after the last run's. Strides and steps are in elements.
template <class T>
struct ScaledRuns {
  const T* elements;
  ptrdiff_t step;    // within a run
  ptrdiff_t stride;  // from run to run
  const T* factors;
  ptrdiff_t factor_stride;
  ptrdiff_t runs;
};

namespace internal {

// kRuns at a time, so that a sum is loaded and stored once for all of them.
template <ptrdiff_t kRuns, class T>
void add_some_runs(Accumulator<T>* sums, ptrdiff_t sum_step, const ScaledRuns<T>& scaled, ptrdiff_t n) {
  Accumulator<T> factors[kRuns];
  for (ptrdiff_t r = 0; r < kRuns; ++r) factors[r] = widen(scaled.factors[r * scaled.factor_stride]);
  const T* elements = scaled.elements;
  const ptrdiff_t stride = scaled.stride;
  const auto add = [&](ptrdiff_t sum, ptrdiff_t element) {
    Accumulator<T> value = sums[sum];
    for (ptrdiff_t r = 0; r < kRuns; ++r) value += factors[r] * widen(elements[element + r * stride]);
    sums[sum] = value;
  };
  if (sum_step == 1 && scaled.step == 1) {
    for (ptrdiff_t i = 0; i < n; ++i) add(i, i);
  } else {
    for (ptrdiff_t i = 0; i < n; ++i) add(i * sum_step, i * scaled.step);
  }
}

}  // namespace internal

// Adds element i of each run, times its factor, to sums[i * sum_step], for i below n.
template <class T>
void add_scaled(Accumulator<T>* sums, ptrdiff_t sum_step, ScaledRuns<T> scaled, ptrdiff_t n) {
  constexpr ptrdiff_t kMany = 4;
  const auto advance = [&](ptrdiff_t runs) {
    scaled.elements += runs * scaled.stride;
    scaled.factors += runs * scaled.factor_stride;
    scaled.runs -= runs;
  };
  for (; scaled.runs >= kMany; advance(kMany)) internal::add_some_runs<kMany>(sums, sum_step, scaled, n);
  for (; scaled.runs > 0; advance(1)) internal::add_some_runs<1>(sums, sum_step, scaled, n);
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
