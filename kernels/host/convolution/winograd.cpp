// SPDX-License-Identifier: BSD-3-Clause
// F(2 x 2, 3 x 3): 16 products instead of 36 for 2 x 2 outputs. A band of tiles is transformed, multiplied as
// 16 matrix products, one for each transformed position, and transformed back, while the band is in cache.
// Channels-first inputs and outputs of a band are transposed to channels-last. Reference: Lavin and Gray,
// "Fast Algorithms for Convolutional Neural Networks", 2016.
#include "kernels/host/convolution/winograd.h"

#include <algorithm>
#include <atomic>

#include "kernels/host/convolution/method.h"
#include "kernels/host/convolution/rows.h"
#include "kernels/host/parts.h"
#include "kernels/ukernel/gemm.h"
#include "kernels/ukernel/transpose_clamp.h"
#include "kernels/ukernel/winograd.h"

namespace rushlight::kernels::host {

namespace {

constexpr ptrdiff_t kIn = ukernel::kWinogradIn;
constexpr ptrdiff_t kOut = ukernel::kWinogradOut;
constexpr ptrdiff_t kParts = ukernel::kWinogradParts;
constexpr ptrdiff_t kTilesAtOnce = 64;
// Products that are added in sequence. The transforms add rounding errors; sums shorter than in a direct
// convolution compensate for them.
constexpr ptrdiff_t kWinogradSum = 32;
constexpr ptrdiff_t kChannelsAtOnce = 64;  // transposed at a time
constexpr ptrdiff_t kLine = 16;            // floats of a cache line

ptrdiff_t round_up(ptrdiff_t value, ptrdiff_t step) { return (value + step - 1) / step * step; }
ptrdiff_t panel_columns() { return static_cast<ptrdiff_t>(ukernel::gemm_columns()); }
ptrdiff_t part_floats(const Convolution& c) {
  return c.in_channels * round_up(c.out_channels, panel_columns());
}

size_t grain_of(ptrdiff_t work) {
  return static_cast<size_t>(std::max<ptrdiff_t>((ptrdiff_t{1} << 15) / std::max<ptrdiff_t>(work, 1), 1));
}

// How the tiles of an image divide into bands, and the scratch memory of one band: [16][tiles][in channels]
// inputs, [16][tiles][out channels] products, and for channels-first images the transposed input and output
// rows of the band.
struct Bands {
  Bands(const Convolution& convolution, size_t threads)
      : c(convolution), transposes(!has_channels_last(convolution)) {
    const ConvolutionAxis& y = c.axes[1];
    const ConvolutionAxis& x = c.axes[2];
    tiles_y = (y.out + kOut - 1) / kOut;
    tiles_x = (x.out + kOut - 1) / kOut;
    // Whole rows of tiles, about kTilesAtOnce tiles, in bands whose heights differ by one row at most;
    // equally many for each thread.
    const ptrdiff_t most = std::max<ptrdiff_t>(kTilesAtOnce / tiles_x, 1);
    count = (tiles_y + most - 1) / most;
    if (count >= static_cast<ptrdiff_t>(threads)) count = even_parts(1, count, tiles_y, threads);
    const ptrdiff_t tiles = (tiles_y + count - 1) / count * tiles_x;
    // One cache line more, so that the parts do not start in the same cache sets.
    inputs_part = round_up(tiles * c.in_channels, kLine) + kLine;
    products_part = round_up(tiles * c.out_channels, kLine) + kLine;
    const ptrdiff_t rows = tiles / tiles_x * kOut;
    seen = transposes ? round_up((rows + 2) * x.in * c.in_channels, kLine) : 0;
    made = transposes ? round_up(rows * x.out * c.out_channels, kLine) : 0;
  }

  [[nodiscard]] ptrdiff_t first_row(ptrdiff_t band) const { return band * tiles_y / count; }
  [[nodiscard]] ptrdiff_t floats() const { return kParts * (inputs_part + products_part) + seen + made; }

