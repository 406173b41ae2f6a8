// SPDX-License-Identifier: BSD-3-Clause
// Copies the planes of several groups with zeros for their padding, unless no tap sees padding, then computes
// all outputs of the block from them.
#include "kernels/board/by_planes.h"

#include "kernels/ukernel/spans.h"

namespace rushlight::kernels::board {

namespace {

constexpr ptrdiff_t kColumns = static_cast<ptrdiff_t>(ukernel::kTileColumns);
constexpr bool kListsAll = PlanePlan::kListsAll;

constexpr int32_t bytes(ptrdiff_t elements) {
  return static_cast<int32_t>(elements) * static_cast<int32_t>(sizeof(float));
}

// The image has `count` of `most` positions from `begin` on; the first of them is begin + first.
struct Inside {
  Inside(const ConvolutionAxis& axis, ptrdiff_t begin, ptrdiff_t most) {
    first = begin < 0 ? std::min(-begin, most) : 0;
    count = std::min(axis.in - begin - first, most - first);
  }

  ptrdiff_t first;
  ptrdiff_t count;
};

class Planes {
 public:
  Planes(const ConvolutionGeometry& geometry, const PlanePlan& plan) : g_(geometry), p_(plan) {
    row_ = p_.is_in_place ? y_.in_stride : p_.width;
    column_ = p_.is_in_place ? x_.in_stride : 1;
    const ptrdiff_t depth_step = p_.is_in_place ? z_.dilation * z_.in_stride : p_.height * p_.width;
    // Weights are read in place if they are stored in the order of the taps.
    is_ordered_ = (x_.kernel == 1 || x_.kernel_stride == 1) &&
                  (y_.kernel == 1 || y_.kernel_stride == x_.kernel) &&
                  (z_.kernel == 1 || z_.kernel_stride == y_.kernel * x_.kernel);
    is_ordered_ = is_ordered_ && (g_.in_channels == 1 || g_.weight_in_stride == g_.taps());
    plane_ = p_.is_in_place ? g_.in_channel_stride : z_.kernel * p_.height * p_.width;
    ukernel::PlaneTap* tap = taps_;
    for (ptrdiff_t c = 0; c < g_.in_channels; ++c) {
      for (ptrdiff_t k = 0; k < z_.kernel; ++k) {
        for (ptrdiff_t i = 0; i < y_.kernel; ++i) {
          tap = list_row(tap, c * plane_ + k * depth_step + i * y_.dilation * row_);
        }
      }
    }
    sums_.taps = taps_;
    sums_.count = static_cast<size_t>(tap - taps_);
    sums_.in_plane = g_.in_channels * plane_;
    sums_.weight_plane = is_ordered_ ? g_.weight_group_stride : g_.in_channels * g_.taps();
    sums_.initial_plane = g_.out_channels;
    sums_.out_plane = g_.out_channels * g_.out_channel_stride;
    sums_.tiles = tiles_;
    sums_.in_step = x_.step;
    sums_.out_step = x_.out_stride;
    together_ = is_ordered_ ? p_.groups : std::min(p_.groups, kWeights / sums_.weight_plane);
  }

  // All groups of one element of the batch.
  void convolve(const ConvolutionData<float>& data) {
    for (ptrdiff_t z = 0; z < z_.out; ++z) {
      for (ptrdiff_t y = 0; y < y_.out; y += p_.rows) {
        list_tiles(std::min(p_.rows, y_.out - y));
        for (ptrdiff_t x = 0; x < x_.out; x += p_.columns) {
          // The last block of a line is whole: it computes some outputs again.
          convolve_block(data, z, y, std::min(x, x_.out - p_.columns));
        }
      }
    }
  }

 private:
  static constexpr ptrdiff_t kWeights = 256;  // copied together
  static_assert(kWeights >= PlanePlan::kTaps);

