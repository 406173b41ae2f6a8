// SPDX-License-Identifier: BSD-3-Clause
// For each block of outputs and input channels: copies the patch of the image, with zeros for its padding,
// then adds the products of all taps, which are shifts of that copy. Sums stay in a buffer until all input
// channels are added; its rows follow each other as rows of the patch do, so that the sums between them are
// of no use. Cost beside the products: a copy of each input for each block of output channels, and one of
// each output.
#include "kernels/board/by_patches.h"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "kernels/ukernel/patch.h"
#include "kernels/ukernel/spans.h"

namespace rushlight::kernels::board {

namespace {

constexpr auto kBlock = static_cast<ptrdiff_t>(ukernel::kShiftColumns);
constexpr ptrdiff_t kPatch = PatchPlan::kPatch;
constexpr ptrdiff_t kSums = PatchPlan::kSums;
constexpr ptrdiff_t kTaps = PatchPlan::kTaps;
constexpr ptrdiff_t kMostRows = 24;  // output channels of a block
constexpr ptrdiff_t kWeights = 448;  // copied together: of several output channels
constexpr ptrdiff_t kLineCost = 60;  // products that take as long as a call for another line
constexpr ptrdiff_t kManySums = 64;  // which outweigh the copy of a weight

// The positions of the image that a patch has for one residue: `count` from `first` on, at `at` in the image.
struct Inside {
  Inside(const ConvolutionAxis& axis, ptrdiff_t begin, ptrdiff_t most) {
    first = begin < 0 ? std::min((-begin + axis.step - 1) / axis.step, most) : 0;
    at = begin + first * axis.step;
    count = at < axis.in ? std::min((axis.in - 1 - at) / axis.step + 1, most - first) : 0;
  }

  ptrdiff_t first;
  ptrdiff_t at;
  ptrdiff_t count;
};

// Block copies between the elements of tensors and float32.
[[gnu::always_inline]] inline void copy(float* to, ukernel::BlockStrides to_strides, const float* from,
                                        ukernel::BlockStrides strides, size_t rows, size_t columns) {
  ukernel::copy_block(to, to_strides, from, strides, rows, columns);
}
void copy(float* to, ukernel::BlockStrides to_strides, const uint16_t* from, ukernel::BlockStrides strides,
          size_t rows, size_t columns) {
  ukernel::widen_block(to, to_strides, from, strides, rows, columns);
}
void copy(uint16_t* to, ukernel::BlockStrides to_strides, const float* from, ukernel::BlockStrides strides,
          size_t rows, size_t columns) {
  ukernel::narrow_block(to, to_strides, from, strides, rows, columns);
}

template <class T>
class Patches {
  static constexpr bool kIsFloat = std::is_same_v<T, float>;

 public:
  Patches(const ConvolutionGeometry& geometry, const PatchPlan& plan, const T* weight)
      : g_(geometry), p_(plan), end_(weight + geometry.groups * geometry.weight_group_stride) {
    positions_ = plan.positions();
    pitch_ = plan.width;
    // One line of outputs at a time computes no sums between lines; worth it if these have many taps.
    const ptrdiff_t line = (plan.columns + kBlock - 1) / kBlock * kBlock;
    const ptrdiff_t taps = plan.channels * geometry.taps();
    lines_ =
        line < plan.width && (positions_ - plan.rows * line) * taps > plan.rows * kLineCost ? plan.rows : 1;
    if (lines_ > 1) {
      pitch_ = line;
      positions_ = plan.rows * line;
    }
    // Biases and weights of float32 are read in place if they are stored in the order of the taps.
    is_in_place_ = kIsFloat && (x_.kernel == 1 || x_.kernel_stride == 1) &&
                   (y_.kernel == 1 || y_.kernel_stride == x_.kernel) &&
                   (depth() == 1 || g_.axes[0].kernel_stride == y_.kernel * x_.kernel) &&
                   (g_.in_channels == 1 || g_.weight_in_stride == g_.taps());
    apart_ = x_.step / std::gcd(x_.step, x_.dilation);
    if (apart_ > 1 && is_in_place_) {
      // Groups of taps of one residue need another order, which pays off for many sums.
      is_in_place_ = positions_ < kManySums;
      if (is_in_place_) apart_ = 1;
    }
    list_taps();
    most_ = std::min({kSums / positions_, kMostRows, g_.out_channels});
    ukernel::fill_span(patch_, kPatch + kBlock, 0);
    ukernel::fill_span(none_, kMostRows, 0);
  }

