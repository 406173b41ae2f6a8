// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/fill.h"
#include "kernels/shared/sizes.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error full_out(KernelContext&, Span<const int64_t> size, const Scalar& fill_value, Tensor& out) {
  Shape shape;
  RL_TRY(read_sizes(size, &shape));
  RL_TRY(resize_out(out, shape.span()));
  return fill(out, fill_value);
}

}  // namespace rushlight::kernels
