// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/math/complex_view.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Pairs along the last dimension, which vanishes, become complex elements; in any dim order, as it is a copy.
Error view_as_complex_copy_out(KernelContext&, const Tensor& self, Tensor& out) {
  const ScalarType type = out.scalar_type();
  RL_CHECK(is_complex(type) && component_type(type) == self.scalar_type(), Error::InvalidType,
           "out: expected a complex dtype with parts of dtype %s, got %s", to_string(self.scalar_type()),
           to_string(type));
  const Span<const SizesType> sizes = self.sizes();
  RL_CHECK(!sizes.empty() && sizes[sizes.size() - 1] == 2, Error::InvalidArgument,
           "self: expected a last dimension of size 2");
  RL_TRY(resize_out(out, {sizes.data(), sizes.size() - 1}));
  return copy_view(as_real(View::of(out)), View::of(self));
}

}  // namespace rushlight::kernels
