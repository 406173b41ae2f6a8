// SPDX-License-Identifier: BSD-3-Clause
// torch.allclose for tests of kernels: elementwise in memory order, so both tensors must have the same
// strides.
#include "compat/detail/allclose.h"

#include <cmath>
#include <cstring>

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch::executor::native {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext;
using executorch::runtime::Error;

namespace {

struct Tolerance {
  double relative;
  double absolute;
  bool equal_nan;
};

template <class T>
bool is_close(T a, T b, const Tolerance& tolerance) {
  if constexpr (std::is_integral_v<T>) {
    return a == b;
  } else {
    // In double, so that differences of smaller types are not rounded to their precision.
    const auto x = static_cast<double>(a);
    const auto y = static_cast<double>(b);
    // Equal infinities too, whose difference would be NaN.
    if (x == y) return true;
    if (std::isnan(x) && std::isnan(y)) return tolerance.equal_nan;
    const double difference = std::fabs(x - y);
    return std::isfinite(difference) && difference <= tolerance.absolute + std::fabs(tolerance.relative * y);
  }
}

template <class T>
bool are_close(const Tensor& a, const Tensor& b, const Tolerance& tolerance) {
  const T* first = a.const_data_ptr<T>();
  const T* second = b.const_data_ptr<T>();
  for (ssize_t i = 0; i < a.numel(); ++i) {
    if (!is_close(first[i], second[i], tolerance)) return false;
  }
  return true;
}

}  // namespace

Tensor& allclose_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other, double rtol,
                     double atol, bool equal_nan, bool, Tensor& out) {
  ET_KERNEL_CHECK_MSG(context, self.scalar_type() == other.scalar_type(), InvalidArgument, out,
                      "self and other: expected the same dtype");
  ET_KERNEL_CHECK_MSG(context, self.sizes() == other.sizes() && self.strides() == other.strides(),
                      InvalidArgument, out, "self and other: expected the same shape and layout");
  ET_KERNEL_CHECK_MSG(context, out.scalar_type() == ScalarType::Bool && out.numel() == 1, InvalidArgument,
                      out, "out: expected one bool");
  ET_SWITCH_REALHBBF16_TYPES(self.scalar_type(), context, "allclose.out", CTYPE, [&] {
    *out.mutable_data_ptr<bool>() = are_close<CTYPE>(self, other, {rtol, atol, equal_nan});
  });
  return out;
}

Tensor& allclose_out(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan,
                     bool dummy_param, Tensor& out) {
  // As the official overload without a context: failure aborts.
  KernelRuntimeContext context;
  allclose_out(context, self, other, rtol, atol, equal_nan, dummy_param, out);
  ET_CHECK_MSG(context.failure_state() == Error::Ok, "allclose without a context: failed");
  return out;
}

}  // namespace torch::executor::native
