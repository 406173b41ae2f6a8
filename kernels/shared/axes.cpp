// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/axes.h"

namespace rushlight::kernels {

void PairedAxes::add(const Axis& axis) {
  if (axis.size == 1) return;
  if (dim_ > 0) {
    Axis& last = axes_[dim_ - 1];
    const auto size = static_cast<ptrdiff_t>(last.size);
    if (axis.input == last.input * size && axis.output == last.output * size) {
      last.size *= axis.size;
      return;
    }
  }
  axes_[dim_++] = axis;
}

size_t PairedAxes::count() const {
  size_t count = 1;
  for (size_t d = 0; d < dim_; ++d) count *= axes_[d].size;
  return count;
}

}  // namespace rushlight::kernels
