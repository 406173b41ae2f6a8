// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/walk/fill.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error fill_scalar_out(KernelContext&, const Tensor& self, const Scalar& value, Tensor& out) {
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_TRY(resize_out(out, self.sizes()));
  return fill(out, value);
}

// The value is a source with strides of 0, converted as it is copied: it may have another dtype.
Error fill_tensor_out(KernelContext&, const Tensor& self, const Tensor& value, Tensor& out) {
  RL_CHECK(value.dim() == 0, Error::InvalidArgument, "value: expected rank 0, got %d",
           static_cast<int>(value.dim()));
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_TRY(resize_out(out, self.sizes()));
  View repeated = View::of(out);
  repeated.data = View::of(value).data;
  repeated.type = value.scalar_type();
  for (size_t d = 0; d < repeated.dim; ++d) repeated.strides[d] = 0;
  return copy_view(View::of(out), repeated);
}

}  // namespace rushlight::kernels
