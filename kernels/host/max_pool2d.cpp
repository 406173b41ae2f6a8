// SPDX-License-Identifier: BSD-3-Clause
// Max pooling, with and without indices. Without them, planes of float32 are computed by rows; otherwise
// PoolPieces divides the output into spans whose windows have one shape.
#include <algorithm>
#include <cmath>

#include "kernels/backs/pool.h"
#include "kernels/host/pooling/converted_piece.h"
#include "kernels/host/pooling/pool_pieces.h"
#include "kernels/host/pooling/pool_planes.h"

namespace rushlight::kernels::host {

namespace {

// Dispatches to the loop for the dtype.
void pool_piece(const PoolPiece& piece, const ukernel::PoolIndices& numbers, ScalarType type) {
  const auto pool = [&](auto loop, auto element) {
    using T = decltype(element);
    loop(piece.count, piece.window, numbers, static_cast<const T*>(piece.x), static_cast<T*>(piece.y),
         piece.index);
  };
  if (type == ScalarType::Float) return pool(ukernel::max_pool, float{});
  if (type == ScalarType::Char) return pool(ukernel::max_pool_i8, int8_t{});
  pool(ukernel::max_pool_u8, uint8_t{});
}

// Keeps the largest of the maxima of the parts of a window, in the order of max_pool(): a NaN replaces all,
// other values only smaller ones.
void pool_converted(const PoolPiece& piece, const ukernel::PoolIndices& numbers, ScalarType type) {
  float best[ConvertedPiece::kMostResults];
  int64_t index[ConvertedPiece::kMostResults];
  size_t done = 0;
  size_t results = 0;
  bool begins = true;
  ConvertedPiece(piece, type)
      .for_each_part(
          [&](size_t count) {
            results = count;
            begins = true;
            // An empty window.
            std::fill_n(best, count, -INFINITY);
            for (size_t i = 0; i < count; ++i) {
              index[i] = numbers.first + static_cast<int64_t>(done + i) * numbers.lane;
            }
          },
          [&](const ConvertedRows& rows) {
            float part[ConvertedPiece::kMostResults];
            int64_t at[ConvertedPiece::kMostResults];
            ukernel::PoolIndices here = numbers;
            here.first += static_cast<int32_t>(done) * numbers.lane +
                          static_cast<int32_t>(rows.first_row) * numbers.row +
                          static_cast<int32_t>(rows.first_column) * numbers.column;
            ukernel::max_pool(results, rows.window, here, rows.x, part, at);
            for (size_t i = 0; i < results; ++i) {
              if (!begins && !(part[i] > best[i]) && part[i] == part[i]) continue;
              best[i] = part[i];
              index[i] = at[i];
            }
            begins = false;
          },
          [&](size_t first, size_t count) {
            store_floats(static_cast<char*>(piece.y) + first * element_size(type), 1, type, best, count);
            if (piece.index != nullptr) std::copy_n(index, count, piece.index + first);
            done = first + count;
          });
}

void pool_all(KernelContext& context, const Pool& pool) {
  if (has_pool_planes(pool)) return pool_planes(context, pool, ukernel::max_pool_planes);
  const ScalarType type = pool.volume.type;
  // Indices are row-major positions in the plane: first element, steps down and across, and from window to
  // window.
  const Window& rows = pool.windows[1];
  const Window& columns = pool.windows[2];
  const auto width = static_cast<int32_t>(columns.in);
  const auto down = static_cast<int32_t>(rows.dilation) * width;
  const auto across = static_cast<int32_t>(columns.dilation);
  PoolPieces(pool, context).for_each_piece([&](const PoolPiece& piece) {
    const auto first = static_cast<int32_t>(piece.row * width + piece.column);
    const auto lane = static_cast<int32_t>(piece.apart);
    const ukernel::PoolIndices numbers{first, down, across, lane};
    if (widens(type)) {
      pool_converted(piece, numbers, type);
    } else {
      pool_piece(piece, numbers, type);
    }
  });
}

}  // namespace

Error max_pool2d(KernelContext& context, const MaxPoolProblem& problem) {
  Pool pool = make_pool(window_tiling, 2, problem.windows, problem.self, problem.out);
  if (problem.indices != nullptr) pool.indices = as_volume(*problem.indices, 2);
  if (!pool_converted_planes(context, pool, pool_all)) pool_all(context, pool);
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
