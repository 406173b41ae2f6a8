// SPDX-License-Identifier: BSD-3-Clause
// For output first + t * step, tap k sees the input at t + (first + pad - k * dilation) / step, if that
// division leaves no rest. Such taps are k0, k0 + apart, ..., and the next one sees the input dilation *
// apart / step positions earlier, hence the reverse order.
#include "kernels/board/phases.h"

#include <numeric>

namespace rushlight::kernels::board {

namespace {

// Turns the axis into that of the phase. Adds the offsets of its first tap and output.
void select_phase(ConvolutionAxis* axis, ptrdiff_t first, Phase* phase) {
  const ptrdiff_t step = axis->step;
  const ptrdiff_t apart = step / std::gcd(axis->dilation, step);
  const ptrdiff_t start = first + axis->pad;
  ptrdiff_t tap = 0;
  while (tap < apart && (start - tap * axis->dilation) % step != 0) ++tap;
  const ptrdiff_t taps = tap < apart && tap < axis->kernel ? (axis->kernel - 1 - tap) / apart + 1 : 0;
  const ptrdiff_t last = tap + (taps - 1) * apart;  // the first one of the reverse order
  phase->out += first * axis->out_stride;
  axis->out = (axis->out - first + step - 1) / step;
  axis->out_stride *= step;
  axis->step = 1;
  axis->kernel = taps;
  if (taps == 0) return;
  phase->weight += last * axis->kernel_stride;
  axis->pad = -((start - last * axis->dilation) / step);
  axis->dilation = taps == 1 ? 1 : axis->dilation * apart / step;
  axis->kernel_stride *= -apart;
}

}  // namespace

Phase phase_of(const ConvolutionGeometry& transposed, const ptrdiff_t* first) {
  Phase phase{transposed, 0, 0};
  phase.geometry.transposed = false;
  for (size_t d = 0; d < kSpatial; ++d) select_phase(&phase.geometry.axes[d], first[d], &phase);
  return phase;
}

}  // namespace rushlight::kernels::board
