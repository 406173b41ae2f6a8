// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/extremum.h"

namespace rushlight::kernels {

Error check_not_empty(const Tensor& self, const DimList& dims) {
  uint32_t mask = 0;
  RL_TRY(dim_mask(dims, self.dim(), &mask));
  for (size_t d = 0; d < static_cast<size_t>(self.dim()); ++d) {
    RL_CHECK((mask >> d & 1u) == 0 || self.sizes()[d] != 0, Error::InvalidArgument,
             "self: dimension %lu, which is reduced, has no element", log_number(d));
  }
  return Error::Ok;
}

Shape reduced_shape(const Tensor& self, size_t dim, bool keepdim) {
  Shape shape;
  for (size_t d = 0; d < static_cast<size_t>(self.dim()); ++d) {
    if (d != dim) shape.push(self.sizes()[d]);
    if (d == dim && keepdim) shape.push(1);
  }
  return shape;
}

View with_reduced_dim(const Tensor& out, size_t dim, const Tensor& self, bool keepdim) {
  View view = View::of(out);
  if (!keepdim || self.dim() == 0) view.insert(dim, 1, 0);
  return view;
}

}  // namespace rushlight::kernels
