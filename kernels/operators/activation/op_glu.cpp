// SPDX-License-Identifier: BSD-3-Clause
// Gated linear unit: a * sigmoid(b), where a and b are the halves of `self` along `dim`. The halves are two
// tensors over the memory of `self`, with its strides; none is copied.
#include <cmath>

#include "kernels/backs/backs.h"
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error glu_out(KernelContext& context, const Tensor& self, int64_t dim, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::glu.out");
  RL_CHECK(self.dim() > 0, Error::InvalidArgument, "self: expected rank 1 at least, got 0");
  size_t halved = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &halved));
  const SizesType size = self.sizes()[halved];
  RL_CHECK(size % 2 == 0, Error::InvalidArgument, "self: expected an even size of dimension %lu, got %ld",
           static_cast<unsigned long>(halved), static_cast<long>(size));
  Shape shape;
  for (const SizesType each : self.sizes()) shape.push(each);
  shape.sizes[halved] = size / 2;
  const auto half = [&](ptrdiff_t elements) {
    // A static tensor, which only reads its arrays.
    return TensorImpl(self.scalar_type(), shape.dim, shape.sizes,
                      const_cast<DimOrderType*>(self.dim_order().data()),
                      const_cast<StridesType*>(self.strides().data()), self.numel() / 2,
                      self.mutable_data_ptr<char>() + elements * static_cast<ptrdiff_t>(self.element_size()),
                      Storage::Planned, TensorShapeDynamism::STATIC);
  };
  // An empty tensor may have no memory: no offset is added to its address.
  const ptrdiff_t offset = self.numel() == 0 ? 0 : ptrdiff_t{self.strides()[halved]} * (size / 2);
  TensorImpl values = half(0);
  TensorImpl gates = half(offset);
  const Tensor a(&values);
  const Tensor b(&gates);
  return backs::glu_out(context, BinaryProblem{self.scalar_type(), a, b, out}, [&] {
    return elementwise<kTypes>(
        self.scalar_type(), out, [](auto value, auto gate) { return value / (1 + std::exp(-gate)); }, a, b);
  });
}

}  // namespace rushlight::kernels
