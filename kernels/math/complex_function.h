// SPDX-License-Identifier: BSD-3-Clause
// Elementwise functions of complex tensors: one loop for each arity, with the function as a pointer. Short
// functions have separate loops. Computes in complex128 and rounds once to the dtype of the operation.
#pragma once

#include "kernels/math/complex_math.h"
#include "kernels/walk/elementwise.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = f(self), with complex (complex_function) or real (complex_measure) results. Any dim order.
// Precondition: `self` is complex. Errors as run_elementwise().
Error complex_function(const Tensor& self, const Tensor& out, WideComplex (*f)(WideComplex));
Error complex_measure(const Tensor& self, const Tensor& out, double (*f)(WideComplex));

// out = f(a, b), which broadcast. `promoted` is complex; the inputs may be real. A 0-dim input is not rounded
// to the promoted dtype first.
Error complex_function(ScalarType promoted, const Tensor& a, const Tensor& b, const Tensor& out,
                       WideComplex (*f)(WideComplex, WideComplex));

// The same for inline functions of a few operations, which builds for speed compile into a vector loop for
// each dtype.
template <TypeSet kTypes, WideComplex (*kFunction)(WideComplex)>
Error short_complex_function(const Tensor& self, const Tensor& out) {
#ifdef __OPTIMIZE_SIZE__
  return complex_function(self, out, kFunction);
#else
  const auto f = [](auto z) { return static_cast<decltype(z)>(kFunction(static_cast<WideComplex>(z))); };
  return elementwise<(kTypes & types::kComplex), Signs::kIgnored>(self.scalar_type(), out, f, self);
#endif
}
template <TypeSet kTypes, WideComplex (*kFunction)(WideComplex, WideComplex)>
Error short_complex_function(ScalarType promoted, const Tensor& a, const Tensor& b, const Tensor& out) {
#ifdef __OPTIMIZE_SIZE__
  return complex_function(promoted, a, b, out, kFunction);
#else
  const auto f = [](auto x, decltype(x) y) {
    return static_cast<decltype(x)>(kFunction(static_cast<WideComplex>(x), static_cast<WideComplex>(y)));
  };
  return elementwise<(kTypes & types::kComplex), Signs::kIgnored, Numbers::kExact>(promoted, out, f, a, b);
#endif
}

}  // namespace rushlight::kernels
