// SPDX-License-Identifier: BSD-3-Clause
// The accumulator types of sums of products: float for 16-bit floats, the same type for other floating types,
// and an unsigned type at least as wide for integers, where wrapping is defined and gives the same bits.
// Signed overflow would be undefined behavior; modulo 2^n, signed and unsigned products agree in the bits
// that narrow() keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/tensor/scalar.h"

namespace rushlight::kernels {

namespace internal {

// Integers: 32 bits for types of at most 4 bytes, otherwise 64.
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
// With the 11 bits of float16 a sum of ones would stop at 2048, with the 8 bits of bfloat16 at 256.
template <>
struct AccumulatorOf<Half> {
  using Type = float;
};
template <>
struct AccumulatorOf<BFloat16> {
  using Type = float;
};

}  // namespace internal

// The type in which sums of T are held.
template <class T>
using Accumulator = typename internal::AccumulatorOf<T>::Type;

// Converts an element to its accumulator type (exact, or modulo 2^n for negative integers), and a sum back,
// with one rounding; integers keep the low bits.
template <class T>
inline Accumulator<T> widen(T value) {
  return static_cast<Accumulator<T>>(value);
}

template <class T>
inline T narrow(Accumulator<T> value) {
  return static_cast<T>(value);
}

// `blocks` spans of elements, each with one factor. Strides and steps are in elements and may be negative or
// 0. Element i of span s is elements[s * stride + i * step], its factor factors[s * factor_stride].
template <class T>
struct ScaledSpans {
  const T* elements;
  ptrdiff_t step;    // within a span
  ptrdiff_t stride;  // from span to span
  const T* factors;
  ptrdiff_t factor_stride;
  ptrdiff_t blocks;
};

namespace internal {

// Four spans at a time, so that each sum is loaded and stored once for all four: six memory accesses for four
// multiply-adds instead of twelve. Unrolled by hand and force-inlined: compilers that optimize for size would
// keep arrays in memory and call functions.
template <class T>
[[gnu::always_inline]] inline void add_four(Accumulator<T>* sums, ptrdiff_t sum_step,
                                            const ScaledSpans<T>& scaled, ptrdiff_t step, ptrdiff_t n) {
  const Accumulator<T> factor0 = widen(scaled.factors[0]);
  const Accumulator<T> factor1 = widen(scaled.factors[scaled.factor_stride]);
  const Accumulator<T> factor2 = widen(scaled.factors[2 * scaled.factor_stride]);
  const Accumulator<T> factor3 = widen(scaled.factors[3 * scaled.factor_stride]);
  const T* run0 = scaled.elements;
  const T* run1 = run0 + scaled.stride;
  const T* run2 = run1 + scaled.stride;
  const T* run3 = run2 + scaled.stride;
  for (; n > 0; --n) {
    Accumulator<T> sum = *sums;
    sum += factor0 * widen(*run0);
    sum += factor1 * widen(*run1);
    sum += factor2 * widen(*run2);
    sum += factor3 * widen(*run3);
    *sums = sum;
    sums += sum_step;
    run0 += step;
    run1 += step;
    run2 += step;
    run3 += step;
  }
}

// The rest of one to three spans, one at a time.
template <class T>
[[gnu::always_inline]] inline void add_one(Accumulator<T>* sums, ptrdiff_t sum_step,
                                           const ScaledSpans<T>& scaled, ptrdiff_t step, ptrdiff_t n) {
  const Accumulator<T> factor = widen(*scaled.factors);
  const T* run = scaled.elements;
  for (; n > 0; --n, sums += sum_step, run += step) *sums += factor * widen(*run);
}

}  // namespace internal

// sums[i * sum_step] += sum over spans of factor * element i, for i < n. Sums must not overlap elements or
// factors. Adds the spans in order to each sum. The dense case passes constant strides, for which compilers
// emit vector code. Cost: runs * n multiply-adds.
template <class T>
void add_scaled(Accumulator<T>* sums, ptrdiff_t sum_step, ScaledSpans<T> scaled, ptrdiff_t n) {
  // Four spans while they last, then one at a time. The two dense calls repeat the others with constants, so
  // that strides disappear from the loop.
  const bool dense = sum_step == 1 && scaled.step == 1;
  while (scaled.blocks > 0) {
    const ptrdiff_t taken = scaled.blocks >= 4 ? 4 : 1;
    if (taken == 4 && dense) {
      internal::add_four<T>(sums, 1, scaled, 1, n);
    } else if (taken == 4) {
      internal::add_four<T>(sums, sum_step, scaled, scaled.step, n);
    } else if (dense) {
      internal::add_one<T>(sums, 1, scaled, 1, n);
    } else {
      internal::add_one<T>(sums, sum_step, scaled, scaled.step, n);
    }
    scaled.elements += taken * scaled.stride;
    scaled.factors += taken * scaled.factor_stride;
    scaled.blocks -= taken;
  }
}

// A scalar factor as A; truncated for integers.
template <class A>
inline A scalar_as(const Scalar& value) {
  if constexpr (std::is_floating_point_v<A>) {
    return value.to<A>();
  } else {
    return static_cast<A>(value.to<int64_t>());
  }
}

}  // namespace rushlight::kernels
