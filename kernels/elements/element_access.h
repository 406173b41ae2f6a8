// SPDX-License-Identifier: BSD-3-Clause
// Single elements of any real dtype, for kernels that are called rarely: they are compiled once, not
// for every dtype, and pay with a switch for each element. Callers have checked that the dtype is in
// this build: selected_types() of the operator contains it.
#pragma once

#include <cstdint>

#include "runtime/base/error.h"
#include "runtime/tensor/complex.h"
#include "runtime/tensor/scalar_type.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// InvalidType unless the dtype is real and in this build: some selected operator takes it.
Error check_loadable(const Tensor& tensor);

// Whether elements are taken as int64 (integers, of uint64 the bits, and bool); others as double.
inline bool is_counted(ScalarType type) { return !is_floating(type); }

int64_t load_integer(const char* at, ScalarType type);
double load_number(const char* at, ScalarType type);

// Rounds once, or wraps; a number stored as bool is whether it differs from 0.
void store_integer(char* at, ScalarType type, int64_t value);
void store_number(char* at, ScalarType type, double value);

// The same of complex numbers; those of real dtypes have no imaginary part.
Complex<double> load_complex(const char* at, ScalarType type);
void store_complex(char* at, ScalarType type, Complex<double> value);

// As a number of type A, float or double. Elements of that type take no call.
template <class A>
inline A load_as(const char* at, ScalarType type) {
  if (type == scalar_type_of<A>) return *reinterpret_cast<const A*>(at);
  return static_cast<A>(load_number(at, type));
}
template <class A>
inline void store_as(char* at, ScalarType type, A value) {
  if (type == scalar_type_of<A>) {
    *reinterpret_cast<A*>(at) = value;
  } else {
    store_number(at, type, static_cast<double>(value));
  }
}

// Negative, 0 or positive as a < b, a == b or a > b in PyTorch's order, where NaN is the largest number
// and all are equal.
int compare_elements(const char* a, const char* b, ScalarType type);

bool is_nan_element(const char* at, ScalarType type);

}  // namespace rushlight::kernels
