// SPDX-License-Identifier: BSD-3-Clause
// The choice of a method for a convolution. All functions are constant expressions, so that a build evaluates
// them over the calls it was selected for and compiles only the methods that these reach; a call evaluates
// them again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/geometry/image_channels.h"
#include "kernels/geometry/selected_convolution.h"
#include "kernels/host/convolution.h"
#include "kernels/ukernel/depthwise.h"
#include "kernels/ukernel/winograd.h"

namespace rushlight::kernels::host {

// rows.h, planes.h, depthwise.h (two methods), blocks.h, winograd.h. The numbers identify packed weights.
enum class Algorithm : uint64_t {
  kRows = 1,
  kPlanes,
  kDepthwiseRows,
  kDepthwisePlanes,
  kDepthwiseBlocks,
  kWinograd
};

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

// True if each input channel has one output channel, or each group as many outputs as inputs: 2, 4, 8 or 16.
[[nodiscard]] constexpr bool has_small_groups(const Convolution& c) {
  constexpr auto kMostGroup = static_cast<ptrdiff_t>(ukernel::kDepthwiseBlock);
  const ptrdiff_t group = c.in_channels;
  const bool fits = group > 0 && group <= kMostGroup && (group & (group - 1)) == 0;
  return c.groups > 1 && fits && c.out_channels == group;
}

// The same, and both tensors are channels-last.
[[nodiscard]] constexpr bool is_depthwise_rows(const Convolution& c) {
  return has_small_groups(c) && has_channels_last(c);
}

// True for small groups of channels-first images if transposing blocks of channels pays, which costs as much
// as some taps. Channels that do not fill their blocks leave lanes unused, as narrow and strided rows of
// outputs do in the method for planes.
inline constexpr ptrdiff_t kMostBlockRows = 16;
[[nodiscard]] constexpr bool gains_by_blocks(const Convolution& c) {
  constexpr auto kBlock = static_cast<ptrdiff_t>(ukernel::kDepthwiseBlock);
  constexpr ptrdiff_t kLeastTaps = 3;
  constexpr ptrdiff_t kReach = 255;  // limits the scratch memory
  const ConvolutionAxis& y = c.axes[1];
  const ConvolutionAxis& x = c.axes[2];
  if (c.transposed || !has_small_groups(c) || !is_flat(c) || has_channels_last(c)) return false;
  const ptrdiff_t channels = c.groups * c.in_channels;
  const ptrdiff_t padded = (channels + kBlock - 1) / kBlock * kBlock;
  const bool fills_planes = x.step == 1 && x.out >= 2 * kBlock;
  const bool has_rows = (x.in_stride == 1 || x.in == 1) && (x.out_stride == 1 || x.out == 1);
  return has_rows && y.kernel <= kMostBlockRows && (y.kernel - 1) * y.dilation <= kReach &&
         (x.kernel - 1) * x.dilation <= kReach && x.step <= kReach && c.taps() >= kLeastTaps &&
         10 * channels >= (fills_planes ? 8 : 5) * padded;
}

// ---- Copies of the input with a border of zeros (border.h) ----

// True if the copy has a reasonable size.
[[nodiscard]] constexpr bool can_have_border(const Convolution& c) {
  if (c.in_channels == 0) return false;
  // Limits the size of the copy for any program: with its border an image is at most three times as long in
  // each dimension.
  for (const ConvolutionAxis& axis : c.axes) {
    if (axis.out <= 0 || axis.in <= 0 || axis.pad > axis.in) return false;
  }
  return true;
}

// True if the copy saves time, and the result is channels-last; the input may have another layout.
[[nodiscard]] constexpr bool gains_by_border(const Convolution& c) {
  constexpr ptrdiff_t kBorderChannels = 32;  // with more channels products cost more than the border tests
  constexpr ptrdiff_t kLeastGroup = 4;       // channels of groups that gain: each group has border tests
  constexpr ptrdiff_t kMostGroup = 256;
  if (c.transposed || c.out_channel_stride != 1 || !can_have_border(c)) return false;
  // Channels-first inputs with few channels gain by the interleave, even without padding.
  if (c.in_channel_stride != 1 && c.in_channels > 1) return c.groups == 1 && c.in_channels <= kImageChannels;
  const ConvolutionAxis& row = c.axes[2];
  if (row.kernel <= 1 || row.dilation != 1 || row.pad <= 0) return false;
  if (c.groups == 1) return c.in_channels <= kBorderChannels;
  return c.in_channels >= kLeastGroup && c.in_channels <= kMostGroup;
}

// The number of positions of axis i in the copy: all that outputs see, padding included. Transposed
// convolutions see the whole input and get no border.
[[nodiscard]] constexpr ptrdiff_t seen_length(const Convolution& c, size_t i) {
  const ConvolutionAxis& axis = c.axes[i];
  return c.transposed ? axis.in : (axis.out - 1) * axis.step + (axis.kernel - 1) * axis.dilation + 1;
}

// Bytes of one image with its border: all positions that outputs see, [rows][columns][channels] floats.
[[nodiscard]] constexpr size_t bordered_size(const Convolution& c) {
  ptrdiff_t floats = c.groups * c.in_channels;
  for (size_t i = 0; i < kSpatial; ++i) floats *= seen_length(c, i);
  return static_cast<size_t>(floats) * sizeof(float);
}

// The convolution of one image after the copy: channels-last without padding (transposed convolutions keep
// theirs). The addresses are unchanged.
[[nodiscard]] constexpr Convolution with_border(const Convolution& c) {
  Convolution made = c;
  made.batch = 1;
  made.in_channel_stride = 1;
  ptrdiff_t stride = c.groups * c.in_channels;
  for (size_t i = kSpatial; i-- > 0;) {
    ConvolutionAxis& axis = made.axes[i];
    axis.in = seen_length(c, i);
    if (!c.transposed) axis.pad = 0;
    axis.in_stride = stride;
    stride *= axis.in;
  }
  return made;
}

// ---- Channels-first by way of channels-last (turned.h) ----

[[nodiscard]] constexpr ptrdiff_t channels_of(const Convolution& c) { return c.groups * c.out_channels; }
[[nodiscard]] constexpr ptrdiff_t pixels_of(const Convolution& c) {
  return c.axes[0].out * c.axes[1].out * c.axes[2].out;
}

// True if both copies cost less than the gathers of the methods for planes.
[[nodiscard]] constexpr bool gains_by_turning(const Convolution& c) {
  constexpr ptrdiff_t kTurnedTaps = 25;  // of depthwise kernels that gain
  if (!can_have_border(c) || gains_by_blocks(c)) return false;
  // The outputs of a row are adjacent: they are channels-first.
  if (c.axes[2].out_stride != 1 || c.out_channel_stride == 1) return false;
  const ptrdiff_t taps = c.axes[0].kernel * c.axes[1].kernel * c.axes[2].kernel;
  if (is_depthwise(c)) return c.out_channels == 1 && taps >= kTurnedTaps;
  // Costs in relation to a contiguous copy: a gather of every second element is slower, of others much
  // slower, and so is a transposed copy. Products of the few channels of an image are so short that the
  // gather counts more, unless channels-last products would leave lanes of their vectors unused.
  constexpr ptrdiff_t kLanes = 16;
  const ptrdiff_t inputs = c.groups * c.in_channels;
  const bool is_short = inputs <= kImageChannels && c.out_channels % kLanes == 0;
  const ptrdiff_t step = c.axes[2].step;
  const ptrdiff_t gather = step == 1 ? 1 : c.transposed ? 2 : step == 2 ? (is_short ? 3 : 2) : 6;
  const ptrdiff_t outputs = channels_of(c) * pixels_of(c);
  const ptrdiff_t seen =
      c.transposed ? pixels_of(c) * taps / (c.axes[1].step * c.axes[2].step) : pixels_of(c) * taps;
  const ptrdiff_t copied = static_cast<ptrdiff_t>(bordered_size(c) / sizeof(float));
  return seen * inputs * gather >= copied * (inputs <= kImageChannels ? 1 : 2) + 2 * outputs;
}

// A band is a part of the outermost axis that has several outputs, else of the last one. Its results stay in
// the L2 cache until they are transposed. Transposed convolutions, whose outputs are in phases, have one
// band.
[[nodiscard]] constexpr size_t banded_axis(const Convolution& c) {
  size_t axis = 0;
  while (axis + 1 < kSpatial && c.axes[axis].out <= 1) ++axis;
  return axis;
}
[[nodiscard]] constexpr ptrdiff_t band_length(const Convolution& c, size_t axis) {
  constexpr ptrdiff_t kBand = 1 << 16;  // floats of results
  const ptrdiff_t out = c.axes[axis].out;
  if (c.transposed) return out;
  const ptrdiff_t each = std::max<ptrdiff_t>(channels_of(c) * (pixels_of(c) / out), 1);
  const ptrdiff_t most = std::clamp<ptrdiff_t>(kBand / each, 1, out);
  // Bands of nearly equal length.
  const ptrdiff_t bands = (out + most - 1) / most;
  return (out + bands - 1) / bands;
}

// The same convolution with outputs that are channels-last.
[[nodiscard]] constexpr Convolution with_turned_outputs(const Convolution& c) {
  Convolution made = c;
  made.out_channel_stride = 1;
  ptrdiff_t stride = channels_of(c);
  for (size_t i = kSpatial; i-- > 0;) {
    made.axes[i].out_stride = stride;
    stride *= made.axes[i].out;
  }
  return made;
}

// The channels-last convolution of one band of one image; the last band may be smaller. The addresses are
// unchanged.
[[nodiscard]] constexpr Convolution turned(const Convolution& c) {
  Convolution made = with_border(c);
  const size_t axis = banded_axis(c);
  made.axes[axis].out = band_length(c, axis);
  return with_turned_outputs(made);
}

// ---- Methods ----

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
  if (gains_by_blocks(c)) return Algorithm::kDepthwiseBlocks;
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

// How a convolution is computed, if not by Winograd.
struct Form {
  bool is_turned;
  bool is_exchanged;
  Convolution convolution;  // one band of one image if it is turned

