// SPDX-License-Identifier: BSD-3-Clause
// Integer vectors of 128, 256 and, with AVX-512, 512 bits for the int8 families of x86: one function name for
// all widths. Products of int8 are added by
//
//   dot(sums, left, right)   each int32 lane adds the products of its kDotDepth elements
//
// With VNNI (vpdpbusd) kDotDepth is four, the left elements are uint8 (element + 128), and 128 times the sum
// of the right ones must be subtracted. Without it (vpmaddwd) two int16 are multiplied: vpmaddubsw, which
// multiplies bytes, saturates.
#include <cstring>

#include <immintrin.h>

#include "kernels/ukernel/generic/vector.h"
#include "kernels/ukernel/requantize.h"

// Vectors are template arguments here, which lose the alignment and aliasing attributes of the type.
#pragma GCC diagnostic ignored "-Wignored-attributes"
// GCC warns about the undefined operands in its AVX-512 intrinsics (bug 105593).
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#define RL_VNNI 1
#else
#define RL_VNNI 0
#endif

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

#if defined(__AVX512F__)
using Widest = __m512i;
#define RL_OF_512(...) __VA_ARGS__
#else
using Widest = __m256i;
#define RL_OF_512(...)
#endif

constexpr size_t kDotDepth = RL_VNNI ? 4 : 2;
template <class Vec>
constexpr size_t kLanesOf = sizeof(Vec) / sizeof(int32_t);

