// SPDX-License-Identifier: BSD-3-Clause
// Functions of one element: an operator's file only states its name and formula. The function is an empty
// function object with a template call operator, for instance a lambda without captures.
#pragma once

#include <cstring>
#include <type_traits>

#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "kernels/math/complex_function.h"
#include "kernels/walk/elementwise.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// A function that exists only for floating values: integers and bool compute in float32. 16-bit floats
// compute in float and round once. Errors: as elementwise(); InvalidType if `out` is not floating.
template <TypeSet kTypes, class F>
Error floating_function(const Tensor& self, const Tensor& out, F f) {
  return elementwise_floating<kTypes>(out, f, self);
}

// The same, with another function for complex values, which must be one of complex_math.h.
template <TypeSet kTypes, WideComplex (*kOfComplex)(WideComplex), class F>
Error floating_function(const Tensor& self, const Tensor& out, F f) {
  // Complex elements compute in complex128 and round once.
  if constexpr ((kTypes & types::kComplex) != 0) {
    if (contains(kTypes & types::kComplex, self.scalar_type()))
      return complex_function(self, out, kOfComplex);
  }
  return floating_function<kTypes>(self, out, f);
}

namespace internal {

// Applies F to floating elements and returns all others unchanged.
template <class F>
struct OfFractions : F {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) return F::operator()(x);
    return x;
  }
};

}  // namespace internal

// A function that rounds to integers (floor, ceil, trunc, round), so integer elements are unchanged and keep
// their dtype. Errors: as elementwise().
template <TypeSet kTypes, class F>
Error rounding_function(const Tensor& self, const Tensor& out, F f) {
  return elementwise<kTypes>(out, internal::OfFractions<F>{f}, self);
}

// A predicate of floating values, such as isnan. It is false for all other dtypes, and true for a complex
// value if it is true for one of its parts. InvalidType unless `out` is bool; other errors as elementwise().
template <TypeSet kTypes, class F>
Error classify(const Tensor& self, const Tensor& out, F f) {
  RL_CHECK(out.scalar_type() == ScalarType::Bool, Error::InvalidType, "out: expected dtype bool, got %s",
           to_string(out.scalar_type()));
  if (is_complex(self.scalar_type())) {
    // isnan, isinf and the like of a complex number ask either part, as in PyTorch.
    const auto either = [f](auto z) { return f(z.real) || f(z.imag); };
    return elementwise<(kTypes & types::kComplex)>(self.scalar_type(), out, either, self);
  }
  constexpr TypeSet kFloats = kTypes & types::kFloating;
  if (is_floating(self.scalar_type())) return elementwise<kFloats>(self.scalar_type(), out, f, self);
  if (!contains(kTypes, self.scalar_type())) return unsupported_type(self.scalar_type());
  // Other dtypes give false everywhere, whatever the elements.
  RL_TRY(resize_out(out, self.sizes()));
  if (out.numel() != 0) std::memset(out.mutable_data_ptr(), 0, out.nbytes());
  return Error::Ok;
}

}  // namespace rushlight::kernels
