// SPDX-License-Identifier: BSD-3-Clause
// Sampling grids of affine maps, the input of grid_sampler: each output position, in coordinates from -1 to
// 1, is multiplied by a 2 x 3 or 3 x 4 matrix, [N, spatial, spatial + 1]; the last column is the translation.
// Coordinates are recomputed at each position: no scratch for a base grid.
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/held_access.h"
#include "kernels/geometry/spatial.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// The coordinate of an element's center in a dimension that spans [-1, 1]. With align_corners the outermost
// centers are at -1 and 1. The numerator is an integer, so there is one rounding.
template <class W>
W coordinate_of(ptrdiff_t index, ptrdiff_t size, bool align_corners) {
  if (size <= 1) return 0;
  const W at = static_cast<W>(2 * index - (size - 1));
  return at / static_cast<W>(align_corners ? size - 1 : size);
}

template <class W>
void fill_grid(const Tensor& theta, Span<const int64_t> size, bool align_corners, const Tensor& out) {
  const size_t spatial = size.size() - 2;
  const View matrices = View::of(theta);  // [N, spatial, spatial + 1]
  View grid = View::of(out);              // [N, D, H, W, spatial]
  if (spatial == 2) grid.insert(1, 1, 0);
  const Access<W> access = access_as<W>(theta.scalar_type());
  const auto dims = static_cast<ptrdiff_t>(spatial);
  ptrdiff_t at[4];
  for (at[0] = 0; at[0] < grid.sizes[0]; ++at[0]) {
    for (at[1] = 0; at[1] < grid.sizes[1]; ++at[1]) {
      for (at[2] = 0; at[2] < grid.sizes[2]; ++at[2]) {
        for (at[3] = 0; at[3] < grid.sizes[3]; ++at[3]) {
          char* target = grid.data;
          for (size_t d = 0; d < 4; ++d) target += at[d] * grid.strides[d];
          for (ptrdiff_t i = 0; i < dims; ++i, target += grid.strides[4]) {
            const char* row = matrices.data + at[0] * matrices.strides[0] + i * matrices.strides[1];
            // The translation first, then the products.
            W sum = access.load(row + dims * matrices.strides[2]);
            for (ptrdiff_t j = 0; j < dims; ++j) {
              const auto d = static_cast<size_t>(3 - j);  // x comes first
              sum += access.load(row + j * matrices.strides[2]) *
                     coordinate_of<W>(at[d], grid.sizes[d], align_corners);
            }
            access.store(target, sum);
          }
        }
      }
    }
  }
}

}  // namespace

Error affine_grid_generator_out(KernelContext&, const Tensor& theta, Span<const int64_t> size,
                                bool align_corners, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::affine_grid_generator.out");
  RL_TRY(check_same_dtype(theta, out, "theta and out"));
  RL_CHECK(size.size() == 4 || size.size() == 5, Error::InvalidArgument,
           "size: expected 4 or 5 sizes, got %lu", log_number(size.size()));
  const auto spatial = static_cast<int64_t>(size.size() - 2);
  RL_CHECK(theta.dim() == 3 && theta.size(0) == size[0] && theta.size(1) == spatial &&
               theta.size(2) == spatial + 1,
           Error::InvalidArgument, "theta: expected shape [%ld, %ld, %ld]", static_cast<long>(size[0]),
           static_cast<long>(spatial), static_cast<long>(spatial + 1));
  Shape shape;
  shape.push(static_cast<ptrdiff_t>(size[0]));
  for (size_t d = 2; d < size.size(); ++d) {
    // 2 * index in coordinate_of() then fits in 32 bits.
    RL_CHECK(size[d] >= 1 && size[d] <= kSpatialLimit / 2, Error::InvalidArgument,
             "size: expected 1 at least, got %ld", static_cast<long>(size[d]));
    shape.push(static_cast<ptrdiff_t>(size[d]));
  }
  shape.push(static_cast<ptrdiff_t>(spatial));
  RL_TRY(resize_out(out, shape.span()));
  if (!contains(kTypes, theta.scalar_type())) return unsupported_type(theta.scalar_type());
  return dispatch<floating_compute_types(kTypes)>(
      floating_compute_type(theta.scalar_type()), [&](auto compute) {
        fill_grid<typename decltype(compute)::Element>(theta, size, align_corners, out);
        return Error::Ok;
      });
}

}  // namespace rushlight::kernels
