// SPDX-License-Identifier: BSD-3-Clause
// Average pooling in float32: planes by rows; otherwise PoolPieces divides the output into spans whose
// windows have one shape. 16-bit floats are converted, small planes as a whole.
#include <algorithm>

#include "kernels/backs/pool.h"
#include "kernels/host/pooling/converted_piece.h"
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

void average_floats(const PoolPiece& piece, float divisor) {
  const ukernel::PoolWindow& window = piece.window;
  const size_t size = window.rows * window.columns;
  const auto* x = static_cast<const float*>(piece.x);
  auto* y = static_cast<float*>(piece.y);
  // A window of contiguous elements, as in global pooling: one sum of a span.
  const bool run =
      window.column == 1 && (window.rows == 1 || window.row == static_cast<ptrdiff_t>(window.columns));
  if (piece.count == 1 && run) {
    *y = ukernel::sum_span(size, x) / divisor;
  } else {
    ukernel::average_pool(piece.count, window, divisor, x, y);
  }
}

// Adds the sums of the parts of a window, and divides once.
void average_converted(const PoolPiece& piece, ScalarType type, float divisor) {
  float sums[ConvertedPiece::kMostResults];
  size_t results = 0;
  ConvertedPiece(piece, type)
      .for_each_part(
          [&](size_t count) {
            results = count;
            std::fill_n(sums, count, 0.0f);
          },
          [&](const ConvertedRows& rows) {
            float part[ConvertedPiece::kMostResults];
            average_floats({results, rows.window, rows.x, part, nullptr, 0, 0, 0, 0}, 1);
            for (size_t i = 0; i < results; ++i) sums[i] += part[i];
          },
          [&](size_t first, size_t count) {
            for (size_t i = 0; i < count; ++i) sums[i] /= divisor;
            store_floats(static_cast<char*>(piece.y) + first * element_size(type), 1, type, sums, count);
          });
}

void average(KernelContext& context, const Pool& pool) {
  if (has_pool_planes(pool)) return pool_planes(context, pool, ukernel::average_pool_planes);
  const ScalarType type = pool.volume.type;
  PoolPieces(pool, context).for_each_piece([&](const PoolPiece& piece) {
    const size_t size = piece.window.rows * piece.window.columns;
    int64_t divisor = pool.divisor;
    if (divisor == 0) divisor = pool.counts_padding ? piece.padded : static_cast<int64_t>(size);
    // An empty window sums to 0, whatever it is divided by.
    const float by = size == 0 ? 1.0f : static_cast<float>(divisor);
    if (widens(type)) {
      average_converted(piece, type, by);
    } else {
      average_floats(piece, by);
    }
  });
}

}  // namespace

Error avg_pool2d(KernelContext& context, const AveragePoolProblem& problem) {
  const Pool pool = with_windows(problem.pool);
  if (!pool_converted_planes(context, pool, average)) average(context, pool);
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
