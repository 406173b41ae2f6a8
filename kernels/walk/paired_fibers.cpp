// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/walk/paired_fibers.h"

#include "kernels/checks/checks.h"

namespace rushlight::kernels {

Error PairedFibers::plan(const Tensor& self, int64_t dim, const Tensor& out) {
  size_t fiber = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &fiber));
  RL_TRY(resize_out(out, self.sizes()));
  // Innermost first, so that the other axes merge.
  for (size_t i = static_cast<size_t>(self.dim()); i-- > 0;) {
    const size_t d = self.dim_order()[i];
    const Axis axis{static_cast<size_t>(self.sizes()[d]), byte_stride(self, d), byte_stride(out, d)};
    if (d == fiber) {
      fiber_ = axis;
    } else {
      others_.add(axis);
    }
  }
  // Addresses, not tensors: the plan must not outlive the call.
  input_ = self.const_data_ptr<char>();
  output_ = out.mutable_data_ptr<char>();
  return Error::Ok;
}

}  // namespace rushlight::kernels
