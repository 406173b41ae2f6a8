// SPDX-License-Identifier: BSD-3-Clause
// Complex numbers in the layout of tensors: real part, imaginary part, aligned as the pair. A pointer to the
// elements of a complex tensor is a pointer to these.
//
//   dtype           C++ type           bytes
//   ComplexHalf     complex<Half>      4
//   ComplexFloat    complex<float>     8
//   ComplexDouble   complex<double>    16
#pragma once

#include <cmath>
#include <complex>
#include <istream>
#include <ostream>
#include <type_traits>

#include <torch/headeronly/macros/Macros.h>
#include <torch/headeronly/util/BFloat16.h>
#include <torch/headeronly/util/Half.h>

namespace c10 {

// 0 by default. T is float or double; the specialisations for Half and BFloat16 are below. The alignment is
// the pair's (8 or 16 bytes), so that a vector load of one number is aligned; std::complex is aligned to its
// component only.
template <class T>
struct alignas(sizeof(T) * 2) complex {
  using value_type = T;

  T real_ = T(0);
  T imag_ = T(0);

  // (0, 0); a real number is implicit, as complex<T> z = 1.
  constexpr complex() = default;
  constexpr complex(const T& re, const T& im = T()) : real_(re), imag_(im) {}
  // From the standard's type, explicitly; each part is cast.
  template <class U>
  explicit constexpr complex(const std::complex<U>& other)
      : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}
  // Widening is implicit, narrowing explicit.
  template <class U = T>
  explicit constexpr complex(const std::enable_if_t<std::is_same_v<U, float>, complex<double>>& other)
      : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}
  template <class U = T>
  constexpr complex(const std::enable_if_t<std::is_same_v<U, double>, complex<float>>& other)
      : real_(other.real()), imag_(other.imag()) {}

  // A real number changes the real part (=, += and -=; assignment clears the imaginary part) or scales both
  // (*= and /=).
  constexpr complex& operator=(T re) { return set(re, T(0)); }
  constexpr complex& operator+=(T re) { return set(real_ + re, imag_); }
  constexpr complex& operator-=(T re) { return set(real_ - re, imag_); }
  constexpr complex& operator*=(T re) { return set(real_ * re, imag_ * re); }
  constexpr complex& operator/=(T re) { return set(real_ / re, imag_ / re); }

  // Each part is cast to T, also from double to float.
  template <class U>
  constexpr complex& operator=(const complex<U>& other) {
    return set(static_cast<T>(other.real()), static_cast<T>(other.imag()));
  }
  template <class U>
  constexpr complex& operator=(const std::complex<U>& other) {
    return set(static_cast<T>(other.real()), static_cast<T>(other.imag()));
  }
  // Sums and differences by part. Aliasing is allowed, as in z += z.
  template <class U>
  constexpr complex& operator+=(const complex<U>& other) {
    return set(real_ + other.real(), imag_ + other.imag());
  }
  template <class U>
  constexpr complex& operator-=(const complex<U>& other) {
    return set(real_ - other.real(), imag_ - other.imag());
  }
  // The product by its definition. Infinities are not recovered as C's Annex G requires: (inf + 0i) * (0 +
  // 1i) has a NaN part, as in c10. Aliasing is allowed: the other's parts are read first.
  template <class U>
  constexpr complex& operator*=(const complex<U>& other) {
    const U re = other.real();
    const U im = other.imag();
    return set(real_ * re - imag_ * im, real_ * im + imag_ * re);
  }
  // Scales by the larger part of the divisor, so that its square cannot overflow (Smith's method, 1962). With
  // the divisor c + id, |c| >= |d| and r = d / c:
  //
  //   (a + ib) / (c + id) = (a + b r) / (c + d r) + i (b - a r) / (c + d r)
  //
  // A divisor of 0 divides each part by 0: infinities, or NaN for a part of 0.
  template <class U>
  constexpr complex& operator/=(const complex<U>& other) {
    const U re = other.real();
    const U im = other.imag();
    const U abs_re = re < 0 ? -re : re;
    const U abs_im = im < 0 ? -im : im;
    if (abs_re >= abs_im) {
      if (abs_re == U(0) && abs_im == U(0)) return set(real_ / abs_re, imag_ / abs_im);
      const U ratio = im / re;
      const U scale = U(1) / (re + im * ratio);
      return set((real_ + imag_ * ratio) * scale, (imag_ - real_ * ratio) * scale);
    }
    const U ratio = re / im;
    const U scale = U(1) / (im + re * ratio);
    return set((real_ * ratio + imag_) * scale, (imag_ * ratio - real_) * scale);
  }

  // Conversion to std::complex is explicit; to bool, true unless both parts are 0 (a NaN counts as nonzero).
  template <class U>
  explicit constexpr operator std::complex<U>() const {
    return {static_cast<U>(real_), static_cast<U>(imag_)};
  }
  explicit constexpr operator bool() const { return real_ || imag_; }

  // The parts, and functions that set one.
  constexpr T real() const { return real_; }
  constexpr void real(T value) { real_ = value; }
  constexpr T imag() const { return imag_; }
  constexpr void imag(T value) { imag_ = value; }

 private:
  constexpr complex& set(T re, T im) {
    real_ = re;
    imag_ = im;
    return *this;
  }
};

// Imaginary numbers: 2_if is 2i in float, 2_id in double.
namespace complex_literals {
constexpr complex<float> operator""_if(long double imag) { return {0.0f, static_cast<float>(imag)}; }
constexpr complex<double> operator""_id(long double imag) { return {0.0, static_cast<double>(imag)}; }
constexpr complex<float> operator""_if(unsigned long long imag) { return {0.0f, static_cast<float>(imag)}; }
constexpr complex<double> operator""_id(unsigned long long imag) { return {0.0, static_cast<double>(imag)}; }
}  // namespace complex_literals

