// SPDX-License-Identifier: BSD-3-Clause
// Max pooling, with and without indices. Without them, planes of float32 are computed by rows; otherwise
// PoolPieces divides the output into spans whose windows have one shape.
#include "kernels/backs/pool.h"
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

}  // namespace

Error max_pool2d(KernelContext& context, const MaxPoolProblem& problem) {
  const Window* windows = problem.windows;
  Pool pool = make_pool(window_tiling, 2, windows, problem.self, problem.out);
  if (problem.indices != nullptr) pool.indices = as_volume(*problem.indices, 2);
  if (has_pool_planes(pool)) {
    pool_planes(context, pool, ukernel::max_pool_plane);
    return Error::Ok;
  }
  // Indices are row-major positions in the plane: first element, steps down and across, and from window to
  // window.
  const auto width = static_cast<int32_t>(windows[1].in);
  const auto down = static_cast<int32_t>(windows[0].dilation) * width;
  const auto across = static_cast<int32_t>(windows[1].dilation);
  PoolPieces(pool, context).for_each_piece([&](const PoolPiece& piece) {
    const auto first = static_cast<int32_t>(piece.row * width + piece.column);
    const auto lane = static_cast<int32_t>(piece.apart);
    pool_piece(piece, {first, down, across, lane}, problem.type());
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