  const Convolution& c;
  bool transposes;
  ptrdiff_t tiles_y;
  ptrdiff_t tiles_x;
  ptrdiff_t count;
  ptrdiff_t inputs_part;  // floats from part to part
  ptrdiff_t products_part;
  ptrdiff_t seen;  // floats of the transposed rows, which are [row][column][channel]
  ptrdiff_t made;
};

class Band {
 public:
  Band(const Bands& bands, ptrdiff_t index, const float* packed, float* scratch)
      : c_(bands.c),
        packed_(packed),
        transposes_(bands.transposes),
        tiles_x_(bands.tiles_x),
        inputs_part_(bands.inputs_part),
        products_part_(bands.products_part),
        inputs_(scratch),
        products_(inputs_ + kParts * inputs_part_),
        seen_(products_ + kParts * products_part_),
        made_(seen_ + bands.seen),
        first_(bands.first_row(index)),
        tiles_((bands.first_row(index + 1) - first_) * tiles_x_) {}

  // Returns false if a product is infinite or NaN.
  bool compute(KernelContext& context) {
    if (transposes_) transpose_inputs(context);
    context.parallel_for(static_cast<size_t>(tiles_), grain_of(4 * c_.in_channels),
                         [&](size_t begin, size_t end, size_t) {
                           for (size_t i = begin; i < end; ++i) transform_inputs(static_cast<ptrdiff_t>(i));
                         });
    context.parallel_for(static_cast<size_t>(kParts), 1, [&](size_t begin, size_t end, size_t) {
      for (size_t part = begin; part < end; ++part) multiply(static_cast<ptrdiff_t>(part));
    });
    context.parallel_for(static_cast<size_t>(tiles_), grain_of(4 * c_.out_channels),
                         [&](size_t begin, size_t end, size_t) {
                           for (size_t i = begin; i < end; ++i) transform_products(static_cast<ptrdiff_t>(i));
                         });
    // parallel_for() has joined its threads, so no stronger order is needed.
    if (!finite_.load(std::memory_order_relaxed)) return false;
    if (transposes_) transpose_outputs(context);
    return true;
  }

 private:
  // The layout of an image: pixel (row, column) is at data + row * row_stride + column * column_stride.
  struct Image {
    ptrdiff_t data;  // offset
    ptrdiff_t row_stride;
    ptrdiff_t column_stride;
    [[nodiscard]] ptrdiff_t at(ptrdiff_t row, ptrdiff_t column) const {
      return data + row * row_stride + column * column_stride;
    }
  };

  // The input rows that the band sees.
  [[nodiscard]] Range seen_rows() const {
    const ConvolutionAxis& y = c_.axes[1];
    // A band of n rows of tiles sees n * kOut + 2 input rows, as 3x3 kernels reach one row up and down.
    const ptrdiff_t top = first_ * kOut - y.pad;
    return {std::max<ptrdiff_t>(top, 0), std::min(top + tiles_ / tiles_x_ * kOut + 2, y.in)};
  }
  [[nodiscard]] Range made_rows() const {
    return {first_ * kOut, std::min(first_ * kOut + tiles_ / tiles_x_ * kOut, c_.axes[1].out)};
  }

  template <class Body>
  void transpose(KernelContext& context, ptrdiff_t channels, ptrdiff_t pixels, Body body) const {
    const ptrdiff_t pieces = (channels + kChannelsAtOnce - 1) / kChannelsAtOnce;
    context.parallel_for(static_cast<size_t>(pieces), grain_of(kChannelsAtOnce * pixels / 4),
                         [&](size_t begin, size_t end, size_t) {
                           const ptrdiff_t first = static_cast<ptrdiff_t>(begin) * kChannelsAtOnce;
                           body(first,
                                std::min(static_cast<ptrdiff_t>(end) * kChannelsAtOnce, channels) - first);
                         });
  }

  void transpose_inputs(KernelContext& context) const {
    const ConvolutionAxis& x = c_.axes[2];
    const Range rows = seen_rows();
    if (rows.size() <= 0) return;
    transpose(context, c_.in_channels, rows.size() * x.in, [&](ptrdiff_t first, ptrdiff_t count) {
      ukernel::TransposeClamp transposed;
      transposed.rows = static_cast<size_t>(count);
      transposed.columns = static_cast<size_t>(rows.size() * x.in);
      transposed.from = c_.input + first * c_.in_channel_stride + rows.begin * x.in;
      transposed.from_stride = c_.in_channel_stride;
      transposed.to = seen_ + first;
      transposed.to_stride = c_.in_channels;
      transpose_clamped(transposed);
    });
  }

