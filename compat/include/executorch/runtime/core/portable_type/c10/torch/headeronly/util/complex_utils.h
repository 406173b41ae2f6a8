// SPDX-License-Identifier: BSD-3-Clause
// Traits of complex numbers; included by complex.h, for code that is generic in the dtype.
#pragma once

#include <complex>
#include <limits>
#include <type_traits>

#include <torch/headeronly/util/complex.h>

namespace torch::headeronly {

// True for c10::complex and std::complex.
template <class T>
struct is_complex : std::false_type {};
template <class T>
struct is_complex<std::complex<T>> : std::true_type {};
template <class T>
struct is_complex<c10::complex<T>> : std::true_type {};

// The component type; T itself if it is not complex: float for complex<float> and for float.
template <class T>
struct scalar_value_type {
  using type = T;
};
template <class T>
struct scalar_value_type<std::complex<T>> {
  using type = T;
};
template <class T>
struct scalar_value_type<c10::complex<T>> {
  using type = T;
};

}  // namespace torch::headeronly

namespace std {

// The limits of the components.
template <class T>
class numeric_limits<c10::complex<T>> : public numeric_limits<T> {};

// True if either part is a NaN.
template <class T>
bool isnan(const c10::complex<T>& value) {
  return std::isnan(value.real()) || std::isnan(value.imag());
}

}  // namespace std
