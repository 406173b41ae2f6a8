// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/sizes.h"
#include "kernels/walk/fill.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error full_out(KernelContext&, Span<const int64_t> size, const Scalar& fill_value, Tensor& out) {
  RL_TRY(resize_to(out, size));
  return fill(out, fill_value);
}

}  // namespace rushlight::kernels
