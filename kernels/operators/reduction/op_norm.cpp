// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/reduction/norm.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/scalar.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::norm.out") | selected_types("aten::norm.dtype_out") |
                           selected_types("aten::norm.Scalar_out") |
                           selected_types("aten::norm.ScalarOpt_dtype_out");

// None means the Euclidean norm.
double order(const std::optional<Scalar>& p) { return p ? p->to<double>() : 2; }

}  // namespace

Error norm_out(KernelContext&, const Tensor& self, const std::optional<Scalar>& p, Span<const int64_t> dim,
               bool keepdim, Tensor& out) {
  return norm_over(kTypes, self, order(p), all_if_empty(dim), keepdim, std::nullopt, out);
}

Error norm_dtype_out(KernelContext&, const Tensor& self, const std::optional<Scalar>& p,
                     Span<const int64_t> dim, bool keepdim, int64_t dtype, Tensor& out) {
  return norm_over(kTypes, self, order(p), all_if_empty(dim), keepdim, dtype, out);
}

Error norm_Scalar_out(KernelContext&, const Tensor& self, const Scalar& p, Tensor& out) {
  return norm_over(kTypes, self, p.to<double>(), std::nullopt, false, std::nullopt, out);
}

Error norm_ScalarOpt_dtype_out(KernelContext&, const Tensor& self, const std::optional<Scalar>& p,
                               int64_t dtype, Tensor& out) {
  return norm_over(kTypes, self, order(p), std::nullopt, false, dtype, out);
}

}  // namespace rushlight::kernels
