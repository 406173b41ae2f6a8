// SPDX-License-Identifier: BSD-3-Clause
// Dtypes of tensors, sets of them, and type promotion. The enum values are PyTorch's and are stored in
// program files.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/tensor/complex.h"
#include "runtime/tensor/float16.h"

namespace rushlight {

// Dtype of a tensor's elements.
enum class ScalarType : int8_t {
  Byte = 0,            // uint8
  Char = 1,            // int8
  Short = 2,           // int16
  Int = 3,             // int32
  Long = 4,            // int64
  Half = 5,            // float16
  Float = 6,           // float32
  Double = 7,          // float64
  ComplexHalf = 8,     // complex32: two float16
  ComplexFloat = 9,    // complex64
  ComplexDouble = 10,  // complex128
  Bool = 11,           // 1 byte: 0 or 1
  QInt8 = 12,          // quantized
  QUInt8 = 13,         // quantized
  QInt32 = 14,         // quantized
  BFloat16 = 15,       // bfloat16
  UInt16 = 27,
  UInt32 = 28,
  UInt64 = 29,
};

namespace internal {
// Bytes by enum value; 0 for values without a type. Quantized types have the size of the integers that they
// store.
inline constexpr uint8_t kElementSize[30] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4,
                                             2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 2, 4, 8};
}  // namespace internal

// Bytes of one element; 0 for an unknown value.
constexpr size_t element_size(ScalarType type) {
  const auto index = static_cast<uint8_t>(type);
  return index < sizeof internal::kElementSize ? internal::kElementSize[index] : 0;
}

// PyTorch's name without the module ("float32"), or "unknown".
const char* to_string(ScalarType type);

// A set of dtypes as a bit mask over their enum values, which are all below 32; usable as a template
// argument.
using TypeSet = uint32_t;

// The set of the given types.
constexpr TypeSet type_set(ScalarType type) { return TypeSet{1} << static_cast<unsigned>(type); }
template <class... Types>
constexpr TypeSet type_set(ScalarType first, Types... rest) {
  return type_set(first) | type_set(rest...);
}
// Returns true if `type` is in `set`.
constexpr bool contains(TypeSet set, ScalarType type) {
  return static_cast<uint8_t>(type) < 32 && ((set >> static_cast<unsigned>(type)) & 1u) != 0;
}

// Named sets, for dispatch().
// uint8 and the signed integers.
namespace types {
inline constexpr TypeSet kIntegral =
    type_set(ScalarType::Byte, ScalarType::Char, ScalarType::Short, ScalarType::Int, ScalarType::Long);
// The wider unsigned integers, for which PyTorch has few operators.
inline constexpr TypeSet kUnsignedWide = type_set(ScalarType::UInt16, ScalarType::UInt32, ScalarType::UInt64);
// Floating-point types of 16 bits. Kernels compute with them in float.
inline constexpr TypeSet kReducedFloat = type_set(ScalarType::Half, ScalarType::BFloat16);
inline constexpr TypeSet kFloating = type_set(ScalarType::Float, ScalarType::Double) | kReducedFloat;
inline constexpr TypeSet kComplex =
    type_set(ScalarType::ComplexHalf, ScalarType::ComplexFloat, ScalarType::ComplexDouble);
inline constexpr TypeSet kBool = type_set(ScalarType::Bool);
// Real numbers without bool, uint16, uint32 and uint64.
inline constexpr TypeSet kReal = kIntegral | kFloating;
// All dtypes with values, except complex and quantized ones.
inline constexpr TypeSet kAll = kReal | kBool | kUnsignedWide;
}  // namespace types

// Membership in the set of that name; is_integral() includes the wide unsigned types. Quantized dtypes are in
// no set.
constexpr bool is_floating(ScalarType type) { return contains(types::kFloating, type); }
constexpr bool is_complex(ScalarType type) { return contains(types::kComplex, type); }
constexpr bool is_integral(ScalarType type, bool include_bool = false) {
  return contains(types::kIntegral | types::kUnsignedWide, type) ||
         (include_bool && type == ScalarType::Bool);
}

// The dtype of a complex type's real and imaginary parts; other types return themselves.
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

// The complex dtype that PyTorch chooses for components of `type`: complex32 for float16, complex128 for
// float64, otherwise complex64.
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

// PyTorch's result dtype of an operation on two tensors of rank 1 or more: the larger kind wins (bool,
// integer, floating point, complex), then the wider type; uint8 with int8 gives int16, and float16 with
// bfloat16 gives float32. The order of the arguments does not matter, except for quantized types, which have
// no rule here. For pairs that PyTorch refuses (for example uint16 with a signed integer) it returns the
// wider type, and the signed one if both have the same width.
ScalarType promote_types(ScalarType a, ScalarType b);

// Maps a C++ type to its dtype: scalar_type_of<float> is ScalarType::Float. Every dtype except the quantized
// ones has exactly one C++ type. Another type does not compile.
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
