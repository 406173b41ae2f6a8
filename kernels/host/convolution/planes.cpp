// SPDX-License-Identifier: BSD-3-Clause
// im2col in panels: the inputs of gemm_columns() adjacent outputs are gathered, a row for each tap and input
// channel, and multiplied by all output channels while they are in cache. Pointwise convolutions with few
// output channels read the input directly. The weights need no packing, so this method also serves weights
// that are not constant. Cost: each input is gathered once for each tap that sees it, by every part of the
// output channels; the weights are read once for each block of panels.
#include "kernels/host/convolution/planes.h"

#include <algorithm>

#include "kernels/host/convolution/method.h"
#include "kernels/host/convolution/sum.h"
#include "kernels/host/parts.h"
#include "kernels/ukernel/gather.h"
#include "kernels/ukernel/gemm.h"

namespace rushlight::kernels::host {

namespace {

using ukernel::GemmInitial;
using ukernel::GemmTile;

constexpr ptrdiff_t kMostRows = ukernel::kMostGemmRows;
constexpr ptrdiff_t kPointers = 256;  // held at a time
// Floats of gathered inputs for which all weights are read once; twice as many if the weights are large.
constexpr ptrdiff_t kCachedPanels = 1 << 17;
constexpr ptrdiff_t kCachedWeights = 1 << 18;
// Weights of the output channels that a panel is multiplied by while it stays in the L1 cache.
constexpr ptrdiff_t kStripWeights = 1 << 14;

ptrdiff_t panel_columns() { return static_cast<ptrdiff_t>(ukernel::gemm_columns()); }

// The outputs of one phase.
class Planes {
 public:
  Planes(const Convolution& convolution, const Phase& phase, size_t threads)
      : c_(convolution),
        phase_(phase),
        columns_(panel_columns()),
        lanes_(static_cast<ptrdiff_t>(ukernel::gemm_lanes())) {
    const PhaseAxis* axes = phase.axes;
    pixels_ = phase.pixels();
    taps_ = phase.taps();
    depth_ = taps_ * c_.in_channels;
    rows_ = static_cast<ptrdiff_t>(ukernel::gemm_split(static_cast<size_t>(c_.out_channels)));
    // Outputs of a channel are one span in memory, so a tile is stored directly.
    follows_ = !kReachesScattered ||
               (axes[2].out_stride == 1 && (axes[1].count == 1 || axes[1].out_stride == axes[2].count) &&
                (axes[0].count == 1 || axes[0].out_stride == axes[2].count * axes[1].count));
    // True if the weights of an output channel are contiguous: input channels, each with all taps.
    whole_ = taps_ == c_.axes[0].kernel * c_.axes[1].kernel * c_.axes[2].kernel && !c_.transposed &&
             (c_.weight_in_stride == taps_ || c_.in_channels == 1) &&
             (axes[2].kernel_stride == 1 || axes[2].taps == 1) &&
             (axes[1].kernel_stride == axes[2].taps || axes[1].taps == 1) &&
             (axes[0].kernel_stride == axes[2].taps * axes[1].taps || axes[0].taps == 1);
    // Then output channels have weights at a constant distance, and a panel is multiplied by many at a time.
    // Builds for known calls have tiles alone, which takes less code.
    strip_ = !kKnowsCalls && follows_ && (whole_ || taps_ == 1);
    // With few output channels the gathered copy would be read too seldom to pay.
    direct_ = taps_ == 1 && follows_ && is_plain(axes[0]) && is_plain(axes[1]) && is_plain(axes[2]) &&
              pixels_ == axes[2].count && c_.out_channels <= 2 * rows_;
    const ptrdiff_t panels = (pixels_ + columns_ - 1) / columns_;
    const ptrdiff_t cached = depth_ * c_.out_channels <= kCachedWeights ? kCachedPanels : 2 * kCachedPanels;
    panels_in_block_ = std::clamp<ptrdiff_t>(cached / std::max<ptrdiff_t>(depth_ * columns_, 1), 1, panels);
    // Makes blocks of nearly equal size.
    const ptrdiff_t images = c_.batch * c_.groups;
    blocks_ = even_parts(images, (panels + panels_in_block_ - 1) / panels_in_block_, panels, threads);
    panels_in_block_ = (panels + blocks_ - 1) / blocks_;
    blocks_ = (panels + panels_in_block_ - 1) / panels_in_block_;
    // If there are too few panels, several threads share a block: each gathers its inputs, and computes a
    // part of the output channels.
    const ptrdiff_t tiles = (c_.out_channels + rows_ - 1) / rows_;
    parts_ = even_parts(images * blocks_, 1, tiles, threads);
    tiles_in_part_ = (tiles + parts_ - 1) / parts_;
    parts_ = std::max<ptrdiff_t>((tiles + tiles_in_part_ - 1) / std::max<ptrdiff_t>(tiles_in_part_, 1), 1);
  }

