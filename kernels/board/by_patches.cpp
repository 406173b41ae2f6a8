// SPDX-License-Identifier: BSD-3-Clause
// For each block of outputs and input channels: copies the patch of the image, with zeros for its padding,
// then adds the products of all taps, which are shifts of that copy. Sums stay in a buffer until all input
// channels are added; its rows follow each other as rows of the patch do, so that the sums between them are
// of no use. Cost beside the products: a copy of each input for each block of output channels, and one of
// each output.
#include "kernels/board/by_patches.h"

#include <algorithm>
#include <type_traits>

#include "kernels/ukernel/patch.h"
#include "kernels/ukernel/spans.h"

namespace rushlight::kernels::board {

namespace {

constexpr auto kBlock = static_cast<ptrdiff_t>(ukernel::kShiftColumns);
constexpr ptrdiff_t kPatch = PatchPlan::kPatch;
constexpr ptrdiff_t kSums = PatchPlan::kSums;
constexpr ptrdiff_t kTaps = PatchPlan::kTaps;
constexpr ptrdiff_t kMostRows = 24;  // output channels of a block
constexpr ptrdiff_t kTogether = 3;   // output channels whose weights are converted together

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
void copy(float* to, ukernel::BlockStrides to_strides, const float* from, ukernel::BlockStrides strides,
          size_t rows, size_t columns) {
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
  // Weights and biases of float32 are read in place, others are converted to a buffer.
  static constexpr bool kConverts = !std::is_same_v<T, float>;

 public:
  Patches(const ConvolutionGeometry& geometry, const PatchPlan& plan) : g_(geometry), p_(plan) {
    constexpr auto kBytes = static_cast<ptrdiff_t>(sizeof(float));
    ukernel::ShiftedTap* tap = taps_;
    ptrdiff_t plane = 0;
    for (ptrdiff_t c = 0; c < plan.channels; ++c) {
      for (ptrdiff_t k = 0; k < depth(); ++k, plane += plan.plane()) {
        for (ptrdiff_t i = 0; i < y_.kernel; ++i) {
          for (ptrdiff_t j = 0; j < x_.kernel; ++j, ++tap) {
            const ptrdiff_t row = i * y_.dilation, column = j * x_.dilation;
            const ptrdiff_t residue = row % y_.step * plan.column_residues + column % x_.step;
            tap->in = static_cast<int32_t>(
                kBytes * (plane + (residue * plan.height + row / y_.step) * plan.width + column / x_.step));
            const ptrdiff_t weight = kConverts ? tap - taps_
                                               : c * g_.weight_in_stride + k * g_.axes[0].kernel_stride +
                                                     i * y_.kernel_stride + j * x_.kernel_stride;
            tap->weight = static_cast<int32_t>(kBytes * weight);
          }
        }
      }
    }
    positions_ = plan.positions();
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

  // The patch has all channels of the group: it serves all blocks of output channels.
  void convolve_group(const ConvolutionData<T>& data, const float* patch) {
    for (ptrdiff_t o = 0; o < g_.out_channels; o += most_) {
      const ptrdiff_t count = std::min(most_, g_.out_channels - o);
      add_products(patch, data.weight + o * g_.weight_out_stride, g_.in_channels, count,
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
        add_products(patch_, data.weight + o * g_.weight_out_stride + c * g_.weight_in_stride, channels,
                     count, c == 0 ? initial(data, o, count) : nullptr);
      }
      store(data.out + o * g_.out_channel_stride, count);
    }
  }

  [[nodiscard]] const float* initial(const ConvolutionData<T>& data, ptrdiff_t channel, ptrdiff_t count) {
    if (data.bias == nullptr) return none_;
    if constexpr (!kConverts) return data.bias + channel;
    copy(biases_, {0, 1}, data.bias + channel, {0, 1}, 1, static_cast<size_t>(count));
    return biases_;
  }

  // Copies the sums of a block to the output.
  void store(T* out, ptrdiff_t count) const {
    const float* from = sums_;
    for (; count > 0; --count, out += g_.out_channel_stride, from += positions_) {
      copy(out, {y_.out_stride, x_.out_stride}, from, {p_.width, 1}, rows_, columns_);
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

  // Adds the products of the patch to the sums of `count` output channels.
  void add_products(const float* patch, const T* weight, ptrdiff_t channels, ptrdiff_t count,
                    const float* initial) {
    ukernel::ShiftedSums sums;
    sums.in = patch;
    sums.taps = taps_;
    sums.count = static_cast<size_t>(channels * g_.taps());
    sums.out_stride = positions_;
    sums.columns = static_cast<size_t>(positions_);
    if constexpr (!kConverts) {
      sums.weight = weight;
      sums.weight_stride = g_.weight_out_stride;
      sums.initial = initial;
      sums.out = sums_;
      sums.rows = static_cast<size_t>(count);
      ukernel::add_shifted(sums);
    } else {
      sums.weight = weights_;
      sums.weight_stride = kTaps;
      for (ptrdiff_t i = 0; i < count; i += kTogether) {
        const ptrdiff_t some = std::min(kTogether, count - i);
        for (ptrdiff_t k = 0; k < some; ++k) {
          convert_weights(weight + (i + k) * g_.weight_out_stride, channels, weights_ + k * kTaps);
        }
        sums.initial = initial == nullptr ? nullptr : initial + i;
        sums.out = sums_ + i * positions_;
        sums.rows = static_cast<size_t>(some);
        ukernel::add_shifted(sums);
      }
    }
  }

  // Converts the weights of one output channel, in the order of the taps. The longer axis of a block is the
  // row.
  void convert_weights(const T* weight, ptrdiff_t channels, float* to) const {
    const ptrdiff_t area = y_.kernel * x_.kernel, taps = g_.taps();
    if (area == 1) {
      copy(to, {1, depth()}, weight, {g_.axes[0].kernel_stride, g_.weight_in_stride},
           static_cast<size_t>(depth()), static_cast<size_t>(channels));
      return;
    }
    for (ptrdiff_t k = 0; k < depth(); ++k) {
      for (ptrdiff_t c = 0; c < channels; ++c) {
        copy(to + c * taps + k * area, {x_.kernel, 1},
             weight + c * g_.weight_in_stride + k * g_.axes[0].kernel_stride,
             {y_.kernel_stride, x_.kernel_stride}, static_cast<size_t>(y_.kernel),
             static_cast<size_t>(x_.kernel));
      }
    }
  }

  const ConvolutionGeometry& g_;
  const PatchPlan& p_;
  const ConvolutionAxis& y_ = g_.axes[1];
  const ConvolutionAxis& x_ = g_.axes[2];
  ptrdiff_t positions_;  // sums of one output channel, including the useless ones between rows
  ptrdiff_t most_;       // output channels of a block
  size_t rows_ = 0;      // outputs of the current block
  size_t columns_ = 0;
  ukernel::ShiftedTap taps_[kTaps];
  float none_[kMostRows];
  float biases_[kConverts ? kMostRows : 1];
  float weights_[kConverts ? kTogether * kTaps : 1];
  alignas(16) float patch_[kPatch + kBlock];  // sums of no use may read past the patch
  alignas(16) float sums_[kSums];
};

template <class T>
void convolve_all(const ConvolutionGeometry& geometry, const PatchPlan& plan,
                  const ConvolutionData<T>& data) {
  Patches<T> patches(geometry, plan);
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
