// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "kernels/checks/sizes.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/evalue.h"

namespace rushlight::kernels {

namespace {

// True if both shapes enumerate the elements in the same memory order, so that no copy is needed.
bool keeps_order(const Tensor& self, Span<const DimOrderType> order, Span<const SizesType> sizes) {
  if (is_row_major(self.dim_order(), self.sizes()) && is_row_major(order, sizes)) return true;
  const auto same = [](const auto& a, const auto& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
  };
  return same(self.dim_order(), order) && same(self.sizes(), sizes);
}

}  // namespace

// Makes `out`, a tensor without memory, a view of `self`: from then on it shares the memory, and writes to
// one are seen in the other. It is passed as an EValue because the tensor arguments of kernels always have
// memory.
Error et_view(KernelContext&, const Tensor& self, Span<const int64_t> size, EValue& out) {
  RL_CHECK(out.is_tensor(), Error::InvalidType, "out: expected a tensor, got %s", to_string(out.tag));
  const Tensor view = out.to_tensor();
  RL_TRY(check_same_dtype(self, view, "self and out"));
  Shape shape;
  RL_TRY(infer_sizes(size, self.numel(), &shape));
  RL_CHECK(shape.dim == static_cast<size_t>(view.dim()), Error::InvalidArgument,
           "out: expected rank %d, got %d", static_cast<int>(shape.dim), static_cast<int>(view.dim()));
  RL_CHECK(keeps_order(self, view.dim_order(), shape.span()), Error::InvalidArgument,
           "self and out: expected dim orders that keep the elements' order");
  RL_CHECK(view.impl()->make_view(*self.impl(), shape.span()) == Error::Ok, Error::InvalidArgument,
           "out: cannot be resized to the shape");
  return Error::Ok;
}

}  // namespace rushlight::kernels
