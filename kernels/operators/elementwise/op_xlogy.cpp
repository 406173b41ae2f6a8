// SPDX-License-Identifier: BSD-3-Clause
// x log y, x log(1 + y) and -x log x, which are 0 for x = 0 whatever log gives, and logarithms of sums of
// exponentials. The larger exponent is factored out of those sums, so that they do not overflow.
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/elements/promotion.h"
#include "kernels/math/complex_function.h"
#include "kernels/math/double_function.h"
#include "kernels/math/log_add.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// NaN in y wins over x = 0.
double xlogy(double x, double y) {
  if (std::isnan(y)) return y;
  return x == 0 ? 0.0 : x * std::log(y);
}

double xlog1py(double x, double y) {
  if (std::isnan(y)) return y;
  return x == 0 ? 0.0 : x * std::log1p(y);
}

// log2(2^a + 2^b), with the larger exponent factored out.
double logaddexp2(double a, double b) {
  constexpr double kLog2E = 1.44269504088896340736;
  // inf - inf is NaN.
  if (a == b && std::isinf(a)) return a;
  return (a < b ? b : a) + std::log1p(std::exp2(-std::fabs(a - b))) * kLog2E;
}

// -x log x, 0 for 0 and -inf below.
double entropy(double x) {
  if (x > 0) return -x * std::log(x);
  return x < 0 ? -HUGE_VAL : x * 0;  // x * 0 keeps NaN
}

}  // namespace

Error xlogy_out_tensor(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return double_function<selected_types("aten::xlogy.OutTensor"), xlogy>(self, other, out);
}

Error xlogy_out_scalar_self(KernelContext&, const Scalar& self, const Tensor& other, Tensor& out) {
  return double_function<selected_types("aten::xlogy.OutScalar_Self"), xlogy>(self, other, out);
}

Error xlogy_out_scalar_other(KernelContext&, const Tensor& self, const Scalar& other, Tensor& out) {
  return double_function<selected_types("aten::xlogy.OutScalar_Other"), xlogy>(self, other, out);
}

Error special_xlog1py_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return double_function<selected_types("aten::special_xlog1py.out"), xlog1py>(self, other, out);
}

Error special_xlog1py_self_scalar_out(KernelContext&, const Scalar& self, const Tensor& other, Tensor& out) {
  return double_function<selected_types("aten::special_xlog1py.self_scalar_out"), xlog1py>(self, other, out);
}

Error special_xlog1py_other_scalar_out(KernelContext&, const Tensor& self, const Scalar& other, Tensor& out) {
  return double_function<selected_types("aten::special_xlog1py.other_scalar_out"), xlog1py>(self, other, out);
}

Error logaddexp_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::logaddexp.out");
  const ScalarType type = result_type(self, other);
  if constexpr ((kTypes & types::kComplex) != 0) {
    if (contains(kTypes & types::kComplex, type)) {
      return complex_function(type, self, other, out, complex_log_add);
    }
  }
  return backs::logaddexp_out(context, BinaryProblem{type, self, other, out},
                              [&] { return double_function<kTypes, log_add>(self, other, out); });
}

Error logaddexp2_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::logaddexp2.out");
  return backs::logaddexp2_out(context, BinaryProblem{result_type(self, other), self, other, out},
                               [&] { return double_function<kTypes, logaddexp2>(self, other, out); });
}

Error special_entr_out(KernelContext&, const Tensor& self, Tensor& out) {
  return double_function<selected_types("aten::special_entr.out"), entropy>(self, out);
}

}  // namespace rushlight::kernels
