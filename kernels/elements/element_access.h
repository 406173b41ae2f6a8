// SPDX-License-Identifier: BSD-3-Clause
// Access to single elements of any real dtype, for kernels that are rarely called: compiled once instead of
// once for each dtype, at the cost of a call and a switch for each element. Builds for speed read and write
// float32 and float64 without them. Precondition: selected_types() of the operator contains the dtype.
// Addresses are aligned for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/error.h"
#include "runtime/tensor/complex.h"
#include "runtime/tensor/scalar_type.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// InvalidType unless the dtype is real and some selected operator of this build takes it.
Error check_loadable(const Tensor& tensor);

// True if elements are read as int64 (integers, the bits of uint64, and bool); false if as double.
inline bool is_integer_like(ScalarType type) { return !is_floating(type); }

// Value of the element at `at`. load_integer() requires is_integer_like(); load_number() converts any real
// dtype: integers above 2^53 are rounded.
int64_t load_integer(const char* at, ScalarType type);
double load_any_number(const char* at, ScalarType type);  // the call of load_number()
inline double load_number(const char* at, ScalarType type) {
#ifndef __OPTIMIZE_SIZE__
  // The common dtypes without a call.
  if (type == ScalarType::Float) return *reinterpret_cast<const float*>(at);
  if (type == ScalarType::Double) return *reinterpret_cast<const double*>(at);
#endif
  return load_any_number(at, type);
}

// Stores a value: rounds once to the dtype, or wraps; bool stores value != 0. store_integer() of a floating
// dtype stores the rounded value.
void store_integer(char* at, ScalarType type, int64_t value);
void store_any_number(char* at, ScalarType type, double value);  // the call of store_number()
inline void store_number(char* at, ScalarType type, double value) {
#ifndef __OPTIMIZE_SIZE__
  if (type == ScalarType::Float) {
    *reinterpret_cast<float*>(at) = static_cast<float>(value);
    return;
  }
  if (type == ScalarType::Double) {
    *reinterpret_cast<double*>(at) = value;
    return;
  }
#endif
  store_any_number(at, type, value);
}

// The same for n elements, `stride` bytes apart.
void load_numbers(double* to, const char* from, ptrdiff_t stride, ScalarType type, size_t n);
void store_numbers(char* to, ptrdiff_t stride, ScalarType type, const double* from, size_t n);

// The same for complex dtypes; a real dtype has an imaginary part of 0, and stores the real part.
Complex<double> load_complex(const char* at, ScalarType type);
void store_complex(char* at, ScalarType type, Complex<double> value);

// The element as A, float or double. An element of dtype A needs no call.
template <class A>
inline A load_as(const char* at, ScalarType type) {
  if (type == scalar_type_of<A>) return *reinterpret_cast<const A*>(at);
  return static_cast<A>(load_number(at, type));
}
// The reverse; stores an A as the element's dtype.
template <class A>
inline void store_as(char* at, ScalarType type, A value) {
  if (type == scalar_type_of<A>) {
    *reinterpret_cast<A*>(at) = value;
  } else {
    store_number(at, type, static_cast<double>(value));
  }
}

// Negative, 0 or positive as a < b, a == b or a > b in PyTorch's order, where NaNs are equal and the largest.
int compare_elements(const char* a, const char* b, ScalarType type);

// True if the element is a floating NaN; false for all integers.
inline bool is_nan_element(const char* at, ScalarType type) {
  if (is_integer_like(type)) return false;
  const double value = load_number(at, type);
  return value != value;
}

}  // namespace rushlight::kernels
