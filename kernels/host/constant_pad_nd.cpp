// SPDX-License-Identifier: BSD-3-Clause
// Constant padding: each output element is written once, by a fill or by the copy of the input.
#include "kernels/backs/copies.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/host/fast_copy.h"

namespace rushlight::kernels::host {

namespace {

// Fills a slab with the value.
void fill_slab(KernelContext& context, const View& slab, const Tensor& value) {
  View source = slab;
  source.data = value.mutable_data_ptr<char>();
  for (size_t d = 0; d < source.dim; ++d) source.strides[d] = 0;
  fast_copy(context, slab, source);
}

}  // namespace

// Fills the slabs before and after the input in the outermost dimension, then in the next one inside them, so
// that the slabs are as large as possible.
Error constant_pad_nd(KernelContext& context, const ConstantPadProblem& problem) {
  const ConstantPad& plan = problem.plan;
  const Tensor& out = problem.out;
  if (out.numel() == 0) return Error::Ok;
  const ScalarTensor held(problem.value, out.scalar_type());
  View rest = View::of(out);
  for (size_t i = 0; i < rest.dim; ++i) {
    const size_t d = out.dim_order()[i];
    const ptrdiff_t end = plan.start[d] + plan.source.sizes[d];
    fill_slab(context, View(rest).slice(d, 0, plan.start[d]), held);
    fill_slab(context, View(rest).slice(d, end, rest.sizes[d] - end), held);
    rest.slice(d, plan.start[d], plan.source.sizes[d]);
  }
  fast_copy(context, rest, plan.source);
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
