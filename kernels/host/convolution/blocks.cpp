// SPDX-License-Identifier: BSD-3-Clause
// The rows that a row of outputs sees are in a ring of transposed rows with a border of zeros, which stays in
// the L1 cache; wide images are divided into strips of columns. Each row is transposed once for a strip, and
// each result once; both copies cost about as much as six taps.
#include "kernels/host/convolution/blocks.h"

#include <algorithm>

#include "kernels/host/convolution/method.h"
#include "kernels/host/parts.h"
#include "kernels/ukernel/depthwise.h"
#include "kernels/ukernel/transpose.h"

namespace rushlight::kernels::host {

namespace {

constexpr auto kBlock = static_cast<ptrdiff_t>(ukernel::kDepthwiseBlock);
constexpr ptrdiff_t kRing = 1 << 13;       // floats of a ring: fits in the L1 cache
constexpr ptrdiff_t kLeastStrip = 16;      // outputs of a row, whatever the ring takes
constexpr ptrdiff_t kResults = 64;         // outputs that are transposed together
constexpr ptrdiff_t kPartsOfThread = 2;    // pieces of work for each thread, if channels are few
constexpr ptrdiff_t kLeastRowsOfPart = 8;  // neighbors transpose the rows that both see
constexpr ptrdiff_t kFloat = sizeof(float);

ptrdiff_t divide_up(ptrdiff_t a, ptrdiff_t b) { return (a + b - 1) / b; }

class ChannelBlocks {
 public:
  ChannelBlocks(const Convolution& c, const float* packed, size_t threads)
      : c_(c), packed_(packed), channels_(channels_of(c)), blocks_(divide_up(channels_, kBlock)) {
    const ConvolutionAxis& x = c.axes[2];
    ring_ = (c.axes[1].kernel - 1) * c.axes[1].dilation + 1;
    const ptrdiff_t fitting = (kRing / kBlock / ring_ - (x.kernel - 1) * x.dilation) / x.step;
    strips_ = divide_up(x.out, std::clamp(fitting, std::min(kLeastStrip, x.out), x.out));
    width_ = divide_up(x.out, strips_);
    strips_ = divide_up(x.out, width_);
    seen_ = (width_ - 1) * x.step + (x.kernel - 1) * x.dilation + 1;
    const ptrdiff_t items = c.batch * blocks_ * strips_;
    const ptrdiff_t parts = divide_up(kPartsOfThread * static_cast<ptrdiff_t>(threads), items);
    const ptrdiff_t rows = c.axes[1].out;
    rows_ = threads == 1 ? rows : std::min(rows, std::max(divide_up(rows, parts), kLeastRowsOfPart));
    parts_ = divide_up(rows, rows_);
    // Rows of results are one span of a plane if strips are whole rows.
    const bool follows = strips_ == 1 && c.axes[1].out_stride == x.out;
    together_ = follows ? std::max<ptrdiff_t>(kResults / width_, 1) : 1;
  }

  // The ring, then the results.
  [[nodiscard]] size_t scratch_floats() const {
    return static_cast<size_t>((ring_ * seen_ + together_ * width_) * kBlock);
  }
  // An item is a part of the rows of a strip of a block of channels.
  [[nodiscard]] size_t items() const { return static_cast<size_t>(c_.batch * blocks_ * strips_ * parts_); }
  [[nodiscard]] size_t grain() const {
    const ptrdiff_t taps = c_.axes[1].kernel * c_.axes[2].kernel * c_.in_channels;
    return items_for_thread(rows_ * width_ * taps * kBlock, kThreadDepthwise);
  }

  void compute(size_t begin, size_t end, float* scratch) const {
    for (size_t item = begin; item < end; ++item) {
      auto rest = static_cast<ptrdiff_t>(item);
      Part part;
      part.top = rest % parts_ * rows_;
      part.bottom = std::min(part.top + rows_, c_.axes[1].out);
      rest /= parts_;
      part.left = rest % strips_ * width_;
      part.width = std::min(width_, c_.axes[2].out - part.left);
      rest /= strips_;
      const ptrdiff_t channel = rest % blocks_ * kBlock;
      part.channels = std::min(kBlock, channels_ - channel);
      part.in = c_.input + rest / blocks_ * c_.in_batch_stride + channel * c_.in_channel_stride;
      part.out = rest / blocks_ * c_.out_batch_stride + channel * c_.out_channel_stride + part.left;
      part.ring = scratch;
      part.results = scratch + ring_ * seen_ * kBlock;
      compute_part(part, channel);
    }
  }

 private:
  struct Part {
    ptrdiff_t top;  // rows of outputs
    ptrdiff_t bottom;
    ptrdiff_t left;  // columns of outputs
    ptrdiff_t width;
    ptrdiff_t channels;
    const float* in;  // of the first channel
    ptrdiff_t out;    // offset of its first column
    float* ring;
    float* results;
    // Columns of the ring that are inside of the image, and the first one of the image.
    ptrdiff_t before;
    ptrdiff_t count;
    ptrdiff_t from;
  };

