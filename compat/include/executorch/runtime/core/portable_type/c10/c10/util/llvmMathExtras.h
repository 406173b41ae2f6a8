// SPDX-License-Identifier: BSD-3-Clause
// Bit arithmetic on integers under the names of c10::llvm, for code that uses them; the runtime does not.
// Preconditions are asserted in debug builds by the standard assert().
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <c10/util/bit_cast.h>

namespace c10::llvm {

// The result of counting in zero: unspecified, the type's largest value, or its width. The functions that
// count give the width for each of them.
enum ZeroBehavior { ZB_Undefined, ZB_Max, ZB_Width };

// The number of zero bits below the lowest set bit: countTrailingZeros(8u) is 3. T is unsigned, of up to 64
// bits. One instruction on hosts, after the test for 0, for which the builtin is undefined.
template <class T>
std::size_t countTrailingZeros(T value, ZeroBehavior = ZB_Width) {
  static_assert(std::is_unsigned_v<T>);
  if (value == 0) return std::numeric_limits<T>::digits;
  return static_cast<std::size_t>(__builtin_ctzll(value));
}

// The number of zero bits above the highest set bit, counted in T: countLeadingZeros(uint8_t{8}) is 4.
template <class T>
std::size_t countLeadingZeros(T value, ZeroBehavior = ZB_Width) {
  static_assert(std::is_unsigned_v<T>);
  constexpr int kBits = std::numeric_limits<T>::digits;
  if (value == 0) return kBits;
  return static_cast<std::size_t>(__builtin_clzll(value) - (64 - kBits));
}

// The same for set bits: countLeadingOnes(uint8_t{0xf0}) is 4. For all bits set, the width.
template <class T>
std::size_t countLeadingOnes(T value, ZeroBehavior behavior = ZB_Width) {
  return countLeadingZeros(static_cast<T>(~value), behavior);
}

template <class T>
std::size_t countTrailingOnes(T value, ZeroBehavior behavior = ZB_Width) {
  return countTrailingZeros(static_cast<T>(~value), behavior);
}

// The number of set bits.
template <class T>
unsigned countPopulation(T value) {
  static_assert(std::is_unsigned_v<T>);
  return static_cast<unsigned>(__builtin_popcountll(value));
}

// Index of the lowest set bit, from 0. For 0 the largest value of T with ZB_Max, otherwise the width.
template <class T>
T findFirstSet(T value, ZeroBehavior behavior = ZB_Max) {
  if (behavior == ZB_Max && value == 0) return std::numeric_limits<T>::max();
  return static_cast<T>(countTrailingZeros(value));
}
// Index of the highest set bit, from 0: the logarithm to the base 2, rounded down. For 0 the largest value of
// T with ZB_Max; with another behaviour -1, converted to T.
template <class T>
T findLastSet(T value, ZeroBehavior behavior = ZB_Max) {
  if (behavior == ZB_Max && value == 0) return std::numeric_limits<T>::max();
  return static_cast<T>(std::numeric_limits<T>::digits - 1 - static_cast<int>(countLeadingZeros(value)));
}

// Masks of `count` bits at one end of T, at most T's width. The lowest `count` bits set:
//
//   maskTrailingOnes<uint8_t>(3) = 00000111
template <class T>
T maskTrailingOnes(unsigned count) {
  static_assert(std::is_unsigned_v<T>);
  constexpr unsigned kBits = std::numeric_limits<T>::digits;
  assert(count <= kBits);
  return count == 0 ? T(0) : static_cast<T>(std::numeric_limits<T>::max() >> (kBits - count));
}
// The highest `count` bits set: maskLeadingOnes<uint8_t>(3) = 11100000.
template <class T>
T maskLeadingOnes(unsigned count) {
  return static_cast<T>(~maskTrailingOnes<T>(std::numeric_limits<T>::digits - count));
}
// All but the lowest `count` bits set: maskTrailingZeros<uint8_t>(3) = 11111000.
template <class T>
T maskTrailingZeros(unsigned count) {
  return maskLeadingOnes<T>(std::numeric_limits<T>::digits - count);
}
// All but the highest `count` bits set: maskLeadingZeros<uint8_t>(3) = 00011111.
template <class T>
T maskLeadingZeros(unsigned count) {
  return maskTrailingOnes<T>(std::numeric_limits<T>::digits - count);
}

// The bits in reverse order; O(width).
template <class T>
T reverseBits(T value) {
  static_assert(std::is_unsigned_v<T>);
  T reversed = 0;
  for (int bit = 0; bit < std::numeric_limits<T>::digits; ++bit) {
    reversed = static_cast<T>((reversed << 1) | (value & 1));
    value = static_cast<T>(value >> 1);
  }
  return reversed;
}

// The upper and the lower half of 64 bits, and 64 bits from two halves.
constexpr uint32_t Hi_32(uint64_t value) { return static_cast<uint32_t>(value >> 32); }
constexpr uint32_t Lo_32(uint64_t value) { return static_cast<uint32_t>(value); }
constexpr uint64_t Make_64(uint32_t high, uint32_t low) { return (uint64_t{high} << 32) | low; }

// The limits of integers of `bits` bits, from 1 to 64. Unsigned: 2^bits - 1.
inline uint64_t maxUIntN(uint64_t bits) {
  assert(bits > 0 && bits <= 64);
  return UINT64_MAX >> (64 - bits);
}
// The lowest value in two's complement: -2^(bits - 1).
inline int64_t minIntN(int64_t bits) {
  assert(bits > 0 && bits <= 64);
  return static_cast<int64_t>(0 - (uint64_t{1} << (bits - 1)));
}
// The highest value in two's complement: 2^(bits - 1) - 1.
inline int64_t maxIntN(int64_t bits) {
  assert(bits > 0 && bits <= 64);
  return static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
}

// Return true if a value fits in N bits: isInt<8>(x) is -128 <= x <= 127, isUInt<8>(x) is x <= 255.
template <unsigned N>
constexpr bool isInt(int64_t x) {
  if constexpr (N >= 64) {
    return true;
  } else {
    return -(int64_t{1} << (N - 1)) <= x && x < (int64_t{1} << (N - 1));
  }
}
template <unsigned N>
constexpr bool isUInt(uint64_t x) {
  if constexpr (N >= 64) {
    return true;
  } else {
    return x < (uint64_t{1} << N);
  }
}
// Return true if a value is S zero bits behind a value of N bits, as branch offsets in instructions are.
template <unsigned N, unsigned S>
constexpr bool isShiftedInt(int64_t x) {
  return isInt<N + S>(x) && x % (int64_t{1} << S) == 0;
}
template <unsigned N, unsigned S>
constexpr bool isShiftedUInt(uint64_t x) {
  return isUInt<N + S>(x) && x % (uint64_t{1} << S) == 0;
}
// isUInt and isInt with the number of bits at run time, at least 1.
inline bool isUIntN(unsigned bits, uint64_t x) { return bits >= 64 || x <= maxUIntN(bits); }
inline bool isIntN(unsigned bits, int64_t x) {
  return bits >= 64 || (minIntN(bits) <= x && x <= maxIntN(bits));
}

// Return true for ones from the lowest bit on (0x00ff), and for one contiguous group of ones (0x0ff0). 0 is
// neither.
constexpr bool isMask_64(uint64_t value) { return value != 0 && ((value + 1) & value) == 0; }
constexpr bool isMask_32(uint32_t value) { return value != 0 && ((value + 1) & value) == 0; }
constexpr bool isShiftedMask_64(uint64_t value) { return value != 0 && isMask_64((value - 1) | value); }
constexpr bool isShiftedMask_32(uint32_t value) { return value != 0 && isMask_32((value - 1) | value); }
// Returns true for a single set bit.
constexpr bool isPowerOf2_64(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }
constexpr bool isPowerOf2_32(uint32_t value) { return isPowerOf2_64(value); }

// Logarithms to the base 2: of a double; of an integer, rounded down. For the integer 0 it is UINT_MAX (-1).
inline double Log2(double value) { return std::log2(value); }
inline unsigned Log2_32(uint32_t value) { return 31 - static_cast<unsigned>(countLeadingZeros(value)); }
inline unsigned Log2_64(uint64_t value) { return 63 - static_cast<unsigned>(countLeadingZeros(value)); }
// Logarithms rounded up: the least n for which 2^n reaches the value. For 0 the width.
inline unsigned Log2_32_Ceil(uint32_t value) {
  return 32 - static_cast<unsigned>(countLeadingZeros(value - 1));
}
inline unsigned Log2_64_Ceil(uint64_t value) {
  return 64 - static_cast<unsigned>(countLeadingZeros(value - 1));
}

// The greatest common divisor by Euclid's method, in O(log) divisions; of a number and 0 it is the number.
inline uint64_t GreatestCommonDivisor64(uint64_t a, uint64_t b) {
  while (b != 0) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// The bits of a floating-point value, and the value of bits.
inline double BitsToDouble(uint64_t bits) { return c10::bit_cast<double>(bits); }
inline float BitsToFloat(uint32_t bits) { return c10::bit_cast<float>(bits); }
inline uint64_t DoubleToBits(double value) { return c10::bit_cast<uint64_t>(value); }
inline uint32_t FloatToBits(float value) { return c10::bit_cast<uint32_t>(value); }

// The largest power of two that divides both; 0 if both are 0.
constexpr uint64_t MinAlign(uint64_t a, uint64_t b) { return (a | b) & (1 + ~(a | b)); }

// An address rounded up to a multiple of `alignment`, a power of two.
inline uintptr_t alignAddr(const void* address, size_t alignment) {
  assert(isPowerOf2_64(alignment));
  return (reinterpret_cast<uintptr_t>(address) + alignment - 1) & ~(uintptr_t{alignment} - 1);
}
// The bytes to add for it, below `alignment`.
inline size_t alignmentAdjustment(const void* pointer, size_t alignment) {
  return alignAddr(pointer, alignment) - reinterpret_cast<uintptr_t>(pointer);
}

// The next power of two above `a`, so NextPowerOf2(8) is 16; 0 if it exceeds 64 bits. Sets all bits below the
// highest set one, then adds 1.
inline uint64_t NextPowerOf2(uint64_t a) {
  for (unsigned shift = 1; shift < 64; shift *= 2) a |= a >> shift;
  return a + 1;
}
// The last power of two not above `a`; 0 for 0.
inline uint64_t PowerOf2Floor(uint64_t a) { return a == 0 ? 0 : uint64_t{1} << Log2_64(a); }
// The first power of two not below `a`; 0 for 0, and if it exceeds 64 bits.
inline uint64_t PowerOf2Ceil(uint64_t a) { return a == 0 ? 0 : NextPowerOf2(a - 1); }

// The first value not below `value` that equals `skew` modulo `align`, which need not be a power of two. The
// sum wraps near 2^64.
//
//   alignTo(17, 8) = 24, alignTo(17, 8, 1) = 17
inline uint64_t alignTo(uint64_t value, uint64_t align, uint64_t skew = 0) {
  assert(align != 0);
  skew %= align;
  return (value + align - 1 - skew) / align * align + skew;
}
// The same with an alignment known at compile time.
template <uint64_t kAlign>
constexpr uint64_t alignTo(uint64_t value) {
  static_assert(kAlign != 0);
  return (value + kAlign - 1) / kAlign * kAlign;
}
// The last value not above `value` that equals `skew` modulo `align`: alignDown(17, 8) is 16. Wraps for a
// value below the skew.
inline uint64_t alignDown(uint64_t value, uint64_t align, uint64_t skew = 0) {
  assert(align != 0);
  skew %= align;
  return (value - skew) / align * align + skew;
}
// alignTo() as a constant expression.
template <uint64_t kAlign>
struct AlignTo {
  template <uint64_t kValue>
  struct from_value {
    static const uint64_t value = alignTo<kAlign>(kValue);
  };
};
// The quotient rounded up: divideCeil(17, 8) is 3. `denominator` is not 0.
inline uint64_t divideCeil(uint64_t numerator, uint64_t denominator) {
  return alignTo(numerator, denominator) / denominator;
}
// The distance to the next multiple: OffsetToAlignment(17, 8) is 7.
inline uint64_t OffsetToAlignment(uint64_t value, uint64_t align) { return alignTo(value, align) - value; }

// Extends the sign of the lowest B bits to the whole type; bits above are ignored: SignExtend32<8>(0xff) is
// -1.
template <unsigned B>
constexpr int32_t SignExtend32(uint32_t x) {
  static_assert(B > 0 && B <= 32);
  return static_cast<int32_t>(x << (32 - B)) >> (32 - B);
}
inline int32_t SignExtend32(uint32_t x, unsigned bits) {
  assert(bits > 0 && bits <= 32);
  return static_cast<int32_t>(x << (32 - bits)) >> (32 - bits);
}
template <unsigned B>
constexpr int64_t SignExtend64(uint64_t x) {
  static_assert(B > 0 && B <= 64);
  return static_cast<int64_t>(x << (64 - B)) >> (64 - B);
}
inline int64_t SignExtend64(uint64_t x, unsigned bits) {
  assert(bits > 0 && bits <= 64);
  return static_cast<int64_t>(x << (64 - bits)) >> (64 - bits);
}

// The distance of two values, which the plain difference would wrap for x < y.
template <class T>
std::enable_if_t<std::is_unsigned_v<T>, T> AbsoluteDifference(T x, T y) {
  return std::max(x, y) - std::min(x, y);
}
// Sums and products that stop at the largest value of T. `*overflowed`, unless null, receives true if that
// happened and false if not.
template <class T>
std::enable_if_t<std::is_unsigned_v<T>, T> SaturatingAdd(T x, T y, bool* overflowed = nullptr) {
  T sum;
  const bool over = __builtin_add_overflow(x, y, &sum);
  if (overflowed != nullptr) *overflowed = over;
  return over ? std::numeric_limits<T>::max() : sum;
}
template <class T>
std::enable_if_t<std::is_unsigned_v<T>, T> SaturatingMultiply(T x, T y, bool* overflowed = nullptr) {
  T product;
  const bool over = __builtin_mul_overflow(x, y, &product);
  if (overflowed != nullptr) *overflowed = over;
  return over ? std::numeric_limits<T>::max() : product;
}
// x * y + a; saturates if either step does.
template <class T>
std::enable_if_t<std::is_unsigned_v<T>, T> SaturatingMultiplyAdd(T x, T y, T a, bool* overflowed = nullptr) {
  bool over = false;
  const T product = SaturatingMultiply(x, y, &over);
  if (overflowed != nullptr) *overflowed = over;
  return over ? product : SaturatingAdd(a, product, overflowed);
}

// C's HUGE_VALF without <math.h>.
inline constexpr float huge_valf = std::numeric_limits<float>::infinity();

}  // namespace c10::llvm
