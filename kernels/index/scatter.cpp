// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/index/scatter.h"

#include "kernels/checks/checks.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels {

Error Scatter::plan(const Tensor& self, int64_t dim, const Tensor& index, const Tensor* src,
                    const Tensor& out) {
  RL_TRY(normalize_dim(dim, self.dim(), &this->dim));
  this->index = at_least_1d(index);
  // An empty index may have any dtype and shape, as in PyTorch.
  if (index.numel() > 0) {
    RL_TRY(check_index_dtype(index));
    RL_TRY(check_index_shape(this->index, at_least_1d(self), this->dim, "self"));
  }
  if (src != nullptr) {
    RL_TRY(check_same_dtype(self, *src, "self and src"));
    source = at_least_1d(*src);
    if (index.numel() > 0) RL_TRY(check_index_shape(this->index, source, kNoDimension, "src"));
  }
  // The copy follows all checks of shapes; indices are checked while they are used.
  RL_TRY(copy_to_out(View::of(self), out));
  target = at_least_1d(out);
  return Error::Ok;
}

}  // namespace rushlight::kernels
