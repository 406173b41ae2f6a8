// SPDX-License-Identifier: BSD-3-Clause
// c10::complex with the functions that std::complex has in namespace std. The elementary functions are in
// complex_math.h, which this header includes.
#pragma once

#include <cmath>
#include <complex>

#include <c10/macros/Macros.h>
#include <c10/util/Half.h>
#include <torch/headeronly/util/complex.h>

namespace std {

// The parts, as functions.
template <class T>
constexpr T real(const c10::complex<T>& z) {
  return z.real();
}
template <class T>
constexpr T imag(const c10::complex<T>& z) {
  return z.imag();
}
// The modulus by hypot: the squares neither overflow nor underflow.
template <class T>
T abs(const c10::complex<T>& z) {
  return std::hypot(z.real(), z.imag());
}
// The angle in [-pi, pi], by atan2; 0 for 0.
template <class T>
T arg(const c10::complex<T>& z) {
  const T re = z.real(), im = z.imag();
  return std::atan2(im, re);
}
// The square of the modulus, which can overflow.
template <class T>
constexpr T norm(const c10::complex<T>& z) {
  const T re = z.real(), im = z.imag();
  return re * re + im * im;
}
// The number with the imaginary part's sign changed.
template <class T>
constexpr c10::complex<T> conj(const c10::complex<T>& z) {
  return {z.real(), -z.imag()};
}

}  // namespace std

namespace c10 {
using torch::headeronly::is_complex;
using torch::headeronly::scalar_value_type;
}  // namespace c10

#include <c10/util/complex_math.h>
