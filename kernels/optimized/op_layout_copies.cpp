// SPDX-License-Identifier: BSD-3-Clause
// Copies that put elements into another order, or repeat them, of every dtype.
#include <optional>

#include "kernels/optimized/fast_copy.h"
#include "kernels/shared/permutation.h"
#include "kernels/shared/sizes.h"
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::optimized {

Error permute_copy_out(KernelContext& context, const Tensor& self, Span<const int64_t> dims, Tensor& out) {
  View permuted;
  RL_TRY(read_permutation(self, dims, &permuted));
  return fast_copy_to_out(context, permuted, out);
}

Error transpose_copy_int_out(KernelContext& context, const Tensor& self, int64_t dim0, int64_t dim1,
                             Tensor& out) {
  View swapped;
  RL_TRY(read_swap(self, dim0, dim1, &swapped));
  return fast_copy_to_out(context, swapped, out);
}

Error flip_out(KernelContext& context, const Tensor& self, Span<const int64_t> dims, Tensor& out) {
  View flipped;
  RL_TRY(read_flip(self, dims, &flipped));
  return fast_copy_to_out(context, flipped, out);
}

Error t_copy_out(KernelContext& context, const Tensor& self, Tensor& out) {
  View transposed;
  RL_TRY(read_transpose(self, &transposed));
  return fast_copy_to_out(context, transposed, out);
}

Error clone_out(KernelContext& context, const Tensor& self, std::optional<int64_t> memory_format,
                Tensor& out) {
  RL_TRY(fast_copy_to_out(context, View::of(self), out));
  return check_memory_format(memory_format, out);
}

Error _clone_dim_order_out(KernelContext& context, const Tensor& self, bool non_blocking,
                           std::optional<Span<const int64_t>> dim_order, Tensor& out) {
  RL_TRY(check_blocking(non_blocking));
  RL_TRY(fast_copy_to_out(context, View::of(self), out));
  return check_dim_order(dim_order, out);
}

Error expand_copy_out(KernelContext& context, const Tensor& self, Span<const int64_t> size, bool implicit,
                      Tensor& out) {
  View expanded;
  RL_TRY(read_expansion(self, size, implicit, &expanded));
  return fast_copy_to_out(context, expanded, out);
}

Error view_copy_out(KernelContext& context, const Tensor& self, Span<const int64_t> size, Tensor& out) {
  RL_TRY(check_same_dtype(self, out, "self and out"));
  Shape shape;
  RL_TRY(infer_sizes(size, self.numel(), &shape));
  RL_TRY(resize_out(out, shape.span()));
  fast_copy_reshaped(context, out, self);
  return Error::Ok;
}

}  // namespace rushlight::kernels::optimized
