// SPDX-License-Identifier: BSD-3-Clause
// The choice of a method for a convolution. All functions are constant expressions, so that a build evaluates
// them over the calls it was selected for and compiles only the methods that these take; a call evaluates
// them again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/board/by_panels.h"
#include "kernels/board/by_patches.h"
#include "kernels/board/by_pixels.h"
#include "kernels/board/by_planes.h"
#include "kernels/board/convolve_channels.h"
#include "kernels/geometry/convolution_geometry.h"
#include "kernels/geometry/selected_convolution.h"
#include "kernels/ukernel/panel.h"

namespace rushlight::kernels::board {

// Without products, depthwise channels-last, one channel by a 3x3 kernel, one tap without padding, and the
// methods of by_planes.h, by_patches.h, by_pixels.h and by_panels.h.
enum class Method : unsigned char { kBias, kChannels, kPlane, kShifts, kPlanes, kPatches, kPixels, kPanels };

// True for a phase of a transposed convolution that no tap reaches, and without input channels.
[[nodiscard]] constexpr bool has_no_products(const ConvolutionGeometry& geometry) {
  return geometry.taps() == 0 || geometry.in_channels == 0;
}

inline constexpr ptrdiff_t kFewChannels = 4;  // output channels below which most of a panel's work is wasted

[[nodiscard]] constexpr bool is_plain_three(const ConvolutionAxis& axis) {
  return axis.kernel == 3 && axis.step == 1 && axis.dilation == 1 && axis.pad == 1 && axis.in == axis.out;
}

// True for a 3x3 kernel with stride 1 and padding 1 on contiguous rows, for one input channel and few output
// channels.
[[nodiscard]] constexpr bool takes_plane(const ConvolutionGeometry& geometry) {
  const ConvolutionAxis* axes = geometry.axes;
  return is_flat(geometry) && geometry.in_channels == 1 && geometry.out_channels < kFewChannels &&
         is_plain_three(axes[1]) && is_plain_three(axes[2]) && axes[2].in_stride == 1 &&
         axes[2].out_stride == 1;
}

// True for one tap of few channels if inputs and outputs of a channel are one line, and so are the weights of
// an output channel.
[[nodiscard]] constexpr bool takes_shifts(const ConvolutionGeometry& geometry) {
  const ConvolutionAxis* axes = geometry.axes;
  constexpr ptrdiff_t kMost = INT32_MAX / static_cast<ptrdiff_t>(sizeof(float));
  return is_flat(geometry) && geometry.taps() == 1 && axes[1].out == 1 && axes[1].in == 1 &&
         is_pointwise(axes[2]) && axes[2].in_stride == 1 && axes[2].out_stride == 1 &&
         axes[2].out >= static_cast<ptrdiff_t>(ukernel::kShiftColumns) &&
         geometry.in_channels <= static_cast<ptrdiff_t>(ukernel::kShiftDepth) &&
         (geometry.in_channels == 1 || geometry.weight_in_stride == 1) &&
         geometry.in_channels * geometry.in_channel_stride <= kMost;
}

// True if patches take fewer instructions than products of panels do. Panels need output channels that fill
// them, and weights whose elements are adjacent.
[[nodiscard]] constexpr bool prefers_patches(const ConvolutionGeometry& geometry) {
  constexpr ptrdiff_t kSomeChannels = 8;  // below which gathering each tap costs more than a patch
  constexpr ptrdiff_t kShortPart = 8;     // adjacent weights below which a product is mostly overhead
  constexpr auto kColumns = static_cast<ptrdiff_t>(ukernel::kPanelColumns);
  if (!is_flat(geometry) || geometry.out_channels < kFewChannels) return true;
  if (takes_pixels(geometry)) {
    return geometry.out_channels < std::min(kColumns, kSomeChannels) &&
           (geometry.groups > 1 || geometry.taps() > 1);
  }
  if (geometry.taps() > 1 && geometry.out_channels <= kSomeChannels) return true;
  const Parts parts(geometry);
  return parts.whole.channels * parts.whole.taps <
         std::min(geometry.taps() * geometry.in_channels, kShortPart);
}

// True if planes take fewer instructions than the other methods: for one input channel, or if nothing is
// copied. Where tiles list all positions, they also beat panels of channels-first images and of few output
// channels, and sums of channels for other kernels than 2 or 3 rows and columns.
[[nodiscard]] constexpr bool takes_planes(const ConvolutionGeometry& geometry) {
  const ConvolutionAxis* axes = geometry.axes;
  const bool is_single = geometry.in_channels == 1;
  bool is_better = prefers_patches(geometry);  // if the planes of a group fit
  bool is_better_in_place = is_better;         // if nothing is copied
  if (PlanePlan::kListsAll) {
    constexpr auto kGroup = static_cast<ptrdiff_t>(ukernel::kChannelGroup);
    if (takes_channels(geometry)) {
      is_better = axes[1].kernel > 3 || axes[2].kernel > 3 || geometry.groups % kGroup != 0;
      is_better_in_place = is_better;
    } else {
      is_better = is_better || (is_single && !takes_pixels(geometry));
      is_better_in_place =
          is_better || geometry.out_channels < static_cast<ptrdiff_t>(ukernel::kPanelColumns);
    }
  } else if (takes_channels(geometry)) {
    return false;
  }
  if (!is_better_in_place) return false;
  const PlanePlan plan(geometry);
  if (!plan.fits()) return false;
  if (plan.is_in_place) return true;
  // Patches of three output channels share the loads of their inputs.
  const bool is_whole = PlanePlan::kListsAll && geometry.out_channels < 3 && plan.rows == axes[1].out;
  return is_better && (is_single || is_whole);
}

// For float32, if the convolution is not transposed.
[[nodiscard]] constexpr Method method_of(const ConvolutionGeometry& geometry) {
  if (has_no_products(geometry)) return Method::kBias;
  if (takes_plane(geometry)) return Method::kPlane;
  if (takes_shifts(geometry)) return Method::kShifts;
  if (takes_planes(geometry)) return Method::kPlanes;
  if (takes_channels(geometry)) return Method::kChannels;
  if (prefers_patches(geometry) && PatchPlan(geometry).fits()) return Method::kPatches;
  return takes_pixels(geometry) ? Method::kPixels : Method::kPanels;
}

// True if a call of the build is transposed. Its phases may take every method.
inline constexpr bool kReachesTransposed =
    reaches_convolution([](const ConvolutionGeometry& geometry) { return geometry.transposed; });

// True if a call of the build takes the method.
template <Method kMethod>
inline constexpr bool kReaches = reaches_convolution([](const ConvolutionGeometry& geometry) {
  return geometry.transposed || method_of(geometry) == kMethod;
});

}  // namespace rushlight::kernels::board
