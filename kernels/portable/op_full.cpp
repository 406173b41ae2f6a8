// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/fill.h"
#include "kernels/shared/sizes.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error full_out(KernelContext&, Span<const int64_t> size, const Scalar& fill_value, Tensor& out) {
  RL_TRY(resize_to(out, size));
  return fill(out, fill_value);
}

}  // namespace rushlight::kernels
