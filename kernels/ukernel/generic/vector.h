// SPDX-License-Identifier: BSD-3-Clause
// float32 vectors of the width for which this source is compiled, over the compilers' vector extensions: 64
// bytes (AVX-512), 32 (AVX), 16 (SSE2, NEON, MVE, RVV, wasm SIMD), or one float. Types and functions are in
// the variant's namespace, since code compiled with different flags must not be merged by the linker.
//
// F32 has kLanes floats, I32 as many int32, M32 is the result of a comparison, for select(). F64 has
// kWideLanes doubles, and M64 is the result of their comparison. VectorOf<T> is F32 or F64, for loops over
// float or double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/ukernel/variants.h"

// The widest vectors that the flags allow. RVV is used with a fixed width of 16 bytes here, the least that
// the V extension guarantees; code for longer vectors is in riscv/. MVE counts only with its float part (bit
// 1).
#if defined(__AVX512F__)
#define RL_VECTOR_BYTES 64
#elif defined(__AVX__)
#define RL_VECTOR_BYTES 32
#elif defined(__SSE2__) || defined(__ARM_NEON) || defined(__wasm_simd128__) || defined(__riscv_vector) || \
    (defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2))
#define RL_VECTOR_BYTES 16
#else
#define RL_VECTOR_BYTES 4
#endif

// For functions of a few instructions on values in registers.
#define RL_INLINE [[gnu::always_inline]] inline
// Unrolls loops over arrays of vectors before other optimizations: only then does GCC keep the array in
// registers. Loops need constant bounds of at most 32.
#define RL_UNROLL _Pragma("GCC unroll 32")

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

inline constexpr size_t kLanes = RL_VECTOR_BYTES / sizeof(float);

#if RL_VECTOR_BYTES > 4
// GCC and clang define operators, comparisons and ?: for these types lane by lane. Scalars of the element
// type are broadcast.
using F32 = float __attribute__((vector_size(RL_VECTOR_BYTES)));
using I32 = int32_t __attribute__((vector_size(RL_VECTOR_BYTES)));
using M32 = I32;

RL_INLINE F32 splat(float value) { return value - F32{}; }  // F32{} + value would turn -0 into 0
RL_INLINE I32 splat(int32_t value) { return value - I32{}; }
// Converts with one rounding, halves to even.
RL_INLINE F32 to_float(I32 value) { return __builtin_convertvector(value, F32); }
// Truncates; the value must fit.
RL_INLINE I32 to_int(F32 value) { return __builtin_convertvector(value, I32); }
// yes where the mask is true, else no: lane by lane, without a branch. Both are computed.
RL_INLINE F32 select(M32 mask, F32 yes, F32 no) { return mask ? yes : no; }
RL_INLINE I32 select(M32 mask, I32 yes, I32 no) { return mask ? yes : no; }
// The lane with a variable index; slow in loops, for which reduce() is better.
RL_INLINE float lane(F32 value, size_t index) { return value[index]; }
// True if some lane is true.
RL_INLINE bool any(M32 mask) {
  int32_t lanes = 0;
  for (size_t i = 0; i < kLanes; ++i) lanes |= mask[i];
  return lanes != 0;
}

// Doubles: as many as fit in a vector, from floats and back. load_wide() reads kWideLanes floats, half of a
// vector; store_narrow() writes as many, each rounded once.
inline constexpr size_t kWideLanes = kLanes / 2;
using F64 = double __attribute__((vector_size(RL_VECTOR_BYTES)));
using M64 = int64_t __attribute__((vector_size(RL_VECTOR_BYTES)));
RL_INLINE F64 splat(double value) { return value - F64{}; }
RL_INLINE F64 select(M64 mask, F64 yes, F64 no) { return mask ? yes : no; }
RL_INLINE F64 load_wide(const float* from) {
  float __attribute__((vector_size(RL_VECTOR_BYTES / 2))) value;
  std::memcpy(&value, from, sizeof(value));
  return __builtin_convertvector(value, F64);
}
RL_INLINE void store_narrow(float* to, F64 value) {
  using Half = float __attribute__((vector_size(RL_VECTOR_BYTES / 2)));
  const Half narrow = __builtin_convertvector(value, Half);
  std::memcpy(to, &narrow, sizeof(narrow));
}
#else
// One lane: plain scalars. A mask is a bool, and | and & work on it as on vectors.
using F32 = float;
using I32 = int32_t;
using M32 = bool;