#define RL_BINARY(name, operation)                                                  \
  RL_INLINE __m128i name(__m128i a, __m128i b) { return _mm_##operation(a, b); }    \
  RL_INLINE __m256i name(__m256i a, __m256i b) { return _mm256_##operation(a, b); } \
  RL_OF_512(RL_INLINE __m512i name(__m512i a, __m512i b) { return _mm512_##operation(a, b); })
RL_BINARY(add_32, add_epi32)
RL_BINARY(subtract_32, sub_epi32)
RL_BINARY(add_64, add_epi64)
RL_BINARY(add_saturated_16, adds_epi16)
RL_BINARY(min_8, min_epi8)
RL_BINARY(max_8, max_epi8)
RL_BINARY(min_32, min_epi32)
RL_BINARY(max_32, max_epi32)
RL_BINARY(shift_left_32, sllv_epi32)
RL_BINARY(shift_right_32, srav_epi32)
RL_BINARY(multiply_even_32, mul_epi32)
RL_BINARY(multiply_low_32, mullo_epi32)
RL_BINARY(multiply_pairs_16, madd_epi16)
RL_BINARY(narrow_32, packs_epi32)
RL_BINARY(narrow_16, packs_epi16)
RL_BINARY(zip_low_8, unpacklo_epi8)
RL_BINARY(zip_high_8, unpackhi_epi8)
RL_BINARY(zip_low_16, unpacklo_epi16)
RL_BINARY(zip_high_16, unpackhi_epi16)

#define RL_BY_CONSTANT(name, operation)   \
  template <int kCount>                   \
  RL_INLINE __m128i name(__m128i a) {     \
    return _mm_##operation(a, kCount);    \
  }                                       \
  template <int kCount>                   \
  RL_INLINE __m256i name(__m256i a) {     \
    return _mm256_##operation(a, kCount); \
  }                                       \
  RL_OF_512(template <int kCount> RL_INLINE __m512i name(__m512i a) { return _mm512_##operation(a, kCount); })
RL_BY_CONSTANT(shift_right_unsigned_32, srli_epi32)
RL_BY_CONSTANT(shift_right_unsigned_64, srli_epi64)
RL_BY_CONSTANT(shift_right_16, srai_epi16)

template <class Vec>
RL_INLINE Vec all_32(int32_t value);
template <class Vec>
RL_INLINE Vec all_16(int value);
template <class Vec>
RL_INLINE Vec all_8(int value);
template <class Vec>
RL_INLINE Vec load(const void* from);
#define RL_OF_VECTOR(Vec, bits, prefix)                                                                 \
  template <>                                                                                           \
  RL_INLINE Vec all_32<Vec>(int32_t value) {                                                            \
    return prefix##_set1_epi32(value);                                                                  \
  }                                                                                                     \
  template <>                                                                                           \
  RL_INLINE Vec all_16<Vec>(int value) {                                                                \
    return prefix##_set1_epi16(static_cast<int16_t>(value));                                            \
  }                                                                                                     \
  template <>                                                                                           \
  RL_INLINE Vec all_8<Vec>(int value) {                                                                 \
    return prefix##_set1_epi8(static_cast<int8_t>(value));                                              \
  }                                                                                                     \
  template <>                                                                                           \
  RL_INLINE Vec load<Vec>(const void* from) {                                                           \
    return prefix##_loadu_si##bits(static_cast<const Vec*>(from));                                      \
  }                                                                                                     \
  RL_INLINE void store(void* to, Vec value) { prefix##_storeu_si##bits(static_cast<Vec*>(to), value); } \
  RL_INLINE Vec to_float_and_back(Vec sum, Vec scale, float most) {                                     \
    const auto product = prefix##_mul_ps(prefix##_cvtepi32_ps(sum), prefix##_castsi##bits##_ps(scale)); \
    return prefix##_cvtps_epi32(prefix##_min_ps(product, prefix##_set1_ps(most)));                      \
  }
RL_OF_VECTOR(__m128i, 128, _mm)
RL_OF_VECTOR(__m256i, 256, _mm256)
RL_OF_512(RL_OF_VECTOR(__m512i, 512, _mm512))

// Even lanes of one vector, odd lanes of the other.
RL_INLINE __m128i even_odd_32(__m128i even, __m128i odd) { return _mm_blend_epi32(even, odd, 0xa); }
RL_INLINE __m256i even_odd_32(__m256i even, __m256i odd) { return _mm256_blend_epi32(even, odd, 0xaa); }
// Odd lanes of both; the first vector's lanes move to even lanes.
RL_INLINE __m128i upper_halves(__m128i even, __m128i odd) {
  return even_odd_32(shift_right_unsigned_64<32>(even), odd);
}
RL_INLINE __m256i upper_halves(__m256i even, __m256i odd) {
  return even_odd_32(shift_right_unsigned_64<32>(even), odd);
}

// Loads as many int8 as the result has int16.
template <class Vec>
RL_INLINE Vec load_widened(const int8_t* from);
template <>
RL_INLINE __m128i load_widened<__m128i>(const int8_t* from) {
  return _mm_cvtepi8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
}
template <>
RL_INLINE __m256i load_widened<__m256i>(const int8_t* from) {
  return _mm256_cvtepi8_epi16(load<__m128i>(from));
}

#if defined(__AVX512F__)
RL_INLINE __m512i even_odd_32(__m512i even, __m512i odd) { return _mm512_mask_mov_epi32(even, 0xaaaa, odd); }
RL_INLINE __m512i upper_halves(__m512i even, __m512i odd) {
  return _mm512_mask_shuffle_epi32(odd, 0x5555, even, static_cast<_MM_PERM_ENUM>(0xf5));
}
template <>
RL_INLINE __m512i load_widened<__m512i>(const int8_t* from) {
  return _mm512_cvtepi8_epi16(load<__m256i>(from));
}
#endif

#if defined(__AVX512VNNI__)
RL_INLINE __m128i dot(__m128i sums, __m128i left, __m128i right) {
  return _mm_dpbusd_epi32(sums, left, right);
}
RL_INLINE __m256i dot(__m256i sums, __m256i left, __m256i right) {
  return _mm256_dpbusd_epi32(sums, left, right);
}
RL_INLINE __m512i dot(__m512i sums, __m512i left, __m512i right) {
  return _mm512_dpbusd_epi32(sums, left, right);
}
#elif defined(__AVXVNNI__)
RL_INLINE __m128i dot(__m128i sums, __m128i left, __m128i right) {
  return _mm_dpbusd_avx_epi32(sums, left, right);
}
RL_INLINE __m256i dot(__m256i sums, __m256i left, __m256i right) {
  return _mm256_dpbusd_avx_epi32(sums, left, right);
}
#else
template <class Vec>
RL_INLINE Vec dot(Vec sums, Vec left, Vec right) {
  return add_32(sums, multiply_pairs_16(left, right));
}
#endif

// Loads fewer than 16 bytes; the others are 0.
RL_INLINE __m128i load_bytes(const int8_t* from, size_t count) {
#if defined(__AVX512F__)
  return _mm_maskz_loadu_epi8(static_cast<__mmask16>((1u << count) - 1), from);
#else
  uint64_t low = 0;
  uint64_t high = 0;
  if (count >= 8) {  // two loads that overlap
    std::memcpy(&low, from, 8);
    if (count > 8) {
      std::memcpy(&high, from + count - 8, 8);
      high >>= 8 * (16 - count);
    }
  } else if (count >= 4) {
    uint32_t first;
    uint32_t last;
    std::memcpy(&first, from, 4);
    std::memcpy(&last, from + count - 4, 4);
    low = first | static_cast<uint64_t>(last) << (8 * (count - 4));
  } else {
    for (size_t i = 0; i < count; ++i) low |= static_cast<uint64_t>(static_cast<uint8_t>(from[i])) << (8 * i);
  }
  return _mm_set_epi64x(static_cast<int64_t>(high), static_cast<int64_t>(low));
#endif
}

// Stores up to 16 bytes.
RL_INLINE void store_bytes(int8_t* to, __m128i value, size_t count) {
#if defined(__AVX512F__)
  _mm_mask_storeu_epi8(to, static_cast<__mmask16>((1u << count) - 1), value);
#else
  if (count >= 16) return store(to, value);
  if ((count & 8) != 0) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), value);
    value = _mm_unpackhi_epi64(value, value);
    to += 8;
  }
  auto rest = static_cast<uint64_t>(_mm_cvtsi128_si64(value));
  if ((count & 4) != 0) {
    std::memcpy(to, &rest, 4);
    rest >>= 32;
    to += 4;
  }
  if ((count & 2) != 0) {
    std::memcpy(to, &rest, 2);
    rest >>= 16;
    to += 2;
  }
  if ((count & 1) != 0) std::memcpy(to, &rest, 1);
#endif
}

// The requantization constants of a vector of sums. kSingle: shifts above -2 start with a left shift. Sums
// that overflow there are far outside of int8; a shift of 20 has that effect on any nonzero sum, so that it
// replaces larger ones. kDouble: `shift` is the right shift less one and `round` its last bit, or both are 0.
template <class Vec>
struct Scale {
  Vec multiplier;  // or the bits of the float32 scale
  Vec odd;         // multipliers of odd lanes, moved to even lanes
  Vec round;
  Vec shift;
  Vec left;
  Vec least, most;  // bounds of what can be shifted left
};

// Prepares the constants of adjacent columns. Returns true if any lane is shifted left.
template <class Vec>
RL_INLINE bool prepare(Scale<Vec>& scale, Rounding rounding, Vec multipliers, Vec shifts) {
  const Vec zero = all_32<Vec>(0);
  const Vec one = all_32<Vec>(1);
  scale.multiplier = multipliers;
  scale.odd = shift_right_unsigned_64<32>(multipliers);
  if (rounding == Rounding::kSingle) {
    const Vec two = all_32<Vec>(2);
    const Vec to_left = add_32(shifts, two);
    scale.left = min_32(max_32(to_left, zero), all_32<Vec>(22));
    scale.least = shift_right_32(all_32<Vec>(INT32_MIN), scale.left);
    scale.most = shift_right_32(all_32<Vec>(INT32_MAX), scale.left);
    const Vec to_right = max_32(subtract_32(zero, to_left), zero);  // -2 - shift
    scale.round = shift_left_32(one, to_right);
    scale.shift = add_32(to_right, one);
  } else {
    scale.left = max_32(shifts, zero);
    const Vec to_right = max_32(subtract_32(zero, shifts), zero);
    scale.round = min_32(to_right, one);
    scale.shift = subtract_32(to_right, scale.round);
  }
  int32_t lefts[kLanesOf<Vec>];
  store(lefts, scale.left);
  int32_t any = 0;
  for (const int32_t left : lefts) any |= left;
  return rounding != Rounding::kFloat && any != 0;
}

// Rescales sums, before the zero point is added. Results outside of int16 stay outside.
template <Rounding kRounding, bool kRaises, class Vec>
RL_INLINE Vec scaled(Vec sum, const Scale<Vec>& scale) {
  if constexpr (kRounding == Rounding::kFloat) {
    return to_float_and_back(sum, scale.multiplier, 65536.0F);
  } else {
    constexpr bool kIsSingle = kRounding == Rounding::kSingle;
    if (kRaises && kIsSingle) sum = max_32(min_32(sum, scale.most), scale.least);
    if (kRaises) sum = shift_left_32(sum, scale.left);
    Vec even = multiply_even_32(sum, scale.multiplier);
    Vec odd = multiply_even_32(shift_right_unsigned_64<32>(sum), scale.odd);
    if constexpr (kIsSingle) {
      const Vec upper = upper_halves(even, odd);
      return shift_right_32(add_32(upper, scale.round), scale.shift);
    } else {
      const Vec half =
          shift_right_unsigned_64<33>(all_8<Vec>(-1)) ^ shift_right_unsigned_64<34>(all_8<Vec>(-1));
      even = add_64(even, half);
      odd = add_64(odd, half);
      const Vec upper = even_odd_32(shift_right_unsigned_64<31>(even), add_64(odd, odd));
      const Vec away = subtract_32(upper, shift_right_unsigned_32<31>(upper) & scale.round);
      return shift_right_32(add_32(shift_right_32(away, scale.shift), scale.round), scale.round);
    }
  }
}

// Calls `call` with the Kind of a rounding, which makes rounding and left shift template arguments.
template <Rounding kRounding, bool kRaises>
struct Kind {
  static constexpr Rounding kHow = kRounding;
  static constexpr bool kShiftsLeft = kRaises;
};
template <class Call>
RL_INLINE auto for_rounding(Rounding rounding, bool raises, Call call) {
  if (rounding == Rounding::kFloat) return call(Kind<Rounding::kFloat, false>{});
  if (rounding == Rounding::kSingle) {
    return raises ? call(Kind<Rounding::kSingle, true>{}) : call(Kind<Rounding::kSingle, false>{});
  }
  return raises ? call(Kind<Rounding::kDouble, true>{}) : call(Kind<Rounding::kDouble, false>{});
}

// Narrows four vectors of rescaled sums to int8. Each 128-bit lane holds a, b, c and d of that lane.
template <class Vec>
struct Limits {
  Vec zero_point;  // int16
  Vec low, high;   // int8
  RL_INLINE explicit Limits(const Requantization& to)
      : zero_point(all_16<Vec>(to.zero_point)), low(all_8<Vec>(to.low)), high(all_8<Vec>(to.high)) {}
  RL_INLINE Vec narrow(Vec a, Vec b, Vec c, Vec d) const {
    const Vec first = add_saturated_16(narrow_32(a, b), zero_point);
    const Vec second = add_saturated_16(narrow_32(c, d), zero_point);
    return max_8(min_8(narrow_16(first, second), high), low);
  }
};

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
