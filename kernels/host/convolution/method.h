// SPDX-License-Identifier: BSD-3-Clause
// The choice of a method for a convolution. All functions are constant expressions, so that a build evaluates
// them over the calls it was selected for and compiles only the methods that these reach; a call evaluates
// them again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/checks/selected_calls.h"
#include "kernels/geometry/image_channels.h"
#include "kernels/host/convolution.h"
#include "kernels/ukernel/winograd.h"

namespace rushlight::kernels::host {

// rows.h, planes.h, depthwise.h (two methods), winograd.h. The numbers identify packed weights.
enum class Algorithm : uint64_t { kRows = 1, kPlanes, kDepthwiseRows, kDepthwisePlanes, kWinograd };

// True if input and output are channels-last.
[[nodiscard]] constexpr bool has_channels_last(const Convolution& c) {
  return (c.in_channel_stride == 1 || c.in_channels * c.groups == 1) &&
         (c.out_channel_stride == 1 || c.out_channels * c.groups == 1);
}

// True if the rows of a channel are contiguous in input and output.
[[nodiscard]] constexpr bool has_planes(const Convolution& c) {
  const ConvolutionAxis& y = c.axes[1];
  const ConvolutionAxis& x = c.axes[2];
  return (x.in_stride == 1 || x.in == 1) && (x.out_stride == 1 || x.out == 1) &&
         (y.in_stride == x.in || y.in == 1) && (y.out_stride == x.out || y.out == 1);
}

// True for depthwise convolutions in any layout whose kernel is not too large for the copies of
// convolve_depthwise_planes().
[[nodiscard]] constexpr bool is_depthwise(const Convolution& c) {
  if (c.in_channels != 1 || c.groups == 1) return false;
  // Limits bytes of scratch memory to the range of size_t.
  constexpr ptrdiff_t kReach = 255;
  ptrdiff_t taps = 1;
  for (const ConvolutionAxis& axis : c.axes) {
    if (axis.kernel > kReach || (axis.kernel - 1) * axis.dilation > kReach) return false;
    taps *= axis.kernel;
  }
  return c.axes[2].out + kReach <= (PTRDIFF_MAX >> 13) / taps;
}

// True if both tensors are channels-last and each input channel has one output channel.
[[nodiscard]] constexpr bool is_depthwise_rows(const Convolution& c) {
  return is_depthwise(c) && c.out_channels == 1 && has_channels_last(c);
}

// True if a copy of the input with its border saves time (border.h). The result is channels-last; the input
// may have another layout.
[[nodiscard]] constexpr bool gains_by_border(const Convolution& c) {
  constexpr ptrdiff_t kBorderChannels = 32;  // with more channels products cost more than the border tests
  if (c.transposed || c.groups != 1 || c.in_channels == 0 || c.out_channel_stride != 1) return false;
  // Limits the size of the copy for any program: with its border an image is at most three times as long in
  // each dimension.
  for (const ConvolutionAxis& axis : c.axes) {
    if (axis.out <= 0 || axis.pad > axis.in) return false;
  }
  // Channels-first inputs with few channels gain by the interleave, even without padding.
  if (c.in_channel_stride != 1 && c.in_channels > 1) return c.in_channels <= kImageChannels;
  const ConvolutionAxis& row = c.axes[2];
  return c.in_channels <= kBorderChannels && row.kernel > 1 && row.dilation == 1 && row.pad > 0;
}

// is_winograd(): true if the method applies: 3x3, stride 1, no dilation, one group, 2-d. gains_by_winograd():
// true if it is also faster, by measurement.
[[nodiscard]] constexpr bool is_winograd(const Convolution& c) {
  const ConvolutionAxis& z = c.axes[0];
  if (c.transposed || c.groups != 1 || z.kernel != 1 || z.in != 1 || z.out != 1) return false;
  for (size_t i = 1; i < kSpatial; ++i) {
    const ConvolutionAxis& axis = c.axes[i];
    if (axis.kernel != 3 || axis.step != 1 || axis.dilation != 1 || axis.pad > 2) return false;
  }
  return has_channels_last(c) || has_planes(c);
}
[[nodiscard]] constexpr bool gains_by_winograd(const Convolution& c) {
  if (!is_winograd(c) || c.in_channels < 32 || c.out_channels < 32) return false;
  // The last row and column of tiles may compute outputs that do not exist.
  constexpr ptrdiff_t kOut = ukernel::kWinogradOut;
  const ptrdiff_t tiles = ((c.axes[1].out + kOut - 1) / kOut) * ((c.axes[2].out + kOut - 1) / kOut);
  // With fewer tiles, weights are read for too few products; with more waste, too many outputs of tiles are
  // unused. 7 x 7 images still gain.
  return tiles >= 12 && 10 * c.axes[1].out * c.axes[2].out >= 7 * tiles * kOut * kOut;
}

// The method that takes any weights and residual.
[[nodiscard]] constexpr Algorithm algorithm_of(const Convolution& c) {
  if (is_depthwise_rows(c)) return Algorithm::kDepthwiseRows;
  if (is_depthwise(c)) return Algorithm::kDepthwisePlanes;
  return has_channels_last(c) || gains_by_border(c) ? Algorithm::kRows : Algorithm::kPlanes;
}

// With rows and columns exchanged.
[[nodiscard]] constexpr Convolution exchanged(const Convolution& c) {
  Convolution made = c;
  made.axes[1] = c.axes[2];
  made.axes[2] = c.axes[1];
  return made;
}

// True if rows and columns are exchanged, which makes short rows longer. Only for methods that work for any
// strides.
[[nodiscard]] constexpr bool gains_by_exchange(const Convolution& c) {
  constexpr ptrdiff_t kShortRow = 8;  // outputs
  if (c.axes[2].out >= std::min(kShortRow, c.axes[1].out)) return false;
  return is_depthwise_rows(c) || (gains_by_border(c) && gains_by_border(exchanged(c)));
}

// True if the outputs of a channel are one span in memory.
[[nodiscard]] constexpr bool has_output_spans(const Convolution& c) {
  const ConvolutionAxis* axes = c.axes;
  return !c.transposed && axes[2].out_stride == 1 &&
         (axes[1].out == 1 || axes[1].out_stride == axes[2].out) &&
         (axes[0].out == 1 || axes[0].out_stride == axes[2].out * axes[1].out);
}

// True if the predicate holds for a call of the build, or if not all calls are known.
template <class Predicate>
constexpr bool is_reached_by(Predicate predicate) {
  return is_reached({"convolution", "convolution_act"}, [predicate](const SelectedCall& call) {
    // Not of calls that the operator refuses.
    const size_t rank = call["input"].count;
    if (rank < 3 || rank > 2 + kSpatial || call["weight"].count != rank || call["out"].count != rank)
      return false;
    if (call["groups"].numbers[0] < 1) return false;
    for (const char* list : {"stride", "padding", "dilation"}) {
      if (call[list].count != 1 && call[list].count != rank - 2) return false;
    }
    const ConvolutionArguments arguments = {call["stride"].list(),         call["padding"].list(),
                                            call["dilation"].list(),       call["transposed"].numbers[0] != 0,
                                            call["output_padding"].list(), call["groups"].numbers[0]};
    Convolution c = describe_convolution(call["input"], call["weight"], arguments, call["out"]);
    if (gains_by_exchange(c)) c = exchanged(c);
    return predicate(c);
  });
}

// True if a call of the build takes the method.
template <Algorithm kAlgorithm>
inline constexpr bool kIsReached = is_reached_by([](const Convolution& c) {
  // Images with infinities are computed again without transforms.
  const bool takes_winograd = gains_by_winograd(c);
  if (kAlgorithm == Algorithm::kWinograd) return takes_winograd;
  return (kAlgorithm == Algorithm::kPlanes && takes_winograd) || algorithm_of(c) == kAlgorithm;
});

// True if a call of the build is transposed, which takes several phases; if the methods for planes store to
// outputs that are apart.
inline constexpr bool kReachesTransposed = is_reached_by([](const Convolution& c) { return c.transposed; });
inline constexpr bool kReachesScattered = is_reached_by([](const Convolution& c) {
  const bool is_by_planes =
      algorithm_of(c) == Algorithm::kPlanes || algorithm_of(c) == Algorithm::kDepthwisePlanes;
  return (is_by_planes || gains_by_winograd(c)) && !has_output_spans(c);
});

// False for a call to which no selected one is similar. The code of the methods relies on it.
[[nodiscard]] constexpr bool is_selected(const Convolution& c, Algorithm algorithm) {
  constexpr bool kCompiled[] = {kIsReached<Algorithm::kRows>, kIsReached<Algorithm::kPlanes>,
                                kIsReached<Algorithm::kDepthwiseRows>,
                                kIsReached<Algorithm::kDepthwisePlanes>, kIsReached<Algorithm::kWinograd>};
  if (!kCompiled[static_cast<size_t>(algorithm) - static_cast<size_t>(Algorithm::kRows)]) return false;
  if (!kReachesTransposed && c.transposed) return false;
  const bool is_by_planes = algorithm == Algorithm::kPlanes || algorithm == Algorithm::kDepthwisePlanes;
  return kReachesScattered || !is_by_planes || has_output_spans(c);
}

}  // namespace rushlight::kernels::host
