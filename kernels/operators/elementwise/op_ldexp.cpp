// SPDX-License-Identifier: BSD-3-Clause
// ldexp: self * 2^other. Integer exponents multiply by exact powers of 2, in steps of which at most the last
// one rounds or overflows. Floating exponents compute 2^other first, in PyTorch's dtype for it, and overflow
// where PyTorch does.
#include <cmath>
#include <cstring>

#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "kernels/elements/promotion.h"
#include "kernels/math/complex_function.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// 2^exponent, rounded to `type`.
template <class T>
[[gnu::noinline]] T power_in(ScalarType type, T exponent) {
  if (type == ScalarType::Double) return static_cast<T>(std::exp2(static_cast<double>(exponent)));
  const float power = std::exp2(static_cast<float>(exponent));
  if (type == ScalarType::Half) return static_cast<T>(static_cast<float>(Half(power)));
  if (type == ScalarType::BFloat16) return static_cast<T>(static_cast<float>(BFloat16(power)));
  return static_cast<T>(power);
}

// 2^exponent for exponents from -1022 to 1023.
double exact_power(int32_t exponent) {
  const auto bits = static_cast<uint64_t>(static_cast<uint32_t>(exponent + 1023)) << 52;
  double power;
  std::memcpy(&power, &bits, sizeof(power));
  return power;
}

// The nearest of the limits if the exponent is beyond them.
template <class T>
int32_t bounded(T exponent, int32_t limit) {
  const T low = exponent < static_cast<T>(-limit) ? static_cast<T>(-limit) : exponent;
  return static_cast<int32_t>(low > static_cast<T>(limit) ? static_cast<T>(limit) : low);
}

// float32 is exact in double until it is rounded once. Beyond the limits results are 0 or infinite.
float scaled_by(float x, float exponent) {
  return static_cast<float>(static_cast<double>(x) * exact_power(bounded(exponent, 300)));
}

// One product would not do: exponents reach from -2098 to 2098. The steps down are shorter than the range of
// normal numbers by the 53 bits of a fraction, so that a result that the last step makes subnormal was exact.
double scaled_by(double x, double exponent) {
  int32_t left = bounded(exponent, 2200);
  for (int step = 0; step < 2; ++step) {
    const int32_t part = left > 1023 ? 1023 : (left < -1022 ? -969 : 0);
    x *= exact_power(part);
    left -= part;
  }
  return x * exact_power(left);
}

// The dtype of 2^other: that of `other`, except that an `other` of rank 0 is promoted with a floating `self`
// that is not float32.
ScalarType type_of_power(const Tensor& self, const Tensor& other) {
  const ScalarType type = self.scalar_type();
  const bool promotes = other.dim() == 0 && is_floating(type) && type != ScalarType::Float;
  return promotes ? promote_types(type, other.scalar_type()) : other.scalar_type();
}

WideComplex times_power(WideComplex x, WideComplex exponent) { return x * complex_exp2(exponent); }

// True if all elements have one exponent, which is raised once.
bool has_one_exponent(const Tensor& self, const Tensor& other) {
  return other.numel() == 1 && other.dim() <= self.dim();
}

template <TypeSet kComplex>
Error times_one_power(ScalarType type, const Tensor& self, const Tensor& other, const Tensor& out) {
  WideComplex exponent;
  RL_TRY(check_convertible(other.scalar_type()));
  convert_span(&exponent, 0, ScalarType::ComplexDouble, other.const_data_ptr(), 0, other.scalar_type(), 1);
  const WideComplex power = complex_exp2(exponent);
  const auto times = [&](auto element) {
    using T = typename decltype(element)::Element;
    return [factor = T(power)](T x) { return x * factor; };
  };
  return elementwise_for<kComplex, Signs::kIgnored>(type, out, times, self);
}

}  // namespace

// Integer exponents do not overflow in an intermediate result. A floating 2^other is rounded to its dtype and
// may overflow there, as in PyTorch.
Error ldexp_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  constexpr TypeSet kComplex = selected_types("aten::ldexp.out") & types::kComplex;
  if constexpr (kComplex != 0) {
    const ScalarType type = result_type(self, other);
    if (contains(kComplex, type)) {
      return has_one_exponent(self, other) ? times_one_power<kComplex>(type, self, other, out)
                                           : complex_function(type, self, other, out, times_power);
    }
  }
  constexpr TypeSet kTypes = selected_types("aten::ldexp.out") & types::kFloating;
  const bool whole = !is_floating(other.scalar_type());
  const ScalarType product =
      whole ? floating_type(self.scalar_type()) : floating_type(result_type(self, other));
  const ScalarType power_type = type_of_power(self, other);
  if (whole) {
    const auto scale = [](auto type) {
      using T = typename decltype(type)::Element;
      return [](T x, T exponent) { return scaled_by(x, exponent); };
    };
    return elementwise_for<kTypes, Signs::kMatter, Numbers::kExact>(product, out, scale, self, other);
  }
  if (has_one_exponent(self, other)) {
    RL_TRY(check_convertible(other.scalar_type()));
    double exponent;
    convert_span(&exponent, 0, ScalarType::Double, other.const_data_ptr(), 0, other.scalar_type(), 1);
    const double power = power_in(power_type, exponent);
    const auto times = [power](auto type) {
      using T = typename decltype(type)::Element;
      return [factor = static_cast<T>(power)](T x) { return x * factor; };
    };
    return elementwise_for<kTypes, Signs::kMatter, Numbers::kExact>(product, out, times, self);
  }
  const auto scale = [&](auto type) {
    using T = typename decltype(type)::Element;
    return [power_type](T x, T exponent) { return x * power_in(power_type, exponent); };
  };
  return elementwise_for<kTypes, Signs::kMatter, Numbers::kExact>(product, out, scale, self, other);
}

}  // namespace rushlight::kernels
