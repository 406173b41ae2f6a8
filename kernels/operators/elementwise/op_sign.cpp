// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/math/arithmetic.h"
#include "kernels/math/complex_function.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kSignTypes =
    (selected_types("aten::sign.out") | selected_types("aten::sgn.out")) & ~types::kComplex;

// -1, 0 or 1; both zeros give 0. Without kKeepsNan, NaN gives 0, because it fails both comparisons.
// Selections instead of branches, so that compilers vectorize the loop.
template <bool kKeepsNan>
Error write_signs(const Tensor& self, const Tensor& out) {
  const auto sign = [](auto x) {
    using T = decltype(x);
    const T positive = x > T(0) ? T(1) : T(0);
    const T result = is_negative(x) ? static_cast<T>(-1) : positive;
    if constexpr (kKeepsNan && std::is_floating_point_v<T>) return x != x ? x : result;
    return result;
  };
  return elementwise<kSignTypes>(self.scalar_type(), out, sign, self);
}

}  // namespace

// NaN stays, as in ExecuTorch; PyTorch returns 0.
Error sign_out(KernelContext&, const Tensor& self, Tensor& out) { return write_signs<true>(self, out); }

// For complex values x / |x|, or 0 for 0.
Error sgn_out(KernelContext&, const Tensor& self, Tensor& out) {
  constexpr TypeSet kComplexTypes = selected_types("aten::sgn.out") & types::kComplex;
  if constexpr (kComplexTypes != 0) {
    if (contains(kComplexTypes, self.scalar_type())) {
      return short_complex_function<kComplexTypes, complex_sgn>(self, out);
    }
  }
  return write_signs<false>(self, out);
}

// True for -0.0 and for NaN with the sign bit set, too.
Error signbit_out(KernelContext&, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::signbit.out");
  RL_CHECK(out.scalar_type() == ScalarType::Bool, Error::InvalidType, "out: expected dtype bool, got %s",
           to_string(out.scalar_type()));
  const auto has_sign = [](auto x) {
    if constexpr (std::is_floating_point_v<decltype(x)>) return static_cast<bool>(std::signbit(x));
    return is_negative(x);
  };
  return elementwise<kTypes>(out, has_sign, self);
}

}  // namespace rushlight::kernels
