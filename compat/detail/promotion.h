// SPDX-License-Identifier: BSD-3-Clause
// Type promotion of two dtypes, with PyTorch's rules for tensors of equal rank (torch.promote_types). All is
// constexpr, so that kernels can use the result as a template argument.
//
//   bool < uint8, int8 < int16 < int32 < int64 < Half, BFloat16 < Float < Double < complex
//
// with uint8 and int8 giving int16, Half and BFloat16 giving Float, and a complex type the wider component.
#pragma once

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#include "compat/detail/tensor_mode.h"

namespace executorch::runtime::internal RUSHLIGHT_TENSOR_MODE {

// Short names by kind and bytes, which official kernels use.
using U1 = uint8_t;
using I1 = int8_t;
using I2 = int16_t;
using I4 = int32_t;
using I8 = int64_t;
using F2 = torch::executor::Half;
using F4 = float;
using F8 = double;
using C2 = torch::executor::complex<torch::executor::Half>;
using C4 = torch::executor::complex<float>;
using C8 = torch::executor::complex<double>;
using B1 = bool;
using BF = torch::executor::BFloat16;

// Quantized types, bits, float8 and uint16 to uint64 promote only with themselves.
constexpr bool is_apart(::executorch::aten::ScalarType t) {
  return runtime::isQIntType(t) || runtime::isBitsType(t) || runtime::isFloat8Type(t) ||
         runtime::isBarebonesUnsignedType(t);
}

// bool < integer < floating point < complex: the higher category decides; within a category the larger type.
constexpr int kind_of(::executorch::aten::ScalarType t) {
  return runtime::isComplexType(t)           ? 3
         : runtime::isFloatingType(t)        ? 2
         : runtime::isIntegralType(t, false) ? 1
                                             : 0;
}

// The smallest floating-point type that contains both.
constexpr ::executorch::aten::ScalarType larger_fraction(::executorch::aten::ScalarType a,
                                                         ::executorch::aten::ScalarType b) {
  using T = ::executorch::aten::ScalarType;
  if (a == b) return a;
  if (a == T::Double || b == T::Double) return T::Double;
  return T::Float;  // also for Half with BFloat16: neither contains the other
}

// The smallest integer type that contains both.
constexpr ::executorch::aten::ScalarType larger_integer(::executorch::aten::ScalarType a,
                                                        ::executorch::aten::ScalarType b) {
  using T = ::executorch::aten::ScalarType;
  if (a == b) return a;
  const bool both_small = runtime::isIntegralType(a, false) && a <= T::Char && b <= T::Char;
  if (both_small) return T::Short;  // unsigned and signed 8 bits
  return a > b ? a : b;             // enumerated by size
}

}  // namespace executorch::runtime::internalRUSHLIGHT_TENSOR_MODE

namespace executorch::runtime RUSHLIGHT_TENSOR_MODE {

// Promotes two dtypes: Int with Half gives Half, Byte with Char Short, Float with ComplexHalf ComplexFloat.
// Aborts if they have no common type. `half_to_float` promotes 16-bit results to Float.
constexpr ::executorch::aten::ScalarType promoteTypes(::executorch::aten::ScalarType a,
                                                      ::executorch::aten::ScalarType b,
                                                      bool half_to_float = false) {
  using T = ::executorch::aten::ScalarType;
  // These dtypes have no category.
  if (a == b && internal::is_apart(a)) return a;
  ET_CHECK_MSG(!internal::is_apart(a) && !internal::is_apart(b) && a < T::Undefined && b < T::Undefined,
               "dtypes %d and %d: no common dtype", static_cast<int>(a), static_cast<int>(b));
  // The higher of the two categories is that of the result.
  const int kind = internal::kind_of(a) > internal::kind_of(b) ? internal::kind_of(a) : internal::kind_of(b);
  // Types of a lower category do not count.
  const T wide = internal::kind_of(a) == kind ? a : b;
  const T other = internal::kind_of(b) == kind ? b : wide;
  T result = wide;
  if (kind == 1) {
    result = internal::larger_integer(wide, other);
  } else if (kind == 2) {
    result = internal::larger_fraction(wide, other);
  } else if (kind == 3) {
    // A floating-point operand can widen the components: complex<float> with double gives complex<double>. An
    // integer cannot, so the complex operand stands in for it.
    const T of_a = runtime::isComplexType(a) || runtime::isFloatingType(a) ? runtime::toRealValueType(a)
                                                                           : runtime::toRealValueType(wide);
    const T of_b = runtime::isComplexType(b) || runtime::isFloatingType(b) ? runtime::toRealValueType(b)
                                                                           : runtime::toRealValueType(wide);
    result = runtime::toComplexType(internal::larger_fraction(of_a, of_b));
  }
  return half_to_float && (result == T::Half || result == T::BFloat16) ? T::Float : result;
}

// The same for C++ types, as promote_types<T1, T2>::type; a compile error if they have no common type.
template <class T1, class T2, bool half_to_float = false>
struct promote_types {
  static_assert(std::is_same_v<T1, T2> || (!internal::is_apart(CppTypeToScalarType<T1>::value) &&
                                           !internal::is_apart(CppTypeToScalarType<T2>::value)),
                "types without a common type");
  using type = typename ScalarTypeToCppType<runtime::promoteTypes(
      CppTypeToScalarType<T1>::value, CppTypeToScalarType<T2>::value, half_to_float)>::type;
};

}  // namespace executorch::runtimeRUSHLIGHT_TENSOR_MODE

namespace torch::executor::internal {
using ::executorch::runtime::internal::B1;
using ::executorch::runtime::internal::C2;
using ::executorch::runtime::internal::C4;
using ::executorch::runtime::internal::C8;
using ::executorch::runtime::internal::F2;
using ::executorch::runtime::internal::F4;
using ::executorch::runtime::internal::F8;
using ::executorch::runtime::internal::I1;
using ::executorch::runtime::internal::I2;
using ::executorch::runtime::internal::I4;
using ::executorch::runtime::internal::I8;
using ::executorch::runtime::internal::U1;
}  // namespace torch::executor::internal
