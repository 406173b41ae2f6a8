// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/index/nonzero.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// The indices of all nonzero elements, in row-major order, [count, rank]. NaN is nonzero, -0 is not; a 0-dim
// tensor gives [0 or 1, 0]. Two passes: the first counts, so that `out` can be resized, the second writes the
// indices.
Error nonzero_out(KernelContext&, const Tensor& self, Tensor& out) {
  RL_CHECK(out.scalar_type() == ScalarType::Long, Error::InvalidType, "out: expected dtype int64, got %s",
           to_string(out.scalar_type()));
  const size_t count = count_set(self);
  const SizesType shape[] = {static_cast<SizesType>(count), static_cast<SizesType>(self.dim())};
  RL_TRY(resize_out(out, shape));
  write_set(self, count, out);  // not more, if `self` has changed since the count
  return Error::Ok;
}

}  // namespace rushlight::kernels