  // List the taps of a row of the kernel, whose first one is `from` elements in; return the end.
  int32_t* list_row(int32_t* tap, ptrdiff_t from) const {
    for (ptrdiff_t j = 0; j < x_.kernel; ++j) *tap++ = bytes(from + j * x_.dilation * column_);
    return tap;
  }
  ukernel::ShiftedTaps* list_row(ukernel::ShiftedTaps* tap, ptrdiff_t from) const {
    const ptrdiff_t most = x_.dilation == 1 ? static_cast<ptrdiff_t>(ukernel::kShiftTaps) : 1;
    for (ptrdiff_t j = 0, some; j < x_.kernel; j += some) {
      some = std::min(x_.kernel - j, most);
      *tap++ = {bytes(from + j * x_.dilation), static_cast<int32_t>(some - 1)};
    }
    return tap;
  }

  // The outputs from (z, y, x) on: what they see of each plane has the same border.
  void convolve_block(const ConvolutionData<float>& data, ptrdiff_t z, ptrdiff_t y, ptrdiff_t x) {
    const ptrdiff_t begin[kSpatial] = {first_position(z_, z, false), first_position(y_, y, false),
                                       first_position(x_, x, false)};
    const Inside down(y_, begin[1], p_.height), along(x_, begin[2], p_.width);
    const float* in = data.in + begin[0] * z_.in_stride + (begin[1] + down.first) * y_.in_stride +
                      (begin[2] + along.first) * x_.in_stride;
    float* out = data.out + z * z_.out_stride + y * y_.out_stride + x * x_.out_stride;
    if (!p_.is_in_place) {
      ukernel::fill_span(patch_, static_cast<size_t>(together_ * sums_.in_plane), 0);
    }
    for (ptrdiff_t group = 0; group < g_.groups; group += together_) {
      sums_.planes = static_cast<size_t>(std::min(together_, g_.groups - group));
      sums_.in = in;
      if (!p_.is_in_place) {
        sums_.in = patch_;
        if (down.count > 0 && along.count > 0) take_patch(in, begin[0], down, along);
      }
      const float* weight = data.weight + group * g_.weight_group_stride;
      const float* initial = data.bias == nullptr ? nullptr : data.bias + group * g_.out_channels;
      sums_.out = out;
      for (ptrdiff_t o = g_.out_channels; o > 0; --o, weight += g_.weight_out_stride) {
        sums_.weight = is_ordered_ ? weight : copied(weight);
        sums_.initial = initial;
        ukernel::add_planes(sums_);
        if (initial != nullptr) ++initial;
        sums_.out += g_.out_channel_stride;
      }
      in += together_ * g_.in_channels * g_.in_channel_stride;
      out += together_ * sums_.out_plane;
    }
  }

  // Copies the parts of the planes that are inside of the image; `in` is the first element of the first one.
  void take_patch(const float* in, ptrdiff_t z, const Inside& down, const Inside& along) {
    float* to = patch_ + down.first * p_.width + along.first;
    const size_t planes = sums_.planes * static_cast<size_t>(g_.in_channels);
    for (ptrdiff_t k = 0; k < z_.kernel; ++k, z += z_.dilation, to += p_.height * p_.width) {
      if (z < 0 || z >= z_.in) continue;
      const float* from = in + k * z_.dilation * z_.in_stride;
      float* target = to;
      for (size_t c = planes; c > 0; --c, from += g_.in_channel_stride, target += plane_) {
        ukernel::copy_block(target, {p_.width, 1}, from, {y_.in_stride, x_.in_stride},
                            static_cast<size_t>(down.count), static_cast<size_t>(along.count));
      }
    }
  }