  // `groups` adjacent groups of one element of the batch; several if a patch has all channels of a group.
  void convolve(const ConvolutionData<T>& data, ptrdiff_t groups) {
    for (ptrdiff_t z = 0; z < g_.axes[0].out; ++z) {
      for (ptrdiff_t y = 0; y < y_.out; y += p_.rows) {
        for (ptrdiff_t x = 0; x < x_.out; x += p_.columns) {
          const ptrdiff_t begin[kSpatial] = {first_position(g_.axes[0], z, false),
                                             first_position(y_, y, false), first_position(x_, x, false)};
          ConvolutionData<T> block = data;
          block.out += z * g_.axes[0].out_stride + y * y_.out_stride + x * x_.out_stride;
          rows_ = static_cast<size_t>(std::min(p_.rows, y_.out - y));
          columns_ = static_cast<size_t>(std::min(p_.columns, x_.out - x));
          if (p_.channels < g_.in_channels) {
            convolve_in_parts(block, begin);
            continue;
          }
          take_patch(data.in, groups * g_.in_channels, begin);
          const float* patch = patch_;
          for (ptrdiff_t i = 0; i < groups; ++i, patch += g_.in_channels * depth() * p_.plane()) {
            convolve_group(group_of(g_, block, i), patch);
          }
        }
      }
    }
  }

 private:
  [[nodiscard]] ptrdiff_t depth() const { return g_.axes[0].kernel; }

  // The taps of all channels of a patch, by rows of the kernel: of each, every apart_-th tap, which has the
  // same residue and is adjacent to the one before, unless the dilation moves them apart.
  void list_taps() {
    constexpr auto kBytes = static_cast<ptrdiff_t>(sizeof(float));
    const bool is_adjacent = x_.dilation * apart_ == x_.step;
    const ptrdiff_t most = is_adjacent ? static_cast<ptrdiff_t>(ukernel::kShiftTaps) : 1;
    ukernel::ShiftedTaps* group = taps_;
    ptrdiff_t plane = 0;
    for (ptrdiff_t c = p_.channels * depth(); c > 0; --c, plane += p_.plane()) {
      for (ptrdiff_t i = 0; i < y_.kernel; ++i) {
        const ptrdiff_t y = i * y_.dilation;
        for (ptrdiff_t j = 0; j < std::min(apart_, x_.kernel); ++j) {
          for (ptrdiff_t tap = j, some; tap < x_.kernel; tap += some * apart_) {
            some = std::min((x_.kernel - 1 - tap) / apart_ + 1, most);
            const ptrdiff_t x = tap * x_.dilation;
            const ptrdiff_t residue = y % y_.step * p_.column_residues + x % x_.step;
            const ptrdiff_t at = plane + (residue * p_.height + y / y_.step) * p_.width + x / x_.step;
            *group++ = {static_cast<int32_t>(kBytes * at), static_cast<int32_t>(some - 1)};
          }
        }
      }
      if (c == (p_.channels - 1) * depth() + 1) groups_ = group - taps_;
    }
  }

  // The patch has all channels of the group: it serves all blocks of output channels.
  void convolve_group(const ConvolutionData<T>& data, const float* patch) {
    for (ptrdiff_t o = 0; o < g_.out_channels; o += most_) {
      const ptrdiff_t count = std::min(most_, g_.out_channels - o);
      add_products(patch, data.weight + o * g_.weight_out_stride, 0, g_.in_channels, count,
                   initial(data, o, count));
      store(data.out + o * g_.out_channel_stride, count);
    }
  }

  // The sums of a block of output channels stay until all patches of its input channels are added.
  void convolve_in_parts(const ConvolutionData<T>& data, const ptrdiff_t* begin) {
    for (ptrdiff_t o = 0; o < g_.out_channels; o += most_) {
      const ptrdiff_t count = std::min(most_, g_.out_channels - o);
      for (ptrdiff_t c = 0; c < g_.in_channels; c += p_.channels) {
        const ptrdiff_t channels = std::min(p_.channels, g_.in_channels - c);
        take_patch(data.in + c * g_.in_channel_stride, channels, begin);
        add_products(patch_, data.weight + o * g_.weight_out_stride, c, channels, count,
                     c == 0 ? initial(data, o, count) : nullptr);
      }
      store(data.out + o * g_.out_channel_stride, count);
    }
  }

