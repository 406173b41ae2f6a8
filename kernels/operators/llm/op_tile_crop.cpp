// SPDX-License-Identifier: BSD-3-Clause
// Cuts an image [channels, height, width] into square tiles [tiles, channels, size, size], row by row, as
// vision-language models take them. One strided copy for each tile.
#include "kernels/checks/checks.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error tile_crop_out(KernelContext&, const Tensor& input, int64_t tile_size, Tensor& out) {
  RL_TRY(check_same_dtype(input, out, "input and out"));
  RL_CHECK(input.dim() == 3, Error::InvalidArgument, "input: expected 3 dimensions, got %ld",
           static_cast<long>(input.dim()));
  const ptrdiff_t height = input.size(1);
  const ptrdiff_t width = input.size(2);
  RL_CHECK(tile_size > 0 && height % tile_size == 0 && width % tile_size == 0, Error::InvalidArgument,
           "tile_size: expected a divisor of height %ld and width %ld, got %ld", static_cast<long>(height),
           static_cast<long>(width), static_cast<long>(tile_size));
  const auto size = static_cast<ptrdiff_t>(tile_size);
  const ptrdiff_t rows = height / size;
  const ptrdiff_t columns = width / size;
  Shape shape;
  for (const ptrdiff_t each : {rows * columns, input.size(0), size, size}) shape.push(each);
  RL_TRY(resize_out(out, shape.span()));
  for (ptrdiff_t tile = 0; tile < rows * columns; ++tile) {
    const View source =
        View::of(input).slice(1, tile / columns * size, size).slice(2, tile % columns * size, size);
    RL_TRY(copy_view(View::of(out).select(0, tile), source));
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