  [[nodiscard]] size_t scratch_floats() const {
    const ptrdiff_t tile = follows_ ? 0 : kMostRows * columns_;
    return static_cast<size_t>(tile + (direct_ ? 0 : panels_in_block_ * columns_ * depth_));
  }

  // An item is a block of panels and a part of the output channels.
  [[nodiscard]] size_t items() const { return static_cast<size_t>(c_.batch * c_.groups * blocks_ * parts_); }
  [[nodiscard]] size_t grain() const {
    const ptrdiff_t work = panels_in_block_ * columns_ * depth_ * tiles_in_part_ * rows_;
    return items_for_thread(work);
  }

  void compute(size_t begin, size_t end, float* scratch) const {
    for (size_t item = begin; item < end; ++item) {
      auto rest = static_cast<ptrdiff_t>(item);
      Block block;
      block.part = rest % parts_;
      rest /= parts_;
      block.first = rest % blocks_ * panels_in_block_ * columns_;
      block.end = std::min(block.first + panels_in_block_ * columns_, pixels_);
      rest /= blocks_;
      block.group = rest % c_.groups;
      block.batch = rest / c_.groups;
      block.image =
          c_.input + block.batch * c_.in_batch_stride + block.group * c_.in_channels * c_.in_channel_stride;
      block.tile = scratch;
      block.panels = follows_ ? scratch : scratch + kMostRows * columns_;
      if (!direct_) {
        for (ptrdiff_t at = block.first; at < block.end; at += columns_) {
          gather_panel(block, at, block.panels + (at - block.first) * depth_);
        }
      }
      multiply(block);
    }
  }

 private:
  struct Block {
    ptrdiff_t batch;
    ptrdiff_t group;
    ptrdiff_t part;   // of the output channels
    ptrdiff_t first;  // of the outputs
    ptrdiff_t end;
    const float* image;
    float* tile;
    float* panels;
  };

  static bool is_plain(const PhaseAxis& axis) {
    return (axis.count == 1 || (axis.in_step == 1 && axis.in_stride == 1)) && axis.in_first == 0 &&
           axis.in == axis.count;
  }

  // Gathers the inputs that outputs [at, at + columns) see, a row for each tap and input channel.
  void gather_panel(const Block& block, ptrdiff_t at, float* panel) const {
    const PhaseAxis* axes = phase_.axes;
    const ptrdiff_t end = std::min(at + columns_, block.end);
    ukernel::GatherRows gather;
    gather.rows = static_cast<size_t>(c_.in_channels);
    gather.from_stride = c_.in_channel_stride;
    gather.step = axes[2].in_step * axes[2].in_stride;
    // Rows of a panel have the order of the weights: [channel][tap] if these are contiguous, else
    // [tap][channel].
    gather.to_stride = whole_ ? taps_ * columns_ : columns_;
    for (ptrdiff_t column = 0; at < end;) {
      const ptrdiff_t x = at % axes[2].count;
      const ptrdiff_t y = at / axes[2].count % axes[1].count;
      const ptrdiff_t z = at / axes[2].count / axes[1].count;
      const ptrdiff_t length = std::min(axes[2].count - x, end - at);
      // The last span is padded with zeros, because the microkernel reads whole vectors.
      const ptrdiff_t filled = at + length == end ? columns_ - column : length;
      float* to = panel + column;
      const ptrdiff_t tap_step = whole_ ? columns_ : c_.in_channels * columns_;
      for (ptrdiff_t t0 = 0; t0 < axes[0].taps; ++t0) {
        const ptrdiff_t in0 = axes[0].position(z, t0);
        for (ptrdiff_t t1 = 0; t1 < axes[1].taps; ++t1) {
          const ptrdiff_t in1 = axes[1].position(y, t1);
          const bool seen = in0 >= 0 && in0 < axes[0].in && in1 >= 0 && in1 < axes[1].in;
          const float* row = block.image + in0 * axes[0].in_stride + in1 * axes[1].in_stride;
          for (ptrdiff_t t2 = 0; t2 < axes[2].taps; ++t2, to += tap_step) {
            // Outputs of the span that see the image through this tap; all others get zeros.
            Range range{x, x};
            if (seen) range = seen_through(axes[2], t2, {x, x + length});
            if (range.size() <= 0) range = {x, x};
            gather.before = static_cast<size_t>(range.begin - x);
            gather.count = static_cast<size_t>(range.size());
            gather.after = static_cast<size_t>(x + filled - range.end);
            gather.from =
                range.size() > 0 ? row + axes[2].position(range.begin, t2) * axes[2].in_stride : block.image;
            gather.to = to;
            gather_rows(gather);
          }
        }
      }
      at += length;
      column += length;
    }
  }