  void compute_part(Part& part, ptrdiff_t channel) const {
    const ConvolutionAxis& y = c_.axes[1];
    const ConvolutionAxis& x = c_.axes[2];
    const ptrdiff_t seen = (part.width - 1) * x.step + (x.kernel - 1) * x.dilation + 1;
    const ptrdiff_t first = part.left * x.step - x.pad;
    part.before = std::clamp<ptrdiff_t>(-first, 0, seen);
    part.count = std::clamp<ptrdiff_t>(x.in - first, part.before, seen) - part.before;
    part.from = first + part.before;
    // The border, and the lanes without a channel, stay for all rows.
    const bool fills = part.channels < kBlock;
    for (ptrdiff_t i = 0; i < ring_; ++i) {
      float* const row = part.ring + i * seen_ * kBlock;
      std::fill(row, row + (fills ? seen : part.before) * kBlock, 0.0F);
      std::fill(row + (part.before + part.count) * kBlock, row + seen * kBlock, 0.0F);
    }
    float bias[kBlock] = {};
    if (c_.bias != nullptr) std::copy_n(c_.bias + channel, part.channels, bias);
    const float* in[kMostBlockRows];
    const float* weights[kMostBlockRows];
    ukernel::DepthwisePixels strip;
    strip.in = in;
    strip.weights = weights;
    strip.channels = static_cast<size_t>(kBlock);
    strip.group = static_cast<size_t>(c_.in_channels);
    strip.taps = static_cast<size_t>(x.kernel);
    strip.pixels = static_cast<size_t>(part.width);
    strip.in_stride = x.step * kBlock;
    strip.tap_stride = x.dilation * kBlock;
    strip.bias = bias;
    strip.out_stride = strip.residual_stride = kBlock;
    strip.low = c_.low;
    strip.high = c_.high;
    const ptrdiff_t row_of_taps = x.kernel * c_.in_channels * kBlock;
    const float* const packed = packed_ + channel / kBlock * y.kernel * row_of_taps;
    ptrdiff_t loaded = 0;  // rows before it were transposed, or are not seen
    for (ptrdiff_t top = part.top; top < part.bottom; top += together_) {
      const ptrdiff_t count = std::min(together_, part.bottom - top);
      const ptrdiff_t out = part.out + top * y.out_stride;
      if (c_.residual != nullptr) {
        strip.residual = part.results;
        ukernel::transpose(static_cast<size_t>(part.channels), static_cast<size_t>(count * part.width),
                           kFloat, reinterpret_cast<const char*>(c_.residual + out),
                           c_.out_channel_stride * kFloat, reinterpret_cast<char*>(part.results),
                           kBlock * kFloat);
      }
      for (ptrdiff_t row = top; row < top + count; ++row) {
        strip.rows = 0;
        const ptrdiff_t highest = row * y.step - y.pad;
        for (ptrdiff_t r = 0; r < y.kernel; ++r) {
          const ptrdiff_t seen_row = highest + r * y.dilation;
          if (seen_row < 0 || seen_row >= y.in) continue;
          in[strip.rows] = part.ring + seen_row % ring_ * seen_ * kBlock;
          weights[strip.rows++] = packed + r * row_of_taps;
        }
        for (loaded = std::max(loaded, highest); loaded < std::min(highest + ring_, y.in); ++loaded) {
          if (part.count > 0) load_row(part, loaded);
        }
        strip.out = part.results + (row - top) * part.width * kBlock;
        if (strip.residual != nullptr) strip.residual = strip.out;
        ukernel::depthwise_pixels(strip);
      }
      c_.finish(part.results, count * part.width * kBlock);
      ukernel::transpose(static_cast<size_t>(count * part.width), static_cast<size_t>(part.channels), kFloat,
                         reinterpret_cast<const char*>(part.results), kBlock * kFloat,
                         reinterpret_cast<char*>(c_.out + out), c_.out_channel_stride * kFloat);
    }
  }

  void load_row(const Part& part, ptrdiff_t row) const {
    float* const to = part.ring + (row % ring_ * seen_ + part.before) * kBlock;
    ukernel::transpose(static_cast<size_t>(part.channels), static_cast<size_t>(part.count), kFloat,
                       reinterpret_cast<const char*>(part.in + row * c_.axes[1].in_stride + part.from),
                       c_.in_channel_stride * kFloat, reinterpret_cast<char*>(to), kBlock * kFloat);
  }

  const Convolution& c_;
  const float* packed_;
  ptrdiff_t channels_;
  ptrdiff_t blocks_;
  ptrdiff_t ring_;      // rows
  ptrdiff_t strips_;    // of columns
  ptrdiff_t width_;     // outputs of a row of a strip; the last one may have fewer
  ptrdiff_t seen_;      // columns of the ring
  ptrdiff_t rows_;      // of outputs in a part
  ptrdiff_t parts_;     // of a strip
  ptrdiff_t together_;  // rows of results that are transposed together
};

size_t scratch_of(const Convolution& c) { return ChannelBlocks(c, nullptr, 1).scratch_floats(); }

}  // namespace

size_t blocks_scratch_size(const Convolution& c) { return scratch_of(c) * sizeof(float); }

void convolve_blocks(KernelContext& context, const Convolution& c, const float* packed, float* scratch,
                     size_t threads) {
  const size_t each = scratch_of(c);
  const ChannelBlocks blocks(c, packed, threads);
  const size_t grain = threads < context.threads() ? blocks.items() : blocks.grain();
  context.parallel_for(
      blocks.items(), std::max<size_t>(grain, 1),
      [&](size_t begin, size_t end, size_t thread) { blocks.compute(begin, end, scratch + thread * each); });
}

}  // namespace rushlight::kernels::host
