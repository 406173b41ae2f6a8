// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/checks.h"
#include "kernels/shared/fill.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Dimensions that `out` has beyond those of a number have one element each.
Error scalar_tensor_out(KernelContext&, const Scalar& s, Tensor& out) {
  Shape shape;
  while (shape.dim < out.sizes().size()) shape.push(1);
  RL_TRY(resize_out(out, shape.span()));
  return fill(out, s);
}

}  // namespace rushlight::kernels
