// SPDX-License-Identifier: BSD-3-Clause
// Rare and long functions, such as the special functions: computed in double for every dtype, so that each is
// compiled once and all share two loops. Results are rounded once; 16-bit results go through
// float32, in which PyTorch computes them:
//
//   return double_function<kTypes, airy>(self, out);
//
// Integers and bool are promoted to float32, as for all floating-point functions.
#pragma once

#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

using UnaryDouble = double (*)(double);
using BinaryDouble = double (*)(double, double);

// `types` is the set of dtypes of the operator. A float32 result is rounded once, a 16-bit one to float32
// first. Errors: as elementwise(); InvalidType if `out` is not floating. Cores without a float64 unit emulate
// the arithmetic.
template <class F>
struct DoubleFunction {
  F function;
  TypeSet types;
};
Error run_double(const DoubleFunction<UnaryDouble>& f, const Tensor& self, const Tensor& out);
Error run_double(const DoubleFunction<BinaryDouble>& f, const Tensor& a, const Tensor& b, const Tensor& out);

// With a scalar operand, which is rounded to the tensor's dtype as in PyTorch.
Error run_double(const DoubleFunction<BinaryDouble>& f, const Scalar& a, const Tensor& b, const Tensor& out);
Error run_double(const DoubleFunction<BinaryDouble>& f, const Tensor& a, const Scalar& b, const Tensor& out);

namespace internal {
template <TypeSet kTypes, class F, F kFunction>
inline constexpr DoubleFunction<F> kDoubleFunction = {kFunction, kTypes};
}  // namespace internal

// out = kFunction(self), element by element.
template <TypeSet kTypes, UnaryDouble kFunction>
Error double_function(const Tensor& self, const Tensor& out) {
  return run_double(internal::kDoubleFunction<kTypes, UnaryDouble, kFunction>, self, out);
}

// out = kFunction(a, b); one of the two may be a Scalar.
template <TypeSet kTypes, BinaryDouble kFunction, class A, class B>
Error double_function(const A& a, const B& b, const Tensor& out) {
  return run_double(internal::kDoubleFunction<kTypes, BinaryDouble, kFunction>, a, b, out);
}

}  // namespace rushlight::kernels
