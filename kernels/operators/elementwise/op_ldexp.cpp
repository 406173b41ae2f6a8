// SPDX-License-Identifier: BSD-3-Clause
// ldexp: self * 2^other. Integer exponents use std::ldexp, which forms no power of 2 that could overflow.
// Floating exponents compute 2^other first, in PyTorch's dtype for it, and overflow where PyTorch does.
#include <cmath>

#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "kernels/math/complex_function.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// 2^exponent, rounded to `type`.
template <class T>
T power_in(ScalarType type, T exponent) {
  if (type == ScalarType::Double) return static_cast<T>(std::exp2(static_cast<double>(exponent)));
  const float power = std::exp2(static_cast<float>(exponent));
  if (type == ScalarType::Half) return static_cast<T>(static_cast<float>(Half(power)));
  if (type == ScalarType::BFloat16) return static_cast<T>(static_cast<float>(BFloat16(power)));
  return static_cast<T>(power);
}

// Limits an exponent to an int: std::ldexp takes no other, and beyond these limits the result is 0 or
// infinite anyway.
template <class T>
int bounded(T exponent) {
  constexpr int kAllDigits = 5000;  // exceeds the exponent range of double, subnormals included
  return exponent < -kAllDigits ? -kAllDigits
                                : (exponent > kAllDigits ? kAllDigits : static_cast<int>(exponent));
}

// The dtype of 2^other: that of `other`, except that an `other` of rank 0 is promoted with a floating `self`
// that is not float32.
ScalarType type_of_power(const Tensor& self, const Tensor& other) {
  const ScalarType type = self.scalar_type();
  const bool promotes = other.dim() == 0 && is_floating(type) && type != ScalarType::Float;
  return promotes ? promote_types(type, other.scalar_type()) : other.scalar_type();
}

WideComplex times_power(WideComplex x, WideComplex exponent) { return x * complex_exp2(exponent); }

}  // namespace

// Integer exponents do not overflow in an intermediate result. A floating 2^other is rounded to its dtype and
// may overflow there, as in PyTorch.
Error ldexp_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  constexpr TypeSet kComplex = selected_types("aten::ldexp.out") & types::kComplex;
  if constexpr (kComplex != 0) {
    const ScalarType type = result_type(self, other);
    if (contains(kComplex, type)) return complex_function(type, self, other, out, times_power);
  }
  constexpr TypeSet kTypes = selected_types("aten::ldexp.out") & types::kFloating;
  const bool whole = !is_floating(other.scalar_type());
  const ScalarType product =
      whole ? floating_type(self.scalar_type()) : floating_type(result_type(self, other));
  const ScalarType power_type = type_of_power(self, other);
  const auto scale = [&](auto type) {
    using T = typename decltype(type)::Element;
    return [whole, power_type](T x, T exponent) {
      return whole ? std::ldexp(x, bounded(exponent)) : x * power_in(power_type, exponent);
    };
  };
  return elementwise_for<kTypes, Signs::kMatter, Numbers::kExact>(product, out, scale, self, other);
}

}  // namespace rushlight::kernels
