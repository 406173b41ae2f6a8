// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/walk/expand.h"

#include "runtime/base/assert.h"

namespace rushlight::kernels {

View expand_to(const View& view, Span<const SizesType> shape) {
  RL_DCHECK(view.dim <= shape.size());
  const size_t missing = shape.size() - view.dim;
  View expanded = View::row_major(view.data, view.type, shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    // Stride 0 repeats the one element.
    const bool repeats = d < missing || view.sizes[d - missing] == 1;
    RL_DCHECK(repeats || view.sizes[d - missing] == shape[d]);
    expanded.strides[d] = repeats ? 0 : view.strides[d - missing];
  }
  return expanded;
}

}  // namespace rushlight::kernels