  void transpose_outputs(KernelContext& context) const {
    const ConvolutionAxis& x = c_.axes[2];
    const Range rows = made_rows();
    transpose(context, c_.out_channels, rows.size() * x.out, [&](ptrdiff_t first, ptrdiff_t count) {
      const ptrdiff_t at = first * c_.out_channel_stride + rows.begin * x.out;
      ukernel::TransposeClamp transposed;
      transposed.rows = static_cast<size_t>(rows.size() * x.out);
      transposed.columns = static_cast<size_t>(count);
      transposed.from = made_ + first;
      transposed.from_stride = c_.out_channels;
      transposed.to = c_.out + at;
      transposed.to_stride = c_.out_channel_stride;
      transposed.residual = c_.residual == nullptr ? nullptr : c_.residual + at;
      transposed.low = c_.low;
      transposed.high = c_.high;
      transpose_clamped(transposed);
      for (ptrdiff_t i = 0; i < count; ++i) {
        c_.finish(transposed.to + i * transposed.to_stride, rows.size() * x.out);
      }
    });
  }

  void transform_inputs(ptrdiff_t tile) const {
    const ConvolutionAxis& y = c_.axes[1];
    const ConvolutionAxis& x = c_.axes[2];
    const ptrdiff_t top = (first_ + tile / tiles_x_) * kOut - y.pad;
    const ptrdiff_t left = tile % tiles_x_ * kOut - x.pad;
    // The transposed copy has only the rows of the band, so its rows count from the first one.
    const ptrdiff_t row = x.in * c_.in_channels;
    const Image image = transposes_ ? Image{-seen_rows().begin * row, row, c_.in_channels}
                                    : Image{0, y.in_stride, x.in_stride};
    const float* from = transposes_ ? seen_ : c_.input;
    const float* in[kParts];
    for (ptrdiff_t i = 0; i < kIn; ++i) {
      for (ptrdiff_t j = 0; j < kIn; ++j) {
        const bool seen = top + i >= 0 && top + i < y.in && left + j >= 0 && left + j < x.in;
        // Null is padding: the transform reads zeros.
        in[i * kIn + j] = seen ? from + image.at(top + i, left + j) : nullptr;
      }
    }
    ukernel::WinogradInput transform;
    transform.lanes = static_cast<size_t>(c_.in_channels);
    transform.in = in;
    transform.out = inputs_ + tile * c_.in_channels;
    transform.out_stride = inputs_part_;
    winograd_input(transform);
  }

  void transform_products(ptrdiff_t tile) {
    const ConvolutionAxis& y = c_.axes[1];
    const ConvolutionAxis& x = c_.axes[2];
    const ptrdiff_t top = (first_ + tile / tiles_x_) * kOut;
    const ptrdiff_t left = tile % tiles_x_ * kOut;
    const ptrdiff_t row = x.out * c_.out_channels;
    const Image image = transposes_ ? Image{-made_rows().begin * row, row, c_.out_channels}
                                    : Image{0, y.out_stride, x.out_stride};
    float* to = transposes_ ? made_ : c_.out;
    const float* added = transposes_ ? nullptr : c_.residual;
    float* out[kOut * kOut];
    const float* residual[kOut * kOut];
    for (ptrdiff_t i = 0; i < kOut; ++i) {
      for (ptrdiff_t j = 0; j < kOut; ++j) {
        const bool wanted = top + i < y.out && left + j < x.out;
        const ptrdiff_t at = image.at(top + i, left + j);
        out[i * kOut + j] = wanted ? to + at : nullptr;
        residual[i * kOut + j] = wanted && added != nullptr ? added + at : nullptr;
      }
    }
    ukernel::WinogradOutput transform;
    transform.lanes = static_cast<size_t>(c_.out_channels);
    transform.in = products_ + tile * c_.out_channels;
    transform.in_stride = products_part_;
    transform.bias = c_.bias;
    transform.out = out;
    transform.residual = added == nullptr ? nullptr : residual;
    if (!transposes_) {
      transform.low = c_.low;
      transform.high = c_.high;
    }
    if (!winograd_output(transform)) finite_.store(false, std::memory_order_relaxed);
    if (transposes_) return;
    for (float* pixel : out) {
      if (pixel != nullptr) c_.finish(pixel, c_.out_channels);
    }
  }