  constexpr Form(const Convolution& c, bool turns)
      : Form(c, turns, gains_by_exchange(turns ? turned(c) : c)) {}
  constexpr Form(const Convolution& c, bool turns, bool exchanges)
      : is_turned(turns), is_exchanged(exchanges), convolution(turns ? turned(c) : c) {
    if (is_exchanged) convolution = exchanged(convolution);
  }
};

// True if the predicate holds for a call of the build, or if not all calls are known. It gets the
// convolution, and the form of it that is computed.
template <class Predicate>
constexpr bool is_reached_by(Predicate predicate) {
  return reaches_convolution([predicate](const ConvolutionGeometry& geometry) {
    const Convolution c = {geometry};
    return predicate(c, Form(c, gains_by_turning(c)).convolution);
  });
}

// True if a call of the build takes the method.
template <Algorithm kAlgorithm>
inline constexpr bool kIsReached = is_reached_by([](const Convolution& c, const Convolution& computed) {
  // Images with infinities are computed again without transforms.
  const bool takes_winograd = gains_by_winograd(c);
  if (kAlgorithm == Algorithm::kWinograd) return takes_winograd;
  return (kAlgorithm == Algorithm::kPlanes && takes_winograd) || algorithm_of(computed) == kAlgorithm;
});

// True if a call of the build is transposed, which takes several phases; if one is channels-first and
// computed channels-last; if the methods for planes store to outputs that are apart.
inline constexpr bool kReachesTransposed =
    is_reached_by([](const Convolution& c, const Convolution&) { return c.transposed; });
inline constexpr bool kReachesTurned = is_reached_by(
    [](const Convolution& c, const Convolution&) { return !gains_by_winograd(c) && gains_by_turning(c); });
inline constexpr bool kReachesScattered =
    is_reached_by([](const Convolution& c, const Convolution& computed) {
      const Algorithm algorithm = algorithm_of(computed);
      const bool is_by_planes = algorithm == Algorithm::kPlanes || algorithm == Algorithm::kDepthwisePlanes;
      return (is_by_planes || gains_by_winograd(c)) && !has_output_spans(c);
    });

// False for a call to which no selected one is similar. The code of the methods relies on it.
[[nodiscard]] constexpr bool is_selected(const Convolution& c, Algorithm algorithm) {
  constexpr bool kCompiled[] = {kIsReached<Algorithm::kRows>,
                                kIsReached<Algorithm::kPlanes>,
                                kIsReached<Algorithm::kDepthwiseRows>,
                                kIsReached<Algorithm::kDepthwisePlanes>,
                                kIsReached<Algorithm::kDepthwiseBlocks>,
                                kIsReached<Algorithm::kWinograd>};
  if (!kCompiled[static_cast<size_t>(algorithm) - static_cast<size_t>(Algorithm::kRows)]) return false;
  if (!kReachesTransposed && c.transposed) return false;
  const bool is_by_planes = algorithm == Algorithm::kPlanes || algorithm == Algorithm::kDepthwisePlanes;
  return kReachesScattered || !is_by_planes || has_output_spans(c);
}

}  // namespace rushlight::kernels::host
