// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/math/complex_view.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Real and imaginary parts in a new last dimension of size 2.
Error view_as_real_copy_out(KernelContext&, const Tensor& self, Tensor& out) {
  RL_CHECK(is_complex(self.scalar_type()), Error::InvalidType, "self: expected a complex dtype, got %s",
           to_string(self.scalar_type()));
  RL_CHECK(is_floating(out.scalar_type()), Error::InvalidType, "out: expected a floating dtype, got %s",
           to_string(out.scalar_type()));
  RL_CHECK(self.sizes().size() < kTensorDimensionLimit, Error::InvalidArgument,
           "self: expected at most %d dimensions, got %d", static_cast<int>(kTensorDimensionLimit) - 1,
           static_cast<int>(self.dim()));
  return convert_to_out(as_real(View::of(self)), out);
}

}  // namespace rushlight::kernels
