// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/walk/fibers.h"

namespace rushlight::kernels {

View at_least_1d(const Tensor& tensor) {
  View view = View::of(tensor);
  if (view.dim == 0) view.insert(0, 1, 0);
  return view;
}

Error for_each_fiber(Span<const View> views, size_t dim, FiberFunction f, void* context) {
  RL_DCHECK(views.size() <= kMaxFibers);
  const View& first = views[0];
  Fiber fibers[kMaxFibers] = {};
  for (size_t i = 0; i < views.size(); ++i) {
    // Fibers of different views may have different lengths; positions follow the first view.
    fibers[i] = {views[i].data, views[i].strides[dim], views[i].sizes[dim]};
  }
  // Without this test, billions of empty fibers could be visited.
  for (size_t d = 0; d < first.dim; ++d) {
    if (first.sizes[d] == 0) return Error::Ok;
  }
  SizesType position[kTensorDimensionLimit] = {};
  while (true) {
    RL_TRY(f(context, fibers));
    size_t d = first.dim;
    bool moved = false;
    while (!moved && d-- > 0) {
      if (d == dim) continue;
      moved = ++position[d] < first.sizes[d];
      // Forward by one, or back to the start of the dimension.
      const ptrdiff_t steps = moved ? 1 : 1 - ptrdiff_t{first.sizes[d]};
      for (size_t i = 0; i < views.size(); ++i) fibers[i].data += steps * views[i].strides[d];
      if (!moved) position[d] = 0;
    }
    if (!moved) return Error::Ok;
  }
}

}  // namespace rushlight::kernels
