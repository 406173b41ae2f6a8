// SPDX-License-Identifier: BSD-3-Clause
// The rows take the address of the function as their context, so two loops serve all functions.
#include "kernels/math/complex_function.h"

#include "kernels/walk/elementwise.h"

namespace rushlight::kernels {

namespace {

template <class Result>
using Unary = Result (*)(WideComplex);
using Binary = WideComplex (*)(WideComplex, WideComplex);

// Elements are converted to complex128 by run_elementwise() if they have another dtype.
const WideComplex& element(char* data, ptrdiff_t stride, size_t i) {
  return *reinterpret_cast<const WideComplex*>(data + static_cast<ptrdiff_t>(i) * stride);
}

template <class Result>
void unary_row(const void* function, char* const* pointers, const ptrdiff_t* strides, size_t n) {
  const auto f = *static_cast<const Unary<Result>*>(function);
  for (size_t i = 0; i < n; ++i) {
    *reinterpret_cast<Result*>(pointers[0] + static_cast<ptrdiff_t>(i) * strides[0]) =
        f(element(pointers[1], strides[1], i));
  }
}

void binary_row(const void* function, char* const* pointers, const ptrdiff_t* strides, size_t n) {
  const auto f = *static_cast<const Binary*>(function);
  for (size_t i = 0; i < n; ++i) {
    *reinterpret_cast<WideComplex*>(pointers[0] + static_cast<ptrdiff_t>(i) * strides[0]) =
        f(element(pointers[1], strides[1], i), element(pointers[2], strides[2], i));
  }
}

// Result is WideComplex, or double for measures like the modulus.
template <class Result>
Error run_unary(const Tensor& self, const Tensor& out, Unary<Result> f) {
  const Tensor* const inputs[] = {&self};
  return run_elementwise({inputs, 1}, out,
                         {self.scalar_type(), ScalarType::ComplexDouble, scalar_type_of<Result>,
                          Numbers::kRounded, unary_row<Result>, &f});
}

}  // namespace

Error complex_function(const Tensor& self, const Tensor& out, WideComplex (*f)(WideComplex)) {
  return run_unary(self, out, f);
}

Error complex_measure(const Tensor& self, const Tensor& out, double (*f)(WideComplex)) {
  return run_unary(self, out, f);
}

Error complex_function(ScalarType promoted, const Tensor& a, const Tensor& b, const Tensor& out,
                       WideComplex (*f)(WideComplex, WideComplex)) {
  const Tensor* const inputs[] = {&a, &b};
  return run_elementwise(
      {inputs, 2}, out,
      {promoted, ScalarType::ComplexDouble, ScalarType::ComplexDouble, Numbers::kExact, binary_row, &f});
}

}  // namespace rushlight::kernels
