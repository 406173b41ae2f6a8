// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/walk/fill.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error scalar_tensor_out(KernelContext&, const Scalar& s, Tensor& out) {
  RL_TRY(resize_out(out, {}));
  return fill(out, s);
}

}  // namespace rushlight::kernels
