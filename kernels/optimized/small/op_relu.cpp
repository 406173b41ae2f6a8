// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/fallback.h"
#include "kernels/shared/view.h"
#include "kernels/ukernel/runs.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error relu_out(KernelContext& context, const Tensor& self, Tensor& out);

namespace optimized {

Error relu_out(KernelContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::relu.out");
  if (!all_of(kTypes, self, out)) RL_FALL_BACK("aten::relu.out", relu_out, context, self, out);
  RL_TRY(resize_out(out, self.sizes()));
  PairedLoops(View::of(out), View::of(self)).for_each_run([](char* to, const char* from, const auto& loop) {
    constexpr auto kAdjacent = static_cast<ptrdiff_t>(sizeof(float));
    const bool run = loop.target == kAdjacent && loop.source == kAdjacent;
    const size_t count = run ? static_cast<size_t>(loop.size) : 1;
    for (auto left = static_cast<size_t>(loop.size); left > 0; left -= count) {
      ukernel::rectify_run(reinterpret_cast<float*>(to), reinterpret_cast<const float*>(from), count);
      to += loop.target;
      from += loop.source;
    }
  });
  return Error::Ok;
}

}  // namespace optimized
}  // namespace rushlight::kernels
