// SPDX-License-Identifier: BSD-3-Clause
// Element types at compile time and at run time: traits, names, sets, promotion. The ET_FORALL_ and
// ET_SWITCH_ macros are made by rushlight.codegen.dtype_macros.
#pragma once

#include <array>
#include <cinttypes>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <c10/macros/Macros.h>
#include <executorch/runtime/core/portable_type/scalar_type.h>
#include <executorch/runtime/core/portable_type/string_view.h>
#include <executorch/runtime/platform/assert.h>

namespace executorch::aten {
using ScalarType = torch::executor::ScalarType;
using string_view = std::string_view;
using BFloat16 = torch::executor::BFloat16;
using Half = torch::executor::Half;
template <class T>
using complex = torch::executor::complex<T>;
}  // namespace executorch::aten

namespace exec_aten = ::executorch::aten;

namespace executorch::runtime {

template <class T>
constexpr bool is_reduced_floating_point_v =
    std::is_same_v<T, torch::executor::Half> || std::is_same_v<T, torch::executor::BFloat16>;
template <class T>
struct is_reduced_floating_point : std::bool_constant<is_reduced_floating_point_v<T>> {};
template <class T>
struct is_floating_point : std::bool_constant<std::is_floating_point_v<T> || is_reduced_floating_point_v<T>> {
};

template <::executorch::aten::ScalarType N>
struct ScalarTypeToCppType;
template <class T>
struct CppTypeToScalarType;

#define RUSHLIGHT_TYPE_PAIR(cpp_type, name)                          \
  template <>                                                        \
  struct ScalarTypeToCppType<::executorch::aten::ScalarType::name> { \
    using type = cpp_type;                                           \
  };                                                                 \
  template <>                                                        \
  struct CppTypeToScalarType<cpp_type>                               \
      : std::integral_constant<::executorch::aten::ScalarType, ::executorch::aten::ScalarType::name> {};
ET_FORALL_SCALAR_TYPES(RUSHLIGHT_TYPE_PAIR)
#undef RUSHLIGHT_TYPE_PAIR

// Whether the number is a type's, and not Undefined.
inline bool isValid(::executorch::aten::ScalarType type) {
  return static_cast<int8_t>(type) >= 0 && type < ::executorch::aten::ScalarType::Undefined;
}

// "Float", "UNKNOWN_SCALAR" for a number that is no type.
const char* toString(::executorch::aten::ScalarType type);
// Bytes; aborts for a number that is no type.
size_t elementSize(::executorch::aten::ScalarType type);

namespace internal {
constexpr bool is_one_of(::executorch::aten::ScalarType type,
                         std::initializer_list<::executorch::aten::ScalarType> set) {
  for (const auto member : set) {
    if (type == member) return true;
  }
  return false;
}
}  // namespace internal

constexpr bool isIntegralType(::executorch::aten::ScalarType t, bool includeBool) {
  using T = ::executorch::aten::ScalarType;
  return internal::is_one_of(t, {T::Byte, T::Char, T::Short, T::Int, T::Long}) ||
         (includeBool && t == T::Bool);
}
constexpr bool isFloatingType(::executorch::aten::ScalarType t) {
  using T = ::executorch::aten::ScalarType;
  return internal::is_one_of(t, {T::Half, T::Float, T::Double, T::BFloat16});
}
constexpr bool isComplexType(::executorch::aten::ScalarType t) {
  using T = ::executorch::aten::ScalarType;
  return internal::is_one_of(t, {T::ComplexHalf, T::ComplexFloat, T::ComplexDouble});
}
constexpr bool isBitsType(::executorch::aten::ScalarType t) {
  using T = ::executorch::aten::ScalarType;
  return internal::is_one_of(t, {T::Bits1x8, T::Bits2x4, T::Bits4x2, T::Bits8, T::Bits16});
}
constexpr bool isQIntType(::executorch::aten::ScalarType t) {
  using T = ::executorch::aten::ScalarType;
  return internal::is_one_of(t, {T::QInt8, T::QUInt8, T::QInt32, T::QUInt4x2, T::QUInt2x4});
}
constexpr bool isFloat8Type(::executorch::aten::ScalarType t) {
  using T = ::executorch::aten::ScalarType;
  return internal::is_one_of(t, {T::Float8_e5m2, T::Float8_e4m3fn, T::Float8_e5m2fnuz, T::Float8_e4m3fnuz});
}
constexpr bool isBarebonesUnsignedType(::executorch::aten::ScalarType t) {
  using T = ::executorch::aten::ScalarType;
  return internal::is_one_of(t, {T::UInt16, T::UInt32, T::UInt64});
}

// Integers, float and double; H adds Half, B adds Bool, BF16 adds BFloat16.
constexpr bool isRealType(::executorch::aten::ScalarType t) {
  using T = ::executorch::aten::ScalarType;
  return isIntegralType(t, false) || t == T::Float || t == T::Double;
}
constexpr bool isRealHType(::executorch::aten::ScalarType t) {
  return isRealType(t) || t == ::executorch::aten::ScalarType::Half;
}
constexpr bool isRealHBType(::executorch::aten::ScalarType t) {
  return isRealHType(t) || t == ::executorch::aten::ScalarType::Bool;
}
constexpr bool isRealHBF16Type(::executorch::aten::ScalarType t) {
  return isRealHType(t) || t == ::executorch::aten::ScalarType::BFloat16;
}
constexpr bool isRealHBBF16Type(::executorch::aten::ScalarType t) {
  return isRealHBType(t) || t == ::executorch::aten::ScalarType::BFloat16;
}

template <class T, bool includeBool>
struct is_integral_type : std::bool_constant<isIntegralType(CppTypeToScalarType<T>::value, includeBool)> {};
template <class T>
struct is_complex_type : std::bool_constant<isComplexType(CppTypeToScalarType<T>::value)> {};
template <class T>
struct is_bits_type : std::bool_constant<isBitsType(CppTypeToScalarType<T>::value)> {};
template <class T>
struct is_qint_type : std::bool_constant<isQIntType(CppTypeToScalarType<T>::value)> {};
template <class T>
struct is_float8_type : std::bool_constant<isFloat8Type(CppTypeToScalarType<T>::value)> {};
template <class T>
struct is_barebones_unsigned_type
    : std::bool_constant<isBarebonesUnsignedType(CppTypeToScalarType<T>::value)> {};

// The quantized type stored in this one, and back; the type itself where there is none.
inline ::executorch::aten::ScalarType toQIntType(::executorch::aten::ScalarType t) {
  using T = ::executorch::aten::ScalarType;
  return t == T::Byte ? T::QUInt8 : t == T::Char ? T::QInt8 : t == T::Int ? T::QInt32 : t;
}
inline ::executorch::aten::ScalarType toUnderlying(::executorch::aten::ScalarType t) {
  using T = ::executorch::aten::ScalarType;
  if (t == T::QUInt8 || t == T::QUInt4x2 || t == T::QUInt2x4) return T::Byte;
  return t == T::QInt8 ? T::Char : t == T::QInt32 ? T::Int : t;
}
inline bool isUnderlying(::executorch::aten::ScalarType type, ::executorch::aten::ScalarType qtype) {
  return type == toUnderlying(qtype);
}

// Aborts for quantized types and those that nothing computes with.
inline bool isSignedType(::executorch::aten::ScalarType t) {
  ET_CHECK_MSG(isRealHBBF16Type(t) || isComplexType(t), "the sign of dtype %d", static_cast<int>(t));
  return t != ::executorch::aten::ScalarType::Byte && t != ::executorch::aten::ScalarType::Bool;
}

// The type of a complex one's parts, the type itself for others; the complex type of such parts.
constexpr ::executorch::aten::ScalarType toRealValueType(::executorch::aten::ScalarType t) {
  using T = ::executorch::aten::ScalarType;
  return t == T::ComplexHalf     ? T::Half
         : t == T::ComplexFloat  ? T::Float
         : t == T::ComplexDouble ? T::Double
                                 : t;
}
constexpr ::executorch::aten::ScalarType toComplexType(::executorch::aten::ScalarType t) {
  using T = ::executorch::aten::ScalarType;
  if (isComplexType(t)) return t;
  if (t == T::Half) return T::ComplexHalf;
  if (t == T::Float || t == T::BFloat16) return T::ComplexFloat;
  ET_CHECK_MSG(t == T::Double, "no complex dtype belongs to dtype %d", static_cast<int>(t));
  return T::ComplexDouble;
}

// Whether a result of one type may be stored in another: complex < real, fraction < integer and
// number < bool lose what they mean.
constexpr bool canCast(const ::executorch::aten::ScalarType from, const ::executorch::aten::ScalarType to) {
  const bool loses_imaginary = isComplexType(from) && !isComplexType(to);
  const bool loses_fraction = isFloatingType(from) && isIntegralType(to, false);
  const bool loses_number =
      from != ::executorch::aten::ScalarType::Bool && to == ::executorch::aten::ScalarType::Bool;
  return !loses_imaginary && !loses_fraction && !loses_number;
}
template <class From, class To>
struct can_cast
    : std::bool_constant<canCast(CppTypeToScalarType<From>::value, CppTypeToScalarType<To>::value)> {};

// As static_cast, by way of int64_t from a fraction to an integer.
template <class To, class From>
To convert(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return static_cast<To>(static_cast<int64_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace executorch::runtime

namespace executorch::aten {
using ::executorch::runtime::elementSize;
}

#include "compat/detail/promotion.h"
#include "compat/detail/switch_types.h"

namespace torch::executor {
using ::executorch::runtime::can_cast;
using ::executorch::runtime::canCast;
using ::executorch::runtime::convert;
using ::executorch::runtime::CppTypeToScalarType;
using ::executorch::runtime::elementSize;
using ::executorch::runtime::is_barebones_unsigned_type;
using ::executorch::runtime::is_bits_type;
using ::executorch::runtime::is_complex_type;
using ::executorch::runtime::is_float8_type;
using ::executorch::runtime::is_floating_point;
using ::executorch::runtime::is_integral_type;
using ::executorch::runtime::is_qint_type;
using ::executorch::runtime::is_reduced_floating_point;
using ::executorch::runtime::isBitsType;
using ::executorch::runtime::isComplexType;
using ::executorch::runtime::isFloatingType;
using ::executorch::runtime::isIntegralType;
using ::executorch::runtime::isQIntType;
using ::executorch::runtime::isRealHBType;
using ::executorch::runtime::isRealHType;
using ::executorch::runtime::isRealType;
using ::executorch::runtime::isValid;
using ::executorch::runtime::promote_types;
using ::executorch::runtime::promoteTypes;
using ::executorch::runtime::ScalarTypeToCppType;
using ::executorch::runtime::toString;
}  // namespace torch::executor
