// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/reduction/truth.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("aten::all.out") | selected_types("aten::all.dims_out") |
                           selected_types("aten::all.all_out");

// True if no element is 0; NaN counts as true. No elements give true. `out` may be uint8, as in PyTorch for
// uint8 inputs.
Error all(const Tensor& self, const DimList& dims, bool keepdim, Tensor& out) {
  return reduce_truth(kTypes, self, dims, keepdim, false, out);
}

}  // namespace

Error all_out(KernelContext&, const Tensor& self, int64_t dim, bool keepdim, Tensor& out) {
  return all(self, Span<const int64_t>(&dim, 1), keepdim, out);
}

// Unlike in sum, an empty `dim` reduces no dimension.
Error all_dims_out(KernelContext&, const Tensor& self, std::optional<Span<const int64_t>> dim, bool keepdim,
                   Tensor& out) {
  return all(self, dim, keepdim, out);
}

Error all_all_out(KernelContext&, const Tensor& self, Tensor& out) {
  return all(self, std::nullopt, false, out);
}

}  // namespace rushlight::kernels
