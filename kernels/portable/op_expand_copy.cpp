// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error expand_copy_out(KernelContext&, const Tensor& self, Span<const int64_t> size, bool implicit,
                      Tensor& out) {
  RL_CHECK(!implicit, Error::InvalidArgument, "implicit: expected false, got true");
  const auto rank = static_cast<size_t>(self.dim());
  RL_CHECK(size.size() >= rank && size.size() <= kTensorDimensionLimit, Error::InvalidArgument,
           "size: expected %lu to %d dimensions, got %lu", static_cast<unsigned long>(rank),
           static_cast<int>(kTensorDimensionLimit), static_cast<unsigned long>(size.size()));
  const size_t added = size.size() - rank;
  View view = View::of(self);
  for (size_t i = 0; i < added; ++i) view.insert(0, 1, 0);
  for (size_t i = 0; i < size.size(); ++i) {
    if (i >= added && size[i] == -1) continue;
    RL_CHECK(size[i] >= 0 && size[i] <= INT32_MAX && (view.sizes[i] == 1 || view.sizes[i] == size[i]),
             Error::InvalidArgument, "size: dimension %lu of size %ld does not expand to %ld",
             static_cast<unsigned long>(i), static_cast<long>(view.sizes[i]), static_cast<long>(size[i]));
    if (view.sizes[i] != size[i]) view.strides[i] = 0;
    view.sizes[i] = static_cast<SizesType>(size[i]);
  }
  return copy_to_out(view, out);
}

}  // namespace rushlight::kernels