  void multiply(const Block& block) const {
    const ptrdiff_t tile_begin = block.part * tiles_in_part_ * rows_;
    const ptrdiff_t tile_end = std::min(tile_begin + tiles_in_part_ * rows_, c_.out_channels);
    const ptrdiff_t tiles =
        strip_ ? std::max<ptrdiff_t>(kStripWeights / std::max<ptrdiff_t>(rows_ * depth_, 1), 1) : 1;
    const ptrdiff_t step = tiles * rows_;
    for (ptrdiff_t channel = tile_begin; channel < tile_end; channel += step) {
      const ptrdiff_t rows = std::min(step, tile_end - channel);
      for (ptrdiff_t at = block.first; at < block.end; at += columns_) {
        const ptrdiff_t columns = std::min(columns_, block.end - at);
        // Strips read whole vectors of each row.
        if (!kKnowsCalls && strip_ && (!direct_ || columns % lanes_ == 0)) {
          compute_strip(block, channel, rows, at, columns);
          continue;
        }
        for (ptrdiff_t row = 0; row < rows; row += rows_) {
          compute_tile(block, channel + row, std::min(rows_, rows - row), at, columns);
        }
      }
    }
  }

  // Bias, output, residual and bounds of the outputs of a channel and those after it, from `at` on.
  template <class Of>
  void describe(Of& gemm, const Block& block, ptrdiff_t channel, ptrdiff_t at) const {
    const ptrdiff_t first_channel = block.group * c_.out_channels + channel;
    const ptrdiff_t out =
        block.batch * c_.out_batch_stride + first_channel * c_.out_channel_stride + phase_.out_first() + at;
    gemm.a_step = whole_ ? 1 : c_.weight_in_stride;
    gemm.b_stride = direct_ ? c_.in_channel_stride : columns_;
    gemm.initial_from = c_.bias == nullptr ? GemmInitial::kZero : GemmInitial::kRows;
    gemm.initial = c_.bias == nullptr ? nullptr : c_.bias + first_channel;
    gemm.c = follows_ ? c_.out + out : block.tile;
    gemm.c_stride = follows_ ? c_.out_channel_stride : columns_;
    if (follows_ && c_.residual != nullptr) {
      gemm.residual = c_.residual + out;
      gemm.residual_stride = gemm.c_stride;
    }
    // The clamp comes after the residual, which scatter() adds if outputs are strided.
    if (follows_ || c_.residual == nullptr) {
      gemm.low = c_.low;
      gemm.high = c_.high;
    }
  }

  [[nodiscard]] const float* panel(const Block& block, ptrdiff_t at) const {
    return direct_ ? block.image + at : block.panels + (at - block.first) * depth_;
  }
  [[nodiscard]] const float* weights(const Block& block, ptrdiff_t channel) const {
    return c_.weight + block.group * c_.weight_group_stride + channel * c_.weight_out_stride;
  }

  void compute_strip(const Block& block, ptrdiff_t channel, ptrdiff_t rows, ptrdiff_t at,
                     ptrdiff_t columns) const {
    ukernel::GemmStrip gemm;
    describe(gemm, block, channel, at);
    gemm.rows = static_cast<size_t>(rows);
    gemm.tile_rows = static_cast<size_t>(rows_);
    gemm.columns = static_cast<size_t>(columns);
    gemm.depth = static_cast<size_t>(depth_);
    gemm.a_stride = c_.weight_out_stride;
    const float* weight = weights(block, channel);
    const float* inputs = panel(block, at);
    gemm.a = &weight;
    gemm.b = &inputs;
    gemm.looks_ahead = !direct_;
    sum_in_blocks(gemm);
    for (ptrdiff_t r = 0; r < rows; ++r) c_.finish(gemm.c + r * gemm.c_stride, columns);
  }