  [[nodiscard]] const float* initial(const ConvolutionData<T>& data, ptrdiff_t channel, ptrdiff_t count) {
    if (data.bias == nullptr) return none_;
    if constexpr (kIsFloat) return data.bias + channel;
    copy(biases_, {0, 1}, data.bias + channel, {0, 1}, 1, static_cast<size_t>(count));
    return biases_;
  }

  // Copies the sums of a block to the output.
  void store(T* out, ptrdiff_t count) const {
    const float* from = sums_;
    for (; count > 0; --count, out += g_.out_channel_stride, from += positions_) {
      copy(out, {y_.out_stride, x_.out_stride}, from, {pitch_, 1}, rows_, columns_);
    }
  }

  // Copies what the outputs see of some channels. `begin` is the position of the first tap of the first
  // output.
  void take_patch(const T* in, ptrdiff_t channels, const ptrdiff_t* begin) {
    const ptrdiff_t plane = p_.plane();
    // The zeros of the border stay if all patches have the same border.
    if (!is_framed()) ukernel::fill_span(patch_, static_cast<size_t>(channels * depth() * plane), 0);
    for (ptrdiff_t k = 0; k < depth(); ++k) {
      const ptrdiff_t z = begin[0] + k * g_.axes[0].dilation;
      if (z < 0 || z >= g_.axes[0].in) continue;
      float* to = patch_ + k * plane;
      for (ptrdiff_t i = 0; i < p_.row_residues; ++i) {
        const Inside down(y_, begin[1] + i, p_.height);
        for (ptrdiff_t j = 0; j < p_.column_residues; ++j, to += p_.height * p_.width) {
          const Inside along(x_, begin[2] + j, p_.width);
          if (down.count <= 0 || along.count <= 0) continue;
          const T* from = in + z * g_.axes[0].in_stride + down.at * y_.in_stride + along.at * x_.in_stride;
          float* target = to + down.first * p_.width + along.first;
          for (ptrdiff_t c = channels; c > 0; --c, from += g_.in_channel_stride, target += depth() * plane) {
            copy(target, {p_.width, 1}, from, {y_.step * y_.in_stride, x_.step * x_.in_stride},
                 static_cast<size_t>(down.count), static_cast<size_t>(along.count));
          }
        }
      }
    }
  }

  // True if one patch has all outputs.
  [[nodiscard]] bool is_framed() const { return p_.rows == y_.out && p_.columns == x_.out && depth() == 1; }

  // Adds the products of the patch, which has `channels` input channels from `channel` on, to the sums of
  // `count` output channels. `weight` is at input channel 0.
  void add_products(const float* patch, const T* weight, ptrdiff_t channel, ptrdiff_t channels,
                    ptrdiff_t count, const float* initial) {
    ukernel::ShiftedSums sums;
    sums.taps = taps_;
    sums.count = static_cast<size_t>(channels * groups_);
    sums.out_stride = positions_;
    sums.columns = static_cast<size_t>(lines_ > 1 ? pitch_ : positions_);
    // Copies the weights of all input channels if they fit: then they serve all patches.
    const ptrdiff_t all = g_.in_channels * g_.taps();
    const bool is_whole = count * all <= kWeights;
    const ptrdiff_t first = is_whole ? 0 : channel;
    const ptrdiff_t copied = is_whole ? g_.in_channels : channels;
    const ptrdiff_t together = is_in_place_ || is_whole ? count : kWeights / (channels * g_.taps());
    for (ptrdiff_t i = 0; i < count; i += together, weight += together * g_.weight_out_stride) {
      const ptrdiff_t some = std::min(together, count - i);
      if (is_in_place_) {
        if constexpr (kIsFloat) sums.weight = weight + channel * g_.weight_in_stride;
        sums.weight_stride = g_.weight_out_stride;
      } else {
        sums.weight = copied_weights(weight + first * g_.weight_in_stride, copied, some) +
                      (channel - first) * g_.taps();
        sums.weight_stride = copied * g_.taps();
      }
      sums.initial = initial == nullptr ? nullptr : initial + i;
      sums.rows = static_cast<size_t>(some);
      sums.in = patch;
      sums.out = sums_ + i * positions_;
      for (ptrdiff_t line = lines_; line > 0; --line, sums.in += p_.width, sums.out += pitch_) {
        ukernel::add_shifted(sums);
      }
    }
  }

