// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/optimized/places.h"
#include "kernels/shared/gather.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::optimized {

namespace {

// Rows along the dimension in which the elements of `out` lie closest.
Error gather(const View& index, size_t d, const View& source, const View& out) {
  size_t inner = 0;
  for (size_t i = 1; i < out.dim; ++i) {
    if (out.sizes[i] > 1 && (out.sizes[inner] == 1 || out.strides[i] < out.strides[inner])) inner = i;
  }
  const size_t element = element_size(out.type);
  const auto length = static_cast<size_t>(out.sizes[inner]);
  const ptrdiff_t step = inner == d ? 0 : source.strides[inner];
  SizesType at[kTensorDimensionLimit] = {};
  IndexRun run{index.data, index.strides[inner], index.type, source.sizes[d], source.strides[d], false};
  const char* from = source.data;
  char* to = out.data;
  while (true) {
    RL_TRY(copy_named(run, element, length, from, step, to, out.strides[inner]));
    size_t dim = out.dim;
    while (dim-- > 0) {
      if (dim == inner) continue;
      const ptrdiff_t steps = ++at[dim] < out.sizes[dim] ? 1 : 1 - at[dim];
      run.data += steps * index.strides[dim];
      to += steps * out.strides[dim];
      if (dim != d) from += steps * source.strides[dim];
      if (steps == 1 && at[dim] < out.sizes[dim]) break;
      at[dim] = 0;
    }
    if (dim > out.dim) return Error::Ok;
  }
}

}  // namespace

// The sparse gradient matters to training only.
Error gather_out(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index, bool, Tensor& out) {
  GatherPlan plan;
  RL_TRY(plan_gather(self, dim, index, out, &plan));
  if (plan.is_empty) return Error::Ok;
  return gather(plan.places, plan.dim, plan.source, plan.target);
}

}  // namespace rushlight::kernels::optimized
