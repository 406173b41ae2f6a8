// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/index/index.h"
#include "kernels/walk/paired_axes.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Copies row indices[i] of `weight` [rows, size] to out [indices..., size]. Each index is read once, checked
// and used. padding_idx, scale_grad_by_freq and sparse affect training only.
Error embedding_out(KernelContext&, const Tensor& weight, const Tensor& indices, int64_t, bool, bool,
                    Tensor& out) {
  RL_TRY(check_same_dtype(weight, out, "weight and out"));
  RL_TRY(check_index_dtype(indices));
  RL_CHECK(weight.dim() == 2, Error::InvalidArgument, "weight: expected 2 dimensions, got %ld",
           static_cast<long>(weight.dim()));
  const auto rank = static_cast<size_t>(indices.dim());
  // The result has one dimension more than the indices.
  RL_CHECK(rank < kTensorDimensionLimit, Error::InvalidArgument,
           "indices: expected fewer than %lu dimensions, got %lu", log_number(kTensorDimensionLimit),
           log_number(rank));
  Shape shape;
  for (const SizesType size : indices.sizes()) shape.push(size);
  shape.push(weight.sizes()[1]);
  RL_TRY(resize_out(out, shape.span()));
  if (out.numel() == 0) return Error::Ok;

  // Walks over the indices in their memory order, together with the rows of `out`.
  PairedAxes indexed;
  for (size_t i = rank; i-- > 0;) {
    const size_t d = indices.dim_order()[i];
    indexed.add({static_cast<size_t>(indices.sizes()[d]), byte_stride(indices, d), byte_stride(out, d)});
  }
  // The walk cannot be stopped: after an error it does nothing.
  Error error = Error::Ok;
  indexed.walk(
      indices.const_data_ptr<char>(), out.mutable_data_ptr<char>(), 0, [&](const char* at, char* row) {
        if (error != Error::Ok) return;
        const int64_t index = read_index(at, indices.scalar_type());
        error = check_index(index, weight.sizes()[0]);
        if (error != Error::Ok) return;
        copy_elements(row, byte_stride(out, rank),
                      weight.const_data_ptr<char>() + static_cast<ptrdiff_t>(index) * byte_stride(weight, 0),
                      byte_stride(weight, 1), static_cast<size_t>(weight.sizes()[1]), weight.element_size());
      });
  return error;
}

}  // namespace rushlight::kernels