  void compute_tile(const Block& block, ptrdiff_t channel, ptrdiff_t rows, ptrdiff_t at,
                    ptrdiff_t columns) const {
    GemmTile gemm;
    describe(gemm, block, channel, at);
    gemm.rows = static_cast<size_t>(rows);
    gemm.columns = static_cast<size_t>(columns);
    // With contiguous weights all taps and channels are one product; otherwise each tap is one of
    // in_channels.
    gemm.depth = static_cast<size_t>(whole_ ? depth_ : c_.in_channels);
    // A panel is [depth][columns_], and the weights are the left factor, one pointer for each output channel.
    gemm.a_tap_stride = gemm.rows;
    gemm.b = panel(block, at);
    gemm.b_tap_stride = static_cast<ptrdiff_t>(gemm.depth) * columns_;
    gemm.b_columns = static_cast<size_t>(direct_ ? columns : columns_);
    const float* weight = weights(block, channel);
    const float* pointers[kPointers];
    // The pointers lead to the weights of each output channel, tap by tap.
    sum_in_blocks(gemm, whole_ ? 1 : taps_, kPointers / rows, [&](ptrdiff_t first, ptrdiff_t count) {
      for (ptrdiff_t t = 0; t < count; ++t) {
        const float* tap = weight + (whole_ ? 0 : kernel_offset(phase_, first + t));
        for (ptrdiff_t r = 0; r < rows; ++r) pointers[t * rows + r] = tap + r * c_.weight_out_stride;
      }
      return pointers;
    });
    if (kReachesScattered && !follows_) {
      return scatter(block, block.group * c_.out_channels + channel, rows, at, columns);
    }
    for (ptrdiff_t r = 0; r < rows; ++r) c_.finish(gemm.c + r * gemm.c_stride, columns);
  }

  // Stores a tile in strided outputs, one part of an output row after the other.
  void scatter(const Block& block, ptrdiff_t first_channel, ptrdiff_t rows, ptrdiff_t at,
               ptrdiff_t columns) const {
    const PhaseAxis* axes = phase_.axes;
    const ptrdiff_t first = block.batch * c_.out_batch_stride + first_channel * c_.out_channel_stride;
    for (ptrdiff_t j = 0, length = 0; j < columns; j += length) {
      const ptrdiff_t pixel = at + j;
      const ptrdiff_t x = pixel % axes[2].count;
      const ptrdiff_t y = pixel / axes[2].count % axes[1].count;
      const ptrdiff_t z = pixel / axes[2].count / axes[1].count;
      length = std::min(axes[2].count - x, columns - j);
      ptrdiff_t out = first + phase_.out_first() + x * axes[2].out_stride + y * axes[1].out_stride +
                      z * axes[0].out_stride;
      for (ptrdiff_t r = 0; r < rows; ++r, out += c_.out_channel_stride) {
        scatter_span(block.tile + r * columns_ + j, length, out);
      }
    }
  }

  void scatter_span(float* values, ptrdiff_t length, ptrdiff_t out) const {
    const ptrdiff_t step = phase_.axes[2].out_stride;
    if (c_.residual != nullptr) {
      for (ptrdiff_t i = 0; i < length; ++i) {
        const float value = std::max(values[i] + c_.residual[out + i * step], c_.low);
        values[i] = std::min(value, c_.high);
      }
    }
    c_.finish(values, length);
    float* to = c_.out + out;
    for (ptrdiff_t i = 0; i < length; ++i) to[i * step] = values[i];
  }

  const Convolution& c_;
  const Phase& phase_;
  ptrdiff_t columns_;  // of a panel
  ptrdiff_t lanes_;    // columns of a vector
  ptrdiff_t pixels_;
  ptrdiff_t taps_;
  ptrdiff_t depth_;
  ptrdiff_t rows_;  // output channels of a tile
  bool follows_;    // outputs of a channel are contiguous
  bool whole_;      // the weights of an output channel are contiguous
  bool direct_;     // inputs are read in place
  bool strip_;      // output channels have weights at a constant distance
  ptrdiff_t panels_in_block_;
  ptrdiff_t blocks_;
  ptrdiff_t tiles_in_part_;
  ptrdiff_t parts_;
};

size_t scratch_of(const Convolution& c, size_t threads) {
  size_t floats = 0;
  for (size_t i = 0; i < count_phases(c); ++i) {
    const Phase phase = make_phase(c, i);
    floats = std::max(floats, Planes(c, phase, threads).scratch_floats());
  }
  return (floats + 15) / 16 * 16;
}

}  // namespace

size_t planes_scratch_size(const Convolution& c) { return scratch_of(c, 1) * sizeof(float); }

// With scratch memory for only one thread, one piece has all items.
void convolve_planes(KernelContext& context, const Convolution& c, float* scratch, size_t threads) {
  const size_t each = scratch_of(c, 1);
  for (size_t i = 0; i < count_phases(c); ++i) {
    const Phase phase = make_phase(c, i);
    const Planes planes(c, phase, threads);
    const size_t grain = threads < context.threads() ? planes.items() : planes.grain();
    context.parallel_for(planes.items(), std::max<size_t>(grain, 1),
                         [&](size_t begin, size_t end, size_t thread) {
                           planes.compute(begin, end, scratch + thread * each);
                         });
  }
}

}  // namespace rushlight::kernels::host
