// SPDX-License-Identifier: BSD-3-Clause
// Converts a run-time dtype to a compile-time type:
//
//   return dispatch<types::kFloating>(out.scalar_type(), [&](auto type) {
//     using T = typename decltype(type)::Element;
//     ...
//     return Error::Ok;
//   });
//
// Only the types of the set are instantiated. Another dtype logs its name and returns Error::InvalidType.
#pragma once

#include "runtime/base/error.h"
#include "runtime/base/log.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight {

// The argument of the dispatched function: carries the element type T and its dtype.
template <class T>
struct Type {
  using Element = T;
  static constexpr ScalarType value = scalar_type_of<T>;
};

// Logs that `type` is not supported and returns Error::InvalidType.
Error unsupported_type(ScalarType type);

namespace internal {

template <TypeSet kSet, class F>
Error dispatch_among(ScalarType type, F&) {
  return unsupported_type(type);
}

// Compares with the types of the set one by one: a switch over all types would compile to a jump table.
template <TypeSet kSet, class F, class T, class... Rest>
Error dispatch_among(ScalarType type, F& f) {
  if constexpr (contains(kSet, scalar_type_of<T>)) {
    if (type == scalar_type_of<T>) return f(Type<T>{});
  }
  return dispatch_among<kSet, F, Rest...>(type, f);
}

}  // namespace internal

// Calls f(Type<T>{}) for the T whose dtype is `type`, if it is in kSet, and returns its Error. Error:
// InvalidType otherwise.
template <TypeSet kSet, class F>
Error dispatch(ScalarType type, F&& f) {
  return internal::dispatch_among<kSet, F, float, int64_t, bool, double, int32_t, uint8_t, int8_t, int16_t,
                                  Half, BFloat16, uint16_t, uint32_t, uint64_t, Complex<float>,
                                  Complex<double>, Complex<Half>>(type, f);
}

}  // namespace rushlight
