// SPDX-License-Identifier: BSD-3-Clause
// Distances of all pairs of rows, x1 [..., P, M] and x2 [..., R, M] to [..., P, R], each computed directly
// from differences: P R M operations. PyTorch may use a matrix product for p = 2, which is faster for many
// rows but loses digits of small distances.
#include <algorithm>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/reduction/distance.h"
#include "kernels/walk/row_major.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// A view whose batch dimensions are broadcast to `batch`: missing ones are inserted, sizes of 1 get stride 0.
View broadcast_batch(const Tensor& tensor, Span<const SizesType> batch) {
  View view = View::of(tensor);
  while (view.dim < batch.size() + 2) view.insert(0, 1, 0);
  for (size_t d = 0; d < batch.size(); ++d) {
    if (view.sizes[d] == 1) view.strides[d] = 0;
    view.sizes[d] = batch[d];
  }
  return view;
}

}  // namespace

// compute_mode allows PyTorch a matrix product where that is faster; it has no effect here.
Error _cdist_forward_out(KernelContext&, const Tensor& x1, const Tensor& x2, double p,
                         std::optional<int64_t> compute_mode, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::_cdist_forward.out");
  RL_CHECK(x1.dim() >= 2 && x2.dim() >= 2 && x1.size(x1.dim() - 1) == x2.size(x2.dim() - 1),
           Error::InvalidArgument, "x1 and x2: expected rank 2 at least and rows of the same size");
  RL_CHECK(p >= 0, Error::InvalidArgument, "p: expected 0 at least");
  const int64_t mode = compute_mode.value_or(0);
  RL_CHECK(mode >= 0 && mode <= 2, Error::InvalidArgument, "compute_mode: expected 0, 1 or 2, got %ld",
           static_cast<long>(mode));
  RL_TRY(check_same_dtype(x1, x2, "x1 and x2"));
  RL_TRY(check_same_dtype(x1, out, "x1 and out"));
  Shape shape;
  RL_TRY(broadcast_shape({x1.sizes().data(), static_cast<size_t>(x1.dim() - 2)},
                         {x2.sizes().data(), static_cast<size_t>(x2.dim() - 2)}, &shape));
  const View a = broadcast_batch(x1, shape.span());
  const View b = broadcast_batch(x2, shape.span());
  shape.push(x1.size(x1.dim() - 2));
  shape.push(x2.size(x2.dim() - 2));
  RL_TRY(resize_out(out, shape.span()));
  if (out.numel() == 0) return Error::Ok;
  if (!contains(kTypes, out.scalar_type())) return unsupported_type(out.scalar_type());
  const size_t rank = a.dim;
  const ptrdiff_t count = shape.sizes[rank - 1];
  RowMajorCursor cursor(out);
  ptrdiff_t index[kTensorDimensionLimit] = {};
  // Row-major order of the results; the last two indices select the rows. All distances to a row of x1 are
  // one call for each span of results.
  for (ptrdiff_t n = out.numel(); n > 0;) {
    RowPairs rows{a.data, a.strides[rank - 1], b.data, b.strides[rank - 1], a.sizes[rank - 1],
                  0,      b.strides[rank - 2]};
    for (size_t d = 0; d + 2 < rank; ++d) {
      rows.a += index[d] * a.strides[d];
      rows.b += index[d] * b.strides[d];
    }
    rows.a += index[rank - 2] * a.strides[rank - 2];
    rows.b += index[rank - 1] * rows.b_next;
    rows.count = std::min(count - index[rank - 1], cursor.span());
    write_distances(rows, p, out.scalar_type(), cursor.get(), cursor.stride());
    cursor.skip(rows.count);
    n -= rows.count;
    // The next index in row-major order, in step with the cursor.
    index[rank - 1] += rows.count;
    for (size_t d = rank - 1; d > 0 && index[d] == shape.sizes[d]; --d) {
      index[d] = 0;
      ++index[d - 1];
    }
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
