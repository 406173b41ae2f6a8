// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolutions of integers, by pointers to what each output sees. Outputs that see no border lie at
// equal steps, as what they see does: where there are enough of them in a row, they share the pointers of the
// first, if the loops can. Others have pointers of their own, some outputs at a time.
#pragma once

#include <algorithm>
#include <cstring>

#include "kernels/geometry/patches.h"
#include "kernels/geometry/tap_finder.h"
#include "kernels/int8/convolution_tensors.h"
#include "kernels/quantization/requantization.h"

namespace rushlight::kernels::in_place {

inline constexpr ptrdiff_t kPointers = 288;    // what some outputs see
inline constexpr ptrdiff_t kLeastSharing = 8;  // outputs that share the pointers of one
inline constexpr ptrdiff_t kChannels = 128;    // that are taken at once, where there is a border

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
    // Whole rows, if some fit, so that those below are alike.
    if (pixels_ > g.axes[2].out) pixels_ -= pixels_ % g.axes[2].out;
  }

  void convolve(const Tensors<Numbers>& tensors, const ukernel::Requantization& to) {
    const ptrdiff_t outputs = g_.axes[0].out * g_.axes[1].out * g_.axes[2].out;
    const ptrdiff_t line = outputs_in_line(g_);
    strip_.out_stride = g_.axes[2].out_stride;
    OutputPositions position(g_, 0);
    for (ptrdiff_t i = 0; i < outputs;) {
      Element* out = tensors.out + position.out_offset();
      const ptrdiff_t sharing = count_sharing(position.at());
      const ptrdiff_t count = sharing > 0 ? sharing : count_apart(position.at(), line - i % line);
      const ptrdiff_t pointing = sharing > 0 ? 1 : count;  // outputs with pointers of their own
      TapStrip<Element>& found = sharing > 0 ? shared_ : apart_;
      strip_.in = found.taps;
      const bool inside = finder_.find(tensors.in, position, pointing, found);
      if (sharing > 0) position.skip(sharing - 1);
      if constexpr (Numbers::kStrides) strip_.pixel_stride = sharing > 0 ? finder_.advance() : 0;
      strip_.pixels = static_cast<size_t>(count);
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
  // Outputs that can share the pointers of the first, if it is worth a call.
  [[nodiscard]] ptrdiff_t count_sharing(const ptrdiff_t* at) const {
    if (!Numbers::kStrides) return 0;
    const ptrdiff_t count = finder_.count_inside(at);
    return count >= kLeastSharing ? count : 0;
  }

  // Outputs with pointers of their own, of so many in a line.
  [[nodiscard]] ptrdiff_t count_apart(const ptrdiff_t* at, ptrdiff_t line) const {
    const ptrdiff_t most = std::min(pixels_, line);
    if (!Numbers::kStrides || finder_.length() < kLeastSharing) return most;
    return std::min(most, finder_.count_before(at));
  }

  // To the next channels.
  void move(TapStrip<Element>& found, ptrdiff_t channels) {
    found.place = nullptr;
    finder_.move(found.taps, channels, found.count * g_.taps(), found.taps);
  }

  const ConvolutionGeometry& g_;
  TapFinder<Element> finder_;
  typename Numbers::Depthwise strip_;
  ptrdiff_t pixels_;
  // Of outputs with pointers of their own, then of one that shares its.
  const Element* pointers_[kPointers];
  TapStrip<Element> apart_{pointers_};
  TapStrip<Element> shared_{pointers_ + kPointers - g_.taps()};
  Element outside_[kChannels];
};

// Whether filter_in_place() takes convolutions of this geometry.
[[nodiscard]] inline bool filters_in_place(const ConvolutionGeometry& g) {
  return filters_channels(g) && g.weight_group_stride == 1 && 2 * g.taps() <= kPointers && tap_stride(g) >= 0;
}

template <class Numbers>
[[gnu::noinline]] void filter_in_place(const ConvolutionGeometry& g,
                                       const QuantizedConvolutionProblem& problem) {
  ByChannels<Numbers> by_channels(g, problem);
  for (ptrdiff_t n = 0; n < g.batch; ++n)
    by_channels.convolve(tensors_at<Numbers>(problem, g, n), problem.to);
}

}  // namespace rushlight::kernels::in_place
