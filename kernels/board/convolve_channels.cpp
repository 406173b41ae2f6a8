// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolution, channels-last: a line of outputs that see the same taps is one microkernel call,
// with kGroup channels in the lanes of a vector. Weights are packed by group first.
#include "kernels/board/convolve_channels.h"

#include <algorithm>

#include "kernels/ukernel/patch.h"
#include "kernels/ukernel/spans.h"

namespace rushlight::kernels::board {

namespace {

constexpr ptrdiff_t kGroup = ukernel::kChannelGroup;
constexpr ptrdiff_t kWeights = 640;       // capacity of the packed weights: 2.5 KiB of stack
constexpr ptrdiff_t kMostChannels = 128;  // of one pass; a bias of zeros has this size
static_assert(kWeights >= kMostChannelTaps * kGroup && kMostChannels % kGroup == 0);

// The taps of one axis through which an output sees the image; the others see padding.
struct Seen {
  ptrdiff_t first;
  ptrdiff_t count;
  ptrdiff_t at;  // image position of the first one
};

Seen seen(const ConvolutionAxis& axis, ptrdiff_t output) {
  ptrdiff_t at = first_position(axis, output, false);
  ptrdiff_t first = 0, end = axis.kernel;
  // Clips the taps [first, end) to the image.
  for (; first < end && at < 0; at += axis.dilation) ++first;
  while (end > first && at + (end - first - 1) * axis.dilation >= axis.in) --end;
  return {first, end - first, end == first ? 0 : at};
}

// The number of outputs from `output` on that see the image through the same taps.
ptrdiff_t alike(const ConvolutionAxis& axis, ptrdiff_t output, const Seen& taps) {
  if (taps.count < axis.kernel) return 1;
  const ptrdiff_t last = axis.in - 1 - (axis.kernel - 1) * axis.dilation;
  return std::min((last + axis.pad) / axis.step + 1, axis.out) - output;
}

// Packs weights as [groups][taps][kGroup], with zeros for the missing channels of the last group.
void pack(const ConvolutionAxis& y, const ConvolutionAxis& x, ptrdiff_t step, const float* weight,
          ptrdiff_t channels, float* to) {
  const ptrdiff_t group = y.kernel * x.kernel * kGroup;
  const ptrdiff_t whole = channels / kGroup, rest = channels % kGroup;
  if (rest > 0) ukernel::fill_span(to + whole * group, static_cast<size_t>(group), 0);
  for (ptrdiff_t i = 0; i < y.kernel; ++i) {
    const float* from = weight + i * y.kernel_stride;
    for (ptrdiff_t j = x.kernel; j > 0; --j, from += x.kernel_stride, to += kGroup) {
      ukernel::copy_block(to, {group, 1}, from, {kGroup * step, step}, static_cast<size_t>(whole), kGroup);
      ukernel::copy_block(to + whole * group, {0, 1}, from + whole * kGroup * step, {0, step}, 1,
                          static_cast<size_t>(rest));
    }
  }
}

}  // namespace

void convolve_channels(const PixelsConvolution& convolution) {
  const ConvolutionGeometry& geometry = *convolution.geometry;
  const ConvolutionAxis& vertical = geometry.axes[1];
  const ConvolutionAxis& horizontal = geometry.axes[2];
  alignas(16) float weights[kWeights];
  float none[kMostChannels];
  ukernel::ChannelSums sums;
  sums.row_stride = vertical.dilation * vertical.in_stride;
  sums.column_stride = horizontal.dilation * horizontal.in_stride;
  sums.weight_row_stride = horizontal.kernel * kGroup;
  sums.group_stride = geometry.taps() * kGroup;
  sums.rectify = convolution.rectify;
  const ptrdiff_t most = std::min(kWeights / sums.group_stride * kGroup, kMostChannels);
  if (convolution.bias == nullptr) ukernel::fill_span(none, static_cast<size_t>(most), 0);
  for (ptrdiff_t c = 0; c < geometry.groups; c += most) {
    const ptrdiff_t channels = std::min(most, geometry.groups - c);
    pack(vertical, horizontal, geometry.weight_group_stride,
         convolution.weight + c * geometry.weight_group_stride, channels, weights);
    sums.initial = convolution.bias != nullptr ? convolution.bias + c : none;
    sums.channels = static_cast<size_t>(channels);
    for (ptrdiff_t x = 0, width; x < horizontal.out; x += width) {
      // All outputs that see the image through the same taps.
      const Seen columns = seen(horizontal, x);
      width = alike(horizontal, x, columns);
      for (ptrdiff_t y = 0, height; y < vertical.out; y += height) {
        const Seen rows = seen(vertical, y);
        height = alike(vertical, y, rows);
        sums.rows = static_cast<size_t>(rows.count);
        sums.columns = static_cast<size_t>(columns.count);
        sums.in = convolution.in + c + columns.at * horizontal.in_stride + rows.at * vertical.in_stride;
        sums.weight = weights + rows.first * sums.weight_row_stride + columns.first * kGroup;
        sums.out = convolution.out + c + x * horizontal.out_stride + y * vertical.out_stride;
        // Lines follow the longer side.
        const bool down = height > width;
        const ConvolutionAxis& along = down ? vertical : horizontal;
        const ConvolutionAxis& across = down ? horizontal : vertical;
        sums.in_step = along.step * along.in_stride;
        sums.out_step = along.out_stride;
        sums.outputs = static_cast<size_t>(std::max(width, height));
        for (ptrdiff_t line = std::min(width, height); line > 0; --line) {
          ukernel::add_channels(sums);
          sums.in += across.step * across.in_stride;
          sums.out += across.out_stride;
        }
      }
    }
  }
}

}  // namespace rushlight::kernels::board