  // Returns the weights of `rows` output channels from `weight` on in the order of the taps. Copies them,
  // unless the buffer has them; copies the weights of many depthwise groups at once.
  const float* copied_weights(const T* weight, ptrdiff_t channels, ptrdiff_t rows) {
    const ptrdiff_t taps = channels * g_.taps();
    const bool is_depthwise = g_.in_channels == 1 && g_.out_channels == 1;
    const ptrdiff_t step = is_depthwise ? g_.weight_group_stride : g_.weight_out_stride;
    // The buffer may have the weights of this depthwise group and of groups before it.
    if (copied_ != nullptr && weight >= copied_) {
      const ptrdiff_t row = is_depthwise ? (weight - copied_) / step : weight - copied_;
      if (row < (is_depthwise ? copied_rows_ : 1)) return weights_ + row * taps;
    }
    if (is_depthwise) rows = std::min(kWeights / taps, (end_ - weight) / step);
    copied_ = weight;
    copied_rows_ = rows;
    // A block has one tap of all rows and channels; its longer axis is the row of the block.
    ukernel::BlockStrides to{taps, g_.taps()}, from{step, g_.weight_in_stride};
    auto height = static_cast<size_t>(rows), width = static_cast<size_t>(channels);
    if (height > width) {
      std::swap(height, width);
      std::swap(to.row, to.column);
      std::swap(from.row, from.column);
    }
    float* at = weights_;
    for (ptrdiff_t k = 0; k < depth(); ++k, weight += g_.axes[0].kernel_stride) {
      const T* line = weight;
      for (ptrdiff_t i = 0; i < y_.kernel; ++i, line += y_.kernel_stride) {
        for (ptrdiff_t j = 0; j < std::min(apart_, x_.kernel); ++j) {
          for (ptrdiff_t tap = j; tap < x_.kernel; tap += apart_) {
            copy(at++, to, line + tap * x_.kernel_stride, from, height, width);
          }
        }
      }
    }
    return weights_;
  }

  const ConvolutionGeometry& g_;
  const PatchPlan& p_;
  const ConvolutionAxis& y_ = g_.axes[1];
  const ConvolutionAxis& x_ = g_.axes[2];
  ptrdiff_t positions_;  // sums of one output channel, including useless ones
  ptrdiff_t pitch_;      // sums from one line of outputs to the next
  ptrdiff_t lines_;      // that take a call each; 1: one call has all
  ptrdiff_t most_;       // output channels of a block
  size_t rows_ = 0;      // outputs of the current block
  size_t columns_ = 0;
  ptrdiff_t apart_;       // taps of a row from one to the next of the same residue
  ptrdiff_t groups_ = 0;  // groups of taps of one channel
  bool is_in_place_;      // the weights
  ukernel::ShiftedTaps taps_[kTaps];
  float none_[kMostRows];
  float biases_[kIsFloat ? 1 : kMostRows];
  const T* copied_ = nullptr;  // the weights that the buffer has, and their rows
  ptrdiff_t copied_rows_ = 0;
  const T* end_;  // of the weights of all groups
  float weights_[kWeights];
  alignas(16) float patch_[kPatch + kBlock];  // sums of no use may read past the patch
  alignas(16) float sums_[kSums];
};

template <class T>
void convolve_all(const ConvolutionGeometry& geometry, const PatchPlan& plan,
                  const ConvolutionData<T>& data) {
  Patches<T> patches(geometry, plan, data.weight);
  for (ptrdiff_t n = 0; n < geometry.batch; ++n) {
    ConvolutionData<T> image = data;
    image.in += n * geometry.in_batch_stride;
    image.out += n * geometry.out_batch_stride;
    for (ptrdiff_t group = 0; group < geometry.groups; group += plan.groups) {
      patches.convolve(group_of(geometry, image, group), std::min(plan.groups, geometry.groups - group));
    }
  }
}

}  // namespace

void convolve_patches(const ConvolutionGeometry& geometry, const PatchPlan& plan,
                      const ConvolutionData<float>& data) {
  convolve_all(geometry, plan, data);
}

void convolve_patches(const ConvolutionGeometry& geometry, const PatchPlan& plan,
                      const ConvolutionData<uint16_t>& data) {
  convolve_all(geometry, plan, data);
}

}  // namespace rushlight::kernels::board