RL_INLINE F32 splat(float value) { return value; }
RL_INLINE I32 splat(int32_t value) { return value; }
RL_INLINE F32 to_float(I32 value) { return static_cast<float>(value); }
RL_INLINE I32 to_int(F32 value) { return static_cast<int32_t>(value); }
RL_INLINE F32 select(M32 mask, F32 yes, F32 no) { return mask ? yes : no; }
RL_INLINE I32 select(M32 mask, I32 yes, I32 no) { return mask ? yes : no; }
RL_INLINE float lane(F32 value, size_t) { return value; }
RL_INLINE bool any(M32 mask) { return mask; }

inline constexpr size_t kWideLanes = 1;
using F64 = double;
RL_INLINE F64 splat(double value) { return value; }
using M64 = bool;
RL_INLINE F64 select(M64 mask, F64 yes, F64 no) { return mask ? yes : no; }
RL_INLINE F64 load_wide(const float* from) { return *from; }
RL_INLINE void store_narrow(float* to, F64 value) { *to = static_cast<float>(value); }
#endif

// The bit patterns of floats and back; no conversion, and no instruction where floats and integers share
// registers.
RL_INLINE I32 bits(F32 value) {
  I32 result;
  std::memcpy(&result, &value, sizeof(result));
  return result;
}
RL_INLINE F32 from_bits(I32 value) {
  F32 result;
  std::memcpy(&result, &value, sizeof(result));
  return result;
}

#if RL_VECTOR_BYTES > 4
// Loads and stores of kLanes floats, at any alignment of float.
RL_INLINE F32 load(const float* from) {
  F32 value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}
RL_INLINE void store(float* to, F32 value) { std::memcpy(to, &value, sizeof(value)); }
RL_INLINE F64 load(const double* from) {
  F64 value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}
RL_INLINE void store(double* to, F64 value) { std::memcpy(to, &value, sizeof(value)); }
#else
// Not memcpy, which copies byte by byte on cores that require alignment.
RL_INLINE F32 load(const float* from) { return *from; }
RL_INLINE void store(float* to, F32 value) { *to = value; }
RL_INLINE F64 load(const double* from) { return *from; }
RL_INLINE void store(double* to, F64 value) { *to = value; }
#endif

// The vector of an element type, and its number of elements.
template <class T>
struct Lanes;
template <>
struct Lanes<float> {
  using Vector = F32;
  static constexpr size_t kCount = kLanes;
};
template <>
struct Lanes<double> {
  using Vector = F64;
  static constexpr size_t kCount = kWideLanes;
};
template <class T>
using VectorOf = typename Lanes<T>::Vector;
template <class T>
inline constexpr size_t kLanesOf = Lanes<T>::kCount;

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

// MVE with floats; other processors of 16-byte vectors have no predicates, or compilers that use them.
#if RL_VECTOR_BYTES == 16 && defined(__ARM_FEATURE_MVE)
#define RL_MVE_VECTORS 1
#else
#define RL_MVE_VECTORS 0
#endif

