// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/checks/sizes.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels {

// Conversion to the dtype and dim order of `out`; the requested memory format must describe it.
Error _to_copy_out(KernelContext& context, const Tensor& self, bool non_blocking,
                   std::optional<int64_t> memory_format, Tensor& out) {
  RL_TRY(check_blocking(non_blocking));
  const auto portable = [&] { return convert_to_out(View::of(self), out); };
  RL_TRY(backs::_to_copy_out(context, ConversionProblem{self, out}, portable));
  return check_memory_format(memory_format, out);
}

}  // namespace rushlight::kernels
