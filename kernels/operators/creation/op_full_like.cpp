// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/sizes.h"
#include "kernels/walk/fill.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error full_like_out(KernelContext&, const Tensor& self, const Scalar& fill_value,
                    std::optional<int64_t> memory_format, Tensor& out) {
  RL_TRY(resize_out(out, self.sizes()));
  RL_TRY(check_memory_format(memory_format, out));
  return fill(out, fill_value);
}

}  // namespace rushlight::kernels
