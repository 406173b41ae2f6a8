// SPDX-License-Identifier: BSD-3-Clause
// Quantized depthwise convolutions by indirection: a pointer to the input for each tap of an output. Outputs
// without padding have constant strides in input and output; if a row has enough of them and the microkernel
// supports it, they share the pointers of the first. Other outputs have their own pointers, some outputs at a
// time. Channels are adjacent, so one pointer serves all channels of a tap, and the input is never copied.
#pragma once

#include <algorithm>
#include <cstring>

#include "kernels/geometry/patches.h"
#include "kernels/geometry/tap_finder.h"
#include "kernels/int8/convolution_tensors.h"
#include "kernels/quantization/requantization.h"

namespace rushlight::kernels::in_place {

// Each constant trades stack memory for fewer calls; see ByChannels for the layout of the pointers.
inline constexpr ptrdiff_t kPointers = 288;    // pointers for some outputs
inline constexpr ptrdiff_t kLeastSharing = 8;  // fewest outputs that share pointers
inline constexpr ptrdiff_t kChannels = 128;    // channels computed at a time at the border

// Filters all channels of an image. Holds the pointers, so it takes some kilobytes of stack:
//
//   pointers_   [pixels_][taps] of separate outputs, ..., [taps] of the output that others share
//   outside_    kChannels elements equal to the zero point, for taps in the padding
//
// At the border at most kChannels channels are computed in a call, because taps in the padding read outside_.
template <class Numbers>
class ByChannels {
  using Element = typename Numbers::Element;

 public:
  ByChannels(const ConvolutionGeometry& g, const QuantizedConvolutionProblem& problem)
      : g_(g), finder_(g, outside_) {
    std::memset(outside_, problem.input_zero_point, sizeof outside_);
    strip_.taps = static_cast<size_t>(g.taps());
    strip_.weight_stride = tap_stride(g);
    pixels_ = kPointers / g.taps() - 1;
    // Whole rows if they fit, so that the next rows can reuse the pointers.
    if (pixels_ > g.axes[2].out) pixels_ -= pixels_ % g.axes[2].out;
  }

  // Computes one batch element. Each iteration takes either outputs that share one set of pointers, or the
  // next outputs up to the end of a line, with a set each.
  void convolve(const Tensors<Numbers>& tensors, const ukernel::Requantization& to) {
    const ptrdiff_t outputs = g_.axes[0].out * g_.axes[1].out * g_.axes[2].out;
    const ptrdiff_t line = outputs_in_line(g_);
    strip_.out_stride = g_.axes[2].out_stride;
    OutputPositions position(g_, 0);
    // Outputs away from the borders share pointers if enough of them follow each other; each of the others
    // gets pointers.
    for (ptrdiff_t i = 0; i < outputs;) {
      Element* out = tensors.out + position.out_offset();
      const ptrdiff_t sharing = count_sharing(position.at());
      const ptrdiff_t count = sharing > 0 ? sharing : count_apart(position.at(), line - i % line);
      const ptrdiff_t pointing = sharing > 0 ? 1 : count;  // outputs that get pointers
      TapStrip<Element>& found = sharing > 0 ? shared_ : apart_;
      strip_.in = found.taps;
      const bool inside = finder_.find(tensors.in, position, pointing, found);
      if (sharing > 0) position.skip(sharing - 1);
      if constexpr (Numbers::kStrides) strip_.pixel_stride = sharing > 0 ? finder_.advance() : 0;
      strip_.pixels = static_cast<size_t>(count);
      // With a tap in the padding, `outside_` limits the channels of a call; pointers then move on by that
      // many channels.
      const ptrdiff_t most = inside ? g_.groups : kChannels;
      for (ptrdiff_t c = 0; c < g_.groups; c += most) {
        if (c > 0) move(found, most);
        strip_.channels = static_cast<size_t>(std::min(most, g_.groups - c));
        strip_.weights = tensors.weight + c;
        strip_.bias = tensors.bias == nullptr ? nullptr : tensors.bias + c;
        strip_.to = columns_from(to, static_cast<size_t>(c));
        strip_.out = out + c;
        Numbers::filter(strip_);
      }
      i += count;
    }
  }

 private:
  // The number of outputs that can share the pointers of the first; 0 if they are fewer than kLeastSharing,
  // which then get their own pointers.
  [[nodiscard]] ptrdiff_t count_sharing(const ptrdiff_t* at) const {
    if (!Numbers::kStrides) return 0;
    const ptrdiff_t count = finder_.count_inside(at);
    return count >= kLeastSharing ? count : 0;
  }

  // The number of outputs, of `line` in a line, that get their own pointers: at most pixels_, and only up to
  // the next outputs that can share pointers.
  [[nodiscard]] ptrdiff_t count_apart(const ptrdiff_t* at, ptrdiff_t line) const {
    const ptrdiff_t most = std::min(pixels_, line);
    if (!Numbers::kStrides || finder_.length() < kLeastSharing) return most;
    return std::min(most, finder_.count_before(at));
  }

  // Advances all pointers to the next channels; pointers to outside_ stay. The strip no longer describes the
  // first channel, so the next search must not reuse it.
  void move(TapStrip<Element>& found, ptrdiff_t channels) {
    found.line = nullptr;
    finder_.move(found.taps, channels, found.count * g_.taps(), found.taps);
  }

  const ConvolutionGeometry& g_;
  TapFinder<Element> finder_;
  typename Numbers::Depthwise strip_;
  ptrdiff_t pixels_;
  // Pointers of separate outputs, then the pointers of one output that others share.
  // At most kPointers: pixels_ + 1 outputs of taps() pointers each.
  const Element* pointers_[kPointers];
  TapStrip<Element> apart_{pointers_};
  TapStrip<Element> shared_{pointers_ + kPointers - g_.taps()};
  Element outside_[kChannels];
};

// True if filter_in_place() supports this geometry: one output channel for each input channel, channels
// adjacent in input, weight and output, taps with a constant stride, and at most kPointers / 2 = 144 taps.
[[nodiscard]] inline bool filters_in_place(const ConvolutionGeometry& g) {
  return filters_channels(g) && g.weight_group_stride == 1 && 2 * g.taps() <= kPointers && tap_stride(g) >= 0;
}

// Computes the convolution. Precondition: filters_in_place(g). Needs 288 pointers on the stack. Cost: one
// multiply-add for each output and tap, padding included.
template <class Numbers>
[[gnu::noinline]] void filter_in_place(const ConvolutionGeometry& g,
                                       const QuantizedConvolutionProblem& problem) {
  ByChannels<Numbers> by_channels(g, problem);
  for (ptrdiff_t n = 0; n < g.batch; ++n)
    by_channels.convolve(tensors_at<Numbers>(problem, g, n), problem.to);
}

}  // namespace rushlight::kernels::in_place