  // Multiplies all tiles of the band in one of the 16 parts.
  void multiply(ptrdiff_t part) const {
    const ptrdiff_t panel = panel_columns();
    const float* weights = packed_ + part * part_floats(c_);
    ukernel::GemmStrip strip;
    strip.rows = static_cast<size_t>(tiles_);
    strip.a_stride = c_.in_channels;
    strip.b_stride = panel;
    strip.looks_ahead = true;
    strip.c_stride = c_.out_channels;
    for (ptrdiff_t channel = 0; channel < c_.out_channels; channel += panel) {
      strip.columns = static_cast<size_t>(std::min(panel, c_.out_channels - channel));
      strip.c = products_ + part * products_part_ + channel;
      for (ptrdiff_t first = 0; first < c_.in_channels; first += kWinogradSum) {
        const float* a = inputs_ + part * inputs_part_ + first;
        const float* b = weights + channel * c_.in_channels + first * panel;
        strip.depth = static_cast<size_t>(std::min(kWinogradSum, c_.in_channels - first));
        strip.a = &a;
        strip.b = &b;
        // Blocks of kWinogradSum products; blocks are added in `c`.
        strip.adds_to_c = first > 0;
        gemm_strip(strip);
      }
    }
  }

  const Convolution& c_;
  const float* packed_;
  bool transposes_;
  ptrdiff_t tiles_x_;
  ptrdiff_t inputs_part_;
  ptrdiff_t products_part_;
  float* inputs_;  // [part][tile][channel]
  float* products_;
  float* seen_;
  float* made_;
  ptrdiff_t first_;  // first row of tiles in the band
  ptrdiff_t tiles_;  // tiles in the band
  std::atomic<bool> finite_{true};
};

}  // namespace

size_t packed_winograd_size(const Convolution& c) {
  return static_cast<size_t>(kParts * part_floats(c)) * sizeof(float);
}

// Panels are divided among threads; each row of a panel is written whole, with zeros past the last channel.
void pack_winograd(KernelContext& context, const Convolution& c, float* packed) {
  const ptrdiff_t panel = panel_columns();
  ukernel::WinogradWeights transform;
  transform.lane_stride = c.weight_out_stride;
  transform.row_stride = c.axes[1].kernel_stride;
  transform.column_stride = c.axes[2].kernel_stride;
  transform.out_stride = part_floats(c);
  const auto pack = [&](size_t begin, size_t end, size_t) {
    ukernel::WinogradWeights row = transform;
    for (ptrdiff_t o = static_cast<ptrdiff_t>(begin) * panel; o < static_cast<ptrdiff_t>(end) * panel;
         o += panel) {
      const ptrdiff_t lanes = std::min(panel, c.out_channels - o);
      row.lanes = static_cast<size_t>(lanes);
      for (ptrdiff_t i = 0; i < c.in_channels; ++i) {
        row.in = c.weight + o * c.weight_out_stride + i * c.weight_in_stride;
        row.out = packed + o * c.in_channels + i * panel;
        winograd_weights(row);
        if (lanes == panel) continue;
        for (ptrdiff_t part = 0; part < kParts; ++part) {
          float* unused = row.out + part * row.out_stride;
          std::fill(unused + lanes, unused + panel, 0.0F);
        }
      }
    }
  };
  const auto panels = static_cast<size_t>((c.out_channels + panel - 1) / panel);
  context.parallel_for(panels, grain_of(kParts * panel * c.in_channels), pack);
}

size_t winograd_scratch_size(const Convolution& c, size_t threads) {
  const Bands bands(c, threads);
  const size_t used = static_cast<size_t>(bands.count) < threads ? 1 : threads;
  return used * static_cast<size_t>(bands.floats()) * sizeof(float);
}

bool convolve_winograd(KernelContext& context, const Convolution& c, const float* packed, float* scratch,
                       size_t threads) {
  const Bands bands(c, threads);
  const auto count = static_cast<size_t>(bands.count);
  if (threads == 1 || count < threads) {
    for (size_t i = 0; i < count; ++i) {
      if (!Band(bands, static_cast<ptrdiff_t>(i), packed, scratch).compute(context)) return false;
    }
    return true;
  }
  // Each thread computes its own bands, which share nothing but the weights.
  std::atomic<bool> finite{true};
  context.parallel_for(count, 1, [&](size_t begin, size_t end, size_t thread) {
    KernelContext alone;
    float* own = scratch + static_cast<ptrdiff_t>(thread) * bands.floats();
    for (size_t i = begin; i < end && finite.load(std::memory_order_relaxed); ++i) {
      if (!Band(bands, static_cast<ptrdiff_t>(i), packed, own).compute(alone)) {
        finite.store(false, std::memory_order_relaxed);
      }
    }
  });
  return finite.load(std::memory_order_relaxed);
}

}  // namespace rushlight::kernels::host
