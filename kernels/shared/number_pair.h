// SPDX-License-Identifier: BSD-3-Clause
// Complex numbers of doubles.
#pragma once

#include <cmath>

namespace rushlight::kernels {

struct Number {
  double real = 0;
  double imag = 0;

  Number() = default;
  Number(double r, double i = 0) : real(r), imag(i) {}  // NOLINT: real numbers are complex ones
  Number& operator+=(Number z) { return *this = *this + z; }
  Number& operator-=(Number z) { return *this = *this - z; }
  Number& operator*=(Number z) { return *this = *this * z; }
  friend Number operator+(Number a, Number b) { return {a.real + b.real, a.imag + b.imag}; }
  friend Number operator-(Number a, Number b) { return {a.real - b.real, a.imag - b.imag}; }
  friend Number operator-(Number a) { return {-a.real, -a.imag}; }
  friend Number operator*(Number a, Number b) {
    return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
  }
  friend bool operator==(Number a, Number b) { return a.real == b.real && a.imag == b.imag; }
  friend bool operator!=(Number a, Number b) { return !(a == b); }
};

Number operator/(Number a, Number b);

}  // namespace rushlight::kernels