  // The tiles of a block of outputs, unless they are listed.
  void list_tiles(ptrdiff_t rows) {
    if (rows == rows_) return;
    rows_ = rows;
    ukernel::PlaneTile* tile = tiles_;
    const ptrdiff_t columns = p_.columns;
    const int32_t in_step = bytes(x_.step * column_), out_step = bytes(x_.out_stride);
    const int32_t in_row = bytes(y_.step * row_), out_row = bytes(y_.out_stride);
    int32_t in = 0, out = 0;  // of a row
    if constexpr (kListsAll) {
      constexpr size_t kEach = ukernel::kTilePositions;
      size_t lane = 0;
      for (; rows > 0; --rows, in += in_row, out += out_row) {
        int32_t from = in, to = out;
        for (ptrdiff_t x = columns; x > 0; --x, from += in_step, to += out_step) {
          tile->in[lane] = from;
          tile->out[lane] = to;
          if (++lane == kEach) ++tile, lane = 0;
        }
      }
      // The last tile repeats its first output.
      if (lane != 0) {
        for (; lane < kEach; ++lane) tile->in[lane] = tile->in[0], tile->out[lane] = tile->out[0];
        ++tile;
      }
      sums_.counts[0] = static_cast<size_t>(tile - tiles_);
    } else {
      // A tile of 8 or 4 columns at the end of a line may overlap the one before.
      const ptrdiff_t rest = columns % kColumns, narrow = kColumns / 2;
      const bool is_wide = rest > narrow && columns > kColumns;
      const auto list = [&](ptrdiff_t y, ptrdiff_t x) {
        const auto row = static_cast<int32_t>(y), column = static_cast<int32_t>(x);
        *tile++ = {{row * in_row + column * in_step}, {row * out_row + column * out_step}};
      };
      for (ptrdiff_t y = 0; y < rows; ++y) {
        for (ptrdiff_t x = 0; x + kColumns <= columns; x += kColumns) list(y, x);
        if (is_wide) list(y, columns - kColumns);
      }
      sums_.counts[0] = static_cast<size_t>(tile - tiles_);
      const bool is_narrow = !is_wide && rest > 1 && columns >= narrow;
      for (ptrdiff_t y = 0; y < rows && is_narrow; ++y) {
        if (rest > narrow) list(y, 0);
        list(y, columns - narrow);
      }
      sums_.counts[1] = static_cast<size_t>(tile - tiles_) - sums_.counts[0];
      for (ptrdiff_t y = 0; y < rows && !is_wide && !is_narrow; ++y) {
        for (ptrdiff_t x = columns - rest; x < columns; ++x) list(y, x);
      }
      sums_.counts[2] = static_cast<size_t>(tile - tiles_) - sums_.counts[0] - sums_.counts[1];
    }
  }

  // The weights of one output channel of each group of the patch in the order of the taps.
  const float* copied(const float* weight) {
    const ukernel::BlockStrides to{sums_.weight_plane, g_.taps()};
    const ukernel::BlockStrides from{g_.weight_group_stride, g_.weight_in_stride};
    float* at = weights_;
    for (ptrdiff_t k = 0; k < z_.kernel; ++k) {
      for (ptrdiff_t i = 0; i < y_.kernel; ++i) {
        for (ptrdiff_t j = 0; j < x_.kernel; ++j) {
          const float* tap = weight + k * z_.kernel_stride + i * y_.kernel_stride + j * x_.kernel_stride;
          ukernel::copy_block(at++, to, tap, from, sums_.planes, static_cast<size_t>(g_.in_channels));
        }
      }
    }
    return weights_;
  }

  const ConvolutionGeometry& g_;
  const PlanePlan& p_;
  const ConvolutionAxis& z_ = g_.axes[0];
  const ConvolutionAxis& y_ = g_.axes[1];
  const ConvolutionAxis& x_ = g_.axes[2];
  ukernel::PlaneSums sums_{};
  ptrdiff_t plane_;  // from channel to channel of the input
  ptrdiff_t row_;    // from row to row of a plane
  ptrdiff_t column_;
  bool is_ordered_;     // the weights
  ptrdiff_t together_;  // groups whose planes are in the patch
  ptrdiff_t rows_ = 0;  // of the listed tiles
  ukernel::PlaneTap taps_[PlanePlan::kTaps];
  ukernel::PlaneTile tiles_[PlanePlan::kTiles];
  float weights_[kWeights];
  alignas(16) float patch_[PlanePlan::kPatch];
};

}  // namespace

void convolve_by_planes(const ConvolutionGeometry& geometry, const ConvolutionData<float>& data) {
  const PlanePlan plan(geometry);
  Planes planes(geometry, plan);
  for (ptrdiff_t n = 0; n < geometry.batch; ++n) {
    ConvolutionData<float> image = data;
    image.in += n * geometry.in_batch_stride;
    image.out += n * geometry.out_batch_stride;
    planes.convolve(image);
  }
}

}  // namespace rushlight::kernels::board
