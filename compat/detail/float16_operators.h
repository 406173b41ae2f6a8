// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic of c10::Half and c10::BFloat16. Operations between two of them, or with int, round to the type;
// with float or double the result has that type. Comparisons convert to float.
//
// Sums, differences, products and quotients are computed in float and rounded once more. For normal results
// that equals one rounding of the exact result, because float has at least twice the significand bits plus
// two (24 >= 2 * 11 + 2 for Half, and BFloat16 has 8). An integer operand is first converted to float and
// then to the type.
#pragma once

#include <cstdint>
#include <limits>
#include <ostream>

// The binary operators of one sign. int and int64_t need overloads, because they would convert to float and
// to double equally well.
#define RUSHLIGHT_FLOAT16_OPERATOR(T, op)                                                                 \
  inline T operator op(const T& a, const T& b) { return static_cast<float>(a) op static_cast<float>(b); } \
  inline T& operator op##=(T & a, const T & b) { return a = a op b; }                                     \
  inline float operator op(T a, float b) { return static_cast<float>(a) op b; }                           \
  inline float operator op(float a, T b) { return a op static_cast<float>(b); }                           \
  inline float& operator op##=(float& a, const T & b) { return a = a op static_cast<float>(b); }          \
  inline double operator op(T a, double b) { return static_cast<double>(a) op b; }                        \
  inline double operator op(double a, T b) { return a op static_cast<double>(b); }                        \
  inline T operator op(T a, int b) { return a op static_cast<T>(static_cast<float>(b)); }                 \
  inline T operator op(int a, T b) { return static_cast<T>(static_cast<float>(a)) op b; }                 \
  inline T operator op(T a, int64_t b) { return a op static_cast<T>(static_cast<float>(b)); }             \
  inline T operator op(int64_t a, T b) { return static_cast<T>(static_cast<float>(a)) op b; }

// All operators of a type, defined in its namespace so that argument-dependent lookup finds them.
#define RUSHLIGHT_FLOAT16_OPERATORS(T)                                 \
  RUSHLIGHT_FLOAT16_OPERATOR(T, +)                                     \
  RUSHLIGHT_FLOAT16_OPERATOR(T, -)                                     \
  RUSHLIGHT_FLOAT16_OPERATOR(T, *)                                     \
  RUSHLIGHT_FLOAT16_OPERATOR(T, /)                                     \
  inline T operator-(const T& a) { return -static_cast<float>(a); }    \
  inline std::ostream& operator<<(std::ostream& out, const T& value) { \
    return out << static_cast<float>(value);                           \
  }

// Members of std::numeric_limits that are equal for both; the specialisations derive from it and add range
// and precision.
namespace rushlight::compat {

struct Float16Limits {
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true;
  static constexpr auto has_denorm = std::numeric_limits<float>::has_denorm;
  static constexpr bool has_denorm_loss = std::numeric_limits<float>::has_denorm_loss;
  static constexpr auto round_style = std::numeric_limits<float>::round_style;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr int radix = 2;
  static constexpr bool traps = std::numeric_limits<float>::traps;
  static constexpr bool tinyness_before = std::numeric_limits<float>::tinyness_before;
};

}  // namespace rushlight::compat
