// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include "kernels/optimized/fallback.h"
#include "kernels/optimized/float_pool.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error avg_pool2d_out(KernelContext& context, const Tensor& self, Span<const int64_t> kernel_size,
                     Span<const int64_t> stride, Span<const int64_t> padding, bool ceil_mode,
                     bool count_include_pad, std::optional<int64_t> divisor_override, Tensor& out);

namespace optimized {

Error avg_pool2d_out(KernelContext& context, const Tensor& self, Span<const int64_t> kernel_size,
                     Span<const int64_t> stride, Span<const int64_t> padding, bool ceil_mode,
                     bool count_include_pad, std::optional<int64_t> divisor_override, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::avg_pool2d.out");
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::avg_pool2d.out", avg_pool2d_out, context, self, kernel_size, stride, padding,
                 ceil_mode, count_include_pad, divisor_override, out);
  }
  RL_CHECK(divisor_override.value_or(1) != 0, Error::InvalidArgument, "divisor_override: must not be 0");
  const int64_t no_dilation = 1;
  Window windows[2];
  RL_TRY(plan_windows(self, {kernel_size, stride, padding, {&no_dilation, 1}, ceil_mode}, 2, windows));
  RL_TRY(resize_out(out, pooled_shape(self, windows).span()));
  Pool pool = make_pool(window_tiling, 2, windows, self, out);
  pool.divisor = divisor_override.value_or(0);
  pool.counts_padding = count_include_pad;
  average_floats(context, pool);
  return Error::Ok;
}

}  // namespace optimized

}  // namespace rushlight::kernels
