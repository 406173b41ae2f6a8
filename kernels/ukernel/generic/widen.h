// SPDX-License-Identifier: BSD-3-Clause
// Exact conversion of float16 and int8 to vectors of float32: each value of both types is a float32. Vectors
// other than AVX's use lane arithmetic that the compiler converts.
//
// Every load reads kLanes elements and no more, at any alignment of the element type. Float16 is passed as
// bits in uint16_t; its subnormals, infinities and NaN are kept.
#pragma once

#include "kernels/ukernel/generic/vector.h"
#if defined(__AVX2__)
#include "kernels/ukernel/x86/widen.h"
#elif defined(__aarch64__)
#include "kernels/ukernel/arm64/widen.h"
#elif RL_VECTOR_BYTES == 4
#include "kernels/ukernel/generic/half.inl"
#endif

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

#if !defined(__AVX2__)
#if defined(__ARM_NEON) || defined(__riscv_vector)
// Every lane gets all four bytes and shifts its byte to the top, then arithmetically back down: one broadcast
// and two shifts instead of two widening steps. Assumes little endian.
RL_INLINE I32 load_widened_int8(const int8_t* from) {
  int32_t word;
  std::memcpy(&word, from, sizeof(word));
  return splat(word) << I32{24, 16, 8, 0} >> 24;
}
#elif RL_VECTOR_BYTES > 4
RL_INLINE I32 load_widened_int8(const int8_t* from) {
  int8_t __attribute__((vector_size(kLanes))) numbers;
  std::memcpy(&numbers, from, sizeof(numbers));
  return __builtin_convertvector(numbers, I32);
}
#else
RL_INLINE I32 load_widened_int8(const int8_t* from) { return *from; }
#endif
#endif

#if !defined(__F16C__) && !defined(__aarch64__)
#if RL_VECTOR_BYTES > 4
// Computes all cases and selects one by masks:
//
//   normal             exponent and fraction move up by 13 bits; the exponent's bias grows from 15 to 127, by
//                      112, which is 0x38000000 >> 23
//   infinity, NaN      twice that, so that an exponent of 31 becomes 255
//   subnormal, zero    the fraction is an integer times 2^-24, which the product converts exactly
//
// The sign bit joins last.
RL_INLINE F32 load_widened_half(const uint16_t* from) {
  uint16_t __attribute__((vector_size(2 * kLanes))) halves;
  std::memcpy(&halves, from, sizeof(halves));
  const I32 wide = __builtin_convertvector(halves, I32);
  const I32 magnitude = wide & 0x7fff;
  const I32 bias = select(magnitude >= 0x7c00, splat(int32_t{0x70000000}), splat(int32_t{0x38000000}));
  const I32 normal = (magnitude << 13) + bias;
  const I32 subnormal = bits(to_float(magnitude) * 0x1p-24f);
  return from_bits(select(magnitude < 0x400, subnormal, normal) | ((wide & 0x8000) << 16));
}
#else
RL_INLINE F32 load_widened_half(const uint16_t* from) { return half_value(*from); }
#endif
#endif

// The element types of a decoder's cache under one name, for templates over them.
RL_INLINE F32 load_widened(const float* from) { return load(from); }
RL_INLINE F32 load_widened(const uint16_t* from) { return load_widened_half(from); }
RL_INLINE F32 load_widened(const int8_t* from) { return to_float(load_widened_int8(from)); }

// The first `count` < kLanes elements; the others are 0. Accesses only these elements.
template <class T>
RL_INLINE F32 load_widened_partial(const T* from, size_t count) {
  T lanes[kLanes] = {};
  for (size_t i = 0; i < count; ++i) lanes[i] = from[i];
  return load_widened(lanes);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
