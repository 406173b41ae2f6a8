// SPDX-License-Identifier: BSD-3-Clause
// Rare and long functions, such as the special functions: computed in double for every dtype, so that each is
// compiled once and, in builds for size, all share two loops. Builds for speed have a
// loop for each, which short functions are inlined into. Results are rounded once; 16-bit results go through
// float32, in which PyTorch computes them:
//
//   return double_function<kTypes, airy>(self, out);
//
// Integers and bool are promoted to float32, as for all floating-point functions.
#pragma once

#include <type_traits>

#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "kernels/walk/elementwise.h"
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
#ifdef __OPTIMIZE_SIZE__
  return run_double(internal::kDoubleFunction<kTypes, UnaryDouble, kFunction>, self, out);
#else
  if (!contains(kTypes, self.scalar_type())) return unsupported_type(self.scalar_type());
  const auto f = [](auto x) { return static_cast<decltype(x)>(kFunction(static_cast<double>(x))); };
  return elementwise_long<kTypes>(out, f, self);
#endif
}

// out = kFunction(a, b); one of the two may be a Scalar.
template <TypeSet kTypes, BinaryDouble kFunction, class A, class B>
Error double_function(const A& a, const B& b, const Tensor& out) {
#ifndef __OPTIMIZE_SIZE__
  if constexpr (std::is_base_of_v<Tensor, A> && std::is_base_of_v<Tensor, B>) {
    const ScalarType type = result_type(a, b);
    if (!contains(kTypes, type)) return unsupported_type(type);
    const auto f = [](auto x, decltype(x) y) {
      return static_cast<decltype(x)>(kFunction(static_cast<double>(x), static_cast<double>(y)));
    };
    return elementwise_long<kTypes>(out, f, a, b);
  }
#endif
  return run_double(internal::kDoubleFunction<kTypes, BinaryDouble, kFunction>, a, b, out);
}

}  // namespace rushlight::kernels
