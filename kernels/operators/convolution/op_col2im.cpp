// SPDX-License-Identifier: BSD-3-Clause
// col2im (fold), the transpose of im2col: adds every element of `self`, [N, C * kernel, positions], to the
// pixel that im2col reads it from. One strided pass over `self` for each element of the window, so the order
// of the additions to a pixel is fixed. 16-bit floats are rounded after each addition.
#include <cstring>

#include "kernels/checks/selection.h"
#include "kernels/geometry/im2col.h"
#include "kernels/geometry/spatial.h"
#include "kernels/index/combine.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// Adds `columns` to `image`, elementwise; both are strided views of one shape.
Error add_view(const View& columns, const View& image) {
  PairedLoops(image, columns).for_each_span([&](char* to, const char* from, const PairedLoops::Loop& loop) {
    for (ptrdiff_t i = 0; i < loop.size; ++i) {
      combine_elements(to + i * loop.target, image.type, from + i * loop.source, image.type, Combine::kSum);
    }
  });
  return Error::Ok;
}

}  // namespace

Error col2im_out(KernelContext&, const Tensor& self, Span<const int64_t> output_size,
                 Span<const int64_t> kernel_size, Span<const int64_t> dilation, Span<const int64_t> padding,
                 Span<const int64_t> stride, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::col2im.out");
  RL_TRY(check_same_dtype(self, out, "self and out"));
  if (!contains(kTypes, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_TRY(check_spatial_tensor(self, 1, "self"));
  RL_CHECK(output_size.size() == 2, Error::InvalidArgument, "output_size: expected 2 sizes, got %lu",
           log_number(output_size.size()));
  RL_TRY(check_spatial_list(output_size, 2, 1, "output_size"));
  Window windows[2];
  // Computes the windows over the output image; their number must be the number of positions of `self`.
  RL_TRY(plan_im2col({kernel_size, dilation, padding, stride}, output_size[0], output_size[1], windows));
  const ptrdiff_t rank = self.dim();
  // volume: the elements of a window.
  const int64_t volume = windows[0].kernel * windows[1].kernel;
  const int64_t positions = windows[0].out * windows[1].out;
  RL_CHECK(self.size(rank - 2) % volume == 0 && self.size(rank - 1) == positions, Error::InvalidArgument,
           "self: expected a multiple of %lld times %lld elements, got %ld times %ld",
           static_cast<long long>(volume), static_cast<long long>(positions),
           static_cast<long>(self.size(rank - 2)), static_cast<long>(self.size(rank - 1)));
  Shape shape;
  if (rank == 3) shape.push(self.size(0));
  shape.push(static_cast<ptrdiff_t>(self.size(rank - 2) / volume));
  for (const int64_t size : output_size) shape.push(static_cast<ptrdiff_t>(size));
  RL_TRY(resize_out(out, shape.span()));
  if (out.nbytes() > 0) std::memset(out.mutable_data_ptr(), 0, out.nbytes());
  return for_each_window_element(self, out, windows, add_view);
}

}  // namespace rushlight::kernels
