// SPDX-License-Identifier: BSD-3-Clause
// Average pooling of float32: planes by rows; otherwise PoolPieces divides the output into spans whose
// windows have one shape.
#include "kernels/backs/pool.h"
#include "kernels/host/pooling/pool_pieces.h"
#include "kernels/host/pooling/pool_planes.h"
#include "kernels/ukernel/reduce.h"

namespace rushlight::kernels::host {

namespace {

// An adaptive pool whose parts have one size is a pool of sliding windows.
Pool with_windows(const Pool& given) {
  Pool pool = given;
  if (given.tiling != adaptive_tiling) return pool;
  for (Window& window : pool.windows) {
    if (window.out == 0 || window.in % window.out != 0) return given;
    window.kernel = window.step = window.in / window.out;
  }
  pool.tiling = window_tiling;
  return pool;
}

}  // namespace

Error avg_pool2d(KernelContext& context, const AveragePoolProblem& problem) {
  const Pool pool = with_windows(problem.pool);
  if (has_pool_planes(pool)) {
    pool_planes(context, pool, ukernel::average_pool_plane);
    return Error::Ok;
  }
  PoolPieces(pool, context).for_each_piece([&](const PoolPiece& piece) {
    const ukernel::PoolWindow& window = piece.window;
    const auto* x = static_cast<const float*>(piece.x);
    auto* y = static_cast<float*>(piece.y);
    const size_t size = window.rows * window.columns;
    int64_t divisor = pool.divisor;
    if (divisor == 0) divisor = pool.counts_padding ? piece.padded : static_cast<int64_t>(size);
    // An empty window sums to 0, whatever it is divided by.
    const float by = size == 0 ? 1.0f : static_cast<float>(divisor);
    // A window of contiguous elements, as in global pooling: one sum of a span.
    const bool run =
        window.column == 1 && (window.rows == 1 || window.row == static_cast<ptrdiff_t>(window.columns));
    if (piece.count == 1 && run) {
      *y = ukernel::sum_span(size, x) / by;
    } else {
      ukernel::average_pool(piece.count, window, by, x, y);
    }
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
