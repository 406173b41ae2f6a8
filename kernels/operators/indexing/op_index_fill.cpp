// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/scalar_range.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/index/index.h"
#include "kernels/index/index_update.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// Copies `self` and sets the slices at `index` along `dim` to a number, a source with strides of 0. Negative
// indices count from the end; index_copy rejects them. Slices are filled as a whole, unless they have few
// elements or their elements lie apart: then each fiber along `dim` is filled at all indices.
Error fill(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& number, Tensor& out) {
  IndexUpdate update;
  RL_TRY(update.plan_fill(self, dim, index, number, out));
  constexpr size_t kFew = 8;
  const size_t element = out.element_size();
  const size_t slices = out.dim() == 0 ? 1 : static_cast<size_t>(update.target.sizes[update.dim]);
  const bool lie_apart = update.target.strides[update.dim] == static_cast<ptrdiff_t>(element);
  if (lie_apart || out.numel() < kFew * slices) {
    const View views[] = {update.index, update.target};
    return for_each_fiber(views, update.dim, [&](const Fiber* fibers) {
      for (ptrdiff_t i = 0; i < fibers[0].size; ++i) {
        int64_t position = read_index(fibers[0].data + i * fibers[0].stride, update.index.type);
        RL_TRY(wrap_index(&position, fibers[1].size));
        copy_element(fibers[1].data + static_cast<ptrdiff_t>(position) * fibers[1].stride, update.source.data,
                     element);
      }
      return Error::Ok;
    });
  }
  for (SizesType i = 0; i < update.index.sizes[update.dim]; ++i) {
    int64_t position =
        read_index(update.index.data + i * update.index.strides[update.dim], update.index.type);
    RL_TRY(wrap_index(&position, update.target.sizes[update.dim]));
    View slice = update.target;
    View source = update.source;
    RL_TRY(
        copy_view(slice.select(update.dim, static_cast<ptrdiff_t>(position)), source.select(update.dim, 0)));
  }
  return Error::Ok;
}

}  // namespace

Error index_fill_int_Scalar_out(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index,
                                const Scalar& value, Tensor& out) {
  RL_TRY(check_scalar_range(value, self.scalar_type(), "value"));
  const ScalarTensor number(value, self.scalar_type());
  return fill(self, dim, index, number, out);
}

Error index_fill_int_Tensor_out(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index,
                                const Tensor& value, Tensor& out) {
  RL_CHECK(value.dim() == 0, Error::InvalidArgument, "value: expected rank 0, got %ld",
           static_cast<long>(value.dim()));
  // Converts the value to the dtype of `self` with wrap-around or truncation: only scalars are checked for
  // their range.
  const ScalarTensor number(0, self.scalar_type());
  RL_TRY(copy_view(View::of(number), View::of(value)));
  return fill(self, dim, index, number, out);
}

}  // namespace rushlight::kernels
