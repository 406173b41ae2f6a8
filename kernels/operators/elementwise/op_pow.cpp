// SPDX-License-Identifier: BSD-3-Clause
// Powers. Floating values use std::pow, constant small exponents multiplications, integers binary
// exponentiation with wrapping products: at most 2 * 64 multiplications.
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/math/arithmetic.h"
#include "kernels/math/clamp.h"
#include "kernels/math/complex_function.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// For a constant exponent: small integers multiply directly, +-0.5 uses sqrt. Both are cheaper than std::pow.
// PyTorch takes no roots of float16: sqrt gives other results for -0 and -infinity.
template <class T>
T power_of(T x, T exponent, bool takes_roots) {
  if (exponent == T(2)) return x * x;
  if (exponent == T(3)) return x * x * x;
  if (takes_roots && exponent == T(0.5)) return std::sqrt(x);
  if (takes_roots && exponent == T(-0.5)) return T(1) / std::sqrt(x);
  if (exponent == T(-1)) return T(1) / x;
  if (exponent == T(-2)) return T(1) / (x * x);
  return std::pow(x, exponent);
}

// Binary exponentiation; overflow wraps. Negative exponents give the truncated fraction: 0, except for x = 1
// and x = -1.
template <class T>
T integer_power(T x, T exponent) {
  if (is_negative(exponent)) {
    if (x == T(1)) return x;
    if (x != static_cast<T>(-1)) return T(0);
    return (exponent & T(1)) != 0 ? x : T(1);
  }
  T result = 1;
  for (T left = exponent; left != 0; left = static_cast<T>(left >> 1)) {
    if ((left & T(1)) != 0) result = wrapping_multiply(result, x);
    x = wrapping_multiply(x, x);
  }
  return result;
}

template <class T>
// For bool 0^0 is true, and only false^true is false.
T power(T x, T exponent) {
  if constexpr (std::is_same_v<T, bool>) {
    return x || !exponent;
  } else if constexpr (std::is_integral_v<T>) {
    return integer_power(x, exponent);
  } else {
    return std::pow(x, exponent);
  }
}

// With a number as exponent, x^0 is 1 and x^1 is x, and with a number as base, 1^x is 1, also where the
// formula of complex_pow() gives NaN, as 0^0. PyTorch has no such rule for two tensors. Products and roots
// keep infinite parts.
WideComplex complex_power_of(WideComplex x, WideComplex exponent) {
  if (exponent == WideComplex(0.0)) return WideComplex(1.0);
  if (exponent == WideComplex(1.0)) return x;
  if (exponent == WideComplex(0.5)) return complex_sqrt(x);
  return complex_pow(x, exponent);
}
// The square or the cube, in the dtype of the elements.
template <TypeSet kTypes>
Error complex_product_of(ScalarType compute, const Tensor& self, bool is_cube, const Tensor& out) {
#ifdef __OPTIMIZE_SIZE__
  const auto product = [is_cube](auto x) { return is_cube ? x * x * x : x * x; };
  return elementwise<kTypes, Signs::kIgnored>(compute, out, product, self);
#else
  // A loop for each, without a test for each element.
  const auto square = [](auto x) { return x * x; };
  const auto cube = [](auto x) { return x * x * x; };
  return is_cube ? elementwise<kTypes, Signs::kIgnored>(compute, out, cube, self)
                 : elementwise<kTypes, Signs::kIgnored>(compute, out, square, self);
#endif
}
WideComplex complex_power_from(WideComplex base, WideComplex x) {
  return base == WideComplex(1.0) ? base : complex_pow(base, x);
}

// Unsigned types wider than 8 bits are left out: their powers are not supported.
template <TypeSet kTypes>
Error raise(ScalarType compute, const Tensor& self, const Tensor& exponent, Tensor& out,
            WideComplex (*of_complex)(WideComplex, WideComplex)) {
  if constexpr ((kTypes & types::kComplex) != 0) {
    if (is_complex(compute)) return complex_function(compute, self, exponent, out, of_complex);
  }
  return elementwise<(kTypes & ~types::kUnsignedWide & ~types::kComplex)>(
      compute, out, [](auto x, auto y) { return power(x, y); }, self, exponent);
}

}  // namespace

Error pow_Tensor_Tensor_out(KernelContext& context, const Tensor& self, const Tensor& exponent, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::pow.Tensor_Tensor_out") & ~types::kBool;
  const ScalarType compute = result_type(self, exponent);
  return backs::pow_Tensor_Tensor_out(context, BinaryProblem{compute, self, exponent, out}, [&] {
    return raise<kTypes>(compute, self, exponent, out, complex_pow);
  });
}

// A floating exponent of an integer tensor promotes to float32. A negative exponent of an integer is an error
// here, but not for tensors of exponents.
Error pow_Tensor_Scalar_out(KernelContext& context, const Tensor& self, const Scalar& exponent, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::pow.Tensor_Scalar_out");
  return backs::pow_Tensor_Scalar_out(context, PowerProblem{{self, out}, exponent.to<float>()}, [&] {
    const ScalarType compute = result_type(self, exponent);
    if constexpr ((kTypes & types::kComplex) != 0) {
      if (is_complex(compute)) {
        const double number = exponent.to<double>();
        if (number == 2 || number == 3) {
          return complex_product_of < kTypes & types::kComplex > (compute, self, number == 3, out);
        }
        return complex_function(compute, self, ScalarTensor(exponent, ScalarType::Double), out,
                                complex_power_of);
      }
    }
    if (is_floating(compute)) {
#ifndef __OPTIMIZE_SIZE__
      if (exponent.to<double>() == 2) {
        return elementwise<(kTypes & types::kFloating)>(compute, out, [](auto x) { return x * x; }, self);
      }
#endif
      // The exponent is one value, so its tests are the same for every element and predict well.
      const auto raised = [&](auto type) {
        using T = typename decltype(type)::Element;
        return [number = exponent.to<T>(), takes_roots = compute != ScalarType::Half](T x) {
          return power_of(x, number, takes_roots);
        };
      };
      return elementwise_for<(kTypes & types::kFloating)>(compute, out, raised, self);
    }
    RL_CHECK(exponent.to<int64_t>() >= 0, Error::InvalidArgument,
             "exponent: expected 0 at least for integers, got %ld",
             static_cast<long>(exponent.to<int64_t>()));
    RL_TRY(check_fits(exponent, compute, "exponent"));
    return raise<(kTypes & ~types::kFloating & ~types::kComplex)>(
        compute, self, ScalarTensor(exponent, compute), out, nullptr);
  });
}

// The base is not rounded to a 16-bit dtype.
Error pow_Scalar_out(KernelContext& context, const Scalar& self, const Tensor& exponent, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::pow.Scalar_out");
  return backs::pow_Scalar_out(context, PowerProblem{{exponent, out}, self.to<float>()}, [&] {
    const ScalarType compute = result_type(exponent, self);
    return raise<kTypes>(compute, ScalarTensor(self, computed_type(compute)), exponent, out,
                         complex_power_from);
  });
}

}  // namespace rushlight::kernels
