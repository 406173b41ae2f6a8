// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/fallback.h"
#include "kernels/optimized/float_pool.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error max_pool2d_with_indices_out(KernelContext& context, const Tensor& self, Span<const int64_t> kernel_size,
                                  Span<const int64_t> stride, Span<const int64_t> padding,
                                  Span<const int64_t> dilation, bool ceil_mode, Tensor& out, Tensor& indices);

namespace optimized {

Error max_pool2d_with_indices_out(KernelContext& context, const Tensor& self, Span<const int64_t> kernel_size,
                                  Span<const int64_t> stride, Span<const int64_t> padding,
                                  Span<const int64_t> dilation, bool ceil_mode, Tensor& out,
                                  Tensor& indices) {
  constexpr TypeSet kTypes = selected_types("aten::max_pool2d_with_indices.out");
  if (!all_of(kTypes, self, out)) {
    RL_FALL_BACK("aten::max_pool2d_with_indices.out", max_pool2d_with_indices_out, context, self, kernel_size,
                 stride, padding, dilation, ceil_mode, out, indices);
  }
  RL_CHECK(indices.scalar_type() == ScalarType::Long, Error::InvalidType,
           "indices: expected dtype int64, got %s", to_string(indices.scalar_type()));
  Window windows[2];
  RL_TRY(plan_windows(self, {kernel_size, stride, padding, dilation, ceil_mode}, 2, windows));
  const Shape shape = pooled_shape(self, windows);
  RL_TRY(resize_out(out, shape.span()));
  RL_TRY(resize_out(indices, shape.span()));
  Pool pool = make_pool(window_tiling, 2, windows, self, out);
  pool.indices = as_volume(indices, 2);
  const auto width = static_cast<int32_t>(windows[1].in);
  const auto down = static_cast<int32_t>(windows[0].dilation) * width;
  const auto across = static_cast<int32_t>(windows[1].dilation);
  FloatPool(pool, context).for_each_piece([&](const PoolPiece& piece) {
    const auto first = static_cast<int32_t>(piece.row * width + piece.column);
    const auto lane = static_cast<int32_t>(piece.apart);
    ukernel::max_pool(piece.count, piece.window, {first, down, across, lane}, piece.x, piece.y, piece.index);
  });
  return Error::Ok;
}

}  // namespace optimized

}  // namespace rushlight::kernels
