// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/indexing.h"
#include "kernels/host/index_offsets.h"

namespace rushlight::kernels::host {

// Copies spans along the dimension in which `out` has its smallest stride.
Error gather(KernelContext&, const GatherProblem& problem) {
  const View& index = problem.plan.index;
  const size_t d = problem.plan.dim;
  const View& source = problem.plan.source;
  const View& out = problem.plan.target;
  // The innermost dimension of `out` in memory: writes are contiguous there, if any are.
  size_t inner = 0;
  for (size_t i = 1; i < out.dim; ++i) {
    if (out.sizes[i] > 1 && (out.sizes[inner] == 1 || out.strides[i] < out.strides[inner])) inner = i;
  }
  const size_t element = element_size(out.type);
  const auto length = static_cast<size_t>(out.sizes[inner]);
  // Along `dim` the index alone selects the source; along other dimensions the source advances with `out`.
  const ptrdiff_t step = inner == d ? 0 : source.strides[inner];
  SizesType at[kTensorDimensionLimit] = {};
  IndexSpan run{index.data, index.strides[inner], index.type, source.sizes[d], source.strides[d], false};
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

}  // namespace rushlight::kernels::host
