// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/checks.h"
#include "kernels/shared/index.h"
#include "kernels/shared/paired_axes.h"
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error index_select_out(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index, Tensor& out) {
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_TRY(check_index_dtype(index));
  RL_CHECK(index.dim() <= 1, Error::InvalidArgument, "index: expected at most 1 dimension, got %ld",
           static_cast<long>(index.dim()));
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  const auto rank = static_cast<size_t>(self.dim());
  RL_CHECK(rank > 0 || index.numel() == 1, Error::InvalidArgument,
           "index: expected 1 element for a self without dimensions, got %lu", log_number(index.numel()));
  Shape shape;
  for (size_t i = 0; i < rank; ++i) {
    shape.push(i == d ? static_cast<ptrdiff_t>(index.numel()) : self.sizes()[i]);
  }
  RL_TRY(resize_out(out, shape.span()));

  const View source = at_least_1d(self);
  const View target = at_least_1d(out);
  PairedAxes others;
  for (size_t i = rank; i-- > 0;) {
    const size_t other = self.dim_order()[i];
    if (other == d) continue;
    others.add({static_cast<size_t>(source.sizes[other]), source.strides[other], target.strides[other]});
  }
  const Axis run = others.inner();
  const size_t element = self.element_size();
  const auto count = static_cast<ptrdiff_t>(out.numel() == 0 ? 0 : index.numel());
  for (ptrdiff_t i = 0; i < count; ++i) {
    const ptrdiff_t step = static_cast<ptrdiff_t>(index.element_size());
    const int64_t value = read_index(index.const_data_ptr<char>() + i * step, index.scalar_type());
    RL_TRY(check_index(value, source.sizes[d]));
    others.walk(source.data + static_cast<ptrdiff_t>(value) * source.strides[d],
                target.data + i * target.strides[d], 1, [&](const char* from, char* to) {
                  copy_elements(to, run.output, from, run.input, run.size, element);
                });
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
