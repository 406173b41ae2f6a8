// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/pool.h"
#include "kernels/host/float_pool.h"

namespace rushlight::kernels::host {

Error max_pool2d_with_indices(KernelContext& context, const MaxPoolProblem& problem) {
  const Window* windows = problem.windows;
  Pool pool = make_pool(window_tiling, 2, windows, problem.self, problem.out);
  pool.indices = as_volume(problem.indices, 2);
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

}  // namespace rushlight::kernels::host
