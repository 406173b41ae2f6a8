// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of any kernel and dilation on planes, for few taps in all input channels: sums stay in
// registers and are stored once. Serves depthwise convolutions, and those whose windows are all inside of the
// image.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/board/by_patches.h"
#include "kernels/geometry/convolution_geometry.h"
#include "kernels/ukernel/patch.h"

namespace rushlight::kernels::board {

// How blocks of outputs divide a convolution that is not transposed. Computed once for all groups.
class PlanePlan {
 public:
  static constexpr bool kListsAll = ukernel::kTilePositions > 1;  // a tile lists every output
  static constexpr ptrdiff_t kPatch = PatchPlan::kPatch;
  static constexpr ptrdiff_t kTaps = PatchPlan::kTaps;
  // Tiles of a block. They take 2 KiB of stack where each output has an offset.
  static constexpr ptrdiff_t kTiles = kListsAll ? 22 : 128;

  // Precondition: at least one tap and one input channel.
  constexpr explicit PlanePlan(const ConvolutionGeometry& geometry) {
    const ConvolutionAxis* axes = geometry.axes;
    const ptrdiff_t taps = geometry.taps();
    channels = geometry.in_channels;
    if (ukernel::kTileColumns == 0 || axes[2].step > ukernel::kTileSteps) return;
    if (taps > kTaps / channels) return;
    // Offsets are int32. Where taps are listed in groups, these read adjacent elements.
    if (reach(axes, &ConvolutionAxis::out, &ConvolutionAxis::out_stride) > kReach) return;
    is_in_place = !has_padding(axes[0]) && !has_padding(axes[1]) && !has_padding(axes[2]) &&
                  (kListsAll || axes[2].in_stride == 1) &&
                  reach(axes, &ConvolutionAxis::in, &ConvolutionAxis::in_stride) +
                          channels * geometry.in_channel_stride <=
                      kReach;
    rows = axes[1].out;
    ptrdiff_t most = axes[2].out;
    while (!divide(axes, most)) {
      if (rows > 1) {
        rows = (rows + 1) / 2;
      } else if (most > 1) {
        most = (most + 1) / 2;
      } else {
        return;
      }
    }
    columns = most;
    if (is_in_place) groups = geometry.groups;
    groups = std::min(groups, geometry.groups);
  }

  // False if the stride is too large or the convolution has too many taps, or if the buffers on the stack are
  // too small for one output.
  [[nodiscard]] constexpr bool fits() const { return columns > 0; }

  ptrdiff_t rows = 0;  // outputs of one block
  ptrdiff_t columns = 0;
  ptrdiff_t groups = 0;
  ptrdiff_t channels = 0;    // of a group
  bool is_in_place = false;  // planes are read in place, because no tap sees padding
  ptrdiff_t height = 0;      // of a patch
  ptrdiff_t width = 0;

 private:
  static constexpr ptrdiff_t kReach = INT32_MAX / static_cast<ptrdiff_t>(sizeof(float));

  // At least the offset of the last element of a channel.
  static constexpr ptrdiff_t reach(const ConvolutionAxis* axes, ptrdiff_t ConvolutionAxis::* size,
                                   ptrdiff_t ConvolutionAxis::* stride) {
    ptrdiff_t sum = 0;
    for (size_t d = 0; d < kSpatial; ++d) sum += axes[d].*size * (axes[d].*stride);
    return sum;
  }
  // Positions that `outputs` see.
  static constexpr ptrdiff_t extent(const ConvolutionAxis& axis, ptrdiff_t outputs) {
    return (outputs - 1) * axis.step + (axis.kernel - 1) * axis.dilation + 1;
  }
  static constexpr bool has_padding(const ConvolutionAxis& axis) {
    return axis.pad != 0 || extent(axis, axis.out) > axis.in;
  }
  // Computes the patch of blocks of rows x most outputs. True if it and the tiles fit.
  constexpr bool divide(const ConvolutionAxis* axes, ptrdiff_t most) {
    constexpr auto kColumns = static_cast<ptrdiff_t>(std::max(ukernel::kTileColumns, size_t{1}));
    height = extent(axes[1], rows);
    width = extent(axes[2], most);
    const ptrdiff_t tiles =
        ukernel::kTilePositions > 1 ? (rows * most + kColumns - 1) / kColumns : rows * (most / kColumns + 3);
    if (tiles > kTiles) return false;
    if (is_in_place) return true;
    // Two factors of the product are small if the third one is compared first.
    if (height > kPatch || width > kPatch) return false;
    const ptrdiff_t plane = axes[0].kernel * height * width;
    groups = plane > kPatch ? 0 : kPatch / plane / channels;
    return groups > 0;
  }
};

// Convolves all groups of all elements of the batch. Precondition: the geometry's plan fits.
void convolve_by_planes(const ConvolutionGeometry& geometry, const ConvolutionData<float>& data);

}  // namespace rushlight::kernels::board
