// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/fallback.h"
#include "kernels/optimized/float_pool.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error _adaptive_avg_pool2d_out(KernelContext& context, const Tensor& self, Span<const int64_t> output_size,
                               Tensor& out);
Error adaptive_avg_pool2d_out(KernelContext& context, const Tensor& self, Span<const int64_t> output_size,
                              Tensor& out);

namespace optimized {

namespace {

Error pool_to(KernelContext& context, const Tensor& self, Span<const int64_t> output_size,
              const Tensor& out) {
  Window windows[kVolume];
  RL_TRY(plan_adaptive(self, output_size, 2, windows));
  RL_TRY(resize_out(out, pooled_shape(self, {windows, 2}).span()));
  if (out.numel() != 0) average_floats(context, make_pool(adaptive_tiling, 2, windows, self, out));
  return Error::Ok;
}

}  // namespace

Error _adaptive_avg_pool2d_out(KernelContext& context, const Tensor& self, Span<const int64_t> output_size,
                               Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::_adaptive_avg_pool2d.out");
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::_adaptive_avg_pool2d.out", _adaptive_avg_pool2d_out, context, self, output_size, out);
  }
  return pool_to(context, self, output_size, out);
}

Error adaptive_avg_pool2d_out(KernelContext& context, const Tensor& self, Span<const int64_t> output_size,
                              Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::adaptive_avg_pool2d.out");
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::adaptive_avg_pool2d.out", adaptive_avg_pool2d_out, context, self, output_size, out);
  }
  return pool_to(context, self, output_size, out);
}

}  // namespace optimized

}  // namespace rushlight::kernels
