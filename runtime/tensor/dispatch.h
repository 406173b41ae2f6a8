// SPDX-License-Identifier: BSD-3-Clause
// From a run-time element type to a compile-time one:
//
//   return dispatch<types::kFloating>(out.scalar_type(), [&](auto type) {
//     using T = typename decltype(type)::Element;
//     ...
//     return Error::Ok;
//   });
//
// Only the types of the set are compiled. A type outside it is Error::InvalidType, logged with its name.
#pragma once

#include "runtime/base/error.h"
#include "runtime/base/log.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight {

template <class T>
struct Type {
  using Element = T;
  static constexpr ScalarType value = scalar_type_of<T>;
};

Error unsupported_type(ScalarType type);

namespace internal {

template <TypeSet kSet, class T, class F>
inline Error dispatch_one(F&& f) {
  if constexpr (contains(kSet, scalar_type_of<T>)) {
    return f(Type<T>{});
  } else {
    return unsupported_type(scalar_type_of<T>);
  }
}

}  // namespace internal

template <TypeSet kSet, class F>
Error dispatch(ScalarType type, F&& f) {
  switch (type) {
    case ScalarType::Byte:
      return internal::dispatch_one<kSet, uint8_t>(f);
    case ScalarType::Char:
      return internal::dispatch_one<kSet, int8_t>(f);
    case ScalarType::Short:
      return internal::dispatch_one<kSet, int16_t>(f);
    case ScalarType::Int:
      return internal::dispatch_one<kSet, int32_t>(f);
    case ScalarType::Long:
      return internal::dispatch_one<kSet, int64_t>(f);
    case ScalarType::Half:
      return internal::dispatch_one<kSet, Half>(f);
    case ScalarType::Float:
      return internal::dispatch_one<kSet, float>(f);
    case ScalarType::Double:
      return internal::dispatch_one<kSet, double>(f);
    case ScalarType::ComplexHalf:
      return internal::dispatch_one<kSet, Complex<Half>>(f);
    case ScalarType::ComplexFloat:
      return internal::dispatch_one<kSet, Complex<float>>(f);
    case ScalarType::ComplexDouble:
      return internal::dispatch_one<kSet, Complex<double>>(f);
    case ScalarType::Bool:
      return internal::dispatch_one<kSet, bool>(f);
    case ScalarType::BFloat16:
      return internal::dispatch_one<kSet, BFloat16>(f);
    case ScalarType::UInt16:
      return internal::dispatch_one<kSet, uint16_t>(f);
    case ScalarType::UInt32:
      return internal::dispatch_one<kSet, uint32_t>(f);
    case ScalarType::UInt64:
      return internal::dispatch_one<kSet, uint64_t>(f);
    default:
      return unsupported_type(type);
  }
}

}  // namespace rushlight
