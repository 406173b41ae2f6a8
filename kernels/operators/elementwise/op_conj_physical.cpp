// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/math/complex_view.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Real values are copied unchanged.
Error conj_physical_out(KernelContext&, const Tensor& self, Tensor& out) {
  RL_TRY(copy_to_out(View::of(self), out));
  if (is_complex(self.scalar_type())) conjugate(out);
  return Error::Ok;
}

}  // namespace rushlight::kernels
