// SPDX-License-Identifier: BSD-3-Clause
// Convolution by an im2col of a few output pixels at a time, whose panel is multiplied by the weights as they
// are stored. Any axes, strides, dilation and layout. Uses 2 to 4 KiB of stack.
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/board/by_patches.h"
#include "kernels/geometry/convolution_geometry.h"
#include "kernels/ukernel/panel.h"

namespace rushlight::kernels::board {

// A part of the kernel whose elements are adjacent in the weight: input channels × taps.
struct Part {
  ptrdiff_t channel;
  ptrdiff_t channels;
  ptrdiff_t tap;
  ptrdiff_t taps;
  bool taps_first;  // true: taps are adjacent; false: channels are
};

// Divides the kernel into such parts, none deeper than a panel.
struct Parts {
  constexpr explicit Parts(const ConvolutionGeometry& geometry) {
    const ConvolutionAxis* axes = geometry.axes;
    const ptrdiff_t taps = geometry.taps();
    const ptrdiff_t channels = geometry.in_channels;
    // The stride of the innermost axis with more than one tap; with `adjoin`, of all taps in order.
    tap_stride = axes[2].kernel > 1   ? axes[2].kernel_stride
                 : axes[1].kernel > 1 ? axes[1].kernel_stride
                                      : axes[0].kernel_stride;
    const bool adjoin =
        (axes[1].kernel == 1 || axes[1].kernel_stride == axes[2].kernel * tap_stride) &&
        (axes[0].kernel == 1 || axes[0].kernel_stride == axes[1].kernel * axes[2].kernel * tap_stride);
    constexpr auto kDepth = static_cast<ptrdiff_t>(ukernel::kPanelDepth);
    whole.channels = whole.taps = 1;
    // Weights [out, in, taps] hold the taps of a channel adjacently, channels-last weights [out, taps, in]
    // the channels of a tap. Whole further channels (or taps) join the part if they are adjacent, too.
    whole.taps_first = taps > 1 && adjoin && tap_stride == 1;
    if (whole.taps_first) {
      whole.taps = std::min(taps, kDepth);
      if (taps <= kDepth && geometry.weight_in_stride == taps) whole.channels = kDepth / taps;
    } else if (geometry.weight_in_stride == 1 || channels == 1) {
      whole.channels = std::min(channels, kDepth);
      if (channels <= kDepth && adjoin && tap_stride == channels) whole.taps = kDepth / channels;
    }
  }

  ptrdiff_t tap_stride = 0;
  Part whole{};  // size of every part except the last ones
};

// Convolves all groups of all elements of the batch. Precondition: not transposed, at least one tap.
void convolve_panels(const ConvolutionGeometry& geometry, const ConvolutionData<float>& data);

}  // namespace rushlight::kernels::board
