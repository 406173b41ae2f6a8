// SPDX-License-Identifier: BSD-3-Clause
// A complex number in PyTorch's layout: two values, the imaginary part second. Provides arithmetic only. It
// replaces std::complex, which needs library functions that bare-metal C libraries lack.
#pragma once

#include <type_traits>

#include "runtime/tensor/float16.h"

namespace rushlight {

// T is float, double, or Half (storage only).
template <class T>
struct Complex {
  T real{};  // real part, first in memory
  T imag{};  // imaginary part

  Complex() = default;
  // A real number; the imaginary part is 0.
  template <class Real, class = std::enable_if_t<std::is_convertible_v<Real, T>>>
  Complex(Real r) : real(static_cast<T>(r)) {}  // NOLINT: implicit by design
  Complex(T r, T i) : real(r), imag(i) {}
  // Converts both parts, for example from float to Half, with rounding.
  template <class Other>
  explicit Complex(Complex<Other> z) : real(static_cast<T>(z.real)), imag(static_cast<T>(z.imag)) {}

  Complex& operator+=(Complex z) { return *this = *this + z; }
  Complex& operator-=(Complex z) { return *this = *this - z; }
  Complex& operator*=(Complex z) { return *this = *this * z; }

  friend Complex operator+(Complex a, Complex b) { return {a.real + b.real, a.imag + b.imag}; }
  friend Complex operator-(Complex a, Complex b) { return {a.real - b.real, a.imag - b.imag}; }
  friend Complex operator-(Complex a) { return {-a.real, -a.imag}; }
  // By the formula. Unlike in C, an infinite operand may give NaN in both parts.
  friend Complex operator*(Complex a, Complex b) {
    return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
  }
  // Smith's method: divides both sides by the larger part of b first, so that its square cannot overflow.
  // Division by 0 divides both parts of a by +0. Selections instead of branches, so that loops vectorize.
  friend Complex operator/(Complex a, Complex b) {
    const bool real_leads = size_of(b.real) >= size_of(b.imag);
    const T large = real_leads ? b.real : b.imag;
    const T small = real_leads ? b.imag : b.real;
    const T first = real_leads ? a.real : a.imag;
    const T second = real_leads ? a.imag : a.real;
    const T ratio = small / large;
    const T difference = real_leads ? second - first * ratio : first * ratio - second;
    const bool is_zero = large == T(0);
    const T divisor = is_zero ? b.real * b.real : large + small * ratio;  // a zero's square may be NaN
    return {(is_zero ? a.real : first + second * ratio) / divisor, (is_zero ? a.imag : difference) / divisor};
  }
  // Absolute value; including <cmath> would slow the compilation of every kernel.
  static T size_of(T part) { return part < T(0) ? -part : part; }

  // Equal if both parts are; NaN equals nothing.
  friend bool operator==(Complex a, Complex b) { return a.real == b.real && a.imag == b.imag; }
  friend bool operator!=(Complex a, Complex b) { return !(a == b); }
};

// True for instances of Complex.
template <class T>
inline constexpr bool is_complex_number = false;
template <class T>
inline constexpr bool is_complex_number<Complex<T>> = true;

static_assert(sizeof(Complex<Half>) == 4 && sizeof(Complex<float>) == 8 && sizeof(Complex<double>) == 16);

}  // namespace rushlight
