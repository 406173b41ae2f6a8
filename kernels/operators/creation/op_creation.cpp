// SPDX-License-Identifier: BSD-3-Clause
// Tensors filled with one value, or not filled (empty_*): then `out` keeps its elements. `out` determines
// dtype and dim order; requested strides are checked, but do not change its layout.
#include <cstring>

#include "kernels/checks/checks.h"
#include "kernels/checks/sizes.h"
#include "kernels/walk/fill.h"
#include "kernels/walk/row_major.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

Error resize_strided(const Tensor& out, Span<const int64_t> size, Span<const int64_t> stride) {
  RL_CHECK(stride.size() == size.size(), Error::InvalidArgument, "stride: expected %lu values, got %lu",
           log_number(size.size()), log_number(stride.size()));
  for (const int64_t step : stride) {
    RL_CHECK(step >= 0, Error::InvalidArgument, "stride: expected 0 at least, got %lld",
             static_cast<long long>(step));
  }
  return resize_to(out, size);
}

// Copies the first elements in row-major order, as many as both tensors have. Further elements of `out` stay
// unchanged.
Error copy_resized(const Tensor& self, Span<const SizesType> sizes, std::optional<int64_t> memory_format,
                   const Tensor& out) {
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_TRY(resize_out(out, sizes));
  RL_TRY(check_memory_format(memory_format, out));
  const size_t element = out.element_size();
  size_t left = self.numel() < out.numel() ? self.numel() : out.numel();
  if (is_contiguous_dim_order(self.dim_order()) && is_contiguous_dim_order(out.dim_order())) {
    std::memmove(out.mutable_data_ptr(), self.const_data_ptr(), left * element);
    return Error::Ok;
  }
  RowMajorCursor source(self);
  RowMajorCursor target(out);
  for (; left > 0; --left) {
    copy_element(target.get(), source.get(), element);
    source.advance();
    target.advance();
  }
  return Error::Ok;
}

}  // namespace

Error empty_out(KernelContext&, Span<const int64_t> size, std::optional<int64_t> memory_format, Tensor& out) {
  RL_TRY(resize_to(out, size));
  return check_memory_format(memory_format, out);
}

Error empty_like_out(KernelContext&, const Tensor& self, std::optional<int64_t> memory_format, Tensor& out) {
  return resize_like(out, self, memory_format);
}

Error empty_strided_out(KernelContext&, Span<const int64_t> size, Span<const int64_t> stride, Tensor& out) {
  return resize_strided(out, size, stride);
}

// physical_layout must be a permutation of the dimensions.
Error empty_permuted_out(KernelContext&, Span<const int64_t> size, Span<const int64_t> physical_layout,
                         Tensor& out) {
  RL_CHECK(physical_layout.size() == size.size(), Error::InvalidArgument,
           "physical_layout: expected %lu dimensions, got %lu", log_number(size.size()),
           log_number(physical_layout.size()));
  uint32_t dims = 0;
  RL_TRY(read_dims(physical_layout, static_cast<ptrdiff_t>(size.size()), &dims));
  return resize_to(out, size);
}

// The first tensor of the new_* operators only chose dtype and device when the program was exported.
Error new_empty_out(KernelContext&, const Tensor&, Span<const int64_t> size, Tensor& out) {
  return resize_to(out, size);
}

Error new_empty_strided_out(KernelContext&, const Tensor&, Span<const int64_t> size,
                            Span<const int64_t> stride, Tensor& out) {
  return resize_strided(out, size, stride);
}

Error new_full_out(KernelContext&, const Tensor&, Span<const int64_t> size, const Scalar& fill_value,
                   Tensor& out) {
  RL_TRY(resize_to(out, size));
  return fill(out, fill_value);
}

Error new_ones_out(KernelContext&, const Tensor&, Span<const int64_t> size, Tensor& out) {
  RL_TRY(resize_to(out, size));
  return fill(out, 1);
}

Error new_zeros_out(KernelContext&, const Tensor&, Span<const int64_t> size, Tensor& out) {
  RL_TRY(resize_to(out, size));
  return fill(out, 0);
}

Error ones_like_out(KernelContext&, const Tensor& self, std::optional<int64_t> memory_format, Tensor& out) {
  RL_TRY(resize_like(out, self, memory_format));
  return fill(out, 1);
}

Error zeros_like_out(KernelContext&, const Tensor& self, std::optional<int64_t> memory_format, Tensor& out) {
  RL_TRY(resize_like(out, self, memory_format));
  return fill(out, 0);
}

Error zero_out(KernelContext&, const Tensor& self, Tensor& out) {
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_TRY(resize_out(out, self.sizes()));
  return fill(out, 0);
}

// Further elements, if the result is larger, stay as they are.
Error resized_out(KernelContext&, const Tensor& self, Span<const int64_t> size,
                  std::optional<int64_t> memory_format, Tensor& out) {
  Shape shape;
  RL_TRY(read_sizes(size, &shape));
  return copy_resized(self, shape.span(), memory_format, out);
}

Error resized_as_out(KernelContext&, const Tensor& self, const Tensor& the_template,
                     std::optional<int64_t> memory_format, Tensor& out) {
  return copy_resized(self, the_template.sizes(), memory_format, out);
}

}  // namespace rushlight::kernels
