// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/reduction/truth.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::any.out") | selected_types("aten::any.dims_out") |
                           selected_types("aten::any.all_out");

// True if some element is not 0; NaN counts as true. No elements give false.
Error any(const Tensor& self, const DimList& dims, bool keepdim, Tensor& out) {
  return reduce_truth(kTypes, self, dims, keepdim, true, out);
}

}  // namespace

Error any_out(KernelContext&, const Tensor& self, int64_t dim, bool keepdim, Tensor& out) {
  return any(self, Span<const int64_t>(&dim, 1), keepdim, out);
}

// Unlike in sum, an empty `dim` reduces no dimension.
Error any_dims_out(KernelContext&, const Tensor& self, std::optional<Span<const int64_t>> dim, bool keepdim,
                   Tensor& out) {
  return any(self, dim, keepdim, out);
}

Error any_all_out(KernelContext&, const Tensor& self, Tensor& out) {
  return any(self, std::nullopt, false, out);
}

}  // namespace rushlight::kernels
