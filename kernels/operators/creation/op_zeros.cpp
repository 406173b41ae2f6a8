// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/sizes.h"
#include "kernels/walk/fill.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error zeros_out(KernelContext&, Span<const int64_t> size, Tensor& out) {
  RL_TRY(resize_to(out, size));
  return fill(out, 0);
}

}  // namespace rushlight::kernels
