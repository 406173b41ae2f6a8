// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/walk/paired_axes.h"

namespace rushlight::kernels {

void PairedAxes::add(const Axis& axis) {
  if (axis.size == 1) return;
  if (dim_ > 0) {
    Axis& last = axes_[dim_ - 1];
    const auto size = static_cast<ptrdiff_t>(last.size);
    // The new axis continues the last one in both tensors: one longer axis.
    if (axis.input == last.input * size && axis.output == last.output * size) {
      last.size *= axis.size;
      return;
    }
  }
  axes_[dim_++] = axis;
}

size_t PairedAxes::count(size_t first) const {
  size_t count = 1;
  for (size_t d = first; d < dim_; ++d) count *= axes_[d].size;
  return count;
}

bool PairedAxes::begin(size_t* index) const {
  for (size_t d = 0; d < dim_; ++d) {
    if (axes_[d].size == 0) return false;
    index[d] = 0;
  }
  return true;
}

void PairedAxes::move_to(size_t step, size_t first, size_t* index, const char** input, char** output) const {
  for (size_t d = first; d < dim_; ++d) {
    // The digits of `step`, innermost first.
    index[d] = step % axes_[d].size;
    step /= axes_[d].size;
    *input += static_cast<ptrdiff_t>(index[d]) * axes_[d].input;
    *output += static_cast<ptrdiff_t>(index[d]) * axes_[d].output;
  }
}

}  // namespace rushlight::kernels
