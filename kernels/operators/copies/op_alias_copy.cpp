// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error alias_copy_out(KernelContext&, const Tensor& self, Tensor& out) {
  return copy_to_out(View::of(self), out);
}

}  // namespace rushlight::kernels
