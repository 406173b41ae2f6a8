// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/sizes.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels {

Error clone_out(KernelContext& context, const Tensor& self, std::optional<int64_t> memory_format,
                Tensor& out) {
  const View source = View::of(self);
  RL_TRY(backs::clone_out(context, CopyProblem{source, out}, [&] { return copy_to_out(source, out); }));
  // The layout is that of `out`; the request is only checked.
  return check_memory_format(memory_format, out);
}

}  // namespace rushlight::kernels