// The number, and its negative: both parts change sign, even zeros.
template <class T>
constexpr complex<T> operator+(const complex<T>& value) {
  return value;
}
template <class T>
constexpr complex<T> operator-(const complex<T>& value) {
  return complex<T>(-value.real(), -value.imag());
}

// Operators of two complex numbers, and of a complex number with a T or an integer, which becomes a T first.
// A real right operand uses the operators for real numbers above; a real left one becomes complex. Not for
// complex numbers of different T: convert one.
#define RUSHLIGHT_COMPLEX_OPERATOR(op)                                                       \
  template <class T>                                                                         \
  constexpr complex<T> operator op(const complex<T>& a, const complex<T>& b) {               \
    complex<T> result = a;                                                                   \
    return result op## = b;                                                                  \
  }                                                                                          \
  template <class T>                                                                         \
  constexpr complex<T> operator op(const complex<T>& a, const T & b) {                       \
    complex<T> result = a;                                                                   \
    return result op## = b;                                                                  \
  }                                                                                          \
  template <class T>                                                                         \
  constexpr complex<T> operator op(const T & a, const complex<T>& b) {                       \
    complex<T> result(a, T());                                                               \
    return result op## = b;                                                                  \
  }                                                                                          \
  template <class T, class I,                                                                \
            std::enable_if_t<std::is_floating_point_v<T> && std::is_integral_v<I>, int> = 0> \
  constexpr complex<T> operator op(const complex<T>& a, const I & b) {                       \
    return a op static_cast<T>(b);                                                           \
  }                                                                                          \
  template <class T, class I,                                                                \
            std::enable_if_t<std::is_floating_point_v<T> && std::is_integral_v<I>, int> = 0> \
  constexpr complex<T> operator op(const I & a, const complex<T>& b) {                       \
    return static_cast<T>(a) op b;                                                           \
  }

RUSHLIGHT_COMPLEX_OPERATOR(+)
RUSHLIGHT_COMPLEX_OPERATOR(-)
RUSHLIGHT_COMPLEX_OPERATOR(*)
RUSHLIGHT_COMPLEX_OPERATOR(/)
#undef RUSHLIGHT_COMPLEX_OPERATOR

// Equal if both parts are; a real number has an imaginary part of 0.
template <class T>
constexpr bool operator==(const complex<T>& a, const complex<T>& b) {
  return a.real() == b.real() && a.imag() == b.imag();
}
template <class T>
constexpr bool operator==(const complex<T>& a, const T& b) {
  return a.real() == b && a.imag() == T();
}
template <class T>
constexpr bool operator==(const T& a, const complex<T>& b) {
  return b == a;
}
template <class T>
constexpr bool operator!=(const complex<T>& a, const complex<T>& b) {
  return !(a == b);
}
template <class T>
constexpr bool operator!=(const complex<T>& a, const T& b) {
  return !(a == b);
}
template <class T>
constexpr bool operator!=(const T& a, const complex<T>& b) {
  return !(b == a);
}

// Text as std::complex has it, (real,imaginary), with the stream's precision.
template <class T, class Char, class Traits>
std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out, const complex<T>& value) {
  return out << static_cast<std::complex<T>>(value);
}
// Reads (real,imaginary), (real) or real. After a failure the value is 0 and the stream's failbit is set.
template <class T, class Char, class Traits>
std::basic_istream<Char, Traits>& operator>>(std::basic_istream<Char, Traits>& in, complex<T>& value) {
  std::complex<T> read;
  in >> read;
  value = read;
  return in;
}

// The number of modulus r and angle theta, in radians.
template <class T>
complex<T> polar(const T& r, const T& theta = T()) {
  return complex<T>(r * std::cos(theta), r * std::sin(theta));
}

// The 16-bit types are for storage: 4 bytes, real part first. Arithmetic is done in float and rounded once
// per part. Not initialised by default, so that arrays of them cost nothing. There is no division: convert to
// complex<float>.
#define RUSHLIGHT_COMPLEX16(T)                                                           \
  template <>                                                                            \
  struct alignas(4) complex<T> {                                                         \
    using value_type = T;                                                                \
                                                                                         \
    T real_;                                                                             \
    T imag_;                                                                             \
                                                                                         \
    complex() = default;                                                                 \
    explicit complex(const T& real, const T& imag) : real_(real), imag_(imag) {}         \
    complex(const complex<float>& value) : real_(value.real()), imag_(value.imag()) {}   \
    operator complex<float>() const { return {real_, imag_}; }                           \
                                                                                         \
    constexpr T real() const { return real_; }                                           \
    constexpr T imag() const { return imag_; }                                           \
                                                                                         \
    complex& operator+=(const complex& other) { return *this = wide() += other.wide(); } \
    complex& operator-=(const complex& other) { return *this = wide() -= other.wide(); } \
    complex& operator*=(const complex& other) { return *this = wide() *= other.wide(); } \
                                                                                         \
   private:                                                                              \
    complex<float> wide() const { return *this; }                                        \
  };

RUSHLIGHT_COMPLEX16(Half)
RUSHLIGHT_COMPLEX16(BFloat16)
#undef RUSHLIGHT_COMPLEX16

}  // namespace c10

namespace torch::headeronly {
using c10::complex;
using c10::polar;
using c10::operator+;
using c10::operator-;
using c10::operator*;
using c10::operator/;
using c10::operator==;
using c10::operator!=;
using c10::operator<<;
using c10::operator>>;
namespace complex_literals {
using c10::complex_literals::operator""_if;
using c10::complex_literals::operator""_id;
}  // namespace complex_literals
}  // namespace torch::headeronly

#include <torch/headeronly/util/complex_utils.h>