#if defined(__SSE2__)
#include "kernels/ukernel/x86/clamps.h"
#elif defined(__aarch64__)
#include "kernels/ukernel/arm64/clamps.h"
#endif
#if defined(__AVX2__)
#include "kernels/ukernel/x86/partial.h"
#elif RL_MVE_VECTORS
#include "kernels/ukernel/arm/mve_vector.h"
#elif defined(__aarch64__)
#include "kernels/ukernel/arm64/partial.h"
#else
namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// The first `count` <= kLanes elements; load_partial() sets the others to 0. Accesses nothing past them. A
// copy by way of the stack, one element at a time: a few instructions for each lane, once for each span.
template <class T>
RL_INLINE VectorOf<T> load_partial(const T* from, size_t count) {
  T lanes[kLanesOf<T>] = {};
  for (size_t i = 0; i < count; ++i) lanes[i] = from[i];
  return load(lanes);
}
template <class T>
RL_INLINE void store_partial(T* to, VectorOf<T> value, size_t count) {
  T lanes[kLanesOf<T>];
  store(lanes, value);
  for (size_t i = 0; i < count; ++i) to[i] = lanes[i];
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
#endif

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// permuted(): lane i of the result is lane index[i] % kLanes of the value. An instruction if kPermutes, else
// not to be called.
#if defined(__AVX2__)
inline constexpr bool kPermutes = true;
#else
inline constexpr bool kPermutes = false;
RL_INLINE F32 permuted(F32 value, I32) { return value; }
#endif

// a * b + c. Rounded once where the processor has fused multiply-adds: these sources use -ffp-contract=fast.
// Elsewhere the product is rounded too, so that an algorithm must not rely on an exact product.
RL_INLINE F32 multiply_add(F32 a, F32 b, F32 c) { return a * b + c; }
RL_INLINE F64 multiply_add(F64 a, F64 b, F64 c) { return a * b + c; }
// Clamps to a bound. A NaN in `value` passes, for any bound. A NaN bound gives `value` or NaN, and equal
// zeros either of them.
#if !RL_MVE_VECTORS && !defined(__SSE2__) && !defined(__aarch64__)
RL_INLINE F32 at_least(F32 value, F32 bound) { return select(value < bound, bound, value); }
RL_INLINE F32 at_most(F32 value, F32 bound) { return select(value > bound, bound, value); }
#endif
#if !defined(__SSE2__) && !defined(__aarch64__)
RL_INLINE F64 at_least(F64 value, F64 bound) { return select(value < bound, bound, value); }
RL_INLINE F64 at_most(F64 value, F64 bound) { return select(value > bound, bound, value); }
#endif
#if RL_VECTOR_BYTES > 4
RL_INLINE F32 at_least(F32 value, float bound) { return at_least(value, splat(bound)); }
RL_INLINE F32 at_most(F32 value, float bound) { return at_most(value, splat(bound)); }
#endif
// 0 if `value` is below; -0 and NaN stay.
#if !defined(__aarch64__)
RL_INLINE F32 rectified(F32 value) { return at_least(value, splat(0.0f)); }
#endif
// Correctly rounded, since IEEE 754 requires it of the square root; negative values give NaN.
RL_INLINE F32 square_root(F32 value) {
  float lanes[kLanes];
  store(lanes, value);
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = __builtin_sqrtf(lanes[i]);
  return load(lanes);
}
// Clears the sign bit, of NaN too.
RL_INLINE F32 absolute(F32 value) { return from_bits(bits(value) & splat(int32_t{0x7fffffff})); }

#if RL_VECTOR_BYTES > 4
// Lane i of the result is lane i ^ kApart of the value: a butterfly. kApart is a power of two below kLanes.
template <size_t kApart, size_t... kLane>
RL_INLINE F32 exchanged(F32 value, std::index_sequence<kLane...>) {
  return __builtin_shufflevector(value, value, (kLane ^ kApart)...);
}
#endif

// Combines all lanes by combine(a, b), in halves: the order of narrower vectors is the end of this one.
// Takes log2(kLanes) shuffles, each of which depends on the one before.
template <size_t kApart = kLanes / 2, class Combine>
RL_INLINE float reduce(F32 value, [[maybe_unused]] Combine combine) {
#if RL_VECTOR_BYTES > 4
  if constexpr (kApart > 0) {
    const F32 other = exchanged<kApart>(value, std::make_index_sequence<kLanes>());
    return reduce<kApart / 2>(combine(value, other), combine);
  }
#endif
  return lane(value, 0);
}
// The sum of all lanes in the order of reduce(): with four lanes (x0 + x2) + (x1 + x3).
RL_INLINE float sum_of_lanes(F32 value) {
  return reduce(value, [](F32 a, F32 b) { return a + b; });
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
