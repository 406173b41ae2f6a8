// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/sizes.h"
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error _to_copy_out(KernelContext&, const Tensor& self, bool non_blocking,
                   std::optional<int64_t> memory_format, Tensor& out) {
  RL_TRY(check_blocking(non_blocking));
  RL_TRY(convert_to_out(View::of(self), out));
  return check_memory_format(memory_format, out);
}

}  // namespace rushlight::kernels
