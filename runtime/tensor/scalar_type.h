// SPDX-License-Identifier: BSD-3-Clause
// Element types of tensors. The numbers are PyTorch's and stand in every program file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/tensor/complex.h"
#include "runtime/tensor/float16.h"

namespace rushlight {

enum class ScalarType : int8_t {
  Byte = 0,
  Char = 1,
  Short = 2,
  Int = 3,
  Long = 4,
  Half = 5,
  Float = 6,
  Double = 7,
  ComplexHalf = 8,
  ComplexFloat = 9,
  ComplexDouble = 10,
  Bool = 11,
  QInt8 = 12,
  QUInt8 = 13,
  QInt32 = 14,
  BFloat16 = 15,
  UInt16 = 27,
  UInt32 = 28,
  UInt64 = 29,
};

namespace internal {
// Indexed by the type's number; 0 marks a hole.
inline constexpr uint8_t kElementSize[30] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4,
                                             2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 2, 4, 8};
}  // namespace internal

// Bytes of one element; 0 for a number that is no known type.
constexpr size_t element_size(ScalarType type) {
  const auto index = static_cast<uint8_t>(type);
  return index < sizeof internal::kElementSize ? internal::kElementSize[index] : 0;
}

// PyTorch's spelling without the module ("float32"), or "unknown".
const char* to_string(ScalarType type);

// A set of element types as a bit mask over their numbers, usable as a template argument.
using TypeSet = uint32_t;

constexpr TypeSet type_set(ScalarType type) { return TypeSet{1} << static_cast<unsigned>(type); }
template <class... Types>
constexpr TypeSet type_set(ScalarType first, Types... rest) {
  return type_set(first) | type_set(rest...);
}
constexpr bool contains(TypeSet set, ScalarType type) {
  return static_cast<uint8_t>(type) < 32 && ((set >> static_cast<unsigned>(type)) & 1u) != 0;
}

namespace types {
inline constexpr TypeSet kIntegral =
    type_set(ScalarType::Byte, ScalarType::Char, ScalarType::Short, ScalarType::Int, ScalarType::Long);
inline constexpr TypeSet kUnsignedWide = type_set(ScalarType::UInt16, ScalarType::UInt32, ScalarType::UInt64);
inline constexpr TypeSet kReducedFloat = type_set(ScalarType::Half, ScalarType::BFloat16);
inline constexpr TypeSet kFloating = type_set(ScalarType::Float, ScalarType::Double) | kReducedFloat;
inline constexpr TypeSet kComplex =
    type_set(ScalarType::ComplexHalf, ScalarType::ComplexFloat, ScalarType::ComplexDouble);
inline constexpr TypeSet kBool = type_set(ScalarType::Bool);
inline constexpr TypeSet kReal = kIntegral | kFloating;
inline constexpr TypeSet kAll = kReal | kBool | kUnsignedWide;
}  // namespace types

constexpr bool is_floating(ScalarType type) { return contains(types::kFloating, type); }
constexpr bool is_complex(ScalarType type) { return contains(types::kComplex, type); }
constexpr bool is_integral(ScalarType type, bool include_bool = false) {
  return contains(types::kIntegral | types::kUnsignedWide, type) ||
         (include_bool && type == ScalarType::Bool);
}

// The type of a complex type's parts; other types are their own.
constexpr ScalarType component_type(ScalarType type) {
  switch (type) {
    case ScalarType::ComplexHalf:
      return ScalarType::Half;
    case ScalarType::ComplexFloat:
      return ScalarType::Float;
    case ScalarType::ComplexDouble:
      return ScalarType::Double;
    default:
      return type;
  }
}

// The complex type that holds numbers of a type, as PyTorch chooses it: that with such parts, or
// complex64.
constexpr ScalarType complex_type(ScalarType type) {
  switch (type) {
    case ScalarType::Half:
    case ScalarType::ComplexHalf:
      return ScalarType::ComplexHalf;
    case ScalarType::Double:
    case ScalarType::ComplexDouble:
      return ScalarType::ComplexDouble;
    default:
      return ScalarType::ComplexFloat;
  }
}

// PyTorch's result type of two tensors of these element types with at least one dimension each.
// Pairs without one (uint16 with a signed integer, say) give the wider by size.
ScalarType promote_types(ScalarType a, ScalarType b);

// scalar_type_of<float> is ScalarType::Float.
template <class T>
struct ScalarTypeOf;
template <>
struct ScalarTypeOf<uint8_t> {
  static constexpr ScalarType value = ScalarType::Byte;
};
template <>
struct ScalarTypeOf<int8_t> {
  static constexpr ScalarType value = ScalarType::Char;
};
template <>
struct ScalarTypeOf<int16_t> {
  static constexpr ScalarType value = ScalarType::Short;
};
template <>
struct ScalarTypeOf<int32_t> {
  static constexpr ScalarType value = ScalarType::Int;
};
template <>
struct ScalarTypeOf<int64_t> {
  static constexpr ScalarType value = ScalarType::Long;
};
template <>
struct ScalarTypeOf<Half> {
  static constexpr ScalarType value = ScalarType::Half;
};
template <>
struct ScalarTypeOf<float> {
  static constexpr ScalarType value = ScalarType::Float;
};
template <>
struct ScalarTypeOf<double> {
  static constexpr ScalarType value = ScalarType::Double;
};
template <>
struct ScalarTypeOf<Complex<Half>> {
  static constexpr ScalarType value = ScalarType::ComplexHalf;
};
template <>
struct ScalarTypeOf<Complex<float>> {
  static constexpr ScalarType value = ScalarType::ComplexFloat;
};
template <>
struct ScalarTypeOf<Complex<double>> {
  static constexpr ScalarType value = ScalarType::ComplexDouble;
};
template <>
struct ScalarTypeOf<bool> {
  static constexpr ScalarType value = ScalarType::Bool;
};
template <>
struct ScalarTypeOf<BFloat16> {
  static constexpr ScalarType value = ScalarType::BFloat16;
};
template <>
struct ScalarTypeOf<uint16_t> {
  static constexpr ScalarType value = ScalarType::UInt16;
};
template <>
struct ScalarTypeOf<uint32_t> {
  static constexpr ScalarType value = ScalarType::UInt32;
};
template <>
struct ScalarTypeOf<uint64_t> {
  static constexpr ScalarType value = ScalarType::UInt64;
};
template <class T>
inline constexpr ScalarType scalar_type_of = ScalarTypeOf<T>::value;

}  // namespace rushlight
