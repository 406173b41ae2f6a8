// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include "kernels/optimized/fast_convert.h"
#include "kernels/shared/sizes.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::optimized {

Error _to_copy_out(KernelContext& context, const Tensor& self, bool non_blocking,
                   std::optional<int64_t> memory_format, Tensor& out) {
  RL_TRY(check_blocking(non_blocking));
  RL_TRY(fast_convert_to_out(context, self, out));
  return check_memory_format(memory_format, out);
}

}  // namespace rushlight::kernels::optimized
